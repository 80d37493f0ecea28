//! What conversion scripts (`convert/`) have: the former state of the game, and functions of their own.

use std::rc::Rc;
use std::sync::Arc;

use mlua::{Lua, Result, Table, Value as Lv, Variadic};

use super::conversion::{from_lua, to_lua};
use super::handles::Handles;
use super::host::agenda::entry_tables;
use super::host::arguments::{fill, text_arg};
use super::host::entities::entity_arg;
use super::host::refusal::{fault, stopped};
use super::host::state::{HostState, host_function};
use riskbreaker_play::{ActionContext, Former, MigrationFate, MigrationNote, Op};
use riskbreaker_state::EntityId;

/// Converts a game's former state to a table of plain data; references are to the current entities.
pub(super) fn former_table(former: &Former, lua: &Lua, handles: &Handles) -> Result<Table> {
    let (rows, kinds) = (lua.create_table()?, lua.create_table()?);
    for kind in &former.schema.kinds {
        kinds.raw_set(&*kind.name, lua.create_table()?)?;
    }
    for (id, entity) in former.state.entities() {
        let kind = former.schema.kind(entity.kind);
        let row = lua.create_table()?;
        for (field, value) in kind.fields.iter().zip(&entity.fields) {
            row.raw_set(&*field.name, to_lua(lua, value, handles)?)?;
        }
        row.raw_set("id", id.0)?;
        row.raw_set("kind", &*kind.name)?;
        row.raw_set("now", handles.handle(id))?;
        row.set_readonly(true);
        rows.raw_set(id.0, &row)?;
        kinds.raw_get::<Table>(&*kind.name)?.raw_push(row)?;
    }
    let switches = lua.create_table()?;
    for (name, value) in former.switches.iter() {
        switches.raw_set(&**name, to_lua(lua, value, handles)?)?;
    }
    let agenda = entry_tables(lua, former.state.agenda().entries(), handles)?;
    let table = lua.create_table()?;
    table.raw_set("version", &*former.version)?;
    // Lists in scripts begin at 1.
    table.raw_set("steps", lua.create_sequence_from(former.steps.iter().map(|at| at + 1))?)?;
    for (name, value) in [("rows", rows), ("kinds", kinds), ("switches", switches), ("agenda", agenda)] {
        value.set_readonly(true);
        table.raw_set(name, value)?;
    }
    Ok(table)
}

/// A note: the fate, the broken rule, the topic, the text, and the values for its placeholders.
type LuaNote = (String, Option<String>, Lv, Lv, Variadic<Lv>);

/// Adds the functions that only conversion scripts have.
pub(super) fn add(lua: &Lua, host: &Rc<HostState>, table: &Table) -> Result<()> {
    host_function!(lua, host, table, "migration_note", |_, b, (fate, rule, topic, text, args): LuaNote| {
        let context = b.context()?;
        context.may_go_on().map_err(stopped)?;
        let topic = text_arg(context, &topic, "the topic of a note")?;
        let template = text_arg(context, &text, "the text of a note")?;
        let text = fill(&template, &args, context, &b.handles.borrow());
        let Some(fate) = MigrationFate::named(&fate) else {
            return Err(fault(context, format!("there is no note `{fate}`")));
        };
        context.observers.observe(&Op::Note);
        context.run.notes.push(MigrationNote { fate, topic: topic.to_string(), text, rule });
        Ok(())
    });
    host_function!(lua, host, table, "shelve", |_, b, (handle, ruleset): (Lv, String)| {
        let context = b.context()?;
        context.may_act("keeping an entity aside").map_err(stopped)?;
        let mut handles = b.handles.borrow_mut();
        let id = entity_arg(context, &handles, &handle, "shelve")?;
        let rules = context.rules.clone();
        let (gone, touched) = context.state.shelve(id, rules.schema(), Some(&*ruleset));
        context.observers.observe(&Op::Note);
        gone.into_iter().for_each(|gone| handles.remove(gone));
        touched.iter().try_for_each(|(other, field)| handles.forget_field(rules.schema(), *other, *field))
    });
    host_function!(lua, host, table, "keep", |_, b, (handle, name, value): (Lv, Lv, Lv)| {
        let context = b.context()?;
        context.may_act("keeping a value aside").map_err(stopped)?;
        let (id, name) = named(b, context, &handle, &name, "keep")?;
        let value = from_lua(&value, &b.handles.borrow());
        let value = value.map_err(|error| fault(context, format!("what is kept aside must be plain data: {error}")))?;
        context.state.dormant_mut().notes.entry(id).or_default().insert(name, value);
        Ok(())
    });
    host_function!(lua, host, table, "kept", |lua, b, (handle, name): (Lv, Lv)| {
        let context = b.context()?;
        context.may_go_on().map_err(stopped)?;
        let (id, name) = named(b, context, &handle, &name, "kept")?;
        match context.state.dormant().kept(id, &name) {
            Some(value) => to_lua(lua, value, &b.handles.borrow()),
            None => Ok(Lv::Nil),
        }
    });
    host_function!(lua, host, table, "forget", |_, b, (handle, name): (Lv, Lv)| {
        let context = b.context()?;
        context.may_act("forgetting a value").map_err(stopped)?;
        let (id, name) = named(b, context, &handle, &name, "forget")?;
        context.state.dormant_mut().forget(id, &name);
        Ok(())
    });
    Ok(())
}

fn named(
    host: &HostState,
    context: &mut ActionContext,
    handle: &Lv,
    name: &Lv,
    what: &str,
) -> Result<(EntityId, Arc<str>)> {
    let id = entity_arg(context, &host.handles.borrow(), handle, what)?;
    Ok((id, text_arg(context, name, "the name of a value")?))
}
