//! The facts of one recorded game, from which all figures of a study are counted.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::Serialize;

/// How a recorded game ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum GameEnd {
    /// It came to its end, with this result.
    Result(String),
    /// It had not ended after as many actions as it may have.
    Endless,
    /// It had not ended after as much processor time as it may take.
    TooLong,
    /// A question had no open answer.
    Stuck(String),
    /// It failed, or nobody answered.
    Failed(String),
}

/// How often a card was there to be chosen, and was chosen, in one game or in all.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct CardOffer {
    /// Questions that named it, open or closed.
    pub named: u64,
    /// Those of them in which it was open.
    pub offered: u64,
    /// Those of them in which it was chosen.
    pub chosen: u64,
}

/// The questions of one topic to one seat.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct TopicUse {
    /// How often it was asked.
    pub asked: u64,
    /// Questions whose open answers were counted: one with too many of them is not.
    pub counted: u64,
    /// The open answers of all counted questions together.
    pub open: u64,
    /// Counted questions with one open answer only.
    pub single: u64,
}

/// What one game came to. The game has the dice of its trial number.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct GameFacts {
    /// The number of the trial, from 1.
    pub trial: u64,
    /// How it ended.
    pub end: GameEnd,
    /// Rounds that passed, if the ruleset has rounds.
    pub rounds: usize,
    /// Actions.
    pub actions: u64,
    /// Answers that were given.
    pub decisions: u64,
    /// By seat and card.
    pub cards: BTreeMap<Arc<str>, BTreeMap<Arc<str>, CardOffer>>,
    /// By seat and topic.
    pub topics: BTreeMap<Arc<str>, BTreeMap<Arc<str>, TopicUse>>,
    /// Questions in which two cards at least were open.
    pub card_choices: u64,
    /// Other questions with two open answers at least.
    pub other_choices: u64,
    /// How often a banned card could be used since no other option was open.
    pub forced: u64,
    /// What the state was worth to each seat after each action, in the order of the seats; empty without `value`.
    pub course: Vec<Vec<i64>>,
}

impl GameFacts {
    /// The facts of a game that has not begun.
    pub(super) fn of_trial(trial: u64) -> GameFacts {
        GameFacts {
            trial,
            end: GameEnd::Endless,
            rounds: 0,
            actions: 0,
            decisions: 0,
            cards: BTreeMap::new(),
            topics: BTreeMap::new(),
            card_choices: 0,
            other_choices: 0,
            forced: 0,
            course: Vec::new(),
        }
    }

    /// Whether it came to its end.
    pub fn is_whole(&self) -> bool {
        matches!(self.end, GameEnd::Result(_))
    }

    /// The seat, by its place, whose worth was above that of all others at the end.
    pub fn winner(&self) -> Option<usize> {
        leader(self.course.last().filter(|_| self.is_whole())?)
    }

    /// What the game came to for a seat, by its place: 1 if it won, 1/2 if nobody did, else 0. `None` if the game has no end, or
    /// the ruleset no `value` for two seats at least.
    pub fn score(&self, seat: usize) -> Option<f64> {
        let worth = self.course.last().filter(|worth| self.is_whole() && worth.len() > 1)?;
        let share = |won| if won { 1.0 } else { 0.0 };
        Some(leader(worth).map_or(0.5, |won| share(won == seat)))
    }

    /// The lowest lead that the winner had at any time: below zero if it was behind.
    pub fn lowest_lead(&self) -> Option<i64> {
        let winner = self.winner()?;
        self.course.iter().map(|worth| lead(worth, winner)).min()
    }

    /// How often the seat that leads was another one than the last that had led.
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

    /// The share of the game that had passed when the winner came to lead for good.
    pub fn decided_at(&self) -> Option<f64> {
        let winner = self.winner()?;
        let open = self.course.iter().rposition(|worth| leader(worth) != Some(winner));
        Some(open.map_or(0.0, |at| (at + 1) as f64 / self.course.len() as f64))
    }
}

/// The place of the seat to which the state is worth more than to every other; `None` if there are fewer than two.
fn leader(worth: &[i64]) -> Option<usize> {
    let best = worth.iter().enumerate().max_by_key(|(_, worth)| **worth)?.0;
    (worth.len() > 1 && lead(worth, best) > 0).then_some(best)
}

/// By how much a seat is above the best of the others.
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
    fn the_drama_of_a_game_is_that_of_its_course() {
        // The first seat leads, falls behind by 3, and leads again from the fourth of five moments.
        let facts = game(&[[0, 0], [2, 1], [0, 3], [4, 3], [5, 1]]);
        assert_eq!((facts.winner(), facts.lowest_lead(), facts.lead_changes()), (Some(0), Some(-3), 2));
        assert_eq!(facts.decided_at(), Some(0.6));
        // Who leads all the time has decided it at the start; a draw has no winner.
        assert_eq!(game(&[[1, 0], [2, 0]]).decided_at(), Some(0.0));
        assert_eq!(game(&[[1, 0], [2, 2]]).winner(), None);
        let unended = GameFacts { end: GameEnd::Endless, ..game(&[[1, 0]]) };
        assert_eq!(unended.winner(), None);
    }
}
