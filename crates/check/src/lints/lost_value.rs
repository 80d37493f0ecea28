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
    value: Expression<'a>,
    /// Where the name of the field is written.
    field_at: Option<Location>,
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
                let wrong = format!("`{what}` is written twice in a row, so this value is lost");
                self.tell(&LINT, first.location(), wrong, "delete this line, or correct the name in one of the two");
                // A value that is called like another field than the one which it is written to.
                let named = [&lost, &kept].map(|written| self.written(written.value.location()).unwrap_or_default());
                if let (Some(field), [_, last]) = (field, named)
                    && named[0] == field
                    && last != field
                    && !last.is_empty()
                    && last.chars().all(is_of_name)
                    && last.starts_with(char::is_alphabetic)
                    && let Some(at) = kept.field_at
                {
                    self.changes(at, format!("\"{last}\""));
                }
            }
        }
    }

    fn written_by<'a>(&self, statement: Statement<'a>) -> Option<Written<'a, 's>> {
        match statement.view() {
            StatementView::Assign(assign) => {
                let ([var], [value]) = (assign.vars, assign.values) else { return None };
                let is_plain = !calls(*var);
                let place = (self.written(var.location()).filter(|_| is_plain)?, None);
                Some(Written { place, value: *value, field_at: None })
            }
            StatementView::Expression(call) => {
                let ExpressionKind::Call { func, args: [field, value], self_call: true, .. } = call.expr.kind() else {
                    return None;
                };
                let ExpressionKind::IndexName { expr, index, .. } = func.kind() else { return None };
                let is_plain = text(index) == "set" && !calls(expr);
                let of = self.written(expr.location()).filter(|_| is_plain)?;
                Some(Written { place: (of, Some(literal(*field)?)), value: *value, field_at: Some(field.location()) })
            }
            _ => None,
        }
    }
}
