//! Parses a typed line: a command, an answer, an act, a view, or Lua.
//!
//! A line is split once into words with their positions ([`words_of`]). Its meaning is the first of these that fits:
//!
//! 1. nothing, if it is empty or a comment; Lua after a `=`; a text in quotes, if a question is open;
//! 2. an exact answer to the open question: a number, or an option by its whole id or label, the longest first;
//! 3. a command by its full name, or a view of the ruleset;
//! 4. any text, if the open question asks for a text; Lua, if the line cannot be plain words;
//! 5. a free act by its name;
//! 6. an answer by the beginning of an option, or without accents and case;
//! 7. a command by its beginning, or by what newcomers type for it;
//! 8. Lua, if it is one word that may name a variable.
//!
//! The part after an answer is split at the ruleset's small words ([`answers`]). A name of several words is not split,
//! even if it contains small words. Words after an answer without a small word answer the next question (`act.rs`).

use riskbreaker::Value;
use riskbreaker::names::{fold, title_and_number};
use riskbreaker::ruleset::nearest;

use super::command::{Command, Word};
use super::line::{Phrase, Phrases, phrases, split_first, words as words_of};
use super::vocabulary::Vocabulary;

/// The meaning of a typed line.
#[derive(Debug)]
pub enum Meaning {
    /// An empty line or a comment.
    Nothing,
    /// A command and its arguments.
    Command(&'static Command, String),
    /// An answer to the open question, and answers to later ones, by topic.
    Answer {
        head: Phrase,
        named: Vec<(String, Phrase)>,
        /// The command with the same name. It is run if the answer is refused.
        otherwise: Option<(&'static Command, String)>,
    },
    /// A free act, with answers to its questions.
    Free { act: String, rest: String },
    /// A view of the ruleset.
    View(String),
    /// A Lua program.
    Lua(String),
    /// `NAME=VALUE`, in the style of a command line, with a name of the game.
    Pair { name: String, value: String, is_switch: bool },
    /// Unknown words.
    Unknown { word: String, near: Option<&'static str> },
}

impl Meaning {
    fn answer(cut: Phrases) -> Meaning {
        Meaning::Answer { head: cut.head, named: cut.named, otherwise: None }
    }

    /// True if the line answers a question, or would if one were open.
    pub fn plays(&self, line: &str) -> bool {
        let plain = |letter: char| letter.is_alphanumeric() || letter.is_whitespace() || ",_-'".contains(letter);
        match self {
            Meaning::Answer { .. } | Meaning::Unknown { near: None, .. } => true,
            Meaning::Lua(_) => line.chars().all(plain),
            _ => false,
        }
    }
}

/// Parses a line. `accepts`: true if the open question accepts a text, in any spelling.
pub fn read(line: &str, words: &Vocabulary, accepts: impl Fn(&str) -> bool) -> Meaning {
    let line = line.trim();
    if is_comment(line) {
        return Meaning::Nothing;
    }
    if let Some(source) = line.strip_prefix('=') {
        return Meaning::Lua(source.trim().to_owned());
    }
    if words.focus().is_some()
        && let Some(text) = quoted(line)
    {
        return Meaning::Answer { head: text, named: Vec::new(), otherwise: None };
    }
    if let Some(meaning) = polite_option(line, words).or_else(|| exact(line, words)) {
        return meaning;
    }
    let (first, rest) = split_first(line);
    if words.focus().is_some()
        && begins_with_place(line)
        && let Some(number) = by_ordinal(line)
    {
        return Meaning::answer(Phrases::of_text(&number));
    }
    if let Some(meaning) = by_command(line, words) {
        return meaning;
    }
    if words.focus().is_some_and(|open| matches!(open.ask, riskbreaker::Ask::Line { .. })) {
        return Meaning::answer(Phrases::of_text(line));
    }
    let is_number = line.trim_end_matches('%').parse::<f64>().is_ok();
    if is_number && words.focus().is_some() {
        return Meaning::answer(Phrases::of_text(line));
    }
    let (own_words, option) = (words.takes_own_words(), words.words_of_option(line));
    let is_asked = words.focus().is_some();
    let is_code = begins_code(rest)
        || begins_as_lua(line, is_asked)
        || (looks_like_code(line, is_asked) && !own_words && !begins_an_answer(line, words) && !accepts(line));
    if let Some(pair) = pair(line, words) {
        return pair;
    }
    // `Move (10, 0)` is an answer; `move(10, 0)` calls a function.
    let is_spaced = line[first.len()..].starts_with(' ') && rest.starts_with('(');
    if is_code && !(is_spaced && (option > 0 || words.names_an_option(first))) {
        return Meaning::Lua(line.to_owned());
    }
    let plain = without_articles(line);
    if let Some((act, rest)) = words.free_act(line)
        // An open question of the same name comes first, as does a longer name of an option or a card.
        && (rest.is_empty() || !words.is_open(act))
        && !words.goes_before_act(act, line)
        && option.max(words.words_of_card(line)) + words_in(rest) <= words_in(line)
        && words.free_act(&plain).is_none_or(|(_, rest)| words.words_of_card(&plain) + words_in(rest) <= words_in(&plain))
    {
        return Meaning::Free { act: act.to_owned(), rest: rest.to_owned() };
    }
    // These words only show something, so they come before an option that has them in the middle of its name.
    if option == 0
        && let Some(command) = of_newcomer(line).filter(|command| matches!(command.word, Word::Look | Word::Sheet))
    {
        return Meaning::Command(command, String::new());
    }
    let cut = answers(line, words);
    let is_answer = accepts(line) || accepts(&cut.head.text) || names_an_option(&cut.head, words);
    let is_topic = words.topic_of(first).is_some();
    if is_answer || (is_topic && !cut.named.is_empty()) {
        return Meaning::answer(cut);
    }
    if line.eq_ignore_ascii_case("nothing") && !own_words {
        return Meaning::Command(Command::of(Word::Pass), String::new());
    }
    if let Some((command, rest)) = by_beginning(line) {
        return Meaning::Command(command, rest.to_owned());
    }
    // With two letters, a typing error cannot be distinguished from another word.
    let singular = first.strip_suffix('s').unwrap_or(first);
    let is_known = words.names.iter().any(|name| name.eq_ignore_ascii_case(singular))
        || FIGHTING.contains(&&*first.to_lowercase());
    let is_like = |near: &&str| {
        let begins_alike =
            near.chars().next().zip(first.chars().next()).is_some_and(|(one, other)| other.eq_ignore_ascii_case(&one));
        let is_long = first.chars().count() > 4;
        let takes_words = Command::find(near).is_some_and(|command| !command.takes.is_empty());
        begins_alike && (rest.is_empty() || is_long && takes_words)
    };
    let near = nearest(first, Command::names())
        .filter(|near| *near != first && first.chars().count() > 3 && !is_known)
        .filter(is_like);
    if words.focus().is_some() {
        // A misspelt command is more likely than an unknown answer.
        return match near {
            Some(_) if own_words && rest.is_empty() => Meaning::Unknown { word: first.to_owned(), near },
            _ if own_words && option == 0 => Meaning::answer(Phrases::of_text(line)),
            Some(_) if cut.named.is_empty() && words.words_of_card(line) == 0 => {
                Meaning::Unknown { word: first.to_owned(), near }
            }
            _ => Meaning::answer(cut),
        };
    }
    if near.is_none() && rest.is_empty() {
        return Meaning::Lua(line.to_owned());
    }
    Meaning::Unknown { word: first.to_owned(), near }
}

/// An option with polite words, which is no answer in one's own words: `the inn, please`.
fn polite_option(line: &str, words: &Vocabulary) -> Option<Meaning> {
    let plain = without_manners(line).filter(|_| words.takes_own_words())?;
    (words.option_at_start(&plain) == Some(&*plain)).then(|| Meaning::answer(Phrases::of_text(&plain)))
}

/// A command by its full name, by a newcomer's phrase or by a question in words; or a view of the ruleset.
fn by_command(line: &str, words: &Vocabulary) -> Option<Meaning> {
    // `:q` and `/help`, as in other programs.
    if let Some(command) = of_newcomer(line).filter(|_| line.starts_with(':')) {
        return Some(Meaning::Command(command, String::new()));
    }
    if let Some(named) = line.strip_prefix(['/', ':'])
        && let Some(command) = Command::find(split_first(named).0)
    {
        return Some(Meaning::Command(command, split_first(named).1.to_owned()));
    }
    let (first, rest) = split_first(line);
    let takes_sentences = words.focus().is_some_and(|open| takes_any_text(&open.ask));
    if !takes_sentences || line.ends_with('?') {
        // A newcomer's phrase of several words may contain a small word.
        if let Some(command) = of_newcomer(line).filter(|_| words_in(line) > 1) {
            return Some(Meaning::Command(command, String::new()));
        }
        if let Some((command, about)) = asked_in_words(line, words) {
            return Some(Meaning::Command(command, about));
        }
        if !takes_sentences && asks_for_best(line, words) {
            return Some(Meaning::Command(Command::of(Word::Hint), String::new()));
        }
    }
    // `do nothing` and `skip turn` begin with the name of another command.
    if Command::find(first).is_some()
        && let Some(command) = of_newcomer(line)
    {
        return Some(Meaning::Command(command, String::new()));
    }
    if let Some(command) = Command::find(first).filter(|_| !begins_code(rest)) {
        // `switch to mace` is an answer if an option is called so and no house rule is.
        let is_switch = rest.is_empty() || words.switches.iter().any(|switch| switch.starts_with(split_first(rest).0));
        let is_said = words.is_word_of_option(first) || split_first(rest).0.eq_ignore_ascii_case("to");
        if command.word == Word::Switches && !is_switch && words.focus().is_some() && is_said {
            return None;
        }
        let rest = if command.takes_idle_words && says_nothing(rest) { "" } else { rest };
        return Some(Meaning::Command(command, rest.to_owned()));
    }
    words.view(line).map(|view| Meaning::View(view.to_owned()))
}

/// True if all words after a command say nothing.
fn says_nothing(rest: &str) -> bool {
    const IDLE: [&str; 30] = [
        "that", "it", "this", "last", "the", "my", "one", "turn", "move", "line", "action", "round", "step", "thing",
        "please", "pls", "plz", "now", "again", "then", "me", "us", "for", "thanks", "thx", "lol", "back", "first",
        "around", "once",
    ];
    let plain = |word: &str| word.trim_end_matches(['.', '!', ',', '?']).to_lowercase();
    rest.split_whitespace().all(|word| IDLE.contains(&plain(word).as_str()))
}

/// An option by its full name at the start of a line, with the rest of the line.
///
/// Essential commands keep their names. An option of one word with the name of a command is meant if the line ends
/// after it, or if the words after it answer its questions.
fn exact(line: &str, words: &Vocabulary) -> Option<Meaning> {
    let (first, rest) = split_first(line);
    let name = words.option_at_start(line)?;
    let is_one_word = words_in(name) == 1;
    let command = Command::find(first).filter(|_| !begins_code(rest));
    if command.is_some_and(|command| is_one_word && !command.gives_way()) || begins_code(rest) {
        return None;
    }
    let cut = answers(line, words);
    let otherwise = command.filter(|_| is_one_word && !rest.is_empty()).map(|command| (command, rest.to_owned()));
    Some(Meaning::Answer { head: cut.head, named: cut.named, otherwise })
}

/// Words that people type in a fight, or for yes and no, which are no misspelt commands.
const FIGHTING: [&str; 22] = [
    "hit", "run", "gain", "nope", "kick", "stab", "cast", "walk", "stay", "lay", "get", "flee", "none", "nothing",
    "drop", "draw", "stand", "hold", "rest", "aim", "dodge", "block",
];

/// Words that newcomers type, with the command that they mean.
const NEWCOMERS: &[(&str, Word)] = &[
    ("go back", Word::Undo),
    ("take back", Word::Undo),
    ("back", Word::Undo),
    ("cancel", Word::Undo),
    ("never mind", Word::Undo),
    ("status", Word::Look),
    ("state", Word::Look),
    ("where am i", Word::Look),
    ("who is winning", Word::Look),
    ("who's winning", Word::Look),
    ("who is next", Word::Look),
    ("who's next", Word::Look),
    ("whose turn is it", Word::Look),
    ("what's going on", Word::Look),
    ("whats going on", Word::Look),
    ("what happened", Word::Log),
    ("who am i", Word::Sheet),
    ("inventory", Word::Sheet),
    ("character", Word::Sheet),
    ("me", Word::Sheet),
    ("q", Word::Quit),
    ("leave game", Word::Quit),
    ("stop", Word::Quit),
    ("end", Word::Pass),
    ("end turn", Word::Pass),
    ("nothing else", Word::Pass),
    ("nothing to do", Word::Pass),
    ("nothing more", Word::Pass),
    ("no more", Word::Pass),
    ("that's all", Word::Pass),
    ("thats all", Word::Pass),
    ("that is all", Word::Pass),
    ("i'm done", Word::Pass),
    ("im done", Word::Pass),
    ("i am done", Word::Pass),
    ("skip turn", Word::Pass),
    ("do nothing", Word::Pass),
    ("don't do anything", Word::Pass),
    ("dont do anything", Word::Pass),
    ("who's turn", Word::Look),
    ("who's turn is it", Word::Look),
    ("whos turn", Word::Look),
    ("whose turn", Word::Look),
    ("wait", Word::Pass),
    // In other programs these ask for more text, so they decide nothing.
    ("next", Word::Options),
    ("continue", Word::Options),
    ("go on", Word::Options),
    ("commands", Word::Help),
    ("what now", Word::Options),
    ("what can i do", Word::Options),
    ("what do i do", Word::Options),
    ("what are my options", Word::Options),
    ("what should i do", Word::Hint),
    ("what do you suggest", Word::Hint),
    ("what", Word::Options),
    ("help me", Word::Help),
    ("help please", Word::Help),
    ("how do i start", Word::Help),
    ("how to start", Word::Help),
    ("how do i begin", Word::Help),
    ("where do i start", Word::Help),
    ("how do i win", Word::Help),
    ("what do i type", Word::Help),
    ("what can i type", Word::Help),
    ("i don't understand", Word::Help),
    ("i dont understand", Word::Help),
    ("i do not understand", Word::Help),
    ("i don't get it", Word::Help),
    ("i dont get it", Word::Help),
    ("i do not understand the question", Word::Why),
    ("i don't understand the question", Word::Why),
    ("i dont understand the question", Word::Why),
    ("i don't know", Word::Hint),
    ("i dont know", Word::Hint),
    ("dont know", Word::Hint),
    ("don't know", Word::Hint),
    ("i do not know", Word::Hint),
    ("idk", Word::Hint),
    ("no idea", Word::Hint),
    ("not sure", Word::Hint),
    ("i'm not sure", Word::Hint),
    ("im not sure", Word::Hint),
    ("not sure, what do you think", Word::Hint),
    ("any advice", Word::Hint),
    ("any ideas", Word::Hint),
    ("advice", Word::Hint),
    ("suggest something", Word::Hint),
    ("what now what do i do", Word::Hint),
    ("what is best", Word::Hint),
    ("whats best", Word::Hint),
    ("what's best", Word::Hint),
    ("best move", Word::Hint),
    ("whichever is best", Word::Hint),
    ("whatever is best", Word::Hint),
    ("the best one", Word::Hint),
    ("best one", Word::Hint),
    ("i don't care", Word::Ok),
    ("i dont care", Word::Ok),
    ("don't care", Word::Ok),
    ("dont care", Word::Ok),
    ("whatever", Word::Ok),
    ("you choose", Word::Ok),
    ("you pick", Word::Ok),
    ("doesn't matter", Word::Ok),
    ("default", Word::Ok),
    ("as proposed", Word::Ok),
    ("as you suggest", Word::Ok),
    ("i need help", Word::Help),
    ("who is hurt", Word::Look),
    ("who is who", Word::Look),
    ("who is here", Word::Look),
    ("who is fighting", Word::Look),
    ("who is my target", Word::Look),
    ("who is left", Word::Look),
    ("who is alive", Word::Look),
    ("who are we fighting", Word::Look),
    ("who can i see", Word::Look),
    ("who acts next", Word::Look),
    ("when do i act", Word::Look),
    ("how are we doing", Word::Look),
    ("am i winning", Word::Look),
    ("are we winning", Word::Look),
    ("what's the score", Word::Look),
    ("what is the score", Word::Look),
    ("chances", Word::Odds),
    ("what are the odds", Word::Odds),
    ("what are my odds", Word::Odds),
    ("what are the chances", Word::Odds),
    ("what are my chances", Word::Odds),
    ("what is the chance to hit", Word::Odds),
    ("what are my chances to hit", Word::Odds),
    ("pass turn", Word::Pass),
    ("pass my turn", Word::Pass),
    ("i pass", Word::Pass),
    ("i wait", Word::Pass),
    ("end my turn", Word::Pass),
    ("skip my turn", Word::Pass),
    ("stats", Word::Sheet),
    ("my stats", Word::Sheet),
    ("my sheet", Word::Sheet),
    ("my character", Word::Sheet),
    ("character sheet", Word::Sheet),
    ("map", Word::Look),
    ("the map", Word::Look),
    ("show map", Word::Look),
    ("show the map", Word::Look),
    ("show me the map", Word::Look),
    ("positions", Word::Look),
    ("where is everyone", Word::Look),
    ("where is everybody", Word::Look),
    ("where are they", Word::Look),
    ("where are we", Word::Look),
    ("order", Word::Look),
    ("turn order", Word::Look),
    ("look around", Word::Look),
    ("hello", Word::Help),
    ("hi", Word::Help),
    ("how do i play", Word::Help),
    ("how to play", Word::Help),
    ("how does this work", Word::Help),
    ("how does it work", Word::Help),
    ("let the computer play", Word::Auto),
    ("let the computer decide", Word::Auto),
    ("play for me", Word::Auto),
    ("decide for me", Word::Auto),
    ("you decide", Word::Auto),
    ("why would i", Word::Why),
    ("why should i", Word::Why),
    ("repeat", Word::Options),
    ("say that again", Word::Options),
    ("what's the question", Word::Options),
    ("what is the question", Word::Options),
    (":q", Word::Quit),
    (":q!", Word::Quit),
    (":wq", Word::Quit),
    (":w", Word::Save),
];

/// True if a question takes free text and has no options.
fn takes_any_text(ask: &riskbreaker::Ask) -> bool {
    match ask {
        riskbreaker::Ask::Line { .. } => true,
        riskbreaker::Ask::Choose { options, other } => *other && options.is_empty(),
        _ => false,
    }
}

/// Words that people type, with the corresponding words in the names and texts of options.
const SYNONYMS: &[(&str, &str)] = &[
    ("hit", "attack"),
    ("strike", "attack"),
    ("stab", "attack"),
    ("kick", "attack"),
    ("punch", "attack"),
    ("slash", "attack"),
    ("smash", "attack"),
    ("fight", "attack"),
    ("shoot", "attack"),
    ("go", "move"),
    ("walk", "move"),
    ("run", "move"),
    ("approach", "move"),
    ("hide", "cover"),
    ("duck", "cover"),
    ("fire", "shoot"),
    ("speak", "talk"),
    ("escape", "flee"),
    ("retreat", "flee"),
    ("retreat", "maneuver"),
    ("retreat", "move"),
    ("withdraw", "flee"),
    ("withdraw", "maneuver"),
    ("hurt", "attack"),
    ("harm", "attack"),
    ("injure", "attack"),
    ("heal", "treat"),
    ("cure", "treat"),
    ("bandage", "treat"),
    ("tend", "treat"),
    ("swap", "change"),
    ("switch", "change"),
    ("equip", "draw"),
    ("wield", "draw"),
    ("unsheathe", "draw"),
    ("crouch", "prone"),
    ("crouch", "lie"),
    ("yell", "speak"),
    ("shout", "speak"),
    ("done", "end"),
    ("finish", "end"),
    ("creep", "sneak"),
    ("dash", "move"),
    ("sprint", "move"),
    ("parry", "defend"),
    ("block", "defend"),
    ("evade", "dodge"),
    ("nowhere", "stay"),
    ("remain", "stay"),
    ("lower", "decrease"),
    ("reduce", "decrease"),
    ("increase", "gain"),
    ("prone", "lie"),
    ("scream", "speak"),
    ("say", "speak"),
    ("tell", "speak"),
    ("grab", "draw"),
    ("leave", "flee"),
    ("escape", "disengage"),
    ("escape", "maneuver"),
    ("retreat", "disengage"),
    ("rise", "stand"),
    ("rise", "lie"),
    ("charge", "engage"),
    ("charge", "move"),
    ("swing", "attack"),
    ("shot", "shoot"),
    ("look", "find"),
    ("search", "find"),
    ("attack", "strike"),
    ("attack", "melee"),
    ("load", "reload"),
    ("nock", "reload"),
    ("scare", "intimidate"),
    ("frighten", "intimidate"),
    ("threaten", "intimidate"),
    ("wait", "hold"),
    ("slam", "attack"),
    ("bash", "attack"),
    ("cut", "attack"),
    ("aim", "shoot"),
    ("tell", "talk"),
    ("ask", "talk"),
    ("ask", "speak"),
    ("shout", "talk"),
    ("convince", "speak"),
    ("persuade", "speak"),
    ("taunt", "speak"),
    ("crawl", "move"),
    ("climb", "move"),
    ("protect", "defend"),
    ("wait", "pass"),
    ("follow", "chase"),
    ("pursue", "chase"),
    ("rest", "recover"),
];

/// The words of options for a typed word.
pub fn synonyms_of(word: &str) -> impl Iterator<Item = &'static str> + use<> {
    let word = word.to_lowercase();
    SYNONYMS.iter().filter(move |(typed, _)| *typed == word).map(|(_, known)| *known)
}

/// Replaces the first word of a line by the corresponding word of the options: `go to Ann` becomes `move to Ann`.
/// `None` if no option has this word.
pub fn with_synonym(line: &str, words: &Vocabulary) -> Option<String> {
    let (first, rest) = split_first(line);
    let typed = first.to_lowercase();
    // `killing Ann` as well: the beginning of an option is enough.
    let stem = typed.strip_suffix("ing").filter(|stem| stem.len() > 2);
    let same: Vec<&str> = synonyms_of(&typed).collect();
    let known = same.into_iter().chain(stem).find(|known| words.names_an_option(known))?;
    Some(format!("{known} {rest}").trim_end().to_owned())
}

/// Beginnings of questions in plain language, with the command that answers them.
const QUESTIONS: &[(&str, Word)] = &[
    ("can i see ", Word::Look),
    ("can i reach ", Word::Look),
    ("are there ", Word::Look),
    ("is there ", Word::Look),
    ("can you show ", Word::Look),
    ("what are they ", Word::Look),
    ("what will they ", Word::Look),
    ("what is he ", Word::Look),
    ("what is she ", Word::Look),
    ("where can ", Word::Look),
    ("where are ", Word::Look),
    ("where do ", Word::Look),
    ("where should ", Word::Hint),
    ("what should ", Word::Hint),
    ("what would you ", Word::Hint),
    ("what do you ", Word::Hint),
    ("which one should ", Word::Hint),
    ("which one is ", Word::Hint),
    ("which is ", Word::Hint),
    ("what is best", Word::Hint),
    ("what is the best", Word::Hint),
    ("how risky ", Word::Hint),
    ("how likely ", Word::Hint),
    ("how dangerous ", Word::Hint),
    ("how good ", Word::Hint),
    ("what is happening", Word::Look),
    ("what is going on", Word::Look),
    ("what means ", Word::Help),
    ("what mean ", Word::Help),
    ("meaning of ", Word::Help),
    ("what are the odds of ", Word::Odds),
    ("what are the chances of ", Word::Odds),
    ("what are my chances of ", Word::Odds),
    ("what are my chances to ", Word::Odds),
    ("what is the chance of ", Word::Odds),
    ("what is the chance to ", Word::Odds),
    ("what happens if i say ", Word::Odds),
    ("what happens if i answer ", Word::Odds),
    ("what if i say ", Word::Odds),
    ("what happens if i ", Word::Odds),
    ("what happens when i ", Word::Odds),
    ("what if i ", Word::Odds),
    ("chance to hit ", Word::Odds),
    ("how hurt is ", Word::Sheet),
    ("how badly hurt is ", Word::Sheet),
    ("how healthy is ", Word::Sheet),
    ("how strong is ", Word::Sheet),
    ("how much health has ", Word::Sheet),
    ("how much hp has ", Word::Sheet),
    ("why not ", Word::Why),
    ("why cant i ", Word::Why),
    ("why can't ", Word::Why),
    ("why cant ", Word::Why),
    ("why i cannot ", Word::Why),
    ("why i can't ", Word::Why),
    ("why can i ", Word::Why),
    ("why couldn't i ", Word::Why),
    ("can we ", Word::Why),
    ("can't i ", Word::Why),
    ("could i ", Word::Why),
    ("may i ", Word::Why),
    ("am i able to ", Word::Why),
    ("am i allowed to ", Word::Why),
    ("is it possible to ", Word::Why),
    ("should i ", Word::Hint),
    ("how do i ", Word::Help),
    ("how do you ", Word::Help),
    ("how can i ", Word::Help),
    ("how does ", Word::Help),
    ("how do ", Word::Help),
    ("how to ", Word::Help),
    ("how far away is ", Word::Sheet),
    ("how far is ", Word::Sheet),
    ("how much ", Word::Help),
    ("how many ", Word::Help),
    ("how far ", Word::Help),
    ("how is ", Word::Help),
    ("what is ", Word::Help),
    ("what are ", Word::Help),
    ("what does ", Word::Help),
    ("what do ", Word::Help),
    ("explain ", Word::Help),
    ("tell me about ", Word::Help),
    ("who is ", Word::Sheet),
    ("who are ", Word::Who),
    ("who has ", Word::Look),
    ("who have ", Word::Look),
    ("who can ", Word::Look),
    ("who will ", Word::Look),
    ("who does ", Word::Look),
    ("who did ", Word::Look),
    ("who was ", Word::Look),
    ("who goes ", Word::Look),
    ("who acts ", Word::Look),
    ("who should ", Word::Look),
    ("when does ", Word::Look),
    ("when do ", Word::Look),
    ("when will ", Word::Look),
    ("when is ", Word::Look),
    ("what can ", Word::Options),
    ("why can't i ", Word::Why),
    ("why can i not ", Word::Why),
    ("why is ", Word::Why),
    ("why should i ", Word::Help),
    ("look at ", Word::Sheet),
    ("can i ", Word::Why),
    ("where is ", Word::Sheet),
];

/// Words at the start of a question that say nothing.
const OPENERS: [&str; 20] = [
    "hey", "hi", "hello", "hm", "hmm", "uh", "um", "oh", "ok", "okay", "so", "well", "and", "but", "please", "pls",
    "sorry", "alright", "now", "then",
];

/// Short forms of question words.
const CONTRACTIONS: [(&str, &str); 11] = [
    ("who's ", "who is "),
    ("whos ", "who is "),
    ("what's ", "what is "),
    ("whats ", "what is "),
    ("where's ", "where is "),
    ("wheres ", "where is "),
    ("how's ", "how is "),
    ("hows ", "how is "),
    ("when's ", "when is "),
    ("which's ", "which is "),
    ("why's ", "why is "),
];

/// A question without words at its start that say nothing, and with its question word in full.
fn in_full(line: &str) -> String {
    let mut plain = line.trim().replace('\u{2019}', "'");
    while let Some((first, rest)) = plain.split_once(' ')
        && OPENERS.iter().any(|opener| opener.eq_ignore_ascii_case(first.trim_end_matches([',', '.', '!'])))
    {
        plain = rest.trim_start().to_owned();
    }
    let begins = |start: &str| plain.get(..start.len()).is_some_and(|text| text.eq_ignore_ascii_case(start));
    match CONTRACTIONS.iter().find(|(short, _)| begins(short)) {
        Some((short, full)) => format!("{full}{}", &plain[short.len()..]),
        None => plain,
    }
}

/// The command for a question in plain language: `help attack` for `how do I attack?`, `why shoot` for `can I shoot?`.
///
/// A question is never an answer, so every other line that begins with a question word asks for help.
fn asked_in_words(line: &str, words: &Vocabulary) -> Option<(&'static Command, String)> {
    let line = &in_full(line);
    if let Some(command) = of_newcomer(line) {
        return (words_in(line) > 1).then(|| (command, String::new()));
    }
    let plain = line.trim_end_matches(['?', '!', '.', ' ']);
    // `which gives the best chance`
    let begins = |start: &str| plain.get(..start.len()).is_some_and(|text| text.eq_ignore_ascii_case(start));
    let asks_which = begins("what ") || begins("which ");
    if asks_which && compares(plain) {
        return Some((Command::of(Word::Hint), String::new()));
    }
    if asks_for_own_value(plain) {
        return Some((Command::of(Word::Sheet), String::new()));
    }
    if asks_for_count(plain) {
        return Some((Command::of(Word::Look), String::new()));
    }
    if let Some(name) = name_with_sheet(plain, words) {
        return Some((Command::of(Word::Sheet), name));
    }
    if let Some(word) = asks_for_choice(plain, words) {
        return Some((Command::of(word), String::new()));
    }
    // `who is in the fight`
    const PLACES: [&str; 8] = ["in", "on", "at", "near", "behind", "with", "against", "around"];
    let behind_who =
        ["who is ", "who are "].iter().find(|start| begins(start)).map(|start| split_first(&plain[start.len()..]).0);
    if behind_who.is_some_and(|word| PLACES.iter().any(|place| place.eq_ignore_ascii_case(word))) {
        return Some((Command::of(Word::Look), String::new()));
    }
    // `what round is it`
    if begins("what ") && plain.to_lowercase().ends_with(" is it") {
        return Some((Command::of(Word::Look), String::new()));
    }
    let (start, word) = match QUESTIONS.iter().find(|(start, _)| begins(start)) {
        Some((start, word)) => (*start, *word),
        // `where the road bends` may be free text.
        None if words.takes_own_words() && !line.ends_with('?') => return None,
        None => (question_word(plain)?, Word::Help),
    };
    if matches!(word, Word::Hint | Word::Look | Word::Options) {
        return Some((Command::of(word), String::new()));
    }
    let mut about = plain[start.len()..].trim();
    for article in ["not ", "i ", "we ", "use ", "play ", "the ", "a ", "an ", "my ", "of ", "for ", "with ", "on "] {
        about = match about.get(..article.len()) {
            Some(text) if text.eq_ignore_ascii_case(article) => about[article.len()..].trim_start(),
            _ => about,
        };
    }
    about = about.strip_prefix("can i ").or(about.strip_prefix("can I ")).unwrap_or(about);
    for end in [
        " left",
        " do i have",
        " have i",
        " can i stake",
        " do",
        " mean",
        " work",
        " does",
        " take",
        " for",
        " closed",
        " not open",
        " now",
    ] {
        about = without_end(about, end);
    }
    let limits = ["maximum", "max", "minimum", "min", "limit", "range"];
    if limits.contains(&about) && words.focus().is_some_and(|open| matches!(open.ask, riskbreaker::Ask::Number { .. }))
    {
        return Some((Command::of(Word::Options), String::new()));
    }
    // `who is nearest` names nobody, so the table answers it.
    if word == Word::Sheet {
        return Some(match words.name_within(about) {
            Some(name) => (Command::of(word), name.to_owned()),
            None if words_in(about) == 1 && nearest(about, words.names.iter().map(String::as_str)).is_some() => {
                (Command::of(word), about.to_owned())
            }
            None => (Command::of(Word::Look), String::new()),
        });
    }
    if word == Word::Why
        && let Some(option) = words.option_meant(about)
    {
        about = option;
    }
    (!about.is_empty()).then(|| (Command::of(word), about.to_owned()))
}

/// Words that compare answers.
const BEST: [&str; 5] = ["best", "better", "highest", "strongest", "safest"];

/// True if a line has a word that compares answers.
fn compares(line: &str) -> bool {
    words_of(line).iter().any(|word| BEST.iter().any(|best| best.eq_ignore_ascii_case(&word.text)))
}

/// True if a line leaves the choice to the program: `the best one`, `whatever is highest`.
fn asks_for_best(line: &str, words: &Vocabulary) -> bool {
    let is_asked = words.focus().is_some_and(|open| !open.ask.options().is_empty());
    let leaves = line.to_lowercase();
    if is_asked && (leaves.contains("you think") || leaves.contains("you want")) {
        return true;
    }
    is_asked
        && (2..5).contains(&words_of(line).len())
        && compares(line)
        && !BEST.iter().any(|best| words.is_word_of_option(best))
}

/// The command for a question about what can be chosen: `which skills can I use`, `what am I good at`. A value of the sheet is
/// shown there.
fn asks_for_choice(line: &str, words: &Vocabulary) -> Option<Word> {
    let line = line.to_lowercase();
    if ["what am i good at", "what can i do well", "what are my strengths"].contains(&&*line) {
        return Some(Word::Sheet);
    }
    let about = ["which ", "what "].iter().find_map(|start| line.strip_prefix(start))?;
    let ends = [" can i use", " can i play", " can i choose", " can i take", " may i use", " do i know", " are there"];
    let about = ends.iter().find_map(|end| about.strip_suffix(end))?;
    let singular = about.strip_suffix('s').unwrap_or(about);
    let is_value = words.fields.iter().any(|field| [about, singular].contains(&&*fold(field)));
    Some(if is_value { Word::Sheet } else { Word::Options })
}

/// True if a line asks how many there are: `how many enemies are there`.
fn asks_for_count(line: &str) -> bool {
    let line = line.to_lowercase();
    if line.ends_with(" do we have") || line.ends_with(" we have") {
        return true;
    }
    let ends = [" are there", " there are", " are left", " are still alive", " are alive", " is there"];
    ["how many ", "how much "].iter().any(|start| line.starts_with(start)) && ends.iter().any(|end| line.ends_with(end))
}

/// The name before a word for a sheet: `Ogre` in `ogre stats`.
fn name_with_sheet(line: &str, words: &Vocabulary) -> Option<String> {
    let (name, last) = line.rsplit_once(' ')?;
    // `what is Ann's armour`
    let asked = ["what is ", "what are ", "how much is ", "show me "]
        .iter()
        .find_map(|start| line.strip_prefix(start))
        .unwrap_or(line);
    if let Some((whose, _)) = asked.strip_prefix("the ").unwrap_or(asked).split_once("'s ")
        && words.names.iter().any(|known| fold(known) == fold(whose))
    {
        return Some(whose.to_owned());
    }
    let asks = ["stats", "sheet", "status", "info", "hp", "health"].iter().any(|word| word.eq_ignore_ascii_case(last));
    let name =
        ["the ", "show ", "show me ", "see "].iter().fold(name, |name, start| name.strip_prefix(start).unwrap_or(name));
    let name = name.strip_suffix("'s").unwrap_or(name);
    let is_name = words.names.iter().any(|known| fold(known) == fold(name));
    (asks && is_name).then(|| name.to_owned())
}

/// True if a line asks for a number of the own character: `what is my health`, `how many points do I have`.
fn asks_for_own_value(line: &str) -> bool {
    let line = line.to_lowercase();
    let own = [
        "what is my ",
        "what are my ",
        "how is my ",
        "where is my ",
        "do i have ",
        "have i got ",
        "how good is my ",
        "how much is my ",
        "can i see my ",
        "could i see my ",
        "how much hp have i",
    ];
    let ends = [" do i have", " have i", " have i got", " do i have left", " have i left", " i have", " i got"];
    let asks = ["what ", "how much ", "how many ", "which "];
    own.iter().any(|start| line.starts_with(start))
        || (asks.iter().any(|start| line.starts_with(start)) && ends.iter().any(|end| line.ends_with(end)))
}

/// The question word at the start of a line of several words, with the blank after it.
fn question_word(line: &str) -> Option<&str> {
    // `who` and `why` are commands.
    const WORDS: [&str; 17] = [
        "what", "what's", "whats", "how", "where", "when", "which", "can", "could", "does", "do", "did", "is", "are",
        "am", "will", "would",
    ];
    let (first, rest) = split_first(line);
    let asks = WORDS.iter().any(|word| word.eq_ignore_ascii_case(first)) && !rest.is_empty() && !begins_code(rest);
    // `do` is a command, too, followed by an answer.
    let asks_about_doing =
        !first.eq_ignore_ascii_case("do") || ["i ", "we ", "you "].iter().any(|who| rest.starts_with(who));
    (asks && asks_about_doing).then(|| &line[..line.len() - rest.len()])
}

/// Removes `end` from the end of a text, in any case; returns the text itself if it does not end so.
fn without_end<'t>(text: &'t str, end: &str) -> &'t str {
    let at = text.len().checked_sub(end.len());
    match at.and_then(|at| text.get(at..)) {
        Some(last) if last.eq_ignore_ascii_case(end) => &text[..text.len() - end.len()],
        _ => text,
    }
}

/// Removes articles and similar words, which no name needs, from a line.
pub fn without_articles(line: &str) -> String {
    const ARTICLES: [&str; 5] = ["the", "a", "an", "my", "then"];
    // The last word is kept in any case.
    let (start, last) = line.rsplit_once(' ').unwrap_or(("", line));
    let words = start.split(' ').filter(|word| !word.is_empty() && !ARTICLES.contains(&&*word.to_lowercase()));
    words.chain([last]).collect::<Vec<_>>().join(" ")
}

/// Polite and idle words at the end of a line.
const ENDS: [&str; 26] = [
    " please",
    " pls",
    " plz",
    " then",
    " now",
    " thanks",
    " thx",
    " thank you",
    " obviously",
    " of course",
    " for sure",
    " i guess",
    " i think",
    " maybe",
    " lol",
    " haha",
    " hehe",
    " man",
    " dude",
    " bro",
    " right now",
    " this time",
    " this turn",
    " this round",
    " again",
    " instead",
];

/// Polite and idle words at the start of a line, and words before what somebody wants to do.
const OPENINGS: [&str; 53] = [
    "please ",
    "pls ",
    "hey ",
    "hey, ",
    "hm, ",
    "hmm, ",
    "oh ",
    "oh, ",
    "uh ",
    "so ",
    "then ",
    "and then ",
    "now ",
    "maybe ",
    "just ",
    "obviously ",
    "i guess ",
    "i think ",
    "i think i ",
    "i wanna ",
    "i want ",
    "i can ",
    "i try to ",
    "i should ",
    "we should ",
    "lets ",
    "we will ",
    "ok, ",
    "okay, ",
    "well, ",
    "i want to ",
    "i would like to ",
    "i'd like to ",
    "i'm going to ",
    "i will ",
    "i'm ",
    "i am ",
    "i'll ",
    "i ",
    "we ",
    "let me ",
    "let's ",
    "let us ",
    "try to ",
    "use ",
    "play ",
    "choose ",
    "take ",
    "show me ",
    "give me ",
    "tell me ",
    "show ",
    "see ",
];

/// Removes polite phrases from a line: `I want to hit the guard, please.` becomes `hit guard`. `None` if nothing was
/// removed.
///
/// Used if the line is refused in its original form.
pub fn without_manners(line: &str) -> Option<String> {
    if line.contains(['=', '(', '{', '[', '"', ';'])
        || Command::find(split_first(line).0).is_some_and(|command| command.takes_own_words)
    {
        return None;
    }
    let is_question = line.trim_end().ends_with('?');
    let mut plain = line.trim().trim_end_matches(['.', '!', '?', ' ']);
    // Each round removes one; the last word is kept.
    while let Some(shorter) = ENDS.iter().map(|end| without_end(plain, end)).find(|shorter| shorter.len() < plain.len())
    {
        plain = shorter.trim_end_matches([',', ' ', '.', '!']);
    }
    let begins = |plain: &str, start: &str| {
        plain.get(..start.len()).is_some_and(|text| text.eq_ignore_ascii_case(start)) && plain.len() > start.len()
    };
    while let Some(start) = OPENINGS.iter().filter(|start| begins(plain, start)).max_by_key(|start| start.len()) {
        plain = plain[start.len()..].trim_start();
    }
    let plain = without_articles(plain);
    let is_shorter = !plain.is_empty() && plain != line.trim();
    // A question is no order.
    is_shorter.then(|| if is_question { format!("help {plain}") } else { plain })
}

/// True if a line is a command by its full name, or by a newcomer's word for it.
pub fn is_command(line: &str) -> bool {
    Command::find(split_first(line).0).is_some() || of_newcomer(line).is_some()
}

/// The number of an option given by position: `the second one`, `option 2`, `number two please`. `None` for any other line.
pub fn by_ordinal(line: &str) -> Option<String> {
    const AROUND: [&str; 18] = [
        "the", "one", "option", "number", "nr", "no", "answer", "choice", "please", "pls", "plz", "i", "i'll", "take",
        "choose", "pick", "go", "with",
    ];
    let line = line.to_lowercase();
    let plain = |word: &str| word.trim_matches(['.', '!', ',', '#']).to_owned();
    let all: Vec<String> = line.split_whitespace().map(plain).collect();
    let words: Vec<&str> = all.iter().map(String::as_str).filter(|word| !AROUND.contains(word)).collect();
    // `option one`
    let words = if words.is_empty() && all.last().is_some_and(|last| last == "one") { vec!["one"] } else { words };
    let [word] = words.as_slice() else { return None };
    if let Some(place) = spelled_ordinal(word) {
        return Some(place.to_string());
    }
    let digits = word.parse::<i64>().ok();
    let spelled = || riskbreaker::play::number_in_words(&Value::text(word))?.as_int();
    digits.or_else(spelled).filter(|_| all.len() > 1).map(|number| number.to_string())
}

/// The number of an ordinal that is written as a word, `first` to `eighth`.
pub fn spelled_ordinal(word: &str) -> Option<usize> {
    const ORDINALS: [&str; 8] = ["first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth"];
    ORDINALS.iter().position(|known| *known == word).map(|at| at + 1)
}

/// True if a line begins by saying that the number of an option follows.
fn begins_with_place(line: &str) -> bool {
    ["option", "number", "answer", "choice"].iter().any(|word| split_first(line).0.eq_ignore_ascii_case(word))
}

/// Converts a spoken list to one with commas: `Ann then Bob`, `Ann > Bob`, `Ann goes first`. `None` if nothing was
/// replaced.
pub fn with_commas(line: &str) -> Option<String> {
    let mut list = line.trim().to_owned();
    for end in [" goes first", " acts first", " first"] {
        list = without_end(&list, end).to_owned();
    }
    for between in [", then ", " then ", " before ", " and ", " > "] {
        list = list.replace(between, ", ");
    }
    (list != line.trim()).then_some(list)
}

/// The command that a whole line of a newcomer means.
fn of_newcomer(line: &str) -> Option<&'static Command> {
    let plain = line.trim_end_matches(['?', '!', '.']).to_lowercase();
    let found = |plain: &str| NEWCOMERS.iter().find(|(typed, _)| *typed == plain).map(|(_, word)| Command::of(*word));
    let ends = [" first", " now", " here", " next", " then", " again", " please"];
    found(&plain)
        .or_else(|| ends.iter().find_map(|end| found(plain.strip_suffix(end).filter(|rest| rest.contains(' '))?)))
}

/// The command that a line means by a newcomer's word, or by the unique beginning of a name.
fn by_beginning(line: &str) -> Option<(&'static Command, &str)> {
    if let Some(command) = of_newcomer(line) {
        return Some((command, ""));
    }
    let (first, rest) = split_first(line);
    // `not the captain` is no beginning of `note`.
    const SMALL: [&str; 8] = ["not", "he", "she", "her", "we", "so", "no", "in"];
    if begins_code(rest) || (!rest.is_empty() && SMALL.contains(&&*first.to_lowercase())) {
        return None;
    }
    Command::beginning_with(first).map(|command| (command, rest))
}

/// Splits an answer at the ruleset's small words: `lunge stake 2 on a, b`. Known names are not split; the longest name
/// wins.
pub fn answers(line: &str, words: &Vocabulary) -> Phrases {
    let (first, rest) = split_first(line);
    let option = words.words_of_option(line);
    // An option that begins with the word comes before a question that is not open; a word of two letters is too short for that.
    let is_option = |topic: &str| !words.is_open(topic) && first.chars().count() > 2 && words.names_an_option(first);
    let topic =
        words.topic_of(first).filter(|topic| option == 0 && !words.is_part_of_option(first) && !is_option(topic));
    let whole = match topic {
        None => 0..option.max(1),
        // The name of an option may contain a small word.
        Some(topic) if words.focus().is_some_and(|open| open.topic == topic) => 1..1 + words.words_of_option(rest),
        Some(_) => 0..0,
    };
    phrases(line, whole, |all, at| words.words_of_name(all, at), |word| words.topic_of(word))
}

/// Splits a line addressed to a question by name, `Foe: ...`, into the name and the rest.
pub fn addressed(line: &str) -> Option<(&str, &str)> {
    let (name, rest) = line.trim().split_once(": ")?;
    let plain = |letter: char| letter.is_alphanumeric() || " _-'’#".contains(letter) || is_mark(letter);
    if title_and_number(name).is_some() && !rest.contains('(') {
        return Some((name.trim(), rest.trim()));
    }
    // `game: play(...)` is Lua.
    (!name.is_empty() && name.chars().all(plain) && !rest.contains('(')).then(|| (name.trim(), rest.trim()))
}

/// True for a combining accent.
fn is_mark(letter: char) -> bool {
    ('\u{300}'..='\u{36f}').contains(&letter)
}

/// Parses a line in quotes as one answer with the quoted text.
fn quoted(line: &str) -> Option<Phrase> {
    let inner = line.strip_prefix('"').and_then(|line| line.strip_suffix('"')).filter(|inner| !inner.contains('"'))?;
    Some(Phrase { text: line.to_owned(), items: Some(vec![inner.to_owned()]) })
}

/// The number of words of a line.
fn words_in(line: &str) -> usize {
    words_of(line).len()
}

/// True if the first words of an answer name an option, open or closed, or answer yes or no.
fn names_an_option(head: &Phrase, words: &Vocabulary) -> bool {
    let (first, _) = split_first(&head.text);
    let is_confirm = words.focus().is_some_and(|open| matches!(open.ask, riskbreaker::Ask::Confirm));
    let is_yes_or_no = matches!(first.trim_end_matches(',').to_lowercase().as_str(), "yes" | "no" | "y" | "n");
    let ends = words_of(&head.text);
    let mut beginnings = ends.iter().rev().map(|word| &head.text[..word.end]);
    is_confirm && is_yes_or_no || beginnings.any(|text| words.names_an_option(text))
}

pub fn is_comment(line: &str) -> bool {
    let line = line.trim_start();
    line.is_empty() || line.starts_with('#') || line.starts_with("--")
}

/// True if the rest of a line shows that its first word is a Lua variable: `set = 1`, `log(3)`.
fn begins_code(rest: &str) -> bool {
    let assigns = rest.starts_with('=') || ["+=", "-=", "*=", "/=", "..="].iter().any(|sign| rest.starts_with(sign));
    assigns || rest.starts_with('(')
}

/// Parses a house rule, option, act or small word with a value after `=` and no blanks around it.
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

/// True if a line begins with an option, an act or a small word. The name after it may contain signs: `Charm
/// (lantern)`.
fn begins_an_answer(line: &str, words: &Vocabulary) -> bool {
    let (first, _) = split_first(line);
    let known = words.words_of_option(line) > 0 || words.free_act(line).is_some() || words.topic_of(first).is_some();
    known && !STARTS.contains(&first)
}

/// The words with which a Lua program begins.
const STARTS: [&str; 10] = ["local", "for", "while", "if", "function", "repeat", "return", "not", "nil", "break"];

/// Whether a line begins with a word of Lua. While a question is open, it must also go on as Lua does: `not now` and
/// `if he comes closer` are plain words.
fn begins_as_lua(line: &str, is_asked: bool) -> bool {
    let (first, rest) = split_first(line);
    let has = |word: &str| words_of(rest).iter().any(|one| one.text == word);
    match first {
        "local" | "function" => true,
        "if" => !is_asked || has("then"),
        "for" | "while" => !is_asked || has("do"),
        "return" => !is_asked || words_in(rest) <= 1,
        "break" | "nil" => !is_asked || rest.is_empty(),
        "repeat" | "not" => !is_asked,
        _ => false,
    }
}

/// Whether a line cannot be plain words. While a question is open, a sign that stands in sentences as well is not enough:
/// `Ann > Bob`, `half cover 50%`, `cd ..`.
fn looks_like_code(line: &str, is_asked: bool) -> bool {
    let is_sentence = is_asked && words_in(line) > 1 && line.contains(char::is_alphabetic);
    let signs = if is_sentence { "=(){}[];" } else { "=(){}[];*/%<>~^:." };
    let mut quoted = false;
    let mut letters = line.chars().peekable();
    let mut found = std::iter::from_fn(|| {
        let letter = letters.next()?;
        quoted ^= letter == '"';
        // A full stop or a colon at the end of a sentence is not code.
        let ends = ".:".contains(letter) && letters.peek().is_none_or(|next| next.is_whitespace());
        let compares = is_asked && "<>".contains(letter);
        Some(!quoted && !ends && !compares && signs.contains(letter))
    });
    let calculates = [" + ", " - "].iter().any(|sign| line.contains(sign));
    begins_as_lua(line, is_asked) || found.any(|is_code| is_code) || (calculates && !is_sentence)
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
            free_now: vec!["give_up".into()],
            free_own: vec!["give_up".into()],
            views: vec![("standing".into(), "How it stands".into())],
            names: vec!["Ranger".into(), "Foe".into(), "Foe 2".into()],
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
        match super::read(line, words, accepts) {
            Meaning::Nothing => "nothing".into(),
            Meaning::Command(command, rest) => format!("command {} [{rest}]", command.name),
            Meaning::Answer { head, named, .. } => {
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
    fn a_view_of_the_rules_is_shown_by_its_bare_name() {
        assert_eq!(read("standing", &cards()), "view standing");
        assert_eq!(read("Standing with axe", &cards()), "answer [Standing] tool=[axe]");
    }

    #[test]
    fn an_option_that_begins_like_a_command_is_an_answer() {
        let trap = words(Some(Ask::Choose {
            options: vec![option("set_a_trap", "Set a Trap"), option("undo", "Undo"), option("roll", "Roll")],
            other: false,
        }));
        let known = |line: &str| super::read(line, &trap, |text| text.eq_ignore_ascii_case("roll"));
        assert!(matches!(known("Roll"), Meaning::Answer { .. }));
        assert_eq!(read("set a trap", &trap), "answer [set a trap]");
        assert_eq!(read("Set a Trap stake 2", &trap), "answer [Set a Trap] stake=[2]");
        assert_eq!(read("set a harm 2", &trap), "command set [a harm 2]");
        assert_eq!(read("undo", &trap), "command undo []");
    }

    #[test]
    fn an_option_named_like_a_command_has_priority_alone_and_before_answers() {
        let options = vec![option("switch", "Switch"), option("roll", "Roll"), option("undo", "Undo")];
        let known = words(Some(Ask::Choose { options, other: false }));
        let with_otherwise = |line: &str| match super::read(line, &known, |_| false) {
            Meaning::Answer { head, otherwise, .. } => {
                Some((head.text, otherwise.map(|(command, rest)| (command.name, rest))))
            }
            _ => None,
        };
        assert_eq!(with_otherwise("switch"), Some(("switch".into(), None)));
        let command = Some(("switches", "second".to_owned()));
        assert_eq!(with_otherwise("switch second"), Some(("switch second".into(), command)));
        assert_eq!(with_otherwise("roll"), Some(("roll".into(), None)));
        assert_eq!(with_otherwise("undo"), None, "what everybody needs keeps its name");
    }

    #[test]
    fn the_longest_name_is_not_cut_at_the_small_words_in_it() {
        let skills = Vocabulary { items: vec![("skills".into(), vec!["On Guard".into()])], ..cards() };
        assert_eq!(read("lunge with on guard stake 1", &skills), "answer [lunge] tool=[on guard] stake=[1]");
        let card = words(Some(Ask::Choose { options: vec![option("x", "Heavy Stake Blow")], other: false }));
        assert_eq!(read("stake blow stake 1", &card), "answer [stake blow] stake=[1]");
    }

    #[test]
    fn a_text_question_takes_sentences_and_any_quoted_line() {
        let place = words(Some(Ask::Choose { options: vec![option("near", "Near")], other: true }));
        for line in ["behind the old oak.", "under the bridge (left)", "10, 0", "far away on the hill"] {
            assert_eq!(read(line, &place), format!("answer [{line}]"));
        }
        assert_eq!(read("near on foe", &place), "answer [near] targets=[foe]");
        assert_eq!(read("undo", &place), "command undo []");
        assert_eq!(read("\"undo\"", &place), "answer [\"undo\"]");
    }

    #[test]
    fn prefixes_and_common_synonyms_of_commands_are_understood() {
        for (line, command) in
            [("opti", "options"), ("q", "quit"), ("go back", "undo"), ("Status", "look"), ("what now?", "options")]
        {
            assert_eq!(read(line, &cards()), format!("command {command} []"), "{line}");
            assert_eq!(read(line, &words(None)), format!("command {command} []"), "{line}");
        }
        assert!(Command::beginning_with("re").is_none(), "several begin so");
    }

    #[test]
    fn a_question_in_words_is_an_explanation_command() {
        for (line, command, about) in [
            ("how do I attack?", "help", "attack"),
            ("What is the lunge", "help", "lunge"),
            ("what does lunge do?", "help", "lunge"),
            ("why can't I lunge?", "why", "Lunge"),
            ("who is Ranger?", "sheet", "Ranger"),
            ("where is foe 2 standing", "sheet", "Foe 2"),
            ("who is nearest", "look", ""),
            ("ranger stats", "sheet", "ranger"),
            ("hey, how do I start?", "help", ""),
            ("how many enemies are there", "look", ""),
            ("hm, not sure, what do you think?", "hint", ""),
            ("what's my best card?", "hint", ""),
            ("so what do i do first", "options", ""),
            ("Foe 2's stats", "sheet", "Foe 2"),
            ("undo that", "undo", ""),
            ("skip this one please", "skip", ""),
        ] {
            assert_eq!(read(line, &cards()), format!("command {command} [{about}]"), "{line}");
        }
        assert_eq!(read("what now?", &cards()), "command options []");
        let place = words(Some(Ask::Choose { options: vec![option("near", "Near")], other: true }));
        assert_eq!(read("where is Foe", &place), "command sheet [Foe]");
        let own_words = words(Some(Ask::Choose { options: Vec::new(), other: true }));
        assert_eq!(read("what is left of the wall", &own_words), "answer [what is left of the wall]");
        assert_eq!(read("what is lunge?", &own_words), "command help [lunge]");
    }

    #[test]
    fn a_synonym_of_an_option_is_replaced() {
        let known = words(Some(Ask::Choose { options: vec![option("move", "Move")], other: false }));
        assert_eq!(with_synonym("go to Ann", &known).as_deref(), Some("move to Ann"));
        assert_eq!(with_synonym("hit Ann", &known), None);
        assert_eq!(with_synonym("lunge", &known), None);
    }

    #[test]
    fn places_and_lists_are_read_in_plain_words() {
        assert_eq!(by_ordinal("the second one").as_deref(), Some("2"));
        assert_eq!(by_ordinal("option 3").as_deref(), Some("3"));
        assert_eq!(by_ordinal("Option two please").as_deref(), Some("2"));
        assert_eq!(by_ordinal("option one").as_deref(), Some("1"));
        assert_eq!(read("Option two please", &cards()), "answer [2]");
        assert_eq!(by_ordinal("3"), None);
        assert_eq!(by_ordinal("first strike"), None);
        assert_eq!(with_commas("Foe then Archer").as_deref(), Some("Foe, Archer"));
        assert_eq!(with_commas("Foe goes first").as_deref(), Some("Foe"));
        assert_eq!(with_commas("Foe, Archer"), None);
    }

    #[test]
    fn polite_words_are_ignored() {
        let plain = |line: &str| without_manners(line);
        assert_eq!(plain("I want to hit the guard, please.").as_deref(), Some("hit guard"));
        assert_eq!(plain("ok.").as_deref(), Some("ok"));
        assert_eq!(plain("use the lunge").as_deref(), Some("lunge"));
        assert_eq!(plain("Foe, then Archer").as_deref(), Some("Foe, Archer"));
        assert_eq!(plain("lunge?").as_deref(), Some("help lunge"));
        assert_eq!(plain("lunge on foe"), None);
        assert_eq!(plain("sheet an"), None);
        assert_eq!(plain("I "), None);
        assert_eq!(plain("..."), None);
    }

    #[test]
    fn a_closed_free_act_has_lower_priority_than_an_option() {
        let mut known = cards();
        known.free = vec![("lunge_at".into(), "Lunge".into()), ("lun".into(), "Rest".into())];
        assert_eq!(read("lun on foe", &known), "answer [lun] targets=[foe]", "nobody may do it now");
        known.free_now = vec!["lun".into()];
        assert_eq!(read("lun on foe", &known), "answer [lun] targets=[foe]", "an open option comes first");
        known.free_own = vec!["lun".into()];
        assert_eq!(read("lun on foe", &known), "free lun [on foe]", "it is the asked seat's own");
        assert_eq!(read("lun", &known), "free lun []");
    }

    #[test]
    fn a_name_with_operators_is_still_an_answer() {
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
    fn a_pair_with_a_name_of_the_game_is_not_lua() {
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
    fn a_misspelt_command_is_corrected_and_plain_words_are_not_lua() {
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
    fn a_text_question_takes_any_line_that_is_no_command() {
        let line = words(Some(Ask::Line { max: 80 }));
        assert_eq!(read("we hold (for now)", &line), "answer [we hold (for now)]");
        assert_eq!(read("undo", &line), "command undo []");
    }

    #[test]
    fn a_name_and_a_colon_choose_the_asked_entity() {
        assert_eq!(addressed("Foe 2: lunge on a"), Some(("Foe 2", "lunge on a")));
        assert_eq!(addressed("game:go()"), None);
        assert_eq!(addressed("x = a: b"), None);
    }
}
