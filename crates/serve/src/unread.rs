//! The raw text of a message: its id, which the answer repeats even if the rest cannot be parsed, and duplicate keys.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value as Json};

use riskbreaker_ruleset::quoted::quoted;
use riskbreaker_state::LARGEST_NUMBER;

/// The id of a request as it was sent: `-0` and `1e2` are repeated unchanged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Id(String);

impl Id {
    /// The id of an answer to a message without an id.
    pub fn null() -> Id {
        Id("null".to_owned())
    }

    /// The id of a message that was parsed as an object. `value`: the parsed id.
    pub fn of(message: &str, value: &Json) -> Id {
        Id(raw_id(message).map_or_else(|| value.to_string(), str::to_owned))
    }

    /// A key that is equal for all spellings of the same id.
    pub fn key(&self) -> String {
        serde_json::from_str(&self.0).map_or_else(|_| self.0.clone(), |value: Json| value.to_string())
    }
}

impl fmt::Display for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Parses JSON and refuses duplicate keys, since it would be unclear which value is meant.
///
/// # Errors
///
/// It is no JSON, or an object has a duplicate key.
pub(super) fn read_once(message: &str) -> Result<Json, serde_json::Error> {
    let mut source = serde_json::Deserializer::from_str(message);
    let value = UniqueKeys.deserialize(&mut source)?;
    source.end()?;
    Ok(value)
}

/// Deserializes any JSON value without duplicate keys.
struct UniqueKeys;

impl<'de> DeserializeSeed<'de> for UniqueKeys {
    type Value = Json;

    fn deserialize<D: Deserializer<'de>>(self, source: D) -> Result<Json, D::Error> {
        source.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for UniqueKeys {
    type Value = Json;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_bool<E>(self, value: bool) -> Result<Json, E> {
        Ok(value.into())
    }

    fn visit_i64<E>(self, value: i64) -> Result<Json, E> {
        Ok(value.into())
    }

    fn visit_u64<E>(self, value: u64) -> Result<Json, E> {
        Ok(value.into())
    }

    fn visit_f64<E>(self, value: f64) -> Result<Json, E> {
        Ok(value.into())
    }

    fn visit_str<E>(self, value: &str) -> Result<Json, E> {
        Ok(value.into())
    }

    fn visit_unit<E>(self) -> Result<Json, E> {
        Ok(Json::Null)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Json, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element_seed(UniqueKeys)? {
            list.push(item);
        }
        Ok(Json::Array(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Json, A::Error> {
        let mut fields = Map::new();
        while let Some(key) = members.next_key::<String>()? {
            if fields.contains_key(&key) {
                return Err(A::Error::custom(format!("{TWICE}{}", quoted(&key))));
            }
            let value = members.next_value_seed(UniqueKeys)?;
            fields.insert(key, value);
        }
        Ok(Json::Object(fields))
    }
}

/// The duplicate key, if that is why a message was refused.
pub(super) fn doubled_key(error: &serde_json::Error) -> Option<String> {
    let text = error.to_string();
    let key = text.strip_prefix(TWICE)?;
    Some(key.rsplit_once(" at line ").map_or(key, |(key, _)| key).to_owned())
}

const TWICE: &str = "doubled key ";

/// True if an answer can repeat an id exactly: a text, a whole number of 64 bits, or another number that is small
/// enough not to be rounded to a whole one.
pub(super) fn is_id(id: &Json) -> bool {
    match id {
        Json::String(_) => true,
        Json::Number(n) => {
            n.is_i64() || n.is_u64() || n.as_f64().is_some_and(|float| float.abs() <= LARGEST_NUMBER as f64)
        }
        _ => false,
    }
}

/// The id of a message that is no JSON, or is too long: the value of `id` in the outermost object, if it is a text or a
/// number. The message may be cut off after it.
pub(super) fn id_of(message: &str) -> Id {
    raw_id(message).map_or_else(Id::null, |id| Id(id.to_owned()))
}

/// The text of the value of `id` in the outermost object, if that can be the id of an answer.
fn raw_id(message: &str) -> Option<&str> {
    let bytes = message.as_bytes();
    let (mut at, mut depth, mut is_key) = (0, 0_usize, false);
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'"' => {
                let end = end_of_text(bytes, at);
                if depth == 1 && is_key && bytes.get(at..end) == Some(b"\"id\"") {
                    return value_at(message, end);
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
    None
}

/// The index after a JSON string that begins here.
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

/// The text or number after the next colon.
fn value_at(message: &str, start: usize) -> Option<&str> {
    let rest = message.get(start..)?.trim_start().strip_prefix(':')?.trim_start();
    let end = match rest.starts_with('"') {
        true => end_of_text(rest.as_bytes(), 0),
        false => rest.find([',', '}', ' ', '\t', '\r', '\n'])?,
    };
    let found = rest.get(..end)?;
    serde_json::from_str(found).is_ok_and(|id| is_id(&id)).then_some(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_id_of_a_message_of_invalid_json_is_found() {
        let deep = format!("{{\"params\":{},\"id\":\"d\"}}", "[".repeat(200) + &"]".repeat(200));
        for (message, id) in [
            (r#"{"jsonrpc":"2.0","id":7,"method":"ping","params":{"x":"\ud800"}}"#, "7"),
            (r#"{"params":{"id":1,"x":["id",{"id":2}]},"id" : "a\"b","y":NaN}"#, r#""a\"b""#),
            (r#"{"jsonrpc":"2.0","id":-2.5,"params":{"x":"#, "-2.5"),
            (&deep, "\"d\""),
            (r#"{"x":"id","id":null,"y":NaN}"#, "null"),
            (r#"{"id":18446744073709551615,"y":NaN}"#, "18446744073709551615"),
            (r#"{"id":18446744073709551616,"y":NaN}"#, "null"),
            (r#"{"id":12"#, "null"),
            (r#"{"id":"12"#, "null"),
            (r#"[{"id":1},NaN]"#, "null"),
            (r#"{"x":"\"#, "null"),
            ("hello", "null"),
            (r#"{"id":-0,"y":NaN}"#, "-0"),
        ] {
            assert_eq!(id_of(message).to_string(), id, "{message}");
        }
    }

    #[test]
    fn a_duplicate_key_is_refused_at_any_depth() {
        for (message, key) in [
            (r#"{"id":1,"id":2}"#, "`id`"),
            (r#"{"params":{"a":[{"x at line 1":1,"x at line 1":1}]}}"#, "`x at line 1`"),
            (r#"{"a":1,"\u0061":1}"#, "`a`"),
        ] {
            let error = read_once(message).expect_err(message);
            assert_eq!(doubled_key(&error).as_deref(), Some(key), "{message}");
        }
        for message in [r#"{"a":{"a":1},"b":[{"a":1},{"a":2}],"c":[null,true,-1.5e3,"x"]}"#, "[1,2]", "7"] {
            let read = read_once(message).expect(message);
            assert_eq!(read, serde_json::from_str::<Json>(message).expect(message), "{message}");
        }
        for message in ["{", "{}x", "nope", r#"{"a":}"#] {
            assert_eq!(doubled_key(&read_once(message).expect_err(message)), None, "{message}");
        }
    }
}
