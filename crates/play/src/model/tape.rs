use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::question::Answer;
use riskbreaker_dice::{Dice, NOT_THROWN, Throws};
use riskbreaker_state::EntityId;

/// The inputs of an action in order: its rolls and answers.
///
/// A slot is empty while its question is open.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Tape {
    pub slots: Vec<Option<Slot>>,
}

/// One input of an action.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "slot", rename_all = "snake_case")]
pub enum Slot {
    Roll {
        /// The purpose of the roll, as the script words it, with placeholders.
        label: Arc<str>,
        dice: Arc<str>,
        /// The faces in the order drawn. A real die that was not thrown yet has 0.
        faces: Vec<u32>,
        before: DicePosition,
        /// The number of the decision of the last throw, if a person typed the faces.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        seq: Option<u32>,
        /// The numbers of the decisions of earlier throws, if a person typed the faces.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        earlier: Vec<u32>,
    },
    Answer {
        topic: Arc<str>,
        seat: Arc<str>,
        about: Option<EntityId>,
        answer: Answer,
        by: By,
        before: DicePosition,
    },
    /// A question closed by the answer to another one of its race, in slot `by`.
    Closed {
        by: u32,
        before: DicePosition,
    },
}

/// The source of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum By {
    /// A person. Contains the number of the decision, counted over the whole game.
    Person(u32),
    Policy,
    Default,
}

/// The position in the sources of dice.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct DicePosition {
    /// Words drawn from the generator.
    pub words: u64,
    /// Faces taken from the written list.
    pub written: u32,
}

impl Slot {
    /// The number of the decision, if a person made it.
    pub fn seq(&self) -> Option<u32> {
        match self {
            Slot::Roll { seq, .. } => *seq,
            Slot::Answer { by: By::Person(seq), .. } => Some(*seq),
            Slot::Answer { .. } | Slot::Closed { .. } => None,
        }
    }

    /// The numbers of all decisions that filled the slot.
    pub fn seqs(&self) -> impl Iterator<Item = u32> {
        let earlier: &[u32] = match self {
            Slot::Roll { earlier, .. } => earlier,
            Slot::Answer { .. } | Slot::Closed { .. } => &[],
        };
        earlier.iter().copied().chain(self.seq())
    }

    /// The faces of a roll, without dice that were not thrown yet.
    pub fn rolled(&self) -> Vec<u32> {
        match self {
            Slot::Roll { faces, .. } => faces.iter().copied().filter(|face| *face != NOT_THROWN).collect(),
            Slot::Answer { .. } | Slot::Closed { .. } => Vec::new(),
        }
    }

    /// A roll before its last decision (`None` if that was the first), and the throws removed, the last first.
    pub fn before_last_throw(&self) -> (Option<Slot>, Vec<Vec<u32>>) {
        let Slot::Roll { label, dice, faces, before, earlier, .. } = self else { return (None, Vec::new()) };
        let Ok(read) = Dice::parse(dice) else { return (None, Vec::new()) };
        let (mut throws, mut earlier) = (Throws::read(&read, faces), earlier.clone());
        let seq = earlier.pop();
        let mut taken = Vec::new();
        while let Some(thrown) = throws.take_back() {
            taken.push(thrown);
            if seq.is_some() {
                break;
            }
        }
        let (label, dice, faces) = (label.clone(), dice.clone(), throws.faces());
        let left = seq.map(|seq| Slot::Roll { label, dice, faces, before: *before, seq: Some(seq), earlier });
        (left, taken)
    }

    /// The seat that answered.
    pub fn seat(&self) -> Option<&str> {
        match self {
            Slot::Answer { seat, .. } => Some(seat),
            Slot::Roll { .. } | Slot::Closed { .. } => None,
        }
    }

    pub fn before(&self) -> DicePosition {
        match self {
            Slot::Roll { before, .. } | Slot::Answer { before, .. } | Slot::Closed { before, .. } => *before,
        }
    }
}

impl Tape {
    /// The slots before this index, as far as they exist.
    pub fn before(&self, place: usize) -> &[Option<Slot>] {
        &self.slots[..place.min(self.slots.len())]
    }

    /// The index and number of the last decision of a person.
    pub fn last_decision(&self) -> Option<(usize, u32)> {
        self.slots
            .iter()
            .enumerate()
            .filter_map(|(at, slot)| Some((at, slot.as_ref()?.seq()?)))
            .max_by_key(|(_, seq)| *seq)
    }

    /// The number of rolls on the tape.
    pub fn rolls(&self) -> usize {
        self.slots.iter().flatten().filter(|slot| matches!(slot, Slot::Roll { .. })).count()
    }

    /// Reopens the questions that were closed by the answer in a slot.
    pub fn reopen(&mut self, at: usize) {
        for slot in &mut self.slots {
            if matches!(slot, Some(Slot::Closed { by, .. }) if *by as usize == at) {
                *slot = None;
            }
        }
    }

    /// Cuts the tape before a slot. Returns the position of the dice there.
    pub fn cut(&mut self, at: usize) -> Option<DicePosition> {
        let position = self.slots[at..].iter().flatten().next().map(Slot::before);
        self.slots.truncate(at);
        // The questions closed by that answer are asked again.
        while matches!(self.slots.last(), Some(Some(Slot::Closed { by, .. })) if *by as usize == at) {
            self.slots.pop();
        }
        position
    }
}
