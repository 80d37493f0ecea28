//! The fight by hand in Luau, in a machine of its own: without sandbox, budgets and interrupts.

use std::cell::RefCell;
use std::fmt;
use std::rc::Rc;

use mlua::chunk::Compiler;
use mlua::{Function, Lua, LuaString, Table};
use riskbreaker::dice::DiceRng;

use super::{Ending, PEOPLE, Standing, dice};

/// How the file is compiled.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Compiled {
    /// To bytecode, at this level of optimization.
    Bytecode(u8),
    /// To machine code, at level 2.
    Native,
}

impl Compiled {
    pub const ALL: [Compiled; 3] = [Compiled::Bytecode(1), Compiled::Bytecode(2), Compiled::Native];
}

impl fmt::Display for Compiled {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Compiled::Bytecode(level) => write!(f, "bytecode at level {level}"),
            Compiled::Native => write!(f, "native"),
        }
    }
}

/// A machine with `fight.luau` in it.
pub struct Machine {
    /// The machine lives as long as this handle.
    _lua: Lua,
    fight: Function,
    everyone: Table,
    chance: Rc<RefCell<DiceRng>>,
}

impl Machine {
    pub fn new(compiled: Compiled) -> mlua::Result<Machine> {
        let lua = Lua::new();
        lua.enable_jit(compiled == Compiled::Native);
        let level = match compiled {
            Compiled::Bytecode(level) => level,
            Compiled::Native => 2,
        };
        let chance = Rc::new(RefCell::new(dice(0)));
        let source = chance.clone();
        let die = lua.create_function(move |_, sides: u32| Ok(source.borrow_mut().face(sides)))?;
        let compiler = Compiler::new().set_optimization_level(level).set_debug_level(1);
        let file = lua.load(include_str!("fight.luau")).set_name("=fight.luau").set_compiler(compiler);
        let (fight, everyone) = file.call(die)?;
        Ok(Machine { _lua: lua, fight, everyone, chance })
    }

    /// Plays a fight with these dice; gives outcome, rounds, turns and the Advantage of the Heroes.
    pub fn fight(&self, chance: DiceRng) -> mlua::Result<(LuaString, u32, u32, i32)> {
        *self.chance.borrow_mut() = chance;
        self.fight.call(())
    }

    /// The same, with what became of everyone.
    pub fn ending(&self, chance: DiceRng) -> mlua::Result<Ending> {
        let (outcome, rounds, turns, advantage) = self.fight(chance)?;
        let mut people = [Standing::default(); PEOPLE];
        for (at, person) in people.iter_mut().enumerate() {
            let found: Table = self.everyone.get(at + 1)?;
            *person = Standing {
                kill_damage: found.get("kill_damage")?,
                counters: found.get("counters")?,
                out: found.get("out")?,
            };
        }
        Ok(Ending { outcome: outcome.to_str()?.to_owned().into(), rounds, turns, advantage, people })
    }
}
