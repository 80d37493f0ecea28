//! The biases of seats in the recorded games, without any exchange.

use std::sync::Arc;

use serde::Serialize;

use super::super::paired::Difference;
use super::recorder::Recorded;

/// The bias of a seat in the recorded games.
#[derive(Clone, Debug, Serialize)]
pub struct SeatBias {
    /// The seat.
    pub seat: Arc<str>,
    /// The share of games that it won minus the average share of the other seats, -1 to 1; a draw is half a game won.
    pub ahead: Difference,
}

/// The bias of the seat that is asked first.
#[derive(Clone, Debug, Serialize)]
pub struct FirstBias {
    /// The seat that is asked first in every game; `None` if it is not always the same one.
    pub always: Option<Arc<str>>,
    /// The share of games won by the seat that is asked first minus the average share of the others, -1 to 1.
    pub ahead: Difference,
}

impl Recorded {
    /// Computes the bias of each of these seats over the others, as the games were played.
    pub fn biases(&self, seats: &[Arc<str>]) -> Vec<SeatBias> {
        let of = |seat: &Arc<str>| {
            let ahead = Difference::of_scores(self.games.iter().filter_map(|game| self.score_over(game, seat, seats)));
            SeatBias { seat: seat.clone(), ahead }
        };
        seats.iter().map(of).collect()
    }

    /// Computes the bias of the seat that is asked first. `None` if none of these seats is asked.
    pub fn first_bias(&self, seats: &[Arc<str>]) -> Option<FirstBias> {
        let games = self.games.iter().filter_map(|game| Some((game, game.begins.as_ref()?)));
        let games = games.filter(|(_, seat)| seats.contains(seat));
        let (_, first) = games.clone().next()?;
        let always = games.clone().all(|(_, seat)| seat == first).then(|| first.clone());
        let ahead = Difference::of_scores(games.filter_map(|(game, seat)| self.score_over(game, seat, seats)));
        Some(FirstBias { always, ahead })
    }

    /// The score of a seat minus the average score of the others.
    fn score_over(&self, game: &super::GameFacts, seat: &Arc<str>, seats: &[Arc<str>]) -> Option<f64> {
        let score = |seat: &Arc<str>| game.score(self.place_of(seat));
        let others = seats.iter().filter(|other| *other != seat).map(score).collect::<Option<Vec<f64>>>()?;
        Some(score(seat)? - others.iter().sum::<f64>() / others.len().max(1) as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::super::{GameEnd, GameFacts};
    use super::*;

    #[test]
    fn the_bias_of_a_seat_is_over_the_average_of_all_others() {
        let seats: Vec<Arc<str>> = ["left", "mid", "right"].into_iter().map(Arc::from).collect();
        let game = |trial, worth: [i64; 3], begins: usize| {
            let end = GameEnd::Result("over".into());
            let begins = Some(seats[begins].clone());
            GameFacts { end, begins, course: vec![worth.to_vec()], ..GameFacts::of_trial(trial) }
        };
        let games = vec![game(1, [1, 0, 0], 0), game(2, [1, 0, 0], 0), game(3, [0, 1, 0], 1), game(4, [1, 1, 0], 1)];
        let recorded = Recorded { seats: seats.clone(), cards: Vec::new(), has_value: true, games };
        let found: Vec<f64> = recorded.biases(&seats).iter().map(|one| one.ahead.average).collect();
        // Left wins two of the four, mid one, and one is drawn.
        assert_eq!(found, [(1.0 + 1.0 - 0.5) / 4.0, (-0.5 - 0.5 + 1.0) / 4.0, (-0.5 - 0.5 - 0.5) / 4.0]);
        let first = recorded.first_bias(&seats).unwrap();
        assert_eq!((first.always, first.ahead.average), (None, 3.0 / 4.0));
        let alone = Recorded { games: recorded.games[..2].to_vec(), ..recorded };
        assert_eq!(alone.first_bias(&seats).unwrap().always.as_deref(), Some("left"));
    }
}
