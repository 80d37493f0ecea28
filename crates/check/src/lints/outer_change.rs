//! A function that may only read changes a variable outside it.

use super::{Example, Lint, Severity};

pub(crate) static LINT: Lint = Lint {
    name: "outer-change",
    severity: Severity::Error,
    summary: "a function that may only read changes a variable outside it",
    explanation: "The host calls the text of `rb.say` and functions such as `why` and `check` of a question once, \
                  several times or not at all. Let the function return what it finds, and change the variable \
                  where the rule acts.",
    bad: Example::Resolve(
        r#"local told = 0
rb.say(function()
	told += 1
	return "pull"
end)
rb.say("{}", told)"#,
    ),
    good: Example::Resolve(
        r#"local told = 1
rb.say(function()
	return "pull"
end)
rb.say("{}", told)"#,
    ),
};
