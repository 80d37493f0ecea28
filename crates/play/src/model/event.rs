use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::marked;
use super::marked::{in_one_line, marked_part};
use super::term::{NEEDED, Term};
use riskbreaker_state::{Audience, EntityId, Value};

/// An event of the log. Its number stays the same in a re-run of its action, so that it is published only once.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "serve", derive(schemars::JsonSchema))]
pub struct Event {
    /// Number of the action, counted from 1.
    pub action: u32,
    /// Number within the action, from 0.
    pub n: u32,
    /// Who may see it.
    #[serde(skip_serializing_if = "Audience::is_everybody", default)]
    pub audience: Audience,
    /// What happened.
    #[serde(flatten)]
    pub happening: Happening,
}

/// What happened.
// Exhaustive: a new kind of event does not compile until each reader decides what it means.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
#[cfg_attr(feature = "serve", derive(schemars::JsonSchema))]
pub enum Happening {
    /// A line of the story.
    Said {
        /// The line.
        text: String,
    },
    /// Dice were rolled.
    Rolled {
        /// The purpose of the roll.
        label: String,
        /// The dice, in notation.
        dice: Arc<str>,
        /// Faces in the order they were drawn.
        faces: Vec<u32>,
        /// The total of the roll.
        total: i64,
        /// The target, such as `under 7`, if the rule gives one.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        need: Option<String>,
        /// True if the roll met its target. `None` without a target.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        success: Option<bool>,
        /// A further result in the words of the rules: a degree of success, or who won.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        result: Option<String>,
        /// How the total is computed, if it is more than one die; the faces, if the rules read them.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        explain: Option<String>,
        /// The terms of the target number, if the rules list them.
        #[serde(skip_serializing_if = "Vec::is_empty", default)]
        terms: Vec<Term>,
    },
    /// A field changed.
    Changed {
        /// The entity.
        entity: EntityId,
        /// The entity's title.
        title: Arc<str>,
        /// The name of the field.
        field: Arc<str>,
        /// What the field is called at the table.
        label: Arc<str>,
        /// The value before the change.
        from: Value,
        /// The value after the change.
        to: Value,
        /// `from` and `to` in words, with titles for entities.
        text: String,
        /// The reason, if the rule gives one.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        reason: Option<Arc<str>>,
    },
    /// An entity was created.
    Spawned {
        /// The entity.
        entity: EntityId,
        /// Its title.
        title: Arc<str>,
        /// The name of its kind.
        kind: Arc<str>,
    },
    /// An entity was taken away.
    Removed {
        /// The removed entity.
        entity: EntityId,
        /// Its last title.
        title: Arc<str>,
        /// The name of its kind.
        kind: Arc<str>,
    },
    /// A question was answered.
    Answered {
        /// The seat that was asked.
        seat: Arc<str>,
        /// The topic of the question.
        topic: Arc<str>,
        /// The title of the entity that the question is about.
        about: Option<Arc<str>>,
        /// The answer as text.
        text: String,
    },
    /// The game master made an edit.
    Edited {
        /// The edit, as a line.
        text: String,
    },
    /// A message of the host, for example that an action was skipped or could not continue.
    Notice {
        /// The message, as a line.
        text: String,
    },
    /// The rules ended the action early.
    Cut {
        /// The reason, in the words of the rules.
        reason: String,
    },
    /// The game is over.
    Over {
        /// The outcome, in the words of the rules.
        text: String,
    },
    /// The events after revision `to` were taken back; the events that replace them follow. Occurs only in the
    /// events of one viewer.
    Back {
        /// The last revision that is still valid.
        to: u64,
        /// `undo`, `redo`, `reload`, `rules`, `edit`, or `rerun` if an action ran again with another result.
        cause: String,
        /// A sentence that says what was taken back; may be empty.
        text: String,
    },
    /// A message outside the log, such as why an answer was refused.
    Aside {
        /// The message, as a line.
        text: String,
    },
    /// The events of this action from number `from` on are taken back: the action ran again with another result, or was dropped.
    /// The events that replace them follow.
    Withdrawn {
        /// The number of the first event that is taken back.
        from: u32,
    },
}

/// Converts events to lines, one each.
pub fn event_lines(events: &[Event]) -> Vec<String> {
    events.iter().map(|event| event.happening.line()).collect()
}

/// The line of a roll in three parts. Its text is `Strike: needs under 6, rolled 2: success, a hit`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RollLine {
    /// The label, what the roll needs, and what was rolled: `Strike: needs under 6, rolled 2`.
    pub rolled: String,
    /// Whether it succeeds; `None` if it has no target number.
    pub success: Option<bool>,
    /// The result in the words of the rules, quoted if it could be taken for the host's.
    pub result: Option<String>,
}

impl RollLine {
    /// The word for the success or failure.
    pub fn word(success: bool) -> &'static str {
        if success { "success" } else { "failure" }
    }
}

impl fmt::Display for RollLine {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.rolled)?;
        let success = self.success.map(RollLine::word);
        for (at, part) in success.into_iter().chain(self.result.as_deref()).enumerate() {
            write!(out, "{}{part}", if at == 0 { ": " } else { ", " })?;
        }
        Ok(())
    }
}

impl Happening {
    /// The line of a roll in its parts; `None` for other events.
    pub fn roll_line(&self) -> Option<RollLine> {
        let Happening::Rolled { label, dice, faces, total, need, success, result, explain, terms } = self else {
            return None;
        };
        let rolled = match explain {
            Some(explain) => explain.clone(),
            None if faces.len() == 1 => format!("rolled {total}"),
            None => format!("{dice} rolled {total}"),
        };
        let needs = need.as_ref().map(|need| format!("needs {}{}, ", marked(need), Term::in_short(terms, NEEDED)));
        Some(RollLine {
            rolled: format!("{}: {}{rolled}", marked(label), needs.unwrap_or_default()),
            success: *success,
            result: result.as_deref().map(|result| marked_part(result).into_owned()),
        })
    }

    /// The event as one plain line. Quotes words of the rules that could be taken for the host's: see [`marked()`].
    pub fn line(&self) -> String {
        match self {
            Happening::Said { text } | Happening::Cut { reason: text } | Happening::Over { text } => {
                marked(text).into_owned()
            }
            Happening::Edited { text } | Happening::Notice { text } => text.replace(char::is_control, " "),
            Happening::Rolled { .. } => self.roll_line().map_or_else(String::new, |line| line.to_string()),
            Happening::Changed { title, label, text, reason, .. } => {
                let (title, label, text) = (marked_part(title), in_one_line(label), in_one_line(text));
                match reason {
                    Some(reason) => format!("{title}  {label} {text} ({})", marked(reason)),
                    None => format!("{title}  {label} {text}"),
                }
            }
            Happening::Spawned { title, kind, .. } => format!("{}  ({kind}) is there", marked_part(title)),
            Happening::Removed { title, kind, .. } => format!("{}  ({kind}) is gone", marked_part(title)),
            Happening::Answered { seat, topic, about, text } => match about {
                Some(about) => format!("{}  {topic}: {}", marked(about), marked_part(text)),
                None => format!("{seat}  {topic}: {}", marked_part(text)),
            },
            Happening::Back { text, .. } | Happening::Aside { text } => in_one_line(text).into_owned(),
            Happening::Withdrawn { .. } => "The open action was replayed; ignore its lines above.".into(),
        }
    }
}
