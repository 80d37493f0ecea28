//! A function whose value is used can end without one.

use crate::control_flow::{early_return, end_of, falls_through, promised_type};
use crate::inference::silent::Silent;
use crate::inference::symbol::Symbol;
use crate::inference::value_type::ValueType;
use crate::lint::{Example, Lint, Severity};
use crate::reader::ScriptReader;
use crate::symbols::signature::Signature;
use crate::symbols::uses::ResultUses;
use crate::syntax::{empty_return, is_of_name, local_id, returned, text};
use riskbreaker_ruleset::TextChange;
use riskbreaker_script::api;
use riskbreaker_script::syntax::{
    AstNode, Block, Expression, ExpressionKind, Function, Location, StatementView, TextPosition,
};

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
            let wrong = "this file returns nothing to those that require it".to_owned();
            let Some(table) = self.filled_table() else {
                let cure = "add `return NAME` as its last line, with the table that the others are to have";
                return self.problem(&LINT, last.location(), (wrong, cure.into()));
            };
            let cure = format!("add `return {table}` as its last line");
            if empty {
                let change = self.replaced(last.location(), format!("return {table}"));
                return self.cured(&LINT, last.location(), (wrong, cure.into()), change);
            }
            let end = self.text.trim_end().len();
            let change = TextChange { begin: end, end: self.text.len(), text: format!("\n\nreturn {table}\n") };
            let line = self.text.lines().count().saturating_sub(1) as u32;
            let place = TextPosition::new(line, 0);
            self.cured(&LINT, Location::new(place, place), (wrong, cure.into()), change);
        }
    }

    /// The one table at the top of the file that the file fills; `None` if there are several or none.
    fn filled_table(&self) -> Option<&str> {
        let declared = self.text.lines().filter_map(|line| {
            let (name, value) = line.strip_prefix("local ")?.split_once('=')?;
            value.trim_start().starts_with('{').then(|| name.trim())
        });
        let is_filled = |name: &&str| {
            let begins = |line: &str| {
                let line = line.strip_prefix("function ").unwrap_or(line);
                line.strip_prefix(*name).is_some_and(|rest| rest.starts_with(['.', ':', '[']))
            };
            self.text.lines().any(begins)
        };
        let mut filled = declared.filter(is_filled);
        filled.next().filter(|_| filled.next().is_none())
    }

    /// The variable that a function returns elsewhere, or the only list or table in its body that it fills.
    fn returned_elsewhere(&self, function: &Function<'_>) -> Option<&str> {
        let returns = returned(function.body);
        let mut values: Vec<&str> =
            returns.iter().filter(|values| values.len() == 1).map(|values| self.source(values[0])).collect();
        values.sort_unstable();
        values.dedup();
        let body = self.text.get(self.bytes_of(function.location))?;
        let depth_of = |line: &str| line.len() - line.trim_start().len();
        let depth = body.lines().skip(1).find(|line| !line.trim().is_empty()).map(depth_of)?;
        // A variable of the function itself, not of a block in it.
        let locals = body.lines().filter_map(|line| {
            let code = line.trim_start();
            let name = code.strip_prefix("local ")?.split_once(" = ")?.0;
            let is_name = name.chars().all(is_of_name);
            (is_name && depth_of(line) == depth).then_some(name)
        });
        let locals: Vec<&str> = locals.collect();
        match values.as_slice() {
            [only] => locals.into_iter().find(|local| local == only),
            [] => {
                let fills = |name: &&str| {
                    let code = |mark: &str| body.contains(&format!("{mark}{name}"));
                    code("table.insert(")
                        || body.contains(&format!("\t{name}["))
                        || body.contains(&format!("\t{name}."))
                };
                let mut filled = locals.into_iter().filter(fills);
                filled.next().filter(|_| filled.next().is_none())
            }
            _ => None,
        }
    }

    /// The change that returns a variable at the end of a function.
    fn return_at_end(&self, function: &Function<'_>, name: &str) -> TextChange {
        let end = end_of(function).begin;
        if function.location.begin.line == end.line {
            return self.inserted(end, format!("return {name} "));
        }
        let last = function.body.as_slice().last().map_or(end, |last| last.location().begin);
        let indent = self.indent_of(last);
        self.inserted(TextPosition::new(end.line, 0), format!("{indent}return {name}\n"))
    }

    /// Reports a function that must return a value and never does.
    pub(crate) fn gives_nothing(&mut self, function: &Function<'_>, what: &str) {
        let returns = returned(function.body);
        if returns.iter().all(|values| values.is_empty()) {
            let wrong = format!("{what} returns nothing");
            if self.dropped_value(function).is_none()
                && let Some(name) = self.returned_elsewhere(function)
            {
                let cure = format!("write `return {name}` before its `end`");
                let change = self.return_at_end(function, name);
                return self.cured(&LINT, function.location, (wrong, cure.into()), change);
            }
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
            let change = self.returned_elsewhere(function).map(|name| self.return_at_end(function, name));
            let cure = "add `return ...` before this `end`".into();
            self.problem_with(&LINT, end_of(function), (wrong, cure), change);
        }
    }

    /// Reports a function that returns a number or a text on some paths and nothing on others, if what uses its result never
    /// tests it. `names`: those under which the uses of the result are kept.
    pub(crate) fn half_answered(&mut self, function: &Function<'_>, names: &[String], what: &str) {
        let Some(last) = function.body.as_slice().last().filter(|_| !self.is_spec()) else { return };
        if returned(function.body).iter().all(|values| values.is_empty()) {
            return self.never_answered(function, names, what);
        }
        let Some(values) = answers_outside_loops(function).filter(|values| !values.is_empty()) else { return };
        let mut uses = ResultUses::default();
        names.iter().for_each(|name| uses.add(self.known.names.uses_of_result(name)));
        let is_used = uses.tested <= 0 && uses.untested > 0;
        let has_type = |value: &Expression<'_>| {
            matches!(self.value_type(*value), Some(ValueType::Number | ValueType::Sum | ValueType::Text))
        };
        if !is_used || !falls_through(function.body) || !values.iter().all(has_type) {
            return;
        }
        let wrong = format!("{what} returns a value in some cases, and can end without one, and its value is used");
        if let Some(last) = self.dropped_value(function) {
            let change = self.inserted(last.begin, "return ");
            return self.cured(&LINT, last, (wrong, "write `return` before it".into()), change);
        }
        let change = self.last_value(function).map(|(_, change)| change);
        let at_end = || self.returned_elsewhere(function).map(|name| self.return_at_end(function, name));
        let change = change.or_else(at_end);
        let place = match last.view() {
            StatementView::If(_) => last.location(),
            _ => end_of(function),
        };
        let cure = "add `return ...` before the `end` of the function, for the other cases";
        self.problem_with(&LINT, place, (wrong, cure.into()), change);
    }

    /// Reports a function that never returns a value, if its value is used.
    fn never_answered(&mut self, function: &Function<'_>, names: &[String], what: &str) {
        let mut uses = ResultUses::default();
        names.iter().for_each(|name| uses.add(self.known.names.uses_of_result(name)));
        if uses.tested + uses.untested <= 0 {
            return;
        }
        let wrong = format!("{what} returns nothing, and what it returns is used");
        if let Some(last) = self.dropped_value(function) {
            let change = self.inserted(last.begin, "return ");
            return self.cured(&LINT, last, (wrong, "write `return` before it".into()), change);
        }
        if let Some((at, change)) = self.last_value(function) {
            return self.cured(&LINT, at, (wrong, "write `return` instead of `local ... =`".into()), change);
        }
        let change = self.returned_elsewhere(function).map(|name| self.return_at_end(function, name));
        self.problem_with(&LINT, end_of(function), (wrong, "add `return ...` before this `end`".into()), change);
    }

    /// The place of the variable with which a function ends, as `local x = value`, and the change that returns the value.
    fn last_value(&self, function: &Function<'_>) -> Option<(Location, TextChange)> {
        let last = function.body.as_slice().last()?;
        let StatementView::Local(local) = last.view() else { return None };
        let ([binding], [value]) = (local.bindings, local.values) else { return None };
        let (begin, end) = (self.offset_of(last.location().begin), self.offset_of(value.location().begin));
        let is_unused = !self.evidence.is_used(binding.id);
        is_unused.then(|| (last.location(), TextChange { begin, end, text: "return ".into() }))
    }

    /// Reports a function around another one that drops the value of the function below, and returns values elsewhere.
    pub(crate) fn drops_below(&mut self, name: &str, function: &Function<'_>) {
        let is_answer = match self.path.split(['/', '.']).next() {
            Some("maneuvers" | "items") => name == "when" || self.known.names.is_answered_by_cards(name),
            Some("verbs") => self.known.names.verb(name).is_some_and(|verb| verb.answers),
            _ => false,
        };
        let Some(StatementView::Expression(last)) = function.body.as_slice().last().map(|last| last.view()) else {
            return;
        };
        let ExpressionKind::Call { func, .. } = last.expr.kind() else { return };
        let is_below = function.args.first().is_some_and(|below| local_id(func) == Some(below.id));
        if is_answer && is_below && returned(function.body).iter().any(|values| !values.is_empty()) {
            let wrong = format!("`{name}` returns a value in other cases, and drops that of the function below here");
            let change = self.inserted(last.expr.location().begin, "return ");
            self.cured(&LINT, last.expr.location(), (wrong, "write `return` before it".into()), change);
        }
    }

    /// Reports a `return` without a value in a function that returns one elsewhere.
    pub(crate) fn returns_nothing_at_times(&mut self, function: &Function<'_>, what: &str) {
        let gives = returned(function.body).iter().any(|values| !values.is_empty());
        if let Some(empty) = empty_return(function.body).filter(|_| gives) {
            let wrong = format!("{what} returns a value in other cases, and nothing here");
            let returns = returned(function.body);
            let mut values: Vec<&str> =
                returns.iter().filter(|values| values.len() == 1).map(|values| self.source(values[0])).collect();
            values.sort_unstable();
            values.dedup();
            if values.len() > 1 {
                // A variable goes before the calls that fill it.
                values.retain(|value| value.chars().all(is_of_name));
            }
            let change = match values.as_slice() {
                [only] => Some(self.replaced(empty, format!("return {only}"))),
                _ => None,
            };
            self.problem_with(&LINT, empty, (wrong, "write the value behind `return`".into()), change);
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

    /// Reports a used value that comes from a function of another ruleset that returns nothing. A function of this ruleset is
    /// reported where it is declared.
    pub(crate) fn has_come_back(&mut self, expression: Expression<'_>) {
        let silent = match expression.kind() {
            ExpressionKind::Local { local, .. } => self.silent.get(&local.id).cloned(),
            _ => self.silent_call(expression),
        };
        let Some(Silent { name, file: Some(file), end }) = silent else { return };
        let ruleset = |path: &str| path.split('/').next().map(str::to_string);
        if self.is_spec() || ruleset(&file) != ruleset(self.full_path()) {
            let cure = format!("add `return ...` to it in {file}:{}", end.begin.line + 1);
            self.problem(&LINT, expression.location(), (format!("`{name}` returns nothing"), cure.into()));
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

/// The first values that a function returns; `None` if it returns nil or nothing somewhere, or in a loop, which is how
/// something is searched.
fn answers_outside_loops<'a>(function: &Function<'a>) -> Option<Vec<Expression<'a>>> {
    let mut values = Vec::new();
    let mut is_plain = true;
    function.body.visit(&mut |node: AstNode<'a>| {
        let AstNode::Statement(statement) = node else { return false };
        let body = match statement.view() {
            StatementView::Return(returned) => {
                is_plain &=
                    returned.expressions.first().is_some_and(|first| !matches!(first.kind(), ExpressionKind::Nil));
                values.extend(returned.expressions.first().copied());
                return false;
            }
            StatementView::GenericFor(looped) => looped.body,
            StatementView::NumericFor(looped) => looped.body,
            StatementView::While(looped) => looped.body,
            StatementView::Repeat(looped) => looped.body,
            _ => return true,
        };
        is_plain &= returned(body).is_empty();
        false
    });
    is_plain.then_some(values)
}
