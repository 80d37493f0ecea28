//! The words and values of a data file, with their places.

use std::collections::BTreeSet;
use std::ops::Range;

use toml::Spanned;
use toml::de::DeValue;

use crate::place::pieces;
use riskbreaker_ruleset::{Document, Rulebook, Source, in_order};
use riskbreaker_state::Value;

/// The fewest letters of a word that is checked for a misspelling.
pub(super) const LETTERS: usize = 5;

/// A key or a text of a data file, or a part of it, with its byte range in the file.
struct DataWord {
    text: String,
    span: Range<usize>,
    is_key: bool,
}

/// Finds the place in the data files of a ruleset that an error message is about, as path, line and column.
///
/// It is a key or text that the message names, in the scenario or in a file of `cast/`. `None` if the message names
/// none.
pub(crate) fn blamed(rules: &Rulebook, scenario: &str, message: &str) -> Option<(String, (u32, u32))> {
    let stack = rules.stack();
    let scenario = format!("{scenario}.toml");
    let cast = stack.files_in("cast");
    let scenarios = stack.files_in("scenarios");
    let own = scenarios.iter().find(|(path, _)| path.rsplit('/').next() == Some(&*scenario)).map(|(_, found)| found.1);
    let sources: Vec<&Source> = own.into_iter().chain(cast.values().map(|(_, source)| *source)).collect();
    let words: Vec<(usize, DataWord)> = sources
        .iter()
        .enumerate()
        .flat_map(|(at, source)| words_of(source).into_iter().map(move |word| (at, word)))
        .collect();
    let often = |text: &str| words.iter().filter(|(_, word)| word.text == text).count();
    // For the message "the field `health` takes a whole number, not a text (8)", find the entry with that key and that
    // value. In the scenario, setting up stops at the first such entry; in `cast/`, the entry is certain only if there
    // is one.
    let entries: Vec<(usize, DataEntry)> = sources
        .iter()
        .enumerate()
        .flat_map(|(at, source)| entries_of(source).into_iter().map(move |entry| (at, entry)))
        .collect();
    let found_at = |(at, entry): &(usize, DataEntry)| Some((sources[*at].path.clone(), entry.at));
    let said = |(_, entry): &&(usize, DataEntry)| names_value(message, &entry.value);
    let of_ours = |(at, _): &&(usize, DataEntry)| *at == 0 && own.is_some();
    let mut named = entries.iter().filter(said).filter(|(_, entry)| message.contains(&format!("`{}`", entry.key)));
    if let Some(first) = named.next()
        && (of_ours(&first) || named.next().is_none())
    {
        return found_at(first);
    }
    // A script may keep the value under another name, or fail before a field takes it.
    let elsewhere: Vec<DataEntry> = scenarios
        .values()
        .map(|(_, source)| *source)
        .filter(|source| own.is_none_or(|own| own.path != source.path))
        .flat_map(entries_of)
        .collect();
    let unlike_others = |(_, one): &&(usize, DataEntry)| {
        let shape = |entry: &DataEntry| (entry.listed, std::mem::discriminant(&entry.value));
        let mut others = elsewhere.iter().filter(|other| other.key == one.key).peekable();
        others.peek().is_some() && others.all(|other| shape(other) != shape(one))
    };
    let ours = || entries.iter().filter(of_ours);
    for found in [ours().filter(said).collect::<Vec<_>>(), ours().filter(unlike_others).collect()] {
        if let [only] = found.as_slice() {
            return found_at(only);
        }
    }
    // In "takes one of these, not that", the last word is the wrong value.
    let given = message.rsplit_once(" not ").map(|(_, given)| given).into_iter();
    // After a colon, the message lists the possible values.
    let wrong = message.split_once(": ").map(|(wrong, _)| wrong).into_iter();
    for told in given.chain(wrong).chain([message]) {
        let small = told.to_lowercase();
        let named = words.iter().filter(|(at, word)| {
            // Messages use display names: `Knight` for the scenario's `knight`.
            let ours = *at == 0 && own.is_some() && word.text.chars().count() > 2;
            stands_in(told, &word.text) || ours && stands_in(&small, &word.text.to_lowercase())
        });
        // In `cast/`, only a word that occurs once identifies an entry.
        let sure = |word: &DataWord| often(&word.text) == 1 && (word.is_key || word.text.chars().count() > 2);
        let telling = named.filter(|(at, word)| (*at == 0 && own.is_some()) || sure(word));
        // Prefer the rarest word, then a value to a key.
        let first = |word: &DataWord| told.find(&word.text).unwrap_or(usize::MAX);
        let best = telling.min_by_key(|(at, word)| (often(&word.text), word.is_key, *at, first(word)));
        if let Some((at, word)) = best {
            return Some((sources[*at].path.clone(), sources[*at].position(word.span.start)));
        }
    }
    None
}

/// Whether a message says that this value is wrong: `... not a text (8)`, `of at least 1, not 0`, `this is the text "2"`.
fn names_value(message: &str, value: &Value) -> bool {
    let ends = |said: String| {
        let continues = |rest: &str| rest.starts_with(|letter: char| letter.is_alphanumeric() || letter == '.');
        message.match_indices(&said).any(|(at, _)| !continues(&message[at + said.len()..]))
    };
    message.ends_with(&format!("({value})"))
        || match value {
            Value::Int(number) => ends(format!(" not {number}")) || ends(format!("this is the number {number}")),
            Value::Text(text) => {
                ends(format!("this is the text \"{text}\"")) || message.ends_with(&format!(", not {text}"))
            }
            _ => false,
        }
}

/// Finds the place in a file of `cast/` that a message is about: the first value that the message names together with
/// its key, or else a value, or else a key. `None` if the message names none.
pub(crate) fn blamed_in(source: &Source, message: &str) -> Option<(u32, u32)> {
    let entries = entries_of(source);
    let value = |entry: &DataEntry| match &entry.value {
        Value::Text(text) => text.chars().count() > 2 && message.contains(&**text),
        other => stands_in(message, &other.to_string()),
    };
    let key = |entry: &DataEntry| stands_in(message, &entry.key);
    let both = entries.iter().find(|entry| key(entry) && value(entry));
    let text = || entries.iter().find(|entry| entry.value.as_text().is_some() && value(entry));
    let found = both.or_else(text).or_else(|| entries.iter().find(|entry| key(entry)));
    found.map(|entry| entry.at)
}

/// Whether a message contains a word as a whole word.
pub(super) fn stands_in(message: &str, word: &str) -> bool {
    let part = |letter: char| letter.is_alphanumeric() || letter == '_';
    word.chars().count() > 1
        && message
            .match_indices(word)
            .any(|(at, _)| !message[..at].ends_with(part) && !message[at + word.len()..].starts_with(part))
}

/// A value of a data file that is not a table, alone or in a list, with its key.
pub(crate) struct DataEntry {
    pub key: String,
    pub value: Value,
    /// Whether the value is an element of a list.
    pub listed: bool,
    /// Whether the key is at the top level of the file.
    pub at_top: bool,
    pub at: (u32, u32),
}

/// A key of a table in a data file, with the key of the table itself, which is at the top level.
pub(crate) struct DataKey {
    pub table: String,
    pub key: String,
    pub at: (u32, u32),
}

/// Returns the keys of the tables at the top level of a data file.
pub(crate) fn keys_of_tables(source: &Source) -> Vec<DataKey> {
    let read = Document::read(source, |document| {
        let mut keys = Vec::new();
        for entry in in_order(document.root()) {
            let DeValue::Table(table) = entry.value else { continue };
            for inner in in_order(table) {
                let at = source.position(inner.key_span.start);
                keys.push(DataKey { table: entry.key.to_owned(), key: inner.key.to_owned(), at });
            }
        }
        Ok(keys)
    });
    read.unwrap_or_default()
}

/// Returns the values of a data file that are not tables, in the order of the file.
pub(crate) fn entries_of(source: &Source) -> Vec<DataEntry> {
    struct DataFinder<'s> {
        source: &'s Source,
        found: Vec<DataEntry>,
    }
    impl DataFinder<'_> {
        fn note(&mut self, key: &str, value: &DeValue<'_>, span: &Range<usize>, at_top: bool, listed: bool) {
            let value = match value {
                DeValue::Table(table) => {
                    in_order(table)
                        .iter()
                        .for_each(|entry| self.note(entry.key, entry.value, &entry.span, false, false));
                    return;
                }
                DeValue::Array(items) => {
                    return items.iter().for_each(|item| self.note(key, item.get_ref(), &item.span(), at_top, true));
                }
                DeValue::String(text) => Value::text(&**text),
                DeValue::Boolean(yes) => Value::Bool(*yes),
                DeValue::Integer(number) => number.as_str().parse().map_or(Value::None, Value::Int),
                _ => return,
            };
            let at = self.source.position(span.start);
            self.found.push(DataEntry { key: key.to_string(), value, listed, at_top, at });
        }
    }
    let read = Document::read(source, |document| {
        let mut finder = DataFinder { source, found: Vec::new() };
        for entry in in_order(document.root()) {
            finder.note(entry.key, entry.value, &entry.span, true, false);
        }
        Ok(finder.found)
    });
    read.unwrap_or_default()
}

fn words_of(source: &Source) -> Vec<DataWord> {
    fn of_value(value: &DeValue<'_>, span: Range<usize>, words: &mut Vec<DataWord>) {
        match value {
            DeValue::Table(table) => {
                for entry in in_order(table) {
                    words.push(DataWord { text: entry.key.to_string(), span: entry.key_span, is_key: true });
                    of_value(entry.value, entry.span, words);
                }
            }
            DeValue::Array(items) => {
                items.iter().for_each(|item: &Spanned<_>| of_value(item.get_ref(), item.span(), words))
            }
            DeValue::String(text) => {
                words.push(DataWord { text: text.to_string(), span: span.clone(), is_key: false });
                let said: BTreeSet<&str> = pieces(text).chain(text.split([';', ':', ',', '=', ' '])).collect();
                let pieces = said.into_iter().filter(|piece| *piece != &**text && !piece.is_empty());
                words.extend(pieces.map(|piece| DataWord {
                    text: piece.to_string(),
                    span: span.clone(),
                    is_key: false,
                }));
            }
            DeValue::Integer(number) => words.push(DataWord { text: number.as_str().to_string(), span, is_key: false }),
            _ => {}
        }
    }
    let read = Document::read(source, |document| {
        let mut words = Vec::new();
        for entry in in_order(document.root()) {
            if matches!(entry.key, "title" | "text") {
                continue;
            }
            words.push(DataWord { text: entry.key.to_string(), span: entry.key_span, is_key: true });
            of_value(entry.value, entry.span, &mut words);
        }
        Ok(words)
    });
    read.unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_is_named_whole() {
        assert!(stands_in("`figther` is nobody", "figther") && stands_in("by roundd: no", "roundd"));
        assert!(!stands_in("rounds continue", "round") && !stands_in("a b", "a"));
    }
}
