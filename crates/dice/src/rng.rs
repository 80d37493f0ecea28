use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use serde::{Deserialize, Serialize};

/// A source of seeded dice: the same seed gives the same dice, on every machine and in every version.
///
/// The words are those of ChaCha with 8 rounds, keyed by `seed_from_u64`, in the order in which it gives 32-bit words.
/// The mapping from words to faces is our own: see [`DiceRng::face`]. A `DiceRng` is saved as its seed, stream and
/// position.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "StreamPosition", into = "StreamPosition")]
pub struct DiceRng {
    seed: u64,
    words: ChaCha8Rng,
    /// The number of words drawn, so that it need not be computed from the generator's block.
    drawn: u64,
}

impl DiceRng {
    /// Starts the dice of `seed` at position 0 of stream 0. Any seed is valid.
    pub fn new(seed: u64) -> DiceRng {
        DiceRng::stream(seed, 0)
    }

    /// Starts one of the 2^64 independent streams of `seed` at position 0, so that parallel games have their own dice,
    /// independent of the thread that plays them.
    pub fn stream(seed: u64, stream: u64) -> DiceRng {
        let mut words = ChaCha8Rng::seed_from_u64(seed);
        words.set_stream(stream);
        DiceRng { seed, words, drawn: 0 }
    }

    /// The seed.
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// Rolls one die with `sides` faces: a number in `1..=sides`, each equally likely.
    ///
    /// The mapping, which never changes: draw a 32-bit word `w` and let `m = w * sides`, 64 bits wide. If the low 32
    /// bits of `m` are less than `2^32 mod sides`, draw again; otherwise the face is the high 32 bits of `m`, plus 1.
    /// (Lemire's multiply-shift with rejection.) A die with 1 face draws a word as well; `sides` of 0 is read as 1.
    #[inline]
    pub fn face(&mut self, sides: u32) -> u32 {
        let sides = sides.max(1);
        let mut scaled = u64::from(self.word()) * u64::from(sides);
        if (scaled as u32) < sides {
            // 2^32 mod sides; it is less than sides, so that this division is rarely needed.
            let uneven = sides.wrapping_neg() % sides;
            while (scaled as u32) < uneven {
                scaled = u64::from(self.word()) * u64::from(sides);
            }
        }
        (scaled >> 32) as u32 + 1
    }

    #[inline]
    fn word(&mut self) -> u32 {
        self.drawn = self.drawn.wrapping_add(1);
        self.words.next_u32()
    }

    /// The number of words drawn. It is not the number of dice: a face rarely takes a second word.
    #[inline]
    pub fn position(&self) -> u64 {
        self.drawn
    }

    /// Moves to `position`, backward or forward. The same position gives the same dice.
    pub fn set_position(&mut self, position: u64) {
        self.words.set_word_pos(u128::from(position));
        self.drawn = position;
    }
}

/// The saved form of a [`DiceRng`].
#[derive(Serialize, Deserialize)]
struct StreamPosition {
    seed: u64,
    #[serde(default)]
    stream: u64,
    position: u64,
}

impl From<StreamPosition> for DiceRng {
    fn from(place: StreamPosition) -> DiceRng {
        let mut rng = DiceRng::stream(place.seed, place.stream);
        rng.set_position(place.position);
        rng
    }
}

impl From<DiceRng> for StreamPosition {
    fn from(rng: DiceRng) -> StreamPosition {
        StreamPosition { seed: rng.seed, stream: rng.words.get_stream(), position: rng.position() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn faces(rng: &mut DiceRng, sides: u32, many: usize) -> Vec<u32> {
        (0..many).map(|_| rng.face(sides)).collect()
    }

    #[test]
    fn a_seed_gives_the_same_dice_in_every_version() {
        assert_eq!(
            faces(&mut DiceRng::new(7719), 10, 20),
            [9, 8, 1, 5, 5, 4, 2, 8, 10, 7, 8, 3, 7, 4, 5, 2, 8, 3, 6, 10]
        );
        assert_eq!(faces(&mut DiceRng::new(7719), 6, 12), [6, 5, 1, 3, 3, 2, 2, 5, 6, 4, 5, 2]);
        assert_eq!(faces(&mut DiceRng::new(7719), 20, 12), [18, 16, 2, 10, 10, 7, 4, 16, 19, 13, 16, 6]);
        assert_eq!(faces(&mut DiceRng::new(1), 10, 20), [6, 5, 10, 1, 3, 6, 4, 3, 9, 3, 10, 8, 5, 5, 8, 2, 1, 9, 2, 8]);
        assert_eq!(faces(&mut DiceRng::new(1), 6, 12), [4, 3, 6, 1, 2, 4, 3, 2, 5, 2, 6, 5]);
        assert_eq!(faces(&mut DiceRng::new(1), 20, 12), [11, 9, 20, 2, 5, 12, 8, 5, 17, 6, 19, 15]);
        assert_eq!(
            faces(&mut DiceRng::stream(7719, 1), 10, 20),
            [8, 9, 4, 6, 6, 8, 5, 9, 8, 5, 3, 6, 8, 3, 2, 10, 6, 4, 6, 5]
        );
        // Three words in ten are refused here: the rejection is part of the promise.
        assert_eq!(
            faces(&mut DiceRng::new(1), 3_000_000_000, 8),
            [1648134773, 1207456991, 2953791336, 1789680543, 1160524832, 851071774, 2740819993, 2131830671]
        );
    }

    #[test]
    fn every_face_is_as_likely_as_any_other() {
        let mut rng = DiceRng::new(3);
        let mut seen = [0u32; 6];
        for _ in 0..60_000 {
            seen[rng.face(6) as usize - 1] += 1;
        }
        assert!(seen.iter().all(|&n| (9_500..10_500).contains(&n)), "{seen:?}");
    }

    #[test]
    fn a_die_with_one_face_draws_a_word() {
        let mut rng = DiceRng::new(1);
        assert_eq!((rng.face(1), rng.face(0)), (1, 1));
        assert_eq!(rng.position(), 2);
    }

    #[test]
    fn positions_count_words_across_blocks() {
        let mut rng = DiceRng::new(5);
        for drawn in 0..300 {
            assert_eq!(rng.position(), drawn);
            rng.face(2);
        }
    }

    #[test]
    fn stream_0_is_the_seed_itself_and_others_differ() {
        assert_eq!(DiceRng::stream(9, 0), DiceRng::new(9));
        let first = faces(&mut DiceRng::stream(9, 1), 1_000_000, 4);
        assert_ne!(first, faces(&mut DiceRng::stream(9, 2), 1_000_000, 4));
        assert_ne!(first, faces(&mut DiceRng::new(9), 1_000_000, 4));
    }

    proptest! {
        #[test]
        fn going_back_gives_the_same_dice(
            seed: u64, stream: u64, before in 0usize..200, after in 1usize..200, sides in 1u32..=u32::MAX,
        ) {
            let mut rng = DiceRng::stream(seed, stream);
            faces(&mut rng, sides, before);
            let position = rng.position();
            let text = serde_json::to_string(&rng).unwrap();
            let rolled = faces(&mut rng, sides, after);
            let end = rng.position();
            rng.set_position(position);
            prop_assert_eq!(rng.position(), position);
            prop_assert_eq!(&faces(&mut rng, sides, after), &rolled);
            prop_assert_eq!(rng.position(), end);
            let mut saved: DiceRng = serde_json::from_str(&text).unwrap();
            prop_assert_eq!(saved.position(), position);
            prop_assert_eq!(&faces(&mut saved, sides, after), &rolled);
        }

        #[test]
        fn a_face_is_in_its_range(seed: u64, sides in 1u32..=u32::MAX) {
            let mut rng = DiceRng::new(seed);
            for _ in 0..50 {
                prop_assert!((1..=sides).contains(&rng.face(sides)));
            }
        }
    }
}
