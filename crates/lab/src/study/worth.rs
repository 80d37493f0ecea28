//! The worth of a card: games with and without it on the same dice.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde::Serialize;

use super::super::paired::Difference;
use super::super::tally::Z;
use super::super::{Progress, SimulationError};
use super::facts::GameFacts;
use super::recorder::{Recorded, Study, Task, played_again};

/// The worth of a card to a seat by restricted play (Jaffe 2012): the games of a study are played again on the same
/// dice, without the card.
#[derive(Clone, Debug, Serialize)]
pub struct CardWorth {
    /// The seat that may not use the card.
    pub seat: Arc<str>,
    /// The id of the card.
    pub card: Arc<str>,
    /// The share of games that the seat loses without the card, -1 to 1; a draw is half a game won. Negative if it wins
    /// more games without the card. If `in_value`, how much lower the seat's value is at the end of the game without it.
    pub worth: Difference,
    /// True where no seat wins against another: with one seat, or if all win or lose together.
    pub in_value: bool,
    /// The number of questions in which the banned card was allowed because nothing else was open.
    pub forced: u64,
    /// The number of pairs that do not count because one of the two games has no end.
    pub left_out: u64,
}

impl Study {
    /// Plays the recorded games again, without each card that a seat used. `told` is called after each game and ends
    /// the work by returning false. All cards get the same games, so their figures are equally precise if the work ends
    /// early.
    ///
    /// Only games in which the card was open are played again; the others would not change.
    ///
    /// # Errors
    ///
    /// Those of [`Study::record`].
    pub fn worth_of_cards(
        &self,
        recorded: &Recorded,
        threads: usize,
        told: &mut dyn FnMut(Progress) -> bool,
    ) -> Result<Vec<CardWorth>, SimulationError> {
        let wanted = used_cards(recorded);
        let studies: Vec<Study> = wanted.iter().map(|(seat, card)| self.without(seat, card)).collect();
        let mut tasks: Vec<Task> = Vec::new();
        for game in &recorded.games {
            let is_offered = |(seat, card): &(Arc<str>, Arc<str>)| {
                game.cards.get(seat).and_then(|cards| cards.get(card)).is_some_and(|offer| offer.offered > 0)
            };
            let open = (0..wanted.len()).filter(|at| is_offered(&wanted[*at]));
            tasks.extend(open.map(|at| Task::again(at, game)));
        }
        let place = |seat: &Arc<str>| recorded.seats.iter().position(|known| known == seat);
        let in_value = recorded.seats.len() == 1 || recorded.is_cooperative();
        let score_of = |facts: &GameFacts, seat: usize| match in_value {
            true => facts.course.last().filter(|_| facts.is_whole()).map(|worth| worth[seat] as f64),
            false => facts.score(seat),
        };
        // For each game: the score of the seat without the card, and how often the banned card was allowed.
        let read = |task: Task, facts: &GameFacts| {
            (place(&wanted[task.study].0).and_then(|seat| score_of(facts, seat)), facts.forced)
        };
        let played = played_again(&studies, &tasks, threads, told, &read)?;
        // If the work ended early, only the first trials were played again with every card.
        let known = tasks.get(played.len()).map_or(u64::MAX, |task| task.trial);
        let places = tasks.iter().map(|task| (task.study, task.trial));
        let without: BTreeMap<(usize, u64), (Option<f64>, u64)> = places.zip(played).collect();
        let found = wanted.iter().enumerate().filter_map(|(at, (seat, card))| {
            let place = place(seat)?;
            let (mut forced, mut left_out, mut differences) = (0, 0, Vec::new());
            for game in recorded.games.iter().filter(|game| game.trial < known) {
                let score = score_of(game, place);
                let (restricted, used) = without.get(&(at, game.trial)).copied().unwrap_or((score, 0));
                forced += used;
                match (score, restricted) {
                    (Some(with), Some(without)) => differences.push(with - without),
                    _ => left_out += 1,
                }
            }
            let worth = match in_value {
                true => Difference::of_values(differences.into_iter(), Z),
                false => Difference::of_scores(differences.into_iter()),
            };
            Some(CardWorth { seat: seat.clone(), card: card.clone(), worth, in_value, forced, left_out })
        });
        Ok(found.collect())
    }

    /// Returns the study in which a seat may not use a card while another option is open.
    pub fn without(&self, seat: &Arc<str>, card: &Arc<str>) -> Study {
        let mut study = self.clone();
        study.bans.insert((seat.clone(), card.clone()));
        study
    }
}

/// Lists each seat with each card that it used.
fn used_cards(recorded: &Recorded) -> Vec<(Arc<str>, Arc<str>)> {
    let mut used: BTreeSet<(Arc<str>, Arc<str>)> = BTreeSet::new();
    for game in &recorded.games {
        for (seat, cards) in game.cards.iter().filter(|(seat, _)| recorded.seats.contains(seat)) {
            let chosen = cards.iter().filter(|(_, offer)| offer.chosen > 0);
            used.extend(chosen.map(|(card, _)| (seat.clone(), card.clone())));
        }
    }
    used.into_iter().collect()
}
