//! Luck and skill: players against each other on the same dice, with the seats exchanged.

use std::sync::Arc;

use serde::Serialize;

use super::super::foresight::Foresight;
use super::super::paired::Difference;
use super::super::tally::Rate;
use super::super::{Progress, SimulationError};
use super::recorder::{RANDOM, Recorded, Study};
use riskbreaker_play::Driver;

/// The result of two players in pairs of games on the same dice. In the second game of a pair they exchange seats.
#[derive(Clone, Debug, Serialize)]
pub struct LadderPair {
    /// The player: a policy, `random` or `ahead`.
    pub player: String,
    /// The opponent, named likewise.
    pub against: String,
    /// The share of games won by the player minus that of the opponent, -1 to 1; a draw is half a game won.
    pub ahead_by: Difference,
    /// The share of pairs in which the same seat won both games, so that dice and seat alone decided.
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

    /// Plays the trials of the recorded games with each pair of players, in both seats. `told` is called after each
    /// game and ends the work by returning false. All pairs get the same trials.
    ///
    /// # Errors
    ///
    /// Those of [`Study::record`]; a player that is no policy, `random` or `ahead`.
    pub fn ladder(
        &self,
        recorded: &Recorded,
        seats: &[Arc<str>; 2],
        pairs: &[(String, String)],
        threads: usize,
        told: &mut dyn FnMut(Progress) -> bool,
    ) -> Result<Vec<LadderPair>, SimulationError> {
        let both = |(one, other): &(String, String)| {
            [self.played_by(seats, [one, other]), self.played_by(seats, [other, one])]
        };
        let studies: Vec<Study> = pairs.iter().flat_map(both).collect();
        let scores = recorded.scores_under(&studies, recorded.place_of(&seats[0]), threads, told)?;
        let rounds = scores.chunks_exact(studies.len().max(1));
        let found = pairs.iter().enumerate().map(|(at, (player, against))| {
            LadderPair::of(player, against, rounds.clone().map(|round| (round[2 * at], round[2 * at + 1])))
        });
        Ok(found.collect())
    }

    /// Returns the study with these players in the two seats.
    fn played_by(&self, seats: &[Arc<str>; 2], players: [&String; 2]) -> Study {
        let mut study = self.clone();
        for (seat, player) in seats.iter().zip(players) {
            study.variant.ahead.remove(seat);
            study.random.remove(seat);
            let is_policy = study.variant.rules.policies().iter().any(|policy| **policy == **player);
            let driver = match player.as_str() {
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

impl LadderPair {
    /// Counts pairs of games from the scores of the first seat: with the player in it, and with the opponent.
    fn of(player: &str, against: &str, scores: impl Iterator<Item = (Option<f64>, Option<f64>)>) -> LadderPair {
        let (mut left_out, mut by_dice, mut pairs) = (0, 0, Vec::new());
        for scores in scores {
            let (Some(own), Some(other)) = scores else {
                left_out += 1;
                continue;
            };
            by_dice += u64::from(own == other && own != 0.5);
            // The player wins if the first seat wins with it, and if that seat loses with the opponent.
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
        let games = [(1.0, 0.0), (1.0, 1.0), (0.0, 0.0), (0.5, 0.5), (0.0, 1.0), (1.0, 0.0)];
        let scores = games.iter().map(|(own, other)| (Some(*own), Some(*other))).chain([(None, Some(1.0))]);
        let found = LadderPair::of("bold", "random", scores);
        assert_eq!((found.decided_by_dice.count, found.decided_by_dice.of, found.left_out), (2, 6, 1));
        // Two of six pairs for the player, one against it.
        assert!((found.ahead_by.average - 1.0 / 6.0).abs() < 1e-9);
    }
}
