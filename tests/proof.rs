//! Properties of every game, and of each house ruleset over the versions that it extends, under random legal play:
//! games end, nothing breaks, a saved game continues like one that was never saved, and undo and redo restore every
//! state.
//!
//! `RISKBREAKER_RANDOM_ACTIONS=100000 cargo test --release --test proof random` plays that number of actions of each
//! game.

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

/// The parameters of a game: the kind of its people, a number of theirs that the game master may edit, and the number
/// of actions without the environment variable. The scripts of the large games take more time than all others together.
struct Game {
    name: &'static str,
    people: &'static str,
    number: &'static str,
    games: u64,
    decisions: usize,
    switches: bool,
}

const GAMES: [Game; 4] = [
    Game { name: "riskbreaker-", people: "character", number: "counters", games: 90, decisions: 30, switches: true },
    Game { name: "contest", people: "unit", number: "pack", games: 15, decisions: 15, switches: true },
    Game { name: "silent-winter", people: "character", number: "pain", games: 12, decisions: 12, switches: false },
    Game { name: "rbf", people: "actor", number: "hp", games: 5, decisions: 10, switches: false },
];

impl Game {
    fn of(name: &str) -> &'static Game {
        GAMES.iter().find(|game| name.starts_with(game.name)).unwrap_or_else(|| panic!("no row for {name}"))
    }
}

/// The number of actions of each game in a long run.
fn long_run() -> Option<usize> {
    std::env::var("RISKBREAKER_RANDOM_ACTIONS").ok().map(|actions| actions.parse().unwrap())
}

/// Every game and version with every house ruleset that can be played, with each name.
fn played() -> Vec<(String, Arc<Ruleset>)> {
    let names = library().ids().into_iter().flat_map(|id| library().ways_to_play(&id));
    let loaded = names.map(|name| {
        let rules = Ruleset::load(library(), &name).unwrap_or_else(|error| panic!("{error}"));
        (name, rules)
    });
    loaded.filter(|(_, rules)| rules.cards().len() > 1).collect()
}

/// A small random generator: the same games for the same seed on every machine.
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

/// Answers the first open question with a random legal answer, and plays on. Some questions are asked again if the rules
/// refuse the answer.
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

/// Checks the invariants of a game.
fn look_over(session: &mut Session, game: &str) {
    let people: Vec<_> = session.view().of_kind(Game::of(game).people).collect();
    for id in people {
        let value = |session: &mut Session, name: &str| {
            let field = session.view().field(id, name).cloned();
            field.or_else(|| session.derived(id, name, &[]).ok()).unwrap_or_else(|| panic!("{game}: no `{name}`"))
        };
        let whole = |session: &mut Session, name: &str| value(session, name).as_int().unwrap_or_default();
        let is = |session: &mut Session, name: &str| value(session, name) == Value::Bool(true);
        let name = session.view().title(id).to_string();
        let holds = match Game::of(game).name {
            "riskbreaker-" => {
                // Nobody has more damage than capacity, and people who are out are in no fight.
                let (taken, capacity) = (whole(session, "kill_damage"), whole(session, "capacity"));
                let out = is(session, "out");
                (0..=10).contains(&taken)
                    && whole(session, "counters") <= 3
                    && (!out || value(session, "side") == Value::None)
                    && (out || taken < capacity || capacity == 0)
            }
            "contest" => !is(session, "dead") || !is(session, "able"),
            "silent-winter" => {
                let (dead, health) = (is(session, "dead"), whole(session, "health"));
                (dead || health > 0) && (!dead || !is(session, "may_act"))
            }
            "rbf" => whole(session, "hp") <= whole(session, "max_hp"),
            other => panic!("nothing is known of {other}"),
        };
        assert!(holds, "{game}: {name} is as nobody can be\n{}", story(session));
    }
}

#[test]
fn random_legal_play_ends_and_every_card_is_played() {
    for (name, rules) in played() {
        let scenarios: Vec<&String> = rules.scenarios().keys().collect();
        let (mut played, mut actions) = (BTreeSet::new(), 0);
        let own = Game::of(&name);
        for seed in 0.. {
            if long_run().map_or(seed >= own.games, |most| actions >= most) {
                break;
            }
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
            let cards = session.log().into_iter().filter_map(|event| match event.happening {
                Happening::Answered { topic, text, .. } if *topic == *"card" || *topic == *"extra" => Some(text),
                _ => None,
            });
            for card in cards {
                actions += 1;
                played.insert(card);
            }
        }
        let missing: Vec<&str> =
            rules.cards().iter().map(|card| &*card.title).filter(|title| !played.contains(*title)).collect();
        // Many cards of the others need a special position: their specs play them.
        assert!(
            own.name != "riskbreaker-" || missing.is_empty(),
            "{name}: never played by chance: {}",
            missing.join(", ")
        );
    }
}

/// Plays with people at every seat who give arbitrary answers, up to this number of decisions or the end of the game.
/// Returns the state and log before each, and at the end.
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
            edit_something(session, &mut chance, Game::of(game));
            step = session.advance().unwrap();
        } else {
            step = decide(session, &mut chance, game);
        }
    }
}

/// Edits a number of a random person.
fn edit_something(session: &mut Session, chance: &mut DiceRng, game: &Game) {
    let people: Vec<_> = session.view().of_kind(game.people).collect();
    let who = people[chance.next() as usize % people.len()];
    let value = Value::Int((chance.next() % 3) as i64);
    session.edit(Edit::Set { entity: who, field: game.number.into(), value }).unwrap();
}

#[test]
fn a_saved_game_and_an_undone_and_redone_game_equal_the_original() {
    for (name, rules) in played() {
        for (at, scenario) in rules.scenarios().keys().enumerate() {
            let seed = 1 + at as u64;
            let game = format!("{name}, {scenario}, seed {seed}");
            let start = || Session::start(&rules, Setup::scenario(scenario).seed(seed)).unwrap();
            let mut session = start();
            let decisions = Game::of(&name).decisions;
            let moments = play_by_hand(&mut session, seed, decisions, &game);
            // The same decisions give the same game.
            assert!(
                play_by_hand(&mut start(), seed, decisions, &game) == moments,
                "{game}: played again, it is another game"
            );
            let decided = moments.len() - 1;
            for (left, moment) in moments.iter().enumerate().rev() {
                let now = (session.state_bytes(), session.log().len());
                assert!(now == *moment, "{game}: another state with {left} decisions left");
                // A saved game is loaded by replaying it.
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
        if !Game::of(&name).switches && long_run().is_none() {
            continue;
        }
        // House rules may have their own switches; the layers below are played without them.
        let own = |path: &str| {
            rules.extra_layers().is_empty() || rules.extra_layers().iter().any(|layer| path.starts_with(&**layer))
        };
        let scenarios: Vec<&String> = rules.scenarios().keys().collect();
        let mut tried = 0;
        for switch in rules.switches().filter(|switch| own(&switch.path)) {
            let values: Vec<Value> = match &switch.kind {
                SwitchKind::Choice { values } => values.iter().map(Value::text).collect(),
                SwitchKind::Toggle => vec![Value::Bool(true), Value::Bool(false)],
                SwitchKind::Range { min, max } => vec![Value::Int(*min), Value::Int(*max)],
            };
            for value in values {
                // Two scenarios for each value, in turns.
                for turn in 0..2_u64 {
                    let seed = 2 * tried + turn;
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
                tried += 1;
            }
        }
    }
}
