# riskbreaker play duel --seed 11
#
# A first fight: one Fighter, one opponent, and the words that play needs.
# Play it with `riskbreaker play --script scripts/first-fight.rb`, or type the lines yourself after `riskbreaker play duel --seed 11`.

# Who is there, and what can the Fighter do?
who
sheet fighter

# A round begins with declarations. `ok` takes what is suggested: everybody fights, each with the best weapon.
ok

# The opponent was quicker, and is ahead by 2: our Advantage is -2. A `-` stands before what cannot be done, with the reason.
why kill damage

# So first we better our standing. An answer can be a number, a name or its beginning, and what follows can stand in the same line:
# the skill after `with`, the stake after `risk`. Staking 3 wins 3 if it works and costs 3 if it does not.
advantage with knockdown risk 3

# The next round, everyone as before. The opponent stakes and fails: now we are 3 ahead.
ok

# `why` explains each number, with the file and line of the rule that says so.
why fighter fight_rating

# Points are made to count: Kill Damage stakes some of them to hurt. There is one opponent, so nobody has to be named.
kill risk 3

# Was that wise? `undo` takes a line back, whole. The dice stay as they lay: the same choice meets the same dice.
undo
redo

# A game master may change anything by hand; that can be undone, too.
set duellist kill_damage +1
undo

# Let the computer play the rest for both sides, and see how it ended.
auto 400 bold
log 12
