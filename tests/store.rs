//! Campaigns in files: kept before they are told, opened again at the same question, whole whatever happens to the program.
//!
//! `STORE_ROUNDS=500` plays the random tests longer; a few rounds are enough to notice what is broken.

#![cfg(feature = "cli")]

mod answers;

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;

use answers::any_answer;
use riskbreaker::dice::DiceRng;
use riskbreaker::store::{Campaign, Character, Kept, Store, StoreError, recover};
use riskbreaker::{Driver, Edit, Happening, Library, Ruleset, Session, Setup, Step};

fn library(folder: &str) -> Library {
    Library::open(Path::new(env!("CARGO_MANIFEST_DIR")).join(folder)).unwrap()
}

fn tug(library: &Library) -> Arc<Ruleset> {
    Ruleset::load(library, "tug").unwrap_or_else(|error| panic!("{error}"))
}

fn rounds(few: u64) -> u64 {
    std::env::var("STORE_ROUNDS").ok().and_then(|rounds| rounds.parse().ok()).unwrap_or(few)
}

/// An empty folder of a test.
fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("store").join(name);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    folder
}

/// What the game is at this moment, for comparing.
fn moment(session: &mut Session) -> (Vec<u8>, String, Step) {
    let step = session.advance().unwrap();
    (session.state_bytes(), format!("{:?}", session.questions()), step)
}

/// Answers one open question in some way, or remedies a fault.
fn decide(session: &mut Session, n: u64) -> bool {
    match session.advance().unwrap() {
        Step::Over(_) => false,
        Step::Fault(_) => session.remedy(riskbreaker::Remedy::SkipAction).is_ok(),
        Step::Ask => {
            let open = session.questions();
            let question = open[n as usize % open.len()].clone();
            let answer = any_answer(&question, n);
            if session.answer(question.id, answer).is_err() {
                let default = question.default.clone().unwrap_or_else(|| any_answer(&question, 0));
                session.answer(question.id, default).unwrap();
            }
            let _ = session.advance().unwrap();
            true
        }
    }
}

/// A campaign of tug of some decisions, with a branch, an edit and two scenes.
fn played(path: &Path, library: &Library) -> Campaign {
    let rules = tug(library);
    let store = Store::open(path, library).unwrap();
    let mut campaign = store.create("evening").unwrap();
    let mut setup = Setup::default().seed(5).switch("wins_at", 20);
    for scene in ["first", "second"] {
        let mut session = campaign.begin(&rules, setup.clone(), scene).unwrap();
        let _ = session.advance().unwrap();
        campaign.keep(&mut session).unwrap();
        for n in 0..6 {
            decide(&mut session, n);
            campaign.keep(&mut session).unwrap();
        }
        session.undo().unwrap();
        session.undo().unwrap();
        let _ = session.advance().unwrap();
        campaign.keep(&mut session).unwrap();
        for n in 3..6 {
            decide(&mut session, n);
            campaign.keep(&mut session).unwrap();
        }
        session.edit(Edit::Say { text: format!("so much for the {scene}") }).unwrap();
        let _ = session.advance().unwrap();
        campaign.keep(&mut session).unwrap();
        campaign.note(&format!("after the {scene}")).unwrap();
        setup = Setup { seed: 6, ..setup };
    }
    campaign
}

#[test]
fn a_campaign_opens_at_every_decision_as_the_uninterrupted_game_stands() {
    let shipped = library("rulesets");
    let own = library("tests/rulesets");
    let games: Vec<(&Library, &str)> = vec![
        (&own, "tug"),
        (&shipped, "riskbreaker-0.0.1"),
        (&shipped, "riskbreaker-0.0.3"),
        (&shipped, "contest"),
        (&shipped, "silent-winter"),
        (&shipped, "rbf"),
    ];
    let path = folder("every-decision").join("games.rbsave");
    let store = Store::open(&path, &shipped).unwrap();
    for (library, id) in games {
        let rules = Ruleset::load(library, id).unwrap_or_else(|error| panic!("{id}: {error}"));
        let mut setup = Setup::default().seed(11);
        for seat in rules.seats().keys() {
            // Several seats are played by people, so that questions are out together.
            setup = setup.seat(seat, Driver::Human);
        }
        let mut control = Session::start(&rules, setup.clone()).unwrap();
        let mut campaign = store.create(id).unwrap();
        let mut session = campaign.begin(&rules, setup, id).unwrap();
        assert_eq!(moment(&mut session), moment(&mut control), "{id}");
        campaign.keep(&mut session).unwrap();
        let mut rng = DiceRng::new(3);
        for n in 0..rounds(14) {
            let choice = u64::from(rng.face(1 << 16));
            let went_on = decide(&mut control, choice);
            assert_eq!(decide(&mut session, choice), went_on, "{id}, decision {n}");
            campaign.keep(&mut session).unwrap();
            let mut again = store.campaign(id).unwrap();
            session = again.session().unwrap_or_else(|error| panic!("{id}, decision {n}: {error}"));
            assert_eq!(moment(&mut session), moment(&mut control), "{id}, decision {n}");
            assert_eq!(session.decisions(), control.decisions(), "{id}, decision {n}");
            assert_eq!(again.keep(&mut session).unwrap(), Kept::Nothing, "{id}, decision {n}");
            campaign = again;
            if !went_on {
                break;
            }
        }
        // Everything is taken back as it is in the game that was never closed.
        while control.undo().is_ok() {
            session.undo().unwrap();
            assert_eq!(moment(&mut session), moment(&mut control), "{id}");
        }
    }
}

#[test]
fn undo_reaches_back_beyond_what_is_in_memory_and_to_the_scene_before() {
    let library = library("tests/rulesets");
    let path = folder("far-back").join("far.rbsave");
    let rules = tug(&library);
    let store = Store::open(&path, &library).unwrap();
    let mut campaign = store.create("far").unwrap();
    let setup = Setup::default().seed(5).switch("wins_at", 20);
    let mut states = Vec::new();
    for scene in ["first", "second"] {
        let mut session = campaign.begin(&rules, setup.clone(), scene).unwrap();
        let _ = session.advance().unwrap();
        campaign.keep(&mut session).unwrap();
        states.push(moment(&mut session).0);
        let rope = session.view().find("rope").unwrap();
        for n in 0..150 {
            match n % 10 {
                0 => assert!(decide(&mut session, 1)),
                _ => {
                    let value = riskbreaker::Value::Int(n % 19 - 9);
                    session.edit(Edit::Set { entity: rope, field: "at".into(), value }).unwrap();
                    let _ = session.advance().unwrap();
                }
            }
            campaign.keep(&mut session).unwrap();
            states.push(moment(&mut session).0);
        }
    }
    let mut campaign = store.campaign("far").unwrap();
    for expected in states.iter().rev().skip(1) {
        let before = campaign.before().unwrap().unwrap();
        let mut session = campaign.go_to(before).unwrap();
        assert!(moment(&mut session).0 == *expected, "back at entry {before}");
    }
    assert_eq!(campaign.head(), 1);
    for expected in states.iter().skip(1) {
        let after = campaign.after().unwrap().unwrap();
        let mut session = campaign.go_to(after).unwrap();
        assert!(moment(&mut session).0 == *expected, "forth at entry {after}");
    }
    // From a checkpoint on, an undo in memory and one from the file are the same.
    let mut session = campaign.session().unwrap();
    let mut undone = 0;
    while session.undo().is_ok() {
        undone += 1;
        assert!(moment(&mut session).0 == states[states.len() - 1 - undone], "{undone} undone");
    }
    assert!(undone >= 8, "{undone}");
}

#[test]
fn what_was_undone_stays_reachable_and_what_comes_again_is_known() {
    let library = library("tests/rulesets");
    let path = folder("branches").join("branches.rbsave");
    let rules = tug(&library);
    let store = Store::open(&path, &library).unwrap();
    let mut campaign = store.create("branches").unwrap();
    let mut session = campaign.begin(&rules, Setup::default().seed(5).switch("wins_at", 20), "tug").unwrap();
    let _ = session.advance().unwrap();
    assert_eq!(campaign.keep(&mut session).unwrap(), Kept::New(1));
    for (n, entry) in [(0, 2), (1, 3), (2, 4)] {
        decide(&mut session, n);
        assert_eq!(campaign.keep(&mut session).unwrap(), Kept::New(entry));
    }
    let end = moment(&mut session);
    session.undo().unwrap();
    let _ = session.advance().unwrap();
    assert_eq!(campaign.keep(&mut session).unwrap(), Kept::Known(3));
    session.redo().unwrap();
    let _ = session.advance().unwrap();
    assert_eq!(campaign.keep(&mut session).unwrap(), Kept::Known(4));
    assert_eq!(moment(&mut session), end);
    // Another decision is a branch; the old one is still there.
    session.undo().unwrap();
    let _ = session.advance().unwrap();
    campaign.keep(&mut session).unwrap();
    decide(&mut session, 1);
    assert_eq!(campaign.keep(&mut session).unwrap(), Kept::New(5));
    let log = campaign.log(true, usize::MAX).unwrap();
    let stands: Vec<(u32, u32, bool)> = log.iter().map(|entry| (entry.entry, entry.after, entry.stands)).collect();
    assert_eq!(stands, [(1, 0, true), (2, 1, true), (3, 2, true), (4, 3, false), (5, 3, true)]);
    let mut session = campaign.go_to(4).unwrap();
    assert_eq!(moment(&mut session), end);
    assert!(matches!(campaign.go_to(6), Err(StoreError::Refused(_))));
    assert_eq!(campaign.head(), 4);
}

#[test]
fn a_replay_compares_every_entry_and_tells_where_other_rules_differ() {
    let library = library("tests/rulesets");
    let path = folder("replay").join("evening.rbsave");
    let mut campaign = played(&path, &library);
    let mut seen = Vec::new();
    let summary = campaign
        .replay(None, |entry| {
            seen.push(entry.entry);
            ControlFlow::Continue(())
        })
        .unwrap();
    assert_eq!((summary.entries as usize, summary.scenes), (seen.len(), 2));
    assert_eq!(seen.last(), Some(&campaign.head()));
    assert!(campaign.differs_under(&tug(&library)).unwrap().is_none());
    let story = {
        let mut text = Vec::new();
        campaign.story(&mut text).unwrap();
        String::from_utf8(text).unwrap()
    };
    assert!(story.contains("## second") && story.contains("after the first"), "{story}");
    let recap = campaign.recap().unwrap();
    assert!(
        recap[0].contains("first") && recap.iter().any(|text| text.contains("so much for the second")),
        "{recap:?}"
    );
}

#[test]
fn lines_of_json_are_read_back_to_the_same_game() {
    let library = library("tests/rulesets");
    let folder = folder("export");
    let mut campaign = played(&folder.join("evening.rbsave"), &library);
    let mut lines = Vec::new();
    campaign.export(&mut lines).unwrap();
    let store = Store::open(folder.join("copy.rbsave"), &library).unwrap();
    let mut copy = store.import(lines.as_slice()).unwrap();
    let mut again = Vec::new();
    copy.export(&mut again).unwrap();
    assert!(again == lines, "another export");
    assert_eq!(moment(&mut copy.session().unwrap()), moment(&mut campaign.session().unwrap()));
    assert_eq!(store.verify().unwrap().problems, Vec::<String>::new());
    copy.replay(None, |_| ControlFlow::Continue(())).unwrap();
    // Lines that are cut off are refused, and leave nothing behind.
    let cut: Vec<u8> = lines[..lines.len() / 2].to_vec();
    let store = Store::open(folder.join("cut.rbsave"), &library).unwrap();
    assert!(store.import(cut.as_slice()).is_err());
    assert!(store.first().unwrap().is_none());
}

#[test]
fn a_damaged_file_is_refused_or_recovered_and_never_another_game() {
    let library = library("tests/rulesets");
    let folder = folder("damage");
    let path = folder.join("evening.rbsave");
    let mut campaign = played(&path, &library);
    let here = moment(&mut campaign.session().unwrap());
    let head = campaign.head();
    let states: Vec<_> = (1..=campaign.entries()).map(|entry| moment(&mut campaign.go_to(entry).unwrap())).collect();
    campaign.go_to(head).unwrap();
    drop(campaign);
    let whole = fs::read(&path).unwrap();
    let copy = folder.join("copy.rbsave");
    let (mut refused, mut identical, mut recovered) = (0, 0, 0);
    let mut rng = DiceRng::new(17);
    for round in 0..rounds(60) {
        let mut bytes = whole.clone();
        let at = rng.face(bytes.len() as u32) as usize - 1;
        let kind = rng.face(4);
        match kind {
            1 => bytes[at] ^= 1 << (rng.face(8) - 1),
            2 => bytes.truncate(at),
            3 => {
                let end = bytes.len().min(at + rng.face(5_000) as usize);
                bytes[at..end].fill(0);
            }
            _ => (0..rng.face(20)).for_each(|_| {
                let at = rng.face(whole.len() as u32) as usize - 1;
                bytes[at] = rng.face(256) as u8;
            }),
        }
        fs::write(&copy, &bytes).unwrap();
        let opened = Store::open(&copy, &library)
            .and_then(|store| store.first())
            .and_then(|first| first.map(|mut campaign| Ok((campaign.session()?, campaign.head()))).transpose());
        match opened {
            Ok(Some((mut session, at))) => {
                assert_eq!((moment(&mut session), at), (here.clone(), head), "round {round}");
                identical += 1;
                continue;
            }
            Ok(None) => assert!(bytes.is_empty(), "round {round}: the campaign is gone without a word"),
            Err(_) => refused += 1,
        }
        for entry in fs::read_dir(&folder).unwrap().flatten() {
            if entry.file_name().to_string_lossy().contains("damaged") {
                fs::remove_file(entry.path()).unwrap();
            }
        }
        fs::write(&copy, &bytes).unwrap();
        if let Ok(told) = recover(&copy, &library) {
            let store = Store::open(&copy, &library).unwrap_or_else(|error| panic!("round {round}: {error}"));
            let mut campaign = store.first().unwrap().unwrap();
            assert_eq!(campaign.head(), told.campaigns[0].head);
            if campaign.head() > 0 {
                let mut session = campaign.session().unwrap_or_else(|error| panic!("round {round}: {error}"));
                assert_eq!(moment(&mut session), states[campaign.head() as usize - 1], "round {round}");
                recovered += 1;
            }
        }
    }
    assert!(refused > 0 && identical > 0 && recovered > 0, "{refused} {identical} {recovered}");
}

#[test]
fn characters_go_with_the_campaign_and_their_changes_are_entries() {
    let library = library("tests/rulesets");
    let path = folder("roster").join("evening.rbsave");
    let mut campaign = played(&path, &library);
    let (head, mut session) = (campaign.head(), campaign.session().unwrap());
    let mut roster = campaign.roster().unwrap();
    assert!(roster.characters.is_empty());
    let fields = [("rests".to_owned(), riskbreaker::Value::Int(2))].into();
    let ann = Character { ruleset: "tug".into(), kind: "puller".into(), fields };
    roster.characters.insert("Ann".into(), ann);
    campaign.set_roster(&roster, "roster: Ann is kept").unwrap();
    assert_eq!((campaign.head(), campaign.keep(&mut session).unwrap()), (campaign.entries(), Kept::Nothing));
    let kept = campaign.head();
    decide(&mut session, 0);
    campaign.keep(&mut session).unwrap();
    drop(campaign);
    let store = Store::open(&path, &library).unwrap();
    let mut campaign = store.first().unwrap().unwrap();
    assert_eq!(campaign.roster().unwrap(), roster);
    assert_eq!(campaign.text(kept).unwrap(), "roster: Ann is kept");
    campaign.go_to(head).unwrap();
    assert!(campaign.roster().unwrap().characters.is_empty());
    let mut session = campaign.go_to(kept + 1).unwrap();
    campaign.replay(None, |_| ControlFlow::Continue(())).unwrap();
    // Back over it, and another way in one go: every entry on the way still leads to the next.
    for words in 1..4 {
        while session.decisions() > 2 {
            session.undo().unwrap();
        }
        let _ = session.advance().unwrap();
        session.edit(Edit::OtherDice { words }).unwrap();
        let _ = session.advance().unwrap();
        for n in 0..3 {
            decide(&mut session, n);
        }
        campaign.keep(&mut session).unwrap();
        campaign.replay(None, |_| ControlFlow::Continue(())).unwrap();
        session.undo().unwrap();
        session.undo().unwrap();
        decide(&mut session, words);
        campaign.keep(&mut session).unwrap();
        campaign.replay(None, |_| ControlFlow::Continue(())).unwrap();
    }
    assert_eq!(store.verify().unwrap().problems, Vec::<String>::new());
}

#[test]
fn redo_meets_the_same_dice_and_only_the_game_masters_reroll_meets_others() {
    let library = library("tests/rulesets");
    let mut session = Session::start(&tug(&library), Setup::default().seed(5).switch("wins_at", 20)).unwrap();
    let rolled = |session: &Session| {
        session.log().iter().rev().find_map(|event| match &event.happening {
            Happening::Rolled { faces, .. } => Some(faces.clone()),
            _ => None,
        })
    };
    let _ = session.advance().unwrap();
    decide(&mut session, 0);
    decide(&mut session, 0);
    let (first, before) = (rolled(&session), moment(&mut session));
    session.undo().unwrap();
    let _ = session.advance().unwrap();
    session.redo().unwrap();
    assert_eq!((moment(&mut session), rolled(&session)), (before.clone(), first.clone()));
    let mut others = 0;
    for words in 1..10 {
        session.undo().unwrap();
        let _ = session.advance().unwrap();
        session.edit(Edit::OtherDice { words }).unwrap();
        let _ = session.advance().unwrap();
        session.redo().unwrap();
        let _ = session.advance().unwrap();
        others += u32::from(rolled(&session) != first);
        let again = Session::load(&library, &session.save()).unwrap();
        assert_eq!(rolled(&again), rolled(&session));
        session.undo().unwrap();
        session.undo().unwrap();
        let _ = session.advance().unwrap();
        decide(&mut session, 0);
        assert_eq!((moment(&mut session).0, rolled(&session)), (before.0.clone(), first.clone()), "after {words}");
    }
    assert!(others > 3, "{others}");
}

/// `STORE_LONG=100000 cargo test --release --test store long -- --nocapture` measures a campaign of so many entries.
#[test]
fn a_long_campaign_opens_and_undoes_from_its_end() {
    let long: u32 = std::env::var("STORE_LONG").ok().and_then(|long| long.parse().ok()).unwrap_or(300);
    let library = library("tests/rulesets");
    let path = folder("long").join("long.rbsave");
    let rules = tug(&library);
    let store = Store::open(&path, &library).unwrap();
    let mut campaign = store.create("long").unwrap();
    let mut session = campaign.begin(&rules, Setup::default().seed(5).switch("wins_at", 20), "tug").unwrap();
    let _ = session.advance().unwrap();
    let rope = session.view().find("rope").unwrap();
    let mut spent = std::time::Duration::ZERO;
    for n in 0..long {
        let value = riskbreaker::Value::Int(i64::from(n % 19) - 9);
        session.edit(Edit::Set { entity: rope, field: "at".into(), value }).unwrap();
        let _ = session.advance().unwrap();
        let began = std::time::Instant::now();
        campaign.keep(&mut session).unwrap();
        spent += began.elapsed();
    }
    let last = moment(&mut session);
    drop((campaign, store));
    let began = std::time::Instant::now();
    let store = Store::open(&path, &library).unwrap();
    let mut campaign = store.first().unwrap().unwrap();
    let mut session = campaign.session().unwrap();
    let opened = began.elapsed();
    assert_eq!(moment(&mut session), last);
    let mut slowest = std::time::Duration::ZERO;
    let undone = 150.min(long - 1);
    for _ in 0..undone {
        let began = std::time::Instant::now();
        if session.undo().is_err() {
            let before = campaign.before().unwrap().unwrap();
            session = campaign.go_to(before).unwrap();
        }
        let _ = session.advance().unwrap();
        campaign.keep(&mut session).unwrap();
        slowest = slowest.max(began.elapsed());
    }
    assert_eq!(campaign.head(), long - undone);
    let size = fs::metadata(&path).unwrap().len();
    println!(
        "{long} entries: {size} bytes, kept in {:?} each, opened in {opened:?}, slowest undo {slowest:?}",
        spent / long
    );
}

#[test]
fn a_store_holds_many_campaigns() {
    let library = library("tests/rulesets");
    let path = folder("many").join("bots.rbsave");
    let rules = tug(&library);
    let store = Store::open(&path, &library).unwrap();
    let many = rounds(20);
    for n in 0..many {
        let mut campaign = store.create(&format!("game {n}")).unwrap();
        let mut session = campaign.begin(&rules, Setup::default().seed(n), "tug").unwrap();
        let _ = session.advance().unwrap();
        campaign.keep(&mut session).unwrap();
        decide(&mut session, n);
        campaign.keep(&mut session).unwrap();
    }
    assert!(matches!(store.create("game 3"), Err(StoreError::Exists(_))));
    assert!(matches!(store.campaign("game x"), Err(StoreError::Unknown { .. })));
    drop(store);
    let store = Store::open(&path, &library).unwrap();
    assert_eq!(store.campaigns().unwrap().len() as u64, many);
    for n in [0, many / 2, many - 1] {
        let mut campaign = store.campaign(&format!("game {n}")).unwrap();
        assert_eq!((campaign.entries(), campaign.session().unwrap().seed()), (2, n));
    }
    assert_eq!(store.verify().unwrap().problems, Vec::<String>::new());
}

#[test]
fn rules_travel_with_the_campaign() {
    let library = library("tests/rulesets");
    let path = folder("rules").join("evening.rbsave");
    let here = moment(&mut played(&path, &library).session().unwrap());
    let nothing = Library::from_files(Vec::<(String, String)>::new());
    let store = Store::open(&path, &nothing).unwrap();
    let mut campaign = store.first().unwrap().unwrap();
    assert_eq!(moment(&mut campaign.session().unwrap()), here);
    campaign.replay(None, |_| ControlFlow::Continue(())).unwrap();
}

// The program

fn program(folder: &Path, args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_riskbreaker"));
    let rulesets = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/rulesets");
    command.current_dir(folder).args(args).args(["--rulesets", &rulesets.display().to_string()]);
    command.env("XDG_STATE_HOME", folder.join("state")).env("NO_COLOR", "1");
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// Texts that were said in the game of a file.
fn said(path: &Path) -> Vec<String> {
    let library = library("tests/rulesets");
    let campaign = Store::open(path, &library).unwrap().first().unwrap().unwrap();
    let mut said = Vec::new();
    campaign
        .replay(None, |entry| {
            said.extend(entry.events.iter().filter_map(|event| match &event.happening {
                Happening::Said { text } => Some(text.clone()),
                _ => None,
            }));
            ControlFlow::Continue(())
        })
        .unwrap();
    said
}

#[test]
fn a_killed_program_has_kept_all_that_it_told() {
    let folder = folder("killed");
    let mut rng = DiceRng::new(u64::from(std::process::id()));
    let mut told: Vec<String> = Vec::new();
    for round in 0..rounds(5) {
        let mut child = program(&folder, &["play", "evening", "--rules", "tug", "--json"]).spawn().unwrap();
        let mut stdin = child.stdin.take().unwrap();
        let writer = std::thread::spawn(move || {
            for n in 0..5_000 {
                if writeln!(stdin, "say {round}/{n}").is_err() {
                    return;
                }
            }
        });
        let quota = rng.face(60);
        let mut seen = 0;
        for line in BufReader::new(child.stdout.take().unwrap()).lines() {
            let Ok(line) = line else { break };
            let event: serde_json::Value = serde_json::from_str(&line).unwrap();
            if event["event"] == "said" {
                told.push(event["text"].as_str().unwrap().to_owned());
                seen += 1;
            }
            if seen == quota {
                std::thread::sleep(std::time::Duration::from_micros(u64::from(rng.face(3_000))));
                child.kill().unwrap();
            }
        }
        child.wait().unwrap();
        writer.join().unwrap();
        let kept = said(&folder.join("evening.rbsave"));
        assert!(kept.len() >= told.len(), "round {round}");
        assert_eq!(kept[..told.len()], told[..], "round {round}");
        told = kept;
    }
}

#[test]
#[cfg(unix)]
fn a_full_disk_loses_nothing_and_play_goes_on_when_there_is_room() {
    let folder = folder("full");
    let lines =
        |from: u32, to: u32| (from..to).map(|n| format!("say line {n} {}\n", "x".repeat(300))).collect::<String>();
    let run = |limited: bool, input: &str| {
        let binary = env!("CARGO_BIN_EXE_riskbreaker");
        let rulesets = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/rulesets");
        // Blocks of 512 bytes or of 1024: the file of one scene fits into the limit, some hundred lines more do not.
        let limit = if limited { "trap '' XFSZ; ulimit -f 200;" } else { "" };
        let mut child = Command::new("sh")
            .args([
                "-c",
                &format!("{limit} exec '{binary}' play evening --rules tug --rulesets '{}'", rulesets.display()),
            ])
            .current_dir(&folder)
            .env("XDG_STATE_HOME", folder.join("state"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut stdin = child.stdin.take().unwrap();
        let input = input.to_owned();
        let writer = std::thread::spawn(move || {
            let _ = stdin.write_all(input.as_bytes());
        });
        let output = child.wait_with_output().unwrap();
        writer.join().unwrap();
        output
    };
    let first = run(false, &lines(0, 3));
    assert!(first.status.success(), "{first:?}");
    let path = folder.join("evening.rbsave");
    let second = run(true, &lines(3, 900));
    let problem = String::from_utf8_lossy(&second.stderr);
    assert!(problem.contains("This line was not taken, since it cannot be kept"), "{problem}");
    assert!(!second.status.success());
    let kept = said(&path);
    let told = String::from_utf8_lossy(&second.stdout).matches("  line ").count();
    assert!(kept.len() >= 3 + told, "{} {told}", kept.len());
    let third = run(false, "say there is room again\n");
    assert!(third.status.success(), "{third:?}");
    assert_eq!(said(&path).last().map(String::as_str), Some("there is room again"));
}

#[test]
fn the_second_program_is_told_who_plays() {
    let library = library("tests/rulesets");
    let folder = folder("held");
    let path = folder.join("evening.rbsave");
    let campaign = played(&path, &library);
    let child = program(&folder, &["play", "evening"]).spawn().unwrap();
    let output = child.wait_with_output().unwrap();
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success());
    assert!(told.contains(&format!("is held by process {} on ", std::process::id())), "{told}");
    drop(campaign);
    let child = program(&folder, &["play", "evening"]).spawn().unwrap();
    assert!(child.wait_with_output().unwrap().status.success());
    assert!(!folder.join("evening.rbsave-lock").exists() && !folder.join("evening.rbsave-journal").exists());
}

/// Files of every format that was ever released are kept for ever, and open.
#[test]
fn files_of_every_format_open() {
    let library = library("tests/rulesets");
    let saves = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/saves");
    let text = fs::read_to_string(saves.join("format-1.json")).unwrap();
    let mut session = Session::load(&library, &text).unwrap();
    assert_eq!((session.decisions(), session.advance().unwrap()), (3, Step::Ask));
    // What was saved as JSON goes on as a campaign.
    let folder = folder("formats");
    let mut campaign = Store::open(folder.join("json.rbsave"), &library).unwrap().create("json").unwrap();
    campaign.adopt(&session, "as it was").unwrap();
    campaign.keep(&mut session).unwrap();
    assert_eq!(moment(&mut campaign.session().unwrap()), moment(&mut session));

    let path = folder.join("format-1.rbsave");
    fs::copy(saves.join("format-1.rbsave"), &path).unwrap();
    let store = Store::open(&path, &library).unwrap();
    let mut campaign = store.first().unwrap().unwrap();
    assert_eq!(campaign.entries(), 4);
    assert_eq!(campaign.session().unwrap().decisions(), 3);
    campaign.replay(None, |_| ControlFlow::Continue(())).unwrap();
}
