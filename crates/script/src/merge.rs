use std::collections::BTreeMap;
use std::ops::Range;

use mlua::{Function, Lua, Result, Table, Value as Lv};

use super::budget::hold;
use super::conversion::sort_of;
use super::declaration_lines::{assigned_value, call_of, line_of};
use riskbreaker_ruleset::{Cure, PartRole, Problem, Stack, TextChange, instead_or};

/// Deepest nesting of tables in a declaration.
const MAX_DEPTH: usize = 16;

/// The number of copies of a field's path that are charged.
const COPIES: usize = 3;
/// The bytes charged for a field besides its path.
const CLAIM: usize = 128;

/// The declarations of one file.
pub(super) struct FileDeclarations {
    what: &'static str,
    op: MergeStep,
    body: Table,
    part: usize,
    path: String,
}

/// The effect of a declaration on the one below it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum MergeStep {
    New,
    Extend,
    Replace,
    Removed,
    Wrapped,
}

impl MergeStep {
    fn named(name: &str) -> Option<MergeStep> {
        Some(match name {
            "new" => MergeStep::New,
            "extend" => MergeStep::Extend,
            "replace" => MergeStep::Replace,
            "removed" => MergeStep::Removed,
            "wrapped" => MergeStep::Wrapped,
            _ => return None,
        })
    }
}

impl FileDeclarations {
    /// Reads the value returned by a file.
    ///
    /// # Errors
    ///
    /// A description of the wrong value that it returned.
    pub fn read(
        value: &Lv,
        what: &'static str,
        part: usize,
        path: &str,
    ) -> std::result::Result<FileDeclarations, String> {
        let Lv::Table(table) = value else {
            return Err(match value {
                Lv::Nil => "the file returns nothing".into(),
                other => format!("the file returns a {}", sort_of(other)),
            });
        };
        let text = |key: &str| table.raw_get::<Option<String>>(key).ok().flatten();
        let (Some(found), Some(op)) = (text("@"), text("op")) else {
            return Err("the file returns a table that no declaration made".into());
        };
        if found != what {
            return Err(format!("the file returns rb.{found}{{...}}"));
        }
        let body = table.raw_get::<Table>("body").map_err(|_| "the declaration is empty".to_string())?;
        let op = MergeStep::named(&op).ok_or_else(|| format!("the declaration says `{op}`"))?;
        Ok(FileDeclarations { what, op, body, part, path: path.to_string() })
    }
}

/// The correction for changing a declaration that does not exist below.
fn not_below<'n>(name: &str, names: impl Iterator<Item = &'n str>) -> Cure {
    instead_or(name, names, "declare it anew, without rb.extend, rb.wrapped or rb.removed")
}

/// Merges declarations layer by layer, and records the file of each field.
pub(super) struct Merger<'a> {
    lua: &'a Lua,
    stack: &'a Stack,
    wrap: &'a Function,
    /// Tables of entries: kinds, verbs, play, creation.
    tables: BTreeMap<&'static str, Table>,
    /// Single declarations by category and id.
    things: BTreeMap<(&'static str, String), Table>,
    /// The part and file of each field, by category and path.
    origins: BTreeMap<(String, String), (usize, String)>,
    /// Declarations that cannot be merged.
    pub problems: Vec<Problem>,
}

/// The position of a declaration during merging.
#[derive(Clone, Copy)]
struct Site<'d> {
    declared: &'d FileDeclarations,
    /// True if fields may be overwritten without marking each of them.
    over: bool,
    depth: usize,
}

impl Site<'_> {
    fn inside(self, over: bool) -> Self {
        Site { over, depth: self.depth + 1, ..self }
    }
}

impl<'a> Merger<'a> {
    pub fn new(lua: &'a Lua, stack: &'a Stack, wrap: &'a Function) -> Merger<'a> {
        let (tables, things, origins) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
        Merger { lua, stack, wrap, tables, things, origins, problems: Vec::new() }
    }

    /// Adds a declaration. `id`: from the file's name, if a file contains one thing.
    pub fn add(&mut self, declared: FileDeclarations, id: Option<String>) -> Result<()> {
        match id {
            None => self.add_entries(&declared),
            Some(id) => self.add_thing(&declared, &id),
        }
    }

    fn add_entries(&mut self, declared: &FileDeclarations) -> Result<()> {
        let target = self.table(declared.what)?;
        self.tables.insert(declared.what, target.clone());
        // The groups of play.luau are themselves tables of entries.
        let union = if declared.what == "play" { 1 } else { 0 };
        let site = Site { declared, over: matches!(declared.op, MergeStep::Extend | MergeStep::Replace), depth: 0 };
        self.merge(&target, &declared.body, "", site, union)
    }

    fn add_thing(&mut self, declared: &FileDeclarations, id: &str) -> Result<()> {
        let given: Lv = declared.body.raw_get("id")?;
        let named = match &given {
            Lv::String(given) => given.to_string_lossy().to_string(),
            _ => String::new(),
        };
        if named != id {
            let message = match &given {
                Lv::Nil => format!("{} lacks `id`", declared.what),
                _ => format!("the id `{named}` does not match the file's name"),
            };
            let cure = Cure::rewrite(format!("\"{named}\""), format!("\"{id}\""), format!("write id = \"{id}\""));
            self.refuse(declared, "id", message, cure);
            if let Some(problem) = self.problems.last_mut().filter(|problem| problem.line.is_none()) {
                problem.line = line_of(self.stack, &declared.path, &format!("rb.{}", declared.what));
            }
            return Ok(());
        }
        let key = (declared.what, id.to_string());
        let below = self.things.get(&key).cloned();
        let like = match declared.what {
            "item" => "hook",
            "hook" => "item",
            _ => "",
        };
        match (declared.op, below) {
            (MergeStep::New, None) if self.things.contains_key(&(like, id.to_string())) => {
                let first = self.origin(like, &format!("{id}/id")).unwrap_or_default();
                let message = format!(
                    "`{id}` is already declared as rb.{like}, in {first}, and rb.attach would not know which is meant"
                );
                self.refuse(declared, "id", message, "give one of the files another name and id");
            }
            (MergeStep::New, Some(_)) => {
                let first = self.origin(declared.what, &format!("{id}/id")).unwrap_or_default();
                let message = format!("{} `{id}` is already declared in {first}", declared.what);
                self.refuse(declared, "id", message, "say rb.extend(...) or rb.replace(...)");
                self.offer_wrapping(declared, &first, |text| call_of(text, &format!("rb.{}", declared.what)));
            }
            (MergeStep::Extend | MergeStep::Removed, None) => {
                let message = format!("there is no {} `{id}` below to change", declared.what);
                let ids = self.things.keys().filter(|(what, _)| *what == declared.what).map(|(_, id)| id.as_str());
                let cure = not_below(id, ids);
                self.refuse(declared, "id", message, cure);
            }
            (MergeStep::Removed, Some(_)) => {
                self.things.remove(&key);
            }
            (MergeStep::New | MergeStep::Replace, _) => {
                let target = self.lua.create_table()?;
                let site = Site { declared, over: false, depth: 0 };
                self.forget(declared.what, id);
                self.merge(&target, &declared.body, id, site, 0)?;
                self.things.insert(key, target);
            }
            (MergeStep::Extend | MergeStep::Wrapped, Some(target)) => {
                let site = Site { declared, over: true, depth: 0 };
                self.merge(&target, &declared.body, id, site, 0)?;
            }
            (MergeStep::Wrapped, None) => {}
        }
        Ok(())
    }

    fn merge(&mut self, target: &Table, body: &Table, path: &str, site: Site<'_>, union: usize) -> Result<()> {
        if site.depth > MAX_DEPTH {
            let message = format!("tables are nested more than {MAX_DEPTH} deep");
            let cure = "put them into fewer tables";
            self.refuse(site.declared, path, message, cure);
            return Ok(());
        }
        for (key, value) in sorted(body)? {
            let at = if path.is_empty() { key.clone() } else { format!("{path}/{key}") };
            let existing: Lv = target.raw_get(&*key)?;
            let marked = match &value {
                Lv::Table(table) => match table.raw_get::<Option<String>>("@op").ok().flatten() {
                    Some(op) => MergeStep::named(&op).map(|op| (op, table.clone())),
                    None => None,
                },
                _ => None,
            };
            if let Some((op, marked)) = marked {
                self.change(target, &key, existing, (op, &marked), &at, site)?;
                continue;
            }
            let both = match (&existing, &value) {
                (Lv::Table(below), Lv::Table(above)) if is_map(below) && is_map(above) => {
                    Some((below.clone(), above.clone()))
                }
                _ => None,
            };
            match (existing, both) {
                (_, Some((below, above))) if site.over || union > 0 => {
                    self.merge(&below, &above, &at, site.inside(site.over), union.saturating_sub(1))?;
                }
                (Lv::Nil, _) => self.set(target, &key, &value, &at, site)?,
                _ if site.over => self.set(target, &key, &value, &at, site)?,
                _ => {
                    let first = self.origin(site.declared.what, &at).unwrap_or_default();
                    let message = format!("`{key}` is already declared in {first}");
                    let cure = "say rb.extend(...), rb.replace(...) or rb.wrapped(...)";
                    self.refuse(site.declared, &at, message, cure);
                    let line = self.problems.last().and_then(|problem| problem.line);
                    self.offer_wrapping(site.declared, &first, |text| assigned_value(text, line?, &key));
                }
            }
        }
        Ok(())
    }

    /// Executes a marked entry: extend, replace, removed, wrapped.
    fn change(
        &mut self,
        target: &Table,
        key: &str,
        existing: Lv,
        (op, marked): (MergeStep, &Table),
        at: &str,
        site: Site<'_>,
    ) -> Result<()> {
        if existing.is_nil() && op != MergeStep::Replace {
            let message = format!("there is no `{key}` below to change");
            let names: Vec<String> = sorted(target)?.into_iter().map(|(name, _)| name).collect();
            let cure = not_below(key, names.iter().map(String::as_str));
            self.refuse(site.declared, at, message, cure);
            return Ok(());
        }
        match op {
            MergeStep::Removed => {
                self.claim(at, site)?;
                target.raw_set(key, Lv::Nil)?;
            }
            MergeStep::Wrapped => {
                let run: Function = marked.raw_get("run")?;
                match existing {
                    Lv::Function(below) => {
                        self.claim(at, site)?;
                        target.raw_set(key, self.wrap.call::<Function>((below, run))?)?;
                    }
                    // A verb, or an entry given as a table: wrap its function.
                    Lv::Table(below) if matches!(below.raw_get::<Lv>("run")?, Lv::Function(_)) => {
                        self.claim(at, site)?;
                        let inner: Function = below.raw_get("run")?;
                        below.raw_set("run", self.wrap.call::<Function>((inner, run))?)?;
                    }
                    other => {
                        let message = format!("`{key}` below is a {}; only functions can be wrapped", sort_of(&other));
                        let cure = "say rb.replace(...) to put another in its place";
                        self.refuse(site.declared, at, message, cure);
                    }
                }
            }
            MergeStep::Extend | MergeStep::Replace | MergeStep::New => {
                let body: Table = marked.raw_get("body")?;
                match (op, existing) {
                    (MergeStep::Extend, Lv::Table(below)) if is_map(&below) => {
                        self.merge(&below, &body, at, site.inside(true), 0)?;
                    }
                    (MergeStep::Extend, other) => {
                        let message = format!("`{key}` below is a {}, which cannot be extended", sort_of(&other));
                        let cure = "say rb.replace(...) to put another in its place";
                        self.refuse(site.declared, at, message, cure);
                    }
                    _ => self.set(target, key, &Lv::Table(body), at, site)?,
                }
            }
        }
        Ok(())
    }

    fn set(&mut self, target: &Table, key: &str, value: &Lv, at: &str, site: Site<'_>) -> Result<()> {
        self.claim(at, site)?;
        match value {
            Lv::Table(table) if is_map(table) => {
                let fresh = self.lua.create_table()?;
                target.raw_set(key, &fresh)?;
                self.merge(&fresh, table, at, site.inside(false), 0)
            }
            value => target.raw_set(key, value),
        }
    }

    /// Records the file of a field. Two layers may change the same field only in a declared order.
    ///
    /// # Errors
    ///
    /// The declarations together are too large. A table that is used in many places counts in each of them.
    fn claim(&mut self, at: &str, site: Site<'_>) -> Result<()> {
        let declared = site.declared;
        hold(CLAIM + COPIES * at.len())?;
        let key = (declared.what.to_string(), at.to_string());
        if let Some((part, path)) = self.origins.get(&key) {
            let layers = [*part, declared.part].iter().all(|part| self.stack.parts()[*part].role == PartRole::Layer);
            if layers && *part != declared.part && !self.stack.declared_before(*part, declared.part) {
                let message = format!("two layers change `{at}`: {} and {path}", declared.path);
                let below = self.stack.parts()[*part].id();
                let cure = format!("declare their order: after = [\"{below}\"] in the manifest of the upper one");
                self.refuse(declared, at, message, cure);
            }
        }
        self.origins.insert(key, (declared.part, declared.path.clone()));
        Ok(())
    }

    fn forget(&mut self, what: &str, id: &str) {
        let gone: Vec<_> = self.inside(what, &format!("{id}/")).map(|(key, _)| key.clone()).collect();
        for key in gone {
            self.origins.remove(&key);
        }
    }

    /// The fields of a category whose paths begin with `start`, in order, with their files.
    fn inside(&self, what: &str, start: &str) -> impl Iterator<Item = (&(String, String), &(usize, String))> {
        let fields = self.origins.range((what.to_owned(), start.to_owned())..);
        fields.take_while(move |((of, at), _)| of == what && at.starts_with(start))
    }

    fn refuse(&mut self, declared: &FileDeclarations, at: &str, message: String, cure: impl Into<Cure>) {
        if self.problems.len() >= MOST_PROBLEMS {
            return;
        }
        let mut problem = Problem::new(declared.path.clone(), message).with_cure(cure);
        problem.line = line_of(self.stack, &declared.path, at.rsplit('/').next().unwrap_or(at));
        self.problems.push(problem);
    }

    /// Offers to mark a declaration that is below in another ruleset: it extends that one, or replaces it.
    fn offer_wrapping(
        &mut self,
        declared: &FileDeclarations,
        first: &str,
        find: impl Fn(&str) -> Option<Range<usize>>,
    ) {
        let ruleset = |path: &str| path.split('/').next().map(str::to_owned);
        let Some(problem) = self.problems.last_mut().filter(|_| ruleset(first) != ruleset(&declared.path)) else {
            return;
        };
        let Some(text) = self.stack.text_of(&declared.path) else { return };
        let Some(Range { start: begin, end }) = find(text) else { return };
        // Where only the word was forgotten, the brackets are there.
        let value =
            text[begin..end].strip_prefix('(').and_then(|value| value.strip_suffix(')')).unwrap_or(&text[begin..end]);
        let wrapped = |op: &str| TextChange { begin, end, text: format!("{op}({value})") };
        let ops: &[&str] = if value.starts_with('{') || declared.what != "verbs" {
            &["rb.extend", "rb.replace"]
        } else {
            &["rb.replace"]
        };
        let mut changes = ops.iter().map(|op| wrapped(op));
        problem.change = changes.next();
        problem.choices = changes.collect();
    }

    // Results

    /// A table of entries; empty if none were declared.
    pub fn table(&self, what: &'static str) -> Result<Table> {
        match self.tables.get(what) {
            Some(table) => Ok(table.clone()),
            None => self.lua.create_table(),
        }
    }

    /// All declarations of a category by id.
    pub fn all(&self, what: &'static str) -> Vec<(String, Table)> {
        self.things
            .iter()
            .filter(|((of, _), _)| *of == what)
            .map(|((_, id), table)| (id.clone(), table.clone()))
            .collect()
    }

    /// The file of a field; that of the innermost declaration around it if it has none of its own.
    pub fn origin(&self, what: &str, at: &str) -> Option<String> {
        let mut at = at.to_string();
        loop {
            if let Some((_, path)) = self.origins.get(&(what.to_string(), at.clone())) {
                return Some(path.clone());
            }
            if let Some((_, (_, path))) = self.inside(what, &format!("{at}/")).next() {
                return Some(path.clone());
            }
            at.truncate(at.rfind('/')?);
        }
    }

    /// Any file with a declaration of a category.
    pub fn a_path(&self, what: &str) -> Option<String> {
        self.inside(what, "").next().map(|(_, (_, path))| path.clone())
    }

    /// The file of each field of a declaration.
    pub fn origins(&self, what: &str, id: &str) -> BTreeMap<String, String> {
        let inside = format!("{id}/");
        let fields = self.inside(what, &inside);
        fields.map(|((_, at), (_, path))| (at[inside.len()..].to_owned(), path.clone())).collect()
    }
}

/// True for a table of named entries; false for a list, a field's type or a verb.
fn is_map(table: &Table) -> bool {
    let marked = |key: &str| table.raw_get::<Lv>(key).is_ok_and(|value| !value.is_nil());
    table.raw_len() == 0 && !marked("@type") && !marked("@verb") && !marked("@op")
}

/// The most problems reported for one ruleset.
pub(super) const MOST_PROBLEMS: usize = 1_000;

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
