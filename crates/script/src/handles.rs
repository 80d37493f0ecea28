use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::hash::BuildHasherDefault;
use std::sync::Arc;

use mlua::{Error, Function, Lua, Result, Table, Value as Lv};

use super::account::uncounted;
use super::conversion::to_lua;
use super::field_names::{FieldNames, Name};
use super::host::fill::{copy_blank, fill_fields};
use riskbreaker_state::{Entity, EntityId, FieldId, KindId, NumberHash, Schema, Stale, State, Value};

/// The entities of one game in a script machine: a frozen table for each.
///
/// A field that a script reads is fetched from the host's state and stored on the handle, until the field is written or
/// something other than a script changes the state. If reads are observed, the handles are empty when an action begins.
/// The handle of a removed entity keeps its last values.
#[derive(Default)]
pub(super) struct Handles {
    /// The hash of the attachments known to the prelude.
    attachments: Option<u64>,
    /// The tables made for fields with lists or maps.
    tables: HashMap<u64, (Value, Lv), BuildHasherDefault<NumberHash>>,
    /// The same tables by number, for the engine's own functions. It holds weak references: tables removed from
    /// `tables` may be collected.
    pub numbered: Option<Table>,
    /// Identity of the state to which the entities belong.
    identity: u64,
    handles: ByEntity<(Table, KindId)>,
    by_address: HashMap<usize, EntityId, BuildHasherDefault<NumberHash>>,
    /// Entities removed by scripts, by the address of their handle, until the handles are rebuilt.
    tombstones: HashMap<usize, Tombstone, BuildHasherDefault<NumberHash>>,
    /// The handles for the prelude, by entity id.
    pub listed: Option<Table>,
    /// The metatable of sums: numbers with named parts.
    pub sums: Option<Table>,
    /// The field names of each kind, in lists; the host's functions know this list, too.
    pub names: Option<Table>,
    /// Writes all fields of a handle.
    fill: Option<Function>,
    /// Makes a handle as a copy of the handle that each kind has in `blanks`.
    copy_blank: Option<Function>,
    blanks: Vec<Table>,
    /// For each kind, the metatable of a copy, which contains that of a handle and the members of a handle other than
    /// fields.
    classes: Vec<Table>,
    field_names: FieldNames,
    /// True if a script has stored the token of an agenda entry as a number.
    pub saw_entry_number: Cell<bool>,
}

impl Handles {
    /// Sets the classes, one for each kind of the schema.
    pub fn set_classes(&mut self, lua: &Lua, classes: Vec<Table>, schema: &Schema) -> Result<()> {
        if let Some(names) = &self.names {
            for kind in &schema.kinds {
                names.raw_push(lua.create_sequence_from(kind.fields.iter().map(|field| &*field.name))?)?;
            }
        }
        self.classes = classes;
        self.field_names = FieldNames::new(lua)?;
        self.fill = Some(fill_fields(lua)?);
        self.copy_blank = Some(copy_blank(lua)?);
        self.blanks = (0..)
            .zip(&schema.kinds)
            .map(|(at, kind)| self.blank(lua, KindId(at), &kind.name))
            .collect::<Result<_>>()?;
        Ok(())
    }

    /// A handle without an entity. Each field holds `false`, so that it has a slot.
    fn blank(&self, lua: &Lua, kind: KindId, name: &str) -> Result<Table> {
        let class = &self.classes[kind.0 as usize];
        let held = class.raw_get::<Table>("held")?.pairs::<Lv, Lv>().collect::<Result<Vec<_>>>()?;
        let names: Vec<Lv> = match self.names_of(kind) {
            Some(names) => names.sequence_values().collect::<Result<_>>()?,
            None => Vec::new(),
        };
        let blank = lua.create_table_with_capacity(0, names.len() + held.len() + 2)?;
        // Handles of one kind have their fields in the same slots, where the engine finds them without a search.
        for name in names {
            blank.raw_set(name, false)?;
        }
        blank.raw_set("kind", name)?;
        // Members other than fields never change: storing them on the handle makes access fast.
        for (name, member) in held {
            blank.raw_set(name, member)?;
        }
        blank.set_metatable(Some(class.raw_get("handles")?))?;
        Ok(blank)
    }

    fn names_of(&self, kind: KindId) -> Option<Table> {
        self.names.as_ref()?.raw_get(usize::from(kind.0) + 1).ok()
    }

    pub fn handle(&self, id: EntityId) -> Option<&Table> {
        self.handles.get(id).map(|(handle, _)| handle)
    }

    /// Reads a field of a script's table, like `rawget`.
    pub fn read(&self, table: &Table, name: Name) -> Result<Lv> {
        self.field_names.read(table, name)
    }

    /// The total of a sum. `None` for any other table.
    pub fn total_of(&self, table: &Table) -> Option<Lv> {
        let sums = self.sums.as_ref()?;
        (table.metatable().as_ref() == Some(sums)).then(|| table.raw_get("total").ok()).flatten()
    }

    /// The entity of a handle. `None` for other tables.
    pub fn id_of(&self, table: &Table) -> Option<EntityId> {
        self.id_at(table.to_pointer() as usize)
    }

    /// The entity of a value, if it is the handle of an existing one.
    pub fn entity_in(&self, value: &Lv) -> Option<EntityId> {
        self.id_of(value.as_table()?)
    }

    /// The entity whose handle has this address.
    pub fn id_at(&self, address: usize) -> Option<EntityId> {
        self.by_address.get(&address).copied()
    }

    /// Like [`Handles::id_at`], including entities removed by a script.
    pub fn id_ever_at(&self, address: usize) -> Option<EntityId> {
        self.id_at(address).or_else(|| self.tombstones.get(&address).map(|tombstone| tombstone.id))
    }

    /// The title that an entity had when a script removed it. `None` if the value is not the handle of such an entity.
    pub fn last_title(&self, value: &Lv) -> Option<&str> {
        let tombstone = self.tombstones.get(&(value.as_table()?.to_pointer() as usize))?;
        Some(&tombstone.title)
    }

    /// True if scripts may have handles of removed entities.
    pub fn has_tombstones(&self) -> bool {
        !self.tombstones.is_empty()
    }

    /// The kind of an entity.
    pub fn kind_of(&self, id: EntityId) -> Option<KindId> {
        self.handles.get(id).map(|(_, kind)| *kind)
    }

    /// Call this before attachments change.
    pub fn attachments_change(&mut self) {
        self.attachments = None;
    }

    /// Synchronizes the handles with a state.
    pub fn sync(&mut self, state: &mut State) -> Result<Synced> {
        let stale = state.take_stale();
        if self.identity != state.identity() || stale.iter().any(|one| matches!(one, Stale::Entity(_))) {
            return self.renew(state);
        }
        if stale.contains(&Stale::Attachments) {
            self.attachments_change();
            return Ok(Synced::Attachments);
        }
        Ok(Synced::Same)
    }

    fn renew(&mut self, state: &mut State) -> Result<Synced> {
        // Until the handles are complete, they belong to no state.
        self.identity = 0;
        self.tombstones.clear();
        let attachments = Some(state.attachments_hash());
        let mut others = attachments != self.attachments;
        let gone = self.handles.iter().filter(|(id, (_, kind))| state.entity(*id).is_none_or(|now| now.kind != *kind));
        for id in gone.map(|(id, _)| id).collect::<Vec<_>>() {
            self.remove(id);
            others = true;
        }
        for (id, entity) in state.entities() {
            if self.handle(id).is_none() {
                self.make(id, entity.kind)?;
                others = true;
            }
        }
        if others {
            // Tables may contain handles of removed entities.
            self.tables.retain(|_, (value, _)| !value.any_entity(&|_| true));
        }
        self.attachments = attachments;
        self.identity = state.identity();
        Ok(Synced::Renewed { others })
    }

    /// Creates the handle of an entity.
    pub fn make(&mut self, id: EntityId, kind: KindId) -> Result<Table> {
        let (Some(copy), Some(blank)) = (&self.copy_blank, self.blanks.get(usize::from(kind.0))) else {
            return Err(Error::runtime("the kinds have not been declared"));
        };
        let handle: Table = copy.call((blank, self.names_of(kind), self.listed.as_ref(), id.0))?;
        self.by_address.insert(handle.to_pointer() as usize, id);
        self.handles.insert(id, (handle.clone(), kind));
        Ok(handle)
    }

    /// Forgets a removed entity.
    pub fn remove(&mut self, id: EntityId) {
        if !self.tables.is_empty() {
            self.tables.retain(|number, _| entity_of_table(*number) != id);
        }
        if let Some((handle, _)) = self.handles.remove(id) {
            self.by_address.remove(&(handle.to_pointer() as usize));
            if let Some(listed) = &self.listed {
                // Ignore a failure: it means that the machine is out of memory and will be discarded.
                let _ = listed.raw_set(id.0, Lv::Nil);
            }
        }
    }

    /// Forgets an entity that a script has removed. Its handle keeps the last values, and its last title.
    pub fn leave_tombstone(&mut self, lua: &Lua, schema: &Schema, stone: Tombstone, last: &Entity) -> Result<()> {
        let id = stone.id;
        let Some(handle) = self.handle(id) else { return Ok(()) };
        let (Some(fill), Some(names)) = (&self.fill, self.names_of(last.kind)) else { return Ok(()) };
        handle.set_readonly(false);
        crate::host::fill::filling(&last.fields, || fill.call::<()>((handle, names)))?;
        for (field, value) in schema.kind(last.kind).fields.iter().zip(&last.fields) {
            if matches!(value, Value::Ratio(..) | Value::List(_) | Value::Map(_)) {
                handle.raw_set(&*field.name, to_lua(lua, value, self)?)?;
            }
        }
        handle.set_readonly(true);
        self.tombstones.insert(handle.to_pointer() as usize, stone);
        self.remove(id);
        Ok(())
    }

    /// A table of the class of an entity, with all its fields.
    pub fn whole(&self, lua: &Lua, schema: &Schema, id: EntityId, entity: &Entity) -> Result<Table> {
        let kind = schema.kind(entity.kind);
        let table = lua.create_table()?;
        table.raw_set("id", id.0)?;
        table.raw_set("kind", &*kind.name)?;
        for (field, value) in kind.fields.iter().zip(&entity.fields) {
            table.raw_set(&*field.name, to_lua(lua, value, self)?)?;
        }
        table.set_metatable(Some(self.classes[entity.kind.0 as usize].clone()))?;
        Ok(table)
    }

    /// The number of the table for a field, if there is one. Unchanged while the field is.
    pub fn table_for(&mut self, id: EntityId, field: FieldId, value: &Value) -> Option<u64> {
        let number = number_of_table(id, field);
        let (known, _) = self.tables.get_mut(&number)?;
        let is_shared = match (&*known, value) {
            (Value::List(known), Value::List(value)) => Arc::ptr_eq(known, value),
            (Value::Map(known), Value::Map(value)) => Arc::ptr_eq(known, value),
            _ => false,
        };
        if !is_shared {
            if known != value {
                return None;
            }
            // Share the value, so that it need not be compared again.
            *known = value.clone();
        }
        Some(number)
    }

    /// The table for a field, created if necessary.
    pub fn table_of(&mut self, lua: &Lua, id: EntityId, field: FieldId, value: &Value) -> Result<Lv> {
        let known = self.table_for(id, field, value).and_then(|number| self.tables.get(&number));
        if let Some((_, table)) = known {
            return Ok(table.clone());
        }
        let number = number_of_table(id, field);
        let table = uncounted(|| {
            let table = to_lua(lua, value, self)?;
            if let Some(numbered) = &self.numbered {
                numbered.raw_set(number as f64, &table)?;
            }
            Ok::<_, mlua::Error>(table)
        })?;
        self.tables.insert(number, (value.clone(), table.clone()));
        Ok(table)
    }

    /// Clears a field on the handle after the host has changed it.
    pub fn forget_field(&mut self, schema: &Schema, id: EntityId, field: FieldId) -> Result<()> {
        self.tables.remove(&number_of_table(id, field));
        let Some((handle, kind)) = self.handles.get(id) else { return Ok(()) };
        handle.set_readonly(false);
        let forgotten = handle.raw_set(&*schema.kind(*kind).field(field).name, Lv::Nil);
        handle.set_readonly(true);
        forgotten
    }
}

/// An entity that a script has removed.
pub(super) struct Tombstone {
    pub id: EntityId,
    /// Its title when it was removed.
    pub title: Arc<str>,
}

/// The fields stored on handles, and the state to which they belong.
///
/// The handles are valid as long as only scripts change that state, since scripts also write to the handles.
#[derive(Default)]
pub(super) struct Reads {
    held: RefCell<Held>,
    /// Identity of the state, and its count of changes when a script last ended. `None` if unknown.
    of: Cell<Option<(u64, u64)>>,
}

impl Reads {
    /// Records that a handle stores a field.
    pub fn note(&self, id: EntityId, field: FieldId) {
        let Held { holders, fields } = &mut *self.held.borrow_mut();
        let field_at = usize::from(field.0);
        let of = fields.entry(id);
        if of.is_held.len() <= field_at {
            of.is_held.resize(field_at + 1, false);
        }
        if !std::mem::replace(&mut of.is_held[field_at], true) {
            if of.all.is_empty() {
                holders.push(id);
            }
            of.all.push(field);
        }
    }

    /// True if the handles are valid for a state.
    pub fn are_of(&self, state: &State) -> bool {
        self.of.get() == Some((state.identity(), state.moves()))
    }

    /// Makes the handles belong to this state.
    pub fn begin(&self, state: &State) {
        self.of.set(Some((state.identity(), state.moves())));
    }

    /// Keeps the handles valid after a script has ended.
    pub fn keep_up(&self, state: &State) {
        if self.of.get().is_some_and(|(identity, _)| identity == state.identity()) {
            self.begin(state);
        }
    }

    /// Marks the handles as belonging to no state.
    pub fn disown(&self) {
        self.of.set(None);
    }

    /// The next entity whose handle has fields to clear. Call [`Reads::pop_field`] until it returns `None`, then this
    /// again.
    pub fn holder(&self) -> Option<EntityId> {
        self.held.borrow().holders.last().copied()
    }

    /// Takes the next field to clear on the handle of [`Reads::holder`].
    pub fn pop_field(&self) -> Option<FieldId> {
        let Held { holders, fields } = &mut *self.held.borrow_mut();
        let of = fields.entry(*holders.last()?);
        let Some(field) = of.all.pop() else {
            holders.pop();
            return None;
        };
        of.is_held[usize::from(field.0)] = false;
        Some(field)
    }
}

#[derive(Debug, Default)]
struct Held {
    /// Entities whose handles store fields.
    holders: Vec<EntityId>,
    fields: ByEntity<HeldFields>,
}

/// The fields stored on one handle.
#[derive(Debug, Default)]
struct HeldFields {
    all: Vec<FieldId>,
    /// True if the field is in that list, by its index.
    is_held: Vec<bool>,
}

/// The number of the table for a field.
fn number_of_table(id: EntityId, field: FieldId) -> u64 {
    u64::from(id.0) << 16 | u64::from(field.0)
}

/// The entity to whose field a table belongs.
fn entity_of_table(number: u64) -> EntityId {
    EntityId((number >> 16) as u32)
}

/// A map by entity: a list for counted ids, a hash map for the random ids of secret entities.
#[derive(Debug)]
struct ByEntity<T> {
    counted: Vec<Option<T>>,
    apart: HashMap<u32, T>,
}

/// Smaller ids are indices of the list.
const APART: u32 = 1 << 20;

impl<T> Default for ByEntity<T> {
    fn default() -> ByEntity<T> {
        ByEntity { counted: Vec::new(), apart: HashMap::new() }
    }
}

impl<T> ByEntity<T> {
    #[inline]
    fn get(&self, id: EntityId) -> Option<&T> {
        match id.0 < APART {
            true => self.counted.get(id.0 as usize)?.as_ref(),
            false => self.apart.get(&id.0),
        }
    }

    fn place(&mut self, id: EntityId) -> &mut Option<T> {
        let at = id.0 as usize;
        if self.counted.len() <= at {
            self.counted.resize_with(at + 1, || None);
        }
        &mut self.counted[at]
    }

    fn insert(&mut self, id: EntityId, value: T) {
        match id.0 < APART {
            true => *self.place(id) = Some(value),
            false => drop(self.apart.insert(id.0, value)),
        }
    }

    fn remove(&mut self, id: EntityId) -> Option<T> {
        match id.0 < APART {
            true => self.counted.get_mut(id.0 as usize)?.take(),
            false => self.apart.remove(&id.0),
        }
    }

    /// All values, in no particular order.
    fn iter(&self) -> impl Iterator<Item = (EntityId, &T)> {
        let counted = (0..).zip(&self.counted).filter_map(|(id, value)| Some((id, value.as_ref()?)));
        counted.chain(self.apart.iter().map(|(id, value)| (*id, value))).map(|(id, value)| (EntityId(id), value))
    }
}

impl<T: Default> ByEntity<T> {
    #[inline]
    fn entry(&mut self, id: EntityId) -> &mut T {
        match id.0 < APART {
            true => self.place(id).get_or_insert_with(T::default),
            false => self.apart.entry(id.0).or_default(),
        }
    }
}

/// The work that [`Handles::sync`] had to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Synced {
    Same,
    Attachments,
    /// `others`: true if entities or their attachments were added or removed.
    Renewed {
        others: bool,
    },
}
