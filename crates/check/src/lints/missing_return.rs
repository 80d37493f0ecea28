//! A function whose value is used can end without one.

use crate::control_flow::{early_return, end_of, falls_through, promised_type};
use crate::inference::silent::Silent;
use crate::inference::symbol::Symbol;
use crate::lint::{Example, Lint, Severity};
use crate::reader::ScriptReader;
use crate::symbols::signature::Signature;
use crate::syntax::{empty_return, place_in, returned, text};
use riskbreaker_ruleset::Problem;
use riskbreaker_script::api;
use riskbreaker_script::syntax::{Block, Expression, ExpressionKind, Function, Location, StatementView};

pub(crate) static LINT: Lint = Lint {
    name: "missing-return",
    severity: Severity::Error,
    summary: "a function whose value is used can end without one",
    explanation: "The host or a script uses what this function returns: a derived value, a key, a prompt, the \
                  answer of a policy, a fact of a card, or a function with a declared result. It returns nothing, \
                  or only in some cases.",
    bad: Example::Files(&[(
        "policies/calm.luau",
        r#"local rb = require("@riskbreaker")

return rb.policy({
	id = "calm",
	answer = function(q)
		if q.topic == "card" then
			return "pull"
		end
	end,
})
"#,
    )]),
    good: Example::Files(&[(
        "policies/calm.luau",
        r#"local rb = require("@riskbreaker")

return rb.policy({
	id = "calm",
	answer = function(q)
		if q.topic == "card" then
			return "pull"
		end
		return rb.pick(q, 3)
	end,
})
"#,
    )]),
};

impl ScriptReader<'_> {
    /// Reports a function that returns in the first round of a loop what the loop collects, or a function with a result
    /// type that can end without `return`.
    pub(crate) fn promised(&mut self, function: &Function<'_>) {
        if let Some(found) = early_return(function) {
            return self.returns_in_first_round(&found);
        }
        if promised_type(function).is_none() || !falls_through(function.body) {
            return;
        }
        let wrong = "this function must return a value, and can end without one".to_string();
        match function.body.as_slice().last() {
            Some(last) if matches!(last.view(), StatementView::Expression(_)) => {
                let change = self.inserted(last.location().begin, "return ");
                self.cured(&LINT, last.location(), (wrong, "write `return` in front of this".into()), change);
            }
            _ => self.problem(&LINT, end_of(function), (wrong, "add `return ...` before this `end`".into())),
        }
    }

    /// Reports a file in `lib` that returns nothing.
    pub(crate) fn returns_something(&mut self, root: Block<'_>) {
        let Some(last) = root.as_slice().last().filter(|_| self.path.starts_with("lib/")) else { return };
        let empty = matches!(last.view(), StatementView::Return(returned) if returned.expressions.is_empty());
        if crate::control_flow::goes_on(*last) || empty {
            let cure = "add `return NAME` as its last line, with the table that the others are to have";
            self.problem(
                &LINT,
                last.location(),
                ("this file returns nothing to those that require it".into(), cure.into()),
            );
        }
    }

    /// Reports a function that must return a value and never does.
    pub(crate) fn gives_nothing(&mut self, function: &Function<'_>, what: &str) {
        let returns = returned(function.body);
        if returns.iter().all(|values| values.is_empty()) {
            let wrong = format!("{what} returns nothing");
            let change = self.dropped_value(function).map(|last| self.inserted(last.begin, "return "));
            let cure = "write `return` before the value at its end".into();
            self.problem_with(&LINT, function.location, (wrong, cure), change);
        }
    }

    /// The position of the call at the end of a function whose result is dropped; `None` if the call gives nothing, or
    /// if the function ends otherwise.
    fn dropped_value(&self, function: &Function<'_>) -> Option<Location> {
        let StatementView::Expression(last) = function.body.as_slice().last()?.view() else { return None };
        let ExpressionKind::Call { func, self_call, .. } = last.expr.kind() else { return None };
        let word = match func.kind() {
            ExpressionKind::IndexName { expr, index, .. } if self.symbol(expr) == Some(Symbol::Vocabulary) => {
                api::word(&text(index))
            }
            _ => None,
        };
        let gives = match (self.called(func, self_call), word) {
            (Some(called), _) => called.signature.silent.is_none(),
            (None, Some(word)) => !word.ty.ends_with("()"),
            (None, None) => matches!(func.kind(), ExpressionKind::Local { .. }),
        };
        gives.then(|| last.expr.location())
    }

    /// Reports a function that returns a value on some paths and ends without one on others.
    pub(crate) fn ends_without(&mut self, function: &Function<'_>, what: &str) {
        let returns = returned(function.body);
        let gives = returns
            .iter()
            .any(|values| values.first().is_some_and(|first| !matches!(first.kind(), ExpressionKind::Nil)));
        if gives && falls_through(function.body) && early_return(function).is_none() {
            let wrong = format!("{what} returns a value in some cases, and can end without one");
            if let Some(last) = self.dropped_value(function) {
                let change = self.inserted(last.begin, "return ");
                return self.cured(&LINT, last, (wrong, "write `return` before it".into()), change);
            }
            self.problem(&LINT, end_of(function), (wrong, "add `return ...` before this `end`".into()));
        }
    }

    /// Reports a `return` without a value in a function that returns one elsewhere.
    pub(crate) fn returns_nothing_at_times(&mut self, function: &Function<'_>, what: &str) {
        let gives = returned(function.body).iter().any(|values| !values.is_empty());
        if let Some(empty) = empty_return(function.body).filter(|_| gives) {
            let wrong = format!("{what} returns a value in other cases, and nothing here");
            self.problem(&LINT, empty, (wrong, "write the value behind `return`".into()));
        }
    }

    /// Reports a function for the options that returns nothing.
    pub(crate) fn offers_nothing(&mut self, options: Expression<'_>) {
        match options.kind() {
            ExpressionKind::FunctionLiteral(function) => self.gives_nothing(function, "the function of the options"),
            ExpressionKind::Call { .. } => self.has_come_back(options),
            _ => {
                let called = self.called(options, false).filter(|called| called.signature.silent.is_some());
                if let Some(called) = called {
                    let wrong = format!("`{}` gives the options, and it returns nothing", called.name);
                    self.problem(&LINT, options.location(), (wrong, "add `return` and the list at its end".into()));
                }
            }
        }
    }

    /// Reports a used value that comes from a function that returns nothing.
    pub(crate) fn has_come_back(&mut self, expression: Expression<'_>) {
        let silent = match expression.kind() {
            ExpressionKind::Local { local, .. } => self.silent.get(&local.id).cloned(),
            _ => self.silent_call(expression),
        };
        let Some(Silent { name, file: Some(file), end }) = silent else { return };
        let ruleset = |path: &str| path.split('/').next().map(str::to_string);
        if self.is_spec() || ruleset(&file) != ruleset(self.full_path()) {
            let cure = format!("add `return ...` to it in {file}:{}", end.begin.line + 1);
            return self.problem(&LINT, expression.location(), (format!("`{name}` returns nothing"), cure.into()));
        }
        let place = place_in(self.known.text_of(&file), end.begin);
        // The statement before the `end` is reported: its value is what the function returns.
        let is_dropped =
            |found: &Problem| found.path == file && found.line == Some(end.begin.line) && found.change.is_some();
        if self.found.iter().any(is_dropped) {
            return;
        }
        if !self
            .found
            .iter()
            .any(|found| found.path == file && (found.line, found.column) == (Some(place.0), Some(place.1)))
        {
            let short = name.rsplit('.').next().unwrap_or(&name);
            let message = format!("`{short}` returns nothing, and what it returns is used");
            let problem = LINT.problem(file, message);
            self.found.push(problem.at(place).with_cure("add `return ...` before this `end`".to_string()));
        }
    }

    /// Reports a function that returns a value on other paths, and drops the result of the call that ends it.
    pub(crate) fn last_answer(&mut self, function: &Function<'_>) {
        let Some(StatementView::Expression(last)) = function.body.as_slice().last().map(|last| last.view()) else {
            return;
        };
        let ExpressionKind::Call { func, self_call, .. } = last.expr.kind() else { return };
        let returns = returned(function.body);
        let gives = returns.iter().any(|values| {
            values
                .first()
                .is_some_and(|first| !matches!(first.kind(), ExpressionKind::Nil | ExpressionKind::Boolean(_)))
        });
        if !gives || !falls_through(function.body) || self.is_spec() {
            return;
        }
        // The answer is the only effect of a policy.
        let policy = self.path.starts_with("policies/");
        let answers = |signature: &Signature| signature.answers || policy && signature.answers_at_times;
        if let Some(called) = self.called(func, self_call).filter(|called| answers(&called.signature)) {
            let wrong =
                format!("the function returns a value in other cases, and drops what `{}` gives back", called.name);
            let change = self.inserted(last.expr.location().begin, "return ");
            self.cured(&LINT, last.expr.location(), (wrong, "write `return` before it".into()), change);
        }
    }
}
