//! Refuses scripts whose expressions are nested too deeply.
//!
//! The compiler and the check follow a syntax tree recursively. The parser limits its own recursion, but not the depth
//! of the tree: a chain such as `a + a + a` makes the tree deeper at its left end, where a bracket may contain another
//! chain. So the depth is computed from the text before it is compiled. The result may be too large, but is never too
//! small, except for a text that is no Luau, whose tree is never used.

use super::stretches::Unsound;

/// The deepest nesting of operators, calls and brackets. The parser has the same limit.
const DEEPEST: usize = 1_000;

/// Words that end an expression or precede one.
const SEPARATORS: [&[u8]; 14] = [
    b"break",
    b"do",
    b"else",
    b"elseif",
    b"for",
    b"function",
    b"if",
    b"in",
    b"local",
    b"repeat",
    b"return",
    b"then",
    b"until",
    b"while",
];

/// The part of the text between two brackets.
#[derive(Default)]
struct Level {
    /// Operators, calls and members in the current expression.
    links: usize,
    /// The depth of the deepest bracket in it.
    inner: usize,
    /// The depth of the deepest finished expression.
    done: usize,
    /// True if it is part of an interpolated text in backquotes.
    in_text: bool,
}

impl Level {
    fn depth(&self) -> usize {
        self.done.max(self.inner + self.links)
    }

    fn end_expression(&mut self) {
        (self.done, self.inner, self.links) = (self.depth(), 0, 0);
    }
}

struct NestingReader<'t> {
    rest: &'t [u8],
    around: Vec<Level>,
    open: Level,
    /// True if a value has just ended, so that a bracket or a text would call it.
    behind_value: bool,
}

/// Checks a script.
///
/// # Errors
///
/// The line in which the depth exceeds the limit.
pub(super) fn check(text: &str) -> Result<(), Unsound> {
    let rest = text.as_bytes();
    let mut reader = NestingReader { rest, around: Vec::new(), open: Level::default(), behind_value: false };
    while let Some(byte) = reader.rest.first() {
        reader.token(*byte);
        if reader.open.depth() > DEEPEST || reader.around.len() > DEEPEST {
            let read = &rest[..rest.len() - reader.rest.len()];
            let line = 1 + read.iter().filter(|byte| **byte == b'\n').count() as u32;
            let message =
                format!("an expression is nested more than {DEEPEST} deep; put parts of it into local variables");
            return Err(Unsound { line, message });
        }
    }
    Ok(())
}

impl<'t> NestingReader<'t> {
    fn token(&mut self, byte: u8) {
        match byte {
            b' ' | b'\t' | b'\r' | b'\n' => self.skip(1),
            b'-' if self.rest.starts_with(b"--") => {
                self.skip(2);
                if !self.long_text() {
                    self.skip_while(|byte| byte != b'\n');
                }
            }
            b'"' | b'\'' => {
                self.skip(1);
                self.text_up_to(&[byte]);
                self.value();
            }
            b'`' => {
                self.skip(1);
                self.text_in_backquotes();
            }
            b'[' if self.long_text() => self.value(),
            b'(' | b'{' | b'[' => {
                self.skip(1);
                self.open_level(false);
            }
            b')' | b']' | b'}' => {
                self.skip(1);
                let in_text = self.open.in_text;
                self.close_level();
                if in_text {
                    self.text_in_backquotes();
                }
            }
            b',' | b';' => self.separator(1),
            b'_' | b'a'..=b'z' | b'A'..=b'Z' => {
                let word = self.take_while(|byte| byte == b'_' || byte.is_ascii_alphanumeric());
                self.word(word);
            }
            b'0'..=b'9' => {
                self.skip_while(|byte| byte == b'_' || byte == b'.' || byte.is_ascii_alphanumeric());
                self.behind_value = true;
            }
            b'.' if self.rest.starts_with(b"...") => {
                self.skip(3);
                self.behind_value = true;
            }
            b'=' if !self.rest.starts_with(b"==") => self.separator(1),
            _ => {
                let two: [&[u8]; 8] = [b"==", b"~=", b"<=", b">=", b"..", b"//", b"::", b"->"];
                self.skip(if two.iter().any(|sign| self.rest.starts_with(sign)) { 2 } else { 1 });
                self.link();
            }
        }
    }

    fn word(&mut self, word: &[u8]) {
        match word {
            b"and" | b"or" | b"not" => self.link(),
            b"end" => {
                // The function that ends here may be called or used as an operand, with everything in it.
                self.separator(0);
                self.open.inner = self.open.done;
                self.behind_value = true;
            }
            word if SEPARATORS.contains(&word) => self.separator(0),
            _ => {
                // A name after a value begins the next statement.
                if self.behind_value {
                    self.separator(0);
                }
                self.behind_value = true;
            }
        }
    }

    fn link(&mut self) {
        self.open.links += 1;
        self.behind_value = false;
    }

    fn separator(&mut self, bytes: usize) {
        self.skip(bytes);
        self.open.end_expression();
        self.behind_value = false;
    }

    /// Handles the end of a text: it is a value, or the argument of a call.
    fn value(&mut self) {
        self.open.links += usize::from(self.behind_value);
        self.behind_value = true;
    }

    fn open_level(&mut self, in_text: bool) {
        self.open.links += usize::from(self.behind_value);
        self.around.push(std::mem::replace(&mut self.open, Level { in_text, ..Level::default() }));
        self.behind_value = false;
    }

    fn close_level(&mut self) {
        if let Some(around) = self.around.pop() {
            let inside = std::mem::replace(&mut self.open, around).depth() + 1;
            self.open.inner = self.open.inner.max(inside);
        }
        self.behind_value = true;
    }

    /// Continues a text in backquotes to its end or to the next expression in it.
    fn text_in_backquotes(&mut self) {
        if self.text_up_to(b"`{") == Some(b'{') {
            self.behind_value = false;
            self.open_level(true);
        } else {
            self.behind_value = true;
        }
    }

    /// Skips a text with its end mark, and returns that mark.
    fn text_up_to(&mut self, marks: &[u8]) -> Option<u8> {
        loop {
            let byte = *self.rest.first()?;
            self.skip(if byte == b'\\' { 2 } else { 1 });
            if marks.contains(&byte) {
                return Some(byte);
            }
        }
    }

    /// Skips a text or a comment between long brackets, `[[` or `[==[`, if one begins here.
    fn long_text(&mut self) -> bool {
        let Some(behind) = self.rest.strip_prefix(b"[") else { return false };
        let signs = behind.iter().take_while(|byte| **byte == b'=').count();
        if behind.get(signs) != Some(&b'[') {
            return false;
        }
        let mut end = vec![b'='; signs + 2];
        (end[0], end[signs + 1]) = (b']', b']');
        self.skip(signs + 2);
        while !self.rest.is_empty() && !self.rest.starts_with(&end) {
            self.skip(1);
        }
        self.skip(end.len());
        true
    }

    fn skip(&mut self, bytes: usize) {
        self.rest = self.rest.get(bytes..).unwrap_or_default();
    }

    fn take_while(&mut self, fits: impl Fn(u8) -> bool) -> &'t [u8] {
        let count = self.rest.iter().take_while(|byte| fits(**byte)).count();
        let (taken, rest) = self.rest.split_at(count);
        self.rest = rest;
        taken
    }

    fn skip_while(&mut self, fits: impl Fn(u8) -> bool) {
        self.take_while(fits);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Nested brackets, each followed by a chain.
    fn nested(levels: usize, link: &str) -> String {
        let chain = link.repeat(300);
        format!("local a = ...\nlocal x = {}a{}\n", "(".repeat(levels), format!("){chain}").repeat(levels))
    }

    #[test]
    fn chained_calls_after_brackets_count_as_nesting() {
        for link in ["+a", " and a", "..a", ".b", "()", "[1]", "{}", "\"a\"", "[[a]]", " == a"] {
            let found = check(&nested(4, link)).expect_err(link);
            assert_eq!(found.line, 2, "{link}");
            assert_eq!(check(&nested(3, link)), Ok(()), "{link}");
        }
        let mut within = "a".to_owned();
        for _ in 0..4 {
            within = format!("(function() local b = 1 return {within} end){}", "()".repeat(300));
        }
        assert!(check(&format!("return {within}")).is_err());
        let mut within = "a".to_owned();
        for _ in 0..4 {
            within = format!("`{{{within}}}`{}", "..a".repeat(300));
        }
        assert!(check(&format!("return {within}")).is_err());
    }

    #[test]
    fn sequences_do_not_count_as_nesting() {
        for line in [
            "f(a + 1).b(c)",
            "a.b = c.d",
            "local x = (a + b) * #c[1] // 2",
            "local t = { (a), b = { c }, [d .. e] = `{f} \\{ { g } }`, \"((((\" .. '\\'(((' }",
            "f(function() return a.b end)",
            "if a == b then f(c) elseif not d then g() end",
            "local x: { [string]: number } = if a then b + 1 else -c",
            "-- ((((((( a + a + a",
            "--[==[ ((((((( \n ]] ((( ]==] local y = [[ ((( ]]",
        ] {
            assert_eq!(check(&format!("{line}\n").repeat(2_000)), Ok(()), "{line}");
        }
    }
}
