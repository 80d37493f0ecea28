//! The fields of questions and options that the host reads.

use std::ffi::{CStr, c_int};

use mlua::{Lua, LuaString, Result, Table, Value as Lv, ffi, lua_State};

macro_rules! names {
    ($($name:ident = $text:literal),+ $(,)?) => {
        /// A field of a question or of one of its options.
        #[derive(Clone, Copy, Debug)]
        pub(super) enum Name {
            $($name),+
        }

        const TEXTS: &[&CStr] = &[$($text),+];
    };
}

names! {
    About = c"about",
    Audience = c"audience",
    Cards = c"cards",
    Check = c"check",
    Default = c"default",
    Enabled = c"enabled",
    Id = c"id",
    Label = c"label",
    Least = c"least",
    Max = c"max",
    Min = c"min",
    Note = c"note",
    Options = c"options",
    Other = c"other",
    Peek = c"peek",
    Propose = c"propose",
    Reason = c"reason",
    ReasonArgs = c"reason_args",
    Sealed = c"sealed",
    Seat = c"seat",
    Topic = c"topic",
    Total = c"total",
    Value = c"value",
    Why = c"why",
}

impl Name {
    pub fn text(self) -> &'static str {
        self.c_text().to_str().unwrap_or_default()
    }

    fn c_text(self) -> &'static CStr {
        TEXTS[self as usize]
    }
}

/// Pushes the field of a table on the stack, like `rawget`.
pub(super) unsafe fn push_field(state: *mut lua_State, table: c_int, name: Name) {
    // SAFETY: the caller gives the index of a table; the name ends with a zero byte.
    unsafe {
        let table = ffi::lua_absindex(state, table);
        ffi::lua_pushstring(state, name.c_text().as_ptr());
        ffi::lua_rawget(state, table);
    }
}

/// The names as texts of one machine, so that reading a table makes no text.
#[derive(Debug, Default)]
pub(super) struct FieldNames(Vec<LuaString>);

impl FieldNames {
    pub fn new(lua: &Lua) -> Result<FieldNames> {
        TEXTS.iter().map(|text| lua.create_string(text.to_bytes())).collect::<Result<_>>().map(FieldNames)
    }

    /// Reads the field of a table, like `rawget`.
    pub fn read(&self, table: &Table, name: Name) -> Result<Lv> {
        match self.0.get(name as usize) {
            Some(held) => table.raw_get(held),
            None => table.raw_get(name.text()),
        }
    }
}
