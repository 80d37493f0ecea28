# riskbreaker play four-against-four --seed 7719
#
# Four against four: what a round is like when there is somebody to choose from.
# The computer plays the bandits; `seat foes human` would hand them over, `seat foes bold` make them wilder.

# Everyone fights as proposed, and of ours with the same rating the Fighter goes first.
ok
ok

# The Captain was quicker, but overdid it. `options` shows what can be done now, and why the rest is not open.
options
advantage with knockdown risk 2

# That went wrong, so the Mage has another try. How good are they?
sheet captain
why captain fight_rating
advantage with observation risk 3

# Now we are 4 ahead. Names can be cut short, with commas between them; who takes how much is asked where there is a choice.
kill risk 2 on bandit, archer
bandit 1, archer 1

# A round later. The computer plays ours as well, ten decisions long; what it decided can be taken back like all else.
auto 10 careful
undo 2
log 6

# And on to the end.
auto 2000 bold
