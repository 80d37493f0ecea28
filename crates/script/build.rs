//! Compiles the small C++ files for fingerprints and snapshots of continuations and for syntax trees, with the header
//! files of the source from which the script engine is built.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=src/continuation");
    println!("cargo::rerun-if-changed=src/syntax");
    #[cfg(feature = "continuations")]
    compile("continuation", &["fingerprint.cpp", "snapshot.cpp"]);
    #[cfg(feature = "check")]
    compile("syntax", &["tree.cpp"]);
}

/// Compiles files of `src/FOLDER` with the defines of the engine's build.
#[cfg(any(feature = "continuations", feature = "check"))]
fn compile(folder: &str, files: &[&str]) {
    let engine = engine_source();
    cc::Build::new()
        .cpp(true)
        .std("c++17")
        .warnings(false)
        .define("LUAI_MAXCSTACK", "1000000")
        .define("LUA_VECTOR_SIZE", "3")
        .define("LUA_API", "extern \"C\"")
        .define("NDEBUG", None)
        .includes(["VM/src", "VM/include", "Common/include", "Ast/include"].map(|headers| engine.join(headers)))
        .opt_level(2)
        .files(files.iter().map(|file| format!("src/{folder}/{file}")))
        .compile(folder);
}

/// Finds the folder of the engine's source, which is in the package `luau0-src`.
///
/// That package does not expose its path. But the location of a panic in it is the path of its `src/lib.rs`, and a
/// vector size of 0 panics there before anything is built.
#[cfg(any(feature = "continuations", feature = "check"))]
fn engine_source() -> std::path::PathBuf {
    use std::path::{Path, PathBuf};
    use std::sync::Mutex;

    static FOUND: Mutex<Option<PathBuf>> = Mutex::new(None);
    let usual = std::panic::take_hook();
    std::panic::set_hook(Box::new(|panic| {
        *FOUND.lock().unwrap() = panic.location().map(|place| PathBuf::from(place.file()));
    }));
    let panicked = std::panic::catch_unwind(|| {
        luau0_src::Build::new().set_vector_size(0);
    });
    std::panic::set_hook(usual);
    let file = FOUND.lock().unwrap().take();
    let engine = file.as_deref().and_then(Path::parent).and_then(Path::parent).map(|package| package.join("luau"));
    let engine = engine.filter(|engine| panicked.is_err() && engine.join("VM/include/lua.h").is_file());
    engine.unwrap_or_else(|| {
        panic!(
            "the source of the script engine was not found: `luau0-src` seems to be at {file:?}. Build without \
             `--remap-path-prefix`, or without the features `continuations` and `check`."
        )
    })
}
