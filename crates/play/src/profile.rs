//! Profiles of entities for pictures of the game: seat, side, numbers and position, as the ruleset declares them.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::Serialize;

use super::{Seat, View};
use riskbreaker_state::{EntityId, FieldId, Kind, MostRule, NumberRule, NumberSource, PositionRule, Value};

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

impl<'a> View<'a> {
    fn declared(&self, id: EntityId) -> Option<&'a Kind> {
        let entity = self.context.state.entity(id)?;
        Some(self.context.rules.schema().kind(entity.kind))
    }

    /// The derived values that occur in the profiles of the visible entities.
    fn derived_in_profiles(&self) -> Vec<(EntityId, Arc<str>)> {
        let mut wanted = Vec::new();
        for id in self.entities() {
            let numbers = self.declared(id).map(|kind| &kind.profile.numbers);
            let derived = numbers.into_iter().flatten().flat_map(NumberRule::derived);
            wanted.extend(derived.map(|name| (id, name.clone())));
        }
        wanted
    }

    /// The profile of an entity. `worked_out`: derived values; numbers without their value are omitted.
    pub fn profile(&self, id: EntityId, worked_out: &WorkedOut) -> Profile {
        let Some(kind) = self.declared(id).filter(|kind| !kind.profile.is_empty()) else { return Profile::default() };
        let rule = &kind.profile;
        Profile {
            seat: self.seat_of(id, &rule.seat),
            side: rule.side.as_ref().and_then(|side| match self.visible(id, side.field)? {
                Value::Text(text) => {
                    let word = side.words.iter().find(|(value, _)| value == text).map_or(text, |(_, word)| word);
                    (!word.is_empty()).then(|| Named { title: word.clone(), entity: None })
                }
                other => self.named(other),
            }),
            numbers: rule.numbers.iter().filter_map(|rule| self.number(id, rule, worked_out)).collect(),
            position: rule.position.as_ref().and_then(|rule| self.position(id, rule)),
        }
    }

    /// A number of an entity. `None` if the viewer may not see it or its value is missing.
    pub fn number(&self, id: EntityId, rule: &NumberRule, worked_out: &WorkedOut) -> Option<Number> {
        let value_of = |source: &NumberSource| match source {
            NumberSource::Field(field) => self.visible(id, *field)?.as_int(),
            NumberSource::Derived(name) => worked_out.get(&(id, name.clone())).copied(),
        };
        let max = match &rule.most {
            Some(MostRule::Fixed(most)) => Some(*most),
            Some(MostRule::Of(source)) => value_of(source),
            None => None,
        };
        let value = value_of(&rule.value)?;
        if rule.nonzero && value == 0 && max.unwrap_or(0) == 0 {
            return None;
        }
        let (name, label, unit) = (rule.name.clone(), rule.label.clone(), rule.unit.clone());
        Some(Number { value, name, label, max, unit, harm: rule.harm })
    }

    fn position(&self, id: EntityId, rule: &PositionRule) -> Option<Position> {
        let per = f64::from(rule.per);
        let number = |field: FieldId| Some(self.visible(id, field)?.as_int()? as f64 / per);
        let plane = rule.plane.and_then(|(x, y)| Some((number(x)?, number(y)?)));
        let place = rule.place.and_then(|field| self.named(self.visible(id, field)?));
        if plane.is_none() && place.is_none() {
            return None;
        }
        let h = plane.and(rule.height).and_then(number);
        let unit = plane.and(rule.unit.clone());
        Some(Position { x: plane.map(|at| at.0), y: plane.map(|at| at.1), h, unit, place })
    }

    /// The seat at the end of a path of fields. `None` if the path leads to no seat.
    fn seat_of(&self, id: EntityId, path: &[Arc<str>]) -> Option<Arc<str>> {
        let (first, rest) = path.split_first()?;
        match self.field(id, first)? {
            Value::Text(seat) if rest.is_empty() => Some(seat.clone()).filter(|seat| !seat.is_empty()),
            Value::Entity(next) => self.seat_of(*next, rest),
            _ => None,
        }
    }

    fn named(&self, value: &Value) -> Option<Named> {
        match value {
            Value::Entity(id) if self.exists(*id) => Some(Named { title: self.title(*id), entity: Some(*id) }),
            _ => None,
        }
    }

    fn visible(&self, id: EntityId, field: FieldId) -> Option<&'a Value> {
        if self.context.hides(id, field) { None } else { self.context.state.field(id, field) }
    }
}

impl Seat<'_> {
    /// The profiles of all entities that the viewer sees, without empty ones.
    pub fn profiles(&mut self) -> BTreeMap<EntityId, Profile> {
        let worked_out = self.worked_out();
        let view = self.view();
        let profiles = view.entities().map(|id| (id, view.profile(id, &worked_out)));
        profiles.filter(|(_, profile)| *profile != Profile::default()).collect()
    }

    /// The derived values of profiles, as the viewer knows them. Those that depend on hidden values are missing.
    pub fn worked_out(&mut self) -> WorkedOut {
        if !self.session.ruleset().schema().kinds.iter().any(|kind| kind.profile.numbers.iter().any(is_derived)) {
            return WorkedOut::new();
        }
        let wanted = self.view().derived_in_profiles();
        if wanted.is_empty() {
            return WorkedOut::new();
        }
        self.look(move |game, vm| Ok(vm.numbers(&mut game.context, &wanted))).unwrap_or_default()
    }
}

fn is_derived(rule: &NumberRule) -> bool {
    rule.derived().next().is_some()
}
