//! The rules with which a game began.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::stacked::Stacked;

/// The rules with which a game began, once others are in force.
#[derive(Clone, Debug)]
pub struct FirstRules {
    pub stacked: Stacked,
    pub hash: String,
    pub files: BTreeMap<Arc<str>, Arc<str>>,
}
