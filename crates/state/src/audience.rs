use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::{Entity, EntityId, FieldId, KindId, Schema, State, Type, Value};

/// The viewers who may see something. The game master sees everything.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub enum Audience {
    /// Everybody, watchers included.
    #[default]
    Everybody,
    /// These seats; if empty, the game master alone.
    Only(BTreeSet<Arc<str>>),
}

/// A ruleset's declaration of the audience of an entity or field.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum AudienceRule {
    /// A fixed audience.
    Fixed(Audience),
    /// The seats at the end of this path of fields, which begins at the entity itself. The last field is a text with
    /// one seat, or a list of texts; all others are references.
    Path(Vec<Arc<str>>),
}

/// The word for everybody in place of a seat.
pub const EVERYBODY: &str = "everybody";
/// The word for nobody but the game master in place of a seat.
pub const NOBODY: &str = "nobody";

impl Audience {
    /// The game master alone.
    pub fn nobody() -> Audience {
        Audience::Only(BTreeSet::new())
    }

    /// Parses a seat, `everybody`, `nobody`, or an empty text, which means nobody.
    pub fn named(word: &str) -> Audience {
        match word {
            EVERYBODY => Audience::Everybody,
            NOBODY | "" => Audience::nobody(),
            seat => Audience::Only(BTreeSet::from([Arc::from(seat)])),
        }
    }

    /// The union of several named audiences.
    pub fn of(words: impl IntoIterator<Item = impl AsRef<str>>) -> Audience {
        words.into_iter().fold(Audience::nobody(), |all, word| all.or(&Audience::named(word.as_ref())))
    }

    /// True if everybody belongs to the audience.
    pub fn is_everybody(&self) -> bool {
        *self == Audience::Everybody
    }

    /// The intersection of two audiences.
    pub fn and(self, other: &Audience) -> Audience {
        match (self, other) {
            (Audience::Everybody, other) => other.clone(),
            (own, Audience::Everybody) => own,
            (Audience::Only(own), Audience::Only(other)) => Audience::Only(own.intersection(other).cloned().collect()),
        }
    }

    /// The union of two audiences.
    pub fn or(self, other: &Audience) -> Audience {
        match (self, other) {
            (Audience::Only(own), Audience::Only(other)) => Audience::Only(own.union(other).cloned().collect()),
            _ => Audience::Everybody,
        }
    }

    /// The audience with one more seat.
    pub fn with(self, seat: &Arc<str>) -> Audience {
        match self {
            Audience::Everybody => Audience::Everybody,
            Audience::Only(mut seats) => {
                seats.insert(seat.clone());
                Audience::Only(seats)
            }
        }
    }
}

impl fmt::Display for Audience {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Audience::Everybody => f.write_str(EVERYBODY),
            Audience::Only(seats) if seats.is_empty() => f.write_str(NOBODY),
            Audience::Only(seats) => f.write_str(&seats.iter().map(|seat| &**seat).collect::<Vec<_>>().join(", ")),
        }
    }
}

#[cfg(feature = "serve")]
impl schemars::JsonSchema for Audience {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Audience".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "description": "Who may see something: null for everybody, one seat, or a list of seats.",
            "anyOf": [
                { "type": "null" },
                { "type": "string" },
                { "type": "array", "items": { "type": "string" } }
            ]
        })
    }
}

/// Everybody is `null`, one seat a text, any other number of seats a list.
impl Serialize for Audience {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Audience::Everybody => serializer.serialize_none(),
            Audience::Only(seats) => match seats.first() {
                Some(only) if seats.len() == 1 => serializer.serialize_str(only),
                _ => seats.serialize(serializer),
            },
        }
    }
}

impl<'de> Deserialize<'de> for Audience {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Audience, D::Error> {
        match serde_json::Value::deserialize(deserializer)? {
            serde_json::Value::Null => Ok(Audience::Everybody),
            serde_json::Value::String(seat) => Ok(Audience::Only(BTreeSet::from([Arc::from(seat)]))),
            serde_json::Value::Array(seats) => {
                let texts = seats.iter().map(|seat| seat.as_str().map(Arc::from));
                let texts: Option<BTreeSet<Arc<str>>> = texts.collect();
                texts.map(Audience::Only).ok_or_else(|| D::Error::custom("an audience is a list of seats"))
            }
            _ => Err(D::Error::custom("an audience is null, a seat or a list of seats")),
        }
    }
}

impl fmt::Display for AudienceRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            AudienceRule::Fixed(audience) => audience.fmt(f),
            AudienceRule::Path(path) => f.write_str(&path.join(".")),
        }
    }
}

impl Serialize for AudienceRule {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl Schema {
    /// True if the schema declares an audience for any kind or field.
    pub fn has_secrets(&self) -> bool {
        self.kinds
            .iter()
            .any(|kind| kind.audience.is_some() || kind.fields.iter().any(|field| field.audience.is_some()))
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

impl State {
    /// The audience of an entity. Everybody if it does not exist. A relation is seen by those who see all its ends.
    pub fn audience(&self, schema: &Schema, id: EntityId) -> Audience {
        self.entity(id).map_or(Audience::Everybody, |entity| self.audience_of(schema, entity))
    }

    /// The audience that an entity with these fields would have.
    pub fn audience_of(&self, schema: &Schema, entity: &Entity) -> Audience {
        self.audience_with(schema, entity, None)
    }

    /// The audience of an entity. `other`: a value to use for a field of an existing entity.
    fn audience_with(&self, schema: &Schema, entity: &Entity, other: Option<(EntityId, FieldId, &Value)>) -> Audience {
        let kind = schema.kind(entity.kind);
        let own = kind.audience.as_ref().map_or(Audience::Everybody, |rule| self.resolved(schema, entity, rule, other));
        kind.relates.iter().fold(own, |own, end| match entity.fields.get(end.0 as usize) {
            Some(Value::Entity(end)) => own.and(&self.audience(schema, *end)),
            _ => own,
        })
    }

    /// The audience of a field of an entity. `was`: an earlier value of the field, to compute the audience at that
    /// time.
    pub fn field_audience(&self, schema: &Schema, id: EntityId, field: FieldId, was: Option<&Value>) -> Audience {
        let Some(entity) = self.entity(id) else { return Audience::Everybody };
        let other = was.map(|was| (id, field, was));
        let whole = self.audience_with(schema, entity, other);
        let declared = schema.kind(entity.kind).fields.get(field.0 as usize);
        match declared.and_then(|declared| declared.audience.as_ref()) {
            Some(rule) => whole.and(&self.resolved(schema, entity, rule, other)),
            None => whole,
        }
    }

    /// The viewers who see every entity in a value.
    pub fn value_audience(&self, schema: &Schema, value: &Value) -> Audience {
        let mut audience = Audience::Everybody;
        value.each_entity(&mut |id| audience = std::mem::take(&mut audience).and(&self.audience(schema, id)));
        audience
    }

    /// Follows the path of a rule from an entity. `other`: a value to use for one of the fields.
    fn resolved(
        &self,
        schema: &Schema,
        entity: &Entity,
        rule: &AudienceRule,
        other: Option<(EntityId, FieldId, &Value)>,
    ) -> Audience {
        let path = match rule {
            AudienceRule::Fixed(audience) => return audience.clone(),
            AudienceRule::Path(path) => path,
        };
        let changed = other.and_then(|(id, field, value)| Some((self.entity(id)?, field, value)));
        let mut at = Some(entity);
        for name in path {
            let value = at.and_then(|entity| {
                let field = schema.kind(entity.kind).field_named(name)?;
                match changed {
                    Some((of, at, value)) if std::ptr::eq(of, entity) && at == field => Some(value),
                    _ => entity.fields.get(field.0 as usize),
                }
            });
            match value {
                Some(Value::Entity(next)) => at = self.entity(*next),
                Some(Value::Text(seat)) => return Audience::named(seat),
                Some(Value::List(seats)) => return Audience::of(seats.iter().filter_map(Value::as_text)),
                _ => return Audience::nobody(),
            }
        }
        Audience::nobody()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Field, Kind};

    #[test]
    fn an_audience_is_written_as_it_is_read() {
        for (audience, text) in [
            (Audience::Everybody, "null"),
            (Audience::nobody(), "[]"),
            (Audience::named("south"), "\"south\""),
            (Audience::of(["south", "north"]), "[\"north\",\"south\"]"),
        ] {
            assert_eq!(serde_json::to_string(&audience).unwrap(), text);
            assert_eq!(serde_json::from_str::<Audience>(text).unwrap(), audience);
        }
    }

    #[test]
    fn audiences_are_intersected_and_united() {
        let (north, both) = (Audience::named("north"), Audience::of(["north", "south"]));
        assert_eq!(north.clone().and(&both), north);
        assert_eq!(north.clone().or(&both), both);
        assert_eq!(north.clone().and(&Audience::named("south")), Audience::nobody());
        assert_eq!(north.clone().and(&Audience::Everybody), north);
        assert!(north.or(&Audience::Everybody).is_everybody());
    }

    /// A bond to an imp that only north sees. A field of the bond determines the audience of the bond.
    #[test]
    fn a_change_of_a_relation_is_for_those_who_see_its_ends() {
        let field = |name: &str, ty: Type| Field {
            name: name.into(),
            label: name.into(),
            ty,
            default: Value::None,
            show: true,
            said: false,
            audience: None,
            peek: true,
            by_hand: false,
            origin: "".into(),
        };
        let path = |name: &str| Some(AudienceRule::Path(vec![name.into()]));
        let fields = vec![field("imp", Type::Ref(None)), field("seen_by", Type::Text)];
        let (audience, relates) = (path("seen_by"), vec![FieldId(0)]);
        let bond = Kind { name: "bond".into(), fields, audience, relates, ..Kind::default() };
        let (fields, audience) = (vec![field("owner", Type::Text)], path("owner"));
        let imp = Kind { name: "imp".into(), fields, audience, ..Kind::default() };
        let schema = Schema { kinds: vec![bond, imp] };
        let mut state = State::new();
        let imp = state.spawn(Entity { kind: KindId(1), fields: vec!["north".into()] });
        let bond = state.spawn(Entity { kind: KindId(0), fields: vec![imp.into(), "east".into()] });
        let before = |seat: &str| state.field_audience(&schema, bond, FieldId(1), Some(&Value::text(seat)));
        assert_eq!(before("south"), Audience::nobody());
        assert_eq!(before("north"), Audience::named("north"));
    }
}
