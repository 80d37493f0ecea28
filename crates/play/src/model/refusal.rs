use std::fmt;
use std::sync::Arc;

use serde::Serialize;

use super::bounds::between;
use super::fault::Fault;
use super::marked::in_one_line;
use super::question::Ask;
use super::question_id::QuestionId;
use super::session_error::SessionError;
use super::viewer::Viewer;
use riskbreaker_ruleset::SwitchRefusal;
use riskbreaker_state::{EntityId, readable_name};

/// The reason why a request was refused, as data. A refused request changes nothing.
///
/// Its [`Display`](std::fmt::Display) is the sentence for people. In JSON it is an object whose `kind` names the variant.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, thiserror::Error)]
#[serde(tag = "kind", rename_all = "snake_case")]
#[cfg_attr(feature = "serve", derive(schemars::JsonSchema))]
#[error("{}", Sentence(self))]
#[non_exhaustive]
pub enum Refusal {
    /// The question is not open: it was answered, or undone.
    Stale {
        /// The question that was answered.
        question: QuestionId,
    },
    /// No question of this topic is open.
    NotAsked {
        /// The topic of the reply.
        topic: String,
        /// The topics of the open questions.
        asked: Vec<Arc<str>>,
    },
    /// The question has no option of this name.
    NotAnOption {
        /// The question's topic, if a loose reply was read.
        topic: Option<Arc<str>>,
        /// The given name.
        given: String,
        /// The most similar name.
        near: Option<String>,
        /// Labels of the options that can be chosen.
        open: Vec<Arc<str>>,
    },
    /// The name fits several options or entities.
    Ambiguous {
        /// The question's topic, if the names are options.
        topic: Option<Arc<str>>,
        /// The given name.
        given: String,
        /// The labels that it fits.
        candidates: Vec<String>,
    },
    /// The option or free act exists, but the rules do not allow it now.
    Greyed {
        /// The label of the option or act.
        label: String,
        /// The reason, if the rules give one.
        reason: Option<String>,
    },
    /// An option is named more than once.
    Twice {
        /// The option.
        label: String,
    },
    /// A number, a count or a length is too small or too large; bounds included.
    OutOfBounds {
        /// The limited quantity.
        bound: Bound,
        /// The given number.
        given: i64,
        /// The smallest allowed number.
        min: i64,
        /// The largest allowed number.
        max: i64,
    },
    /// The answer is of another type than the question.
    WrongType {
        /// The question's topic, if a loose reply was read.
        topic: Option<Arc<str>>,
        /// A description of the expected answer.
        wanted: String,
        /// A description of the given answer.
        given: Option<String>,
    },
    /// A line of text has control characters.
    ControlCharacter,
    /// The question has only one possible answer, and a different one was given.
    OnlyAnswer {
        /// The topic of the question.
        topic: String,
        /// The only possible answer.
        answer: String,
    },
    /// The `check` of the question refused the answer.
    AgainstRules {
        /// The topic of the question.
        topic: String,
        /// The reason, in the words of the rules.
        reason: String,
    },
    /// Something that was named does not exist.
    UnknownName {
        /// A sentence that says what is missing.
        sentence: String,
        /// The given name.
        given: String,
        /// The most similar name.
        near: Option<String>,
        /// The existing names, if there are few.
        known: Vec<String>,
    },
    /// The question, the decision or the act belongs to another seat.
    NotYourSeat {
        /// The seat that decides.
        seat: Arc<str>,
        /// The viewer who tried to decide.
        acting: Arc<str>,
    },
    /// The seat cannot undo its decision; only the game master can.
    Stands {
        /// The viewer who tried to undo it.
        acting: Arc<str>,
        /// The reason.
        since: Stands,
    },
    /// There is no decision to undo.
    NothingToUndo,
    /// There is no undone decision to redo.
    NothingToRedo {
        /// True if another decision was made since the undo.
        diverged: bool,
    },
    /// The game is over.
    Over,
    /// No script has failed.
    NoFault,
    /// A script failed.
    Fault {
        /// The fault of the script.
        #[serde(flatten)]
        fault: Box<Fault>,
    },
    /// No entity has this number.
    NoEntity {
        /// The given number.
        entity: EntityId,
    },
    /// A field does not accept the value.
    BadValue {
        /// The name of the field.
        field: String,
        /// The reason, as a clause.
        problem: String,
    },
    /// A house rule does not allow the value.
    BadSwitchValue {
        /// The reason.
        #[serde(flatten)]
        refusal: SwitchRefusal,
    },
    /// The request does not fit the current game.
    Invalid {
        /// The problem, as a sentence.
        message: String,
    },
    /// The request was valid but failed: it takes too much work, or the host failed.
    Failed {
        /// The problem, as a sentence.
        message: String,
    },
}

/// The reason why a seat cannot undo its own decision.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "serve", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub enum Stands {
    /// The seat has since seen something secret, or a sealed answer of another seat.
    Secret,
    /// Dice have been rolled since, and these rules let them stand.
    Dice,
    /// Under these rules a seat cannot undo anything.
    Rules,
}

/// A quantity with limits.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "of", rename_all = "snake_case")]
#[cfg_attr(feature = "serve", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub enum Bound {
    /// The number in an answer.
    Number {
        /// The topic of the question.
        topic: String,
    },
    /// The count of chosen options.
    Options,
    /// The count of options in an order.
    Order,
    /// The points of one option.
    Points {
        /// The label of the option.
        label: String,
    },
    /// The sum of all points.
    Total,
    /// The length of a list with one number for each option.
    Parts {
        /// The topic of the question.
        topic: Arc<str>,
        /// The options without a number.
        labels: Vec<Arc<str>>,
    },
    /// The characters of a line.
    Characters,
    /// The count of typed dice.
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

    /// The refusal of a value with lists and maps nested too deeply.
    pub(crate) fn too_deep() -> Refusal {
        Refusal::new("lists and maps lie in one another more than 100 levels deep")
    }

    /// The refusal of a look-ahead during which a rule read hidden fields.
    #[doc(hidden)]
    pub fn hidden(viewer: &Viewer, hidden: &[String]) -> Refusal {
        let (who, what) = (viewer.words(), hidden.join(", "));
        Refusal::failing(format!(
            "the result depends on what {who} may not see: {what} (`deal` in play.luau deals it anew)"
        ))
    }

    /// The refusal of a valid request that failed.
    #[doc(hidden)]
    pub fn failing(message: impl Into<String>) -> Refusal {
        Refusal::Failed { message: message.into() }
    }

    #[doc(hidden)]
    pub fn fault(fault: Fault) -> Refusal {
        Refusal::Fault { fault: Box::new(fault) }
    }

    /// The refusal of a name that does not exist. `known`: the existing names, listed if none is similar.
    #[doc(hidden)]
    pub fn unknown<'n>(sentence: impl Into<String>, given: &str, known: impl IntoIterator<Item = &'n str>) -> Refusal {
        let known: Vec<&str> = known.into_iter().collect();
        let near = riskbreaker_ruleset::nearest(given, known.iter().copied()).map(str::to_owned);
        let known = known.into_iter().map(str::to_owned).collect();
        Refusal::UnknownName { sentence: sentence.into(), given: given.to_owned(), near, known }
    }

    /// The topic of the refused answer's question, if the refusal names it.
    pub fn topic(&self) -> Option<&str> {
        match self {
            Refusal::NotAnOption { topic, .. }
            | Refusal::Ambiguous { topic, .. }
            | Refusal::WrongType { topic, .. } => topic.as_deref(),
            _ => None,
        }
    }

    /// Like [`Refusal::unknown`], for names that are too many to list.
    #[doc(hidden)]
    pub fn unknown_among_many<'n>(
        sentence: impl Into<String>,
        given: &str,
        known: impl IntoIterator<Item = &'n str>,
    ) -> Refusal {
        let near = riskbreaker_ruleset::nearest(given, known).map(str::to_owned);
        Refusal::UnknownName { sentence: sentence.into(), given: given.to_owned(), near, known: Vec::new() }
    }

    /// True if the request was valid but failed: a script error or a limit.
    pub fn failed(&self) -> bool {
        matches!(self, Refusal::Fault { .. } | Refusal::Failed { .. })
    }

    /// The variant as one word, equal to `kind` in JSON.
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

/// Formats a refusal in one line. Its labels, topics and reasons come from the rules: a line break in them could begin
/// a line that looks like one of the host's.
struct Sentence<'r>(&'r Refusal);

impl Refusal {
    /// The refusal with at most [`Ask::MOST_SHOWN`] names, for a message of limited size.
    #[doc(hidden)]
    pub fn with_few_names(mut self) -> Refusal {
        match &mut self {
            Refusal::NotAnOption { open, .. } => open.truncate(Ask::MOST_SHOWN),
            Refusal::Ambiguous { candidates, .. } => candidates.truncate(Ask::MOST_SHOWN),
            _ => {}
        }
        self
    }
}

impl fmt::Display for Sentence<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&in_one_line(&RefusalWords(self.0).to_string()))
    }
}

/// The most names that a sentence lists.
const MOST_NAMES: usize = 24;

/// Joins the first names of a list, with a last word if there are more.
fn few(names: &[impl AsRef<str>], between: &str, last: &str) -> String {
    let listed = names.iter().map(AsRef::as_ref).take(MOST_NAMES);
    let more = (names.len() > MOST_NAMES).then_some(last);
    listed.chain(more).collect::<Vec<_>>().join(between)
}

/// Formats a refusal with the words of the rules unchanged.
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
                    (None, open) => write!(f, "Type one of: {}.", few(open, ", ", "others")),
                }
            }
            Refusal::Ambiguous { given, candidates, .. } => {
                write!(f, "`{}` may be {}. ", short(given), few(candidates, " or ", "another"))?;
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

/// Shortens a typed text for a message.
fn short(text: &str) -> String {
    match text.char_indices().nth(LONGEST_TOLD) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// The most letters of a typed text in a message.
const LONGEST_TOLD: usize = 40;

/// The refusal of a decision that belongs to another seat.
pub(crate) fn not_yours(seat: &str, viewer: &Viewer) -> Refusal {
    Refusal::NotYourSeat { seat: Arc::from(seat), acting: Arc::from(viewer.words()) }
}

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
