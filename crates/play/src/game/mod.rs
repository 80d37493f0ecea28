//! A game: its actions, decisions, edits and undo, and the rules in force.

mod action;
mod advance;
mod decide;
mod edit;
mod fault_context;
mod field_history;
mod first_rules;
mod halt;
mod history;
mod knowledge;
mod numbering;
mod open;
mod peek;
mod pending;
mod prepared;
mod reload;
mod replay;
mod revision_note;
mod saved_open;
mod stacked;
mod stream;
mod swap;
mod taken_back;
mod undo;
mod undo_op;
mod undo_report;
mod unplayed;

pub use action::Done;
pub(crate) use action::{Reasons, events_of};
pub(crate) use advance::NOTHING_LEFT;
pub use halt::Halt;
pub(crate) use numbering::ViewerNumbering;
pub(crate) use pending::Pending;
pub use prepared::Prepared;
pub use reload::ReloadReport;
pub(crate) use reload::{notices, patch_between, seat_people, switches_over};
pub(crate) use replay::replay;
pub(crate) use revision_note::RevisionNote;
pub(crate) use saved_open::{LARGEST_NUMBER, SavedOpen, numbers_at, numbers_of};
pub(crate) use stacked::Stacked;
pub(crate) use swap::{InForce, Swap};
pub(crate) use taken_back::NumberedDecision;
pub use taken_back::TakenBack;
pub(crate) use undo_op::{BeforeRules, UndoOp};
pub(crate) use undo_report::UndoReport;
pub(crate) use unplayed::Unplayed;

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{Duration, Instant};

use self::first_rules::FirstRules;
use self::history::History;
use self::numbering::Numberings;
use self::open::Open;
use self::stream::Stream;
use crate::{
    ActionContext, Answer, Cause, Driver, Event, Fault, Happening, MASTER, Question, Refusal, Setup, Slot, Tape, Viewer,
};
use riskbreaker_state::{Audience, State, Value};

/// The processor time after which a game that asks no question is stopped. Whole games played by policies take less.
const LONGEST: Duration = Duration::from_secs(5);

/// The action with the largest number is among this many actions at the end of the history.
const RECORDED: usize = 16;

/// A running game: the context of its scripts, the finished actions, the open action, and what was undone.
///
/// It is plain data; a script machine is lent to it for each call that runs scripts. It has many fields and methods,
/// since each step of a game (advance, decide, edit, undo, reload) changes several of them together. Each file of this
/// folder has the methods of one step.
pub struct Game {
    pub context: ActionContext,
    pub setup: Arc<Setup>,
    /// The scenario as a table.
    pub scenario: Value,
    pub history: History,
    pub open: Option<Open>,
    /// Actions interrupted by a free act that runs before them.
    pub(crate) held: Vec<Open>,
    /// Free acts that wait for the end of the open action: seat, name, and decision number.
    pub(crate) queued: VecDeque<(Arc<str>, Arc<str>, u32)>,
    pub(crate) redo: Vec<UndoOp>,
    /// Rules that take effect at the next boundary.
    pub(crate) pending: Vec<Pending>,
    pub(crate) outbox: Vec<Event>,
    pub(crate) stream: Stream,
    pub(crate) numberings: Numberings,
    /// Messages outside the log that the stream has not sent yet.
    asides: Vec<Event>,
    pub(crate) next_number: u32,
    /// True if policies have been asked for free acts since the last entry.
    pub(crate) asked_policies: bool,
    /// Number of successive entries, up to the last finished action, without a roll, a question, an outcome or a
    /// decision of a person.
    pub(crate) idle: u32,
    /// Actions finished since a person last decided, or a program last answered.
    pub(crate) unasked: u64,
    /// Bytes stored since then.
    pub(crate) unasked_bytes: usize,
    /// Bytes stored since a person last answered or acted, or an action was rolled back.
    pub(crate) retried_bytes: usize,
    /// True if the game has used up its processor time since the last call.
    pub(crate) overlong: bool,
    /// Start of the current slice of time.
    pub(crate) slice_from: Option<Instant>,
    /// The processor time after which a call without a question stops with a fault.
    pub(crate) longest: Duration,
    /// Questions of the last few actions that were answered automatically, since only one answer was possible.
    pub(crate) autos: VecDeque<(u32, Vec<(Question, Answer)>)>,
    /// The refusal of the last answer by the `check` of its question.
    pub refused: Option<Box<Refusal>>,
    /// Number of actions carried out.
    pub actions: u64,
    pub first_rules: Option<Box<FirstRules>>,
    /// The length of the history just after a reload that changed only the rules.
    pub(crate) plain_reload: Option<usize>,
    /// The last decision before the part of the game that is in memory. Undo stops there; earlier decisions are in a
    /// file.
    pub(crate) horizon: u32,
    /// True if the game was resumed from a checkpoint: the part before it is not in memory.
    pub(crate) resumed: bool,
    /// The part of the history that was loaded from a checkpoint and not replayed.
    pub(crate) unplayed: Option<Box<Unplayed>>,
}

impl Game {
    pub fn new(context: ActionContext, setup: Arc<Setup>, scenario: Value) -> Game {
        let before = context.dice.position();
        Game {
            context,
            setup,
            scenario,
            history: History::default(),
            open: Some(Open::new(1, Cause::Start, before)),
            held: Vec::new(),
            queued: VecDeque::new(),
            redo: Vec::new(),
            pending: Vec::new(),
            outbox: Vec::new(),
            stream: Stream::default(),
            numberings: Numberings::default(),
            asides: Vec::new(),
            next_number: 2,
            asked_policies: false,
            idle: 0,
            unasked: 0,
            unasked_bytes: 0,
            retried_bytes: 0,
            overlong: false,
            slice_from: None,
            longest: LONGEST,
            autos: VecDeque::new(),
            refused: None,
            actions: 0,
            first_rules: None,
            plain_reload: None,
            horizon: 0,
            resumed: false,
            unplayed: None,
        }
    }

    pub(crate) fn take_number(&mut self) -> u32 {
        self.next_number += 1;
        self.next_number - 1
    }

    /// Copies the game, without events and history. Changes of the copy do not affect this game.
    ///
    /// The open action keeps its answers and rolls up to the first open question.
    pub fn fork(&self) -> Game {
        self.fork_onto(self.context.state.before_journal())
    }

    /// Like [`Game::fork`], with a separate copy of the state.
    pub fn fork_onto(&self, state: State) -> Game {
        let from = &self.context;
        let (seats, dice) = (from.answers.seats.clone(), from.dice.source.clone());
        let mut context = ActionContext::new(&from.rules, from.switches.clone(), seats, dice, 0);
        context.state = state;
        context.dice.rng = from.dice.rng.clone();
        context.dice.written = from.dice.written;
        context.knowledge.masked = from.knowledge.masked.clone();
        context.knowledge.deals_for = from.knowledge.deals_for.clone();
        context.log.listening = false;
        let mut game = Game::new(context, self.setup.clone(), self.scenario.clone());
        let copy = |open: &Open| {
            let mut copy = Open::new(open.number, open.cause.clone(), open.before);
            let known = open.tape.slots.iter().take_while(|slot| slot.is_some());
            copy.tape.slots = known.cloned().collect();
            copy.private.clone_from(&open.private);
            copy.untold.clone_from(&open.untold);
            copy
        };
        game.open = self.open.as_ref().map(copy);
        game.held = self.held.iter().map(copy).collect();
        game.queued = self.queued.clone();
        game.next_number = self.next_number;
        game.horizon = self.history.last_decision().unwrap_or(0).max(self.horizon);
        game.asked_policies = self.asked_policies;
        game.context.keeps_tape = false;
        game
    }

    /// Like [`Game::fork_onto`], but keeps the action counters.
    pub fn go_on_over(&self, state: State) -> Game {
        let counts = (self.actions, self.idle, self.unasked, self.unasked_bytes);
        let mut game = self.fork_onto(state);
        (game.actions, game.idle, game.unasked, game.unasked_bytes) = counts;
        game
    }

    /// Sets the number of the next action after an undo: one more than the largest number that is left.
    pub(crate) fn renumber(&mut self) {
        // Numbers in the history are not sorted: an edit made while an action is open has the larger number and comes first.
        let known = self.history.iter().rev().take(RECORDED).map(|done| done.number);
        let open = self.open.iter().chain(&self.held).map(|open| open.number);
        self.next_number = known.chain(open).max().unwrap_or(0).saturating_add(1);
    }

    /// Adds an event to the outbox if events have readers.
    pub(crate) fn tell(&mut self, event: Event) {
        if self.context.log.listening {
            self.outbox.push(event);
        }
    }

    /// Withdraws all events of a dropped action.
    pub(crate) fn withdraw(&mut self, open: &Open) {
        if !open.events.is_empty() {
            let happening = Happening::Withdrawn { from: 0 };
            self.tell(Event { action: open.number, n: 0, audience: Audience::Everybody, happening });
        }
    }

    /// The number of the last decision that was not undone. Computed anew each time, since a run may drop answers from its tape.
    pub(crate) fn last_decision(&self) -> u32 {
        let open = self.open.iter().chain(&self.held).flat_map(|open| [open.seq, open.last_seq()]);
        let waiting = self.queued.iter().map(|(.., seq)| Some(*seq));
        let last = open.chain(waiting).max().flatten().max(self.history.last_decision());
        last.map_or(self.horizon, |last| last.max(self.horizon))
    }

    /// The number of the next decision.
    pub(crate) fn next_seq(&self) -> u32 {
        self.last_decision().saturating_add(1)
    }

    pub fn notice(&mut self, text: &str) {
        self.notice_to(text, Audience::Everybody);
    }

    /// Sends a notice to an audience; the log does not keep it.
    pub fn notice_to(&mut self, text: &str, audience: Audience) {
        if self.context.log.listening {
            let action = self.next_number.saturating_sub(1);
            let happening = Happening::Notice { text: text.into() };
            self.outbox.push(Event { action, n: 0, audience: audience.clone(), happening });
            let happening = Happening::Aside { text: text.into() };
            self.asides.push(Event { action, n: 0, audience, happening });
        }
    }

    /// Removes the last action from the history and returns it.
    pub(crate) fn pop_done(&mut self) -> Option<Done> {
        let done = self.history.pop()?;
        self.idle = self.history.last().map_or(0, |done| done.idle);
        self.stream.history_cut(self.history.len(), done.events.len());
        Some(done)
    }

    /// Sends the changes of the log to every reader of the stream.
    pub(crate) fn publish(&mut self, note: Option<RevisionNote>) {
        if !self.context.log.listening {
            self.asides.clear();
            return;
        }
        let open = self.open.as_ref().filter(|open| open.ran).map_or(&[][..], |open| &open.events);
        self.stream.publish(&self.history, open, &mut self.asides, note);
    }

    /// Restarts the stream with the current log.
    pub fn restart_stream(&mut self) {
        self.stream = Stream::default();
        self.asides.clear();
        self.publish(None);
    }

    /// Discards unfinished work after a failure of the host.
    pub fn recover(&mut self) {
        let context = &mut self.context;
        context.state.rollback(0);
        (context.headless, context.paths, context.stop) = (None, None, None);
        context.log.events.clear();
        context.run.questions.clear();
        context.answers.suggest_at = None;
        if let Some(open) = &mut self.open {
            (open.ran, open.has_keys) = (false, false);
            open.questions.clear();
        }
    }

    /// Rolls the open action back to its start. Its tape stays.
    pub(crate) fn park(&mut self) {
        if let Some(open) = &mut self.open {
            if open.ran {
                self.context.state.rollback(0);
                open.ran = false;
            }
            (open.fault, open.stopped) = (None, false);
            open.questions.clear();
        }
    }

    /// The number of rolls on the tape of an action, open or finished.
    pub fn rolls(&self, action: u32) -> usize {
        let open = self.open.iter().find(|open| open.number == action).map(|open| &open.tape);
        let done = self.history.iter().rev().find(|done| done.number == action);
        open.map_or_else(|| done.map_or(0, |done| done.tape.get().rolls()), Tape::rolls)
    }

    // Events

    pub fn take_events(&mut self) -> Vec<Event> {
        std::mem::take(&mut self.outbox)
    }

    /// The current log, in order. An action that will run again has no events in it until then.
    pub fn log(&self) -> impl Iterator<Item = Event> {
        let open = self.open.iter().filter(|open| open.ran).flat_map(|open| open.events.iter().cloned());
        self.history.iter().flat_map(|done| done.events.iter()).chain(open)
    }

    /// True if an open action has begun: it has answers or rolls on its tape.
    pub fn in_the_middle(&self) -> bool {
        self.open.as_ref().is_some_and(|open| open.tape.slots.iter().any(Option::is_some))
    }

    /// True if something has begun and is not finished: an open or interrupted action with a tape, or a free act.
    pub fn is_unfinished(&self) -> bool {
        let is_taken = |open: &Open| matches!(open.cause, Cause::Free { .. });
        let begun = |open: &Open| is_taken(open) || open.tape.slots.iter().any(Option::is_some);
        !self.queued.is_empty() || self.open.iter().chain(&self.held).any(begun)
    }

    /// True if a free act of a seat has to wait for the end of the open action, since that has rolled dice the seat may
    /// know, or shown it a secret. An earlier act could exploit that.
    pub fn act_waits(&self, seat: &str) -> bool {
        self.dice_are_cast(seat) || (seat != MASTER && self.was_shown_secrets(&Viewer::seat(seat)))
    }

    /// True if the open action has rolled dice that the seat may know.
    fn dice_are_cast(&self, seat: &str) -> bool {
        let viewer = if seat == MASTER { Viewer::master() } else { Viewer::seat(seat) };
        self.open.as_ref().is_some_and(|open| {
            let mut places = (0..).zip(&open.tape.slots);
            places.any(|(at, slot)| matches!(slot, Some(Slot::Roll { .. })) && open.is_seen(at, &viewer))
        })
    }

    /// Opens an action with its recorded tape, and with the fault for which it was skipped, if it was.
    pub fn open_recorded(&mut self, done: &Done, fault: Option<Fault>) {
        self.count_in(done.number);
        // A replay draws no dice.
        self.context.dice.set_position(done.behind.unwrap_or(done.before));
        let mut open = Open::new(done.number, done.cause.clone(), done.before);
        open.tape = done.tape.get();
        open.seq = done.seq;
        open.open_tape = done.open_tape.clone();
        (open.fault, open.goes_on) = (fault.map(Box::new), true);
        self.open = Some(open);
    }

    /// Appends a recorded action to the history if a replay need not run it.
    pub fn put_recorded(&mut self, done: &Done) {
        self.history.push(done.clone());
        self.stamp_last(done);
    }

    /// Gives the last finished action the numbers with which it was recorded.
    pub fn stamp_last(&mut self, done: &Done) {
        if let Some(mut last) = self.history.pop() {
            last.number = done.number;
            last.seq = done.seq;
            last.began = done.began;
            last.open_tape = done.open_tape.clone();
            last.dropped.clone_from(&done.dropped);
            last.lost.clone_from(&done.lost);
            // A saved game stores the drivers at its end only.
            if let Some(before) = last.swap.as_mut().and_then(|swap| swap.in_force.as_mut()) {
                let lost = done.lost.iter().map(|(seat, policy)| (seat.clone(), Driver::Policy(policy.clone())));
                before.seats.extend(lost);
            }
            last.behind = done.behind;
            last.before = done.before;
            if !done.told.is_empty() {
                last.told.clone_from(&done.told);
                last.events = events_of(done.number, &done.told);
            } else if last.events.iter().any(|event| event.action != done.number) {
                last.events = last.events.iter().map(|event| Event { action: done.number, ..event }).collect();
            }
            self.history.push(last);
        }
        self.renumber();
        self.end_as(done);
    }

    /// Ends the game after the last finished action, if it ended there when it was recorded.
    pub fn end_as(&mut self, done: &Done) {
        if done.ended && self.context.state.outcome().is_none() {
            self.end_for_want_of_entries();
        }
    }

    /// Continues the numbering after a loaded action.
    pub(crate) fn count_in(&mut self, number: u32) {
        self.next_number = self.next_number.max(number.saturating_add(1));
    }
}
