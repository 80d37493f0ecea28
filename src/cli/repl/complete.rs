use std::sync::{Arc, Mutex};

use reedline::{Completer, Span, Suggestion};
use riskbreaker::names::fold;

use super::command::{COMMANDS, Command, Completes};
use super::line::split_first;
use super::vocabulary::Vocabulary;
use crate::cli::row::harmless;

/// A completion of the line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Candidate {
    /// The byte offset at which the text is inserted.
    pub start: usize,
    pub text: String,
    pub about: String,
}

/// The most completions that are offered at once.
const MOST_OFFERED: usize = 500;

/// Returns the completions at the end of `line`: commands and answers at its start, else what can follow the words
/// before.
pub fn complete(line: &str, words: &Vocabulary) -> Vec<Candidate> {
    let addressed = super::reader::addressed(line).map_or(0, |(_, rest)| line.len() - rest.len());
    let lead = line.len() - line.trim_start().len();
    let start = addressed.max(lead);
    let (first, _) = split_first(&line[start..]);
    if first.len() == line.len() - start {
        let mut all = options(words);
        all.extend(words.free.iter().map(|(id, title)| (id.clone(), title.clone())));
        all.extend(words.views.iter().cloned());
        all.extend(small_words_open(words));
        if addressed == 0 {
            all.extend(COMMANDS.iter().map(|command| (command.name.to_owned(), command.short.to_owned())));
            if words.open.len() > 1 {
                let names = words.open.iter().filter_map(|open| open.about.as_ref());
                all.extend(names.map(|name| (format!("{name}: "), "answer for this one".to_owned())));
            }
        }
        return matching(line, start, all);
    }
    let rest = start + first.len();
    match Command::find(first) {
        Some(command) => matching(line, rest, arguments(command, &line[rest..], words)),
        None => matching(line, rest, plain_play(&line[start..], words)),
    }
}

/// The possible arguments of a command.
fn arguments(command: &Command, rest: &str, words: &Vocabulary) -> Vec<(String, String)> {
    let bare = |names: &[String]| names.iter().map(|name| (name.clone(), String::new())).collect::<Vec<_>>();
    let before = rest.trim_start();
    match command.completes {
        Completes::Nothing => Vec::new(),
        Completes::Words(words) => words.iter().map(|word| ((*word).to_owned(), String::new())).collect(),
        Completes::Answers => plain_play(rest, words),
        Completes::FreeActs => words.free.clone(),
        Completes::Names => bare(&words.names),
        Completes::Kinds => bare(&words.kinds),
        Completes::Cards => words.cards.clone(),
        Completes::Switches => bare(&words.switches),
        Completes::Rulesets => bare(&words.rulesets),
        Completes::Policies => bare(&words.policies),
        Completes::NameAndField => {
            match words.names.iter().any(|name| before.to_lowercase().starts_with(&name.to_lowercase())) {
                true => bare(&words.fields),
                false => bare(&words.names),
            }
        }
        Completes::Roster => match split_first(before) {
            ("new", rest) if rest.contains(" as ") => bare(&[words.roster.as_slice(), &words.cast].concat()),
            ("keep", _) => bare(&words.names),
            ("use", rest) if rest.contains(" for ") => bare(&words.names),
            ("edit" | "use" | "drop", _) => bare(&words.roster),
            _ => ROSTER.iter().map(|act| ((*act).to_owned(), String::new())).collect(),
        },
        Completes::Characters => bare(&[words.roster.as_slice(), &words.cast].concat()),
        Completes::Parts => [words.cards.clone(), words.free.clone()].concat(),
        Completes::Seats => match words.seats.iter().any(|seat| before.starts_with(seat.as_str())) {
            true => bare(&[&["human".to_owned(), "absent".to_owned()], words.policies.as_slice()].concat()),
            false => bare(&words.seats),
        },
        Completes::Subjects => {
            let mut all: Vec<(String, String)> =
                COMMANDS.iter().map(|command| (command.name.to_owned(), command.short.to_owned())).collect();
            all.extend(words.cards.clone());
            all.extend(bare(&words.switches));
            all
        }
    }
}

/// The subcommands of `roster`.
const ROSTER: [&str; 5] = ["new", "edit", "keep", "use", "drop"];

/// The possible continuations of an answer: options, small words and names; after a small word, no other small word.
fn plain_play(typed: &str, words: &Vocabulary) -> Vec<(String, String)> {
    let names = words.names.iter().map(|name| (name.clone(), String::new()));
    let whole = typed.rfind(char::is_whitespace).map_or("", |end| typed[..end].trim_end());
    let topic = whole.rsplit(char::is_whitespace).next().and_then(|word| words.topic_of(word));
    if let Some(topic) = topic {
        let asked = words.focus().is_some_and(|open| open.topic == topic);
        if asked {
            return options(words);
        }
        // A topic takes the items of a list with a similar name: `tool` those of `tools`.
        return match words.items.iter().find(|(field, _)| field.starts_with(&topic)) {
            Some((_, items)) => items.iter().map(|item| (item.clone(), String::new())).collect(),
            None => names.collect(),
        };
    }
    let mut all = options(words);
    all.extend(
        words
            .small
            .iter()
            .map(|(small, topic)| (small.clone(), if small == topic { String::new() } else { topic.clone() })),
    );
    all.extend(names);
    all
}

fn small_words_open(words: &Vocabulary) -> Vec<(String, String)> {
    words.small.iter().filter(|(_, topic)| words.is_open(topic)).cloned().collect()
}

fn options(words: &Vocabulary) -> Vec<(String, String)> {
    let options = words.focus().map_or(&[][..], |open| open.ask.options());
    options
        .iter()
        .filter(|option| option.enabled)
        .map(|option| (option.label.to_string(), option.note.clone().unwrap_or_default()))
        .collect()
}

/// The candidates that begin with the end of the line, from `floor` on. Names may contain blanks, so the longest end of
/// the line that begins a candidate is used.
fn matching(line: &str, floor: usize, all: Vec<(String, String)>) -> Vec<Candidate> {
    let tail = &line[floor..];
    let mut starts: Vec<usize> = vec![0];
    starts.extend(
        tail.char_indices()
            .filter(|(_, letter)| letter.is_whitespace() || *letter == ',')
            .map(|(at, letter)| at + letter.len_utf8()),
    );
    for start in starts {
        let typed = tail[start..].to_lowercase();
        // Names match without their accents, too.
        let folded = if typed.ends_with(char::is_whitespace) { String::new() } else { fold(&typed) };
        let begins = |text: &str| {
            text.to_lowercase().starts_with(&typed) || !folded.is_empty() && fold(text).starts_with(&folded)
        };
        if typed.starts_with(char::is_whitespace) || (start == 0 && floor > 0 && typed.is_empty()) {
            continue;
        }
        let mut found: Vec<Candidate> = Vec::new();
        for (text, about) in &all {
            if found.len() == MOST_OFFERED {
                break;
            }
            if begins(text) && !found.iter().any(|candidate| candidate.text == *text) {
                found.push(Candidate { start: floor + start, text: text.clone(), about: about.clone() });
            }
        }
        if !found.is_empty() {
            return found;
        }
    }
    Vec::new()
}

/// The completer of the line editor. It uses the current words, which the prompt updates.
pub struct Tab {
    pub words: Arc<Mutex<Vocabulary>>,
}

impl Completer for Tab {
    fn complete(&mut self, line: &str, pos: usize) -> Vec<Suggestion> {
        let Ok(words) = self.words.lock() else {
            return Vec::new();
        };
        let typed = line.get(..pos).unwrap_or(line);
        let mut candidates = complete(typed, &words);
        // The editor prints completions unchanged, and rules choose their names, so unsafe ones are dropped.
        candidates.retain(|candidate| harmless(&candidate.text) == candidate.text);
        if candidates.is_empty() {
            // The typed text is kept: otherwise the editor would print a message in capitals.
            candidates.push(Candidate { start: 0, text: typed.to_owned(), about: String::new() });
        }
        let same = |text: &str| text == typed;
        candidates
            .into_iter()
            .map(|candidate| Suggestion {
                append_whitespace: !candidate.text.ends_with(' ') && !same(&candidate.text),
                description: (!candidate.about.is_empty()).then(|| harmless(&candidate.about)),
                span: Span::new(candidate.start, typed.len()),
                value: candidate.text,
                ..Suggestion::default()
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use riskbreaker::{Ask, Choice};

    use super::super::vocabulary::Open;
    use super::*;

    fn words() -> Vocabulary {
        let option = |label: &str| Choice {
            id: label.to_lowercase().into(),
            label: label.into(),
            enabled: true,
            reason: None,
            note: None,
            max: None,
            entity: None,
        };
        Vocabulary {
            small: vec![("on".into(), "targets".into()), ("stake".into(), "stake".into())],
            open: vec![Open {
                topic: "card".into(),
                about: None,
                ask: Ask::Choose { options: vec![option("Lunge"), option("Long shot")], other: false },
            }],
            names: vec!["Bandit Chief".into(), "Bandit".into(), "Archer".into()],
            fields: vec!["harm".into(), "wit".into()],
            ..Vocabulary::default()
        }
    }

    fn offered(line: &str) -> Vec<String> {
        complete(line, &words())
            .into_iter()
            .map(|candidate| format!("{}{}", &line[..candidate.start], candidate.text))
            .collect()
    }

    #[test]
    fn the_first_word_is_an_option_or_a_command() {
        assert_eq!(offered("lo"), ["Long shot", "look", "log", "load"]);
        assert_eq!(offered("und"), ["undo"]);
    }

    #[test]
    fn names_with_blanks_are_completed_where_they_began() {
        assert_eq!(offered("lunge on bandit c"), ["lunge on Bandit Chief"]);
        assert_eq!(offered("lunge on Archer, ba"), ["lunge on Archer, Bandit Chief", "lunge on Archer, Bandit"]);
        assert_eq!(offered("do long s"), ["do Long shot"]);
        assert_eq!(offered("lunge on "), ["lunge on Bandit Chief", "lunge on Bandit", "lunge on Archer"]);
    }

    #[test]
    fn after_a_name_come_its_fields() {
        assert_eq!(offered("set arch"), ["set Archer"]);
        assert_eq!(offered("set Archer ha"), ["set Archer harm"]);
        assert_eq!(offered("set Archer "), ["set Archer harm", "set Archer wit"]);
    }

    #[test]
    fn names_of_the_roster_and_names_with_accents_are_offered() {
        let words = Vocabulary { roster: vec!["Éowyn".into(), "Bo".into()], names: vec!["Élan".into()], ..words() };
        let offered = |line: &str| complete(line, &words).into_iter().map(|one| one.text).collect::<Vec<_>>();
        assert_eq!(offered("roster edit eo"), ["Éowyn"]);
        assert_eq!(offered("roster drop "), ["Éowyn", "Bo"]);
        assert_eq!(offered("roster ke"), ["keep"]);
        assert_eq!(offered("roster keep el"), ["Élan"]);
        assert_eq!(offered("encounter e\u{301}o"), ["Éowyn"]);
    }

    #[test]
    fn a_name_that_could_steer_the_terminal_is_not_offered() {
        let words = Vocabulary { names: vec!["Bob\u{1b}[2J".into(), "Bo".into()], ..words() };
        let mut tab = Tab { words: Arc::new(Mutex::new(words)) };
        let line = "lunge on b";
        let offered: Vec<String> = tab.complete(line, line.len()).into_iter().map(|one| one.value).collect();
        assert_eq!(offered, ["Bo"]);
    }

    #[test]
    fn a_text_without_a_match_has_no_completions() {
        assert!(offered("zzz").is_empty());
        assert!(offered("print(x) zz").is_empty());
    }
}
