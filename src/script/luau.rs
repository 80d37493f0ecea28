use std::sync::Arc;

use super::compile;
use super::host::current_place;
use super::sandbox::give_back;
use super::vm::Vm;
use crate::play::{Engine, Machine, Machines, Reading, Ruleset, Session, StartError};
use crate::ruleset::{Declarations, Library, LoadError, Stack, with_layers};

/// The engine that runs scripts in Luau.
pub(crate) struct Luau;

/// The engine of every ruleset that the library loads.
static ENGINE: Luau = Luau;

impl Engine for Luau {
    fn load(&self, stack: &Arc<Stack>) -> Result<(Box<dyn Machine>, Arc<Declarations>), LoadError> {
        Vm::load(stack).map(|(vm, declarations)| (Box::new(vm) as Box<dyn Machine>, declarations))
    }

    fn load_ahead(&self, stack: &Arc<Stack>) {
        compile::ahead(stack);
    }

    fn give_back(&self) {
        give_back();
    }

    fn place(&self) -> fn() -> String {
        current_place
    }
}

impl Ruleset {
    /// Loads a ruleset with everything it extends and the layers its manifest names.
    ///
    /// # Errors
    ///
    /// Every problem of the ruleset at once, with file and line.
    pub fn load(library: &Library, id: &str) -> Result<Arc<Ruleset>, LoadError> {
        Ruleset::load_with(library, id, &[])
    }

    /// Loads a ruleset with further layers on top; `game+house` is the ruleset `game` with the layer `house`.
    ///
    /// # Errors
    ///
    /// As [`Ruleset::load`].
    pub fn load_with(library: &Library, id: &str, layers: &[String]) -> Result<Arc<Ruleset>, LoadError> {
        compile::prelude_ahead();
        Ruleset::load_on(Machines::default(), library, id, layers)
    }

    /// Finds a ruleset of that content that is in use, with the machines that it has, and loads it where there is none: for
    /// servers of many games. The last four that were found or loaded like this are kept for the next game. Files that look as
    /// they did when they were read last are not read again.
    ///
    /// # Errors
    ///
    /// As [`Ruleset::load`].
    pub fn shared(library: &Library, id: &str, layers: &[String]) -> Result<Arc<Ruleset>, LoadError> {
        Ruleset::shared_on(Machines::default(), library, id, layers)
    }

    /// The same, and says where its scripts run if it has to be loaded.
    ///
    /// # Errors
    ///
    /// As [`Ruleset::load`].
    pub fn shared_on(
        machines: Machines,
        library: &Library,
        id: &str,
        layers: &[String],
    ) -> Result<Arc<Ruleset>, LoadError> {
        Ruleset::find_or_load(&ENGINE, machines, library, id, layers)
    }

    /// The same as [`Ruleset::load_with`], and says where its scripts run.
    ///
    /// # Errors
    ///
    /// As [`Ruleset::load`].
    pub fn load_on(
        machines: Machines,
        library: &Library,
        id: &str,
        layers: &[String],
    ) -> Result<Arc<Ruleset>, LoadError> {
        let (id, layers) = with_layers(id, layers);
        Ruleset::of_stack(&ENGINE, Arc::new(Stack::resolve(library, &id, &layers)?), &layers, machines)
    }

    /// Loads a ruleset whose scripts count which of their lines run.
    pub fn load_measured(library: &Library, id: &str, layers: &[String]) -> Result<Arc<Ruleset>, LoadError> {
        let stack = Stack::resolve(library, id, layers)?.measured();
        Ruleset::of_stack(&ENGINE, Arc::new(stack), layers, Machines::default())
    }

    /// Loads what has been read.
    #[cfg(feature = "watch")]
    pub fn load_read(stack: Arc<Stack>, layers: &[String]) -> Result<Arc<Ruleset>, LoadError> {
        Ruleset::of_stack(&ENGINE, stack, layers, Machines::default())
    }
}

impl Session {
    /// Reads a saved game. Under the same rules it goes on from the checkpoint in the save, at the end of its tape. The tape is
    /// played when something reaches behind the checkpoint; [`Session::load_by_tape`] plays all of it. Under other rules the
    /// tape is played again at once.
    ///
    /// A ruleset of the same content that is in use is shared: any number of games have one ruleset and its machines.
    ///
    /// # Errors
    ///
    /// A text that is no saved game, rules that cannot be loaded, or rules under which the tape does not fit any more.
    pub fn load(library: &Library, text: &str) -> Result<Session, StartError> {
        Session::load_by(&ENGINE, library, None, text, Reading::End)
    }

    /// Reads a saved game by playing its tape again, and compares what comes of it with its checkpoint.
    ///
    /// # Errors
    ///
    /// As [`Session::load`]; a tape that leads to another state.
    pub fn load_by_tape(library: &Library, text: &str) -> Result<Session, StartError> {
        Session::load_by(&ENGINE, library, None, text, Reading::Tape)
    }

    /// The same under a ruleset that is loaded already, so that no file is read. Where the game began by other rules, or
    /// changes its rules on the way, those come from the library.
    ///
    /// # Errors
    ///
    /// As [`Session::load`].
    pub fn load_with(library: &Library, rules: &Arc<Ruleset>, text: &str) -> Result<Session, StartError> {
        Session::load_by(&ENGINE, library, Some(rules), text, Reading::End)
    }
}
