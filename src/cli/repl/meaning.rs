use riskbreaker::names::title_and_number;
use riskbreaker::ruleset::nearest;

use super::command::{Command, Word};
use super::line::{Phrase, phrases, split_first};
use super::vocabulary::Vocabulary;

/// The meaning of a typed line.
#[derive(Debug)]
pub enum Meaning {
    /// An empty line or a comment.
    Nothing,
    Command(&'static Command, String),
    /// An answer to the open question; names for what follows it, by topic.
    Answer {
        head: Phrase,
        named: Vec<(String, Phrase)>,
    },
    /// An act that is nobody's turn, with answers to what it asks.
    Free {
        act: String,
        rest: String,
    },
    /// Something of the ruleset's own to look at.
    View(String),
    /// A program for the table.
    Lua(String),
    /// `NAME=VALUE`, as arguments of the program are written, with a name of the game.
    Pair {
        name: String,
        value: String,
        is_switch: bool,
    },
    /// Unknown words.
    Unknown {
        word: String,
        near: Option<&'static str>,
    },
}

impl Meaning {
    /// Whether it answers a question, or would if one were open.
    pub fn plays(&self, line: &str) -> bool {
        let plain = |letter: char| letter.is_alphanumeric() || letter.is_whitespace() || ",_-'".contains(letter);
        match self {
            Meaning::Answer { .. } | Meaning::Unknown { near: None, .. } => true,
            Meaning::Lua(_) => line.chars().all(plain),
            _ => false,
        }
    }
}

/// Finds out what a line means. `accepts` says whether the open question takes a text as it is.
///
/// Commands come first, then answers to the open question, then the ruleset's own words. Lua is whatever does not look like
/// plain words, and everything after a `=`.
pub fn meaning(line: &str, words: &Vocabulary, accepts: impl Fn(&str) -> bool) -> Meaning {
    let line = line.trim();
    if is_comment(line) {
        return Meaning::Nothing;
    }
    if let Some(source) = line.strip_prefix('=') {
        return Meaning::Lua(source.trim().to_owned());
    }
    let (first, rest) = split_first(line);
    if let Some(command) = Command::find(first)
        && !begins_code(rest)
        // A card may be called `Set a Trap`, or `Recover`.
        && (rest.is_empty() || !words.begins_with_an_option(line))
        && !(rest.is_empty() && command.gives_way() && words.is_an_option(line))
        // Alone it rolls nothing, so an option of that name is meant.
        && !(command.word == Word::Roll && rest.is_empty() && accepts(line))
    {
        return Meaning::Command(command, rest.to_owned());
    }
    if let Some(view) = words.view(line) {
        return Meaning::View(view.to_owned());
    }
    if let Some(open) = words.focus()
        && (accepts(line) || matches!(open.ask, riskbreaker::Ask::Line { .. }))
    {
        return Meaning::Answer { head: whole(line), named: Vec::new() };
    }
    if let Some(pair) = pair(line, words) {
        return pair;
    }
    if begins_code(rest) || (looks_like_code(line) && !begins_an_answer(line, words)) {
        return Meaning::Lua(line.to_owned());
    }
    if let Some((act, rest)) = words.free_act(line)
        // An open question of the same name comes first, and so does an option with a longer name.
        && (rest.is_empty() || !words.is_open(act))
        && words.words_of_option(line) + rest.split_whitespace().count() <= line.split_whitespace().count()
    {
        return Meaning::Free { act: act.to_owned(), rest: rest.to_owned() };
    }
    if words.focus().is_some() || words.topic_of(first).is_some() {
        let cut = answers(line, words);
        let near = nearest(first, Command::names()).filter(|near| *near != first);
        // A misspelt command is likelier than an unknown answer.
        if near.is_none() || !cut.named.is_empty() || accepts(&cut.head.text) || is_name(first, words) {
            return Meaning::Answer { head: cut.head, named: cut.named };
        }
        return Meaning::Unknown { word: first.to_owned(), near };
    }
    if let Some(near) = nearest(first, Command::names()) {
        return Meaning::Unknown { word: first.to_owned(), near: Some(near) };
    }
    if rest.is_empty() {
        return Meaning::Lua(line.to_owned());
    }
    Meaning::Unknown { word: first.to_owned(), near: None }
}

/// Cuts an answer at the ruleset's small words: `lunge stake 2 on a, b`.
pub fn answers(line: &str, words: &Vocabulary) -> super::line::Phrases {
    let (first, rest) = split_first(line);
    let option = words.words_of_option(line);
    let topic = words.topic_of(first).filter(|_| option == 0);
    let whole = match topic {
        None => 0..option.max(1),
        // The name of an option may have a small word in it.
        Some(topic) if words.focus().is_some_and(|open| open.topic == topic) => 1..1 + words.words_of_option(rest),
        Some(_) => 0..0,
    };
    phrases(line, whole, |word| words.topic_of(word))
}

/// A question addressed by name: `Foe: ...` gives the name and the rest.
pub fn addressed(line: &str) -> Option<(&str, &str)> {
    let (name, rest) = line.trim().split_once(": ")?;
    let plain = |letter: char| letter.is_alphanumeric() || " _-'’#".contains(letter) || is_mark(letter);
    if title_and_number(name).is_some() && !rest.contains('(') {
        return Some((name.trim(), rest.trim()));
    }
    // `game: play(...)` is Lua.
    (!name.is_empty() && name.chars().all(plain) && !rest.contains('(')).then(|| (name.trim(), rest.trim()))
}

/// Whether a letter is an accent that is written as a letter of its own.
fn is_mark(letter: char) -> bool {
    ('\u{300}'..='\u{36f}').contains(&letter)
}

fn whole(line: &str) -> Phrase {
    // Quotes around all of it say that the text is meant as it stands.
    let inner = line.strip_prefix('"').and_then(|line| line.strip_suffix('"')).filter(|inner| !inner.contains('"'));
    Phrase { text: line.to_owned(), items: inner.map(|inner| vec![inner.to_owned()]) }
}

fn is_name(word: &str, words: &Vocabulary) -> bool {
    let word = word.to_lowercase();
    words
        .focus()
        .into_iter()
        .flat_map(|open| open.ask.options())
        .any(|option| option.id.to_lowercase().starts_with(&word) || option.label.to_lowercase().starts_with(&word))
}

pub fn is_comment(line: &str) -> bool {
    let line = line.trim_start();
    line.is_empty() || line.starts_with('#') || line.starts_with("--")
}

/// Whether the rest of a line shows that its first word is a Lua variable: `set = 1`, `log(3)`.
fn begins_code(rest: &str) -> bool {
    let assigns = rest.starts_with('=') || ["+=", "-=", "*=", "/=", "..="].iter().any(|sign| rest.starts_with(sign));
    assigns || rest.starts_with('(')
}

/// A house rule, an option, an act or a small word with a value behind `=` and no blanks around it.
fn pair(line: &str, words: &Vocabulary) -> Option<Meaning> {
    let (name, value) = line.split_once('=')?;
    let is_plain =
        |text: &str| !text.is_empty() && text.chars().all(|letter| letter.is_alphanumeric() || "_-".contains(letter));
    let is_switch = words.switches.iter().any(|switch| switch == name);
    (is_plain(name) && is_plain(value) && (is_switch || begins_an_answer(name, words))).then(|| Meaning::Pair {
        name: name.to_owned(),
        value: value.to_owned(),
        is_switch,
    })
}

/// Whether a line begins with an option, an act or a small word. The name after it may contain signs: `Charm (lantern)`.
fn begins_an_answer(line: &str, words: &Vocabulary) -> bool {
    let (first, _) = split_first(line);
    let known = words.words_of_option(line) > 0 || words.free_act(line).is_some() || words.topic_of(first).is_some();
    known && !STARTS.contains(&first)
}

/// The words with which Lua begins.
const STARTS: [&str; 10] = ["local", "for", "while", "if", "function", "repeat", "return", "not", "nil", "break"];

/// Whether a line cannot be plain words.
fn looks_like_code(line: &str) -> bool {
    let (first, _) = split_first(line);
    let mut quoted = false;
    STARTS.contains(&first)
        || line.chars().any(|letter| {
            quoted ^= letter == '"';
            !quoted && "=(){}[];*/%<>~^:.".contains(letter)
        })
        || [" + ", " - "].iter().any(|sign| line.contains(sign))
}

#[cfg(test)]
mod tests {
    use riskbreaker::{Ask, Choice};

    use super::super::vocabulary::Open;
    use super::*;

    fn option(id: &str, label: &str) -> Choice {
        Choice { id: id.into(), label: label.into(), enabled: true, reason: None, note: None, max: None, entity: None }
    }

    fn words(ask: Option<Ask>) -> Vocabulary {
        Vocabulary {
            small: vec![
                ("on".into(), "targets".into()),
                ("with".into(), "tool".into()),
                ("tool".into(), "tool".into()),
                ("stake".into(), "stake".into()),
                ("declare".into(), "stance".into()),
            ],
            open: ask.into_iter().map(|ask| Open { topic: "card".into(), about: Some("Ranger".into()), ask }).collect(),
            free: vec![("give_up".into(), "Give up".into())],
            views: vec![("standing".into(), "How it stands".into())],
            ..Vocabulary::default()
        }
    }

    fn cards() -> Vocabulary {
        words(Some(Ask::Choose {
            options: vec![option("lunge", "Lunge"), option("tool_belt", "Tool belt")],
            other: false,
        }))
    }

    fn read(line: &str, words: &Vocabulary) -> String {
        let accepts = |text: &str| ["lunge", "1", "tool belt", "lun"].contains(&text.to_lowercase().as_str());
        match meaning(line, words, accepts) {
            Meaning::Nothing => "nothing".into(),
            Meaning::Command(command, rest) => format!("command {} [{rest}]", command.name),
            Meaning::Answer { head, named } => {
                let named: Vec<_> = named.iter().map(|(topic, phrase)| format!(" {topic}=[{}]", phrase.text)).collect();
                format!("answer [{}]{}", head.text, named.concat())
            }
            Meaning::Free { act, rest } => format!("free {act} [{rest}]"),
            Meaning::View(name) => format!("view {name}"),
            Meaning::Lua(source) => format!("lua [{source}]"),
            Meaning::Pair { name, value, is_switch } => format!("pair {name} {value} {is_switch}"),
            Meaning::Unknown { word, near } => format!("unknown {word} {near:?}"),
        }
    }

    #[test]
    fn what_the_rules_show_is_looked_at_by_its_bare_name() {
        assert_eq!(read("standing", &cards()), "view standing");
        assert_eq!(read("Standing with axe", &cards()), "answer [Standing] tool=[axe]");
    }

    #[test]
    fn an_option_that_begins_like_a_command_is_an_answer() {
        let trap = words(Some(Ask::Choose {
            options: vec![option("set_a_trap", "Set a Trap"), option("undo", "Undo"), option("roll", "Roll")],
            other: false,
        }));
        let known = |line: &str| meaning(line, &trap, |text| text.eq_ignore_ascii_case("roll"));
        assert!(matches!(known("Roll"), Meaning::Answer { .. }));
        assert!(matches!(known("roll 2d6"), Meaning::Command(..)));
        assert_eq!(read("set a trap", &trap), "answer [set a trap]");
        assert_eq!(read("Set a Trap stake 2", &trap), "answer [Set a Trap] stake=[2]");
        assert_eq!(read("set a harm 2", &trap), "command set [a harm 2]");
        assert_eq!(read("undo", &trap), "command undo []");
    }

    #[test]
    fn roll_alone_is_the_option_of_that_name_and_with_dice_the_command() {
        let accepts = |text: &str| text == "roll";
        assert!(matches!(meaning("roll", &cards(), accepts), Meaning::Answer { .. }));
        assert!(matches!(meaning("roll 2d6", &cards(), accepts), Meaning::Command(..)));
        assert!(matches!(meaning("roll", &cards(), |_| false), Meaning::Command(..)));
    }

    #[test]
    fn signs_in_a_name_make_no_code_of_an_answer() {
        assert_eq!(
            read("lunge with Charm (lantern) stake 2", &cards()),
            "answer [lunge] tool=[Charm (lantern)] stake=[2]"
        );
        assert_eq!(read("with Charm (lantern)", &cards()), "answer [] tool=[Charm (lantern)]");
        assert_eq!(read("lunge(2)", &cards()), "lua [lunge(2)]");
        assert_eq!(read("lunge = 2", &cards()), "lua [lunge = 2]");
        assert_eq!(read("x=2", &cards()), "lua [x=2]");
    }

    #[test]
    fn a_pair_with_a_name_of_the_game_is_no_code() {
        assert_eq!(read("lunge=2", &cards()), "pair lunge 2 false");
        let with_switch = Vocabulary { switches: vec!["tax".into()], ..cards() };
        assert_eq!(read("tax=off", &with_switch), "pair tax off true");
        assert_eq!(read("=tax=off", &with_switch), "lua [tax=off]");
    }

    #[test]
    fn commands_come_first_unless_they_are_used_as_variables() {
        assert_eq!(read("undo", &cards()), "command undo []");
        assert_eq!(read("SET Foe harm 2", &cards()), "command set [Foe harm 2]");
        assert_eq!(read("set = 4", &cards()), "lua [set = 4]");
        assert_eq!(read("log(3)", &cards()), "lua [log(3)]");
        assert_eq!(read("do lunge", &cards()), "command do [lunge]");
    }

    #[test]
    fn a_bare_answer_needs_no_command() {
        assert_eq!(read("1", &cards()), "answer [1]");
        assert_eq!(read("lun", &cards()), "answer [lun]");
        assert_eq!(
            read("lunge stake 2 on a, b with bow", &cards()),
            "answer [lunge] stake=[2] targets=[a, b] tool=[bow]"
        );
        assert_eq!(read("tool belt tool bow", &cards()), "answer [tool belt] tool=[bow]");
    }

    #[test]
    fn the_rulesets_words_are_commands_of_their_own() {
        assert_eq!(read("give up now", &cards()), "free give_up [now]");
        assert_eq!(read("GIVE_UP", &words(None)), "free give_up []");
        let mut stance = words(Some(Ask::Choose { options: vec![option("low", "Low")], other: false }));
        stance.open[0].topic = "stance".into();
        assert_eq!(read("declare low", &stance), "answer [] stance=[low]");
        assert_eq!(read("declare low", &words(None)), "answer [] stance=[low]");
        stance.open[0].ask = Ask::Choose { options: vec![option("on_guard", "On guard")], other: false };
        assert_eq!(read("declare on gua with bow", &stance), "answer [] stance=[on gua] tool=[bow]");
        assert_eq!(read("on guard with bow", &stance), "answer [on guard] tool=[bow]");
        assert_eq!(read("on foe with bow", &stance), "answer [] targets=[foe] tool=[bow]");
    }

    #[test]
    fn a_slip_in_a_command_is_named_and_other_plain_words_are_not_taken_for_lua() {
        assert_eq!(read("udno", &cards()), "unknown udno Some(\"undo\")");
        assert_eq!(read("optoins", &words(None)), "unknown optoins Some(\"options\")");
        assert_eq!(read("hello world", &words(None)), "unknown hello None");
        assert_eq!(read("lnuge", &cards()), "answer [lnuge]");
    }

    #[test]
    fn everything_else_is_lua() {
        for line in ["print(1)", "x = 1", "for i = 1, 3 do", "1 + 2", "game.round", "local x", "x"] {
            assert_eq!(read(line, &words(None)), format!("lua [{line}]"));
        }
        assert_eq!(read("= 1", &cards()), "lua [1]");
        assert_eq!(read("-- no", &cards()), "nothing");
        assert_eq!(read("  # no", &cards()), "nothing");
    }

    #[test]
    fn a_line_of_text_takes_what_is_no_command() {
        let line = words(Some(Ask::Line { max: 80 }));
        assert_eq!(read("we hold (for now)", &line), "answer [we hold (for now)]");
        assert_eq!(read("undo", &line), "command undo []");
    }

    #[test]
    fn a_name_and_a_colon_say_who_is_meant() {
        assert_eq!(addressed("Foe 2: lunge on a"), Some(("Foe 2", "lunge on a")));
        assert_eq!(addressed("game:go()"), None);
        assert_eq!(addressed("x = a: b"), None);
    }
}
