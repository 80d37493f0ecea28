//! A scenario cannot be set up.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::data_words::blamed;
use crate::lint::{Example, Lint, Severity};
use riskbreaker_play::{Driver, Ruleset, Scenario, Session, Setup, Step};
use riskbreaker_ruleset::{Cure, Problem};
use riskbreaker_script::meant;
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

/// The work of setting up a scenario, without its scripts.
const WORK_OF_SCENARIO: u64 = 200_000;

/// Returns the problems of scenarios that cannot be set up.
pub(crate) fn scenarios_that_fail(
    rules: &Arc<Ruleset>,
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
            let step = session.advance_by(1);
            budget.spend(session.work());
            step
        });
        match started {
            Err(error) => {
                let message = error.to_string();
                let (path, at) = blamed(rules, name, &message).unwrap_or((path, (1, 1)));
                let problem = LINT.problem(path, message).at(at);
                found.push(problem.with_cure("look at the values that it names"));
            }
            Ok(Ok(Step::Fault(fault))) => {
                let (message, meant) = meant(fault.message);
                let problem = match blamed(rules, name, &message) {
                    Some((path, at)) => LINT.problem(path, message).at(at),
                    None => {
                        let at = fault.path.unwrap_or_else(|| path.clone());
                        let message = format!("scenario `{name}`: {message}");
                        let mut problem = LINT.problem(at, message);
                        problem.line = fault.line;
                        problem
                    }
                };
                // In a data file, the cure of a script does not help.
                let of_script = fault.cure.map(Cure::from).filter(|_| !problem.path.ends_with(".toml"));
                let meant = meant.or(of_script).or_else(|| cure_of_value(&problem.message));
                let cure = meant.unwrap_or_else(|| format!("the scenario `{name}` cannot be set up").into());
                found.push(problem.with_cure(cure));
            }
            Ok(_) => {}
        }
    }
    // One mistake in `cast/` can keep many positions from being set up.
    let mut seen = BTreeSet::new();
    found.retain(|problem| seen.insert(problem.message.clone()));
    found
}

/// The cure for a number in quotes, by the message of a value that a field does not take.
fn cure_of_value(message: &str) -> Option<Cure> {
    let of_field =
        || message.split_once(", not a text (").and_then(|(wanted, given)| Some((wanted, given.strip_suffix(')')?)));
    let of_call = || {
        let (wanted, given) = message.split_once(", and this is the text \"")?;
        Some((wanted, given.strip_suffix('"')?))
    };
    let (wanted, given) = of_field().or_else(of_call)?;
    let is_number = wanted.contains("a whole number") && given.parse::<i64>().is_ok();
    is_number.then(|| Cure::rewrite(format!("\"{given}\""), given, format!("write {given} without quotes")))
}
