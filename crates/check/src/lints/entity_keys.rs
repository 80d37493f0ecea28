//! A loop runs over a table whose keys are entities.

use crate::lint::{Example, Lint, Severity};
use crate::reader::ScriptReader;
use crate::syntax::text;
use riskbreaker_script::syntax::{Expression, ExpressionKind, Location};

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

impl ScriptReader<'_> {
    /// Reports a loop over a table whose keys are entities.
    pub(crate) fn entity_keys(&mut self, table: Expression<'_>, at: Location) {
        if let ExpressionKind::Local { local, .. } = table.kind()
            && self.keyed_by_entities.contains(&local.id)
        {
            let wrong = format!(
                "a loop over `{}`, whose keys are entities: their order differs from run to run",
                text(local.name)
            );
            self.problem(&LINT, at, (wrong, "use entity.id as the key, or loop over rb.each".into()));
        }
    }
}
