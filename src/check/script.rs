use std::collections::{BTreeMap, BTreeSet};

use luau_syntax::ast::{
    BinaryOp, Block, Expression, ExpressionKind, Function, IndexNameOp, Local, Statement, StatementView, TableItem,
    UnaryOp,
};
use luau_syntax::location::Location;
use luau_syntax::parser::{ParseOptions, ParsedSource};

use super::known::{Known, Wrong, instead};
use super::names::{Signature, type_named};
use super::silent::Silent;
use super::symbol::Symbol;
use super::syntax::{Locals, is_text_map, leaves_loop, literal, text};
use super::value_type::ValueType;
use crate::dice::Dice;
use crate::ruleset::{Problem, nearest};
use crate::script::api;

/// Reads one script for names that nothing has and symbols that it may not do.
pub(super) struct Reader<'r> {
    pub known: &'r Known<'r>,
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
    /// Texts of local variables that are never assigned anew.
    constants: BTreeMap<u64, String>,
    /// Local variables that are assigned after they were declared.
    changing: BTreeSet<u64>,
    /// Local variables whose fields are written somewhere.
    pub entities: BTreeSet<u64>,
    /// Names of all local variables, for what was meant by one that is not there.
    locals: BTreeSet<String>,
    /// Names that are not there and have been told of.
    told: BTreeSet<String>,
    /// Texts of a spec file, in small letters, with how often each stands there and how it is written.
    pub spec_texts: BTreeMap<String, (usize, String)>,
    /// Whether it is asked if what is read is there at all.
    pub asked: bool,
    /// Local tables that have entities as keys.
    keyed_by_entities: BTreeSet<u64>,
    /// Local tables whose keys are texts, and that nothing else fills.
    text_maps: BTreeSet<u64>,
    /// Local tables whose places are numbers, and that nothing else fills.
    lists: BTreeSet<u64>,
    /// Local variables that are nothing and stay so.
    pub nothing: BTreeSet<u64>,
    /// Local variables that hold what a function returns which returns nothing.
    pub silent: BTreeMap<u64, Silent>,
    /// Local variables that functions further in assign.
    pub caught: BTreeSet<u64>,
    /// Tables into which something is put by an index.
    filled: BTreeSet<u64>,
    /// How many functions are around.
    pub depth: usize,
    /// Functions around that may only read, by what they are.
    pub pure: Vec<&'static str>,
    /// Keys of the tables around, the outermost first.
    pub keys: Vec<String>,
}

impl<'r> Reader<'r> {
    pub fn new(known: &'r Known<'r>, part: usize, path: &'r str, source: &'r crate::ruleset::Source) -> Reader<'r> {
        Reader {
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
            constants: BTreeMap::new(),
            changing: BTreeSet::new(),
            entities: BTreeSet::new(),
            locals: BTreeSet::new(),
            told: BTreeSet::new(),
            spec_texts: BTreeMap::new(),
            asked: false,
            keyed_by_entities: BTreeSet::new(),
            text_maps: BTreeSet::new(),
            lists: BTreeSet::new(),
            nothing: BTreeSet::new(),
            silent: BTreeMap::new(),
            caught: BTreeSet::new(),
            filled: BTreeSet::new(),
            depth: 0,
            pure: Vec::new(),
            keys: Vec::new(),
        }
    }

    /// Reads it.
    pub fn read(&mut self) {
        match ParsedSource::parse(self.text.as_bytes(), ParseOptions::default()) {
            // Of a file that does not read as Luau only that is told: whatever it seems to say may be a consequence.
            Ok(parsed) if parsed.metadata().errors.is_empty() => {
                let mut locals = Locals::default();
                parsed.root().visit(&mut locals);
                (self.changing, self.locals) = (locals.changing, locals.names);
                self.entities = locals.entities;
                (self.caught, self.filled) = (locals.caught, locals.filled);
                if self.is_spec() {
                    self.spec_texts = super::spec::texts_of(parsed.root());
                }
                self.block(parsed.root());
                self.returns_something(parsed.root());
                for (at, wrong) in super::lint::lints(parsed.root(), self.text) {
                    self.problem(at, wrong);
                }
            }
            Ok(parsed) => {
                if let Some(error) = parsed.metadata().errors.first() {
                    self.unreadable(error.location, &error.message.to_string());
                }
            }
            Err(errors) => {
                let error = errors.first();
                self.unreadable(error.location, &error.message.to_string());
            }
        }
    }

    /// A file in `lib` is there for what it returns.
    fn returns_something(&mut self, root: Block<'_>) {
        let Some(last) = root.as_slice().last().filter(|_| self.path.starts_with("lib/")) else { return };
        if super::flow::goes_on(*last) {
            let cure = "add `return NAME` as its last line, with the table that the others are to have";
            self.problem(last.location(), ("this file returns nothing to those that require it".into(), cure.into()));
        }
    }

    /// Whether some local variable has that name.
    pub(super) fn has_local(&self, name: &str) -> bool {
        self.locals.contains(name)
    }

    pub(super) fn full_path(&self) -> &str {
        self.full
    }

    pub(super) fn is_spec(&self) -> bool {
        self.path.starts_with("specs/")
    }

    pub(super) fn problem(&mut self, at: Location, (message, cure): Wrong) {
        let place = (at.begin.line.saturating_add(1), at.begin.column.saturating_add(1));
        // What is said of a place first is nearest to what is wrong with it.
        if !self.found.iter().any(|found| (found.line, found.column) == (Some(place.0), Some(place.1))) {
            self.found.push(Problem::new(self.full, message).at(place).with_cure(cure));
        }
    }

    pub(super) fn tell(&mut self, at: Location, wrong: Option<Wrong>) {
        if let Some(wrong) = wrong {
            self.problem(at, wrong);
        }
    }

    // Statements

    fn block(&mut self, block: Block<'_>) {
        for statement in block.as_slice() {
            self.statement(*statement);
        }
    }

    fn statement(&mut self, statement: Statement<'_>) {
        match statement.view() {
            StatementView::Block(block) => self.block(block),
            StatementView::Assign(assign) => {
                assign.values.iter().for_each(|value| self.expression(*value));
                assign.vars.iter().for_each(|var| self.written(*var));
            }
            StatementView::CompoundAssign(assign) => {
                self.expression(assign.value);
                // What is added to has to be there.
                if matches!(assign.var.kind(), ExpressionKind::IndexName { .. }) {
                    self.expression(assign.var);
                }
                self.operands(assign.var, assign.op, assign.value);
                self.written(assign.var);
            }
            StatementView::Expression(statement) => self.expression(statement.expr),
            StatementView::NumericFor(numeric) => {
                self.value_types.insert(numeric.name.identity().as_u64(), ValueType::Number);
                self.expression(numeric.start);
                self.expression(numeric.limit);
                numeric.step.into_iter().for_each(|step| self.expression(step));
                self.block(numeric.body);
            }
            StatementView::GenericFor(generic) => {
                generic.values.iter().for_each(|value| self.expression(*value));
                if let Some(value) = generic.values.first() {
                    self.loops_over(*value, generic.names);
                }
                self.block(generic.body);
            }
            StatementView::FunctionDeclaration(declaration) => {
                self.written(declaration.name);
                self.expression(declaration.function);
            }
            StatementView::If(branch) => {
                self.asking(branch.condition);
                self.condition(branch.condition);
                self.block(branch.then_body);
                branch.else_body.into_iter().for_each(|body| self.statement(body));
            }
            StatementView::LocalFunction(local) => {
                if let Some(function) = local.function.as_function() {
                    self.functions.insert(local.name.identity().as_u64(), Signature::of(function));
                }
                self.expression(local.function);
            }
            StatementView::Local(local) => {
                local.values.iter().for_each(|value| self.expression(*value));
                for (binding, value) in local.bindings.iter().zip(local.values) {
                    let id = binding.identity().as_u64();
                    if let Some(thing) = self.symbol(*value) {
                        self.symbols.insert(id, thing);
                    }
                    if let Some(silent) = self.silent_call(*value) {
                        self.silent.insert(id, silent);
                    }
                    if self.changing.contains(&id) {
                        continue;
                    }
                    self.named_dice(&text(binding.name), *value);
                    if let Some(constant) = literal(*value) {
                        self.constants.insert(id, constant);
                    }
                    if !self.filled.contains(&id) && is_text_map(*value) {
                        self.text_maps.insert(id);
                    }
                    if !self.filled.contains(&id) && is_list(*value) {
                        self.lists.insert(id);
                    }
                    if matches!(value.kind(), ExpressionKind::Nil) {
                        self.nothing.insert(id);
                    }
                    if let ExpressionKind::FunctionLiteral(function) = value.kind() {
                        self.functions.insert(id, Signature::of(function));
                    } else if let Some(sort) = self.value_type(*value) {
                        self.value_types.insert(id, sort);
                    }
                }
            }
            StatementView::Repeat(repeat) => {
                let never = matches!(repeat.condition.kind(), ExpressionKind::Boolean(false) | ExpressionKind::Nil);
                if never && !leaves_loop(repeat.body) {
                    let wrong = "this loop never ends".to_string();
                    self.problem(
                        repeat.condition.location(),
                        (wrong, "add a `break`, or a condition that becomes true".into()),
                    );
                }
                self.block(repeat.body);
                self.asking(repeat.condition);
            }
            StatementView::Return(returned) => returned.expressions.iter().for_each(|value| self.expression(*value)),
            StatementView::While(looped) => {
                self.asking(looped.condition);
                self.condition(looped.condition);
                let always =
                    matches!(looped.condition.kind(), ExpressionKind::Boolean(true) | ExpressionKind::Number { .. });
                if always && !leaves_loop(looped.body) {
                    let wrong = "this loop never ends".to_string();
                    self.problem(
                        looped.condition.location(),
                        (wrong, "add a `break`, or a condition that becomes false".into()),
                    );
                }
                self.ends(looped.condition, looped.body);
                self.block(looped.body);
            }
            _ => {}
        }
    }

    /// Something is written to: a variable of the file from within a function is state that no game knows of.
    fn written(&mut self, target: Expression<'_>) {
        match target.kind() {
            ExpressionKind::Global(name) => {
                let name = text(name);
                self.told.insert(name.clone());
                let wrong = format!("`{name}` is written as a global, and a ruleset has none");
                self.problem(target.location(), (wrong, format!("write `local {name}`")));
            }
            ExpressionKind::Local { local, upvalue } => {
                if upvalue && local.function_depth == 0 && !self.is_spec() {
                    let name = text(local.name);
                    let wrong = format!(
                        "a function changes `{name}`, a variable of the file: a script keeps nothing between calls"
                    );
                    self.problem(target.location(), (wrong, "keep it in a field of an entity".into()));
                }
                self.symbols.remove(&local.identity().as_u64());
            }
            ExpressionKind::IndexName { expr, index, .. } => {
                self.expression(expr);
                let of_an_actor = matches!(expr.kind(), ExpressionKind::IndexName { expr: of, index, .. }
                    if matches!(of.kind(), ExpressionKind::Local { .. })
                        && ["actor", "owner", "target", "side", "opponent", "holder"].iter().any(|known| index == *known));
                let is_field = self.known.types_of(&text(index)).next().is_some();
                if matches!(self.symbol(expr), Some(Symbol::Entity(_))) || of_an_actor && is_field {
                    let name = text(index);
                    let wrong = format!("`{name}` of an entity is written like a table's");
                    self.problem(
                        target.location(),
                        (wrong, format!("write :set(\"{name}\", value) or :add(\"{name}\", n)")),
                    );
                }
                self.fills(expr, target.location());
            }
            ExpressionKind::IndexExpr { expr, index } => {
                self.expression(expr);
                self.expression(index);
                if let (ExpressionKind::Local { local, .. }, Some(Symbol::Entity(_))) =
                    (expr.kind(), self.symbol(index))
                {
                    self.keyed_by_entities.insert(local.identity().as_u64());
                }
                self.fills(expr, target.location());
            }
            _ => self.expression(target),
        }
    }

    /// A table is written into: one of the file's own, from within a function, is state between calls.
    fn fills(&mut self, table: Expression<'_>, at: Location) {
        let ExpressionKind::Local { local, upvalue } = table.kind() else { return };
        if upvalue && local.function_depth == 0 && self.depth > 0 && !self.is_spec() {
            let name = text(local.name);
            let wrong =
                format!("a function writes into `{name}`, a table of the file: a script keeps nothing between calls");
            self.problem(at, (wrong, "make the table inside the function, or keep it in a field of an entity".into()));
        }
    }

    fn loops_over(&mut self, value: Expression<'_>, names: &[&Local<'_>]) {
        let mut table = value;
        if let ExpressionKind::Call { func, args, .. } = value.kind()
            && let ExpressionKind::Global(name) = func.kind()
            && (name == "pairs" || name == "ipairs")
            && let Some(first) = args.first()
        {
            table = *first;
        }
        if let ExpressionKind::Local { local, .. } = table.kind()
            && self.keyed_by_entities.contains(&local.identity().as_u64())
        {
            let wrong = format!(
                "a loop over `{}`, whose keys are entities: their order differs from run to run",
                text(local.name)
            );
            self.problem(value.location(), (wrong, "use entity.id as the key, or loop over rb.each".into()));
        }
        if let (Some(Symbol::Entities(kind)), Some(name)) = (self.symbol(table), names.get(1)) {
            self.symbols.insert(name.identity().as_u64(), Symbol::Entity(kind));
        }
    }

    // Expressions

    pub(super) fn expression(&mut self, expression: Expression<'_>) {
        let at = expression.location();
        match expression.kind() {
            ExpressionKind::String { value, .. } => {
                let text = String::from_utf8_lossy(value.as_bytes()).into_owned();
                if looks_like_dice(&text)
                    && !self.is_spec()
                    && let Err(error) = Dice::parse(&text)
                {
                    self.problem(at, not_dice(&text, &error.to_string()));
                }
                self.words.insert(text);
            }
            ExpressionKind::Grouped(inner) => self.expression(inner),
            ExpressionKind::TypeAssertion { expr, .. } | ExpressionKind::Instantiate { expr, .. } => {
                self.expression(expr)
            }
            ExpressionKind::Unary { op: UnaryOp::Not, rhs } => self.asking(rhs),
            ExpressionKind::Unary { op, rhs } => {
                self.expression(rhs);
                self.one_operand(op, rhs);
            }
            ExpressionKind::Binary { lhs, op, rhs } => {
                match op {
                    BinaryOp::And | BinaryOp::Or => {
                        self.asking(lhs);
                        let asked = self.asked;
                        self.asked |= op == BinaryOp::And;
                        self.expression(rhs);
                        self.asked = asked;
                    }
                    BinaryOp::Equal | BinaryOp::NotEqual => {
                        self.asking(lhs);
                        self.asking(rhs);
                    }
                    _ => {
                        self.expression(lhs);
                        self.expression(rhs);
                        self.operands(lhs, op, rhs);
                    }
                }
                if matches!(op, BinaryOp::Equal | BinaryOp::NotEqual) {
                    self.compared(lhs, rhs);
                    self.compared(rhs, lhs);
                    self.function_compared(lhs, rhs);
                    self.function_compared(rhs, lhs);
                    self.never_equal(lhs, rhs);
                }
            }
            ExpressionKind::If { condition, then_expression, else_expression, .. } => {
                self.asking(condition);
                self.condition(condition);
                self.expression(then_expression);
                self.expression(else_expression);
            }
            ExpressionKind::InterpString { expressions, .. } => {
                expressions.iter().for_each(|inner| self.expression(*inner));
            }
            ExpressionKind::Table { items } => self.table(items),
            ExpressionKind::FunctionLiteral(function) => self.function(function, None, 0),
            ExpressionKind::IndexExpr { expr, index } => {
                self.expression(expr);
                self.expression(index);
                if matches!(index.kind(), ExpressionKind::Number { .. } | ExpressionKind::Integer { .. }) {
                    self.by_number(expr, index);
                }
                if literal(index).is_some() {
                    self.by_name(expr, index.location());
                }
                match (self.symbol(expr), literal(index)) {
                    (Some(Symbol::Word("switches")), None) => self.known.note_dynamic_switches(),
                    (Some(Symbol::Word(word)), Some(name)) => self.member_of_word(word, &name, index.location()),
                    _ => {}
                }
            }
            ExpressionKind::IndexName { expr, index, index_location, .. } => {
                self.words.insert(text(index));
                self.by_name(expr, index_location);
                self.base(expr);
                self.member(expr, &text(index), index_location);
                self.uncalled(expr, &text(index), index_location);
                self.has_no_names(expr, &text(index), index_location);
            }
            ExpressionKind::Global(name) => self.global(&text(name), at),
            ExpressionKind::Call { func, args, self_call, .. } => {
                match func.kind() {
                    ExpressionKind::IndexName { expr, index, index_location, .. } => {
                        self.words.insert(text(index));
                        self.base(expr);
                        self.member(expr, &text(index), index_location);
                    }
                    _ => self.expression(func),
                }
                self.call(func, args, self_call, at);
            }
            _ => {}
        }
    }

    /// Something of which it is asked whether it is there, or what it is.
    fn asking(&mut self, expression: Expression<'_>) {
        let asked = std::mem::replace(&mut self.asked, true);
        self.expression(expression);
        self.asked = asked;
    }

    /// Something is taken out of a table by a number that is written down.
    fn by_number(&mut self, table: Expression<'_>, index: Expression<'_>) {
        let text_map = match table.kind() {
            ExpressionKind::Local { local, .. } if self.text_maps.contains(&local.identity().as_u64()) => {
                Some(text(local.name))
            }
            ExpressionKind::IndexName { expr, index: member, .. } => match self.symbol(expr) {
                Some(Symbol::Module(path)) => {
                    let module = self.known.names.module(&path);
                    module.filter(|module| module.text_maps.contains(&text(member))).map(|_| text(member))
                }
                _ => None,
            },
            _ => None,
        };
        if let Some(name) = text_map {
            let wrong = format!("the keys of `{name}` are texts, and this is a number");
            return self.problem(index.location(), (wrong, "name one of its keys, in quotes".into()));
        }
        let zero = matches!(index.kind(), ExpressionKind::Number { value, .. } if value == 0.0);
        if zero && !self.text.contains("[0] =") {
            let wrong = "the first place of a list is 1, not 0".to_string();
            self.problem(index.location(), (wrong, "write 1 for the first one".into()));
        }
    }

    /// A list out of which something is taken by a name.
    fn by_name(&mut self, list: Expression<'_>, at: Location) {
        if let ExpressionKind::Local { local, .. } = list.kind()
            && self.lists.contains(&local.identity().as_u64())
        {
            let wrong = format!("`{}` is a list: its places are numbers, and this is a text", text(local.name));
            self.problem(at, (wrong, "write a number, from 1 on".into()));
        }
    }

    /// Something off which more is read: it has to be there.
    fn base(&mut self, expression: Expression<'_>) {
        self.has_come_back(expression);
        let asked = std::mem::replace(&mut self.asked, false);
        self.expression(expression);
        self.asked = asked;
    }

    fn global(&mut self, name: &str, at: Location) {
        if api::globals().any(|known| known == name) || !self.told.insert(name.to_string()) {
            return;
        }
        let cure = match api::NOT_HERE.iter().chain(&ELSEWHERE).find(|(not, _)| *not == name) {
            Some((_, cure)) => (*cure).to_string(),
            None if self.known.stack.file(&format!("lib/{name}")).is_some() => {
                format!("write `local {name} = require(\"lib/{name}\")` at the top")
            }
            None => match self.nearest_local(name) {
                Some(near) => format!("did you mean `{near}`?"),
                None => "declare it by `local`, put it in quotes if it is a text, or is it misspelt?".into(),
            },
        };
        self.problem(at, (format!("there is no `{name}`"), cure));
    }

    fn nearest_local(&self, name: &str) -> Option<String> {
        let mut known: Vec<&str> = vec!["rb"];
        for global in api::globals() {
            known.push(global);
        }
        known.extend(self.locals.iter().map(String::as_str));
        nearest(name, known.iter().copied()).map(str::to_string)
    }

    fn table(&mut self, items: &[TableItem<'_>]) {
        self.odd_one(items);
        self.odd_key(items);
        for item in items {
            match item {
                TableItem::List { value } => self.expression(*value),
                TableItem::General { key, value } => {
                    self.expression(*key);
                    self.expression(*value);
                }
                TableItem::Record { key, value } => {
                    let name = literal(*key).unwrap_or_default();
                    self.words.insert(name.clone());
                    self.named_dice(&name, *value);
                    self.record(&name, *value);
                }
            }
        }
    }

    /// A text without faces under a name that says it is dice: `DIE = "1d"`.
    fn named_dice(&mut self, name: &str, value: Expression<'_>) {
        let Some(written) = literal(value).filter(|_| !self.is_spec()) else { return };
        let name = name.to_lowercase();
        let says_dice = name.split('_').any(|word| matches!(word, "die" | "dice" | "roll"));
        let faceless = written.strip_suffix('d').is_some_and(|count| count.bytes().all(|byte| byte.is_ascii_digit()));
        if says_dice
            && faceless
            && let Err(error) = Dice::parse(&written)
        {
            self.problem(value.location(), not_dice(&written, &error.to_string()));
        }
    }

    /// A list of cards, one of which is none and is called nearly like one.
    fn odd_one(&mut self, items: &[TableItem<'_>]) {
        let texts = |item: &TableItem<'_>| matches!(item, TableItem::List { value } if literal(*value).is_some());
        if items.len() < 3 || !items.iter().all(texts) {
            return;
        }
        let Some(cards) = self.known.names("card") else { return };
        let mut odd = Vec::new();
        for item in items {
            let TableItem::List { value } = item else { return };
            let Some(text) = literal(*value) else { return };
            if !cards.contains(&text) {
                odd.push((value.location(), text));
            }
        }
        if let [(at, text)] = odd.as_slice()
            && self.known.names.times(text) <= 1
            && let Some(near) = nearest(text, cards.iter().map(String::as_str))
        {
            self.problem(*at, (format!("there is no card `{text}`"), format!("did you mean `{near}`?")));
        }
    }

    /// `given`: how many parameters it has before its own.
    pub(super) fn function(&mut self, function: &Function<'_>, pure: Option<&'static str>, given: usize) {
        let folder = self.path.split(['/', '.']).next().unwrap_or_default();
        if let Some(first) = function.args.get(given) {
            let thing = match (folder, self.keys.as_slice()) {
                ("kinds", [kind, place, ..]) if matches!(&**place, "derived" | "sheet" | "overview") => {
                    self.known.kind(kind).map(|_| Symbol::Entity(Some(kind.clone())))
                }
                ("hooks" | "items", [phase, verb]) if matches!(&**phase, "before" | "after" | "wrap") => {
                    Some(Symbol::Event(verb.clone()))
                }
                _ => None,
            };
            if let Some(thing) = thing {
                self.symbols.insert(first.identity().as_u64(), thing);
            }
        }
        for arg in function.args.iter().filter(|arg| !self.changing.contains(&arg.identity().as_u64())) {
            if let Some(sort) = arg.annotation.and_then(type_named) {
                self.value_types.insert(arg.identity().as_u64(), sort);
            }
        }
        if self.is_spec()
            && let Some(t) = function.args.iter().find(|arg| arg.name == "t")
        {
            self.symbols.insert(t.identity().as_u64(), Symbol::Spec);
        }
        let asked = std::mem::replace(&mut self.asked, false);
        self.depth += 1;
        self.pure.extend(pure);
        // Keys of tables inside a function say nothing of where it stands.
        let keys = std::mem::take(&mut self.keys);
        if !keys.is_empty() {
            self.keys.push("()".into());
        }
        self.promised(function);
        self.block(function.body);
        self.asked = asked;
        self.keys = keys;
        if pure.is_some() {
            self.pure.pop();
        }
        self.depth -= 1;
    }

    fn call(&mut self, func: Expression<'_>, args: &[Expression<'_>], self_call: bool, at: Location) {
        // The arguments first, so that a table of a question is read once, with its keys in mind.
        if let ExpressionKind::Global(name) = func.kind()
            && name == "require"
        {
            return self.require(args, at);
        }
        let word = match func.kind() {
            ExpressionKind::IndexName { expr, index, op: IndexNameOp::Dot, .. } => match self.symbol(expr) {
                Some(Symbol::Vocabulary) => api::word(&text(index)).map(|word| word.name),
                Some(Symbol::Word("act")) => {
                    self.verb(&text(index), at);
                    None
                }
                Some(Symbol::Library("table")) if index == "insert" || index == "remove" || index == "sort" => {
                    if let Some(table) = args.first() {
                        self.fills(*table, at);
                    }
                    None
                }
                _ => None,
            },
            _ => None,
        };
        if self_call && let ExpressionKind::IndexName { expr, index, .. } = func.kind() {
            self.method(expr, &text(index), args, at);
        }
        self.dot_or_colon(func, args, self_call);
        self.is_function(func);
        self.handed_over(func, args, self_call, at);
        if let Some("spec" | "cases") = word {
            return self.spec(args);
        }
        if let Some(word) = word {
            self.word(word, args, at);
        }
        // What a declaration holds stands at its top.
        let keys = if word.is_some_and(declares) { std::mem::take(&mut self.keys) } else { Vec::new() };
        args.iter().for_each(|arg| self.expression(*arg));
        if word.is_some_and(declares) {
            self.keys = keys;
        }
    }

    /// What is called has to be a function.
    fn is_function(&mut self, func: Expression<'_>) {
        let ExpressionKind::Local { local, .. } = func.kind() else { return };
        let Some(sort) = self.value_types.get(&local.identity().as_u64()) else { return };
        if *sort != ValueType::Function {
            let wrong = format!("`{}` is {}, and no function to call", text(local.name), sort.words());
            self.problem(func.location(), (wrong, "is a comma missing behind it?".into()));
        }
    }

    /// The text of an expression: written there, or that of a local variable that never changes.
    pub(super) fn text_of(&self, expression: Expression<'_>) -> Option<String> {
        match expression.kind() {
            ExpressionKind::Local { local, .. } => self.constants.get(&local.identity().as_u64()).cloned(),
            _ => literal(expression),
        }
    }

    fn spec(&mut self, args: &[Expression<'_>]) {
        for arg in args {
            match arg.kind() {
                ExpressionKind::Table { items } => self.rule_ids(items),
                ExpressionKind::FunctionLiteral(function) => {
                    if let Some(t) = function.args.first() {
                        self.symbols.insert(t.identity().as_u64(), Symbol::Spec);
                    }
                }
                _ => {}
            }
            self.expression(*arg);
        }
    }

    /// The file that is meant by `require(name)` here.
    pub(super) fn file_named(&self, name: &str) -> Option<&'r crate::ruleset::Source> {
        let stack = self.known.stack;
        let found = match name.strip_prefix("@parent/") {
            Some(path) => stack.file_below(self.part, path),
            None => stack.file(name),
        };
        found.map(|(_, source)| source)
    }

    fn require(&mut self, args: &[Expression<'_>], at: Location) {
        let Some(name) = args.first().and_then(|arg| literal(*arg)) else { return };
        if name == "@riskbreaker" {
            return;
        }
        let path = name.strip_prefix("@parent/").unwrap_or(&name);
        self.required.insert(path.to_string());
        if self.file_named(&name).is_none() {
            let stems =
                self.known.stack.scripts().map(|(_, path, _)| path.trim_end_matches(".luau").trim_end_matches(".lua"));
            let names: Vec<String> = stems.map(str::to_string).collect();
            self.problem(at, (format!("there is no file `{path}` to require"), instead(path, &names)));
        }
    }

    fn verb(&mut self, name: &str, at: Location) {
        if let Some(what) = self.pure.last() {
            let wrong = format!("the verb `{name}` is called in {what}, which may only read");
            self.problem(at, (wrong, "call it in `resolve`, a verb or an agenda entry".into()));
        }
    }
}

/// Words that mean something in other languages, or nothing before `rb` is there.
const ELSEWHERE: [(&str, &str); 7] = [
    ("rb", "write `local rb = require(\"@riskbreaker\")` at the top"),
    ("null", "nothing is written `nil`"),
    ("None", "nothing is written `nil`"),
    ("undefined", "nothing is written `nil`"),
    ("True", "write `true`"),
    ("False", "write `false`"),
    ("this", "write `self`, and take it as the first parameter"),
];

/// Words by which a file declares something.
fn declares(word: &'static str) -> bool {
    api::word(word).is_some_and(|word| word.group == api::Group::Declaring && word.name != "verb")
}

/// A table that is written down without keys.
fn is_list(value: Expression<'_>) -> bool {
    let ExpressionKind::Table { items } = value.kind() else { return false };
    !items.is_empty() && items.iter().all(|item| matches!(item, TableItem::List { .. }))
}

/// Whether a text begins as dice do, `2d6...`, and has no space in it.
fn looks_like_dice(text: &str) -> bool {
    let rest = text.trim_start_matches(|letter: char| letter.is_ascii_digit());
    rest.len() < text.len()
        && rest.strip_prefix('d').is_some_and(|sides| sides.starts_with(|letter: char| letter.is_ascii_alphanumeric()))
        && text.chars().all(|letter| letter.is_ascii_alphanumeric() || "+-*!<>=%".contains(letter))
}

pub(super) fn not_dice(text: &str, error: &str) -> Wrong {
    (format!("\"{text}\" are no dice: {error}"), "write them as 2d6, 1d10+1 or 4d6kh3".into())
}
