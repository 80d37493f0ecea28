//! A client of a host: receives its messages, answers them or makes jobs of them.

use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Instant;

use serde_json::{Value as Json, json};

use super::commands::{RequestOutcome, TableCommand};
use super::error::Failure;
use super::frames::Snapshot;
use super::host::{Host, lock};
use super::job::{Apart, Extent, Job, JobProgress, reply};
use super::keeper::{Keeper, is_campaign};
use super::messages::*;
use super::methods::MethodName;
use super::misfit::takes;
use super::outbox::Outbox;
use super::pace::Pace;
use super::params::{must_have_seat, needs, read, role_of, written};
use super::people::{EntryRight, ShownPerson};
use super::playing::{OpeningGame, PlayingGame, begin};
use super::random::LARGEST_SEED;
use super::request::{Request, parse};
use super::role::{Role, RoleName};
use super::table::{GameTable, TableGame, fingerprint};
use super::unread::{Id, id_of};
use super::viewer::TableViewer;

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

/// The most viewers of a connection.
const MOST_VIEWERS: usize = 10_000;
/// The number of viewers of a table from which on limited connections cannot open another one.
const MOST_GUESTS: usize = 64;
/// The number of wrong tokens and codes after which a connection is closed.
const MOST_FAILED: u32 = 5;

/// The role, viewer and table of a request.
struct Caller {
    role: Role,
    viewer: Option<Arc<TableViewer>>,
    table: Option<Arc<GameTable>>,
}

impl Host {
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

fn welcome(role: Option<&Role>, viewer: Option<u32>, view: Option<Snapshot>) -> Welcome {
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
