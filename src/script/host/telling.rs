use std::rc::Rc;

use mlua::{Lua, Result, Table, Value as Lv, Variadic};

use super::super::conversion::from_lua;
use super::super::sandbox::hold;
use super::{HostState, TOLD, fill, host_function, stopped, text_arg};
use crate::play::Term;

pub(super) fn add(lua: &Lua, host: &Rc<HostState>, table: &Table) -> Result<()> {
    host_function!(lua, host, table, "say", |_, b, (audience, text, args): (Lv, Lv, Variadic<Lv>)| {
        let desk = b.desk()?;
        let template = text_arg(desk, &text, "what is said")?;
        let audience = match &audience {
            Lv::Nil => None,
            audience => Some(text_arg(desk, audience, "the audience")?),
        };
        let handles = b.handles.borrow();
        desk.say(audience, |desk| fill(&template, &args, desk, &handles)).map_err(stopped)?;
        hold(TOLD + template.len())
    });
    host_function!(lua, host, table, "cut", |_, b, (reason, args): (Lv, Variadic<Lv>)| {
        let desk = b.desk()?;
        let reason = text_arg(desk, &reason, "the reason of rb.cut")?;
        let reason = fill(&reason, &args, desk, &b.handles.borrow());
        desk.cut(reason).map_err(stopped)
    });
    host_function!(lua, host, table, "finish", |_, b, (text, args): (Lv, Variadic<Lv>)| {
        let desk = b.desk()?;
        let text = text_arg(desk, &text, "the outcome")?;
        // What an entity is called is read from its fields.
        let plain = !args.iter().any(Lv::is_table);
        let text = fill(&text, &args, desk, &b.handles.borrow());
        desk.finish(text, plain).map_err(stopped)
    });
    host_function!(lua, host, table, "term", |_, b, (label, value, path, line, depth): (
        String,
        Lv,
        String,
        u32,
        u32
    )| {
        let desk = b.desk()?;
        let value = match from_lua(&value, &b.handles.borrow()) {
            Ok(value) => desk.words(&value),
            Err(_) => "?".into(),
        };
        hold(TOLD + label.len() + value.len())?;
        b.terms.borrow_mut().push(Term { label, value, path: path.trim_start_matches('=').to_string(), line, depth });
        Ok(())
    });
    Ok(())
}
