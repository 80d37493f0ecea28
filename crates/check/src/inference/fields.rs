//! The fields and derived values of entities.

use crate::inference::Inference;
use crate::inference::symbol::Symbol;
use riskbreaker_state::Type;

impl Inference<'_> {
    /// Returns the types that a field can have: that of the entity's kind if it is known, otherwise those of all kinds.
    pub(crate) fn types_at(&self, thing: &Option<Symbol>, field: &str) -> Vec<&Type> {
        match thing {
            Some(Symbol::Entity(Some(kind))) => {
                let kind = self.known.kind(kind);
                kind.and_then(|kind| Some(&kind.field(kind.field_named(field)?).ty)).into_iter().collect()
            }
            _ => self.known.types_of(field).collect(),
        }
    }

    /// Whether a kind has a derived value of that name, whatever other kinds have.
    pub(crate) fn is_derived_of(&self, kind: &str, name: &str) -> bool {
        self.known.kind(kind).is_some_and(|kind| kind.has_derived(name))
    }
}
