//! Ends the program when its terminal disappears. The system only notifies programs that the terminal belongs to, and
//! the line editor would read the end of the input for ever.

/// The exit code after a hangup, as if the signal had ended the program.
const HUNG_UP: i32 = 128 + 1;

/// Ends the program when the terminal at standard input disappears. The campaign then has everything up to the last
/// line.
pub fn end_with_the_terminal() {
    let wait = || {
        loop {
            let mut input = libc::pollfd { fd: libc::STDIN_FILENO, events: 0, revents: 0 };
            // SAFETY: there is one record, which the call may write to.
            let found = unsafe { libc::poll(&raw mut input, 1, -1) };
            if found > 0 && input.revents & libc::POLLHUP != 0 {
                std::process::exit(HUNG_UP);
            }
            let again = found < 0 && std::io::Error::last_os_error().kind() == std::io::ErrorKind::Interrupted;
            if !again {
                return;
            }
        }
    };
    // If the thread cannot be started, the program continues without it.
    let _ = std::thread::Builder::new().name("terminal".into()).spawn(wait);
}
