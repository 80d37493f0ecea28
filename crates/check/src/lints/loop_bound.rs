//! A loop counts to something that is no number.

use crate::inference::value_type::ValueType;
use crate::lint::{Example, Lint, Severity};
use crate::reader::ScriptReader;
use crate::syntax::text;
use riskbreaker_script::syntax::{Expression, ExpressionKind, UnaryOp};

pub(crate) static LINT: Lint = Lint {
    name: "loop-bound",
    severity: Severity::Error,
    summary: "a loop counts to something that is no number",
    explanation: "The first number, the last number and the step of a `for` are numbers. The length of a list is \
                  `#list`.",
    bad: Example::Resolve(
        r#"for n = 1, rb.each("puller") do
	rb.say("{}", n)
end"#,
    ),
    good: Example::Resolve(
        r#"for n = 1, #rb.each("puller") do
	rb.say("{}", n)
end"#,
    ),
};

impl ScriptReader<'_> {
    /// Reports a loop over the elements of a number.
    pub(crate) fn loops_over_number(&mut self, value: Expression<'_>) {
        if self.value_type(value) != Some(ValueType::Number) {
            return;
        }
        let wrong = "a number has no elements to go through".to_owned();
        match value.kind() {
            ExpressionKind::Unary { op: UnaryOp::Length, rhs } => {
                let change = self.replaced(value.location(), self.source(rhs));
                let cure = "leave `#` out: the loop goes through the list itself";
                self.cured(&LINT, value.location(), (wrong, cure.into()), change);
            }
            _ => {
                let cure = format!("count with it: `for n = 1, {} do`", self.source(value));
                self.problem(&LINT, value.location(), (wrong, cure.into()));
            }
        }
    }

    /// Reports a first number, last number or step of a loop that is not a number.
    pub(crate) fn counted_with(&mut self, value: Expression<'_>) {
        let list = !self.is_spec()
            && matches!(value.kind(), ExpressionKind::IndexName { index, .. } if self.known.names.is_list(&text(index)));
        let sort = if list { Some(ValueType::List) } else { self.value_type(value) };
        if let Some(sort) = sort.filter(|sort| *sort != ValueType::Number) {
            let wrong = format!("a loop counts with numbers, and this is {}", sort.words());
            let change = (sort == ValueType::List).then(|| self.inserted(value.location().begin, "#"));
            self.problem_with(
                &LINT,
                value.location(),
                (wrong, "count a list with `#`, or name a number".into()),
                change,
            );
        }
    }
}
