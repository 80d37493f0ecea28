//! A variable is used before it has a value.

use std::collections::{BTreeMap, BTreeSet};

use crate::lint::{Example, Lint, Severity};
use crate::syntax::{local_id, text};
use crate::syntax_lints::SyntaxLints;
use riskbreaker_script::syntax::{AstNode, AstVisitor, Block, ExpressionKind, Location, StatementView};

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
                        &LINT,
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
