use std::collections::{BTreeMap, BTreeSet};

use luau_syntax::ast::{
    AstNode, AstVisitor, BinaryOp, Block, Expression, ExpressionKind, Function, IndexNameOp, Local, Statement,
    StatementView, TableItem, UnaryOp,
};
use luau_syntax::ast_names::AstName;
use luau_syntax::location::Location;
use luau_syntax::parser::{ParseOptions, ParsedSource};

use super::known::{Known, Wrong, instead};
use super::names::Signature;
use super::sort::Sort;
use super::typed::Call;
use crate::dice::Dice;
use crate::ruleset::{Problem, SwitchKind, nearest};
use crate::script::api;
use crate::state::{Kind, State, Type, Value};

/// Reads one script for names that nothing has and things that it may not do.
pub(super) struct Reader<'r> {
    pub known: &'r Known<'r>,
    part: usize,
    /// Inside the ruleset's folder.
    path: &'r str,
    /// As problems name it.
    full: &'r str,
    text: &'r str,
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
    /// Calls of what the host declares.
    pub calls: Vec<Call>,
    /// What is known of local variables.
    things: BTreeMap<u64, Thing>,
    /// Local functions.
    pub functions: BTreeMap<u64, Signature>,
    /// The sorts of local variables that are never assigned anew.
    pub sorts: BTreeMap<u64, Sort>,
    /// Local variables that are assigned after they were declared.
    changing: BTreeSet<u64>,
    /// Local variables whose fields are written somewhere.
    entities: BTreeSet<u64>,
    /// Names of all local variables, for what was meant by one that is not there.
    locals: BTreeSet<String>,
    /// Names that are not there and have been told of.
    told: BTreeSet<String>,
    /// Texts of a spec file, in small letters, with how often each stands there and how it is written.
    pub spec_texts: BTreeMap<String, (usize, String)>,
    /// Whether it is asked if what is read is there at all.
    asked: bool,
    /// Local tables that have entities as keys.
    keyed_by_entities: BTreeSet<u64>,
    /// How many functions are around.
    depth: usize,
    /// Functions around that may only read, by what they are.
    pure: Vec<&'static str>,
    /// Keys of the tables around, the outermost first.
    keys: Vec<String>,
}

/// What an expression is, as far as that can be known.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Thing {
    Vocabulary,
    Word(&'static str),
    Entity(Option<String>),
    Entities(Option<String>),
    Library(&'static str),
    /// What another file returns, by its path.
    Module(String),
    /// The value of a house rule.
    Switch(String),
    /// What a hook is given at a verb.
    Event(String),
    Spec,
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
            calls: Vec::new(),
            things: BTreeMap::new(),
            functions: BTreeMap::new(),
            sorts: BTreeMap::new(),
            changing: BTreeSet::new(),
            entities: BTreeSet::new(),
            locals: BTreeSet::new(),
            told: BTreeSet::new(),
            spec_texts: BTreeMap::new(),
            asked: false,
            keyed_by_entities: BTreeSet::new(),
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
                if self.is_spec() {
                    self.spec_texts = super::spec::texts_of(parsed.root());
                }
                self.block(parsed.root());
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

    fn unreadable(&mut self, at: Location, message: &str) {
        self.reads = false;
        self.problem(at, does_not_read(message));
    }

    fn is_spec(&self) -> bool {
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
                self.sorts.insert(numeric.name.identity().as_u64(), Sort::Number);
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
                    if let Some(thing) = self.thing(*value) {
                        self.things.insert(id, thing);
                    }
                    if self.changing.contains(&id) {
                        continue;
                    }
                    if let ExpressionKind::FunctionLiteral(function) = value.kind() {
                        self.functions.insert(id, Signature::of(function));
                    } else if let Some(sort) = self.sort(*value) {
                        self.sorts.insert(id, sort);
                    }
                }
            }
            StatementView::Repeat(repeat) => {
                self.block(repeat.body);
                self.asking(repeat.condition);
            }
            StatementView::Return(returned) => returned.expressions.iter().for_each(|value| self.expression(*value)),
            StatementView::While(looped) => {
                self.asking(looped.condition);
                self.condition(looped.condition);
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
                self.things.remove(&local.identity().as_u64());
            }
            ExpressionKind::IndexName { expr, index, .. } => {
                self.expression(expr);
                if let Some(Thing::Entity(_)) = self.thing(expr) {
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
                if let (ExpressionKind::Local { local, .. }, Some(Thing::Entity(_))) = (expr.kind(), self.thing(index))
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
        if let (Some(Thing::Entities(kind)), Some(name)) = (self.thing(table), names.get(1)) {
            self.things.insert(name.identity().as_u64(), Thing::Entity(kind));
        }
    }

    // Expressions

    fn expression(&mut self, expression: Expression<'_>) {
        let at = expression.location();
        match expression.kind() {
            ExpressionKind::String { value, .. } => {
                self.words.insert(String::from_utf8_lossy(value.as_bytes()).into_owned());
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
                match (self.thing(expr), literal(index)) {
                    (Some(Thing::Word("switches")), None) => self.known.note_dynamic_switches(),
                    (Some(Thing::Word(word)), Some(name)) => self.member_of_word(word, &name, index.location()),
                    _ => {}
                }
            }
            ExpressionKind::IndexName { expr, index, index_location, .. } => {
                self.words.insert(text(index));
                self.base(expr);
                self.member(expr, &text(index), index_location);
                self.uncalled(expr, &text(index), index_location);
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

    /// Something off which more is read: it has to be there.
    fn base(&mut self, expression: Expression<'_>) {
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
                    self.record(&name, *value);
                }
            }
        }
    }

    /// One entry of a table, by its key: some are functions that may only read.
    fn record(&mut self, name: &str, value: Expression<'_>) {
        if name == "rules"
            && let ExpressionKind::Table { items } = value.kind()
        {
            self.rule_ids(items);
        }
        self.always |= name == "always" && self.keys.is_empty();
        if name == "ask"
            && let Some(ask) = literal(value)
        {
            let asks: Vec<String> = api::QUESTIONS.iter().map(|(ask, _)| ask.to_string()).collect();
            if !asks.contains(&ask) && nearest(&ask, asks.iter().map(String::as_str)).is_some() {
                self.problem(value.location(), (format!("there is no question `{ask}`"), instead(&ask, &asks)));
            }
        }
        if name == "seats"
            && self.path.starts_with("play")
            && self.keys.first().is_some_and(|key| key == "free")
            && let ExpressionKind::Table { items } = value.kind()
        {
            for item in items {
                if let TableItem::List { value } = item
                    && let Some(seat) = literal(*value)
                {
                    self.tell(value.location(), self.known.wrong_name("seat", &seat));
                }
            }
        }
        let pure = self.pure_function(name);
        self.keys.push(name.to_string());
        match value.kind() {
            ExpressionKind::FunctionLiteral(function) => {
                if name == "when" {
                    self.never_open(function);
                }
                self.function(function, pure, 0);
            }
            ExpressionKind::Call { func, args: [only], .. } if self.thing(func) == Some(Thing::Word("wrapped")) => {
                match only.kind() {
                    // Before its own parameters it is given the function below.
                    ExpressionKind::FunctionLiteral(function) => self.function(function, pure, 1),
                    _ => self.expression(value),
                }
            }
            _ => {
                self.fact(name, value);
                self.expression(value);
            }
        }
        self.keys.pop();
    }

    /// A fact of a card that no script knows, and that is nearly one that some script does.
    fn fact(&mut self, name: &str, value: Expression<'_>) {
        let of_a_card = self.keys.len() == 1
            && self.depth == 0
            && (self.path.starts_with("maneuvers/") || self.path.starts_with("items/"));
        if !of_a_card || matches!(name, "id" | "title" | "text") {
            return;
        }
        let Some(fact) = literal(value) else { return };
        let a_word = fact.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_') && fact.len() > 2;
        if !a_word || self.known.names.times(&fact) > 1 {
            return;
        }
        let words = self.known.names.texts().filter(|word| **word != *fact && !word.contains(' '));
        if let Some(near) = nearest(&fact, words) {
            let wrong = format!("no script knows the {name} \"{fact}\"");
            self.problem(value.location(), (wrong, format!("did you mean \"{near}\"?")));
        }
    }

    fn rule_ids(&mut self, items: &[TableItem<'_>]) {
        for item in items {
            if let TableItem::List { value } = item
                && let Some(id) = literal(*value)
            {
                self.tell(value.location(), self.known.wrong_rule(&id));
            }
        }
    }

    /// What a function is that stands at this key of the tables around, if it may only read.
    fn pure_function(&self, name: &str) -> Option<&'static str> {
        let inside = |key: &str| self.keys.iter().any(|around| around == key);
        let at_top = self.keys.is_empty();
        let folder = self.path.split('/').next().unwrap_or(self.path);
        match (folder.trim_end_matches(".luau").trim_end_matches(".lua"), name) {
            ("maneuvers", "when") if at_top => Some("`when` of a card"),
            ("maneuvers", "note") if at_top => Some("the note of a card"),
            ("kinds", "sheet") if !inside("derived") => Some("a sheet"),
            ("kinds", _) if self.keys.last().is_some_and(|key| key == "derived") => Some("a derived value"),
            ("play", "key") if inside("entries") => Some("a key"),
            ("play", "when") if inside("free") => Some("`when` of a free act"),
            ("play", "prompt") if at_top => Some("the prompt"),
            ("policies", "answer") if at_top => Some("a policy"),
            ("creation", "check" | "build") if at_top => Some("creation"),
            _ => None,
        }
    }

    /// `given`: how many parameters it has before its own.
    fn function(&mut self, function: &Function<'_>, pure: Option<&'static str>, given: usize) {
        let folder = self.path.split(['/', '.']).next().unwrap_or_default();
        if let Some(first) = function.args.get(given) {
            let thing = match (folder, self.keys.as_slice()) {
                ("kinds", [kind, place, ..]) if matches!(&**place, "derived" | "sheet" | "overview") => {
                    self.known.kind(kind).map(|_| Thing::Entity(Some(kind.clone())))
                }
                ("hooks" | "items", [phase, verb]) if matches!(&**phase, "before" | "after" | "wrap") => {
                    Some(Thing::Event(verb.clone()))
                }
                _ => None,
            };
            if let Some(thing) = thing {
                self.things.insert(first.identity().as_u64(), thing);
            }
        }
        if self.is_spec()
            && let Some(t) = function.args.iter().find(|arg| arg.name == "t")
        {
            self.things.insert(t.identity().as_u64(), Thing::Spec);
        }
        let asked = std::mem::replace(&mut self.asked, false);
        self.depth += 1;
        self.pure.extend(pure);
        // Keys of tables inside a function say nothing of where it stands.
        let keys = std::mem::take(&mut self.keys);
        if !keys.is_empty() {
            self.keys.push("()".into());
        }
        self.block(function.body);
        self.asked = asked;
        self.keys = keys;
        if pure.is_some() {
            self.pure.pop();
        }
        self.depth -= 1;
    }

    /// A card whose `when` never says yes.
    fn never_open(&mut self, function: &Function<'_>) {
        let mut returns = Vec::new();
        returned(function.body, &mut returns);
        let closed = |values: &&[Expression<'_>]| {
            values
                .first()
                .is_none_or(|first| matches!(first.kind(), ExpressionKind::Boolean(false) | ExpressionKind::Nil))
        };
        if returns.iter().all(closed) {
            let wrong = "nobody can ever use this card: `when` never returns true".to_string();
            self.problem(function.location, (wrong, "return true at its end".into()));
        }
    }

    /// A house rule, or a field, is compared with a value that it never has.
    fn compared(&mut self, one: Expression<'_>, value: Expression<'_>) {
        let Some(constant) = constant(value).filter(|constant| *constant != Value::None) else { return };
        if let Some(Thing::Switch(name)) = self.thing(one) {
            let Some(switch) = self.known.stack.switch(&name) else { return };
            let fits = match (&switch.kind, &constant) {
                (SwitchKind::Choice { values }, Value::Text(text)) => values.iter().any(|value| **value == **text),
                (SwitchKind::Toggle, Value::Bool(_)) | (SwitchKind::Range { .. }, Value::Int(_)) => true,
                _ => false,
            };
            if !fits {
                let cure = match (&switch.kind, &constant) {
                    (SwitchKind::Choice { values }, Value::Text(text)) => instead(text, values),
                    _ => format!("it is {}", switch.kind),
                };
                self.problem(value.location(), (format!("the switch `{name}` is never {}", shown(&constant)), cure));
            }
            return;
        }
        let (ExpressionKind::IndexName { expr, index, .. }, Value::Text(given)) = (one.kind(), &constant) else {
            return;
        };
        let (name, thing) = (text(index), self.thing(expr));
        let kind = match &thing {
            Some(Thing::Entity(Some(kind))) => self.known.kind(kind),
            Some(Thing::Entity(None)) | None => None,
            _ => return,
        };
        let types: Vec<&Type> = match kind {
            Some(kind) => kind.field_named(&name).map(|field| &kind.field(field).ty).into_iter().collect(),
            None => self.known.types_of(&name).collect(),
        };
        let mut values: Vec<String> = Vec::new();
        for ty in &types {
            let Type::Enum(texts) = ty else { return };
            values.extend(texts.iter().map(ToString::to_string));
        }
        let certain = kind.is_some() || nearest(given, values.iter().map(String::as_str)).is_some();
        if !types.is_empty() && certain && !values.iter().any(|value| **value == **given) {
            self.problem(value.location(), (format!("`{name}` is never \"{given}\""), instead(given, &values)));
        }
    }

    /// Something is read off an expression by name.
    fn member(&mut self, of: Expression<'_>, name: &str, at: Location) {
        match self.thing(of) {
            Some(Thing::Vocabulary) if api::word(name).is_none() => {
                let names: Vec<String> = api::WORDS.iter().map(|word| word.name.to_string()).collect();
                let is_verb = self.known.names("verb").is_some_and(|verbs| verbs.iter().any(|verb| verb == name));
                let cure = if is_verb { format!("it is a verb: rb.act.{name}") } else { instead(name, &names) };
                self.problem(at, (format!("rb has no `{name}`"), cure));
            }
            Some(Thing::Word(word)) => self.member_of_word(word, name, at),
            Some(Thing::Library(library)) => {
                let names = api::library(library).unwrap_or_default();
                if !names.contains(&name) {
                    let cure = match (library, name) {
                        ("math", "random" | "randomseed") => "roll dice: rb.roll(\"1d6\", \"what for\")".to_string(),
                        _ => instead(name, &names.iter().map(|name| name.to_string()).collect::<Vec<_>>()),
                    };
                    self.problem(at, (format!("{library} has no `{name}`"), cure));
                }
            }
            Some(Thing::Entity(Some(kind))) => {
                if let Some(kind) = self.known.kind(&kind) {
                    let more: Vec<&str> = api::ENTITY_METHODS.iter().chain(api::ENTITY_FIELDS).copied().collect();
                    self.tell(at, self.known.wrong_member(kind, name, &more));
                }
            }
            Some(Thing::Module(path)) => {
                if let Some(module) = self.known.names.module(&path)
                    && !module.members.contains_key(name)
                {
                    let names: Vec<String> = module.members.keys().cloned().collect();
                    if self.asked && nearest(name, names.iter().map(String::as_str)).is_none() {
                        return; // whether a layer above has put it there
                    }
                    self.problem(at, (format!("{path} gives no `{name}`"), instead(name, &names)));
                }
            }
            Some(Thing::Event(verb)) => {
                let params = self.known.rules.and_then(|rules| rules.verb_params(&verb));
                if let Some(params) = params.filter(|params| !params.is_empty())
                    && name != "result"
                    && !params.iter().any(|param| param == name)
                    && !self.known.names.is_assigned(name)
                {
                    let names: Vec<String> = params.iter().cloned().chain(["result".to_string()]).collect();
                    self.problem(at, (format!("a hook at `{verb}` is given no `{name}`"), instead(name, &names)));
                }
            }
            Some(Thing::Vocabulary | Thing::Spec | Thing::Switch(_) | Thing::Entities(_)) => {}
            Some(Thing::Entity(None)) | None => self.nothing_has(of, name, at),
        }
    }

    /// Nothing in any file of the ruleset has a member of that name, and so it is never there.
    fn nothing_has(&mut self, of: Expression<'_>, name: &str, at: Location) {
        let names = &self.known.names;
        // What comes from another ruleset has names of its own.
        let foreign = self.elsewhere || self.path.starts_with("convert/");
        if foreign || names.is_given(name) || matches!(of.kind(), ExpressionKind::Global(_)) {
            return;
        }
        let near = names.meant(name).or_else(|| nearest(name, names.given().filter(|given| !given.contains(' '))));
        let wrong = format!("nothing has a `{name}`");
        match near.map(str::to_string) {
            Some(near) => self.problem(at, (wrong, format!("did you mean `{near}`?"))),
            None if self.asked => {}
            None => self
                .problem(at, (wrong, "is it misspelt, or has it yet to be declared as a field in kinds.luau?".into())),
        }
    }

    /// A derived value that is read like a field.
    fn uncalled(&mut self, of: Expression<'_>, name: &str, at: Location) {
        let certain = match self.thing(of) {
            Some(Thing::Entity(Some(kind))) => {
                self.known.kind(&kind).is_some_and(|kind| kind.derived.iter().any(|derived| **derived == *name))
            }
            Some(Thing::Entity(None)) | None => {
                self.known.is_derived(name) && !self.known.names.is_given_elsewhere(name)
            }
            _ => false,
        };
        if certain {
            let wrong = format!("`{name}` is a derived value, and it is not called");
            self.problem(at, (wrong, format!("write a colon and brackets: `:{name}()`")));
        }
    }

    fn member_of_word(&mut self, word: &str, name: &str, at: Location) {
        let sort = match word {
            "act" => "verb",
            "switches" => "switch",
            "cards" => "card",
            "items" => "item",
            "cast" => "cast",
            _ => return,
        };
        self.tell(at, self.known.wrong_name(sort, name));
    }

    fn call(&mut self, func: Expression<'_>, args: &[Expression<'_>], self_call: bool, at: Location) {
        // The arguments first, so that a table of a question is read once, with its keys in mind.
        if let ExpressionKind::Global(name) = func.kind()
            && name == "require"
        {
            return self.require(args, at);
        }
        let word = match func.kind() {
            ExpressionKind::IndexName { expr, index, op: IndexNameOp::Dot, .. } => match self.thing(expr) {
                Some(Thing::Vocabulary) => api::word(&text(index)).map(|word| word.name),
                Some(Thing::Word("act")) => {
                    self.verb(&text(index), at);
                    None
                }
                Some(Thing::Library("table")) if index == "insert" || index == "remove" || index == "sort" => {
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
        self.handed_over(func, args, self_call, at);
        if let Some(usage) = self.usage(func, self_call) {
            self.calls.push(Call {
                at,
                func: func.location(),
                args: args.iter().map(|arg| arg.location()).collect(),
                usage,
            });
        }
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

    /// A dot where a colon belongs, or the other way round.
    fn dot_or_colon(&mut self, func: Expression<'_>, args: &[Expression<'_>], self_call: bool) {
        let ExpressionKind::IndexName { expr, index, index_location, .. } = func.kind() else { return };
        let name = text(index);
        let method = |known: &str| api::ENTITY_METHODS.contains(&known) || self.known.is_derived(known);
        let wrong = match self.thing(expr) {
            Some(Thing::Vocabulary) if self_call => format!("rb.{name}"),
            Some(Thing::Spec) if !self_call => format!("t:{name}"),
            Some(Thing::Entity(_)) if !self_call && method(&name) => format!("a colon: `:{name}(...)`"),
            None if !self_call && args.is_empty() && self.known.is_derived(&name) && self.is_parameter(expr) => {
                format!("a colon: `:{name}()`")
            }
            None if !self_call
                && matches!(&*name, "set" | "add")
                && args
                    .first()
                    .and_then(|arg| literal(*arg))
                    .is_some_and(|field| self.known.types_of(&field).next().is_some()) =>
            {
                format!("a colon: `:{name}(...)`")
            }
            _ => return,
        };
        let mark = if self_call { "a colon stands where a dot belongs" } else { "a dot stands where a colon belongs" };
        self.problem(index_location, (mark.to_string(), format!("write {wrong}")));
    }

    /// Whether an expression is read off a local variable that is not a module.
    fn is_parameter(&self, expression: Expression<'_>) -> bool {
        match expression.kind() {
            ExpressionKind::Local { .. } => {
                !matches!(self.thing(expression), Some(Thing::Module(_) | Thing::Vocabulary))
            }
            ExpressionKind::IndexName { expr, .. } => self.is_parameter(expr),
            _ => false,
        }
    }

    /// How a call of something that the host declares is written.
    fn usage(&self, func: Expression<'_>, self_call: bool) -> Option<String> {
        let ExpressionKind::IndexName { expr, index, .. } = func.kind() else { return None };
        let name = text(index);
        match self.thing(expr)? {
            Thing::Vocabulary if !self_call => Some(api::word(&name)?.usage.to_string()),
            Thing::Library(library) if !self_call => Some(format!("{library}.{name}(...), as in other Luau")),
            _ => None,
        }
    }

    fn spec(&mut self, args: &[Expression<'_>]) {
        for arg in args {
            match arg.kind() {
                ExpressionKind::Table { items } => self.rule_ids(items),
                ExpressionKind::FunctionLiteral(function) => {
                    if let Some(t) = function.args.first() {
                        self.things.insert(t.identity().as_u64(), Thing::Spec);
                    }
                }
                _ => {}
            }
            self.expression(*arg);
        }
    }

    /// The file that is meant by `require(name)` here.
    fn file_named(&self, name: &str) -> Option<&'r crate::ruleset::Source> {
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

    /// A word of the vocabulary is called.
    fn word(&mut self, name: &'static str, args: &[Expression<'_>], at: Location) {
        let acts = api::word(name).is_some_and(|word| word.acts);
        if let (true, Some(what)) = (acts, self.pure.last()) {
            let wrong = format!("rb.{name} is called in {what}, which may only read");
            self.problem(at, (wrong, "move it to `resolve`, a verb or an agenda entry".into()));
        }
        let first = args.first().and_then(|arg| literal(*arg).map(|text| (text, arg.location())));
        let sort = match name {
            "each" | "first" | "spawn" | "ref" => Some("kind"),
            "card" => Some("card"),
            "item_of" => Some("item"),
            "attach" => Some("hook"),
            "schedule" | "recur" => Some("entry"),
            _ => None,
        };
        if let (Some(sort), Some((text, at))) = (sort, &first) {
            self.tell(*at, self.known.wrong_name(sort, text));
        }
        let label = match name {
            "roll" | "faces" => Some(1),
            "under" | "at_most" | "at_least" | "band" => Some(2),
            "say" | "cut" | "finish" => Some(0),
            "whisper" => Some(1),
            _ => None,
        };
        if let Some(label) = label {
            self.filled(args, label);
        }
        if matches!(name, "roll" | "faces" | "under" | "at_most" | "at_least" | "band")
            && let Some((text, at)) = &first
            && let Err(error) = Dice::parse(text)
        {
            self.problem(
                *at,
                (format!("\"{text}\" are no dice: {error}"), "write them as 2d6, 1d10+1 or 4d6kh3".into()),
            );
        }
        if matches!(name, "under" | "at_most" | "at_least" | "band")
            && first.is_none()
            && let Some(dice) = args.get(1).and_then(|arg| literal(*arg))
            && Dice::parse(&dice).is_ok()
        {
            let usage = api::word(name).map_or("", |word| word.usage);
            self.problem(at, (format!("the dice \"{dice}\" come first"), format!("it is written {usage}")));
        }
        if name == "agenda"
            && let Some(ExpressionKind::Table { items }) = args.first().map(|arg| arg.kind())
        {
            for item in items {
                if let TableItem::Record { key, value } = item
                    && literal(*key).as_deref() == Some("what")
                    && let Some(entry) = literal(*value)
                {
                    self.tell(value.location(), self.known.wrong_name("entry", &entry));
                }
            }
        }
        if name == "spawn"
            && let (Some((kind, _)), Some(table)) = (&first, args.get(1))
            && let Some(kind) = self.known.kind(kind)
        {
            self.fields_of(kind, *table);
        }
        if let Some((_, own)) = api::QUESTIONS.iter().find(|(ask, _)| *ask == name)
            && let Some(table) = args.first()
        {
            self.question(name, own, *table);
        }
        if name == "open"
            && let Some((option, at)) = args.get(1).and_then(|arg| Some((literal(*arg)?, arg.location())))
            && self.known.names.times(&option) <= 1
        {
            self.tell(at, self.known.wrong_name("card", &option));
        }
        if name == "whisper"
            && let Some((text, at)) = &first
        {
            self.tell(*at, self.known.wrong_name("seat", text));
        }
    }

    /// A text with `{}` in it and the values that fill them.
    fn filled(&mut self, args: &[Expression<'_>], label: usize) {
        let Some(text) = args.get(label).and_then(|arg| literal(*arg)) else { return };
        let (places, given) = (text.matches("{}").count(), args.len() - label - 1);
        let open_end = args.last().is_some_and(|last| {
            matches!(last.kind(), ExpressionKind::Varargs | ExpressionKind::Call { .. }) && args.len() > label + 1
        });
        if places != given && !(open_end && given <= places) {
            let wrong = format!("\"{text}\" has {places} `{{}}`, and {given} values to fill them");
            self.problem(args[label].location(), (wrong, "give one value for each `{}`".into()));
        }
    }

    fn question(&mut self, ask: &str, own: &[&str], table: Expression<'_>) {
        let ExpressionKind::Table { items } = table.kind() else { return };
        for item in items {
            let TableItem::Record { key, value } = item else { continue };
            let Some(name) = literal(*key) else { continue };
            let all: Vec<String> = api::QUESTION_FIELDS.iter().chain(own).map(|name| name.to_string()).collect();
            if !all.contains(&name) {
                self.problem(key.location(), (format!("rb.{ask} has no field `{name}`"), instead(&name, &all)));
            }
            if (name == "seat" || name == "audience")
                && let Some(seat) = literal(*value)
            {
                self.tell(value.location(), self.known.wrong_name("seat", &seat));
            }
        }
        let value = |wanted: &str| {
            items.iter().find_map(|item| match item {
                TableItem::Record { key, value } if literal(*key).as_deref() == Some(wanted) => Some(*value),
                _ => None,
            })
        };
        if let (Some(Value::Int(min)), Some(Value::Int(max))) =
            (value("min").and_then(constant), value("max").and_then(constant))
            && min > max
            && let Some(place) = value("max")
        {
            let wrong = format!("nothing is between {min} and {max}");
            self.problem(place.location(), (wrong, format!("write min = {max}, max = {min}")));
        }
        if matches!(ask, "choose" | "choose_many" | "allot" | "order") && value("options").is_none() {
            self.problem(
                table.location(),
                (format!("rb.{ask} lacks `options`"), "add options = a list of what is open".into()),
            );
        }
        for name in ["min", "max", "total"] {
            let wanted = match ask {
                "number" => name != "total",
                "allot" => name == "total",
                _ => false,
            };
            if wanted && value(name).is_none() {
                self.problem(
                    table.location(),
                    (format!("rb.{ask} lacks `{name}`"), format!("add {name} = a whole number")),
                );
            }
        }
        self.fields_fit(items);
        if let Some(options) = value("options") {
            self.options(options, value("default"), value("other").is_some());
        }
        let topic = value("topic").and_then(literal);
        if topic.as_deref() == Some("card")
            && let Some(default) = value("default")
            && let Some(card) = literal(default)
        {
            self.tell(default.location(), self.known.wrong_name("card", &card));
        }
    }

    /// Values of a question that are of another sort than it takes.
    fn fields_fit(&mut self, items: &[TableItem<'_>]) {
        for item in items {
            let TableItem::Record { key, value } = item else { continue };
            let wanted = match literal(*key).as_deref() {
                Some("min" | "max" | "total" | "least") => Sort::Number,
                Some("seat" | "topic" | "audience") => Sort::Text,
                Some("auto" | "sealed" | "propose" | "other") => Sort::Truth,
                _ => continue,
            };
            if let Some(sort) = self.sort(*value).filter(|sort| *sort != wanted) {
                let wrong = format!("{} is wanted here, and this is {}", wanted.words(), sort.words());
                self.problem(
                    value.location(),
                    (wrong, "look at the question's other values, or at docs/reference.md".into()),
                );
            }
        }
    }

    /// The options of a question as they are written down, and what is taken where nobody answers.
    fn options(&mut self, options: Expression<'_>, default: Option<Expression<'_>>, other: bool) {
        let ExpressionKind::Table { items } = options.kind() else { return };
        let known: Vec<String> = api::OPTION_FIELDS.iter().map(ToString::to_string).collect();
        let mut ids = Vec::new();
        let mut all = !items.is_empty();
        for item in items {
            let TableItem::List { value } = item else { return };
            let id = match value.kind() {
                ExpressionKind::Table { items } => {
                    let mut id = None;
                    for item in items {
                        let TableItem::Record { key, value } = item else { continue };
                        let Some(name) = literal(*key) else { continue };
                        if name == "id" {
                            id = literal(*value);
                        }
                        if !known.contains(&name) && nearest(&name, known.iter().map(String::as_str)).is_some() {
                            self.problem(
                                key.location(),
                                (format!("an option has no field `{name}`"), instead(&name, &known)),
                            );
                        }
                    }
                    id
                }
                _ => literal(*value),
            };
            all &= id.is_some();
            ids.extend(id);
        }
        if let Some(default) = default.filter(|_| all && !other)
            && let Some(name) = literal(default)
            && !ids.contains(&name)
        {
            self.problem(default.location(), (format!("no option is `{name}`"), instead(&name, &ids)));
        }
    }

    /// Fields that are given by name, with the values that can be read off.
    fn fields_of(&mut self, kind: &Kind, table: Expression<'_>) {
        let ExpressionKind::Table { items } = table.kind() else { return };
        for item in items {
            let TableItem::Record { key, value } = item else { continue };
            let Some(name) = literal(*key) else { continue };
            self.field(kind, &name, key.location(), Some(*value));
        }
    }

    fn field(&mut self, kind: &Kind, name: &str, at: Location, value: Option<Expression<'_>>) {
        let Some(field) = kind.field_named(name) else {
            let names: Vec<String> = kind.fields.iter().map(|field| field.name.to_string()).collect();
            return self.problem(at, (format!("a {} has no field `{name}`", kind.name), instead(name, &names)));
        };
        let declared = kind.field(field);
        let (Some(value), Some(schema)) = (value, self.known.schema()) else { return };
        let Some(given) = constant(value) else { return };
        if given == Value::None {
            return;
        }
        if matches!(declared.ty, Type::Ratio | Type::List(_) | Type::Map(_)) {
            return;
        }
        if let Err(wrong) = declared.ty.check(&given, schema, &State::new()) {
            self.problem(
                value.location(),
                (format!("the field `{name}` {wrong}"), format!("it is declared in {}", declared.origin)),
            );
        }
    }

    /// A value that no kind takes in that field.
    fn fits_no_kind(&mut self, field: &str, value: Option<Expression<'_>>) {
        let (Some(value), Some(schema)) = (value, self.known.schema()) else { return };
        let Some(given) = constant(value).filter(|given| *given != Value::None) else { return };
        let mut wrong = None;
        for ty in self.known.types_of(field) {
            if matches!(ty, Type::Ratio | Type::List(_) | Type::Map(_)) {
                return;
            }
            match ty.check(&given, schema, &State::new()) {
                Ok(()) => return,
                Err(told) => wrong = Some(told),
            }
        }
        if let Some(told) = wrong {
            let cure = "write a value that it takes, or change its declaration in kinds.luau".to_string();
            self.problem(value.location(), (format!("the field `{field}` {told}"), cure));
        }
    }

    /// `expr:name(args)`.
    fn method(&mut self, of: Expression<'_>, name: &str, args: &[Expression<'_>], at: Location) {
        let thing = self.thing(of);
        if thing == Some(Thing::Spec) && api::spec_method(name).is_none() {
            let names: Vec<String> = api::SPEC_METHODS.iter().map(|method| method.name.to_string()).collect();
            self.problem(at, (format!("a spec has no `t:{name}`"), instead(name, &names)));
        }
        if thing == Some(Thing::Spec) {
            self.spec_call(name, args);
        }
        let writes = matches!(name, "set" | "add") && thing != Some(Thing::Spec) && !self.is_spec();
        if !writes {
            return;
        }
        if let Some(what) = self.pure.last() {
            let wrong = format!(":{name} is called in {what}, which may only read");
            self.problem(at, (wrong, "move it to `resolve`, a verb or an agenda entry".into()));
        }
        let Some((field, place)) = args.first().and_then(|arg| Some((literal(*arg)?, arg.location()))) else { return };
        match thing {
            Some(Thing::Entity(Some(kind))) => {
                if let Some(kind) = self.known.kind(&kind) {
                    let value = args.get(1).copied().filter(|_| name == "set");
                    self.field(kind, &field, place, value);
                }
            }
            _ => {
                let wrong = self.known.wrong_name("field", &field);
                self.tell(place, wrong.map(|(_, cure)| (format!("no kind has a field `{field}`"), cure)));
                self.fits_no_kind(&field, args.get(1).copied().filter(|_| name == "set"));
            }
        }
    }

    // Knowing

    pub(super) fn thing(&self, expression: Expression<'_>) -> Option<Thing> {
        match expression.kind() {
            ExpressionKind::Grouped(inner) => self.thing(inner),
            ExpressionKind::TypeAssertion { expr, .. } => self.thing(expr),
            ExpressionKind::Local { local, .. } => {
                let id = local.identity().as_u64();
                self.things.get(&id).cloned().or_else(|| self.entities.contains(&id).then_some(Thing::Entity(None)))
            }
            ExpressionKind::Global(name) => {
                let name = text(name);
                let found = crate::script::api::globals().find(|known| *known == name)?;
                api::library(found).map(|_| Thing::Library(found))
            }
            ExpressionKind::IndexName { expr, index, .. } => {
                let name = text(index);
                match self.thing(expr)? {
                    Thing::Vocabulary => api::word(&name).map(|word| Thing::Word(word.name)),
                    Thing::Word("switches") => Some(Thing::Switch(name)),
                    Thing::Entity(Some(kind)) => {
                        let kind = self.known.kind(&kind)?;
                        of_type(&kind.field(kind.field_named(&name)?).ty)
                    }
                    Thing::Entity(None) => self.known.always_refers(&name).then_some(Thing::Entity(None)),
                    _ => None,
                }
            }
            ExpressionKind::IndexExpr { expr, .. } => match self.thing(expr)? {
                Thing::Entities(kind) => Some(Thing::Entity(kind)),
                _ => None,
            },
            ExpressionKind::Call { func, args, .. } => {
                if let ExpressionKind::Global(name) = func.kind() {
                    let required = args.first().and_then(|arg| literal(*arg));
                    return match required.as_deref().filter(|_| name == "require")? {
                        "@riskbreaker" => Some(Thing::Vocabulary),
                        file => self.file_named(file).map(|source| Thing::Module(source.path.clone())),
                    };
                }
                let Some(Thing::Word(word)) = self.thing(func) else { return None };
                let kind = args.first().and_then(|arg| literal(*arg)).filter(|kind| self.known.kind(kind).is_some());
                match word {
                    "each" => Some(Thing::Entities(kind)),
                    "first" | "spawn" => Some(Thing::Entity(kind)),
                    _ => None,
                }
            }
            _ => None,
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

/// Local variables of a file: their names, and those that are assigned after they were declared.
#[derive(Default)]
struct Locals {
    names: BTreeSet<String>,
    changing: BTreeSet<u64>,
    /// On which `:set("field", ...)` or `:add("field", ...)` is called.
    entities: BTreeSet<u64>,
}

impl<'ast> AstVisitor<'ast> for Locals {
    fn visit_node(&mut self, node: AstNode<'ast>) -> bool {
        let mut assigned = |target: Expression<'_>| {
            if let ExpressionKind::Local { local, .. } = target.kind() {
                self.changing.insert(local.identity().as_u64());
            }
        };
        match node {
            AstNode::Statement(statement) => match statement.view() {
                StatementView::Assign(assign) => assign.vars.iter().for_each(|var| assigned(*var)),
                StatementView::CompoundAssign(assign) => assigned(assign.var),
                StatementView::FunctionDeclaration(declaration) => assigned(declaration.name),
                StatementView::Local(local) => {
                    self.names.extend(local.bindings.iter().map(|binding| text(binding.name)));
                }
                StatementView::LocalFunction(local) => {
                    self.names.insert(text(local.name.name));
                }
                _ => {}
            },
            AstNode::Expression(expression) => {
                if let ExpressionKind::FunctionLiteral(function) = expression.kind() {
                    self.names.extend(function.args.iter().map(|arg| text(arg.name)));
                }
                if let ExpressionKind::Call { func, args, self_call: true, .. } = expression.kind()
                    && let ExpressionKind::IndexName { expr, index, .. } = func.kind()
                    && (index == "set" || index == "add")
                    && let ExpressionKind::Local { local, .. } = expr.kind()
                    && args.first().is_some_and(|arg| literal(*arg).is_some())
                {
                    self.entities.insert(local.identity().as_u64());
                }
            }
            _ => {}
        }
        true
    }
}

/// Words by which a file declares something.
fn declares(word: &'static str) -> bool {
    api::word(word).is_some_and(|word| word.group == api::Group::Declaring && word.name != "verb")
}

fn of_type(ty: &Type) -> Option<Thing> {
    let name = |kind: &Option<std::sync::Arc<str>>| kind.as_ref().map(|kind| kind.to_string());
    match ty {
        Type::Ref(kind) => Some(Thing::Entity(name(kind))),
        Type::List(element) => match &**element {
            Type::Ref(kind) => Some(Thing::Entities(name(kind))),
            _ => None,
        },
        _ => None,
    }
}

pub(super) fn text(name: AstName<'_>) -> String {
    String::from_utf8_lossy(name.bytes()).into_owned()
}

/// The text of an expression that is one.
pub(super) fn literal(expression: Expression<'_>) -> Option<String> {
    match expression.kind() {
        ExpressionKind::String { value, .. } => Some(String::from_utf8_lossy(value.as_bytes()).into_owned()),
        ExpressionKind::Grouped(inner) => literal(inner),
        _ => None,
    }
}

/// The value of an expression that is always the same.
pub(super) fn constant(expression: Expression<'_>) -> Option<Value> {
    match expression.kind() {
        ExpressionKind::Nil => Some(Value::None),
        ExpressionKind::Boolean(yes) => Some(Value::Bool(yes)),
        ExpressionKind::Number { value, .. } if value.fract() == 0.0 && value.abs() < 1e15 => {
            Some(Value::Int(value as i64))
        }
        ExpressionKind::String { .. } => literal(expression).map(Value::text),
        ExpressionKind::Unary { op: luau_syntax::ast::UnaryOp::Negate, rhs } => match constant(rhs)? {
            Value::Int(n) => Some(Value::Int(-n)),
            _ => None,
        },
        _ => None,
    }
}

/// What a function returns, each place of it; functions inside it are none of it.
fn returned<'a>(block: Block<'a>, into: &mut Vec<&'a [Expression<'a>]>) {
    for statement in block.as_slice() {
        match statement.view() {
            StatementView::Return(found) => into.push(found.expressions),
            StatementView::Block(inner) => returned(inner, into),
            StatementView::NumericFor(looped) => returned(looped.body, into),
            StatementView::GenericFor(looped) => returned(looped.body, into),
            StatementView::While(looped) => returned(looped.body, into),
            StatementView::Repeat(looped) => returned(looped.body, into),
            StatementView::If(branch) => {
                returned(branch.then_body, into);
                let mut rest = branch.else_body;
                while let Some(statement) = rest.take() {
                    match statement.view() {
                        StatementView::Block(inner) => returned(inner, into),
                        StatementView::If(inner) => {
                            returned(inner.then_body, into);
                            rest = inner.else_body;
                        }
                        _ => {}
                    }
                }
            }
            _ => {}
        }
    }
}

/// What is wrong with a file that does not read as Luau.
fn does_not_read(message: &str) -> Wrong {
    let cure = crate::script::cure_of_syntax(message).unwrap_or("the file does not read as Luau");
    (message.to_string(), cure.to_string())
}

/// A value as a sentence has it.
fn shown(value: &Value) -> String {
    match value {
        Value::Text(text) => format!("\"{text}\""),
        other => other.to_string(),
    }
}
