//! Reading what `kinds.luau` declares.

use std::collections::BTreeSet;
use std::sync::Arc;

use mlua::{Lua, Result, Table, Value as Lv};

use super::conversion::{from_lua, sort_of, whole_of};
use super::handles::Handles;
use super::load::{Loader, sorted};
use crate::ruleset::{instead, instead_or};
use crate::state::{Audience, AudienceRule, ENDING, Field, FieldId, Kind, KindId, Schema, Type, readable_name};

/// What kinds declare beside their fields, by the name of the kind.
pub(super) struct OfKinds {
    pub sheets: Table,
    pub overviews: Table,
    /// What is done when the time of one is over, or true.
    pub timed: Table,
}

impl OfKinds {
    pub fn new(lua: &Lua) -> Result<OfKinds> {
        let new = || lua.create_table();
        Ok(OfKinds { sheets: new()?, overviews: new()?, timed: new()? })
    }
}

/// The declaration of the host's own kind: what something waits for, and how often it still has to come.
fn ending(lua: &Lua) -> Result<Table> {
    let fields = lua.create_table()?;
    for (name, ty) in [("status", "ref"), ("moment", "text"), ("of", "ref"), ("left", "int"), ("at", "list")] {
        let field = lua.create_table()?;
        field.raw_set("@type", ty)?;
        field.raw_set("show", false)?;
        if ty == "list" {
            let element = lua.create_table()?;
            element.raw_set("@type", "int")?;
            field.raw_set("element", element)?;
        }
        fields.raw_set(name, field)?;
    }
    let body = lua.create_table()?;
    body.raw_set("fields", fields)?;
    body.raw_set("relates", lua.create_sequence_from(["status"])?)?;
    Ok(body)
}

impl Loader<'_> {
    /// Reads the kinds: the schema, and what each kind's class is made of.
    #[allow(clippy::type_complexity)]
    pub(super) fn schema(&mut self, kinds: &Table, own: &OfKinds) -> Result<(Schema, Vec<(String, Table, Table)>)> {
        let lua = self.lua;
        let mut schema = Schema::default();
        let mut parts = Vec::new();
        let mut declared = sorted(kinds)?;
        let is_timed =
            |body: &Lv| matches!(body, Lv::Table(body) if matches!(body.raw_get("timed"), Ok(Lv::Boolean(true))));
        if declared.iter().any(|(_, body)| is_timed(body)) {
            if declared.iter().any(|(name, _)| name == ENDING) {
                let message = format!("where a kind is timed, `{ENDING}` is a kind of the host's");
                self.problem("kinds", ENDING, message, Some("choose another name".into()));
            }
            declared.retain(|(name, _)| name != ENDING);
            declared.push((ENDING.into(), Lv::Table(ending(lua)?)));
            declared.sort_by(|(one, _), (other, _)| one.cmp(other));
        }
        let names: BTreeSet<String> = declared.iter().map(|(name, _)| name.clone()).collect();
        for (name, body) in declared {
            let Lv::Table(body) = body else {
                let cure = "write { fields = { wit = rb.int() } }".to_string();
                self.problem("kinds", &name, format!("the kind `{name}` is a table with `fields`"), Some(cure));
                continue;
            };
            self.known_keys(
                "kinds",
                &name,
                &body,
                &[
                    "title", "fields", "derived", "sheet", "overview", "label", "audience", "relates", "mutual",
                    "timed", "ended",
                ],
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
                audience: None,
                relates: Vec::new(),
                mutual: false,
                timed: false,
            };
            let nullable = lua.create_table()?;
            if let Lv::Table(fields) = body.raw_get::<Lv>("fields")? {
                for (field, declared) in sorted(&fields)? {
                    let path = format!("{name}/fields/{field}");
                    if ["id", "kind", "set", "add", "shift", "reaches", "exists"].contains(&field.as_str()) {
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
                            let declare = format!("declare {title} = rb.text() among its fields, or name another");
                            let cure = instead_or(&title, texts, declare);
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
                                format!("the derived value `{value}` is a function(self), not {}", sort_of(&other));
                            let cure = format!("write {value} = function(self) return ... end");
                            self.problem("kinds", &path, message, Some(cure));
                        }
                    }
                }
            }
            if let Lv::Function(sheet) = body.raw_get::<Lv>("sheet")? {
                own.sheets.raw_set(&*name, sheet)?;
                kind.sheet = true;
            }
            if let Lv::Function(overview) = body.raw_get::<Lv>("overview")? {
                own.overviews.raw_set(&*name, overview)?;
                kind.overview = true;
            }
            match (body.raw_get::<Lv>("timed")?, body.raw_get::<Lv>("ended")?) {
                (Lv::Nil | Lv::Boolean(false), Lv::Nil) => {}
                (Lv::Boolean(true), Lv::Nil) => {
                    kind.timed = true;
                    own.timed.raw_set(&*name, true)?;
                }
                (Lv::Boolean(true), Lv::Function(ended)) => {
                    kind.timed = true;
                    own.timed.raw_set(&*name, ended)?;
                }
                _ => {
                    let message = format!(
                        "the kind `{name}` has a `timed` that is not true or false, or an `ended` that cannot be"
                    );
                    let cure =
                        "write timed = true, and beside it, if anything is to be done, ended = function(self) ... end";
                    self.problem("kinds", &format!("{name}/timed"), message, Some(cure.into()));
                }
            }
            match read_ends(&body, &kind) {
                Ok(ends) => (kind.relates, kind.mutual) = ends,
                Err(message) => {
                    let message = format!("the kind `{name}` {message}");
                    self.problem("kinds", &format!("{name}/relates"), message, Some(ENDS_CURE.into()));
                }
            }
            match read_audience(&body) {
                Ok(rule) => kind.audience = rule,
                Err(message) => {
                    let message = format!("the kind `{name}` {message}");
                    self.problem("kinds", &format!("{name}/audience"), message, Some(AUDIENCE_CURE.into()));
                }
            }
            parts.push((name, derived, nullable));
            schema.kinds.push(kind);
        }
        self.settle_audiences(&mut schema);
        self.check_ends(&schema);
        Ok((schema, parts))
    }
}

impl Loader<'_> {
    /// A relation stands between entities that are none.
    fn check_ends(&mut self, schema: &Schema) {
        for kind in &schema.kinds {
            for end in &kind.relates {
                let Type::Ref(Some(other)) = &kind.field(*end).ty else { continue };
                let found = schema.kind_named(other).map(|other| schema.kind(other));
                if found.is_some_and(|other| !other.relates.is_empty()) {
                    let message =
                        format!("the kind `{}` relates to the kind `{other}`, which is a relation itself", kind.name);
                    let cure = "relate what that one stands between, or leave out its `relates`";
                    self.problem("kinds", &format!("{}/relates", kind.name), message, Some(cure.into()));
                }
            }
        }
    }

    /// Finds out which audiences are fields of the entity itself, now that all kinds are there.
    fn settle_audiences(&mut self, schema: &mut Schema) {
        let mut problems = Vec::new();
        for at in 0..schema.kinds.len() {
            let kind = &schema.kinds[at];
            let settle = |rule: &Option<AudienceRule>| rule.as_ref().map(|rule| settled_rule(kind, rule));
            let whole = settle(&kind.audience);
            let fields: Vec<Option<AudienceRule>> = kind.fields.iter().map(|field| settle(&field.audience)).collect();
            let mut check = |what: String, path: String, rule: &Option<AudienceRule>| {
                if let Some(rule) = rule
                    && let Err(message) = schema.check_audience(KindId(at as u16), rule)
                {
                    problems.push((path, format!("{what} {message}")));
                }
            };
            check(format!("the kind `{}`", kind.name), format!("{}/audience", kind.name), &whole);
            for (field, rule) in kind.fields.iter().zip(&fields) {
                let what = format!("the field `{}` of {}", field.name, kind.name);
                check(what, format!("{}/fields/{}", kind.name, field.name), rule);
            }
            let kind = &mut schema.kinds[at];
            kind.audience = whole;
            for (field, rule) in kind.fields.iter_mut().zip(fields) {
                field.audience = rule;
            }
        }
        problems.extend(self.unknown_seats(schema));
        for (path, message) in problems {
            self.problem("kinds", &path, message, Some(AUDIENCE_CURE.into()));
        }
    }
}

impl Loader<'_> {
    /// Audiences that are neither a field nor a seat of the manifest.
    fn unknown_seats(&self, schema: &Schema) -> Vec<(String, String)> {
        let seats = &self.stack.seats();
        let wrong = |rule: &Option<AudienceRule>| {
            let Some(AudienceRule::Fixed(Audience::Only(named))) = rule else { return None };
            let wrong = named.iter().find(|name| ***name != *"gm" && !seats.contains_key(&***name))?;
            let meant = instead(wrong, seats.keys().map(String::as_str));
            Some(format!("has the audience `{wrong}`, which is neither a field nor a seat; {meant}"))
        };
        let mut problems = Vec::new();
        for kind in &schema.kinds {
            if let Some(message) = wrong(&kind.audience) {
                problems.push((format!("{}/audience", kind.name), format!("the kind `{}` {message}", kind.name)));
            }
            for field in &kind.fields {
                if let Some(message) = wrong(&field.audience) {
                    let what = format!("the field `{}` of {} {message}", field.name, kind.name);
                    problems.push((format!("{}/fields/{}", kind.name, field.name), what));
                }
            }
        }
        problems
    }
}

const AUDIENCE_CURE: &str = "an audience is a seat, a list of seats, \"everybody\", \"nobody\", or a field of the entity \
                             that holds a seat: \"seat\", or \"owner.seat\" behind a reference";

/// A word that is the name of a field of the kind, or begins with one and a dot, leads to the seat that stands there.
fn settled_rule(kind: &Kind, rule: &AudienceRule) -> AudienceRule {
    if let AudienceRule::Path(path) = rule
        && let [word] = path.as_slice()
        && !word.contains('.')
        && kind.field_named(word).is_none()
    {
        return AudienceRule::Fixed(Audience::named(word));
    }
    match rule {
        AudienceRule::Path(path) => {
            AudienceRule::Path(path.iter().flat_map(|word| word.split('.')).map(Arc::from).collect())
        }
        fixed => fixed.clone(),
    }
}

const ENDS_CURE: &str = "write relates = { \"from\", \"to\" }, the names of one or two fields rb.ref(\"kind\") of its own; mutual = true \
                         where the two are alike";

/// Reads between which of its references a kind stands, and whether their order says nothing.
fn read_ends(body: &Table, kind: &Kind) -> std::result::Result<(Vec<FieldId>, bool), String> {
    let get = |key: &str| body.raw_get::<Lv>(key).map_err(|error| error.to_string());
    let mutual = match get("mutual")? {
        Lv::Nil => false,
        Lv::Boolean(mutual) => mutual,
        other => return Err(format!("has a `mutual` that is a {}, not true or false", sort_of(&other))),
    };
    let names = match get("relates")? {
        Lv::Nil if mutual => return Err("is mutual and relates nothing".into()),
        Lv::Nil => return Ok((Vec::new(), false)),
        Lv::Table(names) => names,
        other => return Err(format!("has a `relates` that is a {}, not a list of fields", sort_of(&other))),
    };
    let mut ends = Vec::new();
    for name in names.sequence_values::<Lv>() {
        let Ok(Lv::String(name)) = name else { return Err("has a `relates` that is not a list of fields".into()) };
        let name = name.to_string_lossy();
        let Some(at) = kind.field_named(&name) else {
            return Err(format!("relates `{name}`, and has no such field"));
        };
        if !matches!(kind.field(at).ty, Type::Ref(Some(_))) && *kind.name != *ENDING {
            return Err(format!("relates `{name}`, which is no reference to one kind"));
        }
        ends.push(at);
    }
    match ends.as_slice() {
        [_] if mutual => Err("is mutual and relates one field only".into()),
        [one, other] if one == other => Err("relates the same field twice".into()),
        [one, other] if mutual && kind.field(*one).ty != kind.field(*other).ty => {
            Err("is mutual, and its ends are of different kinds".into())
        }
        [_] | [_, _] => Ok((ends, mutual)),
        _ => Err(format!("relates {} fields, not one or two", ends.len())),
    }
}

/// Reads the audience that a kind or a field declares. A single word may be a seat or a field: see `settled_rule`.
fn read_audience(table: &Table) -> std::result::Result<Option<AudienceRule>, String> {
    match table.raw_get::<Lv>("audience").map_err(|error| error.to_string())? {
        Lv::Nil => Ok(None),
        Lv::String(text) => Ok(Some(AudienceRule::Path(vec![Arc::from(text.to_string_lossy())]))),
        Lv::Table(list) => {
            let mut seats = Vec::new();
            for seat in list.sequence_values::<Lv>() {
                match seat {
                    Ok(Lv::String(seat)) => seats.push(seat.to_string_lossy()),
                    _ => return Err("has an `audience` that is not a list of seats".into()),
                }
            }
            Ok(Some(AudienceRule::Fixed(Audience::of(seats))))
        }
        other => Err(format!("has an `audience` that is a {}, not a seat or a list of seats", sort_of(&other))),
    }
}

/// Reads a field's declaration.
fn read_field(name: &str, declared: &Lv, kinds: &BTreeSet<String>) -> std::result::Result<Field, String> {
    let Lv::Table(table) = declared else {
        return Err(format!("is declared with rb.int(), rb.text() and the like, not a {}", sort_of(declared)));
    };
    let ty = read_type(table, kinds)?;
    let text = |key: &str| -> std::result::Result<Option<Arc<str>>, String> {
        match table.raw_get::<Lv>(key).map_err(|error| error.to_string())? {
            Lv::Nil => Ok(None),
            Lv::String(text) => Ok(Some(Arc::from(text.to_string_lossy()))),
            other => Err(format!("has a `{key}` that is a {}, not a text", sort_of(&other))),
        }
    };
    let default = match table.raw_get::<Lv>("default").map_err(|error| error.to_string())? {
        Lv::Nil => ty.default_value(),
        value => {
            let value = from_lua(&value, &Handles::default())
                .map_err(|_| "has a default that is not plain data".to_string())?;
            let value = ty.settle(value);
            ty.check(&value, &Schema::default(), &crate::state::State::new())
                .map_err(|error| format!("has a default that does not fit: it {error}"))?;
            value
        }
    };
    let flag = |key: &str| match table.raw_get::<Lv>(key).map_err(|error| error.to_string())? {
        Lv::Nil => Ok(None),
        Lv::Boolean(flag) => Ok(Some(flag)),
        other => Err(format!("has a `{key}` that is a {}, not true or false", sort_of(&other))),
    };
    let said = matches!(table.raw_get::<Lv>("show"), Ok(Lv::String(word)) if word == "said");
    let show = if said { false } else { flag("show").map_err(|error| format!("{error} or \"said\""))?.unwrap_or(true) };
    Ok(Field {
        name: Arc::from(name),
        label: text("label")?.unwrap_or_else(|| Arc::from(readable_name(name))),
        ty,
        default,
        show,
        said,
        audience: read_audience(table)?,
        by_hand: flag("by_hand")?.unwrap_or(false),
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
                        Err(format!("has a `{key}` that is not a whole number but a {}", sort_of(&value)))
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
                    let meant = instead(&kind, kinds.iter().map(String::as_str));
                    return Err(format!("refers to the kind `{kind}`, which does not exist; {meant}"));
                }
                Type::Ref(Some(Arc::from(kind)))
            }
        },
        "list" => Type::List(element()?),
        "map" => Type::Map(element()?),
        other => return Err(format!("has an unknown type `{other}`")),
    })
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
