//! A word for relations is given a kind that is none.

use crate::lint::{Example, Lint, Severity};
use crate::reader::ScriptReader;
use riskbreaker_script::api;
use riskbreaker_script::syntax::Location;
use riskbreaker_state::Kind;

pub(crate) static LINT: Lint = Lint {
    name: "no-relation",
    severity: Severity::Error,
    summary: "a word for relations is given a kind that is none",
    explanation: "`rb.relate` and its kin take a kind that declares `relates = { \"from\", \"to\" }`, the names \
                  of two references.",
    bad: Example::Resolve(r#"rb.unrelate("puller", ctx.actor, ctx.actor)"#),
    good: Example::Resolve(r#"rb.say("{} lets go", ctx.actor)"#),
};

impl ScriptReader<'_> {
    /// Reports a kind that is no relation, for a word that takes one.
    pub(crate) fn no_relation(&mut self, name: &str, kind: &Kind, at: Location) {
        if api::word(name).is_some_and(|word| word.group == api::WordGroup::Relations) && kind.relates.len() != 2 {
            let wrong = format!("the kind `{}` is no relation between two entities", kind.name);
            let cure = "declare relates = { \"from\", \"to\" } in kinds.luau, the names of two references";
            self.problem(&LINT, at, (wrong, cure.into()));
        }
    }
}
