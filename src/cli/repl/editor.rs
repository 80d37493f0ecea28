use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use anyhow::Context;
use reedline::{
    ColumnarMenu, EditCommand, EditMode, Emacs, FileBackedHistory, Highlighter, KeyCode, KeyModifiers, MenuBuilder,
    PromptEditMode, Reedline, ReedlineEvent, ReedlineMenu, ReedlineRawEvent, Signal, StyledText,
    default_emacs_keybindings,
};

use super::complete::Tab;
use super::lines::Next;
use super::prompt::LinePrompt;
use super::vocabulary::Vocabulary;
use crate::cli::state_folder;

/// The line editor of a terminal: history, Tab, cursor keys.
pub struct Editor {
    line: Reedline,
    /// True if the line has text.
    written: Arc<AtomicBool>,
    ahead: Arc<Mutex<TypedAhead>>,
    /// True if no text of a line may be recalled in the next one.
    forgets: bool,
}

/// The earlier lines that can be recalled.
#[derive(Clone, Copy, Debug)]
pub enum Recall {
    /// Lines of all games, stored in a file if the state folder exists.
    AllGames,
    /// Only lines of this game, since other people may have played the others.
    ThisGame,
    /// No lines, since another person types the next one.
    Nothing,
}

const MENU: &str = "words";
const REMEMBERED: usize = 2000;
/// The interval at which the waiting editor checks for something to print.
const POLL: Duration = Duration::from_millis(20);

/// The number of times that a line is begun again because the terminal answers too late; the editor waits two seconds
/// each time. After that, lines are read without the editor.
const MOST_TRIES: u32 = 3;

/// True if a line could not be begun because the terminal did not report its cursor position in time.
fn is_late(error: &std::io::Error) -> bool {
    error.to_string().contains("cursor position could not be read")
}

impl Editor {
    /// Creates an editor that completes from `words`.
    ///
    /// Setting `bell` interrupts the reading; the typed text stays for the next call.
    pub fn new(words: Arc<Mutex<Vocabulary>>, colour: bool, bell: Arc<AtomicBool>, recall: Recall) -> Editor {
        #[cfg(target_os = "linux")]
        super::hangup::end_with_the_terminal();
        let mut keys = default_emacs_keybindings();
        let tab = vec![ReedlineEvent::Menu(MENU.to_owned()), ReedlineEvent::MenuNext];
        keys.add_binding(KeyModifiers::NONE, KeyCode::Tab, ReedlineEvent::UntilFound(tab));
        keys.add_binding(KeyModifiers::SHIFT, KeyCode::BackTab, ReedlineEvent::MenuPrevious);
        let menu = ColumnarMenu::default().with_name(MENU).with_marker("» ").with_columns(4).with_column_padding(2);
        let written = Arc::new(AtomicBool::new(false));
        let ahead = Arc::new(Mutex::new(TypedAhead::default()));
        let mut line = Reedline::create()
            .with_completer(Box::new(Tab { words }))
            .with_menu(ReedlineMenu::EngineCompleter(Box::new(menu)))
            .with_edit_mode(Box::new(Keys { emacs: Emacs::new(keys), ahead: ahead.clone() }))
            .with_quick_completions(true)
            .with_partial_completions(true)
            .with_highlighter(Box::new(LineWatch { written: written.clone(), ahead: ahead.clone() }))
            .with_break_signal(bell)
            .with_poll_interval(POLL)
            .with_ansi_colors(colour);
        let history = match recall {
            Recall::AllGames => history(),
            Recall::ThisGame => FileBackedHistory::new(REMEMBERED).ok(),
            Recall::Nothing => FileBackedHistory::new(0).ok(),
        };
        if let Some(history) = history {
            line = line.with_history(Box::new(history));
        }
        Editor { line, written, ahead, forgets: matches!(recall, Recall::Nothing) }
    }

    /// Reads a line.
    pub fn read(&mut self, prompt: &str) -> anyhow::Result<Next> {
        let prompt = LinePrompt(prompt.to_owned());
        if let Some(line) = self.typed_ahead() {
            println!("{}» {line}", prompt.0);
            return Ok(Next::Line(line));
        }
        let mut tries = 0;
        loop {
            self.written.store(false, Ordering::Relaxed);
            let signal = match self.line.read_line(&prompt) {
                // A slow connection: the terminal has not reported its cursor position yet.
                Err(error) if is_late(&error) => {
                    tries += 1;
                    if tries < MOST_TRIES {
                        continue;
                    }
                    return Ok(Next::Unable);
                }
                signal => signal.context("the terminal cannot be read")?,
            };
            return Ok(match signal {
                Signal::Success(line) => {
                    if self.forgets {
                        // Cut text could be pasted into the next line.
                        self.line.run_edit_commands(&[EditCommand::InsertChar(' '), EditCommand::CutFromStart]);
                    }
                    Next::Line(line)
                }
                Signal::CtrlC if self.written.load(Ordering::Relaxed) => continue,
                Signal::CtrlC => Next::Interrupted,
                Signal::ExternalBreak(_) => Next::Called,
                _ => Next::End,
            });
        }
    }
}

/// Keys pressed while the program was busy, in one batch after an Enter.
///
/// The terminal sends such lines with a line feed after each. The line editor submits the first and drops the rest of
/// the batch, so the rest is stored here.
#[derive(Default)]
struct TypedAhead {
    submitted: bool,
    text: String,
}

impl Editor {
    /// The next complete line that was typed ahead. An incomplete rest is put into the editor.
    fn typed_ahead(&mut self) -> Option<String> {
        let mut ahead = self.ahead.lock().ok()?;
        ahead.submitted = false;
        if let Some((line, rest)) = ahead.text.split_once('\n') {
            let (line, rest) = (line.to_owned(), rest.to_owned());
            ahead.text = rest;
            return Some(line);
        }
        let begun = std::mem::take(&mut ahead.text);
        drop(ahead);
        if !begun.is_empty() {
            self.line.run_edit_commands(&[EditCommand::InsertString(begun)]);
        }
        None
    }
}

/// The Emacs key bindings. Keys that follow an Enter in the same batch are kept for the next line.
struct Keys {
    emacs: Emacs,
    ahead: Arc<Mutex<TypedAhead>>,
}

impl EditMode for Keys {
    fn parse_event(&mut self, event: ReedlineRawEvent) -> ReedlineEvent {
        let event = self.emacs.parse_event(event);
        let Ok(mut ahead) = self.ahead.lock() else { return event };
        if !ahead.submitted {
            ahead.submitted = matches!(event, ReedlineEvent::Enter);
            return event;
        }
        match &event {
            ReedlineEvent::Enter => ahead.text.push('\n'),
            ReedlineEvent::Edit(edits) => {
                for edit in edits {
                    match edit {
                        EditCommand::InsertChar(letter) => ahead.text.push(*letter),
                        EditCommand::Backspace => {
                            ahead.text.pop();
                        }
                        _ => {}
                    }
                }
            }
            _ => {}
        }
        ReedlineEvent::None
    }

    fn edit_mode(&self) -> PromptEditMode {
        self.emacs.edit_mode()
    }
}

/// The history of earlier runs; `None` if the state folder does not exist.
fn history() -> Option<FileBackedHistory> {
    let folder = state_folder()?.join("riskbreaker");
    std::fs::create_dir_all(&folder).ok()?;
    FileBackedHistory::with_file(REMEMBERED, folder.join("history.txt")).ok()
}

/// A highlighter that only records whether the line has text: Ctrl-C drops a typed line, and leaves from an empty one.
struct LineWatch {
    written: Arc<AtomicBool>,
    ahead: Arc<Mutex<TypedAhead>>,
}

impl Highlighter for LineWatch {
    fn highlight(&self, line: &str, _: usize) -> StyledText {
        self.written.store(!line.is_empty(), Ordering::Relaxed);
        // The editor continues with this line: an earlier Enter chose from the menu.
        if let Ok(mut ahead) = self.ahead.lock() {
            ahead.submitted = false;
        }
        let mut text = StyledText::new();
        text.push((Default::default(), line.to_owned()));
        text
    }
}
