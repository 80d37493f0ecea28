//! The fingerprints and snapshots of continuations, and the syntax trees that the check reads, are small C++ files compiled
//! against the engine's headers.

fn main() {
    println!("cargo::rerun-if-changed=src/continuation");
    println!("cargo::rerun-if-changed=src/syntax");
    #[cfg(feature = "continuations")]
    compile("continuation", &["fingerprint.cpp", "snapshot.cpp"]);
    #[cfg(feature = "check")]
    compile("syntax", &["tree.cpp"]);
}

/// Compiles files of `src/FOLDER` with the defines that the engine is built with.
#[cfg(any(feature = "continuations", feature = "check"))]
fn compile(folder: &str, files: &[&str]) {
    cc::Build::new()
        .cpp(true)
        .std("c++17")
        .warnings(false)
        .define("LUAI_MAXCSTACK", "1000000")
        .define("LUA_VECTOR_SIZE", "3")
        .define("LUA_API", "extern \"C\"")
        .define("NDEBUG", None)
        .include("src/continuation/luau")
        .include("src/syntax/luau")
        .opt_level(2)
        .files(files.iter().map(|file| format!("src/{folder}/{file}")))
        .compile(folder);
}
