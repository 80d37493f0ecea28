//! A call gives more or fewer values than the function takes.

use crate::lint::{Example, Lint, Severity};
use crate::reader::ScriptReader;
use crate::syntax::gives_many;
use riskbreaker_script::syntax::Expression;

pub(crate) static LINT: Lint = Lint {
    name: "argument-count",
    severity: Severity::Error,
    summary: "a call gives more or fewer values than the function takes",
    explanation: "The check knows how many values the words of `rb`, verbs, and functions of the ruleset take, \
                  and which of them may be left out. A missing value is nil in the function, and a value too many \
                  is ignored; verbs and words refuse both.",
    bad: Example::Resolve(r#"rb.act.move_rope(ctx.rope)"#),
    good: Example::Resolve(r#"rb.act.move_rope(ctx.rope, 1, ctx.actor)"#),
};

impl ScriptReader<'_> {
    /// Reports `table.insert` with one value.
    pub(crate) fn inserts_nothing(&mut self, name: &str, args: &[Expression<'_>]) {
        if name == "table.insert"
            && args.len() < 2
            && let Some(only) = args.first().filter(|only| !gives_many(**only))
        {
            let wrong = "the list or the value is missing: two expected, one value given".to_string();
            self.problem(&LINT, only.location(), (wrong, "it is written table.insert(list, value)".into()));
        }
    }
}
