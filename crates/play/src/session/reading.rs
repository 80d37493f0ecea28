//! What a session shows: the log, values with their reasons, and sheets.

use std::sync::Arc;

use super::Session;
use crate::context::{must_be_there, must_take, takes_more, with};
use crate::{Call, Event, Explanation, Fault, Refusal, SheetRow, View};
use riskbreaker_state::{EntityId, Value};

impl Session {
    /// The names of the disabled parts of the rules: see [`Edit::LeaveOut`](crate::Edit::LeaveOut).
    pub fn left_out(&self) -> impl Iterator<Item = &str> {
        self.game().context.state.left_out().iter().map(|name| &**name)
    }

    /// The events since the last call.
    pub fn take_events(&mut self) -> Vec<Event> {
        self.game_mut().take_events()
    }

    /// Drops the past of the event stream: a viewer that reads for the first time gets only the events that were not
    /// undone. The past is kept only for viewers that need it.
    #[cfg(feature = "serve")]
    #[doc(hidden)]
    pub fn forget_past(&mut self) {
        self.game_mut().stream.forget_past();
    }

    /// All events that were not taken back, in order.
    pub fn log(&self) -> Vec<Event> {
        self.game().log().collect()
    }

    /// A read-only view of the state.
    pub fn view(&self) -> View<'_> {
        View::new(&self.game().context)
    }

    /// Computes a derived value of an entity.
    ///
    /// # Errors
    ///
    /// The fault of the script, or of the call: the name or the entity does not exist.
    pub fn derived(&mut self, entity: EntityId, name: &str, args: &[Value]) -> Result<Value, Fault> {
        must_be_there(&self.view(), entity, args)?;
        let (name, args) = (name.to_string(), args.to_vec());
        self.look(move |game, vm| vm.look(&mut game.context, &Call::Derived { entity, name: &name, args: &args }))
    }

    /// Explains a number: the terms of a derived value with file and line, or the changes of a field.
    ///
    /// # Errors
    ///
    /// A sentence if the entity has no such field or value, or if the value needs further arguments.
    pub fn why(&mut self, entity: EntityId, name: &str) -> Result<Explanation, Refusal> {
        self.why_of(entity, name, &[])
    }

    /// Explains a derived value that takes arguments, such as another entity. `args`: the arguments.
    ///
    /// # Errors
    ///
    /// As [`Session::why`]; or there are too many or too few arguments.
    pub fn why_of(&mut self, entity: EntityId, name: &str, args: &[Value]) -> Result<Explanation, Refusal> {
        let view = self.view();
        if !view.exists(entity) {
            return Err(Refusal::NoEntity { entity });
        }
        must_take(&view, entity, name, args)?;
        if let Some(takes) = view.derived_takes(entity, name) {
            let alike = view.alike(entity);
            let mut explain = |args: &[Value]| {
                let (name, args) = (name.to_string(), args.to_vec());
                self.look(move |game, vm| vm.explain(&mut game.context, entity, &name, &args))
            };
            let fault = match explain(args) {
                Ok(found) => return Ok(found),
                Err(fault) => fault,
            };
            if takes.is_some_and(|takes| args.len() >= takes) {
                return Err(Refusal::fault(fault));
            }
            let other = alike.into_iter().find(|other| explain(&with(args, *other)).is_ok());
            return Err(takes_more(&self.view(), (entity, name), args, other, fault));
        }
        let value = view.field(entity, name).cloned().ok_or_else(|| view.unknown_name(entity, name))?;
        self.play_unplayed()?;
        Ok(self.game().history_of(entity, name, value))
    }

    /// The sheet of an entity, in rows of label and text.
    pub fn sheet(&mut self, entity: EntityId) -> Result<Vec<(String, String)>, Fault> {
        let rows = self.look(move |game, vm| vm.sheet(&mut game.context, entity))?;
        Ok(rows.into_iter().map(SheetRow::line).collect())
    }

    /// The overview of an entity, in rows of label and text. Empty if its kind has none.
    pub fn overview(&mut self, entity: EntityId) -> Result<Vec<(String, String)>, Fault> {
        self.overviews(vec![entity]).map(|all| all.into_iter().next().unwrap_or_default())
    }

    /// The overviews of several entities, whose scripts share the budget of one action.
    pub fn overviews(&mut self, entities: Vec<EntityId>) -> Result<Vec<Vec<(String, String)>>, Fault> {
        self.look(move |game, vm| vm.overview(&mut game.context, &entities))
    }

    /// A named view of the ruleset for a seat (see [`Rulebook::views`](riskbreaker_ruleset::Rulebook::views)), in rows
    /// of label and text.
    pub fn show(&mut self, name: &str, seat: &str) -> Result<Vec<(String, String)>, Fault> {
        let (name, seat) = (name.to_owned(), seat.to_owned());
        self.look(move |game, vm| vm.view(&mut game.context, &name, &seat))
    }

    /// The text that the ruleset shows before the prompt.
    pub fn prompt(&mut self) -> String {
        let question = self.questions().first().map(|question| (question.about, question.seat.clone()));
        let (about, seat) = question.unwrap_or((None, Arc::from("")));
        self.look(move |game, vm| vm.prompt(&mut game.context, about, &seat)).unwrap_or_default()
    }

    /// The outcome, if the game is over.
    pub fn outcome(&self) -> Option<&str> {
        let game = self.game();
        game.context.state.outcome().filter(|_| game.open.is_none())
    }

    /// The fault that stopped the game, if one did.
    pub fn fault(&self) -> Option<&Fault> {
        self.game().open.as_ref()?.fault.as_deref()
    }

    /// The fault as seats may see it. Only the game master gets the reason, or a roll that the seat may not see.
    pub fn fault_for_seats(&self) -> Option<Fault> {
        self.fault()?;
        Some(Fault::new(match self.missing_roll() {
            Some(_) => "the written dice have run out; the game master gives the next faces",
            None => "a script of the rules has failed; the game master says how to continue",
        }))
    }
}
