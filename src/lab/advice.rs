use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use super::exploration::{Detail, explore};
use super::interrupt::is_set;
use super::odds::{Limits, Odds, OddsQuery, unseen_in_words};
use super::position::{MOST, answered_behind, decided, given_in};
use super::tally::Rate;
use crate::dice::DiceRng;
use crate::dice::Fraction;
use crate::play::{
    Answer, Answering, By, Driver, Game, Given, Halt, Machine, Question, QuestionId, Refusal, Session, Slot, Viewer,
};

/// The value of one answer to a question, and the reasons.
#[derive(Clone, Debug)]
pub struct Advice {
    /// The answer, in the form that [`Session::answer`] takes.
    pub answer: Answer,
    /// The answer in words.
    pub text: String,
    /// The odds of the action after it, with the best answers to further questions, or why they cannot be computed.
    pub odds: Result<Odds, Refusal>,
    /// The average value of the state after it to the seat that is asked.
    pub worth: Option<Fraction>,
    /// What came of games played out from there.
    pub played: Option<PlayedOut>,
}

/// The ranked answers to a question, with the result of games in which the policy answers it.
#[derive(Clone, Debug)]
pub struct Advised {
    /// The best first.
    pub answers: Vec<Advice>,
    /// The result of games in which the policy answers this question as well.
    pub now: Option<PlayedOut>,
    /// What the one who asks cannot see, and whether it was dealt anew: see [`Odds::unseen`].
    pub unseen: Vec<String>,
    /// Whether that was dealt anew by the rules; otherwise it is left out.
    pub dealt: bool,
}

impl Advised {
    /// What the one who asks cannot see, and how it was treated, in words; nothing where the asker sees all.
    pub fn unseen_in_words(&self) -> Option<String> {
        unseen_in_words(&self.unseen, self.dealt)
    }
}

/// What came of games that were played to their end by policies.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PlayedOut {
    /// How many games were played out.
    pub games: u64,
    /// The number of games in which the asked seat had a higher value at the end than every other seat. `None` if no other seat
    /// has a value.
    pub wins: Option<u64>,
    /// The average value at the end to the seat that is asked.
    pub average: f64,
    /// The sum of the squares of what the games were worth.
    squares: f64,
}

impl PlayedOut {
    /// The share of games that were won, 0 to 1, and how far it may be off in 95 of 100 cases.
    pub fn win_rate(&self) -> Option<(f64, f64)> {
        let rate = Rate::of(self.wins.filter(|_| self.games > 0)?, self.games);
        // The interval reaches further to the side of one half.
        Some((rate.share, (rate.high - rate.share).max(rate.share - rate.low)))
    }

    /// How far the average may be off in 95 of 100 cases: infinitely far if it is that of one game.
    pub fn margin(&self) -> f64 {
        if self.games < 2 {
            return f64::INFINITY;
        }
        let games = self.games as f64;
        let variance = (self.squares / games - self.average * self.average).max(0.0);
        1.96 * (variance / (games - 1.0)).sqrt()
    }

    /// What answers are ranked by: games won, or what they were worth.
    pub fn score(&self) -> f64 {
        self.win_rate().map_or(self.average, |(rate, _)| rate)
    }

    fn add(&mut self, ended: Ended) {
        let games = self.games as f64;
        let worth = ended.worth as f64;
        self.average = (self.average * games + worth) / (games + 1.0);
        self.squares += worth * worth;
        if self.games == 0 {
            self.wins = ended.won.map(|_| 0);
        }
        self.wins = self.wins.zip(ended.won).map(|(wins, won)| wins + u64::from(won));
        self.games += 1;
    }
}

/// What one game came to for the seat that is asked.
struct Ended {
    worth: i64,
    won: Option<bool>,
}

/// How often an action is run for one answer, and how often it is played at random where that is too little.
const WAYS: u64 = 5_000;
const SAMPLES: u64 = 500;
/// The first, shorter look at every answer: games with long actions have no time for more.
const FIRST_WAYS: u64 = 100;
const FIRST_SAMPLES: u64 = 50;
/// The share of the time that goes to the odds of the next step; the rest belongs to games that are played out.
const FOR_ODDS: f64 = 0.5;
/// How often an action is run for one answer of a seat that looks ahead. Such a seat does so many times in a game.
const WAYS_AHEAD: u64 = 1_000;
/// After each of these shares of the time the less promising half of the answers is dropped.
const HALVED_AFTER: [f64; 3] = [0.3, 0.55, 0.75];
/// No answer is dropped after fewer games than this.
const LEAST_GAMES: u64 = 30;
/// If in so many rounds no answer was played to the end of a game, no more are played.
const VAIN_ROUNDS: u64 = 10;
/// A game that is played out is stopped after this many actions.
const ACTIONS: u64 = 2_000;
/// The streams of the dice of games played out begin here: far from those of simulations.
const STREAM: u64 = 1 << 62;

impl Session {
    /// Ranks the answers to an open question, the best first. It enumerates the outcomes of each answer one step deep, and
    /// plays games to their end from there for the rest of the time. Nothing changes. Once `interrupt` is set, what is known by
    /// then is told.
    ///
    /// # Errors
    ///
    /// A question that is not open, that any line of text answers, or that has more than 40 answers.
    pub fn advise(
        &mut self,
        question: QuestionId,
        time: Duration,
        interrupt: Option<&Arc<AtomicBool>>,
    ) -> Result<Advised, Refusal> {
        self.advise_for(question, time, &Viewer::master(), interrupt.cloned())
    }

    /// The same, from what a viewer knows.
    pub(crate) fn advise_for(
        &mut self,
        question: QuestionId,
        time: Duration,
        viewer: &Viewer,
        interrupt: Option<Arc<AtomicBool>>,
    ) -> Result<Advised, Refusal> {
        let question = decided(self.open_question(question)?)?.clone();
        let viewer = self.game().looks_ahead(viewer.clone(), &question.seat);
        // The seed of the game is in nothing that a seat gets.
        let seed = if viewer.is_master() { self.seed() } else { 0 };
        let work = move |game: &mut Game, vm: &mut dyn Machine| {
            let behind = answered_behind(game, &viewer);
            let thought = Thought { seed, time, interrupt, viewer, behind };
            game.look_ahead(&thought.viewer, |known| advise(known, vm, &question, &thought))
        };
        self.lend(work).map_err(Refusal::from)?
    }
}

/// How long it is thought about a question, by which dice games are played out, and what is known.
#[derive(Clone, Debug)]
struct Thought {
    seed: u64,
    time: Duration,
    interrupt: Option<Arc<AtomicBool>>,
    /// Who is told of it.
    viewer: Viewer,
    /// The answers to further questions that stand already, with their places on the tape of the open action.
    behind: Vec<(usize, Slot)>,
}

impl Thought {
    fn is_interrupted(&self) -> bool {
        is_set(self.interrupt.as_deref())
    }
}

fn advise(game: &Game, vm: &mut dyn Machine, question: &Question, thought: &Thought) -> Result<Advised, Refusal> {
    let (began, time) = (Instant::now(), thought.time);
    let Some(answers) = question.answers(MOST) else {
        return Err(Refusal::new(format!("`{}` has too many possible answers to weigh them", question.topic)));
    };
    let mut advice: Vec<Advice> = Vec::new();
    let (mut first, for_odds) = (Vec::new(), time.mul_f64(FOR_ODDS));
    for answer in answers {
        let from = Instant::now();
        let odds = match thought.is_interrupted() {
            true => Err(Refusal::new("it was interrupted before anything was known")),
            false => {
                let limits = Limits { ways: FIRST_WAYS, samples: FIRST_SAMPLES, ..Limits::default() };
                weigh(game, vm, question, &answer, (limits, Detail::Outcomes), thought)
            }
        };
        first.push(from.elapsed());
        advice.push(Advice { text: question.tell(&answer), answer, odds, worth: None, played: None });
    }
    // Those that a second, longer look can tell more of, as far as the time goes.
    let longer = u32::try_from(WAYS / FIRST_WAYS).unwrap_or(u32::MAX);
    for (one, took) in advice.iter_mut().zip(first) {
        let settled = one.odds.as_ref().is_ok_and(Odds::is_exact);
        if !settled && began.elapsed() + took * longer < for_odds && !thought.is_interrupted() {
            let limits = Limits { ways: WAYS, samples: SAMPLES, ..Limits::default() };
            one.odds = weigh(game, vm, question, &one.answer, (limits, Detail::Outcomes), thought);
        }
    }
    for one in &mut advice {
        one.worth = one.odds.as_ref().ok().and_then(|odds| odds.worth.get(&question.seat).cloned());
    }
    let mut now = None;
    let mut probe = game.fork();
    let measured = probe.deal_anew(vm).and_then(|()| vm.worth(&mut probe.context, &question.seat));
    if measured.is_ok_and(|worth| worth.is_some()) {
        let time = time.saturating_sub(began.elapsed());
        now = play_out(game, vm, question, &mut advice, &Thought { time, ..thought.clone() });
    }
    let score = |advice: &Advice| advice.played.map_or(f64::NEG_INFINITY, |played| played.score());
    advice.sort_by(|one, other| score(other).total_cmp(&score(one)).then_with(|| other.worth.cmp(&one.worth)));
    Ok(Advised { answers: advice, now, unseen: game.unseen(), dealt: game.context.deals_for.is_some() })
}

/// What one answer can come to, with the best answers to whatever it asks further.
fn weigh(
    game: &Game,
    vm: &mut dyn Machine,
    question: &Question,
    answer: &Answer,
    (limits, detail): (Limits, Detail),
    thought: &Thought,
) -> Result<Odds, Refusal> {
    let mut query = OddsQuery { given: vec![Given::to(question, answer.to_value())], limits, ..OddsQuery::default() };
    query.given.extend(thought.behind.iter().filter_map(|(_, slot)| given_in(slot)));
    query.viewer = Some(thought.viewer.clone());
    query.interrupt.clone_from(&thought.interrupt);
    let mut answered_by = |answering| {
        let query = OddsQuery { answering, ..query.clone() };
        explore(game.fork(), vm, &query, std::slice::from_ref(&question.seat), detail)
    };
    answered_by(Answering::Best).or_else(|_| answered_by(Answering::Default))
}

/// The answer that is worth most to whoever is asked, from what that seat knows; the first of those that are worth the same.
///
/// # Errors
///
/// A question that has no answer to take; looking ahead would tell what the seat may not see; `stop` was set.
pub(crate) fn best_answer(
    game: &Game,
    vm: &mut dyn Machine,
    question: &Question,
    stop: Option<&Arc<AtomicBool>>,
) -> Result<Answer, Refusal> {
    let viewer = Viewer::seat(&question.seat);
    let behind = answered_behind(game, &viewer);
    let thought = Thought { seed: 0, time: Duration::ZERO, interrupt: stop.cloned(), viewer, behind };
    game.look_ahead(&thought.viewer, |known| {
        // There may be too many deals to be followed: then they are sampled.
        let detail = if known.context.deals_for.is_some() { Detail::Outcomes } else { Detail::Worth };
        let mut best: Option<(Fraction, Answer)> = None;
        for answer in question.answers(MOST).unwrap_or_default() {
            let limits = Limits { ways: WAYS_AHEAD, samples: SAMPLES, ..Limits::default() };
            let odds = weigh(known, vm, question, &answer, (limits, detail), &thought);
            let Some(worth) = odds.ok().and_then(|mut odds| odds.worth.remove(&question.seat)) else {
                if thought.is_interrupted() {
                    return Err(Refusal::new("it was interrupted"));
                }
                continue;
            };
            if best.as_ref().is_none_or(|(most, _)| worth > *most) {
                best = Some((worth, answer));
            }
        }
        best.map(|(_, answer)| answer)
            .or_else(|| question.usual_answer())
            .ok_or_else(|| Refusal::new(format!("`{}` has no answer to take", question.topic)))
    })
}

/// Plays games to their end until the time is over, with the same dice for all answers. Most games start from the best answers.
/// Gives the result of the policy's own answer. If no game can be played to its end, it stops early and gives nothing.
fn play_out(
    game: &Game,
    vm: &mut dyn Machine,
    question: &Question,
    advice: &mut [Advice],
    thought: &Thought,
) -> Option<PlayedOut> {
    let (began, seed, time) = (Instant::now(), thought.seed, thought.time);
    let policy = game.context.rules.policies().first().cloned();
    let mut now = PlayedOut::default();
    let mut found = vec![PlayedOut::default(); advice.len()];
    let mut open: Vec<usize> = (0..advice.len()).filter(|at| advice[*at].odds.is_ok()).collect();
    let mut halved = 0;
    'time: for n in 0.. {
        let dice = || DiceRng::stream(seed, STREAM + n);
        let baseline = policy.is_some().then_some(None);
        for at in baseline.into_iter().chain(open.iter().copied().map(Some)) {
            if began.elapsed() >= time || thought.is_interrupted() {
                break 'time;
            }
            let answer = at.map(|at| &advice[at].answer);
            let from = (answer, thought.behind.as_slice());
            let Some(ended) = played(game, vm, question, from, policy.as_ref(), dice()) else { continue };
            match at {
                Some(at) => found[at].add(ended),
                None => now.add(ended),
            }
        }
        if open.is_empty() && policy.is_none() {
            break;
        }
        if n + 1 == VAIN_ROUNDS && !open.is_empty() && open.iter().all(|at| found[*at].games == 0) {
            return None;
        }
        let due = HALVED_AFTER.get(halved).is_some_and(|share| began.elapsed() >= time.mul_f64(*share));
        if due && open.len() > 2 && open.iter().all(|at| found[*at].games >= LEAST_GAMES) {
            halved += 1;
            open.sort_by(|one, other| found[*other].score().total_cmp(&found[*one].score()));
            open.truncate(open.len().div_ceil(2).max(2));
        }
    }
    for (one, played) in advice.iter_mut().zip(found) {
        one.played = (played.games > 0).then_some(played);
    }
    (now.games > 0).then_some(now)
}

/// What a game comes to that goes on with an answer, or with the policy's own, and is played by policies; `None` if it
/// fails, or if the action does not take the answer. `behind`: the answers to further questions that stand already.
fn played(
    game: &Game,
    vm: &mut dyn Machine,
    question: &Question,
    (answer, behind): (Option<&Answer>, &[(usize, Slot)]),
    policy: Option<&Arc<str>>,
    chance: DiceRng,
) -> Option<Ended> {
    let mut fork = game.fork();
    fork.context.chance = chance;
    fork.context.dice = crate::play::DiceSource::Seeded;
    for driver in fork.context.seats.values_mut().filter(|driver| **driver == Driver::Human) {
        *driver = policy.map_or(Driver::Absent, |policy| Driver::Policy(policy.clone()));
    }
    fork.deal_anew(vm).ok()?;
    let (before, place) = (fork.context.position(), question.id.ordinal);
    let slot = answer.map(|answer| Slot::Answer {
        topic: question.topic.clone(),
        seat: question.seat.clone(),
        about: question.about,
        answer: answer.clone(),
        by: By::Policy,
        before,
    });
    let slots = &mut fork.open.as_mut()?.tape.slots;
    if slot.is_some() {
        // Policies answer the open questions before it. In a race it closes them.
        let open_before = question.race.then_some(Slot::Closed { by: place, before });
        slots.resize(place as usize, open_before);
        slots.push(slot.clone());
    }
    for (at, answered) in behind {
        slots.resize(slots.len().max(at + 1), None);
        slots[*at] = Some(answered.clone());
    }
    // The action that is open reads its tape; what follows has none.
    fork.context.keeps_tape = true;
    let mut standing = fork.advance(vm, 1);
    fork.context.keeps_tape = false;
    // With other answers or hidden things before it, the action may go another way, which does not come to the question.
    if slot.is_some() && fork.history.last()?.tape.get().slots.get(place as usize) != Some(&slot) {
        return None;
    }
    fork.context.state.renew_identity();
    if standing == Halt::Paused {
        standing = fork.advance(vm, ACTIONS);
    }
    match standing {
        Halt::Over(_) | Halt::Paused | Halt::Boundary => ended(&mut fork, vm, &question.seat),
        Halt::Ask | Halt::Fault(_) => None,
    }
}

/// What the end of a game is worth to a seat, and whether that is more than to any other.
fn ended(game: &mut Game, vm: &mut dyn Machine, seat: &Arc<str>) -> Option<Ended> {
    let worth = vm.worth(&mut game.context, seat).ok().flatten()?;
    let others: Vec<Arc<str>> =
        game.context.seats.keys().filter(|other| *other != seat && &***other != "gm").cloned().collect();
    let mut won = None;
    for other in others {
        // A seat for which the rules give no worth is not compared.
        if let Ok(Some(theirs)) = vm.worth(&mut game.context, &other) {
            won = Some(won.unwrap_or(true) && worth > theirs);
        }
    }
    Some(Ended { worth, won })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn played(games: &[(i64, bool)]) -> PlayedOut {
        let mut played = PlayedOut::default();
        games.iter().for_each(|(worth, won)| played.add(Ended { worth: *worth, won: Some(*won) }));
        played
    }

    #[test]
    fn a_margin_reaches_as_far_as_the_interval() {
        // Newcombe 1998, table I: 0 of 20 is 0 to 0.1611.
        let (rate, margin) = played(&[(0, false); 20]).win_rate().unwrap();
        assert!(rate == 0.0 && (margin - 0.1611).abs() < 5e-5, "{rate} {margin}");
        // Of one game nobody knows how far it is off.
        assert_eq!(played(&[(7, true)]).margin(), f64::INFINITY);
        // The standard deviation of 1 and 3 is the root of 2, that of their average 1.
        assert!((played(&[(1, true), (3, true)]).margin() - 1.96).abs() < 1e-9);
    }
}
