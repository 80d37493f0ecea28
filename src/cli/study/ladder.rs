//! The part about luck and skill: who plays against whom, over which trials, and how far a search looks ahead.

use std::time::Instant;

use anyhow::Result;
use riskbreaker::lab::{AHEAD, Foresight, GameFacts, LadderPair, RANDOM, Recorded, Search, Study};
use serde::Serialize;

use super::job::StudyJob;
use super::parts::{StudyFindings, StudyPart, StudyWork};

/// The shares of the total time at which the games of the policies, and those of the search, end at the latest. The games of `ahead`,
/// which take longest in many games, come last.
const POLICIES_BY: f64 = 0.79;
const SEARCH_BY: f64 = 0.91;

/// How often a playout reaches the horizon of the ruleset before it stops there.
const HORIZONS: u32 = 3;

/// The playouts of a search with `--trials`.
const USUAL: u32 = 10;

/// The playouts of a search that is fitted into the time: the largest number for which [`WANTED_PAIRS`] pairs against each opponent
/// take no longer than there is, or else the first.
const FITTED: [u32; 5] = [4, 10, 20, 40, 100];
const WANTED_PAIRS: u64 = 10;

/// The pairs against each opponent below which a search that is fitted into the time has fewer opponents.
const LEAST_PAIRS: f64 = 2.0;

/// Of this number of trials, a search plays one, if the call does not name its playouts: the first ones, at least [`LEAST_TRIALS`].
const ONE_OF: u64 = 10;
const LEAST_TRIALS: u64 = 2;

/// The search that takes part in a study.
#[derive(Clone, Copy, Debug)]
pub struct SearchPlan {
    /// How far it looks ahead; `None` leaves that to the study.
    pub wanted: Option<Search>,
    /// The number of the last trial that it plays.
    pub last: u64,
}

impl SearchPlan {
    /// The plan for a study of this number of trials.
    pub fn of(wanted: Option<Search>, trials: u64) -> SearchPlan {
        SearchPlan { wanted, last: if wanted.is_some() { trials } else { (trials / ONE_OF).max(LEAST_TRIALS) } }
    }
}

/// The search that took part in the comparison of players.
#[derive(Clone, Debug, Serialize)]
pub struct SearchUse {
    /// Its name as a player, such as `search:20:horizon:8`.
    pub player: String,
    /// The number of trials that it played against each opponent.
    pub trials: u64,
    /// True if its playouts were fitted into the time of the study.
    pub is_fitted: bool,
    /// The players against whom there was no time to play.
    pub not_met: Vec<String>,
    /// The call that plays these pairs again; `None` if no pair was played, or if it would compare other seats.
    pub again: Option<String>,
}

/// A search of this number of playouts. They stop at a horizon, or at the end of the game if in most recorded games `value` does
/// not change before the last action: there, it says nothing about the states before.
fn search_of(recorded: &Recorded, playouts: u32) -> Search {
    let changes_early = |game: &&GameFacts| match game.course.as_slice() {
        [start, between @ .., _] => between.iter().any(|worth| worth != start),
        _ => false,
    };
    let early = recorded.games.iter().filter(changes_early).count();
    Search { playouts, horizons: (2 * early > recorded.games.len()).then_some(HORIZONS) }
}

impl StudyFindings {
    /// Plays the pairs of all players. False if the time or Ctrl-C ended them.
    pub(super) fn play_ladder(&mut self, asked: &StudyJob, work: &StudyWork) -> Result<bool> {
        let study = &asked.study;
        let players = study.players();
        let (slow, fast): (Vec<_>, Vec<_>) = pairs_of(&players).into_iter().partition(|(_, other)| other == AHEAD);
        let fast = self.play_pairs(study, &fast, (StudyPart::Dominated.ends_at(), POLICIES_BY), work)?;
        let searched = self.play_search(asked, &players, work)?;
        let slow = self.play_pairs(study, &slow, (SEARCH_BY, StudyPart::Skill.ends_at()), work)?;
        Ok(fast && searched && slow)
    }

    /// Plays pairs of players between two shares of the time. False if the time or Ctrl-C ended them.
    fn play_pairs(
        &mut self,
        study: &Study,
        pairs: &[(String, String)],
        (from, until): (f64, f64),
        work: &StudyWork,
    ) -> Result<bool> {
        if pairs.is_empty() {
            return Ok(true);
        }
        work.begin(StudyPart::Skill.short_name(), from, until);
        let (recorded, seats) = (&self.recorded, &self.seats);
        let (ladder, all) = work.until(until, |threads, told| study.ladder(recorded, seats, pairs, threads, told))?;
        self.ladder.extend(ladder);
        Ok(all)
    }

    /// Plays the pairs of a search against the others. False if the time or Ctrl-C ended them without a pair.
    fn play_search(&mut self, asked: &StudyJob, players: &[String], work: &StudyWork) -> Result<bool> {
        let study = &asked.study;
        let recorded = first_games(&self.recorded, asked.search.last);
        let is_fitted = asked.search.wanted.is_none() && work.is_limited();
        let mut opponents = self.opponents(players);
        if is_fitted {
            // A game of `ahead` may take longer than all the time that is left.
            opponents.retain(|player| player != AHEAD);
        }
        // Another part of the study may have all trials of the search.
        if recorded.games.is_empty() || opponents.is_empty() {
            return Ok(true);
        }
        if work.is_interrupted() {
            return Ok(false);
        }
        let (player, ladder) = match is_fitted {
            true => self.fitted(study, &recorded, &opponents, work)?,
            false => {
                let player = name(asked.search.wanted.unwrap_or_else(|| search_of(&self.recorded, USUAL)));
                (player.clone(), self.searched(study, &recorded, &opponents, &player, work)?)
            }
        };
        let trials = ladder.first().map_or(0, |pair| pair.ahead_by.pairs + pair.left_out);
        let is_same = trials > 0 && {
            let last = study.first.saturating_add(trials - 1);
            study.compared_seats(&first_games(&recorded, last)) == self.seats
        };
        let (count, spoken) = (trials.to_string(), player.split_once(':').map_or("", |(_, spoken)| spoken));
        let more = ["--only", "skill", "--trials", &count, "--search", spoken].map(str::to_owned);
        let again = is_same.then(|| asked.call(&more));
        let has_met = |other: &&String| ladder.iter().any(|pair| pair.player == **other);
        let not_met = opponents.iter().filter(|other| !has_met(other)).cloned().collect();
        self.ladder.extend(ladder);
        self.search = Some(SearchUse { player, trials, is_fitted, not_met, again });
        Ok(trials > 0)
    }

    /// Plays the pairs of a search against some opponents, up to the end of the time.
    fn searched(
        &self,
        study: &Study,
        recorded: &Recorded,
        opponents: &[String],
        player: &str,
        work: &StudyWork,
    ) -> Result<Vec<LadderPair>> {
        let pairs: Vec<(String, String)> = opponents.iter().map(|other| (other.clone(), player.to_owned())).collect();
        work.begin("search", POLICIES_BY, SEARCH_BY);
        let run = work.until(SEARCH_BY, |threads, told| study.ladder(recorded, &self.seats, &pairs, threads, told));
        Ok(run?.0)
    }

    /// Plays the pairs of a search that is fitted into the time, and returns its name. The first pair, against the first opponent,
    /// shows how long a game takes.
    fn fitted(
        &self,
        study: &Study,
        recorded: &Recorded,
        opponents: &[String],
        work: &StudyWork,
    ) -> Result<(String, Vec<LadderPair>)> {
        let least = name(search_of(&self.recorded, FITTED[0]));
        let began = Instant::now();
        let first = self.searched(study, &first_games(recorded, study.first), &opponents[..1], &least, work)?;
        let took = began.elapsed().as_secs_f64();
        let is_played = first.iter().any(|pair| pair.ahead_by.pairs + pair.left_out > 0);
        let left = work.left(SEARCH_BY).as_secs_f64();
        // Two threads play the games of one pair at the same time.
        let at_once = (work.threads() as f64 / 2.0).max(1.0);
        let fitting = left * at_once / took.max(f64::MIN_POSITIVE);
        if !is_played || fitting < 1.0 {
            return Ok((least, first));
        }
        let wanted = WANTED_PAIRS.min(recorded.games.len() as u64) as f64 * opponents.len() as f64;
        let fits = |playouts: &&u32| wanted * f64::from(**playouts) / f64::from(FITTED[0]) <= fitting;
        let player = name(search_of(&self.recorded, FITTED.iter().rfind(fits).copied().unwrap_or(FITTED[0])));
        let count = ((fitting / LEAST_PAIRS) as usize).clamp(1, opponents.len());
        let ladder = self.searched(study, recorded, &opponents[..count], &player, work)?;
        let is_empty = ladder.iter().all(|pair| pair.ahead_by.pairs + pair.left_out == 0);
        Ok(if is_empty { (least, first) } else { (player, ladder) })
    }

    /// Those against whom a search plays, those who won most against the others first: the policies and `ahead`; `random` only where
    /// there is no policy.
    fn opponents(&self, players: &[String]) -> Vec<String> {
        let has_policies = players.iter().any(|player| player != RANDOM && player != AHEAD);
        let mut opponents: Vec<String> =
            players.iter().filter(|player| *player != RANDOM || !has_policies).cloned().collect();
        let ahead_by = |player: &str| -> f64 {
            let own = |pair: &&LadderPair| pair.player == player || pair.against == player;
            let signed = |pair: &LadderPair| pair.ahead_by.average * if pair.player == player { 1.0 } else { -1.0 };
            self.ladder.iter().filter(own).map(signed).sum()
        };
        opponents.sort_by(|one, other| ahead_by(other).total_cmp(&ahead_by(one)));
        opponents
    }
}

/// The name of a search as a player.
fn name(search: Search) -> String {
    Foresight::Search(search).to_string()
}

/// The recorded games up to a trial.
fn first_games(recorded: &Recorded, last: u64) -> Recorded {
    let games = recorded.games.iter().take_while(|game| game.trial <= last).cloned().collect();
    Recorded { seats: recorded.seats.clone(), cards: recorded.cards.clone(), has_value: recorded.has_value, games }
}

/// All pairs of two players.
fn pairs_of(players: &[String]) -> Vec<(String, String)> {
    let pairs = players
        .iter()
        .enumerate()
        .flat_map(|(at, one)| players[at + 1..].iter().map(move |other| (one.clone(), other.clone())));
    pairs.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_search_plays_a_tenth_of_the_trials_unless_its_playouts_are_named() {
        assert_eq!([1, 4, 400].map(|trials| SearchPlan::of(None, trials).last), [2, 2, 40]);
        let wanted = Search { playouts: 30, horizons: None };
        assert_eq!(SearchPlan::of(Some(wanted), 400).last, 400);
    }
}
