//! No script reads a switch.

use super::{Example, Lint, Severity};

pub(crate) static LINT: Lint = Lint {
    name: "unread-switch",
    severity: Severity::Warning,
    summary: "no script reads a switch",
    explanation: "A switch that nothing reads is offered to the game master and changes nothing. Read it by \
                  `rb.switches.NAME`, or take it out.",
    bad: Example::Files(&[(
        "ruleset.toml",
        r#"id = "tug"
title = "Tug of war"
version = "1.0.0"
scenario = "two"

[switches.wins_at]
min = 1
max = 20
default = 3
text = "How far the rope must come."

[switches.slippery]
min = 0
max = 3
default = 0
text = "The rope is wet."

[seats]
gm = "The referee"
left = "The left team"
right = "The right team"
"#,
    )]),
    good: Example::Files(&[(
        "ruleset.toml",
        r#"id = "tug"
title = "Tug of war"
version = "1.0.0"
scenario = "two"

[switches.wins_at]
min = 1
max = 20
default = 3
text = "How far the rope must come."

[seats]
gm = "The referee"
left = "The left team"
right = "The right team"
"#,
    )]),
};
