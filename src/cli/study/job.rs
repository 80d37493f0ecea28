//! A study with its options.

use std::path::PathBuf;

use riskbreaker::lab::Study;

use super::super::call::quoted;

/// A study with its options.
pub struct StudyJob {
    pub study: Study,
    pub scenario: String,
    pub seats: Vec<(String, String)>,
    pub folder: Option<PathBuf>,
}

impl StudyJob {
    /// The call that studies one trial alone.
    pub fn replay(&self, trial: u64) -> String {
        let study = &self.study;
        let mut words = vec!["riskbreaker".to_owned(), "study".into(), self.scenario.clone()];
        if let Some(folder) = &self.folder {
            words.extend(["--rulesets".into(), folder.display().to_string()]);
        }
        words.extend(["--ruleset".into(), study.variant.rules.id().to_string()]);
        words.extend(self.seats.iter().flat_map(|(seat, who)| ["--seat".to_owned(), format!("{seat}={who}")]));
        for (seat, card) in &study.bans {
            words.extend(["--ban".into(), format!("{seat}:{card}")]);
        }
        words.extend(["--seed".into(), study.seed.to_string(), "--actions".into(), study.actions.to_string()]);
        words.extend(["--trial".into(), trial.to_string()]);
        words.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" ")
    }
}
