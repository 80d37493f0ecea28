//! Reads the declarations in `verbs.luau`: the parameters of each verb with their types.

use std::collections::BTreeSet;
use std::sync::Arc;

use mlua::{Result, Table, Value as Lv};

use super::budget::hold;
use super::conversion::sort_of;
use super::declared_kinds::{DeclarationMistake, Read, read_type, wrong};
use super::loader::{KEPT, Loader};
use super::merge::sorted;
use super::types::is_luau_name;
use riskbreaker_ruleset::quoted::quoted;
use riskbreaker_ruleset::{Declarations, LONGEST_NAME, Param, ParamType, Verb, instead};

/// The form of a verb, for messages.
pub(super) const VERB_FORM: &str = "rb.verb({ text = \"...\", { \"target\", rb.ref(\"KIND\") }, { \"amount\", rb.int() } }, \
                                    function(target, amount) ... end)";

const TYPE_CURE: &str = "write a type behind the name: rb.int(), rb.bool(), rb.text(), rb.enum({ ... }), rb.ref(\"KIND\"), \
                         rb.list(...), rb.map(...), rb.record({ ... }) or rb.any()";

const NAME_CURE: &str = "use letters, digits and `_`, no digit first and no word of Luau: hooks read it as `e.NAME`";

/// Options of fields that are not allowed for parameters.
const OF_FIELDS: [&str; 6] = ["default", "label", "show", "audience", "peek", "by_hand"];

/// The most levels of nested records.
const DEEPEST: usize = 8;

impl Loader<'_> {
    /// Reads the verbs: their declarations, and the tables from which the prelude makes functions.
    pub(super) fn verbs(&mut self, verbs: &Table, declarations: &mut Declarations) -> Result<Table> {
        let made_verbs = self.lua.create_table()?;
        let kinds: BTreeSet<String> = declarations.schema.kinds.iter().map(|kind| kind.name.to_string()).collect();
        for (name, declared) in sorted(verbs)? {
            if !self.is_short("name", "verbs", &name, &name, LONGEST_NAME) {
                continue;
            }
            let origin = Arc::from(self.merger.origin("verbs", &name).unwrap_or_default());
            let bare =
                Verb { name: Arc::from(&*name), text: String::new(), params: Vec::new(), is_typed: false, origin };
            match declared {
                Lv::Table(declared) if declared.raw_get::<Option<bool>>("@verb")? == Some(true) => {
                    let params: Table = declared.raw_get("params")?;
                    let verb = if is_old_form(&params)? {
                        Verb { params: self.old_params(&name, &params)?, ..bare }
                    } else {
                        match read_verb(&params, &kinds, bare.clone()) {
                            Ok(verb) => verb,
                            Err(DeclarationMistake { message, cure, .. }) => {
                                self.problem("verbs", &name, format!("the verb `{name}` {message}"), cure);
                                bare
                            }
                        }
                    };
                    made_verbs.raw_set(&*name, self.made(&verb, &params, declared.raw_get("run")?)?)?;
                    declarations.verbs.push(verb);
                }
                run @ Lv::Function(_) => {
                    made_verbs.raw_set(&*name, self.made(&bare, &self.lua.create_table()?, run)?)?;
                    declarations.verbs.push(bare);
                }
                other => {
                    let message = format!("the verb `{name}` is {}, not rb.verb({{...}}, function)", sort_of(&other));
                    self.problem("verbs", &name, message, format!("write {VERB_FORM}"));
                }
            }
        }
        Ok(made_verbs)
    }

    /// Reads the names of parameters without types.
    fn old_params(&mut self, verb: &str, params: &Table) -> Result<Vec<Param>> {
        let mut read = Vec::new();
        for at in 1..=params.raw_len() {
            let Lv::String(name) = params.raw_get::<Lv>(at)? else { continue };
            let name = name.to_string_lossy();
            hold(KEPT + name.len())?;
            if !is_luau_name(&name) {
                let message = format!("the verb `{verb}` has a parameter that cannot be called {}", quoted(&name));
                self.problem("verbs", verb, message, NAME_CURE);
            }
            read.push(Param { name, ty: ParamType::Any, optional: false, text: String::new() });
        }
        Ok(read)
    }

    /// Reads names with their types, which declare `ctx` of a card and the data of an attachment: `{ actor =
    /// rb.ref("KIND") }`.
    pub(super) fn named_types(
        &mut self,
        what: &str,
        path: &str,
        table: &Table,
        declarations: &Declarations,
    ) -> Result<Vec<Param>> {
        let kinds: BTreeSet<String> = declarations.schema.kinds.iter().map(|kind| kind.name.to_string()).collect();
        let mut read = Vec::new();
        // A topic is always written in quotes, so it may be a word of Luau, such as `end`.
        let is_topic = path == "topics";
        for (name, declared) in sorted(table)? {
            let is_name = is_luau_name(&name) || is_topic && is_luau_name(&format!("{name}_"));
            match read_named(&name, is_name, &declared, &kinds) {
                Ok(param) => read.push(param),
                Err(DeclarationMistake { message, cure, .. }) => {
                    let last = path.rsplit('/').next().unwrap_or(path);
                    self.problem(what, &format!("{path}/{name}"), format!("`{last}` {message}"), cure);
                }
            }
        }
        Ok(read)
    }

    /// Makes the table with which the prelude checks the data of an attachment: for each name its type, words, and
    /// whether it can be left out.
    pub(super) fn made_data(&self, declared: &Table, params: &[Param]) -> Result<Table> {
        let made = self.lua.create_table()?;
        for param in params {
            let entry = self.lua.create_table()?;
            let ty: Table = declared.raw_get(&*param.name)?;
            let is_type = !ty.raw_get::<Lv>("@type")?.is_nil();
            let ty = if is_type { Lv::Table(ty) } else { ty.raw_get::<Lv>(1)? };
            entry.raw_set("name", &*param.name)?;
            entry.raw_set("type", if param.ty == ParamType::Any { Lv::Boolean(false) } else { ty })?;
            entry.raw_set("words", param.ty.to_string())?;
            entry.raw_set("optional", !param.is_needed())?;
            made.raw_push(entry)?;
        }
        Ok(made)
    }

    /// Makes the table with which the prelude calls a verb: its function, and the names and types of its parameters.
    fn made(&self, verb: &Verb, declared: &Table, run: Lv) -> Result<Table> {
        let made = self.lua.create_table()?;
        made.raw_set("run", run)?;
        made.raw_set("params", self.lua.create_sequence_from(verb.names())?)?;
        if !verb.is_typed {
            return Ok(made);
        }
        made.raw_set("signature", verb.signature())?;
        let (types, words, optional) = (self.lua.create_table()?, self.lua.create_table()?, self.lua.create_table()?);
        for (at, param) in verb.params.iter().enumerate() {
            let entry: Lv = declared.raw_get(at + 1)?;
            let ty = match (&param.ty, entry.as_table()) {
                (ParamType::Any, _) | (_, None) => Lv::Boolean(false),
                (_, Some(entry)) => entry.raw_get::<Lv>(2)?,
            };
            types.raw_push(ty)?;
            words.raw_push(param.ty.to_string())?;
            optional.raw_push(param.optional || param.ty == ParamType::Any)?;
        }
        made.raw_set("types", types)?;
        made.raw_set("words", words)?;
        made.raw_set("optional", optional)?;
        Ok(made)
    }
}

/// True if the parameters of a verb are a list of names, without a sentence.
fn is_old_form(params: &Table) -> Result<bool> {
    if sorted(params)?.iter().any(|(key, _)| !key.starts_with('[')) {
        return Ok(false);
    }
    for at in 1..=params.raw_len() {
        if !matches!(params.raw_get::<Lv>(at)?, Lv::String(_)) {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Reads the parameters of a verb with their types.
fn read_verb(params: &Table, kinds: &BTreeSet<String>, bare: Verb) -> Read<Verb> {
    let text = text_of(params)?;
    if let Some((key, _)) = sorted(params)?.iter().find(|(key, _)| key != "text" && !key.starts_with('[')) {
        let cure = format!("{}; a parameter is a table of its own: {{ \"{key}\", rb.int() }}", instead(key, ["text"]));
        return wrong(format!("has an unknown key `{key}`"), cure);
    }
    let params = read_params(params, kinds, 0)?;
    Ok(Verb { text, params, is_typed: true, ..bare })
}

fn read_params(params: &Table, kinds: &BTreeSet<String>, depth: usize) -> Read<Vec<Param>> {
    let mut read: Vec<Param> = Vec::new();
    for at in 1..=params.raw_len() {
        let param = match params.raw_get::<Lv>(at)? {
            Lv::String(name) => {
                let name = name.to_string_lossy();
                Param { name, ty: ParamType::Any, optional: false, text: String::new() }
            }
            Lv::Table(entry) => read_param(&entry, kinds, depth)?,
            other => {
                let cure = format!("write the name and the type of each in braces: {VERB_FORM}");
                return wrong(format!("has a parameter that is a {}", sort_of(&other)), cure);
            }
        };
        hold(KEPT + param.name.len() + param.text.len())?;
        if !is_luau_name(&param.name) {
            return wrong(format!("has a parameter that cannot be called {}", quoted(&param.name)), NAME_CURE);
        }
        if read.iter().any(|other| other.name == param.name) {
            return wrong(format!("has two parameters `{}`", param.name), "give each a name of its own");
        }
        read.push(param);
    }
    Ok(read)
}

/// Reads `{ "amount", rb.int(), optional = true, text = "..." }`.
fn read_param(entry: &Table, kinds: &BTreeSet<String>, depth: usize) -> Read<Param> {
    let Lv::String(name) = entry.raw_get::<Lv>(1)? else {
        return wrong("has a parameter without a name", format!("write {VERB_FORM}"));
    };
    let name = name.to_string_lossy();
    for (key, _) in sorted(entry)? {
        if !["[1]", "[2]", "optional", "text"].contains(&&*key) {
            let cure = instead(&key, ["optional", "text"]);
            return wrong(format!("has an unknown key `{key}` at its parameter `{name}`"), cure);
        }
    }
    let optional = match entry.raw_get::<Lv>("optional")? {
        Lv::Nil => false,
        Lv::Boolean(optional) => optional,
        other => {
            let message = format!("has a parameter `{name}` whose `optional` is a {}", sort_of(&other));
            return wrong(message, "write optional = true");
        }
    };
    let Lv::Table(declared) = entry.raw_get::<Lv>(2)? else {
        return wrong(format!("has a parameter `{name}` without a type"), TYPE_CURE);
    };
    if let Some(option) =
        OF_FIELDS.iter().find(|option| declared.raw_get::<Lv>(**option).is_ok_and(|value| !value.is_nil()))
    {
        let message = format!("has a parameter `{name}` with `{option}`, which only a field has");
        return wrong(message, "leave it out; `optional = true` behind the type lets a call leave the value out");
    }
    let ty = read_param_type(&declared, kinds, depth).map_err(|found| DeclarationMistake {
        message: format!("has a parameter `{name}` that {}", found.message),
        ..found
    })?;
    Ok(Param { ty, optional, text: text_of(entry)?, name })
}

/// Reads `rb.ref("KIND")`, or `{ rb.ref("KIND"), optional = true, text = "..." }`.
fn read_named(name: &str, is_name: bool, declared: &Lv, kinds: &BTreeSet<String>) -> Read<Param> {
    let Lv::Table(entry) = declared else {
        return wrong(format!("has a name `{name}` without a type"), TYPE_CURE);
    };
    if !is_name {
        return wrong(format!("has a name {}", quoted(name)), "use letters, digits and `_`, no digit first");
    }
    if !entry.raw_get::<Lv>("@type")?.is_nil() {
        let ty = read_param_type(entry, kinds, 0).map_err(|found| at_name(name, found))?;
        return Ok(Param { name: name.to_owned(), ty, optional: false, text: String::new() });
    }
    let lua_entry = sorted(entry)?;
    if let Some((key, _)) = lua_entry.iter().find(|(key, _)| !["[1]", "optional", "text"].contains(&&**key)) {
        return wrong(format!("has an unknown key `{key}` at `{name}`"), instead(key, ["optional", "text"]));
    }
    let Lv::Table(ty) = entry.raw_get::<Lv>(1)? else {
        return wrong(format!("has a name `{name}` without a type"), TYPE_CURE);
    };
    let optional = matches!(entry.raw_get::<Lv>("optional")?, Lv::Boolean(true));
    let ty = read_param_type(&ty, kinds, 0).map_err(|found| at_name(name, found))?;
    Ok(Param { name: name.to_owned(), ty, optional, text: text_of(entry)? })
}

fn at_name(name: &str, found: DeclarationMistake) -> DeclarationMistake {
    DeclarationMistake { message: format!("has a name `{name}` that {}", found.message), ..found }
}

fn read_param_type(declared: &Table, kinds: &BTreeSet<String>, depth: usize) -> Read<ParamType> {
    match declared.raw_get::<Lv>("@type")? {
        Lv::String(ty) if ty == "any" => Ok(ParamType::Any),
        Lv::String(ty) if ty == "record" && depth >= DEEPEST => {
            wrong(format!("has records nested more than {DEEPEST} deep"), "leave out the names of the inner ones")
        }
        Lv::String(ty) if ty == "record" => match declared.raw_get::<Lv>("names")? {
            Lv::Table(names) => Ok(ParamType::Record(read_params(&names, kinds, depth + 1)?)),
            _ => Ok(ParamType::Record(Vec::new())),
        },
        Lv::String(ty) if ty == "one_of" && depth >= DEEPEST => {
            wrong(format!("has types nested more than {DEEPEST} deep"), "write all of them in one `rb.one_of`")
        }
        Lv::String(ty) if ty == "one_of" => {
            let types: Vec<Table> =
                declared.raw_get::<Table>("types").and_then(|types| types.sequence_values().collect())?;
            let read = types.iter().map(|ty| read_param_type(ty, kinds, depth + 1));
            Ok(ParamType::OneOf(read.collect::<Read<_>>()?))
        }
        Lv::String(_) => Ok(ParamType::Value(read_type(declared, kinds)?)),
        _ => wrong("has no type", TYPE_CURE),
    }
}

/// Returns the sentence under `text`; an empty text if there is none.
fn text_of(table: &Table) -> Read<String> {
    match table.raw_get::<Lv>("text")? {
        Lv::Nil => Ok(String::new()),
        Lv::String(text) => {
            hold(KEPT + text.to_string_lossy().len())?;
            Ok(text.to_string_lossy())
        }
        other => {
            wrong(format!("has a `text` that is a {}", sort_of(&other)), "write one sentence in quotes: text = \"...\"")
        }
    }
}
