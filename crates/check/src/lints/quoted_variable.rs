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

    /// Reports the name of a parameter of the function around it as a text that is compared with a field, if nothing uses the
    /// parameter. Returns whether it did.
    pub(crate) fn quotes_a_parameter(&mut self, field: &str, value: Expression<'_>) -> bool {
        let Some(name) = literal(value).filter(|_| !self.is_spec()) else { return false };
        let params = self.enclosing.iter().flat_map(|scope| &scope.params);
        let is_unused = params.filter(|(_, param)| *param == name).any(|(id, _)| !self.evidence.is_used(*id));
        if is_unused {
            let wrong = format!(
                "the field `{field}` is compared with the text \"{name}\", and nothing uses the variable `{name}`"
            );
            let change = self.replaced(value.location(), &*name);
            self.cured(&LINT, value.location(), (wrong, format!("write {name} without quotes").into()), change);
        }
        is_unused
    }
}
