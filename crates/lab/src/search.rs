//! Information-set Monte Carlo tree search: playouts from what a seat knows, for each of its decisions.
//!
//! The search is that of Cowling, Powley and Whitehouse (2012) with a tree for each seat (MO-ISMCTS). Each playout deals anew what
//! the seat does not see, goes down the trees by UCB1, and is played to its end by the first policy of the ruleset, or by random
//! answers if there is none. A node of a seat is the history of answers that this seat has seen since the root. Dice are no part
//! of it. Playout `k` of each answer at the root has the same dice and the same deal, as in hints.

use std::collections::HashMap;
use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use super::AdviceLimits;
use super::playouts::PlayoutStart;
use super::position::{MOST, answered_behind};
use riskbreaker_dice::DiceRng;
use riskbreaker_play::{Answer, Driver, Game, Halt, MASTER, Machine, Question, Refusal, Slot, Viewer};
use riskbreaker_work::is_set;

/// How much a seat searches for each decision.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Search {
    /// Playouts for each decision: 1 to [`Search::MOST`].
    pub playouts: u32,
    /// Whether a playout stops at the horizon of the ruleset, where `value` scores it. Otherwise it is played to its end.
    pub to_horizon: bool,
}

impl Search {
    /// The largest number of playouts for a decision.
    pub const MOST: u32 = 100_000;
}

/// The weight of curiosity in UCB1, for scores from 0 to 1: that of Cowling et al.
const CURIOSITY: f64 = 0.7;
/// The share of the lead in the score of a playout that was played to its end; the rest is won, drawn or lost.
const LEAD_AT_END: f64 = 0.1;
/// The same for a playout that stops at the horizon.
const LEAD_AT_HORIZON: f64 = 0.5;
/// A node below the root becomes part of the tree after as many visits as it has answers, times this. Until then the policy
/// answers, which is better than an answer that was never tried.
const VISITS_FOR_EACH: u32 = 2;
/// Actions between two looks at the flag that stops the work, once policies play.
const SLICE: u64 = 8;
/// The streams of dice for random answers begin here: far from those of the playouts.
const RANDOM_STREAM: u64 = 3 << 61;

/// The answer that a search from what the seat knows visits most; of equal ones the one with the better score.
///
/// # Errors
///
/// No answer can be taken; looking ahead would tell what the seat may not see; `stop` was set.
pub(super) fn searched_answer(
    game: &Game,
    vm: &mut dyn Machine,
    question: &Question,
    closed: &[Arc<str>],
    search: Search,
    seed: u64,
    stop: Option<&Arc<AtomicBool>>,
) -> Result<Answer, Refusal> {
    let mut answers = question.answers(MOST).unwrap_or_default();
    answers.retain(|answer| !matches!(answer, Answer::Choice(id) if closed.contains(id)));
    if answers.len() == 1 {
        return Ok(answers.swap_remove(0));
    }
    let viewer = game.looks_ahead(Viewer::seat(&question.seat), &question.seat);
    let behind = answered_behind(game, &viewer);
    game.look_ahead(&viewer, |known| {
        if answers.is_empty() {
            return unsearched(known, vm, question);
        }
        let mut from = known.fork();
        // A seat does not know by which policy another one is played.
        for (seat, driver) in &mut from.context.answers.seats {
            if **seat != *MASTER && *driver != Driver::Absent {
                *driver = Driver::Human;
            }
        }
        let start = PlayoutStart::new(Box::new(from), question.clone(), answers, behind, seed);
        let mut tree = Tree::new(start, search);
        for _ in 0..search.playouts {
            if is_set(stop.map(|stop| &**stop)) {
                return Err(Refusal::new("it was interrupted"));
            }
            tree.play_out(vm, stop.map(|stop| &**stop));
        }
        Ok(tree.best())
    })
}

/// The answer to a question with too many answers for a search: that of the first policy, or else the default.
fn unsearched(known: &Game, vm: &mut dyn Machine, question: &Question) -> Result<Answer, Refusal> {
    let mut suggested = None;
    if let Some(policy) = known.context.rules.policies().first().cloned() {
        let mut copy = known.fork();
        copy.deal_anew(vm).map_err(Refusal::fault)?;
        if let Some(open) = &mut copy.open {
            open.questions = vec![question.clone()];
        }
        suggested = copy.suggest(vm, question.id, policy)?;
    }
    let usual = || question.usual_answer();
    suggested.or_else(usual).ok_or_else(|| Refusal::new(format!("`{}` has no answer to take", question.topic)))
}

/// A node: the seat that decides, and the history that it has seen.
type NodeKey = (Arc<str>, u64);

/// An answer at a node.
struct Arm {
    answer: Answer,
    /// Playouts in which it could be chosen.
    available: u32,
    /// Playouts in which it was chosen.
    visits: u32,
    /// Games won in them by the seat; a draw is half a game.
    won: f64,
    /// The sum of the leads of the seat.
    lead: f64,
}

#[derive(Default)]
struct Node {
    /// Visits before it became part of the tree.
    passed: u32,
    arms: Vec<Arm>,
}

/// What a playout was worth to a seat.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Score {
    won: f64,
    lead: f64,
}

struct Tree {
    start: PlayoutStart,
    search: Search,
    root: NodeKey,
    nodes: HashMap<NodeKey, Node>,
    /// The lowest and the highest lead that any seat had in any playout.
    leads: Option<(f64, f64)>,
}

/// The course of one playout.
struct Course {
    /// The nodes that were passed, with the answer chosen in each.
    path: Vec<(NodeKey, usize)>,
    /// What each seat has seen.
    seen: HashMap<Arc<str>, u64>,
    /// Answers of the action under way, by its number. Other seats know them from the next action on: which of them are published
    /// before is not noted in a playout.
    unpublished: Vec<(u32, Question, Answer)>,
    dice: DiceRng,
    /// Whether it is still in the tree.
    in_tree: bool,
}

impl Tree {
    fn new(start: PlayoutStart, search: Search) -> Tree {
        let root = (start.question.seat.clone(), 0);
        let mut node = Node::default();
        node.arms.extend(start.answers.iter().cloned().map(Arm::new));
        Tree { search, nodes: HashMap::from([(root.clone(), node)]), root, start, leads: None }
    }

    /// Plays one game and enters its scores in the nodes that it passed. A playout that cannot be finished counts as lost.
    fn play_out(&mut self, vm: &mut dyn Machine, stop: Option<&AtomicBool>) {
        let Some(root) = self.nodes.get_mut(&self.root) else { return };
        root.arms.iter_mut().for_each(|arm| arm.available += 1);
        let open: Vec<usize> = (0..root.arms.len()).collect();
        let at = self.chosen_among(&self.root, &open);
        let number = self.nodes[&self.root].arms[at].visits;
        let mut course = Course {
            path: vec![(self.root.clone(), at)],
            seen: HashMap::new(),
            unpublished: Vec::new(),
            dice: DiceRng::stream(self.start.seed, RANDOM_STREAM + u64::from(number)),
            in_tree: true,
        };
        let scores = self.follow(vm, at, number, &mut course, stop).unwrap_or_default();
        for score in scores.values() {
            let (low, high) = self.leads.unwrap_or((score.lead, score.lead));
            self.leads = Some((low.min(score.lead), high.max(score.lead)));
        }
        let lowest = self.leads.map_or(0.0, |(low, _)| low);
        for (key, at) in course.path {
            let score = scores.get(&key.0).copied().unwrap_or(Score { won: 0.0, lead: lowest });
            if let Some(arm) = self.nodes.get_mut(&key).and_then(|node| node.arms.get_mut(at)) {
                arm.visits += 1;
                arm.won += score.won;
                arm.lead += score.lead;
            }
        }
    }

    /// Plays from an answer at the root: through the tree, then to the end. `None` if the game fails.
    fn follow(
        &mut self,
        vm: &mut dyn Machine,
        at: usize,
        number: u32,
        course: &mut Course,
        stop: Option<&AtomicBool>,
    ) -> Option<HashMap<Arc<str>, Score>> {
        let (mut game, given) = self.start.opened_by_people(vm, Some(at), u64::from(number))?;
        course.note(&self.start.question, &self.start.answers[at]);
        let mut halt = game.advance(vm, 1);
        if !self.takes(&game, given.as_ref()) {
            return None;
        }
        game.context.keeps_tape = false;
        game.context.state.renew_identity();
        let horizon = game.context.rules.horizon().to_vec();
        let reached = |game: &Game| {
            let due = game.context.state.agenda().first();
            horizon.is_empty() || due.is_some_and(|entry| horizon.contains(&entry.what))
        };
        let mut left = AdviceLimits::ACTIONS;
        loop {
            match halt {
                Halt::Paused if is_set(stop) => return None,
                Halt::Paused if self.search.to_horizon && reached(&game) || left == 0 => break,
                Halt::Paused => {
                    let slice = if course.in_tree || self.search.to_horizon { 1 } else { SLICE.min(left) };
                    left -= slice;
                    halt = game.advance(vm, slice);
                }
                Halt::Over(_) => break,
                Halt::Ask => {
                    self.decide(&mut game, course)?;
                    halt = game.advance(vm, 1);
                }
                Halt::Boundary | Halt::Fault(_) => return None,
            }
        }
        self.scores(&mut game, vm)
    }

    /// Whether the action took the answer of the root. With other hidden things it may go another way.
    fn takes(&self, game: &Game, given: Option<&Slot>) -> bool {
        let place = self.start.question.id.ordinal as usize;
        let number = self.start.question.id.action;
        match game.open.as_ref().filter(|open| open.number == number) {
            Some(open) => open.tape.slots.get(place).and_then(Option::as_ref) == given,
            None => {
                let taken = game.history.last().and_then(|done| done.tape.get().slots.get(place).cloned().flatten());
                taken.as_ref() == given
            }
        }
    }

    /// Answers the first open question: by the tree, or from now on by the policy; at random if there is no policy.
    fn decide(&mut self, game: &mut Game, course: &mut Course) -> Option<()> {
        let question = game.open.as_ref()?.questions.first()?.clone();
        let mut answers = question.answers(MOST).unwrap_or_default();
        course.publish(game, question.id.action);
        let chosen = match course.in_tree {
            true => self.in_tree(&question, &answers, course),
            false => None,
        };
        let answer = match (chosen, &self.start.policy) {
            (Some(answer), _) => answer,
            (None, Some(policy)) if course.in_tree => {
                course.in_tree = false;
                let people: Vec<Arc<str>> = (game.context.answers.seats.iter())
                    .filter(|(_, driver)| **driver == Driver::Human)
                    .map(|(seat, _)| seat.clone())
                    .collect();
                for seat in people {
                    game.reseat(seat, Driver::Policy(policy.clone()));
                }
                return Some(());
            }
            // A policy that gives no answer leaves it to the default.
            (None, Some(_)) => question.usual_answer()?,
            (None, None) => {
                course.in_tree = false;
                let sides = u32::try_from(answers.len()).ok().filter(|sides| *sides > 0);
                match sides {
                    Some(sides) => answers.swap_remove(course.dice.face(sides) as usize - 1),
                    None => question.usual_answer()?,
                }
            }
        };
        course.note(&question, &answer);
        game.answer_by_program(question.id, answer).ok()
    }

    /// The answer of the tree; `None` where the playout leaves it.
    fn in_tree(&mut self, question: &Question, answers: &[Answer], course: &mut Course) -> Option<Answer> {
        if answers.is_empty() || *question.seat == *MASTER {
            return None;
        }
        let key = (question.seat.clone(), course.seen.get(&question.seat).copied().unwrap_or_default());
        let node = self.nodes.entry(key.clone()).or_default();
        if node.arms.is_empty() {
            node.passed += 1;
            if node.passed <= VISITS_FOR_EACH * answers.len() as u32 {
                return None;
            }
        }
        let mut open = Vec::with_capacity(answers.len());
        for answer in answers {
            let known = node.arms.iter().position(|arm| arm.answer == *answer);
            let at = known.unwrap_or(node.arms.len());
            if known.is_none() {
                node.arms.push(Arm::new(answer.clone()));
            }
            node.arms[at].available += 1;
            open.push(at);
        }
        let at = self.chosen_among(&key, &open);
        let answer = self.nodes[&key].arms[at].answer.clone();
        course.path.push((key, at));
        Some(answer)
    }

    /// The arm to try next, by UCB1 over those that are open: one that was never tried comes first.
    fn chosen_among(&self, key: &NodeKey, open: &[usize]) -> usize {
        let arms = &self.nodes[key].arms;
        let bound = |at: &usize| {
            let arm = &arms[*at];
            match arm.visits {
                0 => f64::INFINITY,
                visits => {
                    let curiosity = (f64::from(arm.available).ln() / f64::from(visits)).sqrt();
                    self.mean(arm) + CURIOSITY * curiosity
                }
            }
        };
        let better = |best: usize, at: &usize| if bound(at) > bound(&best) { *at } else { best };
        open.iter().skip(1).fold(open[0], better)
    }

    /// The average score of an arm, 0 to 1.
    fn mean(&self, arm: &Arm) -> f64 {
        let visits = f64::from(arm.visits.max(1));
        let weight = if self.search.to_horizon { LEAD_AT_HORIZON } else { LEAD_AT_END };
        let lead = match self.leads {
            Some((low, high)) if high > low => (arm.lead / visits - low) / (high - low),
            _ => 0.5,
        };
        (1.0 - weight) * arm.won / visits + weight * lead
    }

    /// The answer of the root with the most visits.
    fn best(&self) -> Answer {
        let arms = &self.nodes[&self.root].arms;
        let better = |best: usize, at: usize| {
            let (one, other) = (&arms[at], &arms[best]);
            let is_better = (one.visits, self.mean(one)) > (other.visits, self.mean(other));
            if is_better { at } else { best }
        };
        arms[(1..arms.len()).fold(0, better)].answer.clone()
    }

    /// What the state is worth to each seat. A seat for which the rules give no worth has no score; `None` if that is the seat
    /// that searches.
    fn scores(&self, game: &mut Game, vm: &mut dyn Machine) -> Option<HashMap<Arc<str>, Score>> {
        let seats: Vec<Arc<str>> =
            game.context.answers.seats.keys().filter(|seat| ***seat != *MASTER).cloned().collect();
        let mut worth: Vec<(Arc<str>, i64)> = Vec::with_capacity(seats.len());
        for seat in seats {
            if let Some(own) = vm.worth(&mut game.context, &seat).ok().flatten() {
                worth.push((seat, own));
            }
        }
        let scores: HashMap<Arc<str>, Score> =
            worth.iter().map(|(seat, own)| (seat.clone(), score(*own, others(&worth, seat)))).collect();
        scores.contains_key(&self.root.0).then_some(scores)
    }
}

/// The highest worth to another seat than this one.
fn others(worth: &[(Arc<str>, i64)], seat: &Arc<str>) -> Option<i64> {
    worth.iter().filter(|(other, _)| other != seat).map(|(_, worth)| *worth).max()
}

/// The score of a seat, whose worth may be compared with the highest of the others.
fn score(own: i64, others: Option<i64>) -> Score {
    let lead = own.saturating_sub(others.unwrap_or(0)) as f64;
    let won = match others.map_or(std::cmp::Ordering::Equal, |most| own.cmp(&most)) {
        std::cmp::Ordering::Greater => 1.0,
        std::cmp::Ordering::Equal => 0.5,
        std::cmp::Ordering::Less => 0.0,
    };
    Score { won, lead }
}

impl Arm {
    fn new(answer: Answer) -> Arm {
        Arm { answer, available: 0, visits: 0, won: 0.0, lead: 0.0 }
    }
}

impl Course {
    /// Adds an answer to the history of its own seat.
    fn note(&mut self, question: &Question, answer: &Answer) {
        self.learn(&question.seat, question, answer);
        self.unpublished.push((question.id.action, question.clone(), answer.clone()));
    }

    /// Adds the answers of earlier actions to the histories of the other seats that may see them.
    fn publish(&mut self, game: &Game, action: u32) {
        let (earlier, open) =
            std::mem::take(&mut self.unpublished).into_iter().partition(|(number, ..)| *number != action);
        self.unpublished = open;
        let earlier: Vec<(u32, Question, Answer)> = earlier;
        for (_, question, answer) in earlier {
            for seat in game.context.answers.seats.keys().filter(|seat| **seat != question.seat) {
                if Viewer::seat(seat).sees(&question.audience) {
                    self.learn(seat, &question, &answer);
                }
            }
        }
    }

    fn learn(&mut self, seat: &Arc<str>, question: &Question, answer: &Answer) {
        let seen = self.seen.entry(seat.clone()).or_default();
        // The hasher has fixed keys: the same history gives the same number in every run.
        let mut hasher = DefaultHasher::new();
        (*seen, &question.seat, &question.topic, question.about.map(|about| about.0)).hash(&mut hasher);
        answer.to_value().to_string().hash(&mut hasher);
        *seen = hasher.finish();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_score_counts_games_won_and_the_lead_over_the_best_of_the_others() {
        let worth: Vec<(Arc<str>, i64)> =
            [("ann", 3), ("bea", 5), ("cid", 3)].map(|(seat, own)| (seat.into(), own)).into();
        let of = |at: usize| score(worth[at].1, others(&worth, &worth[at].0));
        assert_eq!((of(0), of(1)), (Score { won: 0.0, lead: -2.0 }, Score { won: 1.0, lead: 2.0 }));
        assert_eq!(score(4, Some(4)), Score { won: 0.5, lead: 0.0 });
        // A seat alone has a lead over nobody.
        assert_eq!(score(4, None), Score { won: 0.5, lead: 4.0 });
    }
}
