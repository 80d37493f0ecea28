//! Sources of rolls, answers and picks. The tape comes first, then the attached source: the explorer, typed, written or
//! seeded dice, a policy, a default. A person comes last, and the action stops for the answer. No operation knows which
//! source answered.

use super::ActionContext;
use super::path_input::PathInput;
use super::phase::Stop;
use crate::Slot;

impl ActionContext {
    /// True if all results of a roll are enumerated, instead of one result being rolled.
    pub(crate) fn is_exploring(&self) -> bool {
        self.paths.as_ref().is_some_and(|paths| !paths.is_sampling())
    }

    /// Asks the explorer, which may read the context. If it returns `None`, the run ends before its action does.
    pub(crate) fn explored<R>(
        &mut self,
        ask: impl FnOnce(&mut dyn PathInput, &ActionContext) -> Option<R>,
    ) -> Result<R, Stop> {
        let mut paths = self.paths.take();
        let found = paths.as_mut().and_then(|paths| ask(&mut **paths, self));
        self.paths = paths;
        found.ok_or_else(|| self.break_off())
    }

    /// Ends a run before its action does.
    pub(crate) fn break_off(&mut self) -> Stop {
        self.stop = Some(Stop::Question);
        Stop::Question
    }

    /// Handles a tape slot that does not fit: a fault on a strict tape, otherwise the tape is cut there.
    pub(crate) fn diverge(&mut self, message: &str) -> Result<(), Stop> {
        if self.playback.strict {
            return Err(self.fault_with(
                message.to_string(),
                Some(
                    "the ruleset, or a script that keeps something between calls, has changed since the tape was made"
                        .into(),
                ),
            ));
        }
        self.playback.dropped.get_or_insert(self.playback.cursor);
        let position = self.playback.tape.cut(self.playback.cursor);
        if let Some(position) = position {
            self.dice.take_back(position);
        }
        Ok(())
    }
}

pub(crate) fn words_of(slot: Option<&Slot>) -> String {
    match slot {
        Some(Slot::Roll { label, dice, .. }) => format!("a roll of {dice} for `{label}`"),
        Some(Slot::Answer { topic, .. }) => format!("an answer to `{topic}`"),
        Some(Slot::Closed { .. }) => "a question that another closed".into(),
        None => "an open question".into(),
    }
}
