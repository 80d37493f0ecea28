use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::Result;
use num_rational::BigRational;
use num_traits::Zero;
use riskbreaker::{
    Answering, Dice, Distribution, Given, Library, Moment, Odds, OddsQuery, Place, Ruleset, Scenario, Setup, Value,
};
use serde_json::{Value as Json, json};

use super::figures::{bar, chance_json, change, float, fraction, percent, plain_json, svg_bars};
use super::play::pair;
use super::report::unwritable;
use super::row::Row;
use super::screen::Screen;
use super::{call_error, library};

/// Exact odds of dice, or of a card
///
/// `odds 4d6kh3` and `odds "3d12+2" --at-least 22` tell how likely totals are. `odds CARD --as NAME --vs NAME --TOPIC ANSWER`
/// plays the card in a scenario in every way that the dice can fall. Questions that are not answered are answered as
/// `--questions` says.
#[derive(clap::Args)]
pub struct Args {
    /// Dice such as 4d6kh3, or the id of a card
    #[arg(required = true, value_name = "DICE or CARD")]
    what: Vec<String>,

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

pub fn odds(args: Args, folder: Option<PathBuf>) -> Result<ExitCode> {
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
        Ok(dice) => of_dice(&dice, &args),
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
        std::fs::write(path, svg_bars(&dice.to_string(), &rows)).map_err(|error| unwritable(path, &error))?;
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

/// Tells what makes the odds of a card less than exact, and what to do about it.
fn tell_inexact(screen: &mut Screen, odds: &Odds) -> Result<()> {
    if let Some(courses) = odds.borne_out {
        let text = format!(
            "not exact: it can go too many ways to go each; where it went on alike after other rolls it is taken to do so always, as \
             {courses} courses bore out"
        );
        screen.row(&Row::at(0).faint(text))?;
    } else if !odds.presumed.is_zero() {
        let text = format!(
            "not exact: a loop of rolls is taken to go on as it did as far as it was followed, to {} of chance; as `rb.again` it \
             is exact",
            percent(float(&odds.presumed))
        );
        screen.row(&Row::at(0).faint(text))?;
    }
    if odds.guessed {
        let text = "not exact: what is best was chosen although some of it was not followed to its end";
        screen.row(&Row::at(0).faint(text))?;
    }
    tell_remaining(screen, &odds.remaining, "; loops of rolls are exact as `rb.again`")
}

fn of_card(card: &str, args: &Args, folder: Option<PathBuf>) -> Result<ExitCode> {
    let library = library::open(folder.as_deref())?;
    let rules = ruleset(&library, args)?;
    let mut columns = vec![column(card, args, &rules, rules.id().to_owned(), &[])?];
    for other in &args.compare {
        columns.push(match other.split_once('=') {
            Some((switch, value)) => {
                let set = [(switch.trim().to_owned(), value.trim().to_owned())];
                column(card, args, &rules, other.clone(), &set)?
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
                column(its_card, args, &rules, other.clone(), &[])?
            }
        });
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
        std::fs::write(path, svg_bars(&first.heading(card), &rows)).map_err(|error| unwritable(path, &error))?;
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

/// One set of rules and what the card does by it.
struct Column {
    name: String,
    rules: Arc<Ruleset>,
    odds: Odds,
    place: Place,
}

fn column(card: &str, args: &Args, rules: &Arc<Ruleset>, name: String, set: &[(String, String)]) -> Result<Column> {
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
    for (switch, value) in args.set.iter().chain(set) {
        setup = setup.switch(switch, Value::text(value));
    }
    let id = super::rules::find_card(rules, card).map_err(call_error)?.id.to_string();
    let topic = |name: &str| {
        let name = name.replace('-', "_");
        rules.words().get(&name).cloned().unwrap_or(name)
    };
    let moment = Moment {
        setup,
        card: id,
        actor: args.actor.clone(),
        way: args.way.iter().map(|(name, answer)| (topic(name), answer.clone())).collect(),
        edits: args.edit.clone(),
        query: OddsQuery {
            given: args
                .answer
                .iter()
                .map(|(name, value)| Given { topic: topic(name), about: None, value: Value::text(value) })
                .collect(),
            against: args.against.as_deref().map(Value::text),
            answering: answering(&args.questions, rules)?,
            lenient: !args.compare.is_empty(),
            ..OddsQuery::default()
        },
    };
    let (odds, place) = moment.odds(rules).map_err(|refusal| match refusal.failed {
        true => anyhow::anyhow!("{}", refusal.message),
        false => call_error(refusal.message),
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
            json!({ "text": text, "chance": chance_json(chance), "effects": outcome.effects })
        })
        .collect();
    let fields: Vec<Json> = odds
        .fields
        .iter()
        .map(|field| {
            let to: Vec<Json> = field
                .to
                .iter()
                .map(|(value, chance)| json!({ "value": plain_json(value), "chance": chance_json(chance) }))
                .collect();
            json!({
                "entity": field.title, "field": field.field, "label": field.label, "shown": field.shown,
                "from": plain_json(&field.from), "to": to, "expected_change": field.expected.as_ref().map(chance_json),
            })
        })
        .collect();
    let answers: Vec<Json> = odds
        .answers
        .iter()
        .map(|(topic, answer, how)| json!({ "topic": topic, "answer": answer, "how": how }))
        .collect();
    json!({
        "exact": odds.is_exact(), "courses": odds.courses, "remaining": chance_json(&odds.remaining),
        "presumed": chance_json(&odds.presumed), "borne_out": odds.borne_out, "guessed": odds.guessed, "outcomes": outcomes, "fields": fields, "answers": answers,
    })
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
        .map(|(line, (_, chance))| vec![percent(float(chance)), fraction(chance), line, bar(float(chance), most, 12)])
        .collect();
    if odds.outcomes.len() > SHOWN {
        let rest: BigRational = odds.outcomes[SHOWN..].iter().map(|(_, chance)| chance).sum();
        let line = format!("{} unlikelier outcomes", odds.outcomes.len() - SHOWN);
        rows.push(vec![percent(float(&rest)), fraction(&rest), line, String::new()]);
    }
    screen.table(&["chance", "exactly", "outcome", ""], rows)?;
    let expected = odds.fields.iter().filter(|field| field.shown);
    for field in expected {
        if let Some(by) = &field.expected {
            screen.row(&Row::at(0).plain(format!("expected: {} {} {}", field.title, field.label, change(by))))?;
        }
    }
    for (topic, answer, how) in &odds.answers {
        screen.row(&Row::at(0).faint(format!("{}: {answer}, {how}", topic.replace('_', " "))))?;
    }
    tell_inexact(screen, odds)?;
    if odds.is_exact() {
        let ways = if odds.courses == 1 { "one way".to_owned() } else { format!("{} ways", odds.courses) };
        screen.row(&Row::at(0).faint(format!("exact, over {ways} that it can go")))?;
    }
    Ok(())
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
                    false => format!("{} {}", percent(float(&chance)), fraction(&chance)).trim_end().to_owned(),
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
                found.and_then(|field| field.expected.as_ref()).map_or_else(|| "+0".to_owned(), change)
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
        tell_inexact(screen, odds)?;
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
