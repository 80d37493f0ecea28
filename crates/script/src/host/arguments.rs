//! Reads the arguments of host functions, and formats values for messages and log lines.

use std::sync::Arc;

use mlua::{LuaString, Result, Value as Lv};

use super::super::account::{Account, beside};
use super::super::conversion::{from_lua, sort_of, text_of};
use super::super::handles::Handles;
use super::refusal::fault;
use riskbreaker_play::{ActionContext, MASTER};
use riskbreaker_state::Audience;

/// Formats a script's value for messages.
pub(crate) fn told(value: &Lv) -> String {
    match value {
        Lv::Nil => "nothing".into(),
        Lv::Integer(n) => n.to_string(),
        Lv::Number(n) => n.to_string(),
        Lv::LightUserData(_) => "what rb.schedule has given for an entry".into(),
        other => format!("a {}", other.type_name()),
    }
}

pub(crate) fn text_arg(context: &mut ActionContext, value: &Lv, what: &str) -> Result<Arc<str>> {
    text_of(string_arg(context, value, what)?)
}

/// Converts an argument to a text of the engine, without copying it.
pub(super) fn string_arg<'v>(context: &mut ActionContext, value: &'v Lv, what: &str) -> Result<&'v LuaString> {
    match value {
        Lv::String(text) => Ok(text),
        other => Err(fault(context, format!("{what} must be a text, not {}", sort_of(other)))),
    }
}

/// Reads an audience: a seat, a list of seats, `everybody`, `nobody`, or an entity, which means its audience.
pub(super) fn audience_arg(context: &mut ActionContext, value: &Lv, handles: &Handles, what: &str) -> Result<Audience> {
    match value {
        Lv::Nil => Ok(Audience::Everybody),
        Lv::Table(table) => match handles.id_of(table) {
            Some(id) => Ok(context.state.audience(context.rules.schema(), id)),
            None => {
                let mut all = Audience::nobody();
                for seat in table.sequence_values::<Lv>() {
                    all = all.or(&named_audience(context, &seat?, what)?);
                }
                Ok(all)
            }
        },
        word => named_audience(context, word, what),
    }
}

fn named_audience(context: &mut ActionContext, word: &Lv, what: &str) -> Result<Audience> {
    let word = text_arg(context, word, what)?;
    let audience = Audience::named(&word);
    let rules = context.rules.clone();
    if let Audience::Only(seats) = &audience
        && let Some(seat) = seats.iter().find(|seat| ***seat != *MASTER && !rules.seats().contains_key(&***seat))
    {
        let meant = riskbreaker_ruleset::instead(seat, rules.seats().keys().map(String::as_str));
        return Err(fault(context, format!("{what} is `{seat}`, and there is no such seat; {meant}")));
    }
    Ok(audience)
}

/// Fills the placeholders `{}` of a template with formatted values.
pub(crate) fn fill(template: &str, args: &[Lv], context: &ActionContext, handles: &Handles) -> String {
    let mut text = String::with_capacity(template.len() + 16);
    let mut args = args.iter();
    let mut rest = template;
    while let Some(at) = rest.find("{}") {
        text.push_str(&rest[..at]);
        match args.next() {
            Some(value) => text.push_str(&words_of(value, context, handles)),
            None => text.push_str("{}"),
        }
        rest = &rest[at + 2..];
    }
    text.push_str(rest);
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).take(2000).collect()
}

/// Formats a script's value. A removed entity keeps its last title; `?` if it is no plain data.
pub(super) fn words_of(value: &Lv, context: &ActionContext, handles: &Handles) -> String {
    match from_lua(value, handles) {
        Ok(value) => context.words(&value),
        Err(_) => handles.last_title(value).unwrap_or("?").to_owned(),
    }
}

/// Like [`fill`], for a text that is only made if events have readers: not charged to the action.
pub(super) fn fill_told(template: &str, args: &[Lv], context: &ActionContext, handles: &Handles) -> String {
    let mut text = String::new();
    beside(Account::Words, || text = fill(template, args, context, handles));
    text
}
