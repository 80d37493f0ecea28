use serde::Serialize;

use super::interval::{at_least, at_most};
use riskbreaker_dice::{Fraction, float};

/// A chance, or another number worked out from chances, as it is written in JSON everywhere.
///
/// It has the `fraction` where the number is known exactly, and `low` and `high` where only bounds of it are known.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "serve", derive(schemars::JsonSchema))]
pub struct Chance {
    /// The nearest decimal; of an estimate, the share of the random plays.
    pub decimal: f64,
    /// The exact fraction such as `6/4165`, in full; left out where it is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fraction: Option<String>,
    /// The lower bound; left out beside a fraction. Of an estimate, the interval holds in 99 of 100 cases.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub low: Option<f64>,
    /// The upper bound; left out beside a fraction.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub high: Option<f64>,
}

impl Chance {
    /// A number that is known exactly.
    pub fn exactly(number: &Fraction) -> Chance {
        Chance { decimal: float(number), fraction: Some(number.to_string()), low: None, high: None }
    }

    /// A number between two bounds, with the decimal that is shown for it.
    pub fn between(decimal: f64, (low, high): (f64, f64)) -> Chance {
        Chance { decimal, fraction: None, low: Some(low), high: Some(high) }
    }

    /// A number whose bounds are proven, both as fractions: the bounds are rounded outward.
    pub fn bounded(low: &Fraction, high: &Fraction) -> Chance {
        let decimal = float(&((low + high) / Fraction::from(2)));
        Chance::between(decimal, (at_most(low), at_least(high)))
    }

    /// A number without proven bounds.
    pub fn about(decimal: f64) -> Chance {
        Chance { decimal, fraction: None, low: None, high: None }
    }
}
