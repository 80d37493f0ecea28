//! The most frequent host functions, as plain C functions of the engine: they read arguments on the stack, allocate
//! nothing and look up no names. A refusal is raised as an error of the script, with its reason in the context's
//! `stop`.

use std::os::raw::c_int;
use std::ptr;
use std::sync::Arc;

use mlua::{Lua, Result, Table, ffi, lua_State};

use super::super::account::{Account, begin_work, beside, end_work, uncounted};
use super::super::budget::{CallBudget, hold, renew};
use super::super::memory::uses_more_than;
use super::super::whole_number;
use super::answering;
use super::cost::TOLD;
use super::entities::{check_target, hold_change};
use super::raw::{
    HANDLES, NAMES, TABLES, add_functions, pop, push_handles, push_plain, push_registered, raise, text, type_name,
    whole,
};
use super::refusal::{NO_GAME, message_of};
use super::state::{HostState, lent};
use super::token::number_of;
use riskbreaker_play::Stop;
use riskbreaker_state::{FieldId, KindId, Type, Value};

/// Adds the functions to the table of host functions.
pub(super) fn add(lua: &Lua, table: &Table) -> Result<()> {
    let functions: [(&str, ffi::lua_CFunction); 21] = [
        ("reader", reader),
        ("renew_reads", renew_reads),
        ("forget_reads", forget_reads),
        ("keep_handles", keep_handles),
        ("write", write),
        ("shift", shift),
        ("ask", answering::ask),
        ("answered", answering::answered),
        ("gone_among", answering::gone_among),
        ("stop_if_open", stop_if_open),
        ("next", next),
        ("entry_metatable", entry_metatable),
        ("counted_line", counted_line),
        ("reaches", reaches),
        ("for_answers", for_answers),
        ("for_words", for_words),
        ("where_heard", where_heard),
        ("filled_where_heard", filled_where_heard),
        ("is_text", is_text),
        ("end_work", end_entry),
        ("begin_work", begin_entry),
    ];
    // SAFETY: each follows the engine's rules for C functions, see below.
    unsafe { add_functions(lua, table, &functions) }
}

/// `stop_if_open()`: ends the script if questions are open. Most runs of an action end here, so the error is minimal:
/// its place is never read.
unsafe extern "C-unwind" fn stop_if_open(state: *mut lua_State) -> c_int {
    // SAFETY: it reads no argument. No value here has a destructor when the engine raises the error.
    unsafe {
        let stopped = lent(state).map(|(_, context)| context.stop_if_open());
        match stopped {
            Some(Ok(())) => 0,
            Some(Err(stop)) => {
                let message = message_of(&stop).to_owned();
                drop(stop);
                raise(state, message)
            }
            None => raise(state, NO_GAME.to_owned()),
        }
    }
}

/// Longest text that a script gives to the host, in bytes.
const LONGEST_TEXT: usize = 64 << 10;

/// `write(handle, kind of its class, index of the field, its name, a value that is no table)`: writes a field.
unsafe extern "C-unwind" fn write(state: *mut lua_State) -> c_int {
    // SAFETY: the prelude gives five arguments, whose types are checked before use. No value here has a destructor when
    // the engine raises an error.
    unsafe {
        match write_field(state, None) {
            Ok(plain) => {
                keep_on_handle(state, plain);
                0
            }
            Err(message) => raise(state, message),
        }
    }
}

/// `shift(handle, kind of its class, index of the field, its name, a number, reason or nil)`: adds to a field. Returns
/// false if the field holds no number.
unsafe extern "C-unwind" fn shift(state: *mut lua_State) -> c_int {
    // SAFETY: as in `write`; there are six arguments.
    unsafe {
        ffi::lua_settop(state, 6);
        let Some(by) = sum_up(state) else {
            ffi::lua_pushboolean(state, 0);
            return 1;
        };
        match write_field(state, Some(by)) {
            Ok(plain) => {
                // If reads are observed, later reads must go through the host.
                let noted = lent(state).is_some_and(|(_, context)| context.notes_reads());
                keep_on_handle(state, plain && !noted);
                ffi::lua_pushboolean(state, 1);
                1
            }
            Err(message) => raise(state, message),
        }
    }
}

/// Replaces the addend on the stack by field + addend and returns the addend. `None` if the field is no number.
unsafe fn sum_up(state: *mut lua_State) -> Option<f64> {
    unsafe {
        let by = ffi::lua_tonumberx(state, 5, ptr::null_mut());
        let field = FieldId(whole(state, 3).and_then(|at| u16::try_from(at).ok())?);
        let address = ffi::lua_topointer(state, 1) as usize;
        let found = lent(state).and_then(|(host, context)| {
            let id = host.handles.try_borrow().ok()?.id_at(address)?;
            context.before_sum(id, field).cloned()
        });
        let now = match found {
            Some(Value::Int(now)) => now,
            Some(_) => return None,
            // It is refused when it is written.
            None => 0,
        };
        ffi::lua_pushnumber(state, now as f64 + by);
        ffi::lua_replace(state, 5);
        Some(by)
    }
}

/// Stores the written value on the handle; clears it if it is read as a table.
unsafe fn keep_on_handle(state: *mut lua_State, plain: bool) {
    unsafe {
        ffi::lua_pushvalue(state, 4);
        if plain {
            ffi::lua_pushvalue(state, 5);
        } else {
            ffi::lua_pushnil(state);
        }
        put_on_handle(state, 1);
    }
}

/// Stores a value on a handle under the name below it, and pops both.
unsafe fn put_on_handle(state: *mut lua_State, handle: c_int) {
    unsafe {
        ffi::lua_setreadonly(state, handle, 0);
        ffi::lua_rawset(state, handle);
        ffi::lua_setreadonly(state, handle, 1);
    }
}

/// Writes a field. Returns true if a script reads the value unchanged.
unsafe fn write_field(state: *mut lua_State, by: Option<f64>) -> std::result::Result<bool, String> {
    let Some((host, context)) = lent(state) else { return Err(NO_GAME.into()) };
    let words = |stop: Stop| message_of(&stop).to_string();
    let (kind, at) = unsafe { (whole(state, 2).unwrap_or(-1), whole(state, 3).unwrap_or(-1)) };
    let (kind, field) = (u16::try_from(kind).unwrap_or(u16::MAX), FieldId(u16::try_from(at).unwrap_or(u16::MAX)));
    let id = {
        let address = unsafe { ffi::lua_topointer(state, 1) } as usize;
        host.handles.borrow().id_at(address)
    };
    check_target(context, id, kind, field).map_err(words)?;
    let Some(id) = id else { return Err(String::new()) };
    // The rules are shared by all threads: do not touch their reference count at every write.
    let declared = context.rules.schema().kinds[kind as usize].field(field);
    // Next to numbers beyond 2^52, the sum with a fraction would be rounded to a whole number.
    let fraction = by.filter(|by| by.fract() != 0.0).map_or(Ok(()), |by| whole_number::whole(by).map(drop));
    let to = fraction.and_then(|()| unsafe { value_at(state, 5, host, &declared.ty, context.state.field(id, field)) });
    let value = match to {
        Ok(value) => declared.ty.settle(value),
        Err(error) => {
            let message = format!("the field `{}` of {}: {error}", declared.name, context.title(id));
            return Err(words(context.fault(message)));
        }
    };
    hold_change().map_err(|error| error.to_string())?;
    let plain = !matches!(value, Value::Ratio(..) | Value::List(_) | Value::Map(_))
        && unsafe { ffi::lua_type(state, 5) } != ffi::LUA_TLIGHTUSERDATA;
    if plain && value == Value::Int(0) {
        // A negative zero is not stored in the state, so it must not be on the handle.
        unsafe {
            ffi::lua_pushnumber(state, 0.0);
            ffi::lua_replace(state, 5);
        }
    }
    match by {
        Some(by) => {
            let why = unsafe { text(state, 6) }.map(kept_text).transpose()?;
            context.write(id, field, value, Some(by as i64), why).map_err(words)?;
        }
        None => context.write(id, field, value, None, None).map_err(words)?,
    }
    host.reads.note(id, field);
    Ok(plain)
}

/// Copies a script's text for the host and charges it.
fn kept_text(text: &str) -> std::result::Result<Arc<str>, String> {
    hold_text(text)?;
    Ok(Arc::from(text))
}

/// Charges a script's text that the host uses.
pub(super) fn hold_text(text: &str) -> std::result::Result<(), String> {
    if text.len() > LONGEST_TEXT {
        return Err(format!("a text has at most {LONGEST_TEXT} bytes"));
    }
    hold(3 * text.len()).map_err(|error| error.to_string())
}

/// Reads a value that is no table. `ty` and `now`: type and current value of its field, whose texts are shared.
pub(super) unsafe fn value_at(
    state: *mut lua_State,
    at: c_int,
    host: &HostState,
    ty: &Type,
    now: Option<&Value>,
) -> std::result::Result<Value, String> {
    unsafe {
        Ok(match ffi::lua_type(state, at) {
            ffi::LUA_TNIL => Value::None,
            ffi::LUA_TBOOLEAN => Value::Bool(ffi::lua_toboolean(state, at) != 0),
            ffi::LUA_TNUMBER => Value::Int(whole_number::whole(ffi::lua_tonumberx(state, at, ptr::null_mut()))?),
            ffi::LUA_TSTRING => {
                let Some(text) = text(state, at) else { return Err("a text must be UTF-8".into()) };
                let known = match (ty, now) {
                    (_, Some(Value::Text(now))) if **now == *text => Some(now.clone()),
                    (Type::Enum(values), _) => {
                        values.iter().find(|value| ***value == *text).map(|value| host.own_text(value))
                    }
                    _ => None,
                };
                match known {
                    Some(known) => Value::Text(known),
                    None => Value::Text(kept_text(text)?),
                }
            }
            ffi::LUA_TLIGHTUSERDATA => {
                host.handles.borrow().saw_entry_number.set(true);
                Value::Int(i64::from(number_of(ffi::lua_touserdata(state, at) as usize)))
            }
            ffi::LUA_TTABLE => {
                let address = ffi::lua_topointer(state, at) as usize;
                match host.handles.borrow().id_at(address) {
                    Some(id) => Value::Entity(id),
                    None => return Err("it takes an entity that is there, not one that has been taken away".into()),
                }
            }
            _ => return Err(format!("a {} is not plain data", type_name(state, at))),
        })
    }
}

/// `reader(places, tables, other)`: returns the `__index` function of the handles of a kind, see `read`.
unsafe extern "C-unwind" fn reader(state: *mut lua_State) -> c_int {
    // SAFETY: the prelude gives a table and two functions.
    unsafe {
        ffi::lua_settop(state, 3);
        ffi::lua_pushcclosure(state, read, 3);
        1
    }
}

/// `read(handle, name)`: returns the value of a field and stores it on the handle. It counts as no call and no work.
/// Its upvalues: the index of each field by name, the function that returns a field whose value is a table, and the one
/// for other names.
unsafe extern "C-unwind" fn read(state: *mut lua_State) -> c_int {
    // SAFETY: as in `write`; `reader` has set the upvalues.
    unsafe {
        ffi::lua_pushvalue(state, 2);
        ffi::lua_rawget(state, ffi::lua_upvalueindex(1));
        let place = whole(state, 3).and_then(|place| u16::try_from(place).ok());
        if place.is_none() && text(state, 2) == Some("id") {
            return read_id(state);
        }
        let found = place.zip(lent(state)).and_then(|(place, (host, context))| {
            let id = host.handles.try_borrow().ok()?.id_at(ffi::lua_topointer(state, 1) as usize)?;
            Some((host, id, FieldId(place), context.read(id, FieldId(place))?))
        });
        match found {
            Some((.., Value::None)) => {
                ffi::lua_pushnil(state);
                return 1;
            }
            Some((.., value)) if push_plain(state, value) => {}
            Some((host, id, field, value)) => {
                let known =
                    host.handles.try_borrow_mut().ok().and_then(|mut handles| handles.table_for(id, field, value));
                if let Some(number) = known {
                    push_registered(state, &raw const TABLES);
                    ffi::lua_pushnumber(state, number as f64);
                    ffi::lua_rawget(state, -2);
                } else {
                    ffi::lua_pushvalue(state, ffi::lua_upvalueindex(2));
                    ffi::lua_pushvalue(state, 1);
                    ffi::lua_pushvalue(state, 3);
                    ffi::lua_call(state, 2, 1);
                }
            }
            None => {
                ffi::lua_pushvalue(state, ffi::lua_upvalueindex(3));
                ffi::lua_pushvalue(state, 1);
                ffi::lua_pushvalue(state, 2);
                ffi::lua_call(state, 2, 1);
            }
        }
        if let Some((host, id, field, _)) = found {
            ffi::lua_pushvalue(state, 2);
            ffi::lua_pushvalue(state, -2);
            uncounted(|| put_on_handle(state, 1));
            host.reads.note(id, field);
        }
        1
    }
}

/// Like [`read`], for the id. It is not stored on the handle, so that every use as a number is observed.
unsafe fn read_id(state: *mut lua_State) -> c_int {
    unsafe {
        let address = ffi::lua_topointer(state, 1) as usize;
        let found = lent(state)
            .and_then(|(host, context)| Some((context, host.handles.try_borrow().ok()?.id_ever_at(address)?)));
        let Some((context, id)) = found else { return 0 };
        context.observers.observe(&riskbreaker_play::Op::ReadId { entity: id, state: &context.state });
        ffi::lua_pushnumber(state, f64::from(id.0));
        1
    }
}

/// `keep_handles(handles, names, tables)`: stores them in the registry, by entity id, by kind and field, and by number.
unsafe extern "C-unwind" fn keep_handles(state: *mut lua_State) -> c_int {
    // SAFETY: the prelude gives three tables.
    unsafe {
        for (key, at) in [(&raw const HANDLES, 1), (&raw const NAMES, 2), (&raw const TABLES, 3)] {
            ffi::lua_pushlightuserdata(state, key.cast_mut().cast());
            ffi::lua_pushvalue(state, at);
            ffi::lua_rawset(state, ffi::LUA_REGISTRYINDEX);
        }
        0
    }
}

/// `renew_reads(lists by kind)`: clears the fields on the handles and the lists, unless they are valid for the state
/// and reads are not observed.
unsafe extern "C-unwind" fn renew_reads(state: *mut lua_State) -> c_int {
    // SAFETY: as in `write`.
    unsafe {
        let Some((host, context)) = lent(state) else { return 0 };
        let noted = context.notes_reads();
        if noted {
            ffi::lua_cleartable(state, 1);
        }
        if noted || !host.reads.are_of(&context.state) {
            empty_handles(state, host);
            host.reads.begin(&context.state);
        }
        0
    }
}

/// `forget_reads()`: clears the fields on the handles, since scripts may read something other than the state from now
/// on.
unsafe extern "C-unwind" fn forget_reads(state: *mut lua_State) -> c_int {
    // SAFETY: as in `write`.
    unsafe {
        let Some((host, _)) = lent(state) else { return 0 };
        empty_handles(state, host);
        host.reads.disown();
        0
    }
}

/// Clears the fields on the handles before a script is resumed from a snapshot.
#[cfg(feature = "continuations")]
pub(crate) unsafe extern "C-unwind" fn begin_reads(state: *mut lua_State) {
    // SAFETY: as in `write`.
    unsafe {
        if let Some((host, context)) = lent(state) {
            empty_handles(state, host);
            host.reads.begin(&context.state);
        }
    }
}

unsafe fn empty_handles(state: *mut lua_State, host: &HostState) {
    unsafe {
        push_handles(state);
        push_registered(state, &raw const NAMES);
        let (handles, names) = (ffi::lua_gettop(state) - 1, ffi::lua_gettop(state));
        while let Some(id) = host.reads.holder() {
            let Some(kind) = host.handles.try_borrow().ok().and_then(|handles| handles.kind_of(id)) else {
                while host.reads.pop_field().is_some() {}
                continue;
            };
            ffi::lua_rawgeti(state, handles, ffi::lua_Integer::from(id.0));
            ffi::lua_rawgeti(state, names, ffi::lua_Integer::from(kind.0) + 1);
            let (handle, names_of_kind) = (names + 1, names + 2);
            ffi::lua_setreadonly(state, handle, 0);
            while let Some(field) = host.reads.pop_field() {
                // A new entity with that number may have a kind with fewer fields.
                if ffi::lua_rawgeti(state, names_of_kind, ffi::lua_Integer::from(field.0) + 1) == ffi::LUA_TSTRING {
                    ffi::lua_pushnil(state);
                    ffi::lua_rawset(state, handle);
                } else {
                    pop(state, 1);
                }
            }
            ffi::lua_setreadonly(state, handle, 1);
            ffi::lua_settop(state, names);
        }
        ffi::lua_settop(state, handles - 1);
    }
}

/// `entry_metatable(metatable)`: sets the behavior of tokens in arithmetic and comparisons.
unsafe extern "C-unwind" fn entry_metatable(state: *mut lua_State) -> c_int {
    // SAFETY: the prelude gives a table.
    unsafe {
        ffi::lua_settop(state, 1);
        ffi::lua_pushlightuserdata(state, ptr::null_mut());
        ffi::lua_pushvalue(state, 1);
        ffi::lua_setmetatable(state, -2);
        0
    }
}

/// `next()`: returns the name of the next entry, the number of its owner or nil, its argument, and true if entities
/// unknown to the machine were added or removed. The argument is a null pointer if it is no plain value. Returns
/// nothing if the loop ends.
unsafe extern "C-unwind" fn next(state: *mut lua_State) -> c_int {
    // SAFETY: as in `write`; the entry exists as long as its action, and so longer than this call.
    unsafe {
        let Some((host, context)) = lent(state) else { return 0 };
        if context.stop.is_some() {
            return 0;
        }
        // At the beginning of the loop no script has run yet, but entries may have been replayed.
        if context.due().is_some() {
            host.reads.keep_up(&context.state);
        }
        if host.handles.borrow().saw_entry_number.take() {
            context.observers.observe(&riskbreaker_play::Op::ReadEntryNumber);
        }
        // If much garbage was left, the loop ends after the running action.
        let goes_on = context.due().is_none() || !uses_more_than(host.full.get());
        if context.next_headless(goes_on).is_none() {
            if !host.reads.are_of(&context.state) {
                // The last replays have changed fields stored on the handles.
                host.reads.disown();
            }
            return 0;
        }
        let others = context.state.is_stale();
        let Some(entry) = context.due() else { return 0 };
        renew(CallBudget::ACTION);
        ffi::lua_pushlstring(state, entry.what.as_ptr().cast(), entry.what.len());
        match entry.owner {
            Some(owner) => ffi::lua_pushnumber(state, f64::from(owner.0)),
            None => ffi::lua_pushnil(state),
        }
        match &entry.args {
            Value::None => ffi::lua_pushnil(state),
            Value::Bool(yes) => ffi::lua_pushboolean(state, c_int::from(*yes)),
            Value::Int(n) => ffi::lua_pushnumber(state, *n as f64),
            _ => ffi::lua_pushlightuserdata(state, ptr::null_mut()),
        }
        ffi::lua_pushboolean(state, c_int::from(others));
        4
    }
}

/// `reaches(handle, index of the field, number, kind of its class)`: returns true if the field is at least the number;
/// nothing if the host cannot decide, or the handle is of another kind.
unsafe extern "C-unwind" fn reaches(state: *mut lua_State) -> c_int {
    // SAFETY: as in `write`; there are four arguments.
    unsafe {
        let kind = whole(state, 4).and_then(|kind| u16::try_from(kind).ok()).map(KindId);
        let (at, least) = (whole(state, 2).and_then(|at| u16::try_from(at).ok()), whole(state, 3));
        let met = at.zip(least).zip(lent(state)).and_then(|((at, least), (host, context))| {
            let id = host.handles.try_borrow().ok()?.id_at(ffi::lua_topointer(state, 1) as usize)?;
            context.state.entity(id).filter(|entity| Some(entity.kind) == kind)?;
            context.reaches(id, FieldId(at), least)
        });
        match met {
            Some(met) => ffi::lua_pushboolean(state, c_int::from(met)),
            None => ffi::lua_pushnil(state),
        }
        1
    }
}

// Work

/// `for_answers(function)`: returns the function, charged to the account of answers.
unsafe extern "C-unwind" fn for_answers(state: *mut lua_State) -> c_int {
    // SAFETY: the prelude gives a function.
    unsafe {
        ffi::lua_pushcclosure(state, answers_beside, 1);
        1
    }
}

/// `for_words(function)`: returns the function, charged to the account of texts.
unsafe extern "C-unwind" fn for_words(state: *mut lua_State) -> c_int {
    // SAFETY: as in `for_answers`.
    unsafe {
        ffi::lua_pushcclosure(state, words_beside, 1);
        1
    }
}

/// `where_heard(function)`: returns a function that calls this one with all but its first argument, if that is true,
/// and charges texts.
unsafe extern "C-unwind" fn where_heard(state: *mut lua_State) -> c_int {
    // SAFETY: as in `for_answers`.
    unsafe {
        ffi::lua_pushcclosure(state, words_if, 1);
        1
    }
}

/// `filled_where_heard(function)`: like `where_heard`; if the first argument is not true, it returns all others but the
/// first three. So placeholders are the same work for the script whether or not events have readers.
unsafe extern "C-unwind" fn filled_where_heard(state: *mut lua_State) -> c_int {
    // SAFETY: as in `for_answers`.
    unsafe {
        ffi::lua_pushcclosure(state, words_or_rest, 1);
        1
    }
}

unsafe extern "C-unwind" fn answers_beside(state: *mut lua_State) -> c_int {
    // SAFETY: as in `call_beside`.
    unsafe { call_beside(state, Account::Answers) }
}

unsafe extern "C-unwind" fn words_beside(state: *mut lua_State) -> c_int {
    // SAFETY: as in `call_beside`.
    unsafe { call_beside(state, Account::Words) }
}

unsafe extern "C-unwind" fn words_if(state: *mut lua_State) -> c_int {
    // SAFETY: the prelude gives at least one argument.
    unsafe {
        if ffi::lua_toboolean(state, 1) == 0 {
            return 0;
        }
        ffi::lua_remove(state, 1);
        call_beside(state, Account::Words)
    }
}

unsafe extern "C-unwind" fn words_or_rest(state: *mut lua_State) -> c_int {
    // SAFETY: the prelude gives at least three arguments.
    unsafe {
        if ffi::lua_toboolean(state, 1) == 0 {
            for _ in 0..3 {
                ffi::lua_remove(state, 1);
            }
            return ffi::lua_gettop(state);
        }
        ffi::lua_remove(state, 1);
        call_beside(state, Account::Words)
    }
}

/// Calls the function in the upvalue. No value here has a destructor when the engine raises an error.
unsafe fn call_beside(state: *mut lua_State, account: Account) -> c_int {
    // SAFETY: the closure was made with a function as its upvalue.
    unsafe {
        let count = ffi::lua_gettop(state);
        ffi::lua_pushvalue(state, ffi::lua_upvalueindex(1));
        ffi::lua_insert(state, 1);
        beside(account, || ffi::lua_call(state, count, ffi::LUA_MULTRET));
        ffi::lua_gettop(state)
    }
}

/// `begin_work()`: called when the machine is ready for the script.
unsafe extern "C-unwind" fn begin_entry(_: *mut lua_State) -> c_int {
    begin_work();
    0
}

/// `end_work()`: called when the entry has ended.
unsafe extern "C-unwind" fn end_entry(_: *mut lua_State) -> c_int {
    end_work();
    0
}

/// The most texts in the cache of valid UTF-8.
const MOST_TEXTS: c_int = 1_000;
/// The longest text in that cache, in bytes.
const LONGEST_KNOWN: usize = 100;
/// The key of their count in the cache.
static TEXTS: u8 = 3;

/// `is_text(cache, value)`: returns true if it is a text in UTF-8, and caches that.
unsafe extern "C-unwind" fn is_text(state: *mut lua_State) -> c_int {
    // SAFETY: the engine gives the table and a value.
    unsafe {
        let length = text(state, 2).map(str::len);
        if length.is_some_and(|length| length <= LONGEST_KNOWN) {
            let key = (&raw const TEXTS).cast_mut().cast();
            ffi::lua_pushlightuserdata(state, key);
            ffi::lua_rawget(state, 1);
            let known = ffi::lua_tonumberx(state, -1, ptr::null_mut()) as c_int;
            if known >= MOST_TEXTS {
                ffi::lua_cleartable(state, 1);
            }
            ffi::lua_pushlightuserdata(state, key);
            ffi::lua_pushnumber(state, f64::from(known % MOST_TEXTS + 1));
            ffi::lua_rawset(state, 1);
            ffi::lua_pushvalue(state, 2);
            ffi::lua_pushboolean(state, 1);
            ffi::lua_rawset(state, 1);
        }
        ffi::lua_pushboolean(state, c_int::from(length.is_some()));
        1
    }
}

/// `counted_line(function)`: returns a function of two arguments, whether events have readers, and the text or the
/// function that makes it. It counts a line; with readers, it calls this function with all but its first argument, and
/// charges texts.
unsafe extern "C-unwind" fn counted_line(state: *mut lua_State) -> c_int {
    // SAFETY: as in `for_answers`.
    unsafe {
        ffi::lua_pushcclosure(state, count_line, 1);
        1
    }
}

unsafe extern "C-unwind" fn count_line(state: *mut lua_State) -> c_int {
    // SAFETY: as in `write`; there are at least two arguments.
    unsafe {
        let length = text(state, 2).map_or(0, str::len);
        let Some((_, context)) = lent(state) else { return raise(state, NO_GAME.into()) };
        let counted = context.count_line().map_err(|stop| message_of(&stop).to_string());
        match counted.and_then(|()| hold(TOLD + length).map_err(|error| error.to_string())) {
            Ok(()) => words_if(state),
            Err(message) => raise(state, message),
        }
    }
}
