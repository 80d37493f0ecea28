//! The host reads no file of that name or in that folder.

use super::{Example, Lint, Severity};

pub(crate) static LINT: Lint = Lint {
    name: "unread-file",
    severity: Severity::Error,
    summary: "the host reads no file of that name or in that folder",
    explanation: "The host reads the files and folders that the guide lists, and files that scripts require. \
                  Another file has no effect. Most often its folder or its ending is misspelt.",
    bad: Example::Files(&[(
        "manuevers/dig.luau",
        r#"return {}
"#,
    )]),
    good: Example::Files(&[(
        "lib/dig.luau",
        r#"return {}
"#,
    )]),
};
