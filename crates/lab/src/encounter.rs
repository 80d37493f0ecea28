use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::simulation::{Simulation, Variant};
use super::tally::{Rate, Tally};
use super::trial::MemoUse;
use riskbreaker_play::{DiceSource, Driver, MASTER, Refusal, Ruleset, Scenario, Setup};
use riskbreaker_ruleset::{Breach, CreationPart};
use riskbreaker_state::{Value, readable_name};

/// The time limit of the simulation.
const TIME: Duration = Duration::from_millis(850);
/// The number of games simulated first, to measure how long one takes.
const FIRST: u64 = 4;
/// The most games that are simulated.
const MOST: u64 = 4_000;
/// The number of actions after which a game counts as undecided.
pub const ENCOUNTER_ACTIONS: u64 = 2_000;
/// The most characters on a side of an [`Encounter`].
pub const MOST_ON_A_SIDE: usize = 50;
/// The default names of the first sides.
const SIDES: [&str; 2] = ["Heroes", "Foes"];

/// A side of an encounter.
#[derive(Clone, Debug, Default)]
pub struct EncounterSide {
    /// The title; `None` for a default name.
    pub title: Option<String>,
    /// The characters of the side.
    pub members: Vec<EncounterMember>,
}

/// Characters with the same sheet.
#[derive(Clone, Debug)]
pub struct EncounterMember {
    /// The name of the sheet.
    pub name: String,
    /// The number of these characters.
    pub count: usize,
    /// The sheet, in the form that the ruleset's creation reads.
    pub sheet: Value,
}

/// A scene built from sheets, before it begins.
#[derive(Clone, Debug)]
pub struct Encounter {
    /// A title that says who meets whom.
    pub title: String,
    /// The setup of its game.
    pub setup: Setup,
    /// Sentences about sheets that do not fit the rules.
    pub notes: Vec<String>,
}

/// The results of an encounter that was played by policies.
#[derive(Clone, Debug)]
pub struct EncounterOdds {
    /// The counts of all games, including those that did not end.
    pub tally: Tally,
    /// The driver of each seat.
    pub played_by: BTreeMap<Arc<str>, Driver>,
    /// True if the simulation was ended early.
    pub interrupted: bool,
}

impl Encounter {
    /// Refuses a ruleset that cannot build a scene from sheets.
    ///
    /// # Errors
    ///
    /// The ruleset has no `position` in creation.luau.
    pub fn must_be_made_by(rules: &Ruleset) -> Result<(), Refusal> {
        if rules.creates(CreationPart::Position) {
            return Ok(());
        }
        let text =
            format!("{} does not say how a scene is made of sheets (`position` in creation.luau).", rules.name());
        Err(Refusal::new(text))
    }

    /// Builds a scene from sheets. `setup` has the dice and seats of the game, and the scene is put into it.
    ///
    /// # Errors
    ///
    /// The ruleset cannot build a scene from sheets, a side has nobody or too many, or a function of the ruleset fails.
    pub fn prepare(
        rules: &Arc<Ruleset>,
        switches: &BTreeMap<String, Value>,
        setup: Setup,
        sides: Vec<EncounterSide>,
    ) -> Result<Encounter, Refusal> {
        Encounter::must_be_made_by(rules)?;
        if sides.len() < 2 || sides.iter().any(|side| side.members.is_empty()) {
            return Err(Refusal::new("An encounter has at least two sides, and somebody on each."));
        }
        let (mut notes, mut made, mut whom) = (Vec::new(), Vec::new(), Vec::new());
        for (at, side) in sides.into_iter().enumerate() {
            let usual = || SIDES.get(at).map_or_else(|| format!("Side {}", at + 1), ToString::to_string);
            let (mut sheets, mut told) = (Vec::new(), Vec::new());
            for EncounterMember { name, count, sheet } in side.members {
                if sheets.len() + count > MOST_ON_A_SIDE {
                    return Err(Refusal::new(format!("A side has at most {MOST_ON_A_SIDE} people.")));
                }
                let sheet = fitting(rules, switches, &name, sheet, &mut notes)?;
                sheets.extend(std::iter::repeat_n(sheet, count));
                let name = Breach::with_capital(&readable_name(&name));
                told.push(if count > 1 { format!("{count} x {name}") } else { name });
            }
            whom.push(told.join(", "));
            made.push((side.title.unwrap_or_else(usual), sheets));
        }
        let title = whom.join(" against ");
        let Value::Map(table) = rules.position_of(&made, switches.clone()).map_err(Refusal::fault)? else {
            return Err(Refusal::new("creation.position must return a table."));
        };
        let mut table = (*table).clone();
        table.insert("title".into(), Value::text(&title));
        let scenario = Scenario::Table(Value::Map(table.into()));
        Ok(Encounter { title, setup: Setup { scenario, ..setup }, notes })
    }

    /// Returns the driver of each seat in a simulation: the first policy of the ruleset for all seats, defaults for the
    /// game master.
    pub fn usual_drivers(rules: &Ruleset) -> BTreeMap<Arc<str>, Driver> {
        let usual = rules.policies().first().map_or(Driver::Absent, |policy| Driver::Policy(policy.clone()));
        let driver = |seat: &str| if seat == MASTER { Driver::Absent } else { usual.clone() };
        rules.seats().keys().map(|seat| (Arc::from(&**seat), driver(seat))).collect()
    }

    /// Plays the scene with policies for less than a second, or until `goes_on` returns false.
    ///
    /// # Errors
    ///
    /// The scene cannot be played: a script fails, or the setup does not fit.
    pub fn foretell(
        &self,
        rules: &Arc<Ruleset>,
        played_by: BTreeMap<Arc<str>, Driver>,
        goes_on: &dyn Fn() -> bool,
    ) -> Result<EncounterOdds, Refusal> {
        let began = Instant::now();
        let seated = Setup { dice: DiceSource::Seeded, seats: played_by.clone(), ..self.setup.clone() };
        let variant = Variant::new("rules", rules, seated).map_err(|error| Refusal::new(error.to_string()))?;
        let (mut tally, mut games, mut wanted) = (Tally::default(), 0, FIRST);
        let threads = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        while wanted > 0 && goes_on() {
            let simulation = Simulation {
                scenario: self.title.clone(),
                variants: vec![variant.clone()],
                trials: wanted,
                seed: self.setup.seed.wrapping_add(games),
                until: None,
                actions: ENCOUNTER_ACTIONS,
                memo: MemoUse::default(),
            };
            let found = simulation
                .run(threads, None, None, &mut |_, _| goes_on())
                .map_err(|error| Refusal::new(error.to_string()))?;
            if let Some(part) = found.tallies.first() {
                tally.add(part);
            }
            games += wanted;
            // The number of games that fit into half of the remaining time.
            let (spent, left) = (began.elapsed(), TIME.saturating_sub(began.elapsed()));
            let fit = (games as f64 * left.as_secs_f64() / spent.as_secs_f64() / 2.0) as u64;
            wanted = fit.min(MOST - games.min(MOST)).min(250);
        }
        // A game that does not end is a valid result; a script that fails is an error.
        let failed = tally.left_out.iter().find(|left| !left.unended);
        if let Some(failed) = failed.filter(|_| tally.trials == 0) {
            return Err(Refusal::new(format!("This scene cannot be played: {}.", failed.why)));
        }
        Ok(EncounterOdds { tally, played_by, interrupted: !goes_on() })
    }
}

impl EncounterOdds {
    /// The results with their rates, the most frequent first.
    pub fn results(&self) -> Vec<(&String, Rate)> {
        let tally = &self.tally;
        let mut results: Vec<_> = tally.results.keys().map(|result| (result, tally.rate(result))).collect();
        results.sort_by_key(|(_, rate)| std::cmp::Reverse(rate.count));
        results
    }

    /// True if something is missing: the simulation was ended early, or games did not end.
    pub fn is_partial(&self) -> bool {
        self.interrupted || !self.tally.left_out.is_empty()
    }
}

/// Returns a sheet without the keys that these rules do not know. Adds notes about these keys, and about breaches and
/// warnings that the rules report for the sheet.
fn fitting(
    rules: &Arc<Ruleset>,
    switches: &BTreeMap<String, Value>,
    name: &str,
    sheet: Value,
    notes: &mut Vec<String>,
) -> Result<Value, Refusal> {
    let steps = rules.sheet_steps(switches.clone()).map_err(Refusal::fault)?;
    let sheet = match sheet {
        Value::Map(fields) if !steps.is_empty() => {
            let (known, strange): (Vec<_>, Vec<_>) = fields
                .iter()
                .map(|(key, value)| (key.clone(), value.clone()))
                .partition(|(key, _)| steps.iter().any(|step| step.key == **key));
            if !strange.is_empty() {
                let keys: Vec<String> = strange.iter().map(|(key, _)| readable_name(key)).collect();
                notes.push(format!("{name}: these rules have no place for {}", keys.join(", ")));
            }
            Value::map(known)
        }
        sheet => sheet,
    };
    if rules.creates(CreationPart::Check) {
        let found = rules.check_sheet_under(&sheet, switches.clone()).map_err(Refusal::fault)?;
        notes.extend(found.iter().map(|breach| format!("{name}: {}", breach.in_words())));
    }
    Ok(sheet)
}
