//! Idempotency keys: a program that is killed during a command does not run it twice.

use std::fs;
use std::path::{Path, PathBuf};

use riskbreaker::Library;
use riskbreaker::serve::{Connection, Host, METHODS};
use serde_json::{Value as Json, json};

use super::{ask, done, failing_disk, saves};

const RULES: &[(&str, &str)] = &[
    (
        "well/ruleset.toml",
        "id = \"well\"\ntitle = \"Well\"\nversion = \"1.0.0\"\nscenario = \"s\"\n[seats]\nleft = \"Left\"\nright = \"Right\"\n\
         [switches.goal]\nmin = 1\nmax = 1000\ndefault = 500\ntext = \"Who has this many points wins.\"\n",
    ),
    ("well/scenarios/s.toml", "title = \"S\"\n"),
    (
        "well/kinds.luau",
        "local rb = require(\"@riskbreaker\")\nreturn rb.kinds({ rope = { fields = { at = rb.int() } } })\n",
    ),
    (
        "well/play.luau",
        r#"
local rb = require("@riskbreaker")
return rb.play({
	start = function()
		rb.spawn("rope", {})
		rb.recur("turn", 1, 1)
	end,
	entries = {
		turn = function()
			local what = rb.choose({ seat = "left", topic = "what", options = { "pull", "rest", "slip" }, default = "pull" })
			if what == "slip" then
				error("a slip")
			end
			rb.first("rope"):add("at", if what == "pull" then 10 + rb.roll("1d6", "{} rolls", rb.first("rope")) else 1)
		end,
	},
	free = {
		rest = {
			title = "Rest",
			seats = { "left" },
			run = function()
				rb.first("rope"):add("at", 100)
			end,
		},
	},
})
"#,
    ),
    ("mud/ruleset.toml", "id = \"mud\"\ntitle = \"Mud\"\nversion = \"1.0.0\"\nover = [\"well\"]\n"),
];

fn host() -> (Host, Connection) {
    let host = Host::new(Library::from_files(RULES.iter().copied()));
    let operator = host.connect(true);
    (host, operator)
}

/// A host that continues a campaign file.
fn loaded(file: &Path) -> (Host, Connection) {
    let (host, operator) = host();
    done(&operator, "table.load", json!({ "table": "a", "path": file }));
    (host, operator)
}

fn view(operator: &Connection) -> Json {
    done(operator, "view", json!({ "table": "a" })).0
}

/// The state of the table on disk, without the numbers that each host assigns anew.
fn standing(file: &Path, folder: &Path) -> Json {
    let copy = folder.join("looked-at.rbsave");
    fs::copy(file, &copy).unwrap();
    let (_host, operator) = loaded(&copy);
    let mut view = view(&operator);
    let entries = done(&operator, "entries", json!({ "table": "a", "all": true })).0;
    view["undo"]["reach"].take();
    let parts = ["state", "settings", "entities", "waiting", "undo", "log"];
    let view = parts.map(|part| view[part].take());
    // Faces queued for the next rolls are part of the game, too.
    let _ = ask(&operator, "reply", json!({ "table": "a", "pairs": [["what", "pull"]] }));
    let next = done(&operator, "view", json!({ "table": "a" })).0["entities"].take();
    json!({ "view": view, "entries": entries, "next": next })
}

/// A command of the protocol, with the commands before it in the same host; `undo` gets the number of undos in memory.
struct Case {
    method: &'static str,
    before: fn(&Connection, usize),
    params: fn(&Connection) -> Json,
}

fn nothing(_: &Connection, _: usize) {}

fn says(operator: &Connection, what: &str) {
    let question = view(operator)["questions"][0]["id"].clone();
    done(operator, "answer", json!({ "table": "a", "question": question, "value": what }));
}

fn take_back(operator: &Connection, decisions: usize) {
    for _ in 0..decisions {
        done(operator, "undo", with_table(expecting(operator)));
    }
}

fn expecting(operator: &Connection) -> Json {
    json!({ "expect": view(operator)["seq"] })
}

/// The number of entries in the campaign before the command: more than are in memory when it is opened.
const EDITS: u64 = 102;

/// The number of undos that a host has in memory when it opens the campaign. The next one goes back in the file, and
/// viewers have to resynchronize.
fn undos_in_memory(base: &Path, folder: &Path) -> usize {
    let copy = folder.join("counted.rbsave");
    fs::copy(base, &copy).unwrap();
    let (_host, operator) = loaded(&copy);
    done(&operator, "hello", json!({ "table": "a", "role": "game_master" }));
    let goes_back_in_the_file = || {
        let (_, told) = done(&operator, "undo", with_table(expecting(&operator)));
        told.iter().any(|notice| notice["method"] == "resync")
    };
    (0..).find(|_| goes_back_in_the_file()).unwrap()
}

fn with_table(mut params: Json) -> Json {
    params["table"] = json!("a");
    params
}

const CASES: &[Case] = &[
    Case {
        method: "answer",
        before: nothing,
        params: |operator| json!({ "question": view(operator)["questions"][0]["id"], "value": "pull" }),
    },
    Case { method: "reply", before: nothing, params: |_| json!({ "pairs": [["what", "rest"]] }) },
    Case { method: "act", before: nothing, params: |_| json!({ "name": "rest", "as": "left" }) },
    Case { method: "undo", before: nothing, params: expecting },
    Case { method: "undo", before: take_back, params: expecting },
    Case { method: "redo", before: |operator, _| take_back(operator, 1), params: expecting },
    // There is nothing to redo in memory.
    Case {
        method: "redo",
        before: |operator, _| drop(done(operator, "goto", json!({ "table": "a", "entry": 90 }))),
        params: expecting,
    },
    Case { method: "goto", before: nothing, params: |_| json!({ "entry": 90 }) },
    Case {
        method: "amend",
        before: nothing,
        params: |_| json!({ "entry": 90, "edit": { "set": { "entity": 1, "field": "at", "value": 3 } } }),
    },
    Case { method: "edit", before: nothing, params: |_| json!({ "edit": { "say": { "text": "once" } } }) },
    Case { method: "switch", before: nothing, params: |_| json!({ "name": "goal", "value": 400 }) },
    Case { method: "dice", before: nothing, params: |_| json!({ "faces": [2] }) },
    Case {
        method: "remedy",
        before: |operator, _| says(operator, "slip"),
        params: |_| json!({ "remedy": "skip_action" }),
    },
    Case { method: "rules.change", before: nothing, params: |_| json!({ "ruleset": "well", "layers": ["mud"] }) },
    Case {
        method: "rules.keep",
        before: |operator, _| {
            // Other rules wait for the end of the failed action.
            says(operator, "slip");
            done(operator, "rules.change", json!({ "table": "a", "ruleset": "well", "layers": ["mud"] }));
        },
        params: |_| json!({}),
    },
    Case { method: "seat", before: nothing, params: |_| json!({ "seat": "right", "driver": "absent" }) },
    Case { method: "pause", before: nothing, params: |_| json!({ "paused": true }) },
    Case { method: "options", before: nothing, params: |_| json!({ "undo": "game_master", "odds": false }) },
    Case { method: "scene", before: nothing, params: |_| json!({ "seed": 7 }) },
    Case {
        method: "vote",
        before: |operator, _| {
            done(operator, "options", json!({ "table": "a", "undo": "ask" }));
            let hello = |role: Json| done(operator, "hello", role).0["viewer"].clone();
            let left = hello(json!({ "table": "a", "role": "seat", "seat": "left" }));
            hello(json!({ "table": "a", "role": "seat", "seat": "right" }));
            says(operator, "rest");
            done(operator, "undo", json!({ "viewer": left, "expect": view(operator)["seq"] }));
        },
        params: |_| json!({ "id": 1, "agree": true }),
    },
];

/// The campaign before the commands.
fn campaign(folder: &Path) -> PathBuf {
    let file = folder.join("base.rbsave");
    let (_host, operator) = host();
    done(&operator, "table.new", json!({ "table": "a", "ruleset": "well", "seed": 5, "campaign": file }));
    for at in 1..EDITS {
        let set = json!({ "set": { "entity": 1, "field": "at", "value": at } });
        done(&operator, "edit", json!({ "table": "a", "edit": set }));
    }
    file
}

#[test]
fn a_key_that_is_repeated_after_a_kill_never_acts_twice() {
    let all: Vec<&str> = METHODS.iter().filter(|method| method.changes).map(|method| method.name).collect();
    let tried = |method: &&str| CASES.iter().any(|case| case.method == *method);
    assert!(all.iter().all(tried), "a case for each command: {all:?}");
    let folder = saves("failing-disk-keys");
    failing_disk::works_again();
    let base = campaign(&folder);
    let in_memory = undos_in_memory(&base, &folder);
    for (number, Case { method, before, params }) in CASES.iter().enumerate() {
        let (place, killed) = (folder.join(format!("{number}")), folder.join(format!("{number}-killed")));
        fs::create_dir_all(&place).unwrap();
        let file = place.join("a.rbsave");
        fs::copy(&base, &file).unwrap();
        let (before_it, once, request, result, copies) = {
            let (_host, operator) = loaded(&file);
            before(&operator, in_memory);
            let before_it = standing(&file, &folder);
            let mut request = with_table(json!({ "key": "k" }));
            request.as_object_mut().unwrap().extend(params(&operator).as_object().unwrap().clone());
            failing_disk::copy_before_syncs(&place, &killed);
            let result = done(&operator, method, request.clone()).0;
            let copies = failing_disk::stop_copying();
            // The viewers of a connection hold its table.
            operator.close();
            (before_it, standing(&file, &folder), request, result, copies)
        };
        assert!(copies.len() >= 2, "{method}: {} syncs", copies.len());
        assert_ne!(before_it, once, "{method}");
        let again = |folder: &Path| {
            let (_host, operator) = loaded(&folder.join("a.rbsave"));
            ask(&operator, method, request.clone()).0
        };
        for copy in copies {
            let answer = again(&copy);
            let now = standing(&copy.join("a.rbsave"), &copy);
            // A command with the last step of its client is refused by a restarted host.
            let expected = if answer.get("error").is_some() { &before_it } else { &once };
            assert_eq!(now, *expected, "{method} {number}: {}: {answer}", copy.display());
        }
        assert_eq!(again(&place)["result"], result, "{method} {number}");
        assert_eq!(standing(&file, &folder), once, "{method} {number}");
    }
}
