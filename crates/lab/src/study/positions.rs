//! Exact values of the answers in positions that games reach. They show which cards are never better than another, and
//! which answers make no difference.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use serde::{Deserialize, Serialize};

use super::super::advise::exact_worths;
use super::super::tally::Rate;
use super::super::{Progress, SimulationError};
use super::recorder::{KindOfChoice, Recorded, Study, StudyTable};
use super::runner::Run;
use riskbreaker_dice::{DiceRng, Fraction, float};
use riskbreaker_play::{Answer, Machine, Question};

/// The number of questions per game that are examined: with several cards, and others. More from one game would
/// resemble each other.
const CARD_QUESTIONS: usize = 3;
const OTHER_QUESTIONS: usize = 1;

/// The first random stream for choosing positions, apart from those of games and policies.
const CHOICE_STREAM: u64 = 1 << 62;

/// The least number of compared positions for the verdict "never better".
const LEAST_POSITIONS: u64 = 10;

/// An answer with its exact value to the asked seat.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Valued {
    card: Option<Arc<str>>,
    #[serde(with = "fraction")]
    worth: Option<Fraction>,
}

/// A question of a game with the values of its answers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct WeighedQuestion {
    trial: u64,
    decision: u64,
    seat: Arc<str>,
    topic: Arc<str>,
    answers: Vec<Valued>,
}

/// Stores a fraction as its text, such as `3/4`.
mod fraction {
    use super::Fraction;
    use serde::de::Error as _;
    use serde::{Deserialize as _, Deserializer, Serialize as _, Serializer};

    #[allow(clippy::ref_option)] // the form that serde calls
    pub fn serialize<S: Serializer>(worth: &Option<Fraction>, to: S) -> Result<S::Ok, S::Error> {
        worth.as_ref().map(ToString::to_string).serialize(to)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Fraction>, D::Error> {
        let text = Option::<String>::deserialize(from)?;
        let read = |text: String| text.parse().map_err(|_| D::Error::custom(format!("`{text}` is no fraction")));
        text.map(read).transpose()
    }
}

/// The position in which a card came closest to another.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ClosestPosition {
    /// The trial.
    pub trial: u64,
    /// The number of the decision in the trial, from 1.
    pub decision: u64,
    /// The asked seat.
    pub seat: Arc<str>,
    /// The best value with the other card minus the best value with this card.
    pub by: f64,
}

/// A card whose value was in no position higher than that of another, and in some lower.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct NeverBetter {
    /// The id of the card.
    pub card: Arc<str>,
    /// The id of the other card.
    pub than: Arc<str>,
    /// The number of positions in which the same actor could play both, with exact values.
    pub positions: u64,
    /// The number of positions in which both had the same value.
    pub equal: u64,
    /// Up to three positions in which the card came closest to the other without the same value.
    pub closest: Vec<ClosestPosition>,
}

/// The share of questions of a topic whose answers all have the same value.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TopicDifference {
    /// The seat.
    pub seat: Arc<str>,
    /// The topic.
    pub topic: Arc<str>,
    /// The share of questions with several open answers whose answers all have the same value.
    pub no_difference: Rate,
}

/// The findings from exact values in reached positions.
#[derive(Clone, Debug, Default, Serialize)]
pub struct WeighedPositions {
    /// The number of games whose positions were examined.
    pub games: u64,
    /// The number of questions whose answers all have an exact value.
    pub questions: u64,
    /// The number of questions with an answer whose exact value could not be computed: too many paths, or it would
    /// reveal what the seat may not see. Their other answers are still compared.
    pub not_exact: u64,
    /// Cards that were never better than another, those with the most positions first.
    pub never_better: Vec<NeverBetter>,
    /// Differences between answers, by seat and topic.
    pub topics: Vec<TopicDifference>,
    /// The agenda entries before which the values of answers are taken: the horizon of the ruleset. Empty if it has none; then
    /// they are taken at the end of the action that asks.
    pub horizon: Vec<Arc<str>>,
}

impl Study {
    /// Computes the values of the answers to some questions of the recorded games. `told` is called after each game and
    /// ends the work by returning false. The result does not depend on the number of threads or the machine, unless the
    /// work ends early.
    ///
    /// The value of an answer is the ruleset's `value` for the asked seat, averaged over the dice, at the horizon of
    /// the ruleset, with the best answers to later questions, from what the seat knows.
    ///
    /// # Errors
    ///
    /// Those of [`Study::record`].
    pub fn weigh_positions(
        &self,
        recorded: &Recorded,
        threads: usize,
        told: &mut dyn FnMut(Progress) -> bool,
    ) -> Result<WeighedPositions, SimulationError> {
        let ready = self.ready()?;
        let games: Vec<(u64, BTreeSet<u64>, BTreeSet<u64>)> = recorded
            .games
            .iter()
            .map(|game| {
                let mut dice = DiceRng::stream(self.seed, CHOICE_STREAM + game.trial % CHOICE_STREAM);
                let cards = chosen(&mut dice, game.card_choices, CARD_QUESTIONS);
                (game.trial, cards, chosen(&mut dice, game.other_choices, OTHER_QUESTIONS))
            })
            .collect();
        let work = |vm: &mut dyn Machine, at: usize, stop: &Arc<AtomicBool>| {
            let (trial, cards, others) = &games[at];
            let (mut found, mut decision) = (Vec::new(), 0);
            let mut wanted = [cards.clone(), others.clone()];
            let mut passed = [0_u64; 2];
            let table =
                StudyTable { study: self, ready: &ready, seats: &recorded.seats, actions: self.actions, listens: true };
            table.play(vm, *trial, stop, &mut |vm, game, question| {
                decision += 1;
                let kind = match self.kind_of_question(question) {
                    None => return true,
                    Some(KindOfChoice::Cards) => 0,
                    Some(KindOfChoice::Other) => 1,
                };
                passed[kind] += 1;
                if wanted[kind].remove(&passed[kind]) {
                    let weighed = exact_worths(game, vm, question, stop).unwrap_or_default();
                    found.push(self.weighed(*trial, decision, question, weighed));
                }
                wanted.iter().any(|wanted| !wanted.is_empty())
            });
            found
        };
        let mut questions: Vec<Vec<WeighedQuestion>> = Vec::new();
        let run = Run { rules: &self.variant.rules, threads, count: games.len() };
        let known = games.iter().map(|(trial, ..)| self.store.weighed(*trial)).collect();
        run.rest_in_order(known, &work, &mut |found| {
            if let (Some(found), Some((trial, ..))) = (&found, games.get(questions.len())) {
                self.store.keep_weighed(*trial, found);
            }
            questions.extend(found);
            told(Progress { done: questions.len() as u64, of: games.len() as u64 })
        })?;
        let horizon = self.variant.rules.horizon().to_vec();
        Ok(WeighedPositions { horizon, ..WeighedPositions::of(&questions) })
    }

    fn weighed(
        &self,
        trial: u64,
        decision: u64,
        question: &Question,
        answers: Vec<(Answer, Option<Fraction>)>,
    ) -> WeighedQuestion {
        let card_of = |answer: &Answer| match answer {
            Answer::Choice(id) => self.variant.rules.card(id).map(|card| card.id.clone()),
            _ => None,
        };
        let answers = answers.into_iter().map(|(answer, worth)| Valued { card: card_of(&answer), worth });
        WeighedQuestion {
            trial,
            decision,
            seat: question.seat.clone(),
            topic: question.topic.clone(),
            answers: answers.collect(),
        }
    }
}

/// Draws up to `most` different numbers from 1 to `of`.
fn chosen(dice: &mut DiceRng, of: u64, most: usize) -> BTreeSet<u64> {
    if of <= most as u64 {
        return (1..=of).collect();
    }
    let sides = u32::try_from(of).unwrap_or(u32::MAX);
    let mut found = BTreeSet::new();
    while found.len() < most {
        found.insert(u64::from(dice.face(sides)));
    }
    found
}

/// Counts for a pair of cards, the first before the second by name.
#[derive(Default)]
struct PairCounts {
    /// The number of positions in which the first card had a higher value; `equal` and `less` likewise.
    more: u64,
    equal: u64,
    less: u64,
    /// The positions with the smallest differences in either direction: the value of the first minus that of the
    /// second, trial, decision, seat.
    near: Vec<(Fraction, u64, u64, Arc<str>)>,
}

/// The number of positions kept for each pair of cards.
const NEAREST: usize = 3;

impl PairCounts {
    fn add(&mut self, difference: Fraction, question: &WeighedQuestion) {
        if difference.is_zero() {
            self.equal += 1;
            return;
        }
        *if difference > Fraction::ZERO { &mut self.more } else { &mut self.less } += 1;
        self.near.push((difference, question.trial, question.decision, question.seat.clone()));
        let size = |difference: &Fraction| if *difference < Fraction::ZERO { -difference } else { difference.clone() };
        self.near.sort_by(|one, other| size(&one.0).cmp(&size(&other.0)).then((one.1, one.2).cmp(&(other.1, other.2))));
        self.near.truncate(NEAREST);
    }

    /// Returns the verdict if one of the two cards was never better.
    fn never_better(&self, first: &Arc<str>, second: &Arc<str>) -> Option<NeverBetter> {
        let positions = self.more + self.equal + self.less;
        let (card, than) = match (self.more, self.less) {
            _ if positions < LEAST_POSITIONS => return None,
            (0, 1..) => (first, second),
            (1.., 0) => (second, first),
            _ => return None,
        };
        let closest = self.near.iter().map(|(by, trial, decision, seat)| ClosestPosition {
            trial: *trial,
            decision: *decision,
            seat: seat.clone(),
            by: float(by).abs(),
        });
        let closest = closest.collect();
        Some(NeverBetter { card: card.clone(), than: than.clone(), positions, equal: self.equal, closest })
    }
}

impl WeighedPositions {
    /// Computes the findings from the questions of games.
    #[allow(clippy::type_complexity)] // counts by seat and topic
    fn of(games: &[Vec<WeighedQuestion>]) -> WeighedPositions {
        let mut pairs: BTreeMap<(Arc<str>, Arc<str>), PairCounts> = BTreeMap::new();
        // By seat and topic, for each game: the number of questions without a difference, and of all with values.
        let mut topics: BTreeMap<(Arc<str>, Arc<str>), Vec<(u64, u64)>> = BTreeMap::new();
        let mut found = WeighedPositions { games: games.len() as u64, ..WeighedPositions::default() };
        for game in games {
            let mut of_game: BTreeMap<(Arc<str>, Arc<str>), (u64, u64)> = BTreeMap::new();
            for question in game {
                let worths: Option<Vec<&Fraction>> = question.answers.iter().map(|one| one.worth.as_ref()).collect();
                match worths.filter(|worths| !worths.is_empty()) {
                    None => found.not_exact += 1,
                    Some(worths) => {
                        found.questions += 1;
                        let counts = of_game.entry((question.seat.clone(), question.topic.clone())).or_default();
                        counts.0 += u64::from(worths.iter().all(|worth| *worth == worths[0]));
                        counts.1 += 1;
                    }
                }
                add_pairs(&mut pairs, question);
            }
            for (topic, counts) in of_game {
                topics.entry(topic).or_default().push(counts);
            }
        }
        found.never_better =
            pairs.iter().filter_map(|((first, second), counts)| counts.never_better(first, second)).collect();
        found.never_better.sort_by_key(|pair| Reverse(pair.positions));
        let of_topic = |((seat, topic), games): ((Arc<str>, Arc<str>), Vec<(u64, u64)>)| {
            let no_difference = Rate::of_groups(games.iter().copied());
            TopicDifference { seat, topic, no_difference }
        };
        found.topics = topics.into_iter().map(of_topic).collect();
        found
    }
}

/// Compares the cards of a question whose values are known.
fn add_pairs(pairs: &mut BTreeMap<(Arc<str>, Arc<str>), PairCounts>, question: &WeighedQuestion) {
    let mut cards: Vec<(&Arc<str>, &Fraction)> =
        question.answers.iter().filter_map(|one| Some((one.card.as_ref()?, one.worth.as_ref()?))).collect();
    cards.sort_by(|one, other| one.0.cmp(other.0));
    for (at, (first, worth)) in cards.iter().enumerate() {
        for (second, other) in &cards[at + 1..] {
            let counts = pairs.entry(((*first).clone(), (*second).clone())).or_default();
            counts.add(*worth - *other, question);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use riskbreaker_dice::ratio;

    fn question(trial: u64, worths: &[(&str, Option<(i64, u64)>)]) -> WeighedQuestion {
        let valued = |(card, worth): &(&str, Option<(i64, u64)>)| Valued {
            card: Some(Arc::from(*card)),
            worth: worth.map(|(top, bottom)| ratio(top, bottom)),
        };
        let answers = worths.iter().map(valued).collect();
        WeighedQuestion { trial, decision: 1, seat: "left".into(), topic: "card".into(), answers }
    }

    #[test]
    fn a_card_is_never_better_if_it_has_no_higher_value_in_any_position() {
        // `poor` is below `fair` in eleven positions and equal in one; `odd` is above `fair` once, and has no value
        // once.
        let mut games: Vec<Vec<WeighedQuestion>> = (1..=11)
            .map(|n| {
                let odd = if n == 11 { None } else { Some((if n == 4 { 3 } else { 1 }, 1)) };
                vec![question(n, &[("fair", Some((2, 1))), ("odd", odd), ("poor", Some((2 * n as i64 - 1, n)))])]
            })
            .collect();
        games.push(vec![question(12, &[("fair", Some((1, 3))), ("poor", Some((1, 3)))])]);
        let found = WeighedPositions::of(&games);
        assert_eq!((found.games, found.questions, found.not_exact), (12, 11, 1));
        let poor = found.never_better.iter().find(|pair| &*pair.card == "poor" && &*pair.than == "fair").unwrap();
        assert_eq!((poor.positions, poor.equal), (12, 1));
        // 2 - (2 n - 1) / n is 1 / n: the eleventh is the closest.
        let nearest: Vec<u64> = poor.closest.iter().map(|position| position.trial).collect();
        assert_eq!(nearest, [11, 10, 9]);
        assert!((poor.closest[0].by - 1.0 / 11.0).abs() < 1e-12);
        assert!(found.never_better.iter().all(|pair| &*pair.card != "odd" || &*pair.than != "fair"));
        assert_eq!((found.topics[0].no_difference.count, found.topics[0].no_difference.of), (1, 11));
        // There is no verdict from fewer than ten positions.
        assert!(WeighedPositions::of(&games[..9]).never_better.is_empty());
    }
}
