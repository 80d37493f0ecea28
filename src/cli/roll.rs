use std::process::ExitCode;

use anyhow::Result;
use riskbreaker::dice::{Dice, DiceRng, Roll};
use serde_json::json;

use super::call_error;
use super::row::Row;
use super::screen::Screen;

/// Rolls dice
#[derive(clap::Args)]
pub struct Args {
    /// What to roll, such as 3d6+1 or 4d6kh3
    #[arg(required = true, value_name = "DICE")]
    dice: Vec<String>,

    /// The seed of the dice; a random one if none is given
    #[arg(long, value_name = "N", value_parser = super::whole::<u64>)]
    seed: Option<u64>,

    /// Writes a JSON object
    #[arg(long)]
    json: bool,
}

pub fn roll(args: Args) -> Result<ExitCode> {
    let text = args.dice.join(" ");
    let dice = Dice::parse(&text).map_err(|error| call_error(format!("{text}: {error}")))?;
    let mut chance = DiceRng::new(args.seed.unwrap_or_else(random_seed));
    let roll = roll_by(&dice, &mut chance)?;
    let mut screen = Screen::stdout(args.json);
    if args.json {
        screen.object(&json!({ "dice": dice.to_string(), "faces": roll.drawn(), "total": roll.total() }))?;
    } else {
        screen.row(&Row::at(0).plain(roll.explain()))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Rolls dice outside of a game.
pub fn roll_by(dice: &Dice, chance: &mut DiceRng) -> Result<Roll> {
    // A generator never runs out of faces, so only a condition that no face meets can fail.
    dice.roll_with(&mut |sides| Some(chance.face(sides))).ok_or_else(|| anyhow::anyhow!("{dice} rerolls for ever"))
}

/// A random seed that is easy to read out and type: 1 to 999 999.
pub fn random_seed() -> u64 {
    use std::hash::{BuildHasher, RandomState};
    RandomState::new().hash_one(()) % 999_999 + 1
}
