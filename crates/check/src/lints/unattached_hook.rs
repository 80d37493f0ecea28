//! Nothing attaches a hook that is not always on.

use crate::lint::{Example, Lint, Severity};
use crate::symbols::known::KnownNames;
use riskbreaker_ruleset::{Problem, Source, TextChange};

pub(crate) static LINT: Lint = Lint {
    name: "unattached-hook",
    severity: Severity::Error,
    summary: "nothing attaches a hook that is not always on",
    explanation: "A hook acts where `rb.attach` hangs it on an entity, or everywhere with `always = true`. This \
                  one has neither, so it never runs. It is reported only if the ruleset has no other error.",
    bad: Example::Files(&[(
        "hooks/slack.luau",
        r#"local rb = require("@riskbreaker")

return rb.hook({
	id = "slack",
	before = {
		move_rope = function(e)
			e.by = 0
		end,
	},
})
"#,
    )]),
    good: Example::Files(&[(
        "hooks/slack.luau",
        r#"local rb = require("@riskbreaker")

return rb.hook({
	id = "slack",
	always = true,
	before = {
		move_rope = function(e)
			e.by = 0
		end,
	},
})
"#,
    )]),
};

/// Returns the problem of a hook that nothing attaches; `None` if a script attaches it.
pub(crate) fn unattached(known: &KnownNames<'_>, path: &str, source: &Source) -> Option<Problem> {
    let id = path.strip_prefix("hooks/")?.rsplit_once('.')?.0;
    if known.names.is_attached(id) {
        return None;
    }
    let message = format!("nothing attaches the hook `{id}`, and it is not always on");
    let problem = LINT.problem(&*source.path, message);
    let line = 1 + source.text.lines().position(|line| line.contains("rb.hook"))?;
    let cure = format!("write `always = true` in it, or `rb.attach(\"{id}\", entity)` where it begins");
    let problem = problem.at((line as u32, 1)).with_cure(cure);
    // A hook that asks whom it hangs on has to be attached.
    let change = always_on(&source.text).filter(|_| !source.text.contains("holder"));
    Some(match change {
        Some(change) => problem.with_change(change),
        None => problem,
    })
}

/// The change that puts `always = true` before the first function of a hook.
fn always_on(text: &str) -> Option<TextChange> {
    const PHASES: [&str; 4] = ["before = ", "after = ", "wrap = ", "data = "];
    let declared = text.find("rb.hook")?;
    let line =
        text[declared..].lines().skip(1).find(|line| PHASES.iter().any(|phase| line.trim().starts_with(phase)))?;
    let begin = line.as_ptr() as usize - text.as_ptr() as usize;
    let indent = &line[..line.len() - line.trim_start().len()];
    Some(TextChange { begin, end: begin, text: format!("{indent}always = true,\n") })
}
