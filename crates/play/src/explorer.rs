//! The explorer: an input that takes every path of an action.
//!
//! A roll is a choice point, and so is a question whose best answer is sought. The explorer runs the action repeatedly, each time
//! along another branch, and keeps the points with their edges as a graph. Two points are merged if the whole continuation of the
//! script and the state of the game are equal there. So loops become cycles, and paths that meet share what follows.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap, HashMap};
use std::fmt;
use std::sync::Arc;

use super::context::Asking;
use super::resume_point::ResumePoint;
use super::state_bytes::{write_bytes, write_last_roll, write_state};
use super::{ActionContext, Answer, Asked, Driver, KeepPlace, Question, Refusal, SeenState, Slot, Viewer};
use riskbreaker_dice::{Dice, DiceRng, Effort, Partition, Roll, Seen, float};
use riskbreaker_state::{Audience, EntityId, Value};

/// How an exploration answers questions that have no given answer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Answering {
    /// By the default, or by the first possible answer if there is no default.
    #[default]
    Default,
    /// By the answer that is worth most to the asked seat, as the ruleset measures it.
    Best,
    /// Only as given; any other question is refused.
    Given,
    /// By a policy of the ruleset.
    Policy(Arc<str>),
    /// As the driver of the seat does: by its policy, or by the default if the seat has no policy.
    Seated,
    /// As `Seated`, but paths branch at the questions of seats that people play.
    Branched,
}

/// An answer that an exploration chose for a seat.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Assumed {
    /// The title of the entity that the question was about, or else the seat that was asked.
    pub who: Arc<str>,
    /// The topic of the question.
    pub topic: Arc<str>,
    /// The answer in words.
    pub answer: String,
    /// Where the answer came from.
    pub source: Source,
}

/// The origin of an answer that was chosen for a seat.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Source {
    /// It was given with the query.
    Given,
    /// The default of the question.
    Default,
    /// The first possible answer, since the question has no default.
    First,
    /// A policy of the ruleset, by its name.
    Policy(Arc<str>),
    /// The answer that is worth most to the asked seat.
    Best,
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Source::Given => f.write_str("given"),
            Source::Default => f.write_str("default"),
            Source::First => f.write_str("first possible"),
            Source::Policy(policy) => write!(f, "policy {policy}"),
            Source::Best => f.write_str("best"),
        }
    }
}

/// The most typed names that are corrected one by one in one look-ahead.
const MOST_RETYPED: usize = 20;

/// An answer that is given in advance.
#[derive(Clone, Debug, PartialEq)]
pub struct Given {
    /// The topic of the question.
    pub topic: String,
    /// The seat that must be asked. `None`: any seat.
    pub seat: Option<Arc<str>>,
    /// The entity that the question must be about. `None`: any.
    pub about: Option<EntityId>,
    /// The answer, as loosely as [`Session::reply`](crate::Session::reply) takes it.
    pub value: Value,
    /// True if the answer is only for the first such question, which is open now. Later equal questions are not
    /// answered by it.
    pub once: bool,
}

impl Given {
    /// An answer to one open question. It answers neither questions of other seats or about other entities, nor later
    /// ones.
    pub fn to(question: &Question, value: Value) -> Given {
        let (topic, seat) = (question.topic.to_string(), Some(question.seat.clone()));
        Given { topic, seat, about: question.about, value, once: true }
    }

    /// Looks ahead with answers as a person typed them. If one names no option exactly, the label of the only fitting
    /// option replaces it (see [`retyped`](super::retyped)), and `look` is called again.
    ///
    /// # Errors
    ///
    /// The refusal of `look`, or [`Refusal::Ambiguous`] for a name that fits several options.
    pub fn typed<T>(all: &mut [Given], mut look: impl FnMut(&[Given]) -> Result<T, Refusal>) -> Result<T, Refusal> {
        let mut left = MOST_RETYPED;
        loop {
            let refusal = match look(all) {
                Err(refusal) if left > 0 => refusal,
                told => return told,
            };
            let topic = refusal.topic().unwrap_or_default();
            let mut better = None;
            for given in all.iter_mut().filter(|given| given.topic == topic) {
                better = super::retyped(&given.value, &refusal)?.map(|value| given.value = value);
                if better.is_some() {
                    break;
                }
            }
            if better.is_none() {
                return Err(refusal);
            }
            left -= 1;
        }
    }

    /// Converts a viewer's replies, by topic, to an open question and to later ones of its action. Replies to later
    /// questions count for the seats that the viewer plays; those of the game master count for every seat.
    pub fn all(question: &Question, viewer: &Viewer, replies: impl IntoIterator<Item = (String, Value)>) -> Vec<Given> {
        let mut given = Vec::new();
        for (topic, value) in replies {
            let later = |seat| Given { topic: topic.clone(), seat, about: None, value: value.clone(), once: false };
            if topic == *question.topic {
                given.push(Given::to(question, value));
            } else if viewer.is_master() {
                given.push(later(None));
            } else {
                given.extend(viewer.names().map(|seat| later(Some(seat.clone()))));
            }
        }
        given
    }

    /// True if the answer fits a question with this seat, topic and entity.
    #[doc(hidden)]
    pub fn fits(&self, seat: &str, topic: &str, about: Option<EntityId>) -> bool {
        let is_for_seat = self.seat.as_ref().is_none_or(|own| **own == *seat);
        let is_for_entity = self.about.is_none() || self.about == about;
        self.topic == *topic && is_for_seat && is_for_entity
    }

    /// True if the answer is still unused after the answers of this run. `before`: the given answers that precede it.
    /// Of several equal answers, the first is for the first question, the second for the second.
    fn is_left(&self, before: &[Given], answered: &[Option<Slot>]) -> bool {
        let is_equal = |other: &&Given| {
            other.once && (&other.topic, &other.seat, other.about) == (&self.topic, &self.seat, self.about)
        };
        let takes = |slot: &&Slot| match slot {
            Slot::Answer { topic, seat, about, .. } => self.fits(seat, topic, *about),
            Slot::Roll { .. } | Slot::Closed { .. } => false,
        };
        !self.once || answered.iter().flatten().filter(takes).count() <= before.iter().filter(is_equal).count()
    }
}

/// Appends bytes that are equal only if the running script will continue in the same way. Otherwise returns the reason
/// why that cannot be proven.
pub type Fingerprint = fn(&mut Vec<u8>) -> Result<(), &'static str>;

/// How far an action is explored. All limits are counts, so that the same call always gives the same answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Budget {
    /// Runs of the action.
    pub runs: u64,
    /// Choice points.
    pub points: usize,
    /// Bytes of fingerprints.
    pub bytes: usize,
    /// Rolls and answers over all runs.
    pub steps: u64,
    /// Limit on the work of computing the distributions of all dice, in multiplications of two machine words.
    pub effort: u64,
}

/// The paths of one action: the choice points that were met, and the branches still to follow.
#[derive(Debug, Default)]
pub struct Explorer {
    pub given: Vec<Given>,
    /// Entities chosen in each question that has all of them among its options. Empty if the given names matched none;
    /// `None` if no names were given.
    pub against: Option<Vec<EntityId>>,
    pub answering: Answering,
    /// The viewer for whom the paths are explored: only questions that the viewer may see are reported. `None`: all
    /// are.
    pub viewer: Option<Viewer>,
    /// The seat that the look-ahead is for. Sealed questions to other seats get no best answer.
    pub asker: Option<Arc<str>>,
    /// The number of tape slots with which each run begins.
    taped: usize,
    budget: Budget,
    fingerprint: Option<Fingerprint>,
    pub points: Vec<ChoicePoint>,
    /// The target of the first edge: the first choice point, or an end.
    pub start: Edge,
    /// Points by fingerprint.
    known: HashMap<Box<[u8]>, u32>,
    bytes: usize,
    pub steps: u64,
    /// The work of these steps, in units of the script budget.
    pub work: u64,
    /// The steps and the work before the current run.
    before_run: (u64, u64),
    pub runs: u64,
    /// Branches to follow, the likeliest first: chance, point, rank of the branch.
    waiting: BinaryHeap<(u64, Reverse<u32>, Reverse<u32>)>,
    /// Postponed branches of long and unlikely paths, followed after all others.
    put_off: Vec<(u32, u32)>,
    /// The depth from which unlikely branches are postponed.
    deep: u32,
    /// The branches to take until the run meets new points.
    plan: Vec<(u32, u32)>,
    depth: usize,
    /// The point between two agenda entries at which the run begins. `None` if it begins with the open action.
    pub stage: Option<u32>,
    /// True if the run has passed the action that was open at first.
    later: bool,
    /// The branch that the current run took last.
    last: Option<(u32, u32)>,
    /// Makes resume points, once they are worth the memory; `kept_bytes` is the size of those stored.
    keep: Option<KeepPlace>,
    kept_bytes: usize,
    /// The resume point from which the current run can continue.
    resume_point: Option<Arc<ResumePoint>>,
    /// The generator if dice are rolled at random instead of enumerated; `begun_with` is its state at the start of the
    /// run.
    samples: Option<DiceRng>,
    begun_with: Option<DiceRng>,
    /// The first roll of sampled runs, with its label, as a resume point for further runs; `first_failed` counts failed
    /// resumptions.
    first_roll: Option<(Arc<ResumePoint>, Arc<str>)>,
    first_failed: u32,
    /// Rolls of the sampled run, for messages.
    rolled: Vec<(Arc<str>, String)>,
    /// The number of rolls in the sampled run.
    sampled: usize,
    pub off_plan: Option<OffPlan>,
    /// Topics of `given` that were used. `against` counts as the empty topic.
    pub used: BTreeSet<String>,
    /// The answers chosen for seats, without duplicates.
    pub taken: BTreeSet<Assumed>,
    /// The entities among the options of questions that had no given answer, by topic. Empty without `against`.
    pub offered: BTreeMap<Arc<str>, BTreeSet<EntityId>>,
    partitions: HashMap<Seen, HashMap<Dice, Arc<Ranked>>>,
    effort: Effort,
    /// The questions before the first choice point, which are the same in every run.
    asked: Vec<AskedBefore>,
    met: usize,
    /// True if a roll was made since `rb.again` last repeated its function.
    rolled_again: bool,
    /// The reasons why points could not be compared, with their counts.
    pub unproven: BTreeMap<&'static str, u64>,
    key: Vec<u8>,
    pick_label: Arc<str>,
    look_label: Arc<str>,
}

/// A partition with its branches sorted by chance.
#[derive(Debug)]
pub struct Ranked {
    pub partition: Partition,
    /// The branches, the likeliest first.
    order: Vec<u32>,
    chances: Vec<f64>,
}

/// A roll or a question at which paths branch, or the moment between two agenda entries.
#[derive(Debug)]
pub struct ChoicePoint {
    pub fork: Fork,
    /// The label of the roll, or the topic of the question.
    pub label: Arc<str>,
    /// The target of each branch.
    pub edges: Vec<Edge>,
    /// The branch before this point on the shortest known path.
    from: Option<(u32, u32)>,
    /// The highest rank among its branches that was followed.
    begun: u32,
    /// The resume point at which its branches can start.
    resume_point: Option<Arc<ResumePoint>>,
    /// True if it may have a resume point; `failed` counts failed resumptions.
    can_keep: bool,
    failed: u32,
    /// The chance of the first path to this point.
    mass: f64,
    depth: u32,
}

#[derive(Debug)]
pub enum Fork {
    Roll(Arc<Ranked>),
    /// The moment between two agenda entries, with only one branch.
    Entry,
    Answers {
        seat: Arc<str>,
        /// The title of the entity that the question is about, or else the seat. `None` if the viewer may not see the
        /// question.
        who: Option<Arc<str>>,
        topic: Arc<str>,
        answers: Vec<(Answer, String)>,
        /// What the seat sees of the state; only with [`Answering::Branched`].
        seen: Option<Arc<SeenState>>,
    },
}

/// The target of a branch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Edge {
    /// The branch was not followed.
    #[default]
    Open,
    To(u32),
    /// The end with this number.
    End(u32),
}

/// The reason why a run ended before its action did.
#[derive(Clone, Debug, PartialEq)]
pub enum OffPlan {
    /// The run reached a known point.
    Known,
    /// The run reached a moment between two agenda entries, from which other runs continue.
    Reached,
    /// The path is long and unlikely.
    Deep,
    /// There are more points, bytes or steps than the budget allows.
    Spent,
    /// A roll has too many outcomes to enumerate.
    TooWide(String),
    Refused(Refusal),
}

/// The most answers that are tried for one question.
pub(crate) const MOST_ANSWERS: usize = 200;
/// A path longer than this is postponed if it is less likely than `UNLIKELY`.
const DEEP: u32 = 400;
const UNLIKELY: f64 = 1e-13;
/// The longest path, in choice points.
const DEEPEST: u32 = 5_000;
/// A sampled run with more rolls has no end.
const LONGEST_SAMPLE: usize = 20_000;
/// The most rolls of a path, and faces of a roll, in a message.
const MOST_TOLD: usize = 20;
/// The host's work for a roll or a question.
const WORK_OF_ROLL: u64 = 150;
/// The host's work for each die.
const WORK_OF_DIE: u64 = 2;
/// The work for a byte of a fingerprint: to compute, write and compare it.
const WORK_OF_BYTE: u64 = 2;
/// The most bytes of stored resume points. Beyond, actions run from their start.
const MOST_KEPT: usize = 12 << 20;
/// How often a resume point of a roll may fail before it is no longer made: the machine drops its snapshots now and
/// then.
const MOST_FAILED: u32 = 64;

impl Fork {
    pub fn ways(&self) -> usize {
        match self {
            Fork::Roll(ranked) => ranked.partition.branches.len(),
            Fork::Answers { answers, .. } => answers.len(),
            Fork::Entry => 1,
        }
    }

    fn branch(&self, rank: u32) -> (u32, f64) {
        match self {
            Fork::Roll(ranked) => {
                let branch = ranked.order[rank as usize];
                (branch, ranked.chances[branch as usize])
            }
            Fork::Answers { .. } | Fork::Entry => (rank, 1.0),
        }
    }

    /// The chance of a branch of a roll; 1 for other points.
    fn chance(&self, branch: u32) -> f64 {
        match self {
            Fork::Roll(ranked) => ranked.chances[branch as usize],
            Fork::Answers { .. } | Fork::Entry => 1.0,
        }
    }
}

impl Explorer {
    pub fn new(
        given: Vec<Given>,
        against: Option<Vec<EntityId>>,
        answering: Answering,
        taped: usize,
        budget: Budget,
        fingerprint: Option<Fingerprint>,
    ) -> Explorer {
        Explorer {
            given,
            against,
            answering,
            taped,
            budget,
            fingerprint,
            deep: DEEP,
            effort: Effort::at_most(budget.effort),
            rolled_again: true,
            pick_label: Arc::from("a policy's pick"),
            look_label: Arc::from("the last roll"),
            ..Explorer::default()
        }
    }

    // Runs

    /// Begins the first run, or the next one along the likeliest waiting branch. Returns false if none waits.
    pub fn begin(&mut self) -> bool {
        self.renew();
        self.plan.clear();
        self.last = None;
        self.runs += 1;
        if self.runs == 1 {
            return true;
        }
        let Some((_, Reverse(point), Reverse(rank))) = self.waiting.pop() else { return false };
        self.wait(point, rank + 1);
        let at = &mut self.points[point as usize];
        at.begun = rank;
        self.resume_point =
            if rank as usize + 1 < at.fork.ways() { at.resume_point.clone() } else { at.resume_point.take() };
        if at.resume_point.is_none() {
            self.kept_bytes -= self.resume_point.as_ref().map_or(0, |resume_point| resume_point.bytes());
        }
        let (branch, _) = at.fork.branch(rank);
        self.last = Some((point, branch));
        self.plan_again();
        self.go_to_stage();
        true
    }

    /// Starts the plan at the last moment between two agenda entries on it.
    fn go_to_stage(&mut self) {
        let is_entry = |step: &(u32, u32)| matches!(self.points[step.0 as usize].fork, Fork::Entry);
        let Some(at) = self.plan.iter().rposition(is_entry) else { return };
        for (depth, (point, _)) in self.plan[..=at].iter().enumerate() {
            self.points[*point as usize].depth = depth as u32;
        }
        self.depth = at + 1;
        self.last = Some(self.plan[at]);
        (self.stage, self.later) = (Some(self.plan[at].0), true);
    }

    /// Reaches the moment between two agenda entries. Returns its point, and true if no earlier run reached it; `None`
    /// if the budget is spent.
    ///
    /// `tell`: writes bytes that identify the state of the game.
    pub fn reach_entry(&mut self, tell: impl FnOnce(&mut Vec<u8>)) -> Option<(u32, bool)> {
        self.steps += 1;
        let mut key = vec![0xfe; 8];
        tell(&mut key);
        self.tell_deciding(&mut key);
        if let Some(known) = self.known.get(key.as_slice()).copied() {
            self.meet(known);
            return Some((known, false));
        }
        if self.is_full() {
            self.off_plan = Some(OffPlan::Spent);
            return None;
        }
        // Count the state, which is stored with its key.
        self.bytes += 5 * key.len() + 4_096;
        let number = self.points.len() as u32;
        self.known.insert(key.into_boxed_slice(), number);
        let (from, mass) = self.way_here();
        self.lead_to(Edge::To(number));
        self.push(Fork::Entry, Arc::from(""), from, mass, false);
        self.wait(number, 0);
        Some((number, true))
    }

    /// True if the run has passed the action that was open at first.
    pub fn is_later(&self) -> bool {
        self.later
    }

    /// Lets a sampled run continue after an agenda entry.
    pub fn pass_entry(&mut self) {
        self.later = true;
    }

    /// The last branch of the run, and the chance of the path that ends with it.
    fn way_here(&self) -> (Option<(u32, u32)>, f64) {
        let chance = |(point, branch): (u32, u32)| {
            let at = &self.points[point as usize];
            at.mass * at.fork.chance(branch)
        };
        (self.last, self.last.map_or(1.0, chance))
    }

    fn is_full(&self) -> bool {
        self.points.len() >= self.budget.points
            || self.bytes > self.budget.bytes
            || self.steps > self.budget.steps
            || self.depth as u32 >= DEEPEST
    }

    /// Ends the run at a known point.
    fn meet(&mut self, known: u32) {
        self.lead_to(Edge::To(known));
        let point = &mut self.points[known as usize];
        // Later runs take the shorter path. It does not lead through the point itself: all points on the path of this
        // run have the depth at which the run met them.
        if (self.depth as u32) < point.depth {
            (point.from, point.depth) = (self.last, self.depth as u32);
        }
    }

    fn push(&mut self, fork: Fork, label: Arc<str>, from: Option<(u32, u32)>, mass: f64, can_keep: bool) {
        let edges = vec![Edge::Open; fork.ways()];
        self.bytes += edges.len() * 8 + 120;
        let (depth, resume_point) = (self.depth as u32, None);
        self.points.push(ChoicePoint {
            fork,
            label,
            edges,
            from,
            begun: 0,
            resume_point,
            can_keep,
            failed: 0,
            mass,
            depth,
        });
    }

    /// Plans to repeat the path taken so far.
    fn plan_again(&mut self) {
        let mut at = self.last.take();
        self.plan.clear();
        while let Some(step) = at {
            self.plan.push(step);
            at = self.points[step.0 as usize].from;
        }
        self.plan.reverse();
    }

    // Resume points

    /// Stores resume points from now on, within the memory limit.
    pub fn keep_resume_points(&mut self, keep: Option<KeepPlace>) {
        self.keep = keep;
    }

    /// The next roll of the run that has begun, and the resume point at which the run can continue with it. The run
    /// counts as if it had run from its start.
    pub fn take_up(&mut self) -> Option<(Arc<ResumePoint>, Roll)> {
        if self.samples.is_some() {
            let (resume_point, label) = self.first_roll.clone()?;
            let roll = self.sample(&resume_point.dice, &label)?;
            return Some((resume_point, roll));
        }
        let resume_point = self.resume_point.take()?;
        let step = *self.plan.last()?;
        let Fork::Roll(ranked) = &self.points[step.0 as usize].fork else { return None };
        let branch = &ranked.partition.branches[step.1 as usize];
        let roll = Roll::standing_for(&resume_point.dice, branch.total, &branch.faces);
        for (depth, (point, _)) in self.plan.iter().enumerate() {
            self.points[*point as usize].depth = depth as u32;
        }
        self.depth = self.plan.len();
        self.steps += self.plan.len() as u64;
        self.last = Some(step);
        Some((resume_point, roll))
    }

    /// Restarts a run that could not continue from a resume point. The failed attempt costs no budget: whether the
    /// machine still has a resume point depends on earlier calls.
    pub fn begin_anew(&mut self) {
        (self.steps, self.work) = self.before_run;
        if let Some(chance) = self.begun_with.clone() {
            self.first_roll = None;
            self.first_failed += 1;
            self.runs -= 1;
            self.begin_sample(chance);
            return;
        }
        // The point makes a new one when it is met again, unless resuming there often fails.
        let tried = self.plan.last().map(|(point, _)| &mut self.points[*point as usize]);
        if let Some(at) = tried {
            if let Some(resume_point) = at.resume_point.take() {
                self.kept_bytes -= resume_point.bytes();
            }
            at.failed += 1;
            at.can_keep = at.failed < MOST_FAILED;
        }
        self.plan_again();
        self.renew();
        self.go_to_stage();
    }

    /// Stores the resume point of the last roll, if other results of it are still to be followed.
    pub fn keep_resume_point(&mut self, make: impl FnOnce(KeepPlace) -> Option<ResumePoint>) {
        if self.samples.is_some() {
            if let (Some(keep), None, [(label, _)]) = (self.keep, &self.first_roll, self.rolled.as_slice())
                && self.first_failed < MOST_FAILED
                && !self.later
            {
                self.first_roll = make(keep).map(|resume_point| (Arc::new(resume_point), label.clone()));
                self.first_failed += u32::from(self.first_roll.is_none());
            }
            return;
        }
        let (Some(keep), Some((point, _))) = (self.keep, self.last) else { return };
        let at = &mut self.points[point as usize];
        let is_last = at.begun as usize + 1 >= at.fork.ways();
        if !at.can_keep
            || at.resume_point.is_some()
            || is_last
            || self.depth < self.plan.len()
            || self.kept_bytes > MOST_KEPT
        {
            return;
        }
        match make(keep) {
            Some(resume_point) => {
                self.kept_bytes += resume_point.bytes();
                at.resume_point = Some(Arc::new(resume_point));
            }
            None => at.can_keep = false,
        }
    }

    /// Begins a run with random dice. If resume points are stored, it continues from the first roll of an earlier
    /// sampled run.
    pub fn begin_sample(&mut self, chance: DiceRng) {
        self.renew();
        self.resume_point = None;
        self.runs += 1;
        self.rolled.clear();
        self.sampled = 0;
        self.begun_with = Some(chance.clone());
        self.samples = Some(chance);
    }

    /// Rolls dice at random in a sampled run. `None` ends the run.
    fn sample(&mut self, dice: &Dice, label: &Arc<str>) -> Option<Roll> {
        let chance = self.samples.as_mut()?;
        self.steps += 1;
        let roll = dice.roll_with(&mut |sides| Some(chance.face(sides)));
        self.sampled += 1;
        let Some(roll) = roll.filter(|_| self.sampled <= LONGEST_SAMPLE) else {
            self.off_plan = Some(OffPlan::Deep);
            return None;
        };
        let drawn = roll.drawn();
        self.steps += drawn.len() as u64;
        self.work += WORK_OF_ROLL + WORK_OF_DIE * drawn.len() as u64;
        if self.rolled.len() < MOST_TOLD {
            self.rolled.push((label.clone(), in_words(&drawn)));
        }
        Some(roll)
    }

    fn renew(&mut self) {
        self.before_run = (self.steps, self.work);
        self.depth = 0;
        self.met = 0;
        (self.stage, self.later) = (None, false);
        self.off_plan = None;
        self.rolled_again = true;
    }

    /// True if more runs were begun than the budget allows.
    pub fn is_spent(&self) -> bool {
        self.runs > self.budget.runs
    }

    /// Queues the postponed branches like all others. Returns false if there are none.
    pub fn resume(&mut self) -> bool {
        let put_off = std::mem::take(&mut self.put_off);
        self.deep *= 2;
        for (point, rank) in &put_off {
            let at = &self.points[*point as usize];
            let mass = at.mass * at.fork.branch(*rank).1;
            self.waiting.push((mass.to_bits(), Reverse(*point), Reverse(*rank)));
        }
        !put_off.is_empty()
    }

    /// The total chance of all branches that were not followed. Too low where paths have met: a point counts only the
    /// first path to it.
    pub fn open_mass(&self) -> f64 {
        self.points
            .iter()
            .map(|point| match &point.fork {
                Fork::Roll(ranked) => {
                    let open = point.edges.iter().zip(&ranked.chances).filter(|(edge, _)| **edge == Edge::Open);
                    point.mass * open.map(|(_, chance)| chance).sum::<f64>()
                }
                Fork::Entry if point.edges.contains(&Edge::Open) => point.mass,
                Fork::Answers { .. } | Fork::Entry => 0.0,
            })
            .sum()
    }

    /// Records the end that the finished run reached.
    pub fn end(&mut self, end: u32) {
        self.lead_to(Edge::End(end));
    }

    fn lead_to(&mut self, edge: Edge) {
        match self.last {
            Some((point, branch)) => self.points[point as usize].edges[branch as usize] = edge,
            None => self.start = edge,
        }
    }

    /// Queues a branch of a point for a later run.
    fn wait(&mut self, point: u32, rank: u32) {
        let at = &self.points[point as usize];
        if rank as usize >= at.fork.ways() {
            return;
        }
        let mass = at.mass * at.fork.branch(rank).1;
        if at.depth >= self.deep && mass < UNLIKELY {
            // All further branches are even less likely.
            self.put_off.push((point, rank));
        } else {
            self.waiting.push((mass.to_bits(), Reverse(point), Reverse(rank)));
        }
    }

    // Choice points

    /// Makes the next roll on the current path. `None` ends the run.
    ///
    /// `told`: a number for the form in which the script sees the result (total, success, band, faces and so on). It
    /// keeps points apart that have the same branches, but whose scripts get different values.
    pub fn roll(
        &mut self,
        context: &ActionContext,
        dice: &Dice,
        (seen, told): (Seen, u8),
        label: &Arc<str>,
    ) -> Option<Roll> {
        self.rolled_again = true;
        if self.samples.is_some() {
            return self.sample(dice, label);
        }
        let ranked = self.ranked(dice, seen, label)?;
        // A draw or a pick does not replace the last roll.
        let keeps_last = context.dealing || Arc::ptr_eq(label, &self.pick_label);
        let (point, branch) = self.enter(
            context,
            label,
            |fork| matches!(fork, Fork::Roll(known) if Arc::ptr_eq(known, &ranked)),
            || Fork::Roll(ranked.clone()),
            |key| {
                key.extend_from_slice(&(Arc::as_ptr(&ranked) as usize).to_le_bytes());
                key.push(told);
                if keeps_last {
                    write_last_roll(context, key);
                }
            },
        )?;
        let Fork::Roll(ranked) = &self.points[point as usize].fork else { return None };
        let branch = &ranked.partition.branches[branch as usize];
        Some(Roll::standing_for(dice, branch.total, &branch.faces))
    }

    /// Branches on the total of the last roll, of which the script has seen only how many of the `cuts` the `total` reaches.
    pub fn look(&mut self, context: &ActionContext, dice: &Dice, cuts: &[i64], total: i64) -> Option<i64> {
        let reached = cuts.iter().filter(|cut| total >= **cut).count();
        let seen = Seen::Within { cuts: cuts.to_vec(), reached };
        let label = self.look_label.clone();
        self.roll(context, dice, (seen, 0), &label).map(|roll| roll.total())
    }

    /// Ends the run because it looks at a roll that fingerprints do not cover: merged points may differ in it.
    pub fn refuse_look(&mut self) {
        self.refuse("rb.last_roll reads a roll that is not the latest one, or is not called by its full name: such paths cannot be enumerated");
    }

    /// True if equal points are merged.
    pub fn merges(&self) -> bool {
        self.fingerprint.is_some()
    }

    /// True if dice are rolled at random instead of enumerated.
    pub fn is_sampling(&self) -> bool {
        self.samples.is_some()
    }

    fn ranked(&mut self, dice: &Dice, seen: Seen, label: &str) -> Option<Arc<Ranked>> {
        if let Some(known) = self.partitions.get(&seen).and_then(|known| known.get(dice)) {
            return Some(known.clone());
        }
        let Ok(partition) = dice.partition(&seen, &mut self.effort) else {
            let what = match seen {
                Seen::Faces => "the faces of ",
                Seen::Ordered => "the faces in the order rolled of ",
                Seen::Ranks => "the ranks of ",
                _ => "",
            };
            let message = format!("there are too many results of {what}{dice} for `{}`", without_places(label));
            self.off_plan = Some(OffPlan::TooWide(message));
            return None;
        };
        let chances: Vec<f64> = partition.branches.iter().map(|branch| float(&branch.chance)).collect();
        let mut order: Vec<u32> = (0..chances.len() as u32).collect();
        order.sort_by(|one, other| chances[*other as usize].total_cmp(&chances[*one as usize]));
        let ranked = Arc::new(Ranked { partition, order, chances });
        self.partitions.entry(seen).or_default().insert(dice.clone(), ranked.clone());
        Some(ranked)
    }

    /// Notes a roll that the run takes from the tape, before its paths branch.
    pub fn note_roll(&mut self) {
        self.rolled_again = true;
    }

    /// Returns true if something was rolled since the last call. If not, `rb.again` would repeat its function for ever.
    pub fn roll_again(&mut self) -> bool {
        std::mem::take(&mut self.rolled_again)
    }

    /// Picks a number from 1 to `n`, each equally likely. `None` ends the run.
    pub fn pick(&mut self, context: &ActionContext, n: u32) -> Option<u32> {
        let dice = Dice::parse(&format!("1d{n}")).ok()?;
        let label = self.pick_label.clone();
        self.roll(context, &dice, (Seen::Total, 0), &label).map(|roll| roll.total() as u32)
    }

    /// Enters the next choice point and takes one of its branches.
    fn enter(
        &mut self,
        context: &ActionContext,
        label: &Arc<str>,
        is_like: impl FnOnce(&Fork) -> bool,
        make: impl FnOnce() -> Fork,
        tell: impl FnOnce(&mut Vec<u8>),
    ) -> Option<(u32, u32)> {
        self.steps += 1;
        self.work += WORK_OF_ROLL;
        if let Some(step) = self.plan.get(self.depth).copied() {
            if !is_like(&self.points[step.0 as usize].fork) {
                let message =
                    "the action went two ways on the same dice and answers: a script keeps something between its runs";
                self.off_plan = Some(OffPlan::Refused(Refusal::failing(message)));
                return None;
            }
            self.points[step.0 as usize].depth = self.depth as u32;
            self.depth += 1;
            self.last = Some(step);
            return Some(step);
        }
        let key = self.key_of(context, tell);
        if let Some(known) = key.as_ref().and_then(|key| self.known.get(key.as_slice())) {
            let known = *known;
            self.meet(known);
            self.off_plan = Some(OffPlan::Known);
            self.key = key.unwrap_or_default();
            return None;
        }
        let number = self.points.len() as u32;
        let (from, before) = self.way_here();
        if self.is_full() {
            self.off_plan = Some(OffPlan::Spent);
            return None;
        }
        if self.depth as u32 >= self.deep && before < UNLIKELY {
            if let Some((point, branch)) = self.last {
                let fork = &self.points[point as usize].fork;
                let rank = (0..fork.ways() as u32).find(|rank| fork.branch(*rank).0 == branch).unwrap_or_default();
                self.put_off.push((point, rank));
            }
            self.off_plan = Some(OffPlan::Deep);
            return None;
        }
        let is_known = key.is_some();
        if let Some(key) = key {
            self.bytes += key.len() + 48;
            self.known.insert(key.as_slice().into(), number);
            self.key = key;
        }
        self.lead_to(Edge::To(number));
        let fork = make();
        let (branch, _) = fork.branch(0);
        self.push(fork, label.clone(), from, before, is_known);
        self.wait(number, 1);
        self.depth += 1;
        self.last = Some((number, branch));
        Some((number, branch))
    }

    /// Computes the key of a point, which differs from those of all other points. `None` if that cannot be proven.
    fn key_of(&mut self, context: &ActionContext, tell: impl FnOnce(&mut Vec<u8>)) -> Option<Vec<u8>> {
        let Some(fingerprint) = self.fingerprint else {
            *self.unproven.entry("this machine cannot tell").or_insert(0) += 1;
            return None;
        };
        let mut key = std::mem::take(&mut self.key);
        key.clear();
        tell(&mut key);
        // The changes of an action have no meaning without the state in which it began.
        key.extend(self.stage.map_or(0, |stage| stage + 1).to_le_bytes());
        if !self.later {
            let answered = self.answered(context);
            let once = self.given.iter().enumerate().filter(|(_, given)| given.once);
            key.extend(once.map(|(at, given)| u8::from(given.is_left(&self.given[..at], answered))));
        }
        self.tell_deciding(&mut key);
        write_state(context, &mut key);
        let taken = fingerprint(&mut key);
        self.work += WORK_OF_BYTE * key.len() as u64;
        match taken {
            Ok(()) => Some(key),
            Err(why) => {
                *self.unproven.entry(why).or_insert(0) += 1;
                self.key = key;
                None
            }
        }
    }

    /// Writes the seats that made a choice on this path, if best answers are sought. The value of an end counts for
    /// them, so paths on which other seats chose are not merged.
    fn tell_deciding(&self, key: &mut Vec<u8>) {
        if self.answering == Answering::Best {
            let seats = self.deciding();
            key.push(seats.len() as u8);
            seats.into_iter().for_each(|seat| write_bytes(key, seat.as_bytes()));
        }
    }

    // Questions

    /// The next question and its answer, if no choice point precedes it and an earlier run has asked it.
    pub fn recall(&mut self) -> Option<Arc<(Question, Answer)>> {
        if !self.is_before_points() {
            return None;
        }
        let known = self.asked.get(self.met)?.clone()?;
        self.met += 1;
        Some(known)
    }

    /// True if [`Explorer::recall`] has a question to return.
    pub fn knows_next(&self) -> bool {
        self.is_before_points() && matches!(self.asked.get(self.met), Some(Some(_)))
    }

    /// The policy that answers a question, if the options of the question are not needed to decide that. Records the
    /// policy as asked.
    pub fn ask_policy<'a>(
        &'a mut self,
        driver: Option<&'a Driver>,
        (seat, topic, about): (&str, &str, Option<EntityId>),
        has_options: bool,
        before: &[Option<Slot>],
    ) -> Option<&'a Arc<str>> {
        if self.is_given(seat, topic, about, before) || (has_options && self.against.is_some()) {
            return None;
        }
        let is_before = self.is_before_points();
        self.policy_of(driver)?;
        if is_before {
            note_asked(&mut self.asked, &mut self.met, || None);
        }
        self.policy_of(driver)
    }

    /// The policy that answers for a seat with this driver.
    pub fn policy_of<'a>(&'a self, driver: Option<&'a Driver>) -> Option<&'a Arc<str>> {
        match (&self.answering, driver) {
            (Answering::Policy(policy), _)
            | (Answering::Seated | Answering::Branched, Some(Driver::Policy(policy))) => Some(policy),
            // After the open action, policies answer for their seats.
            (Answering::Default, Some(Driver::Policy(policy))) if self.later => Some(policy),
            _ => None,
        }
    }

    /// True if an answer was given for the question. `before`: the tape up to the question.
    pub fn is_given(&self, seat: &str, topic: &str, about: Option<EntityId>, before: &[Option<Slot>]) -> bool {
        let answered = before.get(self.taped..).unwrap_or_default();
        self.left(answered, about).any(|given| given.fits(seat, topic, about))
    }

    /// The given answers that are unused and may answer a question about an entity. After the open action, they are
    /// only for the entity of that action.
    fn left<'g>(&'g self, answered: &'g [Option<Slot>], about: Option<EntityId>) -> impl Iterator<Item = &'g Given> {
        let is_own = !self.later || self.is_actor(about);
        let all = self.given.iter().enumerate().filter(move |_| is_own);
        let is_left = move |at: usize, one: &Given| match self.later {
            true => !one.once,
            false => one.is_left(&self.given[..at], answered),
        };
        all.filter(move |(at, one)| is_left(*at, one)).map(|(_, one)| one)
    }

    /// True if the open question is about this entity.
    fn is_actor(&self, about: Option<EntityId>) -> bool {
        let actor = self.given.iter().find(|given| given.once).and_then(|given| given.about);
        about.is_some() && about == actor
    }

    /// The answers of this run after the tape with which it began.
    fn answered<'c>(&self, context: &'c ActionContext) -> &'c [Option<Slot>] {
        context.before_cursor().get(self.taped..).unwrap_or_default()
    }

    /// Records the question just asked. `None`: a policy answers it.
    pub fn remember(&mut self, answered: Option<(&Question, &Answer)>) {
        if self.is_before_points() {
            let known = || answered.map(|(question, answer)| Arc::new((question.clone(), answer.clone())));
            note_asked(&mut self.asked, &mut self.met, known);
        }
    }

    /// True if no choice point was met yet.
    fn is_before_points(&self) -> bool {
        self.depth == 0 && self.rolled.is_empty() && !self.later
    }

    /// Ends the run.
    fn refuse(&mut self, message: impl Into<String>) -> Option<Asked> {
        self.off_plan = Some(OffPlan::Refused(Refusal::new(message)));
        None
    }

    /// Decides how a question on this path is answered. `None` ends the run.
    pub fn answer(&mut self, context: &ActionContext, question: &Question) -> Option<Asked> {
        match self.given_answer(context, question) {
            Ok(None) => {}
            Ok(Some(answer)) => return Some(Asked::Answered(answer)),
            Err(refusal) => {
                self.off_plan = Some(OffPlan::Refused(refusal));
                return None;
            }
        }
        let topic = &question.topic;
        let driver = context.seats.get(&question.seat);
        if let Some(policy) = self.policy_of(driver) {
            return Some(Asked::Policy(policy.clone()));
        }
        let source = match &self.answering {
            Answering::Branched if driver == Some(&Driver::Human) => return self.best_answer(context, question),
            Answering::Seated | Answering::Branched => match driver {
                Some(Driver::Absent) if question.default.is_some() => Source::Default,
                _ => return self.refuse(format!("nobody answers `{topic}`, which is asked of {}", question.seat)),
            },
            Answering::Given => {
                let (seat, why) = (&question.seat, &question.why);
                return self.refuse(format!("`{topic}` is asked of {seat} and has no answer: {why}"));
            }
            // A seat that answers under seal does not know the answers of others, and a best answer would use them.
            Answering::Best if question.sealed && self.asker.as_ref().is_some_and(|own| *own != question.seat) => {
                if question.default.is_some() {
                    Source::Default
                } else {
                    Source::First
                }
            }
            Answering::Best => return self.best_answer(context, question),
            Answering::Default if question.default.is_some() => Source::Default,
            Answering::Default | Answering::Policy(_) => Source::First,
        };
        let Some(answer) = question.usual_answer() else {
            return self.refuse(format!("`{topic}` has no default answer; give one"));
        };
        self.note_taken(context, &Asking::of(question), &question.audience, question.tell(&answer), source);
        Some(Asked::Answered(answer))
    }

    fn given_answer(&mut self, context: &ActionContext, question: &Question) -> Result<Option<Answer>, Refusal> {
        let answered = self.answered(context);
        let fits = |given: &&Given| given.fits(&question.seat, &question.topic, question.about);
        // Prefer an answer that names the entity, then one that names the seat.
        let fitting = self.left(answered, question.about).filter(fits);
        let found = fitting.min_by_key(|given| (given.about.is_none(), given.seat.is_none()));
        // An answer given for now may be impossible later.
        let read = |given: &Given| match question.read(&given.value) {
            Err(_) if self.later => None,
            read => Some((given.topic.clone(), given.once, read)),
        };
        if let Some((topic, once, answer)) = found.and_then(read) {
            let answer = answer?;
            self.used.insert(topic);
            // The answer to the open question itself is the one whose odds are asked for.
            if !once {
                self.note_taken(
                    context,
                    &Asking::of(question),
                    &question.audience,
                    question.tell(&answer),
                    Source::Given,
                );
            }
            return Ok(Some(answer));
        }
        let named = match self.later {
            true if self.is_actor(question.about) => self.named(question).unwrap_or_default(),
            true => None,
            false => self.named(question)?,
        };
        let Some(answer) = named else { return Ok(None) };
        self.used.insert(String::new());
        self.note_taken(context, &Asking::of(question), &question.audience, question.tell(&answer), Source::Given);
        Ok(Some(answer))
    }

    /// The answer to a question by the entities in `against`. `None` if they are not all among its options, or if it takes
    /// another number of them.
    ///
    /// # Errors
    ///
    /// [`Refusal::Greyed`] if one of them cannot be chosen now.
    pub fn named(&mut self, question: &Question) -> Result<Option<Answer>, Refusal> {
        let options = question.ask.options();
        let Some(against) = self.against.as_ref().filter(|_| options.iter().any(|option| option.entity.is_some()))
        else {
            return Ok(None);
        };
        self.offered
            .entry(question.topic.clone())
            .or_default()
            .extend(options.iter().filter_map(|option| option.entity));
        let id_of = |entity: &EntityId| {
            let mut found = options.iter().filter(|option| option.entity == Some(*entity));
            let first = found.next()?;
            found.next().is_none().then(|| Value::Text(first.id.clone()))
        };
        let ids = against.iter().map(id_of).collect::<Option<Vec<_>>>();
        let Some(ids) = ids.filter(|ids| !ids.is_empty()) else { return Ok(None) };
        let reply = if let [only] = ids.as_slice() { only.clone() } else { Value::List(ids.into()) };
        match question.read(&reply) {
            Err(refusal @ Refusal::Greyed { .. }) => Err(refusal),
            read => Ok(read.ok()),
        }
    }

    /// Records an answer that was chosen for a seat, unless the viewer may not see the question.
    pub fn note_taken(
        &mut self,
        context: &ActionContext,
        asking: &Asking,
        audience: &Audience,
        answer: String,
        source: Source,
    ) {
        if !self.viewer.as_ref().is_none_or(|viewer| viewer.sees(audience)) {
            return;
        }
        let who = asking.about.map_or_else(|| asking.seat.clone(), |about| context.title(about));
        self.taken.insert(Assumed { who, topic: asking.topic.clone(), answer, source });
    }

    fn best_answer(&mut self, context: &ActionContext, question: &Question) -> Option<Asked> {
        let answers = match question.answers(MOST_ANSWERS) {
            Some(answers) => answers,
            // A free text influences no number.
            None => match question.usual_answer() {
                Some(answer) if matches!(answer, Answer::Line(_)) => vec![answer],
                _ => {
                    let topic = &question.topic;
                    return self.refuse(format!("`{topic}` has more than {MOST_ANSWERS} possible answers; give one"));
                }
            },
        };
        if answers.is_empty() {
            return self.refuse(format!("`{}` has no possible answer", question.topic));
        }
        let answers: Vec<(Answer, String)> =
            answers.into_iter().map(|answer| (answer.clone(), question.tell(&answer))).collect();
        let mut asked = format!("{:?}", (&question.seat, &question.topic, question.about)).into_bytes();
        asked.extend(answers.iter().flat_map(|(answer, _)| format!("{answer:?}").into_bytes()));
        let (seat, topic) = (question.seat.clone(), question.topic.clone());
        let seen = (self.answering == Answering::Branched).then(|| SeenState::shared(context, question));
        let is_seen = self.viewer.as_ref().is_none_or(|viewer| viewer.sees(&question.audience));
        let who = is_seen.then(|| question.about.map_or_else(|| seat.clone(), |about| context.title(about)));
        let (point, branch) = self.enter(
            context,
            &question.topic,
            |fork| matches!(fork, Fork::Answers { topic, .. } if *topic == question.topic),
            || Fork::Answers { seat, who, topic, answers, seen },
            |key| {
                key.extend_from_slice(&[0xff; 8]);
                write_bytes(key, &asked);
                write_last_roll(context, key);
            },
        )?;
        match &self.points[point as usize].fork {
            Fork::Answers { answers, .. } => Some(Asked::Answered(answers[branch as usize].0.clone())),
            Fork::Roll(_) | Fork::Entry => None,
        }
    }

    // Words

    /// The rolls and choices of the last run, such as ` (blow 7, parry yes)`. Empty if there are none.
    pub fn told(&self) -> String {
        let mut at = self.last.filter(|_| self.samples.is_none());
        let mut gone = Vec::new();
        while let Some((point, branch)) = at {
            let point = &self.points[point as usize];
            at = point.from;
            gone.push(match &point.fork {
                Fork::Roll(ranked) => {
                    let branch = &ranked.partition.branches[branch as usize];
                    let faces = &branch.faces;
                    let shown = if faces.is_empty() { branch.total.to_string() } else { in_words(faces) };
                    format!("{} {shown}", without_places(&point.label))
                }
                Fork::Answers { topic, answers, .. } => format!("{topic} {}", answers[branch as usize].1),
                Fork::Entry => continue,
            });
        }
        gone.reverse();
        gone.extend(self.rolled.iter().map(|(label, faces)| format!("{} {faces}", without_places(label))));
        let more = gone.len().saturating_sub(MOST_TOLD) + self.sampled.saturating_sub(self.rolled.len());
        if more > 0 {
            gone.truncate(MOST_TOLD);
            gone.push(format!("and {more} more"));
        }
        if gone.is_empty() { String::new() } else { format!(" ({})", gone.join(", ")) }
    }

    /// The seats that made a choice on the current path.
    pub fn deciding(&self) -> BTreeSet<&Arc<str>> {
        let mut seats = BTreeSet::new();
        let mut at = self.last;
        while let Some((point, _)) = at {
            let point = &self.points[point as usize];
            if let Fork::Answers { seat, .. } = &point.fork {
                seats.insert(seat);
            }
            at = point.from;
        }
        seats
    }
}

/// A question and its answer, or `None` if a policy answers.
type AskedBefore = Option<Arc<(Question, Answer)>>;

/// Records the next question before the first choice point, unless an earlier run has recorded it.
fn note_asked(asked: &mut Vec<AskedBefore>, met: &mut usize, known: impl FnOnce() -> AskedBefore) {
    if *met == asked.len() {
        asked.push(known());
    }
    *met += 1;
}

/// Formats faces for a message, as `3+5`.
fn in_words(faces: &[impl ToString]) -> String {
    let mut words: Vec<String> = faces.iter().take(MOST_TOLD).map(ToString::to_string).collect();
    if faces.len() > MOST_TOLD {
        words.push("…".into());
    }
    words.join("+")
}

/// Removes the placeholders `{}` from a label: one point stands for rolls whose placeholders have different values.
pub(super) fn without_places(label: &str) -> String {
    let words: Vec<&str> = label.split("{}").flat_map(str::split_whitespace).collect();
    if words.is_empty() { "a roll".to_owned() } else { words.join(" ") }
}
