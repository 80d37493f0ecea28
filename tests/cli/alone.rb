ok
options for Bandit
