//! The shipped scripts: each runs to its end, and gives the same output twice.
#![cfg(feature = "cli")]

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

const FOLDER: &str = "scripts";

/// The scripts, as paths from the project's folder, each with its arguments.
fn scripts() -> Vec<(PathBuf, Vec<&'static str>)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(FOLDER);
    let entries = fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let names = entries.map(|entry| Path::new(FOLDER).join(entry.expect("a file").file_name()));
    let mut found: Vec<_> = names.filter_map(|path| Some((path.clone(), arguments(&path)?))).collect();
    found.sort();
    found
}

fn arguments(script: &Path) -> Option<Vec<&'static str>> {
    match script.extension().and_then(OsStr::to_str) {
        Some("play") => Some(vec!["play"]),
        Some("luau") => Some(vec!["run"]),
        _ => None,
    }
}

fn run(arguments: &[&str], script: &Path) -> Output {
    Command::new(env!("CARGO_BIN_EXE_riskbreaker"))
        .args(arguments)
        .arg(script)
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .unwrap_or_else(|error| panic!("{}: {error}", script.display()))
}

#[test]
fn every_script_runs_to_its_end_and_twice_the_same() {
    let scripts = scripts();
    for kind in ["play", "luau"] {
        assert!(scripts.iter().any(|(path, _)| path.extension() == Some(OsStr::new(kind))), "no .{kind} in {FOLDER}");
    }
    for (script, arguments) in scripts {
        let name = script.display();
        let (once, again) = (run(&arguments, &script), run(&arguments, &script));
        let told = String::from_utf8_lossy(&once.stdout);
        let errors = String::from_utf8_lossy(&once.stderr);
        assert_eq!(once.status.code(), Some(0), "{name}: {errors}\n{told}");
        assert!(errors.is_empty(), "{name}: {errors}");
        assert!(!told.trim().is_empty(), "{name} tells nothing");
        assert!(once == again, "{name} ran differently a second time:\n{}", String::from_utf8_lossy(&again.stdout));
    }
}
