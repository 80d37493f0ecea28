# riskbreaker play adventure --rules riskbreaker-0.0.3 --seat foes=human --seat gm=human --seed 5 --dice 1,2,3,4,5,1,2,1,3,2,1,2,3,4,5,6,2,2,2,2,2,1,2,3,4,5,2,2,2,2,2
#
# An evening of a campaign, seen from all seats: somebody new, a goal, a trap and a find, opposition and a fight, the goal reached, a level.
#
# The way through the ruin shall be short tonight, and nobody stands in it yet.
set the way through difficulty 6
ok
idle
# Somebody joins, by a sheet; what the points do not allow would be refused.
create
Bran = level 4; advancement 11; M4: Sword, Push; A4: Move, Sneak; W3: First Aid; P5: Charm, Loot, Observation
party
ok
# Looking around brings Advantage in the goal.
gain advantage with intimidate risk 3
gain advantage with observation risk 3
gain advantage with observation risk 3
# Some of it goes into a trap, and some into a thing that helps.
trigger with scout state word condition wet stones damage SD 2 extras none victim whoever
trigger
find with loot item lantern effects plus1 item_skill Charm
items
# The GM buys four of the least dangerous kind.
level 1 x4 for 1 adversary mook
detailed
proposed
ok all
who
inflict kill damage risk 3 on mook, mook 2 split mook 2, mook 2 1
inflict kill damage risk 3 on mook 2, mook 3 split mook 2 1, mook 3 2
inflict kill damage risk 2 on mook 4
goal
# Clear of the fighting the others work on the goal; the lantern makes Bran's Charm one better.
gain advantage with scout risk 3
advance with Charm (lantern) risk 5
goal
# Nothing more is bought against them, and the last step is taken: Bran, who has advanced before, has to wait for the others.
nothing
ok
advance with intimidate risk 1 group none
# What was invested is shared by level. It is enough for Bran to rise, and ten points are to be spent.
level
level bran buy Muscle
level bran buy learn new W:Illusion*
sheet bran
