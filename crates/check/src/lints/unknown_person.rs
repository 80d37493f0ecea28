//! A spec names a character whom it has not set up.

use crate::lint::{Example, Lint, Severity};
use crate::reader::ScriptReader;
use riskbreaker_ruleset::Cure;
use riskbreaker_script::syntax::Location;

pub(crate) static LINT: Lint = Lint {
    name: "unknown-person",
    severity: Severity::Error,
    summary: "a spec names a character whom it has not set up",
    explanation: "A spec plays for characters by their names, as the position names them. A name that occurs once \
                  in a spec file and is almost another name of it is most likely misspelt.",
    bad: Example::Files(&[(
        "specs/example.luau",
        r#"local rb = require("@riskbreaker")

rb.spec("TUG-2: a rest moves nothing", { "TUG-2" }, function(t)
	t:given({ left = "Cynthia", right = "Bob" })
	t:play("Cyntia", "rest")
	t:expect({ rope = "unchanged" })
end)
"#,
    )]),
    good: Example::Files(&[(
        "specs/example.luau",
        r#"local rb = require("@riskbreaker")

rb.spec("TUG-2: a rest moves nothing", { "TUG-2" }, function(t)
	t:given({ left = "Cynthia", right = "Bob" })
	t:play("Cynthia", "rest")
	t:expect({ rope = "unchanged" })
end)
"#,
    )]),
};

impl ScriptReader<'_> {
    pub(crate) fn somebody(&mut self, name: &str, at: Location) {
        let lower = name.trim().to_lowercase();
        let numbered = |letter: char| letter.is_ascii_digit() || letter == ' ';
        let plain = lower.trim_end_matches(numbered);
        let names = &self.known.names;
        let known = [&*lower, plain].iter().any(|name| {
            self.spec_texts.get(*name).is_some_and(|(times, _)| *times > 1)
                || names.said(name) > 0
                || names.times(name) > 0
                || self.known.kind(name).is_some()
        });
        if known {
            return;
        }
        let others = self.spec_texts.iter().filter(|(other, _)| **other != lower).map(|(_, (_, other))| other.as_str());
        if let Some(near) = self.known.nearest(&lower, others) {
            self.problem(&LINT, at, (format!("nobody is called `{name}` here"), Cure::meant(name, near)));
        } else if !name.contains(' ') && !self.text.contains(['`']) && !self.text.contains(" .. ") {
            // A name that is put together occurs nowhere as a whole, and neither does a title such as `turn of Ann`.
            let cure = "set it up in the position, or write the name of somebody who is there";
            self.problem(&LINT, at, (format!("nobody is called `{name}` here"), cure.into()));
        }
    }
}
