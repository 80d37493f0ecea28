//! A connection of the host.

use std::sync::Arc;

use tokio::sync::Notify;

use crate::host::{WebClient, WebHost};

/// A connection of the host. Dropping it closes the connection.
pub(crate) struct Connected {
    pub client: Arc<dyn WebClient>,
    pub wake: Arc<Notify>,
}

impl Connected {
    pub fn open(host: &dyn WebHost) -> Connected {
        let wake = Arc::new(Notify::new());
        let waker = wake.clone();
        Connected { client: host.connect(Arc::new(move || waker.notify_one())), wake }
    }
}

impl Drop for Connected {
    fn drop(&mut self) {
        let client = self.client.clone();
        // Closing may wait for the game.
        match tokio::runtime::Handle::try_current() {
            Ok(runtime) => drop(runtime.spawn_blocking(move || client.close())),
            Err(_) => client.close(),
        }
    }
}

impl std::ops::Deref for Connected {
    type Target = Arc<dyn WebClient>;

    fn deref(&self) -> &Self::Target {
        &self.client
    }
}
