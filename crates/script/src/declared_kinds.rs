//! Reads the declarations of `kinds.luau`.

use std::collections::BTreeSet;
use std::sync::Arc;

use mlua::{Lua, Result, Table, Value as Lv};

use super::api::{ENTITY_FIELDS, ENTITY_METHODS};
use super::conversion::{from_lua, sort_of, whole_of};
use super::handles::Handles;
use super::loader::{Loader, kept};
use super::merge::sorted;
use riskbreaker_ruleset::{
    Cure, LONGEST_NAME, Replacement, Subject, cure_of_value, instead_or, likeliest, number_meant,
};
use riskbreaker_state::{
    Audience, AudienceRule, ENDING, Field, FieldId, Kind, KindId, Schema, Type, Unfit, Value, readable_name,
};

/// The declarations of kinds other than fields, by kind.
pub(super) struct OfKinds {
    pub sheets: Table,
    pub overviews: Table,
    /// The function that runs when an entity of a timed kind ends, or true.
    pub timed: Table,
}

impl OfKinds {
    pub fn new(lua: &Lua) -> Result<OfKinds> {
        let new = || lua.create_table();
        Ok(OfKinds { sheets: new()?, overviews: new()?, timed: new()? })
    }
}

/// The declaration of the host's own kind for ends: the awaited moment, and the remaining number of occurrences.
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
    /// Reads the kinds: the schema, and the parts of each kind's class.
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
                let message = format!("if a kind is timed, the host declares the kind `{ENDING}`");
                self.problem("kinds", ENDING, message, "choose another name");
            }
            declared.retain(|(name, _)| name != ENDING);
            declared.push((ENDING.into(), Lv::Table(ending(lua)?)));
            declared.sort_by(|(one, _), (other, _)| one.cmp(other));
        }
        let names: BTreeSet<String> = declared.iter().map(|(name, _)| name.clone()).collect();
        for (name, body) in declared {
            let Lv::Table(body) = body else {
                let cure = "write { fields = { wit = rb.int() } }";
                self.problem("kinds", &name, format!("the kind `{name}` is a table with `fields`"), cure);
                continue;
            };
            let (kind, derived, nullable) = self.kind(&name, &body, &names, own)?;
            parts.push((name, derived, nullable));
            schema.kinds.push(kind);
        }
        self.settle_audiences(&mut schema);
        self.check_ends(&schema);
        self.check_seats(&mut schema);
        Ok((schema, parts))
    }

    /// Reads one kind, its derived values, and its nullable fields.
    fn kind(
        &mut self,
        name: &str,
        body: &Table,
        kinds: &BTreeSet<String>,
        own: &OfKinds,
    ) -> Result<(Kind, Table, Table)> {
        let known = [
            "title", "fields", "derived", "sheet", "overview", "audience", "peek", "relates", "mutual", "timed",
            "ended", "seat", "side", "numbers", "position",
        ];
        self.known_keys("kinds", name, body, &known, None)?;
        let mut kind = Kind { name: Arc::from(name), peek: true, ..Kind::default() };
        let nullable = self.fields(&mut kind, body, kinds)?;
        self.title(&mut kind, body)?;
        let derived = self.derived(&mut kind, body)?;
        let lines = "function(self) return { ... } end";
        kind.sheet = self.has_function("kinds", name, body, ("sheet", lines))?;
        if kind.sheet {
            own.sheets.raw_set(name, body.raw_get::<Lv>("sheet")?)?;
        }
        kind.overview = self.has_function("kinds", name, body, ("overview", lines))?;
        if kind.overview {
            own.overviews.raw_set(name, body.raw_get::<Lv>("overview")?)?;
        }
        match (body.raw_get::<Lv>("timed")?, body.raw_get::<Lv>("ended")?) {
            (Lv::Nil | Lv::Boolean(false), Lv::Nil) => {}
            (timed @ Lv::Boolean(true), ended @ (Lv::Nil | Lv::Function(_))) => {
                kind.timed = true;
                own.timed.raw_set(name, if ended.is_nil() { timed } else { ended })?;
            }
            _ => {
                let message = format!(
                    "the kind `{name}` has a wrong `timed` or `ended`: `ended` is a function and needs `timed = true`"
                );
                let cure =
                    "write timed = true, and beside it, if anything is to be done, ended = function(self) ... end";
                self.problem("kinds", &format!("{name}/timed"), message, cure);
                self.offer_before("ended", "timed = true,");
            }
        }
        match read_ends(body, &kind) {
            Ok(ends) => (kind.relates, kind.mutual) = ends,
            Err(DeclarationMistake { message, cure, subject }) => {
                let path = format!("{name}/relates");
                self.problem_about(subject, "kinds", &path, format!("the kind `{name}` {message}"), cure);
            }
        }
        kind.profile = self.profile(&kind, body);
        match body.raw_get::<Lv>("peek")? {
            Lv::Nil => {}
            Lv::Boolean(peek) => kind.peek = peek,
            other => {
                let message =
                    format!("the kind `{name}` has a `peek` that is a {}, not true or false", sort_of(&other));
                let cure = "write peek = false if those who see such an entity know it already";
                self.problem("kinds", &format!("{name}/peek"), message, cure);
            }
        }
        match read_audience(body) {
            Ok(rule) => kind.audience = rule,
            Err(DeclarationMistake { message, cure, .. }) => {
                self.problem("kinds", &format!("{name}/audience"), format!("the kind `{name}` {message}"), cure);
            }
        }
        Ok((kind, derived, nullable))
    }

    /// Reads the fields of a kind. Returns the names of the nullable ones.
    fn fields(&mut self, kind: &mut Kind, body: &Table, kinds: &BTreeSet<String>) -> Result<Table> {
        let nullable = self.lua.create_table()?;
        let Some(fields) = self.table_at("kinds", &kind.name, body, "fields")? else { return Ok(nullable) };
        for (field, declared) in sorted(&fields)? {
            let path = format!("{}/fields/{field}", kind.name);
            if !self.is_short("name", "kinds", &path, &field, LONGEST_NAME) {
                continue;
            }
            if ENTITY_FIELDS.iter().chain(ENTITY_METHODS).any(|taken| **taken == *field) {
                self.problem("kinds", &path, format!("`{field}` is taken by the host"), "choose another name");
                continue;
            }
            match read_field(&field, &declared, kinds) {
                Ok(mut read) => {
                    if matches!(read.ty, Type::Ref(_)) {
                        nullable.raw_set(&*field, true)?;
                    }
                    read.origin = Arc::from(self.merger.origin("kinds", &path).unwrap_or_default());
                    kind.fields.push(read);
                }
                Err(DeclarationMistake { message, cure, .. }) => {
                    self.problem("kinds", &path, format!("the field `{field}` of {} {message}", kind.name), cure);
                    // Add it for references to it, so that a mistake is reported only once.
                    kind.fields.extend(bare_field(&field, &declared, kinds));
                }
            }
        }
        Ok(nullable)
    }

    fn title(&mut self, kind: &mut Kind, body: &Table) -> Result<()> {
        let (message, cure) = match body.raw_get::<Lv>("title")? {
            Lv::Nil => return Ok(()),
            Lv::String(title) => {
                let title = title.to_string_lossy().to_string();
                kind.title = kind.field_named(&title).filter(|at| kind.field(*at).ty == Type::Text);
                if kind.title.is_some() {
                    return Ok(());
                }
                let texts = kind.fields.iter().filter(|field| field.ty == Type::Text).map(|field| &*field.name);
                let declare = format!("declare {title} = rb.text() among its fields, or name another");
                let message =
                    format!("the title of {} names a text field, there is no text field `{title}`", kind.name);
                (message, instead_or(&title, texts, declare))
            }
            _ => ("a title is the name of a text field".into(), "write title = \"name\"".into()),
        };
        self.problem("kinds", &format!("{}/title", kind.name), message, cure);
        Ok(())
    }

    fn derived(&mut self, kind: &mut Kind, body: &Table) -> Result<Table> {
        let derived = self.lua.create_table()?;
        let Some(table) = self.table_at("kinds", &kind.name, body, "derived")? else { return Ok(derived) };
        for (value, function) in sorted(&table)? {
            let path = format!("{}/derived/{value}", kind.name);
            match function {
                Lv::Function(_) if kind.field_named(&value).is_some() => {
                    let message = format!("{} has a field and a derived value `{value}`", kind.name);
                    self.problem("kinds", &path, message, "give one of them another name");
                }
                Lv::Function(function) => {
                    let info = function.info();
                    let takes = (!info.is_vararg).then_some(info.num_params.saturating_sub(1));
                    kind.derived_takes.push(takes);
                    derived.raw_set(&*value, function)?;
                    kind.derived.push(Arc::from(&*value));
                    let origin = self.merger.origin("kinds", &path).unwrap_or_default();
                    kind.derived_origins.push(Arc::from(origin));
                }
                other => {
                    let message = format!("the derived value `{value}` is a function(self), not {}", sort_of(&other));
                    let cure = format!("write {value} = function(self) return ... end");
                    self.problem("kinds", &path, message, cure);
                }
            }
        }
        Ok(derived)
    }

    /// Reports relations whose ends are relations.
    fn check_ends(&mut self, schema: &Schema) {
        for kind in &schema.kinds {
            for end in &kind.relates {
                let Type::Ref(Some(other)) = &kind.field(*end).ty else { continue };
                let found = schema.kind_named(other).map(|other| schema.kind(other));
                if found.is_some_and(|other| !other.relates.is_empty()) {
                    let message =
                        format!("the kind `{}` relates to the kind `{other}`, which is a relation itself", kind.name);
                    let cure = "relate what that one stands between, or leave out its `relates`";
                    self.problem("kinds", &format!("{}/relates", kind.name), message, cure);
                }
            }
        }
    }

    /// Decides which audiences are fields of the entity, once all kinds are known. The others are seats.
    fn settle_audiences(&mut self, schema: &mut Schema) {
        let seats = self.stack.seats();
        let unknown = |kind: &Kind, rule: &AudienceRule| {
            let AudienceRule::Fixed(Audience::Only(named)) = rule else { return Ok(()) };
            match named.iter().find(|name| ***name != *"gm" && !seats.contains_key(&***name)) {
                None => Ok(()),
                Some(name) => {
                    let cure = match likeliest(name, seats.keys().map(String::as_str)) {
                        Some(near) => Cure::meant(&**name, near),
                        None => cure_of_audience(kind, name),
                    };
                    wrong(format!("has the audience `{name}`, which is neither a field nor a seat"), cure)
                }
            }
        };
        let mut problems = Vec::new();
        for at in 0..schema.kinds.len() {
            let kind = &schema.kinds[at];
            let mut settle = |what: String, path: String, rule: &Option<AudienceRule>| {
                let rule = settled_rule(kind, rule.as_ref()?);
                let checked = schema.check_audience(KindId(at as u16), &rule);
                let checked =
                    checked.or_else(|message| wrong(message, AUDIENCE_CURE)).and_then(|()| unknown(kind, &rule));
                problems.extend(checked.err().map(|found| (path, format!("{what} {}", found.message), found.cure)));
                Some(rule)
            };
            let whole = settle(format!("the kind `{}`", kind.name), format!("{}/audience", kind.name), &kind.audience);
            let fields: Vec<Option<AudienceRule>> = (kind.fields.iter())
                .map(|field| {
                    let what = format!("the field `{}` of {}", field.name, kind.name);
                    settle(what, format!("{}/fields/{}", kind.name, field.name), &field.audience)
                })
                .collect();
            let kind = &mut schema.kinds[at];
            kind.audience = whole;
            for (field, rule) in kind.fields.iter_mut().zip(fields) {
                field.audience = rule;
            }
        }
        for (path, message, cure) in problems {
            self.problem("kinds", &path, message, cure);
        }
    }
}

/// A mistake in a declaration, as a clause after the name of the declaration, with a correction.
pub(super) struct DeclarationMistake {
    pub message: String,
    pub cure: Cure,
    pub subject: Subject,
}

pub(super) type Read<T> = std::result::Result<T, DeclarationMistake>;

pub(super) fn wrong<T>(message: impl Into<String>, cure: impl Into<Cure>) -> Read<T> {
    Err(DeclarationMistake { message: message.into(), cure: cure.into(), subject: Subject::Other })
}

impl From<mlua::Error> for DeclarationMistake {
    fn from(error: mlua::Error) -> DeclarationMistake {
        let message = format!("cannot be read: {error}");
        DeclarationMistake { message, cure: FIELD_CURE.into(), subject: Subject::Other }
    }
}

/// The deepest nesting of lists and maps, equal to that of script values.
const DEEPEST: usize = 16;

const FIELD_CURE: &str = "look at the types of fields in docs/reference.md";

const DECLARED_CURE: &str =
    "write rb.int(), rb.bool(), rb.text(), rb.enum({ ... }), rb.ref(\"kind\"), rb.list(...) or rb.map(...)";

const BOUND_CURE: &str = "bounds are numbers without quotes: rb.int({ min = 0, max = 10 })";

const DEFAULT_CURE: &str = "give it a default that it can have, or leave the default out";

const AUDIENCE_CURE: &str = "an audience is a seat, a list of seats, \"everybody\", \"nobody\", or a field of the entity \
                             that holds a seat: \"seat\", or \"owner.seat\" behind a reference";

/// Turns an audience word into a path if it is a field of the kind, or begins with one and a dot; otherwise into a
/// seat.
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

/// Reads the references that are the ends of a relation, and whether it is mutual.
fn read_ends(body: &Table, kind: &Kind) -> Read<(Vec<FieldId>, bool)> {
    let wrong = |message: String| wrong(message, ENDS_CURE);
    let mutual = match body.raw_get::<Lv>("mutual")? {
        Lv::Nil => false,
        Lv::Boolean(mutual) => mutual,
        other => return wrong(format!("has a `mutual` that is a {}, not true or false", sort_of(&other))),
    };
    let names = match body.raw_get::<Lv>("relates")? {
        Lv::Nil if mutual => return wrong("is mutual and relates nothing".into()),
        Lv::Nil => return Ok((Vec::new(), false)),
        Lv::Table(names) => names,
        other => return wrong(format!("has a `relates` that is a {}, not a list of fields", sort_of(&other))),
    };
    let mut ends = Vec::new();
    for name in names.sequence_values::<Lv>() {
        let Ok(Lv::String(name)) = name else { return wrong("has a `relates` that is not a list of fields".into()) };
        let name = name.to_string_lossy();
        let Some(at) = kind.field_named(&name) else {
            let taken: Vec<String> = names.sequence_values::<String>().filter_map(Result::ok).collect();
            let cure = match free_end(kind, &name, &taken) {
                Some(end) => Cure::meant(&*name, end),
                None => ENDS_CURE.into(),
            };
            let message = format!("relates `{name}`, and has no such field");
            return Err(DeclarationMistake { message, cure, subject: Subject::RelationEnd });
        };
        if !matches!(kind.field(at).ty, Type::Ref(Some(_))) && *kind.name != *ENDING {
            let cure = match free_end(kind, &name, &[]) {
                Some(end) => Cure::meant(&*name, end),
                None => ENDS_CURE.into(),
            };
            return self::wrong(format!("relates `{name}`, which is no reference to one kind"), cure);
        }
        ends.push(at);
    }
    match ends.as_slice() {
        [_] if mutual => wrong("is mutual and relates one field only".into()),
        [one, other] if one == other => {
            let name = &kind.field(*one).name;
            let quoted = format!("\"{name}\"");
            let cure = match free_end(kind, name, &[name.to_string()]) {
                Some(end) => Cure::one_of(
                    [Replacement::after(&*quoted, &*quoted, format!("\"{end}\""))],
                    format!("did you mean `{end}`? It is a reference of `{}`", kind.name),
                ),
                None => ENDS_CURE.into(),
            };
            self::wrong("relates the same field twice", cure)
        }
        [one, other] if mutual && kind.field(*one).ty != kind.field(*other).ty => {
            wrong("is mutual, and its ends are of different kinds".into())
        }
        [_] | [_, _] => Ok((ends, mutual)),
        _ => wrong(format!("relates {} fields, not one or two", ends.len())),
    }
}

/// The reference of a kind that a wrong name of an end means: the only one that is no end yet, or one of a similar name.
fn free_end<'k>(kind: &'k Kind, name: &str, taken: &[String]) -> Option<&'k str> {
    let references =
        kind.fields.iter().filter(|field| matches!(field.ty, Type::Ref(Some(_)))).map(|field| &*field.name);
    let free: Vec<&str> = references.filter(|field| !taken.iter().any(|taken| taken == field)).collect();
    match free.as_slice() {
        [only] => Some(only),
        several => likeliest(name, several.iter().copied()),
    }
}

/// The field that an unknown name of an audience means: one of a similar name that can be an audience, the one that is called
/// `seat`, or the only text.
fn cure_of_audience(kind: &Kind, name: &str) -> Cure {
    let is_audience = |ty: &Type| match ty {
        Type::Text | Type::Ref(_) => true,
        Type::List(element) => matches!(**element, Type::Text),
        _ => false,
    };
    let fields = kind.fields.iter().filter(|field| is_audience(&field.ty)).map(|field| &*field.name);
    if let Some(near) = likeliest(name, fields) {
        return Cure::meant(name, near);
    }
    let texts: Vec<&str> =
        kind.fields.iter().filter(|field| field.ty == Type::Text).map(|field| &*field.name).collect();
    match texts.as_slice() {
        [only] => Cure::meant(name, *only),
        _ if texts.contains(&"seat") => Cure::meant(name, "seat"),
        _ => instead_or(name, texts, AUDIENCE_CURE),
    }
}

/// Reads the audience of a kind or a field. A single word may be a seat or a field: see `settled_rule`.
fn read_audience(table: &Table) -> Read<Option<AudienceRule>> {
    match table.raw_get::<Lv>("audience")? {
        Lv::Nil => Ok(None),
        Lv::String(text) => Ok(Some(AudienceRule::Path(vec![kept(&text.to_string_lossy())?]))),
        Lv::Table(list) => match texts_of(&list)? {
            Some(seats) => Ok(Some(AudienceRule::Fixed(Audience::of(seats)))),
            None => wrong("has an `audience` that is not a list of seats", AUDIENCE_CURE),
        },
        other => {
            let message = format!("has an `audience` that is a {}, not a seat or a list of seats", sort_of(&other));
            wrong(message, AUDIENCE_CURE)
        }
    }
}

/// The texts of a list. `None` if it contains anything else.
fn texts_of(list: &Table) -> Result<Option<Vec<Arc<str>>>> {
    let mut texts = Vec::new();
    for text in list.sequence_values::<Lv>() {
        let Lv::String(text) = text? else { return Ok(None) };
        texts.push(kept(&text.to_string_lossy())?);
    }
    Ok(Some(texts))
}

/// The first duplicate in a list.
fn named_twice(texts: &[Arc<str>]) -> Option<&Arc<str>> {
    let mut seen = BTreeSet::new();
    texts.iter().find(|text| !seen.insert(*text))
}

/// Reads the declaration of a field.
fn read_field(name: &str, declared: &Lv, kinds: &BTreeSet<String>) -> Read<Field> {
    let Lv::Table(table) = declared else {
        let message = format!("is declared with rb.int(), rb.text() and the like, not a {}", sort_of(declared));
        return wrong(message, DECLARED_CURE);
    };
    let ty = read_type(table, kinds)?;
    if let Type::Enum(values) = &ty
        && let Some(twice) = named_twice(values)
    {
        return wrong(format!("names the value `{twice}` twice"), "write each value once");
    }
    let text = |key: &str| match table.raw_get::<Lv>(key)? {
        Lv::Nil => Ok(None),
        Lv::String(text) => Ok(Some(kept(&text.to_string_lossy())?)),
        other => wrong(format!("has a `{key}` that is a {}, not a text", sort_of(&other)), FIELD_CURE),
    };
    let default = match table.raw_get::<Lv>("default")? {
        Lv::Nil => ty.default_value(),
        value => {
            let Ok(value) = from_lua(&value, &Handles::default()) else {
                return wrong("has a default that is not plain data", DEFAULT_CURE);
            };
            let value = ty.settle(value);
            if let Err(error) = ty.check(&value, &Schema::default(), &riskbreaker_state::State::new()) {
                let cure = cure_of_default(&error).unwrap_or_else(|| DEFAULT_CURE.into());
                return wrong(format!("has a default that does not fit: it {error}"), cure);
            }
            value
        }
    };
    let flag = |key: &str, or: &str| match table.raw_get::<Lv>(key)? {
        Lv::Nil => Ok(None),
        Lv::Boolean(flag) => Ok(Some(flag)),
        other => wrong(format!("has a `{key}` that is a {}, not true or false{or}", sort_of(&other)), FIELD_CURE),
    };
    let said = matches!(table.raw_get::<Lv>("show")?, Lv::String(word) if word == "said");
    let show = if said { false } else { flag("show", " or \"said\"")?.unwrap_or(true) };
    let bare = of_type(name, ty);
    Ok(Field {
        label: text("label")?.unwrap_or_else(|| bare.label.clone()),
        default,
        show,
        said,
        audience: read_audience(table)?,
        peek: flag("peek", "")?.unwrap_or(true),
        by_hand: flag("by_hand", "")?.unwrap_or(false),
        ..bare
    })
}

/// What to write for a default that does not fit: another default, or another bound.
fn cure_of_default(unfit: &Unfit) -> Option<Cure> {
    let (Type::Int { min, max }, Value::Int(given)) = (&unfit.wanted, &unfit.given) else {
        return cure_of_value(unfit);
    };
    let (least, most) = (min.filter(|min| given < min), max.filter(|max| given > max));
    let (key, bound) = least.map(|min| ("min", min)).or(most.map(|max| ("max", max)))?;
    let meant = number_meant(*given, (*min, *max)).to_string();
    let given = given.to_string();
    let choices =
        [Replacement::after("default", &*given, &*meant), Replacement::after(key, bound.to_string(), &*given)];
    Some(Cure::one_of(choices, format!("write default = {meant}, or {key} = {given}")))
}

/// The field with only its type. `None` if that is invalid.
fn bare_field(name: &str, declared: &Lv, kinds: &BTreeSet<String>) -> Option<Field> {
    let table = declared.as_table()?;
    let ty = read_type(table, kinds).ok().or_else(|| match &*table.raw_get::<String>("@type").ok()? {
        // The bounds are wrong.
        "int" => Some(Type::Int { min: None, max: None }),
        _ => None,
    })?;
    Some(of_type(name, ty))
}

/// A field with only its type declared.
fn of_type(name: &str, ty: Type) -> Field {
    Field {
        name: Arc::from(name),
        label: Arc::from(readable_name(name)),
        default: ty.default_value(),
        ty,
        show: true,
        said: false,
        audience: None,
        peek: true,
        by_hand: false,
        origin: Arc::from(""),
    }
}

/// Reads a type that a function such as `rb.int()` has made.
pub(super) fn read_type(table: &Table, kinds: &BTreeSet<String>) -> Read<Type> {
    type_inside(table, kinds, 0)
}

/// Reads a type at a nesting depth of lists and maps.
fn type_inside(table: &Table, kinds: &BTreeSet<String>, depth: usize) -> Read<Type> {
    if depth > DEEPEST {
        let cure = "put less into one field, or make entities of what is in it";
        return wrong(format!("has lists and maps nested more than {DEEPEST} deep"), cure);
    }
    let Lv::String(ty) = table.raw_get::<Lv>("@type")? else {
        return wrong("is declared with rb.int(), rb.text() and the like", DECLARED_CURE);
    };
    let element = || match table.raw_get::<Lv>("element")? {
        Lv::Table(element) => Ok(Box::new(type_inside(&element, kinds, depth + 1)?)),
        _ => wrong("needs the type of its elements", FIELD_CURE),
    };
    let bound = |key: &str| {
        let value = table.raw_get::<Lv>(key)?;
        match whole_of(&value) {
            None if !value.is_nil() => {
                let message = format!("has a `{key}` that is not a whole number but a {}", sort_of(&value));
                wrong(message, BOUND_CURE)
            }
            bound => Ok(bound),
        }
    };
    Ok(match &*ty.to_string_lossy() {
        "int" => match (bound("min")?, bound("max")?) {
            (Some(min), Some(max)) if min > max => {
                let choices = [
                    Replacement::of(format!("min = {min}, max = {max}"), format!("min = {max}, max = {min}")),
                    Replacement::of(format!("max = {max}, min = {min}"), format!("max = {min}, min = {max}")),
                ];
                let cure = Cure::one_of(choices, format!("exchange them: min = {max}, max = {min}"));
                return wrong(format!("has bounds that leave nothing: {min} to {max}"), cure);
            }
            (min, max) => Type::Int { min, max },
        },
        "bool" => Type::Bool,
        "text" => Type::Text,
        "ratio" => Type::Ratio,
        "enum" => {
            let Lv::Table(values) = table.raw_get::<Lv>("values")? else {
                return wrong("needs its values", FIELD_CURE);
            };
            match texts_of(&values)? {
                Some(texts) => Type::Enum(texts),
                None => return wrong("has values that are not texts", FIELD_CURE),
            }
        }
        "ref" => match table.raw_get::<Lv>("kind")? {
            Lv::Nil => Type::Ref(None),
            kind => {
                let kind = kind.to_string().unwrap_or_default();
                if !kinds.contains(&kind) {
                    let cure = instead_or(&kind, kinds.iter().map(String::as_str), "name a kind of kinds.luau");
                    return wrong(format!("refers to the kind `{kind}`, which does not exist"), cure);
                }
                Type::Ref(Some(Arc::from(kind)))
            }
        },
        "list" => Type::List(element()?),
        "map" => Type::Map(element()?),
        other => return wrong(format!("has an unknown type `{other}`"), FIELD_CURE),
    })
}
