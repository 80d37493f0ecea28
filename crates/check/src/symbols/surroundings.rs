//! The functions of a ruleset as a script names them, and what reading a file needs to know of the others.

use std::collections::BTreeMap;

use crate::inference::evidence::FieldEvidence;
use crate::syntax::text;
use riskbreaker_script::syntax::{Expression, ExpressionKind};

/// A function of the ruleset, as a script names it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Callee {
    /// A function of the same file, by the number of its variable.
    Local(u64),
    /// `module.name`: the name in `require` and the function's name. An empty module is the file's own table.
    Member(String, String),
    Verb(String),
}

/// What reading the functions of a file needs to know of the rest.
#[derive(Clone, Copy)]
pub(crate) struct Surroundings<'f> {
    pub fields: &'f FieldEvidence,
    /// The local variables that hold modules, with the name in `require`.
    pub modules: &'f BTreeMap<u64, String>,
}

impl Surroundings<'_> {
    pub(crate) fn callee(&self, func: Expression<'_>) -> Option<Callee> {
        match func.kind() {
            ExpressionKind::Local { local, .. } => Some(Callee::Local(local.id)),
            ExpressionKind::IndexName { expr, index, .. } => match expr.kind() {
                ExpressionKind::Local { local, .. } => {
                    Some(Callee::Member(self.modules.get(&local.id)?.clone(), text(index)))
                }
                ExpressionKind::IndexName { expr, index: word, .. } if word == "act" && is_vocabulary(expr) => {
                    Some(Callee::Verb(text(index)))
                }
                _ => None,
            },
            _ => None,
        }
    }
}

impl Surroundings<'_> {
    /// Returns the name of a called function under which [`NamesOfFiles::given_to`] keeps what calls give; `None` for
    /// a function of the file itself that is no member of the table it returns, and for an unknown function.
    ///
    /// [`NamesOfFiles::given_to`]: crate::symbols::names::NamesOfFiles::given_to
    pub fn called_name(&self, func: Expression<'_>, file: &str) -> Option<String> {
        match self.callee(func)? {
            Callee::Local(_) => None,
            Callee::Verb(name) => Some(format!("act.{name}")),
            Callee::Member(module, name) if module.is_empty() => member_name(file, &name),
            Callee::Member(module, name) => {
                Some(format!("{}.{name}", module.strip_prefix("@parent/").unwrap_or(&module)))
            }
        }
    }
}

/// Returns the name of a function in the table that a file returns, without the ruleset's id: `lib/aim.at`.
pub(crate) fn member_name(file: &str, name: &str) -> Option<String> {
    let (_, inside) = file.split_once('/')?;
    Some(format!("{}.{name}", inside.strip_suffix(".luau")?))
}

pub(crate) fn is_vocabulary(expression: Expression<'_>) -> bool {
    matches!(expression.kind(), ExpressionKind::Local { local, .. } if local.name == "rb")
}
