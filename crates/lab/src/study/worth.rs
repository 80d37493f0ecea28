//! What a card is worth: games with and without it on the same dice.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde::Serialize;

use super::super::paired::Difference;
use super::super::{Progress, SimulationError};
use super::facts::GameFacts;
use super::recorder::{Recorded, Study, Task, played_again};

/// What a card is worth to a seat, by restricted play (Jaffe 2012): the games of a study are played again on the same dice, without
/// the card.
#[derive(Clone, Debug, Serialize)]
pub struct CardWorth {
    /// The seat that may not use it.
    pub seat: Arc<str>,
    /// The id of the card.
    pub card: Arc<str>,
    /// By how much its share of games won falls without the card, -1 to 1; a draw is half a game won. Below zero: it wins more
    /// games without the card.
    pub worth: Difference,
    /// How often the card could be used although it is banned, since nothing else was open.
    pub forced: u64,
    /// Pairs that do not count, since one of the two games has no end.
    pub left_out: u64,
}

impl Study {
    /// Plays the recorded games of the study again, without each card that a seat used. `told` is called after each game and ends
    /// the work by returning false. All cards get the same games, so that their figures are as precise when the work ends early.
    ///
    /// Only games in which the card was open are played again: in others nothing differs.
    ///
    /// # Errors
    ///
    /// As [`Study::record`].
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
            tasks.extend(open.map(|at| (at, game.trial)));
        }
        let place = |seat: &Arc<str>| recorded.seats.iter().position(|known| known == seat);
        // Of each game: the score of the seat without its card, and how often the card was used all the same.
        let read =
            |(at, _): Task, facts: &GameFacts| (place(&wanted[at].0).and_then(|seat| facts.score(seat)), facts.forced);
        let played = played_again(&studies, &tasks, threads, told, &read)?;
        // The games of the first trials, whole with all cards, where the work ended early.
        let known = tasks.get(played.len()).map_or(u64::MAX, |(_, trial)| *trial);
        let without: BTreeMap<Task, (Option<f64>, u64)> = tasks.iter().copied().zip(played).collect();
        let found = wanted.iter().enumerate().filter_map(|(at, (seat, card))| {
            let place = place(seat)?;
            let (mut forced, mut left_out, mut differences) = (0, 0, Vec::new());
            for game in recorded.games.iter().filter(|game| game.trial < known) {
                let score = game.score(place);
                let (restricted, used) = without.get(&(at, game.trial)).copied().unwrap_or((score, 0));
                forced += used;
                match (score, restricted) {
                    (Some(with), Some(without)) => differences.push(with - without),
                    _ => left_out += 1,
                }
            }
            let worth = Difference::of_scores(differences.into_iter());
            (worth.pairs > 0).then(|| CardWorth { seat: seat.clone(), card: card.clone(), worth, forced, left_out })
        });
        Ok(found.collect())
    }

    /// The study in which a seat may not use a card while another option is open.
    pub fn without(&self, seat: &Arc<str>, card: &Arc<str>) -> Study {
        let mut study = self.clone();
        study.bans.insert((seat.clone(), card.clone()));
        study
    }
}

/// Each seat with each card that it used.
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
