//! Converts problems to diagnostics for an editor.

use std::ops::Range;

use gen_lsp_types::{Code, Diagnostic, DiagnosticSeverity, Message};

use super::document::{place_in, span_in};
use riskbreaker_ruleset::{Cure, Problem, find_whole};

/// Converts a problem to a diagnostic. `text`: the text of its file.
pub(super) fn diagnostic(problem: &Problem, text: &str) -> Diagnostic {
    let message = match &problem.cure {
        Some(cure) => format!("{}\n{cure}", problem.message),
        None => problem.message.clone(),
    };
    Diagnostic {
        range: span_in(text, range_of(problem, text)),
        severity: Some(match problem.is_warning {
            true => DiagnosticSeverity::Warning,
            false => DiagnosticSeverity::Error,
        }),
        code: problem.lint.map(|lint| Code::String(lint.to_owned())),
        code_description: None,
        source: Some("riskbreaker".into()),
        message: Message::String(message),
        tags: None,
        related_information: None,
        data: None,
    }
}

/// The byte range of a problem: what it is about, as far as its data say so; or else the text in quotes, the word or the
/// rest of the line that begins at its position. For a problem of a whole file, the first token.
pub(super) fn range_of(problem: &Problem, text: &str) -> Range<usize> {
    let begin = match problem.line {
        Some(line) => place_in(text, line, problem.column.unwrap_or(1)),
        None => 0,
    };
    let rest = text[begin..].lines().next().unwrap_or_default();
    let length = problem.length.filter(|length| *length > 0);
    let end = length.map(|length| rest.char_indices().nth(length as usize).map_or(rest.len(), |(end, _)| end));
    let about = &rest[..end.unwrap_or(rest.len())];
    if let (Some(_), Some(written)) = (problem.line, problem.cure.as_ref().and_then(Cure::written))
        && let Some(at) = find_whole(about, written)
    {
        return begin + at..begin + at + written.len();
    }
    begin..begin + end.unwrap_or_else(|| begin_of(rest))
}

/// The length of the first token of a line: a text in quotes, a word, or else the whole line.
fn begin_of(line: &str) -> usize {
    let whole = line.trim_end().len();
    let Some(first) = line.chars().next() else { return 0 };
    if matches!(first, '"' | '\'' | '`') {
        let mut escaped = false;
        for (at, letter) in line.char_indices().skip(1) {
            match letter {
                _ if escaped => escaped = false,
                '\\' => escaped = true,
                letter if letter == first => return at + 1,
                _ => {}
            }
        }
        return whole;
    }
    let word = line.find(|letter: char| !(letter.is_alphanumeric() || letter == '_')).unwrap_or(line.len());
    if word > 0 { word } else { whole }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn marked(text: &str, problem: Problem) -> &str {
        &text[range_of(&problem, text)]
    }

    #[test]
    fn a_problem_is_about_what_its_data_name() {
        let text = "local x = ctx.side.vigour + \"ä\\\"b\"\nreturn \u{1f3b2} oops + 1  \n";
        let at = |place, message: &str| Problem::new("g/x.luau", message).at(place);
        assert_eq!(marked(text, at((1, 11), "a side has no `vigour`").over(15)), "ctx.side.vigour");
        assert_eq!(marked(text, at((1, 11), "odd").with_cure(Cure::meant("vigour", "vigor"))), "vigour");
        assert_eq!(marked(text, at((1, 11), "odd").with_cure(Cure::meant("vig", "vigor"))), "ctx");
        assert_eq!(marked(text, at((2, 8), "odd").over(6)), "\u{1f3b2} oops");
        assert_eq!(marked(text, at((2, 8), "odd").over(99)), "\u{1f3b2} oops + 1  ");
        assert_eq!(marked(text, at((1, 29), "expected a number")), "\"ä\\\"b\"");
        assert_eq!(marked(text, at((2, 10), "there is no `oops`")), "oops");
        assert_eq!(marked(text, at((2, 8), "odd")), "\u{1f3b2} oops + 1");
        assert_eq!(marked(text, Problem::new("g/x.luau", "nothing reads this file")), "local");
        assert_eq!(marked(text, at((99, 99), "odd")), "");
        assert_eq!(marked("", at((1, 1), "odd")), "");
    }
}
