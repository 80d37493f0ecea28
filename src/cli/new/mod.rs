mod part;
mod ruleset;
mod scaffold;
mod spec_text;
mod titles;
mod trial;

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Result;

use self::part::NewPart;
use self::ruleset::ruleset;
use self::scaffold::Scaffold;
use super::call_error;
use super::row::{Row, Tone};
use super::screen::Screen;

/// Writes a working example: a ruleset, or a part of one
#[derive(clap::Args)]
pub struct Args {
    #[command(subcommand)]
    what: Option<NewKind>,

    /// A ruleset of this name, the same as `new ruleset NAME`
    #[arg(value_name = "NAME")]
    name: Option<String>,
}

#[derive(clap::Subcommand)]
enum NewKind {
    /// A ruleset with cards, an item, a hook, a switch and specs; or house rules for another ruleset
    Ruleset {
        /// Its id, which is also the name of its folder: small letters, digits, `-` and `.`
        name: String,
        /// The ruleset that it extends: a version of its own
        #[arg(long, value_name = "ID")]
        extends: Option<String>,
        /// The rulesets that it lies over as house rules
        #[arg(long, value_name = "ID,ID...", value_delimiter = ',', conflicts_with = "extends")]
        over: Vec<String>,
    },
    /// A maneuver card with its spec
    Maneuver(NewPart),
    /// An item, a card that hands it out, and their spec
    Item(NewPart),
    /// A hook that runs after a verb, with its spec
    Hook(NewPart),
    /// A spec
    Spec(NewPart),
    /// A character sheet for the cast
    Character(NewPart),
    /// A scenario to start from
    Scenario(NewPart),
}

pub fn new(args: Args, folder: Option<PathBuf>) -> Result<ExitCode> {
    let written = match (args.what, args.name) {
        (Some(NewKind::Ruleset { name, extends, over }), _) => {
            ruleset(&name, extends.as_deref(), &over, folder.as_deref())?
        }
        (Some(NewKind::Maneuver(part)), _) => Scaffold::open(part, folder)?.maneuver()?,
        (Some(NewKind::Item(part)), _) => Scaffold::open(part, folder)?.item()?,
        (Some(NewKind::Hook(part)), _) => Scaffold::open(part, folder)?.hook()?,
        (Some(NewKind::Spec(part)), _) => Scaffold::open(part, folder)?.spec()?,
        (Some(NewKind::Character(part)), _) => Scaffold::open(part, folder)?.character()?,
        (Some(NewKind::Scenario(part)), _) => Scaffold::open(part, folder)?.scenario()?,
        (None, Some(name)) => ruleset(&name, None, &[], folder.as_deref())?,
        (None, None) => {
            let text = "say what to write: `new ruleset NAME`, or `new maneuver NAME`, `item`, `hook`, `spec`, `character`, `scenario`";
            return Err(call_error(text));
        }
    };
    let mut screen = Screen::stdout(false);
    for path in &written.files {
        screen.row(&Row::at(0).with("new  ", Tone::Good).plain(path.display().to_string()))?;
    }
    for line in &written.then {
        screen.row(&Row::at(0).faint(line))?;
    }
    Ok(if written.well { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
