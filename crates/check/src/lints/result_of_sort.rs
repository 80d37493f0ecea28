//! The result of `table.sort` or `table.clear` is used.

use crate::lint::{Example, Lint, Severity};
use crate::syntax::text;
use crate::syntax_lints::SyntaxLints;
use riskbreaker_script::syntax::{Expression, ExpressionKind};

pub(crate) static LINT: Lint = Lint {
    name: "result-of-sort",
    severity: Severity::Error,
    summary: "the result of `table.sort` or `table.clear` is used",
    explanation: "Both change the list itself and return nothing. Call them on a line of their own, and then use \
                  the list.",
    bad: Example::Resolve(
        r#"local names = { "Dora", "Cid" }
local sorted = table.sort(names)
rb.say("{}", sorted)"#,
    ),
    good: Example::Resolve(
        r#"local names = { "Dora", "Cid" }
table.sort(names)
rb.say("{}", names[1])"#,
    ),
};

impl SyntaxLints<'_> {
    /// Reports the use of the result of `table.sort` and `table.clear`, which return nothing.
    pub(crate) fn gives_nothing(&mut self, values: &[Expression<'_>]) {
        for value in values {
            let ExpressionKind::Call { func, .. } = value.kind() else { continue };
            let ExpressionKind::IndexName { expr, index, .. } = func.kind() else { continue };
            let table = matches!(expr.kind(), ExpressionKind::Global(name) if name == "table");
            if table && (index == "sort" || index == "clear") {
                let wrong = format!("`table.{}` changes the list itself and gives nothing", text(index));
                self.tell(
                    &LINT,
                    value.location(),
                    wrong,
                    format!("write `table.{}(...)` on a line of its own", text(index)),
                );
            }
        }
    }
}
