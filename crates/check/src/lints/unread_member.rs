//! A member is assigned that no file reads.

use crate::lint::{Example, Lint, Severity};
use crate::reader::ScriptReader;
use crate::syntax::is_one_of_a_list;
use riskbreaker_ruleset::Cure;
use riskbreaker_script::syntax::{Expression, ExpressionKind, Location};

pub(crate) static LINT: Lint = Lint {
    name: "unread-member",
    severity: Severity::Error,
    summary: "a member is assigned that no file reads",
    explanation: "Nothing happens through this assignment. Most often the name is misspelt, or it belongs to an \
                  entity and must be written with `:set`.",
    bad: Example::Resolve(
        r#"local notes = { far = 0 }
notes.fra = 1
rb.say("{}", notes.far)"#,
    ),
    good: Example::Resolve(
        r#"local notes = { far = 0 }
notes.far = 1
rb.say("{}", notes.far)"#,
    ),
};

impl ScriptReader<'_> {
    /// Reports an assignment to a member that no file reads.
    pub(crate) fn read_by_nobody(&mut self, table: Expression<'_>, name: &str, at: Location) {
        // A ruleset that extends this one may read the member.
        let complete = self.known.stack.scenario().is_some() && !self.elsewhere && !self.is_spec();
        if !complete || self.path.starts_with("convert/") || !self.known.names.is_only_written(name) {
            return;
        }
        // A copy of a scenario may lose a key before it is handed on.
        if self.known.names.keys_of_scenarios(name).0 > 0 {
            return;
        }
        let cure = match table.kind() {
            ExpressionKind::Local { local, .. } if local.function_depth > 0 => {
                self.known.names.read_and_near(name).map(|meant| Cure::meant(name, meant))
            }
            _ if is_one_of_a_list(table) => Some(
                format!("if it belongs to an entity, declare it in kinds.luau, and write :set(\"{name}\", value)")
                    .into(),
            ),
            _ => None,
        };
        if let Some(cure) = cure {
            self.problem(&LINT, at, (format!("nothing reads `{name}`"), cure));
        }
    }
}
