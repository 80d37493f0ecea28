//! Fairness of a game: games as written and mirrored, on the same dice.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::super::paired::Difference;
use super::super::{Progress, SimulationError};
use super::facts::GameFacts;
use super::recorder::{Recorded, Study, Task, played_again};
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

/// An exchange between two seats, and what it shows.
#[derive(Clone, Debug)]
pub struct SeatExchange {
    /// What was exchanged.
    pub exchange: Exchange,
    /// The two seats, in their order; for [`Exchange::Order`], in the order in which the scenario lists them.
    pub seats: [Arc<str>; 2],
    /// The results, or a clause that says why the ruleset or the scenario does not allow the exchange.
    pub found: Result<Mirrored, String>,
}

/// The results of pairs of games: one as written, one with an exchange between two seats.
#[derive(Clone, Debug, Serialize)]
pub struct Mirrored {
    /// The share of games won by the first seat minus that of the second, over both games of each pair: the bias of the
    /// seat. -1 to 1; a draw is half a game won.
    pub seat: Difference,
    /// The share of games won by what belongs to the first seat as written minus that of what belongs to the second, in
    /// either seat: the bias of what is exchanged. For [`Exchange::Order`]: the bias of being listed first.
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
            Exchange::Order => with_order_reversed(&scenario, seats),
        };
        if changed == scenario {
            return Err(match exchange {
                Exchange::Policies | Exchange::Sides => format!(
                    "nothing in the scenario belongs to a seat by a key `seat` or by a table named `{}` or `{}`",
                    seats[0], seats[1]
                ),
                Exchange::Order => format!(
                    "no list of the scenario has entries with a key `seat` for both {} and {}",
                    seats[0], seats[1]
                ),
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

    /// Returns the seats to compare, in their order: those that won some game, or else the first two. Fewer than two if the game
    /// has fewer.
    pub fn compared_seats(&self, recorded: &Recorded) -> Vec<Arc<str>> {
        let won: BTreeSet<usize> = recorded.games.iter().filter_map(|game| game.winner()).collect();
        let others = (0..recorded.seats.len()).filter(|place| !won.contains(place));
        let more = others.take(2_usize.saturating_sub(won.len()));
        let places: BTreeSet<usize> = won.iter().copied().chain(more).collect();
        places.into_iter().map(|place| recorded.seats[place].clone()).collect()
    }

    /// Plays the recorded games again, mirrored, for each exchange between each pair of seats. `told` is called after each game
    /// and ends the work by returning false. All exchanges get the same games.
    ///
    /// # Errors
    ///
    /// Those of [`Study::record`]. An exchange that is not allowed is part of the result.
    pub fn mirror(
        &self,
        recorded: &Recorded,
        pairs: &[[Arc<str>; 2]],
        exchanges: &[Exchange],
        threads: usize,
        told: &mut dyn FnMut(Progress) -> bool,
    ) -> Result<Vec<SeatExchange>, SimulationError> {
        let scenario = self.ready()?.prepared.scenario;
        let mut studies: Vec<Study> = Vec::new();
        // Each exchange between two seats, with the index of its study or the reason why it is not possible.
        let mut wanted: Vec<(Exchange, SeatPair, Result<usize, String>)> = Vec::new();
        for exchange in exchanges {
            for pair in pairs {
                // What the order is worth is counted for the seat that is listed first.
                let seats = match exchange {
                    Exchange::Order => as_listed(&scenario, pair),
                    Exchange::Policies | Exchange::Sides => pair.clone(),
                };
                let study = self.mirrored(*exchange, &seats).map(|study| {
                    studies.push(study);
                    studies.len() - 1
                });
                wanted.push((*exchange, seats, study));
            }
        }
        let seats_of = |study: usize| wanted.iter().find(|(.., at)| *at == Ok(study)).map(|(_, seats, _)| seats);
        let again = |game: &GameFacts| (0..studies.len()).map(|study| Task::again(study, game)).collect::<Vec<_>>();
        let tasks: Vec<Task> = recorded.games.iter().flat_map(again).collect();
        let played = played_again(&studies, &tasks, threads, told, &|task, facts| {
            seats_of(task.study).and_then(|seats| recorded.ahead(facts, seats))
        })?;
        let found = wanted.iter().map(|(exchange, seats, study)| SeatExchange {
            exchange: *exchange,
            seats: seats.clone(),
            found: study.clone().map(|study| {
                let mirrored = played.iter().skip(study).step_by(studies.len()).copied();
                let written = recorded.games.iter().map(|game| recorded.ahead(game, seats));
                Mirrored::of(written.zip(mirrored))
            }),
        });
        Ok(found.collect())
    }
}

/// Two seats that exchange something.
type SeatPair = [Arc<str>; 2];

impl Recorded {
    /// The score of the first of two seats minus that of the second in a game: -1 to 1. `None` if the game has no end.
    fn ahead(&self, game: &GameFacts, seats: &[Arc<str>; 2]) -> Option<f64> {
        let [one, other] = seats.each_ref().map(|seat| game.score(self.place_of(seat)));
        Some(one? - other?)
    }
}

impl Mirrored {
    /// Counts pairs from the score of the first seat minus that of the second, in the game as written and in the mirrored one.
    fn of(games: impl Iterator<Item = (Option<f64>, Option<f64>)>) -> Mirrored {
        let (mut left_out, mut pairs) = (0, Vec::new());
        for game in games {
            match game {
                (Some(written), Some(mirrored)) => pairs.push((written, mirrored)),
                _ => left_out += 1,
            }
        }
        // In the mirrored game, the second seat holds what the first has as written.
        let seat = Difference::of_scores(pairs.iter().map(|(written, mirrored)| f64::midpoint(*written, *mirrored)));
        let exchanged = Difference::of_scores(pairs.iter().map(|(written, mirrored)| (written - mirrored) / 2.0));
        let same = pairs.iter().filter(|(written, mirrored)| written == mirrored).count() as u64;
        Mirrored { seat, exchanged, same, left_out }
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

/// The seat of an entry in a list of a scenario.
fn seat_of(item: &Value) -> Option<&Arc<str>> {
    match item {
        Value::Map(fields) => match fields.get("seat") {
            Some(Value::Text(seat)) => Some(seat),
            _ => None,
        },
        _ => None,
    }
}

/// Returns the table with the entries of two seats in each list in reverse order; all other entries keep their places.
fn with_order_reversed(table: &Value, seats: &[Arc<str>; 2]) -> Value {
    let Value::Map(fields) = table else { return table.clone() };
    let reversed = fields.iter().map(|(key, value)| {
        let value = match value {
            Value::List(items) => {
                let is_theirs = |item: &&Value| seat_of(item).is_some_and(|seat| seats.contains(seat));
                let mut theirs = items.iter().rev().filter(is_theirs);
                let taken = items.iter().map(|item| match is_theirs(&item) {
                    true => theirs.next().unwrap_or(item).clone(),
                    false => item.clone(),
                });
                Value::List(taken.collect())
            }
            value => value.clone(),
        };
        (key.clone(), value)
    });
    Value::Map(Arc::new(reversed.collect()))
}

/// Returns two seats in the order in which the first list with both names them.
fn as_listed(table: &Value, seats: &[Arc<str>; 2]) -> [Arc<str>; 2] {
    let [one, other] = seats;
    let Value::Map(fields) = table else { return seats.clone() };
    for value in fields.values() {
        let Value::List(items) = value else { continue };
        let place = |seat: &Arc<str>| items.iter().position(|item| seat_of(item) == Some(seat));
        if let (Some(first), Some(second)) = (place(one), place(other)) {
            return if first < second { seats.clone() } else { [other.clone(), one.clone()] };
        }
    }
    seats.clone()
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
        assert_eq!(with_order_reversed(&written, &seats), scenario(party("Bea", "right"), party("Ann", "left")));
        let by_table = |left: &str, right: &str| map(&[("left", text(left)), ("right", text(right))]);
        assert_eq!(with_seats_exchanged(&by_table("imp", "mage"), &seats, 0), by_table("mage", "imp"));
    }

    #[test]
    fn only_the_entries_of_two_seats_change_places_and_the_first_listed_comes_first() {
        let party = |name: &str, seat: &str| map(&[("name", text(name)), ("seat", text(seat))]);
        let list = |items: &[Value]| map(&[("parties", Value::List(items.into()))]);
        let written = list(&[party("Ann", "right"), party("Cat", "mid"), party("Bea", "left"), text("rope")]);
        let seats: [Arc<str>; 2] = ["left".into(), "right".into()];
        let reversed = list(&[party("Bea", "left"), party("Cat", "mid"), party("Ann", "right"), text("rope")]);
        assert_eq!(with_order_reversed(&written, &seats), reversed);
        assert_eq!(as_listed(&written, &seats).map(|seat| seat.to_string()), ["right", "left"]);
        assert_eq!(as_listed(&reversed, &seats), seats);
    }

    #[test]
    fn the_bias_of_a_seat_is_separated_from_that_of_the_exchanged_thing() {
        let of = |pairs: &[(f64, f64)]| {
            let found = Mirrored::of(pairs.iter().map(|(one, other)| (Some(*one), Some(*other))));
            (found.seat.average, found.exchanged.average, found.same)
        };
        // The seat always wins; the characters always win; the dice decide.
        assert_eq!(of(&[(1.0, 1.0); 3]), (1.0, 0.0, 3));
        assert_eq!(of(&[(1.0, -1.0); 3]), (0.0, 1.0, 0));
        assert_eq!(of(&[(1.0, 1.0), (-1.0, -1.0)]), (0.0, 0.0, 2));
        assert_eq!(of(&[(1.0, 0.0)]), (0.5, 0.5, 0));
    }
}
