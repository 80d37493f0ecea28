//! Converts the cure of a problem to an edit of the text.

use std::ops::Range;

use super::document::place_in;
use riskbreaker_check::Lint;
use riskbreaker_ruleset::{Cure, Problem, SourceKind, TextChange};

/// A change of one place of a text.
#[derive(Clone, Debug, PartialEq)]
pub struct Fix {
    /// The title, for the menu of the editor.
    pub title: String,
    /// The bytes to replace.
    pub range: Range<usize>,
    /// The new text.
    pub new_text: String,
    /// Whether it is the likeliest of the fixes of its problem.
    pub is_preferred: bool,
}

/// The edits that the cure of a problem names, each of them complete, the likeliest first. Empty if the cure is only
/// advice.
pub fn fixes(problem: &Problem, text: &str) -> Vec<Fix> {
    let titled = |change: TextChange| Fix {
        title: title_of(&change, problem.cure.as_ref(), text),
        range: change.begin..change.end,
        new_text: change.text,
        is_preferred: false,
    };
    let changes = problem.changes_in(text);
    let is_preferred = changes.preferred.is_some();
    let mut fixes: Vec<Fix> = changes.all().map(titled).collect();
    if let Some(first) = fixes.first_mut() {
        first.is_preferred = is_preferred;
    }
    fixes
}

/// The title of a change: the code that it changes, or the sentence of the cure if the code is long.
fn title_of(change: &TextChange, cure: Option<&Cure>, text: &str) -> String {
    let old = text.get(change.begin..change.end).unwrap_or_default();
    let short = |text: &str| !text.contains('\n') && text.chars().count() <= LONGEST_SHOWN;
    match (old.trim(), change.text.trim()) {
        ("", new) if short(new) => format!("Insert `{new}`"),
        (old, "") if short(old) => format!("Remove `{old}`"),
        (old, new) if short(old) && short(new) => format!("Change `{old}` to `{new}`"),
        _ => {
            let sentence = cure.map(ToString::to_string).unwrap_or_default();
            let mut letters = sentence.chars();
            letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
        }
    }
}

/// The most characters of code in the title of a fix.
const LONGEST_SHOWN: usize = 60;

/// The change that allows the lint of a problem in its line, by a comment on a line above it. `None` if the lint cannot be
/// allowed, or if the problem has no line.
pub(super) fn allowance(problem: &Problem, text: &str) -> Option<Fix> {
    let lint = Lint::named(problem.lint?).filter(|lint| lint.can_be_allowed())?.name;
    let mark = match SourceKind::of(&problem.path)? {
        SourceKind::Script => "--",
        SourceKind::Data => "#",
        SourceKind::Prose => return None,
    };
    let begin = place_in(text, problem.line?, 1);
    let line = text[begin..].lines().next().unwrap_or_default();
    let indent = &line[..line.len() - line.trim_start().len()];
    let new_text = format!("{indent}{mark} check: allow({lint})\n");
    Some(Fix { title: format!("Allow `{lint}` in this line"), range: begin..begin, new_text, is_preferred: false })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn titles(text: &str, problem: &Problem) -> Vec<String> {
        fixes(problem, text).into_iter().map(|fix| fix.title).collect()
    }

    #[test]
    fn a_fix_is_called_after_what_it_changes() {
        let problem = || Problem::new("g/x.luau", "a foe has no `hitz`").at((1, 1));
        assert_eq!(titles("a.hitz", &problem().with_cure(Cure::meant("hitz", "hits"))), ["Change `hitz` to `hits`"]);
        assert_eq!(titles("a.hitz", &problem().with_cure("declare it")), Vec::<String>::new());
        let change = |begin, end, text: &str| TextChange { begin, end, text: text.into() };
        let changed = |change| problem().with_cure("write the whole file anew").with_change(change);
        assert_eq!(titles("a.hitz", &changed(change(0, 0, "return "))), ["Insert `return`"]);
        assert_eq!(titles("a.hitz", &changed(change(1, 6, ""))), ["Remove `.hitz`"]);
        assert_eq!(titles("a.hitz", &changed(change(0, 6, "b\nc"))), ["Write the whole file anew"]);
        assert_eq!(titles("a", &changed(change(0, 6, "b"))), Vec::<String>::new());
    }
}
