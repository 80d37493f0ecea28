//! A comparison with a value that a field or a switch never has.

use crate::lint::{Example, Lint, Severity};
use crate::reader::ScriptReader;
use crate::syntax::literal;
use riskbreaker_ruleset::{SwitchKind, SwitchValue, instead};
use riskbreaker_script::syntax::{Expression, ExpressionKind, Location};
use riskbreaker_state::{Type, Value};

pub(crate) static LINT: Lint = Lint {
    name: "impossible-value",
    severity: Severity::Error,
    summary: "a comparison with a value that a field or a switch never has",
    explanation: "A switch and a field of words have the values that their declarations list. A comparison with \
                  another value is never true. Name one of the values, or add it to the declaration.",
    bad: Example::Resolve(
        r#"if rb.switches.wins_at == "five" then
	rb.say("to five")
end"#,
    ),
    good: Example::Resolve(
        r#"if rb.switches.wins_at == 5 then
	rb.say("to five")
end"#,
    ),
};

impl ScriptReader<'_> {
    /// Reports the state of a turn in the order of play that there is not.
    pub(crate) fn state_of_turn(&mut self, value: Expression<'_>) {
        if let ExpressionKind::If { then_expression, else_expression, .. } = value.kind() {
            self.state_of_turn(then_expression);
            return self.state_of_turn(else_expression);
        }
        if let Some(word) = literal(value).filter(|word| !TURN_STATES.contains(&&**word)) {
            let wrong = format!("a turn is never `{word}`");
            self.problem(&LINT, value.location(), (wrong, instead(&word, TURN_STATES)));
        }
    }

    /// Reports a value that a house rule never has, in a comparison.
    pub(crate) fn switch_is_never(&mut self, name: &str, constant: &Value, at: Location) {
        let Some(switch) = self.known.stack.switch(name) else { return };
        let fits = match (&switch.kind, constant) {
            (SwitchKind::Choice { values }, Value::Text(text)) => values.iter().any(|value| **value == **text),
            (SwitchKind::Toggle, Value::Bool(_)) | (SwitchKind::Range { .. }, Value::Int(_)) => true,
            _ => false,
        };
        if !fits {
            let cure = match (&switch.kind, constant) {
                (SwitchKind::Choice { values }, Value::Text(text)) => self.known.instead(text, values),
                _ => format!("it is {}", switch.kind).into(),
            };
            let shown = match constant {
                Value::Text(text) => format!("\"{text}\""),
                other => other.to_string(),
            };
            self.problem(&LINT, at, (format!("the switch `{name}` is never {shown}"), cure));
        }
    }

    /// Reports a word that a declared parameter, which has one of these values, never is.
    pub(crate) fn param_is_never(&mut self, name: &str, given: &str, values: &[String], at: Location) {
        if !values.iter().any(|value| value == given) {
            let cure = instead(given, values.iter().map(String::as_str));
            self.problem(&LINT, at, (format!("`{name}` is never \"{given}\""), cure));
        }
    }

    /// Reports a value to which a spec cannot set a house rule.
    pub(crate) fn switch_is_never_set(&mut self, name: &str, kind: &SwitchKind, value: &SwitchValue, at: Location) {
        if !kind.has(value) {
            self.problem(&LINT, at, (format!("the switch `{name}` is never {value}"), format!("it is {kind}").into()));
        }
    }

    /// Reports a text that a field with these types never has. `certain`: whether the kind of the entity is known; then a
    /// text that is near to no value counts, too.
    pub(crate) fn field_is_never(&mut self, name: &str, given: &str, types: &[&Type], certain: bool, at: Location) {
        let mut values: Vec<String> = Vec::new();
        for ty in types {
            let Type::Enum(texts) = ty else { return };
            values.extend(texts.iter().map(ToString::to_string));
        }
        let is_meant = certain
            || !self.known.names.may_be_own(name)
            || self.known.nearest(given, values.iter().map(String::as_str)).is_some();
        if is_meant && !values.iter().any(|value| value == given) {
            self.problem(&LINT, at, (format!("`{name}` is never \"{given}\""), self.known.instead(given, &values)));
        }
    }
}

/// The states of a turn in the order of play.
const TURN_STATES: [&str; 4] = ["acted", "now", "to_come", "out"];
