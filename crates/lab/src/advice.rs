use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use super::alarm::Alarm;
use super::exploration::{Detail, explore};
use super::odds::{Limits, Odds, OddsQuery, unseen_in_words};
use super::paired::Difference;
use super::playouts::{PlayedOut, Playouts};
use super::position::{MOST, answered_behind, decided, given_in};
use super::reason::give_reasons;
use riskbreaker_dice::Fraction;
use riskbreaker_play::{Answer, Answering, Game, Given, Machine, Question, QuestionId, Refusal, Session, Slot, Viewer};
use riskbreaker_work::is_set;

/// The value of one answer to a question, and the reasons.
#[derive(Clone, Debug)]
pub struct Advice {
    /// The answer, in the form that [`Session::answer`] takes.
    pub answer: Answer,
    /// The answer in words.
    pub text: String,
    /// The odds of what follows, or why they cannot be computed. They look ahead to the horizon that the ruleset names,
    /// with the answers of policies and defaults to later questions. Without a horizon, or if it is out of reach for
    /// some answer, they end with the open action, with the best answers to later questions.
    pub odds: Result<Odds, Refusal>,
    /// True if the odds were computed, or found impossible to compute. False if the work ended before that.
    pub examined: bool,
    /// The average value, to the asked seat, of the state in which the odds end.
    pub worth: Option<Fraction>,
    /// The result of the games played to their end after this answer.
    pub played: Option<PlayedOut>,
    /// The place in the ranking, from 1. Answers between which no difference was found share a place. `None` if the
    /// answers are not ranked.
    pub place: Option<usize>,
    /// By how much its score is below that of the best answer, from games of both on the same dice. `None` for answers
    /// in the first place, and if no games were played.
    pub behind: Option<Difference>,
    /// What sets the answer apart from the others, if its odds are exact: "keeps 2 Gold; 50 % to gain 3 Gold".
    pub reason: Option<String>,
}

/// The ranked answers to a question, with the result of games in which the policy answers it.
#[derive(Clone, Debug)]
pub struct Advised {
    /// The answers, the best first. Those that share a place are in the order in which the question offers them.
    pub answers: Vec<Advice>,
    /// The margin of error between answers that share the first place, in 95 of 100 hints: a share of games won, 0 to
    /// 1, or an average value. `None` if one answer has the first place alone, or if the answers are not ranked by
    /// games.
    pub margin: Option<f64>,
    /// The result of games in which the policy answers this question as well.
    pub now: Option<PlayedOut>,
    /// The number of games played, over all answers.
    pub games: u64,
    /// The number of those games that were stopped after [`AdviceLimits::ACTIONS`] actions. The value at that point
    /// counts as their end.
    pub stopped: u64,
    /// True if the time limit ended the work. Otherwise the same seed gives the same result on any machine.
    pub out_of_time: bool,
    /// True if somebody interrupted the work.
    pub interrupted: bool,
    /// True if the places are by games. Otherwise they are by the exact value after the next step, or there are none.
    pub(super) by_games: bool,
    /// The kinds and fields that the asking viewer cannot see: see [`Odds::unseen`].
    pub unseen: Vec<String>,
    /// True if the rules' `deal` dealt these anew; otherwise they are left out.
    pub dealt: bool,
}

impl Advised {
    /// What the asking viewer cannot see and how it was treated, in words. `None` if the viewer sees all.
    pub fn unseen_in_words(&self) -> Option<String> {
        unseen_in_words(&self.unseen, self.dealt)
    }

    /// Returns the answers in the first place: one, or several between which no difference was found. Empty if the
    /// answers are not ranked.
    pub fn best(&self) -> &[Advice] {
        let count = self.answers.iter().take_while(|advice| advice.place == Some(1)).count();
        &self.answers[..count]
    }

    /// True if something is missing: the time limit ended the work, somebody interrupted it, or games did not end.
    pub fn is_partial(&self) -> bool {
        self.out_of_time || self.interrupted || self.stopped > 0
    }

    /// True if the answers are ranked by games that were played to their end.
    pub fn is_by_games(&self) -> bool {
        self.by_games
    }
}

/// Limits on the work for one hint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AdviceLimits {
    /// The number of games played, over all answers together.
    pub games: u64,
    /// The time limit, after which the work returns what is known. The result depends on it only if it is reached: see
    /// [`Advised::out_of_time`].
    pub time: Duration,
    /// The number of threads; `None` for as many as the ruleset has machines. The result does not depend on it.
    pub threads: Option<usize>,
    /// The number of games of each answer before the answers are compared for the first time. An answer that is found
    /// to be worse than the best gets no more.
    pub first: u64,
    /// The seed of the dice of these games; `None` for the game's own seed. A seat that may not know that seed always
    /// gets the same one.
    pub seed: Option<u64>,
}

/// The default time limit for a hint, in seconds.
const SECONDS: u64 = 3;

impl Default for AdviceLimits {
    fn default() -> AdviceLimits {
        AdviceLimits { games: 4_000, time: Duration::from_secs(SECONDS), threads: None, first: 32, seed: None }
    }
}

impl AdviceLimits {
    /// The number of actions after which a played-out game is stopped.
    pub const ACTIONS: u64 = 2_000;

    /// Returns limits for this number of seconds, with the default number of games in proportion.
    pub fn of_seconds(seconds: u64) -> AdviceLimits {
        let usual = AdviceLimits::default();
        let games = (usual.games * seconds / SECONDS).max(1);
        AdviceLimits { games, time: Duration::from_secs(seconds), ..usual }
    }

    /// Returns the default limits with another time limit.
    pub fn within(time: Duration) -> AdviceLimits {
        AdviceLimits { time, ..AdviceLimits::default() }
    }
}

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
        // If there are too many deals to follow, they are sampled.
        let detail = if known.context.knowledge.deals_for.is_some() { Detail::Outcomes } else { Detail::Worth };
        let mut best: Option<(Fraction, Answer)> = None;
        let is_closed = |answer: &Answer| matches!(answer, Answer::Choice(id) if closed.contains(id));
        for answer in question.answers(MOST).unwrap_or_default().into_iter().filter(|answer| !is_closed(answer)) {
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
