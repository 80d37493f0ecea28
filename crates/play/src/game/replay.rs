//! Repeats recorded actions.

use super::Game;
use super::action::Done;
use super::halt::Halt;
use crate::{Cause, Machine, Remedy};

pub(crate) fn replay(game: &mut Game, vm: &mut dyn Machine, part: &[Done]) -> Result<(), String> {
    for done in part {
        let wrong = |what: &str| format!("action {}: {what}", done.number);
        if matches!(done.cause, Cause::Free { .. }) && !done.told.is_empty() {
            // A queued free act that was not open any more had no effect.
            game.put_recorded(done);
            continue;
        }
        game.reopen(done)?;
        if done.skipped.is_some() {
            game.remedy(Remedy::SkipAction).map_err(|refusal| wrong(&refusal.to_string()))?;
            game.stamp_last(done);
            continue;
        }
        if matches!(done.cause, Cause::Edit { .. }) {
            continue;
        }
        let actions = game.actions;
        match game.advance(vm, 1) {
            Halt::Ask => return Err(wrong("it asks something that the tape does not answer")),
            Halt::Fault(fault) => return Err(wrong(&fault.to_string())),
            Halt::Paused | Halt::Boundary | Halt::Over(_) if game.actions == actions => {
                return Err(wrong("it is not on the agenda"));
            }
            Halt::Paused | Halt::Boundary | Halt::Over(_) => game.end_as(done),
        }
    }
    Ok(())
}
