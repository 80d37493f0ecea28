//! What can be read off an expression.

/// What can be read off an expression, for the completion of an editor.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Members {
    /// Fields, derived values and methods of entities: of one kind, or of all if it is not known.
    Entity(Option<String>),
    /// What a required file returns: names, and the parameters of those that are functions.
    Module(Vec<(String, Option<Vec<String>>)>),
    /// What a hook is given at a verb: the parameters, and `result`.
    Event(Vec<String>),
    /// Something attached: its owner, its hook and its data.
    Attached,
    /// The question that a policy answers.
    Question,
    /// The context of a card: what scripts read off one.
    Context(Vec<String>),
    /// The data of an attachment, by the names that its hook declares.
    Data(Vec<String>),
    /// A text, with the functions of `string`.
    Text,
    /// A value without members, such as a number.
    Nothing,
}

impl Members {
    /// The name that stands where something is to be completed.
    pub const MARK: &str = "__completed";
}
