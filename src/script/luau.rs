use std::sync::Arc;

use super::host::current_place;
use super::sandbox::give_back;
use super::vm::Vm;
use crate::play::{Code, Engine, Machine, Ruleset, Session, StartError};
use crate::ruleset::{Declarations, Library, LoadError, Stack};

/// The engine that runs scripts in Luau.
pub(crate) struct Luau;

/// The engine of every ruleset that the library loads.
static ENGINE: Luau = Luau;

impl Engine for Luau {
    fn load(&self, stack: &Arc<Stack>, code: Code) -> Result<(Box<dyn Machine>, Arc<Declarations>), LoadError> {
        Vm::load(stack, code).map(|(vm, declarations)| (Box::new(vm) as Box<dyn Machine>, declarations))
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
        Ruleset::load_by(&ENGINE, library, id, &[])
    }

    /// Loads a ruleset with further layers on top; `game+house` is the ruleset `game` with the layer `house`.
    ///
    /// # Errors
    ///
    /// As [`Ruleset::load`].
    pub fn load_with(library: &Library, id: &str, layers: &[String]) -> Result<Arc<Ruleset>, LoadError> {
        Ruleset::load_by(&ENGINE, library, id, layers)
    }

    /// Loads a ruleset whose scripts count which of their lines run.
    pub(crate) fn load_measured(library: &Library, id: &str, layers: &[String]) -> Result<Arc<Ruleset>, LoadError> {
        Ruleset::of_stack(&ENGINE, Arc::new(Stack::resolve(library, id, layers)?.measured()), layers)
    }

    /// Loads what has been read.
    #[cfg(feature = "watch")]
    pub(crate) fn load_read(stack: Stack, layers: &[String]) -> Result<Arc<Ruleset>, LoadError> {
        Ruleset::of_stack(&ENGINE, Arc::new(stack), layers)
    }
}

impl Session {
    /// Reads a saved game by playing its tape again.
    ///
    /// # Errors
    ///
    /// A text that is no saved game, rules that cannot be loaded, or rules under which the tape does not fit any more.
    pub fn load(library: &Library, text: &str) -> Result<Session, StartError> {
        Session::load_by(&ENGINE, library, text)
    }
}
