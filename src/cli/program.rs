//! The program: its commands, parsed from the command line and carried out.

use std::io::{self, Write as _};
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Result;
use clap::{CommandFactory as _, FromArgMatches as _, Parser, Subcommand};

use super::notify::NotifyArgs;
use super::{
    CallError, call, call_error, campaigns, cards, check, compare, dev, export, go_on, lsp, merge, new, odds, packages,
    play, recap, reference, replay, report, roll, rules, ruleset_path, run, screen, serve, sim, study, table, test,
    types, verify,
};

/// Plays tabletop games whose rules are scripts.
///
/// Without a command, it offers to go on with the last campaign, or starts a game.
#[derive(Parser)]
#[command(name = "riskbreaker", version)]
struct Cli {
    /// The folder of rulesets (default: ./rulesets, else the built-in ones)
    #[arg(long, global = true, value_name = "DIR")]
    rulesets: Option<PathBuf>,

    #[command(flatten)]
    table: play::TableArgs,

    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Subcommand)]
enum Command {
    /// Plays a game: at the terminal, from a pipe or from a script
    Play(play::Args),
    /// Plays a campaign in the browser: a laptop, phones and a television
    Table(table::Args),
    /// Lists campaigns: those in this folder, and those that were played last
    Campaigns(campaigns::Args),
    /// Plays a campaign or a saved game again, each entry compared with what was kept
    Replay(replay::Args),
    /// Writes a campaign as readable text, or as lines of JSON
    Export(export::ExportArgs),
    /// Makes a campaign of the lines of JSON that `export --json` wrote
    Import(export::ImportArgs),
    /// Tells the last session of a campaign
    Recap(recap::Args),
    /// Reads the whole file of a campaign and tells what is damaged
    Verify(verify::VerifyArgs),
    /// Saves what can be read of the damaged file of a campaign
    Recover(verify::RecoverArgs),
    /// Runs a Luau program that drives games
    Run(run::Args),
    /// Runs the specs of rulesets
    Test(test::Args),
    /// Checks rulesets and reports every problem in them
    Check(check::Args),
    /// Watches a ruleset; checks and tests it at every save
    Dev(dev::Args),
    /// Serves an editor: what is wrong while you type, names, rules and cards
    Lsp(lsp::Args),
    /// Writes a working example: a ruleset, or a part of one
    New(new::Args),
    /// Writes type definitions for editors with Luau support
    Types(types::Args),
    /// Prints what a ruleset declares: verbs, kinds, house rules
    Reference(reference::Args),
    /// Writes cards and character sheets to print
    Cards(cards::Args),
    /// Lists, shows and compares rulesets
    #[command(subcommand)]
    Rules(rules::Args),
    /// Packs rulesets, each into one file that `add` takes
    Pack(packages::PackArgs),
    /// Adds a ruleset from a file, a folder or a git repository
    Add(packages::AddArgs),
    /// Brings added rulesets up to date
    Update(packages::UpdateArgs),
    /// Brings back the version of a ruleset before its last update or removal
    Rollback(packages::RollbackArgs),
    /// Takes an added ruleset away
    Remove(packages::RemoveArgs),
    /// Lists the rulesets that were added
    List(packages::ListArgs),
    /// Searches an index of rulesets that others offer
    Search(packages::SearchArgs),
    /// Serves games to programs in any language
    Serve(serve::Args),
    /// Rolls dice
    Roll(roll::Args),
    /// Computes the exact odds of dice or of a card
    Odds(Box<odds::Args>),
    /// Plays a scenario many times and counts the results
    Sim(sim::Args),
    /// Studies a scenario: results and length, choices, drama, every card
    Study(study::Args),
    /// Merges the parts of a simulation
    Merge(merge::Args),
    /// Compares two versions of rules: odds of cards, and who wins
    Compare(compare::Args),
    /// Prints shell completions
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
    /// Prints the manual page, in troff format
    Man,
}

/// On narrower terminals, `--help` prints the description of an option below it.
const NARROW: usize = 80;

/// Runs the command line. The exit code is 0 for success, 1 if the checked thing is wrong, 2 if the call is wrong.
pub fn run() -> ExitCode {
    #[cfg(unix)]
    ignore_sigxfsz();
    let program = Cli::command();
    call::know_commands(program.get_subcommands().map(|command| command.get_name().to_owned()).collect());
    let (call, around) = ruleset_path::as_ids(arguments());
    // A narrow terminal has no room beside long options.
    let narrow = screen::terminal_width() < NARROW;
    let parsed = with_negative_numbers(program).next_line_help(narrow).try_get_matches_from(call);
    let cli = match parsed.and_then(|found| Cli::from_arg_matches(&found)) {
        Ok(cli) => Cli { rulesets: cli.rulesets.or(around), ..cli },
        Err(error) => {
            // A failed write to standard error cannot be reported.
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

/// Makes a write beyond the file size limit (`ulimit -f`) fail like one on a full disk. Otherwise its signal would end
/// the program in the middle of the write.
#[cfg(unix)]
fn ignore_sigxfsz() {
    // SAFETY: no code runs for a signal that is ignored.
    unsafe { libc::signal(libc::SIGXFSZ, libc::SIG_IGN) };
}

/// Accepts `-5` after an option as its value, so that [`whole`](super::whole) can report the error.
fn with_negative_numbers(command: clap::Command) -> clap::Command {
    let of_option = |arg: clap::Arg| {
        let takes = !arg.is_positional() && arg.get_action().takes_values();
        if takes { arg.allow_negative_numbers(true) } else { arg }
    };
    command.mut_args(of_option).mut_subcommands(with_negative_numbers)
}

/// The arguments of the program, with the topics after `odds` converted to options.
fn arguments() -> Vec<std::ffi::OsString> {
    let program = Cli::command();
    let of_odds = program.find_subcommand("odds").into_iter().flat_map(clap::Command::get_arguments);
    let names = |arg: &'_ clap::Arg| {
        arg.get_long()
            .into_iter()
            .chain(arg.get_all_aliases().unwrap_or_default())
            .map(String::from)
            .collect::<Vec<_>>()
    };
    let known: Vec<String> = program.get_arguments().chain(of_odds).flat_map(names).collect();
    odds::topics_as_answers(std::env::args_os().collect(), &known)
}

fn carry_out(cli: Cli) -> Result<ExitCode> {
    let folder = cli.rulesets;
    if cli.command.is_some() && cli.table != play::TableArgs::default() {
        return Err(call_error("put the options after the command: `riskbreaker play --seed 7`"));
    }
    match cli.command {
        None => {
            let asked = cli.table == play::TableArgs::default();
            let choice = if asked { go_on::offer(folder.as_deref())? } else { go_on::GameChoice::New };
            let scenario = match choice {
                go_on::GameChoice::Campaign(name) => Some(name),
                go_on::GameChoice::New => None,
                go_on::GameChoice::Nothing => return Ok(ExitCode::SUCCESS),
            };
            play::play(
                play::Args { scenario, begin: None, entry: None, table: cli.table, notify: NotifyArgs::default() },
                folder,
            )
        }
        Some(Command::Play(args)) => play::play(args, folder),
        Some(Command::Table(args)) => table::table(&args, folder),
        Some(Command::Campaigns(args)) => campaigns::campaigns(&args, folder),
        Some(Command::Replay(args)) => replay::replay(&args, folder),
        Some(Command::Export(args)) => export::export(&args, folder),
        Some(Command::Import(args)) => export::import(&args, folder),
        Some(Command::Recap(args)) => recap::recap(&args, folder),
        Some(Command::Verify(args)) => verify::verify(&args, folder),
        Some(Command::Recover(args)) => verify::recover(&args, folder),
        Some(Command::Run(args)) => run::run(args, folder),
        Some(Command::Serve(args)) => serve::serve(&args, folder),
        Some(Command::Test(args)) => test::test(args, folder),
        Some(Command::Check(args)) => check::check(args, folder),
        Some(Command::Dev(args)) => dev::dev(args, folder),
        Some(Command::Lsp(args)) => lsp::lsp(&args, folder),
        Some(Command::New(args)) => new::new(args, folder),
        Some(Command::Types(args)) => types::types(args, folder),
        Some(Command::Reference(args)) => reference::reference(args, folder),
        Some(Command::Cards(args)) => cards::cards(args, folder),
        Some(Command::Rules(args)) => rules::rules(args, folder),
        Some(Command::Pack(args)) => packages::pack(&args, folder),
        Some(Command::Add(args)) => packages::add(&args),
        Some(Command::Update(args)) => packages::update(&args),
        Some(Command::Rollback(args)) => packages::rollback(&args),
        Some(Command::Remove(args)) => packages::remove(&args),
        Some(Command::List(args)) => packages::list(&args),
        Some(Command::Search(args)) => packages::search(&args),
        Some(Command::Roll(args)) => roll::roll(args),
        Some(Command::Odds(args)) => odds::odds(*args, folder),
        Some(Command::Sim(args)) => sim::sim(args, folder),
        Some(Command::Study(args)) => study::study(&args, folder.as_deref()),
        Some(Command::Merge(args)) => merge::merge(args, folder),
        Some(Command::Compare(args)) => compare::compare(&args, folder.as_deref()),
        Some(Command::Completions { shell }) => {
            let mut text = Vec::new();
            clap_complete::generate(shell, &mut Cli::command(), "riskbreaker", &mut text);
            io::stdout().write_all(&text)?;
            Ok(ExitCode::SUCCESS)
        }
        Some(Command::Man) => {
            let mut text = Vec::new();
            manual(&Cli::command(), &mut text)?;
            io::stdout().write_all(&text)?;
            Ok(ExitCode::SUCCESS)
        }
    }
}

/// Renders the manual page: the program, then each command with its options, all on one page.
fn manual(program: &clap::Command, text: &mut Vec<u8>) -> io::Result<()> {
    let page = clap_mangen::Man::new(program.clone());
    page.render_title(text)?;
    page.render_name_section(text)?;
    page.render_synopsis_section(text)?;
    page.render_description_section(text)?;
    page.render_options_section(text)?;
    manual_of_commands(program, "", text)?;
    page.render_version_section(text)
}

/// Renders the sections of the subcommands of a command. `above`: the prefix of their names.
fn manual_of_commands(command: &clap::Command, above: &str, text: &mut Vec<u8>) -> io::Result<()> {
    for command in command.get_subcommands().filter(|command| !command.is_hide_set()) {
        let name = format!("{above}{}", command.get_name().to_uppercase());
        let page = clap_mangen::Man::new(command.clone());
        writeln!(text, ".SH \"{name}\"")?;
        page.render_description_section(text)?;
        page.render_options_section(text)?;
        manual_of_commands(command, &format!("{name} "), text)?;
    }
    Ok(())
}

/// True if the reader of the output has closed it, as `head` does.
fn reader_left(error: &anyhow::Error) -> bool {
    error
        .chain()
        .filter_map(|cause| cause.downcast_ref::<io::Error>())
        .any(|cause| cause.kind() == io::ErrorKind::BrokenPipe)
}
