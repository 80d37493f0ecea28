//! A text in plain quotes contains `{name}`.

use crate::lint::{Example, Lint, Severity};
use crate::reader::ScriptReader;
use riskbreaker_ruleset::TextChange;
use riskbreaker_script::syntax::Location;

pub(crate) static LINT: Lint = Lint {
    name: "braces-in-quotes",
    severity: Severity::Error,
    summary: "a text in plain quotes contains `{name}`",
    explanation: "Luau fills `{name}` only in a text between backquotes. In plain quotes it stays as it is. Write \
                  backquotes, or `{}` and hand the value over.",
    bad: Example::Resolve(
        r#"local by = 2
rb.say("{by} feet")
rb.say("{}", by)"#,
    ),
    good: Example::Resolve(
        r#"local by = 2
rb.say(`{by} feet`)
rb.say("{}", by)"#,
    ),
};

impl ScriptReader<'_> {
    /// Reports the name of a variable in braces in a text in plain quotes.
    pub(crate) fn plain_braces(&mut self, text: &str, at: Location) {
        // The sentences of a card for a recap are filled in by the host.
        let is_filled_in = || self.path.starts_with("maneuvers/") && self.keys.iter().any(|key| key == "recap");
        if let Some(named) = self.named_in_braces(text).filter(|_| !is_filled_in()) {
            let wrong = format!("`{{{named}}}` stays as it is in a text in plain quotes");
            let cure = "put the text between backquotes, or write {} and hand the value over".to_owned();
            let written = self.source_at(at);
            let inner = written.strip_prefix('"').and_then(|rest| rest.strip_suffix('"'));
            // Another pair of braces would have to be escaped.
            let plain = inner.filter(|inner| !inner.contains(['`', '\\']) && inner.matches('{').count() == 1);
            let change = plain.map(|inner| self.replaced(at, format!("`{inner}`")));
            self.problem_with(&LINT, at, (wrong, cure.into()), change);
        }
    }

    /// Reports `$` before the brace of a place in a text in backquotes, where other languages want it.
    pub(crate) fn dollar_before_brace(&mut self, at: Location) {
        let range = self.bytes_of(at);
        let written = self.text.get(range.clone()).unwrap_or_default();
        if let Some(found) = written.find("${").filter(|found| !written[..*found].ends_with('\\')) {
            let begin = range.start + found;
            let change = TextChange { begin, end: begin + 1, text: String::new() };
            let wrong = "the `$` before this brace is shown as it is".to_owned();
            self.cured(&LINT, at, (wrong, "leave out `$`: braces alone fill in a value".into()), change);
        }
    }

    /// Returns a local variable, or a member of one, that a text names in braces.
    pub(crate) fn named_in_braces(&self, text: &str) -> Option<String> {
        let pieces = text.split('{').skip(1).filter_map(|rest| rest.split_once('}')).map(|(inside, _)| inside);
        let part =
            |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
        let mut named = pieces.filter(|inside| inside.trim_end_matches("()").split(['.', ':']).all(part));
        let found = named.find(|inside| self.has_local(inside.split(['.', ':']).next().unwrap_or_default()))?;
        (!self.is_spec()).then(|| found.to_string())
    }
}
