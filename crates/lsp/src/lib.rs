//! The language server for editors: what `check` finds, while somebody types.
//!
//! The data flow: [`Server`] takes messages from the editor in one thread and answers them from what it knows. A second thread
//! checks rulesets, each change first in its own file and then in the whole ruleset, and a newer change ends an older check. After
//! the checks it computes the odds of a card that somebody points at. Nothing writes a file: the editor applies the edits that it
//! is given.

#![deny(missing_docs)]
// Tables of cases in tests may be longer.
#![cfg_attr(not(test), deny(clippy::too_many_lines))]

mod answers;
mod call_help;
mod card_odds;
mod checker;
mod completion;
mod document;
mod finding;
mod fix;
mod lookup;
mod message;
mod outline;
mod path;
mod semantic;
mod server;
mod target;
mod token;
mod workspace;

use std::io::{self, BufRead, Write};
use std::path::Path;

pub use self::fix::{Fix, fixes};
pub use self::server::Server;
use riskbreaker_ruleset::Library;

/// Serves one editor until it says `exit` or closes the input. Returns whether it has asked for that before, by `shutdown`.
///
/// `open` finds the rulesets around one that the editor shows, given the folder of rulesets in which it lies; `None` if that
/// folder cannot be read.
///
/// # Errors
///
/// The output cannot be written. What the editor sends is no reason to end.
pub fn serve(
    input: impl BufRead + Send + 'static,
    output: impl Write,
    open: impl Fn(&Path) -> Option<Library> + 'static,
) -> io::Result<bool> {
    Server::new(output, Box::new(open))?.serve(input)
}
