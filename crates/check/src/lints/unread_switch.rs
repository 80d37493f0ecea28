//! No script reads a switch.

use crate::lint::{Example, Lint, Severity};
use crate::lints::unknown_rule;
use crate::place::{is_from, line_from};
use crate::symbols::known::KnownNames;
use riskbreaker_ruleset::{Cure, Problem, Stack};

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

/// Returns the problems of switches: those that nothing reads, and those that name unknown rules.
pub(crate) fn wrong_switches(
    stack: &Stack,
    own: usize,
    known: &KnownNames<'_>,
    found: &[Problem],
    is_word: impl Fn(&str) -> bool,
    unreadable: bool,
) -> Vec<Problem> {
    let mut wrong = Vec::new();
    for switch in stack.switches() {
        if !is_from(stack, own, &switch.path) {
            continue;
        }
        // A ruleset that cannot be played is extended by others, which may read the switch.
        let is_meant = |cure: &Cure| matches!(cure, Cure::Meant { meant, .. } if *meant == switch.name);
        let meant = || found.iter().any(|problem| problem.cure.as_ref().is_some_and(is_meant));
        let unread = !is_word(&switch.name) && !known.reads_switches_by_name() && !unreadable && !meant();
        if unread && stack.file("play").is_some() {
            let message = format!("nothing reads the switch `{}`", switch.name);
            let cure = format!("read it where it matters, by rb.switches.{}, or take it out", switch.name);
            wrong.push(LINT.problem(&*switch.path, message).at((switch.line, 1)).with_cure(cure));
        }
        for id in &switch.rules {
            if let Some(message) = known.wrong_rule(id) {
                let line = line_from(stack, &switch.path, switch.line, id);
                let mut problem = unknown_rule::LINT.problem(&*switch.path, message.0).with_cure(message.1);
                problem.line = Some(line);
                wrong.push(problem);
            }
        }
    }
    wrong
}
