//! A `return` ends a loop in its first round.

use crate::control_flow::EarlyReturn;
use crate::lint::{Example, Lint, Severity};
use crate::reader::ScriptReader;
use riskbreaker_ruleset::TextChange;

pub(crate) static LINT: Lint = Lint {
    name: "return-in-loop",
    severity: Severity::Error,
    summary: "a `return` ends a loop in its first round",
    explanation: "The last statement of the loop returns what the loop collects, so the loop never goes into its second \
                  round. The `return` belongs behind the `end` of the loop.",
    bad: Example::Resolve(
        r#"local function strong(list)
	local found = {}
	for _, puller in list do
		table.insert(found, puller.name)
		return found
	end
	return found
end
rb.say("{} pull", #strong(rb.each("puller")))"#,
    ),
    good: Example::Resolve(
        r#"local function strong(list)
	local found = {}
	for _, puller in list do
		table.insert(found, puller.name)
	end
	return found
end
rb.say("{} pull", #strong(rb.each("puller")))"#,
    ),
};

impl ScriptReader<'_> {
    /// Reports a `return` at the end of a loop's body that gives what the loop collects.
    pub(crate) fn returns_in_first_round(&mut self, found: &EarlyReturn) {
        let (before, at) = (self.offset_of(found.before), self.bytes_of(found.at));
        let end = self.offset_of(found.of_loop.end);
        let (kept, closing) = (self.text[before..at.start].trim_end(), &self.text[at.end..end]);
        let (written, indent) = (&self.text[at], self.indent_of(found.of_loop.begin));
        let wrong = "this `return` ends the loop in its first round".to_owned();
        let (text, cure) = match self.text[end..].trim_start().starts_with(written) {
            true => (format!("{kept}{closing}"), "remove it: the same stands below the `end` of the loop"),
            false => (format!("{kept}{closing}\n{indent}{written}"), "move it below the `end` of the loop"),
        };
        self.cured(&LINT, found.at, (wrong, cure.into()), TextChange { begin: before, end, text });
    }
}
