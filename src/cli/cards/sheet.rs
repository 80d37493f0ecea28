use std::fmt::Write as _;
use std::sync::Arc;

use riskbreaker::play::{Number, Profile, SheetRow};
use riskbreaker::store::Roster;
use riskbreaker::{Driver, EntityId, Ruleset, Session, Setup, Viewer};

use crate::cli::figures::escaped;
use crate::cli::repl::sheet_lines;

/// The largest maximum of a number for which boxes are printed.
const MOST_BOXES: i64 = 24;
/// The seat without a party.
const MASTER: &str = "gm";
/// The number of empty sheets of each layout, and of layouts that get some.
const EMPTY: usize = 2;
const MOST_LAYOUTS: usize = 2;

/// A character sheet.
pub struct PaperSheet {
    /// Empty for a blank sheet.
    name: String,
    entity: Option<EntityId>,
    rows: Vec<SheetLine>,
}

/// A line of a sheet.
struct SheetLine {
    label: String,
    text: String,
    boxes: Option<Boxes>,
}

/// Boxes to tick: their number, and how many are ticked.
struct Boxes {
    all: usize,
    ticked: usize,
}

/// The size of the sheets of a document, by the number on a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SheetSize {
    Quarter,
    Half,
    Whole,
}

impl PaperSheet {
    pub fn entity(&self) -> Option<EntityId> {
        self.entity
    }

    /// True if a line of the sheet contains this title.
    pub fn names(&self, title: &str) -> bool {
        let title = title.to_lowercase();
        self.rows.iter().any(|row| row.text.to_lowercase().contains(&title))
    }

    fn lines(&self, size: SheetSize) -> usize {
        let (label, text) = size.letters();
        let of = |row: &SheetLine| {
            let boxes = row.boxes.as_ref().map_or(0, |boxes| (boxes.all * 3).div_ceil(text));
            row.label.chars().count().div_ceil(label).max(row.text.chars().count().div_ceil(text) + boxes).max(1)
        };
        self.rows.iter().map(of).sum()
    }
}

impl SheetSize {
    const ALL: [SheetSize; 3] = [SheetSize::Quarter, SheetSize::Half, SheetSize::Whole];

    /// The number of letters of a label and of a text in a line, at 10 points.
    fn letters(self) -> (usize, usize) {
        match self {
            SheetSize::Quarter => (17, 26),
            SheetSize::Half | SheetSize::Whole => (30, 68),
        }
    }

    /// The number of lines below the name.
    fn room(self) -> usize {
        match self {
            SheetSize::Quarter | SheetSize::Half => 20,
            SheetSize::Whole => 50,
        }
    }

    fn on_a_page(self) -> usize {
        match self {
            SheetSize::Quarter => 4,
            SheetSize::Half => 2,
            SheetSize::Whole => 1,
        }
    }

    fn class(self) -> &'static str {
        match self {
            SheetSize::Quarter => "quarter",
            SheetSize::Half => "half",
            SheetSize::Whole => "whole",
        }
    }

    /// The smallest size in which every sheet fits.
    fn for_all(sheets: &[PaperSheet]) -> SheetSize {
        let fits = |size: &SheetSize| sheets.iter().all(|sheet| sheet.lines(*size) <= size.room());
        SheetSize::ALL.into_iter().find(fits).unwrap_or(SheetSize::Whole)
    }
}

/// The sheets of the characters in the default scenario, and blank ones.
pub fn of_ruleset(rules: &Arc<Ruleset>) -> Vec<PaperSheet> {
    let setup = rules.seats().keys().fold(Setup::default(), |setup, seat| setup.seat(seat, Driver::Human));
    let Ok(mut session) = Session::start(rules, setup) else { return Vec::new() };
    if session.advance().is_err() {
        return Vec::new();
    }
    let mut sheets = of_session(&mut session, &|_| true);
    let mut layouts: Vec<Vec<String>> = Vec::new();
    for sheet in &sheets {
        let labels: Vec<String> =
            sheet.rows.iter().map(|row| row.label.clone()).filter(|label| !label.is_empty()).collect();
        if !labels.is_empty() && !layouts.contains(&labels) {
            layouts.push(labels);
        }
    }
    for labels in layouts.iter().take(MOST_LAYOUTS) {
        for _ in 0..EMPTY {
            let line = |label: &String| SheetLine { label: label.clone(), text: String::new(), boxes: None };
            sheets.push(PaperSheet { name: String::new(), entity: None, rows: labels.iter().map(line).collect() });
        }
    }
    sheets
}

/// The sheets of the characters that people play, and of those of the roster that are not in the scene.
pub fn of_party(session: &mut Session, roster: &Roster) -> Vec<PaperSheet> {
    let people: Vec<Arc<str>> = session
        .seats()
        .iter()
        .filter(|(seat, driver)| **driver == Driver::Human && ***seat != *MASTER)
        .map(|(seat, _)| seat.clone())
        .collect();
    let mut sheets = of_session(session, &|profile| profile.seat.as_ref().is_none_or(|seat| people.contains(seat)));
    for (name, character) in &roster.characters {
        if sheets.iter().all(|sheet| sheet.name != *name) {
            let lines = sheet_lines(character).into_iter();
            let rows = lines.map(|(label, text)| SheetLine { label, text, boxes: None }).collect();
            sheets.push(PaperSheet { name: name.clone(), entity: None, rows });
        }
    }
    sheets
}

/// The sheets of the entities whose profile `wanted` accepts.
fn of_session(session: &mut Session, wanted: &dyn Fn(&Profile) -> bool) -> Vec<PaperSheet> {
    let rules = session.ruleset().clone();
    let mut seat = session.seen_by(Viewer::master());
    let profiles = seat.profiles();
    let ids: Vec<(EntityId, String)> = {
        let view = seat.view();
        let has_sheet = |id: &EntityId| {
            let kind = view.kind(*id).and_then(|kind| rules.schema().kind_named(kind));
            kind.is_some_and(|kind| rules.schema().kind(kind).sheet)
        };
        view.entities().filter(has_sheet).map(|id| (id, view.title(id).to_string())).collect()
    };
    let nothing = Profile::default();
    let ids = ids.into_iter().filter(|(id, _)| wanted(profiles.get(id).unwrap_or(&nothing)));
    let mut sheets = Vec::new();
    for (id, name) in ids {
        let Ok(rows) = seat.sheet_rows(id) else { continue };
        let shown: Vec<Arc<str>> = rows.iter().filter_map(|row| Some(row.number.as_ref()?.name.clone())).collect();
        let mut rows: Vec<SheetLine> = rows.into_iter().map(SheetLine::of).collect();
        // Numbers without a line on the sheet get one, so that they can be ticked.
        for number in profiles.get(&id).map_or(&[][..], |profile| profile.numbers.as_slice()) {
            let boxes = Boxes::of(number);
            let is_shown =
                shown.contains(&number.name) || rows.iter().any(|row| row.label.eq_ignore_ascii_case(&number.label));
            if boxes.is_some() && !is_shown {
                rows.push(SheetLine { label: number.label.to_string(), text: number.text(), boxes });
            }
        }
        sheets.push(PaperSheet { name, entity: Some(id), rows });
    }
    sheets
}

impl SheetLine {
    fn of(row: SheetRow) -> SheetLine {
        let boxes = row.number.as_ref().and_then(Boxes::of);
        SheetLine { label: row.label, text: row.text, boxes }
    }
}

impl Boxes {
    /// The boxes of a number with a small maximum; harm or loss is ticked. `None` for any other number.
    fn of(number: &Number) -> Option<Boxes> {
        let max = number.max.filter(|max| (1..=MOST_BOXES).contains(max))?;
        let ticked = if number.harm { number.value } else { max - number.value };
        Some(Boxes { all: usize::try_from(max).ok()?, ticked: usize::try_from(ticked.clamp(0, max)).ok()? })
    }

    fn html(&self) -> String {
        let one = |at: usize| if at < self.ticked { "<i class=\"box\">×</i>" } else { "<i class=\"box\"></i>" };
        format!("<span class=\"boxes\">{}</span>", (0..self.all).map(one).collect::<String>())
    }
}

/// Renders the pages of the sheets. Each is followed by a page for notes, so that no sheet is printed on the back of
/// another.
pub fn pages(html: &mut String, sheets: &[PaperSheet], title: &str) {
    let size = SheetSize::for_all(sheets);
    let class = size.class();
    for chunk in sheets.chunks(size.on_a_page()) {
        let _ = writeln!(html, "<section class=\"page sheets {class}\">");
        chunk.iter().for_each(|sheet| {
            let _ = writeln!(html, "{}", sheet.html(title));
        });
        let _ = writeln!(html, "</section>\n<section class=\"page sheets {class} backs\">");
        let lines = "<i></i>".repeat(if size == SheetSize::Whole { 28 } else { 12 });
        for _ in 0..size.on_a_page() {
            let _ = writeln!(
                html,
                "<div class=\"sheet\"><p class=\"name\">Notes</p><div class=\"lines\">{lines}</div></div>"
            );
        }
        html.push_str("</section>\n");
    }
}

impl PaperSheet {
    fn html(&self, title: &str) -> String {
        let mut rows = String::new();
        for row in &self.rows {
            let boxes = row.boxes.as_ref().map(Boxes::html).unwrap_or_default();
            let text = if self.name.is_empty() { "&nbsp;".to_owned() } else { escaped(&row.text) };
            let _ = match row.label.is_empty() {
                true => write!(rows, "<tr><td colspan=\"2\">{text}{boxes}</td></tr>"),
                false => write!(rows, "<tr><th scope=\"row\">{}</th><td>{text}{boxes}</td></tr>", escaped(&row.label)),
            };
        }
        let name = match self.name.is_empty() {
            true => "<p class=\"name\">Name</p>".to_owned(),
            false => format!("<h2>{}</h2>", escaped(&self.name)),
        };
        format!("<div class=\"sheet\">{name}<table>{rows}</table><footer>{title}</footer></div>")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn number(value: i64, max: Option<i64>, harm: bool) -> Number {
        Number { name: "hp".into(), label: "HP".into(), value, max, unit: None, harm }
    }

    #[test]
    fn lost_points_and_harm_are_ticked_on_a_sheet() {
        let ticked = |number: Number| Boxes::of(&number).map(|boxes| (boxes.all, boxes.ticked));
        assert_eq!(ticked(number(2, Some(5), true)), Some((5, 2)));
        assert_eq!(ticked(number(2, Some(5), false)), Some((5, 3)));
        assert_eq!(ticked(number(-3, Some(5), false)), Some((5, 5)));
        assert_eq!(ticked(number(2, None, true)), None);
        assert_eq!(ticked(number(2, Some(MOST_BOXES + 1), true)), None);
    }

    #[test]
    fn long_sheets_get_more_room() {
        let sheet = |lines: usize| PaperSheet {
            name: "Ann".into(),
            entity: None,
            rows: (0..lines)
                .map(|at| SheetLine { label: format!("line {at}"), text: "x".repeat(20), boxes: None })
                .collect(),
        };
        assert_eq!(SheetSize::for_all(&[sheet(10)]), SheetSize::Quarter);
        assert_eq!(SheetSize::for_all(&[sheet(10), sheet(40)]), SheetSize::Whole);
    }
}
