use std::fmt;
use std::sync::Arc;

use riskbreaker_state::Type;

/// A named operation of a ruleset: scripts call it, and hooks attach to it.
#[derive(Clone, Debug)]
pub struct Verb {
    /// What scripts name it by.
    pub name: Arc<str>,
    /// The sentence that says what it does; empty if there is none.
    pub text: String,
    /// Its parameters, in order.
    pub params: Vec<Param>,
    /// Whether its parameters are declared with types; false for the old form, which is a list of names.
    pub is_typed: bool,
    /// The file that declares it.
    pub origin: Arc<str>,
}

/// A parameter of a verb, or a name in a record.
#[derive(Clone, Debug)]
pub struct Param {
    /// What scripts and hooks name it by.
    pub name: String,
    /// What it takes.
    pub ty: ParamType,
    /// Whether it can be left out.
    pub optional: bool,
    /// The sentence that says what it is for; empty if there is none.
    pub text: String,
}

/// What a parameter takes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ParamType {
    /// Any value.
    Any,
    /// What a field of this type holds; for a number, a sum as well.
    Value(Type),
    /// A table with names; the declared names of it, none for a table of which nothing else is said.
    Record(Vec<Param>),
}

impl PartialEq for Param {
    fn eq(&self, other: &Param) -> bool {
        (&self.name, &self.ty, self.optional) == (&other.name, &other.ty, other.optional)
    }
}

impl Eq for Param {}

impl Verb {
    /// The verb as it is called: `hurt(target, amount, cause?)`.
    pub fn signature(&self) -> String {
        let params: Vec<String> = self.params.iter().map(Param::to_string).collect();
        format!("{}({})", self.name, params.join(", "))
    }

    /// The names of its parameters, in order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.params.iter().map(|param| &*param.name)
    }

    /// A parameter by its name.
    pub fn param(&self, name: &str) -> Option<&Param> {
        self.params.iter().find(|param| param.name == name)
    }
}

impl Param {
    /// Whether a call without it is a mistake.
    pub fn is_needed(&self) -> bool {
        !self.optional && self.ty != ParamType::Any
    }
}

/// Prints the name, followed by `?` if it can be left out.
impl fmt::Display for Param {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.name, if self.optional { "?" } else { "" })
    }
}

/// Prints what it takes in the words of a sentence: "a whole number of at least 0".
impl fmt::Display for ParamType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ParamType::Any => f.write_str("any value"),
            ParamType::Value(ty) => f.write_str(&words_of(ty)),
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
    fn a_type_is_told_in_words() {
        let int = |min, max| ParamType::Value(Type::Int { min, max }).to_string();
        assert_eq!(int(None, None), "a whole number");
        assert_eq!(int(Some(0), Some(3)), "a whole number from 0 to 3");
        let list = ParamType::Value(Type::List(Box::new(Type::Ref(Some("foe".into())))));
        assert_eq!(list.to_string(), "a list, each element an entity of the kind `foe`");
        let words = Type::Enum(vec!["open".into(), "guarded".into()]);
        assert_eq!(ParamType::Value(words).to_string(), "one of \"open\", \"guarded\"");
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
