//! Lines as people type them: their meaning, or their refusal.
#![cfg(feature = "cli")]

mod typed;

/// A game, the lines before, a line, and its output: on standard output if it is accepted, else on standard error.
type Typed = (&'static str, &'static [&'static str], &'static str, &'static str);

/// The question of a 0.0.3 game that offers cards to the Ranger, whose side has an Advantage of 2.
const CARDS: &[&str] = &["ok"];

const TAKEN: &[Typed] = &[
    // The name of a card takes precedence over small words in it, and over a closed act of the game master.
    ("riskbreaker-0.0.3", CARDS, "kill damage guard", "Ranger: how much Risk?"),
    ("riskbreaker-0.0.3", CARDS, "inflict kill damage guard 1", "Ranger rolls Bow"),
    ("riskbreaker-0.0.3", CARDS, "odds kill damage guard", "Inflict Kill Damage"),
    ("riskbreaker-0.0.3", CARDS, "odds inflict kill damage guard risk 1", "Guard Kill Damage 0 -> 1"),
    // Yes and no as people say them, and polite phrases.
    ("riskbreaker-0.0.3", &[], "yeah", "Ranger: which Maneuver?"),
    ("riskbreaker-0.0.3", &[], "Yes please!", "Ranger: which Maneuver?"),
    ("riskbreaker-0.0.3", &[], "sure.", "Ranger: which Maneuver?"),
    ("riskbreaker-0.0.1", &[], "nope", "Fighter: which fight this round?"),
    ("riskbreaker-0.0.1", &[], "no!", "Fighter: which fight this round?"),
    ("riskbreaker-0.0.1", &[], "ok.", "Fighter: which action?"),
    ("riskbreaker-0.0.1", CARDS, "I want to use the advantage, please.", "Fighter: which skill?"),
    ("contest", &[], "go to the ogre", "Rogue goes towards Ogre"),
    // Questions in plain language.
    ("riskbreaker-0.0.3", CARDS, "how do I attack?", "Inflict Kill Damage"),
    ("riskbreaker-0.0.3", CARDS, "what is Advantage", "the score of one side"),
    ("riskbreaker-0.0.3", CARDS, "who is the captain?", "Sword, Knockdown, Push"),
    ("riskbreaker-0.0.3", CARDS, "whats going on", "fights with"),
    ("contest", &[], "why can't I charge?", "no enemy stands out of reach"),
    ("riskbreaker-0.0.3", CARDS, "gain advantage?", "Use any skill that improves"),
    ("contest", &[], "surrender?", "Give up. You are out of the fight"),
    ("riskbreaker-0.0.3", CARDS, "let me see the log", "Heroes: declare yes"),
    // A question is never an answer.
    ("rbf", &["ok ok"], "what", "What does Brawler do? (1 action)"),
    ("rbf", &["ok ok"], "what does move do?", "Go up to your speed in metres"),
    ("riskbreaker-0.0.3", CARDS, "what skills do I have", "Ranger"),
    ("riskbreaker-0.0.3", CARDS, "how hurt is the captain", "Captain"),
    ("silent-winter", &[], "what segment is it?", "Walking Corpse"),
    ("riskbreaker-0.0.3", CARDS, "why not advance", "there is no goal to advance"),
    ("riskbreaker-0.0.3", CARDS, "what are the odds", "Gain Advantage"),
    ("contest", &[], "can I shoot the ogre?", "Ranged Strike: has no missile weapon"),
    ("contest", &[], "odds of pass", "Pass · until the next round"),
    ("riskbreaker-0.0.3", CARDS, "next", "Ranger: which Maneuver?"),
    // Numbers in words; `skip` without an error; words from other programs.
    ("riskbreaker-0.0.3", CARDS, "gain advantage with bow risk two", "Ranger rolls Bow"),
    ("riskbreaker-0.0.3", CARDS, "gain bow two", "Ranger rolls Bow"),
    ("riskbreaker-0.0.1", &["ok"], "skip", "Fighter passes"),
    ("riskbreaker-0.0.1", &[], ":q", ""),
    ("riskbreaker-0.0.1", &[], "encounter thief and thief against 2 bandits", "Thief, Thief against 2 x Bandit"),
    // A number is no name of a place: it is asked again.
    ("riskbreaker-0.0.1", &["ok", "maneuver", "1"], "2", "a new place needs a name, not a number"),
    // The chosen card is named again before the answer to its question.
    ("riskbreaker-0.0.3", &["ok", "gain advantage"], "gain advantage with tactics", "Ranger: how much Risk?"),
    ("rbf", &["ok ok ok"], "move next to thug", "Brawler moves to"),
    ("rbf", &[], "ok ok", "What does Brawler do? (1 action)"),
    // A card is preferred to an act of the game master with a similar name.
    ("riskbreaker-0.0.3", CARDS, "create a trigger", "Ranger: with which skill?"),
    ("contest", &[], "move toward ogre", "Rogue goes towards Ogre"),
    // A number after `why` and `help` is that of an option.
    ("riskbreaker-0.0.3", CARDS, "why 5", "Inflict Kill Damage is open"),
    ("riskbreaker-0.0.3", CARDS, "help 4", "Gain Advantage"),
    // Words that are on the screen.
    ("riskbreaker-0.0.3", &[], "help chart", "The list of prices"),
    ("riskbreaker-0.0.3", &[], "help margin", "Success Level"),
    ("riskbreaker-0.0.3", &[], "help captain", "Captain is in this scene"),
    ("riskbreaker-0.0.3", &[], "help party", "The people of one player"),
    ("riskbreaker-0.0.1", &[], "help weapon", "Each weapon is a Fight skill"),
    ("riskbreaker-0.0.1", &[], "help counters", "the third becomes 1 KD"),
    ("contest", &[], "help margin", "How far a Roll is"),
    ("contest", &[], "help roll", "3d12 + A - B"),
    ("silent-winter", &[], "help acts", "The segment on which"),
    ("silent-winter", &[], "help initiative", "There are no rounds"),
    ("rbf", &[], "help count", "The place in the order"),
    ("rbf", &[], "help win", "no enemy is left"),
    // An empty log is reported.
    ("silent-winter", &[], "log", "Nothing has happened yet."),
    ("riskbreaker-0.0.1", &[], "encounter thief vs bandit", "Thief against Bandit"),
    ("riskbreaker-0.0.1", &[], "encounter thief versus 2 x bandit", "Thief against 2 x Bandit"),
];

const REFUSED: &[Typed] = &[
    // A number does not select from a list that was not shown.
    ("riskbreaker-0.0.1", &[], "yes, advantage 2", "another question comes first"),
    ("riskbreaker-0.0.1", CARDS, "advantage, 2", "another question comes first"),
    ("riskbreaker-0.0.3", CARDS, "gain advantage, 2", "another question comes first"),
    ("riskbreaker-0.0.3", &[], "ok 5", "was not shown yet"),
    ("riskbreaker-0.0.3", CARDS, "1, 1, 5", "was not shown yet"),
    // A closed act gives way to what the question offers.
    ("riskbreaker-0.0.3", CARDS, "strike bandit", "It may be `Inflict Kill Damage`"),
    ("riskbreaker-0.0.3", CARDS, "hit the guard", "It may be `Inflict Kill Damage`"),
    ("riskbreaker-0.0.3", CARDS, "why 50", "The options have the numbers 1 to 8."),
    ("riskbreaker-0.0.3", CARDS, "help 0", "The options have the numbers 1 to 8."),
    ("rbf", &["ok ok ok"], "overwatch", "Brawler has chosen Move."),
    ("riskbreaker-0.0.3", CARDS, "frobnicate", "No answer here is called `frobnicate`."),
    ("riskbreaker-0.0.3", CARDS, "muscle", "`why muscle` shows the value."),
    // The refusal is about the answer that is wrong.
    ("riskbreaker-0.0.3", CARDS, "kill damage guard risk 9", "must be 1 to"),
    // Words that match no option never become free text.
    ("silent-winter", &["no", "no"], "use sword", "Cannot read `sword` after `use`."),
    ("riskbreaker-0.0.1", &[], "75%", "Please answer yes or no"),
    ("riskbreaker-0.0.1", &["ok", "maneuver", "1"], "kill damage", "put the words in quotes if they are the answer"),
];

/// The output for the last line, and true if it was accepted.
fn play(rules: &str, before: &[&str], line: &str) -> (bool, String) {
    let typed = typed::play(rules, before, line);
    let told = typed.told.rsplit_once(&format!("» {line}\n")).map_or("", |(_, told)| told);
    (typed.taken, told.to_owned() + &typed.wrong)
}

#[test]
fn typed_lines_are_understood() {
    for (rules, before, line, printed) in TAKEN {
        let (taken, told) = play(rules, before, line);
        assert!(taken && told.contains(printed), "{rules}, {before:?}: `{line}` should print `{printed}`:\n{told}");
    }
}

#[test]
fn refused_lines_have_a_helpful_message() {
    for (rules, before, line, printed) in REFUSED {
        let (taken, told) = play(rules, before, line);
        assert!(!taken && told.contains(printed), "{rules}, {before:?}: `{line}` should print `{printed}`:\n{told}");
    }
}
