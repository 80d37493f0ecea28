use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, Weak};
use std::time::{Duration, Instant};

use serde::Serialize;
use serde_json::Value as Json;

use super::delay::{DelayedNotice, DelayedView};
use super::error::Failure;
use super::frames::{
    ChatLine, LogStep, Present, RoleSight, RulesInForce, Settings, Snapshot, State, StepFrame, ToldEntity, UndoState,
    VoteOutcome, VoteReport, Voter, leave_out_oldest,
};
use super::keeper::Keeper;
use super::messages::{
    ByeNotice, ChatNotice, EVENT_BYTES, KEYS_KEPT, LINES_SHOWN, PresenceNotice, ResyncNotice, VoteNotice,
};
use super::options::{TableOptions, UndoPolicy};
use super::role::Role;
use super::undo_vote::UndoVote;
use super::viewer::TableViewer;
use riskbreaker_play::{
    DecisionCount, Driver, MASTER, Order, Question, QuestionId, Refusal, Ruleset, Session, TurnNotice, TurnNotices,
    Viewer, WorkedOut, push_sparing,
};
use riskbreaker_ruleset::Checksum;
use riskbreaker_state::{LARGEST_NUMBER, Value};
use riskbreaker_store::{HostChange, HostRow, KeptResult, KeptVote, random_number};

/// The most decisions of seats that are examined for `reach`.
const DECISIONS_LOOKED_AT: u32 = 64;
/// The processor time after which a game that asks no question is stopped by a fault, so that other tables get their
/// turn.
const LONGEST_ADVANCE: Duration = Duration::from_secs(1);

/// A table: a game with its viewers. One command runs at a time.
pub(super) struct GameTable {
    pub name: String,
    /// `None` before the game has started, and after it was closed.
    game: Mutex<Option<TableGame>>,
    /// True if its last job took long, or its game has not started: other tables then go first.
    slow: AtomicBool,
}

/// The game of a table.
///
/// It has many methods, since each request of the protocol that needs a game is one.
pub(super) struct TableGame {
    pub session: Session,
    pub seq: u64,
    paused: bool,
    options: TableOptions,
    /// The values of `paused` and `options` before the current command.
    set_before: Option<(bool, TableOptions)>,
    /// The open vote on an undo. Each step ends the vote.
    vote: Option<UndoVote>,
    /// Whether the campaign file has an open vote.
    vote_is_kept: bool,
    /// The number of the last vote.
    voted: u64,
    /// Distinguishes the questions of this session from those of earlier sessions at this table, in this host and in
    /// earlier ones.
    generation: u64,
    /// The processor time that it has played since the last command.
    played: Duration,
    /// The reason for a full resynchronization, if the session was replaced.
    anew: Option<&'static str>,
    /// The campaign that stores the game.
    pub keeper: Option<Box<Keeper>>,
    /// The state of the game as the game master sees it.
    standing: State,
    viewers: Vec<Arc<TableViewer>>,
    seen: Vec<RoleSeen>,
    keys: AnswerKeys,
    /// For each decision that has not been taken back, the last first: the number of decisions after it, who made it,
    /// and in which step.
    decisions: Vec<TableDecision>,
    /// Steps whose decisions were taken back.
    taken_back: BTreeSet<u64>,
    undone_by: Option<Role>,
    /// The settings that were sent last.
    told: Option<ToldSettings>,
    /// The first step, and the number of decisions at that time.
    began: (u64, DecisionCount),
    /// The first step with the revisions of this session.
    counted_from: u64,
    /// The last lines of the chat, and the number of the last one.
    chat: VecDeque<ChatLine>,
    said: u64,
    /// The running look-aheads, by question: they end when the question is no longer open.
    looking_ahead: Vec<LookingAhead>,
    /// The port at which the table is served, and its lobby settings, as stored in its campaign.
    port: Option<u16>,
    lobby: Option<(bool, bool)>,
    /// The admitted people, connected or not.
    known: Vec<KnownPerson>,
    /// The listener for turns, and what it was told.
    turns: Option<(TurnListener, TurnNotices)>,
    /// The views and notices for watchers with a delay.
    delayed: DelayedView,
}

/// The role and name of a person.
pub(super) type KnownPerson = (Role, Arc<str>);

/// A listener for turns: gets the name of the table, and the seat with its question.
pub(super) type TurnListener = Arc<dyn Fn(&str, &TurnNotice) + Send + Sync>;

/// The [`Settings`] that were sent last, with the rules in force at that time.
struct ToldSettings {
    paused: bool,
    rules: Arc<Ruleset>,
    pending: Option<String>,
    seats: Box<[(Arc<str>, Driver)]>,
    switches: Arc<BTreeMap<String, Value>>,
    options: TableOptions,
}

impl ToldSettings {
    fn of(game: &TableGame) -> ToldSettings {
        let session = &game.session;
        ToldSettings {
            paused: game.paused,
            rules: session.ruleset().clone(),
            pending: session.pending_rules().map(|rules| rules.name()),
            seats: session.seats().iter().map(|(seat, driver)| (seat.clone(), driver.clone())).collect(),
            switches: session.shared_switches(),
            options: game.options.clone(),
        }
    }

    /// True if they still match the game.
    fn are_of(&self, game: &TableGame) -> bool {
        let (session, rules) = (&game.session, game.session.ruleset());
        self.paused == game.paused
            && self.options == game.options
            && self.seats.iter().map(|(seat, driver)| (seat, driver)).eq(session.seats())
            && *self.switches == *session.switches()
            && self.pending == session.pending_rules().map(|rules| rules.name())
            && (Arc::ptr_eq(&self.rules, rules) || self.rules.hash() == rules.hash())
    }
}

struct TableDecision {
    count: DecisionCount,
    by: Role,
    seq: u64,
}

/// The messages and values that the viewers of one role have been sent.
struct RoleSeen {
    role: Role,
    /// The last revision.
    revision: u64,
    entities: Vec<ToldEntity>,
    order: Option<Order>,
}

impl RoleSeen {
    /// Returns the entry of a role, adding it if there is none.
    fn by<'s>(all: &'s mut Vec<RoleSeen>, role: &Role) -> &'s mut RoleSeen {
        let at = all.iter().position(|seen| seen.role == *role).unwrap_or_else(|| {
            push_sparing(all, RoleSeen { role: role.clone(), revision: 0, entities: Vec::new(), order: None });
            all.len() - 1
        });
        &mut all[at]
    }
}

/// Results of requests by idempotency key.
#[derive(Default)]
struct AnswerKeys {
    results: HashMap<(Role, String), (i64, Json)>,
    order: VecDeque<(Role, String)>,
}

impl GameTable {
    pub fn new(name: String) -> GameTable {
        GameTable { name, game: Mutex::new(None), slow: AtomicBool::new(true) }
    }

    pub fn is_slow(&self) -> bool {
        self.slow.load(Ordering::Relaxed)
    }

    pub fn set_slow(&self, slow: bool) {
        self.slow.store(slow, Ordering::Relaxed);
    }

    fn lock(&self) -> MutexGuard<'_, Option<TableGame>> {
        // A panic inside has been caught and the game closed; the lock itself is sound.
        self.game.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    pub fn begin(&self, game: TableGame) {
        *self.lock() = Some(game);
    }

    /// Runs `work` with the game.
    ///
    /// # Errors
    ///
    /// [`Failure::UnknownTable`] if the game has not started or is closed; otherwise those of `work`.
    pub fn with<R>(&self, work: impl FnOnce(&mut TableGame) -> Result<R, Failure>) -> Result<R, Failure> {
        let mut game = self.lock();
        let game = game.as_mut().ok_or_else(|| Failure::UnknownTable { table: self.name.clone() })?;
        work(game)
    }

    /// Removes a viewer, and notifies the others.
    pub fn leave(&self, viewer: &Arc<TableViewer>) {
        viewer.leave();
        if let Some(game) = self.lock().as_mut() {
            game.leave(viewer);
        }
    }

    /// Closes the game and sends all viewers away. Returns false if it was closed already.
    pub fn close(&self, reason: &str) -> bool {
        let Some(mut game) = self.lock().take() else { return false };
        end_looking_ahead(&mut game.looking_ahead, &[]);
        for viewer in &game.viewers {
            viewer.leave();
            tell(viewer, "bye", &ByeNotice { table: self.name.clone(), reason: reason.to_owned() });
        }
        true
    }
}

impl TableGame {
    /// Creates the table's game from a session that was just started or loaded. [`play`](Game::play) it before adding
    /// viewers.
    pub fn new(mut session: Session, seq: u64) -> TableGame {
        session.set_longest_advance(LONGEST_ADVANCE);
        TableGame {
            session,
            seq,
            paused: false,
            options: TableOptions::default(),
            set_before: None,
            vote: None,
            vote_is_kept: false,
            voted: 0,
            generation: 0,
            played: Duration::ZERO,
            anew: None,
            keeper: None,
            standing: State::Asking,
            viewers: Vec::new(),
            seen: Vec::new(),
            keys: AnswerKeys::default(),
            decisions: Vec::new(),
            taken_back: BTreeSet::new(),
            undone_by: None,
            told: None,
            began: (seq, DecisionCount::default()),
            counted_from: seq,
            chat: VecDeque::new(),
            said: 0,
            looking_ahead: Vec::new(),
            port: None,
            lobby: None,
            known: Vec::new(),
            turns: None,
            delayed: DelayedView::default(),
        }
    }

    /// Sets the listener for turns, and notifies it now and after every command.
    pub fn tell_turns_to(&mut self, table: &str, listener: Option<TurnListener>) {
        self.turns = listener.map(|listener| (listener, TurnNotices::default()));
        self.tell_turns(table);
    }

    fn tell_turns(&mut self, table: &str) {
        let Some((listener, notices)) = &mut self.turns else { return };
        for notice in notices.new_in(&self.session) {
            listener(table, &notice);
        }
    }

    /// Marks a game that replaces an earlier one at its table: late answers to questions of the earlier game will match
    /// none of its questions.
    pub fn later(mut self) -> TableGame {
        self.generation = random_generation();
        self
    }

    pub fn generation(&self) -> u64 {
        self.generation
    }

    /// True if commands by seats are refused.
    pub fn is_paused(&self) -> bool {
        self.paused
    }

    /// Pauses or unpauses the game for seats. The file is updated when the command is published.
    pub fn pause(&mut self, paused: bool) {
        if let Some(keeper) = &mut self.keeper {
            keeper.campaign.write_with_next(HostRow::Change(HostChange::Paused(paused)));
        }
        self.set_before.get_or_insert((self.paused, self.options.clone()));
        self.paused = paused;
    }

    /// The options of the table.
    pub fn options(&self) -> &TableOptions {
        &self.options
    }

    /// Sets the options of the table. The file is updated when the command is published.
    pub fn set_options(&mut self, options: TableOptions) {
        if let Some(keeper) = &mut self.keeper {
            keeper.campaign.write_with_next(HostRow::Change(options.change()));
        }
        self.set_before.get_or_insert((self.paused, self.options.clone()));
        self.options = options;
    }

    /// Takes over the settings and the open vote that an earlier host stored.
    pub fn take_over(
        &mut self,
        paused: bool,
        options: TableOptions,
        (port, lobby): (Option<u16>, Option<(bool, bool)>),
        vote: Option<Box<KeptVote>>,
    ) {
        self.paused = paused;
        (self.port, self.lobby) = (port, lobby);
        self.remember_vote(vote);
        self.options = options;
        self.told = Some(ToldSettings::of(self));
    }

    /// Takes over a vote that was open when an earlier host ended, if the decisions that it is about are in memory.
    fn remember_vote(&mut self, kept: Option<Box<KeptVote>>) {
        let Some(kept) = kept else { return };
        (self.vote_is_kept, self.voted) = (true, kept.id);
        self.vote = UndoVote::of_kept(*kept).filter(|vote| vote.steps <= self.session.decisions());
    }

    /// Writes a change of the host's data to the campaign file.
    ///
    /// # Errors
    ///
    /// The file cannot be written.
    pub fn note_change(&mut self, change: HostChange) -> Result<(), Failure> {
        self.note_changes(vec![change])
    }

    /// Writes several changes, all or none.
    ///
    /// # Errors
    ///
    /// The file cannot be written.
    pub fn note_changes(&mut self, changes: Vec<HostChange>) -> Result<(), Failure> {
        self.keeper.as_mut().map_or(Ok(()), |keeper| keeper.write(changes))
    }

    /// The lobby settings stored in the campaign: whether the join code is accepted, and whether anybody may watch.
    pub fn remembered_lobby(&self) -> Option<(bool, bool)> {
        self.lobby
    }

    /// The port at which the table was served before.
    pub fn port(&self) -> Option<u16> {
        self.port
    }

    /// Stores the port at which the table is served.
    ///
    /// # Errors
    ///
    /// The file cannot be written.
    pub fn keep_port(&mut self, port: u16) -> Result<(), Failure> {
        if self.port != Some(port) {
            self.note_change(HostChange::Port(port))?;
            self.port = Some(port);
        }
        Ok(())
    }

    /// Marks the start of the game at the table, once its first question is open.
    pub fn begin(&mut self) {
        // A new viewer is sent a view first.
        self.set_before = None;
        self.session.forget_past();
        self.session.end_step(self.seq);
        self.began = (self.seq, self.session.decision_count());
        self.told = Some(ToldSettings::of(self));
    }

    /// Plays on for a slice. Returns true if the game now waits for a decision.
    pub fn play(&mut self) -> Result<bool, Failure> {
        let step = self.session.advance_slice(&mut self.played);
        if !matches!(step, Ok(None)) {
            self.played = Duration::ZERO;
        }
        let Some(step) = step? else { return Ok(false) };
        self.standing = step.into();
        self.session.take_events();
        Ok(true)
    }

    /// Returns a copy of the game for looking ahead from an open question. `interrupt` is set once the question is no
    /// longer open.
    pub fn copy_to_look_ahead(&mut self, question: QuestionId, interrupt: &Arc<AtomicBool>) -> Session {
        self.looking_ahead.retain(|(_, other)| other.strong_count() > 0);
        self.looking_ahead.push((question, Arc::downgrade(interrupt)));
        self.session.fork()
    }

    // Viewers

    /// Adds a viewer. `most`: the limit on viewers.
    ///
    /// # Errors
    ///
    /// The limit is reached.
    pub fn enter(&mut self, viewer: Arc<TableViewer>, most: usize) -> Result<(), Failure> {
        self.viewers.retain(|other| !other.is_gone());
        if self.viewers.len() >= most {
            return Err(Failure::Full { what: "connections to this table" });
        }
        self.viewers.push(viewer.clone());
        self.tell_presence(&viewer);
        Ok(())
    }

    /// Sends away those who watch without an invitation.
    pub fn send_away_guests(&mut self) {
        let (guests, others): (Vec<_>, Vec<_>) = self.viewers.drain(..).partition(|viewer| viewer.is_guest);
        self.viewers = others;
        for guest in guests {
            let reason = "the game master has closed the table to those who watch".to_owned();
            tell(&guest, "bye", &ByeNotice { table: guest.table.name.clone(), reason });
            guest.leave();
            self.tell_presence(&guest);
        }
    }

    /// Sends a notice to the game masters.
    pub fn tell_masters(&self, method: &'static str, notice: &impl Serialize) {
        let masters = self.viewers.iter().filter(|viewer| !viewer.is_gone() && viewer.role == Role::GameMaster);
        masters.for_each(|viewer| tell(viewer, method, notice));
    }

    /// Sends everybody the list of who is connected, after a name has changed.
    pub fn tell_all_presence(&self) {
        for viewer in self.viewers.iter().filter(|viewer| !viewer.is_gone()) {
            let notice = PresenceNotice { table: viewer.table.name.clone(), presence: self.presence(&viewer.role) };
            tell(viewer, "presence", &notice);
        }
    }

    fn leave(&mut self, viewer: &Arc<TableViewer>) {
        self.viewers.retain(|other| !Arc::ptr_eq(other, viewer) && !other.is_gone());
        let still_there = |role: &Role| self.viewers.iter().any(|viewer| viewer.role == *role);
        // Without a viewer of the role, its entities are dropped and computed again for the next one. Its events are
        // kept for viewers that come back.
        for seen in &mut self.seen {
            if !still_there(&seen.role) {
                (seen.entities, seen.order) = (Vec::new(), None);
            }
        }
        self.tell_presence(viewer);
    }

    /// Notifies the others that a viewer has come or gone.
    fn tell_presence(&self, changed: &Arc<TableViewer>) {
        let table = &changed.table.name;
        let notice_to = |role: &Role| PresenceNotice { table: table.clone(), presence: self.presence(role) };
        let (to_players, to_watchers) = (notice_to(&Role::GameMaster), notice_to(&Role::Watcher));
        for viewer in self.viewers.iter().filter(|viewer| !Arc::ptr_eq(viewer, changed)) {
            match (&viewer.role, &changed.role) {
                (Role::Watcher, Role::Watcher) => {}
                (Role::Watcher, _) => tell(viewer, "presence", &to_watchers),
                _ => tell(viewer, "presence", &to_players),
            }
        }
    }

    /// The connected people as a role may see them: watchers may be many, and do not see each other.
    fn presence(&self, role: &Role) -> Vec<Present> {
        let hidden = |viewer: &Arc<TableViewer>| *role == Role::Watcher && viewer.role == Role::Watcher;
        let told = |viewer: &&Arc<TableViewer>| !viewer.is_gone() && !viewer.is_unseen && !hidden(viewer);
        let mut presence: Vec<Present> = Vec::new();
        for viewer in self.viewers.iter().filter(told) {
            let (role, seat, seats) = (viewer.role.name(), viewer.role.seat(), viewer.role.several());
            match presence
                .iter_mut()
                .find(|present| present.role == role && present.seat.as_ref() == seat && present.seats == seats)
            {
                Some(present) => present.viewers += 1,
                None => presence.push(Present {
                    role,
                    seat: seat.cloned(),
                    seats: seats.clone(),
                    viewers: 1,
                    people: Vec::new(),
                    absent: Vec::new(),
                }),
            }
            let present = presence
                .iter_mut()
                .find(|present| present.role == role && present.seat.as_ref() == seat && present.seats == seats);
            if let (Some(present), Some(name)) = (present, viewer.name().filter(|_| viewer.role != Role::Watcher))
                && !present.people.contains(&name)
            {
                present.people.push(name);
            }
        }
        for (role, name) in self.known.iter().filter(|(role, _)| *role != Role::Watcher) {
            let (kind, seat, seats) = (role.name(), role.seat(), role.several());
            let same = |one: &Present| one.role == kind && one.seat.as_ref() == seat && one.seats == seats;
            match presence.iter_mut().find(|one| same(one)) {
                Some(present) if present.people.contains(name) => {}
                Some(present) => present.absent.push(name.clone()),
                None => {
                    let (seat, absent) = (seat.cloned(), vec![name.clone()]);
                    presence.push(Present { role: kind, seat, seats, viewers: 0, people: Vec::new(), absent });
                }
            }
        }
        presence
    }

    /// Sets the admitted people, and notifies everybody if they changed.
    pub fn know_people(&mut self, known: Vec<KnownPerson>) {
        if self.known != known {
            self.known = known;
            self.tell_all_presence();
        }
    }

    /// Sends a line of chat to all viewers. Returns its number.
    pub fn say(&mut self, table: &str, role: &Role, name: Option<Arc<str>>, text: &str) -> u64 {
        self.said += 1;
        let line =
            ChatLine { id: self.said, name, role: role.name(), seats: role.seats().to_vec(), text: Arc::from(text) };
        let notice = ChatNotice { table: table.to_owned(), line: line.clone() };
        for viewer in self.viewers.iter().filter(|viewer| !viewer.is_gone() && !self.sees_later(viewer)) {
            tell(viewer, "chat", &notice);
        }
        if let Ok(body) = serde_json::to_string(&notice) {
            self.tell_later("chat", &body);
        }
        self.chat.push_back(line);
        while self.chat.len() > LINES_SHOWN {
            self.chat.pop_front();
        }
        self.said
    }

    // Telling

    /// True if a viewer is subject to the delay.
    fn sees_later(&self, viewer: &TableViewer) -> bool {
        self.options.delay > 0 && viewer.role == Role::Watcher && !viewer.is_unseen
    }

    /// Queues a notice for watchers with a delay. `body`: a nonempty JSON object.
    fn tell_later(&mut self, method: &'static str, body: &str) {
        if self.options.delay == 0 {
            return;
        }
        let due = Instant::now() + self.options.watch_later();
        for viewer in self.viewers.iter().filter(|viewer| !viewer.is_gone() && self.sees_later(viewer)) {
            viewer.outbox.later(viewer.id, due, line_to(viewer.id, method, body));
        }
        self.delayed.add(DelayedNotice { due, seq: self.seq, method, body: body.to_owned() });
    }

    /// Stores the current view for watchers with a delay.
    pub fn keep_view_for_later(&mut self, table: &str, due: Instant) {
        if self.options.delay > 0 {
            let view = self.snapshot(table, &Role::Watcher, None, None);
            self.delayed.add_view(due, view);
        }
    }

    /// Applies changed options: watchers with a delay have to resynchronize.
    fn change_delay(&mut self, table: &str, before: u32) {
        let delay = |seconds: u32| Duration::from_secs(seconds.into());
        if before == 0 || self.options.delay == 0 {
            self.delayed = DelayedView::default();
            self.keep_view_for_later(table, Instant::now());
        } else {
            self.delayed.move_by(delay(before), self.options.watch_later());
        }
        let reason = "the delay of this table has changed";
        for viewer in self.viewers.iter().filter(|viewer| !viewer.is_gone() && viewer.role == Role::Watcher) {
            viewer.outbox.forget_later(viewer.id);
            if !viewer.is_unseen {
                tell(viewer, "resync", &ResyncNotice { table: table.to_owned(), reason: reason.to_owned() });
                viewer.set_behind(true);
            }
        }
    }

    /// The first view for a viewer: all that its role may know now, or for a watcher with a delay, the view that is
    /// due. Later notices follow when they are due. For `since` and `known` see [`TableGame::snapshot`].
    pub fn shown_to(
        &mut self,
        table: &str,
        role: &Role,
        viewer: Option<&Arc<TableViewer>>,
        since: Option<u64>,
        known: Option<u64>,
    ) -> Snapshot {
        let Some(viewer) = viewer.filter(|viewer| self.sees_later(viewer)) else {
            return self.snapshot(table, role, since, known);
        };
        // A new watcher gets the first notices after the view, not before it.
        let (now, soon) = (Instant::now(), Instant::now() + Duration::from_millis(50));
        let presence = self.presence(role);
        let Some((view, notices)) = self.delayed.shown(now) else { return self.snapshot(table, role, since, known) };
        viewer.outbox.forget_later(viewer.id);
        for DelayedNotice { due, method, body, .. } in notices {
            viewer.outbox.later(viewer.id, due.max(soon), line_to(viewer.id, method, &body));
        }
        Snapshot { presence, ..view }
    }

    /// Returns everything that a role may know. `since`: the last revision that a viewer has. `known`: the viewer's
    /// last step. If the revisions were restarted after it, `since` is ignored.
    pub fn snapshot(&mut self, table: &str, role: &Role, since: Option<u64>, known: Option<u64>) -> Snapshot {
        let sight = RoleSight::of(role);
        let seen = RoleSeen::by(&mut self.seen, role);
        let mut seat = self.session.seen_by(sight.viewer());
        let since = since.filter(|_| known.is_none_or(|known| (self.counted_from..=self.seq).contains(&known)));
        let told = since.and_then(|since| Some((Some(since), seat.events_since(since).ok()?)));
        let (after, log) = told.unwrap_or_else(|| (None, seat.last_events(LINES_SHOWN)));
        seen.revision = seat.revision();
        let before = after.or_else(|| Some(log.first()?.revision - 1)).unwrap_or(seen.revision);
        let steps = seat.steps_after(before).into_iter();
        let steps = steps.map(|(seq, lines)| LogStep { seq, first: *lines.start(), last: *lines.end() }).collect();
        let (known, worked_out, order) = sight.drawn(&mut self.session, &mut None);
        let view = known.view(&self.session);
        seen.entities.clear();
        sight.bring_up_to_date(&view, &worked_out, &mut seen.entities);
        seen.order.clone_from(&order);
        seen.entities.shrink_to_fit();
        let (revision, entities) = (seen.revision, seen.entities.iter().map(ToldEntity::view).collect());
        Snapshot {
            table: table.to_owned(),
            role: role.name(),
            seat: role.seat().cloned(),
            seats: role.several(),
            seq: self.seq,
            revision,
            state: sight.state(&self.standing),
            settings: self.settings(),
            entities,
            questions: sight.questions(&self.session, &view, self.generation),
            waiting: sight.waiting(&self.session),
            undo: self.undo_state(role),
            order,
            presence: self.presence(role),
            chat: self.chat.iter().cloned().collect(),
            vote: self.vote_told_to(role),
            after,
            log,
            steps,
        }
    }

    fn settings(&self) -> Settings {
        let rules = self.session.ruleset();
        Settings {
            paused: self.paused,
            rules: RulesInForce {
                id: rules.id().to_owned(),
                layers: rules.extra_layers().to_vec(),
                title: rules.title().to_owned(),
                version: rules.version().to_owned(),
                hash: rules.hash(),
                pending: self.session.pending_rules().map(|rules| rules.name()),
            },
            seats: self.session.seats().clone(),
            switches: self.session.switches().clone(),
            options: self.options.clone(),
        }
    }

    fn undo_state(&self, role: &Role) -> UndoState {
        let decisions = self.undoable(role);
        let viewer = RoleSight::of(role).viewer();
        let most = self.lets_take_back(&viewer, decisions);
        let takes_back = if most > 0 { self.session.would_take_back(&viewer, 1).pop() } else { None };
        let (reach, asks) = (self.reach(most), most > 0 && self.asks_table(role));
        let redo = self.session.can_redo() && self.may_redo(role);
        UndoState { allowed: decisions > 0, decisions, takes_back, reach, asks, redo }
    }

    /// The number of the last `decisions` that the rules let a viewer take back.
    fn lets_take_back(&self, viewer: &Viewer, decisions: u32) -> u32 {
        if viewer.is_master() {
            return decisions;
        }
        // The more decisions, the more has been revealed since the first of them.
        let (mut lets, mut beyond) = (0, decisions.min(DECISIONS_LOOKED_AT) + 1);
        while lets + 1 < beyond {
            let middle = lets + (beyond - lets) / 2;
            match self.session.lets_take_back(viewer, middle) {
                true => lets = middle,
                false => beyond = middle,
            }
        }
        lets
    }

    /// The earliest step to which an undo of at most `most` decisions returns.
    fn reach(&self, most: u32) -> Option<u64> {
        let now = self.session.decision_count();
        let within = |count: DecisionCount| now.since(count) <= most;
        if most == 0 {
            return None;
        }
        if within(self.began.1) {
            return Some(self.began.0);
        }
        self.decisions.iter().rev().take_while(|decision| within(decision.count)).last().map(|decision| decision.seq)
    }

    /// Publishes the effects of a command to everybody, once the game waits for a decision.
    ///
    /// # Errors
    ///
    /// The campaign file cannot be written: the game is then reset to its state before the command.
    pub fn publish(
        &mut self,
        table: &str,
        cause: &'static str,
        by: &Role,
        result: Option<KeptResult>,
    ) -> Result<u64, Failure> {
        let looks_anew = self.begin_anew(table);
        let set_before = self.set_before.take();
        if let Some(keeper) = &mut self.keeper {
            result.into_iter().for_each(|result| keeper.campaign.write_with_next(HostRow::Result(result)));
            if self.vote_is_kept {
                keeper.campaign.write_with_next(HostRow::Change(HostChange::Vote(None)));
            }
        }
        if let Some(keeper) = &mut self.keeper
            && let Err((failure, replaced)) = keeper.keep(&mut self.session)
        {
            if let Some(before) = set_before {
                (self.paused, self.options) = before;
            }
            if replaced {
                self.replaced("the last command could not be kept");
                while !self.play()? {}
                self.begin_anew(table);
            }
            return Err(failure);
        }
        self.seq += 1;
        self.session.end_step(self.seq);
        (self.vote, self.vote_is_kept) = (None, false);
        end_looking_ahead(&mut self.looking_ahead, self.session.questions());
        self.count_decisions(by);
        self.viewers.retain(|viewer| !viewer.is_gone());
        let told = self.told.as_ref().is_some_and(|told| told.are_of(self));
        let delay_before = self.told.as_ref().map_or(self.options.delay, |told| told.options.delay);
        let settings = (!told).then(|| self.settings());
        if settings.is_some() {
            self.told = Some(ToldSettings::of(self));
        }
        let (mut bodies, mut shared): (HashMap<Role, String>, _) = (HashMap::new(), None);
        if self.options.delay > 0 && delay_before == self.options.delay {
            let frame = self.frame(table, cause, &Role::Watcher, settings.clone(), &mut shared);
            let body = serde_json::to_string(&frame).map_err(|error| Failure::internal(error.to_string()))?;
            self.tell_later("step", &body);
            self.keep_view_for_later(table, Instant::now() + self.options.watch_later());
            // It is sent after the time of the view.
            looks_anew.iter().for_each(|body| self.tell_later("resync", body));
            bodies.insert(Role::Watcher, body);
        }
        for at in 0..self.viewers.len() {
            let viewer = self.viewers[at].clone();
            if viewer.is_behind() || self.sees_later(&viewer) {
                continue;
            }
            let body = match bodies.get(&viewer.role) {
                Some(body) => body,
                None => {
                    let frame = self.frame(table, cause, &viewer.role, settings.clone(), &mut shared);
                    let body = serde_json::to_string(&frame).map_err(|error| Failure::internal(error.to_string()))?;
                    bodies.entry(viewer.role.clone()).or_insert(body)
                }
            };
            tell_body(&viewer, "step", body);
        }
        self.tell_turns(table);
        if delay_before != self.options.delay {
            self.change_delay(table, delay_before);
        }
        Ok(self.seq)
    }

    /// Puts another entry of the campaign on the table. `reason` is sent to viewers.
    pub fn put(&mut self, session: Session, reason: &'static str) {
        self.session = session;
        self.replaced(reason);
    }

    /// Marks the session as replaced, so that everybody resynchronizes with the next publication.
    fn replaced(&mut self, reason: &'static str) {
        self.session.set_longest_advance(LONGEST_ADVANCE);
        self.generation = random_generation();
        self.anew = Some(reason);
    }

    /// Tells everybody to resynchronize if the session was replaced. Returns the notice for watchers with a delay.
    fn begin_anew(&mut self, table: &str) -> Option<String> {
        let reason = self.anew.take()?;
        self.session.forget_past();
        self.seen.clear();
        // Decisions before this point can only be undone through the campaign.
        self.decisions.clear();
        self.began = (self.seq, self.session.decision_count());
        self.counted_from = self.seq + 1;
        let notice = ResyncNotice { table: table.to_owned(), reason: reason.to_owned() };
        for viewer in self.viewers.iter().filter(|viewer| !viewer.is_gone() && !viewer.is_behind()) {
            if !self.sees_later(viewer) {
                tell(viewer, "resync", &notice);
                viewer.set_behind(true);
            }
        }
        serde_json::to_string(&notice).ok()
    }

    /// Returns the effects of the last command for a role.
    fn frame(
        &mut self,
        table: &str,
        cause: &'static str,
        role: &Role,
        settings: Option<Settings>,
        shared: &mut Option<Arc<WorkedOut>>,
    ) -> StepFrame {
        let sight = RoleSight::of(role);
        let undo = self.undo_state(role);
        let seen = RoleSeen::by(&mut self.seen, role);
        let mut events = self.session.seen_by(sight.viewer()).events_since(seen.revision).unwrap_or_default();
        seen.revision = events.last().map_or(seen.revision, |event| event.revision);
        let left_out = leave_out_oldest(&mut events, EVENT_BYTES);
        let (known, worked_out, order) = sight.drawn(&mut self.session, shared);
        let view = known.view(&self.session);
        let changed = sight.bring_up_to_date(&view, &worked_out, &mut seen.entities);
        let order = (order != seen.order).then(|| {
            seen.order.clone_from(&order);
            order
        });
        StepFrame {
            table: table.to_owned(),
            seq: self.seq,
            cause,
            state: sight.state(&self.standing),
            events,
            left_out,
            questions: sight.questions(&self.session, &view, self.generation),
            waiting: sight.waiting(&self.session),
            undo,
            changed,
            order,
            settings,
        }
    }

    // Undo

    /// Updates the list of decisions after a command.
    fn count_decisions(&mut self, by: &Role) {
        let count = self.session.decision_count();
        self.began.1 = self.began.1.min(count);
        let mut whose = by.clone();
        while let Some(last) = self.decisions.pop_if(|last| last.count > count) {
            self.taken_back.insert(last.seq);
            // If a part of a step is taken back, the remaining decisions belong to the same viewer.
            whose = last.by;
        }
        if self.decisions.last().map_or(self.began.1, |last| last.count) < count {
            push_sparing(&mut self.decisions, TableDecision { count, by: whose, seq: self.seq });
        }
    }

    /// The number of decisions that a role may take back: any for a game master, its own last ones for a seat.
    fn undoable(&self, role: &Role) -> u32 {
        if role.is_master() {
            return self.session.decisions();
        }
        let since = |count| self.session.decision_count().since(count);
        match self.options.undo {
            _ if role.seats().is_empty() => 0,
            UndoPolicy::GameMaster => 0,
            UndoPolicy::Own => {
                let others = self.decisions.iter().rev().find(|decision| decision.by != *role);
                since(others.map_or(self.began.1, |decision| decision.count))
            }
            UndoPolicy::Ask => since(self.began.1),
        }
    }

    /// The refusal if a role may not take decisions back.
    pub fn no_undo(&self, role: &Role) -> Failure {
        let needed = match self.options.undo {
            UndoPolicy::GameMaster => "the game master: at this table nobody else takes decisions back",
            UndoPolicy::Own | UndoPolicy::Ask => "the game master, or the seat that decided last",
        };
        Failure::forbidden(role.word(), needed)
    }

    /// True if an undo of a role asks the table first.
    pub fn asks_table(&self, role: &Role) -> bool {
        self.options.undo == UndoPolicy::Ask && !role.is_master()
    }

    /// Checks that the rules let seats take back this number of decisions, given what any seat has been shown since:
    /// the seat that undoes, or a table that votes, could otherwise learn of it.
    ///
    /// # Errors
    ///
    /// [`Refusal::Stands`].
    pub fn must_not_stand(&mut self, role: &Role, steps: u32) -> Result<(), Refusal> {
        self.session.may_take_back(&RoleSight::of(role).viewer(), steps)?;
        if role.is_master() {
            return Ok(());
        }
        let people = |driver: &Driver| !matches!(driver, Driver::Policy(_));
        let seats = self.session.seats().iter().filter(|(seat, driver)| ***seat != *MASTER && people(driver));
        let seats: Vec<Viewer> = seats.map(|(seat, _)| Viewer::seat(seat)).collect();
        seats.iter().try_for_each(|viewer| self.session.may_take_back(viewer, steps))
    }

    /// Starts a vote on an undo of a seat; `None` if nobody else who plays is connected.
    ///
    /// # Errors
    ///
    /// The table votes already, or the campaign file cannot be written.
    pub fn begin_vote(
        &mut self,
        table: &str,
        by: (Role, Option<Arc<str>>),
        back: (Option<u64>, u32),
    ) -> Result<Option<VoteReport>, Failure> {
        if self.vote.is_some() {
            return Err(Failure::Unavailable { reason: "the table votes on an undo already".into() });
        }
        let present = self.viewers.iter().filter(|viewer| !viewer.is_gone() && !viewer.is_unseen);
        let present: Vec<Role> = present.map(|viewer| viewer.role.clone()).collect();
        let role = by.0.clone();
        let Some(vote) = UndoVote::begin(self.voted + 1, by, back, present.into_iter()) else { return Ok(None) };
        self.keep_vote(Some(&vote))?;
        (self.vote, self.voted) = (Some(vote), self.voted + 1);
        self.tell_vote(table, VoteOutcome::Open, None);
        Ok(self.vote_told_to(&role))
    }

    /// Records the vote of a role in the vote `id`. Returns the outcome, and the vote once it is over.
    ///
    /// # Errors
    ///
    /// There is no such vote, the role is not asked, or the campaign file cannot be written.
    pub fn vote(
        &mut self,
        table: &str,
        id: u64,
        role: &Role,
        agrees: bool,
    ) -> Result<(VoteOutcome, Option<UndoVote>), Failure> {
        let no_vote = || Failure::Unavailable { reason: "that vote is over".into() };
        let mut vote = self.vote.clone().filter(|vote| vote.id == id).ok_or_else(no_vote)?;
        let not_asked = || Failure::Unavailable { reason: "this vote does not ask you, or you have voted".into() };
        let outcome = vote.take(role, agrees).ok_or_else(not_asked)?;
        let over = match outcome {
            VoteOutcome::Open => {
                self.keep_vote(Some(&vote))?;
                self.vote = Some(vote);
                None
            }
            // The step of the undo ends a vote that is accepted, in the file as well.
            VoteOutcome::Accepted => self.vote.take(),
            VoteOutcome::Refused => {
                self.keep_vote(None)?;
                self.vote.take()
            }
        };
        if outcome != VoteOutcome::Accepted {
            self.tell_vote(table, outcome, Some(role));
        }
        Ok((outcome, over))
    }

    /// Writes into the campaign file which vote is open.
    fn keep_vote(&mut self, vote: Option<&UndoVote>) -> Result<(), Failure> {
        self.note_change(HostChange::Vote(vote.map(|vote| Box::new(vote.to_kept()))))?;
        self.vote_is_kept = vote.is_some();
        Ok(())
    }

    /// The open vote as a role may see it.
    fn vote_told_to(&self, role: &Role) -> Option<VoteReport> {
        let plays = *role != Role::Watcher;
        self.vote.as_ref().filter(|_| plays).map(|vote| vote.report(&self.session, role))
    }

    /// Sends those who play the state of a vote.
    fn tell_vote(&self, table: &str, outcome: VoteOutcome, by: Option<&Role>) {
        if self.vote.is_none() && outcome == VoteOutcome::Open {
            return;
        }
        for viewer in self.viewers.iter().filter(|viewer| !viewer.is_gone() && viewer.role != Role::Watcher) {
            let vote = self.vote_told_to(&viewer.role);
            let notice = VoteNotice { table: table.to_owned(), outcome, by: by.map(Voter::of), vote };
            tell(viewer, "vote", &notice);
        }
    }

    /// True if a role may take back this number of decisions.
    pub fn may_undo(&self, role: &Role, steps: u32) -> bool {
        steps <= self.undoable(role)
    }

    /// True if a role may redo what was taken back: a game master, or the role that took it back.
    pub fn may_redo(&self, role: &Role) -> bool {
        role.is_master() || self.undone_by.as_ref() == Some(role) && *role != Role::Watcher
    }

    pub fn last_undo_by(&mut self, role: &Role) {
        self.undone_by = Some(role.clone());
    }

    /// The number of decisions after a step; `None` if the step was taken back or does not exist.
    pub fn decisions_at(&self, seq: u64) -> Option<DecisionCount> {
        if seq < self.began.0 || seq > self.seq || self.taken_back.contains(&seq) {
            return None;
        }
        let last = self.decisions.iter().rev().find(|decision| decision.seq <= seq);
        Some(last.map_or(self.began.1, |decision| decision.count))
    }

    // Keys

    /// The result of an earlier request with this key.
    ///
    /// # Errors
    ///
    /// [`Failure::KeyReused`] if that was a different request.
    pub fn earlier(&self, role: &Role, key: &str, request: i64) -> Result<Option<Json>, Failure> {
        match self.keys.results.get(&(role.clone(), key.to_owned())) {
            Some((earlier, result)) if *earlier == request => Ok(Some(result.clone())),
            Some(_) => Err(Failure::KeyReused { key: key.to_owned() }),
            None => Ok(None),
        }
    }

    /// Stores the result of a request with a key.
    pub fn keep(&mut self, role: &Role, key: &str, request: i64, result: Json) {
        let name = (role.clone(), key.to_owned());
        if self.keys.results.insert(name.clone(), (request, result)).is_none() {
            self.keys.order.push_back(name);
        }
        while self.keys.order.len() > KEYS_KEPT {
            if let Some(oldest) = self.keys.order.pop_front() {
                self.keys.results.remove(&oldest);
            }
        }
    }
}

/// A random number for a game, from 1 to 2^53 - 1, that no earlier game of the table has.
fn random_generation() -> u64 {
    random_number() % LARGEST_NUMBER.unsigned_abs() + 1
}

/// A fingerprint that distinguishes requests with the same key, in this host and in later ones.
pub(super) fn fingerprint(method: &str, params: &Json) -> i64 {
    Checksum::of_parts([method.as_bytes(), params.to_string().as_bytes()]).short()
}

/// The question of a look-ahead, and the flag that ends it.
type LookingAhead = (QuestionId, Weak<AtomicBool>);

/// Ends the look-aheads whose question is no longer open.
fn end_looking_ahead(all: &mut Vec<LookingAhead>, open: &[Question]) {
    all.retain(|(question, interrupt)| {
        let Some(interrupt) = interrupt.upgrade() else { return false };
        let stands = open.iter().any(|asked| asked.id == *question);
        if !stands {
            interrupt.store(true, Ordering::Relaxed);
        }
        stands
    });
}

/// Sends a notice to a viewer.
pub(super) fn tell(viewer: &TableViewer, method: &str, notice: &impl Serialize) {
    if let Ok(body) = serde_json::to_string(notice) {
        tell_body(viewer, method, &body);
    }
}

/// The line of a notice to a viewer. `body`: a nonempty JSON object.
pub(super) fn line_to(viewer: u32, method: &str, body: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","method":"{method}","params":{{"viewer":{viewer},{}}}"#, &body[1..])
}

/// Sends a notice with its parameters as JSON. A connection that does not read is told to start over.
fn tell_body(viewer: &TableViewer, method: &str, body: &str) {
    if viewer.is_behind() {
        return;
    }
    let line = |method: &str, body: &str| line_to(viewer.id, method, body);
    let had_room = match method {
        "presence" => viewer.outbox.rare_notice(viewer.id, "presence", line(method, body)),
        "people" => viewer.outbox.rare_notice(viewer.id, "people", line(method, body)),
        _ => viewer.outbox.notice(viewer.id, line(method, body)),
    };
    if !had_room {
        viewer.set_behind(true);
        let notice =
            ResyncNotice { table: viewer.table.name.clone(), reason: "the connection reads too slowly".into() };
        if let Ok(body) = serde_json::to_string(&notice) {
            // It is short and sent only once, so there is always room for it.
            viewer.outbox.reply(line("resync", &body));
        }
    }
}
