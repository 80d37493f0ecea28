//! Recovers a valid file from a damaged one. Keeps every row with a valid checksum whose required rows are kept, too.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};

use rusqlite::types::Value;
use serde::Serialize;

use super::checksum::word_sum;
use super::error::StoreError;
use super::file::{PRIVATE, StoreFile, connect_to_read, sync_folder};
use super::generation::{Generation, decompressed, generation_sum};
use super::label::label_sum;
use super::lock::{Lock, beside};
use super::name::nearest_allowed;
use super::opening::{Access, led_to};
use super::pack::{Dictionary, MOST_WORDS};
use super::pages::rows;
use super::rows::{
    ActionRow, GameRow, MomentBody, MomentRow, Piece, action_sum, checkpoint_sum, game_sum, key, moment_sum,
    numbered_sum,
};
use super::whole::MOST_PROBLEMS;
use super::writer::FileWriter;
use riskbreaker_play::{Checkpoint, Done, Ruleset};
use riskbreaker_ruleset::{ContentHash, Library, system_message};

/// The result of recovering a damaged file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Recovery {
    /// The path of the damaged file.
    pub damaged: PathBuf,
    /// The recovered campaigns.
    pub campaigns: Vec<RecoveredCampaign>,
    /// The losses, a sentence each.
    pub lost: Vec<String>,
}

/// The result for one campaign.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct RecoveredCampaign {
    /// The name of the campaign.
    pub name: String,
    /// The number of recovered entries.
    pub entries: u32,
    /// The number of entries according to the file. `None` if that cannot be read.
    pub had: Option<u32>,
    /// The current entry.
    pub head: u32,
    /// The current entry before the recovery, if it can still be read.
    pub stood: Option<u32>,
}

/// The rows found, by number.
#[derive(Default)]
struct Salvage {
    words: BTreeMap<i64, String>,
    /// The texts of entries, identified by the checksums of the entries.
    labels: BTreeMap<i64, Vec<(String, i64)>>,
    sources: BTreeMap<String, String>,
    generations: BTreeMap<String, Vec<u8>>,
    games: BTreeMap<i64, (String, Vec<u8>)>,
    actions: BTreeMap<i64, ActionRow>,
    moments: BTreeMap<i64, MomentRow>,
    /// Checkpoints, pieces and notes, identified by their checksums.
    bodies: BTreeMap<i64, Vec<(Vec<u8>, i64)>>,
}

/// Recovers the readable parts of a damaged file. The damaged file is kept beside it, with `-damaged` after its name.
///
/// # Errors
///
/// The file cannot be read or written, or nothing in it is readable. It is unchanged then.
pub fn recover(path: impl AsRef<Path>, library: &Library) -> Result<Recovery, StoreError> {
    let path = &led_to(path.as_ref());
    let io = |error: std::io::Error| StoreError::Io { path: path.clone(), message: system_message(&error) };
    let lock = Lock::take(path)?;
    // A partial write is rolled back first, as by every reader. If that fails, the pages are read as they are.
    let _ = connect_to_read(path, || Ok(None));
    let bytes = fs::read(path).map_err(io)?;
    let found = Salvage::of(&bytes);
    let draft = beside(path, "recovering");
    let written = found.write_whole(path, &draft, library).and_then(|recovery| {
        let nothing = recovery.campaigns.iter().all(|campaign| campaign.entries == 0);
        let refusal = || StoreError::Refused(format!("{}: no entry of any campaign can be read in it", path.display()));
        if nothing { Err(refusal()) } else { Ok(recovery) }
    });
    let mut recovery = written.inspect_err(|_| drop(fs::remove_file(&draft)))?;
    let mut damaged = beside(path, "damaged");
    for more in 2.. {
        if !damaged.exists() {
            break;
        }
        damaged = beside(path, &format!("damaged-{more}"));
    }
    // Keep a file with this name at every moment: without one, `play` would begin a new campaign.
    if fs::hard_link(path, &damaged).is_err() {
        fs::copy(path, &damaged).and_then(|_| fs::File::open(&damaged)?.sync_all()).map_err(io)?;
    }
    // The journal belongs to the damaged file: it must not be applied to the new one.
    let journal = beside(path, "journal");
    if journal.exists() {
        fs::rename(&journal, beside(&damaged, "journal")).map_err(io)?;
    }
    // Keep this order even after a power cut.
    sync_folder(path);
    fs::rename(&draft, path).map_err(io)?;
    sync_folder(path);
    drop(lock);
    recovery.damaged = damaged;
    Ok(recovery)
}

impl Salvage {
    fn of(bytes: &[u8]) -> Salvage {
        let mut found = Salvage::default();
        for row in rows(bytes) {
            let id = row.id;
            match row.columns.as_slice() {
                [Value::Null, Value::Text(text), Value::Integer(known)]
                    if *known == word_sum(id, text) && (0..MOST_WORDS as i64).contains(&id) =>
                {
                    found.words.insert(id, text.clone());
                }
                [Value::Null, Value::Text(text), Value::Integer(known)] => {
                    found.labels.entry(id).or_default().push((text.clone(), *known));
                }
                [Value::Null, Value::Text(hash), Value::Text(text)] if ContentHash::fits(hash, text.as_bytes()) => {
                    found.sources.insert(hash.clone(), text.clone());
                }
                [Value::Null, Value::Text(hash), Value::Blob(bytes)] => {
                    let text = decompressed(bytes);
                    if let Some(text) = text.filter(|text| ContentHash::fits(hash, text.as_bytes())) {
                        found.sources.insert(hash.clone(), text);
                    }
                }
                [Value::Null, Value::Text(name), Value::Blob(body), Value::Integer(known)] => {
                    if *known == generation_sum(name, body) {
                        found.generations.insert(name.clone(), body.clone());
                    } else if u32::try_from(id).is_ok_and(|id| *known == game_sum(id, body)) {
                        found.games.insert(id, (name.clone(), body.clone()));
                    }
                }
                [Value::Null, Value::Integer(parent), Value::Blob(body), Value::Integer(sum)] => {
                    let Ok(parent) = u32::try_from(*parent) else { continue };
                    found.actions.insert(id, ActionRow { id: id as u32, parent, body: body.clone(), sum: *sum });
                }
                [
                    Value::Null,
                    Value::Integer(parent),
                    Value::Integer(decisions),
                    Value::Integer(tip),
                    Value::Integer(state),
                    Value::Blob(body),
                    Value::Integer(sum),
                ] => {
                    let (Ok(decisions), Ok(tip)) = (u32::try_from(*decisions), u32::try_from(*tip)) else { continue };
                    let (parent, state, body, sum) = (*parent as u32, *state, body.clone(), *sum);
                    let row = MomentRow { id: id as u32, parent, decisions, tip, state, body, sum };
                    found.moments.insert(id, row);
                }
                [Value::Null, Value::Blob(body), Value::Integer(known)] => {
                    found.bodies.entry(id).or_default().push((body.clone(), *known));
                }
                _ => {}
            }
        }
        found
    }

    /// Writes the valid rows to a new file, and replays it. Leaves out entries that cannot be replayed, and those after
    /// them, so that the new file is valid.
    fn write_whole(&self, path: &Path, draft: &Path, library: &Library) -> Result<Recovery, StoreError> {
        let mut left_out: BTreeSet<(u32, u32)> = BTreeSet::new();
        let mut reasons: Vec<String> = Vec::new();
        loop {
            let _ = fs::remove_file(draft);
            let mut recovery = self.write(path, draft, library, &left_out)?;
            let mut file = StoreFile::read_unlocked(draft, library.clone())?;
            let before = left_out.len();
            for game in file.games()? {
                let mut found = file.look_at_rows(game);
                file.play_all(game, &mut found);
                reasons.extend(found.problems);
                left_out.extend(found.lost.into_iter().map(|entry| (game, entry)));
            }
            if left_out.len() == before {
                reasons.truncate(MOST_PROBLEMS);
                recovery.lost.extend(reasons);
                return Ok(recovery);
            }
        }
    }

    /// Writes the valid rows to a new file, except for the given entries (campaign and number).
    fn write(
        &self,
        path: &Path,
        draft: &Path,
        library: &Library,
        left_out: &BTreeSet<(u32, u32)>,
    ) -> Result<Recovery, StoreError> {
        let mut recovery = Recovery::default();
        let lost = &mut recovery.lost;
        let mut file = StoreFile::open(draft, library.clone(), Access::Write, true)?;
        file.words = self.dictionary(lost);
        let games = self.games.keys().copied().chain(self.moments.keys().map(|id| id >> 32));
        let games: BTreeSet<u32> = games.filter_map(|game| u32::try_from(game).ok()).collect();
        recovery.campaigns = file.write(|to| {
            let rules = self.write_rules(to, library, lost)?;
            games.into_iter().map(|game| self.write_campaign(to, (game, left_out), &rules, path, lost)).collect()
        })?;
        Ok(recovery)
    }

    /// The dictionary. Rows that need a lost text are lost with it; the numbers of the other texts stay.
    fn dictionary(&self, lost: &mut Vec<String>) -> Dictionary {
        let most = self.words.keys().next_back().map_or(0, |last| last + 1);
        let texts = (0..most).map(|id| self.words.get(&id).cloned().unwrap_or_else(|| format!("\u{0}{id}")));
        let gone: Vec<u64> = (0..most).filter(|id| !self.words.contains_key(id)).map(|id| id as u64).collect();
        if !gone.is_empty() {
            lost.push(format!("{} entries of the dictionary", gone.len()));
        }
        Dictionary::of(texts.collect()).without(gone).unwritten()
    }

    /// The hashes of the rules that scenes, actions and checkpoints need.
    fn rules_in_use(&self, to: &FileWriter<'_>) -> BTreeSet<String> {
        let mut hashes = BTreeSet::new();
        for (body, _) in self.bodies.values().flatten() {
            if let Ok(Piece::Scene(scene)) = to.words.unpack::<Piece>(body) {
                hashes.insert(scene.rules);
            }
        }
        for action in self.actions.values() {
            if let Ok(done) = to.words.unpack::<Done>(&action.body) {
                hashes.extend(done.cause.rules_brought().map(str::to_owned));
            }
        }
        hashes
    }

    /// Writes the rules. Returns the hashes of those that are complete. A lost text may still be on disk.
    fn write_rules(
        &self,
        to: &mut FileWriter<'_>,
        library: &Library,
        lost: &mut Vec<String>,
    ) -> Result<Vec<String>, StoreError> {
        let mut sources = self.sources.clone();
        let mut readable = Vec::new();
        // If a list of files is lost, the ruleset may still be on disk.
        let unlisted: Vec<String> =
            self.rules_in_use(to).into_iter().filter(|hash| !self.generations.contains_key(hash)).collect();
        let on_disk = if unlisted.is_empty() { Vec::new() } else { library.ids() };
        for rules in on_disk.iter().filter_map(|id| Ruleset::shared(library, id, &[]).ok()) {
            if let Some(hash) = unlisted.iter().find(|hash| rules.has_hash(hash)) {
                to.rules(hash, &Generation::of(&rules), &rules.files())?;
                readable.push(hash.clone());
            }
        }
        for hash in unlisted.iter().filter(|hash| !readable.contains(hash)) {
            lost.push(format!("the list of files of the rules {hash}, which are not on the disk"));
        }
        for (hash, body) in &self.generations {
            let rules: Option<Generation> = to.words.unpack(body).ok();
            if let Some(rules) = &rules
                && rules.contents().any(|(_, content)| !sources.contains_key(content))
                && let Ok(today) = Ruleset::shared(library, &rules.ruleset, &rules.layers)
            {
                let today = today.files();
                for (path, content) in rules.contents() {
                    if let Some(text) = today.get(&**path).filter(|text| ContentHash::fits(content, text.as_bytes())) {
                        sources.insert(content.clone(), text.to_string());
                    }
                }
            }
            let whole = |rules: &Generation| rules.contents().all(|(_, content)| sources.contains_key(content));
            if !rules.as_ref().is_some_and(whole) {
                let name = rules.as_ref().map_or_else(|| hash.clone(), Generation::name);
                lost.push(format!(
                    "files of the rules {name}, which are not on the disk as they were: put them there and recover the \
                     damaged file again"
                ));
                continue;
            }
            to.packed_generation(hash, body)?;
            readable.push(hash.clone());
        }
        sources.iter().try_for_each(|(hash, text)| to.source_as(hash, text))?;
        Ok(readable)
    }

    fn write_campaign(
        &self,
        to: &mut FileWriter<'_>,
        (game, left_out): (u32, &BTreeSet<(u32, u32)>),
        rules: &[String],
        path: &Path,
        lost: &mut Vec<String>,
    ) -> Result<RecoveredCampaign, StoreError> {
        let found = self.games.get(&i64::from(game));
        let read: Option<GameRow> = found.and_then(|(_, body)| to.words.unpack(body).ok());
        let name = || match (found, game) {
            (Some((name, _)), _) => nearest_allowed(name),
            (None, 0) => {
                path.file_stem().map_or_else(|| "campaign".into(), |stem| nearest_allowed(&stem.to_string_lossy()))
            }
            (None, game) => format!("campaign {game}"),
        };
        let all = self.moments.range(rows_of(game));
        let last = all.last().map_or(0, |(id, _)| *id as u32);
        // A row with fewer entries than were found is from an older copy of the file.
        let known = read.clone().filter(|row| row.moments >= last);
        let mut row = read.unwrap_or_else(|| GameRow { name: name(), ..GameRow::default() });
        row.name = nearest_allowed(&row.name);
        if known.is_none() {
            lost.push(format!("where the campaign {} stood; it stands at its last entry now", row.name));
        }
        let (pieces, notes) = self.write_pieces(to, game, &mut row)?;
        if let Some(had) = known.as_ref().map(|row| row.notes).filter(|had| *had > notes) {
            lost.push(format!("{} of {had} notes and dates of play of {}", had - notes, row.name));
        }
        let of_rules = |piece: &Piece| matches!(piece, Piece::Scene(scene) if rules.contains(&scene.rules));
        let scenes = pieces.values().filter(|(_, piece)| of_rules(piece)).map(|(sum, _)| *sum).collect::<Vec<_>>();
        let actions = self.valid_actions(to, game, &scenes);
        let moments = self.write_moments(to, (game, left_out), &pieces, &actions)?;
        self.write_actions(to, game, &self.reached_from(game, moments.keys().copied()), &mut row)?;

        let had = known.as_ref().map_or(last, |row| row.moments.max(last));
        if had as usize > moments.len() {
            lost.push(format!("{} of {had} entries of {}", had as usize - moments.len(), row.name));
        }
        // The former head, or else the last recovered entry before it on its path, or else the last one before it.
        let stood = known.as_ref().map(|row| row.head);
        let mut head = stood.unwrap_or(had);
        while head != 0 && !moments.contains_key(&head) {
            head = match self.moments.get(&key(game, head)) {
                Some(row) if row.parent < head => row.parent,
                _ => moments.range(..head).next_back().map_or(0, |(id, _)| *id),
            };
        }
        let (last, sum) = moments.last_key_value().map_or((0, 0), |(id, sum)| (*id, *sum));
        row = GameRow { head, moments: last, last: sum, recovered: true, ..row };
        to.new_game(game, &row.name)?;
        to.game(game, &row)?;
        let (entries, had) = (moments.len() as u32, known.map(|row| row.moments));
        Ok(RecoveredCampaign { name: row.name, entries, had, head, stood })
    }

    /// Writes the pieces and notes, which need no other rows. Returns the pieces with their checksums, and the number
    /// of notes.
    fn write_pieces(&self, to: &FileWriter<'_>, game: u32, row: &mut GameRow) -> Result<(Pieces, u32), StoreError> {
        let (mut pieces, mut notes) = (Pieces::new(), 0);
        row.notes = 0;
        for (id, bodies) in self.bodies.range(rows_of(game)) {
            for (body, sum) in bodies {
                if *sum == numbered_sum("piece", *id, body) {
                    let Ok(piece) = to.words.unpack::<Piece>(body) else { continue };
                    pieces.insert(*id as u32, (*sum, piece));
                    row.pieces = row.pieces.max(*id as u32);
                    to.body("piece", *id, body, *sum)?;
                } else if *sum == numbered_sum("note", *id, body) && to.words.unpack_value(body).is_ok() {
                    row.notes = row.notes.max(*id as u32);
                    notes += 1;
                    to.body("note", *id, body, *sum)?;
                } else if let Some(table) = PRIVATE.iter().find(|table| *sum == numbered_sum(table, *id, body)) {
                    to.body(table, *id, body, *sum)?;
                }
            }
        }
        Ok((pieces, notes))
    }

    /// Returns the checksums of the valid actions. An action is valid if its parent is.
    fn valid_actions(&self, to: &FileWriter<'_>, game: u32, scenes: &[i64]) -> HashMap<u32, i64> {
        let mut actions: HashMap<u32, i64> = HashMap::new();
        for action in self.actions.range(rows_of(game)).map(|(_, action)| action) {
            let fits = |sum: &i64| action.sum == action_sum(*sum, &action.body);
            let holds = match action.parent {
                0 => scenes.iter().any(fits),
                parent => actions.get(&parent).is_some_and(fits),
            };
            if holds && to.words.unpack::<Done>(&action.body).is_ok() {
                actions.insert(action.id, action.sum);
            }
        }
        actions
    }

    /// Returns the numbers of the actions that lead to these entries. Nothing else says to which scene an action belongs.
    fn reached_from(&self, game: u32, entries: impl Iterator<Item = u32>) -> BTreeSet<u32> {
        let mut reached = BTreeSet::new();
        for entry in entries {
            let mut at = self.moments[&key(game, entry)].tip;
            while at != 0 && reached.insert(at) {
                at = self.actions[&key(game, at)].parent;
            }
        }
        reached
    }

    /// Writes actions with their checkpoints.
    fn write_actions(
        &self,
        to: &FileWriter<'_>,
        game: u32,
        reached: &BTreeSet<u32>,
        row: &mut GameRow,
    ) -> Result<(), StoreError> {
        for action in reached.iter().map(|id| &self.actions[&key(game, *id)]) {
            row.actions = row.actions.max(action.id);
            to.action(game, action)?;
            for (body, sum) in self.bodies.get(&key(game, action.id)).into_iter().flatten() {
                if *sum == checkpoint_sum(action.sum, body) && to.words.unpack::<Checkpoint>(body).is_ok() {
                    to.body("checkpoint", key(game, action.id), body, *sum)?;
                }
            }
        }
        Ok(())
    }

    /// Writes the entries. Returns their checksums. An entry is valid if its parent, its action and its pieces are.
    fn write_moments(
        &self,
        to: &FileWriter<'_>,
        (game, left_out): (u32, &BTreeSet<(u32, u32)>),
        pieces: &Pieces,
        actions: &HashMap<u32, i64>,
    ) -> Result<BTreeMap<u32, i64>, StoreError> {
        let mut moments = BTreeMap::new();
        for row in self.moments.range(rows_of(game)).map(|(_, row)| row) {
            if left_out.contains(&(game, row.id)) {
                continue;
            }
            let Ok(of) = to.words.unpack::<MomentBody>(&row.body) else { continue };
            let parent = if row.parent == 0 { Some(0) } else { moments.get(&row.parent).copied() };
            let tip = match (row.tip, of.scene) {
                (0, 0) => Some(0),
                (0, scene) => pieces.get(&scene).map(|(sum, _)| *sum),
                (tip, _) => actions.get(&tip).copied(),
            };
            let there = [of.scene, of.seating, of.roster].iter().all(|id| *id == 0 || pieces.contains_key(id));
            let (Some(parent), Some(tip), true) = (parent, tip, there) else { continue };
            if row.sum == moment_sum(parent, tip, (row.decisions, row.tip, row.state), &row.body) {
                moments.insert(row.id, row.sum);
                to.moment(game, row)?;
                let id = key(game, row.id);
                let mut labels = self.labels.get(&id).into_iter().flatten();
                if let Some((text, _)) = labels.find(|(text, known)| *known == label_sum(row.sum, text)) {
                    to.label(id, row.sum, text)?;
                }
            }
        }
        Ok(moments)
    }
}

/// Pieces by their number, with their checksums.
type Pieces = HashMap<u32, (i64, Piece)>;

/// The row ids of a campaign.
fn rows_of(game: u32) -> Range<i64> {
    let first = i64::from(game) << 32;
    first..first + (1 << 32)
}
