//! Who may see an entity, a field or a value of a state.

use std::sync::Arc;

use super::State;
use crate::audience::EVERYBODY;
use crate::{Audience, AudienceRule, Entity, EntityId, FieldId, Kind, Schema, Value};

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

    /// True if everybody sees every entity and every field.
    pub fn is_open<'s>(&self, schema: &'s Schema) -> bool {
        // Most audiences are in a field of the entity itself, which is found once for all entities of the kind.
        let rules_of = |kind: &'s Kind| {
            let found = |rule| own_field(kind, rule).ok_or(rule);
            kind.audience_rules().map(found).collect::<Vec<_>>()
        };
        let rules: Vec<_> = schema.kinds.iter().map(rules_of).collect();
        self.entities().all(|(_, entity)| {
            rules[entity.kind.0 as usize].iter().all(|rule| match rule {
                Ok(field) => names_everybody(entity.fields.get(field.0 as usize)),
                Err(rule) => self.is_for_everybody(schema, entity, rule),
            })
        })
    }

    fn is_for_everybody(&self, schema: &Schema, entity: &Entity, rule: &AudienceRule) -> bool {
        match rule {
            AudienceRule::Fixed(audience) => audience.is_everybody(),
            AudienceRule::Path(path) => names_everybody(self.at_end(schema, entity, path, None)),
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
        match self.at_end(schema, entity, path, other) {
            Some(Value::Text(seat)) => Audience::named(seat),
            Some(Value::List(seats)) => Audience::of(seats.iter().filter_map(Value::as_text)),
            _ => Audience::nobody(),
        }
    }

    /// The value at the end of a path of fields from an entity: a text, a list, or another value that names no seats.
    /// `None` if the path leads nowhere. `other`: a value to use for one of the fields.
    fn at_end<'s>(
        &'s self,
        schema: &Schema,
        entity: &'s Entity,
        path: &[Arc<str>],
        other: Option<(EntityId, FieldId, &'s Value)>,
    ) -> Option<&'s Value> {
        let changed = other.and_then(|(id, field, value)| Some((self.entity(id)?, field, value)));
        let mut at = Some(entity);
        for name in path {
            let entity = at?;
            let field = schema.kind(entity.kind).field_named(name)?;
            let value = match changed {
                Some((of, at, value)) if std::ptr::eq(of, entity) && at == field => value,
                _ => entity.fields.get(field.0 as usize)?,
            };
            match value {
                Value::Entity(next) => at = self.entity(*next),
                value => return Some(value),
            }
        }
        None
    }
}

/// The field of an entity itself that an audience rule of its kind names. `None` for another rule.
fn own_field(kind: &Kind, rule: &AudienceRule) -> Option<FieldId> {
    match rule {
        AudienceRule::Path(path) if path.len() == 1 => kind.field_named(&path[0]),
        _ => None,
    }
}

/// True if a value at the end of an audience's path names everybody.
fn names_everybody(value: Option<&Value>) -> bool {
    match value {
        Some(Value::Text(seat)) => **seat == *EVERYBODY,
        Some(Value::List(seats)) => seats.iter().filter_map(Value::as_text).any(|seat| seat == EVERYBODY),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Field, KindId, Type};

    fn field(name: &str, ty: Type) -> Field {
        Field {
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
        }
    }

    /// A bond to an imp that only north sees. A field of the bond determines the audience of the bond.
    #[test]
    fn a_change_of_a_relation_is_for_those_who_see_its_ends() {
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

    #[test]
    fn a_state_is_open_while_each_audience_is_everybody() {
        let (own, path) = (AudienceRule::Path(vec!["seen_by".into()]), vec!["imp".into(), "seen_by".into()]);
        let seen_by = field("seen_by", Type::List(Box::new(Type::Text)));
        let imp = Kind { name: "imp".into(), fields: vec![seen_by], audience: Some(own), ..Kind::default() };
        let to_imp = field("imp", Type::Ref(Some("imp".into())));
        let note = Field { audience: Some(AudienceRule::Path(path)), ..field("note", Type::Text) };
        let page = Kind { name: "page".into(), fields: vec![to_imp, note], ..Kind::default() };
        let schema = Schema { kinds: vec![imp, page] };
        assert_eq!(
            schema.audience_fields().into_iter().collect::<Vec<_>>(),
            [(KindId(0), FieldId(0)), (KindId(1), FieldId(0))]
        );
        let mut state = State::new();
        let everybody = Value::list([Value::text("north"), Value::text(EVERYBODY)]);
        let imp = state.spawn(Entity { kind: KindId(0), fields: vec![everybody.clone()] });
        let page = state.spawn(Entity { kind: KindId(1), fields: vec![imp.into(), Value::None] });
        assert!(state.is_open(&schema));
        state.set(imp, FieldId(0), Value::list([Value::text("north")]));
        assert!(!state.is_open(&schema));
        state.set(imp, FieldId(0), everybody);
        state.set(page, FieldId(0), Value::None);
        assert!(!state.is_open(&schema), "an audience that leads nowhere is nobody");
    }
}
