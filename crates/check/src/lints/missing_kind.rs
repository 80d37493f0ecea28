//! `rb.each` or `rb.first` is given a filter and no kind.

use super::{Example, Lint, Severity};

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
