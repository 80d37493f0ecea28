//! The tree of a game with hidden information, and what its seats can tell apart.

use std::collections::HashMap;
use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};
use std::rc::Rc;
use std::sync::Arc;

use super::graph::{Decision, GameGraph, Point, StateNode};
use riskbreaker_play::{Edge, Viewer};
use riskbreaker_state::Audience;

/// A node of the tree. Children come behind their parents.
pub(super) enum TreeNode {
    Chance(Vec<(f64, u32)>),
    Decision {
        set: u32,
        children: Vec<u32>,
    },
    End {
        result: u32,
        payoff: f64,
    },
    /// It was not followed.
    Cut,
}

/// Nodes between which the seat that decides cannot tell: an information set.
pub(super) struct InfoSet {
    /// By its place among the seats.
    pub seat: usize,
    pub topic: Arc<str>,
    pub answers: Vec<String>,
    /// What the seat sees.
    pub shown: Vec<(String, String)>,
    /// The answers that the seat has seen so far, the last one first.
    pub trail: Vec<String>,
    /// The last decision of the same seat before it, and its answer there.
    pub parent: Option<(u32, usize)>,
    /// How many decisions of the seat come before it.
    pub level: u32,
    pub nodes: Vec<u32>,
}

pub(super) struct GameTree {
    pub nodes: Vec<TreeNode>,
    pub sets: Vec<InfoSet>,
    /// Whether the tree has more nodes than it may have.
    pub is_cut: bool,
}

/// The answers that a seat has seen.
#[derive(Clone, Default)]
struct Seen {
    hash: u64,
    trail: Option<Rc<Trail>>,
    /// Its last decision, and the answer.
    last: Option<(u32, usize)>,
}

struct Trail {
    text: String,
    before: Option<Rc<Trail>>,
}

/// An answer of the action under way that other seats may not know yet.
#[derive(Clone)]
struct Unpublished {
    place: u32,
    seat: usize,
    topic: Arc<str>,
    answer: String,
    learns: Audience,
}

/// What is known at a place of the tree.
#[derive(Clone, Default)]
struct Knowledge {
    /// What each seat has seen.
    seen: Vec<Seen>,
    /// Answers of the action under way that were not published when a seat was asked last.
    unpublished: Vec<Unpublished>,
}

/// A place of the tree that is still to be made.
struct Task {
    node: u32,
    state: u32,
    edge: Edge,
    known: Rc<Knowledge>,
}

/// Most actions in a row without a branch.
const LONGEST: usize = 100_000;

impl GameTree {
    /// Unrolls a graph: at most `most` nodes. `payoff` gives the payoff of an end from the worths to all seats.
    pub fn of(graph: &GameGraph, most: usize, payoff: &dyn Fn(&[i64]) -> f64) -> GameTree {
        let mut tree = GameTree { nodes: vec![TreeNode::Cut], sets: Vec::new(), is_cut: false };
        let mut known: HashMap<(usize, u64, Box<[u8]>), u32> = HashMap::new();
        let seen = Rc::new(Knowledge { seen: vec![Seen::default(); graph.seats.len()], unpublished: Vec::new() });
        // The start leads to the state 0, as an end of an action does.
        let mut tasks = vec![Task { node: 0, state: 0, edge: Edge::End(0), known: seen }];
        while let Some(task) = tasks.pop() {
            if tree.nodes.len() > most {
                tree.is_cut = true;
                break;
            }
            tree.unroll(graph, task, &mut tasks, &mut known, payoff);
        }
        tree
    }

    fn unroll(
        &mut self,
        graph: &GameGraph,
        mut task: Task,
        tasks: &mut Vec<Task>,
        known: &mut HashMap<(usize, u64, Box<[u8]>), u32>,
        payoff: &dyn Fn(&[i64]) -> f64,
    ) {
        for _ in 0..LONGEST {
            match task.edge {
                Edge::Open => return,
                Edge::End(state) => match &graph.states[state as usize] {
                    StateNode::Open => return,
                    StateNode::Over { result, payoff: worth } => {
                        self.nodes[task.node as usize] = TreeNode::End { result: *result, payoff: payoff(worth) };
                        return;
                    }
                    StateNode::Goes { start, .. } => {
                        (task.state, task.edge) = (state, *start);
                        // The end of an action publishes its answers.
                        if !task.known.unpublished.is_empty() {
                            task.known = Rc::new(published(graph, &task.known, &[]));
                        }
                    }
                },
                Edge::To(point) => {
                    let StateNode::Goes { points, .. } = &graph.states[task.state as usize] else { return };
                    match &points[point as usize] {
                        Point::Decision(decision) if decision.edges.len() == 1 => task.edge = decision.edges[0],
                        Point::Chance { edges } => {
                            let mut child = |edge: Edge| self.child(&task, edge, task.known.clone(), tasks);
                            let children = edges.iter().map(|(chance, edge)| (*chance, child(*edge))).collect();
                            self.nodes[task.node as usize] = TreeNode::Chance(children);
                            return;
                        }
                        Point::Decision(decision) => return self.decide(graph, &task, decision, tasks, known),
                    }
                }
            }
        }
        self.is_cut = true;
    }

    /// Makes a node for a branch, which is unrolled later.
    fn child(&mut self, task: &Task, edge: Edge, known: Rc<Knowledge>, tasks: &mut Vec<Task>) -> u32 {
        let node = self.nodes.len() as u32;
        self.nodes.push(TreeNode::Cut);
        tasks.push(Task { node, state: task.state, edge, known });
        node
    }

    fn decide(
        &mut self,
        graph: &GameGraph,
        task: &Task,
        decision: &Decision,
        tasks: &mut Vec<Task>,
        known: &mut HashMap<(usize, u64, Box<[u8]>), u32>,
    ) {
        let now = published(graph, &task.known, &decision.seen.unpublished);
        let own = &now.seen[decision.seat];
        let mut hasher = DefaultHasher::new();
        (own.hash, &decision.topic, &decision.answers).hash(&mut hasher);
        let key = (decision.seat, hasher.finish(), decision.seen.bytes.clone());
        let set = *known.entry(key).or_insert_with(|| {
            let mut trail = Vec::new();
            let mut at = own.trail.as_ref();
            while let Some(step) = at {
                trail.push(step.text.clone());
                at = step.before.as_ref();
            }
            let level = own.last.map_or(0, |(set, _)| self.sets[set as usize].level + 1);
            self.sets.push(InfoSet {
                seat: decision.seat,
                topic: decision.topic.clone(),
                answers: decision.answers.clone(),
                shown: decision.seen.shown.clone(),
                trail,
                parent: own.last,
                level,
                nodes: Vec::new(),
            });
            self.sets.len() as u32 - 1
        });
        self.sets[set as usize].nodes.push(task.node);
        let mut children = Vec::with_capacity(decision.edges.len());
        for (at, edge) in decision.edges.iter().enumerate() {
            let after = after_answer(graph, &now, decision, (set, at));
            children.push(self.child(task, *edge, Rc::new(after), tasks));
        }
        self.nodes[task.node as usize] = TreeNode::Decision { set, children };
    }
}

/// What is known after an answer: its own seat knows it at once.
fn after_answer(graph: &GameGraph, now: &Knowledge, decision: &Decision, (set, at): (u32, usize)) -> Knowledge {
    let mut after = now.clone();
    let (topic, answer) = (decision.topic.clone(), decision.answers[at].clone());
    let own = &mut after.seen[decision.seat];
    own.learn(&graph.seats[decision.seat], &topic, &answer);
    own.last = Some((set, at));
    let (place, learns) = (decision.seen.place, decision.seen.learns.clone());
    after.unpublished.push(Unpublished { place, seat: decision.seat, topic, answer, learns });
    after
}

/// What is known once all answers are published but those in these places. A seat outside the audience of an answer learns
/// nothing.
fn published(graph: &GameGraph, known: &Knowledge, but: &[u32]) -> Knowledge {
    let mut now = Knowledge { seen: known.seen.clone(), unpublished: Vec::new() };
    for answer in &known.unpublished {
        if but.contains(&answer.place) {
            now.unpublished.push(answer.clone());
            continue;
        }
        for (place, seen) in now.seen.iter_mut().enumerate().filter(|(place, _)| *place != answer.seat) {
            if Viewer::seat(&graph.seats[place]).sees(&answer.learns) {
                seen.learn(&graph.seats[answer.seat], &answer.topic, &answer.answer);
            }
        }
    }
    now
}

impl Seen {
    fn learn(&mut self, seat: &str, topic: &str, answer: &str) {
        let mut hasher = DefaultHasher::new();
        (self.hash, seat, topic, answer).hash(&mut hasher);
        self.hash = hasher.finish();
        let text = format!("{seat}: {topic} {answer}");
        self.trail = Some(Rc::new(Trail { text, before: self.trail.take() }));
    }
}
