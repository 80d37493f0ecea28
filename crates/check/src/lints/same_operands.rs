//! Both sides of an operator are the same.

use crate::lint::{Example, Lint, Severity};
use crate::syntax::{literal, number};
use crate::syntax_lints::SyntaxLints;
use riskbreaker_script::syntax::{BinaryOp, Expression, Location};

pub(crate) static LINT: Lint = Lint {
    name: "same-operands",
    severity: Severity::Error,
    summary: "both sides of `and`, `or` or a comparison are the same",
    explanation: "`a and a` and `a or a` are `a`, and a comparison of a value with itself is always true, or never. One of \
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
    /// Reports `a or a`, `a and a` and a comparison of a value with itself.
    pub(crate) fn same_operands(&mut self, lhs: Expression<'_>, op: BinaryOp, rhs: Expression<'_>, at: Location) {
        use BinaryOp::{And, Equal, Greater, GreaterEqual, Less, LessEqual, NotEqual, Or};
        let is_constant = number(lhs).is_some() || literal(lhs).is_some();
        let is_meant = match op {
            Or | And => true,
            Equal | NotEqual | Less | LessEqual | Greater | GreaterEqual => !is_constant,
            _ => false,
        };
        if is_meant && self.same(lhs, rhs) {
            let cure = "remove one of the two, or write what was meant";
            self.tell(&LINT, at, "both sides are the same", cure);
        }
    }
}
