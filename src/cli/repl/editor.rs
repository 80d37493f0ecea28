use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use anyhow::Context;
use reedline::{
    ColumnarMenu, Emacs, FileBackedHistory, Highlighter, KeyCode, KeyModifiers, MenuBuilder, Reedline, ReedlineEvent,
    ReedlineMenu, Signal, StyledText, default_emacs_keybindings,
};

use super::complete::Tab;
use super::lines::Next;
use super::prompt::Shown;
use super::vocabulary::Vocabulary;
use crate::cli::state_folder;

/// The line editor of a terminal: history, Tab, cursor keys.
pub struct Editor {
    line: Reedline,
    /// Whether something stands in the line.
    written: Arc<AtomicBool>,
}

const MENU: &str = "words";
const REMEMBERED: usize = 2000;
/// How often the waiting editor looks whether something is to be told.
const POLL: Duration = Duration::from_millis(20);

impl Editor {
    /// Makes one that completes by `words`. The history is kept in a file where a folder for it can be had.
    ///
    /// When `bell` is set the reading is interrupted; what is written stays for the next.
    pub fn new(words: Arc<Mutex<Vocabulary>>, colour: bool, bell: Arc<AtomicBool>) -> Editor {
        let mut keys = default_emacs_keybindings();
        let tab = vec![ReedlineEvent::Menu(MENU.to_owned()), ReedlineEvent::MenuNext];
        keys.add_binding(KeyModifiers::NONE, KeyCode::Tab, ReedlineEvent::UntilFound(tab));
        keys.add_binding(KeyModifiers::SHIFT, KeyCode::BackTab, ReedlineEvent::MenuPrevious);
        let menu = ColumnarMenu::default().with_name(MENU).with_marker("» ").with_columns(4).with_column_padding(2);
        let written = Arc::new(AtomicBool::new(false));
        let mut line = Reedline::create()
            .with_completer(Box::new(Tab { words }))
            .with_menu(ReedlineMenu::EngineCompleter(Box::new(menu)))
            .with_edit_mode(Box::new(Emacs::new(keys)))
            .with_quick_completions(true)
            .with_partial_completions(true)
            .with_highlighter(Box::new(Watch { written: written.clone() }))
            .with_break_signal(bell)
            .with_poll_interval(POLL)
            .with_ansi_colors(colour);
        if let Some(history) = history() {
            line = line.with_history(Box::new(history));
        }
        Editor { line, written }
    }

    /// Lets the person write a line.
    pub fn read(&mut self, prompt: &str) -> anyhow::Result<Next> {
        let prompt = Shown(prompt.to_owned());
        loop {
            self.written.store(false, Ordering::Relaxed);
            let signal = self.line.read_line(&prompt).context("the terminal cannot be read")?;
            return Ok(match signal {
                Signal::Success(line) => Next::Line(line),
                Signal::CtrlC if self.written.load(Ordering::Relaxed) => continue,
                Signal::CtrlC => Next::Interrupted,
                Signal::ExternalBreak(_) => Next::Called,
                _ => Next::End,
            });
        }
    }
}

/// The lines of earlier evenings, if there is a folder that may keep them.
fn history() -> Option<FileBackedHistory> {
    let folder = state_folder()?.join("riskbreaker");
    std::fs::create_dir_all(&folder).ok()?;
    FileBackedHistory::with_file(REMEMBERED, folder.join("history.txt")).ok()
}

/// Leaves the line unpainted, and notes whether there is one: Ctrl-C drops a line that is written, and leaves only from an empty one.
struct Watch {
    written: Arc<AtomicBool>,
}

impl Highlighter for Watch {
    fn highlight(&self, line: &str, _: usize) -> StyledText {
        self.written.store(!line.is_empty(), Ordering::Relaxed);
        let mut text = StyledText::new();
        text.push((Default::default(), line.to_owned()));
        text
    }
}
