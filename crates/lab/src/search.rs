//! Information-set Monte Carlo search: playouts from what a seat knows, for each of its decisions.
//!
//! The search is that of Cowling, Powley and Whitehouse (2012) with a tree for each seat (MO-ISMCTS), by UCB1. Each playout deals
//! anew what the seat does not see. A node of a seat is the history of answers that this seat has seen since the root; dice are no
//! part of it. Playout `k` of each answer at the root has the same dice and the same deal. Where a playout leaves the trees, the
//! first policy of the ruleset plays all seats, or random answers if there is none.
//!
//! Another answer than that of this policy is taken only if it was better by more than the noise of the playouts. So a search with
//! few playouts is no weaker than the policy, as in rollouts of backgammon programs (Tesauro and Galperin 1996).

mod root;
mod score;

use std::collections::HashMap;
use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use self::root::Root;
use self::score::{Scale, Score, Sums, bound, others};
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
    /// How often a playout reaches the horizon of the ruleset before it stops there and is scored by `value`. `None`: it is
    /// played to its end.
    pub horizons: Option<u32>,
}

impl Search {
    /// The largest number of playouts for a decision, and of horizons in a playout.
    pub const MOST: u32 = 100_000;
}

/// A node below the root becomes part of the tree after as many visits as it has answers, times this. Until then the policy
/// answers, which is better than an answer that was never tried.
const VISITS_FOR_EACH: u32 = 2;
/// Actions between two looks at the flag that stops the work, once policies play.
const SLICE: u64 = 8;
/// The streams of dice for random answers begin here: far from those of the playouts.
const RANDOM_STREAM: u64 = 3 << 61;

/// The best answer by a search from what the seat knows.
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
    let mut answers = question.some_answers(MOST);
    answers.retain(|answer| !matches!(answer, Answer::Choice(id) if closed.contains(id)));
    if answers.len() == 1 {
        return Ok(answers.swap_remove(0));
    }
    let viewer = game.looks_ahead(Viewer::seat(&question.seat), &question.seat);
    let behind = answered_behind(game, &viewer);
    game.look_ahead(&viewer, |known| {
        let usual = usual_answer(known, vm, question, seed)?;
        if answers.is_empty() {
            let usual = usual.or_else(|| question.usual_answer());
            return usual.ok_or_else(|| Refusal::new(format!("`{}` has no answer to take", question.topic)));
        }
        let mut from = known.fork();
        // A faulty `value` would make each playout count as lost.
        vm.worth(&mut from.context, &question.seat).map_err(Refusal::fault)?;
        // A seat does not know by which policy another one is played.
        for (seat, driver) in &mut from.context.answers.seats {
            if **seat != *MASTER && *driver != Driver::Absent {
                *driver = Driver::Human;
            }
        }
        let mut root = Root::new(&answers, usual.as_ref(), search.playouts, seed);
        let start = PlayoutStart::new(Box::new(from), question.clone(), answers, behind, seed);
        let mut tree = Tree::new(start, search);
        while let Some((at, number)) = root.next(&tree.scale) {
            if is_set(stop.map(|stop| &**stop)) {
                return Err(Refusal::new("it was interrupted"));
            }
            let score = tree.play_out(vm, at, number, stop.map(|stop| &**stop));
            root.note(at, score);
        }
        Ok(tree.start.answers.swap_remove(root.best(&tree.scale)))
    })
}

/// The answer of the ruleset's first policy. `None` if it gives none, or if there is no policy.
fn usual_answer(known: &Game, vm: &mut dyn Machine, question: &Question, seed: u64) -> Result<Option<Answer>, Refusal> {
    let Some(policy) = known.context.rules.policies().first().cloned() else { return Ok(None) };
    let mut copy = known.fork();
    // The dice of the game are not the seat's to look at.
    copy.context.dice.rng = DiceRng::stream(seed, RANDOM_STREAM);
    copy.deal_anew(vm).map_err(Refusal::fault)?;
    if let Some(open) = &mut copy.open {
        open.questions = vec![question.clone()];
    }
    copy.suggest(vm, question.id, policy)
}

/// A node: the seat that decides, and the history that it has seen.
type NodeKey = (Arc<str>, u64);

/// An answer at a node below the root.
struct Arm {
    answer: Answer,
    /// Playouts in which it could be chosen.
    available: u32,
    /// The scores of the playouts in which it was chosen.
    sums: Sums,
}

#[derive(Default)]
struct Node {
    /// Visits before it became part of the tree.
    passed: u32,
    arms: Vec<Arm>,
}

struct Tree {
    start: PlayoutStart,
    search: Search,
    nodes: HashMap<NodeKey, Node>,
    scale: Scale,
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
        Tree { search, nodes: HashMap::new(), start, scale: Scale::default() }
    }

    /// Plays game `number` from an answer at the root, and enters its scores in the nodes that it passed. Returns the score of the
    /// seat that searches. A playout that cannot be finished counts as lost.
    fn play_out(&mut self, vm: &mut dyn Machine, at: usize, number: u32, stop: Option<&AtomicBool>) -> Score {
        let mut course = Course {
            path: Vec::new(),
            seen: HashMap::new(),
            unpublished: Vec::new(),
            dice: DiceRng::stream(self.start.seed, RANDOM_STREAM + u64::from(number)),
            in_tree: true,
        };
        let scores = self.follow(vm, at, number, &mut course, stop).unwrap_or_default();
        scores.values().for_each(|score| self.scale.widen(score));
        let lost = self.scale.lost();
        for (key, at) in course.path {
            let score = scores.get(&key.0).copied().unwrap_or(lost);
            if let Some(arm) = self.nodes.get_mut(&key).and_then(|node| node.arms.get_mut(at)) {
                arm.sums.add(score);
            }
        }
        scores.get(&self.start.question.seat).copied().unwrap_or(lost)
    }

    /// Plays from an answer at the root: through the tree, then by policies. `None` if the game fails.
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
        let (mut left, mut ahead) = (AdviceLimits::ACTIONS, self.search.horizons.map(u64::from));
        // A copy of a game counts its own actions.
        let mut done = 0;
        let is_over = loop {
            match halt {
                Halt::Paused if is_set(stop) => return None,
                Halt::Paused => {
                    let due = game.context.state.agenda().first();
                    let actions = game.actions - std::mem::replace(&mut done, game.actions);
                    left = left.saturating_sub(actions);
                    // Without the name of an entry, the horizon is the end of each action.
                    let reached = match horizon.as_slice() {
                        [] => actions,
                        names => u64::from(due.is_some_and(|entry| names.contains(&entry.what))),
                    };
                    ahead = ahead.map(|ahead| ahead.saturating_sub(reached));
                    if ahead == Some(0) || left == 0 {
                        break false;
                    }
                    let most = SLICE.min(left);
                    halt = match (horizon.as_slice(), ahead) {
                        _ if course.in_tree => game.advance(vm, 1),
                        (_, None) => game.advance(vm, most),
                        ([], Some(ahead)) => game.advance(vm, most.min(ahead)),
                        ([name], Some(_)) => game.advance_to(vm, most, Some(name)),
                        (_, Some(_)) => game.advance(vm, 1),
                    };
                }
                Halt::Over(_) => break true,
                Halt::Ask => {
                    self.decide(&mut game, course)?;
                    halt = game.advance(vm, 1);
                }
                Halt::Boundary | Halt::Fault(_) => return None,
            }
        };
        self.scores(&mut game, vm, is_over)
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
        let answers = question.answers(MOST).unwrap_or_default();
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
                question.drawn_answer(&mut |sides| course.dice.face(sides)).or_else(|| question.usual_answer())?
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
        let of = |at: usize| bound(arms[at].sums.average(&self.scale), arms[at].sums.games(), arms[at].available);
        let better = |best: usize, at: &usize| if of(*at) > of(best) { *at } else { best };
        open.iter().skip(1).fold(open[0], better)
    }

    /// What the state is worth to each seat. A seat for which the rules give no worth has no score; `None` if that is the seat
    /// that searches.
    fn scores(&self, game: &mut Game, vm: &mut dyn Machine, is_over: bool) -> Option<HashMap<Arc<str>, Score>> {
        let seats: Vec<Arc<str>> =
            game.context.answers.seats.keys().filter(|seat| ***seat != *MASTER).cloned().collect();
        let mut worth: Vec<(Arc<str>, i64)> = Vec::with_capacity(seats.len());
        for seat in seats {
            if let Some(own) = vm.worth(&mut game.context, &seat).ok().flatten() {
                worth.push((seat, own));
            }
        }
        let scores: HashMap<Arc<str>, Score> =
            worth.iter().map(|(seat, own)| (seat.clone(), Score::new(*own, others(&worth, seat), is_over))).collect();
        scores.contains_key(&self.start.question.seat).then_some(scores)
    }
}

impl Arm {
    fn new(answer: Answer) -> Arm {
        Arm { answer, available: 0, sums: Sums::default() }
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
