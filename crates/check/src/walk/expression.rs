//! Checks the expressions of a script.

use crate::inference::symbol::Symbol;
use crate::inference::value_type::{ValueType, type_named};
use crate::reader::{FunctionScope, Scope, ScriptReader};
use crate::symbols::signature::Signature;
use crate::syntax::{literal, text, value_of};
use riskbreaker_script::api;
use riskbreaker_script::syntax::{BinaryOp, Expression, ExpressionKind, Function, Location, TableItem, UnaryOp};

impl ScriptReader<'_> {
    pub(crate) fn expression(&mut self, expression: Expression<'_>) {
        let at = expression.location();
        match expression.kind() {
            ExpressionKind::String { value, .. } => self.string(String::from_utf8_lossy(value).into_owned(), at),
            ExpressionKind::Grouped(inner) => self.expression(inner),
            ExpressionKind::TypeAssertion { expr, .. } | ExpressionKind::Instantiate { expr, .. } => {
                self.expression(expr)
            }
            ExpressionKind::Unary { op: UnaryOp::Not, rhs } => {
                self.asking(rhs);
                self.denied(rhs);
            }
            ExpressionKind::Unary { op, rhs } => {
                self.expression(rhs);
                self.one_operand(op, rhs);
            }
            ExpressionKind::Binary { lhs, op, rhs } => self.binary(lhs, op, rhs),
            ExpressionKind::If { condition, then_expression, else_expression, .. } => {
                self.asking(condition);
                self.condition(condition);
                self.expression(then_expression);
                self.expression(else_expression);
            }
            ExpressionKind::InterpString { expressions, .. } => {
                self.dollar_before_brace(at);
                expressions.iter().for_each(|inner| self.expression(*inner));
            }
            ExpressionKind::Table { items } => {
                self.question_listed(expression, items);
                self.table(items);
            }
            ExpressionKind::FunctionLiteral(function) => {
                self.function(function, None, 0);
                // The function of a verb is the second value of `rb.verb`.
                if let ([verb], "verbs") =
                    (self.keys.as_slice(), self.path.split(['/', '.']).next().unwrap_or_default())
                    && !self.known.names.is_declared_again(verb)
                    && !self.known.names.is_reworked(verb)
                {
                    let (verb, names) = (format!("`{verb}`"), [format!("act.{verb}")]);
                    self.half_answered(function, &names, &verb);
                }
            }
            ExpressionKind::IndexExpr { expr, index } => {
                self.expression(expr);
                self.expression(index);
                if matches!(index.kind(), ExpressionKind::Number { .. } | ExpressionKind::Integer { .. }) {
                    self.by_number(expr, index);
                }
                if literal(index).is_some() {
                    self.by_name(expr, index.location());
                }
                self.behind_the_last(expr, index);
                self.read_by_value(expr, index);
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
                self.read_off_nil(expr);
                self.read_off_function(expr);
                self.unseen(expr, &text(index), index_location);
                self.member(expr, &text(index), index_location);
                self.uncalled(expr, &text(index), index_location);
                self.has_no_names(expr, &text(index), index_location, false);
            }
            ExpressionKind::Global(name) => self.global(&text(name), at),
            ExpressionKind::Call { func, args, .. } if self.pushes(func, args, at) => {
                args.iter().for_each(|arg| self.expression(*arg));
            }
            ExpressionKind::Call { func, args, self_call, .. } => {
                match func.kind() {
                    ExpressionKind::IndexName { expr, index, index_location, .. } => {
                        self.words.insert(text(index));
                        self.base(expr);
                        self.read_off_nil(expr);
                        self.has_no_names(expr, &text(index), index_location, self_call);
                        self.unseen(expr, &text(index), index_location);
                        self.member(expr, &text(index), index_location);
                    }
                    _ => self.expression(func),
                }
                self.call(func, args, self_call, at);
            }
            _ => {}
        }
    }

    fn string(&mut self, text: String, at: Location) {
        self.text_of_dice(&text, at);
        self.plain_braces(&text, at);
        self.words.insert(text);
    }

    pub(crate) fn binary(&mut self, lhs: Expression<'_>, op: BinaryOp, rhs: Expression<'_>) {
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
                self.compared(lhs, rhs);
                self.compared(rhs, lhs);
                self.function_compared(lhs, rhs);
                self.function_compared(rhs, lhs);
                self.never_equal(lhs, rhs);
                self.roll_compared(lhs, op, rhs);
            }
            _ => {
                self.base(lhs);
                self.base(rhs);
                self.roll_compared(lhs, op, rhs);
                self.operands(lhs, op, rhs);
            }
        }
    }

    /// Checks an expression in a condition, where members may be nil.
    pub(crate) fn asking(&mut self, expression: Expression<'_>) {
        self.has_come_back(expression);
        let asked = std::mem::replace(&mut self.asked, true);
        self.expression(expression);
        self.asked = asked;
    }

    /// Checks an expression off which something is read, and which must not be nil.
    pub(crate) fn base(&mut self, expression: Expression<'_>) {
        self.has_come_back(expression);
        let asked = std::mem::replace(&mut self.asked, false);
        self.expression(expression);
        self.asked = asked;
    }

    pub(crate) fn table(&mut self, items: &[TableItem<'_>]) {
        self.odd_one(items);
        self.stray_key(items);
        self.misspelt_in_list(items);
        self.misspelt_in_equal_list(items);
        self.odd_key(items);
        self.key_of_a_breach(items);
        self.key_of_siblings(items);
        for item in items {
            match item {
                TableItem::List { value } => self.expression(*value),
                TableItem::General { key, value } => {
                    self.expression(*key);
                    match literal(*key) {
                        Some(name) => self.record(&name, *value),
                        None => self.expression(*value),
                    }
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

    /// Checks a function. `given` is the number of parameters before its own, `pure` its name in messages if it may
    /// only read.
    pub(crate) fn function(&mut self, function: &Function<'_>, pure: Option<&'static str>, given: usize) {
        let folder = self.path.split(['/', '.']).next().unwrap_or_default();
        let mut hooked = None;
        let scope = self.scope_of(function, folder, given);
        match (folder, self.keys.as_slice()) {
            ("kinds", [kind, place, ..]) if matches!(&**place, "derived" | "sheet" | "overview") => {
                if let (Some(entity), Some(_)) = (function.args.get(given), self.known.kind(kind)) {
                    self.inference.symbols.insert(entity.id, Symbol::Entity(Some(kind.clone())));
                }
            }
            ("hooks" | "items", [phase, verb]) if matches!(&**phase, "before" | "after" | "wrap") => {
                if let Some(event) = function.args.get(given) {
                    let event_of = Symbol::Event { verb: verb.clone(), may_be_over: phase != "before" };
                    self.inference.symbols.insert(event.id, event_of);
                }
                // The function around a verb takes the verb's own function before the holder.
                if let Some(holder) = function.args.get(given + if phase == "wrap" { 2 } else { 1 }) {
                    self.inference.symbols.insert(holder.id, Symbol::Holder);
                    self.inference.own_holders.insert(holder.id);
                }
                // The second value of a function around a verb runs the verb, with the event.
                if let Some(proceed) = function.args.get(given + 1).filter(|_| phase == "wrap") {
                    let verbs = &self.known.names;
                    let signature = match verbs.verb(verb).filter(|_| !verbs.is_declared_again(verb)) {
                        Some(run) => Signature { gives: run.gives, answers: run.answers, ..Signature::default() },
                        None => Signature::default(),
                    };
                    let signature = Signature { params: vec!["e".into()], needed: 1, ..signature };
                    self.inference.functions.insert(proceed.id, signature);
                }
                hooked = Some((phase.clone(), verb.clone()));
            }
            ("maneuvers", [key]) if self.takes_an_entity_first(key, function) => {
                self.inference.subjects.extend(function.args.first().map(|first| first.id));
            }
            ("maneuvers", [_]) if self.known.rules.is_some_and(|rules| !rules.context().is_empty()) => {
                // The host calls `when` and `note` with the context, whatever the function calls it.
                let by_host = matches!(self.keys.as_slice(), [key] if key == "when" || key == "note");
                if let Some(ctx) = function.args.get(given).filter(|arg| by_host || arg.name == "ctx") {
                    self.inference.symbols.insert(ctx.id, Symbol::Context);
                }
            }
            // A conversion hands it to functions of its file.
            ("convert", keys) => {
                let is_run = matches!(keys, [.., key] if key == "run");
                let change = function.args.iter().find(|arg| is_run || arg.name == "change");
                self.inference.symbols.extend(change.map(|change| (change.id, Symbol::Change)));
            }
            ("play", [key]) if key == "prompt" => {
                self.inference.subjects.extend(function.args.get(given).map(|about| about.id));
            }
            ("policies", [key]) if key == "answer" => {
                if let Some(question) = function.args.first() {
                    self.inference.value_types.insert(question.id, ValueType::Table);
                    self.inference.symbols.insert(question.id, Symbol::Question);
                }
            }
            _ => {}
        }
        for arg in function.args {
            if self.locals.changing.contains(&arg.id) {
                continue;
            }
            if let Some(sort) = arg.annotation.and_then(type_named) {
                self.inference.value_types.insert(arg.id, sort);
            } else {
                self.by_its_uses(arg);
            }
        }
        if self.is_spec()
            && let Some(t) = function.args.iter().find(|arg| arg.name == "t")
        {
            self.inference.symbols.insert(t.id, Symbol::Spec);
        }
        let asked = std::mem::replace(&mut self.asked, false);
        self.depth += 1;
        self.enclosing.push(scope);
        self.pure.extend(pure);
        // The path of a function does not include the keys of the tables inside it.
        let keys = std::mem::take(&mut self.keys);
        if !keys.is_empty() {
            self.keys.push("()".into());
        }
        self.promised(function);
        self.last_statements.extend(function.body.as_slice().last().map(|last| last.location().begin));
        self.scopes.push(Scope::new());
        self.declares(function.args);
        self.block(function.body);
        self.scopes.pop();
        if let Some((phase, verb)) = hooked {
            self.hooked(&phase, &verb, function);
        }
        self.last_answer(function);
        self.asked = asked;
        self.keys = keys;
        if pure.is_some() {
            self.pure.pop();
        }
        self.depth -= 1;
        self.enclosing.pop();
    }

    /// The parameters of a function, and what it is handed.
    fn scope_of(&self, function: &Function<'_>, folder: &str, given: usize) -> FunctionScope {
        let usual: &[&str] = match (folder, self.keys.as_slice()) {
            ("kinds", [_, place, ..]) if matches!(&**place, "derived" | "sheet" | "overview") => &["self"],
            ("hooks" | "items", [phase, _]) if matches!(&**phase, "before" | "after") => &["e", "holder"],
            ("maneuvers", [_]) => &["ctx"],
            ("policies", [key]) if key == "answer" => &["q"],
            _ => &[],
        };
        let usual = || usual.iter().filter(|_| given == 0).map(|name| (*name).to_owned()).collect();
        let params = function.args.iter().map(|arg| (arg.id, text(arg.name))).collect();
        let begin = function.location.begin;
        FunctionScope { begin, params, given: self.declared_params.get(&begin).cloned().unwrap_or_else(usual) }
    }

    pub(crate) fn call(&mut self, func: Expression<'_>, args: &[Expression<'_>], self_call: bool, at: Location) {
        // The arguments come first, so that the table of a question is read once, with its keys.
        if let ExpressionKind::Global(name) = func.kind()
            && name == "require"
        {
            return self.require(args, at);
        }
        let word = match func.kind() {
            ExpressionKind::IndexName { expr, index, .. } if !self_call => match self.symbol(expr) {
                Some(Symbol::Vocabulary) => api::word(&text(index)).map(|word| word.name),
                Some(Symbol::Word("act")) => {
                    self.verb(&text(index), at);
                    None
                }
                Some(Symbol::Library("table")) if index == "insert" || index == "remove" || index == "sort" => {
                    if let Some(table) = args.first() {
                        self.fills(*table, at);
                        self.changes_table_of_entity(*table);
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
        self.lacks_context(func, args, self_call);
        args.iter().for_each(|arg| self.has_come_back(*arg));
        self.handed_over(func, args, self_call, at);
        if let Some("spec" | "cases") = word {
            return self.spec(args, at);
        }
        if let Some(word) = word {
            self.word(word, args, at);
        }
        if let (Some("hook"), Some(ExpressionKind::Table { items })) = (word, args.first().map(|arg| arg.kind())) {
            let always = value_of(items, "always").map(|value| value.kind());
            self.always = matches!(always, Some(ExpressionKind::Boolean(true)));
        }
        // The path of keys in a declaration starts at the declaration's own table.
        let keys = if word.is_some_and(declares) { std::mem::take(&mut self.keys) } else { Vec::new() };
        self.elements_handed_over(func, args);
        args.iter().for_each(|arg| self.expression(*arg));
        if word.is_some_and(declares) {
            self.keys = keys;
        }
    }

    fn spec(&mut self, args: &[Expression<'_>], at: Location) {
        self.rows_of_cases(args);
        for arg in args {
            match arg.kind() {
                ExpressionKind::Table { .. } => self.rule_ids_of_spec(*arg, args.first().copied()),
                ExpressionKind::FunctionLiteral(function) => {
                    if let Some(t) = function.args.first() {
                        self.inference.symbols.insert(t.id, Symbol::Spec);
                        self.positions_given(function, t.id);
                        self.expects_nothing(function, t.id, at);
                    }
                }
                _ => {}
            }
            self.expression(*arg);
        }
    }
}

/// Whether a word of the vocabulary declares something.
fn declares(word: &'static str) -> bool {
    api::word(word).is_some_and(|word| word.group == api::WordGroup::Declaring && word.name != "verb")
}
