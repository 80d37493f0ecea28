//! `require` names a file that is not there.

use super::{Example, Lint, Severity};

pub(crate) static LINT: Lint = Lint {
    name: "unknown-file",
    severity: Severity::Error,
    summary: "`require` names a file that is not there",
    explanation: "`require(\"lib/NAME\")` reads a file of this ruleset or of one that it extends, by its path \
                  without the ending. `require(\"@riskbreaker\")` gives the words, and \
                  `require(\"@parent/lib/NAME\")` the file of the ruleset below. A missing file keeps the ruleset \
                  from loading.",
    bad: Example::Resolve(
        r#"local dice = require("lib/dice")
rb.say("{} pulls", dice)"#,
    ),
    good: Example::Resolve(r#"rb.say("{} pulls", ctx.actor)"#),
};
