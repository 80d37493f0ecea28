use std::ops::Range;

use gen_lsp_types::{Position, Range as LspRange, TextDocumentContentChangeEvent};

/// The text of an open file. Editors count lines from 0, and columns in UTF-16 units.
#[derive(Clone, Debug, Default)]
pub(super) struct EditorText {
    pub version: i32,
    pub text: String,
}

impl EditorText {
    /// Applies the changes of an editor in their order.
    pub fn change(&mut self, changes: Vec<TextDocumentContentChangeEvent>) {
        for change in changes {
            match change {
                TextDocumentContentChangeEvent::TextDocumentContentChangePartial(part) => {
                    let range = range_in(&self.text, part.range);
                    self.text.replace_range(range, &part.text);
                }
                TextDocumentContentChangeEvent::TextDocumentContentChangeWholeDocument(whole) => self.text = whole.text,
            }
        }
    }
}

/// The byte offsets of a line: its start, and its end without the line break. For a line after the last, the end of the
/// text.
fn line_at(text: &str, wanted: u32) -> (usize, usize) {
    let (mut begin, mut line) = (0, 0);
    let bytes = text.as_bytes();
    while line < wanted {
        let Some(at) = bytes[begin..].iter().position(|byte| matches!(byte, b'\n' | b'\r')) else {
            return (text.len(), text.len());
        };
        begin += at + 1;
        if bytes[begin - 1] == b'\r' && bytes.get(begin) == Some(&b'\n') {
            begin += 1;
        }
        line += 1;
    }
    let length = bytes[begin..].iter().position(|byte| matches!(byte, b'\n' | b'\r'));
    (begin, length.map_or(text.len(), |length| begin + length))
}

/// Converts a position of an editor to a byte offset. A column after the end of its line, or inside a character,
/// becomes the nearest offset before it.
pub(super) fn offset_in(text: &str, position: Position) -> usize {
    let (begin, end) = line_at(text, position.line);
    let mut units = 0;
    for (at, letter) in text[begin..end].char_indices() {
        units += letter.len_utf16() as u32;
        if units > position.character {
            return begin + at;
        }
    }
    end
}

/// Converts a byte offset to a position for an editor.
pub(super) fn position_in(text: &str, offset: usize) -> Position {
    let mut offset = offset.min(text.len());
    while !text.is_char_boundary(offset) {
        offset -= 1;
    }
    let (mut line, mut begin, mut at) = (0, 0, 0);
    let bytes = text.as_bytes();
    while at < offset {
        let two = bytes[at] == b'\r' && bytes.get(at + 1) == Some(&b'\n');
        let length = if two { 2 } else { 1 };
        if matches!(bytes[at], b'\n' | b'\r') && at + length <= offset {
            line += 1;
            begin = at + length;
        }
        at += length;
    }
    Position { line, character: text[begin..offset].encode_utf16().count() as u32 }
}

/// Converts a range of an editor to byte offsets.
pub(super) fn range_in(text: &str, range: LspRange) -> Range<usize> {
    let (start, end) = (offset_in(text, range.start), offset_in(text, range.end));
    start..end.max(start)
}

/// Converts a range of byte offsets to one for an editor.
pub(super) fn span_in(text: &str, bytes: Range<usize>) -> LspRange {
    LspRange { start: position_in(text, bytes.start), end: position_in(text, bytes.end) }
}

/// Converts the line and column of a problem to a byte offset. Both count from 1, the column in characters.
pub(super) fn place_in(text: &str, line: u32, column: u32) -> usize {
    let begin: usize = text.split_inclusive('\n').take(line.saturating_sub(1) as usize).map(str::len).sum();
    let rest = text[begin..].lines().next().unwrap_or_default();
    let within = rest.char_indices().nth(column.saturating_sub(1) as usize).map_or(rest.len(), |(at, _)| at);
    begin + within
}

#[cfg(test)]
mod tests {
    use gen_lsp_types::TextDocumentContentChangePartial;

    use super::*;

    const TEXT: &str = "a\u{1f3b2}ü\r\nbc\rd\n";

    fn at(line: u32, character: u32) -> Position {
        Position { line, character }
    }

    #[test]
    fn columns_are_counted_in_units_of_utf16() {
        for (position, offset) in [
            (at(0, 0), 0),
            (at(0, 1), 1),
            (at(0, 3), 5),
            (at(0, 4), 7),
            (at(1, 0), 9),
            (at(1, 2), 11),
            (at(2, 0), 12),
            (at(3, 0), 14),
        ] {
            assert_eq!((offset_in(TEXT, position), position_in(TEXT, offset)), (offset, position));
        }
        // Inside a character, after the end of a line, and after the end of the text.
        assert_eq!((offset_in(TEXT, at(0, 2)), offset_in(TEXT, at(0, 99)), offset_in(TEXT, at(99, 0))), (1, 7, 14));
    }

    #[test]
    fn changes_are_applied_in_their_order() {
        let mut document = EditorText { version: 1, text: TEXT.into() };
        #[allow(deprecated)]
        let part = |start, end, text: &str| {
            TextDocumentContentChangeEvent::TextDocumentContentChangePartial(TextDocumentContentChangePartial {
                range: LspRange { start, end },
                range_length: None,
                text: text.into(),
            })
        };
        document.change(vec![part(at(0, 1), at(0, 3), "x"), part(at(0, 2), at(1, 1), "--")]);
        assert_eq!(document.text, "ax--c\rd\n");
        // A range whose end is before its start is empty.
        document.change(vec![part(at(1, 0), at(0, 0), "!")]);
        assert_eq!(document.text, "ax--c\r!d\n");
    }

    #[test]
    fn a_column_of_a_problem_counts_characters() {
        assert_eq!((place_in("äb\ncd", 1, 2), place_in("äb\ncd", 2, 2), place_in("äb\ncd", 9, 9)), (2, 5, 6));
    }
}
