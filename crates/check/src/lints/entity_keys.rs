//! A loop runs over a table whose keys are entities.

use super::{Example, Lint, Severity};

pub(crate) static LINT: Lint = Lint {
    name: "entity-keys",
    severity: Severity::Error,
    summary: "a loop runs over a table whose keys are entities",
    explanation: "The order of a loop over such a table differs from run to run, and so a saved game would not \
                  replay. Use `entity.id` as the key, or loop over `rb.each`.",
    bad: Example::Resolve(
        r#"local seen = {}
for _, puller in rb.each("puller") do
	seen[puller] = true
end
for puller in pairs(seen) do
	rb.say("{} waits", puller)
end"#,
    ),
    good: Example::Resolve(
        r#"local seen = {}
for _, puller in rb.each("puller") do
	seen[puller] = true
end
for _, puller in rb.each("puller") do
	if seen[puller] then
		rb.say("{} waits", puller)
	end
end"#,
    ),
};
