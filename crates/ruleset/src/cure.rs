//! Suggestions how to fix problems, and the changes that carry them out.

use std::fmt;
use std::ops::Range;

use serde::{Serialize, Serializer};

use super::nearest::unlikeness;
use super::problem::{Problem, TextChange};

/// A suggestion how to fix a problem. It is printed as a sentence; an editor applies the names in it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Cure {
    /// What to do, in a sentence. The author has to carry it out.
    Advice(String),
    /// The name that was most likely meant: ``did you mean `title`?``.
    Meant {
        /// The name in the file.
        written: String,
        /// The name to write instead.
        meant: String,
    },
    /// The text that was most likely meant: `did you mean "crippled"?`.
    MeantText {
        /// The text in the file, without quotes.
        written: String,
        /// The text to write instead, without quotes.
        meant: String,
    },
    /// The rule id that was most likely meant, if the rule does not have to be added to `RULES.md`.
    MeantRule {
        /// The id in the file.
        written: String,
        /// The id to write instead.
        meant: String,
    },
    /// The names that are possible: `known: id, title`.
    Known {
        /// The name in the file.
        written: String,
        /// The first of the possible names.
        known: Vec<String>,
        /// The number of further names that are possible.
        more: usize,
    },
    /// Other code in the place of a piece: `write 8 without quotes`.
    Rewrite {
        /// The piece of code in the file.
        written: String,
        /// The code to write instead.
        code: String,
        /// What to do, in a sentence.
        sentence: String,
    },
    /// Other code in the place of one of several pieces.
    OneOf {
        /// What can be written instead of what, the likeliest first. Each is a cure of its own.
        choices: Vec<Replacement>,
        /// What to do, in a sentence.
        sentence: String,
    },
}

/// A piece of code and what to write instead.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Replacement {
    /// A text somewhere before the piece; empty if the first piece is the right one.
    pub after: String,
    /// The piece of code in the file.
    pub written: String,
    /// The code to write instead.
    pub code: String,
}

impl Replacement {
    /// Replaces the first such piece.
    pub fn of(written: impl Into<String>, code: impl Into<String>) -> Replacement {
        Replacement { after: String::new(), written: written.into(), code: code.into() }
    }

    /// Replaces the first such piece behind another one.
    pub fn after(after: impl Into<String>, written: impl Into<String>, code: impl Into<String>) -> Replacement {
        Replacement { after: after.into(), ..Replacement::of(written, code) }
    }

    /// The change of a part of a text; `None` if the piece is not in it.
    fn change_in(&self, text: &str, part: Range<usize>) -> Option<TextChange> {
        let behind = match self.after.as_str() {
            "" => part.start,
            after => part.start + find_whole(&text[part.clone()], after)? + after.len(),
        };
        let begin = behind + find_whole(&text[behind..part.end], &self.written)?;
        Some(TextChange { begin, end: begin + self.written.len(), text: self.code.clone() })
    }
}

impl Cure {
    /// Returns what stands in the file that the cure is about; `None` if it names nothing.
    pub fn written(&self) -> Option<&str> {
        match self {
            Cure::Advice(_) => None,
            Cure::OneOf { choices, .. } => choices.first().map(|choice| choice.written.as_str()),
            Cure::Meant { written, .. }
            | Cure::MeantText { written, .. }
            | Cure::MeantRule { written, .. }
            | Cure::Known { written, .. }
            | Cure::Rewrite { written, .. } => Some(written),
        }
    }

    /// The most names that are offered as changes.
    pub const MOST_OFFERED: usize = 12;

    /// Creates a cure that names what was most likely meant instead of a name.
    pub fn meant(written: impl Into<String>, meant: impl Into<String>) -> Cure {
        Cure::Meant { written: written.into(), meant: meant.into() }
    }

    /// Creates a cure that names what was most likely meant instead of a text in quotes.
    pub fn meant_text(written: impl Into<String>, meant: impl Into<String>) -> Cure {
        Cure::MeantText { written: written.into(), meant: meant.into() }
    }

    /// Creates a cure that writes other code in the place of a piece of it.
    pub fn rewrite(written: impl Into<String>, code: impl Into<String>, sentence: impl Into<String>) -> Cure {
        Cure::Rewrite { written: written.into(), code: code.into(), sentence: sentence.into() }
    }

    /// Creates a cure that writes other code in the place of one of several pieces, the likeliest first.
    pub fn one_of(choices: impl IntoIterator<Item = Replacement>, sentence: impl Into<String>) -> Cure {
        Cure::OneOf { choices: choices.into_iter().collect(), sentence: sentence.into() }
    }

    /// Returns the changes of a text that carry the cure of a problem out. Empty if the author has to decide something.
    pub fn changes(&self, problem: &Problem, text: &str) -> Changes {
        let rest = rest_of_line(problem, text);
        let exchanged = |written: &str, name: &str| {
            let rest = rest.clone()?;
            let begin = rest.start + find_whole(&text[rest], written)?;
            Some(TextChange { begin, end: begin + written.len(), text: name.to_owned() })
        };
        match self {
            Cure::Advice(_) => Changes::default(),
            Cure::Meant { written, meant }
            | Cure::MeantText { written, meant }
            | Cure::MeantRule { written, meant } => Changes::of(exchanged(written, meant)),
            // A name with a space is a title, and no name of a file or a key.
            Cure::Known { known, .. } if known.iter().any(|name| name.contains(' ')) => Changes::default(),
            Cure::Known { written, known, .. } => {
                let mut names: Vec<&str> = known.iter().map(String::as_str).collect();
                names.sort_by_key(|name| unlikeness(written, name));
                if let [only] = names.as_slice() {
                    return Changes::of(exchanged(written, only));
                }
                let choices = names.into_iter().take(Cure::MOST_OFFERED).filter_map(|name| exchanged(written, name));
                Changes { preferred: None, choices: choices.collect() }
            }
            // The problem may name a part of the code that is written anew.
            Cure::Rewrite { written, code, .. } => match exchanged(written, code) {
                None if problem.column.is_some_and(|column| column > 1) => {
                    let mut of_line = problem.clone();
                    of_line.column = None;
                    self.changes(&of_line, text)
                }
                change => Changes::of(change),
            },
            Cure::OneOf { choices, .. } => {
                let within = declaration(problem, text);
                let change = |choice: &Replacement| {
                    let here = rest.clone().and_then(|rest| choice.change_in(text, rest));
                    here.or_else(|| choice.change_in(text, within.clone()?))
                };
                let mut changes = choices.iter().filter_map(change);
                Changes { preferred: changes.next(), choices: changes.collect() }
            }
        }
    }
}

/// The changes that carry out a cure: the one that is most likely meant, and the others.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Changes {
    /// The change that is most likely meant; `None` if none is likelier than the others.
    pub preferred: Option<TextChange>,
    /// The other ways to cure the problem, the likeliest first. Each of them is complete.
    pub choices: Vec<TextChange>,
}

impl Changes {
    /// Creates the only way to cure a problem.
    pub fn of(preferred: Option<TextChange>) -> Changes {
        Changes { preferred, choices: Vec::new() }
    }

    /// All ways to cure the problem, the likeliest first.
    pub fn all(self) -> impl Iterator<Item = TextChange> {
        self.preferred.into_iter().chain(self.choices)
    }

    /// Keeps the changes that fulfil a condition.
    pub(super) fn retain(&mut self, fits: impl Fn(&TextChange) -> bool) {
        self.preferred = self.preferred.take().filter(&fits);
        self.choices.retain(fits);
    }
}

/// The bytes from the position of a problem to the end of its line; `None` if it has no line, or none in the text.
fn rest_of_line(problem: &Problem, text: &str) -> Option<Range<usize>> {
    let line = text.split_inclusive('\n').nth(problem.line?.checked_sub(1)? as usize)?;
    let begin = line.as_ptr() as usize - text.as_ptr() as usize;
    let line = line.trim_end_matches(['\n', '\r']);
    let column = problem.column.unwrap_or(1).saturating_sub(1) as usize;
    let at = line.char_indices().nth(column).map_or(line.len(), |(at, _)| at);
    Some(begin + at..begin + line.len())
}

/// The bytes of the line of a problem, and of those after it up to the end of the brackets that the line opens.
fn declaration(problem: &Problem, text: &str) -> Option<Range<usize>> {
    let mut whole = problem.clone();
    whole.column = None;
    let line = rest_of_line(&whole, text)?;
    let mut depth = 0usize;
    for (at, letter) in text[line.start..].char_indices() {
        match letter {
            '(' | '{' => depth += 1,
            ')' | '}' => depth = depth.saturating_sub(1),
            '\n' if depth == 0 => return Some(line.start..line.start + at),
            _ => {}
        }
    }
    Some(line.start..text.len())
}

/// Returns the byte offset of a name in a line, not as a part of a longer word.
pub fn find_whole(line: &str, name: &str) -> Option<usize> {
    let part = |letter: char| letter.is_alphanumeric() || letter == '_';
    let before = |at: usize| name.starts_with(part) && line[..at].ends_with(part);
    let after = |at: usize| name.ends_with(part) && line[at + name.len()..].starts_with(part);
    line.match_indices(name).map(|(at, _)| at).find(|at| !name.is_empty() && !before(*at) && !after(*at))
}

impl fmt::Display for Cure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Cure::Advice(text) => f.write_str(text),
            Cure::Meant { meant, .. } => write!(f, "did you mean `{meant}`?"),
            Cure::MeantText { meant, .. } => write!(f, "did you mean \"{meant}\"?"),
            Cure::MeantRule { meant, .. } => write!(f, "did you mean `{meant}`? Or add the rule to RULES.md"),
            Cure::Known { known, more: 0, .. } => write!(f, "known: {}", known.join(", ")),
            Cure::Known { known, more, .. } => write!(f, "known: {} and {more} more", known.join(", ")),
            Cure::Rewrite { sentence, .. } | Cure::OneOf { sentence, .. } => f.write_str(sentence),
        }
    }
}

/// A cure is serialized as its sentence.
impl Serialize for Cure {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl From<String> for Cure {
    fn from(text: String) -> Cure {
        Cure::Advice(text)
    }
}

impl From<&str> for Cure {
    fn from(text: &str) -> Cure {
        Cure::Advice(text.to_owned())
    }
}

impl From<Cure> for String {
    fn from(cure: Cure) -> String {
        match cure {
            Cure::Advice(text) => text,
            other => other.to_string(),
        }
    }
}

/// A cure is equal to its sentence.
impl PartialEq<str> for Cure {
    fn eq(&self, text: &str) -> bool {
        let sentence = self.to_string();
        sentence == text
    }
}

impl PartialEq<&str> for Cure {
    fn eq(&self, text: &&str) -> bool {
        self == *text
    }
}

impl PartialEq<String> for Cure {
    fn eq(&self, text: &String) -> bool {
        self == text.as_str()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn changed(text: &str, place: (u32, u32), cure: Cure) -> Vec<String> {
        let problem = Problem::new("g/x.luau", "wrong").at(place).with_cure(cure);
        problem.changes_in(text).all().map(|change| change.applied_to(text).unwrap()).collect()
    }

    #[test]
    fn a_cure_that_names_what_to_write_is_a_change() {
        assert_eq!(changed("a.hitz + 1", (1, 1), Cure::meant("hitz", "hits")), ["a.hits + 1"]);
        assert_eq!(changed("fo, rb.each(\"fo\")", (1, 9), Cure::meant("fo", "foe")), ["fo, rb.each(\"foe\")"]);
        assert_eq!(changed("\u{e4} t:plays(1)", (1, 3), Cure::meant("plays", "play")), ["\u{e4} t:play(1)"]);
        assert_eq!(changed("x\r\nf(\"cripled\")\r\n", (2, 3), Cure::meant_text("cripled", "crippled")).len(), 1);
        let known = |known: &[&str], more| {
            let known = known.iter().map(ToString::to_string).collect();
            Cure::Known { written: "tittle".into(), known, more }
        };
        assert_eq!(changed("tittle = 1", (1, 1), known(&["id", "title"], 0)), ["title = 1", "id = 1"]);
        let choices =
            Problem::new("g/x.toml", "wrong").at((1, 1)).with_cure(known(&["id"; 13], 4)).changes_in("tittle");
        assert_eq!((choices.preferred, choices.choices.len()), (None, Cure::MOST_OFFERED));
        assert_eq!(changed("tittle = 1", (1, 1), known(&["id"], 0)), ["id = 1"]);
        for unclear in [known(&["a b"], 0), "write more".into()] {
            assert_eq!(changed("tittle = 1", (1, 1), unclear), Vec::<String>::new());
        }
        let harm = Cure::rewrite("\"1\"", "1", "write harm = 1, without quotes");
        assert_eq!(harm, "write harm = 1, without quotes");
        for column in [2, 10] {
            assert_eq!(changed("\tharm = \"1\", -- one", (1, column), harm.clone()), ["\tharm = 1, -- one"]);
        }
    }

    #[test]
    fn one_of_several_pieces_is_in_the_line_or_in_the_brackets_that_it_opens() {
        let bounds = || {
            let choices = [Replacement::after("default", "12", "10"), Replacement::after("max", "10", "12")];
            Cure::one_of(choices, "write default = 10, or max = 12")
        };
        assert_eq!(bounds(), "write default = 10, or max = 12");
        assert_eq!(bounds().written(), Some("12"));
        let line = "hp = rb.int({ max = 10, default = 12 }),";
        let told = [line.replace("12", "10"), line.replace("10", "12")];
        assert_eq!(changed(line, (1, 1), bounds()), told);
        let lines = "hp = rb.int({\n\tmax = 10,\n\tdefault = 12,\n}),\nmp = rb.int({ default = 12 })";
        let whole = changed(lines, (1, 1), bounds());
        assert_eq!(whole, [lines.replacen("12", "10", 1), lines.replace("max = 10", "max = 12")]);
        // What is behind the brackets is another declaration.
        assert_eq!(changed("hp = rb.int(),\nmp = rb.int({ default = 12 })", (1, 1), bounds()), Vec::<String>::new());
    }

    #[test]
    fn a_name_that_is_not_in_its_line_is_not_changed() {
        for (text, place) in
            [("a.hits", (1, 1)), ("a.hitz", (2, 1)), ("hitz, b", (1, 3)), ("", (1, 1)), ("hitz2", (1, 1))]
        {
            assert_eq!(changed(text, place, Cure::meant("hitz", "hits")), Vec::<String>::new(), "{text}");
        }
    }
}
