//! A dot is used instead of a colon, or a colon instead of a dot.

use crate::inference::symbol::Symbol;
use crate::lint::{Example, Lint, Severity};
use crate::lints::unknown_member::is_function_of_change;
use crate::reader::ScriptReader;
use crate::syntax::{literal, text};
use riskbreaker_script::api;
use riskbreaker_script::syntax::{Expression, ExpressionKind, Location};

pub(crate) static LINT: Lint = Lint {
    name: "dot-or-colon",
    severity: Severity::Error,
    summary: "a dot is used instead of a colon, or a colon instead of a dot",
    explanation: "A colon passes the value before it to the function as the first parameter. Methods and derived \
                  values of entities and the methods of `t` are called with a colon; words of `rb`, functions of \
                  files and functions of cards with a dot.",
    bad: Example::Resolve(r#"ctx.actor.add("rests", 1)"#),
    good: Example::Resolve(r#"ctx.actor:add("rests", 1)"#),
};

impl ScriptReader<'_> {
    /// Reports a dot in place of a colon, and a colon in place of a dot.
    pub(crate) fn dot_or_colon(&mut self, func: Expression<'_>, args: &[Expression<'_>], self_call: bool) {
        let ExpressionKind::IndexName { expr, index, index_location, .. } = func.kind() else { return };
        let name = text(index);
        if self_call {
            self.called_as_method(expr, &name, args, index_location);
        }
        let method = |known: &str| api::ENTITY_METHODS.contains(&known) || self.known.is_derived(known);
        let wrong = match self.symbol(expr) {
            Some(Symbol::Vocabulary) if self_call => format!("rb.{name}"),
            Some(Symbol::Word("act")) if self_call => format!("a dot: `.{name}(...)`"),
            Some(Symbol::Spec) if !self_call => format!("t:{name}"),
            Some(Symbol::Change) if self_call && is_function_of_change(&name) => format!("a dot: `.{name}(...)`"),
            // A file may define methods of its own table, which have no parameter of that name.
            Some(Symbol::Module(path))
                if self_call && path != self.full && self.takes_no_self(&path, &name, args.len()) =>
            {
                format!("a dot: `.{name}(...)`")
            }
            // With a dot, the call is right if its first argument is the entity.
            Some(Symbol::Entity(kind))
                if !self_call
                    && (method(&name) || kind.as_deref().is_some_and(|kind| self.is_derived_of(kind, &name)))
                    && !args.first().is_some_and(|arg| matches!(self.symbol(*arg), Some(Symbol::Entity(_)))) =>
            {
                format!("a colon: `:{name}({})`", if args.is_empty() { "" } else { "..." })
            }
            None if !self_call
                && args.is_empty()
                && self.known.is_derived(&name)
                && self.is_parameter(expr)
                && !self.is_self_of_module(expr, &name)
                && !self.locals.has_member(expr, &name) =>
            {
                format!("a colon: `:{name}()`")
            }
            None if !self_call
                && matches!(&*name, "set" | "add" | "shift")
                && args
                    .first()
                    .and_then(|arg| literal(*arg))
                    .is_some_and(|field| self.known.types_of(&field).next().is_some()) =>
            {
                format!("a colon: `:{name}(...)`")
            }
            _ => return,
        };
        let mark = if self_call { "a colon stands where a dot belongs" } else { "a dot stands where a colon belongs" };
        let change = self.mark_before(index_location, if self_call { "." } else { ":" });
        self.problem_with(&LINT, index_location, (mark.to_string(), format!("write {wrong}").into()), change);
    }

    /// Whether a function of a module takes exactly that many values and has no parameter `self`.
    pub(crate) fn takes_no_self(&self, path: &str, name: &str, given: usize) -> bool {
        let member = self.known.names.module(path).and_then(|module| module.members.get(name)?.as_ref());
        member.is_some_and(|function| {
            !function.spread && function.params.len() == given && function.params.iter().all(|param| param != "self")
        })
    }

    /// Whether an expression is the `self` of a function in the table that the file returns, which has that name.
    fn is_self_of_module(&self, expression: Expression<'_>, name: &str) -> bool {
        let module = self.known.names.module(self.full);
        matches!(expression.kind(), ExpressionKind::Local { local, .. } if local.name == "self")
            && module.is_some_and(|module| module.members.contains_key(name))
    }

    /// Whether an expression is a local variable that is not a module, or a member of one.
    pub(crate) fn is_parameter(&self, expression: Expression<'_>) -> bool {
        match expression.kind() {
            ExpressionKind::Local { .. } => {
                !matches!(self.symbol(expression), Some(Symbol::Module(_) | Symbol::Vocabulary))
            }
            ExpressionKind::IndexName { expr, .. } => self.is_parameter(expr),
            _ => false,
        }
    }

    /// Reports a function of a card that is called with a colon.
    pub(crate) fn function_of_a_card_by_colon(&mut self, name: &str, at: Location) {
        let wrong = "a colon stands where a dot belongs: it hands over the card first".to_string();
        let change = self.mark_before(at, ".");
        self.problem_with(&LINT, at, (wrong, format!("write `.{name}(...)`").into()), change);
    }
}
