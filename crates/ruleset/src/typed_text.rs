//! Typed values out of JSON and TOML. An error names the path of the key that does not fit.

use serde::Deserialize as _;
use serde::de::{DeserializeOwned, Deserializer, Error as _};
use serde_json::Value as Json;
use serde_json::error::Category;

use super::json_path::json_path;
use super::problem::Problem;
use super::quoted::quoted;
use super::source::Source;

/// Reads a value from a JSON text.
///
/// # Errors
///
/// A sentence: where the text stops being JSON, or the path of the key that does not fit and what it takes.
pub fn read_json<T: DeserializeOwned>(text: &[u8]) -> Result<T, String> {
    let no_json = |line, column| format!("it is no JSON from line {line}, column {column} on");
    let text = std::str::from_utf8(text).map_err(|error| {
        let (line, column) = place_of(&text[..error.valid_up_to()]);
        no_json(line, column)
    })?;
    serde_json::from_str(text).map_err(|error| match error.classify() {
        Category::Data => misfit(text, &error).map_or_else(|| error.to_string(), |key| format!("{key}: {error}")),
        Category::Io | Category::Syntax | Category::Eof => no_json(error.line(), error.column()),
    })
}

/// Reads a value from a JSON value.
///
/// # Errors
///
/// As [`read_json`], without a place in a text.
pub fn read_json_value<T: DeserializeOwned>(json: Json) -> Result<T, String> {
    T::deserialize(&json).map_err(|error| why_misfit::<T>(&json).unwrap_or_else(|| error.to_string()))
}

/// Says why a JSON value is no value of a type, as [`read_json_value`]; `None` if it is one.
pub fn why_misfit<T: DeserializeOwned>(json: &Json) -> Option<String> {
    // A text has places, which give the path.
    let text = json.to_string();
    let error = serde_json::from_str::<T>(&text).err()?;
    let place = format!(" at line {} column {}", error.line(), error.column());
    let said = error.to_string();
    let said = said.strip_suffix(&place).unwrap_or(&said);
    Some(misfit(&text, &error).map_or_else(|| said.to_owned(), |key| format!("{key}: {said}")))
}

/// Reads a member of a structure; an error inside it names the path of the key, from this member on. For
/// `#[serde(deserialize_with)]`.
///
/// # Errors
///
/// As those of the type.
pub fn with_path<'de, T: DeserializeOwned, D: Deserializer<'de>>(from: D) -> Result<T, D::Error> {
    read_json_value(Json::deserialize(from)?).map_err(D::Error::custom)
}

/// The key of the value in a JSON text that does not fit; `None` for the whole value.
fn misfit(text: &str, error: &serde_json::Error) -> Option<String> {
    let lines: usize = text.split_inclusive('\n').take(error.line().saturating_sub(1)).map(str::len).sum();
    let inside = !error.to_string().starts_with("missing field");
    let path = json_path(text.as_bytes(), lines + error.column(), inside);
    (!path.is_empty()).then(|| quoted(&path))
}

/// The line and the column after a text.
fn place_of(text: &[u8]) -> (usize, usize) {
    let line = text.iter().filter(|byte| **byte == b'\n').count() + 1;
    (line, text.len() - text.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1))
}

/// Reads a value from a TOML text; `path` is shown as its file.
///
/// # Errors
///
/// The place, the path of the key that does not fit, and what it takes.
pub fn read_toml<T: DeserializeOwned>(path: &str, text: &str) -> Result<T, Problem> {
    let problem = |key: Option<String>, error: &toml::de::Error| {
        let key = key.map(|key| format!("{key}: ")).unwrap_or_default();
        let problem = Problem::new(path, format!("cannot be read: {key}{}", error.message()));
        let source = Source::read(path, text.as_bytes()).ok();
        match error.span().zip(source) {
            Some((span, source)) => problem.at(source.position(span.start)),
            None => problem,
        }
    };
    let toml = toml::Deserializer::parse(text).map_err(|error| problem(None, &error))?;
    serde_path_to_error::deserialize(toml).map_err(|error| problem(key_of(&error), error.inner()))
}

/// The path of the key; `None` for the whole value.
fn key_of<E>(error: &serde_path_to_error::Error<E>) -> Option<String> {
    error.path().iter().next()?;
    Some(quoted(&error.path().to_string()))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use serde::Deserialize;

    use super::*;

    #[derive(Debug, Deserialize)]
    struct Shelf {
        #[serde(default)]
        #[allow(dead_code)]
        books: BTreeMap<String, Vec<u32>>,
    }

    #[test]
    fn a_misfit_names_its_key() {
        let wrong = r#"{ "books": { "red": [1, "two"] } }"#;
        let told = read_json::<Shelf>(wrong.as_bytes()).unwrap_err();
        assert_eq!(told, "`books.red[1]`: invalid type: string \"two\", expected u32 at line 1 column 29");
        let value = serde_json::from_str(wrong).unwrap();
        let told = read_json_value::<Shelf>(value).unwrap_err();
        assert_eq!(told, "`books.red[1]`: invalid type: string \"two\", expected u32");
        assert_eq!(read_json::<Shelf>(b"{\n\"books\" 3").unwrap_err(), "it is no JSON from line 2, column 9 on");
        assert!(read_json::<Shelf>(b"3").unwrap_err().starts_with("invalid type: integer `3`, expected struct"));
        assert!(read_json::<Shelf>(br#"{ "books": { "red": [1] } }"#).is_ok());
        assert_eq!(read_json::<Shelf>(b"{\n\"boo\xff").unwrap_err(), "it is no JSON from line 2, column 4 on");
    }

    #[test]
    fn a_missing_or_unknown_member_names_its_object() {
        #[derive(Debug, Deserialize)]
        #[serde(deny_unknown_fields)]
        struct Page {
            #[allow(dead_code)]
            number: u32,
        }
        type Pages = BTreeMap<String, Vec<Page>>;
        let told = |json: &str| read_json_value::<Pages>(serde_json::from_str(json).unwrap()).unwrap_err();
        assert_eq!(told(r#"{"red": [{"number": 1}, {}]}"#), "`red[1]`: missing field `number`");
        assert_eq!(told(r#"{"red": [{"number": 1, "size": 2}]}"#), "`red[0]`: unknown field `size`, expected `number`");
        assert_eq!(told(r#"{"red": [{"number": -1}]}"#), "`red[0].number`: invalid value: integer `-1`, expected u32");
    }

    #[test]
    fn a_misfit_in_toml_has_its_place_as_well() {
        let told = read_toml::<Shelf>("shelf.toml", "[books]\nblue = [1]\nred = [1, \"two\"]\n").unwrap_err();
        let wanted = "shelf.toml:3:11: cannot be read: `books.red[1]`: invalid type: string \"two\", expected u32";
        assert_eq!(told.to_string(), wanted);
        let told = read_toml::<Shelf>("shelf.toml", "books = [\n").unwrap_err();
        assert!(told.to_string().starts_with("shelf.toml:1:"), "{told}");
    }
}
