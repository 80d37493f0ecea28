//! Saved games: a game as text, with its setup and its whole tape. Loading replays the tape if necessary, and compares.

use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::io::Read as _;
use std::path::Path;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::Session;
use super::checkpoint::SavedEnd;
use super::checksum::{checksum_fits, checksum_of, with_checksum};
use super::record::{OTHER_STATE, RulesOf};
use super::saved_sources::{FirstChanges, Sources};
use crate::game::{LARGEST_NUMBER, Pending, SavedOpen, Stacked, numbers_at, numbers_of, patch_between, replay};
use crate::model::{Patch, apply};
use crate::{Cause, DicePosition, Done, Driver, Edit, Fault, Game, Halt, Machine, Ruleset, Setup, StartError};
use riskbreaker_ruleset::Library;
use riskbreaker_ruleset::typed_text::read_json;
use riskbreaker_state::in_stored_form;

/// The format of a game that changed its rules. Older formats are supported; others are refused.
const FORMAT: u32 = 3;
/// The format of all other games. Up to this format, rule files were saved in full.
const PLAIN: u32 = 2;
const WITHOUT_CHECKSUMS: u32 = 1;

/// A saved game. Its fields are those of the JSON format, in their order.
#[derive(Serialize, Deserialize)]
pub(crate) struct SavedGame {
    format: u32,
    ruleset: String,
    version: String,
    layers: Vec<String>,
    /// Hash of the rules of the game.
    hash: String,
    setup: Setup,
    pub(crate) done: Vec<Done>,
    open: Option<SavedOpen>,
    /// Actions interrupted by a free act; `queued` are free acts that wait.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    held: Vec<SavedOpen>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    queued: Vec<(Arc<str>, Arc<str>, u32)>,
    position: DicePosition,
    /// The files of the rules with which the game began, if others took effect since; up to format 2.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) first: Option<BTreeMap<Arc<str>, Arc<str>>>,
    /// The ruleset with which the game began, if it was another one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    began: Option<Stacked>,
    /// The rules that take effect at the next boundary.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) pending: Option<SavedPending>,
    /// Earlier requests for rules, oldest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) asked_before: Vec<SavedPending>,
    /// The checksum of the state at the end of the tape.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    state: Option<String>,
    /// The number of the last step of the table at which it was played.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    step: Option<u64>,
    /// True if the game master of that table had paused the game.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    paused: bool,
    /// The part of `first` that has to be saved.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) first_changes: Option<FirstChanges>,
    /// The texts of rule files, by hash.
    #[serde(default, skip_serializing_if = "Sources::is_empty")]
    pub(crate) sources: Sources,
    /// The checkpoint at the end of `done`: with it the tape need not be replayed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    end: Option<Box<SavedEnd>>,
}

/// How to read a saved game.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reading {
    /// From the checkpoint at the end of its tape, if it has one that fits the current rules.
    End,
    /// By replaying its tape, which must lead to the checkpoint.
    Tape,
}

/// The number of the last step of the table at which a game was saved, and whether it was paused there. `None` and
/// false if it was saved elsewhere.
#[cfg(feature = "serve")]
pub fn saved_table(text: &str) -> (Option<u64>, bool) {
    #[derive(Default, Deserialize)]
    struct AtTable {
        step: Option<u64>,
        #[serde(default)]
        paused: bool,
    }
    let table: AtTable = serde_json::from_str(text).unwrap_or_default();
    (table.step, table.paused)
}

/// True if a file begins like the output of [`Session::save`], even if it is damaged. Only such a file is overwritten
/// by a saved game; any other may be a document of the user.
///
/// # Errors
///
/// The file cannot be read.
pub fn is_saved_game(path: &Path) -> io::Result<bool> {
    let mut start = Vec::new();
    File::open(path)?.take(64).read_to_end(&mut start)?;
    let Some(rest) = start.strip_prefix(b"{\"format\":") else { return Ok(false) };
    let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
    Ok(digits > 0 && rest[digits..].starts_with(b",\"ruleset\":\""))
}

/// A saved request for other rules.
#[derive(Serialize, Deserialize)]
pub(crate) struct SavedPending {
    /// `None` if it cancels earlier requests.
    #[serde(flatten)]
    pub(crate) rules: Option<SavedRules>,
    /// The number of the next decision when the request was made.
    asked_at: u32,
}

/// Rules that are not in force yet.
#[derive(Serialize, Deserialize)]
pub(crate) struct SavedRules {
    #[serde(flatten)]
    pub(crate) stacked: Stacked,
    hash: String,
    /// The files that differ from the rules in force.
    pub(crate) files: Patch,
}

impl Session {
    /// Loads a saved game. Under the same rules it continues from the checkpoint in the save, at the end of its tape.
    /// The tape is replayed when something needs the game before the checkpoint; [`Session::load_by_tape`] replays all
    /// of it. Under other rules the tape is replayed at once.
    ///
    /// A ruleset of the same content that is in use is shared: any number of games have one ruleset and its machines.
    ///
    /// # Errors
    ///
    /// The text is no saved game, the rules cannot be loaded, or the tape does not fit them any more.
    pub fn load(library: &Library, text: &str) -> Result<Session, StartError> {
        Session::load_by(library, None, text, Reading::End)
    }

    /// Loads a saved game by replaying its tape, and compares the result with its checkpoint.
    ///
    /// # Errors
    ///
    /// As [`Session::load`]; or the tape leads to another state.
    pub fn load_by_tape(library: &Library, text: &str) -> Result<Session, StartError> {
        Session::load_by(library, None, text, Reading::Tape)
    }

    /// Like [`Session::load`], with a loaded ruleset, so that no file is read. Only rules with which the game began, or
    /// to which it changed, come from the library.
    ///
    /// # Errors
    ///
    /// As [`Session::load`].
    pub fn load_with(library: &Library, rules: &Arc<Ruleset>, text: &str) -> Result<Session, StartError> {
        Session::load_by(library, Some(rules), text, Reading::End)
    }

    /// Saves the game as JSON text: its setup and its tape.
    pub fn save(&self) -> String {
        self.save_at_table(None, false)
    }

    /// Like [`Session::save`], with the number of the last step of the table, and whether the table is paused.
    #[doc(hidden)]
    pub fn save_at_table(&self, step: Option<u64>, paused: bool) -> String {
        let game = self.game();
        let rules = self.ruleset();
        // After a load, the open action runs with its whole tape. If it has not done so yet, the states differ.
        let up_to_date = game.open.as_ref().is_none_or(|open| open.ran && !open.answered);
        let rules_of = |other: &Arc<Ruleset>| SavedRules {
            stacked: Stacked::of(other),
            hash: other.hash(),
            files: patch_between(rules, other),
        };
        let kept =
            |asked: &Pending| SavedPending { rules: asked.rules.as_ref().map(rules_of), asked_at: asked.asked_at };
        let mut asked_before: Vec<SavedPending> = game.pending.iter().map(kept).collect();
        let pending = asked_before.pop();
        let mut saved = SavedGame {
            format: PLAIN,
            ruleset: rules.id().to_string(),
            version: rules.version().to_string(),
            layers: rules.extra_layers().to_vec(),
            hash: rules.hash(),
            setup: Setup {
                seats: game.context.answers.seats.clone(),
                dice: game.context.dice.source.clone(),
                ..(*game.setup).clone()
            },
            done: game.history.to_vec(),
            open: game.open.as_ref().map(SavedOpen::of),
            held: game.held.iter().map(SavedOpen::of).collect(),
            queued: game.queued.iter().cloned().collect(),
            position: game.context.dice.position(),
            first: game.first_rules.as_ref().map(|first| first.files.clone()),
            began: game.first_rules.as_ref().map(|first| first.stacked.clone()),
            pending,
            asked_before,
            state: up_to_date.then(|| checksum_of(&self.state_bytes())),
            step,
            paused,
            first_changes: None,
            sources: Sources::default(),
            end: SavedEnd::of(game).map(Box::new),
        };
        if saved.changes_rules() {
            saved.format = FORMAT;
            saved.reduce_sources(rules, game.first_rules.as_ref().map(|first| first.hash.clone()));
        }
        with_checksum(in_stored_form(|| serde_json::to_string(&saved)).unwrap_or_default())
    }

    /// Reads a saved game.
    ///
    /// # Errors
    ///
    /// The text is no saved game, the rules cannot be loaded, or the tape does not fit them any more.
    fn load_by(
        library: &Library,
        known: Option<&Arc<Ruleset>>,
        text: &str,
        reading: Reading,
    ) -> Result<Session, StartError> {
        let sum = checksum_fits(text);
        let damaged = "it is damaged, or somebody has changed it: its checksum does not fit";
        let has_checksum = |format: &u32| text.starts_with(&format!("{{\"format\":{format},"));
        if sum == Some(false) && [PLAIN, FORMAT].iter().any(has_checksum) {
            return Err(StartError::Unreadable(damaged.into()));
        }
        let saved = SavedGame::read(text).map_err(|error| match error.is_syntax() || error.is_eof() {
            true => format!("it is no JSON from line {}, column {} on", error.line(), error.column()),
            // Reading it again finds the key.
            false => match in_stored_form(|| read_json::<SavedGame>(text.as_bytes())) {
                Err(message) => message,
                Ok(_) => error.to_string(),
            },
        });
        let mut saved = saved.map_err(StartError::Unreadable)?;
        match saved.format {
            PLAIN if sum == Some(true) => {}
            FORMAT if sum == Some(true) => saved.complete_sources(library)?,
            PLAIN | FORMAT => return Err(StartError::Unreadable(damaged.into())),
            WITHOUT_CHECKSUMS => saved.end = None,
            other => {
                let message = format!("it has format {other}; this program reads formats up to {FORMAT}");
                return Err(StartError::Unreadable(message));
            }
        }
        saved.check_numbers()?;
        let began = saved.began();
        let rules = match &saved.first {
            None => match known.filter(|rules| Stacked::of(rules) == began) {
                Some(rules) => rules.clone(),
                None => Ruleset::shared(library, &began.ruleset, &began.layers)?,
            },
            Some(files) => began.rules_of(files)?,
        };
        let same_end = match saved.done.iter().rev().find_map(|done| done.cause.rules_brought()) {
            Some(brought) => brought == saved.hash,
            None => rules.has_hash(&saved.hash),
        };
        let same_start = saved.first_changes.as_ref().is_none_or(|first| rules.has_hash(&first.hash));
        let other = (!(same_start && same_end)).then(|| {
            let stacked = [std::slice::from_ref(&saved.ruleset), &saved.layers].concat().join("+");
            let cure = "load it with the files of that time; a campaign keeps them";
            format!("; the files of {stacked} have changed since it was saved: {cure}")
        });
        let (seats, state) = (saved.setup.seats.clone(), saved.state.clone());
        let mut session = Session::before_its_start(&rules, saved.setup.clone())?;
        if let Some(end) = &saved.end {
            end.mark_end(&mut saved.done);
        }
        let end = saved.end.take().filter(|end| {
            let same = saved.first.is_none() && saved.began.is_none() && saved.pending.is_none() && other.is_none();
            same && end.fits(&saved.done, &rules)
        });
        let played = match end {
            Some(end) if reading == Reading::End => session.go_on_from(*end, saved, &rules),
            Some(end) => session.replay_all(library, saved, Some(&end)),
            None => session.replay_all(library, saved, None),
        };
        match played {
            Ok(()) => {
                // Other rules may lead to another state, as long as the tape fits them.
                if other.is_none() && state.is_some_and(|state| state != checksum_of(&session.state_bytes())) {
                    return Err(StartError::Diverged(OTHER_STATE.into()));
                }
                let game = session.game_mut();
                game.context.answers.seats.extend(seats.clone());
                Arc::make_mut(&mut game.setup).seats = seats;
                game.context.state.renew_identity();
                session.take_events();
                session.game_mut().restart_stream();
                Ok(session)
            }
            Err(message) => Err(StartError::Diverged(format!("{message}{}", other.unwrap_or_default()))),
        }
    }

    /// Continues at the end of the tape.
    fn go_on_from(&mut self, end: SavedEnd, mut saved: SavedGame, rules: &Arc<Ruleset>) -> Result<(), String> {
        end.put(self.game_mut(), std::mem::take(&mut saved.done), rules);
        self.lend(move |game, vm| game.bring_back(vm, saved.under_way(), saved.position))
            .map_err(|error| error.to_string())
    }

    /// A game before its first action, to replay a tape.
    #[doc(hidden)]
    pub fn before_its_start(rules: &Arc<Ruleset>, mut setup: Setup) -> Result<Session, StartError> {
        // Seats and policies of later rules are restored when those take effect.
        setup.seats.retain(|seat, driver| {
            let known = |policy: &Arc<str>| rules.policies().contains(policy);
            rules.seats().contains_key(&**seat) && !matches!(driver, Driver::Policy(policy) if !known(policy))
        });
        let mut session = Session::start(rules, setup)?;
        session.game_mut().open = None;
        Ok(session)
    }

    /// Replays recorded actions, through all changes of rules.
    ///
    /// # Errors
    ///
    /// The first action whose replay differs from the record.
    pub(crate) fn replay_through(&mut self, part: &Arc<[Done]>, find: &mut RulesOf<'_>) -> Result<(), String> {
        let mut from = 0;
        loop {
            let to = part[from..].iter().position(|done| done.cause.brings_rules()).map_or(part.len(), |at| from + at);
            let shared = part.clone();
            self.lend(move |game, vm| replay(game, vm, &shared[from..to])).map_err(|error| error.to_string())??;
            let Some(done) = part.get(to) else { return Ok(()) };
            let (Cause::Reload { rules: hash, .. } | Cause::Rules { hash, .. }) = &done.cause else { return Ok(()) };
            let known = self.game().history.len();
            let wrong = |message: String| format!("action {}: {message}", done.number);
            let rules = find(hash, self.ruleset(), &done.cause).map_err(wrong)?;
            match &done.cause {
                Cause::Rules { .. } => self.go_over(&rules).map_err(|error| wrong(error.to_string()))?,
                _ => drop(self.reload(rules).map_err(|refusal| wrong(refusal.to_string()))?),
            }
            match self.game().history.len() > known {
                true => self.game_mut().stamp_last(done),
                // The change led back to the rules in force.
                false => self.game_mut().put_recorded(done),
            }
            from = to + 1;
        }
    }

    /// Replays the whole tape. `end`: the checkpoint that it must reach.
    fn replay_all(&mut self, library: &Library, mut saved: SavedGame, end: Option<&SavedEnd>) -> Result<(), String> {
        let mut files = saved.first.take().unwrap_or_else(|| self.ruleset().files());
        let part: Arc<[Done]> = std::mem::take(&mut saved.done).into();
        let mut find = |hash: &str, now: &Ruleset, cause: &Cause| {
            if let Cause::Reload { files: patch, .. } | Cause::Rules { files: patch, .. } = cause {
                apply(&mut files, patch);
            }
            let stacked = match cause {
                Cause::Rules { ruleset, layers, .. } => Stacked { ruleset: ruleset.clone(), layers: layers.clone() },
                _ => Stacked::of(now),
            };
            stacked.rules_with(library, hash, &files)
        };
        self.verify(&part, &mut find, |session| end.is_none_or(|end| end.is_reached_by(session.game())))?;
        let mut pending = Vec::new();
        for asked in saved.asked_before.iter().chain(&saved.pending) {
            let rules_of = |asked: &SavedRules| {
                let mut files = files.clone();
                apply(&mut files, &asked.files);
                asked.stacked.rules_with(library, &asked.hash, &files)
            };
            let rules = asked.rules.as_ref().map(rules_of).transpose()?;
            pending.push(Pending { rules, asked_at: asked.asked_at });
        }
        self.lend(move |game, vm| game.bring_back(vm, saved.under_way(), saved.position))
            .map_err(|error| error.to_string())?;
        // Set last, since at a boundary pending rules would keep the open action from running.
        self.game_mut().pending = pending;
        Ok(())
    }
}

impl SavedGame {
    /// True if the save contains rule files.
    fn changes_rules(&self) -> bool {
        // Rules that were replaced again leave their files in the history.
        let came_in = || self.done.iter().any(|done| done.cause.files().is_some());
        self.first.is_some() || self.pending.is_some() || !self.asked_before.is_empty() || came_in()
    }

    fn read(text: &str) -> serde_json::Result<SavedGame> {
        in_stored_form(|| {
            serde_json::from_str::<SavedGame>(text).or_else(|error| {
                // The checkpoint may come from another version of the program; the tape has the same form in all.
                let mut without = serde_json::from_str::<serde_json::Value>(text)?;
                match without.as_object_mut().and_then(|fields| fields.remove("end")) {
                    Some(_) => serde_json::from_value(without),
                    None => Err(error),
                }
            })
        })
    }

    fn under_way(&self) -> SavedActions<'_> {
        (self.open.as_ref(), &self.held, &self.queued)
    }

    /// Refuses numbers that no game reaches, which would overflow when counting on.
    fn check_numbers(&self) -> Result<(), StartError> {
        let open = self.held.iter().chain(&self.open).flat_map(SavedOpen::numbers);
        let queued = self.queued.iter().map(|(.., seq)| *seq);
        let done = self.done.iter().flat_map(|done| {
            [Some(done.number), done.seq, done.began]
                .into_iter()
                .flatten()
                .chain(numbers_of(&done.tape.get(), done.before).collect::<Vec<_>>())
                .chain(done.open_tape.iter().flat_map(|open| numbers_of(&open.tape(), done.before).collect::<Vec<_>>()))
                .chain(done.dropped.iter().flat_map(|open| open.numbers().collect::<Vec<_>>()))
                .chain(done.behind.into_iter().flat_map(numbers_at))
        });
        let asked = self.asked_before.iter().chain(&self.pending).map(|pending| pending.asked_at);
        let all = open.chain(queued).chain(done).chain(asked).chain(numbers_at(self.position));
        match all.max().filter(|largest| *largest >= LARGEST_NUMBER) {
            Some(largest) => Err(StartError::Unreadable(format!("no game has a number {largest}"))),
            None => Ok(()),
        }
    }

    pub(crate) fn began(&self) -> Stacked {
        let now = || Stacked { ruleset: self.ruleset.clone(), layers: self.layers.clone() };
        self.began.clone().unwrap_or_else(now)
    }
}

/// Unfinished actions of a save: the open one, interrupted ones, and queued free acts.
type SavedActions<'s> = (Option<&'s SavedOpen>, &'s [SavedOpen], &'s [(Arc<str>, Arc<str>, u32)]);

impl Game {
    /// Restores unfinished actions.
    pub(crate) fn bring_back(
        &mut self,
        vm: &mut dyn Machine,
        (open, held, queued): SavedActions,
        position: DicePosition,
    ) {
        self.context.dice.set_position(position);
        held.iter().chain(open).for_each(|open| self.count_in(open.number));
        self.open = open.map(SavedOpen::reopened);
        self.held = held.iter().map(SavedOpen::reopened).collect();
        self.queued = queued.iter().cloned().collect();
        if open.is_some() {
            self.context.playback.strict = true;
            self.run_as_saved(vm, position);
        }
        self.context.playback.strict = false;
        self.asked_policies = self.policies_were_asked();
    }

    /// Runs the open action of a saved game to the end of its tape. A fault is no reason to refuse the game, since a
    /// person can remedy it after loading. A refused answer is removed from the tape, as during play.
    fn run_as_saved(&mut self, vm: &mut dyn Machine, position: DicePosition) {
        if self.open.as_ref().is_some_and(|open| open.stopped) {
            // The fault already reported everything stored up to here.
            (self.unasked, self.unasked_bytes) = (0, 0);
        }
        self.context.playback.unread_answers = true;
        let _: Halt = self.advance(vm, 0);
        self.context.playback.unread_answers = false;
        if self.refused.take().is_none() {
            self.context.dice.set_position(position);
        }
    }

    /// Opens an action with its recorded tape, so that [`Game::advance`] runs it.
    pub(crate) fn reopen(&mut self, done: &Done) -> Result<(), String> {
        if matches!(done.cause, Cause::Edit { edit: Edit::Face { .. } }) {
            // The faces are on the tape of the action that rolled them, which follows in the record.
            self.put_recorded(done);
            return Ok(());
        }
        if let Cause::Edit { edit } = &done.cause {
            self.edit(edit.clone()).map_err(|refusal| format!("action {}: {refusal}", done.number))?;
            self.stamp_last(done);
            return Ok(());
        }
        self.open_recorded(done, done.skipped.as_ref().map(|why| Fault::new(why.clone())));
        Ok(())
    }
}
