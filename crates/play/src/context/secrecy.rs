//! Secret parts of an action (`rb.secretly`): the audience of their lines, rolls, questions and answers.

use std::sync::Arc;

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
    place: SecretPlace,
    /// Its audience outside any secret part.
    open: Audience,
    /// The seat that answered, if it is an answer.
    seat: Option<Arc<str>>,
    under: Vec<(u32, Audience)>,
}

/// The place of something secret in its run.
#[derive(Clone, Copy, Debug)]
pub enum SecretPlace {
    /// An event, by its index among those of the run.
    Event(usize),
    /// A tape slot.
    Slot(u32),
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

    /// Records an event or tape slot, and returns its audience: `open`, narrowed by the secret parts that apply now.
    pub fn note(&mut self, place: SecretPlace, open: Audience, seat: Option<Arc<str>>) -> Audience {
        let under = self.under();
        if under.is_empty() {
            return open;
        }
        let told = SecretEvent { place, open, seat, under };
        let audience = told.audience();
        self.told.push(told);
        audience
    }

    /// Opens the innermost secret part to everybody. Returns the places in it so far, with their new audiences.
    pub fn disclose(&mut self) -> Vec<(SecretPlace, Audience)> {
        let Some(Some((id, audience))) = self.parts.iter_mut().rev().find(|part| part.is_some()) else {
            return Vec::new();
        };
        let id = *id;
        *audience = Audience::Everybody;
        let mut changed = Vec::new();
        for told in &mut self.told {
            let known = told.under.len();
            told.under.retain(|(under, _)| *under != id);
            if told.under.len() < known {
                changed.push((told.place, told.audience()));
            }
        }
        changed
    }
}
