//! Lines as people type them: their meaning, or their refusal.
#![cfg(feature = "cli")]

mod typed;

/// A game, the lines before, a line, and its output: on standard output if it is accepted, else on standard error.
type Typed = (&'static str, &'static [&'static str], &'static str, &'static str);

/// The question of a 0.0.3 game that offers cards to the Ranger, whose side has an Advantage of 2.
const CARDS: &[&str] = &["ok"];

/// The question of a 0.0.3 game that asks the Ranger for the targets of Kill Damage.
const TARGETS: &[&str] = &["ok", "ok"];

/// The question of a 0.0.1 game that asks the Fighter for a stake.
const RISK: &[&str] = &["ok", "ok", "ok"];

/// The question of a 0.0.3 game that asks the Mage who takes a point that is left over.
const OVERFLOW: &[&str] = &["ok", "ok", "ok", "ok", "ok", "ok", "ok", "ok", "ok", "ok"];

/// The question of contest that asks the Rogue where to.
const PLACE: &[&str] = &["ok"];

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
    ("contest", &[], "can I shoot the ogre?", "Ranged Strike: Rogue has no missile weapon"),
    ("contest", &[], "odds of pass", "Pass · until the next round"),
    ("riskbreaker-0.0.3", CARDS, "next", "Ranger: which Maneuver?"),
    // Numbers in words; `skip` without an error; words from other programs.
    ("riskbreaker-0.0.3", CARDS, "gain advantage with bow risk two", "Ranger rolls Bow"),
    ("riskbreaker-0.0.3", CARDS, "gain bow two", "Ranger rolls Bow"),
    ("riskbreaker-0.0.1", &["ok"], "skip", "Fighter passes"),
    ("riskbreaker-0.0.1", &[], ":q", ""),
    ("riskbreaker-0.0.1", &[], "encounter thief and thief against 2 bandits", "Thief, Thief against 2 x Bandit"),
    // The chosen card is named again before the answer to its question.
    ("riskbreaker-0.0.3", &["ok", "gain advantage"], "gain advantage with tactics", "Ranger: how much Risk?"),
    ("rbf", &["ok ok ok"], "move next to thug", "Brawler moves to"),
    ("rbf", &[], "ok ok", "What does Brawler do? (1 action)"),
    // A card is preferred to an act of the game master with a similar name.
    ("riskbreaker-0.0.3", CARDS, "create a trigger", "Ranger: with which skill for Create Trigger?"),
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
    // Yes and no in phrases, and with words of the question behind them.
    ("riskbreaker-0.0.3", &[], "looks good", "Ranger: which Maneuver?"),
    ("riskbreaker-0.0.1", &[], "yes, attack Defender", "Fighter: which action?"),
    ("silent-winter", &[], "not now", "Does Mage start Sniping"),
    ("silent-winter", &[], "yes, start sniping", "Sniping  no -> yes"),
    // A number in a sentence, or the greatest one.
    ("riskbreaker-0.0.1", RISK, "I'll stake 2", "Fighter tests Knockdown"),
    ("riskbreaker-0.0.1", RISK, "max", "Fighter tests Knockdown"),
    ("riskbreaker-0.0.1", RISK, "what's the maximum?", "Type a number from 1 to 3"),
    // Lists and points in other words; `none` of an allotment.
    ("riskbreaker-0.0.3", TARGETS, "all of them", "how much Risk?"),
    ("riskbreaker-0.0.3", TARGETS, "the captain & the archer", "how much Risk?"),
    ("riskbreaker-0.0.3", TARGETS, "guard with risk 1", "Guard  Kill Damage  0 -> 1"),
    ("rbf", &[], "gunner>blade", "Gunner 7, Rifle Raider 7, Blade 7"),
    ("rbf", &[], "2 1", "Gunner 7, Rifle Raider 7, Blade 7"),
    // A place by the name of whom it is next to, with small words; `pass` where the turn is ended by another name.
    ("contest", PLACE, "towards the archer", "Rogue goes towards Archer"),
    ("rbf", &["ok ok ok"], "the gunner", "Brawler moves to"),
    ("rbf", &["ok ok"], "pass", "Mystic's turn"),
    ("silent-winter", &["no", "no"], "treat my wounds", "Lothaire treats"),
    ("riskbreaker-0.0.3", OVERFLOW, "give 1 to bandit", "Bandit  Kill Damage  0 -> 1"),
    ("riskbreaker-0.0.3", OVERFLOW, "bandit: 1", "Bandit  Kill Damage  0 -> 1"),
    ("riskbreaker-0.0.3", OVERFLOW, "nobody", "Archer"),
    ("riskbreaker-0.0.3", CARDS, "/help", "answers the question"),
    // What shows something comes before a word in the middle of an option's name.
    ("contest", &[], "stats", "Melee Combat"),
    ("contest", &[], "map", "Crossbowman"),
    ("rbf", &["ok ok"], "sheet me", "Brawler"),
    ("riskbreaker-0.0.3", CARDS, "who has the most advantage?", "Ranger"),
    ("riskbreaker-0.0.3", CARDS, "what can ranger do?", "Gain Advantage"),
    ("riskbreaker-0.0.1", &[], "what happens if I say no?", "no"),
    ("contest", &[], "take cover", "Rogue is 50 % in view"),
    ("riskbreaker-0.0.1", &[], "encounter thief vs bandit", "Thief against Bandit"),
    ("riskbreaker-0.0.1", &[], "encounter thief versus 2 x bandit", "Thief against 2 x Bandit"),
    // Questions that name nobody, and words after a command that say nothing.
    ("contest", &[], "who is nearest", "Crossbowman"),
    ("contest", &[], "ogre stats", "Melee Combat"),
    ("riskbreaker-0.0.3", CARDS, "how much advantage do we have", "skill level"),
    ("riskbreaker-0.0.1", &["ok"], "undo that", "undid declare"),
    ("riskbreaker-0.0.1", &["ok"], "tell me what maneuver does", "Opponents who succeed at Agility"),
    ("riskbreaker-0.0.1", &["ok"], "Option two please", "1 is near, 2 farther"),
    // A sentence whose every word is accounted for: initials, other words, and answers to later questions.
    ("riskbreaker-0.0.3", CARDS, "let's gain advantage by tactics", "Ranger: how much Risk?"),
    ("riskbreaker-0.0.3", CARDS, "kd guard", "Ranger: how much Risk?"),
    ("contest", &[], "contest with the ogre", "Which stat of Rogue?"),
    ("silent-winter", &["no", "no"], "get into full cover", "cover  none -> full"),
    // Numbers, lists, yes and no with words that say nothing.
    ("riskbreaker-0.0.1", RISK, "2 plz", "Fighter tests Knockdown"),
    ("riskbreaker-0.0.1", RISK, "risk it all!", "Challenger +3"),
    ("riskbreaker-0.0.3", TARGETS, "captain n guard", "how much Risk?"),
    ("riskbreaker-0.0.3", TARGETS, "everyone but the captain", "how much Risk?"),
    ("silent-winter", &[], "no thx", "Does Mage start Sniping"),
];

const REFUSED: &[Typed] = &[
    // A number does not select from a list that was not shown.
    ("riskbreaker-0.0.1", &[], "yes, advantage 2", "another question comes first"),
    ("riskbreaker-0.0.1", CARDS, "advantage, 2", "another question comes first"),
    ("riskbreaker-0.0.3", CARDS, "gain advantage, 2", "another question comes first"),
    ("riskbreaker-0.0.3", &[], "ok 5", "was not shown yet"),
    ("riskbreaker-0.0.3", CARDS, "1, 1, 5", "was not shown yet"),
    // A closed act gives way to what the question offers.
    ("riskbreaker-0.0.3", CARDS, "strike bandit", "Did you mean `Inflict Kill Damage Bandit`?"),
    ("riskbreaker-0.0.3", CARDS, "hit the guard", "Did you mean `Inflict Kill Damage Guard`?"),
    ("riskbreaker-0.0.3", CARDS, "why 50", "The options have the numbers 1 to 8."),
    ("riskbreaker-0.0.3", CARDS, "help 0", "The options have the numbers 1 to 8."),
    ("rbf", &["ok ok ok"], "overwatch", "Brawler has chosen Move."),
    ("riskbreaker-0.0.3", CARDS, "frobnicate", "No answer here is called `frobnicate`."),
    ("riskbreaker-0.0.3", CARDS, "muscle", "`why muscle` shows the value."),
    // A text that the rules do not take is refused with their reason, and the question stays open.
    ("contest", PLACE, "north", "`north` is not possible: write a place in metres"),
    ("contest", PLACE, "2", "The answers here have no numbers. Type a name, for example `Stay here`"),
    ("rbf", &["ok ok ok"], "50 50", "a Move covers at most 10 m."),
    // A number is no name of a place.
    ("riskbreaker-0.0.1", &["ok", "maneuver", "1"], "2", "a new place needs a name, not a number"),
    // Plain words are no Lua while a question is open.
    ("riskbreaker-0.0.3", TARGETS, "not the captain", "No answer here is called"),
    ("riskbreaker-0.0.3", CARDS, "cd ..", "No answer here is called"),
    ("contest", &[], "cover 50%", "Did you mean `Take cover`?"),
    // No command is proposed that only looks a little alike.
    ("riskbreaker-0.0.1", CARDS, "let him go", "No answer here is called"),
    // Somebody's name alone.
    ("silent-winter", &["no", "no"], "imp", "Did you mean `Engage Imp`?"),
    ("silent-winter", &["no", "no"], "second corpse", "Did you mean `Engage Second Corpse`?"),
    // Reasons have a subject.
    ("silent-winter", &["no", "no"], "attack", "Attack is not open: Lothaire does not Engage anybody"),
    ("contest", &[], "shoot ogre", "Rogue has no missile weapon"),
    ("silent-winter", &["no", "no"], "engage imp with sword", "Did you mean `Engage Imp`?"),
    // The refusal is about the answer that is wrong.
    ("riskbreaker-0.0.3", CARDS, "kill damage guard risk 9", "must be 1 to"),
    // Words that match no option never become free text.
    ("silent-winter", &["no", "no"], "use sword", "Did you mean `Change weapons Sword`?"),
    ("riskbreaker-0.0.1", &[], "75%", "Please answer yes or no"),
    // A sentence with words that are not accounted for is not carried out, but suggested.
    ("contest", PLACE, "ogree", "Did you mean `Towards Ogre`?"),
    ("contest", &[], "run up to the ogre and hit it", "Did you mean `Move Towards Ogre`?"),
    ("contest", &[], "fight soldier 2", "Attack is not open: no enemy is in reach"),
    ("contest", &["ok", "ok"], "bow", "No answer here is called `bow`."),
    ("contest", &["ok", "ok"], "my bow shoot big ogre", "Did you mean `Ranged Strike Ogre`?"),
    ("rbf", &["ok ok ok"], "next to gunr", "Did you mean `next to Gunner`?"),
    ("riskbreaker-0.0.1", CARDS, "I run away", "Did you mean `Maneuver`?"),
    ("silent-winter", &[], "nah, too early", "Type `nah` alone"),
    ("riskbreaker-0.0.1", &["ok", "maneuver", "1"], "kill damage", "put the words in quotes if they are the answer"),
];

/// The output for the last line, and true if it was accepted.
fn play(rules: &str, before: &[&str], line: &str) -> (bool, String) {
    let typed = typed::play(rules, before, line);
    let told = typed.told.rsplit_once(&format!("» {line}\n")).map_or("", |(_, told)| told);
    (typed.taken, told.to_owned() + &typed.wrong)
}

/// The lines that were not taken as they should be, with what was printed for each.
fn wrong_ones(cases: &[Typed], is_taken: bool) -> String {
    let mut wrong = String::new();
    for (rules, before, line, printed) in cases {
        let (taken, told) = play(rules, before, line);
        if taken != is_taken || !told.contains(printed) {
            wrong += &format!("{rules}, {before:?}: `{line}` should print `{printed}`:\n{told}\n");
        }
    }
    wrong
}

#[test]
fn lines_as_people_type_them_do_what_is_meant() {
    assert_eq!(wrong_ones(TAKEN, true), "");
}

#[test]
fn refused_lines_have_a_helpful_message() {
    assert_eq!(wrong_ones(REFUSED, false), "");
}
