use std::collections::BTreeSet;

use super::guard::Guard;
use super::numbering::EntityNumbering;
use super::recording::FieldSet;
use super::tagged::PackedValue;
use riskbreaker_state::{Entity, EntityId, FieldId, KindId, Schema, State, Value};

/// A script's query for entities. A replay must find the same result among the entities made in play.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Query {
    /// All entities of a kind.
    Kind(KindId),
    /// The entities of a kind whose field refers to this entity.
    Referring(KindId, FieldId, EntityId),
    /// The relations of an entity, each with the end at which the entity is.
    Relations(EntityId),
    /// The owners of attachments, and the entities named in their data.
    Attached,
    /// The id of an entity itself.
    Id(EntityId),
    /// The fixed entities of a kind that hold a value in a field.
    Holding(KindId, FieldId, PackedValue),
    /// Whether the number in a field is at least this.
    AtLeast(Guard, i64),
    /// Whether everybody sees everything.
    Open,
}

/// What queries need of the rules.
#[derive(Debug, Default)]
pub(crate) struct QueryRules {
    /// The fields that hold the ends of relations.
    pub ends: Vec<RelationEnd>,
    pub schema: Schema,
    /// The fields on which audiences depend, with their kinds.
    audience_fields: BTreeSet<(KindId, FieldId)>,
    /// Those of the fixed entities.
    audience_guards: FieldSet,
}

impl QueryRules {
    pub fn new(schema: &Schema, numbering: &EntityNumbering) -> QueryRules {
        let ends = (0..).zip(schema.relation_ends());
        let audience_fields = schema.audience_fields();
        let fixed = audience_fields
            .iter()
            .flat_map(|(kind, field)| numbering.fixed_of(*kind).filter_map(|id| numbering.guard(id, *field)));
        QueryRules {
            ends: ends.map(|(number, (kind, field))| RelationEnd { number, kind, field }).collect(),
            schema: schema.clone(),
            audience_guards: fixed.collect(),
            audience_fields,
        }
    }

    /// The fields of the fixed entities on which audiences depend.
    pub fn audience_guards(&self) -> &FieldSet {
        &self.audience_guards
    }

    /// True if the audience of anything may depend on this field.
    pub fn decides_audiences(&self, field: Guard, numbering: &EntityNumbering) -> bool {
        match field.is_fixed() {
            true => self.audience_guards.contains(&field),
            // The kind of a numbered entity is not known here.
            false => self.audience_fields.iter().any(|(_, of)| *of == numbering.field(field).1),
        }
    }
}

/// A field that holds one end of a kind of relation.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RelationEnd {
    pub number: i64,
    pub kind: KindId,
    pub field: FieldId,
}

/// The most entities of one kind that [`Query::Holding`] distinguishes, one bit for each.
const MOST_HOLDING: usize = PackedValue::BITS as usize;

impl Query {
    /// The entity that the query is about, if it is about one.
    pub(crate) fn entity(self) -> Option<EntityId> {
        match self {
            Query::Kind(_) | Query::Attached | Query::Holding(..) | Query::AtLeast(..) | Query::Open => None,
            Query::Referring(_, _, id) | Query::Relations(id) | Query::Id(id) => Some(id),
        }
    }

    /// Describes the query for a message.
    pub(crate) fn words(self, schema: &Schema) -> String {
        let name = |kind: KindId| schema.kinds.get(kind.0 as usize).map_or("", |kind| &*kind.name);
        let field_of = |kind, field| field_words(schema, Some(kind), field);
        match self {
            Query::Kind(kind) => format!("the entities of kind {}", name(kind)),
            Query::Referring(kind, field, _) => {
                format!("the entities that refer to one by {}", field_of(kind, field))
            }
            Query::Relations(_) => "the relations of an entity".into(),
            Query::Attached => "what is attached".into(),
            Query::Id(_) => "the number of an entity".into(),
            Query::Holding(kind, field, _) => format!("the entities with a value in {}", field_of(kind, field)),
            Query::AtLeast(_, least) => format!("whether a number is at least {least}"),
            Query::Open => "whether everybody sees everything".into(),
        }
    }

    /// A query for the entities up to id `fixed` that hold a value in a field. `None` if there are too many, or if the
    /// value differs between games.
    pub fn holding(kind: KindId, field: FieldId, value: &Value, fixed: u32, state: &State) -> Option<Query> {
        let tag = PackedValue::plain(value).filter(|_| !matches!(value, Value::Entity(id) if id.0 > fixed))?;
        let count = fixed_of(kind, fixed, state).count();
        (1..=MOST_HOLDING).contains(&count).then_some(Query::Holding(kind, field, tag))
    }

    /// The same query about another entity.
    pub(crate) fn about(self, id: EntityId) -> Query {
        match self {
            Query::Referring(kind, field, _) => Query::Referring(kind, field, id),
            Query::Relations(_) => Query::Relations(id),
            Query::Id(_) => Query::Id(id),
            Query::Kind(_) | Query::Attached | Query::Holding(..) | Query::AtLeast(..) | Query::Open => self,
        }
    }

    /// The result of the query, with numbers for entities, which count as met from now on. Of fixed entities it
    /// contains only relations, since traces guard the fields of the others.
    pub(crate) fn found(self, state: &State, rules: &QueryRules, numbering: &mut EntityNumbering) -> Option<Value> {
        let mut found: Vec<EntityId> = Vec::new();
        match self {
            Query::Id(id) => return Some(Value::Int(i64::from(id.0))),
            Query::Open => return Some(Value::Bool(state.is_open(&rules.schema))),
            Query::Holding(kind, field, tag) => {
                let holds = |id| state.field(id, field).and_then(PackedValue::plain) == Some(tag);
                return mask_of(numbering.fixed_of(kind).map(holds)).map(Value::Int);
            }
            Query::AtLeast(key, least) => {
                let (number, field) = numbering.field(key);
                let found = state.field(numbering.entity(number)?, field)?.as_int()?;
                return Some(Value::Bool(found >= least));
            }
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
            // Scripts sort relations by ids, or by ends and then by ids, so each relation is recorded with the end of
            // the entity.
            Query::Relations(of) => {
                let mut relations = Vec::new();
                for (id, entity) in state.entities() {
                    let stands = |end: &&RelationEnd| {
                        entity.kind == end.kind && entity.fields.get(end.field.0 as usize) == Some(&Value::Entity(of))
                    };
                    for end in rules.ends.iter().filter(stands) {
                        relations.extend([Value::Int(end.number), Value::Entity(numbering.meet(id, state)?)]);
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

/// Packs booleans into a bit mask. `None` if there are too many.
pub(crate) fn mask_of(bits: impl Iterator<Item = bool>) -> Option<i64> {
    let mut mask = 0;
    for (nth, bit) in (0..).zip(bits) {
        mask |= i64::from(bit) << Some(nth).filter(|nth| *nth < PackedValue::BITS)?;
    }
    Some(mask)
}

/// Formats a field for a message as `kind.field`.
pub(crate) fn field_words(schema: &Schema, kind: Option<KindId>, field: FieldId) -> String {
    let kind = kind.and_then(|kind| schema.kinds.get(kind.0 as usize));
    let field = kind.and_then(|kind| Some((kind, kind.fields.get(field.0 as usize)?)));
    field.map_or_else(|| "a field".into(), |(kind, field)| format!("{}.{}", kind.name, field.name))
}

/// The entities of a kind up to an id, in the order of their creation.
fn fixed_of(kind: KindId, fixed: u32, state: &State) -> impl Iterator<Item = (EntityId, &Entity)> {
    state.entities_up_to(fixed).filter(move |(_, entity)| entity.kind == kind)
}
