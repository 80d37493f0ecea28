//! A list is read by a name or by 0, or a table with names by a number.

use crate::inference::symbol::Symbol;
use crate::lint::{Example, Lint, Severity};
use crate::reader::ScriptReader;
use crate::syntax::{local_id, number, text};
use crate::syntax_lints::SyntaxLints;
use riskbreaker_script::syntax::{AstNode, Expression, ExpressionKind, Location, StatementNumericFor};

pub(crate) static LINT: Lint = Lint {
    name: "list-index",
    severity: Severity::Error,
    summary: "a list is read by a name or by 0, or a table with names by a number",
    explanation: "The places of a list are the numbers from 1. A table with names has no places. The result of \
                  another index is nil.",
    bad: Example::Resolve(
        r#"local names = { "Cid", "Dora" }
rb.say("{}", names[0])"#,
    ),
    good: Example::Resolve(
        r#"local names = { "Cid", "Dora" }
rb.say("{}", names[1])"#,
    ),
};

impl SyntaxLints<'_> {
    /// Reports a loop over the places of a list from 0. `list`: the list with its `#`.
    pub(crate) fn begins_at_0(&mut self, looped: &StatementNumericFor<'_>, list: Expression<'_>) {
        let cure = "begin the loop with 1, and end it with the length of the list";
        self.tell(&LINT, looped.start.location(), NO_PLACE_0, cure);
        let bounds = Location::new(looped.start.location().begin, looped.limit.location().end);
        let written = self.written(list.location()).unwrap_or_default().to_owned();
        self.changes(bounds, format!("1, {written}"));
    }

    /// Reports `table.insert` and `table.remove` at place 0.
    pub(crate) fn place_0(&mut self, place: Expression<'_>) {
        self.tell(&LINT, place.location(), NO_PLACE_0, "write 1");
    }
}

impl ScriptReader<'_> {
    /// Reports a loop from 0 whose variable is the index of a list.
    pub(crate) fn indexes_from_0(&mut self, looped: &StatementNumericFor<'_>) {
        if number(looped.start) != Some(0.0) || looped.step.is_some() {
            return;
        }
        let mut indexed = Vec::new();
        looped.body.visit(&mut |node: AstNode<'_>| {
            if let AstNode::Expression(expression) = node
                && let ExpressionKind::IndexExpr { expr, index } = expression.kind()
                && local_id(index) == Some(looped.name.id)
            {
                indexed.push(self.is_written_list(expr));
            }
            true
        });
        if indexed.contains(&true) {
            let at = looped.start.location();
            let change = self.replaced(at, "1");
            self.cured(&LINT, at, (NO_PLACE_0.into(), "begin the loop with 1".into()), change);
        }
    }

    /// Whether an expression is a list that is written down, in this file or in one that is required.
    fn is_written_list(&self, table: Expression<'_>) -> bool {
        match table.kind() {
            ExpressionKind::Local { local, .. } => self.lists.contains(&local.id),
            ExpressionKind::IndexName { expr, index, .. } => match self.symbol(expr) {
                Some(Symbol::Module(path)) => {
                    self.known.names.module(&path).is_some_and(|module| module.lists.contains(&text(index)))
                }
                _ => false,
            },
            _ => false,
        }
    }

    /// Reports a table with text keys that is indexed by a number, and an index of 0.
    pub(crate) fn by_number(&mut self, table: Expression<'_>, index: Expression<'_>) {
        let text_map = match table.kind() {
            ExpressionKind::Local { local, .. } if self.text_maps.contains(&local.id) => Some(text(local.name)),
            ExpressionKind::IndexName { expr, index: member, .. } => match self.symbol(expr) {
                Some(Symbol::Module(path)) => {
                    let module = self.known.names.module(&path);
                    module.filter(|module| module.text_maps.contains(&text(member))).map(|_| text(member))
                }
                _ => None,
            },
            _ => None,
        };
        if let Some(name) = text_map {
            let wrong = format!("the keys of `{name}` are texts, and this is a number");
            return self.problem(&LINT, index.location(), (wrong, "name one of its keys, in quotes".into()));
        }
        let zero = matches!(index.kind(), ExpressionKind::Number { value, .. } if value == 0.0);
        if zero && !self.text.contains("[0] =") {
            let wrong = NO_PLACE_0.to_string();
            let change = self.replaced(index.location(), "1");
            self.cured(&LINT, index.location(), (wrong, "write 1 for the first one".into()), change);
        }
    }

    /// Reports a list that is read by a name.
    pub(crate) fn by_name(&mut self, list: Expression<'_>, at: Location) {
        if let ExpressionKind::Local { local, .. } = list.kind()
            && self.lists.contains(&local.id)
            && !self.evidence.has_names(list)
        {
            let wrong = format!("`{}` is a list: its places are numbers, and this is a text", text(local.name));
            self.problem(&LINT, at, (wrong, "write a number, from 1 on".into()));
        }
    }
}

const NO_PLACE_0: &str = "the first place of a list is 1, not 0";
