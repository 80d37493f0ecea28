//! Nothing reads a local variable.

use crate::lint::{Example, Lint, Severity};
use crate::reader::{Scope, ScriptReader};
use crate::syntax::text;
use riskbreaker_ruleset::TextChange;
use riskbreaker_script::syntax::{Expression, ExpressionKind, Local, Location};

pub(crate) static LINT: Lint = Lint {
    name: "unused-variable",
    severity: Severity::Warning,
    summary: "nothing reads a local variable",
    explanation: "A local variable or a local function is declared, and nothing uses it. It may be left over, or \
                  another name is written where it is meant. Use it, remove it, or begin its name with `_`.",
    bad: Example::Resolve(
        r#"local pull = 2
rb.act.move_rope(ctx.rope, 1, ctx.actor)"#,
    ),
    good: Example::Resolve(
        r#"local pull = 2
rb.act.move_rope(ctx.rope, pull, ctx.actor)"#,
    ),
};

impl ScriptReader<'_> {
    /// Reports the local variables of a declaration that nothing uses. One before another that is used has to be there.
    pub(crate) fn unused_variables(&mut self, names: &[&Local<'_>], values: &[Expression<'_>], declaration: Location) {
        let is_needed =
            |name: &&Local<'_>| text(name.name).starts_with('_') || name.name == "rb" || self.evidence.is_used(name.id);
        let last = names.iter().rposition(is_needed).map_or(0, |last| last + 1);
        for name in &names[last..] {
            let written = text(name.name);
            if let Some(line) = self.set_above(&written) {
                let begin = self.offset_of(declaration.begin);
                let is_local = self.text[begin..].starts_with("local ");
                let change = TextChange { begin, end: begin + "local ".len(), text: String::new() };
                let cure = format!("leave out `local`, which makes another variable than that of line {line}");
                let mistake = (format!("nothing uses `{written}`"), cure.into());
                self.problem_with(&LINT, name.location, mistake, Some(change).filter(|_| is_local));
                continue;
            }
            if let ([_], [value]) = (names, values)
                && !does_nothing(*value)
                && self.last_statements.contains(&declaration.begin)
                && !self.enclosing.is_empty()
            {
                // What the last statement of a function keeps is most likely its result.
                let begin = self.offset_of(declaration.begin);
                let change = TextChange { begin, end: self.offset_of(value.location().begin), text: "return ".into() };
                let cure = "return it: this is the last statement of the function";
                self.problem_with(
                    &LINT,
                    name.location,
                    (format!("nothing uses `{written}`"), cure.into()),
                    Some(change),
                );
                let otherwise = self.inserted(name.location.begin, "_");
                if let Some(problem) = self.found.last_mut() {
                    problem.choices = vec![otherwise];
                }
                continue;
            }
            let cure = format!("use it, remove it, or call it `_{written}`");
            let change = match (names, values) {
                ([_], [value]) if does_nothing(*value) => self.without_lines(declaration),
                _ => Some(self.inserted(name.location.begin, "_")),
            };
            self.problem_with(&LINT, name.location, (format!("nothing uses `{written}`"), cure.into()), change);
        }
    }

    /// Removes the findings if the script has errors: a wrong name may be the one that should use the variable.
    pub(crate) fn drop_unused_variables(&mut self) {
        if self.found.iter().any(|problem| !problem.is_warning) {
            self.found.retain(|problem| problem.lint != Some(LINT.name));
        }
    }

    /// The line of a variable of the same name in a block around this one, within the functions of the file.
    fn set_above(&self, name: &str) -> Option<u32> {
        let (_, around) = self.scopes.split_last()?;
        let (_, inside) = around.split_first()?;
        let same = |scope: &Scope| scope.iter().rev().find(|other| other.name == name).map(|other| other.line);
        inside.iter().rev().find_map(same)
    }

    /// The change that removes whole lines; `None` if something else is in them.
    fn without_lines(&self, at: Location) -> Option<TextChange> {
        let range = self.bytes_of(at);
        let begin = self.text[..range.start].rfind('\n').map_or(0, |newline| newline + 1);
        let end = self.text[range.end..].find('\n').map_or(self.text.len(), |newline| range.end + newline + 1);
        let is_alone = self.text[begin..range.start].trim().is_empty() && self.text[range.end..end].trim().is_empty();
        is_alone.then(|| TextChange { begin, end, text: String::new() })
    }
}

/// Whether a value can be removed without an effect.
fn does_nothing(value: Expression<'_>) -> bool {
    match value.kind() {
        ExpressionKind::Number { .. }
        | ExpressionKind::String { .. }
        | ExpressionKind::Boolean(_)
        | ExpressionKind::Nil
        | ExpressionKind::Local { .. }
        | ExpressionKind::FunctionLiteral(_) => true,
        ExpressionKind::Call { func, .. } => matches!(func.kind(), ExpressionKind::Global(name) if name == "require"),
        _ => false,
    }
}
