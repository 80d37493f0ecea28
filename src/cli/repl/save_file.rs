//! Saved games: writing one, loading one, and the backup of a game that nobody saved.

use std::fmt;
use std::fs;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use riskbreaker::play::is_saved_game;
use riskbreaker::ruleset::system_message;
use riskbreaker::{Session, Step};
use serde_json::json;

use super::command::{Command, Word};
use super::line::split_first;
use super::{Complaint, Done, Repl};
use crate::cli::known_entries::KnownEntries;
use crate::cli::row::{Row, Tone};
use crate::cli::state_folder;
use crate::cli::{campaigns, file};

/// Unsaved games that are kept, the newest ones.
const MOST_KEPT: usize = 5;

/// What is saved of the game, and where its recovery file is.
#[derive(Debug, Default)]
pub struct Saved {
    /// The game when it was last saved or loaded.
    game: Fingerprint,
    /// The file it was saved to or loaded from.
    file: Option<PathBuf>,
    /// The file that the last `save` would have overwritten.
    refused: Option<PathBuf>,
    /// Whether leaving was refused because the game is not saved.
    warned: bool,
    /// Where a copy is kept after each line; `None` where nobody sits at a terminal.
    recovery: Option<PathBuf>,
    /// The game that the copy holds.
    copied: Fingerprint,
}

/// Tells a game from others: by how many decisions were made, and by what would be saved of it. After an undo another decision
/// makes another game of as many.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Fingerprint {
    decisions: u32,
    text: u64,
}

impl Fingerprint {
    fn of(session: &Session) -> Fingerprint {
        Fingerprint::with_text(session).0
    }

    /// The same, and what would be saved.
    fn with_text(session: &Session) -> (Fingerprint, String) {
        let (mut hasher, decisions, saved) = (DefaultHasher::new(), session.decisions(), session.save());
        // Nothing is lost of a game in which nobody has decided anything.
        if decisions > 0 {
            saved.hash(&mut hasher);
        }
        (Fingerprint { decisions, text: hasher.finish() }, saved)
    }
}

impl Repl {
    /// Keeps a copy of the game after each line, and offers the last game that was left unsaved.
    pub(super) fn keep_recovery_file(&mut self) -> Done {
        self.note_saved();
        let Some(folder) = recovery_folder() else { return Ok(()) };
        // An earlier process may have had the same number, as in a container; its game may still be there.
        let name = |number: u32| folder.join(format!("{}-{number}.json", std::process::id()));
        self.saved.recovery = (0..).map(name).find(|path| !path.exists());
        let games = self.unsaved_games();
        let text = match games.as_slice() {
            _ if self.screen.json() => return Ok(()),
            [] => return Ok(()),
            [game] => format!("You left an earlier game without saving it ({game}). `recover` continues it."),
            all => format!("You left {} games without saving them. `recover` lists them.", all.len()),
        };
        Ok(self.screen.row(&Row::at(0).with(text, Tone::Note))?)
    }

    /// Brings the copy up to date. Says whether that was possible; without a copy the game goes on all the same.
    pub(super) fn update_recovery_file(&mut self) -> bool {
        self.remember_entries();
        // A campaign keeps each line itself.
        let Some(path) = self.saved.recovery.clone().filter(|_| self.campaign.is_none()) else { return true };
        let (now, text) = Fingerprint::with_text(&self.session);
        if now == self.saved.copied {
            return true;
        }
        if self.would_lose(now) {
            if file::replace(&path, text).is_err() {
                return false;
            }
        } else {
            let _ = fs::remove_file(&path);
        }
        self.saved.copied = now;
        true
    }

    /// Remembers on this machine which entries of the campaign are on the disk.
    pub(super) fn remember_entries(&mut self) {
        let Some(campaign) = &self.campaign else { return };
        if self.known_entries.as_ref().is_none_or(|known| !known.is_of(campaign)) {
            self.known_entries = KnownEntries::of(campaign);
        }
        if let Some(known) = &mut self.known_entries {
            known.note(campaign);
        }
    }

    /// Notes that the game as it stands is in a file, or is the one that everything begins with.
    fn note_saved(&mut self) {
        self.saved.game = Fingerprint::of(&self.session);
        self.saved.copied = self.saved.game;
    }

    /// Whether leaving now would lose something.
    fn is_unsaved(&self) -> bool {
        self.would_lose(Fingerprint::of(&self.session))
    }

    /// The same of the game of this mark.
    fn would_lose(&self, now: Fingerprint) -> bool {
        self.campaign.is_none() && !matches!(self.step, Step::Over(_)) && now != self.saved.game
    }

    /// Whether the table may be left: at a terminal, an unsaved game is left only when asked twice.
    pub(super) fn may_leave(&mut self, how: &str) -> Result<bool, Complaint> {
        if self.saved.recovery.is_none() || !self.is_unsaved() || self.saved.warned {
            return Ok(true);
        }
        self.saved.warned = true;
        let text = format!("This game is not saved. `save FILE` saves it; {how} again leaves without saving.");
        self.screen.row(&Row::at(2).with(text, Tone::Note))?;
        Ok(false)
    }

    /// Another line was typed: leaving is refused once more before it is done.
    pub(super) fn stays(&mut self, line: &str) {
        let (first, rest) = split_first(line);
        let word = Command::find(first).map(|command| command.word);
        let leaves = match word {
            Some(Word::Quit | Word::Load | Word::New | Word::Rematch | Word::Recover) => true,
            Some(Word::Encounter) => rest.eq_ignore_ascii_case("yes"),
            _ => false,
        };
        if !leaves {
            self.saved.warned = false;
        }
        if word != Some(Word::Save) {
            self.saved.refused = None;
        }
    }

    /// Removes the copy of a game that nobody needs any more.
    pub(super) fn close_recovery_file(&self) {
        if let Some(path) = self.saved.recovery.as_ref().filter(|_| !self.is_unsaved()) {
            let _ = fs::remove_file(path);
        }
    }

    /// `save`: writes the game to a file, whole or not at all.
    pub(super) fn save(&mut self, rest: &str) -> Done {
        if let Some(path) =
            file_named(rest).filter(|path| path.extension().is_some_and(|ending| ending == campaigns::ENDING))
        {
            return self.begin_campaign(path);
        }
        if let (None, Some(campaign)) = (file_named(rest), &self.campaign) {
            campaign.must_be_unchanged().map_err(super::campaign::wrong)?;
            return self.say_done(&format!("every line is kept in {}", campaign.name()));
        }
        let path = match (file_named(rest), &self.saved.file) {
            (Some(path), _) => path,
            (None, Some(path)) => path.clone(),
            (None, None) => return Err(Complaint::wrong("Give a file name: `save evening.json`.")),
        };
        if path.exists() && !is_saved_game(&path).unwrap_or(true) {
            let text = format!("{} is there already and is no saved game. Give another name.", path.display());
            return Err(Complaint::Wrong(text));
        }
        let known = self.saved.file.as_ref() == Some(&path) || self.saved.refused.as_ref() == Some(&path);
        if self.saved.recovery.is_some() && !known && path.exists() {
            let text = format!("{} exists already. The same line again overwrites it.", path.display());
            self.saved.refused = Some(path);
            return Err(Complaint::Wrong(text));
        }
        let whole = self.whole_game()?;
        if let Err(error) = file::replace(&path, whole.as_ref().unwrap_or(&self.session).save()) {
            return Err(Complaint::Wrong(format!("Cannot write {}: {}.", path.display(), system_message(&error))));
        }
        self.note_saved();
        if let Some(copy) = &self.saved.recovery {
            let _ = fs::remove_file(copy);
        }
        self.say_done(&format!("saved in {}", path.display()))?;
        self.saved.file = Some(path);
        Ok(())
    }

    /// `load`: leaves this game for a saved one.
    pub(super) fn load(&mut self, rest: &str) -> Done {
        let Some(path) = file_named(rest) else {
            return Err(Complaint::wrong("Give the file of a saved game: `load evening.json`."));
        };
        if path.extension().is_some_and(|ending| ending == campaigns::ENDING) {
            let name = path.display();
            return Err(Complaint::Wrong(format!(
                "{name} is a campaign: leave this game, and `riskbreaker play {name}`."
            )));
        }
        let session = self.read_game(&path)?;
        if !self.may_leave("the same line")? {
            return Ok(());
        }
        self.say_done(&format!("{} from {}", session.ruleset().id(), path.display()))?;
        self.go_over_to(session, Some(path))
    }

    /// `recover [N]`: continues a game that was left unsaved; without a number it lists several ones.
    pub(super) fn recover(&mut self, rest: &str) -> Done {
        let mut games = self.unsaved_games();
        let at = match (rest, games.len()) {
            (_, 0) => return Err(Complaint::wrong("No unsaved game is kept. `load FILE` continues a saved one.")),
            ("", 1) => 0,
            ("", _) => return self.list_unsaved(&games),
            (number, last) => match number.parse::<usize>() {
                Ok(number) if (1..=last).contains(&number) => number - 1,
                _ => {
                    let text = format!("Give the number of a game, 1 to {last}: `recover` lists them.");
                    return Err(Complaint::Wrong(text));
                }
            },
        };
        let path = games.swap_remove(at).path;
        let session = self.read_game(&path)?;
        if !self.may_leave("the same line")? {
            return Ok(());
        }
        if let Some(campaign) = &mut self.campaign {
            campaign.adopt(&session, "the game that was left").map_err(super::campaign::wrong)?;
        }
        self.go_over_to(session, None)?;
        // It is still unsaved, and from now on kept as this game's copy.
        (self.saved.game, self.saved.copied) = (Fingerprint::default(), Fingerprint::default());
        // Where no copy can be written, the one that it came from stays.
        if self.update_recovery_file() {
            let _ = fs::remove_file(path);
        }
        Ok(())
    }

    fn read_game(&self, path: &Path) -> Result<Session, Complaint> {
        let unreadable =
            |error: io::Error| Complaint::Wrong(format!("Cannot read {}: {}.", path.display(), system_message(&error)));
        let text = file::read(path).map_err(unreadable)?;
        Session::load(&self.library, &text).map_err(|error| Complaint::Wrong(format!("{}: {error}", path.display())))
    }

    /// Leaves this game for another one.
    pub(super) fn go_over_to(&mut self, session: Session, file: Option<PathBuf>) -> Done {
        if let (Some(campaign), Some(path)) = (&mut self.campaign, &file) {
            campaign.adopt(&session, &campaigns::name_of(path)).map_err(super::campaign::wrong)?;
        }
        self.replace_session(session);
        // A scene that was prepared is one by the rules of the game that is left.
        self.encounter = None;
        self.done.clear();
        self.about = None;
        self.look_out_anew();
        let from_file = file.is_some();
        self.saved.file = file;
        self.saved.warned = false;
        if from_file {
            self.session.take_events();
        }
        self.settle()?;
        self.note_saved();
        Ok(())
    }

    /// Plays on with another session: what was asked and undone in the one before is over.
    pub(super) fn replace_session(&mut self, session: Session) {
        self.session.replace(session);
        self.replayed = None;
        self.undone.clear();
        self.turned = true;
        self.machine = None;
        self.asked = None;
        self.focus = None;
    }

    pub(super) fn say_done(&mut self, text: &str) -> Done {
        if self.screen.json() {
            return Ok(self.screen.event("done", &json!({ "text": text }))?);
        }
        Ok(self.screen.row(&Row::at(2).plain(text))?)
    }

    /// Lists the games that were left unsaved.
    fn list_unsaved(&mut self, games: &[UnsavedGame]) -> Done {
        let text = format!("You left {} games without saving them. `recover 1` continues the newest.", games.len());
        self.screen.row(&Row::at(2).plain(text))?;
        for (at, game) in games.iter().enumerate() {
            self.screen.row(&Row::at(2).plain(format!("{}  {game}", at + 1)))?;
        }
        Ok(())
    }

    /// The games that were left unsaved and are not being played, the newest first.
    fn unsaved_games(&self) -> Vec<UnsavedGame> {
        let Some(folder) = self.saved.recovery.as_ref().and_then(|own| own.parent()) else { return Vec::new() };
        let mut games: Vec<(SystemTime, PathBuf)> = fs::read_dir(folder)
            .into_iter()
            .flatten()
            .flatten()
            .filter(|entry| self.saved.recovery.as_ref() != Some(&entry.path()) && !is_played(&entry.path()))
            .filter_map(|entry| Some((entry.metadata().ok()?.modified().ok()?, entry.path())))
            .collect();
        games.sort();
        games.reverse();
        for (_, old) in games.iter().skip(MOST_KEPT) {
            let _ = fs::remove_file(old);
        }
        games.truncate(MOST_KEPT);
        games.into_iter().map(|(left, path)| UnsavedGame { ruleset: ruleset_of(&path), left, path }).collect()
    }
}

/// A game that was left unsaved.
struct UnsavedGame {
    path: PathBuf,
    /// The id of its ruleset, if it can be read.
    ruleset: Option<String>,
    /// When its last line was carried out.
    left: SystemTime,
}

impl fmt::Display for UnsavedGame {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let minutes = self.left.elapsed().map_or(0, |since| since.as_secs() / 60);
        let (many, unit) = match minutes {
            0 => return write!(f, "{}, a moment ago", self.ruleset.as_deref().unwrap_or("unknown rules")),
            1..60 => (minutes, "minute"),
            60..2880 => (minutes / 60, "hour"),
            _ => (minutes / 1440, "day"),
        };
        let plural = if many == 1 { "" } else { "s" };
        write!(f, "{}, {many} {unit}{plural} ago", self.ruleset.as_deref().unwrap_or("unknown rules"))
    }
}

/// The id of the ruleset of a saved game.
fn ruleset_of(path: &Path) -> Option<String> {
    #[derive(serde::Deserialize)]
    struct OfRuleset {
        ruleset: String,
    }
    serde_json::from_str::<OfRuleset>(&file::read(path).ok()?).ok().map(|saved| saved.ruleset)
}

/// Whether another process that still runs keeps this copy, which is named by its number.
fn is_played(path: &Path) -> bool {
    let stem = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
    match stem.split('-').next().unwrap_or_default().parse::<u32>() {
        Ok(process) => process != std::process::id() && Path::new(&format!("/proc/{process}")).exists(),
        Err(_) => true,
    }
}

/// The folder of the copies, where one can be had.
fn recovery_folder() -> Option<PathBuf> {
    let folder = state_folder()?.join("riskbreaker").join("unsaved");
    fs::create_dir_all(&folder).ok()?;
    Some(folder)
}

fn file_named(rest: &str) -> Option<PathBuf> {
    let name = rest.trim_matches('"');
    (!name.is_empty()).then(|| PathBuf::from(name))
}
