use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

/// Identifies an entity of one game, never used twice in a game: 1, 2, 3 … in the order of creation. Entities that are
/// secret when they are made have numbers above a million, which do not reveal how many there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
#[cfg_attr(feature = "serve", derive(schemars::JsonSchema))]
pub struct EntityId(pub u32);

impl fmt::Display for EntityId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "#{}", self.0)
    }
}

/// The value of a field, an argument or an attachment: plain data, whole numbers only.
#[derive(Debug, Default, PartialEq, Eq, Hash)]
pub enum Value {
    /// An empty reference.
    #[default]
    None,
    /// True or false.
    Bool(bool),
    /// A whole number, at most [`LARGEST_NUMBER`] away from zero.
    Int(i64),
    /// A fraction: numerator and denominator, reduced, with a positive denominator.
    Ratio(i64, i64),
    /// A text.
    Text(Arc<str>),
    /// An entity.
    Entity(EntityId),
    /// A list.
    List(Arc<[Value]>),
    /// Values by name.
    Map(Arc<BTreeMap<Arc<str>, Value>>),
}

impl Clone for Value {
    #[inline]
    fn clone(&self) -> Value {
        match self {
            Value::None => Value::None,
            Value::Bool(yes) => Value::Bool(*yes),
            Value::Int(n) => Value::Int(*n),
            Value::Ratio(n, d) => Value::Ratio(*n, *d),
            Value::Text(text) => Value::Text(text.clone()),
            Value::Entity(id) => Value::Entity(*id),
            Value::List(items) => Value::List(items.clone()),
            Value::Map(items) => Value::Map(items.clone()),
        }
    }

    /// Like `clone`, but does not touch the reference count if both share the same text, list or map.
    #[inline]
    fn clone_from(&mut self, other: &Value) {
        let same = match (&mut *self, other) {
            (Value::Int(own), Value::Int(other)) => return *own = *other,
            (Value::Bool(own), Value::Bool(other)) => return *own = *other,
            (Value::Entity(own), Value::Entity(other)) => return *own = *other,
            (Value::None, Value::None) => return,
            (Value::Text(own), Value::Text(other)) => Arc::ptr_eq(own, other),
            (Value::List(own), Value::List(other)) => Arc::ptr_eq(own, other),
            (Value::Map(own), Value::Map(other)) => Arc::ptr_eq(own, other),
            _ => false,
        };
        if !same {
            *self = other.clone();
        }
    }
}

impl Value {
    /// A text.
    pub fn text(text: impl AsRef<str>) -> Value {
        Value::Text(Arc::from(text.as_ref()))
    }

    /// A list.
    pub fn list(items: impl IntoIterator<Item = Value>) -> Value {
        Value::List(items.into_iter().collect())
    }

    /// Values by name.
    pub fn map<K: AsRef<str>>(items: impl IntoIterator<Item = (K, Value)>) -> Value {
        Value::Map(Arc::new(items.into_iter().map(|(key, value)| (Arc::from(key.as_ref()), value)).collect()))
    }

    /// The fraction n/d in lowest terms; `None` when d is zero.
    pub fn ratio(n: i64, d: i64) -> Option<Value> {
        let common = i128::from(gcd(n.unsigned_abs(), d.unsigned_abs()).max(1)) * i128::from(d.signum());
        // The smallest `i64` has no positive counterpart.
        let part = |of: i64| i64::try_from(i128::from(of).checked_div(common)?).ok();
        Some(Value::Ratio(part(n)?, part(d)?))
    }

    /// Parses a fraction such as `2/3`, or `2` for 2/1. `None` for other texts.
    pub fn read_ratio(text: &str) -> Option<Value> {
        let (n, d) = text.split_once('/').unwrap_or((text, "1"));
        Value::ratio(n.trim().parse().ok()?, d.trim().parse().ok()?)
    }

    /// A deep copy that shares nothing with this value: threads with shared reference counts slow each other down.
    #[doc(hidden)]
    pub fn apart(&self) -> Value {
        match self {
            Value::Text(text) => Value::text(text),
            Value::List(items) => Value::list(items.iter().map(Value::apart)),
            Value::Map(items) => Value::map(items.iter().map(|(key, item)| (key, item.apart()))),
            plain => plain.clone(),
        }
    }

    /// Iterates over this value and all values inside it, with their nesting depth.
    fn walk(&self) -> impl Iterator<Item = (&Value, usize)> {
        let mut waiting = vec![(self, 0)];
        std::iter::from_fn(move || {
            let (value, depth) = waiting.pop()?;
            match value {
                Value::List(items) => waiting.extend(items.iter().map(|item| (item, depth + 1))),
                Value::Map(items) => waiting.extend(items.values().map(|item| (item, depth + 1))),
                _ => {}
            }
            Some((value, depth))
        })
    }

    /// The reason why no game can hold the value. `None` if it is valid.
    #[doc(hidden)]
    pub fn unfit(&self) -> Option<&'static str> {
        self.walk().find_map(|(value, depth)| match value {
            _ if depth > Value::DEEPEST => Some("lists and maps lie in one another more than 100 levels deep"),
            Value::Int(n) if n.unsigned_abs() > EXACT => Some("a number is further from zero than 2^53 - 1"),
            Value::Ratio(n, d) if *d < 1 || n.unsigned_abs() > EXACT || d.unsigned_abs() > EXACT => {
                Some("a fraction has a part further from zero than 2^53 - 1, or a denominator below 1")
            }
            Value::Text(text) if text.len() > LONGEST => Some("a text is longer than 256 KiB"),
            _ => None,
        })
    }

    /// Refuses a value from an embedder that no game can hold. The caller must not drop the value then, since dropping
    /// recurses as deep as it is nested.
    #[doc(hidden)]
    pub fn must_fit<'v>(values: impl IntoIterator<Item = &'v Value>) -> Result<(), String> {
        match values.into_iter().find_map(Value::unfit) {
            Some(why) => Err(format!("this value cannot be in a game: {why}")),
            None => Ok(()),
        }
    }

    /// True if lists and maps are nested deeper than a game can hold.
    #[doc(hidden)]
    pub fn is_too_deep(&self) -> bool {
        self.walk().any(|(_, depth)| depth > Value::DEEPEST)
    }

    /// The deepest nesting of lists and maps.
    #[doc(hidden)]
    pub const DEEPEST: usize = 100;

    /// The whole number, if it is one.
    pub fn as_int(&self) -> Option<i64> {
        match self {
            Value::Int(n) => Some(*n),
            _ => None,
        }
    }

    /// The text, if it is one.
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Value::Text(text) => Some(text),
            _ => None,
        }
    }

    /// The name of its type in messages to rule authors.
    pub fn type_name(&self) -> &'static str {
        match self {
            Value::None => "nothing",
            Value::Bool(_) => "a boolean",
            Value::Int(_) => "a number",
            Value::Ratio(..) => "a ratio",
            Value::Text(_) => "a text",
            Value::Entity(_) => "an entity",
            Value::List(_) => "a list",
            Value::Map(_) => "a map",
        }
    }

    /// Calls `visit` for every entity that the value refers to, at any depth.
    pub fn each_entity(&self, visit: &mut impl FnMut(EntityId)) {
        match self {
            Value::Entity(id) => visit(*id),
            Value::List(items) => items.iter().for_each(|item| item.each_entity(visit)),
            Value::Map(items) => items.values().for_each(|item| item.each_entity(visit)),
            _ => {}
        }
    }

    /// True if the value refers to an entity that satisfies the condition, at any depth.
    pub fn any_entity(&self, wanted: &impl Fn(EntityId) -> bool) -> bool {
        match self {
            Value::Entity(id) => wanted(*id),
            Value::List(items) => items.iter().any(|item| item.any_entity(wanted)),
            Value::Map(items) => items.values().any(|item| item.any_entity(wanted)),
            _ => false,
        }
    }

    /// Replaces the entities in the value. `None` if `other` returns `None` for one of them.
    pub fn with_entities(&self, other: &mut impl FnMut(EntityId) -> Option<EntityId>) -> Option<Value> {
        Some(match self {
            Value::Entity(id) => Value::Entity(other(*id)?),
            Value::List(items) => {
                Value::List(items.iter().map(|item| item.with_entities(other)).collect::<Option<_>>()?)
            }
            Value::Map(items) => {
                let pairs = items.iter().map(|(key, item)| Some((key.clone(), item.with_entities(other)?)));
                Value::Map(Arc::new(pairs.collect::<Option<_>>()?))
            }
            value => value.clone(),
        })
    }

    /// The value without any reference to `gone`: a plain reference becomes empty, lists and maps lose the element.
    pub fn without_entity(&self, gone: EntityId) -> Value {
        match self {
            Value::Entity(id) if *id == gone => Value::None,
            Value::List(items) => Value::List(
                items.iter().map(|item| item.without_entity(gone)).filter(|item| *item != Value::None).collect(),
            ),
            Value::Map(items) => Value::Map(Arc::new(
                items
                    .iter()
                    .map(|(key, item)| (key.clone(), item.without_entity(gone)))
                    .filter(|(_, item)| *item != Value::None)
                    .collect(),
            )),
            other => other.clone(),
        }
    }
}

/// The largest whole number, 2^53 - 1; the smallest is its negative. Scripts and clients represent all whole numbers in
/// this range exactly.
pub const LARGEST_NUMBER: i64 = (1 << 53) - 1;
/// The largest absolute value of a whole number.
const EXACT: u64 = LARGEST_NUMBER.unsigned_abs();

/// The most bytes of one text.
const LONGEST: usize = 256 * 1024;

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::None => write!(f, "none"),
            Value::Bool(true) => write!(f, "yes"),
            Value::Bool(false) => write!(f, "no"),
            Value::Int(n) => write!(f, "{n}"),
            Value::Ratio(n, d) => write!(f, "{n}/{d}"),
            Value::Text(text) => write!(f, "{text}"),
            Value::Entity(id) => write!(f, "{id}"),
            Value::List(items) if items.is_empty() => write!(f, "none"),
            Value::List(items) => {
                for (at, item) in items.iter().enumerate() {
                    write!(f, "{}{}", if at == 0 { "" } else { ", " }, ValuePart(item))?;
                }
                Ok(())
            }
            Value::Map(items) if items.is_empty() => write!(f, "none"),
            Value::Map(items) => {
                for (at, (key, item)) in items.iter().enumerate() {
                    write!(f, "{}{key}: {}", if at == 0 { "" } else { ", " }, ValuePart(item))?;
                }
                Ok(())
            }
        }
    }
}

/// Formats a value inside a list or map: a nested list or map gets brackets.
struct ValuePart<'a>(&'a Value);

impl fmt::Display for ValuePart<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Value::List(items) if !items.is_empty() => write!(f, "{{{}}}", self.0),
            Value::Map(items) if !items.is_empty() => write!(f, "{{{}}}", self.0),
            value => value.fmt(f),
        }
    }
}

impl From<bool> for Value {
    fn from(value: bool) -> Value {
        Value::Bool(value)
    }
}

impl From<i64> for Value {
    fn from(value: i64) -> Value {
        Value::Int(value)
    }
}

impl From<i32> for Value {
    fn from(value: i32) -> Value {
        Value::Int(i64::from(value))
    }
}

impl From<u32> for Value {
    fn from(value: u32) -> Value {
        Value::Int(i64::from(value))
    }
}

impl From<String> for Value {
    fn from(value: String) -> Value {
        Value::Text(value.into())
    }
}

impl From<Arc<str>> for Value {
    fn from(value: Arc<str>) -> Value {
        Value::Text(value)
    }
}

impl From<EntityId> for Value {
    fn from(value: EntityId) -> Value {
        Value::Entity(value)
    }
}

impl<T: Into<Value>> From<Option<T>> for Value {
    fn from(value: Option<T>) -> Value {
        value.map_or(Value::None, Into::into)
    }
}

impl<T: Into<Value>> From<Vec<T>> for Value {
    fn from(values: Vec<T>) -> Value {
        Value::list(values.into_iter().map(Into::into))
    }
}

impl<K: AsRef<str>, T: Into<Value>> From<BTreeMap<K, T>> for Value {
    fn from(values: BTreeMap<K, T>) -> Value {
        Value::map(values.into_iter().map(|(key, value)| (key, value.into())))
    }
}

impl From<&str> for Value {
    fn from(value: &str) -> Value {
        Value::text(value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ratio_is_kept_in_lowest_terms_with_a_positive_denominator() {
        assert_eq!(Value::ratio(2, -4), Some(Value::Ratio(-1, 2)));
        assert_eq!(Value::ratio(0, 5), Some(Value::Ratio(0, 1)));
        assert_eq!(Value::ratio(1, 0), None);
    }

    #[test]
    fn a_nested_map_is_formatted_with_brackets() {
        let boat = |at: i64| Value::map([("at", Value::Int(at)), ("crew", Value::list([]))]);
        let both = Value::map([("ada", boat(0)), ("bo", Value::list([Value::Int(1), Value::Int(2)]))]);
        assert_eq!(both.to_string(), "ada: {at: 0, crew: none}, bo: {1, 2}");
    }

    #[test]
    fn values_that_no_game_can_hold_are_found_at_any_depth() {
        let deep = (0..20_000).fold(Value::Int(1), |inner, _| Value::list([inner]));
        assert!(deep.is_too_deep());
        // The depth is found before any other problem.
        let deep = Value::list([deep, Value::Int(i64::MIN)]);
        assert!(deep.is_too_deep());
        std::mem::forget(deep); // to take it apart would need a large stack
        let long = Value::text("x".repeat(300_000));
        for value in [Value::Int(i64::MIN), Value::Ratio(1, 0), Value::Ratio(i64::MIN, 1), Value::Ratio(1, -1), long] {
            assert!(value.unfit().is_some() && !value.is_too_deep());
            assert!(Value::map([("a", Value::list([value]))]).unfit().is_some());
        }
        let hundred = (0..100).fold(Value::Int(LARGEST_NUMBER), |inner, _| Value::list([inner]));
        assert_eq!(hundred.unfit(), None);
        assert!(Value::Int(LARGEST_NUMBER + 1).unfit().is_some());
    }

    #[test]
    fn a_removed_entity_leaves_lists_and_empties_references() {
        let (gone, stays) = (Value::Entity(EntityId(1)), Value::Entity(EntityId(2)));
        let list = Value::list([gone.clone(), stays.clone()]);
        assert_eq!(list.without_entity(EntityId(1)), Value::list([stays]));
        assert_eq!(gone.without_entity(EntityId(1)), Value::None);
    }
}
