//! An operator is given a value of a type that it does not take.

use crate::inference::symbol::Symbol;
use crate::inference::value_type::{ValueType, orders, reckons};
use crate::lint::{Example, Lint, Severity};
use crate::reader::ScriptReader;
use crate::syntax::{is_of_name, text};
use riskbreaker_ruleset::TextChange;
use riskbreaker_script::syntax::{BinaryOp, Expression, ExpressionKind, Location, UnaryOp};
use riskbreaker_state::Type;

pub(crate) static LINT: Lint = Lint {
    name: "operand-type",
    severity: Severity::Error,
    summary: "an operator is given a value of a type that it does not take",
    explanation: "Arithmetic and comparisons of size take numbers, `..` takes texts and numbers, and `#` takes \
                  lists and texts. Another operand is a fault when it is played. An entity is no number: name the \
                  field that is meant. The number of a sum is `sum.total`.",
    bad: Example::Resolve(r#"rb.say("{}", ctx.actor.name + 1)"#),
    good: Example::Resolve(r#"rb.say("{}", ctx.actor.strength + 1)"#),
};

impl ScriptReader<'_> {
    /// `..` for a `+` and for those that follow it in the same expression, up to the end of the line.
    fn joined_from(&self, plus: usize) -> TextChange {
        let end = self.text[plus..].find('\n').map_or(self.text.len(), |at| plus + at);
        let (mut depth, mut quoted, mut last) = (0usize, None, plus);
        for (at, letter) in self.text[plus..end].char_indices() {
            match (quoted, letter) {
                (Some(mark), letter) => quoted = Some(mark).filter(|_| letter != mark),
                (None, '"' | '\'' | '`') => quoted = Some(letter),
                (None, '(' | '{' | '[') => depth += 1,
                (None, ')' | '}' | ']') if depth > 0 => depth -= 1,
                (None, ')' | '}' | ']' | ',' | ';' | '<' | '>' | '=') if depth == 0 => break,
                (None, '+') if depth == 0 => last = plus + at,
                _ => {}
            }
        }
        // `+` inside of brackets and texts stays.
        let mut text = String::new();
        let (mut depth, mut quoted) = (0usize, None);
        for letter in self.text[plus..=last].chars() {
            match (quoted, letter) {
                (Some(mark), letter) => quoted = Some(mark).filter(|_| letter != mark),
                (None, '"' | '\'' | '`') => quoted = Some(letter),
                (None, '(' | '{' | '[') => depth += 1,
                (None, ')' | '}' | ']') => depth = depth.saturating_sub(1),
                (None, '+') if depth == 0 => {
                    text.push_str("..");
                    continue;
                }
                _ => {}
            }
            text.push(letter);
        }
        TextChange { begin: plus, end: last + 1, text }
    }

    /// Reports operands with types that the operator does not take.
    pub(crate) fn operands(&mut self, lhs: Expression<'_>, op: BinaryOp, rhs: Expression<'_>) {
        self.has_come_back(lhs);
        self.has_come_back(rhs);
        let sorts = (self.type_or_list(lhs), self.type_or_list(rhs));
        let sign = op.symbol();
        if self.nil_operand(lhs, sign) || self.nil_operand(rhs, sign) {
            return;
        }
        if reckons(op) {
            for (side, sort) in [(lhs, sorts.0), (rhs, sorts.1)] {
                if self.is_nothing(side) {
                    return self.without_value(side, sign);
                }
                let sort = sort.or_else(|| self.refers(side).then_some(ValueType::Entity));
                let Some(sort) = sort.filter(|sort| !matches!(sort, ValueType::Number | ValueType::Sum)) else {
                    continue;
                };
                let cure = match sort {
                    ValueType::Text if is_number_in_quotes(side) => "write the number without quotes".to_string(),
                    ValueType::Text if op == BinaryOp::Add => "texts are put together with `..`".to_string(),
                    ValueType::Text => "take the number itself, or tonumber(...)".to_string(),
                    ValueType::Entity => self.one_of_its_numbers(side),
                    ValueType::Function => "call it: name(...), and with a colon if it is a derived value".to_string(),
                    table if table.is_table() => "count a list with `#`, or name what is meant in it".to_string(),
                    _ => "write `if ... then 1 else 0`".to_string(),
                };
                let wrong = format!("`{sign}` wants numbers, and this is {}", sort.words());
                let number = self.only_number(side).filter(|_| sort == ValueType::Entity);
                let change = match (sort, number) {
                    (_, Some(number)) => Some(self.inserted(side.location().end, format!(".{number}"))),
                    (ValueType::List, _) => Some(self.inserted(side.location().begin, "#")),
                    // A sum cannot be put together with a text.
                    (ValueType::Text, _)
                        if op == BinaryOp::Add
                            && !is_number_in_quotes(side)
                            && ![sorts.0, sorts.1].contains(&Some(ValueType::Sum)) =>
                    {
                        let between = self.bytes_of(Location::new(lhs.location().end, rhs.location().begin));
                        let plus = self.text[between.clone()].find('+').map(|at| between.start + at);
                        plus.map(|at| self.joined_from(at))
                    }
                    _ => self.unquoted(side),
                };
                return self.problem_with(&LINT, side.location(), (wrong, cure.into()), change);
            }
        } else if op == BinaryOp::Concat {
            for (side, sort) in [(lhs, sorts.0), (rhs, sorts.1)] {
                let Some(sort) = sort.filter(|sort| !matches!(sort, ValueType::Number | ValueType::Text)) else {
                    continue;
                };
                let cure = match sort {
                    ValueType::Sum if sorts.0 == sorts.1 => "sums are added with `+`",
                    ValueType::Sum => "write its number: sum.total",
                    ValueType::Entity => "name the field that is meant, or fill it in: rb.say(\"{} falls\", entity)",
                    ValueType::Truth => "write tostring(...)",
                    _ => "name what is meant in it",
                };
                let wrong = format!("`..` puts texts and numbers together, and this is {}", sort.words());
                return self.problem(&LINT, side.location(), (wrong, cure.into()));
            }
            self.joined_numbers(sorts, lhs, rhs);
        } else if let Some(side) = [lhs, rhs].into_iter().find(|side| orders(op) && self.is_nothing(*side)) {
            self.without_value(side, sign);
        } else if orders(op)
            && let Some(side) = [lhs, rhs].into_iter().find(|side| is_number_in_quotes(*side))
        {
            let wrong = format!("`{sign}` compares two numbers, and this is a text");
            let change = self.unquoted(side);
            self.problem_with(&LINT, side.location(), (wrong, "write the number without quotes".into()), change);
        } else if orders(op)
            && let (Some(one), Some(other)) = sorts
            && (one != other || !matches!(one, ValueType::Number | ValueType::Sum | ValueType::Text))
        {
            let wrong = format!("`{sign}` compares two numbers, and here are {} and {}", one.words(), other.words());
            let cure = match (one, other) {
                (ValueType::Text, _) | (_, ValueType::Text) => {
                    "write a number without quotes, or name the field that holds a number"
                }
                (ValueType::Sum, _) | (_, ValueType::Sum) => "compare the number of the sum: sum.total",
                (table, _) | (_, table) if table.is_table() => "count a list with `#`",
                _ => "name what is meant in it",
            };
            let list = [(lhs, one), (rhs, other)].into_iter().find(|(_, sort)| *sort == ValueType::List);
            let change = list.map(|(list, _)| self.inserted(list.location().begin, "#"));
            self.problem_with(&LINT, lhs.location(), (wrong, cure.into()), change);
        }
    }

    /// The cure for an entity where a number is wanted: its number fields, if its kind is known.
    fn one_of_its_numbers(&self, entity: Expression<'_>) -> String {
        let numbers = self.numbers_of(entity);
        match (self.source_of(entity), numbers.as_slice()) {
            (Some(written), [only]) => format!("name its number: {written}.{only}"),
            (Some(written), [first, ..]) => {
                format!(
                    "name the field that is meant, such as {written}.{first}; its numbers are {}",
                    numbers.join(", ")
                )
            }
            _ => "name the field that is meant: entity.field".to_string(),
        }
    }

    /// The number fields of an entity of a known kind.
    fn numbers_of(&self, entity: Expression<'_>) -> Vec<&str> {
        let kind = match self.symbol(entity) {
            Some(Symbol::Entity(Some(kind))) => self.known.kind(&kind),
            _ => None,
        };
        let fields = kind.into_iter().flat_map(|kind| &kind.fields);
        fields.filter(|field| matches!(field.ty, Type::Int { .. })).map(|field| &*field.name).collect()
    }

    /// The number field of an entity whose kind has only one.
    fn only_number(&self, entity: Expression<'_>) -> Option<String> {
        match self.numbers_of(entity).as_slice() {
            [only] => Some((*only).to_owned()),
            _ => None,
        }
    }

    pub(crate) fn without_value(&mut self, side: Expression<'_>, sign: &str) {
        let wrong = format!("`{sign}` wants numbers, and this is nil");
        self.problem(&LINT, side.location(), (wrong, "write a number, such as 0".into()));
    }

    /// Whether an expression is a table with texts as keys: a map field, a literal, or a table of the scenarios.
    fn is_map(&self, of: Expression<'_>) -> bool {
        match of.kind() {
            ExpressionKind::Grouped(inner) => self.is_map(inner),
            ExpressionKind::TypeAssertion { expr, .. } => self.is_map(expr),
            ExpressionKind::Binary { lhs, op: BinaryOp::Or, rhs } => {
                self.is_map(lhs) && matches!(rhs.kind(), ExpressionKind::Table { items: [] })
            }
            ExpressionKind::Local { local, .. } => self.text_maps.contains(&local.id),
            ExpressionKind::IndexName { expr, index, .. } => {
                let name = text(index);
                let is_scenario =
                    matches!(expr.kind(), ExpressionKind::Local { local, .. } if local.name == "scenario");
                let is_map = |ty: &Type| matches!(ty, Type::Map(_));
                match self.symbol(expr) {
                    Some(Symbol::Entity(Some(kind))) => self
                        .known
                        .kind(&kind)
                        .and_then(|kind| Some(is_map(&kind.field(kind.field_named(&name)?).ty)))
                        .unwrap_or_default(),
                    None if is_scenario && self.path.starts_with("play") => self.is_table_of_scenarios(&name),
                    _ => false,
                }
            }
            _ => false,
        }
    }

    /// Whether scenarios have a table with names under a key, `[key]`, and none has a list there.
    fn is_table_of_scenarios(&self, key: &str) -> bool {
        let scenarios = self.known.stack.files_in("scenarios");
        let texts = || scenarios.values().map(|(_, source)| self.known.text_of(&source.path));
        let has = |begin: &str| texts().flat_map(str::lines).any(|line| line.trim_start().starts_with(begin));
        let is_list = has(&format!("[[{key}]]")) || has(&format!("{key} = [")) || has(&format!("{key}=["));
        !is_list && (has(&format!("[{key}]")) || has(&format!("{key} = {{")))
    }

    /// Reports a value to which `#` or `-` cannot be applied.
    pub(crate) fn one_operand(&mut self, op: UnaryOp, of: Expression<'_>) {
        if op == UnaryOp::Length && self.is_map(of) {
            let wrong = format!("`#` counts a list, and `{}` is a table with names, so this is 0", self.source(of));
            let cure = "write `next(TABLE) == nil` to ask whether it is empty, or count in a loop";
            return self.problem(&LINT, of.location(), (wrong, cure.into()));
        }
        let Some(sort) = self.value_type(of) else { return };
        let wrong = match (op, sort) {
            (UnaryOp::Length, ValueType::Text) | (UnaryOp::Negate, ValueType::Number | ValueType::Sum) => return,
            (UnaryOp::Length, sort) if sort.is_table() => return,
            (UnaryOp::Length, _) => format!("`#` counts a list or the letters of a text, and this is {}", sort.words()),
            _ => format!("`-` wants a number, and this is {}", sort.words()),
        };
        if sort == ValueType::Function {
            let called = self.call_elsewhere(self.source(of));
            let cure = match &called {
                Some(call) => format!("call it: {call}"),
                None => format!("call it: {}(...)", self.source(of)),
            };
            let change = called.map(|call| self.replaced(of.location(), call));
            return self.problem_with(&LINT, of.location(), (wrong, cure.into()), change);
        }
        self.problem(&LINT, of.location(), (wrong, "name what is meant in it, or leave the sign out".into()));
    }

    /// The first call of a function in this file or in another script of the ruleset, as it is written there.
    fn call_elsewhere(&self, function: &str) -> Option<String> {
        let opened = format!("{function}(");
        let of_text = |text: &str| {
            let begin = text.match_indices(&opened).map(|(at, _)| at).find(|at| !text[..*at].ends_with(is_of_name))?;
            let end = begin + text[begin..].find(')')? + 1;
            let call = &text[begin..end];
            let roots = call[opened.len()..].split(|letter: char| !(is_of_name(letter) || letter == '.'));
            let mut roots = roots.filter_map(|word| word.split('.').next()).filter(|root| !root.is_empty());
            let can_be_read = roots.all(|root| self.is_in_scope(root) || root.parse::<f64>().is_ok());
            (call.matches('(').count() == 1 && !call.contains('\n') && can_be_read).then(|| call.to_owned())
        };
        let others = || {
            let own = self.known.stack.scripts().filter(|(_, path, _)| !path.starts_with("specs/"));
            own.into_iter().find_map(|(_, _, source)| of_text(&source.text))
        };
        of_text(self.text).or_else(others)
    }
}

/// Whether an expression is a text that parses as a number.
fn is_number_in_quotes(expression: Expression<'_>) -> bool {
    crate::syntax::literal(expression).is_some_and(|text| text.trim().parse::<f64>().is_ok())
}
