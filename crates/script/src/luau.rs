use std::sync::Arc;

use super::compile;
use super::host::state::current_place;
use super::sandbox::give_back;
use super::vm::Vm;
use riskbreaker_play::{Engine, Machine};
use riskbreaker_ruleset::{Declarations, LoadError, Stack};

/// The engine that runs scripts in Luau.
pub(crate) struct Luau;

/// Returns the Luau engine to the crate `riskbreaker-play`.
// SAFETY: no other function in a program has this name, and the declaration has the same type.
#[unsafe(no_mangle)]
extern "Rust" fn riskbreaker_script_engine() -> &'static dyn Engine {
    &Luau
}

impl Engine for Luau {
    fn load(&self, stack: &Arc<Stack>) -> Result<(Box<dyn Machine>, Arc<Declarations>), LoadError> {
        Vm::load(stack).map(|(vm, declarations)| (Box::new(vm) as Box<dyn Machine>, declarations))
    }

    fn load_ahead(&self, stack: &Arc<Stack>) {
        compile::ahead(stack);
    }

    fn begin_ahead(&self) {
        compile::prelude_ahead();
    }

    fn give_back(&self) {
        give_back();
    }

    fn place(&self) -> fn() -> String {
        current_place
    }
}
