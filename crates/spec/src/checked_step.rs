//! The result of a step of a spec, and the texts of its messages.

use riskbreaker_state::Value;

/// The result of a step of a spec, or the reason why the spec fails.
pub(super) type CheckedStep<T> = Result<T, String>;

/// Refuses an empty reason, which would fit every refusal.
pub(super) fn some_reason(reason: &str) -> CheckedStep<()> {
    if reason.trim().is_empty() {
        return Err(wrong("say a part of the reason: an empty text is in every one"));
    }
    Ok(())
}

/// Formats a value for messages.
pub(super) fn words(value: &Value) -> String {
    match value {
        Value::None => "nil".into(),
        Value::Text(text) => text.chars().map(|c| if c.is_control() && c != '\n' { ' ' } else { c }).collect(),
        Value::List(_) | Value::Map(_) => format!("{{{value}}}"),
        Value::Bool(yes) => yes.to_string(),
        other => other.to_string(),
    }
}

pub(super) fn wrong(message: impl std::fmt::Display) -> String {
    message.to_string()
}
