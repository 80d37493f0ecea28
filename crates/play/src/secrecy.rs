//! What an action keeps among some: lines, rolls, questions and answers of a part of it, by `rb.secretly`.

use std::sync::Arc;

use super::{ActionContext, Happening};
use riskbreaker_state::Audience;

/// The secret parts of a run that are under way, and what it has told in them.
#[derive(Clone, Debug, Default)]
pub struct Secrecy {
    /// The innermost last; `None` is a part that is open although it lies in a secret one.
    parts: Vec<Option<(u32, Audience)>>,
    /// How many secret parts there have been.
    begun: u32,
    told: Vec<SecretEvent>,
}

/// Something that was told in a secret part.
#[derive(Clone, Debug)]
struct SecretEvent {
    what: What,
    /// Who would be told it outside of every secret part.
    open: Audience,
    /// The seat that answered.
    seat: Option<Arc<str>>,
    under: Vec<(u32, Audience)>,
}

#[derive(Clone, Copy, Debug)]
enum What {
    /// An event, by its place among those of the run.
    Event(usize),
    /// A place of the tape.
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
    /// Begins a part for these alone, of those who would be told without it.
    pub fn begin(&mut self, audience: Audience) {
        self.begun += 1;
        self.parts.push(Some((self.begun, audience)));
    }

    /// Begins a part that is told as if no secret part were under way.
    pub fn begin_open(&mut self) {
        self.parts.push(None);
    }

    /// Ends the innermost part. What it has told stays among those who were told.
    pub fn end(&mut self) {
        self.parts.pop();
    }

    /// The secret parts that hold for what is told now.
    fn under(&self) -> Vec<(u32, Audience)> {
        let inner = self.parts.iter().rposition(Option::is_none).map_or(0, |at| at + 1);
        self.parts[inner..].iter().flatten().cloned().collect()
    }

    /// Who may see something that is told now.
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
    /// Who is told an event, if it is one that a secret part keeps. Changes of the state have the audience of what changes.
    pub fn audience_in_secret(&mut self, happening: &Happening, open: Audience) -> Audience {
        let seat = match happening {
            Happening::Answered { seat, .. } => Some(seat.clone()),
            Happening::Said { .. } | Happening::Rolled { .. } | Happening::Cut { .. } => None,
            _ => return open,
        };
        self.secrecy.note(What::Event(self.events.len()), open, seat)
    }

    /// Who may know of a place of the tape.
    pub fn audience_of_place(&mut self, place: u32, open: Audience, seat: Option<Arc<str>>) -> Audience {
        self.secrecy.note(What::Place(place), open, seat)
    }

    /// Tells what the innermost secret part has told so far, and all that it tells from now on, to everybody who would be told
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
