//! Nothing ends a loop.

use std::collections::BTreeSet;

use crate::inference::symbol::Symbol;
use crate::lint::{Example, Lint, Severity};
use crate::reader::ScriptReader;
use crate::syntax::{leaves_loop, literal, text};
use riskbreaker_script::api;
use riskbreaker_script::syntax::{AstNode, AstVisitor, Block, Expression, ExpressionKind, StatementLoop};

pub(crate) static LINT: Lint = Lint {
    name: "endless-loop",
    severity: Severity::Error,
    summary: "nothing ends a loop",
    explanation: "Nothing in the loop changes what its condition asks for, and it has no `break`. The host stops \
                  it when its budget of work is spent, and takes the action back. Change the condition in the \
                  loop, or add a `break`.",
    bad: Example::Resolve(
        r#"local n = 0
while n < 3 do
	rb.say("pull")
end"#,
    ),
    good: Example::Resolve(
        r#"local n = 0
while n < 3 do
	rb.say("pull")
	n += 1
end"#,
    ),
};

impl ScriptReader<'_> {
    /// Reports a loop that never ends: its condition uses only local variables and their members, and its body changes
    /// none of them.
    pub(crate) fn ends(&mut self, condition: Expression<'_>, body: Block<'_>) {
        let mut asked = AskedNames::default();
        if !asked.takes(condition) || asked.locals.is_empty() || leaves_loop(body) {
            return;
        }
        let mut changed = ChangeSearch { reader: self, asked: &asked, found: false };
        body.visit(&mut changed);
        // A function that the loop calls may change variables that it has captured.
        if changed.found || asked.locals.iter().any(|id| self.locals.caught.contains(id)) {
            return;
        }
        let wrong = "this loop never ends: nothing in it changes its condition".to_string();
        let cure = "change in the loop what its condition asks for, or add a `break`";
        self.problem(&LINT, condition.location(), (wrong, cure.into()));
    }

    pub(crate) fn endless(&mut self, looped: &StatementLoop<'_>, goes_on: bool, cure: &str) {
        if goes_on && !leaves_loop(looped.body) {
            self.problem(&LINT, looped.condition.location(), ("this loop never ends".into(), cure.into()));
        }
    }
}

/// Looks for anything that may change a condition. If the condition reads members, any call that may change the game
/// counts.
struct ChangeSearch<'c, 'r> {
    reader: &'c ScriptReader<'r>,
    asked: &'c AskedNames,
    found: bool,
}

impl ChangeSearch<'_, '_> {
    pub(crate) fn called(&self, func: Expression<'_>, args: &[Expression<'_>], self_call: bool) -> bool {
        if let Some(called) = self.reader.called(func, self_call) {
            return !called.signature.pure;
        }
        let ExpressionKind::IndexName { expr, index, .. } = func.kind() else {
            return !matches!(func.kind(), ExpressionKind::Global(_));
        };
        match self.reader.symbol(expr) {
            Some(Symbol::Vocabulary) => api::word(&text(index))
                .is_none_or(|word| word.acts && !matches!(word.group, api::WordGroup::Dice | api::WordGroup::Telling)),
            Some(Symbol::Library(library)) => library == "table",
            _ if self_call && matches!(&*text(index), "set" | "add" | "shift") => {
                args.first().and_then(|field| literal(*field)).is_none_or(|field| self.asked.names.contains(&field))
            }
            Some(Symbol::Entity(_)) => false,
            _ => true,
        }
    }
}

impl<'ast> AstVisitor<'ast> for ChangeSearch<'_, '_> {
    fn visit_node(&mut self, node: AstNode<'ast>) -> bool {
        self.found |= match node {
            AstNode::Statement(statement) => statement.assigned().iter().any(|target| match target.kind() {
                ExpressionKind::Local { local, .. } => self.asked.locals.contains(&local.id),
                ExpressionKind::IndexName { index, .. } => self.asked.names.contains(&text(index)),
                _ => !self.asked.names.is_empty(),
            }),
            AstNode::Expression(expression) => match expression.kind() {
                ExpressionKind::Call { func, args, self_call, .. } if !self.asked.names.is_empty() => {
                    self.called(func, args, self_call)
                }
                _ => false,
            },
        };
        !self.found
    }
}

/// The local variables in a condition, and the names of members that it reads.
#[derive(Default)]
struct AskedNames {
    locals: BTreeSet<u64>,
    names: BTreeSet<String>,
}

impl AskedNames {
    /// Collects the names in an expression. Returns false if it does more than compare and calculate with variables,
    /// members and constants.
    fn takes(&mut self, expression: Expression<'_>) -> bool {
        match expression.kind() {
            ExpressionKind::Local { local, .. } => {
                self.locals.insert(local.id);
                true
            }
            ExpressionKind::IndexName { expr, index, .. } => {
                self.names.insert(text(index));
                self.takes(expr)
            }
            ExpressionKind::Number { .. } | ExpressionKind::String { .. } | ExpressionKind::Boolean(_) => true,
            ExpressionKind::Nil => true,
            ExpressionKind::Grouped(inner) => self.takes(inner),
            ExpressionKind::Unary { op: riskbreaker_script::syntax::UnaryOp::Length, .. } => false,
            ExpressionKind::Unary { rhs, .. } => self.takes(rhs),
            ExpressionKind::Binary { lhs, rhs, .. } => self.takes(lhs) && self.takes(rhs),
            _ => false,
        }
    }
}
