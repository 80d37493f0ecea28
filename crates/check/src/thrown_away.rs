//! Reports results that are computed and then not used.

use super::flow::falls_through;
use super::lints;
use super::script::ScriptReader;
use super::signature::Signature;
use super::symbol::Symbol;
use super::syntax::{returned, text};
use riskbreaker_script::syntax::{Expression, ExpressionKind, Function, StatementView};

/// Words that are called for what they give back: a list in another order is another list.
const RETURNING: [&str; 9] = ["shuffle", "draw", "filter", "each", "first", "sum", "distance", "within", "options"];

impl ScriptReader<'_> {
    /// Reports a statement that calls a function without effects and drops its result.
    pub(super) fn thrown_away(&mut self, statement: Expression<'_>) {
        let ExpressionKind::Call { func, self_call, .. } = statement.kind() else { return };
        if self.is_spec() {
            return;
        }
        let name = match self.called(func, self_call) {
            Some(called) if called.signature.pure && called.signature.answers => called.name,
            Some(_) => return,
            None => match self.harmless(func, self_call) {
                Some(name) => name,
                None => return,
            },
        };
        let wrong = format!("`{name}` changes nothing, and what it gives back is not used");
        self.problem(
            &lints::unused_result::LINT,
            statement.location(),
            (wrong, "write `local NAME = ` or `return` before it".into()),
        );
    }

    /// Returns the name of a library function or derived value that has a result and no effect.
    fn harmless(&self, func: Expression<'_>, self_call: bool) -> Option<String> {
        let ExpressionKind::IndexName { expr, index, .. } = func.kind() else { return None };
        let name = text(index);
        match self.symbol(expr)? {
            Symbol::Vocabulary if !self_call && RETURNING.contains(&&*name) => Some(format!("rb.{name}")),
            Symbol::Library(library @ ("math" | "string" | "bit32" | "utf8")) if !self_call => {
                Some(format!("{library}.{name}"))
            }
            Symbol::Library("table") if matches!(&*name, "find" | "concat" | "clone" | "unpack" | "create") => {
                Some(format!("table.{name}"))
            }
            Symbol::Entity(_) if self_call && self.known.is_derived(&name) => Some(format!(":{name}")),
            _ => None,
        }
    }

    /// Reports a function that returns a value on other paths, and drops the result of the call that ends it.
    pub(super) fn last_answer(&mut self, function: &Function<'_>) {
        let Some(StatementView::Expression(last)) = function.body.as_slice().last().map(|last| last.view()) else {
            return;
        };
        let ExpressionKind::Call { func, self_call, .. } = last.expr.kind() else { return };
        let returns = returned(function.body);
        let gives = returns.iter().any(|values| {
            values
                .first()
                .is_some_and(|first| !matches!(first.kind(), ExpressionKind::Nil | ExpressionKind::Boolean(_)))
        });
        if !gives || !falls_through(function.body) || self.is_spec() {
            return;
        }
        // The answer is the only effect of a policy.
        let policy = self.path.starts_with("policies/");
        let answers = |signature: &Signature| signature.answers || policy && signature.answers_at_times;
        if let Some(called) = self.called(func, self_call).filter(|called| answers(&called.signature)) {
            let wrong =
                format!("the function returns a value in other cases, and drops what `{}` gives back", called.name);
            self.problem(
                &lints::missing_return::LINT,
                last.expr.location(),
                (wrong, "write `return` before it".into()),
            );
        }
    }
}
