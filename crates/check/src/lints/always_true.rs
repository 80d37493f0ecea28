//! A condition is always true, or never.

use crate::inference::symbol::Symbol;
use crate::inference::value_type::ValueType;
use crate::lint::{Example, Lint, Severity};
use crate::reader::ScriptReader;
use crate::syntax::{is_length, literal, number, text};
use crate::syntax_lints::SyntaxLints;
use riskbreaker_dice::Dice;
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
        self.condition_of(condition, false);
    }

    /// Reports a function behind `not`, which is never true.
    pub(crate) fn denied(&mut self, value: Expression<'_>) {
        let is_named = matches!(value.kind(), ExpressionKind::Local { .. } | ExpressionKind::IndexName { .. });
        if is_named && self.value_type(value) == Some(ValueType::Function) {
            self.function_as_condition(value);
        }
    }

    /// Checks a condition. `negated`: it follows `not`.
    fn condition_of(&mut self, condition: Expression<'_>, negated: bool) {
        match condition.kind() {
            ExpressionKind::Grouped(inner) => self.condition_of(inner, false),
            ExpressionKind::Unary { op: UnaryOp::Not, rhs } if is_length(rhs) => {
                let wrong = "a number counts as true, also 0, so this is never true".to_owned();
                let meant = format!("{} == 0", self.source(rhs));
                let change = self.replaced(condition.location(), &*meant);
                self.cured(&LINT, condition.location(), (wrong, format!("write `{meant}`").into()), change);
            }
            ExpressionKind::Unary { op: UnaryOp::Not, rhs } => self.condition_of(rhs, true),
            ExpressionKind::Binary { lhs, op: BinaryOp::And | BinaryOp::Or, rhs } => {
                self.condition_of(lhs, false);
                self.condition_of(rhs, false);
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
                let cure = match sort {
                    ValueType::Number => "compare it, such as `> 0`",
                    ValueType::Text => "compare it with a text",
                    ValueType::Truth | ValueType::Function | ValueType::Entity => return,
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
    /// Reports a comparison of a roll with a number that all or none of its results fulfil.
    pub(crate) fn roll_compared(&mut self, lhs: Expression<'_>, op: BinaryOp, rhs: Expression<'_>, at: Location) {
        use BinaryOp::{Equal, Greater, GreaterEqual, Less, LessEqual, NotEqual};
        let exchanged = match op {
            Less => Greater,
            LessEqual => GreaterEqual,
            Greater => Less,
            GreaterEqual => LessEqual,
            Equal | NotEqual => op,
            _ => return,
        };
        let found = match (self.results_of(lhs), number(rhs), self.results_of(rhs), number(lhs)) {
            (Some(results), Some(bound), ..) => (results, op, bound),
            (.., Some(results), Some(bound)) => (results, exchanged, bound),
            _ => return,
        };
        let ((least, most), op, bound) = found;
        let (least, most) = (least as f64, most as f64);
        let is_always = match op {
            Greater => (least > bound, most <= bound),
            GreaterEqual => (least >= bound, most < bound),
            Less => (most < bound, least >= bound),
            LessEqual => (most <= bound, least > bound),
            Equal => (false, bound < least || bound > most),
            NotEqual => (bound < least || bound > most, false),
            _ => return,
        };
        let always = match is_always {
            (true, _) => "always",
            (_, true) => "never",
            _ => return,
        };
        let wrong = format!("this roll gives {least} to {most}, so this is {always} true");
        self.problem(&LINT, at, (wrong, format!("compare it with a number from {least} to {most}").into()));
    }

    /// The least and the highest result of `rb.roll("1d6", ...)`, also of one that a variable keeps; `None` for other
    /// expressions and for dice that are no plain sum.
    fn results_of(&self, roll: Expression<'_>) -> Option<(i64, i64)> {
        match roll.kind() {
            ExpressionKind::Grouped(inner) => self.results_of(inner),
            ExpressionKind::Local { local, .. } => self.rolls.get(&local.id).copied(),
            _ => self.results_of_call(roll),
        }
    }

    /// The least and the highest result of a call of `rb.roll` with plain dice.
    pub(crate) fn results_of_call(&self, roll: Expression<'_>) -> Option<(i64, i64)> {
        let ExpressionKind::Call { func, args, .. } = roll.kind() else { return None };
        if self.symbol(func) != Some(Symbol::Word("roll")) {
            return None;
        }
        let (count, sides, more) = Dice::parse(&literal(*args.first()?)?).ok()?.simple()?;
        Some((i64::from(count) + more, i64::from(count) * i64::from(sides) + more))
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
            let cure = "write `> 0` for a list with something in it, `== 0` for an empty one";
            let wrong = format!("a list has 0 places or more, so this is {always} true");
            self.tell(&LINT, at, wrong, cure);
            let behind = Location::new(lhs.location().end, rhs.location().end);
            self.changes(behind, " > 0");
        }
    }
}
