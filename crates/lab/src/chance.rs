use serde::Serialize;

use super::interval::{at_least, at_most};
use riskbreaker_dice::{Fraction, float};

/// A chance, or another number computed from chances, in the form in which it is written as JSON.
///
/// `fraction` is set if the number is known exactly; `low` and `high` are set if only bounds are known.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "serve", derive(schemars::JsonSchema))]
pub struct Chance {
    /// The nearest decimal; for an estimate, the share of the random plays.
    pub decimal: f64,
    /// The exact fraction such as `6/4165`, in full; omitted if it is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fraction: Option<String>,
    /// The lower bound; omitted if there is a fraction. For an estimate, the interval holds in 99 of 100 cases.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub low: Option<f64>,
    /// The upper bound; omitted if there is a fraction.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub high: Option<f64>,
}

impl Chance {
    /// A number that is known exactly.
    pub fn exactly(number: &Fraction) -> Chance {
        Chance { decimal: float(number), fraction: Some(number.to_string()), low: None, high: None }
    }

    /// Creates a number between two bounds, with the decimal to show for it.
    pub fn between(decimal: f64, (low, high): (f64, f64)) -> Chance {
        Chance { decimal, fraction: None, low: Some(low), high: Some(high) }
    }

    /// Creates a number with proven bounds, which are rounded outward to decimals.
    pub fn bounded(low: &Fraction, high: &Fraction) -> Chance {
        let decimal = float(&((low + high) / Fraction::from(2)));
        Chance::between(decimal, (at_most(low), at_least(high)))
    }

    /// Creates a number without proven bounds.
    pub fn about(decimal: f64) -> Chance {
        Chance { decimal, fraction: None, low: None, high: None }
    }
}
