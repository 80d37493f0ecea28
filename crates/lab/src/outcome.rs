use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;

use serde::{Serialize, Serializer};

use riskbreaker_play::{ActionContext, Event, Happening, Viewer};
use riskbreaker_state::{
    Attachment, AttachmentId, Audience, Change, EntityId, Entry, EntryId, Field, FieldId, KindId, State, Value,
};

/// The outcome of an action on one path: everything that has changed afterwards, and what was said.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize)]
pub struct Outcome {
    /// The differences from the state before, in an order that does not depend on the course.
    pub effects: Vec<Effect>,
    /// The watched values at the end of the action, in the order of [`OddsQuery::watch`](super::OddsQuery): entities by
    /// title, [`Value::None`] if the entity is gone.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub watched: Vec<Value>,
    /// The titles of the targets that were hit, by the ruleset's definition of a hit.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub hit: Vec<Arc<str>>,
}

/// One difference between the states before and after an action.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(tag = "effect", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Effect {
    /// A field has another value. Changes in between are left out.
    Changed {
        /// The entity whose field it is.
        entity: EntityId,
        /// The title of the entity.
        title: Arc<str>,
        /// The name of the field.
        field: Arc<str>,
        /// The label of the field at the table.
        label: Arc<str>,
        /// The value before the action.
        from: Value,
        /// The value at its end.
        to: Value,
        /// Both values in words, with titles for entities; as JSON `text`.
        #[serde(rename = "text")]
        words: ChangeWords,
        /// True if the field is shown at the table, or if the ruleset's `value` reads it.
        shown: bool,
    },
    /// An entity was created; `with` are its fields that differ from the defaults.
    Came {
        /// The name of its kind.
        kind: Arc<str>,
        /// Its title.
        title: Arc<str>,
        /// The fields in words.
        with: String,
    },
    /// An entity was removed.
    Gone {
        /// The name of its kind.
        kind: Arc<str>,
        /// The title that it had.
        title: Arc<str>,
    },
    /// A hook holder was attached, or has other data.
    Attached {
        /// The id of the hook, item or card.
        hook: Arc<str>,
        /// The title of the entity that it is attached to.
        title: Arc<str>,
        /// Its data, in words.
        data: String,
    },
    /// A hook holder was detached.
    Detached {
        /// The id of the hook, item or card.
        hook: Arc<str>,
        /// The title of the entity that it was attached to.
        title: Arc<str>,
    },
    /// An entry was put on the agenda.
    Scheduled {
        /// The name of the entry.
        what: Arc<str>,
        /// The title of its owner, if it has one.
        owner: Option<Arc<str>>,
        /// Its key, which says when it is due.
        key: Vec<i64>,
        /// Its arguments, in words.
        args: String,
    },
    /// An entry was taken off the agenda.
    Unscheduled {
        /// The name of the entry.
        what: Arc<str>,
        /// The title of its owner, if it has one.
        owner: Option<Arc<str>>,
        /// The key that it had.
        key: Vec<i64>,
        /// Its arguments, in words.
        args: String,
    },
    /// The rules printed a line.
    Said {
        /// The line.
        text: String,
    },
    /// The action was cut short.
    Cut {
        /// The reason that the rules gave.
        reason: String,
    },
    /// The game is over.
    Over {
        /// The outcome that the rules gave.
        text: String,
    },
}

/// The values of a changed field in words. Its text is `from -> to`, also as JSON.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ChangeWords {
    /// The value before the action; `nothing` for no entity and for an empty text.
    pub from: String,
    /// The value at its end.
    pub to: String,
}

impl fmt::Display for ChangeWords {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{} -> {}", self.from, self.to)
    }
}

impl Serialize for ChangeWords {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl Effect {
    /// True if the effect is shown at the table. A hidden effect only distinguishes outcomes.
    pub fn is_shown(&self) -> bool {
        match self {
            Effect::Changed { shown, .. } => *shown,
            Effect::Scheduled { .. } | Effect::Unscheduled { .. } => false,
            _ => true,
        }
    }

    /// The effect in one line.
    pub fn line(&self) -> String {
        let place = |owner: &Option<Arc<str>>, key: &[i64], args: &str| {
            let key: Vec<String> = key.iter().map(ToString::to_string).collect();
            let of = owner.as_ref().map(|owner| format!(" of {owner}")).unwrap_or_default();
            let with = if args.is_empty() { String::new() } else { format!(" with {args}") };
            format!("{of} at {}{with}", key.join("."))
        };
        match self {
            Effect::Changed { title, label, words, .. } => match &*words.from {
                "nothing" => format!("{title} {label}: {}", words.to),
                _ => format!("{title} {label} {words}"),
            },
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
    /// Returns the differences between an earlier state and that of the context that are shown at the table. Leaves out
    /// what `viewer` may not see, what was said in between, and the internal records of the rules.
    #[doc(hidden)]
    pub fn since(
        before: &State,
        context: &ActionContext,
        viewer: &Viewer,
        valued: &BTreeSet<(KindId, FieldId)>,
    ) -> Outcome {
        let (state, schema) = (&context.state, context.rules.schema());
        let hidden = |audience: &Audience| !viewer.sees(audience);
        let mut changed = ChangedFields::new();
        let mut rest: Vec<Effect> = Vec::new();
        for (id, was) in before.entities() {
            let kind = schema.kind(was.kind);
            match state.entity(id) {
                None if hidden(&before.audience(schema, id)) => {}
                None => rest.push(Effect::Gone { kind: kind.name.clone(), title: kind.title_of(id, &was.fields) }),
                Some(now) => {
                    let fields = was.fields.iter().zip(&now.fields).enumerate().filter(|(_, (from, to))| from != to);
                    changed.extend(fields.map(|(at, (from, to))| ((id, FieldId(at as u16)), (from, to))));
                }
            }
        }
        let came: BTreeSet<EntityId> =
            state.entities().map(|(id, _)| id).filter(|id| before.entity(*id).is_none()).collect();
        let mut effects = entity_effects(context, viewer, changed, &came, rest, valued, |field| field.show);
        let (was, now) = (before.attachments(), state.attachments());
        let other =
            |map: &BTreeMap<AttachmentId, Attachment>, id: &AttachmentId, made: &Attachment| map.get(id) != Some(made);
        let come = now.iter().filter(|(id, made)| other(was, id, made)).map(|(_, made)| made.clone()).collect();
        let stays = |made: &Attachment| state.entity(made.owner).is_some();
        let gone = was.iter().filter(|(id, made)| !now.contains_key(id) && stays(made)).map(|(_, made)| made.clone());
        effects.append(&mut attachment_effects(context, come, gone.collect()));
        effects.retain(Effect::is_shown);
        // A record without shown fields does not distinguish outcomes.
        effects.retain(|effect| match effect {
            Effect::Came { kind, with, .. } => !with.is_empty() || has_shown(context, kind, true),
            Effect::Gone { kind, .. } => has_shown(context, kind, false),
            _ => true,
        });
        effects.extend(state.outcome().map(|text| Effect::Over { text: text.to_string() }));
        Outcome { effects, ..Outcome::default() }
    }

    /// Reads the outcome of a run from its context. Leaves out what `viewer` may not see. `valued`: the fields that the
    /// ruleset's `value` reads, which count as shown.
    #[doc(hidden)]
    pub fn of(
        context: &ActionContext,
        cut: Option<&str>,
        viewer: &Viewer,
        valued: &BTreeSet<(KindId, FieldId)>,
    ) -> Outcome {
        let (state, schema) = (&context.state, context.rules.schema());
        let hidden = |audience: &Audience| !viewer.sees(audience);
        let mut fields = ChangedFields::new();
        let mut came: BTreeSet<EntityId> = BTreeSet::new();
        let mut rest: Vec<Effect> = Vec::new();
        for change in state.since(context.knowledge.dealt) {
            match change {
                Change::Set { entity, field, from, to } => {
                    fields.entry((*entity, *field)).and_modify(|known| known.1 = to).or_insert((from, to));
                }
                Change::Spawn { entity, .. } => {
                    came.insert(*entity);
                }
                Change::Remove { entity, was } => {
                    if !came.remove(entity) {
                        let kind = schema.kind(was.kind);
                        let title = kind.title_of(*entity, &was.fields);
                        rest.push(Effect::Gone { kind: kind.name.clone(), title });
                    }
                    fields.retain(|(of, _), _| of != entity);
                }
                Change::Schedule { .. }
                | Change::Unschedule { .. }
                | Change::Rekey { .. }
                | Change::Attach { .. }
                | Change::Detach { .. }
                | Change::Data { .. }
                | Change::Finish { .. }
                | Change::LeaveOut { .. } => {}
            }
        }
        let mut effects = entity_effects(context, viewer, fields, &came, rest, valued, |_| true);
        effects.append(&mut agenda(context));
        effects.append(&mut attachments(context));
        for Event { audience, happening, .. } in &context.log.events {
            match happening {
                Happening::Said { text } if !hidden(audience) => effects.push(Effect::Said { text: text.clone() }),
                // The state shows the other results; rolls and answers are what odds are about.
                Happening::Said { .. }
                | Happening::Rolled { .. }
                | Happening::Changed { .. }
                | Happening::Spawned { .. }
                | Happening::Removed { .. }
                | Happening::Answered { .. }
                | Happening::Edited { .. }
                | Happening::Notice { .. }
                | Happening::Cut { .. }
                | Happening::Over { .. }
                | Happening::Back { .. }
                | Happening::Aside { .. }
                | Happening::Withdrawn { .. } => {}
            }
        }
        effects.extend(cut.map(|reason| Effect::Cut { reason: reason.to_string() }));
        effects.extend(state.outcome().map(|text| Effect::Over { text: text.to_string() }));
        Outcome { effects, ..Outcome::default() }
    }

    /// The effects that are shown at the table in one line, or `nothing changes`.
    pub fn line(&self) -> String {
        let told: Vec<String> = self.effects.iter().filter(|effect| effect.is_shown()).map(Effect::line).collect();
        if told.is_empty() { "nothing changes".into() } else { told.join(" \u{b7} ") }
    }
}

/// True if the title of a kind is shown at the table or, unless `title_only`, any of its fields.
fn has_shown(context: &ActionContext, kind: &str, title_only: bool) -> bool {
    let schema = context.rules.schema();
    schema.kind_named(kind).is_some_and(|kind| {
        let kind = schema.kind(kind);
        let title = kind.title.is_some_and(|title| kind.field(title).show);
        title || !title_only && kind.fields.iter().any(|field| field.show)
    })
}

/// Fields with the values before and after.
type ChangedFields<'a> = BTreeMap<(EntityId, FieldId), (&'a Value, &'a Value)>;

/// Returns the effects on entities. `rest`: the entities that are gone. `is_told`: which fields of new entities are
/// shown.
fn entity_effects(
    context: &ActionContext,
    viewer: &Viewer,
    fields: ChangedFields,
    came: &BTreeSet<EntityId>,
    mut rest: Vec<Effect>,
    valued: &BTreeSet<(KindId, FieldId)>,
    is_told: impl Fn(&Field) -> bool,
) -> Vec<Effect> {
    let (state, schema) = (&context.state, context.rules.schema());
    let hidden = |audience: &Audience| !viewer.sees(audience);
    let title = |id: EntityId| context.title(id);
    let mut effects = Vec::new();
    for ((entity, field), (from, to)) in fields {
        let Some(found) = state.entity(entity).filter(|_| from != to && !came.contains(&entity)) else {
            continue;
        };
        let declared = schema.kind(found.kind).field(field);
        if hidden(&context.audience_of_change(entity, field, from, to)) {
            continue;
        }
        effects.push(Effect::Changed {
            entity,
            title: title(entity),
            field: declared.name.clone(),
            label: declared.label.clone(),
            from: from.clone(),
            to: to.clone(),
            words: ChangeWords { from: context.words(from), to: context.words(to) },
            shown: declared.show || valued.contains(&(found.kind, field)),
        });
    }
    for id in came {
        let Some(made) = state.entity(*id).filter(|_| !hidden(&state.audience(schema, *id))) else { continue };
        let kind = schema.kind(made.kind);
        let differs = kind
            .fields
            .iter()
            .zip(&made.fields)
            .enumerate()
            .filter(|(at, (field, value))| {
                let audience = || state.field_audience(schema, *id, FieldId(*at as u16), None);
                is_told(field) && field.default != **value && (field.audience.is_none() || !hidden(&audience()))
            })
            .map(|(_, with)| with);
        let with: Vec<String> =
            differs.map(|(field, value)| format!("{} {}", field.label, context.words(value))).collect();
        effects.push(Effect::Came { kind: kind.name.clone(), title: title(*id), with: with.join(", ") });
    }
    // In an order that does not depend on when each went.
    rest.sort_by_key(Effect::line);
    effects.append(&mut rest);
    effects
}

/// Returns the entries that the script added to the agenda or removed from it for good. An entry that was removed and
/// added again unchanged is neither, nor one that was removed with its owner.
fn agenda(context: &ActionContext) -> Vec<Effect> {
    let mut before: BTreeMap<EntryId, Option<Entry>> = BTreeMap::new();
    let now = |id: &EntryId| context.state.agenda().get(*id).cloned();
    for change in context.state.since(context.run.before_script).iter().rev() {
        match change {
            Change::Schedule { entry } => drop(before.insert(entry.id, None)),
            Change::Unschedule { entry } => drop(before.insert(entry.id, Some(entry.clone()))),
            Change::Rekey { id, from, .. } => {
                let was = before.entry(*id).or_insert_with(|| now(id));
                *was = was.take().map(|entry| Entry { key: *from, ..entry });
            }
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
    // What is due, its owner, when, and its arguments. An owner that is gone has no title any more.
    let told = |entry: Entry| {
        let owner = entry.owner.map(|owner| context.title(owner));
        let args = if entry.args == Value::None { String::new() } else { context.words(&entry.args) };
        (entry.what.clone(), owner, entry.key.places().to_vec(), args)
    };
    let mut come: Vec<_> = before.keys().filter_map(now).map(told).collect();
    let stays = |entry: &Entry| entry.owner.is_none_or(|owner| context.state.entity(owner).is_some());
    let mut gone: Vec<_> = before.into_values().flatten().filter(stays).map(told).collect();
    leave_out_same(&mut come, &mut gone);
    let gone = gone.into_iter().map(|(what, owner, key, args)| Effect::Unscheduled { what, owner, key, args });
    gone.chain(come.into_iter().map(|(what, owner, key, args)| Effect::Scheduled { what, owner, key, args })).collect()
}

/// Returns what was attached or detached, and attachments with other data. What was removed with its owner is left out.
fn attachments(context: &ActionContext) -> Vec<Effect> {
    let mut before: BTreeMap<AttachmentId, Option<Attachment>> = BTreeMap::new();
    let now = |id: &AttachmentId| context.state.attachments().get(id).cloned();
    for change in context.state.since(context.knowledge.dealt).iter().rev() {
        match change {
            Change::Attach { id, .. } => drop(before.insert(*id, None)),
            Change::Detach { id, was } => drop(before.insert(*id, Some(was.clone()))),
            Change::Data { id, from, .. } => {
                if let Some(attachment) = before.entry(*id).or_insert_with(|| now(id)) {
                    attachment.data = from.clone();
                }
            }
            Change::Set { .. }
            | Change::Spawn { .. }
            | Change::Remove { .. }
            | Change::Schedule { .. }
            | Change::Unschedule { .. }
            | Change::Rekey { .. }
            | Change::LeaveOut { .. }
            | Change::Finish { .. } => {}
        }
    }
    // An attachment with changed data is reported as attached with its new data.
    let changed: Vec<AttachmentId> =
        before.iter().filter(|(id, was)| was.is_some() && now(id).is_some()).map(|(id, _)| *id).collect();
    let same = |id: &AttachmentId| before[id] == now(id);
    let come = before.keys().filter(|id| !same(id)).filter_map(now).collect();
    let gone = before.iter().filter(|(id, _)| !changed.contains(id));
    let stays = |was: &Attachment| context.state.entity(was.owner).is_some();
    attachment_effects(context, come, gone.filter_map(|(_, was)| was.clone()).filter(stays).collect())
}

/// The hook holders that are attached, or have other data, and those that were taken off.
fn attachment_effects(context: &ActionContext, come: Vec<Attachment>, gone: Vec<Attachment>) -> Vec<Effect> {
    let told = |made: Attachment| (made.hook, context.title(made.owner), context.words(&made.data));
    let mut come: Vec<_> = come.into_iter().map(told).collect();
    let mut gone: Vec<_> = gone.into_iter().map(told).collect();
    leave_out_same(&mut come, &mut gone);
    let gone = gone.into_iter().map(|(hook, title, _)| Effect::Detached { hook, title });
    gone.chain(come.into_iter().map(|(hook, title, data)| Effect::Attached { hook, title, data })).collect()
}

/// Removes what both lists contain from both, one for one.
fn leave_out_same<T: PartialEq>(come: &mut Vec<T>, gone: &mut Vec<T>) {
    come.retain(|one| match gone.iter().position(|other| other == one) {
        Some(at) => {
            gone.remove(at);
            false
        }
        None => true,
    });
}
