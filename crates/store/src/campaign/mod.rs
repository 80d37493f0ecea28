//! A campaign in a store: stores the progress of a session, goes to earlier decisions, and opens again.

mod entry;

use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};

pub use self::entry::Kept;
use super::date;
use super::error::StoreError;
use super::file::{StoreFile, lock, move_new};
use super::host::HostRow;
use super::lock::beside;
use super::name::normalized;
use super::opening::Access;
use super::roster::Roster;
use super::rows::{GameRow, MomentBody, MomentRow, Piece, Scene, key, moment_sum};
use super::upgrade::copy;
use super::whole::must_be_at;
use super::writer::FileWriter;
use riskbreaker_play::{Checkpoint, Done, Ruleset, Seating, Session, Setup};
use riskbreaker_state::Value;

/// The least number of actions that are replayed when a campaign is opened, so that they can be undone in memory.
const IN_MEMORY: usize = 32;

/// A campaign: a file's record of scenes, one of which is played.
///
/// The session belongs to the caller. [`Campaign::keep`] writes its progress since the last call; acknowledge nothing
/// that a session did before that has returned.
///
/// It has many methods, since each thing that a caller keeps or reads is one; each file has those of one subject.
pub struct Campaign {
    pub(super) file: Arc<Mutex<StoreFile>>,
    game: u32,
    row: GameRow,
    /// The current entry.
    head: Head,
    /// The scene that is played, which is that of the head.
    scene: NowPlayed,
    /// The actions in the session's memory, as rows: number and checksum.
    rows: Vec<(u32, i64)>,
    /// The row before the first of them.
    base: (u32, i64),
    /// Number of actions since the last checkpoint.
    since_checkpoint: usize,
    /// True if something was kept since the campaign was opened.
    pub(super) sat_down: bool,
    /// The file's count of failed writes when `row` was read. If it has grown, `row` has to be read again.
    failures: u64,
    continues: Continues,
    /// The position before [`Campaign::turn_to`], until the next [`Campaign::keep`].
    turned: Option<Box<Standing>>,
    /// Host rows that the next [`Campaign::keep`] writes.
    pub(super) waiting: Vec<HostRow>,
}

/// The only session that a campaign accepts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Continues {
    /// None yet.
    Nothing,
    /// The session of this identity, which begins a scene.
    Begun(u64),
    /// The session that was last kept or opened, by a number that is unique in the process.
    Kept(u64),
}

/// The number for the next session that is kept.
static NUMBERS: AtomicU64 = AtomicU64::new(1);

/// Numbers of actions, with their checksums.
type ActionRows = Vec<(u32, i64)>;

#[derive(Clone, Debug, Default)]
struct Head {
    id: u32,
    sum: i64,
    decisions: u32,
    /// The number of decisions without pending requests for other rules.
    made: u32,
    scene: u32,
    seating: u32,
    roster: u32,
    tip: u32,
    state: i64,
    act: Option<String>,
    body: Vec<u8>,
}

/// The scene of the session.
#[derive(Clone, Debug, Default)]
struct NowPlayed {
    piece: u32,
    /// Set if the scene is not in the file yet.
    new: Option<Scene>,
    seating: Option<Seating>,
    /// The hash of the rules after the last kept action.
    rules: String,
}

/// The position of a campaign in memory.
struct Standing {
    rows: ActionRows,
    base: (u32, i64),
    since_checkpoint: usize,
    scene: NowPlayed,
    head: Head,
    continues: Continues,
}

/// A session opened at an entry, with the rows from which it was made.
pub(super) struct OpenedSession {
    pub session: Session,
    moment: MomentRow,
    body: MomentBody,
    seating: Seating,
    rows: ActionRows,
    base: (u32, i64),
}

impl Campaign {
    pub(super) fn open(file: &Arc<Mutex<StoreFile>>, game: u32) -> Result<Campaign, StoreError> {
        let mut campaign = Campaign {
            file: file.clone(),
            game,
            row: GameRow::default(),
            head: Head::default(),
            scene: NowPlayed::default(),
            rows: Vec::new(),
            base: (0, 0),
            since_checkpoint: 0,
            sat_down: false,
            failures: lock(file).failures,
            continues: Continues::Nothing,
            turned: None,
            waiting: Vec::new(),
        };
        let file = lock(file);
        campaign.row = file.game(game)?;
        file.must_hold_together(game, &campaign.row)?;
        let head = campaign.row.head;
        campaign.head = match head {
            0 => Head::default(),
            id => {
                let (row, body) = file.checked_moment(game, id)?;
                Head::of(row, &body)
            }
        };
        drop(file);
        Ok(campaign)
    }

    /// The name of the campaign.
    pub fn name(&self) -> &str {
        &self.row.name
    }

    /// The time of its creation, in UTC.
    pub fn made(&self) -> &str {
        &self.row.made
    }

    /// The time of the last write, in UTC.
    pub fn played(&self) -> &str {
        &self.row.played
    }

    /// Identifies the campaign, even if its file is moved or copied; copies have the same identity. `None` for a file
    /// of an older format that was not written since.
    pub fn identity(&self) -> Option<&str> {
        Some(self.row.identity.as_str()).filter(|identity| !identity.is_empty())
    }

    /// The checksums of the entries from `first` on; 0 for a lost one. Each covers the content of the entry and the
    /// entries before it. Copies of a campaign have equal checksums for equal entries.
    pub fn entry_sums(&self, first: u32) -> Vec<i64> {
        self.file().entry_sums(self.game, first, self.row.moments).unwrap_or_default()
    }

    /// The checksums of the rows of the entries, which versions up to 0.1.0 used for entries: they cover texts only by
    /// their dictionary numbers.
    #[doc(hidden)]
    pub fn row_sums(&self, first: u32) -> Vec<i64> {
        self.file().moment_sums(self.game, first, self.row.moments).unwrap_or_default()
    }

    /// The number of the current entry; 0 before the first.
    pub fn head(&self) -> u32 {
        self.head.id
    }

    /// The number of entries, including undone ones.
    pub fn entries(&self) -> u32 {
        self.row.moments
    }

    /// Number of entries and notes. It grows with every sitting.
    #[cfg(feature = "serve")]
    #[doc(hidden)]
    pub fn records(&self) -> u64 {
        u64::from(self.row.moments) + u64::from(self.row.notes)
    }

    /// True if a scene is running or has ended.
    pub fn has_scene(&self) -> bool {
        self.head.scene != 0
    }

    /// Returns the number of the scene; scenes of a campaign may have equal titles.
    #[doc(hidden)]
    pub fn scene_number(&self) -> u32 {
        self.head.scene
    }

    /// The title of the current scene.
    pub fn scene_title(&self) -> Result<String, StoreError> {
        match (&self.scene.new, self.head.scene) {
            (Some(scene), _) => Ok(scene.title.clone()),
            (None, 0) => Ok(String::new()),
            (None, piece) => Ok(self.file().scene(self.game, piece)?.title),
        }
    }

    /// The setup of the current scene. `None` if there is no scene.
    pub fn setup(&self) -> Result<Option<Setup>, StoreError> {
        match (&self.scene.new, self.head.scene) {
            (Some(scene), _) => Ok(Some(scene.setup.clone())),
            (None, 0) => Ok(None),
            (None, piece) => Ok(Some(self.file().scene(self.game, piece)?.setup)),
        }
    }

    pub(super) fn file(&self) -> MutexGuard<'_, StoreFile> {
        lock(&self.file)
    }

    /// True if the current entry changed something outside the game, such as the roster. No session can undo it; the
    /// campaign can.
    pub fn stands_beside(&self) -> bool {
        self.head.act.is_some()
    }

    /// The characters at the head.
    pub fn roster(&self) -> Result<Roster, StoreError> {
        match self.head.roster {
            0 => Ok(Roster::default()),
            piece => match self.file().piece(self.game, piece)? {
                Piece::Roster(roster) => Ok(roster),
                _ => Err(StoreError::damaged(format!("piece {piece} is no roster"))),
            },
        }
    }

    /// Replaces the roster, as an entry of its own. `go_to` reaches the state before it.
    ///
    /// # Errors
    ///
    /// As [`Campaign::keep`]. The progress of the session must be kept before.
    pub fn set_roster(&mut self, roster: &Roster, act: &str) -> Result<(), StoreError> {
        let values = roster.characters.values().flat_map(|character| character.fields.values());
        Value::must_fit(values).map_err(StoreError::Refused)?;
        self.read_anew()?;
        let (game, head) = (self.game, self.head.clone());
        let mut row = self.row.clone();
        let mut guard = lock(&self.file);
        let file = &mut *guard;
        let mut body: MomentBody = match head.id {
            0 => MomentBody { scene: 0, seating: 0, roster: 0, act: None, place: None },
            _ => file.words.unpack(&head.body)?,
        };
        let tip = file.sum_of(game, head.tip, head.scene)?;
        body.roster = row.pieces + 1;
        body.act = Some(act.to_owned());
        let packed = file.words.pack(&body)?;
        row.pieces = body.roster;
        let moment = file.write(|to| {
            to.piece(game, row.pieces, &Piece::Roster(roster.clone()))?;
            let moment = MomentRow {
                id: row.moments + 1,
                parent: head.id,
                decisions: head.decisions,
                tip: head.tip,
                state: head.state,
                sum: moment_sum(head.sum, tip, (head.decisions, head.tip, head.state), &packed),
                body: packed,
            };
            row.played = date::now();
            write_moment(to, game, &mut row, &moment, act)?;
            Ok(moment)
        })?;
        drop(guard);
        self.row = row;
        self.head = Head::of(moment, &body);
        Ok(())
    }

    /// Reads the row of the campaign again after a failed write, which may have reached the disk unreported. It then
    /// stays in the file as a branch; the current entry stays the same.
    fn read_anew(&mut self) -> Result<(), StoreError> {
        let mut file = lock(&self.file);
        if file.failures == self.failures {
            if file.game(self.game)? != self.row {
                let message = "this campaign was opened a second time and played on there: open it again";
                return Err(StoreError::Refused(message.into()));
            }
            return Ok(());
        }
        file.read_anew()?;
        let failures = file.failures;
        let found = file.game(self.game)?;
        let row = GameRow { head: self.head.id, ..found.clone() };
        if row.head != found.head {
            file.write(|to| to.game(self.game, &row))?;
        }
        self.row = row;
        self.failures = failures;
        Ok(())
    }

    pub(super) fn row(&self) -> &GameRow {
        &self.row
    }

    /// Writes rows outside the tape.
    pub(super) fn write_row(
        &mut self,
        work: impl FnOnce(&mut FileWriter<'_>, u32, &mut GameRow) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        self.read_anew()?;
        let (game, mut row) = (self.game, self.row.clone());
        row.have_identity();
        lock(&self.file).write(|to| {
            work(to, game, &mut row)?;
            to.game(game, &row)
        })?;
        self.row = row;
        Ok(())
    }

    pub(super) fn game(&self) -> u32 {
        self.game
    }

    /// Begins a scene, which is written with the first [`Campaign::keep`].
    ///
    /// # Errors
    ///
    /// The setup does not fit the ruleset.
    pub fn begin(&mut self, rules: &Arc<Ruleset>, setup: Setup, title: &str) -> Result<Session, StoreError> {
        let session = Session::start(rules, setup.clone())?;
        self.adopt_scene(rules, setup, title, &session);
        Ok(session)
    }

    /// Adds a game that was begun elsewhere as the next scene, which is written with the first [`Campaign::keep`].
    ///
    /// # Errors
    ///
    /// The rules with which it began cannot be loaded any more, or only the last part of the game is in memory
    /// ([`Session::is_resumed`]).
    pub fn adopt(&mut self, session: &Session, title: &str) -> Result<(), StoreError> {
        if session.is_resumed() {
            let message = "only the last part of this game is in memory: take all of it from its campaign";
            return Err(StoreError::Refused(message.into()));
        }
        let (rules, setup) = session.beginning()?;
        self.adopt_scene(&rules, setup, title, session);
        Ok(())
    }

    fn adopt_scene(&mut self, rules: &Arc<Ruleset>, setup: Setup, title: &str, session: &Session) {
        self.continues = Continues::Begun(session.identity());
        let hash = self.file().hash_of(rules);
        self.scene = NowPlayed {
            piece: 0,
            rules: hash.clone(),
            new: Some(Scene { title: title.to_owned(), rules: hash.clone(), setup }),
            seating: None,
        };
        self.rows.clear();
        self.base = (0, 0);
        self.since_checkpoint = 0;
        self.file().rules.insert(hash, rules.clone());
    }

    /// The game at the head, with its whole scene in memory, for saving it elsewhere. It is replayed from its
    /// beginning, while [`Campaign::session`] starts at a checkpoint.
    ///
    /// # Errors
    ///
    /// As [`Campaign::session`].
    pub fn whole(&self) -> Result<Session, StoreError> {
        Ok(self.open_at(&mut self.file(), self.head.id, None)?.session)
    }

    /// Opens the session at the head.
    ///
    /// # Errors
    ///
    /// No scene has begun; the file is damaged; or the replayed game differs from the kept one.
    pub fn session(&mut self) -> Result<Session, StoreError> {
        self.read_anew()?;
        let id = self.head.id;
        self.session_at(id)
    }

    fn session_at(&mut self, id: u32) -> Result<Session, StoreError> {
        let shared = self.file.clone();
        let mut file = lock(&shared);
        let opened = self.open_as_it_fits(&mut file, id, Some(IN_MEMORY))?;
        let OpenedSession { mut session, moment, body, seating, rows, base } = opened;
        let rules = file.hash_of(session.ruleset());
        drop(file);
        self.note_kept(&mut session);
        self.since_checkpoint = rows.len();
        self.rows = rows;
        self.base = base;
        self.scene = NowPlayed { piece: body.scene, new: None, seating: Some(seating), rules };
        self.head = Head::of(moment, &body);
        Ok(session)
    }

    /// The session of an entry, as [`Campaign::open_at`] returns it. If its replay gives another state than the stored
    /// one, it is opened from the last checkpoint before it, which may come after the action that differs.
    pub(super) fn open_as_it_fits(
        &self,
        file: &mut StoreFile,
        id: u32,
        replayed: Option<usize>,
    ) -> Result<OpenedSession, StoreError> {
        match self.open_at(file, id, replayed) {
            Err(error @ StoreError::Diverged { .. }) => self.open_at(file, id, Some(0)).map_err(|_| error),
            other => other,
        }
    }

    /// Opens the session of an entry: from the last checkpoint with at least `replayed` actions after it, or from the
    /// beginning of its scene.
    pub(crate) fn open_at(
        &self,
        file: &mut StoreFile,
        id: u32,
        replayed: Option<usize>,
    ) -> Result<OpenedSession, StoreError> {
        let game = self.game;
        if id == 0 {
            return Err(StoreError::Refused("no scene has begun yet".into()));
        }
        let (moment, body) = file.checked_moment(game, id)?;
        let Some(place) = &body.place else {
            return Err(StoreError::Refused("no scene is under way here".into()));
        };
        let scene = file.scene(game, body.scene)?;
        let seating = file.seating(game, body.seating)?;
        // Follow the tape back to a checkpoint.
        let (mut rows, mut at, mut from) = (Vec::new(), moment.tip, None);
        while at != 0 {
            if replayed.is_some_and(|least| rows.len() >= least)
                && let Some((body, sum)) = file.checkpoint(game, at)?
            {
                from = Some((file.words.unpack::<Checkpoint>(&body)?, sum));
                break;
            }
            let row = file.checked_action(game, at, body.scene)?;
            at = row.parent;
            rows.push(row);
        }
        rows.reverse();
        let part: Vec<Done> = rows.iter().map(|row| file.done(row)).collect::<Result<_, _>>()?;
        let part: Arc<[Done]> = part.into();
        let (mut session, base) = match from {
            Some((checkpoint, sum)) => {
                let rules = file.find_rules(&checkpoint.rules)?;
                (Session::resume(&rules, scene.setup.clone(), checkpoint)?, (at, sum))
            }
            None => {
                let rules = file.find_rules(&scene.rules)?;
                let sum = file.sum_of(game, 0, body.scene)?;
                (Session::before_its_start(&rules, scene.setup.clone())?, (0, sum))
            }
        };
        let mut find = |hash: &str| file.find_rules(hash).map_err(|error| error.to_string());
        let diverged = |message: String| StoreError::Diverged { entry: id, message };
        session.replay(&part, &mut find).map_err(diverged)?;
        session.stand_at(place, &seating, &mut find).map_err(diverged)?;
        must_be_at(&session, &moment)?;
        let rows = rows.iter().map(|row| (row.id, row.sum)).collect();
        Ok(OpenedSession { session, moment, body, seating, rows, base })
    }

    /// The last entry on the path to the head that can be opened, if the head cannot: another version of the program
    /// may give another result.
    ///
    /// # Errors
    ///
    /// The file is damaged.
    pub fn last_that_opens(&self) -> Result<Option<u32>, StoreError> {
        let mut file = self.file();
        let mut at = self.head.id;
        while at != 0 {
            if self.open_as_it_fits(&mut file, at, Some(IN_MEMORY)).is_ok() {
                return Ok(Some(at));
            }
            at = file.moment(self.game, at)?.parent;
        }
        Ok(None)
    }

    /// Goes to any entry. Later entries and other branches stay in the file.
    ///
    /// # Errors
    ///
    /// There is no such entry, or as [`Campaign::session`]. The current entry stays the same then.
    pub fn go_to(&mut self, entry: u32) -> Result<Session, StoreError> {
        let session = self.turn_to(entry)?;
        let row = GameRow { head: entry, ..self.row.clone() };
        let written = lock(&self.file).write(|to| to.game(self.game, &row));
        let before = self.turned.take();
        if let Err(error) = written {
            before.into_iter().for_each(|before| self.stand(*before));
            return Err(error);
        }
        self.row = row;
        Ok(session)
    }

    /// Like [`Campaign::go_to`], but writes to the file with the next [`Campaign::keep`], in the same transaction. If
    /// that fails, the current entry stays the same.
    ///
    /// # Errors
    ///
    /// As [`Campaign::go_to`].
    #[doc(hidden)]
    pub fn turn_to(&mut self, entry: u32) -> Result<Session, StoreError> {
        self.read_anew()?;
        if entry == 0 || entry > self.row.moments {
            return Err(self.no_entry(entry));
        }
        let before = self.standing();
        match self.session_at(entry) {
            Ok(session) => {
                self.turned.get_or_insert(Box::new(before));
                Ok(session)
            }
            Err(error) => {
                self.stand(before);
                Err(error)
            }
        }
    }

    /// Reverses a turn to another entry, with all changes held back since then.
    pub(crate) fn turn_back(&mut self) {
        self.file().drop_held();
        let Some(before) = self.turned.take() else { return };
        self.stand(*before);
        let row = self.file().game(self.game);
        if let Ok(row) = row {
            self.row = row;
        }
    }

    /// The refusal of an unknown entry.
    pub(crate) fn no_entry(&self, entry: u32) -> StoreError {
        StoreError::Refused(format!("there is no entry {entry}; they go from 1 to {}", self.entries()))
    }

    fn standing(&self) -> Standing {
        Standing {
            rows: self.rows.clone(),
            base: self.base,
            since_checkpoint: self.since_checkpoint,
            scene: self.scene.clone(),
            head: self.head.clone(),
            continues: self.continues,
        }
    }

    fn stand(&mut self, standing: Standing) {
        let Standing { rows, base, since_checkpoint, scene, head, continues } = standing;
        (self.rows, self.base, self.since_checkpoint) = (rows, base, since_checkpoint);
        (self.scene, self.head, self.continues) = (scene, head, continues);
    }

    /// Records that a session is at the head. From now on the campaign accepts only this one.
    fn note_kept(&mut self, session: &mut Session) {
        let count = NUMBERS.fetch_add(1, Ordering::Relaxed);
        self.continues = Continues::Kept(count);
        session.note_kept(count);
    }

    /// Refuses a session that does not continue the campaign.
    fn must_continue(&self, session: &Session) -> Result<(), StoreError> {
        let continues = match self.continues {
            Continues::Nothing => false,
            Continues::Begun(identity) => session.identity() == identity,
            Continues::Kept(count) => session.kept_as() == Some(count),
        };
        if continues {
            return Ok(());
        }
        let what = match (self.continues, session.kept_as()) {
            (Continues::Nothing, _) => "no session of this campaign was opened or begun yet",
            (_, None) => "this session was never part of this campaign, or is a copy of one that is",
            (_, Some(_)) => "this session belongs to another campaign or to an earlier entry of this one",
        };
        let message = format!(
            "{what}: `Campaign::session` and `Campaign::go_to` give the session that continues it, `Campaign::begin` and \
             `Campaign::adopt` begin a scene with another one"
        );
        Err(StoreError::Refused(message))
    }

    /// Compares the file on disk with the result of the last write.
    ///
    /// # Errors
    ///
    /// [`StoreError::Changed`] if another program has written to it, replaced it or moved it.
    pub fn must_be_unchanged(&self) -> Result<(), StoreError> {
        self.file().must_be_unchanged()
    }

    /// Continues with the file on disk, after [`StoreError::Changed`]. Reads and checks the whole file, which must end
    /// with the last kept entry.
    ///
    /// # Errors
    ///
    /// The file is damaged or ends with another entry. The campaign in memory is unchanged.
    pub fn retry(&mut self) -> Result<(), StoreError> {
        let shared = self.file.clone();
        let (game, row) = (self.game, self.row.clone());
        lock(&shared).retry(|ours, there| {
            let entries = there.game(game).map_or(0, |found| found.moments);
            let found = there.game(game).ok().filter(|found| (found.moments, found.last) == (row.moments, row.last));
            if found.is_none() {
                return Err(StoreError::Refused(format!(
                    "{} is another file now: it has {entries} entries and does not end with entry {}, which was kept last; \
                     `save OTHER.rbsave` keeps the game in another file",
                    ours.path.display(),
                    row.moments
                )));
            }
            there.must_be_whole(game)
        })?;
        self.read_anew()
    }

    /// Writes the whole campaign as it is in memory, with its notes, its roster and undone entries, to a new file. The
    /// copy accepts the session of this campaign. It has no rows that are private to the file.
    ///
    /// # Errors
    ///
    /// The file exists already, or it cannot be written.
    pub fn save_as(&self, path: &Path, name: &str) -> Result<Campaign, StoreError> {
        let name = normalized(name)?;
        if fs::symlink_metadata(path).is_ok() {
            return Err(StoreError::Refused(format!("{} exists already", path.display())));
        }
        let (file, game) = (self.file(), self.game);
        let library = file.library.clone();
        let draft = beside(path, "saving");
        let mut row = GameRow { name, identity: String::new(), ..self.row.clone() };
        row.have_identity();
        let copied = copy(&file, &draft, Some((game, row))).and_then(|()| move_new(&draft, path));
        drop(file);
        let _ = fs::remove_file(&draft);
        copied?;
        let opened = Arc::new(Mutex::new(StoreFile::open(path, library, Access::Write, true)?));
        let Campaign { file, row, failures, .. } = Campaign::open(&opened, game)?;
        Ok(Campaign {
            file,
            game,
            row,
            head: self.head.clone(),
            scene: self.scene.clone(),
            rows: self.rows.clone(),
            base: self.base,
            since_checkpoint: self.since_checkpoint,
            sat_down: self.sat_down,
            failures,
            continues: self.continues,
            turned: None,
            waiting: Vec::new(),
        })
    }

    /// The entry before the head, for an undo beyond the actions in memory.
    pub fn before(&self) -> Result<Option<u32>, StoreError> {
        match self.head.id {
            0 => Ok(None),
            id => Ok(Some(self.file().moment(self.game, id)?.parent).filter(|parent| *parent != 0)),
        }
    }

    /// The latest entry after the head, for a redo.
    pub fn after(&self) -> Result<Option<u32>, StoreError> {
        Ok(self.file().moments_after(self.game, self.head.id)?.last().copied())
    }
}

impl Head {
    fn of(row: MomentRow, body: &MomentBody) -> Head {
        let (scene, seating, roster) = (body.scene, body.seating, body.roster);
        Head {
            made: body.counted(row.decisions).made,
            scene,
            seating,
            roster,
            act: body.act.clone(),
            ..Head::bare(row)
        }
    }

    fn bare(row: MomentRow) -> Head {
        let MomentRow { id, decisions, tip, state, body, sum, .. } = row;
        Head { id, sum, decisions, tip, state, body, ..Head::default() }
    }
}

/// Writes an entry with its text, and makes it the current entry.
pub(super) fn write_moment(
    to: &mut FileWriter<'_>,
    game: u32,
    row: &mut GameRow,
    moment: &MomentRow,
    text: &str,
) -> Result<(), StoreError> {
    to.label(key(game, moment.id), moment.sum, text)?;
    to.moment(game, moment)?;
    (row.moments, row.head, row.last) = (moment.id, moment.id, moment.sum);
    to.game(game, row)
}

#[cfg(test)]
mod tests {
    use crate::store::Store;
    use std::path::PathBuf;

    use super::entry::BETWEEN_CHECKPOINTS;
    use super::*;
    use riskbreaker_ruleset::Library;
    use riskbreaker_state::FieldId;

    const PLAY: &str = "local rb = require('@riskbreaker')\n\
        return rb.play({\n\
        start = function() rb.spawn('rope', {}) rb.recur('turn', 1, 1) end,\n\
        entries = { turn = function() rb.first('rope'):add('at', if rb.confirm({ seat = 'left', topic = 'pull' }) then 1 else 2) end },\n\
        })\n";

    fn library(play: &str) -> Library {
        let kinds = "local rb = require('@riskbreaker')\nreturn rb.kinds({ rope = { fields = { at = rb.int() } } })\n";
        let manifest = "id = 'pull'\ntitle = 'Pull'\nversion = '1.0.0'\n[seats]\nleft = 'Left'\n";
        Library::from_files([
            ("pull/ruleset.toml", manifest),
            ("pull/kinds.luau", kinds),
            ("pull/play.luau", play),
            ("pull/scenarios/default.toml", "title = 'One'\n"),
        ])
    }

    /// A campaign in a temporary folder, with a game.
    fn begun(name: &str, library: &Library) -> (PathBuf, Campaign, Session) {
        let folder = std::env::temp_dir().join(format!("riskbreaker-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let store = Store::open(folder.join("campaigns.rbsave"), library).unwrap();
        let mut campaign = store.create("evening").unwrap();
        let rules = Ruleset::load(library, "pull").unwrap();
        let session = campaign.begin(&rules, Setup::default().seed(5), "evening").unwrap();
        (folder, campaign, session)
    }

    /// Plays one decision and keeps it.
    fn decide(campaign: &mut Campaign, session: &mut Session) {
        let _ = session.advance().unwrap();
        let _ = session.reply(&[("pull".into(), "yes".into())]).unwrap();
        campaign.keep(session).unwrap();
    }

    /// Changes the state without the tape, as another version of the program could.
    fn play_otherwise(session: &mut Session) {
        let rope = session.view().of_kind("rope").next().unwrap();
        let state = &mut session.game_mut().context.state;
        state.keep_journal(false);
        state.set(rope, FieldId(0), Value::Int(7));
        state.keep_journal(true);
    }

    #[test]
    fn a_long_campaign_that_was_opened_again_is_saved_elsewhere_as_a_whole() {
        let library = library(PLAY);
        let rules = Ruleset::load(&library, "pull").unwrap();
        let folder = std::env::temp_dir().join(format!("riskbreaker-elsewhere-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let (first, second) = (folder.join("first.rbsave"), folder.join("second.rbsave"));
        {
            let mut campaign = Store::open(&first, &library).unwrap().create("first").unwrap();
            let mut session = campaign.begin(&rules, Setup::default().seed(5), "first").unwrap();
            (0..BETWEEN_CHECKPOINTS + IN_MEMORY + 8).for_each(|_| decide(&mut campaign, &mut session));
        }
        let mut campaign = Store::open(&first, &library).unwrap().first().unwrap().unwrap();
        let mut session = campaign.session().unwrap();
        assert!(session.is_resumed() && session.tape().0.len() < BETWEEN_CHECKPOINTS);
        let whole = campaign.whole().unwrap();
        assert!(!whole.is_resumed());
        // Saved as a file: every decision can be undone.
        let mut loaded = Session::load(&library, &whole.save()).unwrap();
        assert_eq!((loaded.state_bytes(), loaded.decisions()), (session.state_bytes(), session.decisions()));
        (0..session.decisions()).for_each(|_| drop(loaded.undo().unwrap()));
        // Taken into another campaign: the last part alone is refused.
        assert!(matches!(campaign.adopt(&session, "second"), Err(StoreError::Refused(_))));
        let mut other = campaign.save_as(&second, "second").unwrap();
        assert_eq!(other.keep(&mut session).unwrap(), Kept::Nothing);
        (0..3).for_each(|_| decide(&mut other, &mut session));
        session.undo().unwrap();
        let _ = session.advance().unwrap();
        other.keep(&mut session).unwrap();
        drop(other);
        let mut other = Store::open(&second, &library).unwrap().first().unwrap().unwrap();
        assert_eq!(other.session().unwrap().state_bytes(), session.state_bytes());
        other.replay(None, |_| std::ops::ControlFlow::Continue(())).unwrap();
        drop((campaign, other));
        std::fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn an_endless_campaign_opens_where_it_was_stopped() {
        let endless = "local more = rb.first('rope').at > 0\n\
            for _ = 1, if more then 1000 else 0 do rb.say(string.rep('a', 2000)) end\n\
            if more then rb.under('1d10', 5, 'pulls') return end\n";
        let library = library(&PLAY.replace("function() rb.first", &format!("function() {endless}rb.first")));
        let (folder, mut campaign, mut session) = begun("stopped", &library);
        decide(&mut campaign, &mut session);
        let stopped = session.advance().unwrap();
        let riskbreaker_play::Step::Fault(stopped) = stopped else { panic!("{stopped:?}") };
        campaign.keep(&mut session).unwrap();
        let mut opened = campaign.session().unwrap();
        // The kind of a fault is not kept.
        let kept = riskbreaker_play::Fault { kind: Default::default(), ..stopped };
        assert_eq!(opened.advance().unwrap(), riskbreaker_play::Step::Fault(kept));
        assert_eq!(opened.state_bytes(), session.state_bytes());
        opened.remedy(riskbreaker_play::Remedy::Retry).unwrap();
        assert_eq!(opened.advance_by(2).unwrap(), riskbreaker_play::Step::Ask);
        drop(campaign);
        std::fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn a_campaign_played_by_a_different_program_opens_where_its_tape_fits() {
        let library = library(PLAY);
        let (folder, mut campaign, mut session) = begun("otherwise", &library);
        decide(&mut campaign, &mut session);
        play_otherwise(&mut session);
        decide(&mut campaign, &mut session);
        decide(&mut campaign, &mut session);
        let head = campaign.head();
        assert!(matches!(campaign.session(), Err(StoreError::Diverged { .. })));
        assert_eq!(campaign.last_that_opens().unwrap(), Some(1));
        // After a change of rules, the whole state is stored as a checkpoint.
        let other = self::library(&PLAY.replace("then 1", "then 3"));
        session.reload(Ruleset::load(&other, "pull").unwrap()).unwrap();
        campaign.keep(&mut session).unwrap();
        decide(&mut campaign, &mut session);
        let mut opened = campaign.session().unwrap();
        let _ = (opened.advance().unwrap(), session.advance().unwrap());
        assert_eq!(opened.state_bytes(), session.state_bytes());
        assert!(!campaign.history().unwrap()[0].events.is_empty());
        assert!(campaign.go_to(head).is_err());
        assert_eq!(campaign.go_to(1).unwrap().decisions(), 1);
        assert_eq!(campaign.head(), 1);
        drop(campaign);
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
