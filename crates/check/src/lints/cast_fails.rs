//! A character of `cast/` cannot be built.

use std::sync::Arc;

use crate::data_words::{blamed_in, entries_of};
use crate::lint::{Example, Lint, Severity};
use crate::lints::field_type::value_instead;
use crate::place::is_from;
use crate::syntax::byte_of;
use riskbreaker_play::{BuiltSheet, Ruleset};
use riskbreaker_ruleset::{CreationPart, Cure, Problem, Source, Stack, Subject, TextChange, cure_of_value};
use riskbreaker_script::meant;
use riskbreaker_script::syntax::TextPosition;
use riskbreaker_state::{Schema, State, Type, Value};
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
    // The characters that cost more than their budget, and how many keep it.
    let (mut costly, mut within) = (Vec::new(), 0);
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
            for breach in breaches.iter().filter(|breach| !breach.warning && breach.cost.is_none()) {
                problem(&format!("{} ({})", breach.text, breach.rule), None, Subject::Value);
            }
            let beyond = breaches.iter().find(|breach| !breach.warning && breach.cost.is_some());
            match beyond {
                Some(breach) => costly.push((source.path.clone(), format!("{} ({})", breach.text, breach.rule))),
                None => within += 1,
            }
        }
        if rules.creates(CreationPart::Build) {
            match rules.build_sheet(sheet, rules.default_switches()) {
                Err(fault) => {
                    let (message, meant) = meant(fault.message);
                    let of_value = fault.unfit.as_deref().and_then(cure_of_value);
                    let subject = if fault.unfit.is_some() { Subject::Value } else { Subject::Other };
                    problem(&message, of_value.or(meant).or(fault.cure.map(Cure::from)), subject);
                }
                Ok(built) => found.extend(wrong_values(rules.book().schema(), source, built)),
            }
        }
    }
    // What a character costs beyond its budget may be a choice. Where all others keep it, it is most likely none.
    costly.retain(|(path, _)| found.iter().all(|problem| problem.path != *path));
    if let ([(path, message)], 1..) = (costly.as_slice(), within) {
        let source = files.values().map(|(_, source)| source).find(|source| source.path == *path);
        // What costs most is most likely the greatest number.
        let greatest = |source: &Source| {
            let entries = entries_of(source).into_iter().filter(|entry| entry.at_top && !entry.listed);
            entries.filter_map(|entry| Some((entry.value.as_int()?, entry.at))).max_by_key(|(number, _)| *number)
        };
        let at = source.and_then(|source| greatest(source).map(|(_, at)| at).or_else(|| blamed_in(source, message)));
        let problem = LINT.problem(path.as_str(), message.as_str()).at(at.unwrap_or((1, 1)));
        found.push(problem.with_cure("take less, as all others do"));
    }
    found
}

/// Returns the problems of values that the sheet itself has, under the names of fields that do not take them.
fn wrong_values(schema: &Schema, source: &Source, built: BuiltSheet) -> Vec<Problem> {
    let Some(kind) = schema.kind_named(&built.kind).map(|kind| schema.kind(kind)) else { return Vec::new() };
    let entries = entries_of(source);
    let mut found = Vec::new();
    for (name, value) in built.fields {
        let Some(field) = kind.field_named(&name).map(|field| kind.field(field)) else { continue };
        let is_plain = matches!(field.ty, Type::Int { .. } | Type::Bool | Type::Text | Type::Enum(_));
        let written =
            entries.iter().find(|entry| entry.at_top && !entry.listed && entry.key == name && entry.value == value);
        let Some(entry) = written.filter(|_| is_plain && value != Value::None) else { continue };
        if let Err(wrong) = field.ty.check(&value, schema, &State::new()) {
            let (cure, meant) = value_instead(&[&field.ty], &value);
            let problem =
                LINT.problem(&*source.path, format!("the field `{name}` {wrong}")).at(entry.at).with_cure(cure);
            let change = meant.and_then(|meant| {
                let begin = byte_of(&source.text, TextPosition::new(entry.at.0 - 1, 0));
                let line = source.text[begin..].lines().next()?;
                let code = match &value {
                    Value::Text(text) => format!("\"{text}\""),
                    other => other.to_string(),
                };
                let at = begin + line.find('=')? + line[line.find('=')?..].find(&code)?;
                Some(TextChange { begin: at, end: at + code.len(), text: meant })
            });
            found.push(match change {
                Some(change) => problem.with_change(change),
                None => problem,
            });
        }
    }
    found
}
