//! A scenario cannot be set up.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::data_words::{blamed, entries_of};
use crate::lint::{Example, Lint, Severity};
use crate::place::pieces;
use riskbreaker_play::{Driver, Ruleset, Scenario, Session, Setup, StartError, Step};
use riskbreaker_ruleset::{Cure, Problem, Rulebook, Source, Subject, cure_of_switch, cure_of_value, nearest};
use riskbreaker_script::meant;
use riskbreaker_state::Value;
use riskbreaker_work::WorkBudget;

pub(crate) static LINT: Lint = Lint {
    name: "scenario-fails",
    severity: Severity::Error,
    summary: "a scenario cannot be set up",
    explanation: "The check sets up each scenario and plays until the first question. This one is refused, or \
                  ends in a fault. The place is that of the value that the message names, as far as one is named.",
    bad: Example::Files(&[(
        "scenarios/three.toml",
        r#"left = 5
right = "Dora"
"#,
    )]),
    good: Example::Files(&[(
        "scenarios/three.toml",
        r#"left = "Cid"
right = "Dora"
"#,
    )]),
};

/// The number of actions of a scenario that are played, unless a question comes before. All seats are people, so most scenarios
/// ask at once; entries of the agenda that the scenario itself has put there come first.
const FIRST_ACTIONS: u64 = 12;

/// The work of setting up a scenario, without its scripts.
const WORK_OF_SCENARIO: u64 = 200_000;

/// Returns the problems of scenarios that cannot be set up. In a ruleset without other errors (`is_sound`), their first actions are
/// played as well.
pub(crate) fn scenarios_that_fail(
    rules: &Arc<Ruleset>,
    is_sound: bool,
    budget: &WorkBudget,
    unexamined: &mut Vec<String>,
) -> Vec<Problem> {
    let mut found = Vec::new();
    for name in rules.scenarios().keys() {
        let path = format!("{}/scenarios/{name}.toml", rules.id());
        if !budget.spend(WORK_OF_SCENARIO) {
            unexamined.push(format!("{path} (setting it up)"));
            continue;
        }
        let mut setup = Setup { scenario: Scenario::Named(name.clone()), ..Setup::default() };
        for seat in rules.seats().keys() {
            setup = setup.seat(seat, Driver::Human);
        }
        let started = Session::start(rules, setup).map(|mut session| {
            let step = session.advance_by(if is_sound { FIRST_ACTIONS } else { 1 });
            budget.spend(session.work());
            step
        });
        match started {
            Err(error) => {
                let message = error.to_string();
                let (path, at) = blamed(rules, name, &message).unwrap_or((path, (1, 1)));
                let problem = LINT.problem(path, message).at(at);
                let of_switch = cure_of_start(rules, name, &error);
                let problem = problem.about(Subject::Value);
                found.push(problem.with_cure(of_switch.unwrap_or_else(|| "look at the values that it names".into())));
            }
            Ok(Ok(Step::Fault(fault))) => {
                let (message, meant) = meant(fault.message);
                let place = blamed(rules, name, without_place(&message))
                    .or_else(|| said_in_scenario(rules, name, &message, fault.path.as_deref()));
                let problem = match place {
                    Some((path, at)) => of_data(rules, LINT.problem(path, without_place(&message)).at(at)),
                    None => {
                        let at = fault.path.unwrap_or_else(|| path.clone());
                        let message = format!("scenario `{name}`: {message}");
                        let mut problem = LINT.problem(at, message);
                        problem.line = fault.line;
                        problem
                    }
                };
                // How a call is written helps in a script, and not in a file of data.
                let is_data = problem.path.ends_with(".toml");
                let of_call = fault.cure.filter(|_| !is_data).map(Cure::from);
                let own = problem.cure.clone().or_else(|| cure_of_value(fault.unfit.as_deref()?));
                let known = own.or(meant).or(of_call).or_else(|| cure_of_key(rules, &problem));
                let otherwise = || match is_data {
                    true => "write a value that the message allows",
                    false => {
                        "correct the value in this line, or where it comes from; it runs when the scenario is set up"
                    }
                };
                let cure = known.unwrap_or_else(|| otherwise().into());
                let subject = if fault.unfit.is_some() { Subject::Value } else { problem.subject };
                found.push(problem.about(subject).with_cure(cure));
            }
            Ok(_) => {}
        }
    }
    // One mistake in `cast/` can keep many positions from being set up.
    let mut seen = BTreeSet::new();
    found.retain(|problem| seen.insert(problem.message.clone()));
    found
}

/// The place of the text in a scenario that a message of a ruleset below is about: one whose first word is in the message.
fn said_in_scenario(
    rules: &Rulebook,
    scenario: &str,
    message: &str,
    failed: Option<&str>,
) -> Option<(String, (u32, u32))> {
    let file = format!("{scenario}.toml");
    let scenarios = rules.stack().files_in("scenarios");
    let (_, (_, source)) = scenarios.iter().find(|(path, _)| path.rsplit('/').next() == Some(&*file))?;
    let ruleset = |path: &str| path.split('/').next().map(str::to_owned);
    if ruleset(failed?) == ruleset(&source.path) {
        return None;
    }
    // A script may have made a name of the whole text, or of its first word.
    let as_name = |text: &str| {
        let letters = text.chars().filter(|letter| letter.is_alphanumeric() || matches!(letter, ' ' | '_'));
        letters.map(|letter| if letter == ' ' { '_' } else { letter }).collect::<String>().to_lowercase()
    };
    let first_word = |text: &str| {
        let end = text.find(|letter: char| !(letter.is_alphanumeric() || letter == '_')).unwrap_or(text.len());
        text[..end].to_lowercase()
    };
    let told = message.to_lowercase();
    let is_in = |word: String| word.chars().count() > 3 && told.contains(&word);
    let entries = entries_of(source);
    let texts = || entries.iter().filter_map(|entry| Some((entry, entry.value.as_text()?)));
    let whole = texts().find(|(_, text)| text.contains(' ') && is_in(as_name(text)));
    let mut said = texts().filter(|(_, text)| is_in(first_word(text)));
    let only = whole.or_else(|| said.next().filter(|_| said.next().is_none()))?.0;
    Some((source.path.clone(), only.at))
}

/// The cure of a scenario that gives a switch a value which that does not have.
fn cure_of_start(rules: &Rulebook, scenario: &str, error: &StartError) -> Option<Cure> {
    let StartError::SwitchValue(refusal) = error else { return None };
    let switch = rules.switch(&refusal.switch)?;
    let Value::Map(tables) = rules.scenarios().get(scenario)? else { return None };
    let Value::Map(values) = tables.get("switches")? else { return None };
    cure_of_switch(switch, values.get(&*refusal.switch)?)
}

/// A message without the line of a script in brackets at its end: the value is in a file of data.
fn without_place(message: &str) -> &str {
    let place = message.rsplit_once(" (in ").filter(|(_, place)| place.contains(".luau:") && place.ends_with(')'));
    place.map_or(message, |(message, _)| message)
}

/// The file of a path that begins with the ruleset's id.
fn source_of<'r>(rules: &'r Rulebook, path: &str) -> Option<&'r Source> {
    let (part, inside) = rules.stack().part_of(path)?;
    rules.stack().parts()[part].folder.file(inside)
}

/// A problem at a key of a file of data. If a script has looked for an entity of the name that the file gives and has found
/// none, the problem says so.
fn of_data(rules: &Rulebook, mut problem: Problem) -> Problem {
    let Some((verb, rest)) = problem.message.split_once(" needs `") else { return problem };
    let Some((param, rest)) = rest.split_once("`, which is ") else { return problem };
    let (Some(wanted), Some(source)) = (rest.strip_suffix(" and is not given"), source_of(rules, &problem.path)) else {
        return problem;
    };
    let line = problem.line.unwrap_or_default();
    let entry = entries_of(source).into_iter().find(|entry| entry.key == param && entry.at.0 == line);
    let Some(given) = entry.and_then(|entry| entry.value.as_text().map(str::to_owned)) else { return problem };
    let message = format!("no entity is found for \"{given}\"; {verb} needs `{param}`, {wanted}");
    // The names that other values of the file give: one that has the word in it, or one that is near.
    let names: Vec<String> = entries_of(source)
        .iter()
        .filter(|entry| entry.key != param)
        .filter_map(|entry| entry.value.as_text())
        .flat_map(|text| pieces(text).map(str::to_owned).collect::<Vec<_>>())
        .filter(|name| *name != given)
        .collect();
    let whole = names.iter().find(|name| name.split(' ').any(|word| word == given)).map(String::as_str);
    let near = whole.or_else(|| nearest(&given, names.iter().map(String::as_str)));
    problem.cure = Some(match near {
        Some(near) => Cure::meant_text(given.as_str(), near),
        None => format!("write the name of somebody who is there instead of \"{given}\"").into(),
    });
    problem.message = message;
    problem
}

/// The cure for a step of `rb.recur` that is no key: an entity in its place.
fn cure_of_key(rules: &Rulebook, problem: &Problem) -> Option<Cure> {
    let text = rules.stack().text_of(&problem.path)?;
    let line = text.lines().nth(problem.line?.checked_sub(1)? as usize)?;
    let is_step = line.contains("rb.recur(") && problem.message.contains("a key has 1 to");
    is_step
        .then(|| "it is written rb.recur(\"ENTRY\", key, step, entity): the step is missing before the entity".into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_of_a_script_is_taken_off_a_message() {
        assert_eq!(without_place("takes 1, not 0 (in g/lib/x.luau:93)"), "takes 1, not 0");
        assert_eq!(without_place("a (in the morning)"), "a (in the morning)");
    }
}
