//! Saved games: a game as text, with its setup and its whole tape. Loading replays the tape if necessary, and compares.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read as _};
use std::path::Path;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::action::{Cause, Done, Open};
use super::checkpoint::SavedEnd;
use super::migration::Pending;
use super::record::OTHER_STATE;
use super::reload::{Patch, patch_between};
use super::{
    DicePosition, Driver, Edit, Fault, Game, Halt, Machine, Remedy, Ruleset, Session, Setup, StartError, Tape,
};
use riskbreaker_ruleset::{ContentHash, Library, LoadError};
use riskbreaker_state::in_stored_form;

mod sources;

use self::sources::{FirstChanges, Sources};

/// The format of a game that changed its rules. Older formats are supported; others are refused.
const FORMAT: u32 = 3;
/// The format of all other games. Up to this format, rule files were saved in full.
const PLAIN: u32 = 2;
const WITHOUT_CHECKSUMS: u32 = 1;

#[derive(Serialize, Deserialize)]
struct SavedGame {
    format: u32,
    ruleset: String,
    version: String,
    layers: Vec<String>,
    /// Hash of the rules of the game.
    hash: String,
    setup: Setup,
    done: Vec<Done>,
    open: Option<SavedOpen>,
    /// Actions interrupted by a free act; `queued` are free acts that wait.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    held: Vec<SavedOpen>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    queued: Vec<(Arc<str>, Arc<str>, u32)>,
    position: DicePosition,
    /// The files of the rules with which the game began, if others took effect since; up to format 2.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    first: Option<BTreeMap<Arc<str>, Arc<str>>>,
    /// The ruleset with which the game began, if it was another one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    began: Option<Stacked>,
    /// The rules that take effect at the next boundary.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pending: Option<SavedPending>,
    /// Earlier requests for rules, oldest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    asked_before: Vec<SavedPending>,
    /// The hash of the state at the end of the tape.
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
    first_changes: Option<FirstChanges>,
    /// The texts of rule files, by hash.
    #[serde(default, skip_serializing_if = "Sources::is_empty")]
    sources: Sources,
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

/// The end of a saved game: the hash of everything before it.
const CHECKSUM: &str = ",\"checksum\":\"";

/// Appends the checksum to a JSON object.
fn with_checksum(mut text: String) -> String {
    if text.pop() == Some('}') {
        let sum = hash_of(text.as_bytes());
        text.push_str(CHECKSUM);
        text.push_str(&sum);
        text.push_str("\"}");
    }
    text
}

/// True if a saved game ends with the right checksum. `None` if it has no checksum.
fn checksum_fits(text: &str) -> Option<bool> {
    let (before, rest) = text.trim_end().rsplit_once(CHECKSUM)?;
    Some(rest.strip_suffix("\"}")? == hash_of(before.as_bytes()))
}

/// The content hash of bytes, in hexadecimal: it finds damage, and is no proof against forgery.
pub(super) fn hash_of(bytes: &[u8]) -> String {
    ContentHash::of(bytes).to_string()
}

/// A ruleset with the layers on top of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Stacked {
    ruleset: String,
    layers: Vec<String>,
}

/// A saved request for other rules.
#[derive(Serialize, Deserialize)]
struct SavedPending {
    /// `None` if it cancels earlier requests.
    #[serde(flatten)]
    rules: Option<SavedRules>,
    /// The number of the next decision when the request was made.
    asked_at: u32,
}

/// Rules that are not in force yet.
#[derive(Serialize, Deserialize)]
struct SavedRules {
    #[serde(flatten)]
    stacked: Stacked,
    hash: String,
    /// The files that differ from the rules in force.
    files: Patch,
}

/// A saved action that was not finished.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SavedOpen {
    pub number: u32,
    pub cause: Cause,
    pub tape: Tape,
    pub before: DicePosition,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seq: Option<u32>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub goes_on: bool,
    /// The fault with which the host stopped an endless game; a new run of the action would not show it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stopped: Option<Box<Fault>>,
}

impl SavedOpen {
    pub fn of(open: &Open) -> SavedOpen {
        let Open { number, before, seq, goes_on, .. } = *open;
        let stopped = open.fault.clone().filter(|_| open.stopped);
        SavedOpen { number, cause: open.cause.clone(), tape: open.tape.clone(), before, seq, goes_on, stopped }
    }

    pub fn reopened(&self) -> Open {
        let mut open = Open::new(self.number, self.cause.clone(), self.before);
        open.tape = self.tape.clone();
        (open.seq, open.goes_on) = (self.seq, self.goes_on);
        (open.fault, open.stopped) = (self.stopped.clone(), self.stopped.is_some());
        open
    }

    fn numbers(&self) -> impl Iterator<Item = u32> {
        [Some(self.number), self.seq].into_iter().flatten().chain(numbers_of(&self.tape, self.before))
    }
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
                seats: game.context.seats.clone(),
                dice: game.context.dice.clone(),
                ..(*game.setup).clone()
            },
            done: game.history.to_vec(),
            open: game.open.as_ref().map(SavedOpen::of),
            held: game.held.iter().map(SavedOpen::of).collect(),
            queued: game.queued.iter().cloned().collect(),
            position: game.context.position(),
            first: game.first_rules.as_ref().map(|first| first.files.clone()),
            began: game.first_rules.as_ref().map(|first| first.stacked.clone()),
            pending,
            asked_before,
            state: up_to_date.then(|| hash_of(&self.state_bytes())),
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
            false => error.to_string(),
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
        let hash = saved.done.iter().fold(rules.hash(), |hash, done| match &done.cause {
            Cause::Reload { rules: other, .. } | Cause::Rules { hash: other, .. } => other.clone(),
            _ => hash,
        });
        let first_differs = saved.first_changes.as_ref().is_some_and(|first| first.hash != rules.hash());
        let other = (hash != saved.hash || first_differs).then(|| {
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
                if other.is_none() && state.is_some_and(|state| state != hash_of(&session.state_bytes())) {
                    return Err(StartError::Diverged(OTHER_STATE.into()));
                }
                let game = session.game_mut();
                game.context.seats.extend(seats.clone());
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
    pub(super) fn replay_through(&mut self, part: &Arc<[Done]>, find: &mut RulesOf<'_>) -> Result<(), String> {
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

/// Finds rules by their hash; gets the rules in force and the cause that changed them.
pub(super) type RulesOf<'f> = dyn FnMut(&str, &Ruleset, &Cause) -> Result<Arc<Ruleset>, String> + 'f;

/// The largest number of an action, decision or die; no game reaches it.
pub(super) const LARGEST_NUMBER: u32 = 1 << 30;

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

    fn began(&self) -> Stacked {
        let now = || Stacked { ruleset: self.ruleset.clone(), layers: self.layers.clone() };
        self.began.clone().unwrap_or_else(now)
    }
}

impl Stacked {
    pub fn of(rules: &Ruleset) -> Stacked {
        Stacked { ruleset: rules.id().to_string(), layers: rules.extra_layers().to_vec() }
    }

    /// Loads rules from the files in a saved game.
    pub fn rules_of(&self, files: &BTreeMap<Arc<str>, Arc<str>>) -> Result<Arc<Ruleset>, LoadError> {
        let library = Library::from_files(files.iter().map(|(path, text)| (path.to_string(), text.to_string())));
        Ruleset::shared(&library, &self.ruleset, &self.layers)
    }

    /// Finds the rules with this hash: the current ones if they are still equal, otherwise those in the save.
    fn rules_with(
        &self,
        library: &Library,
        hash: &str,
        files: &BTreeMap<Arc<str>, Arc<str>>,
    ) -> Result<Arc<Ruleset>, String> {
        let today = Ruleset::shared(library, &self.ruleset, &self.layers).ok();
        match today.filter(|today| today.hash() == hash) {
            Some(today) => Ok(today),
            None => self.rules_of(files).map_err(|error| error.to_string()),
        }
    }
}

/// Applies a patch to files.
fn apply(files: &mut BTreeMap<Arc<str>, Arc<str>>, patch: &Patch) {
    for (path, text) in patch {
        match text {
            Some(text) => files.insert(path.clone(), text.clone()),
            None => files.remove(path),
        };
    }
}

/// The numbers on a tape, and those in the position of the dice before it.
fn numbers_of(tape: &Tape, before: DicePosition) -> impl Iterator<Item = u32> {
    let slots = tape.slots.iter().flatten();
    slots.flat_map(|slot| slot.seqs().chain(numbers_at(slot.before()))).chain(numbers_at(before))
}

fn numbers_at(position: DicePosition) -> impl Iterator<Item = u32> {
    [u32::try_from(position.words >> 20).unwrap_or(u32::MAX), position.written].into_iter()
}

pub(super) fn replay(game: &mut Game, vm: &mut dyn Machine, part: &[Done]) -> Result<(), String> {
    for done in part {
        let wrong = |what: &str| format!("action {}: {what}", done.number);
        if matches!(done.cause, Cause::Free { .. }) && !done.told.is_empty() {
            // A queued free act that was not open any more had no effect.
            game.put_recorded(done);
            continue;
        }
        game.reopen(done)?;
        if done.skipped.is_some() {
            game.remedy(Remedy::SkipAction).map_err(|refusal| wrong(&refusal.to_string()))?;
            game.stamp_last(done);
            continue;
        }
        if matches!(done.cause, Cause::Edit { .. }) {
            continue;
        }
        let actions = game.actions;
        match game.advance(vm, 1) {
            Halt::Ask => return Err(wrong("it asks something that the tape does not answer")),
            Halt::Fault(fault) => return Err(wrong(&fault.to_string())),
            Halt::Paused | Halt::Boundary | Halt::Over(_) if game.actions == actions => {
                return Err(wrong("it is not on the agenda"));
            }
            Halt::Paused | Halt::Boundary | Halt::Over(_) => game.end_as(done),
        }
    }
    Ok(())
}

/// Unfinished actions of a save: the open one, interrupted ones, and queued free acts.
type SavedActions<'s> = (Option<&'s SavedOpen>, &'s [SavedOpen], &'s [(Arc<str>, Arc<str>, u32)]);

impl Game {
    /// Restores unfinished actions.
    pub(super) fn bring_back(
        &mut self,
        vm: &mut dyn Machine,
        (open, held, queued): SavedActions,
        position: DicePosition,
    ) {
        self.context.set_position(position);
        held.iter().chain(open).for_each(|open| self.count_in(open.number));
        self.open = open.map(SavedOpen::reopened);
        self.held = held.iter().map(SavedOpen::reopened).collect();
        self.queued = queued.iter().cloned().collect();
        if open.is_some() {
            self.context.strict = true;
            self.run_as_saved(vm, position);
        }
        self.context.strict = false;
        self.asked_policies = self.policies_were_asked();
    }

    /// Runs the open action of a saved game to the end of its tape. A fault is no reason to refuse the game, since a
    /// person can remedy it after loading. A refused answer is removed from the tape, as during play.
    fn run_as_saved(&mut self, vm: &mut dyn Machine, position: DicePosition) {
        if self.open.as_ref().is_some_and(|open| open.stopped) {
            // The fault already reported everything stored up to here.
            (self.unasked, self.unasked_bytes) = (0, 0);
        }
        self.context.unread_answers = true;
        let _: Halt = self.advance(vm, 0);
        self.context.unread_answers = false;
        if self.refused.take().is_none() {
            self.context.set_position(position);
        }
    }

    /// Opens an action with its recorded tape, so that [`Game::advance`] runs it.
    fn reopen(&mut self, done: &Done) -> Result<(), String> {
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
