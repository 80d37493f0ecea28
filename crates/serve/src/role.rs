use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Separates seats that are stored as one text: no name of a seat contains it.
const BETWEEN_SEATS: &str = "\n";

/// The role of a viewer at a table. It follows from the connection: from its token, or from an operator's own pipe.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Role {
    /// Opens and closes tables, reads and writes files. At each table it has the rights of its game master.
    Operator,
    /// Sees everything at one table and may change anything at it.
    GameMaster,
    /// Plays a seat.
    Seat(Arc<str>),
    /// Plays several seats, at least two: sorted, each once. See [`Role::of_seats`].
    Seats(Arc<[Arc<str>]>),
    /// Sees what is public.
    Watcher,
}

/// The word for a role in messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum RoleName {
    Operator,
    GameMaster,
    /// Sees what its seats see, and decides for them.
    Seat,
    /// Sees what is public.
    Watcher,
}

impl Role {
    pub fn name(&self) -> RoleName {
        match self {
            Role::Operator => RoleName::Operator,
            Role::GameMaster => RoleName::GameMaster,
            Role::Seat(_) | Role::Seats(_) => RoleName::Seat,
            Role::Watcher => RoleName::Watcher,
        }
    }

    /// Returns the role of a person who plays these seats; `None` if there are none.
    pub fn of_seats(seats: impl IntoIterator<Item = impl AsRef<str>>) -> Option<Role> {
        let mut seats: Vec<Arc<str>> = seats.into_iter().map(|seat| Arc::from(seat.as_ref())).collect();
        seats.sort_unstable();
        seats.dedup();
        match seats.as_slice() {
            [] => None,
            [only] => Some(Role::Seat(only.clone())),
            _ => Some(Role::Seats(seats.into())),
        }
    }

    /// The seats of the role, in order.
    pub fn seats(&self) -> &[Arc<str>] {
        match self {
            Role::Seat(seat) => std::slice::from_ref(seat),
            Role::Seats(seats) => seats,
            Role::Operator | Role::GameMaster | Role::Watcher => &[],
        }
    }

    /// The seat of the role, or the first of several.
    pub fn seat(&self) -> Option<&Arc<str>> {
        self.seats().first()
    }

    /// The seats of the role if there are several; empty for a single one, which messages send as `seat`.
    pub(super) fn several(&self) -> Vec<Arc<str>> {
        if let Role::Seats(seats) = self { seats.to_vec() } else { Vec::new() }
    }

    /// The seats of the role as one text, as [`Role::of_word`] parses it; `None` if it has none.
    pub(super) fn seats_in_one(&self) -> Option<String> {
        if self.seats().is_empty() { None } else { Some(self.seats().join(BETWEEN_SEATS)) }
    }

    /// True if the role sees everything at the table and may do everything at it.
    pub fn is_master(&self) -> bool {
        matches!(self, Role::Operator | Role::GameMaster)
    }

    pub(super) fn word(&self) -> &'static str {
        match self {
            Role::Operator => "operator",
            Role::GameMaster => "game master",
            Role::Seat(_) | Role::Seats(_) => "seat",
            Role::Watcher => "watcher",
        }
    }

    /// Parses a role from the word of [`Role::word`] and the seats of [`Role::seats_in_one`].
    pub(super) fn of_word(word: &str, seats: Option<&str>) -> Option<Role> {
        let seat = seats.and_then(|seats| Role::of_seats(seats.split(BETWEEN_SEATS)));
        [Role::Operator, Role::GameMaster, Role::Watcher].into_iter().chain(seat).find(|role| role.word() == word)
    }
}
