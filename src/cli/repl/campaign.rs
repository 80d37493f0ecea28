//! The campaign of the game at the prompt. Each line is written to the file before its result is printed.

use std::path::PathBuf;

use riskbreaker::state::readable_name;
use riskbreaker::store::{Campaign, Character, Roster, SceneLog, StoreError, allowed_name};
use riskbreaker::{Edit, Session, Value, Viewer};
use serde_json::json;

use super::line::split_first;
use super::sheet_entry::{fault, typed};
use super::{Complaint, Done, Repl, names};
use crate::cli::campaigns;
use crate::cli::recap;
use crate::cli::row::{Row, Span, Tone};
use crate::cli::unnamed;

/// The number of lines of a reopened campaign that `undo` takes back as lines. Older ones are undone entry by entry.
const LINES_BACK: usize = 200;

impl Repl {
    /// Records this game in a campaign. `unnamed`: its path, if the user has not named it.
    pub fn in_campaign(mut self, campaign: Option<Campaign>, unnamed: Option<PathBuf>) -> Repl {
        (self.campaign, self.unnamed) = (campaign, unnamed);
        self.mark_lines();
        self
    }

    /// The events of the campaign by scene, without undone ones. Without a campaign, the events in memory.
    pub(super) fn whole_log(&self) -> Result<Vec<SceneLog>, Complaint> {
        let Some(campaign) = &self.campaign else {
            return Ok(vec![SceneLog { title: String::new(), events: self.session.log() }]);
        };
        let mut scenes = campaign.history().map_err(wrong)?;
        for scene in &mut scenes {
            scene.events.retain(|event| self.may_see(&event.audience));
        }
        Ok(scenes)
    }

    /// The start of each line that can be undone. One entry of the campaign is one line.
    fn mark_lines(&mut self) {
        let marks = self.campaign.as_ref().and_then(|campaign| campaign.decisions_before(LINES_BACK).ok());
        self.done = marks.unwrap_or_default();
    }

    /// Writes what was done since the last call to the campaign file. This comes before any output.
    pub(super) fn keep(&mut self) -> Done {
        let Some(campaign) = &mut self.campaign else { return Ok(()) };
        let Err(error) = campaign.keep(&mut self.session) else {
            // Before anything is printed: the recorded entries are those that a person has seen.
            self.remember_entries();
            return Ok(());
        };
        let sentence =
            format!("This line was not carried out, because it cannot be written to the campaign file: {error}.");
        if !campaign.has_scene() {
            return Err(Complaint::Broken(anyhow::anyhow!(error)));
        }
        let session = campaign.session().map_err(broken)?;
        self.take_session(session)?;
        Err(Complaint::Wrong(sentence))
    }

    /// The command `retry` after another program has changed the campaign file: continues if the file still ends with
    /// the last line.
    pub(super) fn retry_campaign(&mut self) -> Result<bool, Complaint> {
        let Some(campaign) = &mut self.campaign else { return Ok(false) };
        if campaign.must_be_unchanged().is_ok() {
            return Ok(false);
        }
        campaign.retry().map_err(wrong)?;
        let session = campaign.session().map_err(broken)?;
        self.take_session(session)?;
        self.say_done("the file is whole and ends with the last line: the game continues in it")?;
        Ok(true)
    }

    /// Continues with the session of another entry of the campaign.
    pub(super) fn take_session(&mut self, session: Session) -> Done {
        let before = self.session.ruleset().hash();
        self.replace_session(session);
        self.mark_lines();
        self.look_out_at_entry(&before)
    }

    /// Undoes or redoes by the campaign, beyond the memory of the session. Not at a screen for some seats only, since
    /// an entry may be the secret decision of another seat.
    pub(super) fn turn_in_campaign(&mut self, back: bool) -> Result<Option<String>, Complaint> {
        let masters = self.masters();
        let Some(campaign) = self.campaign.as_mut().filter(|_| masters) else { return Ok(None) };
        let here = campaign.head();
        let to = if back { campaign.before() } else { campaign.after() }.map_err(wrong)?;
        let Some(to) = to else { return Ok(None) };
        let told = campaign.text(if back { here } else { to }).map_err(wrong)?;
        let session = campaign.go_to(to).map_err(wrong)?;
        self.take_session(session)?;
        // Without the seat, like an undo in memory.
        let of_seat = told.split_once(": ").filter(|(seat, _)| self.session.seats().contains_key(*seat));
        let told = of_seat.map_or(told.as_str(), |(_, decided)| decided);
        Ok(Some(format!("{} {told}", if back { "undid" } else { "redid" })))
    }

    /// The command `goto N`: moves to an entry of the campaign.
    pub(super) fn go_to(&mut self, rest: &str) -> Done {
        let Some(campaign) = &mut self.campaign else { return Err(no_campaign("goto")) };
        let here = campaign.head();
        let entry: u32 = rest
            .parse()
            .map_err(|_| Complaint::wrong("Give the number of an entry: `goto 12`. `log --all` lists them."))?;
        let before = campaign.roster().map_err(wrong)?;
        let session = campaign.go_to(entry).map_err(wrong)?;
        let after = campaign.roster().map_err(wrong)?;
        let gone: Vec<&String> =
            before.characters.keys().filter(|name| !after.characters.contains_key(*name)).collect();
        let other = before
            .characters
            .iter()
            .any(|(name, character)| after.characters.get(name).is_some_and(|there| there != character));
        let mut about_roster = None;
        if before != after {
            let names = |all: &[&String]| all.iter().map(|name| name.as_str()).collect::<Vec<_>>().join(", ");
            let new: Vec<&String> =
                after.characters.keys().filter(|name| !before.characters.contains_key(*name)).collect();
            let mut parts = Vec::new();
            if !gone.is_empty() {
                parts.push(format!("without {}", names(&gone)));
            }
            if !new.is_empty() {
                parts.push(format!("with {}", names(&new)));
            }
            if other {
                parts.push("with other values".to_owned());
            }
            about_roster = Some(format!(
                "The roster is the one of entry {entry}: {}. `goto {here}` goes back to the other one.",
                parts.join(", ")
            ));
        }
        let text = format!("at entry {entry}: {}", campaign.text(entry).map_err(wrong)?);
        if self.screen.json() {
            self.screen.event("turned", &json!({ "text": text, "entry": entry, "roster": about_roster }))?;
        }
        self.screen.row(&Row::at(2).plain(text))?;
        if let Some(text) = about_roster {
            self.screen.row(&Row::at(2).with(text, Tone::Note))?;
        }
        self.take_session(session)?;
        self.play_on()?;
        self.show_table()
    }

    /// The commands `log --all` and `branch`: list the entries of the campaign including undone ones, or the ends of
    /// its branches.
    pub(super) fn entries(&mut self, ends: bool) -> Done {
        let Some(campaign) = &self.campaign else { return Err(no_campaign(if ends { "branch" } else { "log --all" })) };
        let mut entries = campaign.log(true, usize::MAX).map_err(wrong)?;
        entries.retain(|entry| !ends || entry.last || entry.here);
        if self.screen.json() {
            return Ok(self.screen.event("entries", &json!({ "entries": entries }))?);
        }
        let mut cells = Vec::new();
        let mut before = 0;
        for entry in entries {
            let mark = match (entry.here, entry.stands) {
                (true, _) => "*",
                (_, true) => " ",
                _ => "-",
            };
            let after = match entry.after {
                after if after == before || ends => String::new(),
                after => format!("after {after}"),
            };
            before = entry.entry;
            cells.push(vec![
                Span::plain(format!("{mark}{}", entry.entry)),
                Span::plain(entry.text),
                Span::faint(after),
            ]);
        }
        self.screen.columns(0, cells)?;
        let hint = "`*` is where the game stands, `-` was undone. `goto N` goes there.";
        Ok(self.screen.row(&Row::at(2).with(hint, Tone::Faint))?)
    }

    /// The command `roster`: manages the characters that are kept from scene to scene.
    pub(super) fn roster(&mut self, rest: &str) -> Done {
        let (act, rest) = split_first(rest);
        match act.to_lowercase().as_str() {
            "" => self.show_roster(),
            "new" => self.new_character(rest),
            "edit" => self.edit_character(rest),
            "keep" => self.keep_character(rest),
            "use" => self.use_character(rest),
            "drop" => self.drop_character(rest),
            other => Err(Complaint::Wrong(format!(
                "`roster {other}` is not known: `roster`, `roster new NAME`, `roster edit NAME`, `roster keep NAME`, `roster use \
                 NAME`, `roster drop NAME`."
            ))),
        }
    }

    fn show_roster(&mut self) -> Done {
        let Some(campaign) = &self.campaign else { return Err(no_campaign("roster")) };
        let roster = campaign.roster().map_err(wrong)?;
        if self.screen.json() {
            return Ok(self.screen.event("roster", &json!({ "roster": roster }))?);
        }
        if roster.characters.is_empty() {
            return Ok(self
                .screen
                .row(&Row::at(2).faint("Nobody yet. `roster keep NAME` keeps a character of this scene."))?);
        }
        let cells = roster.characters.iter().map(|(name, character)| {
            let fields = sheet_lines(character).into_iter().map(|(label, value)| format!("{label} {value}"));
            vec![
                Span::strong(name),
                Span::faint(&character.ruleset),
                Span::plain(fields.collect::<Vec<_>>().join(" · ")),
            ]
        });
        Ok(self.screen.columns(2, cells.collect())?)
    }

    fn keep_character(&mut self, rest: &str) -> Done {
        if self.campaign.is_none() {
            return Err(no_campaign("roster keep"));
        }
        if rest.is_empty() {
            return Err(Complaint::wrong("Name a character of this scene: `roster keep NAME`."));
        }
        let view = self.session.view();
        let (entity, wanted) = names::entity(&view, rest)?;
        let name = view.title(entity).to_string();
        let known: Vec<(String, String)> =
            view.fields(entity).map(|(field, _)| (field.name.to_string(), field.label.to_string())).collect();
        let wanted = wanted.split(',').map(str::trim).filter(|field| !field.is_empty());
        let wanted = wanted.map(|text| match names::field(&name, &known, text)? {
            (field, "") => Ok(field),
            (_, rest) => Err(Complaint::Wrong(format!("{name} has no field `{text}`: put a comma before `{rest}`."))),
        });
        let wanted = wanted.collect::<Result<Vec<String>, Complaint>>()?;
        let sheet = match wanted.is_empty() {
            true => self.session.written_sheet(entity).map_err(fault)?,
            false => None,
        };
        let view = self.session.view();
        let character =
            Character {
                ruleset: self.session.ruleset().name(),
                kind: view.kind(entity).unwrap_or_default().to_owned(),
                fields: view
                    .fields(entity)
                    .filter(|(field, _)| {
                        if wanted.is_empty() { field.show } else { wanted.iter().any(|name| **name == *field.name) }
                    })
                    .filter(|(_, value)| !value.any_entity(&|_| true) && **value != Value::None)
                    .map(|(field, value)| (field.name.to_string(), value.clone()))
                    .collect(),
                sheet,
            };
        let count = character.fields.len();
        self.change_roster(&format!("roster: {name} is kept"), |roster| {
            roster.characters.insert(name.clone(), character);
        })?;
        self.say_done(&format!("{name} is kept, with {count} fields"))
    }

    fn use_character(&mut self, rest: &str) -> Done {
        let (name, whom) = rest.split_once(" for ").unwrap_or((rest, rest));
        let (name, mut character) = self.character_named(name)?;
        if let Some(sheet) = &character.sheet {
            // The built sheet has fields that are not shown; stored values override them.
            match self.session.ruleset().build_sheet(sheet, self.session.switches().clone()) {
                Ok(built) => {
                    let (id, _) = character.ruleset.split_once('+').unwrap_or((character.ruleset.as_str(), ""));
                    // Other rules may name the fields differently, so only their own sheet counts.
                    character.fields = match id == self.session.ruleset().id() {
                        true => built.fields.into_iter().chain(character.fields).collect(),
                        false => character.fields.into_iter().chain(built.fields).collect(),
                    };
                }
                Err(wrong) if character.fields.is_empty() => return Err(fault(wrong)),
                // Other rules may still accept its fields.
                Err(_) => {}
            }
        }
        let view = self.session.view();
        let (entity, _) = names::entity(&view, if whom == rest { &name } else { whom.trim() })?;
        let title = view.title(entity).to_string();
        let titled =
            view.fields(entity).find(|(_, value)| value.as_text() == Some(&title)).map(|(field, _)| field.name.clone());
        let mut left = Vec::new();
        let mut edits = Vec::new();
        for (field, value) in &character.fields {
            match view.field(entity, field) {
                // A character with another name keeps it.
                Some(_) if titled.as_deref() == Some(field) => {}
                Some(now) if now == value => {}
                Some(_) => edits.push(Edit::Set { entity, field: field.clone(), value: value.clone() }),
                None => left.push(readable_name(field)),
            }
        }
        for edit in edits {
            if let (Edit::Set { field, .. }, Err(refusal)) = (&edit, self.session.edit(edit.clone())) {
                left.push(format!("{} ({refusal})", readable_name(field)));
            }
        }
        if !left.is_empty() {
            let text = format!("{title}: what these rules have no place for stays in the roster: {}", left.join(", "));
            self.screen.row(&Row::at(2).with(text, Tone::Note))?;
        }
        self.settle()
    }

    fn drop_character(&mut self, rest: &str) -> Done {
        let (name, _) = self.character_named(rest)?;
        self.change_roster(&format!("roster: {name} is dropped"), |roster| {
            roster.characters.remove(&name);
        })?;
        self.say_done(&format!("{name} is dropped"))
    }

    pub(super) fn campaign_roster(&self) -> Result<Roster, Complaint> {
        let Some(campaign) = &self.campaign else { return Err(no_campaign("roster")) };
        campaign.roster().map_err(wrong)
    }

    /// Finds a character of the roster by its name, in any case.
    pub(super) fn character_named(&self, name: &str) -> Result<(String, Character), Complaint> {
        let name = name.trim();
        let roster = self.campaign_roster()?;
        let known: Vec<&String> = roster.characters.keys().collect();
        let found = names::one_of(name, &known)?.and_then(|name| roster.characters.get_key_value(*name));
        found.map(|(name, character)| (name.clone(), character.clone())).ok_or_else(|| {
            let known = roster.characters.keys().map(String::as_str);
            Complaint::unknown(format!("There is no `{name}` in the roster."), name, known, "`roster` lists it.")
        })
    }

    pub(super) fn change_roster(&mut self, act: &str, change: impl FnOnce(&mut Roster)) -> Done {
        let Some(campaign) = &mut self.campaign else { return Err(no_campaign("roster")) };
        let mut roster = campaign.roster().map_err(wrong)?;
        let before = roster.clone();
        change(&mut roster);
        if roster == before {
            return Ok(());
        }
        campaign.keep(&mut self.session).map_err(wrong)?;
        campaign.set_roster(&roster, act).map_err(wrong)
    }

    /// The command `note [TEXT]`: writes a note, or lists the notes.
    pub(super) fn note(&mut self, rest: &str) -> Done {
        let Some(campaign) = &mut self.campaign else { return Err(no_campaign("note")) };
        let (act, of) = split_first(rest);
        let (number, text) = split_first(of);
        match (act.to_lowercase().as_str(), number.parse::<u32>()) {
            ("edit", Ok(number)) if text.is_empty() => {
                return Err(Complaint::Wrong(format!(
                    "Give the new text: `note edit {number} TEXT`. `note drop {number}` removes the note."
                )));
            }
            ("edit", Ok(number)) => {
                campaign.correct_note(number, Some(text)).map_err(wrong)?;
                return self.say_done(&format!("note {number} is corrected"));
            }
            ("drop", Ok(number)) if text.is_empty() => {
                campaign.correct_note(number, None).map_err(wrong)?;
                return self.say_done(&format!("note {number} is removed"));
            }
            _ => {}
        }
        if !rest.is_empty() {
            campaign.note(rest).map_err(wrong)?;
            return self.say_done("noted");
        }
        let notes = campaign.notes().map_err(wrong)?;
        if self.screen.json() {
            return Ok(self.screen.event("notes", &json!({ "notes": notes }))?);
        }
        let cells = notes.into_iter().map(|note| {
            let text = note.text.unwrap_or_else(|| "the table sat down".into());
            vec![
                Span::plain(if note.number == 0 { String::new() } else { note.number.to_string() }),
                Span::faint(note.date),
                Span::plain(format!("entry {}", note.entry)),
                Span::plain(text),
            ]
        });
        Ok(self.screen.columns(2, cells.collect())?)
    }

    /// The command `recap [all] [gm]`: prints the last session or the whole campaign, for the players or for the game
    /// master.
    pub(super) fn recap(&mut self, rest: &str) -> Done {
        let Some(campaign) = &self.campaign else { return Err(no_campaign("recap")) };
        let words: Vec<&str> = rest.split_whitespace().collect();
        let (all, viewer) = match words.as_slice() {
            [] => (false, Viewer::watcher()),
            ["all"] => (true, Viewer::watcher()),
            ["gm"] | ["all", "gm"] | ["gm", "all"] if !self.masters() => return Err(self.not_here()),
            ["gm"] => (false, Viewer::master()),
            ["all", "gm"] | ["gm", "all"] => (true, Viewer::master()),
            _ => {
                return Err(Complaint::wrong(
                    "Type `recap` for the last session, `recap all` for the whole campaign, and `gm` behind it for what only the \
                     game master knows.",
                ));
            }
        };
        let told = if all { campaign.recap_all(&viewer) } else { campaign.recap(&viewer) };
        let told = told.map_err(wrong)?;
        if self.screen.json() {
            let paragraphs = told.paragraphs();
            return Ok(self.screen.event("recap", &json!({ "paragraphs": paragraphs, "recap": told }))?);
        }
        Ok(self.screen.rows(&recap::rows(&told))?)
    }

    /// Returns the session with the whole scene, if the session at the prompt has only its last part; otherwise `None`.
    pub(super) fn whole_game(&mut self) -> Result<Option<Session>, Complaint> {
        if !self.session.is_resumed() {
            return Ok(None);
        }
        self.keep()?;
        self.campaign.as_ref().map(|campaign| campaign.whole().map_err(wrong)).transpose()
    }

    /// The command `save NAME.rbsave`: creates a campaign from the current game.
    pub(super) fn begin_campaign(&mut self, path: PathBuf) -> Done {
        if path.exists() {
            return Err(Complaint::Wrong(format!("{} exists already.", path.display())));
        }
        if let Some(campaign) = &self.campaign {
            if campaign.must_be_unchanged().is_ok() {
                self.keep()?;
            }
            let (Some(campaign), title) = (&self.campaign, campaigns::name_of(&path)) else { return Ok(()) };
            self.campaign = Some(campaign.save_as(&path, &allowed_name(&title)).map_err(wrong)?);
            campaigns::remember(&path);
            if let Some(unnamed) = self.unnamed.take() {
                unnamed::remove(&unnamed);
            }
            let text =
                format!("saved in {}, with all that was undone; each line is saved there from now on", path.display());
            return self.say_done(&text);
        }
        let mut campaign = campaigns::open(&path, &self.library).map_err(wrong)?;
        campaign.adopt(&self.session, &campaigns::name_of(&path)).map_err(wrong)?;
        campaign.keep(&mut self.session).map_err(wrong)?;
        campaigns::remember(&path);
        self.campaign = Some(campaign);
        let text = format!("saved in {}; each line is saved there from now on", path.display());
        self.say_done(&text)
    }
}

/// The values of a character of the roster, as labels and texts.
pub fn sheet_lines(character: &Character) -> Vec<(String, String)> {
    let fields = match &character.sheet {
        Some(Value::Map(sheet)) => sheet.iter().map(|(key, value)| (key.to_string(), value)).collect(),
        _ => character.fields.iter().map(|(key, value)| (key.clone(), value)).collect::<Vec<_>>(),
    };
    let fields = fields.into_iter().filter(|(field, _)| field != "name");
    fields.map(|(field, value)| (readable_name(&field), typed(value))).collect()
}

pub(super) fn no_campaign(word: &str) -> Complaint {
    Complaint::Wrong(format!(
        "`{word}` needs a campaign: `save NAME` makes one of this game, `riskbreaker play NAME` begins one."
    ))
}

pub(super) fn wrong(error: StoreError) -> Complaint {
    Complaint::Wrong(error.to_string())
}

fn broken(error: StoreError) -> Complaint {
    Complaint::Broken(error.into())
}
