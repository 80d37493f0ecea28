//! A spec expects what no play can give.

use crate::lint::{Example, Lint, Severity};
use crate::reader::ScriptReader;
use crate::syntax::{literal, named};
use riskbreaker_script::syntax::{Expression, ExpressionKind, TableItem};

pub(crate) static LINT: Lint = Lint {
    name: "impossible-expectation",
    severity: Severity::Error,
    summary: "a spec expects what no play can give",
    explanation: "`t:expect` takes changed fields, `\"unchanged\"` or `\"gone\"`. Refusals have the kinds and \
                  fields, and events the kinds, that the reference lists. A spec that expects something else \
                  always fails.",
    bad: Example::Files(&[(
        "specs/example.luau",
        r#"local rb = require("@riskbreaker")

rb.spec("TUG-2: a rest moves nothing", { "TUG-2" }, function(t)
	t:given("two")
	t:play("Ann", "rest")
	t:expect({ rope = "unchange" })
end)
"#,
    )]),
    good: Example::Files(&[(
        "specs/example.luau",
        r#"local rb = require("@riskbreaker")

rb.spec("TUG-2: a rest moves nothing", { "TUG-2" }, function(t)
	t:given("two")
	t:play("Ann", "rest")
	t:expect({ rope = "unchanged" })
end)
"#,
    )]),
};

impl ScriptReader<'_> {
    /// Checks the names in an expected change, `{ title = { field = value } }`.
    pub(crate) fn expected(&mut self, arg: Option<&Expression<'_>>) {
        let Some(ExpressionKind::Table { items }) = arg.map(|arg| arg.kind()) else { return };
        for item in items {
            let (key, value) = match item {
                TableItem::Record { key, value } => (key, value),
                // One of several expected outcomes: { wanted, chance }.
                TableItem::List { value } => {
                    if let ExpressionKind::Table { items } = value.kind()
                        && let Some(TableItem::List { value }) = items.first()
                    {
                        self.expected(Some(value));
                    }
                    continue;
                }
                _ => continue,
            };
            if let Some(title) = literal(*key) {
                // `said` is an expected message beside the fields.
                if title == "said" && literal(*value).is_some() {
                    continue;
                }
                self.somebody(&title, key.location());
            }
            match value.kind() {
                ExpressionKind::Table { .. } => {
                    named(*value).for_each(|(field, at, _)| self.field_or_value(&field, at));
                }
                _ => {
                    if let Some(word) = literal(*value).filter(|word| !matches!(&**word, "unchanged" | "gone")) {
                        let cure = self.known.instead(&word, &["unchanged".to_string(), "gone".to_string()]);
                        self.problem(&LINT, value.location(), (format!("nothing is expected by \"{word}\""), cure));
                    }
                }
            }
        }
    }
}
