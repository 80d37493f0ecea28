//! The leaf of a trace: its outcome, stored in nodes directly after [`Guard::END`]. A replay reads there already, so it
//! waits for memory less often.
//!
//! [`HEAD`] nodes hold the value and, as pairs of words, the numbers in [`Leaf`]. They are followed by one node for
//! each final field value, and by two for each step.

use super::guard::Guard;
use super::outcome::{OutcomeStep, TraceOutcome};
use super::tagged::PackedValue;
use super::traces::TraceNode;

/// Nodes of a leaf before its final field values.
const HEAD: usize = 4;
const PULSED: u32 = 1;

/// An outcome in its stored form.
pub(crate) struct Leaf<'t> {
    /// The value of a read-only function.
    pub value: PackedValue,
    /// See [`TraceOutcome`].
    pub written: u32,
    pub spawns: u32,
    pub entries: u32,
    pub pulsed: bool,
    pub played: Option<u32>,
    /// Each written field with its final value.
    pub puts: &'t [TraceNode],
    steps: &'t [TraceNode],
}

impl<'t> Leaf<'t> {
    /// Reads the leaf that begins at a node.
    #[inline]
    pub fn at(nodes: &'t [TraceNode], place: usize) -> Leaf<'t> {
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

    /// The remaining effects, in order.
    #[inline]
    pub fn steps(&self) -> impl Iterator<Item = OutcomeStep> + use<'t> {
        self.steps.chunks_exact(2).map(|pair| {
            let [one, other] = [pair[0], pair[1]];
            OutcomeStep::of_words([
                one.guard.bits(),
                one.found.at() as u32,
                other.guard.bits(),
                other.found.at() as u32,
            ])
        })
    }

    /// Converts the leaf to an outcome.
    pub fn outcome(&self) -> TraceOutcome {
        TraceOutcome {
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

/// Appends an outcome to the guards of its trace. Returns false if it is too large.
pub(crate) fn store(outcome: &TraceOutcome, nodes: &mut Vec<TraceNode>) -> bool {
    let count = |count: usize| u16::try_from(count).ok().map(u32::from);
    let (Some(puts), Some(steps)) = (count(outcome.puts.len()), count(outcome.steps.len())) else { return false };
    let Ok(written) = u32::try_from(outcome.written) else { return false };
    let marks = if outcome.pulsed { PULSED } else { 0 };
    let words = |one: u32, other: u32| TraceNode { guard: Guard::of_bits(one), found: PackedValue::place(other) };
    nodes.extend([
        TraceNode { guard: Guard::END, found: outcome.value },
        words(written, marks),
        words(outcome.played.map_or(0, |played| played + 1), steps << 16 | puts),
        words(outcome.spawns, outcome.entries),
    ]);
    nodes.extend(outcome.puts.iter().map(|(guard, found)| TraceNode { guard: *guard, found: *found }));
    for step in &outcome.steps {
        let [a, b, c, d] = step.words();
        nodes.extend([words(a, b), words(c, d)]);
    }
    true
}

/// The number of nodes of an outcome.
pub(crate) fn length(outcome: &TraceOutcome) -> usize {
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
            OutcomeStep::Set(field(3), PackedValue::NOTHING),
            OutcomeStep::Add(field(4), PackedValue::from(true)),
            OutcomeStep::Spawn(u32::MAX),
            OutcomeStep::Remove(EntityId(7)),
            OutcomeStep::Attach(2),
            OutcomeStep::Detach(AttachmentId(9)),
            OutcomeStep::SetData(AttachmentId(9), PackedValue::from(false)),
            OutcomeStep::Schedule { key: 1, due: 2, numbered: false },
            OutcomeStep::Schedule { key: 3, due: 0, numbered: true },
            OutcomeStep::Finish(PackedValue::NOTHING),
        ];
        for played in [None, Some(0), Some(5)] {
            let outcome = TraceOutcome {
                puts: [(field(1), PackedValue::from(true)), (field(2), PackedValue::NOTHING)].into(),
                steps: steps.clone().into(),
                written: 70_000,
                spawns: 1,
                entries: 2,
                pulsed: played.is_some(),
                played,
                value: PackedValue::from(true),
            };
            let mut nodes = vec![TraceNode { guard: Guard::END, found: PackedValue::NOTHING }];
            assert!(store(&outcome, &mut nodes));
            assert_eq!(nodes.len(), 1 + length(&outcome));
            nodes.push(TraceNode { guard: field(0), found: PackedValue::NOTHING });
            assert_eq!(Leaf::at(&nodes, 1).outcome(), outcome);
        }
    }
}
