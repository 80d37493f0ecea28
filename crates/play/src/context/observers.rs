//! The observers of finished operations: the trace cache, the card counts of a simulation, and the event log.

use std::collections::BTreeSet;

use super::card_counts::CardCounts;
use super::observer::Observer;
use super::op::Op;
use crate::Memo;
use riskbreaker_state::{FieldId, KindId};

/// Observers of finished operations.
#[derive(Default)]
pub struct Observers {
    /// The trace cache of a simulation.
    pub memo: Option<Box<Memo>>,
    /// The results of cards.
    pub counts: Option<Box<CardCounts>>,
    /// The fields that scripts read, by kind, while they are collected.
    pub reads: Option<BTreeSet<(KindId, FieldId)>>,
    /// True if a script has read the time or the number of an agenda entry, or named one, since this was reset.
    pub sees_time: bool,
}

impl Observers {
    /// Notifies all observers of a finished operation.
    #[inline]
    pub fn observe(&mut self, op: &Op) {
        let names_entry = matches!(
            op,
            Op::ReadAgenda | Op::ReadKey | Op::ReadEntryNumber | Op::Schedule { .. } | Op::Cancel | Op::Rekey
        );
        self.sees_time |= names_entry;
        if let (Some(reads), Op::Read { entity, field, state, .. } | Op::ReadAtLeast { entity, field, state, .. }) =
            (&mut self.reads, op)
            && let Some(found) = state.entity(*entity)
        {
            reads.insert((found.kind, *field));
        }
        if let Some(memo) = &mut self.memo {
            memo.observe(op);
        }
        if let Some(counts) = &mut self.counts {
            counts.observe(op);
        }
    }

    /// While a trace is recorded: the largest id of the entities that all games begin with.
    pub fn fixed_entities(&self) -> Option<u32> {
        self.memo.as_ref().filter(|memo| memo.is_recording()).map(|memo| memo.fixed())
    }

    /// True if an observer needs to know which card an answer chose.
    pub fn wants_card(&self) -> bool {
        self.counts.is_some()
    }
}
