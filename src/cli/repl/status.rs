//! The heading of a turn at a terminal: a rule, and a line for each side; and the positions as a line or a small map.
//! All of it comes from what the kinds of a ruleset declare: seat, side, numbers and position.

use std::collections::BTreeMap;
use std::sync::Arc;

use riskbreaker::Question;
use riskbreaker::play::{Number, Order, Position, Profile, TurnState};

use super::{Done, Repl};
use crate::cli::figures::full_bar;
use crate::cli::row::{Row, Tone, width_of};

/// The width of a bar.
const BAR: usize = 6;
/// The most characters of a side that are listed.
const MOST_LISTED: usize = 8;
/// The widest line across the screen.
const WIDEST: usize = 80;
/// The size of a map.
const MOST_COLUMNS: usize = 60;
const MOST_LINES: usize = 9;
/// The marks for characters on a map.
const MARKS: &str = "123456789abcdefghijkmnopqrstuvwxyz";

impl Repl {
    /// Prints the heading of a turn at a terminal: a blank line, a rule, and the status of the sides. Later questions
    /// of the same turn have no heading.
    pub(super) fn begin_turn(&mut self, question: &Question) -> Done {
        if !self.attended || self.screen.json() {
            return Ok(());
        }
        let standing = self.session.prompt();
        let turn = (question.id.action, question.about, standing.clone());
        let same = |known: &(u32, _, String)| known.0 == turn.0 || known.1 == turn.1 && known.2 == turn.2;
        if self.turn.as_ref().is_some_and(same) {
            return Ok(());
        }
        self.turn = Some(turn);
        let width = self.screen.width().unwrap_or(WIDEST).min(WIDEST);
        self.screen.row(&Row::default())?;
        self.screen.row(&rule(&standing, width))?;
        let order = self.session.order_of_play();
        let profiles = self.session.profiles();
        for row in side_rows(&profiles).into_iter().chain(order.as_ref().and_then(order_row)) {
            self.screen.row(&row)?;
        }
        Ok(())
    }

    /// Prints the positions at a terminal, if the rules have a plane.
    pub(super) fn show_positions(&mut self) -> Done {
        if !self.attended || self.screen.json() {
            return Ok(());
        }
        let placed: Vec<(Arc<str>, Position)> = self
            .session
            .profiles()
            .into_iter()
            .filter_map(|(title, profile)| Some((title, profile.position.filter(|position| position.x.is_some())?)))
            .collect();
        let width = self.screen.width().unwrap_or(WIDEST);
        Ok(self.screen.rows(&map(&placed, width))?)
    }
}

/// A rule across the screen with a heading in it.
fn rule(heading: &str, width: usize) -> Row {
    // If the heading does not fit, its first part is used.
    let first = heading.split([';', ',']).next().unwrap_or_default();
    let heading = [heading, first].into_iter().find(|text| width_of(text) + 6 <= width).unwrap_or_default();
    let heading = if heading.is_empty() { String::new() } else { format!(" {heading} ") };
    let left = width.saturating_sub(2 + width_of(&heading));
    Row::at(0).faint("──").strong(heading).faint("─".repeat(left))
}

/// A row for each side: its characters, each with a bar of its most important number.
fn side_rows(profiles: &[(Arc<str>, Profile)]) -> Vec<Row> {
    let mut sides: BTreeMap<Arc<str>, Vec<(&Arc<str>, &Number)>> = BTreeMap::new();
    for (title, profile) in profiles {
        let side = profile.side.as_ref().map(|side| side.title.clone()).or_else(|| profile.seat.clone());
        if let (Some(side), Some(number)) = (side, profile.numbers.first()) {
            sides.entry(side).or_default().push((title, number));
        }
    }
    let widest = sides.keys().map(|side| width_of(side)).max().unwrap_or(0);
    let rows = sides.into_iter().map(|(side, all)| {
        let pad = " ".repeat(widest - width_of(&side));
        let mut row = Row::at(2).faint(format!("{side}{pad}  "));
        for (at, (title, number)) in all.iter().take(MOST_LISTED).enumerate() {
            let label = if at == 0 { format!("{} ", number.label) } else { String::new() };
            // A name and its number stay on one line.
            let together = |text: &str| text.replace(' ', "\u{a0}");
            let text = together(&format!("{title}{}", measure(number, &label)));
            row = row.plain(if at == 0 { "" } else { " · " }).plain(text);
        }
        match all.len().saturating_sub(MOST_LISTED) {
            0 => row,
            more => row.faint(format!(" and {more} more")),
        }
    });
    rows.collect()
}

/// A number after a name: with a bar of what is left if it has a maximum; empty if it is 0 and has no maximum.
fn measure(number: &Number, label: &str) -> String {
    match number.max {
        Some(max) if max > 0 => {
            let left = if number.harm { max - number.value } else { number.value };
            let share = left.clamp(0, max) as f64 / max as f64;
            format!(" {} {label}{}/{max}", full_bar(share, BAR), number.value)
        }
        _ if number.value == 0 => String::new(),
        _ => format!(" {label}{}", number.value),
    }
}

/// The order of play in a row, if it goes by a count: the characters at each count.
fn order_row(order: &Order) -> Option<Row> {
    let mut at: BTreeMap<i64, Vec<String>> = BTreeMap::new();
    for turn in order.turns.iter().filter(|turn| turn.state != TurnState::Out) {
        let now = if turn.state == TurnState::Now { "▶" } else { "" };
        at.entry(turn.at?).or_default().push(format!("{now}{}", turn.title));
    }
    if at.len() < 2 {
        return None;
    }
    let segments = at.into_iter().map(|(count, who)| format!("{count} {}", who.join(", ")));
    let label = order.label.as_deref().unwrap_or_default();
    Some(Row::at(2).faint(format!("{label}  ")).plain(segments.collect::<Vec<_>>().join(" │ ")))
}

/// A character on a map: its mark, title and coordinates.
type Marked<'m> = (char, &'m Arc<str>, f64, f64);

/// Draws positions in the plane: a line if all are on one, otherwise a map.
fn map(placed: &[(Arc<str>, Position)], width: usize) -> Vec<Row> {
    let marked: Vec<Marked<'_>> = MARKS
        .chars()
        .zip(placed)
        .filter_map(|(mark, (title, position))| Some((mark, title, position.x?, position.y?)))
        .collect();
    let range = |of: fn(&Marked<'_>) -> f64| {
        let values = || marked.iter().map(of);
        (values().fold(f64::INFINITY, f64::min), values().fold(f64::NEG_INFINITY, f64::max))
    };
    let ((left, right), (low, high)) = (range(|one| one.2), range(|one| one.3));
    if marked.len() < 2 || right - left <= 0.0 && high - low <= 0.0 {
        return Vec::new();
    }
    let columns = width.saturating_sub(4).clamp(8, MOST_COLUMNS);
    // A character cell is twice as high as it is wide.
    let scale = ((right - left) / (columns - 1) as f64).max((high - low) / (2.0 * (MOST_LINES - 1) as f64)).max(1e-9);
    let lines = ((high - low) / scale / 2.0).round() as usize + 1;
    let mut grid = vec![vec!['·'; columns]; lines.min(MOST_LINES)];
    for (mark, _, x, y) in &marked {
        let column = (((x - left) / scale).round() as usize).min(columns - 1);
        let line = (((high - y) / scale / 2.0).round() as usize).min(grid.len() - 1);
        // A character on an occupied cell is moved to the side.
        let free = (column..columns).chain((0..column).rev()).find(|at| grid[line][*at] == '·').unwrap_or(column);
        grid[line][free] = *mark;
    }
    let mut rows: Vec<Row> = grid.iter().map(|line| Row::at(2).faint(line.iter().collect::<String>())).collect();
    let unit = placed.iter().find_map(|(_, position)| position.unit.clone()).unwrap_or_default();
    let legend = marked.iter().map(|(mark, title, ..)| format!("{mark} {title}")).collect::<Vec<_>>().join(" · ");
    let size = format!("  ({:.0} {unit} wide)", scale * (columns - 1) as f64);
    rows.push(Row::at(2).plain(legend).with(size, Tone::Faint));
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    fn number(value: i64, max: Option<i64>, harm: bool) -> Number {
        Number { name: "hp".into(), label: "HP".into(), value, max, unit: None, harm }
    }

    fn bare(rows: &[Row]) -> Vec<String> {
        rows.iter().map(Row::bare).collect()
    }

    #[test]
    fn a_side_is_a_row_with_bars() {
        let of = |title: &str, seat: &str, number| {
            let profile = Profile { seat: Some(seat.into()), numbers: vec![number], ..Profile::default() };
            (Arc::from(title), profile)
        };
        let rows = side_rows(&[
            of("Ann", "us", number(3, Some(6), false)),
            of("Bob", "us", number(0, None, true)),
            of("Ogre", "them", number(6, Some(6), true)),
        ]);
        let plain = |row: &String| row.replace('\u{a0}', " ");
        let rows: Vec<String> = bare(&rows).iter().map(plain).collect();
        assert_eq!(rows, ["  them  Ogre ░░░░░░ HP 6/6", "  us    Ann ███░░░ HP 3/6 · Bob"]);
    }

    #[test]
    fn positions_on_a_line_are_a_line() {
        let at = |title: &str, x, y| (Arc::from(title), Position { x: Some(x), y: Some(y), ..Position::default() });
        let rows = bare(&map(&[at("Ann", 0.0, 0.0), at("Bob", 7.0, 0.0)], 12));
        assert_eq!(rows, ["  1······2", "  1 Ann · 2 Bob  (7  wide)"]);
        let rows = bare(&map(&[at("Ann", 0.0, 0.0), at("Bob", 7.0, 4.0), at("Cid", 0.0, 0.0)], 12));
        assert_eq!(rows.len(), 4);
        assert_eq!((rows[0].as_str(), rows[2].as_str()), ("  ·······2", "  13······"));
        assert!(map(&[at("Ann", 0.0, 0.0)], 80).is_empty());
    }

    #[test]
    fn the_rule_is_as_wide_as_the_screen() {
        for heading in ["round 1", "round 1; this one is much too long for a line of forty", ""] {
            assert_eq!(width_of(&rule(heading, 40).bare()), 40, "{heading}");
        }
    }
}
