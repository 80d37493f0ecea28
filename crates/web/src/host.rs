use std::sync::Arc;
use std::time::Duration;

/// What the server needs of the program: somebody who opens connections.
pub trait Host: Send + Sync + 'static {
    /// Opens a connection for a client that has shown nothing yet. It has no rights but those of the token that it shows in a
    /// message.
    ///
    /// `wake` is called from any thread whenever the client has messages to fetch. It does not block.
    fn connect(&self, wake: Arc<dyn Fn() + Send + Sync>) -> Arc<dyn Client>;

    /// Takes a line for the log of the server. It has no tokens and no codes.
    fn log(&self, line: &str);
}

/// A connection.
pub trait Client: Send + Sync + 'static {
    /// Takes a message. It returns at once; the answer comes by [`Client::take`].
    fn receive(&self, message: &str);

    /// True if the message gets an answer: a notification does not.
    fn is_answered(&self, message: &str) -> bool;

    /// Takes the messages that wait for the client.
    fn take(&self) -> Vec<String>;

    /// The time after which a message is there that waits for its time.
    fn due(&self) -> Option<Duration>;

    /// True if so much waits that no further message should be read.
    fn is_full(&self) -> bool;

    /// True once the host has ended the connection. What waits is still to be written.
    fn is_closed(&self) -> bool;

    /// True once it has shown a token or a code that holds, or if it needs none.
    fn is_welcome(&self) -> bool;

    /// Ends the connection. It may wait for a game, so it is not called on the thread of the server.
    fn close(&self);
}

/// True if a message of the host answers a request: the members of an answer are in the order of the alphabet, and a notice begins
/// with `jsonrpc`.
pub(crate) fn is_answer(message: &str) -> bool {
    !message.starts_with(r#"{"jsonrpc""#)
}
