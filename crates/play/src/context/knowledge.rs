//! What scripts may read: the whole state, the state as one viewer knows it, or the state as one seat knows it.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

use riskbreaker_state::{EntityId, FieldId, KindId, State};

/// Restrictions of what scripts may read, and what `deal` has resampled.
#[derive(Default)]
pub struct Knowledge {
    /// Set if this is the game as one viewer knows it: the values that are hidden from that viewer.
    pub masked: Option<Box<Masked>>,
    /// The seat for which the rules' `deal` runs before the open action, to resample what that seat cannot see.
    pub deals_for: Option<Arc<str>>,
    /// The number of changes at the start of the journal that `deal` made.
    pub dealt: usize,
    /// The state as a seat knows it. Scripts read it while they compute something that is shown to the seat.
    pub glimpse: Option<Box<State>>,
    /// The identity and the count of changes of the last state in which everybody was found to see everything.
    pub open_at: Option<(u64, u64)>,
}

/// The values of a state that are hidden from a viewer.
#[derive(Clone, Debug, Default)]
pub struct Masked {
    /// Hidden fields of visible entities. In the state they have their defaults.
    pub fields: BTreeSet<(EntityId, FieldId)>,
    /// Hidden fields that a script has read, in this game or in a copy of it.
    pub looked_at: Arc<Mutex<BTreeSet<(KindId, FieldId)>>>,
    /// Hidden fields that scripts have written since: their new values follow from what the viewer knows.
    pub written: BTreeSet<(EntityId, FieldId)>,
}

impl Masked {
    pub fn hides(&self, entity: EntityId, field: FieldId) -> bool {
        self.fields.contains(&(entity, field))
    }

    /// Records that a hidden field was written.
    pub fn note_written(&mut self, entity: EntityId, field: FieldId) {
        if self.hides(entity, field) {
            self.written.insert((entity, field));
        }
    }

    /// Makes the written fields known, once the action that wrote them is over.
    pub fn settle(&mut self) {
        let written = std::mem::take(&mut self.written);
        self.fields.retain(|field| !written.contains(field));
    }

    /// Records that a script read a field, if it is hidden and was not written.
    pub fn note(&self, kind: KindId, entity: EntityId, field: FieldId) {
        if self.hides(entity, field)
            && !self.written.contains(&(entity, field))
            && let Ok(mut looked_at) = self.looked_at.lock()
        {
            looked_at.insert((kind, field));
        }
    }
}

impl Knowledge {
    /// True if scripts may read the whole state.
    #[inline]
    pub fn is_whole(&self) -> bool {
        self.masked.is_none() && self.glimpse.is_none()
    }
}
