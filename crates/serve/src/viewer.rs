use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use super::outbox::Outbox;
use super::pace::Pace;
use super::role::Role;
use super::table::GameTable;

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
