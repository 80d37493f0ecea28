//! Typed checking of the scripts themselves: what the type checker of Luau, with the types of the ruleset at hand, can say
//! for certain. Its guesses at functions whose types nobody wrote down are left to editors.
//!
//! It is only ever asked by the check: nothing that it finds, and no failure of its own, keeps a ruleset from being played.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use luau_analysis::diagnostics::{TypeCheckLimits, TypeErrorData};
use luau_analysis::frontend::resolver::ModuleInfo;
use luau_analysis::{
    DefinitionEnvironment, FileResolver, Frontend, FrontendOptions, ModuleName, NullConfigResolver, SourceCode,
    SourceCodeType,
};
use luau_common::BString;
use luau_config::{LintCode, Mode};
use luau_syntax::ast::{Expression, ExpressionKind};
use luau_syntax::location::Location;

use crate::ruleset::{Problem, Rulebook};
use crate::script::type_module;

/// The name under which the vocabulary is required.
const VOCABULARY: &str = "@riskbreaker";

/// Seconds that the types of one file may take.
///
/// A program that is not optimized gets more: what a file that somebody wrote in earnest takes must be far from the limits.
const SECONDS_A_FILE: f64 = if cfg!(debug_assertions) { 5.0 } else { 1.0 };

/// Time that the types of all files may take together, before the rest is left unchecked.
const MOST_TIME: Duration = Duration::from_secs(if cfg!(debug_assertions) { 60 } else { 8 });

/// How much longer a thread may take that is not done then.
const GRACE: Duration = Duration::from_millis(500);

/// A longer file is not checked: reading it alone would take too long, and no clock is looked at there.
const LONGEST: usize = 96 << 10;

/// A checker keeps the types of all files that it has read. After so many bytes of files, and after each file that took long,
/// the next one begins anew.
const BYTES_A_CHECKER: usize = 192 << 10;
const SLOW: Duration = Duration::from_millis(250);

/// The checker works by deep recursion: bytes of its stack.
const STACK: usize = 64 << 20;

/// A script to be checked.
pub(super) struct Script {
    /// As problems name it.
    pub path: String,
    pub text: String,
    /// Calls of what the host itself declares.
    pub calls: Vec<Call>,
}

/// A call of a word of the vocabulary or a function of a library: their types are known, whatever
/// the types of the script's own functions are taken to be.
pub(super) struct Call {
    pub at: Location,
    /// Where what is called stands.
    pub func: Location,
    pub args: Vec<Location>,
    /// How it is written.
    pub usage: String,
}

/// Results of the type checker for files that have not changed since.
#[derive(Debug, Default)]
pub(super) struct Cache {
    /// By path, and by the hash of the vocabulary and the file's text.
    files: HashMap<(String, u64), Vec<Problem>>,
}

/// The most results that are kept: a large ruleset under several layers has fewer.
const MOST_KEPT: usize = 4000;

/// The most threads that check types at the same time.
const MOST_THREADS: usize = 4;

impl Cache {
    /// What is wrong with the types in some scripts of a ruleset.
    pub fn findings(&mut self, scripts: Vec<Script>, rules: &Rulebook, stop: &AtomicBool) -> Vec<Problem> {
        if scripts.is_empty() {
            return Vec::new();
        }
        let vocabulary = type_module(rules);
        if self.files.len() > MOST_KEPT {
            self.files.clear();
        }
        let key = |script: &Script| {
            let mut hasher = DefaultHasher::new();
            (&vocabulary, &script.text).hash(&mut hasher);
            (script.path.clone(), hasher.finish())
        };
        let keys: Vec<_> = scripts.iter().map(key).collect();
        let known = scripts.into_iter().zip(&keys).filter(|(_, key)| !self.files.contains_key(key));
        let unknown: Arc<Vec<Script>> = Arc::new(known.map(|(script, _)| script).collect());
        let done = check_in_time(&unknown, &Arc::from(vocabulary.as_str()), stop);
        for (path, found) in done {
            if let Some(key) = keys.iter().find(|(known, _)| *known == path) {
                self.files.insert(key.clone(), found);
            }
        }
        keys.iter().filter_map(|key| self.files.get(key)).flatten().cloned().collect()
    }
}

/// Checks scripts on threads of their own, and leaves those threads behind that are not done in time: parts of the checker
/// look at no clock.
fn check_in_time(scripts: &Arc<Vec<Script>>, vocabulary: &Arc<str>, stop: &AtomicBool) -> Vec<Checked> {
    let threads = thread::available_parallelism().map_or(1, usize::from).min(MOST_THREADS).min(scripts.len().max(1));
    let share = scripts.len().div_ceil(threads).max(1);
    let (until, give_up) = (Instant::now() + MOST_TIME, Arc::new(AtomicBool::new(false)));
    let (tell, told) = mpsc::channel();
    for first in (0..scripts.len()).step_by(share) {
        let (scripts, vocabulary, give_up, tell) = (scripts.clone(), vocabulary.clone(), give_up.clone(), tell.clone());
        let work = move || {
            let some: Vec<&Script> = scripts.iter().skip(first).take(share).collect();
            of_scripts(&some, &vocabulary, &give_up, until, &tell);
        };
        // Where no thread can be had, its scripts are told as unchecked.
        let _ = thread::Builder::new().name("types".into()).stack_size(STACK).spawn(work);
    }
    drop(tell);
    let mut done: Vec<Checked> = Vec::new();
    while Instant::now() < until + GRACE && !stop.load(Ordering::Relaxed) {
        match told.recv_timeout(Duration::from_millis(20)) {
            Ok(one) => done.push(one),
            Err(mpsc::RecvTimeoutError::Timeout) => {}
            Err(mpsc::RecvTimeoutError::Disconnected) => break,
        }
    }
    give_up.store(true, Ordering::Relaxed);
    if !stop.load(Ordering::Relaxed) {
        let missing = scripts.iter().filter(|script| done.iter().all(|(path, _)| *path != script.path));
        let missing: Vec<Checked> = missing.map(|script| unchecked(script, "they take too long")).collect();
        done.extend(missing);
    }
    done
}

/// The path of a script, and what was found.
type Checked = (String, Vec<Problem>);

/// The findings of each script that was checked to its end; none of one on which the checker itself fails.
fn of_scripts(scripts: &[&Script], vocabulary: &str, stop: &AtomicBool, until: Instant, tell: &mpsc::Sender<Checked>) {
    let mut done = 0;
    while done < scripts.len() && !stop.load(Ordering::Relaxed) {
        let next = scripts[done];
        let why = if next.text.len() > LONGEST {
            Some("it is too long for that")
        } else {
            (Instant::now() >= until).then_some("the files before it took too long")
        };
        if let Some(why) = why {
            done += 1;
            let _ = tell.send(unchecked(next, why));
            continue;
        }
        // The vocabulary is read once for several of them. A checker that has failed is no longer to be trusted.
        let from = done;
        let rest = catch_unwind(AssertUnwindSafe(|| {
            check(&scripts[from..], vocabulary, stop, until, &mut |one| {
                done += 1;
                let _ = tell.send(one);
            })
        }));
        if !matches!(rest, Ok(Some(()))) && done < scripts.len() {
            let _ = tell.send((scripts[done].path.clone(), Vec::new()));
            done += 1;
        }
    }
}

/// Says of a file that its types were not checked.
fn unchecked(script: &Script, why: &str) -> Checked {
    let problem = Problem::new(script.path.as_str(), format!("its types were not checked: {why}")).at((1, 1));
    (script.path.clone(), vec![problem.with_cure("split it into smaller files with simpler types")])
}

/// Checks scripts one after the other until `stop` is set, the time is over, or the checker has read enough; `None` where it
/// cannot go on.
fn check(
    scripts: &[&Script],
    vocabulary: &str,
    stop: &AtomicBool,
    until: Instant,
    tell: &mut dyn FnMut(Checked),
) -> Option<()> {
    let files = Files { scripts, vocabulary };
    let options = FrontendOptions {
        retain_full_type_graphs: true,
        run_lint_checks: true,
        module_time_limit_sec: Some(SECONDS_A_FILE),
        ..FrontendOptions::default()
    };
    // In nonstrict mode it says next to nothing; what it guesses in strict mode is sorted out below.
    let mut config = NullConfigResolver::default();
    config.default_config.mode = Mode::Strict;
    let mut frontend = Frontend::new(files, config, options);
    frontend.register_builtin_globals(DefinitionEnvironment::Globals).ok()?;
    let mut read = 0;
    for script in scripts {
        read += script.text.len();
        let begun = Instant::now();
        let enough = read > BYTES_A_CHECKER && read > script.text.len();
        if stop.load(Ordering::Relaxed) || enough || begun >= until || script.text.len() > LONGEST {
            return Some(());
        }
        let name = BString::from(script.path.as_str());
        let result = frontend.check(&name, None).ok()?;
        let model = frontend.semantic_model(&name)?;
        let mut found = Vec::new();
        let mut find = |at: Location, message: String, cure: String| {
            let place = (at.begin.line.saturating_add(1), at.begin.column.saturating_add(1));
            found.push(Problem::new(script.path.as_str(), message).at(place).with_cure(cure));
        };
        for error in result.errors.iter().filter(|error| error.module_name == name) {
            let message = one_line(&model.error_message(error).to_string());
            if let Some((message, cure)) = certain(script, error.location, &error.data, &message) {
                find(error.location, message, cure);
            }
        }
        for warning in &result.lint_result.warnings {
            if let Some(cure) = cure_of(warning.code) {
                find(warning.location, one_line(&warning.text.to_string()), cure.into());
            }
        }
        if result.timeout_hits.contains(&name) && found.is_empty() {
            tell(unchecked(script, "they take too long"));
        } else {
            tell((script.path.clone(), found));
        }
        if begun.elapsed() > SLOW {
            return Some(());
        }
    }
    Some(())
}

/// What is wrong for certain with a call of something whose types are known, and how the call is written.
fn certain(script: &Script, at: Location, error: &TypeErrorData, message: &str) -> Option<(String, String)> {
    let written = |call: &Call| format!("it is written {}", call.usage);
    match error {
        TypeErrorData::TypeMismatch(_) => {
            let (wanted, given) = message.strip_prefix("Expected this to be '")?.split_once("', but got '")?;
            let (wanted, given) = (plain(wanted)?, plain(given.strip_suffix('\'')?)?);
            let call = script.calls.iter().find(|call| call.args.contains(&at))?;
            (wanted != given).then(|| (format!("expected {wanted}, found {given}"), written(call)))
        }
        TypeErrorData::CountMismatch(count) => {
            let call = script.calls.iter().find(|call| call.at == at || call.func == at)?;
            let (least, given) = (count.expected, count.actual);
            let wanted = match count.maximum {
                Some(most) if most != least => format!("{least} to {most} values"),
                _ if least == 1 => "one value".to_string(),
                _ => format!("{least} values"),
            };
            (given < least || count.maximum.is_some())
                .then(|| (format!("expected {wanted}, {given} given"), written(call)))
        }
        _ => None,
    }
}

/// A type that leaves no doubt, in words.
fn plain(ty: &str) -> Option<&'static str> {
    Some(match ty {
        "number" => "a number",
        "string" => "a text",
        "boolean" => "true or false",
        _ if ty.starts_with('"') && !ty.contains('|') => "a text",
        "{number}" | "{string}" => "a list",
        _ => return None,
    })
}

/// What to do about a warning; nothing for those that are a matter of taste.
fn cure_of(code: LintCode) -> Option<&'static str> {
    Some(match code {
        LintCode::DuplicateCondition => "one of the two can go, or was something else meant?",
        LintCode::MisleadingAndOr => "write `if ... then ... else ...`",
        LintCode::FormatString => "look at the pattern once more",
        LintCode::TableLiteral => "one of the two keys can go, or was another meant?",
        LintCode::ForRange => "give the loop its step: `for n = last, first, -1 do`",
        LintCode::UnbalancedAssignment => "give one value for each name",
        LintCode::UninitializedLocal => "give it a value first",
        LintCode::DuplicateLocal => "give one of them another name",
        LintCode::DuplicateFunction => "give one of them another name",
        LintCode::PlaceholderRead => "give it a name of its own",
        LintCode::UnreachableCode => "it is never run: take it out, or move it up",
        LintCode::ComparisonPrecedence => "put brackets around what belongs together",
        LintCode::TableOperations => "look at the places that are meant: the first is 1",
        LintCode::IntegerParsing => "write a smaller number",
        LintCode::MultiLineStatement => "begin a line with a statement",
        _ => return None,
    })
}

/// A message of several lines in one.
fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Scripts and the vocabulary; whatever else they require may be anything.
struct Files<'s> {
    scripts: &'s [&'s Script],
    vocabulary: &'s str,
}

impl FileResolver for Files<'_> {
    fn read_source(&mut self, name: &ModuleName) -> Option<SourceCode> {
        let text = if name == VOCABULARY {
            self.vocabulary
        } else {
            &self.scripts.iter().find(|script| name == script.path.as_str())?.text
        };
        Some(SourceCode { source: BString::from(text), kind: SourceCodeType::Module })
    }

    fn resolve_module(
        &mut self,
        _: Option<&ModuleInfo>,
        expr: Expression<'_>,
        _: &TypeCheckLimits,
    ) -> Option<ModuleInfo> {
        let ExpressionKind::String { value, .. } = expr.kind() else { return None };
        (value.as_bytes() == VOCABULARY.as_bytes())
            .then(|| ModuleInfo { name: BString::from(VOCABULARY), optional: false })
    }
}
