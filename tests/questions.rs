//! Malformed questions are refused before anybody answers, with the same message in every mode.

use riskbreaker::lab::{Effect, MemoUse, Odds, OddsQuery, SessionExt as _, Simulation, Variant};
use riskbreaker::play::{Answering, Given, Source};
use riskbreaker::spec::{SpecSource, run_specs};
use riskbreaker::{Answer, DiceSource, Driver, Edit, Library, Ruleset, Session, Setup, Step, Value};

const MANIFEST: &str = r#"id = "asks"
title = "Asks"
version = "1.0.0"
summary = "Asks one thing."
scenario = "start"

[seats]
gm = "The referee"
left = "The left one"
right = "The right one"
"#;

/// A game that asks `left` whether to go, and then runs `body`.
fn library(body: &str, policy: &str) -> Library {
    library_with(body, policy, Vec::new())
}

/// The same game with more files.
fn library_with(body: &str, policy: &str, more: Vec<(String, String)>) -> Library {
    let files = [
        ("ruleset.toml", MANIFEST.to_owned()),
        ("RULES.md", "# Asks\n\n- **A-1** One thing is asked.\n".into()),
        ("kinds.luau", "local rb = require(\"@riskbreaker\")\nreturn rb.kinds({ one = { title = \"name\", fields = { name = rb.text(), n = rb.int() }, derived = { sum = function(me) return me.n end } } })".into()),
        ("scenarios/start.toml", "title = \"Start\"\n".into()),
        ("play.luau", format!(
            "local rb = require(\"@riskbreaker\")
local function words(value)
	if type(value) ~= \"table\" then
		return tostring(value)
	elseif value.exists then
		return value.name
	end
	local parts = {{}}
	for _, one in value do
		table.insert(parts, words(one))
	end
	return table.concat(parts, \" \")
end
return rb.play({{
	start = function(position)
		rb.recur(\"turn\", {{ 1 }}, {{ 1 }}, rb.spawn(\"one\", {{ name = \"Ann\" }}))
		rb.spawn(\"one\", {{ name = \"Bob\" }})
	end,
	entries = {{
		turn = function(ann)
			rb.confirm({{ seat = \"left\", topic = \"go\", about = ann, default = true }})
			local bob = rb.each(\"one\")[2]
			local answer = (function()
{body}
			end)()
			rb.finish(\"answered {{}}\", words(answer))
		end,
	}},
}})")),
        ("maneuvers/nod.luau", "local rb = require(\"@riskbreaker\")\nreturn rb.maneuver({ id = \"nod\", title = \"Nod\", text = \"Nods.\", resolve = function() end })".into()),
        ("maneuvers/wave.luau", "local rb = require(\"@riskbreaker\")\nreturn rb.maneuver({ id = \"wave\", title = \"Wave\", text = \"Waves.\", when = function(ctx) return not ctx.tied, \"is tied\" end, resolve = function() end })".into()),
        ("policies/goes.luau", "local rb = require(\"@riskbreaker\")\nreturn rb.policy({ id = \"goes\", answer = function(q) return true end })".into()),
        ("policies/says.luau", format!("local rb = require(\"@riskbreaker\")\nreturn rb.policy({{ id = \"says\", answer = function(q)\n{policy}\nend }})")),
    ];
    let files = files.map(|(path, text)| (path.to_owned(), text)).into_iter().chain(more);
    Library::from_files(files.map(|(path, text)| (format!("asks/{path}"), text.into_bytes())))
}

/// A message without its location.
fn tail(text: &str) -> String {
    let at = text.rfind(".luau:").map_or(0, |at| at + ".luau:".len());
    text[at..].trim_start_matches(|c: char| c.is_ascii_digit() || c == ':' || c == ' ').to_owned()
}

fn came(step: &Step) -> String {
    match step {
        Step::Ask => "asks".into(),
        Step::Fault(fault) => format!("fault: {}", fault.message),
        Step::Over(text) => text.clone(),
    }
}

/// The results in each mode, by the name of the mode.
fn in_each_mode(body: &str, policy: &str) -> Vec<(&'static str, String)> {
    let library = library(body, policy);
    let rules = Ruleset::load(&library, "asks").unwrap_or_else(|error| panic!("{error}\n{body}"));
    let setup = || {
        Setup::scenario("start")
            .dice(DiceSource::Seeded)
            .seat("left", Driver::Policy("goes".into()))
            .seat("right", Driver::Policy("says".into()))
            .seat("gm", Driver::Absent)
    };
    let mut found = Vec::new();
    let mut told = Session::start(&rules, setup()).unwrap();
    found.push(("told", came(&told.advance().unwrap())));
    let mut loaded = Session::load(&library, &told.save()).unwrap();
    found.push(("replay of its tape", came(&loaded.advance().unwrap())));
    let mut headless = Session::start(&rules, setup()).unwrap();
    headless.set_headless(true);
    found.push(("headless", came(&headless.advance().unwrap())));
    for (mode, memo) in [("every script run", MemoUse::Never), ("memo", MemoUse::Always)] {
        let simulation = Simulation {
            scenario: "start".into(),
            variants: vec![Variant::new("one", &rules, setup()).unwrap()],
            trials: 3,
            seed: 1,
            until: None,
            actions: 20,
            memo,
        };
        let tally = simulation.run(1, None, None, &mut |_, _| true).unwrap().tallies.remove(0);
        let out = tally.left_out.iter().map(|out| format!("fault: {}", tail(&out.why)));
        found.push((mode, tally.outcomes.keys().cloned().chain(out).next().unwrap()));
    }
    let mut session = Session::start(&rules, setup().seat("left", Driver::Human)).unwrap();
    assert_eq!(session.advance().unwrap(), Step::Ask);
    let question = session.questions()[0].clone();
    let given =
        vec![Given { topic: "go".into(), seat: None, about: question.about, value: Value::Bool(true), once: false }];
    let query = OddsQuery { given, answering: Answering::Seated, ..OddsQuery::default() };
    found.push(match session.odds_at(question.id, query) {
        Err(refusal) => ("odds", format!("fault: {}", tail(&refusal.to_string()))),
        Ok(odds) => {
            let effects = odds.outcomes.iter().flat_map(|(outcome, _)| outcome.effects.iter());
            let mut over = effects.filter_map(|effect| match effect {
                Effect::Over { text } => Some(text.to_string()),
                _ => None,
            });
            ("odds", over.next_back().unwrap_or_default())
        }
    });
    found
}

/// The result of a question to a person.
fn by_person(body: &str) -> String {
    let rules = Ruleset::load(&library(body, "return nil"), "asks").unwrap();
    let setup = Setup::scenario("start").seat("left", Driver::Policy("goes".into())).seat("gm", Driver::Absent);
    came(&Session::start(&rules, setup).unwrap().advance().unwrap())
}

/// The result in a spec.
fn in_spec(body: &str) -> String {
    let text = "local rb = require(\"@riskbreaker\")\nrb.spec(\"A-1\", { \"A-1\" }, function(t)\n\tt:given({})\n\tt:answer(\"go\", true)\nend)";
    let source = SpecSource { path: "one.luau".into(), text: text.into() };
    let report = run_specs(&library(body, "return nil"), "asks", &[], vec![source], Some("one.luau")).unwrap();
    assert!(report.broken.is_empty(), "{:?}", report.broken);
    match &report.results[0].failure {
        Some(failure) => format!("fault: {}", tail(&failure.fault.message)),
        None => "asks".into(),
    }
}

/// Malformed questions, and a part of each message.
const BAD: &[(&str, &str)] = &[
    // Options.
    ("rb.choose{ Q, options = { \"a\", \"b\", \"a\" } }", "two options have the id `a`"),
    ("rb.choose_many{ Q, options = { \"a\", \"a\" } }", "two options have the id `a`"),
    ("rb.order{ Q, options = { { id = \"a\" }, { id = \"b\" }, { label = \"a\" } } }", "two options have the id `a`"),
    ("rb.allot{ Q, options = { \"a\", \"a\" }, total = 2 }", "two options have the id `a`"),
    ("rb.choose{ Q, options = { bob, bob } }", "two options have the id `Bob`"),
    ("rb.choose{ Q, options = { { value = bob }, bob } }", "two options have the id `Bob`"),
    ("rb.choose_many{ Q, options = { \"a\", 5 } }", "option 2 is number; an option is an entity, a text or a table"),
    ("rb.order{ Q, options = { true, \"a\" } }", "option 1 is boolean; an option is"),
    ("rb.allot{ Q, options = { \"a\", 7 }, total = 2 }", "option 2 is number; an option is"),
    ("rb.choose{ Q, options = { {} } }", "option 1 needs an `id`"),
    ("rb.choose{ Q, options = { { id = 5 } } }", "`id` of option 1 must be a text, not number"),
    ("rb.choose{ Q, options = { { id = \"a\", label = bob } } }", "`label` of option 1 must be a text, not table"),
    ("rb.choose{ Q, options = { { id = \"a\", note = 5 } } }", "`note` of option 1 must be a text, not number"),
    ("rb.choose{ Q, options = { { id = \"a\", reason = 5 } } }", "`reason` of option 1 must be a text, not number"),
    ("rb.allot{ Q, options = { { id = \"a\", max = \"2\" } }, total = 1 }", "`max` of option 1 must be a whole number"),
    ("rb.choose{ Q, options = { a = \"x\" } }", "a list with the keys 1, 2, 3 ..., and one is `a`"),
    ("rb.choose_many{ Q, options = { \"b\", a = \"x\" } }", "a list with the keys 1, 2, 3 ..., and one is `a`"),
    ("rb.choose{ Q, options = \"a\" }", "needs `options`, a list, not string"),
    ("rb.choose{ Q, options = bob }", "needs `options`, a list, not an entity"),
    ("rb.choose{ Q }", "needs `options`, a list, not nil"),
    ("rb.choose{ Q, options = function() return 5 end }", "needs `options`, a list, not number"),
    ("rb.choose_many{ Q, options = function() return { \"a\", \"a\" } end }", "two options have the id `a`"),
    ("rb.choose{ Q, options = {} }", "has no possible answer"),
    (
        "rb.choose{ Q, options = { { id = \"a\", enabled = false, reason = \"is gone\" } } }",
        "no option that is open (a: is gone)",
    ),
    ("rb.choose_many{ Q, options = { { id = \"a\", enabled = false }, \"b\" }, min = 2 }", "has no possible answer"),
    ("rb.order{ Q, options = { { id = \"a\", enabled = false }, \"b\" } }", "has no possible answer"),
    ("rb.allot{ Q, options = { { id = \"a\", max = 1 } }, total = 3 }", "has no possible answer"),
    ("rb.allot{ Q, options = {}, total = 3 }", "has no possible answer"),
    (
        "(function() rb.remove(bob) return rb.choose{ Q, options = { \"a\", bob } } end)()",
        "option 2 is an entity that has been taken away",
    ),
    ("rb.choose{ Q, cards = { \"nod\", \"nod\" } }", "two options have the id `nod`"),
    ("rb.choose{ Q, cards = { \"nods\" } }", "there is no card `nods`; did you mean `nod`?"),
    ("rb.choose{ Q, cards = rb.card_ids, ctx = {}, more = { \"nod\" } }", "two options have the id `nod`"),
    ("rb.choose{ Q, cards = rb.card_ids, ctx = {}, more = { 5 } }", "option 3 is number"),
    ("rb.choose_many{ Q, cards = rb.card_ids, ctx = {} }", "takes no `cards`"),
    // Limits.
    ("rb.number{ Q, min = 1.5, max = 3 }", "needs `min`, a whole number, not 1.5"),
    ("rb.number{ Q, min = 1, max = \"3\" }", "needs `max`, a whole number, not a string"),
    ("rb.number{ Q, max = 3 }", "needs `min`, a whole number, not nothing"),
    ("rb.number{ Q, min = 4, max = 3 }", "has no possible answer: `min` is 4 and `max` is 3"),
    ("rb.choose_many{ Q, options = { \"a\", \"b\" }, min = 2, max = 1 }", "`min` is 2 and `max` is 1"),
    ("rb.choose_many{ Q, options = { \"a\", \"b\" }, min = -1 }", "`min` of the question `it` is at least 0, not -1"),
    ("rb.choose_many{ Q, options = { \"a\", \"b\" }, max = 0.5 }", "needs `max`, a whole number, not 0.5"),
    ("rb.choose_many{ Q, options = { \"a\", \"b\" }, max = \"2\" }", "needs `max`, a whole number, not a string"),
    ("rb.allot{ Q, options = { \"a\", \"b\" } }", "needs `total`, a whole number, not nothing"),
    ("rb.allot{ Q, options = { \"a\", \"b\" }, total = -2 }", "`total` of the question `it` is at least 0, not -2"),
    ("rb.allot{ Q, options = { \"a\", \"b\" }, total = 2.5 }", "needs `total`, a whole number, not 2.5"),
    ("rb.allot{ Q, options = { \"a\", \"b\" }, total = 2, least = 3 }", "`least` is 3 and `total` is 2"),
    ("rb.line{ Q, max = 0 }", "`max` of the question `it` is at least 1, not 0"),
    ("rb.line{ Q, max = \"9\" }", "needs `max`, a whole number, not a string"),
    // The rest.
    ("rb.confirm{ seat = \"right\" }", "the `topic` of a question must be a text, not nil"),
    ("rb.confirm{ seat = \"right\", topic = 5 }", "the `topic` of a question must be a text, not number"),
    (
        "rb.number{ seat = \"right\", topic = bob, min = 1, max = 1, auto = true }",
        "the `topic` of a question must be a text, not table",
    ),
    ("rb.confirm{ topic = \"it\" }", "the `seat` of a question must be a text, not nil"),
    ("rb.confirm{ topic = \"it\", seat = bob }", "the `seat` of a question must be a text, not table"),
    ("rb.confirm{ topic = \"it\", seat = \"rihgt\" }", "there is no seat `rihgt`; did you mean `right`?"),
    ("rb.confirm{ Q, about = 5 }", "takes an entity that is there, not number"),
    ("rb.confirm{ Q, audience = \"lefd\" }", "there is no such seat; did you mean `left`?"),
    ("rb.confirm{ Q, audience = { \"left\", 5 } }", "the `audience` of a question must be a text, not number"),
    ("rb.confirm{ Q, why = 5 }", "the `why` of a question must be a text, not number"),
    ("rb.confirm{ Q, why = bob }", "the `why` of a question must be a text, not table"),
    ("rb.confirm{ Q, check = true }", "the `check` of a question must be a function, not boolean"),
    (
        "rb.choose{ Q, options = { \"a\" }, note = \"beside\" }",
        "the `note` of a question must be a function, not string",
    ),
];

fn body_of(call: &str) -> String {
    format!("return {}", call.replace("Q", "seat = \"right\", topic = \"it\""))
}

/// A policy with arbitrary answers.
const POLICY: &str = "if q.kind == \"choose\" then return rb.open(q, \"nod\") or rb.open(q, \"a\") or \"a\" end
	if q.kind == \"choose_many\" or q.kind == \"order\" then return { \"a\" } end
	if q.kind == \"number\" then return 2 end
	if q.kind == \"allot\" then return { 1, 1 } end
	if q.kind == \"line\" then return \"text\" end
	return true";

#[test]
fn a_badly_written_question_faults_in_the_same_words_in_every_mode() {
    let mut wrong = Vec::new();
    for (call, said) in BAD {
        let body = body_of(call);
        let mut found = in_each_mode(&body, POLICY);
        found.push(("put to a person", by_person(&body)));
        found.push(("spec", in_spec(&body)));
        let told = found[0].1.clone();
        if !told.starts_with("fault: ") || !told.contains(said) {
            wrong.push(format!("{call}\n    wanted: {said}\n    told:   {told}"));
        }
        let others = found
            .iter()
            .filter(|(_, came)| *came != told && !(came.starts_with("fault: ") && told.contains(&came[7..])));
        wrong.extend(others.map(|(mode, came)| format!("{call}\n    told: {told}\n    {mode}: {came}")));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn functions_used_only_for_texts_do_not_change_a_game() {
    let calls = [
        ("rb.choose{ Q, options = { \"a\", \"b\" }, why = function() error(\"no words\") end }", "answered a"),
        ("rb.choose{ Q, options = { \"a\", \"b\" }, note = function() error(\"no note\") end }", "answered a"),
        ("rb.choose_many{ Q, options = { \"a\", \"b\" }, note = function() return 5 end }", "answered a"),
        ("rb.allot{ Q, options = { \"a\", \"b\" }, total = 2, why = function() return bob end }", "answered 1 1"),
        ("rb.line{ Q, why = function() return nil .. \"\" end }", "answered text"),
        ("rb.line{ Q, default = \"more\", options = function() error(\"none\") end }", "answered text"),
        // A card that the policy does not read.
        ("rb.choose{ Q, cards = rb.card_ids, ctx = nil }.id", "answered nod"),
        ("(function() rb.say(function() error(\"no words\") end) return 5 end)()", "answered 5"),
        ("(function() rb.say(function() return bob end) return 5 end)()", "answered 5"),
    ];
    for (call, wanted) in calls {
        for (mode, came) in in_each_mode(&body_of(call), POLICY) {
            assert_eq!(came, wanted, "{mode}: {call}");
        }
    }
}

#[test]
fn failing_texts_are_replaced_by_their_error_in_a_question() {
    for call in [
        "rb.choose{ Q, options = { \"a\", \"b\" }, why = function() error(\"no words\") end }",
        "rb.choose{ Q, options = { \"a\", \"b\" }, note = function() error(\"no words\") end }",
        "rb.confirm{ Q, why = function() return rb.roll(\"1d6\", \"no words\") .. \"\" end }",
        "rb.confirm{ Q, why = function() return bob end }",
    ] {
        let body = body_of(call);
        let library = library(&body, "return nil");
        let rules = Ruleset::load(&library, "asks").unwrap();
        let setup = Setup::scenario("start").seat("left", Driver::Policy("goes".into())).seat("gm", Driver::Absent);
        let mut session = Session::start(&rules, setup).unwrap();
        assert_eq!(came(&session.advance().unwrap()), "asks", "{call}");
        let question = session.questions()[0].clone();
        let notes = question.ask.options().iter().filter_map(|option| option.note.clone());
        let shown: String = notes.chain([question.why.clone()]).collect();
        assert!(shown.contains("these words failed"), "{call}: {shown}");
        let loaded = Session::load(&library, &session.save()).unwrap();
        assert_eq!(loaded.questions(), session.questions(), "{call}");
    }
}

#[test]
fn texts_that_exceed_their_memory_are_reported_with_their_line() {
    let body = body_of("rb.confirm{ Q, why = function() local s = \"a\" while true do s ..= s end end }");
    let rules = Ruleset::load(&library(&body, "return nil"), "asks").unwrap();
    let setup = Setup::scenario("start").seat("left", Driver::Policy("goes".into())).seat("gm", Driver::Absent);
    let mut session = Session::start(&rules, setup).unwrap();
    assert_eq!(came(&session.advance().unwrap()), "asks");
    let why = session.questions()[0].why.clone();
    assert!(why.contains("asks/play.luau:") && why.contains(": the words took too much memory"), "{why}");
}

#[test]
fn texts_that_exceed_their_memory_stop_no_game() {
    for words in ["local s = \"a\" while true do s ..= s end", "local l = {} while true do l = { l, 1, 2, 3 } end"] {
        let body =
            format!("rb.say(function() {words} end)\nlocal l = {{}}\nfor n = 1, 3000 do l[n] = {{ n }} end\nreturn #l");
        for (mode, came) in in_each_mode(&body, POLICY) {
            assert_eq!(came, "answered 3000", "{mode}: {words}");
        }
    }
}

#[test]
fn an_entity_where_a_text_belongs_is_refused_in_every_mode() {
    for (call, said) in [
        ("rb.say(bob)", "what is said must be a text, not"),
        ("rb.say(5)", "what is said must be a text, not"),
        ("rb.whisper(\"gm\", bob)", "what is said must be a text, not"),
        ("rb.whisper(\"gmm\", \"psst\")", "the audience is `gmm`, and there is no such seat"),
        ("rb.sum(bob, 5)", "the label of a part of rb.sum must be a text, not"),
        ("rb.roll(\"1d1\", bob)", "the label of a roll must be a text, not"),
        ("rb.cut(bob)", "the reason of rb.cut must be a text, not"),
        ("rb.finish(bob)", "the outcome must be a text, not"),
        ("bob:set(\"n\", 3, bob)", "the reason of a change must be a text, not"),
        ("bob:add(\"n\", 3, bob)", "the reason of a change must be a text, not"),
    ] {
        let found = in_each_mode(&format!("{call}\nreturn 5"), POLICY);
        for (mode, came) in &found {
            assert!(came.starts_with("fault: ") && came.contains(said), "{mode}: {call}: {came}");
            assert_eq!(*came, found[0].1, "{mode}: {call}");
        }
    }
}

#[test]
fn an_answer_of_a_policy_is_accepted_in_every_mode_or_in_none() {
    let asked = "options = { \"a\", { id = \"b\", value = 4 }, \"cc\" }";
    for (kind, more, answer) in [
        ("choose", asked, "\"a\""),
        ("choose", asked, "4"),
        ("choose", asked, "q.options[2]"),
        ("choose", asked, "{ id = \"a\" }"),
        ("choose", asked, "\"d\""),
        ("choose", asked, "true"),
        ("choose", asked, "{}"),
        ("choose_many", asked, "\"a\""),
        ("choose_many", asked, "{ \"a\", \"a\" }"),
        ("choose_many", asked, "{ a = \"a\" }"),
        ("order", asked, "{ \"a\", \"a\", \"cc\" }"),
        ("order", asked, "{ \"cc\", 4, \"a\" }"),
        ("allot", "options = { \"a\", \"b\" }, total = 3", "{ 1.5, 1.5 }"),
        ("allot", "options = { \"a\", \"b\" }, total = 3", "{ a = 1, b = 2 }"),
        ("allot", "options = { \"a\", \"b\" }, total = 3", "{ 1, 1, 1 }"),
        ("allot", "options = { \"a\", \"b\" }, total = 3", "{ 3 }"),
        ("allot", "options = { \"a\", \"b\" }, total = 3", "5"),
        ("number", "min = 1, max = 3", "\"2\""),
        ("number", "min = 1, max = 3", "2.5"),
        ("number", "min = 1, max = 3", "{ 2 }"),
        ("confirm", "", "1"),
        ("line", "max = 3", "\"long\""),
        ("line", "max = 3", "\"a\\nb\""),
        ("line", "max = 3", "12"),
        ("choose", "cards = rb.card_ids, ctx = { tied = true }", "rb.card(\"wave\")"),
        ("choose", "cards = rb.card_ids, ctx = { tied = true }, more = { \"more\" }", "\"more\""),
        ("choose", "cards = rb.card_ids, ctx = {}", "rb.open(q, \"wave\")"),
    ] {
        let body = format!(
            "local answer = rb.{kind}{{ seat = \"right\", topic = \"it\", {more} }}\nreturn if type(answer) == \"table\" and answer.title then answer.id else answer"
        );
        let found = in_each_mode(&body, &format!("return {answer}"));
        for (mode, came) in &found {
            let other = found[0].1.strip_prefix("fault: ");
            let same = *came == found[0].1 || other.is_some_and(|told| came.strip_prefix("fault: ") == Some(told));
            assert!(same, "{kind} {answer}: told {}, {mode} {came}", found[0].1);
        }
    }
}

/// A game in which `right` answers a question for a number by the policy `bases`, which builds on others.
fn by_base(policies: &[(&str, &str)]) -> Result<String, String> {
    by_base_in("return rb.number({ seat = \"right\", topic = \"n\", min = 1, max = 9 })", policies)
}

/// The same, with another question.
fn by_base_in(body: &str, policies: &[(&str, &str)]) -> Result<String, String> {
    let files = policies.iter().map(|(id, rest)| {
        let text = format!("local rb = require(\"@riskbreaker\")\nreturn rb.policy({{ id = \"{id}\", {rest} }})");
        (format!("policies/{id}.luau"), text)
    });
    let library = library_with(body, "return q.kind == \"number\" and 7 or nil", files.collect());
    let rules = Ruleset::load(&library, "asks").map_err(|error| error.to_string())?;
    let setup = Setup::scenario("start").dice(DiceSource::Seeded).seat("gm", Driver::Absent);
    let setup = setup.seat("left", Driver::Policy("goes".into())).seat("right", Driver::Policy("bases".into()));
    Ok(came(&Session::start(&rules, setup).unwrap().advance().unwrap()))
}

#[test]
fn a_policy_leaves_questions_that_it_does_not_answer_to_its_base() {
    let nothing = "answer = function(q) return nil end";
    let first = format!("base = \"says\", {nothing}");
    assert_eq!(by_base(&[("bases", &first)]).unwrap(), "answered 7");
    assert_eq!(by_base(&[("bases", "base = \"says\"")]).unwrap(), "answered 7");
    assert_eq!(by_base(&[("bases", "base = \"says\", answer = function(q) return 3 end")]).unwrap(), "answered 3");
    let between = [("bases", "base = \"middle\""), ("middle", &*first)];
    assert_eq!(by_base(&between).unwrap(), "answered 7");
    assert_eq!(by_base(&[("bases", nothing)]).unwrap(), "asks");
}

#[test]
fn the_fault_of_an_answer_names_the_policy_that_gave_it() {
    let wrong = [("bases", "base = \"middle\""), ("middle", "answer = function(q) return \"seven\" end")];
    let question = "return rb.choose({ seat = \"right\", topic = \"side\", options = { \"left\", \"right\" } })";
    let fault = by_base_in(question, &wrong).unwrap();
    assert!(fault.starts_with("fault: ") && fault.contains("middle") && !fault.contains("bases"), "{fault}");
}

#[test]
fn a_base_must_be_another_policy_and_lead_to_an_end() {
    let refused = |policies: &[(&str, &str)]| by_base(policies).unwrap_err();
    let unknown = refused(&[("bases", "base = \"sayz\"")]);
    assert!(unknown.contains("the policy `bases` has the base `sayz`, which is no policy"), "{unknown}");
    assert!(unknown.contains("did you mean `says`?"), "{unknown}");
    let itself = refused(&[("bases", "base = \"bases\"")]);
    assert!(itself.contains("have each other as `base`: bases -> bases"), "{itself}");
    let circle = refused(&[("bases", "base = \"middle\""), ("middle", "base = \"bases\"")]);
    assert!(circle.contains("bases -> middle -> bases"), "{circle}");
    let number = refused(&[("bases", "base = 3")]);
    assert!(number.contains("`base` of policy `bases` is a text, not a number"), "{number}");
    let neither = refused(&[("bases", "title = \"Bases\"")]);
    assert!(neither.contains("policy `bases` lacks `answer`"), "{neither}");
}

#[test]
fn a_table_by_seats_answers_questions_that_are_about_nobody() {
    let body = "local both = rb.all({ { ask = \"number\", seat = \"right\", topic = \"it\", min = 1, max = 9 }, { ask = \"number\", seat = \"left\", topic = \"it\", min = 1, max = 9 } })\nreturn both[1] * 10 + both[2]";
    let text = "local rb = require(\"@riskbreaker\")\nrb.spec(\"A-1\", { \"A-1\" }, function(t)\n\tt:given({})\n\tt:answer(\"go\", true)\n\tt:answer(\"it\", { left = 3, right = 5 })\n\tt:said(\"answered 53\")\nend)";
    let source = SpecSource { path: "one.luau".into(), text: text.into() };
    let report = run_specs(&library(body, "return nil"), "asks", &[], vec![source], Some("one.luau")).unwrap();
    assert!(report.is_green(), "{:?}", report.results);
}

#[test]
fn draws_of_a_policy_without_an_answer_are_discarded() {
    let body = "local n = rb.number({ seat = \"right\", topic = \"it\", min = 1, max = 9 })\nreturn n * 10000 + rb.roll(\"1d1000\")";
    let library = library(body, "if q.topic == \"it\" then rb.pick(q, 3) end\nreturn nil");
    let rules = Ruleset::load(&library, "asks").unwrap();
    let setup = Setup::scenario("start").seed(3).seat("right", Driver::Policy("says".into()));
    let mut session = Session::start(&rules, setup).unwrap();
    assert_eq!(session.advance().unwrap(), Step::Ask);
    let _ = session.reply(&[("go".into(), Value::Bool(true))]).unwrap();
    assert_eq!(session.advance().unwrap(), Step::Ask);
    assert_eq!(&*session.questions()[0].topic, "it");
    let _ = session.reply(&[("it".into(), Value::Int(5))]).unwrap();
    let Step::Over(end) = session.advance().unwrap() else { panic!("it goes on") };
    let loaded = Session::load(&library, &session.save()).unwrap();
    assert_eq!(loaded.state_bytes(), session.state_bytes());
    session.undo().unwrap();
    session.redo().unwrap();
    assert_eq!(session.advance().unwrap(), Step::Over(end));
}

/// The odds of questions to people, some with given answers.
fn in_odds(body: &str, given: &[(&str, Value)]) -> String {
    let rules = Ruleset::load(&library(body, "return nil"), "asks").unwrap();
    let mut session = Session::start(&rules, Setup::scenario("start").seat("gm", Driver::Absent)).unwrap();
    assert_eq!(session.advance().unwrap(), Step::Ask);
    let question = session.questions()[0].clone();
    let all = [("go", Value::Bool(true))];
    let all = all.iter().chain(given);
    let given = all.map(|(topic, value)| Given {
        topic: topic.to_string(),
        seat: None,
        about: None,
        value: value.clone(),
        once: false,
    });
    let query = OddsQuery { given: given.collect(), lenient: true, ..OddsQuery::default() };
    match session.odds_at(question.id, query) {
        Err(refusal) => format!("fault: {}", tail(&refusal.to_string())),
        Ok(odds) => odds.outcomes[0].0.effects.iter().map(|effect| format!("{effect:?}")).collect(),
    }
}

#[test]
fn an_answer_to_an_open_question_does_not_answer_its_repetition() {
    const PRESS: &str = r#"
        local sum = 0
        while sum < 3 and rb.confirm({ seat = "left", topic = "again", about = ann, default = false }) do
            if rb.under("1d6", 2, "again") then
                return "bust"
            end
            sum += 1
        end
        return sum"#;
    let rules = Ruleset::load(&library(PRESS, "return nil"), "asks").unwrap();
    let mut session = Session::start(&rules, Setup::scenario("start")).unwrap();
    assert_eq!(session.advance().unwrap(), Step::Ask);
    let _ = session.reply(&[("go".to_owned(), Value::Bool(true))]).unwrap();
    assert_eq!(session.advance().unwrap(), Step::Ask);
    let question = session.questions()[0].clone();
    assert_eq!(&*question.topic, "again");
    let chances = |odds: &Odds| -> Vec<String> { odds.outcomes.iter().map(|(_, chance)| chance.to_string()).collect() };
    let given = vec![Given::to(&question, Value::Bool(true))];
    let odds = session.odds_at(question.id, OddsQuery { given, ..OddsQuery::default() }).unwrap();
    assert!(odds.is_exact());
    assert_eq!(chances(&odds), ["5/6", "1/6"]);
    let [assumed] = odds.answers.as_slice() else { panic!("{:?}", odds.answers) };
    assert_eq!((&*assumed.who, &*assumed.topic, &*assumed.answer), ("Ann", "again", "no"));
    assert_eq!(assumed.source, Source::Default);
    // An answer by topic alone applies to each of them.
    let given = vec![Given { once: false, ..Given::to(&question, Value::Bool(true)) }];
    let odds = session.odds_at(question.id, OddsQuery { given, ..OddsQuery::default() }).unwrap();
    assert_eq!(chances(&odds), ["125/216", "91/216"]);
}

#[test]
fn of_two_equal_questions_each_has_its_own_answer_in_odds() {
    const BIDS: &str = r#"
        local function bid()
            return { ask = "number", seat = "left", topic = "bid", min = 0, max = 9, default = 0 }
        end
        local bids = rb.all({ bid(), bid() })
        return bids[1] * 10 + bids[2]"#;
    let rules = Ruleset::load(&library(BIDS, "return nil"), "asks").unwrap();
    let mut session = Session::start(&rules, Setup::scenario("start")).unwrap();
    assert_eq!(session.advance().unwrap(), Step::Ask);
    let _ = session.reply(&[("go".to_owned(), Value::Bool(true))]).unwrap();
    assert_eq!(session.advance().unwrap(), Step::Ask);
    let [first, second] = session.questions() else { panic!("two bids are asked") };
    let (first, second) = (first.clone(), second.id);
    session.answer(second, Answer::Number(7)).unwrap();
    assert_eq!(session.advance().unwrap(), Step::Ask);
    let given = vec![Given::to(&first, Value::Int(3))];
    let odds = session.odds_at(first.id, OddsQuery { given, ..OddsQuery::default() }).unwrap();
    assert!(odds.is_exact() && odds.answers.is_empty(), "{odds:?}");
    let effects = &odds.outcomes[0].0.effects;
    assert!(effects.iter().any(|effect| format!("{effect:?}").contains("answered 37")), "{effects:?}");
}

#[test]
fn odds_put_all_questions_of_a_race_before_a_person_answers_one() {
    let race = |questions: &str| format!("return {{ rb.race({{ {questions} }}) }}");
    const ONE: &str = r#"{ ask = "number", seat = "right", topic = "one", min = 1, max = 3, default = 1 }"#;
    const TWO: &str = r#"{ ask = "number", seat = "right", topic = "two", min = 1, max = 3, default = 2 }"#;
    // The error in the second question is found before anybody answers the first.
    let unfit = race(&[ONE, &TWO.replace("default = 2", "default = 9")].join(", "));
    let fault = "fault: the default of the question `two` does not fit";
    assert!(by_person(&unfit).contains(fault), "{}", by_person(&unfit));
    assert!(in_odds(&unfit, &[]).contains(fault), "{}", in_odds(&unfit, &[]));
    // An automatic answer closes the questions to people.
    let absent = race(&[ONE, &TWO.replace("right", "gm")].join(", "));
    assert_eq!(by_person(&absent), "answered 2 2");
    assert!(in_odds(&absent, &[]).contains("answered 2 2"), "{}", in_odds(&absent, &[]));
    // The waiting question with a given answer wins; without one, the first.
    let both = race(&[ONE, TWO].join(", "));
    assert!(in_odds(&both, &[]).contains("answered 1 1"), "{}", in_odds(&both, &[]));
    let given = [("two", Value::Int(3))];
    assert!(in_odds(&both, &given).contains("answered 2 3"), "{}", in_odds(&both, &given));
}

#[test]
fn options_made_by_a_function_exist_on_every_path() {
    let body = "local it = rb.choose({ seat = \"right\", topic = \"it\", options = function(q) return { \"a\", \"b\" } end, default = \"a\" })\nlocal _ = rb.at_least(\"2d6\", 7)\nreturn it";
    for (mode, came) in in_each_mode(body, "return nil") {
        assert_eq!(came, "answered a", "{mode}");
    }
}

/// An edit comes before the open action, when the entities created by the action do not exist.
#[test]
fn an_edit_of_what_the_open_action_has_made_is_refused_and_the_questions_stay() {
    let body = "local wolf = rb.spawn(\"one\", { name = \"Wolf\" })\nrb.schedule(\"turn\", { 5 }, wolf)\n\
                return rb.number({ seat = \"left\", topic = \"n\", why = \"\", min = 0, max = 9 })";
    let rules = Ruleset::load(&library(body, "return true"), "asks").unwrap_or_else(|error| panic!("{error}"));
    let mut session = Session::start(&rules, Setup::scenario("start")).unwrap();
    assert_eq!(session.advance().unwrap(), Step::Ask);
    let go = session.questions()[0].id;
    session.answer(go, Answer::Confirm(true)).unwrap();
    assert_eq!(session.advance().unwrap(), Step::Ask);
    let find = |session: &Session, name: &str| session.view().find(name).unwrap();
    let (ann, wolf) = (find(&session, "Ann"), find(&session, "Wolf"));
    let entry = session.view().agenda().iter().find(|entry| entry.owner == Some(wolf)).map(|entry| entry.id).unwrap();
    let before = (session.state_bytes(), session.questions().to_vec());
    let edits = [
        (Edit::Set { entity: wolf, field: "n".into(), value: 1.into() }, "Wolf"),
        (Edit::Set { entity: ann, field: "n".into(), value: Value::Entity(wolf) }, "Wolf"),
        (Edit::Remove { entity: wolf }, "Wolf"),
        (Edit::Cancel { entry }, "the agenda entry `turn`"),
    ];
    for (edit, what) in edits {
        let refusal = session.edit(edit).unwrap_err();
        let expected = format!("{what} was made by the action that is open: answer its questions first");
        assert_eq!(refusal.to_string(), expected);
        assert_eq!((session.state_bytes(), session.questions().to_vec()), before);
    }
    session.edit(Edit::Set { entity: ann, field: "n".into(), value: 3.into() }).unwrap();
    assert_eq!(session.advance().unwrap(), Step::Ask);
    assert_eq!(session.questions()[0].topic.as_ref(), "n");
    let last = session.questions()[0].id;
    session.answer(last, Answer::Number(4)).unwrap();
    assert_eq!(came(&session.advance().unwrap()), "answered 4");
}
