//! What a playout is worth to a seat, as a number from 0 to 1.

use std::sync::Arc;

/// The result of a playout for a seat.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Score {
    /// Won 1, drawn 0.5, lost 0. `None` if the playout stopped before the game was over.
    pub won: Option<f64>,
    /// The value to the seat minus the highest value to another one.
    pub lead: f64,
    /// The value to the seat.
    pub own: f64,
}

/// The share of the lead in the score of a game that is over; the rest is won, drawn or lost.
const LEAD_AT_END: f64 = 0.1;

impl Score {
    /// The score of a seat, whose value may be compared with the highest of the others.
    pub fn new(own: i64, others: Option<i64>, is_over: bool) -> Score {
        let won = match others.map_or(std::cmp::Ordering::Equal, |most| own.cmp(&most)) {
            std::cmp::Ordering::Greater => 1.0,
            std::cmp::Ordering::Equal => 0.5,
            std::cmp::Ordering::Less => 0.0,
        };
        let lead = own.saturating_sub(others.unwrap_or(0)) as f64;
        Score { won: is_over.then_some(won), lead, own: own as f64 }
    }
}

/// The highest value to another seat than this one.
pub(super) fn others(worth: &[(Arc<str>, i64)], seat: &Arc<str>) -> Option<i64> {
    worth.iter().filter(|(other, _)| other != seat).map(|(_, worth)| *worth).max()
}

/// The lowest and the highest number of some kind in all playouts of a search.
#[derive(Clone, Copy, Debug, Default)]
struct Range(Option<(f64, f64)>);

impl Range {
    fn widen(&mut self, number: f64) {
        let (low, high) = self.0.unwrap_or((number, number));
        self.0 = Some((low.min(number), high.max(number)));
    }

    fn low(&self) -> f64 {
        self.0.map_or(0.0, |(low, _)| low)
    }

    /// A sum of numbers, each taken from 0, the lowest, to 1, the highest. `None` if all are equal.
    fn share(&self, sum: f64, numbers: f64) -> Option<f64> {
        self.0.filter(|(low, high)| high > low).map(|(low, high)| (sum - numbers * low) / (high - low))
    }
}

/// The range of the leads, and that of the values, that any seat had in any playout of a search.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Scale {
    leads: Range,
    own: Range,
}

impl Scale {
    pub fn widen(&mut self, score: &Score) {
        self.leads.widen(score.lead);
        self.own.widen(score.own);
    }

    /// The score of a playout that failed.
    pub fn lost(&self) -> Score {
        Score { won: Some(0.0), lead: self.leads.low(), own: self.own.low() }
    }

    /// The sum of the leads in a number of games, each from 0 to 1. Where all leads are equal, as in a game that all seats win or
    /// lose together, that of the values.
    fn of_leads(&self, leads: f64, own: f64, games: f64) -> f64 {
        self.leads.share(leads, games).or_else(|| self.own.share(own, games)).unwrap_or(0.5 * games)
    }

    /// A score as a number from 0 to 1: the lead, or mostly the result if the game is over.
    pub fn value(&self, score: &Score) -> f64 {
        let lead = self.of_leads(score.lead, score.own, 1.0);
        score.won.map_or(lead, |won| (1.0 - LEAD_AT_END) * won + LEAD_AT_END * lead)
    }
}

/// The weight of curiosity in UCB1, for scores from 0 to 1: that of Cowling et al.
const CURIOSITY: f64 = 0.7;

/// The upper bound of UCB1: the average of an answer plus what it may be better, by its games and those in which it could be taken.
/// An answer that was never tried comes first.
pub(super) fn bound(average: f64, games: u32, available: u32) -> f64 {
    match games {
        0 => f64::INFINITY,
        games => average + CURIOSITY * (f64::from(available).ln() / f64::from(games)).sqrt(),
    }
}

/// The scores of several playouts.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Sums {
    /// Games that were played to their end.
    over: u32,
    won: f64,
    lead_at_end: f64,
    own_at_end: f64,
    /// Games that stopped before.
    open: u32,
    lead: f64,
    own: f64,
}

impl Sums {
    pub fn add(&mut self, score: Score) {
        match score.won {
            Some(won) => {
                self.over += 1;
                self.won += won;
                self.lead_at_end += score.lead;
                self.own_at_end += score.own;
            }
            None => {
                self.open += 1;
                self.lead += score.lead;
                self.own += score.own;
            }
        }
    }

    pub fn games(&self) -> u32 {
        self.over + self.open
    }

    /// The average value, from 0 to 1.
    pub fn average(&self, scale: &Scale) -> f64 {
        let at_end = scale.of_leads(self.lead_at_end, self.own_at_end, f64::from(self.over));
        let over = (1.0 - LEAD_AT_END) * self.won + LEAD_AT_END * at_end;
        (over + scale.of_leads(self.lead, self.own, f64::from(self.open))) / f64::from(self.games().max(1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_score_counts_games_won_and_the_lead_over_the_best_of_the_others() {
        let worth: Vec<(Arc<str>, i64)> =
            [("ann", 3), ("bea", 5), ("cid", 3)].map(|(seat, own)| (seat.into(), own)).into();
        let of = |at: usize| Score::new(worth[at].1, others(&worth, &worth[at].0), true);
        assert_eq!(of(0), Score { won: Some(0.0), lead: -2.0, own: 3.0 });
        assert_eq!(of(1), Score { won: Some(1.0), lead: 2.0, own: 5.0 });
        assert_eq!(Score::new(4, Some(4), true), Score { won: Some(0.5), lead: 0.0, own: 4.0 });
        // A seat alone has a lead over nobody; a game that is not over has no winner.
        assert_eq!(Score::new(4, None, false), Score { won: None, lead: 4.0, own: 4.0 });
    }

    #[test]
    fn if_all_seats_win_together_the_higher_value_is_better() {
        let (mut scale, scores) = (Scale::default(), [2, 8, 5].map(|both| Score::new(both, Some(both), true)));
        scores.iter().for_each(|score| scale.widen(score));
        let [low, high, middle] = scores.map(|score| scale.value(&score));
        assert!(low < middle && middle < high, "{low} {middle} {high}");
    }

    #[test]
    fn sums_have_the_average_of_the_values_of_their_scores() {
        let (mut scale, mut sums) = (Scale::default(), Sums::default());
        let scores = [Score::new(9, Some(3), true), Score::new(1, Some(3), false), Score::new(2, Some(2), true)];
        scores.iter().for_each(|score| scale.widen(score));
        scores.iter().for_each(|score| sums.add(*score));
        let average = scores.iter().map(|score| scale.value(score)).sum::<f64>() / 3.0;
        assert!((sums.average(&scale) - average).abs() < 1e-12 && sums.games() == 3);
        // The widest lead of a game that was won is worth 1, the smallest of one that goes on 0.
        assert_eq!((scale.value(&scores[0]), scale.value(&scores[1])), (1.0, 0.0));
        assert_eq!(scale.value(&scale.lost()), 0.0);
    }
}
