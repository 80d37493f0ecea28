//! Guesses what a refused sentence means: an option that its words name, and answers to the questions after it.
//!
//! A sentence is reduced to the words that say something. They name an option by whole words of its name, by another word for one
//! of them, by its initials, or by a word that is cut short or misspelt. The words that are left may answer the questions after
//! it. A guess is tried on a copy of the game. It is carried out if every word is accounted for exactly, and is suggested
//! otherwise.

use std::cmp::Reverse;

use riskbreaker::names::fold;
use riskbreaker::play::number_in_words;
use riskbreaker::ruleset::nearest;
use riskbreaker::{Answer, Ask, Choice, Question, Refusal, Value};

use super::Repl;
use super::reader::{spelled_ordinal, synonyms_of};
use super::refused::word_of;
use super::vocabulary::Vocabulary;

/// The most words of a sentence that is guessed.
const MOST_WORDS: usize = 14;

/// The most questions between an option and the last word that answers one of them.
const MOST_QUESTIONS: usize = 4;

/// The most options whose questions are searched for a name.
const MOST_OPTIONS: usize = 24;

/// Words that say nothing about which option is meant.
const IDLE: [&str; 106] = [
    "the",
    "a",
    "an",
    "to",
    "towards",
    "toward",
    "at",
    "on",
    "onto",
    "upon",
    "into",
    "in",
    "next",
    "near",
    "against",
    "with",
    "w",
    "by",
    "for",
    "from",
    "of",
    "my",
    "our",
    "his",
    "her",
    "their",
    "its",
    "that",
    "this",
    "it",
    "him",
    "them",
    "me",
    "us",
    "i",
    "i'll",
    "i'd",
    "i'm",
    "im",
    "we",
    "we'll",
    "he",
    "she",
    "they",
    "use",
    "using",
    "take",
    "choose",
    "pick",
    "only",
    "just",
    "let's",
    "lets",
    "let",
    "and",
    "n",
    "then",
    "please",
    "pls",
    "plz",
    "now",
    "some",
    "something",
    "try",
    "do",
    "does",
    "make",
    "want",
    "wanna",
    "gonna",
    "would",
    "like",
    "will",
    "is",
    "be",
    "am",
    "can",
    "so",
    "ok",
    "okay",
    "well",
    "yes",
    "very",
    "really",
    "maybe",
    "again",
    "also",
    "too",
    "one",
    "thing",
    "guy",
    "up",
    "over",
    "first",
    "think",
    "guess",
    "should",
    "have",
    "has",
    "here",
    "there",
    "nr",
    "number",
    "option",
    "as",
    "get",
];

/// True for a word that says nothing about which option is meant: `get`, `take`, `the`.
pub(super) fn is_idle(word: &str) -> bool {
    IDLE.contains(&&*word.to_lowercase())
}

/// Two words that say one thing, with the word for it.
const PHRASES: [([&str; 2], &str); 23] = [
    (["fight", "back"], "attack"),
    (["finish", "off"], "kill"),
    (["take", "out"], "kill"),
    (["take", "down"], "kill"),
    (["patch", "up"], "treat"),
    (["bring", "down"], "kill"),
    (["get", "away"], "escape"),
    (["run", "away"], "escape"),
    (["go", "away"], "escape"),
    (["break", "away"], "escape"),
    (["break", "free"], "escape"),
    (["get", "out"], "escape"),
    (["back", "away"], "retreat"),
    (["back", "off"], "retreat"),
    (["fall", "back"], "retreat"),
    (["pull", "back"], "retreat"),
    (["step", "back"], "retreat"),
    (["get", "off"], "dismount"),
    (["stand", "up"], "rise"),
    (["stand", "by"], "wait"),
    (["stand", "still"], "stay"),
    (["take", "aim"], "aim"),
    (["give", "up"], "surrender"),
];

/// Words for all of several options, and for none of them.
const WHOLE: [&str; 6] = ["all", "both", "everyone", "everybody", "every", "each"];
const NONE: [&str; 3] = ["none", "neither", "nobody"];

/// Words that turn a sentence into its opposite or into a choice. Such a sentence is not guessed.
const TURNING: [&str; 12] =
    ["not", "don't", "dont", "never", "without", "except", "but", "unless", "or", "nobody", "no", "instead"];

/// A line that a sentence may mean.
#[derive(Debug)]
pub struct Guess {
    /// The line in full names.
    pub line: String,
    /// The answers of the line, by topic.
    pub replies: Vec<(String, Value)>,
    /// True if every word of the sentence is accounted for exactly.
    pub sure: bool,
    /// The number of words that are not accounted for.
    left: usize,
    /// True if a question between two answers of the sentence is answered by its proposal.
    has_proposals: bool,
}

/// How well a typed word fits a word of a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum WordFit {
    /// The same word, its beginning, another form of it, or another word for it.
    Exact,
    /// A misspelt or shortened word.
    Near,
}

/// An option that words of a sentence name.
#[derive(Debug)]
struct NamedOption {
    /// The places of these words in the sentence, in ascending order.
    used: Vec<usize>,
    /// True if the name is not certain: a word is misspelt or shortened, or stands for another one.
    near: bool,
    /// True if a word is misspelt or shortened.
    misspelt: bool,
    /// The number of these words that are other words for those of the name.
    borrowed: usize,
    /// The number of words of the name that the sentence lacks.
    missing: usize,
}

/// The words of a sentence that no answer has used yet.
type Words = Vec<String>;

/// True for `don't move`, `I do not want to go there`.
fn stays(words: &Words) -> bool {
    let has = |wanted: &[&str]| words.iter().position(|word| wanted.contains(&word.as_str()));
    let (not, moves) = (has(&["not", "don't", "dont", "no"]), has(&["move", "moving", "go", "walk", "run"]));
    not.zip(moves).is_some_and(|(not, moves)| not < moves)
}

/// The words of a text, folded, without signs.
fn words_in(text: &str) -> Words {
    let text = text.to_lowercase().replace('\u{2019}', "'");
    let letter = |letter: char| letter.is_alphanumeric() || letter == '\'';
    text.split(|one: char| !letter(one)).filter(|word| !word.is_empty()).map(fold).collect()
}

/// The words of a typed sentence. A phrase of two words becomes one word, unless a label has both. Such a word is less certain.
fn words_said(line: &str, labels: &[Words]) -> Words {
    let mut words = words_in(line);
    let mut at = 0;
    while at + 1 < words.len() {
        let is_said = |phrase: &[&str; 2]| words[at] == phrase[0] && words[at + 1] == phrase[1];
        let is_label = |phrase: &[&str; 2]| {
            labels.iter().any(|label| phrase.iter().all(|word| label.iter().any(|part| part == word)))
        };
        if let Some((_, word)) = PHRASES.iter().find(|(phrase, _)| is_said(phrase) && !is_label(phrase)) {
            words.splice(at..at + 2, [(*word).to_owned()]);
        }
        at += 1;
    }
    words
}

/// True if words say all of `count` things: `all`, `all four`, `both`. These words are taken from `words`.
fn takes_all(words: &mut Words, count: usize) -> bool {
    let Some(at) = words.iter().position(|word| WHOLE.contains(&word.as_str())) else { return false };
    let said = match (words[at].as_str(), words.get(at + 1)) {
        ("both", _) => Some((2, 1)),
        (_, Some(next)) if is_count(next) => ordinal(next).or_else(|| next.parse().ok()).map(|said| (said, 2)),
        _ => Some((count, 1)),
    };
    let Some((_, used)) = said.filter(|(said, _)| *said == count && count > 1) else { return false };
    words.drain(at..at + used);
    true
}

/// True if a word says how something is done: `quickly`.
fn is_manner(word: &str) -> bool {
    word.len() > 4 && word.ends_with("ly")
}

/// A word without its ending: `attack` of `attacks`, `observ` of `observe`.
fn stem(word: &str) -> &str {
    let ends = ["ing", "ed", "es", "s", "e"];
    ends.iter().find_map(|end| word.strip_suffix(end)).filter(|stem| stem.chars().count() > 2).unwrap_or(word)
}

/// The number of an ordinal, or a number in words: `second`, `2nd`, `two`.
fn ordinal(word: &str) -> Option<usize> {
    let digits = ["st", "nd", "rd", "th"].iter().find_map(|end| word.strip_suffix(end)?.parse().ok());
    let in_words = || number_in_words(&Value::text(word))?.as_int()?.try_into().ok();
    digits.or_else(|| spelled_ordinal(word)).or_else(in_words)
}

/// True for a number in digits or in words, and for an ordinal.
fn is_count(word: &str) -> bool {
    word.parse::<i64>().is_ok() || ordinal(word).is_some()
}

/// True if the letters of a short word, which has no vowel after its first letter, occur in a name in this order: `mv` for `move`.
fn is_shortened(typed: &str, part: &str) -> bool {
    let vowels = ['a', 'e', 'i', 'o', 'u'];
    let length = typed.chars().count();
    if length < 2 || 2 * length > part.chars().count() + 2 || typed.chars().skip(1).any(|one| vowels.contains(&one)) {
        return false;
    }
    let mut rest = part.chars();
    typed.chars().next() == part.chars().next() && typed.chars().all(|letter| rest.any(|other| other == letter))
}

/// True if one of two words may be typed for the other.
fn is_other_word(typed: &str, part: &str) -> bool {
    synonyms_of(typed).any(|known| known == part) || synonyms_of(part).any(|known| known == typed)
}

/// How a typed word fits a word of a name; `None` if it does not.
fn fit(typed: &str, part: &str) -> Option<WordFit> {
    let length = typed.chars().count();
    let number = ordinal(typed);
    let begins = length > 2 && part.starts_with(typed);
    if typed == part || begins || stem(typed) == stem(part) || is_other_word(typed, part) {
        return Some(WordFit::Exact);
    }
    if number.is_some() && number == ordinal(part).or_else(|| part.parse().ok()) {
        return Some(WordFit::Exact);
    }
    if !typed.chars().all(char::is_alphabetic) {
        return None;
    }
    let alike = typed.chars().next() == part.chars().next();
    let is_misspelt = length > 3 && (alike || length > 5) && nearest(typed, [part]).is_some();
    // A few letters are left out: `gunr` for `gunner`.
    let mut letters = part.chars();
    let has_all = typed.chars().all(|letter| letters.any(|other| other == letter));
    let lacks_few = length > 3 && alike && has_all && part.chars().count() < length + 3;
    let is_derived = stem(typed).chars().count() > 4 && part.starts_with(stem(typed));
    (is_misspelt || is_derived || lacks_few || is_shortened(typed, part)).then_some(WordFit::Near)
}

/// How words of a sentence name an option; `None` if they do not. `verb`: the word for what the option does.
fn named(words: &Words, option: &Choice, verb: Option<&str>) -> Option<NamedOption> {
    let all = words_in(&option.label);
    let says: Vec<&String> = all.iter().filter(|part| !IDLE.contains(&part.as_str())).collect();
    let parts: Vec<&String> = if says.is_empty() { all.iter().collect() } else { says };
    let mut covered = vec![false; parts.len()];
    let mut found = NamedOption { used: Vec::new(), near: false, misspelt: false, borrowed: 0, missing: 0 };
    let mut does_verb = false;
    // Numbers come last: they tell equal names apart, and are no name alone.
    let (counts, others): (Vec<_>, Vec<_>) = words.iter().enumerate().partition(|(_, word)| is_count(word));
    let others_end = others.len();
    for (place, (at, word)) in others.into_iter().chain(counts).enumerate() {
        let free = |fitting: WordFit, covered: &[bool]| {
            (0..parts.len()).find(|part| !covered[*part] && fit(word, parts[*part]) == Some(fitting))
        };
        // `knock down` for `Knockdown`.
        let joined = words.get(at + 1).map(|next| format!("{word}{next}"));
        let whole = joined.and_then(|joined| (0..parts.len()).find(|part| !covered[*part] && *parts[*part] == joined));
        // The initials of the last words: `kd` for `Inflict Kill Damage`.
        let initials = initials_at_end(word, &parts);
        if found.used.contains(&at) {
            continue;
        }
        if let Some(part) = whole {
            found.used.extend([at, at + 1]);
            covered[part] = true;
        } else if let Some(part) = free(WordFit::Exact, &covered) {
            // A number alone may be a place in a list.
            if place < others_end || !found.used.is_empty() {
                found.used.push(at);
                covered[part] = true;
                found.borrowed += usize::from(is_other_word(word, parts[part]));
            }
        } else if initials > 0 {
            found.used.push(at);
            covered[parts.len() - initials..].fill(true);
        } else if let Some(verb) = verb.filter(|verb| verb == word || synonyms_of(word).any(|known| known == *verb)) {
            found.used.push(at);
            found.near |= verb != word;
            does_verb = true;
        } else if let Some(part) = free(WordFit::Near, &covered) {
            found.used.push(at);
            covered[part] = true;
            found.near = true;
            found.misspelt = true;
        }
    }
    found.used.sort_unstable();
    // The verb says as much as the name.
    found.missing = if does_verb { 0 } else { covered.iter().filter(|is_covered| !**is_covered).count() };
    (!found.used.is_empty()).then_some(found)
}

/// The number of words at the end of a name, two or more, whose first letters a word consists of; 0 if there are none.
fn initials_at_end(word: &str, parts: &[&String]) -> usize {
    let count = word.chars().count();
    let Some(last) = parts.len().checked_sub(count).filter(|_| count > 1).and_then(|from| parts.get(from..)) else {
        return 0;
    };
    let is_same = last.iter().zip(word.chars()).all(|(part, letter)| part.starts_with(letter));
    if is_same { count } else { 0 }
}

/// How well words name an option; the greatest is best.
fn rank((option, found): &(&Choice, NamedOption)) -> (usize, bool, Reverse<(usize, usize)>, bool) {
    (found.used.len(), !found.near, Reverse((found.borrowed, found.missing)), option.enabled)
}

/// The options that words of a sentence name, the best first.
fn ranked<'q>(words: &Words, options: &'q [Choice], verbs: &[(String, String)]) -> Vec<(&'q Choice, NamedOption)> {
    let verb = |option: &Choice| verbs.iter().find(|(_, label)| *label == *option.label).map(|(verb, _)| &**verb);
    let found = options.iter().filter_map(|option| Some((option, named(words, option, verb(option))?)));
    let mut found: Vec<(&Choice, NamedOption)> = found.collect();
    found.sort_by_key(|one| (Reverse(rank(one)), one.1.used.clone()));
    found
}

/// The open options that words of a sentence name equally well by the same words; empty unless there are several.
fn tied(words: &Words, options: &[Choice], verbs: &[(String, String)]) -> Vec<String> {
    let found = ranked(words, options, verbs);
    let Some(first) = found.first().filter(|first| !first.1.misspelt) else { return Vec::new() };
    let equal = found.iter().filter(|one| rank(one) == rank(first) && one.1.used == first.1.used && one.0.enabled);
    let labels: Vec<String> = equal.map(|(option, _)| option.label.to_string()).collect();
    if labels.len() > 1 { labels } else { Vec::new() }
}

/// The only open option with a note in which a clause begins with the first word of a sentence, in some form: `paralyze` for
/// `Paralyzes one`. The word is taken from `words`. `None` if it is a word of the name of an option.
fn by_note<'q>(words: &mut Words, options: &'q [Choice], verbs: &[(String, String)]) -> Option<&'q Choice> {
    let first = words.first().filter(|first| first.chars().count() > 3)?;
    let same = |clause: &str| {
        let parts = words_in(clause);
        parts.iter().zip(words.iter()).take_while(|(part, word)| stem(part) == stem(word)).count()
    };
    let begun = |option: &Choice| {
        let note = option.note.as_deref().filter(|_| option.enabled).unwrap_or_default();
        note.split([';', ',', ':', '.']).map(same).max().unwrap_or(0)
    };
    let most = options.iter().map(begun).max().filter(|most| *most > 0)?;
    // Several words say more than the name of an option.
    if most == 1 && !ranked(&vec![first.clone()], options, verbs).is_empty() {
        return None;
    }
    let mut fits = options.iter().filter(|option| begun(option) == most);
    let only = fits.next().filter(|_| fits.next().is_none())?;
    words.drain(..most);
    Some(only)
}

/// The option that words of a sentence name best. `None` if none or several do. The words are taken from `words`.
fn best<'q>(words: &mut Words, options: &'q [Choice], verbs: &[(String, String)]) -> Option<(&'q Choice, NamedOption)> {
    let mut found = ranked(words, options, verbs).into_iter();
    let (mut first, second) = (found.next()?, found.next());
    let is_shared =
        second.as_ref().is_some_and(|second| second.1.used == first.1.used && second.0.enabled && !second.1.misspelt);
    if let Some(second) = second.filter(|second| rank(second) == rank(&first)) {
        if second.1.used == first.1.used {
            return None;
        }
        // Two options are named equally, by different words. The first may be meant, but it is not certain.
        first.1.near = true;
    }
    // Of `Treat your own wounds` and `Treat somebody's wounds`, neither is certain.
    first.1.near |= first.1.missing > 0 && is_shared;
    let mut at = 0;
    words.retain(|_| {
        at += 1;
        !first.1.used.contains(&(at - 1))
    });
    Some(first)
}

/// What words of a sentence answer to a question.
enum GuessedAnswer {
    Answer {
        answer: Answer,
        /// True if the answer is not certain.
        near: bool,
        /// True if a word of its name is misspelt or shortened.
        misspelt: bool,
    },
    Closed(Refusal),
}

/// Answers a question by words of a sentence, which are taken from `words`.
fn answer_from(question: &Question, words: &mut Words, known: &Vocabulary) -> Option<GuessedAnswer> {
    let verbs = known.verbs.as_slice();
    let answer = |text: &str, near: bool, misspelt: bool| {
        question.read(&Value::text(text)).ok().map(|answer| GuessedAnswer::Answer { answer, near, misspelt })
    };
    match &question.ask {
        Ask::Choose { options, other } => {
            // Only one person is asked for.
            let names_people = options.iter().any(|option| option.entity.is_some());
            if names_people && words.iter().any(|word| WHOLE.contains(&word.as_str())) {
                return None;
            }
            if let Some(option) = by_note(words, options, verbs) {
                return answer(&option.id, true, false);
            }
            let Some((option, found)) = best(words, options, verbs) else {
                // A place in numbers.
                let is_place = *other && words.len() > 1 && words.iter().all(|word| word.parse::<f64>().is_ok());
                return if is_place { answer(&std::mem::take(words).join(" "), false, false) } else { None };
            };
            match option.enabled {
                true => answer(&option.id, found.near, found.misspelt),
                false if found.misspelt => None,
                false => Some(GuessedAnswer::Closed(Refusal::Greyed {
                    label: option.label.to_string(),
                    reason: option.reason.clone(),
                })),
            }
        }
        Ask::ChooseMany { options, .. } => {
            let mut open: Vec<Choice> = options.iter().filter(|option| option.enabled).cloned().collect();
            let (mut ids, mut near, mut misspelt) = (Vec::new(), false, false);
            // `first and third`
            let places: Option<Vec<usize>> = words.iter().map(|word| spelled_ordinal(word)).collect();
            if let Some(places) = places.filter(|places| !places.is_empty()) {
                ids = places.iter().filter_map(|place| Some(open.get(place - 1)?.id.clone())).collect();
                if ids.len() == places.len() {
                    words.clear();
                }
            }
            while let Some((option, found)) = best(words, &open, verbs) {
                near |= found.near;
                misspelt |= found.misspelt;
                ids.push(option.id.clone());
                open.retain(|other| Some(&other.id) != ids.last());
            }
            let is_none = ids.is_empty() && matches!(words.as_slice(), [only] if NONE.contains(&only.as_str()));
            if ids.is_empty() && takes_all(words, open.len()) {
                ids.extend(open.into_iter().map(|option| option.id));
            } else {
                // `both Ann and Bob`
                let _ = takes_all(words, ids.len());
            }
            if is_none {
                words.clear();
            }
            let read = question.read(&Value::list(ids.iter().map(Value::text))).ok()?;
            (is_none || !ids.is_empty()).then_some(GuessedAnswer::Answer { answer: read, near, misspelt })
        }
        Ask::Number { .. } => {
            let number = |word: &String| match number_in_words(&Value::text(word)) {
                Some(number) => question.read(&number).ok(),
                None => question.read(&Value::text(word)).ok(),
            };
            let mut places = (0..words.len()).filter(|at| number(&words[*at]).is_some());
            let (at, None) = (places.next()?, places.next()) else { return None };
            // `bandit two` is somebody's name.
            let of_name = at.checked_sub(1).map(|before| {
                format!(
                    "{} {}",
                    words[before],
                    ordinal(&words[at]).map_or(words[at].clone(), |count| count.to_string())
                )
            });
            if of_name.is_some_and(|name| known.names.iter().any(|known| fold(known) == name)) {
                return None;
            }
            let answer = number(&words.remove(at))?;
            Some(GuessedAnswer::Answer { answer, near: false, misspelt: false })
        }
        Ask::Confirm | Ask::Line { .. } | Ask::Dice { .. } | Ask::Order { .. } | Ask::Allot { .. } => None,
    }
}

impl Repl {
    /// Guesses what a refused sentence means. `None` if its words name nothing that is offered. `by_later_name`: a name alone that
    /// an option asks for may mean this option.
    ///
    /// # Errors
    ///
    /// The reason why the option that is named is closed.
    pub(super) fn guess(&mut self, line: &str, by_later_name: bool) -> Result<Option<Guess>, Refusal> {
        let Some(question) = self.focused().cloned() else { return Ok(None) };
        let known = self.words();
        let Some((words, has_phrase)) = said_of(&question, line, &known) else { return Ok(None) };
        // `go` is said of most things, so the other words come first.
        let mut rest: Words = words.iter().filter(|word| *word != "go").cloned().collect();
        let mut answer = self.answer_of_words(&question, &mut rest, &known);
        if !matches!(answer, Some(GuessedAnswer::Answer { .. })) {
            rest.clone_from(&words);
            answer = self.answer_of_words(&question, &mut rest, &known).or(answer);
        }
        let guessed = match answer {
            Some(GuessedAnswer::Closed(refusal)) => return Err(self.with_subject(&question, refusal)),
            Some(GuessedAnswer::Answer { answer, near, .. }) if !self.masters() => {
                // Later questions may depend on secrets.
                let told = question.tell(&answer);
                let replies = vec![(question.topic.to_string(), Value::text(&told))];
                return Ok(Some(Guess {
                    line: told,
                    replies,
                    sure: !near && !has_phrase && rest.is_empty(),
                    left: rest.len(),
                    has_proposals: false,
                }));
            }
            Some(GuessedAnswer::Answer { answer, near, misspelt }) => self
                .guess_on(&question, answer, near, rest, &known)?
                // A word that is like a name may be another word if the others are not understood.
                .filter(|guess| !misspelt || guess.left <= words.iter().filter(|word| is_manner(word)).count()),
            None if !self.masters() || !by_later_name => None,
            None => self.guess_by_later_name(&question, &words, &known),
        };
        let guessed = guessed.map(|guess| Guess { sure: guess.sure && !has_phrase, ..guess });
        // A line that is understood is refused with the reason of the rules.
        Ok(guessed.filter(|guess| {
            let is_list = matches!(question.ask, Ask::ChooseMany { .. });
            guess.sure && is_list && self.masters() || self.would_take(&question, guess.replies.clone())
        }))
    }

    /// The open options that a refused sentence names equally well; empty unless there are several.
    pub(super) fn options_tied(&self, line: &str) -> Vec<String> {
        let known = self.words();
        let Some(question) = self.focused() else { return Vec::new() };
        let Ask::Choose { options, .. } = &question.ask else { return Vec::new() };
        said_of(question, line, &known).map_or(Vec::new(), |(words, _)| tied(&words, options, &known.verbs))
    }

    /// True if words after the first of a line are in the name of an option.
    pub(super) fn names_option_later(&self, line: &str) -> bool {
        let options = self.focused().map_or(&[][..], |question| question.ask.options());
        let words = words_in(line);
        let says = |word: &&String| word.chars().count() > 2 && !IDLE.contains(&word.as_str());
        let is_part = |word: &String| {
            options
                .iter()
                .any(|option| words_in(&option.label).iter().any(|part| fit(word, part) == Some(WordFit::Exact)))
        };
        words.iter().skip(1).filter(says).any(is_part)
    }

    /// Answers the open question by words of a sentence. If they name several options equally, the words that are left decide: the
    /// option is meant whose questions they answer best.
    fn answer_of_words(&mut self, question: &Question, words: &mut Words, known: &Vocabulary) -> Option<GuessedAnswer> {
        let found = answer_from(question, words, known);
        let Ask::Choose { options, .. } = &question.ask else { return found };
        if found.is_some() || !self.masters() {
            return found;
        }
        let named = |option: &&Choice| option.enabled && named(words, option, None).is_some_and(|named| !named.near);
        let equal: Vec<Choice> = options.iter().filter(named).take(MOST_OPTIONS).cloned().collect();
        let mut guesses: Vec<(usize, Words, Answer)> = Vec::new();
        for option in &equal {
            let mut rest = words.clone();
            let _ = best(&mut rest, std::slice::from_ref(option), &[])?;
            let first = Answer::Choice(option.id.clone());
            let guess = self.guess_on(question, first.clone(), false, rest.clone(), known).ok().flatten()?;
            guesses.push((guess.left, rest, first));
        }
        guesses.sort_by_key(|(left, ..)| *left);
        let second = guesses.get(1).map(|(left, ..)| *left)?;
        let (left, rest, answer) = guesses.into_iter().next()?;
        (left < second).then(|| {
            *words = rest;
            GuessedAnswer::Answer { answer, near: false, misspelt: false }
        })
    }

    /// Continues a guess with answers to the questions after `first`, found by playing a copy of the game with other dice.
    fn guess_on(
        &mut self,
        question: &Question,
        first: Answer,
        near: bool,
        mut words: Words,
        known: &Vocabulary,
    ) -> Result<Option<Guess>, Refusal> {
        let told = question.tell(&first);
        let mut guess = Guess { line: told.clone(), replies: Vec::new(), sure: !near, left: 0, has_proposals: false };
        guess.replies.push((question.topic.to_string(), Value::text(told)));
        let mut ahead = self.session.fork();
        if ahead.advance().is_err() || ahead.answer(question.id, first).is_err() {
            return Ok(None);
        }
        // The questions since the last answer of the guess, with their proposals.
        let mut between: Vec<(String, String)> = Vec::new();
        let mut unasked_before = 0;
        for _ in 0..MOST_QUESTIONS {
            if words.is_empty() || ahead.advance().is_err() {
                break;
            }
            // A question that was not asked, because only one answer was possible, may be answered all the same.
            for (unasked, answer) in ahead.only_answers(question.id.action).iter().skip(unasked_before) {
                let (told, before) = (unasked.tell(answer), words.len());
                let parts = words_in(&told);
                words.retain(|word| !parts.iter().any(|part| fit(word, part) == Some(WordFit::Exact)));
                if words.len() < before && between.is_empty() {
                    guess.line.push_str(&format!(" {told}"));
                    guess.replies.push((unasked.topic.to_string(), Value::text(told)));
                }
            }
            unasked_before = ahead.only_answers(question.id.action).len();
            let mut open = ahead.questions().iter().filter(|open| open.id.action == question.id.action);
            let Some(next) = open.find(|open| open.seat == question.seat).cloned() else { break };
            let answer = match answer_from(&next, &mut words, known) {
                Some(GuessedAnswer::Closed(refusal)) => return Err(self.with_subject(&next, refusal)),
                Some(GuessedAnswer::Answer { answer, near, .. }) => {
                    guess.sure &= !near && between.is_empty();
                    guess.has_proposals |= !between.is_empty();
                    let told = next.tell(&answer);
                    let small = |topic: &str| word_of(self.session.ruleset(), topic);
                    if between.is_empty() && guess.replies.len() == 1 {
                        guess.line.push_str(&format!(" {told}"));
                    } else {
                        for (topic, told) in between.iter().chain([&(next.topic.to_string(), told.clone())]) {
                            guess.line.push_str(&format!(" {} {told}", small(topic)));
                        }
                    }
                    let between = between.drain(..).map(|(topic, told)| (topic, Value::text(told)));
                    guess.replies.extend(between);
                    guess.replies.push((next.topic.to_string(), Value::text(told)));
                    answer
                }
                None => {
                    let Some(answer) = ahead.propose(&next) else { break };
                    between.push((next.topic.to_string(), next.tell(&answer)));
                    answer
                }
            };
            if ahead.answer(next.id, answer).is_err() {
                break;
            }
        }
        guess.left = words.len();
        guess.sure &= words.is_empty();
        Ok(Some(guess))
    }

    /// A guess by a name that the question after an option offers: `the Ogre` for `Move Towards Ogre`. The proposal comes first.
    fn guess_by_later_name(&mut self, question: &Question, words: &Words, known: &Vocabulary) -> Option<Guess> {
        let Ask::Choose { options, .. } = &question.ask else { return None };
        // What to do with the name may be said by a word for an attack only.
        let attacks = |word: &String| *word == "attack" || synonyms_of(word).any(|known| known == "attack");
        let words: Words = words.iter().filter(|word| !attacks(word)).cloned().collect();
        let proposal = self.session.propose(question).map(|answer| question.tell(&answer));
        let mut open: Vec<&Choice> = options.iter().filter(|option| option.enabled).collect();
        open.sort_by_key(|option| Some(option.label.to_string()) != proposal);
        let mut found: Option<Guess> = None;
        for option in open.into_iter().take(MOST_OPTIONS) {
            let first = Answer::Choice(option.id.clone());
            let Ok(Some(guess)) = self.guess_on(question, first, false, words.clone(), known) else { continue };
            // A name for a question farther on may be meant for any option.
            let is_next = guess.replies.len() > 1 && !guess.has_proposals;
            // A word that is not understood may say what to do.
            if is_next && guess.left == 0 && found.as_ref().is_none_or(|found| guess.left < found.left) {
                found = Some(Guess { sure: false, ..guess });
            }
        }
        found
    }
}

/// The words of a sentence that say something about a question. `None` if the sentence is a question, is too long, or says what is
/// not meant.
///
/// True is returned with them if they are less certain: two words became one, or somebody else is asked.
fn said_of(question: &Question, line: &str, known: &Vocabulary) -> Option<(Words, bool)> {
    let labels: Vec<Words> = question.ask.options().iter().map(|option| words_in(&option.label)).collect();
    let all = words_said(line, &labels);
    let has_phrase = all.len() < words_in(line).len();
    // `let him go`
    let is_of_others = all.first().is_some_and(|first| first == "let")
        && all.get(1).is_some_and(|second| ["him", "her", "it", "them"].contains(&&**second));
    let all = if stays(&all) { vec!["stay".to_owned()] } else { all };
    // `treat my wounds`, where an option is for one's own
    let is_verb = |word: &&String| !IDLE.contains(&word.as_str()) && word.as_str() != "own";
    let is_said = |word: &String| all.iter().any(|said| fit(said, word) == Some(WordFit::Exact));
    let has_own =
        labels.iter().any(|label| label.iter().any(|part| part == "own") && label.iter().filter(is_verb).any(is_said));
    let is_own = |word: &String| has_own && ["my", "myself", "me", "mine"].contains(&word.as_str());
    let all: Words = all.into_iter().map(|word| if is_own(&word) { "own".to_owned() } else { word }).collect();
    // `cover me` asks somebody else.
    let asks_others = all.len() > 1 && all.last().is_some_and(|last| ["me", "us"].contains(&last.as_str()));
    let has_phrase = has_phrase || asks_others;
    let is_none =
        matches!(question.ask, Ask::ChooseMany { .. }) && all.iter().any(|word| NONE.contains(&word.as_str()));
    let turns = all.iter().any(|word| TURNING.contains(&&**word)) && !is_none;
    if line.trim_end().ends_with('?') || all.len() > MOST_WORDS || turns || is_of_others {
        return None;
    }
    let is_of_label = |word: &str| labels.iter().flatten().any(|part| fit(word, part) == Some(WordFit::Exact));
    // The name of a topic says nothing that an answer does not say, unless it is `second`.
    let is_topic = |word: &str| known.topic_of(word).is_some() && !is_of_label(word) && !is_count(word);
    let takes_number = matches!(question.ask, Ask::Number { .. });
    let is_idle = |word: &str| IDLE.contains(&word) && !(takes_number && is_count(word));
    let words: Words = all.iter().filter(|word| !is_idle(word) && !is_topic(word)).cloned().collect();
    // A name may consist of such words.
    let words = if words.is_empty() { all.into_iter().filter(|word| !is_idle(word)).collect() } else { words };
    Some((words, has_phrase))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options(labels: &[&str]) -> Vec<Choice> {
        let option = |label: &&str| Choice {
            id: fold(label).replace(' ', "_").into(),
            label: (*label).into(),
            enabled: true,
            reason: None,
            note: None,
            max: None,
            entity: None,
        };
        labels.iter().map(option).collect()
    }

    /// The option that a sentence names, with `?` if a word is misspelt, and the words that are left.
    fn meant(text: &str, labels: &[&str]) -> Option<String> {
        let says = |word: &String| !IDLE.contains(&word.as_str());
        let mut words: Words = words_in(text).into_iter().filter(says).collect();
        let options = options(labels);
        let (option, found) = best(&mut words, &options, &[("shoot".into(), "Ranged Strike".into())])?;
        Some(format!("{}{} {}", option.label, if found.near { "?" } else { "" }, words.join(" ")).trim_end().to_owned())
    }

    #[test]
    fn an_option_is_named_by_words_initials_and_misspelt_words() {
        let cards = ["Inflict Kill Damage", "Gain Luck", "Move", "Ranged Strike", "Intimidate", "Knockdown"];
        for (text, option) in [
            ("I want to move closer to the ogre", Some("Move closer ogre")),
            ("kd guard", Some("Inflict Kill Damage guard")),
            ("let's gain some luck by wit", Some("Gain Luck wit")),
            ("mv ogre", Some("Move? ogre")),
            ("intimidat him", Some("Intimidate")),
            ("the knock down thing", Some("Knockdown")),
            ("shoot the archer", Some("Ranged Strike archer")),
            ("fire at the archer", Some("Ranged Strike? archer")),
            ("knokdown", Some("Knockdown?")),
            ("dance", None),
        ] {
            assert_eq!(meant(text, &cards).as_deref(), option, "{text}");
        }
    }

    #[test]
    fn a_number_tells_equal_names_apart_and_is_no_name_alone() {
        let names = ["Soldier", "Soldier 2", "Second Imp"];
        for (text, option) in [
            ("soldier number 2", Some("Soldier 2")),
            ("the soldier (second one)", Some("Soldier 2")),
            ("shoot the second soldier", Some("Soldier 2 shoot")),
            ("that soldier", Some("Soldier")),
            ("2nd imp", Some("Second Imp")),
            ("2", None),
        ] {
            assert_eq!(meant(text, &names).as_deref(), option, "{text}");
        }
    }

    #[test]
    fn who_does_not_move_stays() {
        for (text, stay) in [("don't move", true), ("I do not want to go there", true), ("move, not dodge", false)] {
            assert_eq!(stays(&words_in(text)), stay, "{text}");
        }
    }

    #[test]
    fn of_two_options_none_is_sure() {
        let cards = ["Walking Corpse", "Cold Corpse"];
        assert_eq!(meant("the corpse", &cards), None);
        assert_eq!(meant("the corpse that walks", &cards).as_deref(), Some("Walking Corpse"));
        assert_eq!(meant("move or dodge, then dodge", &["Move", "Dodge"]).as_deref(), Some("Move? or dodge dodge"));
    }
}
