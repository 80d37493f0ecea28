use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::Result;
use num_rational::BigRational;
use num_traits::Zero;
use riskbreaker::{
    Answering, Dice, Distribution, Given, Library, Odds, OddsQuery, Outcome, Place, Position, Ruleset, Scenario, Setup,
    Value,
};
use serde_json::{Value as Json, json};

use super::figures::{
    bar, chance_json, chance_of, chance_of_json, change, float, fraction, fraction_of, percent, plain_json, svg_bars,
};
use super::play::pair;
use super::report::unwritable;
use super::row::Row;
use super::screen::Screen;
use super::{call_error, file, library};

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

    /// A whole game from the start of a scenario, with a policy on every seat
    #[arg(long, value_name = "SCENARIO", conflicts_with_all = ["what", "actor", "against", "answer", "scenario", "position"])]
    game: Option<String>,

    /// Who plays a seat of the game: a policy, or absent; can be given again
    #[arg(long, value_name = "SEAT=POLICY", value_parser = pair, requires = "game")]
    seat: Vec<(String, String)>,

    /// Dice: how they do against other dice
    #[arg(long = "against", value_name = "DICE")]
    other: Option<String>,

    /// The chance that this holds afterwards, such as "Bandit.harm >= 3 and Ann.gold < 2"
    #[arg(long = "where", value_name = "NAME.FIELD >= N", value_parser = conditions)]
    condition: Option<Conditions>,

    /// Of those outcomes in which this holds: the chance of the outcomes, or of `--where`, under this condition
    #[arg(long = "if", value_name = "NAME.FIELD >= N", value_parser = conditions)]
    given_that: Option<Conditions>,

    /// A table of a field: each value, at least that, at most that
    #[arg(long, value_name = "NAME.FIELD", value_parser = place)]
    table: Option<(String, String)>,

    /// The same for each of several values of an answer, a house rule or a field
    #[arg(long, value_name = "TOPIC=1..5 or SWITCH=a,b or NAME.FIELD=1..5", value_parser = pair)]
    sweep: Option<(String, String)>,

    /// Who plays the card
    #[arg(long = "as", value_name = "NAME")]
    actor: Option<String>,

    /// Against whom, or on whom: names for the question that has them among its options
    #[arg(long = "vs", value_name = "NAME,NAME...")]
    against: Option<String>,

    /// An answer to something that the card asks; `--TOPIC ANSWER` says the same
    #[arg(long, value_name = "TOPIC=ANSWER", value_parser = pair)]
    answer: Vec<(String, String)>,

    /// How other questions are answered: default, best (for whoever is asked), given (not at all), or a policy
    #[arg(long, value_name = "HOW", default_value = "default")]
    questions: String,

    /// The scenario in which it is played
    #[arg(long, value_name = "NAME", conflicts_with = "position")]
    scenario: Option<String>,

    /// A file with the position, written like a scenario
    #[arg(long, value_name = "FILE.toml")]
    position: Option<PathBuf>,

    /// The ruleset
    #[arg(long, value_name = "ID")]
    rules: Option<String>,

    /// House rules on top, the lowest first
    #[arg(long, value_name = "ID,ID...", value_delimiter = ',')]
    layers: Vec<String>,

    /// The value of a house rule; can be given again
    #[arg(long, value_name = "SWITCH=VALUE", value_parser = pair)]
    set: Vec<(String, String)>,

    /// Something changed by hand before the card is played; can be given again
    #[arg(long, value_name = "NAME.FIELD=VALUE", value_parser = edit)]
    edit: Vec<(String, String, String)>,

    /// An answer to what is asked on the way to the card; can be given again
    #[arg(long, value_name = "TOPIC=ANSWER", value_parser = pair)]
    way: Vec<(String, String)>,

    /// The seed of the dice that are rolled before the card is played
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,

    /// A second column: the same with another value of a house rule, or by another ruleset, whose card may have another
    /// name; can be given again
    #[arg(long, value_name = "SWITCH=VALUE or RULESET[:CARD]")]
    compare: Vec<String>,

    /// Dice: the chance of this total or more
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    at_least: Option<i64>,

    /// Dice: the chance of this total or less
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    at_most: Option<i64>,

    /// Writes a JSON object, with every fraction in full
    #[arg(long)]
    json: bool,

    /// Writes a picture
    #[arg(long, value_name = "FILE.svg")]
    svg: Option<PathBuf>,
}

/// Turns `--TOPIC ANSWER` behind `odds` into `--answer TOPIC=ANSWER`: the topics are the ruleset's own.
pub fn topics_as_answers(call: Vec<OsString>, known: &[String]) -> Vec<OsString> {
    if !call.iter().any(|arg| arg == "odds") {
        return call;
    }
    let mut turned = Vec::new();
    let mut args = call.into_iter().peekable();
    while let Some(arg) = args.next() {
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

fn edit(text: &str) -> Result<(String, String, String), String> {
    let parts = text.split_once('=').and_then(|(left, value)| {
        let (name, field) = left.rsplit_once('.')?;
        Some((name.trim().to_owned(), field.trim().to_owned(), value.trim().to_owned()))
    });
    parts.filter(|(name, field, _)| !name.is_empty() && !field.is_empty()).ok_or("NAME.FIELD=VALUE is wanted".into())
}

/// What has to hold of an outcome: all of it.
#[derive(Clone, Debug, PartialEq)]
struct Conditions(Vec<Condition>);

/// A field compared with a value.
#[derive(Clone, Debug, PartialEq)]
struct Condition {
    title: String,
    field: String,
    relation: &'static str,
    value: String,
}

fn place(text: &str) -> Result<(String, String), String> {
    let parts = text.rsplit_once('.').map(|(name, field)| (name.trim().to_owned(), field.trim().to_owned()));
    parts
        .filter(|(name, field)| !name.is_empty() && !field.is_empty())
        .ok_or_else(|| format!("`{text}` names no field: write NAME.FIELD, such as Bandit.harm"))
}

fn conditions(text: &str) -> Result<Conditions, String> {
    text.split(" and ").map(condition).collect::<Result<_, _>>().map(Conditions)
}

fn condition(text: &str) -> Result<Condition, String> {
    for relation in [">=", "<=", "!=", "==", ">", "<", "="] {
        let Some((left, value)) = text.split_once(relation) else { continue };
        let (title, field) = place(left)?;
        let value = value.trim().to_owned();
        if value.is_empty() {
            break;
        }
        return Ok(Condition { title, field, relation, value });
    }
    Err(format!("`{text}` is no condition: write NAME.FIELD >= N, with >=, <=, >, <, = or !="))
}

impl Condition {
    fn holds(&self, odds: &Odds, outcome: &Outcome) -> Result<bool> {
        let Some(found) = odds.value_after(outcome, &self.title, &self.field) else {
            let known: Vec<String> =
                odds.fields.iter().map(|known| format!("{}.{}", known.title, known.field)).collect();
            return Err(call_error(format!(
                "{}.{} never changes here; what changes: {}",
                self.title,
                self.field,
                if known.is_empty() { "nothing".to_owned() } else { known.join(", ") }
            )));
        };
        let equal = found.to_string() == self.value;
        let order = match (found.as_int(), self.value.parse::<i64>()) {
            (Some(found), Ok(value)) => Some(found.cmp(&value)),
            _ => None,
        };
        Ok(match (self.relation, order) {
            ("=" | "==", _) => equal,
            ("!=", _) => !equal,
            (">=", Some(order)) => order.is_ge(),
            ("<=", Some(order)) => order.is_le(),
            (">", Some(order)) => order.is_gt(),
            ("<", Some(order)) => order.is_lt(),
            _ => {
                return Err(call_error(format!(
                    "{}.{} is {found}: only whole numbers are compared with `{}`",
                    self.title, self.field, self.relation
                )));
            }
        })
    }
}

impl Conditions {
    fn hold(&self, odds: &Odds, outcome: &Outcome) -> Result<bool> {
        self.0.iter().try_fold(true, |all, one| Ok(one.holds(odds, outcome)? && all))
    }

    /// The chance that all of it holds.
    fn chance(&self, odds: &Odds) -> Result<BigRational> {
        let mut sum = BigRational::zero();
        for (outcome, chance) in &odds.outcomes {
            if self.hold(odds, outcome)? {
                sum += chance;
            }
        }
        Ok(sum)
    }
}

impl std::fmt::Display for Conditions {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for (at, Condition { title, field, relation, value }) in self.0.iter().enumerate() {
            write!(f, "{}{title}.{field} {relation} {value}", if at == 0 { "" } else { " and " })?;
        }
        Ok(())
    }
}

/// The outcomes in which something holds, with their chances among themselves.
fn only_where(odds: &Odds, given: &Conditions) -> Result<Odds> {
    let whole = given.chance(odds)?;
    if whole.is_zero() {
        return Err(call_error(format!("{given} never holds here")));
    }
    if odds.estimate.is_some() {
        return Err(call_error("these odds are an estimate: conditional chances are told of exact odds only"));
    }
    let mut only = odds.clone();
    only.outcomes.clear();
    for (outcome, chance) in &odds.outcomes {
        if given.hold(odds, outcome)? {
            only.outcomes.push((outcome.clone(), chance / &whole));
        }
    }
    // What is expected of fields is told of all outcomes.
    only.fields.iter_mut().for_each(|field| field.expected = None);
    Ok(only)
}

pub fn odds(args: Args, folder: Option<PathBuf>) -> Result<ExitCode> {
    if let Some(scenario) = &args.game {
        return of_game(scenario, &args, folder);
    }
    let text = args.what.join(" ");
    match Dice::parse(&text) {
        Ok(_)
            if !args.compare.is_empty()
                || args.actor.is_some()
                || args.against.is_some()
                || !args.answer.is_empty() =>
        {
            Err(call_error(format!("`{text}` are dice: what is played by whom and compared is told of cards only")))
        }
        Ok(dice) => match &args.other {
            Some(other) => of_dice_against(&dice, other, args.json),
            None => of_dice(&dice, &args),
        },
        Err(error)
            if text.contains(|c: char| c.is_ascii_digit())
                && text.starts_with(|c: char| c.is_ascii_digit() || "dD+-(".contains(c))
                && !text.contains('_')
                && args.actor.is_none()
                && !is_card(&text, &args, folder.as_deref()) =>
        {
            Err(call_error(format!("{text}: {error}")))
        }
        Err(_) if args.at_least.is_some() || args.at_most.is_some() => Err(call_error(format!(
            "`--at-least` and `--at-most` ask for totals of dice, and `{text}` are none; a card tells all its outcomes"
        ))),
        Err(_) => of_card(&text, &args, folder),
    }
}

/// Whether what could be a slip in a dice expression is a card.
fn is_card(text: &str, args: &Args, folder: Option<&Path>) -> bool {
    let known = || {
        let library = library::open(folder)?;
        let rules = ruleset(&library, args)?;
        anyhow::Ok(super::rules::find_card(&rules, text).is_ok())
    };
    known().unwrap_or(false)
}

fn ruleset(library: &Library, args: &Args) -> Result<Arc<Ruleset>> {
    match &args.rules {
        Some(id) => library::load(library, id, &args.layers),
        None => library::load(library, &library::default_ruleset(library)?, &args.layers),
    }
}

fn of_dice(dice: &Dice, args: &Args) -> Result<ExitCode> {
    let totals = dice.distribution().map_err(|error| call_error(error.to_string()))?;
    let mut screen = Screen::stdout(args.json);
    if let Some(path) = &args.svg {
        let rows: Vec<(String, f64, String)> =
            totals.iter().map(|(total, chance)| (total.to_string(), float(&chance), percent(float(&chance)))).collect();
        file::replace(path, svg_bars(&dice.to_string(), &rows)).map_err(|error| unwritable(path, &error))?;
    }
    let mut wanted: Vec<(&str, String, BigRational)> = Vec::new();
    if let Some(n) = args.at_least {
        wanted.push(("at_least", format!("{n} or more"), totals.at_least(n)));
    }
    if let Some(n) = args.at_most {
        wanted.push(("at_most", format!("{n} or less"), totals.at_most(n)));
    }
    if args.json {
        screen.object(&dice_json(dice, &totals, &wanted))?;
        return Ok(ExitCode::SUCCESS);
    }
    if wanted.is_empty() {
        let most = totals.iter().map(|(_, chance)| float(&chance)).fold(0.0, f64::max);
        let mut left = totals.at_least(i64::MIN);
        let rows = totals
            .iter()
            .map(|(total, chance)| {
                let or_more = left.clone();
                left -= &chance;
                let share = float(&chance);
                vec![
                    total.to_string(),
                    percent(share),
                    fraction(&chance),
                    percent(float(&or_more)),
                    bar(share, most, 24),
                ]
            })
            .collect();
        screen.table(&["total", "chance", "exactly", "or more", ""], rows)?;
    }
    for (_, what, chance) in &wanted {
        let exactly = fraction(chance);
        let exactly = if exactly.is_empty() { exactly } else { format!("  {exactly}") };
        screen.row(&Row::at(0).plain(format!("{dice}: {what}  {}{exactly}", percent(float(chance)))))?;
    }
    let spread = float(&totals.variance()).sqrt();
    screen.row(&Row::at(0).faint(format!(
        "{dice}: mean {:.3}, standard deviation {spread:.3}, most likely {}",
        float(&totals.mean()),
        totals.mode()
    )))?;
    tell_remaining(&mut screen, &totals.remaining(), "")?;
    Ok(ExitCode::SUCCESS)
}

/// How dice do against other dice: above, equal, below.
fn of_dice_against(dice: &Dice, other: &str, json: bool) -> Result<ExitCode> {
    let other = Dice::parse(other).map_err(|error| call_error(format!("{other}: {error}")))?;
    let totals = |dice: &Dice| dice.distribution().map_err(|error| call_error(error.to_string()));
    let (own, its) = (totals(dice)?, totals(&other)?);
    let mut chances = [BigRational::zero(), BigRational::zero(), BigRational::zero()];
    for (total, chance) in own.iter() {
        chances[0] += &chance * its.below(total);
        chances[1] += &chance * its.chance(total);
        chances[2] += &chance * its.at_least(total + 1);
    }
    let remaining = BigRational::from_integer(1.into()) - chances.iter().sum::<BigRational>();
    let mut screen = Screen::stdout(json);
    if json {
        screen.object(&json!({
            "dice": dice.to_string(), "against": other.to_string(), "exact": remaining.is_zero(),
            "above": chance_json(&chances[0]), "equal": chance_json(&chances[1]), "below": chance_json(&chances[2]),
            "remaining": chance_json(&remaining),
        }))?;
        return Ok(ExitCode::SUCCESS);
    }
    let rows = ["above", "equal", "below"].iter().zip(&chances).map(|(word, chance)| {
        vec![format!("{dice} {word} {other}"), percent(float(chance)), fraction(chance), bar(float(chance), 1.0, 24)]
    });
    screen.table(&["", "chance", "exactly", ""], rows.collect())?;
    tell_remaining(&mut screen, &remaining, "")?;
    Ok(ExitCode::SUCCESS)
}

/// A whole game, solved.
fn of_game(scenario: &str, args: &Args, folder: Option<PathBuf>) -> Result<ExitCode> {
    let library = library::open(folder.as_deref())?;
    let rules = ruleset(&library, args)?;
    let mut setup = Setup::default().seed(args.seed);
    setup.scenario = Scenario::Named(scenario.to_owned());
    for (switch, value) in &args.set {
        setup = setup.switch(switch, Value::text(value));
    }
    for (seat, driver) in &args.seat {
        let Ok(driver) = driver.parse::<riskbreaker::Driver>();
        setup = setup.seat(seat, driver);
    }
    let found =
        riskbreaker::game_odds(&rules, setup, riskbreaker::GameLimits::default(), Some(super::interrupt::watched()));
    let found = found.map_err(|refusal| match refusal.failed() {
        true => anyhow::anyhow!("{refusal}"),
        false => call_error(refusal.to_string()),
    })?;
    let exact = found.remaining.is_zero();
    let mut screen = Screen::stdout(args.json);
    if args.json {
        let results: Vec<Json> = found
            .results
            .iter()
            .map(|(name, chance)| json!({ "result": name, "chance": chance_json(chance) }))
            .collect();
        screen.object(&json!({
            "scenario": scenario, "ruleset": rules.id(), "exact": exact, "results": results,
            "remaining": chance_json(&found.remaining), "mean_actions": chance_json(&found.actions),
            "states": found.states, "ways": found.ways,
        }))?;
        return Ok(ExitCode::SUCCESS);
    }
    screen.row(&Row::at(0).strong(format!("{scenario} · {}", rules.id())))?;
    let exactly = |chance: &BigRational| if exact { fraction(chance) } else { String::new() };
    let rows = found
        .results
        .iter()
        .map(|(name, chance)| vec![percent(float(chance)), exactly(chance), name.clone(), bar(float(chance), 1.0, 24)]);
    screen.table(&["chance", "exactly", "result", ""], rows.collect())?;
    screen.row(&Row::at(0).plain(format!("{:.2} actions on the average", float(&found.actions))))?;
    if exact {
        screen.row(&Row::at(0).faint(format!("exact, over {} states of the game", found.states)))?;
    } else {
        tell_remaining(&mut screen, &found.remaining, "")?;
    }
    Ok(ExitCode::SUCCESS)
}

fn dice_json(dice: &Dice, totals: &Distribution, wanted: &[(&str, String, BigRational)]) -> Json {
    let list: Vec<Json> =
        totals.iter().map(|(total, chance)| json!({ "total": total, "chance": chance_json(&chance) })).collect();
    let mut object = json!({
        "dice": dice.to_string(),
        "exact": totals.is_exact(),
        "mean": chance_json(&totals.mean()),
        "variance": chance_json(&totals.variance()),
        "mode": totals.mode(),
        "remaining": chance_json(&totals.remaining()),
        "totals": list,
    });
    for (name, _, chance) in wanted {
        object[*name] = chance_json(chance);
    }
    object
}

fn tell_remaining(screen: &mut Screen, remaining: &BigRational, cure: &str) -> Result<()> {
    if !remaining.is_zero() {
        let text = format!("not exact: {} remains that was not followed to its end{cure}", percent(float(remaining)));
        screen.row(&Row::at(0).faint(text))?;
    }
    Ok(())
}

/// Tells how far the odds of a card can be relied on.
fn tell_proof(screen: &mut Screen, odds: &Odds) -> Result<()> {
    let text = match &odds.estimate {
        Some(estimate) => {
            let why = if estimate.interrupted { "it was interrupted" } else { estimate.why.as_str() };
            format!(
                "an estimate, not exact: {why}; from {} random plays, the intervals hold in 99 of 100 cases",
                estimate.samples
            )
        }
        None if odds.guessed => {
            "not exact: what is best was chosen although some of it was not followed to its end".into()
        }
        None if odds.is_exact() => match odds.ways {
            1 => "exact, over one way that it can go".into(),
            ways => format!("exact, over {ways} ways that it can go"),
        },
        None => return tell_remaining(screen, &odds.remaining, ""),
    };
    screen.row(&Row::at(0).faint(text))?;
    if odds.estimate.is_some() && !odds.remaining.is_zero() {
        let text = format!("{} of the plays came to no end", percent(float(&odds.remaining)));
        screen.row(&Row::at(0).faint(text))?;
    }
    Ok(())
}

fn of_card(card: &str, args: &Args, folder: Option<PathBuf>) -> Result<ExitCode> {
    let library = library::open(folder.as_deref())?;
    let rules = ruleset(&library, args)?;
    if let Some((name, values)) = &args.sweep {
        return swept(card, args, &rules, name, values);
    }
    let mut columns = vec![column(card, args, &rules, rules.id().to_owned(), &Changed::default())?];
    for other in &args.compare {
        columns.push(match other.split_once('=') {
            Some((switch, value)) => {
                let set = vec![(switch.trim().to_owned(), value.trim().to_owned())];
                column(card, args, &rules, other.clone(), &Changed { set, ..Changed::default() })?
            }
            None => {
                let (id, its_card) = other.split_once(':').unwrap_or((other, card));
                let rules = library::load(&library, id, &[])?;
                if super::rules::find_card(&rules, its_card).is_err() && !other.contains(':') {
                    let ids: Vec<&str> = rules.cards().iter().map(|card| &*card.id).collect();
                    return Err(call_error(format!(
                        "{id} has no card `{card}`; say which of its cards is meant: `--compare {id}:CARD` with one of {}",
                        ids.join(", ")
                    )));
                }
                column(its_card, args, &rules, other.clone(), &Changed::default())?
            }
        });
    }
    if let Some(given) = &args.given_that {
        for column in &mut columns {
            column.odds = only_where(&column.odds, given)?;
        }
    }
    for topic in &columns[0].odds.unasked {
        if columns.iter().all(|column| column.odds.unasked.contains(topic)) {
            return Err(call_error(format!("nothing asks for `{topic}` here")));
        }
    }
    let mut screen = Screen::stdout(args.json);
    if let Some(path) = &args.svg {
        let first = &columns[0];
        let rows: Vec<(String, f64, String)> = first
            .odds
            .lines()
            .into_iter()
            .zip(&first.odds.outcomes)
            .map(|(line, (_, chance))| (line, float(chance), percent(float(chance))))
            .collect();
        file::replace(path, svg_bars(&first.heading(card), &rows)).map_err(|error| unwritable(path, &error))?;
    }
    if let Some(condition) = &args.condition {
        return tell_condition(&mut screen, args, condition, &columns);
    }
    if let Some((title, field)) = &args.table {
        return tell_field(&mut screen, args, title, field, &columns[0]);
    }
    if args.json {
        let objects: Vec<Json> = columns.iter().map(|column| column.json(card)).collect();
        match objects.as_slice() {
            [only] => screen.object(only)?,
            several => screen.object(&json!({ "compared": several }))?,
        }
        return Ok(ExitCode::SUCCESS);
    }
    if columns.len() == 1 {
        let column = &columns[0];
        show(&mut screen, &column.heading(card), &column.odds)?;
    } else {
        let heading = columns[0].heading(card);
        let columns: Vec<(&str, &Odds)> = columns.iter().map(|column| (column.name.as_str(), &column.odds)).collect();
        show_compared(&mut screen, &heading, &columns)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Tells the chance of a condition, by column.
fn tell_condition(screen: &mut Screen, args: &Args, condition: &Conditions, columns: &[Column]) -> Result<ExitCode> {
    let given = args.given_that.as_ref().map(|given| format!(" if {given}")).unwrap_or_default();
    for column in columns {
        let chance = condition.chance(&column.odds)?;
        if args.json {
            screen.object(&json!({
                "column": column.name, "where": condition.to_string(), "if": args.given_that.as_ref().map(Conditions::to_string),
                "exact": column.odds.is_exact(), "chance": chance_of_json(&column.odds, &chance),
            }))?;
            continue;
        }
        let name = if columns.len() > 1 { format!("{}: ", column.name) } else { String::new() };
        let exactly = fraction_of(&column.odds, &chance);
        let text = format!("{name}{condition}{given}  {}  {exactly}", chance_of(&column.odds, &chance));
        screen.row(&Row::at(0).plain(text.trim_end()))?;
        tell_proof(screen, &column.odds)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// A field, value by value.
fn tell_field(screen: &mut Screen, args: &Args, title: &str, field: &str, column: &Column) -> Result<ExitCode> {
    let odds = &column.odds;
    let at = |relation, value: i64| {
        let (title, field, value) = (title.to_owned(), field.to_owned(), value.to_string());
        Conditions(vec![Condition { title, field, relation, value }]).chance(odds)
    };
    at(">=", 0)?;
    let known = odds.fields.iter().find(|known| known.title.eq_ignore_ascii_case(title) && *known.field == *field);
    let mut values: Vec<i64> =
        known.into_iter().flat_map(|known| &known.to).filter_map(|(value, _)| value.as_int()).collect();
    values.sort_unstable();
    let mut rows = Vec::new();
    let mut list = Vec::new();
    for value in values {
        let chances = [at("=", value)?, at(">=", value)?, at("<=", value)?];
        let told = |chance: &BigRational| {
            format!("{} {}", chance_of(odds, chance), fraction_of(odds, chance)).trim_end().to_owned()
        };
        rows.push(std::iter::once(value.to_string()).chain(chances.iter().map(told)).collect());
        let [is, least, most] = chances.map(|chance| chance_of_json(odds, &chance));
        list.push(json!({ "value": value, "chance": is, "at_least": least, "at_most": most }));
    }
    if args.json {
        screen.object(&json!({ "entity": title, "field": field, "exact": odds.is_exact(), "values": list }))?;
        return Ok(ExitCode::SUCCESS);
    }
    let heading = format!("{title} {field}");
    screen.table(&[heading.as_str(), "chance", "at least", "at most"], rows)?;
    tell_proof(screen, odds)?;
    Ok(ExitCode::SUCCESS)
}

/// The values of a sweep: `1..5`, or a list with commas.
fn sweep_values(text: &str) -> Result<Vec<String>> {
    let range = text.split_once("..").and_then(|(from, to)| {
        Some((from.trim().parse::<i64>().ok()?, to.trim().trim_start_matches('=').parse::<i64>().ok()?))
    });
    match range {
        Some((from, to)) if from <= to && to - from < MOST_SWEPT => Ok((from..=to).map(|n| n.to_string()).collect()),
        Some(_) => Err(call_error(format!("`{text}` is no range of at most {MOST_SWEPT} numbers, the lowest first"))),
        None => Ok(text.split(',').map(|value| value.trim().to_owned()).collect()),
    }
}

/// Values that one call goes through.
const MOST_SWEPT: i64 = 100;

/// The same card for each of several values.
fn swept(card: &str, args: &Args, rules: &Arc<Ruleset>, name: &str, values: &str) -> Result<ExitCode> {
    let mut columns = Vec::new();
    for value in sweep_values(values)? {
        let changed = match name.rsplit_once('.') {
            Some((title, field)) => {
                Changed { edits: vec![(title.to_owned(), field.to_owned(), value.clone())], ..Changed::default() }
            }
            None if rules.switch(name).is_some() => {
                Changed { set: vec![(name.to_owned(), value.clone())], ..Changed::default() }
            }
            None => Changed { answers: vec![(name.to_owned(), value.clone())], ..Changed::default() },
        };
        let mut column = column(card, args, rules, format!("{name}={value}"), &changed)?;
        if let Some(given) = &args.given_that {
            column.odds = only_where(&column.odds, given)?;
        }
        columns.push(column);
    }
    let mut screen = Screen::stdout(args.json);
    let Some(condition) = &args.condition else {
        if args.json {
            let objects: Vec<Json> = columns.iter().map(|column| column.json(card)).collect();
            screen.object(&json!({ "swept": name, "columns": objects }))?;
            return Ok(ExitCode::SUCCESS);
        }
        let heading = columns[0].heading(card);
        let columns: Vec<(&str, &Odds)> = columns.iter().map(|column| (column.name.as_str(), &column.odds)).collect();
        show_compared(&mut screen, &heading, &columns)?;
        return Ok(ExitCode::SUCCESS);
    };
    tell_condition(&mut screen, args, condition, &columns)?;
    if !args.json {
        let mut nearest: Option<(f64, &str)> = None;
        for column in &columns {
            let off = (float(&condition.chance(&column.odds)?) - 0.5).abs();
            if nearest.is_none_or(|(least, _)| off < least) {
                nearest = Some((off, &column.name));
            }
        }
        if let Some((_, name)) = nearest {
            screen.row(&Row::at(0).plain(format!("nearest to 50 %: {name}")))?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// What one column has other than the call says.
#[derive(Clone, Debug, Default)]
struct Changed {
    set: Vec<(String, String)>,
    answers: Vec<(String, String)>,
    edits: Vec<(String, String, String)>,
}

/// One set of rules and what the card does by it.
struct Column {
    name: String,
    rules: Arc<Ruleset>,
    odds: Odds,
    place: Place,
}

fn column(card: &str, args: &Args, rules: &Arc<Ruleset>, name: String, changed: &Changed) -> Result<Column> {
    let mut setup = Setup::default().seed(args.seed);
    if let Some(scenario) = &args.scenario {
        setup.scenario = Scenario::Named(scenario.clone());
    }
    if let Some(path) = &args.position {
        let shown = path.display().to_string();
        let bytes = std::fs::read(path).map_err(|error| call_error(format!("{shown}: {error}")))?;
        setup.scenario = Scenario::read(&shown, &bytes)
            .map_err(|problems| call_error(problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")))?;
    }
    for (switch, value) in args.set.iter().chain(&changed.set) {
        setup = setup.switch(switch, Value::text(value));
    }
    let id = super::rules::find_card(rules, card).map_err(call_error)?.id.to_string();
    let topic = |name: &str| {
        let name = name.replace('-', "_");
        rules.words().get(&name).cloned().unwrap_or(name)
    };
    let position = Position {
        setup,
        card: id,
        actor: args.actor.clone(),
        way: args.way.iter().map(|(name, answer)| (topic(name), answer.clone())).collect(),
        edits: args.edit.iter().chain(&changed.edits).cloned().collect(),
        query: OddsQuery {
            given: args
                .answer
                .iter()
                .chain(&changed.answers)
                .map(|(name, value)| Given { topic: topic(name), about: None, value: Value::text(value) })
                .collect(),
            against: args.against.as_deref().map(Value::text),
            answering: answering(&args.questions, rules)?,
            lenient: !args.compare.is_empty(),
            interrupt: Some(super::interrupt::watched()),
            ..OddsQuery::default()
        },
    };
    let (odds, place) = position.odds(rules).map_err(|refusal| match refusal.failed() {
        true => anyhow::anyhow!("{refusal}"),
        false => call_error(refusal.to_string()),
    })?;
    Ok(Column { name, rules: rules.clone(), odds, place })
}

/// How questions are answered, as it is typed.
pub fn answering(text: &str, rules: &Ruleset) -> Result<Answering> {
    Ok(match text {
        "default" => Answering::Default,
        "best" => Answering::Best,
        "given" => Answering::Given,
        policy if rules.policies().iter().any(|known| **known == *policy) => Answering::Policy(policy.into()),
        other => {
            let policies: Vec<&str> = rules.policies().iter().map(|policy| &**policy).collect();
            return Err(call_error(format!(
                "questions are answered by default, best, given or a policy ({}), not by `{other}`",
                policies.join(", ")
            )));
        }
    })
}

impl Column {
    fn heading(&self, card: &str) -> String {
        match &self.place.actor {
            Some(actor) => format!("{card} by {actor} · {}", self.rules.id()),
            None => format!("{card} · {}", self.rules.id()),
        }
    }

    fn json(&self, card: &str) -> Json {
        let mut object = odds_json(&self.odds);
        object["card"] = json!(card);
        object["ruleset"] = json!(self.rules.id());
        object["column"] = json!(self.name);
        object["actor"] = json!(self.place.actor);
        object["way"] = self
            .place
            .way
            .iter()
            .map(|(who, topic, answer)| json!({ "who": who, "topic": topic, "answer": answer }))
            .collect();
        object
    }
}

/// Everything about the odds, fractions in full.
pub fn odds_json(odds: &Odds) -> Json {
    let outcomes: Vec<Json> = odds
        .lines()
        .into_iter()
        .zip(&odds.outcomes)
        .map(|(text, (outcome, chance))| {
            json!({ "text": text, "chance": chance_of_json(odds, chance), "effects": outcome.effects })
        })
        .collect();
    let fields: Vec<Json> = odds
        .fields
        .iter()
        .map(|field| {
            let to: Vec<Json> = field
                .to
                .iter()
                .map(|(value, chance)| json!({ "value": plain_json(value), "chance": chance_of_json(odds, chance) }))
                .collect();
            json!({
                "entity": field.title, "field": field.field, "label": field.label, "shown": field.shown,
                "from": plain_json(&field.from), "to": to, "expected_change": field.expected.as_ref().map(|by| number_json(odds, by)),
            })
        })
        .collect();
    let answers: Vec<Json> = odds
        .answers
        .iter()
        .map(|(topic, answer, how)| json!({ "topic": topic, "answer": answer, "how": how }))
        .collect();
    let estimate = odds.estimate.as_ref().map(|estimate| {
        json!({
            "samples": estimate.samples, "confidence": 0.99, "why": estimate.why, "interrupted": estimate.interrupted,
        })
    });
    json!({
        "exact": odds.is_exact(), "estimate": estimate, "ways": odds.ways, "points": odds.points,
        "remaining": number_json(odds, &odds.remaining), "guessed": odds.guessed, "outcomes": outcomes, "fields": fields,
        "answers": answers,
    })
}

/// A number for machines: as a fraction only where it is known exactly.
fn number_json(odds: &Odds, number: &BigRational) -> Json {
    if odds.estimate.is_none() { chance_json(number) } else { json!({ "decimal": float(number) }) }
}

/// Outcomes a table shows; the unlikeliest behind them are counted together.
const SHOWN: usize = 40;

/// The odds as a table with what is to be expected.
pub fn show(screen: &mut Screen, heading: &str, odds: &Odds) -> Result<()> {
    screen.row(&Row::at(0).strong(heading))?;
    let most = odds.outcomes.iter().map(|(_, chance)| float(chance)).fold(0.0, f64::max);
    let mut rows: Vec<Vec<String>> = odds
        .lines()
        .into_iter()
        .zip(&odds.outcomes)
        .take(SHOWN)
        .map(|(line, (_, chance))| {
            vec![chance_of(odds, chance), fraction_of(odds, chance), line, bar(float(chance), most, 12)]
        })
        .collect();
    if odds.outcomes.len() > SHOWN {
        let rest: BigRational = odds.outcomes[SHOWN..].iter().map(|(_, chance)| chance).sum();
        let line = format!("{} unlikelier outcomes", odds.outcomes.len() - SHOWN);
        rows.push(vec![chance_of(odds, &rest), fraction_of(odds, &rest), line, String::new()]);
    }
    if odds.is_exact() {
        screen.table(&["chance", "exactly", "outcome", ""], rows)?;
    } else {
        rows.iter_mut().for_each(|row| drop(row.remove(1)));
        screen.table(&["chance", "outcome", ""], rows)?;
    }
    let expected = odds.fields.iter().filter(|field| field.shown);
    for field in expected {
        if let Some(by) = &field.expected {
            screen.row(&Row::at(0).plain(format!(
                "expected: {} {} {}",
                field.title,
                field.label,
                change_of(odds, by)
            )))?;
        }
    }
    for (topic, answer, how) in &odds.answers {
        screen.row(&Row::at(0).faint(format!("{}: {answer}, {how}", topic.replace('_', " "))))?;
    }
    tell_proof(screen, odds)
}

/// The expected change of a field; of an estimate, about.
fn change_of(odds: &Odds, by: &BigRational) -> String {
    if odds.is_exact() { change(by) } else { format!("about {:+.2}", float(by)) }
}

/// The same by several rules, side by side: each column with its name.
pub fn show_compared(screen: &mut Screen, heading: &str, columns: &[(&str, &Odds)]) -> Result<()> {
    screen.row(&Row::at(0).strong(heading))?;
    let told: Vec<Vec<String>> = columns.iter().map(|(_, odds)| odds.lines()).collect();
    let mut lines: Vec<&String> = Vec::new();
    for line in told.iter().flatten() {
        if !lines.contains(&line) {
            lines.push(line);
        }
    }
    let with = |first: &'static str| -> Vec<&str> {
        std::iter::once(first).chain(columns.iter().map(|(name, _)| *name)).collect()
    };
    let rows = lines
        .iter()
        .map(|line| {
            let chances = columns.iter().zip(&told).map(|((_, odds), told)| {
                let chance: BigRational = told
                    .iter()
                    .zip(&odds.outcomes)
                    .filter(|(other, _)| other == line)
                    .map(|(_, (_, chance))| chance)
                    .sum();
                match chance.is_zero() {
                    true => "-".to_owned(),
                    false => {
                        format!("{} {}", chance_of(odds, &chance), fraction_of(odds, &chance)).trim_end().to_owned()
                    }
                }
            });
            std::iter::once((*line).clone()).chain(chances).collect()
        })
        .collect();
    screen.table(&with("outcome"), rows)?;
    let mut fields: Vec<(String, String)> = Vec::new();
    for field in columns.iter().flat_map(|(_, odds)| &odds.fields).filter(|field| field.shown) {
        let name = (field.title.to_string(), field.label.to_string());
        if field.expected.is_some() && !fields.contains(&name) {
            fields.push(name);
        }
    }
    let rows: Vec<Vec<String>> = fields
        .iter()
        .map(|(title, label)| {
            let cell = |(_, odds): &(&str, &Odds)| {
                let found = odds.fields.iter().find(|field| *field.title == **title && *field.label == **label);
                found
                    .and_then(|field| field.expected.as_ref())
                    .map_or_else(|| "+0".to_owned(), |by| change_of(odds, by))
            };
            std::iter::once(format!("{title} {label}")).chain(columns.iter().map(cell)).collect()
        })
        .collect();
    if !rows.is_empty() {
        screen.table(&with("expected"), rows)?;
    }
    for (name, odds) in columns {
        for (topic, answer, how) in &odds.answers {
            screen.row(&Row::at(0).faint(format!("{name}: {topic}: {answer}, {how}")))?;
        }
        for topic in &odds.unasked {
            let what = if topic.is_empty() { "the names".to_owned() } else { format!("`{topic}`") };
            screen.row(&Row::at(0).faint(format!("{name}: nothing asks for {what}")))?;
        }
        if !odds.is_exact() {
            tell_proof(screen, odds)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_option_of_the_program_is_an_answer() {
        let known = ["as", "vs", "json"].map(String::from);
        let turn = |line: &str| {
            let call = line.split(' ').map(OsString::from).collect();
            let turned = topics_as_answers(call, &known);
            turned.iter().map(|arg| arg.to_string_lossy().into_owned()).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(turn("r odds kill --as A --risk 2 --json"), "r odds kill --as A --answer risk=2 --json");
        assert_eq!(turn("r odds kill --risk=-1 --vs B"), "r odds kill --answer risk=-1 --vs B");
        assert_eq!(turn("r odds kill --bare --json"), "r odds kill --bare --json");
        assert_eq!(turn("r sim duel --risk 2"), "r sim duel --risk 2");
    }

    #[test]
    fn an_edit_names_whose_field_becomes_what() {
        assert_eq!(edit("Big Foe.harm=3"), Ok(("Big Foe".into(), "harm".into(), "3".into())));
        for wrong in ["", "a=b", "a.b", ".b=1", "a.=1"] {
            assert!(edit(wrong).is_err(), "{wrong}");
        }
    }
}
