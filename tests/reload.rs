//! Rules that change during a game.

mod files;

use std::collections::BTreeMap;
use std::sync::Arc;

use riskbreaker::play::ReloadReport;
use riskbreaker::{
    Answer, DiceSource, Driver, Edit, EntityId, Happening, Library, Remedy, Ruleset, Session, Setup, Step, Value,
};

/// The files of the small game, for changes.
#[derive(Clone)]
struct Files(BTreeMap<String, String>);

impl Files {
    fn of_tug() -> Files {
        Files(files::of(&["tug"]))
    }

    fn with(&self, path: &str, from: &str, to: &str) -> Files {
        let mut files = self.clone();
        let text = files.0.get_mut(&format!("tug/{path}")).unwrap();
        assert!(text.contains(from), "{path} has no `{from}`");
        *text = text.replace(from, to);
        files
    }

    fn library(&self) -> Library {
        Library::from_files(self.0.clone())
    }

    fn load(&self) -> Arc<Ruleset> {
        Ruleset::load(&self.library(), "tug").unwrap_or_else(|error| panic!("{error}"))
    }
}

fn start(files: &Files, dice: &[u32]) -> Session {
    let setup = Setup::default().dice(DiceSource::Written(dice.to_vec())).switch("wins_at", 20);
    let mut session = Session::start(&files.load(), setup).unwrap();
    assert_eq!(session.advance().unwrap(), Step::Ask);
    session
}

fn say(session: &mut Session, replies: &[(&str, Value)]) -> Step {
    let replies: Vec<_> = replies.iter().map(|(topic, value)| (topic.to_string(), value.clone())).collect();
    session.reply(&replies).unwrap()
}

fn pull(session: &mut Session, risk: i64) {
    let _ = say(session, &[("card", "pull".into()), ("risk", risk.into())]);
}

fn field(session: &Session, title: &str, name: &str) -> Option<Value> {
    let view = session.view();
    view.field(view.find(title).unwrap(), name).cloned()
}

fn rope(session: &Session) -> i64 {
    field(session, "rope", "at").unwrap().as_int().unwrap()
}

fn reload(session: &mut Session, files: &Files) -> ReloadReport {
    let report = session.reload(files.load()).unwrap();
    let _ = session.advance().unwrap();
    report
}

fn notices(session: &mut Session) -> Vec<String> {
    let events = session.take_events();
    let notice = |event: &riskbreaker::Event| match &event.happening {
        Happening::Notice { text } => Some(text.clone()),
        _ => None,
    };
    events.iter().filter_map(notice).collect()
}

#[test]
fn a_reload_lists_its_changes_and_applies_to_the_next_action() {
    let files = Files::of_tug();
    let mut session = start(&files, &[5, 5]);
    pull(&mut session, 2);
    assert_eq!(rope(&session), -2);
    let faster = files.with("maneuvers/pull.luau", "(won and risk or -risk)", "(won and 2 * risk or -risk)");
    let report = reload(&mut session, &faster);
    assert_eq!(report.lines(), ["maneuvers/pull.luau: one line"]);
    pull(&mut session, 2);
    assert_eq!(rope(&session), 2);
}

#[test]
fn an_open_action_runs_again_with_its_tape_if_that_fits() {
    let files = Files::of_tug();
    let mut session = start(&files, &[5, 5]);
    let _ = say(&mut session, &[("card", "pull".into())]);
    assert_eq!(&*session.questions()[0].topic, "risk");
    session.take_events();
    let report = reload(&mut session, &files.with("maneuvers/pull.luau", "max = 3", "max = 9"));
    assert!(report.under_way);
    assert_eq!(report.lines(), ["maneuvers/pull.luau: max 3 -> 9"]);
    assert_eq!(&*session.questions()[0].topic, "risk");
    assert!(notices(&mut session).is_empty());
    let _ = say(&mut session, &[("risk", 9.into())]);
    assert_eq!(rope(&session), -9);
}

/// Returns the same game without access to the card `pull`.
fn without_pull(files: &Files) -> Files {
    let files = files.with(
        "maneuvers/pull.luau",
        "\tresolve",
        "\twhen = function() return false, \"the rope is wet\" end,\n\tresolve",
    );
    files.with("play.luau", "default = \"pull\"", "default = \"rest\"")
}

#[test]
fn an_action_whose_tape_does_not_fit_starts_again_with_a_message() {
    let files = Files::of_tug();
    let mut session = start(&files, &[5, 5]);
    let _ = say(&mut session, &[("card", "pull".into())]);
    session.take_events();
    let new = without_pull(&files);
    reload(&mut session, &new);
    assert_eq!(&*session.questions()[0].topic, "card");
    let told = notices(&mut session);
    assert!(told.iter().any(|text| text.starts_with("turn starts again")), "{told:?}");
    let _ = say(&mut session, &[("card", "rest".into())]);
    assert_eq!(field(&session, "Ann", "rests"), Some(1.into()));
}

#[test]
fn an_answer_dropped_by_other_rules_is_no_decision() {
    let files = Files::of_tug();
    let dry = without_pull(&files);
    // The answer is on the tape of the open action, or is restored after an undo across the reload.
    for plays_on in [false, true] {
        let mut session = start(&files, &[5, 5]);
        session.edit(Edit::Say { text: "wet".into() }).unwrap();
        assert_eq!(session.advance().unwrap(), Step::Ask);
        let _ = say(&mut session, &[("card", "pull".into())]);
        if plays_on {
            let _ = say(&mut session, &[("risk", 2.into())]);
        }
        reload(&mut session, &dry);
        if plays_on {
            assert_eq!(session.decisions(), 3);
            session.undo().unwrap();
            assert_eq!(session.decisions(), 2);
            let _ = session.advance().unwrap();
        }
        assert_eq!(&*session.questions()[0].topic, "card");
        let mut loaded = Session::load(&dry.library(), &session.save()).unwrap();
        for session in [&mut session, &mut loaded] {
            assert_eq!(session.decisions(), 1, "{plays_on}");
            let _ = say(session, &[("card", "rest".into())]);
            for left in [1, 0] {
                session.undo().unwrap();
                assert_eq!(session.decisions(), left, "{plays_on}");
                let _ = session.advance().unwrap();
            }
            assert!(session.undo().is_err());
        }
    }
}

#[test]
fn decisions_before_many_actions_are_counted_in_a_loaded_game() {
    let ticks = "card.resolve(ctx)\n\t\t\tfor at = 1, 40 do rb.schedule(\"tick\", { 1, 1, at }) end";
    let files = Files::of_tug().with("play.luau", "card.resolve(ctx)", ticks);
    let files = files.with("play.luau", "entries = {", "entries = {\n\t\ttick = function() rb.say(\"tick\") end,");
    let other = files.with("play.luau", "rb.say(\"tick\")", "rb.say(\"tock\")");
    let mut session = start(&files, &[4, 5, 6]);
    pull(&mut session, 2);
    reload(&mut session, &other);
    let mut loaded = Session::load(&other.library(), &session.save()).unwrap();
    for left in [2, 1, 0] {
        assert_eq!((session.decisions(), loaded.decisions()), (left, left));
        assert_eq!(session.undo().is_ok(), left > 0);
        assert_eq!(loaded.undo().is_ok(), left > 0);
    }
}

/// The small game with a free act that rolls.
fn with_a_toss() -> Files {
    let toss = "free = {\n\t\ttoss = { title = \"Toss\", run = function(seat) rb.roll(\"1d10\", \"a toss\") end },";
    Files::of_tug().with("play.luau", "free = {", toss)
}

/// The rolled faces in the log, in their order.
fn rolled(session: &Session) -> Vec<u32> {
    let log = session.log();
    let faces = log.iter().filter_map(|event| match &event.happening {
        Happening::Rolled { faces, .. } => Some(faces.clone()),
        _ => None,
    });
    faces.flatten().collect()
}

#[test]
fn an_action_that_starts_again_does_not_reuse_the_dice_of_a_free_act() {
    let files = with_a_toss();
    let other = files.with("play.luau", "topic = \"card\"", "topic = \"deed\"");
    for reads_it in [false, true] {
        let mut session = start(&files, &[4, 9, 7]);
        session.act("right", "toss").unwrap();
        assert_eq!(session.advance().unwrap(), Step::Ask);
        if reads_it {
            session = Session::load(&files.library(), &session.save()).unwrap();
            assert_eq!(session.advance().unwrap(), Step::Ask);
        }
        let _ = say(&mut session, &[("card", "pull".into())]);
        session.take_events();
        reload(&mut session, &other);
        assert!(notices(&mut session).iter().any(|text| text.starts_with("turn starts again")));
        let _ = say(&mut session, &[("deed", "pull".into()), ("risk", 2.into())]);
        assert_eq!((rolled(&session), session.unrolled()), (vec![4, 9], 1), "{reads_it}");
        let loaded = Session::load(&other.library(), &session.save()).unwrap();
        assert_eq!(loaded.save(), session.save());
    }
}

#[test]
fn an_action_on_another_path_does_not_reuse_the_dice_of_a_free_act() {
    let files = with_a_toss();
    // The first roll is seen by nobody, so that a free act comes before the action.
    let files = files.with(
        "play.luau",
        "local ctx =",
        "rb.roll({ if args.rope.at == 0 then \"1d10\" else \"2d10\", audience = \"nobody\" }, \"a secret\")\n\t\t\tlocal ctx =",
    );
    let files = files.with(
        "play.luau",
        "rb.roll(\"1d10\", \"a toss\")",
        "rb.roll(\"1d10\", \"a toss\") rb.first(\"rope\"):set(\"at\", 1)",
    );
    let mut session = start(&files, &[1, 4, 9, 7, 8]);
    session.act("right", "toss").unwrap();
    assert_eq!(session.advance().unwrap(), Step::Ask);
    assert_eq!((rolled(&session), session.unrolled()), (vec![4, 9, 7], 1));
    session.undo().unwrap();
    assert_eq!(session.advance().unwrap(), Step::Ask);
    assert_eq!((rolled(&session), session.unrolled()), (vec![1], 4));
}

/// Likewise; a turn rolls in secret, asks for a number that has to be at least 2, and rolls again.
fn with_a_check() -> Files {
    let secret = "rb.roll({ \"1d10\", audience = \"nobody\" }, \"a secret\")";
    let asks = "rb.number({ seat = puller.seat, topic = \"pick\", about = puller, why = \"?\", min = 0, max = 3, default = 2, \
                check = function(n) return n > 1, \"too few\" end })";
    with_a_toss().with("play.luau", "local ctx =", &format!("{secret}\n{asks}\n{secret}\nlocal ctx ="))
}

fn pick(session: &mut Session, number: i64) {
    let question = session.questions()[0].clone();
    assert_eq!(&*question.topic, "pick");
    let _ = session.answer(question.id, Answer::Number(number));
    assert_eq!(session.advance().unwrap(), Step::Ask);
}

#[test]
fn an_action_does_not_reuse_the_dice_of_a_free_act_after_a_refused_answer() {
    let mut session = start(&with_a_check(), &[1, 4, 9, 7]);
    session.act("right", "toss").unwrap();
    assert_eq!(session.advance().unwrap(), Step::Ask);
    pick(&mut session, 0);
    pick(&mut session, 2);
    assert_eq!((rolled(&session), session.unrolled()), (vec![4, 1, 9], 1));
}

#[test]
fn other_dice_are_kept_after_a_refused_answer() {
    let played = |words: Option<u64>, numbers: &[i64]| {
        let mut session = Session::start(&with_a_check().load(), Setup::default().seed(3)).unwrap();
        assert_eq!(session.advance().unwrap(), Step::Ask);
        words.into_iter().for_each(|words| session.edit(Edit::OtherDice { words }).unwrap());
        assert_eq!(session.advance().unwrap(), Step::Ask);
        numbers.iter().for_each(|number| pick(&mut session, *number));
        rolled(&session)
    };
    assert_eq!(played(Some(64), &[0, 2]), played(Some(64), &[2]));
    assert_ne!(played(None, &[2]), played(Some(64), &[2]));
}

#[test]
fn dice_of_a_free_act_are_not_reused_after_an_action_without_rolls() {
    let secret = "rb.roll({ \"1d10\", audience = \"nobody\" }, \"a secret\")";
    let turn = format!("{secret}\nif args.rope.at > 0 then return end\n{secret}\nlocal ctx =");
    let files = with_a_toss().with("play.luau", "local ctx =", &turn);
    let toss = "rb.roll(\"1d10\", \"a toss\")";
    let files = files.with("play.luau", toss, &format!("{toss} rb.first(\"rope\"):set(\"at\", 1) rb.finish(\"over\")"));
    let files = files.with("play.luau", "rb.finish(\"over\")", "rb.schedule(\"last\", { 1, 1, 1 })");
    let last = format!("entries = {{\n\t\tlast = function() {secret} rb.finish(\"over\") end,");
    let files = files.with("play.luau", "entries = {", &last);
    let mut session = start(&files, &[1, 2, 3, 4, 5]);
    session.act("right", "toss").unwrap();
    assert!(matches!(session.advance().unwrap(), Step::Over(_)));
    assert_eq!((rolled(&session), session.unrolled()), (vec![3, 1, 4], 1));
}

#[test]
fn a_fixed_card_continues_at_its_fault() {
    let files = Files::of_tug();
    let broken = files.with("maneuvers/pull.luau", "rb.act.move_rope(ctx.rope", "rb.act.move_rope(ctx.roope.at");
    let mut session = start(&broken, &[5, 5]);
    let fault = session.reply(&[("card".into(), "pull".into()), ("risk".into(), 2.into())]).unwrap_err();
    assert!(fault.to_string().contains("pull.luau:"), "{fault}");
    let _ = say(&mut session, &[("card", "pull".into())]);
    let question = session.questions()[0].id;
    session.answer(question, riskbreaker::Answer::Number(2)).unwrap();
    assert!(matches!(session.advance().unwrap(), Step::Fault(_)));
    session.reload(files.load()).unwrap();
    assert_eq!(session.advance().unwrap(), Step::Ask);
    assert_eq!(rope(&session), -2);
    assert_eq!(session.unrolled(), 1);
    assert!(session.remedy(Remedy::Retry).is_err());
}

#[test]
fn new_fields_take_their_default_and_dropped_ones_come_back() {
    let files = Files::of_tug();
    let mut session = start(&files, &[5, 5, 5, 5]);
    let ann = session.view().find("Ann").unwrap();
    session.edit(Edit::Set { entity: ann, field: "strength".into(), value: 7.into() }).unwrap();
    let _ = session.advance().unwrap();
    let new = files
        .with("kinds.luau", "strength = rb.int({ min = 0, max = 10, default = 5 })", "armour = rb.int({ default = 4 })")
        .with("kinds.luau", "rb.sum(\"strength\", self.strength)", "rb.sum(\"armour\", self.armour)");
    let report = reload(&mut session, &new);
    assert_eq!(report.state.defaulted, ["puller.armour = 4"]);
    assert_eq!(report.state.kept_aside, ["puller.strength"]);
    assert_eq!(field(&session, "Ann", "strength"), None);
    assert_eq!(field(&session, "Ann", "armour"), Some(4.into()));
    assert!(session.dormant().contains(&("Ann".into(), "strength".into(), "7".into())), "{:?}", session.dormant());
    assert_eq!(session.derived(ann, "need", &[]).unwrap(), 5.into());
    pull(&mut session, 1);

    let report = reload(&mut session, &files);
    assert_eq!(report.state.returned, ["puller.strength"]);
    assert_eq!(field(&session, "Ann", "strength"), Some(7.into()));
    assert_eq!(field(&session, "Bob", "strength"), Some(5.into()));
    assert_eq!(session.derived(ann, "need", &[]).unwrap(), 8.into());
}

#[test]
fn a_value_out_of_its_new_bounds_moves_to_the_nearest_and_comes_back() {
    let files = Files::of_tug();
    let mut session = start(&files, &[5, 5]);
    let narrow = files.with("kinds.luau", "max = 10, default = 5", "max = 3, default = 2");
    let report = reload(&mut session, &narrow);
    assert_eq!(report.state.kept_aside, ["puller.strength, which takes a whole number from 0 to 3, not 5"]);
    assert_eq!(field(&session, "Ann", "strength"), Some(3.into()));
    reload(&mut session, &files);
    assert_eq!(field(&session, "Ann", "strength"), Some(5.into()));
}

#[test]
fn undo_goes_back_over_a_reload_and_the_new_rules_stay() {
    let files = Files::of_tug();
    let mut session = start(&files, &[5, 5, 5]);
    let wide = files
        .with(
            "kinds.luau",
            "rests = rb.int({ min = 0, label = \"rests\" })",
            "rests = rb.int({ min = 0, label = \"rests\" }),\n\t\t\ta_first = rb.int({ default = 1 })",
        )
        .with("maneuvers/pull.luau", "(won and risk or -risk)", "(won and 3 * risk or -risk)");
    pull(&mut session, 2);
    let bytes = session.state_bytes();
    reload(&mut session, &wide);
    pull(&mut session, 1);
    assert_eq!(rope(&session), 1);
    session.undo().unwrap();
    session.undo().unwrap();
    let undone = session.undo().unwrap();
    assert!(undone.text.contains("risk"), "{}", undone.text);
    let _ = session.advance().unwrap();
    assert_eq!(rope(&session), 0);
    assert_eq!(field(&session, "Ann", "a_first"), Some(1.into()));
    // The same pull again, by the current rules.
    let _ = say(&mut session, &[("risk", 2.into())]);
    assert_eq!(rope(&session), -6);
    assert_ne!(session.state_bytes(), bytes);
    let why = session.why(EntityId(1), "at").unwrap();
    assert!(why.changes.last().is_some_and(|line| line.ends_with(": 0 -> -6")), "{:?}", why.changes);
}

#[test]
fn a_kind_in_use_cannot_be_removed() {
    let files = Files::of_tug();
    let mut session = start(&files, &[5]);
    let before = session.state_bytes();
    let renamed = files.with("kinds.luau", "\tpuller =", "\tpullers =").with(
        "play.luau",
        "rb.spawn(\"puller\"",
        "rb.spawn(\"pullers\"",
    );
    let asked = session.questions().to_vec();
    let refusal = session.reload(renamed.load()).unwrap_err();
    assert_eq!(
        refusal.to_string(),
        "the kind `puller` is gone, and there are 2 of them in the game; declare it again, or take them away first"
    );
    assert_eq!((session.questions(), asked.is_empty()), (&asked[..], false), "they are still open");
    assert_eq!(session.advance().unwrap(), Step::Ask);
    assert_eq!(session.state_bytes(), before);
    pull(&mut session, 2);
    assert_eq!(rope(&session), -2);
}

#[test]
fn house_rules_and_seats_are_carried_by_name() {
    let files = Files::of_tug();
    let mut session = start(&files, &[5]);
    session.set_seat("right", Driver::Policy("hasty".into())).unwrap();
    let mut new = files.with("ruleset.toml", "max = 20", "max = 9");
    new.0.remove("tug/policies/hasty.luau");
    let report = reload(&mut session, &new);
    assert_eq!(session.switch("wins_at"), Some(&3.into()));
    assert_eq!(session.seats()["right"], Driver::Human);
    assert_eq!(report.warnings.len(), 2, "{report:?}");
}

/// A mistake in a file and its correction, with edits before.
#[test]
fn a_house_rule_and_a_value_dropped_by_a_reload_return_after_any_rules() {
    let files = Files::of_tug();
    let mut session = start(&files, &[5, 5]);
    let ann = session.view().find("Ann").unwrap();
    session.edit(Edit::Set { entity: ann, field: "strength".into(), value: 8.into() }).unwrap();
    let _ = session.advance().unwrap();
    pull(&mut session, 1);
    let bounds = |most: &str| files.with("kinds.luau", "max = 10, default = 5", &format!("max = {most}, default = 2"));
    let renamed = files.with("ruleset.toml", "switches.wins_at", "switches.wins_a");
    let narrow = files.with("ruleset.toml", "max = 20", "max = 9");
    let said = |report: ReloadReport| report.warnings.join("; ");
    assert_eq!(said(reload(&mut session, &renamed)), "the house rule `wins_at` is gone; 20 is dormant");
    assert_eq!(session.switch("wins_at"), None);
    let third = said(reload(&mut session, &narrow));
    assert!(third.starts_with("switch `wins_at` cannot be `20`: it is 1 to 9; it is 3 now"), "{third}");
    for (files, strength) in [(bounds("5"), 5), (bounds("3"), 3), (bounds("4"), 4)] {
        reload(&mut session, &files);
        assert_eq!(field(&session, "Ann", "strength"), Some(strength.into()));
    }
    // An undo of all of them keeps the current rules, and a redo leads back to the same state.
    let stands =
        |session: &Session| (session.dormant(), field(session, "Ann", "strength"), session.switch("wins_at").cloned());
    let before = stands(&session);
    for _ in 0..2 {
        session.undo().unwrap();
        let _ = session.advance().unwrap();
    }
    for _ in 0..2 {
        session.redo().unwrap();
        let _ = session.advance().unwrap();
    }
    assert_eq!(stands(&session), before);
    let mut read = Session::load(&bounds("4").library(), &session.save()).unwrap_or_else(|error| panic!("{error}"));
    for session in [&mut session, &mut read] {
        reload(session, &files);
        assert_eq!(session.switch("wins_at"), Some(&20.into()));
        assert_eq!(field(session, "Ann", "strength"), Some(8.into()));
    }
    assert_eq!(read.state_bytes(), session.state_bytes());
}

#[test]
fn a_house_rule_that_is_undone_after_a_reload_does_not_return() {
    let files = Files::of_tug();
    let narrow = files.with("ruleset.toml", "max = 20", "max = 9");
    let mut session = Session::start(&files.load(), Setup::default().dice(DiceSource::Written(vec![5]))).unwrap();
    let _ = session.advance().unwrap();
    session.edit(Edit::Switch { name: "wins_at".into(), value: 15.into() }).unwrap();
    let _ = session.advance().unwrap();
    reload(&mut session, &narrow);
    session.undo().unwrap();
    let _ = session.advance().unwrap();
    assert_eq!(session.switch("wins_at"), Some(&3.into()));
    let mut read = Session::load(&narrow.library(), &session.save()).unwrap_or_else(|error| panic!("{error}"));
    for session in [&mut session, &mut read] {
        let _ = session.advance().unwrap();
        reload(session, &files);
        assert_eq!(session.switch("wins_at"), Some(&3.into()));
    }
    assert_eq!(read.state_bytes(), session.state_bytes());
}

#[test]
fn a_game_with_reloads_is_saved_and_read_with_all_its_rules() {
    let files = Files::of_tug();
    let mut session = start(&files, &[5, 5, 5, 5]);
    pull(&mut session, 2);
    let second = files.with("maneuvers/pull.luau", "(won and risk or -risk)", "(won and 3 * risk or -risk)").with(
        "kinds.luau",
        "default = 5 })",
        "default = 5 }),\n\t\t\tgrip = rb.int({ default = 2 })",
    );
    reload(&mut session, &second);
    pull(&mut session, 1);
    let third = second.with("maneuvers/pull.luau", "3 * risk", "5 * risk");
    reload(&mut session, &third);
    let _ = say(&mut session, &[("card", "pull".into())]);
    let text = session.save();
    // Each version of a file is stored once, and no other file.
    let versions = ["rb.maneuver(", "rb.kinds("].map(|of| text.matches(of).count());
    assert_eq!(versions, [3, 2]);
    for library in [third.library(), files.library()] {
        let mut read = Session::load(&library, &text).unwrap_or_else(|error| panic!("{error}"));
        let _ = read.advance().unwrap();
        assert_eq!(read.state_bytes(), session.state_bytes());
        assert_eq!(read.ruleset().hash(), session.ruleset().hash());
        assert_eq!(read.save(), text);
        let _ = say(&mut read, &[("risk", 1.into())]);
        assert_eq!(rope(&read), -4);
    }
}

#[test]
fn reloads_in_a_row_are_one_entry() {
    let files = Files::of_tug();
    let mut session = start(&files, &[5, 5]);
    pull(&mut session, 2);
    for factor in 2..40 {
        let new = files.with(
            "maneuvers/pull.luau",
            "(won and risk or -risk)",
            &format!("(won and {factor} * risk or -risk)"),
        );
        reload(&mut session, &new);
    }
    reload(&mut session, &files);
    assert_eq!(session.log().iter().filter(|event| matches!(event.happening, Happening::Notice { .. })).count(), 1);
    pull(&mut session, 2);
    assert_eq!(rope(&session), 0);
    let read = Session::load(&files.library(), &session.save()).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(read.state_bytes(), session.state_bytes());
}

#[test]
fn after_an_undo_over_reloads_a_loaded_game_reports_the_same() {
    let files = Files::of_tug();
    let mut session = start(&files, &[5, 5, 5]);
    pull(&mut session, 2);
    let field = |name: &str| format!("default = 5 }}),\n\t\t\t{name} = rb.int({{ default = 2 }})");
    let second = files.with("kinds.luau", "default = 5 })", &field("grip"));
    reload(&mut session, &second);
    pull(&mut session, 1);
    let third = second.with("maneuvers/pull.luau", "(won and risk or -risk)", "(won and 3 * risk or -risk)");
    reload(&mut session, &third);
    pull(&mut session, 1);
    while session.undo().is_ok() {
        let _ = session.advance().unwrap();
        let mut read = Session::load(&files.library(), &session.save()).unwrap();
        let _ = read.advance().unwrap();
        assert_eq!(read.log(), session.log(), "{} left", session.decisions());
    }
    let told = format!("{:?}", session.log());
    assert!(told.contains("grip") && told.contains("pull.luau"), "{told}");
}

#[test]
fn games_one_at_a_time_share_the_last_rulesets_and_follow_their_files() {
    let shared = |library: &Library| Ruleset::shared(library, "tug", &[]).unwrap_or_else(|error| panic!("{error}"));
    let files = Files::of_tug();
    let library = files.library();
    // Other tests of this program load rulesets as well, so a game may sometimes find another ruleset.
    let kept = (0..50).any(|_| {
        let gone = Arc::downgrade(&shared(&library));
        gone.upgrade().is_some_and(|known| Arc::ptr_eq(&known, &shared(&library)))
    });
    assert!(kept);
    // The same content in another library is the same ruleset; other content is not.
    let (first, same) = (shared(&library), shared(&files.library()));
    assert!(Arc::ptr_eq(&first, &same));
    let versions: Vec<_> = (2..10).map(|n| files.with("kinds.luau", "return", &format!("-- {n}\nreturn"))).collect();
    let gone: Vec<_> = versions.iter().map(|files| Arc::downgrade(&shared(&files.library()))).collect();
    assert!(gone.iter().filter(|rules| rules.strong_count() > 0).count() <= 4);

    // On disk: a change is found even if nobody holds the rules, and so is a change back.
    let folder = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("one-at-a-time");
    let write = |files: &Files| {
        for (path, text) in &files.0 {
            let path = folder.join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
    };
    let _ = std::fs::remove_dir_all(&folder);
    for version in [&files, &versions[0], &versions[1], &files] {
        write(version);
        let on_disk = Library::open(&folder).unwrap();
        assert_eq!(shared(&on_disk).hash(), version.load().hash());
    }
    std::fs::write(folder.join("tug/kinds.luau"), "return {").unwrap();
    assert!(Ruleset::shared(&Library::open(&folder).unwrap(), "tug", &[]).is_err());
    std::fs::remove_dir_all(&folder).unwrap();
}

/// Entities whose kind was removed by a reload are restored by an undo as dormant.
#[test]
fn an_undone_removal_stays_dormant_until_rules_have_its_kind() {
    let files = Files::of_tug();
    let kind = "\tmark = { title = \"name\", fields = { name = rb.text(), n = rb.int() } },\n\tpuller =";
    let made = "rb.spawn(\"mark\", { name = \"cross\", n = 4 })\n\t\tlocal left =";
    let spawning = files.with("kinds.luau", "\tpuller =", kind).with("play.luau", "local left =", made);
    let setup = Setup::default().dice(DiceSource::Written(vec![5])).switch("wins_at", 20);
    let mut session = Session::start(&spawning.load(), setup).unwrap();
    assert_eq!(session.advance().unwrap(), Step::Ask);
    let marks: Vec<EntityId> = session.view().of_kind("mark").collect();
    assert!(!marks.is_empty());
    for mark in &marks {
        session.edit(Edit::Remove { entity: *mark }).unwrap();
        let _ = session.advance().unwrap();
    }
    reload(&mut session, &files);
    for _ in &marks {
        session.undo().unwrap();
        let _ = session.advance().unwrap();
    }
    assert_eq!(session.shelved().len(), marks.len());
    let report = reload(&mut session, &spawning);
    assert_eq!(report.state.returned, [format!("mark: {}", marks.len())]);
    assert_eq!(session.view().of_kind("mark").collect::<Vec<_>>(), marks);
    assert_eq!(session.view().field(marks[0], "n"), Some(&4.into()));
    assert!(session.shelved().is_empty());
}

/// Changes of a secret value are reported to the game master only.
#[test]
fn a_reload_tells_no_secret_value() {
    let files = Files::of_tug();
    let secret = files.with("kinds.luau", "max = 10, default = 5", "max = 10, default = 5, audience = \"gm\"");
    let narrow = secret.with("kinds.luau", "max = 10, default = 5", "max = 4, default = 2");
    let mut session = start(&secret, &[5]);
    let report = session.reload(narrow.load()).unwrap();
    assert!(report.lines().iter().all(|line| !line.contains("not 5")), "{:?}", report.lines());
    let log = session.log();
    let told: Vec<_> = log.iter().filter(|event| event.happening.line().contains("not 5")).collect();
    assert!(!told.is_empty() && told.iter().all(|event| !event.audience.is_everybody()), "{told:?}");
    // Nor which secrets there are.
    let other = narrow
        .with("kinds.luau", "strength = rb.int({ min = 0, max = 4, default = 2,", "armour = rb.int({ default = 4,")
        .with("kinds.luau", "rb.sum(\"strength\", self.strength)", "rb.sum(\"armour\", self.armour)");
    let report = session.reload(other.load()).unwrap();
    assert!(report.lines().iter().all(|line| !line.contains("puller.")), "{:?}", report.lines());
    let log = session.log();
    for line in ["new fields: puller.armour = 4", "kept aside: puller.strength"] {
        let told: Vec<_> = log.iter().filter(|event| event.happening.line() == line).collect();
        assert!(!told.is_empty() && told.iter().all(|event| !event.audience.is_everybody()), "{line}: {log:?}");
    }
}

/// A reload removes a kind, which shifts the numbers of later kinds: an undo across it reads the state by the old
/// kinds.
#[test]
fn an_undo_goes_back_over_a_reload_that_takes_a_kind_away() {
    let play = "local rb = require(\"@riskbreaker\")\nreturn rb.play({ start = function() rb.spawn(\"hero\", { name = \"Ann\" }) \
                rb.recur(\"turn\", { 1 }, { 1 }, rb.first(\"hero\")) end, entries = { turn = function(hero) \
                rb.number({ seat = \"gm\", topic = \"n\", about = hero, why = \"\", min = 0, max = 9 }) end } })";
    let kinds = |more: &str| {
        format!(
            "local rb = require(\"@riskbreaker\")\nreturn rb.kinds({{ {more} hero = {{ title = \"name\", fields = {{ name = rb.text() }} }} }})"
        )
    };
    let load = |more: &str| {
        let manifest = "id = \"one\"\ntitle = \"one\"\nversion = \"1\"\nscenario = \"s\"\n[seats]\ngm = \"GM\"\n";
        let files = [
            ("one/ruleset.toml", manifest.to_owned()),
            ("one/kinds.luau", kinds(more)),
            ("one/play.luau", play.to_owned()),
            ("one/scenarios/s.toml", "title = \"s\"\n".to_owned()),
        ];
        Ruleset::load(&Library::from_files(files), "one").unwrap_or_else(|error| panic!("{error}"))
    };
    let mut session = Session::start(&load("goal = { fields = { n = rb.int() } },"), Setup::default()).unwrap();
    let _ = session.advance().unwrap();
    let question = session.questions()[0].id;
    session.answer(question, Answer::Number(5)).unwrap();
    let _ = session.advance().unwrap();
    session.reload(load("")).unwrap();
    let _ = session.advance().unwrap();
    assert_eq!(session.undo().unwrap().text, "undid n: 5");
    let _ = session.advance().unwrap();
    session.redo().unwrap();
    let _ = session.advance().unwrap();
    assert_eq!(session.view().title(EntityId(1)).to_string(), "Ann");
}

/// The small game with a need computed as a sum, to which rolls add.
fn of_sums() -> Files {
    Files::of_tug()
        .with(
            "kinds.luau",
            "return rb.sum(\"strength\", self.strength) + rb.sum(\"every pull\", 1)\n\t\t\tend,",
            "return rb.sum(\"strength\", self.strength, \"every pull\", 1)\n\t\t\tend,\n\t\t\tlead = function(self, other)\n\t\t\t\treturn rb.sum(\"own\", self.strength) - rb.sum(\"theirs\", other.strength)\n\t\t\tend,",
        )
        .with(
            "maneuvers/pull.luau",
            "ctx.actor:need(), \"{} pulls\", ctx.actor)",
            "rb.sum(\"need\", rb.sum_of(ctx.actor, \"need\"), \"wind\", 2, \"nothing\", 0):most(7, \"limit\"), \"{} pulls with {}\", ctx.actor, rb.sum(\"arm\", 3) - rb.sum(\"wound\", 1))",
        )
}

#[test]
fn a_roll_shows_the_parts_of_its_numbers() {
    let mut session = start(&of_sums(), &[3]);
    pull(&mut session, 2);
    let rolled = session.log().into_iter().map(|event| event.happening);
    let rolled = rolled.into_iter().find(|event| matches!(event, Happening::Rolled { .. })).unwrap();
    assert_eq!(
        rolled.line(),
        "Ann pulls with 2 (arm 3 - wound 1): needs under 7 (need 6 + wind 2 - limit 1), rolled 3: success"
    );
    let Happening::Rolled { terms, .. } = rolled else { unreachable!() };
    let told: Vec<(&str, &str, u32)> = terms.iter().map(|term| (&*term.label, &*term.value, term.depth)).collect();
    let parts = [
        ("needed", "7", 0),
        ("need", "6", 1),
        ("strength", "5", 2),
        ("every pull", "1", 2),
        ("wind", "2", 1),
        ("limit", "-1", 1),
        ("pulls with", "2", 0),
        ("arm", "3", 1),
        ("wound", "-1", 1),
    ];
    assert_eq!(told, parts);
    let places: Vec<&str> = terms.iter().filter(|term| term.depth > 0).map(|term| &*term.path).collect();
    assert!(places.iter().all(|path| path.starts_with("tug/")), "{places:?}");
    assert!(places[1].ends_with("kinds.luau") && places[3].ends_with("pull.luau"), "{places:?}");
}

#[test]
fn a_value_of_two_entities_names_the_missing_argument() {
    let mut session = start(&of_sums(), &[]);
    let (ann, bob) = (session.view().find("Ann").unwrap(), session.view().find("Bob").unwrap());
    let refusal = session.why(ann, "lead").unwrap_err().to_string();
    assert!(refusal.contains("`why Ann lead Bob`"), "{refusal}");
    let why = session.why_of(ann, "lead", &[Value::Entity(bob)]).unwrap();
    assert_eq!((why.title.as_str(), why.value.as_str()), ("Ann: lead (Bob)", "0"));
    let told: Vec<(&str, &str)> = why.terms.iter().map(|term| (&*term.label, &*term.value)).collect();
    assert_eq!(told, [("own", "5"), ("theirs", "-5")]);
    let refusal = session.why_of(ann, "need", &[Value::Entity(bob)]).unwrap_err().to_string();
    assert!(refusal.contains("`why Ann need`"), "{refusal}");
}

#[test]
fn a_change_of_a_sum_by_a_hook_is_a_part_with_its_name() {
    let layer = "rb.hook({ id = \"wind\", title = \"Head wind\", always = true, before = { heave = function(e) e.needs -= 1 end } })";
    let mut files = of_sums()
        .with("verbs.luau", "return rb.verbs({", "return rb.verbs({\n\theave = rb.verb({ \"who\", \"needs\" }, function(who, needs)\n\t\treturn rb.under(\"1d10\", needs, \"{} heaves\", who)\n\tend),")
        .with("maneuvers/pull.luau", "rb.under(\"1d10\", ", "rb.act.heave(ctx.actor, ")
        .with("maneuvers/pull.luau", ", \"{} pulls with {}\", ctx.actor, rb.sum(\"arm\", 3) - rb.sum(\"wound\", 1))", ")");
    files.0.insert("tug/hooks/wind.luau".into(), format!("local rb = require(\"@riskbreaker\")\n\nreturn {layer}\n"));
    let mut session = start(&files, &[3]);
    pull(&mut session, 2);
    let rolled = session.log().into_iter().find(|event| matches!(event.happening, Happening::Rolled { .. })).unwrap();
    assert_eq!(
        rolled.happening.line(),
        "Ann heaves: needs under 6 (need 6 + wind 2 - limit 1 - Head wind 1), rolled 3: success"
    );
    let Happening::Rolled { terms, .. } = rolled.happening else { unreachable!() };
    let last = terms.last().unwrap();
    assert_eq!((&*last.label, &*last.value), ("Head wind", "-1"));
    assert!(last.path.ends_with("hooks/wind.luau"), "{last:?}");
}
