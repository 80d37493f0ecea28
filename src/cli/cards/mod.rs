use std::fmt::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Result;
use riskbreaker::{Card, Driver, Ruleset, Session, Setup, WorkBudget};

use super::figures::escaped;
use super::interrupt::{INTERRUPTED, watched_briefly};
use super::row::{Row, Tone};
use super::rule_text::RuleLines;
use super::screen::Screen;
use super::{call_error, check, file, library, report, rules};

/// Writes maneuver cards and character sheets to print, nine cards to a page
#[derive(clap::Args)]
pub struct Args {
    /// A ruleset by id or folder
    ruleset: PathBuf,

    /// House rules on top, the lowest first
    #[arg(long, value_name = "ID,ID...", value_delimiter = ',')]
    layers: Vec<String>,

    /// The file to write
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
}

const PER_PAGE: usize = 9;
const COLUMNS: usize = 3;
/// Letters in a line of a card, and lines on it below its title. Every card has the same size of type.
const LETTERS: usize = 33;
const LINES: usize = 19;

/// The budget: roughly the number of letters of all cards.
const WORK: u64 = 100_000_000;

/// The lines that a paragraph takes.
fn lines_of(letters: usize) -> usize {
    letters.div_ceil(LETTERS).max(1)
}

pub fn cards(args: Args, folder: Option<PathBuf>) -> Result<ExitCode> {
    let (library, ids) = check::chosen(Some(args.ruleset), folder)?;
    let [id] = ids.as_slice() else {
        return Err(call_error(format!("name one ruleset; there are {}", ids.join(", "))));
    };
    let rules = library::load(&library, &library.ways_to_play(id)[0], &args.layers)?;
    let budget = WorkBudget::new(WORK).until(&watched_briefly());
    let (page, told) = page(&rules, &budget);
    if budget.is_interrupted() {
        eprintln!("interrupted: {} is not written", args.out.display());
        return Ok(ExitCode::from(INTERRUPTED));
    }
    file::replace(&args.out, page).map_err(|error| report::unwritable(&args.out, &error))?;
    let mut screen = Screen::stdout(false);
    screen.row(&Row::at(0).with("new  ", Tone::Good).plain(format!("{}: {told}", args.out.display())))?;
    Ok(ExitCode::SUCCESS)
}

/// The document, and a summary of its contents. Once the budget is spent, the cards that are left are not in it.
fn page(rules: &std::sync::Arc<Ruleset>, budget: &WorkBudget) -> (String, String) {
    let lines = RuleLines::of(rules.rule_texts().map(|(_, text)| text));
    let mut written = 0;
    let mut html = String::new();
    // Some titles say the version themselves.
    let version = if rules.title().contains(rules.version()) { "" } else { rules.version() };
    let title = escaped(format!("{} {version}", rules.title()).trim_end());
    let _ = write!(
        html,
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<title>{title}: cards</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n\
         <p class=\"hint\">Print on A4 without scaling, both sides, turned on the long edge; the second page of each pair holds the backs. Cut along the lines.</p>\n"
    );
    let mut all: Vec<(&Card, &str)> = rules.cards().iter().map(|card| (card, "maneuver")).collect();
    all.extend(rules.items().iter().map(|item| (item, "item")));
    for chunk in all.chunks(PER_PAGE) {
        let letters: usize = chunk.iter().map(|(card, _)| card.text.len() + 100 * (1 + card.rules.len())).sum();
        if !budget.spend(letters as u64) {
            break;
        }
        written += chunk.len();
        let fronts: Vec<String> = chunk.iter().map(|(card, what)| front(card, what, rules, &title)).collect();
        let backs: Vec<String> = chunk.iter().map(|(card, what)| back(card, what, rules, &lines)).collect();
        sheet_of_cards(&mut html, &fronts, false);
        sheet_of_cards(&mut html, &backs, true);
    }
    let blank: Vec<String> = (0..PER_PAGE).map(|_| blank_card(&title)).collect();
    sheet_of_cards(&mut html, &blank, false);
    let (sheets, count) = sheets(rules, &title);
    html.push_str(&sheets);
    html.push_str("</body>\n</html>\n");
    let (cards, items) = (rules.cards().len(), rules.items().len());
    let mut told = format!("{cards} cards, {items} items, {PER_PAGE} blank cards, {count} sheets");
    if written < all.len() {
        let first = &all[written].0.id;
        told = format!("partial: {written} of {} cards and items; {first} and those after it are missing", all.len());
    }
    (html, told)
}

/// Nine cards. The backs are mirrored in each row, so that they meet their fronts in double-sided print.
fn sheet_of_cards(html: &mut String, cards: &[String], mirrored: bool) {
    // An empty place keeps the grid.
    let empty = "<div></div>".to_owned();
    html.push_str("<section class=\"page cards\">\n");
    for row in 0..PER_PAGE / COLUMNS {
        for column in 0..COLUMNS {
            let column = if mirrored { COLUMNS - 1 - column } else { column };
            html.push_str(cards.get(row * COLUMNS + column).unwrap_or(&empty));
            html.push('\n');
        }
    }
    html.push_str("</section>\n");
}

fn front(card: &Card, what: &str, rules: &Ruleset, title: &str) -> String {
    let (mut facts, mut lines) = (String::new(), lines_of(card.text.chars().count()));
    for (name, value) in rules::told_facts(card, rules) {
        // The names take a third of the width. A fact without room is left out, since the text matters more.
        lines += value.chars().count().div_ceil(LETTERS * 2 / 3).max(1);
        if lines <= LINES {
            let _ = write!(facts, "<dt>{}</dt><dd>{}</dd>", escaped(&name), escaped(&value));
        }
    }
    format!(
        "<div class=\"card front\"><header><h2>{}</h2><span class=\"what\">{what}</span></header><dl>{facts}</dl><p class=\"text\">{}</p><footer><span>{title}</span></footer></div>",
        escaped(&card.title),
        escaped(&card.text),
    )
}

/// The back: the rules of the card, in the ruleset's own words, as many as fit.
fn back(card: &Card, what: &str, rules: &Ruleset, rule_lines: &RuleLines) -> String {
    let (mut told, mut left, mut lines) = (String::new(), Vec::new(), 0);
    for id in &card.rules {
        let Some(text) = rule_text(rules, rule_lines, id).filter(|text| !text.is_empty()) else { continue };
        let needed = lines_of(text.chars().count() + id.len() + 1);
        // Three lines are kept for the ids of rules that do not fit.
        if lines + needed > LINES - 3 {
            left.push(escaped(id));
            continue;
        }
        lines += needed;
        let _ = write!(told, "<li><b>{}</b> {}</li>", escaped(id), escaped(&text));
    }
    if !left.is_empty() {
        let _ = write!(told, "<li>In RULES.md: {}</li>", left.join(", "));
    }
    format!(
        "<div class=\"card back\"><header><h2>{}</h2><span class=\"what\">{what}</span></header><ul>{told}</ul></div>",
        escaped(&card.title)
    )
}

fn blank_card(title: &str) -> String {
    let lines = "<i></i>".repeat(8);
    format!(
        "<div class=\"card front blank\"><header><h2>&nbsp;</h2><span class=\"what\">maneuver</span></header><div class=\"lines\">{lines}</div><footer><span>{title}</span><span></span></footer></div>"
    )
}

/// The text of a rule: that of the list item, or of the first cell of the table row, that begins with its id.
fn rule_text(rules: &Ruleset, lines: &RuleLines, id: &str) -> Option<String> {
    let cells = lines.cells_of(id)?;
    cells.first().map(|(_, text)| printed_rule(text, |name| rules.switch(name).is_some()))
}

/// The printed part of a rule: the first cell of a table row, without the values of a house rule.
fn printed_rule(text: &str, is_switch: impl Fn(&str) -> bool) -> String {
    let first = text.split(" | ").next().unwrap_or(text);
    let values = first.match_indices('`').map(|(at, _)| at).find(|at| {
        let rest = &first[at + 1..];
        rest.split_once('`').is_some_and(|(name, rest)| rest.starts_with(':') && is_switch(name))
    });
    first[..values.unwrap_or(first.len())].trim_end().replace("**", "").replace('`', "")
}

/// The sheets of the characters in the default scenario, and empty ones.
fn sheets(rules: &std::sync::Arc<Ruleset>, title: &str) -> (String, usize) {
    let mut setup = Setup::default();
    for seat in rules.seats().keys() {
        setup = setup.seat(seat, Driver::Human);
    }
    let Ok(mut session) = Session::start(rules, setup) else { return (String::new(), 0) };
    if session.advance().is_err() {
        return (String::new(), 0);
    }
    let kinds: Vec<String> =
        rules.schema().kinds.iter().filter(|kind| kind.sheet).map(|kind| kind.name.to_string()).collect();
    let view = session.view();
    let ids: Vec<_> = view
        .entities()
        .filter(|id| view.kind(*id).is_some_and(|kind| kinds.iter().any(|known| known == kind)))
        .collect();
    let titles: Vec<String> = ids.iter().map(|id| view.title(*id).to_string()).collect();
    let (mut sheets, mut layouts): (Vec<String>, Vec<Vec<String>>) = (Vec::new(), Vec::new());
    for (id, name) in ids.into_iter().zip(titles) {
        let Ok(lines) = session.sheet(id) else { continue };
        let rows: String = lines
            .iter()
            .map(|(label, text)| format!("<tr><th>{}</th><td>{}</td></tr>", escaped(label), escaped(text)))
            .collect();
        let height = row_height(lines.len());
        sheets.push(format!(
            "<div class=\"sheet\"><h2>{}</h2><table style=\"--row: {height}mm\">{rows}</table><footer>{title}</footer></div>",
            escaped(&name)
        ));
        let labels: Vec<String> = lines.into_iter().map(|(label, _)| label).filter(|label| !label.is_empty()).collect();
        if !layouts.contains(&labels) {
            layouts.push(labels);
        }
    }
    let count = sheets.len();
    for labels in layouts.iter().take(2) {
        let rows: String =
            labels.iter().map(|label| format!("<tr><th>{}</th><td>&nbsp;</td></tr>", escaped(label))).collect();
        let height = row_height(labels.len());
        for _ in 0..2 {
            sheets.push(format!(
                "<div class=\"sheet\"><h2 class=\"name\">Name</h2><table style=\"--row: {height}mm\">{rows}</table><footer>{title}</footer></div>"
            ));
        }
    }
    let mut html = String::new();
    for chunk in sheets.chunks(4) {
        let _ = write!(html, "<section class=\"page sheets\">\n{}\n</section>\n", chunk.join("\n"));
    }
    (html, count)
}

/// The height in millimetres of each of `lines` lines of a sheet.
fn row_height(lines: usize) -> usize {
    (108 / lines.max(1)).clamp(3, 9)
}

const STYLE: &str = "@page { size: A4; margin: 0; }
* { box-sizing: border-box; }
body { margin: 0; color: #000; background: #fff; font-family: Georgia, 'Times New Roman', serif; }
.hint { margin: 4mm 10mm; font-size: 10pt; }
.page { width: 210mm; height: 296mm; overflow: hidden; break-after: page; page-break-after: always; }
.cards { display: grid; grid-template-columns: repeat(3, 63mm); grid-template-rows: repeat(3, 88mm); justify-content: center; align-content: center; }
.card { border: 0.2mm solid #999; padding: 4mm; display: flex; flex-direction: column; overflow: hidden; position: relative; }
.card header { border-bottom: 0.5mm solid #000; padding-bottom: 1.2mm; margin-bottom: 1.8mm; }
.card h2 { margin: 0; font-size: 13.5pt; line-height: 1.1; overflow-wrap: anywhere; }
.card .what { font-size: 7pt; text-transform: uppercase; letter-spacing: 0.12em; }
.card dl { margin: 0 0 1.5mm; display: grid; grid-template-columns: auto 1fr; gap: 0.4mm 2.5mm; }
.card dt { font-style: italic; }
.card dd { margin: 0; font-weight: bold; overflow-wrap: anywhere; }
.card dd i { display: inline-block; width: 14mm; height: 3mm; border-bottom: 0.3mm dotted #000; }
.card .text { margin: 0; flex: 1; overflow: hidden; }
.card footer, .sheet footer { display: flex; justify-content: space-between; gap: 2mm; font-size: 5.5pt; margin-top: 1mm; }
.card { font-size: 8pt; line-height: 1.25; }
.back { border-style: solid; outline: 0.6mm solid #000; outline-offset: -2.6mm; padding: 5.5mm; }
.back h2 { font-size: 10pt; }
.back ul { list-style: none; margin: 0; padding: 0; flex: 1; overflow: hidden; }
.back li { margin-bottom: 0.8mm; }
.blank .lines { flex: 1; display: flex; flex-direction: column; justify-content: space-evenly; }
.blank .lines i { display: block; border-bottom: 0.2mm solid #888; height: 0; }
.sheets { display: grid; grid-template-columns: 94mm 94mm; grid-template-rows: 138mm 138mm; gap: 4mm; justify-content: center; align-content: center; }
.sheet { border: 0.4mm solid #000; padding: 5mm; display: flex; flex-direction: column; overflow: hidden; }
.sheet h2 { margin: 0 0 2mm; font-size: 15pt; border-bottom: 0.5mm solid #000; }
.sheet h2.name { font-size: 9pt; font-weight: normal; font-style: italic; height: 9mm; }
.sheet table { border-collapse: collapse; width: 100%; font-size: 9pt; }
.sheet tr { height: var(--row); }
.sheet footer { margin-top: auto; }
.sheet th { text-align: left; font-weight: normal; font-style: italic; vertical-align: bottom; padding: 0.7mm 3mm 0.7mm 0; width: 38%; border-bottom: 0.2mm solid #888; }
.sheet td { font-weight: bold; vertical-align: bottom; border-bottom: 0.2mm solid #888; padding: 0.7mm 0; }
@media screen { body { background: #eee; } .page { background: #fff; margin: 6mm auto; box-shadow: 0 0 2mm #888; } .hint { text-align: center; } }
@media print { .hint { display: none; } }
";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn backs_stand_the_other_way_round() {
        let mut html = String::new();
        let cards: Vec<String> = (1..=4).map(|n| format!("[{n}]")).collect();
        sheet_of_cards(&mut html, &cards, true);
        let order: Vec<&str> = html.lines().filter(|line| line.starts_with('[')).collect();
        assert_eq!(order, ["[3]", "[2]", "[1]", "[4]"]);
    }

    #[test]
    fn a_paragraph_takes_whole_lines() {
        assert_eq!(lines_of(0), 1);
        assert_eq!(lines_of(LETTERS), 1);
        assert_eq!(lines_of(LETTERS + 1), 2);
    }

    #[test]
    fn values_of_house_rules_are_not_printed() {
        let printed = |text| printed_rule(text, |name| name == "pays");
        assert_eq!(printed("It costs **2**. `pays`: one, all"), "It costs 2.");
        assert_eq!(printed("how much | switch `pays` | more"), "how much");
        assert_eq!(printed("of `a`: it goes"), "of a: it goes");
    }

    #[test]
    fn what_an_author_wrote_is_text() {
        assert_eq!(escaped("<b> & \"x\""), "&lt;b&gt; &amp; &quot;x&quot;");
    }
}
