//! Secret parts of an action (`rb.secretly`): the audience of their lines, rolls, questions and answers.

use std::sync::Arc;

use super::{ActionContext, Happening};
use riskbreaker_state::Audience;

/// The running secret parts of a run, and the events in them.
#[derive(Clone, Debug, Default)]
pub struct Secrecy {
    /// The nested parts, innermost last; `None` is a public part inside a secret one.
    parts: Vec<Option<(u32, Audience)>>,
    /// The number of secret parts begun so far.
    begun: u32,
    told: Vec<SecretEvent>,
}

/// An event or tape slot in a secret part.
#[derive(Clone, Debug)]
struct SecretEvent {
    what: What,
    /// Its audience outside any secret part.
    open: Audience,
    /// The seat that answered, if it is an answer.
    seat: Option<Arc<str>>,
    under: Vec<(u32, Audience)>,
}

#[derive(Clone, Copy, Debug)]
enum What {
    /// An event, by its index among those of the run.
    Event(usize),
    /// A tape slot.
    Place(u32),
}

impl SecretEvent {
    fn audience(&self) -> Audience {
        let all = self.under.iter().fold(self.open.clone(), |all, (_, audience)| all.and(audience));
        match &self.seat {
            Some(seat) => all.with(seat),
            None => all,
        }
    }
}

impl Secrecy {
    /// Begins a secret part that narrows the audience of its events to this one.
    pub fn begin(&mut self, audience: Audience) {
        self.begun += 1;
        self.parts.push(Some((self.begun, audience)));
    }

    /// Begins a part that is not affected by the surrounding secret parts.
    pub fn begin_open(&mut self) {
        self.parts.push(None);
    }

    /// Ends the innermost part. Its events keep their audience.
    pub fn end(&mut self) {
        self.parts.pop();
    }

    /// The secret parts that apply now.
    fn under(&self) -> Vec<(u32, Audience)> {
        let inner = self.parts.iter().rposition(Option::is_none).map_or(0, |at| at + 1);
        self.parts[inner..].iter().flatten().cloned().collect()
    }

    /// Narrows an audience by the secret parts that apply now.
    pub fn narrowed(&self, open: Audience) -> Audience {
        self.parts.iter().rev().map_while(Option::as_ref).fold(open, |all, (_, audience)| all.and(audience))
    }

    fn note(&mut self, what: What, open: Audience, seat: Option<Arc<str>>) -> Audience {
        let under = self.under();
        if under.is_empty() {
            return open;
        }
        let told = SecretEvent { what, open, seat, under };
        let audience = told.audience();
        self.told.push(told);
        audience
    }
}

impl ActionContext {
    /// The audience of an event, narrowed if it is a line, roll, answer or cut. Changes of the state keep the audience
    /// of the changed field.
    pub fn audience_in_secret(&mut self, happening: &Happening, open: Audience) -> Audience {
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
        self.secrecy.note(What::Event(self.events.len()), open, seat)
    }

    /// The audience of a tape slot in the running part.
    pub fn audience_of_place(&mut self, place: u32, open: Audience, seat: Option<Arc<str>>) -> Audience {
        self.secrecy.note(What::Place(place), open, seat)
    }

    /// Discloses the innermost secret part: its events so far, and from now on, get the audience they would have
    /// without it.
    pub fn disclose(&mut self) {
        let Some(part) = self.secrecy.parts.iter_mut().rev().find(|part| part.is_some()) else { return };
        let Some((id, audience)) = part else { return };
        let id = *id;
        *audience = Audience::Everybody;
        for told in &mut self.secrecy.told {
            let known = told.under.len();
            told.under.retain(|(under, _)| *under != id);
            if told.under.len() == known {
                continue;
            }
            let audience = told.audience();
            match told.what {
                What::Event(at) => {
                    if let Some(event) = self.events.get_mut(at) {
                        event.audience = audience;
                    }
                }
                What::Place(place) if audience.is_everybody() => drop(self.private.remove(&place)),
                What::Place(place) => drop(self.private.insert(place, audience)),
            }
        }
    }
}
