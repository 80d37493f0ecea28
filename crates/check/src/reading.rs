//! The result of reading one script, kept until something that it depends on changes.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::reader::ScriptReader;
use crate::symbols::asked::ChangedNames;
use crate::symbols::file_names::FileNames;
use crate::symbols::known::KnownNames;
use crate::symbols::names::NamesOfFiles;
use riskbreaker_play::Ruleset;
use riskbreaker_ruleset::{Problem, Source, SourceKind, Stack};

/// What was read of one script.
pub(crate) struct Reading {
    text: Arc<str>,
    /// The names that were looked up, as hashes.
    asked: BTreeSet<u64>,
    /// The work that reading took.
    work: u64,
    pub found: Vec<Problem>,
    /// The files that the script requires.
    pub required: BTreeSet<String>,
    /// All names and texts in it.
    pub words: BTreeSet<String>,
    /// Whether it is valid Luau.
    pub reads: bool,
    /// Whether it is a hook that is always on.
    pub always: bool,
    /// What of the file was not read, if reading stopped early.
    pub rest: Option<String>,
    reads_switches_by_name: bool,
    /// Rule ids that the script names although the ruleset has no `RULES.md`.
    unwritten: BTreeSet<String>,
}

impl Reading {
    fn new(known: &KnownNames<'_>, part: usize, path: &str, source: &Source) -> Reading {
        drop(known.names.take_asked());
        let before = (known.budget.used(), known.take_noted());
        let mut reader = ScriptReader::new(known, part, path, source);
        reader.read();
        let rest = reader.is_over().then(|| reader.rest());
        let ScriptReader { found, required, words, reads, always, .. } = reader;
        let (reads_switches_by_name, unwritten) = known.take_noted();
        let (used, noted) = before;
        known.note(noted);
        known.note((reads_switches_by_name, unwritten.clone()));
        let (text, asked) = (source.text.clone(), known.names.take_asked());
        let work = known.budget.used().saturating_sub(used);
        Reading { text, asked, work, found, required, words, reads, always, rest, reads_switches_by_name, unwritten }
    }
}

/// Everything that a check has read, for the next check of the same ruleset.
#[derive(Clone, Default)]
pub(crate) struct CheckCache {
    /// Of the last check in which the ruleset loaded.
    loaded: Option<Arc<ReadFiles>>,
    /// Of the last check in which it did not load: other names are known then.
    broken: Option<Arc<ReadFiles>>,
}

/// What one check has read.
pub(crate) struct ReadFiles {
    own: usize,
    stack: Arc<Stack>,
    rules: Option<Arc<Ruleset>>,
    names: Arc<NamesOfFiles>,
    pub file_names: FileNames,
    readings: BTreeMap<String, Arc<Reading>>,
}

impl CheckCache {
    /// What the last check has read whose ruleset did or did not load as this one; `None` if the names in its manifests,
    /// rule texts or declarations, or the files that it has, may have changed.
    pub fn last(&self, stack: &Stack, own: usize, rules: Option<&Ruleset>) -> Option<&ReadFiles> {
        let last = if rules.is_some() { &self.loaded } else { &self.broken };
        last.as_deref().filter(|last| last.own == own && has_same_files(&last.stack, stack))
    }

    /// Keeps what a check has read.
    pub fn keep(&mut self, read: ReadFiles) {
        let last = if read.rules.is_some() { &mut self.loaded } else { &mut self.broken };
        *last = Some(Arc::new(read));
    }
}

/// Whether two stacks have the same files in the same parts, and the same texts besides scripts and data.
fn has_same_files(last: &Stack, now: &Stack) -> bool {
    let parts = last.parts().iter().zip(now.parts());
    last.parts().len() == now.parts().len()
        && parts.into_iter().all(|(last, now)| {
            let (files, others) = (&last.folder.files, &now.folder.files);
            let may_differ = |source: &Source| matches!(source.kind(), Some(SourceKind::Script | SourceKind::Data));
            last.id() == now.id()
                && last.role == now.role
                && last.folder.manifest == now.folder.manifest
                && last.folder.lock_entry == now.folder.lock_entry
                && files.len() == others.len()
                && files.iter().zip(others).all(|((path, source), (other, text))| {
                    path == other && (may_differ(source) || source.text == text.text)
                })
        })
}

/// The scripts that are read, with what the last check has read of them.
pub(crate) struct ScriptsToRead<'k> {
    known: &'k KnownNames<'k>,
    /// The last check, and the names that have changed since; `None` if the declarations have changed.
    last: Option<(&'k ReadFiles, ChangedNames)>,
    readings: BTreeMap<String, Arc<Reading>>,
}

impl<'k> ScriptsToRead<'k> {
    pub fn new(known: &'k KnownNames<'k>, last: Option<&'k ReadFiles>) -> ScriptsToRead<'k> {
        let last = last.filter(|last| match (&last.rules, known.rules) {
            (Some(last), Some(now)) => last.book().declares_same(now),
            (None, None) => true,
            _ => false,
        });
        let last = last.map(|last| {
            let mut changed = known.names.changes_since(&last.names);
            let sources = |stack: &'k Stack| stack.parts().iter().flat_map(|part| part.folder.files.values());
            for (before, now) in sources(&last.stack).zip(sources(known.stack)) {
                if before.kind() == Some(SourceKind::Script) && before.text != now.text {
                    changed.note(&now.path);
                }
            }
            (last, changed)
        });
        ScriptsToRead { known, last, readings: BTreeMap::new() }
    }

    /// Reads a script, or returns what the last check has read of it if its text and all names that it looks up are the
    /// same.
    pub fn read(&mut self, part: usize, path: &str, source: &Source) -> Arc<Reading> {
        let last = self.last.as_ref().and_then(|(last, changed)| {
            let reading = last.readings.get(&source.path)?;
            (reading.text == source.text && !changed.concern(&reading.asked)).then_some(reading)
        });
        let reading = match last {
            Some(reading) if self.known.budget.left() > reading.work => {
                self.known.budget.spend(reading.work);
                self.known.note((reading.reads_switches_by_name, reading.unwritten.clone()));
                reading.clone()
            }
            _ => Arc::new(Reading::new(self.known, part, path, source)),
        };
        self.readings.insert(source.path.clone(), reading.clone());
        reading
    }

    /// What was read, for the next check.
    pub fn into_readings(self) -> BTreeMap<String, Arc<Reading>> {
        self.readings
    }
}

impl ReadFiles {
    pub fn new(
        (own, stack): (usize, Arc<Stack>),
        rules: Option<Arc<Ruleset>>,
        names: Arc<NamesOfFiles>,
        file_names: FileNames,
        readings: BTreeMap<String, Arc<Reading>>,
    ) -> ReadFiles {
        ReadFiles { own, stack, rules, names, file_names, readings }
    }
}
