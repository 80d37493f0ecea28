use serde::Serialize;

/// What a roll or an outcome is for whoever acts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[cfg_attr(feature = "serve", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum OutcomeKind {
    /// It came as whoever acts wanted.
    Success,
    /// It did not.
    Failure,
    /// Neither, or nobody knows.
    Other,
}

impl OutcomeKind {
    /// The words by which rulesets name the kinds.
    pub const WORDS: [(&str, OutcomeKind); 3] =
        [("success", OutcomeKind::Success), ("failure", OutcomeKind::Failure), ("other", OutcomeKind::Other)];
}
