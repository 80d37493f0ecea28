//! Luck and skill: players against each other on the same dice, in exchanged seats.

use std::sync::Arc;

use serde::Serialize;

use super::super::foresight::Foresight;
use super::super::paired::Difference;
use super::super::tally::Rate;
use super::super::{Progress, SimulationError};
use super::facts::GameFacts;
use super::recorder::{RANDOM, Recorded, Study, Task, played_again};
use riskbreaker_play::Driver;

/// The result of two players in pairs of games on the same dice: the player in one seat and the opponent in all others, then the
/// other way round. With more than two seats, each seat is the single one in turn, by trial.
#[derive(Clone, Debug, Serialize)]
pub struct LadderPair {
    /// The player: a policy, `random` or `ahead`.
    pub player: String,
    /// The opponent, named likewise.
    pub against: String,
    /// The share of games won by the player minus that of the opponent, -1 to 1; a draw is half a game won.
    pub ahead_by: Difference,
    /// The share of pairs in which both games gave the seats the same result, a draw included, so that who played where had no
    /// effect: dice and seat alone decided.
    pub decided_by_dice: Rate,
    /// The number of pairs that do not count because one of the two games has no end.
    pub left_out: u64,
}

impl Study {
    /// Lists the players that can take every seat: `random`, the policies of the rules in their order, and `ahead` if
    /// the ruleset has a `value`.
    pub fn players(&self) -> Vec<String> {
        let rules = &self.variant.rules;
        let shipped = rules.policies().iter().map(|policy| policy.to_string()).filter(|policy| policy != RANDOM);
        let seeing = Some(Foresight::OneStep).filter(|_| rules.measures()).map(|seeing| seeing.to_string());
        [RANDOM.to_owned()].into_iter().chain(shipped).chain(seeing).collect()
    }

    /// Plays the trials of the recorded games with each pair of players, in all of `seats`. `told` is called after each
    /// game and ends the work by returning false. All pairs get the same trials.
    ///
    /// # Errors
    ///
    /// Those of [`Study::record`]; a player that is no policy, `random` or `ahead`.
    pub fn ladder(
        &self,
        recorded: &Recorded,
        seats: &[Arc<str>],
        pairs: &[(String, String)],
        threads: usize,
        told: &mut dyn FnMut(Progress) -> bool,
    ) -> Result<Vec<LadderPair>, SimulationError> {
        // With two seats, the games of the second one as the single seat would be those of the first.
        let single = if seats.len() > 2 { seats } else { &seats[..1] };
        let games = 2 * pairs.len();
        let mut studies: Vec<Study> = Vec::new();
        for seat in single {
            for (one, other) in pairs {
                studies.push(self.played_by(seats, seat, one, other));
                studies.push(self.played_by(seats, seat, other, one));
            }
        }
        let of_trial = |game: &GameFacts| {
            let first = (game.trial % single.len() as u64) as usize * games;
            (first..first + games).map(|study| Task::again(study, game)).collect::<Vec<_>>()
        };
        let tasks: Vec<Task> = recorded.games.iter().flat_map(of_trial).collect();
        let read = |task: Task, facts: &GameFacts| {
            let score = facts.score(recorded.place_of(&single[task.study / games]))?;
            Some((score, facts.winner()))
        };
        let played = played_again(&studies, &tasks, threads, told, &read)?;
        let found = pairs.iter().enumerate().map(|(at, (player, against))| {
            let trials = played.chunks_exact(games.max(1));
            LadderPair::of(player, against, trials.map(|trial| (trial[2 * at], trial[2 * at + 1])))
        });
        Ok(found.collect())
    }

    /// Returns the study with `one` in the seat `single` and `other` in all other seats.
    fn played_by(&self, seats: &[Arc<str>], single: &Arc<str>, one: &str, other: &str) -> Study {
        let mut study = self.clone();
        for seat in seats {
            let player = if seat == single { one } else { other };
            study.variant.ahead.remove(seat);
            study.random.remove(seat);
            let is_policy = study.variant.rules.policies().iter().any(|policy| **policy == *player);
            let driver = match player {
                name if is_policy => Driver::Policy(name.into()),
                RANDOM => {
                    study.random.insert(seat.clone());
                    Driver::Human
                }
                name => match Foresight::named(name) {
                    Ok(Some(foresight)) => {
                        study.variant.ahead.insert(seat.clone(), foresight);
                        Driver::Human
                    }
                    // A name that is no policy is refused when the game starts.
                    Ok(None) | Err(_) => Driver::Policy(name.into()),
                },
            };
            study.variant.setup.seats.insert(seat.clone(), driver);
        }
        study
    }
}

/// The score of the single seat in a game, and the index of the winner; `None` if the game has no end.
type SingleScore = Option<(f64, Option<usize>)>;

impl LadderPair {
    /// Counts pairs of games, each with the player in the single seat and with the opponent in it.
    fn of(player: &str, against: &str, games: impl Iterator<Item = (SingleScore, SingleScore)>) -> LadderPair {
        let (mut left_out, mut by_dice, mut pairs) = (0, 0, Vec::new());
        for game in games {
            let (Some((own, winner)), Some((other, other_winner))) = game else {
                left_out += 1;
                continue;
            };
            by_dice += u64::from(winner == other_winner);
            // The player wins if the seat wins with it, and if that seat loses with the opponent.
            pairs.push(own - other);
        }
        LadderPair {
            player: player.to_owned(),
            against: against.to_owned(),
            decided_by_dice: Rate::of(by_dice, pairs.len() as u64),
            ahead_by: Difference::of_scores(pairs.into_iter()),
            left_out,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pair_of_games_counts_for_skill_or_for_luck() {
        // The index of the winner in both games: seat 0 is the player's in the first one; `None` is a draw.
        let games = [(Some(0), Some(1)), (Some(0), Some(0)), (Some(1), Some(1)), (None, None), (Some(1), None)];
        let score = |winner: Option<usize>| match winner {
            Some(0) => 1.0,
            Some(_) => 0.0,
            None => 0.5,
        };
        let single = |winner| Some((score(winner), winner));
        let games = games.iter().map(|(own, other)| (single(*own), single(*other)));
        let found = LadderPair::of("bold", "random", games.chain([(None, single(Some(0)))]));
        assert_eq!((found.decided_by_dice.count, found.decided_by_dice.of, found.left_out), (3, 5, 1));
        // One of five pairs for the player, half a pair against it.
        assert!((found.ahead_by.average - 0.1).abs() < 1e-9);
        // With three seats, the same score of one seat is not the same result: another one may have won.
        let games = [(Some((0.0, Some(1))), Some((0.0, Some(2))))];
        assert_eq!(LadderPair::of("bold", "random", games.into_iter()).decided_by_dice.count, 0);
    }
}
