//! Simulations with the memo give the same results as running every script.
//!
//! `RISKBREAKER_MEMO_SEED=5 RISKBREAKER_MEMO_TIMES=20 RISKBREAKER_MEMO_ONLY=arena cargo test --test memo
//! every_scenario` plays the rulesets of that name twenty times as often, with other dice.

mod files;
mod parallel;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use parallel::on_every_core;
use riskbreaker::lab::{Findings, MemoReport, MemoUse, Simulation, Variant};
use riskbreaker::{Driver, Library, Ruleset, Setup};

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}

fn plan(rules: &Arc<Ruleset>, setup: &Setup, scenario: &str, trials: u64, memo: MemoUse) -> Simulation {
    let variant = Variant::new("one", rules, setup.clone()).unwrap();
    let (scenario, variants) = (scenario.to_string(), vec![variant]);
    let seed = number("RISKBREAKER_MEMO_SEED").unwrap_or(11);
    Simulation { scenario, variants, trials, seed, until: None, actions: 2_000, memo }
}

fn found(rules: &Arc<Ruleset>, setup: &Setup, scenario: &str, trials: u64, memo: MemoUse) -> Findings {
    let plan = plan(rules, setup, scenario, trials, memo);
    let mut found = plan.run(1, None, None, &mut |_, _| true).unwrap_or_else(|error| panic!("{error}"));
    // Whether work or time ends a loop first depends on the machine; the location is the same.
    for out in found.tallies.iter_mut().flat_map(|tally| &mut tally.left_out) {
        out.why.truncate(out.why.find(" the script ").unwrap_or(out.why.len()));
    }
    found
}

fn check(rules: &Arc<Ruleset>, setup: &Setup, scenario: &str, trials: u64, what: &str) -> Findings {
    let expected = found(rules, setup, scenario, trials, MemoUse::Never);
    let learned = found(rules, setup, scenario, trials, MemoUse::Always);
    assert!(expected == learned, "{what}:\n{:?}\n{:?}", expected.tallies, learned.tallies);
    expected
}

#[test]
fn every_scenario_has_the_same_results_with_the_memo() {
    let mut plays = Vec::new();
    let only = std::env::var("RISKBREAKER_MEMO_ONLY").ok();
    for folder in ["rulesets", "tests/rulesets"] {
        let library = Library::open(Path::new(env!("CARGO_MANIFEST_DIR")).join(folder)).unwrap();
        for id in library.ids().into_iter().filter(|id| !id.ends_with("-common") && !id.starts_with("house-")) {
            if only.as_ref().is_some_and(|only| *only != id) {
                continue;
            }
            let rules = Ruleset::load(&library, &id).unwrap();
            // The shipped games are large.
            let times = number("RISKBREAKER_MEMO_TIMES").unwrap_or(1);
            let trials = times * if folder == "rulesets" { 3 } else { 60 };
            for scenario in rules.scenarios().keys() {
                let policies = rules.policies().iter();
                plays.extend(policies.map(|policy| (rules.clone(), scenario.clone(), policy.clone(), trials)));
            }
        }
    }
    on_every_core(&plays, |(rules, scenario, policy, trials)| {
        let seats = rules.seats().keys().filter(|seat| *seat != "gm");
        let setup = seats.fold(Setup::scenario(scenario.as_str()), |setup, seat| {
            setup.seat(seat.as_str(), Driver::Policy(policy.clone()))
        });
        check(rules, &setup, scenario, *trials, &format!("{} {scenario} {policy}", rules.id()));
    });
    assert!(plays.len() > 30 || only.is_some(), "only {} were compared", plays.len());
}

/// Tug of war with a card that runs `body` before it is resolved, and with further files.
fn tug_with(body: &str, more: &[(&str, &str)]) -> Arc<Ruleset> {
    let mut files = files::of(&["tug"]);
    let card = files.get_mut("tug/maneuvers/pull.luau").unwrap();
    assert!(card.contains("resolve = function(ctx)\n"));
    *card = card.replace("resolve = function(ctx)\n", &format!("resolve = function(ctx)\n{body}\n"));
    let kinds = files.get_mut("tug/kinds.luau").unwrap();
    let fields = "marks = rb.list(rb.int()), said = rb.text(), number = rb.int({ min = 0 }), other = rb.ref(),";
    *kinds =
        kinds.replace("name = rb.text({ show = false }),", &format!("name = rb.text({{ show = false }}),\n{fields}"));
    for (path, text) in more {
        files.insert((*path).into(), (*text).into());
    }
    let files = files.into_iter().map(|(path, text)| (path, text.into_bytes()));
    Ruleset::load(&Library::from_files(files), "tug").unwrap_or_else(|error| panic!("{error}\n{body}"))
}

const HOOK: &str = r#"
local rb = require("@riskbreaker")
return rb.hook({
	id = "slick",
	title = "Slick hands",
	before = {
		move_rope = function(e, holder)
			if holder.data and holder.data.left > 0 and holder.owner == e.who then
				e.by -= math.sign(e.by)
				rb.set_data(holder.id, { left = holder.data.left - 1 })
			elseif holder.id then
				rb.detach(holder.id)
			end
		end,
	},
})
"#;

#[test]
fn every_operation_of_a_script_has_the_same_results_with_the_memo() {
    let hook = [("tug/hooks/slick.luau", HOOK)];
    let bodies: &[(&str, &[(&str, &str)])] = &[
        // All fields at once.
        (
            "local sum = 0 for _, v in pairs(ctx.rope) do if type(v) == 'number' then sum += v end end ctx.actor:set('strength', sum % 7 + 2)",
            &[],
        ),
        (
            "local sum = 0 for _, v in ctx.rope do if type(v) == 'number' then sum += v end end ctx.actor:set('strength', sum % 7 + 2)",
            &[],
        ),
        ("ctx.actor:set('strength', (rawget(ctx.rope, 'at') + 50) % 7 + 2)", &[]),
        (
            "local k = next(ctx.rope) while k do if k == 'at' then ctx.actor:set('strength', ctx.rope[k] % 7 + 2) end k = next(ctx.rope, k) end",
            &[],
        ),
        // A later use of a roll.
        ("if rb.under('1d6', 4, 'x') then ctx.actor:set('strength', rb.last_roll() + 2) end", &[]),
        (
            "if rb.band('2d6', { 5, 9 }, 'x') == 1 then ctx.actor:set('strength', rb.last_roll() % 7 + 2) rb.under('1d4', 3, 'y') ctx.actor:set('strength', (ctx.actor.strength + rb.last_roll()) % 7 + 2) end",
            &[],
        ),
        // Numbers of entries.
        (
            "local id = rb.schedule('turn', { 5000 }, ctx.actor) ctx.actor:set('strength', id % 7 + 2) rb.cancel(id)",
            &[],
        ),
        (
            "if ctx.actor.number > 0 then rb.cancel(ctx.actor.number) end ctx.actor:set('number', rb.schedule('turn', { 5000, 1 }, ctx.actor, { rope = ctx.rope }))",
            &[],
        ),
        (
            "rb.schedule('turn', { rb.roll('1d6') }, ctx.actor, { rope = ctx.rope }) if #rb.agenda() > 6 then rb.cancel(rb.agenda()[3].id) end",
            &[],
        ),
        ("ctx.actor:set('strength', #rb.agenda({ what = 'turn' }) + rb.agenda()[1].key[1] % 5 + 2)", &[]),
        // The number of entities.
        (
            "local n = #rb.each('puller') if n < 6 then local made = rb.spawn('puller', { name = `{n}`, seat = 'left', strength = n }) ctx.actor:set('other', made) ctx.actor:set('strength', made.strength + n) else rb.remove(rb.each('puller')[n]) end",
            &[],
        ),
        (
            "local made = rb.spawn('puller', { name = 'ghost', seat = 'left', strength = rb.roll('1d6') }) rb.remove(made) ctx.actor:set('strength', made.strength + 2)",
            &[],
        ),
        (
            "local other = ctx.actor.other if other and not other:exists() then error('a reference to nobody') end if other then rb.remove(other) end if ctx.actor.other == nil then ctx.actor:set('other', rb.spawn('puller', { name = 'x', seat = 'left' })) end",
            &[],
        ),
        // Searches by value, and comparisons with a large number, before and after a change.
        (
            "local n = #rb.each('puller', { strength = 5 }) ctx.actor:set('strength', (ctx.actor.strength + n) % 7 + 2) if #rb.each('puller', { strength = 5 }) > 0 then ctx.actor:add('strength', 1) end if rb.first('puller', { strength = 4, pull = 1 }) == ctx.actor then ctx.actor:set('pull', 2) end",
            &[],
        ),
        (
            "local n = #rb.each('puller') if n < 6 then rb.spawn('puller', { name = `{n}`, seat = 'left', strength = n, other = ctx.actor }) else rb.remove(rb.each('puller')[n]) end ctx.actor:set('strength', #rb.each('puller', { strength = 4 }) + #rb.each('puller', { other = ctx.actor }) + 2)",
            &[],
        ),
        (
            "if ctx.rope:reaches('at', rb.roll('1d6') - 3) then ctx.actor:set('strength', 4) elseif ctx.actor:reaches('strength', 5) then ctx.actor:add('strength', -1) elseif not ctx.actor:reaches('strength', 1.5) then ctx.actor:set('strength', 6) else ctx.actor:add('strength', 1) if ctx.actor:reaches('strength', 5) then ctx.actor:add('pull', 1 - ctx.actor.pull) end end",
            &[],
        ),
        (
            "if ctx.actor.other == nil then ctx.actor:set('other', rb.spawn('puller', { name = 'z', seat = 'left', strength = 3 })) end local o = ctx.actor.other if o:reaches('strength', 4) then rb.remove(o) ctx.actor:set('strength', if o:reaches('strength', 5) then 3 else 4) else o:add('strength', rb.roll('1d2')) end",
            &[],
        ),
        // Adding to a number that a trace does not know, read before and after, and out of the field's bounds.
        (
            "local a = ctx.actor if a:reaches('strength', 8) then a:shift('strength', -6) else a:shift('strength', rb.roll('1d3')) if a:reaches('strength', 5) then a:shift('strength', -1) ctx.rope:shift('at', if a.strength % 2 == 0 then 1 else -1) end end",
            &[],
        ),
        (
            "if ctx.actor.other == nil then ctx.actor:set('other', rb.spawn('puller', { name = 'z', seat = 'left', strength = 3 })) end local o = ctx.actor.other o:shift('strength', 1) o:shift('strength', 1) if o:reaches('strength', 7) then o:add('strength', -5) o:shift('strength', 1) end ctx.actor:set('pull', #rb.each('puller', { strength = 5 }))",
            &[],
        ),
        (
            "local a = ctx.actor a:shift('strength', 2) a:shift('rests', 0) if a:reaches('strength', 9) and rb.roll('1d200') > 20 then a:shift('strength', -4) end",
            &[],
        ),
        // Entities created in play, read in any order, with and without their ids.
        (
            "local made = rb.spawn('puller', { name = 'm', seat = 'left', strength = rb.roll('1d3') }) ctx.actor:set('other', made) for at, p in rb.each('puller') do if at > 3 and p ~= made then ctx.actor:set('strength', p.strength + 2) rb.remove(p) end end",
            &[],
        ),
        (
            "if #rb.each('puller') < 5 then rb.spawn('puller', { name = 'm', seat = 'left', other = ctx.actor, strength = rb.roll('1d6') }) end local first = rb.first('puller', { other = ctx.actor }) if first and rb.under('1d6', 4) then ctx.actor:set('strength', first.strength + 1) rb.remove(first) end",
            &[],
        ),
        (
            "local made = rb.spawn('puller', { name = 'm', seat = 'left', other = ctx.actor }) ctx.actor:set('strength', made.id % 7 + 2)",
            &[],
        ),
        (
            "local old = ctx.actor.other ctx.actor:set('other', rb.spawn('puller', { name = 'm', seat = 'left', other = old })) if old then ctx.actor:set('strength', old.id % 7 + 2) rb.remove(old.other or old) end",
            &[],
        ),
        (
            "local chain, n = ctx.actor.other, 0 while chain do n += chain.strength chain = chain.other end ctx.actor:set('strength', n % 7 + 2) if n < 15 then ctx.actor:set('other', rb.spawn('puller', { name = 'm', seat = 'left', other = ctx.actor.other, strength = rb.roll('1d6') })) else rb.remove(ctx.actor.other) end",
            &[],
        ),
        // Attachments of entities.
        ("if #rb.attached(ctx.actor) == 0 then rb.attach('slick', ctx.actor, { left = 2 }) end", &hook),
        // Lists, texts, long ones and large numbers.
        (
            "local marks = table.clone(ctx.actor.marks) table.insert(marks, #marks % 3) if #marks > 5 then marks = {} end ctx.actor:set('marks', marks) ctx.actor:set('strength', #ctx.actor.marks + 2)",
            &[],
        ),
        (
            "local a = ctx.actor.marks ctx.actor:set('marks', { #a % 4, 1 }) if a == ctx.actor.marks then error('the same list') end ctx.actor:set('strength', ctx.actor.marks[1] + 3)",
            &[],
        ),
        (
            "ctx.actor:set('said', string.rep('x', (#ctx.actor.said + 90) % 1500)) ctx.actor:set('strength', #ctx.actor.said % 7 + 2)",
            &[],
        ),
        (
            "ctx.actor:set('number', (ctx.actor.number * 31 + 999999937) % 4000000000000) ctx.actor:set('strength', ctx.actor.number % 7 + 2)",
            &[],
        ),
        // Written before being read, and never read.
        ("ctx.actor:set('number', 3) ctx.actor:add('number', 2) ctx.actor:set('strength', ctx.actor.number)", &[]),
        ("if rb.roll('1d6') == 6 then ctx.actor:set('strength', 9) end", &[]),
        // Rolls of all kinds, a policy's picks, and rerolls.
        (
            "local f = rb.faces('3d6kh2') ctx.actor:set('strength', f[1] + rb.roll('1d4!') % 3) rb.band('2d6', { 4, 8 })",
            &[],
        ),
        (
            "local n = rb.again(function() local r = rb.roll('1d6') return if r > 2 then r else nil end) ctx.actor:set('strength', n + 1)",
            &[],
        ),
        // Dice rolled together: the need comes from the state, is out of reach, or is missing.
        (
            "local n = ctx.actor.strength if rb.under('2d6-1', n + 2) then ctx.actor:set('strength', n % 9 + 2) elseif rb.at_least('3d4', 13) then error('twelve is the most') elseif rb.at_most('1d1+4', 5) then ctx.actor:set('strength', rb.roll('2d3+1')) end",
            &[],
        ),
        (
            "local big = rb.roll('40d1000+999999999') ctx.actor:set('number', big) ctx.actor:set('strength', if rb.at_least('1d6', -3) and rb.under('1d6', 2 ^ 40) then big % 7 + 2 else 1)",
            &[],
        ),
        ("if rb.roll('1d200') == 1 then rb.under('1d6', 2.5) end", &[]),
        ("if rb.roll('1d200') == 1 then rb.at_least('1d6', 'three') end", &[]),
        // An entry that cannot be recorded changes fields that others have read.
        (
            "local a = ctx.actor if a.strength > 6 then a:set('strength', #rb.agenda() % 4 + 2) else a:add('strength', if rb.at_least('1d6', 3) then 1 else -1) end if a.strength < 2 then a:set('strength', 2) end",
            &[],
        ),
        (
            "local a = ctx.actor if a.other == nil then local made = rb.spawn('puller', { name = 'y', seat = 'left', strength = 3 }) for _, p in rb.each('puller') do if p ~= made then p:set('other', made) end end elseif rb.under('1d6', 4) then rb.remove(a.other) end a:set('strength', if a.other then a.other.strength + 1 else 5)",
            &[],
        ),
        // Actions that are cut short, fail, or end the game.
        ("ctx.actor:add('number', 1) if rb.roll('1d20') == 1 then rb.cut('it slips') end", &[]),
        ("ctx.actor:add('number', 1) if rb.roll('1d20') == 1 then rb.finish('{} tears it', ctx.actor) end", &[]),
        ("if rb.roll('1d200') == 1 then error('a splinter') end", &[]),
        ("if rb.roll('1d200') == 1 then return ctx.actor.strenght end", &[]),
        ("if rb.roll('1d200') == 1 then ctx.actor:add('strenght', 1) end", &[]),
        ("if rb.roll('1d200') == 1 then ctx.actor:set('strength', 11) end", &[]),
        ("if rb.roll('1d200') == 1 then for _ in ctx.actor do ctx.actor.need = 1 end end", &[]),
        ("if rb.roll('1d600') == 1 then while true do end end", &[]),
    ];
    let play = |seat| Driver::Policy(if seat == "left" { "hasty".into() } else { "shy".into() });
    let shy = "local rb = require('@riskbreaker') return rb.policy({ id = 'shy', answer = function(q) \
               if q.topic == 'card' then return if rb.pick(q, 5) == 1 then rb.open(q, 'rest') or 'pull' else 'pull' end \
               return if q.about.rests > 0 then 3 else 1 end })";
    for (body, more) in bodies {
        let files: Vec<(&str, &str)> = more.iter().copied().chain([("tug/policies/shy.luau", shy)]).collect();
        let rules = tug_with(body, &files);
        let setup = Setup::scenario("two").seat("left", play("left")).seat("right", play("right"));
        let found = check(&rules, &setup, "two", 250, body);
        let fails = body.contains("1d200") || body.contains("1d600");
        assert!(found.tallies[0].trials > 150, "{body}: {:?}", found.tallies[0].left_out.first());
        assert_eq!(found.tallies[0].left_out.is_empty(), !fails, "{body}: {:?}", found.tallies[0].left_out.first());
    }
}

#[test]
fn games_with_different_starts_have_the_same_results_with_the_memo() {
    let play = files::of(&["tug"])["tug/play.luau"].replace(
        "local rope = rb.spawn(\"rope\", {})",
        "local rope = rb.spawn(\"rope\", { at = rb.roll(\"1d3\") - 2 })\nif rb.roll(\"1d2\") == 1 then rb.spawn(\"rope\", { at = 1 }) end",
    );
    let rules = tug_with("ctx.actor:set('strength', #rb.each('rope') + 4)", &[("tug/play.luau", &play)]);
    let setup = Setup::scenario("two").seat("left", Driver::Policy("hasty".into()));
    assert_eq!(
        check(&rules, &setup.seat("right", Driver::Policy("hasty".into())), "two", 400, "rolled").tallies[0].trials,
        400
    );
}

/// Imps are created, act in entries with a computed key and ties, and are removed; kinds with very many fields; and
/// results and statistics computed from everything that can be read.
#[test]
fn statistics_have_the_same_results_with_the_memo() {
    let mut play = files::of(&["tug"])["tug/play.luau"].clone();
    let mut put = |from: &str, to: &str| {
        assert!(play.contains(from), "no `{from}`");
        play = play.replace(from, to);
    };
    put(
        "entries = {",
        r#"entries = {
		bite = {
			run = function(imp, args)
				args.rope:set("at", math.clamp(args.rope.at + args.by, -20, 20))
				if rb.at_least("1d6", 5) then
					rb.remove(imp)
				end
			end,
			key = function(entry)
				return { entry.key[1], 5 + entry.owner.strength % 2 }
			end,
			tie = function(entries)
				return rb.roll("1d" .. #entries)
			end,
		},"#,
    );
    put(
        "return if rb.first(\"rope\").at < 0 then \"left\" else \"right\"",
        "local n = 0 for _, p in rb.each('puller') do n += #rb.attached(p) end return `{rb.first('rope').at // 4}, {n}`",
    );
    put(
        "statistics = { \"rope.at\" }",
        r#"boundary = "turn",
	statistics = {
		Rope = "rope.at",
		Pullers = function() return #rb.each("puller") end,
		Due = function() local n = 0 for _, entry in rb.agenda() do n += entry.key[1] end return n end,
		Fields = function() local n = 0 for _, p in rb.each("puller") do n += p.f1 + p.f70 * 10 end return n end,
	}"#,
    );
    let mut kinds = files::of(&["tug"])["tug/kinds.luau"].clone();
    let many: String = (1..=70).map(|n| format!("f{n} = rb.int({{ max = 9 }}),")).collect();
    kinds = kinds.replace("rests = rb.int(", &format!("{many} rests = rb.int("));
    let body = r#"
		local a = ctx.actor
		for n = 1, 70 do
			if rb.under("1d4", 2) then a:set("f" .. n, (a["f" .. n] + 1) % 3) end
		end
		if #rb.each("puller") < 5 then
			for by = -1, 1, 2 do
				local imp = rb.spawn("puller", { name = "imp", seat = a.seat, strength = rb.roll("1d6"), rests = a.f64 })
				rb.recur("bite", { rb.agenda()[1].key[1], 9 }, { 1, 0 }, imp, { rope = ctx.rope, by = by + imp.rests })
			end
		end
		local worn = rb.attached(a)[1]
		if worn == nil then
			rb.attach("slick", a, { left = 3, x = a.f70 })
		else
			rb.set_data(worn.id, if a.f65 == 1 then { x = 1, left = 2 } else { left = 1, x = 2 })
		end
		if a.f66 == 1 and rb.under("1d10", 2) then error("a splinter") end"#;
    let more = [("tug/play.luau", play.as_str()), ("tug/kinds.luau", kinds.as_str()), ("tug/hooks/slick.luau", HOOK)];
    let rules = tug_with(body, &more);
    let hasty = || Driver::Policy("hasty".into());
    let setup = Setup::scenario("two").seat("left", hasty()).seat("right", hasty());
    let found = check(&rules, &setup, "two", 200, "imps");
    let tally = &found.tallies[0];
    assert!(tally.trials > 100 && !tally.left_out.is_empty() && tally.results.len() > 3, "{tally:?}");
    assert_eq!(tally.statistics.len(), 4);
}

const NAMESAKES: &str = r#"local rb = require("@riskbreaker")
return rb.play({
	start = function()
		rb.spawn("board")
		for place, what in { "round", "result", "turn" } do
			rb.recur(what, { 1, place }, { 1, 0 })
		end
	end,
	entries = {
		round = function()
			local board = rb.first("board")
			board:add("rounds", 1)
			if board.rounds >= 4 then
				rb.finish("time is up")
			end
		end,
		result = function()
			rb.first("board"):add("n", 1)
		end,
		turn = function()
			local board = rb.first("board")
			board:add("n", rb.roll("1d6", "a step"))
			if board.n >= 12 then
				rb.finish("arrived")
			end
		end,
	},
	boundary = "round",
	statistics = {
		round = function()
			return #rb.each("board")
		end,
		result = function()
			return 7
		end,
	},
	result = function()
		return `{rb.first("board").n}`
	end,
})
"#;

#[test]
fn entries_statistics_and_the_result_may_have_one_name() {
    let kinds = "local rb = require(\"@riskbreaker\")\nreturn rb.kinds({ board = { fields = { n = rb.int(), rounds = rb.int() } } })";
    let files = [
        (
            "namesakes/ruleset.toml",
            "id = \"namesakes\"\ntitle = \"Namesakes\"\nversion = \"1.0.0\"\nscenario = \"one\"\n",
        ),
        ("namesakes/kinds.luau", kinds),
        ("namesakes/play.luau", NAMESAKES),
        ("namesakes/scenarios/one.toml", "title = \"One\"\n"),
    ];
    let library = Library::from_files(files.map(|(path, text)| (path.to_owned(), text.as_bytes().to_vec())));
    let rules = Ruleset::load(&library, "namesakes").unwrap_or_else(|error| panic!("{error}"));
    let found = check(&rules, &Setup::scenario("one"), "one", 60, "namesakes");
    let tally = &found.tallies[0];
    assert!(tally.left_out.is_empty() && tally.outcomes.len() == 2 && tally.results.len() > 3, "{tally:?}");
}

#[test]
fn what_statistics_may_use_does_not_depend_on_which_of_them_are_known() {
    let play = r#"local rb = require("@riskbreaker")
local function long()
	for _ = 1, 1200000 do
	end
	return 1
end
return rb.play({
	start = function()
		rb.recur("turn", { 1 }, { 1 })
	end,
	entries = {
		turn = function()
			if rb.at_least("1d6", 5) then
				rb.finish("over")
			end
		end,
	},
	boundary = "turn",
	statistics = {
		one = function()
			return long()
		end,
		other = function()
			return long()
		end,
	},
})
"#;
    let files = [
        ("long/ruleset.toml", "id = \"long\"\ntitle = \"Long\"\nversion = \"1.0.0\"\nscenario = \"one\"\n"),
        ("long/kinds.luau", "return require(\"@riskbreaker\").kinds({})"),
        ("long/play.luau", play),
        ("long/scenarios/one.toml", "title = \"One\"\n"),
    ];
    let library = Library::from_files(files.map(|(path, text)| (path.to_owned(), text.as_bytes().to_vec())));
    let rules = Ruleset::load(&library, "long").unwrap_or_else(|error| panic!("{error}"));
    let found = check(&rules, &Setup::scenario("one"), "one", 4, "long statistics");
    assert_eq!(found.tallies[0].left_out.len(), 4);
}

/// Imps that bind each other in either direction and are removed: games differ in nothing else.
const IMPS: [(&str, &str); 4] = [
    ("ruleset.toml", include_str!("data/imps/ruleset.toml")),
    ("kinds.luau", include_str!("data/imps/kinds.luau")),
    ("play.luau", include_str!("data/imps/play.luau")),
    ("scenarios/cave.toml", include_str!("data/imps/scenarios/cave.toml")),
];

#[test]
fn what_goes_with_an_entity_is_told_by_the_end_at_which_it_stands() {
    let files = IMPS.map(|(path, text)| (format!("imps/{path}"), text.as_bytes().to_vec()));
    let rules = Ruleset::load(&Library::from_files(files), "imps").unwrap_or_else(|error| panic!("{error}"));
    let found = check(&rules, &Setup::scenario("cave").seat("left", Driver::Absent), "cave", 150, "imps");
    let tally = &found.tallies[0];
    assert!(tally.left_out.is_empty() && tally.results.len() > 20, "{tally:?}");
}

const TIED: &str = r#"local rb = require("@riskbreaker")
return rb.play({
	start = function()
		for round = 1, 6 do
			for place = 1, 3 do
				local racer = rb.each("racer")[place] or rb.spawn("racer", { name = `R{place}` })
				rb.schedule("drive", { round, if round % 3 == 0 then 1 else place }, racer)
			end
		end
		rb.schedule("over", { 9 }, nil)
	end,
	entries = {
		drive = {
			tie = function(entries)
				return rb.roll(`1d{#entries}`, "who is first")
			end,
			run = function(racer)
				local first = rb.each("racer")[1].at
				racer:add("at", rb.roll("1d4", "{} drives", racer))
				if first < racer.at then
					racer:set("at", racer.at - 1)
				end
			end,
		},
		over = function()
			local at = {}
			for _, racer in rb.each("racer") do
				table.insert(at, racer.at)
			end
			rb.finish(table.concat(at, " "))
		end,
	},
})"#;

fn racing(play: &str) -> Arc<Ruleset> {
    let kinds = "local rb = require(\"@riskbreaker\")\nreturn rb.kinds({ racer = { title = \"name\", fields = { name = rb.text(), \
                 at = rb.int() } } })";
    let files = [
        ("ruleset.toml", "id = \"track\"\ntitle = \"Track\"\nversion = \"1.0.0\"\nscenario = \"lap\"\n"),
        ("kinds.luau", kinds),
        ("play.luau", play),
        ("scenarios/lap.toml", "title = \"Lap\"\n"),
    ];
    let files = files.map(|(path, text)| (format!("track/{path}"), text.as_bytes().to_vec()));
    Ruleset::load(&Library::from_files(files), "track").unwrap_or_else(|error| panic!("{error}"))
}

/// Entries without a tie are replayed, even if the ruleset has a function for ties.
#[test]
fn ties_are_settled_by_script_and_the_rest_is_replayed() {
    let rules = racing(TIED);
    let found = check(&rules, &Setup::scenario("lap"), "lap", 300, "ties");
    assert!(found.tallies[0].left_out.is_empty() && found.tallies[0].outcomes.len() > 50, "{:?}", found.tallies[0]);
    let report = report(&rules, Setup::scenario("lap"), "lap", 300);
    assert!(report.replayed > report.run && report.unused.is_none(), "{report:?}");
}

/// An entry that gets its key always runs by script. It reads a value written by a replay, in a later slice of the
/// game.
#[test]
fn an_entry_that_is_not_recorded_reads_what_was_replayed_before_it() {
    let rules = racing(
        r#"local rb = require("@riskbreaker")
return rb.play({
	start = function()
		rb.spawn("racer", { name = "sum" })
		local racer = rb.spawn("racer", { name = "R" })
		rb.recur("drive", { 1, 0 }, { 1, 0 }, racer)
		rb.recur("watch", { 1, 1 }, { 1, 0 }, racer)
	end,
	entries = {
		drive = function(racer)
			racer:set("at", (racer.at + rb.roll("1d2")) % 3)
		end,
		watch = function(racer, _, key)
			local sum = rb.first("racer")
			sum:set("at", sum.at + racer.at * (key[1] % 5))
			if key[1] >= 200 then
				rb.finish(`{sum.at}`)
			end
		end,
	},
})"#,
    );
    let found = check(&rules, &Setup::scenario("lap"), "lap", 40, "keys");
    assert!(found.tallies[0].left_out.is_empty() && found.tallies[0].outcomes.len() > 10, "{:?}", found.tallies[0]);
}

#[test]
fn a_computed_key_is_reported_as_the_reason_for_an_unused_memo() {
    let rules = racing(
        &TIED.replace("tie = function(entries)", "key = function(entry)\nreturn { 1 }\nend,\ntie = function(entries)"),
    );
    let report = report(&rules, Setup::scenario("lap"), "lap", 20);
    assert_eq!(report.unused.as_deref(), Some("the `key` of `drive` is worked out before each entry"));
}

#[test]
fn operations_that_cannot_be_recorded_are_reported_with_their_place() {
    let rules = racing(
        r#"local rb = require("@riskbreaker")
return rb.play({
	start = function()
		rb.spawn("racer", { name = "R" })
		rb.recur("watch", { 1, 0 }, { 1, 0 })
		rb.recur("drive", { 1, 1 }, { 1, 0 }, nil, { why = string.rep("x", 3000) })
		rb.recur("list", { 1, 2 }, { 1, 0 })
	end,
	entries = {
		watch = {
			run = function(_, _, key)
				if key[1] > rb.roll("1d6") then
					rb.finish("over")
				end
			end,
		},
		drive = function() end,
		list = function()
			rb.agenda()
		end,
	},
	result = function()
		return string.rep("x", 3000)
	end,
})"#,
    );
    let report = report(&rules, Setup::scenario("lap"), "lap", 20);
    let rows = report.not_recorded.iter().map(|row| (&*row.entry, &*row.place));
    let places: BTreeMap<&str, &str> = rows.collect();
    let known = [("watch", 11), ("drive", 17), ("list", 19), ("result", 22)];
    let known = known.map(|(entry, line)| (entry, format!("track/play.luau:{line}")));
    assert!(known.iter().all(|(entry, place)| places.get(entry).is_some_and(|found| found == place)), "{report:?}");
}

/// A game with one spy, who is hidden from one seat in `HIDES` of 20 turns.
const SPIES: &str = r#"local rb = require("@riskbreaker")
return rb.play({
	start = function()
		rb.recur("turn", { 1 }, { 1 }, rb.spawn("spy", { name = "S" }))
	end,
	entries = {
		turn = function(spy)
			local step = rb.choose({
				seat = "left",
				topic = "step",
				options = function()
					return if rb.first("spy").at % 2 == 0 then { "one", "two" } else { "two" }
				end,
				default = "two",
			})
			local note = rb.spawn("note", { n = (spy.at + if step == "one" then 1 else 2) % 7 })
			rb.schedule("read", { "+0", 1 }, note)
			if rb.under("1d20", HIDES) then
				spy:set("known_to", { "right" })
			end
			if rb.under("1d10", 2) then
				rb.finish(`{spy.at}`)
			end
		end,
		read = function(note)
			rb.first("spy"):set("at", note.n)
			rb.remove(note)
		end,
	},
})"#;

/// A question shows its seat what it knows. That is recorded while everybody sees everything, and aborts the recording
/// where something is hidden.
#[test]
fn what_is_shown_to_a_seat_is_recorded_while_everybody_sees_everything() {
    let kinds = r#"local rb = require("@riskbreaker")
local function known_to()
	return rb.list(rb.text(), { default = { "everybody" } })
end
return rb.kinds({
	spy = { title = "name", audience = "known_to", fields = { name = rb.text(), known_to = known_to(), at = rb.int() } },
	note = { audience = "known_to", fields = { known_to = known_to(), n = rb.int() } },
})"#;
    let manifest = "id = \"spies\"\ntitle = \"Spies\"\nversion = \"1.0.0\"\nscenario = \"den\"\n[seats]\nleft = \"The \
                    left\"\nright = \"The right\"\n";
    let setup = Setup::scenario("den").seat("left", Driver::Absent).seat("right", Driver::Absent);
    for hides in ["0", "3"] {
        let play = SPIES.replace("HIDES", hides);
        let files = [
            ("ruleset.toml", manifest),
            ("kinds.luau", kinds),
            ("play.luau", play.as_str()),
            ("scenarios/den.toml", "title = \"Den\"\n"),
        ];
        let files = files.map(|(path, text)| (format!("spies/{path}"), text.as_bytes().to_vec()));
        let rules = Ruleset::load(&Library::from_files(files), "spies").unwrap_or_else(|error| panic!("{error}"));
        check(&rules, &setup, "den", 400, &format!("hidden in {hides} of 20 turns"));
        let report = report(&rules, setup.clone(), "den", 400);
        assert!(report.replayed > 9 * report.run, "{report:?}");
        let is_shown = |reason: &str| reason == "a seat is shown what it knows";
        let aborted = report.not_recorded.iter().any(|row| row.entry == "turn" && is_shown(&row.reason));
        assert_eq!(aborted, hides != "0", "{report:?}");
    }
}

fn report(rules: &Arc<Ruleset>, setup: Setup, scenario: &str, trials: u64) -> MemoReport {
    let plan = plan(rules, &setup, scenario, trials, MemoUse::Always);
    plan.memo_report(&Arc::new(AtomicBool::new(false))).unwrap().remove(0)
}

/// The outcome of a game may name the winner, so a trace depends on the name.
#[test]
fn an_outcome_with_the_name_of_an_entity_is_replayed() {
    let rename = "if rb.under('1d10', 3, 'luck') then ctx.actor:set('name', ctx.actor.name .. '!') end";
    let rules = tug_with(
        &format!("{rename}\nif rb.under('1d10', 3, 'end') then rb.finish('{{}} ends it', ctx.actor) end"),
        &[],
    );
    let setup = Setup::scenario("two");
    let setup = setup.seat("left", Driver::Policy("hasty".into())).seat("right", Driver::Policy("hasty".into()));
    let found = check(&rules, &setup, "two", 400, "names");
    assert!(found.tallies[0].outcomes.keys().any(|outcome| outcome.ends_with("! ends it")));
    let report = report(&rules, setup, "two", 400);
    assert!(report.not_recorded.iter().all(|row| !row.reason.contains("names an entity")), "{report:?}");
}
