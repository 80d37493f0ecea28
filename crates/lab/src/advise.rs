//! Ranks the answers to a question.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use super::advice::{Advice, AdviceLimits, Advised};
use super::alarm::Alarm;
use super::exploration::{Detail, explore};
use super::odds::{Limits, Odds, OddsQuery};
use super::playouts::Playouts;
use super::position::{MOST, answered_behind, decided, given_in};
use super::reason::give_reasons;
use riskbreaker_dice::Fraction;
use riskbreaker_play::{Answer, Answering, Game, Given, Machine, Question, QuestionId, Refusal, Session, Slot, Viewer};
use riskbreaker_work::is_set;

/// The limit on runs of an action for one answer, and on random plays if these runs are too few.
const WAYS: u64 = 5_000;
const SAMPLES: u64 = 500;
/// The share of the time that may be spent on odds. The rest is left for the games.
const FOR_ODDS: f64 = 0.3;
/// The work of scripts and dice for the odds of the next step, in steps of a script: the total over all answers, and
/// the least for each. About 200 million steps take a second.
const WORK: u64 = 20_000_000;
const LEAST_WORK: u64 = 1_000_000;
/// The limit on runs of an action for one answer of a seat that looks ahead. Such a seat does this many times in a
/// game.
const WAYS_AHEAD: u64 = 1_000;

pub(super) fn advise(
    session: &mut Session,
    question: QuestionId,
    limits: AdviceLimits,
    interrupt: Option<&Arc<AtomicBool>>,
) -> Result<Advised, Refusal> {
    advise_for(session, question, limits, &Viewer::master(), interrupt)
}

/// Like `advise`, from what a viewer knows.
pub(super) fn advise_for(
    session: &mut Session,
    question: QuestionId,
    limits: AdviceLimits,
    viewer: &Viewer,
    interrupt: Option<&Arc<AtomicBool>>,
) -> Result<Advised, Refusal> {
    let question = decided(session.open_question(question)?)?.clone();
    let viewer = session.game().looks_ahead(viewer.clone(), &question.seat);
    // A seat is never given the seed of the game.
    let seed = limits.seed.unwrap_or(if viewer.is_master() { session.seed() } else { 0 });
    let alarm = Alarm::set(limits.time, interrupt);
    let for_odds = Alarm::set(limits.time.mul_f64(FOR_ODDS), interrupt);
    let (asked, knows, stop) = (question.clone(), viewer.clone(), for_odds.flag().clone());
    let weighed = session.lend(move |game, vm| {
        let behind = answered_behind(game, &knows);
        let thought = AdviceRequest { interrupt: Some(stop), viewer: knows, behind };
        game.look_ahead(&thought.viewer, |known| weigh_all(known, vm, &asked, &thought))
    });
    let Weighed { mut advised, game, behind } = weighed.map_err(Refusal::from)??;
    let odds_cut = for_odds.went_off();
    drop(for_odds);
    if let Some(game) = game {
        let answers: Vec<Answer> = advised.answers.iter().map(|one| one.answer.clone()).collect();
        let mut playouts = Playouts::new(game, question, answers, behind, seed);
        playouts.race(&limits, alarm.flag());
        playouts.unless_hidden(&viewer)?;
        playouts.rank(&mut advised);
    }
    if !advised.is_by_games() {
        rank_by_worth(&mut advised.answers);
    }
    advised.out_of_time = alarm.went_off() || odds_cut;
    advised.interrupted = is_set(interrupt.map(|interrupt| &**interrupt));
    Ok(advised)
}

/// The request for a hint: the viewer, and what is already known of the open action.
#[derive(Clone, Debug)]
struct AdviceRequest {
    interrupt: Option<Arc<AtomicBool>>,
    /// The viewer that gets the hint.
    viewer: Viewer,
    /// Answers already given to later questions, with their places on the tape of the open action.
    behind: Vec<(usize, Slot)>,
}

impl AdviceRequest {
    fn is_interrupted(&self) -> bool {
        is_set(self.interrupt.as_deref())
    }
}

/// The answers with the odds of the next step, before they are ranked.
struct Weighed {
    advised: Advised,
    /// The game from which games are played out; `None` if the ruleset has no `value`.
    game: Option<Box<Game>>,
    behind: Vec<(usize, Slot)>,
}

/// Computes the odds of each answer.
fn weigh_all(
    game: &Game,
    vm: &mut dyn Machine,
    question: &Question,
    thought: &AdviceRequest,
) -> Result<Weighed, Refusal> {
    let Some(answers) = question.answers(MOST) else {
        return Err(Refusal::new(format!("`{}` has too many possible answers to weigh them", question.topic)));
    };
    let work = (WORK / answers.len().max(1) as u64).max(LEAST_WORK);
    let limits = Limits { ways: WAYS, samples: SAMPLES, work, ..Limits::default() };
    let mut advice: Vec<Advice> = Vec::new();
    for answer in answers {
        let examined = !thought.is_interrupted();
        let odds = match examined {
            true => weigh(game, vm, question, &answer, (limits, Detail::Outcomes), thought, &[]),
            false => Err(Refusal::new("the work was stopped before the odds of this answer were known")),
        };
        let examined = examined && (odds.is_ok() || !thought.is_interrupted());
        let worth = odds.as_ref().ok().and_then(|odds| odds.worth.get(&question.seat).cloned());
        let text = question.tell(&answer);
        advice.push(Advice {
            answer,
            text,
            odds,
            examined,
            worth,
            played: None,
            place: None,
            behind: None,
            reason: None,
        });
    }
    look_further(&mut advice, game, vm, question, limits, thought);
    give_reasons(&mut advice, game, question);
    let mut probe = game.fork();
    let measured = probe.deal_anew(vm).and_then(|()| vm.worth(&mut probe.context, &question.seat));
    let measured = measured.is_ok_and(|worth| worth.is_some());
    let advised = Advised {
        answers: advice,
        margin: None,
        now: None,
        games: 0,
        stopped: 0,
        out_of_time: false,
        interrupted: false,
        by_games: false,
        unseen: game.unseen(),
        dealt: game.context.knowledge.deals_for.is_some(),
    };
    Ok(Weighed { advised, game: measured.then(|| Box::new(game.fork())), behind: thought.behind.clone() })
}

/// Replaces the odds of the next step by odds up to the horizon of the rules, since a card that only declares later
/// effects has none before. If the odds of one answer do not reach the horizon, all stay as they are, so that they
/// cover the same time.
fn look_further(
    advice: &mut [Advice],
    game: &Game,
    vm: &mut dyn Machine,
    question: &Question,
    limits: Limits,
    thought: &AdviceRequest,
) {
    let horizon = game.context.rules.horizon().to_vec();
    if horizon.is_empty() {
        return;
    }
    let limits = Limits { work: limits.work / 4, ..limits };
    let mut further = Vec::new();
    for one in &*advice {
        if thought.is_interrupted() {
            return;
        }
        let odds = weigh(game, vm, question, &one.answer, (limits, Detail::Outcomes), thought, &horizon);
        match odds.ok().filter(|odds| odds.no_further.is_none()) {
            Some(odds) => further.push(odds),
            None => return,
        }
    }
    for (one, odds) in advice.iter_mut().zip(further) {
        one.worth = odds.worth.get(&question.seat).cloned();
        one.odds = Ok(odds);
    }
}

/// Ranks answers by the exact value of the next step if it is known for all of them. Otherwise they keep the order of
/// the question.
fn rank_by_worth(answers: &mut [Advice]) {
    let exact = |one: &Advice| one.worth.is_some() && one.odds.as_ref().is_ok_and(Odds::is_exact);
    if !answers.iter().all(exact) {
        return;
    }
    answers.sort_by(|one, other| other.worth.cmp(&one.worth));
    let mut place = 0;
    for at in 0..answers.len() {
        if at == 0 || answers[at].worth != answers[at - 1].worth {
            place = at + 1;
        }
        answers[at].place = Some(place);
    }
}

/// Computes the odds of one answer: of the open action, with the best answers to later questions; or, up to the agenda
/// entries of `until`, with the answers that policies and defaults give.
fn weigh(
    game: &Game,
    vm: &mut dyn Machine,
    question: &Question,
    answer: &Answer,
    (limits, detail): (Limits, Detail),
    thought: &AdviceRequest,
    until: &[Arc<str>],
) -> Result<Odds, Refusal> {
    let mut query = OddsQuery { given: vec![Given::to(question, answer.to_value())], limits, ..OddsQuery::default() };
    query.given.extend(thought.behind.iter().filter_map(|(_, slot)| given_in(slot)));
    query.viewer = Some(thought.viewer.clone());
    query.interrupt.clone_from(&thought.interrupt);
    query.until = until.to_vec();
    let mut answered_by = |answering| {
        let query = OddsQuery { answering, ..query.clone() };
        explore(game.fork(), vm, &query, std::slice::from_ref(&question.seat), detail)
    };
    if !until.is_empty() {
        return answered_by(Answering::Default);
    }
    answered_by(Answering::Best).or_else(|_| answered_by(Answering::Default))
}

/// Returns the answer with the highest value to the asked seat, from what that seat knows; the first of equal ones.
/// Options in `closed` are left out while there are others.
///
/// # Errors
///
/// A question without a possible answer; a look-ahead that would reveal what the seat may not see; `stop` was set.
pub(crate) fn best_answer(
    game: &Game,
    vm: &mut dyn Machine,
    question: &Question,
    closed: &[Arc<str>],
    stop: Option<&Arc<AtomicBool>>,
) -> Result<Answer, Refusal> {
    let viewer = Viewer::seat(&question.seat);
    let behind = answered_behind(game, &viewer);
    let thought = AdviceRequest { interrupt: stop.cloned(), viewer, behind };
    game.look_ahead(&thought.viewer, |known| {
        // With a faulty `value` no answer has a worth, and the first one would be taken.
        vm.worth(&mut known.fork().context, &question.seat).map_err(Refusal::fault)?;
        // If there are too many deals to follow, they are sampled.
        let detail = if known.context.knowledge.deals_for.is_some() { Detail::Outcomes } else { Detail::Worth };
        let mut best: Option<(Fraction, Answer)> = None;
        let is_closed = |answer: &Answer| matches!(answer, Answer::Choice(id) if closed.contains(id));
        for answer in question.some_answers(MOST).into_iter().filter(|answer| !is_closed(answer)) {
            let limits = Limits { ways: WAYS_AHEAD, samples: SAMPLES, ..Limits::default() };
            let odds = weigh(known, vm, question, &answer, (limits, detail), &thought, &[]);
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
            .ok_or_else(|| Refusal::new(format!("the question `{}` has no possible answer", question.topic)))
    })
}

/// Work for the exact values of all answers to a question, in steps of a script: about a tenth of a second.
const WORK_EXACTLY: u64 = 20_000_000;

/// Returns every answer to a question with its exact value to the asked seat, from what that seat knows: up to the
/// horizon of the rules, with the best answers to later questions. `None` for a value that cannot be computed.
///
/// # Errors
///
/// Too many answers; a look-ahead that would reveal what the seat may not see; `stop` was set.
pub(crate) fn exact_worths(
    game: &Game,
    vm: &mut dyn Machine,
    question: &Question,
    stop: &Arc<AtomicBool>,
) -> Result<Vec<(Answer, Option<Fraction>)>, Refusal> {
    let viewer = Viewer::seat(&question.seat);
    let behind = answered_behind(game, &viewer);
    let thought = AdviceRequest { interrupt: Some(stop.clone()), viewer, behind };
    let answers = question.answers(MOST).ok_or_else(|| Refusal::new("it has too many answers"))?;
    let horizon = game.context.rules.horizon().to_vec();
    game.look_ahead(&thought.viewer, |known| {
        let work = (WORK_EXACTLY / answers.len().max(1) as u64).max(LEAST_WORK);
        let detail = if known.context.knowledge.deals_for.is_some() || !horizon.is_empty() {
            Detail::Outcomes
        } else {
            Detail::Worth
        };
        let mut found = Vec::with_capacity(answers.len());
        for answer in answers {
            if thought.is_interrupted() {
                return Err(Refusal::new("it was interrupted"));
            }
            let mut query = OddsQuery { given: vec![Given::to(question, answer.to_value())], ..OddsQuery::default() };
            query.limits = Limits { ways: WAYS, samples: 1, work, ..Limits::default() };
            query.given.extend(thought.behind.iter().filter_map(|(_, slot)| given_in(slot)));
            query.viewer = Some(thought.viewer.clone());
            query.interrupt.clone_from(&thought.interrupt);
            query.until.clone_from(&horizon);
            query.answering = Answering::Best;
            let odds = explore(known.fork(), vm, &query, std::slice::from_ref(&question.seat), detail);
            let exact = odds.ok().filter(|odds| odds.is_exact() && odds.no_further.is_none());
            found.push((answer, exact.and_then(|mut odds| odds.worth.remove(&question.seat))));
        }
        Ok(found)
    })
}
