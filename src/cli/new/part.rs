//! What a call of `new` names, and what it has written.

use std::path::PathBuf;

#[derive(clap::Args)]
pub struct NewPart {
    /// Its id, which is also the name of its file: small letters, digits and `_`
    pub name: String,
    /// The ruleset it is for; the only one on the disk if none is named
    #[arg(long = "in", value_name = "ID")]
    pub ruleset: Option<String>,
}

/// The written files, and the next steps.
pub struct Written {
    pub files: Vec<PathBuf>,
    pub then: Vec<String>,
    /// True if the ruleset passes the check and its specs.
    pub well: bool,
}
