use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::expected::call_place;
use super::field_values::{FieldValue, field_value, value_at, values_of_data};
use super::outline::{OutlineItem, OutlineSort, outline, rule_text, rules_of};
use super::scopes::{Scopes, VariableSort};
use super::target::{NameSense, NameTarget, code, is_mentioned, is_rule_id, sense_at};
use super::token::{Token, TokenKind};
use super::verb_params::{ParamRole, VerbParams};
use super::workspace::{RulesetFile, Workspace};
use riskbreaker_check::{Analysis, Members};
use riskbreaker_play::Ruleset;
use riskbreaker_ruleset::{Fact, Library, Param, ParamType, Rulebook, Stack, Verb};
use riskbreaker_script::{DerivedTypes, api, luau_type};
use riskbreaker_state::{Field, Type, Value};
use riskbreaker_work::WorkBudget;

/// Looks up names from one file: its ruleset with all lower layers, and the texts as the editor shows them.
pub(super) struct FileLookup<'w> {
    workspace: &'w Workspace,
    pub place: RulesetFile,
    library: Library,
    stacks: Vec<Arc<Stack>>,
    rules: Vec<Arc<Ruleset>>,
    analyses: &'w [Arc<Analysis>],
}

/// The work budget for finding the members of an expression.
const WORK_OF_MEMBERS: u64 = 200_000_000;

/// A range in a file on disk.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Spot {
    pub file: PathBuf,
    pub begin: usize,
    pub end: usize,
}

/// Folders in which a file declares the name that it has.
const OF_FILES: [&str; 7] = ["maneuvers", "items", "hooks", "policies", "convert", "cast", "scenarios"];

/// Files whose keys declare names, without extension.
const OF_KEYS: [&str; 4] = ["kinds", "verbs", "play", "ruleset"];

/// Keys whose values are prose.
pub(super) const PROSE_KEYS: [&str; 6] = ["label", "title", "text", "summary", "why", "note"];

impl<'w> FileLookup<'w> {
    /// Creates the lookup of a file; `None` for a file that belongs to no ruleset.
    pub fn new(workspace: &'w Workspace, file: &Path) -> Option<FileLookup<'w>> {
        let place = workspace.place_of(file)?;
        let analyses = workspace.analyses(&place.folder);
        let stacks = analyses.iter().filter_map(|analysis| analysis.stack().cloned()).collect();
        let rules = analyses.iter().filter_map(|analysis| analysis.rules().cloned()).collect();
        Some(FileLookup { workspace, library: workspace.library(&place.folder)?, place, stacks, rules, analyses })
    }

    /// The text of the file as the editor shows it.
    pub fn text(&self) -> String {
        self.workspace.text_of(&self.place.folder.join(&self.place.inside))
    }

    /// What a derived value is, such as `a number`; `None` if it is not known.
    pub(super) fn derived_type(&self, name: &str) -> Option<&'static str> {
        self.analyses.iter().find_map(|analysis| analysis.type_of_derived(name))
    }

    /// What the derived values give.
    pub(super) fn derived_types(&self) -> DerivedTypes {
        self.analyses.first().map(|analysis| analysis.derived_types()).unwrap_or_default()
    }

    /// The members of the expression before [`Members::MARK`] in a text of this file; `None` if they are not known.
    pub fn members(&self, text: &str) -> Option<Members> {
        let budget = WorkBudget::new(WORK_OF_MEMBERS);
        self.analyses.iter().find_map(|analysis| analysis.members_at(&self.place.path(), text, &budget))
    }

    /// The rules of the file's ruleset as data: over each ruleset that it extends.
    pub fn books(&self) -> impl Iterator<Item = &Rulebook> {
        self.rules.iter().map(|rules| rules.book())
    }

    /// The files of the ruleset and its lower layers on disk, the highest layer first: the file, its path inside its
    /// ruleset, and its text.
    pub fn files(&self) -> BTreeMap<PathBuf, (String, String)> {
        let mut found = BTreeMap::new();
        for part in self.stacks.iter().flat_map(|stack| stack.parts()) {
            let Some(folder) = self.library.folder_of(part.id()) else { continue };
            for (inside, source) in &part.folder.files {
                let file = folder.join(inside);
                let text = match self.workspace.documents.get(&file) {
                    Some(document) => document.text.clone(),
                    None => source.text.to_string(),
                };
                found.entry(file).or_insert_with(|| (inside.clone(), text));
            }
        }
        found
    }

    /// Like [`FileLookup::files`], with the files of every ruleset in the folder that extends one of these.
    pub fn files_of_all(&self) -> BTreeMap<PathBuf, (String, String)> {
        let mut found = self.files();
        let mut own: BTreeSet<String> =
            self.stacks.iter().flat_map(|stack| stack.parts()).map(|part| part.id().to_owned()).collect();
        loop {
            let stands_on = |id: &String| {
                let Ok(manifest) = self.library.manifest(id) else { return false };
                let below = manifest.over.iter().chain(&manifest.extends).chain(&manifest.layers);
                below.into_iter().any(|mention| own.contains(&mention.id))
            };
            let more: Vec<String> =
                self.library.ids().into_iter().filter(|id| !own.contains(id) && stands_on(id)).collect();
            if more.is_empty() {
                return found;
            }
            for id in more {
                if let (Some(folder), Ok(read)) = (self.library.folder_of(&id), self.library.read(&id)) {
                    let files = read.files.into_iter();
                    found.extend(
                        files.map(|(inside, source)| (folder.join(&inside), (inside, source.text.to_string()))),
                    );
                }
                own.insert(id);
            }
        }
    }

    /// The places on disk where something is declared, the highest ruleset first.
    pub fn declarations(&self, target: &NameTarget) -> Vec<Spot> {
        if let NameTarget::Variable { name, declared } = target {
            let file = self.place.folder.join(&self.place.inside);
            return vec![Spot { file, begin: *declared, end: declared + name.len() }];
        }
        let files = self.files();
        let spots = |(file, (inside, text)): (&PathBuf, &(String, String))| declared_in(file, inside, text, target);
        files.iter().flat_map(spots).collect()
    }

    /// The path of a file that declares something, in any ruleset of the stacks, also a built-in one.
    pub fn declaring_file(&self, target: &NameTarget) -> Option<String> {
        let parts = self.stacks.iter().flat_map(|stack| stack.parts());
        let mut files = parts.flat_map(|part| &part.folder.files);
        let (_, source) = files.find(|(inside, source)| {
            let file = Path::new(&*source.path);
            !declared_in(file, inside, &source.text, target).is_empty()
        })?;
        Some(source.path.to_string())
    }

    /// The path of a built-in file that declares something, which no edit can change.
    pub fn built_in_file(&self, target: &NameTarget) -> Option<String> {
        let parts = self.stacks.iter().flat_map(|stack| stack.parts());
        let mut built_in =
            parts.filter(|part| self.library.folder_of(part.id()).is_none()).flat_map(|part| &part.folder.files);
        let declares = |(inside, source): &(&String, &riskbreaker_ruleset::Source)| {
            !declared_in(Path::new(&*source.path), inside, &source.text, target).is_empty()
        };
        built_in.find(declares).map(|(_, source)| source.path.to_string())
    }

    /// Like [`FileLookup::declarations`], with the places in rulesets that are in no folder, of which it writes copies.
    pub fn definitions(&self, target: &NameTarget) -> Vec<Spot> {
        let mut found = self.declarations(target);
        let parts = self.stacks.iter().flat_map(|stack| stack.parts());
        for part in parts.filter(|part| self.library.folder_of(part.id()).is_none()) {
            let Some(copy) = self.workspace.copies.path_of(part.id()) else { continue };
            let files = part.folder.files.iter();
            let spots: Vec<Spot> = files
                .flat_map(|(inside, source)| declared_in(&copy.join(inside), inside, &source.text, target))
                .collect();
            // Without its copy a place cannot be shown.
            if !spots.is_empty() && self.workspace.copies.write(part.id(), &part.folder).is_ok() {
                found.extend(spots);
            }
        }
        found
    }

    /// All places that name something, in the files of all rulesets that can mean it.
    pub fn mentions(&self, target: &NameTarget) -> Vec<Spot> {
        if let NameTarget::Variable { declared, .. } = target {
            let file = self.place.folder.join(&self.place.inside);
            let scopes = Scopes::of(&self.text());
            let Some(variable) = scopes.declared_at(*declared) else { return Vec::new() };
            let places = std::iter::once(&variable.declared).chain(&variable.uses);
            return places.map(|range| Spot { file: file.clone(), begin: range.start, end: range.end }).collect();
        }
        let mut found = Vec::new();
        for (file, (inside, text)) in self.files_of_all() {
            let ranges = match target {
                NameTarget::Rule(id) => rule_mentions(&text, id),
                NameTarget::Name(name, sense) => name_mentions(&inside, &text, name, *sense),
                NameTarget::File(name) => text_mentions(&text, name),
                NameTarget::Param { verb, name } if inside.ends_with(".luau") => {
                    let places = VerbParams::of(&text).places.into_iter();
                    let is_it = places.filter(|place| place.verb == *verb && place.name == *name);
                    is_it.map(|place| place.range).collect()
                }
                NameTarget::Value { of, value } => {
                    let found =
                        value_mentions(&inside, &text, (of.as_str(), value.as_str()), &|of| self.is_value(of, value));
                    if self.has_one_meaning(of, value) { found.all() } else { found.sure }
                }
                NameTarget::Word { .. } | NameTarget::Variable { .. } | NameTarget::Param { .. } => Vec::new(),
            };
            found.extend(ranges.into_iter().map(|range| Spot {
                file: file.clone(),
                begin: range.start,
                end: range.end,
            }));
        }
        found
    }

    /// The description of a name for a hover, in Markdown.
    pub fn description(&self, target: &NameTarget) -> Option<String> {
        match target {
            NameTarget::Word { of: "rb", name } => {
                let word = api::word(name)?;
                Some(format!("```luau\n{}\n```\n{}", word.usage, word.text))
            }
            NameTarget::Word { name, .. } => {
                let method = api::spec_method(name)?;
                Some(format!("```luau\n{}\n```\n{}", method.usage, method.text))
            }
            NameTarget::Rule(id) => self.rule(id),
            NameTarget::File(_) => None,
            NameTarget::Variable { declared, .. } => self.variable(*declared),
            NameTarget::Param { verb, name } => {
                let param = |book: &Rulebook| {
                    let known = book.verb(verb)?;
                    match (known.param(name), &**name) {
                        (Some(param), _) => {
                            Some(format!("parameter of the verb `{verb}`\n\n{}", param_description(param)))
                        }
                        (None, "result") => Some(format!("what the verb `{verb}` returned, in `after` and `wrap`")),
                        (None, _) => None,
                    }
                };
                all_of(self.books().filter_map(param))
            }
            NameTarget::Value { of, value } => {
                let owners = self.books().flat_map(|book| owners_of_value(book, of, value));
                all_of(owners.map(|owner| format!("value of {owner}")))
            }
            NameTarget::Name(name, sense) => {
                let told = self.books().flat_map(|book| described(book, name, *sense, self.derived_type(name)));
                let files = if *sense == NameSense::Any { self.files_described(name) } else { Vec::new() };
                all_of(told.chain(files))
            }
        }
    }

    /// Describes the policies, hooks, characters and scenarios of a name by their files, and the rulesets of that id.
    fn files_described(&self, name: &str) -> Vec<String> {
        let mut found = Vec::new();
        for stack in &self.stacks {
            for (folder, sort) in DESCRIBED_FILES {
                let file = ["luau", "toml"].iter().find_map(|ending| stack.file(&format!("{folder}/{name}.{ending}")));
                found.extend(file.map(|(_, source)| format!("{sort} `{name}`{}", head_of(&source.path, &source.text))));
            }
        }
        if self.library.contains(name)
            && let Ok(manifest) = self.library.manifest(name)
        {
            let summary = manifest.summary.as_deref().map_or(String::new(), |summary| format!("\n\n{summary}"));
            found.push(format!("ruleset `{name}`: {}{summary}", manifest.title));
        }
        found
    }

    /// Makes a target of a text more exact: a value of an enum, if the rules know it as one.
    pub fn refined(&self, target: NameTarget, text: &str, at: usize) -> NameTarget {
        let NameTarget::Name(value, NameSense::Any) = &target else { return target };
        match value_at(&self.place.inside, text, at) {
            Some(found) if text[found.range.clone()] == *value && self.is_value(&found.of, value) => {
                NameTarget::Value { of: found.of, value: value.clone() }
            }
            _ => target,
        }
    }

    /// True if a text is a value of the enum of a field, a topic, a parameter or a member of that name.
    fn is_value(&self, of: &str, value: &str) -> bool {
        self.books().any(|book| !owners_of_value(book, of, value).is_empty())
    }

    /// True if a value of an enum is no other name in the rules, and no value of an enum with another name.
    pub fn has_one_meaning(&self, of: &str, value: &str) -> bool {
        self.books().all(|book| {
            let sorts =
                ["kind", "field", "verb", "card", "item", "hook", "entry", "free act", "switch", "cast", "scenario"];
            let is_named = sorts.iter().any(|sort| book.names_of(sort).is_some_and(|names| names.contains(&value)));
            let is_derived = book.schema().kinds.iter().any(|kind| kind.has_derived(value));
            let is_other = is_named
                || is_derived
                || book.declared_topic(value).is_some()
                || book.topics().contains(value)
                || book.context().iter().any(|param| param.name == value)
                || book.policies().iter().any(|policy| **policy == *value);
            !is_other
                && enums(book).iter().all(|(name, _, values)| *name == of || !values.iter().any(|one| **one == *value))
        })
    }

    /// The places that may name a value of an enum but may mean something else.
    pub fn unsure_of_value(&self, of: &str, value: &str) -> Vec<Spot> {
        let mut found = Vec::new();
        for (file, (inside, text)) in self.files_of_all() {
            let places = value_mentions(&inside, &text, (of, value), &|of| self.is_value(of, value)).unsure;
            found.extend(places.into_iter().map(|range| Spot {
                file: file.clone(),
                begin: range.start,
                end: range.end,
            }));
        }
        found
    }

    /// Describes the local variable that is declared at a byte: its line, the comment above, and what it holds.
    fn variable(&self, declared: usize) -> Option<String> {
        let text = self.text();
        let scopes = Scopes::of(&text);
        let variable = scopes.declared_at(declared)?;
        let sort = match variable.sort {
            VariableSort::Local => "local variable",
            VariableSort::Function => "local function",
            VariableSort::Parameter => "parameter",
            VariableSort::Loop => "variable of a loop",
        };
        let begin = text[..declared].rfind('\n').map_or(0, |newline| newline + 1);
        let line = text[begin..].lines().next().unwrap_or_default().trim();
        let above: Vec<&str> = text[..begin].lines().rev().map_while(|line| line.trim().strip_prefix("--")).collect();
        let mut told = format!("{sort} `{}`\n```luau\n{line}\n```", variable.name);
        if !matches!(variable.sort, VariableSort::Parameter | VariableSort::Loop) && !above.is_empty() {
            let comment: Vec<&str> = above.iter().rev().map(|line| line.trim()).collect();
            told = format!("{told}\n{}", comment.join(" "));
        }
        let held = variable.uses.iter().take(MOST_USES).find_map(|used| {
            let (before, after) = (&text[..used.end], &text[used.end..]);
            held(&self.members(&format!("{before}.{}{after}", Members::MARK))?)
        });
        Some(match held {
            Some(held) => format!("{told}\n\n{held}"),
            None => told,
        })
    }

    /// The text of a rule, from the highest ruleset that has it.
    fn rule(&self, id: &str) -> Option<String> {
        let parts = self.stacks.iter().flat_map(|stack| stack.parts().iter().rev());
        parts.filter_map(|part| part.folder.file("RULES.md")).find_map(|source| {
            let file = self.library.folder_of(source.path.split('/').next()?);
            let shown = file.and_then(|folder| self.workspace.documents.get(&folder.join("RULES.md")));
            rule_text(shown.map_or(&*source.text, |document| &*document.text), id)
        })
    }

    /// The ids of all rules with their sentences.
    pub fn rule_sentences(&self) -> BTreeMap<String, String> {
        let mut found = BTreeMap::new();
        for part in self.stacks.iter().flat_map(|stack| stack.parts()) {
            let Some(source) = part.folder.file("RULES.md") else { continue };
            for (ids, sentence) in rules_of(&source.text) {
                let ids = ids.into_iter().filter(|id| is_rule_id(id));
                found.extend(ids.map(|id| (id, sentence.clone())));
            }
        }
        found
    }

    /// The ids of all rulesets in the folder, and of those that are built in.
    pub fn ruleset_ids(&self) -> BTreeSet<String> {
        let parts = self.stacks.iter().flat_map(|stack| stack.parts());
        self.library.ids().into_iter().chain(parts.map(|part| part.id().to_owned())).collect()
    }

    /// The rulesets of the folder that are made directly on this one.
    pub fn layers_above(&self) -> Vec<String> {
        let is_above = |id: &String| {
            let Ok(manifest) = self.library.manifest(id) else { return false };
            *id != self.place.id
                && self.library.folder_of(id).is_some()
                && manifest.over.iter().chain(&manifest.extends).any(|mention| mention.id == self.place.id)
        };
        self.library.ids().into_iter().filter(is_above).collect()
    }

    /// True if a ruleset below this one has a file.
    pub fn is_in_lower_part(&self, inside: &str) -> bool {
        let parts = self.stacks.iter().flat_map(|stack| stack.parts());
        let mut lower = parts.filter(|part| part.id() != self.place.id);
        lower.any(|part| part.folder.files.contains_key(inside))
    }

    /// The names of the files in a folder of the ruleset, without their extensions.
    pub fn stems_in(&self, folder: &str) -> BTreeSet<String> {
        let files = std::fs::read_dir(self.place.folder.join(folder)).into_iter().flatten().flatten();
        files.filter_map(|file| Some(file.path().file_stem()?.to_str()?.to_owned())).collect()
    }

    /// The paths that a script can require.
    pub fn required(&self) -> BTreeSet<String> {
        let parts = self.stacks.iter().flat_map(|stack| stack.parts());
        let stems = parts.flat_map(|part| part.folder.files.keys()).filter_map(|path| path.strip_suffix(".luau"));
        stems.filter(|stem| stem.starts_with("lib/")).map(str::to_owned).collect()
    }
}

/// The uses of a variable that are read to find what it holds.
const MOST_USES: usize = 3;

/// Describes a value by what can be read off it.
fn held(members: &Members) -> Option<String> {
    let listed = |names: &[String]| names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
    Some(match members {
        Members::Entity(Some(kind)) => format!("a `{kind}`"),
        Members::Entity(None) => "an entity".into(),
        Members::Event(names) => format!("what the verb is given: {}", listed(names)),
        Members::Attached => "what is attached: `id`, `hook`, `owner`, `data`".into(),
        Members::Question => "the question that the policy answers".into(),
        Members::Context(names) => format!("the context of a card: {}", listed(names)),
        Members::Data(names) => format!("the data of the attachment: {}", listed(names)),
        Members::Module(names) => {
            let names: Vec<String> = names.iter().map(|(name, _)| name.clone()).collect();
            format!("what the file returns: {}", listed(&names))
        }
        _ => return None,
    })
}

/// The places in a file where something is declared.
fn declared_in(file: &Path, inside: &str, text: &str, target: &NameTarget) -> Vec<Spot> {
    let stem = inside.rsplit_once('.').map_or(inside, |(stem, _)| stem);
    let ranges: Vec<Range<usize>> = match target {
        NameTarget::Rule(id) if inside == "RULES.md" => {
            let rules = outline(inside, text).into_iter();
            rules.filter(|rule| rule.sort == OutlineSort::Rule && rule.name == *id).map(|rule| rule.range).collect()
        }
        NameTarget::File(name) if stem == name.strip_prefix("@parent/").unwrap_or(name) => {
            std::iter::once(0..0).collect()
        }
        NameTarget::Name(name, sense) => {
            let (folder, last) = stem.rsplit_once('/').unwrap_or(("", stem));
            let first = folder.split('/').next().unwrap_or_default();
            if last == name && *sense == NameSense::Any && OF_FILES.contains(&first) {
                std::iter::once(0..0).collect()
            } else if OF_KEYS.contains(&stem.split('/').next().unwrap_or_default()) {
                let keys = outline(inside, text).into_iter();
                let is_it = |key: &OutlineItem| key.name == *name && is_declaration(stem, &key.around, *sense);
                keys.filter(is_it).map(|key| key.range).collect()
            } else {
                Vec::new()
            }
        }
        NameTarget::Param { verb, name } if inside.ends_with(".luau") => {
            let declared = VerbParams::of(text).places.into_iter().filter(|place| place.role == ParamRole::Declared);
            declared.filter(|place| place.verb == *verb && place.name == *name).map(|place| place.range).collect()
        }
        NameTarget::Value { of, value } if inside.ends_with(".luau") => {
            let tokens = code(text);
            let values = (0..tokens.len()).filter_map(|index| field_value(text, &tokens, index));
            let is_it =
                |found: &FieldValue| found.is_declared && found.of == *of && text[found.range.clone()] == **value;
            values.filter(is_it).map(|found| found.range).collect()
        }
        NameTarget::Rule(_)
        | NameTarget::File(_)
        | NameTarget::Word { .. }
        | NameTarget::Variable { .. }
        | NameTarget::Param { .. }
        | NameTarget::Value { .. } => Vec::new(),
    };
    ranges.into_iter().map(|range| Spot { file: file.to_owned(), begin: range.start, end: range.end }).collect()
}

/// True if a key is a declaration of its file with a meaning: a kind, a field, a verb, an entry, a free act, a fact, a
/// member of `ctx`, a switch or a seat.
pub(super) fn is_declaration(stem: &str, around: &[String], sense: NameSense) -> bool {
    let around: Vec<&str> = around.iter().map(String::as_str).collect();
    match (stem.split('/').next().unwrap_or_default(), &*around) {
        ("verbs", []) => matches!(sense, NameSense::Any | NameSense::Verb),
        ("play", ["card" | "item"]) => sense == NameSense::Fact,
        ("play", ["context"]) => matches!(sense, NameSense::Any | NameSense::Context),
        ("ruleset", ["switches"]) => matches!(sense, NameSense::Any | NameSense::Switch),
        ("kinds", [] | [_, "fields" | "derived"])
        | ("play", ["entries" | "free" | "views" | "topics"])
        | ("ruleset", ["seats" | "words"]) => sense == NameSense::Any,
        _ => false,
    }
}

/// Describes everything that a ruleset declares under a name, a paragraph each. `derived`: what a derived value of that
/// name is, if that is known.
fn described(book: &Rulebook, name: &str, sense: NameSense, derived: Option<&str>) -> Vec<String> {
    let verb = || book.verb(name).map(verb_description);
    let context = || {
        let param = book.context().iter().find(|param| param.name == name)?;
        Some(format!("in `ctx` of a card\n\n{}", param_description(param)))
    };
    let switch = || book.switch(name).map(|switch| format!("switch `{name}`\n\n{}", switch.text));
    let by_place = match sense {
        NameSense::Any => None,
        NameSense::Verb => verb(),
        NameSense::Context => context(),
        NameSense::Switch => switch(),
        NameSense::Fact => return facts_described(book, name),
    };
    if let Some(told) = by_place {
        return vec![told];
    }
    let mut told = Vec::new();
    for (sort, cards) in [("card", book.cards()), ("item", book.items())] {
        if let Some(card) = cards.iter().find(|card| *card.id == *name) {
            let rules = if card.rules.is_empty() { String::new() } else { format!("\n\n{}", card.rules.join(", ")) };
            told.push(format!("**{}** ({sort} `{name}`)\n\n{}{rules}", card.title, card.text));
        }
    }
    for kind in &book.schema().kinds {
        if *kind.name == *name {
            let fields: Vec<String> =
                kind.fields.iter().map(|field| format!("{}: {}", field.name, luau_type(&field.ty))).collect();
            told.push(format!("kind `{name}`\n```luau\n{{ {} }}\n```", fields.join(", ")));
        }
        if let Some(field) = kind.fields.iter().find(|field| *field.name == *name) {
            let label = if field.label == field.name { String::new() } else { format!(", {}", field.label) };
            let ty = luau_type(&field.ty);
            let words = words_of_field(field);
            told.push(format!("field of `{}`{label}\n```luau\n{name}: {ty}\n```\n{words}", kind.name));
        }
        if kind.has_derived(name) {
            let ty = derived.map_or(String::new(), |ty| format!(": {ty}"));
            told.push(format!("derived value of `{}`{ty}", kind.name));
        }
    }
    told.extend(verb());
    told.extend(context());
    if let Some(param) = book.declared_topic(name) {
        told.push(format!("topic of a question\n\n{}", param_description(param)));
    }
    told.extend(switch());
    if book.has_entry(name) {
        told.push(format!("entry of the agenda `{name}`"));
    }
    if let Some(title) = book.seats().get(name) {
        told.push(format!("seat `{name}`: {title}"));
    }
    told
}

/// The folders whose files are described by their first lines, with what a file of them is.
const DESCRIBED_FILES: [(&str, &str); 4] =
    [("policies", "policy"), ("hooks", "hook"), ("cast", "character of `cast/`"), ("scenarios", "scenario")];

/// The description at the head of a file: of a script, its first comment; of a data file, its title and text.
fn head_of(path: &str, text: &str) -> String {
    if path.ends_with(".toml") {
        let of = |key: &str| {
            let value = text.lines().find_map(|line| line.strip_prefix(key)?.trim_start().strip_prefix('='))?;
            Some(value.trim().trim_matches('"').to_owned())
        };
        let title = of("title").or_else(|| of("name")).map_or(String::new(), |title| format!(": {title}"));
        return format!("{title}{}", of("text").map_or(String::new(), |text| format!("\n\n{text}")));
    }
    let lines = text.lines().skip_while(|line| line.starts_with("--!"));
    let comment: Vec<&str> = lines.map_while(|line| line.strip_prefix("--")).map(str::trim).collect();
    if comment.is_empty() { String::new() } else { format!("\n\n{}", comment.join(" ")) }
}

/// Joins descriptions, each once; `None` if there are none.
fn all_of(lines: impl Iterator<Item = String>) -> Option<String> {
    let mut told: Vec<String> = Vec::new();
    for line in lines {
        if !told.contains(&line) {
            told.push(line);
        }
    }
    (!told.is_empty()).then(|| told.join("\n\n---\n\n"))
}

/// What a field takes and its value at first, in words: `a whole number from 0 to 10, at first 4`.
fn words_of_field(field: &Field) -> String {
    match &field.default {
        Value::None => field.ty.wanted(),
        Value::Text(text) if text.is_empty() => field.ty.wanted(),
        Value::List(items) if items.is_empty() => field.ty.wanted(),
        Value::Map(items) if items.is_empty() => field.ty.wanted(),
        value => format!("{}, at first {value}", field.ty.wanted()),
    }
}

/// The enums that a ruleset declares: the name, what has it in words, and the values.
fn enums(book: &Rulebook) -> Vec<(&str, String, &[Arc<str>])> {
    let mut found: Vec<(&str, String, &[Arc<str>])> = Vec::new();
    for kind in &book.schema().kinds {
        for field in &kind.fields {
            if let Some(values) = values_of(&field.ty) {
                found.push((&*field.name, format!("the field `{}` of `{}`", field.name, kind.name), values));
            }
        }
    }
    let all = book.verbs().iter().map(|verb| (&*verb.params, format!("the verb `{}`", verb.name)));
    let hooks = book.hooks().iter().chain(book.items().iter().map(|item| &item.id));
    let data = hooks.filter_map(|hook| Some((book.hook_data(hook)?, format!("the data of `{hook}`"))));
    let rest = [(book.context(), "`ctx` of a card".to_owned()), (book.declared_topics(), "the questions".to_owned())];
    for (params, owner) in all.chain(data).chain(rest) {
        for param in params {
            let ParamType::Value(ty) = &param.ty else { continue };
            if let Some(values) = values_of(ty) {
                found.push((&*param.name, format!("`{}` of {owner}", param.name), values));
            }
        }
    }
    found
}

/// The values of an enum, also of a list or a map of them.
fn values_of(ty: &Type) -> Option<&[Arc<str>]> {
    match ty {
        Type::Enum(values) => Some(values),
        Type::List(element) | Type::Map(element) => values_of(element),
        _ => None,
    }
}

/// What has a name and takes a text as a value of its enum: the field, the topic or the parameter, with all its values.
fn owners_of_value(book: &Rulebook, of: &str, value: &str) -> Vec<String> {
    let has = |values: &[Arc<str>]| values.iter().any(|one| **one == *value);
    let listed = |values: &[Arc<str>]| values.iter().map(|one| format!("`{one}`")).collect::<Vec<_>>().join(", ");
    let found = enums(book).into_iter().filter(|(name, _, values)| *name == of && has(values));
    found.map(|(_, owner, values)| format!("{owner}: {}", listed(values))).collect()
}

/// The places of a text that is a value of an enum.
#[derive(Default)]
struct ValueMentions {
    /// Beside the name of the field, topic or parameter.
    sure: Vec<Range<usize>>,
    /// Elsewhere: in a list, in a variable, as a key of a table.
    unsure: Vec<Range<usize>>,
    /// In prose, between backquotes.
    prose: Vec<Range<usize>>,
}

impl ValueMentions {
    fn all(self) -> Vec<Range<usize>> {
        let mut found = self.sure;
        found.extend(self.unsure);
        found.extend(self.prose);
        found.sort_by_key(|range| range.start);
        found
    }
}

/// The places in a file that may name a value: `of` is the name that it is a value of. `is_value`: whether it is also a
/// value of another name.
fn value_mentions(
    inside: &str,
    text: &str,
    (of, value): (&str, &str),
    is_value: &dyn Fn(&str) -> bool,
) -> ValueMentions {
    let mut found = ValueMentions::default();
    if !text.contains(value) {
        return found;
    }
    let named = |range: &Range<usize>| text[range.clone()] == *value;
    match inside.rsplit('.').next() {
        Some("luau" | "lua") => {
            let (tokens, scopes) = (code(text), Scopes::of(text));
            for (index, token) in tokens.iter().enumerate() {
                let before = |back: usize| index.checked_sub(back).map_or("", |at| tokens[at].text(text));
                match token.kind {
                    TokenKind::Text if named(&token.inner(text)) => {
                        let range = token.inner(text);
                        match field_value(text, &tokens, index).map(|found| found.of) {
                            Some(name) if name == of => found.sure.push(range),
                            Some(name) if is_value(&name) || PROSE_KEYS.contains(&&*name) => {}
                            None if is_topic_of_spec(&tokens, index, text) => {}
                            _ => found.unsure.push(range),
                        }
                    }
                    TokenKind::Name
                        if token.text(text) == value
                            && !(before(1) == "." && before(2) == "rb" || before(1) == ":")
                            && is_mentioned(&tokens, index, text)
                            && !scopes.has(token.begin) =>
                    {
                        found.unsure.push(token.begin..token.end);
                    }
                    _ => {}
                }
            }
        }
        Some("toml") => {
            for place in values_of_data(text).into_iter().filter(|place| named(&place.range)) {
                match &*place.of {
                    name if name == of => found.sure.push(place.range),
                    name if is_value(name) || PROSE_KEYS.contains(&name) => {}
                    _ => found.unsure.push(place.range),
                }
            }
        }
        _ => {
            let quoted = format!("`{value}`");
            found.prose.extend(text.match_indices(&quoted).map(|(at, _)| at + 1..at + 1 + value.len()));
        }
    }
    found
}

/// True if the text at an index is the topic that a method of a spec takes first.
fn is_topic_of_spec(tokens: &[Token], index: usize, text: &str) -> bool {
    let before = |back: usize| index.checked_sub(back).map_or("", |at| tokens[at].text(text));
    before(1) == "("
        && before(3) == ":"
        && before(4) == "t"
        && ["answer", "asked", "refused_answer"].contains(&before(2))
}

/// Describes a fact of cards and of items: its declared type, and the values that it has on some of them.
fn facts_described(book: &Rulebook, name: &str) -> Vec<String> {
    let declarations = book.declarations();
    let sorts = [("cards", &declarations.card_facts, book.cards()), ("items", &declarations.item_facts, book.items())];
    let mut told = Vec::new();
    for (sort, declared, cards) in sorts {
        let declared = declared.iter().find(|(known, _)| known == name).map(|(_, ty)| ty);
        let mut values: Vec<String> = Vec::new();
        for fact in cards.iter().filter_map(|card| card.facts.get(name)) {
            let value = match fact {
                Fact::Plain(value) => format!("`{value}`"),
                Fact::Function => "computed".to_owned(),
            };
            if !values.contains(&value) {
                values.push(value);
            }
        }
        if declared.is_none() && values.is_empty() {
            continue;
        }
        let ty = declared.map_or(String::new(), |ty| format!("\n```luau\n{name}: {ty}\n```"));
        let more = if values.len() > MOST_VALUES { ", ..." } else { "" };
        values.truncate(MOST_VALUES);
        let values = if values.is_empty() { String::new() } else { format!("\n\nvalues: {}{more}", values.join(", ")) };
        told.push(format!("fact `{name}` of {sort}{ty}{values}"));
    }
    told
}

/// The most values of a fact in its description.
const MOST_VALUES: usize = 8;

/// Describes a verb: its sentence, and each parameter.
fn verb_description(verb: &Verb) -> String {
    let mut told = format!("verb\n```luau\nrb.act.{}\n```", verb.signature());
    if !verb.text.is_empty() {
        told = format!("{told}\n{}", verb.text);
    }
    if verb.is_typed && !verb.params.is_empty() {
        let params = verb.params.iter().map(|param| format!("- {}", param_description(param)));
        told = format!("{told}\n\n{}", params.collect::<Vec<_>>().join("\n"));
    }
    told
}

/// Describes a parameter with its type and purpose: "`cause`: a text, can be left out. Why it happens."
fn param_description(param: &Param) -> String {
    let left_out = if param.optional { ", can be left out" } else { "" };
    let text = if param.text.is_empty() { String::new() } else { format!(". {}", param.text) };
    format!("`{}`: {}{left_out}{text}", param.name, param.ty)
}

fn rule_mentions(text: &str, id: &str) -> Vec<Range<usize>> {
    let part = |letter: char| letter.is_ascii_alphanumeric() || letter == '-';
    let found = text.match_indices(id).map(|(at, _)| at..at + id.len());
    found.filter(|range| !text[..range.start].ends_with(part) && !text[range.end..].starts_with(part)).collect()
}

fn text_mentions(text: &str, said: &str) -> Vec<Range<usize>> {
    let texts = code(text).into_iter().filter(|token| token.kind == TokenKind::Text);
    texts.map(|token| token.inner(text)).filter(|inner| text[inner.clone()] == *said).collect()
}

/// The places in a file of a name with a meaning: as a member, as a key, or as a whole text that is not prose.
fn name_mentions(inside: &str, text: &str, name: &str, sense: NameSense) -> Vec<Range<usize>> {
    if !text.contains(name) {
        return Vec::new();
    }
    match inside.rsplit('.').next() {
        Some("luau" | "lua") => {
            let (tokens, scopes) = (code(text), Scopes::of(text));
            let is_it = |index: usize| sense.can_be(sense_at(&tokens, index, text));
            let mut found = Vec::new();
            for (index, token) in tokens.iter().enumerate() {
                let before = |back: usize| index.checked_sub(back).map_or("", |at| tokens[at].text(text));
                let is_word = before(1) == "." && before(2) == "rb" || before(1) == ":" && before(2) == "t";
                match token.kind {
                    TokenKind::Name
                        if token.text(text) == name
                            && !is_word
                            && is_mentioned(&tokens, index, text)
                            && !scopes.has(token.begin)
                            && is_it(index) =>
                    {
                        found.push(token.begin..token.end);
                    }
                    TokenKind::Text
                        if text[token.inner(text)] == *name
                            && !(before(1) == "=" && PROSE_KEYS.contains(&before(2)))
                            && is_it(index) =>
                    {
                        found.push(token.inner(text));
                    }
                    TokenKind::Text if sense.can_be(NameSense::Any) => {
                        found.extend(in_path(text, token.inner(text), name));
                        if begins_with_id(&text[token.inner(text)], name) && is_in_position(&tokens, index, text) {
                            let begin = token.inner(text).start;
                            found.push(begin..begin + name.len());
                        }
                    }
                    _ => {}
                }
            }
            found
        }
        // Data files and prose do not show which of several meanings they name.
        _ if !sense.can_be(NameSense::Any) => Vec::new(),
        Some("toml") => {
            let is_it = |key: &OutlineItem| key.sort == OutlineSort::Key && key.name == name;
            let keys = outline(inside, text).into_iter().filter(is_it).map(|key| key.range);
            let mut found: Vec<Range<usize>> = keys.collect();
            for (begin, line) in lines_with_offsets(text) {
                let is_prose = line.split('=').next().is_some_and(|key| PROSE_KEYS.contains(&key.trim()));
                let quoted = format!("\"{name}\"");
                if !is_prose {
                    let values = line.match_indices(&quoted).map(|(at, _)| begin + at + 1..begin + at + 1 + name.len());
                    found.extend(values);
                    if inside.starts_with("scenarios/") {
                        let texts = line.match_indices('"').filter(|(at, _)| begins_with_id(&line[at + 1..], name));
                        found.extend(texts.map(|(at, _)| begin + at + 1..begin + at + 1 + name.len()));
                    }
                }
            }
            found.sort_by_key(|range| range.start);
            found.dedup();
            found
        }
        _ => {
            // In prose, a name is written between backquotes.
            let quoted = format!("`{name}`");
            text.match_indices(&quoted).map(|(at, _)| at + 1..at + 1 + name.len()).collect()
        }
    }
}

/// True if a text begins with an id and goes on after a space, as in `guard at 3, 4`.
fn begins_with_id(text: &str, id: &str) -> bool {
    text.strip_prefix(id).is_some_and(|rest| rest.starts_with(' '))
}

/// True if the text at an index belongs to a position that a spec gives.
fn is_in_position(tokens: &[Token], index: usize, text: &str) -> bool {
    let place = call_place(text, &tokens[..index]);
    place.is_some_and(|place| matches!(&*place.callee, "t:given" | "t:given_refused"))
}

/// The places of a name in a text that is a path of fields or several, such as `side.seat`, `-foe.hits` and `scar.bearer
/// by scar.cause`.
fn in_path(text: &str, inner: Range<usize>, name: &str) -> Vec<Range<usize>> {
    let path = &text[inner.clone()];
    let is_name = |word: &str| {
        word.starts_with(|letter: char| letter.is_ascii_lowercase() || letter == '_')
            && word.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_')
    };
    let words = path.split([',', ' ']).filter(|word| !word.is_empty() && *word != "by");
    let is_path = |word: &str| {
        let word = word.trim_start_matches('-');
        word.contains('.') && word.split('.').all(is_name)
    };
    if !words.clone().all(is_path) {
        return Vec::new();
    }
    let begin = |piece: &str| piece.as_ptr() as usize - path.as_ptr() as usize + inner.start;
    let pieces = words.flat_map(|word| word.trim_start_matches('-').split('.'));
    pieces.filter(|piece| *piece == name).map(|piece| begin(piece)..begin(piece) + name.len()).collect()
}

fn lines_with_offsets(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut begin = 0;
    text.split_inclusive('\n').map(move |line| {
        begin += line.len();
        (begin - line.len(), line)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn marked(inside: &str, text: &str, name: &str) -> String {
        let mut text = text.to_owned();
        for range in name_mentions(inside, &text, name, NameSense::Any).into_iter().rev() {
            text.replace_range(range, "_");
        }
        text
    }

    #[test]
    fn a_name_is_found_as_a_member_a_key_and_a_text() {
        let script =
            "-- hits\nlocal hits = e.foe.hits\nfoe:set(\"hits\", hits) f({ hits = 1, label = \"hits\" }) rb.hits()";
        let found = "-- hits\nlocal hits = e.foe._\nfoe:set(\"_\", hits) f({ _ = 1, label = \"hits\" }) rb.hits()";
        assert_eq!(marked("a.luau", script, "hits"), found);
        assert_eq!(
            marked("cast/a.toml", "hits = 1\nx = [\"hits\"]\ntext = \"hits\"\n", "hits"),
            "_ = 1\nx = [\"_\"]\ntext = \"hits\"\n"
        );
        let paths =
            "hit = \"-foe.hits\", seat = \"side.hits\", x = \"a.b by c.hits, hits.d\", y = \"foe.hits, and so on\"";
        let found = "hit = \"-foe._\", seat = \"side._\", x = \"a.b by c._, _.d\", y = \"foe.hits, and so on\"";
        assert_eq!(marked("play.luau", paths, "hits"), found);
        assert_eq!(marked("RULES.md", "The `hits` are hits.", "hits"), "The `_` are hits.");
        assert_eq!(rule_mentions("G-1, G-12 and G-1.", "G-1"), [0..3, 14..17]);
    }
}
