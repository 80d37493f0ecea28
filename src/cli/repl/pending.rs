//! What the prompt keeps from one line to the next.

use std::path::PathBuf;

use riskbreaker::Event;
use riskbreaker::play::DecisionCount;
use riskbreaker::play::recorded::RecordedCourse;
use riskbreaker::ruleset::SheetStep;
use riskbreaker::store::Amendment;

/// An amendment that was shown but not applied.
#[derive(Clone)]
pub struct PlannedAmendment {
    pub entry: u32,
    pub amendment: Amendment,
    /// The entry of the campaign at that time.
    pub here: u32,
}

/// The course that was to be replayed at the last save.
pub struct ReplayedCourse {
    pub course: RecordedCourse,
    /// The last decision before each line that `undo` can take back.
    pub lines: Vec<u32>,
    /// The number of decisions after the replay. If it differs now, something was decided since then.
    pub count: DecisionCount,
    /// The log of the last replay that worked, if this one stopped at a script error.
    pub worked: Option<Vec<Event>>,
}

/// The files of the game other than its campaign.
#[derive(Debug, Default)]
pub struct Saved {
    /// The file that it was exported to or loaded from.
    pub file: Option<PathBuf>,
    /// The existing file that the last `save` refused to overwrite.
    pub refused: Option<PathBuf>,
}

/// A sheet that is being written.
#[derive(Clone, Debug)]
pub struct SheetEntry {
    /// The name of the character in the roster.
    pub name: String,
    /// The steps of the sheet.
    pub steps: Vec<SheetStep>,
    /// The index of the step that a bare line answers.
    pub at: usize,
}
