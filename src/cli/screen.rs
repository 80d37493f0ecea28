use std::io::{self, IsTerminal, Write};

use comfy_table::{ColumnConstraint, ContentArrangement, LineStyle, Table, TableStyle, Width};
use riskbreaker::ruleset::plain_json;
use serde::Serialize;

use super::pager::Pager;
use super::row::{Row, Span, columns, harmless, width_of};

/// Where the program's data goes: a terminal of some width, a pipe, or one JSON object a line.
pub struct Screen {
    out: Box<dyn Write>,
    /// Columns of the terminal; `None` where nothing is wrapped.
    width: Option<usize>,
    colour: bool,
    json: bool,
    /// Whether the ids of rules are printed where nobody asks for them.
    rule_ids: bool,
    /// Lines that are kept back for the pager.
    page: Option<Vec<String>>,
}

#[derive(Serialize)]
struct Named<'a, T> {
    event: &'a str,
    #[serde(flatten)]
    rest: &'a T,
}

impl Screen {
    /// Standard output as it is: wrapped and coloured on a terminal, plain in a pipe.
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

    /// Standard output for what is long: page by page on a terminal.
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

    /// Standard error: for what is wrong, not for data.
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

    /// Prints the ids of rules in questions, options and refusals, too.
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

    /// The same, no wider than that also where it is no terminal.
    pub fn at_most(mut self, width: usize) -> Screen {
        self.width = self.width.or(Some(width));
        self
    }

    /// Takes the width of the terminal anew: it may have been dragged since.
    pub fn measure(&mut self) {
        if self.width.is_some() {
            self.width = Some(terminal_width());
        }
    }

    /// Writes one row; in JSON mode rows are for people and are left out.
    pub fn row(&mut self, row: &Row) -> io::Result<()> {
        if self.json {
            return Ok(());
        }
        row.printed(self.width, self.colour).iter().try_for_each(|line| self.line(line))
    }

    /// Writes one line, or keeps it back for the pager.
    fn line(&mut self, line: &str) -> io::Result<()> {
        if let Some(page) = &mut self.page {
            page.push(line.to_owned());
            return Ok(());
        }
        writeln!(self.out, "{line}")?;
        self.out.flush()
    }

    /// From now on lines are kept back until [`Screen::end_page`].
    pub fn begin_page(&mut self) {
        self.page.get_or_insert_default();
    }

    /// Writes what was kept back: through the pager if the terminal would have to be scrolled back by more than a screen.
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

    /// Rows whose cells stand under each other; the last cell of a row wraps in its own column.
    pub fn columns(&mut self, indent: usize, cells: Vec<Vec<Span>>) -> io::Result<()> {
        let rows = columns(indent, cells, self.width);
        self.rows(&rows)
    }

    /// Text that already has its layout, line by line.
    pub fn verbatim(&mut self, text: &str) -> io::Result<()> {
        if self.json {
            return Ok(());
        }
        text.trim_end().lines().try_for_each(|line| self.line(line))
    }

    /// One JSON object on a line of its own.
    pub fn object(&mut self, object: &impl Serialize) -> io::Result<()> {
        let line = plain_json(serde_json::to_string(object)?);
        writeln!(self.out, "{line}")?;
        self.out.flush()
    }

    /// A JSON object that begins with what it is.
    pub fn event(&mut self, event: &str, rest: &impl Serialize) -> io::Result<()> {
        self.object(&Named { event, rest })
    }

    /// Whether the columns of a table stand beside each other without a broken word.
    pub fn fits(&self, header: &[&str], rows: &[Vec<String>]) -> bool {
        let wanted: usize = longest_words(header, rows).iter().map(|wide| wide + GAP).sum();
        self.width.is_none_or(|width| wanted <= width)
    }

    /// A table with a header, fitted to the terminal; where that is too narrow for columns, one paragraph a row.
    pub fn table(&mut self, header: &[&str], rows: Vec<Vec<String>>) -> io::Result<()> {
        // Labels of fields are among the headings, and rules write them.
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

/// A line under the headings, and nothing else.
const RULED: TableStyle = TableStyle::new().header_separator(LineStyle::none().fill('─').junction('─'));

/// Columns of the terminal that a column of a table takes besides its text.
const GAP: usize = 3;

/// The longest word of each column, in columns of the terminal: a narrower column would break it.
fn longest_words(header: &[&str], rows: &[Vec<String>]) -> Vec<usize> {
    let longest = |text: &str| text.split(' ').map(width_of).max().unwrap_or(0);
    let of_column = |(at, head): (usize, &&str)| {
        let cells = rows.iter().filter_map(|row| row.get(at));
        cells.map(|cell| longest(cell)).chain([longest(head)]).max().unwrap_or(0)
    };
    header.iter().enumerate().map(of_column).collect()
}

impl Screen {
    /// The rows one below the other, below the heading of their first column.
    fn paragraphs(&mut self, header: &[&str], rows: &[Vec<String>]) -> io::Result<()> {
        if let Some(first) = header.first().filter(|first| !first.is_empty()) {
            self.row(&Row::at(0).faint(format!("{first}:")))?;
        }
        rows.iter().try_for_each(|row| self.paragraph(header, row))
    }

    /// A row of a table as its first cell with the others below, each behind its heading.
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

/// Whether colour may be used at all: `NO_COLOR` and terminals that know none say no.
pub fn colour_wanted() -> bool {
    let set = |name| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    !set("NO_COLOR") && std::env::var("TERM").map_or(true, |term| term != "dumb")
}

/// Columns of the terminal; 80 where there is none.
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
