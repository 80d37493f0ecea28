//! The traits of the script engine that a game needs. Another crate implements them for one script language.

mod fingerprint;
mod kept_place;
mod known_names;
mod pool;
mod ruleset;

pub use fingerprint::Fingerprint;
pub use kept_place::{KeepPlace, KeptPlace};
pub(crate) use known_names::{known_policy, known_seat};
pub use pool::{MACHINE_STACK, Machines};
pub use ruleset::Ruleset;

use std::any::Any;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use crate::{ActionContext, Explanation, Fault, Former, FreeAct, Order, SheetRow, WorkedOut};
use riskbreaker_ruleset::{CreationPart, Declarations, LoadError, Stack};
use riskbreaker_state::{EntityId, EntryId, Key, Value};

unsafe extern "Rust" {
    /// Returns the script engine of the program.
    ///
    /// A game needs an engine, and the engine is built on this code. So the function is only declared here. The crate of
    /// the engine defines it, and the linker joins the two: a program without that crate does not link.
    pub safe fn riskbreaker_script_engine() -> &'static dyn Engine;
}

/// Makes machines that run the scripts of a ruleset.
pub trait Engine: Send + Sync {
    /// Loads a ruleset into a fresh machine.
    ///
    /// # Errors
    ///
    /// Every problem of the ruleset at once.
    fn load(&self, stack: &Arc<Stack>) -> Result<(Box<dyn Machine>, Arc<Declarations>), LoadError>;

    /// Starts preparing a machine for this ruleset on another thread.
    fn load_ahead(&self, stack: &Arc<Stack>);

    /// Starts preparing the parts that all machines share on another thread, while a ruleset is read.
    fn begin_ahead(&self);

    /// Returns the memory of dropped machines to the system.
    fn give_back(&self);

    /// Returns the function that finds the file and line of the script running on this thread; its result is empty if
    /// none runs.
    fn place(&self) -> fn() -> String;
}

/// A script machine with one ruleset. It runs one game at a time and keeps no state of it.
///
/// If a script was stopped for another reason than a fault, the context's `stop` holds the reason.
pub trait Machine {
    // Running

    /// Runs one script of an action.
    ///
    /// # Errors
    ///
    /// The fault of the script.
    fn call(&mut self, context: &mut ActionContext, call: &Call) -> Result<Value, Fault>;

    /// True if a game with these drivers can run entry after entry inside the machine: nothing has to be computed
    /// between two entries.
    fn runs_on(&self, context: &ActionContext) -> bool;

    /// Runs entry after entry until [`ActionContext::next_headless`] returns `None`.
    fn run_on(&mut self, context: &mut ActionContext) -> Result<(), Fault>;

    /// The free act that a policy takes before the next entry. `None` if no policy takes one.
    fn policy_act(&mut self, context: &mut ActionContext) -> Result<Option<PolicyAct>, Fault>;

    /// Computes the keys of entries whose ruleset declares how, and moves the entries. All keys together have the
    /// budget of one action.
    fn renew_keys(&mut self, context: &mut ActionContext) -> Result<(), Fault>;

    /// Decides which of the entries with equal keys goes first, if their ruleset declares how.
    ///
    /// The ruleset's function may ask and roll: it is part of the action that it opens.
    fn settle_tie(&mut self, context: &mut ActionContext, first: EntryId) -> Result<EntryId, Fault>;

    /// Runs the conversion script of a ruleset over a state that was already carried over by name.
    fn convert(&mut self, context: &mut ActionContext, former: &Former) -> Result<(), Fault>;

    // Reading: an attempt to change the game is a fault

    /// Computes a value without changing the game.
    fn look(&mut self, context: &mut ActionContext, call: &Call) -> Result<Value, Fault>;

    /// Computes a derived value with its terms. `args`: its arguments after the entity.
    fn explain(
        &mut self,
        context: &mut ActionContext,
        entity: EntityId,
        name: &str,
        args: &[Value],
    ) -> Result<Explanation, Fault>;

    /// The rows of an entity's sheet.
    fn sheet(&mut self, context: &mut ActionContext, entity: EntityId) -> Result<Vec<SheetRow>, Fault>;

    /// Derived values of entities that are whole numbers and depend on nothing hidden; others are omitted. All together
    /// have the budget of one action.
    fn numbers(&mut self, context: &mut ActionContext, wanted: &[(EntityId, Arc<str>)]) -> WorkedOut;

    /// The overview lines of entities. All together have the budget of one action.
    fn overview(&mut self, context: &mut ActionContext, entities: &[EntityId]) -> Result<Vec<Lines>, Fault>;

    /// The lines of a named view for a seat.
    fn view(&mut self, context: &mut ActionContext, name: &str, seat: &str) -> Result<Lines, Fault>;

    /// The order of play. `None` if the ruleset has none now.
    fn order(&mut self, context: &mut ActionContext, seat: &str) -> Result<Option<Order>, Fault>;

    /// The text that the ruleset shows before the prompt.
    fn prompt(&mut self, context: &mut ActionContext, about: Option<EntityId>, seat: &str) -> Result<String, Fault>;

    /// The value of the state for a seat. `None` if the ruleset does not measure it.
    fn worth(&mut self, context: &mut ActionContext, seat: &str) -> Result<Option<i64>, Fault>;

    /// The ruleset's name for the result of the finished game. `None` if it gives none.
    fn result(&mut self, context: &mut ActionContext) -> Result<Option<String>, Fault>;

    /// The numbers that the ruleset computes for statistics. All together have the work of one action, each an equal
    /// share.
    fn statistics(&mut self, context: &mut ActionContext, labels: &[Arc<str>]) -> Result<Vec<i64>, Fault>;

    /// The free acts of every seat, with reasons for those that are closed now.
    fn free_acts(&mut self, context: &mut ActionContext) -> Vec<FreeAct>;

    /// Calls a function of `creation.luau`. The result is plain data.
    fn creation(&mut self, context: &mut ActionContext, part: CreationPart, argument: &Value) -> Result<Value, Fault>;

    /// How often each line of the scripts has run. Empty unless the ruleset was loaded for measuring.
    fn hits(&self) -> Hits;

    /// File and line of the agenda entry, statistic or `result` with this name.
    fn place_of(&self, name: &str) -> Option<String>;

    // Exploring. The defaults are for a machine that takes neither fingerprints nor snapshots.

    /// Prepares for exploring: returns the function that takes fingerprints, or `None` if the engine cannot.
    fn begin_exploring(&mut self) -> Option<Fingerprint> {
        None
    }

    fn end_exploring(&mut self) {}

    /// The work of the last script call, in units of the budget, including fingerprints taken since this was last read.
    fn work_of_last_call(&self) -> u64;

    /// The work of all finished script calls on this thread.
    fn work_of_thread(&self) -> u64;

    /// Returns the function that takes snapshots of the running script; `None` if this machine cannot.
    fn begin_keeping(&mut self) -> Option<KeepPlace> {
        None
    }

    /// Continues a script from a snapshot with the result of the roll there. Returns false if that was impossible or
    /// the script failed; the caller then runs the script from its start.
    fn go_on(&mut self, _: &mut ActionContext, _: &(dyn Any + Send + Sync), _: &Value) -> bool {
        false
    }

    /// The data that scripts keep between runs. `None` if the machine cannot tell.
    fn kept(&self) -> Option<Vec<u8>> {
        None
    }

    // Care

    /// The processor time of the machine's thread.
    fn clock(&self) -> Duration;

    /// Limits the memory of scripts to this many bytes more than are in use now.
    fn hold_to(&mut self, bytes: usize);

    /// Marks the machine as unusable after a failure in the middle of a run.
    fn discard(&mut self);

    /// True if a budget was spent in the machine, so that it must not be used again.
    fn is_dead(&self) -> bool;

    /// True if the spent budget was memory.
    fn ran_out_of_memory(&self) -> bool;
}

/// A script to run.
pub enum Call<'a> {
    Start {
        scenario: &'a Value,
    },
    Entry {
        what: &'a str,
        owner: Option<EntityId>,
        args: &'a Value,
        key: Key,
    },
    Free {
        seat: &'a str,
        name: &'a str,
    },
    /// Resamples what a seat cannot see.
    Deal {
        seat: &'a str,
    },
    Derived {
        entity: EntityId,
        name: &'a str,
        args: &'a [Value],
    },
}

/// A free act that a policy takes.
pub struct PolicyAct {
    pub seat: Arc<str>,
    pub name: Arc<str>,
}

/// Rows of a label and a text.
pub type Lines = Vec<(String, String)>;

/// How often each line has run, by file and line.
pub type Hits = BTreeMap<String, BTreeMap<u32, u64>>;

#[cfg(test)]
mod tests {
    use super::Engine;

    /// No test of this crate plays a game, so none links an engine.
    #[unsafe(no_mangle)]
    extern "Rust" fn riskbreaker_script_engine() -> &'static dyn Engine {
        unimplemented!("tests that play games stand in the crates above")
    }
}
