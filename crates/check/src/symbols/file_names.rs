//! The names of each file, kept from one check to the next.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::inference::evidence::FieldEvidence;
use crate::report::CheckReport;
use crate::symbols::names::NamesOfFiles;
use riskbreaker_ruleset::{Source, Stack};
use riskbreaker_state::Schema;
use riskbreaker_work::WorkBudget;

/// The names of each file of a stack.
pub(crate) struct FileNames {
    /// In the order of the stack.
    files: Vec<Arc<NamesOfFile>>,
    /// The index of the file that was edited last, and the names of all others together.
    others: Option<(usize, Arc<NamesOfFiles>)>,
}

struct NamesOfFile {
    path: String,
    text: Arc<str>,
    names: NamesOfFiles,
}

impl NamesOfFile {
    fn is_of(&self, source: &Source) -> bool {
        self.path == source.path && (Arc::ptr_eq(&self.text, &source.text) || self.text == source.text)
    }
}

impl FileNames {
    /// Collects the names of a stack. Returns them together, and those of each file for the next call; `None` if the
    /// budget does not cover that.
    pub fn collect(
        stack: &Stack,
        schema: Option<&Schema>,
        budget: &WorkBudget,
        last: Option<&FileNames>,
    ) -> Option<(NamesOfFiles, FileNames)> {
        let fields = Arc::new(FieldEvidence::new(schema));
        let files = FileNames::of(stack, &fields, budget, last)?;
        let names = files.merged().completed(stack, schema, &fields, budget);
        Some((names, files))
    }

    /// Collects the names of each file. Those of unchanged files come from the last time, if the fields of entities are
    /// the same. `None` if the budget does not cover it.
    fn of(
        stack: &Stack,
        fields: &Arc<FieldEvidence>,
        budget: &WorkBudget,
        last: Option<&FileNames>,
    ) -> Option<FileNames> {
        let last = last.filter(|last| last.files.first().is_some_and(|file| file.names.has_fields(fields)));
        let known: BTreeMap<&str, &Arc<NamesOfFile>> =
            last.iter().flat_map(|last| &last.files).map(|file| (&*file.path, file)).collect();
        let (mut files, mut changed) = (Vec::new(), Vec::new());
        for (path, source) in stack.parts().iter().flat_map(|part| &part.folder.files) {
            if !budget.spend(source.text.len() as u64 * CheckReport::WORK_OF_BYTE) {
                return None;
            }
            let file = match known.get(&*source.path).filter(|file| file.is_of(source)) {
                Some(file) => Arc::clone(file),
                None => {
                    changed.push(files.len());
                    let (full, text) = (source.path.clone(), source.text.clone());
                    Arc::new(NamesOfFile { path: full, text, names: NamesOfFiles::of_file(path, source, fields) })
                }
            };
            files.push(file);
        }
        let mut found = FileNames { files, others: None };
        let last = last.filter(|last| {
            last.files.len() == found.files.len()
                && last.files.iter().zip(&found.files).all(|(one, other)| one.path == other.path)
        });
        found.others = last.and_then(|last| match (&changed[..], &last.others) {
            ([], others) => others.clone(),
            ([edited], Some((of, others))) if edited == of => Some((*of, others.clone())),
            ([edited], _) => Some((*edited, Arc::new(found.merged_without(Some(*edited))))),
            _ => None,
        });
        Some(found)
    }

    /// The names of all files together.
    fn merged(&self) -> NamesOfFiles {
        let mut names = match &self.others {
            Some((edited, others)) => {
                let mut names = NamesOfFiles::clone(others);
                names.merge(&self.files[*edited].names);
                names
            }
            None => self.merged_without(None),
        };
        self.files.iter().for_each(|file| names.merge_verbs(&file.names));
        names
    }

    /// The names of all files but one, without verbs.
    fn merged_without(&self, edited: Option<usize>) -> NamesOfFiles {
        let files = self.files.iter().enumerate().filter(|(at, _)| Some(*at) != edited);
        let mut names = NamesOfFiles::without_names(&Arc::default());
        files.for_each(|(_, file)| names.merge(&file.names));
        names
    }
}
