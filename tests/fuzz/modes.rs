//! Plays a case in every mode and compares the results.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use riskbreaker::dice::Fraction;
use riskbreaker::lab::{
    Findings, Limits, MemoUse, Odds, OddsQuery, SeatExt as _, SessionExt as _, Simulation, Tally, Variant,
};
use riskbreaker::play::Given;
use riskbreaker::{
    DiceSource, Driver, Edit, EntityId, Event, Library, Question, QuestionId, Refusal, Remedy, Ruleset, Session, Setup,
    Step, Value, Viewer,
};

use super::answers::any_answer;
use super::generator::Features;
use super::model::{Case, DEALT, Stat};
use super::random::Random;

/// Two modes with different results.
#[derive(Clone, Debug)]
pub struct Disagreement {
    pub modes: [&'static str; 2],
    pub found: [String; 2],
}

/// The amount of compared data.
#[derive(Clone, Debug, Default)]
pub struct Compared {
    /// The number of games that ended, and of games that did not count.
    pub ended: u64,
    pub left_out: u64,
    pub decisions: usize,
    /// The number of answers, edits, free acts and undos.
    pub hands: usize,
    /// The number of paths by which odds were counted.
    pub counted: usize,
    /// The number of rulesets that could not be loaded.
    pub unloaded: usize,
}

impl Compared {
    pub fn add(&mut self, other: &Compared) {
        self.ended += other.ended;
        self.left_out += other.left_out;
        self.decisions += other.decisions;
        self.hands += other.hands;
        self.counted += other.counted;
        self.unloaded += other.unloaded;
    }
}

type Checked<T> = Result<T, Box<Disagreement>>;

fn same<T: PartialEq + std::fmt::Debug>(modes: [&'static str; 2], one: &T, other: &T) -> Checked<()> {
    if one == other {
        return Ok(());
    }
    Err(Box::new(Disagreement { modes, found: [format!("{one:#?}"), format!("{other:#?}")] }))
}

/// The disagreement for a simulation that stops although every game can be played.
fn failed(error: String) -> Box<Disagreement> {
    Box::new(Disagreement { modes: ["games", "a simulation that stops"], found: [String::new(), error] })
}

impl Disagreement {
    /// The lines of each mode that the other lacks.
    pub fn lines(&self) -> String {
        let told = |lines: &str, others: &str| -> String {
            let others: BTreeSet<&str> = others.lines().collect();
            let differing = lines.lines().filter(|line| !others.contains(line)).take(MOST_LINES);
            differing.map(|line| format!("    {}\n", line.trim_start())).collect()
        };
        let ([first, second], [one, other]) = (self.modes, &self.found);
        format!("  {first}:\n{}  {second}:\n{}", told(one, other), told(other, one))
    }
}

/// The most lines of each mode that are printed.
const MOST_LINES: usize = 12;

fn library(case: &Case) -> Library {
    Library::from_files(case.files().into_iter().map(|(path, text)| (path, text.into_bytes())))
}

/// The house rule of a case.
const HOUSE: &str = "house";

/// The number of games of a case that are also played with events.
const TOLD: u64 = 3;

/// A group of modes that are compared with each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Group {
    /// Simulations: by scripts, with the memo, on one thread and on two.
    Simulated,
    /// A simulation, and its games played one by one with events.
    Told,
    /// One game: with events, headless, with a person at the table, replayed from its tape.
    Table,
    /// A game of people: saved and loaded at each decision, with undo and redo.
    Decisions,
    /// A game of people with edits and free acts: saved and loaded, with undo and redo.
    Hands,
    Odds,
}

impl Group {
    pub const ALL: [Group; 6] =
        [Group::Simulated, Group::Told, Group::Table, Group::Decisions, Group::Hands, Group::Odds];
}

/// Plays the case in the modes of a group. A case that a time limit stopped in one of them is not compared.
pub fn check(case: &Case, features: Features, group: Group) -> Checked<Compared> {
    match check_all(case, features, group) {
        Err(found) if found.found.iter().any(|found| is_counted_anew(found)) => Ok(Compared::default()),
        checked => checked,
    }
}

/// The messages for a game without an end that took seconds, or much memory, since the last decision or load.
const COUNTED_ANEW: [&str; 4] = [
    "the game took long without a decision by a person",
    "MiB of what happened without a decision by a person",
    "it took more than three seconds of processor time",
    "told in full it takes more than",
];

fn is_counted_anew(told: &str) -> bool {
    COUNTED_ANEW.iter().any(|words| told.contains(words))
}

fn check_all(case: &Case, features: Features, group: Group) -> Checked<Compared> {
    let mut compared = Compared::default();
    if case.filled && matches!(group, Group::Decisions | Group::Hands | Group::Odds) {
        return Ok(compared);
    }
    let library = library(case);
    let layers = case.layer.iter().filter(|layer| layer.from_start).map(|_| HOUSE.to_string()).collect::<Vec<_>>();
    let rules = match Ruleset::load_with(&library, "small", &layers) {
        Ok(rules) => rules,
        Err(error) => {
            if std::env::var_os("RISKBREAKER_FUZZ_LOAD").is_some() {
                eprintln!("seed {}: {error}", case.seed);
            }
            compared.unloaded = 1;
            return Ok(compared);
        }
    };
    let seats = |guest: Driver| {
        Setup::scenario("start")
            .seat("left", Driver::Policy("p0".into()))
            .seat("right", Driver::Policy("p1".into()))
            .seat("gm", Driver::Absent)
            .seat("guest", guest)
    };
    let simulation = |trials: u64, memo: MemoUse| Simulation {
        scenario: "start".into(),
        variants: vec![Variant::new("one", &rules, seats(Driver::Absent)).expect("the seats are there")],
        trials,
        seed: case.seed,
        until: None,
        actions: case.actions,
        memo,
    };
    // A memo that differs from its scripts stops the simulation.
    let run = |memo, trials, threads| -> Checked<Tally> {
        match simulation(trials, memo).run(threads, None, None, &mut |_, _| true) {
            Ok(Findings { mut tallies, .. }) => Ok(tallies.remove(0)),
            Err(error) => Err(failed(error.to_string())),
        }
    };
    match group {
        Group::Simulated => {
            let scripts = run(MemoUse::Never, case.trials, 1)?;
            compared.ended += scripts.trials;
            compared.left_out += scripts.left_out.len() as u64;
            same(["every script run", "memo"], &scripts, &run(MemoUse::Always, case.trials, 1)?)?;
            // Threads play blocks of 250 games.
            if case.trials > 250 {
                same(["one thread", "two threads"], &scripts, &run(MemoUse::Never, case.trials, 2)?)?;
                same(["one thread", "memo, two threads"], &scripts, &run(MemoUse::Always, case.trials, 2)?)?;
            }
        }
        Group::Told => {
            let told = TOLD.min(case.trials);
            let (first, plan) = (run(MemoUse::Never, told, 1)?, simulation(told, MemoUse::Never));
            compare_told(&first, &plan, features)?;
        }
        Group::Table => {
            for game in 0..TOLD.min(case.trials) {
                one_game(&library, &rules, seats(Driver::Absent).seed(case.seed ^ game), features)?;
            }
        }
        Group::Decisions => compared.decisions += decisions(case, &library, &rules, features)?,
        Group::Hands if !features.hands => {}
        Group::Hands => compared.hands += hands(case, &library, &rules, features)?,
        Group::Odds => compared.counted += odds(case)?,
    }
    Ok(compared)
}

/// Compares the first games of a simulation with the same games played with events.
fn compare_told(first: &Tally, plan: &Simulation, features: Features) -> Checked<()> {
    let (mut results, mut outcomes, mut left_out) = (BTreeMap::new(), BTreeMap::new(), Vec::new());
    for trial in 1..=plan.trials {
        let mut events = Vec::new();
        let ended = plan.replay(0, trial, &mut |event| events.push(event)).expect("it can be played");
        match &ended {
            Ok(text) => *outcomes.entry(text.clone()).or_insert(0) += 1,
            Err(out) => left_out.push((trial, features.words(&out.why))),
        }
        if ended.as_ref().is_err_and(|out| out.why.contains("has not ended after")) {
            continue;
        }
        let mut session = plan.game(0, trial).expect("it can be played");
        let step = session.advance().expect("there is a worker");
        let (by_action, mut whole) = (lines(&events), lines(&session.log()));
        let over = matches!(step, Step::Over(_));
        let stands_at = match &step {
            Step::Over(_) => None,
            Step::Fault(fault) => Some(features.words(&fault.to_string())),
            Step::Ask => Some(UNANSWERED.to_string()),
        };
        if let Err(out) = &ended
            && stands_at != Some(features.words(&out.why))
        {
            // A statistic failed, which is not computed in a game with events, so that one continues.
            whole.truncate(by_action.len());
        }
        same(["told, action by action", "told"], &by_action, &whole)?;
        if over && ended.is_ok() {
            *results.entry(digest(&mut session)).or_insert(0) += 1;
        }
    }
    let first_out: Vec<_> = first.left_out.iter().map(|out| (out.trial, features.words(&out.why))).collect();
    same(["every script run", "told"], &first_out, &left_out)?;
    same(["every script run", "told"], &first.outcomes, &outcomes)?;
    same(["every script run", "told"], &first.results, &results)
}

/// Plays one game in the modes of the table.
fn one_game(library: &Library, rules: &Arc<Ruleset>, setup: Setup, features: Features) -> Checked<()> {
    let start = |setup: Setup| Session::start(rules, setup).expect("the seats are there");
    let mut session = start(setup.clone());
    let step = session.advance().expect("there is a worker");
    let found = Found::of(&mut session, &step, features);

    let mut quiet = start(setup.clone());
    quiet.set_headless(true);
    let step = quiet.advance().expect("there is a worker");
    let unanswered = matches!(&step, Step::Fault(fault) if fault.message.contains(UNANSWERED));
    if found.step == ASKS && unanswered {
        // Nobody could be asked there; the table waits.
        return Ok(());
    }
    let quiet_found = Found {
        log: found.log.clone(),
        tape: found.tape.clone(),
        seen: found.seen.clone(),
        ..Found::of(&mut quiet, &step, features)
    };
    same(["told", "headless"], &found, &quiet_found)?;

    let mut attended = start(setup.seat("guest", Driver::Human));
    let step = attended.advance().expect("there is a worker");
    same(["told", "told with a person at the table"], &found, &Found::of(&mut attended, &step, features))?;
    built_again(&mut session)?;

    if session.fault().is_some() && !features.faults_loaded {
        return Ok(());
    }
    let mut loaded = match Session::load(library, &session.save()) {
        Ok(loaded) => loaded,
        Err(error) => return same(["told", "replay of its tape"], &String::new(), &error.to_string()),
    };
    let step = loaded.advance().expect("there is a worker");
    same(["told", "replay of its tape"], &found, &Found::of(&mut loaded, &step, features))
}

/// Checks that building the sheet of a thing gives the same thing.
fn built_again(session: &mut Session) -> Checked<()> {
    let all: Vec<EntityId> = session.view().of_kind("thing").take(SHEETS).collect();
    for id in all {
        let Ok(Some(sheet)) = session.written_sheet(id) else { continue };
        let rules = session.ruleset().clone();
        let built = rules.build_sheet(&sheet, rules.default_switches()).map_err(|fault| fault.to_string());
        let built = built.map(|built| built.fields);
        let Value::Map(written) = &sheet else { continue };
        let fields = session.view().fields(id).filter(|(field, _)| written.keys().any(|key| **key == *field.name));
        let fields = fields.map(|(field, value)| (field.name.to_string(), value.clone())).collect();
        same(["a thing", "its sheet, built"], &Ok::<BTreeMap<_, _>, String>(fields), &built)?;
    }
    Ok(())
}

/// The message in a headless game for a question that neither a policy nor a default answers; a table waits there.
const UNANSWERED: &str = "nobody answers the question";
const ASKS: &str = "it asks";

impl Features {
    /// The fault of a game, in the same words whether nobody could be asked or nobody answered.
    fn words(self, why: &str) -> String {
        const REFUSED: [&str; 4] =
            ["the policy `", "the answer of the policy", "the answer to", "of a question must be"];
        if why.contains(UNANSWERED) || why.contains("nobody answers `") {
            UNANSWERED.into()
        } else if !self.refusal_words && REFUSED.iter().any(|words| why.contains(words)) {
            "a policy's answer is refused".into()
        } else if !self.refusal_words && why.contains("which may only read") {
            "only reading is possible there".into()
        } else {
            why.into()
        }
    }
}

/// The final data of a game.
#[derive(Clone, Debug, PartialEq)]
struct Found {
    step: String,
    decisions: u32,
    state: Vec<String>,
    log: Vec<String>,
    tape: Vec<String>,
    questions: Vec<String>,
    /// The views of the seats.
    seen: Vec<String>,
}

impl Found {
    fn of(session: &mut Session, step: &Step, features: Features) -> Found {
        let step = match step {
            Step::Ask => ASKS.to_string(),
            Step::Fault(fault) => format!("fault: {}", features.words(&fault.to_string())),
            Step::Over(text) => format!("over: {text}"),
        };
        let saved: serde_json::Value = serde_json::from_str(&session.save()).expect("it is JSON");
        let done = saved["done"].as_array().into_iter().flatten();
        let tape = done.chain([&saved["open"]["tape"]]).map(ToString::to_string);
        let mut seen: Vec<_> = ["left", "right", "guest"].iter().flat_map(|seat| seen_by(session, seat)).collect();
        seen.extend(sheets(session));
        Found {
            step,
            decisions: session.decisions(),
            state: parts(&serde_json::from_slice(&session.state_bytes()).expect("it is JSON")),
            log: lines(&session.log()),
            tape: tape.collect(),
            questions: session.questions().iter().map(|question| format!("{question:?}")).collect(),
            seen,
        }
    }

    /// The data that must be equal again after undo and redo.
    fn standing(&self) -> [Vec<String>; 5] {
        let Found { step, state, log, questions, seen, .. } = self.clone();
        [vec![step], state, log, questions, seen]
    }
}

/// The number of sheets that are compared.
const SHEETS: usize = 6;

/// The view of a seat, in lines.
fn seen_by(session: &mut Session, name: &str) -> Vec<String> {
    let mut seat = session.seat(name).expect("there is such a seat");
    let mut lines = vec![format!("{name} waits for {:?}", seat.waiting())];
    // A viewer numbers the questions that it was shown; without a look in between, it was shown fewer.
    let unnumbered = |mut question: Question| {
        question.id = QuestionId { action: 0, ordinal: 0 };
        format!("{name} {question:?}")
    };
    lines.extend(seat.questions().into_iter().map(unnumbered));
    lines.extend(seat.log().iter().map(|event| format!("{name} {:?} {:?}", event.audience, event.happening)));
    if name == "left" {
        lines.push(format!("{name} {} {:?}", seat.prompt(), seat.show("all", name).map_err(|fault| fault.to_string())));
        lines.extend(seat.free_acts().iter().map(|act| format!("{name} {act:?}")));
        let all: Vec<EntityId> = seat.view().entities().take(SHEETS).collect();
        for id in all {
            lines.push(format!("{id} {:?}", seat.sheet(id).map_err(|fault| fault.to_string())));
            lines.push(format!("{id} {:?}", seat.why(id, "total").map_err(|refusal| refusal.to_string())));
            let args = [Value::Int(3), Value::Entity(id)];
            lines.push(format!("{id} {:?}", seat.derived(id, "reach", &args).map_err(|fault| fault.to_string())));
        }
    }
    let view = seat.view();
    for id in view.entities() {
        let fields: Vec<_> = view.fields(id).map(|(field, value)| format!("{} {value}", field.name)).collect();
        lines.push(format!("{name} {id} {:?} {}", view.kind(id), fields.join(", ")));
    }
    lines
}

/// The sheets of things, their errors and costs.
fn sheets(session: &mut Session) -> Vec<String> {
    let rules = session.ruleset().clone();
    let all: Vec<EntityId> = session.view().of_kind("thing").take(SHEETS).collect();
    let mut lines = Vec::new();
    for id in all {
        let Some(sheet) = session.written_sheet(id).transpose() else { continue };
        lines.push(match sheet {
            Ok(sheet) => format!(
                "{sheet} {:?} {:?}",
                rules.check_sheet(&sheet),
                rules.price_sheet(&sheet, rules.default_switches())
            ),
            Err(fault) => fault.to_string(),
        });
    }
    lines
}

/// The state, a line for each part.
fn parts(state: &serde_json::Value) -> Vec<String> {
    let mut parts = Vec::new();
    for (name, part) in state.as_object().into_iter().flatten() {
        match part {
            serde_json::Value::Array(items) => parts.extend(items.iter().map(|item| format!("{name} {item}"))),
            serde_json::Value::Object(items) => {
                parts.extend(items.iter().map(|(key, item)| format!("{name} {key} {item}")));
            }
            part => parts.push(format!("{name} {part}")),
        }
    }
    parts
}

fn lines(events: &[Event]) -> Vec<String> {
    events.iter().map(|event| serde_json::to_string(event).expect("it can be written")).collect()
}

fn digest(session: &mut Session) -> String {
    let world = session.view().of_kind("world").next();
    match world.map(|world| session.derived(world, "digest", &[])) {
        Some(Ok(value)) => value.to_string(),
        Some(Err(fault)) => fault.to_string(),
        None => "no world".into(),
    }
}

/// The number of decisions of people that are followed.
const DECISIONS: usize = 5;

/// Plays with people who give arbitrary answers; saves and loads at every decision, with undo and redo.
fn decisions(case: &Case, library: &Library, rules: &Arc<Ruleset>, features: Features) -> Checked<usize> {
    let setup = Setup::scenario("start").seed(case.seed).seat("gm", Driver::Absent);
    let mut session =
        Session::start(rules, setup.seat("right", Driver::Policy("p1".into()))).expect("the seats are there");
    let mut random = Random::new(case.seed ^ 0xdec1);
    // By the number of decisions: an answer refused by a check is none.
    let mut found = BTreeMap::new();
    let mut skipped = false;
    for _ in 0..DECISIONS {
        let step = session.advance().expect("there is a worker");
        let now = Found::of(&mut session, &step, features);
        if session.fault().is_some() && !features.faults_loaded {
            break;
        }
        let mut loaded = match Session::load(library, &session.save()) {
            Ok(loaded) => loaded,
            Err(error) => return same(["told", "saved and loaded"], &String::new(), &error.to_string()).map(|()| 0),
        };
        let loaded_step = loaded.advance().expect("there is a worker");
        same(["told", "saved and loaded"], &now, &Found::of(&mut loaded, &loaded_step, features))?;
        found.entry(session.decisions()).or_insert(now);
        match step {
            Step::Over(_) => break,
            Step::Fault(_) => {
                let (one, other) = (session.remedy(Remedy::SkipAction), loaded.remedy(Remedy::SkipAction));
                same(["told", "saved and loaded"], &words(&one), &words(&other))?;
                if one.is_err() {
                    break;
                }
                skipped = true;
            }
            Step::Ask => {
                let Some(question) = session.questions().get(random.below(session.questions().len())).cloned() else {
                    break;
                };
                if matches!(&question.ask, riskbreaker::Ask::Choose { options, other: false } if !options.iter().any(|option| option.enabled))
                {
                    break;
                }
                let answer = any_answer(&question, random.next());
                let one = session.answer(question.id, answer.clone());
                let other = loaded.answer(question.id, answer);
                same(["told", "saved and loaded"], &words(&one), &words(&other))?;
                if one.is_err() {
                    break;
                }
            }
        }
        // One of the two continues.
        if random.one_in(2) {
            session = loaded;
        }
    }
    let count = found.len();
    if skipped {
        return Ok(count);
    }
    back_and_forth(&mut session, &found, features)?;
    Ok(count)
}

fn words(result: &Result<(), Refusal>) -> String {
    result.as_ref().map_or_else(|refusal| refusal.to_string().clone(), |()| "taken".into())
}

fn back_and_forth(session: &mut Session, found: &BTreeMap<u32, Found>, features: Features) -> Checked<()> {
    let step = session.advance().expect("there is a worker");
    let last = Found::of(session, &step, features);
    let answered = session.decisions();
    for at in (0..answered).rev() {
        let _ = session.undo();
        let step = session.advance().expect("there is a worker");
        let Some(then) = found.get(&at) else { continue };
        same(["told", "undone"], &then.standing(), &Found::of(session, &step, features).standing())?;
    }
    for at in 1..=answered {
        if let Err(refusal) = session.redo() {
            return same(["told", "done again"], &String::new(), &refusal.to_string());
        }
        let step = session.advance().expect("there is a worker");
        let then = found.get(&at).unwrap_or(&last);
        same(["told", "done again"], &then.standing(), &Found::of(session, &step, features).standing())?;
    }
    Ok(())
}

// Edits and free acts

/// The number of deeds of a game that are followed.
const DEEDS: usize = 14;

/// Carries out a random act of a person at a table; `None` if there is nothing to do. Returns a description.
fn deed(session: &mut Session, step: &Step, random: &mut Random, others: &[Arc<Ruleset>]) -> Option<(String, bool)> {
    let chance = random.below(12);
    if !others.is_empty() && random.one_in(10) {
        let rules = random.pick(others).clone();
        return Some((format!("rules {}", rules.name()), session.change_rules(&rules).is_ok()));
    }
    if chance < 5 {
        match step {
            Step::Ask => {
                let question = session.questions().get(random.below(session.questions().len())).cloned()?;
                let answer = any_answer(&question, random.next());
                return Some((format!("answer {answer:?}"), session.answer(question.id, answer).is_ok()));
            }
            Step::Fault(_) => return Some(("skip".into(), session.remedy(Remedy::SkipAction).is_ok())),
            Step::Over(_) => {}
        }
    }
    if chance < 8 && !session.free_acts().is_empty() {
        let acts = session.free_acts();
        let act = &acts[random.below(acts.len())];
        let (seat, name) = (act.seat.to_string(), act.name.to_string());
        return Some((format!("{seat}: {name}"), session.act(&seat, &name).is_ok()));
    }
    let edit = edit(session, random)?;
    Some((format!("{edit:?}"), session.edit(edit).is_ok()))
}

/// A random edit.
fn edit(session: &Session, random: &mut Random) -> Option<Edit> {
    let view = session.view();
    let all: Vec<EntityId> = ["thing", "imp", "tie", "bond"].iter().flat_map(|kind| view.of_kind(kind)).collect();
    if all.is_empty() {
        return None;
    }
    let entity = *random.pick(&all);
    let fields: Vec<Arc<str>> = view.fields(entity).map(|(field, _)| field.name.clone()).collect();
    let field = random.pick(&fields).to_string();
    Some(match random.below(12) {
        0 => Edit::Say { text: "so be it".into() },
        1 if random.one_in(2) => {
            let faces = (0..1 + random.below(2)).map(|_| 1 + random.below(6) as u32).collect();
            Edit::Face { ordinal: random.below(3) as u32, faces }
        }
        1 => Edit::OtherDice { words: 1 + random.below(3) as u64 },
        2 if random.one_in(3) => Edit::Remove { entity },
        3 => match view.agenda().iter().map(|entry| entry.id).nth(random.below(6)) {
            Some(entry) if random.one_in(3) => Edit::Cancel { entry },
            _ => Edit::Say { text: "nothing".into() },
        },
        4 => Edit::Switch { name: "loud".into(), value: Value::Bool(random.one_in(2)) },
        5 if random.one_in(2) => Edit::LeaveOut { name: (*random.pick(&["c0", "c1", "h0", "e0", "f0"])).into() },
        5 => Edit::TakeIn { name: (*random.pick(&["c0", "c1", "h0", "e0", "f0"])).into() },
        _ => {
            let value = match random.below(6) {
                0 => Value::text(*random.pick(&["left", "right", "m1", "some words"])),
                1 => Value::Bool(random.one_in(2)),
                2 => Value::Entity(*random.pick(&all)),
                3 => Value::list([Value::Int(2), Value::Int(1)]),
                _ => Value::Int(random.below(12) as i64 - 2),
            };
            Edit::Set { entity, field, value }
        }
    })
}

/// Plays with people who give arbitrary answers, edits and free acts. After each deed the game is saved and loaded, and
/// continues as the one or the other; sometimes the last deeds are undone and redone.
fn hands(case: &Case, library: &Library, rules: &Arc<Ruleset>, features: Features) -> Checked<usize> {
    let setup = Setup::scenario("start").seed(case.seed).seat("gm", Driver::Absent);
    let mut session =
        Session::start(rules, setup.seat("right", Driver::Policy("p1".into()))).expect("the seats are there");
    let mut random = Random::new(case.seed ^ 0x4a4d5);
    let step = session.advance().expect("there is a worker");
    // The data after each deed that was not undone.
    let mut found = vec![(session.decisions(), Found::of(&mut session, &step, features))];
    let mut done = 0;
    let mut deeds = Vec::new();
    let loaded = |library: &Library, id: &str, layers: &[&str]| {
        Ruleset::load_with(library, id, &layers.iter().map(ToString::to_string).collect::<Vec<_>>()).ok()
    };
    // Rules added during the game: with and without the house rule, another ruleset, and rewritten files.
    let mut stacks: Vec<(&str, &[&str])> = vec![("small", &[])];
    stacks.extend(case.layer.is_some().then_some(("small", &[HOUSE][..])));
    stacks.extend(case.converts.is_some().then_some(("other", &[][..])));
    let others: Vec<_> = match stacks.len() {
        1 => Vec::new(),
        _ => stacks.iter().filter_map(|(id, layers)| loaded(library, id, layers)).collect(),
    };
    let rewritten = self::library(&case.rewritten());
    // The number of decisions at the last reload: an undo across it keeps the new rules.
    let mut reloaded_at = None;
    let mut is_rewritten = false;
    // The number of decisions when other rules were requested that are not in force yet, and their hash.
    let mut asked = None;
    for _ in 0..DEEDS {
        let step = session.advance().expect("there is a worker");
        let before = session.decisions();
        let (what, taken) = if features.reloads && random.one_in(16) {
            // Back to the original rules the second time.
            let files = if is_rewritten { library } else { &rewritten };
            let layers: Vec<&str> = session.ruleset().extra_layers().iter().map(|layer| &**layer).collect();
            let Some(rules) = loaded(files, session.ruleset().id(), &layers) else { continue };
            is_rewritten = !is_rewritten;
            reloaded_at = Some(before);
            // After an undo across a reload, nothing is as before.
            found.clear();
            ("reload".to_string(), session.reload(rules).is_ok())
        } else {
            let Some(deed) = deed(&mut session, &step, &mut random, &others) else { break };
            deed
        };
        if !taken {
            continue;
        }
        deeds.push(format!("{before} {what}"));
        done += 1;
        if let Some(rules) = session.pending_rules() {
            asked = Some((asked.map_or(before, |(at, _)| at), rules.hash()));
        }
        let step = session.advance().expect("there is a worker");
        if matches!(&step, Step::Fault(fault) if is_counted_anew(&fault.message)) {
            // A loaded game may play on for its full limit again, so there is nothing to compare, and much to write.
            return Ok(done);
        }
        // The change of rules is one entry, even if others were made before it came into force.
        let settled = asked.take_if(|_| session.pending_rules().is_none());
        if let Some((asked_at, _)) = &settled {
            found.retain(|(at, _)| at <= asked_at);
        }
        // They are cancelled if they cannot hold the state at that time.
        let in_force = settled.is_some_and(|(_, hash)| hash == session.ruleset().hash());
        let now = Found::of(&mut session, &step, features);
        let loaded = with_deeds(saved_and_loaded(&session, library, &now, features), &deeds)?;
        for rules in &others {
            let preview = |session: &Session| session.preview_rules(rules).map_err(|error| error.to_string());
            with_deeds(same(["told by hand", "saved and loaded"], &preview(&session), &preview(&loaded)), &deeds)?;
        }
        if in_force && session.undo().is_ok() {
            // By the old rules the game continues beyond the boundary, and returns to it.
            let _: Step = session.advance().expect("there is a worker");
            session.redo().expect("it has been done");
            let step = session.advance().expect("there is a worker");
            let again = Found::of(&mut session, &step, features);
            with_deeds(same(["rules in force", "undone and done again"], &now.standing(), &again.standing()), &deeds)?;
        }
        match found.last() {
            // An answer refused by a check is no decision.
            Some((at, _)) if *at >= session.decisions() => {
                found.retain(|(at, _)| *at < session.decisions());
            }
            _ => {}
        }
        found.push((session.decisions(), now));
        if random.one_in(2) {
            session = loaded;
        }
        if random.one_in(4) && asked.is_none() {
            let count = 1 + random.below(4);
            there_and_back(&mut session, library, &mut found, count, features, &deeds, &mut reloaded_at)?;
        }
    }
    if asked.is_none() {
        let all = deeds.len();
        there_and_back(&mut session, library, &mut found, all, features, &deeds, &mut reloaded_at)?;
    }
    Ok(done)
}

/// Loads the saved game and checks that it is the same.
fn saved_and_loaded(session: &Session, library: &Library, now: &Found, features: Features) -> Checked<Session> {
    const MODES: [&str; 2] = ["told by hand", "saved and loaded"];
    match Session::load(library, &session.save()) {
        Ok(mut loaded) => {
            let step = loaded.advance().expect("there is a worker");
            same(MODES, now, &Found::of(&mut loaded, &step, features))?;
            Ok(loaded)
        }
        Err(error) => Err(Box::new(Disagreement { modes: MODES, found: [String::new(), error.to_string()] })),
    }
}

/// Adds the previous deeds to a disagreement.
fn with_deeds<T>(checked: Checked<T>, deeds: &[String]) -> Checked<T> {
    checked.map_err(|mut found| {
        found.found[0].insert_str(0, &format!("done before: {}\n", deeds.join("; ")));
        found
    })
}

/// Undoes and redoes this number of deeds. After passing a reload, other rules play the same decisions: the game is
/// then only compared with itself, saved and loaded, and the earlier data are dropped.
fn there_and_back(
    session: &mut Session,
    library: &Library,
    found: &mut Vec<(u32, Found)>,
    count: usize,
    features: Features,
    deeds: &[String],
    reloaded_at: &mut Option<u32>,
) -> Checked<()> {
    let from = session.decisions();
    let compared = |session: &mut Session, found: &[(u32, Found)], how: &'static str, passed: bool| {
        let step = session.advance().expect("there is a worker");
        let now = Found::of(session, &step, features);
        let deeds = [deeds, &[format!("{how}, {} left", session.decisions())]].concat();
        let then = found.iter().find(|(at, _)| *at == session.decisions());
        with_deeds(
            match then {
                _ if passed => saved_and_loaded(session, library, &now, features).map(drop),
                Some((_, then)) => same(["told by hand", how], &then.standing(), &now.standing()),
                None => Ok(()),
            },
            &deeds,
        )
    };
    let (mut back, mut passed) = (0, false);
    while back < count && session.undo().is_ok() {
        back += 1;
        if reloaded_at.is_some_and(|at| session.decisions() < at) {
            (passed, *reloaded_at) = (true, Some(session.decisions()));
            found.clear();
        }
        compared(session, found, "undone", passed)?;
    }
    for _ in 0..back {
        match session.redo() {
            Ok(_) => compared(session, found, "done again", passed)?,
            Err(_) if passed => return Ok(()),
            Err(refusal) => {
                return same(["told by hand", "done again"], &String::new(), &format!("{refusal} {deeds:#?}"));
            }
        }
    }
    if passed { Ok(()) } else { same(["told by hand", "done again"], &from, &session.decisions()) }
}

// Odds

/// The chances of facts: fields of things with their values, and the outcome of the game.
type Chances = BTreeMap<String, Fraction>;

/// The most runs of a game for counting odds.
const MOST_RUNS: usize = 100;

/// The query for the odds of a card, if it is an answer to this question.
fn query_for(question: &Question, card: &str) -> OddsQuery {
    let (topic, about, value) = ("card".into(), question.about, Value::text(card));
    let given = vec![Given { topic, seat: None, about, value, once: false }];
    let limits = Limits { ways: 20_000, ..Limits::default() };
    OddsQuery { given, lenient: true, limits, ..OddsQuery::default() }
}

/// Compares the odds of every card of the first turn with all possible faces of the dice, one after the other.
fn odds(case: &Case) -> Checked<usize> {
    let mut plain = case.clone();
    plain.start.clear();
    for entry in &mut plain.entries {
        (entry.key, entry.tie) = (None, None);
    }
    let layers = case.layer.iter().filter(|layer| layer.from_start).map(|_| HOUSE.to_string()).collect::<Vec<_>>();
    let Ok(rules) = Ruleset::load_with(&library(&plain), "small", &layers) else { return Ok(0) };
    let mut counted = if case.deals && layers.is_empty() { dealt_odds(&plain)? } else { 0 };
    for card in 0..plain.cards.len() {
        let card = format!("c{card}");
        let Some(by_hand) = count(&rules, &card) else { continue };
        let mut session = start(&rules, Vec::new());
        let Ok(Step::Ask) = session.advance() else { continue };
        let question = session.questions()[0].clone();
        if question.read(&Value::text(&card)).is_err() {
            continue;
        }
        let query = query_for(&question, &card);
        let before = session.state_bytes();
        let worked_out = enumerated(&mut session, question.id, query, &by_hand.fields);
        same(["before odds", "after odds"], &before, &session.state_bytes())?;
        let enumerated = match worked_out {
            Enumerated::Faults(message) => {
                // Only the failure is compared, since different courses may fail first.
                if by_hand.fault.is_none() {
                    return same(["odds, counted", "odds, enumerated"], &"no course fails".to_string(), &message)
                        .map(|()| 0);
                }
                continue;
            }
            Enumerated::Passed => continue,
            Enumerated::Chances(chances) => chances,
        };
        if let Some(fault) = &by_hand.fault {
            return same(["odds, counted", "odds, enumerated"], fault, &"no course fails".to_string()).map(|()| 0);
        }
        same(["odds, counted", "odds, enumerated"], &words_of(&by_hand.chances), &words_of(&enumerated))?;
        counted += by_hand.runs;
    }
    Ok(counted)
}

/// Compares the odds for the left seat, with hidden values dealt anew, with those of cards that deal first.
fn dealt_odds(case: &Case) -> Checked<usize> {
    let mut dealt = case.clone();
    dealt.cards.iter_mut().for_each(|card| card.when.clear());
    let Ok(rules) = Ruleset::load(&library(&dealt), "small") else { return Ok(0) };
    dealt.deals = false;
    for card in &mut dealt.cards {
        let deal = format!("local seat = me.seat\n{DEALT}");
        card.resolve.insert(0, Stat::new(deal, Vec::new(), Vec::new()));
    }
    let Ok(by_hand) = Ruleset::load(&library(&dealt), "small") else { return Ok(0) };
    let mut counted = 0;
    for card in 0..case.cards.len() {
        let card = format!("c{card}");
        let Some(Counted { mut chances, mut fields, fault: None, runs }) = count(&by_hand, &card) else { continue };
        let mut session = start(&rules, Vec::new());
        let Ok(Step::Ask) = session.advance() else { continue };
        let known = session.known(&Viewer::seat("left"));
        let seen = |id: EntityId, name: &str| known.view(&session).fields(id).any(|(field, _)| *field.name == *name);
        fields.retain(|(id, field)| seen(*id, field));
        chances.retain(|what, _| {
            what.starts_with("over") || fields.iter().any(|(id, field)| what.starts_with(&format!("{id} {field} ")))
        });
        let question = session.seat("left").expect("there is such a seat").asked()[0].clone();
        let query = query_for(&question, &card);
        let before = session.state_bytes();
        let odds = session.seat("left").expect("there is such a seat").odds(question.id, query);
        same(["before odds", "after odds"], &before, &session.state_bytes())?;
        let Ok(odds) = odds else { continue };
        if !odds.is_exact() {
            continue;
        }
        let enumerated = chances_of(&session, &odds, &fields);
        same(["odds of a seat, counted", "odds of a seat, enumerated"], &words_of(&chances), &words_of(&enumerated))?;
        counted += runs;
    }
    Ok(counted)
}

/// Formats chances as lines.
fn words_of(chances: &Chances) -> Vec<String> {
    let held = chances.iter().filter(|(_, chance)| !chance.is_zero());
    held.map(|(what, chance)| format!("{what}: {chance}")).collect()
}

fn start(rules: &Arc<Ruleset>, faces: Vec<u32>) -> Session {
    let setup = Setup::scenario("start").dice(DiceSource::Written(faces)).seat("gm", Driver::Absent);
    Session::start(rules, setup.seat("guest", Driver::Absent)).expect("the seats are there")
}

struct Counted {
    chances: Chances,
    /// The fields of things that exist before and after each course.
    fields: Vec<(EntityId, Arc<str>)>,
    fault: Option<String>,
    runs: usize,
}

enum Course {
    Ends(Chances),
    Faults(String),
    /// A die with this number of sides was rolled without a written face.
    Rolls(u32),
    TooMuch,
}

/// Goes through all faces of the dice by writing them.
fn count(rules: &Arc<Ruleset>, card: &str) -> Option<Counted> {
    let mut counted = Counted { chances: Chances::new(), fields: Vec::new(), fault: None, runs: 0 };
    let mut todo = vec![(Vec::new(), Fraction::ONE)];
    while let Some((faces, mass)) = todo.pop() {
        counted.runs += 1;
        if counted.runs > MOST_RUNS || faces.len() > 8 {
            return None;
        }
        match course(rules, card, &faces, &mut counted.fields) {
            Course::TooMuch => return None,
            Course::Faults(fault) => {
                counted.fault = Some(fault);
                return Some(counted);
            }
            Course::Ends(seen) => {
                for (what, chance) in seen {
                    *counted.chances.entry(what).or_default() += chance * &mass;
                }
            }
            Course::Rolls(sides) => {
                for face in 1..=sides {
                    let faces: Vec<u32> = faces.iter().copied().chain([face]).collect();
                    todo.push((faces, &mass / Fraction::from(i64::from(sides))));
                }
            }
        }
    }
    Some(counted)
}

/// The result of a card with these faces.
fn course(rules: &Arc<Ruleset>, card: &str, faces: &[u32], fields: &mut Vec<(EntityId, Arc<str>)>) -> Course {
    const NO_FACE: u32 = 2_000_000;
    let mut session = start(rules, faces.iter().copied().chain([NO_FACE]).collect());
    let Ok(Step::Ask) = session.advance() else { return Course::TooMuch };
    let first = session.questions()[0].clone();
    if fields.is_empty() {
        let view = session.view();
        let of = |id| view.fields(id).map(move |(field, _)| (id, field.name.clone())).collect::<Vec<_>>();
        *fields = view.of_kind("thing").flat_map(of).collect();
    }
    let Ok(answer) = first.read(&Value::text(card)) else { return Course::TooMuch };
    let mut answered = session.answer(first.id, answer);
    for _ in 0..20 {
        if answered.is_err() {
            return Course::TooMuch;
        }
        match session.advance().expect("there is a worker") {
            Step::Fault(fault) => {
                let sides = fault
                    .message
                    .split_once("but a die of ")
                    .and_then(|(_, rest)| rest.split(' ').next()?.parse().ok());
                let saved: serde_json::Value = serde_json::from_str(&session.save()).expect("it is JSON");
                // The fault of the next action does not belong to this one.
                return match sides {
                    _ if saved["open"]["number"] != first.id.action => Course::Ends(seen(&session, fields, None)),
                    Some(sides) => Course::Rolls(sides),
                    None => Course::Faults(fault.to_string()),
                };
            }
            Step::Over(text) => return Course::Ends(seen(&session, fields, Some(&text))),
            Step::Ask => {}
        }
        let Some(question) = session.questions().first().cloned() else { return Course::TooMuch };
        if question.id.action != first.id.action {
            return Course::Ends(seen(&session, fields, None));
        }
        let Some(default) = question.default.clone() else { return Course::TooMuch };
        answered = session.answer(question.id, default);
    }
    // An answer refused by a check is asked for again and again.
    Course::TooMuch
}

fn seen(session: &Session, fields: &[(EntityId, Arc<str>)], over: Option<&str>) -> Chances {
    let mut chances = Chances::new();
    let view = session.view();
    for (id, field) in fields {
        let value = view.field(*id, field).map_or("gone".to_string(), |value| format!("{value:?}"));
        chances.insert(format!("{id} {field} {value}"), Fraction::ONE);
    }
    if let Some(text) = over {
        chances.insert(format!("over {text}"), Fraction::ONE);
    }
    chances
}

enum Enumerated {
    Chances(Chances),
    Faults(String),
    /// Too much work, or dice without an end.
    Passed,
}

fn enumerated(
    session: &mut Session,
    question: QuestionId,
    query: OddsQuery,
    fields: &[(EntityId, Arc<str>)],
) -> Enumerated {
    let odds = match session.odds_at(question, query) {
        Ok(odds) => odds,
        Err(refusal) if refusal.to_string().contains("ways") || refusal.to_string().contains("order of") => {
            return Enumerated::Passed;
        }
        Err(refusal) => return Enumerated::Faults(refusal.to_string()),
    };
    if !odds.is_exact() {
        return Enumerated::Passed;
    }
    Enumerated::Chances(chances_of(session, &odds, fields))
}

fn chances_of(session: &Session, odds: &Odds, fields: &[(EntityId, Arc<str>)]) -> Chances {
    let mut chances = Chances::new();
    let view = session.view();
    for (id, field) in fields {
        let before = view.field(*id, field).cloned().unwrap_or_default();
        let known = odds.fields.iter().find(|known| known.entity == *id && known.field == *field);
        match known {
            Some(known) => {
                for (value, chance) in &known.to {
                    chances.insert(format!("{id} {field} {value:?}"), chance.clone());
                }
            }
            None => drop(chances.insert(format!("{id} {field} {before:?}"), Fraction::ONE)),
        }
    }
    for (outcome, chance) in &odds.outcomes {
        for effect in &outcome.effects {
            if let riskbreaker::lab::Effect::Over { text } = effect {
                *chances.entry(format!("over {text}")).or_default() += chance;
            }
        }
    }
    chances
}
