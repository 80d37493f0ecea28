//! The context of a failed action: its card, actor, answers and dice.

use std::sync::Arc;

use super::action::{Cause, Open};
use super::explorer::without_places;
use super::{ActionContext, Fault, Slot, Tape};
use riskbreaker_ruleset::Rulebook;

/// The most lines about one action.
const MOST: usize = 12;

/// Lists who acted, what was answered, and which dice were rolled, line by line. Empty if no tape is kept.
pub(super) fn fault_context(context: &ActionContext, open: &Open) -> Vec<String> {
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

fn in_words(context: &ActionContext, slot: &Slot) -> String {
    match slot {
        Slot::Closed { .. } => "closed by an earlier answer".into(),
        Slot::Answer { topic, seat, about, answer, .. } => {
            let about = about.filter(|id| context.state.entity(*id).is_some());
            let who = about.map_or(seat.to_string(), |id| context.title(id).to_string());
            format!("{who}: {topic} {}", answer.in_ids())
        }
        Slot::Roll { label, dice, .. } => {
            let faces: Vec<String> = slot.rolled().iter().map(u32::to_string).collect();
            format!("{dice} rolled {} ({})", faces.join(", "), without_places(label))
        }
    }
}

/// Formats the last answers of an action: seat or entity, topic, answer.
pub(super) fn answers_in_words(context: &ActionContext, tape: &Tape) -> Vec<String> {
    let answers = tape.slots.iter().flatten().filter(|slot| matches!(slot, Slot::Answer { .. }));
    let mut told: Vec<String> = answers.map(|slot| in_words(context, slot)).collect();
    // Automatic answers (only one was possible) are on no tape.
    told.extend(context.run.autos.iter().map(|(question, answer)| {
        let who = question.about.map_or(question.seat.clone(), |id| context.title(id));
        format!("{who}: {} {}", question.topic, question.tell(answer))
    }));
    told.drain(..told.len().saturating_sub(MOST));
    told
}

/// The title and rule ids of the card whose file contains a fault, or whose call led to it.
pub(super) fn card_of(rules: &Rulebook, fault: &Fault) -> Option<Arc<str>> {
    let places = fault.path.iter().map(String::as_str).chain(fault.chain.iter().map(String::as_str));
    let card = places.filter_map(|place| place.split_once("/maneuvers/")).find_map(|(_, file)| {
        let stem = file.split('.').next()?;
        rules.card(stem)
    })?;
    let about = if card.rules.is_empty() { String::new() } else { format!(" ({})", card.rules.join(", ")) };
    Some(Arc::from(format!("{}{about}", card.title)))
}
