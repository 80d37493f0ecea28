use std::sync::Arc;

/// A roll for which the written dice did not suffice.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct MissingRoll {
    /// The purpose of the roll, with the entities concerned: `Defender rolls for the tie`.
    pub what: String,
    /// The dice of the whole roll: `2d10`.
    pub dice: Arc<str>,
    /// The target, if the roll has one: `under 7`.
    pub need: Option<String>,
    /// The sides of the first die that has no face.
    pub sides: u32,
}
