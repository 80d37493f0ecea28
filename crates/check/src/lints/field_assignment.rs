//! A field of an entity is assigned like that of a table.

use super::{Example, Lint, Severity};

pub(crate) static LINT: Lint = Lint {
    name: "field-assignment",
    severity: Severity::Error,
    summary: "a field of an entity is assigned like that of a table",
    explanation: "Entities are written through the host, so that every change can be undone and explained: \
                  `entity:set(\"field\", value)` or `entity:add(\"field\", n)`.",
    bad: Example::Resolve(
        r#"for _, puller in rb.each("puller") do
	puller.strength = 3
end"#,
    ),
    good: Example::Resolve(
        r#"for _, puller in rb.each("puller") do
	puller:set("strength", 3)
end"#,
    ),
};
