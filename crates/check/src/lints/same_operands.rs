//! Both sides of an operator are the same.

use crate::lint::{Example, Lint, Severity};
use crate::syntax::{literal, number};
use crate::syntax_lints::SyntaxLints;
use riskbreaker_script::syntax::{BinaryOp, Expression, ExpressionKind, Location};

pub(crate) static LINT: Lint = Lint {
    name: "same-operands",
    severity: Severity::Error,
    summary: "both sides of an operator are the same",
    explanation: "`a and a` and `a or a` are `a`, `a.x == a.x` is always true, `a.x > a.x` never, and `a - a` is 0. One of \
                  the two is a copy that was not changed.",
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
    /// Reports an operator whose two sides are the same: `a or a`, `a.x > a.x`.
    pub(crate) fn same_operands(&mut self, lhs: Expression<'_>, op: BinaryOp, rhs: Expression<'_>, at: Location) {
        let wrong = match op {
            BinaryOp::Or | BinaryOp::And => "both sides are the same",
            // `x ~= x` asks whether a value is no number.
            BinaryOp::NotEqual if matches!(lhs.kind(), ExpressionKind::Local { .. }) => return,
            BinaryOp::Equal | BinaryOp::LessEqual | BinaryOp::GreaterEqual => {
                "both sides are the same, so this is always true"
            }
            BinaryOp::NotEqual | BinaryOp::Less | BinaryOp::Greater => "both sides are the same, so this is never true",
            BinaryOp::Subtract => "both sides are the same, so this is 0",
            _ => return,
        };
        let is_constant =
            (number(lhs).is_some() || literal(lhs).is_some()) && !matches!(op, BinaryOp::Or | BinaryOp::And);
        if !is_constant && self.same(lhs, rhs) {
            let cure = match op {
                BinaryOp::Or | BinaryOp::And => "remove one of the two, or write what was meant",
                _ => "one of the two is a copy: write the other value in its place",
            };
            self.tell(&LINT, at, wrong, cure);
        }
    }
}
