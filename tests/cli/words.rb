help
low
who
strike stake 2 on bandit
auto 4
undo
help words
help sk-3
help stance
