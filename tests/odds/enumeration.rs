//! Odds independent of the host: programs in Rust over all their rolls, and chains solved by Gaussian elimination.

use std::collections::BTreeMap;

use riskbreaker::dice::{Fraction, ratio};

/// The chances of the results of a program.
pub type Chances = BTreeMap<String, Fraction>;

/// Dice that go through every row of faces.
#[derive(Default)]
pub struct Every {
    /// The face and sides of each die.
    row: Vec<(i64, i64)>,
    at: usize,
}

impl Every {
    pub fn roll(&mut self, sides: i64) -> i64 {
        if self.at == self.row.len() {
            self.row.push((1, sides));
        }
        let (face, of) = self.row[self.at];
        assert_eq!(of, sides, "a program rolls the same on the same faces");
        self.at += 1;
        face
    }

    /// Moves to the next row; false after the last.
    fn advance(&mut self) -> bool {
        self.at = 0;
        while let Some((face, sides)) = self.row.pop() {
            if face < sides {
                self.row.push((face + 1, sides));
                return true;
            }
        }
        false
    }
}

/// The chances of the results of a program, over every row of faces.
pub fn enumerated(program: impl Fn(&mut Every) -> String) -> Chances {
    let mut dice = Every::default();
    let mut chances = Chances::new();
    loop {
        let said = program(&mut dice);
        let ways = dice.row.iter().fold(Fraction::ONE, |ways, (_, sides)| ways * Fraction::from(*sides));
        *chances.entry(said).or_default() += Fraction::ONE / ways;
        if !dice.advance() {
            return chances;
        }
    }
}

/// The target of one step of a chain.
pub enum Next<S> {
    On(S),
    End(String),
}

/// The chances of the ends of a chain. `step` returns the targets of each state, all equally likely.
///
/// Solved by Gaussian elimination over all reachable states.
pub fn absorbed<S: Clone + Ord>(start: S, step: impl Fn(&S) -> Vec<Next<S>>) -> Chances {
    let mut numbers: BTreeMap<S, usize> = BTreeMap::from([(start.clone(), 0)]);
    let mut states = vec![start];
    let mut rows: Vec<(BTreeMap<usize, Fraction>, Chances)> = Vec::new();
    while let Some(state) = states.get(rows.len()).cloned() {
        let places = step(&state);
        let share = ratio(1, places.len());
        let mut row = (BTreeMap::new(), Chances::new());
        for place in places {
            match place {
                Next::End(said) => *row.1.entry(said).or_default() += &share,
                Next::On(state) => {
                    let number = *numbers.entry(state.clone()).or_insert_with(|| {
                        states.push(state);
                        states.len() - 1
                    });
                    *row.0.entry(number).or_default() += &share;
                }
            }
        }
        rows.push(row);
    }
    // The last state first: its predecessors get its targets.
    for last in (1..rows.len()).rev() {
        let (mut to, mut ends) = rows.pop().expect("it is there");
        if let Some(stays) = to.remove(&last) {
            let leaves = Fraction::ONE - stays;
            to.values_mut().chain(ends.values_mut()).for_each(|chance| *chance /= &leaves);
        }
        for (row, row_ends) in &mut rows {
            let Some(share) = row.remove(&last) else { continue };
            for (number, chance) in &to {
                *row.entry(*number).or_default() += chance * &share;
            }
            for (said, chance) in &ends {
                *row_ends.entry(said.clone()).or_default() += chance * &share;
            }
        }
    }
    let (mut to, mut ends) = rows.pop().expect("the start is there");
    let leaves = Fraction::ONE - to.remove(&0).unwrap_or_default();
    ends.values_mut().for_each(|chance| *chance /= &leaves);
    ends
}
