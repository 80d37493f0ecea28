//! Finds the source of an answer and checks answers, as plain C functions of the engine.

use std::os::raw::c_int;
use std::sync::Arc;

use mlua::{ffi, lua_State};

use super::super::field_names::{Name, push_field};
use super::raw::{pop, raise, text, type_name, whole};
use super::refusal::{NO_GAME, message_of, not_about};
use super::state::{HostState, lent};
use riskbreaker_play::{ActionContext, Answerer, AskKind, By, Limits, Misfit, Options, Places, Shape, Stop};

/// The codes for the source of an answer, as known to the prelude.
const READER: ffi::lua_Integer = 0;
const POLICY: ffi::lua_Integer = 1;
const DEFAULT: ffi::lua_Integer = 2;
const KNOWN: ffi::lua_Integer = 3;
const TAPE: ffi::lua_Integer = 4;

/// `ask(kind, question, seat, subject, topic)`: returns the source of the answer, with the id of the policy, or the
/// option that the tape names.
pub(super) unsafe extern "C-unwind" fn ask(state: *mut lua_State) -> c_int {
    // SAFETY: as in `write`.
    unsafe {
        let kind = kind_at(state, 1);
        let answerer = match (lent(state), text(state, 3)) {
            (None, _) => Err(NO_GAME.to_string()),
            (Some((host, context)), _) if !is_about(state, 4, host) => {
                Err(message_of(&not_about(context, type_name(state, 4))).to_string())
            }
            (Some((_, context)), None) => {
                Err(message_of(&context.fault("the `seat` of a question must be a text")).to_string())
            }
            (Some((host, context)), Some(seat)) => {
                host.before_policy.set(context.dice.position());
                let about = host.handles.borrow().id_at(ffi::lua_topointer(state, 4) as usize);
                let has_options = kind.is_some_and(AskKind::has_options);
                let asked = (text(state, 5).unwrap_or(""), about, has_options);
                context.answerer(seat, asked).map_err(|stop| message_of(&stop).to_string())
            }
        };
        let (who, id) = match answerer {
            Ok(Answerer::Reader) => (READER, None),
            Ok(Answerer::Default) => (DEFAULT, None),
            Ok(Answerer::Known) => (KNOWN, None),
            Ok(Answerer::Tape(option)) => (TAPE, option),
            Ok(Answerer::Policy(policy)) => (POLICY, Some(policy)),
            Err(message) => return raise(state, message),
        };
        ffi::lua_pushinteger(state, who);
        let Some(id) = id else { return 1 };
        ffi::lua_pushlstring(state, id.as_ptr().cast(), id.len());
        2
    }
}

/// The source of an answer by the prelude's code.
pub(super) fn by_of(number: i64) -> By {
    match number {
        1 => By::Policy,
        _ => By::Default,
    }
}

/// The options of a question as given by a script: a list of texts, handles and tables, or nothing yet.
struct ListedOptions<'a> {
    state: *mut lua_State,
    host: &'a HostState,
    /// The stack index of the list; 0 if only one option was evaluated.
    list: c_int,
    /// The option that was found to be open without the list.
    opened: Option<usize>,
}

impl ListedOptions<'_> {
    /// Calls `look` with the option on top of the stack, if it is a table.
    fn with<R>(&self, at: usize, look: impl FnOnce(*mut lua_State) -> R) -> Option<R> {
        if self.list == 0 {
            return None;
        }
        // SAFETY: the list is a table on the stack; pushed values are popped again.
        unsafe {
            ffi::lua_rawgeti(self.state, self.list, at as ffi::lua_Integer + 1);
            let own = ffi::lua_type(self.state, -1) == ffi::LUA_TTABLE && {
                let address = ffi::lua_topointer(self.state, -1) as usize;
                self.host.handles.borrow().id_at(address).is_none()
            };
            let found = own.then(|| look(self.state));
            pop(self.state, 1);
            found
        }
    }

    fn text_of(&self, at: usize, name: Name) -> Option<String> {
        self.with(at, |state| unsafe {
            push_field(state, -1, name);
            let found = text(state, -1).map(str::to_string);
            pop(state, 1);
            found
        })?
    }

    /// The label of an option, for messages.
    pub(super) fn label(&self, context: &ActionContext, at: usize) -> String {
        let own = self.text_of(at, Name::Label).or_else(|| self.text_of(at, Name::Id));
        own.unwrap_or_else(|| {
            if self.list == 0 {
                return format!("option {}", at + 1);
            }
            // SAFETY: as in `with`.
            unsafe {
                ffi::lua_rawgeti(self.state, self.list, at as ffi::lua_Integer + 1);
                let address = ffi::lua_topointer(self.state, -1) as usize;
                let entity = self.host.handles.borrow().id_at(address);
                let label = match (text(self.state, -1), entity) {
                    (Some(text), _) => text.to_string(),
                    (None, Some(id)) => context.title(id).to_string(),
                    (None, None) => format!("option {}", at + 1),
                };
                pop(self.state, 1);
                label
            }
        })
    }
}

impl Options for ListedOptions<'_> {
    fn is_open(&self, at: usize) -> bool {
        if self.list == 0 {
            return self.opened == Some(at);
        }
        self.with(at, |state| unsafe {
            push_field(state, -1, Name::Enabled);
            let greyed = ffi::lua_type(state, -1) == ffi::LUA_TBOOLEAN && ffi::lua_toboolean(state, -1) == 0;
            pop(state, 1);
            !greyed
        })
        .unwrap_or(true)
    }

    fn most(&self, at: usize) -> Option<i64> {
        self.with(at, |state| unsafe { whole_field(state, -1, Name::Max) })?
    }
}

/// Reads an answer from the prelude. `None` if it is none. `count`: the number of options; `numbers`: storage for the
/// numbers of a list.
unsafe fn given<'a>(
    state: *mut lua_State,
    at: c_int,
    kind: AskKind,
    count: usize,
    numbers: &'a mut (Vec<i64>, Vec<usize>),
) -> Option<Places<'a>> {
    let place = |n: i64| usize::try_from(n - 1).ok();
    unsafe {
        Some(match (kind, ffi::lua_type(state, at)) {
            (_, ffi::LUA_TBOOLEAN) => Places::Yes(ffi::lua_toboolean(state, at) != 0),
            (_, ffi::LUA_TSTRING) => Places::Text(text(state, at)?),
            (AskKind::Choose, ffi::LUA_TNUMBER) => Places::One(place(whole(state, at)?)?),
            (_, ffi::LUA_TNUMBER) => Places::Number(whole(state, at)?),
            (_, ffi::LUA_TTABLE) => {
                // One more than the number of options fits no question.
                for place in 1..=ffi::lua_objlen(state, at).min(count + 1) {
                    ffi::lua_rawgeti(state, at, place as ffi::lua_Integer);
                    let n = whole(state, -1);
                    pop(state, 1);
                    numbers.0.push(n?);
                }
                if kind == AskKind::Allot {
                    return Some(Places::Points(&numbers.0));
                }
                numbers.1 = numbers.0.iter().map(|n| place(*n)).collect::<Option<_>>()?;
                Places::Many(&numbers.1)
            }
            _ => return None,
        })
    }
}

/// `answered(kind, question, answer as indices, source, whether the chosen option is known to be open, and of the
/// question: options, cards, min, max, total, least, other)`: checks the answer. Returns true if its text is needed, or
/// else the index of a closed option that it names.
pub(super) unsafe extern "C-unwind" fn answered(state: *mut lua_State) -> c_int {
    // SAFETY: as in `write`.
    unsafe {
        match check_answer(state) {
            Ok(CheckedAnswer::Fits { words }) => {
                ffi::lua_pushboolean(state, c_int::from(words));
                1
            }
            Ok(CheckedAnswer::Closed(at)) => {
                ffi::lua_pushboolean(state, 0);
                ffi::lua_pushinteger(state, at as ffi::lua_Integer + 1);
                2
            }
            Err(message) => raise(state, message),
        }
    }
}

/// The result of checking an answer.
enum CheckedAnswer {
    Fits {
        words: bool,
    },
    /// The option at this index cannot be chosen now.
    Closed(usize),
}

/// The fault of an invalid answer of a policy, or of an invalid default.
pub(super) fn misfit(context: &mut ActionContext, (topic, seat): (&str, &str), by: i64, refusal: &str) -> Stop {
    match by_of(by) {
        By::Policy => {
            let answer = context.words_of_answer(topic, seat, true);
            context.fault(format!("{answer} is refused: {refusal}"))
        }
        _ => context.fault_with(
            format!("the default of the question `{topic}` does not fit: {refusal}"),
            Some("name an option that is always open, or take `default` out".to_string()),
        ),
    }
}

/// The code for an automatic answer: only one was possible.
pub(super) const BY_ONLY: i64 = 3;

/// True if a question may be about the value: nil, or an existing entity.
unsafe fn is_about(state: *mut lua_State, at: c_int, host: &HostState) -> bool {
    unsafe {
        match ffi::lua_type(state, at) {
            ffi::LUA_TNIL | ffi::LUA_TNONE => true,
            ffi::LUA_TTABLE => host.handles.borrow().id_at(ffi::lua_topointer(state, at) as usize).is_some(),
            _ => false,
        }
    }
}

/// True if an option is the handle of a removed entity.
unsafe fn is_gone(state: *mut lua_State, list: c_int, at: usize, host: &HostState) -> bool {
    unsafe {
        ffi::lua_rawgeti(state, list, at as ffi::lua_Integer);
        let address = ffi::lua_topointer(state, -1) as usize;
        let handle = ffi::lua_type(state, -1) == ffi::LUA_TTABLE && ffi::lua_getmetatable(state, -1) != 0;
        pop(state, if handle { 2 } else { 1 });
        handle && host.handles.borrow().id_at(address).is_none()
    }
}

/// `gone_among(list)`: returns the index of the first handle of a removed entity, or nothing.
pub(super) unsafe extern "C-unwind" fn gone_among(state: *mut lua_State) -> c_int {
    // SAFETY: as in `write`; the prelude gives a table.
    unsafe {
        let Some((host, _)) = lent(state) else { return 0 };
        if !host.handles.borrow().has_tombstones() {
            return 0;
        }
        let Some(at) = (1..=ffi::lua_objlen(state, 1)).find(|at| is_gone(state, 1, *at, host)) else { return 0 };
        ffi::lua_pushinteger(state, at as ffi::lua_Integer);
        1
    }
}

/// The kind of a question by the prelude's code.
unsafe fn kind_at(state: *mut lua_State, at: c_int) -> Option<AskKind> {
    // SAFETY: the caller gives a stack index.
    let number = unsafe { whole(state, at) }?;
    AskKind::ALL.get(usize::try_from(number - 1).ok()?).copied()
}

unsafe fn check_answer(state: *mut lua_State) -> std::result::Result<CheckedAnswer, String> {
    let Some((host, context)) = lent(state) else { return Err(NO_GAME.into()) };
    let words = |stop: Stop| message_of(&stop).to_string();
    unsafe {
        context.may_leave_open("asking").map_err(words)?;
        let Some(kind) = kind_at(state, 1) else {
            return Err(words(context.fault("there is no such kind of question")));
        };
        ffi::lua_settop(state, 12);
        let is_list = |at| ffi::lua_type(state, at) == ffi::LUA_TTABLE;
        let listed = is_list(6);
        let list = if listed { 6 } else { 7 };
        let count = if is_list(list) { ffi::lua_objlen(state, list) } else { 0 };
        let mut numbers = (Vec::new(), Vec::new());
        let given = given(state, 3, kind, count, &mut numbers);
        let opened = match (&given, ffi::lua_toboolean(state, 5)) {
            (Some(Places::One(at)), 1) => Some(*at),
            _ => None,
        };
        let options = ListedOptions { state, host, list: if listed { 6 } else { 0 }, opened };
        let [min, max, total, least] = [8, 9, 10, 11].map(|at| whole(state, at));
        let other = ffi::lua_type(state, 12) == ffi::LUA_TBOOLEAN && ffi::lua_toboolean(state, 12) != 0;
        let shape = match Shape::new(kind, count, Limits { min, max, total, least, other }) {
            Ok(shape) => shape,
            Err(lacking) => {
                let topic = text_field(state, 2, Name::Topic);
                let message = format!("the question `{topic}` needs `{lacking}`, a whole number");
                return Err(words(context.fault(message)));
            }
        };
        let checked = given.map_or(Err(Misfit::Kind), |given| shape.check(&options, given));
        let by = whole(state, 4).unwrap_or_default();
        if let Err(found) = checked {
            let topic = text_field(state, 2, Name::Topic);
            let refusal = match found {
                // The reason is added where the options are formatted.
                Misfit::NotOpen(at) if listed => return Ok(CheckedAnswer::Closed(at)),
                Misfit::Kind => format!("it is not {}", shape.returned()),
                _ => found.refusal(&shape, topic, |at| options.label(context, at), |_| None).to_string(),
            };
            let asked = (topic, text_field(state, 2, Name::Seat));
            return Err(words(misfit(context, asked, by, &refusal)));
        }
        if by == BY_ONLY {
            context.run.pulse += 1;
            push_field(state, 2, Name::About);
            if !is_about(state, -1, host) {
                return Err(words(not_about(context, type_name(state, -1))));
            }
            pop(state, 1);
            context.open_seat(text_field(state, 2, Name::Seat)).map_err(words)?;
        }
        if let (AskKind::Choose, Some(Places::One(at))) = (kind, given)
            && context.observers.wants_card()
            && let Some(card) = chosen_card(state, context, listed, at)
        {
            context.answered(Arc::from(text_field(state, 2, Name::Seat)), card);
        }
        Ok(CheckedAnswer::Fits { words: !context.is_headless() })
    }
}

/// The card of an option, if it is one.
unsafe fn chosen_card(state: *mut lua_State, context: &ActionContext, listed: bool, at: usize) -> Option<Arc<str>> {
    unsafe {
        ffi::lua_rawgeti(state, if listed { 6 } else { 7 }, at as ffi::lua_Integer + 1);
        if listed && ffi::lua_type(state, -1) == ffi::LUA_TTABLE {
            push_field(state, -1, Name::Id);
            ffi::lua_remove(state, -2);
        }
        let card = text(state, -1).and_then(|id| context.rules.card(id)).map(|card| Arc::from(&*card.id));
        pop(state, 1);
        card
    }
}

/// A text in a table, valid as long as the table contains it; empty if there is none.
unsafe fn text_field<'a>(state: *mut lua_State, table: c_int, name: Name) -> &'a str {
    unsafe {
        push_field(state, table, name);
        let found = text(state, -1).unwrap_or("");
        pop(state, 1);
        found
    }
}

unsafe fn whole_field(state: *mut lua_State, table: c_int, name: Name) -> Option<i64> {
    unsafe {
        push_field(state, table, name);
        let n = whole(state, -1);
        pop(state, 1);
        n
    }
}
