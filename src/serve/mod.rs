//! The protocol: one set of messages for every client, and a host that serves many games by it.
//!
//! [`Host`] and [`Connection`] know no transport; [`stdio`] is one. The messages are JSON-RPC 2.0. [`schema`] describes them,
//! made from the types in [`messages`] and [`frames`].

mod commands;
mod error;
pub mod frames;
mod host;
mod keeper;
pub mod messages;
pub mod methods;
mod outbox;
mod queue;
mod saved;
mod schema;
pub mod stdio;
mod table;
mod viewer;

pub use error::Failure;
pub use host::{Connection, Host, Job, Received};
pub use outbox::Outbox;
pub use schema::schema;
pub use viewer::{Role, RoleName};
