//! Checks the functions of hooks, by verb and phase.

use super::lints;
use super::script::ScriptReader;
use super::syntax::{returned, text};
use super::value_type::ValueType;
use riskbreaker_script::syntax::{AstNode, ExpressionKind, Function, StatementView};

impl ScriptReader<'_> {
    /// Checks a function that runs `before`, `after` or around a verb.
    pub(super) fn hooked(&mut self, phase: &str, verb: &str, function: &Function<'_>) {
        let takes: &[&str] = if phase == "wrap" { &["e", "proceed", "holder"] } else { &["e", "holder"] };
        if let Some(more) = function.args.get(takes.len()) {
            let wrong = format!("a hook `{phase}` a verb is given {} values, and this is one more", takes.len());
            let cure = format!("write function({}); the values of `{verb}` are in `e`", takes.join(", "));
            return self.problem(&lints::hook_parameters::LINT, more.location, (wrong, cure));
        }
        if phase == "wrap" {
            return self.goes_on_below(verb, function);
        }
        self.returned_by_hook(function);
        if phase == "after" {
            self.written_too_late(verb, function);
        }
        self.calls_itself(verb, function);
    }

    /// Reports a function around a verb that does not run the verb, or drops its result. A parameter `_proceed` says
    /// that this is intended.
    fn goes_on_below(&mut self, verb: &str, function: &Function<'_>) {
        let proceed = function.args.get(1);
        if proceed.is_none_or(|proceed| !text(proceed.name).starts_with('_') && !self.evidence.is_used(proceed.id)) {
            let wrong = format!("`{verb}` does not run any more: its second value, which runs it, is not used");
            let at = proceed.map_or(function.location, |proceed| proceed.location);
            let cure = "write function(e, proceed, holder) and `return proceed(e)`; where it is not to run, call the \
                        parameter `_proceed`";
            return self.problem(&lints::hook_skips_verb::LINT, at, (wrong, cure.into()));
        }
        let answers = self.known.names.verb(verb).is_some_and(|verb| verb.answers);
        if answers && proceed.is_some_and(|proceed| !text(proceed.name).starts_with('_')) {
            self.gives_nothing(function, &format!("`{verb}` gives something back, and this function"));
        }
    }

    /// Reports a number or a text that a hook returns, which the verb does not use.
    fn returned_by_hook(&mut self, function: &Function<'_>) {
        let returns = returned(function.body);
        for first in returns.iter().filter_map(|values| values.first()) {
            if let Some(given @ (ValueType::Number | ValueType::Text)) = self.value_type(*first) {
                let wrong = format!("a hook returns {} here, and nothing takes it", given.words());
                let cure =
                    "write `e.NAME = value` to change what the verb is given, or `return false, reason` to refuse it";
                self.problem(&lints::hook_result::LINT, first.location(), (wrong, cure.into()));
            }
        }
    }

    /// Reports a change of the verb's values in a hook that runs after the verb.
    fn written_too_late(&mut self, verb: &str, function: &Function<'_>) {
        let Some(event) = function.args.first().map(|event| event.id) else { return };
        let Some(declared) = self.known.rules.and_then(|rules| rules.verb(verb)) else { return };
        let mut writes = Vec::new();
        function.body.visit(&mut |node: AstNode<'_>| {
            let AstNode::Statement(statement) = node else { return true };
            for target in statement.assigned() {
                if let ExpressionKind::IndexName { expr, index, index_location, .. } = target.kind()
                    && let ExpressionKind::Local { local, .. } = expr.kind()
                    && local.id == event
                {
                    writes.push((text(index), index_location));
                }
            }
            true
        });
        for (name, at) in writes.into_iter().filter(|(name, _)| declared.param(name).is_some()) {
            let wrong = format!("`{verb}` has run already: a change of `{name}` comes too late");
            self.problem(
                &lints::hook_too_late::LINT,
                at,
                (wrong, "move it to a hook `before`; `e.result` is what can be changed after".into()),
            );
        }
    }

    /// Reports a hook that always runs its own verb again, which never ends.
    fn calls_itself(&mut self, verb: &str, function: &Function<'_>) {
        let again = format!("rb.act.{verb}");
        for statement in function.body.as_slice() {
            let call = match statement.view() {
                StatementView::Expression(statement) => statement.expr,
                StatementView::Local(local) => match local.values {
                    [value] => *value,
                    _ => continue,
                },
                StatementView::Assign(_) | StatementView::CompoundAssign(_) => continue,
                // After another statement, the function may have returned already.
                _ => return,
            };
            if let ExpressionKind::Call { func, self_call, .. } = call.kind()
                && self.called(func, self_call).is_some_and(|called| called.name == again)
            {
                let wrong = format!("the hook does `{verb}` again each time, and so it is called without end");
                let cure = format!("put a condition before it, or change what `{verb}` is given: e.NAME = value");
                return self.problem(&lints::hook_recursion::LINT, call.location(), (wrong, cure));
            }
        }
    }
}
