use std::sync::Arc;

use serde::Serialize;

use super::Question;
use riskbreaker_state::Audience;

/// The seat of the game master, who sees everything.
pub const MASTER: &str = "gm";

/// Who looks at a game: the game master, a seat, several seats at one screen, or a watcher who has none.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct Viewer {
    /// Sees everything.
    master: bool,
    /// In order, each once.
    seats: Arc<[Arc<str>]>,
    /// The seat from whose question this viewer looks ahead, if it does.
    #[serde(skip)]
    ahead_for: Option<Arc<str>>,
}

impl Viewer {
    /// Sees everything, and may answer for everybody.
    pub fn master() -> Viewer {
        Viewer::seat(MASTER)
    }

    /// Sees what everybody sees, and decides nothing.
    pub fn watcher() -> Viewer {
        Viewer::default()
    }

    /// One seat; `gm` is the game master's.
    pub fn seat(name: &str) -> Viewer {
        Viewer::seats([name])
    }

    /// The same, where the name is at hand to be shared.
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

    /// The same viewer where it looks ahead from a question to a seat.
    pub(super) fn ahead_for(self, seat: &str) -> Viewer {
        Viewer { ahead_for: Some(Arc::from(seat)), ..self }
    }

    /// The seat from whose question it looks ahead. Answers of other seats that are not told yet are unknown to it.
    pub(super) fn looks_ahead_for(&self) -> Option<&str> {
        self.ahead_for.as_deref()
    }

    /// Whether it sees everything.
    pub fn is_master(&self) -> bool {
        self.master
    }

    /// The seats that it plays. The game master may answer for the others as well.
    pub fn names(&self) -> impl Iterator<Item = &Arc<str>> {
        self.seats.iter()
    }

    /// Whether it may see what this audience may see.
    pub fn sees(&self, audience: &Audience) -> bool {
        match audience {
            Audience::Everybody => true,
            Audience::Only(seats) => self.master || self.seats.iter().any(|seat| seats.contains(seat)),
        }
    }

    /// An audience that has its seats; of the game master, everybody.
    pub(super) fn audience(&self) -> Audience {
        if self.master { Audience::Everybody } else { Audience::Only(self.seats.iter().cloned().collect()) }
    }

    /// Whether it may decide for a seat.
    pub fn plays(&self, seat: &str) -> bool {
        self.master || self.seats.iter().any(|own| **own == *seat)
    }

    /// Whether it is told that a question is open.
    pub(super) fn knows_of(&self, question: &Question) -> bool {
        self.plays(&question.seat) || self.sees(&question.audience)
    }

    /// In words, for messages.
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
