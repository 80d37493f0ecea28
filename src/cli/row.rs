use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

/// The style of a piece of text on a colour terminal.
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

/// A piece of text with a style.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Span {
    text: String,
    tone: Tone,
}

/// One line of output, wrapped at the width of the terminal.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Row {
    indent: usize,
    /// The indent of the wrapped lines.
    hang: usize,
    spans: Vec<Span>,
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
    /// An empty row with an indent. Wrapped lines are indented by two more columns.
    pub fn at(indent: usize) -> Row {
        Row { indent, hang: indent + 2, spans: Vec::new() }
    }

    /// A row of prose: all its lines have the same indent.
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

    /// The number of bytes of its texts.
    pub fn bytes(&self) -> usize {
        self.spans.iter().map(|span| span.text.len()).sum()
    }

    /// The row as plain text, without wrapping.
    #[cfg(test)]
    pub fn bare(&self) -> String {
        self.printed(None, false).concat()
    }

    /// The lines for a terminal of this width.
    pub fn printed(&self, width: Option<usize>, colour: bool) -> Vec<String> {
        self.lines(width).iter().map(|line| paint(line, colour)).collect()
    }

    fn lines(&self, width: Option<usize>) -> Vec<Vec<Span>> {
        let mut lines = vec![vec![Span::plain(" ".repeat(self.indent))]];
        let mut column = self.indent;
        // A terminal narrower than the indent gets one word per line.
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
                    let wide = letter.width().unwrap_or(0);
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

/// Aligns cells in columns, two blanks apart.
///
/// On a terminal that is too narrow, the cells of a row follow each other.
pub fn columns(indent: usize, cells: Vec<Vec<Span>>, width: Option<usize>) -> Vec<Row> {
    let count = cells.iter().map(Vec::len).max().unwrap_or(0);
    let mut wides = vec![0; count];
    for row in &cells {
        for (at, cell) in row.iter().enumerate() {
            wides[at] = wides[at].max(width_of(&cell.text));
        }
    }
    // A column that is empty in every row is omitted.
    let start: usize = wides.iter().take(count.saturating_sub(1)).filter(|wide| **wide > 0).map(|wide| wide + 2).sum();
    let last = wides.last().copied().unwrap_or(0);
    let fits = width.is_none_or(|width| indent + start + last.min(12.max(width / 3)) <= width);
    cells
        .into_iter()
        .map(|row| {
            // If it is too narrow for columns, a row without a first cell continues the row above.
            let goes_on = !fits && row.first().is_some_and(|cell| cell.text.is_empty());
            let mut built = Row::at(if goes_on { indent + 2 } else { indent });
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

/// Removes everything that could control a terminal from a text of rules or players, and puts it on one line.
pub fn harmless(text: &str) -> String {
    text.chars()
        .filter_map(|letter| match letter {
            '\n' | '\t' | '\r' => Some(' '),
            '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => None,
            letter if letter.is_control() => None,
            letter => Some(letter),
        })
        .collect()
}

/// Wraps a text at this width.
pub fn folded(text: &str, width: usize) -> String {
    Row::prose(0).plain(text).printed(Some(width), false).join("\n")
}

/// The number of terminal columns of a text.
pub fn width_of(text: &str) -> usize {
    text.width()
}

/// Splits a text into words and the blanks between them.
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

#[cfg(test)]
mod tests {
    use super::*;

    fn wrapped(row: &Row, width: usize) -> Vec<String> {
        row.printed(Some(width), false)
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
    fn cells_are_aligned_and_the_last_one_wraps_in_its_column() {
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
        assert_eq!(harmless("a\u{1b}[2Jb\nc\u{202e}d\u{200f}"), "a[2Jb cd");
    }

    #[test]
    fn wide_letters_and_combining_marks_are_measured_by_their_width() {
        assert_eq!(width_of("e\u{301}"), 1);
        assert_eq!(width_of("剣士"), 4);
        let rows = columns(
            0,
            vec![vec![Span::plain("剣"), Span::plain("a")], vec![Span::plain("ab"), Span::plain("b")]],
            None,
        );
        assert_eq!(rows.iter().map(Row::bare).collect::<Vec<_>>(), ["剣  a", "ab  b"]);
    }

    #[test]
    fn a_column_that_is_empty_everywhere_takes_no_room() {
        let rows = columns(0, vec![vec![Span::plain("a"), Span::plain(""), Span::plain("b")]], None);
        assert_eq!(rows[0].bare(), "a  b");
    }
}
