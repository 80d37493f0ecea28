//! Converts values between the host and scripts.

use std::collections::BTreeMap;
use std::sync::Arc;

use mlua::{BorrowedStr, Error, Lua, Result, Table, Value as Lv};

use super::budget::hold;
use super::handles::Handles;
use super::host::token::number_of;
use super::whole_number::whole;
use riskbreaker_state::Value;

/// The most values in a table that a script gives to the host.
const MAX_NODES: usize = 10_000;
const MAX_DEPTH: usize = 16;
const MAX_TEXT: usize = 64 << 10;
/// The size of a value on the host's side, in bytes, as charged.
const NODE: usize = 48;
/// The number of copies of a text that are charged: in the state, in the journal, and in log texts.
const COPIES: usize = 3;

/// The error of a script value that is no plain data.
fn unfit(message: impl Into<String>) -> Error {
    Error::RuntimeError(message.into())
}

/// Converts a script's value to plain data. Handles become entities.
pub(super) fn from_lua(value: &Lv, handles: &Handles) -> Result<Value> {
    let mut nodes = 0;
    read(value, handles, 0, &mut nodes)
}

/// Converts a value of a program without entities.
pub(super) fn plain_from(value: &Lv) -> Result<Value> {
    from_lua(value, &Handles::default())
}

/// Converts plain data for a program, without entities.
pub(super) fn plain_to(lua: &Lua, value: &Value) -> Result<Lv> {
    to_lua(lua, value, &Handles::default())
}

fn read(value: &Lv, handles: &Handles, depth: usize, nodes: &mut usize) -> Result<Value> {
    *nodes += 1;
    if *nodes > MAX_NODES || depth > MAX_DEPTH {
        return Err(unfit(format!("the table is too large: at most {MAX_NODES} values, {MAX_DEPTH} deep")));
    }
    hold(NODE)?;
    Ok(match value {
        Lv::Nil => Value::None,
        Lv::Boolean(yes) => Value::Bool(*yes),
        Lv::Integer(n) => Value::Int(whole(*n as f64).map_err(unfit)?),
        Lv::Number(n) => Value::Int(whole(*n).map_err(unfit)?),
        Lv::LightUserData(token) => {
            handles.saw_entry_number.set(true);
            Value::Int(i64::from(number_of(token.0 as usize)))
        }
        Lv::String(text) => Value::Text(text_of(text)?),
        Lv::Table(table) => {
            if let Some(id) = handles.id_of(table) {
                return Ok(Value::Entity(id));
            }
            if let Some(total) = handles.total_of(table) {
                return read(&total, handles, depth, nodes);
            }
            if table.metatable().is_some() {
                return Err(unfit("a table with a metatable is not plain data"));
            }
            let length = table.raw_len();
            let mut pairs = 0;
            let mut list: Vec<Option<Value>> = Vec::new();
            let mut map = BTreeMap::new();
            for pair in table.pairs::<Lv, Lv>() {
                let (key, item) = pair?;
                pairs += 1;
                let item = read(&item, handles, depth + 1, nodes)?;
                match &key {
                    Lv::String(key) => {
                        map.insert(text_of(key)?, item);
                    }
                    Lv::Integer(_) | Lv::Number(_) => {
                        let at = whole_of(&key).unwrap_or(0);
                        if at < 1 || at as usize > length {
                            return Err(unfit("a list has the keys 1, 2, 3 ... without a gap"));
                        }
                        list.resize(list.len().max(at as usize), None);
                        list[at as usize - 1] = Some(item);
                    }
                    other => return Err(unfit(format!("a {} cannot be a key of plain data", sort_of(other)))),
                }
            }
            if map.is_empty() {
                if list.len() != pairs || list.iter().any(Option::is_none) {
                    return Err(unfit("a list has the keys 1, 2, 3 ... without a gap"));
                }
                Value::List(list.into_iter().flatten().collect())
            } else if list.is_empty() {
                Value::Map(Arc::new(map))
            } else {
                return Err(unfit("a table is either a list or a map, not both"));
            }
        }
        other => return Err(unfit(format!("a {} is not plain data", sort_of(other)))),
    })
}

/// The name of a value's type for authors, for whom there is only one type of numbers.
pub(super) fn sort_of(value: &Lv) -> &'static str {
    match value {
        Lv::Integer(_) => "number",
        value => value.type_name(),
    }
}

/// The whole number of a script's value. `None` if it is none, or too large for the state.
pub(super) fn whole_of(value: &Lv) -> Option<i64> {
    whole_or_why(value).ok()
}

/// Converts a number of a script to a whole number. The error says why it is none.
pub(super) fn whole_or_why(value: &Lv) -> std::result::Result<i64, String> {
    match value {
        Lv::Integer(n) => whole(*n as f64),
        Lv::Number(n) => whole(*n),
        Lv::Nil => Err("nothing is no number".into()),
        other => Err(format!("a {} is no number", sort_of(other))),
    }
}

pub(super) fn text_of(text: &mlua::LuaString) -> Result<Arc<str>> {
    kept_name(text).map(|text| Arc::from(&*text))
}

/// A text that is charged as one that is stored.
pub(super) fn kept_name(text: &mlua::LuaString) -> Result<BorrowedStr> {
    let text = name_of(text)?;
    hold(COPIES * text.len())?;
    Ok(text)
}

/// A text that is only looked up and not stored: it is charged nothing. A lookup that a machine caches must be free,
/// since the action that causes it depends on earlier runs of the machine.
pub(super) fn name_of(text: &mlua::LuaString) -> Result<BorrowedStr> {
    if text.as_bytes().len() > MAX_TEXT {
        return Err(unfit(format!("a text has at most {MAX_TEXT} bytes")));
    }
    text.to_str().map_err(|_| unfit("a text must be UTF-8"))
}

/// Converts plain data for a script: lists and maps are frozen, maps are built in the order of their keys.
pub(super) fn to_lua(lua: &Lua, value: &Value, handles: &Handles) -> Result<Lv> {
    Ok(match value {
        Value::None => Lv::Nil,
        Value::Bool(yes) => Lv::Boolean(*yes),
        Value::Int(n) => Lv::Number(*n as f64),
        Value::Ratio(n, d) => frozen(lua, [*n as f64, *d as f64].into_iter().map(Lv::Number))?,
        Value::Text(text) => Lv::String(lua.create_string(&**text)?),
        Value::Entity(id) => handles.handle(*id).map_or(Lv::Nil, |handle| Lv::Table(handle.clone())),
        Value::List(items) => {
            let items: Vec<Lv> = items.iter().map(|item| to_lua(lua, item, handles)).collect::<Result<_>>()?;
            frozen(lua, items.into_iter())?
        }
        Value::Map(items) => {
            let table = lua.create_table_with_capacity(0, items.len())?;
            for (key, item) in items.iter() {
                table.raw_set(&**key, to_lua(lua, item, handles)?)?;
            }
            table.set_readonly(true);
            Lv::Table(table)
        }
    })
}

fn frozen(lua: &Lua, items: impl Iterator<Item = Lv>) -> Result<Lv> {
    let table: Table = lua.create_sequence_from(items)?;
    table.set_readonly(true);
    Ok(Lv::Table(table))
}
