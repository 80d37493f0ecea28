//! The reasons why a call of a session fails.

/// The reason why a call failed. The running action is rolled back, and the session remains usable.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SessionError {
    /// A thread or script machine could not be created.
    #[error("there is no memory or no thread for the scripts of {0}")]
    Worker(String),
    /// The host itself failed. The game is in its state before the call.
    #[error("the host itself failed; the action is taken back, please report this")]
    Failed,
}
