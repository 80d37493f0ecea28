//! Converts the cure of a problem to an edit of the text.

use std::ops::Range;

use super::document::place_in;
use super::finding::{find_whole, quoted_names, range_of};
use riskbreaker_check::Lint;
use riskbreaker_ruleset::{Problem, SourceKind, TextChange, slips};

/// A change of one place of a text.
#[derive(Clone, Debug, PartialEq)]
pub struct Fix {
    /// The title, for the menu of the editor.
    pub title: String,
    /// The bytes to replace.
    pub range: Range<usize>,
    /// The new text.
    pub new_text: String,
}

/// The most names that are offered instead of an unknown one.
const MOST_OFFERED: usize = 12;

/// The edits that the cure of a problem suggests: several if it lists names. Empty if the cure is only advice.
pub fn fixes(problem: &Problem, text: &str) -> Vec<Fix> {
    let Some(cure) = &problem.cure else { return Vec::new() };
    if let Some(change) = &problem.change {
        return carried_out(change, cure, text).into_iter().collect();
    }
    let range = range_of(problem, text);
    let marked = &text[range.clone()];
    let replace = |new_text: &str| Fix {
        title: format!("Change `{marked}` to `{new_text}`"),
        range: range.clone(),
        new_text: new_text.to_string(),
    };
    let wrong = quoted_names(&problem.message).next();
    if let Some((_, meant)) = cure.split_once("did you mean `")
        && let Some((meant, _)) = meant.split_once("`?")
    {
        let wrong = misspelt(&problem.message, meant).or(wrong);
        // A message may name what is right before what is wrong.
        let range = match wrong == Some(meant) {
            true => other_name(problem, text, meant),
            false => named(problem, text, &range, wrong)
                .or_else(|| behind(problem, text, wrong?))
                .or_else(|| other_name(problem, text, meant)),
        };
        let range = range.map(|range| last_name(text, range, meant));
        return range.map(|range| renamed(text, range, meant)).into_iter().collect();
    }
    if let Some((_, meant)) = cure.split_once("did you mean \"")
        && let Some((meant, _)) = meant.split_once("\"?")
    {
        return quoted_word(problem, text).map(|range| renamed(text, range, meant)).into_iter().collect();
    }
    if let Some(known) = cure.strip_prefix("known: ") {
        let found = named(problem, text, &range, wrong).or_else(|| other_name(problem, text, ""));
        let Some(range) = found else { return Vec::new() };
        let known: Vec<&str> = known.split(", ").collect();
        if known.len() > MOST_OFFERED || known.iter().any(|name| name.contains(' ')) {
            return Vec::new();
        }
        return known.into_iter().map(|name| renamed(text, range.clone(), name)).collect();
    }
    if cure.starts_with("write `return` before it") || cure.starts_with("write `return` in front of this") {
        let begin = range.start..range.start;
        return vec![Fix { title: "Insert `return`".into(), range: begin, new_text: "return ".into() }];
    }
    if cure.starts_with("write a colon: `:") || cure.starts_with("a dot stands where a colon belongs") {
        return colon(text, &range).into_iter().collect();
    }
    if let Some(fix) = value_of_key(cure, &range, text) {
        return vec![fix];
    }
    if let Some((key, value)) = cure.strip_prefix("write ").and_then(|rest| rest.strip_suffix('"')?.split_once(" = \""))
        && wrong == Some(marked)
        && text[..range.start].ends_with(&format!("{key} = \""))
    {
        return vec![replace(value)];
    }
    if cure.contains("without quotes") {
        let bare = marked.strip_prefix('"').and_then(|rest| rest.strip_suffix('"'));
        let literal = bare.filter(|bare| matches!(*bare, "true" | "false") || bare.parse::<f64>().is_ok());
        return literal.map(replace).into_iter().collect();
    }
    if let Some((code, _)) = cure.strip_prefix("leave out `").and_then(|rest| rest.split_once('`'))
        && let Some(at) = find_whole(marked, code)
    {
        let begin = range.start + text[range.start..range.start + at].trim_end().len();
        // The space before it is removed, too.
        let begin = text[..begin].trim_end().len().max(text[..begin].rfind('\n').map_or(0, |newline| newline + 1));
        let range = begin..range.start + at + code.len();
        return vec![Fix { title: format!("Leave out `{code}`"), range, new_text: String::new() }];
    }
    // A cure that replaces the code by one word.
    if let Some(code) = cure.strip_prefix("write `").and_then(|rest| rest.strip_suffix('`'))
        && !code.contains("...")
        && !code.contains('`')
        && wrong.is_some_and(|wrong| wrong == marked)
    {
        return vec![replace(code)];
    }
    Vec::new()
}

/// The change of a problem as a fix. `None` if the text has become shorter since.
fn carried_out(change: &TextChange, cure: &str, text: &str) -> Option<Fix> {
    let range = change.begin..change.end;
    let old = text.get(range.clone())?;
    let short = |text: &str| !text.contains('\n') && text.chars().count() <= LONGEST_SHOWN;
    let title = match (old.trim(), change.text.trim()) {
        ("", new) if short(new) => format!("Insert `{new}`"),
        (old, "") if short(old) => format!("Remove `{old}`"),
        (old, new) if short(old) && short(new) => format!("Change `{old}` to `{new}`"),
        _ => {
            let mut letters = cure.chars();
            letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
        }
    };
    Some(Fix { title, range, new_text: change.text.clone() })
}

/// The most characters of code in the title of a fix.
const LONGEST_SHOWN: usize = 60;

/// The change of a key's value that a cure writes out: `write harm = 1, without quotes`.
fn value_of_key(cure: &str, key: &Range<usize>, text: &str) -> Option<Fix> {
    let begins = ["write ", "put it in braces: ", "put it in quotes: "];
    let written = begins.iter().find_map(|begin| cure.strip_prefix(begin))?;
    let name = text.get(key.clone())?;
    let value = written.strip_prefix(name)?.trim_start().strip_prefix("= ")?;
    let value = value.split_once(", without").map_or(value, |(value, _)| value);
    let rest = text[key.end..].lines().next()?;
    let old = rest.trim_start().strip_prefix("= ")?;
    let begin = key.end + rest.len() - old.len();
    let old = old.split(" --").next()?.trim_end().trim_end_matches([',', ';']);
    let is_written_out = !value.contains("...") && !value.contains("a number") && !old.is_empty();
    let range = begin..begin + old.len();
    let title = format!("Change `{old}` to `{value}`");
    is_written_out.then(|| Fix { title, range, new_text: value.to_owned() })
}

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
    Some(Fix { title: format!("Allow `{lint}` in this line"), range: begin..begin, new_text })
}

/// The byte range of a wrong name at or after the position of a problem; without the quotes, if it is a text.
fn named(problem: &Problem, text: &str, range: &Range<usize>, wrong: Option<&str>) -> Option<Range<usize>> {
    let marked = &text[range.clone()];
    if let Some(at) = wrong.and_then(|wrong| find_whole(marked, wrong)) {
        return Some(range.start + at..range.start + at + wrong.map_or(0, str::len));
    }
    let quote = marked.chars().next().filter(|quote| matches!(quote, '"' | '\''))?;
    let inner = marked.strip_prefix(quote)?.strip_suffix(quote)?;
    let plain = !inner.is_empty() && problem.line.is_some() && !inner.contains(['\\', ' ']);
    plain.then(|| range.start + 1..range.end - 1)
}

/// Of a path such as `t:plays`, the bytes of the last name, if what is meant is a name alone.
fn last_name(text: &str, range: Range<usize>, meant: &str) -> Range<usize> {
    let is_sign = |letter: char| matches!(letter, '.' | ':');
    match text[range.clone()].rfind(is_sign).filter(|_| !meant.contains(is_sign)) {
        Some(sign) => range.start + sign + 1..range.end,
        None => range,
    }
}

/// The bytes of the word in double quotes that a message quotes, in the line of the problem.
fn quoted_word(problem: &Problem, text: &str) -> Option<Range<usize>> {
    let begin = place_in(text, problem.line?, 1);
    let line = text[begin..].lines().next()?;
    let word = problem.message.split('"').nth(1)?;
    let at = begin + line.find(&format!("\"{word}\""))? + 1;
    Some(at..at + word.len())
}

/// The bytes of a name at the place of a problem or after it in the line.
fn behind(problem: &Problem, text: &str, name: &str) -> Option<Range<usize>> {
    let begin = place_in(text, problem.line?, problem.column.unwrap_or(1));
    let at = begin + find_whole(text[begin..].lines().next()?, name)?;
    Some(at..at + name.len())
}

/// The bytes of the first name in a message that is another one than `meant` and stands at the place of the problem or behind
/// it in the line.
fn other_name(problem: &Problem, text: &str, meant: &str) -> Option<Range<usize>> {
    let begin = place_in(text, problem.line?, problem.column.unwrap_or(1));
    let rest = text[begin..].lines().next()?;
    let mut others = quoted_names(&problem.message).filter(|name| *name != meant);
    others.find_map(|name| find_whole(rest, name).map(|at| begin + at..begin + at + name.len()))
}

/// The name in a message that is nearest to what is meant, if it is a misspelling of it.
fn misspelt<'m>(message: &'m str, meant: &str) -> Option<&'m str> {
    let near = |name: &&str| *name != meant && slips(name, meant, MOST_SLIPS).is_some();
    quoted_names(message).filter(near).min_by_key(|name| slips(name, meant, MOST_SLIPS))
}

/// The most letters in which a misspelt name differs.
const MOST_SLIPS: usize = 4;

fn renamed(text: &str, range: Range<usize>, name: &str) -> Fix {
    Fix { title: format!("Change `{}` to `{name}`", &text[range.clone()]), range, new_text: name.to_string() }
}

/// Replaces the dot before a name by a colon.
fn colon(text: &str, range: &Range<usize>) -> Option<Fix> {
    let line = text[range.start..].lines().next()?;
    let dot = match text[..range.start].ends_with('.') {
        true => range.start - 1,
        // The position is that of the object.
        false => range.start + line[..line.find('(')?].rfind('.')?,
    };
    Some(Fix { title: "Write a colon".into(), range: dot..dot + 1, new_text: ":".into() })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fixed(text: &str, place: (u32, u32), message: &str, cure: &str) -> Vec<String> {
        let problem = Problem::new("g/x.luau", message).at(place).with_cure(cure);
        let apply = |fix: Fix| {
            let mut text = text.to_string();
            text.replace_range(fix.range, &fix.new_text);
            text
        };
        fixes(&problem, text).into_iter().map(apply).collect()
    }

    #[test]
    fn a_cure_that_names_what_to_write_is_a_change() {
        let did = |name: &str| format!("did you mean `{name}`?");
        assert_eq!(fixed("a.hitz + 1", (1, 1), "a foe has no `hitz`", &did("hits")), ["a.hits + 1"]);
        let refers = "the field `place` of trigger refers to the kind `palce`, which does not exist";
        let declared = |kind: &str| format!("place = rb.ref(\"{kind}\")");
        assert_eq!(fixed(&declared("palce"), (1, 1), refers, &did("place")), [declared("place")]);
        assert_eq!(fixed("rb.each(\"fo\")", (1, 9), "there is no kind `fo`", &did("foe")), ["rb.each(\"foe\")"]);
        assert_eq!(fixed("x == \"A b\"", (1, 6), "no option is called so", &did("b")), Vec::<String>::new());
        assert_eq!(fixed("f(\"no\")", (1, 3), "odd `thing`", &did("yes")), ["f(\"yes\")"]);
        assert_eq!(fixed("tittle = 1", (1, 1), "unknown key `tittle`", "known: id, title"), ["id = 1", "title = 1"]);
        assert_eq!(fixed("a.set(1)", (1, 1), "wrong", "write a colon: `:set(...)`"), ["a:set(1)"]);
        assert_eq!(fixed("x = \"12\"", (1, 5), "wrong", "write a number, without quotes"), ["x = 12"]);
        assert_eq!(fixed("rb.item({})", (1, 1), "nothing", "write `return` before it"), ["return rb.item({})"]);
        assert_eq!(
            fixed("local a <const> = 1", (1, 9), "Luau has no `<const>`", "leave out `<const>`: `local` is enough"),
            ["local a = 1"]
        );
        assert_eq!(fixed("  goto done", (1, 3), "Luau has no `goto done`", "write `continue`"), ["  continue"]);
        assert_eq!(fixed("a || b", (1, 3), "`||` is no word", "write `or`"), ["a or b"]);
        assert_eq!(fixed("t:plays(1)", (1, 1), "a spec has no `t:plays`", &did("play")), ["t:play(1)"]);
        let text = "the text \"cripled\" stands nowhere else";
        assert_eq!(fixed("f(\"cripled\")", (1, 3), text, "did you mean \"crippled\"?"), ["f(\"crippled\")"]);
        let id = "the id `klub` does not match the file's name";
        assert_eq!(fixed("id = \"klub\",", (1, 5), id, "write id = \"club\""), ["id = \"club\","]);
        assert!(fixed("a", (1, 1), "`a` is odd", "declare it, or use another").is_empty());
        assert!(fixed("a", (9, 9), "`a` is odd", &did("b")).is_empty());
    }
}
