//! A variable is used before it has a value.

use std::collections::{BTreeMap, BTreeSet};

use crate::control_flow::goes_on;
use crate::inference::value_type::reckons;
use crate::lint::{Example, Lint, Severity};
use crate::syntax::{local_id, text};
use crate::syntax_lints::SyntaxLints;
use riskbreaker_script::syntax::{
    AstNode, AstVisitor, BinaryOp, Block, Expression, ExpressionKind, Location, Statement, StatementView, UnaryOp,
};

pub(crate) static LINT: Lint = Lint {
    name: "no-value-yet",
    severity: Severity::Error,
    summary: "a variable is used before it has a value",
    explanation: "`local name` without a value is nil until something is assigned. Calculating with it is a \
                  fault, and reading it gives nil.",
    bad: Example::Resolve(
        r#"local sum
for n = 1, 3 do
	sum += n
end
rb.say("{}", sum)"#,
    ),
    good: Example::Resolve(
        r#"local sum = 0
for n = 1, 3 do
	sum += n
end
rb.say("{}", sum)"#,
    ),
};

impl SyntaxLints<'_> {
    /// Reports local variables that are read before they are given a value.
    pub(crate) fn read_too_early(&mut self, block: Block<'_>) {
        let mut empty: BTreeMap<u64, Declared> = BTreeMap::new();
        let mut unsure: BTreeMap<u64, Declared> = BTreeMap::new();
        for statement in block.as_slice() {
            self.reckoned_without_value(*statement, &mut unsure);
            if let StatementView::Local(local) = statement.view()
                && local.values.is_empty()
            {
                empty.extend(local.bindings.iter().map(|one| (one.id, (text(one.name), one.location))));
                continue;
            }
            if empty.is_empty() {
                continue;
            }
            let mut seen = Touched::default();
            match statement.view() {
                // The values of an assignment are evaluated first.
                StatementView::Assign(assign) => assign.values.iter().for_each(|value| value.visit(&mut seen)),
                _ => statement.visit(&mut seen),
            }
            for (id, at) in seen.read {
                if !seen.given.contains(&id)
                    && let Some((name, _)) = empty.remove(&id)
                {
                    self.tell(
                        &LINT,
                        at,
                        format!("`{name}` has no value yet"),
                        format!("write `local {name} = ...` with one"),
                    );
                }
            }
            let mut given = Touched::default();
            statement.visit(&mut given);
            if matches!(statement.view(), StatementView::If(_)) {
                let in_some_branch = |(id, _): &(&u64, &Declared)| given.given.contains(id) && !gives(*statement, **id);
                unsure.extend(empty.iter().filter(in_some_branch).map(|(id, declared)| (*id, declared.clone())));
            }
            empty.retain(|id, _| !given.given.contains(id));
        }
    }

    /// Reports arithmetic with a variable that only some branch of an `if` before gives a value. What asks for the
    /// variable first, or gives it a value, settles it.
    fn reckoned_without_value(&mut self, statement: Statement<'_>, unsure: &mut BTreeMap<u64, Declared>) {
        if unsure.is_empty() {
            return;
        }
        let values: &[Expression<'_>] = match statement.view() {
            StatementView::Local(local) => local.values,
            StatementView::Assign(assign) => assign.values,
            StatementView::CompoundAssign(assign) => &[assign.var, assign.value],
            StatementView::Return(returned) => returned.expressions,
            StatementView::Expression(called) => &[called.expr],
            StatementView::If(branch) => &[branch.condition],
            _ => {
                let mut touched = Touched::default();
                statement.visit(&mut touched);
                return unsure.retain(|id, _| !touched.read.contains_key(id) && !touched.given.contains(id));
            }
        };
        let mut operands = Operands::default();
        values.iter().for_each(|value| value.visit(&mut operands));
        if let StatementView::CompoundAssign(assign) = statement.view()
            && let Some(id) = local_id(assign.var)
        {
            operands.reckoned.entry(id).or_insert(assign.var.location());
        }
        for (id, at) in operands.reckoned {
            if let Some((name, declared)) = unsure.remove(&id).filter(|_| !operands.asked.contains(&id)) {
                let wrong = format!("`{name}` has no value if no branch of the `if` before gives it one");
                self.tell(&LINT, at, wrong, format!("write `local {name} = 0` where it is declared"));
                self.changes(Location::new(declared.end, declared.end), " = 0");
            }
        }
        let mut touched = Touched::default();
        statement.visit(&mut touched);
        unsure.retain(|id, _| !operands.asked.contains(id) && !touched.given.contains(id));
    }

    /// Reports variables that are read or added to before they have a value.
    pub(crate) fn without_value(&mut self) {
        for (id, (at, name)) in std::mem::take(&mut self.empty) {
            let added = self.added.get(&id).copied();
            match (self.given.get(&id), added) {
                (None, None) if self.read.contains(&id) => {
                    self.tell(&LINT, at, format!("`{name}` never gets a value"), format!("write `local {name} = ...`"));
                }
                (given, Some(added)) if given.is_none_or(|given| added.begin < *given) => {
                    let cure = format!("write `local {name} = 0` where it is declared");
                    self.tell(&LINT, added, format!("`{name}` has no value yet"), cure);
                    self.changes(Location::new(at.end, at.end), " = 0");
                }
                _ => {}
            }
        }
    }
}

/// The local variables that a piece of code reads and assigns. Reads inside a function do not count, because it may run
/// later.
#[derive(Default)]
struct Touched {
    read: BTreeMap<u64, Location>,
    given: BTreeSet<u64>,
    /// The functions inside the piece of code.
    inside: Vec<Location>,
}

impl<'ast> AstVisitor<'ast> for Touched {
    fn visit_node(&mut self, node: AstNode<'ast>) -> bool {
        match node {
            AstNode::Statement(statement) => match statement.view() {
                StatementView::Assign(assign) => self.given.extend(assign.vars.iter().filter_map(|var| local_id(*var))),
                StatementView::CompoundAssign(assign) => self.given.extend(local_id(assign.var)),
                StatementView::FunctionDeclaration(declaration) => self.given.extend(local_id(declaration.name)),
                _ => {}
            },
            AstNode::Expression(expression) => match expression.kind() {
                ExpressionKind::FunctionLiteral(function) => self.inside.push(function.location),
                ExpressionKind::Local { local, .. } => {
                    let at = expression.location();
                    if !self.inside.iter().any(|function| function.begin <= at.begin && at.end <= function.end) {
                        self.read.entry(local.id).or_insert(at);
                    }
                }
                _ => {}
            },
        }
        true
    }
}

/// The name of a variable without a value, and where it is declared.
type Declared = (String, Location);

/// Whether a statement gives a variable a value, or ends its block, on every way through it.
fn gives(statement: Statement<'_>, id: u64) -> bool {
    match statement.view() {
        StatementView::Assign(assign) => assign.vars.iter().any(|var| local_id(*var) == Some(id)),
        StatementView::Block(block) => block.as_slice().iter().any(|inner| gives(*inner, id)),
        StatementView::If(branch) => {
            let then = branch.then_body.as_slice();
            let gives_then = then.iter().any(|inner| gives(*inner, id));
            gives_then && branch.else_body.is_some_and(|rest| gives(rest, id))
        }
        _ => !goes_on(statement),
    }
}

/// The local variables that are operands of arithmetic, and those that are asked for first: operands of `and`, `or`,
/// `not` and `==`, and conditions. Functions inside of an expression do not count.
#[derive(Default)]
struct Operands {
    reckoned: BTreeMap<u64, Location>,
    asked: BTreeSet<u64>,
}

impl<'ast> AstVisitor<'ast> for Operands {
    fn visit_node(&mut self, node: AstNode<'ast>) -> bool {
        let AstNode::Expression(expression) = node else { return false };
        match expression.kind() {
            ExpressionKind::FunctionLiteral(_) => return false,
            ExpressionKind::Binary { lhs, op, rhs } if reckons(op) => {
                for side in [lhs, rhs] {
                    if let Some(id) = local_id(side) {
                        self.reckoned.entry(id).or_insert(side.location());
                    }
                }
            }
            ExpressionKind::Binary {
                lhs,
                op: BinaryOp::And | BinaryOp::Or | BinaryOp::Equal | BinaryOp::NotEqual,
                rhs,
            } => {
                self.asked.extend([lhs, rhs].into_iter().filter_map(local_id));
            }
            ExpressionKind::Unary { op: UnaryOp::Not, rhs } => self.asked.extend(local_id(rhs)),
            ExpressionKind::If { condition, .. } => self.asked.extend(local_id(condition)),
            _ => {}
        }
        true
    }
}
