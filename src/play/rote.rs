use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasherDefault, Hasher};
use std::num::NonZero;
use std::sync::Arc;

use crate::dice::Chance;
use crate::state::{Entity, EntityId, Entry, FieldId, Key, State, Value};

/// What agenda entries have done, by all that they looked at on the way: what is met again is done again without the script.
///
/// A script has no memory and no clock. What an entry does follows from the fields that it reads, the faces that it rolls, who
/// is there and what hangs on them, and from nothing else. While an entry runs for the first time, its lesson notes what is
/// read and rolled, in order, and what is done. The lessons of one entry share their beginnings: they form a tree, whose nodes
/// are a field or a die, whose branches are the values that were found, and whose ends are what to do. Whoever comes to an end
/// of it has read just what the script would read. Where a branch is lacking, nothing has happened yet: the script runs.
#[derive(Debug)]
pub(crate) struct Rote {
    /// By a hash of their root.
    trees: HashMap<u64, Vec<Tree>, BuildHasherDefault<AsItIs>>,
    tree_count: usize,
    nodes: Vec<Node>,
    ends: Vec<Arc<End>>,
    /// Where each end stands: many lessons come to the same.
    known_ends: HashMap<Arc<End>, u32>,
    /// Values that do not fit into a node.
    pool: Vec<Value>,
    pooled: HashMap<Value, u32>,
    /// Cards that were counted, by seat: what ends count to.
    cards: Vec<(Arc<str>, Arc<str>, [u64; 3])>,
    lesson: Option<Lesson>,
    /// Names the moment at which all games begin, if they begin alike.
    origin: Option<NonZero<u64>>,
    /// Fields that have been written in some game since: the others stand as they did then, and are not looked at.
    moved: Steps,
    /// Whether scripts may look at the numbers of the entries that they make.
    numbers_are_seen: bool,
    /// So many learn at once.
    tables: usize,
    recalled: u64,
    begun: u64,
}

/// The lessons of an entry, or of a value that is worked out, under all that every script depends on.
#[derive(Debug)]
struct Tree {
    root: Root,
    first: u32,
    /// Fields that its lessons have read and that stood as they did at the beginning of every game.
    steady: Steps,
}

#[derive(Clone, Debug, PartialEq)]
struct Root {
    what: Arc<str>,
    owner: Option<EntityId>,
    args: Value,
    /// Who is there.
    roster: u64,
    /// What hangs on them.
    worn: u64,
}

impl Root {
    fn new(what: &Arc<str>, owner: Option<EntityId>, args: &Value, (roster, worn): (u64, u64)) -> Root {
        Root { what: what.clone(), owner, args: args.clone(), roster, worn }
    }

    /// Whether it is the one of this entry; what they are called is compared by where the name lies.
    fn is_of(&self, what: &Arc<str>, owner: Option<EntityId>, args: &Value, state: (u64, u64)) -> bool {
        Arc::ptr_eq(&self.what, what) && self.owner == owner && (self.roster, self.worn) == state && self.args == *args
    }
}

type Steps = HashSet<Step, BuildHasherDefault<AsItIs>>;

/// The hash of a number that is a hash, and a quick one of a step.
#[derive(Default)]
struct AsItIs(u64);

impl Hasher for AsItIs {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, _: &[u8]) {}

    fn write_u32(&mut self, step: u32) {
        self.0 = u64::from(step).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    }

    fn write_u64(&mut self, hash: u64) {
        self.0 = hash;
    }
}

fn hash_of(what: &Arc<str>, owner: Option<EntityId>, (roster, worn): (u64, u64)) -> u64 {
    let owner = owner.map_or(0, |owner| u64::from(owner.0) + 1);
    let name = what.as_ptr() as u64;
    (name ^ owner.rotate_left(32)).wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ roster ^ worn.rotate_left(17)
}

/// One step of a lesson. Where it fits, the next node goes on; else the other branch, if there is one.
#[derive(Clone, Copy, Debug)]
struct Node {
    step: Step,
    found: Packed,
    /// Node of another value found in this place; 0 where there is none.
    other: u32,
}

/// What was looked at: a field, a die, or the end. Packed into 32 bits: two for which it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Step(u32);

/// A value in 32 bits: three for its type, or where it stands in the pool.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Packed(u32);

/// What comes of a lesson.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct End {
    deeds: Box<[Deed]>,
    /// Something was rolled or asked.
    pulsed: bool,
    /// The card that was played, among those counted, and whether its first roll met what it needed.
    card: Option<(u32, Option<bool>)>,
    /// What was worked out.
    worth: Packed,
}

/// Something that a script did to the state.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Deed {
    Set(Step, Packed),
    Spawn(Box<Entity>),
    Remove(EntityId),
    Schedule(Box<Due>),
    Finish(Box<str>),
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Due {
    what: Arc<str>,
    key: Key,
    owner: Option<EntityId>,
    args: Value,
    every: Option<Key>,
}

/// An entry that is being learned.
#[derive(Debug)]
struct Lesson {
    root: Root,
    steps: Vec<(Step, Packed)>,
    /// Fields whose values do not depend on the state before any more: they were read, or written.
    known: Steps,
    /// Fields that were read and have never moved.
    steady: Vec<Step>,
    deeds: Vec<Deed>,
}

/// The card that was played in an entry.
#[derive(Clone, Debug)]
pub(crate) struct Played {
    pub seat: Arc<str>,
    pub card: Arc<str>,
    /// Whether its first roll that needed something met it.
    pub met: Option<bool>,
}

/// Most nodes of all tables together, of 12 bytes each. What is learned by then is kept, and nothing more is learned; the same
/// with all else.
const MOST_NODES: usize = 1_200_000;
const MOST_ENDS: usize = 40_000;
const MOST_TREES: usize = 10_000;
const MOST_POOLED: usize = 10_000;
/// Longer lessons are not worth their place.
const LONGEST: usize = 4_000;
/// Larger values are not learned: bytes of a text, values in a list or map.
const LARGEST_TEXT: usize = 200;
const LARGEST_TABLE: usize = 100;

impl Step {
    const FIELD: u32 = 0;
    const DIE: u32 = 1;
    const END: Step = Step(2 << 30);

    fn field(entity: EntityId, field: FieldId) -> Option<Step> {
        (entity.0 < 1 << 20 && field.0 < 1 << 10).then_some(Step(entity.0 << 10 | u32::from(field.0)))
    }

    fn die(sides: u32) -> Option<Step> {
        (sides < 1 << 30).then_some(Step(Step::DIE << 30 | sides))
    }

    fn sort(self) -> u32 {
        self.0 >> 30
    }

    fn entity(self) -> EntityId {
        EntityId(self.0 >> 10 & 0xF_FFFF)
    }

    fn place(self) -> FieldId {
        FieldId((self.0 & 0x3FF) as u16)
    }

    fn sides(self) -> u32 {
        self.0 & 0x3FFF_FFFF
    }
}

impl Packed {
    const INT: u32 = 0;
    const BOOL: u32 = 1;
    const ENTITY: u32 = 2;
    const NONE: u32 = 3;
    const POOLED: u32 = 4;

    fn new(sort: u32, bits: u32) -> Packed {
        Packed(bits << 3 | sort)
    }

    fn small(n: i64) -> Option<Packed> {
        (-(1 << 28)..1 << 28).contains(&n).then_some(Packed::new(Packed::INT, n as u32))
    }

    fn sort(self) -> u32 {
        self.0 & 7
    }

    fn bits(self) -> u32 {
        self.0 >> 3
    }

    fn int(self) -> i64 {
        i64::from(self.0 as i32 >> 3)
    }
}

impl Rote {
    /// `numbers_are_seen`: scripts may keep or compare the numbers of the entries that they make.
    pub fn new(origin: Option<NonZero<u64>>, tables: usize, numbers_are_seen: bool) -> Rote {
        let nothing = Node { step: Step::END, found: Packed(0), other: 0 };
        Rote {
            trees: HashMap::default(),
            tree_count: 0,
            nodes: vec![nothing],
            ends: Vec::new(),
            known_ends: HashMap::new(),
            pool: Vec::new(),
            pooled: HashMap::new(),
            cards: Vec::new(),
            lesson: None,
            origin,
            moved: Steps::default(),
            numbers_are_seen,
            tables: tables.max(1),
            recalled: 0,
            begun: 0,
        }
    }

    /// Forgets everything: other house rules are in force, or others sit at the table.
    pub fn forget(&mut self) {
        *self = Rote::new(self.origin, self.tables, self.numbers_are_seen);
    }

    /// From here on all games begin at a moment of this name.
    pub fn begin_at(&mut self, origin: NonZero<u64>, tables: usize) {
        *self = Rote::new(Some(origin), tables, self.numbers_are_seen);
    }

    /// The moment at which all games begin, if they begin alike.
    pub fn origin(&self) -> Option<NonZero<u64>> {
        self.origin
    }

    /// How many entries were known, and how many were not.
    pub fn tried(&self) -> (u64, u64) {
        (self.recalled, self.begun)
    }

    /// Takes out what cards came to in entries that were known: seat and card, how often used, rolled for and met.
    pub fn take_counts(&mut self) -> impl Iterator<Item = (Arc<str>, Arc<str>, [u64; 3])> {
        self.cards
            .iter_mut()
            .filter(|(.., count)| count[0] > 0)
            .map(|(seat, card, count)| (seat.clone(), card.clone(), std::mem::take(count)))
    }

    // Recalling

    /// Does what the first entry of the agenda does, if that is known, and takes it off: says whether something was rolled or
    /// asked. Else nothing has changed but the dice, which have to be put back, and a lesson begins.
    pub fn recall(&mut self, state: &mut State, chance: &mut Chance) -> Option<bool> {
        let about = (state.roster(), state.worn());
        let Entry { what, owner, args, .. } = state.agenda().first()?;
        let Some(end) = self.look_up(what, *owner, args, about, state, Some(chance)) else {
            self.begin(Root::new(what, *owner, args, about));
            return None;
        };
        self.recalled += 1;
        let end = self.ends[end as usize].clone();
        let entry = state.take_first()?;
        if let Some(step) = &entry.every {
            let Entry { what, key, owner, args, .. } = entry;
            state.put_due(what, key.plus(step), owner, args, Some(*step));
        }
        for deed in &end.deeds {
            match deed {
                Deed::Set(step, value) => state.put(step.entity(), step.place(), self.unpack(*value)),
                Deed::Spawn(entity) => {
                    let id = state.spawn((**entity).clone());
                    state.note_gone(id);
                }
                Deed::Remove(id) => {
                    state.note_gone(*id);
                    state.remove(*id).into_iter().for_each(|(entity, field)| self.moves(entity, field));
                }
                Deed::Schedule(due) => {
                    state.put_due(due.what.clone(), due.key, due.owner, due.args.clone(), due.every);
                }
                Deed::Finish(outcome) => state.finish(outcome.to_string()),
            }
        }
        if let Some((card, met)) = end.card {
            let count = &mut self.cards[card as usize].2;
            count[0] += 1;
            count[1] += u64::from(met.is_some());
            count[2] += u64::from(met == Some(true));
        }
        Some(end.pulsed)
    }

    /// What a function that only reads comes to, if that is known; else a lesson begins.
    pub fn value(&mut self, what: &Arc<str>, state: &mut State) -> Option<Value> {
        let about = (state.roster(), state.worn());
        match self.look_up(what, None, &Value::None, about, state, None) {
            Some(end) => Some(self.unpack(self.ends[end as usize].worth)),
            None => {
                self.begin(Root::new(what, None, &Value::None, about));
                None
            }
        }
    }

    fn look_up(
        &self,
        what: &Arc<str>,
        owner: Option<EntityId>,
        args: &Value,
        about: (u64, u64),
        state: &State,
        chance: Option<&mut Chance>,
    ) -> Option<u32> {
        let trees = self.trees.get(&hash_of(what, owner, about))?;
        let tree = trees.iter().find(|tree| tree.root.is_of(what, owner, args, about))?;
        self.follow(tree.first, state, chance)
    }

    /// Goes down the tree by what is found; nothing where a branch is lacking.
    fn follow(&self, first: u32, state: &State, mut chance: Option<&mut Chance>) -> Option<u32> {
        let mut at = first as usize;
        loop {
            let mut node = self.nodes[at];
            match node.step.sort() {
                Step::FIELD => {
                    let found = state.field(node.step.entity(), node.step.place())?;
                    while !self.fits(node.found, found) {
                        at = self.other(node)?;
                        node = self.nodes[at];
                    }
                }
                Step::DIE => {
                    let face = Packed::small(i64::from(chance.as_mut()?.face(node.step.sides())))?;
                    while node.found != face {
                        at = self.other(node)?;
                        node = self.nodes[at];
                    }
                }
                _ => return Some(node.found.0),
            }
            at += 1;
        }
    }

    fn other(&self, node: Node) -> Option<usize> {
        (node.other > 0).then_some(node.other as usize)
    }

    fn fits(&self, packed: Packed, value: &Value) -> bool {
        match (packed.sort(), value) {
            (Packed::INT, Value::Int(n)) => packed.int() == *n,
            (Packed::BOOL, Value::Bool(yes)) => packed.bits() == u32::from(*yes),
            (Packed::ENTITY, Value::Entity(id)) => packed.bits() == id.0,
            (Packed::NONE, Value::None) => true,
            (Packed::POOLED, value) => self.pool[packed.bits() as usize] == *value,
            _ => false,
        }
    }

    fn unpack(&self, packed: Packed) -> Value {
        match packed.sort() {
            Packed::INT => Value::Int(packed.int()),
            Packed::BOOL => Value::Bool(packed.bits() == 1),
            Packed::ENTITY => Value::Entity(EntityId(packed.bits())),
            Packed::NONE => Value::None,
            _ => self.pool[packed.bits() as usize].clone(),
        }
    }

    /// Packs a value; one that is too large spoils the lesson, and anything will do for it.
    fn pack(&mut self, value: &Value) -> Packed {
        let packed = match value {
            Value::Int(n) => Packed::small(*n),
            Value::Bool(yes) => Some(Packed::new(Packed::BOOL, u32::from(*yes))),
            Value::Entity(id) if id.0 < 1 << 20 => Some(Packed::new(Packed::ENTITY, id.0)),
            Value::None => Some(Packed::new(Packed::NONE, 0)),
            _ => None,
        };
        packed.unwrap_or_else(|| {
            if !is_small(value) {
                self.spoil();
                return Packed::new(Packed::NONE, 0);
            }
            let at = *self.pooled.entry(value.clone()).or_insert_with(|| {
                self.pool.push(value.clone());
                self.pool.len() as u32 - 1
            });
            Packed::new(Packed::POOLED, at)
        })
    }

    // Learning

    fn begin(&mut self, root: Root) {
        self.begun += 1;
        let has_room = |used: usize, most: usize| used < most / self.tables;
        let room = has_room(self.nodes.len(), MOST_NODES)
            && has_room(self.ends.len(), MOST_ENDS)
            && has_room(self.tree_count, MOST_TREES)
            && has_room(self.pool.len(), MOST_POOLED)
            && is_small(&root.args);
        self.lesson = room.then(|| Lesson {
            root,
            steps: Vec::new(),
            known: Steps::default(),
            steady: Vec::new(),
            deeds: Vec::new(),
        });
    }

    /// The entry that runs cannot be learned: it looks at or does something that no lesson holds.
    pub fn spoil(&mut self) {
        self.lesson = None;
    }

    /// A field was read.
    pub fn read(&mut self, entity: EntityId, field: FieldId, value: &Value) {
        let Some(lesson) = &mut self.lesson else { return };
        let Some(step) = Step::field(entity, field) else { return self.spoil() };
        if lesson.known.insert(step) {
            if self.origin.is_some() && !self.moved.contains(&step) {
                lesson.steady.push(step);
                return;
            }
            let found = self.pack(value);
            self.step(step, found);
        }
    }

    /// A die was rolled.
    pub fn rolled(&mut self, sides: u32, face: u32) {
        if self.lesson.is_none() {
            return;
        }
        match (Step::die(sides), Packed::small(i64::from(face))) {
            (Some(step), Some(found)) => self.step(step, found),
            _ => self.spoil(),
        }
    }

    fn step(&mut self, step: Step, found: Packed) {
        if let Some(lesson) = &mut self.lesson {
            lesson.steps.push((step, found));
            self.spoil_if_long();
        }
    }

    fn spoil_if_long(&mut self) {
        if self.lesson.as_ref().is_some_and(|lesson| lesson.steps.len() + lesson.deeds.len() > LONGEST) {
            self.spoil();
        }
    }

    /// A field does not stand any more as it did at the beginning: what has been learned where it did is forgotten.
    pub fn moves(&mut self, entity: EntityId, field: FieldId) {
        let Some(step) = Step::field(entity, field) else { return };
        if self.moved.insert(step) {
            self.trees.values_mut().for_each(|trees| trees.retain(|tree| !tree.steady.contains(&step)));
            if self.lesson.as_ref().is_some_and(|lesson| lesson.steady.contains(&step)) {
                self.lesson = None;
            }
        }
    }

    /// A field was written.
    pub fn wrote(&mut self, entity: EntityId, field: FieldId, value: &Value) {
        self.moves(entity, field);
        if self.lesson.is_none() {
            return;
        }
        let Some(step) = Step::field(entity, field) else { return self.spoil() };
        let packed = self.pack(value);
        if let Some(lesson) = &mut self.lesson {
            lesson.known.insert(step);
            lesson.deeds.push(Deed::Set(step, packed));
        }
        self.spoil_if_long();
    }

    pub fn spawned(&mut self, id: EntityId, entity: &Entity) {
        (0..entity.fields.len()).for_each(|at| self.moves(id, FieldId(at as u16)));
        let Some(lesson) = &mut self.lesson else { return };
        let steps = (0..entity.fields.len()).map(|at| Step::field(id, FieldId(at as u16)));
        let Some(steps) = steps.collect::<Option<Vec<_>>>().filter(|_| entity.fields.iter().all(is_small)) else {
            return self.spoil();
        };
        lesson.known.extend(steps);
        lesson.deeds.push(Deed::Spawn(Box::new(entity.clone())));
        self.spoil_if_long();
    }

    /// An entity was taken away, and with it what referred to it.
    pub fn removed(&mut self, id: EntityId, touched: &[(EntityId, FieldId)]) {
        touched.iter().for_each(|(entity, field)| self.moves(*entity, *field));
        if let Some(lesson) = &mut self.lesson {
            lesson.deeds.push(Deed::Remove(id));
        }
    }

    /// An entry was put on the agenda.
    pub fn scheduled(&mut self, entry: &Entry) {
        // Its number is another one in another game.
        if self.numbers_are_seen || !is_small(&entry.args) {
            return self.spoil();
        }
        let Some(lesson) = &mut self.lesson else { return };
        let Entry { what, key, owner, args, every, .. } = entry.clone();
        lesson.deeds.push(Deed::Schedule(Box::new(Due { what, key, owner, args, every })));
        self.spoil_if_long();
    }

    pub fn finished(&mut self, outcome: &str) {
        if let Some(lesson) = &mut self.lesson {
            lesson.deeds.push(Deed::Finish(outcome.into()));
        }
    }

    /// The entry that ran is over, and all of it stands.
    pub fn learn(&mut self, pulsed: bool, played: impl FnOnce() -> Option<Played>) {
        let Some(lesson) = self.lesson.take() else { return };
        let card = played().map(|Played { seat, card, met }| {
            let known = self.cards.iter().position(|(one, other, _)| *one == seat && *other == card);
            let at = known.unwrap_or_else(|| {
                self.cards.push((seat, card, [0; 3]));
                self.cards.len() - 1
            });
            (at as u32, met)
        });
        self.keep(lesson, pulsed, card, Packed::new(Packed::NONE, 0));
    }

    /// The function that only reads has come to this.
    pub fn learn_value(&mut self, value: &Value) {
        if let Some(lesson) = self.lesson.take() {
            let worth = self.pack(value);
            self.keep(lesson, false, None, worth);
        }
    }

    /// Puts a lesson into its tree.
    fn keep(&mut self, lesson: Lesson, pulsed: bool, card: Option<(u32, Option<bool>)>, worth: Packed) {
        let Root { what, owner, args, roster, worn } = &lesson.root;
        let about = (*roster, *worn);
        let hash = hash_of(what, *owner, about);
        let trees = self.trees.get_mut(&hash).map_or(&mut [][..], Vec::as_mut_slice);
        let tree = trees.iter_mut().find(|tree| tree.root.is_of(what, *owner, args, about));
        let first = tree.map(|tree| {
            tree.steady.extend(lesson.steady.iter().copied());
            tree.first
        });
        // As far as the tree goes the same way.
        let (mut branch, mut taught) = (None, 0);
        if let Some(first) = first {
            let mut at = first as usize;
            loop {
                let Some((step, found)) = lesson.steps.get(taught) else { return };
                if self.nodes[at].step != *step {
                    // It has looked at something else though all was the same: what it depends on is not seen here.
                    return;
                }
                let fitting = std::iter::successors(Some(at), |at| self.other(self.nodes[*at]));
                let mut last = at;
                let known = fitting.inspect(|at| last = *at).find(|at| self.nodes[*at].found == *found);
                match known {
                    Some(node) => at = node + 1,
                    None => {
                        branch = Some(last);
                        break;
                    }
                }
                taught += 1;
            }
        }
        let end = Arc::new(End { deeds: lesson.deeds.into(), pulsed, card, worth });
        let end = *self.known_ends.entry(end).or_insert_with_key(|end| {
            self.ends.push(end.clone());
            self.ends.len() as u32 - 1
        });
        let begins = self.nodes.len() as u32;
        for (step, found) in &lesson.steps[taught..] {
            self.nodes.push(Node { step: *step, found: *found, other: 0 });
        }
        self.nodes.push(Node { step: Step::END, found: Packed(end), other: 0 });
        match branch {
            Some(branch) => self.nodes[branch].other = begins,
            None => {
                let steady = lesson.steady.into_iter().collect();
                self.tree_count += 1;
                self.trees.entry(hash).or_default().push(Tree { root: lesson.root, first: begins, steady });
            }
        }
    }
}

/// Whether a value is worth its place.
fn is_small(value: &Value) -> bool {
    fn size(value: &Value) -> usize {
        match value {
            Value::Text(text) if text.len() > LARGEST_TEXT => LARGEST_TABLE,
            Value::List(items) => items.iter().map(size).sum::<usize>() + 1,
            Value::Map(items) => items.values().map(size).sum::<usize>() + 1,
            _ => 1,
        }
    }
    size(value) < LARGEST_TABLE
}
