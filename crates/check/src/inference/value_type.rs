//! The types of values, and the types that the vocabulary takes.

use crate::syntax::text;
use crate::type_pieces::{closing_bracket, pieces_of_type};
use riskbreaker_ruleset::ParamType;
use riskbreaker_script::syntax::{BinaryOp, Expression, ExpressionKind, TypeNode};
use riskbreaker_state::Type;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ValueType {
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
    /// Whether it is the type of a number, a text, or true and false.
    pub fn is_constant(self) -> bool {
        matches!(self, ValueType::Number | ValueType::Text | ValueType::Truth)
    }

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
            ValueType::Attached => "an attachment",
        }
    }

    pub(crate) fn of_type(ty: &Type) -> ValueType {
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
    pub(crate) fn is_table(self) -> bool {
        matches!(self, ValueType::Table | ValueType::List | ValueType::Record | ValueType::Attached)
    }
}

/// Returns the type that a parameter requires, if a value does not fit; `None` if it fits or the type is unknown.
pub(crate) fn wanted(ty: &str, sort: ValueType) -> Option<&'static str> {
    let mut first = None;
    for one in pieces_of_type(ty, '|') {
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
pub(crate) struct Param<'t> {
    pub name: &'t str,
    pub ty: &'t str,
    pub optional: bool,
}

/// Parses the parameters of `(a: T, b: U?, ...any) -> R`, and whether it takes any number more. `None` for another
/// type.
pub(crate) fn params_of(ty: &str) -> Option<(Vec<Param<'_>>, bool)> {
    let inside = ty.strip_prefix('(')?;
    let end = closing_bracket(inside)?;
    let mut params = Vec::new();
    let mut spread = false;
    for one in pieces_of_type(&inside[..end], ',') {
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
pub(crate) fn result_of(ty: &str) -> Option<ValueType> {
    let plain = ty.strip_prefix('<').and_then(|generic| generic.split_once('>')).map_or(ty, |(_, plain)| plain);
    let inside = plain.strip_prefix('(')?;
    let rest = inside[closing_bracket(inside)? + 1..].trim().strip_prefix("->")?.trim();
    // Of several values, the first one counts.
    let first =
        rest.strip_prefix('(').and_then(|several| Some(pieces_of_type(&several[..closing_bracket(several)?], ',')));
    let rest = first.and_then(|pieces| pieces.first().copied()).unwrap_or(rest);
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

/// Whether an expression is a literal that can be a default: a number, a text or a table.
pub(crate) fn is_default(expression: Expression<'_>) -> bool {
    matches!(
        expression.kind(),
        ExpressionKind::Number { .. } | ExpressionKind::String { .. } | ExpressionKind::Table { .. }
    )
}

pub(crate) fn orders(op: BinaryOp) -> bool {
    matches!(op, BinaryOp::Less | BinaryOp::LessEqual | BinaryOp::Greater | BinaryOp::GreaterEqual)
}

pub(crate) fn reckons(op: BinaryOp) -> bool {
    use BinaryOp::{Add, Divide, FloorDivide, Modulo, Multiply, Power, Subtract};
    matches!(op, Add | Divide | FloorDivide | Modulo | Multiply | Power | Subtract)
}

/// The type of the values that a parameter takes; `None` for any value.
pub(crate) fn type_of_param(ty: &ParamType) -> Option<ValueType> {
    match ty {
        ParamType::Any => None,
        ParamType::Value(ty) => Some(ValueType::of_type(ty)),
        ParamType::Record(_) => Some(ValueType::Table),
        ParamType::OneOf(types) => {
            let first = type_of_param(types.first()?)?;
            types.iter().all(|ty| type_of_param(ty) == Some(first)).then_some(first)
        }
    }
}

/// Returns the type that an annotation of one word names.
pub(crate) fn type_named(ty: TypeNode<'_>) -> Option<ValueType> {
    let TypeNode::Named(name) = ty else { return None };
    match text(name).as_str() {
        "number" => Some(ValueType::Number),
        "string" => Some(ValueType::Text),
        "boolean" => Some(ValueType::Truth),
        _ => None,
    }
}

/// Returns the words in a message for the values that a field of a type accepts.
pub(crate) fn list_of(ty: &Type) -> &'static str {
    match ty {
        Type::List(_) => "a list",
        Type::Map(_) => "a table",
        Type::Ratio => "a ratio",
        other => ValueType::of_type(other).words(),
    }
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
