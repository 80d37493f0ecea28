//! A rule id is in no RULES.md.

use crate::lint::{Example, Lint, Severity};
use crate::reader::ScriptReader;
use crate::symbols::known::KnownNames;
use crate::syntax::{listed_texts, literal};
use riskbreaker_ruleset::{Cure, Problem};
use riskbreaker_script::syntax::{Expression, Location};

pub(crate) static LINT: Lint = Lint {
    name: "unknown-rule",
    severity: Severity::Error,
    summary: "a rule id is in no RULES.md",
    explanation: "`rules = { ... }` of a card and the list of a spec name rules by their ids in RULES.md. An id \
                  that no rule text has leads a reader nowhere and falsifies the coverage that `riskbreaker test \
                  --coverage` counts. Correct the id, or write the rule.",
    bad: Example::Card(r#"rules = { "TUG-11" },"#),
    good: Example::Card(r#"rules = { "TUG-1" },"#),
};

impl ScriptReader<'_> {
    pub(crate) fn rule_ids(&mut self, list: Expression<'_>) {
        for (id, at) in listed_texts(list) {
            self.unknown_rule(&id, at);
        }
    }

    /// Reports unknown ids in the list of a spec. The rule with which the name of the spec begins goes before a near one.
    pub(crate) fn rule_ids_of_spec(&mut self, list: Expression<'_>, title: Option<Expression<'_>>) {
        let title = title.and_then(literal).unwrap_or_default();
        let end = title.find(|letter: char| !(letter.is_ascii_alphanumeric() || letter == '-')).unwrap_or(title.len());
        let named = Some(&title[..end]).filter(|id| self.known.is_rule(id));
        let ids: Vec<(String, Location)> = listed_texts(list).collect();
        let is_listed = named.is_some_and(|named| ids.iter().any(|(id, _)| id == named));
        for (id, at) in ids {
            match (self.known.wrong_rule(&id), named.filter(|_| !is_listed)) {
                (Some((wrong, _)), Some(meant)) => {
                    let cure = Cure::MeantRule { written: id, meant: meant.to_owned() };
                    self.problem(&LINT, at, (wrong, cure));
                }
                (wrong, _) => self.tell(&LINT, at, wrong),
            }
        }
    }

    pub(crate) fn unknown_rule(&mut self, id: &str, at: Location) {
        self.tell(&LINT, at, self.known.wrong_rule(id));
    }
}

/// Returns one problem if scripts name rules and the ruleset has no rule text.
pub(crate) fn no_rule_text(known: &KnownNames<'_>) -> Option<Problem> {
    let unwritten = known.unwritten.lock().ok()?;
    let first = unwritten.first()?;
    let message = format!("there is no RULES.md, and {} rules are named", unwritten.len());
    let problem = LINT.problem(known.stack.main().id(), message);
    Some(problem.with_cure(format!("write the numbered rules there, as `- **{first}** text`")))
}
