use std::collections::BTreeMap;
use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock};

use super::error::Failure;
use super::people::Entrance;
use super::saved::Saves;
use super::table::{GameTable, TurnListener};
use riskbreaker_play::{Machines, TurnNotice};
use riskbreaker_ruleset::Library;

/// A host of many games, independent of the transport of its messages.
///
/// A transport calls [`Host::connect`] for each client and passes every message to
/// [`Connection::receive`](super::Connection::receive). It runs the resulting [`Job`](super::Job)s, those of one connection
/// in order, and writes the content of the connection's [`Outbox`](super::Outbox).
#[derive(Clone)]
pub struct Host {
    pub(super) shared: Arc<HostShared>,
}

pub(super) struct HostShared {
    pub(super) library: Library,
    /// The machines for the scripts of a table's ruleset.
    pub(super) machines: Machines,
    pub(super) saves: Saves,
    tables: Mutex<BTreeMap<String, Arc<GameTable>>>,
    /// Tokens, codes, and the people of all tables.
    pub(super) entrance: Mutex<Entrance>,
    /// The address that players are told to open.
    pub(super) address: Mutex<Option<String>>,
    /// The number of tables made, for generated names.
    made: AtomicU64,
    /// True if a table has ended, so that another one may get its name.
    pub(super) ended: AtomicBool,
    /// The listener for turns.
    pub(super) turns: OnceLock<TurnListener>,
}

/// The most tables of a host.
const MOST_TABLES: usize = 100_000;

impl Host {
    /// Creates a host of games with the rulesets of a library.
    pub fn new(library: Library) -> Host {
        Host::on(Machines::default(), library)
    }

    /// Like [`Host::new`], with a choice of where scripts run. [`stdio`](super::stdio) has threads that can run them:
    /// there [`Machines::CallersThread`] answers sooner.
    pub fn on(machines: Machines, library: Library) -> Host {
        Host::of(machines, library, Saves::default())
    }

    /// Like [`Host::on`], with client files confined to one folder. Their paths are relative to it.
    ///
    /// # Errors
    ///
    /// The folder does not exist.
    pub fn with_saves(machines: Machines, library: Library, folder: &Path) -> io::Result<Host> {
        Ok(Host::of(machines, library, Saves::within(folder)?))
    }

    fn of(machines: Machines, library: Library, saves: Saves) -> Host {
        let (tables, entrance, address) = (Mutex::default(), Mutex::default(), Mutex::default());
        Host {
            shared: Arc::new(HostShared {
                library,
                machines,
                saves,
                tables,
                entrance,
                address,
                made: AtomicU64::new(0),
                ended: AtomicBool::new(false),
                turns: OnceLock::new(),
            }),
        }
    }

    /// Sets a listener for turns at every table that is opened from now on. It gets the name of the table, and the seat
    /// with its question as far as it is public. It is called while the table is locked, so it must return at once.
    /// Only the first listener counts.
    pub fn tell_turns(&self, listener: impl Fn(&str, &TurnNotice) + Send + Sync + 'static) {
        let _ = self.shared.turns.set(Arc::new(listener));
    }

    pub(super) fn tables(&self) -> MutexGuard<'_, BTreeMap<String, Arc<GameTable>>> {
        lock(&self.shared.tables)
    }

    pub(super) fn table(&self, name: &str) -> Result<Arc<GameTable>, Failure> {
        self.tables().get(name).cloned().ok_or_else(|| Failure::UnknownTable { table: name.to_owned() })
    }

    /// Reserves a table for a game that is about to start.
    pub(super) fn reserve(&self, name: Option<&str>) -> Result<Arc<GameTable>, Failure> {
        let mut tables = self.tables();
        if tables.len() >= MOST_TABLES {
            return Err(Failure::Busy { waiting: tables.len() });
        }
        let name = match name {
            Some(name) if !(1..=64).contains(&name.chars().count()) || name.chars().any(char::is_control) => {
                let message = "a table's name has 1 to 64 characters".to_owned();
                return Err(Failure::BadParams { message });
            }
            Some(name) if tables.contains_key(name) => {
                return Err(Failure::BadParams { message: format!("there is a table `{name}` already") });
            }
            Some(name) => name.to_owned(),
            None => loop {
                let name = format!("t{}", self.shared.made.fetch_add(1, Ordering::Relaxed) + 1);
                if !tables.contains_key(&name) {
                    break name;
                }
            },
        };
        let table = Arc::new(GameTable::new(name.clone()));
        tables.insert(name, table.clone());
        Ok(table)
    }

    /// Removes a table, if it is still the one with its name, and ends its invitations.
    pub(super) fn forget(&self, table: &Arc<GameTable>) {
        self.shared.ended.store(true, Ordering::Relaxed);
        let mut tables = self.tables();
        if tables.get(&table.name).is_some_and(|known| Arc::ptr_eq(known, table)) {
            tables.remove(&table.name);
        }
        drop(tables);
        lock(&self.shared.entrance).forget(table);
    }
}

pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}
