use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

use super::branches::mixed;
use super::guard::Guard;
use super::tagged::Tagged;

/// A guard, and the value that it found first: where it finds that, the next node of its trace follows. Or a field, and the value
/// that a leaf puts there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Node {
    pub guard: Guard,
    pub found: Tagged,
}

/// The nodes of all traces, each once. Traces have many alike; they keep the numbers, so that more of them fit into the caches of
/// the processor.
#[derive(Debug, Default)]
pub(super) struct Nodes {
    all: Vec<Node>,
    numbers: HashMap<u64, u32, BuildHasherDefault<Mixed>>,
}

impl Nodes {
    pub fn len(&self) -> usize {
        self.all.len()
    }

    /// The number of a node; a new one gets the next.
    pub fn number(&mut self, node: Node) -> u32 {
        let words = u64::from(node.guard.bits()) << 32 | u64::from(node.found.bits());
        *self.numbers.entry(words).or_insert_with(|| {
            self.all.push(node);
            self.all.len() as u32 - 1
        })
    }

    /// The node of a number.
    #[inline]
    pub fn get(&self, number: u32) -> Node {
        self.all[number as usize]
    }
}

/// A hasher of one number.
#[derive(Default)]
pub(super) struct Mixed(u64);

impl Hasher for Mixed {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, _: &[u8]) {}

    #[inline]
    fn write_u64(&mut self, number: u64) {
        self.0 = mixed(number);
    }
}
