//! Who is told of finished operations: the trace cache and the counts of a simulation, and events for those who listen.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::sync::Arc;

use super::context::ActionContext;
use super::operation::Op;
use super::{CardCounts, Event, Happening, Memo};
use crate::state::{Change, EntityId, FieldId, Value};

/// Observers of finished operations.
#[derive(Default)]
pub(crate) struct Observers {
    /// The trace cache of a simulation.
    pub memo: Option<Box<Memo>>,
    /// What cards come to.
    pub counts: Option<Box<CardCounts>>,
    /// Whether a script has looked at the time or the number of an agenda entry, or named one, since this was reset.
    pub sees_time: bool,
}

impl Observers {
    /// Passes a finished operation to everybody.
    #[inline]
    pub fn observe(&mut self, op: &Op) {
        let names_entry =
            matches!(op, Op::ReadAgenda | Op::ReadEntryNumber | Op::Schedule { .. } | Op::Cancel | Op::Rekey);
        self.sees_time |= names_entry;
        if let Some(memo) = &mut self.memo {
            memo.observe(op);
        }
        if let Some(counts) = &mut self.counts {
            counts.observe(op);
        }
    }

    /// Whether anybody wants to know which card an answer chose.
    pub fn wants_cards(&self) -> bool {
        self.counts.is_some()
    }
}

impl ActionContext {
    pub fn tell(&mut self, happening: Happening, audience: Option<Arc<str>>) {
        let piece = matches!(happening, Happening::Spawned { .. } | Happening::Changed { .. });
        if self.listening && !(self.quiet && piece) {
            let n = self.events.len() as u32;
            self.events.push(Event { action: self.action, n, audience, happening });
        }
    }

    /// Tells the change of a field that has just been made, and why.
    pub fn tell_change(
        &mut self,
        entity: EntityId,
        field: FieldId,
        (from, to): (&Value, &Value),
        why: Option<Arc<str>>,
    ) {
        if !self.listening || from == to {
            return;
        }
        let Some(mut happening) = self.changed(entity, field, from, to) else { return };
        if let Happening::Changed { reason, .. } = &mut happening {
            *reason = why;
        }
        let audience = self.audience_of(entity, field);
        self.tell(happening, audience);
    }

    /// The event for a change of a field, if the field is shown.
    pub fn changed(&self, entity: EntityId, field: FieldId, from: &Value, to: &Value) -> Option<Happening> {
        let kind = &self.rules.schema().kind(self.state.entity(entity)?.kind);
        let declared = kind.field(field);
        if !declared.show {
            return None;
        }
        Some(Happening::Changed {
            entity,
            title: self.title(entity),
            field: declared.name.clone(),
            label: declared.label.clone(),
            from: from.clone(),
            to: to.clone(),
            text: format!("{} -> {}", self.words(from), self.words(to)),
            reason: None,
        })
    }

    /// Adds what came of the roll that was told last to its event.
    pub fn tell_result(&mut self, text: &str) {
        let rolled = self.events.iter_mut().rev().find_map(|event| match &mut event.happening {
            Happening::Rolled { result, .. } => Some(result),
            _ => None,
        });
        match rolled {
            Some(Some(told)) => {
                told.push_str(", ");
                told.push_str(text);
            }
            Some(result) => *result = Some(text.to_owned()),
            None => {}
        }
    }

    fn audience_of(&self, entity: EntityId, field: FieldId) -> Option<Arc<str>> {
        let kind = self.rules.schema().kind(self.state.entity(entity)?.kind);
        kind.field(field).audience.clone()
    }

    /// Events for settled changes, the last one first and turned round: what an undo did.
    pub fn reversed(&self, changes: &[Change]) -> Vec<Happening> {
        let mut places: BTreeMap<(EntityId, FieldId), usize> = BTreeMap::new();
        let mut net: Vec<(EntityId, FieldId, &Value, &Value)> = Vec::new();
        for change in changes {
            if let Change::Set { entity, field, from, to } = change {
                match places.entry((*entity, *field)) {
                    Entry::Occupied(place) => net[*place.get()].3 = to,
                    Entry::Vacant(place) => {
                        place.insert(net.len());
                        net.push((*entity, *field, from, to));
                    }
                }
            }
        }
        net.into_iter()
            .filter(|(.., from, to)| from != to)
            .filter_map(|(entity, field, from, to)| self.changed(entity, field, to, from))
            .collect()
    }
}
