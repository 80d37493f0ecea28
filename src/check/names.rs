//! What the scripts and data files of a ruleset give names to, and how the functions that they share are called.

use std::collections::{BTreeMap, BTreeSet};

use super::syntax::{is_text_map, literal, local_id, possible_texts, returned, text};
use super::value_type::ValueType;
use crate::ruleset::{Data, SourceKind, Stack};
use crate::script::api;
use crate::script::syntax::{
    Arena, AstNode, AstVisitor, BinaryOp, Expression, ExpressionKind, Function, Local, Location, Statement,
    StatementView, TableItem, Type, TypeKind, UnaryOp, parse,
};
use crate::state::Schema;

/// Names over all files of a ruleset, those of its parents among them.
#[derive(Debug, Default)]
pub(super) struct Names {
    /// Names that something has: keys of tables and of data, fields, texts that read like a name.
    given: BTreeSet<String>,
    /// The same without the files that declare kinds.
    given_elsewhere: BTreeSet<String>,
    /// How often a name is read off something, or stands as a text, outside of specs.
    read: BTreeMap<String, usize>,
    /// Hooks that some script attaches by their name; nothing is known where one is worked out.
    attached: Option<BTreeSet<String>>,
    /// Keys of tables in scripts and data, specs left out.
    keys: BTreeSet<String>,
    /// Members that are used as lists, and members of which something is read: `thing.name[1]`, `thing.name.other`.
    listed: BTreeSet<String>,
    parted: BTreeSet<String>,
    /// Names that are assigned: `thing.name = ...`.
    assigned: BTreeSet<String>,
    /// Facts that are read by `rb.fact`: it calls those that are functions.
    facts: BTreeSet<String>,
    /// How often a text stands in scripts, specs left out.
    texts: BTreeMap<String, usize>,
    /// How often a piece of a text stands in data files, in small letters.
    said: BTreeMap<String, usize>,
    /// Topics of questions.
    topics: BTreeSet<String>,
    /// What each file returns, by its path with the ruleset's id.
    modules: BTreeMap<String, Module>,
    /// The functions of verbs, and the files in which they stand.
    verbs: BTreeMap<String, (Signature, String)>,
    /// Verbs that are declared or wrapped in more than one place.
    again: BTreeSet<String>,
}

/// What a file returns, as far as that can be read off.
#[derive(Debug, Default)]
pub(super) struct Module {
    /// The names in the table that it returns, with how they are called where they are functions of the file.
    pub members: BTreeMap<String, Option<Signature>>,
    /// Those that are tables whose keys are texts.
    pub text_maps: BTreeSet<String>,
}

/// How a function of a script is called.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Signature {
    pub params: Vec<String>,
    /// How many of its parameters cannot be left out: the last of them is used as it is, whatever happens.
    pub needed: usize,
    /// Takes any number more.
    pub spread: bool,
    /// What each parameter is used as, where all its uses agree, or what its type says.
    pub uses: Vec<Option<ValueType>>,
    /// Where it ends, if it never returns anything.
    pub silent: Option<Location>,
    /// What its type says that it gives back.
    pub gives: Option<ValueType>,
}

impl Names {
    pub fn new(stack: &Stack, schema: Option<&Schema>) -> Names {
        let mut names = Names { attached: Some(BTreeSet::new()), ..Names::default() };
        for name in api::known_members() {
            names.give(name.to_string(), true);
            names.note_read(name.to_string(), 1);
        }
        for kind in schema.iter().flat_map(|schema| &schema.kinds) {
            names.given.extend(kind.fields.iter().map(|field| field.name.to_string()));
            names.given.extend(kind.derived.iter().map(|name| name.to_string()));
            for field in &kind.fields {
                names.note_read(field.name.to_string(), 1);
            }
        }
        for part in stack.parts() {
            for (path, source) in &part.folder.files {
                match source.kind() {
                    Some(SourceKind::Script) => names.script(path, &source.path, &source.text),
                    Some(SourceKind::Data) => {
                        if let Ok(data) = Data::read(source) {
                            names.data(&data.value);
                        }
                    }
                    _ => {}
                }
            }
        }
        names
    }

    fn note_read(&mut self, name: String, times: usize) {
        *self.read.entry(name).or_default() += times;
    }

    fn give(&mut self, name: String, elsewhere: bool) {
        if elsewhere {
            self.given_elsewhere.insert(name.clone());
        }
        self.given.insert(name);
    }

    fn script(&mut self, path: &str, full: &str, source: &str) {
        let arena = Arena::new();
        let Ok(root) = parse(&arena, source) else { return };
        let (kinds, spec) = (path.starts_with("kinds"), path.starts_with("specs/"));
        let mut gatherer = Gatherer { names: self, file: full, kinds, spec };
        root.visit(&mut gatherer);
        if let Some(module) = module_of(root.as_slice()) {
            self.modules.insert(full.to_string(), module);
        }
    }

    fn data(&mut self, value: &serde_json::Value) {
        match value {
            serde_json::Value::Object(table) => {
                for (key, value) in table {
                    self.keys.insert(key.clone());
                    self.give(key.clone(), true);
                    self.data(value);
                }
            }
            serde_json::Value::Array(list) => list.iter().for_each(|value| self.data(value)),
            serde_json::Value::String(text) => {
                for piece in super::data::pieces(text) {
                    *self.said.entry(piece.to_lowercase()).or_default() += 1;
                }
            }
            _ => {}
        }
    }

    pub fn is_given(&self, name: &str) -> bool {
        self.given.contains(name)
    }

    /// Whether something else than a kind has a member of that name.
    pub fn is_given_elsewhere(&self, name: &str) -> bool {
        self.given_elsewhere.contains(name)
    }

    pub fn is_assigned(&self, name: &str) -> bool {
        self.assigned.contains(name)
    }

    /// Whether something has it as a key.
    pub fn is_key(&self, name: &str) -> bool {
        self.keys.contains(name)
    }

    /// Whether a member of that name is a list wherever it is used.
    pub fn is_list(&self, name: &str) -> bool {
        self.listed.contains(name) && !self.parted.contains(name)
    }

    /// How often a name is read off something, or stands as a text.
    pub fn reads(&self, name: &str) -> usize {
        self.read.get(name).copied().unwrap_or_default()
    }

    pub fn is_read(&self, name: &str) -> bool {
        self.read.contains_key(name)
    }

    /// How often a text stands in the scripts.
    pub fn times(&self, text: &str) -> usize {
        self.texts.get(text).copied().unwrap_or_default()
    }

    /// How often a piece of a text stands in data files.
    pub fn said(&self, piece: &str) -> usize {
        self.said.get(&piece.to_lowercase()).copied().unwrap_or_default()
    }

    /// Pieces of texts that stand in data files more than once, in small letters.
    pub fn often_said(&self) -> impl Iterator<Item = &str> {
        self.said.iter().filter(|(_, times)| **times > 1).map(|(piece, _)| piece.as_str())
    }

    pub fn given(&self) -> impl Iterator<Item = &str> {
        self.given.iter().map(String::as_str)
    }

    /// What was meant by a member, or a key of data, that nothing knows: the nearest name, of several the one that is read
    /// most often.
    pub fn meant(&self, name: &str) -> Option<&str> {
        let letters = name.chars().count();
        let small = |name: &str| !name.contains(|letter: char| letter.is_uppercase() || letter == ' ');
        let slips = if letters < 2 { 0 } else { (letters / 3).clamp(1, 4) };
        let known = self.read.iter().filter(|(other, _)| **other != name && small(other) == small(name));
        let near = known.filter_map(|(other, times)| {
            let distance = strsim::damerau_levenshtein(name, other);
            (distance <= slips).then_some((distance, std::cmp::Reverse(*times), other.as_str()))
        });
        near.min().map(|(_, _, other)| other)
    }

    /// Whether some script may attach a hook.
    pub fn is_attached(&self, hook: &str) -> bool {
        self.attached.as_ref().is_none_or(|attached| attached.contains(hook))
    }

    /// Whether some script reads a fact of that name by `rb.fact`.
    pub fn is_fact(&self, name: &str) -> bool {
        self.facts.contains(name)
    }

    /// Texts in the scripts that read like a name.
    pub fn texts(&self) -> impl Iterator<Item = &str> {
        self.texts.keys().map(String::as_str)
    }

    pub fn topics(&self) -> &BTreeSet<String> {
        &self.topics
    }

    /// What a file returns; nothing where that cannot be read off.
    pub fn module(&self, path: &str) -> Option<&Module> {
        self.modules.get(path)
    }

    pub fn verb(&self, name: &str) -> Option<&Signature> {
        self.verbs.get(name).map(|(signature, _)| signature)
    }

    /// The file in which a verb stands, if it stands in one only.
    pub fn file_of_verb(&self, name: &str) -> Option<&str> {
        self.verbs.get(name).filter(|_| !self.again.contains(name)).map(|(_, file)| file.as_str())
    }
}

impl Module {
    fn insert(&mut self, name: String, value: Expression<'_>, functions: &BTreeMap<u64, Signature>) {
        // Whoever assigns it twice may make something else of it.
        if is_text_map(value) && !self.members.contains_key(&name) {
            self.text_maps.insert(name.clone());
        } else {
            self.text_maps.remove(&name);
        }
        self.members.insert(name, signature_of(value, functions));
    }
}

impl Signature {
    pub fn of(function: &Function<'_>) -> Signature {
        let params = function.args.iter().map(|arg| text(arg.name)).collect();
        let used = certain_uses(function);
        let needs = |arg: &Local<'_>| used.contains(&arg.id) || arg.annotation.is_some_and(is_needed);
        let needed = function.args.iter().rposition(|arg| needs(arg));
        let mut found = ParamUses::default();
        function.body.visit(&mut found);
        let use_of = |arg: &&Local<'_>| match arg.annotation {
            Some(ty) => type_named(ty),
            None => found.of(arg.id),
        };
        let uses = function.args.iter().map(use_of).collect();
        let mut returns = Vec::new();
        returned(function.body, &mut returns);
        let silent = returns.iter().all(|values| values.is_empty()).then(|| super::flow::end_of(function));
        let gives = super::flow::promised_type(function);
        Signature { params, needed: needed.map_or(0, |last| last + 1), spread: function.vararg, uses, silent, gives }
    }
}

/// The value that a type of one word says.
pub(super) fn type_named(ty: Type<'_>) -> Option<ValueType> {
    let TypeKind::Named(name) = ty.kind() else { return None };
    match text(name).as_str() {
        "number" => Some(ValueType::Number),
        "string" => Some(ValueType::Text),
        "boolean" => Some(ValueType::Truth),
        _ => None,
    }
}

/// Whether a parameter of that type cannot be left out: where it is plain, and not `T?`, `T | nil` or `any`.
fn is_needed(ty: Type<'_>) -> bool {
    type_named(ty).is_some() || matches!(ty.kind(), TypeKind::Table)
}

/// How the local variables of a function are used.
#[derive(Default)]
struct ParamUses {
    /// With a colon: as an entity.
    entities: BTreeSet<u64>,
    /// Something is read off them by name: entities, or tables.
    read: BTreeSet<u64>,
    /// In arithmetic.
    numbers: BTreeSet<u64>,
    /// In any other way that says something, and those that are assigned.
    others: BTreeSet<u64>,
}

impl ParamUses {
    fn of(&self, id: u64) -> Option<ValueType> {
        let read = self.read.contains(&id);
        match (self.entities.contains(&id), self.numbers.contains(&id), self.others.contains(&id)) {
            (true, false, false) => Some(ValueType::Entity),
            (false, true, false) if !read => Some(ValueType::Number),
            (false, false, false) if read => Some(ValueType::Table),
            _ => None,
        }
    }
}

impl<'ast> AstVisitor<'ast> for ParamUses {
    fn visit_node(&mut self, node: AstNode<'ast>) -> bool {
        match node {
            AstNode::Statement(statement) => match statement.view() {
                StatementView::Assign(assign) => {
                    self.others.extend(assign.vars.iter().filter_map(|var| local_id(*var)))
                }
                StatementView::CompoundAssign(assign) => self.others.extend(local_id(assign.var)),
                _ => {}
            },
            AstNode::Expression(expression) => match expression.kind() {
                ExpressionKind::Call { func, self_call: true, .. } => {
                    if let ExpressionKind::IndexName { expr, .. } = func.kind() {
                        self.entities.extend(local_id(expr));
                    }
                }
                // Whoever asks for the type of something expects more than one.
                ExpressionKind::Call { func, args, .. } => {
                    if matches!(func.kind(), ExpressionKind::Global(name) if name == "type" || name == "typeof" || name == "tonumber")
                    {
                        self.others.extend(args.iter().filter_map(|arg| local_id(*arg)));
                    }
                    if let ExpressionKind::IndexName { expr, .. } = func.kind()
                        && matches!(expr.kind(), ExpressionKind::Global(name) if name == "math")
                    {
                        self.numbers.extend(args.iter().filter_map(|arg| local_id(*arg)));
                    }
                }
                ExpressionKind::IndexName { expr, .. } => self.read.extend(local_id(expr)),
                ExpressionKind::Binary {
                    lhs,
                    op: BinaryOp::Add | BinaryOp::Subtract | BinaryOp::Multiply | BinaryOp::Divide,
                    rhs,
                } => self.numbers.extend([local_id(lhs), local_id(rhs)].into_iter().flatten()),
                // What may be left out, or be one of several things.
                ExpressionKind::Binary { lhs, op: BinaryOp::Or | BinaryOp::And, rhs } => {
                    self.others.extend([local_id(lhs), local_id(rhs)].into_iter().flatten());
                }
                ExpressionKind::Binary { lhs, op: BinaryOp::Equal | BinaryOp::NotEqual, rhs } => {
                    for (one, other) in [(lhs, rhs), (rhs, lhs)] {
                        let number = matches!(other.kind(), ExpressionKind::Number { .. });
                        if number { &mut self.numbers } else { &mut self.others }.extend(local_id(one));
                    }
                }
                ExpressionKind::Unary { op: UnaryOp::Not | UnaryOp::Length, rhs } => self.others.extend(local_id(rhs)),
                ExpressionKind::Unary { op: UnaryOp::Negate, rhs } => self.numbers.extend(local_id(rhs)),
                ExpressionKind::If { condition, .. } => self.others.extend(local_id(condition)),
                _ => {}
            },
        }
        true
    }
}

struct Gatherer<'n> {
    names: &'n mut Names,
    /// With the ruleset's id before it.
    file: &'n str,
    kinds: bool,
    spec: bool,
}

impl Gatherer<'_> {
    fn give(&mut self, name: String) {
        self.names.give(name, !self.kinds && !self.spec);
    }
}

impl<'ast> AstVisitor<'ast> for Gatherer<'_> {
    fn visit_node(&mut self, node: AstNode<'ast>) -> bool {
        match node {
            AstNode::Statement(statement) => self.statement(statement),
            AstNode::Expression(expression) => {
                if let ExpressionKind::Table { items } = expression.kind() {
                    self.table(items);
                    return false;
                }
                self.expression(expression);
            }
        }
        true
    }
}

impl<'ast> Gatherer<'_> {
    /// Keys of tables are names that are given, and no texts.
    fn table(&mut self, items: &'ast [TableItem<'ast>]) {
        for item in items {
            match item {
                TableItem::List { value } => value.visit(self),
                TableItem::General { key, value } => {
                    key.visit(self);
                    value.visit(self);
                }
                TableItem::Record { key, value } => {
                    if let Some(name) = literal(*key) {
                        self.record(name, *value);
                    }
                    value.visit(self);
                }
            }
        }
    }

    fn record(&mut self, name: String, value: Expression<'_>) {
        if name == "topic" {
            self.names.topics.extend(possible_texts(value));
        }
        let wraps = matches!(value.kind(), ExpressionKind::Call { func, .. }
            if matches!(func.kind(), ExpressionKind::IndexName { index, .. } if index == "wrapped"));
        let verb = verb_of(value);
        let is_again = verb.is_some() && self.file.contains("/verbs") && self.names.verbs.contains_key(&name);
        if wraps || is_again {
            self.names.again.insert(name.clone());
        }
        if let Some(signature) = verb {
            self.names.verbs.insert(name.clone(), (signature, self.file.to_string()));
        }
        if !self.spec {
            self.names.keys.insert(name.clone());
        }
        self.give(name);
    }
}

impl Gatherer<'_> {
    fn statement(&mut self, statement: Statement<'_>) {
        let targets: &[Expression<'_>] = match statement.view() {
            StatementView::Assign(assign) => assign.vars,
            StatementView::FunctionDeclaration(declaration) => std::slice::from_ref(&declaration.name),
            _ => return,
        };
        for target in targets {
            if let ExpressionKind::IndexName { index, .. } = target.kind() {
                self.names.assigned.insert(text(index));
                self.give(text(index));
            }
        }
    }

    fn expression(&mut self, expression: Expression<'_>) {
        match expression.kind() {
            ExpressionKind::String { .. } => {
                let Some(name) = literal(expression).filter(|name| name.len() <= 64) else { return };
                if !self.spec {
                    *self.names.texts.entry(name.clone()).or_default() += 1;
                    self.names.note_read(name.clone(), 1);
                }
                self.give(name);
            }
            ExpressionKind::Call { func, args, .. } => {
                if let (ExpressionKind::Global(name), Some(list)) = (func.kind(), args.first())
                    && name == "ipairs"
                {
                    self.names.listed.extend(member(*list));
                }
                let ExpressionKind::IndexName { expr, index, .. } = func.kind() else { return };
                self.names.parted.extend(member(expr));
                if index == "fact" {
                    self.names.facts.extend(args.get(1).and_then(|arg| literal(*arg)));
                }
                if index == "attach" && !self.spec {
                    match args.first().and_then(|arg| literal(*arg)) {
                        Some(hook) => self.names.attached.iter_mut().for_each(|attached| {
                            attached.insert(hook.clone());
                        }),
                        None => self.names.attached = None,
                    }
                }
            }
            ExpressionKind::IndexName { expr, index, .. } => {
                self.names.parted.extend(member(expr));
                if !self.spec {
                    self.names.note_read(text(index), 1);
                }
            }
            ExpressionKind::IndexExpr { expr, index } if matches!(index.kind(), ExpressionKind::Number { .. }) => {
                self.names.listed.extend(member(expr));
            }
            ExpressionKind::Unary { op: UnaryOp::Length, rhs } => self.names.listed.extend(member(rhs)),
            _ => {}
        }
    }
}

/// The name of a member that is read off something.
fn member(expression: Expression<'_>) -> Option<String> {
    match expression.kind() {
        ExpressionKind::IndexName { index, .. } => Some(text(index)),
        _ => None,
    }
}

/// `rb.verb({ ... }, function)`, `rb.replace(rb.verb(...))` and the like.
fn verb_of(value: Expression<'_>) -> Option<Signature> {
    let ExpressionKind::Call { func, args, .. } = value.kind() else { return None };
    let ExpressionKind::IndexName { index, .. } = func.kind() else { return None };
    if index == "verb"
        && let Some(ExpressionKind::FunctionLiteral(function)) = args.get(1).map(|arg| arg.kind())
    {
        return Some(Signature::of(function));
    }
    (index == "replace").then(|| verb_of(*args.first()?)).flatten()
}

/// What a file returns, if it is a table whose names stand there.
fn module_of(block: &[Statement<'_>]) -> Option<Module> {
    let StatementView::Return(returned) = block.last()?.view() else { return None };
    let [value] = returned.expressions else { return None };
    let functions = functions_of(block);
    let ExpressionKind::Local { local, .. } = value.kind() else { return table_of(*value, &functions) };
    let id = local.id;
    let mut module = None;
    let mut uses = Uses { id, plain: 0, by_name: 0 };
    for statement in block {
        statement.visit(&mut uses);
        match statement.view() {
            StatementView::Local(declared) => {
                let places = declared.bindings.iter().zip(declared.values);
                for (_, value) in places.filter(|(binding, _)| binding.id == id) {
                    module = Some(table_of(*value, &functions)?);
                }
            }
            StatementView::FunctionDeclaration(declaration) => {
                if let Some(name) = member_of(declaration.name, id) {
                    let signature = declaration.function.as_function().map(Signature::of);
                    module.as_mut()?.members.insert(name, signature);
                }
            }
            StatementView::Assign(assign) => {
                for (target, value) in assign.vars.iter().zip(assign.values) {
                    if let Some(name) = member_of(*target, id) {
                        module.as_mut()?.insert(name, *value, &functions);
                    }
                }
            }
            _ => {}
        }
    }
    // Whoever is handed the whole table may put more into it. The one place left is where it is returned.
    module.filter(|_| uses.plain == uses.by_name + 1)
}

fn table_of(value: Expression<'_>, functions: &BTreeMap<u64, Signature>) -> Option<Module> {
    let ExpressionKind::Table { items } = value.kind() else { return None };
    let mut module = Module::default();
    for item in items {
        let TableItem::Record { key, value } = item else { return None };
        module.insert(literal(*key)?, *value, functions);
    }
    Some(module)
}

fn signature_of(value: Expression<'_>, functions: &BTreeMap<u64, Signature>) -> Option<Signature> {
    match value.kind() {
        ExpressionKind::FunctionLiteral(function) => Some(Signature::of(function)),
        ExpressionKind::Local { local, .. } => functions.get(&local.id).cloned(),
        _ => None,
    }
}

/// The local functions of a file.
fn functions_of(block: &[Statement<'_>]) -> BTreeMap<u64, Signature> {
    let mut functions = BTreeMap::new();
    for statement in block {
        match statement.view() {
            StatementView::LocalFunction(local) => {
                if let Some(function) = local.function.as_function() {
                    functions.insert(local.name.id, Signature::of(function));
                }
            }
            StatementView::Local(local) => {
                for (binding, value) in local.bindings.iter().zip(local.values) {
                    if let ExpressionKind::FunctionLiteral(function) = value.kind() {
                        functions.insert(binding.id, Signature::of(function));
                    }
                }
            }
            _ => {}
        }
    }
    functions
}

/// The name of `local.name`, for the local variable that is meant.
fn member_of(expression: Expression<'_>, id: u64) -> Option<String> {
    let ExpressionKind::IndexName { expr, index, .. } = expression.kind() else { return None };
    let ExpressionKind::Local { local, .. } = expr.kind() else { return None };
    (local.id == id).then(|| text(index))
}

/// How often a local variable is named, and how often only to get at something in it by name.
struct Uses {
    id: u64,
    plain: usize,
    by_name: usize,
}

impl<'ast> AstVisitor<'ast> for Uses {
    fn visit_node(&mut self, node: AstNode<'ast>) -> bool {
        if let AstNode::Expression(expression) = node {
            match expression.kind() {
                ExpressionKind::Local { local, .. } if local.id == self.id => self.plain += 1,
                _ if member_of(expression, self.id).is_some() => self.by_name += 1,
                _ => {}
            }
        }
        true
    }
}

/// The parameters of a function that it reads from, calls or reckons with whatever else happens, and never asks
/// whether they are there.
fn certain_uses(function: &Function<'_>) -> BTreeSet<u64> {
    let mut uses = CertainUses::default();
    uses.block(function.body.as_slice());
    let mut asked = Asked(BTreeSet::new());
    function.body.visit(&mut asked);
    uses.0.difference(&asked.0).copied().collect()
}

#[derive(Default)]
struct CertainUses(BTreeSet<u64>);

impl CertainUses {
    fn block(&mut self, statements: &[Statement<'_>]) {
        for statement in statements {
            match statement.view() {
                StatementView::Local(local) => local.values.iter().for_each(|value| self.expression(*value)),
                StatementView::Assign(assign) => assign.values.iter().for_each(|value| self.expression(*value)),
                StatementView::CompoundAssign(assign) => self.reckoned(assign.value),
                StatementView::Expression(statement) => self.expression(statement.expr),
                StatementView::Return(returned) => {
                    returned.expressions.iter().for_each(|value| self.expression(*value));
                    return;
                }
                StatementView::If(branch) => {
                    self.expression(branch.condition);
                    let mut leaves = Leaves(false);
                    statement.visit(&mut leaves);
                    if leaves.0 {
                        return;
                    }
                }
                _ => {}
            }
        }
    }

    fn expression(&mut self, expression: Expression<'_>) {
        match expression.kind() {
            ExpressionKind::Grouped(inner) | ExpressionKind::TypeAssertion { expr: inner, .. } => {
                self.expression(inner)
            }
            ExpressionKind::Unary { op, rhs } => match op {
                UnaryOp::Not => self.expression(rhs),
                _ => self.reckoned(rhs),
            },
            ExpressionKind::Binary { lhs, op, rhs } => match op {
                BinaryOp::And | BinaryOp::Or => self.expression(lhs),
                BinaryOp::Equal | BinaryOp::NotEqual => {
                    self.expression(lhs);
                    self.expression(rhs);
                }
                _ => {
                    self.reckoned(lhs);
                    self.reckoned(rhs);
                }
            },
            ExpressionKind::IndexName { expr, .. } => self.reckoned(expr),
            ExpressionKind::IndexExpr { expr, index } => {
                self.reckoned(expr);
                self.expression(index);
            }
            ExpressionKind::Call { func, args, .. } => {
                self.reckoned(func);
                args.iter().for_each(|arg| self.expression(*arg));
            }
            ExpressionKind::If { condition, .. } => self.expression(condition),
            ExpressionKind::Table { items } => {
                for item in items {
                    match item {
                        TableItem::List { value } | TableItem::Record { value, .. } => self.expression(*value),
                        TableItem::General { key, value } => {
                            self.expression(*key);
                            self.expression(*value);
                        }
                    }
                }
            }
            _ => {}
        }
    }

    /// Something that fails where it is nothing.
    fn reckoned(&mut self, expression: Expression<'_>) {
        match expression.kind() {
            ExpressionKind::Local { local, .. } => {
                self.0.insert(local.id);
            }
            _ => self.expression(expression),
        }
    }
}

/// Local variables of which a script asks whether they are there, or to which it assigns.
struct Asked(BTreeSet<u64>);

impl Asked {
    fn about(&mut self, expression: Expression<'_>) {
        match expression.kind() {
            ExpressionKind::Local { local, .. } => {
                self.0.insert(local.id);
            }
            ExpressionKind::Grouped(inner) => self.about(inner),
            _ => {}
        }
    }
}

impl<'ast> AstVisitor<'ast> for Asked {
    fn visit_node(&mut self, node: AstNode<'ast>) -> bool {
        match node {
            AstNode::Statement(statement) => match statement.view() {
                StatementView::If(branch) => self.about(branch.condition),
                StatementView::While(looped) => self.about(looped.condition),
                StatementView::Assign(assign) => assign.vars.iter().for_each(|var| self.about(*var)),
                StatementView::CompoundAssign(assign) => self.about(assign.var),
                _ => {}
            },
            AstNode::Expression(expression) => match expression.kind() {
                ExpressionKind::Unary { op: UnaryOp::Not, rhs } => self.about(rhs),
                ExpressionKind::Binary { lhs, op: BinaryOp::And | BinaryOp::Or, rhs } => {
                    self.about(lhs);
                    self.about(rhs);
                }
                ExpressionKind::Binary { lhs, op: BinaryOp::Equal | BinaryOp::NotEqual, rhs } => {
                    self.about(lhs);
                    self.about(rhs);
                }
                ExpressionKind::If { condition, .. } => self.about(condition),
                ExpressionKind::Call { func, args, .. } => {
                    if let ExpressionKind::Global(_) = func.kind() {
                        args.iter().for_each(|arg| self.about(*arg));
                    }
                }
                _ => {}
            },
        }
        true
    }
}

/// Whether a piece of a function may end it.
struct Leaves(bool);

impl<'ast> AstVisitor<'ast> for Leaves {
    fn visit_node(&mut self, node: AstNode<'ast>) -> bool {
        if let AstNode::Statement(statement) = node {
            self.0 |= matches!(statement.view(), StatementView::Return(_) | StatementView::Break);
        }
        // Functions inside it end only themselves, but that they do costs nothing but a finding.
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn signature(source: &str) -> Signature {
        functions_of(parse(&Arena::new(), source).unwrap().as_slice()).into_values().next().unwrap()
    }

    #[test]
    fn what_cannot_be_left_out_is_what_is_used_as_it_is() {
        assert_eq!(signature("local function f(a, b, c) return a.x + b end").needed, 2);
        assert_eq!(signature("local function f(a, b) if b then return b.x end return a.x end").needed, 0);
        assert_eq!(signature("local function f(a, b) b = b or 1 return a.x + b end").needed, 1);
        assert_eq!(signature("local function f(a, b) if a.x then return 1 end return b.x end").needed, 1);
        assert_eq!(signature("local function f(a, ...) return a .. select('#', ...) end").needed, 1);
    }

    fn members(source: &str) -> Option<Vec<String>> {
        module_of(parse(&Arena::new(), source).unwrap().as_slice()).map(|module| module.members.into_keys().collect())
    }

    #[test]
    fn what_a_file_returns_is_read_off_where_it_can_be() {
        assert_eq!(members("return { a = 1, b = f }").unwrap(), ["a", "b"]);
        assert_eq!(members("local m = {} function m.a() return m.b end m.b = 2 return m").unwrap(), ["a", "b"]);
        assert_eq!(members("local m = {} fill(m) return m"), None);
        assert_eq!(members("local m = {} m[k] = 1 return m"), None);
        assert_eq!(members("return make()"), None);
        assert_eq!(members("local m = table.clone(below) return m"), None);
    }
}
