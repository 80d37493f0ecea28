//! Comments that allow lints: `-- check: allow(NAME)` for a line, `-- check: allow-file(NAME)` for a file.

use crate::comment::{Comment, comments};
use crate::lint::Lint;
use crate::lints::{unknown_lint, unused_allow};
use riskbreaker_ruleset::{Problem, Source, SourceKind, TextChange};

/// How a comment for the check begins.
const ALLOW: &str = "check: allow";

/// The lints that the comments of one file allow.
pub(crate) struct Allowances {
    path: String,
    allowances: Vec<Allowance>,
}

struct Allowance {
    /// The name as it is written.
    name: String,
    lint: Option<&'static Lint>,
    /// The place of the name in the file, line and column from 1.
    at: (u32, u32),
    /// The line for which it allows the lint; `None` for the whole file.
    line: Option<u32>,
    /// The change that removes the comment; `None` if it allows other lints, too.
    comment: Option<TextChange>,
    used: bool,
}

impl Allowances {
    /// Reads the comments of a script or of data.
    pub fn of(source: &Source) -> Allowances {
        let mut allowances = Vec::new();
        if source.text.contains(ALLOW)
            && let Some(kind) = source.kind()
        {
            for comment in comments(&source.text, kind) {
                allowances.extend(allowances_in(&comment, &source.text, kind));
            }
        }
        Allowances { path: source.path.clone(), allowances }
    }

    /// Whether a comment allows a problem of the file. Notes that the comment is needed.
    pub fn allows(&mut self, problem: &Problem) -> bool {
        if problem.path != self.path {
            return false;
        }
        let mut allowed = false;
        for allowance in &mut self.allowances {
            let here = allowance.line.is_none_or(|line| problem.line == Some(line));
            let can = allowance.lint.is_some_and(|lint| problem.lint == Some(lint.name) && lint.can_be_allowed());
            if here && can {
                allowance.used = true;
                allowed = true;
            }
        }
        allowed
    }

    /// Returns the problems of comments that name unknown lints, or lints that cannot be allowed.
    pub fn unknown(&self) -> Vec<Problem> {
        let wrong = |allowance: &Allowance| {
            let name = &allowance.name;
            let (message, cure) = match allowance.lint {
                None => (format!("there is no lint `{name}`"), Lint::instead_of(name)),
                Some(lint) if !lint.can_be_allowed() => {
                    (format!("`{name}` cannot be allowed"), "remove the comment, and correct what it hides".into())
                }
                Some(_) => return None,
            };
            Some(unknown_lint::LINT.problem(&*self.path, message).at(allowance.at).with_cure(cure))
        };
        self.allowances.iter().filter_map(wrong).collect()
    }

    /// Returns the warnings of comments that have allowed nothing.
    pub fn unused(&self) -> Vec<Problem> {
        let unused = self.allowances.iter().filter(|one| !one.used && one.lint.is_some_and(Lint::can_be_allowed));
        let problem = |allowance: &Allowance| {
            let message = format!("`{}` finds nothing here", allowance.name);
            let problem =
                unused_allow::LINT.problem(&*self.path, message).at(allowance.at).with_cure("remove the comment");
            match &allowance.comment {
                Some(comment) => problem.with_change(comment.clone()),
                None => problem,
            }
        };
        unused.map(problem).collect()
    }
}

/// Returns what one comment allows.
fn allowances_in(comment: &Comment<'_>, text: &str, kind: SourceKind) -> Vec<Allowance> {
    let Some(rest) = comment.text.trim_start().strip_prefix(ALLOW) else { return Vec::new() };
    let (of_file, rest) = match rest.strip_prefix("-file") {
        Some(rest) => (true, rest),
        None => (false, rest),
    };
    let Some((names, _)) = rest.trim_start().strip_prefix('(').and_then(|rest| rest.split_once(')')) else {
        return Vec::new();
    };
    let line = match (of_file, comment.is_alone) {
        (true, _) => None,
        (false, false) => Some(comment.line),
        (false, true) => Some(next_line_of_code(text, comment.line, kind)),
    };
    let begin = |name: &str| {
        let bytes = name.as_ptr() as usize - comment.text.as_ptr() as usize;
        comment.column + comment.text[..bytes].chars().count() as u32
    };
    let named = names.split(',').map(str::trim).filter(|name| !name.is_empty());
    let removed = (named.clone().count() == 1).then(|| without(comment, text, kind));
    let allowance = |name: &str| Allowance {
        name: name.to_owned(),
        lint: Lint::named(name),
        at: (comment.line, begin(name)),
        line,
        comment: removed.clone(),
        used: false,
    };
    named.map(allowance).collect()
}

/// The change that removes a comment, with the line that it is alone in.
fn without(comment: &Comment<'_>, text: &str, kind: SourceKind) -> TextChange {
    let inside = comment.text.as_ptr() as usize - text.as_ptr() as usize;
    let (mark, end) = (inside - mark_of_comments(kind).len(), inside + comment.text.len());
    let before = text[..mark].trim_end_matches([' ', '\t']);
    let (begin, end) = match comment.is_alone {
        true => (before.len(), end + text[end..].starts_with('\n') as usize),
        false => (before.len(), end),
    };
    TextChange { begin, end, text: String::new() }
}

/// Returns the first line after another one that is neither empty nor only a comment.
fn next_line_of_code(text: &str, line: u32, kind: SourceKind) -> u32 {
    let mark = mark_of_comments(kind);
    let lines = (line + 1..).zip(text.lines().skip(line as usize));
    let mut code = lines.filter(|(_, text)| !text.trim().is_empty() && !text.trim_start().starts_with(mark));
    code.next().map_or(line + 1, |(line, _)| line)
}

/// How a comment to the end of the line begins.
pub(crate) fn mark_of_comments(kind: SourceKind) -> &'static str {
    match kind {
        SourceKind::Script => "--",
        SourceKind::Data => "#",
        SourceKind::Prose => "<!--",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn allowed(path: &str, text: &str) -> Vec<(String, Option<u32>)> {
        let source = Source::read(path, text.as_bytes()).unwrap();
        Allowances::of(&source).allowances.into_iter().map(|one| (one.name, one.line)).collect()
    }

    #[test]
    fn a_comment_is_for_its_line_the_next_one_or_the_file() {
        let script =
            "x() -- check: allow(a, b)\n-- check: allow(c): it is meant\n\n-- why\ny()\n-- check: allow-file(d)\n";
        let expected = [("a", Some(1)), ("b", Some(1)), ("c", Some(5)), ("d", None)];
        assert_eq!(allowed("g/x.luau", script), expected.map(|(name, line)| (name.to_owned(), line)));
        let data = "x = 1 # check: allow(a)\n# check: allow(b)\ny = \"# check: allow(c)\"\n";
        assert_eq!(allowed("g/cast/x.toml", data), [("a".to_owned(), Some(1)), ("b".to_owned(), Some(3))]);
    }

    #[test]
    fn other_comments_and_texts_allow_nothing() {
        let script = "-- check: the rope\nx(\"-- check: allow(a)\")\n--[[ check: allow(b) ]]\n-- check: allow c\n";
        assert_eq!(allowed("g/x.luau", script), []);
    }
}
