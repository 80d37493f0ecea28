-- Tests the language server in Neovim with the settings that `riskbreaker new` writes. Run this file by `nvim --headless -u NONE -l`
-- or `-S` in a copy of tests/rulesets/tug and of a layer over it; `tests/editors/run` makes both.

local LATEST = 30000

local function fail(text)
	io.stderr:write("neovim: " .. text .. "\n")
	vim.cmd("cquit 1")
end

local function wait(what, condition)
	if not vim.wait(LATEST, condition, 20) then
		fail("waited in vain for " .. what)
	end
end

local function step(what)
	io.stdout:write("neovim: " .. what .. "\n")
end

-- The title of the menu entry to take: the first one that contains this text.
local choose = ""
vim.ui.select = function(items, options, chosen)
	local label = options.format_item or tostring
	for at, item in ipairs(items) do
		if label(item):find(choose, 1, true) then
			return chosen(item, at)
		end
	end
	fail("no entry of the menu has `" .. choose .. "`")
end

local function text_of(buffer)
	return table.concat(vim.api.nvim_buf_get_lines(buffer, 0, -1, false), "\n")
end

-- Puts the cursor on a piece of the text, `within` bytes after its beginning.
local function go_to(piece, within)
	for at, line in ipairs(vim.api.nvim_buf_get_lines(0, 0, -1, false)) do
		local begin = line:find(piece, 1, true)
		if begin then
			vim.api.nvim_win_set_cursor(0, { at, begin - 1 + (within or 0) })
			return at - 1, begin - 1
		end
	end
	fail("the text has no `" .. piece .. "`")
end

local function replace(piece, new)
	local line, column = go_to(piece)
	vim.api.nvim_buf_set_text(0, line, column, line, column + #piece, { new })
end

local function problems()
	local found = {}
	for _, one in ipairs(vim.diagnostic.get(0)) do
		table.insert(found, one.message)
	end
	return found
end

local function floating()
	for _, window in ipairs(vim.api.nvim_list_wins()) do
		if vim.api.nvim_win_get_config(window).relative ~= "" then
			return text_of(vim.api.nvim_win_get_buf(window))
		end
	end
	return nil
end

vim.cmd("luafile tug/.nvim.lua")
vim.o.hidden = true
vim.cmd("edit tug/maneuvers/rest.luau")
wait("a client", function()
	return #vim.tbl_values(vim.lsp.buf_get_clients(0)) == 1
end)
local client = vim.tbl_values(vim.lsp.buf_get_clients(0))[1]
wait("the answer to `initialize`", function()
	return client.initialized or client.server_capabilities ~= nil
end)

step("a mistake is shown")
replace('add("rests", 1)', 'add("restz", 1)')
wait("a problem", function()
	return #problems() == 1 and problems()[1]:find("restz", 1, true) ~= nil
end)

step("its fix takes it away")
go_to('"restz"', 2)
choose = "rests"
vim.lsp.buf.code_action()
wait("the fix", function()
	return text_of(0):find('add("rests", 1)', 1, true) ~= nil
end)
wait("no problem", function()
	return #problems() == 0
end)

step("a verb is completed")
replace('rb.say("{} rests", ctx.actor)', "rb.act.mo")
go_to("rb.act.mo", #"rb.act.mo" - 1)
vim.bo.omnifunc = "v:lua.vim.lsp.omnifunc"
local params = vim.lsp.util.make_position_params()
params.position.character = params.position.character + 1
local answers = vim.lsp.buf_request_sync(0, "textDocument/completion", params, LATEST)
local words = {}
for _, answer in pairs(answers or {}) do
	local items = vim.lsp.util.text_document_completion_list_to_complete_items(answer.result, "mo")
	for _, item in ipairs(items) do
		table.insert(words, item.word)
	end
end
if #words ~= 1 or words[1] ~= "move_rope" then
	fail("completed: " .. vim.inspect(words))
end
replace("rb.act.mo", 'rb.say("{} rests", ctx.actor)')

step("a field is renamed over two layers")
go_to('"rests"', 2)
vim.lsp.buf.rename("naps")
wait("the new name", function()
	return text_of(0):find('add("naps", 1)', 1, true) ~= nil
end)
vim.cmd("wall")
local hook = io.open("house/hooks/tired.luau"):read("*a")
local kinds = io.open("tug/kinds.luau"):read("*a")
if not hook:find("e.who.naps", 1, true) or not kinds:find("naps = rb.int", 1, true) then
	fail("not renamed: " .. hook .. kinds)
end
wait("no problem after the new name", function()
	return #problems() == 0
end)

step("odds stand in the hover")
vim.cmd("edit tug/maneuvers/pull.luau")
wait("the client of the second file", function()
	return #vim.tbl_values(vim.lsp.buf_get_clients(0)) == 1
end)
replace("won and risk or -risk", "won and risk or 0")
go_to('"pull"', 2)
vim.lsp.buf.hover()
wait("the hover", function()
	return floating() ~= nil
end)
local shown = floating()
for _, wanted in ipairs({ "Odds in the scenario", "saved", "edited", "exact, over 2 paths" }) do
	if not shown:gsub("%*", ""):find(wanted, 1, true) then
		fail("the hover has no `" .. wanted .. "`: " .. shown)
	end
end
vim.cmd("edit!")

step("a lens runs a spec")
vim.cmd("edit tug/specs/maneuvers/pull.luau")
wait("the client of the spec", function()
	return #vim.tbl_values(vim.lsp.buf_get_clients(0)) == 1
end)
vim.lsp.codelens.refresh()
wait("lenses", function()
	return #vim.lsp.codelens.get(0) > 1
end)
local lens = vim.lsp.codelens.get(0)[2]
vim.api.nvim_win_set_cursor(0, { lens.range.start.line + 1, 0 })
choose = "Run this spec"
vim.lsp.codelens.run()
wait("the terminal", function()
	return vim.bo.buftype == "terminal"
end)
wait("the verdict", function()
	return text_of(0):find("1 spec holds", 1, true) ~= nil
end)

step("done")
vim.cmd("qall!")
