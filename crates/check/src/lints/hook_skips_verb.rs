//! A hook around a verb does not run the verb, or only where a house rule is on.

use crate::lint::{Example, Lint, Severity};
use crate::reader::ScriptReader;
use crate::syntax::{local_id, text};
use riskbreaker_ruleset::TextChange;
use riskbreaker_script::syntax::{
    AstNode, Block, Expression, ExpressionKind, Function, Location, Statement, StatementView, TextPosition,
};

pub(crate) static LINT: Lint = Lint {
    name: "hook-skips-verb",
    severity: Severity::Error,
    summary: "a hook around a verb does not run the verb, or only where a house rule is on",
    explanation: "The second value of a function in `wrap` runs the verb. If it is not called, the verb does not \
                  run any more. If that is intended, call the parameter `_proceed`. If it is called only in a branch that \
                  changes the event or asks for a switch, nothing happens in all other cases: call it behind the branch.",
    bad: Example::Files(&[(
        "hooks/slack.luau",
        r#"local rb = require("@riskbreaker")

return rb.hook({
	id = "slack",
	always = true,
	wrap = {
		move_rope = function(e, proceed)
			rb.say("{} slips", e.who)
		end,
	},
})
"#,
    )]),
    good: Example::Files(&[(
        "hooks/slack.luau",
        r#"local rb = require("@riskbreaker")

return rb.hook({
	id = "slack",
	always = true,
	wrap = {
		move_rope = function(e, proceed)
			rb.say("{} slips", e.who)
			return proceed(e)
		end,
	},
})
"#,
    )]),
};

impl ScriptReader<'_> {
    /// Reports a function around a verb that does not run the verb, or drops its result. A parameter `_proceed` says
    /// that this is intended.
    pub(crate) fn goes_on_below(&mut self, verb: &str, function: &Function<'_>) {
        let proceed = function.args.get(1);
        if proceed.is_none_or(|proceed| !text(proceed.name).starts_with('_') && !self.evidence.is_used(proceed.id)) {
            let wrong = format!("`{verb}` does not run any more: its second value, which runs it, is not used");
            let at = proceed.map_or(function.location, |proceed| proceed.location);
            let cure = "write function(e, proceed, holder) and `return proceed(e)`; where it is not to run, call the \
                        parameter `_proceed`";
            return self.problem(&LINT, at, (wrong, cure.into()));
        }
        if let Some(proceed) = proceed {
            let what = format!("`{verb}` does not run");
            self.runs_in_one_branch(function, proceed.id, &what);
        }
        let answers = self.known.names.verb(verb).is_some_and(|verb| verb.answers);
        if answers && proceed.is_some_and(|proceed| !text(proceed.name).starts_with('_')) {
            let what = format!("`{verb}` gives something back, and this function");
            self.gives_nothing(function, &what);
            self.ends_without(function, &what);
            self.returns_nothing_at_times(function, &what);
        }
    }
}

impl ScriptReader<'_> {
    /// Reports a function that ends with an `if` without `else` and calls what it wraps only at the end of that branch, if
    /// the branch changes the given values or asks for a switch. Where the condition does not hold, nothing happens.
    pub(crate) fn runs_in_one_branch(&mut self, function: &Function<'_>, wrapped: u64, what: &str) {
        let Some(last) = function.body.as_slice().last() else { return };
        let StatementView::If(branch) = last.view() else { return };
        let Some(run) = branch.then_body.as_slice().last().filter(|_| branch.else_body.is_none()) else { return };
        let calls = calls_of(function.body, wrapped);
        let is_only = calls.len() == 1 && calls_of(branch.then_body, wrapped).len() == 1 && runs(*run, wrapped);
        let given: Vec<u64> = function.args.iter().map(|arg| arg.id).filter(|id| *id != wrapped).collect();
        if !is_only || !changes_given(branch.then_body, &given) && !asks_for_switch(branch.condition) {
            return;
        }
        let wrong = format!("{what} where this condition does not hold");
        let code = self.source_at(run.location());
        let change = self.moved_behind(run.location(), function.location.end, self.indent_of(last.location().begin));
        let cure = format!("write `{code}` behind the `if`");
        self.problem_with(&LINT, last.location(), (wrong, cure.into()), change);
    }

    /// The change that moves the last line of a branch behind the `end` of the branch, which is the last one of a function.
    fn moved_behind(&self, at: Location, end: TextPosition, indent: &str) -> Option<TextChange> {
        let begin = self.offset_of(TextPosition::new(at.begin.line, 0));
        let next = self.offset_of(TextPosition::new(at.end.line + 1, 0));
        let last = self.offset_of(TextPosition::new(end.line, 0));
        let rest = self.text.get(next..last).filter(|rest| rest.trim() == "end")?;
        let code = self.source_at(at);
        let is_alone = self.text.get(begin..next)?.trim() == code;
        is_alone.then(|| TextChange { begin, end: last, text: format!("{rest}{indent}{code}\n") })
    }
}

/// The places of the calls of a local variable in a block.
fn calls_of(block: Block<'_>, id: u64) -> Vec<Location> {
    let mut found = Vec::new();
    block.visit(&mut |node: AstNode<'_>| {
        if let AstNode::Expression(expression) = node
            && let ExpressionKind::Call { func, .. } = expression.kind()
            && local_id(func) == Some(id)
        {
            found.push(expression.location());
        }
        true
    });
    found
}

/// Whether a statement is a call of a local variable, or returns one.
fn runs(statement: Statement<'_>, id: u64) -> bool {
    let is_call =
        |value: Expression<'_>| matches!(value.kind(), ExpressionKind::Call { func, .. } if local_id(func) == Some(id));
    match statement.view() {
        StatementView::Return(returned) => matches!(returned.expressions, [only] if is_call(*only)),
        StatementView::Expression(called) => is_call(called.expr),
        _ => false,
    }
}

/// Whether a block assigns one of some variables, or a member of one.
fn changes_given(block: Block<'_>, given: &[u64]) -> bool {
    let mut changes = false;
    block.visit(&mut |node: AstNode<'_>| {
        let AstNode::Statement(statement) = node else { return false };
        let targets = match statement.view() {
            StatementView::Assign(assign) => assign.vars,
            StatementView::CompoundAssign(assign) => std::slice::from_ref(&assign.var),
            _ => return true,
        };
        changes |= targets.iter().any(|target| match target.kind() {
            ExpressionKind::IndexName { expr, .. } => local_id(expr).is_some_and(|id| given.contains(&id)),
            _ => local_id(*target).is_some_and(|id| given.contains(&id)),
        });
        true
    });
    changes
}

/// Whether a condition reads a switch.
fn asks_for_switch(condition: Expression<'_>) -> bool {
    let mut asks = false;
    condition.visit(&mut |node: AstNode<'_>| {
        if let AstNode::Expression(expression) = node
            && let ExpressionKind::IndexName { expr, .. } = expression.kind()
        {
            asks |= matches!(expr.kind(), ExpressionKind::IndexName { index, .. } if index == "switches");
        }
        true
    });
    asks
}
