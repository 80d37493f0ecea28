use std::collections::BTreeSet;

use riskbreaker::names::spelling;
use riskbreaker::{Ask, Choice, EntityId, QuestionId, Value};

use super::question::whom;
use super::session_slot::SessionSlot;

/// All words known at the prompt now. They parse a line and complete it.
#[derive(Clone, Debug, Default)]
pub struct Vocabulary {
    /// The ruleset's small words with the topic that each answers, and the known topics under their own names.
    pub small: Vec<(String, String)>,
    /// The open questions. The first takes an answer without a name.
    pub open: Vec<Open>,
    /// Acts that are nobody's turn, as id and title.
    pub free: Vec<(String, String)>,
    /// The views of the ruleset, as id and title.
    pub views: Vec<(String, String)>,
    /// Titles of entities.
    pub names: Vec<String>,
    /// The lists of words of the asked character, by the name of the field.
    pub items: Vec<(String, Vec<String>)>,
    pub kinds: Vec<String>,
    pub fields: Vec<String>,
    /// Cards as id and title.
    pub cards: Vec<(String, String)>,
    pub switches: Vec<String>,
    pub policies: Vec<String>,
    pub seats: Vec<String>,
    /// Names of the characters that are kept in the campaign; empty at a screen of some seats.
    pub roster: Vec<String>,
    /// Names of the ruleset's ready-made characters; empty at a screen of some seats.
    pub cast: Vec<String>,
    /// Ids of the installed rulesets.
    pub rulesets: Vec<String>,
}

/// An open question, as the parser needs it.
#[derive(Clone, Debug)]
pub struct Open {
    pub topic: String,
    pub about: Option<String>,
    pub ask: Ask,
}

impl Vocabulary {
    /// Collects the words of this moment. `topics` were asked for in this game; `focus` is the question that is answered first.
    pub fn of(session: &mut SessionSlot, topics: &BTreeSet<String>, focus: Option<QuestionId>) -> Vocabulary {
        let mut free: Vec<(String, String)> = Vec::new();
        for act in session.free_acts() {
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
                    // The heading of the sheet is typed as well.
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
            open,
            free,
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

    /// The same with more topics under their own names.
    pub fn with_topics(&self, topics: BTreeSet<String>) -> Vocabulary {
        let mut wider = self.clone();
        wider.small.extend(topics.into_iter().map(|topic| (topic.clone(), topic)));
        wider
    }

    /// The topic that a small word answers; a topic's own name answers it too.
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

    /// The question that an answer without a name goes to.
    pub fn focus(&self) -> Option<&Open> {
        self.open.first()
    }

    /// The free act that a line begins with, by id or title, and what is left of the line.
    pub fn free_act<'a>(&self, line: &'a str) -> Option<(&str, &'a str)> {
        self.free
            .iter()
            .flat_map(|(id, title)| [(id, id), (id, title)])
            .filter_map(|(id, name)| Some((id.as_str(), after(line, name)?)))
            .min_by_key(|(_, rest)| rest.len())
    }

    /// The view of the ruleset that a line names, if it holds nothing else.
    pub fn view(&self, line: &str) -> Option<&str> {
        self.views.iter().map(|(name, _)| name.as_str()).find(|name| after(line, name) == Some(""))
    }

    /// Whether a line is the whole name of an option, open or closed.
    pub fn is_an_option(&self, line: &str) -> bool {
        let options: &[Choice] = self.focus().map_or(&[], |open| open.ask.options());
        let mut names = options.iter().flat_map(|option| [&*option.id, &*option.label]);
        names.any(|name| name.eq_ignore_ascii_case(line))
    }

    /// Whether a line begins with the whole name of an option that can be chosen.
    pub fn begins_with_an_option(&self, line: &str) -> bool {
        let options: &[Choice] = self.focus().map_or(&[], |open| open.ask.options());
        let open = options.iter().filter(|option| option.enabled);
        open.flat_map(|option| [&*option.id, &*option.label])
            .any(|name| name.contains([' ', '_']) && after(line, name).is_some())
    }

    /// How many words at the start of a line are the name of an option of the focused question, or the beginning of one.
    ///
    /// A small word stays a small word even if an option begins with it: `lunge on a` is not the option `Lunge on horseback`.
    pub fn words_of_option(&self, line: &str) -> usize {
        let options: &[Choice] = self.focus().map_or(&[], |open| open.ask.options());
        let words: Vec<&str> = line.split_whitespace().collect();
        let mut longest = 0;
        for name in options.iter().flat_map(|option| [&*option.id, &*option.label]) {
            let name: Vec<String> = name.split(['_', ' ']).map(str::to_lowercase).collect();
            let same = |at: &usize| words[*at].to_lowercase() == name[*at];
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

/// The rest of a line that begins with `name` as whole words. Case is ignored; `_` equals a blank.
fn after<'a>(line: &'a str, name: &str) -> Option<&'a str> {
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
    fn a_name_at_the_start_of_a_line_ends_where_a_word_ends() {
        assert_eq!(after("Take Cover stake 2", "take cover"), Some("stake 2"));
        assert_eq!(after("take_cover", "take cover"), Some(""));
        assert_eq!(after("takes", "take"), None);
        assert_eq!(after("ta", "take"), None);
        assert_eq!(after("Öffnen x", "öffnen"), Some("x"));
    }
}
