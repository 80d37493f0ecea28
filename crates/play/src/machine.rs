//! The traits that a game needs of the engine that runs its scripts. Another module implements them for one language.

use std::any::Any;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use super::migration::Former;
use super::{ActionContext, Explanation, Fault, Fingerprint, FreeAct, KeepPlace, Order, SheetRow, WorkedOut};
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

    /// Begins on another thread with what a machine for this ruleset needs, while one is made.
    fn load_ahead(&self, stack: &Arc<Stack>);

    /// Begins on another thread with what every machine needs, while a ruleset is read.
    fn begin_ahead(&self);

    /// Returns the memory of dropped machines to the system.
    fn give_back(&self);

    /// What finds the file and line of the script that runs on this thread; an empty text where none does.
    fn place(&self) -> fn() -> String;
}

/// One script machine with one ruleset in it. It runs one game at a time and keeps nothing of it.
///
/// What stopped a script, if it was not the script's fault, stands in the context's `stop`.
pub trait Machine {
    // Running

    /// Runs a part of an action.
    ///
    /// # Errors
    ///
    /// What the script did wrong.
    fn call(&mut self, context: &mut ActionContext, call: &Call) -> Result<Value, Fault>;

    /// Whether a game with these drivers can run entry after entry inside the machine: nothing has to be worked out
    /// between two of them.
    fn runs_on(&self, context: &ActionContext) -> bool;

    /// Runs entry after entry for as long as [`ActionContext::next_headless`] gives one.
    fn run_on(&mut self, context: &mut ActionContext) -> Result<(), Fault>;

    /// The free act that a policy takes before the next entry, if one does.
    fn policy_act(&mut self, context: &mut ActionContext) -> Result<Option<PolicyAct>, Fault>;

    /// Computes the keys of the entries whose ruleset does that, and moves them. All keys together have the budget of one action.
    fn renew_keys(&mut self, context: &mut ActionContext) -> Result<(), Fault>;

    /// Settles which of the entries with equal keys goes first, where their ruleset says how.
    ///
    /// The ruleset's function may ask and roll: it is a part of the action that it opens.
    fn settle_tie(&mut self, context: &mut ActionContext, first: EntryId) -> Result<EntryId, Fault>;

    /// Runs the file of `convert/` for a ruleset over a state that has been carried over by name already.
    fn convert(&mut self, context: &mut ActionContext, former: &Former) -> Result<(), Fault>;

    // Looking: whatever a script tries to change is a fault

    /// Reads something without changing the game.
    fn look(&mut self, context: &mut ActionContext, call: &Call) -> Result<Value, Fault>;

    /// Works out a derived value with its terms. `args`: what it takes after the entity.
    fn explain(
        &mut self,
        context: &mut ActionContext,
        entity: EntityId,
        name: &str,
        args: &[Value],
    ) -> Result<Explanation, Fault>;

    /// The sheet of an entity.
    fn sheet(&mut self, context: &mut ActionContext, entity: EntityId) -> Result<Vec<SheetRow>, Fault>;

    /// Derived values of entities that are whole numbers and depend on nothing hidden; the others are left out. All of them
    /// together have the budget of one action.
    fn numbers(&mut self, context: &mut ActionContext, wanted: &[(EntityId, Arc<str>)]) -> WorkedOut;

    /// What an overview says of entities. All of them together have the budget of one action.
    fn overview(&mut self, context: &mut ActionContext, entities: &[EntityId]) -> Result<Vec<Lines>, Fault>;

    /// What the ruleset shows a seat under a name.
    fn view(&mut self, context: &mut ActionContext, name: &str, seat: &str) -> Result<Lines, Fault>;

    /// The order of play, if the ruleset has one now.
    fn order(&mut self, context: &mut ActionContext, seat: &str) -> Result<Option<Order>, Fault>;

    /// The text that the ruleset puts before the prompt.
    fn prompt(&mut self, context: &mut ActionContext, about: Option<EntityId>, seat: &str) -> Result<String, Fault>;

    /// What the state is worth to a seat, if the ruleset measures that.
    fn worth(&mut self, context: &mut ActionContext, seat: &str) -> Result<Option<i64>, Fault>;

    /// How the game has ended, by the ruleset's name for it; `None` if it does not say.
    fn result(&mut self, context: &mut ActionContext) -> Result<Option<String>, Fault>;

    /// The numbers that the ruleset works out for statistics. All of them together have the work of one action,
    /// each an equal share.
    fn statistics(&mut self, context: &mut ActionContext, labels: &[Arc<str>]) -> Result<Vec<i64>, Fault>;

    /// The acts that are nobody's turn, for every seat that may know of them.
    fn free_acts(&mut self, context: &mut ActionContext) -> Vec<FreeAct>;

    /// Calls a function of `creation.luau`; what it gives back is plain data.
    fn creation(&mut self, context: &mut ActionContext, part: CreationPart, argument: &Value) -> Result<Value, Fault>;

    /// How often each line of the scripts has run; nothing unless the ruleset was loaded to be measured.
    fn hits(&self) -> Hits;

    /// File and line of an agenda entry, of a statistic or of `result`, whichever has this name.
    fn place_of(&self, name: &str) -> Option<String>;

    // Exploring. The defaults are for a machine that takes neither fingerprints nor snapshots.

    /// Prepares for exploring: returns the function that takes fingerprints, or `None` if the engine cannot.
    fn begin_exploring(&mut self) -> Option<Fingerprint> {
        None
    }

    fn end_exploring(&mut self) {}

    /// How much work the last call of a script was, as the budget counts it, with the fingerprints that were taken since this was
    /// asked last.
    fn work_of_last_call(&self) -> u64;

    /// How much work all calls of scripts on this thread were that have ended.
    fn work_of_thread(&self) -> u64;

    /// Returns the function that takes snapshots of the running script; `None` if this machine cannot.
    fn begin_keeping(&mut self) -> Option<KeepPlace> {
        None
    }

    /// Continues a script from a snapshot, with the result of the roll there. Returns false if it could not or the script failed:
    /// then run it from its start.
    fn go_on(&mut self, _: &mut ActionContext, _: &(dyn Any + Send + Sync), _: &Value) -> bool {
        false
    }

    /// What scripts keep between runs; `None` where that cannot be told.
    fn kept(&self) -> Option<Vec<u8>> {
        None
    }

    // Looking after it

    /// The processor time of the thread that it runs on.
    fn clock(&self) -> Duration;

    /// Limits the memory of scripts to this many bytes more than are in use now.
    fn hold_to(&mut self, bytes: usize);

    /// Marks the machine as unusable after a failure in the middle of a run.
    fn discard(&mut self);

    /// Whether a budget was spent in it, so that it must not be used again.
    fn is_dead(&self) -> bool;

    /// Whether it was memory that was spent.
    fn ran_out_of_memory(&self) -> bool;
}

/// What to run.
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
    /// Makes anew, by chance, what a seat cannot see.
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

/// Label and text, line by line.
pub type Lines = Vec<(String, String)>;

/// How often lines have run, by file and line.
pub type Hits = BTreeMap<String, BTreeMap<u32, u64>>;

#[cfg(test)]
mod tests {
    use super::Engine;

    /// No test of this crate plays a game, so none of them links an engine.
    #[unsafe(no_mangle)]
    extern "Rust" fn riskbreaker_script_engine() -> &'static dyn Engine {
        unimplemented!("tests that play games stand in the crates above")
    }
}
