//! Profiles of entities for pictures of the game: seat, side, numbers and position, as the ruleset declares them.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::Serialize;

use riskbreaker_state::EntityId;

/// The main facts about an entity, as far as a viewer may see them. Parts that its kind does not declare are missing.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "serve", derive(schemars::JsonSchema))]
pub struct Profile {
    /// The seat that plays the entity.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seat: Option<Arc<str>>,
    /// The side to which it belongs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub side: Option<Named>,
    /// Its numbers, the most important first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub numbers: Vec<Number>,
    /// Its position.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub position: Option<Position>,
}

/// Something with a title, which may be an entity.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "serve", derive(schemars::JsonSchema))]
pub struct Named {
    /// The title.
    pub title: Arc<str>,
    /// The entity, if the title is that of an entity.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub entity: Option<EntityId>,
}

/// A number of an entity.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "serve", derive(schemars::JsonSchema))]
pub struct Number {
    /// The name of the field or derived value, which `why` explains.
    pub name: Arc<str>,
    /// The label for people.
    pub label: Arc<str>,
    /// The value.
    pub value: i64,
    /// The current maximum.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max: Option<i64>,
    /// The unit, such as `m`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unit: Option<Arc<str>>,
    /// True if a larger number is worse for the entity.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    #[cfg_attr(feature = "serve", schemars(default))]
    pub harm: bool,
}

/// The position of an entity: coordinates, a place, or both.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "serve", derive(schemars::JsonSchema))]
pub struct Position {
    /// The coordinate to the right.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub x: Option<f64>,
    /// The coordinate upwards on the map.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub y: Option<f64>,
    /// The height above the plane.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub h: Option<f64>,
    /// The unit of the coordinates, such as `m`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unit: Option<Arc<str>>,
    /// The place, by title.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub place: Option<Named>,
}

/// A line of a sheet.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "serve", derive(schemars::JsonSchema))]
pub struct SheetRow {
    /// The label; empty for a line without one.
    pub label: String,
    /// The text of the line.
    pub text: String,
    /// The number that the line shows, if it shows one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub number: Option<Number>,
}

/// Derived values computed for profiles.
pub type WorkedOut = BTreeMap<(EntityId, Arc<str>), i64>;

impl Number {
    /// Formats the number with its maximum and its unit, such as `9 of 15` or `10 m`.
    pub fn text(&self) -> String {
        let mut text = self.value.to_string();
        if let Some(max) = self.max {
            text = format!("{text} of {max}");
        }
        match &self.unit {
            Some(unit) => format!("{text} {unit}"),
            None => text,
        }
    }
}

impl SheetRow {
    /// The line as label and text.
    pub fn line(self) -> (String, String) {
        (self.label, self.text)
    }
}
