//! Changes of a session to other rules.

use std::sync::Arc;

use super::Session;
use crate::{Migration, MigrationError, Ruleset};

impl Session {
    /// Previews a change to another ruleset. Leaves the game unchanged.
    ///
    /// # Errors
    ///
    /// The rulesets are not connected, or the conversion script fails.
    pub fn preview_rules(&self, to: &Arc<Ruleset>) -> Result<Migration, MigrationError> {
        Ok(self.game().prepare(to, self.game().at_boundary())?.migration)
    }

    /// Requests a change to another ruleset. It takes effect with the [`Session::advance`] that reaches the boundary of
    /// the current ruleset, or between two actions if that declares none. The change is one entry of the history: one
    /// [`Session::undo`] undoes it. Until then, [`Session::pending_rules`] returns the new rules.
    ///
    /// # Errors
    ///
    /// As [`Session::preview_rules`], or the other rules cannot hold the state. The game is unchanged then.
    pub fn change_rules(&mut self, to: &Arc<Ruleset>) -> Result<Migration, MigrationError> {
        let migration = self.preview_rules(to)?.allowed()?;
        self.game_mut().ask_for(Some(to.clone()));
        Ok(migration)
    }

    /// The rules that take effect at the next boundary. `None` if no change is pending.
    pub fn pending_rules(&self) -> Option<&Arc<Ruleset>> {
        self.game().awaited()
    }

    /// True if pending rules would take effect now, before the next action.
    #[cfg(feature = "serve")]
    #[doc(hidden)]
    pub fn is_at_boundary(&self) -> bool {
        self.game().at_boundary()
    }

    /// Cancels the change that [`Session::change_rules`] requested and that has not taken effect. Undo restores the
    /// request.
    ///
    /// # Errors
    ///
    /// [`MigrationError::NothingPending`].
    pub fn keep_rules(&mut self) -> Result<(), MigrationError> {
        self.pending_rules().ok_or(MigrationError::NothingPending)?;
        self.game_mut().ask_for(None);
        Ok(())
    }

    /// Puts the requested rules into force, at their boundary.
    pub(crate) fn put_in_force(&mut self) {
        let asked = std::mem::take(&mut self.game_mut().pending);
        let Some(rules) = asked.into_iter().next_back().and_then(|pending| pending.rules) else { return };
        if let Err(error) = self.go_over(&rules) {
            let (id, may_read) = (rules.name(), self.game().readers_of_anything(&rules));
            self.game_mut().notice_to(&format!("{id} does not come into force: {error}"), may_read);
        }
    }

    /// Changes to other rules at once, at a boundary. A replayed change of rules counts as at a boundary even if the
    /// keys of entries are not computed yet.
    pub(crate) fn go_over(&mut self, to: &Arc<Ruleset>) -> Result<(), MigrationError> {
        let mut ready = self.game().prepare(to, true)?;
        ready.migration = ready.migration.allowed()?;
        self.game_mut().install(ready);
        self.set_rules(to.clone());
        Ok(())
    }
}
