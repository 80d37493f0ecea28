use std::collections::BTreeMap;
use std::sync::Arc;

use super::Session;
use crate::{ActionContext, Fault, Ruleset};
use riskbreaker_ruleset::{Breach, CreationPart, SheetPrice, SheetStep};
use riskbreaker_state::{EntityId, Value};

/// The entity that a character sheet is converted to.
#[derive(Clone, Debug, PartialEq)]
pub struct BuiltSheet {
    /// The name of the kind.
    pub kind: String,
    /// The fields that differ from their defaults.
    pub fields: BTreeMap<String, Value>,
}

impl Ruleset {
    /// True if `creation.luau` has this function.
    pub fn creates(&self, part: CreationPart) -> bool {
        self.declarations().creation.contains(&part)
    }

    /// Checks a character sheet against the rules of creation. Returns the breaches.
    ///
    /// # Errors
    ///
    /// The fault of the script that checks.
    pub fn check_sheet(self: &Arc<Ruleset>, sheet: &Value) -> Result<Vec<Breach>, Fault> {
        self.check_sheet_under(sheet, self.default_switches())
    }

    /// Checks a character sheet under these values of the switches. Returns the breaches.
    ///
    /// # Errors
    ///
    /// The fault of the script that checks.
    pub fn check_sheet_under(
        self: &Arc<Ruleset>,
        sheet: &Value,
        switches: BTreeMap<String, Value>,
    ) -> Result<Vec<Breach>, Fault> {
        let found = self.create(CreationPart::Check, sheet, switches)?;
        Breach::all(&found).map_err(Fault::new)
    }

    /// The steps in which a sheet is filled in, in order. Empty if the ruleset declares none.
    ///
    /// # Errors
    ///
    /// The fault of the script.
    pub fn sheet_steps(self: &Arc<Ruleset>, switches: BTreeMap<String, Value>) -> Result<Vec<SheetStep>, Fault> {
        if !self.creates(CreationPart::Steps) {
            return Ok(Vec::new());
        }
        let found = self.create(CreationPart::Steps, &Value::None, switches)?;
        SheetStep::all(&found).map_err(Fault::new)
    }

    /// The price of a sheet. `None` if the rules have no prices.
    ///
    /// # Errors
    ///
    /// The fault of the script.
    pub fn price_sheet(
        self: &Arc<Ruleset>,
        sheet: &Value,
        switches: BTreeMap<String, Value>,
    ) -> Result<Option<SheetPrice>, Fault> {
        if !self.creates(CreationPart::Price) {
            return Ok(None);
        }
        let found = self.create(CreationPart::Price, sheet, switches)?;
        let wrong = "creation.price must return { lines = { { text, cost } }, have }";
        SheetPrice::of(&found).map(Some).ok_or_else(|| Fault::new(wrong))
    }

    /// Converts a sheet to the entity that it becomes in play.
    ///
    /// # Errors
    ///
    /// The fault of the script, such as a key that no sheet has.
    pub fn build_sheet(
        self: &Arc<Ruleset>,
        sheet: &Value,
        switches: BTreeMap<String, Value>,
    ) -> Result<BuiltSheet, Fault> {
        let built = self.create(CreationPart::Build, sheet, switches)?;
        if let Value::List(found) = &built
            && let [Value::Text(kind), Value::Map(fields)] = &found[..]
        {
            let fields = fields.iter().map(|(name, value)| (name.to_string(), value.clone())).collect();
            return Ok(BuiltSheet { kind: kind.to_string(), fields });
        }
        Err(Fault::new("creation.build must return a kind and its fields"))
    }

    /// Builds a starting position from sides with their names and sheets. People play the first side.
    ///
    /// # Errors
    ///
    /// The ruleset builds no positions; the fault of the script.
    pub fn position_of(
        self: &Arc<Ruleset>,
        sides: &[(String, Vec<Value>)],
        switches: BTreeMap<String, Value>,
    ) -> Result<Value, Fault> {
        let side = |(name, sheets): &(String, Vec<Value>)| {
            Value::map([("name".to_owned(), Value::text(name)), ("sheets".to_owned(), Value::list(sheets.clone()))])
        };
        self.create(CreationPart::Position, &Value::list(sides.iter().map(side)), switches)
    }

    fn create(
        self: &Arc<Ruleset>,
        part: CreationPart,
        argument: &Value,
        switches: BTreeMap<String, Value>,
    ) -> Result<Value, Fault> {
        if let Err(why) = Value::must_fit([argument].into_iter().chain(switches.values())) {
            std::mem::forget(switches);
            return Err(Fault::new(why));
        }
        let mut context = ActionContext::idle(self);
        context.switches = Arc::new(switches);
        let argument = argument.clone();
        self.run(move |vm| vm.creation(&mut context, part, &argument))
            .map_err(|_| Fault::new("the script worker has died"))?
    }
}

impl Session {
    /// Writes the sheet of an entity in play, in the form that creation reads, with its current damage and belongings.
    /// `None` if the ruleset writes no sheets.
    ///
    /// # Errors
    ///
    /// The fault of the script.
    pub fn written_sheet(&mut self, entity: EntityId) -> Result<Option<Value>, Fault> {
        if !self.ruleset().creates(CreationPart::Sheet) {
            return Ok(None);
        }
        self.look(move |game, vm| vm.creation(&mut game.context, CreationPart::Sheet, &Value::Entity(entity))).map(Some)
    }
}
