//! Absorbing Markov chains, solved in fractions, or in intervals where the fractions grow too long.
//!
//! The choice points of an action are the states, their branches are the transitions, and the ends of the action absorb.
//! Strongly connected components are solved one after the other. Inside a component, states are eliminated until only edges out
//! of it are left.

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt::Debug;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use dashu_int::ops::BitTest;

use super::interval::Interval;
use riskbreaker_dice::Fraction;
use riskbreaker_play::{Assumed, ChoicePoint, Edge, Fork, Source};
use riskbreaker_work::is_set;

/// What an end is worth, by seat.
pub(super) type Worth = BTreeMap<Arc<str>, Fraction>;

/// The numbers that a chain is solved in.
pub(super) trait ChainNumber: Clone + Debug + Default + PartialEq {
    fn one() -> Self;
    fn is_zero(&self) -> bool;
    fn plus(&self, other: &Self) -> Self;
    fn times(&self, other: &Self) -> Self;
    /// The quotient by a number above zero.
    fn over(&self, other: &Self) -> Self;
    /// The chance to leave a state: 1 without the chance to stay, which is the sum of the others.
    fn leaving<'n>(stays: &'n Self, others: &mut dyn Iterator<Item = &'n Self>) -> Self;
    /// What an operation costs, in steps of a script.
    fn cost(&self) -> u64;
}

impl ChainNumber for Fraction {
    fn one() -> Fraction {
        Fraction::ONE
    }

    fn is_zero(&self) -> bool {
        Fraction::is_zero(self)
    }

    fn plus(&self, other: &Fraction) -> Fraction {
        self + other
    }

    fn times(&self, other: &Fraction) -> Fraction {
        self * other
    }

    fn over(&self, other: &Fraction) -> Fraction {
        self / other
    }

    fn leaving<'n>(stays: &'n Fraction, _: &mut dyn Iterator<Item = &'n Fraction>) -> Fraction {
        Fraction::ONE - stays
    }

    fn cost(&self) -> u64 {
        let words = (self.numerator().bit_len() + self.denominator().bit_len()) as u64 / 128;
        LEAST + WORD * words + SQUARE * words * words
    }
}

impl ChainNumber for Interval {
    fn one() -> Interval {
        Interval::ONE
    }

    fn is_zero(&self) -> bool {
        *self == Interval::ZERO
    }

    fn plus(&self, other: &Interval) -> Interval {
        Interval::plus(*self, *other)
    }

    fn times(&self, other: &Interval) -> Interval {
        Interval::times(*self, *other)
    }

    fn over(&self, other: &Interval) -> Interval {
        Interval::over(*self, *other)
    }

    /// The sum of the others: a difference of almost equal numbers would lose all digits.
    fn leaving<'n>(_: &'n Interval, others: &mut dyn Iterator<Item = &'n Interval>) -> Interval {
        others.fold(Interval::ZERO, |sum, chance| sum.plus(*chance))
    }

    fn cost(&self) -> u64 {
        LEAST / 4
    }
}

/// Where the chance goes in the end.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Settled<N = Fraction> {
    /// The chance of each end.
    pub ends: BTreeMap<u32, N>,
    /// The chance of what was not followed to its end.
    pub remaining: N,
    /// What was chosen as best on a way that can be taken.
    pub chosen: BTreeSet<Assumed>,
}

/// Why a chain has no solution.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unsolved {
    /// There is no way out of some states: it rolls for ever.
    Endless,
    /// Somebody chooses on a way that leads back to the same choice.
    CircularChoice,
    /// Somebody ended the work.
    Interrupted,
    /// The chances have so many digits that they would take too long.
    TooLong,
}

/// Why there are no exact chances then.
pub(super) const TOO_LONG: &str = "the fractions of its chances are too long to be worked out";

/// The work that fractions take, in steps of a script, and who may end it.
#[derive(Debug)]
struct FractionWork<'p> {
    /// Once this is set, the work ends.
    interrupt: Option<&'p AtomicBool>,
    left: Cell<u64>,
}

/// What an operation on short fractions costs, and what each further word and its square do. Measured: the common divisor takes
/// most of the time.
const LEAST: u64 = 72;
const WORD: u64 = 140;
const SQUARE: u64 = 2;

impl FractionWork<'_> {
    const MOST: u64 = 6_000_000_000;

    /// Counts an operation on a number.
    fn pay<N: ChainNumber>(&self, number: &N) -> Result<(), Unsolved> {
        self.left.set(self.left.get().saturating_sub(number.cost()));
        if self.left.get() == 0 { Err(Unsolved::TooLong) } else { Ok(()) }
    }

    fn check(&self) -> Result<(), Unsolved> {
        if is_set(self.interrupt) { Err(Unsolved::Interrupted) } else { Ok(()) }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum ChainTarget {
    State(u32),
    End(u32),
    /// What was not followed.
    Rest,
    /// No place at all: it counts the steps.
    Step,
}

pub(super) type Row<N = Fraction> = BTreeMap<ChainTarget, N>;

pub(super) struct Chain<'p, N = Fraction> {
    points: &'p [ChoicePoint],
    rows: Vec<Row<N>>,
    /// Strongly connected components, each behind those that it leads to.
    components: Vec<Vec<u32>>,
    /// The branch that is chosen where somebody chooses.
    choice: HashMap<u32, usize>,
    effort: FractionWork<'p>,
}

impl<'p> Chain<'p> {
    pub fn new(points: &'p [ChoicePoint], start: Edge, interrupt: Option<&'p AtomicBool>) -> Chain<'p> {
        let rows = points.iter().map(row).collect();
        let effort = FractionWork { interrupt, left: Cell::new(FractionWork::MOST) };
        let mut chain = Chain { points, rows, components: Vec::new(), choice: HashMap::new(), effort };
        if let Edge::To(start) = start {
            chain.find_components(start);
        }
        chain
    }

    /// Decides each choice for the branch that is worth most to the seat that chooses.
    ///
    /// `worth`: what each end is worth.
    ///
    /// # Errors
    ///
    /// As [`Unsolved`] says.
    pub fn choose(&mut self, worth: &[Worth]) -> Result<(), Unsolved> {
        let mut values: HashMap<u32, Worth> = HashMap::new();
        let value_of = |values: &HashMap<u32, Worth>, target: &ChainTarget| match target {
            ChainTarget::State(state) => values.get(state).cloned().unwrap_or_default(),
            ChainTarget::End(end) => worth[*end as usize].clone(),
            ChainTarget::Rest | ChainTarget::Step => Worth::new(),
        };
        for component in self.components.clone() {
            self.effort.check()?;
            if !self.is_cyclic(&component) {
                let state = component[0];
                if let Fork::Answers { seat, .. } = &self.points[state as usize].fork {
                    let edges = &self.points[state as usize].edges;
                    let mut best: Option<(Fraction, usize, Worth)> = None;
                    for (branch, edge) in edges.iter().enumerate() {
                        let value = value_of(&values, &target(*edge));
                        let own = value.get(seat).cloned().unwrap_or_default();
                        if best.as_ref().is_none_or(|(most, ..)| own > *most) {
                            best = Some((own, branch, value));
                        }
                    }
                    let (_, branch, value) = best.expect("a question has at least one answer");
                    self.take(state, branch);
                    values.insert(state, value);
                    continue;
                }
                values.insert(state, weighed(&self.rows[state as usize], |target| value_of(&values, target)));
                continue;
            }
            self.choose_in_cycle(&component, &mut values, &value_of)?;
        }
        Ok(())
    }

    /// The same in a component whose states lead to each other: by policy iteration, from choices that lead out of it on.
    fn choose_in_cycle(
        &mut self,
        component: &[u32],
        values: &mut HashMap<u32, Worth>,
        value_of: &dyn Fn(&HashMap<u32, Worth>, &ChainTarget) -> Worth,
    ) -> Result<(), Unsolved> {
        let points = self.points;
        let members: BTreeSet<u32> = component.iter().copied().collect();
        let chooser = |state: &u32| match &points[*state as usize].fork {
            Fork::Answers { seat, answers, .. } if answers.len() > 1 => Some(seat),
            _ => None,
        };
        let seats: BTreeSet<&Arc<str>> = component.iter().filter_map(chooser).collect();
        if seats.len() > 1 {
            return Err(Unsolved::CircularChoice);
        }
        // States from which the way out is known, and the first step of it.
        let leads_out = |known: &BTreeSet<u32>, target: &ChainTarget| match target {
            ChainTarget::State(to) => !members.contains(to) || known.contains(to),
            _ => true,
        };
        let mut known: BTreeSet<u32> = BTreeSet::new();
        while known.len() < component.len() {
            let before = known.len();
            for state in component {
                if known.contains(state) {
                    continue;
                }
                if chooser(state).is_some() {
                    let edges = &points[*state as usize].edges;
                    let Some(branch) = edges.iter().position(|edge| leads_out(&known, &target(*edge))) else {
                        continue;
                    };
                    self.take(*state, branch);
                    known.insert(*state);
                } else if self.rows[*state as usize].keys().any(|target| leads_out(&known, target)) {
                    known.insert(*state);
                }
            }
            if known.len() == before {
                return Err(Unsolved::Endless);
            }
        }
        loop {
            let mut elimination = Elimination::new(component, &self.rows);
            for (state, row) in elimination.eliminate_all(&mut HashMap::new(), &self.effort)?.into_iter().rev() {
                let value = weighed(&row, |target| value_of(values, target));
                values.insert(state, value);
            }
            let mut changed = false;
            for state in component {
                let Some(seat) = chooser(state) else { continue };
                let own = |value: Worth| value.get(seat).cloned().unwrap_or_default();
                let mut best = own(values[state].clone());
                for (branch, edge) in points[*state as usize].edges.iter().enumerate() {
                    let worth = own(value_of(values, &target(*edge)));
                    if worth > best {
                        best = worth;
                        self.take(*state, branch);
                        changed = true;
                    }
                }
            }
            if !changed {
                return Ok(());
            }
        }
    }

    /// Chooses a branch of a point.
    fn take(&mut self, state: u32, branch: usize) {
        let edge = self.points[state as usize].edges[branch];
        self.rows[state as usize] = Row::from([(target(edge), Fraction::ONE)]);
        self.choice.insert(state, branch);
    }
}

impl<'p, N: ChainNumber> Chain<'p, N> {
    /// A chain whose states nobody chooses in.
    pub fn of_rows(rows: Vec<Row<N>>, start: u32, interrupt: Option<&'p AtomicBool>) -> Chain<'p, N> {
        let effort = FractionWork { interrupt, left: Cell::new(FractionWork::MOST) };
        let mut chain = Chain { points: &[], rows, components: Vec::new(), choice: HashMap::new(), effort };
        chain.find_components(start);
        chain
    }

    /// The same with less work before it is given up.
    pub fn with_effort(self, most: u64) -> Chain<'p, N> {
        self.effort.left.set(most.min(FractionWork::MOST));
        self
    }

    /// How many states are gone through on average, from a state to an end.
    ///
    /// # Errors
    ///
    /// As [`Unsolved`] says.
    pub fn expected_steps(&self, start: u32) -> Result<N, Unsolved> {
        let mut steps: HashMap<u32, N> = HashMap::new();
        let counted = |row: &Row<N>, steps: &HashMap<u32, N>| -> N {
            let of = |(target, chance): (&ChainTarget, &N)| match target {
                ChainTarget::Step => chance.clone(),
                ChainTarget::State(state) => steps.get(state).map(|steps| chance.times(steps)).unwrap_or_default(),
                ChainTarget::End(_) | ChainTarget::Rest => N::default(),
            };
            row.iter().map(of).fold(N::default(), |sum, part| sum.plus(&part))
        };
        for component in &self.components {
            self.effort.check()?;
            if !self.is_cyclic(component) {
                let row = &self.rows[component[0] as usize];
                let count = counted(row, &steps).plus(&N::one());
                row.iter().try_for_each(|_| self.effort.pay(&count))?;
                steps.insert(component[0], count);
                continue;
            }
            let mut elimination = Elimination::new(component, &self.rows);
            elimination.rows.values_mut().for_each(|row| drop(row.insert(ChainTarget::Step, N::one())));
            for (state, row) in elimination.eliminate_all(&mut HashMap::new(), &self.effort)?.into_iter().rev() {
                let count = counted(&row, &steps);
                row.iter().try_for_each(|_| self.effort.pay(&count))?;
                steps.insert(state, count);
            }
        }
        Ok(steps.remove(&start).unwrap_or_default())
    }

    /// Lets the chance flow from the start to the ends.
    ///
    /// # Errors
    ///
    /// As [`Unsolved`] says.
    pub fn settle(&self, start: Edge) -> Result<Settled<N>, Unsolved> {
        let mut mass: HashMap<u32, N> = HashMap::new();
        let mut settled = Settled::default();
        let mut flow = |mass: &mut HashMap<u32, N>, target: ChainTarget, chance: N| {
            let sum = match target {
                ChainTarget::State(state) => mass.entry(state).or_default(),
                ChainTarget::End(end) => settled.ends.entry(end).or_default(),
                ChainTarget::Rest => &mut settled.remaining,
                ChainTarget::Step => return,
            };
            *sum = sum.plus(&chance);
        };
        let mut chosen = BTreeSet::new();
        flow(&mut mass, target(start), N::one());
        for component in self.components.iter().rev() {
            self.effort.check()?;
            if component.iter().any(|state| mass.contains_key(state)) {
                for state in component {
                    if let Some(branch) = self.choice.get(state)
                        && let Fork::Answers { who: Some(who), topic, answers, .. } = &self.points[*state as usize].fork
                        && answers.len() > 1
                    {
                        let (who, topic, answer) = (who.clone(), topic.clone(), answers[*branch].1.clone());
                        chosen.insert(Assumed { who, topic, answer, source: Source::Best });
                    }
                }
            }
            if !self.is_cyclic(component) {
                let Some(own) = mass.remove(&component[0]) else { continue };
                for (target, chance) in &self.rows[component[0] as usize] {
                    self.effort.pay(&own)?;
                    flow(&mut mass, *target, chance.times(&own));
                }
                continue;
            }
            let mut own: HashMap<u32, N> =
                component.iter().filter_map(|state| Some((*state, mass.remove(state)?))).collect();
            if own.is_empty() {
                continue;
            }
            let mut elimination = Elimination::new(component, &self.rows);
            for (state, row) in elimination.eliminate_all(&mut own, &self.effort)? {
                let Some(own) = own.remove(&state) else { continue };
                for (target, chance) in row {
                    // What goes to other states of the component has been added to what they have.
                    if !matches!(target, ChainTarget::State(other) if elimination.members.contains(&other)) {
                        self.effort.pay(&own)?;
                        flow(&mut mass, target, chance.times(&own));
                    }
                }
            }
        }
        settled.chosen = chosen;
        Ok(settled)
    }

    /// The work that was done so far, in steps of a script.
    pub fn work(&self) -> u64 {
        FractionWork::MOST - self.effort.left.get()
    }

    fn is_cyclic(&self, component: &[u32]) -> bool {
        match component {
            [only] => self.rows[*only as usize].contains_key(&ChainTarget::State(*only)),
            _ => true,
        }
    }

    /// Tarjan's algorithm, without recursion.
    fn find_components(&mut self, start: u32) {
        const NONE: u32 = u32::MAX;
        let count = self.rows.len();
        let next: Vec<Vec<u32>> = self
            .rows
            .iter()
            .map(|row| {
                row.keys()
                    .filter_map(|target| if let ChainTarget::State(to) = target { Some(*to) } else { None })
                    .collect()
            })
            .collect();
        let (mut index, mut low) = (vec![NONE; count], vec![0_u32; count]);
        let mut done = vec![false; count];
        let (mut stack, mut counter) = (Vec::new(), 0);
        let mut calls = vec![(start, 0_usize)];
        while let Some((state, at)) = calls.last_mut() {
            let state = *state;
            if *at == 0 {
                (index[state as usize], low[state as usize]) = (counter, counter);
                counter += 1;
                stack.push(state);
            }
            let mut called = false;
            while let Some(to) = next[state as usize].get(*at).copied() {
                *at += 1;
                if index[to as usize] == NONE {
                    calls.push((to, 0));
                    called = true;
                    break;
                }
                if !done[to as usize] {
                    low[state as usize] = low[state as usize].min(index[to as usize]);
                }
            }
            if called {
                continue;
            }
            // A state without any way on would be counted twice otherwise.
            calls.pop();
            if let Some((caller, _)) = calls.last() {
                low[*caller as usize] = low[*caller as usize].min(low[state as usize]);
            }
            if low[state as usize] == index[state as usize] {
                let mut component = Vec::new();
                while let Some(member) = stack.pop() {
                    done[member as usize] = true;
                    component.push(member);
                    if member == state {
                        break;
                    }
                }
                self.components.push(component);
            }
        }
    }
}

fn target(edge: Edge) -> ChainTarget {
    match edge {
        Edge::Open => ChainTarget::Rest,
        Edge::To(point) => ChainTarget::State(point),
        Edge::End(end) => ChainTarget::End(end),
    }
}

/// Where a point leads, branches with the same target together. Of answers, all are possible.
fn row(point: &ChoicePoint) -> Row {
    let mut row = Row::new();
    match &point.fork {
        Fork::Roll(ranked) => {
            for (branch, edge) in ranked.partition.branches.iter().zip(&point.edges) {
                *row.entry(target(*edge)).or_default() += &branch.chance;
            }
            if !ranked.partition.rest.is_zero() {
                *row.entry(ChainTarget::Rest).or_default() += &ranked.partition.rest;
            }
        }
        Fork::Answers { .. } | Fork::Entry => {
            for edge in &point.edges {
                row.insert(target(*edge), Fraction::ONE);
            }
        }
    }
    row
}

fn weighed(row: &Row, value_of: impl Fn(&ChainTarget) -> Worth) -> Worth {
    let mut sum = Worth::new();
    for (target, chance) in row {
        for (seat, worth) in value_of(target) {
            *sum.entry(seat).or_default() += worth * chance;
        }
    }
    sum
}

/// States of one component that are taken out one after the other.
struct Elimination<N> {
    members: BTreeSet<u32>,
    rows: HashMap<u32, Row<N>>,
    before: HashMap<u32, BTreeSet<u32>>,
}

impl<N: ChainNumber> Elimination<N> {
    fn new(component: &[u32], rows: &[Row<N>]) -> Elimination<N> {
        let members: BTreeSet<u32> = component.iter().copied().collect();
        let mut before: HashMap<u32, BTreeSet<u32>> = component.iter().map(|state| (*state, BTreeSet::new())).collect();
        for state in component {
            for target in rows[*state as usize].keys() {
                if let ChainTarget::State(to) = target
                    && to != state
                    && let Some(before) = before.get_mut(to)
                {
                    before.insert(*state);
                }
            }
        }
        Elimination {
            members,
            rows: component.iter().map(|state| (*state, rows[*state as usize].clone())).collect(),
            before,
        }
    }

    /// Takes out every state. Gives them in that order, each with its edges at that time, and moves the chance in `own` of each
    /// on to the states that are left. Edges out of the component stay with the state that they come from.
    fn eliminate_all(
        &mut self,
        own: &mut HashMap<u32, N>,
        effort: &FractionWork<'_>,
    ) -> Result<Vec<(u32, Row<N>)>, Unsolved> {
        let mut order = Vec::with_capacity(self.members.len());
        let cost = |before: &BTreeSet<u32>, row: &Row<N>| before.len() * row.len();
        let mut queue: BTreeSet<(usize, u32)> =
            self.rows.iter().map(|(state, row)| (cost(&self.before[state], row), *state)).collect();
        while let Some((priced, state)) = queue.pop_first() {
            effort.check()?;
            // Its price may have changed since; it is looked at again then.
            let price = cost(&self.before[&state], &self.rows[&state]);
            if price > priced && queue.first().is_some_and(|(next, _)| *next < price) {
                queue.insert((price, state));
                continue;
            }
            let mut row = self.rows.remove(&state).expect("each is taken out once");
            let before = self.before.remove(&state).expect("each is taken out once");
            if let Some(stays) = row.remove(&ChainTarget::State(state)) {
                let others = row.iter().filter(|(target, _)| **target != ChainTarget::Step);
                let leaves = N::leaving(&stays, &mut others.map(|(_, chance)| chance));
                if leaves.is_zero() {
                    return Err(Unsolved::Endless);
                }
                for chance in row.values_mut() {
                    effort.pay(chance)?;
                    *chance = chance.over(&leaves);
                }
            }
            for target in row.keys() {
                if let ChainTarget::State(to) = target
                    && let Some(known) = self.before.get_mut(to)
                {
                    known.remove(&state);
                    known.extend(before.iter().filter(|from| *from != to));
                }
            }
            for from in &before {
                let Some(known) = self.rows.get_mut(from) else { continue };
                let Some(share) = known.remove(&ChainTarget::State(state)) else { continue };
                for (target, chance) in &row {
                    effort.pay(chance)?;
                    let sum = known.entry(*target).or_default();
                    *sum = sum.plus(&chance.times(&share));
                }
            }
            if let Some(mass) = own.get(&state).cloned() {
                for (target, chance) in &row {
                    effort.pay(&mass)?;
                    if let ChainTarget::State(to) = target
                        && self.members.contains(to)
                    {
                        let sum = own.entry(*to).or_default();
                        *sum = sum.plus(&chance.times(&mass));
                    }
                }
            }
            order.push((state, row));
        }
        Ok(order)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use riskbreaker_dice::{ratio, sum};

    /// So many rounds, in each of which one of eight places moves on by one or two.
    fn rounds(count: u32) -> Vec<Row> {
        let half = || ratio(1, 2);
        let third = || ratio(1, 3);
        let place = |round: u32, at: u32| match round < count {
            true => ChainTarget::State(8 * round + at % 8),
            false => ChainTarget::End(at % 8),
        };
        let row = |state: u32| {
            let (next, at) = (state / 8 + 1, state % 8);
            Row::from([
                (place(next, at + 1), third()),
                (place(next, at + 2), Fraction::ONE - half() - third()),
                (place(next, at + 3), half()),
            ])
        };
        (0..8 * count).map(row).collect()
    }

    /// Where the exact chances are known, the bounds hold them, and hardly more.
    #[test]
    fn intervals_hold_the_exact_chances_of_a_chain_with_loops() {
        let mut rows = rounds(60);
        // Every third place leads back to where its round began, and the last round to the first one.
        for (at, row) in rows.iter_mut().enumerate().filter(|(at, _)| at % 3 == 0) {
            row.values_mut().for_each(|chance| *chance *= ratio(6, 7));
            *row.entry(ChainTarget::State(at as u32 / 8 * 8)).or_default() += ratio(1, 7);
        }
        let back = ratio(1, 1_000);
        rows[8 * 59].values_mut().for_each(|chance| *chance *= Fraction::ONE - &back);
        *rows[8 * 59].entry(ChainTarget::State(0)).or_default() += &back;
        let exact = Chain::of_rows(rows.clone(), 0, None);
        let bounds = rows.iter().map(|row| row.iter().map(|(to, chance)| (*to, Interval::around(chance))).collect());
        let bounded = Chain::<Interval>::of_rows(bounds.collect(), 0, None);
        let (ends, bounds) = (exact.settle(Edge::To(0)).unwrap().ends, bounded.settle(Edge::To(0)).unwrap().ends);
        assert_eq!(ends.len(), 8);
        let holds = |bounds: &Interval, exact: &Fraction| {
            let [low, high] = [bounds.low, bounds.high].map(|bound| Fraction::try_from(bound).unwrap());
            assert!(low <= *exact && *exact <= high && high - low < ratio(1, 1_000_000_000), "{bounds:?} {exact}");
        };
        ends.iter().for_each(|(end, chance)| holds(&bounds[end], chance));
        holds(&bounded.expected_steps(0).unwrap(), &exact.expected_steps(0).unwrap());
    }

    #[test]
    fn a_chain_whose_fractions_grow_too_long_is_given_up() {
        let short = Chain::of_rows(rounds(40), 0, None);
        assert!(sum(short.settle(Edge::To(0)).unwrap().ends.values()).is_one());
        assert_eq!(short.expected_steps(0), Ok(Fraction::from(40)));
        let long = Chain::of_rows(rounds(400), 0, None);
        long.effort.left.set(2_400_000);
        assert_eq!(long.settle(Edge::To(0)), Err(Unsolved::TooLong));
        assert_eq!(long.expected_steps(0), Err(Unsolved::TooLong));
        // The work is the length of the fractions, not their number.
        let short = Chain::of_rows(rounds(400), 3_100, None);
        short.effort.left.set(2_400_000);
        assert!(short.settle(Edge::To(3_100)).is_ok());
    }
}
