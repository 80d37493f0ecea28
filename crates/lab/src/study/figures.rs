//! The figures of a study, counted from recorded games.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde::Serialize;

use super::super::paired::Difference;
use super::super::tally::{Average, Rate, Z, ranks};
use super::facts::{CardOffer, GameEnd, GameFacts, TopicUse};
use super::recorder::Recorded;

/// A percentile of a number over games, with its interval.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Percentile {
    /// The percentile of the recorded games.
    pub value: u64,
    /// The lower bound of the percentile of all games, in 95 of 100 cases; `None` if too few games were recorded.
    pub low: Option<u64>,
    /// The upper bound; `None` if too few games were recorded.
    pub high: Option<u64>,
}

/// The distribution of a number over games.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Spread {
    /// The 10th percentile.
    pub p10: Percentile,
    /// The 50th percentile, the median.
    pub p50: Percentile,
    /// The 90th percentile.
    pub p90: Percentile,
    /// The largest number.
    pub most: u64,
    /// The first trial that has the largest number.
    pub most_in_trial: u64,
}

impl Spread {
    /// Computes the spread of a number over games, each given as trial number and number. `None` without games.
    fn of(games: impl Iterator<Item = (u64, u64)>) -> Option<Spread> {
        let mut all: Vec<(u64, u64)> = games.map(|(trial, number)| (number, trial)).collect();
        all.sort_unstable();
        let (most, _) = *all.last()?;
        let most_in_trial = all[all.partition_point(|(number, _)| *number < most)].1;
        let of = all.len() as u64;
        let at_rank = |rank: u64| all[rank.clamp(1, of) as usize - 1].0;
        let at = |tenths: u64| {
            let (low, high) = ranks(tenths as f64 / 10.0, of);
            // The smallest number that this share of the games does not exceed.
            Percentile { value: at_rank((of * tenths).div_ceil(10)), low: low.map(at_rank), high: high.map(at_rank) }
        };
        Some(Spread { p10: at(1), p50: at(5), p90: at(9), most, most_in_trial })
    }
}

/// The figures of a card of a seat.
#[derive(Clone, Debug, Serialize)]
pub struct CardFigures {
    /// The seat.
    pub seat: Arc<str>,
    /// The id of the card.
    pub card: Arc<str>,
    /// The numbers of its offers and choices.
    pub offer: CardOffer,
    /// The share of the questions with the card open in which it was chosen. The interval allows for questions of one
    /// game that resemble each other.
    pub chosen_when_offered: Rate,
    /// The share of games won among the ended games in which the seat used the card, drawn ones included; `None` without
    /// `value` or with one seat. It is misleading if players who lead choose differently from players who trail.
    pub won_when_used: Option<Rate>,
    /// The share of drawn games among the same games.
    pub drawn_when_used: Option<Rate>,
}

/// The figures of the questions of a topic to a seat.
#[derive(Clone, Debug, Serialize)]
pub struct TopicFigures {
    /// The seat.
    pub seat: Arc<str>,
    /// The topic.
    pub topic: Arc<str>,
    /// The counts.
    pub asked: TopicUse,
    /// The average number of open answers of the counted questions.
    pub open: Average,
    /// The share of counted questions with only one open answer.
    pub single: Rate,
}

/// A game without a result.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct UnendedGame {
    /// The number of the trial.
    pub trial: u64,
    /// The kind of its end: `endless`, `stuck`, `failed` or `too_long`.
    pub how: &'static str,
    /// The reason, as a message.
    pub why: String,
}

impl UnendedGame {
    fn of(game: &GameFacts) -> Option<UnendedGame> {
        let how = match &game.end {
            GameEnd::Result(_) => return None,
            GameEnd::Endless(_) => "endless",
            GameEnd::Stuck(_) => "stuck",
            GameEnd::Failed(_) => "failed",
            GameEnd::TooLong => "too_long",
        };
        Some(UnendedGame { trial: game.trial, how, why: game.end.why_unended().unwrap_or_default().to_owned() })
    }
}

/// All figures of a study.
#[derive(Clone, Debug, Serialize)]
pub struct StudyFigures {
    /// The number of recorded games.
    pub games: u64,
    /// The share of each result among games that came to an end.
    pub results: BTreeMap<String, Rate>,
    /// The number of rounds of games that came to an end.
    pub rounds: Option<Spread>,
    /// The number of decisions of games that came to an end.
    pub decisions: Option<Spread>,
    /// The number of games that ended without a winner, by `value`.
    pub drawn: u64,
    /// The games without a result, each with the reason.
    pub unended: Vec<UnendedGame>,
    /// Trials that had not ended within the limit of actions, or that loop without a roll or a question.
    pub endless: Vec<u64>,
    /// Trials that came to a question without an open answer.
    pub stuck: Vec<u64>,
    /// Trials that failed.
    pub failed: Vec<u64>,
    /// Trials that did not end within the limit of processor time.
    pub too_long: Vec<u64>,
    /// Cards, by seat and id.
    pub cards: Vec<CardFigures>,
    /// Ids of cards that no question to any seat named.
    pub never_named: Vec<Arc<str>>,
    /// Ids of cards that questions named but never offered open.
    pub never_offered: Vec<Arc<str>>,
    /// Ids of cards that were open but never chosen.
    pub never_chosen: Vec<Arc<str>>,
    /// Topics, by seat and name.
    pub topics: Vec<TopicFigures>,
    /// The share of the games with a winner in which the winner trailed at some time; `None` without `value`.
    pub comebacks: Option<Rate>,
    /// The average of the lowest lead that the winner had at any time of a game with a winner, in units of `value`: negative
    /// if it was behind; `None` with fewer than two such games.
    pub lowest_lead: Option<Difference>,
    /// The average number of changes of the lead in games with a winner.
    pub lead_changes: Option<Average>,
    /// The average share of the actions after which the winner led for good, 0 to 1, in games with a winner.
    pub decided_at: Option<Average>,
    /// True if all seats win or lose together; see [`Recorded::is_cooperative`].
    pub is_cooperative: bool,
    /// Figures that are missing, each with the reason, or with the line of the ruleset that adds it.
    pub missing: Vec<String>,
}

impl Recorded {
    /// Computes the figures from the recorded games.
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
        let has_course = self.games.iter().any(|game| !game.course.is_empty());
        let has_won = !won.is_empty();
        let lowest = Difference::of_values(won.iter().filter_map(|game| Some(game.lowest_lead()? as f64)), Z);
        let behind = won.iter().filter(|game| game.lowest_lead().is_some_and(|lead| lead < 0)).count() as u64;
        let is_cooperative = self.is_cooperative();
        let missing = match self.has_value && whole.is_empty() {
            true => vec!["all that needs games with an end: no recorded game came to one".to_owned()],
            false => missing(has_course, self.seats.len(), is_cooperative),
        };
        let cards = self.cards(has_course && self.seats.len() > 1 && !is_cooperative);
        let [never_named, never_offered, never_chosen] = unused(&self.cards, &cards);
        StudyFigures {
            games: self.games.len() as u64,
            results: counts.into_iter().map(|(result, count)| (result, Rate::of(count, of))).collect(),
            rounds: Spread::of(whole.iter().map(|game| (game.trial, game.rounds as u64))),
            decisions: Spread::of(whole.iter().map(|game| (game.trial, game.decisions))),
            drawn: whole.iter().filter(|game| game.is_drawn()).count() as u64,
            unended: self.games.iter().filter_map(UnendedGame::of).collect(),
            endless: trials(|end| matches!(end, GameEnd::Endless(_))),
            stuck: trials(|end| matches!(end, GameEnd::Stuck(_))),
            failed: trials(|end| matches!(end, GameEnd::Failed(_))),
            too_long: trials(|end| matches!(end, GameEnd::TooLong)),
            never_named,
            never_offered,
            never_chosen,
            cards,
            topics: self.topics(),
            comebacks: has_won.then(|| Rate::of(behind, won.len() as u64)),
            lowest_lead: Some(lowest).filter(|lowest| lowest.margin.is_finite()),
            lead_changes: has_won.then(|| Average::of_counts(won.iter().map(|game| game.lead_changes()))),
            decided_at: has_won.then(|| Average::of_shares(won.iter().filter_map(|game| game.decided_at()))),
            is_cooperative,
            missing,
        }
    }

    /// The figures of each card. `has_winners`: a game can have a winner.
    fn cards(&self, has_winners: bool) -> Vec<CardFigures> {
        let mut keys: BTreeSet<(&Arc<str>, &Arc<str>)> = BTreeSet::new();
        for game in &self.games {
            keys.extend(game.cards.iter().flat_map(|(seat, cards)| cards.keys().map(move |card| (seat, card))));
        }
        let figures = keys.into_iter().map(|(seat, card)| {
            let offers = self.games.iter().map(|game| {
                (game, game.cards.get(seat).and_then(|cards| cards.get(card)).copied().unwrap_or_default())
            });
            let mut offer = CardOffer::default();
            for (_, more) in offers.clone() {
                offer.named += more.named;
                offer.offered += more.offered;
                offer.chosen += more.chosen;
            }
            let place = self.seats.iter().position(|known| known == seat);
            let (mut used, mut won, mut drawn) = (0, 0, 0);
            for (game, _) in offers.clone().filter(|(game, offer)| offer.chosen > 0 && game.is_whole()) {
                used += 1;
                won += u64::from(place.is_some() && game.winner() == place);
                drawn += u64::from(game.is_drawn());
            }
            CardFigures {
                seat: seat.clone(),
                card: card.clone(),
                offer,
                chosen_when_offered: Rate::of_groups(offers.map(|(_, offer)| (offer.chosen, offer.offered))),
                won_when_used: has_winners.then(|| Rate::of(won, used)),
                drawn_when_used: has_winners.then(|| Rate::of(drawn, used)),
            }
        });
        figures.collect()
    }

    fn topics(&self) -> Vec<TopicFigures> {
        let mut keys: BTreeSet<(&Arc<str>, &Arc<str>)> = BTreeSet::new();
        for game in &self.games {
            keys.extend(game.topics.iter().flat_map(|(seat, topics)| topics.keys().map(move |topic| (seat, topic))));
        }
        let figures = keys.into_iter().map(|(seat, topic)| {
            let of_games = self.games.iter().filter_map(|game| game.topics.get(seat)?.get(topic));
            let mut asked = TopicUse::default();
            for more in of_games.clone() {
                asked.asked += more.asked;
                asked.counted += more.counted;
                asked.open += more.open;
                asked.single += more.single;
            }
            let open = Average::of_groups(of_games.clone().map(|of_game| (of_game.open, of_game.counted)));
            let single = Rate::of_groups(of_games.map(|of_game| (of_game.single, of_game.counted)));
            TopicFigures { seat: seat.clone(), topic: topic.clone(), asked, open, single }
        });
        figures.collect()
    }
}

/// The figures that a ruleset or a game does not allow, each with what would add them.
fn missing(has_value: bool, seats: usize, is_cooperative: bool) -> Vec<String> {
    const NEED_WINNERS: &str = "fairness, win shares of cards, drama, luck and skill";
    match (has_value, seats) {
        (false, _) => vec![format!(
            "{NEED_WINNERS}, the worth of cards, and the comparison of cards (no difference, never better): no number says what a state is worth to \
             each seat; add `value = function(seat) return ... end` to play.luau, a higher number where the seat stands better"
        )],
        (true, 0 | 1) => vec![format!("{NEED_WINNERS}: they need two seats, of which one can win against the other")],
        (true, _) if is_cooperative => vec![format!(
            "{NEED_WINNERS}: in every recorded game `value` was the same for all seats from the start to the end, so they win or \
             lose together"
        )],
        (true, _) => Vec::new(),
    }
}

/// Of all cards, returns those that no question named, those that were never open, and those that were never chosen.
fn unused(all: &[Arc<str>], cards: &[CardFigures]) -> [Vec<Arc<str>>; 3] {
    let mut found = [Vec::new(), Vec::new(), Vec::new()];
    for card in all {
        let mut of_seats = cards.iter().filter(|figures| figures.card == *card).map(|figures| figures.offer);
        let class = match (of_seats.clone().next(), of_seats.clone().any(|offer| offer.offered > 0)) {
            (None, _) => 0,
            (Some(_), false) => 1,
            _ if of_seats.all(|offer| offer.chosen == 0) => 2,
            _ => continue,
        };
        found[class].push(card.clone());
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_spread_names_the_first_of_the_longest_games() {
        let spread = Spread::of([(1, 5), (2, 9), (3, 1), (4, 9), (5, 3)].into_iter());
        let spread = spread.unwrap();
        assert_eq!([spread.p10.value, spread.p50.value, spread.p90.value], [1, 5, 9]);
        assert_eq!((spread.most, spread.most_in_trial), (9, 2));
        // Five games are too few for any interval.
        assert_eq!((spread.p50.low, spread.p50.high), (None, None));
        let hundred = Spread::of((1..=100).map(|n| (n, n))).unwrap();
        assert_eq!(hundred.p50, Percentile { value: 50, low: Some(40), high: Some(61) });
        assert_eq!(Spread::of(std::iter::empty()), None);
    }

    #[test]
    fn a_card_counts_in_the_games_that_its_seat_wins() {
        let seats: Vec<Arc<str>> = vec!["left".into(), "right".into()];
        let game = |trial, worth: [i64; 2], chosen| {
            let offer = CardOffer { named: 3, offered: 2, chosen };
            let cards = [(seats[0].clone(), [("push".into(), offer)].into())].into();
            let course = vec![vec![0, 0], worth.to_vec()];
            GameFacts { end: GameEnd::Result("over".into()), cards, course, ..GameFacts::of_trial(trial) }
        };
        // Used in five games, of which the seat wins two and nobody two; not used in the last.
        let games = [([1, 0], 1), ([3, 0], 2), ([0, 1], 1), ([2, 2], 1), ([0, 0], 1), ([1, 0], 0)];
        let games = (1..).zip(games).map(|(trial, (worth, chosen))| game(trial, worth, chosen)).collect();
        let cards = vec!["push".into(), "pull".into()];
        let figures = Recorded { seats: seats.clone(), cards, has_value: true, games }.figures();
        let card = &figures.cards[0];
        assert_eq!((card.offer.offered, card.offer.chosen), (12, 6));
        assert_eq!(figures.never_named, [Arc::<str>::from("pull")]);
        assert!(figures.never_offered.is_empty() && figures.never_chosen.is_empty());
        let won = card.won_when_used.unwrap();
        assert_eq!((won.count, won.of), (2, 5));
        let drawn = card.drawn_when_used.unwrap();
        assert_eq!((drawn.count, drawn.of, figures.drawn), (2, 5, 2));
        assert_eq!(figures.results["over"].count, 6);
        assert!(figures.missing.is_empty() && figures.endless.is_empty());
    }
}
