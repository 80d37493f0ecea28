//! A function that may only read calls a verb, a roll or `:set`.

use crate::lint::{Example, Lint, Severity};
use crate::reader::ScriptReader;
use riskbreaker_script::api;
use riskbreaker_script::syntax::Location;

pub(crate) static LINT: Lint = Lint {
    name: "change-while-reading",
    severity: Severity::Error,
    summary: "a function that may only read calls a verb, a roll or `:set`",
    explanation: "`when`, derived values, prompts, views, sheets, keys and policies are called whenever somebody \
                  looks, so they may only read. The change belongs in `resolve`, a verb or an agenda entry. A conversion \
                  may change fields, and can neither ask nor roll, since nobody is there to answer.",
    bad: Example::Card(
        r#"when = function(ctx)
	ctx.actor:add("rests", 1)
	return true
end,"#,
    ),
    good: Example::Card(
        r#"when = function(ctx)
	return ctx.actor.rests < 3
end,"#,
    ),
};

impl ScriptReader<'_> {
    pub(crate) fn verb(&mut self, name: &str, at: Location) {
        if let Some(what) = self.pure.last() {
            let wrong = format!("the verb `{name}` is called in {what}, which may only read");
            let change = self.without_call(at);
            self.problem_with(&LINT, at, (wrong, "call it in `resolve`, a verb or an agenda entry".into()), change);
        }
    }

    /// Reports `:set` and the like in a function that may only read.
    pub(crate) fn set_while_reading(&mut self, name: &str, at: Location) {
        if let Some(what) = self.pure.last().filter(|_| name != "reaches") {
            let wrong = format!(":{name} is called in {what}, which may only read");
            let change = self.without_call(at);
            self.problem_with(&LINT, at, (wrong, "move it to `resolve`, a verb or an agenda entry".into()), change);
        }
    }

    /// Reports a word that changes something in a function that may only read.
    pub(crate) fn acts_while_reading(&mut self, name: &str, at: Location) {
        let Some(word) = api::word(name).filter(|word| word.acts) else { return };
        let leaves_open = match word.group {
            api::WordGroup::Questions => true,
            api::WordGroup::Dice => !matches!(name, "draw" | "shuffle"),
            _ => false,
        };
        if leaves_open && self.path.starts_with("convert/") {
            let wrong = format!("rb.{name} is called in a conversion, which can neither ask nor roll");
            let cure = "say what is left to the game master with `change.decide`";
            return self.problem(&LINT, at, (wrong, cure.into()));
        }
        if let Some(what) = self.pure.last() {
            let wrong = format!("rb.{name} is called in {what}, which may only read");
            let change = self.without_call(at);
            self.problem_with(&LINT, at, (wrong, "move it to `resolve`, a verb or an agenda entry".into()), change);
        }
    }
}
