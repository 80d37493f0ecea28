//! The rulesets are embedded into the program: building again when one of their files changes.

fn main() {
    println!("cargo::rerun-if-changed=rulesets");
}
