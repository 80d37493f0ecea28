//! An index or a place is behind or before the last element of a list.

use crate::inference::evidence::is_length_of;
use crate::lint::{Example, Lint, Severity};
use crate::reader::ScriptReader;
use crate::syntax::name_of;
use crate::syntax_lints::SyntaxLints;
use riskbreaker_script::syntax::{BinaryOp, Expression, ExpressionKind, Location};

pub(crate) static LINT: Lint = Lint {
    name: "past-the-end",
    severity: Severity::Error,
    summary: "an index or a place is behind or before the last element of a list",
    explanation: "The last element of a list is `list[#list]`; `list[#list + 1]` is always nil when it is read. \
                  `table.insert(list, value)` puts a value behind the last one; a place is needed only to put it \
                  elsewhere. `list[#list] = value` adds nothing to an empty list.",
    bad: Example::Resolve(
        r#"local names = { "Cid", "Dora" }
rb.say("{}", names[#names + 1])"#,
    ),
    good: Example::Resolve(
        r#"local names = { "Cid", "Dora" }
rb.say("{}", names[#names])"#,
    ),
};

impl SyntaxLints<'_> {
    /// Reports `table.insert(list, #list, value)`.
    pub(crate) fn inserts_before_the_last(&mut self, place: Expression<'_>) {
        let wrong = "this inserts before the last place of the list, not behind it";
        let cure = "leave the place out to put it at the end: table.insert(list, value)";
        self.tell(&LINT, place.location(), wrong, cure);
    }
}

impl ScriptReader<'_> {
    /// Reports `table.insert(value, list)` with a list that stays empty.
    pub(crate) fn inserts_empty_list(&mut self, name: &str, args: &[Expression<'_>]) {
        if name == "table.insert"
            && let [list, value] = args
            && self.evidence.stays_empty(*value)
        {
            let wrong = format!(
                "the list `{}` always stays empty, and is put into something else here",
                name_of(*value).unwrap_or_default()
            );
            let change = self.exchanged_with(*list, *value);
            self.cured(&LINT, list.location(), (wrong, "it is written table.insert(list, value)".into()), change);
        }
    }

    /// Reports an index that is larger than the length of its list.
    pub(crate) fn behind_the_last(&mut self, expr: Expression<'_>, index: Expression<'_>) {
        if is_behind_the_last(index, expr) {
            let wrong = "no element follows the last one of a list, so this is always nil".to_string();
            let change = self.replaced(index.location(), format!("#{}", self.source(expr)));
            self.cured(&LINT, index.location(), (wrong, "the last one is list[#list]".into()), change);
        }
    }

    /// Reports an assignment to the last place of a list that stays empty.
    pub(crate) fn place_of_empty(&mut self, expr: Expression<'_>, index: Expression<'_>, at: Location) {
        if is_length_of(index, expr) && self.evidence.stays_empty(expr) {
            let wrong = "an empty list has no last place, and so this list stays empty".to_string();
            self.problem(&LINT, at, (wrong, "write table.insert(list, value)".into()));
        }
    }
}

/// Whether an index is `#list + 1` or more, for the list that it indexes.
fn is_behind_the_last(index: Expression<'_>, list: Expression<'_>) -> bool {
    match index.kind() {
        ExpressionKind::Grouped(inner) => is_behind_the_last(inner, list),
        ExpressionKind::Binary { lhs, op: BinaryOp::Add, rhs } => {
            is_length_of(lhs, list) && matches!(rhs.kind(), ExpressionKind::Number { value, .. } if value >= 1.0)
        }
        _ => false,
    }
}
