//! A corpus of hostile and broken scripts, `tests/hostile/`, by the place where they run: each is stopped within its
//! budget and reported by file and line, the state of the game is unchanged, the next action plays, and the process
//! stays small.

mod bad;
#[path = "hostile/families.rs"]
mod families;
mod parallel;
#[path = "hostile/places.rs"]
mod places;

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::io::Write as _;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use bad::{HONEST, KINDS, PLAY};
use parallel::on_every_core;
use riskbreaker::check::findings;
use riskbreaker::lab::{Limits, MemoUse, Position, Simulation, Variant};
use riskbreaker::spec::{SpecSource, run_specs};
use riskbreaker::{Driver, Edit, EntityId, Fault, Library, Remedy, Ruleset, Session, Setup, Step, Value};

const MANIFEST: &str = r#"id = "bad"
title = "Bad"
version = "1.0.0"
scenario = "plain"
[seats]
players = "All"
[switches.mode]
values = ["one", "other"]
text = "A mode."
"#;

const VERBS: &str = r#"local rb = require("@riskbreaker")
return rb.verbs({
	poke = rb.verb({ "thing" }, function(thing) end),
	dive = rb.verb({ "thing" }, function(thing) rb.act.dive(thing) end),
})"#;

/// A card that runs the hostile script.
const TRICK: &str = r#"local rb = require("@riskbreaker")
return rb.maneuver({ id = "trick", when = function(ctx)
WHEN
end, resolve = function(ctx)
BODY
end })"#;

const CURSE: &str = r#"local rb = require("@riskbreaker")
return rb.hook({ id = "curse", before = { poke = function(e, holder)
BODY
end } })"#;

const POLICY: &str = r#"local rb = require("@riskbreaker")
return rb.policy({ id = "odd", answer = function(q)
BODY
end })"#;

const STEADY: &str = r#"local rb = require("@riskbreaker")
return rb.policy({ id = "steady", answer = function(q) return "trick" end })"#;

/// The scripts of one place: name and text.
fn corpus(place: &str) -> Vec<(String, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/hostile").join(place);
    let mut scripts: Vec<(String, String)> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| {
            let path = entry.unwrap().path();
            (path.file_stem().unwrap().to_string_lossy().into_owned(), std::fs::read_to_string(path).unwrap())
        })
        .collect();
    scripts.sort();
    scripts
}

/// A small ruleset with hostile parts.
fn library(parts: &[(&str, &str)]) -> Library {
    Library::from_files(files(parts).into_iter().map(|(path, text)| (path, text.into_bytes())).collect::<Vec<_>>())
}

/// The files of the ruleset, by path.
fn files(parts: &[(&str, &str)]) -> BTreeMap<String, String> {
    let part = |name: &str, or: &str| -> String {
        parts.iter().find(|(known, _)| *known == name).map_or(or, |(_, text)| *text).to_string()
    };
    let mut files: BTreeMap<String, String> = BTreeMap::new();
    let mut put = |path: &str, text: String| files.insert(format!("bad/{path}"), text);
    put("ruleset.toml", MANIFEST.into());
    put("kinds.luau", KINDS.replace("return self.n * 2", &part("derived", "return self.n * 2")));
    put("verbs.luau", VERBS.into());
    put("play.luau", PLAY.into());
    put("scenarios/plain.toml", "title = \"Plain\"".into());
    put("maneuvers/honest.luau", HONEST.into());
    let trick = TRICK.replace("WHEN", &part("when", "return true")).replace("BODY", &part("card", ""));
    put("maneuvers/trick.luau", part("load", &trick));
    put("hooks/curse.luau", CURSE.replace("BODY", &part("hook", "")));
    put("policies/odd.luau", POLICY.replace("BODY", &part("policy", "return \"honest\"")));
    put("policies/steady.luau", STEADY.into());
    files
}

/// The memory of the process in bytes, current or peak; `None` if the system does not report it.
fn resident(which: &str) -> Option<usize> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with(which))?;
    Some(line.split_whitespace().nth(1)?.parse::<usize>().ok()? << 10)
}

/// Resets the peak memory of the process, if the system allows it.
fn forget_peak() {
    let _ = std::fs::write("/proc/self/clear_refs", "5");
}

/// The results for the corpus: the times of single scripts, and the failures.
#[derive(Default)]
struct Judged {
    times: Vec<(Duration, String)>,
    /// The growth of the process after each script, and its peak.
    grown: Vec<(usize, String)>,
    most: usize,
    wrong: Vec<String>,
}

impl Judged {
    /// Runs a judge for every script of a place.
    fn each(&mut self, place: &str, mut judge: impl FnMut(&str, &str)) {
        for (name, text) in corpus(place) {
            let before = resident("VmRSS").unwrap_or(0);
            forget_peak();
            let begun = Instant::now();
            let judged = catch_unwind(AssertUnwindSafe(|| judge(&name, &text)));
            self.times.push((begun.elapsed(), format!("{place}/{name}")));
            let most = resident("VmHWM").unwrap_or(0);
            self.grown.push((most.saturating_sub(before), format!("{place}/{name}")));
            self.most = self.most.max(most);
            if let Err(panic) = judged {
                let why = panic.downcast_ref::<String>().cloned().unwrap_or_default();
                self.wrong.push(format!("{place}/{name}: {why}"));
            }
        }
    }
}

fn started(rules: &std::sync::Arc<Ruleset>) -> (Session, Vec<u8>) {
    let mut session = Session::start(rules, Setup::table(Value::map::<&str>([]))).unwrap();
    assert_eq!(session.advance().unwrap(), Step::Ask);
    let before = session.state_bytes();
    (session, before)
}

fn thing(session: &Session) -> EntityId {
    session.view().find("it").unwrap()
}

fn choose(session: &mut Session, card: &str) -> Result<Step, String> {
    let question = session.questions().first().ok_or("nothing is asked")?.clone();
    let answer = question.read(&card.into()).map_err(|refusal| refusal.to_string())?;
    session.answer(question.id, answer).map_err(|refusal| refusal.to_string())?;
    session.advance().map_err(|error| error.to_string())
}

/// Checks that the honest card plays as if nothing had happened.
fn plays_on(session: &mut Session, before: &[u8], name: &str) {
    assert_eq!(session.state_bytes(), before, "{name} left something");
    assert_eq!(choose(session, "honest"), Ok(Step::Ask), "{name}");
    let it = thing(session);
    assert_eq!(session.view().field(it, "n"), Some(&Value::Int(1)), "{name}");
}

/// Checks that a fault has a location, and is one line without control characters.
fn is_told(fault: &Fault, name: &str) {
    assert!(fault.path.as_ref().is_some_and(|path| path.starts_with("bad/")), "{name}: {fault:?}");
    assert!(fault.line.is_some(), "{name}: {fault:?}");
    assert!(!fault.message.is_empty() && fault.message.chars().count() <= 600, "{name}: {fault:?}");
    let texts = fault.cure.iter().chain(fault.source_line.iter()).chain([&fault.message]);
    assert!(texts.clone().all(|text| !text.contains(|c: char| c.is_control() && c != '\t')), "{name}: {fault:?}");
    assert!(!fault.message.contains("0x"), "{name}: {fault:?}");
}

/// Plays the trick and returns its fault, in a game with people and in a simulated one.
fn tried(parts: &[(&str, &str)], name: &str) -> Option<Fault> {
    let rules = Ruleset::load(&library(parts), "bad").unwrap_or_else(|error| panic!("{name}: {error}"));
    let (mut session, before) = started(&rules);
    let step = choose(&mut session, "trick").unwrap_or_else(|error| panic!("{name}: {error}"));
    let fault = match step {
        Step::Fault(fault) => Some(fault),
        _ => None,
    };
    session.undo().unwrap();
    assert_eq!(session.advance().unwrap(), Step::Ask, "{name}");
    plays_on(&mut session, &before, name);

    let quiet = Setup::table(Value::map::<&str>([])).seat("players", Driver::Policy("steady".into()));
    let mut session = Session::start(&rules, quiet).unwrap();
    session.set_headless(true);
    if fault.is_some() {
        let Step::Fault(again) = session.advance().unwrap() else { panic!("{name}: not stopped in a simulation") };
        assert!(!again.message.is_empty(), "{name}");
    }
    fault
}

/// Scripts that turn out to be harmless.
const HARMLESS: &[&str] = &["garbage_band", "returns_odd"];

/// Held during tests that measure the whole process.
static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

#[test]
fn every_script_is_contained() {
    let _alone = ONE_AT_A_TIME.lock();
    let rules = Ruleset::load(&library(&[]), "bad").unwrap();
    started(&rules);
    let base = resident("VmRSS");
    let (mut judged, mut harmless) = (Judged::default(), Vec::new());

    judged.each("card", |name, body| match tried(&[("card", body)], name) {
        Some(fault) => is_told(&fault, name),
        None => harmless.push(name.to_string()),
    });

    judged.each("when", |name, body| {
        let rules = Ruleset::load(&library(&[("when", body)]), "bad").unwrap();
        let mut session = Session::start(&rules, Setup::table(Value::map::<&str>([]))).unwrap();
        let step = session.advance().unwrap();
        let Step::Fault(fault) = step else { panic!("{step:?}") };
        is_told(&fault, name);
        assert!(session.remedy(Remedy::Retry).is_ok());
        assert!(matches!(session.advance().unwrap(), Step::Fault(_)), "it stood after a second try");
        // If it is disabled by name, the card is greyed, and the game continues.
        session.edit(Edit::LeaveOut { name: "trick".into() }).unwrap();
        assert_eq!(session.advance().unwrap(), Step::Ask);
        assert_eq!(choose(&mut session, "honest"), Ok(Step::Ask));
    });

    judged.each("derived", |name, body| {
        let rules = Ruleset::load(&library(&[("derived", body)]), "bad").unwrap();
        let (mut session, before) = started(&rules);
        let it = thing(&session);
        let found = session.derived(it, "double", &[]);
        assert!(found.is_err(), "{found:?}");
        assert!(session.why(it, "double").is_err());
        plays_on(&mut session, &before, name);
    });

    judged.each("hook", |name, body| {
        let card = "rb.attach(\"curse\", ctx.thing)\nrb.act.poke(ctx.thing)";
        match tried(&[("hook", body), ("card", card)], name) {
            Some(fault) => is_told(&fault, name),
            None => harmless.push(name.to_string()),
        }
    });

    judged.each("policy", |name, body| {
        let rules = Ruleset::load(&library(&[("policy", body)]), "bad").unwrap();
        let (mut session, before) = started(&rules);
        let question = session.questions()[0].id;
        let found = session.suggest(question, "odd");
        assert!(found.is_err(), "{found:?}");
        assert_eq!(session.advance().unwrap(), Step::Ask);
        plays_on(&mut session, &before, name);
        session.set_seat("players", Driver::Policy("odd".into())).unwrap();
        assert!(matches!(session.advance().unwrap(), Step::Fault(_)));
        session.set_seat("players", Driver::Human).unwrap();
        session.remedy(Remedy::Retry).unwrap();
        assert_eq!(session.advance().unwrap(), Step::Ask);
    });

    judged.each("load", |_, text| {
        let library = library(&[("load", text)]);
        let Err(error) = Ruleset::load(&library, "bad") else { panic!("it loads") };
        assert!(error.problems.iter().any(|problem| problem.path.starts_with("bad/maneuvers/")), "{error}");
        assert!(!findings(&library, "bad", &[]).is_empty());
    });

    judged.each("spec", |name, text| {
        let source = SpecSource { path: format!("specs/{name}.luau"), text: text.to_string() };
        let told = run_specs(&library(&[]), "bad", &[], vec![source], None).unwrap();
        assert!(!told.is_green(), "{told:?}");
    });

    judged.times.sort();
    judged.times.reverse();
    for (time, name) in judged.times.iter().take(8) {
        println!("{name}: {} ms", time.as_millis());
    }
    judged.grown.sort();
    judged.grown.reverse();
    for (grown, name) in judged.grown.iter().take(8) {
        println!("{name}: {} MiB", grown >> 20);
    }
    let grown = base.map(|base| judged.most.saturating_sub(base) >> 20);
    let left = base.zip(resident("VmRSS")).map(|(base, now)| now.saturating_sub(base) >> 20);
    println!(
        "{} scripts; grown by {grown:?} MiB at the most, {left:?} in the end; harmless: {harmless:?}",
        judged.times.len()
    );
    assert!(judged.wrong.is_empty(), "{:#?}", judged.wrong);
    assert!(judged.times.len() >= 200);
    assert_eq!(harmless, HARMLESS);
    // A generous bound, since tests share their machine: the budget is counted in work, and in processor time.
    assert!(judged.times[0].0 < Duration::from_secs(20), "{:?}", judged.times[0]);
    assert!(judged.grown[0].0 >> 20 <= MOST_GROWN, "the process has grown by {:?}", judged.grown[0]);
    assert!(grown.is_none_or(|grown| grown <= MOST_GROWN), "the process has grown by {grown:?} MiB");
}

/// The memory in MiB that the process may gain: a machine may have 32, the host's data of an action are added, and
/// nothing of one script may remain when the next begins.
const MOST_GROWN: usize = 64;

/// Many games at once, and every course of a card, each with its own table: together they need no more memory than one.
#[test]
fn scripts_with_high_memory_use_are_contained_in_simulations_and_odds() {
    let _alone = ONE_AT_A_TIME.lock();
    let rules = Ruleset::load(&library(&[]), "bad").unwrap();
    started(&rules);
    let base = resident("VmRSS");
    let mut judged = Judged::default();
    judged.each("card", |name, body| {
        if !name.starts_with("memory_") && !["loop_rolls", "loop_spawns", "native_options"].contains(&name) {
            return;
        }
        let rules = Ruleset::load(&library(&[("card", body)]), "bad").unwrap();
        let setup = Setup::table(Value::map::<&str>([])).seat("players", Driver::Policy("steady".into()));
        let variant = Variant { name: "it".into(), rules: rules.clone(), setup, ahead: Default::default() };
        let plan = simulation(variant, 3, 50, MemoUse::default());
        let findings = plan.run(3, None, None, &mut |_, _| true).unwrap();
        assert_eq!(findings.tallies[0].left_out.len(), 3, "{name}");
        let position = Position { card: "trick".into(), ..Position::default() };
        let begun = Instant::now();
        let told = position.odds(&rules);
        println!("odds of {name}: {} ms", begun.elapsed().as_millis());
        assert!(told.is_err(), "{name}: {told:?}");
    });
    judged.grown.sort();
    judged.grown.reverse();
    for (grown, name) in judged.grown.iter().take(5) {
        println!("{name}: {} MiB", grown >> 20);
    }
    let grown = base.map(|base| judged.most.saturating_sub(base) >> 20);
    println!("grown by {grown:?} MiB at the most");
    assert!(judged.wrong.is_empty(), "{:#?}", judged.wrong);
    // Odds also store states for comparison.
    let most = MOST_GROWN + (Limits::default().bytes >> 20);
    assert!(grown.is_none_or(|grown| grown <= most), "the process has grown by {grown:?} MiB");
}

/// Runs every script of the families in a game, and in turns also in a check, a simulation, a spec, and where scripts
/// may only read. `RISKBREAKER_ALL=1` runs each in all of them.
#[test]
fn families_of_scripts_are_contained() {
    let _alone = ONE_AT_A_TIME.lock();
    let everywhere = std::env::var_os("RISKBREAKER_ALL").is_some();
    let scripts = families::all();
    assert!(scripts.len() >= 200, "{} scripts", scripts.len());
    let honest = Ruleset::load(&library(&[]), "bad").unwrap();
    started(&honest);
    let scripts: Vec<_> = scripts.iter().enumerate().collect();
    let (mut times, mut wrong) = (Vec::new(), Vec::new());
    for (more, faults) in on_every_core(&scripts, |(at, (name, body))| in_its_places(*at, name, body, everywhere)) {
        times.extend(more);
        wrong.extend(faults);
    }
    times.sort();
    times.reverse();
    for (time, name) in times.iter().take(12) {
        println!("{name}: {} ms", time.as_millis());
    }
    println!("{} scripts, {} runs", scripts.len(), times.len());
    assert!(wrong.is_empty(), "{} wrong: {wrong:#?}", wrong.len());
    // A generous bound, since tests share their machine and are not optimized: the budget is processor time.
    assert!(times[0].0 < Duration::from_secs(20), "{:?}", times[0]);
}

/// In other places where scripts run, the fault names the exhausted budget, and the game is unchanged.
#[test]
fn every_other_place_is_contained() {
    let _alone = ONE_AT_A_TIME.lock();
    for place in places::all() {
        for (name, body) in places::BODIES {
            let begun = Instant::now();
            let told = (place.reach)(&place.library(body));
            assert!(told.contains("bad/") || told.contains("other/"), "{}, {name}: {told}", place.name);
            assert!(told.contains("budget") || told.contains("used up its memory"), "{}, {name}: {told}", place.name);
            println!("{}, {name}: {} ms", place.name, begun.elapsed().as_millis());
        }
    }
}

/// Runs one script of a family in the places whose turn it is. Returns the times and the failures.
fn in_its_places(at: usize, name: &str, body: &str, everywhere: bool) -> (Vec<(Duration, String)>, Vec<String>) {
    let (mut times, mut wrong) = (Vec::new(), Vec::new());
    let mut judge = |place: &str, run: &mut dyn FnMut()| {
        let begun = Instant::now();
        let judged = catch_unwind(AssertUnwindSafe(run));
        times.push((begun.elapsed(), format!("{place} {name}")));
        if let Err(panic) = judged {
            wrong.push(format!("{place} {name}: {}", panic.downcast_ref::<String>().cloned().unwrap_or_default()));
        }
    };
    let turn = |number: usize| everywhere || at % 4 == number;
    // A script that does not parse is refused when it is loaded, with its location.
    let mut loaded = None;
    judge("load", &mut || match Ruleset::load(&library(&[("card", body)]), "bad") {
        Ok(rules) => loaded = Some(rules),
        Err(error) => {
            assert!(error.problems.iter().all(|problem| problem.path.starts_with("bad/")), "{error}");
            assert!(error.problems[0].path.ends_with("trick.luau"), "{error}");
        }
    });
    if let Some(rules) = &loaded {
        judge("play", &mut || {
            let (mut session, before) = started(rules);
            match choose(&mut session, "trick").unwrap() {
                Step::Fault(fault) => is_told(&fault, name),
                step => assert_eq!(step, Step::Ask),
            }
            session.undo().unwrap();
            assert_eq!(session.advance().unwrap(), Step::Ask);
            plays_on(&mut session, &before, name);
        });
        if turn(0) {
            judge("sim", &mut || {
                let setup = Setup::table(Value::map::<&str>([])).seat("players", Driver::Policy("steady".into()));
                let variant = Variant { name: "it".into(), rules: rules.clone(), setup, ahead: Default::default() };
                let plan = simulation(variant, 1, 1, MemoUse::default());
                plan.run(1, None, None, &mut |_, _| true).unwrap();
            });
        }
    }
    // A check that reaches its limit takes some seconds.
    if everywhere || at % 24 == 1 {
        judge("check", &mut || drop(findings(&library(&[("card", body)]), "bad", &[])));
    }
    if turn(2) {
        judge("test", &mut || {
            let text = format!(
                "local rb = require(\"@riskbreaker\")\nrb.spec(\"it\", {{}}, function(t)\nlocal ctx = {{}}\n{body}\nend)"
            );
            let source = SpecSource { path: format!("specs/{name}.luau"), text };
            let _ = run_specs(&library(&[]), "bad", &[], vec![source], None);
        });
    }
    if turn(3) {
        for place in ["when", "derived", "policy", "load"] {
            judge(place, &mut || {
                let end = if place == "when" { "\ndo return true end" } else { "" };
                let Ok(rules) = Ruleset::load(&library(&[(place, &format!("{body}{end}"))]), "bad") else { return };
                let mut session = Session::start(&rules, Setup::table(Value::map::<&str>([]))).unwrap();
                if session.advance().unwrap() == Step::Ask {
                    let question = session.questions()[0].id;
                    let _ = session.suggest(question, "odd");
                    let it = thing(&session);
                    let _ = session.derived(it, "double", &[]);
                }
            });
        }
    }
    (times, wrong)
}

/// The operations on the rules of a place: arguments of the program and its input.
fn operations(place: &str) -> Vec<(&'static str, Vec<&'static str>, String)> {
    let message = |method: &str, params: &str| {
        let new = r#"{"jsonrpc":"2.0","id":1,"method":"table.new","params":{"table":"a","ruleset":"bad","seed":1}}"#;
        format!(
            "{new}\n{{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"{method}\",\"params\":{{\"table\":\"a\",{params}}}}}\n"
        )
    };
    let serve = |params: &str| message(params.split(' ').next().unwrap_or_default(), params.split_once(' ').unwrap().1);
    let plain = |name, words: &'static str| (name, words.split(' ').collect(), String::new());
    let served = |name, params: &str| (name, vec!["serve", "--stdio"], serve(params));
    let mut all = vec![
        plain("check", "check bad"),
        plain("types", "types bad --print"),
        plain("test", "test bad"),
        ("play", "play plain --rules bad --seed 1".split(' ').collect(), "trick\n".into()),
        plain("sim", "sim plain --rules bad --trials 1 --seat players=steady --actions 200"),
        served("serve, reply", r#"reply "pairs":[["card","trick"]]"#),
        served("serve, odds", r#"odds "question":{"action":2,"ordinal":0},"given":[["card","trick"]]"#),
    ];
    match place {
        "derived" => {
            all.push(served("serve, why", r#"why "entity":1,"name":"double""#));
            all.push(served("serve, sheet", r#"sheet "entity":1"#));
        }
        "policy" => {
            all.push(served("serve, suggest", r#"suggest "question":{"action":2,"ordinal":0},"policy":"odd""#));
            all.push(plain("sim by it", "sim plain --rules bad --trials 1 --seat players=odd --actions 200"));
        }
        _ => {}
    }
    all
}

/// A loop that takes most of the budget of one action.
const LONG: &str = "local n = 0 for i = 1, 1700000 do n += i end";

#[test]
fn all_overviews_together_have_one_budget_and_so_have_all_statistics() {
    let kinds = format!(
        "local rb = require(\"@riskbreaker\")\nreturn rb.kinds({{ thing = {{ fields = {{}}, overview = function(self) {LONG} return {{}} end }} }})"
    );
    let statistics: String = (0..40).map(|n| format!("S{n} = function() {LONG} return 1 end, ")).collect();
    let play = format!(
        "local rb = require(\"@riskbreaker\")\nreturn rb.play({{ start = function() for _ = 1, 300 do rb.spawn(\"thing\", {{}}) end \
         rb.recur(\"turn\", 1, 1) end, boundary = \"turn\", statistics = {{ {statistics} }}, entries = {{ turn = function() \
         rb.confirm({{ seat = \"players\", topic = \"on\", default = true }}) end }} }})"
    );
    let mut files = files(&[]);
    files.retain(|path, _| !path.contains("maneuvers") && !path.contains("policies") && !path.contains("hooks"));
    files.extend([("bad/kinds.luau".to_owned(), kinds), ("bad/play.luau".to_owned(), play)]);
    files.insert("bad/verbs.luau".into(), "return require(\"@riskbreaker\").verbs({})".into());
    let library = Library::from_files(files.into_iter().map(|(path, text)| (path, text.into_bytes())));
    let rules = Ruleset::load(&library, "bad").unwrap();
    let (mut session, _) = started(&rules);
    let all: Vec<EntityId> = session.view().of_kind("thing").collect();
    assert_eq!(session.overview(all[0]).unwrap(), []);
    let fault = session.overviews(all).unwrap_err().to_string();
    assert!(fault.contains("budget"), "{fault}");

    let variant = Variant::new("bad", &rules, Setup::table(Value::map::<&str>([]))).unwrap();
    let plan = simulation(variant, 1, 1_000, MemoUse::default());
    let findings = plan.run(1, None, None, &mut |_, _| true).unwrap();
    let why = &findings.tallies[0].left_out[0].why;
    assert!(why.contains("budget"), "{why}");
}

#[test]
fn a_simulated_game_that_takes_long_is_left_out_and_few_of_them_end_the_simulation() {
    let body = "for _ = 1, 100000 do end";
    let rules = Ruleset::load(&library(&[("card", body)]), "bad").unwrap();
    let setup = Setup::table(Value::map::<&str>([])).seat("players", Driver::Policy("steady".into()));
    let plan = simulation(Variant::new("bad", &rules, setup).unwrap(), 100, u64::MAX, MemoUse::Never);
    let findings = plan.run(1, None, None, &mut |_, _| true).unwrap();
    let left_out = &findings.tallies[0].left_out;
    assert!(left_out.len() == 2 && left_out[0].why.contains("processor time"), "{left_out:?}");
    assert!(findings.gave_up_on(0));
}

/// A simulation of a variant of the corpus.
fn simulation(variant: Variant, trials: u64, actions: u64, memo: MemoUse) -> Simulation {
    Simulation { scenario: "plain".into(), variants: vec![variant], trials, seed: 1, until: None, actions, memo }
}

/// The processor time of the finished child processes.
fn spent_by_children() -> Option<Duration> {
    let stat = std::fs::read_to_string("/proc/self/stat").ok()?;
    let ticks = stat.rsplit(')').next()?.split_whitespace().skip(13).take(2).map(|ticks| ticks.parse::<u64>().ok());
    Some(Duration::from_millis(ticks.sum::<Option<u64>>()? * 10))
}

/// `cargo test --release --test hostile operation -- --ignored --nocapture` prints the processor time beyond that of
/// harmless rules.
#[ignore = "a measurement"]
#[test]
fn every_operation_is_measured() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("operations");
    let program = std::env::var("RISKBREAKER_PROGRAM").unwrap_or(env!("CARGO_BIN_EXE_riskbreaker").into());
    let run = |arguments: &[&str], input: &str| -> Duration {
        let before = spent_by_children().expect("the system tells it");
        let mut child = Command::new(&program)
            .args([OsStr::new("--rulesets"), folder.as_os_str()])
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        // It may end before it has read everything.
        let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
        child.wait().unwrap();
        spent_by_children().expect("the system tells it") - before
    };
    let put = |parts: &[(&str, &str)]| {
        let _ = std::fs::remove_dir_all(&folder);
        for (path, text) in files(parts) {
            let path = folder.join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
    };
    let mut times = Vec::new();
    for place in ["card", "when", "hook", "derived", "policy", "load"] {
        put(&[]);
        let harmless = operations(place).into_iter().map(|(_, arguments, input)| run(&arguments, &input));
        let harmless: Vec<Duration> = harmless.collect();
        for (name, text) in corpus(place) {
            let card = "rb.attach(\"curse\", ctx.thing)\nrb.act.poke(ctx.thing)";
            let mut parts = vec![(place, &*text)];
            parts.extend((place == "hook").then_some(("card", card)));
            put(&parts);
            for ((operation, arguments, input), harmless) in operations(place).into_iter().zip(&harmless) {
                // A busy machine slows some of them, so the quickest of three counts.
                let all = (0..3).map(|_| run(&arguments, &input).saturating_sub(*harmless));
                let within = |time: &Duration| *time <= Duration::from_millis(250);
                let time = all.clone().find(within).or_else(|| all.min()).unwrap();
                times.push((time, operation, format!("{place}/{name}")));
            }
        }
    }
    times.sort();
    let long = times.iter().filter(|(time, ..)| *time > Duration::from_millis(250)).count();
    println!("{} operations, {long} above 250 ms", times.len());
    for (time, operation, name) in times.iter().rev().take(20.max(long)) {
        println!("{operation}, {name}: {} ms", time.as_millis());
    }
}
