//! A cache of compiled scripts by text: a file is compiled once in a program, for all machines and loads of its
//! ruleset.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock, Mutex, OnceLock, PoisonError};
use std::thread;

use mlua::chunk::{ChunkMode, Compiler};
use mlua::{Error, Function, Lua, Result, Table};

use super::budget::uncharged;
use super::memory::limited;
use super::stretches::{self, Unsound};
use super::upvalues::{Assigner, assigners};
use super::{bytecode, nesting};
use riskbreaker_ruleset::Stack;

/// A compiled script.
struct Compiled {
    code: Vec<u8>,
    /// Its functions that assign to captured variables.
    assigners: Vec<Assigner>,
}

/// The compiler for scripts of rulesets. Replaced and removed builtins must be named, since the engine would otherwise
/// call the originals without looking them up.
pub(super) fn compiler() -> Compiler {
    Compiler::new().set_optimization_level(1).set_debug_level(1).set_disabled_builtins([
        "tostring",
        "rawget",
        "table.unpack",
        "tonumber",
        "string.format",
        "select",
        "setmetatable",
        "getmetatable",
        "rawset",
        "math.acos",
        "math.asin",
        "math.atan",
        "math.atan2",
        "math.cos",
        "math.cosh",
        "math.deg",
        "math.exp",
        "math.frexp",
        "math.ldexp",
        "math.lerp",
        "math.log",
        "math.log10",
        "math.pow",
        "math.rad",
        "math.sin",
        "math.sinh",
        "math.sqrt",
        "math.tan",
        "math.tanh",
        "vector",
        "vector.create",
        "buffer.readi8",
    ])
}

/// Compiles a file of a ruleset to a function. Also returns the functions in it that assign to captured variables.
pub(super) fn compile_file(
    lua: &Lua,
    path: &str,
    text: &str,
    environment: &Table,
    measured: bool,
) -> Result<(Function, Vec<Assigner>)> {
    // Loading a file allocates its instructions and constants, which are not values of a script. The time depends on
    // its size, which is limited when files are read.
    let read = || {
        let compiler = if measured { compiler().set_coverage_level(2) } else { compiler() };
        let compiled = if measured { Compiled::of(&compiler, text).map(|own| own.map(Arc::new)) } else { kept(text) };
        let refused = |why: Unsound| Error::RuntimeError(format!("{path}:{}: {}", why.line, why.message));
        let name = format!("={path}");
        let Some(compiled) = compiled.map_err(refused)? else {
            // The engine reports the error.
            let chunk = lua.load(text).set_name(name).set_mode(ChunkMode::Text).set_compiler(compiler);
            return Ok((chunk.set_environment(environment.clone()).into_function()?, Vec::new()));
        };
        let chunk = lua.load(compiled.code.as_slice()).set_name(name).set_mode(ChunkMode::Binary);
        Ok((chunk.set_environment(environment.clone()).into_function()?, compiled.assigners.clone()))
    };
    uncharged(|| limited(false, read))
}

/// Compiles a text to a function with an environment.
pub(super) fn compile(lua: &Lua, path: &str, text: &str, environment: &Table) -> Result<Function> {
    compile_file(lua, path, text, environment, false).map(|(function, _)| function)
}

/// The assignments of a file's functions to captured variables, with the names of the variables.
pub(super) fn named_assigners(text: &str) -> Vec<Assigner> {
    let named = Compiled::of(&compiler().set_debug_level(2), text);
    named.ok().flatten().map(|compiled| compiled.assigners).unwrap_or_default()
}

/// The prelude: one chunk, in parts that share their local variables; each part sees those above it.
pub(super) const PRELUDE_TEXT: &str = concat!(
    include_str!("prelude/start.luau"),
    include_str!("prelude/declarations.luau"),
    include_str!("prelude/sums.luau"),
    include_str!("prelude/entities.luau"),
    include_str!("prelude/arguments.luau"),
    include_str!("prelude/hooks.luau"),
    include_str!("prelude/relations.luau"),
    include_str!("prelude/ends.luau"),
    include_str!("prelude/reading.luau"),
    include_str!("prelude/cards.luau"),
    include_str!("prelude/answers.luau"),
    include_str!("prelude/question_check.luau"),
    include_str!("prelude/questions.luau"),
    include_str!("prelude/dice.luau"),
    include_str!("prelude/decks.luau"),
    include_str!("prelude/again.luau"),
    include_str!("prelude/places.luau"),
    include_str!("prelude/agenda.luau"),
    include_str!("prelude/log.luau"),
    include_str!("prelude/files.luau"),
    include_str!("prelude/host_calls.luau"),
);

static PRELUDE: OnceLock<Vec<u8>> = OnceLock::new();

/// The compiled prelude. Its local functions are inlined, so none of them uses levels of calls in an error.
pub(super) fn prelude() -> &'static [u8] {
    PRELUDE.get_or_init(|| Compiler::new().set_optimization_level(2).compile(PRELUDE_TEXT).unwrap_or_default())
}

/// Compiles the prelude on another thread, while the files of a ruleset are read.
pub(super) fn prelude_ahead() {
    if PRELUDE.get().is_none() {
        apart(|| {
            prelude();
        });
    }
}

/// Compiles the scripts of a stack on another thread, the last one first, while a machine begins with the first.
pub(super) fn ahead(stack: &Arc<Stack>) {
    let texts = stack.scripts().filter(|(_, path, _)| !path.starts_with("specs/")).map(|(_, _, source)| &source.text);
    let missing: Vec<Arc<str>> = texts.filter(|text| !CompiledCache::lock(|kept| kept.has(text))).cloned().collect();
    if missing.len() < WORTH_A_THREAD {
        return;
    }
    apart(move || {
        for text in missing.iter().rev() {
            // The machine has reached this script from the other end.
            if CompiledCache::lock(|kept| kept.has(text)) {
                return;
            }
            let _ = kept(text);
        }
    });
}

/// The number of scripts that take longer to compile than a thread takes to start.
const WORTH_A_THREAD: usize = 8;

/// Runs something on another thread if the processor has several. Failure to start it is ignored.
fn apart(work: impl FnOnce() + Send + 'static) {
    if thread::available_parallelism().is_ok_and(|threads| threads.get() > 1) {
        let _ = thread::Builder::new().name("compile".into()).stack_size(COMPILER_STACK).spawn(work);
    }
}

/// The stack of the compiler thread in bytes: the compiler follows nested blocks and expressions recursively.
const COMPILER_STACK: usize = 8 << 20;

impl Compiled {
    /// Compiles a text. `None` if it is no valid script.
    fn of(compiler: &Compiler, text: &str) -> std::result::Result<Option<Compiled>, Unsound> {
        nesting::check(text)?;
        let code = compiler.compile(text).ok().filter(|code| code.first().is_some_and(|version| *version != 0));
        let Some(code) = code else { return Ok(None) };
        let unknown = || Unsound { line: 1, message: "the compiled file has an unknown form".to_owned() };
        let inner = bytecode::functions(&code).ok_or_else(unknown)?;
        stretches::check(&inner)?;
        let assigners = assigners(&inner).ok_or_else(unknown)?;
        Ok(Some(Compiled { code, assigners }))
    }
}

/// Returns the compiled text, from the cache if possible.
fn kept(text: &str) -> std::result::Result<Option<Arc<Compiled>>, Unsound> {
    if let Some(known) = CompiledCache::lock(|kept| kept.get(text)) {
        return Ok(Some(known));
    }
    let Some(compiled) = Compiled::of(&compiler(), text)?.map(Arc::new) else { return Ok(None) };
    CompiledCache::lock(|kept| kept.put(text.into(), compiled.clone()));
    Ok(Some(compiled))
}

/// The cache in two generations: a script that was not requested during a whole generation is dropped.
#[derive(Default)]
struct CompiledCache {
    young: HashMap<Arc<str>, Arc<Compiled>>,
    old: HashMap<Arc<str>, Arc<Compiled>>,
    /// The size of texts and code in the young generation.
    bytes: usize,
}

impl CompiledCache {
    /// The size of a generation in bytes: more than all rulesets of this repository together.
    const MOST: usize = 8 << 20;

    fn lock<R>(use_it: impl FnOnce(&mut CompiledCache) -> R) -> R {
        static KEPT: LazyLock<Mutex<CompiledCache>> = LazyLock::new(Mutex::default);
        use_it(&mut KEPT.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn has(&self, text: &str) -> bool {
        self.young.contains_key(text) || self.old.contains_key(text)
    }

    fn get(&mut self, text: &str) -> Option<Arc<Compiled>> {
        if let Some(known) = self.young.get(text) {
            return Some(known.clone());
        }
        let (text, known) = self.old.remove_entry(text)?;
        self.put(text, known.clone());
        Some(known)
    }

    fn put(&mut self, text: Arc<str>, compiled: Arc<Compiled>) {
        let bytes = text.len() + compiled.code.len();
        if self.bytes + bytes > CompiledCache::MOST {
            self.old = std::mem::take(&mut self.young);
            self.bytes = 0;
        }
        self.bytes += bytes;
        self.young.insert(text, compiled);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn compiled(size: usize) -> Arc<Compiled> {
        Arc::new(Compiled { code: vec![0; size], assigners: Vec::new() })
    }

    #[test]
    fn compiled_files_in_use_stay_in_the_cache() {
        let mut kept = CompiledCache::default();
        let half = CompiledCache::MOST / 2;
        kept.put("asked".into(), compiled(half - 9));
        kept.put("left".into(), compiled(half - 9));
        kept.put("next".into(), compiled(9));
        assert!(kept.has("asked") && kept.has("left") && kept.has("next"));
        assert!(kept.get("asked").is_some());
        kept.put("more".into(), compiled(half));
        assert!(kept.has("asked") && kept.has("more") && !kept.has("left"));
        assert!(kept.bytes <= CompiledCache::MOST);
    }

    #[test]
    fn a_text_is_compiled_once_and_one_that_is_no_script_never() {
        let text = "return 1 -- a_text_is_compiled_once";
        let first = kept(text).ok().flatten().unwrap();
        assert!(Arc::ptr_eq(&first, &kept(text).ok().flatten().unwrap()));
        assert!(kept("return (").is_ok_and(|none| none.is_none()) && !CompiledCache::lock(|kept| kept.has("return (")));
    }
}
