use std::io::{self, IsTerminal, Write};

use comfy_table::{ContentArrangement, LineStyle, Table, TableStyle};
use serde::Serialize;

/// Where the program's data goes: a terminal of some width, a pipe, or one JSON object a line.
pub struct Screen {
    out: Box<dyn Write>,
    /// Columns of the terminal; `None` where nothing is wrapped.
    width: Option<usize>,
    colour: bool,
    json: bool,
}

/// How a piece of text stands out, where there is colour.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Tone {
    #[default]
    Plain,
    Strong,
    Faint,
    Good,
    Bad,
    Note,
}

/// A piece of text in one tone.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Span {
    text: String,
    tone: Tone,
}

#[derive(Serialize)]
struct Named<'a, T> {
    event: &'a str,
    #[serde(flatten)]
    rest: &'a T,
}

/// One line of output, wrapped where the terminal ends.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Row {
    indent: usize,
    /// Where the lines start that are left over when the row is wrapped.
    hang: usize,
    spans: Vec<Span>,
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
        }
    }

    /// Standard error: for what is wrong, not for data.
    pub fn stderr() -> Screen {
        let terminal = io::stderr().is_terminal();
        Screen {
            out: Box::new(io::stderr()),
            width: terminal.then(terminal_width),
            colour: terminal && colour_wanted(),
            json: false,
        }
    }

    #[cfg(test)]
    pub fn to(out: impl Write + 'static, width: Option<usize>) -> Screen {
        Screen { out: Box::new(out), width, colour: false, json: false }
    }

    pub fn json(&self) -> bool {
        self.json
    }

    pub fn coloured(&self) -> bool {
        self.colour
    }

    pub fn width(&self) -> Option<usize> {
        self.width
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
        for line in row.lines(self.width) {
            let painted = paint(&line, self.colour);
            writeln!(self.out, "{painted}")?;
        }
        self.out.flush()
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
        writeln!(self.out, "{}", text.trim_end())?;
        self.out.flush()
    }

    /// One JSON object on a line of its own.
    pub fn object(&mut self, object: &impl Serialize) -> io::Result<()> {
        let line = serde_json::to_string(object)?;
        writeln!(self.out, "{line}")?;
        self.out.flush()
    }

    /// A JSON object that begins with what it is.
    pub fn event(&mut self, event: &str, rest: &impl Serialize) -> io::Result<()> {
        self.object(&Named { event, rest })
    }

    /// A table with a header, fitted to the terminal; where that is too narrow for columns, one paragraph a row.
    pub fn table(&mut self, header: &[&str], rows: Vec<Vec<String>>) -> io::Result<()> {
        if self.width.is_some_and(|width| width < header.len() * NARROWEST_COLUMN) {
            return rows.iter().try_for_each(|row| self.paragraph(header, row));
        }
        let mut table = Table::new();
        table.force_no_tty().load_style(RULED).set_header(header.to_vec());
        if let Some(width) = self.width {
            table
                .set_content_arrangement(ContentArrangement::Dynamic)
                .set_width(u16::try_from(width).unwrap_or(u16::MAX));
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

/// Columns of the terminal that a column of a table takes at least.
const NARROWEST_COLUMN: usize = 16;

impl Screen {
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

impl Span {
    pub fn new(text: impl AsRef<str>, tone: Tone) -> Span {
        Span { text: harmless(text.as_ref()), tone }
    }

    pub fn plain(text: impl AsRef<str>) -> Span {
        Span::new(text, Tone::Plain)
    }

    pub fn faint(text: impl AsRef<str>) -> Span {
        Span::new(text, Tone::Faint)
    }

    pub fn strong(text: impl AsRef<str>) -> Span {
        Span::new(text, Tone::Strong)
    }
}

impl Row {
    /// An empty row that starts `indent` columns in; what is wrapped starts two columns further.
    pub fn at(indent: usize) -> Row {
        Row { indent, hang: indent + 2, spans: Vec::new() }
    }

    /// A row of prose: its lines all start where the first does.
    pub fn prose(indent: usize) -> Row {
        Row { indent, hang: indent, spans: Vec::new() }
    }

    pub fn plain(self, text: impl AsRef<str>) -> Row {
        self.with(text, Tone::Plain)
    }

    pub fn strong(self, text: impl AsRef<str>) -> Row {
        self.with(text, Tone::Strong)
    }

    pub fn faint(self, text: impl AsRef<str>) -> Row {
        self.with(text, Tone::Faint)
    }

    pub fn with(mut self, text: impl AsRef<str>, tone: Tone) -> Row {
        self.spans.push(Span::new(text, tone));
        self
    }

    /// The row without colour, wrapped nowhere.
    #[cfg(test)]
    pub fn bare(&self) -> String {
        self.lines(None).iter().map(|line| paint(line, false)).collect()
    }

    fn lines(&self, width: Option<usize>) -> Vec<Vec<Span>> {
        let mut lines = vec![vec![Span::plain(" ".repeat(self.indent))]];
        let mut column = self.indent;
        // A terminal narrower than its own indent still gets its words, one under the other.
        let width = width.map_or(usize::MAX, |width| width.max(8));
        let hang = if self.hang + 8 > width { 0 } else { self.hang };
        for span in &self.spans {
            for piece in pieces(&span.text) {
                let wide = width_of(piece);
                let blank = piece.starts_with(' ');
                let fresh = column <= hang && lines.len() > 1;
                if blank && fresh {
                    continue;
                }
                if column + wide <= width {
                    push(&mut lines, piece, span.tone);
                    column += wide;
                    continue;
                }
                if blank {
                    lines.push(vec![Span::plain(" ".repeat(hang))]);
                    column = hang;
                    continue;
                }
                if !fresh && column > self.indent {
                    lines.push(vec![Span::plain(" ".repeat(hang))]);
                    column = hang;
                }
                for letter in piece.chars() {
                    let wide = char_width(letter);
                    if column + wide > width {
                        lines.push(vec![Span::plain(" ".repeat(hang))]);
                        column = hang;
                    }
                    push(&mut lines, letter.encode_utf8(&mut [0; 4]), span.tone);
                    column += wide;
                }
            }
        }
        lines
    }
}

/// Rows whose cells stand under each other, two blanks between them.
///
/// Where the terminal is too narrow for that, a row is its cells one after the other.
pub fn columns(indent: usize, cells: Vec<Vec<Span>>, width: Option<usize>) -> Vec<Row> {
    let count = cells.iter().map(Vec::len).max().unwrap_or(0);
    let mut wides = vec![0; count];
    for row in &cells {
        for (at, cell) in row.iter().enumerate() {
            wides[at] = wides[at].max(width_of(&cell.text));
        }
    }
    // A column that is empty in every row takes no room.
    let start: usize = wides.iter().take(count.saturating_sub(1)).filter(|wide| **wide > 0).map(|wide| wide + 2).sum();
    let last = wides.last().copied().unwrap_or(0);
    let fits = width.is_none_or(|width| indent + start + last.min(12.max(width / 3)) <= width);
    cells
        .into_iter()
        .map(|row| {
            let mut built = Row::at(indent);
            built.hang = if fits { indent + start } else { indent + 4 };
            let mut due = 0;
            for (at, cell) in row.into_iter().enumerate() {
                let wide = width_of(&cell.text);
                if fits {
                    if wide > 0 && due > 0 {
                        built.spans.push(Span::plain(" ".repeat(due)));
                        due = 0;
                    }
                    due += if wides[at] > 0 { wides[at] - wide + 2 } else { 0 };
                } else if wide > 0 && !built.spans.is_empty() {
                    built.spans.push(Span::plain("  "));
                }
                if wide > 0 {
                    built.spans.push(cell);
                }
            }
            built
        })
        .collect()
}

/// The text without anything that could steer a terminal: rules and players write it, and a line is a line.
pub fn harmless(text: &str) -> String {
    text.chars()
        .filter_map(|letter| match letter {
            '\n' | '\t' | '\r' => Some(' '),
            '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => None,
            letter if letter.is_control() => None,
            letter => Some(letter),
        })
        .collect()
}

/// Columns that a text takes on a terminal.
pub fn width_of(text: &str) -> usize {
    text.chars().map(char_width).sum()
}

fn char_width(_: char) -> usize {
    1
}

/// Words and the blanks between them, in turn.
fn pieces(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let first = rest.chars().next()?;
        let end = rest.find(|letter| (letter == ' ') != (first == ' ')).unwrap_or(rest.len());
        let (piece, left) = rest.split_at(end);
        rest = left;
        Some(piece)
    })
}

fn push(lines: &mut [Vec<Span>], text: &str, tone: Tone) {
    let Some(line) = lines.last_mut() else { return };
    match line.last_mut() {
        Some(span) if span.tone == tone => span.text.push_str(text),
        _ => line.push(Span { text: text.to_owned(), tone }),
    }
}

fn paint(line: &[Span], colour: bool) -> String {
    let mut text = String::new();
    for span in line {
        let code = match span.tone {
            Tone::Plain => "",
            Tone::Strong => "1",
            Tone::Faint => "2",
            Tone::Good => "32",
            Tone::Bad => "31",
            Tone::Note => "33",
        };
        if colour && !code.is_empty() && !span.text.trim().is_empty() {
            text.push_str(&format!("\u{1b}[{code}m{}\u{1b}[0m", span.text));
        } else {
            text.push_str(&span.text);
        }
    }
    text.trim_end().to_owned()
}

/// Whether colour may be used at all: `NO_COLOR` and terminals that know none say no.
pub fn colour_wanted() -> bool {
    let set = |name| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    !set("NO_COLOR") && std::env::var("TERM").map_or(true, |term| term != "dumb")
}

fn terminal_width() -> usize {
    terminal_size::terminal_size().map_or(80, |(width, _)| usize::from(width.0).max(8))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wrapped(row: &Row, width: usize) -> Vec<String> {
        row.lines(Some(width)).iter().map(|line| paint(line, false)).collect()
    }

    #[test]
    fn a_row_wraps_between_words_and_hangs_two_columns_further() {
        let row = Row::at(2).plain("the quick brown fox jumps");
        assert_eq!(wrapped(&row, 16), ["  the quick", "    brown fox", "    jumps"]);
    }

    #[test]
    fn a_word_longer_than_the_terminal_is_broken_and_nothing_is_lost() {
        let row = Row::at(0).plain("aaaaaaaaaaaaaaaaaaaaaa b");
        let lines = wrapped(&row, 10);
        assert!(lines.iter().all(|line| line.len() <= 10), "{lines:?}");
        assert_eq!(lines.concat().replace(' ', ""), "aaaaaaaaaaaaaaaaaaaaaab");
    }

    #[test]
    fn cells_stand_under_each_other_and_the_last_one_wraps_in_its_column() {
        let rows = columns(
            2,
            vec![
                vec![Span::plain("1"), Span::plain("strike"), Span::plain("a long remark on it")],
                vec![Span::plain("-"), Span::plain("rest"), Span::plain("no time")],
            ],
            Some(26),
        );
        assert_eq!(wrapped(&rows[0], 26), ["  1  strike  a long remark", "             on it"]);
        assert_eq!(wrapped(&rows[1], 26), ["  -  rest    no time"]);
    }

    #[test]
    fn text_of_rules_and_players_cannot_steer_the_terminal() {
        assert_eq!(harmless("a\u{1b}[2Jb\nc\u{202e}d"), "a[2Jb cd");
    }

    #[test]
    fn a_column_that_is_empty_everywhere_takes_no_room() {
        let rows = columns(0, vec![vec![Span::plain("a"), Span::plain(""), Span::plain("b")]], None);
        assert_eq!(rows[0].bare(), "a  b");
    }
}
