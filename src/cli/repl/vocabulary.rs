use riskbreaker::{Ask, Choice};

/// All words that mean something at the table right now: what a line is read by and what Tab offers.
#[derive(Clone, Debug, Default)]
pub struct Vocabulary {
    /// The ruleset's small words with the topic that each answers, and the topics that are known, under their own names.
    pub small: Vec<(String, String)>,
    /// The open questions, the one that a bare answer goes to first.
    pub open: Vec<Open>,
    /// Acts that are nobody's turn, as id and title.
    pub free: Vec<(String, String)>,
    /// Titles of entities.
    pub names: Vec<String>,
    pub kinds: Vec<String>,
    pub fields: Vec<String>,
    /// Cards as id and title.
    pub cards: Vec<(String, String)>,
    pub switches: Vec<String>,
    pub policies: Vec<String>,
    pub seats: Vec<String>,
}

/// An open question, as far as a typed line is concerned.
#[derive(Clone, Debug)]
pub struct Open {
    pub topic: String,
    pub about: Option<String>,
    pub ask: Ask,
}

impl Vocabulary {
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

    /// The question that a bare answer goes to.
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

    /// How many words at the start of a line are the name of an option of the focused question.
    pub fn words_of_option(&self, line: &str) -> usize {
        let options: &[Choice] = self.focus().map_or(&[], |open| open.ask.options());
        options
            .iter()
            .flat_map(|option| [&*option.id, &*option.label])
            .filter(|name| after(line, name).is_some())
            .map(|name| name.split_whitespace().count())
            .max()
            .unwrap_or(0)
    }
}

/// What follows `name` in a line that begins with it as whole words, in any case; `_` and blank are one.
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
        assert_eq!(after("Take Cover risk 2", "take cover"), Some("risk 2"));
        assert_eq!(after("take_cover", "take cover"), Some(""));
        assert_eq!(after("takes", "take"), None);
        assert_eq!(after("ta", "take"), None);
        assert_eq!(after("Öffnen x", "öffnen"), Some("x"));
    }
}
