//! The journal of a state: the changes since it was settled, and their undo.

use super::super::Change;
use super::{Stale, State, take_number_back};

impl State {
    /// The changes made since the mark.
    pub fn since(&self, mark: usize) -> &[Change] {
        &self.journal[mark..]
    }

    /// Takes out the journal and keeps its changes.
    pub fn settle(&mut self) -> Vec<Change> {
        std::mem::take(&mut self.journal)
    }

    /// Frees the unused capacity of the journal.
    pub fn shrink_journal(&mut self) {
        self.journal.shrink_to_fit();
    }

    /// A copy without the changes in the journal.
    pub fn before_journal(&self) -> State {
        let mut copy = self.clone();
        copy.take_back(&self.journal);
        copy.stale.clear();
        copy
    }

    /// Clears the journal and keeps its changes.
    pub fn settle_unread(&mut self) {
        self.journal.clear();
    }

    /// Undoes all changes since the mark.
    pub fn rollback(&mut self, mark: usize) {
        for change in self.journal.split_off(mark).into_iter().rev() {
            self.invert(change);
        }
    }

    /// Undoes changes returned by [`State::settle`], which must be the last ones.
    pub fn take_back(&mut self, changes: &[Change]) {
        for change in changes.iter().rev() {
            self.invert(change.clone());
        }
    }

    /// Repeats undone changes, for which [`Change::can_be_made_again`] must hold.
    pub fn make_again(&mut self, changes: &[Change]) {
        for change in changes {
            match change {
                Change::Set { entity, field, to, .. } => self.set(*entity, *field, to.clone()),
                Change::Schedule { entry } => {
                    self.next_entry = entry.id.0;
                    self.agenda.insert(entry.clone());
                    self.note(|| change.clone());
                }
                Change::Unschedule { entry } => drop(self.unschedule(entry.id)),
                Change::Rekey { id, from, to } => self.rekey(*id, *from, *to),
                Change::Finish { to: Some(outcome), .. } => self.finish(outcome.clone()),
                other => debug_assert!(!other.can_be_made_again() || matches!(other, Change::Finish { .. })),
            }
        }
    }

    fn invert(&mut self, change: Change) {
        self.population = None;
        self.attached = None;
        self.references = None;
        self.moves += 1;
        match change {
            Change::Set { entity, field, from, .. } => {
                if let Some(slot) = self.slot_mut(entity, field) {
                    *slot = from;
                }
                self.stale.push(Stale::Field(entity, field));
            }
            Change::Spawn { entity, .. } => {
                self.entities.pop();
                if let Some(numbers) = &mut self.numbers {
                    numbers.take_back();
                    if numbers.count() == numbers.public() as usize {
                        self.numbers = None;
                    }
                }
                self.stale.push(Stale::Entity(entity));
            }
            Change::Remove { entity, was } => {
                self.put(entity, Some(was));
                self.stale.push(Stale::Entity(entity));
            }
            Change::Schedule { entry } => {
                self.agenda.take_back(&entry);
                self.next_entry = entry.id.0 - 1;
                take_number_back(&mut self.entry_numbers, entry.numbered);
            }
            Change::Unschedule { entry } => drop(self.agenda.insert(entry)),
            Change::Rekey { id, from, to } => drop(self.agenda.rekey(id, &to, from)),
            Change::Attach { id, .. } => {
                let numbered = self.attachments.remove(&id).and_then(|attachment| attachment.numbered);
                self.next_attachment = id.0 - 1;
                take_number_back(&mut self.attachment_numbers, numbered);
                self.stale.push(Stale::Attachments);
            }
            Change::Detach { id, was } => {
                self.attachments.insert(id, was);
                self.stale.push(Stale::Attachments);
            }
            Change::Data { id, from, .. } => {
                if let Some(attachment) = self.attachments.get_mut(&id) {
                    attachment.data = from;
                }
                self.stale.push(Stale::Attachments);
            }
            Change::LeaveOut { name, out } => self.note_left_out(&name, !out),
            Change::Finish { from, .. } => self.outcome = from,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Attachment, Entity};
    use super::*;
    use crate::{Audience, Due, EntityId, Entry, FieldId, Key, KindId, Value};
    use std::sync::Arc;

    fn entry(owner: Option<EntityId>) -> Entry {
        let key = Key::new(&[1]).unwrap();
        Entry::new(key, Arc::new(Due { what: "turn".into(), owner, args: Value::None, every: None }))
    }

    fn entity(fields: Vec<Value>) -> Entity {
        Entity { kind: KindId(0), fields }
    }

    #[test]
    fn a_rollback_restores_everything_a_removal_took_with_it() {
        let mut state = State::new();
        let first = state.spawn(entity(vec![Value::Int(1)]));
        let second = state.spawn(entity(vec![Value::Entity(first)]));
        state.schedule(&Audience::Everybody, entry(Some(first)));
        let made = Attachment { hook: "armour".into(), owner: first, data: Value::None, numbered: None };
        state.attach(&Audience::Everybody, made);
        state.settle();
        let before = state.clone();

        state.remove(first);
        assert_eq!(state.field(second, FieldId(0)), Some(&Value::None));
        assert!(state.agenda().first().is_none() && state.attachments().is_empty());

        state.rollback(0);
        assert_eq!(state, before);
    }

    #[test]
    fn taking_back_settled_changes_restores_the_counters_as_well() {
        let mut state = State::new();
        state.settle();
        let before = state.clone();
        let id = state.spawn(entity(vec![Value::Int(1)]));
        state.set(id, FieldId(0), Value::Int(5));
        let due = state.schedule(&Audience::Everybody, entry(None)).clone();
        state.rekey(due.id, due.key, Key::new(&[3]).unwrap());
        let made = Attachment { hook: "armour".into(), owner: id, data: Value::None, numbered: None };
        state.attach(&Audience::Everybody, made);
        state.finish("over".into());
        let changes = state.settle();
        state.take_back(&changes);
        assert_eq!(state, before);
    }
}
