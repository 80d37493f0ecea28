//! Saved games: naming, exporting, loading, and continuing unnamed ones.

use std::io;
use std::path::{Path, PathBuf};

use riskbreaker::Session;
use riskbreaker::play::is_saved_game;
use riskbreaker::ruleset::system_message;
use serde_json::json;

use super::campaign::wrong;
use super::command::{Command, Word};
use super::line::split_first;
use super::pending::Saved;
use super::{Complaint, Done, Repl};
use crate::cli::figures::counted;
use crate::cli::known_entries::KnownEntries;
use crate::cli::row::{Row, Tone};
use crate::cli::unnamed::{self, UnnamedGame};
use crate::cli::{campaigns, file};

/// The extension of an exported game.
const EXPORT: &str = "json";

impl Repl {
    /// Prints that earlier unnamed games can be continued.
    pub(super) fn tell_unnamed(&mut self) -> Done {
        let others = self.other_files().len();
        if self.screen.json() || others == 0 {
            return Ok(());
        }
        let text =
            format!("{} without a name: `recover` lists them.", counted(others, "earlier game", "earlier games"));
        Ok(self.screen.row(&Row::at(0).faint(text))?)
    }

    /// The files of the other unnamed games.
    fn other_files(&self) -> Vec<PathBuf> {
        unnamed::files().into_iter().filter(|path| self.unnamed.as_ref() != Some(path)).collect()
    }

    /// Records on this machine which entries of the campaign are on disk.
    pub(super) fn remember_entries(&mut self) {
        let Some(campaign) = self.campaign.as_ref().filter(|_| self.unnamed.is_none()) else { return };
        if self.known_entries.as_ref().is_none_or(|known| !known.is_of(campaign)) {
            self.known_entries = KnownEntries::of(campaign);
        }
        if let Some(known) = &mut self.known_entries {
            known.note(campaign);
        }
    }

    /// Handles a line other than `save`: a file is overwritten only if `save` is repeated at once.
    pub(super) fn stays(&mut self, line: &str) {
        if Command::find(split_first(line).0).is_none_or(|command| command.word != Word::Save) {
            self.saved.refused = None;
        }
    }

    /// Leaves the campaign of this game. An unnamed one without decisions is removed.
    pub(super) fn close_unnamed(&mut self) {
        let nothing_done = self.campaign.as_ref().is_some_and(|campaign| campaign.entries() <= 1);
        if let Some(path) = self.unnamed.take() {
            self.campaign = None;
            if nothing_done {
                unnamed::remove(&path);
            }
        }
    }

    /// The command `save NAME`: names this game, in a campaign file of the current folder. `save NAME.json` exports its
    /// state.
    pub(super) fn save(&mut self, rest: &str) -> Done {
        let named = file_named(rest);
        // `save my strength` is said of the game.
        const OWN: [&str; 7] = ["my", "your", "our", "his", "her", "their", "the"];
        let (first, after) = split_first(rest);
        if OWN.contains(&&*first.to_lowercase()) && !after.is_empty() {
            return Err(Complaint::Unread(format!(
                "`save NAME` gives the game a name. For this one type `save \"{rest}\"`."
            )));
        }
        let exported = |path: &PathBuf| path.extension().is_some_and(|ending| ending == EXPORT);
        match (named, &self.campaign) {
            (Some(path), _) if exported(&path) => self.export(path),
            (Some(path), _) => self.begin_campaign(campaigns::file_of(&path.to_string_lossy())),
            (None, Some(campaign)) if self.unnamed.is_none() => {
                campaign.must_be_unchanged().map_err(wrong)?;
                self.say_done(&format!("every line is kept in {}", campaign.name()))
            }
            (None, _) => match self.saved.file.clone() {
                Some(path) => self.export(path),
                None => Err(Complaint::wrong("Give the game a name: `save evening`.")),
            },
        }
    }

    /// Writes the game to a file of its own, atomically.
    fn export(&mut self, path: PathBuf) -> Done {
        if path.exists() && !is_saved_game(&path).unwrap_or(true) {
            let text = format!("{} is there already and is no saved game. Give another name.", path.display());
            return Err(Complaint::Wrong(text));
        }
        let known = self.saved.file.as_ref() == Some(&path) || self.saved.refused.as_ref() == Some(&path);
        if self.attended && !known && path.exists() {
            let text = format!("{} exists already. The same line again overwrites it.", path.display());
            self.saved.refused = Some(path);
            return Err(Complaint::Wrong(text));
        }
        let whole = self.whole_game()?;
        if let Err(error) = file::replace(&path, whole.as_ref().unwrap_or(&self.session).save()) {
            return Err(Complaint::Wrong(format!("Cannot write {}: {}.", path.display(), system_message(&error))));
        }
        self.say_done(&format!("saved in {}", path.display()))?;
        self.saved.file = Some(path);
        Ok(())
    }

    /// The command `load`: leaves this game for a saved one.
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
        if !path.exists() && self.focused().is_some() {
            // `load the bow` is said of the game.
            return Err(Complaint::Unread(format!("Cannot read {}: there is no such file.", path.display())));
        }
        let session = self.read_game(&path)?;
        self.say_done(&format!("{} from {}", session.ruleset().id(), path.display()))?;
        self.go_over_to(session, Some(path))
    }

    /// The command `recover`: lists the unnamed games; `recover N` continues one.
    pub(super) fn recover(&mut self, rest: &str) -> Done {
        if rest.parse::<usize>().is_err() && !rest.is_empty() && self.focused().is_some() {
            // `recover my strength` is said of the game.
            return Err(Complaint::Unread(
                "`recover` lists the games without a name; `recover 2` continues one.".to_owned(),
            ));
        }
        let mut games = self.other_files();
        let last = games.len();
        if last == 0 {
            return Err(Complaint::wrong(
                "There is no other game without a name. `riskbreaker campaigns` lists campaigns.",
            ));
        }
        if rest.is_empty() {
            return self.list_unnamed();
        }
        let at = match rest.parse::<usize>() {
            Ok(number) if (1..=last).contains(&number) => number - 1,
            _ => {
                let text = format!("Give the number of a game, 1 to {last}: `recover` lists them.");
                return Err(Complaint::Wrong(text));
            }
        };
        let path = games.swap_remove(at);
        if unnamed::is_copy(&path) {
            let session = self.read_game(&path)?;
            if let Some(campaign) = &mut self.campaign {
                campaign.adopt(&session, "the game that was left").map_err(wrong)?;
            }
            self.go_over_to(session, None)?;
            if self.campaign.is_some() {
                unnamed::remove(&path);
            }
            return Ok(());
        }
        let mut campaign = campaigns::open(&path, &self.library).map_err(wrong)?;
        let session = campaign.session().map_err(wrong)?;
        self.setup = campaign.setup().map_err(wrong)?;
        self.close_unnamed();
        (self.campaign, self.unnamed) = (Some(campaign), Some(path));
        (self.encounter, self.amendment, self.before_amend, self.about) = (None, None, None, None);
        self.saved = Saved::default();
        self.take_session(session)?;
        self.session.take_events();
        self.show_table()
    }

    fn list_unnamed(&mut self) -> Done {
        let mut games = unnamed::games(&self.library);
        games.retain(|game| self.unnamed.as_ref() != Some(&game.path));
        if self.screen.json() {
            let games: Vec<String> = games.iter().map(UnnamedGame::to_string).collect();
            return Ok(self.screen.event("unnamed", &json!({ "games": games }))?);
        }
        for (at, game) in games.iter().enumerate() {
            self.screen.row(&Row::at(1).plain(format!("{}  {game}", at + 1)))?;
        }
        Ok(self.screen.row(&Row::at(2).with("`recover 1` continues the first.", Tone::Faint))?)
    }

    fn read_game(&self, path: &Path) -> Result<Session, Complaint> {
        let unreadable =
            |error: io::Error| Complaint::Wrong(format!("Cannot read {}: {}.", path.display(), system_message(&error)));
        let text = file::read(path).map_err(unreadable)?;
        Session::load(&self.library, &text).map_err(|error| Complaint::Wrong(format!("{}: {error}", path.display())))
    }

    /// Replaces this game by another one.
    pub(super) fn go_over_to(&mut self, session: Session, file: Option<PathBuf>) -> Done {
        if let (Some(campaign), Some(path)) = (&mut self.campaign, &file) {
            campaign.adopt(&session, &campaigns::name_of(path)).map_err(super::campaign::wrong)?;
        }
        self.replace_session(session);
        // A prepared scene belongs to the rules of the previous game.
        self.encounter = None;
        self.done.clear();
        self.about = None;
        self.look_out_anew();
        let from_file = file.is_some();
        self.saved.file = file;
        if from_file {
            self.session.take_events();
        }
        self.play_on()?;
        self.show_table()
    }

    /// Continues with another session, without the questions and undone decisions of the previous one.
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
}

fn file_named(rest: &str) -> Option<PathBuf> {
    let name = rest.trim_matches('"');
    (!name.is_empty()).then(|| PathBuf::from(name))
}
