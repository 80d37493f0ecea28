//! Values that may be nil: searches, entries of maps, and what may be left out.

use std::collections::BTreeSet;

use crate::inference::Inference;
use crate::inference::symbol::{Symbol, declared};
use crate::syntax::{local_id, text};
use riskbreaker_ruleset::Param;
use riskbreaker_script::syntax::{Expression, ExpressionKind, Location};
use riskbreaker_state::Type;

/// Why a value may be nil.
#[derive(Clone, Debug)]
pub(crate) enum Absent {
    /// An entry of a map, by the map's name, and whether its entries are numbers.
    Entry { map: String, is_number: bool },
    /// A search that may find nothing, as it is written: `rb.relation`.
    Search(String),
    /// A name that may be left out where it is declared.
    LeftOut(String),
    /// A name of the data of a hook, which some script attaches without it; `None` for the data themselves.
    NotGiven { hook: String, name: Option<String> },
}

/// A value that may be nil, and where it is written.
#[derive(Clone, Debug)]
pub(crate) struct AbsentValue {
    pub why: Absent,
    pub at: Location,
}

impl Inference<'_> {
    /// Returns why a value may be nil, if nothing in the file tests it; `None` if it is always there or nothing is known
    /// of it.
    pub(crate) fn may_be_nil(&self, value: Expression<'_>) -> Option<AbsentValue> {
        match value.kind() {
            ExpressionKind::Grouped(inner) | ExpressionKind::TypeAssertion { expr: inner, .. } => {
                self.may_be_nil(inner)
            }
            ExpressionKind::Local { local, .. } => {
                self.absent.get(&local.id).filter(|_| !self.tested.locals.contains(&local.id)).cloned()
            }
            _ => {
                let why = self.why_absent(value).filter(|_| !self.is_tested(value))?;
                Some(AbsentValue { why, at: value.location() })
            }
        }
    }

    /// Returns why a value that is no variable may be nil.
    pub(crate) fn why_absent(&self, value: Expression<'_>) -> Option<Absent> {
        if self.is_spec() {
            return None;
        }
        match value.kind() {
            ExpressionKind::Grouped(inner) | ExpressionKind::TypeAssertion { expr: inner, .. } => {
                self.why_absent(inner)
            }
            ExpressionKind::IndexExpr { expr, index } => self.absent_entry(expr, index),
            ExpressionKind::IndexName { expr, index, .. } => {
                let name = text(index);
                if let Some(param) = self.declared_member(expr, &name) {
                    return param.optional.then_some(Absent::LeftOut(name));
                }
                self.not_given(expr, &name)
            }
            // What a word such as `rb.first` searches may always be there, for example the one of a seat.
            ExpressionKind::Call { func, self_call, .. } => {
                let called = self.called(func, self_call)?;
                // Elsewhere, a choice before the call may have made sure that there is one.
                let is_here = called.file.as_deref() == Some(self.full_path());
                (is_here && called.signature.gives_nil).then_some(())?;
                let is_tested = called.known_as().is_some_and(|name| self.known.names.is_tested_elsewhere(&name));
                is_tested.then_some(Absent::Search(called.name))
            }
            _ => None,
        }
    }

    /// The entry of a map field under a key that is not one of a loop over the map.
    fn absent_entry(&self, map: Expression<'_>, key: Expression<'_>) -> Option<Absent> {
        let ExpressionKind::IndexName { expr, index, .. } = map.kind() else { return None };
        if local_id(key).is_some_and(|id| self.loop_keys.contains(&id)) || self.is_made_here(expr) {
            return None;
        }
        let name = text(index);
        let owner = match self.symbol(expr) {
            Some(Symbol::Entity(kind)) => Some(Symbol::Entity(kind)),
            None => None,
            Some(_) => return None,
        };
        let types = self.types_at(&owner, &name);
        let elements = types.iter().map(|ty| match ty {
            Type::Map(element) => Some(&**element),
            _ => None,
        });
        let elements: Vec<&Type> = elements.collect::<Option<_>>()?;
        let is_number = elements.iter().all(|ty| matches!(ty, Type::Int { .. }));
        (!elements.is_empty()).then_some(Absent::Entry { map: name, is_number })
    }

    /// The data of a hook that declares none, or a name in them, if some script attaches the hook without it.
    fn not_given(&self, of: Expression<'_>, name: &str) -> Option<Absent> {
        let (holder, name) = match of.kind() {
            ExpressionKind::IndexName { expr, index, .. } if index == "data" => (expr, Some(name)),
            _ if name == "data" => (of, None),
            _ => return None,
        };
        let hook = self.hook_of(holder).filter(|_| self.symbol(holder) == Some(Symbol::Holder))?;
        let is_declared = self.known.rules?.hook_data(&hook).is_some();
        let is_lacking = !is_declared && self.known.names.is_attached_without(&hook, name);
        is_lacking.then(|| Absent::NotGiven { hook, name: name.map(str::to_owned) })
    }

    /// What is declared of a member of the data of a hook.
    fn declared_member(&self, of: Expression<'_>, name: &str) -> Option<&Param> {
        match self.symbol(of)? {
            Symbol::HookData(hook) => declared(self.known.rules?.hook_data(&hook)?, name),
            Symbol::Event { verb, .. } => self.known.rules?.verb(&verb).filter(|verb| verb.is_typed)?.param(name),
            _ => None,
        }
    }

    /// Whether some condition of the file names the same expression.
    fn is_tested(&self, value: Expression<'_>) -> bool {
        let written = |at: Location| {
            let line = self.lines.get_or_init(|| self.text.lines().collect()).get(at.begin.line as usize)?;
            line.get(at.begin.column as usize..at.end.column as usize).filter(|_| at.begin.line == at.end.line)
        };
        let tested: &BTreeSet<&str> =
            self.tested_texts.get_or_init(|| self.tested.places.iter().filter_map(|at| written(*at)).collect());
        written(value.location()).is_none_or(|written| tested.contains(written))
    }
}
