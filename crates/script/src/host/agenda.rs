use std::rc::Rc;
use std::sync::Arc;

use mlua::{Lua, Result, Table, Value as Lv};

use super::super::account::charge;
use super::super::budget::hold;
use super::super::conversion::{from_lua, to_lua, whole_of, whole_or_why};
use super::super::handles::Handles;
use super::arguments::{text_arg, told};
use super::cost::TOLD;
use super::entities::entity_arg;
use super::refusal::{fault, plain, stopped};
use super::state::{HostState, host_function};
use riskbreaker_play::{ActionContext, Op};
use riskbreaker_ruleset::{instead, quoted::quoted};
use riskbreaker_state::{Due, Entry, EntryId, Key, RelativeKey};

pub(super) fn add(lua: &Lua, host: &Rc<HostState>, table: &Table) -> Result<()> {
    // schedule(what, key, step or nothing, owner, arguments): the token of a new entry
    host_function!(lua, host, table, "schedule", |_, b, (what, key, step, owner, args): (Lv, Lv, Lv, Lv, Lv)| {
        let context = b.context()?;
        let handles = b.handles.borrow();
        let what = entry_named(b, context, &what)?;
        let key = read_key(context, &key)?;
        let every = match step {
            Lv::Nil => None,
            step => Some(Box::new(read_absolute_key(context, &step)?)),
        };
        let owner = match owner {
            Lv::Nil => None,
            owner => Some(entity_arg(context, &handles, &owner, "the owner of an entry")?),
        };
        let args = match from_lua(&args, &handles) {
            Ok(args) => args,
            Err(error) => {
                return Err(fault(context, format!("the arguments of the entry `{what}`: {}", plain(&error))));
            }
        };
        charge(16);
        hold(TOLD)?;
        let entry = context.schedule(key, Due { what, owner, args, every }).map_err(stopped)?;
        Ok(super::token::token_of(entry.id, entry.number()))
    });
    host_function!(lua, host, table, "cancel", |_, b, entry: Lv| {
        let context = b.context()?;
        let id = entry_arg(context, &entry, "rb.cancel")?;
        charge_search(context);
        hold(TOLD)?;
        context.cancel(id).map_err(stopped)
    });
    host_function!(lua, host, table, "rekey", |_, b, (entry, key): (Lv, Lv)| {
        let context = b.context()?;
        let id = entry_arg(context, &entry, "rb.rekey")?;
        let key = read_key(context, &key)?;
        charge_search(context);
        hold(TOLD)?;
        context.rekey(id, key).map_err(stopped)
    });
    host_function!(lua, host, table, "agenda", |lua, b, filter: Option<Table>| {
        let context = b.context()?;
        context.may_go_on().map_err(stopped)?;
        context.observers.observe(&Op::ReadAgenda);
        let handles = b.handles.borrow();
        let (mut what, mut owner) = (None, None);
        if let Some(filter) = filter {
            for pair in filter.pairs::<String, Lv>() {
                match pair? {
                    (name, value) if name == "what" => what = Some(text_arg(context, &value, "`what`")?),
                    (name, value) if name == "owner" => {
                        owner = Some(entity_arg(context, &handles, &value, "`owner`")?);
                    }
                    (name, _) => {
                        return Err(fault(context, format!("rb.agenda knows `what` and `owner`, not `{name}`")));
                    }
                }
            }
        }
        charge_search(context);
        let wanted = |entry: &&Entry| {
            what.as_ref().is_none_or(|what| *what == entry.what) && owner.is_none_or(|owner| entry.owner == Some(owner))
        };
        let entries = context.shown().agenda().entries().filter(wanted).inspect(|_| charge(128));
        let list = entry_tables(lua, entries, &handles)?;
        list.set_readonly(true);
        Ok(list)
    });
    // The number in an entry's token. A script that reads it depends on the number of earlier entries.
    host_function!(lua, host, table, "entry_number", |_, b, token: Lv| {
        let context = b.context()?;
        context.observers.observe(&Op::ReadEntryNumber);
        Ok(super::token::entry_of(&token).map(|_| super::token::number_of(token.to_pointer() as usize)))
    });
    Ok(())
}

/// Charges a search through all entries.
fn charge_search(context: &ActionContext) {
    charge(1 + context.state.agenda().entries().len() as i64 / 64);
}

fn entry_named(host: &HostState, context: &mut ActionContext, what: &Lv) -> Result<Arc<str>> {
    let name = text_arg(context, what, "the name of an entry")?;
    let entries = host.entries.borrow();
    if let Some(what) = entries.iter().find(|entry| **entry == name) {
        return Ok(what.clone());
    }
    let meant = instead(&name, entries.iter().map(|entry| &**entry));
    Err(fault(context, format!("there is no entry `{name}` in play.luau; {meant}")))
}

/// The entry that a script names by its token or by its number.
fn entry_arg(context: &mut ActionContext, entry: &Lv, what: &str) -> Result<EntryId> {
    let number = || whole_of(entry).and_then(|n| u32::try_from(n).ok());
    // A number without an entry names a removed one.
    let number = || number().map(|number| context.state.entry_numbered(number).unwrap_or(EntryId(0)));
    match super::token::entry_of(entry).or_else(number) {
        Some(id) => Ok(id),
        None => Err(fault(
            context,
            format!("{what} takes what rb.schedule or rb.agenda has given for an entry, not {}", told(entry)),
        )),
    }
}

/// Reads a key from a script: a text such as "+1" is relative to the running entry.
fn read_key(context: &mut ActionContext, value: &Lv) -> Result<RelativeKey> {
    let (mut places, mut relative) = (Vec::new(), 0);
    for (at, item) in places_of(value)?.iter().enumerate() {
        let place = match item {
            Lv::String(text) => {
                relative |= 1_u8.checked_shl(at as u32).unwrap_or_default();
                distance(&text.to_string_lossy())
            }
            number => whole_or_why(number),
        };
        places.push(place.map_err(|why| no_key(context, &why))?);
    }
    RelativeKey::new(&places, relative).map_err(|error| fault(context, error.to_string()))
}

/// Reads a key without relative places.
pub(crate) fn read_absolute_key(context: &mut ActionContext, value: &Lv) -> Result<Key> {
    let places = places_of(value)?.iter().map(whole_or_why).collect::<std::result::Result<Vec<i64>, String>>();
    let places = places.map_err(|why| no_key(context, &why))?;
    Key::new(&places).map_err(|error| fault(context, error.to_string()))
}

/// The places of a key: one, or a list. Reads only one more than allowed.
fn places_of(value: &Lv) -> Result<Vec<Lv>> {
    match value {
        Lv::Table(list) => list.sequence_values().take(Key::PLACES + 1).collect(),
        value => Ok(vec![value.clone()]),
    }
}

/// Reads a relative place such as "+1" or "-2", or returns the reason why it is none.
fn distance(text: &str) -> std::result::Result<i64, String> {
    let far = || text.starts_with(['+', '-']) && text.parse::<i64>().is_ok();
    RelativeKey::distance(text).ok_or_else(|| match far() {
        true => format!("{} is more than {} away", quoted(text), RelativeKey::FARTHEST),
        false => format!("{} is neither a number nor a distance such as \"+1\"", quoted(text)),
    })
}

fn no_key(context: &mut ActionContext, why: &str) -> mlua::Error {
    fault(context, format!("a key is a whole number or a list of them: {why}"))
}

/// Converts agenda entries for a script.
pub(crate) fn entry_tables<'a>(
    lua: &Lua,
    entries: impl IntoIterator<Item = &'a Entry>,
    handles: &Handles,
) -> Result<Table> {
    let list = lua.create_table()?;
    entries.into_iter().try_for_each(|entry| list.raw_push(entry_table(lua, entry, handles)?))?;
    Ok(list)
}

fn entry_table(lua: &Lua, entry: &Entry, handles: &Handles) -> Result<Table> {
    let row = lua.create_table()?;
    row.raw_set("id", super::token::token_of(entry.id, entry.number()))?;
    row.raw_set("key", lua.create_sequence_from(entry.key.places().iter().copied())?)?;
    row.raw_set("what", &*entry.what)?;
    row.raw_set("owner", entry.owner.and_then(|owner| handles.handle(owner)))?;
    row.raw_set("args", to_lua(lua, &entry.args, handles)?)?;
    row.set_readonly(true);
    Ok(row)
}

/// Adds the functions that return the running entry's arguments and key.
pub(super) fn due_parts(lua: &Lua, host: &Rc<HostState>, table: &Table) -> Result<()> {
    host_function!(lua, host, table, "due_args", |lua, b, (): ()| {
        match b.lent().and_then(|context| context.due()) {
            Some(entry) => to_lua(lua, &entry.args, &b.handles.borrow()),
            None => Ok(Lv::Nil),
        }
    });
    host_function!(lua, host, table, "sees_time", |_, b, (): ()| {
        b.context()?.observers.observe(&Op::ReadKey);
        Ok(())
    });
    host_function!(lua, host, table, "due_key", |lua, b, (): ()| {
        let context = b.context()?;
        context.observers.observe(&Op::ReadKey);
        match context.due() {
            Some(entry) => Ok(Some(lua.create_sequence_from(entry.key.places().iter().copied())?)),
            None => Ok(None),
        }
    });
    Ok(())
}
