# riskbreaker play mage-and-stairway --seat foes=human --seat gm=human --seed 1 --dice 8,3
#
# A mage stands on a gallery, friends fight two guards in the hall below, and a sergeant comes down the stairs with a recruit. Break the
# stairs! That is an Alteration, and a Fight skill serves for it. It goes wrong first, as one failure in this game differs from all
# others: the change comes about, but not for us. Then it is tried again, and works.
#
# All seats are played by hand here, opponents and game master too, and the only two dice are written out above: an 8 and a 3.

# -- Round 2: a failure ----------------------------------------------------------------------------------------------------------
#
# All have said where they are: Fighter and Ranger in the hall, the Wizard in no fight, the sergeant still on the stairs.
# Who goes first among equals, on our side, on theirs? `ok` takes the order that is proposed.
ok
ok
# Nobody in the hall tries anything but to hold the line; what we look at happens upstairs.
pass
pass
pass
pass
# Those who are in no fight act last, the Wizard first among them. (The `ok` is for the order of sergeant and recruit.)
ok
options

# Lightning on the stairs, so that nobody comes past for two rounds: Risk 2, for that is what two rounds are worth. A line can hold
# all of it: the card, the skill, the Risk; what is to change, the way to where, and who is to be held up.
alteration with lightning risk 2 change delay beyond hall on sergeant, recruit

# The game master measures how long; the proposal is a round for each point of Risk.
ok

# Wit 5 + 2: a 7 would have been too much already, and it is an 8. The stairs break all the same, behind the two who were on them. What
# does that cost us? The game master may have our own people held up (`delay`), or take the Risk from one of our fights (`loss`).
loss

# The two below the broken stairs wait for orders, and nothing has moved in the hall yet: what is owed falls due when the next round is
# calculated.
pass
pass

# -- Round 3: the loss, and a success --------------------------------------------------------------------------------------------
#
# All as last round, on both sides. Fighter and Ranger are better than the guards by 2, which alone would make 3 of our 1.
ok
ok
log 4

# 2 more for the difference, 2 less for the stairs. In the hall nothing else happens again.
ok
ok
pass
pass
pass
pass
ok

# The same once more, with a 3 this time.
alteration with lightning risk 2 change delay beyond hall on sergeant, recruit
ok

# Nobody lost anything, and two people are held up: such a bar is a thing in the game like any other, with a sheet.
who
sheet sergeant kept from hall
pass
pass

# -- Round 4: held up ------------------------------------------------------------------------------------------------------------
#
# Our side as before. The sergeant would go down now (`no` opens the declaration, one by one, each with last round's weapon):
# the way to the hall is greyed, this round and the next.
ok
no
ok
ok
options
none
none

# Which leaves the hall as it was, two against two, and us 2 better every round: the stairs were worth it.
why fighter advantage
