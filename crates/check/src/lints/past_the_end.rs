//! An index or a place is behind or before the last element of a list.

use super::{Example, Lint, Severity};

pub(crate) static LINT: Lint = Lint {
    name: "past-the-end",
    severity: Severity::Error,
    summary: "an index or a place is behind or before the last element of a list",
    explanation: "The last element of a list is `list[#list]`; `list[#list + 1]` is always nil when it is read. \
                  `table.insert(list, value)` puts a value behind the last one; a place is needed only to put it \
                  elsewhere. `list[#list] = value` adds nothing to an empty list.",
    bad: Example::Resolve(
        r#"local names = { "Cid", "Dora" }
rb.say("{}", names[#names + 1])"#,
    ),
    good: Example::Resolve(
        r#"local names = { "Cid", "Dora" }
rb.say("{}", names[#names])"#,
    ),
};
