use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::Refusal;
use riskbreaker_state::{Audience, EntityId, Value};

/// Names an open question: the action that asks, and the place of its answer on that action's tape.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "serve", derive(schemars::JsonSchema))]
#[serde(expecting = "the id of a question: its `action` and its `ordinal`")]
pub struct QuestionId {
    /// Number of the action, counted from 1 over the whole game.
    pub action: u32,
    /// Place on the action's tape, from 0.
    pub ordinal: u32,
}

impl fmt::Display for QuestionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.action, self.ordinal)
    }
}

/// Something that somebody at the table has to decide.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "serve", derive(schemars::JsonSchema))]
pub struct Question {
    /// What an answer names it by.
    pub id: QuestionId,
    /// Who is asked, as the ruleset names its seats.
    pub seat: Arc<str>,
    /// A short word such as `card` or `targets` by which scripts and the prompt answer.
    pub topic: Arc<str>,
    /// The entity that it is asked for, if it is for one.
    pub about: Option<EntityId>,
    /// What is asked, as a sentence.
    pub why: String,
    /// What kind of answer it takes.
    pub ask: Ask,
    /// The answer that is taken if nobody plays the seat.
    pub default: Option<Answer>,
    /// Whether the default is proposed to people, too.
    #[serde(default = "proposed")]
    pub proposes: bool,
    /// Who may see the question and its answer; the seat that is asked always does.
    #[serde(default)]
    pub audience: Audience,
    /// The answer stays hidden until all questions that are out together are answered; of a question that is out alone,
    /// until the action ends or the rules reveal it.
    pub sealed: bool,
    /// Others are asked as well, and the first answer closes the question for them.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub race: bool,
    /// The rules check the answer further (`check`); if they refuse it, the question is asked again.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub checked: bool,
}

/// The kind of a question with what belongs to it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
#[cfg_attr(feature = "serve", derive(schemars::JsonSchema))]
pub enum Ask {
    /// One of the options; where `other` is set, any line of text besides.
    Choose {
        /// What can be chosen, in the order of the rules.
        options: Vec<Choice>,
        /// Whether a text that is no option is an answer, too.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        other: bool,
    },
    /// Between `min` and `max` of the options.
    ChooseMany {
        /// What can be chosen.
        options: Vec<Choice>,
        /// The least number of options.
        min: usize,
        /// The greatest number of options.
        max: usize,
    },
    /// A whole number, bounds included.
    Number {
        /// The least number, itself included.
        min: i64,
        /// The greatest number, itself included.
        max: i64,
    },
    /// Points given out among the options: between `least` and `total` in all.
    Allot {
        /// Who or what can be given points.
        options: Vec<Choice>,
        /// The most points that are given out in all.
        total: i64,
        /// The least number of points that are given out in all; equal to `total` if all must be.
        least: i64,
    },
    /// Yes or no.
    Confirm,
    /// All options, in an order.
    Order {
        /// What is put in order; all of it.
        options: Vec<Choice>,
    },
    /// A line of at most `max` characters.
    Line {
        /// The most characters.
        max: usize,
    },
    /// Faces of real dice, typed in: one for each entry of `sides`, in that order.
    Dice {
        /// The dice, in notation.
        dice: Arc<str>,
        /// The number of sides of each die whose face is still to come.
        sides: Vec<u32>,
    },
}

/// One option of a question.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "serve", derive(schemars::JsonSchema))]
pub struct Choice {
    /// Stable: the same in every run, and unique in its question.
    pub id: Arc<str>,
    /// What it is called at the table.
    pub label: Arc<str>,
    /// Whether it can be chosen now.
    pub enabled: bool,
    /// Why it is not enabled.
    pub reason: Option<String>,
    /// What else is worth knowing, such as a range.
    pub note: Option<String>,
    /// Most points that it can be given in an allotment.
    pub max: Option<i64>,
    /// The entity that the option is. `None`: it is something else, also where its words or its value name an entity.
    #[serde(skip)]
    pub entity: Option<EntityId>,
}

impl Ask {
    /// The options, for the kinds that have any.
    pub fn options(&self) -> &[Choice] {
        match self {
            Ask::Choose { options, .. }
            | Ask::ChooseMany { options, .. }
            | Ask::Allot { options, .. }
            | Ask::Order { options } => options,
            Ask::Number { .. } | Ask::Confirm | Ask::Line { .. } | Ask::Dice { .. } => &[],
        }
    }
}

/// An answer in its exact form; options are named by their ids.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "serve", derive(schemars::JsonSchema))]
pub enum Answer {
    /// The id of an option.
    Choice(Arc<str>),
    /// The ids of several options.
    Choices(Vec<Arc<str>>),
    /// A number.
    Number(i64),
    /// Points by option id; options that are not named get none.
    Allotment(Vec<(Arc<str>, i64)>),
    /// Yes or no.
    Confirm(bool),
    /// The ids of all options, in order.
    Order(Vec<Arc<str>>),
    /// A text.
    Line(String),
    /// The faces of real dice, in order.
    Faces(Vec<u32>),
}

fn proposed() -> bool {
    true
}

impl Question {
    /// The answer that is proposed to people.
    pub fn proposal(&self) -> Option<&Answer> {
        self.default.as_ref().filter(|_| self.proposes)
    }

    /// Reads a loose reply - what was typed, or what a program gave - as an exact answer to this question.
    ///
    /// Options are found by id, label or number among the open ones, in any case, or by an unambiguous beginning.
    ///
    /// # Errors
    ///
    /// A sentence with the nearest option, or what is wanted instead.
    pub fn read(&self, reply: &Value) -> Result<Answer, Refusal> {
        let answer = super::reply::read(self, reply)?;
        self.check(&answer)?;
        Ok(answer)
    }

    /// Reads what a person typed: as [`Question::read`] does, or else an option by its name without accents, in any Unicode
    /// normalization (see [`riskbreaker_names::typed`]).
    ///
    /// # Errors
    ///
    /// As [`Question::read`].
    pub fn read_typed(&self, reply: &Value) -> Result<Answer, Refusal> {
        let mut read = self.read(reply);
        let mut reply = reply.clone();
        // Each round puts the label of one option in the place of a typed name.
        for _ in 0..self.ask.options().len() {
            let Err(refusal) = &read else { break };
            let Some(better) = super::reply::retyped(&reply, refusal)? else { break };
            reply = better;
            read = self.read(&reply);
        }
        read
    }

    /// The answer in words, with the labels of the options.
    pub fn tell(&self, answer: &Answer) -> String {
        let known = |id: &Arc<str>| self.ask.options().iter().find(|option| option.id == *id);
        answer.words(|id| known(id).map_or(id, |option| &option.label).to_string())
    }
}

impl Answer {
    /// The answer in words, where the question is not at hand.
    #[doc(hidden)]
    pub fn in_ids(&self) -> String {
        self.words(|id| id.to_string())
    }

    /// The answer in words; `label`: what an option is called.
    #[doc(hidden)]
    pub fn in_words(&self, label: impl Fn(&str) -> String) -> String {
        self.words(|id| label(id))
    }

    /// `label`: what an option is called.
    fn words(&self, label: impl Fn(&Arc<str>) -> String) -> String {
        let list = |ids: &[Arc<str>]| ids.iter().map(&label).collect::<Vec<_>>().join(", ");
        match self {
            Answer::Choice(id) => label(id),
            Answer::Choices(ids) if ids.is_empty() => "none".into(),
            Answer::Choices(ids) | Answer::Order(ids) => list(ids),
            Answer::Number(n) => n.to_string(),
            Answer::Allotment(parts) => {
                parts.iter().map(|(id, n)| format!("{} {n}", label(id))).collect::<Vec<_>>().join(", ")
            }
            Answer::Confirm(yes) => if *yes { "yes" } else { "no" }.into(),
            Answer::Line(line) => line.clone(),
            Answer::Faces(faces) => faces.iter().map(u32::to_string).collect::<Vec<_>>().join(", "),
        }
    }
}

impl Ask {
    /// What an answer looks like, for messages.
    pub fn wanted(&self) -> String {
        match self {
            Ask::Dice { dice, sides } => wanted_faces(dice, sides),
            asked => asked.shape().map_or_else(String::new, |shape| shape.wanted()),
        }
    }
}

/// Faces for an example.
const EXAMPLE: [u32; 4] = [3, 5, 1, 4];

/// What is to be typed for a throw of real dice, with an example that these dice can show.
fn wanted_faces(dice: &str, sides: &[u32]) -> String {
    let mut wanted = match sides {
        [only] => format!("the face of a die of {only}"),
        _ => {
            let faces = sides.iter().zip(EXAMPLE).map(|(sides, face)| face.min(*sides).to_string());
            let faces = faces.collect::<Vec<_>>().join(", ");
            let more = if sides.len() > EXAMPLE.len() { ", ..." } else { "" };
            format!("the faces of {} dice in order, for example `{faces}{more}`", sides.len())
        }
    };
    // In brackets stand the faces of a die that has its own, in rising order.
    if dice.contains('[') {
        wanted.push_str("; of a die with faces in brackets, the place of the face: 1 is the first");
    }
    wanted
}

#[cfg(test)]
impl Question {
    /// A question that asks this of the game master, for tests.
    pub(super) fn for_test(ask: Ask) -> Question {
        Question {
            id: QuestionId { action: 1, ordinal: 0 },
            seat: "gm".into(),
            topic: "card".into(),
            about: None,
            why: String::new(),
            ask,
            default: None,
            proposes: true,
            audience: Default::default(),
            sealed: false,
            race: false,
            checked: false,
        }
    }
}
