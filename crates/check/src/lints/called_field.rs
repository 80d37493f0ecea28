//! A field is called like a function.

use crate::lint::{Example, Lint, Severity};
use crate::reader::ScriptReader;
use riskbreaker_ruleset::TextChange;
use riskbreaker_script::syntax::Location;

pub(crate) static LINT: Lint = Lint {
    name: "called-field",
    severity: Severity::Error,
    summary: "a field is called like a function",
    explanation: "Fields hold values and are read with a dot, without brackets. Derived values are called with a \
                  colon and brackets.",
    bad: Example::Resolve(
        r#"if ctx.actor:strength() > 3 then
	rb.say("strong")
end"#,
    ),
    good: Example::Resolve(
        r#"if ctx.actor.strength > 3 then
	rb.say("strong")
end"#,
    ),
};

impl ScriptReader<'_> {
    /// Reports a field that is called like a function.
    pub(crate) fn called_field(&mut self, name: &str, at: Location) {
        let mistake =
            (format!("`{name}` is a field, and no function"), format!("write `.{name}`, without brackets").into());
        let change = self.mark_before(at, ".").map(|mark| {
            let end = self.offset_of(at.end);
            let brackets = self.text[end..].find(')').map_or(0, |closing| closing + 1);
            TextChange { begin: mark.begin, end: end + brackets, text: format!(".{name}") }
        });
        self.problem_with(&LINT, at, mistake, change);
    }
}
