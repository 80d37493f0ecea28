# riskbreaker play night-watch --rules contest --seat gm=human --seat foes=human --seed 4
#
# The night watch in Contest, seen from all seats: a Sneak Attack outside the rounds, the GM's word on the dice, a wound with a name, and
# the fight that follows. `ok` takes whatever is proposed or marked with a `*`.
#
# Thirty metres to the guard, thirty-two to the dog. Who is a match for whom? The comparison forbids nothing.
plan
match
# No fight is on: the GM says who acts. The rogue creeps up on the guard; a second a metre is proposed.
rogue
sneak attack on guard
ok
# The GM sees the odds, and the guard is bored: a bonus for the rogue, with its reason.
modify
2
0
a bored guard
# Unnoticed: the Strike meets a Melee Defense without agility and training. Chain mail still counts.
melee strike
ok
# A wound has no points: the GM names the place, and takes the class that was rolled.
the back of the knee
ok
sheet guard
# A lame guard also runs more slowly, says the GM.
worsen
speed
2
why guard speed
# The dog is awake now, and the GM opens a round. The dog is the fastest: it runs at the rogue, who has nothing to shoot with.
open a round
charge on rogue
attack on guard with sword
attack on rogue
ok
# The rogue is attacked by two, and has named one of them: it keeps to the guard, and the dog will have a free Advantage.
Rogue: keep to it
Guard: keep to it
# One Melee, rolled as it stands.
ok
melee strike
ok
melee strike
ok
# A miss. The round took five seconds. What did the Sneak Attack look like? A sentence never changes a number.
ok
narrate
contest 1
not a pebble moved
# The rogue has seen enough. The GM lets the fight end with the next round. Dog and guard hesitate; the rogue runs for the dark, and
# whoever has it in reach may oppose: the dog does, the lame guard does not.
end fight
do nothing
flee
do nothing
Guard dog: rogue
Guard: none
ok
ok
# Away from the guard, but the dog has caught up. It bites.
melee strike
ok
# A miss. The GM has said that the fight ends with this round, and the story goes on outside the rounds. Everybody is reported.
ok
who
end here
