//! Connects the host to the web server of the table in the browser.

use std::sync::Arc;
use std::time::Duration;

use riskbreaker_web as web;

use super::connection::{Connection, Received};
use super::host::Host;
use super::queue::Queue;
use super::request::is_notification;

/// The most notices that may wait for a network viewer before it is told that it has missed something.
const MOST_MESSAGES: usize = 256;
const MOST_BYTES: usize = 1 << 20;

/// A host for network clients. None of them is the operator; their rights come from their tokens.
pub struct NetworkHost {
    host: Host,
    queue: Arc<Queue>,
    log: Box<dyn Fn(&str) + Send + Sync>,
}

impl NetworkHost {
    /// Serves the games of a host. Threads of `queue` handle the requests; `log` gets lines for the operator.
    pub fn new(host: Host, queue: Arc<Queue>, log: impl Fn(&str) + Send + Sync + 'static) -> NetworkHost {
        NetworkHost { host, queue, log: Box::new(log) }
    }
}

impl web::WebHost for NetworkHost {
    fn connect(&self, wake: Arc<dyn Fn() + Send + Sync>) -> Arc<dyn web::WebClient> {
        let connection = self.host.connect_limited();
        connection.outbox().on_filled(move || wake(), MOST_MESSAGES, MOST_BYTES);
        Arc::new(NetworkClient { connection, queue: self.queue.clone() })
    }

    fn log(&self, line: &str) {
        (self.log)(line);
    }
}

/// The connection of a network client.
struct NetworkClient {
    connection: Connection,
    queue: Arc<Queue>,
}

impl web::WebClient for NetworkClient {
    fn receive(&self, message: &str) {
        match self.connection.receive(message) {
            Received::Job(job) => self.queue.push(job),
            // Only the operator can shut the host down.
            Received::Done | Received::Shutdown => {}
        }
    }

    fn is_answered(&self, message: &str) -> bool {
        !is_notification(message)
    }

    fn take(&self) -> Vec<String> {
        self.connection.outbox().take()
    }

    fn due(&self) -> Option<Duration> {
        self.connection.outbox().due()
    }

    fn is_full(&self) -> bool {
        self.connection.outbox().is_full()
    }

    fn is_closed(&self) -> bool {
        self.connection.outbox().is_closed()
    }

    fn is_welcome(&self) -> bool {
        self.connection.is_welcome()
    }

    fn close(&self) {
        self.connection.close();
    }
}
