//! A rule id is in no RULES.md.

use crate::lint::{Example, Lint, Severity};
use crate::lints::unknown_name;
use crate::reader::ScriptReader;
use crate::symbols::known::KnownNames;
use crate::syntax::{listed_texts, literal};
use riskbreaker_ruleset::{Cure, Problem, Source, Stack, Switch, find_whole, instead, likeliest};
use riskbreaker_script::syntax::{Expression, Location};
use riskbreaker_spec::{is_id, leading_ids};

pub(crate) static LINT: Lint = Lint {
    name: "unknown-rule",
    severity: Severity::Error,
    summary: "a rule id is in no RULES.md",
    explanation: "`rules = { ... }` of a card and the list of a spec name rules by their ids in RULES.md. An id \
                  that no rule text has leads a reader nowhere and falsifies the coverage that `riskbreaker test \
                  --coverage` counts. Correct the id, or write the rule.",
    bad: Example::Card(r#"rules = { "TUG-11" },"#),
    good: Example::Card(r#"rules = { "TUG-1" },"#),
};

impl ScriptReader<'_> {
    pub(crate) fn rule_ids(&mut self, list: Expression<'_>) {
        for (id, at) in listed_texts(list) {
            self.unknown_rule(&id, at);
        }
    }

    /// Reports unknown ids in the list of a spec. The rule with which the name of the spec begins goes before a near one.
    pub(crate) fn rule_ids_of_spec(&mut self, list: Expression<'_>, title: Option<Expression<'_>>) {
        let title = title.and_then(literal).unwrap_or_default();
        let end = title.find(|letter: char| !(letter.is_ascii_alphanumeric() || letter == '-')).unwrap_or(title.len());
        let named = Some(&title[..end]).filter(|id| self.known.is_rule(id));
        let ids: Vec<(String, Location)> = listed_texts(list).collect();
        let is_listed = named.is_some_and(|named| ids.iter().any(|(id, _)| id == named));
        for (id, at) in ids {
            match (self.known.wrong_rule(&id), named.filter(|_| !is_listed)) {
                (Some((wrong, _)), Some(meant)) => {
                    let cure = Cure::MeantRule { written: id, meant: meant.to_owned() };
                    self.problem(&LINT, at, (wrong, cure));
                }
                (wrong, _) => self.tell(&LINT, at, wrong),
            }
        }
        // The list of a copied spec.
        let others: Vec<(String, Location)> = listed_texts(list).collect();
        if let (Some(named), false, [(only, at)]) = (named, is_listed, others.as_slice())
            && self.known.wrong_rule(only).is_none()
        {
            let wrong = format!("the title of this spec names the rule `{named}`, and its list has only `{only}`");
            self.problem(&LINT, *at, (wrong, Cure::meant_text(only.as_str(), named)));
        }
    }

    pub(crate) fn unknown_rule(&mut self, id: &str, at: Location) {
        self.tell(&LINT, at, self.known.wrong_rule(id));
    }
}

/// Returns one problem if scripts name rules and the ruleset has no rule text.
pub(crate) fn no_rule_text(known: &KnownNames<'_>) -> Option<Problem> {
    let unwritten = known.unwritten.lock().ok()?;
    let first = unwritten.first()?;
    let message = format!("there is no RULES.md, and {} rules are named", unwritten.len());
    let problem = LINT.problem(known.stack.main().id(), message);
    Some(problem.with_cure(format!("write the numbered rules there, as `- **{first}** text`")))
}

/// Returns the problems of what the rule texts of a stack name, from a part on: rules of a known stem that no text has, and house
/// rules, written as "switch `name`", that no manifest declares.
pub(crate) fn unknown_in_rule_texts(stack: &Stack, own: usize, known: &KnownNames<'_>) -> Vec<Problem> {
    let files = |name: &'static str| stack.parts()[own..].iter().filter_map(move |part| part.folder.file(name));
    let of_texts = files("RULES.md").flat_map(|source| unknown_in_rule_text(source, stack, known));
    let of_changes = files("CHANGELOG.md").flat_map(|source| unknown_in_changes(source, known));
    of_texts.chain(of_changes).collect()
}

/// Words of a line that tells of a rule which is no longer there.
const GONE: [&str; 12] = [
    "remov",
    "delet",
    "drop",
    "gone",
    "no longer",
    "renam",
    "renumber",
    "merged",
    "former",
    "instead",
    "became",
    "was ",
];

/// Rules with which a line of the newest version in a `CHANGELOG.md` begins, and which no rule text has.
fn unknown_in_changes(source: &Source, known: &KnownNames<'_>) -> Vec<Problem> {
    let mut found = Vec::new();
    let mut versions = 0;
    for (number, line) in (1..).zip(source.text.lines()) {
        versions += usize::from(line.starts_with("## "));
        if versions > 1 || !known.spend_on_text(line) {
            break;
        }
        let lower = line.to_lowercase();
        let Some((begin, _)) = line.strip_prefix("- ").and_then(|rest| rest.split_once(':')) else { continue };
        if GONE.iter().any(|word| lower.contains(word)) {
            continue;
        }
        for (at, id) in ids_in(begin).filter(|(_, id)| !known.is_rule(id) && known.is_numbered_like(id)) {
            if let Some((message, cure)) = known.wrong_rule(id) {
                found.push(LINT.problem(&*source.path, message).at((number, at as u32 + 3)).with_cure(cure));
            }
        }
    }
    found
}

fn unknown_in_rule_text(source: &Source, stack: &Stack, known: &KnownNames<'_>) -> Vec<Problem> {
    let mut found = Vec::new();
    let mut ends_in_switch = false;
    for (number, line) in (1..).zip(source.text.lines()) {
        if !known.spend_on_text(line) {
            break;
        }
        let place = |at: usize| (number, line[..at].chars().count() as u32 + 1);
        for (at, id) in ids_in(line).filter(|(_, id)| !known.is_rule(id) && known.is_numbered_like(id)) {
            if let Some((message, cure)) = known.wrong_rule(id) {
                found.push(LINT.problem(&*source.path, message).at(place(at)).with_cure(cure));
            }
        }
        let is_behind_switch = std::mem::replace(&mut ends_in_switch, line.trim_end().ends_with("switch"));
        let first = is_behind_switch.then(|| first_name_of(line)).flatten();
        for (at, name) in first.into_iter().chain(switches_in(line)) {
            let switches = stack.switches();
            if switches.iter().all(|switch| switch.name != name) {
                // The only one that the text does not name is most likely meant.
                let rule = source.text.lines().take(number as usize).flat_map(leading_ids).last();
                let of_rule = |switch: &&Switch| rule.as_ref().is_some_and(|rule| switch.rules.contains(rule));
                let own: Vec<&Switch> = switches.iter().filter(of_rule).collect();
                let mut unnamed = switches.iter().filter(|switch| find_whole(&source.text, &switch.name).is_none());
                let only = unnamed.next().filter(|_| unnamed.next().is_none());
                // A switch that is declared for this very rule goes before others.
                let only = if let [own] = own.as_slice() { Some(*own) } else { only };
                let names = || switches.iter().map(|switch| &*switch.name);
                let cure = match only.filter(|_| likeliest(name, names()).is_none()) {
                    Some(only) => Cure::meant(name, &*only.name),
                    None => instead(name, names()),
                };
                let message = format!("there is no switch `{name}`");
                found.push(unknown_name::LINT.problem(&*source.path, message).at(place(at)).with_cure(cure));
            }
        }
    }
    found
}

/// The rule ids in a line, each with its place in bytes.
fn ids_in(line: &str) -> impl Iterator<Item = (usize, &str)> {
    let is_part = |letter: char| letter.is_ascii_alphanumeric() || letter == '-';
    line.split(move |letter| !is_part(letter))
        .filter(|word| is_id(word))
        .map(|word| (word.as_ptr() as usize - line.as_ptr() as usize, word))
}

/// The names in "switch `name`", each with its place in bytes.
fn switches_in(line: &str) -> impl Iterator<Item = (usize, &str)> {
    line.match_indices("switch `").filter_map(|(at, before)| {
        let begin = at + before.len();
        let (name, _) = line[begin..].split_once('`')?;
        is_name_of_switch(name).then_some((begin, name))
    })
}

/// The name with which a line begins, in backticks, with its place in bytes: the rest of "switch `name`" over two lines.
fn first_name_of(line: &str) -> Option<(usize, &str)> {
    let (name, _) = line.trim_start().strip_prefix('`')?.split_once('`')?;
    is_name_of_switch(name).then_some((name.as_ptr() as usize - line.as_ptr() as usize, name))
}

fn is_name_of_switch(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_and_switches_are_found_in_sentences() {
        let line = "- **AB-1** Who pulls (AB-20, X-1-2; switch `long_rope`) counts `switch` and a-1.";
        assert_eq!(ids_in(line).map(|(_, id)| id).collect::<Vec<_>>(), ["AB-1", "AB-20", "X-1-2"]);
        assert_eq!(
            switches_in(line).map(|(at, name)| (&line[at..at + 4], name)).collect::<Vec<_>>(),
            [("long", "long_rope")]
        );
    }
}
