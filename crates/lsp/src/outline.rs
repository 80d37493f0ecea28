//! The declarations of a file, from its tokens, so that a file that does not parse has an outline, too.

use std::ops::Range;

use super::target::code;
use super::token::TokenKind;
use riskbreaker_spec::leading_ids;

/// A declaration in a file.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct OutlineItem {
    pub name: String,
    pub sort: OutlineSort,
    /// The keys of the tables around it, the outermost first.
    pub around: Vec<String>,
    /// The bytes of its name.
    pub range: Range<usize>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum OutlineSort {
    /// A key of a table in a script or a data file.
    Key,
    Function,
    Spec,
    Rule,
    Heading,
}

/// The declarations of a file, in the order of the text.
pub(super) fn outline(inside: &str, text: &str) -> Vec<OutlineItem> {
    match inside.rsplit('.').next() {
        Some("luau" | "lua") => of_script(text),
        Some("toml") => of_data(text),
        _ => of_prose(text),
    }
}

/// The depth to which nested tables are followed.
const DEEPEST: usize = 32;

fn of_script(text: &str) -> Vec<OutlineItem> {
    let tokens = code(text);
    let mut found = Vec::new();
    // The key of each open bracket; `None` for a bracket without a key.
    let mut open: Vec<Option<String>> = Vec::new();
    let mut key: Option<String> = None;
    for (index, token) in tokens.iter().enumerate() {
        let word = token.text(text);
        let next = |on: usize| tokens.get(index + on).map_or("", |token| token.text(text));
        let before = index.checked_sub(1).map_or("", |at| tokens[at].text(text));
        match (token.kind, word) {
            (TokenKind::Sign, "{") => open.push(key.take()),
            (TokenKind::Sign, "}") => {
                open.pop();
            }
            (TokenKind::Name, "function") if before == "local" => {
                if let Some(name) = tokens.get(index + 1).filter(|next| next.kind == TokenKind::Name) {
                    let (name, range) = (name.text(text).to_owned(), name.begin..name.end);
                    found.push(OutlineItem { name, sort: OutlineSort::Function, around: Vec::new(), range });
                }
            }
            (TokenKind::Name, "spec" | "cases") if before == "." => {
                if let Some(name) = tokens.get(index + 2).filter(|next| next.kind == TokenKind::Text) {
                    let range = name.inner(text);
                    let name = text[range.clone()].to_owned();
                    found.push(OutlineItem { name, sort: OutlineSort::Spec, around: Vec::new(), range });
                }
            }
            (TokenKind::Name, _) if matches!(before, "{" | "," | ";") && next(1) == "=" && next(2) != "=" => {
                let around: Vec<String> = open.iter().flatten().take(DEEPEST).cloned().collect();
                let range = token.begin..token.end;
                found.push(OutlineItem { name: word.to_owned(), sort: OutlineSort::Key, around, range });
                key = Some(word.to_owned());
            }
            // The value of a key follows it.
            (TokenKind::Sign, ",") => key = None,
            _ => {}
        }
    }
    found
}

fn of_data(text: &str) -> Vec<OutlineItem> {
    let (mut found, mut section, mut begin) = (Vec::new(), Vec::new(), 0);
    for line in text.split_inclusive('\n') {
        let trimmed = line.trim_start();
        let at = begin + line.len() - trimmed.len();
        begin += line.len();
        if let Some(rest) = trimmed.strip_prefix('[') {
            let inner = rest.trim_start_matches('[');
            let name = inner.split(']').next().unwrap_or_default();
            section = name.split('.').map(|part| part.trim().trim_matches('"').to_owned()).collect();
            let (Some(last), from) = (section.last().cloned(), at + trimmed.len() - inner.len()) else { continue };
            let place = from + name.rfind(&*last).unwrap_or_default();
            let around = section[..section.len() - 1].to_vec();
            found.push(OutlineItem { range: place..place + last.len(), name: last, sort: OutlineSort::Key, around });
        } else if let Some((key, _)) = trimmed.split_once('=') {
            let key = key.trim_end().trim_matches('"');
            if !key.is_empty() && key.chars().all(|letter| letter.is_alphanumeric() || matches!(letter, '_' | '-')) {
                let place = at + usize::from(trimmed.starts_with('"'));
                let range = place..place + key.len();
                found.push(OutlineItem {
                    name: key.to_owned(),
                    sort: OutlineSort::Key,
                    around: section.clone(),
                    range,
                });
            }
        }
    }
    found
}

fn of_prose(text: &str) -> Vec<OutlineItem> {
    let (mut found, mut begin) = (Vec::new(), 0);
    for line in text.split_inclusive('\n') {
        let title = line.trim_start_matches('#').trim();
        if line.starts_with('#') && !title.is_empty() {
            let at = begin + line.find(title).unwrap_or_default();
            let range = at..at + title.len();
            found.push(OutlineItem { name: title.to_owned(), sort: OutlineSort::Heading, around: Vec::new(), range });
        }
        for id in leading_ids(line) {
            // The ids in the middle of a range are not written.
            let at = line.find(&*id).map_or(begin, |at| begin + at);
            let range = at..at + if text[at..].starts_with(&*id) { id.len() } else { 0 };
            found.push(OutlineItem { name: id, sort: OutlineSort::Rule, around: Vec::new(), range });
        }
        begin += line.len();
    }
    found
}

/// The text of a rule: the block that begins with its id, up to the next rule.
pub(super) fn rule_text(text: &str, id: &str) -> Option<String> {
    let lines: Vec<&str> = text.lines().collect();
    let first = lines.iter().position(|line| leading_ids(line).iter().any(|found| found == id))?;
    let goes_on = |line: &&&str| {
        let trimmed = line.trim();
        !trimmed.is_empty() && !trimmed.starts_with(['#', '|', '-', '*', '+'])
    };
    let line = lines[first].trim();
    let item = ["- ", "* ", "+ "].iter().find_map(|mark| line.strip_prefix(mark)).unwrap_or(line);
    let rest = lines[first + 1..].iter().take_while(goes_on).map(|line| line.trim());
    let all: Vec<&str> = std::iter::once(item).chain(rest).collect();
    Some(all.join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn listed(inside: &str, text: &str) -> Vec<String> {
        let show = |declared: OutlineItem| {
            assert_eq!(text[declared.range.clone()], declared.name);
            [declared.around, vec![declared.name]].concat().join("/")
        };
        outline(inside, text).into_iter().map(show).collect()
    }

    #[test]
    fn the_outline_of_a_file_lists_its_declarations() {
        let kinds = "return rb.kinds({ foe = { title = \"name\", fields = { hits = rb.int({ min = 0 }), name = rb.text() } } })";
        assert_eq!(
            listed("kinds.luau", kinds),
            ["foe", "foe/title", "foe/fields", "foe/fields/hits", "foe/fields/hits/min", "foe/fields/name"]
        );
        assert_eq!(listed("lib/x.luau", "local function near(a)\n\tx == 1\nend"), ["near"]);
        assert_eq!(listed("specs/x.luau", "rb.spec(\"A-1: it\", function(t)"), ["A-1: it"]);
        assert_eq!(
            listed("ruleset.toml", "id = \"g\"\n[switches.fast]\n  text = \"x\"\n"),
            ["id", "switches/fast", "switches/fast/text"]
        );
        assert_eq!(listed("RULES.md", "# Game\n\n- **G-1** One.\n  More.\n- **G-2** Two.\n"), ["Game", "G-1", "G-2"]);
        assert_eq!(
            rule_text("- **G-1** One.\n  More.\n- **G-2** Two.\n", "G-1").as_deref(),
            Some("**G-1** One. More.")
        );
    }
}
