use std::env;
use std::io::{self, Write};
use std::process::{Child, ChildStdin, Command, Stdio};

use super::interrupt::CtrlCSuspended;

/// The prompt of `less` below a page.
const HOW_TO_RETURN: &str = "-Ps Space shows more, q goes back";

/// Shows long output page by page: the program that `PAGER` names, or `less`.
pub struct Pager {
    child: Child,
    input: Option<ChildStdin>,
    /// Leaves Ctrl-C to the pager, so that it does not end the game.
    _interrupt: CtrlCSuspended,
}

impl Pager {
    /// Starts the pager. Returns `None` if there is none, or if `PAGER` is empty or `cat`.
    pub fn start() -> Option<Pager> {
        let named = env::var("PAGER").unwrap_or_else(|_| "less".to_owned());
        let mut words = named.split_whitespace();
        let program = words.next().filter(|program| *program != "cat")?;
        let mut command = Command::new(program);
        command.args(words).stdin(Stdio::piped());
        if env::var_os("LESS").is_none() {
            command.env("LESS", "FRX"); // ends at once where all fits, keeps colours, leaves the text standing
        }
        // Lines typed too early become commands of the pager: it must not write files or start programs.
        command.env("LESSSECURE", "1");
        if program == "less" {
            command.arg(HOW_TO_RETURN);
        }
        let interrupt = CtrlCSuspended::begin();
        let mut child = command.spawn().ok()?;
        let input = child.stdin.take();
        Some(Pager { child, input, _interrupt: interrupt })
    }
}

impl Write for Pager {
    /// Accepts all output, even after the reader has left the pager.
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if let Some(input) = &mut self.input {
            match input.write(bytes) {
                Err(error) if error.kind() == io::ErrorKind::BrokenPipe => self.input = None,
                written => return written,
            }
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Drop for Pager {
    fn drop(&mut self) {
        drop(self.input.take());
        let _ = self.child.wait();
    }
}
