use std::os::raw::c_int;
use std::rc::Rc;

use mlua::{Lua, Result, Table, Value as Lv, ffi, lua_State};

use super::super::account::charge;
use super::super::handles::Handles;
use super::entities::{entity_arg, hold_change, kind_arg, new_entity, read_fields, take_away};
use super::queries::{charge_query, push_list};
use super::raw::{add_functions, push_handle};
use super::refusal::stopped;
use super::state::{HostState, host_function, lent, running_host};
use riskbreaker_play::ActionContext;
use riskbreaker_state::{EntityId, KindId, Value};

pub(super) fn add(lua: &Lua, host: &Rc<HostState>, table: &Table) -> Result<()> {
    // relate(kind, one, other, fields): returns the relation, and true if it is new
    host_function!(lua, host, table, "relate", |_, b, (kind, one, other, fields): (Lv, Lv, Lv, Lv)| {
        let context = b.context()?;
        let mut handles = b.handles.borrow_mut();
        let kind = relation_arg(context, &kind, "rb.relate")?;
        let (one, other) = ends(context, &handles, (&one, &other), "rb.relate")?;
        let given = match &fields {
            Lv::Nil => Vec::new(),
            fields => read_fields(context, &handles, kind, fields, "rb.relate")?,
        };
        let known = context.relations_between(kind, one, other).first().copied();
        charge_query(context);
        if let Some(known) = known {
            let rules = context.rules.clone();
            for (field, value) in given {
                hold_change()?;
                context.write(known, field, value, None, None).map_err(stopped)?;
                handles.forget_field(rules.schema(), known, field)?;
            }
            return Ok((handles.handle(known).cloned(), false));
        }
        let relates = context.rules.schema().kind(kind).relates.clone();
        let ends = relates.into_iter().zip([Value::Entity(one), Value::Entity(other)]);
        let made = new_entity(context, &mut handles, kind, ends.chain(given).collect())?;
        Ok((Some(made), true))
    });
    // unrelate(kind, one, other): returns true if there was one
    host_function!(lua, host, table, "unrelate", |lua, b, (kind, one, other): (Lv, Lv, Lv)| {
        let context = b.context()?;
        let mut handles = b.handles.borrow_mut();
        let kind = relation_arg(context, &kind, "rb.unrelate")?;
        let (one, other) = ends(context, &handles, (&one, &other), "rb.unrelate")?;
        let found = context.relations_between(kind, one, other);
        charge_query(context);
        for relation in &found {
            take_away(lua, context, &mut handles, *relation)?;
        }
        Ok(!found.is_empty())
    });
    host_function!(lua, host, table, "relation", |_, b, (kind, one, other): (Lv, Lv, Lv)| {
        let context = b.context()?;
        context.may_go_on().map_err(stopped)?;
        let handles = b.handles.borrow();
        let kind = relation_arg(context, &kind, "rb.relation")?;
        let (one, other) = ends(context, &handles, (&one, &other), "rb.relation")?;
        let found = context.relations_between(kind, one, other);
        charge_query(context);
        Ok(found.first().and_then(|relation| handles.handle(*relation).cloned()))
    });
    // related(kind, one, whether from the second end)
    host_function!(lua, host, table, "related", |lua, b, (kind, one, back): (Lv, Lv, bool)| {
        let context = b.context()?;
        context.may_go_on().map_err(stopped)?;
        let handles = b.handles.borrow();
        let what = if back { "rb.relating" } else { "rb.related" };
        let kind = relation_arg(context, &kind, what)?;
        let one = entity_arg(context, &handles, &one, what)?;
        let found = context.related(kind, one, back);
        charge_query(context);
        list(lua, &handles, found)
    });
    // SAFETY: both follow the engine's rules for C functions, see below.
    unsafe { add_functions(lua, table, &[("quick_relation", quick_relation), ("quick_related", quick_related)]) }
}

/// `quick_relation(function)`: returns a function like `relation`. It answers the usual call itself and leaves the others
/// to that function.
unsafe extern "C-unwind" fn quick_relation(state: *mut lua_State) -> c_int {
    // SAFETY: the prelude gives a function.
    unsafe {
        ffi::lua_pushcclosure(state, find_relation, 1);
        1
    }
}

/// `quick_related(function)`: the same for `related`.
unsafe extern "C-unwind" fn quick_related(state: *mut lua_State) -> c_int {
    // SAFETY: as in `quick_relation`.
    unsafe {
        ffi::lua_pushcclosure(state, find_related, 1);
        1
    }
}

unsafe extern "C-unwind" fn find_relation(state: *mut lua_State) -> c_int {
    // SAFETY: the arguments are checked before use. No value here has a destructor when the engine raises an error.
    unsafe {
        ffi::lua_settop(state, 3);
        let found = relation_at(state).and_then(|(context, kind)| {
            let ends = (entity_at(state, 2)?, entity_at(state, 3)?);
            let found = context.relations_between(kind, ends.0, ends.1);
            charge_query(context);
            Some(found.first().copied())
        });
        let Some(found) = found else { return call_slow(state) };
        match found {
            Some(relation) => push_handle(state, relation),
            None => ffi::lua_pushnil(state),
        }
        1
    }
}

unsafe extern "C-unwind" fn find_related(state: *mut lua_State) -> c_int {
    // SAFETY: as in `find_relation`; the list of entities is dropped before the engine makes a table.
    unsafe {
        ffi::lua_settop(state, 3);
        let found = relation_at(state).and_then(|(context, kind)| {
            let one = entity_at(state, 2)?;
            let found = context.related(kind, one, ffi::lua_toboolean(state, 3) != 0);
            charge_query(context);
            Some(found)
        });
        match found {
            Some(found) => push_list(state, &found),
            None => return call_slow(state),
        }
        1
    }
}

/// The running game, and the kind of relation named by the first argument. `None` if the action is stopped or the
/// argument is no such kind.
unsafe fn relation_at<'a>(state: *mut lua_State) -> Option<(&'a mut ActionContext, KindId)> {
    let (host, context) = lent(state)?;
    context.may_go_on().ok()?;
    // SAFETY: the caller gives its state.
    let kind = unsafe { host.names.kind_at(state, 1, context.rules.schema()) }?;
    (context.rules.schema().kind(kind).relates.len() == 2).then_some((context, kind))
}

/// The entity whose handle is at a stack index.
unsafe fn entity_at(state: *mut lua_State, at: c_int) -> Option<EntityId> {
    // SAFETY: the caller gives a stack index.
    let address = unsafe { ffi::lua_topointer(state, at) } as usize;
    running_host()?.handles.try_borrow().ok()?.id_at(address)
}

/// Calls the function in the upvalue with the three arguments.
unsafe fn call_slow(state: *mut lua_State) -> c_int {
    // SAFETY: the closure was made with a function as its upvalue.
    unsafe {
        ffi::lua_pushvalue(state, ffi::lua_upvalueindex(1));
        ffi::lua_insert(state, 1);
        ffi::lua_call(state, 3, 1);
        1
    }
}

fn list(lua: &Lua, handles: &Handles, found: Vec<EntityId>) -> Result<Table> {
    charge(found.len() as i64 / 4 + 4);
    let list = lua.create_sequence_from(found.into_iter().filter_map(|id| handles.handle(id).cloned()))?;
    list.set_readonly(true);
    Ok(list)
}

/// A kind of relation with two ends.
fn relation_arg(context: &mut ActionContext, kind: &Lv, what: &str) -> Result<KindId> {
    let id = kind_arg(context, kind, "the name of a relation")?;
    let rules = context.rules.clone();
    let declared = rules.schema().kind(id);
    if declared.relates.len() == 2 {
        return Ok(id);
    }
    let message = format!("{what} takes a relation between two entities, and the kind `{}` is none", declared.name);
    let cure = "declare between which fields it stands in kinds.luau: relates = { \"from\", \"to\" }";
    Err(stopped(context.fault_with(message, Some(cure.into()))))
}

fn ends(
    context: &mut ActionContext,
    handles: &Handles,
    (one, other): (&Lv, &Lv),
    what: &str,
) -> Result<(EntityId, EntityId)> {
    Ok((entity_arg(context, handles, one, what)?, entity_arg(context, handles, other, what)?))
}
