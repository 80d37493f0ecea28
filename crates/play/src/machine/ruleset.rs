use std::collections::VecDeque;
use std::ops::Deref;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::SystemTime;

use super::pool::{Died, MachinePool, Machines};
use super::{Engine, Hits, Machine, riskbreaker_script_engine};
use riskbreaker_ruleset::{Library, LoadError, Origin, Rulebook, Stack, with_layers};

/// A ruleset that can be played: its [`Rulebook`] and the machines that run its scripts.
///
/// Cheap to share; any number of games may use one.
pub struct Ruleset {
    book: Arc<Rulebook>,
    pool: Arc<MachinePool>,
    /// The file stamps of its parts when they were last read with this content.
    origins: Arc<Mutex<Vec<Origin>>>,
}

impl Ruleset {
    /// Loads a ruleset with all its parents and the layers that its manifest names.
    ///
    /// # Errors
    ///
    /// Every problem of the ruleset at once, with file and line.
    pub fn load(library: &Library, id: &str) -> Result<Arc<Ruleset>, LoadError> {
        Ruleset::load_with(library, id, &[])
    }

    /// Loads a ruleset with further layers on top; `game+house` is the ruleset `game` with the layer `house`.
    ///
    /// # Errors
    ///
    /// As [`Ruleset::load`].
    pub fn load_with(library: &Library, id: &str, layers: &[String]) -> Result<Arc<Ruleset>, LoadError> {
        riskbreaker_script_engine().begin_ahead();
        Ruleset::load_on(Machines::default(), library, id, layers)
    }

    /// Returns a loaded ruleset with the same content, with its machines, or loads it: for servers of many games. The
    /// last four rulesets found or loaded this way are kept for the next game. Files that seem unchanged are not read
    /// again.
    ///
    /// # Errors
    ///
    /// As [`Ruleset::load`].
    pub fn shared(library: &Library, id: &str, layers: &[String]) -> Result<Arc<Ruleset>, LoadError> {
        Ruleset::shared_on(Machines::default(), library, id, layers)
    }

    /// Like [`Ruleset::shared`], with the choice of threads for a ruleset that has to be loaded.
    ///
    /// # Errors
    ///
    /// As [`Ruleset::load`].
    pub fn shared_on(
        machines: Machines,
        library: &Library,
        id: &str,
        layers: &[String],
    ) -> Result<Arc<Ruleset>, LoadError> {
        Ruleset::find_or_load(riskbreaker_script_engine(), machines, library, id, layers)
    }

    /// Like [`Ruleset::load_with`], with the choice of threads for its scripts.
    ///
    /// # Errors
    ///
    /// As [`Ruleset::load`].
    pub fn load_on(
        machines: Machines,
        library: &Library,
        id: &str,
        layers: &[String],
    ) -> Result<Arc<Ruleset>, LoadError> {
        let (id, layers) = with_layers(id, layers);
        Ruleset::of_stack(
            riskbreaker_script_engine(),
            Arc::new(Stack::resolve(library, &id, &layers)?),
            &layers,
            machines,
        )
    }

    /// Loads a ruleset whose scripts count which of their lines run.
    #[doc(hidden)]
    pub fn load_measured(library: &Library, id: &str, layers: &[String]) -> Result<Arc<Ruleset>, LoadError> {
        let stack = Stack::resolve(library, id, layers)?.measured();
        Ruleset::of_stack(riskbreaker_script_engine(), Arc::new(stack), layers, Machines::default())
    }

    /// Loads a ruleset from a stack that was already read.
    #[doc(hidden)]
    pub fn load_read(stack: Arc<Stack>, layers: &[String]) -> Result<Arc<Ruleset>, LoadError> {
        Ruleset::of_stack(riskbreaker_script_engine(), stack, layers, Machines::default())
    }

    /// Returns a loaded ruleset with the same content that is in use or was used recently. If there is none, loads it
    /// with these machines.
    ///
    /// # Errors
    ///
    /// Every problem of the ruleset at once, with file and line.
    fn find_or_load(
        engine: &'static dyn Engine,
        machines: Machines,
        library: &Library,
        id: &str,
        layers: &[String],
    ) -> Result<Arc<Ruleset>, LoadError> {
        let rules = Ruleset::find(engine, machines, library, id, layers)?;
        let oldest = known().keep(&rules);
        drop(oldest);
        Ok(rules)
    }

    fn find(
        engine: &'static dyn Engine,
        machines: Machines,
        library: &Library,
        id: &str,
        layers: &[String],
    ) -> Result<Arc<Ruleset>, LoadError> {
        let (id, layers) = with_layers(id, layers);
        let began = SystemTime::now();
        let of_name: Vec<Arc<Ruleset>> = known().in_use.iter().filter_map(Weak::upgrade).collect();
        let of_name = of_name.into_iter().filter(|rules| rules.id() == id && rules.extra_layers() == layers);
        let of_name: Vec<Arc<Ruleset>> = of_name.collect();
        // Unchanged file stamps mean the same content.
        if let Some(rules) = of_name.iter().find(|rules| rules.stands_in(library)) {
            return Ok(rules.clone());
        }
        let stack = Stack::resolve(library, &id, &layers)?;
        let origins = stack.parts().iter().map(|part| library.origin_of(part.id()));
        let origins: Option<Vec<Origin>> = origins.collect();
        let hash = stack.hash();
        let rules = match of_name.into_iter().find(|rules| rules.hash() == hash) {
            Some(rules) => rules,
            None => Ruleset::of_stack(engine, Arc::new(stack), &layers, machines)?,
        };
        if let Some(origins) = origins.filter(|origins| origins.iter().all(|origin| origin.is_settled_at(began))) {
            *rules.origins.lock().unwrap_or_else(PoisonError::into_inner) = origins;
        }
        Ok(rules)
    }

    /// True if the files in a library seem unchanged since they were last read.
    fn stands_in(&self, library: &Library) -> bool {
        let origins = self.origins.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let parts = self.book.stack().parts();
        let same = |(id, origin): (&str, &Origin)| library.origin_of(id).as_ref() == Some(origin);
        origins.len() == parts.len() && parts.iter().map(|part| part.id()).zip(&origins).all(same)
    }

    /// Loads a ruleset from a stack that was already read.
    fn of_stack(
        engine: &'static dyn Engine,
        stack: Arc<Stack>,
        layers: &[String],
        machines: Machines,
    ) -> Result<Arc<Ruleset>, LoadError> {
        // One machine counts all lines.
        let (measured, id) = (stack.is_measured(), stack.main().id().to_string());
        let machines = if measured { Machines::Threads(1) } else { machines };
        let (pool, declared) = match MachinePool::start(engine, stack.clone(), machines) {
            Ok((pool, declarations)) => (Some(pool), Ok(declarations)),
            Err(error) => (None, Err(error)),
        };
        let book = Rulebook::new(stack, declared, layers)?;
        let pool = pool.ok_or_else(|| LoadError::new(id, Vec::new()))?;
        let rules = Arc::new(Ruleset { book: Arc::new(book), pool: Arc::new(pool), origins: Arc::default() });
        if !measured {
            let in_use = &mut known().in_use;
            in_use.retain(|known| known.strong_count() > 0);
            in_use.push(Arc::downgrade(&rules));
        }
        Ok(rules)
    }

    /// The same ruleset with a reference count of its own, so that threads do not contend for a shared one.
    #[doc(hidden)]
    pub fn apart(&self) -> Arc<Ruleset> {
        let (book, pool, origins) = (self.book.clone(), self.pool.clone(), self.origins.clone());
        Arc::new(Ruleset { book, pool, origins })
    }

    /// The ruleset as data.
    pub fn book(&self) -> &Rulebook {
        &self.book
    }

    /// The engine that runs its scripts.
    #[doc(hidden)]
    pub fn engine(&self) -> &'static dyn Engine {
        self.pool.engine()
    }

    /// Lends a machine of this ruleset to `job` and waits.
    ///
    /// # Errors
    ///
    /// [`Died`] if no machine can be created or the job panics; its captures are lost then.
    #[doc(hidden)]
    pub fn run<R: Send + 'static>(&self, job: impl FnOnce(&mut dyn Machine) -> R + Send + 'static) -> Result<R, Died> {
        self.pool.run(job)
    }

    /// The number of machines of this ruleset that can run at the same time.
    #[doc(hidden)]
    pub fn threads(&self) -> usize {
        self.pool.threads()
    }

    /// Creates a machine outside the pool.
    ///
    /// # Errors
    ///
    /// The problems of its scripts. They were loaded before, so this means that memory is exhausted.
    #[doc(hidden)]
    pub fn machine(&self) -> Result<Box<dyn Machine>, LoadError> {
        self.engine().load(self.book.stack()).map(|(machine, _)| machine)
    }

    /// How often each line of the scripts has run, by file. Empty unless the ruleset was loaded for measuring.
    #[doc(hidden)]
    pub fn hits(&self) -> Hits {
        self.run(|vm| vm.hits()).unwrap_or_default()
    }
}

/// The most rulesets that are kept while no game uses them.
const MOST_KEPT: usize = 4;

/// Loaded rulesets that can be reused.
struct KnownRulesets {
    in_use: Vec<Weak<Ruleset>>,
    /// The last ones requested, so that a program that plays one game after the other loads its ruleset once.
    last: VecDeque<Arc<Ruleset>>,
}

impl KnownRulesets {
    /// Keeps a ruleset as the last one. Returns the one that was dropped for it.
    fn keep(&mut self, rules: &Arc<Ruleset>) -> Option<Arc<Ruleset>> {
        self.last.retain(|kept| !Arc::ptr_eq(kept, rules));
        self.last.push_back(rules.clone());
        if self.last.len() > MOST_KEPT { self.last.pop_front() } else { None }
    }
}

fn known() -> MutexGuard<'static, KnownRulesets> {
    static KNOWN: Mutex<KnownRulesets> = Mutex::new(KnownRulesets { in_use: Vec::new(), last: VecDeque::new() });
    KNOWN.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Deref for Ruleset {
    type Target = Rulebook;

    fn deref(&self) -> &Rulebook {
        &self.book
    }
}

impl std::fmt::Debug for Ruleset {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Ruleset({} {})", self.id(), self.version())
    }
}
