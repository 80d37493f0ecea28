//! A value is written, and the next statement writes another one in its place.

use crate::lint::{Example, Lint, Severity};
use crate::syntax::{is_of_name, literal, text};
use crate::syntax_lints::{SyntaxLints, calls};
use riskbreaker_script::syntax::{Block, Expression, ExpressionKind, Location, Statement, StatementView};

pub(crate) static LINT: Lint = Lint {
    name: "lost-value",
    severity: Severity::Error,
    summary: "a value is written, and the next statement writes another one in its place",
    explanation: "The first of the two statements has no effect. Most often one of them is a copy whose name was not \
                  changed.",
    bad: Example::Resolve(
        r#"ctx.actor:set("rests", 1)
ctx.actor:set("rests", 2)"#,
    ),
    good: Example::Resolve(
        r#"ctx.actor:set("rests", 1)
ctx.rope:set("at", 2)"#,
    ),
};

/// What a statement writes: the place, as it is written, with the value.
struct Written<'a, 's> {
    place: (&'s str, Option<String>),
    /// Where the name of the field is written.
    field: Option<Location>,
    value: Expression<'a>,
}

impl<'s> SyntaxLints<'s> {
    /// Reports statements of a block that write what the next statement writes, too.
    pub(crate) fn overwritten(&mut self, block: Block<'_>) {
        for pair in block.as_slice().windows(2) {
            let [first, second] = pair else { continue };
            let Some((lost, kept)) = self.written_by(*first).zip(self.written_by(*second)) else { continue };
            let (place, field) = &kept.place;
            let value = self.written(kept.value.location()).unwrap_or_default();
            // The second value may be computed from the first one.
            if lost.place == kept.place && !value.is_empty() && !value.contains(place) && !calls(kept.value) {
                let what = field.as_ref().map_or((*place).to_owned(), |field| format!("{field} of {place}"));
                // `x` was written with `x`, and then with `y`: the copy kept the name of the field.
                let value_is = |of: &Written<'_, '_>, name: &str| self.written(of.value.location()) == Some(name);
                let is_name = !value.is_empty() && value.chars().all(is_of_name);
                if let Some(name) = field.as_deref().filter(|name| value_is(&lost, name) && is_name && *name != value)
                    && let Some(at) = kept.field
                {
                    let wrong = format!("`{what}` is written twice in a row, and here with `{value}`");
                    self.tell(&LINT, second.location(), wrong, format!("write \"{value}\" instead of \"{name}\""));
                    self.changes(at, format!("\"{value}\""));
                    continue;
                }
                let wrong = format!("`{what}` is written twice in a row, so this value is lost");
                self.tell(&LINT, first.location(), wrong, "delete this line, or correct the name in one of the two");
            }
        }
    }

    fn written_by<'a>(&self, statement: Statement<'a>) -> Option<Written<'a, 's>> {
        match statement.view() {
            StatementView::Assign(assign) => {
                let ([var], [value]) = (assign.vars, assign.values) else { return None };
                let is_plain = !calls(*var);
                Some(Written {
                    place: (self.written(var.location()).filter(|_| is_plain)?, None),
                    field: None,
                    value: *value,
                })
            }
            StatementView::Expression(call) => {
                let ExpressionKind::Call { func, args: [field, value], self_call: true, .. } = call.expr.kind() else {
                    return None;
                };
                let ExpressionKind::IndexName { expr, index, .. } = func.kind() else { return None };
                let is_plain = text(index) == "set" && !calls(expr);
                let of = self.written(expr.location()).filter(|_| is_plain)?;
                Some(Written { place: (of, Some(literal(*field)?)), field: Some(field.location()), value: *value })
            }
            _ => None,
        }
    }
}
