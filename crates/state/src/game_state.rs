mod audience;
mod check;
mod journal;

use std::collections::{BTreeMap, BTreeSet};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use serde::{Deserialize, Serialize};

use super::numbers::{Counter, DrawnNumber, Numbered, Numbers};
use super::references::References;
use super::{
    Agenda, Attachment, AttachmentId, Audience, Change, Dormant, Entity, EntityId, Entry, EntryId, FieldId, Key,
    KindId, Schema, Value,
};

/// The whole state of a game, as plain data.
///
/// Only its own methods change it. Each change is recorded in a journal with its inverse, until it is taken out with
/// [`State::settle`] or undone with [`State::rollback`].
///
/// It has many methods, since each kind of change and each way to read is one.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct State {
    /// The entities in the order of their creation; the slot of a removed entity stays empty.
    entities: Vec<Option<Entity>>,
    /// The seed for the numbers of secret things. Without one, everything is numbered in the order of creation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    secret_numbers: Option<u64>,
    /// The ids of entities by slot. Set once the first secret entity is made; until then, an id is the slot plus one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    numbers: Option<Box<Numbers>>,
    /// The ids of agenda entries by slot. Set once an entry belongs to a secret entity.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    entry_numbers: Option<Box<Counter>>,
    /// The ids of attachments by slot. Set once an attachment belongs to a secret entity.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    attachment_numbers: Option<Box<Counter>>,
    agenda: Agenda,
    attachments: BTreeMap<AttachmentId, Attachment>,
    next_entry: u32,
    next_attachment: u32,
    outcome: Option<String>,
    /// Names of disabled hooks, items, cards, entries and free acts.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    left_out: BTreeSet<Arc<str>>,
    /// Values that the schema in force does not declare.
    #[serde(default, skip_serializing_if = "Dormant::is_empty")]
    dormant: Dormant,
    #[serde(skip)]
    journal: Vec<Change>,
    /// Changes by the host itself, for the script machine that mirrors this state.
    #[serde(skip)]
    stale: Vec<Stale>,
    /// Identifies the state within the process, so that a mirror knows which state it belongs to.
    #[serde(skip, default = "next_identity")]
    identity: u64,
    /// Cached hashes of the entities and of their attachments.
    #[serde(skip)]
    population: Option<(u32, u64)>,
    #[serde(skip)]
    attached: Option<u64>,
    /// Counts the changes of its entities.
    #[serde(skip)]
    moves: u64,
    /// The identity of the state of which this is a copy, and its `moves` at that time.
    #[serde(skip)]
    copy_of: (u64, u64),
    /// True if changes are not recorded in the journal, so that they cannot be undone.
    #[serde(skip)]
    unjournaled: bool,
    /// Bytes of the values written since this was last set to 0 (estimated).
    #[serde(skip)]
    pub written: usize,
    /// The index of references. Built on demand and dropped by changes that do not update it.
    #[serde(skip)]
    references: Option<Box<References>>,
}

/// The most entries of an agenda.
pub const MOST_ENTRIES: usize = 10_000;
/// The most entities of a game, including removed ones.
pub const MOST_ENTITIES: usize = 1_000_000;

/// Up to this number of entities, including removed ones, creating or removing one has a fixed cost for a script.
/// Beyond it, entries that create or remove entities are run by their script in every mode, since the cost depends on
/// the lists and handles of all entities.
pub const FEW_ENTITIES: u32 = 8_192;

/// A part of the state that a mirror has to read again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stale {
    Field(EntityId, FieldId),
    /// The entity was created, removed or restored.
    Entity(EntityId),
    Attachments,
}

/// The effects of other rules on the agenda and the attachments of a state.
#[derive(Clone, Debug, Default)]
pub struct Belongings {
    pub entries_kept: Vec<Entry>,
    pub attachments_kept: Vec<(AttachmentId, Attachment)>,
    /// Names of entries and hooks that were dormant and are restored.
    pub returned: Vec<Arc<str>>,
}

/// The counter of entries or attachments, created with the first secret one if secrets are numbered apart. `before`:
/// the number of those before it.
#[inline]
fn counter<'c>(
    counter: &'c mut Option<Box<Counter>>,
    (of, seed): (Numbered, Option<u64>),
    before: u32,
    audience: &Audience,
) -> Option<&'c mut Counter> {
    if counter.is_none() && !audience.is_everybody() {
        *counter = seed.map(|seed| Box::new(Counter::new(of, seed, before)));
    }
    counter.as_deref_mut()
}

/// Takes back the last number of entries or attachments.
fn take_number_back(counter: &mut Option<Box<Counter>>, numbered: Option<DrawnNumber>) {
    if let (Some(one), Some(number)) = (counter.as_deref_mut(), numbered) {
        one.take_back(number);
        if one.is_plain() {
            *counter = None;
        }
    }
}

fn hash_of(feed: impl FnOnce(&mut DefaultHasher)) -> u64 {
    let mut hasher = DefaultHasher::new();
    feed(&mut hasher);
    hasher.finish()
}

fn next_identity() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

impl Clone for State {
    /// Copies the data; the copy has an identity and an empty journal of its own.
    fn clone(&self) -> State {
        self.copied(self.entities.clone(), self.agenda.clone(), Vec::new())
    }

    /// Like `clone`, but reuses the allocated memory. A copy of the same state keeps its entities if they are unchanged
    /// in both.
    fn clone_from(&mut self, other: &State) {
        let mut entities = std::mem::take(&mut self.entities);
        if self.copy_of != (other.identity, other.moves) || self.moves != other.moves {
            entities.clone_from(&other.entities);
        }
        let mut agenda = std::mem::take(&mut self.agenda);
        agenda.clone_from(&other.agenda);
        let mut journal = std::mem::take(&mut self.journal);
        journal.clear();
        *self = other.copied(entities, agenda, journal);
    }
}

impl State {
    /// Makes a copy with a new identity. `entities` and `agenda`: copies of those here; `journal`: empty.
    fn copied(&self, entities: Vec<Option<Entity>>, agenda: Agenda, journal: Vec<Change>) -> State {
        State {
            entities,
            secret_numbers: self.secret_numbers,
            numbers: self.numbers.clone(),
            entry_numbers: self.entry_numbers.clone(),
            attachment_numbers: self.attachment_numbers.clone(),
            agenda,
            attachments: self.attachments.clone(),
            next_entry: self.next_entry,
            next_attachment: self.next_attachment,
            outcome: self.outcome.clone(),
            left_out: self.left_out.clone(),
            dormant: self.dormant.clone(),
            journal,
            stale: Vec::new(),
            identity: next_identity(),
            population: self.population,
            attached: self.attached,
            moves: self.moves,
            copy_of: (self.identity, self.moves),
            unjournaled: false,
            written: self.written,
            references: None,
        }
    }
}

impl PartialEq for State {
    fn eq(&self, other: &State) -> bool {
        self.entities == other.entities
            && self.secret_numbers == other.secret_numbers
            && self.numbers == other.numbers
            && self.entry_numbers == other.entry_numbers
            && self.attachment_numbers == other.attachment_numbers
            && self.agenda == other.agenda
            && self.attachments == other.attachments
            && self.next_entry == other.next_entry
            && self.next_attachment == other.next_attachment
            && self.outcome == other.outcome
            && self.left_out == other.left_out
            && self.dormant == other.dormant
    }
}

impl State {
    pub fn new() -> State {
        State { identity: next_identity(), ..State::default() }
    }

    /// Numbers secret things apart from all others, see `Numbers`. Call this on an empty state.
    pub fn number_secrets_apart(&mut self, seed: u64) {
        self.secret_numbers = Some(seed);
    }

    /// Forgets the number of secret things, in a copy for a viewer who may not know it.
    pub fn forget_secret_numbers(&mut self, unseen: impl Fn(&Audience) -> bool) {
        self.secret_numbers = self.secret_numbers.map(|_| 0);
        let numbers = self.numbers.iter_mut().map(|numbers| numbers.counter_mut());
        let others = [&mut self.entry_numbers, &mut self.attachment_numbers];
        let counters = numbers.chain(others.into_iter().flatten().map(|counter| &mut **counter));
        counters.for_each(|counter| counter.forget(&unseen));
    }

    /// The slot of an entity, in the order of creation.
    #[inline]
    pub fn place(&self, id: EntityId) -> Option<usize> {
        match &self.numbers {
            None => (id.0 as usize).checked_sub(1),
            Some(numbers) => numbers.place(id),
        }
    }

    /// The id of the entity in a slot.
    #[inline]
    fn id_at(&self, place: usize) -> EntityId {
        let counted = EntityId(place as u32 + 1);
        self.numbers.as_ref().map_or(counted, |numbers| numbers.id(place).unwrap_or(counted))
    }

    fn slot(&self, id: EntityId) -> Option<&Option<Entity>> {
        self.entities.get(self.place(id)?)
    }

    // Reading

    #[inline]
    pub fn entity(&self, id: EntityId) -> Option<&Entity> {
        self.slot(id)?.as_ref()
    }

    /// The value of a field. `None` if the entity does not exist or its kind has no such field.
    #[inline]
    pub fn field(&self, id: EntityId, field: FieldId) -> Option<&Value> {
        self.entity(id)?.fields.get(field.0 as usize)
    }

    /// All entities in the order of their creation.
    pub fn entities(&self) -> impl Iterator<Item = (EntityId, &Entity)> {
        let all = self.entities.iter().enumerate();
        all.filter_map(|(place, entity)| Some((self.id_at(place), entity.as_ref()?)))
    }

    /// The entities with ids up to this one, in the order of their creation. Secret ones have larger ids.
    pub fn entities_up_to(&self, id: u32) -> impl Iterator<Item = (EntityId, &Entity)> {
        let places = if self.numbers.is_none() { id as usize } else { self.entities.len() };
        let first = self.entities.iter().enumerate().take(places);
        let there = first.filter_map(|(place, entity)| Some((self.id_at(place), entity.as_ref()?)));
        there.filter(move |(found, _)| found.0 <= id)
    }

    /// The entities with ids above this one, in the order of their creation.
    pub fn entities_after(&self, id: u32) -> impl Iterator<Item = (EntityId, &Entity)> {
        let places = if self.numbers.is_none() { id as usize } else { 0 };
        let later = self.entities.iter().enumerate().skip(places);
        let there = later.filter_map(|(place, entity)| Some((self.id_at(place), entity.as_ref()?)));
        there.filter(move |(found, _)| found.0 > id)
    }

    fn references(&mut self) -> &References {
        if self.references.is_none() {
            self.references = Some(Box::new(References::new(self.entities())));
        }
        self.references.as_deref().expect("it was just made")
    }

    /// The entities of a kind in the order of their creation.
    pub fn of_kind(&mut self, kind: KindId) -> Vec<EntityId> {
        let found = self.references().of_kind(kind).collect();
        self.in_order(found)
    }

    /// The entities of a kind that refer to an entity through a field, in the order of their creation.
    pub fn referring(&mut self, kind: KindId, field: FieldId, to: EntityId) -> Vec<EntityId> {
        let found = self.references().to(to, kind, field).collect();
        self.in_order(found)
    }

    /// Sorts entities from the order of their ids to the order of their creation.
    fn in_order(&self, mut ids: Vec<EntityId>) -> Vec<EntityId> {
        if self.numbers.is_some() {
            ids.sort_by_key(|id| self.place(*id));
        }
        ids
    }

    /// The relations that are removed with an entity, and those removed with them; a relation on another one comes
    /// first.
    pub fn relations_of(&mut self, schema: &Schema, id: EntityId) -> Vec<EntityId> {
        let ends: Vec<(KindId, FieldId)> = schema.relation_ends().collect();
        let (mut found, mut seen) = (vec![id], BTreeSet::from([id]));
        let mut at = 0;
        while let Some(one) = found.get(at).copied() {
            for (kind, end) in &ends {
                for relation in self.referring(*kind, *end, one) {
                    if seen.insert(relation) {
                        found.push(relation);
                    }
                }
            }
            at += 1;
        }
        found.remove(0);
        found.reverse();
        found
    }

    /// True if the state is valid under this schema: for a state from outside.
    pub fn fits(&self, schema: &Schema) -> bool {
        let is_there = |id: EntityId| self.entity(id).is_some();
        let known = |entity: &Entity| {
            let kind = schema.kinds.get(entity.kind.0 as usize);
            kind.is_some_and(|kind| kind.fields.len() == entity.fields.len())
        };
        let numbered = |numbers: &Numbers| {
            self.secret_numbers.is_some() && numbers.count() == self.entities.len() && numbers.are_sound()
        };
        let gave = |counter: &Option<Box<Counter>>, numbered: Option<DrawnNumber>| match (counter, numbered) {
            (_, None) => true,
            (Some(counter), Some(number)) => counter.gave(number),
            (None, Some(_)) => false,
        };
        let counters = [(&self.entry_numbers, Numbered::Entries), (&self.attachment_numbers, Numbered::Attachments)];
        let counters = counters.into_iter().all(|(counter, of)| {
            counter.as_ref().is_none_or(|counter| self.secret_numbers.is_some() && counter.is_sound(of))
        });
        let entities = counters
            && self.entities.len() <= MOST_ENTITIES
            && self.numbers.as_deref().is_none_or(numbered)
            && self.entities().all(|(_, entity)| known(entity));
        // References to entities can be checked only now.
        let fields = |entity: &Entity| {
            let kind = schema.kind(entity.kind);
            Value::must_fit(&entity.fields).is_ok()
                && (0..).zip(&entity.fields).all(|(at, value)| kind.check(FieldId(at), value, schema, self).is_ok())
        };
        let values = |value: &Value| {
            !value.any_entity(&|id| !is_there(id)) && Value::must_fit(std::slice::from_ref(value)).is_ok()
        };
        let mut in_order = self.agenda.entries().zip(self.agenda.entries().skip(1));
        entities
            && self.entities().all(|(_, entity)| fields(entity))
            && self.agenda.entries().len() <= MOST_ENTRIES
            && self.agenda.entries().all(|entry| {
                (1..=self.next_entry).contains(&entry.id.0)
                    && entry.owner.is_none_or(is_there)
                    && values(&entry.args)
                    && gave(&self.entry_numbers, entry.numbered)
            })
            && in_order.all(|(one, next)| (&one.key, one.id) < (&next.key, next.id))
            && self.attachments.iter().all(|(id, attachment)| {
                (1..=self.next_attachment).contains(&id.0)
                    && is_there(attachment.owner)
                    && values(&attachment.data)
                    && gave(&self.attachment_numbers, attachment.numbered)
            })
            && self.next_entry.max(self.next_attachment) < u32::MAX / 2
    }

    /// The number of ids given out.
    pub fn ids(&self) -> u32 {
        self.entities.len() as u32
    }

    /// The number of public ids: all but the numbers of secret entities.
    pub fn public_ids(&self) -> u32 {
        self.numbers.as_ref().map_or(self.ids(), |numbers| numbers.public())
    }

    /// The number of things made for each audience, on which further numbers depend.
    pub fn made_in_secret(&self) -> impl Iterator<Item = u32> {
        let entities = self.numbers.iter().map(|numbers| numbers.counter());
        let others = [&self.entry_numbers, &self.attachment_numbers].into_iter().flatten();
        entities.chain(others.map(|counter| &**counter)).flat_map(|counter| counter.counts())
    }

    /// A hash of the entities up to an id: ids and kinds.
    #[inline]
    pub fn population_hash(&mut self, up_to: u32) -> u64 {
        match self.population {
            Some((of, known)) if of == up_to => known,
            _ => self.hash_population(up_to),
        }
    }

    #[cold]
    fn hash_population(&mut self, up_to: u32) -> u64 {
        let hash = hash_of(|hasher| {
            self.entities_up_to(up_to).for_each(|(id, entity)| (id, entity.kind).hash(hasher));
        });
        self.population = Some((up_to, hash));
        hash
    }

    /// Drops the cached hash if it covers this entity.
    fn forget_population(&mut self, id: EntityId) {
        self.population = self.population.filter(|(up_to, _)| *up_to < id.0);
    }

    /// A hash of all attachments, and of the number of the next one.
    #[inline]
    pub fn attachments_hash(&mut self) -> u64 {
        match self.attached {
            Some(known) => known,
            None => self.hash_attachments(),
        }
    }

    #[cold]
    fn hash_attachments(&mut self) -> u64 {
        let hash = hash_of(|hasher| {
            self.next_attachment.hash(hasher);
            self.attachments.iter().for_each(|attachment| attachment.hash(hasher));
        });
        self.attached = Some(hash);
        hash
    }

    /// The names of disabled parts of the rules.
    pub fn left_out(&self) -> &BTreeSet<Arc<str>> {
        &self.left_out
    }

    pub fn agenda(&self) -> &Agenda {
        &self.agenda
    }

    /// The attachments in the order of attaching.
    pub fn attachments(&self) -> &BTreeMap<AttachmentId, Attachment> {
        &self.attachments
    }

    /// The outcome, if the game is over.
    pub fn outcome(&self) -> Option<&str> {
        self.outcome.as_deref()
    }

    /// The numbers of entries and attachments numbered so far.
    pub fn counters(&self) -> (u32, u32) {
        (self.next_entry, self.next_attachment)
    }

    pub fn identity(&self) -> u64 {
        self.identity
    }

    /// The number of changes of its entities; a copy continues the count.
    pub fn moves(&self) -> u64 {
        self.moves
    }

    /// The values and entities that the rules in force do not declare.
    pub fn dormant(&self) -> &Dormant {
        &self.dormant
    }

    pub fn dormant_mut(&mut self) -> &mut Dormant {
        &mut self.dormant
    }

    /// Removes an entity from its slot. Returns its agenda entries and attachments. Without journal.
    pub(super) fn take_out(&mut self, id: EntityId) -> (Vec<Entry>, Vec<(AttachmentId, Attachment)>) {
        self.population = None;
        self.attached = None;
        let entries = self.agenda.take_all(|entry| entry.owner == Some(id));
        let attached = self.attachments.iter().filter(|(_, attachment)| attachment.owner == id).map(|(id, _)| *id);
        let attached: Vec<AttachmentId> = attached.collect();
        let attachments = attached.into_iter().filter_map(|id| Some((id, self.attachments.remove(&id)?))).collect();
        self.moves += 1;
        self.references = None;
        self.put(id, None);
        (entries, attachments)
    }

    /// Puts an entity back into its slot. Without journal.
    pub(super) fn put_back(&mut self, id: EntityId, entity: Entity) {
        self.population = None;
        self.attached = None;
        self.moves += 1;
        self.references = None;
        self.put(id, Some(entity));
    }

    #[inline]
    fn slot_mut(&mut self, id: EntityId, field: FieldId) -> Option<&mut Value> {
        self.moves += 1;
        let place = self.place(id)?;
        self.entities.get_mut(place)?.as_mut()?.fields.get_mut(field.0 as usize)
    }

    fn put(&mut self, id: EntityId, entity: Option<Entity>) {
        if let Some(slot) = self.place(id).and_then(|place| self.entities.get_mut(place)) {
            *slot = entity;
        }
    }

    /// Makes agenda entries and attachments dormant whose names the rules in force lack, and restores dormant ones that
    /// they have, if their owner exists. Without journal.
    pub fn sort_belongings(&mut self, entries: &dyn Fn(&str) -> bool, hooks: &dyn Fn(&str) -> bool) -> Belongings {
        self.population = None;
        self.attached = None;
        let entries_kept = self.agenda.take_all(|entry| !entries(&entry.what));
        let mut sorted = Belongings { entries_kept, ..Belongings::default() };
        let unknown = self.attachments.iter().filter(|(_, attachment)| !hooks(&attachment.hook));
        for id in unknown.map(|(id, _)| *id).collect::<Vec<_>>() {
            sorted.attachments_kept.extend(self.attachments.remove(&id).map(|attachment| (id, attachment)));
        }
        sorted.returned = self.take_belongings_back(entries, hooks);
        self.dormant.entries.extend(sorted.entries_kept.iter().cloned());
        self.dormant.attachments.extend(sorted.attachments_kept.iter().cloned());
        sorted
    }

    /// Restores dormant agenda entries and attachments whose names the rules in force have, if their owner exists.
    /// Returns the names. Without journal.
    pub fn take_belongings_back(
        &mut self,
        entries: &dyn Fn(&str) -> bool,
        hooks: &dyn Fn(&str) -> bool,
    ) -> Vec<Arc<str>> {
        self.population = None;
        self.attached = None;
        let mut returned = Vec::new();
        let there = |state: &State, owner: Option<EntityId>| owner.is_none_or(|owner| state.entity(owner).is_some());
        for entry in std::mem::take(&mut self.dormant.entries) {
            if entries(&entry.what) && there(self, entry.owner) {
                returned.push(entry.what.clone());
                self.agenda.insert(entry);
            } else {
                self.dormant.entries.push(entry);
            }
        }
        for (id, attachment) in std::mem::take(&mut self.dormant.attachments) {
            if hooks(&attachment.hook) && there(self, Some(attachment.owner)) {
                returned.push(attachment.hook.clone());
                self.attachments.insert(id, attachment);
            } else {
                self.dormant.attachments.insert(id, attachment);
            }
        }
        returned
    }

    /// A copy with every entity replaced by the result of `make`. It has a new identity and an empty journal.
    pub(crate) fn rebuilt(&self, mut make: impl FnMut(EntityId, &Entity) -> Option<Entity>) -> State {
        let mut state = self.clone();
        state.moves += 1;
        for (at, slot) in state.entities.iter_mut().enumerate() {
            if let Some(entity) = slot {
                *slot = make(self.id_at(at), entity);
            }
        }
        state
    }

    /// Makes copies of all texts shared with another state or the rules: see [`Value::apart`].
    pub fn set_apart(&mut self) {
        let fields = self.entities.iter_mut().flatten().flat_map(|entity| &mut entity.fields);
        let data = self.attachments.values_mut().map(|attachment| &mut attachment.data);
        fields.chain(data).for_each(|value| *value = value.apart());
        self.agenda.set_apart();
    }

    /// Makes every mirror read the whole state again, since data outside it, such as drivers, have changed.
    pub fn renew_identity(&mut self) {
        self.identity = next_identity();
    }

    /// Takes the changes since the last call that no script made.
    pub fn take_stale(&mut self) -> Vec<Stale> {
        std::mem::take(&mut self.stale)
    }

    /// True if anything changed other than through a script.
    pub fn is_stale(&self) -> bool {
        !self.stale.is_empty()
    }

    /// Notifies a mirror that the host itself changed a field.
    pub fn note_stale(&mut self, entity: EntityId, field: FieldId) {
        self.stale.push(Stale::Field(entity, field));
    }

    /// Notifies a mirror that the host itself created or removed an entity.
    pub fn note_gone(&mut self, entity: EntityId) {
        self.stale.push(Stale::Entity(entity));
    }

    /// Notifies a mirror that the host itself changed attachments.
    pub fn note_attachments(&mut self) {
        self.stale.push(Stale::Attachments);
    }

    /// True if these numbers of new entities and agenda entries are within the limits.
    #[inline]
    pub fn has_room(&self, entities: u32, entries: u32) -> bool {
        self.entities.len() + entities as usize <= MOST_ENTITIES
            && self.agenda.count() + entries as usize <= MOST_ENTRIES
    }

    // Changing

    /// Turns the recording of changes in the journal on or off.
    pub fn keep_journal(&mut self, keeps: bool) {
        self.unjournaled = !keeps;
    }

    /// True if changes are recorded in the journal.
    pub fn is_journaled(&self) -> bool {
        !self.unjournaled
    }

    #[inline]
    fn note(&mut self, change: impl FnOnce() -> Change) {
        if !self.unjournaled {
            self.journal.push(change());
        }
    }

    /// Writes a field. The value must already be checked against the field's type.
    // Without this, the compiler calls it in the replay of traces, at a third of the cost there.
    #[inline(always)]
    pub fn set(&mut self, entity: EntityId, field: FieldId, to: Value) {
        if self.references.is_some() {
            self.note_reference(entity, field, &to);
        }
        self.written += to.weight();
        if !self.unjournaled {
            return self.set_noted(entity, field, to);
        }
        if let Some(slot) = self.slot_mut(entity, field) {
            *slot = to;
        }
    }

    fn set_noted(&mut self, entity: EntityId, field: FieldId, to: Value) {
        let Some(slot) = self.slot_mut(entity, field) else { return };
        let from = std::mem::replace(slot, to.clone());
        if from != to {
            self.journal.push(Change::Set { entity, field, from, to });
        }
    }

    fn note_reference(&mut self, entity: EntityId, field: FieldId, to: &Value) {
        let slot = self.place(entity).and_then(|place| self.entities.get(place)?.as_ref());
        let Some((kind, from)) = slot.and_then(|slot| Some((slot.kind, slot.fields.get(field.0 as usize)?))) else {
            return;
        };
        if let Some(references) = &mut self.references {
            references.changed(entity, (kind, field), from, to);
        }
    }

    /// Creates a public entity.
    pub fn spawn(&mut self, made: Entity) -> EntityId {
        self.spawn_for(&Audience::Everybody, made)
    }

    /// Creates an entity with the audience that its kind declares: see [`Schema`].
    pub fn spawn_under(&mut self, schema: &Schema, made: Entity) -> EntityId {
        match schema.may_hide(made.kind) {
            true => self.spawn_for(&self.audience_of(schema, &made), made),
            false => self.spawn(made),
        }
    }

    fn spawn_for(&mut self, audience: &Audience, made: Entity) -> EntityId {
        if self.numbers.is_none()
            && !audience.is_everybody()
            && let Some(seed) = self.secret_numbers
        {
            self.numbers = Some(Box::new(Numbers::new(seed, self.ids())));
        }
        let entity = match &mut self.numbers {
            None => EntityId(self.entities.len() as u32 + 1),
            Some(numbers) => numbers.add(audience),
        };
        self.forget_population(entity);
        self.moves += 1;
        if let Some(references) = &mut self.references {
            references.came(entity, &made);
        }
        self.written += made.weight();
        self.entities.push(Some(made.clone()));
        self.note(|| Change::Spawn { entity, made });
        entity
    }

    /// Removes an entity with its agenda entries and attachments; references to it become empty.
    ///
    /// Returns the fields of other entities that changed.
    pub fn remove(&mut self, entity: EntityId) -> Vec<(EntityId, FieldId)> {
        if self.entity(entity).is_none() {
            return Vec::new();
        }
        for entry in self.agenda.take_all(|entry| entry.owner == Some(entity)) {
            self.note(|| Change::Unschedule { entry });
        }
        let attached: Vec<AttachmentId> =
            self.attachments.iter().filter(|(_, attachment)| attachment.owner == entity).map(|(id, _)| *id).collect();
        for id in attached {
            self.detach(id);
        }
        let mut touched = Vec::new();
        for (id, other) in self.entities() {
            for (at, value) in other.fields.iter().enumerate() {
                if id != entity && value.any_entity(&|found| found == entity) {
                    touched.push((id, FieldId(at as u16), value.without_entity(entity)));
                }
            }
        }
        let mut fields = Vec::new();
        for (id, field, value) in touched {
            self.set(id, field, value);
            fields.push((id, field));
        }
        let slot = self.place(entity).and_then(|place| self.entities.get_mut(place));
        if let Some(was) = slot.and_then(Option::take) {
            if let Some(references) = &mut self.references {
                references.went(entity, &was);
            }
            self.forget_population(entity);
            self.moves += 1;
            self.note(|| Change::Remove { entity, was });
        }
        fields
    }

    /// Removes an entity, with all references to it, from a copy for a viewer who may not know of it.
    pub fn forget(&mut self, entity: EntityId) {
        self.remove(entity);
        self.agenda.forget(entity);
        for attachment in self.attachments.values_mut() {
            attachment.data = attachment.data.without_entity(entity);
        }
    }

    /// Adds an entry to the agenda and gives it the next id. `audience`: the audience of its owner.
    pub fn schedule(&mut self, audience: &Audience, mut entry: Entry) -> &Entry {
        let before = self.next_entry;
        let counter = counter(&mut self.entry_numbers, (Numbered::Entries, self.secret_numbers), before, audience);
        let taken = |number: u32| self.agenda.entries().any(|entry| entry.number() == number);
        entry.numbered = counter.map(|counter| counter.next(audience, taken));
        self.next_entry += 1;
        self.written += entry.args.weight();
        entry.id = EntryId(self.next_entry);
        if !self.unjournaled {
            self.journal.push(Change::Schedule { entry: entry.clone() });
        }
        self.agenda.insert(entry)
    }

    /// Takes an entry off the agenda to run it. A recurring one is scheduled again at once, so that skipping it ends
    /// nothing.
    pub fn take_entry(&mut self, id: EntryId) -> Option<Entry> {
        let entry = self.unschedule(id)?;
        self.put_again(entry.clone());
        Some(entry)
    }

    /// Schedules a taken entry again, if it recurs and its next key is valid.
    fn put_again(&mut self, entry: Entry) -> Option<EntryId> {
        let next = entry.every.as_ref().and_then(|step| entry.key.plus(step))?;
        let audience = self.entry_audience(&entry);
        Some(self.schedule(&audience, Entry::new(next, entry.due)).id)
    }

    /// The audience for which an entry was numbered.
    fn entry_audience(&self, entry: &Entry) -> Audience {
        match (&self.entry_numbers, entry.numbered) {
            (Some(counter), Some(number)) => counter.audience(number),
            _ => Audience::Everybody,
        }
    }

    /// The entry with this number for the rules.
    pub fn entry_numbered(&self, number: u32) -> Option<EntryId> {
        match &self.entry_numbers {
            None => Some(EntryId(number)),
            Some(_) => self.agenda.entries().find(|entry| entry.number() == number).map(|entry| entry.id),
        }
    }

    /// The attachment with this number for the rules.
    pub fn attachment_numbered(&self, number: u32) -> Option<AttachmentId> {
        match &self.attachment_numbers {
            None => Some(AttachmentId(number)),
            Some(_) => self.attachments.iter().find(|(id, one)| one.number(**id) == number).map(|(id, _)| *id),
        }
    }

    /// Drops the first agenda entry without returning it; otherwise like [`State::take_entry`]. Returns the rescheduled
    /// entry, if any.
    #[inline]
    pub fn pass_first(&mut self) -> Option<EntryId> {
        let first = self.agenda.first()?;
        if first.every.is_none() && self.unjournaled {
            self.agenda.drop_first();
            return None;
        }
        let passed = self.unschedule(first.id)?;
        self.put_again(passed)
    }

    /// Takes an entry off the agenda.
    pub fn unschedule(&mut self, id: EntryId) -> Option<Entry> {
        let entry = self.agenda.take(id)?;
        self.note(|| Change::Unschedule { entry: entry.clone() });
        Some(entry)
    }

    /// Changes the key of the entry with the key `from`.
    pub fn rekey(&mut self, id: EntryId, from: Key, to: Key) {
        if self.agenda.rekey(id, &from, to).is_some() {
            self.note(|| Change::Rekey { id, from, to });
        }
    }

    /// Attaches a hook holder and gives it the next id. `audience`: the audience of its owner.
    pub fn attach(&mut self, audience: &Audience, mut made: Attachment) -> AttachmentId {
        let (of, before) = ((Numbered::Attachments, self.secret_numbers), self.next_attachment);
        let counter = counter(&mut self.attachment_numbers, of, before, audience);
        let taken = |number: u32| self.attachments.iter().any(|(id, one)| one.number(*id) == number);
        made.numbered = counter.map(|counter| counter.next(audience, taken));
        self.attached = None;
        self.written += made.data.weight();
        self.next_attachment += 1;
        let id = AttachmentId(self.next_attachment);
        self.attachments.insert(id, made.clone());
        self.note(|| Change::Attach { id, made });
        id
    }

    /// Removes an attachment. Returns false if there is no such attachment.
    pub fn detach(&mut self, id: AttachmentId) -> bool {
        let Some(was) = self.attachments.remove(&id) else { return false };
        self.attached = None;
        self.note(|| Change::Detach { id, was });
        true
    }

    /// Replaces the data of an attachment. Returns false if there is no such attachment.
    pub fn set_data(&mut self, id: AttachmentId, to: Value) -> bool {
        let Some(attachment) = self.attachments.get_mut(&id) else { return false };
        self.attached = None;
        self.written += to.weight();
        let from = std::mem::replace(&mut attachment.data, to.clone());
        self.note(|| Change::Data { id, from, to });
        true
    }

    pub fn finish(&mut self, outcome: String) {
        let from = self.outcome.replace(outcome);
        let to = self.outcome.clone();
        self.note(|| Change::Finish { from, to });
    }

    /// Disables a part of the rules in this game, or enables it again.
    pub fn leave_out(&mut self, name: Arc<str>, out: bool) {
        self.note_left_out(&name, out);
        self.note(|| Change::LeaveOut { name, out });
    }

    /// Marks the state as new, since the mirror holds the disabled names as a whole.
    fn note_left_out(&mut self, name: &Arc<str>, out: bool) {
        if out {
            self.left_out.insert(name.clone());
        } else {
            self.left_out.remove(name);
        }
        self.renew_identity();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// After any changes the index gives the same result as a search of all entities.
    #[test]
    fn the_index_of_references_holds_after_any_changes() {
        let mut chance = 12_345_u64;
        let mut pick = move |n: u32| {
            chance = chance.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (chance >> 33) as u32 % n
        };
        let mut state = State::new();
        let end = |state: &State, n: u32| match EntityId(n) {
            id if state.entity(id).is_some() => Value::Entity(id),
            _ => Value::None,
        };
        for step in 0..3_000 {
            let (one, other) = (pick(state.ids() + 1), pick(state.ids() + 1));
            match pick(20) {
                0..8 => {
                    let fields = vec![end(&state, one), Value::list([end(&state, other)]), end(&state, other)];
                    state.spawn(Entity { kind: KindId(pick(3) as u16), fields });
                }
                8..14 => {
                    let to = end(&state, other);
                    state.set(EntityId(one), FieldId(if pick(2) == 0 { 0 } else { 2 }), to);
                }
                14..17 => {
                    state.remove(EntityId(one));
                }
                17 => state.settle_unread(),
                18 => state.rollback(0),
                _ => state = state.clone(),
            }
            if step % 3 == 0 {
                let kept = state.references().of_kind(KindId(0)).count();
                assert_eq!(kept, state.entities().filter(|(_, entity)| entity.kind == KindId(0)).count());
                let anew = References::new(state.entities());
                assert_eq!(*state.references(), anew, "step {step}");
            }
        }
        assert!(state.ids() > 100);
    }
}
