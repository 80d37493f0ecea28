//! What seats may see: hidden hands, sealed bids, private rolls, traps.

mod answers;
mod together;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use answers::any_answer;
use riskbreaker::lab::{AdviceLimits, Limits, Odds, OddsQuery, SeatExt as _, SessionExt as _};
use riskbreaker::play::{Answering, Assumed, Given, Source};
use riskbreaker::state::Type;
use riskbreaker::{
    Answer, Ask, Audience, DiceSource, Driver, Edit, EntityId, Happening, Library, Question, Refusal, Ruleset,
    Scenario, SeatEvent, Session, Setup, Step, Value, Viewer,
};

fn library(folder: &str) -> Library {
    Library::open(Path::new(env!("CARGO_MANIFEST_DIR")).join(folder)).unwrap()
}

fn load(folder: &str, id: &str) -> Arc<Ruleset> {
    Ruleset::load(&library(folder), id).unwrap_or_else(|error| panic!("{error}"))
}

fn start(rules: &Arc<Ruleset>, seed: u64) -> Session {
    let mut setup = Setup::default().seed(seed);
    for seat in rules.seats().keys() {
        setup = setup.seat(seat, Driver::Human);
    }
    let mut session = Session::start(rules, setup).unwrap();
    let _ = session.advance().unwrap();
    session
}

fn bluff(seed: u64) -> Session {
    start(&load("tests/rulesets", "bluff"), seed)
}

struct Chance(u64);

impl Chance {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 >> 16
    }
}

fn chance(seed: u64) -> Chance {
    Chance(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
}

fn asked(session: &Session, seat: &str, topic: &str) -> Question {
    let open = session.questions().iter().find(|question| *question.seat == *seat && *question.topic == *topic);
    open.cloned().unwrap_or_else(|| panic!("{seat} is not asked {topic}: {:?}", session.questions()))
}

fn reply(session: &mut Session, seat: &str, topic: &str, value: impl Into<Value>) {
    let _ = session.seat(seat).unwrap().reply(&[(topic.into(), value.into())]).unwrap();
}

/// All seats of a game except the game master's, and a watcher.
fn players(session: &Session) -> Vec<Viewer> {
    let seats = session.ruleset().seats().keys().filter(|seat| *seat != "gm");
    seats.map(|seat| Viewer::seat(seat)).chain([Viewer::watcher()]).collect()
}

/// A query that follows a few paths.
fn quick() -> OddsQuery {
    OddsQuery { limits: Limits { ways: 20, samples: 20, ..Limits::default() }, ..OddsQuery::default() }
}

/// Everything that a viewer gets, including odds of the open questions.
fn gets(session: &mut Session, viewer: &Viewer, odds: bool) -> String {
    let mut seat = session.seen_by(viewer.clone());
    let mut text = seat.everything();
    if odds {
        for question in seat.questions() {
            let found = seat.odds(question.id, quick());
            text.push_str(&format!(
                "odds of {}: {:?}\n",
                question.topic,
                found.map(|odds| (odds.lines(), odds.answers))
            ));
        }
    }
    text
}

fn cards_of(session: &mut Session, seat: &str) -> Vec<String> {
    let mut seat = session.seat(seat).unwrap();
    let view = seat.view();
    view.of_kind("card").map(|id| view.title(id).to_string()).collect()
}

#[test]
fn a_seat_sees_its_own_hand_and_nobody_the_deck() {
    let mut session = bluff(7);
    let (north, south) = (cards_of(&mut session, "north"), cards_of(&mut session, "south"));
    assert_eq!((north.len(), south.len()), (2, 2));
    assert_eq!(cards_of(&mut session, "gm").len(), 4);
    let all = gets(&mut session, &Viewer::master(), false);
    for (own, other) in [("north", &south), ("south", &north)] {
        let text = gets(&mut session, &Viewer::seat(own), false);
        for card in other {
            assert!(!text.contains(&format!("{card}\"")), "{own} sees {card}: {text}");
            assert!(all.contains(card.as_str()));
        }
        assert!(!text.contains("deck\":["), "{text}");
    }
    // A derived value that reads a hidden field is refused; one that counts missing entities counts none.
    let mut seat = session.seat("north").unwrap();
    let sam = seat.view().find("Sam").unwrap();
    let refusal = seat.why(sam, "nerve").unwrap_err();
    assert_eq!(refusal.to_string(), "`nerve` depends on what north may not see: Bid");
    assert_eq!(seat.derived(sam, "best", &[]).unwrap(), Value::Int(0));
    assert_eq!(seat.why(sam, "notes").unwrap_err().to_string(), "north may not see `notes` of Sam");
    let sheet = seat.sheet(sam).unwrap();
    assert_eq!(sheet.last().unwrap(), &("hidden".to_string(), "Notes".to_string()));
}

fn not_yours(seat: &str) -> Refusal {
    Refusal::NotYourSeat { seat: seat.into(), acting: "south".into() }
}

#[test]
fn a_seat_cannot_use_questions_of_another() {
    let mut session = bluff(3);
    let trap = asked(&session, "gm", "trap");
    let mut south = session.seat("south").unwrap();
    assert!(south.questions().is_empty());
    assert_eq!(south.waiting(), ["gm".into()]);
    // It may not even learn that the question exists.
    let refusal = south.answer(trap.id, Answer::Confirm(true)).unwrap_err();
    assert_eq!(refusal, Refusal::Stale { question: trap.id });
    assert_eq!(south.edit(Edit::Say { text: "hello".into() }).unwrap_err(), not_yours("gm"));
    reply(&mut session, "gm", "trap", false);
    let card = asked(&session, "north", "card");
    assert_eq!(session.number_for(&Viewer::seat("south"), card.id), None);
    let refusal = session.seat("south").unwrap().act("north", "wink").unwrap_err();
    assert_eq!(refusal, not_yours("north"));
    let refusal = session.seat("south").unwrap().undo().unwrap_err();
    assert_eq!(refusal, not_yours("gm"));
    assert!(session.seat("south").unwrap().answer(card.id, any_answer(&card, 0)).is_err());
    assert!(session.seen_by(Viewer::watcher()).reply(&[("card".into(), "1".into())]).is_err());
    assert!(session.seat("east").is_err());
    session.seat("gm").unwrap().answer(card.id, any_answer(&card, 0)).unwrap();
}

/// The agenda entry of a plan that only Ada sees.
#[test]
fn disabling_a_hidden_entry_is_shown_to_those_who_see_its_owner() {
    let mut session = start(&load("tests/rulesets", "manor"), 5);
    session.edit(Edit::LeaveOut { name: "plan over".into() }).unwrap();
    let _ = session.advance().unwrap();
    for seat in ["ada", "ben", "cy", "dot"] {
        reply(&mut session, seat, "room", "hall");
    }
    reply(&mut session, "ada", "card", "hide");
    for seat in ["ben", "cy", "dot"] {
        reply(&mut session, seat, "card", "idle");
        reply(&mut session, seat, "diary", "nothing");
    }
    asked(&session, "ada", "vote");
    for (seat, knows) in [("ada", true), ("ben", false), ("gm", true)] {
        let log = session.seat(seat).unwrap().log();
        let text = "`plan over` is disabled";
        let told = log.iter().any(|event| event.happening == Happening::Notice { text: text.into() });
        assert_eq!(told, knows, "{seat}: {log:?}");
    }
}

#[test]
fn orders_of_several_parts_are_open_at_once_and_sealed_to_the_end() {
    let mut session = bluff(5);
    reply(&mut session, "gm", "trap", true);
    let own = cards_of(&mut session, "north")[0].clone();
    reply(&mut session, "north", "card", own.as_str());
    let before = gets(&mut session, &Viewer::seat("south"), false);
    assert!(session.seat("north").unwrap().asked().is_empty(), "parts are asked in step");
    let south = cards_of(&mut session, "south")[0].clone();
    reply(&mut session, "south", "card", south.as_str());
    assert!(!before.contains(&format!("{own}\"")));
    reply(&mut session, "north", "bid", 4);
    reply(&mut session, "south", "bid", 0);
    reply(&mut session, "south", "note", "SOUTHERN");
    // North's last part is still open, and nothing was reported.
    let told = |session: &mut Session, seat: &str| {
        let log = session.seat(seat).unwrap().log();
        log.iter().filter(|event| matches!(event.happening, Happening::Answered { .. })).count()
    };
    assert_eq!((told(&mut session, "north"), told(&mut session, "south"), told(&mut session, "gm")), (0, 0, 1));
    reply(&mut session, "north", "note", "MARKED");
    assert_eq!((told(&mut session, "north"), told(&mut session, "south"), told(&mut session, "gm")), (3, 3, 7));
    assert!(!gets(&mut session, &Viewer::seat("south"), true).contains("MARKED"));
    assert!(gets(&mut session, &Viewer::seat("north"), false).contains("MARKED"));
    // Sealed outside of `rb.all`: reported when the action ends.
    reply(&mut session, "north", "stay", true);
    assert_eq!(told(&mut session, "south"), 3);
    reply(&mut session, "south", "stay", false);
    // First come, first served: one answer closes the question for the other seat; an undo opens it again for both.
    let both =
        |session: &Session| session.questions().iter().map(|question| question.seat.to_string()).collect::<Vec<_>>();
    assert_eq!(both(&session), ["north", "south"]);
    assert!(session.questions().iter().all(|question| question.race));
    reply(&mut session, "south", "call", true);
    assert!(session.log().iter().any(|event| event.happening.line().contains("Sam walks into a trap")));
    // South has seen the secret answer of north, so only the game master can undo it.
    assert_eq!(session.seat("south").unwrap().undo().unwrap_err().kind(), "stands");
    session.undo().unwrap();
    let _ = session.advance().unwrap();
    assert_eq!(both(&session), ["north", "south"]);
    reply(&mut session, "north", "call", true);
    assert!(session.log().iter().any(|event| event.happening.line().contains("Nora walks into a trap")));
    let saved = Session::load(&library("tests/rulesets"), &session.save()).unwrap();
    assert_eq!(saved.state_bytes(), session.state_bytes());
}

#[test]
fn an_undo_shows_each_viewer_what_it_may_know() {
    let mut session = bluff(9);
    reply(&mut session, "gm", "trap", false);
    let card = cards_of(&mut session, "north")[0].clone();
    reply(&mut session, "north", "card", card.as_str());
    let revision = session.seat("south").unwrap().revision();
    let undone = session.seat("north").unwrap().undo().unwrap();
    assert_eq!((undone.text, undone.seat.as_deref()), (format!("undid card: {card}"), Some("north")));
    let back = |session: &mut Session, seat: &str, since| {
        let events = session.seat(seat).unwrap().events_since(since).unwrap();
        let texts = events.into_iter().filter_map(|event| match event.happening {
            Happening::Back { cause, text, .. } if cause == "undo" => Some(text),
            _ => None,
        });
        texts.collect::<Vec<_>>()
    };
    assert_eq!(back(&mut session, "south", revision), ["undid a decision of north"]);
    assert_eq!(back(&mut session, "gm", 0), [format!("undid card: {card}")]);
}

/// The rules lose an entry and a hook of an imp.
#[test]
fn a_reload_names_what_belongs_to_a_hidden_entity_to_the_game_master_alone() {
    let play = |entry: &str| {
        format!(
            r#"
local rb = require("@riskbreaker")
return rb.play({{
	start = function()
		local nix = rb.spawn("imp", {{ name = "Nix", owner = "north" }})
		rb.attach("venom", nix)
		rb.recur("{entry}", 2, 2, nix)
		rb.recur("turn", 1, 2)
	end,
	entries = {{
		turn = function() rb.confirm({{ seat = "south", topic = "rest", default = false }}) end,
		{entry} = function() end,
	}},
}})
"#
        )
    };
    let (before, after) = (play("lurk"), play("prowl"));
    let hook = "local rb = require(\"@riskbreaker\")\nreturn rb.hook({ id = \"venom\", after = {} })\n";
    let before = pets_with(&[("pets/play.luau", &before), ("pets/hooks/venom.luau", hook)]);
    let mut session = start(&before, 1);
    let report = session.reload(pets_with(&[("pets/play.luau", &after)])).unwrap();
    assert!(report.warnings.is_empty(), "{report:?}");
    let _ = session.advance().unwrap();
    for (seat, told) in [("north", false), ("south", false), ("gm", true)] {
        let log = session.seat(seat).unwrap().log();
        let lines: Vec<String> = log.iter().map(|event| event.happening.line()).collect();
        for name in ["`lurk` is on the agenda", "`venom` is attached"] {
            assert_eq!(lines.iter().any(|line| line.starts_with(name)), told, "{seat}: {lines:?}");
        }
    }
}

/// Others must not learn that the thief has confessed to the game master.
#[test]
fn an_undo_names_a_secret_free_act_to_its_seat_alone() {
    let mut session = start(&load("tests/rulesets", "manor"), 5);
    let open = session.seat("gm").unwrap().free_acts().into_iter().find(|act| act.enabled).unwrap();
    session.seat(&open.seat).unwrap().act(&open.seat, "confess").unwrap();
    let _ = session.advance().unwrap();
    // It has whispered to that seat.
    assert_eq!(session.seat(&open.seat).unwrap().undo().unwrap_err().kind(), "stands");
    assert_eq!(session.undo().unwrap().text, "undid confess");
    let _ = session.advance().unwrap();
    assert_eq!(session.seat(&open.seat).unwrap().redo().unwrap().text, "redid confess");
    let _ = session.advance().unwrap();
    for viewer in players(&session) {
        let told = gets(&mut session, &viewer, false).contains("did confess");
        assert_eq!(told, viewer.plays(&open.seat), "{}", viewer.words());
    }
}

/// The imp that only north sees has no bond.
#[test]
fn an_edit_that_ends_nothing_is_shown_to_those_who_see_the_entity() {
    let bond = "\tbond = { relates = { \"from\", \"to\" }, fields = { from = rb.ref(\"imp\"), to = rb.ref(\"player\") } },\n})";
    let (path, kinds) = PETS.iter().find(|(path, _)| path.ends_with("kinds.luau")).unwrap();
    let kinds = kinds.replace("})\n", bond);
    let mut session = start(&pets_with(&[(*path, kinds.as_str())]), 1);
    reply(&mut session, "south", "fetch", true);
    let entity = session.view().find("Nix").unwrap();
    session.edit(Edit::Set { entity, field: "bond".into(), value: Value::None }).unwrap();
    let _ = session.advance().unwrap();
    for (seat, sees) in [("north", true), ("south", false), ("gm", true)] {
        let log = session.seat(seat).unwrap().log();
        assert_eq!(log.iter().any(|event| event.happening.line().contains("Nix has no bond")), sees, "{seat}");
    }
}

/// A seat only lists acts that it may take.
#[test]
fn no_free_act_is_listed_as_open_while_another_one_asks() {
    let call = "rb.confirm({ seat = seat, topic = \"sure\" })";
    let rules = Ruleset::load(&pets_that_call(call), "pets").unwrap();
    let mut session = start(&rules, 1);
    let open = |session: &mut Session| {
        let acts = session.seat("south").unwrap().free_acts();
        assert_eq!(session.free_acts().into_iter().filter(|act| &*act.seat == "south").collect::<Vec<_>>(), acts);
        (acts[0].enabled, acts[0].reason.clone())
    };
    assert_eq!(open(&mut session), (true, None));
    session.seat("north").unwrap().act("north", "call").unwrap();
    let _ = session.advance().unwrap();
    let reason = "Call (north) comes first: answer what it asks, or undo it";
    assert_eq!(open(&mut session), (false, Some(reason.into())));
    reply(&mut session, "north", "sure", true);
    assert_eq!(open(&mut session), (true, None));
}

/// The act of north fails between its two questions: the first answer is not reported to others, also after a load and
/// an undo.
#[test]
fn an_answer_in_a_failed_action_is_not_shown() {
    let library = pets_that_call(
        "rb.all({
				{ ask = \"number\", seat = \"gm\", topic = \"loud\", min = 1, max = 3, default = 2 },
				{ ask = \"choose\", seat = seat, topic = \"whom\", options = function() error(\"nobody\") end },
			})",
    );
    let rules = Ruleset::load(&library, "pets").unwrap();
    let setup = Setup::default().seat("gm", Driver::Absent).seat("south", Driver::Human);
    let mut session = Session::start(&rules, setup).unwrap();
    let _ = session.advance().unwrap();
    session.seat("gm").unwrap().act("north", "call").unwrap();
    let closed = Some("Call (north) comes first: answer what it asks, or undo it".to_string());
    let fails_untold = |session: &mut Session| {
        for load in [false, true] {
            if load {
                *session = Session::load(&library, &session.save()).unwrap_or_else(|error| panic!("{error}"));
            }
            assert!(matches!(session.advance().unwrap(), Step::Fault(_)));
            for (seat, reason) in [("gm", &closed), ("north", &None), ("south", &None)] {
                let acts = session.seat(seat).unwrap().free_acts();
                assert_eq!((acts[0].enabled, &acts[0].reason), (false, reason), "{seat}, loaded: {load}");
            }
        }
    };
    fails_untold(&mut session);
    session.edit(Edit::Say { text: "so be it".into() }).unwrap();
    fails_untold(&mut session);
    session.undo().unwrap();
    fails_untold(&mut session);
}

/// North sells the imp, which is marked when it belongs to south.
#[test]
fn an_undo_reveals_no_value_of_another_seat() {
    let kinds = r#"
local rb = require("@riskbreaker")
return rb.kinds({
	imp = { title = "name", audience = "owner", fields = { name = rb.text(), owner = rb.text({ show = false }), mark = rb.int() } },
	box = { title = "name", fields = { name = rb.text(), owner = rb.text({ show = false }), code = rb.int({ audience = "owner" }), imp = rb.ref("imp") } },
})
"#;
    let play = r#"
local rb = require("@riskbreaker")
return rb.play({
	start = function()
		rb.spawn("imp", { name = "Nix", owner = "everybody", mark = 3 })
		rb.spawn("box", { name = "Box", owner = "north", code = 3 })
		rb.recur("turn", 1, 1)
	end,
	entries = {
		turn = function()
			if rb.confirm({ seat = "north", topic = "sell", default = false }) then
				local imp, box = rb.first("imp"), rb.first("box")
				imp:set("owner", "south")
				imp:set("mark", 77)
				box:set("owner", "south")
				box:set("code", 77)
				box:set("imp", imp)
			end
		end,
	},
})
"#;
    let mut session = start(&pets_with(&[("pets/kinds.luau", kinds), ("pets/play.luau", play)]), 1);
    for (seat, told) in [("north", vec![]), ("gm", vec!["77 -> 3", "77 -> 3", "Nix -> none"])] {
        reply(&mut session, "north", "sell", true);
        assert_eq!(undone_changes(&mut session, seat), told, "{seat}");
        let _ = session.advance().unwrap();
    }
}

/// The changes reported to a seat when it undoes its last decision.
fn undone_changes(session: &mut Session, seat: &str) -> Vec<String> {
    let undone = session.seat(seat).unwrap().undo().unwrap();
    let changes = undone.changes.into_iter().filter_map(|change| match change {
        Happening::Changed { text, .. } => Some(text),
        _ => None,
    });
    let mut changes: Vec<String> = changes.collect();
    changes.sort();
    changes
}

/// The pets with some files replaced.
fn pets_with(other: &[(&str, &str)]) -> Arc<Ruleset> {
    Ruleset::load(&pets_library(other), "pets").unwrap_or_else(|error| panic!("{error}"))
}

fn pets_library(other: &[(&str, &str)]) -> Library {
    let kept = PETS.iter().filter(|(path, _)| other.iter().all(|(with, _)| with != path));
    Library::from_files(kept.chain(other).copied())
}

/// South is asked to rest; north and south may call, which runs the given script.
fn pets_that_call(call: &str) -> Library {
    let play = r#"
local rb = require("@riskbreaker")
return rb.play({
	start = function() rb.recur("turn", 1, 1) end,
	entries = { turn = function() rb.confirm({ seat = "south", topic = "rest" }) end },
	free = { call = { title = "Call", seats = { "north", "south" }, run = function(seat) CALL end } },
})
"#;
    pets_library(&[
        (
            "pets/kinds.luau",
            "local rb = require(\"@riskbreaker\")\nreturn rb.kinds({ pet = { fields = { n = rb.int() } } })",
        ),
        ("pets/play.luau", &play.replace("CALL", call)),
    ])
}

/// South fetches a pet that all see, and an imp that only north sees.
const PETS: &[(&str, &str)] = &[
    (
        "pets/ruleset.toml",
        "id = \"pets\"\ntitle = \"Pets\"\nversion = \"1.0.0\"\nsummary = \"Whose?\"\nscenario = \"pets\"\n[seats]\nnorth = \"North\"\nsouth = \"South\"\ngm = \"GM\"\n",
    ),
    ("pets/scenarios/pets.toml", "title = \"Pets\"\n"),
    (
        "pets/kinds.luau",
        r#"
local rb = require("@riskbreaker")
return rb.kinds({
	pet = { title = "name", fields = { name = rb.text() } },
	imp = { title = "name", audience = "owner", fields = { name = rb.text(), owner = rb.text({ show = false }) } },
	player = { title = "name", fields = { name = rb.text(), pet = rb.ref("pet"), imp = rb.ref("imp") } },
})
"#,
    ),
    (
        "pets/play.luau",
        r#"
local rb = require("@riskbreaker")
return rb.play({
	start = function()
		rb.spawn("player", { name = "Sam" })
		rb.recur("turn", 1, 1)
	end,
	entries = {
		turn = function()
			if rb.confirm({ seat = "south", topic = "fetch", default = false }) then
				local sam = rb.first("player")
				sam:set("pet", rb.spawn("pet", { name = "Rex" }))
				sam:set("imp", rb.spawn("imp", { name = "Nix", owner = "north" }))
			end
		end,
	},
})
"#,
    ),
];

#[test]
fn an_undo_names_removed_entities_to_those_who_saw_them() {
    let mut session = start(&pets_with(&[]), 1);
    for (seat, told) in [("south", &["Rex -> none"][..]), ("gm", &["Nix -> none", "Rex -> none"][..])] {
        reply(&mut session, "south", "fetch", true);
        assert_eq!(undone_changes(&mut session, seat), told, "{seat}");
        let _ = session.advance().unwrap();
    }
}

/// Everybody sees the mask, but only its owner sees who wears it.
#[test]
fn a_hidden_title_is_in_no_message_to_others() {
    let kinds = r#"
local rb = require("@riskbreaker")
return rb.kinds({
	mask = {
		title = "name",
		fields = {
			name = rb.text({ audience = "owner" }),
			owner = rb.text({ show = false }),
			lit = rb.bool(),
			pal = rb.ref("mask"),
		},
	},
})
"#;
    let play = r#"
local rb = require("@riskbreaker")
return rb.play({
	start = function()
		rb.spawn("mask", { name = "KING", owner = "north" })
		rb.recur("turn", 1, 1)
	end,
	entries = {
		turn = function()
			local mask = rb.first("mask")
			rb.confirm({ seat = "south", topic = "see", about = mask, default = false })
			rb.choose({ seat = "south", topic = "whom", options = { mask, "none" } })
			rb.choose({ seat = "north", topic = "own", options = { mask, "none" } })
			mask:set("lit", not mask.lit)
			mask:set("pal", mask)
			rb.remove(rb.spawn("mask", { name = "KING", owner = "north" }))
		end,
	},
})
"#;
    let mut session = start(&pets_with(&[("pets/kinds.luau", kinds), ("pets/play.luau", play)]), 1);
    let mut told = vec![String::new(); 4];
    let mut look = |session: &mut Session| {
        let viewers = [Viewer::watcher(), Viewer::seat("south"), Viewer::seat("north"), Viewer::master()];
        for (text, viewer) in told.iter_mut().zip(viewers) {
            text.push_str(&gets(session, &viewer, true));
        }
    };
    for (seat, topic, answer) in
        [("south", "see", Value::Bool(true)), ("south", "whom", Value::Int(1)), ("north", "own", Value::Int(1))]
    {
        look(&mut session);
        reply(&mut session, seat, topic, answer);
    }
    let entity = session.view().of_kind("mask").next().unwrap();
    session.edit(Edit::Set { entity, field: "lit".into(), value: Value::Bool(false) }).unwrap();
    let _ = session.advance().unwrap();
    look(&mut session);
    for _ in 0..3 {
        session.undo().unwrap();
        let _ = session.advance().unwrap();
        look(&mut session);
    }
    let sees: Vec<bool> = told.iter().map(|text| text.contains("KING")).collect();
    assert_eq!(sees, [false, false, true, true], "{}", told[1]);
}

#[test]
fn a_topic_that_comes_twice_is_answered_by_a_list() {
    let mut session = bluff(2);
    reply(&mut session, "gm", "trap", true);
    let step = session
        .reply(&[
            ("card".into(), Value::list([cards_of_value(&session, "north"), cards_of_value(&session, "south")])),
            ("bid".into(), Value::list([Value::Int(1), Value::Int(0)])),
            ("note".into(), Value::list([Value::text("x"), Value::text("y")])),
            ("stay".into(), Value::list([Value::Bool(true), Value::Bool(false)])),
            ("call".into(), true.into()),
        ])
        .unwrap();
    assert_eq!(step, Step::Ask);
    assert_eq!(&*session.questions()[0].topic, "trap", "the next round has begun");
}

fn cards_of_value(session: &Session, seat: &str) -> Value {
    Value::text(&asked(session, seat, "card").ask.options()[0].label)
}

/// A different value of the field's type.
fn other_value(session: &Session, ty: &Type, now: &Value, n: i64) -> Option<Value> {
    Some(match ty {
        Type::Int { max, .. } => Value::Int(now.as_int()?.saturating_add(n).min(max.unwrap_or(i64::MAX))),
        Type::Bool => Value::Bool(n % 2 == 0),
        Type::Text => Value::text(format!("{now} {n}")),
        Type::Enum(values) => Value::text(&values[n as usize % values.len()]),
        Type::Ref(Some(kind)) => Value::Entity(session.view().of_kind(kind).nth(n as usize % 2)?),
        Type::List(of) => Value::List((0..n).filter_map(|_| other_value(session, of, &Value::None, n)).collect()),
        Type::Map(of) => match now {
            Value::Map(items) => {
                let changed = |(key, value)| Some((key, other_value(session, of, value, n)?));
                Value::map(items.iter().filter_map(changed))
            }
            _ => return None,
        },
        _ => return None,
    })
}

/// Writes a different value to each field that a viewer may not see and that passes.
fn change_secrets(session: &mut Session, viewer: &Viewer, n: i64, passes: impl Fn(&str) -> bool) -> usize {
    let master = session.view();
    let mut edits = Vec::new();
    for id in master.entities() {
        for (field, value) in master.fields(id) {
            if passes(&field.name)
                && let Some(value) = other_value(session, &field.ty, value, n)
            {
                edits.push((id, field.name.to_string(), value));
            }
        }
    }
    let mut seat = session.seen_by(viewer.clone());
    let known = seat.view();
    edits.retain(|(id, field, _)| known.field(*id, field).is_none());
    for (entity, field, value) in &edits {
        // Earlier edits may have made the open action diverge.
        let _ = session.edit(Edit::Set { entity: *entity, field: field.clone(), value: value.clone() });
        let _ = session.advance().unwrap();
    }
    edits.len()
}

/// True if no rule of the open action has revealed a field, or what it depends on.
fn is_untold(game: &str, session: &Session, field: &str) -> bool {
    let at = |topic: &str| session.questions().iter().any(|question| &*question.topic == topic);
    match (game, field) {
        (_, "seat" | "owner" | "finder" | "bearer" | "one" | "other") => false,
        // The lot that is drawn from them is public.
        ("auction", "lots") => false,
        // A rumour bought in this action reveals it.
        ("auction", "worth") => at("rumour"),
        // The detective may have watched in this action.
        ("manor", "role" | "hidden") => at("room"),
        _ => true,
    }
}

#[test]
fn everything_a_seat_gets_is_the_same_when_only_secrets_of_others_differ() {
    let library = library("tests/rulesets");
    for (game, seeds, steps) in
        [("bluff", 1..=2, 12), ("auction", 1..=1, 8), ("manor", 2..=2, 8), ("decoys", 4..=4, 16), ("wolves", 1..=1, 9)]
    {
        let (rules, mut changed) = (load("tests/rulesets", game), 0);
        for seed in seeds {
            let (mut session, mut chance) = (start(&rules, seed), chance(seed));
            for step in 0..steps {
                if session.questions().is_empty() {
                    break;
                }
                for viewer in players(&session) {
                    let saved = session.save();
                    let again = || {
                        let loaded = Session::load(&library, &saved);
                        loaded.unwrap_or_else(|error| panic!("{game} {seed} {step}: {error}\n{saved}"))
                    };
                    let [mut one, mut other] = [again(), again()];
                    for game in [&mut one, &mut other] {
                        let _ = game.advance().unwrap();
                    }
                    let untold = |field: &str| is_untold(game, &session, field);
                    changed += change_secrets(&mut one, &viewer, 1, untold);
                    change_secrets(&mut other, &viewer, 3, untold);
                    // Looking ahead takes long, so not at each step.
                    let odds = step % 3 == 0;
                    let [first, second] = [&mut one, &mut other].map(|game| gets(game, &viewer, odds));
                    let differs = first.split(',').zip(second.split(',')).find(|(first, second)| first != second);
                    assert_eq!(first, second, "{game} {seed} {step} {}: {differs:?}", viewer.words());
                }
                let open = session.questions();
                let question = open[chance.next() as usize % open.len()].clone();
                session.answer(question.id, any_answer(&question, chance.next())).unwrap();
                let _ = session.advance().unwrap();
            }
        }
        assert!(changed > 40, "{game}: {changed}");
    }
}

/// True if different answers to a question are not revealed to a viewer at once.
fn is_secret(session: &Session, question: &Question, viewer: &Viewer) -> bool {
    let together = session.questions().iter().filter(|open| open.id.action == question.id.action && !open.race).count();
    !viewer.plays(&question.seat) && !question.race && (!viewer.sees(&question.audience) || together > 1)
}

/// In every game: two different unrevealed answers of another seat look the same.
#[test]
fn an_unrevealed_answer_changes_nothing_for_another_seat() {
    let mut games = vec![("tests/rulesets", "bluff".to_string())];
    games.extend(library("rulesets").ids().into_iter().map(|id| ("rulesets", id)));
    let mut compared: BTreeMap<String, usize> = BTreeMap::new();
    for (folder, id) in games {
        let Ok(rules) = Ruleset::load(&library(folder), &id) else { continue };
        if rules.default_scenario().is_none() {
            continue;
        }
        let library = library(folder);
        let (mut session, mut chance) = (start(&rules, 11), chance(11));
        for _ in 0..25 {
            let open = session.questions().to_vec();
            if open.is_empty() {
                break;
            }
            for question in &open {
                for viewer in players(&session) {
                    if !is_secret(&session, question, &viewer) {
                        continue;
                    }
                    // Of a Maneuver that others do not know, they see its cost, and who has acted.
                    if id == "riskbreaker-0.0.3" && ["group", "risk"].contains(&&*question.topic) {
                        continue;
                    }
                    let saved = session.save();
                    let answers = [any_answer(question, 0), any_answer(question, 1)];
                    if answers[0] == answers[1] {
                        continue;
                    }
                    let seen = answers.map(|answer| {
                        let mut game = Session::load(&library, &saved).unwrap();
                        let _ = game.advance().unwrap();
                        game.answer(question.id, answer).unwrap();
                        let _ = game.advance().unwrap();
                        let waits = game.questions().iter().any(|open| open.id.action == question.id.action);
                        (waits, gets(&mut game, &viewer, id == "bluff"))
                    });
                    if seen.iter().all(|(waits, _)| *waits) {
                        assert_eq!(seen[0].1, seen[1].1, "{id}: {} of {}", question.topic, question.seat);
                        *compared.entry(id.clone()).or_default() += 1;
                    }
                }
            }
            let question = &open[chance.next() as usize % open.len()];
            session.answer(question.id, any_answer(question, chance.next())).unwrap();
            if let Step::Fault(_) = session.advance().unwrap() {
                break;
            }
        }
    }
    assert!(compared.get("bluff").is_some_and(|count| *count > 5), "{compared:?}");
}

#[test]
fn no_mark_in_a_hidden_field_reaches_another_viewer() {
    let mut session = bluff(21);
    let mut chance = chance(21);
    let mut marks: Vec<(String, String)> = Vec::new();
    for round in 0..16 {
        let open = session.questions().to_vec();
        if open.is_empty() {
            break;
        }
        // A mark in the notes of each player, before each decision.
        for (name, seat) in [("Nora", "north"), ("Sam", "south")] {
            let mark = format!("MARK-{seat}-{round}-");
            let entity = session.view().find(name).unwrap();
            let edit = Edit::Set { entity, field: "notes".into(), value: Value::text(&mark) };
            session.edit(edit).unwrap();
            marks.push((seat.into(), mark));
        }
        let _ = session.advance().unwrap();
        if round % 3 == 2 {
            session.undo().unwrap();
            let _ = session.advance().unwrap();
        }
        let question = session.questions()[0].clone();
        let answer = match &question.ask {
            Ask::Line { .. } => {
                let mark = format!("MARK-{}-line-{round}-", question.seat);
                marks.push((question.seat.to_string(), mark.clone()));
                Answer::Line(mark)
            }
            _ => any_answer(&question, chance.next()),
        };
        session.answer(question.id, answer).unwrap();
        let _ = session.advance().unwrap();
        for viewer in players(&session) {
            let text = gets(&mut session, &viewer, true);
            for (seat, mark) in &marks {
                assert!(viewer.plays(seat) || !text.contains(mark.as_str()), "{}: {mark}", viewer.words());
            }
        }
    }
    let own = gets(&mut session, &Viewer::seat("north"), false);
    assert!(own.contains("MARK-north-"), "{own}");
}

#[test]
fn a_look_ahead_resamples_hidden_values() {
    let mut session = bluff(4);
    reply(&mut session, "gm", "trap", false);
    let card = session.seat("north").unwrap().asked()[0].clone();
    let unseen = ["card", "table.deck", "player.bid", "player.notes", "trap"];
    let held = cards_of(&mut session, "south");
    let mut seat = session.seat("north").unwrap();
    let odds = seat
        .odds(card.id, OddsQuery { limits: Limits { ways: 50, samples: 600, ..Limits::default() }, ..quick() })
        .unwrap();
    assert!(odds.dealt);
    let mut found = odds.unseen.clone();
    found.sort();
    let mut wanted = unseen;
    wanted.sort_unstable();
    assert_eq!(found, wanted);
    assert!(odds.unseen_in_words().unwrap().starts_with("unseen, dealt anew by chance: "));
    // South may lay any of the ten cards that north does not hold, not only one of its own two.
    let lines = odds.lines().join("\n");
    let laid = (2..=13).filter(|rank| lines.contains(&format!("Sam lays Card {rank}\u{201d}"))).count();
    assert_eq!(laid, 10, "{held:?}\n{lines}");
    // The suggestion of a policy does not depend on the other's hand.
    assert!(seat.suggest(card.id, "calm").unwrap().is_some());
    // South does not see north's question.
    let hidden = riskbreaker::QuestionId { action: 1, ordinal: 1 };
    let mut south = session.seat("south").unwrap();
    assert_eq!(south.questions().len(), 1);
    assert_eq!(south.suggest(hidden, "calm"), Err(Refusal::Stale { question: hidden }));
    assert!(south.advise(hidden, AdviceLimits::within(Duration::from_millis(1)), None).is_err());
}

/// A game without secrets: north bets on the face that is rolled next, and a policy picks one.
const WHEEL: &[(&str, &str)] = &[
    (
        "wheel/ruleset.toml",
        "id = \"wheel\"\ntitle = \"Wheel\"\nversion = \"1.0.0\"\nsummary = \"Which face?\"\nscenario = \"wheel\"\n[seats]\nnorth = \"North\"\n",
    ),
    ("wheel/scenarios/wheel.toml", "title = \"Wheel\"\n"),
    (
        "wheel/kinds.luau",
        r#"
local rb = require("@riskbreaker")
return rb.kinds({ player = { title = "name", fields = { name = rb.text(), won = rb.int() } } })
"#,
    ),
    (
        "wheel/policies/lucky.luau",
        r#"
local rb = require("@riskbreaker")
return rb.policy({
	id = "lucky",
	answer = function(q)
		return rb.pick(q, 10)
	end,
})
"#,
    ),
    (
        "wheel/play.luau",
        r#"
local rb = require("@riskbreaker")
return rb.play({
	start = function()
		rb.spawn("player", { name = "Nora" })
		rb.recur("round", 1, 1)
	end,
	entries = {
		round = function()
			local nora = rb.first("player")
			local bet = rb.number({ seat = "north", topic = "bet", about = nora, min = 1, max = 10, default = 1 })
			if rb.roll("1d10", "the wheel") == bet then
				nora:add("won", 1)
			end
		end,
	},
})
"#,
    ),
];

#[test]
fn a_suggestion_to_a_seat_does_not_foretell_the_next_die() {
    let rules = Ruleset::load(&Library::from_files(WHEEL.iter().copied()), "wheel");
    let rules = rules.unwrap_or_else(|error| panic!("{error}"));
    let (mut won, mut suggested) = (0, BTreeSet::new());
    // 0 is the seed of a game without one.
    for seed in 0..4 {
        let (mut session, mut unasked) = (start(&rules, seed), start(&rules, seed));
        for _ in 0..20 {
            let mut north = session.seat("north").unwrap();
            let question = north.asked()[0].clone();
            let answer = north.suggest(question.id, "lucky").unwrap().unwrap();
            assert_eq!(north.suggest(question.id, "lucky").unwrap().as_ref(), Some(&answer));
            suggested.insert(question.tell(&answer));
            for session in [&mut session, &mut unasked] {
                let mut north = session.seat("north").unwrap();
                let id = north.asked()[0].id;
                north.answer(id, answer.clone()).unwrap();
                let _ = session.advance().unwrap();
            }
            // The game rolls what it would have rolled without a suggestion.
            assert_eq!(session.state_bytes(), unasked.state_bytes());
        }
        let view = session.view();
        let nora = view.find("Nora").unwrap();
        won += view.field(nora, "won").and_then(Value::as_int).unwrap();
    }
    assert!(won < 24, "{won} of 80 bets are won, where 8 are expected");
    assert!(suggested.len() > 3, "{suggested:?}");
}

/// North has a number that was drawn unseen, and a policy uses it. `shown`: true if north sees the number.
fn drawn(shown: bool) -> Session {
    let kinds = format!(
        "local rb = require(\"@riskbreaker\")\nreturn rb.kinds({{ player = {{ title = \"name\", fields = {{ name = rb.text(), \
         own = rb.int({{ audience = \"north\", show = {shown} }}) }} }} }})"
    );
    let play = r#"
local rb = require("@riskbreaker")
return rb.play({
	start = function()
		rb.spawn("player", { name = "Nora" })
		rb.recur("turn", 1, 1)
	end,
	entries = {
		turn = function()
			rb.first("player"):set("own", (rb.draw({ 1, 2, 3, 4, 5, 6 })))
			rb.confirm({ seat = "north", topic = "bet", default = false })
		end,
	},
})
"#;
    let policy = r#"
local rb = require("@riskbreaker")
return rb.policy({
	id = "plain",
	answer = function()
		return rb.first("player").own > 3
	end,
})
"#;
    let manifest = "id = \"drawn\"\ntitle = \"Drawn\"\nversion = \"1.0.0\"\nsummary = \"Drawn.\"\nscenario = \"s\"\n[seats]\nnorth = \"North\"\n";
    let files = [
        ("drawn/ruleset.toml", manifest),
        ("drawn/scenarios/s.toml", "title = \"s\"\n"),
        ("drawn/kinds.luau", kinds.as_str()),
        ("drawn/play.luau", play),
        ("drawn/policies/plain.luau", policy),
    ];
    let rules = Ruleset::load(&Library::from_files(files), "drawn").unwrap_or_else(|error| panic!("{error}"));
    start(&rules, 3)
}

#[test]
fn a_suggestion_to_a_seat_foretells_no_face_that_was_given_ahead() {
    let suggested = [1, 6].map(|face| {
        let mut session = drawn(false);
        session.push_faces(&[face]).unwrap();
        let mut north = session.seat("north").unwrap();
        let question = north.asked()[0].id;
        north.suggest(question, "plain").unwrap()
    });
    assert_eq!(suggested[0], suggested[1]);
    // What north has seen is not drawn anew for it.
    let mut session = drawn(true);
    let mut north = session.seat("north").unwrap();
    let question = north.asked()[0].id;
    let refusal = north.suggest(question, "plain").unwrap_err();
    assert!(refusal.to_string().contains("would be rolled anew"), "{refusal}");
}

/// The number of secret rolls before north is asked depends on what only south may know.
const KNOCK: &[(&str, &str)] = &[
    (
        "knock/ruleset.toml",
        "id = \"knock\"\ntitle = \"Knock\"\nversion = \"1.0.0\"\nsummary = \"Who knocks?\"\nscenario = \"knock\"\n[seats]\nnorth = \"North\"\nsouth = \"South\"\ngm = \"GM\"\n",
    ),
    ("knock/scenarios/knock.toml", "title = \"Knock\"\n"),
    (
        "knock/kinds.luau",
        r#"
local rb = require("@riskbreaker")
return rb.kinds({
	player = {
		title = "seat",
		fields = { seat = rb.text({ show = false }), knocks = rb.int({ audience = "seat" }) },
	},
})
"#,
    ),
    (
        "knock/play.luau",
        r#"
local rb = require("@riskbreaker")
return rb.play({
	start = function(scenario)
		rb.spawn("player", { seat = "south", knocks = scenario.knocks })
		rb.recur("turn", 1, 1)
	end,
	entries = {
		turn = function()
			local south = rb.first("player")
			for at = 1, south.knocks do
				rb.roll({ "1d6", audience = "south" }, "knock {}", at)
				rb.confirm({ seat = "south", topic = "softly", audience = "south", default = true })
			end
			rb.confirm({ seat = "north", topic = "open", why = "open?", default = false })
			rb.say("north has listened")
		end,
	},
})
"#,
    ),
];

#[test]
fn no_number_tells_how_much_was_rolled_or_asked_in_secret() {
    let rules = Ruleset::load(&Library::from_files(KNOCK.iter().copied()), "knock");
    let rules = rules.unwrap_or_else(|error| panic!("{error}"));
    let mut seen = Vec::new();
    for knocks in [0, 3] {
        let scenario = Value::map([("knocks", Value::Int(knocks))]);
        let mut setup = Setup::table(scenario).seed(5);
        for (seat, driver) in [("north", Driver::Human), ("south", Driver::Absent), ("gm", Driver::Human)] {
            setup = setup.seat(seat, driver);
        }
        let mut session = Session::start(&rules, setup).unwrap();
        let mut gets_by_turn = Vec::new();
        for turn in 0..4 {
            let _ = session.advance().unwrap();
            for viewer in players(&session).into_iter().filter(|viewer| !viewer.plays("south")) {
                gets_by_turn.push(gets(&mut session, &viewer, true));
            }
            let mut north = session.seat("north").unwrap();
            let question = north.asked()[0].clone();
            assert_eq!(question.id, riskbreaker::QuestionId { action: 1 + turn, ordinal: 0 });
            north.answer(question.id, Answer::Confirm(true)).unwrap();
            // A repeated answer is late.
            assert_eq!(north.answer(question.id, Answer::Confirm(true)), Err(Refusal::Stale { question: question.id }));
            if turn == 2 {
                north.undo().unwrap();
                let _ = session.advance().unwrap();
                let again = session.seat("north").unwrap().asked()[0].clone();
                session.seat("north").unwrap().answer(again.id, Answer::Confirm(false)).unwrap();
            }
        }
        // The game master gets the game's own numbers.
        let _ = session.advance().unwrap();
        let place = session.questions()[0].id;
        assert_eq!(place.ordinal, 2 * knocks as u32);
        assert_eq!(session.seat("gm").unwrap().questions()[0].id, place);
        let number = session.number_for(&Viewer::seat("north"), place).unwrap();
        assert_eq!(session.question_of(&Viewer::seat("north"), number).unwrap().id, place);
        seen.push(gets_by_turn);
    }
    assert_eq!(seen[0], seen[1]);
}

/// The sheet of a kind without one lists the fields; a hidden one is named as hidden, not given as its default.
#[test]
fn a_default_sheet_marks_hidden_fields() {
    let rules = Ruleset::load(&Library::from_files(KNOCK.iter().copied()), "knock").unwrap();
    let scenario = Value::map([("knocks", Value::Int(2))]);
    let setup = Setup::table(scenario).seed(5).seat("north", Driver::Human).seat("south", Driver::Absent);
    let mut session = Session::start(&rules, setup).unwrap();
    let _ = session.advance().unwrap();
    let player = session.view().find("south").unwrap();
    let line = |label: &str, text: &str| (label.to_owned(), text.to_owned());
    assert_eq!(session.seat("north").unwrap().sheet(player).unwrap(), [line("hidden", "knocks")]);
    assert_eq!(session.seat("south").unwrap().sheet(player).unwrap(), [line("knocks", "2")]);
    // A hidden name is refused as hidden, and an unknown one with the nearest name.
    let mut north = session.seat("north").unwrap();
    assert_eq!(north.why(player, "knocks").unwrap_err().to_string(), "north may not see `knocks` of south");
    let missing = north.why(player, "knockz").unwrap_err();
    assert!(matches!(missing, Refusal::UnknownName { .. }), "{missing:?}");
    let nobody = EntityId(77);
    assert_eq!(north.why(nobody, "knocks").unwrap_err(), Refusal::NoEntity { entity: nobody });
}

/// South creates any number of secrets: entities with agenda entries, hooks and relations. Titles, lines and options
/// for north contain numbers of entities.
const HUSH: &[(&str, &str)] = &[
    (
        "hush/ruleset.toml",
        "id = \"hush\"\ntitle = \"Hush\"\nversion = \"1.0.0\"\nsummary = \"How many?\"\nscenario = \"hush\"\n[seats]\nnorth = \"North\"\nsouth = \"South\"\ngm = \"GM\"\n",
    ),
    ("hush/scenarios/hush.toml", "title = \"Hush\"\n"),
    (
        "hush/kinds.luau",
        r#"
local rb = require("@riskbreaker")
return rb.kinds({
	player = {
		title = "seat",
		fields = { seat = rb.text({ show = false }) },
		derived = {
			traps = function(self)
				local sum = 0
				for _, trap in rb.each("trap") do
					sum += rb.sum(`trap {trap.id}`, 1)
				end
				return sum
			end,
		},
		sheet = function(self)
			return { { "traps", self:traps() }, { "torches", #rb.each("torch") } }
		end,
	},
	trap = { audience = "seat", fields = { seat = rb.text({ show = false }), torch = rb.ref("torch") } },
	torch = { fields = { lit = rb.bool({ default = true }), timer = rb.int({ default = 0 }) } },
	wire = { relates = { "from", "to" }, fields = { from = rb.ref("trap"), to = rb.ref("torch") } },
})
"#,
    ),
    (
        "hush/verbs.luau",
        "local rb = require(\"@riskbreaker\")\nreturn rb.verbs({ flare = rb.verb({ \"torch\" }, function(torch) torch:set(\"lit\", true) end) })\n",
    ),
    (
        "hush/hooks/glow.luau",
        r#"
local rb = require("@riskbreaker")
return rb.hook({ id = "glow", rules = {}, after = { flare = function(ctx, holder)
	if holder.owner == ctx.torch then
		rb.say("the torch {} glows by {}", ctx.torch.id, holder.id)
	end
end } })
"#,
    ),
    (
        "hush/play.luau",
        r#"
local rb = require("@riskbreaker")
local function lay(seat, torch)
	local trap = rb.spawn("trap", { seat = seat, torch = torch })
	rb.schedule("tick", { 900 }, trap)
	rb.attach("glow", trap)
	rb.spawn("wire", { from = trap, to = torch })
	return trap
end
return rb.play({
	start = function(scenario)
		for _, seat in { "north", "south" } do
			rb.spawn("player", { seat = seat })
		end
		for _ = 1, scenario.laid or 0 do
			rb.spawn("trap", { seat = "south" })
		end
		rb.recur("turn", 1, 1)
	end,
	entries = {
		turn = function()
			local torch = rb.spawn("torch", {})
			local many = rb.number({ seat = "south", topic = "many", audience = "south", min = 0, max = 5, default = 0 })
			for _ = 1, many do
				lay("south", torch)
			end
			local own = lay("north", torch)
			rb.whisper("north", "your trap is {}, number {}", own, own.id)
			local timer = rb.schedule("burn", { 500 }, torch)
			torch:set("timer", timer)
			rb.say("it burns by {} and {}, timer {}", rb.attach("glow", torch), tostring(timer), timer + 0)
			rb.act.flare(torch)
			rb.say("the torch is {}, number {}", torch, torch.id)
			local picked = rb.choose({ seat = "north", topic = "torch", options = rb.each("torch"), default = torch })
			picked:set("lit", not picked.lit)
			rb.remove(own)
			if #rb.each("torch") > 2 then
				rb.remove(rb.first("torch"))
			end
		end,
		tick = function() end,
		burn = function() end,
	},
	free = {
		count = { title = "Count", seats = { "north" }, when = function(seat) return #rb.each("trap") < 9, "too many" end,
			run = function(seat) rb.whisper(seat, "you count {}", #rb.each("torch")) end },
	},
	deal = function(seat) rb.spawn("trap", { seat = "south" }) end,
	value = function(seat) return #rb.each("torch") end,
	prompt = function() return `{#rb.each("trap")} traps` end,
})
"#,
    ),
];

/// Everything that north and a watcher get while south creates this number of secrets in each turn, step by step.
fn hushed(rules: &Arc<Ruleset>, laid: i64, many: [i64; 4]) -> Vec<String> {
    let mut setup = Setup::table(Value::map([("laid", Value::Int(laid))])).seed(5);
    for seat in ["north", "south", "gm"] {
        setup = setup.seat(seat, Driver::Human);
    }
    let library = Library::from_files(HUSH.iter().copied());
    let mut session = Session::start(rules, setup).unwrap();
    let mut all = Vec::new();
    for (turn, many) in many.into_iter().enumerate() {
        let _ = session.advance().unwrap();
        reply(&mut session, "south", "many", many);
        let look = |session: &mut Session, all: &mut Vec<String>| {
            for viewer in [Viewer::seat("north"), Viewer::watcher()] {
                all.push(gets(session, &viewer, true));
                let mut seat = session.seen_by(viewer);
                let (ids, due) = {
                    let view = seat.view();
                    (view.entities().collect::<Vec<_>>(), format!("{:?}", view.agenda()))
                };
                all.push(due);
                for id in ids {
                    all.push(format!(
                        "{id} {:?} {:?} {:?}",
                        seat.sheet(id),
                        seat.why(id, "traps"),
                        seat.why(id, "timer")
                    ));
                }
                all.push(format!("{:?} {:?}", seat.sheet(EntityId(99)), seat.why(EntityId(1 << 21), "lit")));
            }
        };
        look(&mut session, &mut all);
        if turn == 1 {
            session = Session::load(&library, &session.save()).unwrap();
            let _ = session.advance().unwrap();
            look(&mut session, &mut all);
            let loaded = Session::load_by_tape(&library, &session.save()).unwrap();
            assert_eq!(loaded.save(), session.save());
        }
        let torch = asked(&session, "north", "torch").ask.options()[0].clone();
        reply(&mut session, "north", "torch", Value::text(&torch.id));
        if turn == 2 {
            all.push(format!("{:?}", session.seat("north").unwrap().undo()));
            session.undo().unwrap();
            let _ = session.advance().unwrap();
            look(&mut session, &mut all);
            reply(&mut session, "north", "torch", Value::text(&torch.id));
        }
        all.push(format!("{:?}", session.seat("north").unwrap().act("north", "count")));
    }
    all
}

#[test]
fn no_number_tells_how_many_entities_were_made_in_secret() {
    let rules = Ruleset::load(&Library::from_files(HUSH.iter().copied()), "hush");
    let rules = rules.unwrap_or_else(|error| panic!("{error}"));
    let first = hushed(&rules, 0, [0, 0, 0, 0]);
    assert!(first.iter().any(|text| text.contains("torch 6")), "numbers of torches are public: {}", first[0]);
    for (laid, many) in [(0, [3, 0, 1, 2]), (4, [0, 0, 0, 0]), (1, [0, 5, 5, 0])] {
        let other = hushed(&rules, laid, many);
        assert_eq!(first.len(), other.len());
        for (at, (one, other)) in first.iter().zip(&other).enumerate() {
            let differs =
                one.lines().flat_map(|line| line.split(',')).zip(other.lines().flat_map(|line| line.split(',')));
            let differs: Vec<_> = differs.filter(|(one, other)| one != other).take(3).collect();
            assert_eq!(one, other, "{laid} {many:?}, look {at}: {differs:?}");
        }
    }
}

/// The secret answers of others, by game, topic and how often they were asked: no rule reveals these.
fn secretly(game: &str, question: &Question, nth: usize, variant: usize) -> Value {
    match (game, &*question.topic) {
        ("decoys", "mine") => Value::Int(if nth < [0, 3, 8][variant] { 3 } else { 0 }),
        ("decoys", "force") => Value::Int([1, 0, 4][variant]),
        ("wolves", "charms") => Value::Int([1, 5, 2][variant]),
        ("tricks", "bid") => Value::Int([1, 3, 0][variant]),
        ("tricks", "keep") => Value::text(&question.ask.options()[0].id),
        ("tricks", "card") => Value::text(&question.ask.options().iter().find(|option| option.enabled).unwrap().id),
        ("wolves", "name") => Value::text(&question.ask.options()[0].id),
        _ => Value::Bool(false),
    }
}

/// Plays a game in which others create more or fewer secrets. Returns what a viewer gets at each step.
fn played_beside(game: &str, viewer: &str, variant: usize) -> Vec<String> {
    let mut session = start(&load("tests/rulesets", game), 3);
    let (viewer, mut all, mut asked) = (Viewer::seat(viewer), Vec::new(), BTreeMap::new());
    let mut before: Option<(String, Vec<Arc<str>>)> = None;
    let mut looks = 0;
    while looks < 12 {
        let _ = session.advance().unwrap();
        let open = session.questions();
        let hidden = open.iter().find(|question| !viewer.sees(&question.audience) && !viewer.plays(&question.seat));
        if let Some(question) = hidden.cloned() {
            let nth = asked.entry((question.seat.clone(), question.topic.clone())).or_insert(0);
            let value = secretly(game, &question, *nth, variant);
            *nth += 1;
            if looks == 0 && variant == 1 {
                let seen = (gets(&mut session, &viewer, false), session.seen_by(viewer.clone()).waiting());
                if let Some((text, waiting)) = before.filter(|(_, waiting)| *waiting == seen.1) {
                    assert_eq!(
                        text, seen.0,
                        "{game}: an answer to {} that nobody is told, {waiting:?}",
                        question.topic
                    );
                }
                before = Some(seen);
            }
            let answer = question.read(&value).unwrap_or_else(|refusal| panic!("{}: {refusal}", question.topic));
            session.answer(question.id, answer).unwrap();
            continue;
        }
        before = None;
        looks += 1;
        all.push(gets(&mut session, &viewer, looks == 3 && game == "decoys"));
        let mut seat = session.seen_by(viewer.clone());
        let ids: Vec<EntityId> = seat.view().entities().collect();
        for id in ids.into_iter().filter(|_| looks % 4 == 1) {
            let why = ["mines", "charms", "hand", "weight", "force", "place", "role"].map(|name| seat.why(id, name));
            all.push(format!("{id} {:?} {:?} {why:?}", seat.sheet(id), seat.overview(id)));
        }
        let Some(question) = session.questions().first().cloned() else { break };
        let answer = question.default.clone().unwrap_or_else(|| any_answer(&question, 0));
        session.answer(question.id, answer.clone()).unwrap();
        if looks % 3 == 0 && viewer.plays(&question.seat) {
            let _ = session.advance().unwrap();
            let undone = session.seen_by(viewer.clone()).undo();
            all.push(format!("{undone:?}"));
            // The game master undoes what a seat may not.
            if undone.is_ok() || session.undo().is_ok() {
                let _ = session.advance().unwrap();
                all.push(gets(&mut session, &viewer, false));
            }
        }
    }
    all
}

#[test]
fn games_of_strangers_tell_nobody_how_many_secrets_another_made() {
    for (game, viewer) in [("decoys", "north"), ("tricks", "ann"), ("wolves", "ada"), ("wolves", "")] {
        let first = played_beside(game, viewer, 0);
        assert!(first.len() > 8, "{game} {viewer}: {}", first.len());
        for variant in if game == "decoys" { 1..3 } else { 1..2 } {
            let other = played_beside(game, viewer, variant);
            for (at, (one, other)) in first.iter().zip(&other).enumerate() {
                let differs = one.split(',').zip(other.split(',')).filter(|(one, other)| one != other);
                let differs: Vec<_> = differs.take(4).collect();
                assert_eq!(one, other, "{game} {viewer} {variant}, look {at}: {differs:?}");
            }
            assert_eq!(first.len(), other.len());
        }
    }
}

/// Four cards, two of them in two hands, and a ward that only its owner knows.
const DUEL: &[(&str, &str)] = &[
    (
        "duel/ruleset.toml",
        "id = \"duel\"\ntitle = \"Duel\"\nversion = \"1.0.0\"\nsummary = \"A duel of cards.\"\nscenario = \"duel\"\n[seats]\nnorth = \"North\"\nsouth = \"South\"\ngm = \"GM\"\n",
    ),
    ("duel/scenarios/duel.toml", "title = \"Duel\"\n"),
    (
        "duel/kinds.luau",
        r#"
local rb = require("@riskbreaker")
return rb.kinds({
	player = {
		title = "seat",
		fields = {
			seat = rb.text({ show = false }),
			held = rb.int({ audience = "seat" }),
			ward = rb.bool({ audience = "seat" }),
			coins = rb.int({ default = 5 }),
		},
	},
})
"#,
    ),
    (
        "duel/maneuvers/strike.luau",
        r#"
local rb = require("@riskbreaker")
return rb.maneuver({
	id = "strike",
	text = "Strike at one who has no ward.",
	when = function(ctx)
		return not ctx.target.ward, "{} has a ward", ctx.target
	end,
	resolve = function(ctx)
		if ctx.actor.held > ctx.target.held and not ctx.target.ward then
			ctx.target:add("coins", -1)
		end
	end,
})
"#,
    ),
    (
        "duel/maneuvers/wait.luau",
        r#"
local rb = require("@riskbreaker")
return rb.maneuver({ id = "wait", text = "Wait.", resolve = function(ctx) ctx.actor:add("coins", 0) end })
"#,
    ),
    (
        "duel/play.luau",
        r#"
local rb = require("@riskbreaker")

local function other(seat)
	for _, player in rb.each("player") do
		if player.seat ~= seat then
			return player
		end
	end
	error("there are two players")
end

return rb.play({
	start = function()
		local cards, held = { 1, 2, 3, 4 }, nil
		for _, seat in { "north", "south" } do
			held, cards = rb.draw(cards)
			rb.spawn("player", { seat = seat, held = held })
		end
		rb.recur("turn", 1, 1)
	end,
	entries = {
		turn = function()
			local ctx = { actor = other("south"), target = other("north") }
			local card = rb.choose({ seat = "north", topic = "card", cards = rb.card_ids, ctx = ctx, default = "wait" })
			card.resolve(ctx)
		end,
	},
	DEAL
})
"#,
    ),
];

fn duel(deal: &str) -> Session {
    let files = DUEL.iter().map(|(path, text)| (*path, text.replace("DEAL", deal)));
    let library = Library::from_files(files);
    let rules = Ruleset::load(&library, "duel").unwrap_or_else(|error| panic!("{error}"));
    start(&rules, 3)
}

/// Sets fields of the two players, and plays on to the question.
fn set(session: &mut Session, values: &[(&str, &str, Value)]) {
    for (name, field, value) in values {
        let entity = session.view().find(name).unwrap();
        session.edit(Edit::Set { entity, field: (*field).into(), value: value.clone() }).unwrap();
        let _ = session.advance().unwrap();
    }
}

/// A `deal` that gives the other seat a card that the seat does not hold, and a ward by this rule.
fn deal(ward: &str) -> String {
    format!(
        "deal = function(seat)
            local held = other(other(seat).seat).held
            local left = {{}}
            for card = 1, 4 do
                if card ~= held then left[#left + 1] = card end
            end
            other(seat):set(\"held\", (rb.draw(left)))
            other(seat):set(\"ward\", {ward})
        end,"
    )
}

#[test]
fn odds_of_hidden_cards_are_exact_over_all_that_can_be_held() {
    let mut session = duel(&deal("rb.roll(\"1d2\", \"a ward?\") == 1"));
    for (own, wins) in [(1, 0), (2, 1), (3, 2), (4, 3)] {
        for (theirs, ward) in [(1, true), (4, false)] {
            set(&mut session, &[("north", "held", Value::Int(own)), ("south", "held", Value::Int(theirs))]);
            set(&mut session, &[("south", "ward", Value::Bool(ward))]);
            let question = session.seat("north").unwrap().asked()[0].clone();
            let place = asked(&session, "north", "card").id;
            let given = vec![Given {
                topic: "card".into(),
                seat: None,
                about: None,
                value: Value::text("strike"),
                once: false,
            }];
            let query = OddsQuery { given, ..OddsQuery::default() };
            let odds = session.seat("north").unwrap().odds(question.id, query.clone()).unwrap();
            assert!(odds.is_exact() && odds.dealt, "{odds:?}");
            let strikes = odds.chance(|outcome| outcome.line().to_lowercase().contains("south coins"));
            assert_eq!(strikes.to_string(), format!("{}", riskbreaker::dice::ratio(wins, 6)));
            let advised = session
                .seat("north")
                .unwrap()
                .advise(question.id, AdviceLimits::within(Duration::from_millis(5)), None)
                .unwrap();
            assert!(advised.dealt && advised.unseen == odds.unseen && advised.answers.len() == 2);
            // The game master's odds are those of the true state.
            let truth = session.seat("gm").unwrap().odds(place, query);
            match ward {
                true => assert!(truth.is_ok_and(|odds| odds.unseen.is_empty() && odds.outcomes.len() == 1)),
                false => assert!(truth.is_ok_and(|odds| odds.outcomes.len() == 1)),
            }
        }
    }
}

#[test]
fn seats_that_share_a_screen_look_ahead_from_the_hand_of_the_one_that_is_asked() {
    // In the order of names, the asked seat is first, and then last.
    for together in [["north", "south"], ["north", "east"]] {
        let mut session = duel(&deal("false"));
        for (own, wins) in [(1, 0), (2, 1), (3, 2), (4, 3)] {
            set(&mut session, &[("north", "held", Value::Int(own)), ("south", "held", Value::Int(1))]);
            let place = asked(&session, "north", "card").id;
            let screen = Viewer::seats(together);
            let number = session.number_for(&screen, place).unwrap();
            let given = vec![Given {
                topic: "card".into(),
                seat: None,
                about: None,
                value: Value::text("strike"),
                once: false,
            }];
            let mut seats = session.seen_by(screen);
            let odds = seats.odds(number, OddsQuery { given, ..OddsQuery::default() }).unwrap();
            assert!(odds.is_exact() && odds.dealt, "{odds:?}");
            let strikes = odds.chance(|outcome| outcome.line().to_lowercase().contains("south coins"));
            assert_eq!(strikes, riskbreaker::dice::ratio(wins, 3), "{together:?}");
            assert!(seats.advise(number, AdviceLimits::within(Duration::from_millis(5)), None).unwrap().dealt);
        }
    }
}

#[test]
fn odds_that_depend_on_a_hidden_field_are_refused_where_the_rules_do_not_deal_it() {
    let mut session = duel("");
    let question = session.seat("north").unwrap().asked()[0].clone();
    let given =
        vec![Given { topic: "card".into(), seat: None, about: None, value: Value::text("strike"), once: false }];
    let query = OddsQuery { given, ..OddsQuery::default() };
    let refusal = session.seat("north").unwrap().odds(question.id, query).unwrap_err();
    assert!(refusal.to_string().contains("depends on what north may not see: held"), "{refusal}");
}

/// The game that asks the first seats the same question together.
fn together(way: &str, is_about: bool, seats: usize) -> Session {
    let rules = Ruleset::load(&together::library(way, is_about, seats), "together");
    start(&rules.unwrap_or_else(|error| panic!("{error}")), 3)
}

#[test]
fn an_answer_that_waits_for_those_of_others_is_done_again_in_secret() {
    let mut session = together(together::ALL, false, 2);
    reply(&mut session, "north", "card", "bold");
    assert_eq!(session.seat("north").unwrap().undo().unwrap().text, "undid card: bold");
    let _ = session.advance().unwrap();
    assert_eq!(session.seat("north").unwrap().redo().unwrap().text, "redid card: bold");
    let _ = session.advance().unwrap();
    for viewer in [Viewer::seat("south"), Viewer::watcher()] {
        let told = session.seen_by(viewer).events_since(0).unwrap();
        let lines: Vec<String> = told.iter().map(|event| event.happening.line()).collect();
        assert!(lines.iter().any(|line| line == "redid a decision of north"), "{lines:?}");
        assert!(!lines.iter().any(|line| line.contains("bold")), "{lines:?}");
    }
}

/// The odds of given answers, computed for a viewer; the sums of all pawns are watched.
fn odds_of_sums(session: &mut Session, viewer: &Viewer, question: &Question, given: Vec<Given>) -> Odds {
    let pawns = (1..).map_while(|n| session.view().find(&format!("Pawn {n}")).ok());
    let watch = pawns.map(|pawn| (pawn, Arc::from("sum"))).collect();
    let query = OddsQuery { given, watch, ..OddsQuery::default() };
    let number = session.number_for(viewer, question.id).unwrap();
    session.seen_by(viewer.clone()).odds(number, query).unwrap()
}

/// The chance that the pawns have these sums, as a fraction.
fn chance_of(odds: &Odds, sums: &[i64]) -> String {
    let sums: Vec<Value> = sums.iter().map(|sum| Value::Int(*sum)).collect();
    odds.chance(|outcome| outcome.watched == sums).to_string()
}

#[test]
fn answers_given_for_one_seat_answer_no_question_of_another() {
    for (is_about, seats) in [(true, 2), (false, 2), (true, 3), (false, 3)] {
        let mut session = together(together::ALL, is_about, seats);
        for at in 0..seats {
            let question = asked(&session, together::SEATS[at], "card");
            for viewer in [Viewer::master(), Viewer::seat(together::SEATS[at])] {
                let replies = [("card".to_owned(), Value::text("bold")), ("push".to_owned(), Value::Bool(true))];
                let given = Given::all(&question, &viewer, replies);
                let odds = odds_of_sums(&mut session, &viewer, &question, given);
                // The others play safe by default. A seat pushes for itself, the game master for everybody.
                let mut sums = vec![if viewer.is_master() { 3 } else { 2 }; seats];
                for (own, chance) in [(1, "3/5"), (5, "2/5")] {
                    sums[at] = own;
                    assert_eq!(chance_of(&odds, &sums), chance, "{is_about} {sums:?} {viewer:?}: {odds:?}");
                }
                assert!(odds.is_exact());
                let is_safe = |one: &Assumed| one.answer == "safe" && one.source == Source::Default;
                assert!(odds.answers.iter().any(is_safe), "{:?}", odds.answers);
            }
        }
    }
}

#[test]
fn the_answer_of_another_seat_is_unknown_until_it_is_revealed() {
    for is_about in [true, false] {
        let mut session = together(together::ALL, is_about, 2);
        reply(&mut session, "south", "card", "bold");
        let question = asked(&session, "north", "card");
        let given = vec![Given::to(&question, Value::text("safe"))];
        for viewer in [Viewer::master(), Viewer::seat("north")] {
            let odds = odds_of_sums(&mut session, &viewer, &question, given.clone());
            assert_eq!(chance_of(&odds, &[2, 2]), "1", "{viewer:?}");
        }
    }
}

#[test]
fn a_given_answer_wins_the_race_for_its_seat() {
    for is_about in [true, false] {
        let mut session = together(together::RACE, is_about, 3);
        for (at, seat) in together::SEATS.into_iter().enumerate() {
            let question = asked(&session, seat, "card");
            let given = vec![Given::to(&question, Value::text("safe"))];
            let odds = odds_of_sums(&mut session, &Viewer::seat(seat), &question, given);
            let mut sums = [0; 3];
            sums[at] = 2;
            assert_eq!(chance_of(&odds, &sums), "1", "{odds:?}");
        }
    }
}

/// Among safe players, a bold pawn wins 2 of 5 games with 4 points, and has none in the others.
#[test]
fn a_hint_plays_games_for_each_seat_that_is_asked_together_with_others() {
    for (is_about, seats) in [(true, 2), (false, 3)] {
        let mut session = together(together::ALL, is_about, seats);
        for seat in &together::SEATS[..seats] {
            let question = asked(&session, seat, "card");
            let advised = session.advise(question.id, AdviceLimits::within(Duration::from_secs(20)), None).unwrap();
            let now = advised.now.expect("games are played by policies alone");
            assert_eq!((now.average, now.wins), (2.0, Some(0)), "{seat}");
            for one in &advised.answers {
                let played = one.played.unwrap_or_else(|| panic!("{seat} {}: no game was played", one.text));
                let (rate, margin) = played.win_rate().unwrap();
                match one.text.as_str() {
                    "safe" => assert_eq!((played.average, rate), (2.0, 0.0), "{seat}"),
                    _ => {
                        assert!((rate - 0.4).abs() <= 2.0 * margin, "{seat}: {rate}, give or take {margin}");
                        assert!((played.average - 4.0 * rate).abs() < 1e-6, "{seat}: {played:?}");
                    }
                }
                // Its answer does not apply to the others, whose points do not depend on dice.
                let odds = one.odds.as_ref().unwrap();
                let own = format!("Pawn {}", 1 + together::SEATS.iter().position(|known| known == seat).unwrap());
                let mut others = odds.fields.iter().filter(|field| *field.title != *own);
                assert!(others.all(|field| field.to.len() == 1), "{seat} {}: {:?}", one.text, odds.fields);
            }
        }
    }
}

/// South has chosen to be bold, which nobody else has seen: not even the hint for the game master uses it.
#[test]
fn a_hint_does_not_know_an_unrevealed_answer() {
    let mut session = together(together::ALL, true, 2);
    reply(&mut session, "south", "card", "bold");
    let question = asked(&session, "north", "card").id;
    for viewer in [Viewer::master(), Viewer::seat("north")] {
        let question = session.number_for(&viewer, question).unwrap();
        let advised =
            session.seen_by(viewer).advise(question, AdviceLimits::within(Duration::from_secs(20)), None).unwrap();
        let safe = advised.answers.iter().find(|one| one.text == "safe").unwrap();
        let odds = safe.odds.as_ref().unwrap();
        assert!(odds.fields.iter().all(|field| *field.title != *"Pawn 2" || field.to.len() == 1), "{:?}", odds.fields);
        assert_eq!(advised.now.unwrap().wins, Some(0));
    }
}

#[test]
fn a_hint_plays_games_for_each_seat_of_a_race() {
    let mut session = together(together::RACE, false, 3);
    for seat in together::SEATS {
        let question = asked(&session, seat, "card");
        let advised = session.advise(question.id, AdviceLimits::within(Duration::from_secs(20)), None).unwrap();
        let safe = advised.answers.iter().find(|one| one.text == "safe").unwrap();
        let played = safe.played.unwrap_or_else(|| panic!("{seat}: no game was played"));
        assert_eq!((played.average, played.wins), (2.0, Some(played.games)), "{seat}");
    }
}

#[test]
fn a_hint_ends_early_if_no_game_can_be_played_to_its_end() {
    // Without a policy and a default, nothing decides whether a pawn pushes.
    let mut files = together::files(together::ALL, false, 2);
    files.retain(|(path, _)| !path.contains("policies"));
    for (_, text) in &mut files {
        *text = text.replace("\"push\", nil, false", "\"push\"");
    }
    let rules = Ruleset::load(&Library::from_files(files), "together").unwrap_or_else(|error| panic!("{error}"));
    let mut session = start(&rules, 3);
    let question = asked(&session, "south", "card").id;
    // A hint that does not end early takes an hour here.
    let advised = session.advise(question, AdviceLimits::within(Duration::from_secs(3600)), None).unwrap();
    assert!(advised.now.is_none() && advised.answers.iter().all(|one| one.played.is_none()));
}

#[test]
fn an_option_is_open_or_greyed_by_what_its_seat_knows() {
    let mut session = duel("");
    let before = asked(&session, "north", "card");
    set(&mut session, &[("south", "ward", Value::Bool(true))]);
    assert_eq!(asked(&session, "north", "card").ask, before.ask, "a hidden ward is not told");
    let text = gets(&mut session, &Viewer::seat("north"), false);
    assert!(!text.contains("has a ward"), "{text}");
    // It counts nevertheless.
    let coins = |session: &Session| session.view().field(session.view().find("south").unwrap(), "coins").cloned();
    set(&mut session, &[("north", "held", Value::Int(4)), ("south", "held", Value::Int(1))]);
    reply(&mut session, "north", "card", "strike");
    assert_eq!(coins(&session), Some(Value::Int(5)));
    set(&mut session, &[("south", "ward", Value::Bool(false))]);
    reply(&mut session, "north", "card", "strike");
    assert_eq!(coins(&session), Some(Value::Int(4)));
}

/// A client that keeps a log from the stream only.
#[derive(Default)]
struct Client {
    revision: u64,
    log: Vec<SeatEvent>,
}

impl Client {
    fn follow(&mut self, session: &mut Session, viewer: &Viewer) {
        for event in session.seen_by(viewer.clone()).events_since(self.revision).unwrap() {
            assert_eq!(event.revision, self.revision + 1, "revisions have no holes");
            self.revision = event.revision;
            match &event.happening {
                Happening::Back { to, .. } => self.log.retain(|told| told.revision <= *to),
                Happening::Aside { .. } => {}
                _ => self.log.push(event),
            }
        }
    }
}

#[test]
fn a_client_that_applies_the_stream_has_the_log_after_any_steps() {
    for (folder, id) in [("tests/rulesets", "bluff"), ("tests/rulesets", "tug"), ("rulesets", "riskbreaker-0.0.3")] {
        let rules = load(folder, id);
        for seed in 1..=3 {
            let (mut session, mut chance) = (start(&rules, seed), chance(seed));
            let viewers: Vec<Viewer> = players(&session).into_iter().chain([Viewer::master()]).collect();
            let mut clients: Vec<Client> = viewers.iter().map(|_| Client::default()).collect();
            for step in 0..60 {
                match chance.next() % 9 {
                    0 | 1 => drop(session.undo()),
                    2 => drop(session.redo()),
                    3 => drop(session.edit(Edit::Say { text: format!("step {step}") })),
                    4 => {
                        let acts = session.free_acts();
                        if let Some(act) = acts.iter().find(|act| act.enabled) {
                            session.act(&act.seat.clone(), &act.name.clone()).unwrap();
                        }
                    }
                    _ => {
                        if let Some(question) = session.questions().first().cloned() {
                            let answer = any_answer(&question, chance.next());
                            session.answer(question.id, answer).unwrap();
                        }
                    }
                }
                // Some readers read between a step and its effects, some rarely.
                if chance.next().is_multiple_of(3) {
                    clients[0].follow(&mut session, &viewers[0]);
                }
                if !matches!(session.advance().unwrap(), Step::Ask) {
                    break;
                }
                for (viewer, client) in viewers.iter().zip(&mut clients) {
                    if chance.next().is_multiple_of(2) {
                        client.follow(&mut session, viewer);
                    }
                }
            }
            for (viewer, client) in viewers.iter().zip(&mut clients) {
                client.follow(&mut session, viewer);
                let seen = |audience: &Audience| viewer.sees(audience);
                let log: Vec<Happening> = session
                    .log()
                    .into_iter()
                    .filter(|event| seen(&event.audience))
                    .map(|event| event.happening)
                    .collect();
                let own: Vec<Happening> = client.log.iter().map(|event| event.happening.clone()).collect();
                assert_eq!(own, log, "{id} {seed} {}", viewer.words());
                assert_eq!(client.log, session.seen_by(viewer.clone()).log());
            }
        }
    }
}

#[test]
fn an_audience_that_is_no_seat_is_refused_with_the_nearest() {
    let load = |from: &str, to: &str| {
        let files = DUEL.iter().map(|(path, text)| (*path, text.replace("DEAL", "").replace(from, to)));
        Ruleset::load(&Library::from_files(files), "duel").map(|_| ()).unwrap_err().to_string()
    };
    let error = load("ward = rb.bool({ audience = \"seat\" })", "ward = rb.bool({ audience = \"nroth\" })");
    assert!(
        error.contains("has the audience `nroth`, which is neither a field nor a seat (did you mean `north`?)"),
        "{error}"
    );
    let error = load("title = \"seat\",", "title = \"seat\", audience = { \"gm\", \"suoth\" },");
    assert!(error.contains("the kind `player` has the audience `suoth`"), "{error}");
}

/// Values that no input form would give.
fn wild_values() -> Vec<Value> {
    let nested = |wrap: fn(Value) -> Value| (0..20_000).fold(Value::Int(1), |inner, _| wrap(inner));
    let mut values: Vec<Value> =
        [i64::MIN, i64::MAX, 1 << 53, (1 << 53) + 1, -1, 0, 1, 1 << 31].into_iter().map(Value::Int).collect();
    values.extend([(i64::MIN, 1), (1, i64::MIN), (i64::MIN, i64::MIN), (1, 0)].map(|(n, d)| Value::ratio(n, d).into()));
    values.extend([Value::Ratio(i64::MIN, -1), Value::Ratio(1, 0), Value::Ratio(0, 0), Value::None]);
    values.extend(["", " ", "\0\u{1b}[2J\n", "a\u{202e}b"].map(Value::text));
    values.extend([Value::text("x".repeat(1 << 20)), Value::Entity(EntityId(0)), Value::Entity(EntityId(u32::MAX))]);
    values.extend([nested(|inner| Value::list([inner])), nested(|inner| Value::map([("map", inner)]))]);
    values.push(Value::list((0..50_000).map(Value::Int)));
    values.push(Value::map((0..5_000).map(|n| (n.to_string(), Value::Int(n)))));
    values
}

fn wild_answers() -> Vec<Answer> {
    let id: std::sync::Arc<str> = "north".into();
    vec![
        Answer::Choice("".into()),
        Answer::Choice("x".repeat(1 << 20).into()),
        Answer::Choices(vec![id.clone(); 10_000]),
        Answer::Order(vec![id.clone(); 10_000]),
        Answer::Number(i64::MIN),
        Answer::Number(i64::MAX),
        Answer::Allotment(vec![(id.clone(), i64::MAX), (id.clone(), i64::MAX)]),
        Answer::Allotment(vec![(id.clone(), i64::MIN), (id, i64::MIN)]),
        Answer::Line("\0\n".repeat(100_000)),
        Answer::Faces(vec![0, u32::MAX]),
        Answer::Faces(vec![1; 100_000]),
    ]
}

/// Any value from an embedder is accepted or refused; it never ends the process, the game or another game.
#[test]
fn no_value_of_an_embedder_causes_a_panic() {
    // Dropping a deeply nested value recurses as deeply, so these are never dropped.
    let values: &'static [Value] = Box::leak(wild_values().into_boxed_slice());
    let rules = load("tests/rulesets", "auction");
    let mut session = start(&rules, 7);
    let witness = start(&rules, 7);
    let ids = [EntityId(0), EntityId(2), EntityId(u32::MAX)];
    for value in values {
        for entity in ids {
            for field in ["coins", "worth", "limit", "favourite", "name", "pact", "", "no such"] {
                let _ = session.edit(Edit::Set { entity, field: field.into(), value: value.clone() });
                let _ = session.advance().unwrap();
            }
            let _ = session.derived(entity, "wealth", std::slice::from_ref(value));
            let _ = session.seat("north").unwrap().derived(entity, "nerve", &[value.clone(), value.clone()]);
        }
        let _ = session.set_switch("no such", value.clone());
        for question in session.questions().to_vec() {
            let _ = question.exact_answer(value);
            let _ = session.reply(&[(question.topic.to_string(), value.clone())]);
            let given = vec![Given {
                topic: question.topic.to_string(),
                seat: None,
                about: None,
                value: value.clone(),
                once: false,
            }];
            let limits = Limits { ways: 2, samples: 2, points: 0, bytes: 0, work: 0 };
            let query = OddsQuery { given, against: Some(value.clone()), limits, ..OddsQuery::default() };
            let _ = session.odds_at(question.id, query.clone());
            let mut south = session.seat("south").unwrap();
            let own = south.questions().first().map_or(question.id, |own| own.id);
            let _ = south.odds(own, query);
        }
        let _ = rules.check_sheet(value);
        if let Ok(mut begun) = Session::start(&rules, Setup::table(value.clone()).switch("", value.clone())) {
            let _ = begun.advance();
        }
        while session.undo().is_ok() {}
        let _ = session.advance().unwrap();
    }
    let words = ["", "\0", &"x".repeat(1 << 20), "../..", "gm", "north"];
    for word in words {
        let _ = (session.act(word, word), session.show(word, word), session.seat(word).is_ok());
        let _ = (session.set_seat(word, Driver::Policy(word.into())), session.switch(word));
        let _ = (session.view().find(word), rules.card(word), Ruleset::load(&library("tests/rulesets"), word).is_ok());
        let _ = Session::load(&library("tests/rulesets"), word).is_ok();
        for entity in ids {
            let _ = (session.why(entity, word), session.sheet(entity), session.overview(entity));
        }
    }
    for question in session.questions().to_vec() {
        for answer in wild_answers() {
            let _ = (question.check(&answer), question.tell(&answer), answer.to_value());
            if session.answer(question.id, answer).is_ok() {
                let _ = session.advance().unwrap();
                session.undo().unwrap();
                let _ = session.advance().unwrap();
            }
        }
        for (action, ordinal) in [(0, 0), (u32::MAX, u32::MAX)] {
            let id = riskbreaker::QuestionId { action, ordinal };
            assert!(session.answer(id, Answer::Confirm(true)).is_err());
            assert!(session.suggest(id, "careful").is_err());
        }
    }
    assert!(session.seat("north").unwrap().events_since(u64::MAX).is_err());
    let _ = (session.advance_by(0).unwrap(), session.advance_by(u64::MAX).unwrap());
    let _ = session.advance_until(std::time::Instant::now()).unwrap();
    let _ = session.edit(Edit::Face { ordinal: u32::MAX, faces: vec![0, u32::MAX] });
    assert!(session.push_faces(&[0, u32::MAX, 7]).is_err());
    session.push_faces(&[u32::MAX, 7]).unwrap();
    assert_eq!(session.clear_faces(), 2);
    session.push_faces(&[u32::MAX, 7]).unwrap();
    for _ in 0..6 {
        for question in session.questions().to_vec() {
            let _ = session.answer(question.id, any_answer(&question, 3));
        }
        if let Step::Fault(_) = session.advance().unwrap() {
            break;
        }
    }
    // The neighbour game is unaffected.
    assert_eq!(witness.state_bytes(), start(&rules, 7).state_bytes());
}

/// A save whose numbers are replaced one after the other by extreme ones is refused, or plays.
#[test]
fn a_save_with_extreme_numbers_causes_no_panic() {
    let library = library("tests/rulesets");
    let mut session = bluff(3);
    reply(&mut session, "gm", "trap", false);
    let text = session.save();
    let digits = |c: char| c.is_ascii_digit();
    let mut at = 0;
    let mut tried = 0;
    while let Some(from) = text[at..].find(digits).map(|found| at + found) {
        let end = text[from..].find(|c| !digits(c)).map_or(text.len(), |found| from + found);
        for number in ["4294967295", "18446744073709551615", "9223372036854775807", "-9223372036854775808"] {
            let changed = format!("{}{number}{}", &text[..from], &text[end..]);
            if let Ok(mut loaded) = Session::load(&library, &changed) {
                let _ = loaded.advance();
                let _ = (loaded.undo(), loaded.advance());
            }
            tried += 1;
        }
        at = end;
    }
    assert!(tried > 40, "{tried}");
}

#[test]
fn dice_take_any_number() {
    use riskbreaker::dice::{Dice, DiceRng};
    let mut rng = DiceRng::stream(u64::MAX, u64::MAX);
    for position in [0, 1, u64::MAX - 1, u64::MAX] {
        rng.set_position(position);
        for sides in [0, 1, u32::MAX] {
            assert!(rng.face(sides) >= 1);
        }
    }
    for text in ["", "0", "d0", "99999999999d9", "9d99999999999", "d6*99999999999999999999", "-9223372036854775808"] {
        let _ = Dice::parse(text);
    }
    let _ = Dice::parse(&"1d6+".repeat(100_000));
    let distribution = Dice::parse("3d6").unwrap().distribution().unwrap();
    for low in [i64::MIN, 0, i64::MAX] {
        for high in [i64::MIN, 10, i64::MAX] {
            let _ = distribution.between(low, high);
        }
        let _ =
            (distribution.at_least(low), distribution.at_most(low), distribution.below(low), distribution.chance(low));
    }
    assert!(Dice::parse("2d6").unwrap().roll_faces(&[0, u32::MAX]).is_err());
}

/// The rolls of an action before it asks north, in their order, and true if odds for north may begin before the first
/// hidden one.
#[test]
fn odds_keep_the_dice_that_the_seat_has_seen() {
    let dark = "rb.roll({ \"1d6\", audience = \"south\" }, \"south peeks\")\n";
    let open = "open = rb.roll(\"1d6\", \"everybody sees\")\n";
    let (drawn, own) = ("local card = rb.draw({ 1, 2, 3 })\n", "nora:set(\"own\", card)\n");
    let cases = [
        (format!("{dark}{open}"), false),
        (format!("{open}{dark}"), true),
        (dark.to_owned(), true),
        (drawn.to_owned(), true),
        (format!("{drawn}{own}"), false),
        (format!("{dark}rb.say(\"it grows dark\")\n"), false),
        (open.to_owned(), true),
    ];
    for (rolls, may) in cases {
        let play = format!(
            "local rb = require(\"@riskbreaker\")\nreturn rb.play({{ start = function() rb.spawn(\"player\", {{ name = \"Nora\" }}) rb.recur(\"turn\", 1, 1) end, entries = {{\n\
             turn = function()\nlocal nora = rb.first(\"player\")\nlocal open = 6\n{rolls}\
             if rb.confirm({{ seat = \"north\", topic = \"bet\", about = nora, default = false }}) then nora:add(\"coins\", if open == 6 then 1 else -1) end\n\
             end }}, value = function(seat) return rb.first(\"player\").coins end }})"
        );
        let kinds = "local rb = require(\"@riskbreaker\")\nreturn rb.kinds({ player = { title = \"name\", fields = { name = rb.text(), \
                     coins = rb.int(), own = rb.int({ audience = \"north\" }), dark = rb.int({ audience = \"south\" }) } } })";
        let manifest = "id = \"dim\"\ntitle = \"Dim\"\nversion = \"1.0.0\"\nsummary = \"Dim.\"\nscenario = \"s\"\n[seats]\nnorth = \"North\"\nsouth = \"South\"\n";
        let files = [
            ("dim/ruleset.toml", manifest),
            ("dim/scenarios/s.toml", "title = \"s\"\n"),
            ("dim/kinds.luau", kinds),
            ("dim/play.luau", play.as_str()),
        ];
        let rules = Ruleset::load(&Library::from_files(files), "dim").unwrap_or_else(|error| panic!("{error}"));
        let mut session = start(&rules, 3);
        let question = asked(&session, "north", "bet");
        let given = vec![Given::to(&question, true.into())];
        let query = |viewer| OddsQuery { given: given.clone(), viewer, ..OddsQuery::default() };
        // For the game master the rolls are known: one outcome.
        let all = session.odds_at(question.id, query(None)).unwrap();
        assert_eq!((all.is_exact(), all.outcomes.len()), (true, 1), "{rolls}");
        for viewer in [Viewer::seat("north"), Viewer::watcher()] {
            let odds = session.odds_at(question.id, query(Some(viewer.clone())));
            let has_seen = may || (viewer == Viewer::watcher() && rolls.contains(own));
            match odds {
                Ok(odds) => assert_eq!((has_seen, odds.is_exact(), odds.outcomes.len()), (true, true, 1), "{rolls}"),
                Err(refusal) => {
                    assert!(!has_seen, "{rolls}: {refusal}");
                    assert!(refusal.to_string().contains("would be rolled anew"), "{refusal}");
                }
            }
        }
        let number = session.number_for(&Viewer::seat("north"), question.id).unwrap();
        let advised =
            session.seat("north").unwrap().advise(number, AdviceLimits::within(Duration::from_millis(50)), None);
        assert_eq!(advised.is_ok(), may, "{rolls}");
    }
}

/// A fight of 0.0.3 at the turn of A, with these dice.
fn trappers(dice: &[u32], open_traps: &str) -> Session {
    let rules = load("rulesets", "riskbreaker-0.0.3");
    let list = |items: &[&str]| Value::list(items.iter().map(|item| Value::text(*item)));
    let scenario = Value::map([
        ("us", list(&["A = W5: Set Trap; P5: Scout; idle", "B = M4: Sword"])),
        ("them", list(&["X = M4: Sword; P5: Observation", "Y = M4: Sword"])),
        ("advantage", Value::list([12, 0].map(Value::Int))),
        ("turns", list(&["A", "X", "B", "Y"])),
    ]);
    let mut setup = Setup { scenario: Scenario::Table(scenario), ..Setup::default() };
    setup.dice = DiceSource::Written(dice.to_vec());
    setup.switches = BTreeMap::from([("open_traps".to_string(), Value::text(open_traps))]);
    for seat in rules.seats().keys() {
        setup = setup.seat(seat, Driver::Human);
    }
    let mut session = Session::start(&rules, setup).unwrap();
    let _ = session.advance().unwrap();
    session
}

/// The answers for laying a trap in [`trappers`], with a mark in each text.
const LAYS: [(&str, &str); 8] = [
    ("card", "create_trigger"),
    ("skill", "Scout"),
    ("state", "enter"),
    ("by", "anyone"),
    ("place", "MARKED CELLAR"),
    ("condition", "MARKED TRAP"),
    ("damage", "SD 2"),
    ("extras", "none"),
];

/// Viewers that may not know of the trap get nothing of it: while it is laid, afterwards, after an undo or load, and
/// after changing to other rules and back.
#[test]
fn a_trap_of_0_0_3_is_in_no_message_to_others() {
    let words = ["MARKED", "rolls Scout", "what sets it off", "create_trigger with Scout", "Create Trigger (RB3"];
    let mut session = trappers(&[3, 7], "off");
    let hides = |session: &mut Session, when: &str| {
        for viewer in [Viewer::seat("foes"), Viewer::watcher()] {
            let text = gets(session, &viewer, true);
            for word in words {
                assert!(!text.contains(word), "{} sees {word} {when}: {text}", viewer.words());
            }
        }
    };
    for (topic, answer) in LAYS {
        reply(&mut session, "players", topic, answer);
        hides(&mut session, &format!("after {topic}"));
    }
    reply(&mut session, "players", "victim", "whoever");
    hides(&mut session, "when it is laid");
    let own = gets(&mut session, &Viewer::seat("players"), false);
    assert!(own.contains("MARKED TRAP") && own.contains("MARKED CELLAR") && own.contains("rolls Scout"), "{own}");
    // Its roll is a secret that the players have seen, so the game master undoes it.
    let refused = session.seat("players").unwrap().undo().unwrap_err();
    assert_eq!(refused.kind(), "stands", "{refused}");
    let told = session.seen_by(Viewer::seat("foes")).events_since(0).unwrap().len();
    session.seat("gm").unwrap().undo().unwrap();
    let _ = session.advance().unwrap();
    hides(&mut session, "when it is undone");
    assert!(session.seen_by(Viewer::seat("foes")).events_since(0).unwrap().len() >= told);
    session.redo().unwrap();
    let _ = session.advance().unwrap();
    hides(&mut session, "when it is redone");
    let library = library("rulesets");
    session = Session::load(&library, &session.save()).unwrap();
    let _ = session.advance().unwrap();
    hides(&mut session, "in a saved game");
    for id in ["riskbreaker-0.0.1", "riskbreaker-0.0.3"] {
        let rules = load("rulesets", id);
        session.change_rules(&rules).unwrap();
        let mut turns = 0;
        while session.ruleset().id() != id && turns < 40 {
            let question = session.questions()[0].clone();
            session.answer(question.id, any_answer(&question, 0)).unwrap();
            if let Step::Fault(_) = session.advance().unwrap() {
                session.push_faces(&[9; 8]).unwrap();
                session.remedy(riskbreaker::Remedy::Retry).unwrap();
                let _ = session.advance().unwrap();
            }
            turns += 1;
        }
        assert_eq!(session.ruleset().id(), id);
        hides(&mut session, &format!("under {id}"));
    }
    assert!(gets(&mut session, &Viewer::master(), false).contains("MARKED TRAP"));
}

/// The switch makes traps public.
#[test]
fn open_traps_of_0_0_3_are_seen_by_everybody() {
    let mut session = trappers(&[3], "on");
    for (topic, answer) in LAYS {
        reply(&mut session, "players", topic, answer);
    }
    reply(&mut session, "players", "victim", "whoever");
    for viewer in [Viewer::seat("foes"), Viewer::watcher()] {
        let text = gets(&mut session, &viewer, false);
        assert!(
            text.contains("MARKED TRAP") && text.contains("rolls Scout") && text.contains("Create Trigger"),
            "{text}"
        );
    }
}

/// Two seats at one screen have seen what one of them was shown; another ruleset may protect more, or less.
#[test]
fn a_decision_that_showed_a_secret_at_a_shared_screen_cannot_be_undone() {
    let library = library("tests/rulesets");
    let with = |stands: &str| {
        let play = std::fs::read_to_string("tests/rulesets/peeks/play.luau").unwrap();
        let play = play.replace("return rb.play({", &format!("return rb.play({{ stands = \"{stands}\","));
        let files = [("peeks/play.luau", play.as_str())];
        let mut own: Vec<(String, String)> = Vec::new();
        for file in ["ruleset.toml", "RULES.md", "kinds.luau", "scenarios/start.toml"] {
            let text = std::fs::read_to_string(format!("tests/rulesets/peeks/{file}")).unwrap();
            own.push((format!("peeks/{file}"), text));
        }
        let all = own.iter().map(|(path, text)| (path.as_str(), text.as_str())).chain(files);
        Ruleset::load(&Library::from_files(all), "peeks").unwrap_or_else(|error| panic!("{error}"))
    };
    let try_undo = |rules: &Arc<Ruleset>, act: &str, viewer: Viewer| {
        let mut session = start(rules, 5);
        reply(&mut session, "a", "card", act);
        session.seen_by(viewer).undo().map_err(|refusal| refusal.kind()).map(|_| ())
    };
    let usual = Ruleset::load(&library, "peeks").unwrap();
    let both = || Viewer::seats(["a", "b"]);
    for (act, refused) in [("whisper", true), ("look", true), ("take", true), ("roll", false), ("plan", false)] {
        let expected = if refused { Err("stands") } else { Ok(()) };
        assert_eq!(try_undo(&usual, act, Viewer::seat("a")), expected, "{act}");
        assert_eq!(try_undo(&usual, act, both()), expected, "{act}");
        assert_eq!(try_undo(&usual, act, Viewer::master()), Ok(()), "{act}");
        assert_eq!(try_undo(&with("nothing"), act, both()), Ok(()), "{act}");
        assert_eq!(try_undo(&with("everything"), act, both()), Err("stands"), "{act}");
    }
    assert_eq!(try_undo(&with("dice"), "roll", both()), Err("stands"));
    assert_eq!(try_undo(&with("dice"), "pass", both()), Ok(()));
    // What was shown before a save is still protected after loading it.
    let mut session = start(&usual, 5);
    reply(&mut session, "a", "card", "look");
    let mut session = Session::load(&library, &session.save()).unwrap();
    let _ = session.advance().unwrap();
    assert_eq!(session.seat("a").unwrap().undo().unwrap_err().kind(), "stands");
    // A free act does not go before an action that has shown its seat a secret.
    let mut setup = Setup::default().seed(5);
    setup.switches = BTreeMap::from([("lead".to_string(), Value::text("hint"))]);
    let mut session = Session::start(&usual, setup.seat("a", Driver::Human).seat("b", Driver::Human)).unwrap();
    let _ = session.advance().unwrap();
    session.seat("a").unwrap().act("a", "dig").unwrap();
    let _ = session.advance().unwrap();
    let coins = |session: &Session| {
        let view = session.view();
        let ann = view.find("Ann").unwrap();
        view.field(ann, "coins").cloned()
    };
    assert_eq!(coins(&session), Some(Value::Int(5)));
    reply(&mut session, "a", "card", "pass");
    assert_eq!(coins(&session), Some(Value::Int(6)));
}

/// Bids of two seats, at once or in turn, both sealed; the higher one wins two coins and pays its bid.
fn sealed_bids(at_once: bool) -> Arc<Ruleset> {
    let bid = |seat: &str| {
        format!(
            "{{ ask = \"number\", seat = \"{seat}\", topic = \"bid\", min = 0, max = 3, default = 0, sealed = true }}"
        )
    };
    let ask = match at_once {
        true => format!("local bids = rb.all({{ {}, {} }})", bid("north"), bid("south")),
        false => format!("local bids = {{ rb.number({}), rb.number({}) }}", bid("north"), bid("south"))
            .replace("ask = \"number\", ", ""),
    };
    let play = format!(
        "local rb = require(\"@riskbreaker\")
return rb.play({{
    start = function()
        rb.spawn(\"player\", {{ seat = \"north\" }}) rb.spawn(\"player\", {{ seat = \"south\" }})
        rb.recur(\"auction\", 1, 1)
    end,
    value = function(seat) return rb.first(\"player\", {{ seat = seat }}).coins end,
    entries = {{
        auction = function()
            {ask}
            for at, player in rb.each(\"player\") do
                if bids[at] > bids[3 - at] then player:add(\"coins\", 2 - bids[at]) end
            end
        end,
    }},
}})"
    );
    let files = [
        (
            "sealed/ruleset.toml",
            "id = \"sealed\"\ntitle = \"Sealed\"\nversion = \"1.0.0\"\nscenario = \"s\"\n[seats]\nnorth = \"North\"\nsouth = \"South\"\n",
        ),
        ("sealed/scenarios/s.toml", "title = \"S\"\n"),
        (
            "sealed/kinds.luau",
            "local rb = require(\"@riskbreaker\")\nreturn rb.kinds({ player = { title = \"seat\", fields = { seat = rb.text(), coins = rb.int({ show = false }) } } })",
        ),
        ("sealed/play.luau", play.as_str()),
    ];
    Ruleset::load(&Library::from_files(files), "sealed").unwrap_or_else(|error| panic!("{error}"))
}

/// No look-ahead knows the sealed bid of another seat: not that of the seat, nor of both at one screen, nor of the game
/// master. A seat knows its own bid.
#[test]
fn odds_and_hints_do_not_use_sealed_answers_of_another_seat() {
    for at_once in [true, false] {
        let rules = sealed_bids(at_once);
        let mut all: Vec<Vec<String>> = Vec::new();
        for bid in [0, 1, 3] {
            let mut session = start(&rules, 1);
            reply(&mut session, "north", "bid", bid);
            let question = asked(&session, "south", "bid");
            let mut found = Vec::new();
            for viewer in [Viewer::master(), Viewer::seat("south"), Viewer::seats(["north", "south"])] {
                for answering in [Answering::Default, Answering::Best] {
                    let given = vec![Given::to(&question, Value::Int(2))];
                    let viewer = Some(viewer.clone());
                    let query = OddsQuery { given, viewer, answering: answering.clone(), ..OddsQuery::default() };
                    let odds = session.odds_at(question.id, query).unwrap();
                    let told = odds
                        .answers
                        .iter()
                        .any(|one| &*one.topic == "bid" && one.answer == "0" && one.source == Source::Default);
                    assert!(told, "{at_once}: {:?}", odds.answers);
                    found.extend(odds.lines());
                }
            }
            let advised = session
                .advise(question.id, AdviceLimits { games: 8, ..AdviceLimits::within(Duration::from_secs(20)) }, None)
                .unwrap();
            let mut hints: Vec<String> =
                advised.answers.iter().flat_map(|one| one.odds.as_ref().unwrap().lines()).collect();
            hints.sort();
            found.extend(hints);
            all.push(found);
            // The answer itself is kept.
            reply(&mut session, "south", "bid", 2);
            let south = session.view().find("south").unwrap();
            assert_eq!(session.view().field(south, "coins"), Some(&Value::Int(0)));
        }
        assert!(all.iter().all(|found| *found == all[0]), "{at_once}: {all:?}");
        if at_once {
            let mut session = start(&rules, 1);
            reply(&mut session, "south", "bid", 3);
            let question = asked(&session, "north", "bid");
            let odds = session.odds_at(question.id, OddsQuery::default()).unwrap();
            assert!(odds.lines().iter().all(|line| !line.contains("-1")), "{:?}", odds.lines());
        }
    }
}

/// Scripts read in `scenario.seats` who plays; a game by an older version of the program keeps what its scripts read.
#[test]
fn scenario_seats_include_the_seats_of_the_setup() {
    let rules = load("rulesets", "rbf");
    let offers_pushes = |setup: Setup| {
        let mut session = Session::start(&rules, setup).unwrap();
        let _ = session.advance().unwrap();
        let view = session.view();
        let combat = view.of_kind("combat").next().unwrap();
        view.field(combat, "no_pushes") == Some(&Value::Bool(false))
    };
    assert!(!offers_pushes(Setup::scenario("raid")));
    assert!(offers_pushes(Setup::scenario("raid").seat("gm", Driver::Human)));
    let old = Setup { seats_in_scenario: false, ..Setup::scenario("raid").seat("gm", Driver::Human) };
    assert!(!offers_pushes(old.clone()));
    let mut saved = serde_json::to_value(&old).unwrap();
    saved.as_object_mut().unwrap().remove("seats_in_scenario");
    assert_eq!(serde_json::from_value::<Setup>(saved).unwrap(), old);
}
