//! `a and nil or b` is always `b`.

use crate::lint::{Example, Lint, Severity};
use crate::syntax_lints::SyntaxLints;
use riskbreaker_script::syntax::{BinaryOp, Expression, ExpressionKind, Location};

pub(crate) static LINT: Lint = Lint {
    name: "and-or-nil",
    severity: Severity::Error,
    summary: "`a and nil or b` is always `b`",
    explanation: "`a and b or c` works as a choice only if `b` is true. If `b` is nil or false, the result is \
                  always `c`. Write `if a then b else c`.",
    bad: Example::Resolve(
        r#"local note = ctx.rope.at > 1 and nil or "near"
rb.say("{}", note)"#,
    ),
    good: Example::Resolve(
        r#"local note = if ctx.rope.at > 1 then "far" else "near"
rb.say("{}", note)"#,
    ),
};

impl SyntaxLints<'_> {
    /// Reports `a and nil or b`.
    pub(crate) fn and_or_nil(&mut self, lhs: Expression<'_>, op: BinaryOp, rhs: Expression<'_>, at: Location) {
        if op == BinaryOp::Or
            && let ExpressionKind::Binary { op: BinaryOp::And, lhs: condition, rhs: chosen } = lhs.kind()
            && matches!(chosen.kind(), ExpressionKind::Nil | ExpressionKind::Boolean(false))
        {
            let wrong = "`and` gives nil or false here, so that the part behind `or` is always taken";
            self.tell(&LINT, at, wrong, "write `if ... then ... else ...`");
            let parts = [condition, chosen, rhs].map(|part| self.written(part.location()));
            if let [Some(condition), Some(chosen), Some(otherwise)] = parts {
                let whole = Location::new(lhs.location().begin, rhs.location().end);
                self.changes(whole, format!("if {condition} then {chosen} else {otherwise}"));
            }
        }
    }
}
