//! A list is sorted by an order in which equal elements come before each other.

use crate::lint::{Example, Lint, Severity};
use crate::syntax::{is_of_name, text};
use crate::syntax_lints::SyntaxLints;
use riskbreaker_script::syntax::{BinaryOp, Expression, ExpressionKind, Location, StatementView};

pub(crate) static LINT: Lint = Lint {
    name: "sort-order",
    severity: Severity::Error,
    summary: "a list is sorted by `<=` or `>=`, which is no order",
    explanation: "The function of `table.sort` says whether its first value comes before its second one. Of two \
                  equal elements neither does. With `<=` or `>=` each comes before the other, and sorting faults \
                  with \"invalid order function\" or gives another order each time.",
    bad: Example::Resolve(
        r#"local numbers = { 3, 1, 2, 1 }
table.sort(numbers, function(a, b)
	return a <= b
end)
rb.say("{}", numbers[1])"#,
    ),
    good: Example::Resolve(
        r#"local numbers = { 3, 1, 2, 1 }
table.sort(numbers, function(a, b)
	return a < b
end)
rb.say("{}", numbers[1])"#,
    ),
};

impl SyntaxLints<'_> {
    /// Reports `<=` and `>=` between the two values of the function that sorts, or between equal parts of them.
    pub(crate) fn sorts_by(&mut self, order: Expression<'_>) {
        let ExpressionKind::FunctionLiteral(function) = order.kind() else { return };
        let [first, second] = function.args else { return };
        let names = (text(first.name), text(second.name));
        // A `return` within a branch may be about elements that differ.
        let last = function.body.as_slice().last().map(|last| last.view());
        let Some(StatementView::Return(returned)) = last else { return };
        let mut deciding = Vec::new();
        returned.expressions.iter().take(1).for_each(|result| last_operands(*result, &mut deciding));
        for result in deciding {
            let ExpressionKind::Binary { lhs, op, rhs } = result.kind() else { continue };
            let strict = match op {
                BinaryOp::LessEqual => "<",
                BinaryOp::GreaterEqual => ">",
                _ => continue,
            };
            if self.is_same_of_the_other(lhs, rhs, &names) {
                let wrong = "of two equal elements, each comes before the other by this order";
                self.tell(&LINT, result.location(), wrong, format!("write `{strict}`"));
                self.changes(Location::new(lhs.location().end, rhs.location().begin), format!(" {strict} "));
            }
        }
    }

    /// Whether two sides have the same source text but for the two values that are compared.
    fn is_same_of_the_other(&self, lhs: Expression<'_>, rhs: Expression<'_>, names: &(String, String)) -> bool {
        let Some((left, right)) = self.written(lhs.location()).zip(self.written(rhs.location())) else { return false };
        let words =
            |side: &str| side.split_inclusive(|letter| !is_of_name(letter)).map(str::to_owned).collect::<Vec<_>>();
        let exchanged = |word: &String| {
            let name = word.trim_end_matches(|letter| !is_of_name(letter));
            let rest = &word[name.len()..];
            match name {
                _ if name == names.0 => format!("{}{rest}", names.1),
                _ if name == names.1 => format!("{}{rest}", names.0),
                _ => word.clone(),
            }
        };
        left != right && words(left).iter().map(exchanged).eq(words(right))
    }
}

/// Collects the operands that decide about equal elements: each part of `or`, and the last one of `and`.
fn last_operands<'a>(result: Expression<'a>, found: &mut Vec<Expression<'a>>) {
    match result.kind() {
        ExpressionKind::Grouped(inner) => last_operands(inner, found),
        ExpressionKind::Binary { lhs, op: BinaryOp::Or, rhs } => {
            last_operands(lhs, found);
            last_operands(rhs, found);
        }
        ExpressionKind::Binary { op: BinaryOp::And, rhs, .. } => last_operands(rhs, found),
        _ => found.push(result),
    }
}
