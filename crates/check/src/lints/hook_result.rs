//! A hook returns a number or a text, which nothing takes.

use crate::inference::symbol::Symbol;
use crate::inference::value_type::ValueType;
use crate::lint::{Example, Lint, Severity};
use crate::reader::ScriptReader;
use crate::syntax::returned;
use riskbreaker_ruleset::TextChange;
use riskbreaker_script::syntax::{AstNode, Expression, ExpressionKind, Function, Location};

pub(crate) static LINT: Lint = Lint {
    name: "hook-result",
    severity: Severity::Error,
    summary: "a hook returns a number or a text, which nothing takes",
    explanation: "A function before a verb may return false and a reason to refuse it. It changes what the verb \
                  is given by `e.NAME = value`, and a function after the verb changes `e.result`. Other results \
                  are ignored.",
    bad: Example::Files(&[(
        "hooks/slack.luau",
        r#"local rb = require("@riskbreaker")

return rb.hook({
	id = "slack",
	always = true,
	before = {
		move_rope = function(e)
			return e.by - 1
		end,
	},
})
"#,
    )]),
    good: Example::Files(&[(
        "hooks/slack.luau",
        r#"local rb = require("@riskbreaker")

return rb.hook({
	id = "slack",
	always = true,
	before = {
		move_rope = function(e)
			e.by = e.by - 1
		end,
	},
})
"#,
    )]),
};

impl ScriptReader<'_> {
    /// Reports a number or a text that a hook returns, which the verb does not use.
    pub(crate) fn returned_by_hook(&mut self, function: &Function<'_>) {
        let returns = returned(function.body);
        for first in returns.iter().filter_map(|values| values.first()) {
            if let Some(given @ (ValueType::Number | ValueType::Text)) = self.value_type(*first) {
                let wrong = format!("a hook returns {} here, and nothing takes it", given.words());
                let cure =
                    "write `e.NAME = value` to change what the verb is given, or `return false, reason` to refuse it";
                let change = self.assigned_instead(*first);
                self.problem_with(&LINT, first.location(), (wrong, cure.into()), change);
            }
        }
    }

    /// `e.amount = e.amount - 1` instead of `return e.amount - 1`.
    fn assigned_instead(&self, value: Expression<'_>) -> Option<TextChange> {
        let mut read: Vec<Location> = Vec::new();
        value.visit(&mut |node: AstNode<'_>| {
            if let AstNode::Expression(one) = node
                && let ExpressionKind::IndexName { expr, .. } = one.kind()
                && let Some(Symbol::Event { .. }) = self.symbol(expr)
                && self.value_type(one).is_none_or(|sort| sort == ValueType::Number)
            {
                read.push(one.location());
            }
            true
        });
        // The only number of the event that the result is computed from.
        let written = |at: &Location| &self.text[self.bytes_of(*at)];
        let changed = written(read.first()?);
        if read.iter().any(|other| written(other) != changed) {
            return None;
        }
        let place = self.bytes_of(value.location());
        let begin = self.text.get(..place.start)?.trim_end().strip_suffix("return")?.len();
        let text = format!("{changed} = {}", self.source(value));
        Some(TextChange { begin, end: place.end, text })
    }
}
