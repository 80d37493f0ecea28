use std::cell::RefCell;
use std::rc::Rc;

use mlua::{
    Error, Function, Lua, MetaMethod, MultiValue, Result, Table as LuaTable, UserData, UserDataMethods, Value as Lv,
};

use super::account::charge;
use super::api::{SPEC_METHODS, SpecCall};
use super::budget::{CallBudget, guarded};
use super::compile::compile;
use super::conversion::{plain_from, plain_to};
use super::fault::fault_of_program;
use super::sandbox::{self};
use super::table::in_words;
use riskbreaker_play::Fault;
use riskbreaker_ruleset::nearest;
use riskbreaker_state::Value;

/// A file of specs in its own machine.
pub struct SpecFile {
    /// Keeps the functions of the specs alive.
    machine: Lua,
    specs: Vec<Registered>,
    name: String,
    text: String,
    /// The work of reading the file.
    work: u64,
}

/// A spec as declared in a file; for `rb.cases`, one of its cases.
struct Registered {
    name: String,
    rules: Vec<String>,
    case: Option<LuaTable>,
    run: Function,
}

/// The implementation of a spec's `t` with plain data, in the crate of specs, which knows no script engine.
pub trait SpecMethods {
    /// Calls a method of `t`. `line`: the line of the call in the spec.
    ///
    /// # Errors
    ///
    /// A sentence with the reason why the spec fails.
    fn call(&mut self, method: SpecCall, args: &[Value], line: Option<u32>) -> std::result::Result<Value, String>;

    /// Checks at the end of a spec that nothing is left over.
    fn close(&mut self) -> std::result::Result<(), String>;
}

/// The value `t` in the script of a running spec.
struct SpecHandle<S>(Rc<RefCell<S>>);

/// The work charged for a method: a spec may call some thousand.
const COST: i64 = 2_000;

impl<S: SpecMethods + 'static> UserData for SpecHandle<S> {
    fn add_methods<M: UserDataMethods<Self>>(methods: &mut M) {
        methods.add_meta_method(MetaMethod::Index, |_, _, name: Lv| -> Result<()> {
            let name = in_words(&name);
            let name = name.trim_matches('"');
            Err(wrong(match nearest(name, SPEC_METHODS.iter().map(|method| method.name)) {
                Some(near) => format!("a spec has no `t:{name}`; did you mean `t:{near}`?"),
                None => format!("a spec has no `t:{name}`; docs/reference.md lists what it has"),
            }))
        });
        for &method in SpecCall::ALL {
            methods.add_method(method.name(), move |lua, t, args: MultiValue| {
                charge(COST);
                let args = args.iter().map(plain_from).collect::<Result<Vec<Value>>>()?;
                let line = lua.inspect_stack(1, |caller| caller.current_line()).flatten();
                let line = line.and_then(|line| u32::try_from(line).ok());
                // Games and searches of the host have their own budgets: a slow computer must not make a spec fail.
                let found = super::budget::uncharged(|| t.0.borrow_mut().call(method, &args, line)).map_err(wrong)?;
                plain_to(lua, &found)
            });
        }
    }
}

impl SpecFile {
    /// Reads a file of specs.
    ///
    /// # Errors
    ///
    /// A problem of the file.
    pub fn load(name: &str, text: &str) -> std::result::Result<SpecFile, Fault> {
        let specs = Rc::new(RefCell::new(Vec::new()));
        let (registered, more) = (specs.clone(), specs.clone());
        let made = sandbox::machine().and_then(|(lua, allowed)| {
            sandbox::close(&lua, &allowed)?;
            Ok((lua, allowed))
        });
        let (lua, allowed) = made.map_err(|error| fault_of_program(&error, None, name, text))?;
        let before = super::budget::work_of_thread();
        let (loaded, spent) = guarded(&lua, CallBudget::LOAD, || {
            let rb = lua.create_table()?;
            let spec = lua.create_function(move |_, values: MultiValue| {
                registered.borrow_mut().push(read_spec(values)?);
                not_too_many(&registered.borrow())
            })?;
            rb.raw_set("spec", spec)?;
            let cases = lua.create_function(move |_, values| {
                more.borrow_mut().extend(read_cases(values)?);
                not_too_many(&more.borrow())
            })?;
            rb.raw_set("cases", cases)?;
            rb.set_readonly(true);
            let require = lua.create_function(move |_, module: String| {
                if module == "@riskbreaker" {
                    return Ok(rb.clone());
                }
                Err(Error::RuntimeError(format!("a spec can only require \"@riskbreaker\", not \"{module}\"")))
            })?;
            let environment = sandbox::environment(&lua, &allowed, require)?;
            compile(&lua, name, text, &environment)?.call::<()>(())
        });
        loaded.map_err(|error| fault_of_program(&error, spent, name, text))?;
        let work = super::budget::work_of_thread().wrapping_sub(before);
        Ok(SpecFile { machine: lua, specs: specs.take(), name: name.to_string(), text: text.to_string(), work })
    }

    /// The names and rule ids of the specs, in the order of the file.
    pub fn list(&self) -> impl Iterator<Item = (&str, &[String])> {
        self.specs.iter().map(|spec| (&*spec.name, &*spec.rules))
    }

    /// The work of reading the file.
    pub fn work(&self) -> u64 {
        self.work
    }

    /// Runs one spec. Returns its failure, if any, and the work of its script, without the games that it plays.
    pub fn run<S: SpecMethods + 'static>(&self, at: usize, case: &Rc<RefCell<S>>) -> (Option<Fault>, u64) {
        let spec = &self.specs[at];
        let (result, spent) = guarded(&self.machine, CallBudget::SPEC, || {
            spec.run.call::<()>((SpecHandle(case.clone()), spec.case.clone()))?;
            case.borrow_mut().close().map_err(wrong)
        });
        let work = super::budget::work_in(CallBudget::SPEC);
        (result.err().map(|error| fault_of_program(&error, spent, &self.name, &self.text)), work)
    }
}

fn wrong(message: impl std::fmt::Display) -> Error {
    Error::RuntimeError(message.to_string())
}

/// The most specs of one file.
const MOST_SPECS: usize = 5_000;

/// Reads the arguments of `rb.spec`: a name, rule ids (optional) and the function.
fn read_spec(values: MultiValue) -> Result<Registered> {
    let mut values = values.into_iter();
    let usage = || wrong("rb.spec takes a name, a list of rule ids, and a function(t)");
    let Some(Lv::String(name)) = values.next() else { return Err(usage()) };
    let (rules, run) = match (values.next(), values.next()) {
        (Some(Lv::Table(rules)), Some(Lv::Function(run))) => {
            (rules.sequence_values().collect::<Result<_>>().map_err(|_| usage())?, run)
        }
        (Some(Lv::Table(_)), Some(Lv::Table(_))) => {
            return Err(wrong("rb.spec takes no cases: rb.cases(name, rules, cases, function(t, case) ... end) does"));
        }
        (Some(Lv::Function(run)), None) => (Vec::new(), run),
        _ => return Err(usage()),
    };
    Ok(Registered { name: name.to_string_lossy().to_string(), rules, case: None, run })
}

/// Reads the arguments of `rb.cases`: a spec for each case.
fn read_cases((name, rules, cases, run): (String, Vec<String>, LuaTable, Function)) -> Result<Vec<Registered>> {
    let mut registered = Vec::new();
    for case in cases.sequence_values::<Lv>() {
        let Lv::Table(case) = case? else {
            return Err(wrong("each case of rb.cases is a table, such as { risk = 1, loss = 2 }"));
        };
        let (name, rules, run) = (name_of(&name, &case), rules.clone(), run.clone());
        registered.push(Registered { name, rules, case: Some(case), run });
    }
    if registered.is_empty() {
        return Err(wrong(
            "the list of cases is empty: it is a list of tables, such as { { risk = 1 }, { risk = 2 } }",
        ));
    }
    Ok(registered)
}

fn not_too_many(specs: &[Registered]) -> Result<()> {
    if specs.len() <= MOST_SPECS {
        return Ok(());
    }
    Err(wrong(format!("a file has at most {MOST_SPECS} specs")))
}

/// The name of a case: with `{key}` filled in, or followed by the values of the case.
fn name_of(name: &str, case: &LuaTable) -> String {
    let mut filled = name.to_string();
    for (key, value) in case.pairs::<String, Lv>().flatten() {
        let words = match &value {
            Lv::String(text) => text.to_string_lossy().to_string(),
            value => in_words(value),
        };
        filled = filled.replace(&format!("{{{key}}}"), &words);
    }
    if filled == name { format!("{name} {}", in_words(&Lv::Table(case.clone()))) } else { filled }
}
