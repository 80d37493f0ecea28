//! An assignment has more or fewer values than names.

use super::{Example, Lint, Severity};

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
