use std::collections::BTreeSet;

use super::{Card, Fact, Ruleset};

/// What differs between two generations of a ruleset, a line for each file: `maneuvers/feint.luau: max_risk 3 -> 2`.
///
/// Values that have a name are told with it; where more than a few lines differ only their number is.
pub fn changes_between(old: &Ruleset, new: &Ruleset) -> Vec<String> {
    let (before, after) = (old.files(), new.files());
    let paths: BTreeSet<_> = before.keys().chain(after.keys()).collect();
    let mut lines = Vec::new();
    for path in paths {
        // Files of the ruleset itself are told without its name.
        let shown = path.strip_prefix(&format!("{}/", new.id())).unwrap_or(path);
        match (before.get(path), after.get(path)) {
            (None, Some(_)) => lines.push(format!("{shown}: new")),
            (Some(_), None) => lines.push(format!("{shown}: gone")),
            (Some(was), Some(now)) if was != now => {
                let mut told = changed_values(was, now);
                if told.is_empty() {
                    told = changed_facts(old, new, path);
                }
                lines.push(match told.as_slice() {
                    [] => format!("{shown}: {}", changed_lines(was, now)),
                    told => format!("{shown}: {}", told.join(", ")),
                });
            }
            _ => {}
        }
    }
    lines
}

/// Facts of the card of a file that differ.
fn changed_facts(old: &Ruleset, new: &Ruleset, path: &str) -> Vec<String> {
    let of = |rules: &Ruleset| -> Option<Card> {
        let all = || rules.cards().iter().chain(rules.items());
        let is_its = |card: &&Card| card.origins.values().any(|origin| *origin == *path);
        all().find(is_its).cloned()
    };
    let (Some(was), Some(now)) = (of(old), of(new)) else { return Vec::new() };
    let words = |fact: Option<&Fact>| match fact {
        Some(Fact::Plain(value)) => value.to_string(),
        Some(Fact::Function) => "worked out".into(),
        None => "none".into(),
    };
    let names: BTreeSet<&String> = was.facts.keys().chain(now.facts.keys()).collect();
    let mut told = Vec::new();
    for name in names {
        let (from, to) = (was.facts.get(name), now.facts.get(name));
        if from != to {
            told.push(format!("{name} {} -> {}", words(from), words(to)));
        }
    }
    if was.title != now.title {
        told.push(format!("title {} -> {}", was.title, now.title));
    }
    told
}

/// The lines in which two texts differ: those of either, without the common beginning and end.
fn middle<'t>(was: &'t str, now: &'t str) -> (Vec<&'t str>, Vec<&'t str>) {
    let (mut was, mut now): (Vec<&str>, Vec<&str>) = (was.lines().collect(), now.lines().collect());
    let same = was.iter().zip(&now).take_while(|(one, two)| one == two).count();
    was.drain(..same);
    now.drain(..same);
    while !was.is_empty() && was.last() == now.last() {
        was.pop();
        now.pop();
    }
    (was, now)
}

fn changed_lines(was: &str, now: &str) -> String {
    let (was, now) = middle(was, now);
    match was.len().max(now.len()) {
        0 => "the same lines, ended otherwise".into(),
        1 => "one line".into(),
        n => format!("{n} lines"),
    }
}

/// Most values that are told one by one.
const MOST_VALUES: usize = 4;
const LONGEST_VALUE: usize = 40;

/// The values that changed, if nothing else did: lines `NAME = VALUE` that are there in both.
fn changed_values(was: &str, now: &str) -> Vec<String> {
    let (was, now) = middle(was, now);
    if was.len() != now.len() {
        return Vec::new();
    }
    let mut told = Vec::new();
    for (from, to) in was.iter().zip(&now).filter(|(from, to)| from != to) {
        match (assignment(from), assignment(to)) {
            (Some((name, from)), Some((same, to))) if name == same && from != to => {
                told.push(format!("{} {from} -> {to}", name.to_lowercase()));
            }
            _ => return Vec::new(),
        }
    }
    if told.len() > MOST_VALUES { Vec::new() } else { told }
}

/// Name and value of a line such as `max_risk = 3, -- no more` or `local LOSS = 2`.
fn assignment(line: &str) -> Option<(&str, &str)> {
    let line = line.trim();
    let line = line.strip_prefix("local ").unwrap_or(line);
    let (name, value) = line.split_once('=')?;
    let name = name.trim();
    let is_name = !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
    let value = value.split(" --").next().unwrap_or(value).trim().trim_end_matches(',').trim_end();
    let plain = |c: char| c.is_alphanumeric() || matches!(c, '"' | '-' | '.' | '_' | ' ' | '\'');
    let is_value = !value.is_empty() && value.chars().count() <= LONGEST_VALUE && value.chars().all(plain);
    (is_name && is_value).then_some((name, value))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_with_a_name_is_told_with_it() {
        assert_eq!(changed_values("a\n\tmax_risk = 3,\nb", "a\n\tmax_risk = 2, -- less\nb"), ["max_risk 3 -> 2"]);
        assert_eq!(changed_values("local LOSS_FACTOR = 2", "local LOSS_FACTOR = 1"), ["loss_factor 2 -> 1"]);
        assert_eq!(changed_values("x = 1\nsame\ny = 2", "x = 2\nsame\ny = 3"), ["x 1 -> 2", "y 2 -> 3"]);
        assert!(changed_values("x = 1", "y = 1").is_empty());
        assert!(changed_values("x = 1", "x = f(1)").is_empty());
        assert!(changed_values("x = 1", "x = 2\nmore").is_empty());
    }

    #[test]
    fn other_changes_are_counted() {
        assert_eq!(changed_lines("a\nb\nc", "a\nx\nc"), "one line");
        assert_eq!(changed_lines("a\nc", "a\nx\ny\nc"), "2 lines");
    }
}
