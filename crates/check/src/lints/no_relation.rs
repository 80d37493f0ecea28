//! A word for relations is given a kind that is none.

use super::{Example, Lint, Severity};

pub(crate) static LINT: Lint = Lint {
    name: "no-relation",
    severity: Severity::Error,
    summary: "a word for relations is given a kind that is none",
    explanation: "`rb.relate` and its kin take a kind that declares `relates = { \"from\", \"to\" }`, the names \
                  of two references.",
    bad: Example::Resolve(r#"rb.unrelate("puller", ctx.actor, ctx.actor)"#),
    good: Example::Resolve(r#"rb.say("{} lets go", ctx.actor)"#),
};
