//! States and values as bytes. If the bytes are equal, no script can see a difference.

use std::collections::{BTreeMap, BTreeSet};

use crate::{ActionContext, Happening};
use riskbreaker_state::{Change, EntityId, Entry, FieldId, State, Value};

/// Writes the values that `deal` set and the action changed: an outcome lists changes relative to them, so runs with different
/// dealt values must differ here.
fn write_dealt(context: &ActionContext, changes: &[Change], out: &mut Vec<u8>) {
    for change in &changes[context.knowledge.dealt..] {
        if let Change::Set { entity, field, from, .. } = change
            && context.knowledge.dealt > 0
        {
            out.push(b'D');
            write_number(out, u64::from(entity.0));
            write_number(out, u64::from(field.0));
            write_value(out, from);
        }
    }
}

/// Writes the changes of the running action so far, and its lines: two runs of one action with the same bytes are in
/// the same state.
pub(crate) fn write_state(context: &ActionContext, out: &mut Vec<u8>) {
    let state = &context.state;
    let changes = state.since(0);
    let mut first: BTreeMap<(EntityId, FieldId), &Value> = BTreeMap::new();
    let (mut spawned, mut removed) = (BTreeSet::new(), BTreeMap::new());
    let (mut scheduled, mut attached, mut agenda, mut attachments) = (0_u64, 0_u64, false, false);
    for change in changes {
        match change {
            Change::Set { entity, field, from, .. } => {
                first.entry((*entity, *field)).or_insert(from);
            }
            Change::Spawn { entity, .. } => {
                spawned.insert(*entity);
            }
            Change::Remove { entity, was } => {
                // The log names a removed entity by its title.
                let title = context.rules.schema().kind(was.kind).title;
                removed.insert(*entity, title.map(|field| &was.fields[field.0 as usize]));
            }
            Change::Schedule { .. } | Change::Unschedule { .. } | Change::Rekey { .. } => {}
            Change::Attach { .. } => {
                attached += 1;
                attachments = true;
            }
            Change::Detach { .. } | Change::Data { .. } => attachments = true,
            Change::LeaveOut { .. } | Change::Finish { .. } => {}
        }
    }
    // The removal of the action's entry from the agenda is equal in every run.
    for change in state.since(context.run.before_script) {
        match change {
            Change::Schedule { .. } => {
                scheduled += 1;
                agenda = true;
            }
            Change::Unschedule { .. } | Change::Rekey { .. } => agenda = true,
            Change::Set { .. }
            | Change::Spawn { .. }
            | Change::Remove { .. }
            | Change::Attach { .. }
            | Change::Detach { .. }
            | Change::Data { .. }
            | Change::LeaveOut { .. }
            | Change::Finish { .. } => {}
        }
    }
    write_dealt(context, changes, out);
    for ((entity, field), from) in first {
        let Some(now) = state.field(entity, field) else { continue };
        if now != from && !spawned.contains(&entity) {
            out.push(b'F');
            write_number(out, u64::from(entity.0));
            write_number(out, u64::from(field.0));
            write_value(out, now);
        }
    }
    for (entity, title) in removed {
        out.push(b'R');
        write_number(out, u64::from(entity.0));
        if !spawned.contains(&entity) {
            write_value(out, title.unwrap_or(&Value::None));
        }
    }
    for id in spawned {
        out.push(b'S');
        write_number(out, u64::from(id.0));
        if let Some(entity) = state.entity(id) {
            write_number(out, u64::from(entity.kind.0));
            entity.fields.iter().for_each(|value| write_value(out, value));
        }
    }
    if agenda {
        out.push(b'A');
        write_number(out, scheduled);
        for entry in state.agenda().entries() {
            write_entry(out, entry);
        }
    }
    if attachments {
        out.push(b'H');
        write_number(out, attached);
        write_attachments(out, state);
    }
    if let Some(outcome) = state.outcome() {
        out.push(b'O');
        write_bytes(out, outcome.as_bytes());
    }
    for event in &context.log.events {
        if let Happening::Said { text } = &event.happening {
            out.push(b'T');
            write_bytes(out, event.audience.to_string().as_bytes());
            write_bytes(out, text.as_bytes());
        }
    }
    out.push(b'.');
}

/// Writes the host's record of the last roll, if any script of the rules uses `rb.last_roll`.
pub(crate) fn write_last_roll(context: &ActionContext, out: &mut Vec<u8>) {
    let Some(roll) = context.rolls.last_seen() else { return };
    if !context.rules.looks_at_rolls() {
        return;
    }
    out.push(b'L');
    match &roll.unseen {
        None => write_number(out, roll.total as u64),
        Some((dice, sight)) => {
            write_bytes(out, format!("{dice} {sight:?}").as_bytes());
            write_value(out, &sight.of_total(roll.total));
        }
    }
}

fn write_entry(out: &mut Vec<u8>, entry: &Entry) {
    write_number(out, u64::from(entry.id.0));
    write_number(out, u64::from(entry.number()));
    write_bytes(out, entry.what.as_bytes());
    write_number(out, entry.owner.map_or(0, |owner| u64::from(owner.0)));
    write_value(out, &entry.args);
    for key in [Some(&entry.key), entry.every.as_deref()].into_iter().flatten() {
        write_number(out, key.places().len() as u64);
        key.places().iter().for_each(|place| write_number(out, *place as u64));
    }
}

fn write_attachments(out: &mut Vec<u8>, state: &State) {
    for (id, attachment) in state.attachments() {
        write_number(out, u64::from(id.0));
        write_bytes(out, attachment.hook.as_bytes());
        write_number(out, u64::from(attachment.owner.0));
        write_value(out, &attachment.data);
    }
}

/// Writes a whole state. Two games between actions whose states have equal bytes continue in the same way.
///
/// `timeless`: true if no script reads the time of entries or names one, so that only their order and distances count.
pub fn write_whole_state(state: &State, timeless: bool, out: &mut Vec<u8>) {
    write_number(out, u64::from(state.ids()));
    for made in state.made_in_secret() {
        write_number(out, u64::from(made));
    }
    for (id, entity) in state.entities() {
        write_number(out, u64::from(id.0));
        write_number(out, u64::from(entity.kind.0));
        entity.fields.iter().for_each(|value| write_value(out, value));
    }
    let now = state.agenda().first().and_then(|entry| entry.key.places().first().copied()).unwrap_or_default();
    for entry in state.agenda().entries() {
        if !timeless {
            write_entry(out, entry);
            continue;
        }
        write_bytes(out, entry.what.as_bytes());
        write_number(out, entry.owner.map_or(0, |owner| u64::from(owner.0)));
        write_value(out, &entry.args);
        for (key, from) in [(Some(&entry.key), now), (entry.every.as_deref(), 0)] {
            let places = key.map(|key| key.places()).unwrap_or_default();
            write_number(out, places.len() as u64);
            places
                .iter()
                .enumerate()
                .for_each(|(at, place)| write_number(out, (place - if at == 0 { from } else { 0 }) as u64));
        }
    }
    let (entries, attachments) = state.counters();
    write_number(out, if timeless { 0 } else { u64::from(entries) });
    write_number(out, u64::from(attachments));
    write_attachments(out, state);
    write_bytes(out, state.outcome().unwrap_or_default().as_bytes());
}

pub(super) fn write_number(out: &mut Vec<u8>, n: u64) {
    out.extend_from_slice(&n.to_le_bytes());
}

pub(crate) fn write_bytes(out: &mut Vec<u8>, bytes: &[u8]) {
    write_number(out, bytes.len() as u64);
    out.extend_from_slice(bytes);
}

/// Writes a value so that different values have different bytes.
pub(super) fn write_value(out: &mut Vec<u8>, value: &Value) {
    match value {
        Value::None => out.push(0),
        Value::Bool(yes) => out.extend_from_slice(&[1, u8::from(*yes)]),
        Value::Int(n) => {
            out.push(2);
            write_number(out, *n as u64);
        }
        Value::Text(text) => {
            out.push(3);
            write_bytes(out, text.as_bytes());
        }
        Value::Entity(id) => {
            out.push(4);
            write_number(out, u64::from(id.0));
        }
        other => {
            out.push(5);
            write_bytes(out, format!("{other:?}").as_bytes());
        }
    }
}
