//! The findings in a script that need its syntax alone, and what is known of its variables so far.

use std::collections::{BTreeMap, BTreeSet};

use crate::lint::Lint;
use crate::symbols::known::Mistake;
use riskbreaker_script::syntax::{AstNode, Expression, ExpressionKind, Location, TextPosition};

/// What a lint has found, and where.
pub(crate) struct PatternFinding {
    pub lint: &'static Lint,
    pub at: Location,
    pub mistake: Mistake,
    /// The change that cures it: a place, and the text to write there.
    pub change: Option<(Location, String)>,
}

#[derive(Default)]
pub(crate) struct SyntaxLints<'s> {
    pub lines: Vec<&'s str>,
    pub found: Vec<PatternFinding>,
    /// Local variables that are declared without a value: their position and name.
    pub empty: BTreeMap<u64, (Location, String)>,
    /// The position where a variable is first given a value.
    pub given: BTreeMap<u64, TextPosition>,
    /// The position where something is first added to a variable.
    pub added: BTreeMap<u64, Location>,
    pub read: BTreeSet<u64>,
}

impl<'s> SyntaxLints<'s> {
    pub(crate) fn tell(
        &mut self,
        lint: &'static Lint,
        at: Location,
        wrong: impl Into<String>,
        cure: impl Into<String>,
    ) {
        self.found.push(PatternFinding { lint, at, mistake: (wrong.into(), cure.into().into()), change: None });
    }

    /// Adds the change that cures what was found last.
    pub(crate) fn changes(&mut self, at: Location, text: impl Into<String>) {
        if let Some(last) = self.found.last_mut() {
            last.change = Some((at, text.into()));
        }
    }

    /// Returns the source text of a node; `None` if it spans several lines.
    pub(crate) fn written(&self, at: Location) -> Option<&'s str> {
        let line = self.lines.get(at.begin.line as usize).filter(|_| at.begin.line == at.end.line)?;
        line.get(at.begin.column as usize..at.end.column as usize)
    }

    /// Whether two expressions have the same source text and call no function.
    pub(crate) fn same(&self, one: Expression<'_>, other: Expression<'_>) -> bool {
        let written = self.written(one.location());
        written.is_some() && written == self.written(other.location()) && !calls(one)
    }
}

/// Whether an expression contains a call.
pub(crate) fn calls(expression: Expression<'_>) -> bool {
    let mut calls = false;
    expression.visit(&mut |node: AstNode<'_>| {
        if let AstNode::Expression(expression) = node {
            calls |= matches!(expression.kind(), ExpressionKind::Call { .. });
        }
        !calls
    });
    calls
}
