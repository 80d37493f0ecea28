//! `require` names a file that is not there.

use crate::lint::{Example, Lint, Severity};
use crate::reader::ScriptReader;
use crate::syntax::literal;
use riskbreaker_ruleset::Cure;
use riskbreaker_script::syntax::{Expression, Location};

pub(crate) static LINT: Lint = Lint {
    name: "unknown-file",
    severity: Severity::Error,
    summary: "`require` names a file that is not there",
    explanation: "`require(\"lib/NAME\")` reads a file of this ruleset or of one that it extends, by its path \
                  without the ending. `require(\"@riskbreaker\")` gives the words, and \
                  `require(\"@parent/lib/NAME\")` the file of the ruleset below. A missing file keeps the ruleset \
                  from loading.",
    bad: Example::Resolve(
        r#"local dice = require("lib/dice")
rb.say("{} pulls", dice)"#,
    ),
    good: Example::Resolve(r#"rb.say("{} pulls", ctx.actor)"#),
};

impl ScriptReader<'_> {
    pub(crate) fn require(&mut self, args: &[Expression<'_>], at: Location) {
        let Some(name) = args.first().and_then(|arg| literal(*arg)) else { return };
        if name == "@riskbreaker" {
            return;
        }
        let path = name.strip_prefix("@parent/").unwrap_or(&name);
        self.required.insert(path.to_string());
        if self.file_named(&name).is_none() {
            let stems =
                self.known.stack.scripts().map(|(_, path, _)| path.trim_end_matches(".luau").trim_end_matches(".lua"));
            let names: Vec<String> = stems.map(str::to_string).chain(["@riskbreaker".to_string()]).collect();
            // The name of a file includes its folder.
            let last = |name: &&String| name.trim_start_matches('@').rsplit('/').next() == Some(path);
            let cure = match names.iter().find(last) {
                _ if name != path && self.file_named(path).is_some() => {
                    format!("`@parent` means the ruleset below; this one's own file is `{path}`").into()
                }
                Some(meant) => Cure::meant(name.as_str(), meant.as_str()),
                None => self.known.instead(path, &names),
            };
            self.problem(&LINT, at, (format!("there is no file `{name}` to require"), cure));
        }
    }
}
