//! A text names a card, kind, hook, seat or the like that no file declares.

use super::{Example, Lint, Severity};

pub(crate) static LINT: Lint = Lint {
    name: "unknown-name",
    severity: Severity::Error,
    summary: "a text names a card, kind, hook, seat or the like that no file declares",
    explanation: "Cards, items, hooks, kinds, agenda entries, seats, switches, policies, characters of cast/ and \
                  rulesets are named by texts. A text in the place of such a name must be the name of something \
                  that a file declares. Otherwise the call fails when it is played, or is silently for nothing. \
                  Correct the name, or declare what it names.",
    bad: Example::Resolve(r#"rb.spawn("pullr", { name = "Cid", seat = "left" })"#),
    good: Example::Resolve(r#"rb.spawn("puller", { name = "Cid", seat = "left" })"#),
};
