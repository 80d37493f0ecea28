//! How people join a table: invitations, codes, the waiting room, and persons with their devices.
//!
//! A *token* can open any number of viewers. It belongs to an invitation, or to one device of a person. A *code* is
//! exchanged for the token of a new device: that of an invitation at once, that of the table (the join code) through
//! the waiting room, where a game master admits people. All rights are stored here. Tokens and codes are stored as
//! hashes; only the join code is stored in clear, in memory, since everybody at the table may show it to others.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Weak};
use std::time::Instant;

use serde_json::Value as Json;
use unicode_normalization::UnicodeNormalization as _;

use super::commands::{must_have_seat, read, written};
use super::error::Failure;
use super::host::{Host, hash_of_token, lock, random_bytes, random_token, role_of};
use super::messages::*;
use super::options::TableOptions;
use super::outbox::Outbox;
use super::pace::{Failures, Pace};
use super::table::{GameTable, KnownPerson, line_to, tell};
use super::viewer::{Role, RoleName, TableViewer};
use riskbreaker_store::{HostChange, KeptVote};

/// The most devices of a person.
const MOST_DEVICES: usize = 8;
/// The most persons of a table.
const MOST_PEOPLE: usize = 200;
/// The most people in the waiting room of a table.
const MOST_WAITING: usize = 32;
/// The most characters of a name.
const MOST_OF_NAME: usize = 40;

/// The tokens and codes of a host, and the people of its tables.
#[derive(Default)]
pub(super) struct Entrance {
    /// The keys, by the hash of the token or code.
    keys: HashMap<String, AccessKey>,
    /// The lobbies, by the name of the table.
    lobbies: HashMap<String, Lobby>,
    failures: Failures,
}

/// The access by a token or a code.
#[derive(Clone)]
enum AccessKey {
    Invitation { table: Arc<GameTable>, id: u32 },
    Device { table: Arc<GameTable>, person: u32, device: u32 },
    Join { table: Arc<GameTable> },
    Waiting { table: Arc<GameTable>, request: u32 },
}

/// The people of a table.
struct Lobby {
    table: Arc<GameTable>,
    /// True if the join code is accepted.
    open: bool,
    /// True if anybody may watch.
    watch: bool,
    /// The join code.
    code: String,
    invitations: BTreeMap<u32, Invitation>,
    people: BTreeMap<u32, Person>,
    waiting: BTreeMap<u32, WaitingRequest>,
    /// The last number given to an invitation, a person, a device or a request.
    last: u32,
}

struct Invitation {
    hash: String,
    role: Role,
    seats: Vec<String>,
    /// The code, if the invitation is one and has not been used.
    code: Option<OneTimeCode>,
    person: Option<u32>,
    name: Option<Arc<str>>,
    /// True if the campaign stores it.
    kept: bool,
    /// True if it only gives a look: it is exchanged for a token of its own, not for a device of a person.
    look: bool,
    viewers: Vec<Weak<TableViewer>>,
    pace: Arc<Pace>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum OneTimeCode {
    Once,
    Often,
}

struct Person {
    name: Option<Arc<str>>,
    role: Role,
    seats: Vec<String>,
    devices: BTreeMap<u32, Device>,
    pace: Arc<Pace>,
}

struct Device {
    hash: String,
    viewers: Vec<Weak<TableViewer>>,
}

/// A person who has sent the join code.
struct WaitingRequest {
    hash: String,
    name: Arc<str>,
    /// The outbox for the decision of the game master.
    outbox: Weak<Outbox>,
    viewer: u32,
}

/// The person or invitation of a token or code in a `hello`.
pub(super) enum ShownPerson {
    /// The viewer may enter at once.
    Enters { role: Role, by: EntryRight },
    /// A code to exchange for a token.
    Exchanges { hash: String },
    /// A person in the waiting room; with the token, if the person has just come.
    Waits { request: u32, token: Option<String> },
}

/// The right by which a viewer enters.
#[derive(Clone)]
pub(super) enum EntryRight {
    /// None: the operator opened it, or the table lets everybody watch.
    Nothing,
    Invitation(u32),
    Device {
        person: u32,
        device: u32,
    },
}

/// The token and role of a new device.
pub(super) struct Exchanged {
    pub token: String,
    pub role: Role,
    pub by: EntryRight,
}

/// The data of an earlier host about the people of a table.
#[derive(Default)]
pub(super) struct Remembered {
    pub lobby: Option<(bool, bool)>,
    pub port: Option<u16>,
    pub options: TableOptions,
    /// The vote that was open.
    pub vote: Option<Box<KeptVote>>,
    invitations: Vec<Invitation>,
    people: BTreeMap<u32, Person>,
}

fn role_of_words(role: &str, seats: &[String]) -> Option<Role> {
    Role::of_word(role, seats.first().map(String::as_str)).and_then(|role| match role {
        Role::Seat(_) => Role::of_seats(seats),
        other => Some(other),
    })
}

/// Normalizes a name: 1 to 40 characters in one line, without invisible characters and those that change the direction
/// of writing.
///
/// # Errors
///
/// The name is empty after that, or too long.
pub(super) fn cleaned_name(name: &str) -> Result<Arc<str>, Failure> {
    let invisible = |letter: char| {
        letter.is_control()
            || matches!(letter, '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
                | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff0}'..='\u{fffb}' | '\u{e0000}'..='\u{e0fff}')
    };
    // White space of any kind separates words; invisible characters are dropped.
    let spaced: String =
        name.chars().take(1_000).map(|letter| if letter.is_whitespace() { ' ' } else { letter }).collect();
    let visible: String = spaced.chars().filter(|letter| !invisible(*letter)).nfc().collect();
    let words: Vec<&str> = visible.split_whitespace().collect();
    let name = words.join(" ");
    if (1..=MOST_OF_NAME).contains(&name.chars().count()) {
        Ok(name.into())
    } else {
        Err(Failure::BadParams { message: format!("a name has 1 to {MOST_OF_NAME} visible characters") })
    }
}

/// A random code that people can type: 10 letters and digits, without those that look alike.
fn random_code() -> String {
    const LETTERS: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";
    random_bytes()[..10].iter().map(|byte| char::from(LETTERS[usize::from(byte % 32)])).collect()
}

fn is_there(viewer: &Weak<TableViewer>) -> bool {
    viewer.upgrade().is_some_and(|viewer| !viewer.is_gone())
}

fn count(viewers: &[Weak<TableViewer>]) -> u32 {
    viewers.iter().filter(|viewer| is_there(viewer)).count() as u32
}

impl Lobby {
    fn new(table: Arc<GameTable>) -> Lobby {
        Lobby {
            table,
            open: false,
            watch: false,
            code: random_code(),
            invitations: BTreeMap::new(),
            people: BTreeMap::new(),
            waiting: BTreeMap::new(),
            last: 0,
        }
    }

    fn next(&mut self) -> u32 {
        self.last += 1;
        self.last
    }
}

impl Invitation {
    fn change(&self) -> HostChange {
        let (token, role) = (self.hash.clone(), self.role.word().to_owned());
        match self.code {
            None => HostChange::Invited { token, role, seat: self.seats.first().cloned() },
            Some(once) => HostChange::Code {
                token,
                role,
                seats: self.seats.clone(),
                person: self.person,
                name: self.name.as_ref().map(|name| name.to_string()),
                once: once == OneTimeCode::Once,
            },
        }
    }
}

impl Person {
    fn change(&self, person: u32) -> HostChange {
        HostChange::Person {
            person,
            name: self.name.as_ref().map(|name| name.to_string()),
            role: self.role.word().to_owned(),
            seats: self.seats.clone(),
        }
    }

    fn viewers(&self) -> impl Iterator<Item = Arc<TableViewer>> {
        self.devices.values().flat_map(|device| &device.viewers).filter_map(Weak::upgrade)
    }
}

impl Remembered {
    /// Applies a change that an earlier host stored.
    pub fn read(&mut self, change: HostChange) {
        match change {
            HostChange::Paused(_) => {}
            HostChange::Vote(vote) => self.vote = vote,
            HostChange::Port(port) => self.port = Some(port),
            HostChange::Options { undo, odds, delay } => {
                self.options = TableOptions::remembered(&undo, odds, delay);
            }
            HostChange::Lobby { open, watch } => self.lobby = Some((open, watch)),
            HostChange::Invited { token, role, seat } => {
                let seats: Vec<String> = seat.into_iter().collect();
                self.invite(token, &role, seats, None, None, None);
            }
            HostChange::Code { token, role, seats, person, name, once } => {
                let code = Some(if once { OneTimeCode::Once } else { OneTimeCode::Often });
                self.invite(token, &role, seats, code, person, name);
            }
            HostChange::Revoked { token } => self.invitations.retain(|known| known.hash != token),
            HostChange::Person { person, name, role, seats } => {
                let Some(role) = role_of_words(&role, &seats) else { return };
                let devices = self.people.remove(&person).map(|known| known.devices).unwrap_or_default();
                let name = name.map(Arc::from);
                self.people.insert(person, Person { name, role, seats, devices, pace: Arc::default() });
            }
            HostChange::PersonGone { person } => drop(self.people.remove(&person)),
            HostChange::Device { person, device, token } => {
                if let Some(person) = self.people.get_mut(&person) {
                    person.devices.insert(device, Device { hash: token, viewers: Vec::new() });
                }
            }
            HostChange::DeviceGone { device } => {
                self.people.values_mut().for_each(|person| drop(person.devices.remove(&device)));
            }
        }
    }

    fn invite(
        &mut self,
        hash: String,
        role: &str,
        seats: Vec<String>,
        code: Option<OneTimeCode>,
        person: Option<u32>,
        name: Option<String>,
    ) {
        let Some(role) = role_of_words(role, &seats) else { return };
        let name = name.map(Arc::from);
        let (viewers, pace) = (Vec::new(), Arc::default());
        self.invitations.push(Invitation {
            hash,
            role,
            seats,
            code,
            person,
            name,
            kept: true,
            look: false,
            viewers,
            pace,
        });
    }
}

impl Entrance {
    fn lobby(&mut self, table: &Arc<GameTable>) -> &mut Lobby {
        let lobby = self.lobbies.entry(table.name.clone()).or_insert_with(|| Lobby::new(table.clone()));
        if !Arc::ptr_eq(&lobby.table, table) {
            *lobby = Lobby::new(table.clone());
        }
        lobby
    }

    /// Takes over the people of a table that an earlier host stored.
    pub fn remember(&mut self, table: &Arc<GameTable>, remembered: Remembered) {
        let Remembered { lobby: setting, invitations, people, port: _, options: _, vote: _ } = remembered;
        if invitations.is_empty() && people.is_empty() && setting.is_none() {
            return;
        }
        let lobby = self.lobby(table);
        let mut keys = Vec::new();
        if let Some((open, watch)) = setting {
            (lobby.open, lobby.watch) = (open, watch);
            keys.push((hash_of_token(&lobby.code), AccessKey::Join { table: table.clone() }));
        }
        let last = people.iter().flat_map(|(id, person)| person.devices.keys().copied().chain([*id])).max();
        lobby.last = lobby.last.max(last.unwrap_or(0));
        for (person, known) in &people {
            for (device, held) in &known.devices {
                let (person, device) = (*person, *device);
                keys.push((held.hash.clone(), AccessKey::Device { table: table.clone(), person, device }));
            }
        }
        lobby.people.extend(people);
        for invitation in invitations {
            let id = lobby.next();
            keys.push((invitation.hash.clone(), AccessKey::Invitation { table: table.clone(), id }));
            lobby.invitations.insert(id, invitation);
        }
        for (hash, key) in keys {
            self.keys.entry(hash).or_insert(key);
        }
    }

    /// Ends all tokens and codes of a table.
    pub fn forget(&mut self, table: &Arc<GameTable>) {
        self.keys.retain(|_, key| {
            let (AccessKey::Invitation { table: of, .. }
            | AccessKey::Device { table: of, .. }
            | AccessKey::Join { table: of }
            | AccessKey::Waiting { table: of, .. }) = key;
            !Arc::ptr_eq(of, table)
        });
        if self.lobbies.get(&table.name).is_some_and(|lobby| Arc::ptr_eq(&lobby.table, table)) {
            self.lobbies.remove(&table.name);
        }
    }

    /// Returns what the token or the code of a `hello` stands for.
    ///
    /// # Errors
    ///
    /// It is unknown, or there is no room.
    pub fn shown(
        &mut self,
        hello: &Hello,
        outbox: &Arc<Outbox>,
        now: Instant,
    ) -> Result<(Arc<GameTable>, ShownPerson), Failure> {
        let (text, is_code) = match (&hello.token, &hello.code) {
            (Some(token), None) => (token, false),
            (None, Some(code)) => (code, true),
            _ => return Err(Failure::BadParams { message: "`hello` takes either `token` or `code`".into() }),
        };
        if let Some(wait) = self.failures.pause(now).filter(|_| is_code) {
            return Err(Failure::CodesPaused { wait_ms: wait.as_millis() as u64 });
        }
        // A person may type a join code in capitals, or with blanks.
        let typed = |text: &str| text.to_ascii_lowercase().replace([' ', '-'], "");
        let mut hash = hash_of_token(text);
        if is_code && !self.keys.contains_key(&hash) {
            hash = hash_of_token(&typed(text));
        }
        let found = self.keys.get(&hash).cloned().and_then(|key| self.use_of(key, is_code, hash));
        let Some((table, shown)) = found else {
            self.failures.add(now);
            return Err(Failure::UnknownToken);
        };
        let shown = match shown {
            ShownPerson::Waits { request: 0, .. } => self.begin_to_wait(&table, hello, outbox)?,
            ShownPerson::Waits { request, token } => {
                if let Some(waiting) = self.lobby(&table).waiting.get_mut(&request) {
                    waiting.outbox = Arc::downgrade(outbox);
                }
                ShownPerson::Waits { request, token }
            }
            shown => shown,
        };
        Ok((table, shown))
    }

    /// Returns what a key stands for, with its table. Request 0 means a person who has just come.
    fn use_of(&mut self, key: AccessKey, is_code: bool, hash: String) -> Option<(Arc<GameTable>, ShownPerson)> {
        match (key, is_code) {
            (AccessKey::Invitation { table, id }, _) => {
                let invitation = self.lobby(&table).invitations.get(&id)?;
                let shown = match (invitation.code, is_code) {
                    (None, false) => {
                        ShownPerson::Enters { role: invitation.role.clone(), by: EntryRight::Invitation(id) }
                    }
                    (Some(_), true) => ShownPerson::Exchanges { hash },
                    _ => return None,
                };
                Some((table, shown))
            }
            (AccessKey::Device { table, person, device }, false) => {
                let role = self.lobby(&table).people.get(&person)?.role.clone();
                Some((table, ShownPerson::Enters { role, by: EntryRight::Device { person, device } }))
            }
            (AccessKey::Waiting { table, request }, false) => {
                Some((table, ShownPerson::Waits { request, token: None }))
            }
            (AccessKey::Join { table }, true) => {
                let open = self.lobby(&table).open;
                open.then_some((table, ShownPerson::Waits { request: 0, token: None }))
            }
            _ => None,
        }
    }

    fn begin_to_wait(
        &mut self,
        table: &Arc<GameTable>,
        hello: &Hello,
        outbox: &Arc<Outbox>,
    ) -> Result<ShownPerson, Failure> {
        let name = cleaned_name(hello.name.as_deref().unwrap_or("Somebody"))?;
        let lobby = self.lobby(table);
        let mut dropped = None;
        if lobby.waiting.len() >= MOST_WAITING {
            // A person whose connection is closed makes room.
            let left =
                lobby.waiting.iter().find(|(_, waiting)| waiting.outbox.upgrade().is_none_or(|to| to.is_closed()));
            let left = left.map(|(request, _)| *request).ok_or(Failure::Full { what: "the waiting room" })?;
            dropped = lobby.waiting.remove(&left).map(|waiting| waiting.hash);
        }
        let (token, request) = (random_token(), lobby.next());
        let hash = hash_of_token(&token);
        let outbox = Arc::downgrade(outbox);
        lobby.waiting.insert(request, WaitingRequest { hash: hash.clone(), name, outbox, viewer: 0 });
        dropped.and_then(|hash| self.keys.remove(&hash));
        self.keys.insert(hash, AccessKey::Waiting { table: table.clone(), request });
        Ok(ShownPerson::Waits { request, token: Some(token) })
    }

    /// Sets the viewer number under which a person in the waiting room gets the decision.
    pub fn waits_as(&mut self, table: &Arc<GameTable>, request: u32, viewer: u32) {
        if let Some(waiting) = self.lobby(table).waiting.get_mut(&request) {
            waiting.viewer = viewer;
        }
    }

    /// Returns the table that anybody may watch: the named one, or else the only one.
    pub fn watched(&mut self, name: Option<&str>) -> Result<Arc<GameTable>, Failure> {
        let mut watched =
            self.lobbies.values().filter(|lobby| lobby.watch && name.is_none_or(|name| lobby.table.name == *name));
        match (watched.next(), watched.next()) {
            (Some(lobby), None) => Ok(lobby.table.clone()),
            _ => Err(Failure::UnknownToken),
        }
    }

    /// Registers a viewer, so that it leaves when its right ends.
    ///
    /// # Errors
    ///
    /// The right has ended meanwhile.
    pub fn enter(
        &mut self,
        table: &Arc<GameTable>,
        by: &EntryRight,
        viewer: &mut Arc<TableViewer>,
    ) -> Result<(), Failure> {
        let lobby = match by {
            EntryRight::Nothing => return Ok(()),
            _ => self.lobby(table),
        };
        let (viewers, name, pace, look) = match by {
            EntryRight::Nothing => return Ok(()),
            EntryRight::Invitation(id) => {
                let invitation = lobby.invitations.get_mut(id).ok_or(Failure::UnknownToken)?;
                (&mut invitation.viewers, invitation.name.clone(), invitation.pace.clone(), invitation.look)
            }
            EntryRight::Device { person, device } => {
                let person = lobby.people.get_mut(person).ok_or(Failure::UnknownToken)?;
                let device = person.devices.get_mut(device).ok_or(Failure::UnknownToken)?;
                (&mut device.viewers, person.name.clone(), person.pace.clone(), false)
            }
        };
        if let Some(viewer) = Arc::get_mut(viewer) {
            viewer.pace = Some(pace);
            viewer.only_looks = look;
            viewer.is_unseen |= look;
        }
        viewer.set_name(name);
        viewers.retain(is_there);
        viewers.push(Arc::downgrade(viewer));
        Ok(())
    }

    /// Exchanges the code of a look for a token that belongs to no person; `None` for any other code.
    fn exchange_look(&mut self, table: &Arc<GameTable>, code: &str, hash: &str) -> Option<(Role, EntryRight)> {
        let Some(AccessKey::Invitation { id, .. }) = self.keys.get(code).cloned() else { return None };
        let lobby = self.lobby(table);
        let invitation = lobby.invitations.get_mut(&id).filter(|invitation| invitation.look)?;
        (invitation.code, invitation.hash) = (None, hash.to_owned());
        let role = invitation.role.clone();
        self.keys.remove(code);
        self.keys.insert(hash.to_owned(), AccessKey::Invitation { table: table.clone(), id });
        Some((role, EntryRight::Invitation(id)))
    }

    /// The name and seats of a person.
    pub fn described(
        &mut self,
        table: &Arc<GameTable>,
        by: &EntryRight,
    ) -> (Option<u32>, Option<Arc<str>>, Vec<String>) {
        match by {
            EntryRight::Device { person, .. } => match self.lobby(table).people.get(person) {
                Some(known) => (Some(*person), known.name.clone(), known.seats.clone()),
                None => (Some(*person), None, Vec::new()),
            },
            _ => (None, None, Vec::new()),
        }
    }
}

/// The result of `people` for a role.
fn list(lobby: &Lobby, address: Option<String>) -> People {
    People {
        waiting: lobby
            .waiting
            .iter()
            .map(|(request, waiting)| WaitingPerson {
                request: *request,
                name: waiting.name.clone(),
                here: waiting.outbox.upgrade().is_some_and(|outbox| !outbox.is_closed()),
            })
            .collect(),
        people: lobby
            .people
            .iter()
            .map(|(id, person)| PersonReport {
                person: *id,
                name: person.name.clone(),
                role: person.role.name(),
                seats: person.seats.clone(),
                devices: person
                    .devices
                    .iter()
                    .map(|(device, held)| DeviceReport { device: *device, viewers: count(&held.viewers) })
                    .collect(),
            })
            .collect(),
        invitations: lobby
            .invitations
            .iter()
            .filter(|(_, invitation)| invitation.kept)
            .map(|(id, invitation)| InvitationReport {
                id: *id,
                role: invitation.role.name(),
                seats: invitation.seats.clone(),
                code: invitation.code.is_some(),
                person: invitation.person,
                name: invitation.name.clone(),
                viewers: count(&invitation.viewers),
            })
            .collect(),
        lobby: lobby_report(lobby, address),
    }
}

fn lobby_report(lobby: &Lobby, address: Option<String>) -> LobbyReport {
    LobbyReport { open: lobby.open, watch: lobby.watch, code: lobby.open.then(|| lobby.code.clone()), address }
}

/// Sends `bye` to viewers and removes them.
fn send_away(table: &Arc<GameTable>, viewers: Vec<Arc<TableViewer>>, reason: &str) {
    for viewer in viewers {
        tell(&viewer, "bye", &ByeNotice { table: table.name.clone(), reason: reason.to_owned() });
        table.leave(&viewer);
    }
}

fn no(what: &str, number: u32) -> Failure {
    Failure::BadParams { message: format!("there is no {what} {number}; `people` lists them") }
}

impl Host {
    /// Sets the address that players are told to open.
    pub fn set_address(&self, address: impl Into<String>) {
        *lock(&self.shared.address) = Some(address.into());
    }

    fn address(&self) -> Option<String> {
        lock(&self.shared.address).clone()
    }

    /// Notifies the game masters that the list of people has changed, and updates the names at the table.
    fn tell_of_people(&self, table: &Arc<GameTable>) {
        let notice = PeopleNotice { table: table.name.clone() };
        let known: Vec<KnownPerson> = {
            let mut entrance = lock(&self.shared.entrance);
            let people = entrance.lobby(table).people.values();
            let named = |person: &Person| Some((person.role.clone(), person.name.clone()?));
            people.filter_map(named).collect()
        };
        let _ = table.with(|game| {
            game.know_people(known);
            game.tell_masters("people", &notice);
            Ok(())
        });
    }

    /// Like `tell_of_people`, after a message of a person who is at no table yet.
    pub(super) fn people_changed(&self, table: &Arc<GameTable>) {
        self.tell_of_people(table);
    }

    fn seats_of(
        &self,
        table: &Arc<GameTable>,
        role: Option<RoleName>,
        seat: Option<String>,
        mut seats: Vec<String>,
        asks: &Role,
    ) -> Result<(Role, Vec<String>), Failure> {
        seats.extend(seat);
        seats.dedup();
        let role = match (role, seats.is_empty()) {
            (Some(role), _) => role,
            (None, false) => RoleName::Seat,
            (None, true) => return Err(Failure::BadParams { message: "the request needs `role` or `seats`".into() }),
        };
        if role == RoleName::Operator {
            return Err(Failure::forbidden(asks.word(), "the operator's own connection"));
        }
        if role != RoleName::Seat {
            return Ok((role_of(role, None)?, Vec::new()));
        }
        table.with(|game| seats.iter().try_for_each(|seat| must_have_seat(game.session.ruleset(), seat)))?;
        let role = Role::of_seats(&seats);
        Ok((role.ok_or_else(|| Failure::BadParams { message: "the request needs `seat`".into() })?, seats))
    }

    pub(super) fn invite(&self, table: &Arc<GameTable>, asks: &Role, params: &Json) -> Result<Json, Failure> {
        let InviteParams { role, seat, seats, token, kind, person, name, once, kept, look } = read(params)?;
        let kept = kept && !look;
        let name = name.as_deref().map(cleaned_name).transpose()?;
        let (role, seats, name) = match person {
            None => {
                let (role, seats) = self.seats_of(table, role, seat, seats, asks)?;
                (role, seats, name)
            }
            Some(id) => {
                let mut entrance = lock(&self.shared.entrance);
                let known = entrance.lobby(table).people.get(&id).ok_or_else(|| no("person", id))?;
                (known.role.clone(), known.seats.clone(), known.name.clone())
            }
        };
        let is_code = kind == InvitationKind::Code;
        if person.is_some() && !is_code {
            return Err(Failure::BadParams { message: "`person` takes the `kind` `code`".into() });
        }
        if seats.len() > 1 && !is_code {
            return Err(Failure::BadParams {
                message: "a token is for one seat; several seats take the `kind` `code`".into(),
            });
        }
        if look && (!is_code || seats.is_empty() || person.is_some()) {
            return Err(Failure::BadParams { message: "`look` takes the `kind` `code`, and seats".into() });
        }
        let token = match token {
            Some(token) => {
                asks.must_be_operator()?;
                if !(8..=128).contains(&token.chars().count()) {
                    return Err(Failure::BadParams { message: "a token has 8 to 128 characters".into() });
                }
                token
            }
            None => random_token(),
        };
        let hash = hash_of_token(&token);
        if lock(&self.shared.entrance).keys.contains_key(&hash) {
            return Err(Failure::BadParams { message: "there is an invitation with this token already".into() });
        }
        let code = is_code.then_some(if once { OneTimeCode::Once } else { OneTimeCode::Often });
        let (viewers, pace) = (Vec::new(), Arc::default());
        let invitation = Invitation { hash: hash.clone(), role, seats, code, person, name, kept, look, viewers, pace };
        if kept {
            table.with(|game| game.note_change(invitation.change()))?;
        }
        let id = {
            let mut entrance = lock(&self.shared.entrance);
            let lobby = entrance.lobby(table);
            let id = lobby.next();
            lobby.invitations.insert(id, invitation);
            entrance.keys.insert(hash, AccessKey::Invitation { table: table.clone(), id });
            id
        };
        self.tell_of_people(table);
        written(match is_code {
            true => InvitationResult { id: Some(id), token: None, code: Some(token) },
            false => InvitationResult { id: None, token: Some(token), code: None },
        })
    }

    pub(super) fn revoke(&self, table: &Arc<GameTable>, params: &Json) -> Result<Json, Failure> {
        let RevokeParams { token, id, person, device } = read(params)?;
        match (token, id, person, device) {
            (Some(token), None, None, None) => {
                let found = lock(&self.shared.entrance).keys.get(&hash_of_token(&token)).cloned();
                match found {
                    Some(AccessKey::Invitation { table: of, id }) if Arc::ptr_eq(&of, table) => {
                        self.end_invitation(table, id)?
                    }
                    Some(AccessKey::Device { table: of, device, .. }) if Arc::ptr_eq(&of, table) => {
                        self.end_device(table, device)?
                    }
                    _ => return Err(Failure::UnknownToken),
                }
            }
            (None, Some(id), None, None) => self.end_invitation(table, id)?,
            (None, None, Some(person), None) => self.end_person(table, person)?,
            (None, None, None, Some(device)) => self.end_device(table, device)?,
            _ => {
                let message = "`revoke` takes one of `token`, `id`, `person` and `device`".into();
                return Err(Failure::BadParams { message });
            }
        }
        self.tell_of_people(table);
        Ok(Json::Object(serde_json::Map::new()))
    }

    fn end_invitation(&self, table: &Arc<GameTable>, id: u32) -> Result<(), Failure> {
        let hash = {
            let mut entrance = lock(&self.shared.entrance);
            entrance.lobby(table).invitations.get(&id).ok_or_else(|| no("invitation", id))?.hash.clone()
        };
        // If an invitation cannot be revoked on disk, it stays valid.
        table.with(|game| game.note_change(HostChange::Revoked { token: hash.clone() }))?;
        let ended = {
            let mut entrance = lock(&self.shared.entrance);
            entrance.keys.remove(&hash);
            entrance.lobby(table).invitations.remove(&id)
        };
        let viewers = ended.into_iter().flat_map(|ended| ended.viewers).filter_map(|viewer| viewer.upgrade()).collect();
        send_away(table, viewers, "the invitation was revoked");
        Ok(())
    }

    fn end_device(&self, table: &Arc<GameTable>, device: u32) -> Result<(), Failure> {
        let known = |lobby: &Lobby| lobby.people.values().any(|person| person.devices.contains_key(&device));
        if !known(lock(&self.shared.entrance).lobby(table)) {
            return Err(no("device", device));
        }
        table.with(|game| game.note_change(HostChange::DeviceGone { device }))?;
        let ended = {
            let mut entrance = lock(&self.shared.entrance);
            let ended = entrance.lobby(table).people.values_mut().find_map(|person| person.devices.remove(&device));
            ended.inspect(|ended| drop(entrance.keys.remove(&ended.hash)))
        };
        let viewers = ended.into_iter().flat_map(|ended| ended.viewers).filter_map(|viewer| viewer.upgrade()).collect();
        send_away(table, viewers, "the game master has taken this device away");
        Ok(())
    }

    fn end_person(&self, table: &Arc<GameTable>, person: u32) -> Result<(), Failure> {
        if !lock(&self.shared.entrance).lobby(table).people.contains_key(&person) {
            return Err(no("person", person));
        }
        table.with(|game| game.note_change(HostChange::PersonGone { person }))?;
        let ended = {
            let mut entrance = lock(&self.shared.entrance);
            let ended = entrance.lobby(table).people.remove(&person);
            for device in ended.iter().flat_map(|ended| ended.devices.values()) {
                entrance.keys.remove(&device.hash);
            }
            ended
        };
        let viewers = ended.iter().flat_map(Person::viewers).collect();
        send_away(table, viewers, "the game master has taken your place away");
        Ok(())
    }

    /// Exchanges the code of an invitation for the token of a new device.
    ///
    /// # Errors
    ///
    /// The code was used meanwhile, or the person has too many devices.
    pub(super) fn exchange(
        &self,
        table: &Arc<GameTable>,
        code: &str,
        name: Option<&str>,
    ) -> Result<Exchanged, Failure> {
        let given = name.map(cleaned_name).transpose()?;
        let token = random_token();
        let hash = hash_of_token(&token);
        if let Some((role, by)) = lock(&self.shared.entrance).exchange_look(table, code, &hash) {
            return Ok(Exchanged { token, role, by });
        }
        let (id, once, kept, person, device, mut changes, dropped) = {
            let mut entrance = lock(&self.shared.entrance);
            let Some(AccessKey::Invitation { id, .. }) = entrance.keys.get(code).cloned() else {
                return Err(Failure::UnknownToken);
            };
            let lobby = entrance.lobby(table);
            let Some(invitation) = lobby.invitations.get(&id) else { return Err(Failure::UnknownToken) };
            let (once, kept) = (invitation.code == Some(OneTimeCode::Once), invitation.kept);
            let known = invitation.person.filter(|person| lobby.people.contains_key(person));
            let (role, seats) = (invitation.role.clone(), invitation.seats.clone());
            let name = invitation.name.clone().or(given);
            let (mut changes, mut dropped) = (Vec::new(), None);
            let person = match known {
                Some(person) => {
                    let devices = &lobby.people[&person].devices;
                    if devices.len() >= MOST_DEVICES {
                        // The oldest unused device makes room.
                        let unused = devices.iter().find(|(_, device)| !device.viewers.iter().any(is_there));
                        let unused = *unused.ok_or(Failure::Full { what: "devices of this person" })?.0;
                        changes.push(HostChange::DeviceGone { device: unused });
                        dropped = Some(unused);
                    }
                    person
                }
                None if lobby.people.len() >= MOST_PEOPLE => {
                    return Err(Failure::Full { what: "people of this table" });
                }
                None => {
                    let person = lobby.next();
                    let new = Person { name, role, seats, devices: BTreeMap::new(), pace: Arc::default() };
                    changes.push(new.change(person));
                    person
                }
            };
            let device = lobby.next();
            changes.push(HostChange::Device { person, device, token: hash.clone() });
            (id, once, kept, person, device, changes, dropped)
        };
        if once && kept {
            changes.push(HostChange::Revoked { token: code.to_owned() });
        }
        // First on disk, then in memory: a token that was sent is still valid after a restart.
        let kept_changes = changes.clone();
        table.with(|game| game.note_changes(kept_changes))?;
        let mut entrance = lock(&self.shared.entrance);
        let lobby = entrance.lobby(table);
        let mut remembered = Remembered { people: std::mem::take(&mut lobby.people), ..Remembered::default() };
        let old = dropped.and_then(|unused| {
            remembered.people.values().find_map(|person| person.devices.get(&unused)).map(|device| device.hash.clone())
        });
        changes.into_iter().for_each(|change| remembered.read(change));
        lobby.people = remembered.people;
        if once {
            lobby.invitations.remove(&id);
        } else if let Some(invitation) = lobby.invitations.get_mut(&id) {
            invitation.person = Some(person);
        }
        let role = lobby.people.get(&person).ok_or(Failure::UnknownToken)?.role.clone();
        if once {
            entrance.keys.remove(code);
        }
        old.and_then(|hash| entrance.keys.remove(&hash));
        entrance.keys.insert(hash, AccessKey::Device { table: table.clone(), person, device });
        Ok(Exchanged { token, role, by: EntryRight::Device { person, device } })
    }

    pub(super) fn admit(&self, table: &Arc<GameTable>, asks: &Role, params: &Json) -> Result<Json, Failure> {
        let AdmitParams { request, role, seat, seats, person, refuse } = read(params)?;
        let waiting =
            |lobby: &Lobby| lobby.waiting.get(&request).map(|waiting| (waiting.hash.clone(), waiting.name.clone()));
        let (hash, name) = waiting(lock(&self.shared.entrance).lobby(table)).ok_or_else(|| no("request", request))?;
        let mut told = None;
        if !refuse {
            let new = match person {
                None => Some(self.seats_of(table, role, seat, seats, asks)?),
                Some(_) => None,
            };
            let (person, device, changes) = {
                let mut entrance = lock(&self.shared.entrance);
                let lobby = entrance.lobby(table);
                let (device, mut changes) = (lobby.next(), Vec::new());
                let person = match (person, new) {
                    (Some(id), _) => {
                        let known = lobby.people.get(&id).ok_or_else(|| no("person", id))?;
                        if known.devices.len() >= MOST_DEVICES {
                            return Err(Failure::Full { what: "devices of this person" });
                        }
                        id
                    }
                    (None, Some((role, seats))) => {
                        if lobby.people.len() >= MOST_PEOPLE {
                            return Err(Failure::Full { what: "people of this table" });
                        }
                        let id = lobby.next();
                        let devices = BTreeMap::new();
                        changes
                            .push(Person { name: Some(name), role, seats, devices, pace: Arc::default() }.change(id));
                        id
                    }
                    (None, None) => return Err(Failure::internal("neither a person nor a role")),
                };
                changes.push(HostChange::Device { person, device, token: hash.clone() });
                (person, device, changes)
            };
            let kept_changes = changes.clone();
            table.with(|game| game.note_changes(kept_changes))?;
            let mut entrance = lock(&self.shared.entrance);
            let lobby = entrance.lobby(table);
            let mut remembered = Remembered { people: std::mem::take(&mut lobby.people), ..Remembered::default() };
            changes.into_iter().for_each(|change| remembered.read(change));
            lobby.people = remembered.people;
            entrance.keys.insert(hash.clone(), AccessKey::Device { table: table.clone(), person, device });
            told = Some(person);
        }
        let waited = {
            let mut entrance = lock(&self.shared.entrance);
            if refuse {
                entrance.keys.remove(&hash);
            }
            entrance.lobby(table).waiting.remove(&request)
        };
        if let Some((outbox, viewer)) = waited.and_then(|waited| Some((waited.outbox.upgrade()?, waited.viewer))) {
            let body = serde_json::json!({ "admitted": !refuse }).to_string();
            outbox.reply(line_to(viewer, "admitted", &body));
        }
        self.tell_of_people(table);
        written(Admitted { person: told })
    }

    pub(super) fn person(&self, table: &Arc<GameTable>, asks: &Role, params: &Json) -> Result<Json, Failure> {
        let PersonParams { person: id, name, role, seat, seats } = read(params)?;
        let name = name.as_deref().map(cleaned_name).transpose()?;
        let new = match role.is_some() || seat.is_some() || !seats.is_empty() {
            true => Some(self.seats_of(table, role, seat, seats, asks)?),
            false => None,
        };
        self.change_person(table, id, |person| {
            if let Some(name) = name {
                person.name = Some(name);
            }
            if let Some((role, seats)) = new {
                (person.role, person.seats) = (role, seats);
            }
        })?;
        Ok(Json::Object(serde_json::Map::new()))
    }

    /// Changes a person, on disk first. If the seats change, the person's viewers have to send `hello` again.
    fn change_person(&self, table: &Arc<GameTable>, id: u32, change: impl FnOnce(&mut Person)) -> Result<(), Failure> {
        let changed = {
            let mut entrance = lock(&self.shared.entrance);
            let known = entrance.lobby(table).people.get(&id).ok_or_else(|| no("person", id))?;
            let (name, role, seats) = (known.name.clone(), known.role.clone(), known.seats.clone());
            let mut changed = Person { name, role, seats, devices: BTreeMap::new(), pace: Arc::default() };
            change(&mut changed);
            changed
        };
        table.with(|game| game.note_change(changed.change(id)))?;
        let (viewers, moved) = {
            let mut entrance = lock(&self.shared.entrance);
            let known = entrance.lobby(table).people.get_mut(&id).ok_or_else(|| no("person", id))?;
            let moved = known.role != changed.role || known.seats != changed.seats;
            (known.name, known.role, known.seats) = (changed.name.clone(), changed.role, changed.seats);
            (known.viewers().collect::<Vec<_>>(), moved)
        };
        if moved {
            send_away(table, viewers, "the game master has given you other seats; say hello again");
        } else {
            viewers.iter().for_each(|viewer| viewer.set_name(changed.name.clone()));
            table.with(|game| {
                game.tell_all_presence();
                Ok(())
            })?;
        }
        self.tell_of_people(table);
        Ok(())
    }

    pub(super) fn name(
        &self,
        table: &Arc<GameTable>,
        viewer: Option<&Arc<TableViewer>>,
        params: &Json,
    ) -> Result<Json, Failure> {
        let NameParams { name } = read(params)?;
        let name = cleaned_name(&name)?;
        let viewer = viewer.ok_or_else(|| Failure::BadParams { message: "the request needs `viewer`".into() })?;
        let of = |lobby: &Lobby| {
            let is =
                |device: &Device| device.viewers.iter().any(|held| std::ptr::eq(held.as_ptr(), Arc::as_ptr(viewer)));
            lobby.people.iter().find(|(_, person)| person.devices.values().any(is)).map(|(id, _)| *id)
        };
        let person = of(lock(&self.shared.entrance).lobby(table));
        let no_person =
            || Failure::Unavailable { reason: "nobody came by this token in person: it has no name".into() };
        self.change_person(table, person.ok_or_else(no_person)?, |person| person.name = Some(name.clone()))?;
        written(Named { name })
    }

    pub(super) fn people(&self, table: &Arc<GameTable>) -> Result<Json, Failure> {
        let address = self.address();
        written(list(lock(&self.shared.entrance).lobby(table), address))
    }

    pub(super) fn lobby(&self, table: &Arc<GameTable>, role: &Role, params: &Json) -> Result<Json, Failure> {
        let LobbyParams { open, watch, renew } = read(params)?;
        if open.is_some() || watch.is_some() || renew {
            role.must_be_master()?;
            let (open, watch) = {
                let mut entrance = lock(&self.shared.entrance);
                let lobby = entrance.lobby(table);
                (open.unwrap_or(lobby.open), watch.unwrap_or(lobby.watch))
            };
            table.with(|game| game.note_change(HostChange::Lobby { open, watch }))?;
            self.set_lobby(table, open, watch, renew);
            if !watch {
                table.with(|game| {
                    game.send_away_guests();
                    Ok(())
                })?;
            }
            self.tell_of_people(table);
        }
        let address = self.address();
        written(lobby_report(lock(&self.shared.entrance).lobby(table), address))
    }

    fn set_lobby(&self, table: &Arc<GameTable>, open: bool, watch: bool, renew: bool) {
        let mut entrance = lock(&self.shared.entrance);
        let lobby = entrance.lobby(table);
        (lobby.open, lobby.watch) = (open, watch);
        let old = renew.then(|| std::mem::replace(&mut lobby.code, random_code()));
        let code = hash_of_token(&lobby.code);
        old.and_then(|old| entrance.keys.remove(&hash_of_token(&old)));
        entrance.keys.insert(code, AccessKey::Join { table: table.clone() });
    }

    /// Opens the waiting room of a table and lets everybody watch, unless its campaign stores another setting.
    ///
    /// # Errors
    ///
    /// The table does not exist.
    pub fn open_lobby(&self, table: &str) -> Result<(), String> {
        let table = self.table(table).map_err(|failure| failure.to_string())?;
        let remembered = table.with(|game| Ok(game.remembered_lobby())).map_err(|failure| failure.to_string())?;
        let (open, watch) = remembered.unwrap_or((true, true));
        self.set_lobby(&table, open, watch, false);
        Ok(())
    }

    /// The port at which the table was last served, if its campaign stores one.
    pub fn port_of(&self, table: &str) -> Option<u16> {
        self.table(table).ok()?.with(|game| Ok(game.port())).ok().flatten()
    }

    /// Stores the port of a table in its campaign.
    ///
    /// # Errors
    ///
    /// The file cannot be written, or the table does not exist.
    pub fn keep_port(&self, table: &str, port: u16) -> Result<(), String> {
        let table = self.table(table).map_err(|failure| failure.to_string())?;
        table.with(|game| game.keep_port(port)).map_err(|failure| failure.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn c3_14_names_have_1_to_40_characters_and_none_that_is_invisible() {
        let cleaned = |name: &str| cleaned_name(name).map(|name| name.to_string()).ok();
        assert_eq!(cleaned("  Ann\t of\u{202e}  Lorch \n"), Some("Ann of Lorch".into()));
        assert_eq!(cleaned("Jose\u{301}"), Some("José".into()));
        assert_eq!(cleaned("<b>Zoë</b> 🐉"), Some("<b>Zoë</b> 🐉".into()));
        assert_eq!(cleaned(&"x".repeat(40)).map(|name| name.len()), Some(40));
        for wrong in ["", "  ", "\u{200b}\u{feff}", "\u{7}", &"x".repeat(41), &"\u{200b}".repeat(5_000)] {
            assert_eq!(cleaned(wrong), None, "{wrong:?}");
        }
    }

    #[test]
    fn a_join_code_can_be_typed() {
        let code = random_code();
        assert!(
            code.len() == 10 && code.chars().all(|letter| letter.is_ascii_alphanumeric() && !"ilou".contains(letter))
        );
        assert_ne!(code, random_code());
    }
}
