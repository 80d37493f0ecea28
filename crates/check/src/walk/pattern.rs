//! Looks for code that is valid but does nothing, or something else than it seems to, without a look at its meaning.

use crate::syntax::{is_length, literal, local_id, number, text};
use crate::syntax_lints::{PatternFinding, SyntaxLints};
use riskbreaker_script::syntax::{
    AstNode, AstVisitor, BinaryOp, Block, Expression, ExpressionKind, Function, Location, Statement, StatementIf,
    StatementLocal, StatementNumericFor, StatementView, UnaryOp,
};

/// Returns the lints of a script.
pub(crate) fn lints(root: Block<'_>, source: &str) -> Vec<PatternFinding> {
    let mut lints = SyntaxLints { lines: source.lines().collect(), ..SyntaxLints::default() };
    lints.block(root);
    root.visit(&mut lints);
    lints.without_value();
    lints.found
}

impl<'ast> AstVisitor<'ast> for SyntaxLints<'_> {
    fn visit_node(&mut self, node: AstNode<'ast>) -> bool {
        match node {
            AstNode::Statement(statement) => self.statement(statement),
            AstNode::Expression(expression) => self.expression(expression),
        }
        true
    }
}

impl SyntaxLints<'_> {
    // Statements

    pub(crate) fn block(&mut self, block: Block<'_>) {
        self.unreachable(block);
        self.read_too_early(block);
        self.returned_before(block);
        self.defined_twice(block);
        self.overwritten(block);
    }

    pub(crate) fn statement(&mut self, statement: Statement<'_>) {
        let at = statement.location();
        match statement.view() {
            StatementView::Block(block) => self.block(block),
            StatementView::If(branch) => self.branches(branch, at),
            StatementView::Return(returned) => self.gives_nothing(returned.expressions),
            StatementView::While(looped) => {
                self.does_something(looped.body, "while", at);
                self.block(looped.body);
            }
            StatementView::Repeat(looped) => self.block(looped.body),
            StatementView::GenericFor(looped) => {
                self.does_something(looped.body, "for", at);
                self.block(looped.body);
            }
            StatementView::NumericFor(looped) => {
                self.does_something(looped.body, "for", at);
                self.range(looped);
                self.block(looped.body);
            }
            StatementView::Local(local) => self.local(local, at),
            StatementView::Assign(assign) => {
                self.balanced(assign.vars.len(), assign.values, at);
                self.gives_nothing(assign.values);
                assign.values.iter().for_each(|value| self.signs_exchanged(*value));
                for var in assign.vars {
                    if let ExpressionKind::Local { local, .. } = var.kind() {
                        self.given.entry(local.id).or_insert(at.begin);
                    }
                }
            }
            StatementView::CompoundAssign(assign) => {
                if let ExpressionKind::Local { local, .. } = assign.var.kind() {
                    self.added.entry(local.id).or_insert(at);
                }
            }
            _ => {}
        }
    }

    pub(crate) fn function(&mut self, function: &Function<'_>) {
        self.block(function.body);
        self.parameter_twice(function);
    }

    fn branches(&mut self, first: &StatementIf<'_>, at: Location) {
        self.block(first.then_body);
        if first.else_body.is_none() {
            self.does_something(first.then_body, "if", at);
        }
        self.same_condition(first);
    }

    fn range(&mut self, looped: &StatementNumericFor<'_>) {
        if looped.step.is_some() {
            return;
        }
        let (start, limit) = (number(looped.start), number(looped.limit));
        // A loop to 0 or 1 was meant to count down, unless it starts at a negative value.
        let from_value =
            start.is_none() && limit.is_some_and(|limit| limit == 0.0 || limit == 1.0) && !negates(looped.start);
        let from_length = is_length(looped.start) && limit.is_some();
        if from_value || from_length || start.zip(limit).is_some_and(|(start, limit)| start > limit) {
            self.counts_up(looped);
        } else if let Some(list) = length_before(looped.limit).filter(|_| start == Some(0.0))
            && (is_length(looped.limit) || self.indexes(looped.body, list, looped.name.id))
        {
            self.begins_at_0(looped, list);
        }
    }

    /// Whether a block reads a list, which is given with its `#`, by a variable.
    fn indexes(&self, body: Block<'_>, length: Expression<'_>, variable: u64) -> bool {
        let ExpressionKind::Unary { rhs: list, .. } = length.kind() else { return false };
        let mut indexes = false;
        body.visit(&mut |node: AstNode<'_>| {
            if let AstNode::Expression(expression) = node
                && let ExpressionKind::IndexExpr { expr, index } = expression.kind()
            {
                indexes |= local_id(index) == Some(variable) && self.same(expr, list);
            }
            !indexes
        });
        indexes
    }

    pub(crate) fn local(&mut self, local: &StatementLocal<'_>, at: Location) {
        self.gives_nothing(local.values);
        if local.values.is_empty() {
            for binding in local.bindings {
                self.empty.insert(binding.id, (binding.location, text(binding.name)));
            }
        } else {
            self.balanced(local.bindings.len(), local.values, at);
        }
    }

    // Expressions

    pub(crate) fn expression(&mut self, expression: Expression<'_>) {
        let at = expression.location();
        match expression.kind() {
            ExpressionKind::Local { local, .. } => {
                self.read.insert(local.id);
            }
            ExpressionKind::Binary { lhs, op, rhs } => self.binary(lhs, op, rhs, at),
            ExpressionKind::Table { items } => self.keys(items),
            ExpressionKind::FunctionLiteral(function) => self.function(function),
            ExpressionKind::If { condition, else_expression, .. } => {
                self.same_condition_of_value(condition, else_expression);
            }
            ExpressionKind::Call { func, args, self_call, .. } => self.call(func, args, self_call),
            _ => {}
        }
    }

    pub(crate) fn binary(&mut self, lhs: Expression<'_>, op: BinaryOp, rhs: Expression<'_>, at: Location) {
        self.and_or_nil(lhs, op, rhs, at);
        self.same_operands(lhs, op, rhs, at);
        self.operator_order(lhs, op, rhs, at);
        self.length_is_not_negative(lhs, op, rhs, at);
    }

    pub(crate) fn call(&mut self, func: Expression<'_>, args: &[Expression<'_>], self_call: bool) {
        let ExpressionKind::IndexName { expr, index, .. } = func.kind() else { return };
        let library = match expr.kind() {
            ExpressionKind::Global(name) if !self_call => text(name),
            _ => String::new(),
        };
        match (library.as_str(), text(index).as_str(), args) {
            ("string", "match" | "gmatch" | "find" | "gsub", [_, pattern, ..]) => self.regular_expression(*pattern),
            ("", "match" | "gmatch" | "gsub" | "find", [pattern, ..]) if self_call => self.regular_expression(*pattern),
            ("string", "format", [pattern, values @ ..]) => self.format(*pattern, values),
            ("table", "sort", [_, order]) => self.sorts_by(*order),
            ("table", name @ ("insert" | "remove"), [_, place, ..]) => {
                let inserts = name == "insert";
                if (!inserts || args.len() == 3) && number(*place) == Some(0.0) {
                    self.place_0(*place);
                } else if inserts && args.len() == 3 && is_length(*place) {
                    self.inserts_before_the_last(*place);
                }
            }
            ("", "format", values) if self_call && literal(expr).is_some() => self.format(expr, values),
            _ => {}
        }
    }
}

/// Whether an expression negates or subtracts something.
pub(crate) fn negates(expression: Expression<'_>) -> bool {
    match expression.kind() {
        ExpressionKind::Grouped(inner) => negates(inner),
        ExpressionKind::Unary { op, .. } => op == UnaryOp::Negate,
        ExpressionKind::Binary { lhs, rhs, .. } => negates(lhs) || negates(rhs),
        _ => false,
    }
}

/// Returns `#list` of `#list` and of `#list - 1`.
fn length_before(limit: Expression<'_>) -> Option<Expression<'_>> {
    match limit.kind() {
        ExpressionKind::Unary { op: UnaryOp::Length, .. } => Some(limit),
        ExpressionKind::Binary { lhs, op: BinaryOp::Subtract, rhs } if number(rhs) == Some(1.0) && is_length(lhs) => {
            Some(lhs)
        }
        _ => None,
    }
}
