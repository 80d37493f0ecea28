//! A game that goes over to the rules of another ruleset: looked at first, done at a boundary, taken back by one undo.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::Serialize;

use super::action::{Cause, Done};
use super::game::{Game, Op, Turned};
use super::reload::{InForce, Passed, Swap, patch_between};
use super::{Desk, Driver, Event, Fault, Happening, Session, SessionError, Slot};
use crate::ruleset::Ruleset;
use crate::script::Former;
use crate::state::{Belongings, Converted, EntityId, Orphans, Schema, State, Value};

/// What other rules would do to a game, or did.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Transfer {
    /// The ruleset in force.
    pub from: String,
    /// The ruleset that is to come into force.
    pub to: String,
    /// What becomes of what; what somebody has to look at comes first.
    pub notes: Vec<TransferNote>,
    /// The agenda entry that it waits for; nothing where it comes into force with the next [`Session::advance`].
    pub waits_for: Option<String>,
}

/// What becomes of one thing under other rules.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct TransferNote {
    pub fate: TransferFate,
    /// What it is about: a kind, the title of an entity, or a word of the ruleset.
    pub topic: String,
    pub text: String,
    /// The rule that is broken, for a breach.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rule: Option<String>,
}

/// What becomes of a thing under other rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum TransferFate {
    /// The other rules cannot hold it: they do not come into force before it is changed.
    Refused,
    /// It breaks a rule of the other ruleset, and is taken over all the same.
    Breach,
    /// The game master has to look after it.
    Decide,
    Carried,
    /// The old rules do not have it.
    Defaulted,
    /// It was kept aside, and is there again.
    Returned,
    /// The new rules have no place for it: it is kept aside until rules come that have one.
    Dormant,
}

/// Why a game cannot go over to other rules. Nothing has changed then.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TransferError {
    #[error("{0} is in force already")]
    Same(String),
    #[error(
        "there is no way from {from} to {to}: {to} has no convert/{from}.luau, and there is no ruleset that both of them extend"
    )]
    NoWay { from: String, to: String },
    #[error("the game is over")]
    Over,
    #[error("the game has not begun: advance it first")]
    NotBegun,
    #[error("no other rules are to come into force")]
    NothingPending,
    /// The notes say what is in the way.
    #[error("{to} cannot hold this game: {}", reasons(.notes))]
    Refused { to: String, notes: Vec<TransferNote> },
    /// The script that converts the state did something wrong.
    #[error(transparent)]
    Fault(#[from] Fault),
}

/// Rules that are to come into force at the next boundary.
#[derive(Clone, Debug)]
pub(crate) struct Pending {
    pub rules: Arc<Ruleset>,
    /// The number of the next decision when they were asked for.
    pub asked_at: u32,
}

/// A game as other rules have it, not yet in force.
struct Ready {
    transfer: Transfer,
    desk: Desk,
}

/// How a state gets from one ruleset to another.
enum Way {
    /// Kinds and fields mean the same in both.
    ByName,
    /// By a file of `convert/`, named after this ruleset.
    Convert(String),
}

fn reasons(notes: &[TransferNote]) -> String {
    notes.iter().map(|note| format!("{}: {}", note.topic, note.text)).collect::<Vec<_>>().join("; ")
}

impl TransferFate {
    pub(crate) fn named(name: &str) -> Option<TransferFate> {
        Some(match name {
            "refused" => TransferFate::Refused,
            "breach" => TransferFate::Breach,
            "decide" => TransferFate::Decide,
            "carried" => TransferFate::Carried,
            "defaulted" => TransferFate::Defaulted,
            "returned" => TransferFate::Returned,
            "dormant" => TransferFate::Dormant,
            _ => return None,
        })
    }

    /// The word for it in a table.
    pub fn word(self) -> &'static str {
        match self {
            TransferFate::Refused => "refused",
            TransferFate::Breach => "breach",
            TransferFate::Decide => "to decide",
            TransferFate::Carried => "carried",
            TransferFate::Defaulted => "new",
            TransferFate::Returned => "there again",
            TransferFate::Dormant => "kept aside",
        }
    }
}

impl Transfer {
    /// The notes of one fate.
    pub fn of(&self, fate: TransferFate) -> impl Iterator<Item = &TransferNote> {
        self.notes.iter().filter(move |note| note.fate == fate)
    }

    /// Whether the game as it stands cannot go over.
    pub fn is_refused(&self) -> bool {
        self.of(TransferFate::Refused).next().is_some()
    }

    fn allowed(self) -> Result<Transfer, TransferError> {
        if self.is_refused() {
            let notes = self.of(TransferFate::Refused).cloned().collect();
            return Err(TransferError::Refused { to: self.to, notes });
        }
        Ok(self)
    }
}

impl Session {
    /// What the rules of another ruleset would do to the game as it stands. Nothing changes.
    ///
    /// # Errors
    ///
    /// No way leads there, or the script that converts the state fails.
    pub fn preview_rules(&self, to: &Arc<Ruleset>) -> Result<Transfer, TransferError> {
        Ok(self.game().prepare(to)?.transfer)
    }

    /// Asks for the rules of another ruleset. They come into force with the [`Session::advance`] that reaches the boundary
    /// which the ruleset in force declares (between two actions if it declares none), as one entry of the game: one
    /// [`Session::undo`] takes it back whole. Until then they are [`Session::pending_rules`].
    ///
    /// # Errors
    ///
    /// As [`Session::preview_rules`], and a state that the other rules cannot hold. Nothing has changed then.
    pub fn change_rules(&mut self, to: &Arc<Ruleset>) -> Result<Transfer, TransferError> {
        let transfer = self.preview_rules(to)?.allowed()?;
        self.game_mut().ask_for(to.clone());
        Ok(transfer)
    }

    /// The rules that are to come into force at the next boundary.
    pub fn pending_rules(&self) -> Option<&Arc<Ruleset>> {
        self.game().pending.as_ref().map(|pending| &pending.rules)
    }

    /// Calls off what [`Session::change_rules`] asked for, as long as it has not come into force.
    ///
    /// # Errors
    ///
    /// [`TransferError::NothingPending`].
    pub fn keep_rules(&mut self) -> Result<(), TransferError> {
        self.game_mut().pending.take().map(|_| ()).ok_or(TransferError::NothingPending)
    }

    /// Puts the rules in force that were asked for, now that their boundary is reached.
    pub(super) fn put_in_force(&mut self) {
        let Some(pending) = self.game_mut().pending.take() else { return };
        if let Err(error) = self.go_over(&pending.rules) {
            let id = pending.rules.id();
            self.game_mut().notice(&format!("{id} does not come into force: {error}"));
        }
    }

    /// Goes over to other rules at once.
    pub(super) fn go_over(&mut self, to: &Arc<Ruleset>) -> Result<(), TransferError> {
        let ready = self.game().prepare(to)?;
        let transfer = ready.transfer.allowed()?;
        self.game_mut().install(Ready { transfer, desk: ready.desk });
        self.set_rules(to.clone());
        Ok(())
    }

    /// As [`Session::advance`], but stops at the boundary that other rules wait for.
    pub(super) fn advance_within(&mut self) -> Result<super::Step, SessionError> {
        let standing = self.lend(|game, vm| game.advance(vm, u64::MAX))?;
        Ok(standing.into())
    }
}

impl Game {
    fn ask_for(&mut self, rules: Arc<Ruleset>) {
        self.forget_undone();
        self.pending = Some(Pending { rules, asked_at: self.next_seq });
    }

    /// Calls off the rules that were asked for, if that is the last thing that was done.
    pub(super) fn undo_asking(&mut self) -> Option<Turned> {
        let pending = self.pending.take_if(|pending| pending.asked_at == self.next_seq)?;
        let text = format!("undid asking for {}", pending.rules.id());
        self.push_redo(Op::Rules(pending.rules));
        Some(Turned { text, changes: Vec::new() })
    }

    /// Asks once more for rules that an undo took back.
    pub(super) fn redo_asking(&mut self, rules: Arc<Ruleset>) -> Result<String, super::Refusal> {
        let allowed = self.prepare(&rules).and_then(|ready| ready.transfer.allowed());
        allowed.map_err(|error| super::Refusal::new(error.to_string()))?;
        let text = format!("redid the change to {}", rules.id());
        self.pending = Some(Pending { rules, asked_at: self.next_seq });
        Ok(text)
    }

    /// Whether other rules can come into force here: before the entry that the ruleset declares, of which nothing has been
    /// answered or rolled yet; between any two actions where no such entry is due.
    pub(super) fn at_boundary(&self) -> bool {
        if self.desk.state.outcome().is_some() || !self.held.is_empty() || self.has_queued() {
            return false;
        }
        let agenda = self.desk.state.agenda();
        let boundary = self.desk.rules.blueprint().boundary.as_deref();
        let is_boundary = |what: &str| boundary == Some(what);
        let Some(open) = &self.open else {
            let due = boundary.is_some_and(|boundary| agenda.entries().iter().any(|entry| &*entry.what == boundary));
            return agenda.first().is_some_and(|first| !due || is_boundary(&first.what));
        };
        let untouched = open.tape.slots.iter().flatten().all(|slot| match slot {
            Slot::Roll { .. } => false,
            Slot::Answer { .. } => slot.seq().is_none(),
        });
        let Cause::Entry { what, .. } = &open.cause else { return false };
        untouched && (is_boundary(what) || !self.boundary_is_due())
    }

    /// Whether the entry that other rules wait for is on the agenda as it stood before the open action.
    fn boundary_is_due(&self) -> bool {
        let Some(boundary) = self.desk.rules.blueprint().boundary.as_deref() else { return false };
        let state = self.desk.state.before_journal();
        state.agenda().entries().iter().any(|entry| &*entry.what == boundary)
    }

    /// The game as other rules would have it. What is still to come before the boundary is left out.
    fn prepare(&self, to: &Arc<Ruleset>) -> Result<Ready, TransferError> {
        let from = &self.desk.rules;
        if self.desk.state.outcome().is_some() && self.open.is_none() {
            return Err(TransferError::Over);
        }
        if self.history.is_empty() {
            return Err(TransferError::NotBegun);
        }
        if to.hash() == from.hash() {
            return Err(TransferError::Same(to.id().to_string()));
        }
        let way = way(from, to)?;
        if let Some(ready) = self.straight_back(to) {
            return Ok(ready);
        }
        let mut state = self.desk.state.before_journal();
        let waits_for = if self.at_boundary() { None } else { from.blueprint().boundary.clone() };
        let due = state.agenda().entries().iter().position(|entry| Some(&entry.what) == waits_for.as_ref());
        for entry in state.agenda().entries()[..due.unwrap_or(0)].to_vec() {
            state.unschedule(entry.id);
        }
        state.settle_unread();
        let parts = to.parts();
        let orphans = Orphans::Shelve { parts: &parts };
        let converted = state.converted(from.schema(), to.schema(), orphans);
        let (mut new, _told): (State, Converted) =
            converted.map_err(|message| TransferError::Fault(Fault::new(message)))?;
        let known_hook = |hook: &str| {
            to.hooks().iter().any(|known| **known == *hook) || to.items().iter().any(|item| *item.id == *hook)
        };
        let belongings = new.sort_belongings(&|what| to.has_entry(what), &known_hook);
        let mut notes = Vec::new();
        let switches = self.switches_under(to, &mut new, &mut notes);
        let seats = self.seats_under(to, &mut notes);
        let mut desk = Desk::new(to, switches, seats, self.desk.dice.clone(), 0);
        desk.listening = false;
        desk.state = new;
        if let Way::Convert(ruleset) = way {
            let (switches, schema) = (self.desk.switches.clone(), from.schema().clone());
            let former = Former { ruleset, switches, state: state.clone(), schema };
            let ran = to.engine().run(move |vm| {
                let result = vm.convert(&mut desk, &former);
                (desk, result)
            });
            let died = |_| TransferError::Fault(Fault::new(format!("the script worker of {} has died", to.id())));
            let (changed, result) = ran.map_err(died)?;
            result?;
            desk = changed;
            desk.state.settle_unread();
        }
        notes.append(&mut desk.notes);
        Comparison { old: &state, old_schema: from.schema(), desk: &desk }.tell(&belongings, &mut notes);
        notes.sort_by_key(|note| note.fate);
        let (from, to) = (from.id().to_string(), to.id().to_string());
        let transfer = Transfer { from, to, notes, waits_for: waits_for.map(|what| what.to_string()) };
        Ok(Ready { transfer, desk })
    }

    /// The game as it was before the last change of rules, where those rules are wanted back and nothing has been done since.
    fn straight_back(&self, to: &Arc<Ruleset>) -> Option<Ready> {
        let untouched = self.at_boundary() && self.open.as_ref().is_none_or(|open| open.seq.is_none());
        let last = self.history.last().filter(|last| untouched && matches!(last.cause, Cause::Rules { .. }))?;
        let before = last.swap.as_ref()?;
        let in_force = before.in_force.as_ref().filter(|in_force| in_force.rules.hash() == to.hash())?;
        let (switches, seats) = (in_force.switches.clone(), self.desk.seats.clone());
        let mut desk = Desk::new(to, switches, seats, self.desk.dice.clone(), 0);
        desk.state = before.state.clone();
        let text = "as it was: nothing has been done since the rules changed".to_owned();
        let notes = vec![TransferNote { fate: TransferFate::Returned, topic: "everything".into(), text, rule: None }];
        let (from, to) = (self.desk.rules.id().to_string(), to.id().to_string());
        Some(Ready { transfer: Transfer { from, to, notes, waits_for: None }, desk })
    }

    /// The house rules by name: carried where both have one, at their default where they are new, kept aside where they are
    /// gone.
    fn switches_under(
        &self,
        to: &Ruleset,
        state: &mut State,
        notes: &mut Vec<TransferNote>,
    ) -> BTreeMap<String, Value> {
        let mut values = BTreeMap::new();
        let now = &self.desk.switches;
        let aside = &mut state.dormant_mut().switches;
        let mut told: BTreeMap<TransferFate, Vec<String>> = BTreeMap::new();
        for switch in to.switches() {
            let default = switch.default.as_value();
            let fits = |value: &Value| switch.parse(&value.to_string()).ok().map(|value| value.as_value());
            let here = now.get(&switch.name);
            let (value, fate) = match (here.map(fits), aside.get(&switch.name).map(fits)) {
                (Some(Some(value)), _) => (value, TransferFate::Carried),
                (None, Some(Some(value))) => {
                    aside.remove(&switch.name);
                    (value, TransferFate::Returned)
                }
                (Some(None), _) => {
                    if let Some(value) = here {
                        aside.insert(switch.name.clone(), value.clone());
                    }
                    (default.clone(), TransferFate::Decide)
                }
                (None, _) => (default.clone(), TransferFate::Defaulted),
            };
            if value != default || fate == TransferFate::Decide {
                told.entry(fate).or_default().push(format!("{} is {value}", switch.name));
            }
            values.insert(switch.name.clone(), value);
        }
        for (name, value) in now.iter().filter(|(name, _)| !values.contains_key(*name)) {
            let usual = self.desk.rules.switch(name).is_some_and(|switch| switch.default.as_value() == *value);
            if !usual {
                told.entry(TransferFate::Dormant).or_default().push(format!("{name} is {value}"));
            }
            aside.insert(name.clone(), value.clone());
        }
        for (fate, lines) in told {
            notes.push(TransferNote { fate, topic: "house rules".into(), text: lines.join(", "), rule: None });
        }
        values
    }

    /// Seats by name: new ones are played by people, and so are those whose policy is not there.
    fn seats_under(&self, to: &Ruleset, notes: &mut Vec<TransferNote>) -> BTreeMap<Arc<str>, Driver> {
        let mut seats = self.desk.seats.clone();
        for seat in to.seats().keys() {
            seats.entry(Arc::from(&**seat)).or_insert(Driver::Human);
        }
        for (seat, driver) in &mut seats {
            if let Driver::Policy(policy) = driver
                && !to.policies().contains(policy)
            {
                let text = format!("has no policy `{policy}` there: it is asked now");
                notes.push(TransferNote {
                    fate: TransferFate::Decide,
                    topic: format!("seat {seat}"),
                    text,
                    rule: None,
                });
                *driver = Driver::Human;
            }
        }
        seats
    }

    /// Puts the game into the state that other rules have made of it, as one entry.
    fn install(&mut self, ready: Ready) {
        let from = self.desk.rules.clone();
        self.park();
        if let Some(open) = self.open.take() {
            self.desk.set_position(open.before);
            if !open.events.is_empty() {
                let happening = Happening::Withdrawn { from: 0 };
                self.tell(Event { action: open.number, n: 0, audience: None, happening });
            }
        }
        let Ready { transfer, desk } = ready;
        let to = desk.rules.clone();
        let before = self.desk.position();
        let in_force = InForce {
            rules: std::mem::replace(&mut self.desk.rules, desk.rules),
            switches: std::mem::replace(&mut self.desk.switches, desk.switches),
            seats: std::mem::replace(&mut self.desk.seats, desk.seats),
        };
        let state = std::mem::replace(&mut self.desk.state, desk.state);
        let swap = Swap { schema: from.schema().clone(), state, in_force: Some(in_force) };
        self.note_first_rules(&from);
        let number = self.take_number();
        let mut lines = vec![format!("{} is in force, after {}", transfer.to, transfer.from)];
        let to_see = [TransferFate::Breach, TransferFate::Decide];
        let notes = transfer.notes.iter().filter(|note| to_see.contains(&note.fate));
        lines.extend(notes.map(|note| format!("{}: {}", note.topic, note.text)));
        let events: Vec<Event> = lines
            .into_iter()
            .enumerate()
            .map(|(n, text)| Event {
                action: number,
                n: n as u32,
                audience: None,
                happening: Happening::Notice { text },
            })
            .collect();
        for event in &events {
            self.tell(event.clone());
        }
        let cause = Cause::Rules {
            ruleset: to.id().to_string(),
            layers: to.extra_layers().to_vec(),
            hash: to.hash(),
            files: patch_between(&from, &to),
        };
        let seq = Some(self.take_seq());
        let (tape, changes, swap) = (Default::default(), Vec::new(), Some(Box::new(swap)));
        self.history.push(Done { number, cause, tape, before, seq, skipped: None, changes, events, swap });
    }

    /// Takes a change of rules back, whole.
    pub(super) fn take_rules_back(&mut self, done: Done, passed: &mut Passed) -> Turned {
        // Reloads that came after it were of the other rules.
        passed.reloads.clear();
        self.open = None;
        self.held.clear();
        let now = self.desk.rules.clone();
        let text = format!("undid the change to {}", now.id());
        if let Some(Swap { state, in_force: Some(before), .. }) = done.swap.map(|swap| *swap) {
            self.desk.state = state;
            self.desk.switches = before.switches;
            for (seat, driver) in before.seats {
                // A seat that has been given to somebody else since keeps its new driver, where it can.
                let lost = |driver: &Driver| {
                    matches!(driver, Driver::Policy(policy) if !now.policies().contains(policy)
                        || !before.rules.policies().contains(policy))
                };
                let current = self.desk.seats.get(&seat);
                if lost(&driver) || current.is_none_or(lost) {
                    self.desk.seats.insert(seat, driver);
                }
            }
            self.desk.rules = before.rules;
        }
        self.desk.set_position(done.before);
        self.push_redo(Op::Rules(now));
        Turned { text, changes: Vec::new() }
    }
}

/// How a game gets from one ruleset to another.
fn way(from: &Ruleset, to: &Ruleset) -> Result<Way, TransferError> {
    let (old, new) = (from.parts(), to.parts());
    if old.iter().any(|part| part == to.id()) || new.iter().any(|part| part == from.id()) {
        return Ok(Way::ByName);
    }
    let converts = &to.blueprint().converts;
    if let Some(part) = old.iter().rev().find(|part| converts.iter().any(|known| **known == ***part)) {
        return Ok(Way::Convert(part.clone()));
    }
    if old.iter().any(|part| new.contains(part)) {
        return Ok(Way::ByName);
    }
    Err(TransferError::NoWay { from: from.id().to_string(), to: to.id().to_string() })
}

/// A state before and after, for telling what became of what.
struct Comparison<'a> {
    old: &'a State,
    old_schema: &'a Schema,
    desk: &'a Desk,
}

impl Comparison<'_> {
    /// Tells what was kept aside, what is there again and what is new, as far as a sheet would show it.
    fn tell(&self, belongings: &Belongings, notes: &mut Vec<TransferNote>) {
        self.tell_entities(notes);
        self.tell_values(notes);
        self.tell_new_fields(notes);
        let mut note = |fate: TransferFate, topic: &str, names: Vec<String>| {
            if !names.is_empty() {
                notes.push(TransferNote { fate, topic: topic.into(), text: names.join(", "), rule: None });
            }
        };
        let entries = belongings.entries_kept.iter().map(|entry| entry.what.to_string());
        note(TransferFate::Dormant, "agenda", entries.collect());
        let hooks = belongings.attachments_kept.iter().map(|(_, attachment)| attachment.hook.to_string());
        note(TransferFate::Dormant, "attached", hooks.collect());
        let returned = belongings.returned.iter().map(|name| name.to_string());
        note(TransferFate::Returned, "agenda and attached", returned.collect());
    }

    fn tell_entities(&self, notes: &mut Vec<TransferNote>) {
        let mut told: BTreeMap<(TransferFate, String), Vec<String>> = BTreeMap::new();
        let (was, now) = (&self.old.dormant().entities, &self.desk.state.dormant().entities);
        for (id, shelved) in now.iter().filter(|(id, _)| !was.contains_key(*id)) {
            let title = self.old_title(*id);
            told.entry((TransferFate::Dormant, shelved.kind.to_string())).or_default().push(title);
        }
        for (id, shelved) in was.iter().filter(|(id, _)| self.desk.state.entity(**id).is_some()) {
            let title = self.desk.title(*id).to_string();
            told.entry((TransferFate::Returned, shelved.kind.to_string())).or_default().push(title);
        }
        for ((fate, topic), titles) in told {
            notes.push(TransferNote { fate, topic, text: titles.join(", "), rule: None });
        }
    }

    fn old_title(&self, id: EntityId) -> String {
        let Some(entity) = self.old.entity(id) else { return id.to_string() };
        let kind = self.old_schema.kind(entity.kind);
        match kind.title.map(|field| &entity.fields[field.0 as usize]) {
            Some(Value::Text(text)) if !text.is_empty() => text.to_string(),
            _ => format!("{} {}", kind.name, id.0),
        }
    }

    /// Values that went aside or came back, entity by entity.
    fn tell_values(&self, notes: &mut Vec<TransferNote>) {
        let new_schema = self.desk.rules.schema();
        let (was, now) = (&self.old.dormant().fields, &self.desk.state.dormant().fields);
        let known = |all: &BTreeMap<EntityId, BTreeMap<Arc<str>, _>>, id: EntityId, name: &str| {
            all.get(&id).is_some_and(|kept: &BTreeMap<Arc<str>, _>| kept.contains_key(name))
        };
        for (id, entity) in self.desk.state.entities() {
            let kind = new_schema.kind(entity.kind);
            let topic = self.desk.title(id).to_string();
            let old_kind = self.old_schema.kind_named(&kind.name).map(|place| self.old_schema.kind(place));
            let mut aside = Vec::new();
            for (name, kept) in now.get(&id).into_iter().flatten().filter(|(name, _)| !known(was, id, name)) {
                let field = old_kind.and_then(|kind| Some(kind.field(kind.field_named(name)?)));
                if let Some(field) = field.filter(|field| field.show && field.default != kept.value) {
                    aside.push(format!("{} {}", field.label, self.desk.words(&kept.value)));
                }
            }
            let mut back = Vec::new();
            for (name, _) in was.get(&id).into_iter().flatten().filter(|(name, _)| !known(now, id, name)) {
                let Some(place) = kind.field_named(name) else { continue };
                let (field, value) = (kind.field(place), &entity.fields[place.0 as usize]);
                if field.show && field.default != *value {
                    back.push(format!("{} {}", field.label, self.desk.words(value)));
                }
            }
            for (fate, parts) in [(TransferFate::Dormant, aside), (TransferFate::Returned, back)] {
                if !parts.is_empty() {
                    notes.push(TransferNote { fate, topic: topic.clone(), text: parts.join(", "), rule: None });
                }
            }
        }
    }

    /// Fields that the old rules did not have and that stand at their default everywhere.
    fn tell_new_fields(&self, notes: &mut Vec<TransferNote>) {
        let schema = self.desk.rules.schema();
        for (at, kind) in schema.kinds.iter().enumerate() {
            let here = || self.desk.state.entities().filter(move |(_, entity)| entity.kind.0 as usize == at);
            let Some(old) = self.old_schema.kind_named(&kind.name).map(|place| self.old_schema.kind(place)) else {
                continue;
            };
            let fields = kind.fields.iter().enumerate().filter(|(place, field)| {
                field.show
                    && old.field_named(&field.name).is_none()
                    && here().all(|(_, entity)| entity.fields[*place] == field.default)
            });
            let fields: Vec<String> =
                fields.map(|(_, field)| format!("{} {}", field.label, self.desk.words(&field.default))).collect();
            if !fields.is_empty() && here().next().is_some() {
                let (fate, topic) = (TransferFate::Defaulted, format!("every {}", kind.name));
                notes.push(TransferNote { fate, topic, text: fields.join(", "), rule: None });
            }
        }
    }
}
