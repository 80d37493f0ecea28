use std::sync::Arc;

use serde::Serialize;

use super::{FieldId, Kind, KindId, Schema, Type, readable_name};

/// The profile that a kind declares for pictures of its entities: seat, side, numbers and position.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ProfileRule {
    /// The path of fields to the seat that plays an entity; the last field holds the seat's name. Empty if none is
    /// declared.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub seat: Vec<Arc<str>>,
    /// The side to which an entity belongs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub side: Option<SideRule>,
    /// Its numbers, the most important first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub numbers: Vec<NumberRule>,
    /// The position of an entity.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub position: Option<PositionRule>,
}

/// The field that holds the side of an entity.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SideRule {
    /// The field: a text, one of several texts, or a reference to the side.
    pub field: FieldId,
    /// The displayed names of the field's values, where they differ from the values. An empty name means no side.
    pub words: Vec<(Arc<str>, Arc<str>)>,
}

/// A number of an entity.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct NumberRule {
    /// The name of the field or of the derived value.
    pub name: Arc<str>,
    /// The source of its value.
    pub value: NumberSource,
    /// The label for people.
    pub label: Arc<str>,
    /// The current maximum.
    pub most: Option<MostRule>,
    /// The unit, such as `m`.
    pub unit: Option<Arc<str>>,
    /// True if a larger number is worse for the entity.
    pub harm: bool,
    /// True if the number is omitted while it is 0 and its maximum is 0.
    pub nonzero: bool,
}

/// The maximum of a number.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub enum MostRule {
    /// A maximum that is the same for all entities.
    Fixed(i64),
    /// Another number of the entity.
    Of(NumberSource),
}

/// The source of a number.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub enum NumberSource {
    /// A field with a whole number.
    Field(FieldId),
    /// A derived value, computed without further arguments.
    Derived(Arc<str>),
}

/// The fields that hold the position of an entity.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct PositionRule {
    /// The coordinates in the plane.
    pub plane: Option<(FieldId, FieldId)>,
    /// The height.
    pub height: Option<FieldId>,
    /// A reference to the place.
    pub place: Option<FieldId>,
    /// The unit of the displayed coordinates, such as `m`.
    pub unit: Option<Arc<str>>,
    /// The number of field units in a displayed unit; at least 1.
    pub per: u32,
}

impl ProfileRule {
    /// True if nothing is declared.
    pub fn is_empty(&self) -> bool {
        *self == ProfileRule::default()
    }
}

impl NumberRule {
    /// The derived values that the number uses.
    pub fn derived(&self) -> impl Iterator<Item = &Arc<str>> {
        let most = match &self.most {
            Some(MostRule::Of(source)) => Some(source),
            _ => None,
        };
        [Some(&self.value), most].into_iter().flatten().filter_map(|source| match source {
            NumberSource::Derived(name) => Some(name),
            NumberSource::Field(_) => None,
        })
    }
}

impl Kind {
    /// The rule for a number of this name, with the label, maximum and unit that its field declares.
    ///
    /// # Errors
    ///
    /// The problem, as a clause after the name of the kind.
    pub fn number_named(&self, name: &str) -> Result<NumberRule, String> {
        let value = self.number_source(name)?;
        let (name, label, most) = match &value {
            NumberSource::Field(field) => {
                let field = self.field(*field);
                let most = match field.ty {
                    Type::Int { max, .. } => max.map(MostRule::Fixed),
                    _ => None,
                };
                (field.name.clone(), field.label.clone(), most)
            }
            NumberSource::Derived(name) => (name.clone(), Arc::from(readable_name(name)), None),
        };
        Ok(NumberRule { name, value, label, most, unit: None, harm: false, nonzero: false })
    }

    /// The source of the number with this name.
    ///
    /// # Errors
    ///
    /// As [`Kind::number_named`].
    pub fn number_source(&self, name: &str) -> Result<NumberSource, String> {
        if let Some(field) = self.field_named(name) {
            return match &self.field(field).ty {
                Type::Int { .. } => Ok(NumberSource::Field(field)),
                other => Err(format!("names the number `{name}`, and that field takes {}", other.wanted())),
            };
        }
        let derived = self.derived.iter().find(|derived| ***derived == *name).cloned();
        let unknown = || format!("names the number `{name}`, and has no such field or derived value");
        derived.map(NumberSource::Derived).ok_or_else(unknown)
    }
}

/// The field at which the path to a seat ends, though it should lead to a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WrongSeat {
    /// The kind that should have the field.
    pub kind: KindId,
    /// The name of the field.
    pub field: Arc<str>,
    /// Whether the field is the last of the path, and should be a text; the others should be references.
    pub is_last: bool,
    /// The problem, as a clause after the name of the kind with the seat.
    pub message: String,
}

impl Schema {
    /// Checks that the path to the seat of a kind leads to a text.
    ///
    /// # Errors
    ///
    /// The first field of the path that is not there or has a wrong type.
    pub fn check_seat(&self, kind: KindId) -> Result<(), WrongSeat> {
        let mut at_kind = kind;
        let mut kind = self.kind(kind);
        let path = &kind.profile.seat;
        let whole = path.join(".");
        for (at, name) in path.iter().enumerate() {
            let last = at + 1 == path.len();
            let Some(field) = kind.field_named(name) else {
                let message = format!("has the seat `{whole}`, but a {} has no field `{name}`", kind.name);
                return Err(WrongSeat { kind: at_kind, field: name.clone(), is_last: last, message });
            };
            match &kind.field(field).ty {
                Type::Text | Type::Enum(_) if last => {}
                Type::Ref(Some(next)) if !last => match self.kind_named(next) {
                    Some(next) => (at_kind, kind) = (next, self.kind(next)),
                    None => return Ok(()),
                },
                other => {
                    let takes = other.wanted();
                    let wanted = if last { "a text" } else { "an entity of one kind" };
                    let message = format!("has the seat `{whole}`, but `{name}` takes {takes}, not {wanted}");
                    return Err(WrongSeat { kind: at_kind, field: name.clone(), is_last: last, message });
                }
            }
        }
        Ok(())
    }
}
