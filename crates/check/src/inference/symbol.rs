//! The meaning of a name.

use riskbreaker_ruleset::{Param, ParamType};
use riskbreaker_state::Type;

/// The meaning of an expression, as far as the check can know it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Symbol {
    Vocabulary,
    Word(&'static str),
    Entity(Option<String>),
    Entities(Option<String>),
    Library(&'static str),
    /// The table that another file returns, by the file's path.
    Module(String),
    /// The value of a house rule, by its name.
    Switch(String),
    /// The event that a hook takes.
    Event {
        verb: String,
        /// Whether the verb may have run, so that the event has a `result`.
        may_be_over: bool,
    },
    /// What a card is given, where the ruleset declares it.
    Context,
    /// The data of an attachment, of a hook that declares them.
    HookData(String),
    /// The data of an attachment whose hook is not known.
    AnyHookData,
    /// Something that is attached to an entity, as hooks and `rb.attached` get it.
    Holder,
    /// The question that a policy answers.
    Question,
    /// What a conversion of a game is given.
    Change,
    Spec,
}

/// The longest chain of members and calls that is followed. Beyond it, the meaning is unknown.
pub(crate) const LONGEST_CHAIN: usize = 32;

/// One of some declared names.
pub(crate) fn declared<'p>(params: &'p [Param], name: &str) -> Option<&'p Param> {
    params.iter().find(|param| param.name == name)
}

pub(crate) fn symbol_of_param(param: &Param) -> Option<Symbol> {
    match &param.ty {
        ParamType::Value(ty) => of_type(ty),
        ParamType::Any | ParamType::OneOf(_) | ParamType::Record(_) => None,
    }
}

pub(crate) fn of_type(ty: &Type) -> Option<Symbol> {
    let name = |kind: &Option<std::sync::Arc<str>>| kind.as_ref().map(|kind| kind.to_string());
    match ty {
        Type::Ref(kind) => Some(Symbol::Entity(name(kind))),
        Type::List(element) => match &**element {
            Type::Ref(kind) => Some(Symbol::Entities(name(kind))),
            _ => None,
        },
        _ => None,
    }
}
