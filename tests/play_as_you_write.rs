//! `riskbreaker dev --play`: a game at the prompt next to an editor. Each save replays it from its start.
#![cfg(feature = "cli")]

mod files;

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::{Duration, Instant};

const LATEST: Duration = Duration::from_secs(60);
const PULL: &str = "tug/maneuvers/pull.luau";

/// A running prompt, with its files.
struct Table {
    program: Child,
    input: ChildStdin,
    lines: Receiver<String>,
    folder: PathBuf,
}

fn program(folder: &Path) -> Command {
    let mut program = Command::new(env!("CARGO_BIN_EXE_riskbreaker"));
    program.arg("--rulesets").arg(folder).env("HOME", folder).env("XDG_DATA_HOME", folder.join("data"));
    program
}

impl Table {
    fn open(options: &[&str]) -> Table {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let name = format!("riskbreaker-beside-{}-{}", std::process::id(), NUMBER.fetch_add(1, Ordering::Relaxed));
        let folder = std::env::temp_dir().join(name);
        for (path, text) in files::of(&["tug"]) {
            let file = folder.join(&path);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            // The game must last long enough.
            fs::write(file, text.replace("max = 20\ndefault = 3", "max = 20\ndefault = 20")).unwrap();
        }
        let mut program = program(&folder)
            .args(["dev", "tug", "--play", "two", "--seed", "4"])
            .args(options)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let (input, output) = (program.stdin.take().unwrap(), BufReader::new(program.stdout.take().unwrap()));
        let (tell, lines) = channel();
        thread::spawn(move || output.lines().map_while(Result::ok).try_for_each(|line| tell.send(line)));
        Table { program, input, lines, folder }
    }

    fn say(&mut self, line: &str) {
        writeln!(self.input, "{line}").unwrap();
    }

    /// The lines up to one that contains a text.
    fn until(&mut self, wanted: &str) -> Vec<String> {
        let (mut seen, begun) = (Vec::new(), Instant::now());
        while begun.elapsed() < LATEST {
            let Ok(line) = self.lines.recv_timeout(Duration::from_secs(5)) else { break };
            seen.push(line);
            if seen.last().is_some_and(|line| line.contains(wanted)) {
                return seen;
            }
        }
        panic!("no `{wanted}` in:\n{}", seen.join("\n"));
    }

    /// Saves a file and waits until the game is replayed. Until then, types a line that changes nothing, since without
    /// a terminal events are printed before the next line.
    fn save(&mut self, path: &str, from: &str, to: &str) -> String {
        let file = self.folder.join(path);
        let text = fs::read_to_string(&file).unwrap();
        assert!(text.contains(from), "{from}");
        fs::write(file, text.replace(from, to)).unwrap();
        let mut seen = Vec::new();
        for _ in 0..200 {
            thread::sleep(Duration::from_millis(100));
            self.say("look");
            seen.extend(self.until("» look"));
            let told = |line: &String| line.contains("Played again from the start");
            if let Some(at) = seen.iter().position(told) {
                return seen[at..].join("\n");
            }
        }
        panic!("not played again:\n{}", seen.join("\n"));
    }
}

impl Drop for Table {
    fn drop(&mut self) {
        let _ = self.program.kill();
        let _ = self.program.wait();
        let _ = fs::remove_dir_all(&self.folder);
    }
}

#[test]
fn a_save_plays_the_game_again_with_the_same_answers_and_dice() {
    let mut table = Table::open(&[]);
    table.say("pull risk 3");
    table.say("rest");
    table.until("Bob rests");
    // The stake counts twice: the first line that differs is the rope.
    let told = table.save(PULL, "(won and risk or -risk)", "(won and 2 * risk or -2 * risk)");
    assert!(told.contains("3 decisions were made again:"), "{told}");
    let (was, now) = told.split_once("It is now:").unwrap();
    assert!(was.contains("-> 3") || was.contains("-> -3"), "{told}");
    assert!(now.contains("-> 6") || now.contains("-> -6"), "{told}");
    // An answer that is no longer allowed is named, and the rest is played.
    let told = table.save(PULL, "max = 3", "max = 2");
    assert!(told.contains("No longer possible:") && told.contains("risk 3"), "{told}");
    // The answer is kept until something else is decided.
    let told = table.save(PULL, "max = 2", "max = 4");
    assert!(told.contains("3 decisions were made again") && !told.contains("No longer possible"), "{told}");
    // A comment changes nothing, and the game continues.
    let told = table.save(PULL, "local rb", "-- A card.\nlocal rb");
    assert!(told.contains("3 decisions were made again; nothing differs."), "{told}");
    // After a script error and its correction, the game is compared with the last one that worked.
    let told = table.save(PULL, "local won", "local wrong = nil + 1\n\t\tlocal won");
    assert!(told.contains("until the script is corrected"), "{told}");
    let told = table.save(PULL, "local wrong = nil + 1\n\t\tlocal won", "local won");
    assert!(told.contains("3 decisions were made again; nothing differs."), "{told}");
    table.say("rest");
    table.until("Ann rests");
    // `undo` takes back a line, also a replayed one.
    table.say("undo");
    table.until("undid card: Rest");
    table.say("redo");
    table.until("redid");
    table.say("spec TUG-1: twice the stake");
    let told = table.until("specs/played/tug_1_twice_the_stake.luau").join("\n");
    assert!(told.contains("new"), "{told}");
    let spec = fs::read_to_string(table.folder.join("tug/specs/played/tug_1_twice_the_stake.luau")).unwrap();
    assert!(spec.contains("t:answer(\"risk\", 3)") || spec.contains("t:answer(\"risk\", { [\"Ann\"] = 3 })"), "{spec}");
    assert!(spec.contains("t:expect(") && spec.contains("t:ongoing()"), "{spec}");
    let run = program(&table.folder).args(["test", "tug", "--filter", "twice the stake", "--trace"]).output().unwrap();
    let shown = String::from_utf8_lossy(&run.stdout).into_owned();
    assert!(run.status.success() && shown.contains("1 spec holds") && shown.contains("Ann rests"), "{shown}");
}

#[test]
fn the_differences_of_a_replay_are_json_as_well() {
    let mut table = Table::open(&["--json"]);
    table.say("pull risk 3");
    table.say("rest");
    table.until("Bob rests");
    let file = table.folder.join(PULL);
    let text = fs::read_to_string(&file).unwrap();
    fs::write(&file, text.replace("max = 3", "max = 1")).unwrap();
    let told = (0..200).find_map(|_| {
        thread::sleep(Duration::from_millis(100));
        table.say("look");
        table.lines.try_iter().find(|line| line.contains("\"replayed\""))
    });
    let told = told.expect("it is played again");
    let told: serde_json::Value = serde_json::from_str(&told).unwrap();
    assert_eq!(told["left_out"][0]["text"], "left: risk 3", "{told}");
}

#[test]
fn only_a_scenario_is_played_beside_the_editor() {
    let folder = Table::open(&[]);
    let run = program(&folder.folder).args(["dev", "tug", "--play", "tow"]).output().unwrap();
    let told = String::from_utf8_lossy(&run.stderr).into_owned();
    assert!(!run.status.success() && told.contains("has no scenario `tow`; did you mean `two`?"), "{told}");
}
