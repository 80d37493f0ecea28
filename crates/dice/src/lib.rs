//! Dice: notation, rolls, the generator of seeded dice, and exact distributions.

#![deny(missing_docs)]
// Tables of cases in tests may be longer.
#![cfg_attr(not(test), deny(clippy::too_many_lines))]

// Missing documentation is allowed in modules whose items other modules of the host use, but no embedder.

mod dialect;
mod distribution;
mod foreign;
mod fraction;
mod notation;
#[allow(missing_docs)]
mod partition;
mod pool;
mod reader;
mod rng;
mod roll;
mod throws;
mod weights;

pub use distribution::{Distribution, TooWide};
pub use fraction::{Fraction, float, ratio, sum};
pub use notation::{Dice, NotationError};
#[doc(hidden)]
pub use partition::{Partition, Seen, ranks};
pub use rng::DiceRng;
pub use roll::{Face, FacesError, Fate, PartFace, Roll, RollPart};
#[doc(hidden)]
pub use throws::{NOT_THROWN, Throws};
#[doc(hidden)]
pub use weights::Effort;

#[cfg(test)]
mod tests {
    use super::Dice;
    use proptest::prelude::*;

    /// Expressions with up to three pools of up to twelve dice, and everything that can be done to them.
    pub fn any_dice() -> impl Strategy<Value = Dice> {
        let more = (any::<Option<u8>>(), proptest::option::weighted(0.2, proptest::collection::vec(0u8..9, 1..6)));
        let pool = (1u32..=12, 1u32..=20, any::<[Option<(u8, u8)>; 3]>(), more);
        let text = (proptest::collection::vec((-3i64..=3, pool), 0..=3), -9i64..=9).prop_map(|(terms, constant)| {
            let mut text = String::new();
            for (times, (count, sides, done, (successes, own))) in terms {
                let faces = own.map_or(sides.to_string(), |own| {
                    format!("[{}]", own.iter().map(u8::to_string).collect::<Vec<_>>().join(","))
                });
                text += &format!("{}{}*{count}d{faces}", if times < 0 { '-' } else { '+' }, times.abs());
                let counted = successes.filter(|_| done[2].is_none());
                text += &pool_text(count, sides, done);
                // Behind `!` alone a comparison would be read as the faces that explode.
                if let Some(n) = counted {
                    text += &format!(">={}", u32::from(n) % sides + 1);
                }
            }
            format!("{text}{constant:+}")
        });
        text.prop_filter_map("refused", |text| Dice::parse(&text).ok())
    }

    pub fn pool_text(count: u32, sides: u32, [reroll, explode, keep]: [Option<(u8, u8)>; 3]) -> String {
        let faces = |n: u8| format!("{}{}", ["", "<", "<=", ">", ">="][n as usize % 5], u32::from(n) % sides + 1);
        let mut text = String::new();
        if let Some((word, n)) = reroll {
            text += &format!("{}{}", ["ro", "rr"][word as usize % 2], faces(n));
        }
        if let Some((_, n)) = explode {
            text += &format!("!{}", faces(n));
        }
        if let Some((word, n)) = keep {
            text += &format!("{}{}", ["kh", "kl", "dh", "dl"][word as usize % 4], u32::from(n) % count + 1);
        }
        text
    }
}
