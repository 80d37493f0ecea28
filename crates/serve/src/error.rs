use std::fmt;

use schemars::JsonSchema;
use serde::Serialize;

use super::frames::OpenQuestion;
use super::role::Role;
use riskbreaker_play::{MigrationNote, Refusal, SessionError, StartError};
use riskbreaker_store::StoreError;

/// The reason for which a request was refused or failed. The game is unchanged.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Failure {
    /// The line is not JSON.
    NotJson {
        at: usize,
    },
    /// The JSON is not a request.
    NotARequest {
        message: String,
    },
    /// The message is longer than the limit.
    TooLarge {
        bytes: usize,
        limit: usize,
    },
    UnknownMethod {
        method: String,
        near: Option<String>,
    },
    /// The parameters do not have the form that the method takes.
    BadParams {
        message: String,
    },
    UnsupportedProtocol {
        supported: Vec<u32>,
    },
    UnknownTable {
        table: String,
    },
    /// No invitation, device or code matches.
    UnknownToken,
    UnknownViewer {
        viewer: u32,
    },
    /// The viewer's role does not have the right.
    Forbidden {
        role: &'static str,
        needed: String,
    },
    /// The game master has paused the game.
    Paused,
    /// Too many requests wait already: try again.
    Busy {
        waiting: usize,
    },
    /// Requests come too fast: wait.
    TooFast {
        wait_ms: u64,
    },
    /// There is no room for another one.
    Full {
        what: &'static str,
    },
    /// Too many wrong codes were tried in the last minute, by all clients together: codes are refused for a while,
    /// tokens are not.
    CodesPaused {
        wait_ms: u64,
    },
    /// The table has had steps since the sequence number that the request expects.
    Moved {
        expected: u64,
        seq: u64,
    },
    /// The key was used for another request.
    KeyReused {
        key: String,
    },
    /// The question is not open. The open questions are listed.
    Stale {
        questions: Vec<OpenQuestion>,
    },
    /// The game refused it.
    Refused {
        refusal: Refusal,
    },
    /// The game cannot start or be loaded.
    NotStarted {
        message: String,
    },
    /// The game cannot be converted to the other rules.
    RulesRefused {
        message: String,
        notes: Vec<MigrationNote>,
    },
    /// The method is not available on this host.
    Unavailable {
        reason: String,
    },
    /// The file cannot be read or written.
    File {
        message: String,
    },
    /// The host failed. The game continues from its last step, or is closed.
    Internal {
        message: String,
    },
}

impl Failure {
    /// The error code of JSON-RPC; 1 for every error that JSON-RPC does not define.
    pub fn code(&self) -> i32 {
        match self {
            Failure::NotJson { .. } => -32700,
            Failure::NotARequest { .. } | Failure::TooLarge { .. } => -32600,
            Failure::UnknownMethod { .. } => -32601,
            Failure::BadParams { .. } => -32602,
            Failure::Internal { .. } => -32603,
            _ => 1,
        }
    }

    /// Returns the failure without what the role may not know: paths on this computer are for game masters only.
    pub(super) fn told_to(self, role: &Role) -> Failure {
        match self {
            Failure::File { .. } if !role.is_master() => {
                let message =
                    "this was not done, since the game cannot be stored on the disk of the game master".to_owned();
                Failure::File { message }
            }
            other => other,
        }
    }

    pub(super) fn forbidden(role: &'static str, needed: &str) -> Failure {
        Failure::Forbidden { role, needed: needed.to_owned() }
    }

    pub(super) fn internal(message: impl Into<String>) -> Failure {
        Failure::Internal { message: message.into() }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failure::NotJson { at } => write!(f, "not JSON from character {at} on"),
            Failure::NotARequest { message } | Failure::BadParams { message } => write!(f, "{message}"),
            Failure::TooLarge { bytes, limit } => write!(f, "the message has {bytes} bytes; the limit is {limit}"),
            Failure::UnknownMethod { method, near: Some(near) } => {
                write!(f, "there is no method `{method}`; did you mean `{near}`?")
            }
            Failure::UnknownMethod { method, near: None } => write!(f, "there is no method `{method}`"),
            Failure::UnsupportedProtocol { supported } => {
                let list: Vec<String> = supported.iter().map(u32::to_string).collect();
                write!(f, "this host speaks protocol {}", list.join(", "))
            }
            Failure::UnknownTable { table } => write!(f, "there is no table `{table}`"),
            Failure::UnknownToken => write!(f, "no invitation has this token or code, or it was used"),
            Failure::UnknownViewer { viewer } => write!(f, "this connection has no viewer {viewer}; say `hello` first"),
            Failure::Forbidden { role, needed } => write!(f, "a {role} may not do this; it takes {needed}"),
            Failure::Paused => write!(f, "the game is paused"),
            Failure::Busy { waiting } => write!(f, "{waiting} requests wait already; try again"),
            Failure::TooFast { wait_ms } => write!(f, "too many requests; wait {wait_ms} ms"),
            Failure::Full { what } => write!(f, "there is no room for another one: {what}"),
            Failure::CodesPaused { wait_ms } => {
                write!(f, "too many wrong codes; try again in {} seconds", wait_ms.div_ceil(1_000))
            }
            Failure::Moved { expected, seq } => write!(f, "the table is at {seq}, not at {expected} any more"),
            Failure::KeyReused { key } => write!(f, "the key `{key}` was used for another request"),
            Failure::Stale { .. } => write!(f, "the question is not open any more"),
            Failure::Refused { refusal } => write!(f, "{refusal}"),
            Failure::NotStarted { message } | Failure::RulesRefused { message, .. } => write!(f, "{message}"),
            Failure::Unavailable { reason } => write!(f, "{reason}"),
            Failure::File { message } => write!(f, "{message}"),
            Failure::Internal { message } => write!(f, "the host failed: {message}"),
        }
    }
}

impl From<Refusal> for Failure {
    fn from(refusal: Refusal) -> Failure {
        Failure::Refused { refusal: refusal.with_few_names() }
    }
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Failure {
        Failure::File { message: error.to_string() }
    }
}

impl From<SessionError> for Failure {
    fn from(error: SessionError) -> Failure {
        Failure::internal(error.to_string())
    }
}

impl From<StartError> for Failure {
    fn from(error: StartError) -> Failure {
        Failure::NotStarted { message: error.to_string() }
    }
}

impl From<riskbreaker_play::MigrationError> for Failure {
    fn from(error: riskbreaker_play::MigrationError) -> Failure {
        let message = error.to_string();
        match error {
            riskbreaker_play::MigrationError::Refused { notes, .. } => Failure::RulesRefused { message, notes },
            _ => Failure::RulesRefused { message, notes: Vec::new() },
        }
    }
}
