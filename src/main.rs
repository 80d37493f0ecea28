//! The program: parses the command line, runs the command, and reports the result.

#![cfg_attr(not(test), deny(clippy::too_many_lines))]

mod cli;

use std::process::ExitCode;
use std::thread;

/// The stack size of the main work: rules may nest tables deeply, and the default differs between systems.
const STACK_BYTES: usize = 16 * 1024 * 1024;

fn main() -> ExitCode {
    let program = thread::Builder::new().name("program".into()).stack_size(STACK_BYTES).spawn(cli::program::run);
    match program.map(thread::JoinHandle::join) {
        Ok(Ok(code)) => code,
        // The panic has printed its own message.
        Ok(Err(_)) => ExitCode::from(101),
        Err(error) => {
            eprintln!("error: cannot start a thread: {error}");
            ExitCode::FAILURE
        }
    }
}
