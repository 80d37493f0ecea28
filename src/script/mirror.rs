use std::cell::RefCell;
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

use mlua::{Function, Lua, Result, Table, Value as Lv};

use super::exchange::to_lua;
use super::raw;
use crate::state::{Entity, EntityId, FieldId, Kind, KindId, Schema, Stale, State, Value};

/// The entities of one game as a script machine sees them: a frozen table for each, holding its fields.
///
/// The host's state is the truth. Writes go to both; what the host changes by itself is read again before the next run.
///
/// A bare mirror holds no fields: scripts read those from the host, which notes what they read.
#[derive(Default)]
pub(super) struct Mirror {
    bare: bool,
    /// What hangs on the entities as scripts know it, if that is known here: a hash.
    worn: Option<u64>,
    /// Tables that fields were read as, for bare handles.
    tables: HashMap<(EntityId, FieldId), (Value, Lv)>,
    /// Identity of the mirrored state.
    identity: u64,
    /// By entity id.
    handles: Vec<Option<Table>>,
    /// Where the handle of each entity lies, by entity id; 0 where there is none.
    addresses: Vec<usize>,
    by_address: HashMap<usize, EntityId, BuildHasherDefault<OfAddress>>,
    /// What the handles hold, by entity id, so that another game is mirrored by what differs.
    held: Vec<Option<Entity>>,
    /// The handles for the prelude, by entity id.
    pub listed: Option<Table>,
    /// The pages of bare handles, by entity id.
    pub pages: Option<Table>,
    /// Names of the fields of each kind: a list.
    names: Vec<Table>,
    /// Writes all fields of a handle.
    fill: Option<Function>,
    /// Metatable of the handles of each kind, or what makes one for a bare handle.
    classes: Vec<Table>,
}

impl Mirror {
    pub fn new(bare: bool) -> Mirror {
        Mirror { bare, ..Mirror::default() }
    }

    pub fn is_bare(&self) -> bool {
        self.bare
    }

    /// `classes`: one for each kind of the schema.
    pub fn set_classes(&mut self, lua: &Lua, classes: Vec<Table>, schema: &Schema) -> Result<()> {
        let names = |kind: &Kind| lua.create_sequence_from(kind.fields.iter().map(|field| &*field.name));
        self.names = schema.kinds.iter().map(names).collect::<Result<_>>()?;
        self.classes = classes;
        self.fill = Some(raw::fill(lua)?);
        Ok(())
    }

    pub fn handle(&self, id: EntityId) -> Option<&Table> {
        self.handles.get((id.0 as usize).checked_sub(1)?)?.as_ref()
    }

    /// The entity that a table stands for.
    pub fn id_of(&self, table: &Table) -> Option<EntityId> {
        self.id_at(table.to_pointer() as usize)
    }

    /// The entity whose handle lies at an address.
    pub fn id_at(&self, address: usize) -> Option<EntityId> {
        self.by_address.get(&address).copied()
    }

    /// Where the handle of an entity lies.
    pub fn address_of(&self, id: EntityId) -> Option<usize> {
        self.addresses.get((id.0 as usize).checked_sub(1)?).copied().filter(|address| *address != 0)
    }

    /// What hangs on the entities is about to change.
    pub fn attachments_change(&mut self) {
        self.worn = None;
    }

    /// Brings the mirror up to a state. Says whether anything but fields may have changed.
    pub fn sync(&mut self, lua: &Lua, state: &mut State, schema: &Schema) -> Result<Synced> {
        let stale = state.take_stale();
        if self.identity != state.identity() {
            return self.fill(lua, state, schema);
        }
        if stale.is_empty() {
            return Ok(Synced::Same);
        }
        let mut fields: Vec<(EntityId, FieldId)> = Vec::new();
        let mut others = false;
        for one in stale {
            match one {
                Stale::Field(entity, field) => {
                    if !fields.contains(&(entity, field)) {
                        fields.push((entity, field));
                    }
                }
                Stale::Attachments => {
                    self.attachments_change();
                    others = true;
                }
                // Entities come and go with references to them: simplest is to read everything again.
                Stale::Entity(_) => return self.fill(lua, state, schema),
            }
        }
        if self.bare {
            return Ok(if others { Synced::Fields } else { Synced::Same });
        }
        for (entity, field) in fields {
            if let Some(found) = state.entity(entity) {
                self.write(lua, schema, entity, found, field)?;
            }
        }
        Ok(Synced::Fields)
    }

    fn fill(&mut self, lua: &Lua, state: &mut State, schema: &Schema) -> Result<Synced> {
        // Until all is written the mirror is nobody's.
        self.identity = 0;
        let worn = Some(state.worn());
        let mut others = worn != self.worn;
        for at in 0..self.handles.len() {
            let id = EntityId(at as u32 + 1);
            let kind = self.held[at].as_ref().map(|held| held.kind);
            if kind.is_some() && state.entity(id).map(|entity| entity.kind) != kind {
                self.remove(id);
                others = true;
            }
        }
        let mut fresh = Vec::new();
        for (id, entity) in state.entities() {
            if self.handle(id).is_none() {
                self.make(lua, schema, id, entity.kind)?;
                fresh.push(id);
            }
        }
        others |= !fresh.is_empty();
        for (id, entity) in state.entities() {
            if self.bare {
                break;
            }
            if fresh.contains(&id) {
                self.write_all(lua, schema, id, entity)?;
                continue;
            }
            for (at, value) in entity.fields.iter().enumerate() {
                let held = self.held[id.0 as usize - 1].as_ref().and_then(|held| held.fields.get(at));
                let refers = !fresh.is_empty() && refers_to(value, &fresh);
                if held != Some(value) || refers {
                    self.write(lua, schema, id, entity, FieldId(at as u16))?;
                }
            }
        }
        self.worn = worn;
        self.identity = state.identity();
        Ok(Synced::Refilled { others })
    }

    fn make(&mut self, lua: &Lua, schema: &Schema, id: EntityId, kind: KindId) -> Result<()> {
        let declared = schema.kind(kind);
        let handle = lua.create_table_with_capacity(0, declared.fields.len() + 2)?;
        handle.raw_set("id", id.0)?;
        handle.raw_set("kind", &*declared.name)?;
        let class = &self.classes[kind.0 as usize];
        if self.bare {
            for pair in class.raw_get::<Table>("held")?.pairs::<Lv, Lv>() {
                let (name, member) = pair?;
                handle.raw_set(name, member)?;
            }
        }
        let metatable = match self.bare {
            true => class.raw_get::<Function>("paged")?.call((&handle, id.0))?,
            false => class.clone(),
        };
        handle.set_metatable(Some(metatable))?;
        handle.set_readonly(true);
        self.by_address.insert(handle.to_pointer() as usize, id);
        let at = id.0 as usize - 1;
        if self.handles.len() <= at {
            self.handles.resize(at + 1, None);
        }
        self.held.resize(self.handles.len(), None);
        self.held[at] = Some(Entity { kind, fields: vec![Value::None; declared.fields.len()] });
        self.addresses.resize(self.handles.len(), 0);
        self.addresses[at] = handle.to_pointer() as usize;
        if let Some(listed) = &self.listed {
            listed.raw_set(id.0, &handle)?;
        }
        self.handles[at] = Some(handle);
        Ok(())
    }

    /// Mirrors an entity that has just been made.
    pub fn spawn(&mut self, lua: &Lua, schema: &Schema, id: EntityId, entity: &Entity) -> Result<Table> {
        self.make(lua, schema, id, entity.kind)?;
        if !self.bare {
            self.write_all(lua, schema, id, entity)?;
        }
        Ok(self.handle(id).cloned().expect("it was made above"))
    }

    /// Forgets an entity that has just been taken away; a handle that a script still holds keeps its last values.
    pub fn remove(&mut self, id: EntityId) {
        self.held[id.0 as usize - 1] = None;
        if !self.tables.is_empty() {
            self.tables.retain(|(of, _), _| *of != id);
        }
        if let Some(handle) = self.handles[id.0 as usize - 1].take() {
            self.by_address.remove(&(handle.to_pointer() as usize));
            self.addresses[id.0 as usize - 1] = 0;
            for listed in [&self.listed, &self.pages].into_iter().flatten() {
                // It only forgets: where even that fails, the machine is out of memory and thrown away.
                let _ = listed.raw_set(id.0, Lv::Nil);
            }
        }
    }

    /// The same; bare handles hold their last values from now on.
    pub fn bury(&mut self, lua: &Lua, schema: &Schema, id: EntityId, last: &Entity) -> Result<()> {
        if self.bare {
            self.write_all(lua, schema, id, last)?;
        }
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

    fn write_all(&mut self, lua: &Lua, schema: &Schema, id: EntityId, entity: &Entity) -> Result<()> {
        let Some(handle) = self.handle(id) else { return Ok(()) };
        let (Some(fill), Some(names)) = (&self.fill, self.names.get(entity.kind.0 as usize)) else { return Ok(()) };
        handle.set_readonly(false);
        raw::filling(&entity.fields, || fill.call::<()>((handle, names)))?;
        for (field, value) in schema.kind(entity.kind).fields.iter().zip(&entity.fields) {
            if matches!(value, Value::Ratio(..) | Value::List(_) | Value::Map(_)) {
                handle.raw_set(&*field.name, to_lua(lua, value, self)?)?;
            }
        }
        handle.set_readonly(true);
        self.held[id.0 as usize - 1] = Some(entity.clone());
        Ok(())
    }

    fn write(&mut self, lua: &Lua, schema: &Schema, id: EntityId, entity: &Entity, field: FieldId) -> Result<()> {
        self.write_field(lua, schema, id, field, &entity.fields[field.0 as usize])
    }

    /// Writes one field of a handle.
    pub fn write_field(
        &mut self,
        lua: &Lua,
        schema: &Schema,
        id: EntityId,
        field: FieldId,
        value: &Value,
    ) -> Result<()> {
        let Some(handle) = self.handle(id).cloned() else { return Ok(()) };
        let Some(kind) = self.held[id.0 as usize - 1].as_ref().map(|held| held.kind) else { return Ok(()) };
        let name = &*schema.kind(kind).field(field).name;
        if self.bare {
            // Its page may hold what the field was before.
            self.tables.remove(&(id, field));
            return match self.pages.as_ref().map(|pages| pages.raw_get(id.0)).transpose()?.flatten() {
                Some(page) => Table::raw_set(&page, name, Lv::Nil),
                None => Ok(()),
            };
        }
        handle.set_readonly(false);
        let written = handle.raw_set(name, to_lua(lua, value, self)?);
        handle.set_readonly(true);
        self.note(id, field, value);
        written
    }

    /// Notes what a handle holds in a field from now on.
    pub fn note(&mut self, id: EntityId, field: FieldId, value: &Value) {
        if self.bare {
            return;
        }
        let held = self.held.get_mut(id.0 as usize - 1).and_then(Option::as_mut);
        if let Some(place) = held.and_then(|held| held.fields.get_mut(field.0 as usize)) {
            *place = value.clone();
        }
    }
}

/// Which bare handles hold fields for the time being.
///
/// What has been read of a bare handle lies on its page, a table behind the handle, and is found there until the next action
/// begins with empty pages.
#[derive(Default)]
pub(super) struct Pages {
    filled: RefCell<Vec<EntityId>>,
    is_filled: RefCell<Vec<bool>>,
}

impl Pages {
    /// Something was put on the page of an entity.
    pub fn show(&self, id: EntityId) {
        let mut is_filled = self.is_filled.borrow_mut();
        if is_filled.len() <= id.0 as usize {
            is_filled.resize(id.0 as usize + 1, false);
        }
        if !std::mem::replace(&mut is_filled[id.0 as usize], true) {
            self.filled.borrow_mut().push(id);
        }
    }

    /// Takes out an entity whose page has to be emptied.
    pub fn pop(&self) -> Option<EntityId> {
        let id = self.filled.borrow_mut().pop()?;
        self.is_filled.borrow_mut()[id.0 as usize] = false;
        Some(id)
    }
}

/// A quick hash of where something lies.
#[derive(Default)]
struct OfAddress(u64);

impl Hasher for OfAddress {
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

fn refers_to(value: &Value, entities: &[EntityId]) -> bool {
    let mut refers = false;
    value.each_entity(&mut |found| refers |= entities.contains(&found));
    refers
}

/// What [`Mirror::sync`] had to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Synced {
    Same,
    Fields,
    /// `others`: entities have come or gone, or what hangs on them.
    Refilled {
        others: bool,
    },
}
