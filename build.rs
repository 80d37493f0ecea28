//! The rulesets are embedded into the program: building again when one of their files changes. The fingerprints and
//! snapshots of continuations, and the syntax trees that the check reads, are small C++ files compiled against the engine's headers.

fn main() {
    println!("cargo::rerun-if-changed=rulesets");
    println!("cargo::rerun-if-changed=src/script/continuation");
    println!("cargo::rerun-if-changed=src/script/syntax");
    #[cfg(feature = "continuations")]
    compile("continuation", &["fingerprint.cpp", "snapshot.cpp"]);
    #[cfg(feature = "check")]
    compile("syntax", &["tree.cpp"]);
}

/// Compiles files of `src/script/FOLDER` with the defines that the engine is built with.
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
        .include("src/script/continuation/luau")
        .include("src/script/syntax/luau")
        .opt_level(2)
        .files(files.iter().map(|file| format!("src/script/{folder}/{file}")))
        .compile(folder);
}
