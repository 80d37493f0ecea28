use std::collections::BTreeMap;

use serde::Serialize;

use super::report::SpecResult;

/// The rules of `RULES.md` with the specs that cover them.
#[derive(Debug, Default, Serialize)]
pub struct Coverage {
    /// The rules in the order of the rule texts.
    pub rules: Vec<RuleLine>,
    /// Ids that occur in specs but in no rule text.
    pub unknown: Vec<String>,
}

/// A rule with the specs that cover it.
#[derive(Debug, Serialize)]
pub struct RuleLine {
    /// The id of the rule.
    pub id: String,
    /// Whether specs cover it.
    pub status: RuleStatus,
    /// Names of the specs.
    pub specs: Vec<String>,
}

/// The coverage of a rule by specs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum RuleStatus {
    /// A spec names it.
    Covered,
    /// No spec names it, and its heading in the rule text contains `GM`.
    GameMaster,
    /// No spec names it.
    Uncovered,
}

impl Coverage {
    /// Collects the ids of the rule texts and finds the specs of each.
    ///
    /// An id counts at the beginning of a list item or a table row; under a heading that contains `GM` it is the game
    /// master's.
    pub fn of<'a>(texts: impl Iterator<Item = (&'a str, &'a str)>, results: &[SpecResult]) -> Coverage {
        let mut specs: BTreeMap<&str, Vec<String>> = BTreeMap::new();
        for result in results {
            for id in &result.rules {
                specs.entry(id).or_default().push(result.name.clone());
            }
        }
        let mut rules: Vec<RuleLine> = Vec::new();
        for (_, text) in texts {
            let mut masters = false;
            for line in text.lines() {
                if let Some(heading) = line.strip_prefix('#') {
                    masters = heading.split(|c: char| !c.is_alphanumeric()).any(|word| word == "GM");
                    continue;
                }
                for id in leading_ids(line) {
                    let covering = specs.get(&*id).cloned().unwrap_or_default();
                    let known = rules.iter_mut().find(|rule| rule.id == id);
                    match known {
                        Some(rule) if masters && rule.status == RuleStatus::Uncovered => {
                            rule.status = RuleStatus::GameMaster;
                        }
                        Some(_) => {}
                        None => {
                            let status = match (covering.is_empty(), masters) {
                                (false, _) => RuleStatus::Covered,
                                (true, true) => RuleStatus::GameMaster,
                                (true, false) => RuleStatus::Uncovered,
                            };
                            rules.push(RuleLine { id, status, specs: covering });
                        }
                    }
                }
            }
        }
        let unknown =
            specs.keys().filter(|id| rules.iter().all(|rule| rule.id != **id)).map(|id| id.to_string()).collect();
        Coverage { rules, unknown }
    }

    /// The number of rules with this status.
    pub fn count(&self, status: RuleStatus) -> usize {
        self.rules.iter().filter(|rule| rule.status == status).count()
    }
}

/// The ids at the beginning of a list item or a table row: one, several with commas, or a range `A-01..A-05`.
pub fn leading_ids(line: &str) -> Vec<String> {
    let line = line.trim_start();
    let Some(rest) = line.strip_prefix(['-', '*', '|', '+']) else { return Vec::new() };
    let cell = rest.split('|').next().unwrap_or(rest);
    let mut ids: Vec<String> = Vec::new();
    let mut range = false;
    for piece in cell.split([',', ' ', '*', '`', ':']).filter(|piece| !piece.is_empty()) {
        if matches!(piece, "to" | ".." | "–" | "and") {
            range = piece != "and";
            continue;
        }
        let (first, last) = match piece.split_once("..") {
            Some((first, last)) => (first, Some(last)),
            None => (piece, None),
        };
        if !is_id(first) {
            break;
        }
        let from = if range { ids.last().cloned() } else { None };
        match (from, last) {
            (Some(from), _) => ids.extend(between(&from, first)),
            (None, Some(last)) => {
                ids.push(first.to_string());
                ids.extend(between(first, last));
            }
            (None, None) => ids.push(first.to_string()),
        }
        range = false;
    }
    ids
}

/// True for the form of a rule id: capital letters and digits in parts joined by `-`, the last one a number:
/// `RB1-A-07`.
pub fn is_id(text: &str) -> bool {
    let Some((before, number)) = text.rsplit_once('-') else { return false };
    !number.is_empty()
        && number.bytes().all(|b| b.is_ascii_digit())
        && before.starts_with(|c: char| c.is_ascii_uppercase())
        && before.bytes().all(|b| b.is_ascii_uppercase() || b.is_ascii_digit() || b == b'-')
}

/// The ids after `first` up to `last`, which may be a number alone.
fn between(first: &str, last: &str) -> Vec<String> {
    let Some((stem, from)) = first.rsplit_once('-') else { return Vec::new() };
    let to = last.rsplit_once('-').map_or(last, |(_, number)| number);
    match (from.parse::<u32>(), to.parse::<u32>()) {
        (Ok(start), Ok(end)) if end > start && end - start < 10_000 => {
            (start + 1..=end).map(|n| format!("{stem}-{n:0width$}", width = from.len())).collect()
        }
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_read_at_the_beginning_of_items_and_rows() {
        assert_eq!(leading_ids("- **RB1-001** text with RB1-002"), ["RB1-001"]);
        assert_eq!(leading_ids("| RB1-A-07 | x | RB1-003 |"), ["RB1-A-07"]);
        assert_eq!(leading_ids("| RB1-001, RB1-004 | x |"), ["RB1-001", "RB1-004"]);
        assert_eq!(leading_ids("| RB1-008..RB1-011 | x |"), ["RB1-008", "RB1-009", "RB1-010", "RB1-011"]);
        assert_eq!(leading_ids("- RB1-008 to RB1-010: x"), ["RB1-008", "RB1-009", "RB1-010"]);
        assert!(leading_ids("RB1-001 in a sentence").is_empty());
        assert!(leading_ids("|---|---|").is_empty());
    }

    #[test]
    fn a_rule_is_covered_the_gms_or_uncovered() {
        let result = SpecResult {
            path: String::new(),
            name: "a spec".into(),
            rules: vec!["X-1".into(), "X-9".into()],
            failure: None,
            overruled: false,
            trace: None,
            cards: Vec::new(),
            warnings: Vec::new(),
        };
        let text = "## Rules\n- **X-1** a\n- **X-2** b\n- **X-3** c\n## What is the GM's\n- X-3 by an edit\n";
        let coverage = Coverage::of([("RULES.md", text)].into_iter(), &[result]);
        let statuses: Vec<_> = coverage.rules.iter().map(|rule| (rule.id.as_str(), rule.status)).collect();
        assert_eq!(
            statuses,
            [("X-1", RuleStatus::Covered), ("X-2", RuleStatus::Uncovered), ("X-3", RuleStatus::GameMaster)]
        );
        assert_eq!(coverage.unknown, ["X-9"]);
    }
}
