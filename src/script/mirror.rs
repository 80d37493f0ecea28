use std::collections::BTreeMap;

use mlua::{Lua, Result, Table, Value as Lv};

use super::exchange::to_lua;
use crate::state::{Entity, EntityId, FieldId, KindId, Schema, Stale, State};

/// The entities of one game as a script machine sees them: a frozen table for each, holding its fields.
///
/// The host's state is the truth. Writes go to both; what the host changes by itself is read again before the next run.
#[derive(Default)]
pub(super) struct Mirror {
    /// Identity of the mirrored state.
    identity: u64,
    /// By entity id.
    handles: Vec<Option<Table>>,
    by_address: BTreeMap<usize, EntityId>,
    /// Metatable of the handles of each kind.
    classes: Vec<Table>,
}

impl Mirror {
    pub fn set_classes(&mut self, classes: Vec<Table>) {
        self.classes = classes;
    }

    pub fn handle(&self, id: EntityId) -> Option<&Table> {
        self.handles.get((id.0 as usize).checked_sub(1)?)?.as_ref()
    }

    /// The entity that a table stands for.
    pub fn id_of(&self, table: &Table) -> Option<EntityId> {
        self.by_address.get(&(table.to_pointer() as usize)).copied()
    }

    /// Brings the mirror up to a state. Says whether anything but fields may have changed.
    pub fn sync(&mut self, lua: &Lua, state: &mut State, schema: &Schema) -> Result<Synced> {
        let stale = state.take_stale();
        if self.identity != state.identity() {
            self.fill(lua, state, schema)?;
            return Ok(Synced::Refilled);
        }
        if stale.is_empty() {
            return Ok(Synced::Same);
        }
        let mut fields: Vec<(EntityId, FieldId)> = Vec::new();
        for one in stale {
            match one {
                Stale::Field(entity, field) => {
                    if !fields.contains(&(entity, field)) {
                        fields.push((entity, field));
                    }
                }
                // Entities come and go with references to them: simplest is to read everything again.
                Stale::Attachments => {}
                Stale::Entity(_) => {
                    self.fill(lua, state, schema)?;
                    return Ok(Synced::Refilled);
                }
            }
        }
        for (entity, field) in fields {
            if let Some(found) = state.entity(entity) {
                self.write(lua, schema, entity, found, field)?;
            }
        }
        Ok(Synced::Fields)
    }

    fn fill(&mut self, lua: &Lua, state: &State, schema: &Schema) -> Result<()> {
        self.identity = state.identity();
        self.handles.clear();
        self.by_address.clear();
        self.handles.resize(state.ids() as usize, None);
        for (id, entity) in state.entities() {
            self.make(lua, schema, id, entity.kind)?;
        }
        for (id, entity) in state.entities() {
            self.write_all(lua, schema, id, entity)?;
        }
        Ok(())
    }

    fn make(&mut self, lua: &Lua, schema: &Schema, id: EntityId, kind: KindId) -> Result<()> {
        let declared = schema.kind(kind);
        let handle = lua.create_table_with_capacity(0, declared.fields.len() + 2)?;
        handle.raw_set("id", id.0)?;
        handle.raw_set("kind", &*declared.name)?;
        handle.set_metatable(Some(self.classes[kind.0 as usize].clone()))?;
        handle.set_readonly(true);
        self.by_address.insert(handle.to_pointer() as usize, id);
        let at = id.0 as usize - 1;
        if self.handles.len() <= at {
            self.handles.resize(at + 1, None);
        }
        self.handles[at] = Some(handle);
        Ok(())
    }

    /// Mirrors an entity that has just been made.
    pub fn spawn(&mut self, lua: &Lua, schema: &Schema, id: EntityId, entity: &Entity) -> Result<Table> {
        self.make(lua, schema, id, entity.kind)?;
        self.write_all(lua, schema, id, entity)?;
        Ok(self.handle(id).cloned().expect("it was made above"))
    }

    /// Forgets an entity that has just been taken away; a handle that a script still holds keeps its last values.
    pub fn remove(&mut self, id: EntityId) {
        if let Some(handle) = self.handles[id.0 as usize - 1].take() {
            self.by_address.remove(&(handle.to_pointer() as usize));
        }
    }

    fn write_all(&self, lua: &Lua, schema: &Schema, id: EntityId, entity: &Entity) -> Result<()> {
        let Some(handle) = self.handle(id) else { return Ok(()) };
        let kind = schema.kind(entity.kind);
        handle.set_readonly(false);
        for (field, value) in kind.fields.iter().zip(&entity.fields) {
            handle.raw_set(&*field.name, to_lua(lua, value, self)?)?;
        }
        handle.set_readonly(true);
        Ok(())
    }

    fn write(&self, lua: &Lua, schema: &Schema, id: EntityId, entity: &Entity, field: FieldId) -> Result<()> {
        let value = to_lua(lua, &entity.fields[field.0 as usize], self)?;
        self.write_field(id, &schema.kind(entity.kind).field(field).name, value)
    }

    /// Writes one field of a handle.
    pub fn write_field(&self, id: EntityId, name: &str, value: Lv) -> Result<()> {
        let Some(handle) = self.handle(id) else { return Ok(()) };
        handle.set_readonly(false);
        let written = handle.raw_set(name, value);
        handle.set_readonly(true);
        written
    }
}

/// What [`Mirror::sync`] had to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Synced {
    Same,
    Fields,
    Refilled,
}
