use std::rc::Rc;

use mlua::{Lua, Result, Table, Value as Lv};

use super::super::account::charge;
use super::super::budget::hold;
use super::super::conversion::{from_lua, to_lua, whole_of};
use super::super::handles::Handles;
use super::arguments::{text_arg, told};
use super::cost::TOLD;
use super::entities::entity_arg;
use super::refusal::{fault, plain, stopped};
use super::state::{HostState, host_function};
use riskbreaker_play::{ActionContext, Op};
use riskbreaker_ruleset::instead;
use riskbreaker_state::{Attachment, AttachmentId, Value};

pub(super) fn add(lua: &Lua, host: &Rc<HostState>, table: &Table) -> Result<()> {
    host_function!(lua, host, table, "attach", |lua, b, (hook, owner, data): (Lv, Lv, Lv)| {
        let context = b.context()?;
        let hook = text_arg(context, &hook, "the id of a hook")?;
        let owner = entity_arg(context, &b.handles.borrow(), &owner, "the owner in rb.attach")?;
        if !context.rules.has_holder(&hook) {
            let meant = instead(&hook, context.rules.names_of("hook").unwrap_or_default());
            return Err(fault(context, format!("there is no hook or item `{hook}`; {meant}")));
        }
        let data = data_of(b, context, &data)?;
        charge(64);
        hold(TOLD)?;
        b.handles.borrow_mut().attachments_change();
        let id = context.attach(hook, owner, data).map_err(stopped)?;
        holder(lua, context, &b.handles.borrow(), id)
    });
    host_function!(lua, host, table, "detach", |_, b, id: Lv| {
        let context = b.context()?;
        let id = attachment_arg(context, &id, "rb.detach")?;
        hold(TOLD)?;
        b.handles.borrow_mut().attachments_change();
        context.detach(id).map_err(stopped)
    });
    host_function!(lua, host, table, "set_data", |lua, b, (id, data): (Lv, Lv)| {
        let context = b.context()?;
        let id = attachment_arg(context, &id, "rb.set_data")?;
        let data = data_of(b, context, &data)?;
        hold(TOLD)?;
        b.handles.borrow_mut().attachments_change();
        context.set_data(id, data).map_err(stopped)?;
        holder(lua, context, &b.handles.borrow(), id)
    });
    // begin_glimpse(seat): scripts read only what the seat knows, until end_glimpse(). Returns false if the seat knows
    // everything.
    host_function!(lua, host, table, "begin_glimpse", |_, b, seat: Lv| {
        let context = b.context()?;
        let seat = text_arg(context, &seat, "a seat")?;
        Ok(context.begin_glimpse(&seat))
    });
    host_function!(lua, host, table, "end_glimpse", |_, b, (): ()| {
        b.context()?.knowledge.glimpse = None;
        Ok(())
    });
    host_function!(lua, host, table, "attachments", |lua, b, owner: Option<Table>| {
        let Ok(context) = b.context() else { return lua.create_table() };
        context.observers.observe(&Op::ReadAttachments);
        let handles = b.handles.borrow();
        let owner = owner.and_then(|owner| handles.id_of(&owner));
        let list = lua.create_table()?;
        charge(context.shown().attachments().len() as i64 / 8);
        for (id, attachment) in context.shown().attachments() {
            if owner.is_some_and(|owner| owner != attachment.owner) {
                continue;
            }
            charge(32);
            list.raw_push(holder_of(lua, &handles, *id, attachment)?)?;
        }
        list.set_readonly(true);
        Ok(list)
    });
    Ok(())
}

/// Converts an attachment for a script that changes it. `None` if there is no such attachment.
fn holder(lua: &Lua, context: &ActionContext, handles: &Handles, id: AttachmentId) -> Result<Option<Table>> {
    let known = context.state.attachments().get(&id);
    known.map(|attachment| holder_of(lua, handles, id, attachment)).transpose()
}

fn holder_of(lua: &Lua, handles: &Handles, id: AttachmentId, attachment: &Attachment) -> Result<Table> {
    let holder = lua.create_table()?;
    holder.raw_set("id", attachment.number(id))?;
    holder.raw_set("hook", &*attachment.hook)?;
    holder.raw_set("owner", handles.handle(attachment.owner))?;
    holder.raw_set("data", to_lua(lua, &attachment.data, handles)?)?;
    holder.set_readonly(true);
    Ok(holder)
}

/// The attachment that a script names by its number. A number without an attachment names a removed one.
fn attachment_arg(context: &mut ActionContext, id: &Lv, what: &str) -> Result<AttachmentId> {
    match whole_of(id).and_then(|number| u32::try_from(number).ok()) {
        Some(number) => Ok(context.state.attachment_numbered(number).unwrap_or(AttachmentId(0))),
        None => Err(fault(context, format!("{what} takes the number that rb.attach has given, not {}", told(id)))),
    }
}

fn data_of(host: &HostState, context: &mut ActionContext, data: &Lv) -> Result<Value> {
    match from_lua(data, &host.handles.borrow()) {
        Ok(data) => Ok(data),
        Err(error) => Err(fault(context, format!("the data of an attachment: {}", plain(&error)))),
    }
}
