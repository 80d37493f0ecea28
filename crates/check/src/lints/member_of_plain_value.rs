//! A member is read off a number, text, truth value, list or sum.

use super::{Example, Lint, Severity};

pub(crate) static LINT: Lint = Lint {
    name: "member-of-plain-value",
    severity: Severity::Error,
    summary: "a member is read off a number, text, truth value, list or sum",
    explanation: "These values have no members, but for the methods of a text (with a colon) and `total`, `least` \
                  and `most` of a sum. The length of a list or text is `#` before it.",
    bad: Example::Resolve(r#"rb.say("{} pull", rb.each("puller").length)"#),
    good: Example::Resolve(r#"rb.say("{} pull", #rb.each("puller"))"#),
};
