low
strike wiht bandit
