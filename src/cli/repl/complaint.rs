//! The reason for which a line was not executed.

use std::io;

use anyhow::Result;
use riskbreaker::ruleset::nearest;
use riskbreaker::{Refusal, SessionError};
use serde_json::json;

use super::unclear_name::UnclearName;
use crate::cli::row::{Row, Tone, harmless};
use crate::cli::rule_text;
use crate::cli::screen::Screen;

/// The reason for which a line was not executed.
#[derive(Debug)]
pub enum Complaint {
    /// A sentence for the person who typed the line.
    Wrong(String),
    /// A sentence about words that were not understood. A guess of what they mean may replace it.
    Unread(String),
    /// A refusal of the game, with its data.
    Refused(Refusal),
    /// An ambiguous name in the line, to be resolved by a number.
    Unclear(UnclearName),
    /// The program cannot continue.
    Broken(anyhow::Error),
}

/// The result of executing a line.
pub type Done = Result<(), Complaint>;

impl Complaint {
    /// The complaint about an unknown word: `sentence`, and the nearest known word, or else another remedy.
    pub fn unknown<'n>(
        sentence: String,
        word: &str,
        known: impl IntoIterator<Item = &'n str>,
        otherwise: &str,
    ) -> Complaint {
        Complaint::Wrong(match nearest(word, known) {
            Some(near) => format!("{sentence} Did you mean `{near}`?"),
            None => format!("{sentence} {otherwise}"),
        })
    }
}

impl Complaint {
    pub fn wrong(message: impl Into<String>) -> Complaint {
        Complaint::Wrong(message.into())
    }

    /// Prints the complaint: on the screen for a person, on standard error with file and line for a script.
    pub fn told(self, screen: &mut Screen, place: &str, scripted: bool) -> Result<()> {
        let (message, refusal) = match self {
            Complaint::Wrong(message) | Complaint::Unread(message) => (message, None),
            Complaint::Refused(refusal) => (with_cure(&refusal), Some(refusal)),
            Complaint::Unclear(unclear) => return unclear.tell(screen),
            Complaint::Broken(error) => return Err(error),
        };
        let message =
            if screen.json() || screen.rule_ids() { message } else { rule_text::without_ids(&message).into_owned() };
        if screen.json() {
            let mut told = json!({ "message": message, "place": place });
            if let Some(refusal) = refusal {
                told["refusal"] = serde_json::to_value(refusal)?;
            }
            screen.event("refused", &told)?;
        } else if scripted {
            let lines: Vec<String> = message.lines().map(harmless).collect();
            eprintln!("{place}: {}", lines.join("\n"));
        } else {
            for line in message.lines() {
                screen.row(&Row::at(2).with(line, Tone::Bad))?;
            }
        }
        Ok(())
    }
}

/// A refusal in words, with the remedy if a script failed.
fn with_cure(refusal: &Refusal) -> String {
    match refusal {
        Refusal::Fault { fault } => match &fault.cure {
            Some(cure) => format!("{refusal}; {cure}"),
            None => refusal.to_string(),
        },
        other => other.to_string(),
    }
}

impl From<Refusal> for Complaint {
    fn from(refusal: Refusal) -> Complaint {
        Complaint::Refused(refusal)
    }
}

impl From<SessionError> for Complaint {
    fn from(error: SessionError) -> Complaint {
        Complaint::Broken(error.into())
    }
}

impl From<io::Error> for Complaint {
    fn from(error: io::Error) -> Complaint {
        Complaint::Broken(error.into())
    }
}
