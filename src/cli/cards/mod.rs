//! `cards`: maneuver cards and character sheets on paper, for a ruleset or for the party of a campaign.

mod face;
mod sheet;
mod style;

use std::fmt::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::Result;
use riskbreaker::{Card, Ruleset, Session, WorkBudget};

use self::face::CardFace;
use self::sheet::PaperSheet;
use super::figures::{counted, escaped};
use super::interrupt::{interrupted_code, watched_briefly};
use super::row::{Row, Tone};
use super::screen::Screen;
use super::{call_error, campaigns, check, file, library, report};

/// Writes maneuver cards and character sheets to print, nine cards to a page
#[derive(clap::Args)]
pub struct Args {
    /// A ruleset by id or folder; ID+LAYER for one with house rules
    #[arg(value_name = "RULESET", required_unless_present_any = ["campaign", "rules"])]
    ruleset: Option<PathBuf>,

    /// The party of a campaign (NAME or NAME.rbsave): its sheets with boxes to tick, its items, and its cards
    #[arg(long, value_name = "NAME")]
    campaign: Option<String>,

    /// The same as RULESET; for a campaign, the cards of these rules instead of its own
    #[arg(long, value_name = "ID", conflicts_with = "ruleset")]
    rules: Option<PathBuf>,

    /// House rules on top, the lowest first
    #[arg(long, value_name = "ID,ID...", value_delimiter = ',')]
    layers: Vec<String>,

    /// The file to write
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
}

const PER_PAGE: usize = 9;
const COLUMNS: usize = 3;

/// The work budget: roughly the number of letters on all cards.
const WORK: u64 = 100_000_000;

pub fn cards(args: Args, folder: Option<PathBuf>) -> Result<ExitCode> {
    let out = args.out.clone();
    let printed = Printed::of(args, folder)?;
    let budget = WorkBudget::new(WORK).until(&watched_briefly());
    let (page, told) = printed.page(&budget);
    if budget.is_interrupted() {
        eprintln!("interrupted: {} is not written", out.display());
        return Ok(ExitCode::from(interrupted_code()));
    }
    file::replace(&out, page).map_err(|error| report::unwritable(&out, &error))?;
    let mut screen = Screen::stdout(false);
    screen.row(&Row::at(0).with("new  ", Tone::Good).plain(format!("{}: {told}", out.display())))?;
    Ok(ExitCode::SUCCESS)
}

/// The contents of a document.
struct Printed {
    rules: Arc<Ruleset>,
    /// The name of the ruleset on every card.
    title: String,
    sheets: Vec<PaperSheet>,
    /// The items of the party; `None` for all items of the ruleset.
    items: Option<Vec<Arc<str>>>,
}

impl Printed {
    fn of(args: Args, folder: Option<PathBuf>) -> Result<Printed> {
        let named = args.ruleset.or(args.rules);
        let Some(name) = &args.campaign else {
            let (library, ids) = check::chosen(named, folder)?;
            let [id] = ids.as_slice() else {
                return Err(call_error(format!("name one ruleset; there are {}", ids.join(", "))));
            };
            let rules = library::load(&library, &library.ways_to_play(id)[0], &args.layers)?;
            let sheets = sheet::of_ruleset(&rules);
            return Ok(Printed { title: title_of(&rules), sheets, items: None, rules });
        };
        let library = library::open(folder.as_deref())?;
        let campaign = campaigns::read(&campaigns::file_of(name), &library)?;
        if !campaign.has_scene() {
            return Err(call_error(format!("no scene has begun in the campaign {name}, so it has no party yet")));
        }
        let mut session = campaign.whole()?;
        let rules = match (named, args.layers.is_empty()) {
            (None, true) => session.ruleset().clone(),
            (None, false) => library::load(&library, session.ruleset().id(), &args.layers)?,
            (Some(id), _) => library::load(&library, &id.to_string_lossy(), &args.layers)?,
        };
        let sheets = sheet::of_party(&mut session, &campaign.roster()?);
        if sheets.is_empty() {
            return Err(call_error(format!("nobody in the campaign {name} is played by a person and has a sheet")));
        }
        let items = party_items(&session, &rules, &sheets);
        Ok(Printed { title: campaigns::name_of(&campaigns::file_of(name)), sheets, items: Some(items), rules })
    }

    /// Renders the document. Also returns a summary of its contents. Once the budget is spent, the remaining cards are
    /// left out.
    fn page(&self, budget: &WorkBudget) -> (String, String) {
        let title = escaped(&self.title);
        let mut html = format!(
            "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" content=\"width=device-width, \
             initial-scale=1\">\n<title>{title}: cards</title>\n<style>\n{}</style>\n</head>\n<body>\n<header class=\"hint\"><h1>{title}</h1>\
             <p>Print on A4 without scaling, on both sides, turned on the long edge: every second page holds the backs. Cut along the \
             lines.</p></header>\n",
            style::STYLE
        );
        let wanted = |item: &&Card| self.items.as_ref().is_none_or(|items| items.contains(&item.id));
        let mut all: Vec<(&Card, &str)> = self.rules.cards().iter().map(|card| (card, "maneuver")).collect();
        all.extend(self.rules.items().iter().filter(wanted).map(|item| (item, "item")));
        let (mut written, mut blank) = (0, 0);
        for chunk in all.chunks(PER_PAGE) {
            let letters: usize = chunk.iter().map(|(card, _)| card.text.len() + 100 * (1 + card.rules.len())).sum();
            if !budget.spend(letters as u64) {
                break;
            }
            written += chunk.len();
            blank += PER_PAGE - chunk.len();
            let mut faces: Vec<CardFace> =
                chunk.iter().map(|&(card, what)| CardFace::of(card, what, &self.rules)).collect();
            faces.resize_with(PER_PAGE, CardFace::blank);
            let fronts: Vec<String> = faces.iter().map(|face| face.front(&title)).collect();
            let backs: Vec<String> = faces.iter().map(|face| face.back(&title)).collect();
            page_of_cards(&mut html, &fronts, false);
            page_of_cards(&mut html, &backs, true);
        }
        sheet::pages(&mut html, &self.sheets, &title);
        html.push_str("</body>\n</html>\n");
        if written < all.len() {
            let first = &all[written].0.id;
            let text =
                format!("partial: {written} of {} cards and items; {first} and those after it are missing", all.len());
            return (html, text);
        }
        let items = all.iter().filter(|(_, what)| *what == "item").count();
        let told = [
            counted(all.len() - items, "card", "cards"),
            counted(items, "item", "items"),
            counted(blank, "blank card", "blank cards"),
            counted(self.sheets.len(), "sheet", "sheets"),
        ];
        (html, told.join(", "))
    }
}

/// The title of a ruleset with its version, unless the title contains it.
fn title_of(rules: &Ruleset) -> String {
    let version = if rules.title().contains(rules.version()) { "" } else { rules.version() };
    format!("{} {version}", rules.title()).trim_end().to_owned()
}

/// The items of a party: attached to a member or named on a sheet.
fn party_items(session: &Session, rules: &Ruleset, sheets: &[PaperSheet]) -> Vec<Arc<str>> {
    let view = session.view();
    let attached =
        |id: &str| sheets.iter().filter_map(PaperSheet::entity).any(|one| view.attached(one).any(|hook| hook == id));
    let named = |title: &str| sheets.iter().any(|sheet| sheet.names(title));
    let items = rules.items().iter().filter(|item| attached(&item.id) || named(&item.title));
    items.map(|item| item.id.clone()).collect()
}

/// Renders a page of nine cards. Backs are mirrored in each row, so that they match their fronts in double-sided print.
fn page_of_cards(html: &mut String, cards: &[String], is_back: bool) {
    let class = if is_back { "page cards backs" } else { "page cards" };
    let _ = writeln!(html, "<section class=\"{class}\">");
    for row in cards.chunks(COLUMNS) {
        let mut row: Vec<&String> = row.iter().collect();
        if is_back {
            row.reverse();
        }
        row.into_iter().for_each(|card| {
            html.push_str(card);
            html.push('\n');
        });
    }
    html.push_str("</section>\n");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn backs_of_cards_are_printed_in_mirrored_order() {
        let mut html = String::new();
        let cards: Vec<String> = (1..=6).map(|n| format!("[{n}]")).collect();
        page_of_cards(&mut html, &cards, true);
        let order: Vec<&str> = html.lines().filter(|line| line.starts_with('[')).collect();
        assert_eq!(order, ["[3]", "[2]", "[1]", "[6]", "[5]", "[4]"]);
    }

    #[test]
    fn text_of_authors_is_escaped_in_html() {
        assert_eq!(escaped("<b> & \"x\""), "&lt;b&gt; &amp; &quot;x&quot;");
    }
}
