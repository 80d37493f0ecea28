use std::collections::BTreeMap;
use std::hash::Hash;
use std::sync::Arc;

use indexmap::IndexSet;

use super::guard::Guard;
use super::numbering::{is_number, is_numbered};
use super::recording::{Finished, RecordedEffect};
use super::tagged::{Interner, PackedValue};
use crate::context::PlayedCard;
use riskbreaker_state::{Attachment, AttachmentId, Due, Entity, EntityId, KindId, RelativeKey, Value};

/// The outcome of a trace. Values and names are indices into the table, so that many traces share few of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TraceOutcome {
    /// Final values of fields of fixed entities, if equal in all games.
    pub puts: Box<[(Guard, PackedValue)]>,
    /// The other effects, in order.
    pub steps: Box<[OutcomeStep]>,
    /// The size of the written values in bytes, as counted by [`Value::weight`].
    pub written: usize,
    /// The number of new entities, to check the limit.
    pub spawns: u32,
    /// The number of new agenda entries, to check the limit.
    pub entries: u32,
    /// True if something was rolled or asked.
    pub pulsed: bool,
    /// The index of the played cards, with the results of their rolls.
    pub played: Option<u32>,
    /// The value of a read-only function.
    pub value: PackedValue,
}

/// An effect as stored in the table: large data is an index into [`OutcomeNames`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum OutcomeStep {
    Set(Guard, PackedValue),
    Add(Guard, PackedValue),
    Spawn(u32),
    Remove(EntityId),
    Attach(u32),
    Detach(AttachmentId),
    SetData(AttachmentId, PackedValue),
    /// `numbered`: true if it contains a numbered entity.
    Schedule {
        key: u32,
        due: u32,
        numbered: bool,
    },
    Finish(PackedValue),
}

impl OutcomeStep {
    /// Encodes the step in four words.
    pub fn words(&self) -> [u32; 4] {
        match *self {
            OutcomeStep::Set(field, to) => [0, field.bits(), to.at() as u32, 0],
            OutcomeStep::Add(field, by) => [1, field.bits(), by.at() as u32, 0],
            OutcomeStep::Spawn(made) => [2, made, 0, 0],
            OutcomeStep::Remove(id) => [3, id.0, 0, 0],
            OutcomeStep::Attach(made) => [4, made, 0, 0],
            OutcomeStep::Detach(id) => [5, id.0, 0, 0],
            OutcomeStep::SetData(id, data) => [6, id.0, data.at() as u32, 0],
            OutcomeStep::Schedule { key, due, numbered } => [7, key, due, u32::from(numbered)],
            OutcomeStep::Finish(text) => [8, text.at() as u32, 0, 0],
        }
    }

    /// Decodes the words of [`OutcomeStep::words`].
    #[inline]
    pub fn of_words([sort, one, two, three]: [u32; 4]) -> OutcomeStep {
        match sort {
            0 => OutcomeStep::Set(Guard::of_bits(one), PackedValue::place(two)),
            1 => OutcomeStep::Add(Guard::of_bits(one), PackedValue::place(two)),
            2 => OutcomeStep::Spawn(one),
            3 => OutcomeStep::Remove(EntityId(one)),
            4 => OutcomeStep::Attach(one),
            5 => OutcomeStep::Detach(AttachmentId(one)),
            6 => OutcomeStep::SetData(AttachmentId(one), PackedValue::place(two)),
            7 => OutcomeStep::Schedule { key: one, due: two, numbered: three != 0 },
            _ => OutcomeStep::Finish(PackedValue::place(one)),
        }
    }
}

/// The field that an effect writes.
fn written(effect: &RecordedEffect) -> Option<Guard> {
    match effect {
        RecordedEffect::Set(field, _) | RecordedEffect::Add(field, _) => Some(*field),
        _ => None,
    }
}

/// The value that an effect writes to a field of a fixed entity, if it is equal in all games.
fn put_value(effect: &RecordedEffect) -> Option<&Value> {
    match effect {
        RecordedEffect::Set(field, value) if field.is_fixed() && !is_numbered(value) => Some(value),
        _ => None,
    }
}

/// The data to which outcomes refer by index.
#[derive(Debug, Default)]
pub(crate) struct OutcomeNames {
    pub values: Interner,
    /// Scheduled agenda entries, shared by outcomes.
    pub due: IndexSet<Arc<Due>>,
    /// The keys of scheduled agenda entries, shared by outcomes.
    pub keys: IndexSet<RelativeKey>,
    /// New entities, by kind and fields, shared by outcomes.
    pub made: IndexSet<(KindId, Box<[PackedValue]>)>,
    /// Attachments, shared by outcomes.
    pub attached: IndexSet<Attachment>,
    /// The cards played in one entry, with the seats that played them.
    pub plays: IndexSet<Box<[PlayedCard]>>,
}

/// An outcome with all its data, for messages.
#[derive(Debug)]
#[expect(dead_code, reason = "read where it is written out")]
struct WholeOutcome {
    effects: Vec<RecordedEffect>,
    pulsed: bool,
    played: Vec<PlayedCard>,
    value: Value,
}

fn number<T: Hash + Eq>(set: &mut IndexSet<T>, one: T) -> u32 {
    set.insert_full(one).0 as u32
}

impl OutcomeNames {
    /// Converts a recording to its outcome. `None` if a value is too large.
    pub fn outcome(&mut self, finished: &Finished) -> Option<TraceOutcome> {
        let effects = &finished.recording.effects;
        let puts = self.puts(effects)?;
        let is_put = |effect: &&RecordedEffect| written(effect).is_some_and(|field| puts.contains_key(&field));
        // Written values count even if they are replaced later.
        let set = |effect: &RecordedEffect| match effect {
            RecordedEffect::Set(_, value) => value.weight(),
            _ => 0,
        };
        let weight = effects.iter().filter(is_put).map(set).sum();
        let others: Vec<&RecordedEffect> = effects.iter().filter(|effect| !is_put(effect)).collect();
        let count = |wanted: fn(&RecordedEffect) -> bool| effects.iter().filter(|effect| wanted(effect)).count() as u32;
        Some(TraceOutcome {
            spawns: count(|effect| matches!(effect, RecordedEffect::Spawn(_))),
            entries: count(|effect| matches!(effect, RecordedEffect::Schedule(..))),
            puts: puts.iter().map(|(field, tag)| (*field, *tag)).collect(),
            steps: others.into_iter().map(|effect| self.step(effect)).collect::<Option<_>>()?,
            written: weight,
            pulsed: finished.pulsed,
            played: (!finished.played.is_empty())
                .then(|| number(&mut self.plays, finished.played.clone().into_boxed_slice())),
            value: self.values.tag(&finished.value)?,
        })
    }

    /// The final field values of the outcome. A field that gets its last value in another way is left to the steps,
    /// with all its writes; so are all fields if an entity is removed, since that empties fields.
    fn puts(&mut self, effects: &[RecordedEffect]) -> Option<BTreeMap<Guard, PackedValue>> {
        let mut puts = BTreeMap::new();
        if effects.iter().any(|effect| matches!(effect, RecordedEffect::Remove(_))) {
            return Some(puts);
        }
        for (effect, field) in effects.iter().filter_map(|effect| Some((effect, written(effect)?))) {
            match put_value(effect) {
                Some(value) => puts.insert(field, self.values.tag(value)?),
                None => puts.remove(&field),
            };
        }
        Some(puts)
    }

    fn step(&mut self, effect: &RecordedEffect) -> Option<OutcomeStep> {
        Some(match effect {
            RecordedEffect::Set(field, value) => OutcomeStep::Set(*field, self.values.tag(value)?),
            RecordedEffect::Add(field, by) => OutcomeStep::Add(*field, self.values.tag(&Value::Int(*by))?),
            RecordedEffect::Spawn(Entity { kind, fields }) => {
                let fields = fields.iter().map(|value| self.values.tag(value)).collect::<Option<_>>()?;
                OutcomeStep::Spawn(number(&mut self.made, (*kind, fields)))
            }
            RecordedEffect::Remove(id) => OutcomeStep::Remove(*id),
            RecordedEffect::Attach(made) => OutcomeStep::Attach(number(&mut self.attached, made.clone())),
            RecordedEffect::Detach(id) => OutcomeStep::Detach(*id),
            RecordedEffect::SetData(id, data) => OutcomeStep::SetData(*id, self.values.tag(data)?),
            RecordedEffect::Schedule(key, due) => OutcomeStep::Schedule {
                key: number(&mut self.keys, *key),
                due: number(&mut self.due, due.clone()),
                numbered: due.owner.is_some_and(is_number) || is_numbered(&due.args),
            },
            RecordedEffect::Finish(text) => OutcomeStep::Finish(self.values.tag(&Value::text(text))?),
        })
    }

    /// Formats an outcome for a message to developers.
    pub fn told(&self, outcome: &TraceOutcome) -> String {
        let value = |tag: PackedValue| self.values.value(tag);
        let effect = |step: &OutcomeStep| match step {
            OutcomeStep::Set(field, to) => RecordedEffect::Set(*field, value(*to)),
            OutcomeStep::Add(field, by) => RecordedEffect::Add(*field, value(*by).as_int().unwrap_or_default()),
            OutcomeStep::Spawn(made) => {
                let (kind, fields) = &self.made[*made as usize];
                RecordedEffect::Spawn(Entity { kind: *kind, fields: fields.iter().copied().map(value).collect() })
            }
            OutcomeStep::Remove(id) => RecordedEffect::Remove(*id),
            OutcomeStep::Attach(made) => RecordedEffect::Attach(self.attached[*made as usize].clone()),
            OutcomeStep::Detach(id) => RecordedEffect::Detach(*id),
            OutcomeStep::SetData(id, data) => RecordedEffect::SetData(*id, value(*data)),
            OutcomeStep::Schedule { key, due, .. } => {
                RecordedEffect::Schedule(self.keys[*key as usize], self.due[*due as usize].clone())
            }
            OutcomeStep::Finish(text) => RecordedEffect::Finish(value(*text).as_text().unwrap_or_default().into()),
        };
        let played = outcome.played.map(|played| self.plays[played as usize].to_vec()).unwrap_or_default();
        let puts = outcome.puts.iter().map(|(field, to)| RecordedEffect::Set(*field, value(*to)));
        let effects = puts.chain(outcome.steps.iter().map(effect)).collect();
        format!("{:?}", WholeOutcome { effects, pulsed: outcome.pulsed, played, value: value(outcome.value) })
    }
}
