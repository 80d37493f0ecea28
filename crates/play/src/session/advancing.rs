//! Playing on, until a decision is needed.

use std::time::{Duration, Instant};

use super::{Session, Step};
use crate::Cause;
use crate::{Halt, SessionError};
use riskbreaker_state::{Change, Key};

impl Session {
    /// Plays until a decision is needed, a script fails, or the game is over.
    ///
    /// A game that takes five seconds of processor time without a question is stopped by a fault (see
    /// [`Session::set_longest_advance`]). [`Remedy::Retry`](crate::Remedy::Retry) lets it continue.
    ///
    /// # Errors
    ///
    /// The host itself failed, or has no memory or thread for scripts; the game stays as it was before the action.
    pub fn advance(&mut self) -> Result<Step, SessionError> {
        let longest = self.game().longest;
        self.play(u64::MAX, Some(longest))
    }

    /// Sets the processor time after which [`Session::advance`] stops a game that asks no question. The default is five
    /// seconds. The game stops between two actions.
    pub fn set_longest_advance(&mut self, longest: Duration) {
        self.game_mut().longest = longest;
    }

    /// Plays at most `actions` actions, for a loop with other work in between. [`Step::Ask`] without an open question
    /// means that the game can continue.
    ///
    /// # Errors
    ///
    /// As [`Session::advance`].
    pub fn advance_by(&mut self, actions: u64) -> Result<Step, SessionError> {
        self.play(actions, None)
    }

    /// Plays in slices of time, between which other games use the machines. After the longest time without a question,
    /// a game with readers is stopped.
    fn play(&mut self, actions: u64, longest: Option<Duration>) -> Result<Step, SessionError> {
        let until = self.actions().saturating_add(actions);
        let mut took = Duration::ZERO;
        loop {
            if let Some(step) = self.play_slice(until, longest, &mut took)? {
                return Ok(step);
            }
        }
    }

    /// Plays for one slice of time. `None` if the game can continue. `took`: the sum of all slices up to the next
    /// question; pass zero to the first slice.
    ///
    /// # Errors
    ///
    /// As [`Session::advance`].
    #[cfg(feature = "serve")]
    #[doc(hidden)]
    pub fn advance_slice(&mut self, took: &mut Duration) -> Result<Option<Step>, SessionError> {
        let longest = self.game().longest;
        self.play_slice(u64::MAX, Some(longest), took)
    }

    fn play_slice(
        &mut self,
        until: u64,
        longest: Option<Duration>,
        took: &mut Duration,
    ) -> Result<Option<Step>, SessionError> {
        let left = until - self.actions();
        let (halt, time) = self.lend(move |game, vm| game.advance_slice(vm, left, None))?;
        *took += time;
        match halt {
            Halt::Boundary => self.put_in_force(),
            Halt::Paused if self.actions() < until => {
                if self.game().context.keeps_tape && longest.is_some_and(|longest| *took > longest) {
                    self.game_mut().overlong = true;
                }
            }
            standing => {
                self.game_mut().publish(None);
                return Ok(Some(standing.into()));
            }
        }
        Ok(None)
    }

    /// Plays until a decision is needed or the moment has come, which is checked between two actions. [`Step::Ask`]
    /// without an open question means that the game can continue.
    ///
    /// # Errors
    ///
    /// As [`Session::advance`].
    pub fn advance_until(&mut self, moment: Instant) -> Result<Step, SessionError> {
        loop {
            let step = self.advance_by(1)?;
            if step != Step::Ask || !self.questions().is_empty() || Instant::now() >= moment {
                return Ok(step);
            }
        }
    }

    /// Turns headless mode on or off: without events and history, so nothing can be undone, reported or saved.
    pub fn set_headless(&mut self, headless: bool) {
        let game = self.game_mut();
        game.context.log.listening = !headless;
        game.context.keeps_tape = !headless;
        game.context.state.renew_identity();
    }

    /// True if the agenda has an entry of this name.
    #[doc(hidden)]
    pub fn is_due(&self, what: &str) -> bool {
        self.game().context.state.agenda().entries().any(|entry| *entry.what == *what)
    }

    /// The key of the entry whose action is open. `None` if no entry's action is open.
    #[doc(hidden)]
    pub fn key_under_way(&self) -> Option<Key> {
        let game = self.game();
        let crate::Cause::Entry { id, .. } = &game.open.as_ref()?.cause else { return None };
        game.context.state.since(0).iter().find_map(|change| match change {
            Change::Unschedule { entry } if entry.id == *id => Some(entry.key),
            _ => None,
        })
    }

    /// True if no action is open and the key of the next agenda entry is less than this one.
    #[doc(hidden)]
    pub fn is_due_before(&self, key: &Key) -> bool {
        let game = self.game();
        game.open.is_none() && game.context.state.agenda().first().is_some_and(|entry| entry.key < *key)
    }

    /// How often the boundary of the rules, such as the end of a round, was passed.
    #[doc(hidden)]
    pub fn boundaries(&self) -> usize {
        let Some(boundary) = self.rules.declarations().boundary.as_deref() else { return 0 };
        let is_boundary = |cause: &Cause| matches!(cause, Cause::Entry { what, .. } if **what == *boundary);
        self.game().history.iter().filter(|done| is_boundary(&done.cause)).count()
    }

    /// Number of finished actions: agenda entries and free acts, each counted once however often it was run.
    pub fn actions(&self) -> u64 {
        self.game().actions
    }

    /// The number of finished actions, and the name of the last agenda entry.
    #[doc(hidden)]
    pub fn last_done(&self) -> (usize, Option<&str>) {
        let history = &self.game().history;
        // Rules may have changed since.
        let last = history.iter().rev().find(|done| !matches!(done.cause, Cause::Rules { .. }));
        let what = last.and_then(|done| match &done.cause {
            crate::Cause::Entry { what, .. } => Some(&**what),
            _ => None,
        });
        (history.len(), what)
    }
}
