//! A quoted name is passed where the variable is expected.

use crate::lint::{Example, Lint, Severity};
use crate::reader::ScriptReader;
use crate::syntax::literal;
use riskbreaker_script::syntax::Expression;

pub(crate) static LINT: Lint = Lint {
    name: "quoted-variable",
    severity: Severity::Error,
    summary: "a quoted name is passed where the variable is expected",
    explanation: "The quoted text is the name of the parameter that it is passed for, and a variable of that \
                  name exists. The variable is meant. Leave the quotes out.",
    bad: Example::Files(&[(
        "lib/tell.luau",
        r#"local rb = require("@riskbreaker")

local function tell(who, times)
	rb.say("{} pulls {} times", who, times)
end

local function twice(who)
	tell("who", 2)
	tell(who, 2)
end

return { twice = twice }
"#,
    )]),
    good: Example::Files(&[(
        "lib/tell.luau",
        r#"local rb = require("@riskbreaker")

local function tell(who, times)
	rb.say("{} pulls {} times", who, times)
end

local function twice(who)
	tell(who, 1)
	tell(who, 2)
end

return { twice = twice }
"#,
    )]),
};

impl ScriptReader<'_> {
    /// Reports the name of a parameter as a text, where a variable has that name. Returns whether it did.
    pub(crate) fn quotes_a_variable(&mut self, arg: Expression<'_>, param: &str, written: &str) -> bool {
        let is_quoted = literal(arg).as_deref() == Some(param) && self.has_local(param);
        if is_quoted {
            let wrong = format!("the text \"{param}\" stands in the place of the variable `{param}`");
            let mistake = (wrong, format!("write {param} without quotes; {written}").into());
            let change = self.replaced(arg.location(), param);
            self.cured(&LINT, arg.location(), mistake, change);
        }
        is_quoted
    }
}
