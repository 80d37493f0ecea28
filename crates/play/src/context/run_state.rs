//! The progress of a run, apart from the tape, the rolls and the log.

use crate::{Answer, MigrationNote, Question};
use riskbreaker_state::Key;

/// What the running action has done so far, apart from the tape, the rolls and the log.
#[derive(Default)]
pub struct RunState {
    /// Number of the running action.
    pub action: u32,
    /// True while the start of the game runs: new entities and changed fields get no events of their own.
    pub at_start: bool,
    /// True while the last script of the open action runs.
    pub in_last_call: bool,
    /// The key of the entry that runs, or that ran last.
    pub entry_key: Option<Key>,
    /// The number of changes that the host itself made before the script began, such as taking the entry off the
    /// agenda.
    pub before_script: usize,
    /// Questions of this run that have no answer yet.
    pub questions: Vec<Question>,
    /// Questions of this run that were not asked because only one answer was possible.
    pub autos: Vec<(Question, Answer)>,
    /// The notes of a conversion.
    pub notes: Vec<MigrationNote>,
    /// Counts rolls, questions and outcomes, to recognize idle entries.
    pub pulse: u64,
    /// The number of entities that queries have searched since it was last reset, as a measure of work.
    pub searched: usize,
}

impl RunState {
    /// Prepares for the next run of an action.
    pub fn clear(&mut self) {
        self.questions.clear();
        self.autos.clear();
        self.in_last_call = false;
    }
}
