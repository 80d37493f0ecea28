//! `rb.each` or `rb.first` is given a filter and no kind.

use crate::lint::{Example, Lint, Severity};
use crate::reader::ScriptReader;
use riskbreaker_script::syntax::{Expression, ExpressionKind, Location};

pub(crate) static LINT: Lint = Lint {
    name: "missing-kind",
    severity: Severity::Error,
    summary: "`rb.each` or `rb.first` is given a filter and no kind",
    explanation: "Both take the kind first and the filter second: `rb.each(\"puller\", { seat = \"left\" })`.",
    bad: Example::Resolve(
        r#"local left = rb.first({ seat = "left" })
rb.say("{}", left)"#,
    ),
    good: Example::Resolve(
        r#"local left = rb.first("puller", { seat = "left" })
rb.say("{}", left)"#,
    ),
};

impl ScriptReader<'_> {
    /// Reports a filter in the place of a kind.
    pub(crate) fn missing_kind(&mut self, name: &str, args: &[Expression<'_>], call: Location) {
        if let ("each" | "first", [kind, ..]) = (name, args)
            && let ExpressionKind::Table { .. } = kind.kind()
        {
            let wrong = format!("rb.{name} is given no kind");
            self.problem(&LINT, call, (wrong, format!("write rb.{name}(\"KIND\", {{ field = value }})").into()));
        }
    }
}
