use std::rc::Rc;

use mlua::{Error, Lua, Result, Table, Value as Lv};

use super::super::account::charge;
use super::super::budget::hold;
use super::super::conversion::{from_lua, kept_name, name_of};
use super::super::handles::{Handles, Tombstone};
use super::super::memory::limited;
use super::arguments::{string_arg, text_arg};
use super::cost::{CHANGE, TOLD};
use super::messages::no_member;
use super::refusal::{fault, plain, stopped};
use super::state::{HostState, host_function};
use riskbreaker_play::{ActionContext, Op};
use riskbreaker_ruleset::instead;
use riskbreaker_state::{EntityId, FEW_ENTITIES, FieldId, KindId, Value};

pub(super) fn add(lua: &Lua, host: &Rc<HostState>, table: &Table) -> Result<()> {
    // set(handle, kind of its class, index of the field, value, reason): for tables, and for changes with a reason
    host_function!(lua, host, table, "set", |_, b, (handle, kind, at, value, why): (Table, u16, u16, Lv, Lv)| {
        let context = b.context()?;
        let why = match &why {
            Lv::Nil => None,
            why => Some(text_arg(context, why, "the reason of a change")?),
        };
        let mut handles = b.handles.borrow_mut();
        let id = handles.id_of(&handle);
        let field = FieldId(at);
        check_target(context, id, kind, field).map_err(stopped)?;
        let Some(id) = id else { return Ok(()) };
        let rules = context.rules.clone();
        let declared = rules.schema().kinds[kind as usize].field(field);
        let value = match from_lua(&value, &handles) {
            Ok(value) => declared.ty.settle(value),
            Err(error) => {
                let title = context.title(id);
                return Err(fault(context, format!("the field `{}` of {title}: {}", declared.name, plain(&error))));
            }
        };
        hold_change()?;
        context.write(id, field, value, None, why).map_err(stopped)?;
        handles.forget_field(rules.schema(), id, field)
    });
    // Returns a field whose value is a table.
    host_function!(lua, host, table, "read_field", |lua, b, (handle, at): (Table, u16)| {
        let context = b.context()?;
        let mut handles = b.handles.borrow_mut();
        let Some(id) = handles.id_of(&handle) else { return Ok(Lv::Nil) };
        match context.read(id, FieldId(at)) {
            // Not charged, since it depends on earlier calls whether the handle stores the table already.
            Some(value) => limited(false, || handles.table_of(lua, id, FieldId(at), value)),
            None => Ok(Lv::Nil),
        }
    });
    // Returns a table of all fields, for operations on whole entities.
    host_function!(lua, host, table, "whole", |lua, b, handle: Table| {
        let handles = b.handles.borrow();
        let Some(id) = handles.id_of(&handle) else { return Ok(None) };
        let context = b.context()?;
        let count = context.shown().entity(id).map_or(0, |entity| entity.fields.len());
        for at in 0..count {
            context.read(id, FieldId(at as u16));
        }
        context.observers.observe(&Op::ReadId { entity: id, state: &context.state });
        let Some(entity) = context.shown().entity(id) else { return Ok(None) };
        handles.whole(lua, context.rules.schema(), id, entity).map(Some)
    });
    host_function!(lua, host, table, "catch_up", |_, b, (): ()| {
        let context = b.context()?;
        b.handles.borrow_mut().sync(&mut context.state).map(|_| ())
    });
    host_function!(lua, host, table, "exists", |_, b, handle: Table| {
        let context = b.context()?;
        context.may_go_on().map_err(stopped)?;
        let Some(id) = b.handles.borrow().id_of(&handle) else { return Ok(false) };
        context.observers.observe(&Op::ReadExists { entity: id });
        Ok(context.shown().entity(id).is_some())
    });
    // Refuses an unknown kind in a query for its entities.
    host_function!(lua, host, table, "unknown_kind", |_, b, kind: Lv| {
        kind_arg(b.context()?, &kind, "the name of a kind").map(|_| ())
    });
    host_function!(lua, host, table, "spawn", |_, b, (kind, fields): (Lv, Lv)| {
        let context = b.context()?;
        let mut handles = b.handles.borrow_mut();
        let kind = kind_arg(context, &kind, "the kind of a new entity")?;
        let given = read_fields(context, &handles, kind, &fields, "rb.spawn")?;
        new_entity(context, &mut handles, kind, given)
    });
    // remove(entity): returns true if something was attached to it, or is attached with data that contain it
    host_function!(lua, host, table, "remove", |lua, b, handle: Lv| {
        let context = b.context()?;
        let mut handles = b.handles.borrow_mut();
        let id = entity_arg(context, &handles, &handle, "rb.remove")?;
        take_away(lua, context, &mut handles, id)
    });
    // Refuses to write an unknown field.
    host_function!(lua, host, table, "no_field", |_, b, (kind, name): (String, Lv)| {
        let context = b.context()?;
        let name = text_arg(context, &name, "the name of a field")?;
        let message = no_member(context, &kind, &name);
        Err::<(), _>(fault(context, message))
    });
    Ok(())
}

/// Checks that a handle's field can be written.
pub(super) fn check_target(
    context: &mut ActionContext,
    id: Option<EntityId>,
    kind: u16,
    field: FieldId,
) -> std::result::Result<(), riskbreaker_play::Stop> {
    context.may_act("writing a field")?;
    let found = id.and_then(|id| context.state.entity(id)).map(|entity| entity.kind);
    let declared = |kind: KindId| context.rules.schema().kinds.get(kind.0 as usize);
    if found == Some(KindId(kind)) && declared(KindId(kind)).is_some_and(|kind| (field.0 as usize) < kind.fields.len())
    {
        return Ok(());
    }
    let rules = context.rules.clone();
    let schema = rules.schema();
    let Some(wanted) = schema.kinds.get(kind as usize) else { return Err(context.fault("there is no such kind")) };
    let name = wanted.fields.get(field.0 as usize).map_or("", |field| &*field.name);
    match found {
        Some(found) => {
            let found = &schema.kind(found).name;
            let message = format!("`{name}` is a field of a {}, and this is a {found}", wanted.name);
            Err(context.fault_with(message, Some("call `set` and `add` on the entity that is written".into())))
        }
        None => Err(context
            .fault(format!("the field `{name}` is written to what is no entity, or to one that has been taken away"))),
    }
}

pub(super) fn no_kind(context: &mut ActionContext, name: &str) -> Error {
    let rules = context.rules.clone();
    let kinds = rules.schema().kinds.iter().map(|kind| &*kind.name);
    fault(context, format!("there is no kind `{name}`; {}", instead(name, kinds)))
}

pub(crate) fn entity_arg(context: &mut ActionContext, handles: &Handles, value: &Lv, what: &str) -> Result<EntityId> {
    handles.entity_in(value).ok_or_else(|| {
        let found = match value {
            Lv::Table(_) => "a table or an entity that has been taken away",
            other => other.type_name(),
        };
        fault(context, format!("{what} takes an entity that is there, not {found}"))
    })
}

/// Charges the memory of a change on the host: a journal entry and an event. Charged even if events have no readers, so
/// that the limit is equal in all games.
pub(super) fn hold_change() -> Result<()> {
    hold(CHANGE + TOLD)
}

/// The kind with this name.
pub(super) fn kind_arg(context: &mut ActionContext, kind: &Lv, what: &str) -> Result<KindId> {
    let name = name_of(string_arg(context, kind, what)?)?;
    match context.rules.schema().kind_named(&name) {
        Some(kind) => Ok(kind),
        None => Err(no_kind(context, &name)),
    }
}

/// Removes an entity with everything that belongs to it; handles of removed entities keep their last values. Returns
/// true if a removed entity has an attachment or occurs in the data of one, since hooks must not get such data any
/// more.
pub(super) fn take_away(lua: &Lua, context: &mut ActionContext, handles: &mut Handles, id: EntityId) -> Result<bool> {
    let rules = context.rules.clone();
    let gone = context.relations_of(id).into_iter().chain([id]);
    charge_lists(context);
    let last: Vec<_> = gone
        .inspect(|_| charge(64))
        .filter_map(|id| Some((Tombstone { id, title: context.title(id) }, context.state.entity(id)?.clone())))
        .collect();
    if context.notes_reads() {
        // Scripts read the last values on the handles without asking the host.
        for (stone, entity) in &last {
            for at in 0..entity.fields.len() {
                context.read(stone.id, FieldId(at as u16));
            }
        }
    }
    let is_gone = |named: EntityId| last.iter().any(|(gone, _)| gone.id == named);
    let mut attachments = context.state.attachments().values();
    let changes_hooks = attachments.any(|one| is_gone(one.owner) || one.data.any_entity(&is_gone));
    let touched = context.remove(id).map_err(stopped)?;
    handles.attachments_change();
    for (stone, last) in last {
        handles.leave_tombstone(lua, rules.schema(), stone, &last)?;
    }
    for (other, field) in touched {
        handles.forget_field(rules.schema(), other, field)?;
    }
    Ok(changes_hooks)
}

/// Reads values for fields of a kind from a table, in the order of the fields, so that a fault always names the first
/// one.
pub(super) fn read_fields(
    context: &mut ActionContext,
    handles: &Handles,
    kind: KindId,
    fields: &Lv,
    what: &str,
) -> Result<Vec<(FieldId, Value)>> {
    let rules = context.rules.clone();
    let declared = rules.schema().kind(kind);
    let name = &declared.name;
    let given = match fields {
        Lv::Table(given) if handles.id_of(given).is_none() => given,
        other => {
            let found = if let Lv::Table(_) = other { "an entity" } else { other.type_name() };
            return Err(fault(context, format!("{what} takes a table of fields, not {found}")));
        }
    };
    let mut values: Vec<(FieldId, Value)> = Vec::new();
    given.for_each(|key: Lv, value: Lv| {
        let key = string_arg(context, &key, "the name of a field")?;
        let key = kept_name(key)?;
        let Some(field) = declared.field_named(&key) else {
            let message = no_member(context, name, &key);
            return Err(fault(context, message));
        };
        let value = match from_lua(&value, handles) {
            Ok(value) => declared.field(field).ty.settle(value),
            Err(error) => return Err(fault(context, format!("the field `{}` of a {name}: {}", &*key, plain(&error)))),
        };
        values.push((field, value));
        Ok(())
    })?;
    values.sort_by_key(|(field, _)| *field);
    Ok(values)
}

/// Charges rebuilding the lists by kind after entities were added or removed.
fn charge_lists(context: &ActionContext) {
    charge(i64::from(context.state.ids().saturating_sub(FEW_ENTITIES)) / 32);
}

/// Creates an entity and its handle.
pub(super) fn new_entity(
    context: &mut ActionContext,
    handles: &mut Handles,
    kind: KindId,
    given: Vec<(FieldId, Value)>,
) -> Result<Table> {
    let rules = context.rules.clone();
    charge(128);
    charge_lists(context);
    hold(TOLD + rules.schema().kind(kind).fields.len() * CHANGE)?;
    let id = context.spawn(kind, given).map_err(stopped)?;
    handles.make(id, kind)
}
