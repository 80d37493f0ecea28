//! Requests for other rules.

use std::sync::Arc;

use crate::Ruleset;

/// A request for rules that take effect at the next boundary.
#[derive(Clone, Debug)]
pub struct Pending {
    /// The requested rules. `None` cancels earlier requests.
    pub rules: Option<Arc<Ruleset>>,
    /// The number of the next decision when the request was made.
    pub asked_at: u32,
}
