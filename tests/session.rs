//! The core through its public API, with the smallest game.

mod answers;
mod parallel;

use answers::any_answer;
use parallel::on_every_core;
use riskbreaker::play::Machines;
use riskbreaker::{
    Answer, Ask, DiceSource, Driver, Edit, Happening, Library, Remedy, Ruleset, Session, Setup, Step, Value,
};
use std::path::Path;
use std::sync::Arc;

fn library() -> Library {
    Library::open(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/rulesets")).unwrap()
}

fn tug() -> Arc<Ruleset> {
    let library = library();
    Ruleset::load(&library, "tug").unwrap_or_else(|error| panic!("{error}"))
}

fn start(dice: &[u32]) -> Session {
    let setup = Setup::default().dice(DiceSource::Written(dice.to_vec()));
    Session::start(&tug(), setup).unwrap()
}

fn say(session: &mut Session, replies: &[(&str, Value)]) -> Step {
    let replies: Vec<_> = replies.iter().map(|(topic, value)| (topic.to_string(), value.clone())).collect();
    session.reply(&replies).unwrap()
}

fn rope(session: &Session) -> i64 {
    let view = session.view();
    let rope = view.find("rope").unwrap();
    view.field(rope, "at").unwrap().as_int().unwrap()
}

#[test]
fn a_game_is_played_by_answers_and_ends_with_an_outcome() {
    let mut session = start(&[3, 7]);
    assert_eq!(session.advance().unwrap(), Step::Ask);
    assert_eq!(session.questions()[0].seat.as_ref(), "left");
    let _ = say(&mut session, &[("card", "pull".into()), ("risk", 2.into())]);
    assert_eq!(rope(&session), -2);
    let step = say(&mut session, &[("card", "Pull".into()), ("risk", 1.into())]);
    assert_eq!(step, Step::Over("Bob has won".into()));
    assert_eq!(session.unrolled(), 0);
}

#[test]
fn redo_is_kept_after_a_refused_reply_and_after_a_return_to_a_mark() {
    let mut session = start(&[3, 7]);
    assert_eq!(session.advance().unwrap(), Step::Ask);
    let _ = say(&mut session, &[("card", "pull".into()), ("risk", 2.into())]);
    session.undo().unwrap();
    session.undo().unwrap();
    assert_eq!(session.advance().unwrap(), Step::Ask);
    let before = session.state_bytes();
    assert!(session.reply(&[("card".into(), "pull".into()), ("risk".into(), 9.into())]).is_err());
    let mark = session.mark();
    session.act("right", "let_go").unwrap();
    let _ = session.advance().unwrap();
    session.back_to(mark).unwrap();
    assert_eq!(session.advance().unwrap(), Step::Ask);
    assert_eq!((session.state_bytes(), session.decisions()), (before, 0));
    // Redo restores what was undone, not what was refused.
    session.redo().unwrap();
    session.redo().unwrap();
    assert_eq!(session.advance().unwrap(), Step::Ask);
    assert_eq!(rope(&session), -2);
    assert!(session.redo().is_err());
}

#[test]
fn a_refused_reply_plays_nothing_where_nothing_is_open() {
    let mut session = start(&[]);
    let before = session.state_bytes();
    assert!(session.reply(&[("card".into(), "pull".into())]).is_err());
    assert_eq!((session.actions(), session.state_bytes()), (0, before));
}

#[test]
fn a_refused_reply_leaves_no_trace() {
    let mut session = start(&[3, 7]);
    assert_eq!(session.advance().unwrap(), Step::Ask);
    let (before, log) = (session.state_bytes(), session.log());
    let refusal = session.reply(&[("card".into(), "pull".into()), ("risk".into(), 4.into())]).unwrap_err();
    assert_eq!(refusal.to_string(), "The number for risk is 4, but it must be 1 to 3.");
    assert_eq!((session.state_bytes(), session.log()), (before, log));
    let refusal = session.reply(&[("card".into(), "rest".into()), ("risk".into(), 1.into())]).unwrap_err();
    assert!(refusal.to_string().starts_with("nothing asks for `risk` now"), "{refusal}");
    assert_eq!(session.questions()[0].topic.as_ref(), "card");
    let _ = say(&mut session, &[("card", "pull".into()), ("risk", 2.into())]);
    assert_eq!(rope(&session), -2);
}

#[test]
fn a_line_of_several_answers_is_the_same_game_as_one_answer_at_a_time() {
    let (mut line, mut single) = (start(&[3, 7, 5]), start(&[3, 7, 5]));
    for session in [&mut line, &mut single] {
        assert_eq!(session.advance().unwrap(), Step::Ask);
    }
    assert_eq!(say(&mut line, &[("card", "pull".into()), ("risk", 2.into())]), Step::Ask);
    assert_eq!(say(&mut single, &[("card", "pull".into())]), Step::Ask);
    assert_eq!(say(&mut single, &[("risk", 2.into())]), Step::Ask);
    assert_eq!((line.save(), line.log()), (single.save(), single.log()));
    // Each answer is a decision of its own, with its own undo and redo.
    assert_eq!(line.decisions(), 2);
    line.undo().unwrap();
    assert_eq!(line.advance().unwrap(), Step::Ask);
    assert_eq!(topics(&line), ["risk"]);
    line.redo().unwrap();
    assert_eq!(line.advance().unwrap(), Step::Ask);
    assert_eq!((line.save(), line.log()), (single.save(), single.log()));
    // An answer for this action does not answer the next one.
    let mut session = start(&[3, 7]);
    assert_eq!(session.advance().unwrap(), Step::Ask);
    let twice = [("card", "pull".into()), ("risk", Value::list([Value::Int(1), Value::Int(2)]))];
    let replies: Vec<_> =
        twice.iter().map(|(topic, value): &(&str, Value)| (topic.to_string(), value.clone())).collect();
    let _ = session.reply(&replies);
    assert!(session.decisions() <= 2 && topics(&session) == ["card"]);
}

#[test]
fn an_answer_to_an_unknown_topic_is_refused_before_any_roll() {
    let mut session = council();
    let before = (session.save(), session.log());
    let stays = ("stay".to_string(), Value::list([Value::Bool(true), Value::Bool(true)]));
    let refusal = session.reply(&[stays.clone(), ("jugde".into(), true.into())]).unwrap_err();
    assert!(refusal.to_string().starts_with("nothing asks for `jugde`"), "{refusal}");
    assert_eq!((session.save(), session.log()), before, "nothing was rolled");
    // The question after the dice is answered on the same line.
    let _ = session.reply(&[stays, ("judge".into(), true.into())]).unwrap();
    assert_eq!(topics(&session), ["stay", "stay"]);
    assert_eq!(session.decisions(), 3);
}

#[test]
fn undo_and_redo_go_back_and_forth_over_single_answers() {
    let setup = Setup::default().seed(5).seat("right", Driver::Policy("hasty".into()));
    let mut session = Session::start(&tug(), setup.switch("wins_at", 20)).unwrap();
    let mut states = Vec::new();
    for _ in 0..5 {
        assert_eq!(session.advance().unwrap(), Step::Ask);
        states.push((session.state_bytes(), session.log()));
        let question = session.questions()[0].clone();
        session.answer(question.id, Answer::Choice("pull".into())).unwrap();
        assert_eq!(session.advance().unwrap(), Step::Ask);
        states.push((session.state_bytes(), session.log()));
        let question = session.questions()[0].clone();
        session.answer(question.id, Answer::Number(2)).unwrap();
    }
    assert_eq!(session.advance().unwrap(), Step::Ask);
    let end = (session.state_bytes(), session.log());
    for state in states.iter().rev() {
        session.undo().unwrap();
        assert_eq!(session.advance().unwrap(), Step::Ask);
        assert_eq!((session.state_bytes(), session.log()), *state);
    }
    assert!(session.undo().is_err());
    for _ in &states {
        session.redo().unwrap();
    }
    assert_eq!(session.advance().unwrap(), Step::Ask);
    assert_eq!((session.state_bytes(), session.log()), end);
    assert!(session.redo().is_err());
}

#[test]
fn an_edit_goes_before_the_open_action_and_is_undone_by_one_undo() {
    let mut session = start(&[9, 9]);
    assert_eq!(session.advance().unwrap(), Step::Ask);
    let _ = say(&mut session, &[("card", "pull".into())]);
    let before = session.state_bytes();
    let ann = session.view().find("ann").unwrap();
    session.edit(Edit::Set { entity: ann, field: "strength".into(), value: 9.into() }).unwrap();
    assert_eq!(session.advance().unwrap(), Step::Ask);
    assert_eq!(session.questions()[0].topic.as_ref(), "risk");
    assert_eq!(session.derived(ann, "need", &[]).unwrap(), Value::Int(10));
    let why = session.why(ann, "need").unwrap();
    assert_eq!(why.terms.len(), 2);
    assert_eq!((why.terms[0].label.as_str(), why.terms[0].value.as_str()), ("strength", "9"));
    assert!(why.terms[0].path.ends_with("tug/kinds.luau") && why.terms[0].line > 1, "{why:?}");
    session.undo().unwrap();
    assert_eq!(session.advance().unwrap(), Step::Ask);
    assert_eq!(session.state_bytes(), before);
    let refusal = session.edit(Edit::Set { entity: ann, field: "strenght".into(), value: 9.into() }).unwrap_err();
    assert!(refusal.to_string().contains("did you mean `strength`"), "{refusal}");
    let refusal = session.edit(Edit::Set { entity: ann, field: "strength".into(), value: 11.into() }).unwrap_err();
    assert!(refusal.to_string().contains("0 to 10"), "{refusal}");
}

#[test]
fn a_greyed_card_is_refused_with_its_reason() {
    let mut session = start(&[]);
    for _ in 0..4 {
        let _ = session.advance().unwrap();
        let _ = say(&mut session, &[("card", "rest".into())]);
    }
    let refusal = session.reply(&[("card".into(), "rest".into())]).unwrap_err();
    assert_eq!(refusal.to_string(), "Rest is not open: Ann has rested twice (TUG-2)");
}

/// A bid above the bidder's limit is refused when all have bid, or when the game is loaded before.
#[test]
fn a_game_saved_between_an_answer_and_its_effects_is_loaded() {
    let library = library();
    let rules = Ruleset::load(&library, "auction").unwrap_or_else(|error| panic!("{error}"));
    let mut session = Session::start(&rules, Setup::default().seed(1)).unwrap();
    let load = |session: &Session| {
        Session::load(&library, &session.save()).unwrap_or_else(|error| panic!("{error}: {:?}", session.questions()))
    };
    let (mut answers, mut too_high, mut refused) = (0, 0, 0);
    loop {
        match session.advance() {
            Ok(Step::Ask) => {}
            Ok(step) => break assert!(matches!(step, Step::Over(_)), "{step:?}"),
            Err(error) => panic!("{error}"),
        }
        let question = session.questions()[0].clone();
        let high = &*question.topic == "bid" && answers % 3 == 0 && question.read(&8.into()).is_ok();
        let value = match &*question.topic {
            "bid" => Value::Int(if high { 8 } else { 1 }),
            "ally" => "nobody".into(),
            _ => true.into(),
        };
        answers += 1;
        assert!(answers < 200, "the game does not end");
        too_high += usize::from(high);
        session.answer(question.id, question.read(&value).unwrap()).unwrap();
        let mut read = load(&session);
        let _ = read.advance().unwrap();
        if high {
            assert!(read.questions().iter().any(|asked| asked.id == question.id), "it is asked again");
            refused += 1;
        }
        // After an undone step, before the game continues.
        session.undo().unwrap();
        let mut read = load(&session);
        let _ = (session.advance().unwrap(), read.advance().unwrap());
        assert_eq!((read.state_bytes(), read.questions()), (session.state_bytes(), session.questions()));
        session.redo().unwrap();
    }
    assert!(refused > 2 && refused == too_high, "{refused} of {too_high}");
}

#[test]
fn a_free_act_is_open_at_any_question_and_can_be_undone() {
    let mut session = start(&[]);
    let _ = session.advance().unwrap();
    let before = session.state_bytes();
    assert!(session.act("gm", "let_go").is_err());
    session.act("right", "let_go").unwrap();
    assert_eq!(session.advance().unwrap(), Step::Over("right let go".into()));
    session.undo().unwrap();
    assert_eq!(session.advance().unwrap(), Step::Ask);
    assert_eq!(session.state_bytes(), before);
}

#[test]
fn typed_dice_are_questions() {
    let mut session = Session::start(&tug(), Setup::default().dice(DiceSource::Typed)).unwrap();
    let _ = session.advance().unwrap();
    let _ = say(&mut session, &[("card", "pull".into()), ("risk", 2.into())]);
    let question = session.questions()[0].clone();
    assert_eq!(question.topic.as_ref(), "dice");
    assert_eq!(
        session.answer(question.id, Answer::Faces(vec![11])).unwrap_err().to_string(),
        "A die of 10 shows 1 to 10, not 11."
    );
    session.answer(question.id, Answer::Faces(vec![5])).unwrap();
    let _ = session.advance().unwrap();
    assert_eq!(rope(&session), -2);
    session.undo().unwrap();
    let _ = session.advance().unwrap();
    assert_eq!(session.questions()[0].topic.as_ref(), "dice");
}

#[test]
fn the_same_seed_gives_the_same_bytes() {
    let play = || {
        let setup = Setup::default().seed(77).switch("wins_at", 20);
        let setup = setup.seat("left", Driver::Policy("hasty".into())).seat("right", Driver::Policy("hasty".into()));
        let mut session = Session::start(&tug(), setup).unwrap();
        let step = session.advance().unwrap();
        assert!(matches!(step, Step::Over(_)), "{step:?}");
        (session.state_bytes(), session.log())
    };
    let (first, second) = (play(), play());
    assert_eq!(first, second);
    assert!(first.1.iter().any(|event| matches!(event.happening, Happening::Rolled { .. })));
}

#[test]
fn a_saved_game_is_read_again_at_every_decision() {
    let setup = Setup::default().seed(3).seat("right", Driver::Policy("hasty".into())).switch("wins_at", 9);
    let mut session = Session::start(&tug(), setup).unwrap();
    let library = library();
    for turn in 0..40 {
        let Step::Ask = session.advance().unwrap() else { return };
        if turn == 2 {
            let ann = session.view().find("Ann").unwrap();
            session.edit(Edit::Set { entity: ann, field: "strength".into(), value: 3.into() }).unwrap();
            let _ = session.advance().unwrap();
        }
        let mut read = Session::load(&library, &session.save()).unwrap();
        assert_eq!(read.state_bytes(), session.state_bytes());
        assert_eq!(read.log(), session.log());
        assert_eq!(read.questions(), session.questions());
        assert_eq!(read.save(), session.save());
        let question = read.questions()[0].clone();
        let answer = match &*question.topic {
            "card" => Answer::Choice("pull".into()),
            _ => Answer::Number(2),
        };
        for game in [&mut session, &mut read] {
            game.answer(question.id, answer.clone()).unwrap();
            let _ = game.advance().unwrap();
        }
        assert_eq!(read.state_bytes(), session.state_bytes());
    }
    panic!("the game did not end");
}

/// A loaded save behaves the same from its checkpoint as from its tape, also later: undo, redo, reasons and another
/// save.
#[test]
fn a_saved_game_continues_equally_from_checkpoint_and_tape() {
    let library = games();
    for (game, undoes) in [("tug", true), ("bluff", false), ("auction", true), ("manor", false)] {
        let rules = Ruleset::load(&library, game).unwrap();
        let mut session = Session::start(&rules, Setup::default().seed(9)).unwrap();
        for turn in 0..12_u64 {
            let _ = session.advance().unwrap();
            let Some(question) = session.questions().last().cloned() else { break };
            session.answer(question.id, any_answer(&question, turn * 7)).unwrap();
            if undoes && turn % 5 == 3 {
                let _ = session.advance().unwrap();
                session.undo().unwrap();
            }
        }
        let _ = session.advance().unwrap();
        let saved = session.save();
        assert!(saved.contains("\"end\":{"), "{game}");
        let fast = Session::load(&library, &saved).unwrap();
        let tape = Session::load_by_tape(&library, &saved).unwrap();
        let mut both = [fast, tape];
        let standing = |session: &mut Session| {
            let _ = session.advance().unwrap();
            (session.state_bytes(), session.log(), session.questions().to_vec(), session.decisions())
        };
        for read in &mut both {
            assert_eq!(standing(read), standing(&mut session), "{game}");
        }
        assert_eq!(both[0].save(), both[1].save(), "{game}");
        // The fields of a changed entity, with the actions that changed them.
        let reasons = |session: &mut Session| {
            let view = session.view();
            let last = view.entities().last().unwrap();
            let names: Vec<String> = view.fields(last).map(|(field, _)| field.name.to_string()).collect();
            names.iter().map(|name| session.why(last, name).unwrap()).collect::<Vec<_>>()
        };
        let [fast, tape] = &mut both;
        if undoes {
            assert_eq!(reasons(fast), reasons(tape), "{game}");
        }
        let decisions = tape.decisions();
        while tape.decisions() > 0 {
            assert_eq!(fast.undo().unwrap(), tape.undo().unwrap(), "{game}");
            assert_eq!(standing(fast), standing(tape), "{game}");
        }
        assert!(fast.undo().is_err());
        for _ in 0..decisions {
            assert_eq!(fast.redo().unwrap(), tape.redo().unwrap(), "{game}");
            assert_eq!(standing(fast), standing(tape), "{game}");
        }
        let (again, before) = (standing(fast), standing(&mut session));
        assert!(again.0 == before.0 && again.2 == before.2, "{game}: redone, it is another game");
    }
}

/// The seal at the end of a save: 128 bits of FNV-1a of the text before it.
fn sealed(text: &str) -> String {
    let (before, _) = text.rsplit_once(",\"checksum\":\"").unwrap();
    let step = |hash: u128, byte: u8| (hash ^ u128::from(byte)).wrapping_mul((1 << 88) + 0x13b);
    let sum = before.bytes().fold(0x6c62_272e_07bb_0142_62b8_2175_6295_c58d, step);
    format!("{before},\"checksum\":\"{sum:032x}\"}}")
}

/// A forged checkpoint is refused, ignored, or plays; it never ends the program.
#[test]
fn a_forged_checkpoint_causes_no_panic() {
    let library = games();
    let mut session = Session::start(&tug(), Setup::default().seed(3)).unwrap();
    let _ = session.advance().unwrap();
    let _ = say(&mut session, &[("card", "pull".into()), ("risk", 2.into())]);
    let text = session.save();
    assert_eq!(sealed(&text), text);
    let from = text.find("\"end\":").unwrap();
    let ends: Vec<usize> = text[from..].match_indices(|c: char| c.is_ascii_digit()).map(|(at, _)| from + at).collect();
    assert!(ends.len() > 20);
    let mut loaded = 0;
    for at in ends {
        for number in ["7", "4294967295", "9223372036854775807", "-1", "null", "\"x\"", "[]"] {
            let forged = sealed(&format!("{}{number}{}", &text[..at], &text[at + 1..]));
            // Without the hash of the state, the forgery is found only when the tape is played.
            let state = forged.find("\"state\":\"").unwrap();
            let unhashed = sealed(&format!("{}{}", &forged[..state], &forged[state + 44..]));
            for forged in [forged, unhashed] {
                let Ok(mut read) = Session::load(&library, &forged) else { continue };
                loaded += 1;
                let _ = read.advance().unwrap();
                let view = read.view();
                for id in view.entities() {
                    let _ = (view.title(id), view.fields(id).count());
                }
                let stood = (read.state_bytes(), read.log());
                if read.undo().is_err() {
                    assert_eq!((read.state_bytes(), read.log()), stood);
                }
                let _ = (read.advance().unwrap(), read.save());
            }
        }
    }
    assert!(loaded > 10, "{loaded}");
}

#[test]
fn a_suggestion_changes_nothing() {
    let mut session = Session::start(&tug(), Setup::default().seed(3)).unwrap();
    let _ = session.advance().unwrap();
    let before = (session.state_bytes(), session.log(), session.save());
    let question = session.questions()[0].clone();
    assert_eq!(session.suggest(question.id, "hasty").unwrap(), Some(Answer::Choice("pull".into())));
    assert_eq!((session.state_bytes(), session.log(), session.save()), before);
    assert_eq!(session.questions(), [question]);
    assert!(session.take_events().len() < 4);
}

#[test]
fn a_refused_edit_leaves_the_question_open() {
    let mut session = start(&[5]);
    let _ = session.advance().unwrap();
    let rope_id = session.view().find("rope").unwrap();
    assert!(session.edit(Edit::Set { entity: rope_id, field: "at".into(), value: 51.into() }).is_err());
    assert_eq!(session.questions().len(), 1);
    let _ = say(&mut session, &[("card", "pull".into()), ("risk", 1.into())]);
    assert_eq!(rope(&session), -1);
}

#[test]
fn redo_plays_on_to_where_it_was_decided() {
    let mut session = start(&[3]);
    let _ = session.advance().unwrap();
    let _ = say(&mut session, &[("card", "pull".into()), ("risk", 2.into())]);
    session.act("right", "let_go").unwrap();
    assert!(matches!(session.advance().unwrap(), Step::Over(_)));
    let end = session.state_bytes();
    assert_eq!(session.decisions(), 3);
    for _ in 0..3 {
        session.undo().unwrap();
    }
    for _ in 0..3 {
        session.redo().unwrap();
    }
    let _ = session.advance().unwrap();
    assert_eq!(session.state_bytes(), end);
}

/// A table with policies on all seats, and the acts of the game master.
struct Table<'a> {
    rules: &'a Arc<Ruleset>,
    scenario: &'a str,
    policy: &'a str,
    seed: u64,
    master: Driver,
}

impl Table<'_> {
    fn start(&self) -> Session {
        let mut setup = Setup::scenario(self.scenario).seed(self.seed);
        for seat in self.rules.seats().keys().filter(|seat| *seat != "gm") {
            setup = setup.seat(seat, Driver::Policy(self.policy.into()));
        }
        if self.rules.seats().contains_key("gm") {
            setup = setup.seat("gm", self.master.clone());
        }
        // Rules may read there who plays.
        setup.seats_in_scenario = false;
        Session::start(self.rules, setup).unwrap()
    }

    /// Plays to the end with the game master taking every default. Returns the state, the events and the number of
    /// actions. `None` if the game waits for a person.
    fn play(&self, quiet: bool) -> Option<(Vec<u8>, Vec<String>, u64)> {
        let mut session = self.start();
        session.set_headless(quiet);
        loop {
            match session.advance().unwrap() {
                Step::Over(_) => break,
                // Two seats that only wait for each other are stopped by the host's limit, in every mode.
                Step::Fault(fault) if fault.message.contains("without a decision by a person") => return None,
                Step::Fault(fault) => panic!("{} {} {}: {fault}", self.scenario, self.policy, self.seed),
                Step::Ask => {
                    let question = session.questions()[0].clone();
                    session.answer(question.id, question.default?).unwrap();
                }
            }
        }
        let events = session.take_events().into_iter().map(|event| format!("{event:?}")).collect();
        Some((session.state_bytes(), events, session.actions()))
    }
}

/// A headless game, one without people and one with a person at the table are run in three ways, with the same result.
#[test]
fn watchers_do_not_change_a_game() {
    let mut games = Vec::new();
    for folder in ["rulesets", "tests/rulesets"] {
        let library = Library::open(Path::new(env!("CARGO_MANIFEST_DIR")).join(folder)).unwrap();
        for id in library.ids().into_iter().filter(|id| !id.ends_with("-common") && !id.starts_with("house-")) {
            let rules = Ruleset::load(&library, &id).unwrap();
            // Nobody ends the game there.
            let endless = |scenario: &str, policy: &str| {
                ["approach", "one"].contains(&scenario) || (scenario, policy) == ("ambush", "plain")
            };
            for scenario in rules.scenarios().keys() {
                for policy in rules.policies().iter().filter(|policy| !endless(scenario, policy)) {
                    games.extend((0..2).map(|seed| (rules.clone(), scenario.clone(), policy.clone(), seed)));
                }
            }
        }
    }
    let compared = on_every_core(&games, |(rules, scenario, policy, seed)| {
        let game = format!("{} {scenario} {policy} {seed}", rules.id());
        let table = |master| Table { rules, scenario, policy: policy.as_ref(), seed: *seed, master };
        let Some(told) = table(Driver::Absent).play(false) else { return false };
        let quiet = table(Driver::Absent).play(true).unwrap();
        assert!(told.0 == quiet.0 && told.2 == quiet.2, "quiet: {game}");
        let Some(attended) = table(Driver::Human).play(false) else { return false };
        assert_eq!(told.1, attended.1, "attended: {game}");
        assert!(told.0 == attended.0, "attended: {game}");
        true
    });
    let compared = compared.into_iter().filter(|compared| *compared).count();
    assert!(compared > 100, "only {compared} games were compared");
}

#[test]
fn a_typed_die_that_explodes_asks_for_the_next() {
    let pull =
        std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/rulesets/tug/maneuvers/pull.luau"))
            .unwrap();
    let library = library();
    let wild = "id = \"wild\"\ntitle = \"Wild\"\nversion = \"1.0.0\"\n";
    let card = pull
        .replace("1d10", "1d10!")
        .replace("return rb.maneuver(", "return rb.replace(rb.maneuver(")
        .trim_end()
        .to_string()
        + ")\n";
    let house = Library::from_files([
        ("wild/ruleset.toml", wild.as_bytes().to_vec()),
        ("wild/maneuvers/pull.luau", card.into_bytes()),
    ]);
    let rules = Ruleset::load_with(&Library::overlay(house, library), "tug", &["wild".into()]).unwrap();
    let mut session = Session::start(&rules, Setup::default().dice(DiceSource::Typed)).unwrap();
    let _ = session.advance().unwrap();
    let _ = say(&mut session, &[("card", "pull".into()), ("risk", 1.into())]);
    for face in [10, 10, 4] {
        let question = session.questions()[0].clone();
        assert_eq!(&*question.topic, "dice");
        session.answer(question.id, Answer::Faces(vec![face])).unwrap();
        let _ = session.advance().unwrap();
    }
    assert_eq!(&*session.questions()[0].topic, "card");
    assert_eq!(rope(&session), 1);
}

/// A council at its roll of these dice, which are typed in.
fn typed_roll(library: &Library) -> Session {
    let rules = Ruleset::load(library, "council").unwrap_or_else(|error| panic!("{error}"));
    let setup = Setup::table(Value::map::<&str>([])).dice(DiceSource::Typed);
    let mut session = Session::start(&rules, setup).unwrap();
    assert_eq!(session.advance().unwrap(), Step::Ask);
    for question in session.questions().to_vec() {
        session.answer(question.id, Answer::Confirm(true)).unwrap();
    }
    assert_eq!(session.advance().unwrap(), Step::Ask);
    session
}

const NO_DICE: [u32; 0] = [];

/// The sides of the dice to be rolled now; empty if no roll is asked for.
fn asked_dice(session: &Session) -> Vec<u32> {
    match &session.questions()[0].ask {
        Ask::Dice { sides, .. } => sides.clone(),
        _ => Vec::new(),
    }
}

/// Types a roll, and returns the sides of the dice in the next one.
fn throw(session: &mut Session, faces: &str) -> Vec<u32> {
    let question = session.questions()[0].clone();
    let answer = question.read(&faces.into()).unwrap_or_else(|refusal| panic!("{refusal}"));
    session.answer(question.id, answer).unwrap();
    assert_eq!(session.advance().unwrap(), Step::Ask);
    asked_dice(session)
}

/// The faces and the total of the last roll in the log.
fn last_roll(session: &Session) -> (Vec<u32>, i64) {
    let mut rolls = session.log().into_iter().filter_map(|event| match event.happening {
        Happening::Rolled { faces, total, .. } => Some((faces, total)),
        _ => None,
    });
    rolls.next_back().unwrap()
}

#[test]
fn a_suggestion_for_typed_dice_creates_no_seat() {
    let mut session = Session::start(&tug(), Setup::default().dice(DiceSource::Typed)).unwrap();
    assert_eq!(session.advance().unwrap(), Step::Ask);
    let _ = say(&mut session, &[("card", "pull".into()), ("risk", 1.into())]);
    let (question, seats, saved) = (session.questions()[0].clone(), session.seats().clone(), session.save());
    assert_eq!(&*question.topic, "dice");
    assert_eq!(session.suggest(question.id, "hasty").unwrap(), None);
    assert_eq!((session.seats(), session.questions()), (&seats, [question].as_slice()));
    assert_eq!(session.save(), saved);
}

#[test]
fn typed_dice_that_are_rerolled_are_asked_for_one_by_one() {
    let as_long = || typed_roll(&council_that_rolls("\"2d6rr1\""));
    let mut session = as_long();
    assert_eq!(asked_dice(&session), [6, 6]);
    assert_eq!(throw(&mut session, "3, 3"), NO_DICE);
    assert_eq!(last_roll(&session), (vec![3, 3], 6));
    let mut session = as_long();
    assert_eq!(throw(&mut session, "4, 1"), [6]);
    assert_eq!(throw(&mut session, "1"), [6]);
    assert_eq!(throw(&mut session, "5"), NO_DICE);
    assert_eq!(last_roll(&session), (vec![4, 1, 1, 5], 9));

    let mut session = typed_roll(&council_that_rolls("\"2d6ro1\""));
    assert_eq!(asked_dice(&session), [6, 6]);
    assert_eq!(throw(&mut session, "1, 3"), [6]);
    let refused = session.questions()[0].read(&"1, 4, 5".into()).unwrap_err();
    assert_eq!(refused.to_string(), "You typed 3 faces. Type the face of a die of 6.");
    assert_eq!(throw(&mut session, "1"), NO_DICE);
    assert_eq!(last_roll(&session), (vec![1, 1, 3], 4));

    let mut session = typed_roll(&council_that_rolls("\"2d6!1\""));
    assert_eq!(asked_dice(&session), [6, 6]);
    assert_eq!(throw(&mut session, "3, 3"), NO_DICE);
    assert_eq!(last_roll(&session), (vec![3, 3], 6));
}

#[test]
fn a_typed_exploding_die_counts_with_its_extra_dice() {
    let library = council_that_rolls("\"2d6!kh1\"");
    let mut session = typed_roll(&library);
    assert_eq!(throw(&mut session, "6, 3"), [6]);
    let mut read = Session::load(&library, &session.save()).unwrap();
    assert_eq!(read.questions(), session.questions());
    for game in [&mut session, &mut read] {
        assert_eq!(throw(game, "5"), NO_DICE);
        // 6 and 5 are one die: 11 is kept, and 3 is dropped.
        assert_eq!(last_roll(game), (vec![6, 5, 3], 11));
    }
    assert_eq!(read.log(), session.log());
    let read = Session::load(&library, &session.save()).unwrap();
    assert_eq!(read.log(), session.log());

    // Typed as 6, 1, 1, 3, which would be a complete roll if each die had been rolled to its end before the next.
    let mut session = typed_roll(&council_that_rolls("\"2d6ro1!\""));
    assert_eq!(throw(&mut session, "6, 1"), [6, 6]);
    assert_eq!(throw(&mut session, "1, 3"), [6]);
    assert_eq!(throw(&mut session, "2"), NO_DICE);
    assert_eq!(last_roll(&session), (vec![6, 1, 2, 1, 3], 11));
}

#[test]
fn undo_in_the_middle_of_a_typed_roll_takes_back_one_throw() {
    let library = council_that_rolls("\"2d6!\"");
    let mut session = typed_roll(&library);
    let decided = session.decisions();
    assert_eq!(throw(&mut session, "6, 3"), [6]);
    assert_eq!(throw(&mut session, "6"), [6]);
    assert_eq!(session.decisions(), decided + 2);
    assert_eq!(session.undo().unwrap().text, "undid the last throw of 2d6!");
    assert_eq!(session.advance().unwrap(), Step::Ask);
    assert_eq!((asked_dice(&session), session.decisions()), (vec![6], decided + 1));
    assert_eq!(throw(&mut session, "2"), NO_DICE);
    assert_eq!(last_roll(&session), (vec![6, 2, 3], 11));

    // Likewise when the roll is complete, and in a game saved at that time.
    let mut read = Session::load(&library, &session.save()).unwrap();
    for game in [&mut session, &mut read] {
        game.undo().unwrap();
        assert_eq!(game.advance().unwrap(), Step::Ask);
        assert_eq!(asked_dice(game), [6]);
        assert_eq!(game.undo().unwrap().text, "undid the roll of 2d6!");
        assert_eq!(game.advance().unwrap(), Step::Ask);
        assert_eq!((asked_dice(game), game.decisions()), (vec![6, 6], decided));
        for left in [vec![6], vec![]] {
            game.redo().unwrap();
            assert_eq!(game.advance().unwrap(), Step::Ask);
            assert_eq!(asked_dice(game), left);
        }
        assert_eq!(last_roll(game), (vec![6, 2, 3], 11));
    }
}

#[test]
fn faces_are_typed_with_commas_or_blanks_and_a_refusal_gives_an_example() {
    let session = typed_roll(&council_that_rolls("\"2d6\""));
    let question = &session.questions()[0];
    for typed in ["6,3", "6 3", " 6,  3 ", "6, 3,"] {
        assert_eq!(question.read(&typed.into()), Ok(Answer::Faces(vec![6, 3])), "{typed}");
    }
    let refused = |typed: &str| question.read(&typed.into()).unwrap_err().to_string();
    let example = "Type the faces of 2 dice in order, for example `3, 5`.";
    assert_eq!(refused("3"), format!("You typed 1 face. {example}"));
    assert_eq!(refused("six three"), example);
    assert_eq!(refused("6 0"), "A die of 6 shows 1 to 6, not 0.");

    let mut session = typed_roll(&council_that_rolls("\"3d[0,0,1]\""));
    assert_eq!(
        session.questions()[0].ask.wanted(),
        "the faces of 3 dice in order, for example `3, 3, 1`; of a die with faces in brackets, the place of the face: 1 is the first"
    );
    assert_eq!(throw(&mut session, "1 2 3"), NO_DICE);
    assert_eq!(last_roll(&session).1, 1);
}

/// A council that asks everyone at the table at once, rolls, and asks again.
fn council_library() -> Library {
    council_that_rolls("\"1d10\"")
}

fn council_that_rolls(dice: &str) -> Library {
    let kinds = "local rb = require('@riskbreaker')\nreturn rb.kinds({ member = { title = 'name', fields = { name = rb.text(), gone = rb.bool() } } })";
    let play = r#"
        local rb = require("@riskbreaker")
        return rb.play({
            start = function()
                rb.spawn("member", { name = "left" })
                rb.recur("round", { 1 }, { 1 }, rb.spawn("member", { name = "right" }))
            end,
            entries = {
                round = function()
                    local asked = {}
                    for _, member in rb.each("member") do
                        if not member.gone then
                            table.insert(asked, { ask = "confirm", seat = member.name, topic = "stay", about = member, why = "?" })
                        end
                    end
                    rb.all(asked)
                    rb.roll(DICE, "the mood")
                    rb.confirm({ seat = "left", topic = "judge", why = "?" })
                end,
            },
            free = {
                leave = { title = "Leave", run = function(seat) rb.each("member")[2]:set("gone", true) end },
                toast = { title = "Toast", run = function(seat) rb.confirm({ seat = seat, topic = "toast", why = "?" }) end },
            },
        })
    "#;
    let manifest = "id = \"council\"\ntitle = \"C\"\nversion = \"1\"\n[seats]\nleft = \"l\"\nright = \"r\"\n";
    let play = play.replace("DICE", dice);
    Library::from_files([
        ("council/ruleset.toml", manifest),
        ("council/kinds.luau", kinds),
        ("council/play.luau", &play),
    ])
}

fn council() -> Session {
    council_of(&council_library())
}

fn council_of(library: &Library) -> Session {
    let rules = Ruleset::load(library, "council").unwrap_or_else(|error| panic!("{error}"));
    let mut session = Session::start(&rules, Setup::table(Value::map::<&str>([]))).unwrap();
    assert_eq!(session.advance().unwrap(), Step::Ask);
    session
}

/// Two sealed bids, which have to be even.
fn even_bids() -> Library {
    let kinds = "local rb = require('@riskbreaker')\nreturn rb.kinds({ side = { title = 'name', fields = { name = rb.text(), bid = rb.int() } } })";
    let play = r#"
        local rb = require("@riskbreaker")
        local function asked(seat)
            return { ask = "number", seat = seat, topic = "bid", min = 0, max = 9, sealed = true, audience = seat, check = function(n)
                return n % 2 == 0, "a bid is even"
            end }
        end
        return rb.play({
            start = function()
                rb.spawn("side", { name = "left" })
                rb.recur("round", { 1 }, { 1 }, rb.spawn("side", { name = "right" }))
            end,
            entries = {
                round = function()
                    local bids = rb.all({ asked("left"), asked("right") })
                    rb.finish(`{bids[1]} to {bids[2]}`)
                end,
            },
        })
    "#;
    let manifest = "id = \"bids\"\ntitle = \"B\"\nversion = \"1\"\n[seats]\nleft = \"l\"\nright = \"r\"\n";
    Library::from_files([("bids/ruleset.toml", manifest), ("bids/kinds.luau", kinds), ("bids/play.luau", play)])
}

#[test]
fn ids_of_another_session_and_unknown_ids_are_refused() {
    let (mut session, mut other) = (start(&[3, 7, 3, 7]), start(&[3, 7]));
    assert_eq!((session.advance().unwrap(), other.advance().unwrap()), (Step::Ask, Step::Ask));
    let before = (session.state_bytes(), session.seats().clone(), session.questions().to_vec());
    // An unknown seat.
    let refusal = session.set_seat("middle", Driver::Absent).unwrap_err().to_string();
    assert!(refusal.contains("there is no seat `middle`; known: gm, left, right"), "{refusal}");
    // Missing entities, for the session and for a seat.
    let ann = session.view().find("ann").unwrap();
    let gone = riskbreaker::EntityId(99);
    for (entity, args) in [(gone, vec![]), (ann, vec![Value::Entity(gone)])] {
        let faults = [
            session.derived(entity, "need", &args).unwrap_err(),
            session.seat("left").unwrap().derived(entity, "need", &args).unwrap_err(),
        ];
        assert!(faults.iter().all(|fault| fault.message == "#99 is not there"), "{faults:?}");
    }
    // Marks of another game, and of a copy.
    let _ = say(&mut other, &[("card", "pull".into())]);
    for mark in [other.mark(), session.fork().mark()] {
        let refusal = session.back_to(mark).unwrap_err().to_string();
        assert!(refusal.contains("belongs to another session"), "{refusal}");
    }
    // A question of another game that is not open here.
    let refusal = session.answer(other.questions()[0].id, Answer::Number(1)).unwrap_err();
    assert!(matches!(refusal, riskbreaker::Refusal::Stale { .. }), "{refusal:?}");
    assert!(refusal.to_string().contains("or is one of another game"), "{refusal}");
    assert_eq!((session.state_bytes(), session.seats().clone(), session.questions().to_vec()), before);
    // Its own are accepted.
    let mark = session.mark();
    let _ = say(&mut session, &[("card", "pull".into()), ("risk", 2.into())]);
    session.back_to(mark).unwrap();
    let _ = session.advance().unwrap();
    assert_eq!(session.state_bytes(), before.0);
}

#[test]
fn an_undone_answer_does_not_answer_another_action() {
    let mut session = Session::start(&tug(), Setup::default().seed(5).switch("wins_at", 20)).unwrap();
    assert_eq!(session.advance().unwrap(), Step::Ask);
    let _ = say(&mut session, &[("card", "rest".into())]);
    session.undo().unwrap();
    assert_eq!(session.advance().unwrap(), Step::Ask);
    // A policy plays on, to a similar question of another seat.
    session.set_seat("left", Driver::Policy("hasty".into())).unwrap();
    assert_eq!(session.advance().unwrap(), Step::Ask);
    let asked = session.questions().to_vec();
    assert_eq!((&*asked[0].seat, &*asked[0].topic), ("right", "card"));
    assert!(session.redo().is_err());
    assert_eq!(session.questions(), asked);
}

#[test]
fn a_refused_part_of_an_answer_is_asked_again_and_the_others_are_kept() {
    let library = even_bids();
    let rules = Ruleset::load(&library, "bids").unwrap_or_else(|error| panic!("{error}"));
    let mut session = Session::start(&rules, Setup::table(Value::map::<&str>([]))).unwrap();
    assert_eq!(session.advance().unwrap(), Step::Ask);
    let bid = |session: &mut Session, seat: &str, bid: i64| {
        let question = session.questions().iter().find(|question| &*question.seat == seat).unwrap();
        assert!(question.checked);
        let id = question.id;
        session.answer(id, Answer::Number(bid)).unwrap();
        // Loading the game here gives the same question.
        let saved = session.save();
        let step = session.advance().unwrap();
        let loaded = Session::load(&library, &saved).unwrap();
        assert_eq!(loaded.questions(), session.questions());
        step
    };
    let open = |session: &Session| -> Vec<String> {
        session.questions().iter().map(|question| question.seat.to_string()).collect()
    };
    let told = |session: &mut Session, seat: &str| {
        let events = session.seat(seat).unwrap().events_since(0).unwrap();
        events.iter().filter(|event| event.happening.line().contains("a bid is even")).count()
    };
    assert_eq!(bid(&mut session, "left", 3), Step::Ask);
    assert_eq!((open(&session), session.decisions()), (vec!["left".into(), "right".into()], 0));
    assert_eq!((told(&mut session, "left"), told(&mut session, "right")), (1, 0));
    assert_eq!(bid(&mut session, "right", 4), Step::Ask);
    assert_eq!((open(&session), session.decisions()), (vec!["left".to_owned()], 1));
    assert_eq!(bid(&mut session, "left", 5), Step::Ask);
    assert_eq!((open(&session), session.decisions()), (vec!["left".to_owned()], 1), "the other bid stays");
    session.undo().unwrap();
    assert_eq!(session.advance().unwrap(), Step::Ask);
    assert_eq!(open(&session), ["left", "right"]);
    session.redo().unwrap();
    assert_eq!(session.advance().unwrap(), Step::Ask);
    assert_eq!(bid(&mut session, "left", 6), Step::Over("6 to 4".into()));
}

fn topics(session: &Session) -> Vec<&str> {
    session.questions().iter().map(|question| &*question.topic).collect()
}

#[test]
fn a_question_that_is_not_asked_any_more_keeps_no_action_open() {
    let mut session = council();
    assert_eq!(topics(&session), ["stay", "stay"]);
    session.act("right", "leave").unwrap();
    assert_eq!(session.advance().unwrap(), Step::Ask);
    assert_eq!(topics(&session), ["stay"]);
    let _ = say(&mut session, &[("stay", true.into())]);
    assert_eq!(topics(&session), ["judge"]);
}

#[test]
fn a_free_act_that_waits_for_dice_waits_again_after_an_undo() {
    let mut session = council();
    for _ in 0..2 {
        let question = session.questions()[0].id;
        session.answer(question, Answer::Confirm(true)).unwrap();
    }
    assert_eq!(session.advance().unwrap(), Step::Ask);
    assert_eq!(topics(&session), ["judge"]);
    session.act("right", "toast").unwrap();
    let _ = say(&mut session, &[("judge", true.into())]);
    assert_eq!(topics(&session), ["toast"]);
    session.undo().unwrap();
    assert_eq!(session.advance().unwrap(), Step::Ask);
    assert_eq!(topics(&session), ["judge"]);
    session.redo().unwrap();
    assert_eq!(session.advance().unwrap(), Step::Ask);
    assert_eq!(topics(&session), ["toast"]);
}

/// The free act of one seat waits for dice, that of the other for the sealed answer that the open action has shown it.
#[test]
fn the_last_of_two_free_acts_is_taken_back_first_though_the_other_waits() {
    let mut session = council_of(&council_that_rolls("{ \"1d10\", audience = \"right\" }"));
    for _ in 0..2 {
        let _ = answer(&mut session, 0, Answer::Confirm(true));
    }
    assert_eq!(topics(&session), ["judge"]);
    session.act("right", "toast").unwrap();
    session.act("left", "toast").unwrap();
    assert_eq!(session.advance().unwrap(), Step::Ask);
    assert_eq!(topics(&session), ["judge"]);
    assert_eq!(session.undo().unwrap().seat.as_deref(), Some("left"));
    assert_eq!(session.advance().unwrap(), Step::Ask);
    assert_eq!(topics(&session), ["judge"]);
    assert_eq!(answer(&mut session, 0, Answer::Confirm(true)), Step::Ask);
    assert_eq!(topics(&session), ["toast"]);
    assert_eq!(session.questions()[0].seat.as_ref(), "right");
}

fn answer(session: &mut Session, place: usize, answer: Answer) -> Step {
    let question = session.questions()[place].id;
    session.answer(question, answer).unwrap();
    session.advance().unwrap()
}

/// Undoes and redoes the last decision: everything is as before.
fn back_and_forth(session: &mut Session) {
    let before = (session.state_bytes(), session.log(), session.questions().to_vec());
    session.undo().unwrap();
    assert_eq!(session.advance().unwrap(), Step::Ask);
    session.redo().unwrap();
    let _ = session.advance().unwrap();
    assert_eq!((session.state_bytes(), session.log(), session.questions().to_vec()), before);
}

#[test]
fn dice_are_the_same_when_one_of_several_answers_is_given_again() {
    for places in [[0, 0], [1, 0]] {
        let mut session = council();
        for place in places {
            assert_eq!(answer(&mut session, place, Answer::Confirm(true)), Step::Ask);
        }
        assert_eq!(topics(&session), ["judge"]);
        back_and_forth(&mut session);
    }
}

/// A person is asked next to a policy that answers at random.
fn council_with_a_policy(act: &str) -> (Library, Session) {
    let play = r#"
        local rb = require("@riskbreaker")
        local day = { "mon", "tue", "wed", "thu", "fri" }
        return rb.play({
            start = function()
                rb.recur("round", { 1 }, { 1 })
            end,
            entries = {
                round = function()
                    rb.all({
                        { ask = "confirm", seat = "left", topic = "ready", why = "?" },
                        { ask = "choose", seat = "right", topic = "day", options = day, why = "?" },
                        { ask = "choose", seat = "right", topic = "night", options = day, why = "?" },
                    })
                    rb.roll("1d100", "the weather")
                end,
            },
            free = {
                cheer = { title = "Cheer", seats = { "right" }, run = function(seat) rb.confirm({ seat = "left", topic = "cheer", why = "?" }) end },
                wave = { title = "Wave", seats = { "right" }, run = function(seat) rb.say("{} waves", seat) end },
            },
        })
    "#;
    let policy = format!(
        "local rb = require('@riskbreaker') return rb.policy({{ id = 'any', {act} answer = function(q) return q.options[rb.pick(q, #q.options)] end }})"
    );
    let manifest = "id = \"days\"\ntitle = \"D\"\nversion = \"1\"\n[seats]\nleft = \"l\"\nright = \"r\"\n";
    let kinds = "local rb = require('@riskbreaker') return rb.kinds({})";
    let files =
        [("ruleset.toml", manifest), ("kinds.luau", kinds), ("play.luau", play), ("policies/any.luau", &policy)];
    let library = Library::from_files(files.map(|(path, text)| (format!("days/{path}"), text.to_owned())));
    let rules = Ruleset::load(&library, "days").unwrap_or_else(|error| panic!("{error}"));
    let setup = Setup::table(Value::map::<&str>([])).seat("right", Driver::Policy("any".into()));
    let mut session = Session::start(&rules, setup).unwrap();
    assert_eq!(session.advance().unwrap(), Step::Ask);
    (library, session)
}

#[test]
fn answers_of_a_policy_are_kept_when_a_person_undoes_a_simultaneous_answer() {
    let (_, mut session) = council_with_a_policy("");
    for _ in 0..10 {
        assert_eq!(topics(&session), ["ready"]);
        assert_eq!(answer(&mut session, 0, Answer::Confirm(true)), Step::Ask);
        back_and_forth(&mut session);
    }
    let log = session.log();
    while session.undo().is_ok() {
        assert_eq!(session.advance().unwrap(), Step::Ask);
    }
    while session.redo().is_ok() {
        assert_eq!(session.advance().unwrap(), Step::Ask);
    }
    assert_eq!(session.log(), log);
}

#[test]
fn a_free_act_of_a_policy_is_undone_with_the_decision_before_it() {
    let (_, mut session) = council_with_a_policy("act = function(seat, acts) return acts[#acts] end,");
    // It waves before each round, which asks nobody.
    for _ in 0..3 {
        assert_eq!(topics(&session), ["ready"]);
        assert_eq!(answer(&mut session, 0, Answer::Confirm(true)), Step::Ask);
        back_and_forth(&mut session);
    }
    assert_eq!(session.decisions(), 3);
    for left in (0..3).rev() {
        let undone = session.undo().unwrap();
        assert_eq!((session.decisions(), undone.seat.as_deref()), (left, Some("left")));
        assert_eq!(session.advance().unwrap(), Step::Ask);
    }
    assert!(session.undo().is_err());
}

#[test]
fn policies_are_asked_for_free_acts_once_between_two_entries() {
    let act = "act = function(seat, acts) return acts[1] end,";
    let (library, mut session) = council_with_a_policy(act);
    assert_eq!(topics(&session), ["cheer"]);
    let mut loaded = Session::load(&library, &session.save()).unwrap();
    for session in [&mut session, &mut loaded] {
        assert_eq!(answer(session, 0, Answer::Confirm(true)), Step::Ask);
        assert_eq!(topics(session), ["ready"]);
        back_and_forth(session);
        assert_eq!(answer(session, 0, Answer::Confirm(true)), Step::Ask);
        assert_eq!(topics(session), ["cheer"]);
        back_and_forth(session);
    }
}

#[test]
fn a_saved_game_holds_free_acts_that_wait_and_actions_that_wait_for_them() {
    let library = council_library();
    let mut session = council();
    assert_eq!(answer(&mut session, 1, Answer::Confirm(true)), Step::Ask);
    session.act("right", "toast").unwrap();
    assert_eq!(session.advance().unwrap(), Step::Ask);
    assert_eq!(topics(&session), ["toast"]);
    let mut loaded = Session::load(&library, &session.save()).unwrap();
    for session in [&mut session, &mut loaded] {
        assert_eq!(answer(session, 0, Answer::Confirm(true)), Step::Ask);
        assert_eq!(topics(session), ["stay"]);
        assert_eq!(answer(session, 0, Answer::Confirm(true)), Step::Ask);
        assert_eq!(topics(session), ["judge"]);
        session.act("right", "toast").unwrap();
    }
    assert_eq!(loaded.save(), session.save());
    let mut again = Session::load(&library, &session.save()).unwrap();
    for session in [&mut session, &mut again] {
        assert_eq!(answer(session, 0, Answer::Confirm(true)), Step::Ask);
        assert_eq!(topics(session), ["toast"]);
    }
    assert_eq!(again.save(), session.save());
}

#[test]
fn a_fork_reports_no_events() {
    let mut session = start(&[3, 7]);
    let _ = session.advance().unwrap();
    let mut copy = session.fork();
    let _ = copy.advance().unwrap();
    let id = copy.questions()[0].id;
    let answer = copy.suggest(id, "hasty").unwrap().unwrap();
    copy.answer(id, answer).unwrap();
    let _ = copy.advance().unwrap();
    assert!(copy.decisions() > 0);
    assert_eq!(copy.take_events(), []);
}

/// Answers all open questions with their defaults.
fn answer_all(session: &mut Session, seat: &str, by_program: bool) {
    while let Step::Ask = session.advance().unwrap() {
        let Some(question) = session.questions().iter().find(|question| &*question.seat == seat).cloned() else {
            return;
        };
        let answer = question.proposal().cloned().unwrap();
        match by_program {
            true => session.answer_by_program(question.id, answer).unwrap(),
            false => session.answer(question.id, answer).unwrap(),
        }
    }
}

#[test]
fn an_answer_by_a_program_is_no_decision_and_is_saved() {
    let mut session = Session::start(&tug(), Setup::scenario("two").seed(5)).unwrap();
    answer_all(&mut session, "left", false);
    let (before, decisions) = (session.state_bytes(), session.decisions());
    assert!(decisions > 0);
    answer_all(&mut session, "right", true);
    assert_eq!(session.decisions(), decisions);
    assert_ne!(session.state_bytes(), before);
    let library = library();
    let loaded = Session::load(&library, &session.save()).unwrap();
    assert_eq!(loaded.state_bytes(), session.state_bytes());
    // One undo goes back to the last decision of the other side.
    session.undo().unwrap();
    let _ = session.advance().unwrap();
    assert_eq!(&*session.questions()[0].seat, "left");
}

#[test]
fn faces_that_are_pushed_fall_first_and_then_the_dice_of_the_seed() {
    let mut session = Session::start(&tug(), Setup::scenario("two").seed(5)).unwrap();
    let _ = session.advance().unwrap();
    let decisions = session.decisions();
    session.push_faces(&[1]).unwrap();
    assert_eq!((session.decisions(), session.unrolled()), (decisions, 1));
    answer_all(&mut session, "left", false);
    let _ = session.advance().unwrap();
    assert_eq!(session.unrolled(), 0);
    let faces = |session: &Session| -> Vec<Vec<u32>> {
        let rolls = session.log().into_iter().filter_map(|event| match event.happening {
            Happening::Rolled { faces, .. } => Some(faces),
            _ => None,
        });
        rolls.collect()
    };
    assert_eq!(faces(&session)[0][0], 1);
    answer_all(&mut session, "right", false);
    let _ = session.advance().unwrap();
    assert!(faces(&session).len() > 1, "the generator goes on");
    let library = library();
    assert_eq!(faces(&Session::load(&library, &session.save()).unwrap()), faces(&session));
    let mut typed = Session::start(&tug(), Setup::scenario("two").dice(DiceSource::Typed)).unwrap();
    assert!(typed.push_faces(&[1]).is_err());
}

#[test]
fn other_dice_are_used_before_and_after_pushed_faces() {
    let mut session = Session::start(&tug(), Setup::scenario("two").seed(5)).unwrap();
    let _ = session.advance().unwrap();
    session.edit(Edit::OtherDice { words: 3 }).unwrap();
    session.push_faces(&[1]).unwrap();
    session.edit(Edit::OtherDice { words: 2 }).unwrap();
    let _ = session.advance().unwrap();
    answer_all(&mut session, "left", false);
    let _ = session.advance().unwrap();
    let mut loaded = Session::load(&library(), &session.save()).unwrap();
    let _ = loaded.advance().unwrap();
    assert_eq!(loaded.state_bytes(), session.state_bytes());
    // An undo replays the whole tape.
    for _ in 0..session.decisions() {
        loaded.undo().unwrap();
    }
    assert_eq!(loaded.decisions(), 0);
}

#[test]
fn a_fork_does_not_change_the_original() {
    let mut session = Session::start(&tug(), Setup::scenario("two").seed(5)).unwrap();
    let _ = session.advance().unwrap();
    let (state, log) = (session.state_bytes(), session.log());
    let mut ahead = session.fork();
    let question = session.questions()[0].clone();
    let answers = question.answers(100).unwrap();
    assert!(answers.len() > 1 && answers.iter().all(|answer| question.check(answer).is_ok()));
    let _ = ahead.advance().unwrap();
    answer_all(&mut ahead, "left", false);
    assert_ne!(ahead.state_bytes(), state);
    assert_eq!((session.state_bytes(), session.log()), (state, log));
    for answer in answers {
        assert_eq!(question.exact_answer(&answer.to_value()), Ok(answer));
    }
}

/// A game in which the first card has been played.
fn pulled_once() -> Session {
    let mut session = Session::start(&tug(), Setup::default().seed(3)).unwrap();
    let _ = session.advance().unwrap();
    let card = session.questions()[0].id;
    session.answer(card, Answer::Choice("pull".into())).unwrap();
    let _ = session.advance().unwrap();
    session
}

/// A save with a flipped bit is refused, or is the same game.
#[test]
fn a_damaged_save_is_refused() {
    let (session, library) = (pulled_once(), library());
    let text = session.save();
    let same = Session::load(&library, &format!("{text}\n")).unwrap();
    assert_eq!((same.state_bytes(), same.log()), (session.state_bytes(), session.log()));
    let mut accepted = 0;
    for at in 0..text.len() {
        for bit in 0..8 {
            let mut bytes = text.clone().into_bytes();
            bytes[at] ^= 1 << bit;
            let Ok(damaged) = String::from_utf8(bytes) else { continue };
            if let Ok(read) = Session::load(&library, &damaged) {
                assert_eq!((read.state_bytes(), read.log()), (session.state_bytes(), session.log()), "{at} {bit}");
                accepted += 1;
            }
        }
        assert!(Session::load(&library, &text[..at]).is_err(), "cut at {at}");
    }
    assert!(accepted < 8, "{accepted} are accepted");
}

/// A carefully forged save is refused if it does not fit, and never ends the program.
#[test]
fn forged_saves_are_refused_with_a_sentence() {
    let (session, library) = (pulled_once(), library());
    // The previous format had no checksums.
    let text = session.save().replace("\"format\":2", "\"format\":1");
    assert!(Session::load(&library, &text).is_ok());
    for (from, to) in [
        ("\"number\":1", "\"number\":4294967295"),
        ("\"number\":2", "\"number\":4294967295"),
        ("\"words\":0", "\"words\":18446744073709551615"),
        ("\"person\":1", "\"person\":4294967295"),
        ("\"written\":0", "\"written\":4294967295"),
        ("\"format\":1", "\"format\":4294967295"),
        ("\"format\":1", "\"format\":-1"),
    ] {
        if text.contains(from) {
            assert!(Session::load(&library, &text.replace(from, to)).is_err(), "{to}");
        }
    }
    let deep = format!("{}{}", "[".repeat(20_000), "]".repeat(20_000));
    assert!(Session::load(&library, &deep).is_err());
}

#[test]
fn a_scenario_that_nests_too_deeply_is_refused() {
    let mut deep = Value::None;
    for _ in 0..20_000 {
        deep = Value::list([deep]);
    }
    let refused = Session::start(&tug(), Setup::table(Value::map([("deep", deep)])));
    assert!(refused.is_err_and(|error| error.to_string().contains("deep")));
}

#[test]
fn ratios_of_the_largest_numbers_are_values_or_nothing() {
    for n in [i64::MIN, i64::MIN + 1, -1, 0, 1, i64::MAX] {
        for d in [i64::MIN, i64::MIN + 1, -1, 0, 1, i64::MAX] {
            if let Some(Value::Ratio(n, d)) = Value::ratio(n, d) {
                assert!(d > 0, "{n}/{d}");
            }
        }
    }
    assert_eq!(Value::ratio(i64::MIN, i64::MIN), Value::ratio(1, 1));
    assert_eq!(Value::ratio(i64::MIN, -1), None);
}

/// None of them keeps values between calls, which would be refused.
#[test]
fn every_ruleset_of_the_repository_loads() {
    for folder in ["rulesets", "tests/rulesets"] {
        let library = Library::open(Path::new(env!("CARGO_MANIFEST_DIR")).join(folder)).unwrap();
        for id in library.ids() {
            match Ruleset::load(&library, &id) {
                Err(error) if error.to_string().contains("is a layer") => {}
                loaded => drop(loaded.unwrap_or_else(|error| panic!("{error}"))),
            }
        }
    }
}

fn games() -> Library {
    library()
}

#[test]
fn saved_games_share_a_loaded_ruleset() {
    let mut session = start(&[3, 7]);
    let _ = session.advance().unwrap();
    let _ = say(&mut session, &[("card", "pull".into()), ("risk", 2.into())]);
    let saved = session.save();
    let library = games();
    let first = Session::load(&library, &saved).unwrap();
    for _ in 0..20 {
        let other = Session::load(&library, &saved).unwrap();
        assert!(Arc::ptr_eq(other.ruleset(), first.ruleset()));
        assert_eq!(other.state_bytes(), session.state_bytes());
        let given = Session::load_with(&library, session.ruleset(), &saved).unwrap();
        assert!(Arc::ptr_eq(given.ruleset(), session.ruleset()));
        assert_eq!(given.state_bytes(), session.state_bytes());
    }
    // A different ruleset than the one given is not used.
    let other = Ruleset::load(&library, "contest").unwrap();
    assert_eq!(Session::load_with(&library, &other, &saved).unwrap().ruleset().id(), "tug");
}

#[test]
fn a_game_is_the_same_wherever_its_scripts_run() {
    let play = |machines: Machines| {
        let rules = Ruleset::load_on(machines, &games(), "tug", &[]).unwrap();
        let hasty = || Driver::Policy("hasty".into());
        let setup = || Setup::default().seed(11).switch("wins_at", 9).seat("left", hasty()).seat("right", hasty());
        let mut sessions = [Session::start(&rules, setup()).unwrap(), Session::start(&rules, setup()).unwrap()];
        // Two games in turn on the same machines.
        for _ in 0..1_000 {
            for session in &mut sessions {
                let _ = session.advance_by(1).unwrap();
            }
        }
        assert_eq!(sessions[0].state_bytes(), sessions[1].state_bytes());
        assert!(sessions[0].outcome().is_some());
        (sessions[0].state_bytes(), sessions[0].log())
    };
    let usual = play(Machines::default());
    assert_eq!(play(Machines::Threads(0)), usual);
    assert_eq!(play(Machines::Threads(3)), usual);
    assert_eq!(play(Machines::CallersThread), usual);
}

#[test]
fn many_threads_play_many_games_of_one_ruleset() {
    for machines in [Machines::Threads(2), Machines::CallersThread] {
        let rules = Ruleset::load_on(machines, &games(), "tug", &[]).unwrap();
        let ends: Vec<Vec<u8>> = std::thread::scope(|scope| {
            let game = |_| {
                let rules = rules.clone();
                let play = move || {
                    let hasty = || Driver::Policy("hasty".into());
                    let setup = Setup::default().seed(3).seat("left", hasty()).seat("right", hasty());
                    let mut session = Session::start(&rules, setup).unwrap();
                    assert!(matches!(session.advance().unwrap(), Step::Over(_)));
                    session.state_bytes()
                };
                std::thread::Builder::new().stack_size(8 << 20).spawn_scoped(scope, play).unwrap()
            };
            let threads: Vec<_> = (0..6).map(game).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        assert!(ends.windows(2).all(|two| two[0] == two[1]));
    }
}

#[test]
fn advance_until_stops_at_its_deadline() {
    let mut session = start(&[3, 7]);
    let past = std::time::Instant::now();
    while session.questions().is_empty() {
        assert_eq!(session.advance_until(past).unwrap(), Step::Ask);
    }
    assert_eq!(session.advance_by(5).unwrap(), Step::Ask);
    assert_eq!(session.questions()[0].seat.as_ref(), "left");
}

/// Figures for `docs/measurements.md`: `cargo test --release --test session five_hundred -- --ignored --nocapture`.
#[test]
#[ignore = "a measurement"]
fn five_hundred_games_of_one_ruleset() {
    let library = Library::open(Path::new(env!("CARGO_MANIFEST_DIR")).join("rulesets")).unwrap();
    let rules = Ruleset::load_on(Machines::Threads(2), &library, "riskbreaker-0.0.1", &[]).unwrap();
    let status = |name: &str| -> u64 {
        let text = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
        let line = text.lines().find(|line| line.starts_with(name)).unwrap_or_default();
        line.split_whitespace().nth(1).and_then(|number| number.parse().ok()).unwrap_or_default()
    };
    let policy = rules.policies()[0].to_string();
    let mut session = Session::start(&rules, Setup::default().seed(7)).unwrap();
    for _ in 0..20 {
        let _ = session.advance().unwrap();
        let Some(question) = session.questions().first().cloned() else { break };
        let answer = session.suggest(question.id, &policy).unwrap().or(question.default).unwrap();
        session.answer(question.id, answer).unwrap();
    }
    let _ = session.advance().unwrap();
    let saved = session.save();
    println!("{} decisions, {} bytes saved", session.decisions(), saved.len());
    for (name, given) in [("found by content", None), ("given", Some(&rules))] {
        let (memory, began) = (status("VmRSS"), std::time::Instant::now());
        let load = |_| match given {
            None => Session::load(&library, &saved).unwrap(),
            Some(rules) => Session::load_with(&library, rules, &saved).unwrap(),
        };
        let sessions: Vec<Session> = (0..500).map(load).collect();
        let each = began.elapsed() / 500;
        let kept = (status("VmRSS").saturating_sub(memory)) as f64 / sessions.len() as f64;
        println!("{name}: {each:?} a load, {kept:.1} KiB a game, {} threads", status("Threads"));
    }
}

/// An open option, chosen by a number.
fn any_choice(session: &Session, number: usize) -> (riskbreaker::QuestionId, Answer) {
    let question = session.questions()[0].clone();
    let riskbreaker::Ask::Choose { options, .. } = &question.ask else { panic!("{question:?}") };
    let open: Vec<_> = options.iter().filter(|option| option.enabled).collect();
    (question.id, Answer::Choice(open[number % open.len()].id.clone()))
}

/// Checks that every relation has both ends, and that no entry waits for a removed entity.
fn relations_hold(session: &Session, what: &str) {
    let view = session.view();
    for (kind, ends) in [
        ("grip", &["holder", "held"][..]),
        ("sworn_to", &["one", "other"]),
        ("stunned", &["bearer"]),
        ("ending", &["status"]),
    ] {
        for id in view.of_kind(kind) {
            for end in ends {
                let Some(Value::Entity(other)) = view.field(id, end) else {
                    panic!("{what}: {} has no {end}", view.title(id))
                };
                assert!(view.exists(*other), "{what}: {} has lost its {end}", view.title(id));
            }
        }
    }
}

#[test]
fn relations_and_what_lasts_survive_saves_undo_and_the_game_masters_hand() {
    let library = library();
    let rules = Ruleset::load(&library, "arena").unwrap_or_else(|error| panic!("{error}"));
    let (mut seen, mut removed) = (0, 0);
    for seed in 1..=6 {
        let mut session = Session::start(&rules, Setup::scenario("pairs").seed(seed)).unwrap();
        let mut moments = Vec::new();
        let mut number = seed as usize;
        for turn in 0..60 {
            let what = format!("seed {seed}, turn {turn}");
            let Step::Ask = session.advance().unwrap() else { break };
            relations_hold(&session, &what);
            moments.push((session.decisions(), session.state_bytes()));
            if turn % 5 == 0 {
                let mut read = Session::load(&library, &session.save()).unwrap();
                let _ = read.advance().unwrap();
                assert!(read.state_bytes() == session.state_bytes(), "{what}");
            }
            seen += session.view().of_kind("grip").count();
            if turn % 7 == 3 {
                // Removed by edits, and restored by one undo.
                let before = session.state_bytes();
                let everybody: Vec<_> = session.view().of_kind("fighter").collect();
                let gone = everybody[turn % everybody.len()];
                let relations = session.view().of_kind("grip").count();
                session.edit(Edit::Remove { entity: gone }).unwrap();
                relations_hold(&session, &what);
                removed += relations - session.view().of_kind("grip").count();
                session.undo().unwrap();
                let _ = session.advance().unwrap();
                assert!(session.state_bytes() == before, "{what}: the undo left something");
            }
            number = number.wrapping_mul(25_214_903_917).wrapping_add(11);
            let (id, answer) = any_choice(&session, number >> 16);
            session.answer(id, answer).unwrap();
        }
        for (decisions, bytes) in moments.iter().rev() {
            while session.decisions() > *decisions {
                session.undo().unwrap();
                let _ = session.advance().unwrap();
            }
            assert!(session.state_bytes() == *bytes, "seed {seed}: another state at {decisions} decisions");
        }
    }
    assert!(seen > 50 && removed > 0, "{seen} grips, {removed} went with somebody");
}

#[test]
fn a_relation_is_on_both_sheets_and_its_ends_are_never_empty() {
    let library = library();
    let rules = Ruleset::load(&library, "arena").unwrap();
    let mut session = Session::start(&rules, Setup::scenario("pairs").seed(1)).unwrap();
    let _ = session.advance().unwrap();
    let _ = say(&mut session, &[("card", "grip".into()), ("foe", "Bob".into())]);
    let grip = session.view().find("Ann grip Bob").unwrap();
    let refused = session.edit(Edit::Set { entity: grip, field: "held".into(), value: Value::None }).unwrap_err();
    assert!(refused.to_string().contains("is never empty"), "{refused}");
    let sheet = |session: &mut Session, name: &str| {
        let id = session.view().find(name).unwrap();
        session.sheet(id).unwrap()
    };
    assert!(sheet(&mut session, "Ann").contains(&("grip".into(), "Bob".into())));
    assert!(sheet(&mut session, "Bob").contains(&("grip, the other way".into(), "Ann".into())));
}

/// The marks of that game are names: the first letter of one may take several bytes.
#[test]
fn a_sketch_shows_the_first_letter_of_a_name() {
    let rules = Ruleset::load(&library(), "arena").unwrap();
    let mut session = Session::start(&rules, Setup::scenario("field").seed(1)).unwrap();
    let _ = session.advance().unwrap();
    let ann = session.view().find("Ann").unwrap();
    session.edit(Edit::Set { entity: ann, field: "name".into(), value: "Élan".into() }).unwrap();
    let _ = session.advance().unwrap();
    let shown = session.show("plan", "red").unwrap();
    assert!(shown.iter().any(|(_, row)| row.contains('É')), "{shown:?}");
}

/// Turns by speed: keys depend on a field, and the writes of a turn depend on the keys that it sees.
fn by_speed() -> Library {
    let kinds = r#"
        local rb = require("@riskbreaker")
        return rb.kinds({
            hero = {
                title = "name",
                fields = { name = rb.text(), seat = rb.text(), speed = rb.int({ max = 9 }), seen = rb.text() },
            },
        })
    "#;
    let play = r#"
        local rb = require("@riskbreaker")
        return rb.play({
            start = function()
                for at, seat in { "left", "right", "left" } do
                    local hero = rb.spawn("hero", { name = "h" .. at, seat = seat, speed = 2 * at })
                    rb.recur("turn", { 1, 0 }, { 1, 0 }, hero)
                end
            end,
            entries = {
                turn = {
                    key = function(entry)
                        return { entry.key[1], 9 - entry.owner.speed }
                    end,
                    run = function(hero, _, key)
                        local pace = rb.number({ seat = hero.seat, topic = "pace", about = hero, min = 0, max = 9, why = "?" })
                        local seen = `{key[1]}.{key[2]} of`
                        for _, due in rb.agenda() do
                            seen ..= ` {due.owner.name}:{due.key[1]}.{due.key[2]}`
                        end
                        hero:set("seen", seen)
                        rb.say("{} sees {}", hero, seen)
                        hero:set("speed", (hero.speed + pace + rb.roll("1d3")) % 10)
                        if key[1] > 3 then
                            rb.finish("enough")
                        end
                    end,
                },
            },
        })
    "#;
    let manifest = "id = \"keys\"\ntitle = \"K\"\nversion = \"1\"\n[seats]\nleft = \"l\"\nright = \"r\"\n";
    Library::from_files([("keys/ruleset.toml", manifest), ("keys/kinds.luau", kinds), ("keys/play.luau", play)])
}

/// A turn that asks and rolls, and diverges once a flag is raised; a free act raises it.
fn by_flag(rewrite: impl Fn(&str) -> String) -> Library {
    let kinds = r#"
        local rb = require("@riskbreaker")
        return rb.kinds({
            hero = { title = "name", fields = { name = rb.text(), flag = rb.bool(), sum = rb.int() } },
        })
    "#;
    let play = r#"
        local rb = require("@riskbreaker")
        local function ask(hero, topic)
            hero:set("sum", hero.sum * 10 + rb.number({ seat = "left", topic = topic, about = hero, min = 0, max = 9, why = "?" }))
        end
        return rb.play({
            start = function()
                rb.recur("turn", { 1 }, { 1 }, rb.spawn("hero", { name = "Ann" }))
            end,
            entries = {
                turn = function(hero)
                    if hero.flag then
                        ask(hero, "other")
                    else
                        ask(hero, "one")
                        hero:set("sum", hero.sum * 10 + rb.roll("1d9"))
                        ask(hero, "two")
                    end
                    hero:set("sum", hero.sum * 10 + rb.roll("1d9"))
                    ask(hero, "three")
                end,
            },
            free = {
                raise = { title = "Raise", seats = { "right" }, run = function() rb.first("hero"):set("flag", true) end },
            },
        })
    "#;
    let manifest = "id = \"flag\"\ntitle = \"F\"\nversion = \"1\"\n[seats]\nleft = \"l\"\nright = \"r\"\n";
    let files = [("ruleset.toml", manifest.into()), ("kinds.luau", kinds.into()), ("play.luau", rewrite(play))];
    Library::from_files(files.map(|(path, text): (&str, String)| (format!("flag/{path}"), text)))
}

#[test]
fn answers_dropped_by_an_edit_or_a_free_act_return_with_an_undo() {
    let library = by_flag(str::to_owned);
    let rules = Ruleset::load(&library, "flag").unwrap_or_else(|error| panic!("{error}"));
    let answer = |session: &mut Session| {
        let id = session.questions()[0].id;
        session.answer(id, Answer::Number(4)).unwrap();
    };
    let raise = |session: &mut Session, by_hand: bool| {
        let hero = session.view().of_kind("hero").next().unwrap();
        match by_hand {
            true => session.edit(Edit::Set { entity: hero, field: "flag".into(), value: Value::Bool(true) }),
            // Nobody has seen dice yet if it comes before the open action.
            false => session.act("right", "raise"),
        }
    };
    // The number of answers before and after, and whether the game is saved and loaded in between.
    for (by_hand, before, behind, saved) in [true, false]
        .into_iter()
        .flat_map(|by_hand| (0..3).map(move |before| (by_hand, before)))
        .flat_map(|(by_hand, before)| (0..4).map(move |behind| (by_hand, before, behind)))
        .flat_map(|(by_hand, before, behind)| [false, true].map(|saved| (by_hand, before, behind, saved)))
    {
        let case = format!("by hand {by_hand}, {before} before, {behind} behind, saved {saved}");
        let mut session = Session::start(&rules, Setup::table(Value::map::<&str>([])).seed(3)).unwrap();
        let mut all = vec![standing(&mut session)];
        for _ in 0..before {
            answer(&mut session);
            all.push(standing(&mut session));
        }
        raise(&mut session, by_hand).unwrap_or_else(|refusal| panic!("{case}: {refusal}"));
        all.push(standing(&mut session));
        for _ in 0..behind {
            answer(&mut session);
            all.push(standing(&mut session));
        }
        if saved {
            session = Session::load(&library, &session.save()).unwrap();
            assert_eq!(standing(&mut session), *all.last().unwrap(), "{case}");
        }
        check_undo_and_redo(&mut session, &all, &case);
    }
}

#[test]
fn one_undo_goes_back_over_thousands_of_actions() {
    let ticks = "ask(hero, \"three\") rb.schedule(\"tick\", { 1 }, hero, 4000)";
    let tick = "entries = {
        tick = function(hero, left)
            for n = 1, 20 do hero:set(\"sum\", left + n) end
            if left > 1 then rb.schedule(\"tick\", { 1 }, hero, left - 1) end
        end,";
    let library = by_flag(|play| play.replace("ask(hero, \"three\")", ticks).replace("entries = {", tick));
    let rules = Ruleset::load(&library, "flag").unwrap_or_else(|error| panic!("{error}"));
    let mut session = Session::start(&rules, Setup::table(Value::map::<&str>([])).seed(3)).unwrap();
    for topic in ["one", "two"] {
        assert_eq!(session.advance().unwrap(), Step::Ask);
        assert_eq!(say(&mut session, &[(topic, 4.into())]), Step::Ask);
    }
    let before = session.state_bytes();
    assert_eq!(say(&mut session, &[("three", 4.into())]), Step::Ask);
    assert!(session.actions() > 4000);
    session.undo().unwrap();
    assert_eq!((session.advance().unwrap(), session.state_bytes()), (Step::Ask, before));
}

#[test]
fn edited_faces_are_undone_even_after_their_action() {
    let library = by_flag(str::to_owned);
    let rules = Ruleset::load(&library, "flag").unwrap_or_else(|error| panic!("{error}"));
    let mut session = Session::start(&rules, Setup::table(Value::map::<&str>([])).seed(3)).unwrap();
    let _ = standing(&mut session);
    // A game replayed from its tape reports it, too.
    session.reload(with_more("\n-- later")).unwrap();
    let mut all = vec![standing(&mut session)];
    for at in 0..4 {
        if at == 1 {
            session.edit(Edit::Face { ordinal: 1, faces: vec![9] }).unwrap();
            all.push(standing(&mut session));
            assert_eq!(standing(&mut Session::load(&library, &session.save()).unwrap()), all[2], "loaded");
        }
        let id = session.questions()[0].id;
        session.answer(id, Answer::Number(4)).unwrap();
        all.push(standing(&mut session));
    }
    check_undo_and_redo(&mut session, &all, "faces");
}

/// Undoes and redoes everything. `all`: the state of the game after each decision.
fn check_undo_and_redo(session: &mut Session, all: &[Standing], case: &str) {
    for then in all.iter().rev().skip(1) {
        session.undo().unwrap();
        assert_eq!(standing(session), *then, "{case}, undone");
    }
    for then in &all[1..] {
        session.redo().unwrap_or_else(|refusal| panic!("{case}: {refusal}"));
        assert_eq!(standing(session), *then, "{case}, done again");
    }
}

type Standing = (Step, String, Vec<riskbreaker::Event>, String, u32);

/// Everything that the game master can see of a game.
fn standing(session: &mut Session) -> Standing {
    let step = session.advance().unwrap();
    let state = String::from_utf8(session.state_bytes()).unwrap();
    (step, state, session.log(), format!("{:?}", session.questions()), session.decisions())
}

#[test]
fn after_a_skipped_action_dice_and_numbers_are_the_same_in_a_loaded_game() {
    let library = by_flag(|play| {
        let play = play.replace("turn = function(hero)", "bad = function() error(\"no\") end,\nturn = function(hero)");
        play.replace("rb.recur(", "rb.schedule(\"bad\", { 0 })\nrb.recur(")
    });
    let rules = Ruleset::load(&library, "flag").unwrap_or_else(|error| panic!("{error}"));
    let mut session = Session::start(&rules, Setup::table(Value::map::<&str>([])).seed(3)).unwrap();
    let mut all = vec![standing(&mut session)];
    assert!(matches!(all[0].0, Step::Fault(_)));
    // The failed action is older than the edits before it.
    for words in [1, 2] {
        session.edit(Edit::OtherDice { words }).unwrap();
        all.push(standing(&mut session));
    }
    session.remedy(Remedy::SkipAction).unwrap();
    all.push(standing(&mut session));
    let loaded = standing(&mut Session::load(&library, &session.save()).unwrap());
    assert_eq!(loaded, *all.last().unwrap(), "loaded");
    let id = session.questions()[0].id;
    session.answer(id, Answer::Number(4)).unwrap();
    all.push(standing(&mut session));
    let last = all.len() - 1;
    for back in 1..=last {
        (0..back).for_each(|_| drop(session.undo().unwrap()));
        assert_eq!(standing(&mut session), all[last - back], "{back} undone");
        for then in &all[last - back + 1..] {
            session.redo().unwrap();
            assert_eq!(standing(&mut session), *then, "{back} undone and done again");
        }
    }
}

#[test]
fn a_game_with_an_empty_agenda_is_loaded_even_under_other_rules() {
    let library = by_flag(str::to_owned);
    let rules = Ruleset::load(&library, "flag").unwrap_or_else(|error| panic!("{error}"));
    let mut session = Session::start(&rules, Setup::table(Value::map::<&str>([])).seed(3)).unwrap();
    let _ = standing(&mut session);
    session.reload(with_more("\n-- later")).unwrap();
    let _ = standing(&mut session);
    // Its turn is removed with it.
    let hero = session.view().of_kind("hero").next().unwrap();
    session.edit(Edit::Remove { entity: hero }).unwrap();
    let ended = standing(&mut session);
    assert_eq!(ended.0, Step::Over("nothing is left to do".into()));
    assert_eq!(standing(&mut Session::load(&library, &session.save()).unwrap()), ended);
}

/// The rules with a text appended to `play.luau`.
fn with_more(more: &str) -> Arc<Ruleset> {
    Ruleset::load(&by_flag(|play| format!("{play}{more}")), "flag").unwrap()
}

#[test]
fn rules_that_are_reloaded_and_reloaded_back_leave_a_game_that_can_be_loaded() {
    let library = by_flag(str::to_owned);
    let rules = Ruleset::load(&library, "flag").unwrap_or_else(|error| panic!("{error}"));
    let mut session = Session::start(&rules, Setup::table(Value::map::<&str>([])).seed(3)).unwrap();
    let before = standing(&mut session);
    for there in ["\n-- one", "\n-- another"] {
        session.reload(with_more(there)).unwrap();
        let now = standing(&mut session);
        assert_eq!(standing(&mut Session::load(&library, &session.save()).unwrap()), now);
    }
    session.reload(rules.clone()).unwrap();
    let back = standing(&mut session);
    assert_eq!((&back.0, &back.1, &back.3, back.4), (&before.0, &before.1, &before.3, before.4));
    assert_eq!(standing(&mut Session::load(&library, &session.save()).unwrap()), back);
}

/// A game with this number of entries with computed keys. It ends with the first and the last key after the first
/// entry.
fn many_keys(count: usize, key: &str) -> Step {
    let play = r#"
        local rb = require("@riskbreaker")
        return rb.play({
            start = function()
                for at = 1, COUNT do
                    rb.schedule("turn", { at })
                end
            end,
            entries = {
                turn = {
                    key = function(entry)
                        return KEY
                    end,
                    run = function()
                        local due = rb.agenda()
                        rb.finish("{} to {}", due[1].key[1], due[#due].key[1])
                    end,
                },
            },
        })
    "#;
    let manifest = "id = \"keys\"\ntitle = \"K\"\nversion = \"1\"\n";
    let kinds = "return require(\"@riskbreaker\").kinds({})";
    let play = play.replace("KEY", key).replace("COUNT", &count.to_string());
    let files = [("keys/ruleset.toml", manifest), ("keys/kinds.luau", kinds), ("keys/play.luau", &play)];
    let rules = Ruleset::load(&Library::from_files(files), "keys").unwrap();
    Session::start(&rules, Setup::table(Value::map::<&str>([]))).unwrap().advance().unwrap()
}

#[test]
fn computing_the_keys_of_all_entries_is_the_work_of_one_action() {
    assert_eq!(many_keys(600, "{ entry.key[1] }"), Step::Over("2 to 600".into()));
    // Each of them reads all the others.
    let Step::Fault(fault) = many_keys(600, "{ #rb.agenda() }") else { panic!("it goes on") };
    assert!(fault.message.contains("work"), "{fault}");
    assert_eq!(fault.action.as_deref(), Some("turn"));
}

#[test]
fn the_keys_of_all_entries_are_computed_before_any_of_them_changes() {
    assert_eq!(many_keys(9, "rb.agenda()[1].key[1] + 5"), Step::Over("6 to 6".into()));
}

#[test]
fn keys_that_a_ruleset_computes_follow_edits_the_same_in_saved_and_undone_games() {
    let library = by_speed();
    let rules = Ruleset::load(&library, "keys").unwrap_or_else(|error| panic!("{error}"));
    let seen = |session: &mut Session| {
        let step = session.advance().unwrap();
        let state = String::from_utf8(session.state_bytes()).unwrap();
        (step, state, session.log(), format!("{:?}", session.questions()))
    };
    let answer = |session: &mut Session, turn: i64| {
        let id = session.questions()[0].id;
        session.answer(id, Answer::Number(turn * 3 % 10)).unwrap();
    };
    let edit = |session: &Session, what: usize| {
        let view = session.view();
        let heroes: Vec<_> = view.of_kind("hero").collect();
        let asked = session.questions()[0].about.unwrap();
        let other = *heroes.iter().find(|hero| **hero != asked).unwrap();
        let speed = |entity, speed: i64| Edit::Set { entity, field: "speed".into(), value: speed.into() };
        match what {
            // The hero whose turn it is, and one that is due later: first, last, and at the same time as others.
            0 => speed(asked, 0),
            1 => speed(asked, 9),
            2 => speed(other, 0),
            3 => speed(other, 9),
            4 => speed(other, view.field(asked, "speed").unwrap().as_int().unwrap()),
            5 => Edit::Remove { entity: other },
            6 => Edit::Remove { entity: asked },
            _ => Edit::Cancel { entry: view.agenda().iter().find(|entry| entry.owner == Some(other)).unwrap().id },
        }
    };
    for (what, turn_of_edit) in (0..8).flat_map(|what| [0, 1, 4].map(|turn| (what, turn))) {
        let case = format!("edit {what} in turn {turn_of_edit}");
        let start = || Session::start(&rules, Setup::table(Value::map::<&str>([])).seed(7)).unwrap();
        let (mut control, mut undone) = (start(), start());
        let mut all = vec![seen(&mut control)];
        let _ = seen(&mut undone);
        for turn in 0..turn_of_edit {
            answer(&mut control, turn);
            answer(&mut undone, turn);
            all.push(seen(&mut control));
            let _ = seen(&mut undone);
        }
        let by_hand = edit(&control, what);
        control.edit(by_hand.clone()).unwrap();
        undone.edit(by_hand).unwrap();
        let mut saved_at_once = Session::load(&library, &control.save()).unwrap();
        let now = seen(&mut control);
        assert_eq!(seen(&mut saved_at_once), now, "{case}: saved before it went on");
        assert_eq!(seen(&mut undone), now, "{case}");
        undone.undo().unwrap();
        assert_eq!(seen(&mut undone), all[turn_of_edit as usize], "{case}: undone");
        undone.redo().unwrap();
        assert_eq!(seen(&mut undone), now, "{case}: done again");
        all.push(now);
        let mut turn = turn_of_edit;
        while all.last().unwrap().0 == Step::Ask {
            let mut loaded = Session::load(&library, &control.save()).unwrap();
            assert_eq!(seen(&mut loaded), *all.last().unwrap(), "{case}: saved in turn {turn}");
            for session in [&mut control, &mut undone, &mut saved_at_once, &mut loaded] {
                answer(session, turn);
            }
            all.push(seen(&mut control));
            let now = all.last().unwrap();
            assert_eq!(seen(&mut undone), *now, "{case}: after an undo, turn {turn}");
            assert_eq!(seen(&mut saved_at_once), *now, "{case}: saved once, turn {turn}");
            assert_eq!(seen(&mut loaded), *now, "{case}: saved each time, turn {turn}");
            turn += 1;
        }
        let end = all.pop().unwrap();
        for then in all.iter().rev() {
            control.undo().unwrap();
            assert_eq!(seen(&mut control), *then, "{case}: all the way back");
        }
        while control.redo().is_ok() {}
        assert_eq!(seen(&mut control), end, "{case}: and there again");
    }
}

/// The tape contained the closing of the first question, and the second is now answered automatically.
#[test]
fn a_race_that_ends_by_the_only_answer_possible_after_an_edit_leaves_a_tape_that_fits() {
    let rb = |text: &str| format!("local rb = require(\"@riskbreaker\")\nreturn rb.{text}");
    let play = rb(
        "play({ start = function() rb.spawn(\"hero\", { name = \"Ann\" }) rb.spawn(\"hero\", { name = \"Bob\" }) \
         rb.recur(\"turn\", { 1 }, { 1 }) end, entries = { turn = function() \
         local function who(topic) return { ask = \"choose\", seat = \"gm\", topic = topic, options = rb.each(\"hero\") } end \
         local second = who(\"second\") second.auto = true rb.race({ who(\"first\"), second }) \
         rb.first(\"hero\"):set(\"luck\", rb.number({ seat = \"gm\", topic = \"n\", min = 0, max = 9 })) end } })",
    );
    let kinds = rb("kinds({ hero = { title = \"name\", fields = { name = rb.text(), luck = rb.int() } } })");
    let manifest = "id = \"one\"\ntitle = \"One\"\nversion = \"1\"\nscenario = \"s\"\n[seats]\ngm = \"GM\"\n";
    let files = [
        ("ruleset.toml", manifest),
        ("kinds.luau", &kinds),
        ("play.luau", &play),
        ("scenarios/s.toml", "title = \"s\"\n"),
    ];
    let library = Library::from_files(files.map(|(path, text)| (format!("one/{path}"), text.to_string())));
    let rules = Ruleset::load(&library, "one").unwrap_or_else(|error| panic!("{error}"));
    let mut session = Session::start(&rules, Setup::default()).unwrap();
    let _ = session.advance().unwrap();
    let open = |session: &Session, topic: &str| {
        session.questions().iter().find(|question| &*question.topic == topic).cloned().unwrap()
    };
    let (second, ann) = (open(&session, "second"), session.view().find("Ann").unwrap());
    session.answer(second.id, second.read(&Value::text("Ann")).unwrap()).unwrap();
    let _ = session.advance().unwrap();
    let bob = session.view().find("Bob").unwrap();
    session.edit(Edit::Remove { entity: bob }).unwrap();
    let _ = session.advance().unwrap();
    let mut read = Session::load(&library, &session.save()).unwrap_or_else(|error| panic!("{error}"));
    let _ = read.advance().unwrap();
    assert_eq!(read.save(), session.save());
    for session in [&mut session, &mut read] {
        session.answer(open(session, "n").id, Answer::Number(7)).unwrap();
        let _ = session.advance().unwrap();
        assert_eq!(session.view().field(ann, "luck"), Some(&Value::Int(7)));
    }
    assert_eq!(read.save(), session.save());
}
