//! The scripts that come with the program: each runs to its end as its first line says, and twice the same.
#![cfg(feature = "cli")]

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

const FOLDER: &str = "scripts";

/// The scripts, as paths from the project's folder.
fn scripts() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(FOLDER);
    let mut found: Vec<PathBuf> = fs::read_dir(&folder)
        .unwrap_or_else(|error| panic!("{}: {error}", folder.display()))
        .map(|entry| Path::new(FOLDER).join(entry.unwrap().file_name()))
        .filter(|path| command(path).is_some())
        .collect();
    found.sort();
    found
}

/// By which command a script is run, and what its comments begin with.
fn command(script: &Path) -> Option<(&'static str, &'static str)> {
    match script.extension().and_then(OsStr::to_str) {
        Some("rb") => Some(("play", "# ")),
        Some("luau") => Some(("run", "-- ")),
        _ => None,
    }
}

/// The call that the script's first line asks a reader to type: `# riskbreaker play duel --seed 20 --script scripts/first-fight.rb`.
fn call(script: &Path) -> Vec<String> {
    let name = script.display();
    let (word, comment) = command(script).unwrap();
    let text = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(script)).unwrap();
    let first = text.lines().next().unwrap_or_default();
    let call = first
        .strip_prefix(comment)
        .and_then(|call| call.strip_prefix("riskbreaker "))
        .unwrap_or_else(|| panic!("{name} does not begin with the call that runs it: {first}"));
    let call: Vec<String> = call.split_whitespace().map(str::to_owned).collect();
    let path = format!("{FOLDER}/{}", script.file_name().unwrap().to_string_lossy());
    assert_eq!(call.first().map(String::as_str), Some(word), "{name}: {first}");
    assert_eq!(call.last(), Some(&path), "{name}: {first}");
    call
}

fn run(call: &[String]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_riskbreaker"))
        .args(call)
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .unwrap_or_else(|error| panic!("riskbreaker {}: {error}", call.join(" ")))
}

#[test]
fn every_script_runs_to_its_end_and_twice_the_same() {
    let scripts = scripts();
    assert!(scripts.iter().any(|script| script.extension() == Some(OsStr::new("rb"))), "{scripts:?}");
    assert!(scripts.iter().any(|script| script.extension() == Some(OsStr::new("luau"))), "{scripts:?}");
    for script in scripts {
        let name = script.display();
        let call = call(&script);
        let (once, again) = (run(&call), run(&call));
        let told = String::from_utf8_lossy(&once.stdout);
        let errors = String::from_utf8_lossy(&once.stderr);
        assert_eq!(once.status.code(), Some(0), "{name}: {errors}\n{told}");
        assert!(errors.is_empty(), "{name}: {errors}");
        assert!(!told.trim().is_empty(), "{name} tells nothing");
        assert!(once == again, "{name} ran differently a second time:\n{}", String::from_utf8_lossy(&again.stdout));
    }
}
