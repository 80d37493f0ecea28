use std::io::{self, BufRead, BufReader, IsTerminal, Read, Write};
use std::path::Path;

use anyhow::{Context, bail};

use super::editor::Editor;
use super::prompt::Prompt;
use super::reader::is_comment;
use crate::cli::call_error;
use crate::cli::file::read_script;

/// The source of input lines: a person at a terminal, a pipe, or a file.
pub enum Lines {
    Terminal(Box<Editor>),
    /// A terminal without cursor control: the prompt is printed.
    Plain(Feed),
    Script(Feed),
}

/// The next input.
#[derive(Debug)]
pub enum Next {
    Line(String),
    /// Ctrl-C dropped the line.
    Interrupted,
    /// The program has something to print; the text in the editor is kept.
    Called,
    /// The terminal does not report its cursor position, so the line editor cannot be used.
    Unable,
    End,
}

/// Lines of text from a file or a pipe.
pub struct Feed {
    /// The name in messages: the path as given, or `stdin`.
    name: String,
    from: Box<dyn BufRead>,
    line: usize,
    /// The options in its first line.
    call: Option<String>,
}

/// The start of a first line that holds the options of a script.
const CALL: &str = "# riskbreaker play ";

/// The name of standard input in messages.
const STDIN: &str = "stdin";

/// The most bytes of a script.
const LONGEST_SCRIPT: u64 = 16 << 20;

/// The most bytes of a line. Longer input is refused.
const LONGEST_LINE: u64 = 1 << 20;

impl Lines {
    /// Opens the file, or standard input if none is named.
    pub fn open(script: Option<&Path>, editor: impl FnOnce() -> Editor) -> anyhow::Result<Lines> {
        match script {
            Some(path) if path != Path::new("-") => Ok(Lines::Script(Feed::file(path)?)),
            None if io::stdin().is_terminal() => {
                let able = io::stderr().is_terminal() && std::env::var("TERM").map_or(true, |term| term != "dumb");
                Ok(if able { Lines::Terminal(Box::new(editor())) } else { Lines::Plain(Feed::stdin()) })
            }
            _ => Ok(Lines::Script(Feed::stdin())),
        }
    }

    /// True for a script. Its lines are echoed, and the first wrong line ends the input.
    pub fn scripted(&self) -> bool {
        matches!(self, Lines::Script(_))
    }

    /// The options in the first line of a script. Options of the command line go before them.
    pub fn call(&self) -> Option<&str> {
        match self {
            Lines::Script(feed) => feed.call.as_deref(),
            _ => None,
        }
    }

    /// The location of the last line, for messages.
    pub fn place(&self) -> String {
        match self {
            Lines::Script(feed) | Lines::Plain(feed) => format!("{}:{}", feed.name, feed.line),
            Lines::Terminal(_) => String::new(),
        }
    }

    /// Waits for the next line.
    pub fn next(&mut self, prompt: &Prompt, width: usize) -> anyhow::Result<Next> {
        match self {
            Lines::Terminal(editor) => match editor.read(&prompt.fitted(width))? {
                Next::Unable => {
                    eprintln!(
                        "The terminal answers too late for the line editor: lines are read as they are, without Tab and history."
                    );
                    *self = Lines::Plain(Feed::stdin());
                    self.next(prompt, width)
                }
                next => Ok(next),
            },
            Lines::Plain(feed) => {
                eprint!("{}» ", prompt.fitted(width));
                io::stderr().flush()?;
                feed.next()
            }
            Lines::Script(feed) => feed.next(),
        }
    }
}

impl Feed {
    fn stdin() -> Feed {
        Feed { name: STDIN.into(), from: Box::new(BufReader::new(io::stdin())), line: 0, call: None }
    }

    /// Reads a whole script before its first line is played.
    fn file(path: &Path) -> anyhow::Result<Feed> {
        let name = path.display().to_string();
        let text = read_script(path, LONGEST_SCRIPT, "a script is a file with a command on each line")?;
        if text.trim_start_matches('\u{feff}').lines().all(is_comment) {
            return Err(call_error(format!("{name}: holds no command")));
        }
        let call = call_of(&text);
        Ok(Feed { name, from: Box::new(io::Cursor::new(text)), line: 0, call })
    }

    fn next(&mut self) -> anyhow::Result<Next> {
        let mut bytes = Vec::new();
        let read = (&mut self.from).take(LONGEST_LINE).read_until(b'\n', &mut bytes);
        let read = read.with_context(|| format!("{}: cannot be read", self.name))?;
        self.line += 1;
        if read == 0 {
            return Ok(Next::End);
        }
        if read as u64 == LONGEST_LINE && bytes.last() != Some(&b'\n') {
            bail!("{}:{}: the line is longer than 1 MiB", self.name, self.line);
        }
        let Ok(text) = String::from_utf8(bytes) else {
            bail!("{}:{}: not UTF-8 text", self.name, self.line);
        };
        let text = if self.line == 1 { text.trim_start_matches('\u{feff}') } else { &text };
        let text = without_reports(text);
        Ok(Next::Line(text.trim_end_matches(['\n', '\r']).to_owned()))
    }
}

/// Removes late answers of the terminal to cursor position requests from a line: `ESC [ 4 ; 1 R`.
fn without_reports(line: &str) -> String {
    let mut kept = String::new();
    let mut rest = line;
    while let Some((before, after)) = rest.split_once("\u{1b}[") {
        kept.push_str(before);
        let report = after.trim_start_matches(|letter: char| letter.is_ascii_digit() || letter == ';');
        match report.strip_prefix('R') {
            Some(behind) => rest = behind,
            None => {
                kept.push_str("\u{1b}[");
                rest = after;
            }
        }
    }
    kept + rest
}

/// The options at the start of a script, which may continue in further comment lines.
fn call_of(text: &str) -> Option<String> {
    let mut lines = text.trim_start_matches('\u{feff}').lines();
    let mut call = lines.next()?.strip_prefix(CALL)?.trim().to_owned();
    for options in lines.map_while(|line| line.strip_prefix("# ").filter(|line| line.starts_with("--"))) {
        call.push(' ');
        call.push_str(options.trim());
    }
    Some(call)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(bytes: &'static [u8]) -> Vec<String> {
        let mut feed = Feed { name: "x".into(), from: Box::new(bytes), line: 0, call: None };
        let mut lines = Vec::new();
        loop {
            match feed.next() {
                Ok(Next::Line(line)) => lines.push(line),
                Ok(_) => return lines,
                Err(error) => {
                    lines.push(format!("! {error}"));
                    return lines;
                }
            }
        }
    }

    #[test]
    fn lines_end_as_they_do_on_any_system() {
        assert_eq!(all(b"\xef\xbb\xbfundo\r\nlog\n\nwho"), ["undo", "log", "", "who"]);
        assert_eq!(all(b""), Vec::<String>::new());
    }

    #[test]
    fn the_first_lines_of_a_script_have_its_options() {
        let call = call_of("# riskbreaker play duel --seed 7\n# --set a=b\n# and so on\nok\n");
        assert_eq!(call.as_deref(), Some("duel --seed 7 --set a=b"));
        assert_eq!(call_of("ok\n# riskbreaker play duel\n"), None);
    }

    #[test]
    fn late_replies_of_the_terminal_are_removed_from_a_line() {
        assert_eq!(without_reports("\u{1b}[12;1Rstrike\u{1b}[1;1R 2"), "strike 2");
        assert_eq!(without_reports("\u{1b}[31mred"), "\u{1b}[31mred");
        assert_eq!(without_reports("plain"), "plain");
    }

    #[test]
    fn invalid_utf_8_is_reported_with_its_line() {
        assert_eq!(all(b"log\n\xff\xfe\n"), ["log", "! x:2: not UTF-8 text"]);
    }

    #[test]
    fn an_endless_line_is_refused() {
        let mut feed = Feed { name: "x".into(), from: Box::new(BufReader::new(io::repeat(b'a'))), line: 0, call: None };
        assert!(feed.next().is_err());
    }
}
