//! The members that can be read off an expression.

use std::collections::BTreeSet;

use crate::inference::Inference;
use crate::inference::symbol::Symbol;
use crate::inference::value_type::ValueType;
use crate::members::Members;
use crate::syntax::text;
use riskbreaker_script::syntax::{Expression, ExpressionKind};

impl Inference<'_> {
    /// What can be read off an expression; `None` if nothing is known of it.
    pub(crate) fn members_of(&self, of: Expression<'_>) -> Option<Members> {
        let symbol = self.symbol(of);
        match symbol {
            Some(Symbol::Entity(Some(kind))) => Some(Members::Entity(Some(kind))),
            Some(Symbol::Entity(None)) => Some(Members::Entity(self.kind_by_name(of))),
            Some(Symbol::Module(path)) => {
                let members = self.known.names.module(&path)?.members.iter();
                let named = members
                    .map(|(name, function)| (name.clone(), function.as_ref().map(|function| function.params.clone())));
                Some(Members::Module(named.collect()))
            }
            Some(Symbol::Event { verb, may_be_over }) => {
                let result = may_be_over.then_some("result");
                let names = self.known.rules?.verb(&verb)?.names().chain(result);
                Some(Members::Event(names.map(str::to_owned).collect()))
            }
            Some(Symbol::Holder) => Some(Members::Attached),
            Some(Symbol::Question) => Some(Members::Question),
            Some(Symbol::Entities(_) | Symbol::Switch(_)) => Some(Members::Nothing),
            Some(Symbol::Vocabulary | Symbol::Word(_) | Symbol::Library(_) | Symbol::Spec | Symbol::Change) => None,
            Some(Symbol::HookData(hook)) => {
                let data = self.known.rules?.hook_data(&hook)?;
                Some(Members::Data(data.iter().map(|param| param.name.clone()).collect()))
            }
            Some(Symbol::AnyHookData) => {
                let names: BTreeSet<&str> = self.names_of_any_data().into_iter().collect();
                Some(Members::Data(names.into_iter().map(str::to_owned).collect()))
            }
            Some(Symbol::Context) => Some(self.members_of_context()),
            None if matches!(of.kind(), ExpressionKind::Local { local, .. } if local.name == "ctx") => {
                Some(self.members_of_context())
            }
            None => match self.value_type(of) {
                Some(ValueType::Entity) => Some(Members::Entity(self.kind_by_name(of))),
                Some(
                    ValueType::Number
                    | ValueType::Truth
                    | ValueType::Function
                    | ValueType::List
                    | ValueType::Record
                    | ValueType::Sum,
                ) => Some(Members::Nothing),
                Some(ValueType::Text) => Some(Members::Text),
                Some(ValueType::Table) => None,
                Some(ValueType::Attached) => Some(Members::Attached),
                None => self.kind_by_name(of).map(|kind| Members::Entity(Some(kind))),
            },
        }
    }

    /// The members of the context of a card: those that the ruleset declares, and others that scripts read.
    pub(crate) fn members_of_context(&self) -> Members {
        let declared = self.known.rules.map_or(&[][..], |rules| rules.context());
        let declared = declared.iter().map(|param| param.name.clone());
        let read = self.known.names.read_off("ctx").filter(|name| *name != Members::MARK).map(str::to_owned);
        let names: BTreeSet<String> = declared.chain(read).collect();
        Members::Context(names.into_iter().collect())
    }

    /// The kind that the name of a variable or a member is.
    pub(crate) fn kind_by_name(&self, of: Expression<'_>) -> Option<String> {
        let name = match of.kind() {
            ExpressionKind::Local { local, .. } => text(local.name),
            ExpressionKind::IndexName { index, .. } => text(index),
            ExpressionKind::Grouped(inner) => return self.kind_by_name(inner),
            _ => return None,
        };
        self.known.kind(&name).map(|kind| kind.name.to_string())
    }
}
