ok
options
who
who character
sheet
sheet bandit chief
why ranger aim
set bandit grit +2
why bandit grit
switches
switches grit
cards strike
help on
seat
log 5
