use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;
use std::time::{Duration, Instant};

use num_rational::BigRational;
use num_traits::{One, Zero};

use super::alike::{Course, Courses, Found, Stand, find_out};
use super::outcome::{Effect, Outcome};
use crate::dice::Classes;
use crate::play::{Answering, Beyond, Ended, Fork, Game, Given, Patience, Refusal, Stop, Walk};
use crate::script::Vm;
use crate::state::{EntityId, Value};

/// What the odds of an action are asked for.
#[derive(Clone, Debug, Default)]
pub struct OddsQuery {
    /// Answers to what the action asks, by topic.
    pub given: Vec<Given>,
    /// Names for whatever question has them among its options.
    pub against: Option<Value>,
    /// How everything else is answered that the action asks.
    pub answering: Answering,
    /// Seats that are not to learn what is for others only; none: everything is told.
    pub blind: Option<BTreeSet<Arc<str>>>,
    /// Whether an answer may be given to something that is never asked; [`Odds::unasked`] tells it then.
    pub lenient: bool,
    pub limits: Limits,
}

/// How far courses are gone through before simulation is the better way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    pub courses: u64,
    pub time: Duration,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits { courses: 1_000_000, time: Duration::from_secs(20) }
    }
}

/// What an action can come to, with the exact chance of each outcome.
#[derive(Clone, Debug, PartialEq)]
pub struct Odds {
    /// The likeliest first. Their chances and `remaining` sum to exactly 1.
    pub outcomes: Vec<(Outcome, BigRational)>,
    /// Each field that can change.
    pub fields: Vec<FieldOdds>,
    /// The chance of what was not followed to its end: rolls that are made again and again.
    pub remaining: BigRational,
    /// The chance of loops by hand that were left and are taken to go on as they did before, or of all courses that were not
    /// gone where points are taken to be alike: no outcome is off by more.
    pub presumed: BigRational,
    /// How many courses bore it out that points are alike which nothing told apart, if there were too many to go each.
    pub borne_out: Option<u64>,
    /// Whether a best answer was chosen among some of which not everything was followed to its end: it may not be the best.
    pub guessed: bool,
    /// How many courses were gone through.
    pub courses: u64,
    /// What was answered on the way for lack of an answer given: topic, answer, and why that one.
    pub answers: Vec<(String, String, &'static str)>,
    /// What it is worth to each seat that the ruleset was asked about, as an average.
    pub worth: BTreeMap<Arc<str>, BigRational>,
    /// Topics that an answer was given for and that nothing asked; an empty one stands for the names.
    pub unasked: Vec<String>,
}

/// What becomes of one field.
#[derive(Clone, Debug, PartialEq)]
pub struct FieldOdds {
    pub entity: EntityId,
    pub title: Arc<str>,
    pub field: Arc<str>,
    pub label: Arc<str>,
    pub shown: bool,
    pub from: Value,
    /// The value afterwards with its chance, the likeliest first; the value as it was is among them.
    pub to: Vec<(Value, BigRational)>,
    /// The expected change of a number, over the courses that were followed to their end.
    pub expected: Option<BigRational>,
}

/// What is known of a part of the courses: outcomes by number with their chances.
#[derive(Clone, Debug, Default, PartialEq)]
struct Lottery {
    chances: BTreeMap<u32, BigRational>,
    remaining: BigRational,
    /// The chance of loops that were left and are taken to go on as they did.
    presumed: BigRational,
    /// Whether a best answer was chosen on the way without knowing all of each.
    guessed: bool,
    /// The chance to be back at a point where rolls begin that do not stand, by the point's number.
    again: BTreeMap<usize, BigRational>,
    worth: BTreeMap<Arc<str>, BigRational>,
    /// What was chosen on the way as best.
    chosen: BTreeSet<(String, String)>,
}

impl Lottery {
    fn add(&mut self, part: Lottery, chance: &BigRational) {
        for (outcome, share) in part.chances {
            *self.chances.entry(outcome).or_insert_with(BigRational::zero) += share * chance;
        }
        for (seat, worth) in part.worth {
            *self.worth.entry(seat).or_insert_with(BigRational::zero) += worth * chance;
        }
        for (point, share) in part.again {
            *self.again.entry(point).or_insert_with(BigRational::zero) += share * chance;
        }
        self.remaining += part.remaining * chance;
        self.presumed += part.presumed * chance;
        self.guessed |= part.guessed;
        self.chosen.extend(part.chosen);
    }

    /// What it comes to in the end if every return to a point begins there anew: the chance of what does not return,
    /// out of itself. `None` if everything returns.
    fn settled(mut self, point: usize) -> Option<Lottery> {
        let Some(returns) = self.again.remove(&point) else { return Some(self) };
        let stands = BigRational::one() - returns;
        if stands.is_zero() {
            return None;
        }
        let mut settled = Lottery::default();
        let presumed = self.presumed.clone();
        settled.add(self, &stands.recip());
        Some(Lottery { presumed, ..settled })
    }

    /// Compares what comes of a roll with what came of the `next` like it in a loop that was left, and notes it for the
    /// `last` one before. False if they are not alike, and near enough to where the loop was left to matter.
    fn goes_on_as(&self, next: Option<(Lottery, usize)>, last: Option<&mut Gathered>) -> bool {
        let alike = |other: &Lottery, later: usize| later >= ALIKE || self.is_like(other);
        let later = next.as_ref().map_or(0, |(_, later)| later + 1);
        if next.is_some_and(|(next, later)| !alike(&next, later)) {
            return false;
        }
        match last.map(|last| &mut last.next) {
            Some(Some((known, least))) => {
                *least = later.min(*least);
                alike(known, *least)
            }
            Some(none) => {
                *none = Some((self.clone(), later));
                true
            }
            None => true,
        }
    }

    /// Whether the same comes of both, as far as is known.
    fn is_like(&self, other: &Lottery) -> bool {
        (&self.chances, &self.remaining, &self.worth) == (&other.chances, &other.remaining, &other.worth)
    }
}

/// What has been gathered at one point where courses part.
#[derive(Default)]
struct Gathered {
    sum: Lottery,
    /// The best way so far and what it is worth.
    best: Option<BigRational>,
    /// The way before, for comparison with its twin.
    before: Option<Lottery>,
    /// What came of the next roll of the same dice for the same in a loop that was left, and after how many such rolls more
    /// it was left.
    next: Option<(Lottery, usize)>,
}

enum Failure {
    Refused(Refusal),
    /// The limits were reached after so many courses.
    TooMany(u64),
    /// A loop that was left does not go on as it did.
    Uneven,
    /// A script looks at the order of faces of which only some orders are gone through.
    Order,
}

impl From<Refusal> for Failure {
    fn from(refusal: Refusal) -> Failure {
        Failure::Refused(refusal)
    }
}

/// The part of the time for loops that have no end, to be gone through in full, and once more to be left early.
const FOR_LOOPS: u32 = 5;
/// The part of the time to find out which points are alike, if going through everything takes too long; that is given up
/// from another part of the time on if so much less of it is done than has to be by then.
const FOR_ALIKE: u32 = 2;
const HOPELESS_AFTER: u32 = 8;
const HOPELESS: f64 = 0.5;
/// If going through everything takes too long, courses that roll the same again are left where they are less likely than
/// this, and ten times less likely than that, and so on as long as the limits allow.
const FIRST_LEFT: f64 = 1e-2;
/// Rolls of one sort on a course, at least and at most, before a loop is left and taken to go on as it did, if going through
/// everything takes too long: more where what comes first is not alike.
const REPEATS: std::ops::RangeInclusive<usize> = 1..=3;
/// Rolls in a row, before the one at which a loop is left, of which the same must come for that.
const ALIKE: usize = 2;
/// So often rolls may fail to stand on one course that is gone by a plan.
const MOST_AGAIN: usize = 1_000;
/// With more than this left out it is no answer.
const MOST_LEFT: (i64, i64) = (1, 100);
/// Nor with more than this taken to go on as what was seen.
const MOST_PRESUMED: (i64, i64) = (1, 8);

/// What is to be found out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Detail {
    Outcomes,
    /// Only what it is worth.
    Worth,
}

/// Goes through everything that the open action of a game can come to. The game is as before afterwards.
///
/// # Errors
///
/// A sentence: the fault of a script, an answer that does not fit, or more courses than the limits allow.
pub(crate) fn explore(game: &mut Game, vm: &mut Vm, query: &OddsQuery, seats: &[Arc<str>]) -> Result<Odds, Refusal> {
    explore_for(game, vm, query, seats, Detail::Outcomes)
}

/// As [`explore`], without a word on what the outcomes are.
pub(crate) fn explore_worth(
    game: &mut Game,
    vm: &mut Vm,
    query: &OddsQuery,
    seats: &[Arc<str>],
) -> Result<Odds, Refusal> {
    explore_for(game, vm, query, seats, Detail::Worth)
}

fn explore_for(
    game: &mut Game,
    vm: &mut Vm,
    query: &OddsQuery,
    seats: &[Arc<str>],
    detail: Detail,
) -> Result<Odds, Refusal> {
    if game.open.is_none() {
        return Err(Refusal::new("no action is open whose odds could be told"));
    }
    let mut walk = Walk::new(query.given.clone(), query.against.clone(), query.answering.clone());
    let blind = query.blind.clone().unwrap_or_default();
    let all_seen = query.blind.is_none();
    let hidden = move |seat: &str| !all_seen && blind.contains(seat);
    let seated = game.desk.seats.clone();
    let listening = std::mem::replace(&mut game.desk.listening, detail == Detail::Outcomes);
    game.desk.state.renew_identity();
    let began = Instant::now();
    // What is best has to be known for each course.
    let may_be_alike = query.answering != Answering::Best && detail == Detail::Outcomes;
    let hopeless = began.checked_add(query.limits.time / HOPELESS_AFTER).filter(|_| may_be_alike);
    let mut with_explorer = |walk: &mut Walk, patience: Patience, ends: [Option<Instant>; 2], how: How| {
        walk.restart(patience);
        let lent = std::mem::replace(walk, Walk::new(Vec::new(), None, Answering::Default));
        game.desk.walk = Some(Box::new(lent));
        let explorer = Explorer {
            game,
            vm,
            query,
            seats,
            detail,
            deadline: ends[0],
            loop_deadline: ends[1],
            hopeless,
            hidden: &hidden,
            numbers: HashMap::new(),
            outcomes: Vec::new(),
            courses: 0,
            ends: Vec::new(),
            end_numbers: HashMap::new(),
            sorts: Vec::new(),
            sort_numbers: HashMap::new(),
        };
        let found = match how {
            How::Each => explorer.all(),
            How::Alike => explorer.alike(),
        };
        *walk = *game.desk.walk.take().expect("it was put there above");
        found
    };
    // Each time it is known of one more roll that it begins no turn of a loop.
    let mut go = |walk: &mut Walk, patience: Patience, ends: [Option<Instant>; 2], how: How| loop {
        match with_explorer(walk, patience, ends, how) {
            Err(Failure::Uneven) => {}
            found => break found,
        }
    };
    let loop_time = query.limits.time / FOR_LOOPS;
    // What has no end is gone through in full at once or never.
    let first_loop_time = if may_be_alike { loop_time / 4 } else { loop_time };
    let ends = [began.checked_add(query.limits.time), began.checked_add(first_loop_time)];
    // What is chosen as best depends on all that is left: nothing can be presumed of it.
    let full = Patience { presumes: query.answering != Answering::Best, ..Patience::FULL };
    let mut found = go(&mut walk, full, ends, How::Each);
    if matches!(found, Err(Failure::Order)) && walk.look_at_orders() {
        found = go(&mut walk, full, ends, How::Each);
    }
    if matches!(found, Err(Failure::TooMany(_))) && may_be_alike {
        let until = Instant::now().checked_add(query.limits.time / FOR_ALIKE);
        let mut alike = go(&mut walk, full, [until; 2], How::Alike);
        if matches!(alike, Err(Failure::Order)) && walk.look_at_orders() {
            alike = go(&mut walk, full, [until; 2], How::Alike);
        }
        match alike {
            Ok(odds) if odds.remaining <= ratio(MOST_LEFT.0, MOST_LEFT.1) => found = Ok(odds),
            Err(Failure::Refused(refusal)) => found = Err(Failure::Refused(refusal)),
            _ => {}
        }
    }
    if matches!(found, Err(Failure::TooMany(_))) && walk.longest > 0 && detail == Detail::Outcomes {
        let mut repeats = *REPEATS.start();
        let mut presumes = full.presumes && walk.is_endless();
        let mut mass = FIRST_LEFT;
        let most = |most: (i64, i64)| ratio(most.0, most.1);
        walk.forget_uneven();
        let from = Instant::now();
        let [half, all] = [loop_time / 3 * 2, loop_time].map(|time| from.checked_add(time));
        while all.is_some_and(|all| Instant::now() < all) {
            let patience = Patience { repeats: if presumes { repeats } else { 0 }, mass, presumes };
            // What is left of the time if this comes to nothing is for doing without.
            let until = if presumes && found.is_err() { half } else { all };
            match go(&mut walk, patience, [until; 2], How::Each) {
                Ok(odds) if presumes && odds.presumed.is_zero() && !odds.remaining.is_zero() => {
                    // What comes before a loop may look like it: one turn more may show it.
                    repeats += 1;
                    presumes = walk.forget_uneven() && REPEATS.contains(&repeats);
                    continue;
                }
                Ok(odds) if odds.remaining <= most(MOST_LEFT) && odds.presumed <= most(MOST_PRESUMED) => {
                    found = Ok(odds);
                }
                Ok(_) => {}
                Err(Failure::TooMany(_)) if presumes && found.is_err() => {
                    presumes = false;
                    continue;
                }
                Err(Failure::TooMany(_)) => break,
                Err(other) => {
                    found = Err(other);
                    break;
                }
            }
            mass /= 10.0;
        }
    }
    game.desk.state.rollback(0);
    game.desk.events.clear();
    game.desk.stop = None;
    game.desk.listening = listening;
    game.desk.state.renew_identity();
    game.desk.seats = seated;
    let odds = match found {
        Ok(odds) => odds,
        Err(Failure::Refused(refusal)) => return Err(refusal),
        Err(Failure::Uneven) => unreachable!("it is gone through again then"),
        Err(Failure::Order) => {
            return Err(Refusal::failing(
                "a script looks at the order of more faces than can be gone through; roll fewer dice at a time",
            ));
        }
        Err(Failure::TooMany(courses)) => {
            return Err(Refusal::failing(format!(
                "it can go more than {courses} ways, too many to go through; `sim` plays it out instead, and dice of which a \
                 script sees only what it needs (rb.under, rb.at_least, rb.band) part into fewer"
            )));
        }
    };
    let topics = query.given.iter().map(|given| given.topic.as_str()).chain(query.against.as_ref().map(|_| ""));
    let unasked: Vec<String> = topics.filter(|topic| !walk.used.contains(*topic)).map(String::from).collect();
    if let (Some(topic), false) = (unasked.first(), query.lenient) {
        return Err(Refusal::new(match (topic.as_str(), &query.against) {
            ("", Some(against)) => format!("nothing here is asked that {} would answer", told(against)),
            (topic, _) => format!("nothing asks for `{topic}` here"),
        }));
    }
    let answers = walk.taken.iter().map(|((topic, answer), how)| (topic.clone(), answer.clone(), *how));
    let answers = answers.chain(odds.answers.iter().cloned()).collect();
    Ok(Odds { answers, unasked, ..odds })
}

fn told(value: &Value) -> String {
    match value {
        Value::List(items) => items.iter().map(told).collect::<Vec<_>>().join(", "),
        other => other.to_string(),
    }
}

fn ratio(n: i64, d: i64) -> BigRational {
    BigRational::new(n.into(), d.into())
}

/// How an explorer goes about it.
#[derive(Clone, Copy, Debug)]
enum How {
    /// Course by course.
    Each,
    /// By finding out which points are alike.
    Alike,
}

struct Explorer<'a> {
    game: &'a mut Game,
    vm: &'a mut Vm,
    query: &'a OddsQuery,
    seats: &'a [Arc<str>],
    detail: Detail,
    /// It ends then, whatever is found by then; `None`: never.
    deadline: Option<Instant>,
    /// The same once there is a loop without end.
    loop_deadline: Option<Instant>,
    /// From then on it ends where hardly anything is gone through yet.
    hopeless: Option<Instant>,
    hidden: &'a dyn Fn(&str) -> bool,
    numbers: HashMap<Outcome, u32>,
    outcomes: Vec<Outcome>,
    /// How many courses were gone.
    courses: u64,
    /// What courses that were gone by a plan came to, each once, and the sorts of rolls on them: where points are alike.
    ends: Vec<Lottery>,
    end_numbers: HashMap<(u32, Worth), usize>,
    sorts: Vec<Vec<BigRational>>,
    sort_numbers: HashMap<(Option<*const Classes>, Arc<str>), usize>,
}

/// What a state is worth to some seats.
type Worth = Vec<(Arc<str>, BigRational)>;

/// What came of running the action once.
enum Ran {
    Whole(Lottery),
    Ended(Ended),
}

impl Explorer<'_> {
    /// Goes course by course, the innermost choice first, and gathers what comes of each on the way back.
    fn all(mut self) -> Result<Odds, Failure> {
        let most = self.query.limits.courses;
        let late = |deadline: Instant| Instant::now() > deadline;
        let mut gathered: Vec<Gathered> = Vec::new();
        let whole = loop {
            self.courses += 1;
            let walk = self.game.desk.walk.as_ref();
            let endless = walk.is_some_and(|walk| walk.is_endless());
            let deadline = if endless { self.loop_deadline } else { self.deadline };
            if self.courses > most || (self.courses.is_multiple_of(64) && deadline.is_some_and(late)) {
                return Err(Failure::TooMany(self.courses - 1));
            }
            let lags = |walk: &Walk| walk.gone().iter().all(|gone| *gone < self.least_gone());
            if self.courses.is_multiple_of(1024)
                && self.hopeless.is_some_and(late)
                && walk.is_some_and(|walk| lags(walk))
            {
                return Err(Failure::TooMany(self.courses - 1));
            }
            let mut part = self.course()?;
            let walk = self.game.desk.walk.as_mut().expect("it is there while courses are gone through");
            gathered.resize_with(walk.points.len(), Gathered::default);
            let done = loop {
                let Some(point) = walk.points.last() else { break Some(part) };
                let at_point = gathered.last_mut().expect("there is one for each point");
                at_point.take(&point.fork, point.at, part)?;
                if walk.advance() {
                    break None;
                }
                let point = walk.points.pop().expect("it is the last");
                let Gathered { sum, next, .. } = gathered.pop().expect("it is the last");
                part = sum;
                match &point.fork {
                    Fork::Roll(classes) => {
                        part.remaining += &classes.rest;
                        let Some(settled) = part.settled(walk.points.len()) else {
                            walk.note_uneven(&point);
                            return Err(Failure::Uneven);
                        };
                        part = settled;
                        let left = !part.presumed.is_zero() && part.again.is_empty() && walk.begins_turn(&point);
                        let last = walk.points.iter().rposition(|other| other.is_like(&point));
                        if left && !part.goes_on_as(next, last.map(|last| &mut gathered[last])) {
                            walk.note_uneven(&point);
                            return Err(Failure::Uneven);
                        }
                    }
                    Fork::Again => {
                        part = part.settled(walk.points.len()).ok_or_else(|| {
                            Refusal::failing("rb.again rolls for ever: its function returns nil whatever is rolled")
                        })?;
                    }
                    Fork::Answers { .. } => {}
                }
            };
            if let Some(whole) = done {
                break whole;
            }
        };
        let sum: BigRational = whole.chances.values().sum::<BigRational>() + &whole.remaining;
        if !sum.is_one() {
            return Err(Failure::Refused(Refusal::failing(format!(
                "the host itself failed: the chances sum to {sum}"
            ))));
        }
        Ok(self.odds(whole, None))
    }

    /// How much of everything has to be gone through by now for an end in time.
    fn least_gone(&self) -> f64 {
        let whole = self.query.limits.time.as_secs_f64();
        let left = self.deadline.map_or(whole, |end| end.saturating_duration_since(Instant::now()).as_secs_f64());
        HOPELESS * (1.0 - left / whole)
    }

    /// Finds out which points are alike, and from that what comes of it.
    fn alike(mut self) -> Result<Odds, Failure> {
        let Found { ends, tried, gone } = find_out(&mut self)?;
        let mut whole = Lottery::default();
        for (end, chance) in &ends {
            whole.add(std::mem::take(&mut self.ends[*end]), chance);
        }
        whole.remaining = BigRational::one() - ends.values().sum::<BigRational>();
        // In parts of a million, so that it is no less than it should be.
        let gone = ratio((gone * 1e6) as i64, 1_000_000);
        whole.presumed = (BigRational::one() - gone - &whole.remaining).max(ratio(1, 1_000_000));
        Ok(self.odds(whole, Some(tried)))
    }

    /// Goes the next course and tells what came of it.
    fn course(&mut self) -> Result<Lottery, Failure> {
        if let Some(walk) = &mut self.game.desk.walk {
            walk.begin();
        }
        let again = |point| [(point, BigRational::one())].into();
        Ok(match self.run()? {
            Ran::Whole(lottery) => lottery,
            Ran::Ended(Ended::Again(point)) => Lottery { again: again(point), ..Lottery::default() },
            Ran::Ended(Ended::Alike(point)) => {
                Lottery { again: again(point), presumed: BigRational::one(), ..Lottery::default() }
            }
            Ran::Ended(Ended::Loop | Ended::Waits) => Lottery { remaining: BigRational::one(), ..Lottery::default() },
            Ran::Ended(Ended::Refused(refusal)) => return Err(refusal.into()),
        })
    }

    /// Runs the action once and tells what came of it.
    fn run(&mut self) -> Result<Ran, Failure> {
        let run = self.game.attempt(self.vm);
        let desk = &mut self.game.desk;
        if let Err(fault) = run {
            let way = desk.walk.as_ref().map(|walk| walk.told()).unwrap_or_default();
            return Err(Refusal::failing(format!("a script fails on the way{way}: {fault}")).into());
        }
        if let Some(ended) = desk.walk.as_mut().and_then(|walk| walk.ended.take()) {
            return Ok(Ran::Ended(ended));
        }
        let cut = match desk.stop.take() {
            Some(Stop::Question) => {
                let topic = desk.questions.first().map(|question| question.topic.to_string()).unwrap_or_default();
                return Err(Refusal::new(format!("`{topic}` is left open by the policy; give an answer")).into());
            }
            Some(Stop::Cut(reason)) => Some(reason),
            _ => None,
        };
        let autos = std::mem::take(&mut desk.autos);
        for given in &self.query.given {
            for (question, answer) in autos.iter().filter(|(question, _)| *question.topic == *given.topic) {
                if given.about.is_some_and(|about| question.about != Some(about)) {
                    continue;
                }
                if question.read(&given.value)? != *answer {
                    let message = format!("{}: only {} is possible", given.topic, question.tell(answer));
                    return Err(Refusal::new(message).into());
                }
                if let Some(walk) = &mut desk.walk {
                    walk.used.insert(given.topic.clone());
                }
            }
        }
        if let (Some(against), Some(walk)) = (&self.query.against, &mut desk.walk) {
            let fits = |(question, answer): &(crate::play::Question, crate::play::Answer)| {
                !question.ask.options().is_empty() && question.read(against).as_ref() == Ok(answer)
            };
            if autos.iter().any(fits) {
                walk.used.insert(String::new());
            }
        }
        let outcome = match self.detail {
            Detail::Outcomes => Outcome::of(desk, cut.as_deref(), self.hidden),
            Detail::Worth => Outcome::default(),
        };
        let mut lottery = Lottery::default();
        let mut seats: Vec<Arc<str>> = self.seats.to_vec();
        if let Some(walk) = &desk.walk {
            for seat in walk.deciding() {
                if !seats.contains(seat) {
                    seats.push(seat.clone());
                }
            }
        }
        for seat in seats {
            let worth = self.vm.worth(desk, &seat).map_err(|fault| Refusal::failing(fault.to_string()))?;
            match worth {
                Some(worth) => {
                    lottery.worth.insert(seat, BigRational::from_integer(worth.into()));
                }
                None if self.seats.contains(&seat) => {}
                None => {
                    return Err(Refusal::new(format!(
                        "{} does not say what a state is worth: it needs `value = function(seat)` in play.luau for the best \
                         answers; take the default ones, or give them",
                        desk.rules.id()
                    ))
                    .into());
                }
            }
        }
        let number = match self.numbers.get(&outcome) {
            Some(number) => *number,
            None => {
                let number = self.outcomes.len() as u32;
                self.numbers.insert(outcome.clone(), number);
                self.outcomes.push(outcome);
                number
            }
        };
        lottery.chances.insert(number, BigRational::one());
        Ok(Ran::Whole(lottery))
    }

    /// The number of the sort of roll that a point is.
    fn sort_of(&mut self, at: usize) -> usize {
        let Some(point) = self.game.desk.walk.as_ref().and_then(|walk| walk.points.get(at)) else { return 0 };
        let classes = match &point.fork {
            Fork::Roll(classes) => Some(classes),
            Fork::Again | Fork::Answers { .. } => None,
        };
        let key = (classes.map(Arc::as_ptr), point.label.clone());
        if let Some(known) = self.sort_numbers.get(&key) {
            return *known;
        }
        let number = self.sorts.len();
        self.sorts.push(match classes {
            Some(classes) => classes.list.iter().map(|class| class.chance.clone()).collect(),
            None => vec![BigRational::one(); point.ways()],
        });
        self.sort_numbers.insert(key, number);
        number
    }

    /// The number of what a course came to.
    fn end_of(&mut self, lottery: Lottery) -> usize {
        let outcome = lottery.chances.keys().next().copied().unwrap_or_default();
        let worth = lottery.worth.iter().map(|(seat, worth)| (seat.clone(), worth.clone())).collect();
        *self.end_numbers.entry((outcome, worth)).or_insert_with(|| {
            self.ends.push(lottery);
            self.ends.len() - 1
        })
    }

    fn odds(self, whole: Lottery, borne_out: Option<u64>) -> Odds {
        let mut outcomes: Vec<(Outcome, BigRational)> = whole
            .chances
            .into_iter()
            .map(|(number, chance)| (self.outcomes[number as usize].clone(), chance))
            .collect();
        let fields = fields(&outcomes, &whole.remaining);
        leave_out_common(&mut outcomes);
        outcomes.sort_by(|(one, a), (other, b)| b.cmp(a).then_with(|| one.line().cmp(&other.line())));
        let answers = whole.chosen.into_iter().map(|(topic, answer)| (topic, answer, "the best")).collect();
        let Lottery { remaining, presumed, guessed, worth, .. } = whole;
        Odds {
            outcomes,
            fields,
            remaining,
            presumed,
            borne_out,
            guessed,
            courses: self.courses,
            answers,
            worth,
            unasked: Vec::new(),
        }
    }
}

impl Courses for Explorer<'_> {
    type Failure = Failure;

    fn go(&mut self, plan: &[usize], how: Beyond) -> Result<Course, Failure> {
        let mut plan = plan.to_vec();
        let mut beyond = Vec::new();
        // Where it comes back to a point where rolls begin that are made until they stand, it goes on from there.
        for _ in 0..MOST_AGAIN {
            self.courses += 1;
            let late = |deadline: Instant| Instant::now() > deadline;
            if self.courses > self.query.limits.courses
                || (self.courses.is_multiple_of(64) && self.deadline.is_some_and(late))
            {
                return Err(self.too_many());
            }
            if let Some(walk) = &mut self.game.desk.walk {
                walk.begin_as_planned(&plan, how);
            }
            let ran = self.run()?;
            let points = self.game.desk.walk.iter().flat_map(|walk| &walk.points);
            let mut ways: Vec<usize> = points.map(|point| point.at).collect();
            let stand = match ran {
                Ran::Whole(lottery) => Stand::Ends(self.end_of(lottery)),
                Ran::Ended(Ended::Waits) => {
                    ways.pop();
                    Stand::Waits(self.sort_of(ways.len()))
                }
                Ran::Ended(Ended::Again(point)) => {
                    beyond.extend(ways.get(plan.len()..).unwrap_or_default());
                    let rest = plan.split_off(ways.len().min(plan.len()));
                    plan = [&ways[..point], &rest].concat();
                    continue;
                }
                Ran::Ended(Ended::Refused(refusal)) => return Err(refusal.into()),
                Ran::Ended(Ended::Loop | Ended::Alike(_)) => return Err(self.too_many()),
            };
            beyond.extend(ways.get(plan.len()..).unwrap_or_default());
            return Ok(Course { ways, beyond, stand });
        }
        Err(self.too_many())
    }

    fn chances(&self, sort: usize) -> &[BigRational] {
        &self.sorts[sort]
    }

    fn too_many(&self) -> Failure {
        Failure::TooMany(self.courses)
    }

    fn out_of_order(&self) -> Failure {
        Failure::Order
    }
}

impl Gathered {
    fn take(&mut self, fork: &Fork, at: usize, mut part: Lottery) -> Result<(), Failure> {
        match fork {
            Fork::Roll(classes) => {
                if classes.list[at].twin {
                    if self.before.as_ref() != Some(&part) {
                        return Err(Failure::Order);
                    }
                } else {
                    if classes.list.get(at + 1).is_some_and(|next| next.twin) {
                        self.before = Some(part.clone());
                    }
                    self.sum.add(part, &classes.list[at].chance);
                }
            }
            Fork::Again => self.sum = part,
            Fork::Answers { seat, topic, answers, .. } => {
                let worth = part.worth.get(seat).cloned().unwrap_or_else(BigRational::zero);
                let partly = answers.len() > 1 && !(part.remaining.is_zero() && part.presumed.is_zero());
                let guessed = partly || part.guessed || self.sum.guessed;
                if self.best.as_ref().is_none_or(|best| worth > *best) {
                    if answers.len() > 1 {
                        part.chosen.insert((topic.to_string(), answers[at].1.clone()));
                    }
                    self.best = Some(worth);
                    self.sum = part;
                }
                self.sum.guessed = guessed;
            }
        }
        Ok(())
    }
}

/// What becomes of each field that changes in some outcome.
fn fields(outcomes: &[(Outcome, BigRational)], remaining: &BigRational) -> Vec<FieldOdds> {
    let mut fields: BTreeMap<(EntityId, Arc<str>), FieldOdds> = BTreeMap::new();
    // Where a value stands in the list of its field.
    let mut places: HashMap<(EntityId, &str, &Value), usize> = HashMap::new();
    let followed = BigRational::one() - remaining;
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
        let changed: BigRational = odds.to.iter().map(|(_, chance)| chance).sum();
        let stays = &followed - changed;
        if !stays.is_zero() {
            odds.to.push((odds.from.clone(), stays));
        }
        odds.to.sort_by(|(one, a), (other, b)| b.cmp(a).then_with(|| one.to_string().cmp(&other.to_string())));
        let step = |value: &Value| Some(value.as_int()? - odds.from.as_int()?);
        let steps: Option<BigRational> = odds
            .to
            .iter()
            .map(|(value, chance)| Some(BigRational::from_integer(step(value)?.into()) * chance))
            .try_fold(BigRational::zero(), |sum, part| Some(sum + part?));
        odds.expected = steps.filter(|_| !followed.is_zero()).map(|sum| sum / &followed);
    }
    list
}

/// Leaves out fields that are not told at the table and change alike in every outcome: bookkeeping.
fn leave_out_common(outcomes: &mut [(Outcome, BigRational)]) {
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

impl Odds {
    /// The outcomes in words, told apart where that takes more than what is told at the table.
    pub fn lines(&self) -> Vec<String> {
        let short: Vec<String> = self.outcomes.iter().map(|(outcome, _)| outcome.line()).collect();
        let mut times: HashMap<&str, usize> = HashMap::new();
        for line in &short {
            *times.entry(line).or_insert(0) += 1;
        }
        self.outcomes
            .iter()
            .zip(&short)
            .map(|((outcome, _), line)| {
                let alone = times[line.as_str()] == 1;
                let hidden: Vec<String> =
                    outcome.effects.iter().filter(|effect| !effect.is_shown()).map(Effect::line).collect();
                let with: Vec<&str> = outcome
                    .effects
                    .iter()
                    .filter_map(|effect| match effect {
                        Effect::Came { with, .. } if !with.is_empty() => Some(with.as_str()),
                        Effect::Attached { data, .. } => Some(data.as_str()),
                        _ => None,
                    })
                    .collect();
                let more: Vec<&str> = hidden.iter().map(String::as_str).chain(with).collect();
                let nothing = outcome.effects.iter().all(|effect| !effect.is_shown());
                match more.as_slice() {
                    [] => line.clone(),
                    more if nothing => more.join(" \u{b7} "),
                    _ if alone => line.clone(),
                    more => format!("{line} ({})", more.join(", ")),
                }
            })
            .collect()
    }

    /// Whether every course was followed to its end, and nothing is taken for granted.
    pub fn is_exact(&self) -> bool {
        self.remaining.is_zero() && self.presumed.is_zero() && !self.guessed
    }

    /// The chance of all outcomes that `fits` accepts.
    pub fn chance(&self, fits: impl Fn(&Outcome) -> bool) -> BigRational {
        self.outcomes.iter().filter(|(outcome, _)| fits(outcome)).map(|(_, chance)| chance).sum()
    }
}
