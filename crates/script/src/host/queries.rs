//! Queries for entities by field values, as plain C functions of the engine, since rules use them all the time.

use std::os::raw::c_int;

use mlua::{Lua, Result, Table, ffi, lua_State};

use super::super::account::charge;
use super::super::memory::limited;
use super::entities::no_kind;
use super::messages::no_member;
use super::raw::{add_functions, pop, push_handle, push_handles, raise, text, type_name};
use super::refusal::{NO_GAME, fault, message_of, plain, stopped};
use super::stack::{hold_text, value_at};
use super::state::{HostState, is_handle, lent};
use riskbreaker_play::{ActionContext, Op, Query, Sought};
use riskbreaker_ruleset::instead_of_value;
use riskbreaker_state::{EntityId, Field, FieldId, KindId, Type, Value};

pub(super) fn add(lua: &Lua, table: &Table) -> Result<()> {
    // SAFETY: both follow the engine's rules for C functions, see below.
    unsafe { add_functions(lua, table, &[("holding", holding), ("lister", lister)]) }
}

/// `lister(refusal)`: returns the `__index` function of the lists by kind, see `list`.
unsafe extern "C-unwind" fn lister(state: *mut lua_State) -> c_int {
    // SAFETY: the prelude gives a function.
    unsafe {
        ffi::lua_pushcclosure(state, list, 1);
        1
    }
}

/// `list(lists by kind, kind)`: creates and stores the list of the entities of a kind. Not charged, since it depends on
/// earlier calls whether the list exists; changes of the entities are charged instead. Has the function that refuses an
/// unknown kind as an upvalue.
unsafe extern "C-unwind" fn list(state: *mut lua_State) -> c_int {
    // SAFETY: the engine gives the table and a key. No value here has a destructor when the engine raises an error,
    // except the guard that restores the limits.
    unsafe {
        ffi::lua_settop(state, 2);
        let kind = match kind_of_list(state) {
            Ok(Some(kind)) => kind,
            Ok(None) => {
                ffi::lua_pushvalue(state, ffi::lua_upvalueindex(1));
                ffi::lua_pushvalue(state, 2);
                ffi::lua_call(state, 1, 1);
                return 1;
            }
            Err(message) => return raise(state, message),
        };
        let Some((_, context)) = lent(state) else { return 0 };
        context.observers.observe(&Op::ReadPopulation { query: Query::Kind(kind), state: &context.state });
        let entities = || context.shown().entities().filter(|(_, entity)| entity.kind == kind);
        push_handles(state);
        limited(false, || {
            ffi::lua_createtable(state, entities().count() as c_int, 0);
            let mut count = 0;
            for (id, _) in entities() {
                if ffi::lua_rawgeti(state, 3, ffi::lua_Integer::from(id.0)) == ffi::LUA_TNIL {
                    pop(state, 1);
                } else {
                    count += 1;
                    ffi::lua_rawseti(state, 4, count);
                }
            }
            ffi::lua_setreadonly(state, 4, 1);
            ffi::lua_pushvalue(state, 2);
            ffi::lua_pushvalue(state, 4);
            ffi::lua_rawset(state, 1);
        });
        1
    }
}

/// The kind of the requested list. `None` if there is no such kind.
unsafe fn kind_of_list(state: *mut lua_State) -> std::result::Result<Option<KindId>, String> {
    let Some((host, context)) = lent(state) else { return Err(NO_GAME.into()) };
    context.may_go_on().map_err(|stop| message_of(&stop).to_string())?;
    Ok(unsafe { host.names.kind_at(state, 2, context.rules.schema()) })
}

/// `holding(kind, fields, whether the first suffices)`: returns the entities of a kind with these field values, or the
/// first.
unsafe extern "C-unwind" fn holding(state: *mut lua_State) -> c_int {
    // SAFETY: the prelude gives three arguments, whose types are checked before use.
    unsafe {
        match found(state) {
            Ok(found) => push_found(state, &found),
            Err(message) => return raise(state, message),
        }
        1
    }
}

/// Charges the entities that a query has searched.
pub(super) fn charge_query(context: &mut ActionContext) {
    charge(std::mem::take(&mut context.run.searched) as i64 / 2);
}

unsafe fn is_first(state: *mut lua_State) -> bool {
    unsafe { ffi::lua_toboolean(state, 3) != 0 }
}

unsafe fn push_found(state: *mut lua_State, found: &[EntityId]) {
    unsafe {
        if !is_first(state) {
            return push_list(state, found);
        }
        charge(found.len().min(1) as i64 / 4 + 4);
        match found.first() {
            Some(id) => push_handle(state, *id),
            None => ffi::lua_pushnil(state),
        }
    }
}

/// Pushes a frozen list of entities, and charges it.
pub(super) unsafe fn push_list(state: *mut lua_State, found: &[EntityId]) {
    unsafe {
        charge(found.len() as i64 / 4 + 4);
        push_handles(state);
        let handles = ffi::lua_gettop(state);
        ffi::lua_createtable(state, found.len() as c_int, 0);
        for (at, id) in (1..).zip(found) {
            ffi::lua_rawgeti(state, handles, ffi::lua_Integer::from(id.0));
            ffi::lua_rawseti(state, handles + 1, at);
        }
        ffi::lua_setreadonly(state, handles + 1, 1);
    }
}

unsafe fn found(state: *mut lua_State) -> std::result::Result<Vec<EntityId>, String> {
    let Some((host, context)) = lent(state) else { return Err(NO_GAME.into()) };
    context.may_go_on().map_err(|stop| message_of(&stop).to_string())?;
    unsafe {
        let what = if is_first(state) { "rb.first" } else { "rb.each" };
        let Some(kind) = host.names.kind_at(state, 1, context.rules.schema()) else {
            return Err(plain(&match text(state, 1) {
                Some(name) => no_kind(context, name),
                None => fault(context, "the name of a kind must be a text"),
            }));
        };
        let of_table = ffi::lua_type(state, 2) == ffi::LUA_TTABLE;
        if !of_table || is_handle(ffi::lua_topointer(state, 2) as usize) {
            let given = if of_table { "an entity" } else { type_name(state, 2) };
            return Err(plain(&fault(context, format!("{what} takes a table of fields, not {given}"))));
        }
        let (mut wanted, mut place) = (Vec::with_capacity(USUAL), 0);
        loop {
            place = ffi::lua_rawiter(state, 2, place);
            if place < 0 {
                break;
            }
            wanted.push(wanted_field(state, host, context, kind)?);
            pop(state, 2);
        }
        // Sort the fields, so that the same reads are recorded in whatever order the script gave them.
        wanted.sort_by_key(|(field, _)| field.0);
        let found = context.holding(kind, &wanted);
        charge_query(context);
        Ok(found)
    }
}

/// The usual maximum of fields in a query.
const USUAL: usize = 4;

/// The field and the value of the pair on top of the stack.
unsafe fn wanted_field<'a>(
    state: *mut lua_State,
    host: &HostState,
    context: &mut ActionContext,
    kind: KindId,
) -> std::result::Result<(FieldId, Sought<'a>), String> {
    unsafe {
        let declared = context.rules.schema().kind(kind);
        let Some(field) = host.names.field_at(state, -2, kind, context.rules.schema()) else {
            let Some(name) = text(state, -2) else {
                return Err(plain(&fault(context, "the name of a field must be a text")));
            };
            let of = declared.name.clone();
            let message = no_member(context, &of, name);
            return Err(plain(&fault(context, message)));
        };
        let Field { ty, name, .. } = declared.field(field);
        // The table of fields holds the text as long as the query runs.
        if let (Type::Text, Some(text)) = (ty, text(state, -1)) {
            return match hold_text(text) {
                Ok(()) => Ok((field, Sought::Text(text))),
                Err(error) => {
                    let message = format!("the field `{name}` of a {}: {error}", declared.name);
                    Err(plain(&fault(context, message)))
                }
            };
        }
        let is_compared = !matches!(ty, Type::List(_) | Type::Map(_) | Type::Ratio);
        let is_table = ffi::lua_type(state, -1) == ffi::LUA_TTABLE;
        // A removed entity is reported below.
        let is_odd = is_table && host.handles.borrow().id_ever_at(ffi::lua_topointer(state, -1) as usize).is_none();
        if !is_compared || is_odd {
            let of = &declared.name;
            let (message, cure) = if is_compared {
                let message = format!("the field `{name}` of a {of} takes {}, not a table", ty.wanted());
                (message, "give a value of the sort that the field holds")
            } else {
                let message = format!(
                    "rb.each and rb.first compare no lists, maps or fractions, as the field `{name}` of a {of} is"
                );
                (message, "look through the entities with rb.filter")
            };
            return Err(plain(&stopped(context.fault_with(message, Some(cure.into())))));
        }
        match value_at(state, -1, host, ty, None) {
            // A number out of bounds finds no entity; a value of the wrong kind is a mistake.
            Ok(value) => match ty.check_kind(&value, context.rules.schema(), &context.state) {
                Ok(()) => Ok((field, Sought::Other(value))),
                // It could never find an entity.
                Err(wrong) => {
                    let message = format!("the field `{name}` of a {} {wrong}", declared.name);
                    let cure = match (ty, &value) {
                        (Type::Int { .. }, Value::Text(_)) => "write a number without quotes, or tonumber(text)".into(),
                        _ => instead_of_value(ty, &value)
                            .unwrap_or_else(|| "give a value of the sort that the field holds".into()),
                    };
                    Err(plain(&stopped(context.fault_with(message, Some(cure.to_string())))))
                }
            },
            Err(error) => {
                let message = format!("the field `{name}` of a {}: {error}", declared.name);
                Err(plain(&fault(context, message)))
            }
        }
    }
}
