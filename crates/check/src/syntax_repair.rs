//! The one token that is missing, superfluous or misspelt in a script that is not valid Luau.

use std::collections::BTreeSet;

use crate::reader::ScriptReader;
use crate::syntax::is_of_name;
use riskbreaker_ruleset::{TextChange, slips};
use riskbreaker_script::syntax::Location;

/// Words of Luau that are often misspelt.
const KEYWORDS: [&str; 14] = [
    "and", "break", "continue", "else", "elseif", "end", "false", "function", "local", "repeat", "return", "then",
    "true", "until",
];

/// The other words of Luau.
const SHORT_KEYWORDS: [&str; 7] = ["do", "for", "if", "in", "nil", "not", "while"];

/// The most places of a line in which a missing token is looked for.
const MOST_PLACES: usize = 24;

impl ScriptReader<'_> {
    /// Changes of one token. Each of them alone makes the script valid. The likeliest is first. Empty if none does.
    pub(crate) fn repairs(&self, at: Location, message: &str) -> Vec<TextChange> {
        let error = self.offset_of(at.begin);
        let mut tried: Vec<TextChange> = Vec::new();
        if message.starts_with("Malformed string") {
            tried.extend(self.closed_quote(error));
        }
        if let Some(token) = between_quotes(message, "Expected ") {
            tried.extend(self.with_token(token, error));
        }
        // `=+` for `+=`, and a value that is a line of its own.
        let (begin, _) = self.line_around(error);
        if self.text[..error].ends_with('=') && self.text[error..].starts_with(['+', '-', '*', '/']) {
            let (sign, end) = (&self.text[error..=error], error + 1);
            tried.push(TextChange { begin: error - 1, end, text: format!("{sign}=") });
        }
        if self.text[begin..error].trim().is_empty()
            && self.text[error..].starts_with(|letter: char| is_of_name(letter) || "\"'{".contains(letter))
        {
            tried.push(TextChange { begin: error, end: error, text: "return ".to_owned() });
        }
        let lacks_value =
            message.starts_with("Expected identifier") || message.starts_with("Expected expression after ','");
        if lacks_value && message.contains("got '") {
            // A comma or an operator with nothing behind it.
            tried.extend(self.without_token_before(error));
        }
        if let Some(token) = between_quotes(message, "got ") {
            tried.extend(self.without(token, error));
        }
        self.valid(tried)
    }

    /// Changes of a word that is almost a keyword. Each of them alone makes the script valid.
    pub(crate) fn misspelt_words(&self, at: Location) -> Vec<TextChange> {
        self.valid(self.respelt(self.offset_of(at.begin)))
    }

    /// Those changes after which the script is valid.
    fn valid(&self, mut tried: Vec<TextChange>) -> Vec<TextChange> {
        let mut seen = BTreeSet::new();
        tried.retain(|change| {
            let is_new = seen.insert((change.begin, change.end, change.text.clone()));
            is_new && self.known.budget.spend(self.text.len() as u64) && self.error_with(change).is_none()
        });
        tried
    }

    /// Keywords in the place of words that are almost one, in the line of a byte and in the line of code before it.
    fn respelt(&self, error: usize) -> Vec<TextChange> {
        let line = self.line_around(error);
        let before = self.text[..line.0].trim_end().len();
        let mut changes = Vec::new();
        for (begin, end) in [line, self.line_around(before)] {
            let code = code_of(&self.text[begin..end]);
            for word in code.split(|letter| !is_of_name(letter)).filter(|word| word.len() > 1) {
                let begin = word.as_ptr() as usize - self.text.as_ptr() as usize;
                let is_member = self.text[..begin].ends_with(['.', ':', '"', '\'']);
                let is_known = KEYWORDS.contains(&word) || SHORT_KEYWORDS.contains(&word);
                if is_member || is_known {
                    continue;
                }
                let most = if word.len() > 4 { 2 } else { 1 };
                let near = KEYWORDS.iter().chain(&SHORT_KEYWORDS).filter_map(|keyword| {
                    let distance = slips(&word.to_lowercase(), keyword, most)?;
                    Some((distance, *keyword))
                });
                let mut near: Vec<_> = near.collect();
                near.sort_unstable();
                let of = |(_, keyword): &(usize, &str)| TextChange {
                    begin,
                    end: begin + word.len(),
                    text: (*keyword).to_owned(),
                };
                changes.extend(near.iter().take(3).map(of));
            }
        }
        changes
    }

    /// A quotation mark that closes the text which begins at a byte, before the signs at the end of its line.
    fn closed_quote(&self, begin: usize) -> Vec<TextChange> {
        let Some(mark) = self.text[begin..].chars().next().filter(|mark| matches!(mark, '"' | '\'' | '`')) else {
            return Vec::new();
        };
        let (_, end) = self.line_around(begin);
        let written = self.text[begin..end].trim_end();
        let signs = written.chars().rev().take_while(|letter| ",;) }]".contains(*letter)).count();
        // The more signs are left outside of the text, the likelier is the place.
        let places = (0..=signs).rev().map(|signs| begin + written.len() - signs);
        let closed = |place| TextChange { begin: place, end: place, text: mark.to_string() };
        // Or before the first sign that cannot be in the text: a comma with a value behind it.
        let comma = written.find(", ").map(|at| begin + at);
        places.chain(comma).map(closed).collect()
    }

    /// A token that is expected at a byte, put in before it, at the end of the line before, or at the end of the line.
    fn with_token(&self, token: &str, error: usize) -> Vec<TextChange> {
        let before = self.code_before(error);
        let (begin, end) = self.line_around(error);
        let code_end = begin + code_of(&self.text[begin..end]).trim_end().len();
        let is_word = token.chars().all(is_of_name);
        let mut places = vec![before, code_end];
        // A bracket may be closed at any place between two values of its line.
        if ")]}".contains(token) {
            let (begin, end) = self.line_around(before);
            let code = code_of(&self.text[begin..end]);
            let ends = code.char_indices().filter(|(_, letter)| ",)}];".contains(*letter) || *letter == ' ');
            places.extend(ends.map(|(at, _)| begin + at).take(MOST_PLACES));
            places.push(begin + code.trim_end().len());
        }
        let put = |place: usize| {
            let is_behind =
                is_word && self.text[..place].ends_with(is_of_name) || matches!(token, "=" | "then" | "do" | "in");
            let is_before = self.text[place..].starts_with(is_of_name) || matches!(token, "=" | "in");
            let (left, right) = (if is_behind { " " } else { "" }, if is_before && is_word { " " } else { "" });
            let is_sole = token == "end" && place == before;
            let text =
                if is_sole { format!("\n{}end", self.indent_at(error)) } else { format!("{left}{token}{right}") };
            TextChange { begin: place, end: place, text }
        };
        places.into_iter().map(put).collect()
    }

    /// The script without the last sign before a byte.
    fn without_token_before(&self, error: usize) -> Option<TextChange> {
        let end = self.code_before(error);
        let sign = self.text[..end].chars().next_back().filter(|sign| ",;.:+-*/=".contains(*sign))?;
        Some(TextChange { begin: end - sign.len_utf8(), end, text: String::new() })
    }

    /// The script without a token at a byte; without its whole line if nothing else is in that.
    fn without(&self, token: &str, error: usize) -> Vec<TextChange> {
        let mut changes = Vec::new();
        // A name or a value is not there by mistake.
        let is_sign = token.chars().all(|letter| !is_of_name(letter)) || matches!(token, "end" | "then" | "do");
        if is_sign && self.text[error..].starts_with(token) {
            let (begin, end) = self.line_around(error);
            let code = code_of(&self.text[begin..end]).trim().trim_end_matches([',', ')', ';']);
            if code == token {
                let end = (end + 1).min(self.text.len());
                changes.push(TextChange { begin, end, text: String::new() });
            }
            changes.push(TextChange { begin: error, end: error + token.len(), text: String::new() });
        }
        changes
    }

    /// The bytes of the line around a byte, without its end.
    fn line_around(&self, byte: usize) -> (usize, usize) {
        let byte = byte.min(self.text.len());
        let begin = self.text[..byte].rfind('\n').map_or(0, |at| at + 1);
        (begin, self.text[byte..].find('\n').map_or(self.text.len(), |at| byte + at))
    }

    /// The end of the code before a byte, without blanks and comments.
    fn code_before(&self, byte: usize) -> usize {
        let mut end = byte.min(self.text.len());
        loop {
            let (begin, _) = self.line_around(end);
            let code = code_of(&self.text[begin..end]).trim_end();
            if !code.is_empty() || begin == 0 {
                return begin + code.len();
            }
            end = begin - 1;
        }
    }

    fn indent_at(&self, byte: usize) -> &str {
        let (begin, end) = self.line_around(byte);
        let line = &self.text[begin..end];
        &line[..line.len() - line.trim_start().len()]
    }
}

/// A line without its comment.
fn code_of(line: &str) -> &str {
    match line.find(" --") {
        Some(at) => &line[..at],
        None if line.trim_start().starts_with("--") => "",
        None => line,
    }
}

/// The token in quotation marks behind some words of a message.
fn between_quotes<'m>(message: &'m str, words: &str) -> Option<&'m str> {
    let rest = message.split_once(&format!("{words}'"))?.1;
    let end = rest.find('\'')?;
    (end > 0).then(|| &rest[..end])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_comment_is_no_code() {
        assert_eq!(code_of("\tx = 1 -- one"), "\tx = 1");
        assert_eq!(code_of("\t-- one"), "");
        assert_eq!(code_of("x = \"a--b\""), "x = \"a--b\"");
    }

    #[test]
    fn a_message_names_a_token_in_quotes() {
        let message = "Expected 'then' when parsing if statement, got 'rb'";
        assert_eq!(between_quotes(message, "Expected "), Some("then"));
        assert_eq!(between_quotes(message, "got "), Some("rb"));
        assert_eq!(between_quotes("Expected identifier", "Expected "), None);
    }
}
