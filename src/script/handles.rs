use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

use mlua::{Function, Lua, Result, Table, Value as Lv};

use super::conversion::to_lua;
use super::field_names::{FieldNames, Name};
use super::host::fill_fields;
use crate::state::{Entity, EntityId, FieldId, Kind, KindId, Schema, Stale, State, Value};

/// The entities of one game as a script machine sees them: a frozen table for each.
///
/// A handle holds no fields. What a script reads is fetched from the host's state and kept on the handle's page, a table behind
/// it, until the field is written or something else than a script changes the state. Where it is noted what an action reads, the
/// pages are empty when it begins. A handle of an entity that was taken away holds its last values.
#[derive(Default)]
pub(super) struct Handles {
    /// Hash of what is attached to the entities, as the prelude knows it.
    attachments: Option<u64>,
    /// Tables that fields were read as.
    tables: HashMap<(EntityId, FieldId), (Value, Lv)>,
    /// Identity of the state whose entities these are.
    identity: u64,
    /// By entity id.
    handles: Vec<Option<(Table, KindId)>>,
    /// Address of the handle of each entity, by entity id; 0 where there is none.
    addresses: Vec<usize>,
    by_address: HashMap<usize, EntityId, BuildHasherDefault<AddressHash>>,
    /// The handles for the prelude, by entity id.
    pub listed: Option<Table>,
    /// The pages of the handles, by entity id.
    pub pages: Option<Table>,
    /// Names of the fields of each kind: a list.
    names: Vec<Table>,
    /// Writes all fields of a handle.
    fill: Option<Function>,
    /// For each kind, what makes the metatable of a handle.
    classes: Vec<Table>,
    field_names: FieldNames,
    /// A script has given the token of an agenda entry where a number is kept.
    pub saw_entry_number: Cell<bool>,
}

impl Handles {
    /// `classes`: one for each kind of the schema.
    pub fn set_classes(&mut self, lua: &Lua, classes: Vec<Table>, schema: &Schema) -> Result<()> {
        let names = |kind: &Kind| lua.create_sequence_from(kind.fields.iter().map(|field| &*field.name));
        self.names = schema.kinds.iter().map(names).collect::<Result<_>>()?;
        self.classes = classes;
        self.field_names = FieldNames::new(lua)?;
        self.fill = Some(fill_fields(lua)?);
        Ok(())
    }

    pub fn handle(&self, id: EntityId) -> Option<&Table> {
        self.handles.get((id.0 as usize).checked_sub(1)?)?.as_ref().map(|(handle, _)| handle)
    }

    /// A field of a table that a script has given, as `rawget` gives it.
    pub fn read(&self, table: &Table, name: Name) -> Result<Lv> {
        self.field_names.read(table, name)
    }

    /// The entity that a table stands for.
    pub fn id_of(&self, table: &Table) -> Option<EntityId> {
        self.id_at(table.to_pointer() as usize)
    }

    /// The entity whose handle has this address.
    pub fn id_at(&self, address: usize) -> Option<EntityId> {
        self.by_address.get(&address).copied()
    }

    /// The address of the handle of an entity.
    pub fn address_of(&self, id: EntityId) -> Option<usize> {
        self.addresses.get((id.0 as usize).checked_sub(1)?).copied().filter(|address| *address != 0)
    }

    /// What is attached to the entities is about to change.
    pub fn attachments_change(&mut self) {
        self.attachments = None;
    }

    /// Brings the handles up to a state.
    pub fn sync(&mut self, lua: &Lua, state: &mut State, schema: &Schema) -> Result<Synced> {
        let stale = state.take_stale();
        if self.identity != state.identity() {
            return self.renew(lua, state, schema);
        }
        if stale.iter().any(|one| matches!(one, Stale::Entity(_))) {
            return self.renew(lua, state, schema);
        }
        if stale.contains(&Stale::Attachments) {
            self.attachments_change();
            return Ok(Synced::Attachments);
        }
        Ok(Synced::Same)
    }

    fn renew(&mut self, lua: &Lua, state: &mut State, schema: &Schema) -> Result<Synced> {
        // Until all is there the handles are nobody's.
        self.identity = 0;
        let attachments = Some(state.attachments_hash());
        let mut others = attachments != self.attachments;
        for at in 0..self.handles.len() {
            let id = EntityId(at as u32 + 1);
            let kind = self.handles[at].as_ref().map(|(_, kind)| *kind);
            if kind.is_some() && state.entity(id).map(|entity| entity.kind) != kind {
                self.remove(id);
                others = true;
            }
        }
        for (id, entity) in state.entities() {
            if self.handle(id).is_none() {
                self.make(lua, schema, id, entity.kind)?;
                others = true;
            }
        }
        if others {
            // Tables that were read may hold handles of entities that are gone.
            self.tables.clear();
        }
        self.attachments = attachments;
        self.identity = state.identity();
        Ok(Synced::Renewed { others })
    }

    /// Makes the handle of an entity.
    pub fn make(&mut self, lua: &Lua, schema: &Schema, id: EntityId, kind: KindId) -> Result<Table> {
        let declared = schema.kind(kind);
        let class = &self.classes[kind.0 as usize];
        let handle = lua.create_table_with_capacity(0, 8)?;
        handle.raw_set("id", id.0)?;
        handle.raw_set("kind", &*declared.name)?;
        // What is no field never changes: the handle holds it, so that it is found at once.
        for pair in class.raw_get::<Table>("held")?.pairs::<Lv, Lv>() {
            let (name, member) = pair?;
            handle.raw_set(name, member)?;
        }
        let metatable: Table = class.raw_get::<Function>("paged")?.call((&handle, id.0))?;
        handle.set_metatable(Some(metatable))?;
        handle.set_readonly(true);
        self.by_address.insert(handle.to_pointer() as usize, id);
        let at = id.0 as usize - 1;
        if self.handles.len() <= at {
            self.handles.resize(at + 1, None);
            self.addresses.resize(at + 1, 0);
        }
        self.addresses[at] = handle.to_pointer() as usize;
        if let Some(listed) = &self.listed {
            listed.raw_set(id.0, &handle)?;
        }
        self.handles[at] = Some((handle.clone(), kind));
        Ok(handle)
    }

    /// Forgets an entity that has been taken away.
    pub fn remove(&mut self, id: EntityId) {
        if !self.tables.is_empty() {
            self.tables.retain(|(of, _), _| *of != id);
        }
        let at = id.0 as usize - 1;
        if let Some((handle, _)) = self.handles[at].take() {
            self.by_address.remove(&(handle.to_pointer() as usize));
            self.addresses[at] = 0;
            for listed in [&self.listed, &self.pages].into_iter().flatten() {
                // It only forgets: where even that fails, the machine is out of memory and thrown away.
                let _ = listed.raw_set(id.0, Lv::Nil);
            }
        }
    }

    /// Forgets an entity that a script has taken away: its handle keeps the last values.
    pub fn leave_tombstone(&mut self, lua: &Lua, schema: &Schema, id: EntityId, last: &Entity) -> Result<()> {
        let Some(handle) = self.handle(id) else { return Ok(()) };
        let (Some(fill), Some(names)) = (&self.fill, self.names.get(last.kind.0 as usize)) else { return Ok(()) };
        handle.set_readonly(false);
        super::host::filling(&last.fields, || fill.call::<()>((handle, names)))?;
        for (field, value) in schema.kind(last.kind).fields.iter().zip(&last.fields) {
            if matches!(value, Value::Ratio(..) | Value::List(_) | Value::Map(_)) {
                handle.raw_set(&*field.name, to_lua(lua, value, self)?)?;
            }
        }
        handle.set_readonly(true);
        self.remove(id);
        Ok(())
    }

    /// A table of all that an entity holds, of its class.
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

    /// The table that a field is read as: the same one for as long as the field holds the same.
    pub fn table_of(&mut self, lua: &Lua, id: EntityId, field: FieldId, value: &Value) -> Result<Lv> {
        if let Some((known, table)) = self.tables.get(&(id, field))
            && known == value
        {
            return Ok(table.clone());
        }
        let table = to_lua(lua, value, self)?;
        self.tables.insert((id, field), (value.clone(), table.clone()));
        Ok(table)
    }

    /// The host has changed a field: the handle's page must not answer for it.
    pub fn forget_field(&mut self, schema: &Schema, id: EntityId, field: FieldId) -> Result<()> {
        let Some(Some((_, kind))) = self.handles.get(id.0 as usize - 1) else { return Ok(()) };
        let name = &*schema.kind(*kind).field(field).name;
        self.tables.remove(&(id, field));
        match self.pages.as_ref().map(|pages| pages.raw_get(id.0)).transpose()?.flatten() {
            Some(page) => Table::raw_set(&page, name, Lv::Nil),
            None => Ok(()),
        }
    }
}

/// Which handles have something on their page, and what state that is of.
///
/// What stands there holds for as long as scripts alone change that state: whatever they write is written here as well.
#[derive(Default)]
pub(super) struct Pages {
    filled: RefCell<Vec<EntityId>>,
    is_filled: RefCell<Vec<bool>>,
    /// Identity of the state, and its count of changes when a script ended last; nothing where that is not known.
    of: Cell<Option<(u64, u64)>>,
}

impl Pages {
    /// Something was put on the page of an entity.
    pub fn fill(&self, id: EntityId) {
        let mut is_filled = self.is_filled.borrow_mut();
        if is_filled.len() <= id.0 as usize {
            is_filled.resize(id.0 as usize + 1, false);
        }
        if !std::mem::replace(&mut is_filled[id.0 as usize], true) {
            self.filled.borrow_mut().push(id);
        }
    }

    /// Whether the pages hold what a state holds.
    pub fn are_of(&self, state: &State) -> bool {
        self.of.get() == Some((state.identity(), state.moves()))
    }

    /// The pages are empty, and are filled from a state from now on.
    pub fn turn_to(&self, state: &State) {
        self.of.set(Some((state.identity(), state.moves())));
    }

    /// A script has ended: its changes are on the pages.
    pub fn keep_up(&self, state: &State) {
        if self.of.get().is_some_and(|(identity, _)| identity == state.identity()) {
            self.turn_to(state);
        }
    }

    /// What stands there may be no part of a state.
    pub fn disown(&self) {
        self.of.set(None);
    }

    /// Takes out an entity whose page has to be emptied.
    pub fn pop(&self) -> Option<EntityId> {
        let id = self.filled.borrow_mut().pop()?;
        self.is_filled.borrow_mut()[id.0 as usize] = false;
        Some(id)
    }
}

/// A quick hash of an address.
#[derive(Default)]
struct AddressHash(u64);

impl Hasher for AddressHash {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|byte| self.write_usize(usize::from(*byte)));
    }

    fn write_usize(&mut self, address: usize) {
        self.0 = (self.0 ^ (address as u64 >> 4)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    }
}

/// What [`Handles::sync`] had to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Synced {
    Same,
    Attachments,
    /// `others`: entities have come or gone, or what is attached to them.
    Renewed {
        others: bool,
    },
}
