# riskbreaker play mage-and-stairway --seed 2
#
# A Wizard on the gallery, a fight in the hall below, and the watch coming down a stairway to join it.
# Wrecking the stairs is no blow at anybody: it is an Alteration, and whoever it should help pays for it if it goes wrong.
who
sheet wizard
who place

# The Fighter and the Ranger hold on below; the Wizard waits for a turn.
ok
ok
pass
pass

# `alteration with lightning risk 2`: how the ground changes is asked next, and who is held up.
alteration with lightning risk 2
delay
hall
sergeant

# What keeps somebody from a place stands among the entities.
who
undo
