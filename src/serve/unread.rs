//! Messages that cannot be read: who sent one waits for the answer to its id all the same.

use serde_json::Value as Json;

use crate::state::LARGEST_NUMBER;

/// Whether an answer can repeat an id: a text, a whole number of 64 bits, or another number that is not so large that it is
/// rounded to a whole one.
pub(super) fn is_id(id: &Json) -> bool {
    match id {
        Json::String(_) => true,
        Json::Number(n) => {
            n.is_i64() || n.is_u64() || n.as_f64().is_some_and(|float| float.abs() <= LARGEST_NUMBER as f64)
        }
        _ => false,
    }
}

/// The id of a message that is no JSON, or is too long: what stands under `id` in the outermost object, if it is a text or a
/// number. The message may be cut off behind it.
pub(super) fn id_of(message: &str) -> Json {
    let bytes = message.as_bytes();
    let (mut at, mut depth, mut is_key) = (0, 0_usize, false);
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'"' => {
                let end = end_of_text(bytes, at);
                if depth == 1 && is_key && bytes.get(at..end) == Some(b"\"id\"") {
                    return value_at(message, end).unwrap_or_default();
                }
                (at, is_key) = (end, false);
                continue;
            }
            b'{' | b'[' => (depth, is_key) = (depth + 1, *byte == b'{'),
            b'}' | b']' => depth = depth.saturating_sub(1),
            b',' => is_key = true,
            _ => {}
        }
        at += 1;
    }
    Json::Null
}

/// The place behind a text that begins here.
fn end_of_text(bytes: &[u8], start: usize) -> usize {
    let mut at = start + 1;
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'"' => return at + 1,
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
    bytes.len()
}

/// The text or number behind the colon that follows.
fn value_at(message: &str, start: usize) -> Option<Json> {
    let rest = message.get(start..)?.trim_start().strip_prefix(':')?.trim_start();
    let end = match rest.starts_with('"') {
        true => end_of_text(rest.as_bytes(), 0),
        false => rest.find([',', '}', ' ', '\t', '\r', '\n'])?,
    };
    let found: Json = serde_json::from_str(rest.get(..end)?).ok()?;
    is_id(&found).then_some(found)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_id_of_a_message_that_is_no_json_is_found() {
        let deep = format!("{{\"params\":{},\"id\":\"d\"}}", "[".repeat(200) + &"]".repeat(200));
        for (message, id) in [
            (r#"{"jsonrpc":"2.0","id":7,"method":"ping","params":{"x":"\ud800"}}"#, json!(7)),
            (r#"{"params":{"id":1,"x":["id",{"id":2}]},"id" : "a\"b","y":NaN}"#, json!("a\"b")),
            (r#"{"jsonrpc":"2.0","id":-2.5,"params":{"x":"#, json!(-2.5)),
            (&deep, json!("d")),
            (r#"{"x":"id","id":null,"y":NaN}"#, Json::Null),
            (r#"{"id":18446744073709551615,"y":NaN}"#, json!(u64::MAX)),
            (r#"{"id":18446744073709551616,"y":NaN}"#, Json::Null),
            (r#"{"id":12"#, Json::Null),
            (r#"{"id":"12"#, Json::Null),
            (r#"[{"id":1},NaN]"#, Json::Null),
            (r#"{"x":"\"#, Json::Null),
            ("hello", Json::Null),
        ] {
            assert_eq!(id_of(message), id, "{message}");
        }
    }
}
