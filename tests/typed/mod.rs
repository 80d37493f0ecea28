//! Types a line at the prompt of the program, after others.

use std::io::Write as _;
use std::process::{Command, Stdio};

/// The result of a line.
pub struct TypedLine {
    /// True if it was accepted, like all lines before it.
    pub taken: bool,
    /// The output for all lines.
    pub told: String,
    /// The text on standard error.
    pub wrong: String,
}

/// Plays lines in the first scenario of a ruleset.
pub fn play(rules: &str, before: &[&str], line: &str) -> TypedLine {
    let mut program = Command::new(env!("CARGO_BIN_EXE_riskbreaker"))
        .args(["play", "--rules", rules, "--seed", "7"])
        .current_dir(env!("CARGO_TARGET_TMPDIR"))
        .env("XDG_STATE_HOME", env!("CARGO_TARGET_TMPDIR"))
        .env("NO_COLOR", "1")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    let mut input = program.stdin.take().expect("it reads lines");
    for line in before.iter().chain([&line]) {
        writeln!(input, "{line}").expect("it reads");
    }
    drop(input);
    let output = program.wait_with_output().expect("it ends");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    TypedLine { taken: output.status.success(), told: text(&output.stdout), wrong: text(&output.stderr) }
}
