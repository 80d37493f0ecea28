//! The figures of a study, counted from recorded games.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::Serialize;

use super::super::paired::Difference;
use super::super::tally::Rate;
use super::facts::{CardOffer, GameEnd, GameFacts, TopicUse};
use super::recorder::Recorded;

/// Standard errors on each side of an average, for an interval that holds in 95 of 100 cases.
const Z: f64 = 1.959_963_984_540_054;

/// How a number is spread over games.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Spread {
    /// A tenth of the games has less than this, or as much.
    pub p10: u64,
    /// Half of the games has less than this, or as much.
    pub p50: u64,
    /// Nine of ten games have less than this, or as much.
    pub p90: u64,
    /// The largest number.
    pub most: u64,
    /// The first game that has it.
    pub most_in_trial: u64,
}

impl Spread {
    /// The spread of a number over games: of each, the number of its trial and the number itself.
    fn of(games: impl Iterator<Item = (u64, u64)>) -> Option<Spread> {
        let mut all: Vec<(u64, u64)> = games.map(|(trial, number)| (number, trial)).collect();
        all.sort_unstable();
        let (most, _) = *all.last()?;
        let most_in_trial = all[all.partition_point(|(number, _)| *number < most)].1;
        // The smallest number that the share of games does not exceed.
        let at = |tenths: usize| all[(all.len() * tenths).div_ceil(10).max(1) - 1].0;
        Some(Spread { p10: at(1), p50: at(5), p90: at(9), most, most_in_trial })
    }
}

/// What is known of a card of a seat.
#[derive(Clone, Debug, Serialize)]
pub struct CardFigures {
    /// The seat.
    pub seat: Arc<str>,
    /// The id of the card.
    pub card: Arc<str>,
    /// Questions in which it was open, and those that it answered.
    pub offer: CardOffer,
    /// The share of the questions with it open that it answered. The questions of one game are not independent: the interval
    /// is a little too narrow where a game asks often.
    pub chosen_when_offered: Rate,
    /// The share of games won among those in which the seat used it; `None` without `value`. It misleads if those who are ahead
    /// choose otherwise than those who are behind.
    pub won_when_used: Option<Rate>,
}

/// What is known of the questions of a topic to a seat.
#[derive(Clone, Debug, Serialize)]
pub struct TopicFigures {
    /// The seat.
    pub seat: Arc<str>,
    /// The topic.
    pub topic: Arc<str>,
    /// The counts.
    pub asked: TopicUse,
    /// The share of counted questions with one open answer.
    pub single: Rate,
}

/// All figures of a study.
#[derive(Clone, Debug, Serialize)]
pub struct StudyFigures {
    /// Games that were recorded.
    pub games: u64,
    /// The share of each result among games that came to an end.
    pub results: BTreeMap<String, Rate>,
    /// Rounds of games that came to an end.
    pub rounds: Option<Spread>,
    /// Decisions of games that came to an end.
    pub decisions: Option<Spread>,
    /// Trials that had not ended within the limit of actions.
    pub endless: Vec<u64>,
    /// Trials that came to a question without an open answer.
    pub stuck: Vec<u64>,
    /// Trials that failed.
    pub failed: Vec<u64>,
    /// Cards, by seat and id.
    pub cards: Vec<CardFigures>,
    /// Topics, by seat and name.
    pub topics: Vec<TopicFigures>,
    /// The share of decided games in which the winner was behind at some time; `None` without `value`.
    pub comebacks: Option<Rate>,
    /// The average number of changes of the lead, and how far it may be off.
    pub lead_changes: Option<(f64, f64)>,
    /// The average share of the game after which the winner led for good, and how far it may be off.
    pub decided_at: Option<(f64, f64)>,
    /// What is missing, and the line that adds it.
    pub missing: Vec<String>,
}

impl Recorded {
    /// Counts the figures.
    pub fn figures(&self) -> StudyFigures {
        let whole: Vec<&GameFacts> = self.games.iter().filter(|game| game.is_whole()).collect();
        let trials = |wanted: fn(&GameEnd) -> bool| -> Vec<u64> {
            self.games.iter().filter(|game| wanted(&game.end)).map(|game| game.trial).collect()
        };
        let mut counts: BTreeMap<String, u64> = BTreeMap::new();
        for game in &whole {
            if let GameEnd::Result(result) = &game.end {
                *counts.entry(result.clone()).or_default() += 1;
            }
        }
        let of = whole.len() as u64;
        let won: Vec<&&GameFacts> = whole.iter().filter(|game| game.winner().is_some()).collect();
        let has_value = self.games.iter().any(|game| !game.course.is_empty());
        let average = |number: &dyn Fn(&GameFacts) -> f64| {
            let found = Difference::of_values(won.iter().map(|game| number(game)), Z);
            (found.pairs > 1).then_some((found.average, found.margin))
        };
        let behind = won.iter().filter(|game| game.lowest_lead().is_some_and(|lead| lead < 0)).count() as u64;
        let missing = match has_value {
            true => Vec::new(),
            false => vec![
                "drama and win shares of cards: the ruleset does not say what a state is worth; add `value = \
                 function(seat)` to play.luau"
                    .to_owned(),
            ],
        };
        StudyFigures {
            games: self.games.len() as u64,
            results: counts.into_iter().map(|(result, count)| (result, Rate::of(count, of))).collect(),
            rounds: Spread::of(whole.iter().map(|game| (game.trial, game.rounds as u64))),
            decisions: Spread::of(whole.iter().map(|game| (game.trial, game.decisions))),
            endless: trials(|end| matches!(end, GameEnd::Endless)),
            stuck: trials(|end| matches!(end, GameEnd::Stuck(_))),
            failed: trials(|end| matches!(end, GameEnd::Failed(_))),
            cards: self.cards(has_value),
            topics: self.topics(),
            comebacks: (!won.is_empty()).then(|| Rate::of(behind, won.len() as u64)),
            lead_changes: average(&|game| game.lead_changes() as f64),
            decided_at: average(&|game| game.decided_at().unwrap_or_default()),
            missing,
        }
    }

    fn cards(&self, has_value: bool) -> Vec<CardFigures> {
        // By seat and card: how often it was offered and chosen, in how many games it was used, and how many of those were won.
        type Counts<'g> = BTreeMap<(&'g Arc<str>, &'g Arc<str>), (CardOffer, u64, u64)>;
        let mut found = Counts::new();
        for game in &self.games {
            let winner = game.winner().and_then(|at| self.seats.get(at));
            for (seat, cards) in &game.cards {
                for (card, offer) in cards {
                    let (sum, used, won) = found.entry((seat, card)).or_default();
                    sum.offered += offer.offered;
                    sum.chosen += offer.chosen;
                    if offer.chosen > 0 && winner.is_some() {
                        *used += 1;
                        *won += u64::from(winner == Some(seat));
                    }
                }
            }
        }
        let figures = found.into_iter().map(|((seat, card), (offer, used, won))| CardFigures {
            seat: seat.clone(),
            card: card.clone(),
            offer,
            chosen_when_offered: Rate::of(offer.chosen, offer.offered),
            won_when_used: has_value.then(|| Rate::of(won, used)),
        });
        figures.collect()
    }

    fn topics(&self) -> Vec<TopicFigures> {
        let mut found: BTreeMap<(&Arc<str>, &Arc<str>), TopicUse> = BTreeMap::new();
        for game in &self.games {
            for (seat, topics) in &game.topics {
                for (topic, asked) in topics {
                    let sum = found.entry((seat, topic)).or_default();
                    sum.asked += asked.asked;
                    sum.counted += asked.counted;
                    sum.open += asked.open;
                    sum.single += asked.single;
                }
            }
        }
        let figures = found.into_iter().map(|((seat, topic), asked)| TopicFigures {
            seat: seat.clone(),
            topic: topic.clone(),
            asked,
            single: Rate::of(asked.single, asked.counted),
        });
        figures.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_spread_names_the_first_of_the_longest_games() {
        let spread = Spread::of([(1, 5), (2, 9), (3, 1), (4, 9), (5, 3)].into_iter());
        assert_eq!(spread, Some(Spread { p10: 1, p50: 5, p90: 9, most: 9, most_in_trial: 2 }));
        assert_eq!(Spread::of(std::iter::empty()), None);
    }

    #[test]
    fn a_card_counts_in_the_games_that_its_seat_wins() {
        let seats: Vec<Arc<str>> = vec!["left".into(), "right".into()];
        let game = |trial, worth: [i64; 2], chosen| {
            let offer = CardOffer { offered: 2, chosen };
            let cards = [(seats[0].clone(), [("push".into(), offer)].into())].into();
            let course = vec![vec![0, 0], worth.to_vec()];
            GameFacts { end: GameEnd::Result("over".into()), cards, course, ..GameFacts::of_trial(trial) }
        };
        // Used in three games, of which the seat wins two; in the fourth it was not used.
        let games = vec![game(1, [1, 0], 1), game(2, [3, 0], 2), game(3, [0, 1], 1), game(4, [1, 0], 0)];
        let figures = Recorded { seats: seats.clone(), games, forced: 0 }.figures();
        let card = &figures.cards[0];
        assert_eq!((card.offer.offered, card.offer.chosen), (8, 4));
        let won = card.won_when_used.unwrap();
        assert_eq!((won.count, won.of), (2, 3));
        assert_eq!(figures.results["over"].count, 4);
        assert!(figures.missing.is_empty() && figures.endless.is_empty());
    }
}
