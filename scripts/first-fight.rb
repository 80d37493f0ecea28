# riskbreaker play duel --seed 20
#
# A first fight, line by line. Run it with `riskbreaker play --script scripts/first-fight.rb`, or open the same fight with the line above
# and type along: the same seed and the same choices meet the same dice. Lines that begin with `#` are for you; of the game they are no
# part, but the first one says which game it is.
#
# You are the Fighter, party Challenger. The Duellist, party Defender, is as good with the sword, and the computer plays him.

# -- Round 1 ---------------------------------------------------------------------------------------------------------------------
#
# A round begins with a declaration: who is in which fight, and with which weapon. Something sensible is proposed.
# `ok` takes whatever answer is proposed or marked with a `*`; here it is the same as `yes`.
ok

# What happened is told a line each. The fight has one number, its Advantage, written from the side of the party named first: ours.
# Equal swords begin at 0. The tie over who goes first went to the Duellist; he failed, and that made it 2 for us.
#
# What can I do now, and why not the rest? Options come without asking; this shows them once more.
# At a terminal the prompt says the same in short: round, fight, whose turn, what is asked.
options

# Greyed options carry the reason. It can be asked for alone, too.
why healing

# Any other number explains itself: what it is made of, and the file and line of the rule that says so.
why fighter fight_rating
why fighter advantage

# Who am I? Without a name, `sheet` shows whoever is asked. With one, anybody.
sheet
sheet duellist

# What does a card do?
cards kill damage

# 2 ahead would pay for a small wound, since what Kill Damage stakes is spent. First a shove, to be further ahead: an Advantage action
# with any skill but the sword that fights anyway. 1d10 under Muscle 5 + 2. All in one line: the card, and what it asks in turn.
# (`advantage` alone is fine as well; then `skill` and `risk` are asked one after the other.)
advantage with push risk 3

# -- Round 2 ---------------------------------------------------------------------------------------------------------------------
#
# A 6, just under 7: 5 ahead. Then the round was over, and both marked a combat counter: a third one will be a point of damage.
ok

# He won 2 back: 3 ahead. Three points of Kill Damage are on offer, for all we have. The beginning of a name will do, and whom we hit
# is not asked where there is only one; against several it would be `kill risk 3 on duellist`.
kill risk 3

# Three of the five that he can take. The Advantage is spent: 3 -> 0. How did that come about?
why duellist kill_damage

# -- Round 3 ---------------------------------------------------------------------------------------------------------------------
#
# At 0 there is nothing to pay damage with, so we earn some more. The third counter costs both of us a point at the end.
ok
advantage with knockdown risk 3

# -- Round 4 ---------------------------------------------------------------------------------------------------------------------
#
# 3 ahead once more, and he has 4 of 5. Let us be greedy.
ok
kill risk 3

# An 8. Failed damage costs twice its Risk: from 3 ahead to 3 behind, and one point would have been enough!
# A line can be taken back whole, whatever it held, and done again.
undo
redo
undo

# Dice that were rolled stay rolled: the sword will miss on the same 8. But the stake is ours, and a small one loses little: 3 -> 1.
kill risk 1

# -- Round 5 ---------------------------------------------------------------------------------------------------------------------
#
# Again, and this time in steps, the way the game asks when less is typed: the card, and then its Risk.
ok
do kill damage
do 1

# -- Round 6 ---------------------------------------------------------------------------------------------------------------------
#
# A 9, and yet we are still ahead: patience pays. He fails, and we do not: his fifth point, and the duel is over.
ok
kill risk 1

# What happened at the end, and how did he get there? (`log all` tells the whole fight.)
log 8
why duellist kill_damage
sheet

# From here: `riskbreaker` alone opens four against four. `help` lists the commands, `auto` plays a dull turn for you.
