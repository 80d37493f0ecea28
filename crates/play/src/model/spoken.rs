//! Answers as people say them: `the Ogre, please`, `all of them`, `I rolled a 7`, `2 points to Ann`.
//!
//! A text that no rule of [`super::reading`] reads is put into plainer forms, which are read instead. A form never becomes an answer
//! in one's own words.

use super::question::spelled_number;
use crate::{Ask, Choice, Question};

/// Words before or behind the name of an option that say nothing about which one is meant.
const BEFORE_NAME: [&str; 47] = [
    "number", "numbers", "option", "options", "nr", "the", "a", "an", "to", "towards", "toward", "at", "on", "onto",
    "upon", "into", "in", "next", "beside", "near", "against", "with", "by", "for", "from", "my", "our", "his", "her",
    "their", "its", "that", "this", "use", "using", "take", "choose", "pick", "i", "i'll", "we", "go", "only", "just",
    "let's", "both", "then",
];
const BEHIND_NAME: [&str; 8] = ["please", "only", "alone", "then", "now", "instead", "too", "joins"];

/// Words around a number that say nothing about which one is meant.
const AROUND_NUMBER: [&str; 55] = [
    "i", "i'll", "i'd", "we", "we'll", "will", "stake", "bet", "take", "use", "spend", "risk", "pay", "choose", "go",
    "for", "with", "a", "an", "the", "of", "it", "it's", "is", "was", "were", "are", "just", "only", "about", "let's",
    "make", "that", "please", "points", "point", "rolled", "roll", "got", "threw", "fell", "dice", "die", "shows",
    "and", "plz", "pls", "course", "ok", "okay", "then", "maybe", "lets", "can", "in",
];

/// Words between the names and the points of an allotment.
const AROUND_POINTS: [&str; 21] = [
    "point", "points", "to", "for", "on", "as", "in", "into", "and", "&", "gets", "get", "takes", "it", "of", "the",
    "goes", "each", "give", "put", "them",
];

const EVERYTHING: [&str; 19] = [
    "everyone",
    "everybody",
    "all the enemies",
    "all the foes",
    "all foes",
    "all bad guys",
    "all the bad guys",
    "every enemy",
    "all of them",
    "all of you",
    "all of us",
    "both of them",
    "both",
    "all enemies",
    "the lot",
    "them all",
    "everything",
    "everyone of them",
    "all please",
];
const NOTHING: [&str; 10] =
    ["no", "nope", "no one", "noone", "none of them", "none please", "without", "nobody", "none", "nothing"];
const MOST: [&str; 22] = [
    "a lot",
    "lots",
    "it all",
    "all i have",
    "all i can",
    "the most i can",
    "most i can",
    "as many as i can",
    "everything i have",
    "max",
    "maximum",
    "the maximum",
    "the max",
    "all",
    "all in",
    "the most",
    "most",
    "everything",
    "highest",
    "as much as possible",
    "as many as possible",
    "as much as i can",
];
const LEAST: [&str; 13] = [
    "min",
    "minimum",
    "the minimum",
    "the min",
    "the least",
    "least",
    "lowest",
    "low",
    "a little",
    "just a little",
    "a bit",
    "as little as possible",
    "as few as possible",
];
/// Words at the end or start of a yes or no that change nothing.
const AROUND_YES: [&str; 22] = [
    "obviously",
    "definitely",
    "absolutely",
    "really",
    "well",
    "please",
    "pls",
    "plz",
    "thanks",
    "thx",
    "lol",
    "haha",
    "man",
    "dude",
    "hm",
    "hmm",
    "oh",
    "then",
    "now",
    "sir",
    "captain",
    "but",
];

const YES: [&str; 37] = [
    "yes",
    "yeah",
    "sure thing",
    "alright",
    "all right",
    "let's go",
    "lets go",
    "lets do it",
    "lets do this",
    "looks ok",
    "looks okay",
    "sounds ok",
    "sounds good to me",
    "ja",
    "hell yes",
    "yes sir",
    "yes indeed",
    "yess",
    "yea",
    "definitely",
    "absolutely",
    "certainly",
    "go ahead",
    "go for it",
    "do it",
    "do that",
    "let's do it",
    "let's do this",
    "looks good",
    "looks fine",
    "sounds good",
    "sounds fine",
    "that's fine",
    "fine",
    "fine by me",
    "correct",
    "agreed",
];
const NO: [&str; 22] = [
    "no",
    "nope",
    "nah",
    "not this time",
    "i don't",
    "i won't",
    "not now",
    "not yet",
    "not today",
    "not really",
    "don't",
    "dont",
    "do not",
    "don't do it",
    "no way",
    "never",
    "rather not",
    "i'd rather not",
    "no need",
    "hell no",
    "negative",
    "better not",
];

/// The plainer forms of a typed text, the likeliest first.
pub(super) fn forms(question: &Question, text: &str) -> Vec<String> {
    let text = plain(text);
    match &question.ask {
        Ask::Confirm => yes_or_no(&question.why, &text).map(str::to_owned).into_iter().collect(),
        Ask::Number { min, max } => number(&question.why, &text, *min, *max).into_iter().collect(),
        Ask::Dice { .. } => faces(&text).into_iter().collect(),
        Ask::Choose { options, .. } => one(options, &text),
        Ask::ChooseMany { options, min, .. } => several(options, &text, *min == 0, false),
        Ask::Order { options } => several(options, &text, false, true),
        Ask::Allot { options, .. } => points(options, &text),
        Ask::Line { .. } => Vec::new(),
    }
}

/// In small letters, with one blank between words and without the sign that ends a sentence.
fn plain(text: &str) -> String {
    let words: Vec<String> = text.split_whitespace().map(str::to_lowercase).collect();
    words.join(" ").trim_end_matches(['.', '!', ',']).replace('\u{2019}', "'")
}

fn words(text: &str) -> Vec<&str> {
    text.split([' ', ',']).filter(|word| !word.is_empty()).collect()
}

/// The words of the sentence that a question asks, without signs.
fn asked_words(why: &str) -> Vec<String> {
    let sentence = why.split_inclusive('?').next().unwrap_or(why).to_lowercase();
    let letter = |letter: char| letter.is_alphanumeric() || letter == '\'';
    sentence.split(|one: char| !letter(one)).filter(|word| !word.is_empty()).map(str::to_owned).collect()
}

/// Yes or no, as a phrase or followed by words of the question itself: `yes, attack him`.
fn yes_or_no(why: &str, text: &str) -> Option<&'static str> {
    let all = text.replace(',', "");
    let mut says: Vec<&str> = all.split(' ').collect();
    loop {
        let phrase = &*says.join(" ");
        if YES.contains(&phrase) || says.iter().all(|word| matches!(*word, "yes" | "yeah" | "sure")) {
            return Some("yes");
        }
        if NO.contains(&phrase) || says.iter().all(|word| matches!(*word, "no" | "nope")) {
            return Some("no");
        }
        if says.len() > 1 && says.last().is_some_and(|word| AROUND_YES.contains(word)) {
            says.pop();
        } else if says.len() > 1 && AROUND_YES.contains(&says[0]) {
            says.remove(0);
        } else {
            break;
        }
    }
    let all = &*says.join(" ");
    let (first, rest) = all.split_once(' ')?;
    let answer = match first {
        "yes" | "yeah" | "yep" | "yup" | "sure" | "ok" | "okay" | "aye" => "yes",
        "no" | "nope" | "nah" => "no",
        _ => return None,
    };
    // What a question says after its sign is what happens otherwise.
    let asked = if answer == "yes" { asked_words(why) } else { asked_words(&why.replace('?', "")) };
    let repeats = |word: &str| {
        const SMALL: [&str; 38] = [
            "i", "we", "he", "she", "they", "it", "him", "her", "them", "do", "does", "will", "the", "a", "an",
            "let's", "want", "to", "please", "of", "course", "with", "not", "don't", "that", "go", "thanks", "thank",
            "you", "now", "stay", "wait", "stop", "leave", "keep", "yet", "change", "anything",
        ];
        SMALL.contains(&word) || asked.iter().any(|asked| same_stem(asked, word))
    };
    rest.split(' ').all(repeats).then_some(answer)
}

/// Whether two words have one stem: `attack` and `attacks`, `snipe` and `sniping`.
fn same_stem(one: &str, other: &str) -> bool {
    let stem = |word: &str| {
        let cut = ["ing", "es", "s", "e"].iter().find_map(|end| word.strip_suffix(end)).filter(|stem| stem.len() > 2);
        cut.unwrap_or(word).to_owned()
    };
    one == other || stem(one) == stem(other)
}

/// The number that a word is or spells.
fn number_of(word: &str) -> Option<String> {
    let digits = word.parse::<i64>().ok();
    let spelled = || spelled_number(word).map(|number| number as i64);
    digits.or_else(spelled).map(|number| number.to_string())
}

/// The only number of a sentence that says nothing else, or the greatest or smallest possible one.
fn number(why: &str, text: &str, min: i64, max: i64) -> Option<String> {
    let short = text.strip_suffix(" please").unwrap_or(text);
    if MOST.contains(&short) {
        return Some(max.to_string());
    }
    if LEAST.contains(&short) {
        return Some(min.to_string());
    }
    if let Some(bound) = in_most_words(short, min, max) {
        return Some(bound.to_string());
    }
    let asked = asked_words(why);
    let (numbers, others): (Vec<&str>, Vec<&str>) = words(text).into_iter().partition(|word| number_of(word).is_some());
    let says_nothing = |word: &&str| AROUND_NUMBER.contains(word) || asked.iter().any(|asked| same_stem(asked, word));
    match numbers.as_slice() {
        [only] if !others.is_empty() && others.iter().all(says_nothing) => number_of(only),
        _ => None,
    }
}

/// The bound that a sentence names between words that say nothing: `risk it all`, `spend both`.
fn in_most_words(text: &str, min: i64, max: i64) -> Option<i64> {
    let mut rest = words(text);
    loop {
        let phrase = rest.join(" ");
        if MOST.contains(&&*phrase) || phrase == "both" && max == 2 {
            return Some(max);
        }
        if LEAST.contains(&&*phrase) {
            return Some(min);
        }
        // A phrase may begin with such a word, so only one end is shortened at a time.
        if rest.first().is_some_and(|word| AROUND_NUMBER.contains(word)) {
            rest.remove(0);
        } else if rest.last().is_some_and(|word| AROUND_NUMBER.contains(word)) {
            rest.pop();
        } else {
            return None;
        }
    }
}

/// The faces in a sentence that says nothing else.
fn faces(text: &str) -> Option<String> {
    let (numbers, others): (Vec<&str>, Vec<&str>) = words(text).into_iter().partition(|word| number_of(word).is_some());
    let faces: Vec<String> = numbers.into_iter().filter_map(number_of).collect();
    (!faces.is_empty() && others.iter().all(|word| AROUND_NUMBER.contains(word))).then(|| faces.join(", "))
}

/// A name without the words around it.
fn without_small_words(text: &str) -> Vec<String> {
    let mut rest = words(text);
    while rest.len() > 1 && rest.last().is_some_and(|word| BEHIND_NAME.contains(word)) {
        rest.pop();
    }
    let mut found = vec![rest.join(" ")];
    while rest.len() > 1 && BEFORE_NAME.contains(&rest[0]) {
        rest.remove(0);
        found.push(rest.join(" "));
    }
    found.retain(|form| form != text);
    found
}

/// The names that one option may be meant by.
fn one(options: &[Choice], text: &str) -> Vec<String> {
    let mut forms = without_small_words(text);
    forms.extend(of_all_words(options, text));
    forms
}

/// The only option whose name has all words of a text, of which there are two or more; an open one if there is one. Who types `my` means what is the own.
fn of_all_words(options: &[Choice], text: &str) -> Option<String> {
    let typed: Vec<&str> =
        words(text).into_iter().filter(|word| !["the", "a", "an", "to", "of"].contains(word)).collect();
    let has = |label: &str| {
        let name: Vec<String> = words(&label.to_lowercase()).iter().map(ToString::to_string).collect();
        typed.iter().all(|word| {
            let own = ["my", "myself", "me"].contains(word);
            name.iter()
                .any(|part| part == word || own && (part == "own" || part == "yourself") || same_stem(part, word))
        })
    };
    let named: Vec<&Choice> = options.iter().filter(|option| has(&option.label)).collect();
    let open: Vec<&Choice> = named.iter().copied().filter(|option| option.enabled).collect();
    match (open.as_slice(), named.as_slice()) {
        ([option], _) | ([], [option]) if typed.len() > 1 => Some(option.label.to_string()),
        _ => None,
    }
}

/// A list of names. `in_order`: it says who is first; numbers with blanks between them are places in the list then.
fn several(options: &[Choice], text: &str, may_be_none: bool, in_order: bool) -> Vec<String> {
    let open: Vec<&Choice> = options.iter().filter(|option| option.enabled).collect();
    if EVERYTHING.contains(&text) || text == "yes" && open.len() == 1 && !in_order {
        return vec!["all".to_owned()];
    }
    let declines = ["no ", "nothing ", "without "].iter().any(|start| text.starts_with(start));
    if may_be_none && (NOTHING.contains(&text) || declines) {
        return vec!["none".to_owned()];
    }
    if let Some(others) = all_others(&open, text).filter(|_| !in_order) {
        return vec![others];
    }
    let mut list = text.to_owned();
    for end in [" goes first", " acts first", " is first", " first"] {
        list = list.strip_suffix(end).map_or(list.clone(), str::to_owned);
    }
    let between = [
        ", then ",
        " then ",
        ", and ",
        " before ",
        " and ",
        " & ",
        " + ",
        " n ",
        " plus ",
        " as well as ",
        "&",
        "+",
        ">",
        ";",
    ];
    for between in between {
        list = list.replace(between, ",");
    }
    let parts: Vec<&str> = list.split(',').map(str::trim).filter(|part| !part.is_empty()).collect();
    let places: Vec<&str> = words(&list);
    if in_order && parts.len() == 1 && places.len() > 1 && places.iter().all(|word| word.parse::<usize>().is_ok()) {
        return vec![places.join(", ")];
    }
    let named: Vec<String> = parts.iter().flat_map(|part| names_of(&open, part)).collect();
    let form = named.join(", ");
    if form.is_empty() || form == text { Vec::new() } else { vec![form] }
}

/// All options but those that a text excludes: `everyone but the captain`. `None` for any other text.
fn all_others(open: &[&Choice], text: &str) -> Option<String> {
    let (all, excluded) =
        text.split_once(" but ").or_else(|| text.split_once(" except for ")).or_else(|| text.split_once(" except "))?;
    if !matches!(all, "all" | "everyone" | "everybody" | "all of them" | "everything") {
        return None;
    }
    let parts = excluded.split([',', '&']).flat_map(|part| part.split(" and ")).map(str::trim);
    let excluded: Vec<String> = parts.flat_map(|part| names_of(open, part)).collect();
    let is_excluded = |option: &&&Choice| {
        let label = option.label.to_lowercase();
        excluded.iter().any(|name| label == name.to_lowercase())
    };
    let known = open.iter().filter(is_excluded).count() == excluded.len();
    let others: Vec<String> =
        open.iter().filter(|option| !is_excluded(option)).map(|option| option.label.to_string()).collect();
    (known && !others.is_empty()).then(|| others.join(", "))
}

/// The labels that a part of a list means: one without the words around it, or all of a name that differ only by a number.
fn names_of(open: &[&Choice], part: &str) -> Vec<String> {
    let is_label = |text: &str| open.iter().any(|option| option.label.to_lowercase() == text);
    let mut forms = vec![part.to_owned()];
    forms.extend(without_small_words(part));
    if let Some(form) = forms.iter().find(|form| is_label(form)) {
        return vec![form.clone()];
    }
    for form in &forms {
        let form = form
            .strip_prefix("all ")
            .or(form.strip_prefix("of "))
            .or(form.strip_prefix("both "))
            .or(form.strip_prefix("two "))
            .unwrap_or(form);
        let Some(single) = form.strip_suffix('s').filter(|single| !single.is_empty()) else { continue };
        let has_name = |option: &&&Choice| {
            let label = option.label.to_lowercase();
            let rest = label.strip_prefix(single).map(str::trim_start);
            rest.is_some_and(|rest| rest.is_empty() || rest.parse::<u32>().is_ok())
        };
        let found: Vec<String> = open.iter().filter(has_name).map(|option| option.label.to_string()).collect();
        if found.len() > 1 {
            return found;
        }
    }
    vec![forms.pop().unwrap_or_default()]
}

/// Points by name, with the number before or behind it, in any of the words people use.
fn points(options: &[Choice], text: &str) -> Vec<String> {
    if NOTHING.contains(&text) || text == "0" {
        return vec![String::new()];
    }
    let in_digits: Vec<String> =
        words(text).into_iter().map(|word| number_of(word).unwrap_or_else(|| word.to_owned())).collect();
    let all: Vec<&str> = in_digits.iter().map(String::as_str).collect();
    let open: Vec<&Choice> = options.iter().filter(|option| option.enabled).collect();
    if all.len() > 1 && all.len() <= open.len() && all.iter().all(|word| word.parse::<i64>().is_ok()) {
        let pairs = open.iter().zip(&all).map(|(option, points)| format!("{} {points}", option.label));
        return vec![pairs.collect::<Vec<_>>().join(", ")];
    }
    let whole = |word: &&str| ["all", "everything", "rest", "whole", "full"].contains(word);
    let mut names: Vec<String> = Vec::new();
    let mut numbers: Vec<&str> = Vec::new();
    let (mut at, mut is_new) = (0, true);
    while at < all.len() {
        let length = open.iter().map(|option| name_length(&option.label, &all[at..])).max().unwrap_or(0);
        if length > 0 {
            names.push(all[at..at + length].join(" "));
            is_new = true;
        } else if all[at].parse::<i64>().is_ok() {
            numbers.push(all[at]);
            is_new = true;
        } else if !AROUND_POINTS.contains(&all[at]) && !whole(&all[at]) {
            match names.last_mut().filter(|_| !is_new) {
                Some(name) => *name = format!("{name} {}", all[at]),
                None => names.push(all[at].to_owned()),
            }
            is_new = false;
        }
        at += length.max(1);
    }
    match (names.as_slice(), numbers.len()) {
        ([only], 0) => vec![only.clone()],
        (names, count) if !names.is_empty() && names.len() == count => {
            let pairs = names.iter().zip(numbers).map(|(name, points)| format!("{name} {points}"));
            vec![pairs.collect::<Vec<_>>().join(", ")]
        }
        _ => Vec::new(),
    }
}

/// How many of the words at the start are a whole label.
fn name_length(label: &str, all: &[&str]) -> usize {
    let label = label.to_lowercase();
    let parts = words(&label);
    if parts.len() <= all.len() && parts.iter().zip(all).all(|(part, word)| part == word) { parts.len() } else { 0 }
}

#[cfg(test)]
mod tests {
    use super::super::Answer;
    use super::*;

    fn option(label: &str) -> Choice {
        let id = label.to_lowercase().replace(' ', "_").into();
        Choice { id, label: label.into(), enabled: true, reason: None, note: None, max: None, entity: None }
    }

    fn options(labels: &[&str]) -> Vec<Choice> {
        labels.iter().map(|label| option(label)).collect()
    }

    fn told(ask: Ask, why: &str, text: &str) -> Option<String> {
        let question = Question { why: why.into(), ..Question::for_test(ask) };
        question.read_typed(&text.into()).ok().map(|answer| question.tell(&answer))
    }

    #[test]
    fn yes_and_no_may_be_followed_by_the_words_of_the_question() {
        let why = "does Fighter attack Defender with Sword? If not, the round ends";
        for (text, meant) in [
            ("yes, attack Defender", Some("yes")),
            ("yep let's attack", Some("yes")),
            ("no attacks", Some("no")),
            ("no, end the round", Some("no")),
            ("Looks good!", Some("yes")),
            ("not now", Some("no")),
            ("obviously yes", Some("yes")),
            ("no thx", Some("no")),
            ("nope nope", Some("no")),
            ("yes round", None),
            ("attack", None),
            ("yes strike 2", None),
        ] {
            assert_eq!(told(Ask::Confirm, why, text).as_deref(), meant, "{text}");
        }
    }

    #[test]
    fn a_number_may_stand_in_a_sentence() {
        let ask = || Ask::Number { min: 1, max: 3 };
        for (text, meant) in [
            ("max", Some("3")),
            ("as little as possible", Some("1")),
            ("I'll stake 2", Some("2")),
            ("two points", Some("2")),
            ("2 plz", Some("2")),
            ("two of course", Some("2")),
            ("risk it all!", Some("3")),
            ("the most i can", Some("3")),
            ("just a little", Some("1")),
            ("both", None),
            ("2 or 3", None),
            ("4", None),
            ("lunge 2", None),
        ] {
            assert_eq!(told(ask(), "how much?", text).as_deref(), meant, "{text}");
        }
        let dice = || Ask::Dice { dice: "2d10".into(), sides: vec![10, 10] };
        assert_eq!(told(dice(), "", "I rolled a 7 and a three").as_deref(), Some("7, 3"));
        assert_eq!(told(dice(), "", "lunge 7 3"), None);
    }

    #[test]
    fn a_name_may_have_small_words_around_it() {
        let ask = |other| Ask::Choose { options: options(&["Towards Ann", "Towards Bob 2", "Own wounds"]), other };
        for (text, meant) in [
            ("the Ann", "Towards Ann"),
            ("towards the ann please", "Towards Ann"),
            ("to bob 2", "Towards Bob 2"),
            ("my wounds", "Own wounds"),
        ] {
            assert_eq!(told(ask(false), "", text).as_deref(), Some(meant), "{text}");
            assert_eq!(told(ask(true), "", text).as_deref(), Some(meant), "{text}");
        }
        assert_eq!(told(ask(false), "", "the carl"), None);
        assert_eq!(
            told(ask(true), "", "the carl").as_deref(),
            Some("the carl"),
            "it stays an answer in one's own words"
        );
    }

    #[test]
    fn lists_are_read_as_people_say_them() {
        let many = || Ask::ChooseMany { options: options(&["Bandit", "Bandit 2", "Chief"]), min: 0, max: 3 };
        for (text, meant) in [
            ("both bandits", Some("Bandit, Bandit 2")),
            ("the chief & bandit 2", Some("Chief, Bandit 2")),
            ("only the chief", Some("Chief")),
            ("all of them", Some("Bandit, Bandit 2, Chief")),
            ("no one", Some("none")),
            ("nothing special", Some("none")),
            ("bandit n chief", Some("Bandit, Chief")),
            ("everyone but the chief", Some("Bandit, Bandit 2")),
            ("everyone but carl", None),
            ("chief and carl", None),
        ] {
            assert_eq!(told(many(), "", text).as_deref(), meant, "{text}");
        }
        let order = || Ask::Order { options: options(&["Ann", "Bob", "Carl"]) };
        for (text, meant) in [
            ("carl>ann", Some("Carl, Ann, Bob")),
            ("Bob then Ann", Some("Bob, Ann, Carl")),
            ("3 1 2", Some("Carl, Ann, Bob")),
            ("the carl goes first", Some("Carl, Ann, Bob")),
            ("whoever", None),
        ] {
            assert_eq!(told(order(), "", text).as_deref(), meant, "{text}");
        }
    }

    #[test]
    fn points_are_divided_in_any_order_of_words() {
        let ask = || Ask::Allot { options: options(&["Kill Damage", "Luck", "Bandit 2"]), total: 3, least: 0 };
        for (text, meant) in [
            ("luck 1 kill damage 2", Some("Luck 1, Kill Damage 2")),
            ("2 kill, 1 luck", Some("Kill Damage 2, Luck 1")),
            ("2 points to luck and 1 to bandit 2", Some("Luck 2, Bandit 2 1")),
            ("everything as kill damage", Some("Kill Damage 3")),
            ("luck gets it", Some("Luck 3")),
            ("1 1 1", Some("Kill Damage 1, Luck 1, Bandit 2 1")),
            ("nobody", Some("")),
            ("give one to luck", Some("Luck 1")),
            ("luck 4", None),
            ("carl 1", None),
        ] {
            assert_eq!(told(ask(), "", text).as_deref(), meant, "{text}");
        }
        assert!(matches!(
            Question::for_test(ask()).read_typed(&"none".into()),
            Ok(Answer::Allotment(parts)) if parts.is_empty()
        ));
    }
}
