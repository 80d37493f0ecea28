//! Parts of a study: `study --shard` plays the games of some trials, and `merge` puts the parts together.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

use anyhow::Result;
use serde::{Deserialize, Serialize};

use super::super::interrupt::{interrupted_code, watched};
use super::super::report::unwritable;
use super::super::row::Row;
use super::super::screen::Screen;
use super::super::shard::{ReportForm, ShardArg, end_part, tell_cost};
use super::super::{call_error, file};
use super::job::StudyJob;
use super::parts::{self, StudyPart, StudyWork};
use super::plan::{Args, planned, search};
use super::show::show;
use riskbreaker::lab::{Foresight, GameStore, KnownGames, Shard};
use riskbreaker::ruleset::system_message;

/// The file of a part: its games, and the call that they belong to.
#[derive(Serialize, Deserialize)]
pub struct PartFile {
    /// The version of the format.
    study_part: u32,
    plan: PartPlan,
    /// The first and the last trial.
    trials: (u64, u64),
    /// False if the work was interrupted; the same call continues it.
    complete: bool,
    known: KnownGames,
}

/// The version of the format of a part.
const FORMAT: u32 = 2;

/// What all parts of a study have in common.
#[derive(Clone, PartialEq, Serialize, Deserialize)]
struct PartPlan {
    ruleset: String,
    /// The hash of the rules.
    rules: String,
    scenario: String,
    seats: Vec<(String, String)>,
    bans: Vec<(String, String)>,
    only: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    search: Option<String>,
    trials: u64,
    seed: u64,
    actions: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    rulesets: Option<PathBuf>,
}

impl PartPlan {
    fn of(args: &Args, asked: &StudyJob) -> PartPlan {
        let rules = &asked.study.variant.rules;
        PartPlan {
            ruleset: rules.id().to_string(),
            rules: rules.hash().to_string(),
            scenario: asked.scenario.clone(),
            seats: args.seat.clone(),
            bans: args.ban.clone(),
            only: args.only.iter().map(|part| part.id()).collect(),
            search: args.search.map(|search| Foresight::Search(search).to_string()),
            trials: asked.study.trials,
            seed: args.seed,
            actions: args.actions,
            rulesets: asked.folder.clone(),
        }
    }

    /// The call that studies all trials.
    fn call(&self, threads: Option<usize>) -> Result<Args> {
        Ok(Args {
            scenario: Some(self.scenario.clone()).filter(|name| !name.is_empty()),
            ruleset: Some(self.ruleset.clone()),
            trials: Some(self.trials),
            seed: self.seed,
            seat: self.seats.clone(),
            ban: self.bans.clone(),
            only: self.only.iter().map(|name| StudyPart::named(name)).collect::<Result<_>>()?,
            search: self.search.as_deref().map(search).transpose().map_err(call_error)?,
            threads,
            actions: self.actions,
            ..Args::default()
        })
    }

    fn same_games(&self, other: &PartPlan) -> bool {
        let without = |plan: &PartPlan| PartPlan { rulesets: None, ..plan.clone() };
        without(self) == without(other)
    }
}

/// The trials of a part, first and last. An error if it has none.
fn range(trials: u64, shard: Shard) -> Result<(u64, u64)> {
    let before = |index: u64| (u128::from(trials) * u128::from(index) / u128::from(shard.count)) as u64;
    let (first, last) = (before(shard.index - 1) + 1, before(shard.index));
    if first > last {
        let count = shard.count;
        return Err(call_error(format!(
            "{trials} trials do not suffice for {count} parts: write `--trials {count}` or more"
        )));
    }
    Ok((first, last))
}

/// Plays a part of a study and writes its games to `save`.
pub(super) fn play(args: &Args, asked: StudyJob, shard: &ShardArg, threads: usize) -> Result<ExitCode> {
    let began = Instant::now();
    match play_part(args, asked, shard, threads) {
        Err(error) => end_part(error),
        Ok(code) => {
            tell_cost(began.elapsed());
            Ok(code)
        }
    }
}

fn play_part(args: &Args, asked: StudyJob, shard: &ShardArg, threads: usize) -> Result<ExitCode> {
    let (Some(save), Some(all)) = (&args.save, args.trials) else {
        return Err(call_error(
            "a part of a study needs the number of all trials and a file: `--trials 4000 --shard 1/4 --save part.json`",
        ));
    };
    file::can_be_written(save).map_err(|error| unwritable(save, &error))?;
    let trials = range(all, shard.settled()?)?;
    let plan = PartPlan::of(args, &asked);
    let before = if save.exists() { Some(read(save)?) } else { None };
    if before.as_ref().is_some_and(|before| !before.plan.same_games(&plan) || before.trials != trials) {
        let name = save.display();
        return Err(call_error(format!("{name} is a part of another study; save to another file, or delete this one")));
    }
    let mut asked = asked;
    let study = &mut asked.study;
    study.store = GameStore::new(before.map(|before| before.known).unwrap_or_default());
    (study.first, study.trials) = (trials.0, trials.1 - trials.0 + 1);
    let work = StudyWork::new(None, watched(), threads);
    parts::find(&asked, &StudyPart::chosen(args), &work)?;
    let complete = !work.is_interrupted();
    let part = PartFile { study_part: FORMAT, plan, trials, complete, known: asked.study.store.known() };
    let text = serde_json::to_string(&part)?;
    // A full disk may have room later, so this is not a call error.
    file::replace(save, text).map_err(|error| anyhow::anyhow!("{}", unwritable(save, &error)))?;
    let (first, last) = trials;
    let told = format!("trials {first} to {last} of {all}: {} games in {}", part.known.count(), save.display());
    Screen::stdout(false).row(&Row::at(0).plain(told))?;
    if complete {
        return Ok(ExitCode::SUCCESS);
    }
    eprintln!("interrupted: {} keeps the games so far; the same command continues it", save.display());
    Ok(ExitCode::from(interrupted_code()))
}

/// Reads the file of a part.
///
/// # Errors
///
/// A call error with the name of the file.
pub fn read(path: &Path) -> Result<PartFile> {
    let name = path.display();
    let text = file::read(path).map_err(|error| call_error(format!("{name}: {}", system_message(&error))))?;
    // Another format has other keys, so its version is read first.
    let version: Option<PartVersion> = serde_json::from_str(&text).ok();
    if let Some(PartVersion { study_part }) = version.filter(|version| version.study_part != FORMAT) {
        return Err(call_error(format!("{name} has format {study_part}; this program reads format {FORMAT}")));
    }
    serde_json::from_str(&text).map_err(|error| {
        call_error(format!("{name} is no whole part of a study ({error}); `study --shard I/N --save FILE` writes one"))
    })
}

/// The version of the format of a part.
#[derive(Deserialize)]
struct PartVersion {
    study_part: u32,
}

/// The bytes at the start of a file that tell whether it is a part of a study.
const BEGINNING: u64 = 256;

/// True if the file is a part of a study, by its first key.
pub fn is_part(path: &Path) -> bool {
    // Only the beginning is read: a part of a long study is large, and is read as a whole when it is merged.
    let mut start = Vec::new();
    let file = path.is_file().then(|| File::open(path).ok()).flatten();
    let is_read = file.is_some_and(|file| file.take(BEGINNING).read_to_end(&mut start).is_ok());
    is_read && String::from_utf8_lossy(&start).trim_start().starts_with("{\"study_part\"")
}

/// Shows the study of which `files` are the parts. Games that no part has, since a card was used only in another one, are played.
pub fn merge(files: &[PathBuf], partial: bool, output: &ReportForm, folder: Option<&Path>) -> Result<ExitCode> {
    let mut parts = Vec::new();
    for path in files {
        parts.push((path.display().to_string(), read(path)?));
    }
    parts.sort_by_key(|(_, part)| part.trials);
    let plan = parts[0].1.plan.clone();
    check(&plan, &parts, partial)?;
    let mut known = KnownGames::default();
    let incomplete = parts.iter().any(|(_, part)| !part.complete);
    let missing = missing(&plan, &parts);
    parts.into_iter().for_each(|(_, part)| known.add(part.known));
    let args = plan.call(None)?;
    let mut asked = planned(&args, folder.or(plan.rulesets.as_deref()), None)?;
    if asked.study.variant.rules.hash() != plan.rules.as_str() {
        let id = &plan.ruleset;
        return Err(call_error(format!(
            "{id} has changed since the parts were played: play them again, or `--rulesets DIR`"
        )));
    }
    asked.study.known_only = !missing.is_empty() || incomplete;
    asked.study.store = GameStore::new(known);
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let work = StudyWork::new(None, watched(), threads);
    let found = parts::find(&asked, &StudyPart::chosen(&args), &work)?;
    show(&asked, &found, output.json, output.html.as_deref())?;
    if !missing.is_empty() {
        eprintln!("missing: trials {}", missing.join(", "));
    }
    Ok(ExitCode::from(if work.is_interrupted() { interrupted_code() } else { 0 }))
}

/// Refuses parts that do not make one study.
fn check(plan: &PartPlan, parts: &[(String, PartFile)], partial: bool) -> Result<()> {
    let first = &parts[0].0;
    if let Some((other, _)) = parts.iter().find(|(_, part)| !part.plan.same_games(plan)) {
        return Err(call_error(format!(
            "{first} and {other} are parts of different studies: other rules, seats, trials or seed"
        )));
    }
    for pair in parts.windows(2) {
        let [(one, before), (other, after)] = pair else { continue };
        if after.trials.0 <= before.trials.1 {
            let (first, last) = (after.trials.0, before.trials.1.min(after.trials.1));
            return Err(call_error(format!("{one} and {other} both have trials {first} to {last}")));
        }
    }
    if partial {
        return Ok(());
    }
    if let Some((name, _)) = parts.iter().find(|(_, part)| !part.complete) {
        return Err(call_error(format!(
            "{name} was interrupted: its call continues it; `--partial` shows what is known"
        )));
    }
    match missing(plan, parts).as_slice() {
        [] => Ok(()),
        missing => {
            Err(call_error(format!("no part has trials {}; `--partial` shows what is known", missing.join(", "))))
        }
    }
}

/// The ranges of trials that no part has.
fn missing(plan: &PartPlan, parts: &[(String, PartFile)]) -> Vec<String> {
    let known: BTreeSet<(u64, u64)> = parts.iter().map(|(_, part)| part.trials).collect();
    let (mut next, mut missing) = (1, Vec::new());
    for (first, last) in known.into_iter().chain([(plan.trials + 1, plan.trials)]) {
        if next < first {
            missing.push(format!("{next} to {}", first - 1));
        }
        next = last + 1;
    }
    missing
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_any_split_cover_each_trial_once() {
        for (trials, count) in [(400, 4), (10, 3), (7, 7), (1_000_003, 8)] {
            let ranges: Vec<(u64, u64)> =
                (1..=count).map(|index| range(trials, Shard { index, count }).unwrap()).collect();
            assert_eq!((ranges[0].0, ranges[ranges.len() - 1].1), (1, trials));
            assert!(ranges.windows(2).all(|pair| pair[0].1 + 1 == pair[1].0), "{ranges:?}");
        }
        assert!(range(3, Shard { index: 1, count: 4 }).is_err());
    }
}
