# riskbreaker play duel --seed 20 --script scripts/taste.rb
ok
advantage with knockdown risk 2
ok
kill damage risk 2
why fighter fight_rating
undo
