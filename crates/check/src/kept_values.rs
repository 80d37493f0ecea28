//! Values that conversions keep under a name, and read again under it.

use std::collections::BTreeSet;

use crate::lints::unknown_name::LINT;
use crate::syntax::{literal, local_id, place_in};
use riskbreaker_ruleset::{Cure, Library, Problem, Source, Stack, instead_or, nearest};
use riskbreaker_script::syntax::{Arena, AstNode, ExpressionKind, Location, parse};

/// The names under which conversions keep values, and those under which they read them.
#[derive(Default)]
struct KeptNames {
    kept: BTreeSet<String>,
    read: BTreeSet<String>,
    /// Whether some conversion computes a name under which it keeps a value.
    is_open: bool,
}

/// Returns the values that the conversions of a stack read, from a part on, and that no conversion keeps. The conversions of
/// the rulesets that they convert from are looked up in the library.
pub(crate) fn values_that_nobody_keeps(library: &Library, stack: &Stack, own: usize) -> Vec<Problem> {
    let mut found = Vec::new();
    let mut names = KeptNames::default();
    conversions(stack, 0).for_each(|(_, source)| drop(names.add(source)));
    for (old, source) in conversions(stack, own) {
        if !library.contains(old) {
            continue;
        }
        let is_own = stack.parts().iter().any(|part| part.id() == old);
        let Some(other) = (!is_own).then(|| Stack::resolve(library, old, &[]).ok()).flatten() else { continue };
        conversions(&other, 0).for_each(|(_, source)| drop(names.add(source)));
        for (name, at) in names.add(source) {
            if names.is_open || names.kept.is_empty() || names.kept.contains(&name) {
                continue;
            }
            let wrong = format!("no conversion keeps `{name}`");
            let problem = LINT.problem(&*source.path, wrong).at(place_in(&source.text, at.begin));
            found.push(problem.with_cure(names.instead_of(&name)));
        }
    }
    found
}

/// The conversions of a stack from a part on, with the ids of the rulesets that they convert from.
fn conversions(stack: &Stack, own: usize) -> impl Iterator<Item = (&str, &Source)> {
    let files = stack.parts()[own..].iter().flat_map(|part| &part.folder.files);
    files.filter_map(|(path, source)| Some((path.strip_prefix("convert/")?.strip_suffix(".luau")?, source)))
}

impl KeptNames {
    /// Adds the names of a conversion, and returns those that it reads, with their places.
    fn add(&mut self, source: &Source) -> Vec<(String, Location)> {
        let arena = Arena::new();
        let Ok(root) = parse(&arena, &source.text) else { return Vec::new() };
        let mut read = Vec::new();
        root.visit(&mut |node: AstNode<'_>| {
            let AstNode::Expression(expression) = node else { return true };
            let ExpressionKind::Call { func, args: [_, name, ..], self_call: false, .. } = expression.kind() else {
                return true;
            };
            let ExpressionKind::IndexName { expr, index, .. } = func.kind() else { return true };
            let is_change = matches!(expr.kind(), ExpressionKind::Local { local, .. } if local.name == "change");
            match literal(*name).filter(|_| is_change && local_id(expr).is_some()) {
                Some(written) if index == "keep" => {
                    self.kept.insert(written);
                }
                Some(written) if index == "kept" => {
                    self.read.insert(written.clone());
                    read.push((written, name.location()));
                }
                None if is_change && index == "keep" => self.is_open = true,
                _ => {}
            }
            true
        });
        read
    }

    /// The name that is meant: one that is alike, the only one that nothing reads, or the only one with as many of its words.
    fn instead_of(&self, name: &str) -> Cure {
        if let Some(near) = nearest(name, self.kept.iter().map(String::as_str)) {
            return Cure::meant_text(name, near);
        }
        let mut unread = self.kept.difference(&self.read);
        if let Some(only) = unread.next().filter(|_| unread.next().is_none()) {
            return Cure::meant_text(name, only.as_str());
        }
        let words: BTreeSet<&str> = name.split([' ', '_']).collect();
        let shared = |other: &str| other.split([' ', '_']).filter(|word| words.contains(word)).count();
        let most = self.kept.iter().map(|other| shared(other)).max().unwrap_or_default();
        let mut alike = self.kept.iter().filter(|other| shared(other) == most && most * 2 > words.len());
        match alike.next().filter(|_| alike.next().is_none()) {
            Some(only) => Cure::meant_text(name, only.as_str()),
            None => instead_or(name, self.kept.iter().map(String::as_str), "keep it with change.keep"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kept_value_is_meant_by_its_letters_or_its_words_or_because_nothing_reads_it() {
        let set = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<BTreeSet<String>>();
        let all = ["round of leaving", "stood on leaving", "has a level"];
        let meant = |name: &str, read: &[&str]| match (KeptNames { kept: set(&all), read: set(read), is_open: false })
            .instead_of(name)
        {
            Cure::MeantText { meant, .. } => Some(meant),
            _ => None,
        };
        assert_eq!(meant("round of leavng", &all), Some("round of leaving".to_owned()));
        assert_eq!(meant("round of parting", &all), Some("round of leaving".to_owned()));
        assert_eq!(meant("rank", &all[..2]), Some("has a level".to_owned()));
        assert_eq!(meant("rank", &all), None);
    }
}
