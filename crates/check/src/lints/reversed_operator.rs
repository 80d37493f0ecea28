//! `=-` is written where `-=` is meant.

use crate::lint::{Example, Lint, Severity};
use crate::syntax_lints::SyntaxLints;
use riskbreaker_script::syntax::{Expression, ExpressionKind, Location, TextPosition, UnaryOp};

pub(crate) static LINT: Lint = Lint {
    name: "reversed-operator",
    severity: Severity::Error,
    summary: "`=-` is written where `-=` is meant",
    explanation: "`n =- 1` sets `n` to minus one. `n -= 1` takes one off.",
    bad: Example::Resolve(
        r#"local n = 3
n =- 1
rb.say("{}", n)"#,
    ),
    good: Example::Resolve(
        r#"local n = 3
n -= 1
rb.say("{}", n)"#,
    ),
};

impl SyntaxLints<'_> {
    /// Reports `n =- 1`, which sets `n` to minus one.
    pub(crate) fn signs_exchanged(&mut self, value: Expression<'_>) {
        let at = value.location().begin;
        let line = self.lines.get(at.line as usize).and_then(|line| line.split_at_checked(at.column as usize));
        let negates = matches!(value.kind(), ExpressionKind::Unary { op: UnaryOp::Negate, .. });
        if negates && line.is_some_and(|(before, after)| before.ends_with('=') && after.starts_with("- ")) {
            self.tell(&LINT, value.location(), "`=-` sets it to minus the value", "write `-=` to take the value off");
            let mark = |column: u32| TextPosition::new(at.line, column);
            self.changes(Location::new(mark(at.column - 1), mark(at.column + 1)), "-=");
        }
    }
}
