//! Which points of an action are alike: from them on, the same comes of the same rolls. A loop of rolls comes back to
//! points that are alike, and many courses lead to the same few, so that an action with more courses than can be gone
//! through often has few points that are not.
//!
//! A script cannot be looked into while it runs. So points are told apart by trying the same rolls from each; two that
//! nothing has told apart are taken to be alike, and then that is tried out from each of them with rolls drawn for it.

use std::collections::{BTreeMap, HashMap};

use num_rational::BigRational;
use num_traits::{One, ToPrimitive, Zero};

use crate::play::Beyond;

/// Where a course stands that was gone by a plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Stand {
    /// Before a roll of this sort.
    Waits(usize),
    /// At its end, with what came of it.
    Ends(usize),
}

/// A course that was gone by a plan.
#[derive(Clone, Debug)]
pub(super) struct Course {
    /// Which way it went at each point, turns left out after which it was back where it had been.
    pub ways: Vec<usize>,
    /// Which way it went at each point beyond its plan, nothing left out.
    pub beyond: Vec<usize>,
    pub stand: Stand,
}

/// What can be tried out.
pub(super) trait Courses {
    type Failure;

    /// Goes a course from the start by a plan, a way for each point.
    fn go(&mut self, plan: &[usize], beyond: Beyond) -> Result<Course, Self::Failure>;

    /// The chance of each way that a roll of a sort can go; what looks like the way before it has none.
    fn chances(&self, sort: usize) -> &[BigRational];

    /// What it is a failure of if it cannot be found out.
    fn too_many(&self) -> Self::Failure;

    /// What it is a failure of if two ways lead to different points that only differ in the order of faces.
    fn out_of_order(&self) -> Self::Failure;
}

/// What an action comes to, if points that nothing tells apart are alike.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Found {
    /// The chance of each end.
    pub ends: BTreeMap<usize, BigRational>,
    /// How many courses bore it out.
    pub tried: u64,
    /// The chance of all courses that were gone to their end, no more than that.
    pub gone: f64,
}

/// Points that are taken to be alike.
struct State {
    /// How to get to one of them.
    way: Vec<usize>,
    sort: usize,
    /// Where it stands in the tree.
    leaf: usize,
    /// Where each roll leads; empty if that was not looked at.
    next: Vec<Target>,
    /// For each of these, where in the tree stood what it leads to when that was tried out.
    borne_out: HashMap<usize, usize>,
    /// The chance to get here, about.
    mass: f64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Target {
    State(usize),
    End(usize),
}

/// A tree that tells points apart.
enum Node {
    Leaf(usize),
    /// By where the same rolls lead.
    Parts {
        rolls: Vec<usize>,
        by: HashMap<Stand, usize>,
    },
}

/// States that are hardly ever met are not looked at.
const LEAST_MASS: f64 = 1e-13;
const MOST_STATES: usize = 4_000;
/// States that lead to each other, at most.
const MOST_IN_LOOP: usize = 150;
/// How often it is tried out where a roll leads, from `LEAST` to `MOST` times each, and about so often for all together.
const TRIALS: usize = 10_000;
const LEAST_TRIALS: usize = 2;
const MOST_TRIALS: usize = 12;
/// Courses from start to end on which it is tried out.
const WHOLE_TRIALS: usize = 2_000;

struct Alike<'c, C: Courses> {
    courses: &'c mut C,
    states: Vec<State>,
    nodes: Vec<Node>,
    /// The tree for each sort of roll.
    roots: HashMap<usize, usize>,
    /// Complete courses by which it was tried out, with their chance.
    gone: HashMap<Vec<usize>, f64>,
    tried: u64,
}

/// Finds out what an action comes to.
///
/// # Errors
///
/// What the courses fail of, or that there are too many points that are not alike.
pub(super) fn find_out<C: Courses>(courses: &mut C) -> Result<Found, C::Failure> {
    let (states, nodes) = (Vec::new(), Vec::new());
    let (roots, gone) = (HashMap::new(), HashMap::new());
    let mut alike = Alike { courses, states, nodes, roots, gone, tried: 0 };
    let start = match alike.place(&[])? {
        Target::State(start) => start,
        Target::End(_) => return Err(alike.courses.too_many()),
    };
    alike.states[start].mass = 1.0;
    alike.look_further()?;
    while !alike.try_out_each()? || !alike.try_out_whole(start)? {
        alike.look_further()?;
    }
    alike.check_orders()?;
    let ends = alike.settle(start)?;
    Ok(Found { ends, tried: alike.tried, gone: alike.gone.values().sum() })
}

impl<C: Courses> Alike<'_, C> {
    fn stand_after(&mut self, way: &[usize], rolls: &[usize]) -> Result<Stand, C::Failure> {
        Ok(self.courses.go(&[way, rolls].concat(), Beyond::Wait)?.stand)
    }

    /// The state of a point, a new one if no other is like it.
    fn place(&mut self, way: &[usize]) -> Result<Target, C::Failure> {
        let course = self.courses.go(way, Beyond::Wait)?;
        let sort = match course.stand {
            Stand::Ends(end) => return Ok(Target::End(end)),
            Stand::Waits(sort) => sort,
        };
        let root = match self.roots.get(&sort) {
            Some(root) => *root,
            None => {
                // Two long rows of rolls tell most of them apart.
                let root = self.nodes.len();
                for how in [Beyond::ByChance, Beyond::Evenly] {
                    let rolls = self.courses.go(&course.ways, how)?.beyond;
                    self.nodes.push(Node::Parts { rolls, by: HashMap::new() });
                }
                self.roots.insert(sort, root);
                root
            }
        };
        self.place_below(root, course.ways, sort)
    }

    fn place_below(&mut self, mut node: usize, way: Vec<usize>, sort: usize) -> Result<Target, C::Failure> {
        loop {
            let rolls = match &self.nodes[node] {
                Node::Leaf(state) => return Ok(Target::State(*state)),
                Node::Parts { rolls, .. } => rolls.clone(),
            };
            let stand = self.stand_after(&way, &rolls)?;
            let first = self.roots.get(&sort) == Some(&node);
            let new = self.nodes.len();
            let Node::Parts { by, .. } = &mut self.nodes[node] else { continue };
            if let Some(known) = by.get(&stand) {
                node = *known;
                continue;
            }
            // Below the first row of rolls comes the second.
            by.insert(stand, new);
            if first && let Node::Parts { rolls, .. } = &self.nodes[node + 1] {
                let rolls = rolls.clone();
                self.nodes.push(Node::Parts { rolls, by: HashMap::new() });
                node = new;
                continue;
            }
            return self.settle_down(new, way, sort);
        }
    }

    /// Makes a new state of a point, at a place in the tree that is the next to be made.
    fn settle_down(&mut self, leaf: usize, way: Vec<usize>, sort: usize) -> Result<Target, C::Failure> {
        if self.states.len() >= MOST_STATES {
            return Err(self.courses.too_many());
        }
        let state = self.states.len();
        self.nodes.push(Node::Leaf(state));
        self.states.push(State { way, sort, leaf, next: Vec::new(), borne_out: HashMap::new(), mass: 0.0 });
        Ok(Target::State(state))
    }

    /// Looks where each roll leads from every state that is likely enough, the likeliest first.
    fn look_further(&mut self) -> Result<(), C::Failure> {
        loop {
            let new = |state: &&usize| self.states[**state].next.is_empty();
            let likely = |state: &&usize| self.states[**state].mass >= LEAST_MASS;
            let all: Vec<usize> = (0..self.states.len()).collect();
            let mass = |state: &&usize| self.states[**state].mass;
            let Some(state) =
                all.iter().filter(new).filter(likely).max_by(|one, two| mass(one).total_cmp(&mass(two))).copied()
            else {
                return Ok(());
            };
            let chances = self.shares(state);
            let mut next = Vec::with_capacity(chances.len());
            for (way, chance) in chances.iter().enumerate() {
                let target = self.place(&self.after(state, way))?;
                if let Target::State(to) = target {
                    self.states[to].mass += self.states[state].mass * chance;
                }
                next.push(target);
            }
            self.states[state].next = next;
        }
    }

    fn shares(&self, state: usize) -> Vec<f64> {
        let chances = self.courses.chances(self.states[state].sort);
        chances.iter().map(|chance| chance.to_f64().unwrap_or(0.0)).collect()
    }

    fn after(&self, state: usize, way: usize) -> Vec<usize> {
        [self.states[state].way.as_slice(), &[way]].concat()
    }

    /// Tries out whether each roll leads where it is said to; false if some did not, which is mended.
    fn try_out_each(&mut self) -> Result<bool, C::Failure> {
        let edges: usize = self.states.iter().map(|state| state.next.len()).sum();
        let times = (TRIALS / edges.max(1)).clamp(LEAST_TRIALS, MOST_TRIALS);
        let mut holds = true;
        for state in 0..self.states.len() {
            for way in 0..self.states[state].next.len() {
                // What looks like the way before it leads where that does, which is looked at in the end.
                if self.courses.chances(self.states[state].sort)[way].is_zero() {
                    continue;
                }
                let other = self.after(state, way);
                for time in 0..times {
                    let Target::State(to) = self.states[state].next[way] else { break };
                    let leaf = self.states[to].leaf;
                    if other == self.states[to].way || self.states[state].borne_out.get(&way) == Some(&leaf) {
                        break;
                    }
                    if time + 1 == times {
                        self.states[state].borne_out.insert(way, leaf);
                    }
                    let how = if time % 2 == 0 { Beyond::Evenly } else { Beyond::ByChance };
                    let course = self.courses.go(&self.states[to].way, how)?;
                    self.tried += 1;
                    if self.stand_after(&other, &course.beyond)? != course.stand {
                        self.tell_apart(to, course.beyond)?;
                        holds = false;
                    }
                }
            }
        }
        Ok(holds)
    }

    /// Tries out whole courses; false if one did not go as it should, which is mended.
    fn try_out_whole(&mut self, start: usize) -> Result<bool, C::Failure> {
        for time in 0..WHOLE_TRIALS {
            let how = if time % 4 == 0 { Beyond::Evenly } else { Beyond::ByChance };
            let course = self.courses.go(&[], how)?;
            self.tried += 1;
            let mut at = vec![start];
            let mut chance = 1.0;
            let mut end = None;
            for way in &course.beyond {
                let state = at[at.len() - 1];
                let Some(target) = self.states[state].next.get(*way) else { break };
                chance *= self.courses.chances(self.states[state].sort)[*way].to_f64().unwrap_or(0.0);
                match target {
                    Target::State(to) => at.push(*to),
                    Target::End(found) => end = Some(Stand::Ends(*found)),
                }
            }
            let unknown = end.is_none() && self.states[at[at.len() - 1]].next.is_empty();
            if end == Some(course.stand) {
                // Where it came back to where it was, it is not the only course of its kind.
                if course.ways.len() == course.beyond.len() {
                    self.gone.insert(course.beyond, chance);
                }
            } else if !unknown {
                for (rolled, state) in at.into_iter().enumerate().skip(1) {
                    let rest = &course.beyond[rolled..];
                    let way = self.states[state].way.clone();
                    if self.stand_after(&way, rest)? != course.stand {
                        self.tell_apart(state, rest.to_vec())?;
                        return Ok(false);
                    }
                }
                return Err(self.courses.too_many());
            }
        }
        Ok(true)
    }

    /// Tells points apart that were taken to be alike, by rolls that lead to something else from one of them.
    fn tell_apart(&mut self, state: usize, rolls: Vec<usize>) -> Result<(), C::Failure> {
        let way = self.states[state].way.clone();
        let stand = self.stand_after(&way, &rolls)?;
        let parts = self.states[state].leaf;
        let leaf = self.nodes.len();
        self.nodes.push(Node::Leaf(state));
        self.states[state].leaf = leaf;
        self.nodes[parts] = Node::Parts { rolls, by: HashMap::from([(stand, leaf)]) };
        let sort = self.states[state].sort;
        for from in 0..self.states.len() {
            for way in 0..self.states[from].next.len() {
                if self.states[from].next[way] != Target::State(state) {
                    continue;
                }
                let course = self.courses.go(&self.after(from, way), Beyond::Wait)?;
                let target = self.place_below(parts, course.ways, sort)?;
                if let Target::State(to) = target
                    && to != state
                {
                    self.states[to].mass += self.states[from].mass * self.shares(from)[way];
                }
                self.states[from].next[way] = target;
            }
        }
        Ok(())
    }

    /// Whether what only differs in the order of faces leads to the same.
    fn check_orders(&self) -> Result<(), C::Failure> {
        for state in &self.states {
            let chances = self.courses.chances(state.sort);
            let same = |pair: &[Target]| pair[0] == pair[1];
            let mut twins = state.next.windows(2).zip(&chances[1..]).filter(|(_, chance)| chance.is_zero());
            if !twins.all(|(pair, _)| same(pair)) {
                return Err(self.courses.out_of_order());
            }
        }
        Ok(())
    }

    /// The chance of each end: loops are solved, and everything is gone through once from the start on.
    fn settle(&self, start: usize) -> Result<BTreeMap<usize, BigRational>, C::Failure> {
        let mut ends: BTreeMap<usize, BigRational> = BTreeMap::new();
        let mut inflow = vec![BigRational::zero(); self.states.len()];
        inflow[start] = BigRational::one();
        for group in self.loops(start) {
            if group.len() > MOST_IN_LOOP {
                return Err(self.courses.too_many());
            }
            let visits = self.visits(&group, &inflow)?;
            for (state, times) in group.iter().zip(visits) {
                let state = &self.states[*state];
                for (target, chance) in state.next.iter().zip(self.courses.chances(state.sort)) {
                    if chance.is_zero() {
                        continue;
                    }
                    match target {
                        Target::End(end) => *ends.entry(*end).or_insert_with(BigRational::zero) += &times * chance,
                        Target::State(to) if group.contains(to) => {}
                        Target::State(to) => inflow[*to] += &times * chance,
                    }
                }
            }
        }
        Ok(ends)
    }

    /// How often each state of a group is met, given how likely it is to be entered at each.
    fn visits(&self, group: &[usize], inflow: &[BigRational]) -> Result<Vec<BigRational>, C::Failure> {
        let size = group.len();
        let place: HashMap<usize, usize> = group.iter().enumerate().map(|(at, state)| (*state, at)).collect();
        // Visits less what comes of visits elsewhere in the group is what comes in.
        let mut rows: Vec<BTreeMap<usize, BigRational>> =
            (0..size).map(|at| BTreeMap::from([(at, BigRational::one())])).collect();
        for (from, state) in group.iter().enumerate() {
            let state = &self.states[*state];
            for (target, chance) in state.next.iter().zip(self.courses.chances(state.sort)) {
                if let Target::State(to) = target
                    && let Some(to) = place.get(to)
                    && !chance.is_zero()
                {
                    *rows[*to].entry(from).or_insert_with(BigRational::zero) -= chance;
                }
            }
        }
        let mut right: Vec<BigRational> = group.iter().map(|state| inflow[*state].clone()).collect();
        for at in 0..size {
            let pivot = rows[at].get(&at).filter(|pivot| !pivot.is_zero()).cloned();
            // Whatever is rolled leads back: there is no end to it.
            let Some(pivot) = pivot else { return Err(self.courses.too_many()) };
            let row: Vec<(usize, BigRational)> =
                rows[at].iter().filter(|(to, _)| **to > at).map(|(to, part)| (*to, part / &pivot)).collect();
            right[at] = &right[at] / &pivot;
            for below in at + 1..size {
                let Some(times) = rows[below].remove(&at) else { continue };
                for (to, part) in &row {
                    *rows[below].entry(*to).or_insert_with(BigRational::zero) -= &times * part;
                }
                let less = &times * &right[at];
                right[below] -= less;
            }
            rows[at] = row.into_iter().collect();
        }
        for at in (0..size).rev() {
            for (to, part) in &rows[at] {
                let less = part * &right[*to];
                right[at] -= less;
            }
        }
        Ok(right)
    }

    /// States in groups that lead back to themselves, each group behind all from which it is reached. Tarjan's way.
    fn loops(&self, start: usize) -> Vec<Vec<usize>> {
        let count = self.states.len();
        let (mut number, mut low) = (vec![usize::MAX; count], vec![0; count]);
        let (mut open, mut is_open) = (Vec::new(), vec![false; count]);
        let mut groups = Vec::new();
        let mut met = 0;
        // The state that is looked at, and which of its ways is next.
        let mut path: Vec<(usize, usize)> = vec![(start, 0)];
        while let Some((state, way)) = path.last_mut() {
            let state = *state;
            if *way == 0 {
                (number[state], low[state]) = (met, met);
                met += 1;
                open.push(state);
                is_open[state] = true;
            }
            let target = self.states[state].next.get(*way).copied();
            *way += 1;
            match target {
                Some(Target::State(to)) if number[to] == usize::MAX => path.push((to, 0)),
                Some(Target::State(to)) if is_open[to] => low[state] = low[state].min(number[to]),
                Some(_) => {}
                None => {
                    path.pop();
                    if let Some((before, _)) = path.last() {
                        low[*before] = low[*before].min(low[state]);
                    }
                    if low[state] == number[state] {
                        let from = open.iter().rposition(|other| *other == state).unwrap_or(0);
                        let group = open.split_off(from);
                        group.iter().for_each(|state| is_open[*state] = false);
                        groups.push(group);
                    }
                }
            }
        }
        groups.reverse();
        groups
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A game that is a function of the faces rolled so far: `Ok` for what is rolled next, by sides, `Err` for its end.
    struct Faces<F> {
        game: F,
        sorts: Vec<Vec<BigRational>>,
        luck: usize,
        gone: u64,
    }

    fn of(part: i64, whole: i64) -> BigRational {
        BigRational::new(part.into(), whole.into())
    }

    impl<F: Fn(&[usize]) -> Result<usize, usize>> Courses for Faces<F> {
        type Failure = &'static str;

        fn go(&mut self, plan: &[usize], beyond: Beyond) -> Result<Course, &'static str> {
            self.gone += 1;
            let mut ways: Vec<usize> = Vec::new();
            let stand = loop {
                match (self.game)(&ways) {
                    Err(end) => break Stand::Ends(end),
                    Ok(sides) if ways.len() == plan.len() && beyond == Beyond::Wait || ways.len() > 500 => {
                        break Stand::Waits(sides);
                    }
                    Ok(sides) => {
                        self.luck =
                            self.luck.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                        let drawn = (self.luck >> 33) % sides;
                        ways.push(plan.get(ways.len()).map_or(drawn, |way| way % sides));
                    }
                }
            };
            let beyond = ways.get(plan.len()..).unwrap_or_default().to_vec();
            Ok(Course { ways, beyond, stand })
        }

        fn chances(&self, sort: usize) -> &[BigRational] {
            &self.sorts[sort]
        }

        fn too_many(&self) -> &'static str {
            "too many"
        }

        fn out_of_order(&self) -> &'static str {
            "order"
        }
    }

    fn found(game: impl Fn(&[usize]) -> Result<usize, usize>) -> Result<Found, &'static str> {
        let sorts = (0..=8).map(|sides: i64| vec![of(1, sides.max(1)); sides as usize]).collect();
        find_out(&mut Faces { game, sorts, luck: 1, gone: 0 })
    }

    #[test]
    fn a_count_in_a_loop_without_end_is_solved() {
        // First to three; a face of 0 counts for one, 1 for the other, 2 and 3 for nobody.
        let race = |faces: &[usize]| {
            let [own, other] = [0, 1].map(|who| faces.iter().filter(|face| **face == who).count());
            if own.max(other) == 3 { Err(own * 10 + other) } else { Ok(4) }
        };
        let found = found(race).unwrap();
        let half = |n: i64| of(n, 32);
        let ends = [(3, 4), (13, 6), (23, 6), (30, 4), (31, 6), (32, 6)];
        assert_eq!(found.ends, ends.map(|(end, n)| (end, half(n))).into());
        assert!(found.tried > 1_000 && found.gone < 1.0);
    }

    #[test]
    fn many_courses_that_come_to_the_same_are_one() {
        // The sum of twenty dice of four faces, which can fall in 4^20 ways.
        let sum = |faces: &[usize]| if faces.len() == 20 { Err(faces.iter().sum()) } else { Ok(4) };
        let found = found(sum).unwrap();
        assert_eq!(found.ends.len(), 61);
        assert_eq!(found.ends[&0], of(1, 4_i64.pow(20)));
        assert_eq!(found.ends[&1], of(20, 4_i64.pow(20)));
        assert_eq!(found.ends.values().sum::<BigRational>(), BigRational::one());
    }

    #[test]
    fn what_only_one_row_of_faces_shows_is_found() {
        // A run of three equal faces ends it; what the first face was is told at the end.
        let run = |faces: &[usize]| {
            let ends = faces.windows(3).any(|three| three[0] == three[1] && three[1] == three[2]);
            if ends { Err(faces[0] * 10 + faces[faces.len() - 1]) } else { Ok(3) }
        };
        let found = found(run).unwrap();
        // The first face has the last word with 5/13, each other one with 4/13.
        assert_eq!(found.ends.len(), 9);
        for (end, chance) in found.ends {
            assert_eq!(chance, if end % 11 == 0 { of(5, 39) } else { of(4, 39) }, "{end}");
        }
    }

    #[test]
    fn what_never_ends_and_what_is_never_alike_is_too_much() {
        assert_eq!(found(|_: &[usize]| Ok(2)).unwrap_err(), "too many");
        // Every row of faces comes to something else.
        let all = |faces: &[usize]| {
            if faces.len() == 13 { Err(faces.iter().fold(0, |sum, face| sum * 2 + face)) } else { Ok(2) }
        };
        assert_eq!(found(all).unwrap_err(), "too many");
    }
}
