//! Functions that may only read and change a variable around them: they are called once, several times or not at all.

use super::script::Reader;
use super::syntax::text;
use crate::script::syntax::{AstNode, AstVisitor, Expression, ExpressionKind, Location};

/// Changes of variables that functions around a function declare. Those of the file are another problem.
struct OuterChanges {
    /// How many functions lie around it.
    depth: usize,
    found: Vec<(String, Location)>,
}

impl OuterChanges {
    fn note(&mut self, target: Expression<'_>) {
        let changed = match target.kind() {
            ExpressionKind::IndexExpr { expr, .. } | ExpressionKind::IndexName { expr, .. } => expr,
            _ => target,
        };
        if let ExpressionKind::Local { local, upvalue: true } = changed.kind()
            && (1..=self.depth).contains(&local.function_depth)
        {
            self.found.push((text(local.name), target.location()));
        }
    }
}

impl<'ast> AstVisitor<'ast> for OuterChanges {
    fn visit_node(&mut self, node: AstNode<'ast>) -> bool {
        if let AstNode::Statement(statement) = node {
            statement.assigned().iter().for_each(|target| self.note(*target));
        }
        true
    }
}

impl Reader<'_> {
    /// A function that may only read is written down here.
    pub(super) fn changes_nothing_outside(&mut self, value: Expression<'_>, what: &str) {
        let ExpressionKind::FunctionLiteral(_) = value.kind() else { return };
        let mut changes = OuterChanges { depth: self.depth, found: Vec::new() };
        value.visit(&mut changes);
        for (name, at) in changes.found {
            let wrong = format!("{what} changes `{name}`, a variable outside it, and may only read");
            self.problem(at, (wrong, "return what it finds, and change the variable where the rule acts".into()));
        }
    }
}
