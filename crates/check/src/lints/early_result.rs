//! `rb.result` comes before the roll to which it belongs.

use crate::inference::symbol::Symbol;
use crate::lint::{Example, Lint, Severity};
use crate::reader::ScriptReader;
use crate::syntax::text;
use riskbreaker_ruleset::TextChange;
use riskbreaker_script::syntax::{AstNode, Expression, ExpressionKind, Function, Location, TextPosition};

pub(crate) static LINT: Lint = Lint {
    name: "early-result",
    severity: Severity::Error,
    summary: "`rb.result` comes before the roll to which it belongs",
    explanation: "`rb.result` says how the last roll went. Before the first roll of the card there is none, and the words \
                  are lost. Write it behind the roll.",
    bad: Example::Resolve(
        r#"rb.result("The rope holds")
if rb.under("1d10", 6, "{} pulls", ctx.actor) then
	rb.act.move_rope(ctx.rope, 1, ctx.actor)
end"#,
    ),
    good: Example::Resolve(
        r#"if rb.under("1d10", 6, "{} pulls", ctx.actor) then
	rb.result("The rope holds")
	rb.act.move_rope(ctx.rope, 1, ctx.actor)
end"#,
    ),
};

impl ScriptReader<'_> {
    /// Reports a call of `rb.result` in the function `resolve` of a card before every call that can roll, if a later one
    /// does.
    pub(crate) fn result_before_roll(&mut self, function: &Function<'_>) {
        let (mut results, mut rolls): (Vec<Location>, Vec<TextPosition>) = (Vec::new(), Vec::new());
        let mut calls = Vec::new();
        function.body.visit(&mut |node: AstNode<'_>| {
            if let AstNode::Expression(expression) = node
                && let ExpressionKind::Call { func, .. } = expression.kind()
            {
                calls.push((func.location().begin, expression.location(), self.sort_of_call(func)));
            }
            true
        });
        for (begin, at, sort) in calls {
            match sort {
                SortOfCall::Result => results.push(at),
                SortOfCall::Roll => rolls.push(begin),
                SortOfCall::Other => {}
            }
        }
        let Some(first) = rolls.iter().min() else { return };
        for at in results.into_iter().filter(|at| at.begin < *first) {
            let wrong = "no roll comes before this `rb.result`, so its words are lost".to_owned();
            let change = self.moved_into_next(at);
            self.problem_with(&LINT, at, (wrong, "write it behind the roll".into()), change);
        }
    }

    /// The change that moves the line of a call into the branch that the next line begins.
    fn moved_into_next(&self, at: Location) -> Option<TextChange> {
        let begin = self.offset_of(TextPosition::new(at.begin.line, 0));
        let mut lines = self.text[begin..].split_inclusive('\n');
        let (own, next) = (lines.next()?, lines.next()?);
        let is_branch = next.trim_start().starts_with("if ") && next.trim_end().ends_with(" then");
        let is_alone = self.text.get(self.bytes_of(at)) == Some(own.trim());
        let text = format!("{next}\t{own}");
        (is_branch && is_alone).then(|| TextChange { begin, end: begin + own.len() + next.len(), text })
    }

    fn sort_of_call(&self, func: Expression<'_>) -> SortOfCall {
        let ExpressionKind::IndexName { expr, index, .. } = func.kind() else { return SortOfCall::Roll };
        match self.symbol(expr) {
            Some(Symbol::Vocabulary) if index == "result" => SortOfCall::Result,
            Some(Symbol::Vocabulary) => {
                let asks = ["number", "choose", "choose_many", "confirm", "order", "say", "whisper", "each", "first"];
                if asks.contains(&&*text(index)) { SortOfCall::Other } else { SortOfCall::Roll }
            }
            Some(Symbol::Library(_)) => SortOfCall::Other,
            // Methods of entities change fields or read them.
            Some(Symbol::Entity(_)) => SortOfCall::Other,
            _ => SortOfCall::Roll,
        }
    }
}

enum SortOfCall {
    Result,
    /// A roll, or a function that may roll.
    Roll,
    Other,
}
