//! The leaf functions of the hot path, as plain functions of the engine: arguments are read where they lie, nothing is
//! allocated and no name is looked up.
//!
//! Each does the usual case only, and says so: for everything else, errors included, the prelude calls the leaf function
//! of `bind` that does it all.

use std::cell::Cell;
use std::os::raw::c_int;
use std::ptr;
use std::rc::Rc;
use std::sync::Arc;

use mlua::{Function, Lua, Result, Table, ffi, lua_State};

use super::bind::{Bench, MOST_ENTRIES, hold_change, need_of};
use super::sandbox::{Budget, charge, hold, renew};
use crate::play::{Desk, Phase, Played, Throw};
use crate::state::{EntityId, FieldId, Key, Type, Value};

thread_local! {
    /// The bench of the machine that runs on this thread.
    static BENCH: Cell<*const Bench> = const { Cell::new(ptr::null()) };
}

thread_local! {
    /// The fields that `fill` writes.
    static FIELDS: Cell<*const [Value]> = const { Cell::new(ptr::slice_from_raw_parts(ptr::null(), 0)) };
}

/// Lets `fill` find the fields while `run` goes on.
pub(super) fn filling<R>(fields: &[Value], run: impl FnOnce() -> R) -> R {
    let outer = FIELDS.replace(fields);
    let result = run();
    FIELDS.set(outer);
    result
}

/// A function of a handle and the list of the names of its fields: writes those that are no tables.
pub(super) fn fill(lua: &Lua) -> Result<Function> {
    // SAFETY: it keeps to the engine's rules for functions, see below.
    unsafe { lua.create_c_function(write_all) }
}

unsafe extern "C-unwind" fn write_all(state: *mut lua_State) -> c_int {
    // SAFETY: `filling` sets the fields for as long as its borrow of them lasts; it is given two tables, and nothing here has a
    // destructor when the engine raises an error of its own.
    unsafe {
        let fields = FIELDS.get();
        for at in 0..fields.len() {
            ffi::lua_rawgeti(state, 2, at as ffi::lua_Integer + 1);
            match &(&*fields)[at] {
                Value::None => ffi::lua_pushnil(state),
                value if push_plain(state, value) => {}
                _ => ffi::lua_pushnil(state),
            }
            ffi::lua_rawset(state, 1);
        }
        0
    }
}

/// Lets the functions find the bench while `run` goes on.
pub(super) fn seated<R>(bench: &Bench, run: impl FnOnce() -> R) -> R {
    let outer = BENCH.replace(bench);
    let result = run();
    BENCH.set(outer);
    result
}

/// Adds the functions to the table of leaf functions.
pub(super) fn add(lua: &Lua, table: &Table) -> Result<()> {
    let functions: [(&str, ffi::lua_CFunction); 7] = [
        ("reader", reader),
        ("hide", hide),
        ("keep_handles", keep_handles),
        ("write", write),
        ("throw", throw),
        ("enlist", enlist),
        ("next", next),
    ];
    for (name, function) in functions {
        // SAFETY: each keeps to the engine's rules for functions, see below.
        table.raw_set(name, unsafe { lua.create_c_function(function) }?)?;
    }
    Ok(())
}

/// The bench and the desk that is lent at the moment.
fn seat<'a>() -> Option<(&'a Bench, &'a mut Desk)> {
    // SAFETY: `seated` sets the pointer for as long as its borrow of the bench lasts, on this thread only.
    let bench = unsafe { BENCH.get().as_ref() }?;
    let desk = bench.lent()?;
    Some((bench, desk))
}

fn may_act(desk: &Desk) -> bool {
    desk.stop.is_none() && desk.phase == Phase::Play
}

/// A number on the stack, if it is a whole one that the state can hold.
unsafe fn whole(state: *mut lua_State, at: c_int) -> Option<i64> {
    unsafe {
        if ffi::lua_type(state, at) != ffi::LUA_TNUMBER {
            return None;
        }
        let n = ffi::lua_tonumberx(state, at, ptr::null_mut());
        (n.fract() == 0.0 && n.abs() <= 9_007_199_254_740_992.0).then_some(n as i64)
    }
}

unsafe fn text<'a>(state: *mut lua_State, at: c_int) -> Option<&'a str> {
    unsafe {
        if ffi::lua_type(state, at) != ffi::LUA_TSTRING {
            return None;
        }
        let mut length = 0;
        let start = ffi::lua_tolstring(state, at, &raw mut length);
        std::str::from_utf8(std::slice::from_raw_parts(start.cast(), length)).ok()
    }
}

/// write(handle, id, place of the field, its name, value): whether it is written.
unsafe extern "C-unwind" fn write(state: *mut lua_State) -> c_int {
    // SAFETY: the prelude gives five arguments; what they are is looked at before they are used. Nothing here has a
    // destructor when the engine raises an error of its own.
    unsafe {
        let written = note(state);
        if let Some(Some((bench, id))) = written {
            bench.pages.show(id);
            push_pages(state);
            ffi::lua_rawgeti(state, -1, ffi::lua_Integer::from(id.0));
            if ffi::lua_type(state, -1) == ffi::LUA_TTABLE {
                ffi::lua_pushvalue(state, 4);
                ffi::lua_pushvalue(state, 5);
                ffi::lua_rawset(state, -3);
            }
        } else if written.is_some() {
            ffi::lua_setreadonly(state, 1, 0);
            ffi::lua_pushvalue(state, 4);
            ffi::lua_pushvalue(state, 5);
            ffi::lua_rawset(state, 1);
            ffi::lua_setreadonly(state, 1, 1);
        }
        ffi::lua_pushboolean(state, c_int::from(written.is_some()));
        1
    }
}

/// reader(places, other, handle, id): what the page of a bare handle answers with, see `read`.
unsafe extern "C-unwind" fn reader(state: *mut lua_State) -> c_int {
    // SAFETY: the prelude gives a table, a function, a table and a number.
    unsafe {
        ffi::lua_settop(state, 4);
        ffi::lua_pushcclosure(state, read, 4);
        1
    }
}

/// read(page, name): the value of the field, which the page holds from now on, until `hide`. What is no field, and what is a
/// table, the other function gives. Goes with the place of each field by name, that function, the handle and its id.
unsafe extern "C-unwind" fn read(state: *mut lua_State) -> c_int {
    // SAFETY: as in `write`; `reader` has put the values beside this function.
    unsafe {
        ffi::lua_pushvalue(state, 2);
        ffi::lua_rawget(state, ffi::lua_upvalueindex(1));
        let place = whole(state, 3).and_then(|place| u16::try_from(place).ok());
        let found = place.zip(seat()).and_then(|(place, (bench, desk))| {
            let id = EntityId(ffi::lua_tonumberx(state, ffi::lua_upvalueindex(4), ptr::null_mut()) as u32);
            let address = ffi::lua_topointer(state, ffi::lua_upvalueindex(3)) as usize;
            if bench.mirror.try_borrow().ok()?.address_of(id)? != address {
                return None;
            }
            Some((bench, id, desk.noted_field(id, FieldId(place))?))
        });
        match found {
            Some((_, _, Value::None)) => {
                ffi::lua_pushnil(state);
                return 1;
            }
            Some((bench, id, value)) if push_plain(state, value) => {
                ffi::lua_pushvalue(state, 2);
                ffi::lua_pushvalue(state, -2);
                ffi::lua_rawset(state, 1);
                bench.pages.show(id);
                return 1;
            }
            _ => {}
        }
        ffi::lua_pushvalue(state, ffi::lua_upvalueindex(2));
        ffi::lua_pushvalue(state, ffi::lua_upvalueindex(3));
        ffi::lua_pushvalue(state, 2);
        ffi::lua_call(state, 2, 1);
        1
    }
}

/// Pushes a value that is no table; says whether it is one.
unsafe fn push_plain(state: *mut lua_State, value: &Value) -> bool {
    unsafe {
        match value {
            Value::Bool(yes) => ffi::lua_pushboolean(state, c_int::from(*yes)),
            Value::Int(n) => ffi::lua_pushnumber(state, *n as f64),
            Value::Text(text) => {
                ffi::lua_pushlstring(state, text.as_ptr().cast(), text.len());
            }
            Value::Entity(id) => {
                push_handles(state);
                ffi::lua_rawgeti(state, -1, ffi::lua_Integer::from(id.0));
                ffi::lua_remove(state, -2);
            }
            _ => return false,
        }
    }
    true
}

/// Where the machine keeps the handles and their pages: by the addresses of these.
static HANDLES: u8 = 0;
static PAGES: u8 = 1;

unsafe fn push_handles(state: *mut lua_State) {
    unsafe {
        ffi::lua_pushlightuserdata(state, (&raw const HANDLES).cast_mut().cast());
        ffi::lua_rawget(state, ffi::LUA_REGISTRYINDEX);
    }
}

unsafe fn push_pages(state: *mut lua_State) {
    unsafe {
        ffi::lua_pushlightuserdata(state, (&raw const PAGES).cast_mut().cast());
        ffi::lua_rawget(state, ffi::LUA_REGISTRYINDEX);
    }
}

/// keep_handles(handles, pages): where the functions find them, by entity id.
unsafe extern "C-unwind" fn keep_handles(state: *mut lua_State) -> c_int {
    // SAFETY: the prelude gives two tables.
    unsafe {
        for (key, at) in [(&raw const HANDLES, 1), (&raw const PAGES, 2)] {
            ffi::lua_pushlightuserdata(state, key.cast_mut().cast());
            ffi::lua_pushvalue(state, at);
            ffi::lua_rawset(state, ffi::LUA_REGISTRYINDEX);
        }
        0
    }
}

/// hide(): the pages of bare handles are empty again.
unsafe extern "C-unwind" fn hide(state: *mut lua_State) -> c_int {
    // SAFETY: as in `write`.
    unsafe {
        let Some((bench, _)) = seat() else { return 0 };
        push_pages(state);
        while let Some(id) = bench.pages.pop() {
            ffi::lua_rawgeti(state, -1, ffi::lua_Integer::from(id.0));
            if ffi::lua_type(state, -1) == ffi::LUA_TTABLE {
                ffi::lua_cleartable(state, -1);
            }
            ffi::lua_settop(state, -2);
        }
        0
    }
}

/// Writes the field in the host's state; for a bare handle it says whose it is.
unsafe fn note<'a>(state: *mut lua_State) -> Option<Option<(&'a Bench, EntityId)>> {
    let (bench, desk) = seat()?;
    if !may_act(desk) {
        return None;
    }
    let (handle, id, at) = unsafe { (ffi::lua_topointer(state, 1), whole(state, 2)?, whole(state, 3)?) };
    let (id, field) = (EntityId(u32::try_from(id).ok()?), FieldId(u16::try_from(at).ok()?));
    let mut mirror = bench.mirror.try_borrow_mut().ok()?;
    if mirror.address_of(id)? != handle as usize {
        return None;
    }
    let kind = desk.state.entity(id)?.kind;
    let schema = desk.rules.schema();
    let ty = &schema.kind(kind).fields.get(field.0 as usize)?.ty;
    let kind_of = unsafe { ffi::lua_type(state, 5) };
    let value = match ty {
        Type::Int { min, max } => {
            let n = unsafe { whole(state, 5) }?;
            if min.is_some_and(|min| n < min) || max.is_some_and(|max| n > max) {
                return None;
            }
            Value::Int(n)
        }
        Type::Bool if kind_of == ffi::LUA_TBOOLEAN => Value::Bool(unsafe { ffi::lua_toboolean(state, 5) } != 0),
        Type::Enum(values) => {
            let text = unsafe { text(state, 5) }?;
            Value::Text(values.iter().find(|value| ***value == *text)?.clone())
        }
        Type::Text => {
            let text = unsafe { text(state, 5) }?;
            if text.len() > 1024 {
                return None;
            }
            match desk.state.field(id, field)? {
                Value::Text(known) if **known == *text => Value::Text(known.clone()),
                _ => Value::Text(Arc::from(text)),
            }
        }
        Type::Ref(_) if kind_of == ffi::LUA_TNIL => Value::None,
        Type::Ref(wanted) if kind_of == ffi::LUA_TTABLE => {
            let other = mirror.id_at(unsafe { ffi::lua_topointer(state, 5) } as usize)?;
            let found = desk.state.entity(other)?.kind;
            if wanted.as_ref().is_some_and(|wanted| *wanted != schema.kind(found).name) {
                return None;
            }
            Value::Entity(other)
        }
        _ => return None,
    };
    hold_change(desk).ok()?;
    if let Some(rote) = &mut desk.rote {
        rote.wrote(id, field, &value);
    }
    mirror.note(id, field, &value);
    let bare = mirror.is_bare();
    if desk.listening {
        let from = desk.state.field(id, field)?.clone();
        desk.state.set(id, field, value.clone());
        desk.tell_change(id, field, &from, &value);
    } else {
        desk.state.set(id, field, value);
    }
    Some(bare.then_some((bench, id)))
}

/// throw(how many dice, of how many sides, what is added, what is needed, how much of it): the total where nothing is needed,
/// else whether it is met; or nothing.
unsafe extern "C-unwind" fn throw(state: *mut lua_State) -> c_int {
    // SAFETY: as in `write`.
    unsafe {
        match (seat(), throw_at(state)) {
            (Some((_, desk)), Some(throw)) if may_act(desk) => {
                charge(i64::from(throw.count / 4));
                match desk.throw(throw) {
                    Value::Bool(met) => ffi::lua_pushboolean(state, c_int::from(met)),
                    Value::Int(total) => ffi::lua_pushnumber(state, total as f64),
                    _ => ffi::lua_pushnil(state),
                }
            }
            _ => ffi::lua_pushnil(state),
        }
        1
    }
}

unsafe fn throw_at(state: *mut lua_State) -> Option<Throw> {
    let [count, sides, plus, kind, needed] = [1, 2, 3, 4, 5].map(|at| unsafe { whole(state, at) });
    let need = need_of(u8::try_from(kind?).ok()?, needed?)?;
    Some(Throw { count: u32::try_from(count?).ok()?, sides: u32::try_from(sides?).ok()?, plus: plus?, need })
}

/// enlist(what, key, owner or nothing): the number of a new agenda entry without arguments, or nothing.
unsafe extern "C-unwind" fn enlist(state: *mut lua_State) -> c_int {
    // SAFETY: as in `write`.
    unsafe {
        match due_later(state) {
            Some(id) => ffi::lua_pushnumber(state, f64::from(id)),
            None => ffi::lua_pushnil(state),
        }
        1
    }
}

/// Puts an entry on the agenda.
unsafe fn due_later(state: *mut lua_State) -> Option<u32> {
    let (bench, desk) = seat()?;
    if !may_act(desk) || desk.state.agenda().entries().len() >= MOST_ENTRIES {
        return None;
    }
    let what = bench.entry_named(unsafe { text(state, 1) }?)?;
    let mut places = [0; Key::PLACES];
    let length = unsafe {
        if ffi::lua_type(state, 2) != ffi::LUA_TTABLE {
            return None;
        }
        let length = ffi::lua_objlen(state, 2);
        for at in 1..=length.min(Key::PLACES) {
            ffi::lua_rawgeti(state, 2, at as ffi::lua_Integer);
            let place = whole(state, -1);
            ffi::lua_settop(state, -2);
            places[at - 1] = place?;
        }
        length
    };
    let key = Key::new(places.get(..length)?).ok()?;
    let owner = match unsafe { ffi::lua_type(state, 3) } {
        ffi::LUA_TNIL => None,
        ffi::LUA_TTABLE => {
            let address = unsafe { ffi::lua_topointer(state, 3) } as usize;
            Some(bench.mirror.try_borrow().ok()?.id_at(address)?)
        }
        _ => return None,
    };
    charge(16);
    hold(100).ok()?;
    desk.sees_time = true;
    Some(desk.schedule(what, key, owner, Value::None, None).0)
}

/// next(pulsed, and of the card that was played: its seat, its id, whether its first roll was met): what is due, the number of
/// its owner or nothing, its argument, and whether entities have come or gone that the machine does not know of. The argument is
/// a pointer where it is more than a bare value. Nothing at all where the game does not go on by itself.
unsafe extern "C-unwind" fn next(state: *mut lua_State) -> c_int {
    // SAFETY: as in `write`; the entry lasts as long as its action, and so beyond this function.
    unsafe {
        let pulsed = ffi::lua_toboolean(state, 1) != 0;
        let Some((_, desk)) = seat() else { return 0 };
        if !may_act(desk) {
            return 0;
        }
        let played = || {
            let met = (ffi::lua_type(state, 4) == ffi::LUA_TBOOLEAN).then(|| ffi::lua_toboolean(state, 4) != 0);
            Some(Played { seat: Arc::from(text(state, 2)?), card: Arc::from(text(state, 3)?), met })
        };
        if desk.go_on(pulsed, played).is_none() {
            return 0;
        }
        let others = desk.state.is_stale();
        let Some(entry) = desk.due() else { return 0 };
        renew(Budget::ACTION);
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

/// Adds what the prelude calls for the parts of a due entry that `next` does not give.
pub(super) fn due_parts(lua: &Lua, bench: &Rc<Bench>, table: &Table) -> Result<()> {
    let own = bench.clone();
    let args = lua.create_function(move |lua, (): ()| match own.lent().and_then(|desk| desk.due()) {
        Some(entry) => super::exchange::to_lua(lua, &entry.args, &own.mirror.borrow()),
        None => Ok(mlua::Value::Nil),
    })?;
    table.raw_set("due_args", args)?;
    let own = bench.clone();
    let key = lua.create_function(move |lua, (): ()| match own.desk()?.due() {
        Some(entry) => Ok(Some(lua.create_sequence_from(entry.key.places().iter().copied())?)),
        None => Ok(None),
    })?;
    table.raw_set("due_key", key)
}
