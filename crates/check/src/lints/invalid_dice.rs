//! A text in the place of dice is no dice notation.

use crate::lint::{Example, Lint, Severity};
use crate::reader::ScriptReader;
use crate::symbols::known::Mistake;
use crate::symbols::signature::told_at;
use crate::syntax::{listed, literal};
use riskbreaker_dice::{Dice, NotationError};
use riskbreaker_ruleset::Cure;
use riskbreaker_script::syntax::{Expression, Location};

pub(crate) static LINT: Lint = Lint {
    name: "invalid-dice",
    severity: Severity::Error,
    summary: "a text in the place of dice is no dice notation",
    explanation: "Dice are written as in `2d6`, `1d10+1`, `4d6kh3` or `2d6!`. The page on dice lists the \
                  notation. A roll of another text is refused.",
    bad: Example::Resolve(r#"rb.roll("2d", "luck")"#),
    good: Example::Resolve(r#"rb.roll("2d6", "luck")"#),
};

impl ScriptReader<'_> {
    /// Reports a text that looks like dice and is none.
    pub(crate) fn text_of_dice(&mut self, text: &str, at: Location) {
        if looks_like_dice(text)
            && !self.is_spec()
            && let Err(error) = Dice::parse(text)
        {
            self.problem(&LINT, at, not_dice(text, &error));
        }
    }

    /// Reports a text without faces under a name that says it is dice: `DIE = "1d"`.
    pub(crate) fn named_dice(&mut self, name: &str, value: Expression<'_>) {
        let Some(written) = literal(value).filter(|_| !self.is_spec()) else { return };
        let name = name.to_lowercase();
        let says_dice = name.split('_').any(|word| matches!(word, "die" | "dice" | "roll"));
        let faceless = written.strip_suffix('d').is_some_and(|count| count.bytes().all(|byte| byte.is_ascii_digit()));
        if says_dice
            && faceless
            && let Err(error) = Dice::parse(&written)
        {
            self.problem(&LINT, value.location(), not_dice(&written, &error));
        }
    }

    /// Checks the dice of a roll, and the text with places to fill.
    pub(crate) fn rolled_and_told(
        &mut self,
        name: &str,
        args: &[Expression<'_>],
        first: Option<&(String, Location)>,
        call: Location,
    ) {
        let Some(label) = told_at(name) else { return };
        self.filled(args, label);
        if matches!(name, "say" | "whisper") {
            self.says_computed_text(args, label);
        }
        if matches!(name, "say" | "cut" | "finish" | "result" | "whisper") {
            return;
        }
        if let Some((text, at)) = first.cloned().or_else(|| self.listed_first(args))
            && let Err(error) = Dice::parse(&text)
        {
            self.problem(&LINT, at, not_dice(&text, &error));
        }
        self.dice_come_first((name, label), args, first, call);
    }

    /// Returns the dice of a roll for some seats only: `{ "2d6", audience = "north" }`.
    pub(crate) fn listed_first(&self, args: &[Expression<'_>]) -> Option<(String, Location)> {
        let dice = listed(*args.first()?).next()?;
        Some((self.text_of(dice)?, dice.location()))
    }
}

/// Whether a text has the form of dice, `2d6...`, without a space.
fn looks_like_dice(text: &str) -> bool {
    let rest = text.trim_start_matches(|letter: char| letter.is_ascii_digit());
    rest.len() < text.len()
        && rest.strip_prefix('d').is_some_and(|sides| sides.starts_with(|letter: char| letter.is_ascii_alphanumeric()))
        && text.chars().all(|letter| letter.is_ascii_alphanumeric() || "+-*!<>=%".contains(letter))
}

pub(crate) fn not_dice(text: &str, error: &NotationError) -> Mistake {
    // The only expression that the correction names.
    let meant = error.cure.strip_prefix("write `").and_then(|rest| rest.strip_suffix('`'));
    let cure = match meant.filter(|meant| !meant.contains('`')) {
        Some(meant) => Cure::meant_text(text, meant),
        None => "write them as 2d6, 1d10+1 or 4d6kh3".into(),
    };
    (format!("\"{text}\" are no dice: {error}"), cure)
}
