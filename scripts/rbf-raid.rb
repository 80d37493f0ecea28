# riskbreaker play raid --rules rbf --seed 12
#
# A raid by the rules of RBF, line by line: `riskbreaker play --script scripts/rbf-raid.rb` plays it, the line above opens the same
# fight to type along. Four player characters against two axe raiders, a thug, and a rifle raider behind a low wall. You play all four,
# the computer plays the enemies, and nobody sits as the GM, so the GM's questions take their defaults. Only you roll.

# Initiative has been rolled and the enemies have their slots. Here are the order, and who stands where.
order
who

# The Gunner is first. What is a burst at the nearest raider worth?
odds autofire mode damage

# Chances are exact. A turn has two actions: first an Aim, for +1, then the burst. The rifle is empty then.
aim
autofire at axe raider mode damage

# No action is left. What costs none could still be done; `ok` ends the turn.
ok
ok

# The raider that was hit comes running. The Brawler waits for the second one: whoever holds takes the turn at a lower count.
hold to 13

# Next to the second raider, and a punch. A hit may be spent on damage or on a Technique.
move to axe raider 2
attack

# Two below the number is a Struggle: half the damage hand to hand. One could ask the GM for a push; nobody sits there.
no
ok

# The Mystic has a pistol, and a raider at arm's length: the shot would be at disadvantage. The spell is not.
cast spell arc bolt
ok
no

# A spell that misses does nothing. Once more: a second action may be of the same kind.
cast spell arc bolt
ok
no
ok

# Now the Rifle Raider. Enemies never roll: the player defends against the attack TN, or takes the harm.
ok

# 12 of 15 HP: no fight is safe. What went into the number?
why brawler dr
ok

# The Blade at last, with a labrys: a long blade, an Expert Fighter, and a raider at arm's length.
sheet blade
attack
ok
ok

# A Struggle again, and half is enough: the raider had 1 HP left. From here on it is your fight.
no
quit
