//! The program around the host: its commands, and the table at which games are played.

mod cards;
mod check;
mod compare;
mod dev;
mod figures;
mod interrupt;
mod library;
mod merge;
mod nearest;
mod new;
mod odds;
mod page;
mod play;
mod repl;
mod report;
mod roll;
mod row;
mod rules;
mod run;
mod screen;
mod sim;
mod test;
mod types;

use std::io;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Result;
use clap::{CommandFactory as _, Parser, Subcommand};

/// Plays tabletop games whose rules are scripts.
///
/// Without a command it opens the table: the first scenario, ready to play.
#[derive(Parser)]
#[command(name = "riskbreaker", version)]
struct Cli {
    /// The folder with the rulesets, instead of ./rulesets or those built in
    #[arg(long, global = true, value_name = "DIR")]
    rulesets: Option<PathBuf>,

    #[command(flatten)]
    table: play::TableArgs,

    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Subcommand)]
enum Command {
    /// Plays: at the terminal, from a pipe or from a script
    Play(play::Args),
    /// Runs a Luau program that drives games
    Run(run::Args),
    /// Runs the specs of rulesets
    Test(test::Args),
    /// Loads rulesets and tells every problem in them
    Check(check::Args),
    /// Watches a ruleset: checks it and runs the specs that each change touches
    Dev(dev::Args),
    /// Writes a working example: a ruleset, a maneuver, an item, a hook or a spec
    New(new::Args),
    /// Writes the types of a ruleset for editors that complete and check Luau
    Types(types::Args),
    /// Writes maneuver cards and character sheets to print, nine cards to a page
    Cards(cards::Args),
    /// Looks into rulesets
    #[command(subcommand)]
    Rules(rules::Args),
    /// Rolls dice
    Roll(roll::Args),
    /// Exact odds of dice, or of a card
    Odds(odds::Args),
    /// Plays a scenario many times and counts what comes of it
    Sim(sim::Args),
    /// Puts the shards of a simulation together
    Merge(merge::Args),
    /// Tells what an edit to the rules does: to the odds of cards, and to who wins
    Compare(compare::Args),
}

/// A call that cannot be carried out as it stands; the exit code is 2 and not 1.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
struct CallError(String);

/// Says that the call is wrong, and not what it asks about.
pub fn call_error(message: impl Into<String>) -> anyhow::Error {
    CallError(message.into()).into()
}

/// Does what the command line says: 0 if all is well, 1 if what was asked about is wrong, 2 if the call is.
pub fn run() -> ExitCode {
    let cli = match Cli::try_parse_from(call()) {
        Ok(cli) => cli,
        Err(error) => {
            // If even this cannot be written there is nobody to tell.
            let _ = error.print();
            return ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(2));
        }
    };
    match carry_out(cli) {
        Ok(code) => code,
        Err(error) if reader_left(&error) => ExitCode::SUCCESS,
        Err(error) => {
            report::error(&error);
            if error.downcast_ref::<CallError>().is_some() { ExitCode::from(2) } else { ExitCode::FAILURE }
        }
    }
}

/// The call as it was made, what `odds` takes for topics turned into options.
fn call() -> Vec<std::ffi::OsString> {
    let program = Cli::command();
    let of_odds = program.find_subcommand("odds").into_iter().flat_map(clap::Command::get_arguments);
    let known: Vec<String> =
        program.get_arguments().chain(of_odds).filter_map(|arg| arg.get_long().map(String::from)).collect();
    odds::topics_as_answers(std::env::args_os().collect(), &known)
}

fn carry_out(cli: Cli) -> Result<ExitCode> {
    let folder = cli.rulesets;
    if cli.command.is_some() && cli.table != play::TableArgs::default() {
        return Err(call_error("options of a command stand behind it: `riskbreaker play --seed 7`"));
    }
    match cli.command {
        None => play::play(play::Args { scenario: None, table: cli.table }, folder),
        Some(Command::Play(args)) => play::play(args, folder),
        Some(Command::Run(args)) => run::run(args, folder),
        Some(Command::Test(args)) => test::test(args, folder),
        Some(Command::Check(args)) => check::check(args, folder),
        Some(Command::Dev(args)) => dev::dev(args, folder),
        Some(Command::New(args)) => new::new(args, folder),
        Some(Command::Types(args)) => types::types(args, folder),
        Some(Command::Cards(args)) => cards::cards(args, folder),
        Some(Command::Rules(args)) => rules::rules(args, folder),
        Some(Command::Roll(args)) => roll::roll(args),
        Some(Command::Odds(args)) => odds::odds(args, folder),
        Some(Command::Sim(args)) => sim::sim(args, folder),
        Some(Command::Merge(args)) => merge::merge(args, folder),
        Some(Command::Compare(args)) => compare::compare(args, folder),
    }
}

/// Whether whoever read our output has gone, as `head` does when it has enough.
fn reader_left(error: &anyhow::Error) -> bool {
    error
        .chain()
        .filter_map(|cause| cause.downcast_ref::<io::Error>())
        .any(|cause| cause.kind() == io::ErrorKind::BrokenPipe)
}
