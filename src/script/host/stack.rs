//! The functions that scripts call most often, as plain functions of the engine: arguments are read where they lie, nothing is
//! allocated and no name is looked up. A refusal is raised as an error of the script, with the words in the game's own flag.

use std::cell::Cell;
use std::os::raw::c_int;
use std::ptr;
use std::sync::Arc;

use mlua::{Function, LightUserData, Lua, Result, Table, Value as Lv, ffi, lua_State};

use super::super::field_names::{Name, push_field};
use super::super::sandbox::{Budget, place_of, renew};
use super::entities::{check_target, hold_change};
use super::questions::{gone_option, not_about};
use super::{HostState, NO_GAME, message_of};
use crate::play::{ActionContext, Answerer, AskKind, By, Limits, Misfit, Options, Places, Shape, Stop, settled};
use crate::state::{EntryId, FieldId, Type, Value};

thread_local! {
    /// The host state of the machine that runs on this thread.
    static HOST: Cell<*const HostState> = const { Cell::new(ptr::null()) };
    /// The machine itself, while one of its functions runs here.
    static MACHINE: Cell<*mut lua_State> = const { Cell::new(ptr::null_mut()) };
    /// The fields that `write_all` writes.
    static FIELDS: Cell<*const [Value]> = const { Cell::new(ptr::slice_from_raw_parts(ptr::null(), 0)) };
}

/// Lets the functions find the host state while `run` goes on.
pub(super) fn with_host<R>(host: &HostState, run: impl FnOnce() -> R) -> R {
    let outer = HOST.replace(host);
    let machine = MACHINE.get();
    let result = run();
    HOST.set(outer);
    MACHINE.set(machine);
    result
}

/// Lets `write_all` find the fields while `run` goes on.
pub(in crate::script) fn filling<R>(fields: &[Value], run: impl FnOnce() -> R) -> R {
    let outer = FIELDS.replace(fields);
    let result = run();
    FIELDS.set(outer);
    result
}

/// A function of a handle and the list of the names of its fields: writes those that are no tables.
pub(in crate::script) fn fill_fields(lua: &Lua) -> Result<Function> {
    // SAFETY: it keeps to the engine's rules for functions, see below.
    unsafe { lua.create_c_function(write_all) }
}

/// File and line of the script that runs on this thread; empty where none does.
pub(crate) fn current_place() -> String {
    let state = MACHINE.get();
    if state.is_null() {
        return String::new();
    }
    // SAFETY: `with_host` takes it back when the machine's function has returned.
    let place = unsafe { place_of(state) };
    place.map_or_else(String::new, |place| format!("{}:{}", place.path, place.line))
}

/// Adds the functions to the table of host functions.
pub(super) fn add(lua: &Lua, table: &Table) -> Result<()> {
    let functions: [(&str, ffi::lua_CFunction); 15] = [
        ("reader", reader),
        ("renew_reads", renew_reads),
        ("forget_reads", forget_reads),
        ("keep_handles", keep_handles),
        ("write", write),
        ("shift", shift),
        ("ask", ask),
        ("answered", answered),
        ("next", next),
        ("lock", lock),
        ("thaw", thaw),
        ("lock_deep", lock_deep),
        ("thaw_all", thaw_all),
        ("entry_metatable", entry_metatable),
        ("captured", captured),
    ];
    for (name, function) in functions {
        // SAFETY: each keeps to the engine's rules for functions, see below.
        table.raw_set(name, unsafe { lua.create_c_function(function) }?)?;
    }
    Ok(())
}

/// The host state and the game that is lent at the moment.
pub(super) fn lent<'a>(state: *mut lua_State) -> Option<(&'a HostState, &'a mut ActionContext)> {
    // SAFETY: `with_host` sets the pointer for as long as its borrow of the host state lasts, on this thread only.
    let host = unsafe { HOST.get().as_ref() }?;
    let context = host.lent()?;
    MACHINE.set(state);
    Some((host, context))
}

/// Whether the table at this address is the handle of an entity.
pub(in crate::script) fn is_handle(address: usize) -> bool {
    // SAFETY: as in `lent`.
    let host = unsafe { HOST.get().as_ref() };
    host.and_then(|host| host.handles.try_borrow().ok()?.id_at(address)).is_some()
}

/// Raises an error in the script. Nothing that has a destructor may live in the caller.
pub(super) unsafe fn raise(state: *mut lua_State, message: String) -> c_int {
    unsafe {
        ffi::lua_pushlstring(state, message.as_ptr().cast(), message.len());
        drop(message);
        ffi::lua_error(state)
    }
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

pub(super) unsafe fn text<'a>(state: *mut lua_State, at: c_int) -> Option<&'a str> {
    unsafe {
        if ffi::lua_type(state, at) != ffi::LUA_TSTRING {
            return None;
        }
        let mut length = 0;
        let start = ffi::lua_tolstring(state, at, &raw mut length);
        std::str::from_utf8(std::slice::from_raw_parts(start.cast(), length)).ok()
    }
}

/// Takes values off the stack.
pub(super) unsafe fn pop(state: *mut lua_State, count: c_int) {
    unsafe { ffi::lua_settop(state, -count - 1) }
}

/// A text of a table, which lasts as long as it is there; empty if there is none.
unsafe fn text_field<'a>(state: *mut lua_State, table: c_int, name: Name) -> &'a str {
    unsafe {
        push_field(state, table, name);
        let found = text(state, -1).unwrap_or("");
        pop(state, 1);
        found
    }
}

unsafe fn whole_field(state: *mut lua_State, table: c_int, name: Name) -> Option<i64> {
    unsafe {
        push_field(state, table, name);
        let n = whole(state, -1);
        pop(state, 1);
        n
    }
}

/// Longest text that a script hands to the host, in bytes.
const LONGEST_TEXT: usize = 64 << 10;

// Entities

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

/// write(handle, number of its class's kind, place of the field, its name, a value that is no table)
unsafe extern "C-unwind" fn write(state: *mut lua_State) -> c_int {
    // SAFETY: the prelude gives five arguments; what they are is looked at before they are used. Nothing here has a
    // destructor when the engine raises an error of its own.
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

/// shift(handle, number of its class's kind, place of the field, its name, a number, why or nil): adds to a field; says whether that
/// holds a number.
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
                // Who reads it later reads it from the host, if that is noted.
                let noted = lent(state).is_some_and(|(_, context)| context.notes_reads());
                keep_on_handle(state, plain && !noted);
                ffi::lua_pushboolean(state, 1);
                1
            }
            Err(message) => raise(state, message),
        }
    }
}

/// Puts the sum of the field and of the number that is to be added in that number's place; gives the number. Nothing if the field
/// holds no number.
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
            // It is refused where it is written.
            None => 0,
        };
        ffi::lua_pushnumber(state, now as f64 + by);
        ffi::lua_replace(state, 5);
        Some(by)
    }
}

/// The handle holds what was written, unless it is read as a table.
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

/// Puts a value on a handle, by the name below it; takes both off the stack.
unsafe fn put_on_handle(state: *mut lua_State, handle: c_int) {
    unsafe {
        ffi::lua_setreadonly(state, handle, 0);
        ffi::lua_rawset(state, handle);
        ffi::lua_setreadonly(state, handle, 1);
    }
}

/// Says whether a script reads the value as it was given.
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
    // The rules are shared by all threads: where much is written, references to them are not counted.
    let declared = context.rules.schema().kinds[kind as usize].field(field);
    let value = match unsafe { value_at(state, 5, host, &declared.ty, context.state.field(id, field)) } {
        Ok(value) => settled(&declared.ty, value),
        Err(error) => {
            let message = format!("the field `{}` of {}: {error}", declared.name, context.title(id));
            return Err(words(context.fault(message)));
        }
    };
    hold_change(context).map_err(|error| error.to_string())?;
    let plain = !matches!(value, Value::Ratio(..) | Value::List(_) | Value::Map(_)) && unsafe { !is_token(state, 5) };
    match by {
        Some(by) => {
            let why = unsafe { text(state, 6) }.map(kept_text).transpose()?;
            context.write_sum(id, field, value, by as i64, why).map_err(words)?;
        }
        None => context.write(id, field, value, None).map_err(words)?,
    }
    host.reads.note(id, field);
    Ok(plain)
}

/// A script's text as the host keeps it.
fn kept_text(text: &str) -> std::result::Result<Arc<str>, String> {
    if text.len() > LONGEST_TEXT {
        return Err(format!("a text has at most {LONGEST_TEXT} bytes"));
    }
    super::super::sandbox::hold(3 * text.len()).map_err(|error| error.to_string())?;
    Ok(Arc::from(text))
}

/// Reads a value that is no table. `ty` and `now`: the type and the value of the field that it is for, whose texts are shared.
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
            ffi::LUA_TNUMBER => match whole(state, at) {
                Some(n) => Value::Int(n),
                None => {
                    let n = ffi::lua_tonumberx(state, at, ptr::null_mut());
                    return Err(format!("{n} is not a whole number; the state holds whole numbers only"));
                }
            },
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

/// reader(places, other): what handles of a kind answer with if they do not hold it, see `read`.
unsafe extern "C-unwind" fn reader(state: *mut lua_State) -> c_int {
    // SAFETY: the prelude gives a table and a function.
    unsafe {
        ffi::lua_settop(state, 2);
        ffi::lua_pushcclosure(state, read, 2);
        1
    }
}

/// read(handle, name): the value of the field, which the handle holds from now on. What is no field, and what is a table, the
/// other function gives. Goes with the place of each field by name, and with that function.
unsafe extern "C-unwind" fn read(state: *mut lua_State) -> c_int {
    // SAFETY: as in `write`; `reader` has put the values beside this function.
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
            _ => {
                ffi::lua_pushvalue(state, ffi::lua_upvalueindex(2));
                ffi::lua_pushvalue(state, 1);
                ffi::lua_pushvalue(state, 2);
                ffi::lua_call(state, 2, 1);
            }
        }
        if let Some((host, id, field, _)) = found {
            ffi::lua_pushvalue(state, 2);
            ffi::lua_pushvalue(state, -2);
            put_on_handle(state, 1);
            host.reads.note(id, field);
        }
        1
    }
}

/// The same for the id. The handle does not hold it: an id that somebody computes with is noted each time.
unsafe fn read_id(state: *mut lua_State) -> c_int {
    unsafe {
        let address = ffi::lua_topointer(state, 1) as usize;
        let found = lent(state)
            .and_then(|(host, context)| Some((context, host.handles.try_borrow().ok()?.id_ever_at(address)?)));
        let Some((context, id)) = found else { return 0 };
        context.observers.observe(&crate::play::Op::ReadId { entity: id, state: &context.state });
        ffi::lua_pushnumber(state, f64::from(id.0));
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

/// Keys of the machine's registry: the handles, and the names of the fields of each kind.
static HANDLES: u8 = 0;
static NAMES: u8 = 1;

unsafe fn push_registered(state: *mut lua_State, key: *const u8) {
    unsafe {
        ffi::lua_pushlightuserdata(state, key.cast_mut().cast());
        ffi::lua_rawget(state, ffi::LUA_REGISTRYINDEX);
    }
}

pub(super) unsafe fn push_handles(state: *mut lua_State) {
    unsafe { push_registered(state, &raw const HANDLES) }
}

/// keep_handles(handles, names): where the functions find them, by entity id, and by kind and field.
unsafe extern "C-unwind" fn keep_handles(state: *mut lua_State) -> c_int {
    // SAFETY: the prelude gives two tables.
    unsafe {
        for (key, at) in [(&raw const HANDLES, 1), (&raw const NAMES, 2)] {
            ffi::lua_pushlightuserdata(state, key.cast_mut().cast());
            ffi::lua_pushvalue(state, at);
            ffi::lua_rawset(state, ffi::LUA_REGISTRYINDEX);
        }
        0
    }
}

/// renew_reads(): the handles hold no fields, unless those are what the state holds and nobody notes what is read. Says whether
/// somebody does.
unsafe extern "C-unwind" fn renew_reads(state: *mut lua_State) -> c_int {
    // SAFETY: as in `write`.
    unsafe {
        let Some((host, context)) = lent(state) else { return 0 };
        let noted = context.notes_reads();
        if noted || !host.reads.are_of(&context.state) {
            empty_handles(state, host);
            host.reads.begin(&context.state);
        }
        ffi::lua_pushboolean(state, c_int::from(noted));
        1
    }
}

/// forget_reads(): the handles hold no fields; what is read from now on may be no part of the state.
unsafe extern "C-unwind" fn forget_reads(state: *mut lua_State) -> c_int {
    // SAFETY: as in `write`.
    unsafe {
        let Some((host, _)) = lent(state) else { return 0 };
        empty_handles(state, host);
        host.reads.disown();
        0
    }
}

/// Before a script goes on from a snapshot: the handles hold no fields.
pub(in crate::script) unsafe extern "C-unwind" fn begin_reads(state: *mut lua_State) {
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
        while let Some((id, field)) = host.reads.pop() {
            let Some(kind) = host.handles.try_borrow().ok().and_then(|handles| handles.kind_of(id)) else { continue };
            ffi::lua_rawgeti(state, handles, ffi::lua_Integer::from(id.0));
            ffi::lua_rawgeti(state, names, ffi::lua_Integer::from(kind.0) + 1);
            ffi::lua_rawgeti(state, names + 2, ffi::lua_Integer::from(field.0) + 1);
            // A kind that a new entity of that number has may have fewer fields.
            if ffi::lua_type(state, -1) == ffi::LUA_TSTRING {
                ffi::lua_pushnil(state);
                put_on_handle(state, names + 1);
            }
            ffi::lua_settop(state, names);
        }
        ffi::lua_settop(state, handles - 1);
    }
}

// Questions

/// What the prelude is told of who answers.
const READER: c_int = 0;
const POLICY: c_int = 1;
const DEFAULT: c_int = 2;

/// ask(seat, what the question is about): who answers the next question of a seat, and the id of the policy if it is one.
unsafe extern "C-unwind" fn ask(state: *mut lua_State) -> c_int {
    // SAFETY: as in `write`.
    unsafe {
        let answerer = match (lent(state), text(state, 1)) {
            (None, _) => Err(NO_GAME.to_string()),
            (Some((host, context)), _) if !is_about(state, 2, host) => {
                Err(message_of(&not_about(context, type_name(state, 2))).to_string())
            }
            (Some((_, context)), None) => {
                Err(message_of(&context.fault("the `seat` of a question must be a text")).to_string())
            }
            (Some((host, context)), Some(seat)) => {
                host.before_policy.set(context.position());
                context.answerer(seat).map_err(|stop| message_of(&stop).to_string())
            }
        };
        match answerer {
            Ok(Answerer::Reader) => ffi::lua_pushinteger(state, READER as ffi::lua_Integer),
            Ok(Answerer::Default) => ffi::lua_pushinteger(state, DEFAULT as ffi::lua_Integer),
            Ok(Answerer::Policy(policy)) => {
                ffi::lua_pushinteger(state, POLICY as ffi::lua_Integer);
                ffi::lua_pushlstring(state, policy.as_ptr().cast(), policy.len());
                return 2;
            }
            Err(message) => return raise(state, message),
        }
        1
    }
}

/// Who gave an answer, by the prelude's number.
pub(super) fn by_of(number: i64) -> By {
    match number {
        1 => By::Policy,
        _ => By::Default,
    }
}

/// Options of a question as a script gave them: a list of texts, handles and tables, or nothing yet.
struct Listed<'a> {
    state: *mut lua_State,
    host: &'a HostState,
    /// Where the list is on the stack; 0 where only one option has been looked at.
    list: c_int,
    /// The option that was found to be open without the list.
    opened: Option<usize>,
}

impl Listed<'_> {
    /// Calls `look` with the option on top of the stack, if it is a table of its own.
    fn with<R>(&self, at: usize, look: impl FnOnce(*mut lua_State) -> R) -> Option<R> {
        if self.list == 0 {
            return None;
        }
        // SAFETY: the list is a table on the stack; what is pushed is taken off again.
        unsafe {
            ffi::lua_rawgeti(self.state, self.list, at as ffi::lua_Integer + 1);
            let own = ffi::lua_type(self.state, -1) == ffi::LUA_TTABLE && {
                let address = ffi::lua_topointer(self.state, -1) as usize;
                self.host.handles.borrow().id_at(address).is_none()
            };
            let found = own.then(|| look(self.state));
            pop(self.state, 1);
            found
        }
    }

    fn text_of(&self, at: usize, name: Name) -> Option<String> {
        self.with(at, |state| unsafe {
            push_field(state, -1, name);
            let found = text(state, -1).map(str::to_string);
            pop(state, 1);
            found
        })?
    }

    /// What the option is called, for messages.
    fn label(&self, context: &ActionContext, at: usize) -> String {
        let own = self.text_of(at, Name::Label).or_else(|| self.text_of(at, Name::Id));
        own.unwrap_or_else(|| {
            if self.list == 0 {
                return format!("option {}", at + 1);
            }
            // SAFETY: as in `with`.
            unsafe {
                ffi::lua_rawgeti(self.state, self.list, at as ffi::lua_Integer + 1);
                let address = ffi::lua_topointer(self.state, -1) as usize;
                let entity = self.host.handles.borrow().id_at(address);
                let label = match (text(self.state, -1), entity) {
                    (Some(text), _) => text.to_string(),
                    (None, Some(id)) => context.title(id).to_string(),
                    (None, None) => format!("option {}", at + 1),
                };
                pop(self.state, 1);
                label
            }
        })
    }
}

impl Options for Listed<'_> {
    fn is_open(&self, at: usize) -> bool {
        if self.list == 0 {
            return self.opened == Some(at);
        }
        self.with(at, |state| unsafe {
            push_field(state, -1, Name::Enabled);
            let greyed = ffi::lua_type(state, -1) == ffi::LUA_TBOOLEAN && ffi::lua_toboolean(state, -1) == 0;
            pop(state, 1);
            !greyed
        })
        .unwrap_or(true)
    }

    fn most(&self, at: usize) -> Option<i64> {
        self.with(at, |state| unsafe { whole_field(state, -1, Name::Max) })?
    }
}

/// An answer as the prelude gives it.
enum Given<'a> {
    One(usize),
    Many(Vec<usize>),
    Points(Vec<i64>),
    Number(i64),
    Yes(bool),
    Text(&'a str),
    Nothing,
}

unsafe fn given<'a>(state: *mut lua_State, at: c_int, kind: AskKind) -> Given<'a> {
    unsafe {
        match (kind, ffi::lua_type(state, at)) {
            (_, ffi::LUA_TBOOLEAN) => Given::Yes(ffi::lua_toboolean(state, at) != 0),
            (_, ffi::LUA_TSTRING) => text(state, at).map_or(Given::Nothing, Given::Text),
            (AskKind::Choose, ffi::LUA_TNUMBER) => match whole(state, at).and_then(|n| usize::try_from(n - 1).ok()) {
                Some(place) => Given::One(place),
                None => Given::Nothing,
            },
            (_, ffi::LUA_TNUMBER) => whole(state, at).map_or(Given::Nothing, Given::Number),
            (_, ffi::LUA_TTABLE) => {
                let length = ffi::lua_objlen(state, at).min(MOST_GIVEN);
                let mut numbers = Vec::with_capacity(length);
                for place in 1..=length {
                    ffi::lua_rawgeti(state, at, place as ffi::lua_Integer);
                    let n = whole(state, -1);
                    pop(state, 1);
                    match n {
                        Some(n) => numbers.push(n),
                        None => return Given::Nothing,
                    }
                }
                if kind == AskKind::Allot {
                    return Given::Points(numbers);
                }
                let places: Option<Vec<usize>> = numbers.into_iter().map(|n| usize::try_from(n - 1).ok()).collect();
                places.map_or(Given::Nothing, Given::Many)
            }
            _ => Given::Nothing,
        }
    }
}

/// Most places or points of an answer that are looked at: more than a question has options.
const MOST_GIVEN: usize = 1_001;

/// answered(kind, question, answer in places, by whom, whether the chosen option is known to be open, and of the question:
/// options, cards, min, max, total, least, other): checks the answer; says whether somebody wants it in words.
unsafe extern "C-unwind" fn answered(state: *mut lua_State) -> c_int {
    // SAFETY: as in `write`.
    unsafe {
        match check_answer(state) {
            Ok(words) => {
                ffi::lua_pushboolean(state, c_int::from(words));
                1
            }
            Err(message) => raise(state, message),
        }
    }
}

/// The numbers by which the prelude names who gave an answer.
const BY_ONLY: i64 = 3;

/// Whether a question may be about the value: nothing, or an entity that is there.
unsafe fn is_about(state: *mut lua_State, at: c_int, host: &HostState) -> bool {
    unsafe {
        match ffi::lua_type(state, at) {
            ffi::LUA_TNIL | ffi::LUA_TNONE => true,
            ffi::LUA_TTABLE => host.handles.borrow().id_at(ffi::lua_topointer(state, at) as usize).is_some(),
            _ => false,
        }
    }
}

/// Whether an option is the handle of an entity that has been taken away.
unsafe fn is_gone(state: *mut lua_State, list: c_int, at: usize, host: &HostState) -> bool {
    unsafe {
        ffi::lua_rawgeti(state, list, at as ffi::lua_Integer);
        let address = ffi::lua_topointer(state, -1) as usize;
        let handle = ffi::lua_type(state, -1) == ffi::LUA_TTABLE && ffi::lua_getmetatable(state, -1) != 0;
        pop(state, if handle { 2 } else { 1 });
        handle && host.handles.borrow().id_at(address).is_none()
    }
}

unsafe fn type_name(state: *mut lua_State, at: c_int) -> &'static str {
    // SAFETY: the engine's names of types last.
    unsafe { std::ffi::CStr::from_ptr(ffi::lua_typename(state, ffi::lua_type(state, at))).to_str().unwrap_or("value") }
}

unsafe fn check_answer(state: *mut lua_State) -> std::result::Result<bool, String> {
    let Some((host, context)) = lent(state) else { return Err(NO_GAME.into()) };
    let words = |stop: Stop| message_of(&stop).to_string();
    unsafe {
        context.may_leave_open("asking").map_err(words)?;
        let kind = whole(state, 1).and_then(|n| AskKind::ALL.get(usize::try_from(n - 1).ok()?)).copied();
        let Some(kind) = kind else { return Err(words(context.fault("there is no such kind of question"))) };
        ffi::lua_settop(state, 12);
        let is_list = |at| ffi::lua_type(state, at) == ffi::LUA_TTABLE;
        let listed = is_list(6);
        let list = if listed { 6 } else { 7 };
        let count = if is_list(list) { ffi::lua_objlen(state, list) } else { 0 };
        if listed
            && host.handles.borrow().has_tombstones()
            && let Some(at) = (1..=count).find(|at| is_gone(state, 6, *at, host))
        {
            return Err(words(gone_option(context, at)));
        }
        let given = given(state, 3, kind);
        let opened = match (&given, ffi::lua_toboolean(state, 5)) {
            (Given::One(at), 1) => Some(*at),
            _ => None,
        };
        let options = Listed { state, host, list: if listed { 6 } else { 0 }, opened };
        let [min, max, total, least] = [8, 9, 10, 11].map(|at| whole(state, at));
        let other = ffi::lua_type(state, 12) == ffi::LUA_TBOOLEAN && ffi::lua_toboolean(state, 12) != 0;
        let shape = match Shape::new(kind, count, Limits { min, max, total, least, other }) {
            Ok(shape) => shape,
            Err(lacking) => {
                let topic = text_field(state, 2, Name::Topic);
                let message = format!("the question `{topic}` needs `{lacking}`, a whole number");
                return Err(words(context.fault(message)));
            }
        };
        let checked = match &given {
            Given::One(at) => shape.check(&options, Places::One(*at)),
            Given::Many(places) => shape.check(&options, Places::Many(places)),
            Given::Points(points) => shape.check(&options, Places::Points(points)),
            Given::Number(n) => shape.check(&options, Places::Number(*n)),
            Given::Yes(yes) => shape.check(&options, Places::Yes(*yes)),
            Given::Text(text) => shape.check(&options, Places::Text(text)),
            Given::Nothing => Err(Misfit::Kind),
        };
        let by = whole(state, 4).unwrap_or_default();
        if let Err(misfit) = checked {
            let label = |at: usize| options.label(context, at);
            let reason = |at: usize| options.text_of(at, Name::Reason);
            let topic = text_field(state, 2, Name::Topic);
            let refusal = misfit.refusal(&shape, topic, label, reason);
            let message = match by {
                1 => format!("the policy's answer to `{topic}` is refused: {refusal}"),
                _ => format!("the default of the question `{topic}` does not fit: {refusal}"),
            };
            return Err(words(context.fault(message)));
        }
        if by == BY_ONLY {
            context.pulse += 1;
            push_field(state, 2, Name::About);
            if !is_about(state, -1, host) {
                return Err(words(not_about(context, type_name(state, -1))));
            }
            pop(state, 1);
            context.open_seat(text_field(state, 2, Name::Seat)).map_err(words)?;
        }
        if let (AskKind::Choose, Given::One(at)) = (kind, &given)
            && context.observers.wants_card()
            && let Some(card) = chosen_card(state, context, listed, *at)
        {
            context.answered(Arc::from(text_field(state, 2, Name::Seat)), card);
        }
        Ok(!context.is_headless())
    }
}

/// The card that an option stands for, if it is one.
unsafe fn chosen_card(state: *mut lua_State, context: &ActionContext, listed: bool, at: usize) -> Option<Arc<str>> {
    unsafe {
        ffi::lua_rawgeti(state, if listed { 6 } else { 7 }, at as ffi::lua_Integer + 1);
        if listed && ffi::lua_type(state, -1) == ffi::LUA_TTABLE {
            push_field(state, -1, Name::Id);
            ffi::lua_remove(state, -2);
        }
        let card = text(state, -1).and_then(|id| context.rules.card(id)).map(|card| Arc::from(&*card.id));
        pop(state, 1);
        card
    }
}

// Agenda

/// The token of an agenda entry: it names the entry, and no number can be read off it by accident. Its upper half is the number
/// that scripts are given who ask for one.
pub(super) fn token_of(id: EntryId, number: u32) -> Lv {
    let both = u64::from(number) << 32 | u64::from(id.0);
    Lv::LightUserData(LightUserData(both as usize as *mut std::os::raw::c_void))
}

/// The number of the entry that a token names.
pub(in crate::script) fn number_of(token: usize) -> u32 {
    (token as u64 >> 32) as u32
}

/// The entry that a token names.
pub(in crate::script) fn entry_of(token: &Lv) -> Option<EntryId> {
    match token {
        Lv::LightUserData(token) => Some(EntryId(token.0 as usize as u32)),
        _ => None,
    }
}

unsafe fn is_token(state: *mut lua_State, at: c_int) -> bool {
    unsafe { ffi::lua_type(state, at) == ffi::LUA_TLIGHTUSERDATA }
}

/// entry_metatable(metatable): what tokens do in arithmetic and comparisons.
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

/// next(): what is due, the number of its owner or nothing, its argument, and whether entities have come or gone that the
/// machine does not know of. The argument is a null pointer where it is more than a bare value. Nothing at all where the loop ends.
unsafe extern "C-unwind" fn next(state: *mut lua_State) -> c_int {
    // SAFETY: as in `write`; the entry lasts as long as its action, and so beyond this function.
    unsafe {
        let Some((host, context)) = lent(state) else { return 0 };
        if context.stop.is_some() {
            return 0;
        }
        host.reads.keep_up(&context.state);
        if host.handles.borrow().saw_entry_number.take() {
            context.observers.observe(&crate::play::Op::ReadEntryNumber);
        }
        if context.next_headless().is_none() {
            return 0;
        }
        let others = context.state.is_stale();
        let Some(entry) = context.due() else { return 0 };
        renew(Budget::ACTION);
        host.count_run();
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

// Locks

/// lock(table): it cannot be changed until `thaw`.
unsafe extern "C-unwind" fn lock(state: *mut lua_State) -> c_int {
    // SAFETY: the prelude gives a table.
    unsafe {
        ffi::lua_setreadonly(state, 1, 1);
        ffi::lua_settop(state, 1);
        1
    }
}

unsafe extern "C-unwind" fn thaw(state: *mut lua_State) -> c_int {
    // SAFETY: the prelude gives a table.
    unsafe {
        ffi::lua_setreadonly(state, 1, 0);
        0
    }
}

/// Deepest table, and most tables, that `lock_deep` locks.
const LOCKED_DEPTH: c_int = 6;
const MOST_LOCKED: ffi::lua_Integer = 4_000;

/// lock_deep(value, list): locks a table and the tables in it, and notes in the list those that were not locked before.
unsafe extern "C-unwind" fn lock_deep(state: *mut lua_State) -> c_int {
    // SAFETY: the prelude gives a value and a table.
    unsafe {
        let mut count = ffi::lua_objlen(state, 2) as ffi::lua_Integer;
        lock_from(state, 1, LOCKED_DEPTH, &mut count);
        0
    }
}

unsafe fn lock_from(state: *mut lua_State, at: c_int, depth: c_int, count: &mut ffi::lua_Integer) {
    unsafe {
        if ffi::lua_type(state, at) != ffi::LUA_TTABLE
            || ffi::lua_getreadonly(state, at) != 0
            || *count >= MOST_LOCKED
            || ffi::lua_checkstack(state, 8) == 0
        {
            return;
        }
        ffi::lua_setreadonly(state, at, 1);
        *count += 1;
        ffi::lua_pushvalue(state, at);
        ffi::lua_rawseti(state, 2, *count);
        if depth == 0 {
            return;
        }
        let mut place = 0;
        loop {
            place = ffi::lua_rawiter(state, at, place);
            if place < 0 {
                return;
            }
            lock_from(state, ffi::lua_gettop(state), depth - 1, count);
            pop(state, 2);
        }
    }
}

/// thaw_all(list, from): thaws the tables of a list behind a place, and takes them out of it.
unsafe extern "C-unwind" fn thaw_all(state: *mut lua_State) -> c_int {
    // SAFETY: the prelude gives a list of tables and a number.
    unsafe {
        let from = whole(state, 2).unwrap_or(0);
        let mut at = ffi::lua_objlen(state, 1) as i64;
        while at > from {
            ffi::lua_rawgeti(state, 1, at as ffi::lua_Integer);
            ffi::lua_setreadonly(state, -1, 0);
            pop(state, 1);
            ffi::lua_pushnil(state);
            ffi::lua_rawseti(state, 1, at as ffi::lua_Integer);
            at -= 1;
        }
        0
    }
}

/// captured(function): a list of the tables and functions that a function of a file has captured.
unsafe extern "C-unwind" fn captured(state: *mut lua_State) -> c_int {
    // SAFETY: the prelude gives a function.
    unsafe {
        ffi::lua_settop(state, 1);
        ffi::lua_createtable(state, 0, 0);
        let (mut at, mut count) = (1, 0);
        while !ffi::lua_getupvalue(state, 1, at).is_null() {
            if matches!(ffi::lua_type(state, -1), ffi::LUA_TTABLE | ffi::LUA_TFUNCTION) {
                count += 1;
                ffi::lua_rawseti(state, 2, count);
            } else {
                pop(state, 1);
            }
            at += 1;
        }
        1
    }
}
