use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use serde::{Serialize, Serializer};

use super::difference::{ChangedFile, changed_files};
use super::{Card, Fact, Param, Rulebook, Verb};
use riskbreaker_state::{Kind, Value, readable_name};

/// The differences between two rulesets, for people who change from one to the other.
#[derive(Clone, Debug, Serialize)]
pub struct Contrast {
    /// Name of the first ruleset, with its layers.
    pub first: String,
    /// Name of the second ruleset, with its layers.
    pub second: String,
    /// The sections with differences.
    pub sections: Vec<ContrastSection>,
    /// A sentence for each difference: ``adds the card Taunt``, ``changes `max_risk` of Kill Damage from 3 to 2``.
    #[serde(skip)]
    pub sentences: Vec<String>,
    /// The files that differ.
    #[serde(skip)]
    pub files: Vec<FileChange>,
}

/// A difference in a file of a ruleset. Its text is `maneuvers/feint.luau: max_risk 3 -> 2`, also as JSON.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct FileChange {
    /// The path. Files of the ruleset itself are listed without its id, those of a parent or layer with theirs.
    pub path: String,
    /// The difference: `max_risk 3 -> 2`, `new`, `gone`, `3 lines`.
    pub what: String,
}

impl fmt::Display for FileChange {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}: {}", self.path, self.what)
    }
}

impl Serialize for FileChange {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// The files of [`Contrast::files`], for a ruleset that has changed.
pub fn changes_between(old: &Rulebook, new: &Rulebook) -> Vec<FileChange> {
    Contrast::between(old, new).files
}

/// Lists the updated parts of a ruleset: those in `riskbreaker.lock` whose version or files differ from the former
/// rules. Returns a line for each, such as `my-house 1.2.0 -> 1.3.0`.
pub fn updates_between(old: &Rulebook, new: &Rulebook) -> Vec<String> {
    let mut updates = Vec::new();
    for part in new.stack().parts().iter().filter(|part| part.folder.lock_entry.is_added()) {
        let Some(former) = old.stack().parts().iter().find(|former| former.id() == part.id()) else { continue };
        let (from, to) = (&former.manifest().version, &part.manifest().version);
        if from != to {
            updates.push(format!("{} {from} -> {to}", part.id()));
        } else if part.folder.lock_entry.is_update_of(&former.folder.lock_entry) {
            updates.push(format!("{} {to}, with other files", part.id()));
        }
    }
    updates
}

/// Lists the parts of a ruleset whose version differs from the former rules: id, former version, new version.
pub fn version_changes(old: &Rulebook, new: &Rulebook) -> Vec<(String, String, String)> {
    let version_in = |rules: &Rulebook, id: &str| {
        let part = rules.stack().parts().iter().find(|part| part.id() == id)?;
        Some(part.manifest().version.clone())
    };
    let changed = |id: String| Some((version_in(old, &id)?, version_in(new, &id)?, id));
    let changed = new.parts().into_iter().filter_map(changed).filter(|(from, to, _)| from != to);
    changed.map(|(from, to, id)| (id, from, to)).collect()
}

/// The differences between declarations of one kind.
#[derive(Clone, Debug, Serialize)]
pub struct ContrastSection {
    /// The kind of declaration: `fields`, `cards`, `house rules`.
    pub title: &'static str,
    /// The differing declarations, in the order of their names.
    pub differences: Vec<Differing>,
}

/// A declaration that only one of the rulesets has, or that differs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Differing {
    /// The name: `character.level`, `pass.text`, `growth`.
    pub name: String,
    /// Its value in the first ruleset, as text. `None` if it does not exist.
    pub first: Option<String>,
    /// Its value in the second ruleset, as text. `None` if it does not exist.
    pub second: Option<String>,
}

/// Declarations as texts, by name.
type NamedThings = BTreeMap<String, String>;

impl Contrast {
    /// All possible section titles, in order.
    pub const TITLES: [&'static str; 17] = [
        "made of",
        "cards",
        "items",
        "rolls",
        "house rules",
        "kinds",
        "fields",
        "derived values",
        "verbs",
        "free acts",
        "hooks",
        "seats",
        "words at the prompt",
        "scenarios",
        "people",
        "policies",
        "modules",
    ];

    /// Compares the declarations of two rulesets: kinds with fields, cards with facts, verbs, rolls, house rules,
    /// people.
    ///
    /// The behavior of functions cannot be compared. Instead, a function is listed with its file if the files differ.
    pub fn between(first: &Rulebook, second: &Rulebook) -> Contrast {
        let of = |title: &'static str| -> Vec<Differing> {
            let by = |of: fn(&Rulebook) -> NamedThings| differing(of(first), of(second));
            let with_functions = |of: fn(&Rulebook) -> NamedThings, files: fn(&Rulebook) -> NamedThings| {
                sorted(by(of), otherwise(first, second, files))
            };
            match title {
                "made of" => by(parts),
                "kinds" => {
                    let one_sided = |differing: &Differing| differing.first.is_none() || differing.second.is_none();
                    by(kinds).into_iter().filter(one_sided).collect()
                }
                "fields" => {
                    let of_both = |name: &str| {
                        let kind = name.split('.').next().unwrap_or(name);
                        first.schema().kind_named(kind).is_some() && second.schema().kind_named(kind).is_some()
                    };
                    by(fields).into_iter().filter(|differing| of_both(&differing.name)).collect()
                }
                "derived values" => with_functions(derived, derived_files),
                "cards" => {
                    let cards = card_differences(first.cards(), second.cards(), &same_cards(first, second));
                    sorted(cards, otherwise(first, second, |rules| card_files(rules.cards())))
                }
                "items" => {
                    let items = card_differences(first.items(), second.items(), &NamedThings::new());
                    sorted(items, otherwise(first, second, |rules| card_files(rules.items())))
                }
                "hooks" => by(hooks),
                "verbs" => with_functions(verbs, verb_files),
                "free acts" => by(free_acts),
                "rolls" => by(rolls),
                "house rules" => by(switches),
                "seats" => by(|rules| rules.seats().clone()),
                "words at the prompt" => by(|rules| rules.words().clone()),
                "scenarios" => by(scenarios),
                "people" => by(people),
                "policies" => by(policies),
                _ => by(modules),
            }
        };
        let sections = Contrast::TITLES.into_iter().map(|title| ContrastSection { title, differences: of(title) });
        let mut sections: Vec<ContrastSection> = sections.collect();
        sections.retain(|section| !section.differences.is_empty());
        let files = changed_files(first, second);
        let sentences = sentences(first, second, &sections, &files);
        let files = file_changes(second, &sections, &files);
        Contrast { first: first.name(), second: second.name(), sections, sentences, files }
    }
}

/// The difference of each file. If only the number of changed lines is known, the facts of its card are listed instead.
fn file_changes(second: &Rulebook, sections: &[ContrastSection], files: &[ChangedFile]) -> Vec<FileChange> {
    let cards = || second.cards().iter().chain(second.items());
    let line = |file: &ChangedFile| {
        // Files of the ruleset itself are listed without its name.
        let shown = file.path.strip_prefix(&format!("{}/", second.id())).unwrap_or(&file.path);
        let facts: Vec<String> = match cards().find(|card| card.origins.values().any(|origin| *origin == *file.path)) {
            Some(card) if !file.one_sided && !file.text.contains("->") => facts_of(sections, card),
            _ => Vec::new(),
        };
        let what = if facts.is_empty() { file.text.clone() } else { facts.join(", ") };
        FileChange { path: shown.to_owned(), what }
    };
    files.iter().map(line).collect()
}

/// The differing plain facts of a card, as `max_risk 3 -> 2`.
fn facts_of(sections: &[ContrastSection], card: &Card) -> Vec<String> {
    let of_cards = sections.iter().filter(|section| matches!(section.title, "cards" | "items"));
    let told = of_cards.flat_map(|section| &section.differences).filter_map(|differing| {
        let (id, fact) = differing.name.split_once('.')?;
        let words = |value: &Option<String>| value.clone().unwrap_or_else(|| "none".into());
        let is_function = |value: &Option<String>| value.as_deref().is_some_and(|value| value.starts_with(WORKED_OUT));
        let plain = !is_function(&differing.first) && !is_function(&differing.second) && fact != "text";
        (id == &*card.id && plain)
            .then(|| format!("{fact} {} -> {}", words(&differing.first), words(&differing.second)))
    });
    told.collect()
}

/// The beginning of a difference in a function, which names its file, since functions cannot be compared.
const WORKED_OUT: &str = "worked out in ";
/// The longest value that a sentence spells out, in characters.
const LONGEST: usize = 60;

/// A sentence for each difference. For functions, and for files without another sentence, it names the file.
fn sentences(first: &Rulebook, second: &Rulebook, sections: &[ContrastSection], files: &[ChangedFile]) -> Vec<String> {
    let titles = |id: &str| -> String {
        let cards = second.cards().iter().chain(second.items()).chain(first.cards()).chain(first.items());
        let found = cards.into_iter().find(|card| *card.id == *id);
        found.map_or_else(|| id.to_owned(), |card| card.title.to_string())
    };
    let (mut told, mut covered) = (Vec::new(), BTreeSet::new());
    for section in sections.iter().filter(|section| section.title != "modules") {
        for differing in &section.differences {
            covered.extend(file_of(&differing.first).into_iter().chain(file_of(&differing.second)));
            let line = sentence(section.title, differing, &titles);
            if !told.contains(&line) {
                told.push(line);
            }
        }
    }
    let cards = || first.cards().iter().chain(first.items()).chain(second.cards()).chain(second.items());
    let differs = |id: &str| {
        let of_cards = sections.iter().filter(|section| matches!(section.title, "cards" | "items"));
        of_cards.flat_map(|section| &section.differences).any(|one| one.name.split('.').next() == Some(id))
    };
    let of_cards = cards().filter(|card| differs(&card.id)).flat_map(|card| card.origins.values());
    covered.extend(of_cards.map(|origin| origin.to_string()));
    let has = |title: &str| sections.iter().any(|section| section.title == title);
    let is_told = |path: &str| {
        let (folder, rest) = path.split_once('/').unwrap_or(("", path));
        let one_sided = first.stack().parts().iter().chain(second.stack().parts()).filter(|part| *part.id() == *folder);
        let is_of_layer = one_sided.count() == 1;
        is_of_layer
            || covered.contains(path)
            || rest.starts_with("specs/")
            || rest.ends_with(".md")
            || rest == "ruleset.toml"
                && (has("house rules") || has("made of") || has("seats") || has("words at the prompt"))
            || rest == "kinds.luau" && (has("kinds") || has("fields"))
            || rest.starts_with("scenarios/") && has("scenarios")
            || rest.starts_with("cast/") && has("people")
    };
    let own = |path: &str| path.strip_prefix(&format!("{}/", second.id())).unwrap_or(path).to_owned();
    told.extend(files.iter().filter(|file| !is_told(&file.path)).map(|file| match &*file.text {
        "new" => format!("adds {}", own(&file.path)),
        "gone" => format!("removes {}", own(&file.path)),
        text => format!("changes {} ({text})", own(&file.path)),
    }));
    told
}

/// The file named by a difference in a function.
fn file_of(value: &Option<String>) -> Option<String> {
    Some(value.as_deref()?.strip_prefix(WORKED_OUT)?.to_owned())
}

fn sentence(title: &str, differing: &Differing, titles: &dyn Fn(&str) -> String) -> String {
    let of_cards = matches!(title, "cards" | "items");
    let noun = match title {
        "made of" => "layer",
        "people" => "person",
        "policies" => "policy",
        "words at the prompt" => "word at the prompt",
        plural => plural.strip_suffix('s').unwrap_or(plural),
    };
    let (whole, part) = match differing.name.split_once('.') {
        Some((whole, part)) => (whole, Some(part)),
        None => (&*differing.name, None),
    };
    let whole = if of_cards { titles(whole) } else { format!("`{whole}`") };
    let what = match part {
        Some(part) => format!("`{part}` of {whole}"),
        None => format!("the {noun} {whole}"),
    };
    let file = |value: &Option<String>| {
        file_of(value).map(|file| file.split_once('/').map_or(file.clone(), |(_, rest)| rest.to_owned()))
    };
    match (&differing.first, &differing.second) {
        (None, _) => format!("adds {what}"),
        (_, None) => format!("removes {what}"),
        (first, second) if file_of(first).is_some() || file_of(second).is_some() => {
            format!("changes how {what} works ({})", file(second).or(file(first)).unwrap_or_default())
        }
        (Some(first), Some(second)) if first.chars().count().max(second.chars().count()) > LONGEST => {
            format!("changes {what}")
        }
        (Some(first), Some(second)) => format!("changes {what} from {first} to {second}"),
    }
}

/// The most lines of a summary.
const MOST_LINES: usize = 10;
/// The most names in a line of a summary.
const MOST_NAMES: usize = 6;

impl Contrast {
    /// Summarizes the differences in at most ten lines: for each section the names only in the first ruleset, only in
    /// the second, and changed.
    pub fn summary(&self) -> Vec<(&'static str, String)> {
        let whole = MOST_LINES - usize::from(self.sections.len() > MOST_LINES);
        let mut lines: Vec<_> =
            self.sections.iter().take(whole).map(|section| (section.title, section.in_a_line())).collect();
        if let [_, ..] = &self.sections[lines.len()..] {
            let rest = self.sections[lines.len()..].iter();
            let counts: Vec<String> = rest.map(|more| format!("{} ({})", more.title, more.differences.len())).collect();
            lines.push(("others", counts.join(", ")));
        }
        lines
    }
}

impl ContrastSection {
    fn in_a_line(&self) -> String {
        // Cards are listed with each of their facts.
        let has_facts = matches!(self.title, "cards" | "items");
        let name =
            |one: &'_ Differing| one.name.split('.').next().filter(|_| has_facts).map_or(one.name.len(), str::len);
        let of = |wanted: fn(bool, bool) -> bool| -> Vec<&str> {
            let is_wanted = |one: &&Differing| {
                let part = name(one) < one.name.len();
                wanted(part || one.first.is_some(), part || one.second.is_some())
            };
            let mut names: Vec<&str> =
                self.differences.iter().filter(is_wanted).map(|one| &one.name[..name(one)]).collect();
            names.dedup();
            names
        };
        let parts = [
            ("gone", of(|first, second| first && !second)),
            ("new", of(|first, second| !first && second)),
            ("changed", of(|first, second| first && second)),
        ];
        let told = parts.into_iter().filter(|(_, names)| !names.is_empty()).map(|(what, names)| {
            let few = names.iter().take(MOST_NAMES).copied().collect::<Vec<_>>().join(", ");
            let more = if names.len() > MOST_NAMES { ", ..." } else { "" };
            format!("{} {what} ({few}{more})", names.len())
        });
        told.collect::<Vec<_>>().join(", ")
    }
}

fn differing(mut first: NamedThings, mut second: NamedThings) -> Vec<Differing> {
    let names: BTreeSet<String> = first.keys().chain(second.keys()).cloned().collect();
    let both = names.into_iter().map(|name| {
        let (first, second) = (first.remove(&name), second.remove(&name));
        Differing { name, first, second }
    });
    both.filter(|differing| differing.first != differing.second).collect()
}

fn sorted(mut all: Vec<Differing>, more: Vec<Differing>) -> Vec<Differing> {
    all.extend(more);
    all.sort_by(|one, two| one.name.cmp(&two.name));
    all
}

fn parts(rules: &Rulebook) -> NamedThings {
    let folders = rules.stack().parts().iter();
    folders.map(|part| (part.id().to_string(), format!("version {}", part.manifest().version))).collect()
}

fn kinds(rules: &Rulebook) -> NamedThings {
    let names = |kind: &Kind| kind.fields.iter().map(|field| field.name.to_string()).collect::<Vec<_>>().join(", ");
    rules.schema().kinds.iter().map(|kind| (kind.name.to_string(), names(kind))).collect()
}

fn fields(rules: &Rulebook) -> NamedThings {
    let kinds = rules.schema().kinds.iter();
    let all = kinds.flat_map(|kind| kind.fields.iter().map(move |field| (kind, field)));
    all.map(|(kind, field)| {
        let start = match &field.default {
            Value::None => String::new(),
            Value::Text(text) if text.is_empty() => String::new(),
            Value::List(items) if items.is_empty() => String::new(),
            Value::Map(items) if items.is_empty() => String::new(),
            value => format!(", at first {value}"),
        };
        let label = if *field.label == *field.name { String::new() } else { format!("{}: ", field.label) };
        (format!("{}.{}", kind.name, field.name), format!("{label}{}{start}", field.ty.wanted()))
    })
    .collect()
}

fn derived(rules: &Rulebook) -> NamedThings {
    let kinds = rules.schema().kinds.iter();
    let all = kinds.flat_map(|kind| kind.derived.iter().map(move |value| format!("{}.{value}", kind.name)));
    all.map(|name| (name, "worked out".into())).collect()
}

/// Describes a card in a sentence: its text, and the facts that are a word or a number.
fn card_whole(card: &Card) -> String {
    let short = |(fact, value): (&String, &Fact)| match value {
        Fact::Plain(Value::Text(text)) if text.contains(' ') => None,
        Fact::Plain(Value::List(_) | Value::Map(_)) | Fact::Function => None,
        Fact::Plain(value) => Some(format!("{}: {value}", readable_name(fact))),
    };
    let facts: Vec<String> = card.facts.iter().filter_map(short).collect();
    let text = format!("{}: {}", card.title, card.text);
    if facts.is_empty() { text } else { format!("{text} ({})", facts.join(", ")) }
}

/// Cards with different ids that either ruleset declares as the same: the id in the first, and the id in the second.
fn same_cards(first: &Rulebook, second: &Rulebook) -> NamedThings {
    let has = |rules: &Rulebook, id: &str| rules.cards().iter().any(|card| *card.id == *id);
    let to = second.known_as().into_iter().map(|(id, other)| (other, id));
    let from = first.known_as();
    to.chain(from).filter(|(one, two)| has(first, one) && has(second, two) && !has(second, one)).collect()
}

/// The differences of each fact of cards in both rulesets, and the other cards as a whole. `same`: pairs of ids of
/// equal cards.
fn card_differences(first: &[Card], second: &[Card], same: &NamedThings) -> Vec<Differing> {
    let facts = |card: &Card, name: &str| -> NamedThings {
        let plain = card.facts.iter().filter_map(|(fact, value)| match value {
            Fact::Plain(value) => Some((fact.clone(), value.to_string())),
            Fact::Function => None,
        });
        let own = [("title".to_owned(), card.title.to_string()), ("text".to_owned(), card.text.clone())];
        let told = plain.chain(own).filter(|(_, text)| !text.is_empty());
        told.map(|(fact, text)| (format!("{name}.{fact}"), text)).collect()
    };
    let mut all = Vec::new();
    for card in first {
        let there = same.get(&*card.id).map_or(&*card.id, String::as_str);
        match second.iter().find(|other| *other.id == *there) {
            Some(other) => {
                let name = if *card.id == *there { there.to_owned() } else { format!("{} = {there}", card.id) };
                all.extend(differing(facts(card, &name), facts(other, &name)));
            }
            None => all.push(Differing { name: card.id.to_string(), first: Some(card_whole(card)), second: None }),
        }
    }
    let is_paired = |card: &Card| {
        first.iter().any(|other| other.id == card.id || same.get(&*other.id).is_some_and(|id| **id == *card.id))
    };
    let new = second.iter().filter(|card| !is_paired(card));
    all.extend(new.map(|card| Differing { name: card.id.to_string(), first: None, second: Some(card_whole(card)) }));
    all
}

fn hooks(rules: &Rulebook) -> NamedThings {
    rules.hooks().iter().map(|hook| (hook.to_string(), "there".into())).collect()
}

fn policies(rules: &Rulebook) -> NamedThings {
    rules.policies().iter().map(|id| (id.to_string(), "there".into())).collect()
}

fn verbs(rules: &Rulebook) -> NamedThings {
    let written = |verb: &Verb| {
        let param = |param: &Param| match verb.is_typed {
            true => format!("{param}: {}", param.ty),
            false => param.to_string(),
        };
        format!("({})", verb.params.iter().map(param).collect::<Vec<_>>().join(", "))
    };
    rules.verbs().iter().map(|verb| (verb.name.to_string(), written(verb))).collect()
}

fn free_acts(rules: &Rulebook) -> NamedThings {
    rules.free_acts().iter().map(|act| (act.name.to_string(), act.title.to_string())).collect()
}

fn switches(rules: &Rulebook) -> NamedThings {
    let all = rules.switches();
    all.map(|switch| (switch.name.clone(), format!("{} ({}): {}", switch.default, switch.kind, switch.text))).collect()
}

fn scenarios(rules: &Rulebook) -> NamedThings {
    let all = rules.scenarios().iter();
    all.map(|(name, table)| (name.clone(), text_of(table, "title").unwrap_or_else(|| "there".into()))).collect()
}

fn people(rules: &Rulebook) -> NamedThings {
    let mut named = NamedThings::new();
    for (id, sheet) in rules.cast() {
        named.insert(id.clone(), text_of(sheet, "name").unwrap_or_else(|| "there".into()));
        let Value::Map(fields) = sheet else { continue };
        named.extend(fields.iter().map(|(key, value)| (format!("{id}.{key}"), value.to_string())));
    }
    named
}

fn text_of(table: &Value, key: &str) -> Option<String> {
    let Value::Map(fields) = table else { return None };
    Some(fields.get(key)?.as_text()?.to_string())
}

/// The rows of tables of rolls in the rule texts, by their first cell. A table counts if its heading mentions rolls.
fn rolls(rules: &Rulebook) -> NamedThings {
    let mut named = NamedThings::new();
    for (_, text) in rules.rule_texts() {
        let mut of_rolls = false;
        let mut header = true;
        for line in text.lines() {
            if let Some(heading) = line.strip_prefix('#') {
                of_rolls =
                    heading.to_lowercase().split(|c: char| !c.is_alphanumeric()).any(|word| word.starts_with("roll"));
                header = true;
            }
            let Some(row) = line.trim().strip_prefix('|').filter(|_| of_rolls) else { continue };
            let cells: Vec<&str> = row.trim_end_matches('|').split('|').map(str::trim).collect();
            if cells.iter().all(|cell| cell.chars().all(|c| matches!(c, '-' | ':'))) {
                header = false;
            } else if !header && let Some((first, rest)) = cells.split_first() {
                named.insert((*first).to_string(), rest.join("; "));
            }
        }
    }
    named
}

/// The header comments of modules whose files differ.
fn modules(rules: &Rulebook) -> NamedThings {
    let files = rules.stack().files_in("lib");
    let told = files.into_iter().map(|(path, (_, source))| {
        let comments = source.text.lines().skip_while(|line| line.starts_with("--!"));
        let about = comments.map_while(|line| line.strip_prefix("-- ")).take_while(|line| !line.starts_with("Rules:"));
        (path.to_string(), about.collect::<Vec<_>>().join(" "))
    });
    told.collect()
}

/// The file of each function of cards.
fn card_files(cards: &[Card]) -> NamedThings {
    let all = cards.iter().flat_map(|card| {
        let known = |field: &&String| {
            let plain = matches!(card.facts.get(*field), Some(Fact::Plain(_)));
            !plain && !["id", "title", "text", "rules"].contains(&field.as_str()) && !field.starts_with("rules/")
        };
        let functions = card.origins.iter().filter(move |(field, _)| known(field));
        functions.map(|(field, file)| (format!("{}.{field}", card.id), file.clone()))
    });
    all.collect()
}

fn derived_files(rules: &Rulebook) -> NamedThings {
    let kinds = rules.schema().kinds.iter();
    let all = kinds.flat_map(|kind| kind.derived.iter().zip(&kind.derived_origins).map(move |pair| (kind, pair)));
    all.map(|(kind, (name, file))| (format!("{}.{name}", kind.name), file.to_string())).collect()
}

fn verb_files(rules: &Rulebook) -> NamedThings {
    rules.verbs().iter().map(|verb| (verb.name.to_string(), verb.origin.to_string())).collect()
}

/// Functions with the same name in both rulesets, from different files.
fn otherwise(first: &Rulebook, second: &Rulebook, files: fn(&Rulebook) -> NamedThings) -> Vec<Differing> {
    let (ours, mut theirs) = (files(first), files(second));
    let both = ours.into_iter().filter_map(|(name, file)| Some((name.clone(), file, theirs.remove(&name)?)));
    let other = both.filter(|(_, one, two)| one != two || first.source(one) != second.source(two));
    other
        .map(|(name, one, two)| Differing {
            name,
            first: Some(format!("{WORKED_OUT}{one}")),
            second: Some(format!("{WORKED_OUT}{two}")),
        })
        .collect()
}
