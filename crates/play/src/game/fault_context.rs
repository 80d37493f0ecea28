//! The context of a failed action: its card, actor, answers and dice.

use std::sync::Arc;

use super::open::Open;
use crate::context::{MOST, in_words};
use crate::{ActionContext, Cause, Fault, Slot};
use riskbreaker_ruleset::Rulebook;

/// Lists who acted, what was answered, and which dice were rolled, line by line. Empty if no tape is kept.
pub(crate) fn fault_context(context: &ActionContext, open: &Open) -> Vec<String> {
    let there = |id| context.state.entity(id).is_some();
    let mut lines = Vec::new();
    if let Cause::Entry { owner: Some(owner), .. } = &open.cause
        && there(*owner)
    {
        lines.push(format!("of {}", context.title(*owner)));
    }
    if let Cause::Free { seat, .. } = &open.cause {
        lines.push(format!("by {seat}"));
    }
    let slots = open.tape.slots.iter().flatten();
    let told = slots.filter(|slot| !matches!(slot, Slot::Closed { .. }));
    lines.extend(told.map(|slot| in_words(context, slot)));
    if lines.len() > MOST {
        let earlier = lines.len() - MOST;
        lines.drain(1..=earlier);
    }
    lines
}

/// The title and rule ids of the card whose file contains a fault, or whose call led to it.
pub(crate) fn card_of(rules: &Rulebook, fault: &Fault) -> Option<Arc<str>> {
    let places = fault.path.iter().map(String::as_str).chain(fault.chain.iter().map(String::as_str));
    let card = places.filter_map(|place| place.split_once("/maneuvers/")).find_map(|(_, file)| {
        let stem = file.split('.').next()?;
        rules.card(stem)
    })?;
    let about = if card.rules.is_empty() { String::new() } else { format!(" ({})", card.rules.join(", ")) };
    Some(Arc::from(format!("{}{about}", card.title)))
}
