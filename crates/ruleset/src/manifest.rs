use std::collections::BTreeMap;
use std::ops::Range;

use serde::Serialize;
use toml::de::DeValue;

use super::conversion::VersionRange;
use super::cure::Cure;
use super::document::{Document, KeyValue, in_order, kind_of, whole_number};
use super::nearest::instead;
use super::problem::{Problem, TextChange};
use super::quoted::{quoted, turns_direction};
use super::rulebook::LONGEST_TITLE;
use super::source::Source;
use super::switch::{Switch, SwitchKind, SwitchValue};
use super::value_cure::number_meant;
use super::version::Version;

/// The content of a `ruleset.toml`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Manifest {
    /// The id, the same as the folder's name.
    pub id: String,
    /// The title for people.
    pub title: String,
    /// Its version, such as `1.0.0`.
    pub version: String,
    /// The lowest engine version that it supports; this engine is not older.
    pub engine: Option<String>,
    /// The license of its text and scripts.
    pub license: Option<String>,
    /// Its parent ruleset. In a layer: the ruleset for which it is made.
    pub extends: Option<Mention>,
    /// Layers that are always on top of it.
    pub layers: Vec<Mention>,
    /// As a layer: the layers that must be below it.
    pub after: Vec<Mention>,
    /// The rulesets on which it may be put as a layer; one of them must be below it. A ruleset with such a list is only
    /// a layer: it cannot be played alone, and has no parent.
    pub over: Vec<Mention>,
    /// The scenario that is played by default.
    pub scenario: Option<Mention>,
    /// A description in one sentence.
    pub summary: Option<String>,
    /// House rules that can be set, in the order of the file.
    pub switches: Vec<Switch>,
    /// The seats: id and name.
    pub seats: BTreeMap<String, String>,
    /// The words of the prompt, each with the topic that it answers.
    pub words: BTreeMap<String, String>,
    /// Cards with another id in other rulesets: the id here, and the id there.
    pub known_as: BTreeMap<String, String>,
    /// Required rulesets, each with a range of versions.
    pub requires: Vec<Requirement>,
    /// Rulesets with which it cannot be combined.
    pub conflicts: Vec<Mention>,
    /// The changelog: an address, or a file of the ruleset.
    pub changelog: Option<String>,
    /// The address of a page about it.
    pub homepage: Option<String>,
}

/// A required ruleset with its versions.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Requirement {
    /// The ruleset, with its place in the manifest.
    #[serde(flatten)]
    pub ruleset: Mention,
    /// The range of versions.
    pub range: VersionRange,
}

impl Requirement {
    /// True if a version is in the range; false for an invalid version.
    pub fn admits(&self, version: &str) -> bool {
        self.range.admits(version)
    }
}

/// The name of another ruleset or of a file in a manifest, with its place.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Mention {
    /// The id.
    pub id: String,
    /// The line, from 1.
    pub line: u32,
    /// The column in characters, from 1.
    pub column: u32,
}

impl Mention {
    /// Creates a problem at this place in the manifest of a ruleset.
    pub(super) fn problem(&self, ruleset: &str, message: impl Into<String>) -> Problem {
        Problem::new(format!("{ruleset}/{}", Manifest::FILE), message).at((self.line, self.column))
    }
}

impl Manifest {
    /// The name of the file.
    pub const FILE: &'static str = "ruleset.toml";

    /// Reads the manifest of the ruleset in the folder `id`.
    ///
    /// # Errors
    ///
    /// All problems: unknown keys, values of the wrong type, missing keys, an id that differs from the folder's name,
    /// an engine that is too old. If the file is no TOML, only that.
    #[doc(hidden)]
    pub fn read(id: &str, source: &Source) -> Result<Self, Vec<Problem>> {
        Document::read(source, |document| {
            let mut reader = ManifestReader { document, problems: Vec::new() };
            match reader.manifest(id) {
                Some(manifest) if reader.problems.is_empty() => Ok(manifest),
                _ => Err(reader.problems),
            }
        })
    }
}

/// True for a valid id of a ruleset: lower-case letters and digits, and after the first also `.`, `_` and `-`; at most
/// 64 characters.
pub(crate) fn is_ruleset_id(id: &str) -> bool {
    let small = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    id.len() <= 64
        && id.bytes().next().is_some_and(small)
        && id.bytes().all(|byte| small(byte) || matches!(byte, b'.' | b'_' | b'-'))
}

/// The rule for ids, for messages.
pub(crate) const ID_RULE: &str = "an id has small letters, digits, `.`, `_` and `-`, and begins with a letter or digit";

const KEYS: [&str; 19] = [
    "id",
    "title",
    "version",
    "engine",
    "license",
    "extends",
    "layers",
    "after",
    "over",
    "scenario",
    "summary",
    "switches",
    "seats",
    "words",
    "known_as",
    "requires",
    "conflicts",
    "changelog",
    "homepage",
];
const SWITCH_KEYS: [&str; 6] = ["values", "min", "max", "default", "text", "rules"];
const RANGE_KEYS: [&str; 3] = ["min", "max", "default"];
const VALUES_CURE: &str = "write values = [\"first\", \"second\"] with the default first, or [true, false], or { min = 0, max = 10, default = 2 }";
const LONGEST_LIST: usize = 64;

struct ManifestReader<'d, 's> {
    document: &'d Document<'s>,
    problems: Vec<Problem>,
}

impl ManifestReader<'_, '_> {
    fn manifest(&mut self, folder: &str) -> Option<Manifest> {
        let document = self.document;
        let entries = in_order(document.root());
        self.known_keys(&entries, &KEYS);
        let misplaced = self.keys_below_seats(&entries);
        let mut required = |key: &str, example: &str| -> Option<String> {
            match find(&entries, key) {
                Some(entry) => self.text(entry),
                None if misplaced.iter().any(|other| other == key) => None,
                None => {
                    let problem = Problem::new(&*document.source().path, format!("`{key}` is missing"));
                    // Keys above the first section are those of the manifest itself.
                    let line = format!("{key} = \"{example}\"");
                    let change = TextChange { begin: 0, end: 0, text: format!("{line}\n") };
                    self.problems.push(problem.with_cure(format!("add {line}")).with_change(change));
                    None
                }
            }
        };
        let id = required("id", folder);
        let title = required("title", "My Game");
        let version = required("version", "1.0.0");
        if let (Some(entry), Some(title)) = (find(&entries, "title"), &title)
            && title.chars().count() > LONGEST_TITLE
        {
            let message =
                format!("a title has at most {LONGEST_TITLE} letters, and this one has {}", title.chars().count());
            self.wrong(&entry.span, message, "shorten it; `summary` has room for a sentence");
        }
        self.id_is_the_folders(find(&entries, "id"), id.as_deref(), folder);
        self.version_is_one(find(&entries, "version"), version.as_deref());
        let engine = find(&entries, "engine").and_then(|entry| self.engine(entry));
        let extends = find(&entries, "extends").and_then(|entry| self.ruleset(entry, folder));
        let layers = find(&entries, "layers").map(|entry| self.rulesets(entry, folder)).unwrap_or_default();
        let after = find(&entries, "after").map(|entry| self.rulesets(entry, folder)).unwrap_or_default();
        let over = find(&entries, "over").map(|entry| self.rulesets(entry, folder)).unwrap_or_default();
        if let (Some(entry), false) = (find(&entries, "extends"), over.is_empty()) {
            let cure = "keep `extends` for a ruleset that is played by itself, `over` for house rules that lie on any of several";
            self.wrong(&entry.key_span, "`extends` beside `over`", cure);
        }
        let scenario = find(&entries, "scenario").and_then(|entry| self.scenario(entry));
        let license = find(&entries, "license").and_then(|entry| self.text(entry));
        let summary = find(&entries, "summary").and_then(|entry| self.text(entry));
        let switches = find(&entries, "switches").map(|entry| self.switches(entry)).unwrap_or_default();
        let seats = find(&entries, "seats").map(|entry| self.names(entry)).unwrap_or_default();
        let words = find(&entries, "words").map(|entry| self.names(entry)).unwrap_or_default();
        let known_as = find(&entries, "known_as").map(|entry| self.names(entry)).unwrap_or_default();
        let requires = find(&entries, "requires").map(|entry| self.requirements(entry, folder)).unwrap_or_default();
        let conflicts = find(&entries, "conflicts").map(|entry| self.rulesets(entry, folder)).unwrap_or_default();
        let changelog = find(&entries, "changelog").and_then(|entry| self.text(entry));
        let homepage = find(&entries, "homepage").and_then(|entry| self.text(entry));
        Some(Manifest {
            id: id?,
            title: title?,
            version: version?,
            engine,
            license,
            extends,
            layers,
            after,
            over,
            scenario,
            summary,
            switches,
            seats,
            words,
            known_as,
            requires,
            conflicts,
            changelog,
            homepage,
        })
    }

    /// Reports keys of the manifest that are written in the section of the seats, and returns them. Moves the line above
    /// the first section.
    fn keys_below_seats(&mut self, entries: &[KeyValue<'_>]) -> Vec<String> {
        let Some(DeValue::Table(seats)) = find(entries, "seats").map(|entry| entry.value) else { return Vec::new() };
        let text = &self.document.source().text;
        let mut starts = text.match_indices('\n').map(|(at, _)| at + 1);
        let first = if text.starts_with('[') { Some(0) } else { starts.find(|at| text[*at..].starts_with('[')) };
        let mut found = Vec::new();
        for entry in in_order(seats) {
            if !KEYS.contains(&entry.key) || find(entries, entry.key).is_some() {
                continue;
            }
            let begin = text[..entry.key_span.start].rfind('\n').map_or(0, |at| at + 1);
            let end = text[entry.span.end..].find('\n').map_or(text.len(), |at| entry.span.end + at + 1);
            let message = format!("`{}` is a key of the manifest, and here it is a seat", entry.key);
            let mut problem =
                self.document.problem(&entry.key_span, message).with_cure("write it above the first section");
            if let Some(first) = first.filter(|first| *first < begin) {
                let moved = [text[begin..end].trim_end(), "\n", &text[first..begin]].concat();
                problem = problem.with_change(TextChange { begin: first, end, text: moved });
            }
            self.problems.push(problem);
            found.push(entry.key.to_owned());
        }
        found
    }

    /// Parses a table of version ranges by ruleset.
    fn requirements(&mut self, entry: &KeyValue<'_>, own: &str) -> Vec<Requirement> {
        let mut requirements = Vec::new();
        for entry in self.table(entry).unwrap_or_default() {
            let Some(range) = self.text(&entry) else { continue };
            let range = match VersionRange::parse(&range) {
                Ok(range) => range,
                Err(message) => {
                    self.wrong(&entry.span, message, VersionRange::CURE);
                    continue;
                }
            };
            if let Some(ruleset) = self.mention(entry.key.to_owned(), &entry.key_span, own) {
                requirements.push(Requirement { ruleset, range });
            }
        }
        requirements
    }

    fn id_is_the_folders(&mut self, entry: Option<&KeyValue<'_>>, id: Option<&str>, folder: &str) {
        let (Some(entry), Some(id)) = (entry, id) else {
            return;
        };
        if !is_ruleset_id(id) {
            self.wrong(&entry.span, format!("{} is no id", quoted(id)), ID_RULE);
        } else if id != folder {
            let message = format!("the id is {}, but the folder is {}", quoted(id), quoted(folder));
            let sentence = format!("write id = \"{folder}\" or rename the folder");
            self.wrong(&entry.span, message, Cure::rewrite(id, folder, sentence));
        }
    }

    fn version_is_one(&mut self, entry: Option<&KeyValue<'_>>, version: Option<&str>) {
        let (Some(entry), Some(version)) = (entry, version) else {
            return;
        };
        if Version::parse(version).is_none() {
            self.wrong(&entry.span, format!("{} is no version", quoted(version)), "write it like \"1.0.0\"");
        }
    }

    fn engine(&mut self, entry: &KeyValue<'_>) -> Option<String> {
        let text = self.text(entry)?;
        let ours = Version::of_engine();
        match Version::parse(&text) {
            None => {
                let cure = format!("write the oldest engine version that works; this one is \"{ours}\"");
                self.wrong(&entry.span, format!("{} is no version", quoted(&text)), cure);
            }
            Some(least) if least > ours => {
                let message = format!("needs engine {least} or later, this is {ours}");
                self.wrong(&entry.span, message, "update the engine, or use an older version of the ruleset");
            }
            Some(_) => {}
        }
        Some(text)
    }

    fn ruleset(&mut self, entry: &KeyValue<'_>, own: &str) -> Option<Mention> {
        let id = self.text(entry)?;
        self.mention(id, &entry.span, own)
    }

    fn rulesets(&mut self, entry: &KeyValue<'_>, own: &str) -> Vec<Mention> {
        let mut mentions: Vec<Mention> = Vec::new();
        for (id, span) in self.texts(entry) {
            if mentions.iter().any(|mention| mention.id == id) {
                self.wrong(&span, format!("{} is listed twice", quoted(&id)), "delete one");
            } else if let Some(mention) = self.mention(id, &span, own) {
                mentions.push(mention);
            }
        }
        mentions
    }

    fn mention(&mut self, id: String, span: &Range<usize>, own: &str) -> Option<Mention> {
        if !is_ruleset_id(&id) {
            self.wrong(span, format!("{} is no id of a ruleset", quoted(&id)), ID_RULE);
            return None;
        }
        if id == own {
            self.wrong(span, "a ruleset cannot name itself here", "name another, or delete it");
            return None;
        }
        let (line, column) = self.document.source().position(span.start);
        Some(Mention { id, line, column })
    }

    fn scenario(&mut self, entry: &KeyValue<'_>) -> Option<Mention> {
        let id = self.text(entry)?;
        let plain = |c: char| c.is_alphanumeric() || matches!(c, '.' | '_' | '-');
        if !id.chars().all(plain) || id.starts_with('.') {
            let cure = "name a file of scenarios/ without its ending: scenario = \"duel\" is scenarios/duel.toml";
            self.wrong(&entry.span, format!("{} is no name of a scenario", quoted(&id)), cure);
            return None;
        }
        let (line, column) = self.document.source().position(entry.span.start);
        Some(Mention { id, line, column })
    }

    fn switches(&mut self, entry: &KeyValue<'_>) -> Vec<Switch> {
        let Some(entries) = self.table(entry) else {
            return Vec::new();
        };
        entries.iter().filter_map(|entry| self.switch(entry)).collect()
    }

    fn switch(&mut self, entry: &KeyValue<'_>) -> Option<Switch> {
        let name = entry.key;
        let letters = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_';
        if !name.bytes().all(letters) || !name.starts_with(|c: char| c.is_ascii_lowercase()) {
            let cure =
                "a switch has small letters, digits and `_`, and begins with a letter: scripts say rb.switches.name";
            self.wrong(&entry.key_span, format!("{} is no name of a switch", quoted(name)), cure);
        }
        let entries = self.table(entry)?;
        self.known_keys(&entries, &SWITCH_KEYS);
        let text = match find(&entries, "text") {
            Some(text) => self.text(text),
            None => {
                let message = format!("switch {} has no `text`", quoted(name));
                self.wrong(&entry.key_span, message, "add text = \"What it decides, in a sentence.\"");
                None
            }
        };
        let rules = find(&entries, "rules").map(|entry| self.texts(entry)).unwrap_or_default();
        let (kind, default) = self.switch_values(entry, &entries)?;
        let source = self.document.source();
        Some(Switch {
            name: name.to_owned(),
            kind,
            default,
            text: text?,
            rules: rules.into_iter().map(|(rule, _)| rule).collect(),
            path: source.path.clone(),
            line: source.position(entry.key_span.start).0,
        })
    }

    fn switch_values(&mut self, switch: &KeyValue<'_>, entries: &[KeyValue<'_>]) -> Option<(SwitchKind, SwitchValue)> {
        let bounds = entries.iter().find(|entry| RANGE_KEYS.contains(&entry.key));
        match (find(entries, "values"), bounds) {
            (Some(_), Some(bound)) => {
                let cure = match bound.key {
                    "default" => "remove this line: the first of `values` is the default",
                    _ => VALUES_CURE,
                };
                self.wrong(&bound.key_span, format!("`{}` beside `values`", bound.key), cure);
                None
            }
            (None, Some(bound))
                if !matches!(bound.value, DeValue::Integer(_))
                    && find(entries, "min").is_none()
                    && find(entries, "max").is_none() =>
            {
                let cure = match bound.value {
                    DeValue::Boolean(true) => "write `values = [true, false]` instead: the first one is the default",
                    DeValue::Boolean(false) => "write `values = [false, true]` instead: the first one is the default",
                    _ => VALUES_CURE,
                };
                let wrong = format!("switch {} has a `default` and no `values`", quoted(switch.key));
                self.wrong(&bound.key_span, wrong, cure);
                None
            }
            (None, Some(_)) => self.range(switch, entries),
            (None, None) => {
                self.wrong(&switch.key_span, format!("switch {} has no `values`", quoted(switch.key)), VALUES_CURE);
                None
            }
            (Some(values), None) => match values.value {
                DeValue::Table(table) => {
                    let entries = in_order(table);
                    self.known_keys(&entries, &RANGE_KEYS);
                    self.range(values, &entries)
                }
                DeValue::Array(items) if items.iter().any(|item| item.get_ref().is_bool()) => {
                    let both: Vec<Option<bool>> = items.iter().map(|item| item.get_ref().as_bool()).collect();
                    match both[..] {
                        [Some(default), Some(other)] if default != other => {
                            Some((SwitchKind::Toggle, SwitchValue::Bool(default)))
                        }
                        _ => {
                            let cure = "write [true, false] or [false, true], the default first";
                            self.wrong(&values.span, "a switch of true and false lists each of them once", cure);
                            None
                        }
                    }
                }
                DeValue::Array(_) => self.choice(values),
                other => {
                    self.wrong(&values.span, format!("`values` must be a list, not {}", kind_of(other)), VALUES_CURE);
                    None
                }
            },
        }
    }

    fn choice(&mut self, entry: &KeyValue<'_>) -> Option<(SwitchKind, SwitchValue)> {
        let before = self.problems.len();
        let mut values: Vec<String> = Vec::new();
        for (value, span) in self.texts(entry) {
            if value.contains(char::is_whitespace) {
                let cure = format!("write {}", quoted(&value.split_whitespace().collect::<Vec<_>>().join("_")));
                self.wrong(&span, format!("the value {} has a space in it", quoted(&value)), cure);
            } else if values.contains(&value) {
                self.wrong(&span, format!("duplicate value {}", quoted(&value)), "delete one");
            }
            values.push(value);
        }
        let Some(default) = values.first().cloned() else {
            if self.problems.len() == before {
                self.wrong(&entry.span, "`values` is empty", VALUES_CURE);
            }
            return None;
        };
        Some((SwitchKind::Choice { values }, SwitchValue::Text(default)))
    }

    fn range(&mut self, around: &KeyValue<'_>, entries: &[KeyValue<'_>]) -> Option<(SwitchKind, SwitchValue)> {
        let mut bounds = [None; 3];
        for (bound, key) in bounds.iter_mut().zip(RANGE_KEYS) {
            *bound = match find(entries, key) {
                Some(entry) => self.number(entry),
                None => {
                    let cure = "a range is { min = 0, max = 10, default = 2 }";
                    self.wrong(&around.key_span, format!("`{key}` is missing"), cure);
                    None
                }
            };
        }
        let [Some(min), Some(max), Some(default)] = bounds else {
            return None;
        };
        if min > max {
            let span = find(entries, "min").map_or(&around.key_span, |entry| &entry.span);
            let (message, meant) = (format!("min {min} is more than max {max}"), default.min(max).to_string());
            let problem =
                self.document.problem(span, message).with_cure(format!("write min = {meant}, or exchange them"));
            self.push(problem.with_change(TextChange { begin: span.start, end: span.end, text: meant }));
        } else if !(min..=max).contains(&default) {
            let span = find(entries, "default").map_or(&around.key_span, |entry| &entry.span);
            let meant = number_meant(default, (Some(min), Some(max))).to_string();
            let key = if default > max { "max" } else { "min" };
            let message = format!("default {default} is not from {min} to {max}");
            let mut problem = self.document.problem(span, message).with_cure("take one that is");
            problem = problem.with_change(TextChange { begin: span.start, end: span.end, text: meant });
            if let Some(bound) = find(entries, key) {
                let Range { start: begin, end } = bound.span.clone();
                problem = problem.or_change(TextChange { begin, end, text: default.to_string() });
            }
            self.push(problem);
        }
        Some((SwitchKind::Range { min, max }, SwitchValue::Int(default)))
    }

    /// Parses a table of texts whose keys are typed at a prompt.
    fn names(&mut self, entry: &KeyValue<'_>) -> BTreeMap<String, String> {
        let mut names = BTreeMap::new();
        for entry in self.table(entry).unwrap_or_default() {
            if entry.key.is_empty()
                || entry.key.chars().any(|c| c.is_whitespace() || c.is_control() || turns_direction(c))
            {
                self.wrong(&entry.key_span, format!("{} is no single word", quoted(entry.key)), "write one word");
            }
            if let Some(name) = self.text(&entry) {
                names.insert(entry.key.to_owned(), name);
            }
        }
        names
    }

    fn known_keys(&mut self, entries: &[KeyValue<'_>], known: &[&str]) {
        for entry in entries.iter().filter(|entry| !known.contains(&entry.key)) {
            let cure = if known != KEYS && KEYS.contains(&entry.key) {
                "it belongs at the top of the file, above the first [section]".into()
            } else {
                instead(entry.key, known.iter().copied())
            };
            self.wrong(&entry.key_span, format!("unknown key {}", quoted(entry.key)), cure);
        }
    }

    fn table<'e>(&mut self, entry: &KeyValue<'e>) -> Option<Vec<KeyValue<'e>>> {
        match entry.value {
            DeValue::Table(table) => Some(in_order(table)),
            other => {
                let message = format!("{} must be a table, not {}", quoted(entry.key), kind_of(other));
                self.wrong(&entry.span, message, "write it as a [section] or as { ... }");
                None
            }
        }
    }

    /// Parses a list of texts, each with its place.
    fn texts(&mut self, entry: &KeyValue<'_>) -> Vec<(String, Range<usize>)> {
        let DeValue::Array(items) = entry.value else {
            let message = format!("`{}` must be a list of texts, not {}", entry.key, kind_of(entry.value));
            let cure = match entry.value {
                DeValue::String(text) => {
                    let list = format!("[\"{text}\"]");
                    let sentence = format!("write {} = {list}", entry.key);
                    Cure::rewrite(format!("\"{text}\""), list, sentence)
                }
                _ => format!("write {} = [\"...\"]", entry.key).into(),
            };
            self.wrong(&entry.span, message, cure);
            return Vec::new();
        };
        if items.len() > LONGEST_LIST {
            let message = format!("`{}` lists {} things, the most is {LONGEST_LIST}", entry.key, items.len());
            self.wrong(&entry.span, message, "shorten it");
            return Vec::new();
        }
        let mut texts = Vec::with_capacity(items.len());
        for item in items.iter() {
            let span = item.span();
            if let Some(text) = self.text_at(entry.key, item.get_ref(), &span) {
                texts.push((text, span));
            }
        }
        texts
    }

    fn text(&mut self, entry: &KeyValue<'_>) -> Option<String> {
        self.text_at(entry.key, entry.value, &entry.span)
    }

    fn text_at(&mut self, key: &str, value: &DeValue<'_>, span: &Range<usize>) -> Option<String> {
        let DeValue::String(text) = value else {
            let message = format!("{} must be a text, not {}", quoted(key), kind_of(value));
            let written = self.document.source().text.get(span.clone()).unwrap_or_default();
            let cure = match value {
                DeValue::Table(_) | DeValue::Array(_) => "write one text in quotes".into(),
                _ => Cure::rewrite(written, format!("\"{written}\""), format!("put it in quotes: \"{written}\"")),
            };
            self.wrong(span, message, cure);
            return None;
        };
        if text.trim().is_empty() {
            self.wrong(span, format!("{} is empty", quoted(key)), "write something, or delete the line");
            return None;
        }
        if text.chars().any(|c| c.is_control() || turns_direction(c)) {
            let cure = "write it in one line, without control characters";
            self.wrong(span, format!("{} is not one line of text", quoted(key)), cure);
            return None;
        }
        Some(text.to_string())
    }

    fn number(&mut self, entry: &KeyValue<'_>) -> Option<i64> {
        let number = entry.value.as_integer().and_then(whole_number);
        if number.is_none() {
            let message = match entry.value {
                DeValue::Integer(_) => format!("`{}` is too large", entry.key),
                other => format!("`{}` must be a whole number, not {}", entry.key, kind_of(other)),
            };
            self.wrong(&entry.span, message, "write a whole number without quotes");
        }
        number
    }

    /// Adds a problem, unless there are too many.
    fn push(&mut self, problem: Problem) {
        if self.problems.len() < Document::MOST_PROBLEMS {
            self.problems.push(problem);
        }
    }

    fn wrong(&mut self, span: &Range<usize>, message: impl Into<String>, cure: impl Into<Cure>) {
        if self.problems.len() < Document::MOST_PROBLEMS {
            self.problems.push(self.document.problem(span, message).with_cure(cure));
        }
    }
}

fn find<'e, 'd>(entries: &'e [KeyValue<'d>], key: &str) -> Option<&'e KeyValue<'d>> {
    entries.iter().find(|entry| entry.key == key)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const WHOLE: &str = r#"
id = "my-game"
title = "My Game"
version = "1.0.0"
engine = "0.1"
license = "MIT OR Apache-2.0"
extends = "other"
layers = ["house-a", "house-b"]
after = ["third"]
scenario = "duel"
summary = "One sentence."

[switches.growth]
values = ["difference", "flat_one"]
text = "What a lead of n is worth in growth."
rules = ["MY-A-13"]

[switches.also]
values = [false, true]
text = "Whether."

[switches.bound]
values = { min = 0, max = 10, default = 2 }
text = "How many."

[switches.count]
min = -1
max = 1
default = 0
text = "How many, in the other way of writing."

[seats]
gm = "The game master"

[words]
on = "targets"
with = "skill"
"#;

    fn read(text: &str) -> Result<Manifest, Vec<String>> {
        let source = Source::read("my-game/ruleset.toml", text.as_bytes()).unwrap();
        Manifest::read("my-game", &source).map_err(|problems| problems.iter().map(ToString::to_string).collect())
    }

    fn read_with(line: &str) -> Vec<String> {
        read(&format!("id = \"my-game\"\ntitle = \"My Game\"\nversion = \"1\"\n{line}")).expect_err(line)
    }

    #[test]
    fn every_key_of_a_manifest_is_read() {
        let manifest = read(WHOLE).unwrap();
        assert_eq!((&*manifest.id, &*manifest.title, &*manifest.version), ("my-game", "My Game", "1.0.0"));
        assert_eq!(manifest.extends, Some(Mention { id: "other".into(), line: 7, column: 11 }));
        assert_eq!(manifest.layers[1], Mention { id: "house-b".into(), line: 8, column: 22 });
        assert_eq!(manifest.after[0].id, "third");
        assert_eq!(manifest.scenario.unwrap().id, "duel");
        let names: Vec<_> = manifest.switches.iter().map(|switch| &*switch.name).collect();
        assert_eq!(names, ["growth", "also", "bound", "count"]);
        let [growth, also, bound, count] = &manifest.switches[..] else { panic!("four") };
        assert_eq!(growth.default, SwitchValue::Text("difference".into()));
        assert_eq!((&growth.rules[..], growth.line), (&["MY-A-13".to_owned()][..], 13));
        assert_eq!((&also.kind, &also.default), (&SwitchKind::Toggle, &SwitchValue::Bool(false)));
        assert_eq!((&bound.kind, &bound.default), (&SwitchKind::Range { min: 0, max: 10 }, &SwitchValue::Int(2)));
        assert_eq!(count.kind, SwitchKind::Range { min: -1, max: 1 });
        assert_eq!(manifest.seats["gm"], "The game master");
        assert_eq!(manifest.words["on"], "targets");
    }

    #[test]
    fn all_problems_of_a_manifest_are_reported() {
        let problems =
            read("id = \"My Game\"\ntittle = \"x\"\nversion = 1.0\n[switches.growth]\nvalues = []\n[seats]\ngm = 3\n");
        assert_eq!(
            problems.unwrap_err(),
            [
                "my-game/ruleset.toml:2:1: unknown key `tittle` (did you mean `title`?)",
                "my-game/ruleset.toml: `title` is missing (add title = \"My Game\")",
                "my-game/ruleset.toml:3:11: `version` must be a text, not a number with a point (put it in quotes: \"1.0\")",
                "my-game/ruleset.toml:1:6: `My Game` is no id (an id has small letters, digits, `.`, `_` and `-`, and begins \
                 with a letter or digit)",
                "my-game/ruleset.toml:4:11: switch `growth` has no `text` (add text = \"What it decides, in a sentence.\")",
                "my-game/ruleset.toml:5:10: `values` is empty (write values = [\"first\", \"second\"] with the default first, or \
                 [true, false], or { min = 0, max = 10, default = 2 })",
                "my-game/ruleset.toml:7:6: `gm` must be a text, not a whole number (put it in quotes: \"3\")",
            ]
        );
    }

    #[test]
    fn the_id_is_the_folders_name() {
        let problems = read("id = \"your-game\"\ntitle = \"x\"\nversion = \"1\"\n").unwrap_err();
        assert_eq!(
            problems,
            [
                "my-game/ruleset.toml:1:6: the id is `your-game`, but the folder is `my-game` (write id = \"my-game\" or rename \
              the folder)"
            ]
        );
    }

    #[test]
    fn a_newer_engine_is_asked_for_by_name() {
        let problems = read_with("engine = \"999\"\n");
        assert!(problems[0].contains("needs engine 999.0.0 or later"), "{problems:?}");
        assert!(read_with("engine = \"new\"\n")[0].contains("`new` is no version"));
    }

    #[test]
    fn references_to_rulesets_refuse_the_own_id_and_duplicates() {
        assert!(read_with("extends = \"my-game\"\n")[0].contains("cannot name itself"));
        assert!(read_with("layers = [\"../x\"]\n")[0].contains("`../x` is no id of a ruleset"));
        assert!(read_with("layers = [\"a\", \"a\"]\n")[0].contains(":4:16: `a` is listed twice"));
        assert!(
            read_with("layers = \"a\"\n")[0].contains("must be a list of texts, not a text (write layers = [\"a\"])")
        );
        assert!(read_with("scenario = \"../x\"\n")[0].contains("no name of a scenario"));
    }

    #[test]
    fn a_layer_over_several_rulesets_extends_none() {
        let lines = "id = \"my-game\"\ntitle = \"My Game\"\nversion = \"1\"\nover = [\"one\", \"two\"]\n";
        let over = read(lines).unwrap().over;
        assert_eq!(over.iter().map(|mention| &*mention.id).collect::<Vec<_>>(), ["one", "two"]);
        let told = read_with("extends = \"one\"\nover = [\"one\", \"two\"]\n");
        assert!(told[0].starts_with("my-game/ruleset.toml:4:1: `extends` beside `over`"), "{told:?}");
    }

    #[test]
    fn a_misplaced_key_is_reported_with_its_section() {
        let problems = read_with("[switches.growth]\nvalues = [true, false]\ntext = \"x\"\nscenario = \"duel\"\n");
        assert_eq!(
            problems,
            [
                "my-game/ruleset.toml:7:1: unknown key `scenario` (it belongs at the top of the file, above the first [section])"
            ]
        );
    }

    #[test]
    fn a_switch_is_one_of_three_kinds() {
        let told = |values: &str| read_with(&format!("[switches.growth]\ntext = \"x\"\n{values}\n")).join("\n");
        assert!(told("values = [true]").contains("lists each of them once"));
        assert!(told("values = [true, \"x\"]").contains("lists each of them once"));
        assert!(told("values = [1, 2]").contains("must be a text"));
        assert!(told("values = [\"a\", \"a\"]").contains("duplicate value"));
        assert!(told("values = [\"flat one\"]").contains("write `flat_one`"));
        assert!(told("values = 3").contains("must be a list"));
        assert!(told("values = [true, false]\nmax = 3").contains("`max` beside `values`"));
        assert!(told("values = { min = 0, max = 10 }").contains("`default` is missing"));
        assert!(told("values = { min = 3, max = 1, default = 2 }").contains("min 3 is more than max 1"));
        assert!(told("min = 0\nmax = 1\ndefault = 2").contains("default 2 is not from 0 to 1"));
        assert!(told("min = 0\nmax = 1e3\ndefault = 2").contains("`max` must be a whole number"));
        assert!(
            read_with("[switches.Growth]\ntext = \"x\"\nvalues = [true, false]\n")[0].contains("no name of a switch")
        );
    }

    #[test]
    fn a_text_of_a_manifest_is_one_harmless_line() {
        assert!(read_with("summary = \"a\\u001b[2J\"\n")[0].contains("`summary` is not one line of text"));
        assert!(read_with("summary = \" \"\n")[0].contains("`summary` is empty"));
        assert!(read_with("[words]\n\"a b\" = \"x\"\n")[0].contains("`a b` is no single word"));
    }

    proptest! {
        /// Damage to a manifest leads at most to problems, never to a panic.
        #[test]
        fn no_damage_makes_the_reader_panic(cut in 0..700_usize, length in 0..60_usize, put in r#"[\[\]{}=.,"'#a-z0-9\n ]{0,12}"#) {
            let start = cut.min(WHOLE.len());
            let text = format!("{}{put}{}", &WHOLE[..start], &WHOLE[(start + length).min(WHOLE.len())..]);
            let _ = read(&text);
        }
    }
}
