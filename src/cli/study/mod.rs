//! The command `study`: answers a designer's questions about a game in one report.

pub mod compared;
mod html;
mod job;
pub mod part;
pub mod parts;
pub mod plan;
mod sheet;
mod show;
mod specs;
mod text;
mod watch;

use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::Result;
use riskbreaker::lab::Study;
use serde_json::json;

use self::compared::Columns;
use self::job::StudyJob;
use self::parts::{StudyPart, StudyWork};
use self::plan::planned;
use self::show::show;
use super::interrupt::{interrupted_code, watched};
use super::report::unwritable;
use super::row::Row;
use super::screen::Screen;
use super::{call_error, file};

pub use self::plan::Args;

/// The time after which no game begins without `--trials`. Unfinished games are dropped.
const LONGEST: Duration = Duration::from_secs(40);

pub fn study(args: &Args, folder: Option<&Path>) -> Result<ExitCode> {
    let asked = planned(args, folder, None)?;
    let threads = args.threads.unwrap_or_else(|| std::thread::available_parallelism().map_or(1, usize::from));
    if threads == 0 {
        return Err(call_error("`--threads` must be at least 1; leave it out to use all processors"));
    }
    if let Some(trial) = args.trial {
        return watch::watch(&asked, trial, args.decision, args.json);
    }
    // Output errors are reported before anything is played.
    if let Some(path) = &args.html {
        file::can_be_written(path).map_err(|error| unwritable(path, &error))?;
    }
    if let Some(shard) = &args.shard {
        return part::play(args, asked, shard, threads);
    }
    let work = StudyWork::new(args.trials.is_none().then_some(LONGEST), watched(), threads);
    if let Some(other) = &args.against {
        let other = planned(args, folder, Some((other, &asked.scenario)))?.study;
        if other.variant.rules.hash() == asked.study.variant.rules.hash() {
            return tell_equal(&asked, &other, args.json);
        }
        let names = [&asked.study, &other].map(|study| study.variant.rules.id().to_string());
        return Columns { title: asked.scenario, names, studies: [asked.study, other] }.show(&work, args.json);
    }
    let found = parts::find(&asked.study, &StudyPart::chosen(args), &work)?;
    let mut screen = show(&asked, &found, args.json, args.html.as_deref())?;
    if let Some(folder) = &args.specs {
        let files = specs::write(&asked, &found, folder)?;
        let text = match files.as_slice() {
            [] => "No game was endless or stuck: no spec is written.".to_owned(),
            [only] => format!("One failing spec is written: {}", only.display()),
            several => format!("{} failing specs are written to {}", several.len(), folder.display()),
        };
        screen.row(&Row::at(0).plain(text))?;
    }
    Ok(ExitCode::from(if work.is_interrupted() { interrupted_code() } else { 0 }))
}

/// Says that two rulesets are equal, without playing.
fn tell_equal(asked: &StudyJob, other: &Study, json: bool) -> Result<ExitCode> {
    let rules = &asked.study.variant.rules;
    let names = [rules.id().to_string(), other.variant.rules.id().to_string()];
    let mut screen = Screen::stdout(json);
    if json {
        let hash = rules.hash();
        screen.object(&json!({ "scenario": asked.scenario, "names": names, "same_rules": true, "hash": hash }))?;
    }
    let text = format!(
        "{} and {} are the same rules, file by file: nothing differs, and nothing was played.",
        names[0], names[1]
    );
    screen.row(&Row::prose(0).plain(text))?;
    Ok(ExitCode::SUCCESS)
}
