use std::cell::{Cell, RefCell};
use std::rc::Rc;

use mlua::{Function, Lua, MultiValue, Table as LuaTable, Value as Lv};

use super::budget::{CallBudget, guarded};
use super::compile::compile;
use super::conversion;
use super::fault::fault_of_program;
use super::game_handle::GameHandle;
use super::sandbox::{self};
use riskbreaker_play::{Fault, QuestionId, Refusal, Session};
use riskbreaker_ruleset::Library;
use riskbreaker_state::Value;

/// A script machine for programs that drive games: lines typed at the prompt, `run`, specs.
///
/// It is separate from the machines of rules. A program affects a game only by answers and edits. It must be used on a
/// thread with a stack of at least 8 MiB.
pub struct Table {
    lua: Lua,
    environment: LuaTable,
    shared: Rc<SharedTable>,
    dead: bool,
}

/// Computes the odds of answers to an open question, as plain data: answers by topic, and the limit of the look-ahead.
pub type LookAhead = fn(&mut Session, Vec<(String, Value)>, Option<&str>) -> Result<Value, Refusal>;

/// Ranks the answers to an open question, as JSON.
pub type Advise = fn(&mut Session, QuestionId) -> Result<serde_json::Value, Refusal>;

/// The data shared by the program's functions and the host.
pub(super) struct SharedTable {
    pub library: Library,
    /// The function behind `game:odds`.
    pub look_ahead: Cell<Option<LookAhead>>,
    /// The function behind `game:hint`.
    pub advise: Cell<Option<Advise>>,
    /// The game behind `game`.
    pub game: RefCell<Option<Session>>,
    pub printed: RefCell<Vec<String>>,
}

/// The result of a piece of program.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Evaluated {
    /// The printed lines.
    pub printed: Vec<String>,
    /// The value of an expression, as text.
    pub value: Option<String>,
    /// True if the text ends within a statement, so that more lines are needed.
    pub incomplete: bool,
}

const MAX_PRINTED: usize = 10_000;
/// The most characters of a printed line.
const LONGEST_LINE: usize = 2_000;

impl Table {
    /// Creates a table without a game.
    pub fn new(library: &Library) -> Result<Table, Fault> {
        let shared = Rc::new(SharedTable {
            library: library.clone(),
            look_ahead: Cell::new(None),
            advise: Cell::new(None),
            game: RefCell::new(None),
            printed: RefCell::new(Vec::new()),
        });
        let made = (|| {
            let (lua, allowed) = sandbox::machine()?;
            sandbox::close(&lua, &allowed)?;
            let environment = sandbox::copy(&lua, &allowed)?;
            let own = shared.clone();
            let print = lua.create_function(move |_, values: MultiValue| {
                let mut line: String = values.iter().map(in_words).collect::<Vec<_>>().join("  ");
                if let Some((end, _)) = line.char_indices().nth(LONGEST_LINE) {
                    line.truncate(end);
                    line.push_str("...");
                }
                let mut printed = own.printed.borrow_mut();
                if printed.len() >= MAX_PRINTED {
                    return Err(mlua::Error::RuntimeError(format!(
                        "at most {MAX_PRINTED} lines are printed at a time"
                    )));
                }
                printed.push(line);
                Ok(())
            })?;
            environment.raw_set("print", print)?;
            environment.raw_set("game", GameHandle::attached(&shared))?;
            let own = shared.clone();
            let start = lua.create_function(move |_, options: Option<LuaTable>| GameHandle::start(&own, options))?;
            environment.raw_set("start", start)?;
            let roll = lua.create_function(|_, (dice, seed): (String, u64)| {
                let parsed =
                    riskbreaker_dice::Dice::parse(&dice).map_err(|e| mlua::Error::RuntimeError(e.to_string()))?;
                let mut chance = riskbreaker_dice::DiceRng::new(seed);
                let roll = parsed.roll_with(&mut |sides| Some(chance.face(sides)));
                Ok(roll.map(|roll| roll.total()))
            })?;
            environment.raw_set("roll", roll)?;
            Ok((lua, environment))
        })();
        let (lua, environment) = made.map_err(|error: mlua::Error| Fault::new(error.to_string()))?;
        Ok(Table { lua, environment, shared, dead: false })
    }

    /// Makes `game:odds` available to programs.
    pub fn look_ahead_by(&mut self, look_ahead: LookAhead) {
        self.shared.look_ahead.set(Some(look_ahead));
    }

    /// Makes `game:hint` available to programs.
    pub fn advise_by(&mut self, advise: Advise) {
        self.shared.advise.set(Some(advise));
    }

    /// Attaches a game, as `game` in scripts.
    pub fn attach(&mut self, session: Session) {
        *self.shared.game.borrow_mut() = Some(session);
    }

    /// Detaches the game and returns it.
    pub fn detach(&mut self) -> Option<Session> {
        self.shared.game.borrow_mut().take()
    }

    /// Runs a piece of program: evaluates an expression, or runs statements. Globals stay for the next piece.
    ///
    /// # Errors
    ///
    /// The fault, with its line. Lines printed before it stay available: [`Table::take_printed`].
    pub fn eval(&mut self, text: &str, name: &str) -> Result<Evaluated, Fault> {
        if self.dead {
            let (former, game) = (self.shared.clone(), self.detach());
            *self = Table::new(&former.library)?;
            self.shared.look_ahead.set(former.look_ahead.get());
            self.shared.advise.set(former.advise.get());
            if let Some(game) = game {
                self.attach(game);
            }
        }
        self.shared.printed.borrow_mut().clear();
        let (compiled, _) = guarded(&self.lua, CallBudget::PROGRAM, || {
            let expression = compile(&self.lua, name, &format!("return {text}"), &self.environment);
            expression.or_else(|_| compile(&self.lua, name, text, &self.environment))
        });
        let function: Function = match compiled {
            Ok(function) => function,
            Err(mlua::Error::SyntaxError { incomplete_input: true, .. }) => {
                return Ok(Evaluated { incomplete: true, ..Evaluated::default() });
            }
            Err(error) => return Err(fault_of_program(&error, None, name, text)),
        };
        let (result, spent) = guarded(&self.lua, CallBudget::PROGRAM, || function.call::<MultiValue>(()));
        if let Some(what) = spent {
            self.dead = true;
            let error = result.err().unwrap_or(mlua::Error::StackError);
            return Err(fault_of_program(&error, Some(what), name, text));
        }
        let values = result.map_err(|error| fault_of_program(&error, None, name, text))?;
        let words: Vec<String> = values.iter().map(in_words).collect();
        Ok(Evaluated {
            printed: self.take_printed(),
            value: (!words.is_empty()).then(|| words.join("  ")),
            incomplete: false,
        })
    }

    /// Takes the printed lines.
    pub fn take_printed(&mut self) -> Vec<String> {
        self.shared.printed.take()
    }
}

/// Formats a program's value.
pub(super) fn in_words(value: &Lv) -> String {
    match value {
        Lv::Nil => "nil".into(),
        Lv::String(text) => {
            text.to_string_lossy().chars().map(|c| if c.is_control() && c != '\n' { ' ' } else { c }).collect()
        }
        Lv::Table(_) => match conversion::plain_from(value) {
            Ok(value) => format!("{{{value}}}"),
            Err(_) => "table".into(),
        },
        Lv::UserData(_) => "game".into(),
        Lv::Boolean(yes) => yes.to_string(),
        Lv::Integer(n) => n.to_string(),
        Lv::Number(n) => n.to_string(),
        other => other.type_name().into(),
    }
}
