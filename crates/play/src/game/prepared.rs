use std::collections::BTreeMap;
use std::sync::Arc;

use super::Game;
use crate::machine::known_policy;
use crate::{ActionContext, Driver, Ruleset, Setup, StartError};
use riskbreaker_ruleset::instead;
use riskbreaker_state::Value;

/// A checked setup from which any number of games can begin.
#[derive(Clone, Debug)]
pub struct Prepared {
    pub rules: Arc<Ruleset>,
    pub setup: Arc<Setup>,
    pub scenario: Value,
    pub switches: Arc<BTreeMap<String, Value>>,
    pub seats: BTreeMap<Arc<str>, Driver>,
}

impl Prepared {
    /// Describes what the ruleset computes between two entries of these games. `None` if nothing.
    pub fn between_entries(&self) -> Option<String> {
        self.rules.between_entries(self.seats.values().filter_map(Driver::policy)).map(|between| between.to_string())
    }

    pub fn new(rules: &Arc<Ruleset>, setup: Setup) -> Result<Prepared, StartError> {
        let mut scenario = setup.scenario.table(rules)?;
        let is_deep = setup.switches.values().chain([&scenario]).any(Value::is_too_deep);
        if is_deep {
            // Leaked on purpose: dropping it recurses as deep as it is nested and could overflow the stack.
            std::mem::forget((scenario, setup));
            return Err(StartError::TooDeep { most: Value::DEEPEST });
        }
        let switches = settle_switches(rules, &setup, &scenario)?;
        let seats = settle_seats(rules, &setup, &scenario)?;
        if setup.seats_in_scenario {
            scenario = with_seats(scenario, &setup.seats);
        }
        Ok(Prepared { rules: rules.clone(), setup: Arc::new(setup), scenario, switches: Arc::new(switches), seats })
    }

    /// A copy that shares no reference counts with games of other threads.
    pub fn apart(&self) -> Prepared {
        let driver = |driver: &Driver| match driver {
            Driver::Policy(policy) => Driver::Policy(Arc::from(&**policy)),
            other => other.clone(),
        };
        Prepared {
            rules: self.rules.apart(),
            setup: Arc::new((*self.setup).clone()),
            scenario: self.scenario.apart(),
            switches: Arc::new((*self.switches).clone()),
            seats: self.seats.iter().map(|(seat, who)| (Arc::from(&**seat), driver(who))).collect(),
        }
    }

    pub fn game(&self) -> Game {
        let (switches, seats) = (self.switches.clone(), self.seats.clone());
        let mut context = ActionContext::new(&self.rules, switches, seats, self.setup.dice.clone(), self.setup.seed);
        if self.setup.secret_numbers {
            context.state.number_secrets_apart(self.setup.seed);
        }
        Game::new(context, self.setup.clone(), self.scenario.clone())
    }
}

/// The values in a table of a scenario, by name.
fn named<'s>(scenario: &'s Value, table: &str) -> impl Iterator<Item = (&'s Arc<str>, &'s Value)> + use<'s> {
    let tables = if let Value::Map(tables) = scenario { tables.get(table) } else { None };
    let named = if let Some(Value::Map(named)) = tables { Some(named) } else { None };
    named.into_iter().flat_map(|named| named.iter())
}

/// A scenario whose `seats` include those of a setup.
fn with_seats(scenario: Value, chosen: &BTreeMap<Arc<str>, Driver>) -> Value {
    if chosen.is_empty() {
        return scenario;
    }
    let mut tables = if let Value::Map(tables) = &scenario { (**tables).clone() } else { return scenario };
    let mut seats = match tables.get("seats") {
        Some(Value::Map(seats)) => (**seats).clone(),
        _ => BTreeMap::new(),
    };
    seats.extend(chosen.iter().map(|(seat, driver)| (seat.clone(), Value::text(driver.to_string()))));
    tables.insert(Arc::from("seats"), Value::Map(Arc::new(seats)));
    Value::Map(Arc::new(tables))
}

fn settle_switches(rules: &Ruleset, setup: &Setup, scenario: &Value) -> Result<BTreeMap<String, Value>, StartError> {
    let mut values = rules.default_switches();
    let from_scenario = named(scenario, "switches").map(|(name, value)| (name.to_string(), value.clone()));
    let from_setup = setup.switches.iter().map(|(name, value)| (name.clone(), value.clone()));
    for (name, value) in from_scenario.chain(from_setup) {
        let Some(switch) = rules.switch(&name) else {
            let names = rules.switches().map(|switch| &*switch.name);
            return Err(StartError::Switch(format!(
                "{} has no switch `{name}`; {}",
                rules.id(),
                instead(&name, names)
            )));
        };
        let written = match &value {
            Value::Bool(truth) => truth.to_string(),
            other => other.to_string(),
        };
        let value = switch.parse(&written).map_err(StartError::SwitchValue)?;
        values.insert(name, value.as_value());
    }
    Ok(values)
}

fn settle_seats(rules: &Ruleset, setup: &Setup, scenario: &Value) -> Result<BTreeMap<Arc<str>, Driver>, StartError> {
    let mut seats: BTreeMap<Arc<str>, Driver> =
        rules.seats().keys().map(|seat| (Arc::from(&**seat), Driver::Human)).collect();
    for (seat, driver) in named(scenario, "seats") {
        let Ok(driver) = driver.to_string().parse();
        seats.insert(seat.clone(), driver);
    }
    seats.extend(setup.seats.iter().map(|(seat, driver)| (seat.clone(), driver.clone())));
    for (seat, driver) in &seats {
        if !rules.seats().contains_key(&**seat) {
            let meant = instead(seat, rules.seats().keys().map(String::as_str));
            return Err(StartError::Seat(format!("{} has no seat `{seat}`; {meant}", rules.id())));
        }
        if let Driver::Policy(policy) = driver {
            known_policy(rules, policy).map_err(StartError::Seat)?;
        }
    }
    Ok(seats)
}
