//! A division may give a fraction where a whole number is taken.

use crate::inference::Inference;
use crate::inference::evidence::is_math;
use crate::inference::value_type::reckons;
use crate::lint::{Example, Lint, Severity};
use crate::reader::ScriptReader;
use crate::syntax::{number, text};
use riskbreaker_ruleset::{ParamType, TextChange};
use riskbreaker_script::syntax::{BinaryOp, Expression, ExpressionKind, Location, UnaryOp};
use riskbreaker_state::Type;

pub(crate) static LINT: Lint = Lint {
    name: "fraction",
    severity: Severity::Error,
    summary: "a division may give a fraction where a whole number is taken",
    explanation: "Fields, parameters and sums take whole numbers, and `/` gives a fraction where the division leaves a \
                  rest: the action fails then. `//` divides and rounds down; `math.ceil` and `math.round` round otherwise.",
    bad: Example::Resolve(r#"ctx.actor:add("rests", ctx.actor.strength / 2)"#),
    good: Example::Resolve(r#"ctx.actor:add("rests", ctx.actor.strength // 2)"#),
};

impl Inference<'_> {
    /// The place of a division whose result reaches a value without being rounded: the two sides around the sign.
    fn division_in(&self, value: Expression<'_>) -> Option<Location> {
        match value.kind() {
            ExpressionKind::Grouped(inner) | ExpressionKind::TypeAssertion { expr: inner, .. } => {
                self.division_in(inner)
            }
            ExpressionKind::Unary { op: UnaryOp::Negate, rhs } => self.division_in(rhs),
            ExpressionKind::Binary { lhs, op: BinaryOp::Divide, rhs } => {
                let is_whole = match (number(lhs), number(rhs)) {
                    (Some(above), Some(below)) => (above / below).fract() == 0.0,
                    (_, Some(below)) => below.abs() == 1.0,
                    _ => false,
                };
                // `(n - n % 2) / 2` leaves no rest.
                (!is_whole && !has_rest(lhs)).then(|| Location::new(lhs.location().end, rhs.location().begin))
            }
            // What is multiplied with the divisor again may be whole.
            ExpressionKind::Binary { lhs, op: BinaryOp::Add | BinaryOp::Subtract, rhs } => {
                self.division_in(lhs).or_else(|| self.division_in(rhs))
            }
            ExpressionKind::If { then_expression, else_expression, .. } => {
                self.division_in(then_expression).or_else(|| self.division_in(else_expression))
            }
            ExpressionKind::Local { local, .. } => self.divided.get(&local.id).copied(),
            // `math.max` gives one of its values.
            ExpressionKind::Call { func, args, .. } => {
                let ExpressionKind::IndexName { expr, index, .. } = func.kind() else { return None };
                let gives_one = is_math(expr) && matches!(&*text(index), "max" | "min" | "clamp" | "abs");
                args.iter().filter(|_| gives_one).find_map(|arg| self.division_in(*arg))
            }
            _ => None,
        }
    }

    /// Notes a new local variable that holds a division which is not rounded.
    pub(crate) fn note_division(&mut self, id: u64, value: Expression<'_>) {
        let found = self.division_in(value);
        self.divided.extend(found.map(|at| (id, at)));
    }
}

impl ScriptReader<'_> {
    /// Reports a division that may give a fraction, in a value that must be a whole number.
    pub(crate) fn takes_no_fraction(&mut self, value: Expression<'_>, what: &str) -> bool {
        let Some(between) = self.division_in(value).filter(|_| !self.is_spec()) else { return false };
        let bytes = self.bytes_of(between);
        let sign = self.text.get(bytes.clone()).and_then(|text| text.find('/')).map(|at| bytes.start + at);
        let change = sign.map(|at| TextChange { begin: at, end: at + 1, text: "//".into() });
        let wrong = format!("{what} takes a whole number, and `/` may give a fraction");
        let cure = "write `//`, which rounds down, or round it by math.ceil or math.round";
        self.problem_with(&LINT, between, (wrong, cure.into()), change);
        true
    }

    /// The same for a parameter of a verb.
    pub(crate) fn parameter_takes_no_fraction(
        &mut self,
        value: Expression<'_>,
        (name, ty): (&str, &ParamType),
    ) -> bool {
        let is_whole = matches!(ty, ParamType::Value(Type::Int { .. }));
        is_whole && self.takes_no_fraction(value, &format!("`{name}`"))
    }
}

/// Whether an expression calculates with a rest.
fn has_rest(value: Expression<'_>) -> bool {
    match value.kind() {
        ExpressionKind::Grouped(inner) => has_rest(inner),
        ExpressionKind::Binary { op: BinaryOp::Modulo, .. } => true,
        ExpressionKind::Binary { lhs, op, rhs } if reckons(op) => has_rest(lhs) || has_rest(rhs),
        _ => false,
    }
}
