//! The tokens by which scripts hold entries of the agenda.

use mlua::{LightUserData, Value as Lv};

use riskbreaker_state::EntryId;

/// The token of an agenda entry: it identifies the entry, and is not usable as a number by accident. Its upper half is
/// the number for scripts that ask for one.
pub(super) fn token_of(id: EntryId, number: u32) -> Lv {
    let both = u64::from(number) << 32 | u64::from(id.0);
    Lv::LightUserData(LightUserData(both as usize as *mut std::os::raw::c_void))
}

/// The number in an entry's token.
pub(crate) fn number_of(token: usize) -> u32 {
    (token as u64 >> 32) as u32
}

/// The entry of a token.
pub(crate) fn entry_of(token: &Lv) -> Option<EntryId> {
    match token {
        Lv::LightUserData(token) => Some(EntryId(token.0 as usize as u32)),
        _ => None,
    }
}
