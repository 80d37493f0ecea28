//! Which lines of the scripts each spec ran the last time, so that a changed file runs only the specs that it may change.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::RangeInclusive;
use std::sync::Arc;

use riskbreaker_play::{Hits, Ruleset};

/// The specs to run: all of some files, and some by file and name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SpecChoice {
    /// Files of which all specs are run.
    pub files: BTreeSet<String>,
    /// Specs by file and name.
    pub specs: BTreeSet<(String, String)>,
}

impl SpecChoice {
    /// True if it has no spec.
    pub fn is_empty(&self) -> bool {
        self.files.is_empty() && self.specs.is_empty()
    }

    /// True if it has a spec of this file.
    pub fn has_file(&self, path: &str) -> bool {
        self.files.contains(path) || self.specs.iter().any(|(file, _)| file == path)
    }

    /// True if it has this spec.
    pub fn has(&self, path: &str, name: &str) -> bool {
        self.files.contains(path) || self.specs.contains(&(path.to_owned(), name.to_owned()))
    }
}

/// The lines that a spec ran, by file.
pub(crate) type RanLines = BTreeMap<String, Vec<u32>>;

/// The file and the name of a spec, with the lines that it ran.
pub(crate) type RanBySpec = ((String, String), RanLines);

/// The lines that a run counted, since an earlier count. Lines that run while a file loads are not among them, nor is a count that
/// began anew with another machine left out.
pub(crate) fn lines_between(before: &Hits, after: &Hits) -> RanLines {
    let files = after.iter().filter_map(|(path, lines)| {
        let known = before.get(path);
        let is_new = |(line, count): &(&u32, &u64)| known.is_none_or(|known| known.get(line) != Some(count));
        let ran: Vec<u32> =
            lines.iter().filter(|(_, count)| **count > 0).filter(is_new).map(|(line, _)| *line).collect();
        (!ran.is_empty()).then(|| (path.clone(), ran))
    });
    files.collect()
}

/// What each spec of a ruleset ran the last time.
#[derive(Clone, Debug, Default)]
pub struct SpecReach {
    /// The files as they were, by the paths that faults name.
    files: BTreeMap<Arc<str>, Arc<str>>,
    /// The lines of each spec, by its file and name.
    ran: BTreeMap<(String, String), RanLines>,
}

impl SpecReach {
    /// Takes in a run of specs of these rules. Specs that it did not run keep their lines, which are numbered anew where a file has
    /// changed.
    pub(crate) fn note(&mut self, rules: &Ruleset, found: Vec<RanBySpec>) {
        let files = rules.files();
        for (path, text) in &files {
            let Some(changed) = self.files.get(path).and_then(|old| ChangedLines::between(old, text)) else { continue };
            for lines in self.ran.values_mut().filter_map(|ran| ran.get_mut(&**path)) {
                lines.iter_mut().for_each(|line| *line = changed.moved(*line));
            }
        }
        self.files = files;
        self.ran.extend(found);
    }

    /// The specs that a change to these rules may affect: those of changed spec files, and those that ran one of the changed lines
    /// of a script, or else any line of that script. `None` if all must run: something else has changed, or nothing is known.
    pub fn touched_by(&self, rules: &Ruleset) -> Option<SpecChoice> {
        let (mut choice, files) = (SpecChoice::default(), rules.files());
        if self.files.keys().any(|path| !files.contains_key(path)) {
            return None;
        }
        for (path, text) in &files {
            let old = self.files.get(path);
            if old == Some(text) {
                continue;
            }
            if rules.own_specs().any(|(spec, _)| *spec == **path) {
                choice.files.insert(path.to_string());
                continue;
            }
            let changed = ChangedLines::between(old?, text)?;
            let ran = |wanted: &dyn Fn(&u32) -> bool| -> BTreeSet<(String, String)> {
                let specs =
                    self.ran.iter().filter(|(_, ran)| ran.get(&**path).is_some_and(|ran| ran.iter().any(wanted)));
                specs.map(|(spec, _)| spec.clone()).collect()
            };
            let mut touched = ran(&|line| changed.old.contains(line));
            if touched.is_empty() {
                // A fact of a card, or a line that no spec reaches.
                touched = ran(&|_| true);
            }
            if touched.is_empty() {
                return None;
            }
            choice.specs.extend(touched);
        }
        Some(choice)
    }
}

/// The lines in which two texts differ.
#[derive(Debug, PartialEq, Eq)]
struct ChangedLines {
    /// The lines of the old text, from 1. Where lines were only added, those before and after them.
    old: RangeInclusive<u32>,
    /// The last line that differs, and by how much the lines after it have moved.
    last: u32,
    moved: i64,
}

impl ChangedLines {
    /// `None` if the texts are equal.
    fn between(old: &str, new: &str) -> Option<ChangedLines> {
        if old == new {
            return None;
        }
        let (old, new): (Vec<&str>, Vec<&str>) = (old.lines().collect(), new.lines().collect());
        let same = old.iter().zip(&new).take_while(|(old, new)| old == new).count();
        let shorter = old.len().min(new.len()) - same;
        let behind = old.iter().rev().zip(new.iter().rev()).take(shorter).take_while(|(old, new)| old == new).count();
        let (first, last) = (same as u32 + 1, (old.len() - behind) as u32);
        let old_lines = if first > last { last..=first } else { first..=last };
        Some(ChangedLines { old: old_lines, last, moved: new.len() as i64 - old.len() as i64 })
    }

    fn moved(&self, line: u32) -> u32 {
        if line <= self.last { line } else { u32::try_from(i64::from(line) + self.moved).unwrap_or(line) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changed_lines_are_those_between_what_both_texts_share() {
        let between = |old: &str, new: &str| {
            ChangedLines::between(old, new).map(|changed| (changed.old.clone(), changed.moved(1), changed.moved(9)))
        };
        assert_eq!(between("a\nb\nc", "a\nb\nc"), None);
        assert_eq!(between("a\nb\nc\nd", "a\nx\nc\nd"), Some((2..=2, 1, 9)));
        // A line is added after the second, or taken out.
        assert_eq!(between("a\nb\nc", "a\nb\nx\nc"), Some((2..=3, 1, 10)));
        assert_eq!(between("a\nb\nc", "a\nc"), Some((2..=2, 1, 8)));
        // Equal lines are not counted from both ends.
        assert_eq!(between("a\na", "a\na\na"), Some((2..=3, 1, 10)));
        assert_eq!(between("", "a"), Some((0..=1, 2, 10)));
    }

    #[test]
    fn a_line_counts_as_run_if_its_count_has_changed() {
        let hits = |counts: &[(u32, u64)]| Hits::from([("g/a.luau".to_owned(), counts.iter().copied().collect())]);
        let before = hits(&[(1, 1), (2, 0), (3, 4), (4, 9)]);
        // The last line was counted by a machine that began anew.
        let after = hits(&[(1, 1), (2, 2), (3, 4), (4, 1)]);
        assert_eq!(lines_between(&before, &after), RanLines::from([("g/a.luau".to_owned(), vec![2, 4])]));
        assert!(lines_between(&after, &after).is_empty());
    }
}
