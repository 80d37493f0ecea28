use std::io::{self, IsTerminal, Write};

use comfy_table::{ColumnConstraint, ContentArrangement, LineStyle, Table, TableStyle, Width};
use riskbreaker::ruleset::plain_json;
use serde::Serialize;

use super::pager::Pager;
use super::row::{Row, Span, columns, harmless, width_of};

/// The output of the program: a terminal of some width, a pipe, or lines of JSON objects.
pub struct Screen {
    out: Box<dyn Write>,
    /// The width of the terminal; `None` if nothing is wrapped.
    width: Option<usize>,
    colour: bool,
    json: bool,
    /// True if rule ids are printed in questions, options and refusals.
    rule_ids: bool,
    /// Lines that are buffered for the pager.
    page: Option<Vec<String>>,
}

#[derive(Serialize)]
struct NamedEvent<'a, T> {
    event: &'a str,
    #[serde(flatten)]
    rest: &'a T,
}

impl Screen {
    /// Standard output: wrapped and coloured on a terminal, plain in a pipe.
    pub fn stdout(json: bool) -> Screen {
        let terminal = io::stdout().is_terminal();
        Screen {
            out: Box::new(io::stdout()),
            width: terminal.then(terminal_width),
            colour: terminal && !json && colour_wanted(),
            json,
            rule_ids: false,
            page: None,
        }
    }

    /// Standard output for long texts: page by page on a terminal.
    pub fn paged(json: bool) -> Screen {
        let mut screen = Screen::stdout(json);
        if screen.width.is_some()
            && !json
            && let Some(pager) = Pager::start()
        {
            screen.out = Box::new(pager);
        }
        screen
    }

    /// Standard error, for errors.
    pub fn stderr() -> Screen {
        let terminal = io::stderr().is_terminal();
        Screen {
            out: Box::new(io::stderr()),
            width: terminal.then(terminal_width),
            colour: terminal && colour_wanted(),
            json: false,
            rule_ids: false,
            page: None,
        }
    }

    pub fn json(&self) -> bool {
        self.json
    }

    /// Sets whether rule ids are printed in questions, options and refusals.
    pub fn with_rule_ids(mut self, rule_ids: bool) -> Screen {
        self.rule_ids = rule_ids;
        self
    }

    pub fn rule_ids(&self) -> bool {
        self.rule_ids
    }

    pub fn coloured(&self) -> bool {
        self.colour
    }

    pub fn width(&self) -> Option<usize> {
        self.width
    }

    /// Limits the width, also if the output is no terminal.
    pub fn at_most(mut self, width: usize) -> Screen {
        self.width = self.width.or(Some(width));
        self
    }

    /// Updates the width of the terminal, which may have been resized.
    pub fn measure(&mut self) {
        if self.width.is_some() {
            self.width = Some(terminal_width());
        }
    }

    /// Writes one row. In JSON mode nothing is written, since rows are for people.
    pub fn row(&mut self, row: &Row) -> io::Result<()> {
        if self.json {
            return Ok(());
        }
        row.printed(self.width, self.colour).iter().try_for_each(|line| self.line(line))
    }

    /// Writes one line, or buffers it for the pager.
    fn line(&mut self, line: &str) -> io::Result<()> {
        if let Some(page) = &mut self.page {
            page.push(line.to_owned());
            return Ok(());
        }
        writeln!(self.out, "{line}")?;
        self.out.flush()
    }

    /// Buffers lines until [`Screen::end_page`].
    pub fn begin_page(&mut self) {
        self.page.get_or_insert_default();
    }

    /// Writes the buffered lines, through the pager if they fill at least two screens.
    pub fn end_page(&mut self) -> io::Result<()> {
        let Some(lines) = self.page.take() else { return Ok(()) };
        let tall = terminal_size::terminal_size().map_or(usize::MAX, |(_, height)| usize::from(height.0));
        if lines.len() >= tall.saturating_mul(2)
            && let Some(mut pager) = Pager::start()
        {
            return lines.iter().try_for_each(|line| writeln!(pager, "{line}"));
        }
        lines.iter().try_for_each(|line| self.line(line))
    }

    pub fn rows(&mut self, rows: &[Row]) -> io::Result<()> {
        rows.iter().try_for_each(|row| self.row(row))
    }

    /// Writes rows with aligned cells. The last cell of a row wraps in its own column.
    pub fn columns(&mut self, indent: usize, cells: Vec<Vec<Span>>) -> io::Result<()> {
        let rows = columns(indent, cells, self.width);
        self.rows(&rows)
    }

    /// Writes a preformatted text, line by line.
    pub fn verbatim(&mut self, text: &str) -> io::Result<()> {
        if self.json {
            return Ok(());
        }
        text.trim_end().lines().try_for_each(|line| self.line(line))
    }

    /// Writes one JSON object as a line.
    pub fn object(&mut self, object: &impl Serialize) -> io::Result<()> {
        let line = plain_json(serde_json::to_string(object)?);
        writeln!(self.out, "{line}")?;
        self.out.flush()
    }

    /// Writes a JSON object whose first member is the name of the event.
    pub fn event(&mut self, event: &str, rest: &impl Serialize) -> io::Result<()> {
        self.object(&NamedEvent { event, rest })
    }

    /// True if the columns of a table fit next to each other without breaking a word.
    pub fn fits(&self, header: &[&str], rows: &[Vec<String>]) -> bool {
        let wanted: usize = longest_words(header, rows).iter().map(|wide| wide + GAP).sum();
        self.width.is_none_or(|width| wanted <= width)
    }

    /// Writes a table with a header, fitted to the terminal; if that is too narrow for columns, one paragraph for each
    /// row.
    pub fn table(&mut self, header: &[&str], rows: Vec<Vec<String>>) -> io::Result<()> {
        // Headings may be labels of fields, which rules choose.
        let header: Vec<String> = header.iter().map(|heading| harmless(heading)).collect();
        let header: Vec<&str> = header.iter().map(String::as_str).collect();
        if !self.fits(&header, &rows) {
            return self.paragraphs(&header, &rows);
        }
        let words = longest_words(&header, &rows);
        let mut table = Table::new();
        table.force_no_tty().load_style(RULED).set_header(header);
        if let Some(width) = self.width {
            table
                .set_content_arrangement(ContentArrangement::Dynamic)
                .set_width(u16::try_from(width).unwrap_or(u16::MAX))
                .set_constraints(words.iter().map(|wide| {
                    ColumnConstraint::LowerBoundary(Width::Fixed(u16::try_from(wide + GAP - 1).unwrap_or(u16::MAX)))
                }));
        }
        for row in rows {
            table.add_row(row.iter().map(|cell| harmless(cell)).collect::<Vec<_>>());
        }
        let text: Vec<String> = table.lines().map(|line| line.trim_end().to_owned()).collect();
        self.verbatim(&text.join("\n"))
    }
}

/// A table style with only a line under the headings.
const RULED: TableStyle = TableStyle::new().header_separator(LineStyle::none().fill('─').junction('─'));

/// The width that a column of a table takes in addition to its text.
const GAP: usize = 3;

/// The width of the longest word of each column: a narrower column would break it.
fn longest_words(header: &[&str], rows: &[Vec<String>]) -> Vec<usize> {
    let longest = |text: &str| text.split(' ').map(width_of).max().unwrap_or(0);
    let of_column = |(at, head): (usize, &&str)| {
        let cells = rows.iter().filter_map(|row| row.get(at));
        cells.map(|cell| longest(cell)).chain([longest(head)]).max().unwrap_or(0)
    };
    header.iter().enumerate().map(of_column).collect()
}

impl Screen {
    /// Writes the rows one below the other, below the heading of their first column.
    fn paragraphs(&mut self, header: &[&str], rows: &[Vec<String>]) -> io::Result<()> {
        if let Some(first) = header.first().filter(|first| !first.is_empty()) {
            self.row(&Row::at(0).faint(format!("{first}:")))?;
        }
        rows.iter().try_for_each(|row| self.paragraph(header, row))
    }

    /// Writes a row of a table as its first cell with the others below, each after its heading.
    fn paragraph(&mut self, header: &[&str], row: &[String]) -> io::Result<()> {
        let mut cells = header.iter().zip(row);
        if let Some((_, first)) = cells.next() {
            self.row(&Row::at(0).strong(first))?;
        }
        let told = cells.filter(|(_, cell)| !cell.is_empty());
        let told = told.map(|(heading, cell)| vec![Span::faint(heading), Span::plain(cell)]).collect();
        self.columns(2, told)
    }
}

/// True if colour may be used: not with `NO_COLOR`, or on a terminal without colours.
pub fn colour_wanted() -> bool {
    let set = |name| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    !set("NO_COLOR") && std::env::var("TERM").map_or(true, |term| term != "dumb")
}

/// The width of the terminal; 80 if there is none.
pub fn terminal_width() -> usize {
    terminal_size::terminal_size().map_or(80, |(width, _)| usize::from(width.0).max(8))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headings_of_a_table_cannot_steer_the_terminal() {
        for width in [None, Some(8)] {
            let (out, page) = (Box::new(io::sink()), Some(Vec::new()));
            let mut screen = Screen { out, width, colour: false, json: false, rule_ids: false, page };
            screen.table(&["kind", "a\u{1b}[2Jb\nc"], vec![vec!["Ann".into(), "2".into()]]).unwrap();
            let lines = screen.page.unwrap_or_default();
            assert!(!lines.is_empty() && !lines.concat().chars().any(char::is_control), "{lines:?}");
        }
    }
}
