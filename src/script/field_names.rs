//! Names of fields that the host reads again and again from the tables of scripts, as texts that the engine holds already.

use mlua::{Lua, LuaString, Result, Table, Value as Lv};

macro_rules! names {
    ($($name:ident = $text:literal),+ $(,)?) => {
        /// A field of a question or of one of its options.
        #[derive(Clone, Copy, Debug)]
        pub(super) enum Name {
            $($name),+
        }

        const TEXTS: &[&str] = &[$($text),+];
    };
}

names! {
    About = "about",
    Audience = "audience",
    Check = "check",
    Default = "default",
    Enabled = "enabled",
    Id = "id",
    Label = "label",
    Least = "least",
    Max = "max",
    Min = "min",
    Note = "note",
    Options = "options",
    Other = "other",
    Propose = "propose",
    Reason = "reason",
    ReasonArgs = "reason_args",
    Sealed = "sealed",
    Seat = "seat",
    Topic = "topic",
    Total = "total",
    Value = "value",
    Why = "why",
}

impl Name {
    pub fn text(self) -> &'static str {
        TEXTS[self as usize]
    }
}

/// The names of one machine.
#[derive(Debug, Default)]
pub(super) struct FieldNames(Vec<LuaString>);

impl FieldNames {
    pub fn new(lua: &Lua) -> Result<FieldNames> {
        TEXTS.iter().map(|text| lua.create_string(text)).collect::<Result<_>>().map(FieldNames)
    }

    /// The field of a table itself, as `rawget` gives it.
    pub fn read(&self, table: &Table, name: Name) -> Result<Lv> {
        match self.0.get(name as usize) {
            Some(held) => table.raw_get(held),
            None => table.raw_get(name.text()),
        }
    }
}
