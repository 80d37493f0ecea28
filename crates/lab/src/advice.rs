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
    /// The odds of what follows, or why they cannot be computed: up to the horizon that the ruleset names, with the answers of
    /// policies and defaults to further questions; or of the open action, with the best answers, if the ruleset names no horizon
    /// or if it cannot be reached for every answer.
    pub odds: Result<Odds, Refusal>,
    /// Whether the odds were worked out or found impossible to compute. Otherwise the work ended before.
    pub examined: bool,
    /// The average value of the state after it to the seat that is asked.
    pub worth: Option<Fraction>,
    /// The result of the games played out from there.
    pub played: Option<PlayedOut>,
    /// The place in the ranking, from 1. Answers between which no difference was found share a place. `None` where the answers
    /// are not ranked.
    pub place: Option<usize>,
    /// By how much its score is below that of the best answer, from games of both on the same dice. `None` in the first place,
    /// and where no games were played.
    pub behind: Option<Difference>,
    /// What sets the answer apart from the others, if its odds are exact: "keeps 2 Gold; 50 % to gain 3 Gold".
    pub reason: Option<String>,
}

/// The ranked answers to a question, with the result of games in which the policy answers it.
#[derive(Clone, Debug)]
pub struct Advised {
    /// The best first. Those that share a place are in the order in which the question offers them.
    pub answers: Vec<Advice>,
    /// How much the scores of two answers that share the first place may differ, in 95 of 100 hints: a share of games won, 0 to 1,
    /// or an average value. `None` if one answer has the first place alone, or if the answers are not ranked by games.
    pub margin: Option<f64>,
    /// The result of games in which the policy answers this question as well.
    pub now: Option<PlayedOut>,
    /// How many games were played, from all answers.
    pub games: u64,
    /// How many of them were stopped after [`AdviceLimits::ACTIONS`] actions; the value at that point counts as their end.
    pub stopped: u64,
    /// Whether the clock ended the work. Otherwise the same seed gives the same result on any machine.
    pub out_of_time: bool,
    /// Whether somebody interrupted the work.
    pub interrupted: bool,
    /// Whether the places are by games. Otherwise they are by the exact value after the next step, or there are none.
    pub(super) by_games: bool,
    /// What the one who asks cannot see, and whether it was dealt anew: see [`Odds::unseen`].
    pub unseen: Vec<String>,
    /// Whether that was dealt anew by the rules; otherwise it is left out.
    pub dealt: bool,
}

impl Advised {
    /// What the one who asks cannot see, and how it was treated, in words; `None` where the asker sees all.
    pub fn unseen_in_words(&self) -> Option<String> {
        unseen_in_words(&self.unseen, self.dealt)
    }

    /// The answers in the first place: one, or several between which no difference was found. Empty if the answers are not
    /// ranked.
    pub fn best(&self) -> &[Advice] {
        let count = self.answers.iter().take_while(|advice| advice.place == Some(1)).count();
        &self.answers[..count]
    }

    /// Whether something is missing: the clock ended the work, somebody interrupted it, or games had no end.
    pub fn is_partial(&self) -> bool {
        self.out_of_time || self.interrupted || self.stopped > 0
    }

    /// Whether the answers are ranked by games that were played out.
    pub fn is_by_games(&self) -> bool {
        self.by_games
    }
}

/// How long a question is thought about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AdviceLimits {
    /// How many games are played, from all answers together.
    pub games: u64,
    /// The time after which the work ends with what is known. Only a limit: the result does not depend on it unless it is
    /// reached, which [`Advised::out_of_time`] says.
    pub time: Duration,
    /// How many threads play; `None` for as many as the ruleset has machines for. The result does not depend on it.
    pub threads: Option<usize>,
    /// How many games each answer gets before the answers are compared for the first time. An answer that is found to be worse
    /// than the best gets no more.
    pub first: u64,
    /// The seed of the dice of these games; `None` for that of the game. A seat that may not know it always has the same one.
    pub seed: Option<u64>,
}

/// How long a question is thought about at most if nothing else is said, in seconds.
const SECONDS: u64 = 3;

impl Default for AdviceLimits {
    fn default() -> AdviceLimits {
        AdviceLimits { games: 4_000, time: Duration::from_secs(SECONDS), threads: None, first: 32, seed: None }
    }
}

impl AdviceLimits {
    /// A game that is played out is stopped after this many actions.
    pub const ACTIONS: u64 = 2_000;

    /// A limit of so many seconds, and the default number of games in proportion.
    pub fn of_seconds(seconds: u64) -> AdviceLimits {
        let usual = AdviceLimits::default();
        let games = (usual.games * seconds / SECONDS).max(1);
        AdviceLimits { games, time: Duration::from_secs(seconds), ..usual }
    }

    /// The default number of games, within a time.
    pub fn within(time: Duration) -> AdviceLimits {
        AdviceLimits { time, ..AdviceLimits::default() }
    }
}

/// How often an action is run for one answer, and how often it is played at random where that is too little.
const WAYS: u64 = 5_000;
const SAMPLES: u64 = 500;
/// The share of the time after which no more odds are worked out: the rest belongs to the games.
const FOR_ODDS: f64 = 0.3;
/// Work of scripts and dice for the odds of the next step, for all answers together and for one at least, in steps of a script.
/// About 200 million take a second.
const WORK: u64 = 20_000_000;
const LEAST_WORK: u64 = 1_000_000;
/// How often an action is run for one answer of a seat that looks ahead. Such a seat does so many times in a game.
const WAYS_AHEAD: u64 = 1_000;

pub(super) fn advise(
    session: &mut Session,
    question: QuestionId,
    limits: AdviceLimits,
    interrupt: Option<&Arc<AtomicBool>>,
) -> Result<Advised, Refusal> {
    advise_for(session, question, limits, &Viewer::master(), interrupt)
}

/// The same, from what a viewer knows.
pub(super) fn advise_for(
    session: &mut Session,
    question: QuestionId,
    limits: AdviceLimits,
    viewer: &Viewer,
    interrupt: Option<&Arc<AtomicBool>>,
) -> Result<Advised, Refusal> {
    let question = decided(session.open_question(question)?)?.clone();
    let viewer = session.game().looks_ahead(viewer.clone(), &question.seat);
    // The seed of the game is in nothing that a seat gets.
    let seed = limits.seed.unwrap_or(if viewer.is_master() { session.seed() } else { 0 });
    let alarm = Alarm::set(limits.time, interrupt);
    let for_odds = Alarm::set(limits.time.mul_f64(FOR_ODDS), interrupt);
    let (asked, knows, stop) = (question.clone(), viewer.clone(), for_odds.flag().clone());
    let weighed = session.lend(move |game, vm| {
        let behind = answered_behind(game, &knows);
        let thought = Thought { interrupt: Some(stop), viewer: knows, behind };
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

/// What is known and asked while a question is thought about.
#[derive(Clone, Debug)]
struct Thought {
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

/// The answers with the odds of the next step, not ranked yet.
struct Weighed {
    advised: Advised,
    /// Where games start; `None` if the rules do not say what a state is worth.
    game: Option<Box<Game>>,
    behind: Vec<(usize, Slot)>,
}

/// Works out the odds of each answer.
fn weigh_all(game: &Game, vm: &mut dyn Machine, question: &Question, thought: &Thought) -> Result<Weighed, Refusal> {
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

/// Replaces the odds of the next step by those up to the horizon of the rules: a card that only declares what happens later has
/// no effect before. They stay as they are if the odds of one answer do not reach so far, so that all are of the same time.
fn look_further(
    advice: &mut [Advice],
    game: &Game,
    vm: &mut dyn Machine,
    question: &Question,
    limits: Limits,
    thought: &Thought,
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

/// Ranks answers by the exact value of the next step, where that is known of all of them. Otherwise they stay as they are offered.
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

/// What one answer can come to in the open action, with the best answers to whatever it asks further; or, up to the agenda entries
/// of `until`, with the answers that policies and defaults give.
fn weigh(
    game: &Game,
    vm: &mut dyn Machine,
    question: &Question,
    answer: &Answer,
    (limits, detail): (Limits, Detail),
    thought: &Thought,
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

/// The answer that is worth most to whoever is asked, from what that seat knows; the first of those that are worth the same.
/// Options in `closed` are left out while there are others.
///
/// # Errors
///
/// A question that has no answer to take; looking ahead would tell what the seat may not see; `stop` was set.
pub(crate) fn best_answer(
    game: &Game,
    vm: &mut dyn Machine,
    question: &Question,
    closed: &[Arc<str>],
    stop: Option<&Arc<AtomicBool>>,
) -> Result<Answer, Refusal> {
    let viewer = Viewer::seat(&question.seat);
    let behind = answered_behind(game, &viewer);
    let thought = Thought { interrupt: stop.cloned(), viewer, behind };
    game.look_ahead(&thought.viewer, |known| {
        // There may be too many deals to be followed: then they are sampled.
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
            .ok_or_else(|| Refusal::new(format!("`{}` has no answer to take", question.topic)))
    })
}

/// Work for the exact values of all answers to a question, in steps of a script: about a tenth of a second.
const WORK_EXACTLY: u64 = 20_000_000;

/// Every answer to a question with its exact value to whoever is asked, from what that seat knows: up to the horizon of the rules,
/// with the best answers to what is asked until then. `None` where that cannot be computed.
///
/// # Errors
///
/// Too many answers; looking ahead would tell what the seat may not see; `stop` was set.
pub(crate) fn exact_worths(
    game: &Game,
    vm: &mut dyn Machine,
    question: &Question,
    stop: &Arc<AtomicBool>,
) -> Result<Vec<(Answer, Option<Fraction>)>, Refusal> {
    let viewer = Viewer::seat(&question.seat);
    let behind = answered_behind(game, &viewer);
    let thought = Thought { interrupt: Some(stop.clone()), viewer, behind };
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
