//! The ruleset does not load.

use crate::lint::{Example, Lint, Severity};
use crate::symbols::known::KnownNames;
use riskbreaker_ruleset::{Cure, Problem, Subject, nearest};

pub(crate) static LINT: Lint = Lint {
    name: "load",
    severity: Severity::Error,
    summary: "the ruleset does not load",
    explanation: "Loading a ruleset refuses invalid manifests, declarations that contradict each other, wrong \
                  values of declarations and scripts that fail while they are read. The message is that of the \
                  loader. It cannot be allowed.",
    bad: Example::Files(&[(
        "maneuvers/dig.luau",
        r#"local rb = require("@riskbreaker")

return rb.maneuver({
	id = "digg",
	title = "Dig in",
	text = "Stand firm.",
	resolve = function(ctx)
		rb.say("{} stands", ctx.actor)
	end,
})
"#,
    )]),
    good: Example::Files(&[(
        "maneuvers/dig.luau",
        r#"local rb = require("@riskbreaker")

return rb.maneuver({
	id = "dig",
	title = "Dig in",
	text = "Stand firm.",
	resolve = function(ctx)
		rb.say("{} stands", ctx.actor)
	end,
})
"#,
    )]),
};

/// Moves the problem of a relation without the field of its end to the field of a similar name, if scripts read the name of
/// the end and not that of the field.
pub(crate) fn blame_misspelt_field(problem: &mut Problem, known: &KnownNames<'_>) {
    let Some(Cure::Meant { written: end, meant: field }) = problem.cure.clone() else { return };
    let is_alike = nearest(&end, [field.as_str()]).is_some();
    if problem.subject != Subject::RelationEnd || !is_alike || known.names.reads(&end) <= known.names.reads(&field) {
        return;
    }
    let first = problem.line.unwrap_or(1) as usize - 1;
    let is_declared = |line: &str| {
        line.trim_start().strip_prefix(field.as_str()).is_some_and(|rest| rest.trim_start().starts_with('='))
    };
    let mut lines = known.text_of(&problem.path).lines().enumerate().skip(first);
    if let Some((number, line)) = lines.find(|(_, line)| is_declared(line)) {
        let column = line.chars().take_while(|letter| letter.is_whitespace()).count();
        problem.message = format!("{}; scripts read `{end}`, and no `{field}`", problem.message);
        (problem.line, problem.column) = (Some(number as u32 + 1), Some(column as u32 + 1));
        problem.cure = Some(Cure::meant(field.clone(), end));
    }
}
