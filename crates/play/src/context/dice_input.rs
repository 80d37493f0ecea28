//! The dice of a game: where the next faces come from.

use super::recorded_faces::RecordedFaces;
use crate::{DicePosition, DiceSource};
use riskbreaker_dice::DiceRng;

/// The source of faces, and its position.
pub struct DiceInput {
    pub source: DiceSource,
    pub rng: DiceRng,
    /// The number of written faces that were used.
    pub written: u32,
    /// Recorded faces of a saved game, taken before those of the source.
    pub recorded: RecordedFaces,
    /// The position of the dice after the last free act that drew dice before this action continued.
    pub drawn_by_others: DicePosition,
}

impl DiceInput {
    pub fn new(source: DiceSource, seed: u64) -> DiceInput {
        DiceInput {
            source,
            rng: DiceRng::new(seed),
            written: 0,
            recorded: RecordedFaces::default(),
            drawn_by_others: DicePosition::default(),
        }
    }

    pub fn position(&self) -> DicePosition {
        DicePosition { words: self.rng.position(), written: self.written }
    }

    pub fn set_position(&mut self, position: DicePosition) {
        self.rng.set_position(position.words);
        self.written = position.written;
    }

    /// Moves the dice back to a position, so that dropped rolls are drawn again. Rolls of later free acts are not drawn
    /// again.
    pub fn take_back(&mut self, to: DicePosition) {
        self.set_position(to.max(self.drawn_by_others));
    }
}
