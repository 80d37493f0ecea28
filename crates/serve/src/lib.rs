//! The protocol: one set of messages for every client, and a host that serves many games.
//!
//! [`Host`] and [`Connection`] do not depend on a transport; [`stdio`] is one. The messages are JSON-RPC 2.0.
//! [`schema`] describes them and is generated from the types that are read and written; [`METHODS`] lists the requests.

#![deny(missing_docs)]
// Tables of cases in tests may be longer.
#![cfg_attr(not(test), deny(clippy::too_many_lines))]

// Tests play games, so the engine has to be linked.
#[cfg(test)]
use riskbreaker_script as _;

mod commands;
mod connection;
mod delay;
mod error;
mod frames;
mod host;
mod job;
mod keeper;
mod messages;
mod methods;
mod misfit;
mod options;
mod outbox;
mod pace;
mod params;
mod people;
mod playing;
mod queue;
mod random;
mod request;
mod rights;
mod role;
mod saved;
mod schema;
pub mod stdio;
mod table;
mod undo_vote;
mod unread;
mod viewer;
#[cfg(feature = "web")]
pub mod web;

pub use connection::{Connection, Received};
pub use host::Host;
pub use job::Job;
pub use methods::{METHODS, Method};
pub use outbox::Outbox;
pub use queue::Queue;
pub use schema::schema;
/// Any JSON value.
pub use serde_json::Value as Json;
