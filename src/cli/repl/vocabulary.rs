use std::collections::BTreeSet;

use riskbreaker::names::{fold, spelling, typed};
use riskbreaker::{Ask, Choice, EntityId, QuestionId, Ruleset, Value};

use super::line::{Word, split_first, words};
use super::question::whom;
use super::session_slot::SessionSlot;

/// All words known at the prompt now, for parsing and completing a line.
#[derive(Clone, Debug, Default)]
pub struct Vocabulary {
    /// The small words of the ruleset, each with its topic, and the known topics under their own names.
    pub small: Vec<(String, String)>,
    /// The open questions. The first takes an answer without a name.
    pub open: Vec<Open>,
    /// The free acts, as id and title.
    pub free: Vec<(String, String)>,
    /// The ids of the free acts that some seat may take now.
    pub free_now: Vec<String>,
    /// The ids of the free acts that the asked seat may take now.
    pub free_own: Vec<String>,
    /// Verbs that name an option: the first word of the text of its card, if no other card of the question begins with
    /// it.
    pub verbs: Vec<(String, String)>,
    /// The views of the ruleset, as id and title.
    pub views: Vec<(String, String)>,
    /// Titles of entities.
    pub names: Vec<String>,
    /// The list fields of the asked character, with their items.
    pub items: Vec<(String, Vec<String>)>,
    pub kinds: Vec<String>,
    pub fields: Vec<String>,
    /// Cards as id and title.
    pub cards: Vec<(String, String)>,
    pub switches: Vec<String>,
    pub policies: Vec<String>,
    pub seats: Vec<String>,
    /// The names of the characters in the campaign's roster; empty at a screen of some seats.
    pub roster: Vec<String>,
    /// The names of the ruleset's ready-made characters; empty at a screen of some seats.
    pub cast: Vec<String>,
    /// Ids of the installed rulesets.
    pub rulesets: Vec<String>,
}

/// An open question, as needed for parsing.
#[derive(Clone, Debug)]
pub struct Open {
    pub topic: String,
    pub about: Option<String>,
    pub ask: Ask,
}

impl Vocabulary {
    /// Collects the current words. `topics`: those asked in this game. `focus`: the question that is answered first.
    pub fn of(session: &mut SessionSlot, topics: &BTreeSet<String>, focus: Option<QuestionId>) -> Vocabulary {
        let mut free: Vec<(String, String)> = Vec::new();
        let (mut free_now, mut free_own) = (Vec::new(), Vec::new());
        let asked = session.questions().iter().find(|question| Some(question.id) == focus);
        let asked = asked.or_else(|| session.questions().first()).map(|question| question.seat.clone());
        for act in session.free_acts() {
            if act.enabled {
                free_now.push(act.name.to_string());
            }
            if act.enabled && asked.as_ref() == Some(&act.seat) {
                free_own.push(act.name.to_string());
            }
            let act = (act.name.to_string(), act.title.to_string());
            if !free.contains(&act) {
                free.push(act);
            }
        }
        let (mut names, mut kinds, mut fields) = (Vec::new(), BTreeSet::new(), BTreeSet::new());
        let view = session.view();
        // The kinds that players see come first.
        let schema = session.ruleset().schema();
        let told = |id: &EntityId| {
            let kind = view.kind(*id).and_then(|kind| schema.kind_named(kind)).map(|kind| schema.kind(kind));
            kind.is_some_and(|kind| kind.title.is_some_and(|title| kind.field(title).show))
        };
        let (first, then): (Vec<EntityId>, Vec<EntityId>) = view.entities().partition(told);
        for id in first.into_iter().chain(then) {
            let title = view.label(id).to_string();
            if !names.contains(&title) {
                names.push(title);
            }
            if kinds.insert(view.kind(id).unwrap_or_default().to_owned()) {
                for (field, _) in view.fields(id) {
                    fields.insert(field.name.to_string());
                    // The heading of the sheet can be typed as well.
                    if spelling(&field.label) != spelling(&field.name) {
                        fields.insert(field.label.to_string());
                    }
                }
                fields.extend(view.derived_names(id).iter().map(ToString::to_string));
            }
        }
        let mut open: Vec<Open> = Vec::new();
        for question in session.questions() {
            let about = Some(whom(session, question));
            let entry = Open { topic: question.topic.to_string(), about, ask: question.ask.clone() };
            open.insert(if Some(question.id) == focus { 0 } else { open.len() }, entry);
        }
        let items = session.questions().first().and_then(|question| question.about).map_or(Vec::new(), |about| {
            let view = session.view();
            let lists = view.fields(about).filter_map(|(field, value)| match value {
                Value::List(items) if field.show => {
                    let words = items.iter().filter_map(Value::as_text).map(str::to_owned).collect::<Vec<_>>();
                    (!words.is_empty()).then(|| (field.name.to_string(), words))
                }
                _ => None,
            });
            lists.collect::<Vec<_>>()
        });
        let rules = session.ruleset();
        let mut small: Vec<(String, String)> =
            rules.words().iter().map(|(word, topic)| (word.clone(), topic.clone())).collect();
        let topics: BTreeSet<String> =
            small.iter().map(|(_, topic)| topic.clone()).chain(topics.iter().cloned()).collect();
        small.extend(topics.into_iter().map(|topic| (topic.clone(), topic)));
        Vocabulary {
            small,
            verbs: verbs(&open, rules),
            open,
            free,
            free_now,
            free_own,
            views: rules.views().iter().map(|view| (view.name.to_string(), view.title.to_string())).collect(),
            names,
            items,
            kinds: kinds.into_iter().collect(),
            fields: fields.into_iter().collect(),
            cards: rules.cards().iter().map(|card| (card.id.to_string(), card.title.to_string())).collect(),
            switches: rules.switches().map(|switch| switch.name.clone()).collect(),
            policies: rules.policies().iter().map(ToString::to_string).collect(),
            seats: session.seats().keys().map(ToString::to_string).collect(),
            roster: Vec::new(),
            cast: Vec::new(),
            rulesets: Vec::new(),
        }
    }

    /// Returns a copy with more topics under their own names.
    pub fn with_topics(&self, topics: BTreeSet<String>) -> Vocabulary {
        let mut wider = self.clone();
        wider.small.extend(topics.into_iter().map(|topic| (topic.clone(), topic)));
        wider
    }

    /// The topic of a small word, or of a topic's own name.
    pub fn topic_of(&self, word: &str) -> Option<String> {
        let same = |known: &str| known.eq_ignore_ascii_case(word);
        self.small
            .iter()
            .find(|(small, _)| same(small))
            .map(|(_, topic)| topic.clone())
            .or_else(|| self.open.iter().map(|open| &open.topic).find(|topic| same(topic)).cloned())
    }

    pub fn is_open(&self, topic: &str) -> bool {
        self.open.iter().any(|open| open.topic == topic)
    }

    /// The question for an answer without a name.
    pub fn focus(&self) -> Option<&Open> {
        self.open.first()
    }

    /// The free act at the start of a line, by id or title, and the rest of the line.
    pub fn free_act<'a>(&self, line: &'a str) -> Option<(&str, &'a str)> {
        self.free
            .iter()
            .flat_map(|(id, title)| [(id, id), (id, title)])
            .filter_map(|(id, name)| Some((id.as_str(), after(line, name)?)))
            .min_by_key(|(_, rest)| rest.len())
    }

    /// True if the open question takes precedence over the act at the start of a line: no seat may take the act now and
    /// answers follow its name, or it belongs to another seat and an open option has the same name.
    pub fn goes_before_act(&self, act: &str, line: &str) -> bool {
        let (first, rest) = split_first(line);
        let options: &[Choice] = self.focus().map_or(&[], |open| open.ask.options());
        if options.is_empty() || self.free_own.iter().any(|own| own == act) {
            return false;
        }
        if !self.free_now.iter().any(|now| now == act) {
            return !rest.is_empty();
        }
        let open = || {
            options
                .iter()
                .filter(|option| option.enabled)
                .flat_map(|option| [(&option.id, &option.id), (&option.id, &option.label)])
        };
        !typed(first, open).is_empty()
    }

    /// The longest name of an entity that a text contains as whole words, in any case and without accents.
    pub fn name_within(&self, text: &str) -> Option<&str> {
        let text = fold(text);
        let is_within = |name: &&String| riskbreaker::names::places(&fold(name), &text).next().is_some();
        self.names.iter().filter(is_within).max_by_key(|name| name.len()).map(String::as_str)
    }

    /// The view that a line names, if the line contains nothing else.
    pub fn view(&self, line: &str) -> Option<&str> {
        self.views.iter().map(|(name, _)| name.as_str()).find(|name| after(line, name) == Some(""))
    }

    /// The full name of an option of the focused question at the start of a line, open or closed. The longest one wins.
    pub fn option_at_start<'a>(&self, line: &'a str) -> Option<&'a str> {
        let options: &[Choice] = self.focus().map_or(&[], |open| open.ask.options());
        let names = options.iter().flat_map(|option| [&*option.id, &*option.label]);
        let rest = names.filter_map(|name| after(line, name)).min_by_key(|rest| rest.len())?;
        Some(line[..line.len() - rest.len()].trim_end().trim_end_matches(','))
    }

    /// Replaces the verb at the start of a line by its option: `shoot Ann` becomes `Ranged Strike Ann`.
    pub fn with_option_of_verb(&self, line: &str) -> Option<String> {
        let (first, rest) = split_first(line);
        let (_, label) = self.verbs.iter().find(|(verb, _)| *verb == fold(first))?;
        (!self.names_an_option(first)).then(|| format!("{label} {rest}").trim_end().to_owned())
    }

    /// True if a typed text names an option of the focused question, open or closed.
    pub fn names_an_option(&self, text: &str) -> bool {
        let options: &[Choice] = self.focus().map_or(&[], |open| open.ask.options());
        !typed(text, || options.iter().flat_map(|option| [(&option.id, &option.id), (&option.id, &option.label)]))
            .is_empty()
    }

    /// The label of the only option of the focused question that a typed text names, open or closed.
    pub fn option_meant(&self, text: &str) -> Option<&str> {
        let options: &[Choice] = self.focus().map_or(&[], |open| open.ask.options());
        match typed(text, || options.iter().map(|option| (option, &option.label))).as_slice() {
            [only] => Some(&only.label),
            _ => None,
        }
    }

    /// True if a word is a whole word of the name of an option of the focused question.
    pub fn is_word_of_option(&self, word: &str) -> bool {
        let options: &[Choice] = self.focus().map_or(&[], |open| open.ask.options());
        options.iter().any(|option| name_parts(&option.label).contains(&fold(word)))
    }

    /// True if a word is a part of the name of an option of the focused question, and the small word of a question that
    /// is not open. Prepositions are excluded, since too many names contain them.
    pub fn is_part_of_option(&self, word: &str) -> bool {
        let options: &[Choice] = self.focus().map_or(&[], |open| open.ask.options());
        let is_open = self.topic_of(word).is_some_and(|topic| self.is_open(&topic));
        let same = |name: &str| name_parts(name).contains(&fold(word));
        !is_open && word.chars().count() >= SHORTEST_PART && options.iter().any(|option| same(&option.label))
    }

    /// True if the focused question accepts free text in addition to its options.
    pub fn takes_own_words(&self) -> bool {
        self.focus().is_some_and(|open| matches!(open.ask, Ask::Choose { other: true, .. }))
    }

    /// The number of words at the start of a line that are the full name of a card.
    pub fn words_of_card(&self, line: &str) -> usize {
        let all = words(line);
        let names = self.cards.iter().flat_map(|(id, title)| [id, title]);
        names.map(|name| length_at(&all, 0, name)).max().unwrap_or(0)
    }

    /// The number of words from index `at` on that are a known name of several words: an option, an entity, an item of
    /// a list, a card. 0 if there is none. The longest one wins.
    ///
    /// For an option of the focused question, several words from its middle suffice.
    pub fn words_of_name(&self, words: &[Word], at: usize) -> usize {
        let items = self.items.iter().flat_map(|(_, items)| items);
        let cards = self.cards.iter().flat_map(|(id, title)| [id, title]);
        let names = self.names.iter().chain(items).chain(cards).map(|name| length_at(words, at, name));
        let options = self.open.iter().flat_map(|open| open.ask.options());
        let options = options.flat_map(|option| [&*option.id, &*option.label]).map(|name| {
            let parts: Vec<String> = name_parts(name);
            (0..parts.len()).map(|from| length_of_parts(words, at, &parts[from..])).max().unwrap_or(0)
        });
        names.chain(options).max().filter(|length| *length > 1).unwrap_or(0)
    }

    /// The number of words at the start of a line that are the name of an option of the focused question, or the
    /// beginning of one.
    ///
    /// A small word stays a small word even if an option continues with it: `lunge on a` is not the option `Lunge on
    /// horseback`.
    pub fn words_of_option(&self, line: &str) -> usize {
        let options: &[Choice] = self.focus().map_or(&[], |open| open.ask.options());
        let words: Vec<&str> = line.split_whitespace().collect();
        let mut longest = 0;
        for name in options.iter().flat_map(|option| [&*option.id, &*option.label]) {
            let name: Vec<String> = name.split(['_', ' ']).map(str::to_lowercase).collect();
            // A comma after a word ends the name, unless it is part of it.
            let typed = |at: usize| match words[at].strip_suffix(',') {
                Some(word) if !name[at].ends_with(',') => word.to_lowercase(),
                _ => words[at].to_lowercase(),
            };
            let ends = |at: usize| words[at].ends_with(',') && !name[at].ends_with(',');
            let same = |at: &usize| typed(*at) == name[*at] && (*at == 0 || !ends(*at - 1));
            let mut count = (0..words.len().min(name.len())).take_while(same).count();
            let partly = words
                .get(count)
                .zip(name.get(count))
                .is_some_and(|(word, name)| name.starts_with(&word.to_lowercase()));
            count += usize::from(partly);
            let whole = count == name.len() && !partly;
            while !whole && count > 0 && self.topic_of(words[count - 1]).is_some() {
                count -= 1;
            }
            longest = longest.max(count);
        }
        longest
    }
}

/// The least number of letters of a word that names an option from the middle of its name; shorter words are often
/// prepositions.
const SHORTEST_PART: usize = 5;

/// First words of card texts that are no verbs.
const NO_VERBS: [&str; 27] = [
    "try", "use", "make", "the", "not", "you", "your", "one", "any", "all", "for", "with", "out", "when", "only",
    "what", "how", "where", "which", "who", "why", "can", "each", "after", "before", "until", "while",
];

/// The verbs of the options of the focused question.
fn verbs(open: &[Open], rules: &Ruleset) -> Vec<(String, String)> {
    let options = open.first().map_or(&[][..], |open| open.ask.options());
    let verb = |option: &Choice| {
        let card = rules.cards().iter().find(|card| card.id == option.id)?;
        let (first, _) = split_first(&card.text);
        let verb = fold(first.trim_end_matches([',', '.', ':', ';']));
        (verb.len() > 2 && !NO_VERBS.contains(&&*verb)).then(|| (verb, option.label.to_string()))
    };
    let all: Vec<(String, String)> = options.iter().filter_map(verb).collect();
    let is_alone = |(verb, _): &&(String, String)| all.iter().filter(|(other, _)| other == verb).count() == 1;
    all.iter().filter(is_alone).cloned().collect()
}

/// The words of a name, folded.
fn name_parts(name: &str) -> Vec<String> {
    name.split([' ', '_']).filter(|part| !part.is_empty()).map(fold).collect()
}

/// The number of words of `name` if all of them occur at index `at`; otherwise 0.
fn length_at(words: &[Word], at: usize, name: &str) -> usize {
    let parts = name_parts(name);
    if length_of_parts(words, at, &parts) == parts.len() { parts.len() } else { 0 }
}

/// The number of `parts` that occur at index `at`, one after the other.
fn length_of_parts(words: &[Word], at: usize, parts: &[String]) -> usize {
    let given = words.iter().skip(at).enumerate();
    let given = given.take_while(|(n, word)| *n == 0 || !word.continues).map(|(_, word)| word);
    given.zip(parts).take_while(|(word, part)| fold(&word.text) == **part).count()
}

/// The rest of a line that begins with `name` as whole words. Ignores case; `_` equals a blank.
pub fn after<'a>(line: &'a str, name: &str) -> Option<&'a str> {
    let fold = |letter: char| {
        if letter == '_' { ' ' } else { letter.to_ascii_lowercase() }
    };
    let mut rest = line.char_indices();
    for wanted in name.chars() {
        let (_, found) = rest.next()?;
        if fold(found) != fold(wanted) && !found.to_lowercase().eq(wanted.to_lowercase()) {
            return None;
        }
    }
    match rest.next() {
        None => Some(""),
        Some((at, letter)) if letter.is_whitespace() || letter == ',' => Some(line[at..].trim_start()),
        Some(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_at_the_start_of_a_line_ends_at_a_word_boundary() {
        assert_eq!(after("Take Cover stake 2", "take cover"), Some("stake 2"));
        assert_eq!(after("take_cover", "take cover"), Some(""));
        assert_eq!(after("takes", "take"), None);
        assert_eq!(after("ta", "take"), None);
        assert_eq!(after("Öffnen x", "öffnen"), Some("x"));
    }
}
