//! A global variable is written.

use crate::lint::{Example, Lint, Severity};
use crate::reader::ScriptReader;
use riskbreaker_ruleset::TextChange;
use riskbreaker_script::syntax::Location;

pub(crate) static LINT: Lint = Lint {
    name: "global-variable",
    severity: Severity::Error,
    summary: "a global variable is written",
    explanation: "A ruleset has no globals. Write `local` before the first assignment; keep what is to stay in a \
                  field of an entity.",
    bad: Example::Resolve(
        r#"far = 3
rb.say("{}", far)"#,
    ),
    good: Example::Resolve(
        r#"local far = 3
rb.say("{}", far)"#,
    ),
};

impl ScriptReader<'_> {
    /// Reports a global that is written.
    pub(crate) fn global_written(&mut self, name: String, at: Location) {
        self.told.insert(name.clone());
        let wrong = format!("`{name}` is written as a global, and a ruleset has none");
        // `local` stands before the word `function`.
        let before = self.text.get(..self.offset_of(at.begin)).unwrap_or_default().trim_end();
        let function = before.strip_suffix("function").map(str::len);
        let begin = function.unwrap_or_else(|| self.offset_of(at.begin));
        let what = if function.is_some() { "local function" } else { "local" };
        let change = TextChange { begin, end: begin, text: "local ".into() };
        self.cured(&LINT, at, (wrong, format!("write `{what} {name}`").into()), change);
    }
}
