use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Result;
use riskbreaker::lab::{advice_for_program, odds_for_program};
use riskbreaker::script::Table;

use super::row::harmless;
use super::screen::Screen;
use super::{call_error, file, library, report};

/// Runs a Luau program that drives games
#[derive(clap::Args)]
pub struct Args {
    /// The program
    #[arg(value_name = "FILE.luau")]
    file: PathBuf,
}

/// The most bytes of a program.
const LONGEST: u64 = 1 << 20;

pub fn run(args: Args, folder: Option<PathBuf>) -> Result<ExitCode> {
    let name = args.file.display().to_string();
    if args.file.extension().is_some_and(|ending| ending == "play") {
        return Err(call_error(format!("{name} has lines for the prompt; `riskbreaker play {name}` plays them")));
    }
    let source = file::read_script(&args.file, LONGEST, "a program is a file")?;
    if source.trim().is_empty() {
        return Err(call_error(format!("{name}: is empty")));
    }
    let mut table = Table::new(&library::open(folder.as_deref())?)?;
    table.look_ahead_by(odds_for_program);
    table.advise_by(advice_for_program);
    let mut screen = Screen::stdout(false);
    let print = |screen: &mut Screen, lines: &[String]| {
        lines.iter().try_for_each(|text| text.split('\n').try_for_each(|line| screen.verbatim(&harmless(line))))
    };
    let evaluated = match table.eval(&source, &name) {
        Ok(evaluated) => evaluated,
        Err(fault) => {
            print(&mut screen, &table.take_printed())?;
            let errors = Screen::stderr();
            eprintln!("{}", report::fault(&fault, errors.coloured(), errors.width()));
            return Ok(ExitCode::FAILURE);
        }
    };
    print(&mut screen, &evaluated.printed)?;
    print(&mut screen, evaluated.value.as_slice())?;
    if evaluated.incomplete {
        anyhow::bail!("{name}: the program is not complete: an `end`, a bracket or a quote is missing");
    }
    Ok(ExitCode::SUCCESS)
}
