low
strike bandit 2
