//! Events of the running action.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::sync::Arc;

use super::ActionContext;
use crate::Happening;
use riskbreaker_state::{Audience, AudienceRule, Change, EntityId, FieldId, Value};

impl ActionContext {
    pub fn tell(&mut self, happening: Happening, audience: Audience) {
        let piece = matches!(happening, Happening::Spawned { .. } | Happening::Changed { .. });
        // While paths are explored, only lines of the story are kept, since they are part of the outcome.
        let is_heard = self.paths.is_none() || matches!(happening, Happening::Said { .. });
        if self.log.listening && is_heard && !(self.run.at_start && piece) {
            self.log.push(self.run.action, happening, audience);
        }
    }

    /// Publishes the answers that were held back for those of other questions. `sealed`: also those held back until the
    /// end of the action.
    pub fn tell_untold(&mut self, sealed: bool) {
        let several = self.log.untold.len() > 1;
        for answer in std::mem::take(&mut self.log.untold) {
            if answer.sealed && !sealed {
                self.log.untold.push(answer);
                continue;
            }
            let seat = match &answer.happening {
                Happening::Answered { seat, .. } => Some(seat.clone()),
                _ => None,
            };
            let audience = self.log.audience_of_place(answer.ordinal, answer.audience.clone(), seat);
            if !audience.is_everybody() {
                self.log.private.insert(answer.ordinal, audience);
            }
            if several || answer.sealed {
                self.log.note_unsealed();
            }
            self.tell(answer.happening, answer.audience);
        }
    }

    /// Publishes the change of a field that was just made, with the reason `why`.
    pub fn tell_change(
        &mut self,
        entity: EntityId,
        field: FieldId,
        (from, to): (&Value, &Value),
        why: Option<Arc<str>>,
    ) {
        if !self.log.listening || self.paths.is_some() || from == to {
            return;
        }
        let said = |kind| self.rules.schema().kind(kind).field(field).said;
        if self.state.entity(entity).is_some_and(|entity| said(entity.kind)) {
            return;
        }
        let Some((audience, mut happening)) = self.changed(entity, field, from, to) else { return };
        if let Happening::Changed { reason, .. } = &mut happening {
            *reason = why;
        }
        self.tell(happening, audience);
    }

    /// The audience of a changed field: the viewers who see the field before or after the change, and all entities in
    /// both values.
    ///
    /// The field must have its new value already. It may be the field that determines the entity's audience.
    pub fn audience_of_change(&self, entity: EntityId, field: FieldId, from: &Value, to: &Value) -> Audience {
        let schema = self.rules.schema();
        if !schema.has_secrets() {
            return Audience::Everybody;
        }
        let names = |value: &Value| self.state.value_audience(schema, value);
        let after = self.state.field_audience(schema, entity, field, None);
        let before = match self.leads_to_seats(entity, field) {
            true => self.state.field_audience(schema, entity, field, Some(from)),
            false => after.clone(),
        };
        after.or(&before).and(&names(from)).and(&names(to))
    }

    /// True if the audience of the entity or of the field depends on this field.
    fn leads_to_seats(&self, entity: EntityId, field: FieldId) -> bool {
        let Some(found) = self.state.entity(entity) else { return false };
        let kind = self.rules.schema().kind(found.kind);
        let name = &kind.field(field).name;
        let first = |rule: &Option<AudienceRule>| match rule {
            Some(AudienceRule::Path(path)) => path.first() == Some(name),
            _ => false,
        };
        first(&kind.audience) || first(&kind.field(field).audience)
    }

    /// The event for a changed field, with its audience. `None` if the field is not shown and the rules do not describe
    /// its changes.
    pub fn changed(&self, entity: EntityId, field: FieldId, from: &Value, to: &Value) -> Option<(Audience, Happening)> {
        let kind = &self.rules.schema().kind(self.state.entity(entity)?.kind);
        let declared = kind.field(field);
        if !declared.show && !declared.said {
            return None;
        }
        let audience = self.audience_of_change(entity, field, from, to);
        let words = |value: &Value| self.words_of_change(value, &audience);
        let happening = Happening::Changed {
            entity,
            title: self.title_for(entity, &audience),
            field: declared.name.clone(),
            label: declared.label.clone(),
            from: from.clone(),
            to: to.clone(),
            text: format!("{} -> {}", words(from), words(to)),
            reason: None,
        };
        Some((audience, happening))
    }

    /// Events for undone changes, given as the changes that were undone, with their audiences.
    pub fn reversed(&self, changes: &[Change]) -> Vec<(Audience, Happening)> {
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
