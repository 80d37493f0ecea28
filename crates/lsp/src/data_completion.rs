//! Completion in data files and in `RULES.md`: the keys and values that fit the place.

use gen_lsp_types::CompletionItemKind;

use super::completion::{fields_of, names};
use super::expected::{of_switch, policies, rule_ids, seats, topics, values_of};
use super::found_items::FoundItems;
use super::lookup::FileLookup;
use riskbreaker_ruleset::{Manifest, SwitchKind};
use riskbreaker_state::Value;

/// A place in a data file.
struct DataPlace<'t> {
    /// The names of the table around it: `["switches", "fast"]`.
    section: Vec<&'t str>,
    sort: DataPlaceSort<'t>,
}

enum DataPlaceSort<'t> {
    /// In the brackets that open a table.
    Header,
    Key,
    /// The value of this key; in quotes or not.
    Value {
        key: &'t str,
        is_quoted: bool,
    },
}

impl<'t> DataPlace<'t> {
    /// The place at a byte; `None` in a comment.
    fn at(text: &'t str, at: usize) -> Option<DataPlace<'t>> {
        let begin = text[..at].rfind('\n').map_or(0, |newline| newline + 1);
        let line = text[begin..at].trim_start();
        let header = text[..begin].lines().rev().find_map(|line| line.trim().strip_prefix('['));
        let header = header.map_or("", |header| header.trim_start_matches('[').split(']').next().unwrap_or_default());
        let section = header.split('.').map(|name| name.trim().trim_matches('"')).filter(|name| !name.is_empty());
        let section = section.collect();
        let is_quoted = line.matches('"').count() % 2 == 1;
        if !is_quoted && line.contains('#') {
            return None;
        }
        if line.starts_with('[') && !line.contains(']') {
            return Some(DataPlace { section, sort: DataPlaceSort::Header });
        }
        // A list may go on over several lines.
        let is_in_list = |above: &str| above.matches('[').count() > above.matches(']').count() && above.contains('=');
        let open = text[..begin].lines().rev().find(|line| line.contains('=')).filter(|line| is_in_list(line));
        let key = match (line.split_once('='), open) {
            (Some((key, _)), _) => key,
            (None, Some(open)) => open.split('=').next().unwrap_or_default(),
            (None, None) => return Some(DataPlace { section, sort: DataPlaceSort::Key }),
        };
        let key = key.trim().trim_matches('"');
        Some(DataPlace { section, sort: DataPlaceSort::Value { key, is_quoted } })
    }
}

/// The keys of a `ruleset.toml` outside of its tables, each with a sentence.
const MANIFEST_KEYS: [(&str, &str); 14] = [
    ("id", "The id, the same as the name of the folder."),
    ("title", "The title for people."),
    ("version", "The version, such as 1.0.0."),
    ("engine", "The lowest engine version that it supports."),
    ("license", "The license of its text and scripts."),
    ("extends", "The parent ruleset."),
    ("layers", "Layers that are always on top of it."),
    ("after", "As a layer: the layers that must be below it."),
    ("over", "The rulesets on which it may be put as a layer."),
    ("scenario", "The scenario that is played by default."),
    ("summary", "A description in one sentence."),
    ("conflicts", "Rulesets with which it cannot be combined."),
    ("changelog", "The changelog: an address, or a file of the ruleset."),
    ("homepage", "The address of a page about it."),
];

/// The tables of a `ruleset.toml`, each with a sentence.
const MANIFEST_TABLES: [(&str, &str); 5] = [
    ("switches", "House rules that can be set, a table each."),
    ("seats", "The seats: id and name."),
    ("words", "The words of the prompt, each with the topic that it answers."),
    ("known_as", "Cards with another id in other rulesets."),
    ("requires", "Required rulesets, each with a range of versions."),
];

const SWITCH_KEYS: [(&str, &str); 6] = [
    ("values", "The values, the default first."),
    ("min", "The lowest number."),
    ("max", "The highest number."),
    ("default", "The number without a choice."),
    ("text", "What the switch decides."),
    ("rules", "The ids of the rules that it changes."),
];

/// Adds what can be at a byte of a data file or of `RULES.md`.
pub(super) fn complete(lookup: &FileLookup<'_>, text: &str, at: usize, found: &mut FoundItems) {
    let inside = &*lookup.place.inside;
    if !inside.ends_with(".toml") {
        return in_prose(lookup, text, at, found);
    }
    let Some(place) = DataPlace::at(text, at) else { return };
    match inside.split('/').next().unwrap_or_default() {
        Manifest::FILE => in_manifest(lookup, &place, found),
        "scenarios" => in_scenario(lookup, &place, found),
        "cast" => match place.sort {
            DataPlaceSort::Value { key, is_quoted: true } => value(lookup, key, found),
            DataPlaceSort::Key if place.section.is_empty() => {
                keys_of_cast(lookup, found);
                fields_of(lookup, None, found);
            }
            DataPlaceSort::Header | DataPlaceSort::Key | DataPlaceSort::Value { .. } => {}
        },
        _ => {}
    }
}

fn in_manifest(lookup: &FileLookup<'_>, place: &DataPlace<'_>, found: &mut FoundItems) {
    let listed = |names: &[(&str, &str)], found: &mut FoundItems| {
        names.iter().for_each(|(name, text)| found.add(name, CompletionItemKind::Property, "", text));
    };
    match (&place.sort, &*place.section) {
        (DataPlaceSort::Header, _) => listed(&MANIFEST_TABLES, found),
        (DataPlaceSort::Key, []) => listed(&MANIFEST_KEYS, found),
        (DataPlaceSort::Key, ["switches", _]) => listed(&SWITCH_KEYS, found),
        (DataPlaceSort::Key, ["requires"]) => rulesets(lookup, found),
        (DataPlaceSort::Key, ["known_as"]) => names(lookup, &["card"], found),
        (DataPlaceSort::Key, _) => {}
        (DataPlaceSort::Value { key: "scenario", .. }, []) => {
            names(lookup, &["scenario"], found);
            // Without rules that load, the files are known.
            for name in lookup.stems_in("scenarios") {
                found.add(&name, CompletionItemKind::Value, "scenario", "");
            }
        }
        (DataPlaceSort::Value { key: "id", .. }, []) => {
            found.add(&lookup.place.id, CompletionItemKind::Value, "the name of the folder", "");
        }
        (DataPlaceSort::Value { key: "extends" | "layers" | "after" | "over" | "conflicts", .. }, []) => {
            rulesets(lookup, found);
        }
        (DataPlaceSort::Value { key: "rules", .. }, ["switches", _]) => rule_ids(lookup, found),
        (DataPlaceSort::Value { .. }, ["words"]) => topics(lookup, found),
        (DataPlaceSort::Value { .. }, _) => {}
    }
}

fn rulesets(lookup: &FileLookup<'_>, found: &mut FoundItems) {
    for id in lookup.ruleset_ids().iter().filter(|id| **id != lookup.place.id) {
        found.add(id, CompletionItemKind::Module, "ruleset", "");
    }
}

fn in_scenario(lookup: &FileLookup<'_>, place: &DataPlace<'_>, found: &mut FoundItems) {
    let others: Vec<&Value> = lookup.books().flat_map(|book| book.scenarios().values()).collect();
    match (&place.sort, &*place.section) {
        (DataPlaceSort::Header, _) => {
            for scenario in others {
                entries(scenario, |key, value| {
                    let is_table = matches!(value, Value::Map(_));
                    if is_table || matches!(value, Value::List(list) if matches!(list.first(), Some(Value::Map(_)))) {
                        found.add(key, CompletionItemKind::Property, "table of scenarios", "");
                    }
                });
            }
            found.add("seats", CompletionItemKind::Property, "who plays each seat", "");
            found.add("switches", CompletionItemKind::Property, "house rules of this scenario", "");
        }
        (DataPlaceSort::Key, ["seats"]) => seats(lookup, found),
        (DataPlaceSort::Value { .. }, ["seats"]) => {
            policies(lookup, found);
            ["human", "absent"].iter().for_each(|who| found.add(who, CompletionItemKind::Value, "seat", ""));
        }
        (DataPlaceSort::Key, ["switches"]) => names(lookup, &["switch"], found),
        (DataPlaceSort::Value { key, is_quoted }, ["switches"]) => {
            let switches = lookup.books().filter_map(|book| book.switch(key));
            let is_flag = switches.into_iter().any(|switch| matches!(switch.kind, SwitchKind::Toggle));
            match (is_flag, is_quoted) {
                (true, false) => ["true", "false"].iter().for_each(|value| {
                    found.add(value, CompletionItemKind::Value, "switch", "");
                }),
                (false, true) => of_switch(lookup, key, found),
                (true, true) | (false, false) => {}
            }
        }
        (DataPlaceSort::Key, section) => {
            for scenario in others {
                tables(scenario, section, &mut |table| {
                    entries(table, |key, value| {
                        if !matches!(value, Value::Map(_)) {
                            found.add(key, CompletionItemKind::Property, "key of scenarios", "");
                        }
                    });
                });
            }
            if !section.is_empty() {
                fields_of(lookup, None, found);
            }
        }
        (DataPlaceSort::Value { key, is_quoted: true }, _) => value(lookup, key, found),
        (DataPlaceSort::Value { .. }, _) => {}
    }
}

/// Adds the words that a key of a scenario or of a character can have as its value: those of a field, or those that other
/// data files write.
fn value(lookup: &FileLookup<'_>, key: &str, found: &mut FoundItems) {
    match key {
        "seat" => return seats(lookup, found),
        "cast" => return names(lookup, &["cast"], found),
        _ => values_of(lookup, key, found),
    }
    fn written(value: &Value, key: &str, found: &mut FoundItems) {
        match value {
            Value::Map(map) => {
                for (name, value) in map.iter() {
                    match value {
                        Value::Text(word) if **name == *key => {
                            found.add(word, CompletionItemKind::Value, format!("`{key}` elsewhere"), "");
                        }
                        _ => written(value, key, found),
                    }
                }
            }
            Value::List(list) => list.iter().for_each(|value| written(value, key, found)),
            Value::None | Value::Bool(_) | Value::Int(_) | Value::Ratio(..) | Value::Text(_) | Value::Entity(_) => {}
        }
    }
    if found.is_empty() && !matches!(key, "title" | "name" | "text") {
        for book in lookup.books() {
            book.scenarios().values().chain(book.cast().values()).for_each(|data| written(data, key, found));
        }
    }
}

/// Adds the keys of the characters in `cast/`.
pub(super) fn keys_of_cast(lookup: &FileLookup<'_>, found: &mut FoundItems) {
    for character in lookup.books().flat_map(|book| book.cast().values()) {
        entries(character, |key, _| found.add(key, CompletionItemKind::Property, "key of `cast/`", ""));
    }
}

fn entries(value: &Value, mut take: impl FnMut(&str, &Value)) {
    if let Value::Map(map) = value {
        map.iter().for_each(|(key, value)| take(key, value));
    }
}

/// Passes on the tables of this name; for a scenario without it, the tables beside it.
fn tables(value: &Value, path: &[&str], take: &mut impl FnMut(&Value)) {
    let Value::Map(map) = value else { return };
    let Some((first, rest)) = path.split_first() else { return take(value) };
    match map.get(*first) {
        Some(Value::List(list)) => list.iter().for_each(|value| tables(value, rest, take)),
        Some(value) => tables(value, rest, take),
        None => map.values().filter(|value| matches!(value, Value::Map(_))).for_each(|value| tables(value, rest, take)),
    }
}

/// Adds the ids of rules in `RULES.md`, after a blank or a sign that can begin one: at the begin of a rule the next free
/// id, elsewhere all.
fn in_prose(lookup: &FileLookup<'_>, text: &str, at: usize, found: &mut FoundItems) {
    let word = |letter: char| letter.is_ascii_alphanumeric() || letter == '-';
    let line = text[..at].rsplit('\n').next().unwrap_or_default();
    let before = line.trim_end_matches(word);
    let is_id = line[before.len()..].chars().next().is_none_or(|first| first.is_ascii_uppercase());
    if !is_id || !(before.is_empty() || before.ends_with([' ', '*', '(', '|'])) {
        return;
    }
    let ids = || text.lines().flat_map(riskbreaker_spec::leading_ids);
    if before.trim_start() == "- **" {
        let last = ids().filter_map(|id| {
            let (game, number) = id.rsplit_once('-')?;
            Some((number.parse::<u32>().ok()?, number.len(), game.to_owned()))
        });
        if let Some((number, width, game)) = last.max() {
            let next = format!("{game}-{:0width$}", number + 1);
            return found.add(&next, CompletionItemKind::Reference, "the next free id", "");
        }
    }
    rule_ids(lookup, found);
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use riskbreaker_ruleset::Library;

    fn place(text: &str) -> String {
        let at = text.find('^').unwrap();
        let text = text.replace('^', "");
        let Some(place) = DataPlace::at(&text, at) else { return "none".into() };
        let sort = match place.sort {
            DataPlaceSort::Header => "header".to_owned(),
            DataPlaceSort::Key => "key".to_owned(),
            DataPlaceSort::Value { key, is_quoted } => format!("{key}{}", if is_quoted { " quoted" } else { "" }),
        };
        format!("{} {sort}", place.section.join("."))
    }

    #[test]
    fn a_place_in_a_data_file_is_a_header_a_key_or_a_value() {
        assert_eq!(place("id = \"a\"\n^"), " key");
        assert_eq!(place("scenario = \"^\""), " scenario quoted");
        assert_eq!(place("[switches.fast]\nmi^"), "switches.fast key");
        assert_eq!(place("[seats]\n[swi^"), "seats header");
        assert_eq!(place("[switches.fast]\nrules = [\n\t\"A-1\",\n\t\"^"), "switches.fast rules quoted");
        assert_eq!(place("rules = [\"A-1\"]\n^"), " key");
        assert_eq!(place("a = 1 # ^"), "none");
    }

    /// The keys here are those that the manifest has.
    #[test]
    fn every_key_of_a_manifest_is_offered() {
        let text = "id = \"a\"\ntitle = \"A\"\nversion = \"1\"\n";
        let manifest = Library::from_files([("a/ruleset.toml", text)]).manifest("a").unwrap();
        let shown = serde_json::to_value(manifest).unwrap();
        let known: BTreeSet<&str> = shown.as_object().unwrap().keys().map(String::as_str).collect();
        let offered = MANIFEST_KEYS.iter().chain(&MANIFEST_TABLES).map(|(name, _)| *name).collect();
        assert_eq!(known, offered);
    }
}
