use std::rc::Rc;

use mlua::{Lua, Result, Table, Value as Lv, Variadic};

use super::super::conversion::from_lua;
use super::super::handles::Handles;
use super::super::sandbox::{hold, must_stop};
use super::{HostState, TOLD, audience_arg, fill, host_function, stopped, text_arg};
use crate::play::{ActionContext, Stop, Term};
use crate::state::Value;

pub(super) fn add(lua: &Lua, host: &Rc<HostState>, table: &Table) -> Result<()> {
    host_function!(lua, host, table, "say", |_, b, (audience, text, args): (Lv, Lv, Variadic<Lv>)| {
        let context = b.context()?;
        let template = text_arg(context, &text, "what is said")?;
        let handles = b.handles.borrow();
        let audience = audience_arg(context, &audience, &handles, "the audience")?;
        context.say(audience, |context| fill(&template, &args, context, &handles)).map_err(stopped)?;
        hold(TOLD + template.len())
    });
    // words_failed(error): what stands in the place of words whose function has failed. A budget that is spent is no matter of
    // words.
    host_function!(lua, host, table, "words_failed", |_, b, error: Lv| {
        let context = b.context()?;
        if let Some(spent) = must_stop() {
            return Err(mlua::Error::RuntimeError(format!("the script used up its {spent}")));
        }
        let message = match (context.stop.take(), &error) {
            (Some(Stop::Fault { message, .. }), _) => message,
            (Some(stop), _) => {
                context.stop = Some(stop.clone());
                return Err(stopped(stop));
            }
            (None, Lv::String(text)) => text.to_string_lossy(),
            (None, Lv::Error(error)) => error.to_string(),
            (None, other) => format!("error raised a {}", other.type_name()),
        };
        let line = message.lines().next().unwrap_or_default();
        Ok(format!("(these words failed: {})", fill(line, &[], context, &b.handles.borrow())))
    });
    host_function!(lua, host, table, "result", |_, b, (text, args): (Lv, Variadic<Lv>)| {
        let context = b.context()?;
        let template = text_arg(context, &text, "the result of a roll")?;
        let handles = b.handles.borrow();
        context.result(|context| fill(&template, &args, context, &handles)).map_err(stopped)?;
        hold(TOLD + template.len())
    });
    host_function!(lua, host, table, "cut", |_, b, (reason, args): (Lv, Variadic<Lv>)| {
        let context = b.context()?;
        let reason = text_arg(context, &reason, "the reason of rb.cut")?;
        let reason = fill(&reason, &args, context, &b.handles.borrow());
        context.cut(reason).map_err(stopped)
    });
    host_function!(lua, host, table, "finish", |_, b, (text, args): (Lv, Variadic<Lv>)| {
        let context = b.context()?;
        let text = text_arg(context, &text, "the outcome")?;
        let handles = b.handles.borrow();
        let plain = args.iter().all(|arg| reads_title(context, &handles, arg));
        let text = fill(&text, &args, context, &handles);
        context.finish(text, plain).map_err(stopped)
    });
    host_function!(lua, host, table, "term", |_,
                                              b,
                                              (explains, value, path, line, depth, label, args): (
        bool,
        Lv,
        String,
        u32,
        u32,
        Lv,
        Variadic<Lv>
    )| {
        let context = b.context()?;
        let label = text_arg(context, &label, "the label of rb.term")?;
        let label = fill(&label, &args, context, &b.handles.borrow());
        let value = match from_lua(&value, &b.handles.borrow()) {
            Ok(value) => context.words(&value),
            Err(_) => "?".into(),
        };
        let term = Term { label, value, path: path.trim_start_matches('=').to_string(), line, depth };
        if explains {
            hold(TOLD + term.label.len() + term.value.len())?;
            b.terms.borrow_mut().push(term);
        } else {
            context.note_roll_term(term);
        }
        Ok(())
    });
    Ok(())
}

/// Reads what an entity is called, if a field says so. A trace then depends on that field; on what else is filled in it cannot.
fn reads_title(context: &mut ActionContext, handles: &Handles, arg: &Lv) -> bool {
    let Lv::Table(table) = arg else { return true };
    let Some(id) = handles.id_of(table) else { return false };
    let title = context.state.entity(id).and_then(|entity| context.rules.schema().kind(entity.kind).title);
    title.is_some_and(|field| matches!(context.read(id, field), Some(Value::Text(text)) if !text.is_empty()))
}
