//! Loads a ruleset into a machine. Every file runs once; the declarations are merged layer by layer, checked and passed
//! to the prelude. Otherwise every problem is reported.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use std::sync::Arc;

use mlua::{Function, Lua, Result, Table, Value as Lv};

use super::budget::{CallBudget, HELD, guarded, hold, spent_at};
use super::compile::named_assigners;
use super::conversion::{from_lua, sort_of, to_lua, whole_of};
use super::declaration_lines::line_of;
use super::declared_kinds::OfKinds;
use super::fault::{fault_of, meant};
use super::handles::Handles;
use super::host::state::{FailedRequire, HostState, RequireFailure};
use super::loader::{KEPT, Loader, MOST_HELD, title_of};
use super::merge::{FileDeclarations, Merger, sorted};
use super::prelude::Prelude;
use super::sandbox::{self, collect};
use super::trusted::Trusted;
use riskbreaker_ruleset::{
    Card, CreationPart, Cure, Data, Declarations, Fact, LoadError, Manifest, Problem, RecapSentences, Stack, Subject,
    instead, instead_or, plain,
};

pub(super) struct Loaded {
    pub lua: Lua,
    pub host: Rc<HostState>,
    pub trusted: Trusted,
    pub declarations: Declarations,
}

/// For each folder or file: the declaration that it contains, and whether each file contains one thing.
const PLACES: &[(&str, &str, bool)] = &[
    ("kinds", "kinds", false),
    ("verbs", "verbs", false),
    ("play", "play", false),
    ("creation", "creation", false),
    ("maneuvers", "maneuver", true),
    ("items", "item", true),
    ("hooks", "hook", true),
    ("policies", "policy", true),
    ("convert", "convert", true),
];

/// Loads a stack of rulesets.
///
/// # Errors
///
/// All problems found.
pub(super) fn load(stack: &Arc<Stack>) -> std::result::Result<Loaded, LoadError> {
    let failed = |problems: Vec<Problem>| LoadError::new(stack.main().id(), problems);
    let engine = |error: mlua::Error| {
        failed(vec![Problem::new(stack.main().id(), format!("the script engine cannot start: {error}"))])
    };
    let (lua, allowed) = sandbox::machine().map_err(engine)?;
    let host = Rc::new(HostState::default());
    let prelude = Prelude::start(&lua, &host, stack, &allowed).map_err(engine)?;
    sandbox::close(&lua, &allowed).map_err(engine)?;
    lua.gc_stop();

    let mut loader = Loader {
        lua: &lua,
        stack,
        problems: Vec::new(),
        merger: Merger::new(&lua, stack, &prelude.wrap),
        is_spent: false,
        held: MOST_HELD,
    };
    loader.run_files(&prelude, &allowed, &host).map_err(engine)?;
    let installed = if loader.is_spent { None } else { loader.whole(|loader| loader.install(&prelude, &host)) };
    let Some(installed) = installed else { return Err(failed(loader.problems)) };
    let (declarations, classes) = installed.map_err(engine)?;
    loader.refuse_keepers(&host);
    if !loader.problems.is_empty() {
        return Err(failed(loader.problems));
    }
    host.handles.borrow_mut().set_classes(&lua, classes, &declarations.schema).map_err(engine)?;
    Ok(Loaded { lua, host, trusted: prelude.trusted, declarations })
}

impl Loader<'_> {
    /// Runs every file, bottom part first, and merges the declarations.
    fn run_files(&mut self, prelude: &Prelude, allowed: &Table, host: &HostState) -> Result<()> {
        let mut budget = self.budget();
        let base = self.lua.used_memory();
        let (most, mut collected_at) = (base + sandbox::MEMORY, base + sandbox::MEMORY / 4);
        for part in self.stack.parts() {
            let (made, _) = guarded(self.lua, CallBudget::LOAD, || {
                let require: Function = prelude.requirer.call(part.index)?;
                let environment = sandbox::environment(self.lua, allowed, require)?;
                // The prelude compiles each file into the environment of its part.
                prelude.requirer.call::<Lv>((part.index, environment))
            });
            made?;
        }
        let scripts: Vec<(usize, String, String)> =
            self.stack.scripts().map(|(part, path, source)| (part, path.to_string(), source.path.clone())).collect();
        for (part, path, full) in scripts {
            let stem = path.rsplit('/').next().unwrap_or(&path).trim_end_matches(".luau").trim_end_matches(".lua");
            let place = PLACES.iter().find(|(folder, _, many)| {
                path.starts_with(&format!("{folder}/")) || (!many && stem == *folder && !path.contains('/'))
            });
            if path.starts_with("specs/") {
                continue;
            }
            if self.lua.used_memory() > collected_at {
                collect(self.lua)?;
                collected_at = self.lua.used_memory().midpoint(most);
            }
            let is_used_up = budget.is_nearly_spent() || sandbox::is_nearly_full(self.lua, base);
            let (result, spent) =
                guarded(self.lua, budget, || prelude.run_file.call::<Lv>((part, full.as_str(), place.is_none())));
            budget = budget.rest();
            if let Some(spent) = spent.filter(|_| is_used_up) {
                self.refuse_size(spent);
                return Ok(());
            }
            let value = match (result, spent) {
                (Ok(value), None) => value,
                (result, spent) => {
                    let error = result.err().unwrap_or(mlua::Error::StackError);
                    let fault = fault_of(&error, None, spent.map(|what| (what, spent_at())), self.stack);
                    let path = fault.path.clone().unwrap_or_else(|| full.clone());
                    let failed = host.failed_require.take().filter(|failed| failed.message == fault.message);
                    if failed.as_ref().is_some_and(|failed| matches!(failed.failure, RequireFailure::Reported))
                        && !self.problems.is_empty()
                    {
                        continue;
                    }
                    let (message, meant) = meant(fault.message);
                    let mut problem = Problem::new(path, message);
                    problem.line = fault.line;
                    problem.column = fault.column;
                    problem.length = Some(fault.length).filter(|length| *length > 0);
                    problem.cure = meant.or(fault.cure.map(Cure::from));
                    if let Some(FailedRequire { failure: RequireFailure::Circle(through), .. }) = failed {
                        problem = self.of_circle(problem, &through);
                    }
                    self.problems.push(problem);
                    if spent.is_some() {
                        self.is_spent = true;
                        return Ok(());
                    }
                    continue;
                }
            };
            if let Some((folder, what, one)) = place {
                match FileDeclarations::read(&value, what, part, &full) {
                    Ok(declared) => {
                        let id = one.then(|| stem.to_string());
                        let merged = self.whole(|loader| loader.merger.add(declared, id));
                        self.problems.append(&mut self.merger.problems);
                        match merged {
                            Some(merged) => merged?,
                            None => return Ok(()),
                        }
                    }
                    Err(message) => {
                        let message = format!("{message}; a file in `{folder}` returns rb.{what}{{...}}");
                        let returns = line_of(self.stack, &full, &format!("rb.{what}"));
                        let line = returns.or_else(|| line_of(self.stack, &full, "return")).unwrap_or(1);
                        let mut problem = Problem::new(full.clone(), message);
                        problem.line = Some(line);
                        problem.cure = Some(format!("write `return rb.{what}({{ ... }})` at its end").into());
                        self.problems.push(problem);
                    }
                }
            }
        }
        Ok(())
    }

    /// The problem of files that require each other, through one of them. A file that requires itself means the one of the
    /// ruleset below.
    fn of_circle(&self, problem: Problem, through: &str) -> Problem {
        let cure = "put what both need into a third file, and require that from both";
        let problem = problem.about(Subject::Circle).with_cure(cure);
        let Some((part, inside)) = self.stack.part_of(&problem.path).filter(|_| problem.path == through) else {
            return problem;
        };
        let module = inside.trim_end_matches(".luau").trim_end_matches(".lua");
        if self.stack.file_below(part, module).is_none() {
            return problem.with_cure("a file cannot require itself: take the line out");
        }
        let (written, code) = (format!("\"{module}\""), format!("\"@parent/{module}\""));
        let sentence = format!("the file requires itself: write require({code}) for the file of the ruleset below");
        problem.with_cure(Cure::rewrite(written, code, sentence))
    }

    /// The budget for all files together.
    fn budget(&self) -> CallBudget {
        CallBudget::load(self.stack.scripts().count())
    }

    /// Runs work that grows with the whole ruleset under its own budget. `None` if the budget was too small.
    fn whole<R>(&mut self, work: impl FnOnce(&mut Self) -> Result<R>) -> Option<Result<R>> {
        let budget = CallBudget { held: self.held, ..self.budget() };
        let known = self.problems.len();
        match guarded(self.lua, budget, || work(self)) {
            (result, None) => {
                self.held = budget.rest().held;
                Some(result)
            }
            (_, Some(spent)) => {
                // Drop problems caused by the lack of memory.
                self.problems.truncate(known);
                self.merger.problems.clear();
                self.refuse_size(spent);
                None
            }
        }
    }

    /// Reports that the scripts together exceed a budget, and which.
    fn refuse_size(&mut self, spent: &str) {
        self.is_spent = true;
        let scripts = self.stack.scripts().filter(|(_, path, _)| !path.starts_with("specs/"));
        let (count, bytes) =
            scripts.fold((0, 0), |(count, bytes), (.., source)| (count + 1, bytes + source.text.len()));
        let needs = match spent {
            HELD | "memory" | "size" => format!("more than {} MiB of memory", sandbox::MEMORY >> 20),
            "time" => format!("more than {} ms of processor time", self.budget().time.as_millis()),
            _ => format!("more than {} steps of scripts", CallBudget::LOAD.work),
        };
        let message = format!("loading its {count} script files ({} KiB) takes {needs}", bytes.div_ceil(1024));
        let cure = "use fewer files: remove what is not needed, and make one card with options of cards that are alike";
        self.problems.push(Problem::new(self.stack.main().id(), message).with_cure(cure));
    }

    /// Reports functions that exist after loading and assign to captured variables, since they keep values between
    /// calls.
    fn refuse_keepers(&mut self, host: &HostState) {
        let mut told = BTreeSet::new();
        for (path, keeper) in host.keepers.take() {
            let text = self.stack.text_of(&path).unwrap_or_default();
            let named = named_assigners(text).into_iter().find(|named| named.signature() == keeper.signature());
            for assigned in named.unwrap_or(keeper).assigned {
                let name = assigned.name.map_or("a local outside it".to_owned(), |name| format!("the local `{name}`"));
                if !told.insert((path.clone(), assigned.line, name.clone())) {
                    continue;
                }
                let message = format!("a function changes {name}, which would keep its value between calls");
                let cure = "declare the local inside the function, or keep the value in a field of an entity";
                let mut problem = Problem::new(path.clone(), message).with_cure(cure);
                problem.line = Some(assigned.line);
                self.problems.push(problem);
            }
        }
    }

    /// Checks the merged declarations and passes them to the prelude.
    fn install(&mut self, prelude: &Prelude, host: &Rc<HostState>) -> Result<(Declarations, Vec<Table>)> {
        let lua = self.lua;
        let kinds = self.merger.table("kinds")?;
        let verbs = self.merger.table("verbs")?;
        let play = self.merger.table("play")?;
        let of_kinds = OfKinds::new(lua)?;
        let (schema, parts) = self.schema(&kinds, &of_kinds)?;
        let mut declarations = Declarations { schema, ..Declarations::default() };

        let merged = lua.create_table()?;
        merged.raw_set("verbs", self.verbs(&verbs, &mut declarations)?)?;

        let facts = self.table_at("play", "", &play, "card")?;
        merged.raw_set("card_facts", facts.clone())?;
        let (cards, card_ids, listed) = self.cards("maneuver", facts)?;
        declarations.cards = listed;
        self.known_cards(&declarations.cards);
        merged.raw_set("cards", cards)?;
        merged.raw_set("card_ids", card_ids)?;
        let facts = self.table_at("play", "", &play, "item")?;
        let (items, item_ids, listed) = self.cards("item", facts)?;
        declarations.items = listed;
        merged.raw_set("items", &items)?;
        merged.raw_set("item_ids", item_ids)?;
        let verbs: Vec<Arc<str>> = declarations.verbs.iter().map(|verb| verb.name.clone()).collect();
        let (hooks, hook_ids) = self.hooks(&verbs)?;
        merged.raw_set("hook_data", self.hook_data(&mut declarations)?)?;
        declarations.hooks = hook_ids.iter().map(|id| Arc::from(&**id)).collect();
        merged.raw_set("hooks", hooks)?;
        merged.raw_set("hook_ids", lua.create_sequence_from(hook_ids)?)?;
        merged.raw_set("policies", self.policies(&mut declarations)?)?;
        merged.raw_set("converts", self.converts(&mut declarations)?)?;
        merged.raw_set("cast", self.cast()?)?;
        merged.raw_set("play", self.play(&play, of_kinds, &mut declarations)?)?;
        merged.raw_set("creation", self.creation(&mut declarations)?)?;

        if !self.problems.is_empty() {
            return Ok((declarations, Vec::new()));
        }
        let mut classes = Vec::new();
        for (kind, derived, nullable) in parts {
            let places = lua.create_table()?;
            let declared = declarations.schema.kind_named(&kind).map(|kind| declarations.schema.kind(kind));
            for (at, field) in declared.iter().flat_map(|kind| kind.fields.iter().enumerate()) {
                places.raw_set(&*field.name, at)?;
            }
            classes.push(prelude.class.call::<Table>((kind, classes.len(), derived, nullable, places))?);
        }
        *host.entries.borrow_mut() = declarations.entries.iter().map(|entry| entry.name.clone()).collect();
        prelude.install.call::<()>(merged)?;
        Ok((declarations, classes))
    }

    /// Reads the policies. One with a `base` leaves every question and free act that it does not answer to that policy.
    fn policies(&mut self, declarations: &mut Declarations) -> Result<Table> {
        let policies = self.lua.create_table()?;
        let mut bases: BTreeMap<String, String> = BTreeMap::new();
        let mut acting = BTreeSet::new();
        let all = self.merger.all("policy");
        for (id, policy) in &all {
            self.known_keys("policy", id, policy, &["id", "title", "text", "base", "answer", "act"], None)?;
            if self.has_function("policy", id, policy, ("act", "function(seat, acts) ... end"))? {
                acting.insert(id.clone());
            }
            match policy.raw_get::<Lv>("base")? {
                Lv::Nil => {}
                Lv::String(base) => {
                    bases.insert(id.clone(), base.to_string_lossy());
                }
                other => self.refuse_other("policy", id, ("base", "text", "\"ID\", a policy"), &other),
            }
            match policy.raw_get::<Lv>("answer")? {
                Lv::Function(_) => {}
                Lv::Nil if bases.contains_key(id) => {}
                _ => self.missing("policy", id, "answer", "a function(question)"),
            }
            declarations.policies.push(Arc::from(&**id));
            policies.raw_set(&**id, policy)?;
        }
        for (id, _) in &all {
            let lineage = self.lineage(id, &bases, &all);
            if lineage.iter().any(|policy| acting.contains(*policy)) {
                declarations.acting.push(Arc::from(&**id));
            }
        }
        Ok(policies)
    }

    /// A policy and the policies below it, by `base`, nearest first. Reports a base that does not exist, or that leads back
    /// to the policy.
    fn lineage<'p>(
        &mut self,
        id: &'p str,
        bases: &'p BTreeMap<String, String>,
        all: &[(String, Table)],
    ) -> Vec<&'p str> {
        let mut lineage = vec![id];
        while let Some(base) = bases.get(lineage[lineage.len() - 1]) {
            if base == id {
                let circle = [&lineage[..], &[id]].concat().join(" -> ");
                let message = format!("the policies have each other as `base`: {circle}");
                self.problem("policy", &format!("{id}/base"), message, "remove one `base`");
                break;
            } else if lineage.contains(&base.as_str()) {
                break; // reported at the policies of that circle
            } else if !all.iter().any(|(known, _)| known == base) {
                if lineage.len() == 1 {
                    let message = format!("the policy `{id}` has the base `{base}`, which is no policy");
                    let others = all.iter().map(|(known, _)| &**known).filter(|known| *known != id);
                    let cure = instead(base, others);
                    self.problem("policy", &format!("{id}/base"), message, cure);
                }
                break;
            }
            lineage.push(base);
        }
        lineage
    }

    fn creation(&mut self, declarations: &mut Declarations) -> Result<Table> {
        let creation = self.merger.table("creation")?;
        self.known_keys("creation", "", &creation, &CreationPart::ALL.map(CreationPart::name), None)?;
        for part in CreationPart::ALL {
            match creation.raw_get::<Lv>(part.name())? {
                Lv::Nil => {}
                Lv::Function(_) => {
                    declarations.creation.insert(part);
                }
                _ => self.missing("creation", "", part.name(), "a function"),
            }
        }
        Ok(creation)
    }

    /// Reports ids in `known_as` of manifests that are no cards.
    fn known_cards(&mut self, cards: &[Card]) {
        for part in self.stack.parts() {
            for id in part.manifest().known_as.keys().filter(|id| cards.iter().all(|card| *card.id != ***id)) {
                let path = format!("{}/{}", part.id(), Manifest::FILE);
                let problem = Problem::new(path, format!("`known_as` names `{id}`, and there is no such card"));
                self.problems.push(problem.with_cure(instead(id, cards.iter().map(|card| &*card.id))));
            }
        }
    }

    /// Reads cards or items: their tables by id, their ids, and their descriptions for the host.
    fn cards(&mut self, what: &'static str, facts: Option<Table>) -> Result<(Table, Table, Vec<Card>)> {
        let lua = self.lua;
        let (tables, ids) = (lua.create_table()?, lua.create_table()?);
        let mut listed = Vec::new();
        let own: &[&str] = match what {
            "maneuver" => &["id", "title", "text", "rules", "when", "resolve", "note", "recap"],
            _ => &["id", "title", "text", "rules", "priority", "before", "after", "wrap", "data"],
        };
        for (id, body) in self.merger.all(what) {
            self.known_keys(what, &id, &body, own, facts.as_ref())?;
            for (name, kind) in
                [("title", "text"), ("text", "text"), ("rules", "list"), ("when", "function"), ("resolve", "function")]
            {
                let found = body.raw_get::<Lv>(name)?;
                let fits = match (&found, kind) {
                    (Lv::Nil, _) | (Lv::String(_), "text") | (Lv::Table(_), "list") | (Lv::Function(_), "function") => {
                        true
                    }
                    _ => name == "resolve" && what != "maneuver",
                };
                if !fits {
                    let message = format!("`{name}` of {what} `{id}` is a {kind}, not {}", sort_of(&found));
                    let cure = match kind {
                        "text" => format!("put it in quotes: {name} = \"...\"").into(),
                        "list" => {
                            let text = found.as_string().map_or("MY-1".into(), |text| text.to_string_lossy());
                            let list = format!("{{ {text:?} }}");
                            let sentence = format!("put it in braces: {name} = {list}");
                            Cure::rewrite(format!("{text:?}"), list, sentence)
                        }
                        _ => format!("write {name} = function(ctx) ... end").into(),
                    };
                    self.problem(what, &format!("{id}/{name}"), message, cure);
                }
            }
            if what == "maneuver" && body.raw_get::<Lv>("resolve")?.is_nil() {
                let optional = type_of_fact(facts.as_ref(), "resolve").is_some_and(|ty| ty.ends_with('?'));
                let works = |(name, value): &(String, Lv)| value.is_function() && !["when", "note"].contains(&&**name);
                if !(optional && sorted(&body)?.iter().any(works)) {
                    self.missing(what, &id, "resolve", "a function(ctx)");
                }
            }
            let mut card = Card {
                id: Arc::from(&*id),
                title: title_of(&body, &id)?,
                text: body.raw_get::<Option<String>>("text").ok().flatten().unwrap_or_default(),
                rules: Vec::new(),
                facts: BTreeMap::new(),
                recap: self.recap_sentences(what, &id, &body)?,
                origins: self.merger.origins(what, &id),
            };
            hold(card.text.len())?;
            if let Lv::Table(rules) = body.raw_get::<Lv>("rules")? {
                for rule in rules.sequence_values::<Lv>() {
                    match rule? {
                        Lv::String(rule) => {
                            let rule = rule.to_string_lossy();
                            hold(KEPT + rule.len())?;
                            card.rules.push(rule);
                        }
                        other => {
                            let message = format!("`rules` of {what} `{id}` holds a {}, not a text", sort_of(&other));
                            let cure = "write the ids of rules: rules = { \"MY-1\" }";
                            self.problem(what, &format!("{id}/rules"), message, cure);
                            break;
                        }
                    }
                }
            }
            for (name, value) in sorted(&body)? {
                let is_declared = name == "data" && value.as_table().map(is_of_types).transpose()?.unwrap_or(false);
                if own.contains(&name.as_str()) && !["when", "resolve", "data"].contains(&&*name) || is_declared {
                    continue;
                }
                let fact = match &value {
                    // A field that is always a function is part of the card's behavior and no fact.
                    Lv::Function(_) if !own.contains(&&*name) && is_function(facts.as_ref(), &name) => continue,
                    Lv::Function(_) => Fact::Function,
                    value => match from_lua(value, &Handles::default()) {
                        Ok(value) => Fact::Plain(value),
                        Err(_) => continue,
                    },
                };
                card.facts.insert(name, fact);
            }
            listed.push(card);
            ids.raw_push(&*id)?;
            tables.raw_set(&*id, body)?;
        }
        Ok((tables, ids, listed))
    }

    /// Reads the sentences of a card for a recap.
    fn recap_sentences(&mut self, what: &'static str, id: &str, body: &Table) -> Result<RecapSentences> {
        let mut sentences = RecapSentences::default();
        let cure = "write recap = { success = \"{actor} ...\", failure = \"{actor} ...\" }, each a whole sentence; `{other}` is \
                    whom it is played on, and other names in braces are topics of questions";
        let listed = match body.raw_get::<Lv>("recap")? {
            Lv::Table(listed) if what == "maneuver" => listed,
            Lv::Nil => return Ok(sentences),
            // An item may declare a fact with this name.
            _ if what != "maneuver" => return Ok(sentences),
            other => {
                let message = format!("`recap` of {what} `{id}` is a {}, not a table", sort_of(&other));
                self.problem(what, &format!("{id}/recap"), message, cure);
                return Ok(sentences);
            }
        };
        for (key, value) in sorted(&listed)? {
            let path = format!("{id}/recap");
            if !RecapSentences::KEYS.contains(&&*key) {
                let cure = instead_or(&key, RecapSentences::KEYS.iter().copied(), cure);
                self.problem(what, &path, format!("unknown key `{key}` in `recap` of {what} `{id}`"), cure);
                continue;
            }
            let Lv::String(sentence) = &value else {
                let message = format!("`{key}` in `recap` of {what} `{id}` is a {}, not a text", sort_of(&value));
                self.problem(what, &path, message, cure);
                continue;
            };
            let sentence = sentence.to_string_lossy();
            hold(KEPT + sentence.len())?;
            match RecapSentences::mistake_in(&sentence) {
                Some(mistake) => {
                    let message = format!("the sentence for `{key}` in `recap` of {what} `{id}` {mistake}");
                    self.problem(what, &path, message, cure);
                }
                None => sentences.put(&key, sentence),
            }
        }
        Ok(sentences)
    }

    fn hooks(&mut self, verbs: &[Arc<str>]) -> Result<(Table, Vec<String>)> {
        // If the file of the verbs is invalid, the verbs are unknown.
        let unknown_verbs = self.problems.iter().any(|problem| problem.path.ends_with("/verbs.luau"));
        let tables = self.lua.create_table()?;
        let mut ids = Vec::new();
        let own = ["id", "title", "text", "rules", "priority", "always", "before", "after", "wrap", "data"];
        for what in ["hook", "item"] {
            for (id, body) in self.merger.all(what) {
                if what == "hook" {
                    self.known_keys(what, &id, &body, &own, None)?;
                    if !matches!(body.raw_get::<Lv>("always")?, Lv::Nil | Lv::Boolean(_)) {
                        let message = format!("`always` of hook `{id}` is true or false");
                        self.problem(what, &format!("{id}/always"), message, "write always = true");
                    }
                    tables.raw_set(&*id, &body)?;
                    ids.push(id.clone());
                }
                let priority = body.raw_get::<Lv>("priority")?;
                if !priority.is_nil() && whole_of(&priority).is_none() {
                    let message = format!("`priority` of {what} `{id}` is a whole number, not {}", sort_of(&priority));
                    let cure = "write priority = 10; hooks of a smaller number run first";
                    self.problem(what, &format!("{id}/priority"), message, cure);
                }
                for phase in ["before", "after", "wrap"] {
                    let path = format!("{id}/{phase}");
                    match body.raw_get::<Lv>(phase)? {
                        Lv::Nil => {}
                        Lv::Table(table) => {
                            for (verb, run) in sorted(&table)? {
                                let at = format!("{path}/{verb}");
                                if !unknown_verbs && !verbs.iter().any(|known| **known == *verb) {
                                    let message =
                                        format!("{what} `{id}` hooks on the verb `{verb}`, which does not exist");
                                    let cure = instead(&verb, verbs.iter().map(|verb| &**verb));
                                    self.problem(what, &at, message, cure);
                                }
                                if !matches!(run, Lv::Function(_)) {
                                    let message = format!(
                                        "`{phase}.{verb}` of {what} `{id}` is a function, not {}",
                                        sort_of(&run)
                                    );
                                    let cure = format!("write {verb} = function(e) ... end");
                                    self.problem(what, &at, message, cure);
                                }
                            }
                        }
                        other => {
                            let message = format!(
                                "`{phase}` of {what} `{id}` is a table of functions by verb, not {}",
                                sort_of(&other)
                            );
                            let cure = format!("write {phase} = {{ NAME_OF_A_VERB = function(e) ... end }}");
                            self.problem(what, &path, message, cure);
                        }
                    }
                }
            }
        }
        Ok((tables, ids))
    }

    /// Reads the data of attachments that hooks and items declare under `data`, and returns the tables for the prelude.
    fn hook_data(&mut self, declarations: &mut Declarations) -> Result<Table> {
        let tables = self.lua.create_table()?;
        for what in ["hook", "item"] {
            for (id, body) in self.merger.all(what) {
                let data = match body.raw_get::<Lv>("data")? {
                    Lv::Table(data) if what == "hook" || is_of_types(&data)? => data,
                    Lv::Nil => continue,
                    _ if what == "item" => continue, // a fact that is called so
                    other => {
                        let message = format!("`data` of hook `{id}` is a table of types, not {}", sort_of(&other));
                        self.problem(what, &format!("{id}/data"), message, "write data = { amount = rb.int() }");
                        continue;
                    }
                };
                let read = self.named_types(what, &format!("{id}/data"), &data, declarations)?;
                tables.raw_set(&*id, self.made_data(&data, &read)?)?;
                declarations.hook_data.insert(Arc::from(&*id), read);
            }
        }
        Ok(tables)
    }

    fn cast(&mut self) -> Result<Table> {
        let table = self.lua.create_table()?;
        for (name, (_, source)) in self.stack.data_in("cast") {
            if let Ok(data) = Data::read(source) {
                let value = plain(&data.value);
                table.raw_set(name, to_lua(self.lua, &value, &Handles::default())?)?;
            }
        }
        Ok(table)
    }
}

/// The type that play.luau declares for a fact of cards.
fn type_of_fact(facts: Option<&Table>, name: &str) -> Option<String> {
    facts?.raw_get::<Option<String>>(name).ok().flatten()
}

/// True if a table contains types, as `rb.int()` and similar functions make them.
fn is_of_types(table: &Table) -> Result<bool> {
    let mut values = sorted(table)?.into_iter().peekable();
    let is_type = |value: &Table| Ok::<_, mlua::Error>(!value.raw_get::<Lv>("@type")?.is_nil());
    if values.peek().is_none() {
        return Ok(false);
    }
    for (_, value) in values {
        let Lv::Table(value) = value else { return Ok(false) };
        let inner = value.raw_get::<Lv>(1)?;
        if !is_type(&value)? && !inner.as_table().map(is_type).transpose()?.unwrap_or(false) {
            return Ok(false);
        }
    }
    Ok(true)
}

fn is_function(facts: Option<&Table>, name: &str) -> bool {
    type_of_fact(facts, name).is_some_and(|ty| ty.trim_end_matches('?') == "function")
}
