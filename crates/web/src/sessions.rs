//! The sessions of clients that send messages by `POST`.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio::time::{sleep, timeout};

use crate::connected::Connected;
use crate::host::{WebHost, is_answer};

/// The most sessions of clients that use `POST`.
const MOST_SESSIONS: usize = 256;
/// The time without requests after which a session ends.
const IDLE: Duration = Duration::from_secs(60);
/// The time limit for an answer.
const ANSWERED_WITHIN: Duration = Duration::from_secs(120);

/// The sessions of clients that use `POST`. Each has its own connection.
#[derive(Default)]
pub(crate) struct Sessions {
    all: Mutex<HashMap<String, Arc<RpcSession>>>,
}

pub(crate) struct RpcSession {
    pub client: Connected,
    /// Held while a message is handled, one at a time.
    turn: tokio::sync::Mutex<()>,
    used: Mutex<Instant>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Sessions {
    pub fn find(&self, key: &str) -> Option<Arc<RpcSession>> {
        let session = lock(&self.all).get(key).cloned()?;
        *lock(&session.used) = Instant::now();
        Some(session)
    }

    pub fn put(&self, key: String, session: Arc<RpcSession>) {
        let mut all = lock(&self.all);
        if all.len() >= MOST_SESSIONS {
            let oldest = all.iter().min_by_key(|(_, session)| *lock(&session.used)).map(|(key, _)| key.clone());
            oldest.and_then(|key| all.remove(&key));
        }
        all.insert(key, session);
    }

    pub fn end(&self, key: &str) {
        lock(&self.all).remove(key);
    }

    /// Ends the sessions that are idle or closed.
    pub fn sweep(&self) {
        lock(&self.all).retain(|_, session| lock(&session.used).elapsed() < IDLE && !session.client.is_closed());
    }

    pub fn end_all(&self) {
        lock(&self.all).clear();
    }
}

impl RpcSession {
    pub fn open(host: &dyn WebHost) -> Arc<RpcSession> {
        Arc::new(RpcSession {
            client: Connected::open(host),
            turn: tokio::sync::Mutex::default(),
            used: Mutex::new(Instant::now()),
        })
    }

    /// Sends a message and returns all lines up to its answer; `None` if none came in time.
    pub async fn ask(&self, message: &str) -> Option<Vec<String>> {
        let _turn = self.turn.lock().await;
        self.client.receive(message);
        if !self.client.is_answered(message) {
            return Some(Vec::new());
        }
        let (mut lines, mut answered) = (Vec::new(), false);
        let all = timeout(ANSWERED_WITHIN, async {
            loop {
                let closed = self.client.is_closed();
                lines.extend(self.client.take().into_iter().inspect(|line| answered |= is_answer(line)));
                if answered || closed {
                    return;
                }
                tokio::select! {
                    () = self.client.wake.notified() => {}
                    () = sleep(self.client.due().unwrap_or(ANSWERED_WITHIN)) => {}
                }
            }
        });
        all.await.ok()?;
        answered.then_some(lines)
    }
}
