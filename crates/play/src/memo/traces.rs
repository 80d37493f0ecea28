use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use indexmap::IndexSet;

use super::branches::{Branches, mixed};
use super::field_cache::FieldCache;
use super::guard::Guard;
use super::leaf;
use super::leaf::Leaf;
use super::numbering::EntityNumbering;
use super::outcome::{OutcomeNames, TraceOutcome};
use super::query::{Query, QueryRules, mask_of};
use super::recording::{Dependency, ExpectedOutcome, FieldSet, Finished, RollKey, Root, hash_of};
use super::tagged::{OwnValues, PackedValue};
use riskbreaker_dice::DiceRng;
use riskbreaker_state::{EntityId, State, Value};

/// The recorded traces of one variant of a simulation, shared by all its threads.
#[derive(Debug, Default)]
pub struct Traces {
    table: RwLock<TraceTable>,
}

impl Traces {
    pub(crate) fn read(&self) -> RwLockReadGuard<'_, TraceTable> {
        self.table.read().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn write(&self) -> RwLockWriteGuard<'_, TraceTable> {
        self.table.write().unwrap_or_else(PoisonError::into_inner)
    }

    /// Locks the table for writing. `None` while it is locked otherwise.
    pub(crate) fn try_write(&self) -> Option<RwLockWriteGuard<'_, TraceTable>> {
        match self.table.try_write() {
            Ok(table) => Some(table),
            Err(std::sync::TryLockError::Poisoned(poisoned)) => Some(poisoned.into_inner()),
            Err(std::sync::TryLockError::WouldBlock) => None,
        }
    }
}

/// A thread's view of the state, with which it follows a trace.
pub(crate) struct TraceReader<'m> {
    pub cache: &'m mut FieldCache,
    pub numbering: &'m mut EntityNumbering,
    pub rules: &'m QueryRules,
    pub values: &'m mut OwnValues,
}

/// Trace trees: each node reads a field, a roll or a query, its branches are the values found, its leaves are outcomes
/// (see [`Leaf`]). For a node's first value, the next node is stored directly after it; [`Branches`] has the next nodes
/// for other values.
#[derive(Debug, Default)]
pub struct TraceTable {
    /// Trees by the hash of their root.
    trees: HashMap<u64, Vec<Tree>, BuildHasherDefault<Mixed>>,
    tree_count: usize,
    nodes: Vec<TraceNode>,
    branches: Branches,
    leaves: usize,
    names: OutcomeNames,
    rolls: IndexSet<RollKey>,
    queries: IndexSet<Query>,
    /// Fields of fixed entities, with the numbers to compare them with.
    comparisons: IndexSet<(Guard, i64)>,
    /// Fields that changed in some game after its beginning.
    invalidated: FieldSet,
    full: bool,
    /// The number of times that traces were dropped.
    dropped: u64,
}

/// The traces of one root.
#[derive(Debug)]
struct Tree {
    root: Root,
    first: u32,
    /// Fields that its traces have read without a guard, since they had never changed.
    assumptions: FieldSet,
}

/// A guard of a trace, and the first value that was found there. For this value, the next node follows directly.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TraceNode {
    pub guard: Guard,
    pub found: PackedValue,
}

/// The reason why a look-up found no outcome.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Miss {
    /// The table has no tree for the entry with this owner, arguments and existing entities.
    Root,
    /// This guard has no branch for the value found.
    At(Guard),
}

/// The most nodes of the table, of 8 bytes each. When the table reaches a limit, it keeps its traces and records
/// nothing more.
const MOST_NODES: usize = 2_400_000;
/// The most branches of the table, of 14 bytes each when their table is full.
const MOST_BRANCHES: usize = 450_000;
/// The most leaves of the table.
const MOST_LEAVES: usize = 80_000;
/// The most trees of the table.
const MOST_TREES: usize = 20_000;
/// The most interned values; also the most rolls, and the most queries and comparisons.
const MOST_VALUES: usize = 20_000;

/// The result of adding a finished recording.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Committed {
    Kept,
    /// A field that it assumed to be unchanged has changed.
    Stale,
    /// A value is too large, or the table is full.
    NoRoom,
    /// A trace with the same dependencies has another outcome: the known one, and the new one.
    Differs(String, String),
}

impl TraceTable {
    pub(crate) fn is_full(&self) -> bool {
        self.full
    }

    /// Converts the leaf at a node to an expected outcome.
    pub(crate) fn expected(&self, leaf: u32) -> ExpectedOutcome {
        ExpectedOutcome { leaf, dropped: self.dropped }
    }

    /// Reads the leaf that begins at this node.
    #[inline]
    pub(crate) fn leaf(&self, place: u32) -> Leaf<'_> {
        Leaf::at(&self.nodes, place as usize)
    }

    pub(crate) fn names(&self) -> &OutcomeNames {
        &self.names
    }

    /// The number of times that traces were dropped.
    pub(crate) fn dropped(&self) -> u64 {
        self.dropped
    }

    /// The first node of the tree of a root. `None` if there is no tree.
    pub(crate) fn tree(
        &self,
        (what, owner, args): (&Arc<str>, Option<EntityId>, &Value),
        hashes: (u64, u64),
    ) -> Option<u32> {
        let trees = self.trees.get(&hash_of(what, owner, args, hashes))?;
        trees.iter().find(|tree| tree.root.is(what, owner, args, hashes)).map(|tree| tree.first)
    }

    /// Follows a trace from the first node of a tree. Returns the node at which its leaf begins, or the guard without a
    /// branch. Entities of the root must be numbered in `numbering`.
    #[inline]
    pub(crate) fn follow(
        &self,
        first: u32,
        state: &mut State,
        reader: &mut TraceReader,
        mut rng: Option<&mut DiceRng>,
    ) -> Result<u32, Miss> {
        let mut at = first as usize;
        let mut last_total = 0;
        loop {
            let from = at;
            let known = self.first_other(&mut at, reader.cache.now());
            if cfg!(debug_assertions) {
                for node in &self.nodes[from..at] {
                    assert_eq!(self.look(node.guard, state, reader), Some(node.found));
                }
            }
            let node = self.nodes[at];
            let guard = node.guard;
            let found = match known {
                Some(known) => known,
                None if guard == Guard::END => return Ok(at as u32),
                None => {
                    let found = match (&mut rng, guard.kind()) {
                        (Some(rng), Guard::ROLL) => self.rolled(guard, rng, &mut last_total),
                        _ => self.look(guard, state, reader),
                    };
                    let found = found.ok_or(Miss::At(guard))?;
                    if found == node.found {
                        at += 1;
                        continue;
                    }
                    found
                }
            };
            at = self.branches.get(at, found).ok_or(Miss::At(guard))?;
        }
    }

    /// Skips guards whose first value holds. Stops at the first guard with another value, or one that needs the state,
    /// and returns its value if the cache has it. Most guards have a slot, and most of these hold.
    #[inline]
    fn first_other(&self, at: &mut usize, now: &[PackedValue]) -> Option<PackedValue> {
        for node in &self.nodes[*at..] {
            let known = match now.get(node.guard.slot()) {
                Some(known) => *known,
                None => self.compared_now(node.guard, now)?,
            };
            if known != node.found {
                return known.is_value().then_some(known);
            }
            *at += 1;
        }
        None
    }

    /// Reads the value of a guard from the state. `None` for a roll.
    #[inline(never)]
    fn look(&self, guard: Guard, state: &mut State, reader: &mut TraceReader) -> Option<PackedValue> {
        let TraceReader { cache, numbering, rules, values } = reader;
        match guard.kind() {
            Guard::FIELD if !guard.is_fixed() => self.read(guard, state, numbering),
            Guard::FIELD if guard.slot() >= numbering.fixed_fields() => self.holding(guard, state, cache, numbering),
            Guard::FIELD => match cache.find(guard, state, &self.names.values, numbering) {
                Some(PackedValue::NUMBERED) => self.read(guard, state, numbering),
                found => found,
            },
            Guard::COMPARISON => self.comparison(guard, state, cache, numbering),
            Guard::QUERY => {
                let query = self.query(guard, numbering)?;
                let reads_fixed = match query {
                    Query::Relations(_) => true,
                    Query::Open => cache.is_any_dirty(|field| rules.decides_audiences(field, numbering)),
                    // The others read no fields of fixed entities.
                    _ => false,
                };
                if reads_fixed {
                    cache.flush(state, numbering, |tag| values.value(tag, &self.names.values));
                }
                self.found(query, state, (rules, numbering))
            }
            _ => None,
        }
    }

    /// Compares the field of a fixed entity, if this guard is a comparison and the field is in the cache.
    #[inline]
    fn compared_now(&self, guard: Guard, now: &[PackedValue]) -> Option<PackedValue> {
        let (field, least) = self.comparisons.get_index(guard.comparison_number()?)?;
        now.get(field.slot())?.is_at_least(*least).map(PackedValue::from)
    }

    /// The node that follows a guard for a value.
    fn behind(&self, at: usize, found: PackedValue) -> Option<usize> {
        match self.nodes[at].found == found {
            true => Some(at + 1),
            false => self.branches.get(at, found),
        }
    }

    /// Reads a field of an entity made in play, or a field that refers to one.
    fn read(&self, field: Guard, state: &State, numbering: &mut EntityNumbering) -> Option<PackedValue> {
        let (entity, field) = numbering.field(field);
        let value = state.field(numbering.entity(entity)?, field)?;
        match value {
            Value::Entity(id) => self.names.values.known(&Value::Entity(numbering.meet(*id, state)?)),
            _ if numbering.concerns(value) => self.names.values.known(&numbering.meet_all(value, state)?),
            _ => self.names.values.known(value),
        }
    }

    /// Finds the fixed entities that hold a value, for a query with a slot.
    fn holding(
        &self,
        guard: Guard,
        state: &State,
        cache: &mut FieldCache,
        numbering: &EntityNumbering,
    ) -> Option<PackedValue> {
        cache.add_queries(self.queries.iter().copied(), numbering);
        let Query::Holding(kind, field, tag) = self.query(guard, numbering)? else { return None };
        let fields = || numbering.fixed_of(kind).filter_map(|id| numbering.guard(id, field));
        let is_there = |field: &Guard| state.entity(numbering.field(*field).0).is_some();
        let mut holds =
            |field: Guard| is_there(&field) && cache.find(field, state, &self.names.values, numbering) == Some(tag);
        let found = PackedValue::plain(&Value::Int(mask_of(fields().map(&mut holds))?))?;
        cache.note_answer(guard.slot(), found, fields());
        Some(found)
    }

    /// True if the field of a fixed entity is at least the number of this comparison.
    fn comparison(
        &self,
        guard: Guard,
        state: &State,
        cache: &mut FieldCache,
        numbering: &EntityNumbering,
    ) -> Option<PackedValue> {
        let (field, least) = *self.comparisons.get_index(guard.number())?;
        let known = cache.find(field, state, &self.names.values, numbering)?;
        let met = match known.is_at_least(least) {
            Some(met) => met,
            // The number does not fit into a packed value.
            None => {
                let (entity, which) = numbering.field(field);
                let value = self.names.values.value(known);
                value.as_int().or_else(|| state.field(entity, which)?.as_int())? >= least
            }
        };
        Some(PackedValue::from(met))
    }

    /// Runs a query on the state.
    fn found(
        &self,
        query: Query,
        state: &State,
        (rules, numbering): (&QueryRules, &mut EntityNumbering),
    ) -> Option<PackedValue> {
        let query = match query.entity() {
            Some(number) => query.about(numbering.entity(number)?),
            None => query,
        };
        self.names.values.known(&query.found(state, rules, numbering)?)
    }

    /// The query of a guard, if it is one.
    pub(crate) fn query(&self, guard: Guard, numbering: &EntityNumbering) -> Option<Query> {
        let number = match guard.kind() {
            Guard::COMPARISON => {
                let (field, least) = self.comparisons.get_index(guard.number())?;
                return Some(Query::AtLeast(*field, *least));
            }
            Guard::QUERY => guard.number(),
            Guard::FIELD if guard.is_fixed() => guard.slot().checked_sub(numbering.fixed_fields())?,
            _ => return None,
        };
        self.queries.get_index(number).copied()
    }

    /// Rolls the dice of a guard, or returns the last total.
    #[inline(never)]
    fn rolled(&self, guard: Guard, rng: &mut DiceRng, last_total: &mut i64) -> Option<PackedValue> {
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

    /// Marks a field as changed since the beginning of a game, and drops the traces that assume it unchanged.
    pub(crate) fn invalidate(&mut self, field: Guard) {
        if self.invalidated.insert(field) {
            self.dropped += 1;
            self.trees.values_mut().for_each(|trees| trees.retain(|tree| !tree.assumptions.contains(&field)));
        }
    }

    /// Adds a finished recording to its tree.
    pub(crate) fn commit(&mut self, finished: Finished, numbering: &EntityNumbering) -> Committed {
        let recording = &finished.recording;
        if recording.assumptions.iter().any(|field| self.invalidated.contains(field)) {
            return Committed::Stale;
        }
        let Some(path) = self.path_of(&recording.dependencies, numbering) else { return Committed::NoRoom };
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
        // Follow the tree while it agrees with the recording.
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
                        leaves = Some((at, *found));
                        break;
                    }
                }
            }
        }
        if let Some(expected) = &recording.expected {
            // The expected trace was in the table before the script ran.
            if expected.dropped != self.dropped {
                return Committed::Stale;
            }
            let known = self.names.told(&self.leaf(expected.leaf).outcome());
            return Committed::Differs(known, format!("another course: {path:?}"));
        }
        if self.nodes.len() + path.len() + leaf::length(&outcome) > MOST_NODES
            || self.branches.len() >= MOST_BRANCHES
            || self.leaves >= MOST_LEAVES
            || self.tree_count >= MOST_TREES
            || self.names.values.len() >= MOST_VALUES
            || self.rolls.len() >= MOST_VALUES
            || self.queries.len() + self.comparisons.len() >= MOST_VALUES
        {
            self.full = true;
            return Committed::NoRoom;
        }
        let begins = self.nodes.len() as u32;
        for (guard, found) in &path[known..] {
            self.nodes.push(TraceNode { guard: *guard, found: *found });
        }
        if !leaf::store(&outcome, &mut self.nodes) {
            self.nodes.truncate(begins as usize);
            return Committed::NoRoom;
        }
        self.leaves += 1;
        match leaves {
            Some((from, found)) => self.branches.insert(from, found, begins),
            None => {
                let assumptions = recording.assumptions.iter().copied().collect();
                self.tree_count += 1;
                self.trees.entry(hash).or_default().push(Tree { root: root.clone(), first: begins, assumptions });
            }
        }
        Committed::Kept
    }

    /// Converts the dependencies of a recording to guards with packed values. `None` if a value is too large.
    fn path_of(
        &mut self,
        dependencies: &[(Dependency, Value)],
        numbering: &EntityNumbering,
    ) -> Option<Vec<(Guard, PackedValue)>> {
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
                Dependency::Query(query) => self.guard_of(*query, numbering)?,
            };
            path.push((guard, self.names.values.tag(value)?));
        }
        Some(path)
    }

    /// The guard for a query.
    fn guard_of(&mut self, query: Query, numbering: &EntityNumbering) -> Option<Guard> {
        if let Query::AtLeast(field, least) = query
            && field.is_fixed()
        {
            return Guard::comparison(self.comparisons.insert_full((field, least)).0);
        }
        let number = self.queries.insert_full(query).0;
        match query {
            Query::Holding(..) => Guard::fixed((numbering.fixed_fields() + number) as u32),
            _ => Guard::query(number),
        }
    }

    /// Compares an outcome with the known outcome for the same dependencies.
    fn compared(&self, at: usize, outcome: &TraceOutcome, numbering: &EntityNumbering) -> Committed {
        let node = self.nodes[at];
        if node.guard != Guard::END {
            return Committed::Differs(self.dependency(node.guard, numbering), "the script ended".into());
        }
        let known = self.leaf(at as u32).outcome();
        if known == *outcome {
            return Committed::Kept;
        }
        Committed::Differs(self.names.told(&known), self.names.told(outcome))
    }

    fn dependency(&self, guard: Guard, numbering: &EntityNumbering) -> String {
        if let Some(query) = self.query(guard, numbering) {
            return format!("it asked for {query:?}");
        }
        match guard.kind() {
            Guard::FIELD => {
                let (entity, field) = numbering.field(guard);
                format!("it read field {} of {entity}", field.0)
            }
            Guard::ROLL => format!("it rolled {:?}", self.rolls.get_index(guard.number())),
            _ => "the script ended".into(),
        }
    }
}

/// A hasher of one number.
#[derive(Default)]
struct Mixed(u64);

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
