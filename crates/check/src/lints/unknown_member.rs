//! Nothing in the ruleset has a member of that name.

use crate::lint::{Example, Lint, Severity};
use crate::reader::ScriptReader;
use riskbreaker_ruleset::{Cure, instead, instead_or, slips};
use riskbreaker_script::api;
use riskbreaker_script::syntax::{Expression, ExpressionKind, Location};

pub(crate) static LINT: Lint = Lint {
    name: "unknown-member",
    severity: Severity::Error,
    summary: "nothing in the ruleset has a member of that name",
    explanation: "A name is read off a value, and no file of the ruleset gives any value a member of that name. \
                  The result is nil. If the value is what a file returns, the file must have it in the table that \
                  it returns. The check reports names of unknown values only if no table, no kind and no word of \
                  the host has them.",
    bad: Example::Resolve(r#"rb.say("{} pulls", ctx.actor.nmae)"#),
    good: Example::Resolve(r#"rb.say("{} pulls", ctx.actor.name)"#),
};

impl ScriptReader<'_> {
    /// Reports a member that nothing in any file of the ruleset has.
    pub(crate) fn nothing_has(&mut self, of: Expression<'_>, name: &str, at: Location) {
        let names = &self.known.names;
        // Values from another ruleset have names of their own.
        let foreign = self.elsewhere || self.path.starts_with("convert/");
        if !foreign && let Some(meant) = self.member_in_other_case(of, name) {
            return self.problem(&LINT, at, (format!("no entity has a `{name}`"), Cure::meant(name, meant)));
        }
        // `table.pack` gives the number of its values as `n`.
        if foreign || name == "n" || names.is_given(name) || matches!(of.kind(), ExpressionKind::Global(_)) {
            return;
        }
        // The name is compared with all known names and with all that are read.
        let compared = self.known.may_compare(2 * names.given().count());
        // A ruleset that extends this one may add members.
        let is_near = |given: &str| compared && slips(name, given, 1) == Some(1);
        if self.known.stack.scenario().is_none() && !names.given().any(is_near) {
            return;
        }
        let given = || self.known.nearest(name, names.given().filter(|given| !given.contains(' ')));
        // A declared member that nothing reads is not among the names that are read.
        let distance = |other: &str| slips(name, other, 4);
        let of_others = names.meant(name).and_then(distance);
        let kinds = self.known.schema().into_iter().flat_map(|schema| &schema.kinds);
        let declared = kinds.flat_map(|kind| &kind.derived).find(|member| {
            names.reads(member) == 0
                && distance(member).is_some_and(|slips| of_others.is_none_or(|others| slips <= others))
        });
        let near = if compared { names.meant(name).or_else(given) } else { None };
        let near = declared.map(|member| &**member).or(near);
        let wrong = format!("nothing has a `{name}`");
        if api::library("table").is_some_and(|names| names.contains(&name)) {
            return self.problem(&LINT, at, (wrong, format!("write `table.{name}(list, ...)`").into()));
        }
        match near.map(str::to_string) {
            Some(near) => self.problem(&LINT, at, (wrong, Cure::meant(name, near))),
            None if self.asked => {}
            None => self.problem(&LINT, at, (wrong, "correct the name, or declare it as a field in kinds.luau".into())),
        }
    }

    /// The field or derived value of entities that differs from a name only by capital letters, if the name is read off a
    /// variable that stands for entities and no kind has it.
    fn member_in_other_case(&self, of: Expression<'_>, name: &str) -> Option<String> {
        if !name.starts_with(char::is_uppercase) || !self.is_entity_by_name(of) {
            return None;
        }
        let members =
            || self.known.schema().into_iter().flat_map(|schema| &schema.kinds).flat_map(|kind| kind.members());
        let has_none = members().all(|member| member != name);
        members().find(|member| has_none && member.eq_ignore_ascii_case(name)).map(str::to_owned)
    }

    /// Reports a member that a file does not give.
    pub(crate) fn member_of_module(&mut self, path: &str, name: &str, at: Location) {
        let Some(module) = self.known.names.module(path).filter(|module| !module.members.contains_key(name)) else {
            return;
        };
        let names: Vec<String> = module.members.keys().cloned().collect();
        // A condition may ask whether a layer above has put it there.
        if !self.asked || self.known.nearest(name, names.iter().map(String::as_str)).is_some() {
            self.problem(&LINT, at, (format!("{path} gives no `{name}`"), self.known.instead(name, &names)));
        }
    }

    /// Reports a member that what a conversion is given does not have.
    pub(crate) fn member_of_change(&mut self, name: &str, at: Location) {
        if !is_function_of_change(name) && !CHANGE_VALUES.contains(&name) {
            let known = CHANGE_VALUES.iter().chain(&CHANGE_FUNCTIONS).copied();
            self.problem(&LINT, at, (format!("the change of a conversion has no `{name}`"), instead(name, known)));
        }
    }

    /// Reports a member that a question does not have.
    pub(crate) fn member_of_question(&mut self, name: &str, at: Location) {
        let own = api::QUESTIONS.iter().flat_map(|(_, own)| own.iter()).copied();
        let known: Vec<&str> = api::QUESTION_FIELDS.iter().copied().chain(own).chain(["kind"]).collect();
        if !known.contains(&name) {
            let otherwise = "it has topic, about, seat, kind, options, min, max, total; `about` is who is asked for";
            let cure = instead_or(name, known.iter().copied(), otherwise);
            self.problem(&LINT, at, (format!("a question has no `{name}`"), cure));
        }
    }
}

/// Whether a name is that of a function of what a conversion is given.
pub(crate) fn is_function_of_change(name: &str) -> bool {
    CHANGE_FUNCTIONS.contains(&name)
}

/// The values of what a conversion is given.
const CHANGE_VALUES: [&str; 4] = ["from", "version", "switches", "agenda"];

/// The functions of what a conversion is given.
const CHANGE_FUNCTIONS: [&str; 13] = [
    "was",
    "each",
    "carried",
    "defaulted",
    "dormant",
    "returned",
    "decide",
    "refused",
    "breach",
    "shelve",
    "keep",
    "kept",
    "forget",
];
