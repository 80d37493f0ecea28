//! A study with its options.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use riskbreaker::Driver;
use riskbreaker::lab::{RANDOM, Study};
use riskbreaker::play::MASTER;

use super::super::call::quoted;
use super::ladder::SearchPlan;

/// A study with its options.
pub struct StudyJob {
    pub study: Study,
    pub scenario: String,
    pub seats: Vec<(String, String)>,
    pub search: SearchPlan,
    pub folder: Option<PathBuf>,
}

impl StudyJob {
    /// The name of the scenario and of the ruleset.
    pub fn title(&self) -> String {
        let rules = self.study.variant.rules.id();
        if self.scenario.is_empty() { rules.to_string() } else { format!("{} · {rules}", self.scenario) }
    }

    /// Who plays each seat, except the game master's, by seat.
    pub fn players(&self) -> BTreeMap<Arc<str>, String> {
        let (variant, random) = (&self.study.variant, &self.study.random);
        let player = |(seat, driver): (&Arc<str>, &Driver)| {
            let name = match (variant.ahead.get(seat), driver) {
                (Some(foresight), _) => foresight.to_string(),
                (None, _) if random.contains(seat) => RANDOM.to_owned(),
                (None, Driver::Policy(policy)) => policy.to_string(),
                (None, _) => "the default answers".to_owned(),
            };
            (seat.clone(), name)
        };
        variant.setup.seats.iter().filter(|(seat, _)| ***seat != *MASTER).map(player).collect()
    }

    /// The call that plays one trial again, with its log.
    pub fn replay(&self, trial: u64) -> String {
        self.replay_to(trial, None)
    }

    /// The call that plays one trial again up to a decision.
    pub fn replay_to(&self, trial: u64, decision: Option<u64>) -> String {
        let mut more = vec!["--trial".to_owned(), trial.to_string()];
        more.extend(decision.into_iter().flat_map(|decision| ["--decision".into(), decision.to_string()]));
        self.call(&more)
    }

    /// The call of a study of the same games, with these options added.
    pub fn call(&self, more: &[String]) -> String {
        let study = &self.study;
        let mut words = vec!["riskbreaker".to_owned(), "study".into()];
        words.extend(Some(self.scenario.clone()).filter(|name| !name.is_empty()));
        if let Some(folder) = &self.folder {
            words.extend(["--rulesets".into(), folder.display().to_string()]);
        }
        words.extend(["--ruleset".into(), study.variant.rules.id().to_string()]);
        words.extend(self.seats.iter().flat_map(|(seat, who)| ["--seat".to_owned(), format!("{seat}={who}")]));
        for (seat, card) in &study.bans {
            words.extend(["--ban".into(), format!("{seat}:{card}")]);
        }
        words.extend(["--seed".into(), study.seed.to_string(), "--actions".into(), study.actions.to_string()]);
        words.extend_from_slice(more);
        words.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" ")
    }
}
