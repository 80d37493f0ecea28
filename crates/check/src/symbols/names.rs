//! Collects the names in all scripts and data files of a ruleset, and the functions of its modules and verbs.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::inference::evidence::FieldEvidence;
use crate::inference::value_type::{ValueType, orders, reckons};
use crate::symbols::asked::{AskedNames, ChangedNames, Collection};
use crate::symbols::result_type::DerivedResult;
use crate::symbols::signature::{Signature, TestedValues};
use crate::symbols::surroundings::{Callee, Surroundings, is_vocabulary};
use crate::symbols::uses::{ResultUses, UsesInFiles, add_sets, name_of_list};
use crate::syntax::{
    constant, is_list, is_text_map, listed, literal, local_id, member, members_of, named, path_of, possible_texts,
    text, value_of,
};
use riskbreaker_ruleset::{Data, Source, SourceKind, Stack, slips};
use riskbreaker_script::api;
use riskbreaker_script::syntax::{
    Arena, AstNode, AstVisitor, BinaryOp, Expression, ExpressionKind, Local, Statement, StatementView, TableItem,
    TextPosition, UnaryOp, parse,
};
use riskbreaker_state::{Schema, Value};
use riskbreaker_work::WorkBudget;

/// The work of comparing two names, to find what was meant.
pub(crate) const WORK_OF_COMPARISON: u64 = 100;

/// The most bytes of a text that may be a word of the ruleset.
const LONGEST_WORD: usize = 40;

/// The number of calls of methods of entities from which on the name of a variable says that it holds an entity.
const FEWEST_CALLS: usize = 3;

/// The number of places that test the result of a function from which on another use needs a test, too.
const FEWEST_TESTS: usize = 3;

/// The name of `rb.comes` among the functions whose calls are noted.
const MOMENTS: &str = "rb.comes";
/// The name of `rb.roll` among the verbs to which members are handed.
const ROLLS: &str = "rb.roll";

/// The numbers of texts in lists that are kept.
const FEWEST_OF_LIST: usize = 3;
const MOST_OF_LIST: usize = 40;

/// How many levels of callers learn what a function needs of its arguments.
const CALLS_DEEP: usize = 4;

/// The name of the function of cards under a key, among the functions whose calls are noted: its parameters are noted there.
fn function_of_cards(key: &str) -> String {
    format!("maneuvers.{key}")
}

/// The names in all files of a ruleset, including those of its parents.
///
/// It has many fields and methods, one for each sort of name.
#[derive(Clone, Debug, Default)]
pub(crate) struct NamesOfFiles {
    /// The work that the check may still do.
    budget: WorkBudget,
    /// Known names: keys of tables and of data, fields, and texts that look like a name.
    given: BTreeSet<String>,
    /// Known names without those of the files that declare kinds.
    given_elsewhere: BTreeSet<String>,
    /// How often a name is read as a member or occurs as a text. Specs do not count.
    read: BTreeMap<String, usize>,
    /// The type of the constants that are assigned to a name or a key, outside kinds and specs; `None` if they differ.
    constants: BTreeMap<String, Option<ValueType>>,
    /// Members on which scripts call a method of an entity: `ctx.actor:set(...)`.
    entity_members: BTreeSet<String>,
    /// Hooks that scripts attach by name; `None` if a script computes a name.
    attached: Option<BTreeSet<String>>,
    /// What the data of attachments hold where hooks are attached by name, by the hook: the names of a table that is
    /// written down, none if there are no data. Other data are left out.
    attached_data: BTreeMap<String, Vec<BTreeSet<String>>>,
    /// How often `attach` is named without being called. If it is, a hook may be attached under another name.
    handed_on: i64,
    /// Keys of tables in scripts and data. Specs do not count.
    keys: BTreeSet<String>,
    /// Members that are read as lists (`thing.name[1]`), alone and with the name of their owner.
    listed: BTreeSet<String>,
    /// Members of which a member is read (`thing.name.other`).
    parted: BTreeSet<String>,
    /// How often a member, with the name of its owner (`ctx.targets`), is calculated with or compared by order.
    reckoned: BTreeMap<String, usize>,
    /// Functions of cards by their keys: how many return a value, and how many never do.
    of_cards: BTreeMap<String, (usize, usize)>,
    /// Members that are called without using the result.
    ordered: BTreeSet<String>,
    /// Names that are assigned: `thing.name = ...`.
    assigned: BTreeSet<String>,
    /// How often a name is assigned. Specs do not count.
    written: BTreeMap<String, usize>,
    /// Facts that are read by `rb.fact`, which calls those that are functions.
    facts: BTreeSet<String>,
    /// How often a text occurs in scripts. Specs do not count.
    texts: BTreeMap<String, usize>,
    /// How often a part of a text occurs in data files, in lower case.
    said: BTreeMap<String, usize>,
    /// How often the result of a function of the ruleset is tested, and how often it is used without a test. Specs do
    /// not count.
    searches: BTreeMap<String, (usize, usize)>,
    /// The ids that tables give: of cards, items and options.
    ids: BTreeSet<String>,
    /// The topics of questions.
    topics: BTreeSet<String>,
    /// The words of the vocabulary that ask a topic, such as `number`.
    asks: BTreeMap<String, BTreeSet<String>>,
    /// The table that each file returns, by its path with the ruleset's id.
    modules: BTreeMap<String, Module>,
    /// The functions of verbs, and the files that define them.
    verbs: BTreeMap<String, (Signature, String)>,
    /// Verbs that are declared or wrapped in more than one place.
    again: BTreeSet<String>,
    /// The functions that are local variables, by their files and numbers.
    functions: BTreeMap<(String, u64), Signature>,
    /// The members that calls of a verb pass, by verb and position.
    handed: BTreeMap<(String, usize), BTreeSet<String>>,
    /// What calls of verbs and of functions of other files give, by the function. Specs do not count.
    calls: BTreeMap<String, GivenValues>,
    /// What the functions of derived values return, by their names, in all kinds.
    pub(super) derived_results: BTreeMap<String, Vec<DerivedResult>>,
    /// The types of derived values by their names, if they are known and the same in all kinds. A sum counts as a number,
    /// which is what callers get.
    derived: BTreeMap<String, ValueType>,
    /// How many scenarios have a key at their top.
    scenario_keys: BTreeMap<String, usize>,
    /// How often a text occurs under a key of data files, by the key.
    data_texts: BTreeMap<String, BTreeMap<String, usize>>,
    /// Keys of tables that are not arguments of the vocabulary: members that the ruleset's own tables can have.
    own_keys: BTreeSet<String>,
    /// Own keys and assigned names that get a value of unknown type.
    computed: BTreeSet<String>,
    /// The keys of each table with own keys.
    tables: Vec<BTreeSet<String>>,
    /// The member names that a file assigns to each of its variables, by file and variable.
    filled: BTreeMap<(String, String), BTreeSet<String>>,
    /// How often a member, with the name of its owner (`ctx.targets`), occurs. Specs do not count.
    paths: BTreeMap<String, usize>,
    /// How often a method of an entity is called on a variable of that name. Specs do not count.
    entity_variables: BTreeMap<String, usize>,
    /// Names of variables that hold a table of the ruleset's own somewhere: a table literal, a copy, or a table that
    /// gets names.
    own_variables: BTreeSet<String>,
    /// The largest die that occurs in a text, and whether some die has a computed number of faces.
    dice: DiceInTexts,
    /// Whether scripts make a table called `ctx`.
    makes_context: bool,
    /// Whether a table called `ctx` has computed names or comes from elsewhere.
    open_context: bool,
    /// How functions, derived values, verbs and lists are used.
    uses: UsesInFiles,
    fields: Arc<FieldEvidence>,
    /// The names that were looked up.
    asked: AskedNames,
}

/// What the calls of a function give.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct GivenValues {
    /// How many calls give a number of values.
    counts: BTreeMap<usize, usize>,
    /// How often a text is given, by its position from 0.
    texts: BTreeMap<usize, BTreeMap<String, usize>>,
}

impl GivenValues {
    /// Adds what further calls give.
    fn add(&mut self, other: &GivenValues) {
        for (values, times) in &other.counts {
            *self.counts.entry(*values).or_default() += times;
        }
        for (at, texts) in &other.texts {
            add_counts(self.texts.entry(*at).or_default(), texts);
        }
    }

    /// Returns how many calls give at most a number of values, and how many give more.
    pub fn calls_with(&self, values: usize) -> (usize, usize) {
        let calls = |range: &mut dyn Iterator<Item = (&usize, &usize)>| range.map(|(_, calls)| calls).sum();
        (calls(&mut self.counts.range(..=values)), calls(&mut self.counts.range(values + 1..)))
    }

    /// Returns the texts that calls give at a position, with how often.
    pub fn texts_at(&self, at: usize) -> impl Iterator<Item = (&str, usize)> {
        self.texts.get(&at).into_iter().flatten().map(|(text, times)| (text.as_str(), *times))
    }
}

/// The dice that occur in texts.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct DiceInTexts {
    /// The number of faces of the largest die; 0 if there is none.
    largest: u32,
    /// Whether some die has a computed number of faces, or faces of its own.
    is_open: bool,
}

impl DiceInTexts {
    /// Finds each `d` with a number behind it, also in other texts: a die that is none only makes the largest one larger.
    fn of(text: &str) -> DiceInTexts {
        let mut found = DiceInTexts::default();
        for (at, _) in text.match_indices(['d', 'D']) {
            let before = text[..at].chars().next_back();
            // `%d` is a class of letters in a pattern.
            if before.is_some_and(|letter| letter.is_alphabetic() || matches!(letter, '_' | '%')) {
                continue;
            }
            let rest = &text[at + 1..];
            if let Some(sides) = constant_in_braces(rest, text) {
                found.largest = found.largest.max(sides);
                continue;
            }
            let digits = rest.len() - rest.trim_start_matches(|letter: char| letter.is_ascii_digit()).len();
            match rest[..digits].parse::<u32>() {
                Ok(sides) => found.largest = found.largest.max(sides),
                // `d%`, `dF`, `d[0,1]`, `d{sides}` and `"d" .. sides`.
                Err(_) => found.is_open |= rest.starts_with(['%', 'F', 'f', '[', '{']) || rest.starts_with("\" .."),
            }
        }
        // A draw from a list, or its order, is a face as well: as many as the list has elements.
        found.is_open |= ["rb.draw(", "rb.shuffle("].iter().any(|word| text.contains(word));
        found
    }

    fn add(&mut self, other: DiceInTexts) {
        self.largest = self.largest.max(other.largest);
        self.is_open |= other.is_open;
    }
}

/// The number that a text in braces names: `{SIDES}...` in a script with `local DICE, SIDES = 2, 6`.
fn constant_in_braces(rest: &str, script: &str) -> Option<u32> {
    let (name, _) = rest.strip_prefix('{')?.split_once('}')?;
    script.lines().find_map(|line| {
        let (names, values) = line.strip_prefix("local ")?.split_once(" = ")?;
        let at = names.split(',').position(|one| one.trim() == name)?;
        values.split(',').nth(at)?.split_whitespace().next()?.parse().ok()
    })
}

/// The table that a file returns, as far as it is known.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Module {
    /// The names in the table, with the signature of those that are functions of the file.
    pub members: BTreeMap<String, Option<Signature>>,
    /// The names that are tables with texts as keys.
    pub text_maps: BTreeSet<String>,
    /// The names that are lists.
    pub lists: BTreeSet<String>,
    /// The names that are whole numbers.
    pub numbers: BTreeMap<String, i64>,
}

impl NamesOfFiles {
    /// Adds the names of the host's vocabulary and of the declared kinds to those of all files, and passes on what
    /// functions need and do.
    #[must_use]
    pub fn completed(
        mut self,
        stack: &Stack,
        schema: Option<&Schema>,
        fields: &Arc<FieldEvidence>,
        budget: &WorkBudget,
    ) -> NamesOfFiles {
        for name in api::known_members() {
            self.give(name.to_string(), true);
            self.note_read(name.to_string(), 1);
        }
        for kind in schema.iter().flat_map(|schema| &schema.kinds) {
            self.given.extend(kind.members().map(str::to_string));
            for field in &kind.fields {
                self.note_read(field.name.to_string(), 1);
            }
        }
        self.fields = fields.clone();
        self.propagate(stack);
        self.budget = budget.clone();
        self
    }

    /// Returns a table without names, for files whose fields have these types.
    pub fn without_names(fields: &Arc<FieldEvidence>) -> NamesOfFiles {
        NamesOfFiles { attached: Some(BTreeSet::new()), fields: fields.clone(), ..NamesOfFiles::default() }
    }

    /// Returns the names of one file.
    pub fn of_file(path: &str, source: &Source, fields: &Arc<FieldEvidence>) -> NamesOfFiles {
        let mut names = NamesOfFiles::without_names(fields);
        if !path.starts_with("specs/") {
            names.dice = DiceInTexts::of(&source.text);
        }
        match source.kind() {
            Some(SourceKind::Script) => names.script(path, &source.path, &source.text),
            Some(SourceKind::Data) => match Data::read(source) {
                Ok(data) => {
                    if let (true, serde_json::Value::Object(root)) = (path.starts_with("scenarios/"), &data.value) {
                        names.scenario_keys.extend(root.keys().map(|key| (key.clone(), 1)));
                    }
                    names.data(&data.value);
                }
                Err(_) => names.words(&source.text),
            },
            _ => {}
        }
        names
    }

    /// Adds the names of another table, except the verbs, whose order matters.
    pub fn merge(&mut self, other: &NamesOfFiles) {
        // Each field is named, so that a new one is not forgotten.
        let NamesOfFiles {
            budget: _,
            given,
            given_elsewhere,
            read,
            constants,
            entity_members,
            attached,
            attached_data,
            handed_on,
            keys,
            listed,
            parted,
            reckoned,
            of_cards,
            ordered,
            assigned,
            written,
            facts,
            texts,
            said,
            searches,
            ids,
            topics,
            asks,
            modules,
            verbs: _,
            again: _,
            functions,
            handed,
            calls,
            derived_results,
            derived: _,
            scenario_keys,
            data_texts,
            own_keys,
            computed,
            tables,
            filled,
            paths,
            entity_variables,
            own_variables,
            dice,
            makes_context,
            open_context,
            uses,
            fields: _,
            asked: _,
        } = other;
        self.given.extend(given.iter().cloned());
        self.given_elsewhere.extend(given_elsewhere.iter().cloned());
        add_counts(&mut self.read, read);
        add_types(&mut self.constants, constants);
        self.entity_members.extend(entity_members.iter().cloned());
        match (&mut self.attached, attached) {
            (Some(attached), Some(more)) => attached.extend(more.iter().cloned()),
            (attached, _) => *attached = None,
        }
        add_lists(&mut self.attached_data, attached_data);
        self.handed_on += *handed_on;
        self.keys.extend(keys.iter().cloned());
        self.listed.extend(listed.iter().cloned());
        self.parted.extend(parted.iter().cloned());
        add_counts(&mut self.reckoned, reckoned);
        add_pairs(&mut self.of_cards, of_cards);
        self.ordered.extend(ordered.iter().cloned());
        self.assigned.extend(assigned.iter().cloned());
        add_counts(&mut self.written, written);
        self.facts.extend(facts.iter().cloned());
        add_counts(&mut self.texts, texts);
        add_counts(&mut self.said, said);
        add_pairs(&mut self.searches, searches);
        self.ids.extend(ids.iter().cloned());
        self.topics.extend(topics.iter().cloned());
        add_sets(&mut self.asks, asks);
        self.modules.extend(modules.iter().map(|(path, module)| (path.clone(), module.clone())));
        self.functions.extend(functions.iter().map(|(of, function)| (of.clone(), function.clone())));
        add_sets(&mut self.handed, handed);
        for (name, given) in calls {
            self.calls.entry(name.clone()).or_default().add(given);
        }
        add_lists(&mut self.derived_results, derived_results);
        add_counts(&mut self.scenario_keys, scenario_keys);
        for (key, texts) in data_texts {
            add_counts(self.data_texts.entry(key.clone()).or_default(), texts);
        }
        self.own_keys.extend(own_keys.iter().cloned());
        self.computed.extend(computed.iter().cloned());
        self.tables.extend(tables.iter().cloned());
        add_sets(&mut self.filled, filled);
        add_counts(&mut self.paths, paths);
        add_counts(&mut self.entity_variables, entity_variables);
        self.own_variables.extend(own_variables.iter().cloned());
        self.uses.merge(uses);
        self.dice.add(*dice);
        self.makes_context |= *makes_context;
        self.open_context |= *open_context;
    }

    /// Adds the verbs of the table of a file. The files come in the order of the stack: a later verb replaces an earlier
    /// one.
    pub fn merge_verbs(&mut self, other: &NamesOfFiles) {
        self.again.extend(other.again.iter().cloned());
        for (name, (signature, file)) in &other.verbs {
            if file.contains("/verbs") && self.verbs.contains_key(name) {
                self.again.insert(name.clone());
            }
            self.verbs.insert(name.clone(), (signature.clone(), file.clone()));
        }
    }

    /// The names that were looked up since the last call.
    pub fn take_asked(&self) -> BTreeSet<u64> {
        self.asked.take()
    }

    /// Notes that the text of a file was looked at.
    pub fn note_file(&self, path: &str) {
        self.asked.note(path);
    }

    /// Whether a table is for the same fields of entities.
    pub fn has_fields(&self, fields: &FieldEvidence) -> bool {
        *self.fields == *fields
    }

    /// Returns the names about which two tables answer differently, as far as a lookup shows. Both are for the same
    /// fields of entities.
    pub fn changes_since(&self, last: &NamesOfFiles) -> ChangedNames {
        // Each field is named, so that a new one is not forgotten.
        let NamesOfFiles {
            budget: _,
            given,
            given_elsewhere,
            read,
            constants,
            entity_members,
            attached,
            attached_data,
            handed_on,
            keys,
            listed,
            parted,
            reckoned,
            of_cards,
            ordered,
            assigned,
            written,
            facts,
            texts,
            said,
            searches,
            ids,
            topics,
            asks,
            modules,
            verbs,
            again,
            functions,
            handed,
            calls,
            derived_results,
            derived,
            scenario_keys,
            data_texts,
            own_keys,
            computed,
            tables,
            filled,
            paths,
            entity_variables,
            own_variables,
            dice,
            makes_context,
            open_context,
            uses,
            fields: _,
            asked: _,
        } = last;
        let mut changed = ChangedNames::default();
        changed.in_set(given, &self.given, Some(Collection::Given));
        changed.in_set(given_elsewhere, &self.given_elsewhere, None);
        changed.in_map(read, &self.read, Some(Collection::Read));
        changed.in_map(constants, &self.constants, None);
        changed.in_set(entity_members, &self.entity_members, None);
        changed.in_map(attached_data, &self.attached_data, None);
        changed.in_set(keys, &self.keys, None);
        changed.in_set(listed, &self.listed, None);
        changed.in_set(parted, &self.parted, None);
        changed.in_map(reckoned, &self.reckoned, None);
        changed.in_map(of_cards, &self.of_cards, None);
        changed.in_set(ordered, &self.ordered, None);
        changed.in_set(assigned, &self.assigned, Some(Collection::Own));
        changed.in_map(written, &self.written, None);
        changed.in_set(facts, &self.facts, None);
        changed.in_map(texts, &self.texts, Some(Collection::Texts));
        changed.in_map(said, &self.said, Some(Collection::Said));
        changed.in_map(searches, &self.searches, None);
        changed.in_set(ids, &self.ids, Some(Collection::Ids));
        changed.in_set(topics, &self.topics, Some(Collection::Topics));
        changed.in_map(asks, &self.asks, None);
        changed.in_map(modules, &self.modules, None);
        changed.in_map(verbs, &self.verbs, None);
        changed.in_set(again, &self.again, None);
        changed.in_map_by(functions, &self.functions, |(file, _)| file);
        changed.in_map_by(handed, &self.handed, |(verb, _)| verb);
        changed.in_map(calls, &self.calls, None);
        changed.in_map(derived_results, &self.derived_results, None);
        changed.in_map(derived, &self.derived, None);
        changed.in_map(scenario_keys, &self.scenario_keys, Some(Collection::Said));
        changed.in_map(data_texts, &self.data_texts, None);
        changed.in_set(own_keys, &self.own_keys, Some(Collection::Own));
        changed.in_set(computed, &self.computed, None);
        changed.in_map(paths, &self.paths, Some(Collection::Paths));
        changed.in_map(entity_variables, &self.entity_variables, None);
        changed.in_set(own_variables, &self.own_variables, None);
        changed.if_differ(dice, &self.dice, Collection::Dice);
        self.uses.note_changes(uses, &mut changed);
        changed.if_differ(tables, &self.tables, Collection::Tables);
        changed.if_differ(filled, &self.filled, Collection::Tables);
        changed.if_differ(&(attached, handed_on), &(&self.attached, &self.handed_on), Collection::Attached);
        let context = (&self.makes_context, &self.open_context);
        changed.if_differ(&(makes_context, open_context), &context, Collection::Context);
        changed
    }

    /// Returns a copy with the names of a new text of one file added.
    pub fn with_script(&self, inside: &str, full: &str, text: &str) -> NamesOfFiles {
        let mut names = self.clone();
        names.script(inside, full, text);
        names
    }

    /// Passes what functions need and do on to their callers, [`CALLS_DEEP`] times.
    fn propagate(&mut self, stack: &Stack) {
        for _ in 0..CALLS_DEEP {
            let mut changed = false;
            let known = self.derived.clone();
            let derived = |name: &str| known.get(name).copied();
            for path in self.modules.keys().cloned().collect::<Vec<_>>() {
                for name in self.modules[&path].members.keys().cloned().collect::<Vec<_>>() {
                    let Some(mut signature) = self.modules[&path].members[&name].clone() else { continue };
                    changed |= signature.propagate(&|callee| self.called(stack, &path, callee), &derived);
                    if let Some(module) = self.modules.get_mut(&path) {
                        module.members.insert(name, Some(signature));
                    }
                }
            }
            for name in self.verbs.keys().cloned().collect::<Vec<_>>() {
                let (mut signature, file) = self.verbs[&name].clone();
                changed |= signature.propagate(&|callee| self.called(stack, &file, callee), &derived);
                self.verbs.insert(name, (signature, file));
            }
            for key in self.functions.keys().cloned().collect::<Vec<_>>() {
                let mut signature = self.functions[&key].clone();
                changed |= signature.propagate(&|callee| self.called(stack, &key.0, callee), &derived);
                self.functions.insert(key, signature);
            }
            changed |= self.resolve_derived(stack);
            if !changed {
                break;
            }
        }
        let words_of = |results: &Vec<DerivedResult>| {
            let own = |result: &DerivedResult| {
                result.words.as_ref().filter(|given| given.of.is_empty()).map(|given| given.words.clone())
            };
            let words: Option<Vec<_>> = results.iter().map(own).collect();
            words.map(|words| words.into_iter().flatten().collect())
        };
        let derived = self.derived_results.iter();
        self.uses.derived_words =
            derived.filter_map(|(name, results)| Some((name.clone(), words_of(results)?))).collect();
    }

    /// Works out the types of derived values from what is known so far. Returns whether a new one is known.
    fn resolve_derived(&mut self, stack: &Stack) -> bool {
        let before = self.derived.len();
        let called = |callee: &Callee, file: &str| self.called(stack, file, callee)?.gives;
        let resolve = |results: &Vec<DerivedResult>| {
            let mut types =
                results.iter().map(|result| result.ty.resolved(&|name| self.derived.get(name).copied(), &called));
            let plain = |ty: ValueType| if ty == ValueType::Sum { ValueType::Number } else { ty };
            let first = plain(types.next()??);
            types.all(|ty| ty.map(plain) == Some(first)).then_some(first)
        };
        let found = self.derived_results.iter().filter_map(|(name, results)| Some((name.clone(), resolve(results)?)));
        let found: BTreeMap<String, ValueType> = found.collect();
        self.derived = found;
        self.derived.len() != before
    }

    /// Returns the function that a call in a file names. The file's path includes the ruleset's id.
    pub(crate) fn called(&self, stack: &Stack, file: &str, callee: &Callee) -> Option<Signature> {
        match callee {
            Callee::Local(id) => self.functions.get(&(file.to_string(), *id)).cloned(),
            Callee::Verb(name) => self.verb(name).filter(|_| !self.again.contains(name)).cloned(),
            Callee::Member(module, name) => {
                let path = match module.as_str() {
                    "" => file,
                    module => stack.file(module)?.1.path.as_str(),
                };
                self.modules.get(path)?.members.get(name)?.clone()
            }
        }
    }

    pub fn fields(&self) -> &FieldEvidence {
        &self.fields
    }

    /// Returns the signature of a local variable of a file that is a function.
    pub fn function(&self, file: &str, id: u64) -> Option<&Signature> {
        self.asked.note(file);
        self.functions.get(&(file.to_string(), id))
    }

    fn note_read(&mut self, name: String, times: usize) {
        *self.read.entry(name).or_default() += times;
    }

    fn give(&mut self, name: String, elsewhere: bool) {
        if elsewhere {
            self.given_elsewhere.insert(name.clone());
        }
        self.given.insert(name);
    }

    pub(crate) fn script(&mut self, path: &str, full: &str, source: &str) {
        let arena = Arena::new();
        let Ok(root) = parse(&arena, source) else { return self.words(source) };
        let (kinds, spec) = (path.starts_with("kinds"), path.starts_with("specs/"));
        let modules = modules_of(root.as_slice());
        let fields = self.fields.clone();
        let around = Surroundings { fields: &fields, modules: &modules };
        let TestedValues { locals, places, .. } = TestedValues::of(root);
        let tested = (locals, places.iter().map(|at| at.begin).collect());
        let mut gatherer = Gatherer { names: self, handed: BTreeSet::new(), file: full, kinds, spec, around, tested };
        root.visit(&mut gatherer);
        if let Some(module) = module_of(root.as_slice(), around) {
            self.modules.insert(full.to_string(), module);
        }
    }

    /// Notes every word of a script that cannot be parsed as known and read, because it may be.
    fn words(&mut self, source: &str) {
        for word in source.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| !word.is_empty()) {
            self.give(word.to_string(), true);
            self.note_read(word.to_string(), 1);
        }
    }

    fn data(&mut self, value: &serde_json::Value) {
        match value {
            serde_json::Value::Object(table) => {
                for (key, value) in table {
                    self.keys.insert(key.clone());
                    self.give(key.clone(), true);
                    self.data_under(key, value);
                    self.data(value);
                }
            }
            serde_json::Value::Array(list) => list.iter().for_each(|value| self.data(value)),
            serde_json::Value::String(text) => {
                for piece in crate::place::pieces(text) {
                    *self.said.entry(piece.to_lowercase()).or_default() += 1;
                }
            }
            _ => {}
        }
    }

    /// Notes the texts under a key of a data file, alone or in a list.
    fn data_under(&mut self, key: &str, value: &serde_json::Value) {
        match value {
            serde_json::Value::String(text) => {
                let texts = self.data_texts.entry(key.to_owned()).or_default();
                *texts.entry(text.clone()).or_default() += 1;
            }
            serde_json::Value::Array(list) => list.iter().for_each(|value| self.data_under(key, value)),
            _ => {}
        }
    }

    /// Returns the type of a derived value, whatever its kind; `None` if it is not known.
    pub fn type_of_derived(&self, name: &str) -> Option<ValueType> {
        self.asked.note(name);
        self.derived.get(name).copied()
    }

    /// Returns the names that a derived value reads off its entity, whatever its kind.
    pub fn read_by_derived(&self, name: &str) -> impl Iterator<Item = &str> {
        self.asked.note(name);
        self.uses.derived_reads.get(name).into_iter().flatten().map(String::as_str)
    }

    /// Returns the words that a derived value gives; `None` if it may give another text, or gives none.
    pub fn words_of_derived(&self, name: &str) -> Option<&BTreeSet<String>> {
        self.asked.note(name);
        self.uses.derived_words.get(name).filter(|words| !words.is_empty())
    }

    /// Returns the texts that a verb gives; `None` if it may give another text, gives none, or a hook changes its result.
    pub fn words_of_verb(&self, name: &str) -> Option<&BTreeSet<String>> {
        let is_sure = !self.is_declared_again(name) && !self.is_reworked(name);
        self.verb(name).filter(|_| is_sure)?.words.as_ref().filter(|words| !words.is_empty())
    }

    /// Whether a hook may change what a verb gives.
    pub fn is_reworked(&self, verb: &str) -> bool {
        self.asked.note(verb);
        self.uses.wrapped.contains(verb)
            || self.uses.followed.contains(verb) && self.is_written_to_event(None, "result")
    }

    /// Returns the derived values whose type is known, with whether they may be nil.
    pub fn derived_values(&self) -> impl Iterator<Item = (&str, ValueType, bool)> {
        let may_lack = |name: &str| self.derived_results.get(name).into_iter().flatten().any(|result| result.may_lack);
        self.derived.iter().map(move |(name, ty)| (name.as_str(), *ty, may_lack(name)))
    }

    /// Returns how many scenarios have a key at their top, and the keys that several have.
    pub fn keys_of_scenarios(&self, key: &str) -> (usize, impl Iterator<Item = &str>) {
        self.asked.note(key);
        self.asked.note_all([Collection::Said]);
        let several = self.scenario_keys.iter().filter(|(_, times)| **times > 1).map(|(key, _)| key.as_str());
        (self.scenario_keys.get(key).copied().unwrap_or_default(), several)
    }

    /// Returns the keys at the top of all scenarios.
    pub fn scenario_keys(&self) -> impl Iterator<Item = &str> {
        self.asked.note_all([Collection::Said]);
        self.scenario_keys.keys().map(String::as_str)
    }

    /// Returns the texts under a key of data files, with how often each occurs.
    pub fn texts_under(&self, key: &str) -> impl Iterator<Item = (&str, usize)> {
        self.asked.note(key);
        self.data_texts.get(key).into_iter().flatten().map(|(text, times)| (text.as_str(), *times))
    }

    /// Returns what calls of a function give: `act.NAME` for a verb, or the path of a file inside the ruleset, without
    /// its ending, with the name of a function of it (`lib/aim.at`).
    pub fn given_to(&self, function: &str) -> Option<&GivenValues> {
        self.asked.note(function);
        self.calls.get(function)
    }

    pub fn is_given(&self, name: &str) -> bool {
        self.asked.note(name);
        self.given.contains(name)
    }

    /// Whether a member of that name is known from anywhere but the kinds.
    pub fn is_given_elsewhere(&self, name: &str) -> bool {
        self.asked.note(name);
        self.given_elsewhere.contains(name)
    }

    /// Returns the type of a member of that name, whatever its owner: all fields and all assigned values have this
    /// type.
    pub fn type_everywhere(&self, name: &str) -> Option<ValueType> {
        self.asked.note(name);
        let field = self.fields.type_of(name)?;
        let other = self.constants.get(name).is_some_and(|written| *written != Some(field));
        let certain = match field {
            ValueType::Number | ValueType::Text | ValueType::Truth => true,
            // A table of the ruleset's own may lack the member.
            ValueType::List => !self.written.contains_key(name) && !self.own_keys.contains(name),
            _ => false,
        };
        (certain && !other && !self.computed.contains(name)).then_some(field)
    }

    /// Whether no table of the ruleset has a function under that name: it is assigned nowhere, and all values that tables
    /// give it are constants of one type.
    pub fn is_no_function(&self, name: &str) -> bool {
        self.asked.note(name);
        // A name that is assigned as a function is noted, and not counted among the values.
        let is_declared = self.assigned.contains(name) && !self.written.contains_key(name);
        !is_declared && !matches!(self.constants.get(name), Some(None))
    }

    /// Whether a table that is no entity may have a member of that name: scripts write it as a key or assign it. Fields
    /// of entities are never assigned.
    pub fn may_be_own(&self, name: &str) -> bool {
        self.asked.note(name);
        self.own_keys.contains(name) || self.assigned.contains(name)
    }

    /// Whether a member of that name is used as an entity somewhere, and never gets a constant.
    pub fn is_entity_member(&self, name: &str) -> bool {
        self.asked.note(name);
        let field = self.fields.types.get(name).is_none_or(|ty| *ty == Some(ValueType::Entity));
        field && self.entity_members.contains(name) && !self.constants.contains_key(name)
    }

    /// Whether scripts pass entities to a parameter of a verb, as far as the check can tell.
    pub fn is_handed_entities(&self, verb: &str, at: usize) -> bool {
        self.asked.note(verb);
        let handed = self.handed.get(&(verb.to_string(), at));
        handed.is_some_and(|names| names.iter().any(|name| self.is_entity_member(name)))
    }

    /// Returns the members that the table `ctx` of a card can have; `None` if no script makes it, or if it has computed
    /// names.
    pub fn members_of_context(&self) -> Option<impl Iterator<Item = &str>> {
        self.asked.note_all([Collection::Own, Collection::Context]);
        let members = || self.own_keys.iter().chain(&self.assigned).map(String::as_str);
        (self.makes_context && !self.open_context).then(members)
    }

    /// The members that files of cards read off `ctx`, with the paths of the files.
    pub fn context_reads(&self) -> impl Iterator<Item = (&str, &BTreeSet<String>)> {
        self.uses.context_reads.iter().map(|(member, files)| (member.as_str(), files))
    }

    /// The members that scripts read off a variable of that name.
    pub fn read_off<'n>(&'n self, variable: &'n str) -> impl Iterator<Item = &'n str> {
        self.asked.note_all([Collection::Paths]);
        let paths = self.paths.keys().filter_map(move |path| path.strip_prefix(variable)?.strip_prefix('.'));
        paths.filter(|member| !member.contains('.'))
    }

    /// Whether variables of that name hold entities, as far as the scripts show: methods of entities are called on several,
    /// and none is a table of the ruleset's own.
    pub fn is_entity_variable(&self, name: &str) -> bool {
        self.asked.note(name);
        let calls = self.entity_variables.get(name).copied().unwrap_or_default();
        calls >= FEWEST_CALLS && !self.own_variables.contains(name)
    }

    /// Returns the number of faces of the largest die of the ruleset; `None` if there are no dice, or if some die has a
    /// computed number of faces or faces of its own.
    pub fn largest_die(&self) -> Option<u32> {
        self.asked.note_all([Collection::Dice]);
        (self.dice.largest > 0 && !self.dice.is_open).then_some(self.dice.largest)
    }

    /// Whether some script assigns a member of a variable called `ctx`.
    pub fn is_put_into_context(&self, name: &str) -> bool {
        self.asked.note_all([Collection::Tables]);
        self.filled.iter().any(|((_, of), names)| of == "ctx" && names.contains(name))
    }

    /// Whether a table that is a context, as far as its other members show, gets a member of that name.
    pub fn may_context_get(&self, name: &str) -> bool {
        self.asked.note_all([Collection::Paths, Collection::Tables]);
        let named = |path: &str| self.paths.get(path).copied().unwrap_or_default();
        let of_context = |other: &&String| named(&format!("ctx.{other}")) > 0;
        let may_be_one = |names: &BTreeSet<String>| {
            let others = names.iter().filter(|other| *other != name);
            names.contains(name) && others.clone().filter(of_context).count() * 2 >= others.count()
        };
        self.filled.iter().any(|((_, of), names)| of == "ctx" && names.contains(name) || may_be_one(names))
            || self.tables.iter().any(may_be_one)
    }

    /// Returns the member of the context that has that name instead of the context itself: `actor` for `seat`, if
    /// scripts read `actor.seat` and `ctx.actor`.
    ///
    /// `None` if scripts read the name off the context in several places, or if a table that can be a context gets that
    /// member.
    pub fn has_instead_of_context(&self, name: &str) -> Option<&str> {
        self.asked.note_all([Collection::Context]);
        if !self.makes_context || self.open_context {
            return None;
        }
        let named = |path: &str| self.paths.get(path).copied().unwrap_or_default();
        self.asked.note(&format!("ctx.{name}"));
        if named(&format!("ctx.{name}")) != 1 || !self.fields.types.contains_key(name) {
            return None;
        }
        if self.may_context_get(name) {
            return None;
        }
        let owners = self.paths.iter().filter_map(|(path, times)| Some((path.split_once('.')?, times)));
        let owners = owners.filter(|((of, read), _)| *read == name && named(&format!("ctx.{of}")) > 1);
        let owner = owners.max_by_key(|(_, times)| **times).map(|((of, _), _)| of);
        // A table that has both members was made as a context.
        owner.filter(|owner| !self.tables.iter().any(|names| names.contains(name) && names.contains(*owner)))
    }

    fn note_constant(&mut self, name: &str, value: Expression<'_>) {
        let ty = match value.kind() {
            ExpressionKind::Number { .. } => Some(ValueType::Number),
            // A declaration gives the type of a fact: `card = { reach = "number?" }`.
            ExpressionKind::String { .. }
                if literal(value)
                    .is_some_and(|ty| matches!(ty.trim_end_matches('?'), "number" | "string" | "boolean")) =>
            {
                return;
            }
            ExpressionKind::String { .. } | ExpressionKind::InterpString { .. } => Some(ValueType::Text),
            ExpressionKind::Boolean(_) => Some(ValueType::Truth),
            ExpressionKind::Table { items } if items.iter().all(|item| matches!(item, TableItem::List { .. })) => {
                Some(ValueType::List)
            }
            ExpressionKind::Table { .. } | ExpressionKind::FunctionLiteral(_) | ExpressionKind::Nil => None,
            _ => return,
        };
        let known = self.constants.entry(name.to_string()).or_insert(ty);
        if *known != ty {
            *known = None;
        }
    }

    /// Notes a name that gets a value which is neither a constant nor a member of the same name.
    fn note_computed(&mut self, name: &str, value: Expression<'_>) {
        let constant = matches!(
            value.kind(),
            ExpressionKind::Number { .. }
                | ExpressionKind::String { .. }
                | ExpressionKind::InterpString { .. }
                | ExpressionKind::Boolean(_)
                | ExpressionKind::Table { .. }
                | ExpressionKind::FunctionLiteral(_)
                | ExpressionKind::Nil
        );
        if !constant && member(value).as_deref() != Some(name) {
            self.computed.insert(name.to_string());
        }
    }

    pub fn is_assigned(&self, name: &str) -> bool {
        self.asked.note(name);
        self.assigned.contains(name)
    }

    /// Whether some script writes a name into the event of a hook: into any variable of a file that may declare hooks, or into a
    /// variable called `e` or like that of the event, which is handed to functions of other files.
    pub fn is_written_to_event(&self, event: Option<&str>, name: &str) -> bool {
        self.asked.note_all([Collection::Tables]);
        self.filled.iter().any(|((file, variable), names)| {
            let folder = file.split('/').nth(1);
            let may_be_event =
                matches!(folder, Some("hooks" | "items")) || variable == "e" || Some(&**variable) == event;
            may_be_event && names.contains(name)
        })
    }

    /// How many functions that cards have under a key call their parameter at a position so.
    pub fn cards_that_take(&self, key: &str, at: usize, name: &str) -> usize {
        let functions = self.given_to(&function_of_cards(key));
        functions.and_then(|given| given.texts_at(at).find(|(param, _)| *param == name)).map_or(0, |(_, times)| times)
    }

    /// Returns what most functions that cards have under a key call their first parameter, and how many do.
    pub fn usual_first_parameter(&self, key: &str) -> Option<(&str, usize)> {
        self.given_to(&function_of_cards(key))?.texts_at(0).max_by_key(|(_, times)| *times)
    }

    /// Whether scripts roll a member of that name.
    pub fn is_rolled(&self, name: &str) -> bool {
        self.asked.note(ROLLS);
        self.handed.get(&(ROLLS.to_owned(), 0)).is_some_and(|rolled| rolled.contains(name))
    }

    /// Whether scripts say that a moment comes, or may say so under a name that they compute.
    pub fn may_come(&self, moment: &str) -> bool {
        self.given_to(MOMENTS).is_some_and(|given| {
            let (calls, _) = given.calls_with(usize::MAX - 1);
            let named: usize = given.texts_at(0).map(|(_, times)| times).sum();
            named < calls || given.texts_at(0).any(|(text, _)| text == moment)
        })
    }

    /// Whether a verb is declared or wrapped in more than one place.
    pub fn is_declared_again(&self, verb: &str) -> bool {
        self.asked.note(verb);
        self.again.contains(verb)
    }

    /// Whether a name is only assigned, and never read.
    pub fn is_only_written(&self, name: &str) -> bool {
        self.asked.note(name);
        self.reads(name) <= self.written.get(name).copied().unwrap_or_default()
    }

    /// Returns a name that is read and is one letter away from another. `None` if there is none or the budget is spent.
    pub fn read_and_near(&self, name: &str) -> Option<&str> {
        self.asked.note_all([Collection::Read]);
        self.asked.note(name);
        if !self.budget.spend(self.read.len() as u64 * WORK_OF_COMPARISON) {
            return None;
        }
        let near =
            |other: &&String| other.len() > 1 && slips(name, other, 1) == Some(1) && !self.is_only_written(other);
        self.read.keys().find(near).map(String::as_str).filter(|_| name.len() > 1)
    }

    /// Whether a table of the ruleset's own may have the name.
    pub fn is_own_key(&self, name: &str) -> bool {
        self.asked.note(name);
        self.own_keys.contains(name)
    }

    /// Whether the name is a key of some table.
    pub fn is_key(&self, name: &str) -> bool {
        self.asked.note(name);
        self.keys.contains(name)
    }

    /// Whether a member of that name is used only as a list.
    pub fn is_list(&self, name: &str) -> bool {
        self.asked.note(name);
        self.listed.contains(name) && !self.parted.contains(name)
    }

    /// Whether a member is used only as a list where it is read off an owner of that name. One other use is tolerated.
    pub fn is_list_of(&self, read: Expression<'_>) -> bool {
        let Some((name, path)) = member(read).zip(path_of(read)) else { return false };
        self.asked.note(&path);
        let otherwise = self.constants.get(&name).is_some_and(|ty| matches!(ty, None | Some(ValueType::Number)));
        let reckoned = self.reckoned.get(&path).is_some_and(|times| *times > 1);
        self.is_list(&name) && self.listed.contains(&path) && !otherwise && !reckoned
    }

    /// Whether other cards have a function under that key that returns a value, and all callers use the value.
    pub fn is_answered_by_cards(&self, name: &str) -> bool {
        self.asked.note(name);
        let others = self.of_cards.get(name).is_some_and(|(giving, silent)| *giving >= 2 && *silent <= 1);
        others && !self.ordered.contains(name)
    }

    /// Returns how often a name is read as a member or occurs as a text.
    pub fn reads(&self, name: &str) -> usize {
        self.asked.note(name);
        self.read.get(name).copied().unwrap_or_default()
    }

    pub fn is_read(&self, name: &str) -> bool {
        self.asked.note(name);
        self.read.contains_key(name)
    }

    /// Returns how often a text occurs in the scripts.
    pub fn times(&self, text: &str) -> usize {
        self.asked.note(text);
        self.texts.get(text).copied().unwrap_or_default()
    }

    /// Returns how often a part of a text occurs in data files, ignoring case.
    pub fn said(&self, piece: &str) -> usize {
        let piece = piece.to_lowercase();
        self.asked.note(&piece);
        self.said.get(&piece).copied().unwrap_or_default()
    }

    /// Returns the parts of texts that occur more than once in data files, in lower case.
    pub fn often_said(&self) -> impl Iterator<Item = &str> {
        self.asked.note_all([Collection::Said]);
        self.said.iter().filter(|(_, times)| **times > 1).map(|(piece, _)| piece.as_str())
    }

    pub fn given(&self) -> impl Iterator<Item = &str> {
        self.asked.note_all([Collection::Given]);
        self.given.iter().map(String::as_str)
    }

    /// Returns the known name that is nearest to an unknown member or key; of several, the one that is read most often.
    /// `None` if none is near or the budget is spent.
    pub fn meant(&self, name: &str) -> Option<&str> {
        self.asked.note_all([Collection::Read]);
        if !self.budget.spend(self.read.len() as u64 * WORK_OF_COMPARISON) {
            return None;
        }
        let letters = name.chars().count();
        let small = |name: &str| !name.contains(|letter: char| letter.is_uppercase() || letter == ' ');
        let most = if letters < 2 { 0 } else { (letters / 3).clamp(1, 4) };
        let known = self.read.iter().filter(|(other, _)| **other != name && small(other) == small(name));
        let near = known.filter_map(|(other, times)| {
            let distance = slips(name, other, most)?;
            Some((distance, std::cmp::Reverse(*times), other.as_str()))
        });
        near.min().map(|(_, _, other)| other)
    }

    /// Whether some script attaches a hook without data, or without a name in them.
    pub fn is_attached_without(&self, hook: &str, name: Option<&str>) -> bool {
        self.asked.note(hook);
        let lacks = |given: &BTreeSet<String>| name.map_or(given.is_empty(), |name| !given.contains(name));
        self.attached_data.get(hook).is_some_and(|sites| sites.iter().any(lacks))
    }

    /// Whether some script may attach a hook.
    pub fn is_attached(&self, hook: &str) -> bool {
        self.asked.note_all([Collection::Attached]);
        self.handed_on > 0 || self.attached.as_ref().is_none_or(|attached| attached.contains(hook))
    }

    /// Whether some script reads a fact of that name by `rb.fact`.
    pub fn is_fact(&self, name: &str) -> bool {
        self.asked.note(name);
        self.facts.contains(name)
    }

    /// Returns the texts in the scripts that look like a name.
    pub fn texts(&self) -> impl Iterator<Item = &str> {
        self.asked.note_all([Collection::Texts]);
        self.texts.keys().map(String::as_str)
    }

    /// Returns how the results of a function are used: of `act.NAME`, of `lib/aim.at`, of `:name` for a derived value, or of a
    /// local function by its file and number.
    pub fn uses_of_result(&self, function: &str) -> ResultUses {
        self.asked.note(function);
        self.uses.results.get(function).copied().unwrap_or_default()
    }

    /// Returns the lists of texts in scripts that have one of some words.
    pub fn lists_with<'n>(
        &'n self,
        words: impl Iterator<Item = &'n str>,
    ) -> impl Iterator<Item = &'n BTreeSet<String>> {
        let words: Vec<&str> = words.collect();
        words.iter().for_each(|word| self.asked.note(&name_of_list(word)));
        self.uses.text_lists.iter().filter(move |list| words.iter().any(|word| list.contains(*word)))
    }

    /// Whether scripts test the result of a function in many places, and use it without a test in one place at most.
    pub fn is_tested_elsewhere(&self, search: &str) -> bool {
        self.asked.note(search);
        self.searches.get(search).is_some_and(|(tested, untested)| *tested >= FEWEST_TESTS && *untested <= 1)
    }

    /// Returns the ids that tables of scripts give: of cards, items and options.
    pub fn ids(&self) -> &BTreeSet<String> {
        self.asked.note_all([Collection::Ids]);
        &self.ids
    }

    pub fn topics(&self) -> &BTreeSet<String> {
        self.asked.note_all([Collection::Topics]);
        &self.topics
    }

    /// Returns the word that asks a topic, such as `number`; `None` if there are several, or none is known.
    pub fn asked_by(&self, topic: &str) -> Option<&str> {
        self.asked.note(topic);
        let words = self.asks.get(topic)?;
        words.first().filter(|_| words.len() == 1).map(String::as_str)
    }

    /// Returns the table that a file returns; `None` if it is unknown.
    pub fn module(&self, path: &str) -> Option<&Module> {
        self.asked.note(path);
        self.modules.get(path)
    }

    pub fn verb(&self, name: &str) -> Option<&Signature> {
        self.asked.note(name);
        self.verbs.get(name).map(|(signature, _)| signature)
    }

    /// Returns the file that defines a verb; `None` if several do.
    pub fn file_of_verb(&self, name: &str) -> Option<&str> {
        self.asked.note(name);
        self.verbs.get(name).filter(|_| !self.again.contains(name)).map(|(_, file)| file.as_str())
    }
}

fn add_counts(counts: &mut BTreeMap<String, usize>, more: &BTreeMap<String, usize>) {
    for (name, times) in more {
        *counts.entry(name.clone()).or_default() += times;
    }
}

fn add_pairs(pairs: &mut BTreeMap<String, (usize, usize)>, more: &BTreeMap<String, (usize, usize)>) {
    for (name, (one, other)) in more {
        let known = pairs.entry(name.clone()).or_default();
        *known = (known.0 + one, known.1 + other);
    }
}

fn add_lists<T: Clone>(lists: &mut BTreeMap<String, Vec<T>>, more: &BTreeMap<String, Vec<T>>) {
    for (name, list) in more {
        lists.entry(name.clone()).or_default().extend(list.iter().cloned());
    }
}

/// Adds the types of names: unknown where two differ.
fn add_types(types: &mut BTreeMap<String, Option<ValueType>>, more: &BTreeMap<String, Option<ValueType>>) {
    for (name, ty) in more {
        let known = types.entry(name.clone()).or_insert(*ty);
        if known != ty {
            *known = None;
        }
    }
}

impl Module {
    fn insert(
        &mut self,
        name: String,
        value: Expression<'_>,
        functions: &BTreeMap<u64, Signature>,
        around: Surroundings<'_>,
    ) {
        // A second assignment may store another type.
        if is_text_map(value) && !self.members.contains_key(&name) {
            self.text_maps.insert(name.clone());
        } else {
            self.text_maps.remove(&name);
        }
        if is_list(value) && !self.members.contains_key(&name) {
            self.lists.insert(name.clone());
        } else {
            self.lists.remove(&name);
        }
        match constant(value) {
            Some(Value::Int(number)) if !self.members.contains_key(&name) => {
                self.numbers.insert(name.clone(), number);
            }
            _ => drop(self.numbers.remove(&name)),
        }
        self.members.insert(name, signature_of(value, functions, around));
    }
}

struct Gatherer<'n> {
    names: &'n mut NamesOfFiles,
    /// The positions of tables that are arguments of the vocabulary.
    handed: BTreeSet<TextPosition>,
    /// The file's path, with the ruleset's id.
    file: &'n str,
    kinds: bool,
    spec: bool,
    around: Surroundings<'n>,
    /// What conditions of the file ask for: local variables, and where other expressions begin.
    tested: (BTreeSet<u64>, BTreeSet<TextPosition>),
}

impl Gatherer<'_> {
    fn give(&mut self, name: String) {
        self.names.give(name, !self.kinds && !self.spec);
    }
}

impl<'ast> AstVisitor<'ast> for Gatherer<'_> {
    fn visit_node(&mut self, node: AstNode<'ast>) -> bool {
        match node {
            AstNode::Statement(statement) => self.statement(statement),
            AstNode::Expression(expression) => {
                if let ExpressionKind::Table { items } = expression.kind() {
                    self.table(items, self.handed.contains(&expression.location().begin));
                    return false;
                }
                self.expression(expression);
            }
        }
        true
    }
}

impl<'ast> Gatherer<'_> {
    /// Notes the keys of a table as known names, not as texts.
    pub(crate) fn table(&mut self, items: &'ast [TableItem<'ast>], handed: bool) {
        if !self.spec && (FEWEST_OF_LIST..=MOST_OF_LIST).contains(&items.len()) {
            let texts = items.iter().map(|item| match item {
                TableItem::List { value } => literal(*value).filter(|text| text.len() <= LONGEST_WORD),
                _ => None,
            });
            self.names.uses.text_lists.extend(texts.collect::<Option<BTreeSet<String>>>());
        }
        let mut keys = BTreeSet::new();
        for item in items {
            match item {
                TableItem::List { value } => value.visit(self),
                TableItem::General { key, value } => {
                    key.visit(self);
                    value.visit(self);
                }
                // Types of names are no values of theirs.
                TableItem::Record { key, value } if self.declares_types(*key, *value) => {}
                TableItem::Record { key, value } => {
                    if literal(*key).as_deref() == Some("ask")
                        && let Some(word) = literal(*value).filter(|_| !self.spec)
                    {
                        self.asks_for(&word, items);
                    }
                    if let Some(name) = literal(*key) {
                        if !handed && !self.kinds && !self.spec {
                            self.names.own_keys.insert(name.clone());
                            self.names.note_computed(&name, *value);
                            keys.insert(name.clone());
                        }
                        self.record(name, *value);
                    }
                    value.visit(self);
                }
            }
        }
        if !keys.is_empty() {
            self.names.tables.push(keys);
        }
    }

    /// Whether an entry declares what `ctx` of cards or the data of attachments hold.
    fn declares_types(&self, key: Expression<'_>, value: Expression<'_>) -> bool {
        let place = match literal(key).as_deref() {
            Some("context" | "topics") => self.file.contains("/play"),
            Some("data") => self.file.contains("/hooks/") || self.file.contains("/items/"),
            _ => false,
        };
        let is_type = |value: Expression<'_>| matches!(value.kind(), ExpressionKind::Call { .. });
        let mut values = named(value).map(|(.., value)| value).peekable();
        place
            && values.peek().is_some()
            && values.all(|value| is_type(value) || listed(value).next().is_some_and(is_type))
    }

    pub(crate) fn record(&mut self, name: String, value: Expression<'_>) {
        if name == "derived" && self.kinds {
            for (derived, _, value) in named(value) {
                let result = match value.kind() {
                    ExpressionKind::FunctionLiteral(function) => DerivedResult::of(function, self.around, self.file),
                    _ => DerivedResult::unknown(),
                };
                if let ExpressionKind::FunctionLiteral(function) = value.kind()
                    && let Some(own) = function.args.first()
                {
                    let read = members_of(function, own.id);
                    self.names.uses.derived_reads.entry(derived.clone()).or_default().extend(read);
                }
                self.names.derived_results.entry(derived).or_default().push(result);
            }
        }
        if self.file.contains("/hooks/") || self.file.contains("/items/") {
            match &*name {
                "wrap" => self.names.uses.wrapped.extend(named(value).map(|(verb, ..)| verb)),
                "after" => self.names.uses.followed.extend(named(value).map(|(verb, ..)| verb)),
                _ => {}
            }
        }
        if name == "topic" {
            self.names.topics.extend(possible_texts(value));
        }
        match &*name {
            "id" if !self.spec => self.names.ids.extend(possible_texts(value)),
            "options" if !self.spec => self.names.ids.extend(listed(value).filter_map(literal)),
            _ => {}
        }
        let wraps = matches!(value.kind(), ExpressionKind::Call { func, .. }
            if matches!(func.kind(), ExpressionKind::IndexName { index, .. } if index == "wrapped"));
        let verb = verb_of(value, self.around);
        let is_again = verb.is_some() && self.file.contains("/verbs") && self.names.verbs.contains_key(&name);
        if wraps || is_again {
            self.names.again.insert(name.clone());
        }
        if let Some(signature) = verb {
            self.names.verbs.insert(name.clone(), (signature, self.file.to_string()));
        }
        if !self.spec {
            self.names.keys.insert(name.clone());
        }
        if let (ExpressionKind::FunctionLiteral(function), true) = (value.kind(), self.file.contains("/maneuvers/")) {
            let signature = Signature::of(function, self.around);
            let (giving, silent) = self.names.of_cards.entry(name.clone()).or_default();
            *giving += usize::from(signature.answers_at_times);
            *silent += usize::from(signature.silent.is_some());
            let params = self.names.calls.entry(function_of_cards(&name)).or_default();
            *params.counts.entry(function.args.len()).or_default() += 1;
            for (at, param) in function.args.iter().enumerate() {
                *params.texts.entry(at).or_default().entry(text(param.name)).or_default() += 1;
            }
        }
        if !self.spec && !self.kinds {
            self.names.note_constant(&name, value);
        }
        self.give(name);
    }
}

impl Gatherer<'_> {
    pub(crate) fn statement(&mut self, statement: Statement<'_>) {
        for (id, signature) in functions_in(statement, self.around) {
            self.names.functions.insert((self.file.to_string(), id), signature);
        }
        if let (StatementView::Local(local), false) = (statement.view(), self.spec) {
            self.names.makes_context |= local.bindings.iter().any(|binding| binding.name == "ctx");
        }
        if !self.spec {
            self.names.open_context |= opens_context(statement);
        }
        match statement.view() {
            StatementView::Local(local) if !self.spec => {
                let given = || local.bindings.iter().zip(local.values);
                let made = given().filter(|(_, value)| makes_table(**value));
                self.names.own_variables.extend(made.map(|(binding, _)| text(binding.name)));
                for (binding, value) in given() {
                    let is_tested = self.tested.0.contains(&binding.id);
                    self.searched(*value, is_tested);
                    if is_tested {
                        self.uses_result(*value, 1, -1);
                    }
                }
            }
            StatementView::Assign(assign) => {
                let owner = |var: &Expression<'_>| match var.kind() {
                    ExpressionKind::IndexName { expr, .. } | ExpressionKind::IndexExpr { expr, .. } => {
                        match expr.kind() {
                            ExpressionKind::Local { local, .. } => Some(text(local.name)),
                            _ => None,
                        }
                    }
                    _ => None,
                };
                self.names.own_variables.extend(assign.vars.iter().filter_map(owner).filter(|_| !self.spec));
                for path in assign.vars.iter().filter_map(|var| path_of(*var)).filter(|_| !self.spec) {
                    if let Some((of, name)) = path.split_once('.') {
                        let of = (self.file.to_string(), of.to_string());
                        self.names.filled.entry(of).or_default().insert(name.to_string());
                    }
                }
                for (at, name) in assign.vars.iter().map(|var| member(*var)).enumerate() {
                    if let (Some(name), Some(value)) = (&name, assign.values.get(at)) {
                        self.names.note_constant(name, *value);
                        if !self.spec {
                            self.names.note_computed(name, *value);
                            *self.names.written.entry(name.clone()).or_default() += 1;
                        }
                    }
                    self.assigned(name);
                }
            }
            StatementView::FunctionDeclaration(declaration) => self.assigned(member(declaration.name)),
            StatementView::CompoundAssign(assign) if !self.spec => self.reckoned(assign.var),
            StatementView::Expression(statement) if !self.spec => {
                self.ordered(statement.expr);
                self.uses_result(statement.expr, 0, -1);
            }
            StatementView::Return(returned) if !self.spec => {
                for value in returned.expressions {
                    self.ordered(*value);
                    self.uses_result(*value, 0, -1);
                }
            }
            _ => {}
        }
    }

    /// Notes the number of values and the texts that a call gives.
    fn given_in_call(&mut self, function: String, args: &[Expression<'_>]) {
        let given = self.names.calls.entry(function).or_default();
        *given.counts.entry(args.len()).or_default() += 1;
        for (at, arg) in args.iter().enumerate() {
            if let Some(text) = literal(*arg).filter(|text| text.len() <= LONGEST_WORD) {
                *given.texts.entry(at).or_default().entry(text).or_default() += 1;
            }
        }
    }

    /// Notes whether the result of a search is tested.
    fn searched(&mut self, call: Expression<'_>, is_tested: bool) {
        let ExpressionKind::Call { func, self_call: false, .. } = call.kind() else { return };
        if let Some(name) = self.around.called_name(func, self.file) {
            let (tested, untested) = self.names.searches.entry(name).or_default();
            *tested += usize::from(is_tested);
            *untested += usize::from(!is_tested);
        }
    }

    /// Notes uses of the result of a call.
    fn uses_result(&mut self, call: Expression<'_>, tested: i64, untested: i64) {
        let ExpressionKind::Call { func, self_call, .. } = call.kind() else { return };
        let name = match (func.kind(), self_call) {
            _ if self.spec => None,
            (ExpressionKind::IndexName { index, .. }, true) => Some(format!(":{}", text(index))),
            _ => match self.around.callee(func) {
                Some(Callee::Local(id)) => Some(local_name(self.file, id)),
                _ => self.around.called_name(func, self.file),
            },
        };
        if let Some(name) = name {
            self.names.uses.results.entry(name).or_default().add(ResultUses { tested, untested });
        }
    }

    /// Notes what a word of the vocabulary is given.
    fn given_to_word(&mut self, word: &str, args: &[Expression<'_>]) {
        if let Some(ExpressionKind::Table { items }) = args.first().map(|table| table.kind()) {
            self.asks_for(word, items);
        }
        match word {
            "comes" => self.given_in_call(MOMENTS.to_owned(), args),
            "roll" => {
                let rolled = args.first().and_then(|dice| member(*dice));
                self.names.handed.entry((ROLLS.to_owned(), 0)).or_default().extend(rolled);
            }
            _ => {}
        }
    }

    /// Notes by which word a topic is asked.
    fn asks_for(&mut self, word: &str, items: &[TableItem<'_>]) {
        let Some(topic) = value_of(items, "topic") else { return };
        if api::QUESTIONS.iter().any(|(known, _)| *known == word) {
            for topic in possible_texts(topic) {
                self.names.asks.entry(topic).or_default().insert(word.to_owned());
            }
        }
    }

    pub(crate) fn reckoned(&mut self, side: Expression<'_>) {
        if let Some(path) = path_of(side) {
            *self.names.reckoned.entry(path).or_default() += 1;
        }
    }

    /// Notes a call whose result is not used, or only returned.
    fn ordered(&mut self, call: Expression<'_>) {
        let ExpressionKind::Call { func, .. } = call.kind() else { return };
        let ExpressionKind::IndexName { expr, index, .. } = func.kind() else { return };
        // A member of a module is no function of a card.
        if !local_id(expr).is_some_and(|id| self.around.modules.contains_key(&id)) {
            self.names.ordered.insert(text(index));
        }
    }

    pub(crate) fn assigned(&mut self, name: Option<String>) {
        self.names.assigned.extend(name.clone());
        name.into_iter().for_each(|name| self.give(name));
    }

    pub(crate) fn expression(&mut self, expression: Expression<'_>) {
        match expression.kind() {
            ExpressionKind::String { .. } => {
                let Some(name) = literal(expression).filter(|name| name.len() <= 64) else { return };
                if !self.spec {
                    *self.names.texts.entry(name.clone()).or_default() += 1;
                    self.names.note_read(name.clone(), 1);
                }
                self.give(name);
            }
            ExpressionKind::Call { func, args, self_call, .. } => {
                let is_tested = self.tested.1.contains(&expression.location().begin);
                self.uses_result(expression, i64::from(is_tested), i64::from(!is_tested));
                if !self.spec && self.tested.1.contains(&expression.location().begin) {
                    self.searched(expression, true);
                }
                if let (ExpressionKind::Global(name), Some(list)) = (func.kind(), args.first())
                    && name == "ipairs"
                {
                    self.names.listed.extend(member(*list).into_iter().chain(path_of(*list)));
                }
                if let Some(function) = self.around.called_name(func, self.file).filter(|_| !self.spec && !self_call) {
                    self.given_in_call(function, args);
                }
                let ExpressionKind::IndexName { expr, index, .. } = func.kind() else { return };
                if is_vocabulary(expr) && !self.spec {
                    self.given_to_word(&text(index), args);
                }
                // `rb.options` and `rb.fact` take contexts. A table that another word takes is a question, an entity or
                // a declaration.
                if is_vocabulary(expr) && index != "options" && index != "fact" {
                    self.handed.extend(args.iter().map(|arg| arg.location().begin));
                    if let ("verb", Some(params)) = (&*text(index), args.first()) {
                        self.handed.extend(listed(*params).map(|param| param.location().begin));
                    }
                }
                if member(expr).as_deref() == Some("act") && !self.spec {
                    for (at, arg) in args.iter().enumerate() {
                        if let Some(name) = member(*arg) {
                            self.names.handed.entry((text(index), at)).or_default().insert(name);
                        }
                    }
                }
                self.names.parted.extend(member(expr));
                if self_call && api::ENTITY_METHODS.contains(&&*text(index)) {
                    self.names.entity_members.extend(member(expr));
                    if let ExpressionKind::Local { local, .. } = expr.kind()
                        && !self.spec
                    {
                        *self.names.entity_variables.entry(text(local.name)).or_default() += 1;
                    }
                }
                if index == "fact" {
                    self.names.facts.extend(args.get(1).and_then(|arg| literal(*arg)));
                }
                if index == "attach" && !self.spec {
                    self.names.handed_on -= 1;
                    match args.first().and_then(|arg| literal(*arg)) {
                        Some(hook) => {
                            let given = match args.get(2).map(|data| data.kind()) {
                                None => (args.len() == 2).then(BTreeSet::new),
                                Some(ExpressionKind::Table { .. }) => {
                                    Some(named(args[2]).map(|(name, ..)| name).collect())
                                }
                                Some(_) => None,
                            };
                            self.names.attached_data.entry(hook.clone()).or_default().extend(given);
                            self.names.attached.iter_mut().for_each(|attached| {
                                attached.insert(hook.clone());
                            });
                        }
                        None => self.names.attached = None,
                    }
                }
            }
            ExpressionKind::IndexName { expr, index, .. } => {
                self.names.parted.extend(member(expr));
                if !self.spec {
                    self.searched(expr, false);
                    self.names.handed_on += i64::from(index == "attach");
                    self.names.note_read(text(index), 1);
                    if let Some(path) = path_of(expression) {
                        if let Some(member) = path.strip_prefix("ctx.").filter(|_| self.file.contains("/maneuvers/")) {
                            let files = self.names.uses.context_reads.entry(member.to_owned()).or_default();
                            files.insert(self.file.to_owned());
                        }
                        *self.names.paths.entry(path).or_default() += 1;
                    }
                }
            }
            ExpressionKind::IndexExpr { expr, index } if matches!(index.kind(), ExpressionKind::Number { .. }) => {
                self.names.listed.extend(member(expr).into_iter().chain(path_of(expr)));
            }
            ExpressionKind::Unary { op: UnaryOp::Length, rhs } => {
                self.names.listed.extend(member(rhs).into_iter().chain(path_of(rhs)))
            }
            ExpressionKind::Binary { lhs, op, rhs } if !self.spec && (reckons(op) || orders(op)) => {
                [lhs, rhs].into_iter().for_each(|side| self.reckoned(side));
            }
            ExpressionKind::Binary { lhs, op: BinaryOp::Or, .. } => self.ordered(lhs),
            _ => {}
        }
    }
}

/// The name of a local function under which the uses of its results are kept.
pub(crate) fn local_name(file: &str, id: u64) -> String {
    format!("{file}#{id}")
}

/// Whether a value is a new table: a literal or a copy.
fn makes_table(value: Expression<'_>) -> bool {
    match value.kind() {
        ExpressionKind::Table { .. } => true,
        ExpressionKind::Call { func, .. } => matches!(func.kind(), ExpressionKind::IndexName { expr, index, .. }
            if index == "clone" && matches!(expr.kind(), ExpressionKind::Global(name) if name == "table")),
        _ => false,
    }
}

/// Whether a table called `ctx` gets a computed name, or comes from a library or the vocabulary.
fn opens_context(statement: Statement<'_>) -> bool {
    let is_context = |local: &Local<'_>| local.name == "ctx";
    let foreign = |value: Expression<'_>| match value.kind() {
        ExpressionKind::Call { func, .. } => match func.kind() {
            ExpressionKind::IndexName { expr, .. } => {
                is_vocabulary(expr) || matches!(expr.kind(), ExpressionKind::Global(_))
            }
            _ => false,
        },
        _ => false,
    };
    match statement.view() {
        StatementView::Assign(assign) => assign.vars.iter().any(|target| match target.kind() {
            ExpressionKind::IndexExpr { expr, .. } => {
                matches!(expr.kind(), ExpressionKind::Local { local, .. } if is_context(local))
            }
            _ => false,
        }),
        StatementView::Local(local) => {
            local.bindings.iter().zip(local.values).any(|(binding, value)| is_context(binding) && foreign(*value))
        }
        _ => false,
    }
}

/// Returns the signature of a verb's function: `rb.verb({ ... }, function)`, `rb.replace(rb.verb(...))`.
fn verb_of(value: Expression<'_>, around: Surroundings<'_>) -> Option<Signature> {
    let ExpressionKind::Call { func, args, .. } = value.kind() else { return None };
    let ExpressionKind::IndexName { index, .. } = func.kind() else { return None };
    if index == "verb"
        && let Some(ExpressionKind::FunctionLiteral(function)) = args.get(1).map(|arg| arg.kind())
    {
        return Some(Signature::of(function, around));
    }
    (index == "replace").then(|| verb_of(*args.first()?, around)).flatten()
}

/// Returns the table that a file returns; `None` if its names are not all visible.
fn module_of(block: &[Statement<'_>], around: Surroundings<'_>) -> Option<Module> {
    let StatementView::Return(returned) = block.last()?.view() else { return None };
    let [value] = returned.expressions else { return None };
    let functions = functions_of(block, around);
    let ExpressionKind::Local { local, .. } = value.kind() else { return table_of(*value, &functions, around) };
    let id = local.id;
    let mut module = None;
    // How often the variable occurs, and how often only to read a member of it.
    let (mut plain, mut by_name) = (0, 0);
    for statement in block {
        statement.visit(&mut |node: AstNode<'_>| {
            if let AstNode::Expression(expression) = node {
                match expression.kind() {
                    ExpressionKind::Local { local, .. } if local.id == id => plain += 1,
                    _ if member_of(expression, id).is_some() => by_name += 1,
                    _ => {}
                }
            }
            true
        });
        match statement.view() {
            StatementView::Local(declared) => {
                let places = declared.bindings.iter().zip(declared.values);
                for (_, value) in places.filter(|(binding, _)| binding.id == id) {
                    module = Some(table_of(*value, &functions, around)?);
                }
            }
            StatementView::FunctionDeclaration(declaration) => {
                if let Some(name) = member_of(declaration.name, id) {
                    let signature = declaration.function.as_function().map(|function| Signature::of(function, around));
                    module.as_mut()?.members.insert(name, signature);
                }
            }
            StatementView::Assign(assign) => {
                for (target, value) in assign.vars.iter().zip(assign.values) {
                    if let Some(name) = member_of(*target, id) {
                        module.as_mut()?.insert(name, *value, &functions, around);
                    }
                }
            }
            _ => {}
        }
    }
    // A function that takes the whole table may add to it, so only the `return` may name the table alone.
    module.filter(|_| plain == by_name + 1)
}

fn table_of(value: Expression<'_>, functions: &BTreeMap<u64, Signature>, around: Surroundings<'_>) -> Option<Module> {
    let ExpressionKind::Table { items } = value.kind() else { return None };
    let mut module = Module::default();
    for item in items {
        let TableItem::Record { key, value } = item else { return None };
        module.insert(literal(*key)?, *value, functions, around);
    }
    Some(module)
}

fn signature_of(
    value: Expression<'_>,
    functions: &BTreeMap<u64, Signature>,
    around: Surroundings<'_>,
) -> Option<Signature> {
    match value.kind() {
        ExpressionKind::FunctionLiteral(function) => Some(Signature::of(function, around)),
        ExpressionKind::Local { local, .. } => functions.get(&local.id).cloned(),
        _ => None,
    }
}

/// Returns the signatures of the local functions of a file.
fn functions_of(block: &[Statement<'_>], around: Surroundings<'_>) -> BTreeMap<u64, Signature> {
    block.iter().flat_map(|statement| functions_in(*statement, around)).collect()
}

/// Returns the signatures of the local functions that a statement declares.
fn functions_in(statement: Statement<'_>, around: Surroundings<'_>) -> Vec<(u64, Signature)> {
    match statement.view() {
        StatementView::LocalFunction(local) => {
            let function = local.function.as_function();
            function.map(|function| (local.name.id, Signature::of(function, around))).into_iter().collect()
        }
        StatementView::Local(local) => {
            let declared = local.bindings.iter().zip(local.values);
            let functions = declared.filter_map(|(binding, value)| match value.kind() {
                ExpressionKind::FunctionLiteral(function) => Some((binding.id, Signature::of(function, around))),
                _ => None,
            });
            functions.collect()
        }
        _ => Vec::new(),
    }
}

/// Returns the local variables that hold required modules, with the name in `require`. The table that the file itself
/// returns has an empty name.
fn modules_of(block: &[Statement<'_>]) -> BTreeMap<u64, String> {
    let mut modules = BTreeMap::new();
    for statement in block {
        match statement.view() {
            StatementView::Local(local) => {
                for (binding, value) in local.bindings.iter().zip(local.values) {
                    if let ExpressionKind::Call { func, args, .. } = value.kind()
                        && matches!(func.kind(), ExpressionKind::Global(name) if name == "require")
                        && let Some(path) =
                            args.first().and_then(|arg| literal(*arg)).filter(|path| !path.starts_with('@'))
                    {
                        modules.insert(binding.id, path);
                    }
                }
            }
            StatementView::Return(returned) => {
                if let [value] = returned.expressions
                    && let ExpressionKind::Local { local, .. } = value.kind()
                {
                    modules.insert(local.id, String::new());
                }
            }
            _ => {}
        }
    }
    modules
}

/// Returns `name` if the expression is `local.name` for the given local variable.
fn member_of(expression: Expression<'_>, id: u64) -> Option<String> {
    let ExpressionKind::IndexName { expr, index, .. } = expression.kind() else { return None };
    let ExpressionKind::Local { local, .. } = expr.kind() else { return None };
    (local.id == id).then(|| text(index))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn signature(source: &str) -> Signature {
        let (fields, modules) = (FieldEvidence::default(), BTreeMap::new());
        let around = Surroundings { fields: &fields, modules: &modules };
        functions_of(parse(&Arena::new(), source).unwrap().as_slice(), around).into_values().next().unwrap()
    }

    #[test]
    fn what_cannot_be_left_out_is_what_is_used_as_it_is() {
        assert_eq!(signature("local function f(a, b, c) return a.x + b end").needed, 2);
        assert_eq!(signature("local function f(a, b) if b then return b.x end return a.x end").needed, 0);
        assert_eq!(signature("local function f(a, b) b = b or 1 return a.x + b end").needed, 1);
        assert_eq!(signature("local function f(a, b) if a.x then return 1 end return b.x end").needed, 1);
        assert_eq!(signature("local function f(a, ...) return a .. select('#', ...) end").needed, 1);
    }

    fn members(source: &str) -> Option<Vec<String>> {
        let (fields, modules) = (FieldEvidence::default(), BTreeMap::new());
        let around = Surroundings { fields: &fields, modules: &modules };
        let module = module_of(parse(&Arena::new(), source).unwrap().as_slice(), around);
        module.map(|module| module.members.into_keys().collect())
    }

    #[test]
    fn what_a_file_returns_is_read_off_where_it_can_be() {
        assert_eq!(members("return { a = 1, b = f }").unwrap(), ["a", "b"]);
        assert_eq!(members("local m = {} function m.a() return m.b end m.b = 2 return m").unwrap(), ["a", "b"]);
        assert_eq!(members("local m = {} fill(m) return m"), None);
        assert_eq!(members("local m = {} m[k] = 1 return m"), None);
        assert_eq!(members("return make()"), None);
        assert_eq!(members("local m = table.clone(below) return m"), None);
    }
}
