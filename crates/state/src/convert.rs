use std::collections::BTreeMap;
use std::sync::Arc;

use serde::Serialize;

use super::dormant::{Kept, Passage, Shelved, pass, put_aside};
use super::{Entity, EntityId, FieldId, Kind, KindId, Renames, Schema, State, Type, Value};

/// The effects of a conversion to another schema, by kind and field: each line once, for any number of entities.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Converted {
    /// New fields, with their defaults.
    pub defaulted: Vec<String>,
    /// Values that became dormant.
    pub kept_aside: Vec<String>,
    /// Dormant values that were restored.
    pub returned: Vec<String>,
    /// Entities whose kind does not exist any more.
    pub gone: Vec<String>,
    /// Effects on secret values, a sentence each, for the game master alone.
    #[serde(skip)]
    pub secret: Vec<String>,
}

impl Schema {
    /// True if a state of this schema is valid in the other one unchanged: the same kinds with the same fields of the
    /// same types.
    pub fn fits(&self, other: &Schema) -> bool {
        let same = |one: &Kind, two: &Kind| {
            one.name == two.name
                && one.fields.len() == two.fields.len()
                && one.relates == two.relates
                && one.fields.iter().zip(&two.fields).all(|(one, two)| one.name == two.name && one.ty == two.ty)
        };
        self.kinds.len() == other.kinds.len() && self.kinds.iter().zip(&other.kinds).all(|(one, two)| same(one, two))
    }
}

impl State {
    /// Converts the state to another schema, with kinds and fields matched by name. New fields get their defaults,
    /// values without a field become dormant, and dormant values with a field are restored. The journal must be
    /// settled. `names`: the names that differ in the new rules. `parts`: the rulesets of the new rules.
    ///
    /// # Errors
    ///
    /// If `orphans` is [`Orphans::Refuse`]: a sentence that lists the missing kinds of which there are entities.
    pub fn converted(
        &self,
        from: &Schema,
        to: &Schema,
        names: &Renames,
        parts: &[String],
        orphans: Orphans,
    ) -> Result<(State, Converted), String> {
        let mut told = Converted::default();
        let mut base = self.clone();
        base.part_with(from, to, names, orphans, &mut told)?;
        let returning = base.returning(to, parts);
        // References are checked against the entities that exist after the conversion.
        let mut there = base.rebuilt(|_, entity| {
            let place = to.kind_named(&names.kind(&from.kind(entity.kind).name))?;
            Some(to.kind(place).fresh(place))
        });
        for (id, shelved) in &returning {
            if let Some(place) = to.kind_named(&shelved.kind) {
                there.put_back(*id, to.kind(place).fresh(place));
            }
        }
        let mut state = there.clone();
        let is_secret = {
            let back = names.reversed();
            move |kind: &Arc<str>, field: &Arc<str>| {
                let (kind, field) = back.field(kind, field);
                from.has_secret(&kind, &field)
            }
        };
        for (id, _) in there.entities() {
            let aside = state.dormant_mut().fields.entry(id).or_default();
            let values = match (base.entity(id), returning.get(&id)) {
                (Some(entity), _) => {
                    let kind = from.kind(entity.kind);
                    *aside = names.values(&kind.name, std::mem::take(aside));
                    names.values(&kind.name, named_values(kind, entity))
                }
                (None, Some(shelved)) => shelved.fields.clone(),
                (None, None) => continue,
            };
            if let Some(filled) = there.filled(id, &values, &is_secret, to, aside, &mut told) {
                state.put_back(id, filled);
            }
        }
        let kept = state.dormant_mut();
        kept.fields.retain(|_, kept| !kept.is_empty());
        kept.entities.retain(|id, _| !returning.contains_key(id));
        state.put_torn_aside(to, &mut told);
        let mut back: BTreeMap<&str, usize> = BTreeMap::new();
        for entity in returning.keys().filter_map(|id| state.entity(*id)) {
            // The number of secret entities is not reported.
            if !to.may_hide(entity.kind) {
                *back.entry(&to.kind(entity.kind).name).or_default() += 1;
            }
        }
        told.returned.extend(back.iter().map(|(kind, found)| format!("{kind}: {found}")));
        Ok((state, told))
    }

    /// Makes relations dormant that have lost an end: the old schema had other ends or no relation, or the entity at an
    /// end has no kind in the new schema.
    fn put_torn_aside(&mut self, schema: &Schema, told: &mut Converted) {
        let is_torn = |entity: &Entity| {
            let ends = &schema.kind(entity.kind).relates;
            ends.iter().any(|end| entity.fields[end.0 as usize] == Value::None)
        };
        let torn = self.entities().filter(|(_, entity)| is_torn(entity)).map(|(id, entity)| (id, entity.kind));
        for (id, kind) in torn.collect::<Vec<_>>() {
            let line = format!("{}, which has lost an end", schema.kind(kind).name);
            match schema.may_hide(kind) {
                true => note(&mut told.secret, format!("kept aside: {line}")),
                false => note(&mut told.kept_aside, line),
            }
            // A relation on another such relation was removed with it.
            if self.entity(id).is_some() {
                self.shelve(id, schema, None);
            }
        }
        self.settle_unread();
    }

    /// Removes the entities whose kind does not exist in the other schema.
    fn part_with(
        &mut self,
        from: &Schema,
        to: &Schema,
        names: &Renames,
        orphans: Orphans,
        told: &mut Converted,
    ) -> Result<(), String> {
        let mut gone: BTreeMap<&str, Vec<EntityId>> = BTreeMap::new();
        let mut without_kind = Vec::new();
        for (id, entity) in self.entities() {
            let kind = from.kind(entity.kind);
            if to.kind_named(&names.kind(&kind.name)).is_none() {
                gone.entry(&kind.name).or_default().push(id);
                without_kind.push(id);
            }
        }
        if let (Orphans::Refuse, Some((kind, found))) = (orphans, gone.iter().next()) {
            return Err(format!(
                "the kind `{kind}` is gone, and there {} in the game; declare it again, or take {} away first",
                if found.len() == 1 { format!("is one {kind}") } else { format!("are {} of them", found.len()) },
                if found.len() == 1 { "it" } else { "them" },
            ));
        }
        // Relations are removed with their ends.
        for id in without_kind {
            for relation in self.relations_of(from, id) {
                let kind = self.entity(relation).map(|entity| &*from.kind(entity.kind).name).unwrap_or_default();
                let all = gone.entry(kind).or_default();
                if !all.contains(&relation) {
                    all.push(relation);
                }
            }
        }
        for (kind, found) in gone {
            // The number of secret entities is not reported.
            match from.kind_named(kind).is_some_and(|place| from.may_hide(place)) {
                true => told.secret.push(format!("kept aside: {kind}: {}", found.len())),
                false => told.gone.push(format!("{kind}: {}", found.len())),
            }
            for id in found {
                self.take_aside(id, from, None);
            }
        }
        self.settle_unread();
        Ok(())
    }

    /// The dormant entities whose kind exists in another schema.
    fn returning(&self, to: &Schema, parts: &[String]) -> BTreeMap<EntityId, Shelved> {
        let awaited = |shelved: &Shelved| {
            let ruleset = shelved.waits_for.as_deref();
            to.kind_named(&shelved.kind).is_some() && ruleset.is_none_or(|id| parts.iter().any(|part| part == id))
        };
        let all = self.dormant().entities.iter().filter(|(_, shelved)| awaited(shelved));
        all.map(|(id, shelved)| (*id, shelved.clone())).collect()
    }

    /// An entity of this state with values matched to fields by name. Values that do not fit become dormant. `was_secret`:
    /// whether the old rules had an audience for a field, by its names in the new ones.
    fn filled(
        &self,
        id: EntityId,
        values: &BTreeMap<Arc<str>, Value>,
        was_secret: &dyn Fn(&Arc<str>, &Arc<str>) -> bool,
        schema: &Schema,
        aside: &mut BTreeMap<Arc<str>, Kept>,
        told: &mut Converted,
    ) -> Option<Entity> {
        let place = self.entity(id)?.kind;
        let kind = schema.kind(place);
        for (name, value) in values.iter().filter(|(name, _)| kind.field_named(name).is_none()) {
            match was_secret(&kind.name, name) {
                true => note(&mut told.secret, format!("kept aside: {}.{name}", kind.name)),
                false => note(&mut told.kept_aside, format!("{}.{name}", kind.name)),
            }
            put_aside(aside, name, value, None);
        }
        let fields = kind.fields.iter().map(|field| {
            let checked = |value: &Value| {
                let settled = field.ty.settle(value.clone());
                field.ty.check(&settled, schema, self).map(|()| settled)
            };
            let nearest = |value: Option<&Value>| {
                let nearest = value.and_then(|value| nearest_value(&field.ty, value, schema, self));
                nearest.unwrap_or_else(|| field.default.clone())
            };
            let now = values.get(&field.name);
            let (value, passage) = pass(aside, &field.name, now, |value| checked(value).ok(), nearest);
            let name = format!("{}.{}", kind.name, field.name);
            let is_secret = was_secret(&kind.name, &field.name) || schema.has_secret(&kind.name, &field.name);
            match passage {
                Passage::Carried => {}
                Passage::Returned if is_secret => note(&mut told.secret, format!("there again: {name}")),
                Passage::Returned => note(&mut told.returned, name),
                Passage::Defaulted if is_secret => note(&mut told.secret, format!("new fields: {name} = {value}")),
                Passage::Defaulted => note(&mut told.defaulted, format!("{name} = {value}")),
                Passage::StandIn => {
                    let kept = aside.get(&field.name).map(|kept| checked(&kept.value));
                    let wrong = kept.and_then(Result::err).map(|unfit| unfit.to_string()).unwrap_or_default();
                    match is_secret {
                        true => note(&mut told.secret, format!("kept aside: {name}, which {wrong}")),
                        false => note(&mut told.kept_aside, format!("{name}, which {wrong}")),
                    }
                }
            }
            value
        });
        Some(Entity { kind: place, fields: fields.collect() })
    }

    /// Makes a whole entity dormant, with its relations, agenda entries, attachments and the references to it. The
    /// journal has no record of it: use this only on a state that is not undone step by step. Returns the dormant
    /// entities, and the fields of other entities that changed.
    pub fn shelve(
        &mut self,
        id: EntityId,
        schema: &Schema,
        waits_for: Option<&str>,
    ) -> (Vec<EntityId>, Vec<(EntityId, FieldId)>) {
        let mut gone = self.relations_of(schema, id);
        gone.push(id);
        let mut touched = Vec::new();
        for one in &gone {
            touched.append(&mut self.keep_references_aside(*one, schema));
            self.take_aside(*one, schema, waits_for);
        }
        touched.retain(|(other, _)| self.entity(*other).is_some());
        (gone, touched)
    }

    /// Empties the references to an entity and makes them dormant. Returns the changed fields.
    fn keep_references_aside(&mut self, id: EntityId, schema: &Schema) -> Vec<(EntityId, FieldId)> {
        let mut references = Vec::new();
        for (other, entity) in self.entities().filter(|(other, _)| *other != id) {
            let kind = schema.kind(entity.kind);
            for (at, (field, value)) in kind.fields.iter().zip(&entity.fields).enumerate() {
                let without = value.without_entity(id);
                if without != *value {
                    references.push((other, FieldId(at as u16), field.name.clone(), value.clone(), without));
                }
            }
        }
        let mut touched = Vec::new();
        for (other, field, name, value, without) in references {
            self.set(other, field, without.clone());
            put_aside(self.dormant_mut().fields.entry(other).or_default(), &name, &value, Some(without));
            touched.push((other, field));
        }
        touched
    }

    /// Makes a whole entity dormant; references to it are unchanged.
    fn take_aside(&mut self, id: EntityId, schema: &Schema, waits_for: Option<&str>) {
        let Some(entity) = self.entity(id) else { return };
        let kind = schema.kind(entity.kind);
        let fields = named_values(kind, entity);
        let shelved = Shelved { kind: kind.name.clone(), fields, waits_for: waits_for.map(Arc::from) };
        let (entries, attachments) = self.take_out(id);
        let dormant = self.dormant_mut();
        dormant.entries.extend(entries);
        dormant.attachments.extend(attachments);
        dormant.entities.insert(id, shelved);
    }
}

impl Kind {
    /// An entity with the default values of its kind.
    fn fresh(&self, place: KindId) -> Entity {
        Entity { kind: place, fields: self.fields.iter().map(|field| field.default.clone()).collect() }
    }
}

/// The treatment of entities whose kind does not exist in the other schema.
#[derive(Clone, Copy, Debug)]
pub enum Orphans {
    /// Refuse the conversion.
    Refuse,
    /// Make them dormant.
    Shelve,
}

fn named_values(kind: &Kind, entity: &Entity) -> BTreeMap<Arc<str>, Value> {
    kind.fields.iter().map(|field| field.name.clone()).zip(entity.fields.iter().cloned()).collect()
}

fn note(lines: &mut Vec<String>, line: String) {
    if !lines.contains(&line) {
        lines.push(line);
    }
}

/// The nearest valid value: a number is moved to the nearest bound, lists and maps lose the elements that do not fit.
/// `None` for other types.
fn nearest_value(ty: &Type, value: &Value, schema: &Schema, state: &State) -> Option<Value> {
    let fits = |element: &Type, item: &Value| element.check(item, schema, state).is_ok();
    match (ty, value) {
        (Type::Int { min, max }, Value::Int(n)) => {
            Some(Value::Int((*n).max(min.unwrap_or(i64::MIN)).min(max.unwrap_or(i64::MAX))))
        }
        (Type::List(element), Value::List(items)) => {
            Some(Value::list(items.iter().filter(|item| fits(element, item)).cloned()))
        }
        (Type::Map(element), Value::Map(items)) => {
            let kept = items.iter().filter(|(_, item)| fits(element, item));
            Some(Value::map(kept.map(|(key, item)| (key, item.clone()))))
        }
        _ => None,
    }
}
