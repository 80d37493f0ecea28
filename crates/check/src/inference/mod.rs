//! The inference pass: the meanings and types of expressions, as far as reading a script shows them.

pub(crate) mod absent;
pub(crate) mod call;
pub(crate) mod called;
pub(crate) mod choice;
pub(crate) mod evidence;
mod fields;
mod meaning;
mod members_of;
pub(crate) mod silent;
pub(crate) mod symbol;
mod typing;
pub(crate) mod value_type;
pub(crate) mod words_of_value;

use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};

use self::absent::AbsentValue;
use self::choice::WordsOfCall;
use self::evidence::Evidence;
use self::silent::Silent;
use self::symbol::Symbol;
use self::value_type::ValueType;
use self::words_of_value::DeclaredWords;
use crate::symbols::known::KnownNames;
use crate::symbols::signature::{Signature, TestedValues};
use crate::syntax::{Locals, literal};
use riskbreaker_ruleset::Source;
use riskbreaker_script::syntax::{Expression, ExpressionKind, Location};

/// What is known of the variables of one script. Reading the script fills it, and lints ask it.
pub(crate) struct Inference<'r> {
    pub known: &'r KnownNames<'r>,
    pub part: usize,
    /// The path inside the ruleset's folder.
    pub path: &'r str,
    /// The path with the ruleset's id, as problems show it.
    pub full: &'r str,
    pub text: &'r str,
    /// Whether it is a spec in which a game changes to other rules.
    pub elsewhere: bool,
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
    /// The whole numbers of local variables that are never assigned again.
    pub numbers: BTreeMap<u64, i64>,
    /// Local variables that hold a division which is not rounded, with the place of the division.
    pub divided: BTreeMap<u64, Location>,
    /// Local variables that hold a text which a call has returned.
    pub computed_texts: BTreeSet<u64>,
    /// Local variables that hold a choice, with the ids that it can be.
    pub choices: BTreeMap<u64, Vec<String>>,
    /// Local variables that hold what a call gives, with the texts that it can be.
    pub words_of_results: BTreeMap<u64, WordsOfCall>,
    /// Local variables that hold one of the words that a declaration lists.
    pub declared_words: BTreeMap<u64, DeclaredWords>,
    /// The local variables, and how they change.
    pub locals: Locals,
    /// Local variables of a policy that hold an entity of another seat.
    pub strangers: BTreeSet<u64>,
    /// Parameters that hold the entity which a question is about.
    pub subjects: BTreeSet<u64>,
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
    /// Parameters of the functions of this file's hook or item that are its own attachments.
    pub own_holders: BTreeSet<u64>,
    /// Local variables that are attachments of a known hook here, with its id.
    pub holder_hooks: BTreeMap<u64, String>,
    /// Local variables that get a table when they are declared.
    pub made_tables: BTreeSet<u64>,
    /// Local variables that hold a list or map of an entity itself: where it is read, and the name of the field.
    pub entity_tables: BTreeMap<u64, (Location, String)>,
    /// Local variables whose value may be nil.
    pub absent: BTreeMap<u64, AbsentValue>,
    /// What conditions of the file ask for.
    pub tested: TestedValues,
    /// The texts of the tested expressions that are no variables.
    pub tested_texts: OnceCell<BTreeSet<&'r str>>,
    /// The lines of the text.
    pub lines: OnceCell<Vec<&'r str>>,
    /// Local variables that run through the keys of a table.
    pub loop_keys: BTreeSet<u64>,
    /// Local variables that hold the result of a function that returns nothing.
    pub silent: BTreeMap<u64, Silent>,
    /// Parameters of verbs, to which nothing is added by an index.
    pub handed_to_verbs: BTreeSet<u64>,
}

impl<'r> Inference<'r> {
    pub fn new(known: &'r KnownNames<'r>, part: usize, path: &'r str, source: &'r Source) -> Inference<'r> {
        Inference {
            known,
            part,
            path,
            full: &source.path,
            text: &source.text,
            elsewhere: path.starts_with("specs/")
                && (path.starts_with("specs/convert/") || source.text.contains("t:rules(")),
            symbols: BTreeMap::new(),
            functions: BTreeMap::new(),
            value_types: BTreeMap::new(),
            evidence: Evidence::default(),
            constants: BTreeMap::new(),
            numbers: BTreeMap::new(),
            divided: BTreeMap::new(),
            computed_texts: BTreeSet::new(),
            choices: BTreeMap::new(),
            words_of_results: BTreeMap::new(),
            declared_words: BTreeMap::new(),
            locals: Locals::default(),
            strangers: BTreeSet::new(),
            subjects: BTreeSet::new(),
            keyed_by_entities: BTreeSet::new(),
            text_maps: BTreeSet::new(),
            lists: BTreeSet::new(),
            always_there: BTreeSet::new(),
            nothing: BTreeSet::new(),
            own_holders: BTreeSet::new(),
            holder_hooks: BTreeMap::new(),
            made_tables: BTreeSet::new(),
            absent: BTreeMap::new(),
            entity_tables: BTreeMap::new(),
            tested: TestedValues::default(),
            tested_texts: OnceCell::new(),
            lines: OnceCell::new(),
            loop_keys: BTreeSet::new(),
            silent: BTreeMap::new(),
            handed_to_verbs: BTreeSet::new(),
        }
    }

    /// Whether some local variable has that name.
    pub(crate) fn has_local(&self, name: &str) -> bool {
        self.locals.names.contains(name)
    }

    pub(crate) fn full_path(&self) -> &str {
        self.full
    }

    pub(crate) fn is_spec(&self) -> bool {
        self.path.starts_with("specs/")
    }

    /// Returns the text of an expression: a literal, or a local variable that never changes.
    pub(crate) fn text_of(&self, expression: Expression<'_>) -> Option<String> {
        match expression.kind() {
            ExpressionKind::Local { local, .. } => self.constants.get(&local.id).cloned(),
            _ => literal(expression),
        }
    }

    /// Returns the file that `require(name)` loads here; `None` if there is none.
    pub(crate) fn file_named(&self, name: &str) -> Option<&'r Source> {
        let stack = self.known.stack;
        let found = match name.strip_prefix("@parent/") {
            Some(path) => stack.file_below(self.part, path),
            None => stack.file(name),
        };
        found.map(|(_, source)| source)
    }
}
