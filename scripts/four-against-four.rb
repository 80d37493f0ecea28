# riskbreaker play four-against-four --seed 6
#
# A whole fight of four against four: what `riskbreaker` alone opens. The Heroes are played by hand, the Bandits by the policy `careful`.
# They are about as good as we are, so it takes more than swords: somebody has to split them.

# -- Round 1: divide -------------------------------------------------------------------------------------------------------------
#
# Everyone fights everyone, in one fight. Fighter, Mage and Ranger are equals, so their side says who of them goes first. `ok` takes what
# is proposed.
ok

# The Captain is better than all of us and went before. The skill one fights with cannot win Advantage, any other can: shout at them.
advantage with intimidate risk 3

# 2 ahead, and at once spent on the Archer, who is the easiest to take out.
kill risk 2 on archer

# Tactics: as many people as the Risk are cut off from the fight from the next round on. The Captain, and whom we hurt.
tactics risk 2 aim shut_out on captain, archer
advantage with distract risk 2

# -- Round 2: four against two ---------------------------------------------------------------------------------------------------
#
# 4 ahead has become 17: 11 for the better skill of our side, since two of theirs do not count, and 2 more for numbers.
ok
ok
why fighter advantage

# Points can be divided among several who are named. How, is asked only if the blow lands; the Mage's does not, which costs twice.
kill risk 3 on bandit
kill risk 3 on bandit, bandit 2
kill risk 1 on bandit
kill risk 2 on bandit, bandit 2

# The Thief's does.
bandit 1, bandit 2 1

# -- Round 3: the second bandit --------------------------------------------------------------------------------------------------
#
# Out of the fight, the Captain has bandaged the Archer meanwhile. Where only one is left to hit, nobody asks whom.
ok
ok
kill risk 3
kill risk 3

# No opponent is left in this fight: Ranger and Thief have no use for Advantage now. What is no card of its own is Special: in plain
# words, to the end of the line. The game master says what a success does; nobody sits there, so it simply works.
pass
special with sneak risk 1 attempt slips around them in the shadows

# -- Round 4: the Captain and the Archer -----------------------------------------------------------------------------------------
#
# Those two come back for a fight of their own, and they begin it far behind. Skill Damage does not take the Captain out, but all he does
# with Muscle is worse from now on, and the growth of the coming rounds with it.
ok
ok
skill damage risk 3 on captain
kill risk 3 on archer
advantage with inspire risk 3
kill risk 3 on archer
sheet captain

# -- Round 5: the end ------------------------------------------------------------------------------------------------------------
ok
ok
kill risk 3 on archer
kill risk 3 on captain, archer
captain 2, archer 1

# What is left is plain. `auto` lets a policy play for us: `bold`, as many decisions as it takes. It stops where the game does.
auto 50 bold

# What did it cost, and what brought the Captain down?
sheet fighter
why captain kill_damage
