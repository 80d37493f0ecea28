-- Neovim 0.9 and later read this where `exrc` is on. In an older one, type `:luafile .nvim.lua`.
local servers = {
	riskbreaker = {
		cmd = { "riskbreaker", "lsp" },
		filetypes = { "luau", "lua", "toml", "markdown" },
	},
	-- It knows the types of plain Luau. If it is not installed, it is left out.
	luau_lsp = {
		cmd = { "luau-lsp", "lsp" },
		filetypes = { "luau" },
		settings = { ["luau-lsp"] = { platform = { type = "standard" } } },
	},
}

-- A code lens runs its line in a terminal.
vim.lsp.commands["riskbreaker.run"] = function(command)
	vim.cmd("new")
	vim.fn.termopen(command.arguments[1])
end

-- Before 0.11 a client is attached to each file.
local function attach(server, buffer)
	if not vim.tbl_contains(server.filetypes, vim.bo[buffer].filetype) then
		return
	end
	if vim.lsp.start then
		vim.lsp.start(server, { bufnr = buffer })
		return
	end
	server.client = server.client or vim.lsp.start_client(server)
	if server.client then
		vim.lsp.buf_attach_client(buffer, server.client)
	end
end

for name, server in pairs(servers) do
	server.name = name
	server.root_markers = { "ruleset.toml" }
	if vim.fn.executable(server.cmd[1]) == 0 then
		-- Not installed.
	elseif vim.lsp.config then
		vim.lsp.config(name, server)
		vim.lsp.enable(name)
	else
		server.root_dir = vim.fn.getcwd()
		local events = { "BufRead", "BufNewFile" }
		vim.api.nvim_create_autocmd(events, { pattern = "*.luau", command = "setfiletype luau" })
		vim.api.nvim_create_autocmd("FileType", {
			callback = function(event)
				attach(server, event.buf)
			end,
		})
		for _, buffer in ipairs(vim.api.nvim_list_bufs()) do
			if vim.api.nvim_buf_is_loaded(buffer) then
				attach(server, buffer)
			end
		end
	end
end
