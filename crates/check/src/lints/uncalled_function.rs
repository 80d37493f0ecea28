//! A function is used where its result is meant.

use crate::inference::symbol::Symbol;
use crate::inference::value_type::{ValueType, params_of};
use crate::lint::{Example, Lint, Severity};
use crate::lints::unknown_member::is_function_of_change;
use crate::reader::ScriptReader;
use crate::syntax::text;
use riskbreaker_script::api;
use riskbreaker_script::syntax::{Expression, ExpressionKind, Location};

pub(crate) static LINT: Lint = Lint {
    name: "uncalled-function",
    severity: Severity::Error,
    summary: "a function is used where its result is meant",
    explanation: "A derived value is called with a colon and brackets, other functions with brackets. Without \
                  them the function itself is the value: it is true in every condition and equal to nothing.",
    bad: Example::Resolve(
        r#"if ctx.actor.need > 3 then
	rb.say("strong")
end"#,
    ),
    good: Example::Resolve(
        r#"if ctx.actor:need() > 3 then
	rb.say("strong")
end"#,
    ),
};

impl ScriptReader<'_> {
    /// Reports a condition that is a function.
    pub(crate) fn function_as_condition(&mut self, condition: Expression<'_>) {
        let wrong = "this condition is a function, not its result, and so is always true".to_string();
        self.problem(&LINT, condition.location(), (wrong, "call it: put its values in brackets behind it".into()));
    }

    /// Reports a comparison of a function itself, instead of its result.
    pub(crate) fn function_compared(&mut self, side: Expression<'_>, other: Expression<'_>) {
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
            self.problem(&LINT, side.location(), (wrong, format!("call it: {name}(...)").into()));
        }
    }

    /// Reports a member that is read off a function of a module or of a conversion, instead of off its result.
    pub(crate) fn read_off_function(&mut self, of: Expression<'_>) {
        let ExpressionKind::IndexName { expr, index, .. } = of.kind() else { return };
        let name = text(index);
        let is_function = match self.symbol(expr) {
            Some(Symbol::Change) => is_function_of_change(&name),
            Some(Symbol::Module(_)) => self.value_type(of) == Some(ValueType::Function),
            _ => false,
        };
        if is_function {
            let wrong = format!("`{name}` is a function, and a member is read off it");
            let written = self.source(of);
            self.problem(&LINT, of.location(), (wrong, format!("call it: {written}(...)").into()));
        }
    }

    /// Reports a derived value that is read like a field.
    pub(crate) fn uncalled(&mut self, of: Expression<'_>, name: &str, at: Location) {
        let certain = match self.symbol(of) {
            Some(Symbol::Entity(Some(kind))) => self.is_derived_of(&kind, name),
            Some(Symbol::Entity(None)) | None => {
                // The cases of a spec have keys of their own.
                let key_of_case = self.is_spec() && self.text.contains(&format!("{name} ="));
                self.known.is_derived(name) && !self.known.names.is_given_elsewhere(name) && !key_of_case
            }
            _ => false,
        };
        if certain {
            let wrong = format!("`{name}` is a derived value, and it is not called");
            let cure = (wrong, format!("write a colon and brackets: `:{name}()`").into());
            let mut change = self.replaced(at, format!(":{name}()"));
            match self.mark_before(at, ":") {
                Some(dot) => change.begin = dot.begin,
                None => return self.problem(&LINT, at, cure),
            }
            self.cured(&LINT, at, cure, change);
        }
    }
}
