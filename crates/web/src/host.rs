use std::sync::Arc;
use std::time::Duration;

/// The interface to the program: opens connections for clients.
pub trait WebHost: Send + Sync + 'static {
    /// Opens a connection for a client without any rights. It gets the rights of the token that it sends in a message.
    ///
    /// `wake` is called from any thread when there are messages for the client. It does not block.
    fn connect(&self, wake: Arc<dyn Fn() + Send + Sync>) -> Arc<dyn WebClient>;

    /// Writes a line to the log of the server. The line contains no tokens or codes.
    fn log(&self, line: &str);
}

/// The connection of a client.
pub trait WebClient: Send + Sync + 'static {
    /// Receives a message. Returns at once; the answer comes from [`WebClient::take`].
    fn receive(&self, message: &str);

    /// True if the message gets an answer: false for a notification.
    fn is_answered(&self, message: &str) -> bool;

    /// Takes the messages for the client.
    fn take(&self) -> Vec<String>;

    /// The time until the next delayed message; `None` if there is none.
    fn due(&self) -> Option<Duration>;

    /// True if so many messages wait that no further ones should be read.
    fn is_full(&self) -> bool;

    /// True once the host has ended the connection. Waiting messages are still to be written.
    fn is_closed(&self) -> bool;

    /// True once it has sent a valid token or code, or if it needs none.
    fn is_welcome(&self) -> bool;

    /// Ends the connection. This may wait for a game, so it must not be called on the thread of the server.
    fn close(&self);
}

/// True if a message of the host answers a request. The members of an answer are in alphabetical order, while a notice
/// begins with `jsonrpc`.
pub(crate) fn is_answer(message: &str) -> bool {
    !message.starts_with(r#"{"jsonrpc""#)
}
