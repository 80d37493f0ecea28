//! Checks data files: unknown names, misspelt words, and positions that cannot be set up.

use std::ops::Range;

use toml::de::{DeTable, DeValue};

use crate::data_words::LETTERS;
use crate::lint::Lint;
use crate::lints;
use crate::misspelling::is_slip;
use crate::place::pieces;
use crate::symbols::known::KnownNames;
use riskbreaker_ruleset::{Cure, Document, Problem, Rulebook, Source, in_order, instead, slips};

/// Returns the problems of a data file: keys that nothing reads, unknown seats, policies and house rules, and words
/// that are one letter away from a known one.
pub(crate) fn findings(source: &Source, inside: &str, rules: &Rulebook, known: &KnownNames<'_>) -> Vec<Problem> {
    let read = Document::read(source, |document| {
        let mut reader = DataWordReader { document, rules, known, found: Vec::new() };
        let keys: Vec<&str> = in_order(document.root()).iter().map(|entry| entry.key).collect();
        for entry in in_order(document.root()) {
            if inside.starts_with("scenarios/") && reader.misspelt_key(entry.key, &entry.key_span, &keys) {
                continue;
            }
            let named = match (entry.key, entry.value) {
                ("seats", DeValue::Table(seats)) if inside.starts_with("scenarios/") => {
                    in_order(seats)
                        .iter()
                        .for_each(|seat| reader.seated(seat.key, &seat.key_span, seat.value, &seat.span));
                    true
                }
                ("switches", DeValue::Table(switches)) if inside.starts_with("scenarios/") => {
                    for switch in in_order(switches) {
                        reader.name("switch", switch.key, &switch.key_span);
                    }
                    true
                }
                (key, DeValue::Table(seats))
                    if inside.starts_with("scenarios/") && is_slip_of_seats(key) && reader.names_drivers(seats) =>
                {
                    let wrong = format!("`{key}` names policies, but nothing reads it");
                    reader.problem(&lints::unknown_key::LINT, &entry.key_span, wrong, Cure::meant(key, "seats"));
                    true
                }
                _ => false,
            };
            if !named {
                reader.entry(entry.key, &entry.key_span, entry.value, &entry.span);
            }
        }
        Ok(reader.found)
    });
    read.unwrap_or_default()
}

/// The number of texts under a key of data files from which on they count as all that are possible.
const MANY: usize = 4;

/// Whether a text has only small letters, digits and `_`.
fn is_like_an_id(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_' || byte.is_ascii_digit())
}

fn is_slip_of_seats(key: &str) -> bool {
    key != "seats" && slips(key, "seats", 2).is_some()
}

struct DataWordReader<'r> {
    document: &'r Document<'r>,
    rules: &'r Rulebook,
    known: &'r KnownNames<'r>,
    found: Vec<Problem>,
}

impl DataWordReader<'_> {
    pub(crate) fn problem(&mut self, lint: &Lint, span: &Range<usize>, message: String, cure: Cure) {
        self.found.push(lint.finds(self.document.problem(span, message)).with_cure(cure));
    }

    fn name(&mut self, sort: &str, name: &str, span: &Range<usize>) {
        if let Some((message, cure)) = self.known.wrong_name(sort, name) {
            self.problem(&lints::unknown_name::LINT, span, message, cure);
        }
    }

    /// Whether a table is not empty and all its values are policies, `human` or `absent`.
    fn names_drivers(&self, table: &DeTable<'_>) -> bool {
        let drivers: Vec<&str> =
            self.rules.policies().iter().map(|policy| &**policy).chain(["human", "absent"]).collect();
        let is_driver = |value: &DeValue<'_>| matches!(value, DeValue::String(name) if drivers.contains(&&**name));
        !table.is_empty() && table.values().all(|value| is_driver(value.get_ref()))
    }

    /// Reports an unknown seat or an unknown policy of a seat.
    fn seated(&mut self, seat: &str, key: &Range<usize>, driver: &DeValue<'_>, span: &Range<usize>) {
        if self.known.wrong_name("seat", seat).is_some() && self.known.names.keys_of_scenarios(seat).0 > 0 {
            let wrong = format!("`{seat}` is a key of a scenario, and no seat");
            return self.problem(&lints::unknown_name::LINT, key, wrong, "write it above `[seats]`".into());
        }
        self.name("seat", seat, key);
        let DeValue::String(driver) = driver else { return };
        let mut drivers: Vec<String> = self.rules.policies().iter().map(ToString::to_string).collect();
        drivers.extend(["human".to_string(), "absent".to_string()]);
        if !drivers.iter().any(|known| **known == **driver) {
            self.problem(
                &lints::unknown_name::LINT,
                span,
                format!("there is no policy `{driver}`"),
                self.known.instead_among(driver, &drivers, |known| !matches!(known, "human" | "absent")),
            );
        }
    }

    pub(crate) fn entry(&mut self, key: &str, key_span: &Range<usize>, value: &DeValue<'_>, span: &Range<usize>) {
        let names = &self.known.names;
        let plain = is_like_an_id(key);
        // The name of a seat is right, and what is near to it is misspelt.
        let is_seat = self.known.stack.seats().contains_key(key);
        if plain
            && !is_seat
            && !names.is_read(key)
            && let Some(near) = names.meant(key)
        {
            self.problem(&lints::unread_key::LINT, key_span, format!("nothing reads `{key}`"), Cure::meant(key, near));
        }
        if key == "seat"
            && let DeValue::String(seat) = value
        {
            return self.name("seat", seat, span);
        }
        if key == "cast"
            && let DeValue::String(name) = value
            && self.known.names("cast").is_some_and(|known| !known.is_empty())
        {
            return self.name("cast", name, span);
        }
        if matches!(key, "title" | "text" | "name") {
            return;
        }
        self.value(key, value, span);
    }

    fn value(&mut self, key: &str, value: &DeValue<'_>, span: &Range<usize>) {
        match value {
            DeValue::Table(table) => {
                for entry in in_order(table) {
                    self.entry(entry.key, &entry.key_span, entry.value, &entry.span);
                }
            }
            DeValue::Array(items) => items.iter().for_each(|item| self.value(key, item.get_ref(), &item.span())),
            DeValue::String(text) if self.is_odd_word(key, text, span) || self.is_title(key, text, span) => {}
            DeValue::String(text) => {
                // The word before an equals sign is a free name.
                let words = text.split_once('=').map_or(&**text, |(_, words)| words);
                for word in pieces(words) {
                    self.slip(word, span);
                    self.misspelt_cast(word, span);
                }
            }
            _ => {}
        }
    }

    /// Reports the first word of a text that is almost the name of a file of `cast/`: `solider at 25, 2`.
    fn misspelt_cast(&mut self, text: &str, span: &Range<usize>) {
        let Some((word, _)) = text.split_once(' ') else { return };
        let names = &self.known.names;
        if word.len() < LETTERS || names.times(word) > 0 || names.is_given(word) || names.said(word) > 0 {
            return;
        }
        let cast = self.rules.names_of("cast").unwrap_or_default();
        if cast.contains(&word) {
            return;
        }
        if let Some(meant) = cast.into_iter().find(|other| is_slip(word, other)) {
            let cure = Cure::meant(word, meant);
            self.problem(&lints::misspelt_text::LINT, span, format!("`{word}` stands nowhere else"), cure);
        }
    }

    /// Reports a key of a scenario that no other scenario has, and that is almost a key of others.
    fn misspelt_key(&mut self, key: &str, span: &Range<usize>, own: &[&str]) -> bool {
        let names = &self.known.names;
        let (times, others) = names.keys_of_scenarios(key);
        let others: Vec<&str> = others.filter(|other| !own.contains(other)).collect();
        let is_plural = |one: &str, several: &str| {
            [format!("{one}s"), format!("{}ies", one.trim_end_matches('y'))].iter().any(|plural| plural == several)
        };
        let near = self.known.nearest(key, others.iter().copied());
        let near = near.or_else(|| others.into_iter().find(|other| is_plural(key, other) || is_plural(other, key)));
        let meant = near.filter(|_| times <= 1).map(str::to_owned);
        let found = meant.is_some();
        if let Some(meant) = meant {
            let wrong = format!("no other scenario has `{key}`");
            self.problem(&lints::unread_key::LINT, span, wrong, Cure::meant(key, meant));
        }
        found
    }

    /// Reports a word under a key that occurs nowhere else: one letter away from an id, or another word than the few that
    /// all other files have there. Returns whether it did.
    fn is_odd_word(&mut self, key: &str, word: &str, span: &Range<usize>) -> bool {
        let names = &self.known.names;
        let is_name = word.len() >= LETTERS && word.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_');
        if !is_name || names.said(word) > 1 {
            return false;
        }
        let is_known = names.times(word) > 0 || names.is_given(word);
        let ids = ["card", "item", "hook", "policy", "cast", "kind"];
        let ids: Vec<&str> = ids.iter().filter_map(|sort| self.rules.names_of(sort)).flatten().collect();
        if let Some(meant) = ids.into_iter().find(|id| !is_known && slips(word, id, 1) == Some(1)) {
            let cure = Cure::meant(word, meant);
            self.problem(&lints::misspelt_text::LINT, span, format!("`{word}` stands nowhere else"), cure);
            return true;
        }
        let others: Vec<(&str, usize)> = names.texts_under(key).filter(|(other, _)| *other != word).collect();
        let all: usize = others.iter().map(|(_, times)| times).sum();
        let is_a_word = |other: &str| names.times(other) > 0 || names.is_given(other);
        // Of a word that scripts know, too, the others have to be the only ones that are possible.
        let are_words = others.iter().all(|(other, times)| is_a_word(other) && (!is_known || *times > 1));
        // A word that scripts know for something else is odd only beside one that begins in the same way.
        let is_like = |other: &str| word.bytes().zip(other.bytes()).take_while(|(one, two)| one == two).count() >= MANY;
        let is_unknown = !is_known || others.iter().any(|(other, _)| is_like(other));
        let is_odd = all > MANY && (!is_known || others.len() * 2 <= all) && are_words && is_unknown;
        if is_odd {
            let cure = instead(word, others.iter().map(|(other, _)| *other));
            let wrong = format!("nothing else has the {key} `{word}`");
            self.problem(&lints::misspelt_text::LINT, span, wrong, cure);
        }
        is_odd
    }

    /// Reports words where all others under the key are ids, if they are an id with `_` between them. Returns whether it
    /// did.
    fn is_title(&mut self, key: &str, text: &str, span: &Range<usize>) -> bool {
        let id = text.to_lowercase().replace([' ', '-'], "_");
        let names = &self.known.names;
        let mut others = names.texts_under(key).map(|(other, _)| other).filter(|other| *other != text).peekable();
        let is_like_others = others.peek().is_some() && others.all(is_like_an_id);
        let found = id != text && is_like_an_id(&id) && names.times(&id) > 0 && is_like_others;
        if found {
            let wrong = format!("all others under `{key}` are ids, and `{text}` is none");
            self.problem(&lints::misspelt_text::LINT, span, wrong, Cure::meant(text, id));
        }
        found
    }

    /// Reports a word that occurs nowhere else and is one added, missing or swapped letter away from a known word.
    pub(crate) fn slip(&mut self, word: &str, span: &Range<usize>) {
        let names = &self.known.names;
        let letters = word.chars().count();
        let like_a_word = word.chars().all(|letter| letter.is_alphabetic() || matches!(letter, ' ' | '_' | '-'));
        if letters < LETTERS || !like_a_word || names.said(word) > 1 || names.is_given(word) {
            return;
        }
        if self.rules.cast().contains_key(word) {
            return;
        }
        let lower = word.to_lowercase();
        if names.given().any(|given| given.to_lowercase() == lower) {
            return;
        }
        let capital = |word: &str| word.starts_with(|letter: char| letter.is_uppercase());
        let meant = names.given().chain(names.often_said()).filter(|other| is_slip(word, other));
        let meant = meant.min_by_key(|other| capital(other) != capital(word));
        if let Some(meant) = meant {
            let cure = Cure::meant(word, meant);
            self.problem(&lints::misspelt_text::LINT, span, format!("`{word}` stands nowhere else"), cure);
        }
    }
}
