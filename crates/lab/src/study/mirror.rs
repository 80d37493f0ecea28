//! Fairness of a game: games as written and mirrored, on the same dice.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::super::paired::Difference;
use super::super::{Progress, SimulationError};
use super::recorder::{Recorded, Study};
use riskbreaker_play::{Driver, Scenario};
use riskbreaker_state::Value;

/// What two seats exchange in the mirrored game of a pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Exchange {
    /// The policies that play the seats.
    Policies,
    /// The order in which the scenario lists what belongs to the seats.
    Order,
    /// What the seats have: characters, sides, parties.
    Sides,
}

impl Exchange {
    /// All exchanges.
    pub const ALL: [Exchange; 3] = [Exchange::Policies, Exchange::Order, Exchange::Sides];
}

impl fmt::Display for Exchange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Exchange::Policies => "policies",
            Exchange::Order => "order",
            Exchange::Sides => "sides",
        })
    }
}

/// The results of pairs of games: one as written, one with an exchange between two seats.
#[derive(Clone, Debug, Serialize)]
pub struct Mirrored {
    /// What was exchanged.
    pub exchange: Exchange,
    /// The two seats, in the order of the scenario as written.
    pub seats: [Arc<str>; 2],
    /// The share of games won by the first seat minus that of the second, over both games of each pair: the edge of the
    /// seat. -1 to 1; a draw is half a game won.
    pub seat: Difference,
    /// The share of games won by what belongs to the first seat as written minus that of what belongs to the second, in
    /// either seat: the edge of what is exchanged.
    pub exchanged: Difference,
    /// The number of pairs in which both games gave the first seat the same score.
    pub same: u64,
    /// The number of pairs that do not count because one of the two games has no end.
    pub left_out: u64,
}

impl Study {
    /// Returns the study of the mirrored games.
    ///
    /// # Errors
    ///
    /// A clause that says why this ruleset or scenario does not allow the exchange.
    pub fn mirrored(&self, exchange: Exchange, seats: &[Arc<str>; 2]) -> Result<Study, String> {
        let mut study = self.clone();
        if exchange == Exchange::Policies {
            return study.exchange_policies(seats).map(|()| study);
        }
        let scenario = study.ready().map_err(|error| error.to_string())?.prepared.scenario;
        let changed = match exchange {
            Exchange::Policies | Exchange::Sides => with_seats_exchanged(&scenario, seats, 0),
            Exchange::Order => with_lists_reversed(&scenario),
        };
        if changed == scenario {
            return Err(match exchange {
                Exchange::Policies | Exchange::Sides => format!(
                    "nothing in the scenario belongs to a seat by a key `seat` or by a table named `{}` or `{}`",
                    seats[0], seats[1]
                ),
                Exchange::Order => "no list of the scenario has several entries with a key `seat`".into(),
            });
        }
        study.variant.setup.scenario = Scenario::Table(changed);
        // The rules may refuse the mirrored start.
        study.ready().map_err(|error| error.to_string())?;
        Ok(study)
    }

    fn exchange_policies(&mut self, seats: &[Arc<str>; 2]) -> Result<(), String> {
        let [one, other] = seats;
        let setup = &mut self.variant.setup.seats;
        let drivers = [setup.get(one).cloned(), setup.get(other).cloned()];
        let random = [self.random.remove(one), self.random.remove(other)];
        let ahead = [self.variant.ahead.remove(one), self.variant.ahead.remove(other)];
        let differ = random[0] != random[1] || ahead[0] != ahead[1];
        for (had, (random, ahead)) in [other, one].into_iter().zip(random.into_iter().zip(ahead)) {
            self.random.extend(random.then(|| had.clone()));
            self.variant.ahead.extend(ahead.map(|ahead| (had.clone(), ahead)));
        }
        if drivers[0] == drivers[1] && !differ {
            let who = match &drivers[0] {
                Some(Driver::Policy(policy)) => format!("by {policy}"),
                _ => "in the same way".into(),
            };
            return Err(format!("both seats are played {who}; `--seat {other}=POLICY` names another"));
        }
        for (seat, driver) in [other, one].into_iter().zip(drivers) {
            match driver {
                Some(driver) => drop(setup.insert(seat.clone(), driver)),
                None => drop(setup.remove(seat)),
            }
        }
        Ok(())
    }

    /// Returns the first two seats without playing; `None` if there are fewer.
    ///
    /// # Errors
    ///
    /// A game cannot start.
    pub fn first_seats(&self) -> Result<Option<[Arc<str>; 2]>, SimulationError> {
        let mut seats = self.contenders()?;
        seats.truncate(2);
        Ok(<[Arc<str>; 2]>::try_from(seats).ok())
    }

    /// Returns the two seats to compare: the first two that won some game, or else the first two. `None` if there are
    /// fewer.
    pub fn compared_seats(&self, recorded: &Recorded) -> Option<[Arc<str>; 2]> {
        let mut won: BTreeMap<usize, u64> = BTreeMap::new();
        for winner in recorded.games.iter().filter_map(|game| game.winner()) {
            *won.entry(winner).or_default() += 1;
        }
        let mut places: Vec<usize> = (0..recorded.seats.len()).collect();
        places.sort_by_key(|place| (!won.contains_key(place), *place));
        places.truncate(2);
        places.sort_unstable();
        let named: Vec<Arc<str>> = places.into_iter().map(|place| recorded.seats[place].clone()).collect();
        <[Arc<str>; 2]>::try_from(named).ok()
    }

    /// Plays the recorded games again, mirrored. `told` is called after each game and ends the work by returning false.
    ///
    /// # Errors
    ///
    /// Those of [`Study::record`]. An exchange that is not allowed is part of the result.
    #[allow(clippy::type_complexity)] // each exchange with its pairs, or why it is not possible
    pub fn mirror(
        &self,
        recorded: &Recorded,
        seats: &[Arc<str>; 2],
        exchanges: &[Exchange],
        threads: usize,
        told: &mut dyn FnMut(Progress) -> bool,
    ) -> Result<Vec<(Exchange, Result<Mirrored, String>)>, SimulationError> {
        let mirrored: Vec<(Exchange, Result<Study, String>)> =
            exchanges.iter().map(|exchange| (*exchange, self.mirrored(*exchange, seats))).collect();
        let allowed: Vec<Study> = mirrored.iter().filter_map(|(_, study)| study.clone().ok()).collect();
        let first = recorded.place_of(&seats[0]);
        let scores = recorded.scores_under(&allowed, first, threads, told)?;
        let written: Vec<Option<f64>> = recorded.games.iter().map(|game| game.score(first)).collect();
        let mut at = 0;
        let found = mirrored.into_iter().map(|(exchange, study)| {
            let found = study.map(|_| {
                let own = scores.iter().skip(at).step_by(allowed.len().max(1)).copied();
                at += 1;
                Mirrored::of(exchange, seats, written.iter().copied().zip(own))
            });
            (exchange, found)
        });
        Ok(found.collect())
    }
}

impl Mirrored {
    /// Counts pairs from the score of the first seat in the game as written and in the mirrored one.
    fn of(
        exchange: Exchange,
        seats: &[Arc<str>; 2],
        scores: impl Iterator<Item = (Option<f64>, Option<f64>)>,
    ) -> Mirrored {
        let (mut left_out, mut pairs) = (0, Vec::new());
        for scores in scores {
            match scores {
                (Some(written), Some(mirrored)) => pairs.push((written, mirrored)),
                _ => left_out += 1,
            }
        }
        // With two seats, one wins what the other loses: the difference of their shares is twice the share above one
        // half. In the mirrored game, the second seat holds what the first has as written, and wins with it if the
        // first seat loses.
        let seat = Difference::of_scores(pairs.iter().map(|(written, mirrored)| written + mirrored - 1.0));
        let exchanged = Difference::of_scores(pairs.iter().map(|(written, mirrored)| written - mirrored));
        let same = pairs.iter().filter(|(written, mirrored)| written == mirrored).count() as u64;
        Mirrored { exchange, seats: seats.clone(), seat, exchanged, same, left_out }
    }
}

/// The depth to which nested tables are followed.
const DEEPEST: usize = 32;

/// Returns the table with the two seats exchanged: in each value with the key `seat`, and in the keys of the table
/// itself.
fn with_seats_exchanged(table: &Value, seats: &[Arc<str>; 2], depth: usize) -> Value {
    let other = |name: &str| match name {
        name if *name == *seats[0] => Some(seats[1].clone()),
        name if *name == *seats[1] => Some(seats[0].clone()),
        _ => None,
    };
    match table {
        Value::Map(fields) if depth < DEEPEST => {
            let exchanged = fields.iter().map(|(key, value)| {
                // The drivers of seats are exchanged with policies, not with sides.
                if depth == 0 && &**key == "seats" {
                    return (key.clone(), value.clone());
                }
                let renamed = if depth == 0 { other(key) } else { None };
                let value = match value {
                    Value::Text(name) if &**key == "seat" => Value::Text(other(name).unwrap_or_else(|| name.clone())),
                    value => with_seats_exchanged(value, seats, depth + 1),
                };
                (renamed.unwrap_or_else(|| key.clone()), value)
            });
            Value::Map(Arc::new(exchanged.collect()))
        }
        Value::List(items) if depth < DEEPEST => {
            Value::List(items.iter().map(|item| with_seats_exchanged(item, seats, depth + 1)).collect())
        }
        other => other.clone(),
    }
}

/// Returns the table with each list of entries that belong to seats reversed.
fn with_lists_reversed(table: &Value) -> Value {
    let Value::Map(fields) = table else { return table.clone() };
    let seat_of = |item: &Value| match item {
        Value::Map(fields) => fields.get("seat").cloned(),
        _ => None,
    };
    let reversed = fields.iter().map(|(key, value)| {
        let value = match value {
            Value::List(items) if items.iter().filter_map(seat_of).count() > 1 => {
                Value::List(items.iter().rev().cloned().collect())
            }
            value => value.clone(),
        };
        (key.clone(), value)
    });
    Value::Map(Arc::new(reversed.collect()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(text: &str) -> Value {
        Value::Text(text.into())
    }

    fn map(fields: &[(&str, Value)]) -> Value {
        Value::Map(Arc::new(fields.iter().map(|(key, value)| (Arc::from(*key), value.clone())).collect()))
    }

    #[test]
    fn seats_and_orders_of_a_scenario_are_exchanged() {
        let seats: [Arc<str>; 2] = ["left".into(), "right".into()];
        let party = |name: &str, seat: &str| map(&[("name", text(name)), ("seat", text(seat))]);
        let scenario = |first: Value, second: Value| {
            map(&[
                ("parties", Value::List([first, second].into())),
                ("seats", map(&[("left", text("bold"))])),
                ("title", text("left against right")),
            ])
        };
        let written = scenario(party("Ann", "left"), party("Bea", "right"));
        let sides = with_seats_exchanged(&written, &seats, 0);
        assert_eq!(sides, scenario(party("Ann", "right"), party("Bea", "left")));
        assert_eq!(with_seats_exchanged(&sides, &seats, 0), written);
        assert_eq!(with_lists_reversed(&written), scenario(party("Bea", "right"), party("Ann", "left")));
        let by_table = |left: &str, right: &str| map(&[("left", text(left)), ("right", text(right))]);
        assert_eq!(with_seats_exchanged(&by_table("imp", "mage"), &seats, 0), by_table("mage", "imp"));
    }

    #[test]
    fn the_advantage_of_a_seat_is_separated_from_that_of_the_exchanged_thing() {
        let seats: [Arc<str>; 2] = ["left".into(), "right".into()];
        let of = |pairs: &[(f64, f64)]| {
            let scores = pairs.iter().map(|(one, other)| (Some(*one), Some(*other)));
            let found = Mirrored::of(Exchange::Sides, &seats, scores);
            (found.seat.average, found.exchanged.average, found.same)
        };
        // The seat always wins; the characters always win; the dice decide.
        assert_eq!(of(&[(1.0, 1.0); 3]), (1.0, 0.0, 3));
        assert_eq!(of(&[(1.0, 0.0); 3]), (0.0, 1.0, 0));
        assert_eq!(of(&[(1.0, 1.0), (0.0, 0.0)]), (0.0, 0.0, 2));
        assert_eq!(of(&[(1.0, 0.5)]), (0.5, 0.5, 0));
    }
}
