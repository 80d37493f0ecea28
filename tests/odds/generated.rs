//! Random programs compared with brute force: each is written in Luau for the host, and run here over every row of
//! faces.

use std::fmt::Write as _;

use riskbreaker::dice::DiceRng;

use super::enumeration::{Chances, Every, enumerated};
use super::play_programs;

/// A numeric expression.
#[derive(Clone, Debug)]
enum Term {
    Number(i64),
    Local(usize),
    /// The count of a closure: the sum of its calls.
    Counter,
    /// An element of the list; 0 if there is none.
    Place(Box<Term>),
    Length,
    Roll(i64),
    /// An operator of `SIGNS`, modulo 7.
    Two(usize, Box<Term>, Box<Term>),
    If(Box<Term>, Box<Term>, Box<Term>),
}

/// A step of a program.
#[derive(Clone, Debug)]
enum Step {
    Local(usize, Term),
    Place(Term, Term),
    Push(Term),
    Pop,
    Count(Term),
    If(Term, Vec<Step>, Vec<Step>),
    Times(i64, Vec<Step>),
    /// Repeats up to three times, until the first is above the second.
    Until(Term, Term, Vec<Step>),
}

const SIGNS: [&str; 3] = ["+", "-", "*"];
const LOCALS: [&str; 3] = ["a", "b", "c"];

struct Writer {
    dice: DiceRng,
    rolls: usize,
    depth: usize,
}

impl Writer {
    fn upto(&mut self, most: u32) -> u32 {
        self.dice.face(most)
    }

    fn term(&mut self, depth: usize) -> Term {
        let inner = depth + 1;
        match self.upto(if depth > 2 { 5 } else { 12 }) {
            1 | 2 => Term::Local(self.upto(3) as usize - 1),
            3 => Term::Number(i64::from(self.upto(4)) - 1),
            4 => Term::Counter,
            5 => Term::Length,
            6 | 7 if self.rolls > 0 => {
                self.rolls -= 1;
                Term::Roll(i64::from(self.upto(2)) + 1)
            }
            6..=8 => Term::Place(self.term(inner).into()),
            9 => Term::If(self.term(inner).into(), self.term(inner).into(), self.term(inner).into()),
            _ => Term::Two(self.upto(3) as usize - 1, self.term(inner).into(), self.term(inner).into()),
        }
    }

    /// Steps that run this number of times; their rolls count as often.
    fn steps(&mut self, most: u32, times: usize) -> Vec<Step> {
        let before = self.rolls;
        self.rolls /= times;
        let allowed = self.rolls;
        let count = self.upto(most);
        let steps = (0..count).map(|_| self.step()).collect();
        self.rolls = before - (allowed - self.rolls) * times;
        steps
    }

    fn step(&mut self) -> Step {
        let deep = self.depth >= 2;
        match self.upto(if deep { 7 } else { 11 }) {
            1..=3 => Step::Local(self.upto(3) as usize - 1, self.term(0)),
            4 => Step::Place(self.term(1), self.term(0)),
            5 => Step::Push(self.term(0)),
            6 => Step::Pop,
            7 => Step::Count(self.term(0)),
            sort => {
                self.depth += 1;
                let step = match sort {
                    8 | 9 => Step::If(self.term(1), self.steps(3, 1), self.steps(2, 1)),
                    10 => {
                        let times = i64::from(self.upto(3)) + 1;
                        Step::Times(times, self.steps(3, times as usize))
                    }
                    _ => Step::Until(self.term(3), self.term(3), self.steps(2, 3)),
                };
                self.depth -= 1;
                step
            }
        }
    }
}

fn written(term: &Term) -> String {
    match term {
        Term::Number(n) => n.to_string(),
        Term::Local(at) => LOCALS[*at].into(),
        Term::Counter => "count(0)".into(),
        Term::Place(at) => format!("(t[{}] or 0)", written(at)),
        Term::Length => "#t".into(),
        Term::Roll(sides) => format!("roll({sides})"),
        Term::Two(sign, one, other) => format!("(({} {} {}) % 7)", written(one), SIGNS[*sign], written(other)),
        Term::If(test, one, other) => {
            format!("(if {} > 2 then {} else {})", written(test), written(one), written(other))
        }
    }
}

fn write_steps(steps: &[Step], turns: &mut usize, out: &mut String) {
    for step in steps {
        let _ = match step {
            Step::Local(at, term) => writeln!(out, "{} = {}", LOCALS[*at], written(term)),
            // Only existing elements: a list without holes has one length.
            Step::Place(at, term) => {
                writeln!(out, "do local at, to = {}, {} if t[at] then t[at] = to end end", written(at), written(term))
            }
            Step::Push(term) => writeln!(out, "t[#t + 1] = {}", written(term)),
            Step::Pop => writeln!(out, "t[#t] = nil"),
            Step::Count(term) => writeln!(out, "count({})", written(term)),
            Step::If(test, yes, no) => {
                let _ = writeln!(out, "if {} > 1 then", written(test));
                write_steps(yes, turns, out);
                let _ = writeln!(out, "else");
                write_steps(no, turns, out);
                writeln!(out, "end")
            }
            Step::Times(times, steps) => {
                *turns += 1;
                let _ = writeln!(out, "for i{turns} = 1, {times} do");
                write_steps(steps, turns, out);
                writeln!(out, "end")
            }
            Step::Until(one, other, steps) => {
                *turns += 1;
                let own = *turns;
                let _ = writeln!(out, "local w{own} = 0\nrepeat\nw{own} += 1");
                write_steps(steps, turns, out);
                writeln!(out, "until w{own} == 3 or {} > {}", written(one), written(other))
            }
        };
    }
}

/// The state of a running program.
#[derive(Default)]
struct Running {
    locals: [i64; 3],
    list: Vec<i64>,
    count: i64,
}

impl Running {
    fn value(&mut self, term: &Term, dice: &mut Every) -> i64 {
        match term {
            Term::Number(n) => *n,
            Term::Local(at) => self.locals[*at],
            Term::Counter => self.count,
            Term::Place(at) => {
                let at = self.value(at, dice);
                self.place(at).copied().unwrap_or(0)
            }
            Term::Length => self.list.len() as i64,
            Term::Roll(sides) => dice.roll(*sides),
            Term::Two(sign, one, other) => {
                let (one, other) = (self.value(one, dice), self.value(other, dice));
                let value = match SIGNS[*sign] {
                    "+" => one + other,
                    "-" => one - other,
                    _ => one * other,
                };
                value.rem_euclid(7)
            }
            Term::If(test, one, other) => {
                let branch = if self.value(test, dice) > 2 { one } else { other };
                self.value(branch, dice)
            }
        }
    }

    fn place(&mut self, at: i64) -> Option<&mut i64> {
        self.list.get_mut(usize::try_from(at - 1).ok()?)
    }

    fn run(&mut self, steps: &[Step], dice: &mut Every) {
        for step in steps {
            match step {
                Step::Local(at, term) => self.locals[*at] = self.value(term, dice),
                Step::Place(at, term) => {
                    let (at, to) = (self.value(at, dice), self.value(term, dice));
                    if let Some(place) = self.place(at) {
                        *place = to;
                    }
                }
                Step::Push(term) => {
                    let value = self.value(term, dice);
                    self.list.push(value);
                }
                Step::Pop => drop(self.list.pop()),
                Step::Count(term) => self.count = (self.count + self.value(term, dice)) % 5,
                Step::If(test, yes, no) => {
                    let branch = if self.value(test, dice) > 1 { yes } else { no };
                    self.run(branch, dice);
                }
                Step::Times(times, steps) => (0..*times).for_each(|_| self.run(steps, dice)),
                Step::Until(one, other, steps) => {
                    for turn in 1..=3 {
                        self.run(steps, dice);
                        if turn == 3 || self.value(one, dice) > self.value(other, dice) {
                            break;
                        }
                    }
                }
            }
        }
    }
}

#[test]
fn random_programs_have_the_odds_that_brute_force_counts() {
    let mut programs: Vec<(String, String, Chances)> = Vec::new();
    for seed in 0..150 {
        let mut writer = Writer { dice: DiceRng::new(seed), rolls: 7, depth: 0 };
        let mut steps: Vec<Step> = (0..8).map(|_| writer.step()).collect();
        // The last roll makes different paths meet again.
        steps.push(Step::Local(0, Term::Two(0, Term::Local(0).into(), Term::Roll(2).into())));
        let mut body = "local a, b, c = 0, 1, 2\nlocal t = { 1 }\nlocal n = 0\nlocal function count(by) n = (n + by) % 5 return n end\n".to_owned();
        write_steps(&steps, &mut 0, &mut body);
        body += "return `{a},{b},{c}|{table.concat(t, \",\")}|{count(0)}`";
        let counted = enumerated(|dice| {
            let mut running = Running { locals: [0, 1, 2], list: vec![1], count: 0 };
            running.run(&steps, dice);
            let list: Vec<String> = running.list.iter().map(i64::to_string).collect();
            let [a, b, c] = running.locals;
            format!("{a},{b},{c}|{}|{}", list.join(","), running.count)
        });
        programs.push((format!("generated_{seed}"), body, counted));
    }
    assert!(programs.iter().filter(|(.., counted)| counted.len() > 3).count() > 60, "most of them part");
    let programs: Vec<(&str, &str, Chances)> =
        programs.iter().map(|(name, body, counted)| (name.as_str(), body.as_str(), counted.clone())).collect();
    play_programs(&programs);
}
