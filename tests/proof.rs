//! What holds of both versions of Riskbreaker, and of each house ruleset over each version, whatever is played: random legal play ends
//! and breaks nothing, a saved game goes on as the one that was never saved, and undo and redo meet every state again.

mod answers;

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::{Arc, OnceLock};

use answers::any_answer;
use riskbreaker::ruleset::SwitchKind;
use riskbreaker::{Driver, Edit, Happening, Library, Ruleset, Session, Setup, Step, Value};

fn library() -> &'static Library {
    static LIBRARY: OnceLock<Library> = OnceLock::new();
    LIBRARY.get_or_init(|| Library::open(Path::new(env!("CARGO_MANIFEST_DIR")).join("rulesets")).unwrap())
}

/// Every version with every house ruleset that can be played, under each name.
fn played() -> Vec<(String, Arc<Ruleset>)> {
    let names = library().ids().into_iter().flat_map(|id| library().ways_to_play(&id));
    let loaded = names.map(|name| {
        let rules = Ruleset::load(library(), &name).unwrap_or_else(|error| panic!("{error}"));
        (name, rules)
    });
    loaded.filter(|(name, rules)| name.starts_with("riskbreaker-") && rules.cards().len() > 1).collect()
}

/// A small generator: other games for other seeds, the same games on every machine.
struct DiceRng(u64);

impl DiceRng {
    fn new(seed: u64) -> DiceRng {
        DiceRng(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 >> 16
    }
}

/// Gives the first open question some answer that stands, and goes on; a few things are asked anew when the rules refuse them.
fn decide(session: &mut Session, chance: &mut DiceRng, game: &str) -> Step {
    let before = session.decisions();
    for attempt in 0..20 {
        let open = session.questions();
        let question = open[chance.next() as usize % open.len()].clone();
        let proposed = question.default.clone().filter(|_| attempt > 3);
        let answer = proposed.unwrap_or_else(|| any_answer(&question, chance.next()));
        session.answer(question.id, answer).unwrap_or_else(|refusal| panic!("{game}: {refusal}"));
        let step = session.advance().unwrap();
        if let Step::Fault(fault) = &step {
            panic!("{game}: {fault}\n{}", story(session));
        }
        if session.decisions() > before {
            return step;
        }
    }
    panic!("{game}: nothing that is asked takes an answer\n{}", story(session));
}

fn story(session: &Session) -> String {
    session.log().iter().map(|event| event.happening.line()).collect::<Vec<_>>().join("\n")
}

/// What no play may break, whatever the version: nobody has taken more than can be taken, and whoever is out fights no more.
fn look_over(session: &mut Session, game: &str) {
    let people: Vec<_> = session.view().of_kind("character").collect();
    for id in people {
        let whole = |session: &mut Session, name: &str| {
            let value = session.view().field(id, name).and_then(Value::as_int);
            value.or_else(|| session.derived(id, name, &[]).ok()?.as_int()).unwrap_or_default()
        };
        let name = session.view().title(id).to_string();
        let (taken, capacity) = (whole(session, "kill_damage"), whole(session, "capacity"));
        let out = session.view().field(id, "out") == Some(&Value::Bool(true));
        assert!((0..=10).contains(&taken), "{game}: {name} has taken {taken}");
        assert!(whole(session, "counters") <= 3, "{game}: {name} has more than three counters");
        assert!(!out || session.view().field(id, "side") == Some(&Value::None), "{game}: {name} is out and fights on");
        assert!(
            out || taken < capacity || capacity == 0,
            "{game}: {name} stands with {taken} of {capacity}\n{}",
            story(session)
        );
    }
}

#[test]
fn random_legal_play_ends_and_every_card_is_played() {
    for (name, rules) in played() {
        let scenarios: Vec<&String> = rules.scenarios().keys().collect();
        let mut played = BTreeSet::new();
        for seed in 0..90 {
            let scenario = scenarios[seed as usize % scenarios.len()];
            let game = format!("{name}, {scenario}, seed {seed}");
            let mut setup = Setup::scenario(scenario).seed(seed);
            for seat in rules.seats().keys() {
                setup = setup.seat(seat, Driver::Policy("random".into()));
            }
            let mut session = Session::start(&rules, setup).unwrap();
            match session.advance().unwrap() {
                Step::Over(outcome) => assert!(outcome != "nothing is left to do", "{game}: {outcome}"),
                other => panic!("{game}: {other:?}\n{}", story(&session)),
            }
            look_over(&mut session, &game);
            played.extend(session.log().into_iter().filter_map(|event| match event.happening {
                Happening::Answered { topic, text, .. } if *topic == *"card" || *topic == *"extra" => Some(text),
                _ => None,
            }));
        }
        let missing: Vec<&str> =
            rules.cards().iter().map(|card| &*card.title).filter(|title| !played.contains(*title)).collect();
        assert!(missing.is_empty(), "{name}: never played by chance: {}", missing.join(", "));
    }
}

/// Plays with people at every seat who decide anything, until so many decisions are made or the game is over; gives state and log
/// before each, and at the end.
fn play_by_hand(session: &mut Session, seed: u64, decisions: usize, game: &str) -> Vec<(Vec<u8>, usize)> {
    let mut chance = DiceRng::new(seed);
    let mut moments = Vec::new();
    let mut step = session.advance().unwrap();
    loop {
        moments.push((session.state_bytes(), session.log().len()));
        look_over(session, game);
        if moments.len() > decisions || matches!(step, Step::Over(_)) {
            return moments;
        }
        if chance.next().is_multiple_of(9) {
            edit_something(session, &mut chance);
            step = session.advance().unwrap();
        } else {
            step = decide(session, &mut chance, game);
        }
    }
}

/// The game master's hand: counters, which no version derives from anything.
fn edit_something(session: &mut Session, chance: &mut DiceRng) {
    let people: Vec<_> = session.view().of_kind("character").collect();
    let who = people[chance.next() as usize % people.len()];
    let value = Value::Int((chance.next() % 3) as i64);
    session.edit(Edit::Set { entity: who, field: "counters".into(), value }).unwrap();
}

#[test]
fn a_saved_game_and_one_undone_and_done_again_are_the_game_itself() {
    for (name, rules) in played() {
        for (at, scenario) in rules.scenarios().keys().enumerate() {
            let seed = 1 + at as u64;
            let game = format!("{name}, {scenario}, seed {seed}");
            let start = || Session::start(&rules, Setup::scenario(scenario).seed(seed)).unwrap();
            let mut session = start();
            let moments = play_by_hand(&mut session, seed, 30, &game);
            // The same decisions give the same game.
            assert!(play_by_hand(&mut start(), seed, 30, &game) == moments, "{game}: played again, it is another game");
            let decided = moments.len() - 1;
            for (left, moment) in moments.iter().enumerate().rev() {
                let now = (session.state_bytes(), session.log().len());
                assert!(now == *moment, "{game}: another state with {left} decisions left");
                // What is saved is read by playing it again: a replay.
                if left % 4 == 0 {
                    let mut again =
                        Session::load(library(), &session.save()).unwrap_or_else(|error| panic!("{game}: {error}"));
                    let _ = again.advance().unwrap();
                    assert!(again.state_bytes() == moment.0, "{game}: another state from a save with {left} decisions");
                    let asked =
                        |session: &Session| session.questions().iter().map(|q| format!("{q:?}")).collect::<Vec<_>>();
                    assert_eq!(asked(&again), asked(&session), "{game}: asks something else from a save");
                }
                if left > 0 {
                    session.undo().unwrap();
                    let _ = session.advance().unwrap();
                }
            }
            assert!(session.undo().is_err());
            for moment in &moments[1..] {
                session.redo().unwrap();
                let _ = session.advance().unwrap();
                let now = (session.state_bytes(), session.log().len());
                assert!(now == *moment, "{game}: another state after redo");
            }
            while session.undo().is_ok() {}
            for _ in 0..decided {
                session.redo().unwrap();
            }
            let _ = session.advance().unwrap();
            let last = &moments[decided];
            assert!(session.state_bytes() == last.0, "{game}: another end after redoing all at once");
        }
    }
}

#[test]
fn every_value_of_every_switch_can_be_played() {
    for (name, rules) in played() {
        // House rules bring switches of their own; those below them are played without them.
        let own = |path: &str| {
            rules.extra_layers().is_empty() || rules.extra_layers().iter().any(|layer| path.starts_with(&**layer))
        };
        let scenarios: Vec<&String> = rules.scenarios().keys().collect();
        for switch in rules.switches().filter(|switch| own(&switch.path)) {
            let values: Vec<Value> = match &switch.kind {
                SwitchKind::Choice { values } => values.iter().map(Value::text).collect(),
                SwitchKind::Toggle => vec![Value::Bool(true), Value::Bool(false)],
                SwitchKind::Range { min, max } => vec![Value::Int(*min), Value::Int(*max)],
                other => panic!("{other:?}"),
            };
            for value in values {
                for seed in 0..scenarios.len() as u64 {
                    let scenario = scenarios[seed as usize % scenarios.len()];
                    let game = format!("{name}, {} = {value}, {scenario}, seed {seed}", switch.name);
                    let mut setup = Setup::scenario(scenario).seed(seed).switch(&switch.name, value.clone());
                    for seat in rules.seats().keys() {
                        setup = setup.seat(seat, Driver::Policy("random".into()));
                    }
                    let mut session = Session::start(&rules, setup).unwrap_or_else(|error| panic!("{game}: {error}"));
                    let step = session.advance().unwrap();
                    assert!(matches!(step, Step::Over(_)), "{game}: {step:?}\n{}", story(&session));
                }
            }
        }
    }
}
