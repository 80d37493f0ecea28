use super::numbering::Numbering;
use crate::state::{EntityId, FieldId, KindId, Schema, State, Value};

/// Who is there, as a script asks for it: what a trace has to find again among the entities that are made in play.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Query {
    /// All of a kind.
    Kind(KindId),
    /// Those of a kind that refer to an entity through a field.
    Referring(KindId, FieldId, EntityId),
    /// The relations that an entity has, each with the end at which it stands.
    Relations(EntityId),
    /// Whoever something is attached to, and whoever is named in what is attached.
    Attached,
    /// The id itself.
    Id(EntityId),
}

impl Query {
    /// The entity that it is about.
    pub(super) fn entity(self) -> Option<EntityId> {
        match self {
            Query::Kind(_) | Query::Attached => None,
            Query::Referring(_, _, id) | Query::Relations(id) | Query::Id(id) => Some(id),
        }
    }

    /// What is asked for, in words.
    pub(super) fn words(self, schema: &Schema) -> String {
        let name = |kind: KindId| schema.kinds.get(kind.0 as usize).map_or("", |kind| &*kind.name);
        match self {
            Query::Kind(kind) => format!("who is there of kind {}", name(kind)),
            Query::Referring(kind, field, _) => {
                let field = schema.kinds.get(kind.0 as usize).and_then(|kind| kind.fields.get(field.0 as usize));
                format!("who refers to something by {}.{}", name(kind), field.map_or("", |field| &*field.name))
            }
            Query::Relations(_) => "the relations of something".into(),
            Query::Attached => "what is attached".into(),
            Query::Id(_) => "the number of an entity".into(),
        }
    }

    /// The query about another entity.
    pub(super) fn about(self, id: EntityId) -> Query {
        match self {
            Query::Referring(kind, field, _) => Query::Referring(kind, field, id),
            Query::Relations(_) => Query::Relations(id),
            Query::Id(_) => Query::Id(id),
            Query::Kind(_) | Query::Attached => self,
        }
    }

    /// What a script finds that asks this, with the entities by their numbers: they count as met. Of fixed entities only relations
    /// are in it, since traces guard the fields of the others. `ends`: the fields between which relations stand.
    pub(super) fn found(self, state: &State, ends: &[(KindId, FieldId)], numbering: &mut Numbering) -> Option<Value> {
        let mut found: Vec<EntityId> = Vec::new();
        match self {
            Query::Id(id) => return Some(Value::Int(i64::from(id.0))),
            Query::Kind(_) | Query::Referring(..) if state.ids() <= numbering.fixed() => {}
            Query::Kind(kind) => {
                let made = state.entities_after(numbering.fixed());
                found.extend(made.filter(|(_, entity)| entity.kind == kind).map(|(id, _)| id));
            }
            Query::Referring(kind, field, to) => {
                let refers = |value: Option<&Value>| value == Some(&Value::Entity(to));
                let made = state.entities_after(numbering.fixed()).filter(|(_, entity)| entity.kind == kind);
                found.extend(made.filter(|(_, entity)| refers(entity.fields.get(field.0 as usize))).map(|(id, _)| id));
            }
            // Those who ask go by ids, or by ends and then by ids: each relation is noted with the end at which it stands.
            Query::Relations(of) => {
                let mut relations = Vec::new();
                for (id, entity) in state.entities() {
                    for (at, _) in (0..).zip(ends).filter(|(_, (kind, end))| {
                        entity.kind == *kind && entity.fields.get(end.0 as usize) == Some(&Value::Entity(of))
                    }) {
                        relations.extend([Value::Int(at), Value::Entity(numbering.meet(id, state)?)]);
                    }
                }
                return Some(if relations.is_empty() { Value::None } else { Value::List(relations.into()) });
            }
            Query::Attached => {
                for attachment in state.attachments().values() {
                    found.push(attachment.owner);
                    attachment.data.each_entity(&mut |id| found.push(id));
                }
                found.retain(|id| !numbering.is_fixed(*id));
            }
        }
        if found.is_empty() {
            return Some(Value::None);
        }
        let numbers = found.into_iter().map(|id| numbering.meet(id, state).map(Value::Entity));
        numbers.collect::<Option<_>>().map(Value::List)
    }
}
