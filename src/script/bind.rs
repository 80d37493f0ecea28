//! The host's leaf functions: everything that a script does reaches the desk through one of these. None calls a script.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;
use std::sync::Arc;

use mlua::{Error, Lua, LuaString, Result, Table, Value as Lv, Variadic};

use super::exchange::{from_lua, text_of, to_lua, whole_of};
use super::mirror::{Mirror, Pages};
use super::raw;
use super::sandbox::{charge, hold};
use crate::dice::{Dice, Roll};
use crate::play::{
    Answer, Ask, Asked, Asking, By, Choice, Desk, DicePosition, Driver, Happening, Need, Question, QuestionId, Sight,
    Stop, Term,
};
use crate::ruleset::nearest;
use crate::state::{Attachment, AttachmentId, Entity, EntityId, EntryId, FieldId, Key, Type, Value};

/// What the leaf functions share: the desk of the game that is being run, and the mirror of its state.
#[derive(Default)]
pub(super) struct Bench {
    desk: Cell<Option<*mut Desk>>,
    pub mirror: RefCell<Mirror>,
    dice: RefCell<HashMap<String, Rc<Dice>>>,
    labels: RefCell<HashMap<String, Arc<str>>>,
    pub terms: RefCell<Vec<Term>>,
    /// Where the dice stood when the policy was asked.
    before_policy: Cell<DicePosition>,
    /// Answers of questions that are out together, told when all are there.
    told_later: RefCell<Vec<Happening>>,
    names: RefCell<Names>,
    /// The functions of files whose lines are counted.
    pub measured: RefCell<Vec<(String, mlua::Function)>>,
    /// The functions of all other files, until they are compiled for this processor.
    pub files: RefCell<Vec<mlua::Function>>,
    pub pages: Pages,
    /// Names of the agenda's entries.
    entries: RefCell<Vec<Arc<str>>>,
}

/// Most entries that an agenda holds.
pub(super) const MOST_ENTRIES: usize = 10_000;

/// Names that exist in the ruleset, for messages.
#[derive(Default)]
pub(super) struct Names(pub BTreeMap<&'static str, Vec<String>>);

impl Bench {
    /// Lends a desk to the leaf functions while `run` goes on.
    pub fn lend<R>(&self, desk: &mut Desk, run: impl FnOnce() -> R) -> R {
        let outer = self.desk.replace(Some(desk));
        let result = raw::seated(self, run);
        self.desk.set(outer);
        self.told_later.borrow_mut().clear();
        result
    }

    pub fn set_names(&self, names: Names) {
        let entries = names.0.get("entry").into_iter().flatten();
        *self.entries.borrow_mut() = entries.map(|name| Arc::from(name.as_str())).collect();
        *self.names.borrow_mut() = names;
    }

    /// The agenda entry of that name in `play.luau`.
    pub fn entry_named(&self, name: &str) -> Option<Arc<str>> {
        self.entries.borrow().iter().find(|entry| ***entry == *name).cloned()
    }

    /// The desk that is lent at the moment.
    #[allow(clippy::mut_from_ref)] // it is lent exclusively, see below
    pub fn lent(&self) -> Option<&mut Desk> {
        // SAFETY: the pointer is set by `lend` for as long as its exclusive borrow lasts, on the machine's own thread;
        // leaf functions do not call each other, so no two references from here live at once.
        self.desk.get().map(|desk| unsafe { &mut *desk })
    }

    /// The same, for leaf functions that may see and do anything: what is done then cannot be learned by rote.
    #[allow(clippy::mut_from_ref)] // as above
    pub(super) fn desk(&self) -> Result<&mut Desk> {
        let desk = self.noted()?;
        desk.spoil();
        Ok(desk)
    }

    /// The same, for leaf functions that note whatever they see and do where a lesson goes on.
    #[allow(clippy::mut_from_ref)] // as above
    pub(super) fn noted(&self) -> Result<&mut Desk> {
        match self.lent() {
            Some(desk) => Ok(desk),
            None => Err(Error::RuntimeError(
                "this can only be called while a game is played, not while the file is loaded".into(),
            )),
        }
    }

    fn parsed(&self, text: &str) -> std::result::Result<Rc<Dice>, String> {
        if let Some(dice) = self.dice.borrow().get(text) {
            return Ok(dice.clone());
        }
        let dice = Rc::new(Dice::parse(text).map_err(|error| error.to_string())?);
        remember(&mut self.dice.borrow_mut(), text, dice.clone());
        Ok(dice)
    }

    fn label(&self, text: &str) -> Arc<str> {
        if let Some(label) = self.labels.borrow().get(text) {
            return label.clone();
        }
        let label: Arc<str> = Arc::from(text);
        remember(&mut self.labels.borrow_mut(), text, label.clone());
        label
    }
}

/// Texts that are read once and known from then on: as many as a ruleset writes out, and not all that a script makes up.
const MOST_KNOWN: usize = 1_000;
const LONGEST_KNOWN: usize = 200;

fn remember<T>(known: &mut HashMap<String, T>, text: &str, value: T) {
    if known.len() < MOST_KNOWN && text.len() <= LONGEST_KNOWN {
        known.insert(text.to_string(), value);
    }
}

/// The error that ends a script once the desk has stopped; the desk's own flag says why.
pub(super) fn stopped(stop: Stop) -> Error {
    Error::RuntimeError(match stop {
        Stop::Question => "the action waits for an answer".into(),
        Stop::Cut(reason) | Stop::Refused { reason, .. } => reason,
        Stop::Fault { message, .. } => message,
    })
}

fn fault(desk: &mut Desk, message: impl Into<String>) -> Error {
    stopped(desk.fault(message))
}

/// What a script gave, for messages.
fn told(value: &Lv) -> String {
    match value {
        Lv::Nil => "nothing".into(),
        Lv::Integer(n) => n.to_string(),
        Lv::Number(n) => n.to_string(),
        other => format!("a {}", other.type_name()),
    }
}

pub(super) fn text_arg(desk: &mut Desk, value: &Lv, what: &str) -> Result<Arc<str>> {
    match value {
        Lv::String(text) => text_of(text),
        other => Err(fault(desk, format!("{what} must be a text, not {}", other.type_name()))),
    }
}

/// Fills the `{}` of a template with values in words.
pub(super) fn fill(template: &str, args: &[Lv], desk: &Desk, mirror: &Mirror) -> String {
    let mut text = String::with_capacity(template.len() + 16);
    let mut args = args.iter();
    let mut rest = template;
    while let Some(at) = rest.find("{}") {
        text.push_str(&rest[..at]);
        match args.next() {
            Some(value) => match from_lua(value, mirror) {
                Ok(value) => text.push_str(&desk.words(&value)),
                Err(_) => text.push('?'),
            },
            None => text.push_str("{}"),
        }
        rest = &rest[at + 2..];
    }
    text.push_str(rest);
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).take(2000).collect()
}

/// Makes the table of leaf functions.
pub(super) fn leaves(lua: &Lua, bench: &Rc<Bench>) -> Result<Table> {
    let table = lua.create_table()?;
    messages(lua, bench, &table)?;
    entities(lua, bench, &table)?;
    attachments(lua, bench, &table)?;
    questions(lua, bench, &table)?;
    dice(lua, bench, &table)?;
    agenda(lua, bench, &table)?;
    telling(lua, bench, &table)?;
    super::convert::leaves(lua, bench, &table)?;
    let handles = lua.create_table()?;
    table.raw_set("handles", &handles)?;
    table.raw_set("bare", bench.mirror.borrow().is_bare())?;
    let pages = lua.create_table()?;
    table.raw_set("pages", &pages)?;
    let mut mirror = bench.mirror.borrow_mut();
    (mirror.listed, mirror.pages) = (Some(handles), Some(pages));
    drop(mirror);
    raw::add(lua, &table)?;
    raw::due_parts(lua, bench, &table)?;
    Ok(table)
}

/// Adds a leaf function to the table.
macro_rules! leaf {
    ($lua:ident, $bench:ident, $table:ident, $name:expr, |$l:pat_param, $b:ident, $args:tt : $types:ty| $body:expr) => {{
        let bench = Rc::clone($bench);
        #[allow(unused_variables)]
        let function = $lua.create_function(move |$l: &Lua, $args: $types| {
            let $b = &*bench;
            $body
        })?;
        $table.raw_set($name, function)?;
    }};
}

fn messages(lua: &Lua, bench: &Rc<Bench>, table: &Table) -> Result<()> {
    leaf!(lua, bench, table, "fault", |_, b, (message, cure): (String, Option<String>)| {
        let desk = b.desk()?;
        Err::<(), _>(stopped(desk.fault_with(message, cure)))
    });
    leaf!(lua, bench, table, "join", |_, b, (a, c): (Table, Table)| {
        let mut names: Vec<String> = Vec::new();
        for pair in a.pairs::<String, Lv>().chain(c.pairs::<String, Lv>()).take(MOST_NAMED) {
            names.push(pair?.0);
        }
        names.sort();
        Ok(names.join(", "))
    });
    leaf!(lua, bench, table, "no_such", |_, b, (what, name): (String, String)| {
        let names = b.names.borrow();
        let known = names.0.get(what.as_str()).map(Vec::as_slice).unwrap_or_default();
        Ok(match nearest(&name, known.iter().map(String::as_str)) {
            Some(near) => format!("there is no {what} `{name}`; did you mean `{near}`?"),
            None if known.is_empty() => format!("there is no {what} `{name}`; the ruleset has none"),
            None => format!("there is no {what} `{name}`; there are {}", known.join(", ")),
        })
    });
    leaf!(lua, bench, table, "no_member", |_, b, (kind, name): (String, String)| {
        let desk = b.desk()?;
        Ok(no_member(desk, &kind, &name))
    });
    leaf!(lua, bench, table, "no_number", |_, b, (kind, name): (String, String)| {
        let desk = b.desk()?;
        let schema = desk.rules.schema();
        let known = schema.kind_named(&kind).and_then(|kind| schema.kind(kind).field_named(&name));
        Ok(match known {
            Some(_) => format!("the field `{name}` of {kind} is not a number; add is for number fields"),
            None => no_member(desk, &kind, &name),
        })
    });
    Ok(())
}

/// Names that a message lists at most.
const MOST_NAMED: usize = 100;

fn no_member(desk: &Desk, kind: &str, name: &str) -> String {
    let schema = desk.rules.schema();
    let Some(kind) = schema.kind_named(kind).map(|kind| schema.kind(kind)) else {
        return format!("there is no kind `{kind}`");
    };
    let names = kind
        .fields
        .iter()
        .map(|field| &*field.name)
        .chain(kind.derived.iter().map(|name| &**name))
        .chain(["id", "kind", "set", "add", "exists"]);
    match nearest(name, names.clone()) {
        Some(near) => format!("{} has no field `{name}`; did you mean `{near}`?", kind.name),
        None => format!("{} has no field `{name}`; it has {}", kind.name, names.collect::<Vec<_>>().join(", ")),
    }
}

fn entities(lua: &Lua, bench: &Rc<Bench>, table: &Table) -> Result<()> {
    leaf!(lua, bench, table, "set", |lua, b, (_, id, field, value): (Lv, u32, Lv, Lv)| {
        let desk = b.noted()?;
        desk.may_act("writing a field").map_err(stopped)?;
        let mut mirror = b.mirror.borrow_mut();
        let field = text_arg(desk, &field, "the name of a field")?;
        write_field(lua, desk, &mut mirror, EntityId(id), &field, &value)
    });
    // Where handles hold no fields: one that is not read in the usual way, such as a table.
    leaf!(lua, bench, table, "read_field", |lua, b, (handle, at): (Table, u16)| {
        let desk = b.noted()?;
        let mut mirror = b.mirror.borrow_mut();
        let field = FieldId(at);
        let Some(id) = mirror.id_of(&handle) else { return Ok(Lv::Nil) };
        match desk.noted_field(id, field) {
            Some(value) => mirror.table_of(lua, id, field, value),
            None => Ok(Lv::Nil),
        }
    });
    // The same: a table of all fields, for what does not ask for one of them.
    leaf!(lua, bench, table, "whole", |lua, b, handle: Table| {
        let mirror = b.mirror.borrow();
        let Some(id) = mirror.id_of(&handle) else { return Ok(None) };
        let desk = b.desk()?;
        let Some(entity) = desk.state.entity(id) else { return Ok(None) };
        mirror.whole(lua, desk.rules.schema(), id, entity).map(Some)
    });
    leaf!(lua, bench, table, "catch_up", |lua, b, (): ()| {
        let desk = b.noted()?;
        let rules = desk.rules.clone();
        b.mirror.borrow_mut().sync(lua, &mut desk.state, rules.schema()).map(|_| ())
    });
    leaf!(lua, bench, table, "exists", |_, b, handle: Table| {
        b.noted()?.may_go_on().map_err(stopped)?;
        Ok(b.mirror.borrow().id_of(&handle).is_some())
    });
    leaf!(lua, bench, table, "each", |lua, b, kind: Lv| {
        let desk = b.noted()?;
        desk.may_go_on().map_err(stopped)?;
        let name = text_arg(desk, &kind, "the name of a kind")?;
        let Some(kind) = desk.rules.schema().kind_named(&name) else {
            return Err(no_kind(desk, &name));
        };
        let mirror = b.mirror.borrow();
        charge(i64::from(desk.state.ids()) / 8);
        let found = desk.state.entities().filter(|(_, entity)| entity.kind == kind);
        let handles = found.filter_map(|(id, _)| mirror.handle(id).cloned());
        let list = lua.create_sequence_from(handles)?;
        list.set_readonly(true);
        Ok(list)
    });
    leaf!(lua, bench, table, "spawn", |lua, b, (kind, fields): (Lv, Lv)| {
        let desk = b.noted()?;
        desk.may_act("making an entity").map_err(stopped)?;
        let mut mirror = b.mirror.borrow_mut();
        let name = text_arg(desk, &kind, "the kind of a new entity")?;
        spawn(lua, desk, &mut mirror, &name, &fields)
    });
    leaf!(lua, bench, table, "remove", |lua, b, handle: Lv| {
        let desk = b.noted()?;
        desk.may_act("taking an entity away").map_err(stopped)?;
        let mut mirror = b.mirror.borrow_mut();
        let id = entity_arg(desk, &mirror, &handle, "rb.remove")?;
        let (title, kind) = (desk.title(id), desk.state.entity(id).map(|entity| entity.kind));
        let last = desk.state.entity(id).cloned();
        let touched = desk.state.remove(id);
        if let Some(rote) = &mut desk.rote {
            rote.removed(id, &touched);
        }
        if let Some(last) = last {
            mirror.attachments_change();
            mirror.bury(lua, desk.rules.schema(), id, &last)?;
        }
        for (other, field) in touched {
            let Some(entity) = desk.state.entity(other) else { continue };
            mirror.write_field(lua, desk.rules.schema(), other, field, &entity.fields[field.0 as usize])?;
        }
        if let Some(kind) = kind {
            let kind = desk.rules.schema().kind(kind).name.clone();
            desk.tell(Happening::Removed { entity: id, title, kind }, None);
        }
        Ok(())
    });
    Ok(())
}

fn no_kind(desk: &mut Desk, name: &str) -> Error {
    let rules = desk.rules.clone();
    let kinds = rules.schema().kinds.iter().map(|kind| &*kind.name);
    let message = match nearest(name, kinds.clone()) {
        Some(near) => format!("there is no kind `{name}`; did you mean `{near}`?"),
        None => format!("there is no kind `{name}`; there are {}", kinds.collect::<Vec<_>>().join(", ")),
    };
    fault(desk, message)
}

pub(super) fn entity_arg(desk: &mut Desk, mirror: &Mirror, value: &Lv, what: &str) -> Result<EntityId> {
    let found = match value {
        Lv::Table(table) => mirror.id_of(table),
        _ => None,
    };
    match found {
        Some(id) => Ok(id),
        None => Err(fault(
            desk,
            format!(
                "{what} takes an entity that is there, not {}",
                match value {
                    Lv::Table(_) => "a table or an entity that has been taken away",
                    other => other.type_name(),
                }
            ),
        )),
    }
}

fn write_field(lua: &Lua, desk: &mut Desk, mirror: &mut Mirror, id: EntityId, name: &str, value: &Lv) -> Result<()> {
    let rules = desk.rules.clone();
    let schema = rules.schema();
    let Some(entity) = desk.state.entity(id) else {
        return Err(fault(desk, format!("the field `{name}` is written to an entity that has been taken away")));
    };
    let kind = schema.kind(entity.kind);
    let Some(field) = kind.field_named(name) else {
        let message = no_member(desk, &kind.name, name);
        return Err(fault(desk, message));
    };
    let declared = kind.field(field);
    let value = match from_lua(value, mirror) {
        Ok(value) => settled(&declared.ty, value),
        Err(error) => return Err(fault(desk, format!("the field `{name}` of {}: {}", desk.title(id), plain(&error)))),
    };
    if let Err(error) = declared.ty.check(&value, schema, &desk.state) {
        let title = desk.title(id);
        return Err(fault(desk, format!("the field `{name}` of {title} {error}")));
    }
    let from = entity.fields[field.0 as usize].clone();
    hold_change(desk)?;
    if let Some(rote) = &mut desk.rote {
        rote.wrote(id, field, &value);
    }
    desk.state.set(id, field, value.clone());
    mirror.write_field(lua, schema, id, field, &value)?;
    desk.tell_change(id, field, &from, &value);
    Ok(())
}

/// Counts what a change is to the host: an entry of its journal, and an event where somebody listens.
pub(super) fn hold_change(desk: &Desk) -> Result<()> {
    hold(if desk.listening { CHANGE + TOLD } else { CHANGE })
}

/// What the host keeps of something that happens, in bytes, as it is counted: of a change, of what is told, of a question, of
/// one of its options, and of a die that is rolled.
const CHANGE: usize = 240;
const TOLD: usize = 480;
const ASKED: usize = 512;
const OPTION: usize = 128;
const DIE: usize = 48;

/// The value as its field holds it; a ratio comes as a list of two.
fn settled(ty: &Type, value: Value) -> Value {
    match (ty, &value) {
        (Type::Ratio, Value::List(parts)) => match parts.as_ref() {
            [Value::Int(n), Value::Int(d)] => Value::ratio(*n, *d).unwrap_or(value),
            _ => value,
        },
        _ => ty.settle(value),
    }
}

fn plain(error: &Error) -> String {
    match error {
        Error::RuntimeError(message) => message.clone(),
        other => other.to_string(),
    }
}

fn spawn(lua: &Lua, desk: &mut Desk, mirror: &mut Mirror, name: &str, fields: &Lv) -> Result<Table> {
    let rules = desk.rules.clone();
    let schema = rules.schema();
    let Some(kind_id) = schema.kind_named(name) else {
        return Err(no_kind(desk, name));
    };
    let kind = schema.kind(kind_id);
    let Lv::Table(given) = fields else {
        return Err(fault(desk, format!("rb.spawn takes a table of fields, not {}", fields.type_name())));
    };
    let mut values: Vec<Value> = kind.fields.iter().map(|field| field.default.clone()).collect();
    for pair in given.pairs::<Lv, Lv>() {
        let (key, value) = pair?;
        let key = text_arg(desk, &key, "the name of a field")?;
        let Some(field) = kind.field_named(&key) else {
            let message = no_member(desk, name, &key);
            return Err(fault(desk, message));
        };
        let declared = kind.field(field);
        let value = match from_lua(&value, mirror) {
            Ok(value) => settled(&declared.ty, value),
            Err(error) => return Err(fault(desk, format!("the field `{key}` of a new {name}: {}", plain(&error)))),
        };
        if let Err(error) = declared.ty.check(&value, schema, &desk.state) {
            return Err(fault(desk, format!("the field `{key}` of a new {name} {error}")));
        }
        values[field.0 as usize] = value;
    }
    if desk.state.ids() >= 1_000_000 {
        return Err(fault(desk, "a game has at most a million entities"));
    }
    charge(64);
    hold(TOLD + values.len() * CHANGE)?;
    let entity = Entity { kind: kind_id, fields: values };
    let id = desk.state.spawn(entity.clone());
    if let Some(rote) = &mut desk.rote {
        rote.spawned(id, &entity);
    }
    let handle = mirror.spawn(lua, schema, id, &entity)?;
    if kind.title.is_some() {
        let happening = Happening::Spawned { entity: id, title: desk.title(id), kind: kind.name.clone() };
        desk.tell(happening, None);
    }
    Ok(handle)
}

fn attachments(lua: &Lua, bench: &Rc<Bench>, table: &Table) -> Result<()> {
    leaf!(lua, bench, table, "attach", |_, b, (hook, owner, data): (Lv, Lv, Lv)| {
        let desk = b.desk()?;
        desk.may_act("attaching").map_err(stopped)?;
        b.mirror.borrow_mut().attachments_change();
        let mirror = b.mirror.borrow();
        let hook = text_arg(desk, &hook, "the id of a hook")?;
        let owner = entity_arg(desk, &mirror, &owner, "the owner in rb.attach")?;
        let known = b.names.borrow();
        let holders = known.0.get("hook").map(Vec::as_slice).unwrap_or_default();
        if !holders.iter().any(|holder| **holder == *hook) {
            let message = match nearest(&hook, holders.iter().map(String::as_str)) {
                Some(near) => format!("there is no hook or item `{hook}`; did you mean `{near}`?"),
                None => format!("there is no hook or item `{hook}`"),
            };
            return Err(fault(desk, message));
        }
        let data = match from_lua(&data, &mirror) {
            Ok(data) => data,
            Err(error) => return Err(fault(desk, format!("the data of an attachment: {}", plain(&error)))),
        };
        charge(16);
        hold(TOLD)?;
        Ok(desk.state.attach(Attachment { hook, owner, data }).0)
    });
    leaf!(lua, bench, table, "detach", |_, b, id: u32| {
        let desk = b.desk()?;
        desk.may_act("detaching").map_err(stopped)?;
        b.mirror.borrow_mut().attachments_change();
        hold(TOLD)?;
        Ok(desk.state.detach(AttachmentId(id)))
    });
    leaf!(lua, bench, table, "set_data", |_, b, (id, data): (u32, Lv)| {
        let desk = b.desk()?;
        desk.may_act("changing an attachment").map_err(stopped)?;
        b.mirror.borrow_mut().attachments_change();
        let data = match from_lua(&data, &b.mirror.borrow()) {
            Ok(data) => data,
            Err(error) => return Err(fault(desk, format!("the data of an attachment: {}", plain(&error)))),
        };
        hold(TOLD)?;
        if !desk.state.set_data(AttachmentId(id), data) {
            return Err(fault(desk, format!("there is no attachment {id}")));
        }
        Ok(())
    });
    leaf!(lua, bench, table, "attachments", |lua, b, owner: Option<Table>| {
        let Ok(desk) = b.desk() else { return lua.create_table() };
        let mirror = b.mirror.borrow();
        let owner = owner.and_then(|owner| mirror.id_of(&owner));
        let list = lua.create_table()?;
        charge(desk.state.attachments().len() as i64 / 8);
        for (id, attachment) in desk.state.attachments() {
            if owner.is_some_and(|owner| owner != attachment.owner) {
                continue;
            }
            let holder = lua.create_table()?;
            holder.raw_set("id", id.0)?;
            holder.raw_set("hook", &*attachment.hook)?;
            holder.raw_set("owner", mirror.handle(attachment.owner))?;
            holder.raw_set("data", to_lua(lua, &attachment.data, &mirror)?)?;
            holder.set_readonly(true);
            list.raw_push(holder)?;
        }
        list.set_readonly(true);
        Ok(list)
    });
    Ok(())
}

fn questions(lua: &Lua, bench: &Rc<Bench>, table: &Table) -> Result<()> {
    // How a question is answered: 0 and the answer, 1 and the policy that should, or 2 and nothing.
    leaf!(lua, bench, table, "ask", |lua, b, (ask, q): (String, Table)| {
        let desk = b.desk()?;
        if let Some(known) = desk.asked_before().map_err(stopped)? {
            let (question, answer) = &*known;
            let asking = Asking { seat: question.seat.clone(), topic: question.topic.clone(), about: question.about };
            desk.record(&asking, answer.clone(), By::Default, DicePosition::default());
            return Ok((0, places(lua, question, answer)?));
        }
        let mirror = b.mirror.borrow();
        let asking = asking_of(desk, &mirror, &q)?;
        let mut built = None;
        let asked = desk.ask(&asking, &mut |desk| {
            let question = question_of(desk, &mirror, &ask, &q)
                .map_err(|error| desk.stop.clone().unwrap_or_else(|| desk.fault(plain(&error))))?;
            built = Some(question.clone());
            Ok(question)
        });
        match asked.map_err(stopped)? {
            Asked::Answered(answer) => {
                let question = match built {
                    Some(question) => question,
                    None => question_of(desk, &mirror, &ask, &q)?,
                };
                if let Some(explorer) = &mut desk.explorer {
                    explorer.remember(Some((&question, &answer)));
                }
                tell_answer(b, desk, &question, &answer);
                Ok((0, places(lua, &question, &answer)?))
            }
            Asked::Policy(policy) => {
                b.before_policy.set(desk.position());
                if let Some(explorer) = &mut desk.explorer {
                    explorer.remember(None);
                }
                Ok((1, Lv::String(lua.create_string(&*policy)?)))
            }
            Asked::Open => Ok((2, Lv::Nil)),
        }
    });
    // What a policy answered: whether that settles the question, and the answer.
    leaf!(lua, bench, table, "answered", |lua, b, (ask, q, answer): (String, Table, Lv)| {
        let desk = b.desk()?;
        desk.may_go_on().map_err(stopped)?;
        let mirror = b.mirror.borrow();
        let asking = asking_of(desk, &mirror, &q)?;
        let question = question_of(desk, &mirror, &ask, &q)?;
        let given = if answer.is_nil() { None } else { Some(answer_from(desk, &question, &answer)?) };
        let (answer, by) = match (given, question.default.clone()) {
            (Some(answer), _) => (answer, By::Policy),
            (None, Some(default)) => (default, By::Default),
            (None, None) => {
                desk.put_out(question).map_err(stopped)?;
                return Ok((false, Lv::Nil));
            }
        };
        if let Err(refusal) = question.check(&answer) {
            return Err(fault(desk, format!("the policy's answer to `{}` is refused: {refusal}", question.topic)));
        }
        let places = places(lua, &question, &answer)?;
        tell_answer(b, desk, &question, &answer);
        desk.record(&asking, answer, by, b.before_policy.get());
        desk.may_go_on().map_err(stopped)?;
        Ok((true, places))
    });
    // Whether everything that the tape holds has been read; where the dice stand now is remembered then.
    leaf!(lua, bench, table, "at_end", |_, b, (): ()| {
        let desk = b.desk()?;
        desk.may_act("asking").map_err(stopped)?;
        b.before_policy.set(desk.position());
        Ok(desk.cursor == desk.tape.slots.len())
    });
    // Notes an answer that was found without building its question: the chosen option, or the number or truth itself.
    leaf!(lua, bench, table, "noted", |_, b, (ask, q, chosen, by_policy): (String, Table, Lv, bool)| {
        let desk = b.desk()?;
        desk.may_go_on().map_err(stopped)?;
        let mirror = b.mirror.borrow();
        let asking = asking_of(desk, &mirror, &q)?;
        let (answer, text) = match (&*ask, &chosen) {
            ("number", number) => {
                let n = whole_of(number).unwrap_or_default();
                (Answer::Number(n), n.to_string())
            }
            ("confirm", yes) => {
                let yes = *yes == Lv::Boolean(true);
                (Answer::Confirm(yes), if yes { "yes" } else { "no" }.into())
            }
            (ask, option) => {
                let choice = one_choice(desk, &mirror, &q, option)?;
                let text = choice.label.to_string();
                (if ask == "choose" { Answer::Choice(choice.id) } else { Answer::Choices(vec![choice.id]) }, text)
            }
        };
        if desk.listening {
            let about = asking.about.map(|about| desk.title(about));
            let (seat, topic) = (asking.seat.clone(), asking.topic.clone());
            desk.tell(Happening::Answered { seat, topic, about, text }, None);
        }
        let by = if by_policy { By::Policy } else { By::Default };
        desk.record(&asking, answer, by, b.before_policy.get());
        desk.may_go_on().map_err(stopped)
    });
    // Only one answer is possible: notes it, for those who name it all the same.
    leaf!(lua, bench, table, "note_auto", |_, b, (ask, q, answer): (String, Table, Lv)| {
        let desk = b.desk()?;
        desk.may_act("asking").map_err(stopped)?;
        let question = question_of(desk, &b.mirror.borrow(), &ask, &q)?;
        let answer = answer_from(desk, &question, &answer)?;
        if desk.listening || desk.explorer.is_some() {
            desk.autos.push((question, answer));
        }
        Ok(())
    });
    leaf!(lua, bench, table, "refuse", |_, b, (topic, reason): (String, Lv)| {
        let desk = b.desk()?;
        desk.may_go_on().map_err(stopped)?;
        let reason = text_arg(desk, &reason, "the reason of a question's check")?;
        Err::<(), _>(stopped(desk.refuse(&topic, &reason)))
    });
    leaf!(lua, bench, table, "stop_if_open", |_, b, (): ()| b.desk()?.stop_if_open().map_err(stopped));
    leaf!(lua, bench, table, "all_answered", |_, b, (): ()| {
        let desk = b.desk()?;
        desk.may_go_on().map_err(stopped)?;
        for happening in b.told_later.borrow_mut().drain(..) {
            desk.tell(happening, None);
        }
        Ok(())
    });
    leaf!(lua, bench, table, "pick", |_, b, n: f64| {
        let desk = b.noted()?;
        desk.may_go_on().map_err(stopped)?;
        if !(1.0..=1_000_000.0).contains(&n) {
            return Err(fault(desk, "rb.pick takes a number from 1 to 1000000"));
        }
        desk.pick(n as u32).map_err(stopped)
    });
    Ok(())
}

fn tell_answer(bench: &Bench, desk: &Desk, question: &Question, answer: &Answer) {
    if desk.listening {
        bench.told_later.borrow_mut().push(Happening::Answered {
            seat: question.seat.clone(),
            topic: question.topic.clone(),
            about: question.about.map(|about| desk.title(about)),
            text: question.tell(answer),
        });
    }
}

fn asking_of(desk: &mut Desk, mirror: &Mirror, q: &Table) -> Result<Asking> {
    let seat: Lv = q.raw_get("seat")?;
    let seat = text_arg(desk, &seat, "the `seat` of a question")?;
    let topic: Lv = q.raw_get("topic")?;
    let topic = text_arg(desk, &topic, "the `topic` of a question")?;
    let about = match q.raw_get::<Lv>("about")? {
        Lv::Nil => None,
        value => Some(entity_arg(desk, mirror, &value, "the `about` of a question")?),
    };
    if !desk.seats.contains_key(&seat) {
        let rules = desk.rules.clone();
        let known: Vec<&str> = rules.seats().keys().map(String::as_str).collect();
        if !known.contains(&&*seat) {
            let message = format!("there is no seat `{seat}`; the manifest has {}", known.join(", "));
            return Err(fault(desk, message));
        }
        desk.seats.insert(seat.clone(), Driver::Human);
    }
    Ok(Asking { seat, topic, about })
}

/// Builds the question that a script asks.
fn question_of(desk: &mut Desk, mirror: &Mirror, ask: &str, q: &Table) -> Result<Question> {
    hold(ASKED)?;
    let asking = asking_of(desk, mirror, q)?;
    let topic = asking.topic.clone();
    let why = match q.raw_get::<Lv>("why")? {
        Lv::Nil => String::new(),
        value => text_arg(desk, &value, "the `why` of a question")?.to_string(),
    };
    let audience = match q.raw_get::<Lv>("audience")? {
        Lv::Nil => None,
        value => Some(text_arg(desk, &value, "the `audience` of a question")?),
    };
    let options = match q.raw_get::<Lv>("options")? {
        Lv::Table(options) => choices(desk, mirror, &options)?,
        Lv::Nil if !matches!(ask, "choose" | "choose_many" | "allot" | "order") => Vec::new(),
        other => {
            let message = format!("the question `{topic}` needs `options`, a list, not {}", other.type_name());
            return Err(fault(desk, message));
        }
    };
    let mut whole = |name: &str, default: Option<i64>| -> Result<i64> {
        let value: Lv = q.raw_get(name)?;
        match (whole_of(&value), default) {
            (Some(n), _) => Ok(n),
            (None, Some(default)) if value.is_nil() => Ok(default),
            _ => {
                let found = told(&value);
                Err(fault(desk, format!("the question `{topic}` needs `{name}`, a whole number, not {found}")))
            }
        }
    };
    let ask = match ask {
        "choose" => {
            let other = matches!(q.raw_get::<Lv>("other")?, Lv::Boolean(true));
            Ask::Choose { options, other }
        }
        "choose_many" => {
            let most = options.len() as i64;
            let min = whole("min", Some(0))?.clamp(0, most);
            let max = whole("max", Some(most))?.clamp(min, most);
            Ask::ChooseMany { options, min: min as usize, max: max as usize }
        }
        "number" => Ask::Number { min: whole("min", None)?, max: whole("max", None)? },
        "allot" => {
            let total = whole("total", None)?;
            Ask::Allot { options, total, least: whole("least", Some(total))?.min(total) }
        }
        "confirm" => Ask::Confirm,
        "order" => Ask::Order { options },
        _ => Ask::Line { max: whole("max", Some(200))?.clamp(1, 2000) as usize },
    };
    let nothing_open = match &ask {
        Ask::Choose { options, other } => !other && !options.iter().any(|option| option.enabled),
        Ask::Number { min, max } => min > max,
        _ => false,
    };
    if nothing_open {
        let greyed: Vec<String> = ask
            .options()
            .iter()
            .map(|option| format!("{}: {}", option.label, option.reason.as_deref().unwrap_or("not open")))
            .collect();
        let message = if greyed.is_empty() {
            format!("the question `{topic}` has no possible answer")
        } else {
            format!("the question `{topic}` has no option that is open ({})", greyed.join("; "))
        };
        return Err(fault(desk, message));
    }
    let mut question = Question {
        id: QuestionId { action: desk.action, ordinal: desk.cursor as u32 },
        seat: asking.seat,
        topic: asking.topic,
        about: asking.about,
        why,
        ask,
        default: None,
        proposes: !matches!(q.raw_get::<Lv>("propose")?, Lv::Boolean(false)),
        audience,
        sealed: matches!(q.raw_get::<Lv>("sealed")?, Lv::Boolean(true)),
    };
    match q.raw_get::<Lv>("default")? {
        Lv::Nil => {
            if let Ask::Order { options } = &question.ask {
                question.default = Some(Answer::Order(options.iter().map(|option| option.id.clone()).collect()));
            }
        }
        value => {
            let default = default_value(desk, mirror, q, &value)?;
            match question.read(&default) {
                Ok(answer) => question.default = Some(answer),
                // What the game master leaves out is nobody's default.
                Err(_) if default.as_text().is_some_and(|name| desk.state.left_out().contains(name)) => {}
                Err(refusal) => {
                    let message = format!("the default of the question `{}` does not fit: {refusal}", question.topic);
                    return Err(fault(desk, message));
                }
            }
        }
    }
    Ok(question)
}

/// A default is given as an answer: option ids, values of options, numbers.
fn default_value(desk: &mut Desk, mirror: &Mirror, q: &Table, value: &Lv) -> Result<Value> {
    if let Lv::Table(options) = q.raw_get::<Lv>("options")? {
        let mut id_of = |one: &Lv| -> Result<Option<Value>> {
            for at in 1..=options.raw_len() {
                let option: Lv = options.raw_get(at)?;
                let own = match &option {
                    Lv::Table(table) if mirror.id_of(table).is_none() => table.raw_get::<Lv>("value")?,
                    _ => option.clone(),
                };
                if !own.is_nil() && own == *one {
                    let choices = choices(desk, mirror, &options)?;
                    return Ok(choices.get(at - 1).map(|choice| Value::Text(choice.id.clone())));
                }
            }
            Ok(None)
        };
        if let Some(found) = id_of(value)? {
            return Ok(found);
        }
        if let Lv::Table(list) = value
            && mirror.id_of(list).is_none()
            && list.raw_len() > 0
        {
            let mut ids = Vec::new();
            for at in 1..=list.raw_len() {
                let one: Lv = list.raw_get(at)?;
                ids.push(match id_of(&one)? {
                    Some(found) => found,
                    None => from_lua(&one, mirror)?,
                });
            }
            return Ok(Value::List(ids.into()));
        }
    }
    from_lua(value, mirror)
}

fn choices(desk: &mut Desk, mirror: &Mirror, options: &Table) -> Result<Vec<Choice>> {
    let mut made: Vec<(Choice, Option<EntityId>)> = Vec::new();
    let count = number_of(desk, options)?;
    for at in 1..=count {
        made.push(choice_at(desk, mirror, &options.raw_get(at)?, at)?);
    }
    Desk::settle_ids(&mut made);
    for at in 0..made.len() {
        if made[..at].iter().any(|(other, _)| other.id == made[at].0.id) {
            let message = format!("two options have the id `{}`", made[at].0.id);
            return Err(fault(desk, message));
        }
    }
    Ok(made.into_iter().map(|(choice, _)| choice).collect())
}

/// Most options of a question.
const MOST_OPTIONS: usize = 1_000;

/// How many options a list has, each of which is compared with each.
fn number_of(desk: &mut Desk, options: &Table) -> Result<usize> {
    let count = options.raw_len();
    if count > MOST_OPTIONS {
        return Err(fault(desk, format!("a question has at most {MOST_OPTIONS} options, and here are {count}")));
    }
    charge((count + count * count / 256) as i64);
    hold(count * OPTION)?;
    Ok(count)
}

/// One option: what it is, and the entity that it stands for if that gives it its id.
fn choice_at(desk: &mut Desk, mirror: &Mirror, option: &Lv, at: usize) -> Result<(Choice, Option<EntityId>)> {
    let plain =
        |text: Arc<str>| Choice { id: text.clone(), label: text, enabled: true, reason: None, note: None, max: None };
    match option {
        Lv::String(text) => Ok((plain(text_of(text)?), None)),
        Lv::Table(table) => match mirror.id_of(table) {
            Some(id) => Ok((plain(desk.title(id)), Some(id))),
            None => choice_of(desk, mirror, table, at),
        },
        other => {
            let message = format!("option {at} is {}; an option is an entity, a text or a table", other.type_name());
            Err(fault(desk, message))
        }
    }
}

/// The chosen option alone, with the id that it has among all options of the question.
fn one_choice(desk: &mut Desk, mirror: &Mirror, q: &Table, option: &Lv) -> Result<Choice> {
    let (choice, entity) = choice_at(desk, mirror, option, 1)?;
    let (Some(_), Lv::Table(options)) = (entity, q.raw_get::<Lv>("options")?) else { return Ok(choice) };
    // An entity's id is its title, unless another option has the same.
    let mut made = vec![(choice, entity)];
    for at in 1..=number_of(desk, &options)? {
        let other: Lv = options.raw_get(at)?;
        let (label, another) = choice_at(desk, mirror, &other, at)?;
        if another != entity {
            made.push((label, another));
        }
    }
    Desk::settle_ids(&mut made);
    Ok(made.swap_remove(0).0)
}

fn choice_of(desk: &mut Desk, mirror: &Mirror, table: &Table, at: usize) -> Result<(Choice, Option<EntityId>)> {
    let text = |desk: &mut Desk, name: &str| -> Result<Option<Arc<str>>> {
        match table.raw_get::<Lv>(name)? {
            Lv::Nil => Ok(None),
            value => text_arg(desk, &value, &format!("`{name}` of option {at}")).map(Some),
        }
    };
    let entity = match table.raw_get::<Lv>("value")? {
        Lv::Table(value) => mirror.id_of(&value),
        _ => None,
    };
    let label = text(desk, "label")?;
    let id = text(desk, "id")?;
    let named = id.is_some();
    let title = entity.map(|entity| desk.title(entity));
    let Some(id) = id.or_else(|| title.clone()).or_else(|| label.clone()) else {
        return Err(fault(desk, format!("option {at} needs an `id`")));
    };
    let reason = match table.raw_get::<Lv>("reason")? {
        Lv::Nil => None,
        Lv::String(template) => {
            let template = text_of(&template)?;
            let args: Vec<Lv> = match table.raw_get::<Lv>("reason_args")? {
                Lv::Table(args) => args.sequence_values().take(MOST_NAMED).collect::<Result<_>>()?,
                _ => Vec::new(),
            };
            Some(fill(&template, &args, desk, mirror))
        }
        other => return Err(fault(desk, format!("`reason` of option {at} must be a text, not {}", other.type_name()))),
    };
    let max = whole_of(&table.raw_get::<Lv>("max")?);
    let choice = Choice {
        label: label.or(title).unwrap_or_else(|| id.clone()),
        id,
        enabled: !matches!(table.raw_get::<Lv>("enabled")?, Lv::Boolean(false)),
        reason,
        note: text(desk, "note")?.map(|note| note.to_string()),
        max,
    };
    Ok((choice, entity.filter(|_| !named)))
}

/// An answer as the prelude wants it: places among the options, numbers, texts.
fn places(lua: &Lua, question: &Question, answer: &Answer) -> Result<Lv> {
    let options = question.ask.options();
    let place = |id: &Arc<str>| options.iter().position(|option| option.id == *id).map(|at| at + 1);
    let list = |ids: &[Arc<str>]| lua.create_sequence_from(ids.iter().filter_map(place)).map(Lv::Table);
    Ok(match answer {
        Answer::Choice(id) => match place(id) {
            Some(at) => Lv::Number(at as f64),
            None => Lv::String(lua.create_string(&**id)?),
        },
        Answer::Choices(ids) => {
            // In the options' order, however they were named.
            let mut at: Vec<usize> = ids.iter().filter_map(place).collect();
            at.sort_unstable();
            Lv::Table(lua.create_sequence_from(at)?)
        }
        Answer::Order(ids) => list(ids)?,
        Answer::Number(n) => Lv::Number(*n as f64),
        Answer::Allotment(parts) => {
            let points = options
                .iter()
                .map(|option| parts.iter().find(|(id, _)| *id == option.id).map_or(0, |(_, points)| *points));
            Lv::Table(lua.create_sequence_from(points)?)
        }
        Answer::Confirm(yes) => Lv::Boolean(*yes),
        Answer::Line(line) => Lv::String(lua.create_string(line)?),
        Answer::Faces(faces) => Lv::Table(lua.create_sequence_from(faces.iter().copied())?),
    })
}

/// A policy's answer, given in places among the options.
fn answer_from(desk: &mut Desk, question: &Question, value: &Lv) -> Result<Answer> {
    let options = question.ask.options();
    let id_at = |value: &Lv| {
        let at = usize::try_from(whole_of(value)?).ok()?.checked_sub(1)?;
        options.get(at).map(|option| option.id.clone())
    };
    let items = |value: &Lv| -> Option<Vec<Lv>> {
        let Lv::Table(table) = value else { return None };
        table.sequence_values::<Lv>().take(MOST_OPTIONS + 1).collect::<Result<_>>().ok()
    };
    let answer = match &question.ask {
        Ask::Choose { other, .. } => match value {
            Lv::String(text) if *other => Some(Answer::Choice(text_of(text)?)),
            value => id_at(value).map(Answer::Choice),
        },
        Ask::ChooseMany { .. } => {
            items(value).and_then(|items| items.iter().map(id_at).collect::<Option<_>>()).map(Answer::Choices)
        }
        Ask::Order { .. } => {
            items(value).and_then(|items| items.iter().map(id_at).collect::<Option<_>>()).map(Answer::Order)
        }
        Ask::Number { .. } => whole_of(value).map(Answer::Number),
        Ask::Allot { .. } => items(value).and_then(|items| {
            let points: Option<Vec<i64>> = items.iter().map(whole_of).collect();
            let points = points?;
            (points.len() <= options.len()).then(|| {
                let named = options.iter().map(|option| option.id.clone()).zip(points);
                Answer::Allotment(named.filter(|(_, points)| *points != 0).collect())
            })
        }),
        Ask::Confirm => match value {
            Lv::Boolean(yes) => Some(Answer::Confirm(*yes)),
            _ => None,
        },
        Ask::Line { .. } => match value {
            Lv::String(text) => Some(Answer::Line(text_of(text)?.to_string())),
            _ => None,
        },
        Ask::Dice { .. } => None,
    };
    answer.ok_or_else(|| {
        let message = format!(
            "the policy answered `{}` with {}; wanted: {}",
            question.topic,
            value.type_name(),
            question.ask.wanted()
        );
        fault(desk, message)
    })
}

fn dice(lua: &Lua, bench: &Rc<Bench>, table: &Table) -> Result<()> {
    leaf!(lua, bench, table, "roll", |_, b, (dice, kind, need, label, args): (LuaString, u8, Lv, Lv, Variadic<Lv>)| {
        let desk = b.noted()?;
        let sight = match kind {
            0 => Sight::Total,
            BAND if desk.explorer.is_some() => Sight::Cuts(cuts_of(desk, &need)?),
            BAND => Sight::Total,
            _ => Sight::Need,
        };
        let need = match (kind, &need) {
            (0 | BAND, _) => Need::Nothing,
            (kind, value) => match (kind, whole_of(value)) {
                (kind, Some(n)) => need_of(kind, n).unwrap_or(Need::Nothing),
                (_, None) => {
                    let message = format!("the number that is needed must be whole, not {}", told(value));
                    return Err(fault(desk, message));
                }
            },
        };
        roll(b, desk, &dice, need, sight, &label, &args).map(|roll| roll.total())
    });
    leaf!(lua, bench, table, "simple", |lua, b, dice: LuaString| {
        let desk = b.noted()?;
        match b.parsed(&text_of(&dice)?) {
            Ok(parsed) => match parsed.simple() {
                Some((count, sides, plus)) if sides > 0 => {
                    let known = lua.create_table()?;
                    known.raw_set("count", count)?;
                    known.raw_set("sides", sides)?;
                    known.raw_set("plus", plus)?;
                    Ok(Lv::Table(known))
                }
                _ => Ok(Lv::Boolean(false)),
            },
            Err(message) => Err(fault(desk, message)),
        }
    });
    for (name, in_order) in [("faces", false), ("ordered_faces", true)] {
        let sight = if in_order { Sight::Ordered } else { Sight::Faces };
        leaf!(lua, bench, table, name, |lua, b, (dice, label, args): (LuaString, Lv, Variadic<Lv>)| {
            let desk = b.noted()?;
            let roll = roll(b, desk, &dice, Need::Nothing, sight.clone(), &label, &args)?;
            let faces = lua.create_sequence_from(roll.kept(in_order))?;
            faces.set_readonly(true);
            Ok(faces)
        });
    }
    leaf!(lua, bench, table, "begin_again", |_, b, (): ()| b.noted()?.begin_again().map_err(stopped));
    leaf!(lua, bench, table, "roll_again", |_, b, (): ()| b.noted()?.roll_again().map_err(stopped));
    Ok(())
}

/// The prelude's number for a roll of which only the cuts that it reaches are seen.
const BAND: u8 = 4;

/// What a roll needs, by the prelude's number for it.
pub(super) fn need_of(kind: u8, n: i64) -> Option<Need> {
    match kind {
        0 => Some(Need::Nothing),
        1 => Some(Need::Under(n)),
        2 => Some(Need::AtMost(n)),
        3 => Some(Need::AtLeast(n)),
        _ => None,
    }
}

fn cuts_of(desk: &mut Desk, cuts: &Lv) -> Result<Vec<i64>> {
    let Lv::Table(list) = cuts else {
        return Err(fault(desk, format!("rb.band takes a list of cuts, not {}", told(cuts))));
    };
    if list.raw_len() > MOST_OPTIONS {
        return Err(fault(desk, format!("rb.band takes at most {MOST_OPTIONS} cuts")));
    }
    list.sequence_values::<Lv>()
        .map(|cut| {
            let cut = cut?;
            whole_of(&cut)
                .ok_or_else(|| fault(desk, format!("a cut of rb.band must be a whole number, not {}", told(&cut))))
        })
        .collect()
}

fn roll(
    bench: &Bench,
    desk: &mut Desk,
    dice: &LuaString,
    need: Need,
    sight: Sight,
    label: &Lv,
    args: &[Lv],
) -> Result<Roll> {
    let text = text_of(dice)?;
    let parsed = match bench.parsed(&text) {
        Ok(parsed) => parsed,
        Err(message) => return Err(fault(desk, message)),
    };
    let label = match label {
        Lv::Nil => bench.label(&text),
        value => bench.label(&text_arg(desk, value, "the label of a roll")?),
    };
    let rolled = desk.roll(&parsed, &label, need, sight, |desk| fill(&label, args, desk, &bench.mirror.borrow()));
    let rolled = rolled.map_err(stopped)?;
    let count = rolled.faces().len();
    charge(16 + count as i64 / 4);
    if desk.keeps_tape {
        hold(TOLD + count * DIE)?;
    }
    Ok(rolled)
}

fn key_of(desk: &mut Desk, value: &Lv) -> Result<Key> {
    let places = match value {
        Lv::Table(list) => {
            let items: Vec<Lv> = list.sequence_values().take(Key::PLACES + 1).collect::<Result<_>>()?;
            items.iter().map(whole_of).collect::<Option<Vec<i64>>>()
        }
        value => whole_of(value).map(|n| vec![n]),
    };
    match places.map(|places| Key::new(&places)) {
        Some(Ok(key)) => Ok(key),
        Some(Err(error)) => Err(fault(desk, error.to_string())),
        None => Err(fault(desk, "a key is a whole number or a list of them")),
    }
}

/// Reads a key that a ruleset's function worked out.
pub(super) fn read_key(desk: &mut Desk, value: &Lv) -> Result<Key> {
    key_of(desk, value)
}

fn agenda(lua: &Lua, bench: &Rc<Bench>, table: &Table) -> Result<()> {
    leaf!(lua, bench, table, "sees_time", |_, b, (): ()| {
        b.noted()?.sees_time = true;
        Ok(())
    });
    leaf!(lua, bench, table, "schedule", |_, b, (what, key, owner, args): (Lv, Lv, Lv, Lv)| {
        schedule(b, &what, &key, None, &owner, &args)
    });
    leaf!(lua, bench, table, "recur", |_, b, (what, key, step, owner, args): (Lv, Lv, Lv, Lv, Lv)| {
        schedule(b, &what, &key, Some(&step), &owner, &args)
    });
    leaf!(lua, bench, table, "cancel", |_, b, id: u32| {
        let desk = b.desk()?;
        desk.sees_time = true;
        desk.may_act("changing the agenda").map_err(stopped)?;
        hold(TOLD)?;
        Ok(desk.state.unschedule(EntryId(id)).is_some())
    });
    leaf!(lua, bench, table, "rekey", |_, b, (id, key): (u32, Lv)| {
        let desk = b.desk()?;
        desk.sees_time = true;
        desk.may_act("changing the agenda").map_err(stopped)?;
        let key = key_of(desk, &key)?;
        hold(TOLD)?;
        Ok(desk.state.rekey(EntryId(id), key))
    });
    leaf!(lua, bench, table, "agenda", |lua, b, filter: Option<Table>| {
        let desk = b.desk()?;
        desk.sees_time = true;
        desk.may_go_on().map_err(stopped)?;
        let mirror = b.mirror.borrow();
        let (mut what, mut owner) = (None, None);
        if let Some(filter) = filter {
            for pair in filter.pairs::<String, Lv>() {
                match pair? {
                    (name, value) if name == "what" => what = Some(text_arg(desk, &value, "`what`")?),
                    (name, value) if name == "owner" => {
                        owner = Some(entity_arg(desk, &mirror, &value, "`owner`")?);
                    }
                    (name, _) => return Err(fault(desk, format!("rb.agenda knows `what` and `owner`, not `{name}`"))),
                }
            }
        }
        let list = lua.create_table()?;
        charge(desk.state.agenda().entries().len() as i64);
        for entry in desk.state.agenda().entries() {
            if what.as_ref().is_some_and(|what| *what != entry.what)
                || owner.is_some_and(|owner| entry.owner != Some(owner))
            {
                continue;
            }
            list.raw_push(entry_table(lua, entry, &mirror)?)?;
        }
        list.set_readonly(true);
        Ok(list)
    });
    Ok(())
}

/// An agenda entry as a script sees it.
pub(super) fn entry_table(lua: &Lua, entry: &crate::state::Entry, mirror: &Mirror) -> Result<Table> {
    let row = lua.create_table()?;
    row.raw_set("id", entry.id.0)?;
    row.raw_set("key", lua.create_sequence_from(entry.key.places().iter().copied())?)?;
    row.raw_set("what", &*entry.what)?;
    row.raw_set("owner", entry.owner.and_then(|owner| mirror.handle(owner)))?;
    row.raw_set("args", to_lua(lua, &entry.args, mirror)?)?;
    row.set_readonly(true);
    Ok(row)
}

fn schedule(bench: &Bench, what: &Lv, key: &Lv, step: Option<&Lv>, owner: &Lv, args: &Lv) -> Result<u32> {
    let desk = bench.noted()?;
    desk.sees_time = true;
    desk.may_act("changing the agenda").map_err(stopped)?;
    let mirror = bench.mirror.borrow();
    let name = text_arg(desk, what, "the name of an entry")?;
    let Some(what) = bench.entry_named(&name) else {
        let entries = bench.entries.borrow();
        let message = match nearest(&name, entries.iter().map(|entry| &**entry)) {
            Some(near) => format!("there is no entry `{name}` in play.luau; did you mean `{near}`?"),
            None => format!("there is no entry `{name}` in play.luau; there are {}", entries.join(", ")),
        };
        return Err(fault(desk, message));
    };
    let key = key_of(desk, key)?;
    let step = match step {
        Some(step) => Some(key_of(desk, step)?),
        None => None,
    };
    let owner = match owner {
        Lv::Nil => None,
        owner => Some(entity_arg(desk, &mirror, owner, "the owner of an entry")?),
    };
    let args = match from_lua(args, &mirror) {
        Ok(args) => args,
        Err(error) => return Err(fault(desk, format!("the arguments of the entry `{what}`: {}", plain(&error)))),
    };
    if desk.state.agenda().entries().len() >= MOST_ENTRIES {
        return Err(fault(desk, format!("the agenda holds at most {MOST_ENTRIES} entries")));
    }
    charge(16);
    hold(TOLD)?;
    Ok(desk.schedule(what, key, owner, args, step).0)
}

fn telling(lua: &Lua, bench: &Rc<Bench>, table: &Table) -> Result<()> {
    leaf!(lua, bench, table, "say", |_, b, (audience, text, args): (Lv, Lv, Variadic<Lv>)| {
        let desk = b.desk()?;
        desk.may_act("saying something").map_err(stopped)?;
        if !desk.listening {
            return Ok(());
        }
        if desk.events.len() > 10_000 {
            return Err(fault(desk, "one action tells at most 10000 things"));
        }
        let template = text_arg(desk, &text, "what is said")?;
        let audience = match &audience {
            Lv::Nil => None,
            audience => Some(text_arg(desk, audience, "the audience")?),
        };
        let text = fill(&template, &args, desk, &b.mirror.borrow());
        hold(TOLD + text.len())?;
        desk.tell(Happening::Said { text }, audience);
        Ok(())
    });
    leaf!(lua, bench, table, "cut", |_, b, (reason, args): (Lv, Variadic<Lv>)| {
        let desk = b.desk()?;
        desk.may_act("ending the action").map_err(stopped)?;
        let reason = text_arg(desk, &reason, "the reason of rb.cut")?;
        let reason = fill(&reason, &args, desk, &b.mirror.borrow());
        desk.stop = Some(Stop::Cut(reason.clone()));
        Err::<(), _>(stopped(Stop::Cut(reason)))
    });
    leaf!(lua, bench, table, "finish", |_, b, (text, args): (Lv, Variadic<Lv>)| {
        let desk = b.noted()?;
        desk.may_act("ending the game").map_err(stopped)?;
        let text = text_arg(desk, &text, "the outcome")?;
        // What an entity is called is read from its fields.
        if args.iter().any(Lv::is_table) {
            desk.spoil();
        }
        let text = fill(&text, &args, desk, &b.mirror.borrow());
        if let Some(rote) = &mut desk.rote {
            rote.finished(&text);
        }
        desk.state.finish(text);
        Ok(())
    });
    leaf!(lua, bench, table, "term", |_, b, (label, value, path, line, depth): (String, Lv, String, u32, u32)| {
        let desk = b.desk()?;
        let value = match from_lua(&value, &b.mirror.borrow()) {
            Ok(value) => desk.words(&value),
            Err(_) => "?".into(),
        };
        hold(TOLD + label.len() + value.len())?;
        b.terms.borrow_mut().push(Term { label, value, path: path.trim_start_matches('=').to_string(), line, depth });
        Ok(())
    });
    Ok(())
}
