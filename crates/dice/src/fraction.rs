//! Exact fractions.

use std::borrow::Borrow;

use dashu_int::IBig;
/// A fraction in lowest terms: a chance, or a value computed from chances.
pub use dashu_ratio::RBig as Fraction;

/// The fraction `part / whole`.
///
/// # Panics
///
/// If `whole` is 0.
pub fn ratio(part: impl Into<IBig>, whole: impl Into<IBig>) -> Fraction {
    Fraction::from_parts_signed(part.into(), whole.into())
}

/// The nearest floating-point number.
pub fn float(fraction: &Fraction) -> f64 {
    fraction.to_f64().value()
}

/// The sum of fractions, owned or borrowed.
pub fn sum<F: Borrow<Fraction>>(fractions: impl IntoIterator<Item = F>) -> Fraction {
    fractions.into_iter().fold(Fraction::ZERO, |sum, fraction| sum + fraction.borrow())
}
