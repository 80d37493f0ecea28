use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use serde::Serialize;

use super::simulation::{MemoUse, Simulation, SimulationError};
use super::tally::Tally;
use super::trial::TrialTable;
use riskbreaker_play::{NewBranch, NotRecorded};

/// How much of a simulation the memo (the trace cache) replays, and what it cannot record.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[non_exhaustive]
pub struct MemoReport {
    /// The name of the variant.
    pub variant: String,
    /// Games played for the report.
    pub games: u64,
    /// Agenda entries and functions of play.luau that were replayed from their traces.
    pub replayed: u64,
    /// Those that their scripts ran.
    pub run: u64,
    /// Why the memo is not used at all, if it is not.
    pub unused: Option<String>,
    /// What could not be recorded, the most frequent first.
    pub not_recorded: Vec<NotRecorded>,
    /// What kept entries from being replayed: what they met that no recording had met, the most frequent first.
    pub new_branches: Vec<NewBranch>,
}

impl Simulation {
    /// Plays the trials on one thread, always with the memo, and reports what it could not record.
    ///
    /// `stop` ends it after the game under way; the report tells what is known by then.
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
                // What happens before or after a script runs has the place of its function.
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
