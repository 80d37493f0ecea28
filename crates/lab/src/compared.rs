//! Checks whether a field can have the value that a condition compares it with.
//!
//! A chance of zero is a valid result if the rules lead to it; for a misspelt value it would hide the error.

use riskbreaker_play::{Refusal, Session};
use riskbreaker_ruleset::instead_of_value;
use riskbreaker_state::{EntityId, Type, Value};

/// One comparison of a condition, as typed.
#[derive(Clone, Debug, PartialEq)]
pub struct Compared {
    /// The title of the entity.
    pub title: String,
    /// The name of a field or derived value.
    pub field: String,
    /// The value on the right-hand side.
    pub value: String,
    /// True for a comparison by order, such as `>=`.
    pub by_order: bool,
}

/// Checks that a field or derived value of an entity can have the value it is compared with.
///
/// - `value`: entities by title, as in [`Outcome::watched`](super::Outcome).
/// - `by_order`: true for a comparison such as `>=`, which needs whole numbers.
/// - `found`: the values of the field in the outcomes. They show the type of a derived value, and the titles of
///   entities that are created.
///
/// # Errors
///
/// The field can never have this value, or has no order. The message says what it can be.
pub fn check_compared<'v>(
    session: &Session,
    (entity, name): (EntityId, &str),
    value: &Value,
    by_order: bool,
    found: impl Iterator<Item = &'v Value> + Clone,
) -> Result<(), Refusal> {
    let view = session.view();
    // The fields of an entity that is gone are `none`.
    let nothing = *value == Value::None || value.as_text() == Some("none");
    if !by_order && (nothing || found.clone().any(|found| found == value)) {
        return Ok(());
    }
    let declared = view.fields(entity).find(|(field, _)| *field.name == *name);
    let Some(ty) = declared.map(|(field, _)| field.ty.clone()).or_else(|| type_of(found)) else { return Ok(()) };
    let value = &ty.settle(value.clone());
    let wrong = match (&ty, value) {
        (Type::Int { .. }, _) => ty.check_sort(value).err().map(|wrong| wrong.to_string()),
        _ if by_order => Some(format!("takes {}, which is not compared by more or less", ty.wanted())),
        (Type::Ref(_), Value::Text(title)) => match view.find(title) {
            Err(refusal @ Refusal::UnknownName { .. }) => return Err(refusal),
            _ => None,
        },
        _ => ty.check_sort(value).err().map(|wrong| wrong.to_string()),
    };
    let Some(wrong) = wrong else { return Ok(()) };
    let meant = instead_of_value(&ty, value).map_or(String::new(), |meant| format!("; {meant}"));
    Err(Refusal::new(format!("`{name}` of {} {wrong}{meant}", view.title(entity))))
}

/// The type of a derived value, if all values found have the same type.
fn type_of<'v>(found: impl Iterator<Item = &'v Value>) -> Option<Type> {
    let mut types = found.filter_map(|value| match value {
        Value::None => None,
        Value::Int(_) => Some(Some(Type::Int { min: None, max: None })),
        Value::Bool(_) => Some(Some(Type::Bool)),
        _ => Some(None),
    });
    let first = types.next()??;
    types.all(|other| other.as_ref() == Some(&first)).then_some(first)
}
