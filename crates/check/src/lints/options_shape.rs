//! `options` is a table with names instead of a list.

use crate::lint::{Example, Lint, Severity};
use crate::reader::ScriptReader;
use crate::syntax::value_of;
use riskbreaker_script::syntax::{ExpressionKind, TableItem};

pub(crate) static LINT: Lint = Lint {
    name: "options-shape",
    severity: Severity::Error,
    summary: "`options` is a table with names instead of a list",
    explanation: "Options are a list of ids, or of tables with `id` and `label`. A table with names has no order.",
    bad: Example::Resolve(
        r#"local way = rb.choose({ seat = ctx.actor.seat, topic = "way", options = { up = "Up", down = "Down" } })
rb.say("{}", way)"#,
    ),
    good: Example::Resolve(
        r#"local way = rb.choose({ seat = ctx.actor.seat, topic = "way", options = { { id = "up", label = "Up" }, { id = "down", label = "Down" } } })
rb.say("{}", way)"#,
    ),
};

impl ScriptReader<'_> {
    /// Reports options with names instead of a list.
    pub(crate) fn options_shape(&mut self, items: &[TableItem<'_>]) {
        let value = |wanted: &str| value_of(items, wanted);
        if let Some(options) = value("options")
            && let ExpressionKind::Table { items } = options.kind()
            && !items.is_empty()
            && items.iter().all(|item| matches!(item, TableItem::Record { .. }))
        {
            let wrong = "`options` is a list, and here each value has a name".to_string();
            let cure = "write { { id = \"low\", label = \"Low\" }, { id = \"high\", label = \"High\" } }";
            self.problem(&LINT, options.location(), (wrong, cure.into()));
        }
    }
}
