//! Places in the files of a ruleset, and the place in a script that a machine executes.

use std::os::raw::c_int;

use mlua::ffi;

/// A place in a file of a ruleset.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct FilePlace {
    pub path: String,
    pub line: u32,
}

/// The innermost place in a ruleset's file in the running calls.
pub(super) unsafe fn place_of(state: *mut mlua::lua_State) -> Option<FilePlace> {
    let place = |line, source: &[u8]| FilePlace { path: String::from_utf8_lossy(source).into_owned(), line };
    unsafe { with_place(state, 20, place) }
}

/// Calls `take` with line and file of the innermost of `levels` running calls that is in a ruleset's file.
pub(super) unsafe fn with_place<R>(
    state: *mut mlua::lua_State,
    levels: c_int,
    take: impl FnOnce(u32, &[u8]) -> R,
) -> Option<R> {
    for level in 0..levels {
        // SAFETY: the engine fills a zeroed debug record; its source text lives as long as the function.
        unsafe {
            let mut record: ffi::lua_Debug = std::mem::zeroed();
            if ffi::lua_getinfo(state, level, c"sl".as_ptr(), &raw mut record) == 0 {
                return None;
            }
            if record.short_src.is_null() {
                continue;
            }
            let source = std::ffi::CStr::from_ptr(record.short_src).to_bytes();
            if record.currentline > 0 && source.windows(4).any(|part| part == b".lua") {
                return Some(take(record.currentline as u32, source));
            }
        }
    }
    None
}
