use std::fmt;

use serde::Serialize;

use super::cure::{Changes, Cure};
use super::quoted::printable;

/// A mistake in a ruleset, reported to its author: place, message and correction.
///
/// Problems sort by path, then by line: those of a whole file come before those of its lines.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct Problem {
    /// The file: the ruleset's id and the path inside its folder, with `/` on every system
    /// (`my-game/maneuvers/feint.luau`), or the id alone if no file is concerned.
    pub path: String,
    /// The line, from 1.
    pub line: Option<u32>,
    /// The column in characters, from 1.
    pub column: Option<u32>,
    /// The number of characters from `column` on that the problem is about. `None` if it is not known, or if they span
    /// several lines.
    #[serde(skip)]
    pub length: Option<u32>,
    /// The problem, with the name concerned.
    pub message: String,
    /// A suggestion how to fix it.
    pub cure: Option<Cure>,
    /// The change of the file that carries the suggestion out; `None` if the suggestion itself names what to write, or if
    /// the author has to decide something. See [`Problem::changes_in`].
    #[serde(skip)]
    pub change: Option<TextChange>,
    /// Further changes, each of which cures the problem in another way, the likeliest first.
    #[serde(skip)]
    pub choices: Vec<TextChange>,
    /// What it is about, as far as other code has to know.
    #[serde(skip)]
    pub subject: Subject,
    /// True for a warning: the ruleset works, but there is a better form.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub is_warning: bool,
    /// The name of the lint that found it, such as `unknown-field`; `None` if loading found it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lint: Option<&'static str>,
}

/// What a problem is about, where others have to know that without reading its message.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Subject {
    /// Nothing that others have to know.
    #[default]
    Other,
    /// Files that require each other in a circle. What is missing because of it is not worth reporting.
    Circle,
    /// Something that no file declares. If some file cannot be read, that file may be the one.
    Undeclared,
    /// An end of a relation that is no field of its kind.
    RelationEnd,
    /// A value in a file of data that does not fit its type or breaks a rule. It is a mistake of its own, even if other
    /// values are wrong.
    Value,
}

/// A change of one place of a file.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct TextChange {
    /// The first byte that is replaced, from the beginning of the file's text.
    pub begin: usize,
    /// The end of the replaced bytes; the same as `begin` for an insertion.
    pub end: usize,
    /// The new text.
    pub text: String,
}

impl TextChange {
    /// The file's text after the change; `None` if the change is not within it, or divides a letter.
    pub fn applied_to(&self, text: &str) -> Option<String> {
        text.get(self.begin..self.end)?;
        let mut changed = text.to_owned();
        changed.replace_range(self.begin..self.end, &self.text);
        Some(changed)
    }
}

impl Problem {
    /// The most letters of a message and of a correction. Longer ones end in `…`.
    pub const LONGEST: usize = 2_000;

    /// Creates a problem of a whole file or ruleset; [`Problem::at`] adds a place in the file.
    pub fn new(path: impl Into<String>, message: impl Into<String>) -> Self {
        let message = at_most(message.into(), Self::LONGEST);
        Problem {
            path: path.into(),
            line: None,
            column: None,
            length: None,
            message,
            cure: None,
            change: None,
            choices: Vec::new(),
            subject: Subject::Other,
            is_warning: false,
            lint: None,
        }
    }

    /// Sets line and column, both from 1.
    #[must_use]
    pub fn at(mut self, (line, column): (u32, u32)) -> Self {
        self.line = Some(line);
        self.column = Some(column);
        self
    }

    /// Sets the number of characters that the problem is about, from its column on.
    #[must_use]
    pub fn over(mut self, length: u32) -> Self {
        self.length = Some(length);
        self
    }

    /// Turns the problem into a warning.
    #[must_use]
    pub fn as_warning(mut self) -> Self {
        self.is_warning = true;
        self
    }

    /// Sets the name of the lint that found it.
    #[must_use]
    pub fn with_lint(mut self, name: &'static str) -> Self {
        self.lint = Some(name);
        self
    }

    /// Sets what it is about.
    #[must_use]
    pub fn about(mut self, subject: Subject) -> Self {
        self.subject = subject;
        self
    }

    /// Sets the suggestion how to fix it.
    #[must_use]
    pub fn with_cure(mut self, cure: impl Into<Cure>) -> Self {
        let cure = cure.into();
        let told = cure.to_string();
        self.cure = Some(if told.len() > Self::LONGEST { Cure::Advice(at_most(told, Self::LONGEST)) } else { cure });
        self
    }

    /// Returns the changes of the file's text that carry the suggestion out: the preferred one, and the choices besides.
    ///
    /// Empty if the author has to decide something, or if the text has changed too much since the check.
    pub fn changes_in(&self, text: &str) -> Changes {
        let mut changes = match (&self.change, &self.cure) {
            (None, Some(cure)) if self.choices.is_empty() => cure.changes(self, text),
            (change, _) => Changes { preferred: change.clone(), choices: self.choices.clone() },
        };
        changes.retain(|change| text.get(change.begin..change.end).is_some());
        changes
    }

    /// Adds another change of the file that cures the problem, less likely than those before.
    #[must_use]
    pub fn or_change(mut self, change: TextChange) -> Self {
        self.choices.push(change);
        self
    }

    /// Sets the change of the file that carries the suggestion out.
    #[must_use]
    pub fn with_change(mut self, change: TextChange) -> Self {
        self.change = Some(change);
        self
    }
}

/// Shortens a text to a number of letters, with `…` as the last one.
fn at_most(mut text: String, letters: usize) -> String {
    if text.len() > letters
        && let Some((cut, _)) = text.char_indices().nth(letters - 1)
        && text[cut..].chars().nth(1).is_some()
    {
        text.truncate(cut);
        text.push('…');
    }
    text
}

/// Prints one line, `path:line:column: message (cure)`. Texts of the author are escaped, so that no file can move the
/// cursor or forge a line.
impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", printable(&self.path))?;
        if let Some(line) = self.line {
            write!(f, ":{line}")?;
            if let Some(column) = self.column {
                write!(f, ":{column}")?;
            }
        }
        let warning = if self.is_warning { "warning: " } else { "" };
        write!(f, ": {warning}{}", printable(&self.message))?;
        if let Some(cure) = &self.cure {
            write!(f, " ({})", printable(&cure.to_string()))?;
        }
        Ok(())
    }
}

/// A ruleset that could not be loaded, with all its problems.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, thiserror::Error)]
#[error("cannot load ruleset `{}`:{}", printable(ruleset), listed(problems))]
#[non_exhaustive]
pub struct LoadError {
    /// The requested id, with the layers on top: `game+house`.
    pub ruleset: String,
    /// The problems, sorted and without duplicates; never empty.
    pub problems: Vec<Problem>,
}

impl LoadError {
    /// Collects the problems of one ruleset, sorted and without duplicates.
    pub fn new(ruleset: impl Into<String>, mut problems: Vec<Problem>) -> Self {
        let ruleset = ruleset.into();
        if problems.is_empty() {
            problems.push(Problem::new(ruleset.clone(), "cannot be loaded"));
        }
        problems.sort();
        problems.dedup();
        LoadError { ruleset, problems }
    }
}

fn listed(problems: &[Problem]) -> String {
    problems.iter().map(|problem| format!("\n  {problem}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_problem_reads_as_one_line_with_place_and_cure() {
        let problem =
            Problem::new("my-game/ruleset.toml", "unknown key `tittle`").at((2, 1)).with_cure("did you mean `title`?");
        assert_eq!(problem.to_string(), "my-game/ruleset.toml:2:1: unknown key `tittle` (did you mean `title`?)");
        assert_eq!(Problem::new("my-game", "is empty").to_string(), "my-game: is empty");
    }

    #[test]
    fn a_long_message_is_cut() {
        let long = |letters: usize| Problem::new("g", "ü".repeat(letters)).with_cure("ü".repeat(letters));
        let (whole, cut) = (long(Problem::LONGEST), long(Problem::LONGEST + 1));
        assert_eq!(whole.message, "ü".repeat(Problem::LONGEST));
        assert_eq!(cut.message, format!("{}…", "ü".repeat(Problem::LONGEST - 1)));
        assert_eq!(cut.cure, Some(Cure::Advice(cut.message)));
    }

    #[test]
    fn a_problem_cannot_forge_a_line_or_move_the_cursor() {
        let problem = Problem::new("a\u{1b}[2J", "x\nall is well\u{202e}");
        assert_eq!(problem.to_string(), "a\\u{1b}[2J: x\\nall is well\\u{202e}");
    }

    #[test]
    fn a_load_error_lists_all_its_problems_in_order_and_once() {
        let late = Problem::new("g/b.luau", "late").at((9, 1));
        let early = Problem::new("g/b.luau", "early").at((2, 7));
        let file = Problem::new("g/b.luau", "of the file");
        let other = Problem::new("g/a.luau", "other").at((30, 1));
        let error = LoadError::new("g", vec![late.clone(), early, file, other, late]);
        assert_eq!(
            error.to_string(),
            "cannot load ruleset `g`:\n  g/a.luau:30:1: other\n  g/b.luau: of the file\n  g/b.luau:2:7: early\n  g/b.luau:9:1: late"
        );
    }

    #[test]
    fn a_problem_serializes_with_its_five_fields() {
        let json = serde_json::to_string(&Problem::new("g", "m")).unwrap();
        assert_eq!(json, r#"{"path":"g","line":null,"column":null,"message":"m","cure":null}"#);
    }
}
