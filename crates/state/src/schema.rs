use std::collections::BTreeSet;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::audience::AudienceRule;
use super::profile::ProfileRule;
use super::unfit::Unfit;
use super::value::{EntityId, Value};

/// Index of a kind in its [`Schema`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct KindId(#[doc(hidden)] pub u16);

/// Index of a field in its [`Kind`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct FieldId(#[doc(hidden)] pub u16);

/// The kinds of entities that a ruleset declares, in the order of their names.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Schema {
    /// The kinds, in the order of their names.
    pub kinds: Vec<Kind>,
}

/// A kind of entity with its fields, in the order of their names.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Kind {
    /// The name in scripts.
    pub name: Arc<str>,
    /// The text field that names an entity of this kind in messages.
    pub title: Option<FieldId>,
    /// Its fields, in the order of their names.
    pub fields: Vec<Field>,
    /// Names of the derived values, sorted.
    pub derived: Vec<Arc<str>>,
    /// The file of each derived value.
    #[serde(skip)]
    pub derived_origins: Vec<Arc<str>>,
    /// The number of arguments that each derived value takes after the entity; `None` for any number.
    #[serde(skip)]
    pub derived_takes: Vec<Option<u8>>,
    /// True if the ruleset defines the sheet itself.
    pub sheet: bool,
    /// True if the ruleset defines an overview of an entity.
    pub overview: bool,
    /// The audience of an entity of this kind. `None`: everybody.
    pub audience: Option<AudienceRule>,
    /// True if seeing such a secret entity counts as seeing a secret: a seat cannot undo the decision that showed it.
    #[serde(skip_serializing_if = "is_news")]
    pub peek: bool,
    /// For a relation: the references to its ends. None is ever empty, and the relation is removed with any of its
    /// ends.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub relates: Vec<FieldId>,
    /// True if the order of its two ends has no meaning.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub mutual: bool,
    /// True if an entity of this kind can have an end, of the kind `ending`.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub timed: bool,
    /// The facts about its entities that pictures of the game show.
    #[serde(skip_serializing_if = "ProfileRule::is_empty")]
    pub profile: ProfileRule,
}

/// The host's own kind for the end of an entity of a timed kind: one condition that it waits for. Exists if any kind is
/// timed.
pub const ENDING: &str = "ending";

/// A field of a kind.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Field {
    /// The name in scripts.
    pub name: Arc<str>,
    /// The name in messages.
    pub label: Arc<str>,
    /// The type of its values.
    #[serde(rename = "type")]
    pub ty: Type,
    /// The value if none is given.
    pub default: Value,
    /// True if its changes have events and the sheet lists it.
    pub show: bool,
    /// True if the rules describe its changes in their own words: the host reports only changes by an undo.
    pub said: bool,
    /// The audience among those who see the entity. `None`: all of them.
    pub audience: Option<AudienceRule>,
    /// True if seeing a secret value counts as seeing a secret: see [`Kind::peek`].
    #[serde(skip_serializing_if = "is_news")]
    pub peek: bool,
    /// True if the host sets the field to true when the game master edits the game or changes a house rule.
    pub by_hand: bool,
    /// The file that declares it.
    pub origin: Arc<str>,
}

/// True if `peek` has its default.
fn is_news(peek: &bool) -> bool {
    *peek
}

/// The type of a field.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Type {
    /// A whole number within inclusive bounds.
    Int {
        /// The smallest allowed number.
        min: Option<i64>,
        /// The largest allowed number.
        max: Option<i64>,
    },
    /// True or false.
    Bool,
    /// A text.
    Text,
    /// One of these texts.
    Enum(Vec<Arc<str>>),
    /// An entity of this kind (of any kind if `None`), or nothing.
    Ref(Option<Arc<str>>),
    /// A fraction.
    Ratio,
    /// Values of one type, in order.
    List(Box<Type>),
    /// A map from texts to values of one type.
    Map(Box<Type>),
}

impl Schema {
    /// The kind at an index.
    pub fn kind(&self, id: KindId) -> &Kind {
        &self.kinds[id.0 as usize]
    }

    /// True if entities of this kind may be secret.
    pub fn may_hide(&self, kind: KindId) -> bool {
        let declared = self.kind(kind);
        declared.audience.is_some()
            || !declared.relates.is_empty() && self.kinds.iter().any(|kind| kind.audience.is_some())
    }

    /// True if values of this field may be secret.
    pub(crate) fn has_secret(&self, kind: &str, field: &str) -> bool {
        let Some(place) = self.kind_named(kind) else { return false };
        let kind = self.kind(place);
        self.may_hide(place) || kind.field_named(field).is_some_and(|field| kind.field(field).audience.is_some())
    }

    /// The fields that hold the ends of relations, with their kinds.
    pub fn relation_ends(&self) -> impl Iterator<Item = (KindId, FieldId)> {
        (0..).zip(&self.kinds).flat_map(|(at, kind)| kind.relates.iter().map(move |end| (KindId(at), *end)))
    }

    /// The relation of this name whose first end may be an entity of this kind; the name may have spaces instead of
    /// `_`.
    pub fn relation_from(&self, kind: KindId, name: &str) -> Option<KindId> {
        let id = self.kind_named(&name.replace(' ', "_"))?;
        let relation = self.kind(id);
        let [first, _] = relation.relates.as_slice() else { return None };
        let takes = &relation.field(*first).ty;
        (*takes == Type::Ref(Some(self.kind(kind).name.clone()))).then_some(id)
    }

    /// The index of the kind with this name.
    pub fn kind_named(&self, name: &str) -> Option<KindId> {
        let at = self.kinds.binary_search_by(|kind| (*kind.name).cmp(name)).ok()?;
        Some(KindId(at as u16))
    }

    /// True if the schema declares an audience for any kind or field.
    pub fn has_secrets(&self) -> bool {
        self.kinds
            .iter()
            .any(|kind| kind.audience.is_some() || kind.fields.iter().any(|field| field.audience.is_some()))
    }

    /// The fields on which the audience of anything depends, with their kinds.
    pub fn audience_fields(&self) -> BTreeSet<(KindId, FieldId)> {
        let mut fields = BTreeSet::new();
        for (at, kind) in self.kinds.iter().enumerate() {
            for rule in kind.audience_rules() {
                let AudienceRule::Path(path) = rule else { continue };
                let mut at = KindId(at as u16);
                for name in path {
                    let Some(field) = self.kind(at).field_named(name) else { break };
                    fields.insert((at, field));
                    match &self.kind(at).field(field).ty {
                        Type::Ref(Some(next)) => match self.kind_named(next) {
                            Some(next) => at = next,
                            None => break,
                        },
                        _ => break,
                    }
                }
            }
        }
        fields
    }

    /// Checks that an audience rule of a kind leads to seats.
    ///
    /// # Errors
    ///
    /// The problem, as a clause after the name of the declaration.
    #[doc(hidden)]
    pub fn check_audience(&self, kind: KindId, rule: &AudienceRule) -> Result<(), String> {
        let AudienceRule::Path(path) = rule else { return Ok(()) };
        let mut kind = self.kind(kind);
        for (at, name) in path.iter().enumerate() {
            let Some(field) = kind.field_named(name) else {
                return Err(format!("has the audience `{rule}`, but a {} has no field `{name}`", kind.name));
            };
            let last = at + 1 == path.len();
            match &kind.field(field).ty {
                Type::Text | Type::Enum(_) if last => return Ok(()),
                Type::List(of) if last && matches!(**of, Type::Text | Type::Enum(_)) => return Ok(()),
                Type::Ref(Some(next)) if !last => {
                    let Some(next) = self.kind_named(next) else { return Ok(()) };
                    kind = self.kind(next);
                }
                _ if last => {
                    return Err(format!(
                        "has the audience `{rule}`, but `{name}` is {}, which names no seat; a text or a list of texts does",
                        kind.field(field).ty.wanted()
                    ));
                }
                _ => {
                    return Err(format!(
                        "has the audience `{rule}`, but `{name}` does not refer to one kind of entity"
                    ));
                }
            }
        }
        Ok(())
    }
}

impl Kind {
    /// The field at an index.
    pub fn field(&self, id: FieldId) -> &Field {
        &self.fields[id.0 as usize]
    }

    /// The title of an entity with these fields: the value of its title field, or else its kind and number.
    pub fn title_of(&self, id: EntityId, fields: &[Value]) -> Arc<str> {
        match self.title.map(|field| &fields[field.0 as usize]) {
            Some(Value::Text(text)) if !text.is_empty() => text.clone(),
            _ => Arc::from(format!("{} {}", self.name, id.0)),
        }
    }

    /// The audience rules of the kind and of its fields.
    pub fn audience_rules(&self) -> impl Iterator<Item = &AudienceRule> {
        self.audience.iter().chain(self.fields.iter().filter_map(|field| field.audience.as_ref()))
    }

    /// The names of its fields and of its derived values.
    #[doc(hidden)]
    pub fn members(&self) -> impl Iterator<Item = &str> {
        self.fields.iter().map(|field| &*field.name).chain(self.derived.iter().map(|name| &**name))
    }

    /// True if the kind has a derived value of this name.
    #[doc(hidden)]
    pub fn has_derived(&self, name: &str) -> bool {
        self.derived.iter().any(|derived| **derived == *name)
    }

    /// The index of the field with this name.
    pub fn field_named(&self, name: &str) -> Option<FieldId> {
        let at = self.fields.binary_search_by(|field| (*field.name).cmp(name)).ok()?;
        Some(FieldId(at as u16))
    }
}

impl Type {
    /// The default of a field of this type if the ruleset gives none.
    pub fn default_value(&self) -> Value {
        match self {
            Type::Int { min, max } => Value::Int(0.max(min.unwrap_or(i64::MIN)).min(max.unwrap_or(i64::MAX))),
            Type::Bool => Value::Bool(false),
            Type::Text => Value::text(""),
            Type::Enum(values) => values.first().map_or(Value::None, |first| Value::Text(first.clone())),
            Type::Ref(_) => Value::None,
            Type::Ratio => Value::Ratio(0, 1),
            Type::List(_) => Value::list([]),
            Type::Map(_) => Value::map::<&str>([]),
        }
    }

    /// Checks the type of a value, without the bounds of a number.
    ///
    /// # Errors
    ///
    /// As in [`Type::check`].
    #[doc(hidden)]
    pub fn check_sort(&self, value: &Value) -> Result<(), Unfit> {
        match (self, value) {
            (Type::Enum(values), Value::Text(text)) if !values.contains(text) => Err(Unfit::new(self, value)),
            (Type::Int { .. }, Value::Int(_))
            | (Type::Bool, Value::Bool(_))
            | (Type::Text | Type::Enum(_), Value::Text(_))
            | (Type::Ref(_), Value::None | Value::Entity(_))
            | (Type::Ratio, Value::Ratio(..))
            | (Type::List(_), Value::List(_))
            | (Type::Map(_), Value::Map(_)) => Ok(()),
            // An empty script table may be an empty list or an empty map.
            (Type::Map(_), Value::List(items)) if items.is_empty() => Ok(()),
            _ => Err(Unfit::new(self, value)),
        }
    }

    /// Converts a value to the form in which this type stores it: an empty list to an empty map for a map field; a
    /// whole number to n/1 and a list of two whole numbers to n/d for a ratio field.
    pub fn settle(&self, value: Value) -> Value {
        match (self, value) {
            (Type::Ratio, Value::List(parts)) => match parts.as_ref() {
                [Value::Int(n), Value::Int(d)] => Value::ratio(*n, *d).unwrap_or(Value::List(parts)),
                _ => Value::List(parts),
            },
            (Type::Map(_), Value::List(items)) if items.is_empty() => Value::map::<&str>([]),
            (Type::Ratio, Value::Int(n)) => Value::Ratio(n, 1),
            (Type::List(element), Value::List(items)) if !element.is_plain() => {
                Value::List(items.iter().map(|item| element.settle(item.clone())).collect())
            }
            (Type::Map(element), Value::Map(items)) if !element.is_plain() => {
                Value::map(items.iter().map(|(key, item)| (key, element.settle(item.clone()))))
            }
            (_, value) => value,
        }
    }

    /// True if [`Type::settle`] changes no value of this type.
    #[doc(hidden)]
    pub fn is_plain(&self) -> bool {
        matches!(self, Type::Int { .. } | Type::Bool | Type::Text | Type::Enum(_) | Type::Ref(_))
    }

    /// Describes the accepted values.
    pub fn wanted(&self) -> String {
        match self {
            Type::Int { min: None, max: None } => "a whole number".into(),
            Type::Int { min: Some(min), max: None } => format!("a whole number of at least {min}"),
            Type::Int { min: None, max: Some(max) } => format!("a whole number of at most {max}"),
            Type::Int { min: Some(min), max: Some(max) } => format!("a whole number from {min} to {max}"),
            Type::Bool => "true or false".into(),
            Type::Text => "a text".into(),
            Type::Enum(values) => format!("one of {}", values.join(", ")),
            Type::Ref(Some(kind)) if kind.starts_with(['a', 'e', 'i', 'o', 'u']) => format!("an {kind} or nothing"),
            Type::Ref(Some(kind)) => format!("a {kind} or nothing"),
            Type::Ref(None) => "an entity or nothing".into(),
            Type::Ratio => "a fraction such as {2, 3}".into(),
            Type::List(element) => format!("a list, each element {}", element.wanted()),
            Type::Map(element) => format!("a map, each value {}", element.wanted()),
        }
    }
}
