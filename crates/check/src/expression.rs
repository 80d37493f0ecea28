//! Checks the expressions of a script.

use super::elsewhere::GLOBALS;
use super::evidence::is_length_of;
use super::known::Mistake;
use super::lints;
use super::script::ScriptReader;
use super::signature::type_named;
use super::symbol::Symbol;
use super::syntax::{literal, text, value_of};
use super::value_type::ValueType;
use riskbreaker_dice::Dice;
use riskbreaker_script::api;
use riskbreaker_script::syntax::{BinaryOp, Expression, ExpressionKind, Function, Location, TableItem, UnaryOp};

impl ScriptReader<'_> {
    pub(super) fn expression(&mut self, expression: Expression<'_>) {
        let at = expression.location();
        match expression.kind() {
            ExpressionKind::String { value, .. } => self.string(String::from_utf8_lossy(value).into_owned(), at),
            ExpressionKind::Grouped(inner) => self.expression(inner),
            ExpressionKind::TypeAssertion { expr, .. } | ExpressionKind::Instantiate { expr, .. } => {
                self.expression(expr)
            }
            ExpressionKind::Unary { op: UnaryOp::Not, rhs } => self.asking(rhs),
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
                expressions.iter().for_each(|inner| self.expression(*inner));
            }
            ExpressionKind::Table { items } => {
                self.question_listed(expression, items);
                self.table(items);
            }
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
                if is_behind_the_last(index, expr) {
                    let wrong = "no element follows the last one of a list, so this is always nil".to_string();
                    self.problem(
                        &lints::past_the_end::LINT,
                        index.location(),
                        (wrong, "the last one is list[#list]".into()),
                    );
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
                self.has_no_names(expr, &text(index), index_location, false);
            }
            ExpressionKind::Global(name) => self.global(&text(name), at),
            ExpressionKind::Call { func, args, self_call, .. } => {
                match func.kind() {
                    ExpressionKind::IndexName { expr, index, index_location, .. } => {
                        self.words.insert(text(index));
                        self.base(expr);
                        self.has_no_names(expr, &text(index), index_location, self_call);
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
        if looks_like_dice(&text)
            && !self.is_spec()
            && let Err(error) = Dice::parse(&text)
        {
            self.problem(&lints::invalid_dice::LINT, at, not_dice(&text, &error.to_string()));
        }
        // The sentences of a card for a recap are filled in by the host.
        let is_filled_in = || self.path.starts_with("maneuvers/") && self.keys.iter().any(|key| key == "recap");
        if let Some(named) = self.named_in_braces(&text).filter(|_| !is_filled_in()) {
            let wrong = format!("`{{{named}}}` stays as it is in a text in plain quotes");
            self.problem(
                &lints::braces_in_quotes::LINT,
                at,
                (wrong, "put the text between backquotes, or write {} and hand the value over".into()),
            );
        }
        self.words.insert(text);
    }

    fn binary(&mut self, lhs: Expression<'_>, op: BinaryOp, rhs: Expression<'_>) {
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
            }
            _ => {
                self.base(lhs);
                self.base(rhs);
                self.operands(lhs, op, rhs);
            }
        }
    }

    /// Returns a local variable, or a member of one, that a text names in braces.
    fn named_in_braces(&self, text: &str) -> Option<String> {
        let pieces = text.split('{').skip(1).filter_map(|rest| rest.split_once('}')).map(|(inside, _)| inside);
        let part =
            |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
        let mut named = pieces.filter(|inside| inside.trim_end_matches("()").split(['.', ':']).all(part));
        let found = named.find(|inside| self.has_local(inside.split(['.', ':']).next().unwrap_or_default()))?;
        (!self.is_spec()).then(|| found.to_string())
    }

    /// Checks an expression in a condition, where members may be nil.
    pub(super) fn asking(&mut self, expression: Expression<'_>) {
        let asked = std::mem::replace(&mut self.asked, true);
        self.expression(expression);
        self.asked = asked;
    }

    /// Reports a table with text keys that is indexed by a number, and an index of 0.
    fn by_number(&mut self, table: Expression<'_>, index: Expression<'_>) {
        let text_map = match table.kind() {
            ExpressionKind::Local { local, .. } if self.text_maps.contains(&local.id) => Some(text(local.name)),
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
            return self.problem(
                &lints::list_index::LINT,
                index.location(),
                (wrong, "name one of its keys, in quotes".into()),
            );
        }
        let zero = matches!(index.kind(), ExpressionKind::Number { value, .. } if value == 0.0);
        if zero && !self.text.contains("[0] =") {
            let wrong = "the first place of a list is 1, not 0".to_string();
            self.problem(&lints::list_index::LINT, index.location(), (wrong, "write 1 for the first one".into()));
        }
    }

    /// Reports a list that is read by a name.
    fn by_name(&mut self, list: Expression<'_>, at: Location) {
        if let ExpressionKind::Local { local, .. } = list.kind()
            && self.lists.contains(&local.id)
            && !self.evidence.has_names(list)
        {
            let wrong = format!("`{}` is a list: its places are numbers, and this is a text", text(local.name));
            self.problem(&lints::list_index::LINT, at, (wrong, "write a number, from 1 on".into()));
        }
    }

    /// Checks an expression off which something is read, and which must not be nil.
    pub(super) fn base(&mut self, expression: Expression<'_>) {
        self.has_come_back(expression);
        let asked = std::mem::replace(&mut self.asked, false);
        self.expression(expression);
        self.asked = asked;
    }

    fn global(&mut self, name: &str, at: Location) {
        if api::globals().any(|known| known == name) || !self.told.insert(name.to_string()) {
            return;
        }
        let cure = match api::NOT_HERE.iter().chain(&ELSEWHERE).chain(GLOBALS).find(|(not, _)| *not == name) {
            Some((_, cure)) => (*cure).to_string(),
            None if self.known.stack.file(&format!("lib/{name}")).is_some() => {
                format!("write `local {name} = require(\"lib/{name}\")` at the top")
            }
            None => match self.nearest_local(name) {
                Some(near) => format!("did you mean `{near}`?"),
                None if self.has_local(name) => {
                    format!(
                        "`{name}` is known in another part of the file: hand it to this function, `function({name})`"
                    )
                }
                None => "declare it by `local`, put it in quotes if it is a text, or correct the name".into(),
            },
        };
        self.problem(&lints::unknown_variable::LINT, at, (format!("there is no `{name}`"), cure));
    }

    fn nearest_local(&self, name: &str) -> Option<String> {
        let mut known: Vec<&str> = vec!["rb"];
        for global in api::globals() {
            known.push(global);
        }
        // A local variable of that name elsewhere in the file is out of scope here.
        known.extend(self.locals.names.iter().map(String::as_str).filter(|local| *local != name));
        self.known.nearest(name, known).map(str::to_string)
    }

    fn table(&mut self, items: &[TableItem<'_>]) {
        self.odd_one(items);
        self.odd_key(items);
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

    /// Reports a text without faces under a name that says it is dice: `DIE = "1d"`.
    pub(super) fn named_dice(&mut self, name: &str, value: Expression<'_>) {
        let Some(written) = literal(value).filter(|_| !self.is_spec()) else { return };
        let name = name.to_lowercase();
        let says_dice = name.split('_').any(|word| matches!(word, "die" | "dice" | "roll"));
        let faceless = written.strip_suffix('d').is_some_and(|count| count.bytes().all(|byte| byte.is_ascii_digit()));
        if says_dice
            && faceless
            && let Err(error) = Dice::parse(&written)
        {
            self.problem(&lints::invalid_dice::LINT, value.location(), not_dice(&written, &error.to_string()));
        }
    }

    /// Reports the one name in a list of cards that is no card and is almost the name of one.
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
            && let Some(near) = self.known.nearest(text, cards.iter().map(String::as_str))
        {
            self.problem(
                &lints::unknown_name::LINT,
                *at,
                (format!("there is no card `{text}`"), format!("did you mean `{near}`?")),
            );
        }
    }

    /// Checks a function. `given` is the number of parameters before its own, `pure` its name in messages if it may
    /// only read.
    pub(super) fn function(&mut self, function: &Function<'_>, pure: Option<&'static str>, given: usize) {
        let folder = self.path.split(['/', '.']).next().unwrap_or_default();
        let mut hooked = None;
        match (folder, self.keys.as_slice()) {
            ("kinds", [kind, place, ..]) if matches!(&**place, "derived" | "sheet" | "overview") => {
                if let (Some(entity), Some(_)) = (function.args.get(given), self.known.kind(kind)) {
                    self.symbols.insert(entity.id, Symbol::Entity(Some(kind.clone())));
                }
            }
            ("hooks" | "items", [phase, verb]) if matches!(&**phase, "before" | "after" | "wrap") => {
                if let Some(event) = function.args.get(given) {
                    self.symbols.insert(event.id, Symbol::Event(verb.clone()));
                }
                // The function around a verb takes the verb's own function before the holder.
                if let Some(holder) = function.args.get(given + if phase == "wrap" { 2 } else { 1 }) {
                    self.symbols.insert(holder.id, Symbol::Holder);
                }
                hooked = Some((phase.clone(), verb.clone()));
            }
            ("maneuvers", [_]) if self.known.rules.is_some_and(|rules| !rules.context().is_empty()) => {
                if let Some(ctx) = function.args.get(given).filter(|arg| arg.name == "ctx") {
                    self.symbols.insert(ctx.id, Symbol::Context);
                }
            }
            ("policies", [key]) if key == "answer" => {
                if let Some(question) = function.args.first() {
                    self.value_types.insert(question.id, ValueType::Table);
                    self.symbols.insert(question.id, Symbol::Question);
                }
            }
            _ => {}
        }
        for arg in function.args {
            if self.locals.changing.contains(&arg.id) {
                continue;
            }
            if let Some(sort) = arg.annotation.and_then(type_named) {
                self.value_types.insert(arg.id, sort);
            } else {
                self.by_its_uses(arg);
            }
        }
        if self.is_spec()
            && let Some(t) = function.args.iter().find(|arg| arg.name == "t")
        {
            self.symbols.insert(t.id, Symbol::Spec);
        }
        let asked = std::mem::replace(&mut self.asked, false);
        self.depth += 1;
        self.pure.extend(pure);
        // The path of a function does not include the keys of the tables inside it.
        let keys = std::mem::take(&mut self.keys);
        if !keys.is_empty() {
            self.keys.push("()".into());
        }
        self.promised(function);
        self.block(function.body);
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
    }

    fn call(&mut self, func: Expression<'_>, args: &[Expression<'_>], self_call: bool, at: Location) {
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
        if let (Some("hook"), Some(ExpressionKind::Table { items })) = (word, args.first().map(|arg| arg.kind())) {
            let always = value_of(items, "always").map(|value| value.kind());
            self.always = matches!(always, Some(ExpressionKind::Boolean(true)));
        }
        // The path of keys in a declaration starts at the declaration's own table.
        let keys = if word.is_some_and(declares) { std::mem::take(&mut self.keys) } else { Vec::new() };
        args.iter().for_each(|arg| self.expression(*arg));
        if word.is_some_and(declares) {
            self.keys = keys;
        }
    }

    /// Reports a call of a local variable that is not a function.
    fn is_function(&mut self, func: Expression<'_>) {
        let ExpressionKind::Local { local, .. } = func.kind() else { return };
        let Some(sort) = self.value_types.get(&local.id) else { return };
        if *sort != ValueType::Function {
            let wrong = format!("`{}` is {}, and no function to call", text(local.name), sort.words());
            self.problem(&lints::call_of_value::LINT, func.location(), (wrong, "is a comma missing behind it?".into()));
        }
    }

    fn spec(&mut self, args: &[Expression<'_>]) {
        for arg in args {
            match arg.kind() {
                ExpressionKind::Table { .. } => self.rule_ids(*arg),
                ExpressionKind::FunctionLiteral(function) => {
                    if let Some(t) = function.args.first() {
                        self.symbols.insert(t.id, Symbol::Spec);
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
        let path = name.strip_prefix("@parent/").unwrap_or(&name);
        self.required.insert(path.to_string());
        if self.file_named(&name).is_none() {
            let stems =
                self.known.stack.scripts().map(|(_, path, _)| path.trim_end_matches(".luau").trim_end_matches(".lua"));
            let names: Vec<String> = stems.map(str::to_string).chain(["@riskbreaker".to_string()]).collect();
            // The name of a file includes its folder.
            let last = |name: &&String| name.trim_start_matches('@').rsplit('/').next() == Some(path);
            let cure = match names.iter().find(last) {
                _ if name != path && self.file_named(path).is_some() => {
                    format!("`@parent` means the ruleset below; this one's own file is `{path}`")
                }
                Some(meant) => format!("did you mean `{meant}`?"),
                None => self.known.instead(path, &names),
            };
            self.problem(&lints::unknown_file::LINT, at, (format!("there is no file `{name}` to require"), cure));
        }
    }

    fn verb(&mut self, name: &str, at: Location) {
        if let Some(what) = self.pure.last() {
            let wrong = format!("the verb `{name}` is called in {what}, which may only read");
            self.problem(
                &lints::change_while_reading::LINT,
                at,
                (wrong, "call it in `resolve`, a verb or an agenda entry".into()),
            );
        }
    }
}

/// Names from other languages, and `rb` before it is required, with what to write instead.
const ELSEWHERE: [(&str, &str); 7] = [
    ("rb", "write `local rb = require(\"@riskbreaker\")` at the top"),
    ("null", "Luau writes `nil` for it"),
    ("None", "Luau writes `nil` for it"),
    ("undefined", "Luau writes `nil` for it"),
    ("True", "write `true`"),
    ("False", "write `false`"),
    ("this", "write `self`, and take it as the first parameter"),
];

/// Whether an index is `#list + 1` or more, for the list that it indexes.
fn is_behind_the_last(index: Expression<'_>, list: Expression<'_>) -> bool {
    match index.kind() {
        ExpressionKind::Grouped(inner) => is_behind_the_last(inner, list),
        ExpressionKind::Binary { lhs, op: BinaryOp::Add, rhs } => {
            is_length_of(lhs, list) && matches!(rhs.kind(), ExpressionKind::Number { value, .. } if value >= 1.0)
        }
        _ => false,
    }
}

/// Whether a word of the vocabulary declares something.
fn declares(word: &'static str) -> bool {
    api::word(word).is_some_and(|word| word.group == api::WordGroup::Declaring && word.name != "verb")
}

/// Whether a text has the form of dice, `2d6...`, without a space.
fn looks_like_dice(text: &str) -> bool {
    let rest = text.trim_start_matches(|letter: char| letter.is_ascii_digit());
    rest.len() < text.len()
        && rest.strip_prefix('d').is_some_and(|sides| sides.starts_with(|letter: char| letter.is_ascii_alphanumeric()))
        && text.chars().all(|letter| letter.is_ascii_alphanumeric() || "+-*!<>=%".contains(letter))
}

pub(super) fn not_dice(text: &str, error: &str) -> Mistake {
    (format!("\"{text}\" are no dice: {error}"), "write them as 2d6, 1d10+1 or 4d6kh3".into())
}
