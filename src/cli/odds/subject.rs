//! What a call of `odds` is about: dice, a card or a whole game.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Result;
use riskbreaker::dice::Dice;

use super::super::{call_error, library, rules};
use super::{Args, card, dice, game, ruleset};

pub fn odds(args: Args, folder: Option<PathBuf>) -> Result<ExitCode> {
    if let Some(scenario) = &args.game {
        return game::of_game(scenario, &args, folder);
    }
    let text = args.what.join(" ");
    match Dice::parse(&text) {
        Ok(dice) => match (args.for_cards(), &args.other) {
            (Some(option), _) => Err(call_error(format!("`{text}` are dice, and `{option}` is for cards only"))),
            (None, Some(other)) => dice::of_dice_against(&dice, other, &args),
            (None, None) => dice::of_dice(&dice, &args),
        },
        Err(error) if Dice::is_meant(&text) && args.actor.is_none() && !is_card(&text, &args, folder.as_deref()) => {
            let cure = of_total(&text).map_or(String::new(), |call| format!("; for the total of the dice: `{call}`"));
            Err(call_error(format!("{text}: {error}{cure}")))
        }
        Err(_) => match args.for_dice() {
            Some(option) => Err(call_error(format!(
                "`{option}` works for dice only, and `{text}` is not dice; for a card use `--where` or `--table`"
            ))),
            None => card::of_card(&text, &args, folder),
        },
    }
}

/// The call that answers what `3d6 >= 12` seems to ask: after dice, a comparison counts the dice whose faces match.
fn of_total(text: &str) -> Option<String> {
    let (dice, rest) = text.split_at(text.find(['<', '>'])?);
    let (sign, total) = rest.split_at(rest.find(|c: char| !"<>=".contains(c))?);
    let total: i64 = total.trim().parse().ok()?;
    let (option, total) = match sign {
        ">=" => ("--at-least", total),
        ">" => ("--at-least", total + 1),
        "<=" => ("--at-most", total),
        "<" => ("--at-most", total - 1),
        _ => return None,
    };
    Dice::parse(dice.trim()).ok()?;
    Some(format!("odds {} {option} {total}", dice.trim()))
}

/// True if a text that could be a mistyped dice expression is the id of a card.
fn is_card(text: &str, args: &Args, folder: Option<&Path>) -> bool {
    let known = || {
        let library = library::open(folder)?;
        let rules = ruleset(&library, args)?;
        anyhow::Ok(rules::find_card(&rules, text).is_ok())
    };
    known().unwrap_or(false)
}
