//! Typed values out of JSON and TOML. An error names the path of the key that does not fit.

use serde::Deserialize;
use serde::de::{DeserializeOwned, Deserializer, Error as _};
use serde_json::error::Category;

use super::problem::Problem;
use super::quoted::quoted;
use super::source::Source;

/// Reads a value from a JSON text.
///
/// # Errors
///
/// A sentence: where the text stops being JSON, or the path of the key that does not fit and what it takes.
pub fn read_json<T: DeserializeOwned>(text: &[u8]) -> Result<T, String> {
    serde_json::from_slice(text).map_err(|error| match error.classify() {
        Category::Data => {
            let mut json = serde_json::Deserializer::from_slice(text);
            serde_path_to_error::deserialize::<_, T>(&mut json).map_or_else(said, |_| error.to_string())
        }
        Category::Io | Category::Syntax | Category::Eof => {
            format!("it is no JSON from line {}, column {} on", error.line(), error.column())
        }
    })
}

/// Reads a value from a JSON value.
///
/// # Errors
///
/// As [`read_json`].
pub fn read_json_value<T: DeserializeOwned>(json: serde_json::Value) -> Result<T, String> {
    serde_path_to_error::deserialize(json).map_err(said)
}

/// Reads a member of a structure; an error inside it names the path of the key, from this member on. For
/// `#[serde(deserialize_with)]`.
///
/// # Errors
///
/// As those of the type.
pub fn with_path<'de, T: Deserialize<'de>, D: Deserializer<'de>>(from: D) -> Result<T, D::Error> {
    serde_path_to_error::deserialize(from).map_err(|error| D::Error::custom(said(error)))
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

fn said<E: std::fmt::Display>(error: serde_path_to_error::Error<E>) -> String {
    match key_of(&error) {
        Some(key) => format!("{key}: {}", error.inner()),
        None => error.into_inner().to_string(),
    }
}

/// The path of the key; `None` for the whole value.
fn key_of<E>(error: &serde_path_to_error::Error<E>) -> Option<String> {
    error.path().iter().next()?;
    Some(quoted(&error.path().to_string()))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

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
