//! Games of a study that were played before, also on other machines.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use serde::{Deserialize, Serialize};

use super::facts::GameFacts;
use super::positions::WeighedQuestion;
use super::recorder::Study;

/// Games of a study that need not be played again, for a study in several parts: the recorded ones, those played again for its
/// parts, and the questions whose answers were weighed.
///
/// Games that are played again have only what is counted of them: their end, and the values at the end.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct KnownGames {
    /// By rules of play (see [`Study::way_of_play`]) and trial.
    games: BTreeMap<String, BTreeMap<u64, GameFacts>>,
    /// The weighed questions of the recorded games, by trial.
    weighed: BTreeMap<u64, Vec<WeighedQuestion>>,
}

/// Where a study takes known games from, and keeps those that it plays. It is shared by all copies of the study; by default there
/// is none.
#[derive(Clone, Debug, Default)]
pub struct GameStore(Option<Arc<Mutex<KnownGames>>>);

impl KnownGames {
    /// Adds the games of another part.
    pub fn add(&mut self, other: KnownGames) {
        for (way, games) in other.games {
            self.games.entry(way).or_default().extend(games);
        }
        self.weighed.extend(other.weighed);
    }

    /// The number of games.
    pub fn count(&self) -> usize {
        self.games.values().map(BTreeMap::len).sum()
    }

    /// The trials of a study whose recorded games are known, in order.
    pub fn trials_of(&self, study: &Study) -> Vec<u64> {
        self.games.get(&study.way_of_play()).map(|games| games.keys().copied().collect()).unwrap_or_default()
    }
}

impl GameStore {
    /// A store that begins with these games.
    pub fn new(known: KnownGames) -> GameStore {
        GameStore(Some(Arc::new(Mutex::new(known))))
    }

    /// A copy of all games; none without a store.
    pub fn known(&self) -> KnownGames {
        self.read(KnownGames::clone).unwrap_or_default()
    }

    pub(super) fn is_kept(&self) -> bool {
        self.0.is_some()
    }

    fn read<R>(&self, read: impl FnOnce(&KnownGames) -> R) -> Option<R> {
        let known = self.0.as_ref()?;
        Some(read(&known.lock().unwrap_or_else(std::sync::PoisonError::into_inner)))
    }

    fn write(&self, write: impl FnOnce(&mut KnownGames)) {
        if let Some(known) = &self.0 {
            write(&mut known.lock().unwrap_or_else(std::sync::PoisonError::into_inner));
        }
    }

    pub(super) fn game(&self, way: &str, trial: u64) -> Option<GameFacts> {
        self.read(|known| known.games.get(way)?.get(&trial).cloned()).flatten()
    }

    pub(super) fn keep_game(&self, way: &str, facts: GameFacts) {
        self.write(|known| drop(known.games.entry(way.to_owned()).or_default().insert(facts.trial, facts)));
    }

    pub(super) fn weighed(&self, trial: u64) -> Option<Vec<WeighedQuestion>> {
        self.read(|known| known.weighed.get(&trial).cloned()).flatten()
    }

    pub(super) fn keep_weighed(&self, trial: u64, questions: &[WeighedQuestion]) {
        self.write(|known| drop(known.weighed.insert(trial, questions.to_vec())));
    }
}
