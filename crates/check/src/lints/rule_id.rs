//! A rule id in RULES.md is written twice, or not as an id.

use std::collections::{BTreeMap, BTreeSet};

use crate::lint::{Example, Lint, Severity};
use crate::symbols::known::{KnownNames, stem_of};
use crate::symbols::misnumbered::Misnumbered;
use riskbreaker_ruleset::{Problem, Source, Stack, TextChange};
use riskbreaker_spec::leading_ids;

pub(crate) static LINT: Lint = Lint {
    name: "rule-id",
    severity: Severity::Error,
    summary: "a rule id in RULES.md is written twice, or not as an id",
    explanation: "A rule begins with its id, `- **ABC-12** text`, and cards and specs name it by that. If two rules \
                  have one id, a name leads to the wrong text. An id without its hyphen is none.",
    bad: Example::Files(&[(
        "RULES.md",
        "# Tug of war\n\n- **TUG-1** Pull.\n- **TUG-2** Rest.\n- **TUG-2** Who has the rope wins.\n",
    )]),
    good: Example::Files(&[(
        "RULES.md",
        "# Tug of war\n\n- **TUG-1** Pull.\n- **TUG-2** Rest.\n- **TUG-3** Who has the rope wins.\n",
    )]),
};

/// Returns the problems of the rule ids in the rule texts of a stack, from a part on.
pub(crate) fn wrong_rule_ids(stack: &Stack, own: usize, known: &KnownNames<'_>) -> Vec<Problem> {
    let texts = stack.parts()[own..].iter().filter_map(|part| part.folder.file("RULES.md"));
    let scripts: Vec<&str> = stack.scripts().map(|(_, _, source)| &*source.text).collect();
    let of_text = |source: &Source| {
        let mut found = wrong_ids_of(source, &scripts);
        // An id that is there twice is out of order, too.
        let more = out_of_order(source, known).into_iter();
        let new: Vec<Problem> = more.filter(|one| found.iter().all(|other| other.line != one.line)).collect();
        found.extend(new);
        found
    };
    texts.flat_map(of_text).collect()
}

fn out_of_order(source: &Source, known: &KnownNames<'_>) -> Vec<Problem> {
    let told = |Misnumbered { line, at, id, between: [before, after], meant, .. }: &Misnumbered| {
        let message = format!("the rule `{id}` stands between `{before}` and `{after}`, and scripts name `{meant}`");
        let change = TextChange { begin: at.start, end: at.end, text: meant.clone() };
        let problem = LINT.problem(&*source.path, message).at((*line, 1));
        problem.with_cure(format!("write `{meant}`")).with_change(change)
    };
    known.misnumbered.iter().filter(|rule| rule.path == source.path).map(told).collect()
}

/// The id that a rule with an id that is taken should have: the only one that scripts cite and no rule has, or else the
/// number after the greatest one.
fn free_id(taken: &str, source: &Source, scripts: &[&str]) -> Option<String> {
    let prefix = stem_of(taken)?;
    let ids: BTreeSet<String> = source.text.lines().flat_map(leading_ids).collect();
    let begin = format!("\"{prefix}-");
    let cited = scripts.iter().flat_map(|script| {
        script.match_indices(&begin).map(|(at, _)| {
            let rest = &script[at + 1..];
            let end =
                rest.find(|letter: char| !(letter.is_ascii_alphanumeric() || letter == '-')).unwrap_or(rest.len());
            rest[..end].to_owned()
        })
    });
    let missing: BTreeSet<String> = cited.filter(|id| !ids.contains(id)).collect();
    if missing.len() == 1 {
        return missing.into_iter().next();
    }
    let number = |id: &String| id.strip_prefix(prefix)?.strip_prefix('-')?.parse::<u32>().ok();
    let last = ids.iter().filter_map(number).max()?;
    missing.is_empty().then(|| format!("{prefix}-{}", last + 1))
}

fn wrong_ids_of(source: &Source, cited: &[&str]) -> Vec<Problem> {
    let mut lines: BTreeMap<String, u32> = BTreeMap::new();
    let mut found = Vec::new();
    let ids = source.text.lines().flat_map(leading_ids);
    let prefixes: Vec<String> = ids.filter_map(|id| stem_of(&id).map(str::to_owned)).collect();
    let mut begin = 0;
    for (number, line) in (1..).zip(source.text.split_inclusive('\n')) {
        let bold =
            line.trim_start().strip_prefix(['-', '*', '+']).and_then(|rest| rest.trim_start().strip_prefix("**"));
        if let Some((name, _)) = bold.and_then(|rest| rest.split_once("**")) {
            let column = line.find(name).unwrap_or_default();
            let place = (number, line[..column].chars().count() as u32 + 1);
            if let Some(first) = lines.get(name) {
                let message = format!("the rule `{name}` is already in line {first}");
                let problem = LINT.problem(&*source.path, message).at(place);
                found.push(match free_id(name, source, cited) {
                    Some(meant) => {
                        let (begin, end) = (begin + column, begin + column + name.len());
                        let cure = format!("give one of them another id, such as `{meant}`");
                        problem.with_cure(cure).with_change(TextChange { begin, end, text: meant })
                    }
                    None => problem.with_cure("give one of them another id"),
                });
            } else if let Some(meant) = hyphened(name, &prefixes).or_else(|| with_digits(name, &prefixes)) {
                let change =
                    TextChange { begin: begin + column, end: begin + column + name.len(), text: meant.clone() };
                let problem = LINT.problem(&*source.path, format!("`{name}` is no rule id")).at(place);
                found.push(problem.with_cure(format!("write `{meant}`")).with_change(change));
            }
            if leading_ids(line).iter().any(|id| id == name) {
                lines.insert(name.to_owned(), number);
            }
        }
        begin += line.len();
    }
    found
}

/// Returns `ABC-107` for `ABC-1O7`: letters that look like digits between digits.
fn with_digits(name: &str, prefixes: &[String]) -> Option<String> {
    let (prefix, number) = name.rsplit_once('-')?;
    let digits = number.replace(['O', 'o'], "0").replace(['l', 'I'], "1");
    let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    let is_mixed = digits != number && number.bytes().any(|byte| byte.is_ascii_digit());
    // The other ids with that prefix are numbers.
    let is_known = prefixes.iter().filter(|known| *known == prefix).count() > 1;
    (is_number && is_mixed && is_known).then(|| format!("{prefix}-{digits}"))
}

/// Returns `ABC-12` for `ABC 12`, `ABC_12` and `ABC12`, if other rules begin with `ABC-`.
fn hyphened(name: &str, prefixes: &[String]) -> Option<String> {
    let digits = name.len() - name.trim_end_matches(|letter: char| letter.is_ascii_digit()).len();
    let (word, number) = name.split_at(name.len() - digits);
    let word = word.trim_end_matches([' ', '_', '.']);
    let known = digits > 0 && prefixes.iter().any(|prefix| prefix == word);
    known.then(|| format!("{word}-{number}"))
}
