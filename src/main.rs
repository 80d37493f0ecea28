//! The program: reads the command line, does what it says, and reports.

#![cfg_attr(not(test), deny(clippy::too_many_lines))]

mod cli;

use std::process::ExitCode;
use std::thread;

/// Rules may nest their tables deep, and the stack of a main thread differs from system to system.
const STACK_BYTES: usize = 16 * 1024 * 1024;

fn main() -> ExitCode {
    let program = thread::Builder::new().name("program".into()).stack_size(STACK_BYTES).spawn(cli::run);
    match program.map(thread::JoinHandle::join) {
        Ok(Ok(code)) => code,
        // The panic has told of itself.
        Ok(Err(_)) => ExitCode::from(101),
        Err(error) => {
            eprintln!("error: cannot start a thread: {error}");
            ExitCode::FAILURE
        }
    }
}
