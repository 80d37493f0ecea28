//! The graph of a game whose free seats may answer anything.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use super::super::whole_game::{ExploredAction, GameLimits, Solver, WholeGameFailure};
use riskbreaker_dice::float;
use riskbreaker_play::{Answering, ChoicePoint, Edge, Fork, MASTER, Machine, Prepared, Refusal, SeenState};
use riskbreaker_work::is_set;

/// Every state of a game between two actions, with the ways of its next action.
pub(super) struct GameGraph {
    /// The seats but the game master's, in the order of the payoffs.
    pub seats: Vec<Arc<str>>,
    pub states: Vec<StateNode>,
    /// What results are called, by number.
    pub results: Vec<String>,
    /// Whether something is hidden from a seat that decides.
    pub is_partial: bool,
    /// Why the game was not followed to its end.
    pub limit: Option<String>,
    pub interrupted: bool,
}

/// A state between two actions.
pub(super) enum StateNode {
    Over {
        result: u32,
        /// What it is worth to each seat.
        payoff: Vec<i64>,
    },
    Goes {
        start: Edge,
        points: Vec<Point>,
    },
    /// It was not followed.
    Open,
}

/// A point at which an action branches.
pub(super) enum Point {
    Chance {
        /// Each branch with its chance.
        edges: Vec<(f64, Edge)>,
    },
    Decision(Decision),
}

/// A question of a free seat.
pub(super) struct Decision {
    /// By its place among the seats.
    pub seat: usize,
    pub topic: Arc<str>,
    /// The answers in words.
    pub answers: Vec<String>,
    pub edges: Vec<Edge>,
    pub seen: Arc<SeenState>,
}

impl GameGraph {
    /// Follows the game from its start: all states, or those that the limits allow.
    pub fn gather(
        vm: &mut dyn Machine,
        prepared: &Prepared,
        limits: GameLimits,
        interrupt: Option<&AtomicBool>,
        timeless: bool,
    ) -> Result<GameGraph, WholeGameFailure> {
        let mut solver = Solver::new(vm, prepared, limits, timeless);
        solver.contenders = prepared.seats.keys().filter(|seat| ***seat != *MASTER).cloned().collect();
        let found = GameGraph::follow(&mut solver, interrupt);
        solver.vm.end_exploring();
        found
    }

    fn follow(solver: &mut Solver, interrupt: Option<&AtomicBool>) -> Result<GameGraph, WholeGameFailure> {
        let fingerprint = solver.vm.begin_exploring();
        let kept = solver.vm.kept();
        let mut graph = GameGraph {
            seats: solver.contenders.clone(),
            states: Vec::new(),
            results: Vec::new(),
            is_partial: false,
            limit: None,
            interrupted: false,
        };
        // A new state is placed behind all others, so the list is its own queue.
        while graph.states.len() < solver.nodes.len() {
            let number = graph.states.len();
            if let Some(result) = solver.nodes[number].result {
                let payoff = std::mem::take(&mut solver.nodes[number].payoff);
                graph.states.push(StateNode::Over { result, payoff });
                continue;
            }
            if graph.limit.is_none() && !graph.interrupted {
                graph.interrupted = is_set(interrupt);
                if solver.is_spent() {
                    let states = solver.nodes.len();
                    graph.limit = Some(format!("the game has more states than the {states} that were followed"));
                }
            }
            if graph.limit.is_some() || graph.interrupted {
                graph.states.push(StateNode::Open);
                continue;
            }
            let node = match solver.explored(number as u32, Answering::Branched, fingerprint, interrupt)? {
                ExploredAction::Interrupted => {
                    graph.interrupted = true;
                    StateNode::Open
                }
                ExploredAction::Over(next) => StateNode::Goes { start: Edge::End(next), points: Vec::new() },
                ExploredAction::Ways(mut game) => {
                    let explorer =
                        game.context.take_explorer().ok_or_else(|| Refusal::failing("no way was followed"))?;
                    let (start, points) = (explorer.start, explorer.points);
                    let points = points.into_iter().map(|point| graph.point(point)).collect::<Result<_, _>>()?;
                    StateNode::Goes { start, points }
                }
            };
            graph.states.push(node);
        }
        if kept.is_some() && solver.vm.kept() != kept {
            return Err(WholeGameFailure::Unstable);
        }
        graph.results.clone_from(&solver.results);
        Ok(graph)
    }

    fn point(&mut self, point: ChoicePoint) -> Result<Point, Refusal> {
        match point.fork {
            Fork::Roll(ranked) => {
                let chances = ranked.partition.branches.iter().map(|branch| float(&branch.chance));
                let mut edges: Vec<(f64, Edge)> = chances.zip(point.edges).collect();
                let rest = float(&ranked.partition.rest);
                if rest > 0.0 {
                    edges.push((rest, Edge::Open));
                }
                Ok(Point::Chance { edges })
            }
            Fork::Entry => Ok(Point::Chance { edges: point.edges.into_iter().map(|edge| (1.0, edge)).collect() }),
            Fork::Answers { seat, topic, answers, seen, .. } => {
                let at = self.seats.iter().position(|known| *known == seat);
                let place =
                    at.ok_or_else(|| Refusal::new(format!("`{topic}` is asked of {seat}, who has no payoff")))?;
                let seen =
                    seen.ok_or_else(|| Refusal::failing("a question was followed without what its seat sees"))?;
                self.is_partial |= seen.is_partial;
                let answers = answers.into_iter().map(|(_, words)| words).collect();
                Ok(Point::Decision(Decision { seat: place, topic, answers, edges: point.edges, seen }))
            }
        }
    }

    /// The payoffs of all ends that were reached, of the seat at this place.
    pub fn payoffs(&self, seat: usize) -> impl Iterator<Item = i64> {
        self.states.iter().filter_map(move |state| match state {
            StateNode::Over { payoff, .. } => Some(payoff[seat]),
            StateNode::Goes { .. } | StateNode::Open => None,
        })
    }
}
