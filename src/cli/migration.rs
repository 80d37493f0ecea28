//! Prints the effects of other rules on a game.

use riskbreaker::play::Migration;
use serde_json::json;

use super::row::{Row, Tone};
use super::screen::Screen;

/// The most differences of the rules that a dry run lists.
const MOST_CHANGES: usize = 20;

/// Prints the differences of other rules and their effects on the game as a table. With `asked`, only when they come into
/// force.
pub fn show(migration: &Migration, asked: bool, screen: &mut Screen) -> std::io::Result<()> {
    if screen.json() {
        return screen.event("migration", &json!({ "migration": migration, "asked": asked }));
    }
    let when = match &migration.waits_for {
        Some(what) => format!("before the next {what}"),
        None => "at once".to_owned(),
    };
    if asked {
        // Important effects are reported when the rules come into force.
        let told = format!("{} comes into force {when}; `rules off` calls it off", migration.to);
        return if migration.waits_for.is_some() { screen.row(&Row::at(2).with(told, Tone::Note)) } else { Ok(()) };
    }
    let rows = migration.notes.iter().map(|note| {
        let rule = note.rule.as_ref().map_or(String::new(), |rule| format!(" ({rule})"));
        vec![note.fate.word().to_owned(), note.topic.clone(), format!("{}{rule}", note.text)]
    });
    screen.row(&Row::at(0).strong(format!("{} -> {}", migration.from, migration.to)))?;
    for change in migration.changes.iter().take(MOST_CHANGES) {
        screen.row(&Row::at(2).plain(change))?;
    }
    if let more @ 1.. = migration.changes.len().saturating_sub(MOST_CHANGES) {
        screen.row(&Row::at(2).faint(format!("and {more} more")))?;
    }
    screen.table(&["is", "what", "how"], rows.collect())?;
    let told = match migration.is_refused() {
        true => "it cannot take effect until the refused points are corrected".to_owned(),
        false => format!("not in force yet; `rules {} yes` puts it in force {when}", migration.to),
    };
    screen.row(&Row::at(2).with(told, Tone::Note))
}
