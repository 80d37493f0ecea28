//! A later branch has the condition of an earlier one, or a narrower one.

use crate::control_flow::falls_through;
use crate::lint::{Example, Lint, Severity};
use crate::syntax_lints::SyntaxLints;
use riskbreaker_script::syntax::{Block, Expression, ExpressionKind, StatementIf, StatementView};

pub(crate) static LINT: Lint = Lint {
    name: "same-condition",
    severity: Severity::Error,
    summary: "a later branch has the condition of an earlier one, or a narrower one",
    explanation: "The later branch never runs, because the earlier one takes all its cases: `> 2` comes before `> 5`, \
                  or the condition is a copy that was not changed. Write the narrower condition first.",
    bad: Example::Resolve(
        r#"local at = ctx.rope.at
if at > 1 then
	rb.say("near")
elseif at > 1 then
	rb.say("far")
end"#,
    ),
    good: Example::Resolve(
        r#"local at = ctx.rope.at
if at > 1 then
	rb.say("near")
elseif at < -1 then
	rb.say("far")
end"#,
    ),
};

impl SyntaxLints<'_> {
    /// Reports a branch whose condition an earlier branch has, or a narrower one.
    pub(crate) fn same_condition(&mut self, first: &StatementIf<'_>) {
        let mut asked = vec![first.condition];
        let mut rest = first.else_body;
        while let Some(StatementView::If(branch)) = rest.map(|statement| statement.view()) {
            self.taken_before(&asked, branch.condition);
            asked.push(branch.condition);
            rest = branch.else_body;
        }
    }

    /// The same for the branches of an `if` that is an expression.
    pub(crate) fn same_condition_of_value(&mut self, condition: Expression<'_>, rest: Expression<'_>) {
        let (mut asked, mut rest) = (vec![condition], rest);
        while let ExpressionKind::If { condition, else_expression, .. } = rest.kind() {
            self.taken_before(&asked, condition);
            asked.push(condition);
            rest = else_expression;
        }
    }

    /// Reports an `if` whose cases an `if` before it takes that ends with `return`.
    pub(crate) fn returned_before(&mut self, block: Block<'_>) {
        let mut asked = Vec::new();
        for statement in block.as_slice() {
            let StatementView::If(branch) = statement.view() else {
                asked.clear();
                continue;
            };
            self.taken_before(&asked, branch.condition);
            match branch.else_body {
                None if !falls_through(branch.then_body) => asked.push(branch.condition),
                _ => asked.clear(),
            }
        }
    }

    /// Reports a condition if one of those before takes all its cases.
    fn taken_before(&mut self, asked: &[Expression<'_>], condition: Expression<'_>) {
        if asked.iter().any(|before| self.same(*before, condition)) {
            let cure = "remove one of the two, or write what was meant";
            self.tell(&LINT, condition.location(), "an earlier branch has the same condition", cure);
        } else if let Some(before) = asked.iter().find(|before| self.implies(condition, **before)) {
            let line = before.location().begin.line + 1;
            let wrong = format!("the branch of line {line} takes all cases of this one, which never runs");
            self.tell(&LINT, condition.location(), wrong, format!("write this branch before that of line {line}"));
        }
    }
}
