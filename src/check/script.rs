use std::collections::{BTreeMap, BTreeSet};

use luau_syntax::ast::{
    BinaryOp, Block, Expression, ExpressionKind, Function, IndexNameOp, Local, Statement, StatementView, TableItem,
};
use luau_syntax::ast_names::AstName;
use luau_syntax::location::Location;
use luau_syntax::parser::{ParseOptions, ParsedSource};

use super::known::{Known, Wrong, instead};
use super::typed::Call;
use crate::dice::Dice;
use crate::ruleset::{Problem, SwitchKind, nearest};
use crate::script::api;
use crate::state::{Kind, State, Type, Value};

/// Reads one script for names that nothing has and things that it may not do.
pub(super) struct Reader<'r> {
    known: &'r Known<'r>,
    part: usize,
    /// Inside the ruleset's folder.
    path: &'r str,
    /// As problems name it.
    full: &'r str,
    text: &'r str,
    pub found: Vec<Problem>,
    /// Files that it requires.
    pub required: BTreeSet<String>,
    /// Every name and every text in it.
    pub words: BTreeSet<String>,
    /// Calls of what the host declares.
    pub calls: Vec<Call>,
    /// What is known of local variables.
    things: BTreeMap<u64, Thing>,
    /// Local variables that hold what another file returns.
    modules: BTreeSet<u64>,
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
enum Thing {
    Vocabulary,
    Word(&'static str),
    Entity(Option<String>),
    Entities(Option<String>),
    Library(&'static str),
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
            required: BTreeSet::new(),
            words: BTreeSet::new(),
            calls: Vec::new(),
            things: BTreeMap::new(),
            modules: BTreeSet::new(),
            keyed_by_entities: BTreeSet::new(),
            depth: 0,
            pure: Vec::new(),
            keys: Vec::new(),
        }
    }

    /// Reads it. One that cannot be parsed is told by the loading, except for a spec.
    pub fn read(&mut self) {
        match ParsedSource::parse(self.text.as_bytes(), ParseOptions::default()) {
            // Of a file that does not read as Luau only that is told: whatever it seems to say may be a consequence.
            Ok(parsed) if parsed.metadata().errors.is_empty() => self.block(parsed.root()),
            Ok(parsed) if self.is_spec() => {
                if let Some(error) = parsed.metadata().errors.first() {
                    self.problem(error.location, does_not_read(&error.message.to_string()));
                }
            }
            Ok(_) => {}
            Err(errors) if self.is_spec() => {
                if let Some(error) = errors.errors().first() {
                    self.problem(error.location, does_not_read(&error.message.to_string()));
                }
            }
            Err(_) => {}
        }
    }

    fn is_spec(&self) -> bool {
        self.path.starts_with("specs/")
    }

    fn problem(&mut self, at: Location, (message, cure): Wrong) {
        let place = (at.begin.line.saturating_add(1), at.begin.column.saturating_add(1));
        self.found.push(Problem::new(self.full, message).at(place).with_cure(cure));
    }

    fn tell(&mut self, at: Location, wrong: Option<Wrong>) {
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
                self.written(assign.var);
            }
            StatementView::Expression(statement) => self.expression(statement.expr),
            StatementView::NumericFor(numeric) => {
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
                self.expression(branch.condition);
                self.block(branch.then_body);
                branch.else_body.into_iter().for_each(|body| self.statement(body));
            }
            StatementView::LocalFunction(local) => self.expression(local.function),
            StatementView::Local(local) => {
                local.values.iter().for_each(|value| self.expression(*value));
                for (binding, value) in local.bindings.iter().zip(local.values) {
                    if is_require(*value) {
                        self.modules.insert(binding.identity().as_u64());
                    }
                    if let Some(thing) = self.thing(*value) {
                        self.things.insert(binding.identity().as_u64(), thing);
                    }
                }
            }
            StatementView::Repeat(repeat) => {
                self.block(repeat.body);
                self.expression(repeat.condition);
            }
            StatementView::Return(returned) => returned.expressions.iter().for_each(|value| self.expression(*value)),
            StatementView::While(looped) => {
                self.expression(looped.condition);
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
            ExpressionKind::Unary { rhs, .. } => self.expression(rhs),
            ExpressionKind::Binary { lhs, op, rhs } => {
                self.expression(lhs);
                self.expression(rhs);
                if matches!(op, BinaryOp::Equal | BinaryOp::NotEqual) {
                    self.compared(lhs, rhs);
                    self.compared(rhs, lhs);
                }
            }
            ExpressionKind::If { condition, then_expression, else_expression, .. } => {
                self.expression(condition);
                self.expression(then_expression);
                self.expression(else_expression);
            }
            ExpressionKind::InterpString { expressions, .. } => {
                expressions.iter().for_each(|inner| self.expression(*inner));
            }
            ExpressionKind::Table { items } => self.table(items),
            ExpressionKind::FunctionLiteral(function) => self.function(function, None),
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
                self.expression(expr);
                self.member(expr, &text(index), index_location);
            }
            ExpressionKind::Global(name) => self.global(&text(name), at),
            ExpressionKind::Call { func, args, self_call, .. } => {
                self.expression(func);
                self.call(func, args, self_call, at);
            }
            _ => {}
        }
    }

    fn global(&mut self, name: &str, at: Location) {
        if api::globals().any(|known| known == name) {
            return;
        }
        let cure = match api::NOT_HERE
            .iter()
            .chain([&("rb", "write `local rb = require(\"@riskbreaker\")` at the top")])
            .find(|(not, _)| *not == name)
        {
            Some((_, cure)) => (*cure).to_string(),
            None => match nearest(name, api::globals().chain(["rb"])) {
                Some(near) => format!("did you mean `{near}`?"),
                None => "declare it by `local`, or is it misspelt?".into(),
            },
        };
        self.problem(at, (format!("there is no `{name}`"), cure));
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
                self.function(function, pure);
            }
            _ => self.expression(value),
        }
        self.keys.pop();
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

    fn function(&mut self, function: &Function<'_>, pure: Option<&'static str>) {
        let folder = self.path.split(['/', '.']).next().unwrap_or_default();
        if let Some(first) = function.args.first() {
            let owner = match (folder, self.keys.as_slice()) {
                ("kinds", [kind, place, ..]) if place == "derived" || place == "sheet" => Some(kind.clone()),
                _ => None,
            };
            if owner.as_deref().is_some_and(|kind| self.known.kind(kind).is_some()) {
                self.things.insert(first.identity().as_u64(), Thing::Entity(owner));
            }
        }
        self.depth += 1;
        self.pure.extend(pure);
        // Keys of tables inside a function say nothing of where it stands.
        let keys = std::mem::take(&mut self.keys);
        if !keys.is_empty() {
            self.keys.push("()".into());
        }
        self.block(function.body);
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

    /// A house rule is compared with a value that it never has.
    fn compared(&mut self, switch: Expression<'_>, value: Expression<'_>) {
        let ExpressionKind::IndexName { expr, index, .. } = switch.kind() else { return };
        if self.thing(expr) != Some(Thing::Word("switches")) {
            return;
        }
        let (Some(text), Some(switch)) = (literal(value), self.known.stack.switch(&text(index))) else { return };
        let wrong = match &switch.kind {
            SwitchKind::Choice { values } if values.contains(&text) => return,
            SwitchKind::Choice { values } => {
                (format!("the switch `{}` is never \"{text}\"", switch.name), instead(&text, values))
            }
            _ => (format!("the switch `{}` is never a text", switch.name), format!("it is {}", switch.kind)),
        };
        self.problem(value.location(), wrong);
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
            _ => {}
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
                    self.verb(&text(index), args, at);
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
            _ => return,
        };
        let mark = if self_call { "a colon stands where a dot belongs" } else { "a dot stands where a colon belongs" };
        self.problem(index_location, (mark.to_string(), format!("write {wrong}")));
    }

    /// Whether an expression is read off a local variable that is not a module.
    fn is_parameter(&self, expression: Expression<'_>) -> bool {
        match expression.kind() {
            ExpressionKind::Local { local, .. } => !self.modules.contains(&local.identity().as_u64()),
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
            Thing::Spec if self_call => Some(api::spec_method(&name)?.usage.to_string()),
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

    fn require(&mut self, args: &[Expression<'_>], at: Location) {
        let Some(name) = args.first().and_then(|arg| literal(*arg)) else { return };
        if name == "@riskbreaker" {
            return;
        }
        let (path, below) = match name.strip_prefix("@parent/") {
            Some(path) => (path, Some(self.part)),
            None => (&*name, None),
        };
        self.required.insert(path.to_string());
        let found = match below {
            Some(part) => self.known.stack.file_below(part, path),
            None => self.known.stack.file(path),
        };
        if found.is_none() {
            let stems =
                self.known.stack.scripts().map(|(_, path, _)| path.trim_end_matches(".luau").trim_end_matches(".lua"));
            let names: Vec<String> = stems.map(str::to_string).collect();
            self.problem(at, (format!("there is no file `{path}` to require"), instead(path, &names)));
        }
    }

    fn verb(&mut self, name: &str, args: &[Expression<'_>], at: Location) {
        if let Some(what) = self.pure.last() {
            let wrong = format!("the verb `{name}` is called in {what}, which may only read");
            self.problem(at, (wrong, "call it in `resolve`, a verb or an agenda entry".into()));
        }
        let Some(params) = self.known.rules.and_then(|rules| rules.verb_params(name)) else { return };
        let spread = args.last().is_some_and(|last| matches!(last.kind(), ExpressionKind::Varargs));
        if !params.is_empty() && args.len() > params.len() && !spread {
            let wrong = format!("the verb `{name}` takes {} values, here are {}", params.len(), args.len());
            self.problem(at, (wrong, format!("it is {name}({})", params.join(", "))));
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
        let topic = value("topic").and_then(literal);
        if topic.as_deref() == Some("card")
            && let Some(default) = value("default")
            && let Some(card) = literal(default)
        {
            self.tell(default.location(), self.known.wrong_name("card", &card));
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

    /// `expr:name(args)`.
    fn method(&mut self, of: Expression<'_>, name: &str, args: &[Expression<'_>], at: Location) {
        let thing = self.thing(of);
        if thing == Some(Thing::Spec) && api::spec_method(name).is_none() {
            let names: Vec<String> = api::SPEC_METHODS.iter().map(|method| method.name.to_string()).collect();
            self.problem(at, (format!("a spec has no `t:{name}`"), instead(name, &names)));
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
            }
        }
    }

    // Knowing

    fn thing(&self, expression: Expression<'_>) -> Option<Thing> {
        match expression.kind() {
            ExpressionKind::Grouped(inner) => self.thing(inner),
            ExpressionKind::TypeAssertion { expr, .. } => self.thing(expr),
            ExpressionKind::Local { local, .. } => self.things.get(&local.identity().as_u64()).cloned(),
            ExpressionKind::Global(name) => {
                let name = text(name);
                let found = crate::script::api::globals().find(|known| *known == name)?;
                api::library(found).map(|_| Thing::Library(found))
            }
            ExpressionKind::IndexName { expr, index, .. } => {
                let name = text(index);
                match self.thing(expr)? {
                    Thing::Vocabulary => api::word(&name).map(|word| Thing::Word(word.name)),
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
                    return (name == "require" && required.as_deref() == Some("@riskbreaker"))
                        .then_some(Thing::Vocabulary);
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

fn text(name: AstName<'_>) -> String {
    String::from_utf8_lossy(name.bytes()).into_owned()
}

/// The text of an expression that is one.
fn literal(expression: Expression<'_>) -> Option<String> {
    match expression.kind() {
        ExpressionKind::String { value, .. } => Some(String::from_utf8_lossy(value.as_bytes()).into_owned()),
        ExpressionKind::Grouped(inner) => literal(inner),
        _ => None,
    }
}

/// The value of an expression that is always the same.
fn constant(expression: Expression<'_>) -> Option<Value> {
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

/// Whether an expression is what another file of the ruleset returns.
fn is_require(expression: Expression<'_>) -> bool {
    let ExpressionKind::Call { func, .. } = expression.kind() else { return false };
    matches!(func.kind(), ExpressionKind::Global(name) if name == "require")
}
