#[cfg(feature = "continuations")]
use std::any::Any;
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use mlua::{Function, IntoLuaMulti, Lua, MultiValue, Result as LuaResult, Value as Lv};

use super::account::ROOM;
use super::budget::{CallBudget, HELD, clock, guarded, spent_at, work_of_last_call, work_of_thread};
#[cfg(feature = "continuations")]
use super::continuation::{ScriptSnapshot, Went};
use super::conversion::{from_lua, sort_of, to_lua, whole_of, whole_or_why};
use super::convert::former_table;
use super::fault::{fault_of, source_line, teach};
use super::file_place::FilePlace;
use super::handles::{Handles, Synced};
use super::host::agenda::{entry_tables, read_absolute_key};
#[cfg(feature = "continuations")]
use super::host::stack::begin_reads;
use super::host::state::HostState;
use super::load;
use super::memory::{running, used};
use super::sandbox::{collect, give_back};
use super::trusted::Trusted;
use riskbreaker_play::{
    ActionContext, Call, Driver, Explanation, Fault, Former, FreeAct, Hits, Lines, Machine, Number, Order, Phase,
    PolicyAct, SheetRow, Stop, View, WorkedOut,
};
#[cfg(feature = "continuations")]
use riskbreaker_play::{Fingerprint, KeepPlace};
use riskbreaker_ruleset::{CreationPart, Declarations, LoadError, Stack, instead_or};
use riskbreaker_state::{EntityId, Entry, EntryId, FieldId, Key, NumberSource, Value, readable_name};

/// A script machine with one ruleset. It runs one game at a time and keeps no state of it.
pub struct Vm {
    /// Takes fingerprints of running scripts. Created by the first exploration, and dropped before the machine.
    #[cfg(feature = "continuations")]
    pub(super) continuation: Option<Box<super::continuation::Continuation>>,
    /// True while paths are explored.
    exploring: bool,
    /// The work of this thread when the last exploration began.
    #[cfg(feature = "continuations")]
    explored_from: u64,
    pub(super) lua: Lua,
    pub(super) host: Rc<HostState>,
    trusted: Trusted,
    stack: Arc<Stack>,
    declarations: Arc<Declarations>,
    /// Switches, disabled names, and whether events have readers, as known to the prelude.
    settings: RefCell<Option<GameSettings>>,
    /// The name for `result` of play.luau.
    result_name: Arc<str>,
    /// The bytes that it may use beyond those in use after the last collection.
    room: usize,
    /// The budget that was spent in it, if any.
    spent: Option<&'static str>,
    dead: bool,
    /// The rest of a budget shared by several runs.
    joint: Option<CallBudget>,
    /// The number of the machine, from 1.
    number: u64,
}

/// A row that a script returns for a sheet.
struct LaidOutRow {
    label: Option<String>,
    text: Option<String>,
    /// The name of the number that it shows.
    number: Option<Arc<str>>,
}

impl LaidOutRow {
    fn line((label, text): (String, String)) -> LaidOutRow {
        LaidOutRow { label: Some(label), text: Some(text), number: None }
    }

    fn of_number(name: Arc<str>) -> LaidOutRow {
        LaidOutRow { label: None, text: None, number: Some(name) }
    }

    /// The row with its number, from which it takes label and text if the script gave none.
    fn with(self, number: Option<Number>) -> SheetRow {
        let told = number.as_ref();
        let label = self.label.or_else(|| told.map(|number| number.label.to_string()));
        let text = self.text.or_else(|| told.map(Number::text));
        SheetRow { label: label.unwrap_or_default(), text: text.unwrap_or_default(), number }
    }
}

static NUMBERS: AtomicU64 = AtomicU64::new(1);

/// The garbage in bytes after which it is collected, so that the garbage of one call does not use up the memory of the
/// next.
const LEFT_BEHIND: usize = 12 << 20;

/// The bytes that a machine may use beyond its loaded size: the memory quotas of an action, left garbage, and uncounted
/// memory such as free slots in pages, the string table and the tables of fields.
const MOST_BYTES: usize = ROOM[0] + ROOM[1] + ROOM[2] + LEFT_BEHIND + (64 << 20);

/// The work of an exploration after which free memory is returned to the system.
#[cfg(feature = "continuations")]
const LONG_EXPLORATION: u64 = 5_000_000;

/// The work of computing a key, besides that of its function.
const KEY_COST: i64 = 16;

/// The settings of a game known to the prelude, besides the state.
struct GameSettings {
    switches: Arc<BTreeMap<String, Value>>,
    left_out: BTreeSet<Arc<str>>,
    listens: bool,
    explores: bool,
}

impl GameSettings {
    fn of(context: &ActionContext) -> GameSettings {
        GameSettings {
            switches: context.switches.clone(),
            left_out: context.state.left_out().clone(),
            listens: context.log.listening,
            explores: context.paths.is_some(),
        }
    }

    fn are_of(&self, context: &ActionContext) -> bool {
        self.listens == context.log.listening
            && self.explores == context.paths.is_some()
            && self.left_out == *context.state.left_out()
            && (Arc::ptr_eq(&self.switches, &context.switches) || self.switches == context.switches)
    }
}

impl Vm {
    /// Loads a ruleset into a new machine.
    ///
    /// # Errors
    ///
    /// Every problem of the ruleset at once.
    pub fn load(stack: &Arc<Stack>) -> Result<(Vm, Arc<Declarations>), LoadError> {
        let loaded = load::load(stack)?;
        let declarations = Arc::new(loaded.declarations);
        let vm = Vm {
            #[cfg(feature = "continuations")]
            continuation: None,
            exploring: false,
            #[cfg(feature = "continuations")]
            explored_from: 0,
            lua: loaded.lua,
            host: loaded.host,
            trusted: loaded.trusted,
            stack: stack.clone(),
            declarations: declarations.clone(),
            settings: RefCell::new(None),
            result_name: Arc::from("result"),
            room: MOST_BYTES,
            spent: None,
            dead: false,
            joint: None,
            number: NUMBERS.fetch_add(1, Ordering::Relaxed),
        };
        vm.collect();
        Ok((vm, declarations))
    }

    /// The rows returned by a function of a kind for an entity.
    fn laid_out(
        &mut self,
        context: &mut ActionContext,
        entity: EntityId,
        function: fn(&Trusted) -> &Function,
        what: &str,
    ) -> Result<Vec<LaidOutRow>, Fault> {
        let kind = context.state.entity(entity).map(|found| context.rules.schema().kind(found.kind).name.clone());
        let name = kind.unwrap_or_default();
        let whose = format!("the {what} of a {name}");
        let lines = self.lines(context, &whose, function, |lua, handles| {
            (&*name, handles.handle(entity).cloned()).into_lua_multi(lua)
        });
        lines.map_err(|fault| self.at_function(fault, &name, what))
    }

    /// Adds the named numbers to the rows of a sheet. Omits a row whose number is hidden and that has no text.
    fn with_numbers(
        &mut self,
        context: &mut ActionContext,
        entity: EntityId,
        rows: Vec<LaidOutRow>,
    ) -> Result<Vec<SheetRow>, Fault> {
        let Some(found) = context.state.entity(entity).filter(|_| rows.iter().any(|row| row.number.is_some())) else {
            return Ok(rows.into_iter().map(|row| row.with(None)).collect());
        };
        let rules = context.rules.clone();
        let kind = rules.schema().kind(found.kind);
        let mut named = Vec::new();
        for name in rows.iter().filter_map(|row| row.number.as_ref()) {
            let declared = kind.profile.numbers.iter().find(|number| number.name == *name).cloned();
            let found = declared.map_or_else(|| kind.number_named(name), Ok);
            named.push(found.map_err(|message| {
                let mut fault = Fault::new(format!("the sheet of a {} {message}", kind.name));
                fault.cure = Some(
                    instead_or(name, kind.members(), "name a field or a derived value that is a whole number")
                        .to_string(),
                );
                self.at_function(fault, &kind.name, "sheet")
            })?);
        }
        let derived = named.iter().flat_map(|number| number.derived());
        let wanted: Vec<(EntityId, Arc<str>)> = derived.map(|name| (entity, name.clone())).collect();
        let worked_out = if wanted.is_empty() { WorkedOut::new() } else { self.numbers(context, &wanted) };
        let mut numbers = named.into_iter();
        let mut all = Vec::new();
        for row in rows {
            let rule = row.number.as_ref().and_then(|_| numbers.next());
            let number = rule.as_ref().and_then(|rule| View::new(context).number(entity, rule, &worked_out));
            if let (Some(rule), None) = (rule, &number) {
                if let NumberSource::Field(field) = rule.value {
                    context.note_read(entity, field);
                }
                if row.text.is_none() {
                    continue;
                }
            }
            all.push(row.with(number));
        }
        Ok(all)
    }

    /// Converts the result of a function to rows: texts, and pairs of label and text.
    fn lines(
        &mut self,
        context: &mut ActionContext,
        whose: &str,
        function: fn(&Trusted) -> &Function,
        args: impl FnOnce(&Lua, &Handles) -> LuaResult<MultiValue>,
    ) -> Result<Vec<LaidOutRow>, Fault> {
        self.reading(context, |vm, context| {
            let Lv::Table(rows) = vm.first_of(context, function, args)? else {
                return Err(Fault::new(format!("{whose} must return a list of lines")));
            };
            let handles = vm.host.handles.borrow();
            let text = |value: &Lv| {
                from_lua(value, &handles).map(|value| match value {
                    Value::Text(text) => text.to_string(),
                    value => context.words(&value),
                })
            };
            let mut lines = Vec::new();
            for row in rows.sequence_values::<Lv>() {
                let line = match row {
                    Ok(Lv::Table(row)) if handles.id_of(&row).is_none() => {
                        let label: Lv = row.raw_get(1).unwrap_or(Lv::Nil);
                        let number: Lv = row.raw_get("number").unwrap_or(Lv::Nil);
                        let number = number.as_string().map(|name| Arc::from(&*name.to_string_lossy()));
                        if label.is_nil() && number.is_none() {
                            let mut fault = Fault::new(format!("a line of {whose} has no label"));
                            fault.cure = Some("write { \"Label\", value }, { number = \"NAME\" }, or a text".into());
                            return Err(fault);
                        }
                        let value: Lv = row.raw_get(2).unwrap_or(Lv::Nil);
                        let written = if label.is_nil() { Ok(None) } else { text(&label).map(Some) };
                        let value = if value.is_nil() && number.is_some() { Ok(None) } else { text(&value).map(Some) };
                        written.and_then(|label| Ok(LaidOutRow { label, text: value?, number }))
                    }
                    Ok(row) => {
                        text(&row).map(|text| LaidOutRow { label: Some(String::new()), text: Some(text), number: None })
                    }
                    Err(error) => Err(error),
                };
                lines.push(line.map_err(|error| fault_of(&error, None, None, &vm.stack))?);
            }
            Ok(lines)
        })
    }

    /// The value of a read-only function (a statistic or the result), from its trace if that is known.
    fn known_or_worked_out(
        &mut self,
        context: &mut ActionContext,
        name: &Arc<str>,
        is_result: bool,
        work_out: impl FnOnce(&mut Vm, &mut ActionContext) -> Result<Value, Fault>,
    ) -> Result<Value, Fault> {
        if let Some(memo) = &mut context.observers.memo
            && let Some(known) = memo.value(name, is_result, &mut context.state)
        {
            return Ok(known);
        }
        let value = self.reading(context, work_out)?;
        if let Some(memo) = &mut context.observers.memo {
            memo.finish_value(&value);
        }
        Ok(value)
    }

    /// Runs read-only scripts, even if the open action is stopped.
    fn reading<R>(
        &mut self,
        context: &mut ActionContext,
        work: impl FnOnce(&mut Vm, &mut ActionContext) -> Result<R, Fault>,
    ) -> Result<R, Fault> {
        let stop = context.stop.take();
        let phase = std::mem::replace(&mut context.phase, Phase::Pure("a look at the state"));
        let result = work(self, context);
        context.stop = stop;
        context.phase = phase;
        result
    }

    /// Runs several calls that share one budget.
    fn in_one_budget<R>(&mut self, budget: CallBudget, work: impl FnOnce(&mut Vm) -> R) -> R {
        // An inner call uses the budget of the outer one.
        let outer = self.joint.is_some();
        if !outer {
            self.joint = Some(budget);
        }
        let done = work(self);
        if !outer {
            self.joint = None;
        }
        done
    }

    /// The first result of one of the prelude's functions.
    fn first_of(
        &mut self,
        context: &mut ActionContext,
        function: fn(&Trusted) -> &Function,
        args: impl FnOnce(&Lua, &Handles) -> LuaResult<MultiValue>,
    ) -> Result<Lv, Fault> {
        let (lua, host) = (self.lua.clone(), self.host.clone());
        let found =
            self.run(context, |trusted| Ok((function(trusted).clone(), args(&lua, &host.handles.borrow())?)))?;
        Ok(found.into_iter().next().unwrap_or(Lv::Nil))
    }

    /// Converts the result of a function to plain data.
    fn data(&self, found: &Lv) -> Result<Value, Fault> {
        from_lua(found, &self.host.handles.borrow()).map_err(|error| fault_of(&error, None, None, &self.stack))
    }

    /// Runs one of the prelude's functions under the budget of an action and checks its result.
    pub(super) fn run(
        &mut self,
        context: &mut ActionContext,
        prepare: impl FnOnce(&Trusted) -> LuaResult<(Function, MultiValue)>,
    ) -> Result<MultiValue, Fault> {
        self.run_within(CallBudget::ACTION, context, prepare)
    }

    /// Runs one of the prelude's functions under a budget, or under the rest of a joint one, and checks its result.
    fn run_within(
        &mut self,
        budget: CallBudget,
        context: &mut ActionContext,
        prepare: impl FnOnce(&Trusted) -> LuaResult<(Function, MultiValue)>,
    ) -> Result<MultiValue, Fault> {
        if self.dead {
            return Err(Fault::new("the script machine was thrown away; try again"));
        }
        debug_assert!(context.is_settled(), "scripts read what replays have changed");
        let host = self.host.clone();
        let budget = self.joint.unwrap_or(budget);
        context.knowledge.glimpse = None;
        let attempt = catch_unwind(AssertUnwindSafe(|| {
            guarded(&self.lua, budget, || {
                let renewed = self.sync(context)?;
                let result = host.lend(context, || {
                    if let Some((function, args)) = renewed {
                        function.call::<()>(args)?;
                    }
                    let (function, args) = prepare(&self.trusted)?;
                    function.call::<MultiValue>(args)
                });
                match &result {
                    Ok(_) => host.reads.keep_up(&context.state),
                    Err(_) => host.reads.disown(),
                }
                result
            })
        }));
        self.joint = self.joint.map(|_| budget.rest());
        let (result, spent) = match attempt {
            Ok(judged) => judged,
            Err(_) => {
                self.dead = true;
                let mut fault = Fault::new("the host itself failed while the script ran; the action is taken back");
                fault.cure = Some("please report this with the script".into());
                fault.fatal = true;
                return Err(fault);
            }
        };
        if spent.is_none() {
            self.clear_up();
        }
        if let Some(what) = spent {
            (self.dead, self.spent) = (true, spent);
            let error = result.err().unwrap_or(mlua::Error::StackError);
            return Err(fault_of(&error, context.stop.as_ref(), Some((what, spent_at())), &self.stack));
        }
        match (result, &context.stop) {
            (Ok(values), None | Some(Stop::Question | Stop::Cut(_) | Stop::Refused { .. })) => Ok(values),
            (Err(_), Some(Stop::Question | Stop::Cut(_) | Stop::Refused { .. })) => Ok(MultiValue::new()),
            (Err(error), stop) => {
                let mut fault = fault_of(&error, stop.as_ref(), None, &self.stack);
                teach(&mut fault, &self.declarations.schema);
                Err(fault)
            }
            (Ok(_), Some(stop @ Stop::Fault { .. })) => {
                Err(fault_of(&mlua::Error::RuntimeError(String::new()), Some(stop), None, &self.stack))
            }
        }
    }

    /// Collects the garbage of earlier calls, if there is much.
    fn clear_up(&mut self) {
        let (used, full) = (running(&self.lua, used), self.host.full.get());
        if used <= full {
            return;
        }
        self.collect();
        // During an exploration the same memory is needed again soon.
        if used > full + LEFT_BEHIND && !self.exploring {
            give_back();
        }
    }

    fn collect(&self) {
        #[cfg(feature = "continuations")]
        if let Some(continuation) = &self.continuation {
            continuation.forget_snapshots();
        }
        let _ = collect(&self.lua);
        self.set_limits();
    }

    fn set_limits(&self) {
        // Setting the limit can only fail in a machine without its own allocator.
        let _ = self.lua.set_memory_limit(self.lua.used_memory() + self.room);
        self.host.full.set(running(&self.lua, used) + LEFT_BEHIND.min(self.room / 4));
    }

    /// Synchronizes the handles with the state. Returns the prelude callback to run, if any.
    fn sync(&self, context: &mut ActionContext) -> LuaResult<Option<(Function, MultiValue)>> {
        if std::mem::replace(&mut context.machine, self.number) != self.number {
            context.state.renew_identity();
        }
        let rules = context.rules.clone();
        let synced = self.host.handles.borrow_mut().sync(&mut context.state)?;
        let settled = self.settings.borrow().as_ref().is_some_and(|settings| settings.are_of(context));
        #[cfg(feature = "continuations")]
        if let Some(continuation) = &self.continuation
            && (!settled || matches!(synced, Synced::Attachments | Synced::Renewed { others: true }))
        {
            // Entities or attachments have changed: a snapshot would restore outdated lists.
            continuation.forget_snapshots();
        }
        if !settled {
            *self.settings.borrow_mut() = Some(GameSettings::of(context));
            let switches = self.lua.create_table()?;
            for (name, value) in context.switches.iter() {
                switches.raw_set(&**name, to_lua(&self.lua, value, &self.host.handles.borrow())?)?;
            }
            switches.set_readonly(true);
            let out = self.lua.create_table()?;
            for name in context.state.left_out() {
                out.raw_set(&**name, true)?;
            }
            let secrets = rules.schema().has_secrets();
            let explores = context.paths.is_some();
            let args = (switches, context.log.listening, explores, out, secrets).into_lua_multi(&self.lua)?;
            return Ok(Some((self.trusted.refresh.clone(), args)));
        }
        Ok(match synced {
            Synced::Same | Synced::Renewed { others: false } => None,
            Synced::Attachments | Synced::Renewed { others: true } => {
                Some((self.trusted.stale.clone(), MultiValue::new()))
            }
        })
    }

    /// Adds the place of a function to a fault about its result. `part`: the function's key in the entry or kind
    /// `name`, or in `play`.
    fn at_function(&self, mut fault: Fault, name: &str, part: &str) -> Fault {
        if fault.path.is_none()
            && let Some((place, text)) = self.place_and_line(name, part)
        {
            (fault.path, fault.line, fault.source_line) = (Some(place.path), Some(place.line), Some(text));
        }
        fault
    }

    /// The place of such a function, with the text of its line. `None` for one that wraps another: it begins in the
    /// host.
    fn place_and_line(&self, name: &str, part: &str) -> Option<(FilePlace, String)> {
        let place = || self.trusted.place.call::<(String, u32)>((name, part));
        let (path, line) = guarded(&self.lua, CallBudget::ACTION, place).0.ok()?;
        let place = FilePlace { path, line };
        let text = source_line(&self.stack, &place)?;
        Some((place, text))
    }
}

impl Machine for Vm {
    fn clock(&self) -> Duration {
        clock()
    }

    // Exploring

    #[cfg(feature = "continuations")]
    fn begin_exploring(&mut self) -> Option<Fingerprint> {
        if self.dead {
            return None;
        }
        if self.continuation.is_none() {
            let trusted = &self.trusted;
            let (mirrored, _) =
                guarded(&self.lua, CallBudget::ACTION, || trusted.mirrored.call::<(mlua::Table, mlua::Table)>(()));
            let (lists, handles) = mirrored.ok()?;
            let roots = [
                &trusted.start,
                &trusted.entry,
                &trusted.free,
                &trusted.tie,
                &trusted.deal,
                &trusted.measure,
                &trusted.stale,
            ];
            let roots: Vec<Function> = roots.into_iter().cloned().collect();
            let parts = (trusted.state.clone(), lists, handles);
            let made = super::continuation::Continuation::new(&self.lua, &self.host, &roots, parts);
            self.continuation = made.ok().flatten().map(Box::new);
        }
        let continuation = self.continuation.as_ref()?;
        continuation.kept().ok()?;
        self.exploring = true;
        self.explored_from = work_of_thread();
        Some(continuation.begin())
    }

    #[cfg(feature = "continuations")]
    fn end_exploring(&mut self) {
        super::continuation::Continuation::end();
        self.exploring = false;
        // A short one has used little memory, and looking for free memory takes a millisecond.
        if work_of_thread().wrapping_sub(self.explored_from) > LONG_EXPLORATION {
            give_back();
        }
    }

    #[cfg(feature = "continuations")]
    fn kept(&self) -> Option<Vec<u8>> {
        self.continuation.as_ref()?.kept().ok()
    }

    fn work_of_last_call(&self) -> u64 {
        #[cfg(feature = "continuations")]
        if let Some(continuation) = &self.continuation {
            return work_of_last_call() + continuation.take_work();
        }
        work_of_last_call()
    }

    fn work_of_thread(&self) -> u64 {
        work_of_thread()
    }

    #[cfg(feature = "continuations")]
    fn begin_keeping(&mut self) -> Option<KeepPlace> {
        if !self.exploring || self.dead {
            return None;
        }
        self.collect();
        self.continuation.as_ref()?.begin_keeping()
    }

    #[cfg(feature = "continuations")]
    fn go_on(&mut self, context: &mut ActionContext, place: &(dyn Any + Send + Sync), seen: &Value) -> bool {
        let Some(snapshot) = place.downcast_ref::<ScriptSnapshot>() else { return false };
        let Some(continuation) = self.continuation.as_deref().filter(|known| known.has(snapshot)) else { return false };
        if self.dead {
            return false;
        }
        let host = self.host.clone();
        context.knowledge.glimpse = None;
        let attempt = catch_unwind(AssertUnwindSafe(|| {
            guarded(&self.lua, snapshot.budget(), || {
                if let Some((function, args)) = self.sync(context)? {
                    host.lend(context, || function.call::<()>(args))?;
                    return Ok(Went::Nowhere);
                }
                let went = host.lend(context, || continuation.go_on(snapshot, seen, begin_reads));
                match went {
                    Went::On => host.reads.keep_up(&context.state),
                    Went::Wrong | Went::Nowhere => host.reads.disown(),
                }
                Ok(went)
            })
        }));
        let Ok((went, spent)) = attempt else {
            self.dead = true;
            return false;
        };
        self.clear_up();
        let is_stopped = matches!(&context.stop, Some(Stop::Question | Stop::Cut(_) | Stop::Refused { .. }));
        match went {
            _ if spent.is_some() => false,
            Ok(Went::On) => context.stop.is_none() || is_stopped,
            Ok(Went::Wrong) => is_stopped,
            Ok(Went::Nowhere) | Err(_) => false,
        }
    }

    fn discard(&mut self) {
        self.dead = true;
    }

    fn is_dead(&self) -> bool {
        self.dead
    }

    fn ran_out_of_memory(&self) -> bool {
        matches!(self.spent, Some("memory" | HELD))
    }

    fn hold_to(&mut self, bytes: usize) {
        self.room = bytes;
        self.set_limits();
    }

    fn call(&mut self, context: &mut ActionContext, call: &Call) -> Result<Value, Fault> {
        let (lua, host) = (self.lua.clone(), self.host.clone());
        let budget = match call {
            Call::Start { .. } => CallBudget::START,
            _ => CallBudget::ACTION,
        };
        self.run_within(budget, context, |trusted| {
            let handles = host.handles.borrow();
            let value = |value: &Value| to_lua(&lua, value, &handles);
            let handle = |id: EntityId| handles.handle(id).map_or(Lv::Nil, |handle| Lv::Table(handle.clone()));
            Ok(match call {
                Call::Start { scenario } => (trusted.start.clone(), (value(scenario)?,).into_lua_multi(&lua)?),
                Call::Entry { what, owner, args, key } => {
                    let owner = owner.map_or(Lv::Nil, handle);
                    let key = lua.create_sequence_from(key.places().iter().copied())?;
                    (trusted.entry.clone(), (*what, owner, value(args)?, key).into_lua_multi(&lua)?)
                }
                Call::Deal { seat } => (trusted.deal.clone(), (*seat).into_lua_multi(&lua)?),
                Call::Free { seat, name } => (trusted.free.clone(), (*seat, *name).into_lua_multi(&lua)?),
                Call::Derived { entity, name, args } => {
                    let mut all = vec![handle(*entity), Lv::String(lua.create_string(name)?), Lv::Boolean(false)];
                    for arg in *args {
                        all.push(value(arg)?);
                    }
                    (trusted.derived.clone(), MultiValue::from_vec(all))
                }
            })
        })
        .and_then(|found| {
            let found = found.into_iter().next().unwrap_or(Lv::Nil);
            if matches!(call, Call::Derived { .. }) {
                return self.data(&found);
            }
            // A stop counts as an outcome.
            if context.stop.is_some() {
                context.run.pulse += 1;
            }
            Ok(Value::None)
        })
    }

    fn runs_on(&self, context: &ActionContext) -> bool {
        context.rules.between_entries(context.policies()).is_none()
    }

    fn run_on(&mut self, context: &mut ActionContext) -> Result<(), Fault> {
        self.run(context, |trusted| Ok((trusted.run_on.clone(), MultiValue::new()))).map(|_| ())
    }

    fn look(&mut self, context: &mut ActionContext, call: &Call) -> Result<Value, Fault> {
        self.reading(context, |vm, context| vm.call(context, call))
    }

    fn explain(
        &mut self,
        context: &mut ActionContext,
        entity: EntityId,
        name: &str,
        args: &[Value],
    ) -> Result<Explanation, Fault> {
        self.reading(context, |vm, context| {
            vm.host.terms.borrow_mut().clear();
            let found = vm.first_of(
                context,
                |trusted| &trusted.derived,
                |lua, handles| {
                    let handle = handles.handle(entity).cloned().map_or(Lv::Nil, Lv::Table);
                    let mut all = vec![handle, Lv::String(lua.create_string(name)?), Lv::Boolean(true)];
                    for arg in args {
                        all.push(to_lua(lua, arg, handles)?);
                    }
                    Ok(MultiValue::from_vec(all))
                },
            )?;
            let value = vm.data(&found)?;
            let against: Vec<String> = args.iter().map(|arg| context.words(arg)).collect();
            let against = if against.is_empty() { String::new() } else { format!(" ({})", against.join(", ")) };
            Ok(Explanation {
                title: format!("{}: {}{against}", context.title(entity), readable_name(name)),
                value: context.words(&value),
                terms: vm.host.terms.take(),
                changes: Vec::new(),
            })
        })
    }

    fn sheet(&mut self, context: &mut ActionContext, entity: EntityId) -> Result<Vec<SheetRow>, Fault> {
        let Some(found) = context.state.entity(entity) else {
            return Err(Fault::new(format!("{entity} is not there")));
        };
        let rules = context.rules.clone();
        let kind = rules.schema().kind(found.kind);
        let rows = if kind.sheet {
            self.laid_out(context, entity, |trusted| &trusted.sheet, "sheet")?
        } else {
            let numbers = &kind.profile.numbers;
            let number_of = |id| numbers.iter().find(|number| number.value == NumberSource::Field(id));
            let mut rows = Vec::new();
            for (id, (field, value)) in (0..).map(FieldId).zip(kind.fields.iter().zip(&found.fields)) {
                match (field.show, number_of(id)) {
                    (true, _) if context.hides(entity, id) => context.note_read(entity, id),
                    (true, Some(number)) => rows.push(LaidOutRow::of_number(number.name.clone())),
                    (true, None) => rows.push(LaidOutRow::line((field.label.to_string(), context.words(value)))),
                    (false, _) => {}
                }
            }
            rows.extend(context.relation_lines(entity).into_iter().map(LaidOutRow::line));
            rows
        };
        self.with_numbers(context, entity, rows)
    }

    fn numbers(&mut self, context: &mut ActionContext, wanted: &[(EntityId, Arc<str>)]) -> WorkedOut {
        self.in_one_budget(CallBudget::ACTION, |vm| {
            let mut found = WorkedOut::new();
            for (entity, name) in wanted {
                let call = Call::Derived { entity: *entity, name, args: &[] };
                let (value, is_hidden) = context.noting_hidden(|context| vm.look(context, &call));
                if let (Ok(Value::Int(value)), false) = (value, is_hidden) {
                    found.insert((*entity, name.clone()), value);
                }
            }
            found
        })
    }

    fn overview(&mut self, context: &mut ActionContext, entities: &[EntityId]) -> Result<Vec<Lines>, Fault> {
        let mut of = |vm: &mut Vm, entity: &EntityId| {
            let Some(found) = context.state.entity(*entity) else {
                return Err(Fault::new(format!("{entity} is not there")));
            };
            if !context.rules.schema().kind(found.kind).overview {
                return Ok(Lines::new());
            }
            let rows = vm.laid_out(context, *entity, |trusted| &trusted.overview, "overview")?;
            Ok(vm.with_numbers(context, *entity, rows)?.into_iter().map(SheetRow::line).collect())
        };
        self.in_one_budget(CallBudget::ACTION, |vm| entities.iter().map(|entity| of(vm, entity)).collect())
    }

    fn view(&mut self, context: &mut ActionContext, name: &str, seat: &str) -> Result<Lines, Fault> {
        if self.declarations.views.iter().all(|view| *view.name != *name) {
            return Err(Fault::new(format!("there is no view `{name}`")));
        }
        let whose = format!("the view `{name}`");
        let rows = self.lines(context, &whose, |trusted| &trusted.view, |lua, _| (name, seat).into_lua_multi(lua))?;
        Ok(rows.into_iter().map(|row| (row.label.unwrap_or_default(), row.text.unwrap_or_default())).collect())
    }

    fn order(&mut self, context: &mut ActionContext, seat: &str) -> Result<Option<Order>, Fault> {
        if !self.declarations.order {
            return Ok(None);
        }
        self.reading(context, |vm, context| {
            let found = vm.first_of(context, |trusted| &trusted.order, |lua, _| seat.into_lua_multi(lua))?;
            let order = vm.data(&found)?;
            Order::read(&order, context).map_err(|wrong| vm.at_function(Fault::new(wrong), "play", "order"))
        })
    }

    fn prompt(&mut self, context: &mut ActionContext, about: Option<EntityId>, seat: &str) -> Result<String, Fault> {
        if !self.declarations.prompt {
            return Ok(String::new());
        }
        self.reading(context, |vm, context| {
            let found = vm.first_of(
                context,
                |trusted| &trusted.prompt,
                |lua, handles| (about.and_then(|about| handles.handle(about).cloned()), seat).into_lua_multi(lua),
            )?;
            Ok(text_in(&found).unwrap_or_default())
        })
    }

    fn worth(&mut self, context: &mut ActionContext, seat: &str) -> Result<Option<i64>, Fault> {
        if !self.declarations.value {
            return Ok(None);
        }
        let found = self.reading(context, |vm, context| {
            vm.first_of(context, |trusted| &trusted.measure, |lua, _| ("value", seat).into_lua_multi(lua))
        })?;
        whole_or_why(&found).map(Some).map_err(|why| {
            let wrong = Fault::new(format!("`value` in play.luau must return a whole number: {why}"));
            self.at_function(wrong, "play", "value")
        })
    }

    fn result(&mut self, context: &mut ActionContext) -> Result<Option<String>, Fault> {
        if !self.declarations.result {
            return Ok(None);
        }
        let name = self.result_name.clone();
        let found = self.known_or_worked_out(context, &name, true, |vm, context| {
            match vm.first_of(context, |trusted| &trusted.measure, |lua, _| "result".into_lua_multi(lua))? {
                Lv::String(text) => Ok(Value::Text(Arc::from(text.to_string_lossy()))),
                Lv::Nil => Ok(Value::None),
                other => {
                    let found = sort_of(&other);
                    let wrong = format!("`result` in play.luau must return a text or nil, not a {found}");
                    Err(vm.at_function(Fault::new(wrong), "play", "result"))
                }
            }
        })?;
        Ok(found.as_text().map(str::to_string))
    }

    fn hits(&self) -> Hits {
        let mut hits = Hits::new();
        for (path, function) in self.host.measured.borrow().iter() {
            let lines = hits.entry(path.clone()).or_default();
            function.coverage(|info| {
                for (line, count) in info.hits.iter().enumerate().filter(|(_, count)| **count >= 0) {
                    let known = lines.entry(line as u32).or_insert(0);
                    *known = (*known).max(*count as u64);
                }
            });
        }
        hits
    }

    fn place_of(&self, name: &str) -> Option<String> {
        let (place, _) = self.place_and_line(name, "recorded")?;
        Some(format!("{}:{}", place.path, place.line))
    }

    fn statistics(&mut self, context: &mut ActionContext, labels: &[Arc<str>]) -> Result<Vec<i64>, Fault> {
        let mut of = |vm: &mut Vm, label: &Arc<str>| {
            let found = vm.known_or_worked_out(context, label, false, |vm, context| {
                let found =
                    vm.first_of(context, |trusted| &trusted.statistic, |lua, _| (&**label).into_lua_multi(lua))?;
                whole_or_why(&found).map(Value::Int).map_err(|why| {
                    let wrong = format!("the statistic `{label}` in play.luau must return a whole number: {why}");
                    vm.at_function(Fault::new(wrong), label, "statistic")
                })
            })?;
            Ok(found.as_int().unwrap_or_default())
        };
        // Each gets an equal share: the number of values known from traces must not change the budget of the others.
        let share = CallBudget { work: CallBudget::ACTION.work / labels.len().max(1) as i64, ..CallBudget::ACTION };
        labels.iter().map(|label| self.in_one_budget(share, |vm| of(vm, label))).collect()
    }

    fn free_acts(&mut self, context: &mut ActionContext) -> Vec<FreeAct> {
        let declarations = self.declarations.clone();
        let seats: Vec<Arc<str>> = context.answers.seats.keys().cloned().collect();
        self.in_one_budget(CallBudget::ACTION, |vm| {
            let mut acts = Vec::new();
            for free in &declarations.free {
                for seat in &seats {
                    let found = vm.reading(context, |vm, context| {
                        let lua = vm.lua.clone();
                        let values = vm.run(context, |trusted| {
                            Ok((trusted.may_act.clone(), (&*free.name, &**seat).into_lua_multi(&lua)?))
                        })?;
                        let mut values = values.into_iter();
                        Ok((values.next().unwrap_or(Lv::Nil), values.next().as_ref().and_then(text_in)))
                    });
                    let (enabled, reason) = match found {
                        Ok((Lv::Nil, _)) => continue,
                        Ok(_) if context.state.left_out().contains(&free.name) => {
                            (false, Some("is disabled by the game master".to_string()))
                        }
                        Ok((Lv::Boolean(false), reason)) => (false, reason),
                        Ok(_) => (true, None),
                        Err(fault) => (false, Some(fault.to_string())),
                    };
                    acts.push(FreeAct {
                        seat: seat.clone(),
                        name: free.name.clone(),
                        title: free.title.clone(),
                        enabled,
                        reason,
                    });
                }
            }
            acts
        })
    }

    fn policy_act(&mut self, context: &mut ActionContext) -> Result<Option<PolicyAct>, Fault> {
        if self.declarations.acting.is_empty() || self.declarations.free.is_empty() {
            return Ok(None);
        }
        let played = |(seat, driver): (&Arc<str>, &Driver)| match driver {
            Driver::Policy(policy) => Some((seat.clone(), policy.clone())),
            _ => None,
        };
        let seats: Vec<(Arc<str>, Arc<str>)> = context.answers.seats.iter().filter_map(played).collect();
        if seats.is_empty() {
            return Ok(None);
        }
        let acts = self.free_acts(context);
        for (seat, policy) in seats {
            let open: Vec<&str> =
                acts.iter().filter(|act| act.seat == seat && act.enabled).map(|act| &*act.name).collect();
            if open.is_empty() {
                continue;
            }
            let found = self.reading(context, |vm, context| {
                vm.first_of(
                    context,
                    |trusted| &trusted.policy_act,
                    |lua, _| (&*policy, &*seat, lua.create_sequence_from(open.iter().copied())?).into_lua_multi(lua),
                )
            })?;
            let Some(name) = text_in(&found) else { continue };
            if !open.contains(&name.as_str()) {
                return Err(Fault::new(format!("the policy {policy} takes the free act `{name}`, which is not open")));
            }
            return Ok(Some(PolicyAct { seat, name: Arc::from(name) }));
        }
        Ok(None)
    }

    fn renew_keys(&mut self, context: &mut ActionContext) -> Result<(), Fault> {
        let is_computed = |what: &str| self.declarations.entries.iter().any(|known| known.key && *known.name == *what);
        let agenda = context.state.agenda().entries();
        let computed: Vec<Entry> = agenda.filter(|entry| is_computed(&entry.what)).cloned().collect();
        if computed.is_empty() {
            return Ok(());
        }
        let work = CallBudget::ACTION.work - KEY_COST * computed.len() as i64;
        let keys: Vec<Key> = self.reading(context, |vm, context| {
            let found = vm.in_one_budget(CallBudget { work, ..CallBudget::ACTION }, |vm| {
                vm.first_of(
                    context,
                    |trusted| &trusted.keys,
                    |lua, handles| entry_tables(lua, &computed, handles)?.into_lua_multi(lua),
                )
            })?;
            let Lv::Table(keys) = found else { return Ok(Vec::new()) };
            let of = |(at, entry): (usize, &Entry)| {
                let key = keys.raw_get(at + 1).and_then(|key: Lv| read_absolute_key(context, &key));
                let key = key.map_err(|error| fault_of(&error, None, None, &vm.stack));
                key.map_err(|fault| vm.at_function(fault, &entry.what, "key"))
            };
            computed.iter().enumerate().map(of).collect()
        })?;
        for (entry, key) in computed.iter().zip(keys).filter(|(entry, key)| entry.key != *key) {
            context.state.rekey(entry.id, entry.key, key);
        }
        Ok(())
    }

    fn settle_tie(&mut self, context: &mut ActionContext, first: EntryId) -> Result<EntryId, Fault> {
        let Some(entry) = context.state.agenda().get(first).cloned() else { return Ok(first) };
        if !context.rules.settles_ties_of(&entry.what) {
            return Ok(first);
        }
        let tied: Vec<Entry> = context.state.agenda().tied_with(&entry).cloned().collect();
        if tied.len() < 2 {
            return Ok(first);
        }
        // The function gets their keys.
        context.observers.sees_time = true;
        let found = self.first_of(
            context,
            |trusted| &trusted.tie,
            |lua, handles| entry_tables(lua, &tied, handles)?.into_lua_multi(lua),
        )?;
        if context.stop.is_some() {
            return Ok(first);
        }
        let place = whole_of(&found).and_then(|place| usize::try_from(place).ok());
        match place.and_then(|place| tied.get(place.wrapping_sub(1))) {
            Some(entry) => Ok(entry.id),
            None => {
                let mut fault = Fault::new(format!("`tie` of {} must return a place, 1 to {}", entry.what, tied.len()));
                fault.cure = Some("return which of the entries that it is given goes first, such as 1".into());
                Err(self.at_function(fault, &entry.what, "tie"))
            }
        }
    }

    fn creation(&mut self, context: &mut ActionContext, part: CreationPart, argument: &Value) -> Result<Value, Fault> {
        if !self.declarations.creation.contains(&part) {
            return Err(Fault::new(format!("creation.luau of this ruleset has no `{}`", part.name())));
        }
        self.reading(context, |vm, context| {
            let (lua, host) = (vm.lua.clone(), vm.host.clone());
            let found = vm.run(context, |trusted| {
                let argument = to_lua(&lua, argument, &host.handles.borrow())?;
                Ok((trusted.creation.clone(), (part.name(), argument).into_lua_multi(&lua)?))
            })?;
            let mut found = found.into_iter();
            let found = match part {
                // Join the kind and the fields.
                CreationPart::Build => {
                    let both = lua.create_sequence_from(found);
                    Lv::Table(both.map_err(|error| fault_of(&error, None, None, &vm.stack))?)
                }
                _ => found.next().unwrap_or(Lv::Nil),
            };
            vm.data(&found)
        })
    }

    fn convert(&mut self, context: &mut ActionContext, former: &Former) -> Result<(), Fault> {
        self.run_conversion(context, former)
    }
}

fn text_in(found: &Lv) -> Option<String> {
    found.as_string().map(|text| text.to_string_lossy().to_string())
}

impl Vm {
    /// Runs the conversion script of a ruleset over a state that was already carried over by name.
    ///
    /// # Errors
    ///
    /// The fault of the script.
    pub(super) fn run_conversion(&mut self, context: &mut ActionContext, former: &Former) -> Result<(), Fault> {
        context.phase = Phase::Conversion;
        let (lua, host) = (self.lua.clone(), self.host.clone());
        self.run(context, |trusted| {
            let old = former_table(former, &lua, &host.handles.borrow())?;
            Ok((trusted.convert.clone(), (former.ruleset.as_str(), old).into_lua_multi(&lua)?))
        })?;
        Ok(())
    }
}
