use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::chain::{Chain, TOO_LONG, Unsolved, Worth};
use super::odds::{Estimate, FieldOdds, Limits, Odds, OddsQuery};
use super::outcome::{Effect, Outcome};
use riskbreaker_dice::{DiceRng, Fraction, ratio, sum};
use riskbreaker_play::{
    ActionContext, Answering, Assumed, Budget, Call, ChoicePoint, Edge, Explorer, Fault, Fork, Game, Machine, OffPlan,
    PathInput, Question, Refusal, Ruleset, Stop, View, Viewer, write_whole_state,
};
use riskbreaker_ruleset::nearest;
use riskbreaker_state::{EntityId, FieldId, KindId, State, Value};
use riskbreaker_work::is_set;

/// If at most one in this number of chances is left, the outcomes found are reported, with the remainder.
pub(super) const NEGLIGIBLE: u64 = 1_000_000_000;
/// If hardly any two paths have met, and at most this chance is left to follow, it is reported as the remainder. This
/// is checked after every `TAIL_EVERY` runs.
const TAIL: f64 = 1e-15;
const TAIL_EVERY: u64 = 500;
/// If paths meet, the rest may be solved exactly. It is followed for up to this multiple of the work done when the tail
/// was reached, plus `TAIL_WORK`.
const TAIL_TIMES: u64 = 3;
const TAIL_WORK: u64 = 50_000_000;
/// The limit on rolls and answers over all runs, for each allowed run.
const STEPS: u64 = 40;
/// The search is given up after this number of runs or points, or after `HOPELESS_STEPS` rolls and answers, if most of
/// the chance is still open and hardly any two paths have met.
const HOPELESS_AFTER: u64 = 50_000;
const HOPELESS_STEPS: u64 = 10 * HOPELESS_AFTER;
const HOPELESS: f64 = 0.9;
/// The limit on restarts of an exploration because scripts changed their state between runs: caches settle after the
/// first starts.
pub(super) const MOST_STARTS: usize = 4;
/// The number of runs after which resume points are kept; debug builds keep them sooner.
const KEEP_AFTER: u64 = if cfg!(debug_assertions) { 3 } else { 24 };
/// The work of scripts after which resume points are kept in any case, since long actions are costly to run from their
/// start.
const KEEP_WORK: u64 = 10_000;
/// The seed of the dice for estimates.
const SEED: u64 = 0x0dd5;
/// The number of plays without an end, of as many played, after which the action counts as endless.
const ENDLESS_AFTER: u64 = 5;
/// The work charged for a run without its scripts.
pub(super) const WORK_OF_RUN: u64 = 4_000;
/// The work charged for one event of a run.
const WORK_OF_EVENT: u64 = 150;
/// The limit on the effects of all distinct outcomes together: about 350 MB.
const MOST_EFFECTS: usize = 1_000_000;
/// The limit on rolls and dice over all plays of an estimate: long actions are played fewer times.
const SAMPLED_ROLLS: u64 = 4_000_000;
/// The limits on plays and time for an estimate after an interruption.
const LAST_SAMPLES: u64 = 1_000;
const LAST_MOMENT: Duration = Duration::from_millis(150);
/// The work of the plays for an estimate after the budget of several queries is spent.
const LAST_WORK: u64 = 20_000_000;

enum PathError {
    Refused(Refusal),
    /// There are more paths than can be followed; the text says which limit was reached.
    TooMuch(String),
    Interrupted,
    /// A script changed what it keeps between runs.
    Unstable,
}

impl From<Refusal> for PathError {
    fn from(refusal: Refusal) -> PathError {
        PathError::Refused(refusal)
    }
}

/// The level of detail of an exploration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Detail {
    Outcomes,
    /// Only the value of each end: no texts of the outcomes, and no estimate if there is too much to follow.
    Worth,
}

/// Follows all paths of the open action of a game, which must be a copy.
///
/// # Errors
///
/// The fault of a script, an answer that does not fit, or too many paths to compute a best answer.
pub(crate) fn explore(
    mut game: Game,
    vm: &mut dyn Machine,
    query: &OddsQuery,
    seats: &[Arc<str>],
    detail: Detail,
) -> Result<Odds, Refusal> {
    check_until(&game.context.rules, &query.until)?;
    if game.open.is_none() {
        return Err(Refusal::new("no action is open whose odds could be told"));
    }
    let viewer = query.viewer.clone().unwrap_or_else(Viewer::master);
    game.context.log.listening = detail == Detail::Outcomes;
    let valued = if detail == Detail::Outcomes { fields_of_value(&mut game, vm) } else { BTreeSet::new() };
    game.context.state.renew_identity();
    let dealt = game.context.knowledge.deals_for.is_some();
    let limits = if dealt { query.limits.where_dealt() } else { query.limits };
    let budget = budget_of(&limits);
    let (against, unknown) = match query.against.as_ref().map(|names| named_in(&game, names)) {
        None => (None, None),
        Some((found, unknown)) => (Some(found), unknown),
    };
    let taped = game.open.as_ref().map_or(0, |open| open.tape.slots.len());
    let new_explorer = |fingerprint| {
        let (given, against, answering) = (query.given.clone(), against.clone(), query.answering.clone());
        let mut explorer = Box::new(Explorer::new(given, against, answering, taped, budget, fingerprint));
        explorer.viewer.clone_from(&query.viewer);
        explorer.asker = seats.first().cloned();
        explorer
    };
    let fingerprint = (detail == Detail::Outcomes).then(|| vm.begin_exploring()).flatten().filter(|_| !query.unmerged);
    game.context.explore(new_explorer(fingerprint));
    let targets = targets_in(&game, query, against.as_deref().unwrap_or_default());
    let origin = Arc::new(game.context.state.before_journal());
    let mut exploration = Exploration {
        game,
        origin: (0, origin.clone()),
        at: None,
        stages: HashMap::new(),
        origins: HashMap::from([(Vec::new(), (0, origin))]),
        passed: 0,
        targets,
        vm,
        kept: None,
        query,
        seats,
        detail,
        viewer: &viewer,
        valued,
        numbers: HashMap::new(),
        outcomes: Vec::new(),
        effects: 0,
        ends: Vec::new(),
        end_numbers: HashMap::new(),
        work: 0,
        limits,
    };
    let mut found = Err(PathError::Unstable);
    for _ in 0..MOST_STARTS {
        exploration.kept = exploration.vm.kept();
        found = exploration.exact();
        if !matches!(found, Err(PathError::Unstable)) {
            break;
        }
        // Values that a script computed once and keeps are known now.
        exploration.forget_stages();
        exploration.game.context.explore(new_explorer(fingerprint));
    }
    if detail == Detail::Outcomes && query.answering != Answering::Best {
        let (why, samples, interrupted) = match &found {
            Err(PathError::TooMuch(why)) => (Some(why.clone()), limits.samples, false),
            Err(PathError::Unstable) => {
                (Some("a script keeps something between its runs".into()), limits.samples, false)
            }
            Err(PathError::Interrupted) => (Some("it was interrupted".into()), LAST_SAMPLES.min(limits.samples), true),
            _ => (None, 0, false),
        };
        if let Some(why) = why {
            exploration.forget_ends();
            found = exploration.sampled(Estimate { samples, why, interrupted });
        }
    }
    exploration.forget_stages();
    let explorer = exploration.game.context.take_explorer();
    exploration.vm.end_exploring();
    let Exploration { game, outcomes, ends, targets, .. } = exploration;
    let Explorer { used, taken, offered, .. } = *explorer.expect("it was put there above");
    let odds = match found {
        Ok(counted) => counted.odds(outcomes, &ends),
        Err(PathError::Refused(refusal)) => return Err(refusal),
        Err(PathError::Interrupted) => {
            return Err(Refusal::failing("it was interrupted before there was a result"));
        }
        Err(PathError::Unstable) => return Err(Refusal::failing("a script keeps something between its runs")),
        Err(PathError::TooMuch(why)) => {
            return Err(Refusal::failing(format!(
                "{why}: the best answer there cannot be computed; give the answers, or take the defaults"
            )));
        }
    };
    let topics = query.given.iter().map(|given| given.topic.as_str()).chain(query.against.as_ref().map(|_| ""));
    let unasked: Vec<String> = topics.filter(|topic| !used.contains(*topic)).map(String::from).collect();
    if let (Some(topic), false) = (unasked.first(), query.lenient) {
        return Err(nothing_asks(&game, topic, query.against.as_ref(), unknown, &offered));
    }
    let answers = taken.into_iter().chain(odds.answers.iter().cloned()).collect();
    let hits = targets.keys().map(|target| game.context.title(*target)).collect();
    Ok(Odds { answers, unasked, until: query.until.clone(), targets: hits, ..odds })
}

/// Returns the limits for the paths of one action.
fn budget_of(limits: &Limits) -> Budget {
    Budget {
        runs: limits.ways,
        points: limits.points,
        bytes: limits.bytes,
        steps: limits.ways.saturating_mul(STEPS),
        effort: limits.work,
    }
}

/// Returns the refusal of an answer that no question takes. `topic` is empty for names. `offered`: the entities that
/// questions take.
fn nothing_asks(
    game: &Game,
    topic: &str,
    against: Option<&Value>,
    unknown: Option<Refusal>,
    offered: &BTreeMap<Arc<str>, BTreeSet<EntityId>>,
) -> Refusal {
    Refusal::new(match (topic, against) {
        ("", Some(against)) => {
            let why =
                unknown.map_or_else(|| format!("{} answers no question here", told(against)), |it| it.to_string());
            let titles = |ids: &BTreeSet<EntityId>| {
                ids.iter().map(|id| game.context.title(*id).to_string()).collect::<Vec<_>>().join(", ")
            };
            let known: Vec<String> =
                offered.iter().map(|(topic, ids)| format!("`{topic}` takes {}", titles(ids))).collect();
            match known.as_slice() {
                [] => format!("{why}; no question here takes a name, others are answered by `--TOPIC ANSWER`"),
                known => format!("{why}. Names that answer a question here: {}", known.join("; ")),
            }
        }
        (topic, _) => format!("nothing asks for `{topic}` here"),
    })
}

/// Returns the entities that are named as answers and that the ruleset can recognise as hit, each with the entity that
/// is asked for that answer. Without such an entity, it is the one whose hits the query counts.
fn targets_in(game: &Game, query: &OddsQuery, against: &[EntityId]) -> BTreeMap<EntityId, Option<EntityId>> {
    let view = View::new(&game.context);
    let mut found: BTreeMap<EntityId, Option<EntityId>> = against.iter().map(|target| (*target, query.by)).collect();
    for given in &query.given {
        let by = given.about.or(query.by);
        let texts: Vec<&Value> = match &given.value {
            Value::List(items) => items.iter().collect(),
            one => vec![one],
        };
        let named = texts.into_iter().filter_map(|value| match value {
            Value::Entity(id) => Some(*id),
            // Of two with one title, an option is told apart by the number behind it.
            Value::Text(text) => view.find(text).or_else(|_| view.find(&text[text.rfind('#').unwrap_or(0)..])).ok(),
            _ => None,
        });
        found.extend(named.map(|target| (target, by)));
    }
    found.retain(|id, _| game.context.rules.can_be_hit(&game.context.state, *id));
    found
}

/// Checks the names of the agenda entries at which odds end.
///
/// # Errors
///
/// A name that the ruleset does not declare, with those that it does.
pub(super) fn check_until(rules: &Ruleset, until: &[Arc<str>]) -> Result<(), Refusal> {
    let declared = || rules.entries();
    let Some(unknown) = until.iter().find(|name| !declared().any(|known| *known == ***name)) else { return Ok(()) };
    let meant = nearest(unknown, declared()).map_or(String::new(), |near| format!("did you mean `{near}`? "));
    let known: Vec<&str> = declared().collect();
    Err(Refusal::new(format!(
        "{} has no agenda entry `{unknown}` to look ahead to: {meant}It has {}; `{ACTION}` is the end of the action",
        rules.id(),
        known.join(", "),
    )))
}

/// The name that stands for the end of the open action in a list of agenda entries.
const ACTION: &str = "action";

/// Parses the names of the agenda entries up to which odds look ahead, separated by commas. `action` is the end of the
/// open action, unless the ruleset has an entry of that name. `None`: the horizon of the ruleset.
///
/// # Errors
///
/// A name that the ruleset does not declare, with those that it does.
pub fn until(rules: &Ruleset, names: Option<&str>) -> Result<Vec<Arc<str>>, Refusal> {
    let Some(names) = names else { return Ok(rules.horizon().to_vec()) };
    let names: Vec<Arc<str>> = names.split(',').map(str::trim).filter(|name| !name.is_empty()).map(Arc::from).collect();
    if let [only] = names.as_slice()
        && **only == *ACTION
        && !rules.entries().any(|entry| entry == ACTION)
    {
        return Ok(Vec::new());
    }
    if names.is_empty() {
        return check_until(rules, &[Arc::from("")]).map(|()| names);
    }
    check_until(rules, &names).map(|()| names)
}

/// Resolves names to entities, each once, and returns the refusal of the first name that fits none.
fn named_in(game: &Game, names: &Value) -> (Vec<EntityId>, Option<Refusal>) {
    let view = View::new(&game.context);
    let mut found: Vec<EntityId> = Vec::new();
    let list: Vec<Value> = match names {
        Value::List(names) => names.to_vec(),
        // A single name may contain a comma.
        Value::Text(text) if view.find(text).is_err() => {
            text.split(',').map(str::trim).filter(|name| !name.is_empty()).map(Value::text).collect()
        }
        one => vec![one.clone()],
    };
    for name in list {
        let entity = match &name {
            Value::Entity(id) => Ok(*id),
            name => view.find(&name.to_string()),
        };
        match entity {
            Ok(entity) if found.contains(&entity) => {}
            Ok(entity) => found.push(entity),
            Err(refusal) => return (Vec::new(), Some(refusal)),
        }
    }
    (found, None)
}

/// Returns the fields that the ruleset's `value` reads in this position for any seat; none if the ruleset has no
/// `value`, or if it fails.
fn fields_of_value(game: &mut Game, vm: &mut dyn Machine) -> BTreeSet<(KindId, FieldId)> {
    let context = &mut game.context;
    // Hidden fields hold their defaults here, so reading them reveals nothing.
    let masked = context.knowledge.masked.take();
    context.observers.reads = Some(BTreeSet::new());
    let rules = context.rules.clone();
    for seat in rules.seats().keys() {
        // A failure is reported later, where the value is needed.
        let _ = vm.worth(context, seat);
    }
    context.knowledge.masked = masked;
    context.observers.reads.take().unwrap_or_default()
}

fn told(value: &Value) -> String {
    match value {
        Value::List(items) => items.iter().map(told).collect::<Vec<_>>().join(", "),
        other => other.to_string(),
    }
}

/// The value of an end to each seat, in a compact form: there may be very many ends.
type EndWorth = Arc<[(Arc<str>, i64)]>;

struct Exploration<'a> {
    /// The game at the stage `at`.
    game: Game,
    /// The state with which outcomes are compared, with its number.
    origin: PathOrigin,
    /// The stage of `game`: a point between two agenda entries, or `None` for the action that was open first.
    /// [`PASSING`] for a sampled run.
    at: Option<u32>,
    /// The game at the other stages.
    stages: HashMap<Option<u32>, (Game, PathOrigin)>,
    /// The states in which paths begin, by the result of `deal`.
    origins: HashMap<Vec<u8>, PathOrigin>,
    /// The number of agenda entries passed after the open action on the sampled run.
    passed: usize,
    /// The entities named by the given answers that can be hit, each with the entity that would hit it, if known.
    targets: BTreeMap<EntityId, Option<EntityId>>,
    vm: &'a mut dyn Machine,
    query: &'a OddsQuery,
    seats: &'a [Arc<str>],
    detail: Detail,
    viewer: &'a Viewer,
    /// The fields that the ruleset's `value` reads.
    valued: BTreeSet<(KindId, FieldId)>,
    /// A snapshot of what scripts keep between runs, if the machine can take one.
    kept: Option<Vec<u8>>,
    numbers: HashMap<Arc<Outcome>, u32>,
    outcomes: Vec<Arc<Outcome>>,
    /// The number of effects in `outcomes`.
    effects: usize,
    /// The distinct ends of runs: the number of the outcome, and its value to each seat.
    ends: Vec<(u32, EndWorth)>,
    end_numbers: HashMap<(u32, EndWorth), u32>,
    /// The work over all runs so far.
    work: u64,
    limits: Limits,
}

/// A state in which paths begin, with its number.
type PathOrigin = (u32, Arc<State>);

/// The stage of a sampled run that has passed an agenda entry.
const PASSING: u32 = u32::MAX;
/// The number of agenda entries after which a sampled run counts as endless.
const MOST_ENTRIES: usize = 10_000;

/// The result of running an action once.
enum RunOutcome {
    /// The run reached the end with this number.
    End(u32),
    OffPlan(OffPlan),
}

impl Exploration<'_> {
    fn explorer(&mut self) -> &mut Explorer {
        self.game.context.explorer_mut().expect("it is there while ways are explored")
    }

    /// Switches to the game at a stage that was reached before.
    fn go_to(&mut self, stage: Option<u32>) {
        if self.at == stage {
            return;
        }
        let next = self.stages.remove(&stage).expect("a stage is kept until all stages are forgotten");
        self.put(stage, next);
    }

    /// Replaces the current game by another one and stores the current one.
    fn put(&mut self, stage: Option<u32>, (game, origin): (Game, PathOrigin)) {
        let paths = self.game.context.paths.take();
        let was = (std::mem::replace(&mut self.game, game), std::mem::replace(&mut self.origin, origin));
        let at = std::mem::replace(&mut self.at, stage);
        if at != Some(PASSING) {
            self.stages.insert(at, was);
        }
        self.game.context.paths = paths;
    }

    /// Switches back to the open action and drops all later stages.
    fn forget_stages(&mut self) {
        self.go_to(None);
        self.stages.clear();
    }

    fn is_interrupted(&self) -> bool {
        is_set(self.query.interrupt.as_deref()) || self.query.budget.is_interrupted()
    }

    /// Charges work to the exploration and to the budget of the query.
    fn spend(&mut self, work: u64) {
        self.work += work;
        self.query.budget.spend(work);
    }

    /// Follows every path exactly.
    fn exact(&mut self) -> Result<EndChances, PathError> {
        let mut met_again = 0_u64;
        let (mut is_judged, mut keeps) = (false, false);
        let mut work_to_tail = None;
        loop {
            while self.explorer().begin() {
                if self.is_interrupted() {
                    return Err(PathError::Interrupted);
                }
                let is_full =
                    self.work > self.limits.work || self.query.budget.is_spent() || self.effects > MOST_EFFECTS;
                if self.explorer().is_spent() || is_full {
                    return self.all_but_little();
                }
                let pays = self.explorer().runs >= KEEP_AFTER || (self.work >= KEEP_WORK && self.explorer().runs > 1);
                if pays && !std::mem::replace(&mut keeps, true) && self.detail == Detail::Outcomes {
                    let keep = self.vm.begin_keeping();
                    self.explorer().keep_resume_points(keep);
                }
                let ran = self.run()?;
                if self.kept.is_some() && self.vm.kept() != self.kept {
                    return Err(PathError::Unstable);
                }
                match ran {
                    RunOutcome::End(end) => self.explorer().end(end),
                    RunOutcome::OffPlan(OffPlan::Known) => met_again += 1,
                    RunOutcome::OffPlan(OffPlan::Deep | OffPlan::Reached) => {}
                    RunOutcome::OffPlan(OffPlan::Spent) => return self.all_but_little(),
                    RunOutcome::OffPlan(OffPlan::TooWide(why)) => return Err(PathError::TooMuch(why)),
                    RunOutcome::OffPlan(OffPlan::Refused(refusal)) => return Err(refusal.into()),
                }
                let (runs, steps) = (self.explorer().runs, self.explorer().steps);
                if runs % TAIL_EVERY == 0
                    && self.query.answering != Answering::Best
                    && (work_to_tail.is_some() || self.explorer().open_mass() < TAIL)
                    && {
                        let most = work_to_tail.get_or_insert(self.work).saturating_mul(TAIL_TIMES);
                        met_again < runs / 100 || self.work > most.saturating_add(TAIL_WORK)
                    }
                {
                    let counted = self.solve()?;
                    if counted.remaining <= ratio(1, NEGLIGIBLE) {
                        // `solve` does not count the run that was begun and not played; here there is none.
                        return Ok(EndChances { ways: runs, ..counted });
                    }
                }
                let many = self.explorer().points.len() as u64 >= HOPELESS_AFTER;
                if !is_judged && (many || runs >= HOPELESS_AFTER || steps >= HOPELESS_STEPS) {
                    is_judged = true;
                    if met_again < runs / 100 && self.explorer().open_mass() > HOPELESS {
                        return Err(self.too_many());
                    }
                }
            }
            let counted = self.solve()?;
            // Unless hardly any chance is left, follow the postponed branches as far as the limits allow.
            if counted.remaining <= ratio(1, NEGLIGIBLE) {
                return Ok(counted);
            }
            // If no path has reached an end so far, longer ones hardly will.
            if counted.ends.is_empty() {
                return Err(self.too_many());
            }
            if !self.explorer().resume() {
                return Ok(counted);
            }
        }
    }

    /// At a limit: returns the odds found so far if the remainder is negligible.
    fn all_but_little(&mut self) -> Result<EndChances, PathError> {
        if self.explorer().open_mass() < 0.01 {
            let counted = self.solve()?;
            if counted.remaining <= ratio(1, NEGLIGIBLE) {
                return Ok(counted);
            }
        }
        Err(self.too_many())
    }

    fn too_many(&mut self) -> PathError {
        let explorer = self.explorer();
        let doubt = explorer.unproven.iter().max_by_key(|(_, times)| **times).map(|(why, _)| *why);
        let doubt = doubt.map(|why| format!(" (states could not be compared: {why})")).unwrap_or_default();
        PathError::TooMuch(format!("it has more paths than the {} that were followed{doubt}", explorer.runs - 1))
    }

    fn solve(&mut self) -> Result<EndChances, PathError> {
        let explorer = self.game.context.explorer().expect("it is there while ways are explored");
        let mut chain = Chain::new(&explorer.points, explorer.start, self.query.interrupt.as_deref());
        let solved = (|| {
            if self.query.answering == Answering::Best {
                let whole = |own: &(Arc<str>, i64)| (own.0.clone(), Fraction::from(own.1));
                let worth: Vec<Worth> = self.ends.iter().map(|(_, worth)| worth.iter().map(whole).collect()).collect();
                chain.choose(&worth)?;
            }
            chain.settle(explorer.start)
        })();
        self.work += chain.work();
        self.query.budget.spend(chain.work());
        let settled = solved.map_err(|unsolved| {
            PathError::Refused(Refusal::failing(match unsolved {
                Unsolved::Endless if !self.query.until.is_empty() => {
                    "from some states no path leads to the end of these odds: the game never ends; name another agenda \
                     entry with `until`"
                }
                Unsolved::Endless => {
                    "the loop rolls for ever: no result ends it; the function given to rb.again must return something at some point"
                }
                Unsolved::CircularChoice => {
                    "somebody may choose the same again and again, so that no answer is the best; give the answers"
                }
                Unsolved::Interrupted => return PathError::Interrupted,
                Unsolved::TooLong => return PathError::TooMuch(TOO_LONG.into()),
            }))
        })?;
        let sum = sum(settled.ends.values()) + &settled.remaining;
        if !sum.is_one() {
            return Err(Refusal::failing(format!("the host itself failed: the chances sum to {sum}")).into());
        }
        // A path that was not followed may have a higher value than the chosen one, even if it has no chance now.
        let chooses = |point: &ChoicePoint| matches!(&point.fork, Fork::Answers { answers, .. } if answers.len() > 1);
        let is_open = |point: &ChoicePoint| {
            let rest = matches!(&point.fork, Fork::Roll(ranked) if !ranked.partition.rest.is_zero());
            rest || point.edges.contains(&Edge::Open)
        };
        let guessed = explorer.points.iter().any(chooses) && explorer.points.iter().any(is_open);
        let (ways, points) = (explorer.runs - 1, explorer.points.len());
        Ok(EndChances {
            ends: settled.ends,
            remaining: settled.remaining,
            estimate: None,
            guessed,
            ways: ways.max(1),
            points,
            answers: settled.chosen.into_iter().collect(),
        })
    }

    /// Frees the memory of the ends found so far.
    fn forget_ends(&mut self) {
        self.forget_stages();
        (self.numbers, self.outcomes, self.effects) = Default::default();
        (self.ends, self.end_numbers) = Default::default();
    }

    /// Estimates the odds by random plays. The same call uses the same dice.
    fn sampled(&mut self, estimate: Estimate) -> Result<EndChances, PathError> {
        let mut counts: BTreeMap<u32, u64> = BTreeMap::new();
        let mut played = 0;
        let mut interrupted = estimate.interrupted;
        let began = Instant::now();
        let most_steps = self.explorer().steps.saturating_add(SAMPLED_ROLLS);
        let is_spent = self.query.budget.is_spent();
        let most_work = self.work.saturating_add(if is_spent { LAST_WORK } else { self.limits.work / 4 });
        let keep = if self.query.unmerged { None } else { self.vm.begin_keeping() };
        self.explorer().keep_resume_points(keep);
        for n in 0..estimate.samples {
            if !estimate.interrupted && self.is_interrupted() {
                interrupted = true;
                break;
            }
            if self.explorer().steps > most_steps || self.work > most_work && played > 0 {
                break;
            }
            if played == ENDLESS_AFTER && counts.is_empty() {
                let message = format!("none of {played} plays came to an end: it may roll for ever");
                return Err(Refusal::failing(message).into());
            }
            if estimate.interrupted && played > 0 && began.elapsed() > LAST_MOMENT {
                break;
            }
            self.explorer().begin_sample(DiceRng::stream(SEED, n));
            match self.run()? {
                RunOutcome::End(end) => *counts.entry(end).or_insert(0) += 1,
                RunOutcome::OffPlan(OffPlan::Refused(refusal)) => return Err(refusal.into()),
                // This play has no end.
                RunOutcome::OffPlan(_) => {}
            }
            played += 1;
        }
        if played == 0 {
            return Err(PathError::Interrupted);
        }
        let ended: u64 = counts.values().sum();
        let explorer = self.explorer();
        Ok(EndChances {
            ends: counts.into_iter().map(|(end, count)| (end, ratio(count, played))).collect(),
            remaining: ratio(played - ended, played),
            estimate: Some(Estimate { samples: played, interrupted, ..estimate }),
            guessed: false,
            ways: explorer.runs,
            points: explorer.points.len(),
            answers: Vec::new(),
        })
    }

    /// Resumes the action at the last roll of the path to follow, or else runs it from its start.
    fn go(&mut self) -> Result<(), Fault> {
        if let Some((resume_point, roll)) = self.explorer().take_up() {
            if self.game.go_on_from(self.vm, &resume_point, &roll) {
                return Ok(());
            }
            self.explorer().begin_anew();
        }
        self.game.attempt(self.vm)
    }

    /// Runs an action once; with sampled dice, also all later ones up to the end.
    fn run(&mut self) -> Result<RunOutcome, PathError> {
        let stage = self.explorer().stage;
        self.go_to(stage);
        self.passed = 0;
        let mut ran = self.go();
        loop {
            match self.after(ran)? {
                Err(off_plan) => return Ok(RunOutcome::OffPlan(off_plan)),
                Ok(cut) if self.query.until.is_empty() => return self.end(cut.as_deref()),
                Ok(_) => {}
            }
            if let Some(ran) = self.go_on()? {
                return Ok(ran);
            }
            ran = self.game.attempt(self.vm);
        }
    }

    /// Continues after a finished action, up to the agenda entry at which the odds end. `None`: a sampled run continues
    /// with the next action.
    fn go_on(&mut self) -> Result<Option<RunOutcome>, PathError> {
        if self.at.is_none() {
            self.origin = self.dealt_state();
        }
        if self.game.context.state.outcome().is_some() {
            return self.end(None).map(Some);
        }
        let dice = self.game.context.dice.position();
        let next = self.game.behind_attempt(self.vm);
        self.spend(WORK_OF_RUN);
        let next = next.map_err(|fault| {
            let way = self.game.context.explorer().map(|explorer| explorer.told()).unwrap_or_default();
            Refusal::failing(format!("a script fails on the way{way}: {fault}"))
        })?;
        if next.context.dice.position() != dice {
            let text = "a policy decides by chance whether it takes a free act, which odds cannot follow";
            return Err(Refusal::failing(text).into());
        }
        let is_last = next.open_entry().is_some_and(|entry| self.query.until.contains(entry));
        if next.open.is_none() || is_last {
            if let Some(text) = next.context.state.outcome() {
                self.game.context.state.finish(text.to_owned());
            }
            return self.end(None).map(Some);
        }
        let origin = self.origin.clone();
        if self.explorer().is_sampling() {
            self.passed += 1;
            if self.passed > MOST_ENTRIES {
                return Ok(Some(RunOutcome::OffPlan(OffPlan::Deep)));
            }
            self.explorer().pass_entry();
            self.put(Some(PASSING), (next, origin));
            return Ok(None);
        }
        let reached = self.explorer().reach_entry(|key| {
            key.extend(origin.0.to_le_bytes());
            next.tell_next(key);
            write_whole_state(&next.context.state, false, key);
        });
        Ok(Some(RunOutcome::OffPlan(match reached {
            None => OffPlan::Spent,
            Some((_, false)) => OffPlan::Known,
            Some((point, true)) => {
                self.stages.insert(Some(point), (next, origin));
                OffPlan::Reached
            }
        })))
    }

    /// Returns the state in which the script of the open action began: the same on each path, unless `deal` has dealt.
    fn dealt_state(&mut self) -> PathOrigin {
        let context = &self.game.context;
        let mut key = Vec::new();
        let mut dealt = None;
        if context.knowledge.dealt > 0 {
            let mut state = context.state.clone();
            state.rollback(context.knowledge.dealt);
            state.settle_unread();
            write_whole_state(&state, false, &mut key);
            dealt = Some(state);
        }
        let number = self.origins.len() as u32;
        let origin = self.origins.entry(key).or_insert_with(|| (number, Arc::new(dealt.unwrap_or_default())));
        origin.clone()
    }

    /// Evaluates the run of an action: returns the reason if it was cut short, or [`OffPlan`] if the run ended before
    /// the action did.
    fn after(&mut self, run: Result<(), Fault>) -> Result<Result<Option<String>, OffPlan>, PathError> {
        let rolled = std::mem::take(&mut self.explorer().work);
        let events = WORK_OF_EVENT * self.game.context.log.events.len() as u64;
        let script = self.vm.work_of_last_call();
        self.spend(WORK_OF_RUN + script + rolled + events);
        let context = &mut self.game.context;
        if let Err(fault) = run {
            let way = context.explorer().map(|explorer| explorer.told()).unwrap_or_default();
            return Err(Refusal::failing(format!("a script fails on the way{way}: {fault}")).into());
        }
        self.check_autos()?;
        let context = &mut self.game.context;
        if let Some(off_plan) = context.explorer_mut().and_then(|explorer| explorer.off_plan.take()) {
            return Ok(Err(off_plan));
        }
        Ok(Ok(match context.stop.take() {
            Some(Stop::Question) => {
                let topic =
                    context.run.questions.first().map(|question| question.topic.to_string()).unwrap_or_default();
                return Err(Refusal::new(format!("`{topic}` is left open by the policy; give an answer")).into());
            }
            Some(Stop::Cut(reason)) => Some(reason),
            _ => None,
        }))
    }

    /// Records the end of a run and returns its number. The end consists of the outcome and its value.
    fn end(&mut self, cut: Option<&str>) -> Result<RunOutcome, PathError> {
        let context = &mut self.game.context;
        let mut outcome = match self.detail {
            Detail::Outcomes if self.query.until.is_empty() => Outcome::of(context, cut, self.viewer, &self.valued),
            Detail::Outcomes => Outcome::since(&self.origin.1, context, self.viewer, &self.valued),
            Detail::Worth => Outcome::default(),
        };
        if !self.targets.is_empty() {
            let (rules, before, after) = (&context.rules, &self.origin.1, &context.state);
            let hit = self.targets.iter().filter(|(target, by)| rules.is_hit(before, after, **target, **by));
            outcome.hit = hit.map(|(target, _)| context.title(*target)).collect();
        }
        let context = &mut self.game.context;
        for (entity, name) in &self.query.watch {
            outcome.watched.push(look_at(context, self.vm, *entity, name)?);
        }
        let context = &mut self.game.context;
        let mut worth = Vec::new();
        let mut seats: Vec<Arc<str>> = self.seats.to_vec();
        if let Some(explorer) = context.explorer() {
            for seat in explorer.deciding() {
                if !seats.contains(seat) {
                    seats.push(seat.clone());
                }
            }
        }
        for seat in seats {
            let found = self.vm.worth(context, &seat).map_err(Refusal::fault)?;
            let work = self.vm.work_of_last_call();
            self.work += work;
            self.query.budget.spend(work);
            match found {
                Some(found) => worth.push((seat, found)),
                None if self.seats.contains(&seat) => {}
                None => {
                    return Err(Refusal::new(format!(
                        "{} does not say what a state is worth: it needs `value = function(seat)` in play.luau for the best \
                         answers; take the default ones, or give them",
                        context.rules.id()
                    ))
                    .into());
                }
            }
        }
        let number = match self.numbers.get(&outcome) {
            Some(number) => *number,
            None => {
                let number = self.outcomes.len() as u32;
                outcome.effects.shrink_to_fit();
                self.effects += outcome.effects.len();
                let outcome = Arc::new(outcome);
                self.numbers.insert(outcome.clone(), number);
                self.outcomes.push(outcome);
                number
            }
        };
        let worth = EndWorth::from(worth);
        let end = *self.end_numbers.entry((number, worth.clone())).or_insert_with(|| {
            self.ends.push((number, worth));
            self.ends.len() as u32 - 1
        });
        Ok(RunOutcome::End(end))
    }

    /// Checks the given answers against questions that were answered automatically because only one answer was
    /// possible.
    fn check_autos(&mut self) -> Result<(), PathError> {
        let is_later = self.at.is_some();
        let context = &mut self.game.context;
        if context.run.autos.is_empty() {
            return Ok(());
        }
        if is_later {
            context.run.autos.clear();
            return Ok(());
        }
        let autos = std::mem::take(&mut context.run.autos);
        for given in &self.query.given {
            let fits = |question: &Question| given.fits(&question.seat, &question.topic, question.about);
            for (question, answer) in autos.iter().filter(|(question, _)| fits(question)) {
                if question.read(&given.value)? != *answer {
                    let message = format!("{}: only {} is possible", given.topic, question.tell(answer));
                    return Err(Refusal::new(message).into());
                }
                if let Some(explorer) = context.explorer_mut() {
                    explorer.used.insert(given.topic.clone());
                }
            }
        }
        if let Some(explorer) = context.explorer_mut() {
            for (question, answer) in &autos {
                if explorer.named(question).ok().flatten().as_ref() == Some(answer) {
                    explorer.used.insert(String::new());
                }
            }
        }
        Ok(())
    }
}

/// The chance of each end.
struct EndChances {
    ends: BTreeMap<u32, Fraction>,
    remaining: Fraction,
    estimate: Option<Estimate>,
    guessed: bool,
    ways: u64,
    points: usize,
    answers: Vec<Assumed>,
}

impl EndChances {
    /// Builds the odds from the outcomes by number, and from the outcome and value of each end.
    fn odds(self, outcomes: Vec<Arc<Outcome>>, ends: &[(u32, EndWorth)]) -> Odds {
        let mut chances: BTreeMap<u32, Fraction> = BTreeMap::new();
        let mut worth = Worth::new();
        let mut highest: BTreeMap<Arc<str>, i64> = BTreeMap::new();
        for (end, chance) in self.ends {
            let (outcome, own) = &ends[end as usize];
            for (seat, own) in own.iter() {
                let whole = Fraction::from(*own);
                *worth.entry(seat.clone()).or_default() += whole * &chance;
                highest.entry(seat.clone()).and_modify(|most| *most = (*most).max(*own)).or_insert(*own);
            }
            *chances.entry(*outcome).or_default() += chance;
        }
        let numbered = outcomes.into_iter().zip(0_u32..);
        let likely = numbered.filter_map(|(outcome, number)| Some((outcome, chances.remove(&number)?)));
        let mut outcomes: Vec<(Outcome, Fraction)> =
            likely.map(|(outcome, chance)| (Arc::unwrap_or_clone(outcome), chance)).collect();
        let fields = fields(&outcomes, &self.remaining);
        leave_out_common(&mut outcomes);
        let lines: Vec<String> = outcomes.iter().map(|(outcome, _)| outcome.line()).collect();
        let mut order: Vec<usize> = (0..outcomes.len()).collect();
        order.sort_by(|one, other| {
            outcomes[*other].1.cmp(&outcomes[*one].1).then_with(|| lines[*one].cmp(&lines[*other]))
        });
        drop(lines);
        let outcomes = order.into_iter().map(|at| std::mem::take(&mut outcomes[at])).collect();
        Odds {
            outcomes,
            fields,
            remaining: self.remaining,
            estimate: self.estimate,
            guessed: self.guessed,
            ways: self.ways,
            points: self.points,
            answers: self.answers,
            worth,
            until: Vec::new(),
            no_further: None,
            targets: Vec::new(),
            highest,
            unasked: Vec::new(),
            unseen: Vec::new(),
            dealt: false,
        }
    }
}

/// The current value of a field or derived value; [`Value::None`] if the entity is gone.
fn look_at(context: &mut ActionContext, vm: &mut dyn Machine, entity: EntityId, name: &str) -> Result<Value, Refusal> {
    let Some(found) = context.state.entity(entity) else { return Ok(Value::None) };
    let kind = context.rules.schema().kind(found.kind);
    let value = match kind.field_named(name) {
        Some(field) => context.state.field(entity, field).cloned().unwrap_or(Value::None),
        None => vm
            .look(context, &Call::Derived { entity, name, args: &[] })
            .map_err(|fault| Refusal::failing(fault.to_string()))?,
    };
    Ok(context.titled(&value))
}

/// Computes the odds of each field that changes in some outcome.
fn fields(outcomes: &[(Outcome, Fraction)], remaining: &Fraction) -> Vec<FieldOdds> {
    let mut fields: BTreeMap<(EntityId, Arc<str>), FieldOdds> = BTreeMap::new();
    // The index of a value in the list of its field.
    let mut places: HashMap<(EntityId, &str, &Value), usize> = HashMap::new();
    let followed = Fraction::ONE - remaining;
    for (outcome, chance) in outcomes {
        for effect in &outcome.effects {
            let Effect::Changed { entity, title, field, label, from, to, shown, .. } = effect else { continue };
            let odds = fields.entry((*entity, field.clone())).or_insert_with(|| FieldOdds {
                entity: *entity,
                title: title.clone(),
                field: field.clone(),
                label: label.clone(),
                shown: *shown,
                from: from.clone(),
                to: Vec::new(),
                expected: None,
            });
            let place = *places.entry((*entity, field, to)).or_insert(odds.to.len());
            match odds.to.get_mut(place) {
                Some((_, sum)) => *sum += chance,
                None => odds.to.push((to.clone(), chance.clone())),
            }
        }
    }
    let mut list: Vec<FieldOdds> = fields.into_values().collect();
    for odds in &mut list {
        let changed = sum(odds.to.iter().map(|(_, chance)| chance));
        let stays = &followed - changed;
        if !stays.is_zero() {
            odds.to.push((odds.from.clone(), stays));
        }
        odds.sort_and_expect(&followed);
    }
    list
}

/// Removes changes of hidden fields that are the same in every outcome: internal records of the rules.
fn leave_out_common(outcomes: &mut [(Outcome, Fraction)]) {
    let Some((first, _)) = outcomes.first() else { return };
    let common: Vec<Effect> = first
        .effects
        .iter()
        .filter(|effect| matches!(effect, Effect::Changed { shown: false, .. }))
        .filter(|effect| outcomes.iter().all(|(outcome, _)| outcome.effects.contains(effect)))
        .cloned()
        .collect();
    for (outcome, _) in outcomes {
        outcome.effects.retain(|effect| !common.contains(effect));
    }
}
