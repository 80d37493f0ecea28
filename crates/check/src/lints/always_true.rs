//! A condition is always true, or never.

use crate::inference::symbol::Symbol;
use crate::inference::value_type::ValueType;
use crate::lint::{Example, Lint, Severity};
use crate::reader::ScriptReader;
use crate::syntax::{is_length, number, text};
use crate::syntax_lints::SyntaxLints;
use riskbreaker_script::syntax::{BinaryOp, Expression, ExpressionKind, Location, UnaryOp};

pub(crate) static LINT: Lint = Lint {
    name: "always-true",
    severity: Severity::Error,
    summary: "a condition is always true, or never",
    explanation: "In Luau only nil and false are untrue. The number 0, an empty text, an empty list and a \
                  function count as true. A condition needs a comparison, such as `> 0`.",
    bad: Example::Resolve(
        r#"if rb.switches.wins_at then
	rb.say("far")
end"#,
    ),
    good: Example::Resolve(
        r#"if rb.switches.wins_at > 3 then
	rb.say("far")
end"#,
    ),
};

impl ScriptReader<'_> {
    /// Reports a condition that is always true: a function, or a value that is never nil.
    pub(crate) fn condition(&mut self, condition: Expression<'_>) {
        self.condition_of(condition, None);
    }

    /// Reports a function behind `not`, which is never true.
    pub(crate) fn denied(&mut self, value: Expression<'_>) {
        let is_named = matches!(value.kind(), ExpressionKind::Local { .. } | ExpressionKind::IndexName { .. });
        if is_named && self.value_type(value) == Some(ValueType::Function) {
            self.function_as_condition(value);
        }
    }

    /// Checks a condition. `denied` is the place of the `not` with the condition that it stands before.
    fn condition_of(&mut self, condition: Expression<'_>, denied: Option<Location>) {
        let negated = denied.is_some();
        match condition.kind() {
            ExpressionKind::Grouped(inner) => self.condition_of(inner, None),
            ExpressionKind::Unary { op: UnaryOp::Not, rhs } => self.condition_of(rhs, Some(condition.location())),
            ExpressionKind::Binary { lhs, op: BinaryOp::And | BinaryOp::Or, rhs } => {
                self.condition_of(lhs, None);
                self.condition_of(rhs, None);
            }
            ExpressionKind::Number { .. } | ExpressionKind::Integer { .. } | ExpressionKind::String { .. } => {
                let wrong = "this condition is a value that is always true".to_string();
                let cure = "compare it with something; two values are written `a == 1 or a == 2`";
                self.problem(&LINT, condition.location(), (wrong, cure.into()));
            }
            ExpressionKind::Local { .. } | ExpressionKind::IndexName { .. }
                if self.value_type(condition) == Some(ValueType::Function) =>
            {
                self.function_as_condition(condition);
            }
            ExpressionKind::IndexName { expr, index, .. } if self.symbol(expr) == Some(Symbol::Word("switches")) => {
                let cure = match self.value_type(condition) {
                    Some(ValueType::Number) => "compare it: `> 0`".to_string(),
                    Some(ValueType::Text) => {
                        let switch = self.known.rules.and_then(|rules| rules.switch(&text(index)));
                        let values = switch.map_or(String::new(), |switch| format!("; it is {}", switch.kind));
                        format!("compare it with one of its values: `== \"...\"`{values}")
                    }
                    _ => return,
                };
                let wrong =
                    format!("the switch `{}` always has a value, so this condition is always true", text(index));
                self.problem(&LINT, condition.location(), (wrong, cure.into()));
            }
            ExpressionKind::IndexName { expr, index, .. }
                if matches!(self.symbol(expr), Some(Symbol::Entity(_)) | None) =>
            {
                let read_off_any = self.symbol(expr).is_none();
                let written = self.source(condition);
                let (cure, meant) = match self.value_type(condition) {
                    Some(ValueType::Number) if !read_off_any => ("compare it: `> 0`", format!("{written} > 0")),
                    Some(ValueType::Text) if !read_off_any => ("compare it: `~= \"\"`", format!("{written} ~= \"\"")),
                    Some(ValueType::List) => ("count it: `#` before it and `> 0` behind it", format!("#{written} > 0")),
                    _ => return,
                };
                let wrong = format!("the field `{}` always has a value, so this condition is always true", text(index));
                // Under `not`, the comparison takes brackets.
                let change = self.replaced(condition.location(), if negated { format!("({meant})") } else { meant });
                self.cured(&LINT, condition.location(), (wrong, cure.into()), change);
            }
            _ if self.is_always_there(condition) => {
                let Some(sort) = self.value_type(condition) else { return };
                if sort == ValueType::Number {
                    return self.number_as_condition(condition, denied);
                }
                let cure = match sort {
                    ValueType::Number => return,
                    ValueType::Text => "compare it with a text",
                    ValueType::Truth | ValueType::Function | ValueType::Entity => return,
                    ValueType::Record => "read the name that is meant off it",
                    _ => "count a list: `#` before it, and `> 0` behind it",
                };
                let wrong = format!("this condition is {}, and so is always true", sort.words());
                self.problem(&LINT, condition.location(), (wrong, cure.into()));
            }
            _ => {}
        }
    }
}

impl ScriptReader<'_> {
    /// Reports a number in the place of a condition; `denied` is the place of the `not` before it.
    fn number_as_condition(&mut self, number: Expression<'_>, denied: Option<Location>) {
        let written = match number.kind() {
            ExpressionKind::Binary { .. } => format!("({})", self.source(number)),
            _ => self.source(number).to_owned(),
        };
        let (word, meant) = match denied {
            Some(_) => ("never", format!("{written} == 0")),
            None => ("always", format!("{written} > 0")),
        };
        let wrong = format!("0 counts as true, too, so this condition is {word} true");
        let change = self.replaced(denied.unwrap_or(number.location()), &*meant);
        self.cured(&LINT, number.location(), (wrong, format!("write `{meant}`").into()), change);
    }
}

impl SyntaxLints<'_> {
    /// Reports `#list >= 0` and `#list < 0`.
    pub(crate) fn length_is_not_negative(
        &mut self,
        lhs: Expression<'_>,
        op: BinaryOp,
        rhs: Expression<'_>,
        at: Location,
    ) {
        if matches!(op, BinaryOp::GreaterEqual | BinaryOp::Less) && is_length(lhs) && number(rhs) == Some(0.0) {
            let always = if op == BinaryOp::Less { "never" } else { "always" };
            let cure = "write `> 0` for a list with elements, `== 0` for an empty one";
            let wrong = format!("a list has 0 elements or more, so this is {always} true");
            self.tell(&LINT, at, wrong, cure);
            self.changes(Location::new(lhs.location().end, rhs.location().end), " > 0");
        }
    }
}
