strike stake 2 on bandit
