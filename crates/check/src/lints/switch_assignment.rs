//! A script assigns a switch.

use super::{Example, Lint, Severity};

pub(crate) static LINT: Lint = Lint {
    name: "switch-assignment",
    severity: Severity::Error,
    summary: "a script assigns a switch",
    explanation: "Switches are house rules, and the game master sets them. A script reads them. Keep what changes \
                  in a field of an entity.",
    bad: Example::Resolve(r#"rb.switches.wins_at = 4"#),
    good: Example::Resolve(r#"rb.say("to {}", rb.switches.wins_at)"#),
};
