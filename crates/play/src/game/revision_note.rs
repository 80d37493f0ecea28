//! The reason why events were taken back.

use riskbreaker_state::Audience;

/// The reason why events were taken back.
#[derive(Clone, Debug)]
pub(crate) struct RevisionNote {
    pub cause: &'static str,
    /// A sentence for `audience` that says what was taken back.
    pub text: String,
    /// The sentence for viewers outside `audience`.
    pub public: String,
    pub audience: Audience,
}
