use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use anyhow::Context;
use reedline::{
    ColumnarMenu, Emacs, FileBackedHistory, KeyCode, KeyModifiers, MenuBuilder, Reedline, ReedlineEvent, ReedlineMenu,
    Signal, SimpleMatchHighlighter, default_emacs_keybindings,
};

use super::complete::Tab;
use super::lines::Next;
use super::prompt::Shown;
use super::vocabulary::Vocabulary;

/// The line editor of a terminal: history, Tab, cursor keys.
pub struct Editor {
    line: Reedline,
}

const MENU: &str = "words";
const REMEMBERED: usize = 2000;

impl Editor {
    /// Makes one that completes by `words`. The history is kept in a file where a folder for it can be had.
    pub fn new(words: Arc<Mutex<Vocabulary>>, colour: bool) -> Editor {
        let mut keys = default_emacs_keybindings();
        let tab = vec![ReedlineEvent::Menu(MENU.to_owned()), ReedlineEvent::MenuNext];
        keys.add_binding(KeyModifiers::NONE, KeyCode::Tab, ReedlineEvent::UntilFound(tab));
        keys.add_binding(KeyModifiers::SHIFT, KeyCode::BackTab, ReedlineEvent::MenuPrevious);
        let menu = ColumnarMenu::default().with_name(MENU).with_columns(4).with_column_padding(2);
        let mut line = Reedline::create()
            .with_completer(Box::new(Tab { words }))
            .with_menu(ReedlineMenu::EngineCompleter(Box::new(menu)))
            .with_edit_mode(Box::new(Emacs::new(keys)))
            .with_quick_completions(true)
            .with_partial_completions(true)
            .with_highlighter(Box::<SimpleMatchHighlighter>::default())
            .with_ansi_colors(colour);
        if let Some(history) = history() {
            line = line.with_history(Box::new(history));
        }
        Editor { line }
    }

    /// Lets the person write a line.
    pub fn read(&mut self, prompt: &str) -> anyhow::Result<Next> {
        let signal = self.line.read_line(&Shown(prompt.to_owned())).context("the terminal cannot be read")?;
        Ok(match signal {
            Signal::Success(line) => Next::Line(line),
            Signal::CtrlC => Next::Interrupted,
            _ => Next::End,
        })
    }
}

/// The lines of earlier evenings, if there is a folder that may keep them.
fn history() -> Option<FileBackedHistory> {
    let folder = state_folder()?.join("riskbreaker");
    std::fs::create_dir_all(&folder).ok()?;
    FileBackedHistory::with_file(REMEMBERED, folder.join("history.txt")).ok()
}

fn state_folder() -> Option<PathBuf> {
    let folder = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    if cfg!(windows) {
        return folder("LOCALAPPDATA");
    }
    folder("XDG_STATE_HOME").or_else(|| folder("HOME").map(|home| home.join(".local").join("state")))
}
