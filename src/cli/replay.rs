//! The command `replay`: replays a campaign or a saved game, with the same or other rules.

use std::io::BufRead as _;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::Ordering;

use anyhow::Result;
use riskbreaker::ruleset::system_message;
use riskbreaker::store::{FirstDifference, Replayed, StoreError};
use riskbreaker::{Event, Session};
use serde_json::json;

use super::figures::counted;
use super::interrupt::{interrupted_code, watched};
use super::row::{Row, Tone};
use super::screen::Screen;
use super::{call_error, campaigns, library};

/// Plays a campaign or a saved game again, each entry compared with what was kept
#[derive(clap::Args)]
pub struct Args {
    /// The campaign (NAME or NAME.rbsave), or a saved game (FILE.json)
    file: String,

    /// Plays up to this entry
    #[arg(long, value_name = "ENTRY", value_parser = super::whole::<u32>)]
    to: Option<u32>,

    /// Waits for Enter after each entry
    #[arg(long, conflicts_with = "verify")]
    step: bool,

    /// Tells only whether every entry and checkpoint is the one that was kept
    #[arg(long)]
    verify: bool,

    /// Plays under these rules (ID or ID+LAYER) and shows where the game first differs
    #[arg(long, value_name = "RULESET", conflicts_with_all = ["verify", "step", "to"])]
    under: Option<String>,

    /// Writes one JSON object per line
    #[arg(long)]
    json: bool,
}

pub fn replay(args: &Args, folder: Option<PathBuf>) -> Result<ExitCode> {
    let library = library::open(folder.as_deref())?;
    let mut screen = Screen::stdout(args.json);
    if Path::new(&args.file).extension().is_some_and(|ending| ending == "json") {
        return replay_save(args, &library, &mut screen);
    }
    let campaign = campaigns::read(&campaigns::file_of(&args.file), &library)?;
    if let Some(other) = &args.under {
        let rules = library::load(&library, other, &[])?;
        let found = campaign.differs_under(&rules)?;
        return show_difference(args, &mut screen, &rules.name(), found);
    }
    // While the program waits for input, Ctrl-C ends it.
    let interrupted = if args.step { Default::default() } else { watched() };
    let (mut failed, mut stopped) = (None, None);
    let played = campaign.replay(args.to, |entry| match show_entry(args, &mut screen, &entry) {
        Ok(()) if interrupted.load(Ordering::Relaxed) => {
            stopped = Some(entry.entry);
            ControlFlow::Break(())
        }
        Ok(()) => ControlFlow::Continue(()),
        Err(error) => {
            failed = Some(error);
            ControlFlow::Break(())
        }
    });
    match failed {
        Some(error) if error.kind() != std::io::ErrorKind::Interrupted => return Err(error.into()),
        _ => {}
    }
    let summary = match played {
        Ok(summary) => summary,
        Err(error @ (StoreError::Diverged { .. } | StoreError::Damaged { .. })) => {
            return Err(anyhow::anyhow!("the replay differs from the game that was kept: {error}"));
        }
        Err(error) => return Err(error.into()),
    };
    if let Some(entry) = stopped {
        eprintln!("interrupted at entry {entry}: up to there the replay gives the game that was kept");
        return Ok(ExitCode::from(interrupted_code()));
    }
    let text = format!(
        "{}, {}, {}: the replay gives the game that was kept.",
        counted(summary.entries, "entry", "entries"),
        counted(summary.scenes, "scene", "scenes"),
        counted(summary.checkpoints, "checkpoint", "checkpoints")
    );
    if args.json {
        screen.event(
            "replayed",
            &json!({ "entries": summary.entries, "scenes": summary.scenes, "checkpoints": summary.checkpoints }),
        )?;
    }
    screen.row(&Row::at(0).with(text, Tone::Faint))?;
    Ok(ExitCode::SUCCESS)
}

/// Prints where a game first differs under other rules, or that it does not.
fn show_difference(args: &Args, screen: &mut Screen, rules: &str, found: Option<FirstDifference>) -> Result<ExitCode> {
    let Some(found) = found else {
        screen.row(&Row::at(0).plain(format!("Under {rules} nothing changes.")))?;
        return Ok(ExitCode::SUCCESS);
    };
    if args.json {
        screen.event(
            "differs",
            &json!({ "entry": found.entry, "text": found.text, "kept": found.kept, "other": found.other }),
        )?;
    }
    let first = format!("Under {rules} the game first differs at entry {}: {}", found.entry, found.text);
    screen.row(&Row::at(0).strong(first))?;
    for line in &found.kept {
        screen.row(&Row::at(2).plain(format!("- {line}")))?;
    }
    for line in &found.other {
        screen.row(&Row::at(2).plain(format!("+ {line}")))?;
    }
    Ok(ExitCode::FAILURE)
}

/// Prints a replayed entry, and waits for Enter with `--step`.
fn show_entry(args: &Args, screen: &mut Screen, entry: &Replayed<'_>) -> std::io::Result<()> {
    if args.verify {
        return Ok(());
    }
    if args.json {
        screen.event(
            "entry",
            &json!({ "entry": entry.entry, "text": entry.text, "scene": entry.scene, "checkpoint": entry.checkpoint }),
        )?;
        return entry.events.iter().try_for_each(|event| screen.object(event));
    }
    if let Some(title) = &entry.scene {
        screen.row(&Row::at(0).strong(title))?;
    }
    screen.row(&Row::at(0).plain(format!("{} ", entry.entry)).strong(&entry.text))?;
    show_events(screen, &entry.events)?;
    if args.step {
        let mut line = String::new();
        std::io::stdin().lock().read_line(&mut line)?;
        if line.trim() == "quit" {
            return Err(std::io::ErrorKind::Interrupted.into());
        }
    }
    Ok(())
}

/// Replays a saved game. It has no entries, so its events are printed.
fn replay_save(args: &Args, library: &riskbreaker::Library, screen: &mut Screen) -> Result<ExitCode> {
    if args.under.is_some() || args.to.is_some() || args.step {
        return Err(call_error(
            "only a campaign can be replayed in part or under other rules; `play FILE.json` and `save NAME.rbsave` make one",
        ));
    }
    let text = std::fs::read_to_string(&args.file)
        .map_err(|error| call_error(format!("{}: {}", args.file, system_message(&error))))?;
    let session = Session::load_by_tape(library, &text).map_err(|error| anyhow::anyhow!("{}: {error}", args.file))?;
    let log = session.log();
    if !args.verify {
        if args.json {
            log.iter().try_for_each(|event| screen.object(event))?;
        } else {
            show_events(screen, &log)?;
        }
    }
    screen.row(&Row::at(0).with(format!("{} events: the tape fits its rules.", log.len()), Tone::Faint))?;
    Ok(ExitCode::SUCCESS)
}

fn show_events(screen: &mut Screen, events: &[Event]) -> std::io::Result<()> {
    events
        .iter()
        .filter(|event| event.audience.is_everybody())
        .try_for_each(|event| screen.row(&Row::at(2).plain(event.happening.line())))
}
