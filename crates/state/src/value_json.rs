//! Values as plain JSON: numbers, texts, lists and objects.
//!
//! JSON has no references and no fractions: `{"entity": 7}` is an entity, `{"ratio": "1/2"}` a ratio. A map that looks
//! like one of these is written as `{"map": {...}}`.
//!
//! Saved games keep their original form, in which each value names its type: see [`in_stored_form`].

use std::cell::Cell;
use std::collections::BTreeMap;
use std::sync::Arc;

use serde::de::{Deserialize, Deserializer, Error};
use serde::ser::{Serialize, SerializeMap as _, Serializer};
use serde_json::Value as Json;

use super::{EntityId, LARGEST_NUMBER, Value};

type Items = BTreeMap<Arc<str>, Value>;

const ENTITY: &str = "entity";
const RATIO: &str = "ratio";
const MAP: &str = "map";

/// True if a map looks like the encoding of another value.
fn is_ambiguous(items: &Items) -> bool {
    items.len() == 1 && items.keys().all(|key| matches!(&**key, ENTITY | RATIO | MAP))
}

fn tagged<S: Serializer>(serializer: S, tag: &str, content: &(impl Serialize + ?Sized)) -> Result<S::Ok, S::Error> {
    let mut map = serializer.serialize_map(Some(1))?;
    map.serialize_entry(tag, content)?;
    map.end()
}

thread_local! {
    /// True while values are read and written in the form of saved games.
    static STORED: Cell<bool> = const { Cell::new(false) };
}

/// Runs `work` with the value format of saved games: each value names its type, as in `{"int": 3}`.
pub fn in_stored_form<R>(work: impl FnOnce() -> R) -> R {
    struct Before(bool);
    impl Drop for Before {
        fn drop(&mut self) {
            STORED.set(self.0);
        }
    }
    let _before = Before(STORED.replace(true));
    work()
}

/// A value in the format of saved games: the form that serde derives, with the same variants.
#[derive(serde::Serialize, serde::Deserialize)]
#[serde(remote = "Value", rename_all = "snake_case")]
enum Stored {
    None,
    Bool(bool),
    Int(i64),
    Ratio(i64, i64),
    Text(Arc<str>),
    Entity(EntityId),
    List(Arc<[Value]>),
    Map(Arc<Items>),
}

impl Serialize for Value {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if STORED.get() {
            return Stored::serialize(self, serializer);
        }
        match self {
            Value::None => serializer.serialize_unit(),
            Value::Bool(yes) => serializer.serialize_bool(*yes),
            Value::Int(n) => serializer.serialize_i64(*n),
            Value::Ratio(n, d) => tagged(serializer, RATIO, &format!("{n}/{d}")),
            Value::Text(text) => serializer.serialize_str(text),
            Value::Entity(id) => tagged(serializer, ENTITY, id),
            Value::List(items) => serializer.collect_seq(items.iter()),
            Value::Map(items) if is_ambiguous(items) => tagged(serializer, MAP, &**items),
            Value::Map(items) => serializer.collect_map(items.iter()),
        }
    }
}

impl<'de> Deserialize<'de> for Value {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Value, D::Error> {
        if STORED.get() {
            return Stored::deserialize(deserializer);
        }
        plain(Json::deserialize(deserializer)?).map_err(D::Error::custom)
    }
}

/// Converts plain JSON to a value.
fn plain(json: Json) -> Result<Value, String> {
    match json {
        Json::Null => Ok(Value::None),
        Json::Bool(yes) => Ok(Value::Bool(yes)),
        Json::Number(n) => whole(&n).map(Value::Int),
        Json::String(text) => Ok(Value::text(text)),
        Json::Array(items) => Ok(Value::list(items.into_iter().map(plain).collect::<Result<Vec<_>, _>>()?)),
        Json::Object(mut items) => match items.keys().next().map(String::as_str) {
            Some(ENTITY) if items.len() == 1 => {
                let id = items[ENTITY].as_u64().and_then(|id| u32::try_from(id).ok());
                let id = id.ok_or_else(|| format!("`entity` takes a number, not `{}`", items[ENTITY]))?;
                Ok(Value::Entity(EntityId(id)))
            }
            Some(RATIO) if items.len() == 1 => {
                let parts = items[RATIO].as_str().and_then(|text| text.split_once('/'));
                let ratio = parts.and_then(|(n, d)| Value::ratio(n.trim().parse().ok()?, d.trim().parse().ok()?));
                ratio.ok_or_else(|| format!("`ratio` takes a text such as \"1/2\", not `{}`", items[RATIO]))
            }
            Some(MAP) if items.len() == 1 && items[MAP].is_object() => match items.remove(MAP) {
                Some(Json::Object(inner)) => plain_map(inner),
                _ => Ok(Value::map::<&str>([])),
            },
            _ => plain_map(items),
        },
    }
}

/// Converts an object to a map, whatever its keys.
fn plain_map(items: serde_json::Map<String, Json>) -> Result<Value, String> {
    let items = items.into_iter().map(|(key, json)| Ok((Arc::from(key), plain(json)?)));
    Ok(Value::Map(Arc::new(items.collect::<Result<Items, String>>()?)))
}

fn whole(n: &serde_json::Number) -> Result<i64, String> {
    match (n.as_i64(), n.as_f64()) {
        (Some(n), _) => Ok(n),
        (None, Some(float)) if float.fract() == 0.0 && float.abs() <= LARGEST_NUMBER as f64 => Ok(float as i64),
        (None, Some(float)) if float.fract() != 0.0 => {
            Err(format!("{n} is not a whole number; a fraction is written as {{\"ratio\": \"1/2\"}}"))
        }
        (None, Some(float)) if float < 0.0 => {
            Err(format!("{n} is too small; whole numbers begin at -{LARGEST_NUMBER}"))
        }
        _ => Err(format!("{n} is too large; whole numbers go to {LARGEST_NUMBER}")),
    }
}

#[cfg(feature = "serve")]
impl schemars::JsonSchema for Value {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Value".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "description": "Plain JSON. {\"entity\": 7} is an entity, {\"ratio\": \"1/2\"} a fraction; a map with one of these \
                            keys alone is written as {\"map\": {...}}. Numbers are whole.",
            "type": ["null", "boolean", "integer", "string", "array", "object"],
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_plain_json_and_come_back_as_they_were() {
        let one = |key: &str, value: Value| Value::map([(key, value)]);
        let values = [
            (Value::None, "null"),
            (Value::Bool(true), "true"),
            (Value::Int(-7), "-7"),
            (Value::Ratio(1, 2), r#"{"ratio":"1/2"}"#),
            (Value::text("map"), r#""map""#),
            (Value::Entity(EntityId(7)), r#"{"entity":7}"#),
            (Value::list([Value::Int(1), Value::None]), "[1,null]"),
            (one("hp", Value::Int(3)), r#"{"hp":3}"#),
            (one("entity", Value::Int(7)), r#"{"map":{"entity":7}}"#),
            (one("map", one("map", Value::Int(7))), r#"{"map":{"map":{"map":{"map":7}}}}"#),
            (one("map", Value::Entity(EntityId(7))), r#"{"map":{"map":{"entity":7}}}"#),
            (
                Value::map([("map", one("ratio", Value::Int(1))), ("x", Value::Int(1))]),
                r#"{"map":{"map":{"ratio":1}},"x":1}"#,
            ),
        ];
        for (value, text) in values {
            assert_eq!(serde_json::to_string(&value).unwrap(), text);
            assert_eq!(serde_json::from_str::<Value>(text).unwrap(), value, "{text}");
        }
        for wrong in ["1.5", "1e300", "99999999999999999999", r#"{"entity":"x"}"#, r#"{"ratio":"1/0"}"#] {
            assert!(serde_json::from_str::<Value>(wrong).is_err(), "{wrong}");
        }
        assert_eq!(serde_json::from_str::<Value>("2.0").unwrap(), Value::Int(2));
    }

    #[test]
    fn saved_games_keep_the_form_that_names_types() {
        let value = Value::map([("hp", Value::Int(3)), ("of", Value::list([Value::None, Value::Entity(EntityId(7))]))]);
        let text = r#"{"map":{"hp":{"int":3},"of":{"list":["none",{"entity":7}]}}}"#;
        assert_eq!(in_stored_form(|| serde_json::to_string(&value)).unwrap(), text);
        assert_eq!(in_stored_form(|| serde_json::from_str::<Value>(text)).unwrap(), value);
        assert_eq!(serde_json::to_string(&Value::Int(3)).unwrap(), "3");
    }
}
