//! An assignment has more or fewer values than names.

use crate::lint::{Example, Lint, Severity};
use crate::syntax_lints::SyntaxLints;
use riskbreaker_script::syntax::{Expression, ExpressionKind, Location};

pub(crate) static LINT: Lint = Lint {
    name: "value-count",
    severity: Severity::Error,
    summary: "an assignment has more or fewer values than names",
    explanation: "A name without a value is nil, and a value without a name is dropped. The last value may be a \
                  call that yields several.",
    bad: Example::Resolve(
        r#"local near, far = 1
rb.say("{} {}", near, far)"#,
    ),
    good: Example::Resolve(
        r#"local near, far = 1, 2
rb.say("{} {}", near, far)"#,
    ),
};

impl SyntaxLints<'_> {
    /// Reports an assignment with more or fewer values than names. The last value may yield several.
    pub(crate) fn balanced(&mut self, names: usize, values: &[Expression<'_>], at: Location) {
        let open = values.last().is_some_and(|last| {
            matches!(last.kind(), ExpressionKind::Call { .. } | ExpressionKind::Varargs | ExpressionKind::Nil)
        });
        if names < values.len() || names > values.len() && !open {
            let wrong = format!("{names} names and {} values", values.len());
            self.tell(&LINT, at, wrong, "give one value for each name");
        }
    }
}
