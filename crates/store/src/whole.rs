//! Checks that a campaign is complete: reads its rows, verifies their checksums, and replays its tape.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use super::error::StoreError;
use super::file::StoreFile;
use super::host::{HostChange, KeptResult};
use super::label::label;
use super::rows::{GameRow, MomentBody, MomentRow, actions_between, key};
use riskbreaker_play::recorded::OTHER_STATE;
use riskbreaker_play::{Checkpoint, Session};

/// The most problems that are reported.
pub const MOST_PROBLEMS: usize = 100;

/// The result of checking a campaign.
#[derive(Debug, Default)]
pub struct CampaignFindings {
    pub entries: u32,
    pub actions: u32,
    pub checkpoints: u32,
    /// The problems, a sentence each.
    pub problems: Vec<String>,
    /// The entries that cannot be replayed, and those after them.
    pub lost: Vec<u32>,
}

impl CampaignFindings {
    fn note<T>(&mut self, found: Result<T, StoreError>) -> Option<T> {
        match found {
            Ok(found) => return Some(found),
            Err(StoreError::Damaged { what }) => self.problems.push(what),
            Err(other) => self.problems.push(other.to_string()),
        }
        None
    }

    /// Returns the first problem as an error.
    pub fn into_result(self) -> Result<(), StoreError> {
        match self.problems.into_iter().next() {
            Some(problem) => Err(StoreError::damaged(problem)),
            None => Ok(()),
        }
    }
}

/// The game after the last action of an entry, from which later entries are replayed.
enum ReplaySource {
    Session(Box<Session>, u32),
    Copy(Arc<Checkpoint>, u32),
    /// The beginning of the scene.
    Beginning,
}

impl StoreFile {
    /// Checks a campaign from its first entry on, with all its branches.
    ///
    /// # Errors
    ///
    /// The first problem.
    pub fn must_be_whole(&mut self, game: u32) -> Result<(), StoreError> {
        let mut found = self.look_at_rows(game);
        self.play_all(game, &mut found);
        found.into_result()
    }

    /// Refuses a campaign whose rows do not match the counts in its own row, for example if pages of an older copy are
    /// mixed in.
    pub fn must_hold_together(&self, game: u32, row: &GameRow) -> Result<(), StoreError> {
        let last = row.moments;
        if last > 0 && self.moment(game, last)?.sum != row.last {
            return Err(StoreError::damaged(format!("entry {last} is not the one that was kept last")));
        }
        if row.head > last {
            return Err(StoreError::damaged(format!("it stands at entry {}, and has {last}", row.head)));
        }
        let counts = [("moment", last), ("action", row.actions), ("piece", row.pieces), ("note", row.notes)];
        for (table, last) in counts {
            let query = format!("SELECT count(*) FROM {table} WHERE id > ?1 AND id < ?2");
            let behind = (key(game, last), key(game + 1, 0));
            let lost = self.connection.query_row(&query, behind, |row| row.get::<_, u32>(0));
            if lost.map_err(|error| self.failed(&error))? > 0 {
                let what = if table == "moment" { "entries" } else { table };
                return Err(StoreError::damaged(format!("rows of {what} after {last} that nothing refers to")));
            }
        }
        Ok(())
    }

    /// Reads every row of a campaign and verifies its checksum. Replays nothing.
    pub fn look_at_rows(&self, game: u32) -> CampaignFindings {
        let mut found = CampaignFindings::default();
        let Some(row) = found.note(self.game(game)) else { return found };
        found.note(self.must_hold_together(game, &row));
        for id in self.numbers("note", game, &row, row.notes) {
            found.note(self.note(game, id));
        }
        for id in self.numbers("piece", game, &row, row.pieces) {
            found.note(self.piece(game, id));
        }
        found.note(self.host_rows::<KeptResult>("request", game, usize::MAX));
        found.note(self.host_rows::<HostChange>("host", game, usize::MAX));
        let mut scenes = HashMap::new();
        for id in self.numbers("moment", game, &row, row.moments) {
            found.entries += 1;
            let Some((moment, body)) = found.note(self.checked_moment(game, id)) else {
                found.lost.push(id);
                continue;
            };
            scenes.insert(moment.tip, body.scene);
            found.note(label(self, game, id));
            if self.format >= 2 && !row.recovered && !self.has("label", key(game, id)) {
                found.problems.push(format!("the words of entry {id} are missing"));
            }
            for piece in [body.seating, body.roster].into_iter().filter(|piece| *piece > row.pieces) {
                found.problems.push(format!("entry {id} refers to piece {piece}, which is missing"));
            }
        }
        let mut scene = 0;
        for id in self.numbers("action", game, &row, row.actions).rev() {
            found.actions += 1;
            scene = scenes.get(&id).copied().unwrap_or(scene);
            found.note(self.checked_action(game, id, scene).and_then(|row| self.done(&row)));
            let checkpoint = self.checkpoint(game, id);
            found.checkpoints += u32::from(!matches!(checkpoint, Ok(None)));
            found.note(checkpoint);
        }
        found.problems.truncate(MOST_PROBLEMS);
        found
    }

    /// Replays all entries of a campaign, including branches, and compares each with the hash of its state. A branch
    /// begins with a copy of the game, so every action is run once.
    pub fn play_all(&mut self, game: u32, found: &mut CampaignFindings) {
        let Ok(row) = self.game(game) else { return };
        let mut moments: BTreeMap<u32, (MomentRow, MomentBody)> = BTreeMap::new();
        for id in self.numbers("moment", game, &row, row.moments).collect::<Vec<_>>() {
            if let Ok(moment) = self.checked_moment(game, id) {
                moments.insert(id, moment);
            }
        }
        // The number of entries after each: where the path branches, the longest branch continues with the game itself.
        let mut sizes: HashMap<u32, u32> = HashMap::new();
        let mut children: HashMap<u32, Vec<u32>> = HashMap::new();
        for (id, (moment, _)) in moments.iter().rev() {
            let size = *sizes.entry(*id).or_default() + 1;
            *sizes.entry(moment.parent).or_default() += size;
            children.entry(moment.parent).or_default().push(*id);
        }
        children.values_mut().for_each(|all| all.sort_by_key(|id| (sizes.get(id).copied(), *id)));
        let mut waiting: Vec<(u32, ReplaySource)> = Vec::new();
        let begin = |waiting: &mut Vec<(u32, ReplaySource)>, parent: u32, mut sources: Vec<ReplaySource>| {
            for id in children.get(&parent).into_iter().flatten().rev() {
                waiting.push((*id, sources.pop().unwrap_or(ReplaySource::Beginning)));
            }
        };
        begin(&mut waiting, 0, Vec::new());
        let mut lost: HashSet<u32> = found.lost.iter().copied().collect();
        while let Some((id, source)) = waiting.pop() {
            let Some((moment, body)) = moments.get(&id) else { continue };
            let count = children.get(&id).map_or(0, Vec::len);
            let is_end = count == 0 || id == row.head;
            match self.play_entry(game, moment, body, source, is_end) {
                Ok(None) => begin(&mut waiting, id, Vec::new()),
                Ok(Some(session)) => {
                    let mut sources = Vec::new();
                    if count > 1 {
                        let copy = Arc::new(session.checkpoint());
                        sources.extend((1..count).map(|_| ReplaySource::Copy(copy.clone(), moment.tip)));
                    }
                    sources.push(ReplaySource::Session(session, moment.tip));
                    begin(&mut waiting, id, sources);
                }
                Err(error) => {
                    found.note::<()>(Err(error));
                    // All later entries are lost with it.
                    let mut gone = vec![id];
                    while let Some(id) = gone.pop() {
                        gone.extend(children.get(&id).into_iter().flatten());
                        if lost.insert(id) {
                            found.lost.push(id);
                        }
                    }
                }
            }
        }
        found.problems.truncate(MOST_PROBLEMS);
    }

    /// Replays one entry. Returns the game after its last action; `None` between scenes.
    fn play_entry(
        &mut self,
        game: u32,
        moment: &MomentRow,
        body: &MomentBody,
        source: ReplaySource,
        is_end: bool,
    ) -> Result<Option<Box<Session>>, StoreError> {
        let Some(place) = &body.place else { return Ok(None) };
        let scene = self.scene(game, body.scene)?;
        let same_scene = moment.parent != 0 && self.checked_moment(game, moment.parent)?.1.scene == body.scene;
        let diverged = |message: String| StoreError::Diverged { entry: moment.id, message };
        let (mut session, tip) = match source {
            ReplaySource::Session(session, tip) if same_scene => (session, tip),
            ReplaySource::Copy(copy, tip) if same_scene => {
                let rules = self.find_rules(&copy.rules)?;
                (Box::new(Session::resume(&rules, scene.setup.clone(), (*copy).clone())?), tip)
            }
            _ => {
                let rules = self.find_rules(&scene.rules)?;
                (Box::new(Session::before_its_start(&rules, scene.setup.clone())?), 0)
            }
        };
        self.play_to(game, &mut session, tip, moment, body)?;
        let mut find = |hash: &str| self.find_rules(hash).map_err(|error| error.to_string());
        place.rules_asked_for().try_for_each(|hash| find(hash).map(drop)).map_err(diverged)?;
        if is_end {
            // Open the entry as a campaign does.
            let rules = session.ruleset().clone();
            let mut there = Session::resume(&rules, scene.setup, session.checkpoint())?;
            let seating = self.seating(game, body.seating)?;
            let mut find = |hash: &str| self.find_rules(hash).map_err(|error| error.to_string());
            there.stand_at(place, &seating, &mut find).map_err(diverged)?;
            must_be_at(&there, moment)?;
        }
        // These events have no readers.
        session.take_events();
        Ok(Some(session))
    }

    /// Runs the actions up to an entry, after the action `tip`, and compares the state and the checkpoint stored there.
    /// Returns true if there was a checkpoint.
    pub fn play_to(
        &mut self,
        game: u32,
        session: &mut Session,
        tip: u32,
        moment: &MomentRow,
        body: &MomentBody,
    ) -> Result<bool, StoreError> {
        let part = actions_between(self, game, tip, moment.tip, body.scene)?;
        let diverged = |message: String| StoreError::Diverged { entry: moment.id, message };
        let mut find = |hash: &str| self.find_rules(hash).map_err(|error| error.to_string());
        session.replay_to(&part, &mut find, |session| is_at(session, moment)).map_err(diverged)?;
        let checkpoint = if part.is_empty() { None } else { self.checkpoint(game, moment.tip)? };
        if let Some((bytes, _)) = &checkpoint
            && !self.words.unpack::<Checkpoint>(bytes)?.is_of(session)
        {
            return Err(diverged("the checkpoint after it holds another state".into()));
        }
        Ok(checkpoint.is_some())
    }
}

/// Compares the state of a game with the one stored with an entry.
pub fn must_be_at(session: &Session, moment: &MomentRow) -> Result<(), StoreError> {
    match is_at(session, moment) {
        true => Ok(()),
        false => Err(StoreError::Diverged { entry: moment.id, message: OTHER_STATE.into() }),
    }
}

fn is_at(session: &Session, moment: &MomentRow) -> bool {
    session.state_checksum().short() == moment.state
}
