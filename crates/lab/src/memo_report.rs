use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use serde::Serialize;

use super::simulation::Simulation;
use super::simulation_error::SimulationError;
use super::tally::Tally;
use super::trial::{MemoUse, TrialTable};
use riskbreaker_play::{NewBranch, NotRecorded};

/// A report on the memo (the trace cache) in a simulation: the share that it replays, and the operations that it cannot
/// record.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[non_exhaustive]
pub struct MemoReport {
    /// The name of the variant.
    pub variant: String,
    /// Games played for the report.
    pub games: u64,
    /// The number of agenda entries and functions of play.luau that were replayed from their traces.
    pub replayed: u64,
    /// The number of those that were run by their scripts.
    pub run: u64,
    /// The reason for which the memo cannot be used; `None` if it can.
    pub unused: Option<String>,
    /// The operations that could not be recorded, the most frequent first.
    pub not_recorded: Vec<NotRecorded>,
    /// The reasons for which entries were run although traces exist: values that no recording had met, the most
    /// frequent first.
    pub new_branches: Vec<NewBranch>,
}

impl Simulation {
    /// Plays the trials on one thread, always with the memo, and reports what it could not record.
    ///
    /// `stop` ends it after the current game; the report then covers the games played so far.
    ///
    /// # Errors
    ///
    /// As [`Simulation::run`].
    pub fn memo_report(&self, stop: &Arc<AtomicBool>) -> Result<Vec<MemoReport>, SimulationError> {
        let report = |ready: &super::trial::ReadyVariant, name: &str| {
            let mut report = MemoReport { variant: name.to_owned(), ..MemoReport::default() };
            if let Some(seat) = ready.ahead.keys().next() {
                report.unused = Some(format!("{seat} looks ahead, so each answer that it tries plays another game"));
                return Ok(report);
            }
            report.unused = ready.prepared.between_entries();
            if report.unused.is_some() {
                return Ok(report);
            }
            let mut table = TrialTable::new(ready, 1, MemoUse::Always)?;
            let mut tally = Tally::default();
            for trial in 1..=self.trials {
                if stop.load(Ordering::Relaxed) {
                    break;
                }
                table.play(self.seed, trial, self.actions, &mut tally, stop)?;
            }
            report.games = tally.trials;
            if let Some(memo) = &table.memo {
                (report.replayed, report.run) = memo.counts();
                report.not_recorded = memo.not_recorded();
                // Code that runs before or after a script gets the location of its function.
                for row in report.not_recorded.iter_mut().filter(|row| row.place.is_empty()) {
                    row.place = table.vm.as_ref().and_then(|vm| vm.place_of(&row.entry)).unwrap_or_default();
                }
                report.new_branches = memo.new_branches(ready.prepared.rules.schema());
            }
            Ok(report)
        };
        let ready = self.ready()?;
        ready.iter().zip(&self.variants).map(|(ready, variant)| report(ready, &variant.name)).collect()
    }
}
