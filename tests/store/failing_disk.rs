//! A simulated disk failure: SQLite's own file system with syncs and writes that report an error. It can also copy what
//! a program killed during a write would leave.
//!
//! It wraps every file of this process; only those in a folder `failing-disk` ever fail.

use std::ffi::{CStr, c_char, c_int, c_void};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Mutex, MutexGuard, Once, PoisonError};
use std::{fs, ptr};

use rusqlite::ffi::{
    SQLITE_FULL, SQLITE_IOERR_FSYNC, SQLITE_OK, sqlite3_file, sqlite3_filename, sqlite3_int64, sqlite3_io_methods,
    sqlite3_vfs, sqlite3_vfs_find, sqlite3_vfs_register,
};

/// The numbers of syncs and writes that still succeed. Negative: nothing fails.
static SYNCS: AtomicI64 = AtomicI64::new(-1);
static WRITES: AtomicI64 = AtomicI64::new(-1);

/// Held by the one test that lets the disk fail.
pub fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Makes all syncs after the next `syncs` ones fail.
pub fn fail_after_syncs(syncs: i64) {
    install();
    SYNCS.store(syncs, Ordering::SeqCst);
}

/// Makes all writes after the next `writes` ones find the disk full.
pub fn full_after_writes(writes: i64) {
    install();
    WRITES.store(writes, Ordering::SeqCst);
}

/// Ends all failures.
pub fn works_again() {
    install();
    SYNCS.store(-1, Ordering::SeqCst);
    WRITES.store(-1, Ordering::SeqCst);
}

/// The folder whose files are copied before each sync, the folder of the copies, and their number so far.
static COPIED: Mutex<Option<(PathBuf, PathBuf, usize)>> = Mutex::new(None);

/// Copies the files of a folder before each sync from now on, like a program killed at that moment. The copies are
/// numbered folders in `to`.
pub fn copy_before_syncs(folder: &Path, to: &Path) {
    install();
    *COPIED.lock().unwrap() = Some((folder.to_path_buf(), to.to_path_buf(), 0));
}

/// Stops copying. Returns the folders of the copies.
pub fn stop_copying() -> Vec<PathBuf> {
    let copied = COPIED.lock().unwrap().take();
    copied.map_or_else(Vec::new, |(_, to, count)| (0..count).map(|at| to.join(at.to_string())).collect())
}

fn copy_files() {
    if let Some((folder, to, count)) = &mut *COPIED.lock().unwrap() {
        let to = to.join(count.to_string());
        fs::create_dir_all(&to).unwrap();
        for file in fs::read_dir(folder).unwrap().map(|file| file.unwrap().path()).filter(|path| path.is_file()) {
            fs::copy(&file, to.join(file.file_name().unwrap())).unwrap();
        }
        *count += 1;
    }
}

/// True if the next one fails.
fn fails(left: &AtomicI64) -> bool {
    let before = left.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| (left > 0).then_some(left - 1));
    before == Err(0)
}

/// The methods of one open file: first those that SQLite calls, then the original ones.
#[repr(C)]
struct Methods {
    own: sqlite3_io_methods,
    behind: *const sqlite3_io_methods,
    may_fail: bool,
}

unsafe fn methods<'m>(file: *mut sqlite3_file) -> &'m Methods {
    unsafe { &*((*file).pMethods.cast::<Methods>()) }
}

unsafe extern "C" fn sync(file: *mut sqlite3_file, flags: c_int) -> c_int {
    unsafe {
        let methods = methods(file);
        if methods.may_fail {
            copy_files();
        }
        if methods.may_fail && fails(&SYNCS) {
            return SQLITE_IOERR_FSYNC;
        }
        (*methods.behind).xSync.map_or(SQLITE_OK, |sync| sync(file, flags))
    }
}

unsafe extern "C" fn write(file: *mut sqlite3_file, bytes: *const c_void, size: c_int, at: sqlite3_int64) -> c_int {
    unsafe {
        let methods = methods(file);
        if methods.may_fail && fails(&WRITES) {
            return SQLITE_FULL;
        }
        (*methods.behind).xWrite.map_or(SQLITE_OK, |write| write(file, bytes, size, at))
    }
}

unsafe extern "C" fn open(
    vfs: *mut sqlite3_vfs,
    name: sqlite3_filename,
    file: *mut sqlite3_file,
    flags: c_int,
    out: *mut c_int,
) -> c_int {
    unsafe {
        let behind = (*vfs).pAppData.cast::<sqlite3_vfs>();
        let result = (*behind).xOpen.map_or(SQLITE_OK, |open| open(behind, name, file, flags, out));
        if !(*file).pMethods.is_null() {
            let path: *const c_char = name;
            let may_fail = !path.is_null() && CStr::from_ptr(path).to_string_lossy().contains("failing-disk");
            let own = sqlite3_io_methods { xSync: Some(sync), xWrite: Some(write), ..*(*file).pMethods };
            // One for each file that is opened in a test.
            let methods = Box::new(Methods { own, behind: (*file).pMethods, may_fail });
            (*file).pMethods = ptr::from_ref(&Box::leak(methods).own);
        }
        result
    }
}

fn install() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| unsafe {
        let usual = sqlite3_vfs_find(ptr::null());
        assert!(!usual.is_null());
        let own = sqlite3_vfs {
            zName: c"failing".as_ptr(),
            pAppData: usual.cast(),
            pNext: ptr::null_mut(),
            xOpen: Some(open),
            ..*usual
        };
        assert_eq!(sqlite3_vfs_register(Box::leak(Box::new(own)), 1), SQLITE_OK);
    });
}
