use serde::Serialize;

/// The meaning of a roll or an outcome for the actor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[cfg_attr(feature = "serve", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum OutcomeKind {
    /// The actor succeeded.
    Success,
    /// The actor failed.
    Failure,
    /// Neutral or unknown.
    Other,
}

impl OutcomeKind {
    /// The words by which rulesets name the kinds.
    pub const WORDS: [(&str, OutcomeKind); 3] =
        [("success", OutcomeKind::Success), ("failure", OutcomeKind::Failure), ("other", OutcomeKind::Other)];
}
