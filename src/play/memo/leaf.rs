//! The leaf of a trace: its outcome in numbers of the table, right behind [`Guard::END`]. A replay finds it where it
//! reads already, so that it waits for memory less often.
//!
//! First stands the number of its [`Summary`], then those of the fields that are put, each with its value, then those of the steps.

use super::guard::Guard;
use super::node::{Node, Nodes};
use super::outcome::{Names, Outcome, Step, Summary, number};
use super::tagged::Tagged;

/// An outcome as it is stored.
pub(super) struct Leaf<'t> {
    /// The value of a function that only reads.
    pub value: Tagged,
    pub summary: &'t Summary,
    puts: &'t [u32],
    steps: &'t [u32],
    nodes: &'t Nodes,
    names: &'t Names,
}

impl<'t> Leaf<'t> {
    /// The leaf that begins with the end of a trace.
    #[inline]
    pub fn at(words: &'t [u32], nodes: &'t Nodes, names: &'t Names) -> Leaf<'t> {
        let value = nodes.get(words[0]).found;
        let summary = &names.summaries[words[1] as usize];
        let (puts, rest) = words[2..].split_at(summary.puts as usize);
        Leaf { value, summary, puts, steps: &rest[..summary.steps as usize], nodes, names }
    }

    /// The fields that it puts, and what each of them holds then.
    #[inline]
    pub fn puts(&self) -> impl Iterator<Item = Node> + use<'t> {
        let nodes = self.nodes;
        self.puts.iter().map(|number| nodes.get(*number))
    }

    /// What it does besides, in order.
    #[inline]
    pub fn steps(&self) -> impl Iterator<Item = &'t Step> + use<'t> {
        let names = self.names;
        self.steps.iter().map(|number| &names.steps[*number as usize])
    }

    /// The same as an outcome.
    pub fn outcome(&self) -> Outcome {
        Outcome {
            puts: self.puts().collect(),
            steps: self.steps().cloned().collect(),
            summary: *self.summary,
            value: self.value,
        }
    }
}

/// Stores an outcome behind the guards of its trace.
pub(super) fn store(outcome: Outcome, words: &mut Vec<u32>, nodes: &mut Nodes, names: &mut Names) {
    words.push(nodes.number(Node { guard: Guard::END, found: outcome.value }));
    words.push(number(&mut names.summaries, outcome.summary));
    words.extend(outcome.puts.into_iter().map(|put| nodes.number(put)));
    words.extend(outcome.steps.into_iter().map(|step| number(&mut names.steps, step)));
}

/// How many words an outcome takes.
pub(super) fn length(outcome: &Outcome) -> usize {
    2 + outcome.puts.len() + outcome.steps.len()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::state::{AttachmentId, EntityId};

    #[test]
    fn an_outcome_comes_back_as_it_was_stored() {
        let field = |at| Guard::fixed(at).expect("it fits");
        let put = |at, found| Node { guard: field(at), found };
        let steps = [
            Step::Set(field(3), Tagged::NOTHING),
            Step::Add(field(4), Tagged::from(true)),
            Step::Remove(EntityId(7)),
            Step::Detach(AttachmentId(9)),
            Step::Add(field(4), Tagged::from(true)),
            Step::Schedule { key: 3, due: 0, numbered: true },
        ];
        let (mut words, mut nodes, mut names) = (Vec::new(), Nodes::default(), Names::default());
        let mut stored = Vec::new();
        for played in [None, Some((0, None)), Some((5, Some(false))), Some((5, Some(true)))] {
            let puts = [put(1, Tagged::from(true)), put(2, Tagged::NOTHING)];
            let (spawns, entries, pulsed) = (1, 2, played.is_some());
            let summary = Summary { puts: 2, steps: 6, written: 70_000, spawns, entries, pulsed, played };
            let outcome =
                Outcome { puts: puts.into(), steps: steps.clone().into(), summary, value: Tagged::from(pulsed) };
            stored.push((words.len(), outcome.clone()));
            let length = words.len() + length(&outcome);
            store(outcome, &mut words, &mut nodes, &mut names);
            assert_eq!(words.len(), length);
        }
        for (place, outcome) in stored {
            assert_eq!(nodes.get(words[place]).guard, Guard::END);
            assert_eq!(Leaf::at(&words[place..], &nodes, &names).outcome(), outcome);
        }
    }
}
