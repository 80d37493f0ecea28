//! A script that is being read: what is known of it so far, and the problems that were found.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::{Deref, DerefMut, Range};

use crate::inference::Inference;
use crate::lint::Lint;
use crate::members::Members;
use crate::spec_calls::SpecCalls;
use crate::symbols::known::{KnownNames, Mistake};
use crate::syntax::place_in;
use crate::table_keys::TablesOfWords;
use riskbreaker_ruleset::{Problem, Source, TextChange};
use riskbreaker_script::syntax::{Location, TextPosition};
use riskbreaker_state::Value;

/// The highest number of problems that are reported for one file.
const MOST_PROBLEMS: usize = 200;

/// A function whose body is being read.
pub(crate) struct FunctionScope {
    /// The position of the word `function`.
    pub begin: TextPosition,
    /// The parameters: their numbers in the file and their names.
    pub params: Vec<(u64, String)>,
    /// What the host or the verb hands to the function, by the usual names, in order. Empty if that is not known.
    pub given: Vec<String>,
}

/// The variables of a block or the parameters of a function, in the order of their declarations.
pub(crate) type Scope = Vec<ScopeVariable>;

/// A variable that a block declares, or a parameter.
pub(crate) struct ScopeVariable {
    pub name: String,
    /// The line of its declaration, from 1.
    pub line: u32,
}

/// Reads one script and collects its problems.
///
/// It has many methods, since each lint and each part of the syntax adds some to it, in files of their own.
pub(crate) struct ScriptReader<'r> {
    /// What is known of its variables so far.
    pub inference: Inference<'r>,
    pub found: Vec<Problem>,
    /// Places that are written in an old form, by their bytes, with what they say in the new one.
    pub rewrites: Vec<(Range<usize>, String)>,
    /// Whether the file is valid Luau.
    pub reads: bool,
    /// Whether it is a hook that is always on.
    pub always: bool,
    /// The files that it requires.
    pub required: BTreeSet<String>,
    /// All names and texts in it.
    pub words: BTreeSet<String>,
    /// Unknown names that have been reported.
    pub told: BTreeSet<String>,
    /// The texts of a spec file: by lower case, how often each occurs and how it is written first.
    pub spec_texts: BTreeMap<String, (usize, String)>,
    /// What the local functions of a spec file do with the `t` of a spec, by their numbers.
    pub helpers_of_specs: BTreeMap<u64, SpecCalls>,
    /// Whether the current expression is a condition, where nil is allowed.
    pub asked: bool,
    /// The enclosing functions with their parameters, the outermost first.
    pub enclosing: Vec<FunctionScope>,
    /// The names of the parameters that verbs declare, by the places of their functions.
    pub declared_params: BTreeMap<TextPosition, Vec<String>>,
    /// Local variables that hold a roll, with its dice, its least and its greatest total.
    pub rolled: BTreeMap<u64, (String, i64, i64)>,
    /// The places of the last statements of functions.
    pub last_statements: BTreeSet<TextPosition>,
    /// The places of values that cannot be texts.
    pub no_texts: BTreeSet<TextPosition>,
    /// The number of enclosing functions.
    pub depth: usize,
    /// The enclosing functions that may only read, by their names in messages.
    pub pure: Vec<&'static str>,
    /// The variables of the enclosing blocks and the parameters of the enclosing functions, the outermost first.
    pub scopes: Vec<Scope>,
    /// The parameter that holds a row of `rb.cases`, with the keys of the rows, and those of them that the function reads.
    pub row: Option<(u64, BTreeSet<String>, BTreeSet<String>)>,
    /// The keys of the enclosing tables, the outermost first.
    pub keys: Vec<String>,
    /// The values of the rows of `rb.cases` that are written down, by their keys.
    pub row_values: Vec<(String, Value, Location)>,
    /// The number of enclosing branches of `if` statements.
    pub branches: usize,
    /// The local tables whose keys are words.
    pub tables_of_words: TablesOfWords,
    /// The topics of the questions that the enclosing branches of a policy answer.
    pub answered: Vec<String>,
    /// What can be read off the expression before [`Members::MARK`], once that was reached.
    pub members: Option<Members>,
}

/// A reader answers what its inference does, so that a lint asks one value.
impl<'r> Deref for ScriptReader<'r> {
    type Target = Inference<'r>;

    fn deref(&self) -> &Inference<'r> {
        &self.inference
    }
}

impl<'r> DerefMut for ScriptReader<'r> {
    fn deref_mut(&mut self) -> &mut Inference<'r> {
        &mut self.inference
    }
}

impl<'r> ScriptReader<'r> {
    pub fn new(known: &'r KnownNames<'r>, part: usize, path: &'r str, source: &'r Source) -> ScriptReader<'r> {
        ScriptReader {
            inference: Inference::new(known, part, path, source),
            found: Vec::new(),
            rewrites: Vec::new(),
            reads: true,
            always: false,
            required: BTreeSet::new(),
            words: BTreeSet::new(),
            told: BTreeSet::new(),
            spec_texts: BTreeMap::new(),
            helpers_of_specs: BTreeMap::new(),
            asked: false,
            enclosing: Vec::new(),
            declared_params: BTreeMap::new(),
            rolled: BTreeMap::new(),
            last_statements: BTreeSet::new(),
            no_texts: BTreeSet::new(),
            depth: 0,
            pure: Vec::new(),
            scopes: Vec::new(),
            row: None,
            row_values: Vec::new(),
            branches: 0,
            tables_of_words: TablesOfWords::default(),
            keys: Vec::new(),
            answered: Vec::new(),
            members: None,
        }
    }

    /// Whether reading stops here: the file has too many problems, or the budget is spent.
    pub(crate) fn is_over(&self) -> bool {
        self.found.len() >= MOST_PROBLEMS || self.known.budget.is_spent()
    }

    /// Returns what of the file was not read, if reading stopped early.
    pub(crate) fn rest(&self) -> String {
        match self.found.last() {
            Some(last) if self.found.len() >= MOST_PROBLEMS => {
                format!("{} after its first {MOST_PROBLEMS} problems (line {})", self.full, last.line.unwrap_or(1))
            }
            _ => self.full.to_owned(),
        }
    }

    /// Reports a finding, unless its position has one already.
    pub(crate) fn problem(&mut self, lint: &Lint, at: Location, mistake: Mistake) {
        self.problem_with(lint, at, mistake, None);
    }

    /// Reports a finding whose cure is a change of the script.
    pub(crate) fn cured(&mut self, lint: &Lint, at: Location, mistake: Mistake, change: TextChange) {
        self.problem_with(lint, at, mistake, Some(change));
    }

    /// Reports a finding, with the change that cures it if there is one.
    pub(crate) fn problem_with(
        &mut self,
        lint: &Lint,
        at: Location,
        (message, cure): Mistake,
        change: Option<TextChange>,
    ) {
        if self.found.len() >= MOST_PROBLEMS {
            return;
        }
        // Finding the line and column reads the text.
        self.known.budget.spend(self.text.len() as u64);
        let place = place_in(self.text, at.begin);
        // The first problem of a position is the most precise.
        if !self.found.iter().any(|found| (found.line, found.column) == (Some(place.0), Some(place.1))) {
            let mut problem = lint.problem(self.full, message).at(place).with_cure(cure);
            let is_of_one_line = at.begin.line == at.end.line;
            problem.length = is_of_one_line.then(|| place_in(self.text, at.end).1.saturating_sub(place.1));
            problem.change = change;
            self.found.push(problem);
        }
    }

    pub(crate) fn tell(&mut self, lint: &Lint, at: Location, wrong: Option<Mistake>) {
        if let Some(wrong) = wrong {
            self.problem(lint, at, wrong);
        }
    }
}
