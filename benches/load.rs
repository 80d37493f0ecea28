//! Benchmarks waiting times: for loading a ruleset, for a saved card to be in force in a running game, and for the
//! prompt.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use criterion::{Criterion, criterion_group, criterion_main};
use riskbreaker::{Library, Ruleset, Session, Setup, Step};

const ROOT: &str = env!("CARGO_MANIFEST_DIR");

fn folder() -> std::path::PathBuf {
    Path::new(ROOT).join("rulesets")
}

fn library() -> Library {
    Library::open(folder()).expect("the rulesets are there")
}

fn loaded(library: &Library, id: &str) -> Arc<Ruleset> {
    Ruleset::load(library, id).unwrap_or_else(|error| panic!("{error}"))
}

/// Loads every ruleset, from its files on disk to a game that could start.
fn loading(criterion: &mut Criterion) {
    let library = library();
    let mut group = criterion.benchmark_group("load");
    group.sample_size(20).measurement_time(Duration::from_secs(2));
    for id in library.ids().iter().flat_map(|id| library.ways_to_play(id)) {
        group.bench_function(&id, |bencher| bencher.iter(|| loaded(&library, &id)));
    }
    group.finish();
}

/// The files of all rulesets on disk, by path.
fn files() -> BTreeMap<String, String> {
    let (root, mut files) = (folder(), BTreeMap::new());
    let mut folders = vec![root.clone()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).expect("the rulesets are there") {
            let path = entry.expect("it can be read").path();
            if path.is_dir() {
                folders.push(path);
            } else if let Ok(text) = std::fs::read_to_string(&path) {
                let name = path.strip_prefix(&root).expect("it lies there").to_string_lossy().replace('\\', "/");
                files.insert(name, text);
            }
        }
    }
    files
}

/// Changes a card back and forth during a game that waits in the middle of a turn: read, check, swap, run the turn
/// again.
fn reloading(criterion: &mut Criterion) {
    const CARD: &str = "riskbreaker-0.0.1/maneuvers/kill_damage.luau";
    const TITLE: &str = "title = \"Kill Damage\"";
    let before = files();
    let mut after = before.clone();
    let card = after.get_mut(CARD).expect("the card is there");
    assert!(card.contains(TITLE), "{CARD} has no `{TITLE}`");
    *card = card.replace(TITLE, "title = \"Killing Damage\"");
    let libraries = [Library::from_files(after), Library::from_files(before)];
    let setup = Setup::scenario("four-against-four").seed(1);
    let mut session = Session::start(&loaded(&libraries[1], "riskbreaker-0.0.1"), setup).expect("it starts");
    assert_eq!(session.advance().expect("it plays"), Step::Ask);
    let mut times = 0;
    criterion.bench_function("reload of one card", |bencher| {
        bencher.iter(|| {
            let report = session.reload(loaded(&libraries[times % 2], "riskbreaker-0.0.1")).expect("the rules fit");
            assert!(!report.changed.is_empty(), "the card has changed");
            assert_eq!(session.advance().expect("it plays"), Step::Ask);
            times += 1;
        });
    });
}

/// Starts and ends the program in a folder without rulesets, so that it uses the built-in ones.
fn starting(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("start of the program");
    group.sample_size(20).measurement_time(Duration::from_secs(3));
    let elsewhere = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let run = |arguments: &[&str]| {
        let mut program = Command::new(env!("CARGO_BIN_EXE_riskbreaker"));
        program.args(arguments).current_dir(elsewhere).stdin(Stdio::null());
        let output = program.output().expect("the program starts");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        output.stdout
    };
    let prompt = String::from_utf8(run(&["play", "--seed", "1"])).expect("it speaks in words");
    assert!(prompt.contains("who goes first?"), "it comes to its first question:\n{prompt}");
    group.bench_function("--version", |bencher| bencher.iter(|| run(&["--version"])));
    group.bench_function("to the first question", |bencher| bencher.iter(|| run(&["play", "--seed", "1"])));
    group.finish();
}

criterion_group!(benches, loading, reloading, starting);
criterion_main!(benches);
