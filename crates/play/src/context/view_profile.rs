//! Profiles of entities.

use std::sync::Arc;

use super::view::View;
use crate::{Named, Number, Position, Profile, WorkedOut};
use riskbreaker_state::{EntityId, FieldId, Kind, MostRule, NumberRule, NumberSource, PositionRule, Value};

impl<'a> View<'a> {
    fn declared(&self, id: EntityId) -> Option<&'a Kind> {
        let entity = self.context.state.entity(id)?;
        Some(self.context.rules.schema().kind(entity.kind))
    }

    /// The derived values that occur in the profiles of the visible entities.
    pub(crate) fn derived_in_profiles(&self) -> Vec<(EntityId, Arc<str>)> {
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

pub(crate) fn is_derived(rule: &NumberRule) -> bool {
    rule.derived().next().is_some()
}
