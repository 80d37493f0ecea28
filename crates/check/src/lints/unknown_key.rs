//! A table for the host has a key that the host does not read.

use crate::lint::{Example, Lint, Severity};
use crate::reader::ScriptReader;
use crate::syntax::named;
use riskbreaker_script::syntax::{Expression, Location};

pub(crate) static LINT: Lint = Lint {
    name: "unknown-key",
    severity: Severity::Error,
    summary: "a table for the host has a key that the host does not read",
    explanation: "The table of a question, of an option, of a call such as `rb.lasts`, and `[seats]` of a \
                  scenario have the keys that the reference lists. Another key is ignored, so what it says does \
                  not happen. Most often it is misspelt.",
    bad: Example::Resolve(r#"rb.confirm({ seat = ctx.actor.seat, topic = "again", wy = "Again?" })"#),
    good: Example::Resolve(r#"rb.confirm({ seat = ctx.actor.seat, topic = "again", why = "Again?" })"#),
};

impl ScriptReader<'_> {
    /// Reports keys of a table argument that the word does not take.
    pub(crate) fn keys_of(&mut self, table: Expression<'_>, word: &str, known: &[&str]) {
        for (name, at, _) in named(table).filter(|(name, ..)| !known.contains(&name.as_str())) {
            let cure = riskbreaker_ruleset::instead(&name, known.iter().copied());
            self.problem(&LINT, at, (format!("{word} takes no `{name}`"), cure));
        }
    }

    /// Reports a key that a question of this sort does not have.
    pub(crate) fn no_key_of_a_question(&mut self, ask: &str, name: &str, known: &[String], at: Location) {
        self.problem(&LINT, at, (format!("rb.{ask} has no field `{name}`"), self.known.instead_alike(name, known)));
    }

    /// Reports a key that an option does not have.
    pub(crate) fn no_key_of_an_option(&mut self, name: &str, known: &[String], at: Location) {
        self.problem(&LINT, at, (format!("an option has no field `{name}`"), self.known.instead_alike(name, known)));
    }
}
