//! A hook changes a value of the verb after the verb has run.

use crate::lint::{Example, Lint, Severity};
use crate::reader::ScriptReader;
use crate::syntax::text;
use riskbreaker_ruleset::TextChange;
use riskbreaker_script::syntax::{AstNode, ExpressionKind, Function};

pub(crate) static LINT: Lint = Lint {
    name: "hook-too-late",
    severity: Severity::Error,
    summary: "a hook changes a value of the verb after the verb has run",
    explanation: "After a verb, a change of what it was given has no effect. Move it to a function `before`, or \
                  change `e.result`.",
    bad: Example::Files(&[(
        "hooks/slack.luau",
        r#"local rb = require("@riskbreaker")

return rb.hook({
	id = "slack",
	always = true,
	after = {
		move_rope = function(e)
			e.by = 0
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
			e.by = 0
		end,
	},
})
"#,
    )]),
};

impl ScriptReader<'_> {
    /// Reports a change of the verb's values in a hook that runs after the verb.
    pub(crate) fn written_too_late(&mut self, verb: &str, function: &Function<'_>) {
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
            let change = self.before_for_after(function);
            let cure = match change {
                Some(_) => "write `before` for `after`; `e.result` is what can be changed after",
                None => "move it to a hook `before`; `e.result` is what can be changed after",
            };
            self.problem_with(&LINT, at, (wrong, cure.into()), change);
        }
    }

    /// `before` for the key `after` of the table around a function, if no other function is in the table, and the hook has no
    /// other table `before`.
    fn before_for_after(&self, function: &Function<'_>) -> Option<TextChange> {
        let whole = self.bytes_of(function.location);
        let begin = self.text[..whole.start].rfind("after = {")?;
        let is_only = self.text[begin..whole.start].matches("function").count() == 0;
        let behind = self.text[whole.end..].trim_start_matches([',', ' ', '\t', '\n', '\r']);
        let is_free = !self.text.contains("before = {");
        let end = begin + "after".len();
        (is_only && is_free && behind.starts_with('}')).then(|| TextChange { begin, end, text: "before".into() })
    }
}
