//! The command `study`: answers a designer's questions about a game in one report.

pub mod compared;
mod html;
mod job;
mod ladder;
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

use self::compared::Columns;
use self::parts::{StudyPart, StudyWork};
use self::plan::planned;
use self::show::show;
use super::compare::tell_equal;
use super::file;
use super::interrupt::{interrupted_code, watched};
use super::report::unwritable;
use super::row::Row;
use super::shard::threads;

pub use self::plan::Args;

/// The time after which no game begins without `--trials`. Unfinished games are dropped.
const LONGEST: Duration = Duration::from_secs(42);

pub fn study(args: &Args, folder: Option<&Path>) -> Result<ExitCode> {
    let asked = planned(args, folder, None)?;
    let threads = threads(args.threads)?;
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
            let rules = &asked.study.variant.rules;
            let names = [rules.id().to_string(), other.variant.rules.id().to_string()];
            return tell_equal(names.each_ref().map(String::as_str), &rules.hash(), Some(&asked.scenario), args.json);
        }
        let names = [&asked.study, &other].map(|study| study.variant.rules.id().to_string());
        return Columns { title: asked.scenario, names, studies: [asked.study, other] }.show(&work, args.json);
    }
    let found = parts::find(&asked, &StudyPart::chosen(args), &work)?;
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
