//! A member is assigned that no file reads.

use super::{Example, Lint, Severity};

pub(crate) static LINT: Lint = Lint {
    name: "unread-member",
    severity: Severity::Error,
    summary: "a member is assigned that no file reads",
    explanation: "Nothing happens through this assignment. Most often the name is misspelt, or it belongs to an \
                  entity and must be written with `:set`.",
    bad: Example::Resolve(
        r#"local notes = { far = 0 }
notes.fra = 1
rb.say("{}", notes.far)"#,
    ),
    good: Example::Resolve(
        r#"local notes = { far = 0 }
notes.far = 1
rb.say("{}", notes.far)"#,
    ),
};
