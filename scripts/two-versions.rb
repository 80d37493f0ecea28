# riskbreaker play duel --seed 20 --script scripts/two-versions.rb
# A duel that goes over to the rules of the other version between two rounds, and takes that back.
ok
advantage with knockdown risk 2
rules riskbreaker-0.0.3
rules riskbreaker-0.0.3 yes
switch outnumber_basis all_others
undo
undo
