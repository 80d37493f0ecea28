use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::StartError;
use riskbreaker_ruleset::{Data, Problem, Rulebook, Source, instead, plain};
use riskbreaker_state::Value;

/// How a game begins.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "serve", derive(schemars::JsonSchema))]
pub struct Setup {
    /// The starting position.
    pub scenario: Scenario,
    /// The seed of the dice.
    pub seed: u64,
    /// Where the faces of dice come from.
    pub dice: DiceSource,
    /// Who plays which seat; seats that are not named are played as the scenario says, or by people.
    pub seats: BTreeMap<Arc<str>, Driver>,
    /// House rules that differ from the ruleset's defaults.
    pub switches: BTreeMap<String, Value>,
    /// Whether entities that are made in secret have numbers of their own, which tell nobody how many there are. Only games that
    /// an older version of the program began have them numbered in one sequence with all others.
    #[serde(default)]
    pub secret_numbers: bool,
}

/// The starting position: one of the ruleset's by name, or a table of one's own.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "serve", derive(schemars::JsonSchema))]
pub enum Scenario {
    /// The scenario that the manifest names.
    Default,
    /// A scenario of the ruleset, by name.
    Named(String),
    /// A position of one's own, in the form of a scenario.
    Table(Value),
}

impl Scenario {
    /// What a starting position calls itself.
    pub fn title_of(position: &Value) -> Option<&str> {
        match position {
            Value::Map(fields) => fields.get("title").and_then(Value::as_text),
            _ => None,
        }
    }
}

/// Who plays a seat.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "serve", derive(schemars::JsonSchema))]
pub enum Driver {
    /// A person: questions go out.
    Human,
    /// A policy of the ruleset, by id.
    Policy(Arc<str>),
    /// Nobody: each question takes its default.
    Absent,
}

impl Driver {
    /// The policy that plays, if one does.
    pub(super) fn policy(&self) -> Option<&str> {
        match self {
            Driver::Policy(policy) => Some(policy),
            _ => None,
        }
    }
}

/// Where faces come from.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "serve", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub enum DiceSource {
    /// The generator.
    #[default]
    Seeded,
    /// These faces, in order; running out is a fault.
    Written(Vec<u32>),
    /// These faces, in order, and then the generator.
    Pushed(Vec<u32>),
    /// Real dice: each roll is a question.
    Typed,
}

impl Scenario {
    /// Reads a position as it stands in a ruleset's `scenarios/*.toml`; `path` is for messages.
    ///
    /// # Errors
    ///
    /// Every place that is no data.
    pub fn read(path: &str, bytes: &[u8]) -> Result<Scenario, Vec<Problem>> {
        let source = Source::read(path, bytes)?;
        Ok(Scenario::Table(plain(&Data::read(&source)?.value)))
    }

    /// The starting position as a table.
    pub(super) fn table(&self, rules: &Rulebook) -> Result<Value, StartError> {
        let name = match self {
            Scenario::Table(table) => return Ok(table.clone()),
            Scenario::Named(name) => name.as_str(),
            Scenario::Default => rules.default_scenario().unwrap_or("default"),
        };
        let scenarios = rules.scenarios();
        scenarios.get(name).cloned().ok_or_else(|| {
            let names = scenarios.keys().map(String::as_str);
            let instead = instead(name, names);
            StartError::NoScenario { ruleset: rules.id().to_string(), name: name.to_string(), instead }
        })
    }
}

impl Setup {
    /// A game from a scenario of the ruleset.
    pub fn scenario(name: impl Into<String>) -> Setup {
        Setup { scenario: Scenario::Named(name.into()), ..Setup::default() }
    }

    /// A game from a position of one's own.
    pub fn table(scenario: Value) -> Setup {
        Setup { scenario: Scenario::Table(scenario), ..Setup::default() }
    }

    /// With this seed of the dice.
    pub fn seed(mut self, seed: u64) -> Setup {
        self.seed = seed;
        self
    }

    /// With faces from there.
    pub fn dice(mut self, dice: DiceSource) -> Setup {
        self.dice = dice;
        self
    }

    /// With somebody on a seat.
    pub fn seat(mut self, seat: impl AsRef<str>, driver: Driver) -> Setup {
        self.seats.insert(Arc::from(seat.as_ref()), driver);
        self
    }

    /// With a house rule.
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
        }
    }
}

impl std::str::FromStr for Driver {
    type Err = std::convert::Infallible;

    /// `human`, `absent`, or the id of a policy.
    fn from_str(text: &str) -> Result<Driver, Self::Err> {
        Ok(match text {
            "human" => Driver::Human,
            "absent" => Driver::Absent,
            policy => Driver::Policy(policy.into()),
        })
    }
}
