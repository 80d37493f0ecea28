//! Names of campaigns.

use unicode_normalization::UnicodeNormalization as _;

use super::error::StoreError;

/// The most characters of a name.
const LONGEST: usize = 200;

/// Normalizes a name for storing: composed characters, no space at its ends, and single spaces inside.
///
/// # Errors
///
/// The name is empty, longer than 200 characters, or has control characters.
pub fn normalized(name: &str) -> Result<String, StoreError> {
    let refused = |what: String| Err(StoreError::Refused(what));
    if let Some(control) = name.chars().find(|c| is_unprintable(*c)) {
        return refused(format!(
            "the name of a campaign has no control characters, and this one has {}",
            control.escape_unicode()
        ));
    }
    let name: String = name.nfc().collect::<String>().split_whitespace().collect::<Vec<_>>().join(" ");
    match name.chars().count() {
        0 => refused("the name of a campaign has at least one character".into()),
        1..=LONGEST => Ok(name),
        many => refused(format!("the name of a campaign has at most {LONGEST} characters, and this one has {many}")),
    }
}

/// The most similar valid name, for a file with an invalid or unreadable name.
pub fn nearest_allowed(name: &str) -> String {
    let printable: String = name.chars().filter(|c| !is_unprintable(*c)).take(LONGEST).collect();
    normalized(&printable).unwrap_or_else(|_| "campaign".to_owned())
}

/// True for control characters, and for those that are invisible or change the direction of writing.
fn is_unprintable(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_printable_and_has_one_spelling() {
        assert_eq!(normalized("  Round   the\u{a0}table ").unwrap(), "Round the table");
        assert_eq!(normalized("Ko\u{308}ln").unwrap(), normalized("K\u{f6}ln").unwrap());
        assert_eq!(normalized(&"ä".repeat(200)).unwrap().chars().count(), 200);
        for wrong in ["", " ", "\n", "x\0y", "a\u{202e}b", "\u{200b}", "tab\tbed", &"x".repeat(201), &"x".repeat(3_000)]
        {
            assert!(normalized(wrong).is_err(), "{wrong:?}");
            assert!(normalized(&nearest_allowed(wrong)).is_ok(), "{wrong:?}");
        }
    }
}
