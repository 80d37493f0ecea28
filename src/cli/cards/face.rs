use std::fmt::Write as _;

use riskbreaker::{Card, Ruleset};

use crate::cli::figures::escaped;
use crate::cli::rule_text;
use crate::cli::rules;

/// The number of letters in a line of a card at 10 points, and of lines on a side below the title. Both are low
/// estimates, so that no printer cuts off text if its font is a little wider.
const LETTERS: usize = 27;
const LINES: usize = 13;

/// The contents of the two sides of a card.
pub struct CardFace {
    title: String,
    what: &'static str,
    facts: Vec<(String, String)>,
    /// True if the facts are on the front; they are on the back if the text fills the front.
    facts_in_front: bool,
    /// The text on the front; `rest` is its continuation on the back.
    text: String,
    rest: String,
}

impl CardFace {
    pub fn of(card: &Card, what: &'static str, rules: &Ruleset) -> CardFace {
        let facts = rules::told_facts(card, rules);
        let text = rule_text::without_ids(&card.text).into_owned();
        let of_facts: usize = facts.iter().map(|(name, value)| lines_of_fact(name, value)).sum();
        let facts_in_front = of_facts + lines_of(&text) <= LINES;
        let room = if facts_in_front { LINES - of_facts } else { LINES };
        let (text, rest) = split(&text, room);
        CardFace { title: card.title.to_string(), what, facts, facts_in_front, text, rest }
    }

    /// Returns a blank card for handwriting.
    pub fn blank() -> CardFace {
        let (title, text, rest) = Default::default();
        CardFace { title, what: "maneuver", facts: Vec::new(), facts_in_front: true, text, rest }
    }

    fn is_blank(&self) -> bool {
        self.title.is_empty()
    }

    pub fn front(&self, ruleset: &str) -> String {
        let what = self.what;
        let footer = format!("<footer>{ruleset}</footer>");
        if self.is_blank() {
            let lines = "<i></i>".repeat(8);
            return format!(
                "<div class=\"card front blank\"><div class=\"write\"><span class=\"what\">{what}</span></div><div class=\"lines\">{lines}</div>{footer}</div>"
            );
        }
        let facts = if self.facts_in_front { self.facts() } else { String::new() };
        let hidden =
            if self.facts_in_front { String::new() } else { format!("<div class=\"rest\">{}</div>", self.facts()) };
        let rest = match self.rest.is_empty() {
            true => String::new(),
            false => format!(
                " <span class=\"over\">(continued on the back)</span><span class=\"rest\">{}</span>",
                escaped(&self.rest)
            ),
        };
        format!(
            "<div class=\"card front\"><header><h2>{}</h2><span class=\"what\">{what}</span></header>{facts}<p class=\"text\">{}{rest}</p>{hidden}{footer}</div>",
            escaped(&self.title),
            escaped(&self.text),
        )
    }

    /// Renders the back: what does not fit on the front, and the name of the game.
    pub fn back(&self, ruleset: &str) -> String {
        let mut inside = String::new();
        if !self.rest.is_empty() {
            let _ = write!(inside, "<p class=\"text\">{}</p>", escaped(&self.rest));
        }
        if !self.facts_in_front {
            inside.push_str(&self.facts());
        }
        let class = if lines_of(&self.rest) + 4 > LINES { " small" } else { "" };
        let title = match self.is_blank() {
            true => String::new(),
            false => format!("<p class=\"name\">{}</p>", escaped(&self.title)),
        };
        format!("<div class=\"card back{class}\">{title}{inside}<p class=\"game\">{ruleset}</p></div>")
    }

    fn facts(&self) -> String {
        if self.facts.is_empty() {
            return String::new();
        }
        let rows =
            self.facts.iter().map(|(name, value)| format!("<dt>{}</dt><dd>{}</dd>", escaped(name), escaped(value)));
        format!("<dl>{}</dl>", rows.collect::<String>())
    }
}

/// The number of lines of a paragraph.
fn lines_of(text: &str) -> usize {
    text.chars().count().div_ceil(LETTERS)
}

/// The number of lines of a fact, whose name takes a part of the width.
fn lines_of_fact(name: &str, value: &str) -> usize {
    let width = LETTERS.saturating_sub(name.chars().count() + 2).max(8);
    value.chars().count().div_ceil(width).max(1)
}

/// Splits a text that is longer than `lines` lines: after a sentence, or else between words.
fn split(text: &str, lines: usize) -> (String, String) {
    // The note "continued" takes a line.
    let room = lines.saturating_sub(1).max(1) * LETTERS;
    if lines_of(text) <= lines {
        return (text.to_owned(), String::new());
    }
    let end = text.char_indices().nth(room).map_or(text.len(), |(at, _)| at);
    let fits = &text[..end];
    let mut after_sentence = fits.match_indices(['.', '!', '?']).map(|(at, mark)| at + mark.len());
    let whole = after_sentence.rfind(|at| text[*at..].starts_with(' ')).filter(|at| *at * 2 > end);
    let at = whole.or_else(|| fits.rfind(' ')).unwrap_or(end);
    (text[..at].to_owned(), text[at..].trim_start().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_text_is_continued_on_another_card_after_a_sentence() {
        let text = "One sentence of a card. ".repeat(30);
        let text = text.trim_end();
        let (front, rest) = split(text, LINES);
        assert!(front.ends_with('.') && lines_of(&front) < LINES && rest.starts_with("One"), "{front}|{rest}");
        assert_eq!(format!("{front} {rest}"), text);
        assert_eq!(split("Short.", LINES), ("Short.".to_owned(), String::new()));
        let word = "x".repeat(2 * LINES * LETTERS);
        let (front, rest) = split(&word, LINES);
        assert_eq!(format!("{front}{rest}"), word);
    }

    #[test]
    fn a_paragraph_takes_whole_lines() {
        assert_eq!(lines_of(""), 0);
        assert_eq!(lines_of(&"x".repeat(LETTERS)), 1);
        assert_eq!(lines_of(&"x".repeat(LETTERS + 1)), 2);
        assert_eq!(lines_of_fact("Risk up to", "3"), 1);
    }
}
