//! A pattern is written like a regular expression.

use crate::lint::{Example, Lint, Severity};
use crate::syntax::literal;
use crate::syntax_lints::SyntaxLints;
use riskbreaker_script::syntax::Expression;

pub(crate) static LINT: Lint = Lint {
    name: "regular-expression",
    severity: Severity::Error,
    summary: "a pattern is written like a regular expression",
    explanation: "The patterns of Luau write their classes with `%`: `%d` is a digit, `%w` a letter or a digit, `%s` a \
                  space. A backslash in a pattern is a plain character, or belongs to the text in quotes.",
    bad: Example::Resolve(r#"rb.say("{}", string.match(ctx.actor.name, "\\d+") or "none")"#),
    good: Example::Resolve(r#"rb.say("{}", string.match(ctx.actor.name, "%d+") or "none")"#),
};

/// The classes of regular expressions that patterns have, too.
const CLASSES: [&str; 6] = ["d", "w", "s", "D", "W", "S"];

impl SyntaxLints<'_> {
    /// Reports a pattern with a class of regular expressions.
    pub(crate) fn regular_expression(&mut self, pattern: Expression<'_>) {
        let at = pattern.location();
        let Some(written) = self.written(at).filter(|_| literal(pattern).is_some()).map(str::to_owned) else { return };
        let mut meant = written.clone();
        for class in CLASSES {
            meant = meant.replace(&format!("\\\\{class}"), &format!("%{class}"));
            meant = meant.replace(&format!("\\{class}"), &format!("%{class}"));
        }
        if meant != written {
            let wrong = "a pattern has no classes with a backslash";
            self.tell(&LINT, at, wrong, format!("write {meant}"));
            self.changes(at, meant);
        }
    }
}
