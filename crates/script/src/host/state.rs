//! The data that the host functions of a machine share, and which of it is in use on this thread.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, HashMap};
use std::hash::BuildHasherDefault;
use std::ptr;
use std::sync::Arc;

use mlua::{Error, Result, lua_State};

use super::super::file_place::place_of;
use super::super::handles::{Handles, Reads};
use super::super::upvalues::Assigner;
use super::refusal::NO_GAME;
use super::schema_names::SchemaNames;
use riskbreaker_dice::Dice;
use riskbreaker_play::{ActionContext, DicePosition, Term};
use riskbreaker_state::{Audience, NumberHash};

thread_local! {
    /// The host state of the machine that runs on this thread.
    static HOST: Cell<*const HostState> = const { Cell::new(ptr::null()) };
    /// The machine itself, while one of its functions runs here.
    static MACHINE: Cell<*mut lua_State> = const { Cell::new(ptr::null_mut()) };
}

/// The data shared by the host functions: the running game, and the handles of its entities.
#[derive(Default)]
pub(crate) struct HostState {
    context: Cell<Option<*mut ActionContext>>,
    pub handles: RefCell<Handles>,
    pub reads: Reads,
    /// The names of kinds and fields that scripts used lately.
    pub(super) names: SchemaNames,
    /// Dice expressions used by scripts, by number.
    pub(super) dice: RefCell<Vec<Arc<Dice>>>,
    labels: RefCell<HashMap<String, Arc<str>>>,
    /// Texts of the rules, by address, with this machine's own copies.
    texts: RefCell<HashMap<usize, [Arc<str>; 2], BuildHasherDefault<NumberHash>>>,
    pub terms: RefCell<Vec<Term>>,
    /// The audience of the next whispered line.
    pub(super) whispered_to: RefCell<Audience>,
    /// The position of the dice when the policy was asked.
    pub(super) before_policy: Cell<DicePosition>,
    /// Names of the agenda's entries: this machine's own copies.
    pub entries: RefCell<Vec<Arc<str>>>,
    /// The memory in use, as counted by [`super::super::memory::used`], at which garbage is collected before the next
    /// action.
    pub full: Cell<usize>,
    /// The functions of files whose line runs are counted.
    pub measured: RefCell<Vec<(String, mlua::Function)>>,
    /// Functions that assign to captured variables, by file.
    pub assigners: RefCell<BTreeMap<String, Vec<Assigner>>>,
    /// The ones among them that exist after loading, with their file.
    pub keepers: RefCell<Vec<(String, Assigner)>>,
    /// Why the last `require` that failed did so.
    pub failed_require: RefCell<Option<FailedRequire>>,
}

/// Why a file could not be required.
pub(crate) enum RequireFailure {
    /// The file at this path requires the one that requires it.
    Circle(String),
    /// It could not be read, which is reported at its own place.
    Reported,
}

/// The error of a `require`, as a message and as data.
pub(crate) struct FailedRequire {
    pub message: String,
    pub failure: RequireFailure,
}

impl HostState {
    /// Records a function that exists after loading, if it assigns to captured variables.
    pub fn note_keeper(&self, function: &mlua::Function) {
        let info = function.info();
        let Some(path) = info.source.as_deref().map(|source| source.trim_start_matches('=')) else { return };
        let assigners = self.assigners.borrow();
        let of_file = assigners.get(path).into_iter().flatten();
        let at = |line: usize| (line as u32, info.num_params, info.num_upvalues);
        let found = of_file.filter(|known| info.line_defined.map(at) == Some(known.signature()));
        self.keepers.borrow_mut().extend(found.map(|known| (path.to_owned(), known.clone())));
    }

    /// Lends a game to the host functions while `run` runs.
    pub fn lend<R>(&self, context: &mut ActionContext, run: impl FnOnce() -> R) -> R {
        let outer = self.context.replace(Some(context));
        let result = with_host(self, run);
        self.context.set(outer);
        result
    }

    /// The game that is currently lent.
    #[allow(clippy::mut_from_ref)] // it is lent exclusively, see below
    pub fn lent(&self) -> Option<&mut ActionContext> {
        // SAFETY: `lend` sets the pointer as long as its exclusive borrow lasts, on the machine's own thread; host
        // functions do not call each other, so two references from here never exist at once.
        self.context.get().map(|context| unsafe { &mut *context })
    }

    /// Like [`HostState::lent`], with an error for a script.
    #[allow(clippy::mut_from_ref)] // as above
    pub fn context(&self) -> Result<&mut ActionContext> {
        match self.lent() {
            Some(context) => Ok(context),
            None => Err(Error::RuntimeError(NO_GAME.into())),
        }
    }

    /// This machine's own copy of a text of the rules: shared reference counts would slow threads down.
    pub(super) fn own_text(&self, text: &Arc<str>) -> Arc<str> {
        let mut texts = self.texts.borrow_mut();
        let [_, own] = texts.entry(text.as_ptr() as usize).or_insert_with(|| [text.clone(), Arc::from(&**text)]);
        own.clone()
    }

    pub(super) fn label(&self, text: &str) -> Arc<str> {
        if let Some(label) = self.labels.borrow().get(text) {
            return label.clone();
        }
        let label: Arc<str> = Arc::from(text);
        let mut known = self.labels.borrow_mut();
        // Cache as many labels as a ruleset contains, not all that a script makes up.
        if known.len() < MOST_LABELS && text.len() <= LONGEST_LABEL {
            known.insert(text.to_string(), label.clone());
        }
        label
    }
}

/// The most cached labels of rolls.
const MOST_LABELS: usize = 1_000;

/// The longest cached label of a roll, in bytes.
pub(super) const LONGEST_LABEL: usize = 200;

/// Makes the host state available to the functions while `run` runs.
pub(super) fn with_host<R>(host: &HostState, run: impl FnOnce() -> R) -> R {
    let outer = HOST.replace(host);
    let machine = MACHINE.get();
    let result = run();
    HOST.set(outer);
    MACHINE.set(machine);
    result
}

/// File and line of the script that runs on this thread; empty if none runs.
pub(crate) fn current_place() -> String {
    let state = MACHINE.get();
    if state.is_null() {
        return String::new();
    }
    // SAFETY: `with_host` resets the pointer when the machine's function has returned.
    let place = unsafe { place_of(state) };
    place.map_or_else(String::new, |place| format!("{}:{}", place.path, place.line))
}

/// The host state of the running script.
pub(super) fn running_host<'a>() -> Option<&'a HostState> {
    // SAFETY: `with_host` sets the pointer as long as its borrow of the host state lasts, on this thread only.
    unsafe { HOST.get().as_ref() }
}

/// The host state and the game that is currently lent.
pub(super) fn lent<'a>(state: *mut lua_State) -> Option<(&'a HostState, &'a mut ActionContext)> {
    let host = running_host()?;
    let context = host.lent()?;
    MACHINE.set(state);
    Some((host, context))
}

/// True if the table at this address is the handle of an entity.
pub(crate) fn is_handle(address: usize) -> bool {
    running_host().and_then(|host| host.handles.try_borrow().ok()?.id_at(address)).is_some()
}

/// Adds a function to the table of host functions.
macro_rules! host_function {
    ($lua:ident, $host:ident, $table:ident, $name:literal, |$l:pat_param, $b:ident, $args:tt : $types:ty| $body:expr) => {{
        let host = Rc::clone($host);
        #[allow(unused_variables)]
        let function = $lua.create_function(move |$l: &Lua, $args: $types| {
            let $b = &*host;
            $body
        })?;
        $table.raw_set($name, function)?;
    }};
}
pub(crate) use host_function;
