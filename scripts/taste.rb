# riskbreaker play duel --seed 20 --script scripts/taste.rb
ok
advantage with knockdown risk 2
