//! Infers the type of an expression where it is certain, and reads the types that the vocabulary takes.

use super::lints;
use super::script::ScriptReader;
use super::symbol::Symbol;
use super::syntax::{name_of, text};
use riskbreaker_script::api;
use riskbreaker_script::syntax::{BinaryOp, Expression, ExpressionKind, Location, TableItem, UnaryOp};
use riskbreaker_state::{Type, Value};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ValueType {
    Number,
    /// A number with named parts, as `rb.sum` returns it.
    Sum,
    Text,
    Truth,
    /// A table of unknown content; an entity is read in the same way.
    Table,
    List,
    /// A table with names that no entity has.
    Record,
    Function,
    Entity,
    /// A hook or an item that is attached to an entity, as hooks get it.
    Attached,
}

impl ValueType {
    /// Returns the type in the words of a message: `a number`.
    pub fn words(self) -> &'static str {
        match self {
            ValueType::Number => "a number",
            ValueType::Sum => "a sum",
            ValueType::Text => "a text",
            ValueType::Truth => "true or false",
            ValueType::Table => "a table",
            ValueType::List => "a list",
            ValueType::Record => "a table with names",
            ValueType::Function => "a function",
            ValueType::Entity => "an entity",
            ValueType::Attached => "what is attached",
        }
    }

    pub(super) fn of_type(ty: &Type) -> ValueType {
        match ty {
            Type::Int { .. } => ValueType::Number,
            Type::Bool => ValueType::Truth,
            Type::Text | Type::Enum(_) => ValueType::Text,
            Type::Ref(_) => ValueType::Entity,
            Type::List(_) => ValueType::List,
            Type::Ratio | Type::Map(_) => ValueType::Table,
        }
    }

    /// Whether it is a table, whatever its content.
    pub(super) fn is_table(self) -> bool {
        matches!(self, ValueType::Table | ValueType::List | ValueType::Record | ValueType::Attached)
    }
}

/// Returns the type that a parameter requires, if a value does not fit; `None` if it fits or the type is unknown.
pub(super) fn wanted(ty: &str, sort: ValueType) -> Option<&'static str> {
    let mut first = None;
    for one in pieces(ty, '|') {
        let takes = match one.trim_end_matches('?') {
            "number" => ValueType::Number,
            "string" => ValueType::Text,
            "boolean" => ValueType::Truth,
            "{ string }" | "{ number }" | "{ any }" => ValueType::Table,
            name if name.ends_with("Name") => ValueType::Text,
            name if name.ends_with("Question") || name.ends_with("Body") => ValueType::Table,
            function if function.contains("->") => ValueType::Function,
            table if table.starts_with('{') => ValueType::Table,
            "Entity" => ValueType::Entity,
            "Sum" if matches!(sort, ValueType::Number | ValueType::Sum) || sort.is_table() => return None,
            "Sum" => ValueType::Number,
            // A distance such as `"+1"` is a key, too. Literals are checked elsewhere.
            "Key" if matches!(sort, ValueType::Number | ValueType::Text) || sort.is_table() => return None,
            "Key" => ValueType::Number,
            "Dice" if sort == ValueType::Text || sort.is_table() => return None,
            "Dice" => ValueType::Text,
            _ => return None,
        };
        let is_table = takes.is_table() && sort.is_table();
        if takes == sort || is_table || takes == ValueType::Entity && sort == ValueType::Table {
            return None;
        }
        first.get_or_insert(takes.words());
    }
    first
}

/// One parameter of a function type.
pub(super) struct Param<'t> {
    pub name: &'t str,
    pub ty: &'t str,
    pub optional: bool,
}

/// Parses the parameters of `(a: T, b: U?, ...any) -> R`, and whether it takes any number more. `None` for another
/// type.
pub(super) fn params_of(ty: &str) -> Option<(Vec<Param<'_>>, bool)> {
    let inside = ty.strip_prefix('(')?;
    let end = closing(inside)?;
    let mut params = Vec::new();
    let mut spread = false;
    for one in pieces(&inside[..end], ',') {
        if one.starts_with("...") {
            spread = true;
        } else if let Some((name, ty)) = one.split_once(':') {
            let ty = ty.trim();
            let optional = ty.ends_with('?') || ty == "any";
            params.push(Param { name: name.trim(), ty, optional });
        }
    }
    Some((params, spread))
}

/// Returns the result type of a function type; `None` if it is not always the same.
pub(super) fn result_of(ty: &str) -> Option<ValueType> {
    let inside = ty.strip_prefix('(')?;
    let rest = inside[closing(inside)? + 1..].trim().strip_prefix("->")?.trim();
    Some(match rest {
        "number" => ValueType::Number,
        "Sum" => ValueType::Sum,
        "string" => ValueType::Text,
        "boolean" => ValueType::Truth,
        _ if rest.starts_with('{') && !rest.contains([':', '|']) => ValueType::List,
        _ if rest.starts_with('{') && !rest.contains('|') => ValueType::Table,
        _ => return None,
    })
}

/// Returns the index of the bracket that closes the one opened before the text.
fn closing(text: &str) -> Option<usize> {
    let mut depth = 0;
    for (at, letter) in text.char_indices() {
        match letter {
            '(' | '{' | '[' => depth += 1,
            ')' if depth == 0 => return Some(at),
            ')' | '}' | ']' => depth -= 1,
            _ => {}
        }
    }
    None
}

/// Splits a text at marks outside brackets, and trims the parts. An empty text has none.
fn pieces(text: &str, mark: char) -> Vec<&str> {
    let (mut found, mut depth, mut from) = (Vec::new(), 0, 0);
    for (at, letter) in text.char_indices() {
        match letter {
            '(' | '{' | '[' => depth += 1,
            ')' | '}' | ']' => depth -= 1,
            _ if letter == mark && depth == 0 => {
                found.push(text[from..at].trim());
                from = at + letter.len_utf8();
            }
            _ => {}
        }
    }
    if !text[from..].trim().is_empty() {
        found.push(text[from..].trim());
    }
    found
}

impl ScriptReader<'_> {
    /// Returns the type of an expression; `None` if it is not certain.
    pub(super) fn value_type(&self, expression: Expression<'_>) -> Option<ValueType> {
        match expression.kind() {
            ExpressionKind::Grouped(inner) => self.value_type(inner),
            ExpressionKind::Number { .. } | ExpressionKind::Integer { .. } => Some(ValueType::Number),
            ExpressionKind::String { .. } | ExpressionKind::InterpString { .. } => Some(ValueType::Text),
            ExpressionKind::Boolean(_) => Some(ValueType::Truth),
            ExpressionKind::Table { items: [] } => Some(ValueType::Table),
            ExpressionKind::Table { items } => {
                let list = items.iter().all(|item| matches!(item, TableItem::List { .. }));
                Some(if list { ValueType::List } else { ValueType::Table })
            }
            ExpressionKind::FunctionLiteral(_) => Some(ValueType::Function),
            ExpressionKind::Unary { op: UnaryOp::Not, .. } => Some(ValueType::Truth),
            ExpressionKind::Unary { op: UnaryOp::Negate, rhs } if self.value_type(rhs) == Some(ValueType::Sum) => {
                Some(ValueType::Sum)
            }
            ExpressionKind::Unary { .. } => Some(ValueType::Number),
            ExpressionKind::Binary { lhs, op, rhs } => match op {
                BinaryOp::Concat => Some(ValueType::Text),
                BinaryOp::And => None,
                // A default has the type of the value that it replaces.
                BinaryOp::Or => {
                    let sort = self.value_type(rhs)?;
                    let stands_for = self.value_type(lhs).or_else(|| is_default(rhs).then_some(sort));
                    (stands_for == Some(sort)).then_some(sort)
                }
                _ if reckons(op) => match (self.value_type(lhs), self.value_type(rhs)) {
                    (Some(ValueType::Sum), _) | (_, Some(ValueType::Sum)) => Some(ValueType::Sum),
                    _ => Some(ValueType::Number),
                },
                _ => Some(ValueType::Truth),
            },
            ExpressionKind::If { then_expression, else_expression, .. } => {
                let sort = self.value_type(then_expression)?;
                (self.value_type(else_expression) == Some(sort)).then_some(sort)
            }
            ExpressionKind::Local { local, .. } => {
                let id = local.id;
                if self.functions.contains_key(&id) {
                    return Some(ValueType::Function);
                }
                self.value_types.get(&id).copied().or_else(|| self.type_of_symbol(expression))
            }
            ExpressionKind::IndexName { expr, index, .. } => {
                let name = text(index);
                let Some(symbol) = self.symbol(expr) else {
                    // Whatever its owner, the member is a field, unless the owner is a table of the script's own.
                    return self
                        .known
                        .names
                        .type_everywhere(&name)
                        // A variable may hold a table with the names of fields, such as a sheet.
                        .filter(|ty| *ty != ValueType::List || !matches!(expr.kind(), ExpressionKind::Local { .. }))
                        .filter(|_| !self.is_spec() && !self.elsewhere && !self.is_own_table(expr))
                        .or_else(|| self.type_of_symbol(expression));
                };
                match symbol {
                    Symbol::Module(path) => {
                        let member = self.known.names.module(&path)?.members.get(&name)?;
                        member.as_ref().map(|_| ValueType::Function)
                    }
                    Symbol::Entity(Some(kind)) => {
                        let kind = self.known.kind(&kind)?;
                        // Of a derived value that is not called, that alone is reported.
                        if kind.has_derived(&name) {
                            return None;
                        }
                        Some(ValueType::of_type(&kind.field(kind.field_named(&name)?).ty))
                    }
                    Symbol::Entity(None) => self.known.names.fields().type_of(&name),
                    Symbol::Word("switches") => {
                        let switch = self.known.rules?.switch(&name)?;
                        Some(match switch.default.as_value() {
                            Value::Int(_) => ValueType::Number,
                            Value::Bool(_) => ValueType::Truth,
                            _ => ValueType::Text,
                        })
                    }
                    Symbol::HookData(hook) => {
                        let data = self.known.rules?.hook_data(&hook)?;
                        super::argument::type_of_param(&super::symbol::declared(data, &name)?.ty)
                    }
                    Symbol::Holder if name == "id" => Some(ValueType::Number),
                    Symbol::Holder if name == "hook" => Some(ValueType::Text),
                    _ => self.type_of_symbol(expression),
                }
            }
            ExpressionKind::Call { func, self_call, .. } => self.type_of_call(func, self_call, expression),
            _ => None,
        }
    }

    fn type_of_symbol(&self, expression: Expression<'_>) -> Option<ValueType> {
        match self.symbol(expression)? {
            // A reference and the first of a kind may be nil; otherwise they are entities.
            Symbol::Entity(_) => Some(ValueType::Entity),
            Symbol::Entities(_) => Some(ValueType::List),
            Symbol::Holder => Some(ValueType::Attached),
            _ => None,
        }
    }

    fn type_of_call(&self, func: Expression<'_>, self_call: bool, call: Expression<'_>) -> Option<ValueType> {
        if let ExpressionKind::Global(name) = func.kind() {
            return match text(name).as_str() {
                "tostring" => Some(ValueType::Text),
                "tonumber" => Some(ValueType::Number),
                _ => None,
            };
        }
        if let Some(called) = self.called(func, self_call) {
            return called.signature.gives;
        }
        let ExpressionKind::IndexName { expr, index, .. } = func.kind() else { return None };
        let name = text(index);
        match self.symbol(expr) {
            Some(Symbol::Vocabulary) if !self_call => {
                result_of(api::word(&name)?.ty).or_else(|| self.type_of_symbol(call))
            }
            Some(Symbol::Library("math")) => Some(ValueType::Number),
            Some(Symbol::Library("string")) => {
                matches!(&*name, "format" | "lower" | "upper" | "rep" | "sub" | "reverse").then_some(ValueType::Text)
            }
            Some(Symbol::Library("table")) => match &*name {
                "concat" => Some(ValueType::Text),
                "clone" | "pack" | "create" => Some(ValueType::Table),
                _ => None,
            },
            Some(Symbol::Entity(_)) if self_call && name == "add" => Some(ValueType::Number),
            Some(Symbol::Entity(_)) if self_call && matches!(&*name, "exists" | "reaches") => Some(ValueType::Truth),
            _ => None,
        }
    }

    /// Whether an expression is certainly a reference: all fields of its name are references, and no table of the
    /// ruleset's own has the name.
    fn refers(&self, expression: Expression<'_>) -> bool {
        let ExpressionKind::IndexName { expr, index, .. } = expression.kind() else { return false };
        let own = self.known.names.may_be_own(&text(index)) || self.is_own_table(expr);
        self.is_named_like_a_reference(expression) && !own
    }

    /// Whether an expression reads a member off an unknown value, and all fields of that name are references.
    fn is_named_like_a_reference(&self, expression: Expression<'_>) -> bool {
        match expression.kind() {
            ExpressionKind::IndexName { expr, index, .. } => {
                self.symbol(expr).is_none() && self.known.always_refers(&text(index))
            }
            _ => false,
        }
    }

    /// Whether an expression is a variable that holds a table of the script's own.
    fn is_own_table(&self, expression: Expression<'_>) -> bool {
        match expression.kind() {
            ExpressionKind::Grouped(inner) => self.is_own_table(inner),
            ExpressionKind::TypeAssertion { expr, .. } => self.is_own_table(expr),
            ExpressionKind::Local { local, .. } => self.value_types.get(&local.id).is_some_and(|ty| ty.is_table()),
            _ => false,
        }
    }

    /// Reports operands with types that the operator does not take.
    pub(super) fn operands(&mut self, lhs: Expression<'_>, op: BinaryOp, rhs: Expression<'_>) {
        self.has_come_back(lhs);
        self.has_come_back(rhs);
        let sorts = (self.type_or_list(lhs), self.type_or_list(rhs));
        let sign = op.symbol();
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
                    ValueType::Entity => "name the field that is meant: entity.field".to_string(),
                    ValueType::Function => "call it: name(...), and with a colon if it is a derived value".to_string(),
                    table if table.is_table() => "count a list with `#`, or name what is meant in it".to_string(),
                    _ => "write `if ... then 1 else 0`".to_string(),
                };
                let wrong = format!("`{sign}` wants numbers, and this is {}", sort.words());
                return self.problem(&lints::operand_type::LINT, side.location(), (wrong, cure));
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
                return self.problem(&lints::operand_type::LINT, side.location(), (wrong, cure.to_string()));
            }
            if sorts == (Some(ValueType::Number), Some(ValueType::Number)) {
                let wrong = "`..` makes a text of two numbers, such as \"51\" of 5 and 1".to_string();
                self.problem(
                    &lints::joined_numbers::LINT,
                    rhs.location(),
                    (wrong, "numbers are added with `+`".into()),
                );
            }
        } else if let Some(side) = [lhs, rhs].into_iter().find(|side| orders(op) && self.is_nothing(*side)) {
            self.without_value(side, sign);
        } else if orders(op)
            && let Some(side) = [lhs, rhs].into_iter().find(|side| is_number_in_quotes(*side))
        {
            let wrong = format!("`{sign}` compares two numbers, and this is a text");
            self.problem(
                &lints::operand_type::LINT,
                side.location(),
                (wrong, "write the number without quotes".into()),
            );
        } else if orders(op)
            && let (Some(one), Some(other)) = sorts
            && (one != other || !matches!(one, ValueType::Number | ValueType::Sum | ValueType::Text))
        {
            let wrong = format!("`{sign}` compares two numbers, and here are {} and {}", one.words(), other.words());
            let cure = match (one, other) {
                (ValueType::Text, _) | (_, ValueType::Text) => {
                    "write a number without quotes, or name the field that holds one"
                }
                (ValueType::Sum, _) | (_, ValueType::Sum) => "compare the number of the sum: sum.total",
                (table, _) | (_, table) if table.is_table() => "count a list with `#`",
                _ => "name what is meant in it",
            };
            self.problem(&lints::operand_type::LINT, lhs.location(), (wrong, cure.to_string()));
        }
    }

    /// Reports a comparison of values that are never equal, because their types differ.
    pub(super) fn never_equal(&mut self, lhs: Expression<'_>, rhs: Expression<'_>) {
        let holder = |side: Expression<'_>| self.symbol(side) == Some(Symbol::Holder);
        let named = |side: Expression<'_>| matches!(side.kind(), ExpressionKind::IndexName { .. });
        for (one, other) in [(lhs, rhs), (rhs, lhs)] {
            if holder(one) && named(other) && !holder(other) {
                let wrong = "this is what is attached, and no entity".to_string();
                return self.problem(
                    &lints::never_equal::LINT,
                    one.location(),
                    (wrong, "name whom it is attached to: `.owner`".into()),
                );
            }
        }
        for (field, nil) in [(lhs, rhs), (rhs, lhs)] {
            if matches!(nil.kind(), ExpressionKind::Nil) && self.never_nil(field) {
                return;
            }
        }
        for (entity, other) in [(lhs, rhs), (rhs, lhs)] {
            let is_entity =
                || self.value_type(entity) == Some(ValueType::Entity) || self.is_named_like_a_reference(entity);
            if let Some((wrong, cure)) = self.no_entity(other).filter(|_| is_entity() && !self.is_spec()) {
                return self.problem(
                    &lints::never_equal::LINT,
                    other.location(),
                    (format!("this is compared with an entity, and {wrong}"), cure),
                );
            }
        }
        let (Some(one), Some(other)) = (self.type_or_list(lhs), self.type_or_list(rhs)) else { return };
        let plain = |sort| matches!(sort, ValueType::Number | ValueType::Text | ValueType::Truth);
        if one == other || !plain(one) && !plain(other) || one == ValueType::Function || other == ValueType::Function {
            return;
        }
        let cure = match (one, other) {
            (table, ValueType::Number) | (ValueType::Number, table) if table.is_table() => "count a list with `#`",
            (ValueType::Text, ValueType::Number) | (ValueType::Number, ValueType::Text) => {
                "write a number without quotes, or name the field that holds one"
            }
            (ValueType::Entity, _) | (_, ValueType::Entity) => "name the field that is meant: entity.field",
            (ValueType::Sum, _) | (_, ValueType::Sum) => "compare the number of the sum: sum.total",
            _ => "compare it with a value that it can have",
        };
        let wrong = format!("{} and {} are never equal", one.words(), other.words());
        self.problem(&lints::never_equal::LINT, rhs.location(), (wrong, cure.to_string()));
    }

    /// Reports a comparison with nil of a field or another value that is never nil. Returns whether it did.
    fn never_nil(&mut self, value: Expression<'_>) -> bool {
        let field = match value.kind() {
            ExpressionKind::IndexName { expr, index, .. } => {
                matches!(self.symbol(expr), Some(Symbol::Entity(_))).then(|| format!("the field `{}`", text(index)))
            }
            ExpressionKind::Local { local, .. } => Some(format!("`{}`", text(local.name))),
            _ => Some("this".to_string()),
        };
        let is_field = matches!(value.kind(), ExpressionKind::IndexName { .. });
        let Some(named) = field.filter(|_| !self.is_spec() && (is_field || self.is_always_there(value))) else {
            return false;
        };
        let cure = match self.value_type(value) {
            Some(ValueType::Number) => "compare it with a number: `== 0`",
            Some(ValueType::Text) => "an empty text is `\"\"`",
            Some(ValueType::Truth) if is_field => "write the field alone, or `not` before it",
            Some(ValueType::List) => "count it: `#` before it",
            _ => return false,
        };
        self.problem(
            &lints::never_nil::LINT,
            value.location(),
            (format!("{named} always has a value and is never nil"), cure.into()),
        );
        true
    }

    /// Returns the type of an expression, or a list if its member name is used only for lists.
    fn type_or_list(&self, expression: Expression<'_>) -> Option<ValueType> {
        let is_list = || !self.is_spec() && self.known.names.is_list_of(expression);
        self.value_type(expression).or_else(|| is_list().then_some(ValueType::List))
    }

    /// Reports a member that is read off a value without members. Texts have methods, after a colon.
    pub(super) fn has_no_names(&mut self, of: Expression<'_>, name: &str, at: Location, colon: bool) {
        // The type of a member of an unknown value is only inferred from its name.
        let certain = match of.kind() {
            ExpressionKind::IndexName { expr, .. } => self.symbol(expr).is_some(),
            _ => true,
        };
        let certain = certain && !self.is_spec() && !self.evidence.has_names(of);
        let Some(sort) = self.value_type(of).filter(|_| certain) else { return };
        let method = sort == ValueType::Text && api::library("string").is_some_and(|names| names.contains(&name));
        if method && colon {
            return;
        }
        // The result of a calculation with unknown values may be a sum.
        if matches!(sort, ValueType::Number | ValueType::Sum) && matches!(name, "total" | "least" | "most") {
            return;
        }
        let called = name_of(of).map_or_else(|| "this".to_string(), |name| format!("`{name}`"));
        let cure = match sort {
            ValueType::Text if method => format!("write a colon: `:{name}(...)`"),
            ValueType::Text if is_count(name) => "`#` before it counts its letters".into(),
            ValueType::List if is_count(name) => "`#` before it counts a list".into(),
            ValueType::List => "name one of it, such as list[1], or loop over it".into(),
            ValueType::Sum => "a sum has total, least and most".into(),
            ValueType::Number | ValueType::Truth | ValueType::Text => {
                format!("write {called} alone, or name what holds `{name}`")
            }
            _ => return,
        };
        self.problem(
            &lints::member_of_plain_value::LINT,
            at,
            (format!("{called} is {}, and has no `{name}`", sort.words()), cure),
        );
    }

    /// Reports a comparison of a function itself, instead of its result.
    pub(super) fn function_compared(&mut self, side: Expression<'_>, other: Expression<'_>) {
        let ExpressionKind::IndexName { expr, index, .. } = side.kind() else { return };
        let name = text(index);
        let is_function = match self.symbol(expr) {
            Some(Symbol::Vocabulary) => api::word(&name).is_some_and(|word| params_of(word.ty).is_some()),
            Some(Symbol::Module(_)) => self.value_type(side) == Some(ValueType::Function),
            _ => false,
        };
        let may_be = matches!(self.value_type(other), Some(ValueType::Function)) || self.is_nothing(other);
        if is_function && !may_be {
            let wrong = format!("`{name}` is a function, and here the function itself is compared");
            self.problem(&lints::uncalled_function::LINT, side.location(), (wrong, format!("call it: {name}(...)")));
        }
    }

    /// Whether an expression is `nil`, or a variable that is always nil.
    fn is_nothing(&self, expression: Expression<'_>) -> bool {
        match expression.kind() {
            ExpressionKind::Nil => true,
            ExpressionKind::Local { local, .. } => self.nothing.contains(&local.id),
            _ => false,
        }
    }

    fn without_value(&mut self, side: Expression<'_>, sign: &str) {
        let wrong = format!("`{sign}` wants numbers, and this is nil");
        self.problem(&lints::operand_type::LINT, side.location(), (wrong, "write a number, such as 0".into()));
    }

    /// Reports a value to which `#` or `-` cannot be applied.
    pub(super) fn one_operand(&mut self, op: UnaryOp, of: Expression<'_>) {
        let Some(sort) = self.value_type(of) else { return };
        let wrong = match (op, sort) {
            (UnaryOp::Length, ValueType::Text) | (UnaryOp::Negate, ValueType::Number | ValueType::Sum) => return,
            (UnaryOp::Length, sort) if sort.is_table() => return,
            (UnaryOp::Length, _) => format!("`#` counts a list or the letters of a text, and this is {}", sort.words()),
            _ => format!("`-` wants a number, and this is {}", sort.words()),
        };
        self.problem(
            &lints::operand_type::LINT,
            of.location(),
            (wrong, "name what is meant in it, or leave the sign out".into()),
        );
    }

    /// Whether a value is never nil.
    pub(super) fn is_always_there(&self, expression: Expression<'_>) -> bool {
        match expression.kind() {
            ExpressionKind::Grouped(inner) => self.is_always_there(inner),
            ExpressionKind::Local { local, .. } => self.always_there.contains(&local.id),
            ExpressionKind::Unary { .. } | ExpressionKind::Table { .. } | ExpressionKind::InterpString { .. } => true,
            ExpressionKind::Binary { op, .. } => reckons(op) || op == BinaryOp::Concat,
            ExpressionKind::Call { func, self_call, .. } => match func.kind() {
                ExpressionKind::Global(name) => name == "tostring",
                ExpressionKind::IndexName { expr, .. }
                    if matches!(self.symbol(expr), Some(Symbol::Vocabulary | Symbol::Library(_))) =>
                {
                    true
                }
                _ => self.called(func, self_call).is_some_and(|called| called.signature.answers),
            },
            _ => false,
        }
    }

    /// Reports a condition that is always true: a function, or a value that is never nil.
    pub(super) fn condition(&mut self, condition: Expression<'_>) {
        match condition.kind() {
            ExpressionKind::Grouped(inner) => self.condition(inner),
            ExpressionKind::Unary { op: UnaryOp::Not, rhs } => self.condition(rhs),
            ExpressionKind::Binary { lhs, op: BinaryOp::And | BinaryOp::Or, rhs } => {
                self.condition(lhs);
                self.condition(rhs);
            }
            ExpressionKind::Number { .. } | ExpressionKind::Integer { .. } | ExpressionKind::String { .. } => {
                let wrong = "this condition is a value that is always true".to_string();
                let cure = "compare it with something; two values are written `a == 1 or a == 2`";
                self.problem(&lints::always_true::LINT, condition.location(), (wrong, cure.into()));
            }
            ExpressionKind::Local { .. } | ExpressionKind::IndexName { .. }
                if self.value_type(condition) == Some(ValueType::Function) =>
            {
                let wrong = "this condition is a function, not its result, and so is always true".to_string();
                self.problem(
                    &lints::uncalled_function::LINT,
                    condition.location(),
                    (wrong, "call it: put its values in brackets behind it".into()),
                );
            }
            ExpressionKind::IndexName { expr, index, .. } if self.symbol(expr) == Some(Symbol::Word("switches")) => {
                let cure = match self.value_type(condition) {
                    Some(ValueType::Number) => "compare it: `> 0`".to_string(),
                    Some(ValueType::Text) => {
                        let switch = self.known.rules.and_then(|rules| rules.switch(&text(index)));
                        let values = switch.map_or(String::new(), |switch| format!("; it is {}", switch.kind));
                        format!("compare it with one of its values: `== \"...\"`{values}")
                    }
                    _ => return,
                };
                let wrong =
                    format!("the switch `{}` always has a value, so this condition is always true", text(index));
                self.problem(&lints::always_true::LINT, condition.location(), (wrong, cure));
            }
            ExpressionKind::IndexName { expr, index, .. }
                if matches!(self.symbol(expr), Some(Symbol::Entity(_)) | None) =>
            {
                let read_off_any = self.symbol(expr).is_none();
                let cure = match self.value_type(condition) {
                    Some(ValueType::Number) if !read_off_any => "compare it: `> 0`",
                    Some(ValueType::Text) if !read_off_any => "compare it: `~= \"\"`",
                    Some(ValueType::List) => "count it: `#` before it and `> 0` behind it",
                    _ => return,
                };
                let wrong = format!("the field `{}` always has a value, so this condition is always true", text(index));
                self.problem(&lints::always_true::LINT, condition.location(), (wrong, cure.into()));
            }
            _ if self.is_always_there(condition) => {
                let Some(sort) = self.value_type(condition) else { return };
                let cure = match sort {
                    ValueType::Number => "compare it, such as `> 0`",
                    ValueType::Text => "compare it with a text",
                    ValueType::Truth | ValueType::Function | ValueType::Entity => return,
                    _ => "count a list: `#` before it, and `> 0` behind it",
                };
                let wrong = format!("this condition is {}, and so is always true", sort.words());
                self.problem(&lints::always_true::LINT, condition.location(), (wrong, cure.into()));
            }
            _ => {}
        }
    }
}

/// Whether an expression is a literal that can be a default: a number, a text or a table.
fn is_default(expression: Expression<'_>) -> bool {
    matches!(
        expression.kind(),
        ExpressionKind::Number { .. } | ExpressionKind::String { .. } | ExpressionKind::Table { .. }
    )
}

/// Whether a name is what other languages call the length of a list or a text.
fn is_count(name: &str) -> bool {
    matches!(name, "length" | "len" | "size" | "count" | "n")
}

/// Whether an expression is a text that parses as a number.
fn is_number_in_quotes(expression: Expression<'_>) -> bool {
    super::syntax::literal(expression).is_some_and(|text| text.trim().parse::<f64>().is_ok())
}

pub(super) fn orders(op: BinaryOp) -> bool {
    matches!(op, BinaryOp::Less | BinaryOp::LessEqual | BinaryOp::Greater | BinaryOp::GreaterEqual)
}

pub(super) fn reckons(op: BinaryOp) -> bool {
    use BinaryOp::{Add, Divide, FloorDivide, Modulo, Multiply, Power, Subtract};
    matches!(op, Add | Divide | FloorDivide | Modulo | Multiply | Power | Subtract)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_take_what_they_say() {
        assert_eq!(wanted("string", ValueType::Number), Some("a text"));
        assert_eq!(wanted("string | (...any) -> ...any", ValueType::Number), Some("a text"));
        assert_eq!(wanted("string | (...any) -> ...any", ValueType::Function), None);
        assert_eq!(wanted("{ [string]: any }?", ValueType::Number), Some("a table"));
        assert_eq!(wanted("any?", ValueType::Number), None);
        assert_eq!(wanted("Entity?", ValueType::Text), Some("an entity"));
        assert_eq!(wanted("Key", ValueType::Table), None);
        assert_eq!(wanted("Key", ValueType::Text), None);
        assert_eq!(wanted("Key", ValueType::Truth), Some("a number"));
    }

    #[test]
    fn parameters_are_read_off_a_type() {
        let (params, spread) = params_of("(a: string, b: { c: number }?, ...any) -> number").unwrap();
        let read: Vec<_> = params.iter().map(|param| (param.name, param.ty, param.optional)).collect();
        assert_eq!(read, [("a", "string", false), ("b", "{ c: number }?", true)]);
        assert!(spread);
        assert!(params_of("Each").is_none());
        assert_eq!(result_of("(a: string) -> number"), Some(ValueType::Number));
        assert_eq!(result_of("<T>(rolls: () -> T?) -> T"), None);
    }
}
