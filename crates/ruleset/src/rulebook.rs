use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, OnceLock};

use serde::Serialize;

use super::version::Version;
use super::{
    Data, Declarations, FreeName, HitCount, HitSign, LoadError, Param, Problem, RecapSentences, Stack, Switch, Verb,
};
use riskbreaker_state::{Entity, EntityId, FieldId, OutcomeKind, Schema, State, Type, Value};

/// A ruleset as data: its sources and declarations, merged, checked and immutable. It runs nothing.
///
/// It has many methods, since each declaration has one that looks it up.
pub struct Rulebook {
    stack: Arc<Stack>,
    declarations: Arc<Declarations>,
    scenarios: BTreeMap<String, Value>,
    cast: BTreeMap<String, Value>,
    /// Layers on top, besides those of its manifest.
    layers: Vec<String>,
    looks_at_rolls: OnceLock<bool>,
    names: OnceLock<BTreeSet<String>>,
}

/// The description of a card, which the host can list without playing it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Card {
    /// The id in scripts and answers.
    pub id: Arc<str>,
    /// The title for people.
    pub title: Arc<str>,
    /// The printed text.
    pub text: String,
    /// Ids of the rules that it implements.
    pub rules: Vec<String>,
    /// Its other entries in the card file, by name.
    pub facts: BTreeMap<String, Fact>,
    /// The sentences with which a recap describes the card.
    #[serde(skip_serializing_if = "RecapSentences::is_empty")]
    pub recap: RecapSentences,
    /// The file from which each field comes, by field.
    pub origins: BTreeMap<String, String>,
}

impl Card {
    /// True if two lists have the same cards in the same order, apart from their printed texts and recaps.
    pub(crate) fn have_same_facts(cards: &[Card], others: &[Card]) -> bool {
        let is_same = |(card, other): (&Card, &Card)| {
            (&card.id, &card.title, &card.rules) == (&other.id, &other.title, &other.rules)
                && (&card.facts, &card.origins) == (&other.facts, &other.origins)
        };
        cards.len() == others.len() && cards.iter().zip(others).all(is_same)
    }
}

/// A fact on a card.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Fact {
    /// A value.
    Plain(Value),
    /// Computed when the card is looked at.
    #[serde(serialize_with = "worked_out")]
    Function,
}

fn worked_out<S: serde::Serializer>(serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str("worked out")
}

/// The most letters in the name of a declaration, such as a card, a field or a verb.
pub const LONGEST_NAME: usize = 100;
/// The most letters of a title.
pub const LONGEST_TITLE: usize = 200;

/// The longest name of a topic, in bytes.
const LONGEST_TOPIC: usize = 100;

impl Rulebook {
    /// Combines sources with the declarations of their scripts.
    ///
    /// # Errors
    ///
    /// The problems of its data files and those of its scripts.
    #[doc(hidden)]
    pub fn new(
        stack: Arc<Stack>,
        declared: Result<Arc<Declarations>, LoadError>,
        layers: &[String],
    ) -> Result<Rulebook, LoadError> {
        let mut problems = Vec::new();
        let scenarios = tables(&stack, "scenarios", &mut problems);
        let cast = tables(&stack, "cast", &mut problems);
        match declared {
            Ok(declarations) if problems.is_empty() => {
                let (looks_at_rolls, names) = (OnceLock::new(), OnceLock::new());
                let layers = layers.to_vec();
                Ok(Rulebook { stack, declarations, scenarios, cast, layers, looks_at_rolls, names })
            }
            declared => {
                problems.extend(declared.err().into_iter().flat_map(|error| error.problems));
                Err(LoadError::new(layered_name(stack.main().id(), layers), problems))
            }
        }
    }

    /// True if both declare the same names, types, facts, scenarios and cast, in the same layers. The printed texts and
    /// the recaps of cards do not count, nor do the functions of scripts.
    #[doc(hidden)]
    pub fn declares_same(&self, other: &Rulebook) -> bool {
        let is_same_data = self.scenarios == other.scenarios && self.cast == other.cast;
        self.layers == other.layers && is_same_data && self.declarations.declares_same(&other.declarations)
    }

    /// The id of the ruleset.
    pub fn id(&self) -> &str {
        self.stack.main().id()
    }

    /// Its id with the layers on top: `game+house`.
    pub fn name(&self) -> String {
        layered_name(self.id(), &self.layers)
    }

    /// The title of the ruleset.
    pub fn title(&self) -> &str {
        &self.stack.main().manifest().title
    }

    /// Its version.
    pub fn version(&self) -> &str {
        &self.stack.main().manifest().version
    }

    /// Its description in a sentence.
    pub fn summary(&self) -> &str {
        self.stack.main().manifest().summary.as_deref().unwrap_or("")
    }

    /// Hash of the content of all its files, which identifies a generation.
    pub fn hash(&self) -> String {
        self.stack.hash()
    }

    /// True if a written hash, of today's form or of the form of programs up to 0.1.0, is that of these rules.
    pub fn has_hash(&self, written: &str) -> bool {
        self.stack.has_hash(written)
    }

    /// The layers on top, besides those of its manifest.
    pub fn extra_layers(&self) -> &[String] {
        &self.layers
    }

    /// Its `RULES.md` and those of its parents and layers, bottom first: the path and the text.
    pub fn rule_texts(&self) -> impl Iterator<Item = (&str, &str)> {
        let files = self.stack.parts().iter().filter_map(|part| part.folder.file("RULES.md"));
        files.map(|source| (&*source.path, &*source.text))
    }

    /// The entries of its `CHANGELOG.md` for versions above `version`: each version with its lines, in the order of the
    /// file.
    ///
    /// A version is a heading `## 1.1.0`, a line is an item `- ...` with its continuation. Empty if `version` is
    /// invalid.
    pub fn changes_since(&self, version: &str) -> Vec<(String, Vec<String>)> {
        self.changes_of(&self.stack.main().folder.id, version)
    }

    /// Like [`Rulebook::changes_since`], for one of its parts, such as a layer.
    pub fn changes_of(&self, id: &str, version: &str) -> Vec<(String, Vec<String>)> {
        let Some(known) = Version::parse(version) else { return Vec::new() };
        let part = self.stack.parts().iter().find(|part| part.folder.id == id);
        let file = part.and_then(|part| part.folder.file("CHANGELOG.md"));
        file.map_or_else(Vec::new, |source| sections_above(&source.text, known))
    }

    /// The ids of its parts, bottom first.
    pub fn parts(&self) -> Vec<String> {
        self.stack.parts().iter().map(|part| part.id().to_string()).collect()
    }

    /// True if the rules resample hidden values for a look-ahead.
    #[doc(hidden)]
    pub fn deals(&self) -> bool {
        self.declarations.deal
    }

    /// The kinds of entities with their fields.
    pub fn schema(&self) -> &Schema {
        &self.declarations.schema
    }

    /// The cards, sorted by id.
    pub fn cards(&self) -> &[Card] {
        &self.declarations.cards
    }

    /// A card by its id.
    pub fn card(&self, id: &str) -> Option<&Card> {
        self.cards().iter().find(|card| &*card.id == id)
    }

    /// The items, sorted by id.
    pub fn items(&self) -> &[Card] {
        &self.declarations.items
    }

    /// Ids of the hook holders that are not items.
    pub fn hooks(&self) -> &[Arc<str>] {
        &self.declarations.hooks
    }

    /// Returns the verbs, by name.
    pub fn verbs(&self) -> &[Verb] {
        &self.declarations.verbs
    }

    /// Returns the verb with this name.
    pub fn verb(&self, name: &str) -> Option<&Verb> {
        self.declarations.verbs.iter().find(|verb| *verb.name == *name)
    }

    /// Returns the declared names in `ctx` of a card, by name; empty if the ruleset declares none.
    pub fn context(&self) -> &[Param] {
        &self.declarations.context
    }

    /// Returns the declared topics of questions, by name, with the type of their answers; empty if the ruleset declares
    /// none.
    pub fn declared_topics(&self) -> &[Param] {
        &self.declarations.topics
    }

    /// Returns the declared topic of a question; `None` if it is not declared.
    pub fn declared_topic(&self, topic: &str) -> Option<&Param> {
        self.declarations.topics.iter().find(|param| *param.name == *topic)
    }

    /// Returns the declared names in the data of attachments of a hook or an item, by name; `None` if it declares none.
    pub fn hook_data(&self, hook: &str) -> Option<&[Param]> {
        self.declarations.hook_data.get(hook).map(Vec::as_slice)
    }

    /// The house rules.
    pub fn switches(&self) -> impl Iterator<Item = &Switch> {
        self.stack.switches().iter()
    }

    /// A house rule by its name.
    pub fn switch(&self, name: &str) -> Option<&Switch> {
        self.stack.switch(name)
    }

    /// The default values of all switches.
    pub fn default_switches(&self) -> BTreeMap<String, Value> {
        self.switches().map(|switch| (switch.name.clone(), switch.default.as_value())).collect()
    }

    /// The seats with their names.
    pub fn seats(&self) -> &BTreeMap<String, String> {
        self.stack.seats()
    }

    /// Cards with another id in other rulesets: the id here, and the id there.
    pub fn known_as(&self) -> BTreeMap<String, String> {
        let manifests = self.stack.parts().iter().map(|part| part.manifest());
        manifests.flat_map(|manifest| manifest.known_as.clone()).collect()
    }

    /// The words of the prompt with the topics that they answer.
    pub fn words(&self) -> &BTreeMap<String, String> {
        self.stack.words()
    }

    /// Ids of the policies.
    pub fn policies(&self) -> &[Arc<str>] {
        &self.declarations.policies
    }

    /// Names and titles of the free acts.
    pub fn free_acts(&self) -> &[FreeName] {
        &self.declarations.free
    }

    /// The kinds of the results of rolls, by the beginning of their text, the longest first.
    pub fn results(&self) -> &[(Arc<str>, OutcomeKind)] {
        &self.declarations.results
    }

    /// True if it declares an order of play.
    pub fn has_order(&self) -> bool {
        self.declarations.order
    }

    /// Names and titles of the views.
    pub fn views(&self) -> &[FreeName] {
        &self.declarations.views
    }

    /// The scenarios by name, as tables.
    pub fn scenarios(&self) -> &BTreeMap<String, Value> {
        &self.scenarios
    }

    /// Name of the scenario that is played by default.
    pub fn default_scenario(&self) -> Option<&str> {
        self.stack.scenario()
    }

    /// The characters of `cast/` by file name, as tables.
    pub fn cast(&self) -> &BTreeMap<String, Value> {
        &self.cast
    }

    /// The text of one of its files, by the path that problems and faults name.
    pub fn source(&self, path: &str) -> Option<&str> {
        self.stack.text_of(path)
    }

    /// The contents of all files of all its parts, by the path that problems and faults name.
    #[doc(hidden)]
    pub fn files(&self) -> BTreeMap<Arc<str>, Arc<str>> {
        let files = self.stack.parts().iter().flat_map(|part| part.folder.files.values());
        files.map(|source| (Arc::from(&*source.path), source.text.clone())).collect()
    }

    /// Topics of questions that appear literally in scripts, such as `topic = "risk"`.
    pub fn topics(&self) -> BTreeSet<String> {
        let named = |rest: &str| {
            let text = rest.trim_start().strip_prefix('=')?.trim_start().strip_prefix('"')?;
            let (topic, _) = text.split_once('"')?;
            topic.chars().all(|c| c.is_ascii_alphanumeric() || c == '_').then(|| topic.to_owned())
        };
        self.rule_scripts().flat_map(|text| text.split("topic").skip(1).filter_map(named)).collect()
    }

    #[doc(hidden)]
    pub fn stack(&self) -> &Arc<Stack> {
        &self.stack
    }

    /// True if a script mentions `last_roll`: only such rules can read a roll again.
    #[doc(hidden)]
    pub fn looks_at_rolls(&self) -> bool {
        *self.looks_at_rolls.get_or_init(|| self.rule_scripts().any(|text| text.contains("last_roll")))
    }

    /// True if a question may have this topic: a script contains the name in quotes, or builds names from texts.
    #[doc(hidden)]
    pub fn may_ask(&self, topic: &str) -> bool {
        let names = self.names.get_or_init(|| {
            let quoted = |text: &str| -> Vec<String> {
                let parts = text.split(['"', '\'', '`', '{', '}']);
                parts.filter(|part| part.len() < LONGEST_TOPIC).map(str::to_owned).collect()
            };
            self.rule_scripts().flat_map(quoted).collect()
        });
        let is_joined =
            || self.rule_scripts().any(|text| text.lines().any(|line| line.contains("topic") && line.contains("..")));
        names.contains(topic) || is_joined()
    }

    /// The texts of all scripts except specs.
    fn rule_scripts(&self) -> impl Iterator<Item = &str> {
        let scripts = self.stack.scripts().filter(|(_, path, _)| !path.starts_with("specs/"));
        scripts.map(|(_, _, source)| &*source.text)
    }

    /// The agenda entries at which odds and advice stop looking ahead. Empty: at the end of the action.
    pub fn horizon(&self) -> &[Arc<str>] {
        &self.declarations.horizon
    }

    /// True if the ruleset declares how hits of this entity are recognized.
    #[doc(hidden)]
    pub fn can_be_hit(&self, state: &State, target: EntityId) -> bool {
        self.declarations.hit.iter().any(|sign| self.hit_count(sign, state, target, None).is_some())
    }

    /// True if an entity was hit between two states, by the fields that the ruleset names as `hit`. If the ruleset
    /// declares the attacker, only hits by `by` count.
    #[doc(hidden)]
    pub fn is_hit(&self, before: &State, after: &State, target: EntityId, by: Option<EntityId>) -> bool {
        let count = |sign: &HitSign, state: &State| self.hit_count(sign, state, target, by);
        self.declarations.hit.iter().any(|sign| match (count(sign, before), count(sign, after)) {
            (Some(before), Some(after)) => after > before,
            _ => false,
        })
    }

    /// The number that increases if an entity is hit. `None` if the sign does not concern it.
    fn hit_count(&self, sign: &HitSign, state: &State, target: EntityId, by: Option<EntityId>) -> Option<i64> {
        let own = state.entity(target)?;
        if sign.counts != HitCount::Refers {
            let number = own.fields.get(sign.field.0 as usize).filter(|_| own.kind == sign.kind)?.as_int()?;
            return Some(if sign.counts == HitCount::Falls { -number } else { number });
        }
        let declared = self.schema().kind(sign.kind).field(sign.field);
        let Type::Ref(Some(kind)) = &declared.ty else { return None };
        if self.schema().kind(own.kind).name != *kind {
            return None;
        }
        let holds = |entity: &Entity, field: FieldId, id| entity.fields[field.0 as usize] == Value::Entity(id);
        let refers = |entity: &Entity| {
            let is_theirs = || sign.by.zip(by).is_none_or(|(field, by)| holds(entity, field, by));
            entity.kind == sign.kind && holds(entity, sign.field, target) && is_theirs()
        };
        Some(state.entities().filter(|(_, entity)| refers(entity)).count() as i64)
    }

    /// Names of the entries that scripts may schedule.
    pub fn entries(&self) -> impl Iterator<Item = &str> {
        self.declarations.entries.iter().map(|entry| &*entry.name)
    }

    /// The declared names of a category, such as `card`. `None` for an unknown category.
    #[doc(hidden)]
    pub fn names_of(&self, sort: &str) -> Option<Vec<&str>> {
        Some(match sort {
            "kind" => self.schema().kinds.iter().map(|kind| &*kind.name).collect(),
            "field" => self.schema().kinds.iter().flat_map(|kind| &kind.fields).map(|field| &*field.name).collect(),
            "verb" => self.verbs().iter().map(|verb| &*verb.name).collect(),
            "card" => self.cards().iter().map(|card| &*card.id).collect(),
            "item" => self.items().iter().map(|item| &*item.id).collect(),
            // The ids that can be attached: see `has_holder`.
            "hook" => {
                let items = self.items().iter().map(|item| &*item.id);
                self.hooks().iter().map(|hook| &**hook).chain(items).collect()
            }
            "entry" => self.entries().collect(),
            "free act" => self.free_acts().iter().map(|act| &*act.name).collect(),
            "switch" => self.switches().map(|switch| &*switch.name).collect(),
            "cast" => self.cast.keys().map(String::as_str).collect(),
            "scenario" => self.scenarios.keys().map(String::as_str).collect(),
            _ => return None,
        })
    }

    /// True if scripts may schedule an entry with that name.
    #[doc(hidden)]
    pub fn has_entry(&self, name: &str) -> bool {
        self.declarations.entries.iter().any(|entry| *entry.name == *name)
    }

    /// True if a hook or an item has this id, so that it can be attached.
    #[doc(hidden)]
    pub fn has_holder(&self, id: &str) -> bool {
        self.hooks().iter().any(|hook| **hook == *id) || self.items().iter().any(|item| *item.id == *id)
    }

    /// The spec files of all its parts, by path. Specs of lower parts may fail under the parts above them.
    ///
    /// For a layer over several rulesets, `specs/ID/` is only for the ruleset with that id.
    pub fn specs(&self) -> impl Iterator<Item = (&str, &str)> {
        let specs = self.stack.scripts().filter(|(_, path, _)| path.starts_with("specs/"));
        specs.map(|(_, _, source)| (&*source.path, &*source.text))
    }

    /// The spec files that prove its own rules: all, or those of the layers on top.
    #[doc(hidden)]
    pub fn own_specs(&self) -> impl Iterator<Item = (&str, &str)> {
        self.specs().filter(|(path, _)| path.split('/').next().is_some_and(|part| self.is_proved_here(part)))
    }

    /// The rule texts that its own specs cover: all, or those of the layers on top.
    #[doc(hidden)]
    pub fn own_rule_texts(&self) -> impl Iterator<Item = (&str, &str)> {
        self.rule_texts().filter(|(path, _)| path.split('/').next().is_some_and(|part| self.is_proved_here(part)))
    }

    fn is_proved_here(&self, part: &str) -> bool {
        self.layers.is_empty() || self.layers.iter().any(|layer| layer == part)
    }

    #[doc(hidden)]
    pub fn declarations(&self) -> &Declarations {
        &self.declarations
    }

    /// Facts of cards to print, with their labels on paper. `None`: all.
    pub fn printed(&self) -> Option<&[(String, String)]> {
        self.declarations.printed.as_deref()
    }

    /// True if it measures the value of a state for a seat: `value` in `play.luau`.
    pub fn measures(&self) -> bool {
        self.declarations.value
    }

    /// The names of possible agenda entries.
    #[doc(hidden)]
    pub fn entry_names(&self) -> impl Iterator<Item = &str> + Clone {
        self.declarations.entries.iter().map(|entry| &*entry.name)
    }

    #[doc(hidden)]
    pub fn computes_keys(&self) -> bool {
        self.declarations.entries.iter().any(|entry| entry.key)
    }

    /// True if it decides ties between some entries.
    #[doc(hidden)]
    pub fn settles_ties(&self) -> bool {
        self.declarations.entries.iter().any(|entry| entry.tie)
    }

    /// True if it decides between entries of this name with equal keys.
    #[doc(hidden)]
    pub fn settles_ties_of(&self, what: &str) -> bool {
        self.declarations.entries.iter().any(|entry| entry.tie && *entry.name == *what)
    }

    /// The computation that it needs between two entries, if these policies play. `None` if entries can run one after
    /// another.
    #[doc(hidden)]
    pub fn between_entries<'a>(&'a self, policies: impl IntoIterator<Item = &'a str>) -> Option<BetweenEntries<'a>> {
        let declarations = &self.declarations;
        if let Some(entry) = declarations.entries.iter().find(|entry| entry.key) {
            return Some(BetweenEntries::Key(&entry.name));
        }
        if declarations.acting.is_empty() {
            return None;
        }
        let acts = |policy: &&str| declarations.acting.iter().any(|acting| **acting == **policy);
        policies.into_iter().find(acts).map(BetweenEntries::Act)
    }
}

/// A computation between two agenda entries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BetweenEntries<'a> {
    /// The keys of the entries with this name.
    Key(&'a str),
    /// The decision of this policy whether to take a free act.
    Act(&'a str),
}

impl std::fmt::Display for BetweenEntries<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            BetweenEntries::Key(entry) => write!(f, "the `key` of `{entry}` is worked out before each entry"),
            BetweenEntries::Act(policy) => write!(f, "the policy `{policy}` may take a free act before each entry"),
        }
    }
}

impl std::fmt::Debug for Rulebook {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Rulebook({} {})", self.id(), self.version())
    }
}

/// The id of a ruleset with the layers on top: `game+house`.
fn layered_name(id: &str, layers: &[String]) -> String {
    std::iter::once(id).chain(layers.iter().map(String::as_str)).collect::<Vec<_>>().join("+")
}

/// The data files of a folder, by file name without ending.
fn tables(stack: &Stack, folder: &str, problems: &mut Vec<Problem>) -> BTreeMap<String, Value> {
    let mut found = BTreeMap::new();
    for (name, (_, source)) in stack.data_in(folder) {
        match Data::read(source) {
            Ok(data) => drop(found.insert(name.to_owned(), plain(&data.value))),
            Err(errors) => problems.extend(errors),
        }
    }
    found
}

/// Converts the data of a file to a value.
pub fn plain(value: &serde_json::Value) -> Value {
    match value {
        serde_json::Value::Null => Value::None,
        serde_json::Value::Bool(yes) => Value::Bool(*yes),
        serde_json::Value::Number(n) => Value::Int(n.as_i64().unwrap_or_default()),
        serde_json::Value::String(text) => Value::text(text),
        serde_json::Value::Array(items) => Value::list(items.iter().map(plain)),
        serde_json::Value::Object(items) => Value::map(items.iter().map(|(key, item)| (key, plain(item)))),
    }
}

/// The sections of a changelog whose heading names a version above `known`.
fn sections_above(text: &str, known: Version) -> Vec<(String, Vec<String>)> {
    let mut sections: Vec<(String, Vec<String>)> = Vec::new();
    let mut is_newer = false;
    for line in text.lines() {
        if let Some(heading) = line.strip_prefix("## ") {
            let name = heading.split_whitespace().next().unwrap_or("");
            is_newer = Version::parse(name).is_some_and(|version| version > known);
            if is_newer {
                sections.push((name.to_owned(), Vec::new()));
            }
        } else if is_newer && let Some((_, lines)) = sections.last_mut() {
            match (line.strip_prefix("- "), lines.last_mut()) {
                (Some(item), _) => lines.push(item.trim().to_owned()),
                (None, Some(last)) if line.starts_with("  ") => {
                    last.push(' ');
                    last.push_str(line.trim());
                }
                _ => {}
            }
        }
    }
    sections
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_changelog_lists_the_changes_since_a_version() {
        let text = "# Changes\n\n## 1.2.0\n\n- X-2: two\n  lines\n- three\n\n## 1.1.0 (June)\n\n- X-1: one\n\n## Unknown\n\n- none\n\n## 1.0.0\n\n- first\n";
        let since = |version| sections_above(text, Version::parse(version).unwrap());
        let newest = ("1.2.0".to_owned(), vec!["X-2: two lines".to_owned(), "three".to_owned()]);
        assert_eq!(since("1.1.0"), std::slice::from_ref(&newest));
        assert_eq!(since("1.0"), [newest, ("1.1.0".to_owned(), vec!["X-1: one".to_owned()])]);
        assert!(since("1.2.0").is_empty());
    }
}
