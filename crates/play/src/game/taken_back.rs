use std::collections::BTreeMap;
use std::sync::Arc;

use serde::Serialize;

use super::Game;
use crate::model::words_of;
use crate::{Answer, Cause, Event, Happening, MASTER, Slot, Tape};
use riskbreaker_state::Audience;

/// A decision that an undo would take back, as far as a viewer may know it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "serve", derive(schemars::JsonSchema))]
pub struct TakenBack {
    /// The seat that decided.
    pub seat: Arc<str>,
    /// The title of the entity that the question was about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub about: Option<Arc<str>>,
    /// The decision, such as `card: Strike`. `None` if the viewer may not know it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
}

/// A decision with its number and audience.
pub(crate) struct NumberedDecision {
    seq: u32,
    pub(crate) seat: Arc<str>,
    pub(crate) about: Option<Arc<str>>,
    pub(crate) text: String,
    pub(crate) audience: Audience,
}

impl Game {
    /// The last decisions, newest first.
    pub(crate) fn last_decisions(&self, most: usize) -> Vec<NumberedDecision> {
        let mut found: Vec<NumberedDecision> = Vec::new();
        let master: Arc<str> = Arc::from(MASTER);
        for (seat, name, seq) in &self.queued {
            found.push(self.of_act(seat, name, *seq, &[]));
        }
        for open in self.open.iter().chain(&self.held) {
            let private = |at: usize| open.private.get(&(at as u32)).cloned().unwrap_or_default();
            self.of_cause(&open.cause, open.seq, &open.events, &master, &mut found);
            of_tape(&open.tape, &open.events, private, &mut found);
        }
        for done in self.history.iter().rev() {
            let youngest = found.iter().filter(|decision| done.decided.is_none_or(|decided| decision.seq >= decided));
            if youngest.count() >= most || done.decided.is_none_or(|decided| decided <= self.horizon) {
                break;
            }
            let events: Vec<Event> = done.events.iter().collect();
            let private = |at: usize| done.private.get(&(at as u32)).cloned().unwrap_or_default();
            self.of_cause(&done.cause, done.began.or(done.seq), &events, &master, &mut found);
            of_tape(&done.tape.get(), &events, private, &mut found);
            if let (Some(skipped), Some(seq)) = (&done.skipped, done.seq) {
                let (text, audience) = (format!("an action was skipped: {skipped}"), Audience::named(MASTER));
                found.push(NumberedDecision { seq, seat: master.clone(), about: None, text, audience });
            }
        }
        found.retain(|decision| decision.seq > self.horizon);
        found.sort_by_key(|decision| std::cmp::Reverse(decision.seq));
        found.dedup_by_key(|decision| decision.seq);
        found.truncate(most);
        found
    }

    fn of_act(&self, seat: &Arc<str>, name: &Arc<str>, seq: u32, events: &[Event]) -> NumberedDecision {
        let has_secrets = self.context.rules.schema().has_secrets();
        let audience = match has_secrets || events.iter().any(|event| !event.audience.is_everybody()) {
            true => Audience::named(seat),
            false => Audience::Everybody,
        };
        NumberedDecision { seq, seat: seat.clone(), about: None, text: name.to_string(), audience }
    }

    /// The decision that began an action, if a person began it.
    fn of_cause(
        &self,
        cause: &Cause,
        seq: Option<u32>,
        events: &[Event],
        master: &Arc<str>,
        found: &mut Vec<NumberedDecision>,
    ) {
        let Some(seq) = seq else { return };
        let by_hand = |text: String, audience: Audience| NumberedDecision {
            seq,
            seat: master.clone(),
            about: None,
            text,
            audience,
        };
        found.push(match cause {
            Cause::Free { seat, name } => self.of_act(seat, name, seq, events),
            Cause::Edit { .. } => {
                let first = events.first();
                let audience = first.map_or(Audience::Everybody, |event| event.audience.clone());
                by_hand(first.map(|event| event.happening.line()).unwrap_or_default(), audience)
            }
            cause => by_hand(words_of(cause).to_string(), Audience::Everybody),
        });
    }
}

/// Collects the decisions on a tape, in the words of their events.
fn of_tape(tape: &Tape, events: &[Event], private: impl Fn(usize) -> Audience, found: &mut Vec<NumberedDecision>) {
    // The number of later answers of a seat to the same topic.
    let mut later: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    for (at, slot) in tape.slots.iter().enumerate().rev() {
        let Some(slot) = slot else { continue };
        match slot {
            Slot::Answer { topic, seat, answer, .. } => {
                let behind = later.entry((topic, seat)).or_default();
                let told = events.iter().rev().filter_map(|event| match &event.happening {
                    Happening::Answered { topic: of, about, text, seat: by } if of == topic && by == seat => {
                        Some((about, text))
                    }
                    _ => None,
                });
                let told = told.clone().nth(*behind);
                *behind += 1;
                let Some(seq) = slot.seq() else { continue };
                let words = told.map_or_else(|| Answer::in_ids(answer), |(_, text)| text.clone());
                let about = told.and_then(|(about, _)| about.clone());
                let text = format!("{topic}: {words}");
                found.push(NumberedDecision { seq, seat: seat.clone(), about, text, audience: private(at) });
            }
            Slot::Roll { dice, .. } => found.extend(slot.seqs().map(|seq| NumberedDecision {
                seq,
                seat: Arc::from("dice"),
                about: None,
                text: format!("the roll of {dice}"),
                audience: private(at),
            })),
            Slot::Closed { .. } => {}
        }
    }
}
