//! Which conditions imply others: `x > 5` implies `x > 2`.

use crate::syntax::{literal, number};
use crate::syntax_lints::SyntaxLints;
use riskbreaker_script::syntax::{BinaryOp, Expression, ExpressionKind};

/// A comparison, with the constant on the right if there is one.
struct Comparison<'a> {
    of: Expression<'a>,
    op: BinaryOp,
    with: Expression<'a>,
}

impl SyntaxLints<'_> {
    /// Whether a condition is true only if another one is, as far as their forms show.
    pub(crate) fn implies(&self, one: Expression<'_>, other: Expression<'_>) -> bool {
        match (one.kind(), other.kind()) {
            (ExpressionKind::Grouped(inner), _) => self.implies(inner, other),
            (_, ExpressionKind::Grouped(inner)) => self.implies(one, inner),
            (ExpressionKind::Binary { lhs, op: BinaryOp::Or, rhs }, _) => {
                self.implies(lhs, other) && self.implies(rhs, other)
            }
            (_, ExpressionKind::Binary { lhs, op: BinaryOp::And, rhs }) => {
                self.implies(one, lhs) && self.implies(one, rhs)
            }
            (ExpressionKind::Binary { lhs, op: BinaryOp::And, rhs }, _) => {
                self.implies(lhs, other) || self.implies(rhs, other)
            }
            (_, ExpressionKind::Binary { lhs, op: BinaryOp::Or, rhs }) => {
                self.implies(one, lhs) || self.implies(one, rhs)
            }
            _ if self.same(one, other) => true,
            _ => match (comparison(one), comparison(other)) {
                (Some(one), Some(other)) => self.same(one.of, other.of) && self.narrows(&one, &other),
                _ => false,
            },
        }
    }

    /// Whether a comparison of a value is true only if another one of the same value is.
    fn narrows(&self, one: &Comparison<'_>, other: &Comparison<'_>) -> bool {
        use BinaryOp::{Equal, Greater, GreaterEqual, Less, LessEqual, NotEqual};
        if let Some((here, there)) = number(one.with).zip(number(other.with)) {
            return match (one.op, other.op) {
                (Greater, Greater) | (GreaterEqual, GreaterEqual) | (Greater, GreaterEqual) => here >= there,
                (GreaterEqual, Greater) => here > there,
                (Less, Less) | (LessEqual, LessEqual) | (Less, LessEqual) => here <= there,
                (LessEqual, Less) => here < there,
                (Equal, Greater) => here > there,
                (Equal, GreaterEqual) => here >= there,
                (Equal, Less) => here < there,
                (Equal, LessEqual) => here <= there,
                (Equal, NotEqual) => here != there,
                (Greater, NotEqual) => here >= there,
                (GreaterEqual, NotEqual) => here > there,
                (Less, NotEqual) => here <= there,
                (LessEqual, NotEqual) => here < there,
                _ => false,
            };
        }
        if let Some((here, there)) = literal(one.with).zip(literal(other.with)) {
            return (one.op, other.op) == (Equal, NotEqual) && here != there;
        }
        match (one.op, other.op) {
            (Greater | GreaterEqual, GreaterEqual) | (Greater, Greater) => self.is_at_least(one.with, other.with),
            (Less | LessEqual, LessEqual) | (Less, Less) => self.is_at_most(one.with, other.with),
            _ => false,
        }
    }

    /// Whether a value is another one or more, by its form: `math.max(least, 5)` and `least + 1` are at least `least`.
    fn is_at_least(&self, value: Expression<'_>, least: Expression<'_>) -> bool {
        match value.kind() {
            _ if self.same(value, least) => true,
            ExpressionKind::Grouped(inner) => self.is_at_least(inner, least),
            ExpressionKind::Binary { lhs, op: BinaryOp::Add, rhs } => {
                self.same(lhs, least) && number(rhs).is_some_and(|more| more >= 0.0)
                    || self.same(rhs, least) && number(lhs).is_some_and(|more| more >= 0.0)
            }
            ExpressionKind::Call { func, args, .. } => {
                is_of_math(func, "max") && args.iter().any(|arg| self.same(*arg, least))
            }
            _ => false,
        }
    }

    /// Whether a value is another one or less, by its form.
    fn is_at_most(&self, value: Expression<'_>, most: Expression<'_>) -> bool {
        match value.kind() {
            _ if self.same(value, most) => true,
            ExpressionKind::Grouped(inner) => self.is_at_most(inner, most),
            ExpressionKind::Binary { lhs, op: BinaryOp::Subtract, rhs } => {
                self.same(lhs, most) && number(rhs).is_some_and(|less| less >= 0.0)
            }
            ExpressionKind::Call { func, args, .. } => {
                is_of_math(func, "min") && args.iter().any(|arg| self.same(*arg, most))
            }
            _ => false,
        }
    }
}

/// Returns the comparison that an expression is.
fn comparison<'a>(expression: Expression<'a>) -> Option<Comparison<'a>> {
    use BinaryOp::{Equal, Greater, GreaterEqual, Less, LessEqual, NotEqual};
    let ExpressionKind::Binary { lhs, op, rhs } = expression.kind() else { return None };
    let exchanged = match op {
        Less => Greater,
        LessEqual => GreaterEqual,
        Greater => Less,
        GreaterEqual => LessEqual,
        Equal | NotEqual => op,
        _ => return None,
    };
    match number(lhs).is_some() || literal(lhs).is_some() {
        true => Some(Comparison { of: rhs, op: exchanged, with: lhs }),
        false => Some(Comparison { of: lhs, op, with: rhs }),
    }
}

/// Whether an expression is a function of the library `math`.
fn is_of_math(func: Expression<'_>, name: &str) -> bool {
    matches!(func.kind(), ExpressionKind::IndexName { expr, index, .. }
        if index == name && matches!(expr.kind(), ExpressionKind::Global(library) if library == "math"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use riskbreaker_script::syntax::{Arena, StatementView, parse};

    fn implied(one: &str, other: &str) -> bool {
        let source = format!("if {one} then f() elseif {other} then g() end");
        let arena = Arena::new();
        let root = parse(&arena, &source).unwrap();
        let StatementView::If(first) = root.as_slice()[0].view() else { panic!() };
        let Some(StatementView::If(second)) = first.else_body.map(|rest| rest.view()) else { panic!() };
        let lints = SyntaxLints { lines: source.lines().collect(), ..SyntaxLints::default() };
        lints.implies(first.condition, second.condition)
    }

    #[test]
    fn a_narrower_condition_implies_a_wider_one() {
        for (one, other) in [
            ("x > 5", "x > 2"),
            ("x >= 3", "x > 2"),
            ("5 < x", "x > 2"),
            ("x == 7", "x >= 7"),
            ("x == 1", "x ~= 2"),
            ("a.b <= -3", "a.b < -2"),
            ("x > 5 and y", "x > 2"),
            ("x > 5", "y or x > 2"),
            ("x >= math.max(least, 5 - n)", "x >= least"),
            ("x > least + 1", "x >= least"),
            ("x < math.min(most, n)", "x < most"),
            ("kind == \"a\"", "kind ~= \"b\""),
        ] {
            assert!(implied(one, other), "{one} implies {other}");
        }
        for (one, other) in [
            ("x > 2", "x > 5"),
            ("x >= 2", "x > 2"),
            ("x > 5", "y > 2"),
            ("x > 5 or y", "x > 2"),
            ("x > 5", "x > 2 and y"),
            ("x >= least", "x >= math.max(least, 5)"),
            ("f() > 5", "f() > 2"),
            ("x == \"a\"", "x == \"b\""),
            ("x > 5", "x < 2"),
        ] {
            assert!(!implied(one, other), "{one} does not imply {other}");
        }
    }
}
