//! Profiles for clients that draw a game: numbers, sides, positions, the order of play. Each viewer gets only what it
//! may see.

use std::fs;

use riskbreaker::Library;
use riskbreaker::serve::{Connection, Host};
use serde_json::{Value as Json, json};

use super::{done, saves};

const RULES: &[(&str, &str)] = &[
    (
        "lookout/ruleset.toml",
        "id = \"lookout\"\ntitle = \"Lookout\"\nversion = \"1.0.0\"\nscenario = \"s\"\n[seats]\ngm = \"The referee\"\n\
         left = \"Left\"\nright = \"Right\"\n",
    ),
    ("lookout/scenarios/s.toml", "title = \"S\"\n"),
    (
        "lookout/kinds.luau",
        r#"
local rb = require("@riskbreaker")
return rb.kinds({
	tower = { title = "name", fields = { name = rb.text() } },
	scout = {
		title = "name",
		audience = "known_to",
		seat = "seat",
		side = { by = "side", words = { l = "Lefties", n = "" } },
		numbers = {
			{ "hp", of = "max_hp", unit = "points" },
			{ "armour", of = 9 },
			{ "threat", label = "Threat", harm = true },
			{ "luck", nonzero = true },
		},
		position = { x = "x", y = "y", place = "tower", unit = "m", per = 10 },
		fields = {
			name = rb.text(),
			known_to = rb.list(rb.text(), { default = { "everybody" }, show = false }),
			seat = rb.text({ show = false }),
			side = rb.enum({ "l", "r", "n" }, { show = false }),
			hp = rb.int({ label = "HP", audience = "seat" }),
			max_hp = rb.int({ show = false, audience = "nobody" }),
			armour = rb.int(),
			luck = rb.int(),
			x = rb.int({ audience = "seat", show = false }),
			y = rb.int({ audience = "seat", show = false }),
			tower = rb.ref("tower"),
			acted = rb.bool({ show = false }),
		},
		derived = {
			threat = function(self)
				return self.hp * 2
			end,
		},
		sheet = function(self)
			return { { number = "hp" }, { "Armour", number = "armour" }, { "Boots", "worn" }, { "Danger", "some", number = "threat" } }
		end,
	},
})
"#,
    ),
    (
        "lookout/play.luau",
        r#"
local rb = require("@riskbreaker")
return rb.play({
	start = function()
		local tower = rb.spawn("tower", { name = "Old Tower" })
		rb.spawn("scout", { name = "Ann", seat = "left", side = "l", hp = 71701, max_hp = 82802, armour = 3, x = 93905, y = -20, tower = tower })
		rb.spawn("scout", { name = "Bob", seat = "right", side = "r", hp = 64604, max_hp = 55505, luck = 2, x = 46415, tower = tower })
		rb.spawn("scout", { name = "MARKED", seat = "right", side = "n", known_to = { "right" }, hp = 37307, max_hp = 28208, x = 19105 })
		rb.schedule("turn", { 1 })
	end,
	entries = {
		turn = function()
			local card = rb.choose({ seat = "left", topic = "what", why = "what now?", options = { "look", "climb" } })
			for _, scout in rb.each("scout", { seat = "left" }) do
				scout:set("acted", true)
				if card == "climb" then
					rb.at_least("2d6+1d4+3", 9, "{} climbs", scout)
					scout:add("hp", -1)
				end
			end
			rb.schedule("turn", { 1 })
		end,
	},
	order = function(_seat)
		local turns = {}
		for at, scout in rb.each("scout") do
			table.insert(turns, { who = scout, state = if scout.acted then "acted" else "now", at = scout.armour, note = scout.seat })
		end
		return { label = "Watch 1", turns = turns }
	end,
})
"#,
    ),
];

pub fn library(name: &str, files: &[(&str, &str)]) -> Library {
    let folder = saves(name);
    for (file, text) in files {
        let path = folder.join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    Library::open(&folder).unwrap()
}

fn at_lookout(name: &str) -> (Host, Connection) {
    let host = Host::new(library(name, RULES));
    let operator = host.connect(true);
    done(&operator, "table.new", json!({ "table": "a", "ruleset": "lookout", "seed": 3 }));
    (host, operator)
}

fn view(operator: &Connection, role: &str) -> Json {
    let params = match role {
        "game_master" | "watcher" => json!({ "table": "a", "role": role }),
        seat => json!({ "table": "a", "role": "seat", "seat": seat }),
    };
    done(operator, "hello", params).0
}

fn entity<'v>(view: &'v Json, title: &str) -> &'v Json {
    let found = view["entities"].as_array().unwrap().iter().find(|entity| entity["title"] == title);
    found.unwrap_or_else(|| panic!("{title} is not in {view}"))
}

#[test]
fn an_entity_has_the_profile_that_its_viewer_may_know() {
    let (_host, operator) = at_lookout("profiles-of-entities");
    let threat = |hp: i64| json!({ "name": "threat", "label": "Threat", "value": 2 * hp, "harm": true });
    let armour = |value: i64| json!({ "name": "armour", "label": "armour", "value": value, "max": 9 });

    let master = view(&operator, "game_master")["view"].clone();
    let ann = entity(&master, "Ann");
    assert_eq!(ann["seat"], "left");
    assert_eq!(ann["side"], json!({ "title": "Lefties" }));
    let hp = json!({ "name": "hp", "label": "HP", "value": 71701, "max": 82802, "unit": "points" });
    assert_eq!(
        ann["numbers"],
        json!([hp, armour(3), threat(71701)]),
        "a number that is 0 and need not be shown is left out"
    );
    let tower = &entity(&master, "Old Tower")["id"];
    let place = json!({ "title": "Old Tower", "entity": tower });
    assert_eq!(ann["position"], json!({ "x": 9390.5, "y": -2.0, "unit": "m", "place": place }));
    assert_eq!(entity(&master, "Bob")["side"], json!({ "title": "r" }));
    assert_eq!(entity(&master, "Bob")["numbers"][3], json!({ "name": "luck", "label": "luck", "value": 2 }));
    assert_eq!(entity(&master, "MARKED").get("side"), None, "an empty word is no side");
    assert_eq!(entity(&master, "Old Tower").get("numbers"), None);

    // The seat sees its own number, but not the maximum; of the others it sees neither number nor place, nor values
    // computed from them.
    let left = view(&operator, "left")["view"].clone();
    let hp = json!({ "name": "hp", "label": "HP", "value": 71701, "unit": "points" });
    assert_eq!(entity(&left, "Ann")["numbers"], json!([hp, armour(3), threat(71701)]));
    assert_eq!(entity(&left, "Ann")["position"]["x"], 9390.5);
    let bob = entity(&left, "Bob");
    assert_eq!(bob["numbers"], json!([armour(0), { "name": "luck", "label": "luck", "value": 2 }]));
    assert_eq!(bob["position"], json!({ "place": place }));
}

#[test]
fn a_sheet_has_lines_and_numbers() {
    let (_host, operator) = at_lookout("profiles-of-sheets");
    let master = view(&operator, "game_master");
    let ann = &entity(&master["view"], "Ann")["id"];
    let sheet = done(&operator, "sheet", json!({ "table": "a", "entity": ann })).0;
    let lines = json!([["HP", "71701 of 82802 points"], ["Armour", "3 of 9"], ["Boots", "worn"], ["Danger", "some"]]);
    assert_eq!(sheet["lines"], lines);
    let hp = json!({ "name": "hp", "label": "HP", "value": 71701, "max": 82802, "unit": "points" });
    assert_eq!(sheet["rows"][0], json!({ "label": "HP", "text": "71701 of 82802 points", "number": hp }));
    assert_eq!(sheet["rows"][2], json!({ "label": "Boots", "text": "worn" }));
    assert_eq!(sheet["rows"][3]["number"]["value"], 143402);

    let watcher = view(&operator, "watcher")["viewer"].clone();
    let sheet = done(&operator, "sheet", json!({ "viewer": watcher, "entity": ann })).0;
    let lines = json!([["Armour", "3 of 9"], ["Boots", "worn"], ["Danger", "some"], ["hidden", "HP"]]);
    assert_eq!(sheet["lines"], lines, "a line of a hidden number is left out");
    assert_eq!(sheet["rows"][2], json!({ "label": "Danger", "text": "some" }));
}

#[test]
fn the_order_of_play_comes_with_the_view_and_with_steps_that_change_it() {
    let (_host, operator) = at_lookout("profiles-of-order");
    let master = view(&operator, "game_master");
    let order = &master["view"]["order"];
    assert_eq!(order["label"], "Watch 1");
    assert_eq!(order["turns"].as_array().unwrap().len(), 3);
    let id = &entity(&master["view"], "Ann")["id"];
    assert_eq!(order["turns"][0], json!({ "entity": id, "title": "Ann", "state": "now", "at": 3, "note": "left" }));

    let left = view(&operator, "left");
    assert_eq!(left["view"]["order"]["turns"].as_array().unwrap().len(), 2, "who is hidden has no turn: {left}");
    let mut question = left["view"]["questions"][0]["id"].clone();
    let answer = |question: &Json, value: &str| {
        let params = json!({ "viewer": left["viewer"], "question": question, "value": value });
        let (_, told) = done(&operator, "answer", params);
        let step = told.into_iter().find(|notice| notice["params"]["viewer"] == left["viewer"]).unwrap();
        step["params"].clone()
    };
    let step = answer(&question, "look");
    assert_eq!(step["order"]["turns"][0]["state"], "acted", "{step}");
    question = step["questions"][0]["id"].clone();
    let step = answer(&question, "climb");
    assert_eq!(step.get("order"), None, "the order is the same as before");
    assert_eq!(step["changed"][0]["numbers"][0]["value"], 71700, "{step}");
}

/// Each hidden number is unique: no other viewer gets it, unchanged, doubled, or in metres.
#[test]
fn hidden_numbers_and_places_are_in_no_profile_of_others() {
    let (_host, operator) = at_lookout("profiles-of-secrets");
    // The mark, and the seat that may know it in addition to the game master.
    let marks = [
        ("71701", "left"),
        ("143402", "left"),
        ("9390.5", "left"),
        ("82802", ""),
        ("64604", "right"),
        ("129208", "right"),
        ("4641.5", "right"),
        ("55505", ""),
        ("37307", "right"),
        ("MARKED", "right"),
        ("28208", ""),
        ("74614", "right"),
        ("1910.5", "right"),
    ];
    for role in ["game_master", "left", "right", "watcher"] {
        let welcome = view(&operator, role);
        let mut all = welcome.to_string();
        let ids: Vec<Json> = (1..6).map(Json::from).collect();
        for id in ids {
            for method in ["sheet", "why"] {
                let params = json!({ "viewer": welcome["viewer"], "entity": id });
                let params = if method == "why" {
                    json!({ "viewer": welcome["viewer"], "entity": id, "name": "threat" })
                } else {
                    params
                };
                all.push_str(&super::ask(&operator, method, params).0.to_string());
            }
        }
        for (mark, knows) in marks {
            let may = role == "game_master" || role == knows;
            assert_eq!(all.contains(mark), may, "{mark} and {role}: {all}");
        }
    }
}

/// The five shipped games declare sides, numbers and an order of play.
#[test]
fn every_shipped_game_declares_what_a_page_needs() {
    let host = Host::new(Library::open(super::root("rulesets")).unwrap());
    let operator = host.connect(true);
    let games = ["rbf", "silent-winter", "contest", "riskbreaker-0.0.1", "riskbreaker-0.0.3"];
    for game in games {
        let seats = json!({ "gm": "absent" });
        done(&operator, "table.new", json!({ "table": game, "ruleset": game, "seed": 1, "seats": seats }));
        let mut orders = 0;
        for _ in 0..40 {
            let view = done(&operator, "view", json!({ "table": game })).0;
            orders += usize::from(view["order"]["turns"].as_array().is_some_and(|turns| turns.len() > 1));
            let entities = view["entities"].as_array().unwrap();
            let drawn: Vec<&Json> = entities.iter().filter(|entity| entity["numbers"].is_array()).collect();
            let people = drawn.iter().filter(|one| one["side"].is_object() && one["seat"].is_string());
            assert!(people.count() >= 2, "{game}: {view}");
            if game == "rbf" || game == "contest" {
                assert!(drawn.iter().any(|one| one["position"]["x"].is_number()), "{game}: {view}");
            }
            let Some(question) = view["questions"].as_array().and_then(|open| open.first()) else { break };
            let id = &question["id"];
            let suggest = json!({ "table": game, "question": id, "policy": "random" });
            let value = done(&operator, "suggest", suggest).0["value"].clone();
            super::ask(&operator, "answer", json!({ "table": game, "question": id, "value": value }));
        }
        assert!(orders > 0, "{game} has no order of play");
    }
}

#[test]
fn a_roll_has_its_parts_its_need_and_its_kind() {
    let (_host, operator) = at_lookout("profiles-of-rolls");
    let left = view(&operator, "left");
    let question = &left["view"]["questions"][0]["id"];
    let (_, told) =
        done(&operator, "answer", json!({ "viewer": left["viewer"], "question": question, "value": "climb" }));
    let events = told[0]["params"]["events"].as_array().unwrap();
    let rolled = events.iter().find(|event| event["event"] == "rolled").unwrap();
    let roll = &rolled["roll"];
    assert_eq!(roll["need"], json!({ "is": "at_least", "value": 9 }));
    assert_eq!(roll["total"], rolled["total"]);
    assert_eq!(roll["kind"], if rolled["success"] == true { "success" } else { "failure" });
    let parts = roll["parts"].as_array().unwrap();
    let dice: Vec<&Json> = parts.iter().map(|part| &part["dice"]).collect();
    assert_eq!(dice, [&json!("2d6"), &json!("d4"), &Json::Null]);
    assert_eq!(parts[0]["faces"][0]["sides"], 6);
    let shown: Vec<&Json> = parts[..2].iter().flat_map(|part| part["faces"].as_array().unwrap()).collect();
    let shown: Vec<&Json> = shown.into_iter().map(|face| &face["value"]).collect();
    assert_eq!(shown, rolled["faces"].as_array().unwrap().iter().collect::<Vec<_>>());
    let amounts: i64 = parts.iter().map(|part| part["amount"].as_i64().unwrap()).sum();
    assert_eq!(json!(amounts), roll["total"]);
}

#[test]
fn the_preview_of_an_undo_lists_the_decisions() {
    let (_host, operator) = at_lookout("profiles-of-undo");
    let left = view(&operator, "left");
    let master = view(&operator, "game_master");
    assert_eq!(left["view"]["undo"], json!({ "allowed": false, "decisions": 0 }));
    let mut question = left["view"]["questions"][0]["id"].clone();
    let mut last = Json::Null;
    for value in ["climb", "look"] {
        let params = json!({ "viewer": left["viewer"], "question": question, "value": value });
        let (_, told) = done(&operator, "answer", params);
        last = told.into_iter().find(|notice| notice["params"]["viewer"] == left["viewer"]).unwrap()["params"].clone();
        question = last["questions"][0]["id"].clone();
    }
    let look = json!({ "seat": "left", "text": "what: look" });
    let undo = json!({ "allowed": true, "decisions": 2, "reach": 2, "takes_back": look });
    assert_eq!(last["undo"], undo);
    let preview = done(&operator, "undo.preview", json!({ "viewer": left["viewer"] })).0;
    assert_eq!(preview, json!({ "seq": last["seq"], "decisions": 1, "takes_back": [look] }));
    let first = left["view"]["seq"].clone();
    let both = json!([look, { "seat": "left", "text": "what: climb" }]);
    let preview = done(&operator, "undo.preview", json!({ "viewer": master["viewer"], "to": first })).0;
    assert_eq!(preview["takes_back"], both);
    let after = done(&operator, "view", json!({ "viewer": left["viewer"] })).0;
    assert_eq!(after["undo"], undo, "a preview changes nothing");

    done(&operator, "undo", json!({ "viewer": left["viewer"], "expect": last["seq"] }));
    let after = done(&operator, "view", json!({ "viewer": left["viewer"] })).0;
    assert_eq!(after["undo"]["redo"], true);
    // The climb has shown the seat a secret.
    assert_eq!(after["undo"].get("takes_back"), None);
    let refused = super::refused(&operator, "undo.preview", json!({ "viewer": left["viewer"] }));
    assert_eq!(refused["kind"], "stands");
    super::refused(&operator, "undo.preview", json!({ "viewer": view(&operator, "right")["viewer"] }));
}

#[test]
fn odds_mark_outcomes_as_successes_for_the_asked_seat() {
    let host = Host::new(Library::open(super::root("rulesets")).unwrap());
    let operator = host.connect(true);
    let position =
        json!({ "us": ["A = M6: Sword"], "them": ["X = M2: Sword"], "advantage": [4, 0], "turns": ["A", "X"] });
    let table = json!({ "table": "a", "ruleset": "riskbreaker-0.0.3", "position": position, "seed": 1 });
    done(&operator, "table.new", table);
    let question = done(&operator, "view", json!({ "table": "a" })).0["questions"][0].clone();
    assert_eq!(question["topic"], "card", "{question}");
    let given = json!([["card", "inflict_kill"], ["risk", 2]]);
    let params = json!({ "table": "a", "question": question["id"], "given": given });
    let odds = done(&operator, "odds", params).0;
    let of = |kind: &str| {
        let outcomes = odds["outcomes"].as_array().unwrap().iter().filter(|outcome| outcome["kind"] == kind);
        outcomes.map(|outcome| outcome["text"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert!(!of("success").is_empty() && !of("failure").is_empty(), "{odds}");
    assert!(of("success").iter().all(|text| text.contains("X Kill Damage")), "{odds}");
    assert!(of("failure").iter().all(|text| !text.contains("X Kill Damage")), "{odds}");
}

#[test]
fn a_viewer_plays_several_seats() {
    let (_host, operator) = at_lookout("profiles-of-several-seats");
    let params = json!({ "table": "a", "role": "seat", "seats": ["right", "left"] });
    let both = done(&operator, "hello", params).0;
    assert_eq!(both["view"]["seats"], json!(["left", "right"]));
    assert_eq!(both["view"]["seat"], "left", "a client that knows nothing of several seats has the first");
    let (ann, bob) = (entity(&both["view"], "Ann"), entity(&both["view"], "Bob"));
    assert_eq!([&ann["numbers"][0]["value"], &bob["numbers"][0]["value"]], [71701, 64604]);
    assert!(both.to_string().contains("MARKED"));
    let question = &both["view"]["questions"][0];
    assert_eq!(question["yours"], true, "{question}");
    let answer = json!({ "viewer": both["viewer"], "question": question["id"], "value": "look", "key": "k" });
    let first = done(&operator, "answer", answer.clone()).0;
    assert_eq!(done(&operator, "answer", answer).0, first);
    let view = done(&operator, "view", json!({ "viewer": both["viewer"] })).0;
    let of_both = json!({ "role": "seat", "seat": "left", "seats": ["left", "right"], "viewers": 1 });
    assert!(view["presence"].as_array().unwrap().contains(&of_both), "{}", view["presence"]);
    let unknown = super::refused(&operator, "hello", json!({ "table": "a", "role": "seat", "seats": ["left", "up"] }));
    assert_eq!(unknown["kind"], "unknown_name");
}

#[test]
fn chat_lines_are_no_part_of_the_game() {
    let (_host, operator) = at_lookout("profiles-of-chat");
    let left = view(&operator, "left");
    let watcher = view(&operator, "watcher");
    let say = |viewer: &Json, text: &str| json!({ "viewer": viewer["viewer"], "text": text });
    let (said, told) = done(&operator, "say", say(&left, " hello\u{202e} there\n"));
    assert_eq!(said, json!({ "id": 1 }));
    let line = json!({ "id": 1, "role": "seat", "seats": ["left"], "text": "hello there" });
    let to: Vec<&Json> = told.iter().map(|notice| &notice["params"]["viewer"]).collect();
    assert_eq!(to, [&left["viewer"], &watcher["viewer"]]);
    assert!(told.iter().all(|notice| notice["method"] == "chat" && notice["params"]["line"] == line), "{told:?}");

    let question = &left["view"]["questions"][0]["id"];
    let answer = json!({ "viewer": left["viewer"], "question": question, "value": "look" });
    let seq = done(&operator, "answer", answer).0["seq"].clone();
    done(&operator, "undo", json!({ "viewer": left["viewer"], "expect": seq }));
    let after = done(&operator, "view", json!({ "viewer": watcher["viewer"] })).0;
    assert_eq!(after["chat"], json!([line]), "an undo takes no talk back");
    assert!(!after["log"].to_string().contains("hello"));
    assert_eq!(super::refused(&operator, "say", say(&watcher, "psst"))["kind"], "forbidden");
    for text in ["", " \u{200b}", &"x".repeat(1001)] {
        assert_eq!(super::refused(&operator, "say", say(&left, text))["kind"], "bad_params");
    }
}
