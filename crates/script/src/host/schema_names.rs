//! The kinds and fields that a script names, without a search where it has named them before.

use std::cell::Cell;
use std::os::raw::c_int;

use mlua::{ffi, lua_State};

use super::raw::text;
use riskbreaker_state::{FieldId, KindId, Schema};

/// The names that a machine's scripts used lately, by the addresses of their texts: the engine has each text once.
pub(super) struct SchemaNames {
    slots: [Cell<Slot>; SLOTS],
}

/// The number of slots, a power of 2. A name that falls into an occupied slot replaces the one there.
const SLOTS: usize = 256;

/// A name and what it names.
#[derive(Clone, Copy)]
struct Slot {
    /// The address of the text. Another text may be there by now.
    address: usize,
    /// The kind of the field; [`NO_KIND`] if the name is that of a kind.
    of: u16,
    /// The index of the field in its kind, or of the kind.
    found: u16,
}

/// The value of [`Slot::of`] for the name of a kind.
const NO_KIND: u16 = u16::MAX;

impl Default for SchemaNames {
    fn default() -> SchemaNames {
        SchemaNames { slots: [const { Cell::new(Slot { address: 0, of: 0, found: 0 }) }; SLOTS] }
    }
}

impl SchemaNames {
    /// The kind that the text at a stack index names.
    ///
    /// # Safety
    ///
    /// The index is valid, and the state is that of the machine of these names.
    pub unsafe fn kind_at(&self, state: *mut lua_State, at: c_int, schema: &Schema) -> Option<KindId> {
        let name_of = |found: u16| Some(&*schema.kinds.get(found as usize)?.name);
        let search = |name: &str| schema.kind_named(name).map(|kind| kind.0);
        // SAFETY: as here.
        unsafe { self.find(state, at, NO_KIND, name_of, search) }.map(KindId)
    }

    /// The field of a kind that the text at a stack index names.
    ///
    /// # Safety
    ///
    /// As for [`SchemaNames::kind_at`].
    pub unsafe fn field_at(&self, state: *mut lua_State, at: c_int, kind: KindId, schema: &Schema) -> Option<FieldId> {
        let declared = schema.kind(kind);
        let name_of = |found: u16| Some(&*declared.fields.get(found as usize)?.name);
        let search = |name: &str| declared.field_named(name).map(|field| field.0);
        // SAFETY: as here.
        unsafe { self.find(state, at, kind.0, name_of, search) }.map(FieldId)
    }

    /// Finds what a text names: in its slot, if the slot's name is that text, or by a search.
    unsafe fn find<'a>(
        &self,
        state: *mut lua_State,
        at: c_int,
        of: u16,
        name_of: impl FnOnce(u16) -> Option<&'a str>,
        search: impl FnOnce(&str) -> Option<u16>,
    ) -> Option<u16> {
        // SAFETY: the caller gives a valid index, and the bytes are read before anything else can run.
        unsafe {
            if ffi::lua_type(state, at) != ffi::LUA_TSTRING {
                return None;
            }
            let mut length = 0;
            let start = ffi::lua_tolstring(state, at, &raw mut length).cast::<u8>();
            let place = &self.slots[(start as usize >> 4 ^ usize::from(of)) % SLOTS];
            let slot = place.get();
            if slot.address == start as usize
                && slot.of == of
                && name_of(slot.found).map(str::as_bytes) == Some(std::slice::from_raw_parts(start, length))
            {
                return Some(slot.found);
            }
            let found = search(text(state, at)?)?;
            place.set(Slot { address: start as usize, of, found });
            Some(found)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mlua::Lua;
    use riskbreaker_state::{Field, Kind, Type, Value};

    fn schema() -> Schema {
        let field = |name: &str| Field {
            name: name.into(),
            label: name.into(),
            ty: Type::Bool,
            default: Value::Bool(false),
            show: true,
            said: false,
            audience: None,
            peek: true,
            by_hand: false,
            origin: "".into(),
        };
        let kind = |name: &str, fields: [&str; 2]| Kind {
            name: name.into(),
            fields: fields.into_iter().map(field).collect(),
            ..Kind::default()
        };
        Schema { kinds: vec![kind("cave", ["imp", "wet"]), kind("imp", ["cave", "wet"])] }
    }

    #[test]
    fn a_name_is_found_again_and_means_another_thing_in_another_kind() {
        let (lua, names, schema) = (Lua::new(), SchemaNames::default(), schema());
        let found = |name: &str| {
            let text = lua.create_string(name).unwrap();
            // SAFETY: the text is on the stack while it is looked up.
            unsafe {
                lua.exec_raw::<()>(&text, |state| {
                    let fields =
                        [0, 1].map(|kind| names.field_at(state, -1, KindId(kind), &schema).map(|field| field.0));
                    let all = (names.kind_at(state, -1, &schema).map(|kind| kind.0), fields);
                    FOUND.set(all);
                })
            }
            .unwrap();
            FOUND.get()
        };
        for _ in 0..3 {
            assert_eq!(found("imp"), (Some(1), [Some(0), None]));
            assert_eq!(found("cave"), (Some(0), [None, Some(0)]));
            assert_eq!(found("wet"), (None, [Some(1), Some(1)]));
            assert_eq!(found("rope"), (None, [None, None]));
        }
    }

    /// What a look-up of one text as a kind, and as a field of both kinds, has found.
    type Looked = (Option<u16>, [Option<u16>; 2]);

    thread_local! {
        static FOUND: Cell<Looked> = const { Cell::new((None, [None; 2])) };
    }

    #[test]
    fn a_slot_whose_text_is_gone_is_not_believed() {
        let (lua, names, schema) = (Lua::new(), SchemaNames::default(), schema());
        let text = lua.create_string("wet").unwrap();
        // The slots claim that this text was `imp`.
        let address = text.as_bytes().as_ptr() as usize;
        names.slots.iter().for_each(|slot| slot.set(Slot { address, of: 0, found: 0 }));
        let looked = unsafe {
            lua.exec_raw::<()>(&text, |state| {
                FOUND.set((names.field_at(state, -1, KindId(0), &schema).map(|field| field.0), [None; 2]));
            })
        };
        looked.unwrap();
        assert_eq!(FOUND.get().0, Some(1));
    }
}
