use std::fmt::Write as _;
use std::io::{self, IsTerminal};
use std::path::Path;

use annotate_snippets::{AnnotationKind, Level, Renderer, Snippet};
use riskbreaker::ruleset::{Problem, system_message};
use riskbreaker::{Fault, Library};

use super::call_error;
use super::row::{folded, harmless};
use super::screen::colour_wanted;

/// Prints an error with its causes on standard error.
pub fn error(error: &anyhow::Error) {
    let mut text = String::new();
    for (depth, cause) in error.chain().enumerate() {
        let cause = cause.to_string();
        // A cause whose text is already part of the message is left out.
        if depth > 0 && text.contains(&cause) {
            continue;
        }
        let _ = write!(text, "{}{cause}", if depth > 0 { ": " } else { "" });
    }
    let lines: Vec<String> = text.lines().map(harmless).collect();
    let painted = io::stderr().is_terminal() && colour_wanted();
    let word = if painted { "\u{1b}[1;31merror\u{1b}[0m" } else { "error" };
    eprintln!("{word}: {}", lines.join("\n"));
}

/// The error for a named output file that cannot be written.
pub fn unwritable(path: &Path, error: &io::Error) -> anyhow::Error {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty() && !folder.is_dir());
    call_error(match folder {
        Some(folder) => format!("{} cannot be written: there is no folder `{}`", path.display(), folder.display()),
        None => format!("{} cannot be written: {}", path.display(), system_message(error)),
    })
}

/// Formats a script error for its author: the source line, the problem, the remedy.
pub fn fault(fault: &Fault, colour: bool, width: Option<usize>) -> String {
    let mut message = fault.message.clone();
    if let Some(action) = &fault.action {
        message = format!("{action}: {message}");
    }
    let card = fault.card.iter().map(|card| format!("in the card {card}"));
    let called = fault.chain.iter().map(|place| format!("called from {place}"));
    let notes: Vec<String> = called.chain(card).chain(fault.context.iter().cloned()).collect();
    let told = ReportedMessage {
        message: &message,
        path: fault.path.as_deref(),
        line: fault.line,
        column: fault.column,
        length: fault.length as usize,
        source: fault.source_line.as_deref(),
        cure: fault.cure.as_deref(),
        notes: &notes,
        lint: None,
        is_warning: false,
    };
    told.render(colour, width)
}

/// Formats a problem of a ruleset, with its source line if that can be read.
pub fn problem(problem: &Problem, library: &Library, colour: bool, width: Option<usize>) -> String {
    let source = problem.line.and_then(|line| source_line(library, &problem.path, line));
    let cure = problem.cure.as_ref().map(ToString::to_string);
    let told = ReportedMessage {
        message: &problem.message,
        path: Some(&problem.path),
        line: problem.line,
        column: problem.column,
        length: 0,
        source: source.as_deref(),
        cure: cure.as_deref(),
        notes: &[],
        lint: problem.lint,
        is_warning: problem.is_warning,
    };
    told.render(colour, width)
}

/// Returns the text of a ruleset's file on disk, by its path with the ruleset's id.
pub fn text_of(library: &Library, path: &str) -> Option<String> {
    let (id, inside) = path.split_once('/')?;
    std::fs::read_to_string(library.folder_of(id)?.join(inside)).ok()
}

/// A line of a ruleset's file on disk.
fn source_line(library: &Library, path: &str, line: u32) -> Option<String> {
    let text = text_of(library, path)?;
    text.lines().nth(line.checked_sub(1)? as usize).map(str::to_owned)
}

struct ReportedMessage<'a> {
    message: &'a str,
    path: Option<&'a str>,
    line: Option<u32>,
    column: Option<u32>,
    /// The number of marked characters; 0 for the word at the column.
    length: usize,
    source: Option<&'a str>,
    cure: Option<&'a str>,
    /// Notes below the source: the calls that led to the error, and the action.
    notes: &'a [String],
    /// The name of the lint that found it.
    lint: Option<&'a str>,
    is_warning: bool,
}

impl ReportedMessage<'_> {
    fn render(&self, colour: bool, width: Option<usize>) -> String {
        let message = harmless(self.message);
        let (Some(path), Some(line), Some(source)) = (self.path, self.line, self.source) else {
            return self.plain(&message);
        };
        let source = harmless(source);
        let mark = self.mark(&source);
        let snippet = Snippet::source(&source)
            .line_start(line as usize)
            .path(harmless(path))
            .annotation(AnnotationKind::Primary.span(mark));
        let level = if self.is_warning { Level::WARNING } else { Level::ERROR };
        let title = level.primary_title(&message);
        let title = match self.lint {
            Some(lint) => title.id(lint),
            None => title,
        };
        let mut group = title.element(snippet);
        for note in self.notes {
            group = group.element(Level::NOTE.message(harmless(note)));
        }
        if let Some(cure) = self.cure {
            // The margin of a help note takes a dozen columns.
            let room = width.unwrap_or(usize::MAX).saturating_sub(14).max(20);
            group = group.element(Level::HELP.message(folded(cure, room)));
        }
        let renderer = if colour { Renderer::styled() } else { Renderer::plain() };
        renderer.term_width(width.unwrap_or(160)).render(&[group])
    }

    /// Formats the error as one line, and another one for the remedy.
    fn plain(&self, message: &str) -> String {
        let level = if self.is_warning { "warning" } else { "error" };
        let mut text = match self.lint {
            Some(lint) => format!("{level}[{lint}]: "),
            None => format!("{level}: "),
        };
        if let Some(path) = self.path {
            text.push_str(&harmless(path));
            if let Some(line) = self.line {
                let _ = write!(text, ":{line}");
            }
            text.push_str(": ");
        }
        text.push_str(message);
        if let Some(cure) = self.cure {
            let _ = write!(text, "\n  help: {}", harmless(cure));
        }
        text
    }

    /// The marked bytes of the source line: the word at the column, or all but the indent.
    fn mark(&self, source: &str) -> std::ops::Range<usize> {
        let text = source.trim_end();
        let from = match self.column {
            Some(column) => text.char_indices().nth(column.saturating_sub(1) as usize).map_or(text.len(), |(at, _)| at),
            None => text.len() - text.trim_start().len(),
        };
        let word = |letter: char| letter.is_alphanumeric() || letter == '_';
        let length = match self.column {
            Some(_) if self.length > 0 => text[from..].chars().take(self.length).map(char::len_utf8).sum(),
            Some(_) => text[from..].chars().take_while(|letter| word(*letter)).map(char::len_utf8).sum::<usize>(),
            None => text.len() - from,
        };
        from..(from + length.max(1)).min(source.len().max(from))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told<'a>(source: Option<&'a str>, column: Option<u32>) -> ReportedMessage<'a> {
        ReportedMessage {
            message: "unknown key `tittle`",
            path: Some("my-game/ruleset.toml"),
            line: Some(2),
            column,
            length: 0,
            source,
            cure: Some("did you mean `title`?"),
            notes: &[],
            lint: None,
            is_warning: false,
        }
    }

    #[test]
    fn a_problem_with_its_source_line_shows_it_and_marks_the_word() {
        let text = told(Some("tittle = \"My Game\""), Some(1)).render(false, None);
        assert!(text.contains("error: unknown key `tittle`"), "{text}");
        assert!(text.contains("my-game/ruleset.toml:2:1"), "{text}");
        assert!(text.contains("^^^^^^"), "{text}");
        assert!(text.contains("help: did you mean `title`?"), "{text}");
    }

    #[test]
    fn without_a_source_line_it_is_a_line_of_text() {
        assert_eq!(
            told(None, Some(1)).render(false, None),
            "error: my-game/ruleset.toml:2: unknown key `tittle`\n  help: did you mean `title`?"
        );
    }

    #[test]
    fn a_place_beyond_the_line_is_no_panic() {
        for source in ["", "é", "  "] {
            for column in [None, Some(0), Some(1), Some(2), Some(99)] {
                told(Some(source), column).render(false, Some(20));
            }
        }
    }
}
