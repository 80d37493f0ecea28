//! A comparison with a value that a field or a switch never has.

use crate::lint::{Example, Lint, Severity};
use crate::reader::ScriptReader;
use crate::syntax::literal;
use riskbreaker_ruleset::instead;
use riskbreaker_script::syntax::{Expression, ExpressionKind};

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
}

/// The states of a turn in the order of play.
const TURN_STATES: [&str; 4] = ["acted", "now", "to_come", "out"];
