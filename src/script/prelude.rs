use std::rc::Rc;
use std::sync::Arc;

use mlua::{Function, Lua, Result, Table};

use super::compile::{self, compile_file};
use super::host::{self, HostState};
use super::sandbox;
use super::vm::Trusted;
use crate::ruleset::{Stack, instead};

/// The trusted script and its functions.
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
        // Finds and compiles what `require` names: its key, and the function that makes the module.
        functions.raw_set(
            "find",
            lua.create_function(move |lua, (part, name): (usize, String)| {
                let fault = |message: String| mlua::Error::RuntimeError(message);
                let (below, path) = match name.strip_prefix("@parent/") {
                    Some(path) => (Some(part), path),
                    None => (None, name.as_str()),
                };
                let proper = !path.is_empty()
                    && path.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_' || b == b'/');
                if !proper {
                    return Err(fault(format!(
                        "`{name}` cannot be required: a name is a path from the ruleset's folder, in a-z, 0-9, _ and /"
                    )));
                }
                let found = match below {
                    Some(part) => own.file_below(part, path),
                    None => own.file(path),
                };
                match found {
                    Some((part, source)) => Ok((format!("{}:{path}", part.index), part.index, source.path.clone())),
                    None => {
                        let names: Vec<String> = own
                            .scripts()
                            .map(|(_, path, _)| path.trim_end_matches(".luau").trim_end_matches(".lua").to_string())
                            .collect();
                        let _ = lua;
                        let meant = instead(path, names.iter().map(String::as_str));
                        Err(fault(format!("there is no file `{path}` in the ruleset; {meant}")))
                    }
                }
            })?,
        )?;
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
                match measured {
                    false => compiled.files.borrow_mut().push(function.clone()),
                    true => compiled.measured.borrow_mut().push((path, function.clone())),
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
        functions.raw_set("environments", environments)?;
        functions.raw_set("catch", sandbox::catch(lua)?)?;
        let prelude = lua.load(compile::prelude()).set_name("=host");
        let prelude = prelude.set_mode(mlua::chunk::ChunkMode::Binary).into_function()?;
        host.files.borrow_mut().push(prelude.clone());
        let (_, trusted): (Table, Table) = prelude.call((functions, allowed))?;
        let get = |name: &str| trusted.raw_get::<Function>(name);
        Ok(Prelude {
            install: get("install")?,
            class: get("class")?,
            wrap: get("wrap")?,
            requirer: get("requirer")?,
            run_file: get("run_file")?,
            trusted: Trusted {
                start: get("start")?,
                entry: get("entry")?,
                run_on: get("run_on")?,
                free: get("free")?,
                derived: get("derived")?,
                sheet: get("sheet")?,
                overview: get("overview")?,
                prompt: get("prompt")?,
                view: get("view")?,
                measure: get("measure")?,
                statistic: get("statistic")?,
                keys: get("keys")?,
                tie: get("tie")?,
                place: get("place")?,
                may_act: get("may_act")?,
                deal: get("deal")?,
                creation: get("creation")?,
                policy_act: get("policy_act")?,
                refresh: get("refresh")?,
                stale: get("stale")?,
                convert: get("convert")?,
                state: get("state")?,
                mirrored: get("mirrored")?,
            },
        })
    }
}
