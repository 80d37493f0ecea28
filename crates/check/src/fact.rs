//! Problems of facts of cards.

use crate::lint::Lint;
use crate::symbols::known::Mistake;
use riskbreaker_ruleset::{Card, Problem, Stack};

/// The number of facts that must agree before a different one is reported.
pub(crate) const AGREEING: usize = 4;

/// Returns a problem at the line where a card states a fact.
pub(crate) fn problem(
    lint: &Lint,
    (stack, card): (&Stack, &Card),
    (name, said): (&str, &str),
    (message, cure): Mistake,
) -> Option<Problem> {
    let path = card.origins.get(name)?;
    let says = |line: &str| line.trim_start().starts_with(name) && line.contains(said);
    let line = 1 + stack.text_of(path)?.lines().position(says)?;
    Some(lint.problem(path.as_str(), message).at((line as u32, 1)).with_cure(cure))
}
