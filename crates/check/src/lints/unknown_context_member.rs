//! Nothing puts a member of that name into `ctx`.

use crate::lint::{Example, Lint, Severity};

pub(crate) static LINT: Lint = Lint {
    name: "unknown-context-member",
    severity: Severity::Error,
    summary: "nothing puts a member of that name into `ctx`",
    explanation: "`ctx` is the table that an agenda entry makes and hands to the functions of a card. It has what \
                  the entry puts into it. Another member is nil. Correct the name, or put the value into `ctx` \
                  where the card is asked for.",
    bad: Example::Resolve(r#"rb.say("{} stakes {}", ctx.actor, ctx.stake)"#),
    good: Example::Resolve(r#"rb.say("{} pulls {}", ctx.actor, ctx.rope.at)"#),
};
