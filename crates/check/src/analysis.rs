use std::sync::Arc;
use std::thread;

use super::allow::Allowances;
use super::known::KnownNames;
use super::lints;
use super::names::NamesOfFiles;
use super::script::ScriptReader;
use super::{CheckReport, Depth, analyse, data, place};
use riskbreaker_play::{MACHINE_STACK, Ruleset};
use riskbreaker_ruleset::{Library, Problem, Source, SourceKind, Stack};
use riskbreaker_work::WorkBudget;

/// The result of a check and what it has read, so that one file can be checked again without reading the others.
pub struct Analysis {
    /// The problems that the check has found.
    pub report: CheckReport,
    /// The index in [`Stack::parts`] of the first part that is checked.
    pub(super) own: usize,
    pub(super) stack: Option<Arc<Stack>>,
    pub(super) rules: Option<Arc<Ruleset>>,
    pub(super) names: Option<NamesOfFiles>,
}

impl Analysis {
    /// Checks a ruleset as [`super::check`] does.
    pub fn new(library: &Library, id: &str, budget: &WorkBudget) -> Analysis {
        analyse(library, id, &[], Depth::Everything, budget)
    }

    pub(super) fn of(report: CheckReport) -> Analysis {
        Analysis { report, own: 0, stack: None, rules: None, names: None }
    }

    /// Returns the ruleset with its parents and layers; `None` if it could not be resolved.
    pub fn stack(&self) -> Option<&Arc<Stack>> {
        self.stack.as_ref()
    }

    /// Returns the loaded ruleset; `None` if it does not load.
    pub fn rules(&self) -> Option<&Arc<Ruleset>> {
        self.rules.as_ref()
    }

    /// The text of a script with what it writes in an old form in the new one; `None` if there is nothing old in it.
    pub fn in_new_form(&self, path: &str, text: &str, budget: &WorkBudget) -> Option<String> {
        let (stack, names) = (self.stack.as_ref()?, self.names.as_ref()?);
        let (part, inside) = stack.part_of(path)?;
        let source = Source::read(path, text.as_bytes()).ok()?;
        let read = || {
            let names = names.with_script(inside, path, &source.text);
            let known = KnownNames::with_names(stack, self.rules.as_deref().map(Ruleset::book), names, budget);
            let mut reader = ScriptReader::new(&known, part, inside, &source);
            reader.read();
            Some(reader.rewrites)
        };
        let mut rewrites = on_large_stack(read)?;
        rewrites.sort_by_key(|(range, _)| std::cmp::Reverse(range.start));
        let mut written = source.text.to_string();
        for (range, new) in &rewrites {
            written.replace_range(range.clone(), new);
        }
        (!rewrites.is_empty()).then_some(written)
    }

    /// Checks a new text of one file, using the names that the check has found in the other files.
    ///
    /// The path begins with the ruleset's id. Returns only the problems that reading the file shows, and `None` if the
    /// whole ruleset has to be checked instead.
    pub fn read_again(&self, path: &str, text: &str, budget: &WorkBudget) -> Option<Vec<Problem>> {
        let (stack, names) = (self.stack.as_ref()?, self.names.as_ref()?);
        let (part, inside) = stack.part_of(path)?;
        if part < self.own || stack.is_spec_of_another(part, inside) {
            return None;
        }
        let source = match Source::read(path, text.as_bytes()) {
            Ok(source) => source,
            Err(problems) => {
                return Some(problems.into_iter().map(|problem| lints::load::LINT.finds(problem)).collect());
            }
        };
        let rules = self.rules.as_deref();
        let read = || match source.kind()? {
            SourceKind::Script => {
                let names = names.with_script(inside, path, &source.text);
                let known = KnownNames::with_names(stack, rules.map(Ruleset::book), names, budget);
                let mut reader = ScriptReader::new(&known, part, inside, &source);
                reader.read();
                Some(reader.found)
            }
            SourceKind::Data if super::DATA_PLACES.iter().any(|place| super::inside(inside, place)) => {
                let known = KnownNames::with_names(stack, rules.map(Ruleset::book), names.clone(), budget);
                Some(data::findings(&source, inside, rules?, &known))
            }
            _ => None,
        };
        let mut found = on_large_stack(read)?;
        found.iter_mut().for_each(|problem| place(problem, &source.text));
        // Whether an allowance is needed is only known after a check of the whole ruleset.
        let mut allowances = Allowances::of(&source);
        found.retain(|problem| !allowances.allows(problem));
        found.extend(allowances.unknown());
        found.sort();
        Some(found)
    }
}

/// Runs a recursive reader of nested code on a thread with a large stack; `None` if it returns `None` or panics.
pub(super) fn on_large_stack<T: Send>(read: impl FnOnce() -> Option<T> + Send) -> Option<T> {
    thread::scope(|scope| {
        let thread = thread::Builder::new().name("check".into()).stack_size(MACHINE_STACK);
        thread.spawn_scoped(scope, read).ok()?.join().ok().flatten()
    })
}
