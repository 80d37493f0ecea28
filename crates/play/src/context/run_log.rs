//! The log of a run: its events, and who may see which of them and which slots of the tape.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::secrecy::{Secrecy, SecretPlace};
use crate::{Event, Happening};
use riskbreaker_state::Audience;

/// The most lines of one action.
const MOST_LINES: u32 = 10_000;

/// The events of a run, and the audiences of its events and tape slots.
#[derive(Default)]
pub struct RunLog {
    /// True if events have readers.
    pub listening: bool,
    pub events: Vec<Event>,
    /// Number of lines that this run has said, whether or not events have readers.
    pub said: u32,
    /// The tape slots of this run that are not public, with the audience of each.
    pub private: BTreeMap<u32, Audience>,
    /// For each roll in such a slot: the number of events before it.
    pub told_before: BTreeMap<u32, usize>,
    /// Answers of this run that the log shows later.
    pub untold: Vec<Untold>,
    /// The parts of this run that are secret.
    pub secrecy: Secrecy,
    /// The course of the run so far.
    pub course: Course,
    /// True if the next question shows something secret.
    pub question_shows: bool,
}

/// An answer whose event is held back until other answers are given.
#[derive(Clone, Debug)]
pub struct Untold {
    pub ordinal: u32,
    pub happening: Happening,
    pub audience: Audience,
    /// True if the answer is held back until the end of the action, or until the rules reveal it.
    pub sealed: bool,
}

/// The progress of a run of an action: the number of its events and of its changes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RunProgress {
    pub events: u32,
    pub changes: u32,
}

/// The course of a run of an action, to decide which of its decisions may be undone.
#[derive(Clone, Debug, Default)]
pub struct Course {
    /// The progress of the run at each tape slot.
    reached: Vec<RunProgress>,
    /// Numbers of events that showed answers which were held back until all were given.
    unsealed: Vec<u32>,
    /// Tape slots of questions that show something secret.
    showing: Vec<u32>,
}

impl RunLog {
    /// Prepares for the next run of an action.
    pub fn clear(&mut self) {
        self.events.clear();
        self.said = 0;
        self.private.clear();
        self.told_before.clear();
        self.untold.clear();
        self.secrecy = Secrecy::default();
        self.course.clear();
        self.question_shows = false;
    }

    /// Counts a line of the story, even if events have no readers, so that the limit is equal in every mode.
    ///
    /// # Errors
    ///
    /// The message of the fault, beyond the limit.
    pub fn count_line(&mut self) -> Result<(), String> {
        self.said += 1;
        match self.said > MOST_LINES {
            true => Err(format!("one action says at most {MOST_LINES} lines")),
            false => Ok(()),
        }
    }

    /// Adds an event of an action. Its audience is narrowed by the secret parts of the run.
    pub fn push(&mut self, action: u32, happening: Happening, open: Audience) {
        let audience = self.audience_in_secret(&happening, open);
        let n = self.events.len() as u32;
        self.events.push(Event { action, n, audience, happening });
    }

    /// The audience of an event, narrowed if it is a line, roll, answer or cut. Changes of the state keep the audience
    /// of the changed field.
    fn audience_in_secret(&mut self, happening: &Happening, open: Audience) -> Audience {
        let seat = match happening {
            Happening::Answered { seat, .. } => Some(seat.clone()),
            Happening::Said { .. } | Happening::Rolled { .. } | Happening::Cut { .. } => None,
            Happening::Changed { .. }
            | Happening::Spawned { .. }
            | Happening::Removed { .. }
            | Happening::Edited { .. }
            | Happening::Notice { .. }
            | Happening::Over { .. }
            | Happening::Back { .. }
            | Happening::Aside { .. }
            | Happening::Withdrawn { .. } => return open,
        };
        self.secrecy.note(SecretPlace::Event(self.events.len()), open, seat)
    }

    /// The audience of a tape slot in the running part.
    pub fn audience_of_place(&mut self, place: u32, open: Audience, seat: Option<Arc<str>>) -> Audience {
        self.secrecy.note(SecretPlace::Slot(place), open, seat)
    }

    /// Discloses the innermost secret part: its events so far, and from now on, get the audience they would have
    /// without it.
    pub fn disclose(&mut self) {
        for (place, audience) in self.secrecy.disclose() {
            match place {
                SecretPlace::Event(at) => {
                    if let Some(event) = self.events.get_mut(at) {
                        event.audience = audience;
                    }
                }
                SecretPlace::Slot(place) if audience.is_everybody() => drop(self.private.remove(&place)),
                SecretPlace::Slot(place) => drop(self.private.insert(place, audience)),
            }
        }
    }

    /// Takes the tape slots that are not public, with their audiences. Only its seat knows an answer that is not
    /// published yet.
    ///
    /// The second map has the slots of unpublished answers, and the seats that gave them.
    pub fn take_private(&mut self) -> (BTreeMap<u32, Audience>, BTreeMap<u32, Arc<str>>) {
        let (mut private, mut untold) = (std::mem::take(&mut self.private), BTreeMap::new());
        for answer in self.untold.drain(..) {
            if let Happening::Answered { seat, .. } = &answer.happening {
                private.insert(answer.ordinal, Audience::named(seat));
                untold.insert(answer.ordinal, Arc::from(&**seat));
            }
        }
        (private, untold)
    }

    /// Adds a result to the event of the last published roll.
    pub fn add_result(&mut self, text: &str) {
        let rolled = self.events.iter_mut().rev().find_map(|event| match &mut event.happening {
            Happening::Rolled { result, .. } => Some(result),
            _ => None,
        });
        match rolled {
            Some(Some(told)) => {
                told.push_str(", ");
                told.push_str(text);
            }
            Some(result) => *result = Some(text.to_owned()),
            None => {}
        }
    }

    /// Records the progress of the run, before it reads the tape slot `cursor`. `changes`: the number of changes so far.
    pub fn note_reached(&mut self, cursor: usize, changes: usize) {
        if self.course.reached.len() <= cursor {
            let reached = RunProgress { events: self.events.len() as u32, changes: changes as u32 };
            self.course.reached.resize(cursor + 1, reached);
        }
    }

    /// Records that the next event shows an answer that was held back until all were given.
    pub fn note_unsealed(&mut self) {
        self.course.unsealed.push(self.events.len() as u32);
    }

    /// Records that the question at the tape slot `cursor` shows something secret, if that was announced.
    pub fn note_showing(&mut self, cursor: usize) {
        if std::mem::take(&mut self.question_shows) && self.listening {
            self.course.showing.push(cursor as u32);
        }
    }
}

impl Course {
    fn clear(&mut self) {
        self.reached.clear();
        self.unsealed.clear();
        self.showing.clear();
    }

    /// True if the run showed answers that were held back.
    pub fn has_unsealed(&self) -> bool {
        !self.unsealed.is_empty()
    }

    /// True if this event showed an answer that was held back until all were given.
    pub fn was_sealed(&self, event: u32) -> bool {
        self.unsealed.contains(&event)
    }

    /// The tape slots of questions that show something secret.
    pub fn showing(&self) -> &[u32] {
        &self.showing
    }

    /// The progress at a tape slot; that at the beginning if unknown.
    pub fn at(&self, place: usize) -> RunProgress {
        self.reached.get(place).copied().unwrap_or_default()
    }
}
