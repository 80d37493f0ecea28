use std::io;

/// Puts a foreign word into backticks, escaped, and shortened if it is too long for a sentence.
pub fn quoted(word: &str) -> String {
    const LONGEST: usize = 60;
    let mut shown: String = word.chars().take(LONGEST).collect();
    if shown.len() < word.len() {
        shown.push_str("...");
    }
    format!("`{}`", printable(&shown))
}

/// Escapes characters that a terminal must not get: control characters and those that change the direction of writing.
pub fn printable(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\n' | '\r' | '\t' => shown.extend(c.escape_default()),
            c if c.is_control() || turns_direction(c) => shown.extend(c.escape_unicode()),
            c => shown.push(c),
        }
    }
    shown
}

/// The operating system's message of a failed operation, without its error number.
pub fn system_message(error: &io::Error) -> String {
    let text = error.to_string();
    text.split(" (os error").next().unwrap_or(&text).to_owned()
}

/// True for the characters that change the direction of writing, by which a source can look different from its content.
pub(crate) fn turns_direction(c: char) -> bool {
    matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// True for characters that no text displays unchanged: control characters except line breaks and tabs, and characters
/// that change the direction of writing.
pub fn is_unprintable(c: char) -> bool {
    (c.is_control() && !matches!(c, '\n' | '\r' | '\t')) || turns_direction(c)
}

/// Escapes control characters and those that change the direction of writing in JSON, so that its printed form shows
/// its content. The value is unchanged.
pub fn plain_json(json: String) -> String {
    // JSON escapes all ASCII control characters but one, so most messages need no work.
    if (json.is_ascii() && !json.contains('\u{7f}')) || !json.contains(is_unprintable) {
        return json;
    }
    let mut plain = String::with_capacity(json.len());
    for c in json.chars() {
        if is_unprintable(c) {
            plain.push_str(&format!("\\u{:04x}", u32::from(c)));
        } else {
            plain.push(c);
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_shows_what_steers_a_terminal_and_keeps_its_value() {
        let value = serde_json::json!({ "a\u{202e}b": ["\u{9b}31m", "\u{7f}", "é", "line\nbreak", "\u{1b}[2J"] });
        let plain = plain_json(value.to_string());
        assert!(
            plain.contains("\\u202e") && plain.contains("\\u009b") && plain.contains("\\u007f") && plain.contains('é')
        );
        assert!(!plain.contains(|c: char| c.is_control() || turns_direction(c)), "{plain}");
        assert_eq!(serde_json::from_str::<serde_json::Value>(&plain).unwrap(), value);
    }

    #[test]
    fn a_message_of_the_system_has_no_number() {
        assert!(!system_message(&io::Error::from_raw_os_error(2)).contains("os error"));
        assert_eq!(system_message(&io::Error::other("the writer has failed")), "the writer has failed");
    }

    #[test]
    fn a_quoted_word_is_short_and_harmless() {
        assert_eq!(quoted("feint"), "`feint`");
        assert_eq!(quoted("a\u{7}b\n"), "`a\\u{7}b\\n`");
        assert_eq!(quoted(&"é".repeat(61)), format!("`{}...`", "é".repeat(60)));
        assert_eq!(quoted(&"é".repeat(60)), format!("`{}`", "é".repeat(60)));
    }
}
