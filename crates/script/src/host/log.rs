use std::rc::Rc;

use mlua::{Lua, LuaString, Result, Table, Value as Lv, Variadic};

use super::super::account::{TOO_MANY_WORDS, no_more_words};
use super::super::budget::{hold, must_stop};
use super::super::handles::Handles;
use super::arguments::{audience_arg, fill, fill_told, text_arg, words_of};
use super::cost::{TERM, TOLD};
use super::refusal::stopped;
use super::state::{HostState, host_function};
use riskbreaker_play::{ActionContext, Stop, Term};
use riskbreaker_state::{Audience, Value};

pub(super) fn add(lua: &Lua, host: &Rc<HostState>, table: &Table) -> Result<()> {
    // whisper_to(audience): sets the audience of the next whispered line.
    host_function!(lua, host, table, "whisper_to", |_, b, audience: Lv| {
        let context = b.context()?;
        *b.whispered_to.borrow_mut() = audience_arg(context, &audience, &b.handles.borrow(), "the audience")?;
        Ok(())
    });
    // say(whether it is whispered, text, values for placeholders): publishes a line counted by `count_line`.
    host_function!(lua, host, table, "say", |_, b, (whispered, text, args): (bool, LuaString, Variadic<Lv>)| {
        let context = b.context()?;
        let audience = if whispered { b.whispered_to.take() } else { Audience::Everybody };
        let (handles, text) = (b.handles.borrow(), text.to_str()?);
        context.say(audience, |context| fill_told(&text, &args, context, &handles)).map_err(stopped)
    });
    add_secrets(lua, host, table)?;
    // no_more_words(): returns the reason why texts are omitted, if their memory quota is spent.
    host_function!(lua, host, table, "no_more_words", |_, _b, (): ()| Ok(no_more_words()));
    // words_failed(error, function): returns the replacement for a text whose function has failed. A spent budget of
    // the game is raised again.
    host_function!(lua, host, table, "words_failed", |_, b, (error, made): (Lv, Lv)| {
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
        let took_memory = message.contains("not enough memory");
        let line = match &made {
            // Such an error has no place.
            _ if !took_memory && !message.contains(TOO_MANY_WORDS) => {
                message.lines().next().unwrap_or_default().to_owned()
            }
            Lv::Function(made) => {
                let info = made.info();
                let path = info.source.unwrap_or_default();
                let line = info.line_defined.unwrap_or_default();
                format!("{}:{line}: {TOO_MANY_WORDS}", path.trim_start_matches('='))
            }
            _ => TOO_MANY_WORDS.to_owned(),
        };
        Ok(format!("(these words failed: {})", fill(&line, &[], context, &b.handles.borrow())))
    });
    host_function!(lua, host, table, "result", |_, b, (text, args): (Lv, Variadic<Lv>)| {
        let context = b.context()?;
        let template = text_arg(context, &text, "the result of a roll")?;
        let handles = b.handles.borrow();
        context.result(|context| fill_told(&template, &args, context, &handles)).map_err(stopped)?;
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
    // keep_sums(metatable): sets the metatable by which the host recognizes a sum.
    host_function!(lua, host, table, "keep_sums", |_, b, sums: Table| {
        b.handles.borrow_mut().sums = Some(sums);
        Ok(())
    });
    host_function!(lua, host, table, "term", |_,
                                              b,
                                              (explains, value, path, line, depth, label, args): (
        bool,
        Lv,
        String,
        u32,
        u32,
        LuaString,
        Variadic<Lv>
    )| {
        let context = b.context()?;
        let label = fill(&label.to_str()?, &args, context, &b.handles.borrow());
        let value = words_of(&value, context, &b.handles.borrow());
        let term = Term { label, value, path: path.trim_start_matches('=').to_string(), line, depth };
        let held = hold(TERM + term.label.len() + term.value.len());
        if explains {
            held?;
            b.terms.borrow_mut().push(term);
        } else if held.is_ok() {
            context.note_roll_term(term);
        }
        Ok(())
    });
    Ok(())
}

/// Adds the functions that begin and end the secret parts of an action.
fn add_secrets(lua: &Lua, host: &Rc<HostState>, table: &Table) -> Result<()> {
    // begin_secret(audience): narrows the audience of the following events.
    host_function!(lua, host, table, "begin_secret", |_, b, audience: Lv| {
        let context = b.context()?;
        let audience = audience_arg(context, &audience, &b.handles.borrow(), "the audience of rb.secretly")?;
        context.log.secrecy.begin(audience);
        Ok(())
    });
    // begin_open(): exempts the following events from all secret parts.
    host_function!(lua, host, table, "begin_open", |_, b, (): ()| {
        b.context()?.log.secrecy.begin_open();
        Ok(())
    });
    host_function!(lua, host, table, "end_secret", |_, b, (): ()| {
        b.context()?.log.secrecy.end();
        Ok(())
    });
    host_function!(lua, host, table, "disclose", |_, b, (): ()| {
        b.context()?.log.disclose();
        Ok(())
    });
    Ok(())
}

/// Reads the title field of an entity, so that a trace depends on it. Returns false if there is no title field: no
/// trace can depend on the other texts.
fn reads_title(context: &mut ActionContext, handles: &Handles, arg: &Lv) -> bool {
    let Lv::Table(table) = arg else { return true };
    let Some(id) = handles.id_of(table) else { return false };
    let title = context.state.entity(id).and_then(|entity| context.rules.schema().kind(entity.kind).title);
    title.is_some_and(|field| matches!(context.read(id, field), Some(Value::Text(text)) if !text.is_empty()))
}
