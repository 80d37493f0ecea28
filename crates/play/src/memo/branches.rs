use super::tagged::PackedValue;

/// The next nodes for all values of a node except its first value: a hash table with open addressing and linear
/// probing. Memory access dominates a look-up, and this table usually needs one.
#[derive(Debug, Default)]
pub(crate) struct Branches {
    /// Empty, or a power of two slots.
    slots: Vec<TraceBranch>,
    count: usize,
}

/// One branch. `to` is 0 in an empty slot: node 0 is the first node of a tree, so no branch leads there.
#[derive(Clone, Copy, Debug, Default)]
struct TraceBranch {
    from: u32,
    found: PackedValue,
    to: u32,
}

const FEWEST_SLOTS: usize = 64;

/// Hashes a number by multiplication.
#[inline]
pub(crate) fn mixed(number: u64) -> u64 {
    let product = u128::from(number) * 0x9E37_79B9_7F4A_7C15;
    (product >> 64) as u64 ^ product as u64
}

impl Branches {
    pub fn len(&self) -> usize {
        self.count
    }

    /// The node that follows node `from` for the value `found`.
    #[inline]
    pub fn get(&self, from: usize, found: PackedValue) -> Option<usize> {
        let branch = self.slots.get(self.place(from as u32, found))?;
        (branch.to != 0).then_some(branch.to as usize)
    }

    /// Adds a branch that is not in the table, to a node other than 0.
    pub fn insert(&mut self, from: usize, found: PackedValue, to: u32) {
        if self.count * 8 >= self.slots.len() * 7 {
            let slots = vec![TraceBranch::default(); (self.slots.len() * 2).max(FEWEST_SLOTS)];
            let old = std::mem::replace(&mut self.slots, slots);
            old.into_iter().filter(|branch| branch.to != 0).for_each(|branch| self.put(branch));
        }
        self.count += 1;
        self.put(TraceBranch { from: from as u32, found, to });
    }

    fn put(&mut self, branch: TraceBranch) {
        let place = self.place(branch.from, branch.found);
        self.slots[place] = branch;
    }

    /// The slot of a branch: where it is, or where it would be inserted.
    #[inline]
    fn place(&self, from: u32, found: PackedValue) -> usize {
        let last = self.slots.len().wrapping_sub(1);
        let mut place = mixed(u64::from(from) << 32 | found.at() as u64) as usize & last;
        while let Some(branch) = self.slots.get(place)
            && branch.to != 0
            && (branch.from, branch.found) != (from, found)
        {
            place = (place + 1) & last;
        }
        place
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use riskbreaker_state::Value;

    #[test]
    fn every_branch_that_was_added_is_found_and_no_other() {
        let mut branches = Branches::default();
        let found = |n: usize| PackedValue::plain(&Value::Int(n as i64)).expect("it fits");
        assert_eq!(branches.get(0, found(0)), None);
        for node in 0..300 {
            for value in 0..node % 7 {
                branches.insert(node, found(value), (1 + node * 7 + value) as u32);
            }
        }
        assert_eq!(branches.len(), (0..300).map(|node| node % 7).sum::<usize>());
        for node in 0..300 {
            for value in 0..7 {
                let expected = (value < node % 7).then_some(1 + node * 7 + value);
                assert_eq!(branches.get(node, found(value)), expected);
            }
        }
    }
}
