# riskbreaker play duel --rules silent-winter --seed 4
#
# A first fight by the segment clock, line by line: Lothaire against the Walking Corpse. Run it with
# `riskbreaker play --script scripts/winter-duel.rb`, or open the same fight with the line above and type along.

# Nobody can strike yet: a blow needs an Engage, and that takes 3 segments after the one of the declaration.
options
why attack

# Declared on 1, it is in force on 5. The Corpse throws its initial delay afterwards, and the line of each segment says who acts when.
engage

# What is in hand counts from now on. `ok` keeps the sword.
ok

# Who is Engaged and does not Engage back is Undefended: no Agility, no skill in its defence.
who
sheet walking corpse
odds attack

# A blow at once, ready again two segments later.
attack with none

# The clock as a list: who acts on which segment, and what is due.
clock
attack with power strike
attack with none

# What a rule says stands behind its id.
help SW-041
help SW-066

# A point of Pain for every hit; talents cost Pain as well.
attack with stunning blow
attack with none

# At Health 0 the Corpse is dead, and the game master, whom nobody plays here, says that the combat is over.
log
