//! A call changes nothing, and its result is not used.

use super::{Example, Lint, Severity};

pub(crate) static LINT: Lint = Lint {
    name: "unused-result",
    severity: Severity::Error,
    summary: "a call changes nothing, and its result is not used",
    explanation: "The function is called for its result alone. `rb.shuffle` gives a new list and leaves the old \
                  one as it is. Keep the result in a variable, return it, or remove the call.",
    bad: Example::Resolve(
        r#"local names = { "Cid", "Dora" }
rb.shuffle(names)
rb.say("{}", names[1])"#,
    ),
    good: Example::Resolve(
        r#"local names = rb.shuffle({ "Cid", "Dora" })
rb.say("{}", names[1])"#,
    ),
};
