use serde::Serialize;

/// What a roll or an outcome is for the one who acts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[cfg_attr(feature = "serve", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum OutcomeKind {
    /// It came as the one who acts wanted.
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
