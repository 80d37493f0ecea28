//! Two parameters of a function have the same name.

use crate::lint::{Example, Lint, Severity};
use crate::syntax::text;
use crate::syntax_lints::SyntaxLints;
use riskbreaker_script::syntax::Function;

pub(crate) static LINT: Lint = Lint {
    name: "duplicate-parameter",
    severity: Severity::Error,
    summary: "two parameters of a function have the same name",
    explanation: "Only the last one can be used under that name. Call a parameter that is not used `_`.",
    bad: Example::Files(&[(
        "lib/tell.luau",
        r#"local rb = require("@riskbreaker")

local function tell(who, who)
	rb.say("{} pulls", who)
end

return { tell = tell }
"#,
    )]),
    good: Example::Files(&[(
        "lib/tell.luau",
        r#"local rb = require("@riskbreaker")

local function tell(_, who)
	rb.say("{} pulls", who)
end

return { tell = tell }
"#,
    )]),
};

impl SyntaxLints<'_> {
    /// Reports two parameters of the same name.
    pub(crate) fn parameter_twice(&mut self, function: &Function<'_>) {
        for (n, arg) in function.args.iter().enumerate() {
            let name = text(arg.name);
            if !name.starts_with('_') && function.args[..n].iter().any(|before| before.name == arg.name) {
                self.tell(
                    &LINT,
                    arg.location,
                    format!("two parameters are called `{name}`"),
                    "give one of them another name",
                );
            }
        }
    }
}
