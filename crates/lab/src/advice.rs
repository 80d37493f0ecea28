//! Answers with their odds, values and places: the result of a hint.

use std::time::Duration;

use super::odds::{Odds, unseen_in_words};
use super::paired::Difference;
use super::tally::Rate;
use riskbreaker_dice::Fraction;
use riskbreaker_play::{Answer, Refusal};

/// The value of one answer to a question, and the reasons.
#[derive(Clone, Debug)]
pub struct Advice {
    /// The answer, in the form that [`Session::answer`](riskbreaker_play::Session::answer) takes.
    pub answer: Answer,
    /// The answer in words.
    pub text: String,
    /// The odds of what follows, or why they cannot be computed. They look ahead to the horizon that the ruleset names,
    /// with the answers of policies and defaults to later questions. Without a horizon, or if it is out of reach for
    /// some answer, they end with the open action, with the best answers to later questions.
    pub odds: Result<Odds, Refusal>,
    /// True if the odds were computed, or found impossible to compute. False if the work ended before that.
    pub examined: bool,
    /// The average value, to the asked seat, of the state in which the odds end.
    pub worth: Option<Fraction>,
    /// The result of the games played to their end after this answer.
    pub played: Option<PlayedOut>,
    /// The place in the ranking, from 1. Answers between which no difference was found share a place. `None` if the
    /// answers are not ranked.
    pub place: Option<usize>,
    /// By how much its score is below that of the best answer, from games of both on the same dice. `None` for answers
    /// in the first place, and if no games were played.
    pub behind: Option<Difference>,
    /// What sets the answer apart from the others, if its odds are exact: "keeps 2 Gold; 50 % to gain 3 Gold".
    pub reason: Option<String>,
}

/// The result of games that were played to their end by policies.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PlayedOut {
    /// The number of games.
    pub games: u64,
    /// The number of games in which the asked seat had a higher value at the end than every other seat. `None` if no other seat
    /// has a value.
    pub wins: Option<u64>,
    /// The number of games in which no other seat had a higher value, and one had the same. `None` as for `wins`.
    pub draws: Option<u64>,
    /// The average value at the end to the asked seat.
    pub average: f64,
    /// The sum of the squares of the values.
    pub(super) squares: f64,
}

impl PlayedOut {
    /// The share of games that were won, 0 to 1, and its margin of error in 95 of 100 cases.
    pub fn win_rate(&self) -> Option<(f64, f64)> {
        let rate = Rate::of(self.wins.filter(|_| self.games > 0)?, self.games);
        // The interval is wider on the side of one half.
        Some((rate.share, (rate.high - rate.share).max(rate.share - rate.low)))
    }

    /// The margin of error of the average in 95 of 100 cases: infinite for one game.
    pub fn margin(&self) -> f64 {
        if self.games < 2 {
            return f64::INFINITY;
        }
        let games = self.games as f64;
        let variance = (self.squares / games - self.average * self.average).max(0.0);
        1.96 * (variance / (games - 1.0)).sqrt()
    }

    /// The number that answers are ranked by: the share of games won, or the average value.
    pub fn score(&self) -> f64 {
        self.win_rate().map_or(self.average, |(rate, _)| rate)
    }
}

/// The ranked answers to a question, with the result of games in which the policy answers it.
#[derive(Clone, Debug)]
pub struct Advised {
    /// The answers, the best first. Those that share a place are in the order in which the question offers them.
    pub answers: Vec<Advice>,
    /// The margin of error between answers that share the first place, in 95 of 100 hints: a share of games won, 0 to
    /// 1, or an average value. `None` if one answer has the first place alone, or if the answers are not ranked by
    /// games.
    pub margin: Option<f64>,
    /// The result of games in which the policy answers this question as well.
    pub now: Option<PlayedOut>,
    /// The number of games played, over all answers.
    pub games: u64,
    /// The number of those games that were stopped after [`AdviceLimits::ACTIONS`] actions. The value at that point
    /// counts as their end.
    pub stopped: u64,
    /// True if the time limit ended the work. Otherwise the same seed gives the same result on any machine.
    pub out_of_time: bool,
    /// True if somebody interrupted the work.
    pub interrupted: bool,
    /// True if the places are by games. Otherwise they are by the exact value after the next step, or there are none.
    pub(super) by_games: bool,
    /// The kinds and fields that the asking viewer cannot see: see [`Odds::unseen`].
    pub unseen: Vec<String>,
    /// True if the rules' `deal` dealt these anew; otherwise they are left out.
    pub dealt: bool,
}

impl Advised {
    /// What the asking viewer cannot see and how it was treated, in words. `None` if the viewer sees all.
    pub fn unseen_in_words(&self) -> Option<String> {
        unseen_in_words(&self.unseen, self.dealt)
    }

    /// Returns the answers in the first place: one, or several between which no difference was found. Empty if the
    /// answers are not ranked.
    pub fn best(&self) -> &[Advice] {
        let count = self.answers.iter().take_while(|advice| advice.place == Some(1)).count();
        &self.answers[..count]
    }

    /// True if something is missing: the time limit ended the work, somebody interrupted it, or games did not end.
    pub fn is_partial(&self) -> bool {
        self.out_of_time || self.interrupted || self.stopped > 0
    }

    /// True if the answers are ranked by games that were played to their end.
    pub fn is_by_games(&self) -> bool {
        self.by_games
    }
}

/// Limits on the work for one hint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AdviceLimits {
    /// The number of games played, over all answers together.
    pub games: u64,
    /// The time limit, after which the work returns what is known. The result depends on it only if it is reached: see
    /// [`Advised::out_of_time`].
    pub time: Duration,
    /// The number of threads; `None` for as many as the ruleset has machines. The result does not depend on it.
    pub threads: Option<usize>,
    /// The number of games of each answer before the answers are compared for the first time. An answer that is found
    /// to be worse than the best gets no more.
    pub first: u64,
    /// The seed of the dice of these games; `None` for the game's own seed. A seat that may not know that seed always
    /// gets the same one.
    pub seed: Option<u64>,
}

/// The default time limit for a hint, in seconds.
const SECONDS: u64 = 3;

impl Default for AdviceLimits {
    fn default() -> AdviceLimits {
        AdviceLimits { games: 4_000, time: Duration::from_secs(SECONDS), threads: None, first: 32, seed: None }
    }
}

impl AdviceLimits {
    /// The number of actions after which a played-out game is stopped.
    pub const ACTIONS: u64 = 2_000;

    /// Returns limits for this number of seconds, with the default number of games in proportion.
    pub fn of_seconds(seconds: u64) -> AdviceLimits {
        let usual = AdviceLimits::default();
        let games = (usual.games * seconds / SECONDS).max(1);
        AdviceLimits { games, time: Duration::from_secs(seconds), ..usual }
    }

    /// Returns the default limits with another time limit.
    pub fn within(time: Duration) -> AdviceLimits {
        AdviceLimits { time, ..AdviceLimits::default() }
    }
}
