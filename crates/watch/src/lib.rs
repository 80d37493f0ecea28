//! Watches the folders of rulesets, and loads a saved change as the next generation of the rules.

#![deny(missing_docs)]
// Tables of cases in tests may be longer.
#![cfg_attr(not(test), deny(clippy::too_many_lines))]

// Tests play games, for which the engine is linked.
#[cfg(test)]
use riskbreaker_script as _;

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use notify::RecursiveMode;
use notify::event::{AccessKind, AccessMode, CreateKind, EventKind, ModifyKind, RemoveKind};

use riskbreaker_play::Ruleset;
use riskbreaker_ruleset::{
    FileChange, Library, LoadError, Problem, SourceKind, Stack, changes_between, inode, is_litter,
};

#[cfg(test)]
#[path = "../../ruleset/src/scratch.rs"]
mod scratch;

/// Watches the files of a ruleset with its parents and layers, and reloads it when they change.
///
/// A burst of changes causes one reload. A ruleset that cannot be loaded is reported with all its problems, and tried
/// again after the next change. Dropping the watcher stops it.
///
/// Rules that were not taken before newer ones are loaded are dropped: a slow reader gets only the latest version.
pub struct Watcher {
    news: Arc<News>,
    /// Dropped to end the thread.
    wakes: mpsc::Sender<Wake>,
}

/// A report of a [`Watcher`].
#[derive(Debug)]
#[non_exhaustive]
pub enum Watched {
    /// The next generation was loaded.
    Loaded {
        /// The new rules.
        rules: Arc<Ruleset>,
        /// The changed files. Empty if the files are again those of the rules in force.
        changed: Vec<FileChange>,
        /// The ids of the rulesets whose errors are corrected; empty if the last version had no errors.
        fixed: Vec<String>,
    },
    /// The current files cannot be loaded; the last working rules stay in force.
    Broken(LoadError),
    /// The method of watching has changed.
    Notice(String),
}

impl Watched {
    /// The report as lines.
    pub fn lines(&self) -> Vec<String> {
        match self {
            Watched::Loaded { rules, changed, fixed } if changed.is_empty() => {
                vec![fixed_in_words(rules.id(), fixed)]
            }
            Watched::Loaded { changed, .. } => {
                let mut lines: Vec<String> = changed.iter().take(MOST_LINES).map(ToString::to_string).collect();
                if changed.len() > MOST_LINES {
                    lines.push(format!("and {} more files", changed.len() - MOST_LINES));
                }
                lines
            }
            Watched::Broken(error) => error.problems.iter().map(ToString::to_string).collect(),
            Watched::Notice(text) => vec![text.clone()],
        }
    }
}

/// Formats the news that rules load again: names the rulesets whose errors were corrected, or the one that is played.
pub fn fixed_in_words(id: &str, fixed: &[String]) -> String {
    match fixed {
        [] => format!("Fixed: {id} loads again."),
        [one] => format!("Fixed: {one} loads again."),
        several => format!("Fixed: {} load again.", several.join(", ")),
    }
}

/// The most files that are listed; further ones are only counted.
const MOST_LINES: usize = 5;
/// A burst is over after this time without a change.
const QUIET: Duration = Duration::from_millis(55);
/// After this duration, a burst is also interrupted by gaps. The rules are loaded in each gap, before it is known
/// whether the burst is over; they are dropped if another change follows.
const LONG_BURST: Duration = Duration::from_millis(500);
/// The shortest pause between two changes that counts as a gap.
const GAP: Duration = Duration::from_millis(8);
/// Files that still change after this time are loaded as they are, unless they seem half written.
const PATIENCE: Duration = Duration::from_secs(2);
/// Files that still change after this time are loaded even if they seem half written.
const LAST_PATIENCE: Duration = Duration::from_secs(8);
/// If loading fails or a file is missing, the wait for the next change: the files may be half written.
const DOUBT: Duration = Duration::from_millis(75);
/// The interval of checks for changes that the system does not report.
const ROUND: Duration = Duration::from_secs(2);

impl Watcher {
    /// Watches the files of the rules in force. `None` if none of them is on disk.
    pub fn start(library: &Library, rules: &Arc<Ruleset>) -> Option<Watcher> {
        Watcher::open(library, rules.id(), rules.extra_layers(), Some(rules.clone()), open_eyes)
    }

    /// Watches a ruleset that may be invalid; the first report is its current state. `None` if it is not on disk.
    pub fn of_files(library: &Library, id: &str, layers: &[String]) -> Option<Watcher> {
        Watcher::open(library, id, layers, None, open_eyes)
    }

    fn open(
        library: &Library,
        id: &str,
        layers: &[String],
        rules: Option<Arc<Ruleset>>,
        open: OpenEyes,
    ) -> Option<Watcher> {
        // The parts of an invalid ruleset are unknown.
        let parts = rules.as_ref().map_or_else(|| library.ids(), |rules| rules.parts());
        if parts.iter().all(|part| library.folder_of(part).is_none()) {
            return None;
        }
        let news = Arc::new(News::of(rules.clone()));
        let (wakes, woken) = mpsc::channel();
        let mut watch = Watch {
            id: id.to_string(),
            layers: layers.to_vec(),
            homes: homes(library, if rules.is_some() { &parts } else { &[] }),
            parts,
            hash: rules.as_ref().map(|rules| rules.hash()).unwrap_or_default(),
            rules,
            library: library.clone(),
            news: news.clone(),
            open,
            eyes: None,
            watched: BTreeMap::new(),
            told_polling: false,
            told_copies: BTreeSet::new(),
            broken: None,
            seen: Print::new(),
            changed: Instant::now(),
            wakes: wakes.clone(),
        };
        thread::Builder::new().name("watch".into()).spawn(move || watch.run(&woken)).ok()?;
        Some(Watcher { news, wakes })
    }

    /// Takes the next report, if there is one.
    pub fn poll(&self) -> Option<Watched> {
        self.news.take(Duration::ZERO)
    }

    /// Waits for the next report, at most for `longest`.
    pub fn wait(&self, longest: Duration) -> Option<Watched> {
        self.news.take(longest)
    }
}

impl Drop for Watcher {
    fn drop(&mut self) {
        let _ = self.wakes.send(Wake::End);
    }
}

/// The reports that were not taken yet: at most one version of the rules, and one broken version.
struct News {
    waiting: Mutex<Waiting>,
    more: Condvar,
}

#[derive(Default)]
struct Waiting {
    notices: VecDeque<String>,
    loaded: Option<Arc<Ruleset>>,
    /// A broken version, newer than the loaded one.
    broken: Option<LoadError>,
    /// The rules that were last taken.
    taken: Option<Arc<Ruleset>>,
    /// The ids of the rulesets with errors, if a broken version was taken last.
    taken_broken: Option<Vec<String>>,
}

impl News {
    fn of(taken: Option<Arc<Ruleset>>) -> News {
        News { waiting: Mutex::new(Waiting { taken, ..Waiting::default() }), more: Condvar::new() }
    }

    fn lock(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn notice(&self, text: String) {
        self.lock().notices.push_back(text);
        self.more.notify_all();
    }

    fn broken(&self, error: LoadError) {
        self.lock().broken = Some(error);
        self.more.notify_all();
    }

    fn loaded(&self, rules: Arc<Ruleset>) {
        let mut waiting = self.lock();
        waiting.broken = None;
        let known = waiting.taken.as_ref().is_some_and(|taken| taken.hash() == rules.hash());
        waiting.loaded = (!known || waiting.taken_broken.is_some()).then_some(rules);
        self.more.notify_all();
    }

    fn take(&self, longest: Duration) -> Option<Watched> {
        let waiting = self.lock();
        let waited = self.more.wait_timeout_while(waiting, longest, |waiting| waiting.is_empty());
        waited.unwrap_or_else(PoisonError::into_inner).0.take()
    }
}

impl Waiting {
    fn is_empty(&self) -> bool {
        self.notices.is_empty() && self.loaded.is_none() && self.broken.is_none()
    }

    fn take(&mut self) -> Option<Watched> {
        if let Some(text) = self.notices.pop_front() {
            return Some(Watched::Notice(text));
        }
        if let Some(rules) = self.loaded.take() {
            let changed = self.taken.as_ref().map_or_else(Vec::new, |old| changes_between(old, &rules));
            self.taken = Some(rules.clone());
            let fixed = self.taken_broken.take().unwrap_or_default();
            return Some(Watched::Loaded { rules, changed, fixed });
        }
        let error = self.broken.take()?;
        self.taken_broken = Some(with_mistakes(&error));
        Some(Watched::Broken(error))
    }
}

/// Returns the ids of the rulesets with errors, each once.
fn with_mistakes(error: &LoadError) -> Vec<String> {
    let ids = error.problems.iter().filter_map(|problem| problem.path.split('/').next()?.rsplit('+').next());
    let ids: BTreeSet<String> = ids.map(str::to_owned).collect();
    ids.into_iter().collect()
}

enum Wake {
    /// A possible change of the ruleset.
    Change,
    /// Files or folders were moved: their watches must be set up again.
    Moved(Vec<PathBuf>),
    /// The system has lost events.
    Lost(notify::Error),
    End,
}

/// The result of a short wait.
enum Next {
    Change,
    Nothing,
    End,
}

/// A file watcher of the operating system.
type Eyes = Box<dyn notify::Watcher + Send>;
/// A function that creates the file watcher.
type OpenEyes = fn(Seen) -> notify::Result<Eyes>;
type Seen = Box<dyn FnMut(notify::Result<notify::Event>) + Send>;

fn open_eyes(seen: Seen) -> notify::Result<Eyes> {
    Ok(Box::new(notify::recommended_watcher(seen)?))
}

/// The stamps of all files, by path.
type Print = BTreeMap<PathBuf, Mark>;

/// The stamp of a file. It changes if the file is written or replaced.
#[derive(PartialEq)]
struct Mark {
    size: u64,
    time: Option<SystemTime>,
    identity: u64,
}

struct Watch {
    library: Library,
    id: String,
    layers: Vec<String>,
    parts: Vec<String>,
    /// The folders on disk from which the rules in force were read. A deleted folder counts as missing, even if the
    /// program has a built-in ruleset with the same name.
    homes: BTreeMap<String, PathBuf>,
    /// The rules in force. `None` before the first successful load.
    rules: Option<Arc<Ruleset>>,
    /// Their hash.
    hash: String,
    news: Arc<News>,
    open: OpenEyes,
    eyes: Option<Eyes>,
    /// Watched folders, with the inode of each.
    watched: BTreeMap<PathBuf, Option<u64>>,
    told_polling: bool,
    /// The conflict copies that were reported.
    told_copies: BTreeSet<String>,
    /// The last reported problems.
    broken: Option<(String, String)>,
    /// The hash of the files, if they could be read. It shows that another mistake has the same message.
    seen: Print,
    /// The time of the last change.
    changed: Instant,
    wakes: mpsc::Sender<Wake>,
}

impl Watch {
    fn run(&mut self, woken: &Receiver<Wake>) {
        self.open_eyes();
        self.look();
        // Changes between loading and watching.
        if !self.try_reload(woken, Instant::now()) {
            return;
        }
        loop {
            match woken.recv_timeout(ROUND) {
                Ok(Wake::End) | Err(RecvTimeoutError::Disconnected) => return,
                Ok(Wake::Change) => {}
                Ok(Wake::Moved(paths)) => self.forget(&paths),
                Ok(Wake::Lost(error)) => self.lost(&error),
                Err(RecvTimeoutError::Timeout) => {
                    self.look();
                    if self.print() == self.seen {
                        continue;
                    }
                }
            }
            let begun = Instant::now();
            self.changed = begun;
            if !self.gather(woken, begun) || !self.try_reload(woken, begun) {
                return;
            }
        }
    }

    /// Waits for a gap in the burst that began at `begun`. Returns false if the watcher was stopped.
    fn gather(&mut self, woken: &Receiver<Wake>, begun: Instant) -> bool {
        while begun.elapsed() < PATIENCE {
            match self.next_change(woken, GAP) {
                Next::Change => {}
                Next::Nothing => return true,
                Next::End => return false,
            }
        }
        true
    }

    /// Waits for the next change, at most for `longest`.
    fn next_change(&mut self, woken: &Receiver<Wake>, longest: Duration) -> Next {
        loop {
            match woken.recv_timeout(longest) {
                Ok(Wake::Change) => {
                    self.changed = Instant::now();
                    return Next::Change;
                }
                Ok(Wake::Moved(paths)) => {
                    self.changed = Instant::now();
                    self.forget(&paths);
                    return Next::Change;
                }
                Ok(Wake::Lost(error)) => self.lost(&error),
                Ok(Wake::End) | Err(RecvTimeoutError::Disconnected) => return Next::End,
                Err(RecvTimeoutError::Timeout) => return Next::Nothing,
            }
        }
    }

    /// Loads the current files until the burst is over, and reports the result. Returns false if the watcher was
    /// stopped.
    fn try_reload(&mut self, woken: &Receiver<Wake>, begun: Instant) -> bool {
        loop {
            self.look();
            let seen = self.print();
            let read = self.read();
            if let Ok(stack) = &read {
                self.tell_copies(stack);
            }
            let identity = read.as_ref().map(|stack| stack.hash()).unwrap_or_default();
            if read.is_ok() && identity == self.hash && self.broken.is_none() {
                self.seen = seen;
                return true;
            }
            let loaded = read.and_then(|stack| Ruleset::load_read(stack, &self.layers));
            // A failed load or a missing file may be half of a change: an editor may be about to write the rest.
            let doubtful = self.doubts(&loaded);
            if begun.elapsed() < if doubtful { LAST_PATIENCE } else { PATIENCE } {
                let quiet = if begun.elapsed() < LONG_BURST { QUIET } else { GAP };
                let rest = quiet.saturating_sub(self.changed.elapsed());
                match self.next_change(woken, if doubtful { rest.max(DOUBT) } else { rest }) {
                    Next::Change if self.gather(woken, begun) => continue,
                    Next::Change | Next::End => return false,
                    Next::Nothing if self.holds_still(&seen, &loaded) => {}
                    Next::Nothing => {
                        self.changed = Instant::now();
                        continue;
                    }
                }
            }
            self.seen = seen;
            match loaded {
                Ok(rules) => self.publish(rules),
                Err(error) => {
                    let text = error.problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n");
                    let told = Some((identity, text));
                    if self.broken != told {
                        self.broken = told;
                        self.news.broken(error);
                    }
                }
            }
            return true;
        }
    }

    /// Reports each conflict copy once.
    fn tell_copies(&mut self, stack: &Stack) {
        for notice in stack.copy_notices() {
            if self.told_copies.insert(notice.clone()) {
                self.news.notice(notice);
            }
        }
    }

    /// Reads the current files.
    fn read(&self) -> Result<Arc<Stack>, LoadError> {
        match self.gone() {
            Some(problem) => Err(LoadError::new(self.id.clone(), vec![problem])),
            None => Stack::resolve(&self.library, &self.id, &self.layers).map(Arc::new),
        }
    }

    /// True if the files are still those that were loaded; otherwise they are being written. If the system reports no
    /// changes, reads them once more, since file times may be too coarse to show a change.
    fn holds_still(&self, seen: &Print, loaded: &Result<Arc<Ruleset>, LoadError>) -> bool {
        self.print() == *seen
            && (!self.told_polling
                || match (loaded, self.read()) {
                    (Ok(rules), Ok(again)) => rules.hash() == again.hash(),
                    // Files that could be read may fail to load.
                    (Err(_), _) => true,
                    (Ok(_), Err(_)) => false,
                })
    }

    /// The problem of a missing folder of the rules in force.
    fn gone(&self) -> Option<Problem> {
        let (part, _) = self.homes.iter().find(|(_, home)| !home.is_dir())?;
        Some(Problem::new(part.clone(), "the folder is missing").with_cure("put it back, or restart without it"))
    }

    /// True if the loaded version looks like half of a change: loading failed, or a file of the rules in force is
    /// missing.
    fn doubts(&self, loaded: &Result<Arc<Ruleset>, LoadError>) -> bool {
        match (loaded, &self.rules) {
            (Err(_), _) => true,
            (Ok(new), Some(old)) => lacks_a_file(new, old),
            (Ok(_), None) => false,
        }
    }

    fn publish(&mut self, rules: Arc<Ruleset>) {
        self.broken = None;
        self.hash = rules.hash();
        self.parts = rules.parts();
        self.homes = homes(&self.library, &self.parts);
        self.rules = Some(rules.clone());
        self.look();
        self.news.loaded(rules);
    }

    // File events

    fn open_eyes(&mut self) {
        let wakes = self.wakes.clone();
        let see = move |event: notify::Result<notify::Event>| {
            let wake = match event {
                Ok(event) if matters(&event) && is_move(event.kind) => Wake::Moved(event.paths),
                Ok(event) if matters(&event) => Wake::Change,
                Ok(_) => return,
                Err(error) => Wake::Lost(error),
            };
            let _ = wakes.send(wake);
        };
        match (self.open)(Box::new(see)) {
            Ok(eyes) => self.eyes = Some(eyes),
            Err(error) => self.lost(&error),
        }
    }

    /// Drops the watches of moved folders: the system does not watch a new folder in the same place.
    fn forget(&mut self, moved: &[PathBuf]) {
        let gone = |folder: &PathBuf| moved.iter().any(|path| folder.starts_with(path));
        let folders: Vec<PathBuf> = self.watched.keys().filter(|folder| gone(folder)).cloned().collect();
        for folder in folders {
            self.watched.remove(&folder);
            if let Some(eyes) = &mut self.eyes {
                let _ = eyes.unwatch(&folder);
            }
        }
        self.look();
    }

    /// Watches every folder that is not watched yet or was replaced.
    fn look(&mut self) {
        let mut wanted: BTreeMap<PathBuf, RecursiveMode> = BTreeMap::new();
        for folder in self.library.folders() {
            // The parent folder reports when the folder is deleted or created.
            if let Some(around) = folder.canonicalize().ok().as_deref().and_then(Path::parent) {
                wanted.insert(around.to_path_buf(), RecursiveMode::NonRecursive);
            }
            wanted.insert(folder, RecursiveMode::NonRecursive);
        }
        for part in &self.parts {
            if let Some(folder) = self.library.folder_of(part) {
                wanted.insert(folder, RecursiveMode::Recursive);
            }
        }
        let Some(mut eyes) = self.eyes.take() else { return };
        let mut failed = None;
        for (folder, mode) in wanted {
            let identity = identity(&folder);
            if identity.is_none() {
                if self.watched.remove(&folder).is_some() {
                    let _ = eyes.unwatch(&folder);
                }
                continue;
            }
            if self.watched.get(&folder) == Some(&identity) {
                continue;
            }
            if self.watched.contains_key(&folder) {
                let _ = eyes.unwatch(&folder);
            }
            match eyes.watch(&folder, mode) {
                Ok(()) => {
                    self.watched.insert(folder, identity);
                }
                // It may just have been deleted; the next round will notice.
                Err(_) if !folder.exists() => {}
                Err(error) => failed = Some(error),
            }
        }
        self.eyes = Some(eyes);
        if let Some(error) = failed {
            self.lost(&error);
        }
    }

    /// Falls back to polling, without the help of the system.
    fn lost(&mut self, error: &notify::Error) {
        if self.told_polling || matches!(error.kind, notify::ErrorKind::PathNotFound | notify::ErrorKind::WatchNotFound)
        {
            return;
        }
        self.told_polling = true;
        let why = match &error.kind {
            notify::ErrorKind::MaxFilesWatch => "the system watches no more folders".to_string(),
            _ => error.to_string(),
        };
        let text = format!("Looking for changes every {} seconds: {why}.", ROUND.as_secs());
        self.news.notice(text);
    }

    fn print(&self) -> Print {
        let mut print = Print::new();
        let folders: BTreeSet<PathBuf> = self.parts.iter().filter_map(|part| self.library.folder_of(part)).collect();
        for folder in folders {
            print_folder(&folder, 0, &mut print);
        }
        print
    }
}

/// The folders of these rulesets on disk.
fn homes(library: &Library, parts: &[String]) -> BTreeMap<String, PathBuf> {
    parts.iter().filter_map(|part| Some((part.clone(), library.folder_of(part)?))).collect()
}

/// True if a file of the old rules is missing in the new ones.
fn lacks_a_file(new: &Ruleset, old: &Ruleset) -> bool {
    let files = new.files();
    old.files().keys().any(|path| !files.contains_key(path))
}

/// Limits beyond those of any valid ruleset.
const DEEPEST: usize = 9;
const MOST_FILES: usize = 20_000;

fn print_folder(folder: &Path, depth: usize, print: &mut Print) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name();
        if is_litter(&name.to_string_lossy()) || print.len() >= MOST_FILES {
            continue;
        }
        let path = entry.path();
        // A link counts as its target; a link to a folder is refused when the ruleset is read.
        let Ok(kind) = entry.file_type() else { continue };
        if kind.is_dir() && depth < DEEPEST {
            print_folder(&path, depth + 1, print);
        }
        if let Ok(data) = fs::metadata(&path) {
            let (size, time) = if data.is_dir() { (0, None) } else { (data.len(), data.modified().ok()) };
            print.insert(path, Mark { size, time, identity: inode(&data).unwrap_or_default() });
        }
    }
}

/// A number that distinguishes a folder from another one in its place.
fn identity(folder: &Path) -> Option<u64> {
    inode(&fs::metadata(folder).ok().filter(fs::Metadata::is_dir)?)
}

/// True for events about moved or deleted files and folders.
fn is_move(kind: EventKind) -> bool {
    matches!(kind, EventKind::Modify(ModifyKind::Name(_)) | EventKind::Remove(RemoveKind::Folder | RemoveKind::Any))
}

/// True if an event may be a change of a ruleset: no read access, and no temporary file.
fn matters(event: &notify::Event) -> bool {
    if event.need_rescan() {
        return true;
    }
    if let EventKind::Access(kind) = event.kind
        && kind != AccessKind::Close(AccessMode::Write)
    {
        return false;
    }
    // Folders are created and deleted as well; the name of one may have a dot, as a ruleset with its version.
    let of_folder =
        is_move(event.kind) || matches!(event.kind, EventKind::Create(CreateKind::Folder | CreateKind::Any));
    let may_be = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let in_git = path.components().any(|part| part.as_os_str() == ".git");
        !in_git && !is_litter(&name) && (of_folder || SourceKind::of(&name).is_some() || !name.contains('.'))
    };
    event.paths.is_empty() || event.paths.iter().any(may_be)
}

#[cfg(test)]
mod tests {
    use notify::{Error, ErrorKind, WatcherKind};

    use super::*;
    use crate::scratch::Scratch;

    /// A file watcher that can watch no folder.
    struct Blind;

    impl notify::Watcher for Blind {
        fn new<F: notify::EventHandler>(_: F, _: notify::Config) -> notify::Result<Self> {
            Ok(Blind)
        }

        fn watch(&mut self, _: &Path, _: RecursiveMode) -> notify::Result<()> {
            Err(Error::new(ErrorKind::MaxFilesWatch))
        }

        fn unwatch(&mut self, _: &Path) -> notify::Result<()> {
            Err(Error::new(ErrorKind::WatchNotFound))
        }

        fn kind() -> WatcherKind {
            WatcherKind::NullWatcher
        }
    }

    /// A small ruleset that can be played.
    fn small() -> Scratch {
        let scratch = Scratch::new();
        scratch.write("g/ruleset.toml", "id = \"g\"\ntitle = \"G\"\nversion = \"1\"\n");
        let play = "local rb = require(\"@riskbreaker\")\nreturn rb.play({ start = function() end })\n";
        scratch.write("g/play.luau", play);
        scratch
    }

    /// Watches a small ruleset with such a file watcher: it reports once that it polls, and finds changes.
    fn looks_by_itself(open: OpenEyes, why: &str) {
        let scratch = small();
        scratch.write("g/cast/fox.toml", "wit = 5\n");
        let library = Library::open(&scratch.0).unwrap();
        let rules = Ruleset::load(&library, "g").unwrap();
        let watcher = Watcher::open(&library, "g", &[], Some(rules), open).unwrap();
        let long = Duration::from_secs(30);
        let told = watcher.wait(long).unwrap().lines();
        assert_eq!(told, [format!("Looking for changes every 2 seconds: {why}.")]);
        for wit in [6, 7] {
            scratch.write("g/cast/fox.toml", format!("wit = {wit}\n"));
            assert_eq!(watcher.wait(long).unwrap().lines(), [format!("cast/fox.toml: wit {} -> {wit}", wit - 1)]);
        }
        scratch.write("g/cast/fox.toml", "wit =\n");
        assert!(matches!(watcher.wait(long), Some(Watched::Broken(_))));
    }

    #[test]
    fn changes_are_polled_if_no_more_folders_can_be_watched() {
        looks_by_itself(|_| Ok(Box::new(Blind)), "the system watches no more folders");
    }

    #[test]
    fn changes_are_polled_if_nothing_can_be_watched() {
        let none = |_: Seen| Err(Error::io(std::io::Error::other("no more of them")));
        looks_by_itself(none, "no more of them");
    }

    /// An error in a layer is no error of the ruleset below it. A conflict copy is no error.
    #[test]
    fn a_corrected_layer_is_named_and_a_conflict_copy_is_reported_once() {
        let scratch = small();
        scratch.write("house/ruleset.toml", "id = \"house\"\ntitle = \"House\"\nversion = \"1\"\nover = [\"g\"]\n");
        scratch.write("house/cast/owl.toml", "wit = 5\n");
        scratch.write("house/cast/owl (conflicted copy 2026-01-01).toml", "wit =\n");
        let library = Library::open(&scratch.0).unwrap();
        let layers = ["house".to_owned()];
        let rules = Ruleset::load_with(&library, "g", &layers).unwrap();
        let watcher = Watcher::start(&library, &rules).unwrap();
        let long = Duration::from_secs(30);
        let told = watcher.wait(long).unwrap().lines().join("\n");
        assert!(told.starts_with("house/cast/owl (conflicted copy 2026-01-01).toml is a copy"), "{told}");
        scratch.write("house/cast/owl.toml", "wit =\n");
        assert!(matches!(watcher.wait(long), Some(Watched::Broken(_))));
        scratch.write("house/cast/owl.toml", "wit = 5\n");
        assert_eq!(watcher.wait(long).unwrap().lines(), ["Fixed: house loads again."]);
    }

    /// If the folder of a ruleset disappears, the built-in ruleset with the same name does not replace it.
    #[test]
    fn the_last_rules_stay_in_force_while_a_folder_is_missing() {
        let scratch = small();
        scratch.write("g/cast/fox.toml", "wit = 5\n");
        let inside = Library::from_files([
            ("g/ruleset.toml", "id = \"g\"\ntitle = \"Inside\"\nversion = \"1\"\n".to_owned()),
            ("g/play.luau", fs::read_to_string(scratch.0.join("g/play.luau")).unwrap()),
        ]);
        let library = Library::overlay(Library::open(&scratch.0).unwrap(), inside);
        let rules = Ruleset::load(&library, "g").unwrap();
        let watcher = Watcher::start(&library, &rules).unwrap();
        let long = Duration::from_secs(30);
        thread::sleep(Duration::from_millis(300));
        fs::rename(scratch.0.join("g"), scratch.0.join("away")).unwrap();
        let told = watcher.wait(long).unwrap().lines();
        assert_eq!(told, ["g: the folder is missing (put it back, or restart without it)"]);
        fs::rename(scratch.0.join("away"), scratch.0.join("g")).unwrap();
        assert_eq!(watcher.wait(long).unwrap().lines(), ["Fixed: g loads again."]);
    }

    /// An invalid ruleset at the start is reported, although its hash is as empty as that of no rules.
    #[test]
    fn a_manifest_that_is_unreadable_at_the_start_is_reported() {
        let scratch = small();
        scratch.write("g/ruleset.toml", "id = \"g\"\ntitel = \"G\"\nversion = \"1\"\n");
        let watcher = Watcher::of_files(&Library::open(&scratch.0).unwrap(), "g", &[]).unwrap();
        let long = Duration::from_secs(30);
        assert!(matches!(watcher.wait(long), Some(Watched::Broken(_))));
        // The file is moved there complete: a half-written one could be reported as broken again.
        scratch.write("new.toml", "id = \"g\"\ntitle = \"G\"\nversion = \"1\"\n");
        fs::rename(scratch.0.join("new.toml"), scratch.0.join("g/ruleset.toml")).unwrap();
        assert!(matches!(watcher.wait(long), Some(Watched::Loaded { .. })));
    }

    #[test]
    fn rules_that_lack_a_file_are_checked_again() {
        let scratch = small();
        let library = Library::open(&scratch.0).unwrap();
        let few = Ruleset::load(&library, "g").unwrap();
        scratch.write("g/cast/fox.toml", "wit = 5\n");
        let more = Ruleset::load(&library, "g").unwrap();
        assert!(lacks_a_file(&few, &more) && !lacks_a_file(&more, &few) && !lacks_a_file(&more, &more));
    }
}
