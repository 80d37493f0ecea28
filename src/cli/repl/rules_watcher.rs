//! Watches the rules of the game in the background, and checks each version.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Arc, Weak};
use std::thread;
use std::time::Duration;

use riskbreaker::check::findings_at_save;
use riskbreaker::ruleset::{FileChange, Problem};
use riskbreaker::watch::{Watched, Watcher};
use riskbreaker::{Library, Ruleset};

/// An event of the watcher.
pub enum WatchEvent {
    Seen(Watched),
    /// Problems that the check found in rules that load.
    Found(Vec<Problem>),
}

/// Watches the files of the rules and interrupts the editor when they change.
pub struct RulesWatcher {
    pub news: Receiver<WatchEvent>,
    pub bell: Arc<AtomicBool>,
    /// The id and layers of the watched ruleset.
    of: (String, Vec<String>),
    /// Dropped together with this, which ends the thread.
    _open: Arc<()>,
}

impl RulesWatcher {
    /// Starts watching. `None` if all rules are built in.
    pub fn start(library: &Library, rules: &Arc<Ruleset>, bell: Arc<AtomicBool>) -> Option<RulesWatcher> {
        let watcher = Watcher::start(library, rules)?;
        let (tell, news) = mpsc::channel();
        let open = Arc::new(());
        let (alive, rings) = (Arc::downgrade(&open), bell.clone());
        let of = (rules.id().to_owned(), rules.extra_layers().to_vec());
        let check = Check::start(library, &of, tell.clone(), bell.clone());
        let forward = move || {
            while Weak::strong_count(&alive) > 0 {
                // Until the events are read, the watcher keeps only the latest version.
                if rings.load(Ordering::Relaxed) {
                    thread::sleep(Duration::from_millis(20));
                    continue;
                }
                let Some(told) = watcher.wait(Duration::from_millis(500)) else { continue };
                if let (Watched::Loaded { changed, .. }, Some(check)) = (&told, &check)
                    && !changed.is_empty()
                {
                    check.ask(changed);
                }
                if tell.send(WatchEvent::Seen(told)).is_err() {
                    return;
                }
                rings.store(true, Ordering::Relaxed);
            }
        };
        thread::Builder::new().name("lookout".into()).spawn(forward).ok()?;
        Some(RulesWatcher { news, bell, of, _open: open })
    }

    /// True if it watches the files of these rules.
    pub fn watches(&self, rules: &Ruleset) -> bool {
        self.of.0 == rules.id() && self.of.1 == rules.extra_layers()
    }
}

/// A thread that checks only the latest version of the rules.
struct Check {
    changed: Sender<Vec<FileChange>>,
    /// Set when a newer version arrives, which cancels the running check.
    stop: Arc<AtomicBool>,
}

impl Check {
    fn start(
        library: &Library,
        (id, layers): &(String, Vec<String>),
        tell: Sender<WatchEvent>,
        bell: Arc<AtomicBool>,
    ) -> Option<Check> {
        let (changed, versions) = mpsc::channel::<Vec<FileChange>>();
        let stop = Arc::new(AtomicBool::new(false));
        let (library, id, layers, given_up) = (library.clone(), id.clone(), layers.clone(), stop.clone());
        let work = move || {
            // The files of versions whose check was cancelled, and the printed problems.
            let (mut unchecked, mut known) = (BTreeSet::new(), Vec::new());
            while let Ok(first) = versions.recv() {
                unchecked.extend(first);
                // A burst of saves counts as one version.
                while let Ok(more) = versions.recv_timeout(SETTLE) {
                    unchecked.extend(more);
                }
                given_up.store(false, Ordering::Relaxed);
                let found = findings_at_save(&library, &id, &layers, &given_up);
                if given_up.load(Ordering::Relaxed) {
                    continue;
                }
                let changed = std::mem::take(&mut unchecked);
                let (mut new, old): (Vec<Problem>, Vec<Problem>) =
                    found.into_iter().partition(|problem| !known.contains(problem));
                known = new.iter().cloned().chain(old).collect();
                if new.is_empty() {
                    continue;
                }
                // Problems of the saved file come first.
                new.sort_by_key(|problem| !is_of(problem, &id, &changed));
                if tell.send(WatchEvent::Found(new)).is_err() {
                    return;
                }
                bell.store(true, Ordering::Relaxed);
            }
        };
        thread::Builder::new().name("recheck".into()).spawn(work).ok()?;
        Some(Check { changed, stop })
    }

    fn ask(&self, changed: &[FileChange]) {
        let _ = self.changed.send(changed.to_vec());
        self.stop.store(true, Ordering::Relaxed);
    }
}

impl Drop for Check {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
    }
}

/// The time without changes after which the check begins.
const SETTLE: Duration = Duration::from_millis(150);

/// True if a problem is in one of these files.
fn is_of(problem: &Problem, id: &str, changed: &BTreeSet<FileChange>) -> bool {
    let inside = problem.path.strip_prefix(id).and_then(|rest| rest.strip_prefix('/'));
    changed.iter().any(|file| problem.path == file.path || inside == Some(&*file.path))
}
