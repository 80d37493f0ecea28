//! What sort of value an expression has, as far as that is certain, and what the types of the vocabulary take.

use luau_syntax::ast::{BinaryOp, Expression, ExpressionKind, IndexNameOp, UnaryOp};

use super::script::Reader;
use super::syntax::text;
use super::thing::Thing;
use crate::script::api;
use crate::state::Type;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sort {
    Number,
    Text,
    Truth,
    Table,
    Function,
    Entity,
}

impl Sort {
    /// In the words of a sentence.
    pub fn words(self) -> &'static str {
        match self {
            Sort::Number => "a number",
            Sort::Text => "a text",
            Sort::Truth => "true or false",
            Sort::Table => "a table",
            Sort::Function => "a function",
            Sort::Entity => "an entity",
        }
    }

    fn of_type(ty: &Type) -> Sort {
        match ty {
            Type::Int { .. } => Sort::Number,
            Type::Bool => Sort::Truth,
            Type::Text | Type::Enum(_) => Sort::Text,
            Type::Ref(_) => Sort::Entity,
            Type::Ratio | Type::List(_) | Type::Map(_) => Sort::Table,
        }
    }
}

/// What a parameter takes that is no such value; `None` where it takes it, or where its type does not say.
pub(super) fn wanted(ty: &str, sort: Sort) -> Option<&'static str> {
    let mut first = None;
    for one in pieces(ty, '|') {
        let takes = match one.trim_end_matches('?') {
            "number" => Sort::Number,
            "string" => Sort::Text,
            "boolean" => Sort::Truth,
            "{ string }" | "{ number }" | "{ any }" => Sort::Table,
            name if name.ends_with("Name") => Sort::Text,
            name if name.ends_with("Question") || name.ends_with("Body") => Sort::Table,
            function if function.contains("->") => Sort::Function,
            table if table.starts_with('{') => Sort::Table,
            "Entity" => Sort::Entity,
            "Key" if matches!(sort, Sort::Number | Sort::Table) => return None,
            "Key" => Sort::Number,
            _ => return None,
        };
        if takes == sort || takes == Sort::Entity && sort == Sort::Table {
            return None;
        }
        first.get_or_insert(takes.words());
    }
    first
}

/// One parameter of a type: whether it can be left out, and its type.
pub(super) struct Param<'t> {
    pub name: &'t str,
    pub ty: &'t str,
    pub optional: bool,
}

/// The parameters of `(a: T, b: U?, ...any) -> R`, and whether it takes any number more; `None` for another type.
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

/// The sort of value that a type's function gives, where it always gives one.
fn result_of(ty: &str) -> Option<Sort> {
    let inside = ty.strip_prefix('(')?;
    let rest = inside[closing(inside)? + 1..].trim().strip_prefix("->")?.trim();
    Some(match rest {
        "number" => Sort::Number,
        "string" => Sort::Text,
        "boolean" => Sort::Truth,
        _ if rest.starts_with('{') && !rest.contains('|') => Sort::Table,
        _ => return None,
    })
}

/// Where the bracket closes that was opened before the text.
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

/// The pieces of a text between marks that stand in no bracket, trimmed; none of an empty text.
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

impl Reader<'_> {
    /// The sort of an expression, where that is certain.
    pub(super) fn sort(&self, expression: Expression<'_>) -> Option<Sort> {
        match expression.kind() {
            ExpressionKind::Grouped(inner) => self.sort(inner),
            ExpressionKind::Number { .. } | ExpressionKind::Integer { .. } => Some(Sort::Number),
            ExpressionKind::String { .. } | ExpressionKind::InterpString { .. } => Some(Sort::Text),
            ExpressionKind::Boolean(_) => Some(Sort::Truth),
            ExpressionKind::Table { .. } => Some(Sort::Table),
            ExpressionKind::FunctionLiteral(_) => Some(Sort::Function),
            ExpressionKind::Unary { op: UnaryOp::Not, .. } => Some(Sort::Truth),
            ExpressionKind::Unary { .. } => Some(Sort::Number),
            ExpressionKind::Binary { lhs, op, rhs } => match op {
                BinaryOp::Concat => Some(Sort::Text),
                BinaryOp::And | BinaryOp::Or => {
                    let sort = self.sort(rhs)?;
                    (op == BinaryOp::Or && self.sort(lhs) == Some(sort)).then_some(sort)
                }
                _ if reckons(op) => Some(Sort::Number),
                _ => Some(Sort::Truth),
            },
            ExpressionKind::If { then_expression, else_expression, .. } => {
                let sort = self.sort(then_expression)?;
                (self.sort(else_expression) == Some(sort)).then_some(sort)
            }
            ExpressionKind::Local { local, .. } => {
                let id = local.identity().as_u64();
                if self.functions.contains_key(&id) {
                    return Some(Sort::Function);
                }
                self.sorts.get(&id).copied().or_else(|| self.sort_of_thing(expression))
            }
            ExpressionKind::IndexName { expr, index, .. } => {
                let name = text(index);
                match self.thing(expr)? {
                    Thing::Module(path) => {
                        let member = self.known.names.module(&path)?.members.get(&name)?;
                        member.as_ref().map(|_| Sort::Function)
                    }
                    Thing::Entity(Some(kind)) => {
                        let kind = self.known.kind(&kind)?;
                        if kind.derived.iter().any(|derived| **derived == *name) {
                            return Some(Sort::Function);
                        }
                        Some(Sort::of_type(&kind.field(kind.field_named(&name)?).ty))
                    }
                    Thing::Entity(None) => self.known.type_of_all(&name).map(Sort::of_type),
                    _ => self.sort_of_thing(expression),
                }
            }
            ExpressionKind::Call { func, self_call, .. } => self.sort_of_call(func, self_call, expression),
            _ => None,
        }
    }

    fn sort_of_thing(&self, expression: Expression<'_>) -> Option<Sort> {
        match self.thing(expression)? {
            // The first of a kind, and what a reference names, may be nothing; if it is there, it is an entity.
            Thing::Entity(_) => Some(Sort::Entity),
            Thing::Entities(_) => Some(Sort::Table),
            _ => None,
        }
    }

    fn sort_of_call(&self, func: Expression<'_>, self_call: bool, call: Expression<'_>) -> Option<Sort> {
        if let ExpressionKind::Global(name) = func.kind() {
            return (name == "tostring").then_some(Sort::Text);
        }
        let ExpressionKind::IndexName { expr, index, op, .. } = func.kind() else { return None };
        let name = text(index);
        match self.thing(expr) {
            Some(Thing::Vocabulary) if op == IndexNameOp::Dot => {
                result_of(api::word(&name)?.ty).or_else(|| self.sort_of_thing(call))
            }
            Some(Thing::Library("math")) => Some(Sort::Number),
            Some(Thing::Library("string")) => {
                matches!(&*name, "format" | "lower" | "upper" | "rep" | "sub" | "reverse").then_some(Sort::Text)
            }
            Some(Thing::Library("table")) => match &*name {
                "concat" => Some(Sort::Text),
                "clone" | "pack" | "create" => Some(Sort::Table),
                _ => None,
            },
            Some(Thing::Entity(_)) if self_call && name == "add" => Some(Sort::Number),
            Some(Thing::Entity(_)) if self_call && name == "exists" => Some(Sort::Truth),
            _ => None,
        }
    }

    /// Values that cannot be reckoned with, put together or compared.
    pub(super) fn operands(&mut self, lhs: Expression<'_>, op: BinaryOp, rhs: Expression<'_>) {
        let sorts = (self.sort(lhs), self.sort(rhs));
        let sign = op.symbol();
        if reckons(op) {
            for (side, sort) in [(lhs, sorts.0), (rhs, sorts.1)] {
                let Some(sort) = sort.filter(|sort| *sort != Sort::Number) else { continue };
                if sort == Sort::Text
                    && super::syntax::literal(side).is_some_and(|text| text.trim().parse::<f64>().is_ok())
                {
                    continue;
                }
                let cure = match sort {
                    Sort::Text if op == BinaryOp::Add => "texts are put together with `..`".to_string(),
                    Sort::Text => "take the number itself, or tonumber(...)".to_string(),
                    Sort::Entity => "name the field that is meant: entity.field".to_string(),
                    Sort::Function => "call it: name(...), and with a colon if it is a derived value".to_string(),
                    Sort::Table => "count a list with `#`, or name what is meant in it".to_string(),
                    _ => "write `if ... then 1 else 0`".to_string(),
                };
                let wrong = format!("`{sign}` wants numbers, and this is {}", sort.words());
                return self.problem(side.location(), (wrong, cure));
            }
        } else if op == BinaryOp::Concat {
            for (side, sort) in [(lhs, sorts.0), (rhs, sorts.1)] {
                let Some(sort) = sort.filter(|sort| !matches!(sort, Sort::Number | Sort::Text)) else { continue };
                let cure = match sort {
                    Sort::Entity => "name the field that is meant, or fill it in: rb.say(\"{} falls\", entity)",
                    Sort::Truth => "write tostring(...)",
                    _ => "name what is meant in it",
                };
                let wrong = format!("`..` puts texts and numbers together, and this is {}", sort.words());
                return self.problem(side.location(), (wrong, cure.to_string()));
            }
        } else if matches!(op, BinaryOp::Less | BinaryOp::LessEqual | BinaryOp::Greater | BinaryOp::GreaterEqual)
            && let (Some(one), Some(other)) = sorts
            && (one != other || !matches!(one, Sort::Number | Sort::Text))
        {
            let wrong = format!("`{sign}` compares two numbers, and here are {} and {}", one.words(), other.words());
            let cure = match (one, other) {
                (Sort::Text, _) | (_, Sort::Text) => "write a number without quotes, or name the field that holds one",
                (Sort::Table, _) | (_, Sort::Table) => "count a list with `#`",
                _ => "name what is meant in it",
            };
            self.problem(lhs.location(), (wrong, cure.to_string()));
        }
    }

    /// Something that cannot be counted, or has no opposite.
    pub(super) fn one_operand(&mut self, op: UnaryOp, of: Expression<'_>) {
        let Some(sort) = self.sort(of) else { return };
        let wrong = match (op, sort) {
            (UnaryOp::Length, Sort::Text | Sort::Table) | (UnaryOp::Negate, Sort::Number) => return,
            (UnaryOp::Length, _) => format!("`#` counts a list or the letters of a text, and this is {}", sort.words()),
            _ => format!("`-` wants a number, and this is {}", sort.words()),
        };
        self.problem(of.location(), (wrong, "name what is meant in it, or leave the sign out".into()));
    }

    /// A function that is asked whether it is true, and always is.
    pub(super) fn condition(&mut self, condition: Expression<'_>) {
        match condition.kind() {
            ExpressionKind::Grouped(inner) => self.condition(inner),
            ExpressionKind::Unary { op: UnaryOp::Not, rhs } => self.condition(rhs),
            ExpressionKind::Binary { lhs, op: BinaryOp::And | BinaryOp::Or, rhs } => {
                self.condition(lhs);
                self.condition(rhs);
            }
            ExpressionKind::Local { .. } | ExpressionKind::IndexName { .. }
                if self.sort(condition) == Some(Sort::Function) =>
            {
                let wrong = "a function is asked here, not what it gives: that is always true".to_string();
                self.problem(condition.location(), (wrong, "call it: put its values in brackets behind it".into()));
            }
            _ => {}
        }
    }
}

fn reckons(op: BinaryOp) -> bool {
    use BinaryOp::{Add, Divide, FloorDivide, Modulo, Multiply, Power, Subtract};
    matches!(op, Add | Divide | FloorDivide | Modulo | Multiply | Power | Subtract)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_take_what_they_say() {
        assert_eq!(wanted("string", Sort::Number), Some("a text"));
        assert_eq!(wanted("string | (...any) -> ...any", Sort::Number), Some("a text"));
        assert_eq!(wanted("string | (...any) -> ...any", Sort::Function), None);
        assert_eq!(wanted("{ [string]: any }?", Sort::Number), Some("a table"));
        assert_eq!(wanted("any?", Sort::Number), None);
        assert_eq!(wanted("Entity?", Sort::Text), Some("an entity"));
        assert_eq!(wanted("Key", Sort::Table), None);
    }

    #[test]
    fn parameters_are_read_off_a_type() {
        let (params, spread) = params_of("(a: string, b: { c: number }?, ...any) -> number").unwrap();
        let read: Vec<_> = params.iter().map(|param| (param.name, param.ty, param.optional)).collect();
        assert_eq!(read, [("a", "string", false), ("b", "{ c: number }?", true)]);
        assert!(spread);
        assert!(params_of("Each").is_none());
        assert_eq!(result_of("(a: string) -> number"), Some(Sort::Number));
        assert_eq!(result_of("<T>(rolls: () -> T?) -> T"), None);
    }
}
