use std::collections::BTreeMap;

use riskbreaker::{EntityId, View};
use serde::Serialize;

use crate::cli::row::Span;

/// A snapshot of the field values whose changes can be printed, as text.
#[derive(Debug, Default)]
pub struct FieldSnapshot(BTreeMap<EntityId, (String, Vec<(String, String)>)>);

/// One difference between two pictures: an entity and a field.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub struct FieldDifference {
    pub title: String,
    /// `None` if the entity itself was added or removed.
    pub label: Option<String>,
    pub text: String,
}

impl FieldSnapshot {
    pub fn of(view: &View<'_>) -> FieldSnapshot {
        let entity = |id: EntityId| {
            let fields = view.fields(id).filter(|(field, _)| field.show || field.said);
            let fields = fields.map(|(field, value)| (field.label.to_string(), view.words(value)));
            (id, (view.title(id).to_string(), fields.collect()))
        };
        FieldSnapshot(view.entities().map(entity).collect())
    }

    /// The differences in `later`.
    pub fn changes(&self, later: &FieldSnapshot) -> Vec<FieldDifference> {
        let mut found = Vec::new();
        for (id, (title, fields)) in &self.0 {
            let Some((_, now)) = later.0.get(id) else {
                found.push(FieldDifference { title: title.clone(), label: None, text: "is gone".into() });
                continue;
            };
            for (label, from) in fields {
                // After a change of rules, an entity may have other fields.
                let Some((_, to)) = now.iter().find(|(known, to)| known == label && to != from) else { continue };
                let text = format!("{from} -> {to}");
                found.push(FieldDifference { title: title.clone(), label: Some(label.clone()), text });
            }
        }
        let new = later.0.iter().filter(|(id, _)| !self.0.contains_key(id));
        found.extend(new.map(|(_, (title, _))| FieldDifference {
            title: title.clone(),
            label: None,
            text: "is there".into(),
        }));
        found
    }
}

impl FieldDifference {
    pub fn cells(&self) -> Vec<Span> {
        match &self.label {
            Some(label) => vec![Span::strong(&self.title), Span::plain(label), Span::plain(&self.text)],
            None => vec![Span::strong(&self.title), Span::plain(&self.text)],
        }
    }
}
