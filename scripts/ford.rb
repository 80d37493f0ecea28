# riskbreaker play ford --rules contest --seat gm=human --seat foes=steady --seed 11
#
