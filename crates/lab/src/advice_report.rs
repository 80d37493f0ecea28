use serde::Serialize;

use super::advice::{Advice, Advised};
use super::paired::Difference;
use super::playouts::PlayedOut;
use riskbreaker_dice::float;
use riskbreaker_state::Value;

/// Ranked answers as plain data: what `hint` prints as JSON, what a program in Lua gets, and what the protocol sends.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "serve", derive(schemars::JsonSchema))]
pub struct AdviceReport {
    /// The best answer in words, or all between which no difference was found. Empty if the answers are not ranked.
    pub best: Vec<String>,
    /// How much the scores of two of the best answers may differ; nothing where one is best alone.
    pub margin: Option<f64>,
    /// The answers, the best first; those that share a place as they are offered.
    pub answers: Vec<AnswerReport>,
    /// The result of games in which the policy answers the question as well.
    pub now: Option<PlayedReport>,
    /// Games that were played.
    pub games: u64,
    /// How many of them were stopped before their end, after as many actions as a game may have.
    pub stopped: u64,
    /// Whether the clock ended the work.
    pub out_of_time: bool,
    /// Whether something is missing: the clock ended the work, somebody interrupted it, or games had no end.
    pub partial: bool,
    /// What the one who asks cannot see.
    pub unseen: Vec<String>,
    /// Whether that was dealt anew; otherwise it is left out.
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
    /// Its place from 1, which several may share; nothing where the answers are not ranked.
    pub place: Option<usize>,
    /// By how much its score is below that of the best answer; nothing in the first place.
    pub behind: Option<DifferenceReport>,
    /// The result of the games played from there.
    pub at_the_end: Option<PlayedReport>,
    /// The average value of the state after the next step, to the seat that is asked.
    pub worth: Option<f64>,
    /// What sets it apart from the others, by the exact odds of the next step.
    pub reason: Option<String>,
}

/// The difference of two scores.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "serve", derive(schemars::JsonSchema))]
pub struct DifferenceReport {
    /// The difference: a share of games won, or an average value.
    pub average: f64,
    /// How far it may be off.
    pub margin: f64,
    /// From how many pairs of games on the same dice.
    pub pairs: u64,
}

/// The result of games that were played out.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "serve", derive(schemars::JsonSchema))]
pub struct PlayedReport {
    /// How many games.
    pub games: u64,
    /// The share of them that were won; nothing if no other seat has a value.
    pub wins: Option<ShareReport>,
    /// How many ended with the same value for another seat, and a higher one for none.
    pub draws: Option<u64>,
    /// The average value at the end.
    pub average: f64,
    /// How far the average may be off in 95 of 100 cases; nothing for one game.
    pub margin: Option<f64>,
}

/// A share of games.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "serve", derive(schemars::JsonSchema))]
pub struct ShareReport {
    /// 0 to 1.
    pub share: f64,
    /// How far it may be off in 95 of 100 cases.
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
    let behind = |Difference { average, margin, pairs }: Difference| DifferenceReport { average, margin, pairs };
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
