//! The model of a small ruleset: its parts as trees, so that any part can be removed, and their conversion to files.

use std::collections::BTreeMap;
use std::fmt::Write as _;

/// The type of an expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sort {
    Number,
    Truth,
    /// A `thing` or an `imp`.
    Body,
    /// Any data.
    Data,
    /// A seat.
    Seat,
}

/// An expression: its text with a `$` for each operand.
#[derive(Clone, Debug, PartialEq)]
pub struct Expr {
    pub sort: Sort,
    pub text: String,
    pub parts: Vec<Expr>,
}

/// A statement: its text with a `$` for each operand, and a line `@` for each body.
#[derive(Clone, Debug, PartialEq)]
pub struct Stat {
    pub text: String,
    pub parts: Vec<Expr>,
    pub bodies: Vec<Vec<Stat>>,
}

pub type Body = Vec<Stat>;

/// A declared field of things and imps.
#[derive(Clone, Debug, PartialEq)]
pub struct Field {
    pub name: &'static str,
    pub declared: String,
    pub default: Option<Expr>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Hook {
    pub always: bool,
    pub priority: i64,
    /// The phase, the verb and the body.
    pub parts: Vec<(&'static str, usize, Body)>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Card {
    pub when: Body,
    pub note: bool,
    pub resolve: Body,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    pub run: Body,
    /// True if the function takes the key.
    pub keyed: bool,
    /// The key as computed before each pop.
    pub key: Option<Expr>,
    pub tie: Option<Expr>,
}

/// A house rule: its changes of the ruleset below.
#[derive(Clone, Debug, PartialEq)]
pub struct Layer {
    /// True if the games begin with it; otherwise it is only added during games.
    pub from_start: bool,
    /// Cards by number, how each is changed, and the body.
    pub cards: Vec<(usize, &'static str, Body)>,
    /// Verbs with a body that runs before the original.
    pub verbs: Vec<(usize, Body)>,
    /// Its own hook, which is always in force.
    pub hook: Option<Hook>,
    /// True if things have an additional field.
    pub field: bool,
}

/// A ruleset with the parameters for playing it.
#[derive(Clone, Debug, PartialEq)]
pub struct Case {
    pub seed: u64,
    pub rounds: u64,
    /// The limit on actions of a game.
    pub actions: u64,
    pub trials: u64,
    pub fields: Vec<Field>,
    pub total: Expr,
    pub verbs: Vec<Body>,
    pub hooks: Vec<Hook>,
    pub cards: Vec<Card>,
    pub entries: Vec<Entry>,
    pub policies: [Body; 2],
    /// The free acts of the seats.
    pub free: Vec<Body>,
    pub start: Body,
    /// True if the game follows a statistic that a function computes.
    pub follows: bool,
    /// True if the cards are offered by their ids only.
    pub cards_later: bool,
    /// True if the agenda is filled: the game is long, so parts that only read are left out.
    pub filled: bool,
    /// The body that runs when a mood ends; `None` without moods.
    pub lasting: Option<Body>,
    /// True if some values are hidden from some seats.
    pub secret: bool,
    pub layer: Option<Layer>,
    /// True if policies take free acts, which are not always open.
    pub acts: bool,
    /// The hook of the item that things may carry; cards then have a fact, too.
    pub item: Option<Hook>,
    /// True if there is a view and a prompt.
    pub shown: bool,
    /// The entry that a change of rules waits for.
    pub boundary: Option<&'static str>,
    /// A derived value that takes arguments.
    pub reach: Option<Expr>,
    /// True if things are built from sheets.
    pub creation: bool,
    /// True if hidden values are dealt anew for a look-ahead.
    pub deals: bool,
    /// The ruleset `other`, as the bodies that convert a game to it and back.
    pub converts: Option<[Body; 2]>,
}

impl Expr {
    pub fn new(sort: Sort, text: impl Into<String>, parts: Vec<Expr>) -> Expr {
        let text = text.into();
        debug_assert_eq!(text.matches('$').count(), parts.len(), "{text}");
        Expr { sort, text, parts }
    }

    pub fn plain(sort: Sort) -> Expr {
        let text = match sort {
            Sort::Number => "1",
            Sort::Truth => "true",
            Sort::Body => "me",
            Sort::Data => "nil",
            Sort::Seat => "\"left\"",
        };
        Expr::new(sort, text, Vec::new())
    }

    pub fn print(&self) -> String {
        filled(&self.text, &self.parts)
    }
}

impl Stat {
    pub fn new(text: impl Into<String>, parts: Vec<Expr>, bodies: Vec<Body>) -> Stat {
        let text = text.into();
        debug_assert_eq!(text.matches('$').count(), parts.len(), "{text}");
        debug_assert_eq!(text.lines().filter(|line| *line == "@").count(), bodies.len(), "{text}");
        Stat { text, parts, bodies }
    }
}

fn filled(text: &str, parts: &[Expr]) -> String {
    let mut parts = parts.iter();
    let mut made = String::new();
    for (at, piece) in text.split('$').enumerate() {
        if at > 0 {
            made.push_str(&parts.next().expect("there are as many parts as places").print());
        }
        made.push_str(piece);
    }
    made
}

fn print_body(body: &[Stat], depth: usize, made: &mut String) {
    for stat in body {
        let text = filled(&stat.text, &stat.parts);
        let mut bodies = stat.bodies.iter();
        for line in text.lines() {
            if line == "@" {
                print_body(bodies.next().expect("there are as many bodies as places"), depth + 1, made);
            } else {
                // A statement that begins with a bracket would be parsed as the arguments of the previous one.
                let apart = if line.starts_with('(') { "do end " } else { "" };
                let _ = writeln!(made, "{}{apart}{line}", "\t".repeat(depth));
            }
        }
    }
}

fn printed(body: &[Stat], depth: usize) -> String {
    let mut made = String::new();
    print_body(body, depth, &mut made);
    made
}

const REQUIRES: &str = "local rb = require(\"@riskbreaker\")\nlocal data = require(\"lib/data\")\nlocal num, spread, named, spoiled = data.num, data.spread, data.named, data.spoiled\n";

const DATA: &str = r#"local rb = require("@riskbreaker")

-- A number for any value, another one for another value as a rule.
local function num(value)
	if type(value) == "number" then
		return value // 1 + (if value % 1 == 0 then 0 else 500)
	elseif type(value) == "boolean" then
		return if value then 1 else 0
	elseif type(value) == "string" then
		return #value * 3 + (string.byte(value) or 0)
	elseif type(value) ~= "table" then
		return 7
	elseif value.exists then
		return value.id
	end
	local sum, names = 0, {}
	for name in value do
		table.insert(names, if type(name) == "number" then string.format("%05d", name) else name)
	end
	table.sort(names)
	for _, name in names do
		local item = value[name]
		if item == nil then
			item = value[tonumber(name)]
		end
		sum = (sum * 5 + num(item) + #name) % 1009
	end
	return sum
end

-- A number for all fields of an entity.
local function spread(entity)
	local sum = 0
	for _, value in pairs(entity) do
		if type(value) == "number" then
			sum += value
		end
	end
	return sum
end

-- What names an option.
local function named(option)
	return if type(option) ~= "table" or option.exists then option else option.id
end

-- A question, with what is wrong with it if it is spoiled.
local function spoiled(question, is_spoiled, wrong)
	if is_spoiled then
		for name, value in pairs(wrong) do
			question[name] = value
		end
	end
	return question
end

return { num = num, spread = spread, named = named, spoiled = spoiled }
"#;

const DIGEST: &str = r#"local rb = require("@riskbreaker")

local function words(value)
	if type(value) ~= "table" then
		return tostring(value)
	elseif value.exists then
		return `#{value.id}`
	end
	local names, parts = {}, {}
	for name in value do
		table.insert(names, name)
	end
	table.sort(names)
	for _, name in names do
		table.insert(parts, `{name}:{words(value[name])}`)
	end
	return `({table.concat(parts, " ")})`
end

-- All that the state holds.
local function digest(world)
	local lines, names = { `round {world.round} big {world.big}` }, { "name", "seat", FIELDS }
	for _, kind in { "thing", "imp" } do
		for _, one in rb.each(kind) do
			local parts = {}
			for _, name in names do
				table.insert(parts, `{name}={words(one[name])}`)
			end
			for _, worn in rb.attached(one) do
				table.insert(parts, `{worn.hook}#{worn.id}{words(worn.data)}`)
			end
			table.insert(lines, `{kind} {one.id} {table.concat(parts, ", ")}`)
		end
	end
	for _, tie in rb.each("tie") do
		table.insert(lines, `tie {tie.id} {words(tie.one)} {words(tie.other)} {tie.load}`)
	end
	for _, bond in rb.each("bond") do
		table.insert(lines, `bond {bond.id} {words(bond.holder)} {words(bond.held)} {bond.load}`)
	end
	for _, kind in { KINDS } do
		for _, one in rb.each(kind) do
			table.insert(lines, `{kind} {one.id} {one.n} {words(if kind == "mood" then one.of else one.seat)}`)
		end
	end
	-- Of an agenda that is full, the first entries and how many there are.
	local agenda = rb.agenda()
	table.insert(lines, `{#agenda} due`)
	for at = 1, math.min(#agenda, 100) do
		local due = agenda[at]
		table.insert(lines, `{due.what}#{due.id} {words(due.key)} {words(due.owner)} {words(due.args)}`)
	end
	return table.concat(lines, "; ")
end

return digest
"#;

impl Case {
    /// The files of the ruleset `small`, by path.
    pub fn files(&self) -> BTreeMap<String, String> {
        let mut files = BTreeMap::new();
        let mut put = |path: &str, text: String| drop(files.insert(format!("small/{path}"), text));
        put("ruleset.toml", MANIFEST.replace("ROUNDS", &self.rounds.to_string()));
        put("RULES.md", "# Small\n\n- **S-1** Something happens.\n".into());
        put("lib/data.luau", DATA.into());
        let names: Vec<_> = self.fields.iter().map(|field| format!("\"{}\"", field.name)).collect();
        let mut kinds = Vec::new();
        kinds.extend(self.lasting.is_some().then_some("\"mood\""));
        kinds.extend(self.secret.then_some("\"secret\""));
        put("lib/digest.luau", DIGEST.replace("FIELDS", &names.join(", ")).replace("KINDS", &kinds.join(", ")));
        put("kinds.luau", self.kinds());
        if self.creation {
            let own = |field: &Field| format!("{0} = entity.{0}, ", field.name);
            let fields: String =
                self.fields.iter().filter(|field| !["ref", "part", "map"].contains(&field.name)).map(own).collect();
            put("creation.luau", CREATION.replace("FIELDS", &fields));
        }
        put("verbs.luau", self.verb_file());
        put("play.luau", self.play());
        for (at, hook) in self.hooks.iter().enumerate() {
            put(&format!("hooks/h{at}.luau"), hook.file(at));
        }
        if let Some(item) = &self.item {
            put("items/i0.luau", item.item_file());
            put("cast/one.toml", "a = 3\n".into());
        }
        for (at, card) in self.cards.iter().enumerate() {
            let file = card.file(at);
            let fact = "\tworth = function(ctx)\n\t\treturn ctx.actor.a\n\tend,\n\tresolve = function(ctx)\n";
            let file = if self.item.is_some() { file.replace("\tresolve = function(ctx)\n", fact) } else { file };
            put(&format!("maneuvers/c{at}.luau"), file);
        }
        for (at, policy) in self.policies.iter().enumerate() {
            let answer = printed(policy, 2);
            let act = if self.acts { ACT } else { "" };
            put(
                &format!("policies/p{at}.luau"),
                format!(
                    "{REQUIRES}\nreturn rb.policy({{\n\tid = \"p{at}\",\n\tanswer = function(q)\n\t\tlocal me = q.about or rb.first(\"thing\")\n\t\tlocal it, n, world = me, 0, rb.first(\"world\")\n{answer}\t\treturn nil\n\tend,\n{act}}})\n"
                ),
            );
        }
        put("scenarios/start.toml", "title = \"Start\"\n".into());
        if let Some(layer) = &self.layer {
            files.extend(layer.files(self.cards.len()));
        }
        if let Some([there, back]) = &self.converts {
            for (path, text) in self.other().files() {
                let Some(path) = path.strip_prefix("small/").filter(|path| *path != "policies/p1.luau") else {
                    continue;
                };
                let text = text.replace("id = \"small\"", "id = \"other\"").replace("default = ROUNDS", "default = 2");
                files.insert(format!("other/{path}"), text.replace("[true, false]", "[false, true]"));
            }
            for (to, from, body) in [("other", "small", there), ("small", "other", back)] {
                let body = printed(body, 2);
                let text = format!(
                    "{REQUIRES}\nreturn rb.convert({{\n\tid = \"{from}\",\n\trun = function(change)\n\t\tlocal me, n, world = rb.first(\"thing\"), 0, rb.first(\"world\")\n\t\tlocal it = rb.each(\"thing\")[2] or me\n{body}\tend,\n}})\n"
                );
                files.insert(format!("{to}/convert/{from}.luau"), text);
            }
        }
        files
    }

    /// The other ruleset that a game can change to: other bounds, an additional field, and fewer entries, hooks and
    /// free acts.
    fn other(&self) -> Case {
        let mut case = Case { layer: None, converts: None, ..self.rewritten() };
        case.fields.push(Field { name: "z", declared: "rb.int({ default = 5 })".into(), default: None });
        for field in case.fields.iter_mut().filter(|field| field.name == "a") {
            field.declared = "rb.int({ default = 7, max = 60 })".into();
        }
        case.hooks.pop();
        case.free.pop();
        case.cards.reverse();
        if case.entries.len() > 1 {
            case.entries.pop();
        }
        case.boundary = if self.boundary.is_some() { None } else { Some("turn") };
        case
    }

    /// The ruleset as edited during a game: without the last statement of each card, verb and hook, and in half of the
    /// cases with an additional field.
    pub fn rewritten(&self) -> Case {
        let mut case = self.clone();
        if self.seed.is_multiple_of(2) {
            case.fields.push(Field { name: "late", declared: "rb.int({ default = 2 })".into(), default: None });
        }
        let hooks = case.hooks.iter_mut().flat_map(|hook| hook.parts.iter_mut().map(|(.., body)| body));
        for body in case.cards.iter_mut().map(|card| &mut card.resolve).chain(&mut case.verbs).chain(hooks) {
            body.pop();
        }
        case
    }

    fn kinds(&self) -> String {
        let fields: String =
            self.fields.iter().map(|field| format!("\t\t{} = {},\n", field.name, field.declare())).collect();
        let total = self.total.print();
        let reach = self.reach.as_ref().map_or(String::new(), |reach| {
            let reach = reach.print();
            format!(
                "\treach = function(me, n, it)\n\t\tlocal world = rb.first(\"world\")\n\t\tn, it = num(n), it or me\n\t\treturn rb.sum(\"reach\", {reach})\n\tend,\n"
            )
        });
        let deck = if self.secret { ", deck = rb.list(rb.int(), { audience = \"nobody\" })" } else { "" };
        let mut more = String::new();
        if self.secret {
            more.push_str(SECRET);
        }
        if let Some(ended) = &self.lasting {
            let ended = printed(ended, 3);
            let _ = writeln!(
                more,
                "\tmood = {{\n\t\ttimed = true,\n\t\tfields = {{ of = rb.ref(), n = rb.int() }},\n\t\tended = function(self)\n\t\t\tlocal me, n, world = self.of or rb.first(\"thing\"), self.n, rb.first(\"world\")\n\t\t\tlocal it = me\n{ended}\t\tend,\n\t}},"
            );
        }
        format!(
            "{REQUIRES}
local function fields()
	return {{
		name = rb.text({{ show = false }}),
		seat = rb.text({{ show = false, default = \"left\" }}),
{fields}	}}
end

local derived = {{
	total = function(me)
		local it, n, world = me, 0, rb.first(\"world\")
		return rb.sum(\"all\", {total})
	end,
{reach}}}

return rb.kinds({{
	world = {{
		fields = {{ round = rb.int({{ min = 0, label = \"Round\" }}), big = rb.int(){deck} }},
		derived = {{ digest = require(\"lib/digest\") }},
	}},
	thing = {{ title = \"name\", fields = fields(), derived = derived }},
	imp = {{ title = \"name\", fields = fields(), derived = derived }},
	tie = {{ relates = {{ \"one\", \"other\" }}, mutual = true, fields = {{ one = rb.ref(\"imp\"), other = rb.ref(\"imp\"), load = rb.int() }} }},
	bond = {{ relates = {{ \"holder\", \"held\" }}, fields = {{ holder = rb.ref(\"thing\"), held = rb.ref(\"imp\"), load = rb.int() }} }},
{more}}})
"
        )
    }

    fn verb_file(&self) -> String {
        let verbs: String = self
            .verbs
            .iter()
            .enumerate()
            .map(|(at, body)| {
                let body = printed(body, 2);
                format!("\tv{at} = rb.verb({{ \"me\", \"n\" }}, function(me, n)\n\t\tlocal it, world = me, rb.first(\"world\")\n{body}\t\treturn n\n\tend),\n")
            })
            .collect();
        format!("{REQUIRES}\nreturn rb.verbs({{\n{verbs}}})\n")
    }

    fn play(&self) -> String {
        let start = printed(&self.start, 2);
        let mut entries = String::new();
        for (at, entry) in self.entries.iter().enumerate() {
            let body = printed(&entry.run, 4);
            let key = if entry.keyed { ", key" } else { "" };
            let mut more = String::new();
            if let Some(key) = &entry.key {
                let key = key.print();
                let _ = writeln!(
                    more,
                    "\t\t\tkey = function(entry)\n\t\t\t\tlocal me, n, world = entry.owner or rb.first(\"thing\"), entry.key[1], rb.first(\"world\")\n\t\t\t\tlocal it = me\n\t\t\t\treturn {{ n, {key} }}\n\t\t\tend,"
                );
            }
            if let Some(tie) = &entry.tie {
                let tie = tie.print();
                let _ = writeln!(
                    more,
                    "\t\t\ttie = function(entries)\n\t\t\t\tlocal me, n, world = rb.first(\"thing\"), #entries, rb.first(\"world\")\n\t\t\t\tlocal it = me\n\t\t\t\treturn {tie} % n + 1\n\t\t\tend,"
                );
            }
            let _ = writeln!(
                entries,
                "\t\te{at} = {{\n\t\t\trun = function(owner, args{key})\n\t\t\t\tlocal me = owner or rb.first(\"thing\")\n\t\t\t\tlocal it = if type(args) == \"table\" and args.e then args.e else me\n\t\t\t\tlocal n, world = num(if type(args) == \"table\" then args.n else args){}, rb.first(\"world\")\n{body}\t\t\tend,\n{more}\t\t}},",
                if entry.keyed { " + key[1]" } else { "" }
            );
        }
        let options = if self.cards_later {
            "cards = rb.card_ids,\n\t\t\t\tctx = ctx,"
        } else {
            "options = rb.options(rb.card_ids, ctx),"
        };
        let when = if self.acts { MAY_ACT } else { "" };
        let mut free = String::new();
        for (at, body) in self.free.iter().enumerate() {
            let body = printed(body, 4);
            let _ = writeln!(
                free,
                "\t\tf{at} = {{\n\t\t\ttitle = \"F{at}\",\n\t\t\tseats = {{ \"left\", \"right\" }},\n{when}\t\t\trun = function(seat)\n\t\t\t\tlocal me, n, world = rb.each(\"thing\")[if seat == \"left\" then 1 else 2] or rb.first(\"thing\"), 0, rb.first(\"world\")\n\t\t\t\tlocal it = me\n{body}\t\t\tend,\n\t\t}},"
            );
        }
        if !free.is_empty() {
            free = format!("\tfree = {{\n{free}\t}},\n");
        }
        let mut more = String::new();
        if self.item.is_some() {
            more.push_str("\tcard = { worth = \"number|function?\" },\n\titem = { weight = \"number\" },\n");
        }
        if self.shown {
            more.push_str(SHOWN);
        }
        if let Some(boundary) = self.boundary {
            let _ = writeln!(more, "\tboundary = \"{boundary}\",");
        }
        if self.deals {
            let _ = writeln!(more, "\tdeal = function(seat)\n\t\tlocal world = rb.first(\"world\")\n{DEALT}\n\tend,");
        }
        let spawned = if self.creation {
            "rb.spawn(rb.build_sheet({ name = seat, seat = seat }))"
        } else {
            "rb.spawn(\"thing\", { name = seat, seat = seat })"
        };
        let follows = if self.follows {
            "\t\tTotal = function()\n\t\t\tlocal sum = 0\n\t\t\tfor _, one in rb.each(\"thing\") do\n\t\t\t\tsum += one:total()\n\t\t\tend\n\t\t\treturn sum\n\t\tend,\n"
        } else {
            ""
        };
        format!(
            "{REQUIRES}
return rb.play({{
	start = function(scenario)
		local world = rb.spawn(\"world\", {{}})
		for at, seat in {{ \"left\", \"right\" }} do
			rb.recur(\"turn\", {{ 1, at }}, {{ 1, 0 }}, {spawned})
		end
		rb.recur(\"clock\", {{ 1, 9 }}, {{ 1, 0 }})
		local me, it, n = rb.first(\"thing\"), rb.each(\"thing\")[2], 0
{start}	end,
	entries = {{
		turn = function(me)
			local ctx = {{ actor = me, foe = rb.each(\"thing\")[if me == rb.first(\"thing\") then 2 else 1] or me }}
			local card = rb.choose({{
				seat = me.seat,
				topic = \"card\",
				about = me,
				{options}
				default = \"c0\",
			}})
			card.resolve(ctx)
		end,
		clock = function()
			local world = rb.first(\"world\")
			if world:add(\"round\", 1) >= rb.switches.rounds then
				rb.finish(\"the end\")
			end
		end,
{entries}	}},
{free}{more}	statistics = {{
		Round = \"world.round\",
{follows}	}},
	result = function()
		return rb.first(\"world\"):digest()
	end,
}})
"
        )
    }
}

impl Field {
    fn declare(&self) -> String {
        match &self.default {
            Some(default) => self.declared.replace("DEFAULT", &default.print()),
            None => self.declared.clone(),
        }
    }
}

/// The function of policies for free acts.
const ACT: &str = "\tact = function(seat, acts)\n\t\tlocal world = rb.first(\"world\")\n\t\treturn if (world.round + #acts + #seat) % 3 ~= 0 then acts[#acts] else nil\n\tend,\n";

const MAY_ACT: &str =
    "\t\t\twhen = function(seat)\n\t\t\t\treturn rb.first(\"thing\").a % 3 ~= 1, \"not now\"\n\t\t\tend,\n";

/// The function that deals hidden values anew for `seat`.
pub const DEALT: &str = "for _, one in rb.each(\"thing\") do
	if one.seat ~= seat then one:set(\"purse\", rb.roll(\"1d3\")) end
end
world:set(\"deck\", { rb.roll(\"1d2\"), 3, 4 })";

const CREATION: &str = r#"local rb = require("@riskbreaker")
local num = require("lib/data").num

return rb.creation({
	check = function(sheet)
		local breaches = {}
		if num(sheet.a) > 5 then
			table.insert(breaches, { rule = "S-1", text = `{num(sheet.a)} of a`, cost = num(sheet.a), have = 5 })
		end
		if rb.switches.loud and sheet.name == nil then
			table.insert(breaches, { rule = "S-2", text = "no name", warning = true })
		end
		return breaches
	end,
	build = function(sheet)
		return "thing", sheet
	end,
	steps = function()
		return { { key = "name" }, { key = "a", form = "number", text = "Some." }, { key = "list", by_play = true } }
	end,
	price = function(sheet)
		return { lines = { { text = `a {num(sheet.a)}`, cost = num(sheet.a) * 2 } }, have = 9 }
	end,
	sheet = function(entity)
		return { name = entity.name, seat = entity.seat, FIELDS }
	end,
})
"#;

const SHOWN: &str = "\tviews = {
		all = {
			title = \"All\",
			show = function(seat)
				local sum = 0
				for _, one in rb.each(\"thing\") do
					sum += spread(one)
				end
				return { { \"sum\", tostring(sum) }, `{seat}, round {rb.first(\"world\").round}` }
			end,
		},
	},
	prompt = function(about, seat)
		return `{seat} {num(about)}`
	end,
";

impl Hook {
    fn item_file(&self) -> String {
        let phases = self.phases();
        format!(
            "{REQUIRES}\nreturn rb.item({{\n\tid = \"i0\",\n\ttitle = \"I0\",\n\ttext = \"Something.\",\n\tweight = 2,\n{phases}}})\n"
        )
    }

    fn file(&self, at: usize) -> String {
        let phases = self.phases();
        format!(
            "{REQUIRES}\nreturn rb.hook({{\n\tid = \"h{at}\",\n\ttitle = \"H{at}\",\n\tpriority = {},\n\talways = {},\n{phases}}})\n",
            self.priority, self.always
        )
    }

    fn phases(&self) -> String {
        let mut phases = String::new();
        for phase in ["before", "after", "wrap"] {
            let of: Vec<_> = self.parts.iter().filter(|part| part.0 == phase).collect();
            if of.is_empty() {
                continue;
            }
            let _ = writeln!(phases, "\t{phase} = {{");
            for (_, verb, body) in of {
                let body = printed(body, 3);
                let (proceed, last) = match phase {
                    "wrap" => (", proceed", "\t\t\treturn proceed(e)\n"),
                    _ => ("", ""),
                };
                let _ = writeln!(
                    phases,
                    "\t\tv{verb} = function(e{proceed}, holder)\n\t\t\tlocal me, n, world = e.me, e.n, rb.first(\"world\")\n\t\t\tlocal it = holder.owner or me\n{body}{last}\t\tend,"
                );
            }
            let _ = writeln!(phases, "\t}},");
        }
        phases
    }
}

impl Layer {
    /// The files of the house rule `house` for a ruleset with this number of cards.
    fn files(&self, cards: usize) -> BTreeMap<String, String> {
        let mut files = BTreeMap::new();
        let mut put = |path: &str, text: String| drop(files.insert(format!("house/{path}"), text));
        put(
            "ruleset.toml",
            "id = \"house\"\ntitle = \"House\"\nversion = \"1.0.0\"\nsummary = \"A house rule.\"\nover = [\"small\"]\n"
                .into(),
        );
        for (at, how, body) in &self.cards {
            // After minimizing, the ruleset may have fewer.
            let (at, how) = if *at < cards { (*at, *how) } else { (cards, "new") };
            let body = printed(body, 2);
            let resolve = match how {
                "wrap" => {
                    format!("\tresolve = rb.wrapped(function(below, ctx)\n{LOCALS}{body}\t\tbelow(ctx)\n\tend),\n")
                }
                _ => format!("\tresolve = function(ctx)\n{LOCALS}{body}\tend,\n"),
            };
            let card = match how {
                "new" | "replace" => format!("\tid = \"c{at}\",\n\ttitle = \"C{at}\",\n\ttext = \"Other.\",\n"),
                _ => format!("\tid = \"c{at}\",\n"),
            };
            let card = format!("rb.maneuver({{\n{card}{resolve}}})");
            let card = match how {
                "new" => card,
                "replace" => format!("rb.replace({card})"),
                "removed" if at > 0 => format!("rb.removed(\"maneuver\", \"c{at}\")"),
                _ => format!("rb.extend({card})"),
            };
            put(&format!("maneuvers/c{at}.luau"), format!("{REQUIRES}\nreturn {card}\n"));
        }
        if !self.verbs.is_empty() {
            let mut verbs = String::new();
            for (at, body) in &self.verbs {
                let body = printed(body, 2);
                let _ = writeln!(
                    verbs,
                    "\tv{at} = rb.wrapped(function(below, me, n)\n\t\tlocal it, world = me, rb.first(\"world\")\n{body}\t\treturn num(below(me, n)) + 1\n\tend),"
                );
            }
            put("verbs.luau", format!("{REQUIRES}\nreturn rb.verbs({{\n{verbs}}})\n"));
        }
        if let Some(hook) = &self.hook {
            put("hooks/h9.luau", hook.file(9));
        }
        if self.field {
            let kinds =
                "return rb.kinds({ thing = rb.extend({ fields = { more = rb.int({ default = 4, max = 90 }) } }) })";
            put("kinds.luau", format!("{REQUIRES}\n{kinds}\n"));
        }
        files
    }
}

/// The locals at the beginning of a card's function.
const LOCALS: &str = "\t\tlocal me, it, n, world = ctx.actor, ctx.foe, 0, rb.first(\"world\")\n";

const SECRET: &str =
    "\tsecret = {\n\t\taudience = \"seat\",\n\t\tfields = { seat = rb.text({ show = false }), n = rb.int() },\n\t},\n";

impl Card {
    fn file(&self, at: usize) -> String {
        let locals = LOCALS;
        let when = if self.when.is_empty() {
            String::new()
        } else {
            format!("\twhen = function(ctx)\n{locals}{}\t\treturn true\n\tend,\n", printed(&self.when, 2))
        };
        let note = if self.note { "\tnote = function(ctx)\n\t\treturn `{num(ctx.actor.name)}`\n\tend,\n" } else { "" };
        let resolve = printed(&self.resolve, 2);
        format!(
            "{REQUIRES}\nreturn rb.maneuver({{\n\tid = \"c{at}\",\n\ttitle = \"C{at}\",\n\ttext = \"Something.\",\n{when}{note}\tresolve = function(ctx)\n{locals}{resolve}\tend,\n}})\n"
        )
    }
}

const MANIFEST: &str = r#"id = "small"
title = "Small"
version = "1.0.0"
summary = "A small ruleset."
scenario = "start"

[switches.rounds]
min = 1
max = 20
default = ROUNDS
text = "How many rounds are played."

[switches.loud]
values = [true, false]
text = "Whether more is told."

[seats]
gm = "The referee"
left = "The left one"
right = "The right one"
guest = "Somebody who watches"
"#;
