//! A field of an entity is assigned like that of a table.

use crate::inference::symbol::Symbol;
use crate::lint::{Example, Lint, Severity};
use crate::reader::ScriptReader;
use crate::syntax::is_one_of_a_list;
use riskbreaker_script::syntax::{Expression, ExpressionKind, Location};

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

impl ScriptReader<'_> {
    /// Reports a field of an entity that is assigned.
    pub(crate) fn field_written(&mut self, expr: Expression<'_>, name: &str, at: Location) {
        let of_an_actor = matches!(expr.kind(), ExpressionKind::IndexName { expr: of, index, .. }
            if matches!(of.kind(), ExpressionKind::Local { .. })
                && ["actor", "owner", "target", "side", "opponent", "holder"].iter().any(|known| index == *known));
        let is_field = self.known.types_of(name).next().is_some();
        let of_a_verb = matches!(expr.kind(), ExpressionKind::Local { local, .. }
            if self.handed_to_verbs.contains(&local.id));
        let of_a_list = is_one_of_a_list(expr) && !self.known.names.is_own_key(name);
        let entity = matches!(self.symbol(expr), Some(Symbol::Entity(_)));
        if entity || (of_an_actor || of_a_verb || of_a_list) && is_field {
            let wrong = format!("`{name}` of an entity is written like a table's");
            let cure = match is_field {
                true => format!("write :set(\"{name}\", value) or :add(\"{name}\", n)"),
                false => format!("declare it in kinds.luau, and write :set(\"{name}\", value)"),
            };
            self.problem(&LINT, at, (wrong, cure));
        }
    }
}
