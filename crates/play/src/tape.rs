use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::Answer;
use riskbreaker_dice::{Dice, NOT_THROWN, Throws};
use riskbreaker_state::EntityId;

/// What an action read from outside, in the order it asked: its rolls and its answers.
///
/// A place stays empty while its question is open.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Tape {
    pub slots: Vec<Option<Slot>>,
}

/// One thing that came from outside.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "slot", rename_all = "snake_case")]
pub enum Slot {
    Roll {
        /// What it was for, as the script words it, before names are filled in.
        label: Arc<str>,
        dice: Arc<str>,
        /// In the order drawn. Of real dice, 0 is a die that is still to be thrown.
        faces: Vec<u32>,
        before: DicePosition,
        /// The number of the decision, where a person typed the faces: of the last throw.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        seq: Option<u32>,
        /// The numbers of the decisions for the throws before the last, where a person typed them.
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
    /// A question that closed because another of its race was answered first: the one at place `by`.
    Closed {
        by: u32,
        before: DicePosition,
    },
}

/// Where an answer came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum By {
    /// A person; the number of the decision, counted over the whole game.
    Person(u32),
    Policy,
    Default,
}

/// How far the sources of dice have been used.
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

    /// The numbers of all decisions that made it.
    pub fn seqs(&self) -> impl Iterator<Item = u32> {
        let earlier: &[u32] = match self {
            Slot::Roll { earlier, .. } => earlier,
            Slot::Answer { .. } | Slot::Closed { .. } => &[],
        };
        earlier.iter().copied().chain(self.seq())
    }

    /// The faces of a roll, without the places of dice that are still to be thrown.
    pub fn rolled(&self) -> Vec<u32> {
        match self {
            Slot::Roll { faces, .. } => faces.iter().copied().filter(|face| *face != NOT_THROWN).collect(),
            Slot::Answer { .. } | Slot::Closed { .. } => Vec::new(),
        }
    }

    /// A roll as it was before its last decision; `None` if that decision was the first. Besides, the throws that are taken
    /// back, the last first.
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
    /// Its places before this one, as far as it has them.
    pub fn before(&self, place: usize) -> &[Option<Slot>] {
        &self.slots[..place.min(self.slots.len())]
    }

    /// The place and number of the last decision that a person made.
    pub fn last_decision(&self) -> Option<(usize, u32)> {
        self.slots
            .iter()
            .enumerate()
            .filter_map(|(at, slot)| Some((at, slot.as_ref()?.seq()?)))
            .max_by_key(|(_, seq)| *seq)
    }

    /// How many rolls stand on it.
    pub fn rolls(&self) -> usize {
        self.slots.iter().flatten().filter(|slot| matches!(slot, Slot::Roll { .. })).count()
    }

    /// Opens the questions again that the answer at a place had closed.
    pub fn reopen(&mut self, at: usize) {
        for slot in &mut self.slots {
            if matches!(slot, Some(Slot::Closed { by, .. }) if *by as usize == at) {
                *slot = None;
            }
        }
    }

    /// Cuts the tape before a place, and gives back where the dice stood there.
    pub fn cut(&mut self, at: usize) -> Option<DicePosition> {
        let position = self.slots[at..].iter().flatten().next().map(Slot::before);
        self.slots.truncate(at);
        // What the answer there had closed is asked for anew.
        while matches!(self.slots.last(), Some(Some(Slot::Closed { by, .. })) if *by as usize == at) {
            self.slots.pop();
        }
        position
    }
}
