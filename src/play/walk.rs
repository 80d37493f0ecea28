//! Going through every course that an action can take: its rolls and answers are not read from anywhere, but taken one
//! after the other, class by class, until none is left.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use num_traits::ToPrimitive;

use super::{Answer, Question, Refusal};
use crate::dice::{Classes, Dice, FEW_ORDERS, MANY_ORDERS, Roll, Seen};
use crate::state::{EntityId, Value};

/// How questions are answered that are met on the way and that nobody has answered beforehand.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Answering {
    /// By the default, or where there is none by the first answer that is possible.
    #[default]
    Default,
    /// By the answer that is worth most to whoever is asked, as the ruleset measures it.
    Best,
    /// Only as given; any other question is refused.
    Given,
    /// By a policy of the ruleset.
    Policy(Arc<str>),
}

/// An answer that is given beforehand.
#[derive(Clone, Debug, PartialEq)]
pub struct Given {
    pub topic: String,
    /// Only where it is asked for this entity.
    pub about: Option<EntityId>,
    pub value: Value,
}

/// The courses of one action.
#[derive(Debug)]
pub(crate) struct Walk {
    pub given: Vec<Given>,
    /// Names for whatever question has them among its options.
    pub against: Option<Value>,
    pub answering: Answering,
    pub patience: Patience,
    /// Choices taken on the course that is gone, outermost first.
    pub points: Vec<Point>,
    /// How many of them the run under way has met.
    depth: usize,
    pub ended: Option<Ended>,
    /// Topics of `given` that were asked for; `against` counts as an empty one.
    pub used: BTreeSet<String>,
    /// What was answered for lack of an answer given: topic, answer, and where it came from.
    pub taken: BTreeMap<(String, String), &'static str>,
    /// The most rolls of one sort on one course.
    pub longest: usize,
    /// How many lists of faces are told apart by their order.
    orders: usize,
    known: HashMap<(String, Seen), Arc<Classes>>,
    /// Rolls that begin no turn of a loop: what comes of them is not the same each time.
    uneven: Vec<(Arc<Classes>, Arc<str>)>,
    /// What was asked on the course that is gone, in order, as far as the next course begins like it.
    asked: Vec<Remembered>,
    /// How many questions the run under way has met.
    met: usize,
    /// Which way it is led, where courses are not gone one after the other.
    lead: Option<Lead>,
}

/// A course that is gone by a plan.
#[derive(Debug)]
struct Lead {
    /// Which way to go at each point.
    plan: Vec<usize>,
    beyond: Beyond,
    luck: u64,
}

/// How a course is gone on with where its plan ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Beyond {
    /// It stops at the next point.
    Wait,
    /// By the chance of each way.
    ByChance,
    /// By any way, each as likely as any other.
    Evenly,
}

/// A question that was asked on a course. A course that begins like it asks the same, and need not read it anew.
#[derive(Debug)]
struct Remembered {
    /// How many points the course had met when the answer was there.
    depth: usize,
    /// `None` if a policy answered: it is asked again.
    answered: Option<Arc<(Question, Answer)>>,
}

/// Where courses part.
#[derive(Debug)]
pub(crate) struct Point {
    pub fork: Fork,
    /// Which way is gone now.
    pub at: usize,
    /// The chance to get here, for leaving courses that are as good as impossible.
    mass: f64,
    /// What is rolled or asked for.
    pub label: Arc<str>,
}

#[derive(Debug)]
pub(crate) enum Fork {
    Roll(Arc<Classes>),
    Answers {
        seat: Arc<str>,
        topic: Arc<str>,
        answers: Vec<(Answer, String)>,
    },
    /// Rolls begin here that are made until they stand: one way, and what is left of it is as likely as if they stood.
    Again,
}

/// Why a course ended before its action did.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Ended {
    /// It rolls the same again and again.
    Loop,
    /// The same, and it is taken to go on as from the point of this number, where it rolled the same the last time.
    Alike(usize),
    /// It is back where the point of this number is.
    Again(usize),
    Refused(Refusal),
    /// Its plan ends at the last point.
    Waits,
}

/// What came of a question.
pub(crate) enum Foretold {
    Answer(Answer),
    Policy(Arc<str>),
    Nothing,
}

/// When a course is left that rolls the same again and again: after so many rolls of the same sort, if it is less likely
/// than `mass`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Patience {
    pub repeats: usize,
    pub mass: f64,
    /// Whether what is left is taken to go on as it did.
    pub presumes: bool,
}

impl Patience {
    /// Enough to see a loop by hand to its end, as good as.
    pub const FULL: Patience = Patience { repeats: 24, mass: 1e-12, presumes: true };
}

/// Rolls of one sort that a course goes on for until another one begins a turn of its loop.
const SLACK: usize = 2;

/// Points of a course that is gone by a plan: with more it hardly comes to an end.
const MOST_POINTS: usize = 2_000;

impl Lead {
    /// Draws a way of a point.
    fn draw(&mut self, point: &Point) -> usize {
        // The steps of SplitMix64.
        self.luck = self.luck.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut word = self.luck;
        word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        let share = ((word ^ (word >> 31)) >> 11) as f64 / (1_u64 << 53) as f64;
        let ways = point.ways();
        match &point.fork {
            Fork::Roll(classes) if self.beyond == Beyond::ByChance => {
                let mut left = share;
                let chance = |at: usize| classes.list[at].chance.to_f64().unwrap_or(0.0);
                (0..ways)
                    .find(|at| {
                        left -= chance(*at);
                        left < 0.0
                    })
                    .unwrap_or(ways - 1)
            }
            _ => ((share * ways as f64) as usize).min(ways - 1),
        }
    }
}

/// Answers that are tried for one question.
pub(crate) const MOST_ANSWERS: usize = 200;

impl Point {
    pub fn ways(&self) -> usize {
        match &self.fork {
            Fork::Roll(classes) => classes.list.len(),
            Fork::Answers { answers, .. } => answers.len(),
            Fork::Again => 1,
        }
    }

    fn is_at_twin(&self) -> bool {
        match &self.fork {
            Fork::Roll(classes) => classes.list.get(self.at).is_some_and(|class| class.twin),
            Fork::Answers { .. } | Fork::Again => false,
        }
    }

    /// Whether the same dice are rolled for the same.
    pub fn is_like(&self, other: &Point) -> bool {
        match (&self.fork, &other.fork) {
            (Fork::Roll(one), Fork::Roll(two)) => Arc::ptr_eq(one, two) && self.label == other.label,
            _ => false,
        }
    }

    fn mass_beyond(&self) -> f64 {
        match &self.fork {
            Fork::Roll(classes) => self.mass * classes.list[self.at].chance.to_f64().unwrap_or(0.0),
            Fork::Answers { .. } | Fork::Again => self.mass,
        }
    }
}

impl Walk {
    pub fn new(given: Vec<Given>, against: Option<Value>, answering: Answering) -> Walk {
        Walk {
            given,
            against,
            answering,
            patience: Patience::FULL,
            points: Vec::new(),
            depth: 0,
            ended: None,
            used: BTreeSet::new(),
            taken: BTreeMap::new(),
            longest: 0,
            orders: FEW_ORDERS,
            known: HashMap::new(),
            uneven: Vec::new(),
            asked: Vec::new(),
            met: 0,
            lead: None,
        }
    }

    /// Before a run of the action that goes as planned.
    pub fn begin_as_planned(&mut self, plan: &[usize], beyond: Beyond) {
        let same = self.points.iter().zip(plan).take_while(|(point, at)| point.at == **at).count();
        self.points.truncate(same);
        self.asked.retain(|asked| asked.depth <= same);
        self.depth = 0;
        self.met = 0;
        self.ended = None;
        let lead = self.lead.get_or_insert_with(|| Lead { plan: Vec::new(), beyond, luck: 0 });
        lead.beyond = beyond;
        lead.plan.clear();
        lead.plan.extend_from_slice(plan);
    }

    /// Before each run of the action.
    pub fn begin(&mut self) {
        // The last point is gone another way now.
        let same = self.points.len().saturating_sub(1);
        self.asked.retain(|asked| asked.depth <= same);
        self.depth = 0;
        self.met = 0;
        self.ended = None;
    }

    /// Goes on to the next way of the last point; false if there is none, or no point.
    pub fn advance(&mut self) -> bool {
        let Some((point, before)) = self.points.split_last_mut() else { return false };
        point.at += 1;
        // One twin at a time: what comes of two is known from what comes of each.
        if point.is_at_twin() && before.iter().any(Point::is_at_twin) {
            while point.is_at_twin() {
                point.at += 1;
            }
        }
        point.at < point.ways()
    }

    /// How much is gone through: the part of chance, and the part of all ways if there are as many behind each.
    pub fn gone(&self) -> [f64; 2] {
        let (mut chance, mut ways, mut left) = (0.0, 0.0, 1.0);
        for point in &self.points {
            if let Fork::Roll(classes) = &point.fork {
                let before = classes.list[..point.at].iter().filter_map(|class| class.chance.to_f64());
                chance += point.mass * before.sum::<f64>();
            }
            left /= point.ways() as f64;
            ways += left * point.at as f64;
        }
        [chance, ways]
    }

    /// The next question and its answer, if the course is as the last one so far.
    pub fn recall(&mut self) -> Option<Arc<(Question, Answer)>> {
        let known = self.asked.get(self.met)?;
        let answered = known.answered.clone()?;
        self.depth = known.depth;
        self.met += 1;
        Some(answered)
    }

    /// Notes the question that was just asked; `None`: a policy is to answer it.
    pub fn remember(&mut self, answered: Option<(&Question, &Answer)>) {
        if self.met == self.asked.len() {
            let answered = answered.map(|(question, answer)| Arc::new((question.clone(), answer.clone())));
            self.asked.push(Remembered { depth: self.depth, answered });
        }
        self.met += 1;
    }

    /// Before going through everything anew with another patience for loops.
    pub fn restart(&mut self, patience: Patience) {
        self.patience = patience;
        self.points.clear();
        self.lead = None;
        self.asked.clear();
        self.taken.clear();
    }

    /// Tells more orders of faces apart from now on; false if it does so already.
    pub fn look_at_orders(&mut self) -> bool {
        self.known.clear();
        std::mem::replace(&mut self.orders, MANY_ORDERS) != MANY_ORDERS
    }

    fn refuse(&mut self, message: impl Into<String>) {
        self.ended = Some(Ended::Refused(Refusal::new(message)));
    }

    fn mass(&self) -> f64 {
        match self.depth.checked_sub(1) {
            Some(last) => self.points[last].mass_beyond(),
            None => 1.0,
        }
    }

    /// Whether the same is rolled so often on one course that there is hardly an end to it.
    pub fn is_endless(&self) -> bool {
        self.longest >= Patience::FULL.repeats
    }

    /// The roll on the course that is gone; `None` if the course ends here.
    pub fn roll(&mut self, dice: &Dice, seen: Seen, label: &Arc<str>) -> Option<Roll> {
        let at = self.enter(label, |walk| {
            let key = (dice.to_string(), seen.clone());
            if let Some(known) = walk.known.get(&key) {
                return Some(Fork::Roll(known.clone()));
            }
            match dice.classes(&seen, walk.orders) {
                Ok(classes) => {
                    let classes = Arc::new(classes);
                    walk.known.insert(key, classes.clone());
                    Some(Fork::Roll(classes))
                }
                Err(_) => {
                    let what = if seen == Seen::Faces { "the faces of " } else { "" };
                    let message = format!("{what}{dice} for `{label}` can come in too many ways to go through");
                    walk.ended = Some(Ended::Refused(Refusal::failing(message)));
                    None
                }
            }
        })?;
        match &self.points[at].fork {
            Fork::Roll(classes) => {
                let class = &classes.list[self.points[at].at];
                Some(Roll::standing_for(dice, class.total, &class.faces))
            }
            Fork::Answers { .. } | Fork::Again => {
                self.strayed();
                None
            }
        }
    }

    /// Before rolls that are made until they stand: the number of the point where they begin.
    pub fn begin_again(&mut self) -> Option<u32> {
        let at = self.enter(&Arc::from("again"), |_| Some(Fork::Again))?;
        match &self.points[at].fork {
            Fork::Again => Some(at as u32),
            _ => {
                self.strayed();
                None
            }
        }
    }

    /// The rolls that began at a point do not stand: the course ends, it would only go the same ways once more.
    pub fn roll_again(&mut self, place: u32) {
        self.ended = Some(Ended::Again(place as usize));
    }

    /// One of the numbers from 1 to `n`, each as likely as any other.
    pub fn pick(&mut self, n: u32) -> Option<u32> {
        let dice = Dice::parse(&format!("1d{n}")).ok()?;
        let label = Arc::from("a policy's pick");
        self.roll(&dice, Seen::Total, &label).map(|roll| roll.total() as u32)
    }

    /// Goes to the next point of the course, which `make` makes if it is a new one.
    fn enter(&mut self, label: &Arc<str>, make: impl FnOnce(&mut Walk) -> Option<Fork>) -> Option<usize> {
        if self.depth == self.points.len() {
            let fork = make(self)?;
            if self.lead.is_some() {
                return self.enter_as_planned(fork, label);
            }
            let mass = self.mass();
            let new = Point { fork, at: 0, mass, label: label.clone() };
            let same: Vec<usize> = (0..self.points.len()).filter(|at| self.points[*at].is_like(&new)).collect();
            self.longest = self.longest.max(same.len());
            if same.len() > self.patience.repeats && mass < self.patience.mass {
                let last = same.last().filter(|_| self.patience.presumes);
                match last {
                    Some(last) if self.begins_turn(&new) => {
                        self.ended = Some(Ended::Alike(*last));
                        return None;
                    }
                    // Another roll will show that the next turn begins.
                    Some(_) if same.len() <= self.patience.repeats + SLACK && self.turns() => {}
                    _ => {
                        self.ended = Some(Ended::Loop);
                        return None;
                    }
                }
            }
            self.points.push(new);
        }
        self.depth += 1;
        Some(self.depth - 1)
    }

    /// Goes on to a new point as the plan says, or as is said for what is beyond it.
    fn enter_as_planned(&mut self, fork: Fork, label: &Arc<str>) -> Option<usize> {
        let mut point = Point { fork, at: 0, mass: 1.0, label: label.clone() };
        let lead = self.lead.as_mut()?;
        let planned = lead.plan.get(self.depth).copied();
        let waits = planned.is_none() && lead.beyond == Beyond::Wait;
        point.at = match planned {
            Some(at) => at % point.ways(),
            None if waits => 0,
            None => lead.draw(&point),
        };
        self.points.push(point);
        if waits || self.depth >= MOST_POINTS {
            self.ended = Some(if waits { Ended::Waits } else { Ended::Loop });
            return None;
        }
        self.depth += 1;
        Some(self.depth - 1)
    }

    /// Whether what comes of such a roll could be the same each time.
    pub fn begins_turn(&self, point: &Point) -> bool {
        match &point.fork {
            Fork::Roll(classes) => {
                !self.uneven.iter().any(|(known, label)| Arc::ptr_eq(known, classes) && *label == point.label)
            }
            _ => false,
        }
    }

    /// Whether there are rolls on the course that could begin a turn of a loop.
    fn turns(&self) -> bool {
        let later = |at: usize| self.points[at + 1..].iter().any(|point| point.is_like(&self.points[at]));
        (0..self.points.len()).any(|at| self.begins_turn(&self.points[at]) && later(at))
    }

    /// What comes of such a roll is not the same each time.
    pub fn note_uneven(&mut self, point: &Point) {
        if let Fork::Roll(classes) = &point.fork {
            self.uneven.push((classes.clone(), point.label.clone()));
        }
    }

    /// Forgets which rolls begin no turn; false if none was known.
    pub fn forget_uneven(&mut self) -> bool {
        !std::mem::take(&mut self.uneven).is_empty()
    }

    fn strayed(&mut self) {
        let message =
            "the action went two ways on the same dice and answers: a script keeps something between its runs";
        self.ended = Some(Ended::Refused(Refusal::failing(message)));
    }

    /// The answer to a question on the course that is gone.
    pub fn answer(&mut self, question: &Question) -> Foretold {
        if let Some(found) = self.given_answer(question) {
            return found;
        }
        let topic = question.topic.to_string();
        let how = match &self.answering {
            Answering::Policy(policy) => return Foretold::Policy(policy.clone()),
            Answering::Given => {
                self.refuse(format!("`{topic}` is asked of {} and has no answer: {}", question.seat, question.why));
                return Foretold::Nothing;
            }
            Answering::Best => return self.best_answer(question),
            Answering::Default if question.default.is_some() => "the default",
            Answering::Default => "the first that is possible",
        };
        match question.default.clone().or_else(|| question.first_answer()) {
            Some(answer) => {
                self.taken.insert((topic, question.tell(&answer)), how);
                Foretold::Answer(answer)
            }
            None => {
                self.refuse(format!("`{topic}` has no answer that could be taken unasked; give one"));
                Foretold::Nothing
            }
        }
    }

    fn given_answer(&mut self, question: &Question) -> Option<Foretold> {
        let fits = |given: &&Given| given.topic == *question.topic;
        let exact = self.given.iter().filter(fits).find(|given| given.about.is_some() && given.about == question.about);
        if let Some(given) = exact.or_else(|| self.given.iter().filter(fits).find(|given| given.about.is_none())) {
            self.used.insert(given.topic.clone());
            return Some(match question.read(&given.value) {
                Ok(answer) => Foretold::Answer(answer),
                Err(refusal) => {
                    self.ended = Some(Ended::Refused(refusal));
                    Foretold::Nothing
                }
            });
        }
        let against = self.against.as_ref().filter(|_| !question.ask.options().is_empty())?;
        match question.read(against) {
            Ok(answer) => {
                self.used.insert(String::new());
                Some(Foretold::Answer(answer))
            }
            Err(refusal) if refusal.message.contains("is not open") => {
                self.refuse(refusal.message);
                Some(Foretold::Nothing)
            }
            Err(_) => None,
        }
    }

    fn best_answer(&mut self, question: &Question) -> Foretold {
        let label = question.topic.clone();
        let at = self.enter(&label, |walk| {
            let answers = match question.answers(MOST_ANSWERS) {
                Some(answers) => answers,
                // What is said in words of one's own moves no number.
                None => match question.default.clone().or_else(|| question.first_answer()) {
                    Some(answer) if matches!(answer, Answer::Line(_)) => vec![answer],
                    _ => {
                        let topic = &question.topic;
                        walk.refuse(format!("`{topic}` has more than {MOST_ANSWERS} possible answers; give one"));
                        return None;
                    }
                },
            };
            if answers.is_empty() {
                walk.refuse(format!("`{}` has no possible answer", question.topic));
                return None;
            }
            Some(Fork::Answers {
                seat: question.seat.clone(),
                topic: question.topic.clone(),
                answers: answers.into_iter().map(|answer| (answer.clone(), question.tell(&answer))).collect(),
            })
        });
        let Some(at) = at else { return Foretold::Nothing };
        match &self.points[at].fork {
            Fork::Answers { topic, answers, .. } if *topic == question.topic => {
                Foretold::Answer(answers[self.points[at].at].0.clone())
            }
            _ => {
                self.strayed();
                Foretold::Nothing
            }
        }
    }

    /// The rolls and choices of the course that is gone, such as ` (blow 7, parry yes)`; empty if there are none.
    pub fn told(&self) -> String {
        let gone = self.points[..self.depth].iter().filter_map(|point| match &point.fork {
            Fork::Roll(classes) => {
                let class = &classes.list[point.at];
                let faces: Vec<String> = class.faces.iter().map(u32::to_string).collect();
                let shown = if faces.is_empty() { class.total.to_string() } else { faces.join("+") };
                Some(format!("{} {shown}", point.label))
            }
            Fork::Answers { topic, answers, .. } => Some(format!("{topic} {}", answers[point.at].1)),
            Fork::Again => None,
        });
        match gone.collect::<Vec<_>>().as_slice() {
            [] => String::new(),
            gone => format!(" ({})", gone.join(", ")),
        }
    }

    /// The seats whose choices part the course that is gone.
    pub fn deciding(&self) -> impl Iterator<Item = &Arc<str>> {
        self.points.iter().filter_map(|point| match &point.fork {
            Fork::Answers { seat, .. } => Some(seat),
            Fork::Roll(_) | Fork::Again => None,
        })
    }
}
