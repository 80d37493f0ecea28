use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use super::evidence::Evidence;
use super::known::{KnownNames, Mistake};
use super::lints;
use super::lints::Lint;
use super::members::Members;
use super::signature::Signature;
use super::silent::Silent;
use super::symbol::Symbol;
use super::syntax::{Locals, literal};
use super::value_type::ValueType;
use riskbreaker_ruleset::Problem;
use riskbreaker_script::syntax::{
    Arena, Block, Expression, ExpressionKind, Location, StatementView, TextPosition, parse,
};

/// The highest number of problems that are reported for one file.
const MOST_PROBLEMS: usize = 200;

/// Reads one script and collects its problems.
pub(super) struct ScriptReader<'r> {
    pub known: &'r KnownNames<'r>,
    part: usize,
    /// The path inside the ruleset's folder.
    pub path: &'r str,
    /// The path with the ruleset's id, as problems show it.
    full: &'r str,
    pub text: &'r str,
    pub found: Vec<Problem>,
    /// Places that are written in an old form, by their bytes, with what they say in the new one.
    pub rewrites: Vec<(Range<usize>, String)>,
    /// Whether the file is valid Luau.
    pub reads: bool,
    /// Whether it is a spec in which a game changes to other rules.
    pub elsewhere: bool,
    /// Whether it is a hook that is always on.
    pub always: bool,
    /// The files that it requires.
    pub required: BTreeSet<String>,
    /// All names and texts in it.
    pub words: BTreeSet<String>,
    /// The known meanings of local variables.
    pub symbols: BTreeMap<u64, Symbol>,
    /// The signatures of local functions.
    pub functions: BTreeMap<u64, Signature>,
    /// The types of local variables that are never assigned again.
    pub value_types: BTreeMap<u64, ValueType>,
    /// How local variables are used.
    pub evidence: Evidence,
    /// The texts of local variables that are never assigned again.
    pub constants: BTreeMap<u64, String>,
    /// Local variables that hold a choice, with the ids that it can be.
    pub choices: BTreeMap<u64, Vec<String>>,
    /// The local variables, and how they change.
    pub locals: Locals,
    /// Unknown names that have been reported.
    pub told: BTreeSet<String>,
    /// The texts of a spec file: by lower case, how often each occurs and how it is written first.
    pub spec_texts: BTreeMap<String, (usize, String)>,
    /// Whether the current expression is a condition, where nil is allowed.
    pub asked: bool,
    /// Local tables with entities as keys.
    pub keyed_by_entities: BTreeSet<u64>,
    /// Local tables with texts as keys, to which nothing else is added.
    pub text_maps: BTreeSet<u64>,
    /// Local tables with numbers as keys, to which nothing else is added.
    pub lists: BTreeSet<u64>,
    /// Local variables that are never nil.
    pub always_there: BTreeSet<u64>,
    /// Local variables that are always nil.
    pub nothing: BTreeSet<u64>,
    /// Local variables that hold the result of a function that returns nothing.
    pub silent: BTreeMap<u64, Silent>,
    /// Parameters of verbs, to which nothing is added by an index.
    pub handed_to_verbs: BTreeSet<u64>,
    /// The number of enclosing functions.
    pub depth: usize,
    /// The enclosing functions that may only read, by their names in messages.
    pub pure: Vec<&'static str>,
    /// The keys of the enclosing tables, the outermost first.
    pub keys: Vec<String>,
    /// What can be read off the expression before [`Members::MARK`], once that was reached.
    pub members: Option<Members>,
}

impl<'r> ScriptReader<'r> {
    pub fn new(
        known: &'r KnownNames<'r>,
        part: usize,
        path: &'r str,
        source: &'r riskbreaker_ruleset::Source,
    ) -> ScriptReader<'r> {
        ScriptReader {
            known,
            part,
            path,
            full: &source.path,
            text: &source.text,
            found: Vec::new(),
            rewrites: Vec::new(),
            reads: true,
            elsewhere: path.starts_with("specs/")
                && (path.starts_with("specs/convert/") || source.text.contains("t:rules(")),
            always: false,
            required: BTreeSet::new(),
            words: BTreeSet::new(),
            symbols: BTreeMap::new(),
            functions: BTreeMap::new(),
            value_types: BTreeMap::new(),
            evidence: Evidence::default(),
            constants: BTreeMap::new(),
            choices: BTreeMap::new(),
            locals: Locals::default(),
            told: BTreeSet::new(),
            spec_texts: BTreeMap::new(),
            asked: false,
            keyed_by_entities: BTreeSet::new(),
            text_maps: BTreeSet::new(),
            lists: BTreeSet::new(),
            always_there: BTreeSet::new(),
            nothing: BTreeSet::new(),
            silent: BTreeMap::new(),
            handed_to_verbs: BTreeSet::new(),
            depth: 0,
            pure: Vec::new(),
            keys: Vec::new(),
            members: None,
        }
    }

    /// Reads the script and collects its problems.
    pub fn read(&mut self) {
        let arena = Arena::new();
        match parse(&arena, self.text) {
            Ok(root) => {
                root.visit(&mut self.locals);
                self.evidence = Evidence::of(root, self.known.names.fields());
                if self.is_spec() {
                    self.spec_texts = super::spec::texts_of(root);
                }
                self.block(root);
                self.returns_something(root);
                for (lint, at, wrong) in super::lint::lints(root, self.text) {
                    self.problem(lint, at, wrong);
                }
            }
            // A syntax error is the only problem of its file, because others may follow from it.
            Err(error) => self.unreadable(error.location, &error.message),
        }
    }

    /// Reports a file in `lib` that returns nothing.
    fn returns_something(&mut self, root: Block<'_>) {
        let Some(last) = root.as_slice().last().filter(|_| self.path.starts_with("lib/")) else { return };
        let empty = matches!(last.view(), StatementView::Return(returned) if returned.expressions.is_empty());
        if super::flow::goes_on(*last) || empty {
            let cure = "add `return NAME` as its last line, with the table that the others are to have";
            self.problem(
                &lints::missing_return::LINT,
                last.location(),
                ("this file returns nothing to those that require it".into(), cure.into()),
            );
        }
    }

    /// Whether some local variable has that name.
    pub(super) fn has_local(&self, name: &str) -> bool {
        self.locals.names.contains(name)
    }

    pub(super) fn full_path(&self) -> &str {
        self.full
    }

    pub(super) fn is_spec(&self) -> bool {
        self.path.starts_with("specs/")
    }

    /// Whether reading stops here: the file has too many problems, or the budget is spent.
    pub(super) fn is_over(&self) -> bool {
        self.found.len() >= MOST_PROBLEMS || self.known.budget.is_spent()
    }

    /// Returns what of the file was not read, if reading stopped early.
    pub(super) fn rest(&self) -> String {
        match self.found.last() {
            Some(last) if self.found.len() >= MOST_PROBLEMS => {
                format!("{} after its first {MOST_PROBLEMS} problems (line {})", self.full, last.line.unwrap_or(1))
            }
            _ => self.full.to_owned(),
        }
    }

    pub(super) fn problem(&mut self, lint: &Lint, at: Location, (message, cure): Mistake) {
        if self.found.len() >= MOST_PROBLEMS {
            return;
        }
        // Finding the line and column reads the text.
        self.known.budget.spend(self.text.len() as u64);
        let place = place_in(self.text, at.begin);
        // The first problem of a position is the most precise.
        if !self.found.iter().any(|found| (found.line, found.column) == (Some(place.0), Some(place.1))) {
            self.found.push(lint.problem(self.full, message).at(place).with_cure(cure));
        }
    }

    pub(super) fn tell(&mut self, lint: &Lint, at: Location, wrong: Option<Mistake>) {
        if let Some(wrong) = wrong {
            self.problem(lint, at, wrong);
        }
    }

    /// Returns the text of an expression: a literal, or a local variable that never changes.
    pub(super) fn text_of(&self, expression: Expression<'_>) -> Option<String> {
        match expression.kind() {
            ExpressionKind::Local { local, .. } => self.constants.get(&local.id).cloned(),
            _ => literal(expression),
        }
    }

    /// Returns the file that `require(name)` loads here; `None` if there is none.
    pub(super) fn file_named(&self, name: &str) -> Option<&'r riskbreaker_ruleset::Source> {
        let stack = self.known.stack;
        let found = match name.strip_prefix("@parent/") {
            Some(path) => stack.file_below(self.part, path),
            None => stack.file(name),
        };
        found.map(|(_, source)| source)
    }
}

/// Returns the line and the column of a position, from 1. The parser counts bytes in a line; the result counts
/// characters.
pub(super) fn place_in(text: &str, at: TextPosition) -> (u32, u32) {
    let line = text.lines().nth(at.line as usize).unwrap_or_default();
    let column = line.get(..at.column as usize).map_or(at.column, |before| before.chars().count() as u32);
    (at.line.saturating_add(1), column.saturating_add(1))
}
