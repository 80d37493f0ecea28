//! The leaf of a trace: its outcome in nodes, right behind [`Guard::END`]. A replay finds it where it reads already, so that it waits
//! for memory less often.
//!
//! [`HEAD`] nodes: the value, and by pairs of words what stands in [`Leaf`]. Then one node for each field that is put, and
//! two for each step.

use super::guard::Guard;
use super::outcome::{Outcome, Step};
use super::tagged::Tagged;
use super::traces::Node;

/// Nodes of a leaf before the fields that it puts.
const HEAD: usize = 4;
const PULSED: u32 = 1;

/// An outcome as it is stored.
pub(super) struct Leaf<'t> {
    /// The value of a function that only reads.
    pub value: Tagged,
    /// See [`Outcome`].
    pub written: u32,
    pub spawns: u32,
    pub entries: u32,
    pub pulsed: bool,
    pub played: Option<u32>,
    /// Each field, and what it holds then.
    pub puts: &'t [Node],
    steps: &'t [Node],
}

impl<'t> Leaf<'t> {
    /// The leaf that begins at a node.
    #[inline]
    pub fn at(nodes: &'t [Node], place: usize) -> Leaf<'t> {
        let (head, rest) = nodes[place..].split_at(HEAD);
        let words = |at: usize| (head[at].guard.bits(), head[at].found.at() as u32);
        let ((written, marks), (played, puts), (spawns, entries)) = (words(1), words(2), words(3));
        let (puts, rest) = rest.split_at(puts as usize & 0xFFFF);
        Leaf {
            value: head[0].found,
            written,
            spawns,
            entries,
            pulsed: marks & PULSED != 0,
            played: played.checked_sub(1),
            puts,
            steps: &rest[..2 * (head[2].found.at() >> 16)],
        }
    }

    /// What it does besides, in order.
    #[inline]
    pub fn steps(&self) -> impl Iterator<Item = Step> + use<'t> {
        self.steps.chunks_exact(2).map(|pair| {
            let [one, other] = [pair[0], pair[1]];
            Step::of_words([one.guard.bits(), one.found.at() as u32, other.guard.bits(), other.found.at() as u32])
        })
    }

    /// The same as an outcome.
    pub fn outcome(&self) -> Outcome {
        Outcome {
            puts: self.puts.iter().map(|node| (node.guard, node.found)).collect(),
            steps: self.steps().collect(),
            written: self.written as usize,
            spawns: self.spawns,
            entries: self.entries,
            pulsed: self.pulsed,
            played: self.played,
            value: self.value,
        }
    }
}

/// Stores an outcome behind the guards of its trace. Says whether it fits.
pub(super) fn store(outcome: &Outcome, nodes: &mut Vec<Node>) -> bool {
    let count = |count: usize| u16::try_from(count).ok().map(u32::from);
    let (Some(puts), Some(steps)) = (count(outcome.puts.len()), count(outcome.steps.len())) else { return false };
    let Ok(written) = u32::try_from(outcome.written) else { return false };
    let marks = if outcome.pulsed { PULSED } else { 0 };
    let words = |one: u32, other: u32| Node { guard: Guard::of_bits(one), found: Tagged::place(other) };
    nodes.extend([
        Node { guard: Guard::END, found: outcome.value },
        words(written, marks),
        words(outcome.played.map_or(0, |played| played + 1), steps << 16 | puts),
        words(outcome.spawns, outcome.entries),
    ]);
    nodes.extend(outcome.puts.iter().map(|(guard, found)| Node { guard: *guard, found: *found }));
    for step in &outcome.steps {
        let [a, b, c, d] = step.words();
        nodes.extend([words(a, b), words(c, d)]);
    }
    true
}

/// How many nodes an outcome takes.
pub(super) fn length(outcome: &Outcome) -> usize {
    HEAD + outcome.puts.len() + 2 * outcome.steps.len()
}

#[cfg(test)]
mod tests {
    use super::*;
    use riskbreaker_state::{AttachmentId, EntityId};

    #[test]
    fn an_outcome_comes_back_as_it_was_stored() {
        let field = |at| Guard::fixed(at).expect("it fits");
        let steps = [
            Step::Set(field(3), Tagged::NOTHING),
            Step::Add(field(4), Tagged::from(true)),
            Step::Spawn(u32::MAX),
            Step::Remove(EntityId(7)),
            Step::Attach(2),
            Step::Detach(AttachmentId(9)),
            Step::SetData(AttachmentId(9), Tagged::from(false)),
            Step::Schedule { key: 1, due: 2, numbered: false },
            Step::Schedule { key: 3, due: 0, numbered: true },
            Step::Finish(Tagged::NOTHING),
        ];
        for played in [None, Some(0), Some(5)] {
            let outcome = Outcome {
                puts: [(field(1), Tagged::from(true)), (field(2), Tagged::NOTHING)].into(),
                steps: steps.clone().into(),
                written: 70_000,
                spawns: 1,
                entries: 2,
                pulsed: played.is_some(),
                played,
                value: Tagged::from(true),
            };
            let mut nodes = vec![Node { guard: Guard::END, found: Tagged::NOTHING }];
            assert!(store(&outcome, &mut nodes));
            assert_eq!(nodes.len(), 1 + length(&outcome));
            nodes.push(Node { guard: field(0), found: Tagged::NOTHING });
            assert_eq!(Leaf::at(&nodes, 1).outcome(), outcome);
        }
    }
}
