//! A function changes a variable or a table of the file.

use super::{Example, Lint, Severity};

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
