//! Loading a ruleset into a machine: every file is run once, what the files declare is merged layer on layer, checked,
//! and handed to the prelude - or every problem is reported.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use std::sync::Arc;

use mlua::{Function, Lua, Result, Table, Value as Lv};
use serde::Serialize;

use super::bind::{self, Bench, Names};
use super::exchange::{from_lua, to_lua, whole_of};
use super::fault::{fault_of, meant};
use super::merge::{Declared, Merger};
use super::mirror::Mirror;
use super::sandbox::{self, Budget, Code, guarded, spent_at};
use super::vm::Trusted;
use crate::ruleset::{Card, Data, Fact, LoadError, Problem, Stack, nearest, plain};
use crate::state::{Field, FieldId, Kind, KindId, Schema, Type};

/// What a ruleset declares, as plain data.
#[derive(Debug, Default)]
pub(crate) struct Blueprint {
    pub schema: Schema,
    pub cards: Vec<Card>,
    pub items: Vec<Card>,
    pub hooks: Vec<Arc<str>>,
    pub verbs: Vec<Arc<str>>,
    /// Names of the parameters of each verb.
    pub verb_params: Vec<Vec<String>>,
    /// The file of each verb.
    pub verb_origins: Vec<Arc<str>>,
    pub policies: Vec<Arc<str>>,
    /// Policies that may take free acts.
    pub acting: Vec<Arc<str>>,
    pub entries: Vec<EntryName>,
    pub free: Vec<FreeName>,
    /// What can be looked at by name.
    pub views: Vec<FreeName>,
    pub prompt: bool,
    pub creation: bool,
    /// Whether the ruleset measures what a state is worth to a seat.
    pub value: bool,
    /// Whether it names how a game has ended.
    pub result: bool,
    /// Numbers that it follows from round to round.
    pub statistics: Vec<Statistic>,
    /// The entry that a round begins with.
    pub boundary: Option<Arc<str>>,
    /// Rulesets whose games it can take over by a file of `convert/`.
    pub converts: Vec<Arc<str>>,
}

/// A number that a ruleset follows from round to round.
#[derive(Clone, Debug)]
pub(crate) struct Statistic {
    pub label: Arc<str>,
    /// The field whose sum over all entities of its kind it is; otherwise a function works it out.
    pub field: Option<(KindId, FieldId)>,
}

/// An agenda entry that scripts may schedule.
#[derive(Clone, Debug)]
pub(crate) struct EntryName {
    pub name: Arc<str>,
    /// Its key is worked out anew before each pop.
    pub key: bool,
    /// Equal keys are settled by the ruleset.
    pub tie: bool,
}

/// An act that is nobody's turn.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FreeName {
    pub name: Arc<str>,
    pub title: Arc<str>,
}

pub(super) struct Loaded {
    pub lua: Lua,
    pub bench: Rc<Bench>,
    pub trusted: Trusted,
    pub blueprint: Blueprint,
}

/// What a file of a folder declares, and whether one file holds one thing.
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
/// All problems that were found.
pub(super) fn load(stack: &Arc<Stack>, code: Code) -> std::result::Result<Loaded, LoadError> {
    let failed = |problems: Vec<Problem>| LoadError::new(stack.main().id(), problems);
    let host = |error: mlua::Error| {
        failed(vec![Problem::new(stack.main().id(), format!("the script engine cannot start: {error}"))])
    };
    let (lua, allowed) = sandbox::machine(code).map_err(host)?;
    let bench = Rc::new(Bench::default());
    *bench.mirror.borrow_mut() = Mirror::new(code == Code::Learning);
    let prelude = Prelude::start(&lua, &bench, stack, &allowed).map_err(host)?;
    sandbox::close(&lua, &allowed).map_err(host)?;

    let mut loader = Loader { lua: &lua, stack, problems: Vec::new(), merger: Merger::new(&lua, stack, &prelude.wrap) };
    loader.run_files(&prelude, &allowed).map_err(host)?;
    let (installed, _) = guarded(Budget::LOAD, || loader.install(&prelude, &bench));
    let (blueprint, classes) = installed.map_err(host)?;
    if !loader.problems.is_empty() {
        return Err(failed(loader.problems));
    }
    bench.mirror.borrow_mut().set_classes(classes);
    Ok(Loaded { lua, bench, trusted: prelude.trusted, blueprint })
}

/// The trusted script and its functions.
struct Prelude {
    trusted: Trusted,
    install: Function,
    class: Function,
    wrap: Function,
    requirer: Function,
    run_file: Function,
}

impl Prelude {
    fn start(lua: &Lua, bench: &Rc<Bench>, stack: &Arc<Stack>, allowed: &Table) -> Result<Prelude> {
        let leaves = bind::leaves(lua, bench)?;
        let own = stack.clone();
        // Finds and compiles what `require` names: its key, and the function that makes the module.
        leaves.raw_set(
            "find",
            lua.create_function(move |lua, (part, name): (usize, String)| {
                let fault = |message: String| mlua::Error::RuntimeError(message);
                let (below, path) = match name.strip_prefix("@parent/") {
                    Some(path) => (Some(part), path),
                    None => (None, name.as_str()),
                };
                let proper = !path.is_empty()
                    && path.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_' || b == b'/');
                if !proper {
                    return Err(fault(format!(
                        "`{name}` cannot be required: a name is a path from the ruleset's folder, in a-z, 0-9, _ and /"
                    )));
                }
                let found = match below {
                    Some(part) => own.file_below(part, path),
                    None => own.file(path),
                };
                match found {
                    Some((part, source)) => Ok((format!("{}:{path}", part.index), part.index, source.path.clone())),
                    None => {
                        let names: Vec<String> = own
                            .scripts()
                            .map(|(_, path, _)| path.trim_end_matches(".luau").trim_end_matches(".lua").to_string())
                            .collect();
                        let _ = lua;
                        Err(fault(match nearest(path, names.iter().map(String::as_str)) {
                            Some(near) => format!("there is no file `{path}` in the ruleset; did you mean `{near}`?"),
                            None => format!("there is no file `{path}` in the ruleset"),
                        }))
                    }
                }
            })?,
        )?;
        let environments = lua.create_table()?;
        let own = stack.clone();
        let compiled_in = environments.clone();
        let compiled = bench.clone();
        leaves.raw_set(
            "compile",
            lua.create_function(move |lua, (part, path): (usize, String)| {
                let measured = own.is_measured();
                let environment: Table = compiled_in.raw_get(part + 1)?;
                let text = own.parts()[part]
                    .folder
                    .files
                    .values()
                    .find(|source| source.path == path)
                    .map(|source| source.text.clone())
                    .unwrap_or_default();
                if !measured {
                    return sandbox::compile(lua, &path, &text, &environment);
                }
                let function = sandbox::compile_measured(lua, &path, &text, &environment)?;
                compiled.measured.borrow_mut().push((path, function.clone()));
                Ok(function)
            })?,
        )?;
        leaves.raw_set("environments", environments)?;
        let thaw = |_: &Lua, table: Table| {
            table.set_readonly(false);
            Ok(())
        };
        leaves.raw_set("thaw", lua.create_function(thaw)?)?;
        let lock = |_: &Lua, table: Table| {
            table.set_readonly(true);
            Ok(table)
        };
        leaves.raw_set("lock", lua.create_function(lock)?)?;
        let (_, functions): (Table, Table) = lua
            .load(include_str!("prelude.luau"))
            .set_name("=host")
            .set_mode(mlua::chunk::ChunkMode::Text)
            .call((leaves, allowed))?;
        let get = |name: &str| functions.raw_get::<Function>(name);
        Ok(Prelude {
            install: get("install")?,
            class: get("class")?,
            wrap: get("wrap")?,
            requirer: get("requirer")?,
            run_file: get("run_file")?,
            trusted: Trusted {
                start: get("start")?,
                entry: get("entry")?,
                run_on: get("run_on")?,
                free: get("free")?,
                derived: get("derived")?,
                sheet: get("sheet")?,
                overview: get("overview")?,
                prompt: get("prompt")?,
                view: get("view")?,
                measure: get("measure")?,
                statistic: get("statistic")?,
                count: get("count")?,
                counts: get("counts")?,
                key: get("key")?,
                tie: get("tie")?,
                may_act: get("may_act")?,
                check_sheet: get("check_sheet")?,
                policy_act: get("policy_act")?,
                refresh: get("refresh")?,
                stale: get("stale")?,
                convert: get("convert")?,
            },
        })
    }
}

struct Loader<'a> {
    lua: &'a Lua,
    stack: &'a Arc<Stack>,
    problems: Vec<Problem>,
    merger: Merger<'a>,
}

impl Loader<'_> {
    /// Runs every file, bottom part first, and merges what it declares.
    fn run_files(&mut self, prelude: &Prelude, allowed: &Table) -> Result<()> {
        let mut budget = Budget::LOAD;
        for part in self.stack.parts() {
            let (made, _) = guarded(Budget::LOAD, || {
                let require: Function = prelude.requirer.call(part.index)?;
                let environment = sandbox::environment(self.lua, allowed, require)?;
                // The prelude compiles each file into the environment of the part that holds it.
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
            let (result, spent) =
                guarded(budget, || prelude.run_file.call::<Lv>((part, full.as_str(), place.is_none())));
            budget = budget.rest();
            let value = match (result, spent) {
                (Ok(value), None) => value,
                (result, spent) => {
                    let error = result.err().unwrap_or(mlua::Error::StackError);
                    let fault = fault_of(&error, None, spent.map(|what| (what, spent_at())), self.stack);
                    let path = fault.path.clone().unwrap_or_else(|| full.clone());
                    if fault.message.ends_with("could not be read, and is required here") && !self.problems.is_empty() {
                        continue; // why it could not has been told
                    }
                    let (message, meant) = meant(fault.message);
                    let mut problem = Problem::new(path, message);
                    problem.line = fault.line;
                    problem.column = fault.column;
                    problem.cure = meant.or(fault.cure);
                    self.problems.push(problem);
                    if spent.is_some() {
                        // Nothing more can be run in this machine.
                        return Ok(());
                    }
                    continue;
                }
            };
            if let Some((folder, what, one)) = place {
                match Declared::read(&value, what, part, &full) {
                    Ok(declared) => {
                        let id = one.then(|| stem.to_string());
                        let (merged, _) = guarded(Budget::LOAD, || self.merger.add(declared, id, &mut self.problems));
                        merged?;
                    }
                    Err(message) => {
                        let message = format!("{message}; a file in `{folder}` returns rb.{what}{{...}}");
                        let returns = line_of(self.stack, &full, &format!("rb.{what}"));
                        let line = returns.or_else(|| line_of(self.stack, &full, "return")).unwrap_or(1);
                        let mut problem = Problem::new(full.clone(), message);
                        problem.line = Some(line);
                        problem.cure = Some(format!("write `return rb.{what}({{ ... }})` at its end"));
                        self.problems.push(problem);
                    }
                }
            }
        }
        Ok(())
    }

    /// Checks what was merged and hands it to the prelude.
    fn install(&mut self, prelude: &Prelude, bench: &Rc<Bench>) -> Result<(Blueprint, Vec<Table>)> {
        let lua = self.lua;
        let kinds = self.merger.table("kinds")?;
        let verbs = self.merger.table("verbs")?;
        let play = self.merger.table("play")?;
        let (sheets, overviews) = (lua.create_table()?, lua.create_table()?);
        let (schema, parts) = self.schema(&kinds, &sheets, &overviews)?;
        let mut blueprint = Blueprint { schema, ..Blueprint::default() };

        let merged = lua.create_table()?;
        let made_verbs = lua.create_table()?;
        for (name, verb) in sorted(&verbs)? {
            match verb {
                Lv::Table(verb) if verb.raw_get::<Option<bool>>("@verb")? == Some(true) => {
                    let params: Table = verb.raw_get("params")?;
                    for at in 1..=params.raw_len() {
                        if !matches!(params.raw_get::<Lv>(at)?, Lv::String(_)) {
                            self.problem(
                                "verbs",
                                &name,
                                format!("the parameter names of the verb `{name}` are texts"),
                                Some("write them in quotes: rb.verb({ \"target\", \"amount\" }, function(target, amount) ... end)".into()),
                            );
                        }
                    }
                    let named = params.sequence_values::<String>().filter_map(Result::ok);
                    blueprint.verb_params.push(named.collect());
                    made_verbs.raw_set(&*name, verb)?;
                    blueprint.verbs.push(Arc::from(&*name));
                }
                Lv::Function(run) => {
                    let verb = lua.create_table()?;
                    verb.raw_set("params", lua.create_table()?)?;
                    verb.raw_set("run", run)?;
                    made_verbs.raw_set(&*name, verb)?;
                    blueprint.verb_params.push(Vec::new());
                    blueprint.verbs.push(Arc::from(&*name));
                }
                other => {
                    let message = format!("the verb `{name}` is {}, not rb.verb({{...}}, function)", other.type_name());
                    let cure = "write rb.verb({ \"target\" }, function(target) ... end)".to_string();
                    self.problem("verbs", &name, message, Some(cure));
                }
            }
        }
        merged.raw_set("verbs", made_verbs)?;
        let origin = |verb: &Arc<str>| Arc::from(self.merger.origin("verbs", verb).unwrap_or_default());
        blueprint.verb_origins = blueprint.verbs.iter().map(origin).collect();

        let facts: Option<Table> = play.raw_get("card")?;
        let (cards, card_ids, listed) = self.cards("maneuver", facts)?;
        blueprint.cards = listed;
        merged.raw_set("cards", cards)?;
        merged.raw_set("card_ids", card_ids)?;
        let facts: Option<Table> = play.raw_get("item")?;
        let (items, _, listed) = self.cards("item", facts)?;
        blueprint.items = listed;
        merged.raw_set("items", &items)?;
        let (hooks, hook_ids) = self.hooks(&blueprint.verbs)?;
        blueprint.hooks = hook_ids.iter().map(|id| Arc::from(&**id)).collect();
        merged.raw_set("hooks", hooks)?;
        merged.raw_set("hook_ids", lua.create_sequence_from(hook_ids)?)?;
        let policies = lua.create_table()?;
        for (id, policy) in self.merger.all("policy") {
            self.known_keys("policy", &id, &policy, &["id", "title", "text", "answer", "act"], None)?;
            if matches!(policy.raw_get::<Lv>("act")?, Lv::Function(_)) {
                blueprint.acting.push(Arc::from(&*id));
            }
            match policy.raw_get::<Lv>("answer")? {
                Lv::Function(_) => {
                    blueprint.policies.push(Arc::from(&*id));
                    policies.raw_set(&*id, policy)?;
                }
                _ => self.missing("policy", &id, "answer", "a function(question)"),
            }
        }
        merged.raw_set("policies", policies)?;
        let converts = lua.create_table()?;
        for (id, convert) in self.merger.all("convert") {
            self.known_keys("convert", &id, &convert, &["id", "title", "text", "rules", "run"], None)?;
            match convert.raw_get::<Lv>("run")? {
                Lv::Function(run) => {
                    blueprint.converts.push(Arc::from(&*id));
                    converts.raw_set(&*id, run)?;
                }
                _ => self.missing("convert", &id, "run", "a function(change)"),
            }
        }
        merged.raw_set("converts", converts)?;
        merged.raw_set("cast", self.cast()?)?;
        merged.raw_set("play", self.play(&play, sheets, overviews, &mut blueprint)?)?;
        let creation = self.merger.table("creation")?;
        self.known_keys("creation", "", &creation, &["check", "build"], None)?;
        blueprint.creation = matches!(creation.raw_get::<Lv>("check")?, Lv::Function(_));
        merged.raw_set("creation", creation)?;

        if !self.problems.is_empty() {
            return Ok((blueprint, Vec::new()));
        }
        let mut classes = Vec::new();
        for (kind, derived, nullable) in parts {
            let places = lua.create_table()?;
            let declared = blueprint.schema.kind_named(&kind).map(|kind| blueprint.schema.kind(kind));
            for (at, field) in declared.iter().flat_map(|kind| kind.fields.iter().enumerate()) {
                places.raw_set(&*field.name, at)?;
            }
            classes.push(prelude.class.call::<Table>((kind, derived, nullable, places))?);
        }
        bench.set_names(self.names(&blueprint));
        prelude.install.call::<()>(merged)?;
        Ok((blueprint, classes))
    }

    fn names(&self, blueprint: &Blueprint) -> Names {
        let texts = |names: &[Arc<str>]| names.iter().map(|name| name.to_string()).collect::<Vec<_>>();
        let ids = |cards: &[Card]| cards.iter().map(|card| card.id.to_string()).collect::<Vec<_>>();
        let holders = texts(&blueprint.hooks).into_iter().chain(ids(&blueprint.items)).collect();
        Names(BTreeMap::from([
            ("card", ids(&blueprint.cards)),
            ("item", ids(&blueprint.items)),
            ("hook", holders),
            ("verb", texts(&blueprint.verbs)),
            ("entry", blueprint.entries.iter().map(|entry| entry.name.to_string()).collect()),
            ("switch", self.stack.switches().iter().map(|switch| switch.name.clone()).collect()),
            (
                "cast",
                self.stack
                    .files_in("cast")
                    .keys()
                    .filter_map(|path| Some(path.rsplit('/').next()?.strip_suffix(".toml")?.to_string()))
                    .collect(),
            ),
        ]))
    }

    /// Reads the kinds: the schema, and what each kind's class is made of.
    #[allow(clippy::type_complexity)]
    fn schema(
        &mut self,
        kinds: &Table,
        sheets: &Table,
        overviews: &Table,
    ) -> Result<(Schema, Vec<(String, Table, Table)>)> {
        let lua = self.lua;
        let mut schema = Schema::default();
        let mut parts = Vec::new();
        let names: BTreeSet<String> = sorted(kinds)?.into_iter().map(|(name, _)| name).collect();
        for (name, body) in sorted(kinds)? {
            let Lv::Table(body) = body else {
                let cure = "write { fields = { wit = rb.int() } }".to_string();
                self.problem("kinds", &name, format!("the kind `{name}` is a table with `fields`"), Some(cure));
                continue;
            };
            self.known_keys(
                "kinds",
                &name,
                &body,
                &["title", "fields", "derived", "sheet", "overview", "label"],
                None,
            )?;
            let mut kind = Kind {
                name: Arc::from(&*name),
                title: None,
                fields: Vec::new(),
                derived: Vec::new(),
                derived_origins: Vec::new(),
                sheet: false,
                overview: false,
            };
            let nullable = lua.create_table()?;
            if let Lv::Table(fields) = body.raw_get::<Lv>("fields")? {
                for (field, declared) in sorted(&fields)? {
                    let path = format!("{name}/fields/{field}");
                    if ["id", "kind", "set", "add", "exists"].contains(&field.as_str()) {
                        self.problem(
                            "kinds",
                            &path,
                            format!("`{field}` is taken by the host"),
                            Some("choose another name".into()),
                        );
                        continue;
                    }
                    match read_field(&field, &declared, &names) {
                        Ok(mut read) => {
                            if matches!(read.ty, Type::Ref(_)) {
                                nullable.raw_set(&*field, true)?;
                            }
                            read.origin = Arc::from(self.merger.origin("kinds", &path).unwrap_or_default());
                            kind.fields.push(read);
                        }
                        Err(message) => {
                            let cure = cure_of_field(&message);
                            self.problem("kinds", &path, format!("the field `{field}` of {name} {message}"), cure)
                        }
                    }
                }
            }
            match body.raw_get::<Lv>("title")? {
                Lv::Nil => {}
                Lv::String(title) => {
                    let title = title.to_string_lossy().to_string();
                    match kind.field_named(&title) {
                        Some(at) if kind.field(at).ty == Type::Text => kind.title = Some(FieldId(at.0)),
                        _ => {
                            let message =
                                format!("the title of {name} names a text field, there is no text field `{title}`");
                            let texts =
                                kind.fields.iter().filter(|field| field.ty == Type::Text).map(|field| &*field.name);
                            let cure = match nearest(&title, texts) {
                                Some(near) => format!("did you mean `{near}`?"),
                                None => format!("declare {title} = rb.text() among its fields, or name another"),
                            };
                            self.problem("kinds", &format!("{name}/title"), message, Some(cure));
                        }
                    }
                }
                _ => {
                    let cure = Some("write title = \"name\"".to_string());
                    self.problem("kinds", &format!("{name}/title"), "a title is the name of a text field".into(), cure)
                }
            }
            let derived = lua.create_table()?;
            if let Lv::Table(table) = body.raw_get::<Lv>("derived")? {
                for (value, function) in sorted(&table)? {
                    let path = format!("{name}/derived/{value}");
                    match function {
                        Lv::Function(_) if kind.field_named(&value).is_some() => {
                            let message = format!("{name} has a field and a derived value `{value}`");
                            self.problem("kinds", &path, message, Some("give one of them another name".into()));
                        }
                        Lv::Function(function) => {
                            derived.raw_set(&*value, function)?;
                            kind.derived.push(Arc::from(&*value));
                            let origin = self.merger.origin("kinds", &path).unwrap_or_default();
                            kind.derived_origins.push(Arc::from(origin));
                        }
                        other => {
                            let message =
                                format!("the derived value `{value}` is a function(self), not {}", other.type_name());
                            let cure = format!("write {value} = function(self) return ... end");
                            self.problem("kinds", &path, message, Some(cure));
                        }
                    }
                }
            }
            if let Lv::Function(sheet) = body.raw_get::<Lv>("sheet")? {
                sheets.raw_set(&*name, sheet)?;
                kind.sheet = true;
            }
            if let Lv::Function(overview) = body.raw_get::<Lv>("overview")? {
                overviews.raw_set(&*name, overview)?;
                kind.overview = true;
            }
            parts.push((name, derived, nullable));
            schema.kinds.push(kind);
        }
        Ok((schema, parts))
    }

    /// Reads cards or items: their tables by id, their ids, and what the host lists.
    fn cards(&mut self, what: &'static str, facts: Option<Table>) -> Result<(Table, Table, Vec<Card>)> {
        let lua = self.lua;
        let (tables, ids) = (lua.create_table()?, lua.create_table()?);
        let mut listed = Vec::new();
        let own: &[&str] = match what {
            "maneuver" => &["id", "title", "text", "rules", "when", "resolve", "note"],
            _ => &["id", "title", "text", "rules", "priority", "before", "after", "wrap"],
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
                    let message = format!("`{name}` of {what} `{id}` is a {kind}, not {}", found.type_name());
                    let cure = match kind {
                        "text" => format!("put it in quotes: {name} = \"...\""),
                        "list" => format!("put it in braces: {name} = {{ \"MY-1\" }}"),
                        _ => format!("write {name} = function(ctx) ... end"),
                    };
                    self.problem(what, &format!("{id}/{name}"), message, Some(cure));
                }
            }
            if what == "maneuver" && body.raw_get::<Lv>("resolve")?.is_nil() {
                self.missing(what, &id, "resolve", "a function(ctx)");
            }
            let mut card = Card {
                id: Arc::from(&*id),
                title: Arc::from(body.raw_get::<Option<String>>("title").ok().flatten().unwrap_or_else(|| id.clone())),
                text: body.raw_get::<Option<String>>("text").ok().flatten().unwrap_or_default(),
                rules: Vec::new(),
                facts: BTreeMap::new(),
                origins: self.merger.origins(what, &id),
            };
            if let Lv::Table(rules) = body.raw_get::<Lv>("rules")? {
                for rule in rules.sequence_values::<Lv>() {
                    match rule? {
                        Lv::String(rule) => card.rules.push(rule.to_string_lossy().to_string()),
                        other => {
                            let message = format!("`rules` of {what} `{id}` holds a {}, not a text", other.type_name());
                            let cure = "write the ids of rules: rules = { \"MY-1\" }".to_string();
                            self.problem(what, &format!("{id}/rules"), message, Some(cure));
                            break;
                        }
                    }
                }
            }
            for (name, value) in sorted(&body)? {
                if own.contains(&name.as_str()) && name != "when" && name != "resolve" {
                    continue;
                }
                let fact = match &value {
                    Lv::Function(_) => Fact::Function,
                    value => match from_lua(value, &Mirror::default()) {
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

    fn hooks(&mut self, verbs: &[Arc<str>]) -> Result<(Table, Vec<String>)> {
        let tables = self.lua.create_table()?;
        let mut ids = Vec::new();
        let own = ["id", "title", "text", "rules", "priority", "always", "before", "after", "wrap"];
        for what in ["hook", "item"] {
            for (id, body) in self.merger.all(what) {
                if what == "hook" {
                    self.known_keys(what, &id, &body, &own, None)?;
                    if !matches!(body.raw_get::<Lv>("always")?, Lv::Nil | Lv::Boolean(_)) {
                        let message = format!("`always` of hook `{id}` is true or false");
                        self.problem(what, &format!("{id}/always"), message, Some("write always = true".into()));
                    }
                    tables.raw_set(&*id, &body)?;
                    ids.push(id.clone());
                }
                let priority = body.raw_get::<Lv>("priority")?;
                if !priority.is_nil() && whole_of(&priority).is_none() {
                    let message =
                        format!("`priority` of {what} `{id}` is a whole number, not {}", priority.type_name());
                    let cure = "write priority = 10; hooks of a smaller number run first".to_string();
                    self.problem(what, &format!("{id}/priority"), message, Some(cure));
                }
                for phase in ["before", "after", "wrap"] {
                    let path = format!("{id}/{phase}");
                    match body.raw_get::<Lv>(phase)? {
                        Lv::Nil => {}
                        Lv::Table(table) => {
                            for (verb, run) in sorted(&table)? {
                                let at = format!("{path}/{verb}");
                                if !verbs.iter().any(|known| **known == *verb) {
                                    let near = nearest(&verb, verbs.iter().map(|verb| &**verb));
                                    let message =
                                        format!("{what} `{id}` hooks on the verb `{verb}`, which does not exist");
                                    let cure = near.map(|near| format!("did you mean `{near}`?"));
                                    self.problem(what, &at, message, cure);
                                }
                                if !matches!(run, Lv::Function(_)) {
                                    let message = format!(
                                        "`{phase}.{verb}` of {what} `{id}` is a function, not {}",
                                        run.type_name()
                                    );
                                    let cure = format!("write {verb} = function(e) ... end");
                                    self.problem(what, &at, message, Some(cure));
                                }
                            }
                        }
                        other => {
                            let message = format!(
                                "`{phase}` of {what} `{id}` is a table of functions by verb, not {}",
                                other.type_name()
                            );
                            let cure = format!("write {phase} = {{ NAME_OF_A_VERB = function(e) ... end }}");
                            self.problem(what, &path, message, Some(cure));
                        }
                    }
                }
            }
        }
        Ok((tables, ids))
    }

    fn play(&mut self, play: &Table, sheets: Table, overviews: Table, blueprint: &mut Blueprint) -> Result<Table> {
        let lua = self.lua;
        let known = [
            "start",
            "entries",
            "free",
            "boundary",
            "prompt",
            "card",
            "item",
            "value",
            "result",
            "statistics",
            "views",
        ];
        self.known_keys("play", "", play, &known, None)?;
        if !matches!(play.raw_get::<Lv>("start")?, Lv::Function(_)) {
            let path = self.merger.a_path("play").unwrap_or_else(|| format!("{}/play.luau", self.stack.main().id()));
            let message = "play.luau needs `start`, a function(scenario) that builds the starting state";
            let cure = "add start = function(scenario) ... end, or name a ruleset that has it in `extends`";
            self.problems.push(Problem::new(path, message).with_cure(cure));
        }
        let made = lua.create_table()?;
        made.raw_set("start", play.raw_get::<Lv>("start")?)?;
        made.raw_set("prompt", play.raw_get::<Lv>("prompt")?)?;
        made.raw_set("sheets", sheets)?;
        made.raw_set("overviews", overviews)?;
        blueprint.prompt = matches!(play.raw_get::<Lv>("prompt")?, Lv::Function(_));
        blueprint.boundary = play.raw_get::<Option<String>>("boundary").ok().flatten().map(Arc::from);
        for (name, found) in [("value", &mut blueprint.value), ("result", &mut blueprint.result)] {
            let function = play.raw_get::<Lv>(name)?;
            *found = matches!(function, Lv::Function(_));
            if !*found && !function.is_nil() {
                let message = format!("`{name}` in play.luau is a function, not a {}", function.type_name());
                self.problem("play", name, message, Some(format!("write {name} = function(seat) return ... end")));
            }
            made.raw_set(name, function)?;
        }
        made.raw_set("statistics", self.statistics(play, blueprint)?)?;
        let entries = lua.create_table()?;
        if let Lv::Table(table) = play.raw_get::<Lv>("entries")? {
            for (name, entry) in sorted(&table)? {
                let path = format!("entries/{name}");
                let mut known = EntryName { name: Arc::from(&*name), key: false, tie: false };
                match &entry {
                    Lv::Function(_) => {}
                    Lv::Table(body) => {
                        self.known_keys("play", &path, body, &["run", "key", "tie"], None)?;
                        if !matches!(body.raw_get::<Lv>("run")?, Lv::Function(_)) {
                            self.missing("play", &path, "run", "a function(owner, args)");
                        }
                        known.key = matches!(body.raw_get::<Lv>("key")?, Lv::Function(_));
                        known.tie = matches!(body.raw_get::<Lv>("tie")?, Lv::Function(_));
                    }
                    other => {
                        let message =
                            format!("the entry `{name}` is a function(owner, args), not {}", other.type_name());
                        let cure = format!("write {name} = function(owner, args) ... end");
                        self.problem("play", &path, message, Some(cure));
                    }
                }
                entries.raw_set(&*name, entry)?;
                blueprint.entries.push(known);
            }
        }
        made.raw_set("entries", entries)?;
        let free = lua.create_table()?;
        if let Lv::Table(table) = play.raw_get::<Lv>("free")? {
            for (name, act) in sorted(&table)? {
                let path = format!("free/{name}");
                let Lv::Table(body) = act else {
                    let cure = format!("write {name} = {{ title = \"...\", run = function(seat) ... end }}");
                    self.problem("play", &path, format!("the free act `{name}` is a table with `run`"), Some(cure));
                    continue;
                };
                self.known_keys("play", &path, &body, &["title", "text", "rules", "seats", "when", "run"], None)?;
                if !matches!(body.raw_get::<Lv>("run")?, Lv::Function(_)) {
                    self.missing("play", &path, "run", "a function(seat)");
                }
                if !matches!(body.raw_get::<Lv>("seats")?, Lv::Nil | Lv::Table(_)) {
                    let message = format!("`seats` of the free act `{name}` is a list");
                    let cure = "put it in braces: seats = { \"left\" }".to_string();
                    self.problem("play", &format!("{path}/seats"), message, Some(cure));
                }
                let title = body.raw_get::<Option<String>>("title").ok().flatten().unwrap_or_else(|| name.clone());
                blueprint.free.push(FreeName { name: Arc::from(&*name), title: Arc::from(title) });
                free.raw_set(&*name, body)?;
            }
        }
        made.raw_set("free", free)?;
        made.raw_set("views", self.views(play, blueprint)?)?;
        Ok(made)
    }

    /// What can be looked at by name: `{ title, show = function(seat) }`.
    fn views(&mut self, play: &Table, blueprint: &mut Blueprint) -> Result<Table> {
        let views = self.lua.create_table()?;
        let Lv::Table(table) = play.raw_get::<Lv>("views")? else { return Ok(views) };
        for (name, view) in sorted(&table)? {
            let path = format!("views/{name}");
            let Lv::Table(body) = view else {
                let cure = format!("write {name} = {{ title = \"...\", show = function(seat) ... end }}");
                self.problem("play", &path, format!("the view `{name}` is a table with `show`"), Some(cure));
                continue;
            };
            self.known_keys("play", &path, &body, &["title", "show"], None)?;
            match body.raw_get::<Lv>("show")? {
                Lv::Function(show) => views.raw_set(&*name, show)?,
                _ => self.missing("play", &path, "show", "a function(seat)"),
            }
            let title = body.raw_get::<Option<String>>("title").ok().flatten().unwrap_or_else(|| name.clone());
            blueprint.views.push(FreeName { name: Arc::from(&*name), title: Arc::from(title) });
        }
        Ok(views)
    }

    /// The numbers that a ruleset follows: `"kind.field"`, or a function that works one out, by label.
    fn statistics(&mut self, play: &Table, blueprint: &mut Blueprint) -> Result<Table> {
        let functions = self.lua.create_table()?;
        let table = match play.raw_get::<Lv>("statistics")? {
            Lv::Nil => return Ok(functions),
            Lv::Table(table) => table,
            other => {
                let message = format!("`statistics` in play.luau is a table, not a {}", other.type_name());
                let cure = "write statistics = { \"kind.field\" }".to_string();
                self.problem("play", "statistics", message, Some(cure));
                return Ok(functions);
            }
        };
        for (name, value) in sorted(&table)? {
            let path = format!("statistics/{name}");
            match value {
                Lv::Function(function) => {
                    blueprint.statistics.push(Statistic { label: Arc::from(&*name), field: None });
                    functions.raw_set(&*name, function)?;
                }
                Lv::String(text) => {
                    let text = text.to_string_lossy();
                    let schema = &blueprint.schema;
                    let found = text.split_once('.').and_then(|(kind, field)| {
                        let kind = schema.kind_named(kind)?;
                        let field = schema.kind(kind).field_named(field)?;
                        matches!(schema.kind(kind).field(field).ty, Type::Int { .. }).then_some((kind, field))
                    });
                    let Some((kind, field)) = found else {
                        let message = format!("`{text}` is no number field; statistics are `kind.field` or functions");
                        let kinds = schema.kinds.iter();
                        let fields = kinds.flat_map(|kind| {
                            let whole = kind.fields.iter().filter(|field| matches!(field.ty, Type::Int { .. }));
                            whole.map(|field| format!("{}.{}", kind.name, field.name))
                        });
                        let fields: Vec<String> = fields.collect();
                        let cure = match nearest(&text, fields.iter().map(String::as_str)) {
                            Some(near) => format!("did you mean `{near}`?"),
                            None => "name a kind and a field of it that rb.int declares".to_string(),
                        };
                        let at = if name.starts_with('[') { "statistics" } else { path.as_str() };
                        self.problem("play", at, message, Some(cure));
                        continue;
                    };
                    let listed = name.starts_with('[');
                    let own = &schema.kind(kind).field(field).label;
                    let label = if listed { own.clone() } else { Arc::from(&*name) };
                    blueprint.statistics.push(Statistic { label, field: Some((kind, field)) });
                }
                other => {
                    let message =
                        format!("the statistic `{name}` is a text or a function, not a {}", other.type_name());
                    let cure = format!("write {name} = \"kind.field\", or a function that gives a number");
                    self.problem("play", &path, message, Some(cure));
                }
            }
        }
        Ok(functions)
    }

    fn cast(&mut self) -> Result<Table> {
        let table = self.lua.create_table()?;
        for (path, (_, source)) in self.stack.files_in("cast") {
            let Some(name) = path.rsplit('/').next().and_then(|name| name.strip_suffix(".toml")) else { continue };
            if let Ok(data) = Data::read(source) {
                let value = plain(&data.value);
                table.raw_set(name, to_lua(self.lua, &value, &Mirror::default())?)?;
            }
        }
        Ok(table)
    }

    /// Reports keys that are not known, with the nearest that is. Further keys may be declared with their types; where
    /// none are declared, only misspellings of known keys are reported.
    fn known_keys(&mut self, what: &str, at: &str, body: &Table, known: &[&str], facts: Option<&Table>) -> Result<()> {
        let open = matches!(what, "maneuver" | "item");
        let mut allowed: Vec<String> = known.iter().map(|key| key.to_string()).collect();
        let mut types: BTreeMap<String, String> = BTreeMap::new();
        if let Some(facts) = facts {
            for pair in facts.pairs::<String, String>() {
                match pair {
                    Ok((name, ty)) => {
                        allowed.push(name.clone());
                        types.insert(name, ty);
                    }
                    Err(_) => {
                        let key = if what == "item" { "item" } else { "card" };
                        let message = format!(
                            "`{key}` in play.luau maps facts to their types, such as max_risk = \"number|function?\""
                        );
                        let cure =
                            "write the type in quotes: number, string, boolean, table or function; `?` may be left out"
                                .to_string();
                        self.problem("play", key, message, Some(cure));
                        return Ok(());
                    }
                }
            }
        }
        for (key, value) in sorted(body)? {
            let path = if at.is_empty() { key.clone() } else { format!("{at}/{key}") };
            if allowed.contains(&key) {
                if let Some(ty) = types.get(&key) {
                    let found = if matches!(value, Lv::Integer(_)) { "number" } else { value.type_name() };
                    if !ty.trim_end_matches('?').split('|').any(|one| one.trim() == found) {
                        let message =
                            format!("`{key}` of {what} `{at}` is {}, not a {found}", ty.trim_end_matches('?'));
                        let cure = match ty.trim_end_matches('?') {
                            "string" => format!("put it in quotes: {key} = \"...\""),
                            "number" => "write a number, without quotes".to_string(),
                            "boolean" => "write true or false, without quotes".to_string(),
                            ty => format!("write {ty}; `{what}` in play.luau says so"),
                        };
                        self.problem(what, &path, message, Some(cure));
                    }
                }
                continue;
            }
            let near = nearest(&key, allowed.iter().map(String::as_str));
            if open && facts.is_none() && near.is_none() {
                continue;
            }
            let cure = match near {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("known keys are {}", allowed.join(", ")),
            };
            let of = if at.is_empty() { what.to_string() } else { format!("{what} `{at}`") };
            self.problem(what, &path, format!("unknown key `{key}` in {of}"), Some(cure));
        }
        for (name, ty) in &types {
            if !ty.ends_with('?') && body.raw_get::<Lv>(name.as_str())?.is_nil() {
                self.missing(what, at, name, ty);
            }
        }
        Ok(())
    }

    fn missing(&mut self, what: &str, at: &str, key: &str, wanted: &str) {
        let file = self.merger.origin(what, at).or_else(|| self.merger.origin(what, &format!("{at}/id")));
        let meant = Some(format!("did you mean `{key}`?"));
        if self.problems.iter().any(|problem| Some(&problem.path) == file.as_ref() && problem.cure == meant) {
            return; // it is there, by a misspelt name
        }
        self.problem(what, at, format!("{what} `{at}` lacks `{key}`"), Some(format!("add {key} = {wanted}")));
    }

    /// Notes a problem at the place where a field was declared.
    fn problem(&mut self, what: &str, path: &str, message: String, cure: Option<String>) {
        let file = self.merger.origin(what, path).unwrap_or_else(|| self.stack.main().id().to_string());
        let (message, meant) = meant(message);
        let mut problem = Problem::new(file.clone(), message);
        problem.cure = meant.or(cure);
        let key = path.rsplit('/').next().unwrap_or(path);
        problem.line = line_of(self.stack, &file, key);
        self.problems.push(problem);
    }
}

/// What to do about a field's declaration: what its own message ends with, or how fields are declared.
fn cure_of_field(message: &str) -> Option<String> {
    let cure = if message.contains("bound") || message.contains("whole number but") {
        "bounds are numbers without quotes: rb.int({ min = 0, max = 10 })"
    } else if message.contains("default") {
        "give it a default that it can have, or leave the default out"
    } else if message.contains("declared with") {
        "write rb.int(), rb.bool(), rb.text(), rb.enum({ ... }), rb.ref(\"kind\"), rb.list(...) or rb.map(...)"
    } else if message.contains("which does not exist") {
        "name a kind of kinds.luau"
    } else {
        "look at the types of fields in docs/reference.md"
    };
    Some(cure.to_string())
}

/// The line of a file that assigns a key, or that names it first.
pub(super) fn line_of(stack: &Stack, path: &str, key: &str) -> Option<u32> {
    let (part, inside) = path.split_once('/')?;
    let part = stack.parts().iter().find(|other| other.id() == part)?;
    let text = &part.folder.file(inside)?.text;
    let whole = |line: &str, at: usize| {
        let word = |c: char| c.is_alphanumeric() || c == '_';
        !line[..at].chars().next_back().is_some_and(word) && !line[at + key.len()..].chars().next().is_some_and(word)
    };
    let mut first = None;
    for (number, line) in text.lines().enumerate() {
        if line.trim_start().starts_with("--") {
            continue;
        }
        let Some(at) = line.find(key).filter(|at| whole(line, *at)) else { continue };
        let rest = line[at + key.len()..].trim_start_matches(['"', ']', ' ']);
        if rest.starts_with('=') && !rest.starts_with("==") {
            return Some(number as u32 + 1);
        }
        first.get_or_insert(number as u32 + 1);
    }
    first
}

/// The text keys of a table with their values, sorted.
pub(super) fn sorted(table: &Table) -> Result<Vec<(String, Lv)>> {
    let mut pairs = Vec::new();
    for pair in table.pairs::<Lv, Lv>() {
        let (key, value) = pair?;
        match key {
            Lv::String(key) => pairs.push((key.to_string_lossy().to_string(), value)),
            other => pairs.push((format!("[{}]", other.to_string().unwrap_or_default()), value)),
        }
    }
    pairs.sort_by(|a, b| a.0.cmp(&b.0));
    Ok(pairs)
}

/// Reads a field's declaration.
fn read_field(name: &str, declared: &Lv, kinds: &BTreeSet<String>) -> std::result::Result<Field, String> {
    let Lv::Table(table) = declared else {
        return Err(format!("is declared with rb.int(), rb.text() and the like, not a {}", declared.type_name()));
    };
    let ty = read_type(table, kinds)?;
    let text = |key: &str| -> std::result::Result<Option<Arc<str>>, String> {
        match table.raw_get::<Lv>(key).map_err(|error| error.to_string())? {
            Lv::Nil => Ok(None),
            Lv::String(text) => Ok(Some(Arc::from(text.to_string_lossy()))),
            other => Err(format!("has a `{key}` that is a {}, not a text", other.type_name())),
        }
    };
    let default = match table.raw_get::<Lv>("default").map_err(|error| error.to_string())? {
        Lv::Nil => ty.default_value(),
        value => {
            let value =
                from_lua(&value, &Mirror::default()).map_err(|_| "has a default that is not plain data".to_string())?;
            let value = ty.settle(value);
            ty.check(&value, &Schema::default(), &crate::state::State::new())
                .map_err(|error| format!("has a default that does not fit: it {error}"))?;
            value
        }
    };
    Ok(Field {
        name: Arc::from(name),
        label: text("label")?.unwrap_or_else(|| Arc::from(name.replace('_', " "))),
        ty,
        default,
        show: !matches!(table.raw_get::<Lv>("show").map_err(|error| error.to_string())?, Lv::Boolean(false)),
        audience: text("audience")?,
        origin: Arc::from(""),
    })
}

fn read_type(table: &Table, kinds: &BTreeSet<String>) -> std::result::Result<Type, String> {
    let get = |key: &str| table.raw_get::<Lv>(key).map_err(|error| error.to_string());
    let Lv::String(ty) = get("@type")? else {
        return Err("is declared with rb.int(), rb.text() and the like".into());
    };
    let element = || -> std::result::Result<Box<Type>, String> {
        match get("element")? {
            Lv::Table(element) => Ok(Box::new(read_type(&element, kinds)?)),
            _ => Err("needs the type of its elements".into()),
        }
    };
    Ok(match &*ty.to_string_lossy() {
        "int" => {
            let bound = |key: &str| -> std::result::Result<Option<i64>, String> {
                let value = get(key)?;
                match whole_of(&value) {
                    None if !value.is_nil() => {
                        Err(format!("has a `{key}` that is not a whole number but a {}", value.type_name()))
                    }
                    bound => Ok(bound),
                }
            };
            let (min, max) = (bound("min")?, bound("max")?);
            if let (Some(min), Some(max)) = (min, max)
                && min > max
            {
                return Err(format!("has bounds that leave nothing: {min} to {max}"));
            }
            Type::Int { min, max }
        }
        "bool" => Type::Bool,
        "text" => Type::Text,
        "ratio" => Type::Ratio,
        "enum" => {
            let Lv::Table(values) = get("values")? else { return Err("needs its values".into()) };
            let mut texts = Vec::new();
            for value in values.sequence_values::<Lv>() {
                match value {
                    Ok(Lv::String(text)) => texts.push(Arc::from(text.to_string_lossy())),
                    _ => return Err("has values that are not texts".into()),
                }
            }
            Type::Enum(texts)
        }
        "ref" => match get("kind")? {
            Lv::Nil => Type::Ref(None),
            kind => {
                let kind = kind.to_string().unwrap_or_default();
                if !kinds.contains(&kind) {
                    return Err(match nearest(&kind, kinds.iter().map(String::as_str)) {
                        Some(near) => {
                            format!("refers to the kind `{kind}`, which does not exist; did you mean `{near}`?")
                        }
                        None => format!("refers to the kind `{kind}`, which does not exist"),
                    });
                }
                Type::Ref(Some(Arc::from(kind)))
            }
        },
        "list" => Type::List(element()?),
        "map" => Type::Map(element()?),
        other => return Err(format!("has an unknown type `{other}`")),
    })
}
