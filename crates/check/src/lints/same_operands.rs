//! Both sides of `and` or `or` are the same.

use crate::lint::{Example, Lint, Severity};
use crate::syntax_lints::SyntaxLints;
use riskbreaker_script::syntax::{BinaryOp, Expression, Location};

pub(crate) static LINT: Lint = Lint {
    name: "same-operands",
    severity: Severity::Error,
    summary: "both sides of `and` or `or` are the same",
    explanation: "`a and a` and `a or a` are `a`. One of the two is a copy that was not changed.",
    bad: Example::Resolve(
        r#"local at = ctx.rope.at
if at > 1 or at > 1 then
	rb.say("far")
end"#,
    ),
    good: Example::Resolve(
        r#"local at = ctx.rope.at
if at > 1 or at < -1 then
	rb.say("far")
end"#,
    ),
};

impl SyntaxLints<'_> {
    /// Reports `a or a` and `a and a`.
    pub(crate) fn same_operands(&mut self, lhs: Expression<'_>, op: BinaryOp, rhs: Expression<'_>, at: Location) {
        if matches!(op, BinaryOp::Or | BinaryOp::And) && self.same(lhs, rhs) {
            let cure = "remove one of the two, or write what was meant";
            self.tell(&LINT, at, "both sides are the same", cure);
        }
    }
}
