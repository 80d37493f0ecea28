-- Neovim reads this where `exrc` is on.
vim.lsp.config("riskbreaker", {
	cmd = { "riskbreaker", "lsp" },
	filetypes = { "luau", "lua", "toml", "markdown" },
	root_markers = { "ruleset.toml" },
})
vim.lsp.enable("riskbreaker")

-- A code lens runs its line in a terminal.
vim.lsp.commands["riskbreaker.run"] = function(command)
	vim.cmd.split()
	vim.cmd.terminal(command.arguments[1])
end

vim.lsp.config("luau_lsp", {
	cmd = { "luau-lsp", "lsp" },
	filetypes = { "luau" },
	root_markers = { "ruleset.toml" },
	settings = { ["luau-lsp"] = { platform = { type = "standard" } } },
})
vim.lsp.enable("luau_lsp")
