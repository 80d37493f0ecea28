//! The host functions, through which all effects of scripts on a game pass. None calls a script.
//!
//! Each operation is implemented once, in `play/operation.rs` and `play/inputs.rs`; a function here converts the
//! script's arguments. The most frequent ones are plain C functions of the engine (`stack.rs`) and allocate nothing.

mod agenda;
mod answering;
mod attachments;
mod dice;
mod entities;
mod locks;
mod log;
mod messages;
mod plane;
mod queries;
mod questions;
mod relations;
mod stack;

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;
use std::sync::Arc;

use mlua::{Error, Lua, LuaString, Result, Table, Value as Lv};

use super::account::{Account, beside};
use super::conversion::{from_lua, sort_of, text_of};
use super::handles::{Handles, Reads};
use super::upvalues::Assigner;
use riskbreaker_dice::Dice;
use riskbreaker_play::{ActionContext, DicePosition, MASTER, Stop, Term};
use riskbreaker_state::Audience;

pub(super) use agenda::{entry_tables, read_absolute_key};
pub(super) use entities::entity_arg;
#[cfg(feature = "continuations")]
pub(super) use stack::begin_reads;
pub(crate) use stack::current_place;
pub(super) use stack::{fill_fields, filling, is_handle, number_of};

/// The data shared by the host functions: the running game, and the handles of its entities.
#[derive(Default)]
pub(super) struct HostState {
    context: Cell<Option<*mut ActionContext>>,
    pub handles: RefCell<Handles>,
    pub reads: Reads,
    /// Dice expressions used by scripts, by number.
    dice: RefCell<Vec<Arc<Dice>>>,
    labels: RefCell<HashMap<String, Arc<str>>>,
    /// Texts of the rules, by address, with this machine's own copies.
    texts: RefCell<HashMap<usize, [Arc<str>; 2]>>,
    pub terms: RefCell<Vec<Term>>,
    /// The audience of the next whispered line.
    whispered_to: RefCell<Audience>,
    /// The position of the dice when the policy was asked.
    before_policy: Cell<DicePosition>,
    /// Names of the agenda's entries: this machine's own copies.
    pub entries: RefCell<Vec<Arc<str>>>,
    /// The memory in use, as counted by [`super::allocation::used`], at which garbage is collected before the next
    /// action.
    pub full: Cell<usize>,
    /// The functions of files whose line runs are counted.
    pub measured: RefCell<Vec<(String, mlua::Function)>>,
    /// Functions that assign to captured variables, by file.
    pub assigners: RefCell<BTreeMap<String, Vec<Assigner>>>,
    /// The ones among them that exist after loading, with their file.
    pub keepers: RefCell<Vec<(String, Assigner)>>,
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
        let result = stack::with_host(self, run);
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
    pub(super) fn context(&self) -> Result<&mut ActionContext> {
        match self.lent() {
            Some(context) => Ok(context),
            None => Err(Error::RuntimeError(NO_GAME.into())),
        }
    }

    /// This machine's own copy of a text of the rules: shared reference counts would slow threads down.
    fn own_text(&self, text: &Arc<str>) -> Arc<str> {
        let mut texts = self.texts.borrow_mut();
        let [_, own] = texts.entry(text.as_ptr() as usize).or_insert_with(|| [text.clone(), Arc::from(&**text)]);
        own.clone()
    }

    fn label(&self, text: &str) -> Arc<str> {
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

const NO_GAME: &str = "this can only be called while a game is played, not while the file is loaded";

/// The most cached labels of rolls.
const MOST_LABELS: usize = 1_000;
/// The longest cached label of a roll, in bytes.
const LONGEST_LABEL: usize = 200;

/// The bytes charged for data stored by the host: for a change, a log line, a term of an explanation, a question, an
/// option of it, and a rolled die.
const CHANGE: usize = 240;
const TOLD: usize = 480;
const TERM: usize = 240;
const ASKED: usize = 512;
const OPTION: usize = 128;
const DIE: usize = 48;

/// The most names in a message, and the most values for its placeholders.
const MOST_NAMED: usize = 100;

/// The message of a stop for a script; the reason itself is in the context's `stop`.
fn message_of(stop: &Stop) -> &str {
    match stop {
        Stop::Question => "the action waits for an answer",
        Stop::Cut(reason) | Stop::Refused { reason, .. } => reason,
        Stop::Fault { message, .. } => message,
    }
}

/// The error that ends a script after a stop.
pub(super) fn stopped(stop: Stop) -> Error {
    Error::RuntimeError(message_of(&stop).to_string())
}

pub(super) fn fault(context: &mut ActionContext, message: impl Into<String>) -> Error {
    stopped(context.fault(message))
}

/// Formats a script's value for messages.
fn told(value: &Lv) -> String {
    match value {
        Lv::Nil => "nothing".into(),
        Lv::Integer(n) => n.to_string(),
        Lv::Number(n) => n.to_string(),
        Lv::LightUserData(_) => "what rb.schedule has given for an entry".into(),
        other => format!("a {}", other.type_name()),
    }
}

/// The message of an error without its kind.
fn plain(error: &Error) -> String {
    match error {
        Error::RuntimeError(message) => message.clone(),
        other => other.to_string(),
    }
}

pub(super) fn text_arg(context: &mut ActionContext, value: &Lv, what: &str) -> Result<Arc<str>> {
    text_of(string_arg(context, value, what)?)
}

/// Converts an argument to a text of the engine, without copying it.
fn string_arg<'v>(context: &mut ActionContext, value: &'v Lv, what: &str) -> Result<&'v LuaString> {
    match value {
        Lv::String(text) => Ok(text),
        other => Err(fault(context, format!("{what} must be a text, not {}", sort_of(other)))),
    }
}

/// Reads an audience: a seat, a list of seats, `everybody`, `nobody`, or an entity, which means its audience.
pub(super) fn audience_arg(context: &mut ActionContext, value: &Lv, handles: &Handles, what: &str) -> Result<Audience> {
    match value {
        Lv::Nil => Ok(Audience::Everybody),
        Lv::Table(table) => match handles.id_of(table) {
            Some(id) => Ok(context.state.audience(context.rules.schema(), id)),
            None => {
                let mut all = Audience::nobody();
                for seat in table.sequence_values::<Lv>() {
                    all = all.or(&named_audience(context, &seat?, what)?);
                }
                Ok(all)
            }
        },
        word => named_audience(context, word, what),
    }
}

fn named_audience(context: &mut ActionContext, word: &Lv, what: &str) -> Result<Audience> {
    let word = text_arg(context, word, what)?;
    let audience = Audience::named(&word);
    let rules = context.rules.clone();
    if let Audience::Only(seats) = &audience
        && let Some(seat) = seats.iter().find(|seat| ***seat != *MASTER && !rules.seats().contains_key(&***seat))
    {
        let meant = riskbreaker_ruleset::instead(seat, rules.seats().keys().map(String::as_str));
        return Err(fault(context, format!("{what} is `{seat}`, and there is no such seat; {meant}")));
    }
    Ok(audience)
}

/// Fills the placeholders `{}` of a template with formatted values.
pub(super) fn fill(template: &str, args: &[Lv], context: &ActionContext, handles: &Handles) -> String {
    let mut text = String::with_capacity(template.len() + 16);
    let mut args = args.iter();
    let mut rest = template;
    while let Some(at) = rest.find("{}") {
        text.push_str(&rest[..at]);
        match args.next() {
            Some(value) => text.push_str(&words_of(value, context, handles)),
            None => text.push_str("{}"),
        }
        rest = &rest[at + 2..];
    }
    text.push_str(rest);
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).take(2000).collect()
}

/// Formats a script's value. A removed entity keeps its last title; `?` if it is no plain data.
pub(super) fn words_of(value: &Lv, context: &ActionContext, handles: &Handles) -> String {
    match from_lua(value, handles) {
        Ok(value) => context.words(&value),
        Err(_) => handles.last_title(value).unwrap_or("?").to_owned(),
    }
}

/// Like [`fill`], for a text that is only made if events have readers: not charged to the action.
pub(super) fn fill_told(template: &str, args: &[Lv], context: &ActionContext, handles: &Handles) -> String {
    let mut text = String::new();
    beside(Account::Words, || text = fill(template, args, context, handles));
    text
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
pub(super) use host_function;

/// Makes the table of host functions for the prelude.
pub(super) fn functions(lua: &Lua, host: &Rc<HostState>) -> Result<Table> {
    let table = lua.create_table()?;
    messages::add(lua, host, &table)?;
    entities::add(lua, host, &table)?;
    relations::add(lua, host, &table)?;
    plane::add(lua, &table)?;
    queries::add(lua, &table)?;
    attachments::add(lua, host, &table)?;
    questions::add(lua, host, &table)?;
    dice::add(lua, host, &table)?;
    agenda::add(lua, host, &table)?;
    agenda::due_parts(lua, host, &table)?;
    log::add(lua, host, &table)?;
    super::convert::add(lua, host, &table)?;
    stack::add(lua, &table)?;
    locks::add(lua, &table)?;
    let (handles, names, numbered) = (lua.create_table()?, lua.create_table()?, lua.create_table()?);
    numbered.set_metatable(Some(lua.create_table_from([("__mode", "v")])?))?;
    table.raw_set("handles", &handles)?;
    table.raw_set("field_names", &names)?;
    table.raw_set("field_tables", &numbered)?;
    let mut own = host.handles.borrow_mut();
    (own.listed, own.names, own.numbered) = (Some(handles), Some(names), Some(numbered));
    Ok(table)
}
