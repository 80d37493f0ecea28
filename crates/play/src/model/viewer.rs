use std::sync::Arc;

use serde::Serialize;

use riskbreaker_state::Audience;

/// The seat of the game master, who sees everything.
pub const MASTER: &str = "gm";

/// A viewer of a game: the game master, one seat, several seats at one screen, or a watcher without a seat.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct Viewer {
    /// True if the viewer sees everything.
    master: bool,
    /// The seats, sorted and without duplicates.
    seats: Arc<[Arc<str>]>,
    /// The seat from whose question this viewer looks ahead. `None` if it does not look ahead.
    #[serde(skip)]
    ahead_for: Option<Arc<str>>,
}

impl Viewer {
    /// The game master, who sees everything and may answer for every seat.
    pub fn master() -> Viewer {
        Viewer::seat(MASTER)
    }

    /// A watcher, who sees what is public and decides nothing.
    pub fn watcher() -> Viewer {
        Viewer::default()
    }

    /// One seat; `gm` is the game master's.
    pub fn seat(name: &str) -> Viewer {
        Viewer::seats([name])
    }

    /// Like [`Viewer::seat`], for a shared name.
    #[cfg(feature = "serve")]
    #[doc(hidden)]
    pub fn of_seat(name: &Arc<str>) -> Viewer {
        Viewer { master: **name == *MASTER, seats: Arc::from([name.clone()]), ahead_for: None }
    }

    /// Several seats that share a screen.
    pub fn seats(names: impl IntoIterator<Item = impl AsRef<str>>) -> Viewer {
        let mut seats: Vec<Arc<str>> = names.into_iter().map(|name| Arc::from(name.as_ref())).collect();
        seats.sort_unstable();
        seats.dedup();
        Viewer { master: seats.iter().any(|seat| **seat == *MASTER), seats: seats.into(), ahead_for: None }
    }

    /// The same viewer, looking ahead from a question to a seat.
    pub(crate) fn ahead_for(self, seat: &str) -> Viewer {
        Viewer { ahead_for: Some(Arc::from(seat)), ..self }
    }

    /// The seat from whose question it looks ahead. Unpublished answers of other seats are hidden from it.
    pub(crate) fn looks_ahead_for(&self) -> Option<&str> {
        self.ahead_for.as_deref()
    }

    /// True for the game master.
    pub fn is_master(&self) -> bool {
        self.master
    }

    /// The seats that it plays. The game master may also answer for all others.
    pub fn names(&self) -> impl Iterator<Item = &Arc<str>> {
        self.seats.iter()
    }

    /// True if the viewer belongs to this audience.
    pub fn sees(&self, audience: &Audience) -> bool {
        match audience {
            Audience::Everybody => true,
            Audience::Only(seats) => self.master || self.seats.iter().any(|seat| seats.contains(seat)),
        }
    }

    /// The audience of its seats; everybody for the game master.
    pub(crate) fn audience(&self) -> Audience {
        if self.master { Audience::Everybody } else { Audience::Only(self.seats.iter().cloned().collect()) }
    }

    /// True if the viewer may decide for a seat.
    pub fn plays(&self, seat: &str) -> bool {
        self.master || self.seats.iter().any(|own| **own == *seat)
    }

    /// Describes the viewer for messages.
    pub fn words(&self) -> String {
        if self.master {
            return "the game master".into();
        }
        match self.seats.len() {
            0 => "a watcher".into(),
            _ => self.seats.iter().map(|seat| &**seat).collect::<Vec<_>>().join(" and "),
        }
    }
}
