use std::ops::Range;

/// A word of a typed line, with its position.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Word {
    /// The word without quotes, and without a comma after it.
    pub text: String,
    /// The byte offset in the line.
    pub start: usize,
    pub end: usize,
    pub quoted: bool,
    /// True if there is a comma before it, so that it continues a list.
    pub continues: bool,
}

/// A line split at its small words: the text before the first of them, and the text after each.
#[derive(Debug, PartialEq, Eq)]
pub struct Phrases {
    pub head: Phrase,
    pub named: Vec<(String, Phrase)>,
}

/// The text typed for one answer, and its items if quotes or commas split it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Phrase {
    pub text: String,
    /// The items; `None` unless quotes show where they end.
    pub items: Option<Vec<String>>,
}

/// Splits a line into words at blanks and commas. `"..."` is one word; an open quote ends with the line.
pub fn words(line: &str) -> Vec<Word> {
    let mut words: Vec<Word> = Vec::new();
    let mut letters = line.char_indices().peekable();
    let mut comma = false;
    while let Some((start, letter)) = letters.next() {
        if letter == ',' {
            comma = !words.is_empty();
        } else if letter == '"' {
            let mut text = String::new();
            let mut end = line.len();
            for (at, letter) in letters.by_ref() {
                if letter == '"' {
                    end = at + 1;
                    break;
                }
                text.push(letter);
            }
            words.push(Word { text, start, end, quoted: true, continues: std::mem::take(&mut comma) });
        } else if !letter.is_whitespace() {
            let mut text = String::from(letter);
            let mut end = start + letter.len_utf8();
            while let Some((at, letter)) = letters.next_if(|(_, letter)| *letter != ',' && !letter.is_whitespace()) {
                text.push(letter);
                end = at + letter.len_utf8();
            }
            words.push(Word { text, start, end, quoted: false, continues: std::mem::take(&mut comma) });
        }
    }
    words
}

/// Splits a line into its first word and the rest.
pub fn split_first(line: &str) -> (&str, &str) {
    let line = line.trim();
    match line.find(char::is_whitespace) {
        Some(at) => (&line[..at], line[at..].trim_start()),
        None => (line, ""),
    }
}

/// Splits a line at the words that `topic_of` maps to a topic.
///
/// It does not split at the words in the range `whole`, inside a name (`name_at` returns the number of its words from
/// an index on), at a word in quotes, or after a comma, which continues a list.
pub fn phrases(
    line: &str,
    whole: Range<usize>,
    name_at: impl Fn(&[Word], usize) -> usize,
    topic_of: impl Fn(&str) -> Option<String>,
) -> Phrases {
    let words = words(line);
    let mut cuts = Vec::new();
    let mut at = 0;
    while let Some(word) = words.get(at) {
        let name = name_at(&words, at).max(usize::from(whole.contains(&at)));
        if name == 0
            && !word.quoted
            && !word.continues
            && let Some(topic) = topic_of(&word.text)
        {
            cuts.push((at, topic));
        }
        at += name.max(1);
    }
    let end_of = |cut: usize| cuts.get(cut).map_or(words.len(), |(at, _)| *at);
    Phrases {
        head: phrase(line, &words[..end_of(0)]),
        named: cuts
            .iter()
            .enumerate()
            .map(|(cut, (at, topic))| (topic.clone(), phrase(line, &words[at + 1..end_of(cut + 1)])))
            .collect(),
    }
}

fn phrase(line: &str, words: &[Word]) -> Phrase {
    let (Some(first), Some(last)) = (words.first(), words.last()) else {
        return Phrase::default();
    };
    let items = words.iter().any(|word| word.quoted).then(|| {
        let mut items: Vec<String> = Vec::new();
        for (at, word) in words.iter().enumerate() {
            match items.last_mut() {
                Some(item) if at > 0 && !word.continues => {
                    item.push(' ');
                    item.push_str(&word.text);
                }
                _ => items.push(word.text.clone()),
            }
        }
        items
    });
    Phrase { text: line[first.start..last.end].to_owned(), items }
}

impl Phrases {
    /// Returns a text as a single answer, without splitting it.
    pub fn of_text(text: &str) -> Phrases {
        Phrases { head: Phrase { text: text.to_owned(), items: None }, named: Vec::new() }
    }
}

impl Phrase {
    pub fn is_empty(&self) -> bool {
        self.text.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn topic_of(word: &str) -> Option<String> {
        match word {
            "on" => Some("targets".into()),
            "stake" | "with" => Some(word.into()),
            _ => None,
        }
    }

    fn cut(line: &str, kept: usize) -> (String, Vec<(String, String)>) {
        let cut = phrases(line, 0..kept, |_, _| 0, topic_of);
        (cut.head.text, cut.named.into_iter().map(|(topic, phrase)| (topic, phrase.text)).collect())
    }

    #[test]
    fn small_words_split_a_line_and_commas_join_a_list() {
        let (head, named) = cut("lunge stake 2 on Bandit Chief, archer with bow", 1);
        assert_eq!(head, "lunge");
        assert_eq!(
            named,
            [
                ("stake".into(), "2".into()),
                ("targets".into(), "Bandit Chief, archer".into()),
                ("with".into(), "bow".into())
            ]
        );
    }

    #[test]
    fn words_that_belong_to_a_card_are_not_cut_off_it() {
        assert_eq!(cut("stake it all stake 2", 3), ("stake it all".into(), vec![("stake".into(), "2".into())]));
    }

    #[test]
    fn a_name_at_the_start_of_a_line_may_contain_a_small_word() {
        let cut = phrases("strike with both hands", 0..1, |_, at| if at == 0 { 2 } else { 0 }, topic_of);
        assert_eq!((cut.head.text.as_str(), cut.named.len()), ("strike with both hands", 0));
    }

    #[test]
    fn a_small_word_in_quotes_or_after_a_comma_is_a_name() {
        let (_, named) = cut("lunge on a, with", 1);
        assert_eq!(named, [("targets".into(), "a, with".into())]);
        let cut = phrases("lunge on \"Knight on horse\", b", 0..1, |_, _| 0, topic_of);
        assert_eq!(cut.named[0].1.items, Some(vec!["Knight on horse".into(), "b".into()]));
    }

    #[test]
    fn splitting_an_odd_line_loses_no_text() {
        assert_eq!(words("").len(), 0);
        assert_eq!(words(",,,").len(), 0);
        assert_eq!(words("\"open").first().map(|word| word.text.as_str()), Some("open"));
        assert_eq!(words("é,ü").iter().map(|word| word.text.as_str()).collect::<Vec<_>>(), ["é", "ü"]);
        assert_eq!(cut("stake", 1), ("stake".into(), vec![]));
        assert_eq!(cut("stake", 0), (String::new(), vec![("stake".into(), String::new())]));
    }
}
