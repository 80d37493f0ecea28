use std::rc::Rc;
use std::sync::Arc;

use mlua::{Function, Lua, Result, Table};

use super::compile::{self, compile_file};
use super::host::state::{FailedRequire, HostState, RequireFailure};
use super::trusted::Trusted;
use super::{host, sandbox};
use riskbreaker_ruleset::{Stack, instead};

/// The prelude and its functions.
pub(super) struct Prelude {
    pub trusted: Trusted,
    pub install: Function,
    pub class: Function,
    pub wrap: Function,
    pub requirer: Function,
    pub run_file: Function,
}

impl Prelude {
    pub fn start(lua: &Lua, host: &Rc<HostState>, stack: &Arc<Stack>, allowed: &Table) -> Result<Prelude> {
        let functions = host::functions(lua, host)?;
        let own = stack.clone();
        // Finds and compiles the file of a `require`: returns its key, and the function that makes the module.
        functions
            .raw_set("find", lua.create_function(move |_, (part, name): (usize, String)| find(&own, part, &name))?)?;
        let environments = lua.create_table()?;
        let own = stack.clone();
        let compiled_in = environments.clone();
        let compiled = host.clone();
        functions.raw_set(
            "compile",
            lua.create_function(move |lua, (part, path): (usize, String)| {
                let measured = own.is_measured();
                let environment: Table = compiled_in.raw_get(part + 1)?;
                let text = own.text_of(&path).unwrap_or_default();
                let (function, assigners) = compile_file(lua, &path, text, &environment, measured)?;
                if !assigners.is_empty() {
                    compiled.assigners.borrow_mut().insert(path.clone(), assigners);
                }
                if measured {
                    compiled.measured.borrow_mut().push((path, function.clone()));
                }
                Ok(function)
            })?,
        )?;
        let loaded = host.clone();
        functions.raw_set(
            "left",
            lua.create_function(move |_, function: Function| {
                loaded.note_keeper(&function);
                Ok(())
            })?,
        )?;
        let loaded = host.clone();
        // Notes why a file cannot be required, and returns the message.
        functions.raw_set(
            "cannot_require",
            lua.create_function(move |_, (path, is_circle): (String, bool)| {
                let (message, failure) = if is_circle {
                    let message = format!("files require each other in a circle, through {path}");
                    (message, RequireFailure::Circle(path))
                } else {
                    (format!("{path} could not be read, and is required here"), RequireFailure::Reported)
                };
                loaded.failed_require.replace(Some(FailedRequire { message: message.clone(), failure }));
                Ok(message)
            })?,
        )?;
        functions.raw_set("environments", environments)?;
        functions.raw_set("catch", sandbox::catch(lua)?)?;
        let prelude = lua.load(compile::prelude()).set_name("=host");
        let prelude = prelude.set_mode(mlua::chunk::ChunkMode::Binary).into_function()?;
        let (_, trusted): (Table, Table) = prelude.call((functions, allowed))?;
        let get = |name: &str| trusted.raw_get::<Function>(name);
        Ok(Prelude {
            install: get("install")?,
            class: get("class")?,
            wrap: get("wrap")?,
            requirer: get("requirer")?,
            run_file: get("run_file")?,
            trusted: Trusted::of(&trusted)?,
        })
    }
}

/// The file that `require` names in a part of the stack: its key, its part and its path.
fn find(stack: &Stack, part: usize, name: &str) -> Result<(String, usize, String)> {
    let (found, path) = match name.strip_prefix("@parent/") {
        Some(path) => (stack.file_below(part, path), path),
        None => (stack.file(name), name),
    };
    let is_proper = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_' || b == b'/';
    if path.is_empty() || !path.bytes().all(is_proper) {
        let rule = "a name is a path from the ruleset's folder, in a-z, 0-9, _ and /";
        return Err(mlua::Error::runtime(format!("`{name}` cannot be required: {rule}")));
    }
    let Some((part, source)) = found else {
        let known = stack.scripts().map(|(_, path, _)| path.trim_end_matches(".luau").trim_end_matches(".lua"));
        return Err(mlua::Error::runtime(format!(
            "there is no file `{path}` in the ruleset; {}",
            instead(path, known)
        )));
    };
    Ok((format!("{}:{path}", part.index), part.index, source.path.clone()))
}
