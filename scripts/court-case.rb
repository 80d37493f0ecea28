# riskbreaker play court-case --rules riskbreaker-0.0.3 --seat foes=human --seat gm=human --seed 1 --dice 1,9,2,4,10,3,4,5,8,2
#
# A conflict that is no fight: a case at court. Each side has an attorney, who argues with the Law, and an assistant. All seats are played
# by hand, and the dice are written out above.
#
# -- The days before --------------------------------------------------------------------------------------------------------------
#
# The scenario begins with a round in which nobody fights yet: no Advantage comes of being better, nobody tires, nobody can be harmed.
# Both parties keep to the skills that are proposed.
ok
ok
# The attorneys are equals: a 1 against a 9 lets the Defence go first. Preparing is a Gain Advantage: 2 on Personality 5, Risk 3.
gain advantage with charm risk 3
# And so does the other side, with a 4: three against three.
gain advantage with intimidate risk 3
# The assistant of the Defence finds evidence: a vessel of 4 Advantage costs 1 for the thing and 4 - 2 for what it holds. A 10 fails, and
# the choice is hers: take it, and the others gain 3, or go without. She takes it; `soak` says that nothing of it is suffered as damage.
find with loot item evidence effects vessel holds 4 take yes soak Advantage 3
# Nothing against six. The other assistant sets a trap for it all: if a W:Law roll of his own side succeeds, then 3 Skill Damage to the
# Defence's attorney. It costs 3; a 3 on Personality 4 is a success, of Success Level 1.
create trigger with psychology state roll by friends roll_skill Law outcome success condition breakdown damage SD 3 extras none victim Defence Attorney
sheet defence attorney
#
# -- In court ---------------------------------------------------------------------------------------------------------------------
#
# From now on it is argued: everybody declares the Law, and what Law one has is how much of a case one can lose.
ok
ok
# The Prosecution is ahead by four, so that the Defence may begin. Charm was what its attorney used last; the same card with the same skill
# is greyed, and it takes the Law.
gain advantage with law risk 3
# What Kill Damage a case can take is the Law behind it: six. A 5 is a success; and a Law roll that succeeds is what the trap waits for.
# The Defence's attorney may notice it on Personality, and does not, with an 8. Which stat suffers is said when it goes off.
inflict kill damage risk 3 on defence attorney
wit
sheet defence attorney
# He has lost half his case, and half his wits. The other assistant holds her tongue; ours has something to show. A vessel is opened
# besides the Maneuver of the turn.
pass
open evidence
inflict kill damage risk 3 on prosecution attorney
# A 2 on 4: half of their case is gone, too, and the second day in court begins. The Prosecution has had enough.
Prosecution: surrender
