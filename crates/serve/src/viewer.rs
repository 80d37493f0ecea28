use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::error::Failure;
use super::outbox::Outbox;
use super::pace::Pace;
use super::table::GameTable;

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

    pub(super) fn must_be_master(&self) -> Result<(), Failure> {
        if self.is_master() { Ok(()) } else { Err(Failure::forbidden(self.word(), "the game master")) }
    }

    pub(super) fn must_be_operator(&self) -> Result<(), Failure> {
        if *self == Role::Operator { Ok(()) } else { Err(Failure::forbidden(self.word(), "the operator")) }
    }

    pub(super) fn must_play(&self) -> Result<(), Failure> {
        if *self == Role::Watcher { Err(Failure::forbidden(self.word(), "a seat")) } else { Ok(()) }
    }
}

/// A viewer of a table on a connection.
pub(super) struct TableViewer {
    /// The number of the viewer on its connection.
    pub id: u32,
    pub role: Role,
    pub table: Arc<GameTable>,
    pub outbox: Arc<Outbox>,
    /// The name of the person, if known; `pace` limits the requests of the person's devices.
    name: Mutex<Option<Arc<str>>>,
    pub pace: Option<Arc<Pace>>,
    /// True if it watches without an invitation.
    pub is_guest: bool,
    /// True if the presence list does not show it.
    pub is_unseen: bool,
    /// True if it sees what its seats see and cannot play.
    pub only_looks: bool,
    /// Set when a step was dropped because the connection reads too slowly. No further steps are sent before the next
    /// `view`.
    behind: AtomicBool,
    gone: AtomicBool,
}

impl TableViewer {
    pub fn new(id: u32, role: Role, table: Arc<GameTable>, outbox: Arc<Outbox>) -> TableViewer {
        let (behind, gone) = (AtomicBool::new(false), AtomicBool::new(false));
        let name = Mutex::default();
        TableViewer {
            id,
            role,
            table,
            outbox,
            name,
            pace: None,
            is_guest: false,
            is_unseen: false,
            only_looks: false,
            behind,
            gone,
        }
    }

    /// The name of the person.
    pub fn name(&self) -> Option<Arc<str>> {
        self.name.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub fn set_name(&self, name: Option<Arc<str>>) {
        *self.name.lock().unwrap_or_else(PoisonError::into_inner) = name;
    }

    pub fn is_behind(&self) -> bool {
        self.behind.load(Ordering::Relaxed)
    }

    pub fn set_behind(&self, behind: bool) {
        self.behind.store(behind, Ordering::Relaxed);
    }

    pub fn is_gone(&self) -> bool {
        self.gone.load(Ordering::Relaxed)
    }

    pub fn leave(&self) {
        self.gone.store(true, Ordering::Relaxed);
        self.outbox.forget(self.id);
    }
}
