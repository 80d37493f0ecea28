//! The errors that end a script whose call the host refuses.

use mlua::Error;

use riskbreaker_play::{ActionContext, Stop};

pub(crate) const NO_GAME: &str = "this can only be called while a game is played, not while the file is loaded";

/// The message of a stop for a script; the reason itself is in the context's `stop`.
pub(crate) fn message_of(stop: &Stop) -> &str {
    match stop {
        Stop::Question => "the action waits for an answer",
        Stop::Cut(reason) | Stop::Refused { reason, .. } => reason,
        Stop::Fault { message, .. } => message,
    }
}

/// The error that ends a script after a stop.
pub(crate) fn stopped(stop: Stop) -> Error {
    Error::RuntimeError(message_of(&stop).to_string())
}

pub(crate) fn fault(context: &mut ActionContext, message: impl Into<String>) -> Error {
    stopped(context.fault(message))
}

/// The message of an error without its kind.
pub(crate) fn plain(error: &Error) -> String {
    match error {
        Error::RuntimeError(message) => message.clone(),
        other => other.to_string(),
    }
}

/// The fault of a question about something other than an existing entity.
pub(super) fn not_about(context: &mut ActionContext, found: &str) -> Stop {
    let found = if found == "table" { "a table or an entity that has been taken away" } else { found };
    context.fault_with(
        format!("the `about` of a question takes an entity that is there, not {found}"),
        Some("ask before the entity is taken away, or name it in `why`".into()),
    )
}

/// The fault of a question with a removed entity as an option.
pub(super) fn gone_option(context: &mut ActionContext, at: usize) -> Stop {
    context.fault_with(
        format!("option {at} is an entity that has been taken away"),
        Some("leave it out of the options, or give an option with an `id` of its own".into()),
    )
}
