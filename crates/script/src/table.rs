use std::cell::{Cell, RefCell};
use std::rc::Rc;

use mlua::{Function, Lua, MultiValue, Table as LuaTable, Value as Lv};

use super::compile::compile;
use super::conversion;
use super::fault::fault_of_program;
use super::game_handle::GameHandle;
use super::sandbox::{self, CallBudget, guarded};
use riskbreaker_play::{Fault, QuestionId, Refusal, Session};
use riskbreaker_ruleset::Library;
use riskbreaker_state::Value;

/// A script machine for programs that drive games: what is typed at the prompt, `run`, specs.
///
/// It is apart from the machines that rules run in. What a program does reaches a game only as answers and edits.
/// It must be used on a thread with a stack of at least 8 MiB.
pub struct Table {
    lua: Lua,
    environment: LuaTable,
    shared: Rc<SharedTable>,
    dead: bool,
}

/// Computes the odds of answers to what is open in a game: the answers by topic, and how far they look ahead. The odds are plain
/// data.
pub type LookAhead = fn(&mut Session, Vec<(String, Value)>, Option<&str>) -> Result<Value, Refusal>;

/// Ranks the answers to an open question, as JSON.
pub type Advise = fn(&mut Session, QuestionId) -> Result<serde_json::Value, Refusal>;

/// What the program's functions share with the host.
pub(super) struct SharedTable {
    pub library: Library,
    /// What `game:odds` calls.
    pub look_ahead: Cell<Option<LookAhead>>,
    /// What `game:hint` calls.
    pub advise: Cell<Option<Advise>>,
    /// The game that `game` means.
    pub game: RefCell<Option<Session>>,
    pub printed: RefCell<Vec<String>>,
}

/// What came of a piece of program.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Evaluated {
    /// What it printed, line by line.
    pub printed: Vec<String>,
    /// The value of an expression, in words.
    pub value: Option<String>,
    /// The text ends in the middle of a statement: more lines are wanted.
    pub incomplete: bool,
}

const MAX_PRINTED: usize = 10_000;
/// Characters of a line that is printed, at the most.
const LONGEST_LINE: usize = 2_000;

impl Table {
    /// A table at which nothing is played yet.
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

    /// Lets programs ask for odds by `game:odds`.
    pub fn look_ahead_by(&mut self, look_ahead: LookAhead) {
        self.shared.look_ahead.set(Some(look_ahead));
    }

    /// Lets programs ask for hints by `game:hint`.
    pub fn advise_by(&mut self, advise: Advise) {
        self.shared.advise.set(Some(advise));
    }

    /// Gives the program a game: `game` in its scripts.
    pub fn attach(&mut self, session: Session) {
        *self.shared.game.borrow_mut() = Some(session);
    }

    /// Takes the game back.
    pub fn detach(&mut self) -> Option<Session> {
        self.shared.game.borrow_mut().take()
    }

    /// Runs a piece of program: an expression gives its value, statements run. What it sets without `local` is there for
    /// the next piece.
    ///
    /// # Errors
    ///
    /// What is wrong with it, with the line. What it printed before that is lost to nobody: [`Table::take_printed`].
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

    /// What has been printed and not been taken yet.
    pub fn take_printed(&mut self) -> Vec<String> {
        self.shared.printed.take()
    }
}

/// A value of a program in words.
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
