//! Operators bind otherwise than they read.

use crate::lint::{Example, Lint, Severity};
use crate::syntax_lints::SyntaxLints;
use riskbreaker_script::syntax::{BinaryOp, Expression, ExpressionKind, Location, UnaryOp};

pub(crate) static LINT: Lint = Lint {
    name: "operator-order",
    severity: Severity::Error,
    summary: "operators bind otherwise than they read",
    explanation: "`not a == b` is `(not a) == b`, and `a < b < c` compares true or false with `c`. Write `a ~= b` \
                  and `a < b and b < c`, or put brackets around what belongs together.",
    bad: Example::Resolve(
        r#"local near, far = ctx.rope.at > 1, ctx.rope.at > 3
if not near == far then
	rb.say("between")
end"#,
    ),
    good: Example::Resolve(
        r#"local near, far = ctx.rope.at > 1, ctx.rope.at > 3
if near ~= far then
	rb.say("between")
end"#,
    ),
};

impl SyntaxLints<'_> {
    /// Reports `not a == b` and `a < b < c`.
    pub(crate) fn operator_order(&mut self, lhs: Expression<'_>, op: BinaryOp, rhs: Expression<'_>, at: Location) {
        let is_equality = matches!(op, BinaryOp::Equal | BinaryOp::NotEqual);
        if is_equality && is_not(lhs) && !is_not(rhs) && !matches!(rhs.kind(), ExpressionKind::Boolean(_)) {
            let wrong = format!("`not` is worked out before `{}`", op.symbol());
            self.tell(&LINT, at, wrong, "put brackets around what belongs together");
        } else if compares(op)
            && let ExpressionKind::Binary { op: inner, .. } = lhs.kind()
            && compares(inner)
        {
            let wrong = format!("`{}` compares true or false with a value here", op.symbol());
            let cure = "write `a < b and b < c`, or put brackets around what belongs together";
            self.tell(&LINT, at, wrong, cure);
        }
    }
}

fn compares(op: BinaryOp) -> bool {
    matches!(
        op,
        BinaryOp::Equal
            | BinaryOp::NotEqual
            | BinaryOp::Less
            | BinaryOp::LessEqual
            | BinaryOp::Greater
            | BinaryOp::GreaterEqual
    )
}

fn is_not(expression: Expression<'_>) -> bool {
    matches!(expression.kind(), ExpressionKind::Unary { op: UnaryOp::Not, .. })
}
