//! `..` joins two numbers into a text.

use crate::inference::value_type::ValueType;
use crate::lint::{Example, Lint, Severity};
use crate::reader::ScriptReader;
use riskbreaker_script::syntax::{Expression, Location};

pub(crate) static LINT: Lint = Lint {
    name: "joined-numbers",
    severity: Severity::Error,
    summary: "`..` joins two numbers into a text",
    explanation: "`5 .. 1` is the text \"51\". Numbers are added with `+`.",
    bad: Example::Resolve(
        r#"local near, far = 1, 2
rb.act.move_rope(ctx.rope, math.max(0, ctx.actor.strength), ctx.actor)
rb.say("{}", near .. far)"#,
    ),
    good: Example::Resolve(
        r#"local near, far = 1, 2
rb.say("{}", near + far)"#,
    ),
};

impl ScriptReader<'_> {
    /// Reports two numbers that are joined into a text.
    pub(crate) fn joined_numbers(
        &mut self,
        sorts: (Option<ValueType>, Option<ValueType>),
        lhs: Expression<'_>,
        rhs: Expression<'_>,
    ) {
        if sorts == (Some(ValueType::Number), Some(ValueType::Number)) {
            let wrong = "`..` makes a text of two numbers, such as \"51\" of 5 and 1".to_string();
            let between = Location::new(lhs.location().end, rhs.location().begin);
            let change = self.replaced(between, " + ");
            self.cured(&LINT, rhs.location(), (wrong, "numbers are added with `+`".into()), change);
        }
    }
}
