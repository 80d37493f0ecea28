use std::collections::BTreeMap;
use std::hash::Hash;
use std::sync::Arc;

use indexmap::IndexSet;

use super::guard::Guard;
use super::numbering::{is_number, is_numbered};
use super::recording::{Effect, Finished, Played};
use super::tagged::{Interner, Tagged};
use riskbreaker_state::{Attachment, AttachmentId, Due, Entity, EntityId, KindId, RelativeKey, Value};

/// The outcome of a trace. Values and names are numbers of the table, so that many traces share few of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Outcome {
    /// Fields of fixed entities, and what they hold in the end, in all games.
    pub puts: Box<[(Guard, Tagged)]>,
    /// What it does besides, in order.
    pub steps: Box<[Step]>,
    /// Bytes of what is put, by the count of [`Value::weight`].
    pub written: usize,
    /// Entities and agenda entries that it makes, for the limits.
    pub spawns: u32,
    pub entries: u32,
    /// Whether something was rolled or asked.
    pub pulsed: bool,
    /// The number of the cards that were played, with what came of their rolls.
    pub played: Option<u32>,
    /// The value of a function that only reads.
    pub value: Tagged,
}

/// An effect as the table keeps it: what is large is a number of [`Names`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Step {
    Set(Guard, Tagged),
    Add(Guard, Tagged),
    Spawn(u32),
    Remove(EntityId),
    Attach(u32),
    Detach(AttachmentId),
    SetData(AttachmentId, Tagged),
    /// `numbered`: whether an entity in it goes by its number.
    Schedule {
        key: u32,
        due: u32,
        numbered: bool,
    },
    Finish(Tagged),
}

impl Step {
    /// The step in four words.
    pub fn words(&self) -> [u32; 4] {
        match *self {
            Step::Set(field, to) => [0, field.bits(), to.at() as u32, 0],
            Step::Add(field, by) => [1, field.bits(), by.at() as u32, 0],
            Step::Spawn(made) => [2, made, 0, 0],
            Step::Remove(id) => [3, id.0, 0, 0],
            Step::Attach(made) => [4, made, 0, 0],
            Step::Detach(id) => [5, id.0, 0, 0],
            Step::SetData(id, data) => [6, id.0, data.at() as u32, 0],
            Step::Schedule { key, due, numbered } => [7, key, due, u32::from(numbered)],
            Step::Finish(text) => [8, text.at() as u32, 0, 0],
        }
    }

    /// The step of words from [`Step::words`].
    #[inline]
    pub fn of_words([sort, one, two, three]: [u32; 4]) -> Step {
        match sort {
            0 => Step::Set(Guard::of_bits(one), Tagged::place(two)),
            1 => Step::Add(Guard::of_bits(one), Tagged::place(two)),
            2 => Step::Spawn(one),
            3 => Step::Remove(EntityId(one)),
            4 => Step::Attach(one),
            5 => Step::Detach(AttachmentId(one)),
            6 => Step::SetData(AttachmentId(one), Tagged::place(two)),
            7 => Step::Schedule { key: one, due: two, numbered: three != 0 },
            _ => Step::Finish(Tagged::place(one)),
        }
    }
}

/// The field that an effect writes.
fn written(effect: &Effect) -> Option<Guard> {
    match effect {
        Effect::Set(field, _) | Effect::Add(field, _) => Some(*field),
        _ => None,
    }
}

/// What an effect writes to a field of a fixed entity, where that is the same in all games.
fn put_value(effect: &Effect) -> Option<&Value> {
    match effect {
        Effect::Set(field, value) if field.is_fixed() && !is_numbered(value) => Some(value),
        _ => None,
    }
}

/// What outcomes refer to by number.
#[derive(Debug, Default)]
pub(super) struct Names {
    pub values: Interner,
    /// Agenda entries that are scheduled and their keys, entities that are made, and what is attached: many outcomes have the same.
    pub due: IndexSet<Arc<Due>>,
    pub keys: IndexSet<RelativeKey>,
    pub made: IndexSet<(KindId, Box<[Tagged]>)>,
    pub attached: IndexSet<Attachment>,
    /// The cards that were played in one entry, with the seats that played them.
    pub plays: IndexSet<Box<[Played]>>,
}

/// An outcome in full, for messages.
#[derive(Debug)]
#[expect(dead_code, reason = "read where it is written out")]
struct Told {
    effects: Vec<Effect>,
    pulsed: bool,
    played: Vec<Played>,
    value: Value,
}

fn number<T: Hash + Eq>(set: &mut IndexSet<T>, one: T) -> u32 {
    set.insert_full(one).0 as u32
}

impl Names {
    /// What came of a recording; nothing if a value is too large.
    pub fn outcome(&mut self, finished: &Finished) -> Option<Outcome> {
        let effects = &finished.recording.effects;
        let puts = self.puts(effects)?;
        let is_put = |effect: &&Effect| written(effect).is_some_and(|field| puts.contains_key(&field));
        // What is written and then replaced was written all the same.
        let set = |effect: &Effect| match effect {
            Effect::Set(_, value) => value.weight(),
            _ => 0,
        };
        let weight = effects.iter().filter(is_put).map(set).sum();
        let others: Vec<&Effect> = effects.iter().filter(|effect| !is_put(effect)).collect();
        let count = |wanted: fn(&Effect) -> bool| effects.iter().filter(|effect| wanted(effect)).count() as u32;
        Some(Outcome {
            spawns: count(|effect| matches!(effect, Effect::Spawn(_))),
            entries: count(|effect| matches!(effect, Effect::Schedule(..))),
            puts: puts.iter().map(|(field, tag)| (*field, *tag)).collect(),
            steps: others.into_iter().map(|effect| self.step(effect)).collect::<Option<_>>()?,
            written: weight,
            pulsed: finished.pulsed,
            played: (!finished.played.is_empty())
                .then(|| number(&mut self.plays, finished.played.clone().into_boxed_slice())),
            value: self.values.tag(&finished.value)?,
        })
    }

    /// What is put into which fields in the end. A field that gets its last value in another way is left to the steps, with all
    /// that is written to it; so are all fields where an entity is removed, which empties fields.
    fn puts(&mut self, effects: &[Effect]) -> Option<BTreeMap<Guard, Tagged>> {
        let mut puts = BTreeMap::new();
        if effects.iter().any(|effect| matches!(effect, Effect::Remove(_))) {
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

    fn step(&mut self, effect: &Effect) -> Option<Step> {
        Some(match effect {
            Effect::Set(field, value) => Step::Set(*field, self.values.tag(value)?),
            Effect::Add(field, by) => Step::Add(*field, self.values.tag(&Value::Int(*by))?),
            Effect::Spawn(Entity { kind, fields }) => {
                let fields = fields.iter().map(|value| self.values.tag(value)).collect::<Option<_>>()?;
                Step::Spawn(number(&mut self.made, (*kind, fields)))
            }
            Effect::Remove(id) => Step::Remove(*id),
            Effect::Attach(made) => Step::Attach(number(&mut self.attached, made.clone())),
            Effect::Detach(id) => Step::Detach(*id),
            Effect::SetData(id, data) => Step::SetData(*id, self.values.tag(data)?),
            Effect::Schedule(key, due) => Step::Schedule {
                key: number(&mut self.keys, *key),
                due: number(&mut self.due, due.clone()),
                numbered: due.owner.is_some_and(is_number) || is_numbered(&due.args),
            },
            Effect::Finish(text) => Step::Finish(self.values.tag(&Value::text(text))?),
        })
    }

    /// An outcome in words of the program.
    pub fn told(&self, outcome: &Outcome) -> String {
        let value = |tag: Tagged| self.values.value(tag);
        let effect = |step: &Step| match step {
            Step::Set(field, to) => Effect::Set(*field, value(*to)),
            Step::Add(field, by) => Effect::Add(*field, value(*by).as_int().unwrap_or_default()),
            Step::Spawn(made) => {
                let (kind, fields) = &self.made[*made as usize];
                Effect::Spawn(Entity { kind: *kind, fields: fields.iter().copied().map(value).collect() })
            }
            Step::Remove(id) => Effect::Remove(*id),
            Step::Attach(made) => Effect::Attach(self.attached[*made as usize].clone()),
            Step::Detach(id) => Effect::Detach(*id),
            Step::SetData(id, data) => Effect::SetData(*id, value(*data)),
            Step::Schedule { key, due, .. } => {
                Effect::Schedule(self.keys[*key as usize], self.due[*due as usize].clone())
            }
            Step::Finish(text) => Effect::Finish(value(*text).as_text().unwrap_or_default().into()),
        };
        let played = outcome.played.map(|played| self.plays[played as usize].to_vec()).unwrap_or_default();
        let puts = outcome.puts.iter().map(|(field, to)| Effect::Set(*field, value(*to)));
        let effects = puts.chain(outcome.steps.iter().map(effect)).collect();
        format!("{:?}", Told { effects, pulsed: outcome.pulsed, played, value: value(outcome.value) })
    }
}
