//! Values of fields as people type them: at the prompt and in arguments of the program.

use super::view::View;
use riskbreaker_state::{Type, Value};

/// Parses a typed value for a field of this type. `None` if it does not fit. Does not check bounds.
///
/// Numbers, `yes` and `no`, texts with or without quotes, titles of entities, `none`, `2/3`, `4, 5` and `bow 2, axe 3`.
pub fn read_typed(view: &View<'_>, ty: &Type, typed: &str) -> Option<Value> {
    let typed = typed.trim();
    let none = typed.eq_ignore_ascii_case("none");
    match ty {
        Type::Int { .. } => typed.parse().ok().map(Value::Int),
        Type::Bool => match typed.to_lowercase().as_str() {
            "yes" | "true" | "on" => Some(Value::Bool(true)),
            "no" | "false" | "off" => Some(Value::Bool(false)),
            _ => None,
        },
        Type::Text => Some(Value::text(typed.trim_matches('"'))),
        Type::Enum(values) => {
            match riskbreaker_names::typed(typed, || values.iter().map(|value| (value, value))).as_slice() {
                [value] => Some(Value::text(value)),
                _ => None,
            }
        }
        Type::Ref(_) if none => Some(Value::None),
        Type::Ref(_) => view.find_typed(typed.trim_matches('"')).ok().map(Value::Entity),
        Type::Ratio => Value::read_ratio(typed),
        Type::List(_) if none => Some(Value::list([])),
        Type::List(item) => {
            let parts = typed.split(',').filter(|part| !part.trim().is_empty());
            parts.map(|part| read_typed(view, item, part)).collect::<Option<Vec<_>>>().map(Value::list)
        }
        Type::Map(_) if none => Some(Value::map(Vec::<(String, Value)>::new())),
        Type::Map(item) => {
            let pairs = typed.split(',').map(|part| {
                let (key, value) = part.rsplit_once([':', '=', ' '])?;
                Some((key.trim().trim_end_matches([':', '=']).trim().to_owned(), read_typed(view, item, value)?))
            });
            pairs.collect::<Option<Vec<_>>>().map(Value::map)
        }
    }
}

/// Describes the forms that [`read_typed`] accepts for a type.
pub fn typed_form(ty: &Type) -> String {
    match ty {
        Type::Int { min: Some(min), max: Some(max) } => format!("a whole number, {min} to {max}"),
        Type::Int { min: Some(min), max: None } => format!("a whole number, {min} or more"),
        Type::Int { min: None, max: Some(max) } => format!("a whole number, {max} or less"),
        Type::Int { min: None, max: None } => "a whole number".into(),
        Type::Bool => "yes or no".into(),
        Type::Text => "a text".into(),
        Type::Enum(values) => {
            format!("one of {}", values.iter().map(|value| &**value).collect::<Vec<_>>().join(", "))
        }
        Type::Ref(Some(kind)) => format!("a {kind} by name, or `none`"),
        Type::Ref(None) => "a name, or `none`".into(),
        Type::Ratio => "a fraction such as 2/3".into(),
        Type::List(item) => format!("a list with commas, each {}, or `none`", typed_form(item)),
        Type::Map(item) => format!("pairs such as `bow 2, axe 3`, each {}, or `none`", typed_form(item)),
    }
}
