use std::fmt;
use std::sync::Arc;

use riskbreaker_state::Type;

/// A named operation of a ruleset: scripts call it, and hooks attach to it.
#[derive(Clone, Debug, PartialEq)]
pub struct Verb {
    /// The name in scripts.
    pub name: Arc<str>,
    /// The sentence that describes it; empty if there is none.
    pub text: String,
    /// The parameters, in order.
    pub params: Vec<Param>,
    /// True if the parameters are declared with types; false for the old form, a list of names.
    pub is_typed: bool,
    /// The file of the declaration.
    pub origin: Arc<str>,
}

/// A parameter of a verb, or a name in a record.
#[derive(Clone, Debug)]
pub struct Param {
    /// The name in scripts and hooks.
    pub name: String,
    /// The type of its values.
    pub ty: ParamType,
    /// True if it can be left out.
    pub optional: bool,
    /// The sentence that describes it; empty if there is none.
    pub text: String,
}

/// The type of a parameter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ParamType {
    /// Any value.
    Any,
    /// A value of this type; for a number, a sum as well.
    Value(Type),
    /// A value of one of these types.
    OneOf(Vec<ParamType>),
    /// A table with these names; if the list is empty, any table.
    Record(Vec<Param>),
}

impl PartialEq for Param {
    fn eq(&self, other: &Param) -> bool {
        (&self.name, &self.ty, self.optional) == (&other.name, &other.ty, other.optional)
    }
}

impl Eq for Param {}

impl Verb {
    /// Returns the verb in the form of a call: `hurt(target, amount, cause?)`.
    pub fn signature(&self) -> String {
        let params: Vec<String> = self.params.iter().map(Param::to_string).collect();
        format!("{}({})", self.name, params.join(", "))
    }

    /// Returns the names of the parameters, in order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.params.iter().map(|param| &*param.name)
    }

    /// Returns the parameter with this name.
    pub fn param(&self, name: &str) -> Option<&Param> {
        self.params.iter().find(|param| param.name == name)
    }
}

impl Param {
    /// True if a call without it is an error.
    pub fn is_needed(&self) -> bool {
        !self.optional && self.ty != ParamType::Any
    }
}

/// Formats the name, followed by `?` if the parameter can be left out.
impl fmt::Display for Param {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.name, if self.optional { "?" } else { "" })
    }
}

/// Formats the type for a sentence: "a whole number of at least 0".
impl fmt::Display for ParamType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ParamType::Any => f.write_str("any value"),
            ParamType::Value(ty) => f.write_str(&words_of(ty)),
            ParamType::OneOf(types) => {
                let types: Vec<String> = types.iter().map(ToString::to_string).collect();
                f.write_str(&types.join(", or "))
            }
            ParamType::Record(_) => f.write_str("a table with names"),
        }
    }
}

fn words_of(ty: &Type) -> String {
    match ty {
        Type::Int { .. } | Type::Bool | Type::Text => ty.wanted(),
        Type::Enum(values) => {
            let values: Vec<String> = values.iter().map(|value| format!("\"{value}\"")).collect();
            format!("one of {}", values.join(", "))
        }
        Type::Ref(Some(kind)) => format!("an entity of the kind `{kind}`"),
        Type::Ref(None) => "an entity".into(),
        Type::Ratio => "a fraction { n, d }".into(),
        Type::List(element) => format!("a list, each element {}", words_of(element)),
        Type::Map(element) => format!("a map from texts, each value {}", words_of(element)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_type_is_described_in_words() {
        let int = |min, max| ParamType::Value(Type::Int { min, max }).to_string();
        assert_eq!(int(None, None), "a whole number");
        assert_eq!(int(Some(0), Some(3)), "a whole number from 0 to 3");
        let list = ParamType::Value(Type::List(Box::new(Type::Ref(Some("foe".into())))));
        assert_eq!(list.to_string(), "a list, each element an entity of the kind `foe`");
        let words = Type::Enum(vec!["open".into(), "guarded".into()]);
        assert_eq!(ParamType::Value(words.clone()).to_string(), "one of \"open\", \"guarded\"");
        let either = ParamType::OneOf(vec![ParamType::Value(Type::Ref(Some("foe".into()))), ParamType::Value(words)]);
        assert_eq!(either.to_string(), "an entity of the kind `foe`, or one of \"open\", \"guarded\"");
    }

    #[test]
    fn a_signature_marks_what_can_be_left_out() {
        let param =
            |name: &str, optional| Param { name: name.into(), ty: ParamType::Any, optional, text: String::new() };
        let verb = Verb {
            name: "hurt".into(),
            text: String::new(),
            params: vec![param("target", false), param("cause", true)],
            is_typed: true,
            origin: "g/verbs.luau".into(),
        };
        assert_eq!(verb.signature(), "hurt(target, cause?)");
    }
}
