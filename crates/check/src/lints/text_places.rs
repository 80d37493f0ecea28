//! A text has more or fewer places to fill than values are given.

use crate::lint::{Example, Lint, Severity};
use crate::syntax::literal;
use crate::syntax_lints::SyntaxLints;
use riskbreaker_script::syntax::{Expression, ExpressionKind};

pub(crate) static LINT: Lint = Lint {
    name: "text-places",
    severity: Severity::Error,
    summary: "a text has more or fewer places to fill than values are given",
    explanation: "Each `{}` in a text of `rb.say`, `rb.roll` and the like is filled by one of the values that \
                  follow the text, and each `%` of `string.format` by one of its values. Give one value for each \
                  place. `..` joins texts and fills nothing.",
    bad: Example::Resolve(r#"rb.say("{} pulls {}", ctx.actor)"#),
    good: Example::Resolve(r#"rb.say("{} pulls {}", ctx.actor, 2)"#),
};

impl SyntaxLints<'_> {
    /// Reports a format string of `string.format` whose places do not match its values.
    pub(crate) fn format(&mut self, pattern: Expression<'_>, values: &[Expression<'_>]) {
        let Some(written) = literal(pattern) else { return };
        let mut letters = written.chars();
        let mut places = 0;
        while letters.by_ref().any(|letter| letter == '%') {
            let kind = letters.find(|letter| !letter.is_ascii_digit() && !" +-#.".contains(*letter));
            match kind {
                Some('%') => {}
                Some(kind) if "cdiouxXeEfgGqsaA*".contains(kind) => places += 1,
                _ => {
                    let wrong = "`%` without a letter that it knows";
                    return self.tell(
                        &LINT,
                        pattern.location(),
                        wrong,
                        "write %d for a number, %s for a text, %% for a percent sign",
                    );
                }
            }
        }
        let open = values
            .last()
            .is_some_and(|last| matches!(last.kind(), ExpressionKind::Call { .. } | ExpressionKind::Varargs));
        if places > values.len() && !open || places < values.len() {
            let wrong = format!("{places} places for values, {} given", values.len());
            self.tell(&LINT, pattern.location(), wrong, "give one value for each %");
        }
    }
}
