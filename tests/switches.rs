//! House rules changed in the middle of fights, alone and in pairs: the game continues, is the same after saving and
//! loading, and undo and redo restore its states. Each house rule has a spec that changes it and asserts two results.

mod parallel;

use std::path::Path;
use std::sync::Arc;

use parallel::on_every_core;
use riskbreaker::ruleset::{Switch, SwitchKind};
use riskbreaker::spec::{SpecResult, SpecRun, SpecSource};
use riskbreaker::{Answer, Ask, Driver, Library, Ruleset, Session, Setup, Step, Value};

const GAMES: [&str; 5] = ["contest", "riskbreaker-0.0.1", "riskbreaker-0.0.3", "silent-winter", "rbf"];

/// The games in which every house rule has a spec that changes it in play.
const PROVED: [&str; 4] = ["contest", "riskbreaker-0.0.1", "riskbreaker-0.0.3", "rbf"];

/// The number of decisions after house rules were changed.
const DECISIONS: u64 = 8;

fn library() -> Library {
    Library::open(Path::new(env!("CARGO_MANIFEST_DIR")).join("rulesets")).unwrap()
}

/// The values of a house rule other than the current one.
fn other_values(switch: &Switch, now: &Value) -> Vec<Value> {
    let all: Vec<Value> = match &switch.kind {
        SwitchKind::Choice { values } => values.iter().map(Value::text).collect(),
        SwitchKind::Toggle => vec![true.into(), false.into()],
        SwitchKind::Range { min, max } => vec![(*min).into(), (*max).into()],
    };
    all.into_iter().filter(|value| value != now).collect()
}

/// A pseudo-random number that is the same on every machine.
fn mixed(n: u64) -> u64 {
    let n = (n ^ (n >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let n = (n ^ (n >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    n ^ (n >> 31)
}

fn advance(session: &mut Session, what: &str) -> bool {
    match session.advance().unwrap() {
        Step::Fault(fault) => panic!("{what}: {fault}\n{:?}", fault.chain),
        Step::Ask => true,
        Step::Over(_) => false,
    }
}

/// Answers an open question by one of the policies, in turn. True if the game continues.
fn decide(session: &mut Session, n: u64, what: &str) -> bool {
    let questions = session.questions();
    let question = questions[(mixed(n) % questions.len() as u64) as usize].clone();
    let policies = session.ruleset().policies().to_vec();
    let policy = &policies[(n % policies.len() as u64) as usize];
    let answer = session.suggest(question.id, policy).unwrap_or_else(|refusal| panic!("{what}: {refusal}"));
    let answer = answer.or_else(|| question.default.clone()).unwrap_or_else(|| match &question.ask {
        Ask::Confirm => Answer::Confirm(true),
        ask => Answer::Choice(ask.options().iter().find(|option| option.enabled).unwrap().id.clone()),
    });
    session.answer(question.id, answer).unwrap_or_else(|refusal| panic!("{what}: {refusal}"));
    advance(session, what)
}

/// A fight after this number of decisions of people, with a person on every seat except the game master's.
fn fight(rules: &Arc<Ruleset>, scenario: &str, seed: u64, decisions: u64) -> Option<Session> {
    let mut setup = Setup::scenario(scenario).seed(seed);
    for seat in rules.seats().keys() {
        let driver = if seat.as_str() == "gm" { Driver::Absent } else { Driver::Human };
        setup = setup.seat(seat, driver);
    }
    let mut session = Session::start(rules, setup).unwrap();
    let mut goes_on = advance(&mut session, scenario);
    for n in 0..decisions {
        goes_on = goes_on && decide(&mut session, seed + n, scenario);
    }
    goes_on.then_some(session)
}

/// Changes house rules, plays on, saves and loads, undoes, and redoes.
fn turn(library: &Library, session: &mut Session, turned: &[(&str, &Value)], seed: u64, what: &str) {
    let place = |session: &Session| (session.state_bytes(), session.questions().to_vec(), session.switches().clone());
    let before = place(session);
    let decisions = session.decisions();
    let mut goes_on = true;
    for (at, (name, value)) in turned.iter().enumerate() {
        session.set_switch(name, (*value).clone()).unwrap_or_else(|refusal| panic!("{what}: {refusal}"));
        goes_on = goes_on && advance(session, what);
        // The second is changed some decisions later.
        for n in 0..if at + 1 < turned.len() { 3 } else { 0 } {
            goes_on = goes_on && decide(session, seed + n, what);
        }
        if !goes_on {
            break;
        }
    }
    let mut read = Session::load(library, &session.save()).unwrap_or_else(|error| panic!("{what}: {error}"));
    let _: bool = advance(&mut read, what);
    assert_eq!(place(&read), place(session), "{what}: loaded");
    assert_eq!(read.log(), session.log(), "{what}: the log of the loaded game");
    for n in 0..DECISIONS {
        goes_on = goes_on && decide(session, seed + 100 + n, what);
    }
    let after = place(session);
    let log = session.log();
    let mut undone = 0;
    while session.decisions() > decisions {
        session.undo().unwrap_or_else(|refusal| panic!("{what}: {refusal}"));
        undone += 1;
        let _: bool = advance(session, what);
    }
    assert_eq!(place(session), before, "{what}: undone");
    for _ in 0..undone {
        session.redo().unwrap_or_else(|refusal| panic!("{what}: {refusal}"));
        let _: bool = advance(session, what);
    }
    assert_eq!(place(session), after, "{what}: redone");
    assert_eq!(session.log(), log, "{what}: the log of the game that was redone");
    while session.decisions() > decisions {
        session.undo().unwrap();
    }
    let _: bool = advance(session, what);
}

/// For one game, scenario and seed: changes every house rule alone, and as many random pairs.
fn turn_all(game: &str, seed: u64) {
    let library = library();
    let rules = Ruleset::load(&library, game).unwrap_or_else(|error| panic!("{error}"));
    let scenarios: Vec<String> = rules.scenarios().keys().cloned().collect();
    let scenario = &scenarios[(mixed(seed) % scenarios.len() as u64) as usize];
    let Some(mut session) = fight(&rules, scenario, seed, mixed(seed + 1) % 25) else { return };
    let switches: Vec<&Switch> = rules.switches().collect();
    let values: Vec<Vec<Value>> =
        switches.iter().map(|switch| other_values(switch, session.switch(&switch.name).unwrap())).collect();
    for (at, switch) in switches.iter().enumerate() {
        for value in &values[at] {
            let what = format!("{game}, {scenario}, seed {seed}: {} {value}", switch.name);
            turn(&library, &mut session, &[(&switch.name, value)], seed, &what);
        }
        let other = (at + 1 + (mixed(seed * 1000 + at as u64) % (switches.len() as u64 - 1)) as usize) % switches.len();
        let pick = |at: usize| &values[at][(mixed(seed + at as u64) % values[at].len() as u64) as usize];
        let pair = [(&*switch.name, pick(at)), (&*switches[other].name, pick(other))];
        let what = format!("{game}, {scenario}, seed {seed}: {pair:?}");
        turn(&library, &mut session, &pair, seed, &what);
    }
}

/// The seeds to play: `SEEDS=100..140` for others than the default ones.
fn seeds() -> std::ops::Range<u64> {
    let given = std::env::var("SEEDS").ok();
    let range = given.as_deref().and_then(|given| given.split_once(".."));
    range.map_or(1..2, |(from, to)| from.parse().unwrap()..to.parse().unwrap())
}

#[test]
fn every_house_rule_and_random_pairs_can_be_changed_during_a_fight() {
    let jobs: Vec<(&str, u64)> = GAMES.into_iter().flat_map(|game| seeds().map(move |seed| (game, seed))).collect();
    on_every_core(&jobs, |(game, seed)| turn_all(game, *seed));
}

/// The methods of `t` in specs, other than `switch`.
const METHODS: [&str; 30] = [
    "answer",
    "asked",
    "breach",
    "breaches",
    "closed",
    "dice",
    "edit",
    "enabled",
    "equal",
    "expect",
    "free",
    "given",
    "given_refused",
    "greyed",
    "happened",
    "hidden",
    "legal",
    "odds",
    "ongoing",
    "open",
    "over",
    "play",
    "refused",
    "refused_answer",
    "refused_because",
    "run",
    "said",
    "sees",
    "turn",
    "undo",
];

/// The specs of a file that carry `ALL-R-1` and name the house rule between backquotes. `pinned`: the value that the
/// house rule keeps from the start, even if the spec changes it.
fn pinned(source: &SpecSource, switch: &str, pinned: Option<&str>) -> String {
    let methods = METHODS.map(|name| format!("\"{name}\"")).join(", ");
    let (begin, turn) = match pinned {
        Some(value) => (
            format!("t:switch(\"{switch}\", {value})"),
            format!("if name ~= \"{switch}\" then t:switch(name, value) end"),
        ),
        None => (String::new(), "t:switch(name, value)".to_string()),
    };
    // All of it is on the line of the `require`, so that the lines of the file keep their numbers.
    let prelude = format!(
        "local plain = require(\"@riskbreaker\") local rb = table.clone(plain) \
         local function keeps(name) \
         return string.find(name, \"ALL-R-1\", 1, true) and string.find(name, \"`{switch}`\", 1, true) end \
         local function held(t) {begin} local w = {{}} \
         for _, name in ipairs({{ {methods}, \"value\", \"titles\" }}) do w[name] = function(_, ...) return t[name](t, ...) end end \
         w.switch = function(_, name, value) {turn} end return w end \
         rb.spec = function(name, rules, run) \
         if keeps(name) then plain.spec(name, rules, function(t) run(held(t)) end) end end \
         rb.cases = function(name, rules, cases, run) \
         if keeps(name) then plain.cases(name, rules, cases, function(t, case) run(held(t), case) end) end end"
    );
    source.text.replacen("local rb = require(\"@riskbreaker\")", &prelude, 1)
}

/// The values at which a house rule is held: all, or of a range its ends, the default and those that the lines about it
/// name.
fn held_at(switch: &Switch, default: &Value, text: &str) -> Vec<String> {
    match &switch.kind {
        SwitchKind::Choice { values } => values.iter().map(|value| format!("\"{value}\"")).collect(),
        SwitchKind::Toggle => vec!["true".into(), "false".into()],
        SwitchKind::Range { min, max } => {
            let lines = text.lines().filter(|line| line.contains(&*switch.name));
            let numbers = lines.flat_map(|line| line.split(|c: char| !c.is_ascii_digit()));
            let named = numbers.filter_map(|number| number.parse().ok()).filter(|number| (min..=max).contains(&number));
            let mut all: Vec<i64> = named.chain([*min, *max]).chain(default.as_int()).collect();
            all.sort_unstable();
            all.dedup();
            all.iter().map(i64::to_string).collect()
        }
    }
}

/// The results of the specs of a game, or of a house rule for it, that name its switches: as written, and with each
/// value held from start to end.
fn specs_held(library: &Library, game: &str, layers: &[String]) -> Vec<SpecResult> {
    let home = Path::new(env!("CARGO_MANIFEST_DIR")).join("rulesets");
    let folder = match layers {
        [] => home.join(game).join("specs"),
        [house, ..] => home.join(house).join("specs").join(game),
    };
    if !folder.exists() {
        return Vec::new();
    }
    let rules = Ruleset::load_with(library, game, layers).unwrap_or_else(|error| panic!("{error}"));
    let files = SpecSource::read_folder(&folder).unwrap();
    let defaults = rules.default_switches();
    let mut further = Vec::new();
    for switch in rules.switches() {
        let about = format!("`{}`", switch.name);
        let named = |file: &&SpecSource| file.text.contains("ALL-R-1") && file.text.contains(&*switch.name);
        for (at, file) in files.iter().enumerate().filter(|(_, file)| named(file)) {
            let values = held_at(switch, &defaults[&switch.name], &file.text);
            for value in [None].into_iter().chain(values.iter().map(|value| Some(value.as_str()))) {
                let path = format!("{about} {at} {}", value.unwrap_or("as written"));
                further.push(SpecSource { path, text: pinned(file, &switch.name, value) });
            }
        }
    }
    if further.is_empty() {
        return Vec::new();
    }
    let run = SpecRun { further, only_further: true, ..SpecRun::default() };
    let report = run.of(library, game, layers).unwrap_or_else(|error| panic!("{error}"));
    assert!(report.broken.is_empty(), "{game}: {:?}", report.broken);
    report.results
}

/// The house rules without a spec that holds as written, but under no single value held from start to end: such a spec
/// changes the house rule in play, and asserts a result of the value before and another one of the value after.
fn turned_in_a_spec(game: &str) -> Vec<String> {
    let library = library();
    let rules = Ruleset::load(&library, game).unwrap_or_else(|error| panic!("{error}"));
    let mut results = specs_held(&library, game, &[]);
    // A switch about the table's own cards has results only with a house rule that adds some.
    for house in library.ids().iter().filter(|id| id.starts_with("house-")) {
        results.extend(specs_held(&library, game, std::slice::from_ref(house)));
    }
    let mut wrong = Vec::new();
    for switch in rules.switches() {
        let about = format!("`{}` ", switch.name);
        let results: Vec<_> = results.iter().filter(|result| result.path.starts_with(&about)).collect();
        let mut names: Vec<&str> = results.iter().map(|result| &*result.name).collect();
        names.sort_unstable();
        names.dedup();
        let turns = |name: &str| {
            let mut held = results.iter().filter(|result| result.name == name);
            held.all(|result| result.failure.is_some() != result.path.ends_with("as written"))
        };
        match names.iter().any(|name| turns(name)) {
            true => {}
            false if names.is_empty() => wrong.push(format!("{game}: no spec `ALL-R-1: {about}...` turns it in play")),
            false => {
                let holding = results.iter().filter(|result| result.failure.is_none());
                let held: Vec<&str> = holding.map(|result| &*result.path).collect();
                wrong.push(format!("{game}: {about}has one result in play, these hold: {held:?} of {names:?}"));
            }
        }
    }
    wrong
}

#[test]
fn every_house_rule_has_a_spec_that_turns_it_in_play_and_asserts_two_results() {
    let games = std::env::var("GAME").map_or(PROVED.map(String::from).to_vec(), |game| vec![game]);
    let wrong = on_every_core(&games, |game| turned_in_a_spec(game)).concat();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
