//! The language server for editors: reports the problems that `check` finds while somebody types.
//!
//! [`LanguageServer`] reads the messages of the editor on one thread and answers them from known results. A second thread
//! checks rulesets: each change first in its own file and then in the whole ruleset, and a newer change interrupts an
//! older check. After the checks it computes the odds of the card under the mouse. The editor applies
//! the edits: the server writes no file of a ruleset, only copies of built-in sources for reading.

#![deny(missing_docs)]
// Tables of cases in tests may be longer.
#![cfg_attr(not(test), deny(clippy::too_many_lines))]

mod answers;
mod call_help;
mod card_odds;
mod checker;
mod completion;
mod data_completion;
mod document;
mod expected;
mod field_values;
mod finding;
mod fix;
mod found_items;
mod host_keys;
mod lookup;
mod message;
mod new_actions;
mod outline;
mod path;
mod rename;
mod scopes;
mod semantic;
mod server;
mod source_copies;
mod target;
mod token;
mod type_text;
mod verb_params;
mod workspace;

use std::io::{self, BufRead, Write};
use std::path::{Path, PathBuf};

pub use self::fix::{Fix, fixes};
pub use self::server::LanguageServer;
use riskbreaker_ruleset::Library;

/// Serves one editor until it sends `exit` or closes the input. Returns true if it sent `shutdown` first.
///
/// `open` returns the library with the rulesets of a folder; `None` if the folder cannot be read. `copies` is a folder for
/// read-only copies of built-in rulesets: a definition in them leads to the copy. `None`: such definitions are not found.
///
/// # Errors
///
/// The output cannot be written. Invalid messages of the editor are no error.
pub fn serve(
    input: impl BufRead + Send + 'static,
    output: impl Write,
    open: impl Fn(&Path) -> Option<Library> + 'static,
    copies: Option<PathBuf>,
) -> io::Result<bool> {
    LanguageServer::new(output, Box::new(open), copies)?.serve(input)
}
