//! Functions that return nothing.

use riskbreaker_script::syntax::Location;

/// A function that never returns a value.
#[derive(Clone, Debug)]
pub(crate) struct Silent {
    /// The function's name as it is called: `rb.act.deal`.
    pub name: String,
    /// The file's path with the ruleset's id; `None` if several files take part in the function.
    pub file: Option<String>,
    /// The position of its `end`.
    pub end: Location,
}
