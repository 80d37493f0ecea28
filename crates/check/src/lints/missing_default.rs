//! A question to the game master has no default.

use super::{Example, Lint, Severity};

pub(crate) static LINT: Lint = Lint {
    name: "missing-default",
    severity: Severity::Error,
    summary: "a question to the game master has no default",
    explanation: "A table may have no game master. Then the question is answered by its `default`, and without \
                  one it is refused.",
    bad: Example::Resolve(
        r#"local far = rb.confirm({ seat = "gm", topic = "far" })
rb.say("{}", far)"#,
    ),
    good: Example::Resolve(
        r#"local far = rb.confirm({ seat = "gm", topic = "far", default = false })
rb.say("{}", far)"#,
    ),
};
