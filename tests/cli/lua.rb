ok
= 1 + 2
game:get("Ranger", "aim")
for _, title in game:titles("character") do
	print(title, game:get(title, "grit"))
end
game:play("strike", { stake = 1, targets = "Bandit" })
= nonsense.field
