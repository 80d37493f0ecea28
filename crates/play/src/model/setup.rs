use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::start_error::StartError;
use riskbreaker_ruleset::{Data, Problem, Rulebook, Source, instead, plain};
use riskbreaker_state::Value;

/// The setup of a new game.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "serve", derive(schemars::JsonSchema))]
pub struct Setup {
    /// The starting position.
    pub scenario: Scenario,
    /// The seed of the dice.
    pub seed: u64,
    /// The source of the faces of dice.
    pub dice: DiceSource,
    /// The drivers of seats; other seats are played as the scenario says, or by people.
    pub seats: BTreeMap<Arc<str>, Driver>,
    /// House rules that differ from the ruleset's defaults.
    pub switches: BTreeMap<String, Value>,
    /// True if entities made in secret are numbered separately, so that their numbers reveal nothing. False only in
    /// games begun by an older version of the program.
    #[serde(default)]
    pub secret_numbers: bool,
    /// Whether `scenario.seats`, as scripts read it, includes the seats of this setup. Only games that an older version of the
    /// program began leave them out.
    #[serde(default)]
    pub seats_in_scenario: bool,
}

/// The starting position: a scenario of the ruleset, or a custom table.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "serve", derive(schemars::JsonSchema))]
pub enum Scenario {
    /// The default scenario of the manifest.
    Default,
    /// A scenario of the ruleset, by name.
    Named(String),
    /// A custom position, in the form of a scenario.
    Table(Value),
}

impl Scenario {
    /// Returns the title of a starting position. `None` if it has none.
    pub fn title_of(position: &Value) -> Option<&str> {
        match position {
            Value::Map(fields) => fields.get("title").and_then(Value::as_text),
            _ => None,
        }
    }
}

/// The player of a seat.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "serve", derive(schemars::JsonSchema))]
pub enum Driver {
    /// A person: questions are asked.
    Human,
    /// A policy of the ruleset, by id.
    Policy(Arc<str>),
    /// Not played: each question takes its default.
    Absent,
}

impl Driver {
    /// The policy, if one plays the seat.
    pub(crate) fn policy(&self) -> Option<&str> {
        match self {
            Driver::Policy(policy) => Some(policy),
            _ => None,
        }
    }
}

/// The source of faces.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "serve", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub enum DiceSource {
    /// The generator.
    #[default]
    Seeded,
    /// These faces, in order; a missing face is a fault.
    Written(Vec<u32>),
    /// These faces, in order, and then the generator.
    Pushed(Vec<u32>),
    /// Real dice: each roll is a question.
    Typed,
}

impl Scenario {
    /// Reads a position as written in a ruleset's `scenarios/*.toml`. `path`: for messages.
    ///
    /// # Errors
    ///
    /// Every place in the file that is no plain data.
    pub fn read(path: &str, bytes: &[u8]) -> Result<Scenario, Vec<Problem>> {
        let source = Source::read(path, bytes)?;
        Ok(Scenario::Table(plain(&Data::read(&source)?.value)))
    }

    /// Returns the starting position as a table.
    pub(crate) fn table(&self, rules: &Rulebook) -> Result<Value, StartError> {
        let name = match self {
            Scenario::Table(table) => return Ok(table.clone()),
            Scenario::Named(name) => name.as_str(),
            Scenario::Default => rules.default_scenario().unwrap_or("default"),
        };
        let scenarios = rules.scenarios();
        scenarios.get(name).cloned().ok_or_else(|| {
            let names = scenarios.keys().map(String::as_str);
            let instead = instead(name, names).to_string();
            StartError::NoScenario { ruleset: rules.id().to_string(), name: name.to_string(), instead }
        })
    }
}

impl Setup {
    /// A setup with a scenario of the ruleset.
    pub fn scenario(name: impl Into<String>) -> Setup {
        Setup { scenario: Scenario::Named(name.into()), ..Setup::default() }
    }

    /// A setup with a custom position.
    pub fn table(scenario: Value) -> Setup {
        Setup { scenario: Scenario::Table(scenario), ..Setup::default() }
    }

    /// Sets the seed of the dice.
    pub fn seed(mut self, seed: u64) -> Setup {
        self.seed = seed;
        self
    }

    /// Sets the source of faces.
    pub fn dice(mut self, dice: DiceSource) -> Setup {
        self.dice = dice;
        self
    }

    /// Sets the driver of a seat.
    pub fn seat(mut self, seat: impl AsRef<str>, driver: Driver) -> Setup {
        self.seats.insert(Arc::from(seat.as_ref()), driver);
        self
    }

    /// Sets a house rule.
    pub fn switch(mut self, name: impl Into<String>, value: impl Into<Value>) -> Setup {
        self.switches.insert(name.into(), value.into());
        self
    }
}

impl Default for Setup {
    fn default() -> Setup {
        Setup {
            scenario: Scenario::Default,
            seed: 0,
            dice: DiceSource::Seeded,
            seats: BTreeMap::new(),
            switches: BTreeMap::new(),
            secret_numbers: true,
            seats_in_scenario: true,
        }
    }
}

impl std::fmt::Display for Driver {
    /// The text that [`Driver::from_str`](std::str::FromStr::from_str) reads.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Driver::Human => "human",
            Driver::Absent => "absent",
            Driver::Policy(policy) => policy,
        })
    }
}

impl std::str::FromStr for Driver {
    type Err = std::convert::Infallible;

    /// Parses `human`, `absent`, or the id of a policy.
    fn from_str(text: &str) -> Result<Driver, Self::Err> {
        Ok(match text {
            "human" => Driver::Human,
            "absent" => Driver::Absent,
            policy => Driver::Policy(policy.into()),
        })
    }
}
