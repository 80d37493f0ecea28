//! A call gives more or fewer values than the function takes.

use crate::inference::symbol::Symbol;
use crate::lint::{Example, Lint, Severity};
use crate::reader::ScriptReader;
use crate::syntax::{gives_many, text};
use riskbreaker_ruleset::TextChange;
use riskbreaker_script::syntax::{Expression, ExpressionKind};

pub(crate) static LINT: Lint = Lint {
    name: "argument-count",
    severity: Severity::Error,
    summary: "a call gives more or fewer values than the function takes",
    explanation: "The check knows how many values the words of `rb`, verbs, and functions of the ruleset take, \
                  and which of them may be left out. A missing value is nil in the function, and a value too many \
                  is ignored; verbs and words refuse both.",
    bad: Example::Resolve(r#"rb.act.move_rope(ctx.rope)"#),
    good: Example::Resolve(r#"rb.act.move_rope(ctx.rope, 1, ctx.actor)"#),
};

impl ScriptReader<'_> {
    /// Reports `card.resolve()`, which lacks the context, where a context is at hand.
    pub(crate) fn lacks_context(&mut self, func: Expression<'_>, args: &[Expression<'_>], self_call: bool) {
        let ExpressionKind::IndexName { expr, index, index_location, .. } = func.kind() else { return };
        let of_card =
            matches!(&*text(index), "resolve" | "when") && !matches!(self.symbol(expr), Some(Symbol::Module(_)));
        if self_call || !args.is_empty() || !of_card || self.is_spec() || !self.has_local("ctx") {
            return;
        }
        let wrong = format!("`{}` of a card needs `ctx`, which is not given", text(index));
        let closing = self.arguments_behind(index_location).map(|(_, end)| end - 1);
        let change = closing.map(|at| TextChange { begin: at, end: at, text: "ctx".into() });
        self.problem_with(&LINT, index_location, (wrong, format!("write `{}(ctx)`", text(index))), change);
    }

    /// Reports `table.insert` with one value.
    pub(crate) fn inserts_nothing(&mut self, name: &str, args: &[Expression<'_>]) {
        if name == "table.insert"
            && args.len() < 2
            && let Some(only) = args.first().filter(|only| !gives_many(**only))
        {
            let wrong = "the list or the value is missing: two expected, one value given".to_string();
            self.problem(&LINT, only.location(), (wrong, "it is written table.insert(list, value)".into()));
        }
    }
}
