//! Hostile or broken scripts: each is contained and reported by file and line, and the game is unchanged.

mod bad;

use std::time::Instant;

use bad::{HONEST, KINDS, PLAY};
use riskbreaker::play::Machines;
use riskbreaker::{DiceSource, Driver, Fault, Library, LoadError, Remedy, Ruleset, Session, Setup, Step, Value};

const MANIFEST: &str = "id = \"bad\"\ntitle = \"Bad\"\nversion = \"1.0.0\"\n[seats]\nplayers = \"All\"\n";

fn library(files: &[(&str, &str)]) -> Library {
    let base = [("ruleset.toml", MANIFEST), ("kinds.luau", KINDS), ("play.luau", PLAY)];
    let kept = base.iter().filter(|(path, _)| files.iter().all(|(other, _)| other != path));
    let all = kept.chain(files).map(|(path, text)| (format!("bad/{path}"), text.as_bytes().to_vec()));
    Library::from_files(all.collect::<Vec<_>>())
}

fn card(body: &str) -> String {
    format!(
        "local rb = require(\"@riskbreaker\")\nreturn rb.maneuver({{ id = \"trick\", resolve = function(ctx)\n{body}\nend }})\n"
    )
}

/// Plays the card and returns its fault. Checks that the game is unchanged and continues.
fn fault_of(body: &str) -> Fault {
    fault_of_file(&card(body))
}

fn fault_of_file(body: &str) -> Fault {
    let library = library(&[("maneuvers/trick.luau", body), ("maneuvers/honest.luau", HONEST)]);
    let rules = Ruleset::load(&library, "bad").unwrap_or_else(|error| panic!("{error}"));
    let setup = Setup::table(Value::map::<&str>([])).dice(DiceSource::Seeded);
    let mut session = Session::start(&rules, setup).unwrap();
    assert_eq!(session.advance().unwrap(), Step::Ask);
    let before = session.state_bytes();
    let question = session.questions()[0].clone();
    session.answer(question.id, question.read(&"trick".into()).unwrap()).unwrap();
    let step = session.advance().unwrap();
    let Step::Fault(fault) = step else { panic!("`{body}` was not stopped: {step:?}") };
    // The popped entry is restored, and nothing of the card's effects remains.
    session.undo().unwrap();
    assert_eq!(session.advance().unwrap(), Step::Ask);
    assert_eq!(session.state_bytes(), before, "`{body}` left something");
    let question = session.questions()[0].clone();
    session.answer(question.id, question.read(&"honest".into()).unwrap()).unwrap();
    assert_eq!(session.advance().unwrap(), Step::Ask);
    let thing = session.view().find("it").unwrap();
    assert_eq!(session.view().field(thing, "n"), Some(&Value::Int(1)));
    fault
}

fn load_error(files: &[(&str, &str)]) -> LoadError {
    Ruleset::load(&library(files), "bad").expect_err("it must not load")
}

#[test]
fn endless_scripts_are_stopped_with_their_line() {
    for body in [
        "ctx.thing:add('n', 2)\nwhile true do end",
        "for _ in function() return 1 end do end",
        "table.sort({3, 2, 1, 5}, function(a, b) while true do end end)",
        "string.gsub('aaaa', 'a', function() while true do end end)",
        "repeat until false",
    ] {
        let fault = fault_of(body);
        assert!(fault.fatal, "{body}: {fault}");
        assert_eq!(fault.path.as_deref(), Some("bad/maneuvers/trick.luau"), "{body}");
        assert!(fault.line.is_some_and(|line| line >= 3), "{body}: {fault:?}");
    }
}

#[test]
fn memory_and_depth_are_bounded() {
    for body in [
        "local t = {} for i = 1, 1e9 do t[i] = { i } end",
        "local s = 'x' while true do s = s .. s end",
        "local function f(n) return 1 + f(n + 1) end\nf(1)",
        "local function f() return f() end\nf()",
        "string.rep('x', 1e9)",
        "table.create(1e9, 1)",
        "return table.concat(table.create(100000, string.rep('x', 100000)))",
        "rb.spawn('thing', {}) while true do rb.spawn('thing', {}) end",
        "while true do rb.say('x') end",
        "while true do rb.schedule('turn', 1, ctx.thing) end",
    ] {
        let fault = fault_of(body);
        assert!(!fault.message.is_empty(), "{body}");
    }
}

#[test]
fn endless_recursion_is_reported_with_a_correction() {
    let fault = fault_of("local function f(n) return 1 + f(n + 1) end\nf(1)");
    assert!(fault.message.contains("stack overflow"), "{fault}");
    assert!(fault.cure.is_some_and(|cure| cure.contains("calls itself")));
}

#[test]
fn long_library_calls_are_capped() {
    for body in [
        "local s = string.rep('a', 65000) .. 'b' for i = 1, 1e9 do string.find(s, string.rep('a', 200) .. 'c', 1, true) end",
        "local s = string.rep('a', 100000) string.find(s, 'b')",
        "('a'):rep(70000):find(('a'):rep(300))",
        "table.move({}, 1, 2^31, 2)",
        "table.unpack({}, 1, 1e8)",
    ] {
        fault_of(body);
    }
}

#[test]
fn scripts_have_only_the_documented_globals() {
    for name in [
        "pcall",
        "xpcall",
        "coroutine",
        "os",
        "io",
        "debug",
        "loadstring",
        "getfenv",
        "setfenv",
        "newproxy",
        "collectgarbage",
        "gcinfo",
        "setmetatable",
        "getmetatable",
        "rawset",
        "print",
        "package",
        "load",
        "dofile",
        "buffer",
        "vector",
        "_G",
        "shared",
    ] {
        let fault = fault_of(&format!("error({name} == nil and 'absent' or 'ESCAPED')"));
        assert_eq!(fault.message, "absent", "{name}");
    }
    for expression in ["math.random", "math.randomseed", "math.sin", "string.dump", "string.pack", "table.foreach"] {
        let fault = fault_of(&format!("error({expression} == nil and 'absent' or 'ESCAPED')"));
        assert_eq!(fault.message, "absent", "{expression}");
    }
    assert_eq!(fault_of("error(('x').dump == nil and 'absent' or 'ESCAPED')").message, "absent");
}

#[test]
fn scripts_cannot_keep_values_or_change_the_library() {
    for (body, part) in [
        ("x = 1", "readonly"),
        ("rb.say = nil", "readonly"),
        ("rb.act.x = nil", "readonly"),
        ("rb.cards.trick = nil", "readonly"),
        ("rb.card('trick').resolve = nil", "readonly"),
        ("rb.switches.x = 1", "readonly"),
        ("math.abs = nil", "readonly"),
        ("string.rep = nil", "readonly"),
        ("ctx.thing.n = 5", "readonly"),
        ("rb.card_ids[1] = 'x'", "readonly"),
        ("rb.each('thing')[1] = nil", "readonly"),
        ("table.clear(rb.card_ids)", "readonly"),
        ("table.insert(rb.each('thing'), 1)", "readonly"),
    ] {
        let fault = fault_of(body);
        assert!(fault.message.contains(part), "{body}: {fault}");
    }
}

#[test]
fn an_iterator_kept_by_a_file_does_not_continue_in_later_calls() {
    let kept = format!("local it = string.gmatch(\"a b\", \"%a\")\n{}", card("if it() then ctx.thing:add('n', 2) end"));
    let fault = fault_of_file(&kept);
    assert!(fault.message.contains("gmatch"), "{fault}");
    // Within one call it works as usual.
    for (body, text) in [
        ("local s = '' for k, v in ('a=1, b=2'):gmatch('(%w+)=(%w+)') do s ..= k .. v end error(s)", "a1b2"),
        ("local s = '' for w in ('ab'):gmatch('x*') do s ..= `<{w}>` end error(s)", "<><><>"),
        ("local it = ('^a ^b'):gmatch('^%a') error(it() .. it() .. tostring(it()))", "^a^bnil"),
        ("local s = '' for at in ('abc'):gmatch('()') do s ..= at end error(s)", "1234"),
    ] {
        assert_eq!(fault_of(body).message, text, "{body}");
    }
}

#[test]
fn host_functions_refuse_garbage_with_a_sentence() {
    for (body, part) in [
        ("ctx.thing:set('n', 10)", "0 to 9"),
        ("ctx.thing:set('n', 1.5)", "not a whole number"),
        ("ctx.thing:set('n', 0/0)", "not a whole number"),
        ("ctx.thing:set('n', 'x')", "takes a whole number"),
        ("ctx.thing:set('m', 1)", "no field `m`"),
        ("ctx.thing:set(nil, 1)", "must be a text"),
        ("ctx.thing:add('name', 1)", "not a number"),
        ("ctx.thing:shift('name', 1)", "not a number"),
        ("ctx.thing:shift('nothing', 1)", "nothing"),
        ("ctx.thing:shift('n', 0.5)", "whole number"),
        ("math.log2int(0 / 0)", "from 1 to 2^53"),
        ("math.log2int(0)", "from 1 to 2^53"),
        ("ctx.thing:shift('n', 'one')", "shift takes a number"),
        ("ctx.thing:shift('n', 1, 7)", "the reason of a change must be a text"),
        ("rb.remove(ctx.thing) ctx.thing:shift('n', 1)", "taken away"),
        ("ctx.thing:set('other', { id = 1 })", "takes a thing"),
        ("ctx.thing:set('all', { 1, nil, 3 })", "without a gap"),
        ("ctx.thing:set('all', { function() end })", "not plain data"),
        ("local t = {} t[1] = t ctx.thing:set('all', t)", "too large"),
        ("return ctx.thing.nmae", "did you mean `name`"),
        ("rb.spawn('thnig', {})", "did you mean `thing`"),
        ("rb.spawn('thing', { m = 1 })", "no field `m`"),
        ("rb.remove(5)", "takes an entity"),
        ("rb.remove({ id = 1, kind = 'thing' })", "takes an entity"),
        ("rb.remove(ctx.thing) ctx.thing:set('n', 1)", "taken away"),
        ("rb.roll('4d6r1', 'x')", "ro"),
        ("rb.roll('999999999d6', 'x')", "column"),
        ("rb.under('1d10', 'x', 'y')", "needs a whole number"),
        ("rb.schedule('trun', 1, ctx.thing)", "did you mean `turn`"),
        ("rb.schedule('turn', {}, ctx.thing)", "1 to 8 places"),
        ("rb.schedule('turn', 'x', ctx.thing)", "a key is"),
        ("rb.attach('nothing', ctx.thing)", "no hook or item"),
        ("rb.choose({ seat = 'players', topic = 'x', options = {} })", "no possible answer"),
        ("rb.choose({ seat = 'nobody', topic = 'x', options = { 'a' } })", "no seat `nobody`"),
        ("rb.choose({ seat = 'players', topic = 'x', options = { 'a', 'a' } })", "two options have the id"),
        ("rb.number({ seat = 'players', topic = 'x', min = 1 })", "needs `max`"),
        ("rb.card('trik')", "did you mean `trick`"),
        ("rb.act.nothing()", "no verb `nothing`"),
        ("return rb.switches.nothing", "no switch `nothing`"),
        ("rb.pick({}, 3)", "for policies"),
        ("require('../secret')", "cannot be required"),
        ("require('@out/secret')", "cannot be required"),
        ("require('lib/nothing')", "no file `lib/nothing`"),
        ("rb.say()", "must be a text"),
        ("local t = nil; return t.x", "index nil"),
        ("error('my own words')", "my own words"),
        ("error({})", ""),
        ("error()", ""),
    ] {
        let fault = fault_of(body);
        assert!(fault.message.contains(part), "{body}: {fault:?}");
        assert_eq!(
            fault.path.as_deref().unwrap_or("bad/maneuvers/trick.luau"),
            "bad/maneuvers/trick.luau",
            "{body}: {fault:?}"
        );
        assert!(!fault.message.contains("0x"), "{body}: {fault}");
    }
}

/// The faults of a card in each mode: chosen by a policy with events, in a saved game, headless, and by a person.
fn faults_in_every_mode(body: &str) -> Vec<String> {
    let text = card(body);
    let policy = "return require('@riskbreaker').policy({ id = 'first', answer = function(q)
        return if q.kind == 'choose_many' then { q.options[1] } elseif q.kind == 'choose' then q.options[1] else nil
    end })";
    let library = library(&[("maneuvers/trick.luau", &text), ("policies/first.luau", policy)]);
    let rules = Ruleset::load(&library, "bad").unwrap_or_else(|error| panic!("{error}"));
    let start = |driver| Session::start(&rules, Setup::table(Value::map::<&str>([])).seat("players", driver)).unwrap();
    let first = || Driver::Policy("first".into());
    let told_of = |session: &mut Session| match session.advance().unwrap() {
        Step::Fault(fault) => format!("{fault} {:?}", fault.cure),
        step => panic!("`{body}` was not stopped: {step:?}"),
    };
    let mut told = start(first());
    let mut quiet = start(first());
    quiet.set_headless(true);
    let mut asked = start(Driver::Human);
    assert_eq!(asked.advance().unwrap(), Step::Ask);
    let question = asked.questions()[0].clone();
    asked.answer(question.id, question.read(&"trick".into()).unwrap()).unwrap();
    let mut found: Vec<String> = [&mut told, &mut quiet, &mut asked].map(told_of).into();
    found.push(told_of(&mut Session::load(&library, &told.save()).unwrap()));
    found
}

/// The subject of a question is checked before anybody answers it, so that every mode stops at the same place.
#[test]
fn a_question_about_a_removed_entity_faults_in_every_mode() {
    for (body, part) in [
        ("rb.choose({ seat = 'players', topic = 'x', about = gone, options = { 'a', 'b' } })", "taken away"),
        (
            "rb.choose({ seat = 'players', topic = 'x', about = gone, options = { 'a', 'b' }, default = 'b' })",
            "taken away",
        ),
        ("rb.choose({ seat = 'players', topic = 'x', about = gone, options = { 'a' }, auto = true })", "taken away"),
        ("rb.choose_many({ seat = 'players', topic = 'x', about = gone, options = { 'a', 'b' } })", "taken away"),
        ("rb.number({ seat = 'players', topic = 'x', about = gone, min = 1, max = 3, default = 2 })", "taken away"),
        ("rb.number({ seat = 'players', topic = 'x', about = gone, min = 1, max = 1, auto = true })", "taken away"),
        ("rb.all({ { ask = 'confirm', seat = 'players', topic = 'x', about = gone, default = true } })", "taken away"),
        ("rb.choose({ seat = 'players', topic = 'x', about = 'it', options = { 'a', 'b' } })", "not string"),
        ("rb.choose({ seat = 'players', topic = 'x', about = 'it', options = { 'a' }, auto = true })", "not string"),
        ("rb.choose({ seat = 'nobody', topic = 'x', options = { 'a' }, auto = true })", "no seat `nobody`"),
        (
            "rb.choose({ seat = 'players', topic = 'x', options = { 'a', gone } })",
            "option 2 is an entity that has been",
        ),
        ("rb.choose({ seat = 'players', topic = 'x', options = { gone }, auto = true })", "option 1 is an entity"),
        ("rb.choose_many({ seat = 'players', topic = 'x', options = { 'a', gone } })", "option 2 is an entity"),
    ] {
        let body = format!("local gone = rb.spawn('thing', {{ name = 'gone' }}) rb.remove(gone)\n{body}");
        let found = faults_in_every_mode(&body);
        assert!(found.iter().all(|fault| *fault == found[0]), "{body}: {found:#?}");
        assert!(found[0].starts_with("bad/maneuvers/trick.luau:4"), "{body}: {}", found[0]);
        assert!(found[0].contains(part), "{body}: {}", found[0]);
    }
}

#[test]
fn read_only_phases_only_read() {
    for body in [
        "ctx.thing:add('n', 1)",
        "ctx.thing:shift('n', 1)",
        "rb.roll('1d6', 'x')",
        "rb.spawn('thing', {})",
        "rb.say('x')",
        "rb.finish('x')",
        "rb.filter({ 1 }, function() return rb.roll('1d6', 'x') > 3 end)",
    ] {
        let text = format!(
            "local rb = require(\"@riskbreaker\")\nreturn rb.maneuver({{ id = \"trick\", when = function(ctx) {body} return true end, resolve = function() end }})"
        );
        let rules = Ruleset::load(&library(&[("maneuvers/trick.luau", &text)]), "bad").unwrap();
        let mut session = Session::start(&rules, Setup::table(Value::map::<&str>([]))).unwrap();
        let Step::Fault(fault) = session.advance().unwrap() else { panic!("`{body}` was not refused in `when`") };
        assert!(fault.message.contains("which may only read"), "{fault}");
        assert_eq!((fault.path.as_deref(), fault.line), (Some("bad/maneuvers/trick.luau"), Some(2)));
    }
}

/// A filter may not have effects, even where rolling is allowed.
#[test]
fn the_function_of_rb_filter_may_only_read() {
    let fault = fault_of("rb.filter({ 1 }, function() return rb.roll('1d6', 'x') > 3 end)");
    assert!(fault.message.contains("is not possible in rb.filter, which may only read"), "{fault}");
}

#[test]
fn a_fault_can_be_skipped_and_the_agenda_continues() {
    let text = card("error('broken')");
    let play = PLAY.replace(
        "rb.schedule(\"turn\", 1, rb.spawn(\"thing\", {}))",
        "rb.recur(\"turn\", 1, 1, rb.spawn(\"thing\", {}))",
    );
    let play = play.replace("rb.schedule(\"turn\", 1, thing)\n", "");
    let rules = Ruleset::load(&library(&[("maneuvers/trick.luau", &text), ("play.luau", &play)]), "bad").unwrap();
    let mut session = Session::start(&rules, Setup::table(Value::map::<&str>([]))).unwrap();
    for _ in 0..3 {
        assert_eq!(session.advance().unwrap(), Step::Ask);
        let question = session.questions()[0].clone();
        session.answer(question.id, question.read(&"trick".into()).unwrap()).unwrap();
        assert!(matches!(session.advance().unwrap(), Step::Fault(_)));
        assert!(session.remedy(Remedy::Retry).is_ok());
        assert!(matches!(session.advance().unwrap(), Step::Fault(_)));
        session.remedy(Remedy::SkipAction).unwrap();
    }
    assert_eq!(session.advance().unwrap(), Step::Ask);
}

#[test]
fn broken_files_are_load_errors_with_their_place() {
    for (path, text, part) in [
        ("maneuvers/a.luau", "return 5", "returns rb.maneuver"),
        ("maneuvers/a.luau", "", "empty"),
        ("maneuvers/a.luau", "return {", "maneuvers/a.luau:1"),
        ("maneuvers/a.luau", "<<<<<<< HEAD\nreturn {}", "maneuvers/a.luau:1"),
        ("maneuvers/a.luau", "while true do end", "budget of work"),
        ("maneuvers/a.luau", "local s = 'x' while true do s = s .. s end", "too large"),
        ("maneuvers/a.luau", "error('at load')", "at load"),
        ("maneuvers/a.luau", "x = 1", "readonly"),
        ("maneuvers/a.luau", "local rb = require('@riskbreaker') rb.roll('1d6', 'x')", "while the file is loaded"),
        (
            "maneuvers/a.luau",
            "local rb = require('@riskbreaker') return rb.maneuver({ id = 'b', resolve = function() end })",
            "does not match",
        ),
        ("maneuvers/a.luau", "local rb = require('@riskbreaker') return rb.maneuver({ id = 'a' })", "lacks `resolve`"),
        (
            "maneuvers/a.luau",
            "local rb = require('@riskbreaker') return rb.maneuver({ id = 'a', resolv = function() end })",
            "did you mean `resolve`",
        ),
        (
            "maneuvers/a.luau",
            "local rb = require('@riskbreaker') return rb.maneuver({ id = 'a', text = 5, resolve = function() end })",
            "`text`",
        ),
        (
            "hooks/a.luau",
            "local rb = require('@riskbreaker') return rb.hook({ id = 'a', before = { nothing = function() end } })",
            "does not exist",
        ),
        ("lib/a.luau", "return require('lib/a')", "in a circle"),
        (
            "kinds.luau",
            "local rb = require('@riskbreaker') return rb.kinds({ thing = { fields = { n = rb.int({ mn = 1 }) } } })",
            "has no option",
        ),
        (
            "kinds.luau",
            "local rb = require('@riskbreaker') return rb.kinds({ thing = { fields = { n = rb.ref('thnig') } } })",
            "did you mean `thing`",
        ),
        (
            "kinds.luau",
            "local rb = require('@riskbreaker') return rb.kinds({ thing = { felds = {} } })",
            "did you mean `fields`",
        ),
        (
            "kinds.luau",
            "local rb = require('@riskbreaker') return rb.kinds({ thing = { title = 'x' } })",
            "no text field `x`",
        ),
        ("play.luau", "local rb = require('@riskbreaker') return rb.play({ entries = {} })", "needs `start`"),
    ] {
        let error = load_error(&[(path, text)]).to_string();
        assert!(error.contains(part), "{path} `{text}`: {error}");
        assert!(error.contains(&format!("bad/{path}")), "{path} `{text}`: {error}");
    }
}

#[test]
fn types_that_are_nested_without_end_are_refused() {
    let kinds = |made: &str| {
        format!(
            "local rb = require('@riskbreaker') local ty = rb.text() {made} \
             return rb.kinds({{ thing = {{ fields = {{ n = rb.int(), deep = ty }} }} }})"
        )
    };
    for made in [
        "for _ = 1, 17 do ty = rb.list(ty) end",
        "for _ = 1, 20000 do ty = rb.map(ty) end",
        "ty = rb.list(ty) ty.element = ty",
    ] {
        let error = load_error(&[("kinds.luau", &kinds(made))]).to_string();
        assert!(error.contains("the field `deep` of thing has lists and maps nested more than 16 deep"), "{error}");
    }
    let deep = kinds("for _ = 1, 16 do ty = rb.list(ty) end");
    assert!(Ruleset::load(&library(&[("kinds.luau", &deep)]), "bad").is_ok());
}

/// No file alone is too large, so none is named; the one that is too large alone is named.
#[test]
fn files_that_together_exceed_a_budget_are_refused() {
    let error_of = |count: usize, text: &dyn Fn(usize) -> String| {
        let files: Vec<_> = (0..count).map(|at| (format!("tables/t{at}.luau"), text(at))).collect();
        let files: Vec<_> = files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
        load_error(&files).problems
    };
    let long_texts = |at: usize| format!("return string.rep('x', {})\n", 250_000 + at);
    let many_steps = |_: usize| "local sum = 0\nfor i = 1, 100000 do\n\tsum += i\nend\nreturn sum\n".to_owned();
    for (problems, scripts) in [(error_of(300, &long_texts), 302), (error_of(60, &many_steps), 62)] {
        let [one] = problems.as_slice() else { panic!("{problems:#?}") };
        assert_eq!((&*one.path, one.line), ("bad", None), "{one}");
        assert!(one.message.starts_with(&format!("loading its {scripts} script files (")), "{one}");
        assert!(one.message.contains(" KiB) takes more than ") && one.cure.is_some(), "{one}");
    }
    let endless = |at: usize| if at == 3 { "while true do\nend\n".to_owned() } else { "return 1\n".to_owned() };
    let problems = error_of(5, &endless);
    assert!(problems.iter().any(|one| one.path == "bad/tables/t3.luau"), "{problems:#?}");
}

/// The parser accepts it: it nests at most 1000 deep, but the tree of the chains is 100,000 deep.
#[test]
fn an_expression_that_is_nested_too_deep_is_refused_with_its_line() {
    for link in ["+a", ".a", "()", "[1]"] {
        let nested = format!("{}a{}", "(".repeat(120), format!("){}", link.repeat(600)).repeat(120));
        let text = card(&format!("local a = 1\nlocal b = {nested}"));
        let problems = load_error(&[("maneuvers/trick.luau", &text)]).problems;
        let [problem] = problems.as_slice() else { panic!("{link}: {problems:?}") };
        assert_eq!((problem.path.as_str(), problem.line), ("bad/maneuvers/trick.luau", Some(4)), "{link}");
        assert!(problem.message.starts_with("an expression is nested more than 1000 deep"), "{link}: {problem}");
        #[cfg(feature = "check")]
        {
            let library = library(&[("maneuvers/trick.luau", &text)]);
            let found = riskbreaker::check::findings(&library, "bad", &[]);
            assert!(found.iter().any(|found| found.message.contains("nested more than 1000 deep")), "{found:?}");
        }
    }
}

#[test]
fn a_file_that_does_not_read_as_luau_is_the_only_one_to_blame() {
    let play = "local rb = require('@riskbreaker')\nlocal s = `{{}}`\nreturn rb.play({ start = function() end })";
    let problems = load_error(&[("play.luau", play)]).problems;
    let [one] = problems.as_slice() else { panic!("{problems:#?}") };
    assert_eq!((&*one.path, one.line), ("bad/play.luau", Some(2)), "{one}");
}

#[test]
fn all_problems_are_reported_at_once() {
    let broken = "local rb = require('@riskbreaker')\nreturn rb.maneuver({ id = 'a', resolv = 1 })";
    let error =
        load_error(&[("maneuvers/a.luau", broken), ("maneuvers/b.luau", "return 5"), ("hooks/c.luau", "return nil")]);
    let paths: Vec<&str> = error.problems.iter().map(|problem| problem.path.as_str()).collect();
    for path in ["bad/maneuvers/a.luau", "bad/maneuvers/b.luau", "bad/hooks/c.luau"] {
        assert!(paths.contains(&path), "{paths:?}");
    }
}

/// A local that outlives the call would make a saved game load differently.
#[test]
fn an_upvalue_that_is_assigned_after_loading_is_refused_with_its_line() {
    let rb = "local rb = require('@riskbreaker')\n";
    let maneuver = |body: &str| format!("{rb}{body}");
    for (path, text, name, line) in [
        (
            "maneuvers/a.luau",
            "local n = 0\nreturn rb.maneuver({ id = 'a', resolve = function()\n\tn += 1\nend })",
            "n",
            4,
        ),
        (
            "maneuvers/a.luau",
            "local seen\nlocal function note(x)\n\tseen = x\nend\nreturn rb.maneuver({ id = 'a', resolve = function(ctx) note(ctx) end })",
            "seen",
            4,
        ),
        // Through a function created in the call, and one created at load.
        (
            "maneuvers/a.luau",
            "local n\nreturn rb.maneuver({ id = 'a', resolve = function(ctx)\n\tlocal f = function() n = 1 end\n\tf()\nend })",
            "n",
            4,
        ),
        (
            "maneuvers/a.luau",
            "local function counter()\n\tlocal n = 0\n\treturn function() n += 1 return n end\nend\n\
             local count = counter()\nreturn rb.maneuver({ id = 'a', resolve = function() count() end })",
            "n",
            4,
        ),
        ("lib/a.luau", "local n = 0\nlocal m = {}\nfunction m.next()\n\tn = n + 1\n\treturn n\nend\nreturn m", "n", 5),
    ] {
        let error = load_error(&[(path, &maneuver(text))]);
        let problem = &error.problems[0];
        assert_eq!((problem.path.as_str(), problem.line), (&*format!("bad/{path}"), Some(line)), "{text}: {error}");
        assert!(problem.message.contains(&format!("`{name}`")) && problem.cure.is_some(), "{text}: {error}");
        assert_eq!(error.problems.len(), 1, "{error}");
    }
}

#[test]
fn locals_of_one_call_and_of_loading_are_free() {
    for body in [
        "local best = 0\nlocal function look(n) best = math.max(best, n) end\nlook(3)\nctx.thing:add('n', best)",
        "local n = 0\nlocal f = function() n += 1 return n end\nctx.thing:add('n', f() + f())",
        "table.sort({ 3, 1 }, function(a, b) ctx = ctx return a < b end)\nctx.thing:add('n', 3)",
    ] {
        let fault = fault_of(&format!("{body}\nerror('n is ' .. ctx.thing.n)"));
        assert_eq!(fault.message, "n is 3", "{body}");
    }
    // A counter of the file that no function of the card reaches.
    let text = "local rb = require('@riskbreaker')\nlocal n = 0\nlocal function next_number() n += 1 return n end\n\
                return rb.maneuver({ id = 'a', text = 'Number ' .. next_number(), resolve = function() end })";
    Ruleset::load(&library(&[("maneuvers/a.luau", text)]), "bad").unwrap();
}

/// A frozen table may contain another one that is not frozen.
#[test]
fn a_captured_table_is_frozen_to_its_depth() {
    for table in ["{ inner = {} }", "table.freeze({ inner = {} })", "table.freeze({ deep = { inner = {} } }).deep"] {
        let text = format!(
            "local rb = require('@riskbreaker')\nlocal kept = {table}\n\
             return rb.maneuver({{ id = 'trick', resolve = function(ctx) kept.inner.n = 1 end }})"
        );
        let library = library(&[("maneuvers/trick.luau", &text)]);
        let rules = Ruleset::load(&library, "bad").unwrap();
        let mut session = Session::start(&rules, Setup::table(Value::map::<&str>([]))).unwrap();
        assert_eq!(session.advance().unwrap(), Step::Ask);
        let question = session.questions()[0].clone();
        session.answer(question.id, question.read(&"trick".into()).unwrap()).unwrap();
        let Step::Fault(fault) = session.advance().unwrap() else { panic!("`{table}` was changed") };
        assert!(fault.message.contains("readonly"), "{table}: {fault}");
    }
}

#[test]
fn no_loop_runs_over_keys_whose_order_depends_on_addresses() {
    for (line, keys) in [
        (2, "local t = { [ctx.thing] = 1 }\nfor thing in t do end"),
        (2, "local t = { [ctx.thing] = 1 }\nfor thing in pairs(t) do end"),
        (2, "local t = { [ctx.thing] = 1 }\nfor thing in next, t do end"),
        (3, "local t = { [ctx.thing] = 1 }\nlocal step, over, first = pairs(t)\nfor thing in step, over, first do end"),
        (2, "local t = { [ctx.thing] = 1 }\nlocal first = next(t)"),
        // The first key is a text; its position depends on the others.
        (2, "local t = { a = 1, b = 2, [ctx.thing] = 3 }\nfor name in t do break end"),
        (3, "local t = { 1, 2, 3 }\nt[function() end] = 4\nfor at in t do break end"),
        (2, "local t = { [{}] = 1, [true] = 2 }\nfor key in t do end"),
        (2, "local t = { [false] = 2 }\nfor key in t do end"),
        (3, "local t = table.clone({ [ctx.thing] = 1 })\ntable.freeze(t)\nfor key in t do end"),
        (4, "local t = {}\nfor i = 1, 9 do t[i] = i end\nt[ctx.thing] = 1\nfor key in t do end"),
    ] {
        let fault = fault_of(keys);
        assert!(fault.message.contains("neither numbers nor texts"), "{keys}: {fault}");
        assert_eq!(fault.line, Some(line + 2), "{keys}: {fault}");
        assert!(fault.cure.as_ref().is_some_and(|cure| cure.contains("entity.id")), "{keys}: {fault:?}");
    }
    let fault = fault_of("for name in next, ctx.thing do end");
    assert!(fault.message.contains("differ from run to run") && fault.line == Some(3), "{fault}");
    assert!(fault.cure.as_ref().is_some_and(|cure| cure.contains("in entity do")), "{fault:?}");
    // At load, too, with file and line.
    let text = "local rb = require('@riskbreaker')\nlocal t = { [{}] = 1 }\nfor key in t do end\nreturn rb.maneuver({ id = 'a', resolve = function() end })";
    let error = load_error(&[("maneuvers/a.luau", text)]);
    let problem = &error.problems[0];
    assert_eq!((problem.path.as_str(), problem.line), ("bad/maneuvers/a.luau", Some(3)), "{error}");
    assert!(problem.cure.is_some(), "{error}");
}

#[test]
fn tables_keyed_by_entities_allow_lookups_but_no_loops() {
    for body in [
        "local seen = { [ctx.thing] = 3 }\nctx.thing:add('n', seen[ctx.thing])",
        // A removed key does not count.
        "local t = { a = 1, b = 2 }\nt[ctx.thing] = 1\nt[ctx.thing] = nil\nfor _, n in t do ctx.thing:add('n', n) end",
        "for key, n in { 1, a = 1, [0.5] = 1 } do ctx.thing:add('n', n) end",
        "for _ in {} do end for _ in pairs({}) do end ctx.thing:add('n', next({}) == nil and 3 or 0)",
        "for at, n in ipairs({ 1, 2, [ctx.thing] = 7 }) do ctx.thing:add('n', n) end",
        "for _, n in { 1, 2, nil } do ctx.thing:add('n', n) end",
        "local n = 0 for name in ctx.thing do n += 1 end for name in pairs({ 1, 2, 3 }) do ctx.thing:add('n', 1) end",
        // An entity is iterated completely, however much of it was read before.
        "local all, read = 0, ctx.thing.n for _ in ctx.thing do all += 1 end for _ in pairs(ctx.thing) do all -= 1 end
         if all == 0 and next(ctx.thing, next(ctx.thing)) then ctx.thing:add('n', 3) end",
    ] {
        let fault = fault_of(&format!("{body}\nerror('n is ' .. ctx.thing.n)"));
        assert_eq!(fault.message, "n is 3", "{body}");
    }
}

/// A text or table exists once in the script, but the host would store it for every declaration.
#[test]
fn a_shared_declaration_counts_in_each_place() {
    let vocabulary = "local rb = require('@riskbreaker') local long, made = ('x'):rep(200000), {}";
    let kinds = |ty: &str| {
        format!(
            "{vocabulary} local ty = {ty} for i = 1, 4000 do made['f' .. i] = ty end \
             return rb.kinds({{ thing = {{ fields = made }} }})"
        )
    };
    let many = |each: &str| format!("{vocabulary} for i = 1, 4000 do made[i] = {each} end");
    let card = |facts: &str| format!("return rb.maneuver({{ id = 'trick', resolve = function() end, {facts} }})");
    let texts = "(function() local l = {} for i = 1, 4000 do l[i] = 'value' .. i end return l end)()";
    for (path, text) in [
        ("kinds.luau", kinds(&format!("rb.enum({texts})"))),
        ("kinds.luau", kinds("rb.int({ label = long })")),
        ("kinds.luau", kinds(&format!("rb.int({{ audience = {texts} }})"))),
        ("verbs.luau", many("long") + " return rb.verbs({ poke = rb.verb(made, function() end) })"),
        (
            "play.luau",
            many("{ title = long, show = function() end }")
                + " local views = {} for i, view in made do views['v' .. i] = view end \
                   return rb.play({ start = function() end, views = views })",
        ),
        ("maneuvers/trick.luau", format!("{} {}", many("long"), card("rules = made"))),
        (
            "maneuvers/trick.luau",
            format!(
                "{vocabulary} for _ = 1, 12 do local around = {{}} \
                 for i = 1, 4 do around[long .. i] = made end made = around end {}",
                card("data = made")
            ),
        ),
    ] {
        let problems = load_error(&[(path, &text)]).problems;
        let [one] = problems.as_slice() else { panic!("{text}: {} problems", problems.len()) };
        assert!(one.path == "bad" && one.message.ends_with("MiB of memory"), "{text}: {one}");
    }
}

#[test]
fn the_number_of_reported_problems_is_limited() {
    let verbs = "local rb = require('@riskbreaker') local made = {} for i = 1, 5000 do made[i] = i .. '!' end \
                 return rb.verbs({ poke = rb.verb(made, function() end) })";
    let problems = load_error(&[("verbs.luau", verbs)]).problems;
    assert_eq!(problems.len(), 1_000);
}

#[test]
fn bytecode_and_binary_files_are_not_run() {
    for bytes in [&b"\x06\x03\x00garbage"[..], b"\x00\x01\x02", b"return '\xff\xfe'", b"return '\xe2\x80\xae'"] {
        let files = [
            ("bad/ruleset.toml", MANIFEST.as_bytes()),
            ("bad/kinds.luau", KINDS.as_bytes()),
            ("bad/play.luau", PLAY.as_bytes()),
            ("bad/maneuvers/a.luau", bytes),
        ];
        let library = Library::from_files(files.map(|(path, bytes)| (path.to_string(), bytes.to_vec())));
        let error = Ruleset::load(&library, "bad").expect_err("it must not load");
        assert!(error.to_string().contains("bad/maneuvers/a.luau"), "{error}");
    }
}

#[test]
fn layers_change_lower_declarations_and_keep_their_origin() {
    let verbs = "local rb = require('@riskbreaker') return rb.verbs({ grow = rb.verb({ 'thing', 'n' }, function(thing, n) thing:add('n', n) end) })";
    let grow = card("rb.act.grow(ctx.thing, 1)");
    let house = |id: &str, files: &[(&str, &str)]| {
        let manifest = format!("id = \"{id}\"\ntitle = \"{id}\"\nversion = \"1.0.0\"\n");
        let mut all = vec![(format!("{id}/ruleset.toml"), manifest.into_bytes())];
        all.extend(files.iter().map(|(path, text)| (format!("{id}/{path}"), text.as_bytes().to_vec())));
        Library::from_files(all)
    };
    let wrap = "local rb = require('@riskbreaker') return rb.verbs({ grow = rb.wrapped(function(below, thing, n) return below(thing, n * 3) end) })";
    let extend =
        "local rb = require('@riskbreaker') return rb.extend(rb.maneuver({ id = 'trick', title = 'Great trick' }))";
    let base = library(&[("verbs.luau", verbs), ("maneuvers/trick.luau", &grow)]);
    let library = Library::overlay(house("big", &[("verbs.luau", wrap), ("maneuvers/trick.luau", extend)]), base);
    let rules = Ruleset::load_with(&library, "bad", &["big".into()]).unwrap_or_else(|error| panic!("{error}"));
    let trick = rules.card("trick").unwrap();
    assert_eq!(&*trick.title, "Great trick");
    assert_eq!(trick.origins["title"], "big/maneuvers/trick.luau");
    assert_eq!(trick.origins["resolve"], "bad/maneuvers/trick.luau");
    let mut session = Session::start(&rules, Setup::table(Value::map::<&str>([]))).unwrap();
    let _ = session.advance().unwrap();
    let _ = session.reply(&[("card".into(), "trick".into())]).unwrap();
    let thing = session.view().find("it").unwrap();
    assert_eq!(session.view().field(thing, "n"), Some(&Value::Int(3)));

    // Redeclaring it without `replace` is a clash that names both files, and so are two layers without an order.
    let plain = "local rb = require('@riskbreaker') return rb.verbs({ grow = rb.verb({ 'thing' }, function() end) })";
    let clash = Library::overlay(house("clash", &[("verbs.luau", plain)]), library.clone());
    let error = Ruleset::load_with(&clash, "bad", &["clash".into()]).unwrap_err().to_string();
    assert!(error.contains("clash/verbs.luau") && error.contains("already declared in bad/verbs.luau"), "{error}");
    let second = Library::overlay(house("other", &[("maneuvers/trick.luau", extend)]), library);
    let error = Ruleset::load_with(&second, "bad", &["big".into(), "other".into()]).unwrap_err().to_string();
    assert!(error.contains("big/maneuvers/trick.luau") && error.contains("other/maneuvers/trick.luau"), "{error}");
    assert!(error.contains("after ="), "{error}");
}

#[test]
fn an_item_and_a_hook_of_one_id_are_refused() {
    let declared = |what: &str| {
        format!("local rb = require('@riskbreaker') return rb.{what}({{ id = 'cloak', title = 'Cloak' }})")
    };
    let (item, hook) = (declared("item"), declared("hook").replace(", title = 'Cloak'", ", before = {}"));
    let error = Ruleset::load(&library(&[("items/cloak.luau", &item), ("hooks/cloak.luau", &hook)]), "bad");
    let error = error.unwrap_err().to_string();
    assert!(error.contains("`cloak` is already declared as rb.hook, in bad/hooks/cloak.luau"), "{error}");
}

#[test]
fn a_question_may_check_its_answer() {
    let text = card(
        "local n = rb.number({ seat = 'players', topic = 'even', min = 0, max = 9, check = function(n) return n % 2 == 0, `{n} is odd` end })\nctx.thing:set('n', n)",
    );
    let rules = Ruleset::load(&library(&[("maneuvers/trick.luau", &text)]), "bad").unwrap();
    let mut session = Session::start(&rules, Setup::table(Value::map::<&str>([]))).unwrap();
    let _ = session.advance().unwrap();
    let before = (session.state_bytes(), session.save());
    let refusal = session.reply(&[("card".into(), "trick".into()), ("even".into(), 3.into())]).unwrap_err();
    assert_eq!(refusal.to_string(), "even: 3 is odd");
    assert_eq!((session.state_bytes(), session.save()), before);
    let _ = session.reply(&[("card".into(), "trick".into())]).unwrap();
    let question = session.questions()[0].clone();
    session.answer(question.id, question.read(&3.into()).unwrap()).unwrap();
    assert_eq!(session.advance().unwrap(), Step::Ask);
    assert_eq!(&*session.questions()[0].topic, "even");
    assert_eq!(session.decisions(), 1);
    let _ = session.reply(&[("even".into(), 4.into())]).unwrap();
    let thing = session.view().find("it").unwrap();
    assert_eq!(session.view().field(thing, "n"), Some(&Value::Int(4)));
}

/// An act in between changes what an action asks: a waiting slot of the tape must not be filled by asking another seat.
#[test]
fn an_open_place_goes_to_the_driver_of_the_seat_that_is_asked_now() {
    let play = PLAY.replace(
        "local card = rb.choose",
        "if thing.n == 0 then rb.line({ seat = 'players', topic = 'word', about = thing }) else rb.line({ seat = 'gm', topic = 'other', default = 'x' }) end\n\t\tlocal card = rb.choose",
    );
    let manifest = format!("{MANIFEST}gm = \"The referee\"\n");
    let files = [("ruleset.toml", manifest.as_str()), ("play.luau", play.as_str()), ("maneuvers/honest.luau", HONEST)];
    let rules = Ruleset::load(&library(&files), "bad").unwrap();
    let setup = Setup::table(Value::map::<&str>([])).seat("gm", riskbreaker::Driver::Absent);
    let mut session = Session::start(&rules, setup).unwrap();
    let _ = session.advance().unwrap();
    assert_eq!(&*session.questions()[0].topic, "word");
    let thing = session.view().find("it").unwrap();
    session.edit(riskbreaker::Edit::Set { entity: thing, field: "n".into(), value: 1.into() }).unwrap();
    let _ = session.advance().unwrap();
    assert_eq!(&*session.questions()[0].topic, "card");
}

/// `BODY` is a recurring entry that rolls; nobody is asked.
const SPIN: &str = r#"local rb = require("@riskbreaker")
return rb.play({
	start = function(scenario)
		local thing = rb.spawn("thing", {})
		rb.schedule("turn", 1, thing)
		if scenario.spins then
			rb.schedule("spin", 0, thing)
		end
	end,
	entries = {
		turn = function(thing)
			rb.schedule("turn", 1, thing)
			rb.confirm({ seat = "players", topic = "go" })
		end,
		spin = function(thing)
			rb.roll("1d6", "spin")
			rb.schedule("spin", 0, thing)
			BODY
		end,
	},
})"#;

fn spinning(body: &str) -> Library {
    library(&[("play.luau", &SPIN.replace("BODY", body)), ("maneuvers/honest.luau", HONEST)])
}

fn spun(rules: &std::sync::Arc<Ruleset>, spins: bool) -> Session {
    Session::start(rules, Setup::table(Value::map([("spins", Value::Bool(spins))]))).unwrap()
}

#[test]
fn a_game_that_asks_nobody_stops_and_lets_others_play_meanwhile() {
    let library = spinning("for _ = 1, 200000 do end");
    let rules = Ruleset::shared_on(Machines::Threads(1), &library, "bad", &[]).unwrap();
    let endless = rules.clone();
    let (tell, told) = std::sync::mpsc::channel();
    let other = std::thread::spawn(move || {
        let mut session = spun(&endless, true);
        tell.send(()).unwrap();
        let step = session.advance().unwrap();
        (session, step, Instant::now())
    });
    told.recv().unwrap();
    let mut session = spun(&rules, false);
    for _ in 0..10 {
        assert_eq!(session.advance().unwrap(), Step::Ask);
        let question = session.questions()[0].id;
        session.answer(question, riskbreaker::Answer::Confirm(true)).unwrap();
    }
    let done = Instant::now();
    let (mut session, step, stopped) = other.join().unwrap();
    assert!(done < stopped, "it waited for the one that never ends");
    let Step::Fault(fault) = step else { panic!("{step:?}") };
    assert!(fault.message.contains("without a decision by a person; the next entry is `spin`"), "{fault}");
    // A retry allows the same limit again, and other loops have their own limits.
    session.remedy(Remedy::Retry).unwrap();
    assert_eq!(session.advance_by(5).unwrap(), Step::Ask);
}

#[test]
fn a_game_that_grows_without_end_stops() {
    for (body, quiet) in [
        ("rb.schedule(\"turn\", 9, nil, table.create(9000, 1))", false),
        ("rb.spawn(\"thing\", { all = table.create(9000, 1) })", true),
        ("rb.spawn(\"thing\", { name = string.rep(\"x\", 60000) })", true),
    ] {
        let rules = Ruleset::load(&spinning(body), "bad").unwrap();
        let mut session = spun(&rules, true);
        session.set_headless(quiet);
        let step = session.advance().unwrap();
        let Step::Fault(fault) = step else { panic!("{body}: {step:?}") };
        assert!(fault.message.contains("64 MiB"), "{body}: {fault}");
        assert!(session.actions() < 3_000, "{body}: {}", session.actions());
    }
}

#[test]
fn values_computed_for_many_entities_share_one_budget() {
    let entries = "turn = { run = function() end, key = function() for _ = 1, 20000 do end return 1 end },";
    let play =
        PLAY.replace("entries = { turn = function(thing)", &format!("entries = {{ {entries} turns = function(thing)"));
    let play = play.replace(
        "rb.schedule(\"turn\", 1, rb.spawn",
        "for n = 1, 3000 do rb.schedule(\"turn\", n) end\n\trb.schedule(\"turns\", 0, rb.spawn",
    );
    let rules = Ruleset::load(&library(&[("play.luau", &play), ("maneuvers/honest.luau", HONEST)]), "bad").unwrap();
    let mut session = Session::start(&rules, Setup::table(Value::map::<&str>([]))).unwrap();
    let step = session.advance().unwrap();
    let Step::Fault(fault) = step else { panic!("{step:?}") };
    assert!(fault.message.contains("the script"), "{fault}");

    let act = |n: usize| {
        format!(
            "a{n} = {{ title = \"A\", when = function() for _ = 1, 400000 do end return true end, run = function() end }},"
        )
    };
    let acts: String = (0..200).map(act).collect();
    let play = PLAY.replace("entries = {", &format!("free = {{ {acts} }},\n\tentries = {{"));
    let rules = Ruleset::load(&library(&[("play.luau", &play), ("maneuvers/honest.luau", HONEST)]), "bad").unwrap();
    let mut session = Session::start(&rules, Setup::table(Value::map::<&str>([]))).unwrap();
    assert_eq!(session.advance().unwrap(), Step::Ask);
    let acts = session.free_acts();
    let open = acts.iter().filter(|act| act.enabled).count();
    assert!(acts.len() == 200 && (1..20).contains(&open), "{open} of {}", acts.len());
}
