//! Suggestions of the prompt work: each line in backquotes in a message is typed instead of the refused one.
#![cfg(feature = "cli")]

#[allow(dead_code)] // another test reads what was printed, too
mod typed;

use std::process::Command;

/// Lines that are refused in some position of each game: the lines before, and the refused one.
const REFUSED: &[(&str, &[&str], &str)] = &[
    ("riskbreaker-0.0.1", &[], "kill"),
    ("riskbreaker-0.0.1", &[], "maybe"),
    ("riskbreaker-0.0.1", &[], "ok advantage risk 1"),
    ("riskbreaker-0.0.1", &[], "optoins"),
    ("riskbreaker-0.0.1", &["ok"], "advantage risk 1"),
    ("riskbreaker-0.0.1", &["ok"], "risk 1"),
    ("riskbreaker-0.0.1", &["ok"], "pass risk 1"),
    ("riskbreaker-0.0.1", &["ok"], "attack"),
    ("riskbreaker-0.0.1", &["ok"], "kill damage 2"),
    ("riskbreaker-0.0.1", &["ok"], "advantage blindly"),
    ("riskbreaker-0.0.1", &["ok"], "advnatage"),
    ("riskbreaker-0.0.1", &["ok"], "why Fighter muscle skill"),
    ("riskbreaker-0.0.1", &["ok"], "set Fighter musle 3"),
    ("riskbreaker-0.0.3", &[], "create trigger"),
    ("riskbreaker-0.0.3", &[], "risk 1"),
    ("riskbreaker-0.0.3", &["ok"], "gain advantage risk 1"),
    ("riskbreaker-0.0.3", &["ok"], "advantage"),
    ("riskbreaker-0.0.3", &["ok"], "attack"),
    ("riskbreaker-0.0.3", &["ok"], "gain advantage with bow at nobody"),
    ("riskbreaker-0.0.1", &[], "yes, advantage 2"),
    ("riskbreaker-0.0.1", &["ok"], "advantage, 2"),
    ("riskbreaker-0.0.3", &["ok"], "gain advantage, 2"),
    ("riskbreaker-0.0.3", &["ok"], "muscle"),
    ("riskbreaker-0.0.3", &["ok"], "help 0"),
    ("riskbreaker-0.0.3", &["ok"], "hit the guard"),
    ("contest", &[], "target ogre"),
    ("contest", &[], "move elsewhere"),
    ("contest", &[], "kill"),
    ("contest", &["ok"], "why Longbowman ranged_defense"),
    ("silent-winter", &[], "attack"),
    ("silent-winter", &[], "go there"),
    ("rbf", &[], "attack"),
    ("rbf", &["ok"], "with sword"),
];

/// The texts before a suggestion.
const SUGGESTS: [&str; 9] =
    ["Did you mean `", "type `", "Type `", "line: `", "out: `", "example `", "only `", "such as `", "no: `"];

/// Plays the lines. Returns true if all were accepted, and the text on standard error.
fn play(rules: &str, before: &[&str], line: &str) -> (bool, String) {
    let typed = typed::play(rules, before, line);
    (typed.taken, typed.wrong)
}

#[test]
fn every_suggestion_of_a_refusal_is_accepted_when_typed() {
    let mut typed = 0;
    for (rules, before, line) in REFUSED {
        let (taken, message) = play(rules, before, line);
        assert!(!taken, "{rules}: `{line}` is taken");
        for said in SUGGESTS {
            let parts = message.split(said).skip(1);
            for suggestion in parts.filter_map(|part| part.split('`').next()) {
                // A suggested word replaces the word that is quoted first.
                let slip = message.split('`').nth(1).unwrap_or_default();
                let tries = [suggestion.to_owned(), line.replace(slip, suggestion)];
                // A line for later comes after the due answer; the rules may keep it closed.
                let later = [*before, &["ok"]].concat();
                let is_read_later = || {
                    let (taken, refusal) = play(rules, &later, suggestion);
                    // Another seat may have to answer before it as well.
                    taken || refusal.contains("is not open") || refusal.contains("must answer")
                };
                let works = tries.iter().any(|line| play(rules, before, line).0)
                    || (message.contains(&format!("then type `{suggestion}`")) && is_read_later());
                assert!(
                    works,
                    "{rules}, {before:?}: `{line}` is refused with\n{message}but `{suggestion}` is refused as well"
                );
                typed += 1;
            }
        }
    }
    assert!(typed > REFUSED.len() / 2, "only {typed} suggestions");
}

/// `odds` of a card that is closed in the scenario suggests a call with a changed position. That call works.
#[test]
fn the_position_that_odds_suggests_for_a_closed_card_opens_it() {
    let odds = |words: &[&str]| {
        let output = Command::new(env!("CARGO_BIN_EXE_riskbreaker"))
            .args(words)
            .current_dir(env!("CARGO_MANIFEST_DIR"))
            .env("XDG_STATE_HOME", env!("CARGO_TARGET_TMPDIR"))
            .output()
            .expect("the program runs");
        (output.status.success(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    let mut closed = 0;
    for (rules, cards) in [
        ("riskbreaker-0.0.1", ["kill_damage", "alteration"]),
        ("riskbreaker-0.0.3", ["inflict_kill", "gain_advantage"]),
        ("contest", ["charge", "melee_strike"]),
        ("silent-winter", ["attack", "shoot"]),
    ] {
        for card in cards {
            let (_, message) = odds(&["odds", card, "--rules", rules, "--scenario", "duel"]);
            let Some((_, call)) = message.split_once("It is open in this position:\nriskbreaker ") else { continue };
            // A word with a blank in it is in single quotes.
            let parts = call.trim().split('\'').enumerate();
            let words: Vec<&str> = parts
                .flat_map(|(at, part)| if at % 2 == 1 { vec![part] } else { part.split_whitespace().collect() })
                .collect();
            let (taken, refusal) = odds(&words);
            assert!(taken, "{rules}: `{call}` is suggested and refused: {refusal}");
            closed += 1;
        }
    }
    assert!(closed >= 3, "only {closed} cards are closed");
}
