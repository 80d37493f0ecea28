//! Seats without a policy that decide by what may follow.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use super::advise::best_answer;
use super::search::{Search, searched_answer};
use riskbreaker_play::{Answer, Driver, Game, Machine, Question, Refusal};

/// How a seat decides that follows no policy. It uses only what the seat knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Foresight {
    /// `ahead`: takes the answer that is worth most after the open action, by exact odds.
    OneStep,
    /// `search:N`, `search:N:horizon` or `search:N:horizon:K`: plays ahead.
    Search(Search),
}

/// The driver name of a seat that looks one step ahead, with the ruleset's `value` as the measure.
pub const AHEAD: &str = "ahead";
/// The word before the number of playouts.
const SEARCH: &str = "search";
/// The word after the number of playouts, if they stop early: at the first horizon, or at that of the number after it.
const HORIZON: &str = "horizon";

impl Foresight {
    /// The foresight of this name; `None` for any other name, such as that of a policy.
    ///
    /// # Errors
    ///
    /// A search without a number of playouts from 1 to [`Search::MOST`], or with more than the word `horizon` after it.
    pub fn named(name: &str) -> Result<Option<Foresight>, String> {
        if name == AHEAD {
            return Ok(Some(Foresight::OneStep));
        }
        let mut parts = name.split(':');
        if parts.next() != Some(SEARCH) {
            return Ok(None);
        }
        let number = |part: Option<&str>| {
            part.and_then(|part| part.parse().ok()).filter(|number| (1..=Search::MOST).contains(number))
        };
        let playouts = number(parts.next());
        let horizons = match (parts.next(), parts.next(), parts.next()) {
            (None, ..) => Some(None),
            (Some(HORIZON), None, _) => Some(Some(1)),
            (Some(HORIZON), times, None) => number(times).map(Some),
            _ => None,
        };
        match (playouts, horizons) {
            (Some(playouts), Some(horizons)) => Ok(Some(Foresight::Search(Search { playouts, horizons }))),
            _ => Err(format!(
                "`{name}` is no search: write search:N with 1 to {} playouts a decision, for example search:100, or \
                 search:100:horizon:3 for playouts that stop where they reach the horizon of the ruleset for the third time",
                Search::MOST
            )),
        }
    }

    /// The answer to a question of its seat. Options in `closed` are left out while there are others. `seed`: of the dice of
    /// playouts; those of the game are not drawn.
    ///
    /// # Errors
    ///
    /// No answer can be taken; looking ahead would tell what the seat may not see; `stop` was set.
    pub(super) fn answer(
        self,
        game: &Game,
        vm: &mut dyn Machine,
        question: &Question,
        closed: &[Arc<str>],
        seed: u64,
        stop: Option<&Arc<AtomicBool>>,
    ) -> Result<Answer, Refusal> {
        match self {
            Foresight::OneStep => best_answer(game, vm, question, closed, stop),
            Foresight::Search(search) => searched_answer(game, vm, question, closed, search, seed, stop),
        }
    }
}

impl fmt::Display for Foresight {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Foresight::OneStep => f.write_str(AHEAD),
            Foresight::Search(Search { playouts, horizons: None }) => write!(f, "{SEARCH}:{playouts}"),
            Foresight::Search(Search { playouts, horizons: Some(1) }) => write!(f, "{SEARCH}:{playouts}:{HORIZON}"),
            Foresight::Search(Search { playouts, horizons: Some(times) }) => {
                write!(f, "{SEARCH}:{playouts}:{HORIZON}:{times}")
            }
        }
    }
}

/// The seats of one trial that look ahead.
pub(super) struct Seeing {
    /// How each of them does.
    pub ahead: BTreeMap<Arc<str>, Foresight>,
    /// The seed of the simulation.
    pub seed: u64,
    /// The number of the trial.
    pub trial: u64,
}

impl Seeing {
    /// Answers the first open question, if its seat looks ahead.
    ///
    /// # Errors
    ///
    /// Why nobody answers it.
    pub fn answer(&self, game: &mut Game, vm: &mut dyn Machine, stop: Option<&Arc<AtomicBool>>) -> Result<(), String> {
        let question = game.open.as_ref().and_then(|open| open.questions.first()).cloned();
        let question = question.ok_or("it waits, and asks nothing")?;
        if let Some(foresight) = self.ahead.get(&question.seat) {
            // Questions of one action differ in their places.
            let decision = (game.actions << 16) + u64::from(question.id.ordinal);
            let seed = seed_of_decision(self.seed, self.trial, decision);
            let answer = foresight.answer(game, vm, &question, &[], seed, stop);
            let answered = answer.and_then(|answer| game.answer(question.id, answer));
            return answered.map_err(|refusal| refusal.to_string());
        }
        let (topic, seat) = (&question.topic, &question.seat);
        Err(match game.context.answers.seats.get(seat) {
            Some(Driver::Policy(policy)) => format!(
                "nobody answers `{topic}`, a question to {seat}: its policy `{policy}` returns nothing, and the question has no default"
            ),
            _ => format!("nobody answers `{topic}`, a question to {seat}"),
        })
    }
}

/// The seed of the dice for one decision of a game: another one for each decision, and the same for any number of threads.
pub(super) fn seed_of_decision(seed: u64, trial: u64, decision: u64) -> u64 {
    // SplitMix64 (Steele, Lea and Flood 2014): neighbouring numbers give unrelated seeds.
    let mixed = |number: u64| {
        let mut z = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    };
    mixed(mixed(mixed(seed) ^ trial) ^ decision)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_read_as_it_is_written() {
        for name in ["ahead", "search:1", "search:200", "search:50:horizon", "search:50:horizon:3"] {
            assert_eq!(Foresight::named(name).unwrap().map(|foresight| foresight.to_string()).as_deref(), Some(name));
        }
        assert_eq!(Foresight::named("searching"), Ok(None));
        for name in [
            "search",
            "search:",
            "search:0",
            "search:x",
            "search:9:round",
            "search:9:horizon:0",
            "search:9:horizon:2:3",
            "search:-1",
        ] {
            assert!(Foresight::named(name).is_err_and(|why| why.contains("search:100")), "{name}");
        }
    }
}
