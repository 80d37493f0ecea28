//! A spec gives its position twice, or not at all.

use crate::lint::{Example, Lint, Severity};
use crate::reader::ScriptReader;
use crate::syntax::{local_id, text};
use riskbreaker_script::syntax::{
    AstNode, Expression, ExpressionKind, Function, Location, StatementView, TextPosition,
};

pub(crate) static LINT: Lint = Lint {
    name: "spec-position",
    severity: Severity::Error,
    summary: "a spec gives its position twice, or not at all",
    explanation: "A spec begins with `t:given`, once: it sets up the position that the spec plays. A second one is \
                  refused, and a spec without one has no game to play.",
    bad: Example::Files(&[(
        "specs/start.luau",
        r#"local rb = require("@riskbreaker")

rb.spec("the rope begins in the middle", { "TUG-1" }, function(t)
	t:given("two")
	t:given("two")
	t:expect({ rope = { at = 0 } })
end)
"#,
    )]),
    good: Example::Files(&[(
        "specs/start.luau",
        r#"local rb = require("@riskbreaker")

rb.spec("the rope begins in the middle", { "TUG-1" }, function(t)
	t:given("two")
	t:expect({ rope = { at = 0 } })
end)
"#,
    )]),
};

impl ScriptReader<'_> {
    /// Reports a second `t:given` in the statements of a spec, and a spec that plays without one.
    pub(crate) fn positions_given(&mut self, function: &Function<'_>, t: u64) {
        if self.elsewhere {
            return;
        }
        let mut given = false;
        for statement in function.body.as_slice() {
            let StatementView::Expression(called) = statement.view() else { continue };
            let Some((name, _)) = method_of(called.expr, t) else { continue };
            if name == "given" && given {
                let begin = TextPosition::new(statement.location().begin.line, 0);
                let wrong = "the position is given already".to_owned();
                let place = called.expr.location();
                let line = Location::new(begin, TextPosition::new(place.end.line + 1, 0));
                let is_alone =
                    self.text.lines().nth(place.end.line as usize).is_some_and(|line| {
                        line.len() == place.end.column as usize && place.begin.line == place.end.line
                    });
                let change = is_alone.then(|| self.replaced(line, ""));
                let cure = "leave it out: a spec gives one position, and another spec another one";
                return self.problem_with(&LINT, place, (wrong, cure.into()), change);
            }
            given |= name == "given";
        }
        self.without_position(function, t);
    }

    /// Reports a spec that plays, gives no position and hands its `t` to no function.
    fn without_position(&mut self, function: &Function<'_>, t: u64) {
        let (mut first, mut uses, mut calls, mut gives) = (None, 0, 0, false);
        function.body.visit(&mut |node: AstNode<'_>| {
            if let AstNode::Expression(expression) = node {
                uses += usize::from(local_id(expression) == Some(t));
                if let Some((name, at)) = method_of(expression, t) {
                    calls += 1;
                    gives |= name.starts_with("given") || name == "rules";
                    let plays = matches!(&*name, "play" | "turn" | "answer" | "expect" | "run" | "free" | "said");
                    if plays && first.is_none() {
                        first = Some(at);
                    }
                }
            }
            true
        });
        if let Some(at) = first.filter(|_| !gives && uses == calls) {
            let wrong = "this spec plays without a position".to_owned();
            self.problem(
                &LINT,
                at,
                (wrong, "write `t:given(\"SCENARIO\")` before it, or a table of the position".into()),
            );
        }
    }
}

/// The name and the place of a method that is called on a variable.
fn method_of(call: Expression<'_>, of: u64) -> Option<(String, Location)> {
    let ExpressionKind::Call { func, self_call: true, .. } = call.kind() else { return None };
    let ExpressionKind::IndexName { expr, index, .. } = func.kind() else { return None };
    (local_id(expr) == Some(of)).then(|| (text(index), call.location()))
}
