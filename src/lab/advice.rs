use std::sync::Arc;
use std::time::{Duration, Instant};

use num_rational::BigRational;

use super::odds::{Limits, Odds, OddsQuery, explore, explore_worth};
use super::position::loose;
use crate::dice::DiceRng;
use crate::play::{
    Answer, Answering, By, Driver, Game, Given, Machine, Question, QuestionId, Refusal, Session, Slot, Standing,
};

/// What one answer to a question is worth, and why.
#[derive(Clone, Debug)]
pub struct Advice {
    pub answer: Answer,
    /// The answer in words.
    pub text: String,
    /// What it can come to, with the best answers to whatever it asks further; a sentence where that cannot be said.
    pub odds: Result<Odds, Refusal>,
    /// What the state is worth after it, on the average, to whoever is asked.
    pub worth: Option<BigRational>,
    /// The average worth at the end of games played out from there, and how many were played.
    pub played: Option<(f64, u64)>,
}

/// Answers that are weighed for one question.
const MOST: usize = 40;
/// How often an action is run for one answer, and how often it is played at random where that is too little.
const WAYS: u64 = 5_000;
const SAMPLES: u64 = 500;
/// The same where nobody waits for a reason: somebody who looks ahead does so many times in a game.
const WAYS_AHEAD: u64 = 1_000;
/// A game that is played out is left after so many actions.
const ACTIONS: u64 = 2_000;
/// The streams of the dice of games played out begin here: far from those of simulations.
const STREAM: u64 = 1 << 62;

impl Session {
    /// Weighs the answers to an open question, the best first: by going through everything each can come to one step
    /// deep, and by playing games out from there for the time that is left. Nothing changes.
    ///
    /// # Errors
    ///
    /// A question that is not open, or that any line of text answers.
    pub fn advise(&mut self, question: QuestionId, time: Duration) -> Result<Vec<Advice>, Refusal> {
        let Some(question) = self.questions().iter().find(|open| open.id == question).cloned() else {
            return Err(Refusal::Stale { question });
        };
        let seed = self.seed();
        self.lend(move |game, vm| advise(game, vm, &question, seed, time)).map_err(Refusal::from)?
    }
}

fn advise(
    game: &Game,
    vm: &mut dyn Machine,
    question: &Question,
    seed: u64,
    time: Duration,
) -> Result<Vec<Advice>, Refusal> {
    let began = Instant::now();
    let Some(answers) = question.answers(MOST) else {
        return Err(Refusal::new(format!("`{}` has too many possible answers to weigh them", question.topic)));
    };
    let mut advice: Vec<Advice> = Vec::new();
    for answer in answers {
        let odds = weigh(game, vm, question, &answer);
        let worth = odds.as_ref().ok().and_then(|odds| odds.worth.get(&question.seat).cloned());
        advice.push(Advice { text: question.tell(&answer), answer, odds, worth, played: None });
    }
    if vm.worth(&mut game.fork().context, &question.seat).is_ok_and(|worth| worth.is_some()) {
        play_out(game, vm, question, &mut advice, seed, time.saturating_sub(began.elapsed()));
    }
    let average = |advice: &Advice| advice.played.map_or(f64::NEG_INFINITY, |(average, _)| average);
    advice.sort_by(|one, other| other.worth.cmp(&one.worth).then_with(|| average(other).total_cmp(&average(one))));
    Ok(advice)
}

/// What one answer can come to, with the best answers to whatever it asks further.
fn weigh(game: &Game, vm: &mut dyn Machine, question: &Question, answer: &Answer) -> Result<Odds, Refusal> {
    let mut query = query_of(question, answer, Limits { ways: WAYS, samples: SAMPLES, ..Limits::default() });
    let seats = std::slice::from_ref(&question.seat);
    explore(&mut game.fork(), vm, &query, seats).or_else(|_| {
        query.answering = Answering::Default;
        explore(&mut game.fork(), vm, &query, seats)
    })
}

fn query_of(question: &Question, answer: &Answer, limits: Limits) -> OddsQuery {
    let given = Given { topic: question.topic.to_string(), about: question.about, value: loose(answer) };
    OddsQuery { given: vec![given], answering: Answering::Best, limits, ..OddsQuery::default() }
}

/// What one answer is worth to whoever is asked, likewise.
fn worth_of(game: &Game, vm: &mut dyn Machine, question: &Question, answer: &Answer) -> Option<BigRational> {
    let mut query = query_of(question, answer, Limits { ways: WAYS_AHEAD, ..Limits::default() });
    let seats = std::slice::from_ref(&question.seat);
    let found = explore_worth(&mut game.fork(), vm, &query, seats).or_else(|_| {
        query.answering = Answering::Default;
        explore_worth(&mut game.fork(), vm, &query, seats)
    });
    found.ok()?.worth.remove(&question.seat)
}

/// The answer that is worth most to whoever is asked; the first of those that are worth the same.
pub(crate) fn best_answer(game: &Game, vm: &mut dyn Machine, question: &Question) -> Result<Answer, Refusal> {
    let fallback = || question.default.clone().or_else(|| question.first_answer());
    let mut best: Option<(BigRational, Answer)> = None;
    for answer in question.answers(MOST).unwrap_or_default() {
        let Some(worth) = worth_of(game, vm, question, &answer) else { continue };
        if best.as_ref().is_none_or(|(most, _)| worth > *most) {
            best = Some((worth, answer));
        }
    }
    best.map(|(_, answer)| answer)
        .or_else(fallback)
        .ok_or_else(|| Refusal::new(format!("`{}` has no answer to take", question.topic)))
}

/// Plays games out from each answer in turn, the same dice for all, until the time is over.
fn play_out(game: &Game, vm: &mut dyn Machine, question: &Question, advice: &mut [Advice], seed: u64, time: Duration) {
    let began = Instant::now();
    let mut sums = vec![(0_i64, 0_u64); advice.len()];
    let policy = game.context.rules.policies().first().cloned();
    'time: for n in 0.. {
        for (one, sum) in advice.iter().zip(&mut sums) {
            if began.elapsed() >= time {
                break 'time;
            }
            if one.odds.is_err() {
                continue;
            }
            if let Some(worth) =
                played(game, vm, question, &one.answer, policy.as_ref(), DiceRng::stream(seed, STREAM + n))
            {
                sum.0 += worth;
                sum.1 += 1;
            }
        }
        if advice.iter().all(|one| one.odds.is_err()) {
            break;
        }
    }
    for (one, (sum, games)) in advice.iter_mut().zip(sums) {
        one.played = (games > 0).then(|| (sum as f64 / games as f64, games));
    }
}

/// What a game is worth at its end that goes on with an answer and is played by policies; `None` if it fails.
fn played(
    game: &Game,
    vm: &mut dyn Machine,
    question: &Question,
    answer: &Answer,
    policy: Option<&Arc<str>>,
    chance: DiceRng,
) -> Option<i64> {
    let mut fork = game.fork();
    fork.context.chance = chance;
    fork.context.dice = crate::play::DiceSource::Seeded;
    for driver in fork.context.seats.values_mut().filter(|driver| **driver == Driver::Human) {
        *driver = policy.map_or(Driver::Absent, |policy| Driver::Policy(policy.clone()));
    }
    let before = fork.context.position();
    let open = fork.open.as_mut()?;
    if open.tape.slots.len() != question.id.ordinal as usize {
        return None;
    }
    open.tape.slots.push(Some(Slot::Answer {
        topic: question.topic.clone(),
        seat: question.seat.clone(),
        about: question.about,
        answer: answer.clone(),
        by: By::Policy,
        before,
    }));
    // The action that is open reads its tape; what follows has none.
    fork.context.keeps_tape = true;
    let mut standing = fork.advance(vm, 1);
    fork.context.keeps_tape = false;
    fork.context.state.renew_identity();
    if standing == Standing::Paused {
        standing = fork.advance(vm, ACTIONS);
    }
    match standing {
        Standing::Over(_) | Standing::Paused | Standing::Boundary => {
            vm.worth(&mut fork.context, &question.seat).ok().flatten()
        }
        Standing::Ask | Standing::Fault(_) => None,
    }
}
