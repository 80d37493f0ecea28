//! How people join a table: invitations, codes, the waiting room, and persons with their devices.
//!
//! A *token* can open any number of viewers. It belongs to an invitation, or to one device of a person. A *code* is
//! exchanged for the token of a new device: that of an invitation at once, that of the table (the join code) through
//! the waiting room, where a game master admits people. All rights are stored here. Tokens and codes are stored as
//! hashes; only the join code is stored in clear, in memory, since everybody at the table may show it to others.

mod requests;

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Weak};
use std::time::Instant;

use unicode_normalization::UnicodeNormalization as _;

use super::error::Failure;
use super::messages::{Hello, KEYS_KEPT};
use super::options::TableOptions;
use super::outbox::Outbox;
use super::pace::{Failures, Pace};
use super::random::{hash_of_token, random_bytes, random_token};
use super::role::Role;
use super::table::{GameTable, TableGame};
use super::viewer::TableViewer;
use riskbreaker_store::{HostChange, HostMemory, KeptResult, KeptVote};

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
fn cleaned_name(name: &str) -> Result<Arc<str>, Failure> {
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

impl TableGame {
    /// Takes over what an earlier host stored in the campaign: the pause and the results by key. Returns the people and
    /// the valid invitations.
    pub fn remember(&mut self) -> Result<Remembered, Failure> {
        let mut remembered = Remembered::default();
        let Some(keeper) = &self.keeper else { return Ok(remembered) };
        let HostMemory { results, changes } = keeper.memory(KEYS_KEPT)?;
        for KeptResult { by: (role, seat), key, request, result } in results {
            if let Some(role) = Role::of_word(&role, seat.as_deref()) {
                self.keep(&role, &key, request, result);
            }
        }
        let mut paused = self.is_paused();
        for change in changes {
            match change {
                HostChange::Paused(now) => paused = now,
                change => remembered.read(change),
            }
        }
        let (of_table, vote) = ((remembered.port, remembered.lobby), remembered.vote.take());
        self.take_over(paused, remembered.options.clone(), of_table, vote);
        Ok(remembered)
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
