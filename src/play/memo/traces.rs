use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use indexmap::IndexSet;

use super::field_cache::FieldCache;
use super::guard::Guard;
use super::numbering::Numbering;
use super::outcome::{Names, Outcome};
use super::query::{End, Query};
use super::recording::{Dependency, Expected, Fields, Finished, RollKey, Root, hash_of};
use super::tagged::Tagged;
use crate::dice::DiceRng;
use crate::state::{EntityId, State, Value};

/// The recorded traces of one variant of a simulation, shared by all its threads.
#[derive(Debug, Default)]
pub(crate) struct Traces {
    table: RwLock<Table>,
}

impl Traces {
    pub(in crate::play) fn read(&self) -> RwLockReadGuard<'_, Table> {
        self.table.read().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn write(&self) -> RwLockWriteGuard<'_, Table> {
        self.table.write().unwrap_or_else(PoisonError::into_inner)
    }

    /// The table for writing, unless somebody reads it.
    pub(super) fn try_write(&self) -> Option<RwLockWriteGuard<'_, Table>> {
        match self.table.try_write() {
            Ok(table) => Some(table),
            Err(std::sync::TryLockError::Poisoned(poisoned)) => Some(poisoned.into_inner()),
            Err(std::sync::TryLockError::WouldBlock) => None,
        }
    }
}

/// Trace trees: each node is a field, a roll or a query, its branches are the values that were found, its leaves are outcomes.
/// Behind the value that a node found first stands the next node; a table has the nodes behind all other values.
#[derive(Debug)]
pub(crate) struct Table {
    /// By a hash of their root.
    trees: HashMap<u64, Vec<Tree>, BuildHasherDefault<Mixed>>,
    tree_count: usize,
    nodes: Vec<Node>,
    /// The nodes behind values that were found later, by [`branch`].
    branches: HashMap<u64, u32, BuildHasherDefault<Mixed>>,
    /// Many traces come to the same.
    outcomes: IndexSet<Outcome>,
    names: Names,
    rolls: IndexSet<RollKey>,
    queries: IndexSet<Query>,
    /// Fields that have been written in some game since its beginning.
    invalidated: Fields,
    full: bool,
    /// How often traces have been dropped.
    dropped: u64,
}

impl Default for Table {
    fn default() -> Table {
        Table {
            trees: HashMap::default(),
            tree_count: 0,
            nodes: Vec::new(),
            branches: HashMap::default(),
            outcomes: IndexSet::new(),
            names: Names::default(),
            rolls: IndexSet::new(),
            queries: IndexSet::new(),
            invalidated: Fields::default(),
            full: false,
            dropped: 0,
        }
    }
}

/// The traces of one root.
#[derive(Debug)]
struct Tree {
    root: Root,
    first: u32,
    /// Fields that its traces have read without a guard, since they had never changed.
    assumptions: Fields,
}

/// One guard of a trace, and the value that it found first. Where it finds that, the next node follows.
#[derive(Clone, Copy, Debug)]
struct Node {
    guard: Guard,
    found: Tagged,
}

/// The key of a node's branch for a value.
#[inline]
fn branch(at: usize, found: Tagged) -> u64 {
    (at as u64) << 32 | found.at() as u64
}

/// Where a look-up ends without an outcome.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Miss {
    /// Nothing is known of that entry, with this owner and these arguments, where the same are there.
    Root,
    /// There is no branch for what was found in this place.
    At(Guard),
}

/// Limits of the table: nodes of 8 bytes each, branches of 17 bytes where the table of them is fullest, outcomes, trees,
/// interned values and rolls. When one is reached, what is recorded is kept and nothing more is recorded.
const MOST_NODES: usize = 2_400_000;
const MOST_BRANCHES: usize = 450_000;
const MOST_OUTCOMES: usize = 80_000;
const MOST_TREES: usize = 20_000;
const MOST_VALUES: usize = 20_000;

/// What became of a finished recording.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Committed {
    Kept,
    /// Something that it assumed does not hold any more.
    Stale,
    /// A value is too large, or the table is full.
    NoRoom,
    /// A trace with the same dependencies came to something else: what was known, and what was found now.
    Differs(String, String),
}

impl Table {
    pub(super) fn is_full(&self) -> bool {
        self.full
    }

    /// The outcome of this number as one that a script has to come to.
    pub(super) fn expected(&self, outcome: u32) -> Expected {
        Expected { outcome, dropped: self.dropped }
    }

    pub(super) fn outcome(&self, number: u32) -> &Outcome {
        &self.outcomes[number as usize]
    }

    pub(super) fn names(&self) -> &Names {
        &self.names
    }

    /// How often traces have been dropped.
    pub(super) fn dropped(&self) -> u64 {
        self.dropped
    }

    /// The first node of the tree of a root.
    pub(super) fn tree(
        &self,
        (what, owner, args): (&Arc<str>, Option<EntityId>, &Value),
        hashes: (u64, u64),
    ) -> Option<u32> {
        let trees = self.trees.get(&hash_of(what, owner, args, hashes))?;
        trees.iter().find(|tree| tree.root.is(what, owner, args, hashes)).map(|tree| tree.first)
    }

    /// Follows the trace from the first node of a tree; gives the number of its outcome, or where a branch is missing. The
    /// entities in the root go by the numbers that `numbering` has given them.
    #[inline]
    pub(super) fn follow(
        &self,
        first: u32,
        state: &State,
        (cache, numbering, ends): (&mut FieldCache, &mut Numbering, &[End]),
        mut rng: Option<&mut DiceRng>,
    ) -> Result<u32, Miss> {
        let mut at = first as usize;
        let mut last_total = 0;
        loop {
            let from = at;
            at = self.behind_held(from, cache);
            for node in self.nodes[from..at].iter().filter(|_| cfg!(debug_assertions)) {
                assert_eq!(cache.find(node.guard, state, &self.names.values, numbering), Some(node.found));
            }
            let node = self.nodes[at];
            let guard = node.guard;
            let found = match guard.kind() {
                Guard::FIELD if guard.is_fixed_field() => {
                    match cache.find(guard, state, &self.names.values, numbering) {
                        Some(Tagged::NUMBERED) => self.read(guard, state, numbering),
                        found => found,
                    }
                }
                Guard::FIELD => self.read(guard, state, numbering),
                Guard::QUERY => self.asked(guard, state, cache, (ends, numbering)),
                Guard::ROLL => rng.as_mut().and_then(|rng| self.rolled(guard, rng, &mut last_total)),
                _ => return Ok(node.found.at() as u32),
            };
            let found = found.ok_or(Miss::At(guard))?;
            at = self.behind(at, found).ok_or(Miss::At(guard))?;
        }
    }

    /// The first node from this one on that is no field of a fixed entity, or does not hold what it found first. Most guards are
    /// on such fields, and most of them hold.
    #[inline]
    fn behind_held(&self, mut at: usize, cache: &FieldCache) -> usize {
        while self.nodes.get(at).is_some_and(|node| cache.holds(node.guard, node.found)) {
            at += 1;
        }
        at
    }

    /// The node behind a guard that has found a value.
    #[inline]
    fn behind(&self, at: usize, found: Tagged) -> Option<usize> {
        match self.nodes[at].found == found {
            true => Some(at + 1),
            false => self.branches.get(&branch(at, found)).map(|next| *next as usize),
        }
    }

    /// A field of an entity that is made in play, or one that refers to such.
    #[inline(never)]
    fn read(&self, field: Guard, state: &State, numbering: &mut Numbering) -> Option<Tagged> {
        let (entity, field) = numbering.field(field);
        let value = state.field(numbering.entity(entity)?, field)?;
        match value {
            Value::Entity(id) => self.names.values.known(&Value::Entity(numbering.meet(*id, state)?)),
            _ if numbering.concerns(value) => self.names.values.known(&numbering.meet_all(value, state)?),
            _ => self.names.values.known(value),
        }
    }

    /// What a query finds now.
    #[inline]
    fn asked(
        &self,
        guard: Guard,
        state: &State,
        cache: &mut FieldCache,
        (ends, numbering): (&[End], &mut Numbering),
    ) -> Option<Tagged> {
        let query = self.query(guard)?;
        match query {
            Query::Holding(_, field, _) => {
                cache.answer(guard.number(), field, || self.found(query, state, (ends, numbering)))
            }
            Query::AtLeast(key, least) if key.is_fixed_field() => {
                match cache.find(key, state, &self.names.values, numbering)?.int() {
                    Some(n) => Some(Tagged::from(n >= least)),
                    None => self.found(query, state, (ends, numbering)),
                }
            }
            _ => self.found(query, state, (ends, numbering)),
        }
    }

    /// What a query finds in the state.
    #[inline(never)]
    fn found(&self, query: Query, state: &State, (ends, numbering): (&[End], &mut Numbering)) -> Option<Tagged> {
        let query = match query.entity() {
            Some(number) => query.about(numbering.entity(number)?),
            None => query,
        };
        self.names.values.known(&query.found(state, ends, numbering)?)
    }

    /// The query that a guard stands for.
    pub(super) fn query(&self, guard: Guard) -> Option<Query> {
        self.queries.get_index(guard.number()).copied()
    }

    /// Rolls the dice of a guard, or looks at those that were rolled last.
    #[inline(never)]
    fn rolled(&self, guard: Guard, rng: &mut DiceRng, last_total: &mut i64) -> Option<Tagged> {
        let seen = match self.rolls.get_index(guard.number())? {
            RollKey::Pick(n) => Value::Int(i64::from(rng.face(*n))),
            RollKey::Look => Value::Int(*last_total),
            RollKey::Deal(dice) => Value::Int(dice.total_with(&mut |sides| Some(rng.face(sides)))?),
            RollKey::Dice(dice, sight) if sight.shows_faces() => {
                sight.of_roll(&dice.roll_with(&mut |sides| Some(rng.face(sides)))?)
            }
            RollKey::Dice(dice, sight) => {
                *last_total = dice.total_with(&mut |sides| Some(rng.face(sides)))?;
                sight.of_total(*last_total)
            }
        };
        self.names.values.known(&seen)
    }

    /// Notes that a field has changed since the beginning of a game, and drops the traces that assume otherwise.
    pub(super) fn invalidate(&mut self, field: Guard) {
        if self.invalidated.insert(field) {
            self.dropped += 1;
            self.trees.values_mut().for_each(|trees| trees.retain(|tree| !tree.assumptions.contains(&field)));
        }
    }

    /// Puts a finished recording into its tree.
    pub(super) fn commit(&mut self, finished: Finished, numbering: &Numbering) -> Committed {
        let recording = &finished.recording;
        if recording.assumptions.iter().any(|field| self.invalidated.contains(field)) {
            return Committed::Stale;
        }
        let Some(path) = self.path_of(&recording.dependencies) else { return Committed::NoRoom };
        let Some(outcome) = self.names.outcome(&finished) else { return Committed::NoRoom };
        let root = &recording.root;
        let hashes = (root.population, root.attachments);
        let hash = root.hash();
        let trees = self.trees.get_mut(&hash).map_or(&mut [][..], Vec::as_mut_slice);
        let tree = trees.iter_mut().find(|tree| tree.root.is(&root.what, root.owner, &root.args, hashes));
        let first = tree.map(|tree| {
            tree.assumptions.extend(&recording.assumptions);
            tree.first
        });
        // As far as the tree goes the same way.
        let (mut leaves, mut known) = (None, 0);
        if let Some(first) = first {
            let mut at = first as usize;
            loop {
                let node = self.nodes[at];
                let Some((guard, found)) = path.get(known) else {
                    return self.compared(at, &outcome, numbering);
                };
                if node.guard != *guard {
                    let (was, now) = (self.dependency(node.guard, numbering), self.dependency(*guard, numbering));
                    return Committed::Differs(was, now);
                }
                known += 1;
                match self.behind(at, *found) {
                    Some(next) => at = next,
                    None => {
                        leaves = Some(branch(at, *found));
                        break;
                    }
                }
            }
        }
        if let Some(expected) = &recording.expected {
            // It was there before the script ran.
            if expected.dropped != self.dropped {
                return Committed::Stale;
            }
            let known = self.names.told(&self.outcomes[expected.outcome as usize]);
            return Committed::Differs(known, format!("another course: {path:?}"));
        }
        if self.nodes.len() + path.len() > MOST_NODES
            || self.branches.len() >= MOST_BRANCHES
            || self.outcomes.len() >= MOST_OUTCOMES
            || self.tree_count >= MOST_TREES
            || self.names.values.len() >= MOST_VALUES
            || self.rolls.len() >= MOST_VALUES
            || self.queries.len() >= MOST_VALUES
        {
            self.full = true;
            return Committed::NoRoom;
        }
        let outcome = self.outcomes.insert_full(outcome).0 as u32;
        let begins = self.nodes.len() as u32;
        for (guard, found) in &path[known..] {
            self.nodes.push(Node { guard: *guard, found: *found });
        }
        self.nodes.push(Node { guard: Guard::END, found: Tagged::place(outcome) });
        match leaves {
            Some(branch) => {
                self.branches.insert(branch, begins);
            }
            None => {
                let assumptions = recording.assumptions.iter().copied().collect();
                self.tree_count += 1;
                self.trees.entry(hash).or_default().push(Tree { root: root.clone(), first: begins, assumptions });
            }
        }
        Committed::Kept
    }

    /// The dependencies of a recording as guards with tagged values; nothing if a value is too large.
    fn path_of(&mut self, dependencies: &[(Dependency, Value)]) -> Option<Vec<(Guard, Tagged)>> {
        let mut path = Vec::with_capacity(dependencies.len());
        for (dependency, value) in dependencies {
            let guard = match dependency {
                Dependency::Field(guard) => *guard,
                Dependency::Roll(key) => {
                    let number = match self.rolls.get_index_of(key) {
                        Some(number) => number,
                        None => self.rolls.insert_full(key.clone()).0,
                    };
                    Guard::roll(number)?
                }
                Dependency::Query(query) => Guard::query(self.queries.insert_full(*query).0)?,
            };
            path.push((guard, self.names.values.tag(value)?));
        }
        Some(path)
    }

    /// Compares an outcome with the one that the table has for the same dependencies.
    fn compared(&self, at: usize, outcome: &Outcome, numbering: &Numbering) -> Committed {
        let node = self.nodes[at];
        if node.guard != Guard::END {
            return Committed::Differs(self.dependency(node.guard, numbering), "the script ended".into());
        }
        let known = &self.outcomes[node.found.at()];
        if known == outcome {
            return Committed::Kept;
        }
        Committed::Differs(self.names.told(known), self.names.told(outcome))
    }

    fn dependency(&self, guard: Guard, numbering: &Numbering) -> String {
        match guard.kind() {
            Guard::FIELD => {
                let (entity, field) = numbering.field(guard);
                format!("it read field {} of {entity}", field.0)
            }
            Guard::QUERY => format!("it asked for {:?}", self.queries.get_index(guard.number())),
            Guard::ROLL => format!("it rolled {:?}", self.rolls.get_index(guard.number())),
            _ => "the script ended".into(),
        }
    }
}

/// The hash of one number, by multiplication.
#[derive(Default)]
struct Mixed(u64);

impl Hasher for Mixed {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, _: &[u8]) {}

    #[inline]
    fn write_u64(&mut self, number: u64) {
        let product = u128::from(number) * 0x9E37_79B9_7F4A_7C15;
        self.0 = (product >> 64) as u64 ^ product as u64;
    }
}
