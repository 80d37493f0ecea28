//! The facts of one recorded game, from which all figures of a study are counted.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::super::trial::TOO_LONG;
use riskbreaker_play::{Fault, FaultKind};

/// The end of a recorded game.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GameEnd {
    /// The game reached its end, with this result.
    Result(String),
    /// The game did not end within the limit of actions, or it loops; the text says how.
    Endless(String),
    /// The game did not end within the limit of processor time.
    TooLong,
    /// A question had no open answer; the text names it and says why each answer is closed.
    Stuck(String),
    /// The game failed, or a question was not answered.
    Failed(String),
}

impl GameEnd {
    /// The end of a game by a fault: stuck, endless or failed.
    pub(super) fn by_fault(fault: &Fault) -> GameEnd {
        match fault.kind {
            FaultKind::NoOpenAnswer => GameEnd::Stuck(fault.to_string()),
            FaultKind::Endless => GameEnd::Endless(fault.to_string()),
            FaultKind::Mistake => GameEnd::Failed(fault.to_string()),
        }
    }

    /// The reason why the game has no result; `None` if it has one.
    pub fn why_unended(&self) -> Option<&str> {
        match self {
            GameEnd::Result(_) => None,
            GameEnd::TooLong => Some(TOO_LONG),
            GameEnd::Endless(why) | GameEnd::Stuck(why) | GameEnd::Failed(why) => Some(why),
        }
    }
}

/// The numbers of offers and choices of a card, in one game or in all.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CardOffer {
    /// The number of questions that named the card, open or closed.
    pub named: u64,
    /// The number of those questions in which it was open.
    pub offered: u64,
    /// The number of those questions in which it was chosen.
    pub chosen: u64,
}

/// Counts of the questions of one topic to one seat.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TopicUse {
    /// The number of questions.
    pub asked: u64,
    /// The number of questions whose open answers were counted: those without too many answers.
    pub counted: u64,
    /// The total number of open answers of all counted questions.
    pub open: u64,
    /// The number of counted questions with only one open answer.
    pub single: u64,
}

/// The facts of one game. The dice of the game follow from its trial number.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GameFacts {
    /// The number of the trial, from 1.
    pub trial: u64,
    /// The end of the game.
    pub end: GameEnd,
    /// The number of rounds that passed, if the ruleset has rounds.
    pub rounds: usize,
    /// The number of actions.
    pub actions: u64,
    /// The number of answers given.
    pub decisions: u64,
    /// The offers of each card, by seat.
    pub cards: BTreeMap<Arc<str>, BTreeMap<Arc<str>, CardOffer>>,
    /// The questions of each topic, by seat.
    pub topics: BTreeMap<Arc<str>, BTreeMap<Arc<str>, TopicUse>>,
    /// The number of questions with at least two open cards.
    pub card_choices: u64,
    /// The number of other questions with at least two open answers.
    pub other_choices: u64,
    /// The number of questions in which a banned card was allowed because no other option was open.
    pub forced: u64,
    /// The seat that is asked first, except the game master's; `None` if none is asked.
    #[serde(default)]
    pub begins: Option<Arc<str>>,
    /// The value of the state to each seat after each action, in the order of the seats, the start being the first action;
    /// empty without `value`.
    pub course: Vec<Vec<i64>>,
}

impl GameFacts {
    /// Creates the facts of a game that has not begun.
    pub(super) fn of_trial(trial: u64) -> GameFacts {
        GameFacts {
            trial,
            end: GameEnd::Endless(String::new()),
            rounds: 0,
            actions: 0,
            decisions: 0,
            cards: BTreeMap::new(),
            topics: BTreeMap::new(),
            card_choices: 0,
            other_choices: 0,
            forced: 0,
            begins: None,
            course: Vec::new(),
        }
    }

    /// The facts that are counted of a game that is played again: its end, and the values at the end.
    pub(super) fn end_alone(&self) -> GameFacts {
        let course = self.course.last().cloned().into_iter().collect();
        GameFacts {
            end: self.end.clone(),
            rounds: self.rounds,
            actions: self.actions,
            decisions: self.decisions,
            forced: self.forced,
            course,
            ..GameFacts::of_trial(self.trial)
        }
    }

    /// True if the game reached its end.
    pub fn is_whole(&self) -> bool {
        matches!(self.end, GameEnd::Result(_))
    }

    /// The index of the seat whose value was above that of all others at the end.
    pub fn winner(&self) -> Option<usize> {
        leader(self.course.last().filter(|_| self.is_whole())?)
    }

    /// True if the game ended without a winner.
    pub fn is_drawn(&self) -> bool {
        self.is_whole() && self.course.last().is_some_and(|worth| worth.len() > 1) && self.winner().is_none()
    }

    /// The score of a seat, by its index: 1 if it won, 1/2 if nobody did, else 0. `None` if the game has no end, or if
    /// the ruleset has no `value` for at least two seats.
    pub fn score(&self, seat: usize) -> Option<f64> {
        let worth = self.course.last().filter(|worth| self.is_whole() && worth.len() > 1)?;
        let share = |won| if won { 1.0 } else { 0.0 };
        Some(leader(worth).map_or(0.5, |won| share(won == seat)))
    }

    /// The lowest lead that the winner had at any time: negative if it was behind.
    pub fn lowest_lead(&self) -> Option<i64> {
        let winner = self.winner()?;
        self.course.iter().map(|worth| lead(worth, winner)).min()
    }

    /// Returns the number of times that the lead passed from one seat to another.
    pub fn lead_changes(&self) -> u64 {
        let mut leaders = self.course.iter().filter_map(|worth| leader(worth));
        let Some(mut last) = leaders.next() else { return 0 };
        let mut changes = 0;
        for now in leaders {
            changes += u64::from(now != last);
            last = now;
        }
        changes
    }

    /// The share of the actions after the start that had passed when the winner took the lead for good, 0 to 1: 1 if the last
    /// action decided the game.
    pub fn decided_at(&self) -> Option<f64> {
        let winner = self.winner()?;
        let open = self.course.iter().rposition(|worth| leader(worth) != Some(winner));
        // The first state is that after the start; the last one belongs to the winner.
        Some(open.map_or(0.0, |at| (at + 1) as f64 / (self.course.len() - 1) as f64))
    }
}

/// The index of the seat with a higher value than every other; `None` if there are fewer than two.
fn leader(worth: &[i64]) -> Option<usize> {
    let best = worth.iter().enumerate().max_by_key(|(_, worth)| **worth)?.0;
    (worth.len() > 1 && lead(worth, best) > 0).then_some(best)
}

/// The value of a seat minus the best value of the others.
fn lead(worth: &[i64], seat: usize) -> i64 {
    let others = worth.iter().enumerate().filter(|(at, _)| *at != seat).map(|(_, worth)| *worth);
    others.max().map_or(0, |most| worth[seat].saturating_sub(most))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn game(course: &[[i64; 2]]) -> GameFacts {
        let course = course.iter().map(|worth| worth.to_vec()).collect();
        GameFacts { end: GameEnd::Result("over".into()), course, ..GameFacts::of_trial(1) }
    }

    #[test]
    fn a_drawn_game_is_half_a_game_won() {
        let scores = |facts: &GameFacts| (facts.score(0), facts.score(1));
        assert_eq!(scores(&game(&[[0, 0], [0, 1]])), (Some(0.0), Some(1.0)));
        assert_eq!(scores(&game(&[[0, 1], [2, 2]])), (Some(0.5), Some(0.5)));
        assert_eq!(scores(&GameFacts { end: GameEnd::TooLong, ..game(&[[1, 0]]) }), (None, None));
        assert_eq!(scores(&game(&[])), (None, None));
    }

    #[test]
    fn drama_is_computed_from_the_course_of_a_game() {
        // The first seat leads, falls behind by 3, and leads again after three of the four actions that follow the start.
        let facts = game(&[[0, 0], [2, 1], [0, 3], [4, 3], [5, 1]]);
        assert_eq!((facts.winner(), facts.lowest_lead(), facts.lead_changes()), (Some(0), Some(-3), 2));
        assert_eq!(facts.decided_at(), Some(0.75));
        // The last action decides, be it the only one or not.
        assert_eq!(game(&[[0, 0], [1, 0]]).decided_at(), Some(1.0));
        assert_eq!(game(&[[0, 0], [0, 1], [0, 1], [2, 1]]).decided_at(), Some(1.0));
        // A winner that leads all the time has decided the game at the start; a draw has no winner.
        assert_eq!(game(&[[1, 0], [2, 0]]).decided_at(), Some(0.0));
        assert_eq!(game(&[[1, 0], [2, 2]]).winner(), None);
        assert!(game(&[[1, 0], [2, 2]]).is_drawn() && !game(&[[1, 0]]).is_drawn());
        let unended = GameFacts { end: GameEnd::Endless(String::new()), ..game(&[[1, 0]]) };
        assert!(unended.winner().is_none() && !unended.is_drawn());
    }
}
