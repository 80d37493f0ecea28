//! `odds`: the odds of dice, of a card, of a card under several values, and of a whole game.

mod best;
mod card;
mod column;
mod condition;
mod dice;
mod game;
mod show;
mod subject;
mod sweep;

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;

use anyhow::Result;
use riskbreaker::dice::Dice;
use riskbreaker::{Library, Refusal, Ruleset};

use self::condition::Conditions;
use super::play::pair;
use super::{call_error, library};

pub use self::show::{ComparedColumn, OddsJson, show, show_compared};
pub use self::subject::odds;
pub use self::sweep::values_of;

/// Exact odds of dice, or of a card
///
/// `odds 4d6kh3` and `odds "3d12+2" --at-least 22` tell how likely totals are. `odds CARD --as NAME --vs NAME --TOPIC ANSWER`
/// plays the card in a scenario in every way that the dice can fall. Questions that are not answered are answered as
/// `--questions` says.
#[derive(clap::Args)]
pub struct Args {
    /// Dice such as 4d6kh3, or the id of a card
    #[arg(required_unless_present = "game", value_name = "DICE or CARD")]
    what: Vec<String>,

    /// A whole game from the start of a scenario, with a policy on every seat: the ruleset's first where none is given
    #[arg(long, value_name = "SCENARIO", conflicts_with_all = ["what", "actor", "against", "answer", "scenario", "position", "until"])]
    game: Option<String>,

    /// Who plays a seat of the game: a policy, or absent; can be repeated
    #[arg(long, value_name = "SEAT=POLICY", value_parser = pair, requires = "game")]
    seat: Vec<(String, String)>,

    /// The best play of a seat of the game against the others; of two seats, against each other. Can be repeated
    #[arg(long, value_name = "SEAT", requires = "game")]
    best: Vec<String>,

    /// With `--best`: what is maximised; games won where the values of two seats do not sum to the same number in all ends
    #[arg(long, value_name = "WHAT", requires = "best", value_enum)]
    payoff: Option<best::PayoffChoice>,

    /// Compares the dice with other dice
    #[arg(long = "against", value_name = "DICE")]
    other: Option<String>,

    /// The chance that this holds afterwards, such as "Bandit.harm >= 3 and Ann.gold < 2 or Bandit.stunned = yes"
    #[arg(long = "where", value_name = "NAME.FIELD >= N", value_parser = Conditions::read)]
    condition: Option<Conditions>,

    /// Counts only outcomes in which this holds (a conditional chance)
    #[arg(long = "if", value_name = "NAME.FIELD >= N", value_parser = Conditions::read)]
    given_that: Option<Conditions>,

    /// A table of a field or derived value: each value, at least that, at most that
    #[arg(long, value_name = "NAME.FIELD", value_parser = condition::place, conflicts_with_all = ["condition", "compare", "sweep"])]
    table: Option<(String, String)>,

    /// The same for each of several values of an answer, a house rule, a fact of the card, a field or a derived number
    #[arg(long, value_name = "TOPIC=1..5 or SWITCH=a,b or FACT=1..5 or NAME.FIELD=1..5", value_parser = pair, conflicts_with = "compare")]
    sweep: Option<(String, String)>,

    /// Who plays the card
    #[arg(long = "as", value_name = "NAME")]
    actor: Option<String>,

    /// The targets, by name
    #[arg(long = "vs", value_name = "NAME,NAME...")]
    against: Option<String>,

    /// An answer to a question of the card; short form: `--TOPIC ANSWER`
    #[arg(long, value_name = "TOPIC=ANSWER", value_parser = pair)]
    answer: Vec<(String, String)>,

    /// How other questions are answered: default, best (for whoever is asked), given (not at all), or a policy
    #[arg(long, value_name = "HOW", default_value = "default")]
    questions: String,

    /// How far the odds look ahead: before the next agenda entry of this name, or of one of several; `action` is the end of the
    /// action. Without it, the horizon of the ruleset
    #[arg(long, value_name = "ENTRY,ENTRY...")]
    until: Option<String>,

    /// The scenario in which it is played
    #[arg(long, value_name = "NAME", conflicts_with = "position")]
    scenario: Option<String>,

    /// A file with the position, in the form of a scenario
    #[arg(long, value_name = "FILE.toml")]
    position: Option<PathBuf>,

    /// The ruleset
    #[arg(long, alias = "ruleset", value_name = "ID")]
    rules: Option<String>,

    /// House rules on top, the lowest first
    #[arg(long, value_name = "ID,ID...", value_delimiter = ',')]
    layers: Vec<String>,

    /// The value of a house rule; can be repeated
    #[arg(long, value_name = "SWITCH=VALUE", value_parser = pair)]
    set: Vec<(String, String)>,

    /// Changes a field before the card is played; can be repeated
    #[arg(long, value_name = "NAME.FIELD=VALUE", value_parser = edit)]
    edit: Vec<(String, String, String)>,

    /// An answer to a question that comes before the card; can be repeated
    #[arg(long, value_name = "TOPIC=ANSWER", value_parser = pair)]
    way: Vec<(String, String)>,

    /// The seed of the dice rolled before the card
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = super::whole::<u64>)]
    seed: u64,

    /// A second column: the same with another value of a house rule, or by another ruleset, whose card may have another
    /// name; can be repeated
    #[arg(long, value_name = "SWITCH=VALUE or RULESET[:CARD]")]
    compare: Vec<String>,

    /// Dice: the chance of this total or more
    #[arg(long, value_name = "N", allow_hyphen_values = true, value_parser = super::whole::<i64>)]
    at_least: Option<i64>,

    /// Dice: the chance of this total or less
    #[arg(long, value_name = "N", allow_hyphen_values = true, value_parser = super::whole::<i64>)]
    at_most: Option<i64>,

    /// Writes a JSON object, with every fraction in full
    #[arg(long)]
    json: bool,

    /// Writes a picture
    #[arg(long, value_name = "FILE.svg")]
    svg: Option<PathBuf>,
}

/// Converts `--TOPIC ANSWER` after `odds` to `--answer TOPIC=ANSWER`, since each ruleset has its own topics.
pub fn topics_as_answers(call: Vec<OsString>, known: &[String]) -> Vec<OsString> {
    // Only an option with a value can be before the command: `--rulesets DIR`.
    let command = match call.get(1).map(|arg| arg.to_string_lossy()) {
        Some(arg) if arg == "--rulesets" => 3,
        Some(arg) if arg.starts_with("--rulesets=") => 2,
        _ => 1,
    };
    match call.get(command).and_then(|command| command.to_str()) {
        Some("odds") => {}
        Some("roll") => return call.into_iter().map(|arg| negative_dice(&arg).unwrap_or(arg)).collect(),
        _ => return call,
    }
    let mut args = call.into_iter();
    let mut turned: Vec<OsString> = args.by_ref().take(command + 1).collect();
    let mut args = args.peekable();
    while let Some(arg) = args.next() {
        if let Some(dice) = negative_dice(&arg) {
            turned.push(dice);
            continue;
        }
        let topic = arg.to_str().and_then(|text| text.strip_prefix("--")).filter(|name| !name.is_empty());
        let topic = topic.map(|text| text.split_once('=').map_or((text, None), |(name, value)| (name, Some(value))));
        match topic {
            Some((name, value)) if !known.iter().any(|known| known == name) && !["help", "version"].contains(&name) => {
                let value = match value {
                    Some(value) => Some(value.to_owned()),
                    None => args
                        .next_if(|next| !next.to_string_lossy().starts_with("--"))
                        .map(|next| next.to_string_lossy().into_owned()),
                };
                match value {
                    Some(value) => {
                        turned.push("--answer".into());
                        turned.push(format!("{name}={value}").into());
                    }
                    None => turned.push(arg),
                }
            }
            _ => turned.push(arg),
        }
    }
    turned
}

/// Puts a blank before dice that begin with a minus sign, such as `-1d6`, so that they are not parsed as an option.
fn negative_dice(arg: &OsString) -> Option<OsString> {
    let text = arg.to_str()?;
    let begins =
        text.strip_prefix('-')?.starts_with(|c: char| c.is_ascii_digit() || matches!(c, 'd' | 'D' | '(' | '{'));
    (begins && text.contains(['d', 'D']) && Dice::is_meant(text)).then(|| format!(" {text}").into())
}

/// The error of refused odds: a call error, unless something failed.
fn refused(refusal: &Refusal) -> anyhow::Error {
    if refusal.failed() { anyhow::anyhow!("{refusal}") } else { call_error(refusal.to_string()) }
}

fn edit(text: &str) -> Result<(String, String, String), String> {
    let parts = text.split_once('=').and_then(|(left, value)| {
        let (name, field) = left.rsplit_once('.')?;
        Some((name.trim().to_owned(), field.trim().to_owned(), value.trim().to_owned()))
    });
    parts.filter(|(name, field, _)| !name.is_empty() && !field.is_empty()).ok_or("write NAME.FIELD=VALUE".into())
}

impl Args {
    /// True if the call names a card and nothing of the position in which it is played.
    fn names_no_position(&self) -> bool {
        self.scenario.is_none()
            && self.position.is_none()
            && self.actor.is_none()
            && self.against.is_none()
            && self.way.is_empty()
            && self.edit.is_empty()
    }

    /// An option of the call that only applies to cards.
    fn for_cards(&self) -> Option<&'static str> {
        let given = [
            (self.actor.is_some(), "--as"),
            (self.against.is_some(), "--vs"),
            (!self.answer.is_empty(), "--answer"),
            (!self.compare.is_empty(), "--compare"),
            (self.condition.is_some(), "--where"),
            (self.given_that.is_some(), "--if"),
            (self.table.is_some(), "--table"),
            (self.sweep.is_some(), "--sweep"),
            (!self.edit.is_empty(), "--edit"),
            (!self.way.is_empty(), "--way"),
            (self.until.is_some(), "--until"),
        ];
        given.into_iter().find(|(given, _)| *given).map(|(_, option)| option)
    }

    /// An option of the call that only applies to dice.
    fn for_dice(&self) -> Option<&'static str> {
        let given = [
            (self.other.is_some(), "--against"),
            (self.at_least.is_some(), "--at-least"),
            (self.at_most.is_some(), "--at-most"),
        ];
        given.into_iter().find(|(given, _)| *given).map(|(_, option)| option)
    }
}

fn ruleset(library: &Library, args: &Args) -> Result<Arc<Ruleset>> {
    match &args.rules {
        Some(id) => library::load(library, id, &args.layers),
        None => library::load(library, &library::default_ruleset(library)?, &args.layers),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_option_is_an_answer() {
        let known = ["as", "vs", "json"].map(String::from);
        let turn = |line: &str| {
            let call = line.split(' ').map(OsString::from).collect();
            let turned = topics_as_answers(call, &known);
            turned.iter().map(|arg| arg.to_string_lossy().into_owned()).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(turn("r odds kill --as A --risk 2 --json"), "r odds kill --as A --answer risk=2 --json");
        assert_eq!(turn("r odds kill --risk=-1 --vs B"), "r odds kill --answer risk=-1 --vs B");
        assert_eq!(turn("r odds kill --bare --json"), "r odds kill --bare --json");
        assert_eq!(turn("r odds -1d6 --json"), "r odds  -1d6 --json");
        assert_eq!(turn("r odds 2d6 --vs -d4"), "r odds 2d6 --vs  -d4");
        assert_eq!(turn("r roll -1d6 --seed 3"), "r roll  -1d6 --seed 3");
        assert_eq!(turn("r --rulesets odds odds kill --risk 2"), "r --rulesets odds odds kill --answer risk=2");
        assert_eq!(turn("r --rulesets=x odds kill --risk 2"), "r --rulesets=x odds kill --answer risk=2");
        for other in
            ["r sim duel --risk 2", "r test duel --filter odds", "r play odds --seed 3", "r --rulesets odds play"]
        {
            assert_eq!(turn(other), other);
        }
    }

    #[test]
    fn an_edit_is_read_as_entity_field_and_value() {
        assert_eq!(edit("Big Foe.harm=3"), Ok(("Big Foe".into(), "harm".into(), "3".into())));
        for wrong in ["", "a=b", "a.b", ".b=1", "a.=1"] {
            assert!(edit(wrong).is_err(), "{wrong}");
        }
    }
}
