//! The meaning of a word on the screen, from the rule texts, the kinds, and the hooks of entities.

use riskbreaker::state::readable_name;
use riskbreaker::{Ruleset, Value};

use super::Repl;
use crate::cli::rule_text::paragraphs;

/// The most rules that are named for a word.
const MOST_RULES: usize = 4;

/// The explanation of a word, as labels and texts.
pub type GlossaryEntry = Vec<(String, String)>;

impl Repl {
    /// Explains a word; `None` if no text of the rules contains it.
    pub(super) fn meaning_of(&self, word: &str) -> Option<GlossaryEntry> {
        let rules = self.session.ruleset();
        let mut entry: GlossaryEntry = defined(rules, word).into_iter().collect();
        entry.extend(self.field_called(word));
        entry.extend(self.listed_with(word));
        entry.extend(rules_about(rules, word));
        (!entry.is_empty()).then_some(entry)
    }

    /// True if the rule texts define a word.
    pub(super) fn is_defined(&self, word: &str) -> bool {
        self.definition_of(word).is_some()
    }

    /// Returns the definition of a word in the rule texts, with the word as written there.
    pub(super) fn definition_of(&self, word: &str) -> Option<(String, String)> {
        defined(self.session.ruleset(), word)
    }

    /// Returns the fields and derived values with this name or label.
    fn field_called(&self, word: &str) -> GlossaryEntry {
        let wanted = plain(word);
        let mut found: GlossaryEntry = Vec::new();
        for kind in &self.session.ruleset().schema().kinds {
            let fields = kind.fields.iter().filter(|field| field.show);
            let mut named: Vec<(String, String)> =
                fields.map(|field| (field.name.to_string(), field.label.to_string())).collect();
            named.extend(kind.derived.iter().map(|name| (name.to_string(), readable_name(name))));
            for (name, label) in named {
                let same = |text: &str| {
                    let text = plain(text);
                    let initials: String = text.split(' ').filter_map(|part| part.chars().next()).collect();
                    text == wanted
                        || initials == wanted && wanted.len() > 1
                        || text.split(' ').any(|part| part == wanted) && wanted.len() > 3
                };
                if same(&name) || same(&label) {
                    let text = format!("a value of each {} (`why NAME {label}`)", readable_name(&kind.name));
                    if !found.iter().any(|(_, known)| *known == text) {
                        found.push((label, text));
                    }
                }
            }
        }
        found.truncate(2);
        found
    }

    /// True if a word is in a list field of somebody, such as a skill, or names a field.
    pub(super) fn is_listed(&self, word: &str) -> bool {
        self.listed_with(word).is_some() || !self.field_called(word).is_empty()
    }

    /// Returns who has the word in a list field, such as a skill.
    fn listed_with(&self, word: &str) -> Option<(String, String)> {
        let view = self.session.view();
        let mut found: Option<(String, String)> = None;
        let mut holders: Vec<String> = Vec::new();
        for id in view.entities() {
            for (field, value) in view.fields(id).filter(|(field, _)| field.show) {
                let Value::List(items) = value else { continue };
                let item = items.iter().filter_map(Value::as_text).find(|item| plain(item) == plain(word));
                if let Some(item) = item {
                    found.get_or_insert_with(|| (item.to_owned(), field.label.to_string()));
                    holders.push(view.title(id).to_string());
                }
            }
        }
        holders.dedup();
        found.map(|(item, field)| (item, format!("one of the {field} of {}", holders.join(", "))))
    }
}

/// Finds the definition of a word in the rule texts: `- **Word** text`. The definition in the topmost layer wins.
fn defined(rules: &Ruleset, word: &str) -> Option<(String, String)> {
    let texts: Vec<&str> = rules.rule_texts().map(|(_, text)| text).collect();
    texts.iter().rev().flat_map(|text| paragraphs(text)).find_map(|line| {
        let (label, text) = numbered(&line)?;
        same_word(label, word).then(|| (label.to_owned(), text.replace("**", "")))
    })
}

/// Returns the rules that contain a word: those under a heading with the word first, then rules, then rulings in
/// tables.
fn rules_about(rules: &Ruleset, word: &str) -> GlossaryEntry {
    let mut found: Vec<(u8, usize, String, String)> = Vec::new();
    let texts: Vec<&str> = rules.rule_texts().map(|(_, text)| text).collect();
    let mut headed = false;
    for (order, line) in texts.iter().rev().flat_map(|text| paragraphs(text)).enumerate() {
        if line.starts_with('#') {
            headed = stands_at(&line, word).is_some();
        }
        let Some((id, text)) = numbered(&line) else { continue };
        // A table may only refer to an example in a spec.
        if stands_at(text, word).is_none() || text.contains("`specs/") || same_word(id, word) {
            continue;
        }
        // Rules explain a word better than other entries of the glossary.
        let is_rule = id.contains('-') && id.bytes().any(|byte| byte.is_ascii_digit());
        let rank = match (line.trim_start().starts_with('|'), is_rule) {
            (true, _) => 3,
            (false, false) => 2,
            (false, true) => u8::from(!headed),
        };
        found.push((rank, order, id.to_owned(), text.replace("**", "")));
    }
    found.sort();
    found.dedup_by(|one, two| one.2 == two.2);
    found.into_iter().take(MOST_RULES).map(|(.., id, text)| (id, text)).collect()
}

/// The id and text of a numbered rule: `- **X-1** text`, or a row of a table of rulings.
fn numbered(line: &str) -> Option<(&str, &str)> {
    let line = line.trim();
    if let Some(item) = line.strip_prefix("- **") {
        let (id, text) = item.split_once("**")?;
        return Some((id, text.trim_start_matches([':', ' '])));
    }
    let row = line.strip_prefix('|')?.trim_end_matches('|');
    let mut cells = row.split('|').map(str::trim);
    let (id, text) = (cells.next()?.trim_matches('*'), cells.next()?);
    (id.contains('-') && id.bytes().any(|byte| byte.is_ascii_digit())).then_some((id, text))
}

/// The offset of a word or phrase in a text, in singular or plural; `None` if the text does not contain it.
pub(super) fn stands_at(text: &str, word: &str) -> Option<usize> {
    let (text, word) = (plain(text), plain(word));
    let stem = word.strip_suffix('s').filter(|stem| stem.len() > 2).unwrap_or(&word);
    let letter = |letter: char| letter.is_alphanumeric();
    text.match_indices(stem).map(|(at, _)| at).find(|at| {
        let rest = text[at + stem.len()..].strip_prefix('s').unwrap_or(&text[at + stem.len()..]);
        !text[..*at].ends_with(letter) && !rest.starts_with(letter)
    })
}

/// True if two labels are the same word, in singular or plural.
fn same_word(one: &str, other: &str) -> bool {
    let (one, other) = (plain(one), plain(other));
    one == other || one.strip_suffix('s') == Some(&*other) || other.strip_suffix('s') == Some(&*one)
}

/// Converts a text to lower case, with blanks for `_` and `-`.
fn plain(text: &str) -> String {
    text.trim().to_lowercase().replace(['_', '-'], " ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_is_found_whole_in_either_number() {
        assert_eq!(stands_at("Marks one combat counter.", "counters"), Some(17));
        assert_eq!(stands_at("What is owed lapses", "owed"), Some(8));
        assert_eq!(stands_at("The encounter ends", "counter"), None);
        assert_eq!(stands_at("The skill levels are compared", "skill level"), Some(4));
    }

    #[test]
    fn a_label_matches_only_the_whole_word() {
        assert!(same_word("Counter", "counters") && same_word("Skill levels", "skill_level"));
        assert!(!same_word("Combat counter", "counter") && !same_word("X-1", "x"));
    }

    #[test]
    fn items_and_rows_are_numbered_rules() {
        assert_eq!(numbered("- **X-1** Text."), Some(("X-1", "Text.")));
        assert_eq!(numbered("| X-A-2 | ruling | more |"), Some(("X-A-2", "ruling")));
        assert_eq!(numbered("| **X-A-3** | ruling | |"), Some(("X-A-3", "ruling")));
        assert_eq!(numbered("| word | meaning |"), None);
        assert_eq!(numbered("plain text"), None);
    }
}
