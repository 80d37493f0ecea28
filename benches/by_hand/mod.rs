//! Four against four of `riskbreaker-0.0.1` in three implementations: the complete ruleset, one hand-written Luau file,
//! and hand-written Rust. All play both sides by the policy `bold` and draw the same dice in the same order, so that
//! their results and costs can be compared.

mod fight;
mod script;

pub use fight::fight;
pub use script::{LEVELS, Machine};

use std::borrow::Cow;
use std::path::Path;
use std::sync::Arc;

use riskbreaker::dice::DiceRng;
use riskbreaker::lab::{MemoUse, Simulation, Variant};
use riskbreaker::{Driver, EntityId, Happening, Library, Ruleset, Session, Setup, Step, Value};

pub const SCENARIO: &str = "four-against-four";

/// The seed of all fights; each fight has its own stream.
pub const SEED: u64 = 1;

pub const PEOPLE: usize = 8;

/// The names of all people in the order of the scenario: Heroes, then Bandits.
const NAMES: [&str; PEOPLE] = ["Fighter", "Thief", "Mage", "Ranger", "Captain", "Bandit", "Bandit 2", "Archer"];

/// The end of a fight.
#[derive(Clone, Debug, PartialEq)]
pub struct Ending {
    pub outcome: Cow<'static, str>,
    pub rounds: u32,
    /// The number of turns in which a card was played.
    pub turns: u32,
    /// The Advantage of the Heroes.
    pub advantage: i32,
    pub people: [Standing; PEOPLE],
}

/// The condition of a person after a fight.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Standing {
    pub kill_damage: i32,
    pub counters: i32,
    pub out: bool,
}

/// The dice of one fight.
pub fn dice(trial: u64) -> DiceRng {
    DiceRng::stream(SEED, trial)
}

pub fn rules() -> Arc<Ruleset> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("rulesets");
    let library = Library::open(folder).expect("the rulesets are there");
    Ruleset::load(&library, "riskbreaker-0.0.1").unwrap_or_else(|error| panic!("{error}"))
}

/// Returns a simulation of this number of fights with the ruleset.
pub fn simulation(rules: &Arc<Ruleset>, trials: u64) -> Simulation {
    let bold = || Driver::Policy("bold".into());
    let setup = Setup::scenario(SCENARIO).seat("players", bold()).seat("foes", bold()).seat("gm", Driver::Absent);
    let variant = Variant::new("bold", rules, setup).expect("the scenario starts");
    Simulation {
        scenario: SCENARIO.into(),
        variants: vec![variant],
        trials,
        seed: SEED,
        until: None,
        actions: 20_000,
        memo: MemoUse::default(),
    }
}

/// Plays one fight of a simulation with all events. Returns its end and the number of rolled dice.
pub fn told(simulation: &Simulation, trial: u64) -> (Ending, usize) {
    let mut session = simulation.game(0, trial).expect("the scenario starts");
    play(&mut session);
    let events = session.log();
    let dice = |happening: &Happening| match happening {
        Happening::Rolled { faces, .. } => faces.len(),
        _ => 0,
    };
    let rolled = events.iter().map(|event| dice(&event.happening)).sum();
    let turns = events.iter().filter(|event| is_card(&event.happening)).count();
    (ending(&session, turns as u32), rolled)
}

/// Plays a fight to its end. Panics if it stops early.
pub fn play(session: &mut Session) {
    let step = session.advance().expect("the fight plays");
    assert!(matches!(step, Step::Over(_)), "a fight of policies ends: {step:?}");
}

fn is_card(happening: &Happening) -> bool {
    matches!(happening, Happening::Answered { topic, .. } if &**topic == "card")
}

fn ending(session: &Session, turns: u32) -> Ending {
    let view = session.view();
    let number = |id: EntityId, field: &str| {
        let value = view.field(id, field).and_then(Value::as_int);
        value.unwrap_or_else(|| panic!("{} has no number `{field}`", view.title(id))) as i32
    };
    let only = |kind: &str| view.of_kind(kind).next().unwrap_or_else(|| panic!("there is no {kind}"));
    let people: Vec<EntityId> = view.of_kind("character").collect();
    let people: [EntityId; PEOPLE] = people.try_into().expect("eight people are in the scenario");
    assert_eq!(people.map(|id| view.title(id).to_string()), NAMES.map(String::from));
    Ending {
        outcome: session.outcome().unwrap_or_default().to_string().into(),
        rounds: number(only("battle"), "round") as u32,
        turns,
        advantage: number(only("fight"), "advantage"),
        people: people.map(|id| Standing {
            kill_damage: number(id, "kill_damage"),
            counters: number(id, "counters"),
            out: view.field(id, "out") == Some(&Value::Bool(true)),
        }),
    }
}
