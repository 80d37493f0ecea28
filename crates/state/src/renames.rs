//! Kinds and fields that have another name in other rules.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::Serialize;

/// The names of one conversion that differ between the rules before and after it. All of them change at once, so two
/// names can be exchanged.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct RenameStep {
    /// The new name of a kind by its old one.
    pub kinds: BTreeMap<Arc<str>, Arc<str>>,
    /// The new name of a field by the new name of its kind and the old name of the field.
    pub fields: BTreeMap<(Arc<str>, Arc<str>), Arc<str>>,
}

impl RenameStep {
    /// True if no name changes.
    pub fn is_empty(&self) -> bool {
        self.kinds.is_empty() && self.fields.is_empty()
    }
}

/// The names of kinds and fields that change on the way from one schema to another: any number of steps, in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Renames {
    steps: Vec<Step>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Step {
    Kinds(BTreeMap<Arc<str>, Arc<str>>),
    /// By kind and field.
    Fields(BTreeMap<(Arc<str>, Arc<str>), Arc<str>>),
}

impl Step {
    fn reversed(&self) -> Step {
        match self {
            Step::Kinds(kinds) => Step::Kinds(kinds.iter().map(|(old, new)| (new.clone(), old.clone())).collect()),
            Step::Fields(fields) => Step::Fields(
                fields.iter().map(|((kind, old), new)| ((kind.clone(), new.clone()), old.clone())).collect(),
            ),
        }
    }
}

impl Renames {
    /// Adds the names of a conversion after those of earlier ones.
    pub fn push(&mut self, names: &RenameStep) {
        let steps = [Step::Kinds(names.kinds.clone()), Step::Fields(names.fields.clone())];
        self.steps.extend(steps);
    }

    /// The names on the way back.
    pub fn reversed(&self) -> Renames {
        Renames { steps: self.steps.iter().rev().map(Step::reversed).collect() }
    }

    /// Adds the names of another way behind those of this one.
    pub fn append(&mut self, mut other: Renames) {
        self.steps.append(&mut other.steps);
    }

    /// True if no name changes.
    pub fn is_empty(&self) -> bool {
        self.steps.iter().all(|step| match step {
            Step::Kinds(kinds) => kinds.is_empty(),
            Step::Fields(fields) => fields.is_empty(),
        })
    }

    /// The name of a kind in the new rules.
    pub fn kind(&self, old: &Arc<str>) -> Arc<str> {
        self.field(old, old).0
    }

    /// The names of a kind and of one of its fields in the new rules.
    pub fn field(&self, kind: &Arc<str>, field: &Arc<str>) -> (Arc<str>, Arc<str>) {
        let mut names = (kind.clone(), field.clone());
        for step in &self.steps {
            match step {
                Step::Kinds(kinds) => {
                    if let Some(new) = kinds.get(&names.0) {
                        names.0 = new.clone();
                    }
                }
                Step::Fields(fields) => {
                    if let Some(new) = fields.get(&names) {
                        names.1 = new.clone();
                    }
                }
            }
        }
        names
    }

    /// Values by the names of their fields in the new rules. Where a renamed field meets one that has the new name
    /// already, the renamed one keeps its old name.
    pub(crate) fn values<V>(&self, kind: &Arc<str>, values: BTreeMap<Arc<str>, V>) -> BTreeMap<Arc<str>, V> {
        if self.steps.is_empty() {
            return values;
        }
        let (mut moved, mut named) = (Vec::new(), BTreeMap::new());
        for (old, value) in values {
            let (_, new) = self.field(kind, &old);
            match new == old {
                true => drop(named.insert(old, value)),
                false => moved.push((new, old, value)),
            }
        }
        for (new, old, value) in moved {
            let name = if named.contains_key(&new) { old } else { new };
            named.insert(name, value);
        }
        named
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn step(kinds: &[(&str, &str)], fields: &[(&str, &str, &str)]) -> RenameStep {
        RenameStep {
            kinds: kinds.iter().map(|(old, new)| (Arc::from(*old), Arc::from(*new))).collect(),
            fields: (fields.iter())
                .map(|(kind, old, new)| ((Arc::from(*kind), Arc::from(*old)), Arc::from(*new)))
                .collect(),
        }
    }

    #[test]
    fn names_pass_through_all_steps_and_back() {
        let mut names = Renames::default();
        names.push(&step(&[("hero", "person")], &[("person", "hits", "harm"), ("person", "wit", "wits")]));
        names.push(&step(&[], &[("person", "harm", "wounds")]));
        names
            .push(&step(&[("person", "character")], &[("character", "left", "right"), ("character", "right", "left")]));
        let cases = [("hits", "wounds"), ("wit", "wits"), ("left", "right"), ("right", "left"), ("name", "name")];
        let back = names.reversed();
        for (old, new) in cases {
            let (hero, character) = (Arc::from("hero"), Arc::from("character"));
            assert_eq!(names.field(&hero, &Arc::from(old)), (Arc::from("character"), Arc::from(new)));
            assert_eq!(back.field(&character, &Arc::from(new)), (Arc::from("hero"), Arc::from(old)));
        }
        assert_eq!(&*names.kind(&Arc::from("fight")), "fight");
    }

    #[test]
    fn a_field_that_has_the_new_name_already_keeps_it() {
        let mut names = Renames::default();
        names.push(&step(&[], &[("hero", "hits", "harm"), ("hero", "left", "right"), ("hero", "right", "left")]));
        let values =
            [("hits", 3), ("harm", 4), ("left", 1), ("right", 2)].map(|(name, value)| (Arc::from(name), value));
        let named = names.values(&Arc::from("hero"), BTreeMap::from(values));
        let of = |name: &str| named.get(name).copied();
        assert_eq!((of("hits"), of("harm"), of("left"), of("right")), (Some(3), Some(4), Some(2), Some(1)));
    }
}
