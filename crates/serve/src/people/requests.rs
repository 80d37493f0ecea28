//! Handles the requests that concern the people of a table.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::Value as Json;

use super::{
    AccessKey, Device, EntryRight, Exchanged, Invitation, Lobby, OneTimeCode, Person, Remembered, cleaned_name, count,
    is_there, random_code,
};
use crate::error::Failure;
use crate::host::{Host, lock};
use crate::messages::*;
use crate::params::{must_have_seat, read, role_of, written};
use crate::random::{hash_of_token, random_token};
use crate::role::{Role, RoleName};
use crate::table::{GameTable, KnownPerson, line_to, tell};
use crate::viewer::TableViewer;
use riskbreaker_store::HostChange;

/// The most devices of a person.
const MOST_DEVICES: usize = 8;
/// The most persons of a table.
const MOST_PEOPLE: usize = 200;

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
    pub(crate) fn people_changed(&self, table: &Arc<GameTable>) {
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

    pub(crate) fn invite(&self, table: &Arc<GameTable>, asks: &Role, params: &Json) -> Result<Json, Failure> {
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

    pub(crate) fn revoke(&self, table: &Arc<GameTable>, params: &Json) -> Result<Json, Failure> {
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
    pub(crate) fn exchange(
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

    pub(crate) fn admit(&self, table: &Arc<GameTable>, asks: &Role, params: &Json) -> Result<Json, Failure> {
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

    pub(crate) fn person(&self, table: &Arc<GameTable>, asks: &Role, params: &Json) -> Result<Json, Failure> {
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

    pub(crate) fn name(
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

    pub(crate) fn people(&self, table: &Arc<GameTable>) -> Result<Json, Failure> {
        let address = self.address();
        written(list(lock(&self.shared.entrance).lobby(table), address))
    }

    pub(crate) fn lobby(&self, table: &Arc<GameTable>, role: &Role, params: &Json) -> Result<Json, Failure> {
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
