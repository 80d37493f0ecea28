//! Finds the comments of a script or of data, without a parser.

use std::iter::Peekable;
use std::str::CharIndices;

use riskbreaker_ruleset::SourceKind;

/// A comment that reaches to the end of its line.
pub(crate) struct Comment<'t> {
    /// The line, from 1.
    pub line: u32,
    /// The column of the first letter of `text`, in letters from 1.
    pub column: u32,
    /// What follows the mark.
    pub text: &'t str,
    /// Whether nothing but space stands before it in its line.
    pub is_alone: bool,
}

/// Returns the comments that reach to the end of a line, in order. Marks inside of texts and of long comments do not count.
pub(crate) fn comments(text: &str, kind: SourceKind) -> Vec<Comment<'_>> {
    let mut scanner = CommentScanner { text, rest: text.char_indices().peekable(), found: Vec::new() };
    match kind {
        SourceKind::Script => scanner.script(false),
        SourceKind::Data => scanner.data(),
        SourceKind::Prose => {}
    }
    scanner.found
}

struct CommentScanner<'t> {
    text: &'t str,
    rest: Peekable<CharIndices<'t>>,
    found: Vec<Comment<'t>>,
}

impl<'t> CommentScanner<'t> {
    /// Reads Luau: to the end, or to the brace that ends an expression inside of a text between backquotes.
    fn script(&mut self, in_braces: bool) {
        let mut braces = 0;
        while let Some((at, letter)) = self.rest.next() {
            match letter {
                '"' | '\'' => self.quoted(letter, true, false),
                '`' => self.interpolated(),
                '[' => self.skip_long(at),
                '-' if self.text[at..].starts_with("--") => {
                    self.rest.next();
                    match self.long_bracket(at + 2) {
                        Some(end) => self.skip_to(end),
                        None => self.comment(at, at + 2),
                    }
                }
                '{' => braces += 1,
                '}' if in_braces && braces == 0 => return,
                '}' => braces -= 1,
                _ => {}
            }
        }
    }

    pub(crate) fn data(&mut self) {
        while let Some((at, letter)) = self.rest.next() {
            match letter {
                '"' | '\'' => {
                    let long = ["\"\"\"", "'''"].into_iter().find(|long| self.text[at..].starts_with(long));
                    match long {
                        Some(long) => {
                            let end = self.text[at + 3..].find(long).map_or(self.text.len(), |end| at + 6 + end);
                            self.skip_to(end);
                        }
                        None => self.quoted(letter, letter == '"', true),
                    }
                }
                '#' => self.comment(at, at + 1),
                _ => {}
            }
        }
    }

    /// Reads to the end of a text in quotes. A text without an end ends with its line.
    fn quoted(&mut self, quote: char, escapes: bool, ends_with_line: bool) {
        while let Some((_, letter)) = self.rest.next() {
            match letter {
                '\\' if escapes => drop(self.rest.next()),
                '\n' if ends_with_line => return,
                letter if letter == quote => return,
                _ => {}
            }
        }
    }

    /// Reads to the end of a text between backquotes, with the code in its braces.
    fn interpolated(&mut self) {
        while let Some((_, letter)) = self.rest.next() {
            match letter {
                '\\' => drop(self.rest.next()),
                '{' => self.script(true),
                '`' => return,
                _ => {}
            }
        }
    }

    fn skip_long(&mut self, at: usize) {
        if let Some(end) = self.long_bracket(at) {
            self.skip_to(end);
        }
    }

    /// Returns the end of a text in long brackets, `[==[ ... ]==]`, that begins at a place.
    fn long_bracket(&self, at: usize) -> Option<usize> {
        let inside = self.text[at..].strip_prefix('[')?;
        let level = inside.bytes().take_while(|byte| *byte == b'=').count();
        inside[level..].strip_prefix('[')?;
        let close = format!("]{}]", "=".repeat(level));
        Some(self.text[at..].find(&close).map_or(self.text.len(), |end| at + end + close.len()))
    }

    fn skip_to(&mut self, end: usize) {
        while self.rest.next_if(|(at, _)| *at < end).is_some() {}
    }

    /// Takes the comment whose mark begins at `mark` and ends at `begin`.
    fn comment(&mut self, mark: usize, begin: usize) {
        let end = self.text[begin..].find('\n').map_or(self.text.len(), |end| begin + end);
        self.skip_to(end);
        let line_begin = self.text[..mark].rfind('\n').map_or(0, |newline| newline + 1);
        self.found.push(Comment {
            line: 1 + self.text[..mark].matches('\n').count() as u32,
            column: 1 + self.text[line_begin..begin].chars().count() as u32,
            text: &self.text[begin..end],
            is_alone: self.text[line_begin..mark].trim().is_empty(),
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_inside_of_texts_are_no_comments() {
        let script = "a = \"-- no\" -- yes\nb = [[\n-- no\n]] c = `{d .. \"`--no`\"} -- no` -- too\n--[==[ no\n-- no ]==] --last";
        let found: Vec<_> = comments(script, SourceKind::Script).iter().map(|one| (one.line, one.text)).collect();
        assert_eq!(found, [(1, " yes"), (4, " too"), (6, "last")]);
        let data = "a = \"# no\" # yes\nb = '''\n# no\n''' # too\n  # alone";
        let found: Vec<_> = comments(data, SourceKind::Data).iter().map(|one| (one.line, one.is_alone)).collect();
        assert_eq!(found, [(1, false), (4, false), (5, true)]);
    }
}
