//! Reports functions that return nothing although their result is used.

use super::lints;
use super::script::{ScriptReader, place_in};
use riskbreaker_script::syntax::{Expression, ExpressionKind, Location};

/// A function that never returns a value.
#[derive(Clone, Debug)]
pub(super) struct Silent {
    /// The function's name as it is called: `rb.act.deal`.
    name: String,
    /// The file's path with the ruleset's id; `None` if several files take part in the function.
    file: Option<String>,
    /// The position of its `end`.
    end: Location,
}

impl ScriptReader<'_> {
    /// Returns the function that an expression calls, if the function returns nothing.
    pub(super) fn silent_call(&self, expression: Expression<'_>) -> Option<Silent> {
        match expression.kind() {
            ExpressionKind::Grouped(inner) => self.silent_call(inner),
            ExpressionKind::Call { func, self_call, .. } => {
                let called = self.called(func, self_call)?;
                Some(Silent { end: called.signature.silent?, file: called.file, name: called.name })
            }
            _ => None,
        }
    }

    /// Checks a value that is assigned to something.
    pub(super) fn kept(&mut self, value: Expression<'_>) {
        if matches!(value.kind(), ExpressionKind::Call { .. }) {
            self.has_come_back(value);
        }
        self.expression(value);
    }

    /// Reports a used value that comes from a function that returns nothing.
    pub(super) fn has_come_back(&mut self, expression: Expression<'_>) {
        let silent = match expression.kind() {
            ExpressionKind::Local { local, .. } => self.silent.get(&local.id).cloned(),
            _ => self.silent_call(expression),
        };
        let Some(Silent { name, file: Some(file), end }) = silent else { return };
        let ruleset = |path: &str| path.split('/').next().map(str::to_string);
        if self.is_spec() || ruleset(&file) != ruleset(self.full_path()) {
            let cure = format!("add `return ...` to it in {file}:{}", end.begin.line + 1);
            return self.problem(
                &lints::missing_return::LINT,
                expression.location(),
                (format!("`{name}` returns nothing"), cure),
            );
        }
        let place = place_in(self.known.stack.text_of(&file).unwrap_or_default(), end.begin);
        if !self
            .found
            .iter()
            .any(|found| found.path == file && (found.line, found.column) == (Some(place.0), Some(place.1)))
        {
            let short = name.rsplit('.').next().unwrap_or(&name);
            let message = format!("`{short}` returns nothing, and what it returns is used");
            let problem = lints::missing_return::LINT.problem(file, message);
            self.found.push(problem.at(place).with_cure("add `return ...` before this `end`".to_string()));
        }
    }
}
