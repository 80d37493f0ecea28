//! The output of `riskbreaker new` is correct, and its specs hold; types and cards are written.
#![cfg(feature = "cli")]

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output};

struct Place(PathBuf);

impl Place {
    fn new(name: &str) -> Place {
        let folder = std::env::temp_dir().join(format!("riskbreaker-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).unwrap();
        Place(folder)
    }

    fn call(&self, args: &[&str]) -> Output {
        Command::new(env!("CARGO_BIN_EXE_riskbreaker")).args(args).current_dir(&self.0).output().unwrap()
    }

    /// The standard output of a call that must succeed.
    fn well(&self, args: &[&str]) -> String {
        let output = self.call(args);
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(output.status.success(), "{args:?}: {text}{}", String::from_utf8_lossy(&output.stderr));
        text
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[test]
fn a_ruleset_and_its_parts_work_as_they_are_written() {
    let place = Place::new("new");
    place.well(&["new", "my-game"]);
    assert_eq!(place.well(&["check"]), "my-game: 3 cards, no problem\n");
    let skill = place.0.join("rulesets/my-game/.agents/skills/riskbreaker-rules/SKILL.md");
    assert!(fs::read_to_string(skill).unwrap().contains("riskbreaker check ID --json"));
    for (what, name) in [("maneuver", "quick_jab"), ("item", "lucky_coin"), ("hook", "cheering"), ("spec", "opening")] {
        let told = place.well(&["new", what, name]);
        assert!(told.ends_with("1 spec passes\n"), "{told}");
    }
    assert_eq!(place.well(&["check"]), "my-game: 5 cards, no problem\n");
    assert!(place.well(&["test", "--coverage"]).contains("11 specs hold"));
    let jab = fs::read_to_string(place.0.join("rulesets/my-game/specs/maneuvers/quick_jab.luau")).unwrap();
    assert!(jab.contains("t:play(\"Ann\", \"quick_jab\")"), "{jab}");
    assert!(place.well(&["new", "character", "cid"]).contains("cast/cid.toml"));
    assert!(place.well(&["new", "scenario", "at_night"]).contains("scenarios/at_night.toml"));
    let again = place.call(&["new", "maneuver", "quick_jab"]);
    assert_eq!(again.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&again.stderr).contains("exists already"));
    assert!(place.well(&["dev", "my-game", "--once"]).contains("no problem, 11 specs pass"));
}

#[test]
fn house_rules_lie_on_a_ruleset_of_the_program() {
    let place = Place::new("house");
    place.well(&["new", "ruleset", "my-house", "--extends", "riskbreaker-0.0.1"]);
    assert!(place.well(&["check"]).starts_with("my-house: "));
    let told = place.well(&["test", "my-house", "--filter", "First House Rule"]);
    assert!(told.contains("1 spec holds"), "{told}");
    let mut play = Command::new(env!("CARGO_BIN_EXE_riskbreaker"));
    let play = play.args(["play", "--rules", "my-house", "--seed", "1"]).current_dir(&place.0);
    assert!(play.stdin(std::process::Stdio::null()).output().unwrap().status.success());
}

#[test]
fn house_rules_over_both_versions_have_specs_for_each() {
    let place = Place::new("over");
    place.well(&["new", "ruleset", "my-house", "--over", "riskbreaker-0.0.1,riskbreaker-0.0.3"]);
    assert!(place.well(&["new", "maneuver", "shove", "--in", "my-house"]).contains("2 specs pass"));
    assert!(fs::read_to_string(place.0.join("rulesets/my-house/RULES.md")).unwrap().contains("**MH-"));
    let list = place.well(&["rules", "list"]);
    for id in ["my-house", "riskbreaker-0.0.1", "riskbreaker-0.0.3", "contest", "rbf", "silent-winter"] {
        assert!(
            list.lines().any(|line| line.trim_start().starts_with(&format!("{id} "))),
            "{id} can be played: {list}"
        );
    }
    let layered = "riskbreaker-0.0.1+my-house";
    let odds = place.well(&["odds", "advantage", "--rules", layered, "--compare", "riskbreaker-0.0.1"]);
    assert!(odds.lines().next().is_some_and(|heading| heading.ends_with(layered)), "{odds}");
    assert!(odds.contains(&format!("{layered}   riskbreaker-0.0.1")), "{odds}");
    let sim = place.well(&["sim", "--rules", "riskbreaker-0.0.1", "--layers", "my-house", "--trials", "2"]);
    assert!(sim.contains(&format!("{layered}: ")), "{sim}");
    let mut play = Command::new(env!("CARGO_BIN_EXE_riskbreaker"));
    let play = play.current_dir(&place.0).stdin(std::process::Stdio::null()).output().unwrap();
    assert!(play.status.success(), "a layer hides nothing: {play:?}");
}

#[test]
fn names_that_cannot_be_are_refused() {
    let place = Place::new("names");
    for name in ["", "My Game", "../out", "a..b", "-x", "9lives"] {
        assert_eq!(place.call(&["new", "ruleset", name]).status.code(), Some(2), "{name}");
    }
    assert_eq!(place.call(&["new", "maneuver", "x"]).status.code(), Some(2));
    assert!(fs::read_dir(&place.0).unwrap().next().is_none());
}

#[test]
fn a_folder_whose_name_is_no_id_is_reported() {
    let place = Place::new("left-out");
    place.well(&["new", "my_game"]);
    fs::rename(place.0.join("rulesets/my_game"), place.0.join("rulesets/My Game")).unwrap();
    let reason = "My Game: is left out: the name of the folder is no id";
    let alone = place.call(&["check"]);
    assert_eq!(alone.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&alone.stderr).contains(reason), "{alone:?}");
    place.well(&["new", "sound"]);
    let checked = place.call(&["check"]);
    let told = String::from_utf8_lossy(&checked.stdout).into_owned();
    assert_eq!(checked.status.code(), Some(1), "{told}");
    assert!(told.contains("sound: 3 cards, no problem") && told.contains(reason), "{told}");
    assert_eq!(place.well(&["check", "sound"]), "sound: 3 cards, no problem\n");
    let listed = place.call(&["rules", "list"]);
    assert!(String::from_utf8_lossy(&listed.stdout).contains(reason), "{listed:?}");
    for call in [&["play", "--rules", "My Game"][..], &["check", "My Game"]] {
        let refused = place.call(call);
        assert!(String::from_utf8_lossy(&refused.stderr).contains("an id has small letters"), "{refused:?}");
    }
}

#[test]
fn types_and_cards_are_written() {
    let place = Place::new("types");
    place.well(&["new", "my-game"]);
    fs::remove_dir_all(place.0.join("rulesets/my-game/.riskbreaker")).unwrap();
    place.well(&["types"]);
    let types = fs::read_to_string(place.0.join("rulesets/my-game/.riskbreaker/riskbreaker.luau")).unwrap();
    assert!(
        types.contains("export type Character = {")
            && types.contains("hurt: (target: Character, amount: number, by: Character?) -> ...any")
    );
    assert!(types.contains("need: (self: Character, ...any) -> number"));
    place.well(&["cards", "my-game", "--out", "cards.html"]);
    let page = fs::read_to_string(place.0.join("cards.html")).unwrap();
    for (class, count) in [("page cards", 1), ("page cards backs", 1), ("page sheets quarter", 1)] {
        assert_eq!(page.matches(&format!("class=\"{class}\"")).count(), count, "{class}");
    }
    assert!(page.contains("<h2>Catch breath</h2>") && !page.contains("MG-6"), "{page}");
}
