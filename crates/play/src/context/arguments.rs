//! Arguments of derived values.

use super::view::View;
use crate::{Fault, Refusal};
use riskbreaker_state::{EntityId, Value};

/// Refuses arguments of a derived value that do not exist or are too large.
pub(crate) fn must_be_there(view: &View<'_>, entity: EntityId, args: &[Value]) -> Result<(), Fault> {
    Value::must_fit(args).map_err(Fault::new)?;
    let others = args.iter().filter_map(|arg| match arg {
        Value::Entity(entity) => Some(*entity),
        _ => None,
    });
    match std::iter::once(entity).chain(others).find(|entity| !view.exists(*entity)) {
        Some(entity) => Err(Fault::new(Refusal::NoEntity { entity }.to_string())),
        None => Ok(()),
    }
}

/// Refuses arguments if the derived value `name` of an entity takes fewer.
pub(crate) fn must_take(view: &View<'_>, entity: EntityId, name: &str, args: &[Value]) -> Result<(), Refusal> {
    Value::must_fit(args).map_err(Refusal::new)?;
    for arg in args {
        match arg {
            Value::Entity(entity) if !view.exists(*entity) => return Err(Refusal::NoEntity { entity: *entity }),
            _ => {}
        }
    }
    let most = view.derived_takes(entity, name).unwrap_or(Some(0));
    match most {
        Some(most) if args.len() > most => {
            let title = view.title(entity);
            let takes = if most == 0 { "nothing".to_string() } else { format!("at most {most}") };
            Err(Refusal::new(format!("`{name}` of {title} takes {takes} after it. Type `why {title} {name}`.")))
        }
        _ => Ok(()),
    }
}

/// Returns the arguments with one more entity.
pub(crate) fn with(args: &[Value], other: EntityId) -> Vec<Value> {
    let mut all = args.to_vec();
    all.push(Value::Entity(other));
    all
}

/// The refusal for a derived value that fails because it needs more arguments than were given. `of`: the entity and the
/// value; `other`: an entity with which it works, if one is known.
pub(crate) fn takes_more(
    view: &View<'_>,
    of: (EntityId, &str),
    args: &[Value],
    other: Option<EntityId>,
    fault: Fault,
) -> Refusal {
    let (entity, name) = of;
    let title = view.title(entity);
    let given: String = args.iter().map(|arg| format!(" {}", view.words(arg))).collect();
    match (other, view.derived_takes(entity, name).flatten()) {
        (Some(other), _) => Refusal::new(format!(
            "`{name}` of {title} is worked out against somebody else. Type the name after it, such as `why {title} {name}{given} {}`.",
            view.title(other)
        )),
        (None, Some(takes)) => Refusal::new(format!(
            "`{name}` of {title} takes {takes} more words after it, such as the name of an entity: `why {title} {name}{given} ...`."
        )),
        (None, None) => Refusal::fault(fault),
    }
}
