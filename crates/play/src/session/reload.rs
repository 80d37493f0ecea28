//! New versions of the rules in a session.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::Session;
use crate::game::RevisionNote;
use crate::{Refusal, ReloadReport, Ruleset};
use riskbreaker_state::{Audience, Value};

impl Session {
    /// Puts a new version of the same ruleset in force, between two actions. The open action is rolled back and runs
    /// again with the next [`Session::advance`], with its tape if that still fits. The state is carried over by name:
    /// new fields get their defaults, values without a field become dormant.
    ///
    /// The reload is an entry of the history, like an edit. An undo of earlier decisions keeps the new rules in force.
    ///
    /// # Errors
    ///
    /// The rules are of another ruleset, or lack a kind of which there are entities. The game is unchanged then.
    pub fn reload(&mut self, rules: Arc<Ruleset>) -> Result<ReloadReport, Refusal> {
        let report = self.game_mut().reload(&rules)?;
        let note =
            RevisionNote { cause: "reload", text: String::new(), public: String::new(), audience: Audience::Everybody };
        self.game_mut().publish(Some(note));
        self.set_rules(rules);
        Ok(report)
    }

    /// Dormant entities, whose kind the rules in force lack: kind and title.
    pub fn shelved(&self) -> Vec<(String, String)> {
        let context = &self.game().context;
        let title = |fields: &BTreeMap<Arc<str>, Value>| {
            fields.get("name").or_else(|| fields.get("title")).map_or(String::new(), |title| context.words(title))
        };
        let all = context.state.dormant().entities.values();
        all.map(|shelved| (shelved.kind.to_string(), title(&shelved.fields))).collect()
    }

    /// Dormant values, whose field the rules in force lack: entity, field and value as text.
    pub fn dormant(&self) -> Vec<(String, String, String)> {
        let context = &self.game().context;
        let fields = &context.state.dormant().fields;
        let all = fields.iter().flat_map(|(id, kept)| kept.iter().map(move |(field, kept)| (id, field, kept)));
        all.filter(|(id, _, kept)| context.state.entity(**id).is_some() && !kept.is_same)
            .map(|(id, field, kept)| (context.title(*id).to_string(), field.to_string(), context.words(&kept.value)))
            .collect()
    }
}
