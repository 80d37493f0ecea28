//! A function changes a variable or a table of the file.

use crate::lint::{Example, Lint, Severity};
use crate::reader::ScriptReader;
use crate::syntax::text;
use riskbreaker_script::syntax::{Expression, ExpressionKind, Local, Location};

pub(crate) static LINT: Lint = Lint {
    name: "kept-state",
    severity: Severity::Error,
    summary: "a function changes a variable or a table of the file",
    explanation: "A script keeps nothing between calls: actions are run again after a question, on other machines \
                  and after a reload. What is to stay belongs in a field of an entity.",
    bad: Example::Files(&[(
        "lib/count.luau",
        r#"local count = 0

local function next_one()
	count += 1
	return count
end

return { next_one = next_one }
"#,
    )]),
    good: Example::Files(&[(
        "lib/count.luau",
        r#"local function next_one(puller)
	puller:add("rests", 1)
	return puller.rests
end

return { next_one = next_one }
"#,
    )]),
};

impl ScriptReader<'_> {
    /// Reports a function that changes a variable of the file.
    pub(crate) fn variable_kept(&mut self, local: &Local<'_>, upvalue: bool, at: Location) {
        if upvalue && local.function_depth == 0 && !self.is_spec() {
            let name = text(local.name);
            let wrong =
                format!("a function changes `{name}`, a variable of the file: a script keeps nothing between calls");
            self.problem(&LINT, at, (wrong, "keep it in a field of an entity".into()));
        }
    }

    /// Reports a function that writes into a table of the file, which would keep state between calls.
    pub(crate) fn fills(&mut self, table: Expression<'_>, at: Location) {
        let ExpressionKind::Local { local, upvalue } = table.kind() else { return };
        if upvalue && local.function_depth == 0 && self.depth > 0 && !self.is_spec() {
            let name = text(local.name);
            let wrong =
                format!("a function writes into `{name}`, a table of the file: a script keeps nothing between calls");
            self.problem(
                &LINT,
                at,
                (wrong, "make the table inside the function, or keep it in a field of an entity".into()),
            );
        }
    }
}
