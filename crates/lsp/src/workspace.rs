use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::checker::CheckJob;
use super::document::EditorText;
use super::source_copies::SourceCopies;
use riskbreaker_check::Analysis;
use riskbreaker_play::Ruleset;
use riskbreaker_ruleset::{Library, Manifest, Origin, Problem};

/// Returns the library with the rulesets of a folder.
pub(super) type RulesetFinder = Box<dyn Fn(&Path) -> Option<Library>>;

/// The open texts, and the check results of their rulesets.
pub(super) struct Workspace {
    open: RulesetFinder,
    pub copies: SourceCopies,
    /// The open texts, by file.
    pub documents: BTreeMap<PathBuf, EditorText>,
    /// The rulesets with open files, by folder.
    rulesets: BTreeMap<PathBuf, OpenRuleset>,
    turn: u64,
    /// True if the editor reports files that other programs change, so that the server need not look at them.
    pub is_told_of_files: bool,
}

/// A ruleset with an open file.
#[derive(Default)]
struct OpenRuleset {
    /// The last change that caused a check.
    turn: u64,
    analyses: Vec<Arc<Analysis>>,
    /// The results of the last check in which it loaded, for the names in it.
    good: Vec<Arc<Analysis>>,
    /// True if it has not loaded as a whole yet, so that `good` is without the files that fail.
    is_partial: bool,
    /// The last known problems, by file.
    found: BTreeMap<PathBuf, Vec<Problem>>,
    /// The files on disk at the last check, of the ruleset and of those below it.
    origins: BTreeMap<String, Origin>,
}

/// A file of a ruleset.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct RulesetFile {
    /// The folder of the ruleset.
    pub folder: PathBuf,
    pub id: String,
    /// The path inside the folder, with `/` on every system.
    pub inside: String,
}

impl RulesetFile {
    /// The path in problems.
    pub fn path(&self) -> String {
        format!("{}/{}", self.id, self.inside)
    }
}

impl Workspace {
    pub fn new(open: RulesetFinder, copies: SourceCopies) -> Workspace {
        let (documents, rulesets) = (BTreeMap::new(), BTreeMap::new());
        Workspace { open, copies, documents, rulesets, turn: 0, is_told_of_files: false }
    }

    /// The ruleset of a file: the nearest folder above it with a manifest.
    pub fn place_of(&self, file: &Path) -> Option<RulesetFile> {
        let is_ruleset = |folder: &&Path| {
            let manifest = folder.join(Manifest::FILE);
            self.documents.contains_key(&manifest) || manifest.is_file()
        };
        let folder = file.ancestors().skip(1).find(is_ruleset)?;
        let inside: Option<Vec<&str>> =
            file.strip_prefix(folder).ok()?.components().map(|part| part.as_os_str().to_str()).collect();
        let id = folder.file_name()?.to_str()?.to_owned();
        Some(RulesetFile { folder: folder.to_owned(), id, inside: inside?.join("/") })
    }

    /// The library of a folder, with the unsaved texts.
    pub fn library(&self, folder: &Path) -> Option<Library> {
        let library = (self.open)(folder.parent()?)?;
        let texts = self.documents.iter().filter_map(|(file, document)| {
            let place = self.place_of(file)?;
            // A folder of the same name elsewhere is another ruleset.
            let same = library.folder_of(&place.id).is_some_and(|found| is_same(&found, &place.folder));
            same.then(|| (place.path(), document.text.clone().into_bytes()))
        });
        let texts: Vec<(String, Vec<u8>)> = texts.collect();
        Some(library.with_texts(texts))
    }

    /// The checks to run after a change of a file: its own ruleset first, then the rulesets that extend it.
    pub fn jobs_after(&mut self, file: &Path) -> Vec<CheckJob> {
        let Some(place) = self.place_of(file) else { return Vec::new() };
        self.turn += 1;
        self.rulesets.entry(place.folder.clone()).or_default();
        let stands_on = |watched: &OpenRuleset| {
            let stacks = watched.good.iter().chain(&watched.analyses).filter_map(|analysis| analysis.stack());
            stacks.into_iter().any(|stack| stack.parts().iter().any(|part| part.id() == place.id))
        };
        let others = self.rulesets.iter().filter(|(folder, watched)| {
            **folder != place.folder && folder.parent() == place.folder.parent() && stands_on(watched)
        });
        let folders: Vec<PathBuf> =
            std::iter::once(place.folder.clone()).chain(others.map(|(folder, _)| folder.clone())).collect();
        folders.into_iter().filter_map(|folder| self.job(folder, file, &place)).collect()
    }

    fn job(&mut self, folder: PathBuf, file: &Path, place: &RulesetFile) -> Option<CheckJob> {
        let library = self.library(&folder)?;
        // While somebody types, the files on disk stay as they are.
        let is_typed = self.documents.get(file).is_some_and(|document| document.text != saved_text(file));
        let is_seen = self.rulesets.get(&folder).is_some_and(|watched| !watched.origins.is_empty());
        let origins = if self.is_told_of_files || is_typed && is_seen { None } else { Some(self.origins(&folder)) };
        let changed = self.documents.get(file).map(|document| (place.path(), document.text.clone()));
        let id = folder.file_name()?.to_str()?.to_owned();
        let watched = self.rulesets.get_mut(&folder)?;
        watched.turn = self.turn;
        if let Some(origins) = origins {
            watched.origins = origins;
        }
        let (turn, before, last) = (self.turn, watched.analyses.clone(), watched.good.clone());
        let is_partial = watched.is_partial || last.is_empty();
        let saved = if is_partial { self.saved_library(&folder) } else { None };
        Some(CheckJob { library, id, turn, changed, last, is_partial, saved, before, folder })
    }

    /// The files on disk of a ruleset and of those below it.
    fn origins(&self, folder: &Path) -> BTreeMap<String, Origin> {
        let Some(library) = folder.parent().and_then(|above| (self.open)(above)) else { return BTreeMap::new() };
        let analyses = self.analyses(folder).iter().filter_map(|analysis| analysis.stack());
        let parts = analyses.flat_map(|stack| stack.parts()).map(|part| part.id().to_owned());
        let own = folder.file_name().and_then(|name| name.to_str()).map(str::to_owned);
        let ids: BTreeSet<String> = parts.chain(own).collect();
        ids.into_iter().filter_map(|id| library.origin_of(&id).map(|origin| (id, origin))).collect()
    }

    /// The manifests of the rulesets whose files on disk have changed since the last check.
    pub fn changed_on_disk(&self) -> Vec<PathBuf> {
        let is_changed = |(folder, watched): &(&PathBuf, &OpenRuleset)| {
            let now = self.origins(folder);
            // A part that is new in the stack has not been seen before.
            now.iter().any(|(id, origin)| watched.origins.get(id).is_some_and(|seen| seen != origin))
                || watched.origins.keys().any(|id| !now.contains_key(id))
        };
        let changed = self.rulesets.iter().filter(is_changed);
        changed.map(|(folder, _)| folder.join(Manifest::FILE)).collect()
    }

    /// True if a result belongs to the last change of its ruleset.
    pub fn is_current(&self, folder: &Path, turn: u64) -> bool {
        self.rulesets.get(folder).is_some_and(|watched| watched.turn == turn)
    }

    /// Stores the result of a check. Returns the files whose diagnostics may have changed.
    pub fn keep(
        &mut self,
        folder: &Path,
        analyses: Vec<Arc<Analysis>>,
        partial: Vec<Arc<Analysis>>,
    ) -> BTreeSet<PathBuf> {
        let mut found: BTreeMap<PathBuf, Vec<Problem>> = BTreeMap::new();
        let library = self.library(folder);
        for problem in analyses.iter().flat_map(|analysis| &analysis.report.problems) {
            if let Some(file) = library.as_ref().and_then(|library| file_of(library, &problem.path)) {
                let problems = found.entry(file).or_default();
                if !problems.contains(problem) {
                    problems.push(problem.clone());
                }
            }
        }
        // For an open text, the editor also has to be told that there are no problems.
        let open = self.documents.keys().filter(|file| file.starts_with(folder));
        let open: Vec<PathBuf> = open.cloned().collect();
        let Some(watched) = self.rulesets.get_mut(folder) else { return BTreeSet::new() };
        if analyses.iter().all(|analysis| analysis.rules().is_some()) {
            watched.good.clone_from(&analyses);
            watched.is_partial = false;
        } else if !partial.is_empty() {
            watched.good = partial;
            watched.is_partial = true;
        }
        watched.analyses = analyses;
        let files = watched.found.keys().chain(found.keys()).cloned().chain(open).collect();
        watched.found = found;
        files
    }

    /// Stores the problems of one file.
    pub fn keep_of_file(&mut self, folder: &Path, path: &str, problems: Vec<Problem>) -> Option<PathBuf> {
        let library = self.library(folder)?;
        let file = file_of(&library, path)?;
        self.rulesets.get_mut(folder)?.found.insert(file.clone(), problems);
        Some(file)
    }

    /// The problems of a file, from every checked ruleset.
    pub fn problems_of(&self, file: &Path) -> Vec<Problem> {
        let mut problems: Vec<Problem> =
            self.rulesets.values().filter_map(|watched| watched.found.get(file)).flatten().cloned().collect();
        problems.sort();
        problems.dedup();
        problems
    }

    /// The text of a file: as the editor shows it, or else as it is on disk.
    pub fn text_of(&self, file: &Path) -> String {
        self.documents.get(file).map_or_else(|| saved_text(file), |document| document.text.clone())
    }

    /// The rules of a folder with the unsaved texts, over each ruleset that they extend; empty if they do not load.
    pub fn rules_now(&self, folder: &Path) -> Vec<Arc<Ruleset>> {
        let analyses = self.rulesets.get(folder).map_or(&[][..], |watched| &watched.analyses);
        analyses.iter().filter_map(|analysis| analysis.rules().cloned()).collect()
    }

    /// The saved library of a folder; `None` if all open texts are saved.
    pub fn saved_library(&self, folder: &Path) -> Option<Library> {
        let is_edited = |(file, document): (&PathBuf, &EditorText)| {
            self.place_of(file).is_some_and(|place| place.folder.parent() == folder.parent())
                && document.text != saved_text(file)
        };
        if self.documents.iter().any(is_edited) { (self.open)(folder.parent()?) } else { None }
    }

    /// The results of the last check in which the ruleset loaded, or else of the last check.
    pub fn analyses(&self, folder: &Path) -> &[Arc<Analysis>] {
        match self.rulesets.get(folder) {
            Some(watched) if !watched.good.is_empty() => &watched.good,
            Some(watched) => &watched.analyses,
            None => &[],
        }
    }
}

/// The text of a file on the disk, without a byte order mark; empty if it cannot be read.
fn saved_text(file: &Path) -> String {
    let bytes = riskbreaker_ruleset::read_regular(file).ok().flatten().unwrap_or_default();
    let text = String::from_utf8_lossy(&bytes);
    text.strip_prefix('\u{feff}').unwrap_or(&text).to_owned()
}

/// The file of a path in a problem; for an id alone, its manifest.
pub(super) fn file_of(library: &Library, path: &str) -> Option<PathBuf> {
    let (id, inside) = path.split_once('/').unwrap_or((path, Manifest::FILE));
    let id = id.rsplit('+').next()?;
    Some(library.folder_of(id)?.join(inside))
}

fn is_same(one: &Path, other: &Path) -> bool {
    one == other || one.canonicalize().is_ok_and(|one| other.canonicalize().is_ok_and(|other| one == other))
}
