//! The answers of an action in words.

use super::ActionContext;
use crate::model::without_places;
use crate::{Slot, Tape};

/// The most lines about one action.
pub(crate) const MOST: usize = 12;

pub(crate) fn in_words(context: &ActionContext, slot: &Slot) -> String {
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
pub(crate) fn answers_in_words(context: &ActionContext, tape: &Tape) -> Vec<String> {
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
