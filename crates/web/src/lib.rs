//! The web server of the table: the protocol over WebSocket and HTTP, and the page.
//!
//! The crate knows no game and does not parse messages. [`WebHost`] is its interface to the program: it opens connections,
//! and each [`WebClient`] takes messages and returns answers. [`Server::start`] serves them on one thread, which never
//! waits for a game or the disk.
//!
//! | file | what |
//! |---|---|
//! | `host.rs` | what the server needs of the program |
//! | `address.rs` | addresses to listen on, to print and to answer to |
//! | `connected.rs` | a connection of the program |
//! | `shared.rs` | the data that all requests share |
//! | `guard.rs` | the checks of `Host` and `Origin`, the headers of every answer |
//! | `page.rs` | the files of the page |
//! | `socket.rs` | one WebSocket |
//! | `sessions.rs` | the sessions of clients that use `POST` |
//! | `rpc.rs` | one message by `POST`, and the stream for bots |
//! | `qr.rs` | QR codes |
//! | `server.rs` | the thread that serves |

#![deny(missing_docs, unnameable_types)]

mod address;
mod connected;
mod guard;
mod host;
mod page;
mod qr;
mod rpc;
mod server;
mod sessions;
mod shared;
mod socket;

pub use address::{Addresses, BadUrl, BaseUrl};
pub use host::{WebClient, WebHost};
pub use page::Page;
pub use qr::{QrCode, TooLong};
pub use server::{Config, Listening, Server, ServerStartError};
