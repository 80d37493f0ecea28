//! The rulesets are embedded into the program: building again when one of their files changes. The fingerprints of
//! continuations are a small C++ file that is compiled against the engine's headers.

fn main() {
    println!("cargo::rerun-if-changed=rulesets");
    println!("cargo::rerun-if-changed=src/script/continuation");
    #[cfg(feature = "continuations")]
    continuations();
}

/// With the defines that the engine is built with.
#[cfg(feature = "continuations")]
fn continuations() {
    let folder = "src/script/continuation";
    cc::Build::new()
        .cpp(true)
        .std("c++17")
        .warnings(false)
        .define("LUAI_MAXCSTACK", "1000000")
        .define("LUA_VECTOR_SIZE", "3")
        .define("LUA_API", "extern \"C\"")
        .define("NDEBUG", None)
        .include(format!("{folder}/luau"))
        .opt_level(2)
        .file(format!("{folder}/fingerprint.cpp"))
        .compile("continuation");
}
