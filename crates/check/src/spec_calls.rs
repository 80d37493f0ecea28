//! What a spec does with its `t`: whether it gives a position, plays and expects something.

use std::collections::BTreeMap;

use crate::syntax::{local_id, text};
use riskbreaker_script::syntax::{AstNode, Expression, ExpressionKind, Function, StatementView};

/// The methods of `t` that set up and play, and expect nothing.
const PLAYING: [&str; 14] = [
    "answer", "dice", "edit", "free", "given", "open", "play", "redo", "rules", "run", "seat", "switch", "turn", "undo",
];

/// What a function does with the `t` of a spec.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct SpecCalls {
    /// Whether it gives a position.
    gives: bool,
    /// How often it plays. What a loop plays, it plays several times.
    plays: usize,
    /// Whether it expects something, or hands `t` to a function that may expect something.
    expects: bool,
}

impl SpecCalls {
    /// Collects the calls of the methods of `t` in a function. `helpers`: what the local functions of the file do with it.
    pub fn of(function: &Function<'_>, t: u64, helpers: &BTreeMap<u64, SpecCalls>) -> SpecCalls {
        let mut calls = SpecCalls::default();
        // How often the variable occurs, and how often as the owner of a method or an argument of a known function.
        let (mut uses, mut known) = (0, 0);
        function.body.visit(&mut |node: AstNode<'_>| {
            let expression = match node {
                AstNode::Expression(expression) => expression,
                AstNode::Statement(statement) => {
                    let is_loop = matches!(
                        statement.view(),
                        StatementView::GenericFor(_) | StatementView::NumericFor(_) | StatementView::While(_)
                    );
                    calls.plays += if is_loop { 2 } else { 0 };
                    return true;
                }
            };
            uses += usize::from(local_id(expression) == Some(t));
            let ExpressionKind::Call { func, args, self_call, .. } = expression.kind() else { return true };
            match func.kind() {
                ExpressionKind::IndexName { expr, index, .. } if self_call && local_id(expr) == Some(t) => {
                    let name = text(index);
                    known += 1;
                    calls.gives |= name == "given";
                    calls.plays +=
                        usize::from(matches!(&*name, "play" | "turn" | "answer" | "free" | "run" | "undo" | "rules"));
                    let is_empty = |arg: &&Expression<'_>| matches!(arg.kind(), ExpressionKind::Table { items: [] });
                    let expects_none = name == "expect" && args.first().filter(is_empty).is_some();
                    calls.expects |= !PLAYING.contains(&&*name) && !expects_none;
                }
                ExpressionKind::Local { local, .. } => {
                    if let Some(helper) = helpers.get(&local.id) {
                        known += args.iter().filter(|arg| local_id(**arg) == Some(t)).count();
                        calls.gives |= helper.gives;
                        calls.plays += helper.plays;
                        calls.expects |= helper.expects;
                    }
                }
                ExpressionKind::Global(name) => calls.expects |= name == "error" || name == "assert",
                _ => {}
            }
            true
        });
        calls.expects |= uses != known;
        calls
    }

    /// Whether it gives a position, expects nothing and plays once at most.
    pub fn is_empty(&self) -> bool {
        self.gives && self.plays <= 1 && !self.expects
    }
}
