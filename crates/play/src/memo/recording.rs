use std::collections::HashSet;
use std::hash::{BuildHasherDefault, Hash, Hasher};
use std::sync::Arc;

use super::guard::Guard;
use super::numbering::EntityNumbering;
use super::query::{Query, QueryRules};
use crate::Sight;
use crate::context::PlayedCard;
use riskbreaker_dice::Dice;
use riskbreaker_state::{Attachment, AttachmentId, Due, Entity, EntityId, FieldId, KindId, RelativeKey, State, Value};

/// The owner in the root of a read-only function. No entry has it, since entities are counted from 1.
pub(crate) const FUNCTION: Option<EntityId> = Some(EntityId(0));

/// The key of a trace: an agenda entry or a read-only function, with the existing fixed entities and their attachments.
/// Entities in it are numbered, as everywhere in a recording.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Root {
    pub what: Arc<str>,
    pub owner: Option<EntityId>,
    pub args: Value,
    /// Hash of the fixed entities that exist, and of whether other entities were ever made.
    pub population: u64,
    /// Hash of their attachments.
    pub attachments: u64,
}

impl Root {
    #[inline]
    pub fn is(&self, what: &Arc<str>, owner: Option<EntityId>, args: &Value, hashes: (u64, u64)) -> bool {
        self.owner == owner
            && (self.population, self.attachments) == hashes
            && (Arc::ptr_eq(&self.what, what) || self.what == *what)
            && same(&self.args, args)
    }

    pub fn hash(&self) -> u64 {
        hash_of(&self.what, self.owner, &self.args, (self.population, self.attachments))
    }
}

/// Computes the hash of a root.
pub(crate) fn hash_of(what: &str, owner: Option<EntityId>, args: &Value, (population, attachments): (u64, u64)) -> u64 {
    let owner = owner.map_or(0, |owner| u64::from(owner.0) + 1);
    let args = match args {
        Value::None => 0,
        Value::Int(n) => *n as u64,
        args => {
            let mut folded = Folded::default();
            args.hash(&mut folded);
            folded.finish()
        }
    };
    // The first and the last 8 bytes suffice to distinguish the names of entries.
    let bytes = what.as_bytes();
    let name = match (bytes.first_chunk::<8>(), bytes.last_chunk::<8>()) {
        (Some(first), Some(last)) => u64::from_le_bytes(*first) ^ u64::from_le_bytes(*last).rotate_left(29),
        _ => bytes.iter().fold(0, |sum, byte| sum << 8 | u64::from(*byte)),
    };
    let name = name ^ bytes.len() as u64;
    let own = name ^ owner.rotate_left(32) ^ args.wrapping_mul(0xD6E8_FEB8_6659_FD93).rotate_left(23);
    own.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ population ^ attachments.rotate_left(17)
}

/// A set of fields.
pub(crate) type FieldSet = HashSet<Guard, BuildHasherDefault<Folded>>;

/// A fast hasher of a few words, for a table that compares its keys.
#[derive(Clone, Default)]
pub(crate) struct Folded(u64);

impl Hasher for Folded {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|byte| self.write_u64(u64::from(*byte)));
    }

    fn write_u64(&mut self, word: u64) {
        self.0 = (self.0.rotate_left(5) ^ word).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    }

    fn write_u32(&mut self, word: u32) {
        self.write_u64(u64::from(word));
    }

    fn write_usize(&mut self, word: usize) {
        self.write_u64(word as u64);
    }
}

#[inline]
fn same(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::None, Value::None) => true,
        (Value::Int(one), Value::Int(other)) => one == other,
        (Value::List(one), Value::List(other)) => Arc::ptr_eq(one, other) || one == other,
        (Value::Map(one), Value::Map(other)) => Arc::ptr_eq(one, other) || one == other,
        (one, other) => one == other,
    }
}

/// A random input of a trace: the dice, and how much of the result the script saw.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum RollKey {
    Dice(Arc<Dice>, Sight),
    /// The total of the last roll, looked at after less of it was seen.
    Look,
    /// A draw from a deck.
    Deal(Arc<Dice>),
    /// A number from 1 to this, picked by a policy with `rb.pick`.
    Pick(u32),
}

/// An input on which a recording depends.
#[derive(Clone, Debug)]
pub(crate) enum Dependency {
    Field(Guard),
    Roll(RollKey),
    Query(Query),
}

/// A change of the state by a script. Entities are numbered.
#[derive(Clone, Debug)]
pub(crate) enum RecordedEffect {
    Set(Guard, Value),
    /// Adds to a number whose value is not known.
    Add(Guard, i64),
    Spawn(Entity),
    Remove(EntityId),
    Attach(Attachment),
    Detach(AttachmentId),
    SetData(AttachmentId, Value),
    Schedule(RelativeKey, Arc<Due>),
    Finish(Box<str>),
}

/// The recording of an entry or a read-only function whose script runs.
#[derive(Debug)]
pub(crate) struct Recording {
    pub root: Root,
    pub dependencies: Vec<(Dependency, Value)>,
    /// The queries among its dependencies.
    pub asked: Vec<Query>,
    /// Fields that it has read and that had not changed in any game. If one of them changes, the recording is dropped.
    pub assumptions: Vec<Guard>,
    pub effects: Vec<RecordedEffect>,
    /// True if only the fixed entities had been made before it.
    pub cast: bool,
    /// The length of the journal when it began.
    pub mark: usize,
    /// The state when it began; `None` until a query needs it.
    pub before: Option<Box<State>>,
    /// The recorded outcome, if the script runs only to be compared with it.
    pub expected: Option<ExpectedOutcome>,
}

impl Recording {
    /// The sum of what it has added to a field of unknown value.
    pub fn added(&self, field: Guard) -> i64 {
        let by = |effect: &RecordedEffect| match effect {
            RecordedEffect::Add(to, by) if *to == field => *by,
            _ => 0,
        };
        self.effects.iter().map(by).sum()
    }

    /// True if its effects so far may have changed the result of a query.
    pub fn may_have_changed(&self, query: Query, numbering: &EntityNumbering, rules: &QueryRules) -> bool {
        self.effects.iter().any(|effect| match (effect, query) {
            // Everybody sees what a recording has made, or it would have been aborted.
            (RecordedEffect::Spawn(_), Query::Holding(..) | Query::Open) => false,
            (RecordedEffect::Set(written, _), Query::Open) => rules.decides_audiences(*written, numbering),
            (RecordedEffect::Spawn(_) | RecordedEffect::Remove(_), _) => true,
            (
                RecordedEffect::Set(written, _) | RecordedEffect::Add(written, _),
                Query::Referring(_, field, _) | Query::Holding(_, field, _),
            ) => numbering.field(*written).1 == field,
            (RecordedEffect::Set(..), Query::Relations(_)) => true,
            (RecordedEffect::Attach(_) | RecordedEffect::Detach(_) | RecordedEffect::SetData(..), Query::Attached) => {
                true
            }
            _ => false,
        })
    }
}

/// An outcome of the trace table that the run of a script must have.
#[derive(Clone, Copy, Debug)]
pub struct ExpectedOutcome {
    /// The node at which its leaf begins.
    pub leaf: u32,
    /// The table's count of dropped traces at that time.
    pub dropped: u64,
}

/// A finished recording with its result.
#[derive(Debug)]
pub(crate) struct Finished {
    pub recording: Recording,
    pub pulsed: bool,
    /// The cards played in it.
    pub played: Vec<PlayedCard>,
    pub value: Value,
}

/// The kind of value that a look-up did not find.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Missed {
    Root,
    Field(Option<KindId>, FieldId),
    AtLeast(Option<KindId>, FieldId, i64),
    Query(Query),
    Roll,
}
