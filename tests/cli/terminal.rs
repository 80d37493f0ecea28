//! The prompt at a terminal: confirmations, previews, and the pager.

use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::{FromRawFd, OwnedFd};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::{Duration, Instant};

/// The time limit for one answer, while tests share the machine.
const PATIENCE: Duration = Duration::from_secs(60);

/// The time without output after which the output counts as complete.
const QUIET: Duration = Duration::from_millis(500);

/// A game at a terminal of 80 by 24 characters.
struct Terminal {
    program: Child,
    keys: File,
    output: Receiver<String>,
    /// The output since the last typed line.
    shown: String,
}

impl Terminal {
    fn open(args: &[&str], home: &str) -> Terminal {
        // The pager puts a bar before each line.
        Terminal::with_pager(args, home, "sed s/^/|/")
    }

    /// Starts a game in the folder of an earlier one.
    fn again(args: &[&str], home: &str) -> Terminal {
        Terminal::start(args, &Path::new(env!("CARGO_TARGET_TMPDIR")).join(home), "sed s/^/|/")
    }

    fn with_pager(args: &[&str], home: &str, pager: &str) -> Terminal {
        let home = Path::new(env!("CARGO_TARGET_TMPDIR")).join(home);
        let _ = std::fs::remove_dir_all(&home);
        std::fs::create_dir_all(&home).expect("a folder of its own");
        Terminal::start(args, &home, pager)
    }

    fn start(args: &[&str], home: &Path, pager: &str) -> Terminal {
        let (mut ours, mut theirs) = (0, 0);
        let mut size = libc::winsize { ws_row: 24, ws_col: 80, ws_xpixel: 0, ws_ypixel: 0 };
        // SAFETY: all pointers are valid during the call, and the others may be null.
        let opened =
            unsafe { libc::openpty(&mut ours, &mut theirs, std::ptr::null_mut(), std::ptr::null_mut(), &raw mut size) };
        assert_eq!(opened, 0, "a terminal can be had");
        // SAFETY: the descriptors are open and owned by nobody else.
        let (ours, theirs) = unsafe { (File::from_raw_fd(ours), OwnedFd::from_raw_fd(theirs)) };
        let stdio = || Stdio::from(theirs.try_clone().expect("it can be shared"));
        let program = Command::new(env!("CARGO_BIN_EXE_riskbreaker"))
            .args(args)
            .current_dir(home)
            .envs([("HOME", home), ("XDG_STATE_HOME", home), ("XDG_DATA_HOME", home)])
            .envs([("NO_COLOR", "1"), ("TERM", "xterm"), ("PAGER", pager)])
            .stdin(stdio())
            .stdout(stdio())
            .stderr(stdio())
            .spawn()
            .expect("the program starts");
        let (sender, output) = channel();
        let mut reader = ours.try_clone().expect("it can be read");
        let mut answering = ours.try_clone().expect("it can be answered");
        thread::spawn(move || {
            let mut bytes = [0; 4096];
            while let Ok(read @ 1..) = reader.read(&mut bytes) {
                let text = String::from_utf8_lossy(&bytes[..read]).into_owned();
                // The cursor position was requested.
                for _ in text.matches("\u{1b}[6n") {
                    let _ = answering.write_all(b"\x1b[1;1R");
                }
                if sender.send(text).is_err() {
                    break;
                }
            }
        });
        Terminal { program, keys: ours, output, shown: String::new() }
    }

    /// Types a line and waits for the expected output.
    fn types(&mut self, line: &str, expected: &str) -> String {
        self.shown.clear();
        self.keys.write_all(format!("{line}\r").as_bytes()).expect("it listens");
        self.shows(expected)
    }

    fn shows(&mut self, expected: &str) -> String {
        let began = Instant::now();
        while !self.shown.contains(expected) {
            let left = PATIENCE.saturating_sub(began.elapsed());
            match self.output.recv_timeout(left) {
                Ok(text) => self.shown.push_str(&text),
                Err(_) => panic!("`{expected}` is not shown: {:?}", self.shown),
            }
        }
        // Text typed before the next prompt may get lost.
        while let Ok(text) = self.output.recv_timeout(QUIET) {
            self.shown.push_str(&text);
        }
        self.shown.clone()
    }

    /// Leaves the game, which asks nothing.
    fn leaves(mut self) {
        self.types("quit", "");
        let began = Instant::now();
        while self.program.try_wait().expect("it can be asked").is_none() {
            if began.elapsed() >= PATIENCE {
                let _ = self.program.kill();
                panic!("it does not end: {:?}", self.shown);
            }
            thread::sleep(Duration::from_millis(20));
        }
    }
}

#[test]
fn the_first_screen_lists_everybody_and_nothing_is_lost() {
    let home = "terminal-first";
    let mut terminal = Terminal::open(&["play", "duel", "--rules", "riskbreaker-0.0.1", "--seed", "1"], home);
    let first = terminal.shows("Type yes or no");
    assert!(first.contains("fights with") && first.contains("Duellist"), "{first}");
    // The turn begins with a rule and the sides.
    assert!(first.contains("── ") && first.contains("Kill\u{a0}Damage\u{a0}0/"), "{first}");
    terminal.types("ok", "which action?");
    terminal.types("log --all", "*2 ");
    let again = terminal.types("restart", "Type yes or no");
    assert!(again.contains("· seed ") && again.contains("fights with"), "{again}");
    terminal.types("say once more", "once more");
    terminal.types("encounter fighter against bandit", "`encounter yes` begins it.");
    let begun = terminal.types("encounter yes", "Type yes or no");
    assert!(begun.contains("· seed ") && begun.contains("Bandit"), "{begun}");
    terminal.leaves();
    // The unnamed game is complete, and naming it is offered once.
    let mut terminal = Terminal::again(&["play", "contest"], home);
    let first = terminal.shows("closed: `why`");
    assert!(first.contains("1 earlier game without a name: `recover` lists them."), "{first}");
    let listed = terminal.types("recover", "`recover 1` continues");
    assert!(listed.contains("riskbreaker-0.0.1") && listed.contains("ago"), "{listed}");
    let back = terminal.types("recover 1", "Type yes or no");
    assert!(back.contains("Bandit"), "{back}");
    terminal.types("log all", "once more");
    terminal.types("save evening", "saved in evening.rbsave");
    terminal.types("save", "every line is kept in evening");
    terminal.types("save evening", "exists already");
    terminal.leaves();
    let mut terminal = Terminal::again(&["play", "evening"], home);
    terminal.shows("evening.rbsave");
    terminal.types("recover", "There is no other game without a name");
    terminal.leaves();
}

#[test]
fn a_game_in_a_read_only_folder_can_be_played() {
    let home = Path::new(env!("CARGO_TARGET_TMPDIR")).join("terminal-unkept");
    let _ = std::fs::remove_dir_all(&home);
    std::fs::create_dir_all(&home).expect("a folder of its own");
    std::fs::write(home.join("riskbreaker"), "a file in the way").expect("it can be written");
    let mut terminal = Terminal::again(&["play", "duel", "--rules", "riskbreaker-0.0.1"], "terminal-unkept");
    terminal.shows("This game is not kept: ");
    terminal.types("ok", "which action?");
    terminal.leaves();
}

#[test]
fn a_name_of_a_campaign_and_a_scenario_is_asked_about() {
    let home = "terminal-both";
    let mut terminal = Terminal::open(&["play", "duel.rbsave", "duel", "--rules", "riskbreaker-0.0.1"], home);
    terminal.shows("Type yes or no");
    terminal.leaves();
    let mut terminal = Terminal::again(&["play", "duel"], home);
    terminal.shows("`campaign` (Enter) or `scenario`");
    terminal.types("what", "is neither");
    let told = terminal.types("scenario", "Type yes or no");
    assert!(!told.contains("duel.rbsave"), "{told}");
    terminal.leaves();
}

#[test]
fn a_notify_command_gets_the_seat_whose_turn_it_is() {
    let home = "terminal-notify";
    let told = Path::new(env!("CARGO_TARGET_TMPDIR")).join(home).join("told");
    let args = ["play", "duel", "--rules", "riskbreaker-0.0.1", "--seed", "1", "--notify", "cat >> told; exit 3"];
    let mut terminal = Terminal::open(&args, home);
    terminal.shows("Type yes or no");
    terminal.types("ok", "which action?");
    // A failing command does not stop the game, which reports it later.
    terminal.types("look", "The command of `--notify` failed: exit status: 3. The game continues.");
    terminal.leaves();
    let lines = std::fs::read_to_string(told).expect("the command was run");
    let first: serde_json::Value = serde_json::from_str(lines.lines().next().expect("a line")).expect("it is JSON");
    assert_eq!(first["seat"], "players");
    assert!(first["title"].as_str().is_some_and(|title| title.contains("attack Defender")), "{first}");
}

#[test]
fn a_free_act_without_questions_is_previewed() {
    let mut terminal =
        Terminal::open(&["play", "duel", "--rules", "riskbreaker-0.0.3", "--seed", "1"], "terminal-free");
    terminal.shows("Type yes or no");
    terminal.types("surrender", "Type `surrender yes` to do it.");
    // A preview cannot be redone.
    terminal.types("redo", "There is nothing to redo");
    let after = terminal.types("look", "where");
    assert!(after.contains("Fighter") && after.contains("Duellist"), "{after}");
    terminal.leaves();
}

#[test]
fn ctrl_c_in_the_pager_does_not_end_the_game() {
    // A pager in which Ctrl-C is pressed, which also reaches the game.
    let pager = Path::new(env!("CARGO_TARGET_TMPDIR")).join("interrupting-pager");
    std::fs::write(&pager, "kill -INT $PPID\nsed 's/^/|/'\n").expect("it can be written");
    let args = ["play", "duel", "--rules", "riskbreaker-0.0.1", "--seed", "1"];
    let mut terminal = Terminal::with_pager(&args, "terminal-interrupted", &format!("sh {}", pager.display()));
    terminal.shows("Type yes or no");
    terminal.types("help all", "|  quit");
    terminal.types("ok", "which action?");
    terminal.leaves();
}

#[test]
fn output_longer_than_the_screen_is_paged() {
    let mut terminal =
        Terminal::open(&["play", "duel", "--rules", "riskbreaker-0.0.1", "--seed", "1"], "terminal-pages");
    terminal.shows("Type yes or no");
    let long = terminal.types("help all", "|  quit");
    assert!(long.lines().filter(|line| line.starts_with('|')).count() > 24, "{long}");
    let short = terminal.types("help undo", "undo");
    assert!(!short.contains('|'), "{short}");
    terminal.leaves();
}

#[test]
fn a_change_of_the_rules_is_printed_once() {
    let rulesets = Path::new(env!("CARGO_TARGET_TMPDIR")).join("terminal-rules");
    let _ = std::fs::remove_dir_all(&rulesets);
    let rulesets = rulesets.to_str().expect("it can be written out");
    let made = Command::new(env!("CARGO_BIN_EXE_riskbreaker")).args(["new", "mine", "--rulesets", rulesets]).output();
    assert!(made.expect("the program starts").status.success());
    let strike = Path::new(rulesets).join("mine/maneuvers/strike.luau");
    let text = std::fs::read_to_string(&strike).expect("the template has it");
    let args = ["play", "--rules", "mine", "--rulesets", rulesets, "--seed", "7", "--as", "first"];
    let mut terminal = Terminal::open(&args, "terminal-reload");
    terminal.shows("Strike");
    std::fs::write(&strike, text.replacen("text = \"", "text = \"Well, ", 1)).expect("it can be written");
    let began = Instant::now();
    let mut shown = String::new();
    while !shown.contains("strike.luau reloaded: one line") {
        assert!(began.elapsed() < PATIENCE, "{shown}");
        shown = terminal.types("look", "Ann");
    }
    assert_eq!(shown.matches("strike.luau").count(), 1, "{shown}");
    assert_eq!(terminal.types("log", "strike.luau: one line").matches("strike.luau").count(), 1);
    terminal.leaves();
}

#[test]
fn the_screen_of_a_seat_does_not_preview_a_free_act_with_secrets() {
    let rulesets = super::veil("veil-act");
    let call = ["--rulesets", &rulesets, "play", "--rules", "veil", "--as", "north", "--seed", "1"];
    let mut terminal = Terminal::open(&call, "terminal-veil");
    terminal.shows("What?");
    let asked = terminal.types("open", "Type `open yes` to do it.");
    assert!(!asked.contains("->"), "{asked}");
    terminal.types("open yes", "0 -> 37");
    terminal.leaves();
}

#[test]
fn behind_the_curtain_no_line_of_another_seat_comes_back() {
    let rulesets = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/rulesets");
    let call = ["play", "--rulesets", rulesets, "--rules", "bluff", "--seed", "5", "--curtain"];
    let mut terminal = Terminal::open(&call, "terminal-curtain");
    terminal.shows("The screen is for gm now.");
    terminal.types("", "A trap?");
    terminal.types("no", "The screen is for north now.");
    terminal.types("", "Nora: card?");
    terminal.types("card 11", "The screen is for south now.");
    terminal.types("", "Sam: card?");
    // The key Up.
    let recalled = terminal.types("\u{1b}[A", "Sam");
    assert!(!recalled.contains("card 11"), "{recalled}");
    terminal.leaves();
}

#[test]
fn a_name_that_fits_several_is_asked_about_with_numbers() {
    let rulesets = super::game_of_two("names-terminal", "Ann", "Ann");
    let rulesets = rulesets.to_str().expect("a path");
    let call = ["play", "two", "--rulesets", rulesets, "--rules", "my-game", "--seed", "7"];
    let mut terminal = Terminal::open(&call, "terminal-names");
    terminal.shows("What does");
    terminal.types("set ann harm 3", "1  Ann (#1)");
    terminal.types("2", "Harm 0 -> 3");
    let sheet = terminal.types("sheet ann", "2  Ann (#2)");
    assert!(sheet.contains("Type the number of the one you mean"), "{sheet}");
    terminal.types("2", "3 of 5");
    // Anything else is a new line, and a number is then an answer again.
    terminal.types("sheet ann", "2  Ann (#2)");
    terminal.types("who", "Ann (#1), Ann (#2)");
    let answered = terminal.types("1", "Ann (#2)");
    assert!(answered.contains("Guard") || answered.contains("guard"), "{answered}");
    terminal.types("say done", "done");
    terminal.leaves();
}
