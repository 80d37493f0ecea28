//! Calls of the program as text.

use std::sync::OnceLock;

/// The names of the commands of the program.
static COMMANDS: OnceLock<Vec<String>> = OnceLock::new();

/// Sets the names of the commands of the program, for [`is_call`]. Only the first call has an effect.
pub fn know_commands(names: Vec<String>) {
    let _ = COMMANDS.set(names);
}

/// True if a line begins like a call of the program: `play evening.play`, `riskbreaker sim`.
pub fn is_call(line: &str) -> bool {
    let line = line.trim();
    let called = line.strip_prefix("riskbreaker ").unwrap_or(line);
    let (first, rest) = called.split_once(' ').unwrap_or((called, ""));
    let plain = |letter: char| letter.is_alphanumeric() || letter == '-';
    let known = COMMANDS.get().is_some_and(|names| names.iter().any(|name| name == first));
    // `play` alone may be a variable.
    known && (called.len() < line.len() || rest.trim_start().starts_with(plain))
}

/// Quotes a word for a shell.
pub fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_=+,./:".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}
