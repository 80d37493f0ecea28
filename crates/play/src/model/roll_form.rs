use std::sync::Arc;

use serde::Serialize;

use super::event::Happening;
use super::sight::Need;
use riskbreaker_dice::{Dice, RollPart};
use riskbreaker_state::OutcomeKind;

/// A roll in a form common to all games: parts, target and result.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "serve", derive(schemars::JsonSchema))]
pub struct RollForm {
    /// The terms of the expression. Their amounts add up to the total.
    pub parts: Vec<RollPart>,
    /// The total.
    pub total: i64,
    /// The target, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub need: Option<RollNeed>,
    /// The result, in the words of the rules.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub result: Option<String>,
    /// The kind of result, such as success.
    pub kind: OutcomeKind,
}

/// The target of a roll.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "serve", derive(schemars::JsonSchema))]
pub struct RollNeed {
    /// How the total is compared with the value.
    pub is: Comparison,
    /// The value.
    pub value: i64,
}

/// The comparison of a total with its target.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "serve", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Comparison {
    /// Below the value.
    Under,
    /// The value or less.
    AtMost,
    /// The value or more.
    AtLeast,
}

impl RollForm {
    /// Converts the event of a roll; `None` for other events. `results`: the kinds of results by the beginning of their
    /// text, the longest first.
    pub(crate) fn of(happening: &Happening, results: &[(Arc<str>, OutcomeKind)]) -> Option<RollForm> {
        let Happening::Rolled { dice, faces, total, need, success, result, .. } = happening else { return None };
        let roll = Dice::parse(dice).ok().and_then(|dice| dice.roll_faces(faces).ok());
        let said = || {
            let result = result.as_deref()?;
            results.iter().find(|(word, _)| result.starts_with(&**word)).map(|(_, kind)| *kind)
        };
        let kind = match (said(), success) {
            (Some(kind), _) => kind,
            (None, Some(true)) => OutcomeKind::Success,
            (None, Some(false)) => OutcomeKind::Failure,
            (None, None) => OutcomeKind::Other,
        };
        Some(RollForm {
            parts: roll.map(|roll| roll.parts()).unwrap_or_default(),
            total: *total,
            need: need.as_deref().and_then(RollNeed::read),
            result: result.clone(),
            kind,
        })
    }
}

impl RollNeed {
    /// Parses the text written by [`Need::words`].
    fn read(words: &str) -> Option<RollNeed> {
        let (_, value) = words.rsplit_once(' ')?;
        let value: i64 = value.parse().ok()?;
        let needs = [
            (Need::Under(value), Comparison::Under),
            (Need::AtMost(value), Comparison::AtMost),
            (Need::AtLeast(value), Comparison::AtLeast),
        ];
        let found = needs.into_iter().find(|(need, _)| need.words().is_some_and(|known| *known == *words));
        found.map(|(_, is)| RollNeed { is, value })
    }
}
