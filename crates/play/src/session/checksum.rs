//! The checksum of a saved game.

use riskbreaker_ruleset::Checksum;

/// The end of a saved game: the checksum of everything before it.
const CHECKSUM: &str = ",\"checksum\":\"";

/// Appends the checksum to a JSON object.
pub(crate) fn with_checksum(mut text: String) -> String {
    if text.pop() == Some('}') {
        let sum = checksum_of(text.as_bytes());
        text.push_str(CHECKSUM);
        text.push_str(&sum);
        text.push_str("\"}");
    }
    text
}

/// True if a saved game ends with the right checksum. `None` if it has no checksum.
pub(crate) fn checksum_fits(text: &str) -> Option<bool> {
    let (before, rest) = text.trim_end().rsplit_once(CHECKSUM)?;
    Some(rest.strip_suffix("\"}")? == checksum_of(before.as_bytes()))
}

/// The checksum of bytes, in hexadecimal. It finds damage, and is no proof against forgery.
pub(crate) fn checksum_of(bytes: &[u8]) -> String {
    Checksum::of(bytes).to_string()
}
