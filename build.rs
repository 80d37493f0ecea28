//! Rebuilds the program when a file of the embedded rulesets changes.

fn main() {
    println!("cargo::rerun-if-changed=rulesets");
}
