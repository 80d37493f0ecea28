//! The faces of the rolls of a saved game, for a game that is replayed from an earlier point.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use riskbreaker_dice::Dice;

/// Recorded faces that are still to be rolled, by label and dice.
#[derive(Clone, Debug, Default)]
pub struct RecordedFaces(HashMap<FacesKey, VecDeque<Vec<u32>>>);

/// The label and the dice of a roll.
type FacesKey = (Arc<str>, Arc<str>);

impl RecordedFaces {
    /// Takes the faces for the next roll with this label and these dice. `None` if none are left.
    pub fn take(&mut self, label: &Arc<str>, dice: &Dice) -> Option<Vec<u32>> {
        if self.0.is_empty() {
            return None;
        }
        self.0.get_mut(&(label.clone(), Arc::from(dice.to_string())))?.pop_front()
    }

    /// Adds the faces of one more roll with this label and these dice.
    pub fn add(&mut self, label: Arc<str>, dice: Arc<str>, faces: Vec<u32>) {
        self.0.entry((label, dice)).or_default().push_back(faces);
    }
}
