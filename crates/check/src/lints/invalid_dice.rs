//! A text in the place of dice is no dice notation.

use super::{Example, Lint, Severity};

pub(crate) static LINT: Lint = Lint {
    name: "invalid-dice",
    severity: Severity::Error,
    summary: "a text in the place of dice is no dice notation",
    explanation: "Dice are written as in `2d6`, `1d10+1`, `4d6kh3` or `2d6!`. The page on dice lists the \
                  notation. A roll of another text is refused.",
    bad: Example::Resolve(r#"rb.roll("2d", "luck")"#),
    good: Example::Resolve(r#"rb.roll("2d6", "luck")"#),
};
