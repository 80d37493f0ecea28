//! A later branch has the condition of an earlier one.

use crate::lint::{Example, Lint, Severity};
use crate::syntax_lints::SyntaxLints;
use riskbreaker_script::syntax::{StatementIf, StatementView};

pub(crate) static LINT: Lint = Lint {
    name: "same-condition",
    severity: Severity::Error,
    summary: "a later branch has the condition of an earlier one",
    explanation: "The second branch never runs, because the first one takes all its cases. One of the two is a \
                  copy that was not changed.",
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
    /// Reports a branch whose condition an earlier branch has.
    pub(crate) fn same_condition(&mut self, first: &StatementIf<'_>) {
        let mut asked = vec![first.condition];
        let mut rest = first.else_body;
        while let Some(StatementView::If(branch)) = rest.map(|statement| statement.view()) {
            if asked.iter().any(|before| self.same(*before, branch.condition)) {
                let cure = "remove one of the two, or write what was meant";
                self.tell(&LINT, branch.condition.location(), "an earlier branch has the same condition", cure);
            }
            asked.push(branch.condition);
            rest = branch.else_body;
        }
    }
}
