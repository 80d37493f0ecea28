use serde::Serialize;

use super::advice::{Advice, Advised, PlayedOut};
use super::paired::Difference;
use riskbreaker_dice::float;
use riskbreaker_state::Value;

/// Ranked answers as plain data: what `hint` prints as JSON, what a program in Lua gets, and what the protocol sends.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "serve", derive(schemars::JsonSchema))]
pub struct AdviceReport {
    /// The best answer in words, or all between which no difference was found. Empty if the answers are not ranked.
    pub best: Vec<String>,
    /// The margin of error between the best answers; null if one answer is best alone.
    pub margin: Option<f64>,
    /// The answers, the best first. Those that share a place are in the order of the question.
    pub answers: Vec<AnswerReport>,
    /// The result of games in which the policy answers the question as well.
    pub now: Option<PlayedReport>,
    /// The number of games played.
    pub games: u64,
    /// The number of these games that were stopped at the limit of actions, before their end.
    pub stopped: u64,
    /// True if the time limit ended the work.
    pub out_of_time: bool,
    /// True if something is missing: the time limit ended the work, somebody interrupted it, or games did not end.
    pub partial: bool,
    /// The kinds and fields that the asking viewer cannot see.
    pub unseen: Vec<String>,
    /// True if the rules dealt these anew; otherwise they are left out.
    pub dealt: bool,
}

/// One answer of a ranking.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "serve", derive(schemars::JsonSchema))]
pub struct AnswerReport {
    /// The answer in its exact form.
    pub answer: Value,
    /// The answer in words.
    pub text: String,
    /// The place in the ranking, from 1; several answers may share one. Null if the answers are not ranked.
    pub place: Option<usize>,
    /// By how much its score is below that of the best answer; null in the first place.
    pub behind: Option<DifferenceReport>,
    /// The result of the games played to their end after this answer.
    pub at_the_end: Option<PlayedReport>,
    /// The average value of the state after the next step, to the asked seat.
    pub worth: Option<f64>,
    /// What distinguishes it from the other answers, by the exact odds of the next step.
    pub reason: Option<String>,
}

/// The difference of two scores.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "serve", derive(schemars::JsonSchema))]
pub struct DifferenceReport {
    /// The difference: a share of games won, or an average value.
    pub average: f64,
    /// The margin of error.
    pub margin: f64,
    /// The number of pairs of games on the same dice.
    pub pairs: u64,
}

/// The result of games that were played out.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "serve", derive(schemars::JsonSchema))]
pub struct PlayedReport {
    /// The number of games.
    pub games: u64,
    /// The share of them that the asked seat won; null if no other seat has a value.
    pub wins: Option<ShareReport>,
    /// The number of games in which another seat ended with the same value and none with a higher one.
    pub draws: Option<u64>,
    /// The average value at the end.
    pub average: f64,
    /// The margin of error of the average in 95 of 100 cases; null for one game.
    pub margin: Option<f64>,
}

/// A share of games.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "serve", derive(schemars::JsonSchema))]
pub struct ShareReport {
    /// The share, 0 to 1.
    pub share: f64,
    /// The margin of error in 95 of 100 cases.
    pub margin: f64,
}

impl Advised {
    /// The advice as plain data.
    pub fn report(&self) -> AdviceReport {
        AdviceReport {
            best: self.best().iter().map(|advice| advice.text.clone()).collect(),
            margin: self.margin,
            answers: self.answers.iter().map(answer_report).collect(),
            now: self.now.as_ref().map(played_report),
            games: self.games,
            stopped: self.stopped,
            out_of_time: self.out_of_time,
            partial: self.is_partial(),
            unseen: self.unseen.clone(),
            dealt: self.dealt,
        }
    }
}

fn answer_report(advice: &Advice) -> AnswerReport {
    let behind =
        |Difference { average, margin, pairs, middle: _ }: Difference| DifferenceReport { average, margin, pairs };
    AnswerReport {
        answer: advice.answer.to_value(),
        text: advice.text.clone(),
        place: advice.place,
        behind: advice.behind.map(behind),
        at_the_end: advice.played.as_ref().map(played_report),
        worth: advice.worth.as_ref().map(float),
        reason: advice.reason.clone(),
    }
}

fn played_report(played: &PlayedOut) -> PlayedReport {
    PlayedReport {
        games: played.games,
        wins: played.win_rate().map(|(share, margin)| ShareReport { share, margin }),
        draws: played.draws,
        average: played.average,
        margin: Some(played.margin()).filter(|margin| margin.is_finite()),
    }
}
