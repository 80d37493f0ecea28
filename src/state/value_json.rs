//! Values as plain JSON: numbers, texts, lists and objects as they are.
//!
//! JSON has no references and no fractions: `{"entity": 7}` is an entity, `{"ratio": "1/2"}` a ratio. A map that could be
//! mistaken for one of these is written as `{"map": {...}}`.
//!
//! Saved games keep the form that they always had, in which each value names its type: see [`in_stored_form`].

use std::cell::Cell;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde::ser::{Serialize, SerializeMap as _, Serializer};

use super::{EntityId, Value};

type Items = BTreeMap<Arc<str>, Value>;

const ENTITY: &str = "entity";
const RATIO: &str = "ratio";
const MAP: &str = "map";

/// Whether a map looks like one of the objects that stand for something else.
fn is_ambiguous(items: &Items) -> bool {
    items.len() == 1 && items.keys().all(|key| matches!(&**key, ENTITY | RATIO | MAP))
}

fn tagged<S: Serializer>(serializer: S, tag: &str, content: &(impl Serialize + ?Sized)) -> Result<S::Ok, S::Error> {
    let mut map = serializer.serialize_map(Some(1))?;
    map.serialize_entry(tag, content)?;
    map.end()
}

thread_local! {
    /// Whether values are read and written as saved games have them.
    static STORED: Cell<bool> = const { Cell::new(false) };
}

/// Reads or writes a saved game: inside, each value names its type, as in `{"int": 3}`.
pub(crate) fn in_stored_form<R>(work: impl FnOnce() -> R) -> R {
    struct Before(bool);
    impl Drop for Before {
        fn drop(&mut self) {
            STORED.set(self.0);
        }
    }
    let _before = Before(STORED.replace(true));
    work()
}

/// A value as saved games have it.
#[derive(serde::Serialize)]
#[serde(rename_all = "snake_case")]
enum Stored<'v> {
    None,
    Bool(bool),
    Int(i64),
    Ratio(i64, i64),
    Text(&'v str),
    Entity(EntityId),
    List(&'v [Value]),
    Map(&'v Items),
}

/// The same, as it is read.
#[derive(serde::Deserialize)]
#[serde(rename_all = "snake_case")]
enum Kept {
    None,
    Bool(bool),
    Int(i64),
    Ratio(i64, i64),
    Text(Arc<str>),
    Entity(EntityId),
    List(Arc<[Value]>),
    Map(Arc<Items>),
}

impl<'v> From<&'v Value> for Stored<'v> {
    fn from(value: &'v Value) -> Stored<'v> {
        match value {
            Value::None => Stored::None,
            Value::Bool(yes) => Stored::Bool(*yes),
            Value::Int(n) => Stored::Int(*n),
            Value::Ratio(n, d) => Stored::Ratio(*n, *d),
            Value::Text(text) => Stored::Text(text),
            Value::Entity(id) => Stored::Entity(*id),
            Value::List(items) => Stored::List(items),
            Value::Map(items) => Stored::Map(items),
        }
    }
}

impl From<Kept> for Value {
    fn from(kept: Kept) -> Value {
        match kept {
            Kept::None => Value::None,
            Kept::Bool(yes) => Value::Bool(yes),
            Kept::Int(n) => Value::Int(n),
            Kept::Ratio(n, d) => Value::Ratio(n, d),
            Kept::Text(text) => Value::Text(text),
            Kept::Entity(id) => Value::Entity(id),
            Kept::List(items) => Value::List(items),
            Kept::Map(items) => Value::Map(items),
        }
    }
}

impl Serialize for Value {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if STORED.get() {
            return Stored::from(self).serialize(serializer);
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
            return Kept::deserialize(deserializer).map(Value::from);
        }
        deserializer.deserialize_any(Plain)
    }
}

struct Plain;

impl<'de> Visitor<'de> for Plain {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value: null, true, false, a whole number, a text, a list or an object")
    }

    fn visit_unit<E: Error>(self) -> Result<Value, E> {
        Ok(Value::None)
    }

    fn visit_bool<E: Error>(self, yes: bool) -> Result<Value, E> {
        Ok(Value::Bool(yes))
    }

    fn visit_i64<E: Error>(self, n: i64) -> Result<Value, E> {
        Ok(Value::Int(n))
    }

    fn visit_u64<E: Error>(self, n: u64) -> Result<Value, E> {
        i64::try_from(n).map(Value::Int).map_err(|_| E::custom(format!("{n} is too large")))
    }

    fn visit_f64<E: Error>(self, n: f64) -> Result<Value, E> {
        // 2^53: up to there each whole number has a float of its own.
        if n.fract() == 0.0 && n.abs() <= 9_007_199_254_740_992.0 {
            return Ok(Value::Int(n as i64));
        }
        Err(E::custom(format!("{n} is not a whole number; a fraction is written as {{\"ratio\": \"1/2\"}}")))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Value, E> {
        Ok(Value::text(text))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Value, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = seq.next_element()? {
            items.push(item);
        }
        Ok(Value::list(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Value, A::Error> {
        let mut items = Items::new();
        // The content of `{"map": ...}` is a map as it stands, whatever its keys.
        let mut untagged = None;
        while let Some(key) = map.next_key::<Arc<str>>()? {
            if &*key != MAP {
                items.insert(key, map.next_value()?);
                continue;
            }
            match map.next_value()? {
                Untagged::Map(inner) => untagged = Some(inner),
                Untagged::Other(value) => {
                    items.insert(key, value);
                }
            }
        }
        match untagged {
            Some(inner) if items.is_empty() => return Ok(Value::Map(Arc::new(inner))),
            Some(inner) => {
                items.insert(Arc::from(MAP), plain_map(inner).map_err(A::Error::custom)?);
            }
            None => {}
        }
        plain_map(items).map_err(A::Error::custom)
    }
}

/// What an object without the tag `map` means.
fn plain_map(items: Items) -> Result<Value, String> {
    if items.len() == 1 {
        if let Some(of) = items.get(ENTITY) {
            let id = of.as_int().and_then(|id| u32::try_from(id).ok());
            return id
                .map(|id| Value::Entity(EntityId(id)))
                .ok_or_else(|| format!("`entity` takes a number, not `{of}`"));
        }
        if let Some(of) = items.get(RATIO) {
            let parts = of.as_text().and_then(|text| text.split_once('/'));
            let ratio = parts.and_then(|(n, d)| Value::ratio(n.trim().parse().ok()?, d.trim().parse().ok()?));
            return ratio.ok_or_else(|| format!("`ratio` takes a text such as \"1/2\", not `{of}`"));
        }
    }
    Ok(Value::Map(Arc::new(items)))
}

/// The content of `{"map": ...}`.
enum Untagged {
    Map(Items),
    Other(Value),
}

impl<'de> Deserialize<'de> for Untagged {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Untagged, D::Error> {
        struct Raw;
        impl<'de> Visitor<'de> for Raw {
            type Value = Untagged;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                Plain.expecting(f)
            }

            fn visit_unit<E: Error>(self) -> Result<Untagged, E> {
                Plain.visit_unit().map(Untagged::Other)
            }

            fn visit_bool<E: Error>(self, yes: bool) -> Result<Untagged, E> {
                Plain.visit_bool(yes).map(Untagged::Other)
            }

            fn visit_i64<E: Error>(self, n: i64) -> Result<Untagged, E> {
                Plain.visit_i64(n).map(Untagged::Other)
            }

            fn visit_u64<E: Error>(self, n: u64) -> Result<Untagged, E> {
                Plain.visit_u64(n).map(Untagged::Other)
            }

            fn visit_f64<E: Error>(self, n: f64) -> Result<Untagged, E> {
                Plain.visit_f64(n).map(Untagged::Other)
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<Untagged, E> {
                Plain.visit_str(text).map(Untagged::Other)
            }

            fn visit_seq<A: SeqAccess<'de>>(self, seq: A) -> Result<Untagged, A::Error> {
                Plain.visit_seq(seq).map(Untagged::Other)
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Untagged, A::Error> {
                let mut items = Items::new();
                while let Some((key, value)) = map.next_entry()? {
                    items.insert(key, value);
                }
                Ok(Untagged::Map(items))
            }
        }
        deserializer.deserialize_any(Raw)
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
