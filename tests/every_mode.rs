//! A game gives the same result in every mode: with events, headless, saved and loaded, replayed from its tape,
//! simulated by scripts and by traces.

use std::sync::Arc;

use riskbreaker::lab::{GameLimits, MemoUse, Simulation, Variant, game_odds};
use riskbreaker::{Answer, Driver, Edit, Library, Remedy, Ruleset, Session, Setup, Step};

const MANIFEST: &str = "id = \"small\"\ntitle = \"Small\"\nversion = \"1.0.0\"\nscenario = \"start\"\n[seats]\ngm = \"GM\"\nleft = \"Left\"\n";

const KINDS: &str = r#"local rb = require("@riskbreaker")
return rb.kinds({ thing = { title = "name", fields = {
	name = rb.text(), a = rb.int(), b = rb.int(), c = rb.int({ min = -5, max = 9007199254740991 }), list = rb.list(rb.int()),
} } })"#;

const POLICY: &str = r#"local rb = require("@riskbreaker")
return rb.policy({ id = "p0", answer = function(q) return nil end })"#;

/// A game of three rounds: the entry `act` runs the given script with `x` and `y`; `late` runs after it.
fn play(act: &str, late: &str) -> String {
    format!(
        "local rb = require(\"@riskbreaker\")
return rb.play({{
	start = function()
		local x = rb.spawn(\"thing\", {{ name = \"X\" }})
		rb.spawn(\"thing\", {{ name = \"Y\" }})
		for round = 1, 3 do
			rb.schedule(\"act\", {{ round, 1 }}, x)
			rb.schedule(\"late\", {{ round, 2 }}, x)
		end
		rb.schedule(\"over\", {{ 9 }}, x)
	end,
	entries = {{
		act = function(x)
			local y = rb.each(\"thing\")[2]
{act}
		end,
		late = function(x)
			local y = rb.each(\"thing\")[2]
{late}
		end,
		over = function(x)
			rb.finish(\"{{}} {{}} {{}}\", tostring(x.a), tostring(x.b), tostring(x.c))
		end,
	}},
}})"
    )
}

fn library(act: &str, late: &str, more: &[(&str, &str)]) -> Library {
    let play = play(act, late);
    let base = [
        ("ruleset.toml", MANIFEST),
        ("kinds.luau", KINDS),
        ("play.luau", &play),
        ("policies/p0.luau", POLICY),
        ("scenarios/start.toml", "title = \"Start\"\n"),
    ];
    let kept = base.iter().filter(|(path, _)| more.iter().all(|(other, _)| other != path));
    Library::from_files(kept.chain(more).map(|(path, text)| (format!("small/{path}"), text.as_bytes().to_vec())))
}

fn setup() -> Setup {
    Setup::scenario("start").seed(7).seat("left", Driver::Policy("p0".into())).seat("gm", Driver::Absent)
}

fn came(step: &Step) -> String {
    match step {
        Step::Ask => "asks".into(),
        Step::Fault(fault) => format!("fault: {fault}"),
        Step::Over(text) => text.clone(),
    }
}

fn advanced(session: &mut Session) -> String {
    came(&session.advance().unwrap())
}

/// The results of a simulation, each outcome with its count.
fn simulated(rules: &Arc<Ruleset>, trials: u64, memo: MemoUse) -> Vec<String> {
    let simulation = Simulation {
        scenario: "start".into(),
        variants: vec![Variant::new("one", rules, setup()).unwrap()],
        trials,
        seed: 1,
        until: None,
        actions: 20_000,
        memo,
    };
    let tally = simulation.run(1, None, None, &mut |_, _| true).unwrap().tallies.remove(0);
    let outcomes = tally.outcomes.iter().map(|(text, count)| format!("{text}: {count}"));
    outcomes.chain(tally.left_out.iter().map(|out| format!("fault: {}", out.why))).collect()
}

/// The results of a game without dice in each mode, by the name of the mode.
fn in_each_mode(act: &str, late: &str, more: &[(&str, &str)]) -> Vec<(&'static str, String)> {
    let library = library(act, late, more);
    let rules = Ruleset::load(&library, "small").unwrap_or_else(|error| panic!("{error}\n{act}"));
    let mut told = Session::start(&rules, setup()).unwrap();
    let mut found = vec![("told", advanced(&mut told))];
    let saved = told.save();
    let mut standing = |name, loaded: Result<Session, _>| match loaded {
        Ok(mut loaded) => {
            found.push((name, advanced(&mut loaded)));
            assert_eq!(loaded.state_bytes(), told.state_bytes(), "{name}: {act}");
        }
        Err(error) => found.push((name, format!("{error}"))),
    };
    standing("loaded", Session::load(&library, &saved));
    standing("by its tape", Session::load_by_tape(&library, &saved));
    let mut headless = Session::start(&rules, setup()).unwrap();
    headless.set_headless(true);
    found.push(("headless", advanced(&mut headless)));
    for (mode, memo) in [("every script run", MemoUse::Never), ("memo", MemoUse::Always)] {
        let first = simulated(&rules, 1, memo).remove(0);
        found.push((mode, first.trim_end_matches(": 1").to_owned()));
    }
    found
}

/// The common result of all modes; panics if they differ.
#[track_caller]
fn comes_to(act: &str, late: &str, more: &[(&str, &str)]) -> String {
    let found = in_each_mode(act, late, more);
    let (_, first) = found[0].clone();
    for (mode, other) in &found {
        assert_eq!(*other, first, "{mode}: {act}");
    }
    first
}

#[test]
fn a_zero_has_no_sign_once_the_state_holds_it() {
    let sign = "x:add(\"b\", if 1 / x.a < 0 then 1 else 10)";
    assert_eq!(comes_to("x:set(\"a\", -0)", sign, &[]), "0 30 0");
    assert_eq!(comes_to(&format!("x:set(\"a\", -0, \"why\") {sign}"), "", &[]), "0 30 0");
    assert_eq!(comes_to(&format!("x:set(\"a\", 5) x:set(\"a\", x.a * 0 * -1) {sign}"), "", &[]), "0 30 0");
    let policy = POLICY.replace("return nil end", "return -0 end");
    let asks =
        "local n = rb.number({ seat = \"left\", topic = \"n\", why = \"how many?\", min = -1, max = 3, default = 1 })";
    let policy = [("policies/p0.luau", policy.as_str())];
    assert_eq!(comes_to(&format!("{asks} x:add(\"b\", if 1 / n < 0 then 1 else 10)"), "", &policy), "0 30 0");
    let asks = asks.replace("default = 1", "default = -0");
    assert_eq!(comes_to(&format!("{asks} x:add(\"b\", if 1 / n < 0 then 1 else 10)"), "", &[]), "0 30 0");
}

#[test]
fn no_number_beyond_the_largest_is_accepted() {
    const LARGEST: &str = "9007199254740991";
    let fill = format!("x:set(\"a\", {LARGEST}) x:set(\"c\", {LARGEST})");
    for beyond in [
        "x:set(\"a\", 9007199254740992)",
        "x:add(\"a\", 1)",
        "x:shift(\"a\", 1)",
        "x:set(\"list\", { 9007199254740993 })",
        "rb.spawn(\"thing\", { a = 2^53 })",
        "rb.schedule(\"late\", { 8 }, x, { 2^53 })",
    ] {
        let found = comes_to(&format!("{fill} {beyond}"), "", &[]);
        assert!(found.contains("is too large; whole numbers go to 9007199254740991"), "{beyond}: {found}");
        assert!(found.contains("small/play.luau:15"), "{beyond}: {found}");
    }
    let found = comes_to("x:set(\"a\", -9007199254740992)", "", &[]);
    assert!(found.contains("-9007199254740992 is too small; whole numbers begin at -9007199254740991"), "{found}");
    let found = comes_to(&format!("{fill} x:shift(\"c\", 1)"), "", &[]);
    assert!(found.contains("too large"), "{found}");
    let found = comes_to("rb.schedule(\"late\", { 2^53 }, x)", "", &[]);
    assert!(found.contains("a key is a whole number or a list of them: 9007199254740992 is too large"), "{found}");
    // Over many games, the sums of the memo stop at the same number.
    let library = library(
        "x:shift(\"a\", 3002399751580330)",
        "if rb.under(\"1d6\", 4, \"luck\") then x:shift(\"a\", 1) end",
        &[],
    );
    let rules = Ruleset::load(&library, "small").unwrap();
    let [scripts, memo] = [MemoUse::Never, MemoUse::Always].map(|memo| simulated(&rules, 60, memo));
    assert_eq!(scripts, memo);
    assert!(
        scripts.iter().any(|found| found.contains("too large")) && scripts.iter().any(|found| found.contains(LARGEST))
    );
}

#[test]
fn a_fraction_is_no_number_to_add_however_large_the_field_is() {
    for large in ["0", "2 ^ 52", "2 ^ 53 - 1", "-(2 ^ 52)"] {
        let found = comes_to(&format!("x:set(\"a\", {large}) x:shift(\"a\", 0.75, \"why\")"), "", &[]);
        assert!(found.contains("0.75 is not a whole number"), "{large}: {found}");
    }
}

#[test]
fn only_an_entity_of_its_own_kind_is_asked_whether_a_number_is_reached() {
    let found = comes_to("x.reaches({ a = 5 }, \"a\", 3)", "", &[]);
    assert!(found.contains("reaches is asked of an entity, not of a table"), "{found}");
    assert_eq!(comes_to("x:set(\"a\", if x.reaches(y, \"a\", 0) then 1 else 2)", "", &[]), "1 0 0");
}

/// Each entity ever created makes later ones costlier. The limits of an action must not depend on whether its script
/// was run before, with fewer of them.
#[test]
fn a_game_with_many_entities_ends_with_the_memo_as_with_each_script_run() {
    let play = "local rb = require(\"@riskbreaker\")
return rb.play({
	start = function()
		rb.recur(\"act\", 0, 1, rb.spawn(\"thing\", { name = \"X\" }))
	end,
	entries = {
		act = function(x)
			for i = 1, 400 do rb.spawn(\"thing\", { name = \"Z\" }) end
			local n = 0
			for i = 1, 1_870_000 do n += i % 3 end
			if n > 0 and rb.under(\"1d8\", 2, \"luck\") then rb.finish(\"done\") end
		end,
	},
})";
    let rules = Ruleset::load(&library("", "", &[("play.luau", play)]), "small").unwrap();
    for memo in [MemoUse::Always, MemoUse::Never] {
        assert_eq!(simulated(&rules, 8, memo), ["done: 8"], "{memo:?}");
    }
}

#[test]
fn a_query_by_value_depends_on_amounts_added_before() {
    let luck = "if rb.under(\"1d6\", 4, \"luck\") then x:shift(\"a\", if x:reaches(\"a\", 2) then -1 else 1) end";
    for (act, late) in [
        (format!("{luck} x:add(\"b\", #rb.each(\"thing\", {{ a = 1 }}))"), ""),
        (
            format!(
                "x:add(\"b\", #rb.each(\"thing\", {{ a = 1 }})) {luck} x:add(\"b\", #rb.each(\"thing\", {{ a = 2 }}))"
            ),
            "",
        ),
        (luck.to_owned(), "if rb.first(\"thing\", { a = 1 }) == x then x:shift(\"b\", 10) end"),
        (
            format!("{luck} y:shift(\"a\", 1) if rb.first(\"thing\", {{ a = 2 }}) == y then x:shift(\"b\", 10) end"),
            luck,
        ),
    ] {
        let rules = Ruleset::load(&library(&act, late, &[]), "small").unwrap_or_else(|error| panic!("{error}\n{act}"));
        let [scripts, memo] = [MemoUse::Never, MemoUse::Always].map(|memo| simulated(&rules, 200, memo));
        assert_eq!(scripts, memo, "{act}");
        assert!(scripts.len() > 1, "{scripts:?}");
    }
}

#[test]
fn an_entry_whose_next_key_cannot_be_is_a_fault_in_every_mode() {
    let found = comes_to("rb.recur(\"late\", { -9007199254740990, 0 }, { -1, 0 }, x)", "", &[]);
    assert!(found.contains("`late` recurs at a key beyond 9007199254740991"), "{found}");
}

#[test]
fn words_leave_the_variables_around_them_as_they_are() {
    for said in ["count += 1", "bump()", "table.insert(list, 1)", "table.insert(open.list, 1)"] {
        let act = format!(
            "local count, list, inner = 0, {{}}, {{}}\nlocal open = table.freeze({{ list = inner }})\nlocal function bump() count += 1 end\n\
             rb.say(function() {said} return \"words\" end)\nx:add(\"a\", count + #list + #inner)\n\
             bump() table.insert(list, 2)\nx:add(\"b\", count + #list)"
        );
        assert_eq!(comes_to(&act, "", &[]), "0 6 0", "{said}");
    }
    let given =
        "local list = {} rb.say(function(given) table.insert(given, 1) return \"words\" end, list) x:add(\"a\", #list)";
    assert_eq!(comes_to(given, "", &[]), "0 0 0");
}

const CARDS: [(&str, &str); 3] = [
    (
        "maneuvers/one.luau",
        "local rb = require(\"@riskbreaker\")\nreturn rb.maneuver({ id = \"one\", when = function(ctx) ctx.look() return true end, resolve = function() end })",
    ),
    (
        "maneuvers/two.luau",
        "local rb = require(\"@riskbreaker\")\nreturn rb.maneuver({ id = \"two\", when = function(ctx) ctx.look() return not ctx.tied, \"tied\" end, resolve = function() end })",
    ),
    (
        "policies/p0.luau",
        "local rb = require(\"@riskbreaker\")\nreturn rb.policy({ id = \"p0\", answer = function(q) return rb.open(q, \"two\") or rb.open(q, \"one\") end })",
    ),
];

#[test]
fn a_condition_cannot_change_the_game_through_a_function_argument() {
    let asks = |look: &str| {
        format!(
            "local count, list = 0, {{}}\nlocal deep = {{ {{ {{ {{ {{ {{ {{ {{ list }} }} }} }} }} }} }} }}\n\
             local ctx = {{ tied = true, deep = deep, look = function() {look} end }}\n\
             rb.choose({{ seat = \"left\", topic = \"card\", why = \"which?\", cards = rb.card_ids, ctx = ctx, default = \"one\" }})\n\
             x:add(\"a\", count + #list)"
        )
    };
    let found = comes_to(&asks("count += 1"), "", &CARDS);
    assert!(found.contains("changes a variable outside the function at small/play.luau:17"), "{found}");
    let found = comes_to(&asks("table.insert(list, 1)"), "", &CARDS);
    assert!(found.contains("attempt to modify a readonly table"), "{found}");
    let found = comes_to(&asks("table.insert(deep[1][1][1][1][1][1][1], 1)"), "", &CARDS);
    assert!(found.contains("attempt to modify a readonly table"), "{found}");
    // Own variables are free, and so is a function that changes something where the rule acts.
    let free = format!("{}\nctx.look()", asks("local own = count own += 1")).replace("x:add", "x:shift");
    assert_eq!(comes_to(&free, "", &CARDS), "0 0 0");
    let check = "local n = 0\nrb.number({ seat = \"left\", topic = \"n\", why = \"how many?\", min = 0, max = 3, default = 1, check = function(value) n += 1 return true end })";
    let found = comes_to(check, "", &[]);
    assert!(found.contains("the check of a question changes a variable outside the function at"), "{found}");
}

#[test]
fn a_limit_of_one_action_is_reached_in_every_mode_or_in_none() {
    let times =
        |count: u32, deed: &str| format!("if x.b == 0 then for i = 1, {count} do {deed} end x:set(\"b\", 1) end");
    for deed in ["rb.say(\"words {}\", x)", "rb.say(function() return \"words\" end)"] {
        assert_eq!(comes_to(&times(10_000, deed), "", &[]), "0 1 0", "{deed}");
        let found = comes_to(&times(10_001, deed), "", &[]);
        assert!(found.contains("one action says at most 10000 lines"), "{found}");
    }
    for deed in ["rb.roll(\"1d6\", \"luck\")", "x:set(\"c\", i % 7)"] {
        let few = comes_to(&times(10_000, deed), "", &[]);
        assert!(few.starts_with("0 1 "), "{few}");
        let found = comes_to(&times(20_000, deed), "", &[]);
        assert!(found.contains("the script used up its memory"), "{found}");
    }
    // Texts are built only if somebody reads them, but the action is charged for them in any case.
    let worded = [
        ("rb.roll(\"1d6\", \"{} by {}\", x, i)", 15_500, 16_000),
        ("rb.under(\"2d6\", 7, \"{} y\", x)", 14_000, 15_000),
        ("rb.roll({ \"1d6\", audience = \"gm\" }, \"x {}\", x)", 15_000, 16_000),
        ("rb.roll(\"1d6\", \"r\") rb.result(\"is {}\", x)", 8_000, 8_500),
    ];
    for (deed, fits, is_too_many) in worded {
        let few = comes_to(&times(fits, deed), "", &[]);
        assert!(few.starts_with("0 1 "), "{deed}: {few}");
        let found = comes_to(&times(is_too_many, deed), "", &[]);
        assert!(found.contains("small/play.luau:15: the script used up its memory"), "{deed}: {found}");
    }
    assert_eq!(comes_to(&times(100_000, "rb.sum(`some {x.name}`, 1)"), "", &[]), "0 1 0");
    // The explanation of the next roll is not part of the game.
    assert_eq!(comes_to(&times(20_000, "rb.sum(\"part\", i)"), "", &[]), "0 1 0");
}

/// Dice and kinds that a machine has seen before, in this game or another one, are charged in full.
#[test]
fn a_limit_of_one_action_does_not_depend_on_what_the_machine_has_run_before() {
    // One game in three reaches the limit.
    let filled = |bytes: usize| {
        let fill = "#rb.each(\"thing\") do rb.roll(\"1d12\", \"r\") end";
        format!(
            "if x.b == 0 and rb.under(\"1d6\", 2, \"luck\") then x:set(\"b\", 1) for i = 1, 7900 * {fill} rb.say(string.rep(\"x\", {bytes})) end"
        )
    };
    let faults_of = |bytes: usize| {
        let rules = Ruleset::load(&library("x:shift(\"a\", 1)", &filled(bytes), &[]), "small").unwrap();
        let [scripts, memo] = [MemoUse::Never, MemoUse::Always].map(|memo| simulated(&rules, 12, memo));
        assert_eq!(scripts, memo, "{bytes}");
        let faults = scripts.iter().filter(|found| found.contains("used up its memory")).count();
        (faults, scripts.iter().any(|found| found.starts_with("3 1 0")))
    };
    let (mut fits, mut is_too_much) = (0, 60_000);
    assert_eq!(faults_of(fits), (0, true));
    let (all, _) = faults_of(is_too_much);
    assert!(all > 2);
    while is_too_much - fits > 1 {
        let middle = usize::midpoint(fits, is_too_much);
        match faults_of(middle) {
            (0, true) => fits = middle,
            found => {
                assert_eq!(found, (all, false), "{middle}");
                is_too_much = middle;
            }
        }
    }
}

#[test]
fn an_endless_game_is_loaded_at_the_point_where_it_was_stopped() {
    let library =
        library("rb.schedule(\"late\", { 1, 2 }, x)", "x:add(\"a\", 1) rb.schedule(\"late\", { 1, 2 }, x)", &[]);
    let rules = Ruleset::load(&library, "small").unwrap();
    let mut told = Session::start(&rules, setup()).unwrap();
    let found = advanced(&mut told);
    assert!(found.contains("10000 agenda entries ran without a roll"), "{found}");
    let saved = told.save();
    let loaded = [Session::load(&library, &saved), Session::load_by_tape(&library, &saved)].map(Result::unwrap);
    for mut loaded in loaded {
        assert_eq!(advanced(&mut loaded), found);
        assert_eq!(loaded.state_bytes(), told.state_bytes());
        assert_eq!(loaded.log(), told.log());
    }
    // Each remedy allows the same number of entries again.
    for remedy in [Remedy::Retry, Remedy::SkipAction] {
        let before = told.log().len();
        told.remedy(remedy).unwrap();
        assert!(advanced(&mut told).contains("10000 agenda entries ran"));
        assert!(told.log().len() >= before + 9_000);
    }
}

#[test]
fn the_policy_whose_answer_is_refused_is_named() {
    let asks = |more: &str| {
        format!(
            "rb.number({{ seat = \"left\", topic = \"n\", why = \"how many?\", min = 0, max = 5, default = 2{more} }})"
        )
    };
    let policy = POLICY.replace("return nil end", "return 9 end");
    let found = comes_to(&asks(""), "", &[("policies/p0.luau", &policy)]);
    assert!(found.contains("the answer of the policy `p0` to `n` is refused: "), "{found}");
    let check = ", check = function(value) return value ~= 4, \"not four\" end";
    let policy = POLICY.replace("return nil end", "return 4 end");
    let found = comes_to(&asks(check), "", &[("policies/p0.luau", &policy)]);
    assert!(found.contains("the answer of the policy `p0` to `n` is refused: not four"), "{found}");
    // A default is not the answer of a policy or person.
    let found = comes_to(&asks(&check.replace('4', "2")), "", &[]);
    assert!(found.contains("the answer to `n` is refused: not four"), "{found}");
}

#[test]
fn among_options_with_equal_values_the_open_one_is_chosen() {
    let asks = |default: &str| {
        format!(
            "x:set(\"a\", rb.choose({{ seat = \"left\", topic = \"way\", why = \"which?\", default = {default}, options = {{
                {{ id = \"a\", value = 1 }},
                {{ id = \"b\", value = 2, enabled = false, reason = \"no {{}}\", reason_args = {{ 5 }} }},
                {{ id = \"c\", value = 2 }},
            }} }}))"
        )
    };
    for answer in ["rb.open(q, \"c\")", "2", "\"c\""] {
        let policy = POLICY.replace("return nil end", &format!("return {answer} end"));
        assert_eq!(comes_to(&asks("1"), "", &[("policies/p0.luau", &policy)]), "2 0 0", "{answer}");
    }
    assert_eq!(comes_to(&asks("2"), "", &[]), "2 0 0");
    // A person gets a default, too.
    let mut table = Session::start(
        &Ruleset::load(&library(&asks("2"), "", &[]), "small").unwrap(),
        setup().seat("left", Driver::Human),
    )
    .unwrap();
    assert!(matches!(table.advance().unwrap(), Step::Ask));
    assert_eq!(table.questions()[0].default, Some(Answer::Choice("c".into())));
    let policy = POLICY.replace("return nil end", "return \"b\" end");
    let found = comes_to(&asks("1"), "", &[("policies/p0.luau", &policy)]);
    assert!(found.contains("is refused: b is not open: no 5"), "{found}");
}

#[test]
fn a_query_by_a_value_of_another_sort_is_refused_in_every_mode() {
    let kinds = KINDS.replace("fields = {", "fields = { mood = rb.enum({ \"calm\", \"cross\" }), ");
    let more = [("kinds.luau", kinds.as_str())];
    let rows = [
        ("a = \"0\"", "tonumber(text)"),
        ("a = true", "the sort"),
        ("list = 1", "rb.filter"),
        ("mood = \"clam\"", "did you mean `calm`?"),
        ("mood = \"merry\"", "write one of them"),
    ];
    for (wanted, cure) in rows {
        for word in ["each", "first"] {
            let act = format!("local found = rb.{word}(\"thing\", {{ {wanted} }})");
            let found = comes_to(&act, "", &more);
            let field = wanted.split(' ').next().unwrap();
            let verb = if field == "list" { "is" } else { "takes " };
            assert!(found.contains(&format!("the field `{field}` of a thing {verb}")), "{found}");
            let mut told =
                Session::start(&Ruleset::load(&library(&act, "", &more), "small").unwrap(), setup()).unwrap();
            let Step::Fault(fault) = told.advance().unwrap() else { panic!("{wanted}") };
            assert!(fault.cure.as_ref().is_some_and(|told| told.contains(cure)), "{fault:?}");
        }
    }
    let kinds = KINDS
        .replace("fields = {", "fields = { at = rb.ref(\"place\"), ")
        .replace("rb.kinds({", "rb.kinds({ place = { fields = { n = rb.int() } },");
    let found = comes_to("rb.first(\"thing\", { at = x })", "", &[("kinds.luau", &kinds)]);
    assert!(found.ends_with("the field `at` of a thing takes a place or nothing, not a thing"), "{found}");
    // A value out of bounds is not a value of the wrong type.
    assert_eq!(comes_to("x:set(\"b\", #rb.each(\"thing\", { c = -9 }))", "", &[]), "0 0 0");
}

#[test]
fn the_number_of_times_of_an_end_has_a_named_limit() {
    let kinds = KINDS.replace("thing =", "daze = { timed = true, fields = { bearer = rb.ref(\"thing\") } }, thing =");
    let lasts = |times: &str| {
        format!("rb.lasts(rb.spawn(\"daze\", {{ bearer = x }}), {{ moment = \"late\", times = {times} }})")
    };
    let more = [("kinds.luau", kinds.as_str())];
    assert_eq!(comes_to(&lasts("2^53 - 1"), "", &more), "0 0 0");
    let found = comes_to(&lasts("2^53"), "", &more);
    assert!(found.contains("`times` of rb.lasts is at most 9007199254740991"), "{found}");
}

#[test]
fn writing_to_a_frozen_table_faults_with_advice() {
    let found = comes_to("x.name = \"Z\"", "", &[]);
    assert!(found.contains("attempt to modify a readonly table: write a field with `entity:set("), "{found}");
}

#[test]
fn the_reason_of_a_check_is_filled_in() {
    let asks = "rb.number({ seat = \"left\", topic = \"n\", why = \"how many?\", min = 0, max = 5, default = 2,
        check = function(value) return value ~= 4, \"not {} of {}\", 4, x end })";
    let policy = POLICY.replace("return nil end", "return 4 end");
    let found = comes_to(asks, "", &[("policies/p0.luau", &policy)]);
    assert!(found.contains("the answer of the policy `p0` to `n` is refused: not 4 of X"), "{found}");
}

#[test]
fn a_policy_that_returns_nothing_is_named() {
    let asks = "rb.choose({ seat = \"left\", topic = \"way\", why = \"which?\", options = { \"on\", \"back\" } })";
    let rules = Ruleset::load(&library(asks, "", &[]), "small").unwrap();
    let wanted = "fault: nobody answers `way`, a question to left: its policy `p0` returns nothing, and the question has no \
                  default";
    for memo in [MemoUse::Never, MemoUse::Always] {
        assert_eq!(simulated(&rules, 1, memo), [wanted]);
    }
}

#[test]
fn an_answer_of_a_wrong_type_faults_with_the_expected_type() {
    let asks = |ask: &str, more: &str| {
        format!("rb.{ask}({{ seat = \"left\", topic = \"n\", why = \"n?\", options = {{ \"on\", \"back\" }}{more} }})")
    };
    for (ask, more, answer, wanted) in [
        ("number", ", min = 0, max = 5", "2.5", "a whole number from 0 to 5"),
        ("number", ", min = 0, max = 5", "\"2\"", "a whole number from 0 to 5"),
        ("allot", ", total = 3", "{ 1.5, 1.5 }", "a list of whole numbers, one for each option, 3 in all"),
        ("confirm", "", "1", "true or false"),
    ] {
        let asks = asks(ask, more);
        let asks = if ask == "allot" { asks } else { asks.replace(", options = { \"on\", \"back\" }", "") };
        let policy = POLICY.replace("return nil end", &format!("return {answer} end"));
        let found = comes_to(&asks, "", &[("policies/p0.luau", &policy)]);
        let wanted = format!("the answer of the policy `p0` to `n` is refused: it is not {wanted}");
        assert!(found.contains(&wanted), "{found}");
    }
}

#[test]
fn the_number_of_an_entry_is_a_text_where_one_is_wanted() {
    let texts = "local n = rb.schedule(\"late\", { 99 }, x)\nx:set(\"a\", tonumber(`{n}`))\nx:set(\"b\", tonumber(tostring(n) .. string.format(\"%d\", n)))";
    assert_eq!(comes_to(texts, "", &[]), "10 1010 0");
}

#[test]
fn a_fault_quotes_text_that_is_not_dice() {
    let found = comes_to("rb.roll(\"3d\" .. (3 + 1) .. \">=5\", \"luck\")", "", &[]);
    let wanted = "\"3d4>=5\" are no dice: column 6: a d4 has no face 5; write a number from 1 to 4";
    assert!(found.contains(wanted), "{found}");
}

#[test]
fn a_default_of_a_wrong_type_is_refused_for_every_driver() {
    for (kind, default) in [("line", "9"), ("number", "\"2\""), ("confirm", "\"yes\"")] {
        let asks = format!(
            "rb.{kind}({{ seat = \"left\", topic = \"t\", why = \"what?\", min = 0, max = 5, default = {default} }})"
        )
        .replace("min = 0, max = 5, ", if kind == "number" { "min = 0, max = 5, " } else { "" });
        let found = comes_to(&asks, "", &[]);
        assert!(found.contains("the default of the question `t` does not fit: "), "{found}");
        let rules = Ruleset::load(&library(&asks, "", &[]), "small").unwrap();
        for driver in [Driver::Human, Driver::Absent] {
            let mut told = Session::start(&rules, setup().seat("left", driver)).unwrap();
            assert_eq!(advanced(&mut told), found, "{default}");
        }
    }
}

#[test]
fn a_default_is_matched_by_id_before_other_names() {
    for asks in ["choose", "choose_many"] {
        let options = "{ { id = \"b\", label = \"a\" }, { id = \"a\", label = \"other\" } }";
        let default = if asks == "choose" { "\"a\"" } else { "{ \"a\" }" };
        let asked = format!(
            "rb.{asks}({{ seat = \"left\", topic = \"t\", options = {options}, default = {default}, max = 1 }})"
        )
        .replace(", max = 1", if asks == "choose" { "" } else { ", max = 1" });
        assert_eq!(comes_to(&asked, "", &[]), "0 0 0", "{asks}");
    }
}

#[test]
fn a_question_cannot_require_more_options_than_it_has() {
    for (options, least, told) in [("{}", 1, "it has 0"), ("{ \"a\", \"b\" }", 3, "it has 2")] {
        let asks = format!("rb.choose_many({{ seat = \"left\", topic = \"t\", options = {options}, min = {least} }})");
        let found = comes_to(&asks, "", &[]);
        let wanted = format!("the question `t` takes at least {least} of its options, and {told}");
        assert!(found.ends_with(&wanted), "{found}");
    }
}

#[test]
fn cards_are_listed_by_the_facts_that_are_declared() {
    let card = |id: &str, facts: &str| {
        let begin = "local rb = require(\"@riskbreaker\")\nreturn rb.maneuver({ id = ";
        format!("{begin}\"{id}\", {facts}, resolve = function() end }})")
    };
    let [a, b, c] = [
        card("a", "deck = \"magic\", uses = { \"x\", \"y\", \"y\" }"),
        card("b", "deck = \"magic\", quick = true"),
        card("c", "uses = { \"y\" }, quick = false"),
    ];
    let listed = |asked: &str| {
        let act = format!("rb.finish(\"cards {{}}\", table.concat(rb.cards_with({asked}), \" \"))");
        let facts = "return rb.play({ card = { deck = \"string?\", uses = \"table?\", quick = \"boolean?\" },";
        let play = play(&act, "").replacen("return rb.play({", facts, 1);
        let files =
            [("maneuvers/a.luau", &*a), ("maneuvers/b.luau", &b), ("maneuvers/c.luau", &c), ("play.luau", &play)];
        comes_to("", "", &files)
    };
    assert_eq!(listed("\"deck\", \"magic\""), "cards a b");
    assert_eq!(listed("\"uses\", \"y\""), "cards a c");
    assert_eq!(listed("\"quick\", true"), "cards b");
    assert_eq!(listed("\"quick\", false"), "cards c");
    assert_eq!(listed("\"deck\""), "cards c");
    assert_eq!(listed("\"deck\", \"other\""), "cards nothing");
    for (asked, given) in [("\"dek\", \"magic\"", "\"dek\""), ("\"title\", \"a\"", "\"title\""), ("nil", "a nil")] {
        let found = listed(asked);
        let told = format!("rb.cards_with takes a fact of cards that play.luau declares, not {given}");
        assert!(found.contains(&told) && found.contains("small/play.luau:"), "{found}");
    }
}

#[test]
fn a_condition_that_gives_a_number_or_a_text_is_refused() {
    let card = "local rb = require(\"@riskbreaker\")\nreturn rb.maneuver({ id = \"c\", when = function() return GIVEN end, \
                resolve = function() end })";
    let asks = "rb.choose({ seat = \"left\", topic = \"t\", cards = rb.card_ids, ctx = {}, default = \"c\" })";
    for (given, told) in [("0", "the number 0"), ("\"no\"", "the text no")] {
        let found = comes_to(asks, "", &[("maneuvers/c.luau", &card.replace("GIVEN", given))]);
        assert!(found.ends_with(&format!("`when` of the card `c` gives {told}, not true or false")), "{found}");
        let check = format!(
            "rb.number({{ seat = \"left\", topic = \"t\", min = 0, max = 1, default = 0, check = function() return {given} end }})"
        );
        let found = comes_to(&check, "", &[]);
        assert!(found.ends_with(&format!("the check of the question `t` gives {told}, not true or false")), "{found}");
    }
    let also = asks.replace("ctx = {}", "ctx = {}, when = function() return 1 end");
    let found = comes_to(&also, "", &[("maneuvers/c.luau", &card.replace("GIVEN", "true"))]);
    assert!(
        found.ends_with("`when` of the question, for the card `c` gives the number 1, not true or false"),
        "{found}"
    );
    let found = comes_to(&also, "", &[("maneuvers/c.luau", &card.replace("GIVEN", "1"))]);
    assert!(found.ends_with("`when` of the card `c` gives the number 1, not true or false"), "{found}");
    // An existing entity or table counts as true, as in Luau.
    let found = comes_to(asks, "", &[("maneuvers/c.luau", &card.replace("GIVEN", "rb.first(\"thing\")"))]);
    assert_eq!(found, "0 0 0");
}

#[test]
fn a_list_with_a_gap_is_refused_as_an_answer_a_default_and_as_options() {
    let kinds = [
        ("choose_many", "options = { \"a\", \"b\", \"c\" }, max = 3", "{ \"a\", nil, \"c\" }"),
        ("order", "options = { \"a\", \"b\", \"c\" }", "{ \"b\", \"a\", nil, \"c\" }"),
        ("order", "options = { \"a\", \"b\", \"c\" }", "{ \"b\", \"a\", \"c\", d = 1 }"),
        ("allot", "options = { \"a\", \"b\", \"c\" }, total = 3", "{ 3, nil, 0 }"),
    ];
    for (kind, fields, answer) in kinds {
        let asks = |more: &str| {
            format!("rb.{kind}({{ seat = \"left\", topic = \"t\", why = \"which?\", {fields}{more} }}) x:add(\"a\", 1)")
        };
        let policy = POLICY.replace("return nil end", &format!("return {answer} end"));
        let found = comes_to(&asks(""), "", &[("policies/p0.luau", &policy)]);
        assert!(found.contains("the policy `p0` answered `t` with a list, and "), "{found}");
        let found = comes_to(&asks(&format!(", default = {answer}")), "", &[]);
        assert!(
            found.contains("of the question `t` is a list with a gap") || found.contains("without a gap"),
            "{found}"
        );
        let holes = asks("").replace("\"b\", \"c\"", "nil, \"c\"");
        let found = comes_to(&holes, "", &[]);
        assert!(found.contains("needs `options`, a list with the keys 1, 2, 3 ..., and it has a gap"), "{found}");
    }
}

#[test]
fn entries_without_a_roll_are_counted_by_the_tape_alone() {
    let endless = "x:add(\"a\", 1) rb.schedule(\"late\", { 1, 2 }, x)";
    let rules = |act: &str| {
        let library = library(act, endless, &[]);
        (Ruleset::load(&library, "small").unwrap(), library)
    };
    let ((first, library), (other, _)) = (rules(""), rules("-- rewritten"));
    let mut told = Session::start(&first, setup()).unwrap();
    let stopped = advanced(&mut told);
    assert!(stopped.contains("10000 agenda entries ran without a roll"), "{stopped}");
    let same_when_loaded = |told: &Session| {
        let mut loaded = Session::load_by_tape(&library, &told.save()).unwrap();
        assert_eq!((advanced(&mut loaded), loaded.state_bytes()), (stopped.clone(), told.state_bytes()));
    };
    // Each of these remedies allows the same number of entries again, also when read from the tape.
    for at in 0..4 {
        let before = told.log().len();
        match at {
            0 => told.edit(Edit::Say { text: "so be it".into() }).unwrap(),
            1 => told.remedy(Remedy::SkipAction).unwrap(),
            2 => drop(told.reload(other.clone()).unwrap()),
            _ => told.remedy(Remedy::Retry).unwrap(),
        }
        let bytes = told.state_bytes();
        assert_eq!(advanced(&mut told), stopped);
        assert!(told.log().len() >= before + 9_000, "{at}");
        same_when_loaded(&told);
        if at < 2 {
            let after = told.state_bytes();
            told.undo().unwrap();
            assert_eq!((advanced(&mut told), told.log().len()), (stopped.clone(), before), "{at}");
            assert_eq!(told.state_bytes() == bytes, at == 0);
            told.redo().unwrap();
            assert_eq!((advanced(&mut told), told.state_bytes()), (stopped.clone(), after));
        }
    }
}

#[test]
fn a_game_that_has_run_out_of_entries_is_replayed_and_taken_back() {
    let asks = "rb.confirm({ seat = \"left\", topic = \"go\", why = \"go?\", default = true }) for _, entry in rb.agenda() do rb.cancel(entry.id) end";
    assert_eq!(comes_to(asks, "", &[]), "nothing is left to do");
    let library = library(asks, "", &[]);
    let rules = Ruleset::load(&library, "small").unwrap();
    let mut told = Session::start(&rules, setup().seat("left", Driver::Human)).unwrap();
    assert_eq!(advanced(&mut told), "asks");
    let before = told.state_bytes();
    let question = told.questions()[0].clone();
    told.answer(question.id, question.read(&true.into()).unwrap()).unwrap();
    assert_eq!(advanced(&mut told), "nothing is left to do");
    let mut loaded = Session::load(&library, &told.save()).unwrap();
    assert_eq!(advanced(&mut loaded), "nothing is left to do");
    loaded.undo().unwrap();
    assert_eq!(advanced(&mut loaded), "asks");
    assert_eq!(loaded.state_bytes(), before);
}

#[test]
fn a_wrong_result_of_an_entry_function_is_reported_at_the_function() {
    let play = |part: &str| {
        format!(
            "local rb = require(\"@riskbreaker\")\nreturn rb.play({{\n\tstart = function()\n\
             local x = rb.spawn(\"thing\", {{ name = \"X\" }}) rb.schedule(\"act\", {{ 1 }}, x) rb.schedule(\"act\", {{ 1 }}, x)\n\
             \tend,\n\tentries = {{ act = {{ run = function() end,\n{part} }} }},\n}})"
        )
    };
    let found = comes_to("", "", &[("play.luau", &play("tie = function(entries) return 0 end"))]);
    assert_eq!(found, "fault: small/play.luau:7: `tie` of act must return a place, 1 to 2");
    let found = comes_to("", "", &[("play.luau", &play("key = function(entry) return \"soon\" end"))]);
    assert_eq!(found, "fault: small/play.luau:7: a key is a whole number or a list of them: a string is no number");
    let found = comes_to("rb.detach(rb.schedule(\"late\", { 8 }, x))", "", &[]);
    let told = "rb.detach takes the number that rb.attach has given, not what rb.schedule has given for an entry";
    assert!(found.ends_with(told), "{found}");
    let found = comes_to("string.format(\"%d\", { rb.schedule(\"late\", { 8 }, x) })", "", &[]);
    assert!(found.contains(": invalid argument #2 to 'format'"), "{found}");
    assert!(!found.contains("host:"), "{found}");
}

#[test]
fn a_key_counts_from_the_entry_that_runs_in_every_mode() {
    // `late` runs at 1, 2 and at 3, 4: each place is relative to the same place of `act`, which runs in each round.
    let later = "if x.a == 0 then x:set(\"a\", 1) rb.schedule(\"late\", { \"+2\", \"+3\" }, x) end x:add(\"b\", 1)";
    let told = comes_to(later, "x:add(\"c\", 10 * x.b + x.a)", &[]);
    let absolute = later.replace("{ \"+2\", \"+3\" }", "{ 3, 4 }");
    assert_eq!(told, comes_to(&absolute, "x:add(\"c\", 10 * x.b + x.a)", &[]));
    let wrong = |key: &str| comes_to(&format!("rb.schedule(\"late\", {key}, x)"), "", &[]);
    for (key, why) in [
        ("{ \"soon\" }", "`soon` is neither a number nor a distance such as \"+1\""),
        ("{ \"1\" }", "`1` is neither a number nor a distance such as \"+1\""),
        ("{ \"+2000000000\" }", "`+2000000000` is more than 1000000000 away"),
        ("{ 1, true }", "a boolean is no number"),
    ] {
        let found = wrong(key);
        assert!(found.contains("small/play.luau:15:"), "{key}: {found}");
        assert!(found.contains(&format!(": a key is a whole number or a list of them: {why}")), "{key}: {found}");
    }
    let found = comes_to("rb.recur(\"late\", { 9 }, \"+1\", x)", "", &[]);
    assert!(found.contains("a key is a whole number or a list of them: a string is no number"), "{found}");
    let start = "local rb = require(\"@riskbreaker\")\nreturn rb.play({\n\tstart = function()\n\
                 \t\trb.schedule(\"act\", { \"+1\" })\n\tend,\n\tentries = { act = function() end },\n})";
    let found = comes_to("", "", &[("play.luau", start)]);
    assert!(found.contains("small/play.luau:4:"), "{found}");
    assert!(found.contains(": a key counts from the entry that runs, and none runs here"), "{found}");
    let far = "local rb = require(\"@riskbreaker\")\nreturn rb.play({\n\tstart = function()\n\
               \t\trb.spawn(\"thing\", { name = \"X\" }) rb.schedule(\"act\", { 9007199254740000 })\n\tend,\n\
               \tentries = { act = function()\n\trb.schedule(\"act\", { \"+1\" })\n\tend },\n})";
    let found = comes_to("", "", &[("play.luau", far)]);
    assert!(found.contains("the key of the entry that runs is too large to count from it"), "{found}");
}

/// Otherwise the time limit would stop it, at different places depending on the load of the machine.
#[test]
fn the_work_of_a_search_depends_on_the_searched_entities() {
    let many = "if #rb.each(\"thing\") < 400 then for _ = 1, 400 do rb.spawn(\"thing\", { name = \"Z\" }) end end";
    for search in ["rb.first(\"thing\", { a = 7 })", "rb.each(\"thing\", { a = 7 })"] {
        let library = library(&format!("{many}\nfor _ = 1, 12000 do {search} end"), "", &[]);
        let rules = Ruleset::load(&library, "small").unwrap();
        let found = advanced(&mut Session::start(&rules, setup()).unwrap());
        assert!(found.ends_with("the script used up its budget of work"), "{search}: {found}");
    }
}

/// Nearly all of the work budget of an action, in little time.
const MUCH: &str = "local long, other = string.rep(\"a\", 65536), string.rep(\"b\", 256)
    for _ = 1, 480 do string.find(long, other, 1, true) end";

/// The largest number of turns with which the game ends, for a loop that takes one unit of work per turn.
fn turns_left(act: impl Fn(u32) -> String, more: &[(&str, &str)]) -> u32 {
    let ends = |turns: u32| {
        let rules = Ruleset::load(&library(&act(turns), "", more), "small").unwrap_or_else(|error| panic!("{error}"));
        matches!(Session::start(&rules, setup()).unwrap().advance().unwrap(), Step::Over(_))
    };
    let (mut fits, mut too_many) = (0, 40_000);
    assert!(ends(fits) && !ends(too_many), "{}", act(0));
    while fits + 1 < too_many {
        let middle = fits.midpoint(too_many);
        if ends(middle) { fits = middle } else { too_many = middle }
    }
    fits
}

#[test]
fn an_operation_is_the_same_work_in_every_mode() {
    let option = "topic = \"n\", why = function() return \"why\" end";
    let asks = format!(
        "rb.choose({{ seat = \"left\", {option}, options = function() return {{ \"a\", \"b\" }} end, default = \"a\" }})"
    );
    let races = format!(
        "rb.race({{ {{ ask = \"confirm\", seat = \"left\", {option}, default = true }}, {{ ask = \"confirm\", seat = \"gm\", {option}, default = true }} }})"
    );
    for deed in [
        "local n = #rb.each(\"thing\") + rb.first(\"thing\").a",
        "local list = x.list x:set(\"list\", { #list }) list = x.list",
        "rb.spawn(\"thing\", { name = \"Z\" }) x:set(\"a\", #rb.each(\"thing\"))",
        "if x:reaches(\"a\", 3) then x:add(\"b\", 1) end",
        "rb.say(\"words {}\", x)",
        "rb.say(function() local n = 0 for i = 1, 50 do n += i end return `sum {n}` end)",
        "rb.sum(\"part\", 1)",
        "rb.roll(\"1d1+0\", \"luck\") rb.faces(\"9d1\", \"faces\")",
        "rb.again(function() return rb.roll(\"1d1\", \"luck\") end)",
        // Texts of earlier actions may still be in memory.
        "for i = 1, 10000 do local _ = \"text \" .. i end",
        "for _ = 1, 2000 do rb.confirm({ seat = \"left\", topic = \"n\", why = \"?\", default = true }) end",
        &asks,
        &races,
    ] {
        for policy in [
            POLICY.to_owned(),
            POLICY.replace("return nil", "if q.kind == \"choose\" then return q.options[2] end return nil"),
        ] {
            let policy = [("policies/p0.luau", policy.as_str())];
            let act = |turns: u32| format!("{MUCH} for _ = 1, {turns} do end {deed}");
            let most = turns_left(act, &policy);
            let ended = comes_to(&act(most), "", &policy);
            assert!(!ended.contains("fault"), "{deed}: {ended}");
            let stopped = comes_to(&act(most + 1), "", &policy);
            assert!(stopped.ends_with("the script used up its budget of work"), "{deed}: {stopped}");
        }
    }
}

/// A text that is removed from a table and inserted again has another position if the garbage collector ran in between.
#[test]
fn a_loop_over_texts_goes_the_same_way_in_every_mode() {
    let act = "local m, sum = {}, 7
for i = 1, 12 do m[\"k\" .. i] = i end
for _ = 1, 40 do
	for i = 1, 12 do m[\"k\" .. i] = nil end
	for j = 1, 500 do local _ = { j } end
	for i = 12, 1, -1 do m[\"k\" .. i] = i end
	for _, v in m do sum = (sum * 31 + v) % 1000003 end
end
x:set(\"b\", (x.b * 7 + sum) % 1000003)";
    let found = comes_to(act, "", &[]);
    for _ in 0..3 {
        assert_eq!(comes_to(act, "", &[]), found);
    }
}

/// A simulation does not read these texts.
#[test]
fn texts_that_exceed_their_memory_do_not_end_an_action() {
    let many = "rb.say(function() return string.rep(\"x\", 60000) .. i end)";
    let pieces: String = (0..390).map(|n| format!("a = s .. \"{n}\"\n")).collect();
    let long = format!("rb.say(function() local s, a = string.rep(\"x\", 250000), \"\"\n{pieces}return a end)");
    for (times, deed) in [(10_000, many), (3, long.as_str())] {
        let act = format!("if x.b == 0 then for i = 1, {times} do {deed} end x:set(\"b\", 1) end");
        assert_eq!(comes_to(&act, "", &[]), "0 1 0", "{times}");
    }
}

/// One roll is followed by a resumed script, another one by a run from the start.
#[test]
fn an_action_has_the_same_memory_limit_after_a_roll_in_odds() {
    let fill = |count: u32| format!("for i = 1, {count} do local _ = table.create(16000, i) end");
    for (more, fits) in [(35, true), (50, false)] {
        let act = format!(
            "if x.b == 0 then {} if rb.at_least(\"1d2\", 2, \"luck\") then {} end x:set(\"b\", 1) end",
            fill(120),
            fill(more)
        );
        let library = library(&act, "", &[]);
        let rules = Ruleset::load(&library, "small").unwrap();
        let found = game_odds(&rules, setup(), GameLimits::default(), None);
        assert_eq!(found.is_ok(), fits, "{more}: {found:?}");
    }
}

/// Otherwise the limit would depend on when garbage is collected. Texts and answers have separate quotas.
#[test]
fn all_that_an_action_makes_counts_as_its_memory_in_every_mode() {
    let words = "rb.say(function() return string.rep(\"x\", 100000 + i % 100) .. \"y\" end)";
    let why = "rb.number({ seat = \"left\", topic = \"n\", why = function() return \"why \" .. i end, min = 0, max = 3, default = 1 })";
    for deed in ["local _ = { i }", "local _ = { i, i, i, { i }, tostring(i) }", words, why] {
        let act = |kilobytes: u32| {
            format!(
                "if x.b == 0 then for i = 1, 40 do {deed} end for i = 1, 156 do local _ = table.create(16000, i) end for i = 1, {kilobytes} do local _ = table.create(60, i) end x:set(\"b\", 1) end"
            )
        };
        let most = turns_left(act, &[]);
        let ended = comes_to(&act(most), "", &[]);
        assert!(!ended.contains("fault"), "{deed}: {ended}");
        let stopped = comes_to(&act(most + 1), "", &[]);
        assert!(stopped.ends_with("the script used up its memory"), "{deed}: {stopped}");
    }
}

/// A function as options is no list: iterating over it would never end.
#[test]
fn a_question_has_options_or_cards() {
    let card = "local rb = require(\"@riskbreaker\")\nreturn rb.maneuver({ id = \"c\", resolve = function() end })";
    let picks = POLICY.replace("return nil end", "return rb.open(q, \"c\") end");
    let more = [("maneuvers/c.luau", card), ("policies/p0.luau", &picks)];
    let asks = |fields: &str| {
        format!(
            "rb.choose({{ seat = \"left\", topic = \"t\", cards = rb.card_ids, ctx = {{}}{fields} }}) x:add(\"a\", 1)"
        )
    };
    assert_eq!(comes_to(&asks(""), "", &more), "3 0 0");
    for options in ["{ \"c\" }", "function() return { \"c\" } end"] {
        let found = comes_to(&asks(&format!(", options = {options}")), "", &more);
        assert!(found.ends_with("the question `t` has both `options` and `cards`"), "{found}");
    }
}

/// An earlier reader of a question must not affect its options when it is asked again.
#[test]
fn a_repeated_question_computes_its_options_again() {
    let card = "local rb = require(\"@riskbreaker\")\nreturn rb.maneuver({ id = \"c\", \
                when = function(ctx) return ctx.x.a < 3 end, resolve = function() end })";
    let picks = POLICY.replace("return nil end", "return rb.open(q, \"c\") or \"none\" end");
    let more = [("maneuvers/c.luau", card), ("policies/p0.luau", &picks)];
    for fields in [
        "cards = rb.card_ids, ctx = { x = x }, more = { \"none\" }",
        "options = function() return if x.a < 3 then { \"c\", \"d\" } else { \"none\", \"d\" } end",
    ] {
        for words in ["", ", note = function() return \"why not\" end", ", auto = true"] {
            let asks = format!(
                "local q = {{ seat = \"left\", topic = \"t\", {fields}{words} }}\n\
                 for _ = 1, 4 do if rb.choose(q) ~= \"none\" then x:add(\"a\", 1) end x:add(\"b\", #q.options) end"
            );
            assert_eq!(comes_to(&asks, "", &more), "3 24 0", "{asks}");
        }
    }
}

#[test]
fn a_hook_gets_no_removed_entity() {
    let verbs = "local rb = require(\"@riskbreaker\")
return rb.verbs({ tell = rb.verb({ \"me\" }, function(me) return 1 end) })";
    let hook = "local rb = require(\"@riskbreaker\")
return rb.hook({ id = \"mark\", before = { tell = function(e, holder)
	e.me:add(\"a\", if holder.data.of == nil then 1 else 10)
end } })";
    let more = [("verbs.luau", verbs), ("hooks/mark.luau", hook)];
    // It is attached in the action that removes the entity, or before, and is called in the next one or at once.
    let attach = "rb.attach(\"mark\", x, { n = 1, of = z })";
    let spawn = "local z = rb.spawn(\"thing\", {})";
    let remove = "rb.remove(rb.each(\"thing\")[3])";
    assert_eq!(comes_to(&format!("{spawn} {attach} {remove}"), "rb.act.tell(x)", &more), "6 0 0");
    assert_eq!(comes_to(&format!("{spawn} {attach} {remove} rb.act.tell(x)"), "", &more), "6 0 0");
    assert_eq!(comes_to(&format!("{spawn} {attach}"), &format!("rb.act.tell(x) {remove}"), &more), "33 0 0");
}

/// `when` functions, and functions that build options, also run if the tape or a person answers.
#[test]
fn a_rule_evaluated_by_a_policy_chooses_nothing() {
    let card = "local rb = require(\"@riskbreaker\")\nreturn rb.maneuver({ id = \"c\", when = function() return rb.pick({}, 2) > 0 end, resolve = function() end })";
    let rows = [
        ("cards = rb.card_ids, ctx = {}, default = \"c\"", "return rb.open(q, \"c\") end"),
        (
            "options = function() return { \"a\", \"b\", `c{rb.pick({}, 3)}` } end, default = \"a\"",
            "return q.options[2] end",
        ),
    ];
    for (fields, answer) in rows {
        let policy = POLICY.replace("return nil end", answer);
        let asks = format!("rb.choose({{ seat = \"left\", topic = \"t\", {fields} }})");
        let found = comes_to(&asks, "", &[("maneuvers/c.luau", card), ("policies/p0.luau", &policy)]);
        assert!(found.contains("rb.pick is for policies; a rule rolls dice"), "{fields}: {found}");
    }
}
