//! Runs a command of the user whenever it is another seat's turn, for games that are played over days.

use std::io::Write as _;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use riskbreaker::play::TurnNotice;
use riskbreaker::serve::Host;
use serde_json::json;

use super::rule_text;

/// The most notices that wait for the command. Further ones are dropped.
const MOST_WAITING: usize = 64;
/// The time limit of the command.
const LONGEST: Duration = Duration::from_secs(if cfg!(debug_assertions) { 2 } else { 20 });
/// The time that the program waits at its end for notices that were not sent yet.
const LONGEST_END: Duration = Duration::from_secs(3);
/// The interval at which a running command is checked.
const PAUSE: Duration = Duration::from_millis(10);

/// The option of the commands that play games.
#[derive(clap::Args, Clone, Debug, Default, PartialEq)]
pub struct NotifyArgs {
    /// Runs this command whenever a seat is asked something new, with the seat and the question as JSON on its standard input
    #[arg(long, value_name = "COMMAND")]
    notify: Option<String>,
}

impl NotifyArgs {
    /// True if a command is given.
    pub fn is_given(&self) -> bool {
        self.notify.is_some()
    }

    /// Runs the command for turns at the tables of a host. `log` gets a line when the command fails.
    pub fn follow(&self, host: &Host, log: impl Fn(String) + Send + Sync + 'static) {
        let Some(notifier) = self.begin() else { return };
        host.tell_turns(move |table, notice| {
            if let Some(failure) = notifier.failure() {
                log(failure);
            }
            notifier.tell(Some(table), notice);
        });
    }

    /// Starts the thread that runs the command; `None` if none is given.
    pub fn begin(&self) -> Option<Notifier> {
        self.notify.clone().map(Notifier::begin)
    }
}

/// Runs a command for each notice, one at a time, on a thread of its own. The game never waits for it.
pub struct Notifier {
    queue: Option<SyncSender<String>>,
    worker: Option<JoinHandle<()>>,
    /// The last error of the command that was not shown yet.
    failure: Arc<Mutex<Option<String>>>,
}

impl Notifier {
    fn begin(command: String) -> Notifier {
        let (queue, waiting) = sync_channel(MOST_WAITING);
        let failure = Arc::new(Mutex::new(None));
        let told = failure.clone();
        let worker = std::thread::Builder::new().name("notify".into()).spawn(move || work(&command, &waiting, &told));
        if let Err(error) = &worker {
            note(&failure, format!("cannot start a thread: {error}"));
        }
        Notifier { queue: Some(queue), worker: worker.ok(), failure }
    }

    /// Queues a notice for the command. `table`: the name of the game, if it has one.
    pub fn tell(&self, table: Option<&str>, notice: &TurnNotice) {
        let title = rule_text::without_ids(&notice.title);
        let mut message = json!({ "seat": notice.seat, "title": title });
        if let Some(table) = table {
            message["table"] = table.into();
        }
        match self.queue.as_ref().map(|queue| queue.try_send(format!("{message}\n"))) {
            Some(Err(TrySendError::Full(_))) => {
                note(&self.failure, format!("{MOST_WAITING} notices wait already; this one is dropped"));
            }
            Some(Err(TrySendError::Disconnected(_)) | Ok(())) | None => {}
        }
    }

    /// Takes the last error, as a line for the user.
    pub fn failure(&self) -> Option<String> {
        let found = self.failure.lock().unwrap_or_else(PoisonError::into_inner).take();
        found.map(|found| format!("The command of `--notify` failed: {found}. The game continues."))
    }
}

impl Drop for Notifier {
    /// Waits up to [`LONGEST_END`] for notices that were not sent yet.
    fn drop(&mut self) {
        self.queue = None;
        let end = Instant::now() + LONGEST_END;
        while self.worker.as_ref().is_some_and(|worker| !worker.is_finished()) && Instant::now() < end {
            std::thread::sleep(PAUSE);
        }
    }
}

fn work(command: &str, waiting: &Receiver<String>, failure: &Mutex<Option<String>>) {
    while let Ok(message) = waiting.recv() {
        if let Err(wrong) = run(command, &message) {
            note(failure, wrong);
        }
    }
}

fn note(failure: &Mutex<Option<String>>, wrong: String) {
    *failure.lock().unwrap_or_else(PoisonError::into_inner) = Some(wrong);
}

/// Runs the command in a shell. The notice is only on its standard input, so that a game cannot extend the command.
fn run(command: &str, message: &str) -> Result<(), String> {
    let mut shell = shell(command);
    shell.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
    let mut child = shell.spawn().map_err(|error| error.to_string())?;
    let input = child.stdin.take();
    // A command need not read its input, and must not block this thread.
    let message = message.to_owned();
    let writer = std::thread::spawn(move || input.map(|mut input| input.write_all(message.as_bytes())));
    let ended = wait(&mut child);
    if ended.is_none() {
        end(&mut child);
    }
    let _ = writer.join();
    match ended {
        Some(Ok(status)) if status.success() => Ok(()),
        Some(Ok(status)) => Err(status.to_string()),
        Some(Err(error)) => Err(error.to_string()),
        None => Err(format!("it took more than {} s and was ended", LONGEST.as_secs())),
    }
}

/// The exit status of the command; `None` if it exceeds the time limit.
fn wait(child: &mut Child) -> Option<std::io::Result<ExitStatus>> {
    let end = Instant::now() + LONGEST;
    loop {
        match child.try_wait() {
            Ok(None) if Instant::now() >= end => return None,
            Ok(None) => std::thread::sleep(PAUSE),
            Ok(Some(status)) => return Some(Ok(status)),
            Err(error) => return Some(Err(error)),
        }
    }
}

#[cfg(unix)]
fn shell(command: &str) -> Command {
    use std::os::unix::process::CommandExt as _;
    let mut shell = Command::new("/bin/sh");
    // The command gets its own process group, so that it can be ended with its children, and Ctrl-C at the game does
    // not reach it.
    shell.arg("-c").arg(command).process_group(0);
    shell
}

#[cfg(not(unix))]
fn shell(command: &str) -> Command {
    let mut shell = Command::new("cmd");
    shell.arg("/C").arg(command);
    shell
}

/// Ends the command and its children.
fn end(child: &mut Child) {
    #[cfg(unix)]
    if let Ok(group) = i32::try_from(child.id()) {
        // SAFETY: the call takes two numbers; the group is the one that the child leads, which nobody has waited for yet.
        unsafe { libc::kill(-group, libc::SIGKILL) };
    }
    let _ = child.kill();
    let _ = child.wait();
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    fn told(command: &str) -> Option<String> {
        let notifier = NotifyArgs { notify: Some(command.into()) }.begin().unwrap();
        notifier
            .tell(Some("evening"), &TurnNotice { seat: "players".into(), title: "Ann: $(touch x)? (AB1-2)".into() });
        let failure = notifier.failure.clone();
        drop(notifier);
        let mut found = failure.lock().unwrap();
        found.take()
    }

    #[test]
    fn the_command_gets_the_seat_and_the_question_on_its_standard_input() {
        let file = std::env::temp_dir().join(format!("riskbreaker-notify-{}", std::process::id()));
        assert_eq!(told(&format!("cat > '{}'", file.display())), None);
        let message: serde_json::Value = serde_json::from_str(&std::fs::read_to_string(&file).unwrap()).unwrap();
        std::fs::remove_file(&file).unwrap();
        assert_eq!(message, json!({ "seat": "players", "title": "Ann: $(touch x)?", "table": "evening" }));
    }

    #[test]
    fn a_command_that_fails_hangs_or_reads_nothing_is_named() {
        assert_eq!(told("true"), None);
        assert!(told("exit 3").unwrap().contains('3'));
        assert!(told("sleep 3600 & sleep 3600").unwrap().contains("was ended"));
    }
}
