//! Lints: code that is valid but does nothing, or something else than it seems to.

use std::collections::{BTreeMap, BTreeSet};

use super::flow::goes_on;
use super::known::Mistake;
use super::lints::{self, Lint};
use super::syntax::{literal, local_id, text};
use riskbreaker_script::syntax::{
    AstNode, AstVisitor, BinaryOp, Block, Expression, ExpressionKind, Function, Location, Statement,
    StatementFunctionDeclaration, StatementIf, StatementLocal, StatementNumericFor, StatementView, TableItem,
    TextPosition, UnaryOp,
};

/// What a lint has found, and where.
type Found = (&'static Lint, Location, Mistake);

/// Returns the lints of a script.
pub(super) fn lints(root: Block<'_>, source: &str) -> Vec<Found> {
    let mut lints = Lints { lines: source.lines().collect(), ..Lints::default() };
    lints.block(root);
    root.visit(&mut lints);
    lints.without_value();
    lints.found
}

#[derive(Default)]
struct Lints<'s> {
    lines: Vec<&'s str>,
    found: Vec<Found>,
    /// Local variables that are declared without a value: their position and name.
    empty: BTreeMap<u64, (Location, String)>,
    /// The position where a variable is first given a value.
    given: BTreeMap<u64, TextPosition>,
    /// The position where something is first added to a variable.
    added: BTreeMap<u64, Location>,
    read: BTreeSet<u64>,
}

impl<'ast> AstVisitor<'ast> for Lints<'_> {
    fn visit_node(&mut self, node: AstNode<'ast>) -> bool {
        match node {
            AstNode::Statement(statement) => self.statement(statement),
            AstNode::Expression(expression) => self.expression(expression),
        }
        true
    }
}

impl Lints<'_> {
    fn tell(&mut self, lint: &'static Lint, at: Location, wrong: impl Into<String>, cure: impl Into<String>) {
        self.found.push((lint, at, (wrong.into(), cure.into())));
    }

    /// Returns the source text of a node; `None` if it spans several lines.
    fn written(&self, at: Location) -> Option<&str> {
        let line = self.lines.get(at.begin.line as usize).filter(|_| at.begin.line == at.end.line)?;
        line.get(at.begin.column as usize..at.end.column as usize)
    }

    /// Whether two expressions have the same source text and call no function.
    fn same(&self, one: Expression<'_>, other: Expression<'_>) -> bool {
        let written = self.written(one.location());
        written.is_some() && written == self.written(other.location()) && !calls(one)
    }

    // Statements

    fn block(&mut self, block: Block<'_>) {
        let mut functions: Vec<String> = Vec::new();
        for pair in block.as_slice().windows(2) {
            let ends_action = matches!(pair[0].view(), StatementView::Expression(_));
            let returns = matches!(pair[1].view(), StatementView::Return(_));
            // A `return` after `rb.cut` is common and harmless.
            if !(goes_on(pair[0]) || ends_action && returns) {
                self.tell(
                    &lints::unreachable_code::LINT,
                    pair[1].location(),
                    "this never runs: the statement before it ends the block",
                    "take it out, or move it up",
                );
                break;
            }
        }
        self.read_too_early(block);
        for statement in block.as_slice() {
            let (name, at) = match statement.view() {
                StatementView::FunctionDeclaration(StatementFunctionDeclaration { name, .. }) => {
                    (self.written(name.location()).map(str::to_string), name.location())
                }
                StatementView::LocalFunction(local) => (Some(text(local.name.name)), statement.location()),
                _ => continue,
            };
            let Some(name) = name else { continue };
            if functions.contains(&name) {
                self.tell(
                    &lints::duplicate_function::LINT,
                    at,
                    format!("the function `{name}` is defined twice"),
                    "give one of them another name",
                );
            }
            functions.push(name);
        }
    }

    /// Reports local variables that are read before they are given a value.
    fn read_too_early(&mut self, block: Block<'_>) {
        let mut empty: BTreeMap<u64, String> = BTreeMap::new();
        for statement in block.as_slice() {
            if let StatementView::Local(local) = statement.view()
                && local.values.is_empty()
            {
                empty.extend(local.bindings.iter().map(|one| (one.id, text(one.name))));
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
                    && let Some(name) = empty.remove(&id)
                {
                    self.tell(
                        &lints::no_value_yet::LINT,
                        at,
                        format!("`{name}` has no value yet"),
                        format!("write `local {name} = ...` with one"),
                    );
                }
            }
            let mut given = Touched::default();
            statement.visit(&mut given);
            empty.retain(|id, _| !given.given.contains(id));
        }
    }

    fn statement(&mut self, statement: Statement<'_>) {
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

    fn function(&mut self, function: &Function<'_>) {
        self.block(function.body);
        for (n, arg) in function.args.iter().enumerate() {
            let name = text(arg.name);
            if !name.starts_with('_') && function.args[..n].iter().any(|before| before.name == arg.name) {
                self.tell(
                    &lints::duplicate_parameter::LINT,
                    arg.location,
                    format!("two parameters are called `{name}`"),
                    "give one of them another name",
                );
            }
        }
    }

    /// Reports a block without a statement. A comment in it says that this is intended.
    fn does_something(&mut self, body: Block<'_>, word: &str, at: Location) {
        let lines = self.lines.iter().skip(at.begin.line as usize);
        let inside = lines.take_while(|line| !line.trim_start().starts_with("end"));
        if body.as_slice().is_empty() && !inside.clone().any(|line| line.contains("--")) {
            let cure = "write what it does between its first line and its `end`, or take it out";
            self.tell(&lints::empty_block::LINT, at, format!("this `{word}` does nothing"), cure);
        }
    }

    fn branches(&mut self, first: &StatementIf<'_>, at: Location) {
        self.block(first.then_body);
        if first.else_body.is_none() {
            self.does_something(first.then_body, "if", at);
        }
        let mut asked = vec![first.condition];
        let mut rest = first.else_body;
        while let Some(StatementView::If(branch)) = rest.map(|statement| statement.view()) {
            if asked.iter().any(|before| self.same(*before, branch.condition)) {
                let cure = "remove one of the two, or write what was meant";
                self.tell(
                    &lints::same_condition::LINT,
                    branch.condition.location(),
                    "an earlier branch has the same condition",
                    cure,
                );
            }
            asked.push(branch.condition);
            rest = branch.else_body;
        }
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
            let cure = "give the loop its step: `for n = last, first, -1 do`";
            self.tell(&lints::idle_loop::LINT, looped.start.location(), "this loop never runs: it counts up", cure);
        } else if start == Some(0.0) && is_length(looped.limit) {
            self.tell(
                &lints::list_index::LINT,
                looped.start.location(),
                "the first place of a list is 1, not 0",
                "begin the loop with 1",
            );
        }
    }

    /// Reports `n =- 1`, which sets `n` to minus one.
    fn signs_exchanged(&mut self, value: Expression<'_>) {
        let at = value.location().begin;
        let line = self.lines.get(at.line as usize).and_then(|line| line.split_at_checked(at.column as usize));
        let negates = matches!(value.kind(), ExpressionKind::Unary { op: UnaryOp::Negate, .. });
        if negates && line.is_some_and(|(before, after)| before.ends_with('=') && after.starts_with("- ")) {
            self.tell(
                &lints::reversed_operator::LINT,
                value.location(),
                "`=-` sets it to minus the value",
                "write `-=` to take the value off",
            );
        }
    }

    /// Reports the use of the result of `table.sort` and `table.clear`, which return nothing.
    fn gives_nothing(&mut self, values: &[Expression<'_>]) {
        for value in values {
            let ExpressionKind::Call { func, .. } = value.kind() else { continue };
            let ExpressionKind::IndexName { expr, index, .. } = func.kind() else { continue };
            let table = matches!(expr.kind(), ExpressionKind::Global(name) if name == "table");
            if table && (index == "sort" || index == "clear") {
                let wrong = format!("`table.{}` changes the list itself and gives nothing", text(index));
                self.tell(
                    &lints::result_of_sort::LINT,
                    value.location(),
                    wrong,
                    format!("write `table.{}(...)` on a line of its own", text(index)),
                );
            }
        }
    }

    fn local(&mut self, local: &StatementLocal<'_>, at: Location) {
        self.gives_nothing(local.values);
        if local.values.is_empty() {
            for binding in local.bindings {
                self.empty.insert(binding.id, (binding.location, text(binding.name)));
            }
        } else {
            self.balanced(local.bindings.len(), local.values, at);
        }
    }

    /// Reports an assignment with more or fewer values than names. The last value may yield several.
    fn balanced(&mut self, names: usize, values: &[Expression<'_>], at: Location) {
        let open = values.last().is_some_and(|last| {
            matches!(last.kind(), ExpressionKind::Call { .. } | ExpressionKind::Varargs | ExpressionKind::Nil)
        });
        if names < values.len() || names > values.len() && !open {
            let wrong = format!("{names} names and {} values", values.len());
            self.tell(&lints::value_count::LINT, at, wrong, "give one value for each name");
        }
    }

    /// Reports variables that are read or added to before they have a value.
    fn without_value(&mut self) {
        for (id, (at, name)) in std::mem::take(&mut self.empty) {
            let added = self.added.get(&id).copied();
            match (self.given.get(&id), added) {
                (None, None) if self.read.contains(&id) => {
                    self.tell(
                        &lints::no_value_yet::LINT,
                        at,
                        format!("`{name}` never gets a value"),
                        format!("write `local {name} = ...`"),
                    );
                }
                (given, Some(added)) if given.is_none_or(|given| added.begin < *given) => {
                    let cure = format!("write `local {name} = 0` where it is declared");
                    self.tell(&lints::no_value_yet::LINT, added, format!("`{name}` has no value yet"), cure);
                }
                _ => {}
            }
        }
    }

    // Expressions

    fn expression(&mut self, expression: Expression<'_>) {
        let at = expression.location();
        match expression.kind() {
            ExpressionKind::Local { local, .. } => {
                self.read.insert(local.id);
            }
            ExpressionKind::Binary { lhs, op, rhs } => self.binary(lhs, op, rhs, at),
            ExpressionKind::Table { items } => self.keys(items),
            ExpressionKind::FunctionLiteral(function) => self.function(function),
            ExpressionKind::Call { func, args, self_call, .. } => self.call(func, args, self_call),
            _ => {}
        }
    }

    fn binary(&mut self, lhs: Expression<'_>, op: BinaryOp, rhs: Expression<'_>, at: Location) {
        let cure = "put brackets around what belongs together";
        match op {
            BinaryOp::Or => {
                if let ExpressionKind::Binary { op: BinaryOp::And, rhs: chosen, .. } = lhs.kind()
                    && matches!(chosen.kind(), ExpressionKind::Nil | ExpressionKind::Boolean(false))
                {
                    let wrong = "`and` gives nil or false here, so that the part behind `or` is always taken";
                    self.tell(&lints::and_or_nil::LINT, at, wrong, "write `if ... then ... else ...`");
                } else if self.same(lhs, rhs) {
                    self.tell(
                        &lints::same_operands::LINT,
                        at,
                        "both sides are the same",
                        "remove one of the two, or write what was meant",
                    );
                }
            }
            BinaryOp::And if self.same(lhs, rhs) => {
                self.tell(
                    &lints::same_operands::LINT,
                    at,
                    "both sides are the same",
                    "remove one of the two, or write what was meant",
                );
            }
            BinaryOp::Equal | BinaryOp::NotEqual
                if is_not(lhs) && !is_not(rhs) && !matches!(rhs.kind(), ExpressionKind::Boolean(_)) =>
            {
                self.tell(
                    &lints::operator_order::LINT,
                    at,
                    format!("`not` is worked out before `{}`", op.symbol()),
                    cure,
                );
            }
            BinaryOp::GreaterEqual | BinaryOp::Less if is_length(lhs) && number(rhs) == Some(0.0) => {
                let always = if op == BinaryOp::Less { "never" } else { "always" };
                let cure = "write `> 0` for a list with something in it, `== 0` for an empty one";
                self.tell(
                    &lints::always_true::LINT,
                    at,
                    format!("a list has 0 places or more, so that this is {always} true"),
                    cure,
                );
            }
            _ if compares(op) => {
                if let ExpressionKind::Binary { op: inner, .. } = lhs.kind()
                    && compares(inner)
                {
                    let wrong = format!("`{}` compares true or false with a value here", op.symbol());
                    self.tell(
                        &lints::operator_order::LINT,
                        at,
                        wrong,
                        "write `a < b and b < c`, or put brackets around what belongs together",
                    );
                }
            }
            _ => {}
        }
    }

    fn keys(&mut self, items: &[TableItem<'_>]) {
        let mut seen = BTreeSet::new();
        for item in items {
            let key = match item {
                TableItem::Record { key, .. } | TableItem::General { key, .. } => key,
                TableItem::List { .. } => continue,
            };
            let name = literal(*key).map(|key| format!("{key:?}")).or_else(|| number(*key).map(|key| key.to_string()));
            let Some(name) = name else { continue };
            if seen.contains(&name) {
                let wrong = format!("the key `{}` stands in this table twice", name.trim_matches('"'));
                self.tell(
                    &lints::duplicate_key::LINT,
                    key.location(),
                    wrong,
                    "one of the two keys can go, or was another meant?",
                );
            }
            seen.insert(name);
        }
    }

    fn call(&mut self, func: Expression<'_>, args: &[Expression<'_>], self_call: bool) {
        let ExpressionKind::IndexName { expr, index, .. } = func.kind() else { return };
        let library = match expr.kind() {
            ExpressionKind::Global(name) if !self_call => text(name),
            _ => String::new(),
        };
        match (library.as_str(), text(index).as_str(), args) {
            ("string", "format", [pattern, values @ ..]) => self.format(*pattern, values),
            ("table", name @ ("insert" | "remove"), [_, place, ..]) => {
                let inserts = name == "insert";
                if (!inserts || args.len() == 3) && number(*place) == Some(0.0) {
                    self.tell(
                        &lints::list_index::LINT,
                        place.location(),
                        "the first place of a list is 1, not 0",
                        "write 1",
                    );
                } else if inserts && args.len() == 3 && is_length(*place) {
                    let wrong = "this inserts before the last place of the list, not behind it";
                    self.tell(
                        &lints::past_the_end::LINT,
                        place.location(),
                        wrong,
                        "leave the place out to put it at the end: table.insert(list, value)",
                    );
                }
            }
            ("", "format", values) if self_call && literal(expr).is_some() => self.format(expr, values),
            _ => {}
        }
    }

    /// Reports a format string of `string.format` whose places do not match its values.
    fn format(&mut self, pattern: Expression<'_>, values: &[Expression<'_>]) {
        let Some(written) = literal(pattern) else { return };
        let mut letters = written.chars();
        let mut places = 0;
        while letters.by_ref().any(|letter| letter == '%') {
            let kind = letters.find(|letter| !letter.is_ascii_digit() && !" +-#.".contains(*letter));
            match kind {
                Some('%') => {}
                Some(kind) if "cdiouxXeEfgGqsaA*".contains(kind) => places += 1,
                _ => {
                    let wrong = "`%` without a letter that it knows";
                    return self.tell(
                        &lints::text_places::LINT,
                        pattern.location(),
                        wrong,
                        "write %d for a number, %s for a text, %% for a percent sign",
                    );
                }
            }
        }
        let open = values
            .last()
            .is_some_and(|last| matches!(last.kind(), ExpressionKind::Call { .. } | ExpressionKind::Varargs));
        if places > values.len() && !open || places < values.len() {
            let wrong = format!("{places} places for values, {} given", values.len());
            self.tell(&lints::text_places::LINT, pattern.location(), wrong, "give one value for each %");
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

/// Whether an expression negates or subtracts something.
fn negates(expression: Expression<'_>) -> bool {
    match expression.kind() {
        ExpressionKind::Grouped(inner) => negates(inner),
        ExpressionKind::Unary { op, .. } => op == UnaryOp::Negate,
        ExpressionKind::Binary { lhs, rhs, .. } => negates(lhs) || negates(rhs),
        _ => false,
    }
}

fn compares(op: BinaryOp) -> bool {
    matches!(
        op,
        BinaryOp::Equal
            | BinaryOp::NotEqual
            | BinaryOp::Less
            | BinaryOp::LessEqual
            | BinaryOp::Greater
            | BinaryOp::GreaterEqual
    )
}

fn is_not(expression: Expression<'_>) -> bool {
    matches!(expression.kind(), ExpressionKind::Unary { op: UnaryOp::Not, .. })
}

fn is_length(expression: Expression<'_>) -> bool {
    matches!(expression.kind(), ExpressionKind::Unary { op: UnaryOp::Length, .. })
}

fn number(expression: Expression<'_>) -> Option<f64> {
    match expression.kind() {
        ExpressionKind::Number { value, .. } => Some(value),
        ExpressionKind::Integer { value, .. } => Some(value as f64),
        ExpressionKind::Unary { op: UnaryOp::Negate, rhs } => number(rhs).map(|value| -value),
        _ => None,
    }
}

/// Whether an expression contains a call.
fn calls(expression: Expression<'_>) -> bool {
    let mut calls = false;
    expression.visit(&mut |node: AstNode<'_>| {
        if let AstNode::Expression(expression) = node {
            calls |= matches!(expression.kind(), ExpressionKind::Call { .. });
        }
        !calls
    });
    calls
}
