//! Campaigns in files: stored before they are acknowledged, reopened at the same question, and intact whatever happens
//! to the program.
//!
//! `STORE_ROUNDS=500` runs the random tests longer; a few rounds are enough to detect an error.

#![cfg(feature = "cli")]

#[path = "store/amend.rs"]
mod amend;
mod answers;
#[allow(dead_code)] // other tests use the rest of it
#[path = "store/failing_disk.rs"]
mod failing_disk;
mod files;

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;

use answers::any_answer;
use riskbreaker::dice::DiceRng;
use riskbreaker::store::{Campaign, Character, Kept, Store, StoreError, recover};
use riskbreaker::{Driver, Edit, Happening, Library, Ruleset, Session, Setup, Step, Viewer};

fn library(folder: &str) -> Library {
    Library::open(Path::new(env!("CARGO_MANIFEST_DIR")).join(folder)).unwrap()
}

fn tug(library: &Library) -> Arc<Ruleset> {
    Ruleset::load(library, "tug").unwrap_or_else(|error| panic!("{error}"))
}

fn rounds(few: u64) -> u64 {
    std::env::var("STORE_ROUNDS").ok().and_then(|rounds| rounds.parse().ok()).unwrap_or(few)
}

/// The folder of a test.
fn folder_of(name: &str) -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join("store").join(name)
}

/// Creates an empty folder for a test.
fn folder(name: &str) -> PathBuf {
    let folder = folder_of(name);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    folder
}

/// The current state of the game, for comparison.
fn moment(session: &mut Session) -> (Vec<u8>, String, Step) {
    let step = session.advance().unwrap();
    (session.state_bytes(), format!("{:?}", session.questions()), step)
}

/// Answers one open question by a number, or remedies a fault.
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

/// A campaign of tug with some decisions, a branch, an edit and two scenes.
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
fn a_campaign_opens_at_every_decision_with_the_same_state() {
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
            // Several seats are played by people, so that questions are open together.
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
        // Everything is undone as in the game that was never closed.
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
    // From a checkpoint on, an undo in memory and one from the file give the same.
    let mut session = campaign.session().unwrap();
    let mut undone = 0;
    while session.undo().is_ok() {
        undone += 1;
        assert!(moment(&mut session).0 == states[states.len() - 1 - undone], "{undone} undone");
    }
    assert!(undone >= 8, "{undone}");
}

#[test]
fn undone_entries_stay_reachable_and_repeated_ones_are_reused() {
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
    // Another decision is a branch; the old one still exists.
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
fn a_replay_compares_every_entry_and_reports_differences_under_other_rules() {
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
    let recap = campaign.recap(&Viewer::master()).unwrap().paragraphs();
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
    // Truncated lines are refused, and leave nothing behind.
    let cut: Vec<u8> = lines[..lines.len() / 2].to_vec();
    let store = Store::open(folder.join("cut.rbsave"), &library).unwrap();
    assert!(store.import(cut.as_slice()).is_err());
    assert!(store.first().unwrap().is_none());
}

/// The page size of the file, in bytes.
const PAGE: usize = 4096;

/// The counts of the first line may be too low, if somebody joined lines. Later entries must not get a number that is
/// already used, since they would not be written.
#[test]
fn entries_kept_after_an_import_do_not_depend_on_counts_in_the_first_line() {
    let library = library("tests/rulesets");
    let folder = folder("counts");
    let mut lines = Vec::new();
    played(&folder.join("evening.rbsave"), &library).export(&mut lines).unwrap();
    let lines = String::from_utf8(lines).unwrap();
    let (first, rest) = lines.split_once('\n').unwrap();
    let counting = |first: &str| {
        let mut first: serde_json::Value = serde_json::from_str(first).unwrap();
        for count in ["actions", "pieces", "notes"] {
            first["campaign"][count] = 0.into();
        }
        first
    };
    let copy = folder.join("copy.rbsave");
    {
        let store = Store::open(&copy, &library).unwrap();
        let mut campaign = store.import(format!("{}\n{rest}", counting(first)).as_bytes()).unwrap();
        let notes = campaign.notes().unwrap().len();
        let mut session = campaign.session().unwrap();
        session.set_seat("left", Driver::Policy("hasty".into())).unwrap();
        let _ = session.advance().unwrap();
        campaign.keep(&mut session).unwrap();
        decide(&mut session, 1);
        campaign.keep(&mut session).unwrap();
        campaign.note("after all").unwrap();
        // That note, and the start of the sitting.
        assert_eq!(campaign.notes().unwrap().len(), notes + 2);
    }
    let mut campaign = Store::open(&copy, &library).unwrap().first().unwrap().unwrap();
    assert_eq!(campaign.session().unwrap().seats()["left"], Driver::Policy("hasty".into()));
    // Entries after the last one are refused.
    let mut fewer = counting(first);
    fewer["campaign"]["moments"] = 1.into();
    let store = Store::open(folder.join("fewer.rbsave"), &library).unwrap();
    let refused = store.import(format!("{fewer}\n{rest}").as_bytes()).err().unwrap().to_string();
    assert!(refused.contains("an entry after the last one, which is 1"), "{refused}");
    assert!(store.first().unwrap().is_none());
}

/// The input file is kept, whatever its name.
#[test]
fn an_import_leaves_the_file_that_it_reads() {
    let folder = folder("import");
    drop(played(&folder.join("evening.rbsave"), &library("tests/rulesets")));
    for args in
        [["export", "evening", "--json", "--out", "night.import"].as_slice(), &["import", "night.import", "night"]]
    {
        let output = program(&folder, args).output().unwrap();
        assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    }
    assert!(folder.join("night.import").exists());
    assert_eq!(said(&folder.join("night.rbsave")), said(&folder.join("evening.rbsave")));
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
        let kind = rng.face(6);
        match kind {
            1 => bytes[at] ^= 1 << (rng.face(8) - 1),
            2 => bytes.truncate(at),
            3 => {
                let end = bytes.len().min(at + rng.face(5_000) as usize);
                bytes[at..end].fill(0);
            }
            4 => bytes[at - at % PAGE..][..PAGE].fill(0),
            5 => {
                let pages = (whole.len() / PAGE) as u32;
                let (from, to) = ((rng.face(pages) as usize - 1) * PAGE, (rng.face(pages) as usize - 1) * PAGE);
                bytes[to..to + PAGE].copy_from_slice(&whole[from..from + PAGE]);
                bytes[from..from + PAGE].copy_from_slice(&whole[to..to + PAGE]);
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
            Ok(None) => panic!("round {round}: the campaign is gone without a word"),
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

/// A lost note does not affect other notes or recaps.
#[test]
fn the_notes_of_a_recovered_campaign_are_those_that_are_left() {
    let library = library("tests/rulesets");
    let folder = folder("notes-left");
    let path = folder.join("evening.rbsave");
    let mut campaign = played(&path, &library);
    let text = |n: u32| format!("{n}: {}", "a note that is too long for the dictionary, ".repeat(3));
    campaign.note(&text(1)).unwrap();
    campaign.note(&text(2)).unwrap();
    drop(campaign);
    let mut bytes = fs::read(&path).unwrap();
    let at = bytes.windows(text(1).len()).position(|part| part == text(1).as_bytes()).unwrap();
    bytes[at] ^= 1;
    fs::write(&path, &bytes).unwrap();
    recover(&path, &library).unwrap();
    let campaign = Store::open(&path, &library).unwrap().first().unwrap().unwrap();
    let texts: Vec<_> = campaign.notes().unwrap().into_iter().filter_map(|note| note.text).collect();
    assert!(texts.contains(&text(2)) && !texts.contains(&text(1)), "{texts:?}");
    campaign.recap(&Viewer::watcher()).unwrap();
}

/// An undo leads back to the previous entry, also if that is a change of the roster.
#[test]
fn an_undo_leads_back_to_a_change_of_the_roster() {
    let library = library("tests/rulesets");
    let mut campaign = played(&folder("roster-undo").join("evening.rbsave"), &library);
    let (before, mut session) = (campaign.head(), campaign.session().unwrap());
    let mut roster = campaign.roster().unwrap();
    let ann = Character { ruleset: "tug".into(), kind: "puller".into(), fields: [].into(), sheet: None };
    roster.characters.insert("Ann".into(), ann);
    campaign.set_roster(&roster, "roster: Ann is kept").unwrap();
    let kept = campaign.head();
    decide(&mut session, 0);
    assert_eq!(campaign.keep(&mut session).unwrap(), Kept::New(kept + 1));
    session.undo().unwrap();
    let _ = session.advance().unwrap();
    assert_eq!(campaign.keep(&mut session).unwrap(), Kept::Known(kept));
    assert!(campaign.stands_beside());
    assert_eq!((campaign.before().unwrap(), campaign.after().unwrap()), (Some(before), Some(kept + 1)));
    session.redo().unwrap();
    let _ = session.advance().unwrap();
    assert_eq!(campaign.keep(&mut session).unwrap(), Kept::Known(kept + 1));
    assert_eq!(campaign.entries(), kept + 1);
    campaign.replay(None, |_| ControlFlow::Continue(())).unwrap();
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
    let ann = Character { ruleset: "tug".into(), kind: "puller".into(), fields, sheet: None };
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
    // Undone and played differently in one go: every entry still leads to the next.
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

/// `STORE_LONG=100000 cargo test --release --test store long -- --nocapture` measures a campaign with this number of
/// entries.
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
    let mut slowest = std::time::Duration::ZERO;
    for n in [0, many / 2, many - 1, many / 3, many / 7] {
        let began = std::time::Instant::now();
        let mut campaign = store.campaign(&format!("game {n}")).unwrap();
        let session = campaign.session().unwrap();
        slowest = slowest.max(began.elapsed());
        assert_eq!((campaign.entries(), session.seed()), (2, n));
    }
    println!("{many} games: {} bytes, the slowest opened in {slowest:?}", fs::metadata(&path).unwrap().len());
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

/// The fields of an entity that a sheet can contain, by name, without references to others in the scene.
fn fields_of(session: &Session, title: &str) -> std::collections::BTreeMap<String, riskbreaker::Value> {
    let view = session.view();
    let entity = view.find(title).unwrap_or_else(|_| panic!("nobody is called {title}"));
    let own = view.fields(entity).filter(|(_, value)| {
        let mut refers = false;
        value.each_entity(&mut |_| refers = true);
        !refers
    });
    own.map(|(field, value)| (field.name.to_string(), value.clone())).collect()
}

#[test]
fn a_character_of_the_roster_keeps_its_identity_in_a_scene() {
    let library = library("rulesets");
    for id in ["riskbreaker-0.0.1", "riskbreaker-0.0.3", "contest", "silent-winter", "rbf"] {
        let rules = Ruleset::load(&library, id).unwrap_or_else(|error| panic!("{id}: {error}"));
        let steps = rules.sheet_steps(rules.default_switches()).unwrap_or_else(|fault| panic!("{id}: {fault}"));
        let foe = rules.cast().values().next().unwrap().clone();
        for (name, sheet) in rules.cast() {
            let told = |fault: riskbreaker::Fault| -> ! { panic!("{id}, {name}: {fault}") };
            let riskbreaker::Value::Map(keys) = sheet else { panic!("{id}, {name}") };
            for key in keys.keys() {
                assert!(steps.iter().any(|step| step.key == **key), "{id}, {name}: no step for `{key}`");
            }
            let begin = |sheet: &riskbreaker::Value| {
                let sides = [("Heroes".to_owned(), vec![sheet.clone()]), ("Foes".to_owned(), vec![foe.clone()])];
                let table = rules.position_of(&sides, rules.default_switches()).unwrap_or_else(|fault| told(fault));
                let mut session = Session::start(&rules, Setup::table(table).seed(3)).unwrap();
                let step = session.advance().unwrap();
                assert!(!matches!(step, Step::Fault(_)), "{id}, {name}: {step:?}");
                session
            };
            let mut session = begin(sheet);
            let title = keys["name"].as_text().unwrap().to_owned();
            let entity = session.view().find(&title).unwrap();
            let written = session.written_sheet(entity).unwrap_or_else(|fault| told(fault)).unwrap();
            let mut again = begin(&written);
            let entity = again.view().find(&title).unwrap();
            assert_eq!(again.written_sheet(entity).unwrap().as_ref(), Some(&written), "{id}, {name}");
            if fields_of(&session, &title).get("out") != Some(&riskbreaker::Value::Bool(true)) {
                assert_eq!(fields_of(&again, &title), fields_of(&session, &title), "{id}, {name}");
            }
            let price = rules.price_sheet(&written, rules.default_switches()).unwrap_or_else(|fault| told(fault));
            assert_eq!(price.is_some(), id.starts_with("riskbreaker"), "{id}");
            let riskbreaker::Value::Map(keys) = &written else { panic!("{id}, {name}") };
            for key in keys.keys() {
                assert!(
                    steps.iter().any(|step| step.key == **key),
                    "{id}, {name}: no step for `{key}` as it is written"
                );
            }
        }
    }
}

#[test]
fn a_sheet_costs_what_its_lines_cost() {
    let library = library("rulesets");
    let price = |id: &str, text: &str| {
        let rules = Ruleset::load(&library, id).unwrap();
        let price = rules.price_sheet(&riskbreaker::Value::text(text), rules.default_switches()).unwrap().unwrap();
        (price.cost(), price.have, price.lines.len())
    };
    // RB1: stats begin at 4, 10 points; a skill costs 1, a magical one 2.
    let (cost, have, lines) = price("riskbreaker-0.0.1", "Ann = A5: Maneuver, Sword");
    assert_eq!((cost - 2, have, lines), (price("riskbreaker-0.0.1", "Ann = A5").0, Some(10), 3));
    let (_, have, lines) = price("riskbreaker-0.0.3", "Ann = A5: Move, Sword");
    assert_eq!((have, lines), (Some(50), 6));
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

fn copy_folder(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        let target = to.join(path.file_name().unwrap());
        if path.is_dir() {
            copy_folder(&path, &target);
        } else {
            fs::copy(&path, &target).unwrap();
        }
    }
}

/// The output of the program when it plays a campaign by the rules of a folder and reads these lines.
fn sitting(place: &Path, rulesets: &Path, args: &[&str], lines: &str) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_riskbreaker"));
    command.current_dir(place).args(["play", "game"]).args(args).arg("--rulesets").arg(rulesets);
    command.env("XDG_STATE_HOME", place.join("state")).env("NO_COLOR", "1");
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    child.stdin.take().unwrap().write_all(lines.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn a_campaign_of_an_older_version_lists_changes_and_keeps_its_rules() {
    let shipped = Path::new(env!("CARGO_MANIFEST_DIR")).join("rulesets");
    let games = [
        ("rbf", "1.0.0", "RBF-R-1"),
        ("contest", "1.0.0", "CON-R-1"),
        ("silent-winter", "1.0.0", "SW-R-1"),
        ("riskbreaker-0.0.1", "0.0.1", "RB1-120"),
        ("riskbreaker-0.0.3", "0.0.3", "RB3-R-2"),
    ];
    for (id, old, rule) in games {
        let place = folder(&format!("older-{id}"));
        let before = place.join("rulesets");
        copy_folder(&shipped, &before);
        let manifest = before.join(id).join("ruleset.toml");
        let text = fs::read_to_string(&manifest).unwrap();
        let line = text.lines().find(|line| line.starts_with("version = ")).unwrap();
        let new = line.trim_start_matches("version = ").trim_matches('"').to_owned();
        assert_ne!(new, old, "{id}");
        fs::write(&manifest, text.replacen(line, &format!("version = \"{old}\""), 1)).unwrap();
        fs::remove_file(before.join(id).join("CHANGELOG.md")).unwrap();

        sitting(&place, &before, &["--rules", id, "--seed", "2"], "auto\nauto\nquit\n");
        let told = sitting(&place, &shipped, &[], &format!("auto\nrules {id}\nrules {id} yes\nauto\nquit\n"));
        for part in [
            "plays on by the rules kept in its file",
            &format!("the folder has {id} {new}, the campaign {old}"),
            "New in ",
            rule,
        ] {
            assert!(told.contains(part), "{id}: no `{part}` in\n{told}");
        }
        assert!(told.contains("is in force, after") || told.contains("into force"), "{id}:\n{told}");
        // The rules are stored in the campaign file: a third sitting finds them unchanged.
        sitting(&place, &shipped, &[], "auto\nquit\n");
    }
}

/// The line at the opening counts the changes that `rules NAME` lists, also for the ruleset in force.
#[test]
fn the_ruleset_in_force_lists_what_changed_in_its_files() {
    let place = folder("changed_in_force");
    let rulesets = place.join("rulesets");
    copy_folder(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/rulesets/tug"), &rulesets.join("tug"));
    sitting(&place, &rulesets, &["--rules", "tug", "--seed", "2"], "quit\n");
    let card = rulesets.join("tug/maneuvers/rest.luau");
    let text = fs::read_to_string(&card).unwrap().replace(">= 2", ">= 3").replace("at most twice", "at most thrice");
    fs::write(&card, text).unwrap();
    let told = sitting(&place, &rulesets, &[], "rules tug\nrules tug yes\nquit\n");
    assert!(told.contains("edited since, 3 changes"), "{told}");
    let (_, listed) = told.split_once("tug -> tug").unwrap_or_else(|| panic!("{told}"));
    assert_eq!(listed.lines().filter(|line| line.starts_with("  changes ")).count(), 3, "{told}");
    for change in ["changes `text` of Rest", "changes how `when` of Rest works"] {
        assert!(listed.contains(change), "{told}");
    }
    assert!(!told.contains("nothing has changed"), "{told}");
    let told = sitting(&place, &rulesets, &[], "quit\n");
    assert!(!told.contains("edited since"), "{told}");
}

/// The texts said in the game of a file.
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
fn a_killed_program_has_stored_all_that_it_printed() {
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

/// Like a program that is killed while the database writes: the file contains part of a change, and the journal next to
/// it has the previous contents.
#[test]
fn a_partial_write_is_rolled_back_by_the_next_reader() {
    let (folder, library) = (folder("half"), library("tests/rulesets"));
    let whole = folder.join("whole.rbsave");
    drop(played(&whole, &library));
    let told = said(&whole);
    let half = folder.join("half.rbsave");
    let connection = rusqlite::Connection::open(&whole).unwrap();
    connection.execute_batch("PRAGMA cache_size = 2; PRAGMA cache_spill = 1; BEGIN IMMEDIATE;").unwrap();
    connection.execute("UPDATE action SET body = zeroblob(9000), sum = sum + 1", []).unwrap();
    let beside = |path: &Path| PathBuf::from(format!("{}-journal", path.display()));
    let leave = || {
        std::fs::copy(&whole, &half).unwrap();
        std::fs::copy(beside(&whole), beside(&half)).unwrap();
    };
    leave();
    assert!(std::fs::read(beside(&half)).unwrap()[0] != 0, "the journal was not written yet");
    assert!(Store::read(&half, &library).unwrap().campaigns().unwrap().len() == 1);
    assert!(!beside(&half).exists(), "it is taken back once");
    assert_eq!(said(&half), told);
    for args in [["export", "half"], ["verify", "half"], ["recap", "half"], ["replay", "half"]] {
        leave();
        let output = program(&folder, &args).output().unwrap();
        assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    }
    // Without recovery nothing is lost, since the file can be repaired.
    leave();
    let recovered = recover(&half, &library).unwrap();
    assert_eq!((recovered.lost, said(&half)), (Vec::<String>::new(), told.clone()));
    fs::remove_file(folder.join("half.rbsave-damaged")).unwrap();
    // A game opened from it has no half write, and others can read it meanwhile.
    leave();
    let store = Store::open(&half, &library).unwrap();
    assert_eq!(Store::read(&half, &library).unwrap().campaigns().unwrap(), store.campaigns().unwrap());
    drop(store);
    assert_eq!(said(&half), told);
}

#[test]
#[cfg(unix)]
fn a_full_disk_loses_nothing_and_play_continues_when_there_is_room() {
    let folder = folder("full");
    let lines =
        |from: u32, to: u32| (from..to).map(|n| format!("say line {n} {}\n", "x".repeat(300))).collect::<String>();
    let run = |limited: bool, input: &str| {
        let binary = env!("CARGO_BIN_EXE_riskbreaker");
        let rulesets = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/rulesets");
        // Blocks of 512 bytes or of 1024: the file of one scene fits into the limit, with some hundred more lines it
        // does not.
        let limit = if limited { "ulimit -f 200;" } else { "" };
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
    assert!(
        problem.contains("This line was not carried out, because it cannot be written to the campaign file"),
        "{problem}"
    );
    assert!(!second.status.success());
    let kept = said(&path);
    let told = String::from_utf8_lossy(&second.stdout).matches("  line ").count();
    assert!(kept.len() >= 3 + told, "{} {told}", kept.len());
    let third = run(false, "say there is room again\n");
    assert!(third.status.success(), "{third:?}");
    assert_eq!(said(&path).last().map(String::as_str), Some("there is room again"));
}

#[test]
#[cfg(unix)]
fn a_new_campaign_for_which_there_is_no_room_leaves_no_file() {
    let folder = folder("no-room");
    let (mut failed, mut made) = (0, 0);
    // Blocks of 512 bytes or of 1024. The tables fit into fewer than the first scene.
    for blocks in (10..250).step_by(20) {
        let rulesets = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/rulesets");
        let command = format!(
            "ulimit -f {blocks}; exec '{}' play evening --rules tug --rulesets '{}'",
            env!("CARGO_BIN_EXE_riskbreaker"),
            rulesets.display()
        );
        let mut shell = Command::new("sh");
        shell.args(["-c", &command]).current_dir(&folder).env("XDG_STATE_HOME", folder.join("state"));
        let output = shell.stdin(Stdio::null()).output().unwrap();
        let left = fs::read_dir(&folder).unwrap().flatten().map(|entry| entry.file_name());
        let left: Vec<_> = left.filter(|name| name != "state").collect();
        match output.status.success() {
            true => {
                assert_eq!(left, ["evening.rbsave"]);
                fs::remove_file(folder.join("evening.rbsave")).unwrap();
                made += 1;
            }
            false => {
                assert!(left.is_empty(), "{blocks}: {left:?} {output:?}");
                failed += 1;
            }
        }
    }
    assert!(failed > 2 && made > 0, "{failed} {made}");
}

#[test]
fn a_second_program_is_told_which_program_has_the_file() {
    let library = library("tests/rulesets");
    let folder = folder("held");
    let path = folder.join("evening.rbsave");
    let campaign = played(&path, &library);
    let child = program(&folder, &["play", "evening"]).spawn().unwrap();
    let output = child.wait_with_output().unwrap();
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success());
    assert!(told.contains(&format!("is held by process {} on ", std::process::id())), "{told}");
    // Read-only commands see the last stored state.
    for command in ["verify", "export", "recap", "replay"] {
        let output = program(&folder, &[command, "evening"]).output().unwrap();
        assert!(output.status.success(), "{command}: {}", String::from_utf8_lossy(&output.stderr));
    }
    assert_eq!(Store::read(&path, &library).unwrap().campaigns().unwrap()[0].entries, campaign.entries());
    drop(campaign);
    let child = program(&folder, &["play", "evening"]).spawn().unwrap();
    assert!(child.wait_with_output().unwrap().status.success());
    assert!(!folder.join("evening.rbsave-lock").exists() && !folder.join("evening.rbsave-journal").exists());
}

/// The program may be killed after the file is created and before its first scene is stored.
#[test]
fn a_campaign_without_a_scene_begins_when_it_is_played() {
    let folder = folder("unbegun");
    let path = folder.join("evening.rbsave");
    drop(Store::open(&path, &library("tests/rulesets")).unwrap().create("evening").unwrap());
    let mut child = program(&folder, &["play", "evening", "--rules", "tug", "--json"]).spawn().unwrap();
    writeln!(child.stdin.take().unwrap(), "say it goes on").unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{output:?}");
    assert_eq!(said(&path), ["it goes on"]);
}

/// Files of every released format can always be opened.
#[test]
fn files_of_every_format_open() {
    let library = library("tests/rulesets");
    let saves = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/saves");
    let folder = folder("formats");
    for (format, decisions, entries) in [(1, 3, 4), (2, 4, 5), (3, 5, 5)] {
        let text = fs::read_to_string(saves.join(format!("format-{format}.json"))).unwrap();
        let mut session = Session::load(&library, &text).unwrap();
        assert_eq!((session.decisions(), session.advance().unwrap()), (decisions, Step::Ask));
        // A JSON save can be continued as a campaign.
        let json = folder.join(format!("json-{format}.rbsave"));
        let mut campaign = Store::open(json, &library).unwrap().create("json").unwrap();
        campaign.adopt(&session, "as it was").unwrap();
        campaign.keep(&mut session).unwrap();
        assert_eq!(moment(&mut campaign.session().unwrap()), moment(&mut session));

        let name = format!("format-{format}.rbsave");
        let path = folder.join(&name);
        fs::copy(saves.join(name), &path).unwrap();
        let store = Store::open(&path, &library).unwrap();
        let mut campaign = store.first().unwrap().unwrap();
        assert_eq!((campaign.entries(), campaign.session().unwrap().decisions()), (entries, decisions));
        campaign.replay(None, |_| ControlFlow::Continue(())).unwrap();
    }
}

/// Programs up to 0.1.0 named rules by a hash without its algorithm. This campaign of one changed its rules once.
#[test]
fn rules_under_hashes_of_an_older_program_are_verified_and_go_on() {
    const OLD: &str = "118fb316e43e98f6b0b73a644b5ff157";
    let library = library("tests/rulesets");
    let saves = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/saves");
    let folder = folder("older-hashes");
    let path = folder.join("old.rbsave");
    fs::copy(saves.join("format-3.rbsave"), &path).unwrap();
    let mut campaign = Store::open(&path, &library).unwrap().first().unwrap().unwrap();
    let mut session = campaign.session().unwrap();
    // The folder has another text of the card than the campaign.
    assert!(session.ruleset().has_hash(OLD) && !tug(&library).has_hash(OLD));
    assert!(session.ruleset().hash().starts_with("blake3:"));
    decide(&mut session, 1);
    campaign.keep(&mut session).unwrap();
    let rules = || {
        let rows = rusqlite::Connection::open(&path).unwrap();
        let mut hashes = rows.prepare("SELECT hash FROM generation ORDER BY id").unwrap();
        hashes.query_map([], |row| row.get::<_, String>(0)).unwrap().collect::<Result<Vec<_>, _>>().unwrap()
    };
    assert_eq!(rules(), ["6565651697b14df90f9d35d504e6aad9", OLD], "rules that the file has are not added again");
    session.reload(tug(&library)).unwrap();
    decide(&mut session, 2);
    campaign.keep(&mut session).unwrap();
    assert!(rules().len() == 3 && rules()[2] == tug(&library).hash(), "{:?}", rules());
    let mut opened = campaign.session().unwrap();
    assert_eq!(moment(&mut opened), moment(&mut session));
    campaign.replay(None, |_| ControlFlow::Continue(())).unwrap();
    // As lines, and from those that the older program wrote.
    let mut lines = Vec::new();
    campaign.export(&mut lines).unwrap();
    drop(campaign);
    let older = fs::read(saves.join("format-1.lines.jsonl")).unwrap();
    for (name, lines) in [("copy", &lines), ("older", &older)] {
        let store = Store::open(folder.join(format!("{name}.rbsave")), &library).unwrap();
        let mut copy = store.import(lines.as_slice()).unwrap();
        copy.replay(None, |_| ControlFlow::Continue(())).unwrap();
        assert_eq!(moment(&mut copy.session().unwrap()) == moment(&mut session), name == "copy");
    }
    // A text that is not that of its hash is noticed.
    let changed = folder.join("changed.rbsave");
    fs::copy(saves.join("format-3.rbsave"), &changed).unwrap();
    let rows = rusqlite::Connection::open(&changed).unwrap();
    rows.execute_batch("UPDATE source SET text = (SELECT text FROM source ORDER BY id LIMIT 1 OFFSET 1)").unwrap();
    drop(rows);
    let opened = Store::open(&changed, &library).and_then(|store| store.first()?.unwrap().session().map(drop));
    assert!(matches!(opened, Err(StoreError::Damaged { .. })), "{:?}", opened.err());
}

#[test]
fn a_line_that_does_not_fit_names_its_key() {
    let library = library("tests/rulesets");
    let saves = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/saves");
    let lines = fs::read_to_string(saves.join("format-1.lines.jsonl")).unwrap();
    let wrong = lines.replacen("\"slot\":\"roll\"", "\"slot\":3", 1);
    assert_ne!(wrong, lines);
    let store = Store::open(folder("misfit").join("copy.rbsave"), &library).unwrap();
    let told = store.import(wrong.as_bytes()).err().unwrap().to_string();
    assert!(told.contains("line ") && told.contains("`tape"), "{told}");
}

/// The output of the program for these lines, followed by standard error.
fn said_to(folder: &Path, rules: &str, args: &[&str], lines: &str) -> String {
    let mut command = program(folder, args);
    let rulesets = Path::new(env!("CARGO_MANIFEST_DIR")).join("rulesets");
    if rules == "shipped" {
        command = Command::new(env!("CARGO_BIN_EXE_riskbreaker"));
        command.current_dir(folder).args(args).args(["--rulesets", &rulesets.display().to_string()]);
        command.env("XDG_STATE_HOME", folder.join("state")).env("NO_COLOR", "1");
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    }
    let mut child = command.spawn().unwrap();
    child.stdin.take().unwrap().write_all(lines.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

#[test]
fn a_sheet_is_written_step_by_step_and_refused_with_the_reason() {
    let folder = folder("sheet");
    let play = |lines: &str| said_to(&folder, "shipped", &["play", "evening", "--rules", "riskbreaker-0.0.1"], lines);
    let told = play("roster new Ann\n5: Sword\nagility 4: Maneuver\n");
    assert!(told.contains("Muscle 5: Sword: costs 6, 4 of 10 left"), "{told}");
    assert!(told.contains("Agility 4: Maneuver: costs 1, 3 of 10 left"), "{told}");
    // An illegal step is refused with the reason, and leaves the sheet unchanged.
    let told = play("roster edit Ann\nmuscle 0: Sword\n");
    assert!(told.contains("Muscle 0 is too low: the least is 1."), "{told}");
    let told = play("roster edit Ann\nmuscle 6: Sword, Axe, Push, Knockdown, Staff, Spear\n");
    assert!(told.contains("points, but only 10 are available."), "{told}");
    // Each step is an entry: it is stored, and can be undone.
    let told = play("roster edit Ann\nshow\nundo\nshow\ndone\nroster\n");
    assert!(told.contains("undid roster: Ann, Agility 4: Maneuver"), "{told}");
    assert!(told.contains("Ann is in the roster.") && told.contains("muscle 5: Sword"), "{told}");
    // Every spelling of `quit` leaves, and a name is found in any case.
    let told = play("roster edit Ann\nbye\n");
    assert!(told.contains("» bye") && !told.contains("stdin:"), "{told}");
    let told = play("roster drop ann\n");
    assert!(told.contains("Ann is dropped"), "{told}");
}

#[test]
fn a_scene_of_roster_and_cast_is_estimated_and_begins() {
    let folder = folder("encounter");
    for (id, hero, foe) in [
        ("riskbreaker-0.0.1", "fighter", "bandit"),
        ("riskbreaker-0.0.3", "fighter", "bandit"),
        ("contest", "knight", "soldier"),
        ("silent-winter", "lothaire", "imp"),
        ("rbf", "pc blade", "thug"),
    ] {
        let lines = format!(
            "roster new Ann as {hero}\ndone\nencounter Ann against 2 x {foe}\nencounter yes\nwho\nroster keep Ann\n\
             encounter Ann, {hero} against {foe}\nencounter Ann against {foe}x\n"
        );
        let told = said_to(&folder, "shipped", &["play", id, "--rules", id], &lines);
        assert!(told.contains(" games, every side played by the policy") && told.contains(" %"), "{id}: {told}");
        assert!(told.contains("Ann is kept, with"), "{id}: {told}");
        assert!(told.contains("There is no sheet"), "{id}: {told}");
        let told = said_to(&folder, "shipped", &["replay", id, "--verify"], "");
        assert!(told.contains("the replay gives the game that was kept"), "{id}: {told}");
    }
}

#[test]
fn a_character_that_takes_the_place_of_another_can_use_its_skills() {
    let folder = folder("another");
    let args = ["play", "evening", "--rules", "riskbreaker-0.0.3", "--seed", "5"];
    let told = said_to(
        &folder,
        "shipped",
        &args,
        "roster keep Fighter\nroster use Fighter for Thief\nok\nauto 8\nauto 8\nlog all\n",
    );
    assert!(told.contains("Fighter is kept") && told.contains("skills Knife, Move"), "{told}");
    assert!(told.contains("Thief rolls") && !told.contains("error:"), "{told}");
}

#[test]
fn a_reopened_campaign_shows_all_of_it_and_takes_back_whole_lines() {
    let folder = folder("whole");
    let play = |lines: &str| said_to(&folder, "tests", &["play", "evening", "--rules", "tug", "--seed", "5"], lines);
    let says: String = (0..120).map(|n| format!("say first {n}\n")).collect();
    play(&says);
    play("new two\nsay second 0\n");
    let told = play("log all\nrecap all\nlog 3\n");
    for text in ["first 0", "first 119", "second 0"] {
        assert!(told.matches(text).count() >= 2, "{text}: {told}");
    }
    // Back beyond the beginning of the scene, and beyond the memory of a restarted program.
    let told = play("undo\nundo\nundo 3\nlog 2\n");
    assert!(told.contains("undid scene: ") && told.contains("undid the edit: first 117"), "{told}");
    assert!(told.contains("The game is in “") && told.contains("” now."), "{told}");
    assert!(told.trim_end().ends_with("first 115\n  first 116"), "{told}");
    // An entry contains what a line decided, and one `undo` takes all of it back, also in a restarted program.
    let folder = folder.join("lines");
    fs::create_dir_all(&folder).unwrap();
    let play = |lines: &str| {
        said_to(&folder, "shipped", &["play", "evening", "--rules", "riskbreaker-0.0.1", "--seed", "3"], lines)
    };
    play("yes\nauto\n");
    let told = play("undo\nlog --all\n");
    assert!(told.contains("*2 ") && told.contains("-3 "), "{told}");
}

#[test]
fn a_failing_disk_loses_nothing_and_play_continues_when_it_works_again() {
    let _alone = failing_disk::alone();
    let library = library("tests/rulesets");
    let path = folder("failing-disk").join("evening.rbsave");
    failing_disk::works_again();
    let rules = tug(&library);
    let mut store = Store::open(&path, &library).unwrap();
    let mut campaign = store.create("evening").unwrap();
    let mut session = campaign.begin(&rules, Setup::default().seed(5).switch("wins_at", 20), "tug").unwrap();
    let _ = session.advance().unwrap();
    campaign.keep(&mut session).unwrap();
    let (mut failed, mut went_on) = (0, 0);
    for n in 0..24 {
        let before = moment(&mut session);
        match n % 2 {
            0 => failing_disk::fail_after_syncs((n / 2) % 7),
            _ => failing_disk::full_after_writes((n / 2) % 7 * 7),
        }
        session.edit(Edit::Say { text: format!("line {n} {}", "long ".repeat(60)) }).unwrap();
        let _ = session.advance().unwrap();
        let kept = campaign.keep(&mut session);
        failing_disk::works_again();
        if let Err(error) = kept {
            failed += 1;
            assert!(error.may_pass(), "{n}: {error}");
            // What was acknowledged is kept, in this program and in the next one.
            if n % 3 == 0 {
                drop((campaign, store));
                store = Store::open(&path, &library).unwrap_or_else(|error| panic!("{n}: {error}"));
                campaign = store.first().unwrap().unwrap();
            }
            session = campaign.session().unwrap_or_else(|error| panic!("{n}: {error}"));
            assert_eq!(moment(&mut session), before, "{n}");
        } else {
            went_on += 1;
        }
        assert!(decide(&mut session, n as u64));
        campaign.keep(&mut session).unwrap_or_else(|error| panic!("{n}: {error}"));
    }
    assert!(failed > 8 && went_on > 2, "{failed} {went_on}");
    assert_eq!(store.verify().unwrap().problems, Vec::<String>::new());
    campaign.replay(None, |_| ControlFlow::Continue(())).unwrap();
}

#[test]
fn a_read_only_folder_is_reported_and_the_campaign_is_unchanged() {
    let folder = folder("unwritable");
    let play = |lines: &str| said_to(&folder, "tests", &["play", "evening", "--rules", "tug"], lines);
    play("say here\n");
    let before = fs::read(folder.join("evening.rbsave")).unwrap();
    // No journal can be created for any user: its name is taken by a folder.
    fs::create_dir(folder.join("evening.rbsave-journal")).unwrap();
    let told = play("say there\n");
    assert!(told.contains("evening.rbsave") && !told.contains("panicked"), "{told}");
    assert_eq!(fs::read(folder.join("evening.rbsave")).unwrap(), before, "{told}");
    // Once it is gone, everything works again.
    fs::remove_dir(folder.join("evening.rbsave-journal")).unwrap();
    let told = said_to(&folder, "tests", &["replay", "evening", "--verify"], "");
    assert!(told.contains("the replay gives the game that was kept"), "{told}");
    let told = play("say there\nlog all\n");
    assert!(told.matches("there").count() >= 2, "{told}");
}

#[test]
fn a_file_of_an_older_format_is_copied_verified_and_replaced() {
    let library = library("tests/rulesets");
    let saves = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/saves");
    let folder = folder("upgrade");
    let path = folder.join("old.rbsave");
    let old = fs::read(saves.join("format-1.rbsave")).unwrap();
    let format = |path: &Path| {
        let bytes = fs::read(path).unwrap();
        u32::from_be_bytes(bytes[60..64].try_into().unwrap())
    };
    fs::write(&path, &old).unwrap();
    // Reading changes nothing.
    let read = Store::read(&path, &library).unwrap().first().unwrap().unwrap();
    let texts: Vec<String> = read.log(true, usize::MAX).unwrap().into_iter().map(|entry| entry.text).collect();
    drop(read);
    assert_eq!((fs::read(&path).unwrap(), format(&path)), (old.clone(), 1));
    // No room for the copy: the file is unchanged, and an error says so.
    fs::create_dir(folder.join("old.rbsave-upgrading")).unwrap();
    assert!(Store::open(&path, &library).is_err());
    assert_eq!(fs::read(&path).unwrap(), old);
    fs::remove_dir(folder.join("old.rbsave-upgrading")).unwrap();
    // The rest of an interrupted attempt does no harm.
    fs::write(folder.join("old.rbsave-upgrading"), &old[..5000]).unwrap();
    let store = Store::open(&path, &library).unwrap();
    let mut campaign = store.first().unwrap().unwrap();
    assert_eq!((campaign.entries(), campaign.session().unwrap().decisions()), (4, 3));
    let now: Vec<String> = campaign.log(true, usize::MAX).unwrap().into_iter().map(|entry| entry.text).collect();
    assert_eq!(now, texts);
    campaign.replay(None, |_| ControlFlow::Continue(())).unwrap();
    let mut session = campaign.session().unwrap();
    decide(&mut session, 1);
    campaign.keep(&mut session).unwrap();
    drop((campaign, store));
    assert_eq!(format(&path), 4);
    assert!(!folder.join("old.rbsave-upgrading").exists());
    // A damaged one is refused and left unchanged, and can be recovered.
    let mut broken = old.clone();
    let at = broken.windows(5).rposition(|part| part == b"pull\n" || part == b"Ann s").unwrap_or(broken.len() - 700);
    broken[at] ^= 0x20;
    fs::write(&path, &broken).unwrap();
    if Store::open(&path, &library).is_err() {
        assert_eq!(fs::read(&path).unwrap(), broken);
    }
    // One that is newer than the program is left alone.
    let mut newer = old.clone();
    newer[60..64].copy_from_slice(&99u32.to_be_bytes());
    fs::write(&path, &newer).unwrap();
    assert!(matches!(Store::open(&path, &library), Err(StoreError::Newer { found: 99, .. })));
    assert_eq!(fs::read(&path).unwrap(), newer);
}

#[test]
fn a_campaign_continues_after_a_reload_that_drops_an_answer() {
    let mut files = files::of(&["tug"]);
    let library = Library::from_files(files.clone());
    let card = files.get_mut("tug/maneuvers/pull.luau").unwrap();
    *card = card.replace("\tresolve", "\twhen = function() return false, \"the rope is wet\" end,\n\tresolve");
    let play = files.get_mut("tug/play.luau").unwrap();
    *play = play.replace("default = \"pull\"", "default = \"rest\"");
    let store = Store::open(folder("dropped").join("campaigns.rbsave"), &library).unwrap();
    let mut campaign = store.create("evening").unwrap();
    let mut session = campaign.begin(&tug(&library), Setup::default().seed(5), "wet").unwrap();
    let mut keep = |session: &mut Session, replies: &[&str]| {
        let _ = session.advance().unwrap();
        for reply in replies {
            let _ = session.reply(&[("card".into(), (*reply).into())]).unwrap();
        }
        campaign.keep(session).unwrap();
        let mut loaded = campaign.session().unwrap();
        assert_eq!(loaded.decisions(), session.decisions());
        assert_eq!(moment(&mut loaded), moment(session));
        *session = loaded;
    };
    keep(&mut session, &["rest"]);
    keep(&mut session, &["pull"]);
    session.reload(tug(&Library::from_files(files))).unwrap();
    keep(&mut session, &[]);
    assert_eq!(session.decisions(), 1);
    keep(&mut session, &["rest", "rest"]);
    for left in [2, 1, 0] {
        session.undo().unwrap();
        keep(&mut session, &[]);
        assert_eq!(session.decisions(), left);
    }
    assert!(session.undo().is_err());
}

#[test]
fn the_log_of_a_campaign_distinguishes_requested_and_withdrawn_rules() {
    let folder = folder("called-off");
    let args = ["play", "evening", "duel", "--rules", "riskbreaker-0.0.1", "--seed", "7"];
    let told = said_to(&folder, "shipped", &args, "yes\nrules riskbreaker-0.0.3 yes\nrules off\nlog --all\n");
    assert!(told.contains(" 3  other rules were asked for\n*4  other rules were called off\n"), "{told}");
}

/// A typed roll is listed without the gaps of its label.
#[test]
fn the_log_of_typed_dice_has_no_gaps() {
    let folder = folder("typed");
    let begin = ["play", "evening", "--rules", "tug", "--dice", "typed"];
    let told = said_to(&folder, "tests", &begin, "pull\n1\n3\nlog --all\n");
    assert!(told.contains("d10 [3]") && !told.contains("{}"), "{told}");
}

/// A text never overwrites a campaign.
#[test]
fn an_export_does_not_replace_a_campaign() {
    let folder = folder("export");
    drop(played(&folder.join("evening.rbsave"), &library("tests/rulesets")));
    let told = said(&folder.join("evening.rbsave"));
    let output = program(&folder, &["export", "evening", "--out", "evening.rbsave"]).output().unwrap();
    assert!(!output.status.success());
    assert_eq!(said(&folder.join("evening.rbsave")), told);
}

/// A skill that other rules call by another name is carried over with that name.
#[test]
fn a_character_of_another_version_plays_on_with_the_names_of_this_one() {
    let folder = folder("versions");
    let lines = "roster keep Fighter\nrules riskbreaker-0.0.3 yes\nroster use Fighter\nroster use Fighter for Duellist\n\
                 auto\nauto\nauto\nauto\nauto\nsheet Duellist\n";
    let begin = ["play", "hall", "duel", "--rules", "riskbreaker-0.0.1", "--seed", "7"];
    let told = said_to(&folder, "shipped", &begin, lines);
    assert!(told.contains("Fighter is kept") && !told.contains("error"), "{told}");
    assert!(
        told.contains("Push, Bow, Move, First Aid") && !told.contains("Bow, Maneuver, First Aid, Intimidate\n"),
        "{told}"
    );
}

/// Messages name a remedy that works.
#[test]
fn files_that_cannot_be_recovered_or_loaded_are_reported_with_a_working_correction() {
    let folder = folder("cures");
    fs::write(folder.join("text.rbsave"), "no campaign").unwrap();
    let told = said_to(&folder, "tests", &["recover", "text"], "");
    assert!(told.contains("text.rbsave: no entry of any campaign can be read in it") && !told.contains("`"), "{told}");
    drop(played(&folder.join("evening.rbsave"), &library("tests/rulesets")));
    let told = said_to(&folder, "tests", &["recover", "evening"], "");
    assert!(told.contains("evening.rbsave was whole: nothing was lost.") && !told.contains("The damaged"), "{told}");
    let told = said_to(&folder, "tests", &["play", "--rules", "tug"], "load text.rbsave\n");
    assert!(told.contains("text.rbsave is a campaign: leave this game, and `riskbreaker play text.rbsave`."), "{told}");
}

/// In JSON such a name has a replacement character.
#[test]
#[cfg(target_os = "linux")]
fn a_campaign_whose_name_is_not_utf_8_is_listed() {
    let folder = folder("odd_name");
    let name: &std::ffi::OsStr = std::os::unix::ffi::OsStrExt::from_bytes(b"odd\xff.rbsave");
    drop(played(&folder.join("evening.rbsave"), &library("tests/rulesets")));
    fs::rename(folder.join("evening.rbsave"), folder.join(name)).unwrap();
    for args in [["campaigns"].as_slice(), &["campaigns", "--json"]] {
        let told = said_to(&folder, "tests", args, "");
        assert!(told.contains("odd\u{fffd}.rbsave") && !told.contains("panicked"), "{told}");
    }
}

/// A name that is too long, a folder and a dead link are reported as such.
#[test]
#[cfg(unix)]
fn a_path_that_is_no_campaign_file_is_named_by_its_kind() {
    let folder = folder("no_file");
    fs::create_dir(folder.join("folder.rbsave")).unwrap();
    std::os::unix::fs::symlink("nowhere", folder.join("link.rbsave")).unwrap();
    for command in ["verify", "recover", "export"] {
        for (name, what) in [
            ("folder", "it is a folder"),
            ("link", "it is a link that leads nowhere"),
            ("none", "there is no such file"),
        ] {
            let told = said_to(&folder, "tests", &[command, name], "");
            assert!(told.contains(&format!("{name}.rbsave: {what}")), "{command}: {told}");
        }
    }
    for args in [["play", "folder", "--rules", "tug"].as_slice(), &["campaigns"]] {
        let told = said_to(&folder, "tests", args, "");
        assert!(told.contains("folder.rbsave: it is a folder, or no regular file"), "{told}");
    }
    // With 241 letters the name of the lock fits, and that of the journal does not.
    for letters in [241, 244] {
        let name = "n".repeat(letters);
        let told = said_to(&folder, "tests", &["play", name.as_str(), "--rules", "tug"], "");
        assert!(told.contains("its name is too long"), "{told}");
    }
}

/// A note before the first line of a session belongs to that session.
#[test]
fn a_note_before_the_first_line_is_in_the_recap() {
    let (folder, library) = (folder("first_note"), library("tests/rulesets"));
    let path = folder.join("evening.rbsave");
    drop(played(&path, &library));
    let mut campaign = Store::open(&path, &library).unwrap().first().unwrap().unwrap();
    let before = campaign.notes().unwrap().len();
    campaign.note("we were late").unwrap();
    campaign.note("and tired").unwrap();
    let texts: Vec<_> = campaign.notes().unwrap().split_off(before).into_iter().map(|note| note.text).collect();
    assert_eq!(texts, [None, Some("we were late".into()), Some("and tired".into())]);
}

/// Options of a new game that have no effect on an opened campaign are reported, unless they match its settings.
#[test]
fn options_that_a_begun_campaign_does_not_take_are_named() {
    let folder = folder("options");
    let begin = ["play", "evening", "--rules", "tug", "--seed", "7", "--set", "wins_at=4", "--seat", "gm=human"];
    said_to(&folder, "tests", &begin, "say one\n");
    let told = said_to(&folder, "tests", &begin, "say two\n");
    assert!(!told.contains("no effect"), "{told}");
    let other = [
        "play",
        "evening",
        "--rules",
        "tug",
        "--seed",
        "8",
        "--dice",
        "1,2",
        "--set",
        "wins_at=5",
        "--seat",
        "gm=absent",
    ];
    let told = said_to(&folder, "tests", &other, "say three\n");
    assert!(told.contains("no effect: `--seed`, `--dice`, `--set`, `--seat`."), "{told}");
}

/// A link to a campaign is the campaign: it has the same lock, and recovery acts on the file itself.
#[test]
#[cfg(unix)]
fn a_link_leads_to_the_campaign_itself() {
    let (folder, library) = (folder("link"), library("tests/rulesets"));
    let (path, link) = (folder.join("evening.rbsave"), folder.join("link.rbsave"));
    std::os::unix::fs::symlink("evening.rbsave", &link).unwrap();
    let campaign = played(&path, &library);
    assert!(matches!(Store::open(&link, &library), Err(StoreError::Held { .. })));
    assert!(matches!(recover(&link, &library), Err(StoreError::Held { .. })));
    drop(campaign);
    let told = said(&path);
    recover(&link, &library).unwrap();
    assert!(link.is_symlink() && folder.join("evening.rbsave-damaged").is_file());
    assert_eq!((said(&link), said(&path)), (told.clone(), told));
}

/// A line is not acknowledged if the file that it is written to has lost its name.
#[test]
#[cfg(unix)]
fn nothing_is_written_to_a_moved_file() {
    let (folder, library) = (folder("moved"), library("tests/rulesets"));
    let (path, away) = (folder.join("evening.rbsave"), folder.join("away.rbsave"));
    let mut campaign = played(&path, &library);
    let here = campaign.head();
    fs::rename(&path, &away).unwrap();
    assert!(campaign.note("lost").is_err());
    fs::write(&path, "another file").unwrap();
    assert!(campaign.note("lost").is_err());
    fs::rename(&away, &path).unwrap();
    campaign.note("kept").unwrap();
    assert_eq!(campaign.head(), here);
}

/// The log of a campaign names the entities of an edit, also after the campaign was recovered or imported.
#[test]
fn the_words_of_entries_are_recovered_and_imported() {
    let (folder, library) = (folder("words"), library("tests/rulesets"));
    let path = folder.join("evening.rbsave");
    let told = said_to(&folder, "tests", &["play", "evening", "--rules", "tug"], "set Ann rests 2\n");
    assert!(told.contains("edit: Ann  rests 0 -> 2"), "{told}");
    let words = |path: &Path| {
        let campaign = Store::read(path, &library).unwrap().first().unwrap().unwrap();
        (1..=campaign.entries()).map(|entry| campaign.text(entry).unwrap()).collect::<Vec<_>>()
    };
    let before = words(&path);
    assert!(before[1].contains("Ann"), "{before:?}");
    let mut lines = Vec::new();
    Store::read(&path, &library).unwrap().first().unwrap().unwrap().export(&mut lines).unwrap();
    let copy = folder.join("copy.rbsave");
    drop(Store::open(&copy, &library).unwrap().import(lines.as_slice()).unwrap());
    assert_eq!(words(&copy), before);
    recover(&path, &library).unwrap();
    assert_eq!(words(&path), before);
}

/// A text of the rules that is lost in the file is taken from the disk, if it exists there.
#[test]
fn lost_texts_of_the_rules_are_taken_from_the_disk() {
    let (folder, library) = (folder("lost_texts"), library("tests/rulesets"));
    let path = folder.join("evening.rbsave");
    drop(played(&path, &library));
    let told = said(&path);
    let connection = rusqlite::Connection::open(&path).unwrap();
    assert!(connection.execute("UPDATE source SET text = text || ' '", []).unwrap() > 0);
    drop(connection);
    assert!(!Store::read(&path, &library).unwrap().verify().unwrap().problems.is_empty());
    assert_eq!(recover(&path, &library).unwrap().lost, Vec::<String>::new());
    let store = Store::read(&path, &library).unwrap();
    assert_eq!(store.verify().unwrap().problems, Vec::<String>::new());
    drop(store);
    assert_eq!(said(&path), told);
}

/// An entry made under other rules than those on disk continues by its own rules, as when the campaign is opened there.
#[test]
fn an_earlier_entry_is_played_under_its_own_rules() {
    let folder = folder("earlier_rules");
    for (path, text) in files::of(&["tug"]) {
        let path = folder.join("rulesets").join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    let prompt = || {
        let mut command = Command::new(env!("CARGO_BIN_EXE_riskbreaker"));
        command.current_dir(&folder).args(["play", "evening", "--rules", "tug", "--seed", "7"]);
        command.env("XDG_STATE_HOME", folder.join("state")).env("NO_COLOR", "1");
        Prompt::of(&mut command)
    };
    prompt().line("say one");
    let manifest = folder.join("rulesets/tug/RULES.md");
    let change =
        |text: &str| fs::write(&manifest, format!("{}\n{text}\n", fs::read_to_string(&manifest).unwrap())).unwrap();
    change("More.");
    let mut second = prompt();
    second.line("rules tug yes");
    drop(second);
    let mut third = prompt();
    let mut told = third.line("goto 1");
    assert!(told.contains("plays on by the rules kept in its file"), "{told}");
    // Changes are reported in order: if the files were watched here, this one would be reported before the last one.
    change("Still more.");
    told += &third.line("log --all");
    told += &third.line("rules tug yes");
    assert!(!told.contains("reloaded"), "{told}");
    // Once the game has changed to the rules on disk, their files are watched.
    change("Most.");
    for _ in 0..100_000 {
        told = third.line("who");
        if told.contains("RULES.md reloaded") {
            return;
        }
    }
    panic!("{told}");
}

/// A prompt at a pipe that gets one line after the other.
struct Prompt {
    child: std::process::Child,
    out: BufReader<std::process::ChildStdout>,
    lines: u32,
}

impl Prompt {
    fn of(command: &mut Command) -> Prompt {
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let out = BufReader::new(child.stdout.take().unwrap());
        Prompt { child, out, lines: 0 }
    }

    /// Types a line. Returns the output up to the next one.
    fn line(&mut self, line: &str) -> String {
        self.lines += 1;
        let mark = format!("line {} was carried out", self.lines);
        writeln!(self.child.stdin.as_mut().unwrap(), "{line}\nsay {mark}").unwrap();
        let (mut told, mut next) = (String::new(), String::new());
        while !next.contains(&mark) || next.contains('»') {
            next.clear();
            assert!(self.out.read_line(&mut next).unwrap() > 0, "it has ended: {told}");
            told += &next;
        }
        told
    }
}

impl Drop for Prompt {
    fn drop(&mut self) {
        drop(self.child.stdin.take());
        let _ = self.child.wait();
    }
}

/// Overwrites a file in place.
fn overwrite(path: &Path, bytes: &[u8]) {
    let mut file = fs::OpenOptions::new().write(true).truncate(true).open(path).unwrap();
    file.write_all(bytes).unwrap();
}

/// Another program writes an older copy, nothing, a part or a single bit into the open file. No line is then
/// acknowledged, and the stored game is saved elsewhere, or continues when the file is restored.
#[test]
fn a_file_changed_in_place_is_not_written_and_the_game_continues_in_memory() {
    let (folder, library) = (folder("in_place"), library("tests/rulesets"));
    let path = folder.join("evening.rbsave");
    let mut campaign = played(&path, &library);
    let older = fs::read(&path).unwrap();
    let mut session = campaign.session().unwrap();
    decide(&mut session, 2);
    campaign.keep(&mut session).unwrap();
    campaign.note("kept last").unwrap();
    let (here, entries, newest) = (moment(&mut session), campaign.entries(), fs::read(&path).unwrap());
    let mut one_bit = newest.clone();
    let note = b"kept last";
    one_bit[newest.windows(note.len()).position(|part| part == note).unwrap()] ^= 1;
    for (n, bytes) in [&older[..], &[], &newest[..newest.len() / 2], &one_bit].into_iter().enumerate() {
        overwrite(&path, bytes);
        let mut ahead = campaign.session().unwrap();
        decide(&mut ahead, 1);
        for _ in 0..2 {
            assert!(matches!(campaign.keep(&mut ahead), Err(StoreError::Changed { .. })), "{n}");
            assert!(matches!(campaign.note("lost"), Err(StoreError::Changed { .. })), "{n}");
        }
        assert_eq!(fs::read(&path).unwrap(), bytes, "{n}: nothing was written into it");
        assert_eq!(moment(&mut campaign.session().unwrap()), here, "{n}");
        assert!(campaign.retry().is_err(), "{n}");
        // All of it is saved elsewhere, and continues there.
        let other = folder.join(format!("other {n}.rbsave"));
        {
            let mut copy = campaign.save_as(&other, "other").unwrap();
            let mut session = copy.session().unwrap();
            assert_eq!((moment(&mut session), copy.entries()), (here.clone(), entries));
            assert!(copy.notes().unwrap().iter().any(|note| note.text.as_deref() == Some("kept last")));
            decide(&mut session, 1);
            copy.keep(&mut session).unwrap();
        }
        let copy = Store::read(&other, &library).unwrap();
        assert_eq!(copy.verify().unwrap().problems, Vec::<String>::new());
        // It is restored, in place or under its name.
        match n % 2 {
            0 => overwrite(&path, &newest),
            _ => {
                fs::write(folder.join("again"), &newest).unwrap();
                fs::rename(folder.join("again"), &path).unwrap();
            }
        }
        assert!(matches!(campaign.note("not yet"), Err(StoreError::Changed { .. })), "{n}");
        campaign.retry().unwrap();
        assert_eq!(moment(&mut campaign.session().unwrap()), here, "{n}");
    }
    let mut session = campaign.session().unwrap();
    decide(&mut session, 1);
    campaign.keep(&mut session).unwrap();
    let here = moment(&mut session);
    drop(campaign);
    let store = Store::open(&path, &library).unwrap();
    assert_eq!(store.verify().unwrap().problems, Vec::<String>::new());
    assert_eq!(moment(&mut store.first().unwrap().unwrap().session().unwrap()), here);
}

/// Likewise at the prompt.
#[test]
fn the_prompt_keeps_a_game_whose_file_was_overwritten() {
    let folder = folder("in_place_prompt");
    said_to(&folder, "tests", &["play", "evening", "--rules", "tug", "--seed", "5"], "say one\n");
    let path = folder.join("evening.rbsave");
    let old = fs::read(&path).unwrap();
    said_to(&folder, "tests", &["play", "evening"], "say two\n");
    let new = fs::read(&path).unwrap();
    // A pipe stops at the first refused line.
    let run = |before: &str, lines: &[&str]| {
        let mut child = program(&folder, &["play", "evening"]).spawn().unwrap();
        let mut stdin = child.stdin.take().unwrap();
        let mut out = BufReader::new(child.stdout.take().unwrap());
        // `help` writes nothing: once it is answered, the file is as `say` left it.
        writeln!(stdin, "{before}say three\nhelp undo").unwrap();
        let mut line = String::new();
        while !line.contains("takes back the last line") {
            line.clear();
            assert!(out.read_line(&mut line).unwrap() > 0);
        }
        overwrite(&path, &old);
        for line in lines {
            writeln!(stdin, "{line}").unwrap();
        }
        drop(stdin);
        let output = child.wait_with_output().unwrap();
        let mut rest = String::new();
        std::io::Read::read_to_string(&mut out, &mut rest).unwrap();
        format!("{rest}{}", String::from_utf8_lossy(&output.stderr))
    };
    let told = run("", &["say four"]);
    assert!(told.contains("not carried out") && told.contains("save OTHER.rbsave"), "{told}");
    assert_eq!(fs::read(&path).unwrap(), old);
    overwrite(&path, &new);
    // The third line was acknowledged, but is not in the file.
    let told = run("yes\n", &["save other.rbsave", "say four"]);
    assert!(told.contains("saved in other.rbsave"), "{told}");
    assert_eq!(said(&folder.join("other.rbsave")), ["one", "two", "three", "four"]);
    overwrite(&path, &new);
    let told = run("yes\n", &["retry"]);
    assert!(told.contains("is another file now") && told.contains("entry 4"), "{told}");
}

#[test]
fn an_empty_file_is_refused_with_what_to_do() {
    let (folder, library) = (folder("empty"), library("tests/rulesets"));
    let path = folder.join("evening.rbsave");
    fs::write(&path, "").unwrap();
    assert!(matches!(Store::open(&path, &library), Err(StoreError::Empty(_))));
    assert!(matches!(Store::read(&path, &library), Err(StoreError::Empty(_))));
    for args in [["play", "evening"], ["verify", "evening"], ["export", "evening"]] {
        let told = said_to(&folder, "tests", &args, "");
        assert!(told.contains("evening.rbsave is empty (0 bytes)") && told.contains("put a copy of it back"), "{told}");
    }
    assert_eq!(fs::metadata(&path).unwrap().len(), 0);
}

#[test]
fn a_campaign_has_a_printable_name() {
    let (folder, library) = (folder("names"), library("tests/rulesets"));
    let store = Store::open(folder.join("many.rbsave"), &library).unwrap();
    for wrong in ["", "\n", "x\0y", &"x".repeat(3_000)] {
        assert!(matches!(store.create(wrong), Err(StoreError::Refused(_))), "{wrong:?}");
    }
    assert_eq!(store.create("  Ko\u{308}ln  two ").unwrap().name(), "K\u{f6}ln two");
    assert!(matches!(store.create("K\u{f6}ln two"), Err(StoreError::Exists(_))));
    assert_eq!(store.campaign("Ko\u{308}ln two").unwrap().entries(), 0);
    assert_eq!(store.campaigns().unwrap().len(), 1);
}

/// A campaign accepts only its own session in its current state.
#[test]
fn a_campaign_takes_no_session_but_its_own() {
    let (folder, library) = (folder("own_session"), library("tests/rulesets"));
    let path = folder.join("evening.rbsave");
    let mut campaign = played(&path, &library);
    let rules = tug(&library);
    let mut stranger = Session::start(&rules, Setup::default().seed(99)).unwrap();
    let _ = stranger.advance().unwrap();
    let refused = |campaign: &mut Campaign, session: &mut Session| {
        let entries = campaign.entries();
        assert!(matches!(campaign.keep(session), Err(StoreError::Refused(_))));
        assert_eq!(campaign.entries(), entries);
    };
    refused(&mut campaign, &mut stranger);
    let mut first = campaign.session().unwrap();
    let mut second = campaign.session().unwrap();
    refused(&mut campaign, &mut first);
    let mut fork = second.fork();
    let _ = fork.advance().unwrap();
    refused(&mut campaign, &mut fork);
    let mut loaded = Session::load(&library, &campaign.whole().unwrap().save()).unwrap();
    refused(&mut campaign, &mut loaded);
    let mut whole = campaign.whole().unwrap();
    refused(&mut campaign, &mut whole);
    decide(&mut second, 1);
    campaign.keep(&mut second).unwrap();
    // The session of another campaign, and one that was stored there meanwhile.
    let store = Store::open(folder.join("other.rbsave"), &library).unwrap();
    let mut other = store.create("other").unwrap();
    let mut begun = other.begin(&rules, Setup::default().seed(1), "one").unwrap();
    refused(&mut campaign, &mut begun);
    // Its state has to be that at the end of its tape.
    refused(&mut other, &mut begun);
    let _ = begun.advance().unwrap();
    other.keep(&mut begun).unwrap();
    other.adopt(&second, "two").ok();
    other.begin(&rules, Setup::default().seed(2), "three").unwrap();
    refused(&mut other, &mut begun);
    // A campaign that is open twice.
    let mut twice = store.campaign("other").unwrap();
    let mut session = twice.session().unwrap();
    decide(&mut session, 1);
    twice.keep(&mut session).unwrap();
    assert!(matches!(other.note("lost"), Err(StoreError::Refused(_))));
    drop((other, twice));
    assert_eq!(store.verify().unwrap().problems, Vec::<String>::new());
    // A file in which such a session was once stored is detected: its tape belongs to another seed.
    drop((campaign, store));
    let mut lines = Vec::new();
    Store::read(&path, &library).unwrap().first().unwrap().unwrap().export(&mut lines).unwrap();
    let other_seed = String::from_utf8(lines).unwrap().replacen("\"seed\":5", "\"seed\":7", 1);
    let store = Store::open(folder.join("seed.rbsave"), &library).unwrap();
    let refused = store.import(other_seed.as_bytes()).err().unwrap().to_string();
    assert!(refused.contains("the lines are no whole campaign: entry "), "{refused}");
    assert!(store.first().unwrap().is_none());
}

/// If a file is truncated, only entries with rows after the cut are lost. Each recovered file is intact.
#[test]
fn a_truncated_file_loses_only_the_entries_after_the_cut() {
    let (folder, library) = (folder("cuts"), library("tests/rulesets"));
    let path = folder.join("evening.rbsave");
    let store = Store::open(&path, &library).unwrap();
    let mut campaign = store.create("evening").unwrap();
    let mut session = campaign.begin(&tug(&library), Setup::default().seed(5).switch("wins_at", 20), "one").unwrap();
    let text = |n: u32| format!("line {n:04} {}", "of which no other one has the words, ".repeat(4));
    let lines = 120;
    for n in 0..lines {
        session.edit(Edit::Say { text: text(n) }).unwrap();
        let _ = session.advance().unwrap();
        campaign.keep(&mut session).unwrap();
    }
    drop((campaign, store));
    let whole = fs::read(&path).unwrap();
    let ends: Vec<usize> = (0..lines)
        .map(|n| {
            let text = format!("line {n:04} ");
            let at = whole.windows(text.len()).enumerate().filter(|(_, part)| *part == text.as_bytes());
            // The page in which the text ends, which has the row; twice: on the tape and in the text of the entry.
            at.map(|(at, _)| (at / PAGE + 1) * PAGE).max().unwrap()
        })
        .collect();
    let copy = folder.join("copy.rbsave");
    let mut best = 0;
    // At the end of every page, and within every eighth.
    let within = |page: usize| page.is_multiple_of(8).then(|| page * PAGE + 1 + page * 37 % (PAGE - 1));
    let cuts = (1..whole.len() / PAGE).flat_map(|page| std::iter::once(page * PAGE).chain(within(page)));
    for cut in cuts {
        for entry in fs::read_dir(&folder).unwrap().flatten() {
            if entry.file_name().to_string_lossy().starts_with("copy") {
                fs::remove_file(entry.path()).unwrap();
            }
        }
        fs::write(&copy, &whole[..cut]).unwrap();
        let least = ends.iter().take_while(|end| **end <= cut).count();
        let saved = match recover(&copy, &library) {
            Ok(told) => {
                assert!(!told.lost.is_empty() || told.campaigns[0].entries == lines, "at {cut}: {told:?}");
                assert_eq!(Store::read(&copy, &library).unwrap().verify().unwrap().problems, Vec::<String>::new());
                told.campaigns[0].entries as usize
            }
            Err(_) => 0,
        };
        // The entries themselves are in the table that is written first: two more pages contain all of them. The first
        // 65 are moved to a new page when they fill the first page of their table.
        assert!(saved + 70 >= least, "at {cut} of {}: {saved} of at least {least}", whole.len());
        best = best.max(saved);
    }
    assert!(best > 60, "{best}");
    // The files of the rules are at the end of a new campaign, and are on disk as well.
    let new = folder.join("new.rbsave");
    drop({
        let mut campaign = Store::open(&new, &library).unwrap().create("new").unwrap();
        let mut session = campaign.begin(&tug(&library), Setup::default().seed(5), "one").unwrap();
        let _ = session.advance().unwrap();
        campaign.keep(&mut session).unwrap();
        campaign
    });
    let bytes = fs::read(&new).unwrap();
    fs::write(&new, &bytes[..bytes.len() * 99 / 100]).unwrap();
    let told = recover(&new, &library).unwrap();
    assert_eq!((told.campaigns[0].entries, told.lost), (1, Vec::<String>::new()));
}

/// Flipped bits, pages of an older copy, zeros and cuts: a file that `verify` accepts is played, exported and read
/// back; a recovered file is intact; and none gives a different game.
#[test]
fn one_function_decides_whether_a_file_is_whole() {
    let (folder, library) = (folder("whole_or_not"), library("tests/rulesets"));
    let path = folder.join("evening.rbsave");
    let mut campaign = played(&path, &library);
    let older = fs::read(&path).unwrap();
    let mut session = campaign.session().unwrap();
    for n in 0..6 {
        session.edit(Edit::Say { text: format!("more {n}") }).unwrap();
        let _ = session.advance().unwrap();
        campaign.keep(&mut session).unwrap();
    }
    let (here, entries) = (moment(&mut session), campaign.entries());
    drop(campaign);
    let whole = fs::read(&path).unwrap();
    let (copy, text) = (folder.join("copy.rbsave"), folder.join("text.rbsave"));
    let clear = || {
        for entry in fs::read_dir(&folder).unwrap().flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            if name.starts_with("copy") || name.starts_with("text") {
                fs::remove_file(entry.path()).unwrap();
            }
        }
    };
    let (mut sound, mut damaged) = (0, 0);
    let mut rng = DiceRng::new(23);
    for round in 0..rounds(40) {
        let mut bytes = whole.clone();
        let at = rng.face(bytes.len() as u32) as usize - 1;
        let page = at - at % PAGE;
        match round % 5 {
            0 => bytes[at] ^= 1 << (rng.face(8) - 1),
            1 | 2 => {
                let page = page.min(older.len() - PAGE);
                bytes[page..page + PAGE].copy_from_slice(&older[page..page + PAGE]);
            }
            3 => bytes[page..page + PAGE].fill(0),
            _ => bytes.truncate(at.max(1)),
        }
        clear();
        fs::write(&copy, &bytes).unwrap();
        let verified = Store::read(&copy, &library).and_then(|store| store.verify());
        let is_whole = verified.is_ok_and(|found| found.problems.is_empty());
        let opened = Store::open(&copy, &library)
            .and_then(|store| store.first())
            .and_then(|first| first.map(|mut campaign| Ok((campaign.session()?, campaign))).transpose());
        let mut lines = Vec::new();
        let exported = match opened {
            Ok(Some((mut session, mut campaign))) => {
                assert_eq!(moment(&mut session), here, "round {round}");
                campaign.export(&mut lines).is_ok()
            }
            _ => false,
        };
        assert_eq!(exported, is_whole, "round {round}");
        sound += u32::from(is_whole);
        damaged += u32::from(!is_whole);
        if is_whole {
            let store = Store::open(&text, &library).unwrap();
            assert_eq!(moment(&mut store.import(lines.as_slice()).unwrap().session().unwrap()), here, "round {round}");
        } else if let Ok(told) = recover(&copy, &library) {
            // Nothing of an index and of the texts of entries is lost: they are rebuilt.
            let all = told.campaigns[0].entries == entries;
            assert!(!told.lost.is_empty() || all, "round {round}: {told:?}");
            let found = Store::read(&copy, &library).unwrap().verify().unwrap();
            assert_eq!(found.problems, Vec::<String>::new(), "round {round}");
            assert!(
                told.campaigns[0].had.is_none_or(|had| had >= told.campaigns[0].entries),
                "round {round}: {told:?}"
            );
        }
    }
    assert!(sound > 0 && damaged > 10, "{sound} {damaged}");
}

#[test]
#[cfg(unix)]
fn a_file_with_a_second_name_is_read_but_not_written() {
    let (folder, library) = (folder("hard_link"), library("tests/rulesets"));
    let (path, other) = (folder.join("evening.rbsave"), folder.join("other.rbsave"));
    drop(played(&path, &library));
    fs::hard_link(&path, &other).unwrap();
    let refused = Store::open(&other, &library).err().unwrap().to_string();
    assert!(refused.contains("it has 2 names"), "{refused}");
    assert_eq!(Store::read(&other, &library).unwrap().campaigns().unwrap().len(), 1);
    fs::remove_file(&other).unwrap();
    Store::open(&path, &library).unwrap();
}

#[test]
fn a_note_can_be_corrected_and_leaving_a_changed_roster_is_reported() {
    let folder = folder("corrected");
    let lines = "note a trol\nnote nothing\nnote edit 1 a troll\nnote drop 2\nnote edit 9 x\n";
    let told = said_to(&folder, "tests", &["play", "evening", "--rules", "tug"], lines);
    assert!(told.contains("note 1 is corrected") && told.contains("note 2 is removed"), "{told}");
    assert!(told.contains("There is no note 9"), "{told}");
    let told = said_to(&folder, "tests", &["play", "evening"], "note\nroster keep Ann\ngoto 1\nroster\n");
    assert!(told.contains("a troll") && !told.contains("nothing"), "{told}");
    assert!(told.contains("The roster is the one of entry 1: without Ann. `goto 2` goes back"), "{told}");
}

/// An older copy is restored, or a copy was played elsewhere: the program reports what is missing, and a branch
/// restores it.
#[test]
fn a_copy_that_lacks_entries_is_played_after_a_yes_and_a_conflicting_one_is_added_as_a_branch() {
    let (folder, library) = (folder("conflict"), library("tests/rulesets"));
    let (path, other) = (folder.join("evening.rbsave"), folder.join("laptop.rbsave"));
    let begin = |name: &str, lines: &str| said_to(&folder, "tests", &["play", name, "--rules", "tug"], lines);
    let play = |name: &str, lines: &str| said_to(&folder, "tests", &["play", name], lines);
    begin("evening", "say one\n");
    fs::copy(&path, &other).unwrap();
    play("evening", "say two\nsay three\n");
    let newest = fs::read(&path).unwrap();
    // A sync program restores the older copy.
    fs::copy(&other, &path).unwrap();
    let told = play("evening", "no\n");
    assert!(told.contains("lacks 2 of the 4 entries that were stored here"), "{told}");
    assert_eq!(fs::read(&path).unwrap(), fs::read(&other).unwrap());
    // The other machine, which does not know the two entries.
    fs::remove_dir_all(folder.join("state")).unwrap();
    play("laptop", "say deux\nsay trois\nsay quatre\n");
    fs::write(&path, &newest).unwrap();
    let read = |path: &Path| Store::read(path, &library).unwrap();
    let before = read(&path).first().unwrap().unwrap();
    let import = |from: &str, to: &str| {
        let output = program(&folder, &["import", from, to]).output().unwrap();
        format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
    };
    assert!(import("laptop.rbsave", "evening").contains("has 3 entries more"));
    let after = read(&path);
    assert_eq!(after.verify().unwrap().problems, Vec::<String>::new());
    let after = after.first().unwrap().unwrap();
    assert_eq!((after.head(), after.entries()), (before.head(), before.entries() + 3));
    let told = play("evening", "log --all\ngoto 7\nlog\n");
    assert!(told.contains("deux") && told.contains("quatre"), "{told}");
    // The second time there is nothing to add.
    assert!(import("laptop.rbsave", "evening").contains("has 0 entries more"));
    // Another campaign is no copy.
    begin("stranger", "say hello\n");
    assert!(import("stranger.rbsave", "evening").contains("two campaigns, not two copies of one"));
}

/// The list of known entries of a campaign as an earlier version wrote it: with the checksums of the rows.
fn earlier_list(folder: &Path, campaign: &Campaign) -> PathBuf {
    let path = folder.join("state/riskbreaker/entries").join(campaign.identity().unwrap());
    let lines: String = campaign.row_sums(1).iter().map(|sum| format!("{:016x}\n", sum.cast_unsigned())).collect();
    fs::write(&path, lines).unwrap();
    path
}

/// A copy that was played elsewhere is detected even if it differs only in a text, and the list of an earlier version
/// causes no false alarm.
#[test]
fn a_copy_that_differs_only_in_a_text_is_detected() {
    let (folder, library) = (folder("texts"), library("tests/rulesets"));
    let (path, other) = (folder.join("evening.rbsave"), folder.join("laptop.rbsave"));
    let play = |name: &str, lines: &str| said_to(&folder, "tests", &["play", name], lines);
    said_to(&folder, "tests", &["play", "evening", "--rules", "tug"], "say one\n");
    fs::copy(&path, &other).unwrap();
    play("evening", "say two\n");
    let campaign = || Store::read(&path, &library).unwrap().first().unwrap().unwrap();
    let ours = campaign();
    let list = folder.join("state/riskbreaker/entries").join(format!("{}-2", ours.identity().unwrap()));
    let known = fs::read_to_string(&list).unwrap();
    assert_eq!(known.lines().count(), 3);
    // The other machine, whose text has the same number in its file.
    fs::remove_file(&list).unwrap();
    play("laptop", "say owt\n");
    fs::write(&list, &known).unwrap();
    fs::copy(&other, &path).unwrap();
    let theirs = campaign();
    assert_eq!(theirs.row_sums(1), ours.row_sums(1), "the checksums of the rows do not tell");
    let differs: Vec<bool> = ours.entry_sums(1).iter().zip(theirs.entry_sums(1)).map(|(a, b)| *a != b).collect();
    assert_eq!(differs, [false, false, true]);
    drop((ours, theirs));
    let told = play("evening", "no\n");
    assert!(told.contains("lacks 1 of the 3 entries that were stored here"), "{told}");
    // An imported export has other numbers, but is the same.
    let output = program(&folder, &["export", "laptop", "--json"]).output().unwrap();
    let lines = Store::open(folder.join("again.rbsave"), &library).unwrap().import(&output.stdout[..]).unwrap();
    assert_eq!(lines.entry_sums(1), campaign().entry_sums(1));
    drop(lines);
    // The list of an earlier version.
    fs::remove_file(&list).unwrap();
    let earlier = earlier_list(&folder, &campaign());
    let told = play("evening", "say three\n");
    assert!(!told.contains("lacks"), "{told}");
    assert!(!earlier.exists());
    assert_eq!(fs::read_to_string(&list).unwrap().lines().count(), 4);
    let told = play("evening", "log\n");
    assert!(!told.contains("lacks") && told.contains("three"), "{told}");
    fs::remove_file(&list).unwrap();
    let earlier = earlier_list(&folder, &campaign());
    fs::copy(&other, &path).unwrap();
    let told = play("evening", "no\n");
    assert!(told.contains("lacks 1 of the 4 entries that were stored here") && earlier.exists(), "{told}");
}

/// Builds the command that starts a program in a certain way.
type Start = Box<dyn Fn(&mut Command) -> Command>;

/// Returns a way to start programs for which a folder cannot be written: on a read-only file system if possible,
/// otherwise without the right to write. `None` if the user of the tests may write everywhere and mount nothing.
fn read_only(folder: &Path) -> Option<Start> {
    let mounted = |command: &mut Command| {
        let mut all = Command::new("unshare");
        let script =
            "mount --bind \"$1\" \"$1\" && mount -o remount,bind,ro \"$1\" && cd \"$1\" && shift && exec \"$@\"";
        all.args(["-m", "sh", "-c", script, "sh"]).arg(command.get_current_dir().unwrap());
        all.arg(command.get_program()).args(command.get_args());
        command.get_envs().for_each(|(name, value)| {
            all.env(name, value.unwrap());
        });
        all.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        all
    };
    let mut touch = Command::new("touch");
    let touched = mounted(touch.current_dir(folder).arg("touched")).output();
    if touched.is_ok_and(|output| String::from_utf8_lossy(&output.stderr).contains("Read-only")) {
        return Some(Box::new(mounted));
    }
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        let allow = |path: &Path, mode| fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
        fs::read_dir(folder).unwrap().for_each(|file| allow(&file.unwrap().path(), 0o444));
        allow(folder, 0o555);
        if fs::write(folder.join("touched"), "").is_err() {
            return Some(Box::new(|command| {
                let mut same = Command::new(command.get_program());
                same.args(command.get_args()).current_dir(command.get_current_dir().unwrap());
                command.get_envs().for_each(|(name, value)| {
                    same.env(name, value.unwrap());
                });
                same.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
                same
            }));
        }
        allow(folder, 0o755);
    }
    None
}

/// A campaign that cannot be written can be read, and a command that writes says what to do.
#[test]
fn a_campaign_on_a_read_only_disk_is_looked_at_and_not_written() {
    let place = folder("read_only");
    let media = place.join("media");
    fs::create_dir_all(&media).unwrap();
    let told =
        said_to(&media, "tests", &["play", "evening", "--rules", "tug", "--seed", "7"], "say hello\nnote a note\n");
    assert!(told.contains("hello"), "{told}");
    fs::remove_dir_all(media.join("state")).unwrap();
    let before = fs::read(media.join("evening.rbsave")).unwrap();
    let Some(start) = read_only(&media) else {
        eprintln!("skipped: nothing can be mounted here, and everything can be written");
        return;
    };
    let run = |args: &[&str], lines: &str| {
        let mut child = start(program(&media, args).env("XDG_STATE_HOME", place.join("state"))).spawn().unwrap();
        let _ = child.stdin.take().unwrap().write_all(lines.as_bytes());
        let output = child.wait_with_output().unwrap();
        let told = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        (output.status.success(), told)
    };
    for (args, wanted) in [
        (vec!["verify", "evening"], "evening.rbsave is whole"),
        (vec!["recap", "evening"], "hello"),
        (vec!["export", "evening"], "hello"),
        (vec!["replay", "evening"], "the replay gives the game that was kept"),
    ] {
        let (done, told) = run(&args, "");
        assert!(done && told.contains(wanted), "{args:?}: {told}");
    }
    let (done, told) = run(&["play", "evening"], "log --all\nsheet ann\nwhy ann need\nodds pull\n");
    assert!(done && told.contains("cannot be written here, so it is open for reading"), "{told}");
    assert!(told.contains("hello") && told.contains("every pull") && told.contains('%'), "{told}");
    for line in ["say more", "note more", "pull 1"] {
        let (done, told) = run(&["play", "evening"], &format!("{line}\n"));
        assert!(!done && told.contains("`save OTHER.rbsave` in a folder that can be written"), "{line}: {told}");
    }
    for args in [vec!["recover", "evening"], vec!["play", "new", "--rules", "tug"]] {
        let (done, told) = run(&args, "");
        assert!(!done && told.contains("use a folder that can be written"), "{args:?}: {told}");
    }
    // It continues elsewhere.
    let other = place.join("other.rbsave");
    let (done, told) = run(&["play", "evening"], &format!("save {}\nsay more\n", other.display()));
    assert!(done, "{told}");
    assert_eq!(said(&other), ["hello", "more"]);
    assert_eq!(fs::read(media.join("evening.rbsave")).unwrap(), before);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        let _ = fs::set_permissions(&media, fs::Permissions::from_mode(0o755));
    }
}

/// `cargo test --release --test store -- --ignored --nocapture many` prints the time to save and load games of many
/// answers.
#[test]
#[ignore = "a measurement"]
fn saving_and_loading_many_answers_takes() {
    let (folder, library) = (folder("many"), library("tests/rulesets"));
    let rules = tug(&library);
    let now = std::time::Instant::now;
    for answers in [1_000, 5_000, 10_000] {
        let path = folder.join(format!("{answers}.rbsave"));
        let mut campaign = Store::open(&path, &library).unwrap().create("many").unwrap();
        let setup = Setup::default().seed(5).switch("wins_at", 20);
        let mut session = campaign.begin(&rules, setup, "one").unwrap();
        let _ = session.advance().unwrap();
        let rope = session.view().find("rope").unwrap();
        let mut keeping = std::time::Duration::ZERO;
        for n in 0..answers {
            // The rope stays between the two ends.
            session.edit(Edit::Set { entity: rope, field: "at".into(), value: (n % 2).into() }).unwrap();
            let _ = session.advance().unwrap();
            let began = now();
            campaign.keep(&mut session).unwrap();
            keeping += began.elapsed();
        }
        let began = now();
        let text = session.save();
        let saving = began.elapsed();
        let began = now();
        Session::load(&library, &text).unwrap();
        let loading = began.elapsed();
        drop(campaign);
        let began = now();
        let mut campaign = Store::open(&path, &library).unwrap().first().unwrap().unwrap();
        campaign.session().unwrap();
        let opening = began.elapsed();
        let began = now();
        assert!(campaign.entry_sums(1).len() >= answers as usize);
        let summing = began.elapsed();
        let began = now();
        campaign.whole().unwrap();
        let whole = began.elapsed();
        let each = |time: std::time::Duration| time.as_secs_f64() * 1_000.0 / answers as f64;
        println!(
            "{answers}: ms per answer: keep {:.4}, save {:.4}, load {:.4}, open {:.4}, sums {:.4}, whole {:.4}; {} KB",
            each(keeping),
            each(saving),
            each(loading),
            each(opening),
            each(summing),
            each(whole),
            fs::metadata(&path).unwrap().len() / 1024
        );
    }
}

/// A fight that was played to its end is told as a story: in sentences of the cards, with its turning points, from
/// events.
#[test]
fn a_recap_names_actors_cards_and_the_outcome() {
    let folder = folder("told");
    let begin = ["play", "evening", "--rules", "riskbreaker-0.0.1", "--seed", "7"];
    said_to(&folder, "shipped", &begin, "auto 300\nnote the owl watched\nsay The bell tolls.\n");
    let told = said_to(&folder, "shipped", &["recap", "evening", "--all"], "");
    assert!(told.contains("you began “evening.rbsave") || told.contains("you began “A duel"), "{told}");
    for part in [
        "Fighter faces Duellist.",
        "gains ground by Knockdown.",
        "turning point",
        "Kill Damage",
        "In all,",
        "It ended.",
    ] {
        assert!(told.contains(part), "{part}: {told}");
    }
    assert!(told.contains("The bell tolls."), "{told}");
    for part in ["->", "RB1-", "owl", "Round 1", "Advantage:"] {
        assert!(!told.contains(part), "{part}: {told}");
    }
    let told = said_to(&folder, "shipped", &["recap", "evening", "--all", "--for", "gm"], "");
    assert!(told.contains("Noted: the owl watched"), "{told}");
    let told = said_to(&folder, "shipped", &["recap", "evening", "--all", "--html", "story.html"], "");
    assert!(told.contains("story.html"), "{told}");
    let page = fs::read_to_string(folder.join("story.html")).unwrap();
    assert!(
        page.contains("<p class=\"turn\">") && page.contains("name=\"viewport\"") && !page.contains("owl"),
        "{page}"
    );
}

/// The cards of a party: its sheets with boxes, and no sheet on the back of something to cut.
#[test]
fn the_cards_of_a_campaign_are_those_of_its_party() {
    let folder = folder("party");
    said_to(&folder, "shipped", &["play", "evening", "--rules", "rbf", "--seed", "7"], "auto 3\n");
    let told = said_to(&folder, "shipped", &["cards", "--campaign", "evening", "--out", "party.html"], "");
    assert!(told.contains("party.html: ") && told.contains("4 sheets"), "{told}");
    let page = fs::read_to_string(folder.join("party.html")).unwrap();
    for part in ["<h2>Brawler</h2>", "<i class=\"box\">", "Labrys", "name=\"viewport\""] {
        assert!(page.contains(part), "{part}");
    }
    for part in ["RBF-", "In RULES.md", "<h2></h2>", "<h2>&nbsp;</h2>", "Thug"] {
        assert!(!page.contains(part), "{part}");
    }
    // Fronts and backs alternate, so that each cut card has its own back.
    let pages: Vec<&str> =
        page.split("<section class=\"").skip(1).map(|page| page.split('"').next().unwrap()).collect();
    assert!(pages.len() > 4 && pages.len().is_multiple_of(2), "{pages:?}");
    assert!(pages.iter().enumerate().all(|(at, class)| class.ends_with("backs") == (at % 2 == 1)), "{pages:?}");
    let told = said_to(&folder, "shipped", &["cards", "--campaign", "nobody", "--out", "x.html"], "");
    assert!(told.contains("there is no such file"), "{told}");
}

/// A name that is both a campaign and a scenario is refused in a script, with the spelling for each.
#[test]
fn a_script_gets_advice_on_a_name_of_a_campaign_and_a_scenario() {
    let folder = folder("both");
    said_to(&folder, "shipped", &["play", "duel.rbsave", "duel", "--rules", "riskbreaker-0.0.1"], "ok\n");
    let told = said_to(&folder, "shipped", &["play", "duel"], "log --all\n");
    assert!(told.contains("`duel` is a campaign and a scenario"), "{told}");
    assert!(
        told.contains("`riskbreaker play duel.rbsave`") && told.contains("`riskbreaker play riskbreaker-0.0.1 duel`")
    );
    let told = said_to(&folder, "shipped", &["play", "duel.rbsave"], "log --all\n");
    assert!(told.contains("*2 "), "{told}");
    let told = said_to(&folder, "shipped", &["play", "riskbreaker-0.0.1", "duel"], "log --all\n");
    assert!(told.contains("needs a campaign"), "{told}");
}
