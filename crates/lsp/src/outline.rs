//! The declarations of a file, from its tokens, so that a file that does not parse has an outline, too.

use std::ops::Range;

use super::completion::stem_of;
use super::scopes::Scopes;
use super::target::code;
use super::token::{Token, TokenKind};
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
    /// The bytes of the whole declaration.
    pub whole: Range<usize>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum OutlineSort {
    /// A file that declares what it is called: a card, an item, a hook or a policy; a character or a scenario.
    File,
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
        Some("luau" | "lua") => ScriptOutline::of(inside, text),
        Some("toml") => of_data(inside, text),
        _ => of_prose(text),
    }
}

/// The depth to which nested tables are followed.
const DEEPEST: usize = 32;

/// The words that declare the card, item, hook or policy of a file.
const OF_FILES: [&str; 4] = ["maneuver", "item", "hook", "policy"];

/// An open bracket of a script.
struct OpenBracket {
    /// The key whose value it begins.
    key: Option<String>,
    /// The item of that key.
    item: Option<usize>,
    /// The item that ends with the bracket.
    ends: Option<usize>,
}

struct ScriptOutline<'t> {
    text: &'t str,
    tokens: Vec<Token>,
    found: Vec<OutlineItem>,
    open: Vec<OpenBracket>,
    /// The key whose value is being read, with its item.
    key: Option<(String, usize)>,
}

impl ScriptOutline<'_> {
    /// The declarations of a script. Tables inside functions declare nothing.
    fn of(inside: &str, text: &str) -> Vec<OutlineItem> {
        let mut reader = ScriptOutline { text, tokens: code(text), found: Vec::new(), open: Vec::new(), key: None };
        let mut bodies = Scopes::of(text).bodies;
        bodies.sort_by_key(|body| body.start);
        let mut within = 0;
        for index in 0..reader.tokens.len() {
            let begin = reader.tokens[index].begin;
            if begin < within {
                continue;
            }
            match bodies.iter().find(|body| body.contains(&begin)) {
                Some(body) => within = body.end,
                None => reader.token(inside, index),
            }
        }
        for item in reader.found.iter_mut().filter(|item| item.sort == OutlineSort::Function) {
            let body = bodies.iter().find(|body| body.start > item.whole.start && body.start <= item.range.end);
            item.whole.end = body.map_or(item.range.end, |body| (body.end + "end".len()).min(text.len()));
        }
        reader.found
    }

    fn word(&self, at: usize) -> &str {
        self.tokens.get(at).map_or("", |token| token.text(self.text))
    }

    fn before(&self, at: usize, back: usize) -> &str {
        at.checked_sub(back).map_or("", |at| self.word(at))
    }

    fn add(&mut self, name: String, sort: OutlineSort, range: Range<usize>, begin: usize) -> usize {
        let around = match sort {
            OutlineSort::Key => self.open.iter().filter_map(|open| open.key.clone()).take(DEEPEST).collect(),
            _ => Vec::new(),
        };
        let whole = begin..range.end;
        self.found.push(OutlineItem { name, sort, around, range, whole });
        self.found.len() - 1
    }

    fn token(&mut self, inside: &str, index: usize) {
        let token = self.tokens[index];
        let begin_of = |back: usize| self.tokens[index - back.min(index)].begin;
        match (token.kind, token.text(self.text)) {
            (TokenKind::Sign, "(" | "{" | "[") => {
                let ends = self.found.len().checked_sub(1).filter(|last| {
                    let item = &self.found[*last];
                    let is_call = item.sort == OutlineSort::Spec && self.before(index, 2) == ".";
                    is_call || item.sort == OutlineSort::File && item.range.end == self.tokens[index - 1].end
                });
                let (key, item) = self.key.take().unzip();
                self.open.push(OpenBracket { key, item, ends });
            }
            (TokenKind::Sign, ")" | "}" | "]") => {
                let before = index.checked_sub(1).map_or(0, |at| self.tokens[at].end);
                self.end_key(before);
                if let Some(closed) = self.open.pop() {
                    if let Some(ended) = closed.ends {
                        self.found[ended].whole.end = token.end;
                    }
                    self.key = closed.key.zip(closed.item);
                }
            }
            (TokenKind::Sign, "," | ";") => {
                let before = index.checked_sub(1).map_or(0, |at| self.tokens[at].end);
                self.end_key(before);
            }
            (TokenKind::Name, "function") if self.before(index, 1) == "local" => {
                if let Some(name) = self.tokens.get(index + 1).filter(|next| next.kind == TokenKind::Name).copied() {
                    let begin = begin_of(1);
                    self.add(name.text(self.text).to_owned(), OutlineSort::Function, name.begin..name.end, begin);
                }
            }
            (TokenKind::Name, "spec" | "cases") if self.before(index, 1) == "." && self.word(index + 1) == "(" => {
                let named = self.tokens.get(index + 2).filter(|next| next.kind == TokenKind::Text);
                if let Some(range) = named.map(|name| name.inner(self.text)) {
                    let begin = begin_of(2);
                    self.add(self.text[range.clone()].to_owned(), OutlineSort::Spec, range, begin);
                }
            }
            (TokenKind::Name, word)
                if OF_FILES.contains(&word) && self.before(index, 2) == "rb" && self.open.is_empty() =>
            {
                let begin = begin_of(2);
                self.add(stem_of(inside).to_owned(), OutlineSort::File, token.begin..token.end, begin);
            }
            (TokenKind::Name, word) if self.is_key(index) => {
                let name = word.to_owned();
                let item = self.add(name.clone(), OutlineSort::Key, token.begin..token.end, token.begin);
                self.key = Some((name, item));
            }
            _ => {}
        }
    }

    fn is_key(&self, index: usize) -> bool {
        let before = self.before(index, 1);
        matches!(before, "{" | "," | ";") && self.word(index + 1) == "=" && self.word(index + 2) != "="
    }

    /// Ends the key whose value is being read.
    fn end_key(&mut self, end: usize) {
        if let Some((_, item)) = self.key.take() {
            self.found[item].whole.end = end;
        }
    }
}

fn of_data(inside: &str, text: &str) -> Vec<OutlineItem> {
    let (mut found, mut section, mut begin) = (Vec::new(), Vec::new(), 0);
    if ["cast/", "scenarios/"].iter().any(|folder| inside.starts_with(folder)) {
        let (name, sort) = (stem_of(inside).to_owned(), OutlineSort::File);
        found.push(OutlineItem { name, sort, around: Vec::new(), range: 0..0, whole: 0..text.len() });
    }
    let mut header: Option<usize> = None;
    for line in text.split_inclusive('\n') {
        let trimmed = line.trim_start();
        let at = begin + line.len() - trimmed.len();
        let end = at + trimmed.trim_end().len();
        begin += line.len();
        if let Some(rest) = trimmed.strip_prefix('[') {
            let inner = rest.trim_start_matches('[');
            let name = inner.split(']').next().unwrap_or_default();
            section = name.split('.').map(|part| part.trim().trim_matches('"').to_owned()).collect::<Vec<_>>();
            let (Some(last), from) = (section.last().cloned(), at + trimmed.len() - inner.len()) else { continue };
            let place = from + name.rfind(&*last).unwrap_or_default();
            let around = section[..section.len() - 1].to_vec();
            header = Some(found.len());
            let (range, whole) = (place..place + last.len(), at..end);
            found.push(OutlineItem { range, whole, name: last, sort: OutlineSort::Key, around });
        } else if let Some((key, _)) = trimmed.split_once('=') {
            let key = key.trim_end().trim_matches('"');
            if !key.is_empty() && key.chars().all(|letter| letter.is_alphanumeric() || matches!(letter, '_' | '-')) {
                let place = at + usize::from(trimmed.starts_with('"'));
                let (range, whole) = (place..place + key.len(), at..end);
                let (name, around, sort) = (key.to_owned(), section.clone(), OutlineSort::Key);
                found.push(OutlineItem { name, sort, around, range, whole });
            }
        }
        if let Some(header) = header.filter(|_| !trimmed.trim().is_empty()) {
            found[header].whole.end = end;
        }
    }
    found
}

fn of_prose(text: &str) -> Vec<OutlineItem> {
    let (mut found, mut begin): (Vec<OutlineItem>, usize) = (Vec::new(), 0);
    // The headings whose sections are not over, with their levels.
    let mut sections: Vec<(usize, usize)> = Vec::new();
    for line in text.split_inclusive('\n') {
        let title = line.trim_start_matches('#').trim();
        let end = begin + line.trim_end().len();
        if line.starts_with('#') && !title.is_empty() {
            let level = line.bytes().take_while(|byte| *byte == b'#').count();
            sections.retain(|(_, above)| *above < level);
            sections.push((found.len(), level));
            let at = begin + line.find(title).unwrap_or_default();
            let (range, name) = (at..at + title.len(), title.to_owned());
            found.push(OutlineItem { name, sort: OutlineSort::Heading, around: Vec::new(), range, whole: begin..end });
        }
        for id in leading_ids(line) {
            // The ids in the middle of a range are not written.
            let at = line.find(&*id).map_or(begin, |at| begin + at);
            let range = at..at + if text[at..].starts_with(&*id) { id.len() } else { 0 };
            found.push(OutlineItem { name: id, sort: OutlineSort::Rule, around: Vec::new(), range, whole: begin..end });
        }
        if !line.trim().is_empty() {
            sections.iter().for_each(|(index, _)| found[*index].whole.end = end);
        }
        begin += line.len();
    }
    found
}

/// The text of a rule: the block that begins with its id, up to the next rule.
pub(super) fn rule_text(text: &str, id: &str) -> Option<String> {
    rules_of(text).find(|(ids, _)| ids.iter().any(|found| found == id)).map(|(_, sentence)| sentence)
}

/// The rules of a text: the ids of each block, and its text up to the next block.
pub(super) fn rules_of(text: &str) -> impl Iterator<Item = (Vec<String>, String)> {
    let lines: Vec<&str> = text.lines().collect();
    let first: Vec<(usize, Vec<String>)> =
        lines.iter().enumerate().map(|(at, line)| (at, leading_ids(line))).filter(|(_, ids)| !ids.is_empty()).collect();
    first.into_iter().map(move |(first, ids)| {
        let goes_on = |line: &&&str| {
            let trimmed = line.trim();
            !trimmed.is_empty() && !trimmed.starts_with(['#', '|', '-', '*', '+'])
        };
        let line = lines[first].trim();
        let item = ["- ", "* ", "+ "].iter().find_map(|mark| line.strip_prefix(mark)).unwrap_or(line);
        let rest = lines[first + 1..].iter().take_while(goes_on).map(|line| line.trim());
        let all: Vec<&str> = std::iter::once(item).chain(rest).collect();
        (ids, all.join(" "))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn listed(inside: &str, text: &str) -> Vec<String> {
        let show = |declared: OutlineItem| {
            assert!(text[declared.range.clone()] == declared.name || declared.sort == OutlineSort::File);
            assert!(declared.whole.start <= declared.range.start && declared.range.end <= declared.whole.end);
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
        let play = "return rb.play({ entries = { turn = function(a) local c = { foe = 1 } end }, context = { foe = rb.ref() } })";
        assert_eq!(listed("play.luau", play), ["entries", "entries/turn", "context", "context/foe"]);
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

    #[test]
    fn the_outline_has_the_range_of_each_declaration() {
        let whole = |inside: &str, text: &str, name: &str| {
            let found = outline(inside, text).into_iter().find(|item| item.name == name).unwrap();
            text[found.whole].to_owned()
        };
        let card = "local rb = 1\nlocal function f(a)\n\treturn a\nend\nreturn rb.maneuver({\n\tharm = f(1, 2),\n\tresolve = function(ctx)\n\t\tf(ctx)\n\tend,\n})\n";
        assert_eq!(whole("maneuvers/jab.luau", card, "f"), "local function f(a)\n\treturn a\nend");
        assert_eq!(whole("maneuvers/jab.luau", card, "harm"), "harm = f(1, 2)");
        assert_eq!(whole("maneuvers/jab.luau", card, "resolve"), "resolve = function(ctx)\n\t\tf(ctx)\n\tend");
        assert!(whole("maneuvers/jab.luau", card, "jab").ends_with("\n})"));
        let spec = "rb.spec(\"A-1: it\", { \"A-1\" }, function(t)\n\tt:dice(1)\nend)\n";
        assert_eq!(whole("specs/x.luau", spec, "A-1: it"), spec.trim_end());
        assert_eq!(whole("ruleset.toml", "a = 1\n[seats]\nb = 2\n\n[c]\n", "seats"), "[seats]\nb = 2");
        assert_eq!(whole("RULES.md", "# A\n\n## B\n\n- **A-1** x\n\n## C\n", "B"), "## B\n\n- **A-1** x");
    }
}
