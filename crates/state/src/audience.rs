use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

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

#[cfg(test)]
mod tests {
    use super::*;

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
}
