use std::collections::BTreeMap;
use std::sync::Arc;

use serde::Serialize;

use crate::play::{Desk, Event, Happening};
use crate::state::{Change, EntityId, FieldId, Value};

/// What an action comes to on one course: everything that is different afterwards, and what was said.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize)]
pub struct Outcome {
    pub effects: Vec<Effect>,
}

/// One thing that is different after an action.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(tag = "effect", rename_all = "snake_case")]
pub enum Effect {
    /// A field has another value, all changes in between left out.
    Changed {
        entity: EntityId,
        title: Arc<str>,
        field: Arc<str>,
        label: Arc<str>,
        from: Value,
        to: Value,
        /// `from -> to` in words, with titles for entities.
        text: String,
        /// Whether the field is one that is told at the table.
        shown: bool,
    },
    /// Something came into being; `with` are its fields that differ from the defaults.
    Came {
        kind: Arc<str>,
        title: Arc<str>,
        with: String,
    },
    Gone {
        kind: Arc<str>,
        title: Arc<str>,
    },
    Attached {
        hook: Arc<str>,
        title: Arc<str>,
        data: String,
    },
    Detached {
        hook: Arc<str>,
        title: Arc<str>,
    },
    Scheduled {
        what: Arc<str>,
        owner: Option<Arc<str>>,
        key: Vec<i64>,
        /// What it is given, in words.
        args: String,
    },
    Unscheduled {
        what: Arc<str>,
        owner: Option<Arc<str>>,
        key: Vec<i64>,
        /// What it is given, in words.
        args: String,
    },
    Said {
        text: String,
    },
    /// The action ended before its end.
    Cut {
        reason: String,
    },
    /// The game is over.
    Over {
        text: String,
    },
}

impl Effect {
    /// Whether it is told at the table; what is not only serves to tell outcomes apart.
    pub fn is_shown(&self) -> bool {
        match self {
            Effect::Changed { shown, .. } => *shown,
            Effect::Scheduled { .. } | Effect::Unscheduled { .. } => false,
            _ => true,
        }
    }

    pub fn line(&self) -> String {
        let place = |owner: &Option<Arc<str>>, key: &[i64], args: &str| {
            let key: Vec<String> = key.iter().map(ToString::to_string).collect();
            let of = owner.as_ref().map(|owner| format!(" of {owner}")).unwrap_or_default();
            let with = if args.is_empty() { String::new() } else { format!(" with {args}") };
            format!("{of} at {}{with}", key.join("."))
        };
        match self {
            Effect::Changed { title, label, text, .. } => format!("{title} {label} {text}"),
            Effect::Came { kind, title, .. } => format!("{title} ({kind}) comes"),
            Effect::Gone { kind, title } => format!("{title} ({kind}) goes"),
            Effect::Attached { hook, title, .. } => format!("{title} gets {hook}"),
            Effect::Detached { hook, title } => format!("{title} loses {hook}"),
            Effect::Scheduled { what, owner, key, args } => format!("{what}{}", place(owner, key, args)),
            Effect::Unscheduled { what, owner, key, args } => format!("no {what}{}", place(owner, key, args)),
            Effect::Said { text } => format!("\u{201c}{text}\u{201d}"),
            Effect::Cut { reason } => format!("cut short: {reason}"),
            Effect::Over { text } => format!("over: {text}"),
        }
    }
}

impl Outcome {
    /// Reads what a run has left on the desk. What only seats in `blind` may see is left out.
    pub(crate) fn of(desk: &Desk, cut: Option<&str>, blind: &dyn Fn(&str) -> bool) -> Outcome {
        let rules = &desk.rules;
        let state = &desk.state;
        let hidden = |audience: &Option<Arc<str>>| audience.as_deref().is_some_and(blind);
        let mut fields: BTreeMap<(EntityId, FieldId), (&Value, &Value)> = BTreeMap::new();
        let mut came: BTreeMap<EntityId, ()> = BTreeMap::new();
        let mut effects = Vec::new();
        let mut rest: Vec<Effect> = Vec::new();
        let title = |id: EntityId| desk.title(id);
        let words = |args: &Value| if *args == Value::None { String::new() } else { desk.words(args) };
        for change in state.since(0) {
            match change {
                Change::Set { entity, field, from, to } => {
                    fields.entry((*entity, *field)).and_modify(|known| known.1 = to).or_insert((from, to));
                }
                Change::Spawn { entity, .. } => {
                    came.insert(*entity, ());
                }
                Change::Remove { entity, was } => {
                    if came.remove(entity).is_none() {
                        let kind = rules.schema().kind(was.kind);
                        let title = match kind.title.map(|field| &was.fields[field.0 as usize]) {
                            Some(Value::Text(text)) if !text.is_empty() => text.clone(),
                            _ => Arc::from(format!("{} {}", kind.name, entity.0)),
                        };
                        rest.push(Effect::Gone { kind: kind.name.clone(), title });
                    }
                    fields.retain(|(of, _), _| of != entity);
                }
                Change::Schedule { entry } => {
                    let owner = entry.owner.map(title);
                    let key = entry.key.places().to_vec();
                    let args = words(&entry.args);
                    rest.push(Effect::Scheduled { what: entry.what.clone(), owner, key, args });
                }
                Change::Unschedule { entry } => {
                    let (what, owner) = (entry.what.clone(), entry.owner.map(title));
                    let key = entry.key.places().to_vec();
                    let args = words(&entry.args);
                    let same = Effect::Scheduled {
                        what: what.clone(),
                        owner: owner.clone(),
                        key: key.clone(),
                        args: args.clone(),
                    };
                    match rest.iter().rposition(|effect| *effect == same) {
                        Some(at) => drop(rest.remove(at)),
                        None => rest.push(Effect::Unscheduled { what, owner, key, args }),
                    }
                }
                Change::Rekey { id, from, to } => {
                    if let Some(entry) = state.agenda().get(*id) {
                        let (what, owner) = (entry.what.clone(), entry.owner.map(title));
                        let (from, to) = (from.places().to_vec(), to.places().to_vec());
                        let args = words(&entry.args);
                        rest.push(Effect::Unscheduled {
                            what: what.clone(),
                            owner: owner.clone(),
                            key: from,
                            args: args.clone(),
                        });
                        rest.push(Effect::Scheduled { what, owner, key: to, args });
                    }
                }
                Change::Attach { made, .. } => {
                    let data = desk.words(&made.data);
                    rest.push(Effect::Attached { hook: made.hook.clone(), title: title(made.owner), data });
                }
                Change::Detach { was, .. } => {
                    rest.push(Effect::Detached { hook: was.hook.clone(), title: title(was.owner) });
                }
                Change::Data { id, to, .. } => {
                    if let Some(attachment) = state.attachments().get(id) {
                        let (hook, title) = (attachment.hook.clone(), title(attachment.owner));
                        rest.push(Effect::Attached { hook, title, data: desk.words(to) });
                    }
                }
                Change::Finish { .. } | Change::LeaveOut { .. } => {}
            }
        }
        for ((entity, field), (from, to)) in fields {
            let Some(found) = state.entity(entity).filter(|_| from != to && !came.contains_key(&entity)) else {
                continue;
            };
            let declared = rules.schema().kind(found.kind).field(field);
            if hidden(&declared.audience) {
                continue;
            }
            effects.push(Effect::Changed {
                entity,
                title: title(entity),
                field: declared.name.clone(),
                label: declared.label.clone(),
                from: from.clone(),
                to: to.clone(),
                text: format!("{} -> {}", desk.words(from), desk.words(to)),
                shown: declared.show,
            });
        }
        for id in came.keys() {
            let Some(made) = state.entity(*id) else { continue };
            let kind = rules.schema().kind(made.kind);
            let differs = kind
                .fields
                .iter()
                .zip(&made.fields)
                .filter(|(field, value)| field.default != **value && !hidden(&field.audience));
            let with: Vec<String> =
                differs.map(|(field, value)| format!("{} {}", field.label, desk.words(value))).collect();
            effects.push(Effect::Came { kind: kind.name.clone(), title: title(*id), with: with.join(", ") });
        }
        effects.append(&mut rest);
        for Event { audience, happening, .. } in &desk.events {
            if let Happening::Said { text } = happening
                && !hidden(audience)
            {
                effects.push(Effect::Said { text: text.clone() });
            }
        }
        effects.extend(cut.map(|reason| Effect::Cut { reason: reason.to_string() }));
        effects.extend(state.outcome().map(|text| Effect::Over { text: text.to_string() }));
        Outcome { effects }
    }

    /// In one line: what is told at the table, or that nothing changes.
    pub fn line(&self) -> String {
        let told: Vec<String> = self.effects.iter().filter(|effect| effect.is_shown()).map(Effect::line).collect();
        if told.is_empty() { "nothing changes".into() } else { told.join(" \u{b7} ") }
    }
}
