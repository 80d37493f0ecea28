//! The command line program: transcripts of sessions with their output, and games that are saved and continued.

#[cfg(unix)]
#[path = "cli/interrupted.rs"]
mod interrupted;
#[path = "cli/packages.rs"]
mod packages;
#[cfg(unix)]
#[path = "cli/terminal.rs"]
mod terminal;

use std::io::Write;
use std::path::Path;
use std::process::{Command, Output, Stdio};

const RULESETS: &str = "tests/cli/rulesets";

/// The state folder of the tests, apart from that of the user.
const STATE: &str = concat!(env!("CARGO_TARGET_TMPDIR"), "/state");

/// `TRYCMD=overwrite cargo test --test cli` updates the transcripts; read the difference before committing it.
#[test]
fn transcripts_are_as_written() {
    trycmd::TestCases::new()
        .case("tests/cli/*.trycmd")
        .case("README.md")
        .env("NO_COLOR", "1")
        .env("XDG_STATE_HOME", STATE);
}

#[test]
fn a_saved_game_continues_where_it_was() {
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join("saved.json");
    let file = file.display();
    let whole =
        play(&["play", "--seed", "5"], "low\nstrike stake 2 on bandit\nlow\nstrike stake 1 on bandit\nlog all\n");
    let first = play(&["play", "--seed", "5"], &format!("low\nstrike stake 2 on bandit\nsave {file}\n"));
    assert!(first.status.success(), "{first:?}");
    let saved = file.to_string();
    for (args, line) in [(vec!["play", "--seed", "1"], format!("load {file}\n")), (vec!["play", &saved], String::new())]
    {
        let second = play(&args, &format!("{line}low\nstrike stake 1 on bandit\nlog all\n"));
        assert!(second.status.success(), "{second:?}");
        assert_eq!(log_of(&second), log_of(&whole));
    }
}

/// `edits` are what is most likely meant. Each of `choices` is a list of edits that is a cure alone.
#[test]
fn check_as_json_keeps_the_likeliest_edits_and_the_other_choices_apart() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("check-choices");
    let copied = folder.join("tug");
    let _ = std::fs::remove_dir_all(&folder);
    copy_folder(Path::new("tests/rulesets/tug"), &copied);
    let plant = |path: &str, from: &str, to: &str| {
        let path = copied.join(path);
        let text = std::fs::read_to_string(&path).unwrap();
        assert!(text.contains(from), "{from}");
        std::fs::write(&path, text.replacen(from, to, 1)).unwrap();
    };
    let checked = || {
        let told = play_anywhere(&["check", "tug", "--json", "--rulesets", &folder.display().to_string()], "");
        let lines = String::from_utf8(told.stdout).unwrap();
        lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect::<Vec<serde_json::Value>>()
    };
    let applied = |path: &str, edits: &serde_json::Value| {
        let mut text = std::fs::read_to_string(copied.join(path)).unwrap();
        let mut edits = edits.as_array().unwrap().clone();
        edits.sort_by_key(|edit| std::cmp::Reverse(edit["begin"].as_u64()));
        for edit in &edits {
            let at = |key: &str| edit[key].as_u64().unwrap() as usize;
            text.replace_range(at("begin")..at("end"), edit["text"].as_str().unwrap());
        }
        text
    };
    plant("kinds.luau", "default = 5", "default = 11");
    let all = checked();
    let found = all.iter().find(|found| found["problem"]["path"] == "tug/kinds.luau").unwrap();
    assert!(applied("kinds.luau", &found["edits"]).contains("max = 10, default = 10"), "{found}");
    let choices = found["choices"].as_array().unwrap();
    assert_eq!(choices.len(), 1, "{found}");
    assert!(applied("kinds.luau", &choices[0]).contains("max = 11, default = 11"), "{found}");
    // Where none is likelier than the others, there are only choices.
    plant("kinds.luau", "default = 11", "default = 5");
    plant("maneuvers/pull.luau", "seat = ctx.actor.seat", "seat = \"zzz\"");
    let all = checked();
    let found = all.iter().find(|found| found["problem"]["lint"] == "unknown-name").unwrap();
    assert!(found.get("edits").is_none(), "{found}");
    let mut meant: Vec<String> = found["choices"]
        .as_array()
        .unwrap()
        .iter()
        .map(|edits| applied("maneuvers/pull.luau", edits))
        .map(|text| text.split("seat = \"").nth(1).unwrap().split('"').next().unwrap().to_owned())
        .collect();
    meant.sort();
    assert_eq!(meant, ["gm", "left", "right"], "{found}");
}

fn copy_folder(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let copy = to.join(entry.file_name());
        match entry.file_type().unwrap().is_dir() {
            true => copy_folder(&entry.path(), &copy),
            false => drop(std::fs::copy(entry.path(), &copy).unwrap()),
        }
    }
}

/// Each game is a row; the rows of shards are those of the whole simulation.
#[test]
fn each_game_of_a_simulation_is_a_row() {
    let file = |name: &str| Path::new(env!("CARGO_TARGET_TMPDIR")).join(name).display().to_string();
    let call = ["--rulesets", "rulesets", "sim", "duel", "--rules", "riskbreaker-0.0.1", "--trials", "600", "--json"];
    let rows = |name: &str, more: &[&str]| {
        let path = file(name);
        let output = play_anywhere(&[&call[..], &["--games", &path], more].concat(), "");
        assert!(output.status.success(), "{output:?}");
        let found: serde_json::Value = serde_json::from_slice(&output.stdout).expect("one object");
        (found, std::fs::read_to_string(&path).unwrap())
    };
    let (found, lines) = rows("games.jsonl", &[]);
    let games: Vec<serde_json::Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!((games.len(), &games[599]["trial"]), (600, &600.into()));
    for (result, count) in found["tallies"][0]["results"].as_object().unwrap() {
        assert_eq!(games.iter().filter(|game| game["result"] == **result).count() as u64, count.as_u64().unwrap());
    }
    let actions: u64 = games.iter().map(|game| game["actions"].as_u64().unwrap()).sum();
    assert_eq!(found["tallies"][0]["actions"], actions);
    let parts = ["1/2", "2/2"].map(|part| rows("part.jsonl", &["--shard", part, "--threads", "1"]).1);
    let mut merged: Vec<serde_json::Value> =
        parts.iter().flat_map(|part| part.lines()).map(|line| serde_json::from_str(line).unwrap()).collect();
    merged.sort_by_key(|game| game["trial"].as_u64());
    assert_eq!(merged, games);

    let (_, table) = rows("games.csv", &["--actions", "40"]);
    let mut table = table.lines();
    assert_eq!(table.next(), Some("trial,variant,result,left_out,rounds,actions"));
    let first: Vec<&str> = table.next().expect("a row").split(',').collect();
    assert_eq!((first[0], first.len(), table.count()), ("1", 6, 599));
    let refused = play_anywhere(&[&call[..], &["--games", "games.txt"]].concat(), "");
    assert!(refused.status.code() == Some(2) && String::from_utf8_lossy(&refused.stderr).contains(".jsonl or .csv"));
}

/// Each trial is played with and without a card, as written and mirrored, or under two rulesets, on the same dice.
#[test]
fn games_are_compared_in_pairs_on_the_same_dice() {
    let told = |args: &[&str]| {
        let call = [&["--rulesets", "rulesets"], args, &["--trials", "12", "--json"]].concat();
        let output = play_anywhere(&call, "");
        assert!(output.status.success(), "{args:?}: {output:?}");
        serde_json::from_slice::<serde_json::Value>(&output.stdout).expect("one object")
    };
    let duel = ["sim", "duel", "--rules", "riskbreaker-0.0.1"];
    let ban = told(&[&duel[..], &["--ban", "players:kill_damage"]].concat());
    assert_eq!(ban["names"], serde_json::json!(["as written", "players without kill_damage"]));
    let chosen = |column: usize| {
        let cards = ban["figures"][column]["cards"].as_array().unwrap();
        let own = cards.iter().find(|card| card["seat"] == "players" && card["card"] == "kill_damage").unwrap();
        own["offer"]["chosen"].as_u64().unwrap()
    };
    assert!(chosen(0) > 0 && chosen(1) == 0, "{ban}");
    assert_eq!(ban["differences"][0]["more"]["pairs"], 12);
    let mirrored = told(&[&duel[..], &["--mirror", "sides"]].concat());
    assert_eq!(mirrored["figures"][1]["games"], 12);
    let versions = told(&["study", "duel", "--ruleset", "riskbreaker-0.0.1", "--against", "riskbreaker-0.0.3"]);
    assert_eq!(versions["names"], serde_json::json!(["riskbreaker-0.0.1", "riskbreaker-0.0.3"]));

    let refused = |args: &[&str], part: &str| {
        let output = play_anywhere(&[&["--rulesets", "rulesets"], args].concat(), "");
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.code() == Some(2) && text.contains(part), "{args:?}: {text}");
    };
    refused(&[&duel[..], &["--ban", "players:kil_damage"]].concat(), "did you mean `kill_damage`?");
    refused(&[&duel[..], &["--ban", "nobody:pass"]].concat(), "is no seat of");
    refused(&[&duel[..], &["--ban", "gm:pass"]].concat(), "the seat `gm` is absent and plays no card");
    refused(&["sim", "raid", "--rules", "rbf", "--mirror", "sides"], "nothing in the scenario belongs to a seat");
}

/// The file of each shard stores the value of `--rulesets`.
#[test]
fn merged_shards_are_printed_like_the_whole() {
    let file = |index: u32| Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("left-out-{index}.json"));
    let (one, two) = (file(1).display().to_string(), file(2).display().to_string());
    let call = ["--rulesets", RULESETS, "sim", "bridge", "--trials", "10", "--actions", "2"];
    for (shard, file) in [("1/2", &one), ("2/2", &two)] {
        let _ = std::fs::remove_file(file);
        play_anywhere(&[&call[..], &["--shard", shard, "--save", file]].concat(), "");
    }
    let whole = play_anywhere(&[&call[..], &["--json"]].concat(), "");
    let merged = play_anywhere(&["merge", &one, &two, "--json"], "");
    let text = String::from_utf8_lossy(&merged.stdout);
    assert!(text.contains("\"replay\":\"riskbreaker sim bridge --rulesets tests/cli/rulesets --rules "), "{text}");
    assert_eq!(merged.stdout, whole.stdout, "{text}");
    // The value given to `merge` wins.
    let moved = play_anywhere(&["merge", &one, &two, "--json", "--rulesets", "elsewhere"], "");
    assert!(String::from_utf8_lossy(&moved.stdout).contains("sim bridge --rulesets elsewhere "), "{moved:?}");
}

#[test]
fn merged_parts_of_a_study_are_the_study_of_one_process() {
    let file = |index: u32| Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("study-part-{index}.json"));
    let files: Vec<String> = (1..=3).map(|index| file(index).display().to_string()).collect();
    let call =
        ["study", "duel", "--ruleset", "riskbreaker-0.0.1", "--seed", "4", "--trials", "13", "--ban", "foes:pass"];
    let call = [&call[..], &["--only", "fairness,worth,dominated"]].concat();
    // Parts of different splits.
    for (shard, file) in ["1/2", "3/4", "4/4"].iter().zip(&files) {
        let _ = std::fs::remove_file(file);
        let part = play_anywhere(&[&call[..], &["--shard", shard, "--save", file]].concat(), "");
        assert!(part.status.success(), "{part:?}");
    }
    for form in [&[][..], &["--json"]] {
        let whole = play_anywhere(&[&call[..], form].concat(), "");
        let merged = play_anywhere(&[&["merge", &files[1], &files[2], &files[0]], form].concat(), "");
        assert!(whole.stdout.len() > 1_000, "{whole:?}");
        assert_eq!(String::from_utf8_lossy(&merged.stdout), String::from_utf8_lossy(&whole.stdout), "{merged:?}");
    }
    let refused = |args: &[&str], code: i32, why: &str| {
        let told = play_anywhere(args, "");
        let text = String::from_utf8_lossy(&told.stderr).into_owned();
        assert!(told.status.code() == Some(code) && text.contains(why), "{text}");
    };
    refused(&["merge", &files[0], &files[2]], 2, "no part has trials 7 to 9");
    refused(&["merge", &files[0], &files[1], &files[1], &files[2]], 2, "both have trials 7 to 9");
    // A part that can never be played has its own exit code.
    refused(&[&call[..], &["--shard", "1/2", "--save", &files[1]]].concat(), 42, "part of another study");
    refused(&[&call[..], &["--shard", "2/2"]].concat(), 42, "--save");
    let known = play_anywhere(&["merge", "--partial", &files[0], &files[2]], "");
    assert!(known.status.success() && String::from_utf8_lossy(&known.stderr).contains("missing: trials 7 to 9"));
    assert!(String::from_utf8_lossy(&known.stdout).contains("10 of 13 games"), "{known:?}");
    // What a part has is not played again: the call that continues it writes the same file.
    let before = std::fs::read(&files[0]).unwrap();
    play_anywhere(&[&call[..], &["--shard", "1/2", "--save", &files[0]]].concat(), "");
    assert!(before == std::fs::read(&files[0]).unwrap());
}

#[test]
fn parts_of_a_study_have_the_games_of_its_search() {
    let file = |index: u32| Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("searched-part-{index}.json"));
    let files: Vec<String> = (1..=2).map(|index| file(index).display().to_string()).collect();
    let call = ["study", "two", "--ruleset", "tug", "--rulesets", "tests/rulesets", "--only", "skill", "--trials", "6"];
    let played = |more: &[&str]| play_anywhere(&[&call[..], more].concat(), "");
    for (shard, file) in ["1/2", "2/2"].iter().zip(&files) {
        let _ = std::fs::remove_file(file);
        let part = played(&["--search", "5", "--shard", shard, "--save", file]);
        assert!(part.status.success(), "{part:?}");
    }
    let whole = played(&["--search", "5"]);
    let text = String::from_utf8_lossy(&whole.stdout).into_owned();
    let merged = play_anywhere(&["merge", &files[0], &files[1]], "");
    assert_eq!(String::from_utf8_lossy(&merged.stdout), text);
    assert!(text.contains("it played the first 6 trials") && text.contains("--trials 6 --search 5"), "{text}");
    // Without named playouts it plays a tenth of the trials, two at least.
    let usual = played(&["--json"]);
    let usual: serde_json::Value = serde_json::from_slice(&usual.stdout).unwrap();
    assert_eq!((&usual["search"]["trials"], &usual["search"]["is_fitted"]), (&2.into(), &false.into()), "{usual}");
    let refused = played(&["--search", "none"]);
    let why = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(refused.status.code() == Some(2) && why.contains("a number of playouts from 1 to"), "{why}");
}

/// A field and a derived number of one of two sides: with `edge` faces of ten, left wins in 10 times that of 100 games.
#[test]
fn a_sweep_of_a_field_or_a_derived_number_finds_the_value_whose_share_is_known() {
    let files = [
        ("ruleset.toml", "id = \"coin\"\ntitle = \"Coin\"\nversion = \"1\"\n[seats]\nleft = \"one\"\n"),
        (
            "kinds.luau",
            r#"local rb = require("@riskbreaker")
return rb.kinds({
	side = {
		title = "name",
		fields = { name = rb.text(), skill = rb.int({ min = 1, max = 9, default = 8 }) },
		derived = {
			edge = function(self)
				return rb.sum("skill", self.skill)
			end,
		},
	},
})"#,
        ),
        (
            "play.luau",
            r#"local rb = require("@riskbreaker")
return rb.play({
	start = function()
		rb.spawn("side", { name = "Bea" })
		rb.schedule("turn", 1, rb.spawn("side", { name = "Ann" }))
	end,
	entries = {
		turn = function(ann)
			rb.finish(if rb.roll("1d10") <= ann:edge() then "left wins" else "right wins")
		end,
	},
})"#,
        ),
        ("scenarios/hall.toml", "title = \"Hall\"\n"),
    ];
    let rulesets = folder_of_coin("sweep-member", &files);
    let of = |sweep: &str| {
        let call = ["sim", "hall", "--rulesets", &rulesets, "--rules", "coin", "--trials", "2000", "--json"];
        play_anywhere(&[&call[..], &["--sweep", sweep, "--target", "left 40 %"]].concat(), "")
    };
    for member in ["Ann.skill", "Ann.edge"] {
        let told = of(&format!("{member}=3..5"));
        let found: serde_json::Value = serde_json::from_slice(&told.stdout).unwrap_or_else(|_| panic!("{told:?}"));
        assert_eq!(found["best"], format!("{member}=4"), "{found}");
        let shares =
            found["columns"].as_array().unwrap().iter().map(|column| column["share"]["share"].as_f64().unwrap());
        for (share, known) in shares.zip([0.3, 0.4, 0.5]) {
            assert!((share - known).abs() < 0.05, "{found}");
        }
    }
    for (sweep, part) in [
        ("Bob.skill=3..5", "`Bob` is neither a card nor somebody who is there from the start: "),
        ("Ann.skil=3..5", "Ann has no `skil`; did you mean `skill`?"),
        ("Ann.skill=9..10", "Ann.skill=10: "),
    ] {
        let told = of(sweep);
        let text = String::from_utf8_lossy(&told.stderr);
        assert!(told.status.code() == Some(2) && text.contains(part), "{sweep}: {text}");
    }
}

/// Writes the files of a ruleset `coin` into a folder of its own, and returns the folder of rulesets.
fn folder_of_coin(name: &str, files: &[(&str, &str)]) -> String {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    for (path, text) in files {
        let path = folder.join("coin").join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    folder.display().to_string()
}

/// One die decides: with `p` faces of ten, left wins in 10 p of 100 games.
#[test]
fn a_sweep_finds_the_value_whose_share_is_known() {
    let files = [
        (
            "ruleset.toml",
            "id = \"coin\"\ntitle = \"Coin\"\nversion = \"1\"\n[seats]\nleft = \"one\"\n[switches.p]\nvalues = [\"1\", \"2\", \
             \"3\", \"4\", \"5\", \"6\", \"7\", \"8\", \"9\"]\ntext = \"Faces of ten on which left wins.\"\n",
        ),
        (
            "play.luau",
            r#"local rb = require("@riskbreaker")
return rb.play({
	start = function()
		rb.schedule("turn", 1)
	end,
	entries = {
		turn = function()
			rb.finish(if rb.roll("1d10") <= (tonumber(rb.switches.p) :: number) then "left wins" else "right wins")
		end,
	},
})"#,
        ),
        ("scenarios/hall.toml", "title = \"Hall\"\n"),
    ];
    let rulesets = folder_of_coin("sweep-known", &files);
    let of = |target: &str, trials: &str| -> serde_json::Value {
        let call = ["sim", "hall", "--rulesets", &rulesets, "--rules", "coin", "--trials", trials, "--json"];
        let told = play_anywhere(&[&call[..], &["--sweep", "p=1..9", "--target", target]].concat(), "");
        serde_json::from_slice(&told.stdout).unwrap_or_else(|_| panic!("{told:?}"))
    };
    for p in [2, 5, 9] {
        let found = of(&format!("left {} %", 10 * p), "4000");
        assert_eq!(found["best"], format!("p={p}"), "{found}");
        assert!(found["sure"].as_f64().unwrap() > 0.99, "{found}");
        for column in found["columns"].as_array().unwrap() {
            let faces: f64 = column["value"].as_str().unwrap()[2..].parse().unwrap();
            let (low, high) = (column["share"]["low"].as_f64().unwrap(), column["share"]["high"].as_f64().unwrap());
            // 27 intervals of 95 %: each holds the true share with some room.
            assert!(low - 0.01 < faces / 10.0 && faces / 10.0 < high + 0.01, "{column}");
        }
    }
    // Halfway between two values neither is the nearest for sure, and the share passes between them.
    let between = of("left 45 %", "1000");
    assert!(between["sure"].as_f64().unwrap() < 0.95, "{between}");
    assert_eq!(between["passes_between"], serde_json::json!(["p=4", "p=5"]), "{between}");
}

#[test]
fn the_manual_page_has_the_commands_of_commands_and_refers_to_no_other_page() {
    let page = play_anywhere(&["man"], "");
    let page = String::from_utf8_lossy(&page.stdout);
    for heading in [".SH \"SIM\"", ".SH \"RULES\"", ".SH \"RULES SWITCH\"", ".SH \"NEW MANEUVER\""] {
        assert!(page.contains(heading), "{heading}");
    }
    assert!(!page.contains("play(1)"), "{page}");
}

/// The entries of a campaign reveal secret decisions.
#[test]
fn the_screen_of_a_seat_does_not_show_the_entries_of_a_campaign() {
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join("secret.rbsave");
    let _ = std::fs::remove_file(&file);
    let file = file.display().to_string();
    let call = ["--rulesets", "tests/rulesets", "play"];
    let seats =
        ["--rules", "bluff", "--seed", "5", "--seat", "gm=absent", "--seat", "north=human", "--seat", "south=human"];
    let begun = play_anywhere(&[&call[..], &seats].concat(), &format!("save {file}\nSam: 1\n"));
    assert!(begun.status.success(), "{begun:?}");
    for line in ["log --all", "branch", "goto 2", "roster keep Sam", "roster", "undo"] {
        let told = play_anywhere(&[&call[..], &[file.as_str(), "--as", "north"]].concat(), &format!("{line}\n"));
        assert!(!told.status.success(), "{line}: {told:?}");
        let text = String::from_utf8_lossy(&told.stdout);
        assert!(!text.contains("south"), "{line}: {text}");
    }
}

/// A change of rules is requested in one line and takes effect at the end of another one, which is undone as a whole.
#[test]
fn a_line_that_ends_with_a_change_of_rules_is_undone_whole() {
    let call = ["play", "four-against-four", "--rules", "riskbreaker-0.0.1", "--seed", "11"];
    let asked = "ok\n1 with push risk 1\npass\npass\nrules riskbreaker-0.0.1+house-armour yes\n";
    let told = play_anywhere(&call, &format!("{asked}kill damage risk 2 on bandit\nok\nundo 2\nundo\nredo 2\n"));
    let text = String::from_utf8_lossy(&told.stdout);
    let whole = "card: Kill Damage · risk: 2 · targets: Bandit · the change to riskbreaker-0.0.1+house-armour\n";
    assert!(text.contains(&format!("undid {whole}")) && text.contains(&format!("redid {whole}")), "{text}");
    assert_eq!(text.matches("Thief: which action?").count(), 2, "{text}");
    // Likewise if the change was cancelled.
    let told = play_anywhere(&call, &format!("{asked}rules off\nkill damage risk 2 on bandit\nundo\n"));
    let text = String::from_utf8_lossy(&told.stdout);
    assert!(text.contains("undid card: Kill Damage · risk: 2 · targets: Bandit\n"), "{text}");
}

#[test]
fn a_reopened_campaign_undoes_a_line_of_several_answers_whole() {
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join("other-rules.rbsave");
    let _ = std::fs::remove_file(&file);
    let file = file.display().to_string();
    let call = ["play", "four-against-four", "--rules", "riskbreaker-0.0.1", "--seed", "11"];
    let asked = "ok\n1 with push risk 1\npass\npass\nrules riskbreaker-0.0.1+house-armour yes\n";
    let begun = play_anywhere(&call, &format!("save {file}\n{asked}kill damage risk 2 on bandit\nok\n"));
    assert!(begun.status.success(), "{begun:?}");
    let told = play_anywhere(&["play", &file], "log --all\nundo 2\nundo\n");
    let text = String::from_utf8_lossy(&told.stdout);
    assert!(text.contains("players: card Kill Damage · players: risk 2 · players: targets"), "{text}");
    let whole = "card: Kill Damage · risk: 2 · targets: Bandit · the change to riskbreaker-0.0.1+house-armour\n";
    assert!(text.contains(&format!("undid {whole}")), "{text}");
    let (_, last) = text.rsplit_once("» undo\n").expect("it is carried out");
    assert!(last.contains("undid card: Pass\n") && last.contains("which action?"), "{text}");
}

/// Without the layer that contains the faulty script, the spec would not fail.
#[test]
fn the_fault_of_a_layer_becomes_a_spec_of_the_layer() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("fault-of-a-layer");
    let _ = std::fs::remove_dir_all(&folder);
    let write = |path: &str, text: &str| {
        let path = folder.join(path);
        std::fs::create_dir_all(path.parent().expect("it is in a folder")).expect("the folder can be made");
        std::fs::write(path, text).expect("the file can be written");
    };
    write(
        "ours/ruleset.toml",
        "id = \"ours\"\ntitle = \"Ours\"\nversion = \"1.0.0\"\nover = [\"riskbreaker-0.0.1\", \"riskbreaker-0.0.3\"]\n",
    );
    write(
        "ours/maneuvers/boom.luau",
        "local rb = require(\"@riskbreaker\")\n\nreturn rb.maneuver({\n\tid = \"boom\",\n\ttitle = \"Boom\",\n\ttext = \"Fails.\",\n\t\
         resolve = function()\n\t\terror(\"boom\")\n\tend,\n})\n",
    );
    let saved = folder.join("oops.json").display().to_string();
    let rulesets = folder.display().to_string();
    let call = ["--rulesets", &rulesets, "play", "duel", "--rules", "riskbreaker-0.0.1+ours", "--seed", "5"];
    play_anywhere(&call, &format!("ok\nboom\nsave {saved}\n"));
    let told = play_anywhere(&["--rulesets", &rulesets, "test", "--from-fault", &saved], "");
    let text = String::from_utf8_lossy(&told.stdout);
    let spec = folder.join("ours/specs/riskbreaker-0.0.1/faults/boom.luau");
    assert!(spec.is_file() && text.contains("boom.luau"), "{text}");
}

#[test]
fn the_screen_of_a_seat_shows_no_notes_of_the_game_master() {
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join("noted.rbsave");
    let _ = std::fs::remove_file(&file);
    let file = file.display().to_string();
    let begun = play(&["play", &file, "--seed", "5"], "note the bandit is a spy\nlow\nquit\n");
    assert!(begun.status.success(), "{begun:?}");
    for (seats, told) in [("players", false), ("gm,players", true)] {
        for line in ["note", "recap all gm"] {
            let ended = play(&["play", &file, "--as", seats], &format!("{line}\nquit\n"));
            let text = String::from_utf8_lossy(&[ended.stdout, ended.stderr].concat()).into_owned();
            assert_eq!(text.contains("is a spy"), told, "{seats} {line}: {text}");
        }
    }
}

/// The action stays open, as if the answers had been typed line by line.
#[test]
fn a_line_of_several_answers_can_continue_after_a_fault() {
    let call = ["play", "duel", "--rules", "riskbreaker-0.0.1", "--dice", "3,4"];
    let told = play_anywhere(&call, "ok\n1 with push risk 1\nroll 5\nquit\n");
    let text = String::from_utf8_lossy(&told.stdout);
    assert!(text.contains("Type the face that fell, 1 to 10: `roll 1`."), "{text}");
    assert!(text.contains("Fighter tests Push: needs under 7 (Muscle 5 + margin 2), rolled 5: success"), "{text}");
}

/// South has peeked between the log line and the answer of north.
#[test]
fn a_program_at_the_screen_of_a_seat_gets_no_numbers_of_the_game() {
    let call = ["--rulesets", "tests/rulesets", "play", "--rules", "bluff", "--seed", "5", "--as", "north", "--json"];
    let told = play_anywhere(&call, "ok\nok\nok\nwhy\nlog all\n");
    let text = String::from_utf8_lossy(&told.stdout);
    let (before, log) = text.split_once("{\"event\":\"why\"").expect("it is told");
    let asked = before.rsplit_once("\"id\":").expect("something is asked").1;
    let asked = asked.split_inclusive('}').next().expect("it has a number");
    assert!(log.contains(&format!("\"id\":{asked}")), "{asked}: {text}");
    let numbers = log.lines().skip(1).filter_map(|line| line.split_once("\"n\":")?.1.split(',').next());
    let numbers: Vec<u32> = numbers.map(|number| number.parse().expect("a number")).collect();
    assert_eq!(numbers, (0..numbers.len() as u32).collect::<Vec<_>>(), "{text}");
    assert!(numbers.len() > 5, "{text}");
}

#[test]
fn house_rules_that_do_not_load_are_named_with_their_ruleset() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("broken-layer");
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(folder.join("ours/maneuvers")).expect("the folder can be made");
    let manifest = "id = \"ours\"\ntitle = \"Ours\"\nversion = \"1.0.0\"\nover = [\"riskbreaker-0.0.1\"]\n";
    std::fs::write(folder.join("ours/ruleset.toml"), manifest).expect("the file can be written");
    std::fs::write(folder.join("ours/maneuvers/boom.luau"), "return {").expect("the file can be written");
    let rulesets = folder.display().to_string();
    let told = play_anywhere(&["--rulesets", &rulesets, "play", "--rules", "riskbreaker-0.0.1+ours"], "");
    let problem = String::from_utf8_lossy(&told.stderr);
    assert!(problem.contains("riskbreaker-0.0.1+ours cannot be loaded"), "{problem}");
    let told = play_anywhere(&["--rulesets", &rulesets, "test", "ours"], "");
    let text = String::from_utf8_lossy(&told.stdout);
    assert!(text.contains("riskbreaker-0.0.1+ours: cannot be loaded"), "{text}");
}

/// Writes the ruleset `veil`, in which south has a hand that north does not see and a chest has hidden contents.
/// Returns its folder.
fn veil(folder: &str) -> String {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(folder);
    let _ = std::fs::remove_dir_all(&folder);
    for (path, text) in [
        (
            "veil/ruleset.toml",
            "id = \"veil\"\ntitle = \"Veil\"\nversion = \"1.0.0\"\nsummary = \"Veil.\"\nscenario = \"s\"\n[seats]\nnorth = \"North\"\nsouth = \"South\"\ngm = \"GM\"\n",
        ),
        ("veil/scenarios/s.toml", "title = \"S\"\n"),
        (
            "veil/kinds.luau",
            r#"
local rb = require("@riskbreaker")
return rb.kinds({
	player = { title = "name", fields = { name = rb.text(), gold = rb.int() } },
	hand = { title = "name", audience = "owner", fields = { name = rb.text(), owner = rb.text({ show = false }) } },
	chest = { title = "name", fields = { name = rb.text(), inside = rb.int({ audience = "nobody" }) } },
})
"#,
        ),
        (
            "veil/play.luau",
            r#"
local rb = require("@riskbreaker")
return rb.play({
	start = function()
		rb.spawn("player", { name = "Nora" })
		rb.spawn("hand", { name = "Secret Ace", owner = "south" })
		rb.spawn("hand", { name = "Secret King", owner = "south" })
		rb.spawn("chest", { name = "Chest", inside = 37 })
		rb.recur("turn", 1, 1)
	end,
	entries = {
		turn = function()
			if rb.choose({ seat = "north", topic = "what", options = { "wait", "duel" } }) == "duel" then
				rb.choose({ seat = "south", topic = "hand", options = rb.each("hand") })
			end
		end,
	},
	free = {
		open = {
			title = "Open the chest",
			seats = { "north" },
			run = function()
				rb.first("player"):add("gold", rb.first("chest").inside)
			end,
		},
	},
})
"#,
        ),
    ] {
        let path = folder.join(path);
        std::fs::create_dir_all(path.parent().expect("it is in a folder")).expect("the folder can be made");
        std::fs::write(path, text).expect("the file can be written");
    }
    folder.display().to_string()
}

#[test]
fn the_screen_of_a_seat_does_not_show_the_next_question_of_another() {
    let rulesets = veil("veil-next");
    for (seats, told) in [("north", false), ("gm,north", true)] {
        let call = ["--rulesets", &rulesets, "play", "--rules", "veil", "--as", seats, "--seed", "1"];
        let texts = ["duel secret\nquit\n", "duel\nsecret\nquit\n"].map(|lines| {
            let ended = play_anywhere(&call, lines);
            String::from_utf8_lossy(&[ended.stdout, ended.stderr].concat()).into_owned()
        });
        assert_eq!(texts.iter().any(|text| text.contains("Secret Ace")), told, "{seats}: {texts:?}");
    }
}

/// A fault may contain what a seat does not know.
#[test]
fn the_screen_of_a_seat_does_not_show_the_fault() {
    for (seats, told) in [("players", false), ("gm,players", true)] {
        let ended = play(&["play", "--seed", "5", "--as", seats], "ok\nstumble\n");
        assert!(!ended.status.success(), "{ended:?}");
        let text = String::from_utf8_lossy(&[ended.stdout, ended.stderr].concat()).into_owned();
        assert_eq!(text.contains("the script of this card is broken"), told, "{seats}: {text}");
    }
}

#[test]
fn a_fault_is_shown_to_a_game_master_with_a_seat_but_not_to_a_program() {
    let call = |seats: &str, more: &[&str]| {
        let told = play(&[&["play", "--seed", "5", "--as", seats][..], more].concat(), "ok\nstumble\nundo\nquit\n");
        assert!(told.status.success(), "{told:?}");
        String::from_utf8_lossy(&told.stdout).into_owned()
    };
    let text = call("gm,players", &[]);
    assert!(text.contains("skirmish/maneuvers/stumble.luau:9:"), "{text}");
    let text = call("players", &["--json"]);
    assert!(text.contains("{\"event\":\"fault\",") && !text.contains("stumble.luau"), "{text}");
}

/// No script has failed. The missing roll may be hidden from the seat.
#[test]
fn the_screen_of_a_seat_reports_that_the_written_dice_have_run_out() {
    for seats in [["--as", "players"].as_slice(), &["--curtain"]] {
        let call = [&["play", "duel", "--rules", "riskbreaker-0.0.1", "--dice", "3"][..], seats].concat();
        let lines = if seats.len() == 1 { "\nok\n" } else { "ok\n" };
        let told = play_anywhere(&call, lines);
        let text = String::from_utf8_lossy(&[told.stdout, told.stderr].concat()).into_owned();
        assert!(text.contains("the written dice have run out") && !text.contains("a script of the rules"), "{text}");
        assert!(!text.contains("roll to break the tie"), "{text}");
    }
}

/// Only the game master can continue after a fault.
#[test]
fn a_fault_calls_the_game_master_to_a_screen_with_a_curtain() {
    let call = ["play", "--seed", "5", "--curtain", "--seat", "foes=human"];
    let lines = "\nok\n\nok\nok\n\nstumble\n";
    let told = play(&call, &format!("{lines}\nskip\n\nquit\n"));
    assert!(told.status.success(), "{told:?}");
    let text = String::from_utf8_lossy(&told.stdout);
    let (seat, master) = text.split_once("The screen is for gm now.").expect("the game master is called");
    assert!(!seat.contains("the script of this card is broken"), "{text}");
    assert!(master.contains("the script of this card is broken"), "{text}");
    let (_, next) = master.split_once("» skip\n").expect("it is carried out");
    assert!(next.contains("The screen is for foes now."), "{text}");
    // Until somebody sits down, nothing about the fault is printed.
    for line in ["", "retry\n", "ok\n"] {
        let told = play(&call, &format!("{lines}{line}"));
        assert!(!told.status.success(), "{line}: {told:?}");
        let text = String::from_utf8_lossy(&[told.stdout, told.stderr].concat()).into_owned();
        assert!(!text.contains("the script of this card is broken"), "{line}: {text}");
    }
}

/// Changing the driver of a seat does not retry the failed action.
#[test]
fn json_output_names_the_seat_at_the_curtain() {
    let call = ["play", "--rulesets", "tests/rulesets", "--rules", "bluff", "--seed", "5", "--curtain", "--json"];
    let output = play_anywhere(&call, "\n");
    let text = String::from_utf8_lossy(&output.stdout);
    let (curtain, question) = (text.find("{\"event\":\"curtain\",\"seat\":\""), text.find("{\"event\":\"question\""));
    assert!(curtain.is_some() && curtain < question, "{text}");
}

#[test]
fn a_fault_is_not_reported_again_when_a_seat_gets_another_player() {
    let told = play(&["play", "--seed", "5"], "ok\nstumble\nseat gm absent\nundo\nquit\n");
    assert!(told.status.success(), "{told:?}");
    let text = String::from_utf8_lossy(&told.stdout);
    assert_eq!(text.matches("error: turn:").count(), 1, "{text}");
    assert!(text.contains("still stops the game: type `retry`"), "{text}");
}

#[test]
fn the_same_seed_and_lines_give_the_same_bytes() {
    let lines = "ok\nauto 9\nroll 4d6kh3\nauto 9\nundo 2\nlog all\n";
    assert_eq!(play(&["play", "--seed", "11"], lines).stdout, play(&["play", "--seed", "11"], lines).stdout);
}

#[test]
fn odds_of_a_later_question_are_requested_by_its_topics() {
    let call = ["play", "--rulesets", "tests/rulesets", "--rules", "gambles"];
    let told = play_anywhere(&call, "odds fence stake 2 parry yes\nodds fence stake 9\n");
    let text = String::from_utf8_lossy(&told.stdout);
    assert!(text.contains("4/15      Bea hurt 0 -> 4"), "{text}");
    let problem = String::from_utf8_lossy(&told.stderr);
    assert!(problem.contains("stdin:2: The number for stake is 9, but it must be 1 to 3."), "{problem}");
}

#[test]
fn nothing_that_is_typed_makes_it_panic() {
    let lines = [
        "",
        " ",
        ",",
        "\"",
        "'",
        "=",
        "==",
        "do",
        "do ,",
        "do \"",
        ":",
        ": x",
        "a: ",
        "#",
        "--",
        "-",
        "é",
        "🎲 risk",
        "set",
        "set  ,",
        "why ,",
        "undo 99999999999999999999",
        "redo 0",
        "log 0",
        "roll 1d",
        "roll ,",
        "auto 0",
        "seat a b c",
        "load",
        "save",
        "on on on",
        "strike on",
        "strike stake",
        "strike stake stake 2",
        "ok all all",
        "0",
        "-0",
        "99999999999999999999999",
        "1e9",
        "\u{1b}[2J",
        "\u{202e}olleh",
        "((((((((",
    ];
    for line in lines {
        let told = play(&["play", "--seed", "3"], &format!("{line}\n{line}\n"));
        assert!(matches!(told.status.code(), Some(0 | 1)), "{line:?}: {told:?}");
        let text = [told.stdout.as_slice(), &told.stderr].concat();
        assert!(!String::from_utf8_lossy(&text).contains("panicked"), "{line:?}");
    }
}

/// Creates a game of two characters in its own folder, from the template of `riskbreaker new`.
fn game_of_two(folder: &str, first: &str, second: &str) -> std::path::PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(folder);
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).expect("a folder");
    let made = Command::new(env!("CARGO_BIN_EXE_riskbreaker"))
        .args(["new", "my-game"])
        .current_dir(&folder)
        .env("XDG_STATE_HOME", STATE)
        .output()
        .expect("the program starts");
    assert!(made.status.success(), "{made:?}");
    let scenario =
        format!("title = \"two\"\n[first]\nname = \"{first}\"\nskill = 6\n[second]\nname = \"{second}\"\nskill = 5\n");
    std::fs::write(folder.join("rulesets/my-game/scenarios/two.toml"), scenario).expect("a scenario");
    folder.join("rulesets")
}

/// Plays lines in the game of two. Returns the output and the errors.
fn lines_of_two(folder: &str, (first, second): (&str, &str), lines: &str) -> (String, String) {
    let rulesets = game_of_two(folder, first, second);
    let rulesets = rulesets.to_str().expect("a path");
    let told = play_anywhere(&["play", "two", "--rulesets", rulesets, "--rules", "my-game", "--seed", "7"], lines);
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (text(&told.stdout), text(&told.stderr))
}

#[test]
fn an_ambiguous_name_is_never_resolved_silently() {
    for line in ["set ann harm 3", "sheet ann", "why ann harm", "sheet an", "set ANN harm 3", "who ann", "ann: guard"] {
        let (told, wrong) = lines_of_two("names-two", ("Ann", "Ann"), &format!("{line}\n"));
        if line == "ann: guard" {
            // Only one of them is asked.
            assert!(told.contains("guard") && wrong.is_empty(), "{line}: {told}{wrong}");
            continue;
        }
        assert!(wrong.contains("may be Ann (#1) or Ann (#2)"), "{line}: {told}{wrong}");
        assert!(!told.contains("edit: "), "{line}: {told}");
    }
    let lines =
        "set Ann (#2) harm 3\nset ann #1 harm 1\nset #2 harm 2\nsheet Ann (#2)\nwhy Ann (#1) harm\nAnn (#1): guard\n";
    let (told, wrong) = lines_of_two("names-labels", ("Ann", "Ann"), lines);
    assert_eq!(wrong, "");
    assert_eq!(told.matches("edit: Ann").count(), 3, "{told}");
    assert!(told.contains("Harm                2 of 5"), "{told}");
    assert!(told.contains("Ann (#2): What does Ann do?"), "{told}");
}

#[test]
fn odd_names_are_found_as_they_are_typed_and_as_they_are_printed() {
    for (name, typed) in [
        ("Éowyn", "eowyn, e\u{301}owyn, ÉOWYN, eow, Éowyn"),
        ("E\u{301}owyn", "eowyn, éowyn, eo"),
        ("İlker", "ilker, ILKER, ılker, İlker"),
        ("🐉", "🐉, dragon"),
        ("2", "2, #1"),
        ("Strike", "strike, Strike, stri"),
        ("Ann (#2)", "Ann (#2) (#1), #1"),
        ("#2", "#2 (#1), #1"),
        ("\u{301}", "\u{301}, #1"),
    ] {
        for typed in typed.split(", ") {
            let (told, wrong) = lines_of_two("names-odd", (name, "Bob"), &format!("set {typed} harm 3\n"));
            assert!(wrong.is_empty() && told.contains("Harm 0 -> 3"), "{name} as {typed}: {told}{wrong}");
            assert!(!told.contains("edit: Bob"), "{name} as {typed}: {told}");
        }
    }
    // A title that looks like a number or a label of another one.
    for (name, typed) in [("#1", "#1"), ("Ann (#1)", "Ann (#1)")] {
        let first = if name == "#1" { "Bob" } else { "Ann" };
        let (told, wrong) = lines_of_two("names-forged", (first, name), &format!("set {typed} harm 3\n"));
        assert!(wrong.contains(" may be ") && !told.contains("edit: "), "{name} as {typed}: {told}{wrong}");
    }
    for (first, second, typed) in [("Éowyn", "Èowyn", "eowyn"), ("Ann", "Anna", "an"), ("Bo", "bo", "BO")] {
        let (told, wrong) = lines_of_two("names-alike", (first, second), &format!("set {typed} harm 3\n"));
        assert!(wrong.contains(&format!("may be {first} or {second}")), "{typed}: {told}{wrong}");
    }
}

/// The rest of a line may answer a question that was not asked because only one answer is possible.
#[test]
fn a_line_may_name_the_only_possible_answer() {
    let said = |args: &[&str], line: &str| {
        let told = play_anywhere(&[&["play", "--seed", "4", "--rules"], args].concat(), &format!("{line}\n"));
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        (text(&told.stdout), text(&told.stderr))
    };
    let duel = ["silent-winter", "duel"];
    for line in ["engage walking", "engage Walking Corpse", "engage at walking"] {
        let (told, wrong) = said(&duel, line);
        assert!(wrong.is_empty() && told.contains("Sword and Dagger"), "{line}: {told}{wrong}");
    }
    let (_, wrong) = said(&duel, "engage nobody");
    assert!(wrong.contains("`nobody` does not answer the next one. Type `engage` alone."), "{wrong}");
    // A closed option is refused with its reason, whatever follows it.
    let (_, wrong) = said(&["contest"], "attack knight");
    assert!(wrong.contains("Attack is not open: no enemy is in reach"), "{wrong}");
    // Likewise after a free act.
    for line in ["put knight 0, 3", "put knight place 0, 3", "put who knight place 0, 3"] {
        let (told, wrong) = said(&["contest"], &format!("{line}\nwho"));
        assert!(wrong.is_empty() && told.contains("0, 3"), "{line}: {told}{wrong}");
    }
    // The first question of an act has to be answered first.
    let (_, wrong) = said(&["riskbreaker-0.0.3"], "create with set trap");
    assert!(wrong.contains("`skill` is not asked yet") && wrong.contains("Answer that first."), "{wrong}");
}

/// Every name or heading that the program prints can be typed.
#[test]
fn printed_names_and_headings_can_be_typed_in_every_game() {
    let objects = |args: &[&str], lines: &str| -> Vec<serde_json::Value> {
        let told = play_anywhere(&[&["play", "--json", "--seed", "1"], args].concat(), lines);
        let text = String::from_utf8_lossy(&told.stdout).into_owned();
        text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
    };
    for (game, scenario) in [
        ("riskbreaker-0.0.1", "duel"),
        ("riskbreaker-0.0.3", "adventure"),
        ("contest", "duel"),
        ("rbf", "ambush"),
        ("silent-winter", "crypt"),
    ] {
        let args = ["--rules", game, scenario];
        let first = objects(&args, "who\n");
        let mut names: Vec<String> = Vec::new();
        for row in first.iter().filter(|object| object["event"] == "who") {
            let titles = row["lines"].as_array().into_iter().flatten().filter_map(|line| line[1].as_str());
            names.extend(titles.flat_map(|titles| titles.split(", ")).map(str::to_owned));
            let tables = row["overview"].as_array().into_iter().flatten();
            let rows = tables.flat_map(|table| table["rows"].as_array().into_iter().flatten());
            names.extend(rows.filter_map(|row| row[0].as_str()).map(str::to_owned));
        }
        let about = first.iter().filter_map(|object| object["about"].as_str());
        names.extend(about.map(str::to_owned));
        names.retain(|name| !name.is_empty());
        assert!(names.len() >= 2, "{game}: {first:?}");
        let lines: String = names.iter().map(|name| format!("sheet {name}\n")).collect();
        let sheets = objects(&args, &lines);
        let refused: Vec<_> = sheets.iter().filter(|object| object["event"] == "refused").collect();
        assert!(refused.is_empty(), "{game}: {refused:?}");
        let sheets: Vec<_> = sheets.iter().filter(|object| object["event"] == "sheet").collect();
        assert_eq!(sheets.len(), names.len(), "{game}");
        let mut lines = String::new();
        for (name, sheet) in names.iter().zip(sheets) {
            assert_eq!(sheet["title"], **name, "{game}");
            let headings = sheet["lines"].as_array().into_iter().flatten().filter_map(|line| line[0].as_str());
            lines.extend(
                headings.filter(|heading| !heading.is_empty()).map(|heading| format!("why {name} {heading}\n")),
            );
        }
        let refused: Vec<_> =
            objects(&args, &lines).into_iter().filter(|object| object["event"] == "refused").collect();
        assert!(refused.is_empty(), "{game}: {refused:?}");
    }
}

/// Answers to later questions are matched as at the prompt: without accents, in any case and normalization.
#[test]
fn answers_to_odds_are_named_as_a_person_types_them() {
    let position = Path::new(env!("CARGO_TARGET_TMPDIR")).join("accents.toml");
    let units = "us = [{ name = \"Ann\" }]\nthem = [{ name = \"Éowyn\" }, { name = \"Éomer\" }]\n";
    std::fs::write(&position, units).expect("a position");
    let shipped = Path::new(env!("CARGO_MANIFEST_DIR")).join("rulesets");
    let odds = |topic: &str, typed: &str| {
        let mut program = Command::new(env!("CARGO_BIN_EXE_riskbreaker"));
        program.args(["odds", "attack", "--rules", "contest", "--until", "action", "--rulesets"]).arg(&shipped);
        let told = program.arg("--position").arg(&position).args([topic, typed]).output().expect("the program starts");
        String::from_utf8_lossy(&[told.stdout.as_slice(), &told.stderr].concat()).into_owned()
    };
    for topic in ["--target", "--vs"] {
        for typed in ["Éowyn", "e\u{301}owyn", "E\u{301}OWYN", "eow", "EOWYN"] {
            let told = odds(topic, typed);
            assert!(told.contains("Ann target: Éowyn (given)"), "{topic} {typed}: {told}");
        }
        for typed in ["eo", "Éo", "e\u{301}"] {
            let told = odds(topic, typed);
            assert!(told.contains("may be Éowyn or Éomer"), "{topic} {typed}: {told}");
        }
    }
}

fn copy_all(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).expect("a folder");
    for entry in std::fs::read_dir(from).expect("a folder") {
        let path = entry.expect("an entry").path();
        let copy = to.join(path.file_name().expect("a name"));
        if path.is_dir() {
            copy_all(&path, &copy);
        } else {
            std::fs::copy(&path, &copy).expect("a copy");
        }
    }
}

/// A name that a seat may not know is neither found nor suggested, whatever is typed.
#[test]
fn a_hidden_name_is_never_suggested_to_a_seat() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("unseen-names");
    let _ = std::fs::remove_dir_all(&folder);
    copy_all(&Path::new(env!("CARGO_MANIFEST_DIR")).join("rulesets/contest"), &folder.join("contest"));
    let scenario = "title = \"Unseen\"\n\
        us = [{ name = \"Zorro\", unseen = true, speed = 1, missile = \"short_bow\" }, { name = \"Gus\", at = \"-60, 0\" }]\n\
        them = [{ name = \"Bob\", at = \"0, 0\" }]\n";
    std::fs::write(folder.join("contest/scenarios/unseen.toml"), scenario).expect("a scenario");
    let rulesets = folder.to_str().expect("a path");
    let told = |seat: &str, line: &str| {
        let args = ["play", "unseen", "--rulesets", rulesets, "--rules", "contest", "--seed", "3", "--as", seat];
        let told = play_anywhere(&args, &format!("{line}\n"));
        String::from_utf8_lossy(&[told.stdout.as_slice(), &told.stderr].concat()).into_owned()
    };
    for line in [
        "sheet Zorr",
        "sheet zorr",
        "why Zor stealth",
        "why Bob melee_combat Zor",
        "contest on Zor",
        "do contest against zor",
        "odds contest target Zor",
        "who Zor",
        "who",
        "look",
        "log all",
        "plan",
        "match",
        "raise who Zor",
        "set Zor x 3",
        "help Zor",
        "move towards Zor",
        "hint",
    ] {
        let told = told("foes", line);
        assert!(!told.contains("Zorro"), "{line}: {told}");
    }
    assert!(told("players", "sheet Zor").contains("Zorro"));
}

fn play(args: &[&str], lines: &str) -> Output {
    play_anywhere(&[&["--rulesets", RULESETS], args].concat(), lines)
}

fn play_anywhere(args: &[&str], lines: &str) -> Output {
    let mut program = Command::new(env!("CARGO_BIN_EXE_riskbreaker"))
        .args(args)
        .env("XDG_STATE_HOME", STATE)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    // It may have stopped reading before the last line.
    let _ = program.stdin.take().expect("it reads").write_all(lines.as_bytes());
    program.wait_with_output().expect("the program ends")
}

/// The output of `log all`.
fn log_of(output: &Output) -> String {
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let (_, log) = text.rsplit_once("» log all").unwrap_or_default();
    log.to_owned()
}
