use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::question_id::QuestionId;
use super::viewer::Viewer;
use riskbreaker_state::{Audience, EntityId, Value};

/// A decision that a seat has to make.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "serve", derive(schemars::JsonSchema))]
pub struct Question {
    /// The id by which an answer names the question.
    pub id: QuestionId,
    /// The seat that is asked.
    pub seat: Arc<str>,
    /// A short name such as `card` or `targets`, by which replies name the question.
    pub topic: Arc<str>,
    /// The entity that the question is about, if it is about one.
    pub about: Option<EntityId>,
    /// The question, as a sentence.
    pub why: String,
    /// The kind of answer.
    pub ask: Ask,
    /// The answer taken if nobody plays the seat.
    pub default: Option<Answer>,
    /// True if the default is proposed to people, too.
    #[serde(default = "proposed")]
    pub proposes: bool,
    /// The audience of the question and its answer. The asked seat always belongs to it.
    #[serde(default)]
    pub audience: Audience,
    /// True if the answer stays hidden until all questions asked together are answered; for a single question, until
    /// the action ends or the rules reveal it.
    pub sealed: bool,
    /// True if several seats are asked and the first answer closes the other questions.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub race: bool,
    /// True if the rules check the answer further (`check`). If they refuse it, the question is asked again.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub checked: bool,
}

/// The kind of a question, with its options and limits.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
#[cfg_attr(feature = "serve", derive(schemars::JsonSchema))]
pub enum Ask {
    /// One of the options; or any line of text, if `other` is set.
    Choose {
        /// The options, in the order of the rules.
        options: Vec<Choice>,
        /// True if a text that is no option is accepted.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        other: bool,
    },
    /// Between `min` and `max` of the options.
    ChooseMany {
        /// The options.
        options: Vec<Choice>,
        /// The smallest number of options.
        min: usize,
        /// The largest number of options.
        max: usize,
    },
    /// A whole number.
    Number {
        /// The smallest number.
        min: i64,
        /// The largest number.
        max: i64,
    },
    /// Points distributed among the options: between `least` and `total` in all.
    Allot {
        /// The options that can get points.
        options: Vec<Choice>,
        /// The most points in all.
        total: i64,
        /// The fewest points in all; equal to `total` if all must be given.
        least: i64,
    },
    /// Yes or no.
    Confirm,
    /// All options, in an order chosen by the player.
    Order {
        /// The options to put in order.
        options: Vec<Choice>,
    },
    /// A line of text of at most `max` characters.
    Line {
        /// The largest number of characters.
        max: usize,
    },
    /// Faces of real dice, typed in: one for each entry of `sides`, in that order.
    Dice {
        /// The dice, in notation.
        dice: Arc<str>,
        /// The number of sides of each die whose face is missing.
        sides: Vec<u32>,
    },
}

/// One option of a question.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "serve", derive(schemars::JsonSchema))]
pub struct Choice {
    /// The id: the same in every run, and unique in the question.
    pub id: Arc<str>,
    /// The label for people.
    pub label: Arc<str>,
    /// True if the option can be chosen now.
    pub enabled: bool,
    /// The reason why it cannot be chosen.
    pub reason: Option<String>,
    /// Further information, such as a range.
    pub note: Option<String>,
    /// The most points that it can get in an allotment.
    pub max: Option<i64>,
    /// The entity, if the option is one. `None` for other options, even if their label or value names an entity.
    #[serde(skip)]
    pub entity: Option<EntityId>,
}

impl Ask {
    /// The most options that a client shows at once. Of a longer list it shows the first ones, and the player finds the
    /// others by [`Ask::search`].
    pub const MOST_SHOWN: usize = 100;

    /// Finds the options of which label, id or note contain every word of a text, in any case and without accents, in
    /// the order of the options. All of them for a text without words.
    pub fn search(&self, text: &str) -> Vec<&Choice> {
        let folded = riskbreaker_names::fold(text);
        let words: Vec<&str> = folded.split_whitespace().collect();
        let has_all = |option: &&Choice| {
            let names = [&*option.label, &option.id, option.note.as_deref().unwrap_or_default()];
            let names = riskbreaker_names::fold(&names.join("\n"));
            words.iter().all(|word| names.contains(word))
        };
        self.options().iter().filter(has_all).collect()
    }

    /// Removes the options beyond [`Ask::MOST_SHOWN`]: closed ones first, then the last ones. Returns their number. An
    /// order stays whole, since its answer names all options.
    pub fn shorten(&mut self) -> usize {
        let (Ask::Choose { options, .. } | Ask::ChooseMany { options, .. } | Ask::Allot { options, .. }) = self else {
            return 0;
        };
        let all = options.len();
        if all > Ask::MOST_SHOWN {
            let mut open = Ask::MOST_SHOWN;
            let mut closed = open.saturating_sub(options.iter().filter(|option| option.enabled).count());
            options.retain(|option| {
                let room = if option.enabled { &mut open } else { &mut closed };
                let fits = *room > 0;
                *room = room.saturating_sub(1);
                fits
            });
        }
        all - options.len()
    }

    /// The options. Empty for kinds without options.
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

/// An answer in its exact form, with options by id.
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
    /// Points by option id; other options get none.
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
    /// The answer that is proposed to people, if there is one.
    pub fn proposal(&self) -> Option<&Answer> {
        self.default.as_ref().filter(|_| self.proposes)
    }

    /// Formats an answer with the labels of the options.
    pub fn tell(&self, answer: &Answer) -> String {
        let known = |id: &Arc<str>| self.ask.options().iter().find(|option| option.id == *id);
        answer.words(|id| known(id).map_or(id, |option| &option.label).to_string())
    }
}

impl Viewer {
    /// True if the viewer may know that a question is open.
    pub fn knows_of(&self, question: &Question) -> bool {
        self.plays(&question.seat) || self.sees(&question.audience)
    }
}

/// The number that a text spells, from `one` to `twelve`. `None` for any other value.
pub fn number_in_words(reply: &Value) -> Option<Value> {
    spelled_number(reply.as_text()?.trim()).map(|number| Value::Int(number as i64))
}

/// The number that a word spells, 1 to 12.
pub(super) fn spelled_number(word: &str) -> Option<usize> {
    const WORDS: [&str; 12] =
        ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"];
    WORDS.iter().position(|known| known.eq_ignore_ascii_case(word)).map(|at| at + 1)
}

impl Answer {
    /// Formats the answer with option ids, if the question is not known.
    #[doc(hidden)]
    pub fn in_ids(&self) -> String {
        self.words(|id| id.to_string())
    }

    /// The answer in words; `label`: what an option is called.
    #[doc(hidden)]
    pub fn in_words(&self, label: impl Fn(&str) -> String) -> String {
        self.words(|id| label(id))
    }

    /// Formats the answer. `label`: returns the label of an option.
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
    /// Describes an acceptable answer, for messages.
    pub fn wanted(&self) -> String {
        match self {
            Ask::Dice { dice, sides } => wanted_faces(dice, sides),
            asked => asked.shape().map_or_else(String::new, |shape| shape.wanted()),
        }
    }
}

/// Faces used in examples.
const EXAMPLE: [u32; 4] = [3, 5, 1, 4];

/// Describes what to type for a throw of real dice, with an example that these dice can show.
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
    // The notation of a die with its own faces lists them in brackets, in rising order.
    if dice.contains('[') {
        wanted.push_str("; of a die with faces in brackets, the place of the face: 1 is the first");
    }
    wanted
}

#[cfg(test)]
impl Question {
    /// A question that asks this of the game master, for tests.
    pub(crate) fn for_test(ask: Ask) -> Question {
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
