//! Packages of rulesets: packing, adding, updating and removing.
//!
//! A source (a file, a folder or a git repository) is read into memory as a [`package::Package`]. It is checked, its
//! specs are run, and its changes are shown. Its files are written only after a yes, into a folder that is not watched;
//! one rename then installs them.

mod add;
mod archive;
mod git;
mod install_root;
mod lock;
mod manage;
mod names;
mod overlay;
mod pack;
mod package;
mod preview;
mod search;
mod signature;
mod source;

pub use add::{AddArgs, add};
pub use install_root::user_folder;
pub use manage::{ListArgs, RemoveArgs, RollbackArgs, UpdateArgs, list, remove, rollback, update};
pub use pack::{PackArgs, pack};
pub use search::{SearchArgs, search};

use std::io::{self, BufRead as _, IsTerminal as _, Write as _};

use anyhow::Result;

/// Asks a question at a terminal. True if the answer is yes; false without a terminal.
fn agrees(question: &str) -> Result<bool> {
    if !io::stdin().is_terminal() {
        eprintln!("Nothing was written, since nobody is there to say yes. Repeat the call with --yes.");
        return Ok(false);
    }
    eprint!("{question} Type yes or no: ");
    io::stderr().flush()?;
    let mut line = String::new();
    io::stdin().lock().read_line(&mut line)?;
    let agreed = matches!(line.trim().to_lowercase().as_str(), "y" | "yes");
    if !agreed {
        eprintln!("Nothing was written.");
    }
    Ok(agreed)
}
