//! A character of `cast/` cannot be built.

use std::sync::Arc;

use crate::data_words::blamed_in;
use crate::lint::{Example, Lint, Severity};
use crate::place::is_from;
use riskbreaker_play::Ruleset;
use riskbreaker_ruleset::{CreationPart, Cure, Problem, Stack, Subject, cure_of_value};
use riskbreaker_script::meant;
use riskbreaker_work::WorkBudget;

pub(crate) static LINT: Lint = Lint {
    name: "cast-fails",
    severity: Severity::Error,
    summary: "a character of `cast/` cannot be built",
    explanation: "The check builds each character of `cast/` alone, whether a scenario uses it or not, and compares it \
                  with the rules of creation. This one is refused, or breaks a rule. The place is that of the value that \
                  the message names, as far as one is named.",
    bad: Example::Files(&[("creation.luau", CREATION), ("cast/fay.toml", "strength = 30\n")]),
    good: Example::Files(&[("creation.luau", CREATION), ("cast/fay.toml", "strength = 3\n")]),
};

const CREATION: &str = r#"local rb = require("@riskbreaker")

return rb.creation({
	check = function(sheet)
		return if sheet.strength > 9 then { { rule = "TUG-1", text = "strength is 9 at most, not 30" } } else {}
	end,
	build = function(sheet)
		return "puller", { strength = sheet.strength }
	end,
})
"#;

/// The work of building a character, without its scripts.
const WORK_OF_CHARACTER: u64 = 20_000;

/// Returns the problems of the characters of `cast/` that cannot be built.
pub(crate) fn cast_that_fails(
    rules: &Arc<Ruleset>,
    (stack, own): (&Stack, usize),
    budget: &WorkBudget,
    unexamined: &mut Vec<String>,
) -> Vec<Problem> {
    let mut found = Vec::new();
    let files = stack.data_in("cast");
    for (name, sheet) in rules.cast() {
        let Some((_, source)) = files.get(name.as_str()).filter(|(_, source)| is_from(stack, own, &source.path)) else {
            continue;
        };
        if !budget.spend(WORK_OF_CHARACTER) {
            unexamined.push(format!("{} (building it)", source.path));
            continue;
        }
        let mut problem = |message: &str, cure: Option<Cure>, subject: Subject| {
            let at = blamed_in(source, message).unwrap_or((1, 1));
            let cure = cure.unwrap_or_else(|| "look at the values that it names".into());
            found.push(LINT.problem(source.path.as_str(), message).at(at).about(subject).with_cure(cure));
        };
        if rules.creates(CreationPart::Check)
            && let Ok(breaches) = rules.check_sheet(sheet)
        {
            // What a character costs beyond its budget is a choice, and no wrong value.
            for breach in breaches.iter().filter(|breach| !breach.warning && breach.cost.is_none()) {
                problem(&format!("{} ({})", breach.text, breach.rule), None, Subject::Value);
            }
        }
        if rules.creates(CreationPart::Build)
            && let Err(fault) = rules.build_sheet(sheet, rules.default_switches())
        {
            let (message, meant) = meant(fault.message);
            let of_value = fault.unfit.as_deref().and_then(cure_of_value);
            let subject = if fault.unfit.is_some() { Subject::Value } else { Subject::Other };
            problem(&message, of_value.or(meant).or(fault.cure.map(Cure::from)), subject);
        }
    }
    found
}
