use std::collections::{BTreeMap, BTreeSet};

use super::evidence::Evidence;
use super::known::{KnownNames, Mistake};
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

/// So many problems are told of one file at the most.
const MOST_PROBLEMS: usize = 200;

/// Reads one script and collects its problems.
pub(super) struct ScriptReader<'r> {
    pub known: &'r KnownNames<'r>,
    part: usize,
    /// Inside the ruleset's folder.
    pub path: &'r str,
    /// As problems name it.
    full: &'r str,
    pub text: &'r str,
    pub found: Vec<Problem>,
    /// Whether it reads as Luau at all.
    pub reads: bool,
    /// Whether it is a spec in which a game goes over to other rules.
    pub elsewhere: bool,
    /// Whether it is a hook that is always on.
    pub always: bool,
    /// Files that it requires.
    pub required: BTreeSet<String>,
    /// Every name and every text in it.
    pub words: BTreeSet<String>,
    /// What is known of local variables.
    pub symbols: BTreeMap<u64, Symbol>,
    /// Local functions.
    pub functions: BTreeMap<u64, Signature>,
    /// The sorts of local variables that are never assigned anew.
    pub value_types: BTreeMap<u64, ValueType>,
    /// How local variables are used.
    pub evidence: Evidence,
    /// Texts of local variables that are never assigned anew.
    pub constants: BTreeMap<u64, String>,
    /// Local variables that hold what was chosen, with the ids that it can be.
    pub choices: BTreeMap<u64, Vec<String>>,
    /// The local variables, and what is done with them.
    pub locals: Locals,
    /// Names that are not there and have been told of.
    pub told: BTreeSet<String>,
    /// Texts of a spec file, in small letters, with how often each stands there and how it is written.
    pub spec_texts: BTreeMap<String, (usize, String)>,
    /// Whether the current expression is a condition, where nil is fine.
    pub asked: bool,
    /// Local tables that have entities as keys.
    pub keyed_by_entities: BTreeSet<u64>,
    /// Local tables whose keys are texts, and that nothing else fills.
    pub text_maps: BTreeSet<u64>,
    /// Local tables whose places are numbers, and that nothing else fills.
    pub lists: BTreeSet<u64>,
    /// Local variables that are never nothing.
    pub always_there: BTreeSet<u64>,
    /// Local variables that are nothing and stay so.
    pub nothing: BTreeSet<u64>,
    /// Local variables that hold what a function returns which returns nothing.
    pub silent: BTreeMap<u64, Silent>,
    /// What the functions of verbs are handed, where nothing is put into it by an index.
    pub handed_to_verbs: BTreeSet<u64>,
    /// How many functions are around.
    pub depth: usize,
    /// Functions around that may only read, by what they are.
    pub pure: Vec<&'static str>,
    /// Keys of the tables around, the outermost first.
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

    /// Reads it.
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
                for (at, wrong) in super::lint::lints(root, self.text) {
                    self.problem(at, wrong);
                }
            }
            // Of a file that does not read as Luau only that is told: whatever it seems to say may be a consequence.
            Err(error) => self.unreadable(error.location, &error.message),
        }
    }

    /// A file in `lib` is there for what it returns.
    fn returns_something(&mut self, root: Block<'_>) {
        let Some(last) = root.as_slice().last().filter(|_| self.path.starts_with("lib/")) else { return };
        let empty = matches!(last.view(), StatementView::Return(returned) if returned.expressions.is_empty());
        if super::flow::goes_on(*last) || empty {
            let cure = "add `return NAME` as its last line, with the table that the others are to have";
            self.problem(last.location(), ("this file returns nothing to those that require it".into(), cure.into()));
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

    /// Whether the rest of the file is not read: it has too many problems, or the budget is spent.
    pub(super) fn is_over(&self) -> bool {
        self.found.len() >= MOST_PROBLEMS || self.known.budget.is_spent()
    }

    /// What of the file was not read, where reading it ended early.
    pub(super) fn rest(&self) -> String {
        match self.found.last() {
            Some(last) if self.found.len() >= MOST_PROBLEMS => {
                format!("{} after its first {MOST_PROBLEMS} problems (line {})", self.full, last.line.unwrap_or(1))
            }
            _ => self.full.to_owned(),
        }
    }

    pub(super) fn problem(&mut self, at: Location, (message, cure): Mistake) {
        if self.found.len() >= MOST_PROBLEMS {
            return;
        }
        // The place is found by going through the text.
        self.known.budget.spend(self.text.len() as u64);
        let place = place_in(self.text, at.begin);
        // What is said of a place first is nearest to what is wrong with it.
        if !self.found.iter().any(|found| (found.line, found.column) == (Some(place.0), Some(place.1))) {
            self.found.push(Problem::new(self.full, message).at(place).with_cure(cure));
        }
    }

    pub(super) fn tell(&mut self, at: Location, wrong: Option<Mistake>) {
        if let Some(wrong) = wrong {
            self.problem(at, wrong);
        }
    }

    /// The text of an expression: written there, or that of a local variable that never changes.
    pub(super) fn text_of(&self, expression: Expression<'_>) -> Option<String> {
        match expression.kind() {
            ExpressionKind::Local { local, .. } => self.constants.get(&local.id).cloned(),
            _ => literal(expression),
        }
    }

    /// The file that is meant by `require(name)` here.
    pub(super) fn file_named(&self, name: &str) -> Option<&'r riskbreaker_ruleset::Source> {
        let stack = self.known.stack;
        let found = match name.strip_prefix("@parent/") {
            Some(path) => stack.file_below(self.part, path),
            None => stack.file(name),
        };
        found.map(|(_, source)| source)
    }
}

/// Line and column of a position, from 1, as problems have them: the parser counts the bytes of a line, and problems its letters.
pub(super) fn place_in(text: &str, at: TextPosition) -> (u32, u32) {
    let line = text.lines().nth(at.line as usize).unwrap_or_default();
    let column = line.get(..at.column as usize).map_or(at.column, |before| before.chars().count() as u32);
    (at.line.saturating_add(1), column.saturating_add(1))
}
