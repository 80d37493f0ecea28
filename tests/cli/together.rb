-- two are asked at the same time; a name and a colon say who is meant
Mage: low
high
undo
ok all
pass
Mage: strike on bandit stake 1
