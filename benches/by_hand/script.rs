//! The fight in hand-written Luau, in a separate machine without sandbox, budgets and interrupts.

use std::cell::RefCell;
use std::rc::Rc;

use mlua::chunk::Compiler;
use mlua::{Function, Lua, LuaString, Table};
use riskbreaker::dice::DiceRng;

use super::{Ending, PEOPLE, Standing, dice};

/// The levels of optimization at which the file is compiled to bytecode.
pub const LEVELS: [u8; 2] = [1, 2];

/// A machine that has loaded `fight.luau`.
pub struct Machine {
    /// The machine lives as long as this handle.
    _lua: Lua,
    fight: Function,
    everyone: Table,
    chance: Rc<RefCell<DiceRng>>,
}

impl Machine {
    pub fn new(level: u8) -> mlua::Result<Machine> {
        let lua = Lua::new();
        let chance = Rc::new(RefCell::new(dice(0)));
        let source = chance.clone();
        let die = lua.create_function(move |_, sides: u32| Ok(source.borrow_mut().face(sides)))?;
        let compiler = Compiler::new().set_optimization_level(level).set_debug_level(1);
        let file = lua.load(include_str!("fight.luau")).set_name("=fight.luau").set_compiler(compiler);
        let (fight, everyone) = file.call(die)?;
        Ok(Machine { _lua: lua, fight, everyone, chance })
    }

    /// Plays a fight with these dice. Returns its outcome, rounds, turns and the Advantage of the Heroes.
    pub fn fight(&self, chance: DiceRng) -> mlua::Result<(LuaString, u32, u32, i32)> {
        *self.chance.borrow_mut() = chance;
        self.fight.call(())
    }

    /// Like [`Machine::fight`], with the condition of all people.
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
