mod packed;
mod standing;
mod step;

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::num::NonZero;
use std::sync::Arc;

use indexmap::IndexSet;

use self::packed::{Packed, Pool, is_small};
use self::standing::Standing;
use self::step::{Fields, Step};
use super::Throw;
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
    /// Many lessons come to the same.
    ends: IndexSet<Arc<End>>,
    /// Values that do not fit into a node.
    pool: Pool,
    standing: Standing,
    /// What dice were thrown together, for what.
    throws: IndexSet<Throw>,
    /// Cards that were counted, by seat: what ends count to.
    cards: Vec<(Arc<str>, Arc<str>, [u64; 3])>,
    lesson: Option<Lesson>,
    /// Fields whose values do not depend on what stood before the lesson any more: they were read, or written.
    known: Fields,
    /// Names the moment at which all games begin, if they begin alike.
    origin: Option<NonZero<u64>>,
    /// Fields that have been written in some game since: the others stand as they did then, and are not looked at.
    moved: Fields,
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
    steady: Fields,
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
        Arc::ptr_eq(&self.what, what)
            && self.owner == owner
            && (self.roster, self.worn) == state
            && same(&self.args, args)
    }
}

/// The hash of a number that is a hash.
#[derive(Default)]
struct AsItIs(u64);

impl Hasher for AsItIs {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, _: &[u8]) {}

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

impl Rote {
    /// `numbers_are_seen`: scripts may keep or compare the numbers of the entries that they make.
    pub fn new(origin: Option<NonZero<u64>>, tables: usize, numbers_are_seen: bool) -> Rote {
        let nothing = Node { step: Step::END, found: Packed::NOTHING, other: 0 };
        Rote {
            trees: HashMap::default(),
            tree_count: 0,
            nodes: vec![nothing],
            ends: IndexSet::new(),
            pool: Pool::default(),
            standing: Standing::default(),
            throws: IndexSet::new(),
            cards: Vec::new(),
            lesson: None,
            known: Fields::default(),
            origin,
            moved: Fields::default(),
            numbers_are_seen,
            tables: tables.max(1),
            recalled: 0,
            begun: 0,
        }
    }

    /// Forgets everything: other house rules are in force, or others sit at the table.
    pub fn forget(&mut self) {
        let standing = std::mem::take(&mut self.standing);
        *self = Rote::new(self.origin, self.tables, self.numbers_are_seen);
        self.standing = standing.of_other_values();
    }

    /// From here on all games begin with this state.
    pub fn begin_at(&mut self, opening: &State, tables: usize) {
        *self = Rote::new(NonZero::new(opening.identity()), tables, self.numbers_are_seen);
        self.standing = Standing::new(Some(opening));
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
            state.put_due(what, key.plus(step), owner, args, Some(**step));
        }
        for deed in &end.deeds {
            match deed {
                Deed::Set(step, value) => {
                    self.standing.set(*step, *value);
                    state.put(step.entity(), step.place(), self.pool.unpack(*value));
                }
                Deed::Spawn(entity) => {
                    let id = state.spawn((**entity).clone());
                    state.note_gone(id);
                }
                Deed::Remove(id) => {
                    state.note_gone(*id);
                    state.remove(*id).into_iter().for_each(|(entity, field)| self.moves(entity, field));
                    self.standing.lose();
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
        self.standing.keep_up(state);
        Some(end.pulsed)
    }

    /// What a function that only reads comes to, if that is known; else a lesson begins.
    pub fn value(&mut self, what: &Arc<str>, state: &mut State) -> Option<Value> {
        let about = (state.roster(), state.worn());
        match self.look_up(what, None, &Value::None, about, state, None) {
            Some(end) => Some(self.pool.unpack(self.ends[end as usize].worth)),
            None => {
                self.begin(Root::new(what, None, &Value::None, about));
                None
            }
        }
    }

    fn look_up(
        &mut self,
        what: &Arc<str>,
        owner: Option<EntityId>,
        args: &Value,
        about: (u64, u64),
        state: &State,
        chance: Option<&mut Chance>,
    ) -> Option<u32> {
        self.standing.turn_to(state);
        let trees = self.trees.get(&hash_of(what, owner, about))?;
        let first = trees.iter().find(|tree| tree.root.is_of(what, owner, args, about))?.first;
        self.follow(first, state, chance)
    }

    /// Goes down the tree by what is found; nothing where a branch is lacking.
    fn follow(&mut self, first: u32, state: &State, mut chance: Option<&mut Chance>) -> Option<u32> {
        let mut at = first as usize;
        loop {
            let mut node = self.nodes[at];
            let step = node.step;
            let found = match step.sort() {
                Step::FIELD => self.standing.find(step, state, &mut self.pool)?,
                Step::DIE => {
                    let face = chance.as_mut()?.face(step.rest());
                    self.pool.known(&Value::Int(i64::from(face)))?
                }
                Step::THROW => {
                    let throw = self.throws.get_index(step.rest() as usize)?;
                    self.pool.known(&throw.draw(chance.as_mut()?))?
                }
                _ => return Some(node.found.at() as u32),
            };
            while node.found != found {
                at = self.other(node)?;
                node = self.nodes[at];
            }
            at += 1;
        }
    }

    fn other(&self, node: Node) -> Option<usize> {
        (node.other > 0).then_some(node.other as usize)
    }

    /// Packs a value; one that is too large spoils the lesson, and anything will do for it.
    fn pack(&mut self, value: &Value) -> Packed {
        self.pool.pack(value).unwrap_or_else(|| {
            self.spoil();
            Packed::LARGE
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
            && has_room(self.throws.len(), MOST_POOLED)
            && is_small(&root.args);
        self.known.clear();
        let root = room.then(|| Root { args: self.pool.interned(root.args.clone()), ..root });
        self.lesson = root.map(|root| Lesson { root, steps: Vec::new(), steady: Vec::new(), deeds: Vec::new() });
    }

    /// The entry that runs cannot be learned: it looks at or does something that no lesson holds.
    pub fn spoil(&mut self) {
        self.lesson = None;
    }

    /// A field was read.
    pub fn read(&mut self, entity: EntityId, field: FieldId, value: &Value) {
        let Some(lesson) = &mut self.lesson else { return };
        let Some(step) = Step::field(entity, field) else { return self.spoil() };
        if self.known.insert(step) {
            if self.origin.is_some() && !self.moved.contains(step) {
                lesson.steady.push(step);
                return;
            }
            let found = self.pack(value);
            self.step(step, found);
        }
    }

    /// Dice were thrown.
    pub fn threw(&mut self, throw: Throw, seen: &Value) {
        if self.lesson.is_none() {
            return;
        }
        let found = self.pack(seen);
        match Step::throw(self.throws.insert_full(throw).0) {
            Some(step) => self.step(step, found),
            None => self.spoil(),
        }
    }

    /// A die was rolled.
    pub fn rolled(&mut self, sides: u32, face: u32) {
        if self.lesson.is_none() {
            return;
        }
        match (Step::die(sides), Packed::plain(&Value::Int(i64::from(face)))) {
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
            self.trees.values_mut().for_each(|trees| trees.retain(|tree| !tree.steady.contains(step)));
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
        self.standing.set(step, packed);
        if let Some(lesson) = &mut self.lesson {
            self.known.insert(step);
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
        steps.into_iter().for_each(|step| {
            self.known.insert(step);
        });
        lesson.deeds.push(Deed::Spawn(Box::new(entity.clone())));
        self.spoil_if_long();
    }

    /// An entity was taken away, and with it what referred to it.
    pub fn removed(&mut self, id: EntityId, touched: &[(EntityId, FieldId)]) {
        touched.iter().for_each(|(entity, field)| self.moves(*entity, *field));
        self.standing.lose();
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
        if self.lesson.is_none() {
            return;
        }
        let Entry { what, key, owner, args, every, .. } = entry.clone();
        let (args, every) = (self.pool.interned(args), every.map(|every| *every));
        let Some(lesson) = &mut self.lesson else { return };
        lesson.deeds.push(Deed::Schedule(Box::new(Due { what, key, owner, args, every })));
        self.spoil_if_long();
    }

    pub fn finished(&mut self, outcome: &str) {
        if let Some(lesson) = &mut self.lesson {
            lesson.deeds.push(Deed::Finish(outcome.into()));
        }
    }

    /// The entry that ran is over, and all of it stands.
    pub fn learn(&mut self, state: &State, pulsed: bool, played: impl FnOnce() -> Option<Played>) {
        let Some(lesson) = self.lesson.take() else { return };
        self.standing.keep_up(state);
        let card = played().map(|Played { seat, card, met }| {
            let known = self.cards.iter().position(|(one, other, _)| *one == seat && *other == card);
            let at = known.unwrap_or_else(|| {
                self.cards.push((seat, card, [0; 3]));
                self.cards.len() - 1
            });
            (at as u32, met)
        });
        self.keep(lesson, pulsed, card, Packed::NOTHING);
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
            for step in &lesson.steady {
                tree.steady.insert(*step);
            }
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
        let end = self.ends.insert_full(end).0 as u32;
        let begins = self.nodes.len() as u32;
        for (step, found) in &lesson.steps[taught..] {
            self.nodes.push(Node { step: *step, found: *found, other: 0 });
        }
        self.nodes.push(Node { step: Step::END, found: Packed::place(end), other: 0 });
        match branch {
            Some(branch) => self.nodes[branch].other = begins,
            None => {
                let mut steady = Fields::default();
                for step in &lesson.steady {
                    steady.insert(*step);
                }
                self.tree_count += 1;
                self.trees.entry(hash).or_default().push(Tree { root: lesson.root, first: begins, steady });
            }
        }
    }
}

fn same(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::List(one), Value::List(other)) => Arc::ptr_eq(one, other) || one == other,
        (Value::Map(one), Value::Map(other)) => Arc::ptr_eq(one, other) || one == other,
        (one, other) => one == other,
    }
}
