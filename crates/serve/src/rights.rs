//! Refuses requests that a role may not make.

use super::error::Failure;
use super::options::TableOptions;
use super::role::Role;

impl Role {
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

impl TableOptions {
    /// Refuses watchers of a table with a delay a request that would reveal the current state.
    pub(super) fn must_show_now(&self, role: &Role) -> Result<(), Failure> {
        if self.delay == 0 || *role != Role::Watcher {
            return Ok(());
        }
        let reason = format!("this table shows watchers the game {} seconds later", self.delay);
        Err(Failure::Unavailable { reason })
    }

    /// Refuses seats a look-ahead if the table has switched it off.
    pub(super) fn must_show_odds(&self, role: &Role) -> Result<(), Failure> {
        if self.odds || role.is_master() {
            return Ok(());
        }
        Err(Failure::Unavailable { reason: "the game master has switched odds and hints off for this table".into() })
    }
}
