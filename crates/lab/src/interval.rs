//! Interval arithmetic: numbers between two floating-point bounds.
//!
//! Every operation rounds its lower bound down and its upper bound up, so the exact result lies between the bounds of the result.

use riskbreaker_dice::{Fraction, float};

/// A number with two proven bounds.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Interval {
    pub low: f64,
    pub high: f64,
}

impl Interval {
    pub const ZERO: Interval = Interval { low: 0.0, high: 0.0 };
    pub const ONE: Interval = Interval { low: 1.0, high: 1.0 };

    /// The smallest interval around a fraction.
    pub fn around(exact: &Fraction) -> Interval {
        Interval { low: at_most(exact), high: at_least(exact) }
    }

    /// Rounds each bound outward by one place. Sums and products of non-negative numbers stay non-negative.
    fn outward(low: f64, high: f64, is_negative: bool) -> Interval {
        let low = low.next_down();
        Interval { low: if is_negative { low } else { low.max(0.0) }, high: high.next_up() }
    }

    fn may_be_negative(self) -> bool {
        self.low < 0.0
    }

    pub fn plus(self, other: Interval) -> Interval {
        match (self, other) {
            (Interval::ZERO, same) | (same, Interval::ZERO) => same,
            (one, other) => Interval::outward(
                one.low + other.low,
                one.high + other.high,
                one.may_be_negative() || other.may_be_negative(),
            ),
        }
    }

    pub fn times(self, other: Interval) -> Interval {
        match (self, other) {
            (Interval::ZERO, _) | (_, Interval::ZERO) => Interval::ZERO,
            (Interval::ONE, same) | (same, Interval::ONE) => same,
            (one, other) if !one.may_be_negative() && !other.may_be_negative() => {
                Interval::outward(one.low * other.low, one.high * other.high, false)
            }
            (one, other) => {
                let corners = [one.low * other.low, one.low * other.high, one.high * other.low, one.high * other.high];
                let low = corners.into_iter().fold(f64::INFINITY, f64::min);
                Interval::outward(low, corners.into_iter().fold(f64::NEG_INFINITY, f64::max), true)
            }
        }
    }

    /// The quotient by a number above zero. If the lower bound of `other` is zero, a bound of the quotient is infinite.
    pub fn over(self, other: Interval) -> Interval {
        if self == Interval::ZERO || other == Interval::ONE {
            return self;
        }
        let low = if self.low < 0.0 { self.low / other.low } else { self.low / other.high };
        let high = if self.high < 0.0 { self.high / other.high } else { self.high / other.low };
        Interval::outward(low, high, self.may_be_negative())
    }
}

/// The largest floating-point number that is not above a fraction.
pub fn at_most(exact: &Fraction) -> f64 {
    let near = float(exact);
    match Fraction::try_from(near) {
        Ok(near_exactly) if near_exactly > *exact => near.next_down(),
        _ => near,
    }
}

/// The smallest floating-point number that is not below a fraction.
pub fn at_least(exact: &Fraction) -> f64 {
    let near = float(exact);
    match Fraction::try_from(near) {
        Ok(near_exactly) if near_exactly < *exact => near.next_up(),
        _ => near,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use riskbreaker_dice::{DiceRng, ratio};

    #[test]
    fn the_exact_result_lies_between_the_bounds() {
        let mut rng = DiceRng::new(7);
        let mut number = |signed: bool| {
            let part = i64::from(rng.face(1_000_000)) - if signed { 500_000 } else { 0 };
            ratio(part, i64::from(rng.face(999_983)))
        };
        let holds = |interval: Interval, exact: &Fraction| {
            Fraction::try_from(interval.low).unwrap() <= *exact && Fraction::try_from(interval.high).unwrap() >= *exact
        };
        for _ in 0..2_000 {
            let (one, other, below) = (number(true), number(true), number(false));
            let [a, b, c] = [&one, &other, &below].map(Interval::around);
            assert!(holds(a, &one) && holds(b, &other) && holds(c, &below));
            assert!(holds(a.plus(b), &(&one + &other)), "{one} + {other}");
            assert!(holds(a.times(b), &(&one * &other)), "{one} * {other}");
            assert!(holds(a.over(c), &(&one / &below)), "{one} / {below}");
        }
        assert_eq!(Interval::around(&ratio(1, 3)).high, (1.0_f64 / 3.0).next_up());
        // A positive number too small for a floating-point number has an upper bound above zero.
        let tiny = Interval::around(&(ratio(1, 7) * ratio(1, 10).pow(400)));
        assert!(tiny.low == 0.0 && tiny.high > 0.0, "{tiny:?}");
        assert!(tiny.times(tiny).high > 0.0);
    }
}
