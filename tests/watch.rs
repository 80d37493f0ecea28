//! Rulesets on disk that change like under an editor.
#![cfg(feature = "watch")]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use riskbreaker::watch::{Watched, Watcher};
use riskbreaker::{Driver, Library, Remedy, Ruleset, Session, Setup, Step};

/// A copy of the small game on disk, with a house rule over it.
struct Table {
    root: PathBuf,
    rules: Arc<Ruleset>,
    watcher: Watcher,
}

const LIMIT: Duration = Duration::from_secs(30);

impl Table {
    fn new() -> Table {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let n = NEXT.fetch_add(1, Ordering::Relaxed);
        let root = std::env::temp_dir().join(format!("riskbreaker-watch-{}-{n}", std::process::id())).join("rulesets");
        copy(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/rulesets/tug"), &root.join("tug"));
        fs::create_dir_all(root.join("wet")).unwrap();
        fs::write(
            root.join("wet/ruleset.toml"),
            "id = \"wet\"\ntitle = \"Wet rope\"\nversion = \"1\"\nextends = \"tug\"\n",
        )
        .unwrap();
        let library = Library::open(&root).unwrap();
        let rules = Ruleset::load_with(&library, "tug", &["wet".into()]).unwrap();
        let watcher = Watcher::start(&library, &rules).expect("it lies on the disk");
        // The first scan takes a moment.
        thread::sleep(Duration::from_millis(300));
        Table { root, rules, watcher }
    }

    fn path(&self, path: &str) -> PathBuf {
        self.root.join(path)
    }

    /// The text of the card with another maximum stake.
    fn pull(&self, most: u32) -> String {
        let text = self.rules.source("tug/maneuvers/pull.luau").unwrap();
        text.replace("max = 3", &format!("max = {most}"))
    }

    fn next(&self) -> Watched {
        self.watcher.wait(LIMIT).expect("something is told")
    }

    fn loaded(&self) -> (Arc<Ruleset>, Vec<String>) {
        match self.next() {
            Watched::Loaded { rules, changed, .. } => (rules, changed.iter().map(ToString::to_string).collect()),
            other => panic!("{other:?}"),
        }
    }

    /// Waits for exactly one reload, of the card with this maximum stake.
    fn one_reload(&self, most: u32) {
        let (rules, changed) = self.loaded();
        assert_eq!(rules.source("tug/maneuvers/pull.luau"), Some(&*self.pull(most)), "{changed:?}");
        let more = self.watcher.wait(Duration::from_millis(400));
        assert!(more.is_none(), "{more:?}");
    }
}

impl Drop for Table {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(self.root.parent().unwrap());
    }
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy(&entry.path(), &target)
        } else {
            fs::write(target, fs::read(entry.path()).unwrap()).unwrap()
        }
    }
}

#[test]
fn every_way_of_saving_is_one_reload() {
    let table = Table::new();
    let card = table.path("tug/maneuvers/pull.luau");
    // In place.
    fs::write(&card, table.pull(4)).unwrap();
    table.one_reload(4);
    // Truncated, and written in two pieces.
    let text = table.pull(5);
    let mut file = fs::File::create(&card).unwrap();
    let (head, tail) = text.split_at(text.len() / 2);
    std::io::Write::write_all(&mut file, head.as_bytes()).unwrap();
    thread::sleep(Duration::from_millis(20));
    std::io::Write::write_all(&mut file, tail.as_bytes()).unwrap();
    drop(file);
    table.one_reload(5);
    // Written next to it and moved over it.
    fs::write(table.path("tug/maneuvers/.pull.luau.swp"), "\0").unwrap();
    fs::write(table.path("tug/maneuvers/pull.luau.tmp"), table.pull(6)).unwrap();
    fs::rename(table.path("tug/maneuvers/pull.luau.tmp"), &card).unwrap();
    table.one_reload(6);
    // Moved away as a backup and created anew.
    fs::rename(&card, table.path("tug/maneuvers/pull.luau~")).unwrap();
    fs::write(&card, table.pull(7)).unwrap();
    table.one_reload(7);
    // Read, which is no change.
    let _ = fs::read(&card).unwrap();
    fs::write(table.path("tug/notes.txt"), "x").unwrap();
    assert!(table.watcher.wait(Duration::from_millis(400)).is_none());
}

#[test]
fn many_files_at_once_are_one_reload() {
    let table = Table::new();
    fs::create_dir_all(table.path("tug/.git")).unwrap();
    for n in 0..50 {
        fs::write(table.path(&format!("tug/lib_{n}.luau")), "return {}\n").unwrap();
        fs::write(table.path(&format!("tug/.git/{n}")), "x").unwrap();
    }
    let (_, changed) = table.loaded();
    assert_eq!(changed.len(), 50);
    assert!(table.watcher.wait(Duration::from_millis(400)).is_none());
}

#[test]
fn a_layer_and_a_manifest_count_and_a_folder_may_come_late() {
    let table = Table::new();
    fs::create_dir_all(table.path("wet/maneuvers")).unwrap();
    let card =
        "local rb = require(\"@riskbreaker\")\nreturn rb.extend(rb.maneuver({ id = \"pull\", title = \"Tug\" }))\n";
    fs::write(table.path("wet/maneuvers/pull.luau"), card).unwrap();
    let (rules, changed) = table.loaded();
    assert_eq!(changed, ["wet/maneuvers/pull.luau: new"]);
    assert_eq!(&*rules.card("pull").unwrap().title, "Tug");
    fs::write(table.path("wet/maneuvers/pull.luau"), card.replace("Tug", "Heave")).unwrap();
    assert_eq!(&*table.loaded().0.card("pull").unwrap().title, "Heave");
    let manifest = fs::read_to_string(table.path("tug/ruleset.toml")).unwrap();
    fs::write(table.path("tug/ruleset.toml"), manifest.replace("default = 3", "default = 4")).unwrap();
    assert_eq!(table.loaded().1, ["ruleset.toml: default 3 -> 4"]);
    fs::remove_file(table.path("wet/maneuvers/pull.luau")).unwrap();
    assert_eq!(table.loaded().1, ["wet/maneuvers/pull.luau: gone"]);
}

#[test]
fn a_broken_file_is_reported_once_and_its_repair_once() {
    let table = Table::new();
    let card = table.path("tug/maneuvers/pull.luau");
    fs::write(&card, "return {").unwrap();
    let Watched::Broken(error) = table.next() else { panic!("it is broken") };
    assert_eq!(error.problems[0].path, "tug/maneuvers/pull.luau");
    assert_eq!(error.problems[0].line, Some(1));
    // Saving the same mistake in another text reports it again; saving the same file does not.
    fs::write(&card, "return {  ").unwrap();
    let Watched::Broken(again) = table.next() else { panic!("it is still broken") };
    assert_eq!(again.problems[0].to_string(), error.problems[0].to_string());
    fs::write(&card, "return {  ").unwrap();
    assert!(table.watcher.wait(Duration::from_secs(2)).is_none());
    fs::write(&card, table.pull(3)).unwrap();
    let (rules, changed) = table.loaded();
    assert!(changed.is_empty(), "{changed:?}");
    assert_eq!(rules.hash(), table.rules.hash());
}

#[test]
fn a_folder_that_vanishes_and_returns_is_watched_again() {
    let table = Table::new();
    let aside = table.root.parent().unwrap().join("aside");
    fs::rename(&table.root, &aside).unwrap();
    assert!(matches!(table.next(), Watched::Broken(_)));
    copy(&aside, &table.root);
    assert!(table.loaded().1.is_empty());
    // The new folder, which is not the one watched first.
    fs::write(table.path("tug/maneuvers/pull.luau"), table.pull(8)).unwrap();
    table.one_reload(8);
    fs::remove_dir_all(table.path("tug")).unwrap();
    assert!(matches!(table.next(), Watched::Broken(_)));
    copy(&aside.join("tug"), &table.path("tug"));
    assert!(matches!(table.next(), Watched::Loaded { .. }));
    fs::write(table.path("tug/maneuvers/pull.luau"), table.pull(9)).unwrap();
    let (rules, _) = table.loaded();
    assert_eq!(rules.source("tug/maneuvers/pull.luau"), Some(&*table.pull(9)));
}

#[cfg(unix)]
#[test]
fn changes_of_a_linked_ruleset_are_detected() {
    let table = Table::new();
    let aside = table.root.parent().unwrap().join("real");
    fs::rename(table.path("tug"), &aside).unwrap();
    std::os::unix::fs::symlink(&aside, table.path("tug")).unwrap();
    while table.watcher.wait(Duration::from_millis(700)).is_some() {}
    fs::write(aside.join("maneuvers/pull.luau"), table.pull(8)).unwrap();
    table.one_reload(8);
}

#[test]
fn a_ruleset_inside_the_program_is_not_watched() {
    let library = Library::from_files([("g/ruleset.toml", "id = \"g\"\ntitle = \"G\"\nversion = \"1\"\n")]);
    let rules = Ruleset::load(&library, "g");
    if let Ok(rules) = rules {
        assert!(Watcher::start(&library, &rules).is_none());
    }
}

/// Many saves while a game plays: all rules that came into force were complete, and the last version is on disk.
#[test]
fn a_storm_of_saves_never_mixes_rules_and_never_misses_the_last() {
    let table = Table::new();
    let setup = || {
        let bold = Driver::Policy("hasty".into());
        Setup::default().seed(3).switch("wins_at", 20).seat("left", bold.clone()).seat("right", Driver::Human)
    };
    let mut session = Session::start(&table.rules, setup()).unwrap();
    let writer = {
        let (card, verbs) = (table.path("tug/maneuvers/pull.luau"), table.path("tug/verbs.luau"));
        let pulls: Vec<String> = (0..100).map(|n| table.pull(n + 3)).collect();
        let text = table.rules.source("tug/verbs.luau").unwrap().to_string();
        let draft = table.path("tug/maneuvers/pull.luau.tmp");
        thread::spawn(move || {
            for (n, pull) in pulls.iter().enumerate() {
                match n % 3 {
                    0 => fs::write(&card, pull).unwrap(),
                    1 => {
                        fs::write(&draft, pull).unwrap();
                        fs::rename(&draft, &card).unwrap();
                    }
                    _ => {
                        let _ = fs::remove_file(&card);
                        fs::write(&card, pull).unwrap();
                    }
                }
                fs::write(&verbs, format!("{text}-- {n}\n")).unwrap();
                thread::sleep(Duration::from_millis(12));
            }
        })
    };
    let (mut reloads, mut last) = (0, table.rules.clone());
    let mut quiet = Instant::now();
    while !writer.is_finished() || quiet.elapsed() < Duration::from_millis(1200) {
        match table.watcher.poll() {
            Some(Watched::Loaded { rules, .. }) => {
                session.reload(rules.clone()).unwrap();
                (last, reloads, quiet) = (rules, reloads + 1, Instant::now());
            }
            // A writer that is delayed between emptying a file and filling it leaves a broken one: reported, and not in
            // force.
            Some(Watched::Broken(_)) => quiet = Instant::now(),
            Some(_) => {}
            None if !writer.is_finished() => quiet = Instant::now(),
            None => {}
        }
        match session.advance().unwrap() {
            Step::Ask => {
                let question = session.questions()[0].clone();
                session.answer(question.id, question.default.clone().unwrap()).unwrap();
            }
            Step::Over(_) => session = Session::start(&last, setup()).unwrap(),
            // A writer that is delayed between removing the card and writing it leaves rules without it.
            Step::Fault(_) if session.ruleset().source("tug/maneuvers/pull.luau").is_none() => {
                session.remedy(Remedy::SkipAction).unwrap();
            }
            Step::Fault(fault) => panic!("{fault}"),
        }
        thread::sleep(Duration::from_millis(1));
    }
    writer.join().unwrap();
    assert!(reloads >= 1, "{reloads}");
    assert_eq!(last.source("tug/maneuvers/pull.luau"), Some(&*table.pull(102)));
    assert!(last.source("tug/verbs.luau").unwrap().ends_with("-- 99\n"));
    assert_eq!(session.ruleset().hash(), last.hash());
}

/// Each version holds a script machine and its threads, so of unread versions only the latest is kept.
#[test]
fn a_reader_that_is_late_gets_the_latest_version_only() {
    let table = Table::new();
    for most in 4..9 {
        fs::write(table.path("tug/maneuvers/pull.luau"), table.pull(most)).unwrap();
        thread::sleep(Duration::from_millis(400));
    }
    let (rules, changed) = table.loaded();
    assert_eq!(rules.source("tug/maneuvers/pull.luau"), Some(&*table.pull(8)));
    assert!(changed.len() == 1 && changed[0].contains("3 -> 8"), "{changed:?}");
    // Changes that are reverted before anybody reads are not reported.
    for most in [9, 8] {
        fs::write(table.path("tug/maneuvers/pull.luau"), table.pull(most)).unwrap();
        thread::sleep(Duration::from_millis(400));
    }
    assert!(table.watcher.poll().is_none());
}

/// The time from a save to the reloaded rules: `cargo test --test watch -- --ignored --nocapture`.
#[test]
#[ignore = "a measurement"]
fn how_long_a_save_takes() {
    let table = Table::new();
    let mut times: Vec<Duration> = Vec::new();
    for n in 0..60 {
        let text = table.pull(n % 50 + 4);
        let begun = Instant::now();
        fs::write(table.path("tug/maneuvers/pull.luau"), text).unwrap();
        let (rules, _) = table.loaded();
        let mut session = Session::start(&rules, Setup::default()).unwrap();
        session.reload(rules).unwrap();
        times.push(begun.elapsed());
        thread::sleep(Duration::from_millis(30));
    }
    times.sort();
    eprintln!("a save is in force after {:?} (median), {:?} (p95), {:?} (most)", times[30], times[56], times[59]);
}

/// The memory of this process in bytes, if the system reports it.
fn resident() -> Option<usize> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmRSS"))?;
    Some(line.split_whitespace().nth(1)?.parse::<usize>().ok()? << 10)
}

/// Saves a card in the manner of one of several editors.
fn save_by(pattern: usize, root: &Path, text: &str, n: usize) {
    let card = root.join("tug/maneuvers/pull.luau");
    let beside = |ending: &str| root.join(format!("tug/maneuvers/pull.luau{ending}"));
    match pattern % 11 {
        // In place.
        0 => fs::write(&card, text).unwrap(),
        // Half, and then the rest.
        1 => {
            let (head, tail) = text.split_at(text.len() / 2);
            let mut file = fs::File::create(&card).unwrap();
            std::io::Write::write_all(&mut file, head.as_bytes()).unwrap();
            thread::sleep(Duration::from_millis(3));
            std::io::Write::write_all(&mut file, tail.as_bytes()).unwrap();
        }
        // Next to it, and moved over it.
        2 => {
            fs::write(beside(".tmp"), text).unwrap();
            fs::rename(beside(".tmp"), &card).unwrap();
        }
        // The old file becomes the backup, and a new file replaces it.
        3 => {
            let _ = fs::rename(&card, beside("~"));
            fs::write(&card, text).unwrap();
        }
        // Removed and created again.
        4 => {
            let _ = fs::remove_file(&card);
            fs::write(&card, text).unwrap();
        }
        // With the temporary files of an editor.
        5 => {
            fs::write(root.join("tug/maneuvers/.pull.luau.swp"), "\0\0").unwrap();
            fs::write(root.join("tug/maneuvers/4913"), "").unwrap();
            fs::write(&card, text).unwrap();
            let _ = fs::remove_file(root.join("tug/maneuvers/4913"));
        }
        // Fifty files, like a checkout.
        6 => {
            fs::create_dir_all(root.join("tug/lib")).unwrap();
            for at in 0..50 {
                fs::write(root.join(format!("tug/lib/piece_{at}.luau")), format!("return {n}\n")).unwrap();
            }
            fs::write(&card, text).unwrap();
        }
        // Emacs: a lock that is a dangling link, an unfinished copy, and the old file moved aside.
        7 => {
            #[cfg(unix)]
            let _ = std::os::unix::fs::symlink("me@here.1:1", root.join("tug/maneuvers/.#pull.luau"));
            fs::write(root.join("tug/maneuvers/#pull.luau#"), "return {").unwrap();
            fs::rename(&card, beside("~")).unwrap();
            fs::write(&card, text).unwrap();
            let _ = fs::remove_file(root.join("tug/maneuvers/#pull.luau#"));
            let _ = fs::remove_file(root.join("tug/maneuvers/.#pull.luau"));
        }
        // A link replaces the file.
        #[cfg(unix)]
        8 => {
            fs::write(root.join("tug/pull.txt"), text).unwrap();
            let _ = fs::remove_file(beside(".link"));
            std::os::unix::fs::symlink("../pull.txt", beside(".link")).unwrap();
            fs::rename(beside(".link"), &card).unwrap();
        }
        // The ruleset is a link to a folder elsewhere, which is replaced by another one.
        #[cfg(unix)]
        9 => {
            let (tug, around) = (root.join("tug"), root.parent().unwrap());
            let version = around.join(format!("version-{n}"));
            copy(&tug, &version);
            let _ = fs::remove_file(version.join("maneuvers/pull.luau"));
            fs::write(version.join("maneuvers/pull.luau"), text).unwrap();
            std::os::unix::fs::symlink(&version, around.join("link")).unwrap();
            let old = fs::read_link(&tug);
            if old.is_err() {
                fs::rename(&tug, around.join("first")).unwrap();
            }
            fs::rename(around.join("link"), &tug).unwrap();
            if let Ok(old) = old {
                fs::remove_dir_all(old).unwrap();
            }
        }
        // The folder is removed, and restored with the card in it.
        _ => {
            let (folder, aside) = (root.join("tug/maneuvers"), root.join("aside"));
            fs::rename(&folder, &aside).unwrap();
            fs::write(aside.join("pull.luau"), text).unwrap();
            fs::rename(&aside, &folder).unwrap();
        }
    }
}

/// The reference measurement: `cargo test --test watch thousand -- --ignored --nocapture`.
///
/// First continuous saves, then saves in bursts, each followed until its last version is in force.
#[test]
#[ignore = "a measurement"]
fn a_thousand_saves_while_a_game_plays_at_full_speed() {
    let mut storm = Storm::begin();
    storm.without_end(600, 14);
    let mut times = storm.in_bursts(400);
    times.sort();
    let at = |part: f64| times[((times.len() - 1) as f64 * part) as usize];
    eprintln!(
        "from the last save of a burst to in force: {:?} (median), {:?} (p95), {:?} (most)",
        at(0.5),
        at(0.95),
        at(1.0)
    );
    storm.end();
}

/// A smaller version for every run.
#[test]
fn every_editor_at_once_while_a_game_plays_at_full_speed() {
    let mut storm = Storm::begin();
    storm.without_end(40, 14);
    storm.in_bursts(40);
    storm.end();
}

/// A game that plays at full speed while its rules are saved, with the results.
struct Storm {
    table: Table,
    session: Session,
    /// Every complete version of the card.
    known: BTreeSet<String>,
    last: Arc<Ruleset>,
    saves: usize,
    seed: u64,
    reloads: usize,
    broken: usize,
    away: usize,
    games: usize,
    /// The memory in bytes after the first games.
    base: Option<usize>,
}

impl Storm {
    fn begin() -> Storm {
        let table = Table::new();
        let session = Session::start(&table.rules, Storm::setup(0)).unwrap();
        let known = (0..40).map(|n| table.pull(n + 3)).collect();
        let last = table.rules.clone();
        let mut storm = Storm {
            table,
            session,
            known,
            last,
            saves: 0,
            seed: 0,
            reloads: 0,
            broken: 0,
            away: 0,
            games: 0,
            base: None,
        };
        while storm.games < 20 {
            storm.play();
        }
        storm.base = resident();
        storm
    }

    fn setup(seed: u64) -> Setup {
        let hasty = Driver::Policy("hasty".into());
        Setup::default().seed(seed).switch("wins_at", 20).seat("left", hasty.clone()).seat("right", hasty)
    }

    /// The card as saved by this save.
    fn text(&self, n: usize) -> String {
        self.table.pull(n as u32 % 40 + 3)
    }

    /// Plays a game to its end, by the rules known at the time.
    fn play(&mut self) {
        while let Some(news) = self.table.watcher.poll() {
            match news {
                // Between two halves of a save the machine may be busy for longer than any save takes.
                Watched::Loaded { rules, .. } if rules.card("pull").is_none() => self.away += 1,
                Watched::Loaded { rules, .. } => {
                    self.is_whole(&rules);
                    self.session.reload(rules.clone()).unwrap();
                    (self.last, self.reloads) = (rules, self.reloads + 1);
                }
                // A folder that is missing for a moment is reported; the game continues by the last good rules.
                Watched::Broken(_) => self.broken += 1,
                _ => {}
            }
        }
        match self.session.advance().unwrap() {
            Step::Over(_) => {
                // The rules are never mixed: the game was played by those it names.
                assert_eq!(self.session.ruleset().hash(), self.last.hash());
                (self.seed, self.games) = (self.seed + 1, self.games + 1);
                self.session = Session::start(&self.last, Storm::setup(self.seed)).unwrap();
            }
            step => panic!("{step:?}"),
        }
    }

    /// Checks that the card is one that was saved, and that the files of a checkout belong together.
    fn is_whole(&self, rules: &Ruleset) {
        let card = rules.source("tug/maneuvers/pull.luau");
        assert!(card.is_some_and(|card| self.known.contains(card)), "half a card is in force: {card:?}");
        let pieces: Vec<_> = (0..50).map(|at| rules.source(&format!("tug/lib/piece_{at}.luau"))).collect();
        assert!(pieces.iter().all(|piece| *piece == pieces[0]), "half a checkout is in force: {pieces:?}");
    }

    /// Saves continuously, this number of milliseconds apart.
    fn without_end(&mut self, saves: usize, apart: u64) {
        let (root, first) = (self.table.root.clone(), self.saves);
        let texts: Vec<String> = (first..first + saves).map(|n| self.text(n)).collect();
        let writer = thread::spawn(move || {
            for (at, text) in texts.iter().enumerate() {
                save_by(first + at, &root, text, first + at);
                thread::sleep(Duration::from_millis(apart));
            }
        });
        self.saves += saves;
        while !writer.is_finished() {
            self.play();
        }
        writer.join().unwrap();
        self.until_in_force();
    }

    /// Saves in bursts of one to seven. Returns the time from each last save to its rules being in force.
    fn in_bursts(&mut self, saves: usize) -> Vec<Duration> {
        let (end, mut times) = (self.saves + saves, Vec::new());
        while self.saves < end {
            for _ in 0..(self.saves % 7 + 1).min(end - self.saves) {
                save_by(self.saves, &self.table.root, &self.text(self.saves), self.saves);
                self.saves += 1;
                self.play();
            }
            let begun = Instant::now();
            self.until_in_force();
            times.push(begun.elapsed());
        }
        times
    }

    /// Plays on until the last save is in force.
    fn until_in_force(&mut self) {
        let (wanted, begun) = (self.text(self.saves - 1), Instant::now());
        while self.session.ruleset().source("tug/maneuvers/pull.luau") != Some(&*wanted) {
            assert!(begun.elapsed() < LIMIT, "the last save was missed");
            self.play();
        }
    }

    fn end(self) {
        let grown = resident().zip(self.base).map(|(now, base)| now.saturating_sub(base) >> 20);
        println!(
            "{} saves: {} reloads, {} told as broken, {} without the card, {} games, grown by {grown:?} MiB",
            self.saves, self.reloads, self.broken, self.away, self.games
        );
        assert!(self.reloads >= 2, "{}", self.reloads);
        assert!(self.away <= 1 + self.reloads / 20, "{} of {} reloads lack the card", self.away, self.reloads);
        // The growth levels off between 20 and 40 MiB, after ten reloads as after a hundred.
        assert!(grown.is_none_or(|grown| grown <= 64), "grown by {grown:?} MiB");
    }
}
