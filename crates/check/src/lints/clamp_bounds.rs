//! `math.max` and `math.min` are exchanged where a value is kept within bounds.

use crate::inference::Inference;
use crate::inference::symbol::Symbol;
use crate::lint::{Example, Lint, Severity};
use crate::reader::ScriptReader;
use crate::syntax::{constant, text};
use riskbreaker_script::syntax::{Expression, ExpressionKind, Location};
use riskbreaker_state::{Type, Value};

pub(crate) static LINT: Lint = Lint {
    name: "clamp-bounds",
    severity: Severity::Error,
    summary: "`math.max` and `math.min` are exchanged where a value is kept within bounds",
    explanation: "`math.max(0, n)` is at least 0, and `math.min(10, n)` is at most 10. With the greatest value of a \
                  field, `math.max` is never below it, and with the least one `math.min` is never above it, so the field \
                  gets its bound or a value beyond it.",
    bad: Example::Resolve(r#"ctx.actor:set("strength", math.max(10, ctx.actor.strength + 1))"#),
    good: Example::Resolve(r#"ctx.actor:set("strength", math.min(10, ctx.actor.strength + 1))"#),
};

impl Inference<'_> {
    /// The whole number that an expression always is: a literal, a variable that never changes, or a member of a module.
    pub(crate) fn whole_number(&self, expression: Expression<'_>) -> Option<i64> {
        match expression.kind() {
            ExpressionKind::Grouped(inner) => self.whole_number(inner),
            ExpressionKind::Local { local, .. } => self.numbers.get(&local.id).copied(),
            ExpressionKind::IndexName { expr, index, .. } => {
                let Some(Symbol::Module(path)) = self.symbol(expr) else { return None };
                self.known.names.module(&path)?.numbers.get(&text(index)).copied()
            }
            _ => match constant(expression)? {
                Value::Int(number) => Some(number),
                _ => None,
            },
        }
    }
}

impl ScriptReader<'_> {
    /// Reports a value of a field, or of a parameter, that one of its bounds fixes.
    pub(crate) fn bounded_the_wrong_way(&mut self, what: &str, ty: &Type, value: Expression<'_>) {
        let Type::Int { min, max } = ty else { return };
        if min == max {
            return;
        }
        match value.kind() {
            ExpressionKind::Grouped(inner) => self.bounded_the_wrong_way(what, ty, inner),
            ExpressionKind::Call { func, args, .. } => {
                let ExpressionKind::IndexName { expr, index, index_location, .. } = func.kind() else { return };
                if self.symbol(expr) != Some(Symbol::Library("math")) {
                    return;
                }
                let numbers: Vec<i64> = args.iter().filter_map(|arg| self.whole_number(*arg)).collect();
                if numbers.len() == args.len() {
                    return;
                }
                let (most, least) = (numbers.iter().max().copied(), numbers.iter().min().copied());
                let fixed = match &*text(index) {
                    "max" => {
                        most.zip(*max).filter(|(given, max)| given >= max).map(|(given, _)| (given, "most", "min"))
                    }
                    "min" => {
                        least.zip(*min).filter(|(given, min)| given <= min).map(|(given, _)| (given, "least", "max"))
                    }
                    _ => None,
                };
                if let Some((given, end, meant)) = fixed {
                    return self.other_bound((what, given, end), (&text(index), meant), index_location);
                }
                args.iter().for_each(|arg| self.bounded_the_wrong_way(what, ty, *arg));
            }
            _ => {}
        }
    }

    fn other_bound(&mut self, (what, given, end): (&str, i64, &str), (written, meant): (&str, &str), at: Location) {
        let never = if end == "most" { "below" } else { "above" };
        let wrong = format!("{what} is {given} at {end}, and `math.{written}` with {given} is never {never} it");
        let change = self.replaced(at, meant);
        self.cured(&LINT, at, (wrong, format!("write `math.{meant}`").into()), change);
    }
}
