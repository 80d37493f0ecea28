//! Compact encoding of records: JSON values in which repeated texts and field names are replaced by dictionary numbers.

use std::collections::HashMap;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Number, Value};

use super::error::StoreError;
use riskbreaker_ruleset::typed_text::why_misfit;

/// Longest text in the dictionary, in bytes.
const LONGEST_WORD: usize = 80;
/// The most texts in the dictionary; further ones are written in full.
pub const MOST_WORDS: usize = 60_000;
/// The deepest nesting that is decoded.
const DEEPEST: usize = 100;

const NULL: u8 = 0;
const NO: u8 = 1;
const YES: u8 = 2;
const NATURAL: u8 = 3;
const NEGATIVE: u8 = 4;
const TEXT: u8 = 5;
const WORD: u8 = 6;
const LIST: u8 = 7;
/// An object whose keys are one entry of the dictionary.
const RECORD: u8 = 8;
const MAP: u8 = 9;
const FLOAT: u8 = 10;
/// From this value on, the byte is a number: 0 to 127.
const SMALL: u8 = 0x80;

/// Separates the keys of a record in the dictionary.
const BETWEEN: char = '\u{1f}';

/// The dictionary of a file: texts by number.
#[derive(Clone, Debug, Default)]
pub struct Dictionary {
    texts: Vec<String>,
    numbers: HashMap<String, u32>,
    /// The number of texts that are in the file.
    stored: usize,
    /// Numbers whose texts are lost.
    lost: Vec<u64>,
}

impl Dictionary {
    pub fn of(texts: Vec<String>) -> Dictionary {
        let numbers = texts.iter().enumerate().map(|(at, text)| (text.clone(), at as u32)).collect();
        Dictionary { stored: texts.len(), texts, numbers, lost: Vec::new() }
    }

    /// The dictionary with lost texts: values that need them cannot be decoded.
    pub fn without(mut self, lost: Vec<u64>) -> Dictionary {
        self.lost = lost;
        self
    }

    /// The dictionary for a new file that contains none of its texts yet.
    pub fn unwritten(mut self) -> Dictionary {
        self.stored = 0;
        self
    }

    /// The texts that are not in the file yet, with their numbers.
    pub fn unstored(&self) -> impl Iterator<Item = (usize, &str)> {
        self.texts.iter().enumerate().skip(self.stored).map(|(at, text)| (at, text.as_str()))
    }

    pub fn note_stored(&mut self) {
        self.stored = self.texts.len();
    }

    /// The number of texts that are in the file.
    pub fn stored(&self) -> usize {
        self.stored
    }

    /// Removes all but the first `stored` texts, since the others were not written to the file.
    pub fn drop_behind(&mut self, stored: usize) {
        self.stored = stored;
        self.drop_unstored();
    }

    /// Removes the texts that were not written to the file.
    pub fn drop_unstored(&mut self) {
        for text in self.texts.drain(self.stored..) {
            self.numbers.remove(&text);
        }
    }

    fn number(&mut self, text: &str) -> Option<u32> {
        if let Some(known) = self.numbers.get(text) {
            return Some(*known);
        }
        if text.len() > LONGEST_WORD || self.texts.len() >= MOST_WORDS {
            return None;
        }
        let number = self.texts.len() as u32;
        self.texts.push(text.to_owned());
        self.numbers.insert(text.to_owned(), number);
        Some(number)
    }

    fn text(&self, number: u64) -> Result<&str, StoreError> {
        if self.lost.contains(&number) {
            return Err(broken("a text of the dictionary that is lost"));
        }
        let found = usize::try_from(number).ok().and_then(|at| self.texts.get(at));
        found.map(String::as_str).ok_or_else(|| broken("a text that the dictionary does not have"))
    }

    /// Encodes a value.
    pub fn pack(&mut self, value: &impl Serialize) -> Result<Vec<u8>, StoreError> {
        let value = riskbreaker_state::in_stored_form(|| serde_json::to_value(value))
            .map_err(|error| broken(&error.to_string()))?;
        let mut bytes = Vec::with_capacity(64);
        self.write(&value, &mut bytes);
        Ok(bytes)
    }

    /// Decodes a value.
    pub fn unpack<T: DeserializeOwned>(&self, bytes: &[u8]) -> Result<T, StoreError> {
        let value = self.unpack_value(bytes)?;
        riskbreaker_state::in_stored_form(|| serde_json::from_value(value)).or_else(|error| {
            let value = self.unpack_value(bytes)?;
            let why = riskbreaker_state::in_stored_form(|| why_misfit::<T>(&value));
            Err(broken(&why.unwrap_or_else(|| error.to_string())))
        })
    }

    pub fn unpack_value(&self, bytes: &[u8]) -> Result<Value, StoreError> {
        let mut reader = PackReader { words: self, left: bytes };
        let value = reader.value(0)?;
        if !reader.left.is_empty() {
            return Err(broken("more bytes than it should have"));
        }
        Ok(value)
    }

    /// Replaces the dictionary numbers in an encoded value by their texts, so that equal values have equal bytes in
    /// every file.
    pub fn spelled_out(&self, bytes: &[u8]) -> Result<Vec<u8>, StoreError> {
        let mut reader = PackReader { words: self, left: bytes };
        let mut spelled = Vec::with_capacity(4 * bytes.len());
        reader.spell(0, &mut spelled)?;
        if !reader.left.is_empty() {
            return Err(broken("more bytes than it should have"));
        }
        Ok(spelled)
    }

    fn write(&mut self, value: &Value, bytes: &mut Vec<u8>) {
        match value {
            Value::Null => bytes.push(NULL),
            Value::Bool(yes) => bytes.push(if *yes { YES } else { NO }),
            Value::Number(number) => write_number(number, bytes),
            Value::String(text) => self.write_text(text, bytes),
            Value::Array(items) => {
                bytes.push(LIST);
                write_size(items.len() as u64, bytes);
                items.iter().for_each(|item| self.write(item, bytes));
            }
            Value::Object(items) => {
                let named =
                    |key: &String| !key.is_empty() && key.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_');
                let shape = match items.keys().all(named) {
                    true => {
                        let mut names = String::with_capacity(12 * items.len());
                        for key in items.keys() {
                            names.push(BETWEEN);
                            names.push_str(key);
                        }
                        self.number(&names)
                    }
                    false => None,
                };
                match shape {
                    Some(shape) => {
                        bytes.push(RECORD);
                        write_size(u64::from(shape), bytes);
                        items.values().for_each(|item| self.write(item, bytes));
                    }
                    None => {
                        bytes.push(MAP);
                        write_size(items.len() as u64, bytes);
                        for (key, item) in items {
                            self.write_text(key, bytes);
                            self.write(item, bytes);
                        }
                    }
                }
            }
        }
    }

    fn write_text(&mut self, text: &str, bytes: &mut Vec<u8>) {
        match self.number(text) {
            Some(word) => {
                bytes.push(WORD);
                write_size(u64::from(word), bytes);
            }
            None => spell_text(text, bytes),
        }
    }
}

fn write_number(number: &Number, bytes: &mut Vec<u8>) {
    match (number.as_u64(), number.as_i64(), number.as_f64()) {
        (Some(small), ..) if small < u64::from(SMALL) => bytes.push(SMALL | small as u8),
        (Some(natural), ..) => {
            bytes.push(NATURAL);
            write_size(natural, bytes);
        }
        (_, Some(negative), _) => {
            bytes.push(NEGATIVE);
            write_size(negative.unsigned_abs(), bytes);
        }
        (.., float) => {
            bytes.push(FLOAT);
            bytes.extend(float.unwrap_or_default().to_le_bytes());
        }
    }
}

fn spell_text(text: &str, bytes: &mut Vec<u8>) {
    bytes.push(TEXT);
    write_size(text.len() as u64, bytes);
    bytes.extend(text.as_bytes());
}

/// Appends a number, seven bits to a byte, the low ones first.
fn write_size(mut size: u64, bytes: &mut Vec<u8>) {
    while size >= 0x80 {
        bytes.push(size as u8 | 0x80);
        size >>= 7;
    }
    bytes.push(size as u8);
}

struct PackReader<'w, 'b> {
    words: &'w Dictionary,
    left: &'b [u8],
}

impl<'b> PackReader<'_, 'b> {
    fn byte(&mut self) -> Result<u8, StoreError> {
        let (first, rest) = self.left.split_first().ok_or_else(|| broken("fewer bytes than it should have"))?;
        self.left = rest;
        Ok(*first)
    }

    fn bytes(&mut self, count: u64) -> Result<&'b [u8], StoreError> {
        let count = usize::try_from(count).ok().filter(|count| *count <= self.left.len());
        let (bytes, rest) = self.left.split_at(count.ok_or_else(|| broken("fewer bytes than it should have"))?);
        self.left = rest;
        Ok(bytes)
    }

    fn size(&mut self) -> Result<u64, StoreError> {
        let mut size = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            size |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Ok(size);
            }
        }
        Err(broken("a number that is too long"))
    }

    fn value(&mut self, depth: usize) -> Result<Value, StoreError> {
        if depth > DEEPEST {
            return Err(broken("it is nested too deeply"));
        }
        Ok(match self.byte()? {
            NULL => Value::Null,
            NO => Value::Bool(false),
            YES => Value::Bool(true),
            NATURAL => Value::from(self.size()?),
            NEGATIVE => Value::from(0i64.checked_sub_unsigned(self.size()?).ok_or_else(|| broken("a number"))?),
            FLOAT => {
                let bytes = self.bytes(8)?.try_into().map_err(|_| broken("a number"))?;
                Number::from_f64(f64::from_le_bytes(bytes)).map_or(Value::Null, Value::Number)
            }
            TEXT => {
                let size = self.size()?;
                Value::String(String::from_utf8(self.bytes(size)?.to_vec()).map_err(|_| broken("a text"))?)
            }
            WORD => {
                let word = self.size()?;
                Value::String(self.words.text(word)?.to_owned())
            }
            LIST => {
                let count = self.size()?;
                // Each item takes at least one byte.
                let room = usize::try_from(count).unwrap_or(usize::MAX).min(self.left.len());
                let mut items = Vec::with_capacity(room);
                for _ in 0..count {
                    items.push(self.value(depth + 1)?);
                }
                Value::Array(items)
            }
            RECORD => {
                let shape = self.size()?;
                let words = self.words;
                let mut items = Map::new();
                for name in words.text(shape)?.split(BETWEEN).skip(1) {
                    items.insert(name.to_owned(), self.value(depth + 1)?);
                }
                Value::Object(items)
            }
            MAP => {
                let mut items = Map::new();
                for _ in 0..self.size()? {
                    let Value::String(key) = self.value(depth + 1)? else { return Err(broken("a name")) };
                    items.insert(key, self.value(depth + 1)?);
                }
                Value::Object(items)
            }
            small if small >= SMALL => Value::from(small & 0x7f),
            other => return Err(broken(&format!("the byte {other}"))),
        })
    }
}

impl PackReader<'_, '_> {
    /// Copies a value, with texts in place of dictionary numbers.
    fn spell(&mut self, depth: usize, to: &mut Vec<u8>) -> Result<(), StoreError> {
        if depth > DEEPEST {
            return Err(broken("it is nested too deeply"));
        }
        let words = self.words;
        match self.byte()? {
            kind @ (NATURAL | NEGATIVE) => {
                let size = self.size()?;
                if kind == NEGATIVE && 0i64.checked_sub_unsigned(size).is_none() {
                    return Err(broken("a number"));
                }
                to.push(kind);
                write_size(size, to);
            }
            FLOAT => {
                to.push(FLOAT);
                to.extend(self.bytes(8)?);
            }
            TEXT => {
                let size = self.size()?;
                let text = std::str::from_utf8(self.bytes(size)?).map_err(|_| broken("a text"))?;
                spell_text(text, to);
            }
            WORD => spell_text(words.text(self.size()?)?, to),
            LIST => {
                let count = self.size()?;
                to.push(LIST);
                write_size(count, to);
                for _ in 0..count {
                    self.spell(depth + 1, to)?;
                }
            }
            RECORD => {
                let names = words.text(self.size()?)?.split(BETWEEN).skip(1);
                to.push(MAP);
                write_size(names.clone().count() as u64, to);
                for name in names {
                    spell_text(name, to);
                    self.spell(depth + 1, to)?;
                }
            }
            MAP => {
                let count = self.size()?;
                to.push(MAP);
                write_size(count, to);
                for _ in 0..count {
                    let Value::String(key) = self.value(depth + 1)? else { return Err(broken("a name")) };
                    spell_text(&key, to);
                    self.spell(depth + 1, to)?;
                }
            }
            other if other >= SMALL || matches!(other, NULL | NO | YES) => to.push(other),
            other => return Err(broken(&format!("the byte {other}"))),
        }
        Ok(())
    }
}

fn broken(what: &str) -> StoreError {
    StoreError::Damaged { what: format!("a record cannot be read: {what}") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    #[test]
    fn packed_values_are_read_back() {
        let mut words = Dictionary::default();
        let long = "long ".repeat(40);
        for value in [
            json!(null),
            json!([true, false, 0, 127, 128, -1, i64::MIN, u64::MAX, 1.5]),
            json!({"a": {"b": [], "c": {}}, "d": long, "e": "short"}),
            json!({"1": "x", "Long Sword": {"": 3}}),
            json!("\u{1f}"),
        ] {
            let bytes = words.pack(&value).unwrap();
            assert_eq!(words.unpack_value(&bytes).unwrap(), value);
            assert_eq!(Dictionary::of(words.texts.clone()).unpack_value(&bytes).unwrap(), value);
            // It has the same value, even in a file with other numbers.
            let spelled = words.spelled_out(&bytes).unwrap();
            assert_eq!(Dictionary::default().unpack_value(&spelled).unwrap(), value);
            let mut other = Dictionary::of((0..200).map(|n| n.to_string()).collect());
            let bytes = other.pack(&value).unwrap();
            assert_eq!(other.spelled_out(&bytes).unwrap(), spelled);
        }
    }

    #[test]
    fn repeated_texts_take_few_bytes() {
        let mut words = Dictionary::default();
        let roll = json!({"slot": "roll", "label": "{} tests {}", "dice": "1d10", "faces": [7], "before": {"words": 9, "written": 0}});
        let first = words.pack(&roll).unwrap();
        assert!(first.len() < 20, "{}", first.len());
        assert_eq!(words.pack(&roll).unwrap(), first);
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_or_refused(bytes: Vec<u8>) {
            let mut words = Dictionary::default();
            words.number("one");
            words.number("\u{1f}two");
            assert_eq!(words.unpack_value(&bytes).is_ok(), words.spelled_out(&bytes).is_ok());
        }
    }
}
