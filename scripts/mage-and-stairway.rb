# riskbreaker play mage-and-stairway --seed 2 --seat foes=human
#
# A Wizard on the gallery, a fight in the hall below, and more of the watch about to come down a stairway and join it.
# Wrecking the stairs is no blow at anybody: it is an Alteration, and if it goes wrong, those pay whom it should help.
who
sheet wizard

# Both sides declare at the same time. `ok all` leaves everyone where they are: the Sergeant and the Recruit still stand on the stairs.
ok all

# From here on the computer plays the watch.
seat foes careful

# Below the two hold on, and better their standing.
ok
advantage with knockdown risk 2
advantage with charm risk 2

# The Wizard is in no fight, so only Special actions are open.
options
alteration with lightning risk 2
delay
hall
sergeant, recruit

# What holds them up is there for all to see.
who

# Two rounds without them: the computer plays on for everybody.
auto 60 bold
