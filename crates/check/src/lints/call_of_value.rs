//! A number, text or table is called like a function.

use crate::inference::value_type::ValueType;
use crate::lint::{Example, Lint, Severity};
use crate::reader::ScriptReader;
use crate::syntax::text;
use riskbreaker_script::syntax::{Expression, ExpressionKind};

pub(crate) static LINT: Lint = Lint {
    name: "call-of-value",
    severity: Severity::Error,
    summary: "a number, text or table is called like a function",
    explanation: "A variable that holds no function is called. If a comma or a new statement is \
                  missing between the two lines, Luau reads them as a call.",
    bad: Example::Resolve(
        r#"local by = 2
rb.say("by {}", by(1))"#,
    ),
    good: Example::Resolve(
        r#"local by = 2
rb.say("by {}", by)"#,
    ),
};

impl ScriptReader<'_> {
    /// Reports a call of a local variable that is not a function.
    pub(crate) fn is_function(&mut self, func: Expression<'_>) {
        let ExpressionKind::Local { local, .. } = func.kind() else { return };
        let Some(sort) = self.value_types.get(&local.id) else { return };
        if *sort != ValueType::Function {
            let wrong = format!("`{}` is {}, and no function to call", text(local.name), sort.words());
            self.problem(&LINT, func.location(), (wrong, "is a comma missing behind it?".into()));
        }
    }
}
