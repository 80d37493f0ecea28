//! The host functions, through which all effects of scripts on a game pass. None calls a script.
//!
//! Each operation is implemented once, in `operation.rs` and `inputs.rs` of the context; a function here converts the
//! script's arguments. The most frequent ones are plain C functions of the engine (`stack.rs`) and allocate nothing.

pub(super) mod agenda;
mod answering;
pub(super) mod arguments;
mod attachments;
mod cost;
mod dice;
pub(super) mod entities;
pub(super) mod fill;
mod locks;
mod log;
mod messages;
mod plane;
mod queries;
mod questions;
mod raw;
pub(super) mod refusal;
mod relations;
mod schema_names;
pub(super) mod stack;
pub(super) mod state;
pub(super) mod token;

use std::rc::Rc;

use mlua::{Lua, Result, Table};

use state::HostState;

/// Makes the table of host functions for the prelude.
pub(super) fn functions(lua: &Lua, host: &Rc<HostState>) -> Result<Table> {
    let table = lua.create_table()?;
    messages::add(lua, host, &table)?;
    entities::add(lua, host, &table)?;
    relations::add(lua, host, &table)?;
    plane::add(lua, &table)?;
    queries::add(lua, &table)?;
    attachments::add(lua, host, &table)?;
    questions::add(lua, host, &table)?;
    dice::add(lua, host, &table)?;
    agenda::add(lua, host, &table)?;
    agenda::due_parts(lua, host, &table)?;
    log::add(lua, host, &table)?;
    super::convert::add(lua, host, &table)?;
    stack::add(lua, &table)?;
    locks::add(lua, &table)?;
    let (handles, names, numbered) = (lua.create_table()?, lua.create_table()?, lua.create_table()?);
    numbered.set_metatable(Some(lua.create_table_from([("__mode", "v")])?))?;
    table.raw_set("handles", &handles)?;
    table.raw_set("field_names", &names)?;
    table.raw_set("field_tables", &numbered)?;
    let mut own = host.handles.borrow_mut();
    (own.listed, own.names, own.numbered) = (Some(handles), Some(names), Some(numbered));
    Ok(table)
}
