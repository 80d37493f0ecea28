//! The prompt of `riskbreaker` without a command, which offers the games that were played last, named or unnamed.

use std::io::{IsTerminal as _, Write as _};
use std::path::{Path, PathBuf};

use anyhow::Result;
use riskbreaker::Library;
use riskbreaker::store::{Store, StoreError};

use super::row::{Row, Span};
use super::screen::Screen;
use super::{campaigns, library, unnamed};

/// The most games that are offered.
const MOST_OFFERED: usize = 5;

/// The answer: which game to play.
pub enum GameChoice {
    Campaign(String),
    New,
    Nothing,
}

/// Asks which game to continue. Asks only at a terminal, and only if there is a game.
pub fn offer(folder: Option<&Path>) -> Result<GameChoice> {
    if !std::io::stdin().is_terminal() || !std::io::stdout().is_terminal() {
        return Ok(GameChoice::New);
    }
    let unnamed = unnamed::files().into_iter().filter(|path| !unnamed::is_copy(path));
    let mut all: Vec<PathBuf> = campaigns::remembered().into_iter().chain(unnamed).collect();
    all.sort_by_key(|path| std::cmp::Reverse(unnamed::left(path)));
    let paths: Vec<(PathBuf, String)> = all
        .into_iter()
        .filter_map(|path| path.to_str().map(str::to_owned).map(|name| (path, name)))
        .take(MOST_OFFERED)
        .collect();
    if paths.is_empty() {
        return Ok(GameChoice::New);
    }
    let library = library::open(folder)?;
    let mut screen = Screen::stdout(false);
    screen.row(&Row::at(0).plain("The games that were played last:"))?;
    let rows = paths.iter().enumerate().map(|(at, (path, _))| {
        let name = if unnamed::is_unnamed(path) { "without a name".into() } else { campaigns::name_of(path) };
        let mut row = vec![Span::plain(format!("{}", at + 1)), Span::strong(name)];
        row.extend(described(path, &library));
        row
    });
    screen.columns(1, rows.collect())?;
    loop {
        print!("Type a number (Enter: 1), `new` for another game, or `quit` » ");
        std::io::stdout().flush()?;
        let mut line = String::new();
        if std::io::stdin().read_line(&mut line)? == 0 {
            println!();
            return Ok(GameChoice::Nothing);
        }
        match line.trim() {
            "" | "yes" | "y" => return Ok(GameChoice::Campaign(paths[0].1.clone())),
            "new" | "no" | "n" => return Ok(GameChoice::New),
            "quit" | "exit" | "q" => return Ok(GameChoice::Nothing),
            other => {
                let number = other.parse::<usize>().ok().and_then(|number| paths.get(number.wrapping_sub(1)));
                let named = || paths.iter().find(|(path, _)| campaigns::name_of(path).eq_ignore_ascii_case(other));
                if let Some((_, name)) = number.or_else(named) {
                    return Ok(GameChoice::Campaign(name.clone()));
                }
                screen.row(&Row::at(2).plain(format!("`{other}` is neither a number nor a name in the list.")))?;
            }
        }
    }
}

/// Describes the position of a campaign, or why it cannot be opened.
fn described(path: &Path, library: &Library) -> Vec<Span> {
    let found = Store::read(path, library)
        .and_then(|store| store.first())
        .and_then(|first| first.map(|campaign| Ok((campaign.scene_title()?, campaign.head()))).transpose());
    match found {
        Ok(Some((title, entry))) => vec![
            Span::plain(title),
            Span::faint(format!("entry {entry}")),
            Span::faint(unnamed::ago(unnamed::left(path))),
        ],
        Ok(None) => vec![Span::faint("no scene has begun in it")],
        Err(StoreError::Held { holder, .. }) => vec![Span::faint(format!("is being played by {holder}"))],
        Err(error) => vec![Span::faint(error.to_string())],
    }
}
