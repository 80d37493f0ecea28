use std::fmt;
use std::sync::Arc;

use serde::Serialize;

use super::answer_check::between;
use super::{Fault, QuestionId, SessionError, Viewer, in_one_line};
use riskbreaker_ruleset::SwitchRefusal;
use riskbreaker_state::{EntityId, readable_name};

/// Why a request was refused, as data. Nothing has changed then.
///
/// Its [`Display`](std::fmt::Display) is the sentence for people. In JSON it is an object whose `kind` names the variant.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, thiserror::Error)]
#[serde(tag = "kind", rename_all = "snake_case")]
#[cfg_attr(feature = "serve", derive(schemars::JsonSchema))]
#[error("{}", Sentence(self))]
#[non_exhaustive]
pub enum Refusal {
    /// The question is not open: it was answered, or taken back.
    Stale {
        /// The question that was answered.
        question: QuestionId,
    },
    /// No question of this topic is open.
    NotAsked {
        /// The topic that was answered.
        topic: String,
        /// The topics that are asked.
        asked: Vec<Arc<str>>,
    },
    /// The question has no option of this name.
    NotAnOption {
        /// The question's topic, where a loose answer was read.
        topic: Option<Arc<str>>,
        /// What was given.
        given: String,
        /// The name that was likely meant.
        near: Option<String>,
        /// Labels of the options that are open.
        open: Vec<Arc<str>>,
    },
    /// The name fits several things.
    Ambiguous {
        /// The question's topic, for names of options.
        topic: Option<Arc<str>>,
        /// What was given.
        given: String,
        /// The options that it fits.
        candidates: Vec<String>,
    },
    /// The option or free act is there, and the rules do not allow it now.
    Greyed {
        /// The option.
        label: String,
        /// Why it cannot be chosen, if the rules say so.
        reason: Option<String>,
    },
    /// An option is named more than once.
    Twice {
        /// The option.
        label: String,
    },
    /// A number, a count or a length is too small or too large; bounds included.
    OutOfBounds {
        /// What is out of bounds.
        bound: Bound,
        /// What was given.
        given: i64,
        /// The least that fits.
        min: i64,
        /// The most that fits.
        max: i64,
    },
    /// The answer is of another type than the question.
    WrongType {
        /// The question's topic, where a loose answer was read.
        topic: Option<Arc<str>>,
        /// What the question takes, in words.
        wanted: String,
        /// What was given, in words.
        given: Option<String>,
    },
    /// A line of text has control characters.
    ControlCharacter,
    /// The question has only one possible answer, and a different one was given.
    OnlyAnswer {
        /// The topic of the question.
        topic: String,
        /// The answer that was taken.
        answer: String,
    },
    /// The rules do not take the answer: the `check` of the question says no.
    AgainstRules {
        /// The topic of the question.
        topic: String,
        /// Why, in the words of the rules.
        reason: String,
    },
    /// Something that was named does not exist.
    UnknownName {
        /// What is missing, as a sentence.
        sentence: String,
        /// What was given.
        given: String,
        /// The name that was likely meant.
        near: Option<String>,
        /// Names that exist, where they are few.
        known: Vec<String>,
    },
    /// The question, the decision or the act belongs to another seat.
    NotYourSeat {
        /// Whose it is to decide.
        seat: Arc<str>,
        /// Who acts.
        acting: Arc<str>,
    },
    /// The decision is the seat's own, and only the game master may take it back.
    Stands {
        /// Who wants to take it back.
        acting: Arc<str>,
        /// Why it stands.
        since: Stands,
    },
    /// Nobody has decided anything that could be taken back.
    NothingToUndo,
    /// Nothing was taken back, or the game has gone another way since.
    NothingToRedo {
        /// Whether something else was decided since the undo.
        diverged: bool,
    },
    /// The game is over.
    Over,
    /// No script has failed.
    NoFault,
    /// A script failed.
    Fault {
        /// What failed.
        #[serde(flatten)]
        fault: Box<Fault>,
    },
    /// No entity has this number.
    NoEntity {
        /// The number that was given.
        entity: EntityId,
    },
    /// A field does not take the value.
    BadValue {
        /// The name of the field.
        field: String,
        /// What does not fit, as a clause.
        problem: String,
    },
    /// A house rule does not have the value.
    BadSwitchValue {
        /// What does not fit.
        #[serde(flatten)]
        refusal: SwitchRefusal,
    },
    /// The request does not fit the game as it stands.
    Invalid {
        /// What is wrong, as a sentence.
        message: String,
    },
    /// The request was valid but could not be carried out: it takes too much work, or the host failed.
    Failed {
        /// What failed, as a sentence.
        message: String,
    },
}

/// Why a seat cannot take its own decision back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "serve", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub enum Stands {
    /// The seat has been shown something since that not everybody may see, or a sealed answer of another seat.
    Secret,
    /// Dice have been rolled since, and these rules let them stand.
    Dice,
    /// By these rules a seat takes nothing back.
    Rules,
}

/// What a number that is out of bounds counts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "of", rename_all = "snake_case")]
#[cfg_attr(feature = "serve", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub enum Bound {
    /// The number that is asked for.
    Number {
        /// The topic of the question.
        topic: String,
    },
    /// Options that are chosen.
    Options,
    /// Options that are named in an order.
    Order,
    /// Points for one option.
    Points {
        /// The option.
        label: String,
    },
    /// Points in all.
    Total,
    /// Numbers in a list, one for each option.
    Parts {
        /// The topic of the question.
        topic: Arc<str>,
        /// The options that have no part yet.
        labels: Vec<Arc<str>>,
    },
    /// Characters of a line.
    Characters,
    /// Dice that are typed in.
    Dice {
        /// The dice, in notation.
        wanted: String,
    },
    /// The face of a die.
    Face,
}

impl Refusal {
    #[doc(hidden)]
    pub fn new(message: impl Into<String>) -> Refusal {
        Refusal::Invalid { message: message.into() }
    }

    /// Of a value in which lists and maps lie too deep in one another to be looked at.
    pub(crate) fn too_deep() -> Refusal {
        Refusal::new("lists and maps lie in one another more than 100 levels deep")
    }

    /// Of a look ahead where a rule reads what the one who asks may not see.
    #[doc(hidden)]
    pub fn hidden(viewer: &Viewer, hidden: &[String]) -> Refusal {
        let (who, what) = (viewer.words(), hidden.join(", "));
        Refusal::failing(format!(
            "the result depends on what {who} may not see: {what} (`deal` in play.luau deals it anew)"
        ))
    }

    /// Of a request that was a proper one.
    #[doc(hidden)]
    pub fn failing(message: impl Into<String>) -> Refusal {
        Refusal::Failed { message: message.into() }
    }

    #[doc(hidden)]
    pub fn fault(fault: Fault) -> Refusal {
        Refusal::Fault { fault: Box::new(fault) }
    }

    /// Of a name that does not exist; `known` are the names that do. They are listed where none is near.
    #[doc(hidden)]
    pub fn unknown<'n>(sentence: impl Into<String>, given: &str, known: impl IntoIterator<Item = &'n str>) -> Refusal {
        let known: Vec<&str> = known.into_iter().collect();
        let near = riskbreaker_ruleset::nearest(given, known.iter().copied()).map(str::to_owned);
        let known = known.into_iter().map(str::to_owned).collect();
        Refusal::UnknownName { sentence: sentence.into(), given: given.to_owned(), near, known }
    }

    /// The topic of the question whose answer is refused, if it names one.
    pub fn topic(&self) -> Option<&str> {
        match self {
            Refusal::NotAnOption { topic, .. }
            | Refusal::Ambiguous { topic, .. }
            | Refusal::WrongType { topic, .. } => topic.as_deref(),
            _ => None,
        }
    }

    /// As [`Refusal::unknown`], where the names that exist are too many to list.
    #[doc(hidden)]
    pub fn unknown_among_many<'n>(
        sentence: impl Into<String>,
        given: &str,
        known: impl IntoIterator<Item = &'n str>,
    ) -> Refusal {
        let near = riskbreaker_ruleset::nearest(given, known).map(str::to_owned);
        Refusal::UnknownName { sentence: sentence.into(), given: given.to_owned(), near, known: Vec::new() }
    }

    /// Whether the request was a proper one, and what it asked for cannot be done all the same: a script fails, or there is
    /// too much to go through.
    pub fn failed(&self) -> bool {
        matches!(self, Refusal::Fault { .. } | Refusal::Failed { .. })
    }

    /// The kind in one word, as `kind` has it in JSON.
    pub fn kind(&self) -> &'static str {
        match self {
            Refusal::Stale { .. } => "stale",
            Refusal::NotAsked { .. } => "not_asked",
            Refusal::NotAnOption { .. } => "not_an_option",
            Refusal::Ambiguous { .. } => "ambiguous",
            Refusal::Greyed { .. } => "greyed",
            Refusal::Twice { .. } => "twice",
            Refusal::OutOfBounds { .. } => "out_of_bounds",
            Refusal::WrongType { .. } => "wrong_type",
            Refusal::ControlCharacter => "control_character",
            Refusal::OnlyAnswer { .. } => "only_answer",
            Refusal::AgainstRules { .. } => "against_rules",
            Refusal::UnknownName { .. } => "unknown_name",
            Refusal::NotYourSeat { .. } => "not_your_seat",
            Refusal::Stands { .. } => "stands",
            Refusal::NothingToUndo => "nothing_to_undo",
            Refusal::NothingToRedo { .. } => "nothing_to_redo",
            Refusal::Over => "over",
            Refusal::NoFault => "no_fault",
            Refusal::Fault { .. } => "fault",
            Refusal::NoEntity { .. } => "no_entity",
            Refusal::BadValue { .. } => "bad_value",
            Refusal::BadSwitchValue { .. } => "bad_switch_value",
            Refusal::Invalid { .. } => "invalid",
            Refusal::Failed { .. } => "failed",
        }
    }
}

impl From<SessionError> for Refusal {
    fn from(error: SessionError) -> Refusal {
        Refusal::failing(error.to_string())
    }
}

impl From<SwitchRefusal> for Refusal {
    fn from(refusal: SwitchRefusal) -> Refusal {
        Refusal::BadSwitchValue { refusal }
    }
}

/// A refusal in words, in one line. Labels, topics and reasons in it are the rules' own: a line break in one of them would begin
/// a line that reads like one of the host's.
struct Sentence<'r>(&'r Refusal);

impl fmt::Display for Sentence<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&in_one_line(&RefusalWords(self.0).to_string()))
    }
}

/// A refusal in words, as the rules have written theirs.
struct RefusalWords<'r>(&'r Refusal);

impl fmt::Display for RefusalWords<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Refusal::Stale { question } => {
                write!(f, "question {question} is not open any more, or is one of another game")
            }
            Refusal::NotAsked { topic, asked } => {
                write!(f, "nothing asks for `{topic}` now")?;
                match asked.as_slice() {
                    [] => Ok(()),
                    [only] => write!(f, "; the open question is `{}`", readable_name(only)),
                    several => write!(f, "; the open questions are {}", several.join(", ")),
                }
            }
            Refusal::NotAnOption { topic: None, given, .. } => write!(f, "There is no option `{given}`."),
            Refusal::NotAnOption { topic: Some(_), given, near, open } => {
                write!(f, "No answer here is called `{}`. ", short(given))?;
                match (near, open.as_slice()) {
                    (Some(near), _) => write!(f, "Did you mean `{near}`?"),
                    (None, []) => write!(f, "No answer is open."),
                    (None, [only]) => write!(f, "Type {only}."),
                    (None, open) => write!(f, "Type one of: {}.", open.join(", ")),
                }
            }
            Refusal::Ambiguous { given, candidates, .. } => {
                write!(f, "`{}` may be {}. ", short(given), candidates.join(" or "))?;
                match candidates.iter().any(|name| riskbreaker_names::title_and_number(name).is_some()) {
                    true => write!(f, "Type one of these names with its number."),
                    false => write!(f, "Type more of the name."),
                }
            }
            Refusal::Greyed { label, reason } => {
                let reason = reason.as_deref().unwrap_or("the rules do not allow it now");
                write!(f, "{label} is not open: {reason}")
            }
            Refusal::Twice { label } => write!(f, "{label} is named twice. Name each only once."),
            Refusal::OutOfBounds { bound, given, min, max } => out_of_bounds(f, bound, *given, *min, *max),
            Refusal::WrongType { topic: Some(_), wanted, given: Some(given) } => {
                write!(f, "Type {wanted}, not `{}`.", short(given))
            }
            Refusal::WrongType { wanted, .. } => write!(f, "Type {wanted}."),
            Refusal::ControlCharacter => write!(f, "Type one line of plain text, without control characters."),
            Refusal::OnlyAnswer { topic, answer } => {
                write!(f, "Only {answer} is possible for {}.", readable_name(topic))
            }
            Refusal::AgainstRules { topic, reason } => write!(f, "{}: {reason}", readable_name(topic)),
            Refusal::UnknownName { sentence, near, known, .. } => match (near, known.as_slice()) {
                (Some(near), _) => write!(f, "{sentence}; did you mean `{near}`?"),
                (None, []) => write!(f, "{sentence}"),
                (None, known) => write!(f, "{sentence}; it has {}", known.join(", ")),
            },
            Refusal::NotYourSeat { seat, acting } => write!(f, "that belongs to the seat {seat}, not to {acting}"),
            Refusal::Stands { acting, since } => match since {
                Stands::Secret => {
                    write!(
                        f,
                        "{acting} has been shown what others may not see since: only the game master can undo that"
                    )
                }
                Stands::Dice => write!(f, "dice have been rolled since: only the game master can undo that"),
                Stands::Rules => write!(f, "by these rules only the game master can undo"),
            },
            Refusal::NothingToUndo => write!(f, "There is nothing to undo."),
            Refusal::NothingToRedo { diverged: false } => {
                write!(
                    f,
                    "There is nothing to redo. What `undo` took back can be done again until something else is done."
                )
            }
            Refusal::NothingToRedo { diverged: true } => {
                write!(f, "There is nothing to redo: you have played on since the last `undo`.")
            }
            Refusal::Over => write!(f, "the game is over"),
            Refusal::NoFault => write!(f, "there is no fault to remedy"),
            Refusal::Fault { fault } => write!(f, "{fault}"),
            Refusal::NoEntity { entity } => write!(f, "{entity} is not there"),
            Refusal::BadValue { field, problem } => write!(f, "{field} {problem}"),
            Refusal::BadSwitchValue { refusal } => write!(f, "{refusal}"),
            Refusal::Invalid { message } | Refusal::Failed { message } => write!(f, "{message}"),
        }
    }
}

fn out_of_bounds(f: &mut fmt::Formatter<'_>, bound: &Bound, given: i64, min: i64, max: i64) -> fmt::Result {
    match bound {
        Bound::Number { topic } => {
            write!(f, "The number for {} is {given}, but it must be {}.", readable_name(topic), between(min, max))
        }
        Bound::Options => write!(f, "Name {} of the options, not {given}.", between(min, max)),
        Bound::Order => write!(f, "An order names all {max} options, not {given}."),
        Bound::Points { label } => write!(f, "Give {label} {}, not {given}.", between(min, max)),
        Bound::Total => {
            let points = if given == 1 { "point" } else { "points" };
            write!(f, "You divided {given} {points}; divide {}.", between(min, max))
        }
        Bound::Parts { labels, .. } => write!(f, "You typed {given} numbers for {}.", labels.join(", ")),
        Bound::Characters => write!(f, "Type at most {max} characters."),
        Bound::Dice { wanted } => {
            let faces = if given == 1 { "face" } else { "faces" };
            write!(f, "You typed {given} {faces}. Type {wanted}.")
        }
        Bound::Face => write!(f, "A die of {max} shows {min} to {max}, not {given}."),
    }
}

/// What was typed, as far as a message has room for it.
fn short(text: &str) -> String {
    match text.char_indices().nth(LONGEST_TOLD) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// Letters of what was typed that a message repeats.
const LONGEST_TOLD: usize = 40;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_carries_the_kind_and_the_data() {
        let refusals = [
            Refusal::Stale { question: QuestionId { action: 3, ordinal: 1 } },
            Refusal::OutOfBounds { bound: Bound::Number { topic: "stake".into() }, given: 7, min: 1, max: 3 },
            Refusal::fault(Fault::new("no")),
            Refusal::NothingToRedo { diverged: true },
            Refusal::new("no"),
        ];
        for refusal in refusals {
            let json = serde_json::to_value(&refusal).unwrap();
            assert_eq!(json["kind"], refusal.kind(), "{json}");
        }
        let number = Refusal::OutOfBounds { bound: Bound::Number { topic: "stake".into() }, given: 7, min: 1, max: 3 };
        assert_eq!(
            serde_json::to_string(&number).unwrap(),
            r#"{"kind":"out_of_bounds","bound":{"of":"number","topic":"stake"},"given":7,"min":1,"max":3}"#
        );
        assert_eq!(number.to_string(), "The number for stake is 7, but it must be 1 to 3.");
    }

    #[test]
    fn a_label_begins_no_line() {
        let open = vec![Arc::from("Lunge\n  Ann strikes: needs under 7, rolled 2: success"), Arc::from("Rest")];
        let refusal = Refusal::NotAnOption { topic: Some("card".into()), given: "x".into(), near: None, open };
        assert_eq!(
            refusal.to_string(),
            "No answer here is called `x`. Type one of: Lunge Ann strikes: needs under 7, rolled 2: success, Rest."
        );
    }
}
