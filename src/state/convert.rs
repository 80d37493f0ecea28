use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::{Entity, EntityId, Kind, Schema, State, Type, Value};

/// Values that have no place in the schema in force, by entity and field: kept until they have one again.
pub(crate) type Dormant = BTreeMap<EntityId, BTreeMap<Arc<str>, Kept>>;

/// A value that is kept aside.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Kept {
    pub value: Value,
    /// What stands in the field instead of it; nothing where the field itself is gone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instead: Option<Value>,
}

/// What another schema did to a state, by kind and field: each line once, however many entities it is true of.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Converted {
    /// New fields, with the default that they take.
    pub defaulted: Vec<String>,
    /// What is kept aside.
    pub kept_aside: Vec<String>,
    /// What was kept aside and is there again.
    pub returned: Vec<String>,
    /// Entities whose kind is gone.
    pub gone: Vec<String>,
}

impl Schema {
    /// Whether a state of one stands in the other as it is: the same kinds with the same fields of the same types.
    pub fn fits(&self, other: &Schema) -> bool {
        let same = |one: &Kind, two: &Kind| {
            one.name == two.name
                && one.fields.len() == two.fields.len()
                && one.fields.iter().zip(&two.fields).all(|(one, two)| one.name == two.name && one.ty == two.ty)
        };
        self.kinds.len() == other.kinds.len() && self.kinds.iter().zip(&other.kinds).all(|(one, two)| same(one, two))
    }
}

impl State {
    /// The state as another schema has it, kinds and fields found by their names. New fields take their defaults, what
    /// has no place any more is kept aside. Its journal must be settled.
    ///
    /// # Errors
    ///
    /// The kinds that are gone although there are entities of them, in a sentence; unless `lossy` says to let them go.
    pub(crate) fn converted(&self, from: &Schema, to: &Schema, lossy: bool) -> Result<(State, Converted), String> {
        let mut told = Converted::default();
        let mut orphans: BTreeMap<&str, Vec<EntityId>> = BTreeMap::new();
        for (id, entity) in self.entities() {
            let kind = from.kind(entity.kind);
            if to.kind_named(&kind.name).is_none() {
                orphans.entry(&kind.name).or_default().push(id);
            }
        }
        if let Some((kind, found)) = orphans.iter().next().filter(|_| !lossy) {
            return Err(format!(
                "the kind `{kind}` is gone, and there {} in the game; declare it again, or take {} away first",
                if found.len() == 1 { format!("is one {kind}") } else { format!("are {} of them", found.len()) },
                if found.len() == 1 { "it" } else { "them" },
            ));
        }
        let mut base = self.clone();
        for (kind, found) in orphans {
            told.gone.push(format!("{kind}: {}", found.len()));
            for id in found {
                base.remove(id);
            }
        }
        base.settle_unread();
        let mut dormant = std::mem::take(base.dormant_mut());
        let mut state = base.rebuilt(|id, entity| {
            let was = from.kind(entity.kind);
            let place = to.kind_named(&was.name).expect("entities of other kinds are gone");
            let kind = to.kind(place);
            let aside = dormant.entry(id).or_default();
            for (field, value) in was.fields.iter().zip(&entity.fields) {
                if kind.field_named(&field.name).is_none() {
                    note(&mut told.kept_aside, format!("{}.{}", was.name, field.name));
                    aside.insert(field.name.clone(), Kept { value: value.clone(), instead: None });
                }
            }
            let fields = kind.fields.iter().map(|field| {
                let name = format!("{}.{}", kind.name, field.name);
                let now = was.field_named(&field.name).map(|at| entity.fields[at.0 as usize].clone());
                let kept = aside.get(&field.name).filter(|kept| kept.instead == now);
                if let Some(kept) = kept.filter(|kept| field.ty.check(&kept.value, from, &base).is_ok()) {
                    note(&mut told.returned, name);
                    let value = kept.value.clone();
                    aside.remove(&field.name);
                    return value;
                }
                let Some(value) = now else {
                    note(&mut told.defaulted, format!("{name} = {}", field.default));
                    return field.default.clone();
                };
                let settled = field.ty.settle(value.clone());
                // What is referred to is still of its old kind in `base`.
                let Err(wrong) = field.ty.check(&settled, from, &base) else { return settled };
                let instead = nearest_value(&field.ty, &value).unwrap_or_else(|| field.default.clone());
                note(&mut told.kept_aside, format!("{name}, which {wrong}"));
                aside.insert(field.name.clone(), Kept { value, instead: Some(instead.clone()) });
                instead
            });
            Entity { kind: place, fields: fields.collect() }
        });
        dormant.retain(|_, kept| !kept.is_empty());
        *state.dormant_mut() = dormant;
        Ok((state, told))
    }
}

fn note(lines: &mut Vec<String>, line: String) {
    if !lines.contains(&line) {
        lines.push(line);
    }
}

/// A number is moved to the nearest bound; nothing else has a nearest value.
fn nearest_value(ty: &Type, value: &Value) -> Option<Value> {
    match (ty, value) {
        (Type::Int { min, max }, Value::Int(n)) => {
            Some(Value::Int((*n).max(min.unwrap_or(i64::MIN)).min(max.unwrap_or(i64::MAX))))
        }
        _ => None,
    }
}
