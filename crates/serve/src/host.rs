use std::collections::{BTreeMap, HashMap};
use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock};
use std::time::Instant;

use serde_json::{Value as Json, json};

use super::commands::{Apart, RequestOutcome, ResultWriter, TableCommand, load, must_have_seat, read, written};
use super::error::Failure;
use super::job::{Extent, Job, JobProgress, reply};
use super::keeper::{Keeper, is_campaign};
use super::messages::*;
use super::methods::{METHODS, MethodName};
use super::misfit::takes;
use super::outbox::Outbox;
use super::pace::Pace;
use super::people::{Entrance, EntryRight, ShownPerson};
use super::saved::Saves;
use super::table::{GameTable, TableGame, TurnListener, fingerprint};
use super::unread::{Id, doubled_key, id_of, is_id, read_once};
use super::viewer::{Role, RoleName, TableViewer};
use riskbreaker_play::{Driver, Machines, Scenario, Session, Setup, TurnNotice};
use riskbreaker_ruleset::{Library, instead, nearest, quoted::quoted};
use riskbreaker_state::{LARGEST_NUMBER, Value};
use riskbreaker_store::KeptResult;

/// A host of many games, independent of the transport of its messages.
///
/// A transport calls [`Host::connect`] for each client and passes every message to [`Connection::receive`]. It runs the
/// resulting [`Job`]s, those of one connection in order, and writes the content of the connection's [`Outbox`].
#[derive(Clone)]
pub struct Host {
    pub(super) shared: Arc<HostShared>,
}

pub(super) struct HostShared {
    library: Library,
    /// The machines for the scripts of a table's ruleset.
    machines: Machines,
    saves: Saves,
    tables: Mutex<BTreeMap<String, Arc<GameTable>>>,
    /// Tokens, codes, and the people of all tables.
    pub(super) entrance: Mutex<Entrance>,
    /// The address that players are told to open.
    pub(super) address: Mutex<Option<String>>,
    /// The number of tables made, for generated names.
    made: AtomicU64,
    /// True if a table has ended, so that another one may get its name.
    ended: AtomicBool,
    /// The listener for turns.
    turns: OnceLock<TurnListener>,
}

/// One client.
pub struct Connection {
    host: Host,
    outbox: Arc<Outbox>,
    /// True if the client is the operator.
    operator: bool,
    /// True if it has the limits of a network client.
    limited: bool,
    viewers: Arc<Mutex<BTreeMap<u32, Arc<TableViewer>>>>,
    /// Set under the lock of `viewers` when the client has disconnected, so that no viewer is added after that.
    gone: Arc<AtomicBool>,
    next: AtomicU32,
    under_way: Cancellable,
    /// The rate limit of its requests, if it is limited.
    pace: Pace,
    /// The number of wrong tokens and codes that it has sent.
    failed: AtomicU32,
    /// True if it is closed once its last request is answered.
    ends_after_answer: AtomicBool,
    /// True if it has sent a valid token or code, or needs none.
    welcome: AtomicBool,
}

/// The requests of a connection that can be cancelled: by id, each with its interrupt flag.
type Cancellable = Arc<Mutex<HashMap<String, Arc<AtomicBool>>>>;

/// Makes a request cancellable while it waits or runs; dropping it ends that.
struct CancelHandle {
    all: Cancellable,
    id: String,
    interrupt: Arc<AtomicBool>,
}

impl CancelHandle {
    fn begin(all: &Cancellable, id: String, interrupt: &Arc<AtomicBool>) -> CancelHandle {
        lock(all).insert(id.clone(), interrupt.clone());
        CancelHandle { all: all.clone(), id, interrupt: interrupt.clone() }
    }
}

impl Drop for CancelHandle {
    fn drop(&mut self) {
        let mut all = lock(&self.all);
        // A later request may have the same id.
        if all.get(&self.id).is_some_and(|known| Arc::ptr_eq(known, &self.interrupt)) {
            all.remove(&self.id);
        }
    }
}

/// The outcome of receiving a message.
#[must_use]
#[non_exhaustive]
pub enum Received {
    /// The message is already answered.
    Done,
    /// Running this job answers the message.
    Job(Job),
    /// The host has to shut down once everything is answered.
    Shutdown,
}

/// The most tables of a host.
const MOST_TABLES: usize = 100_000;
/// The most viewers of a connection.
const MOST_VIEWERS: usize = 10_000;
/// The number of viewers of a table from which on limited connections cannot open another one.
const MOST_GUESTS: usize = 64;
/// The number of wrong tokens and codes after which a connection is closed.
const MOST_FAILED: u32 = 5;

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

    /// Connects a client. `operator`: true if it may do everything.
    pub fn connect(&self, operator: bool) -> Connection {
        self.connection(operator, false)
    }

    /// Connects a network client. It may send 20 requests a second and 40 at once, is disconnected after five wrong
    /// tokens, and cannot join a table with 64 viewers.
    pub fn connect_limited(&self) -> Connection {
        self.connection(false, true)
    }

    fn connection(&self, operator: bool, limited: bool) -> Connection {
        Connection {
            host: self.clone(),
            outbox: Arc::new(Outbox::default()),
            operator,
            limited,
            viewers: Arc::default(),
            gone: Arc::default(),
            next: AtomicU32::new(1),
            under_way: Arc::default(),
            pace: Pace::default(),
            failed: AtomicU32::new(0),
            ends_after_answer: AtomicBool::new(false),
            welcome: AtomicBool::new(operator),
        }
    }

    fn tables(&self) -> MutexGuard<'_, BTreeMap<String, Arc<GameTable>>> {
        lock(&self.shared.tables)
    }

    pub(super) fn table(&self, name: &str) -> Result<Arc<GameTable>, Failure> {
        self.tables().get(name).cloned().ok_or_else(|| Failure::UnknownTable { table: name.to_owned() })
    }

    /// Reserves a table for a game that is about to start.
    fn reserve(&self, name: Option<&str>) -> Result<Arc<GameTable>, Failure> {
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

/// A game that plays on to its first question and is then put on its table.
struct OpeningGame {
    host: Host,
    game: Box<TableGame>,
    /// The campaign file to store it in.
    campaign: Option<String>,
}

impl OpeningGame {
    fn play(mut self, table: &Arc<GameTable>, extent: Extent) -> Result<JobProgress, Failure> {
        while !self.game.play()? {
            if extent == Extent::Slice {
                return Ok(JobProgress::Rest(Box::new(move |table, extent| self.play_or_forget(table, extent))));
            }
        }
        let mut game = self.game;
        game.begin();
        if let Some(path) = self.campaign {
            let keeper = Keeper::create(&self.host.shared.library, &path, &mut game.session)?;
            game.keeper = Some(Box::new(keeper));
        }
        let remembered = game.remember()?;
        game.tell_turns_to(&table.name, self.host.shared.turns.get().cloned());
        game.keep_view_for_later(&table.name, Instant::now());
        let opened = begun(table, *game)?;
        lock(&self.host.shared.entrance).remember(table, remembered);
        self.host.people_changed(table);
        Ok(JobProgress::Done(opened))
    }

    /// Like `play`; frees the table's name if that fails.
    fn play_or_forget(self, table: &Arc<GameTable>, extent: Extent) -> Result<JobProgress, Failure> {
        let host = self.host.clone();
        self.play(table, extent).inspect_err(|_| host.forget(table))
    }
}

/// An accepted command whose game plays on.
struct PlayingGame {
    cause: &'static str,
    result: ResultWriter,
    by: Role,
    /// The idempotency key, with the fingerprint of the request.
    key: Option<(i64, String)>,
}

impl PlayingGame {
    fn play(self, table: &Arc<GameTable>, game: &mut TableGame, extent: Extent) -> Result<JobProgress, Failure> {
        while !game.play()? {
            if extent == Extent::Slice {
                let rest = move |table: &Arc<GameTable>, extent| table.with(|game| self.play(table, game, extent));
                return Ok(JobProgress::Rest(Box::new(rest)));
            }
        }
        // The result is on disk together with the effects of the command: a repeated key never runs it twice.
        let result = (self.result)(game.seq + 1);
        let kept = match (&self.key, &result) {
            (Some((request, key)), Ok(result)) => Some(KeptResult {
                by: (self.by.word().to_owned(), self.by.seats_in_one()),
                key: key.clone(),
                request: *request,
                result: result.clone(),
            }),
            _ => None,
        };
        game.publish(&table.name, self.cause, &self.by, kept)?;
        let result = result?;
        if let Some((request, key)) = self.key {
            game.keep(&self.by, &key, request, result.clone());
        }
        Ok(JobProgress::Done(result))
    }
}

/// Puts a game on its table.
fn begun(table: &GameTable, game: TableGame) -> Result<Json, Failure> {
    let rules = game.session.ruleset();
    let opened = TableOpened {
        table: table.name.clone(),
        seq: game.seq,
        ruleset: rules.name(),
        hash: rules.hash(),
        seed: game.session.seed(),
        seats: game.session.seats().clone(),
    };
    table.begin(game);
    written(opened)
}

/// A parsed request.
struct Request {
    /// `None` for a notification, which is not answered.
    id: Option<Id>,
    method: MethodName,
    params: Json,
    viewer: Option<u32>,
    table: Option<String>,
    key: Option<String>,
}

/// The role, viewer and table of a request.
struct Caller {
    role: Role,
    viewer: Option<Arc<TableViewer>>,
    table: Option<Arc<GameTable>>,
}

impl Connection {
    /// The messages to write to the client.
    pub fn outbox(&self) -> &Arc<Outbox> {
        &self.outbox
    }

    /// Receives a message of the client: one JSON object.
    pub fn receive(&self, message: &str) -> Received {
        if message.len() > MOST_BYTES {
            self.refuse(message, Failure::TooLarge { bytes: message.len(), limit: MOST_BYTES });
            return Received::Done;
        }
        let (id, parsed) = parse(message);
        let request = match parsed {
            Ok(request) => request,
            Err(failure) => {
                self.reply(id, Err(failure));
                return Received::Done;
            }
        };
        let id = request.id.clone();
        if let Err(failure) = self.keeps_pace(&request) {
            self.reply(id, Err(failure));
            return Received::Done;
        }
        match self.take(request) {
            Ok(received) => received,
            Err(failure) => {
                self.reply(id, Err(failure));
                if self.ends_after_answer.load(Ordering::Relaxed) {
                    self.outbox.close();
                }
                Received::Done
            }
        }
    }

    /// Charges a request to the rate limits of this connection and of the person of its viewer.
    fn keeps_pace(&self, request: &Request) -> Result<(), Failure> {
        if !self.limited {
            return Ok(());
        }
        let now = Instant::now();
        let of_person = {
            let viewers = lock(&self.viewers);
            let viewer = match request.viewer {
                Some(number) => viewers.get(&number),
                None => viewers.values().next(),
            };
            viewer.and_then(|viewer| viewer.pace.clone())
        };
        let taken = self.pace.take(now).and_then(|()| of_person.map_or(Ok(()), |pace| pace.take(now)));
        taken.map_err(|wait| Failure::TooFast { wait_ms: wait.as_millis() as u64 + 1 })
    }

    /// True if the client has sent a valid token or code, or needs none.
    pub fn is_welcome(&self) -> bool {
        self.welcome.load(Ordering::Relaxed)
    }

    /// Handles a message at once and returns all messages to the client: for callers that wait.
    pub fn call(&self, message: &str) -> Vec<String> {
        if let Received::Job(job) = self.receive(message) {
            job.run();
        }
        self.outbox.take()
    }

    /// Handles the end of the connection: its viewers leave.
    pub fn close(&self) {
        let viewers = {
            let mut viewers = lock(&self.viewers);
            self.gone.store(true, Ordering::Relaxed);
            std::mem::take(&mut *viewers)
        };
        viewers.into_values().for_each(|viewer| viewer.table.leave(&viewer));
        self.outbox.close();
    }

    fn reply(&self, id: Option<Id>, result: Result<Json, Failure>) {
        reply(&self.outbox, id, result);
    }

    /// Answers a message that cannot be parsed. `message`: the part that was received.
    pub(super) fn refuse(&self, message: &str, failure: Failure) {
        self.reply(Some(id_of(message)), Err(failure));
    }

    fn done(&self, id: Option<Id>, result: Result<Json, Failure>) -> Received {
        self.reply(id, result);
        Received::Done
    }

    /// Handles a request that needs no game at once, and makes a job of any other.
    fn take(&self, request: Request) -> Result<Received, Failure> {
        let id = request.id.clone();
        if request.method.method().bare {
            let Nothing {} = read(&request.params)?;
        }
        match request.method {
            MethodName::Ping => Ok(self.done(id, Ok(json!({})))),
            MethodName::Schema => Ok(self.done(id, Ok(super::schema::schema()))),
            MethodName::Hello => self.hello(request),
            MethodName::Cancel => {
                let CancelParams { id: other } = read(&request.params)?;
                let found = lock(&self.under_way).get(&other.to_string()).cloned();
                let cancelled = found.is_some();
                if let Some(interrupt) = found {
                    interrupt.store(true, Ordering::Relaxed);
                }
                Ok(self.done(id, written(Cancelled { cancelled })))
            }
            MethodName::TableList => {
                self.must_operate(&request)?;
                let tables = self.host.tables().keys().cloned().collect();
                Ok(self.done(id, written(TableList { tables })))
            }
            MethodName::Rulesets => {
                self.must_operate(&request)?;
                Ok(self.done(id, written(RulesetList { rulesets: self.host.shared.library.ids() })))
            }
            MethodName::TableNew | MethodName::TableLoad => {
                self.must_operate(&request)?;
                self.open(request)
            }
            MethodName::Shutdown => {
                self.must_operate(&request)?;
                self.reply(id, Ok(json!({})));
                Ok(Received::Shutdown)
            }
            _ => self.at_table(request),
        }
    }

    fn must_operate(&self, request: &Request) -> Result<(), Failure> {
        match request.viewer {
            None | Some(0) if self.operator => Ok(()),
            // The table that it names may not exist yet.
            _ => self.caller(request)?.role.must_be_operator(),
        }
    }

    /// Returns who sends the request: a viewer of this connection, or its operator.
    fn caller(&self, request: &Request) -> Result<Caller, Failure> {
        let viewers = lock(&self.viewers);
        let of = |viewer: &Arc<TableViewer>| Caller {
            role: viewer.role.clone(),
            viewer: Some(viewer.clone()),
            table: Some(viewer.table.clone()),
        };
        match request.viewer {
            Some(number) if number != 0 || !self.operator => {
                let viewer = viewers.get(&number).filter(|viewer| !viewer.is_gone());
                viewer.map(of).ok_or(Failure::UnknownViewer { viewer: number })
            }
            _ if self.operator => {
                let table = request.table.as_deref().map(|name| self.host.table(name)).transpose()?;
                Ok(Caller { role: Role::Operator, viewer: None, table })
            }
            _ => match viewers.values().collect::<Vec<_>>().as_slice() {
                [only] if !only.is_gone() => Ok(of(only)),
                _ => Err(Failure::UnknownViewer { viewer: 0 }),
            },
        }
    }

    fn hello(&self, request: Request) -> Result<Received, Failure> {
        let hello: Hello = read(&request.params)?;
        if hello.protocol != PROTOCOL {
            return Err(Failure::UnsupportedProtocol { supported: vec![PROTOCOL] });
        }
        let (table, shown) = match hello.role {
            _ if hello.token.is_some() || hello.code.is_some() => {
                let found = lock(&self.host.shared.entrance).shown(&hello, &self.outbox, Instant::now());
                found.inspect_err(|failure| self.count_failure(failure))?
            }
            _ if hello.watch => {
                let table = lock(&self.host.shared.entrance).watched(request.table.as_deref())?;
                (table, ShownPerson::Enters { role: Role::Watcher, by: EntryRight::Nothing })
            }
            None if self.operator => {
                let welcome = welcome(Some(&Role::Operator), None, None);
                return Ok(self.done(request.id, written(welcome)));
            }
            Some(role) if self.operator => {
                let name = request.table.as_deref().ok_or_else(|| needs("`table`"))?;
                let several = Role::of_seats(&hello.seats).filter(|_| role == RoleName::Seat);
                let role = several.map_or_else(|| role_of(role, hello.seat.as_deref()), Ok)?;
                (self.host.table(name)?, ShownPerson::Enters { role, by: EntryRight::Nothing })
            }
            _ => {
                self.count_failure(&Failure::UnknownToken);
                return Err(Failure::UnknownToken);
            }
        };
        self.welcome.store(true, Ordering::Relaxed);
        {
            let mut viewers = lock(&self.viewers);
            // Viewers whose table was closed, or whose invitation was revoked, were not removed by `bye`.
            viewers.retain(|_, viewer| !viewer.is_gone());
            if viewers.len() >= MOST_VIEWERS {
                return Err(Failure::Busy { waiting: MOST_VIEWERS });
            }
        }
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let (viewers, gone, outbox) = (self.viewers.clone(), self.gone.clone(), self.outbox.clone());
        let (host, operator, limited) = (self.host.clone(), self.operator, self.limited);
        Ok(self.short_job(request.id, table, move |table| {
            let (role, by, token) = match shown {
                ShownPerson::Waits { request, token } => {
                    lock(&host.shared.entrance).waits_as(table, request, number);
                    host.people_changed(table);
                    return written(Welcome { waiting: true, token, ..welcome(None, Some(number), None) });
                }
                ShownPerson::Enters { role, by } => (role, by, None),
                ShownPerson::Exchanges { hash } => {
                    let exchanged = host.exchange(table, &hash, hello.name.as_deref());
                    let exchanged = exchanged.map_err(|failure| failure.told_to(&Role::Watcher))?;
                    (exchanged.role, exchanged.by, Some(exchanged.token))
                }
            };
            let (person, name, seats) = lock(&host.shared.entrance).described(table, &by);
            let role = match &hello.seat {
                Some(seat) if !operator && seats.contains(seat) => Role::Seat(Arc::from(seat.as_str())),
                Some(seat) if !operator => {
                    return Err(Failure::Forbidden { role: role.word(), needed: format!("the seat `{seat}`") });
                }
                _ => role,
            };
            let mut viewer = TableViewer::new(number, role, table.clone(), outbox);
            viewer.is_guest = !operator && matches!(by, EntryRight::Nothing);
            viewer.is_unseen = operator && hello.unseen;
            let mut viewer = Arc::new(viewer);
            lock(&host.shared.entrance).enter(table, &by, &mut viewer)?;
            let view = table.with(|game| {
                if viewer.is_gone() {
                    return Err(Failure::UnknownToken);
                }
                for seat in viewer.role.seats() {
                    must_have_seat(game.session.ruleset(), seat)?;
                }
                game.enter(viewer.clone(), if limited { MOST_GUESTS } else { usize::MAX })?;
                Ok(game.shown_to(&table.name, &viewer.role, Some(&viewer), hello.since, hello.seq))
            })?;
            {
                let mut viewers = lock(&viewers);
                if gone.load(Ordering::Relaxed) {
                    drop(viewers);
                    table.leave(&viewer);
                    return Err(Failure::UnknownViewer { viewer: number });
                }
                viewers.insert(number, viewer.clone());
            }
            if person.is_some() {
                host.people_changed(table);
            }
            let welcome = welcome(Some(&viewer.role), Some(number), Some(view));
            written(Welcome { token, person, name, seats, ..welcome })
        }))
    }

    /// Counts a wrong token or code. After [`MOST_FAILED`], the connection is closed.
    fn count_failure(&self, failure: &Failure) {
        let is_wrong = matches!(failure, Failure::UnknownToken);
        if is_wrong && self.limited && self.failed.fetch_add(1, Ordering::Relaxed) + 1 >= MOST_FAILED {
            self.ends_after_answer.store(true, Ordering::Relaxed);
        }
    }

    /// Starts a game, or continues a saved one.
    fn open(&self, request: Request) -> Result<Received, Failure> {
        let is_new = request.method == MethodName::TableNew;
        let (mut new, mut saved) = (None, None);
        if is_new {
            new = Some(read::<NewTable>(&request.params)?);
        } else {
            saved = Some(read::<LoadTable>(&request.params)?);
        }
        if let Some(path) = new.as_ref().and_then(|new| new.campaign.as_ref()).filter(|path| !is_campaign(path)) {
            let message = format!("{path}: the name of a campaign file ends in `.rbsave`");
            return Err(Failure::BadParams { message });
        }
        let paths = [new.as_mut().map(|new| &mut new.campaign), saved.as_mut().map(|saved| &mut saved.path)];
        for path in paths.into_iter().flatten().flatten() {
            *path = self.host.shared.saves.place(path)?;
        }
        if let Some(seed) = new.as_ref().and_then(|new| new.seed).filter(|seed| *seed > LARGEST_SEED) {
            return Err(takes("seed", &format!("a whole number from 0 to {LARGEST_SEED}"), &json!(seed)));
        }
        let table = self.host.reserve(request.table.as_deref())?;
        let host = self.host.clone();
        Ok(self.job(request.id, table, move |table, extent| {
            let library = &host.shared.library;
            let opened = (|| {
                if let Some(new) = new {
                    let campaign = new.campaign.clone();
                    let game = TableGame::new(begin(host.shared.machines, library, new)?, 1);
                    let first = !host.shared.ended.load(Ordering::Relaxed);
                    return Ok((if first { game } else { game.later() }, campaign));
                }
                let LoadTable { path, game } = saved.unwrap_or(LoadTable { path: None, game: None });
                let text = match (path, game) {
                    (Some(path), None) if is_campaign(&path) => {
                        let (keeper, session) = Keeper::open(library, &path)?;
                        let mut game = TableGame::new(session, keeper.seq() + 1).later();
                        game.keeper = Some(Box::new(keeper));
                        return Ok((game, None));
                    }
                    (Some(path), None) => super::saved::get(&path)?,
                    (None, Some(game)) => game,
                    _ => return Err(needs("either `path` or `game`")),
                };
                Ok((super::saved::read(library, &text)?, None))
            })();
            let (game, campaign) = opened.inspect_err(|_| host.forget(table))?;
            OpeningGame { host, game: Box::new(game), campaign }.play_or_forget(table, extent)
        }))
    }

    /// Handles the requests that concern one table.
    fn at_table(&self, request: Request) -> Result<Received, Failure> {
        let Caller { role, viewer, table } = self.caller(&request)?;
        let table = table.ok_or_else(|| needs("`table`"))?;
        let Request { id, method, params, key, .. } = request;
        if key.as_ref().is_some_and(|key| key.chars().count() > 64) {
            return Err(Failure::BadParams { message: "a key has at most 64 characters".into() });
        }
        must_not_only_look(viewer.as_ref(), method)?;
        let host = self.host.clone();
        match method {
            MethodName::Bye => {
                let viewer = viewer.ok_or_else(|| needs("`viewer`"))?;
                let viewers = self.viewers.clone();
                return Ok(self.short_job(id, table, move |table| {
                    lock(&viewers).remove(&viewer.id);
                    table.leave(&viewer);
                    Ok(json!({}))
                }));
            }
            MethodName::TableClose => {
                role.must_be_operator()?;
                return Ok(self.short_job(id, table, move |table| {
                    let closed = table.close("the table was closed");
                    host.forget(table);
                    if closed { Ok(json!({})) } else { Err(Failure::UnknownTable { table: table.name.clone() }) }
                }));
            }
            MethodName::Invite | MethodName::Revoke | MethodName::Admit | MethodName::People | MethodName::Person => {
                role.must_be_master()?;
                return Ok(self.short_job(id, table, move |table| {
                    still_there(viewer.as_ref())?;
                    match method {
                        MethodName::Invite => host.invite(table, &role, &params),
                        MethodName::Admit => host.admit(table, &role, &params),
                        MethodName::People => host.people(table),
                        MethodName::Person => host.person(table, &role, &params),
                        _ => host.revoke(table, &params),
                    }
                }));
            }
            MethodName::Name | MethodName::Lobby => {
                return Ok(self.short_job(id, table, move |table| {
                    still_there(viewer.as_ref())?;
                    let result = match method {
                        MethodName::Name => host.name(table, viewer.as_ref(), &params),
                        _ => host.lobby(table, &role, &params),
                    };
                    result.map_err(|failure| failure.told_to(&role))
                }));
            }
            _ => {}
        }
        let interrupt = Arc::new(AtomicBool::new(false));
        let name = id
            .as_ref()
            .map(Id::key)
            .filter(|_| matches!(method, MethodName::Odds | MethodName::Hint | MethodName::Encounter));
        let under_way = name.map(|name| CancelHandle::begin(&self.under_way, name, &interrupt));
        Ok(self.job(id, table, move |table, extent| {
            let result = table.with(|game| {
                still_there(viewer.as_ref())?;
                let changes = method.method().changes;
                if changes && game.is_paused() && !role.is_master() {
                    return Err(Failure::Paused);
                }
                let key = key.filter(|_| changes).map(|key| (fingerprint(method.method().name, &params), key));
                if let Some((request, key)) = &key
                    && let Some(earlier) = game.earlier(&role, key, *request)?
                {
                    return Ok(JobProgress::Done(earlier));
                }
                if let Some(viewer) = viewer.as_ref().filter(|_| method == MethodName::View) {
                    viewer.set_behind(false);
                }
                let command = TableCommand {
                    method,
                    params,
                    role: &role,
                    name: viewer.as_ref().and_then(|viewer| viewer.name()),
                    viewer: viewer.as_ref(),
                    table: &table.name,
                    library: &host.shared.library,
                    saves: &host.shared.saves,
                    machines: host.shared.machines,
                    interrupt: &interrupt,
                };
                match command.run(game)? {
                    RequestOutcome::Result(result) => Ok(JobProgress::Done(result)),
                    RequestOutcome::Apart(apart) => Ok(apart_from_table(&table.name, &role, under_way, apart)),
                    RequestOutcome::Changed { cause, result } => {
                        PlayingGame { cause, result, by: role.clone(), key }.play(table, game, extent)
                    }
                }
            });
            result.map_err(|failure| failure.told_to(&role))
        }))
    }

    /// Returns a job at a table, whose result is the answer.
    fn job(
        &self,
        id: Option<Id>,
        table: Arc<GameTable>,
        work: impl FnOnce(&Arc<GameTable>, Extent) -> Result<JobProgress, Failure> + Send + 'static,
    ) -> Received {
        let (host, outbox) = (self.host.clone(), self.outbox.clone());
        Received::Job(Job { host, table, outbox, id, work: Box::new(work), lane: None })
    }

    /// Returns a job at a table after which no game plays on.
    fn short_job(
        &self,
        id: Option<Id>,
        table: Arc<GameTable>,
        work: impl FnOnce(&Arc<GameTable>) -> Result<Json, Failure> + Send + 'static,
    ) -> Received {
        self.job(id, table, move |table, _| work(table).map(JobProgress::Done))
    }
}

/// Refuses what a viewer may not do that sees what a seat sees but does not play it.
fn must_not_only_look(viewer: Option<&Arc<TableViewer>>, method: MethodName) -> Result<(), Failure> {
    let plays = method.method().changes || matches!(method, MethodName::Say | MethodName::Name);
    match viewer.filter(|viewer| viewer.only_looks && plays) {
        Some(_) => Err(Failure::forbidden("look as a seat", "the seat itself")),
        None => Ok(()),
    }
}

/// Refuses a request of a viewer that was closed, or whose invitation was revoked, while the request waited.
fn still_there(viewer: Option<&Arc<TableViewer>>) -> Result<(), Failure> {
    match viewer.filter(|viewer| viewer.is_gone()) {
        Some(viewer) => Err(Failure::UnknownViewer { viewer: viewer.id }),
        None => Ok(()),
    }
}

fn needs(what: &str) -> Failure {
    Failure::BadParams { message: format!("the request needs {what}") }
}

pub(super) fn role_of(name: RoleName, seat: Option<&str>) -> Result<Role, Failure> {
    Ok(match (name, seat) {
        (RoleName::Operator, _) => Role::Operator,
        (RoleName::GameMaster, _) => Role::GameMaster,
        (RoleName::Watcher, _) => Role::Watcher,
        (RoleName::Seat, Some(seat)) => Role::Seat(Arc::from(seat)),
        (RoleName::Seat, None) => return Err(needs("`seat`")),
    })
}

fn welcome(role: Option<&Role>, viewer: Option<u32>, view: Option<super::frames::Snapshot>) -> Welcome {
    Welcome {
        protocol: PROTOCOL,
        host: concat!("riskbreaker ", env!("CARGO_PKG_VERSION")).to_owned(),
        role: role.map(Role::name),
        seat: role.and_then(|role| role.seat().cloned()),
        seats: Vec::new(),
        token: None,
        person: None,
        name: None,
        waiting: false,
        viewer,
        limits: ProtocolLimits { message: MOST_BYTES, waiting: MOST_WAITING, keys: KEYS_KEPT },
        view,
    }
}

/// Starts a session for a new game.
fn begin(machines: Machines, library: &Library, new: NewTable) -> Result<Session, Failure> {
    let id = match new.ruleset.or_else(|| library.default_id()) {
        Some(id) => id,
        None => return Err(needs("`ruleset`")),
    };
    let rules = load(machines, library, &id, &new.layers)?;
    let scenario = match (new.scenario, new.position) {
        (None, None) => Scenario::Default,
        (Some(name), None) => Scenario::Named(name),
        (None, Some(position)) => Scenario::Table(Value::map(position)),
        (Some(_), Some(_)) => return Err(needs("either `scenario` or `position`, not both")),
    };
    let mut setup = Setup { scenario, dice: new.dice, ..Setup::default() }.seed(new.seed.unwrap_or_else(random_seed));
    for (seat, driver) in new.seats {
        let Ok(driver) = driver.parse::<Driver>();
        setup = setup.seat(seat, driver);
    }
    for (switch, value) in new.switches {
        setup = setup.switch(switch, Value::text(value.to_string()));
    }
    Ok(Session::start(&rules, setup)?)
}

/// The largest seed, 2^53 - 1, which every client can read exactly.
const LARGEST_SEED: u64 = LARGEST_NUMBER.unsigned_abs();

/// Returns a random seed, from 1 to [`LARGEST_SEED`]: too many to try them all.
pub(super) fn random_seed() -> u64 {
    random_word() % LARGEST_SEED + 1
}

fn random_word() -> u64 {
    u64::from_le_bytes(random())
}

/// The hash that identifies a token. Neither the memory nor the file contains the token itself.
pub(super) fn hash_of_token(token: &str) -> String {
    use sha2::Digest as _;
    let hash = sha2::Sha256::new().chain_update("riskbreaker token\0").chain_update(token).finalize();
    hash.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// A random token: 128 bits from the system's random source.
pub(super) fn random_token() -> String {
    random_bytes().iter().map(|byte| format!("{byte:02x}")).collect()
}

pub(super) fn random_bytes() -> [u8; 16] {
    random()
}

/// Random bytes from the system's random source.
///
/// # Panics
///
/// If the system has none: a token that can be guessed must not be issued.
fn random<const N: usize>() -> [u8; N] {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).expect("the system has no source of random bytes");
    bytes
}

/// Parses a message. The id is returned even if the rest is wrong; `None` for a notification, which is never answered.
fn parse(message: &str) -> (Option<Id>, Result<Request, Failure>) {
    let not_a_request = |message: String| Err(Failure::NotARequest { message });
    let parsed = match read_once(message) {
        Ok(parsed) => parsed,
        Err(error) => {
            let failure = match doubled_key(&error) {
                Some(key) => not_a_request(format!("the key {key} stands twice in an object; leave one of them out")),
                None => Err(Failure::NotJson { at: error.column() }),
            };
            return (Some(id_of(message)), failure);
        }
    };
    let Json::Object(mut fields) = parsed else {
        let what =
            if parsed.is_array() { "there are no batches; send one object a line" } else { "a request is an object" };
        return (Some(Id::null()), not_a_request(what.to_owned()));
    };
    let given = fields.remove("id");
    let id = match &given {
        Some(id) if is_id(id) || id.is_null() => Some(Id::of(message, id)),
        Some(_) => {
            let what = "`id` is a text, null or a whole number from -2^63 to 2^64 - 1";
            return (Some(Id::null()), not_a_request(what.to_owned()));
        }
        None => None,
    };
    // A message that has no id and is no valid notification is answered, too.
    let wrong = |message: &str| (Some(id.clone().unwrap_or_else(Id::null)), not_a_request(message.to_owned()));
    const MEMBERS: [&str; 4] = ["jsonrpc", "id", "method", "params"];
    if let Some(other) = fields.keys().find(|name| !MEMBERS.contains(&name.as_str())) {
        return wrong(&format!("a request has no {}; {}", quoted(other), instead(other, MEMBERS)));
    }
    if fields.get("jsonrpc").and_then(Json::as_str) != Some("2.0") {
        return wrong("`jsonrpc` has to be \"2.0\"");
    }
    let Some(Json::String(method)) = fields.remove("method") else { return wrong("`method` has to be a text") };
    let request = request_of(id.clone(), method, fields.remove("params"));
    (id, request)
}

/// True if a message is a notification, which is not answered.
#[cfg(feature = "web")]
pub(super) fn is_notification(message: &str) -> bool {
    message.len() <= MOST_BYTES && parse(message).0.is_none()
}

/// Checks a method and its parameters and returns the request.
fn request_of(id: Option<Id>, method: String, params: Option<Json>) -> Result<Request, Failure> {
    let Some(method) = MethodName::of(&method) else {
        let near = nearest(&method, METHODS.iter().map(|method| method.name)).map(str::to_owned);
        return Err(Failure::UnknownMethod { method: method.chars().take(64).collect(), near });
    };
    let mut params = match params {
        None => serde_json::Map::new(),
        Some(Json::Object(params)) => params,
        Some(_) => return Err(Failure::BadParams { message: "`params` has to be an object".into() }),
    };
    let viewer = match params.remove("viewer") {
        None | Some(Json::Null) => None,
        Some(viewer) => match viewer.as_u64().and_then(|viewer| u32::try_from(viewer).ok()) {
            Some(viewer) => Some(viewer),
            None => return Err(takes("viewer", "a whole number from 0 to 4294967295", &viewer)),
        },
    };
    let mut text = |name: &str| match params.remove(name) {
        None | Some(Json::Null) => Ok(None),
        Some(Json::String(text)) => Ok(Some(text)),
        Some(other) => Err(takes(name, "a text", &other)),
    };
    let (table, key) = (text("table")?, text("key")?);
    Ok(Request { id, method, params: Json::Object(params), viewer, table, key })
}

/// Work that is done while the table continues: one at a time for each seat.
fn apart_from_table(table: &str, role: &Role, under_way: Option<CancelHandle>, apart: Apart) -> JobProgress {
    let lane = format!("{table}\n{}\n{:?}", role.word(), role.seats_in_one());
    let role = role.clone();
    let apart = move || {
        let _under_way = under_way;
        apart().map_err(|failure| failure.told_to(&role))
    };
    JobProgress::Apart(lane.into(), Box::new(apart))
}
