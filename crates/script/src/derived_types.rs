//! What derived values give, for the types of editors and for the reference of a ruleset.

use std::collections::BTreeMap;

/// What the derived values of a ruleset give, by their names. The check infers it; a name that is missing is unknown.
pub type DerivedTypes = BTreeMap<String, DerivedType>;

/// What a derived value gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DerivedType {
    /// The form of the value.
    pub form: DerivedForm,
    /// True if it is nil on some path.
    pub optional: bool,
}

/// The form of a value that a derived value gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DerivedForm {
    /// A number.
    Number,
    /// True or false.
    Boolean,
    /// A text.
    Text,
    /// An entity.
    Entity,
    /// A list.
    List,
}

impl DerivedType {
    /// Returns the type in Luau: `number`, `string?`. An entity of unknown kind is `any`.
    pub(super) fn luau(self) -> &'static str {
        match (self.form, self.optional) {
            (DerivedForm::Number, false) => "number",
            (DerivedForm::Number, true) => "number?",
            (DerivedForm::Boolean, false) => "boolean",
            (DerivedForm::Boolean, true) => "boolean?",
            (DerivedForm::Text, false) => "string",
            (DerivedForm::Text, true) => "string?",
            (DerivedForm::Entity, _) => "any",
            (DerivedForm::List, false) => "{ any }",
            (DerivedForm::List, true) => "{ any }?",
        }
    }

    /// Returns what it gives in words: `a number`, `an entity or nil`.
    pub(super) fn words(self) -> String {
        let form = match self.form {
            DerivedForm::Number => "a number",
            DerivedForm::Boolean => "true or false",
            DerivedForm::Text => "a text",
            DerivedForm::Entity => "an entity",
            DerivedForm::List => "a list",
        };
        if self.optional { format!("{form} or nil") } else { form.to_owned() }
    }
}
