//! A pattern has a backslash, as regular expressions of other languages have.

use crate::lint::{Example, Lint, Severity};
use crate::reader::ScriptReader;
use crate::syntax::{literal, text};
use riskbreaker_script::syntax::{Expression, ExpressionKind};

pub(crate) static LINT: Lint = Lint {
    name: "pattern-backslash",
    severity: Severity::Error,
    summary: "a pattern has a backslash where a percent sign is meant",
    explanation: "Patterns of Luau mark classes with a percent sign: `%d` is a digit, `%a` a letter, `%w` one of both, `%s` a \
                  space. A backslash is a plain character in them.",
    bad: Example::Resolve(
        r#"local digits = string.match(ctx.actor.name, "\\d+")
rb.say("{}", digits)"#,
    ),
    good: Example::Resolve(
        r#"local digits = string.match(ctx.actor.name, "%d+")
rb.say("{}", digits)"#,
    ),
};

impl ScriptReader<'_> {
    /// Reports a backslash before a letter in the pattern of a call.
    pub(crate) fn pattern(&mut self, func: Expression<'_>, args: &[Expression<'_>], self_call: bool) {
        let ExpressionKind::IndexName { expr, index, .. } = func.kind() else { return };
        if !matches!(&*text(index), "match" | "gmatch" | "gsub" | "find") {
            return;
        }
        let is_library = matches!(expr.kind(), ExpressionKind::Global(name) if name == "string");
        let place = usize::from(is_library && !self_call);
        if !is_library && !self_call {
            return;
        }
        let Some(pattern) = args.get(place).copied() else { return };
        let written = self.source(pattern);
        let Some(meant) = literal(pattern).and_then(|_| with_percent(written)) else { return };
        let wrong = "a backslash is a plain character in a pattern".to_owned();
        let change = self.replaced(pattern.location(), &*meant);
        self.cured(&LINT, pattern.location(), (wrong, format!("write `{meant}`").into()), change);
    }
}

/// A pattern as it is written, with a percent sign before the classes that have one or two backslashes; `None` if there is
/// none.
fn with_percent(written: &str) -> Option<String> {
    let mut meant = written.to_owned();
    for class in ["w", "d", "s", "W", "D", "S"] {
        meant = meant
            .replace(&format!("\\\\{class}"), &format!("%{class}"))
            .replace(&format!("\\{class}"), &format!("%{class}"));
    }
    (meant != written).then_some(meant)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_are_marked_by_a_percent_sign() {
        assert_eq!(with_percent(r#""^(\\w+) (\d)$""#).unwrap(), r#""^(%w+) (%d)$""#);
        assert_eq!(with_percent(r#""^%a+\n""#), None);
    }
}
