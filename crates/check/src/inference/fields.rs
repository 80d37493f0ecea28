//! The fields and derived values of entities.

use crate::inference::Inference;
use crate::inference::symbol::Symbol;
use crate::syntax::text;
use riskbreaker_script::syntax::{Expression, ExpressionKind};
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

    /// Whether an expression is a variable that this script gives a table of its own.
    pub(crate) fn is_made_here(&self, value: Expression<'_>) -> bool {
        matches!(value.kind(), ExpressionKind::Local { local, .. } if self.made_tables.contains(&local.id))
    }

    /// Whether an expression is a variable whose name stands for entities in the scripts of the ruleset, and that is no
    /// table of this script's own.
    pub(crate) fn is_entity_by_name(&self, value: Expression<'_>) -> bool {
        match value.kind() {
            ExpressionKind::Local { local, .. } => {
                !self.is_spec() && !self.is_made_here(value) && self.known.names.is_entity_variable(&text(local.name))
            }
            _ => false,
        }
    }

    /// Whether a kind has a derived value of that name, whatever other kinds have.
    pub(crate) fn is_derived_of(&self, kind: &str, name: &str) -> bool {
        self.known.kind(kind).is_some_and(|kind| kind.has_derived(name))
    }
}
