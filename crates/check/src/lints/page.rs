//! The page of a lint in the book, and its text for `--explain`.

use crate::lint::{Example, Lint};

/// The widest line of prose on a page.
const WIDTH: usize = 100;

impl Lint {
    /// Returns the page of the lint in the book, as Markdown.
    pub fn page(&self) -> String {
        let mut page = format!(
            "# {}\n\n{}\n\n{}\n",
            self.name,
            wrapped(&format!("Severity: {}. Finds: {}.", self.severity.word(), self.summary)),
            wrapped(self.explanation)
        );
        for (heading, place, text) in self.shown() {
            page += &format!("\n{heading} (in {place})\n\n```text\n{}\n```\n", text.trim_end());
        }
        if self.can_be_allowed() {
            let how = format!(
                "If it is meant, allow it: `-- check: allow({0})` behind the code or on the line above it, `-- check: \
                 allow-file({0})` for a whole file; `#` instead of `--` in TOML. See [checking rules](../checking.md).",
                self.name
            );
            page += &format!("\n{}\n", wrapped(&how));
        }
        page
    }

    /// Returns the pieces of code of both examples, each with its heading and its place in words: first the files that both have.
    pub fn shown(&self) -> Vec<(&'static str, String, &'static str)> {
        let (bad, good) = (self.bad.shown(), self.good.shown());
        let (shared, wrong): (Vec<_>, Vec<_>) = bad.into_iter().partition(|piece| good.contains(piece));
        let right = good.into_iter().filter(|piece| !shared.contains(piece)).collect::<Vec<_>>();
        let headed = |heading, pieces: Vec<(String, &'static str)>| {
            pieces.into_iter().map(move |(place, text)| (heading, place, text))
        };
        headed("With", shared).chain(headed("Instead of", wrong)).chain(headed("write", right)).collect()
    }
}

impl Example {
    /// Returns the pieces of code that the example shows, each with its place in words.
    pub fn shown(&self) -> Vec<(String, &'static str)> {
        match self {
            Example::Resolve(body) => vec![("`resolve` of a card".into(), body)],
            Example::Card(entries) => vec![("a card".into(), entries)],
            Example::Files(files) => files.iter().map(|(path, text)| (format!("`{path}`"), *text)).collect(),
            Example::None => Vec::new(),
        }
    }
}

/// Breaks a paragraph into lines, at spaces outside of code.
fn wrapped(text: &str) -> String {
    let mut lines: Vec<String> = vec![String::new()];
    let mut in_code = false;
    let mut piece = String::new();
    for word in text.split(' ') {
        if !piece.is_empty() {
            piece.push(' ');
        }
        piece += word;
        in_code ^= word.matches('`').count() % 2 == 1;
        if in_code {
            continue;
        }
        let last = lines.len() - 1;
        let line = &mut lines[last];
        if !line.is_empty() && line.chars().count() + 1 + piece.chars().count() > WIDTH {
            lines.push(std::mem::take(&mut piece));
        } else {
            if !line.is_empty() {
                line.push(' ');
            }
            *line += &std::mem::take(&mut piece);
        }
    }
    if !piece.is_empty() {
        lines.push(piece);
    }
    lines.join("\n")
}
