//! The data that all requests share.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use axum::http::StatusCode;
use tokio::sync::watch;

use crate::address::Addresses;
use crate::host::WebHost;
use crate::page::Page;
use crate::sessions::Sessions;

/// The data that all requests share.
#[derive(Clone)]
pub(crate) struct ServerShared {
    pub inner: Arc<Inner>,
    pub ending: watch::Receiver<bool>,
    /// Kept by each open socket, so that the server can wait for them at its end.
    pub tasks: Arc<()>,
}

pub(crate) struct Inner {
    pub host: Arc<dyn WebHost>,
    pub addresses: Addresses,
    pub sessions: Sessions,
    pub page: Page,
    pub refused: AtomicU32,
}

impl std::ops::Deref for ServerShared {
    type Target = Inner;

    fn deref(&self) -> &Inner {
        &self.inner
    }
}

impl Inner {
    /// Logs refused requests, but not every one.
    pub fn count_refusal(&self, status: StatusCode) {
        let count = self.refused.fetch_add(1, Ordering::Relaxed) + 1;
        if count.is_power_of_two() {
            let what = match status {
                StatusCode::MISDIRECTED_REQUEST => {
                    "names another server (`--lan` or `--public-url URL` allow more names)"
                }
                _ => "comes from another page (`--allow-origin URL` allows one)",
            };
            self.host.log(&format!("Refused: a request {what}; {count} so far."));
        }
    }

    /// A random session key, which cannot be guessed.
    pub fn new_key(&self) -> String {
        let mut bytes = [0_u8; 16];
        if getrandom::fill(&mut bytes).is_err() {
            // Without randomness there are no sessions, since a key could be guessed.
            return String::new();
        }
        bytes.iter().map(|byte| format!("{byte:02x}")).collect()
    }
}

/// Waits until the server stops.
pub(crate) async fn ended(ending: &mut watch::Receiver<bool>) {
    // If the sender is gone, the server has stopped, too.
    let _ = ending.wait_for(|ending| *ending).await;
}
