//! The progress of a run, to decide what may be undone.

use super::ActionContext;
use super::run_log::Course;
use crate::Event;
use riskbreaker_ruleset::LetStand;
use riskbreaker_state::{Change, EntityId};

impl ActionContext {
    /// Records the progress of the run, before it reads the next tape slot.
    pub fn note_reached(&mut self) {
        if self.log.listening {
            self.log.note_reached(self.playback.cursor, self.state.since(0).len());
        }
    }

    /// True if the run has changed or made an entity.
    pub fn has_touched(&self, entity: EntityId) -> bool {
        self.state.since(0).iter().any(|change| match change {
            Change::Spawn { entity: touched, .. } | Change::Set { entity: touched, .. } => *touched == entity,
            _ => false,
        })
    }

    /// The course of a finished action, if it may still matter; `None` otherwise.
    pub fn course_to_keep(&self, course: Course, events: &[Event]) -> Option<Box<Course>> {
        let matters = self.rules.schema().has_secrets()
            || self.rules.declarations().stands == LetStand::Dice
            || course.has_unsealed()
            || events.iter().any(|event| !event.audience.is_everybody());
        matters.then(|| Box::new(course))
    }
}
