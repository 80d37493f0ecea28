//! Advancing a game: runs action after action until a person must decide.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::Game;
use super::action::{Done, events_of, last_seq_of};
use super::fault_context::{card_of, fault_context};
use super::halt::Halt;
use super::open::{Open, OpenTape};
use super::undo_op::UndoOp;
use crate::context::{Current, ResumePoint};
use crate::model::words_of;
use crate::{
    ActionContext, Call, Cause, Event, Fault, FaultKind, Happening, Headless, Machine, Packed, Phase, PolicyAct,
    Refusal, Slot, Stop,
};
use riskbreaker_dice::Roll;
use riskbreaker_state::{Audience, Change, Due, EntityId, LARGEST_NUMBER, Value};

/// The outcome of a game whose agenda is empty.
pub(crate) const NOTHING_LEFT: &str = "nothing is left to do";

/// After this many entries in a row without a roll, a question or an outcome, the game stops with a fault.
const IDLE_ENTRIES: u32 = 10_000;

/// After this many actions without a decision by a person or an answer by a program, the game stops with a fault.
const UNASKED_ENTRIES: u64 = 100_000;

/// After this many bytes of stored events, rolls and changes (estimated) without a decision or an answer, the game
/// stops with a fault.
const UNASKED_BYTES: usize = 64 << 20;

/// The most bytes that a game may keep since a person last answered or acted, stops and retries included.
const RETRIED_BYTES: usize = 2 * UNASKED_BYTES;

/// The largest size of all values of a game, in estimated bytes.
const HEAVIEST: usize = 64 << 20;

/// How long a game keeps a machine before other games get a turn.
const SLICE: Duration = Duration::from_millis(50);

impl Game {
    /// Plays until a person must decide, a script fails, the game is over, or `limit` actions are done.
    pub fn advance(&mut self, vm: &mut dyn Machine, limit: u64) -> Halt {
        self.advance_to(vm, limit, None)
    }

    /// Plays for at most one slice of time, so that other games get their turn. Also returns the processor time used.
    pub fn advance_slice(&mut self, vm: &mut dyn Machine, limit: u64, boundary: Option<&Arc<str>>) -> (Halt, Duration) {
        let began = vm.clock();
        self.slice_from = Some(Instant::now());
        let halt = self.advance_to(vm, limit, boundary);
        self.slice_from = None;
        (halt, vm.clock().saturating_sub(began))
    }

    /// Like [`Game::advance`], but also pauses before an entry called `boundary`, once at least one action is done.
    pub fn advance_to(&mut self, vm: &mut dyn Machine, limit: u64, boundary: Option<&Arc<str>>) -> Halt {
        let began = self.actions;
        let until = self.actions.saturating_add(limit);
        let bounded = |game: &Game| {
            let due = game.context.state.agenda().first().map(|due| &due.what);
            game.actions > began && boundary.is_some() && due == boundary
        };
        let mut pause_at = None;
        let mut rests = |game: &Game| {
            let Some(from) = game.slice_from.filter(|_| game.actions > began) else { return false };
            let now = Instant::now();
            // The first action includes loading the game into the machine. The rest of the slice may take as long as
            // that did, or most time would go into loading.
            now >= *pause_at.get_or_insert_with(|| now + SLICE.max(now - from))
        };
        loop {
            if !self.pending.is_empty() && self.at_boundary() {
                return Halt::Boundary;
            }
            if let Some(open) = &self.open {
                if let Some(fault) = &open.fault {
                    return Halt::Fault(Fault::clone(fault));
                }
                if open.ran && !open.questions.is_empty() && !open.to_check {
                    return Halt::Ask;
                }
            } else if let Some(outcome) = self.context.state.outcome() {
                return Halt::Over(outcome.to_string());
            } else if self.actions >= until || bounded(self) || rests(self) {
                return Halt::Paused;
            } else if self.runs_on(vm) {
                if let Some(standing) = self.run_on(vm, until, boundary) {
                    return standing;
                }
                continue;
            } else {
                self.context.settle_replays();
                if let Err(fault) = self.open_next(vm) {
                    return Halt::Fault(fault);
                }
                if self.open.is_none() {
                    // A free act that is no longer open, or an empty agenda.
                    continue;
                }
            }
            self.run(vm);
        }
    }

    /// True if the next actions can run one after the other inside the script machine.
    fn runs_on(&self, vm: &dyn Machine) -> bool {
        self.held.is_empty()
            && self.queued.is_empty()
            && !self.seems_endless()
            && self.unasked < UNASKED_ENTRIES
            && !self.context.must_be_weighed()
            && self.context.can_run_headless()
            && self.context.state.agenda().first().is_some_and(|first| self.context.is_plain(first))
            && !self.context.is_tied()
            && vm.runs_on(&self.context)
    }

    /// Runs entry after entry inside the script machine. `None` if the next step cannot be done there.
    fn run_on(&mut self, vm: &mut dyn Machine, until: u64, boundary: Option<&Arc<str>>) -> Option<Halt> {
        let left = (until - self.actions).min(UNASKED_ENTRIES.saturating_sub(self.unasked));
        let settles_ties = self.context.rules.settles_ties();
        let headless = Headless::new(left, boundary.cloned(), self.idle, IDLE_ENTRIES, settles_ties);
        let context = &mut self.context;
        context.phase = Phase::Play;
        context.stop = None;
        context.run.at_start = false;
        context.headless = Some(Box::new(headless));
        let result = if context.needs_script() { vm.run_on(context) } else { Ok(()) };
        let stop = context.stop.take();
        let headless = *context.headless.take()?;
        self.actions += headless.done;
        self.unasked += headless.done;
        self.idle = headless.idle;
        self.next_number += headless.done as u32;
        match (result, headless.current) {
            (Ok(()), None) => {
                let due = context.state.agenda().first();
                let bounded = boundary.is_some_and(|boundary| due.is_some_and(|due| due.what == *boundary));
                (bounded && context.state.outcome().is_none() && self.actions < until).then_some(Halt::Paused)
            }
            // A person plays the seat that was asked: the action runs again outside the loop and waits for the answer.
            (Ok(()), Some(current)) if matches!(stop, Some(Stop::Question)) => {
                self.open = Some(self.begin_again(current));
                None
            }
            // The action was cut short by its own script; its changes stay.
            (Ok(()), Some(_)) => {
                context.state.settle_unread();
                context.observers.counts.iter_mut().for_each(|counts| drop(counts.end_action()));
                self.actions += 1;
                self.next_number += 1;
                self.idle = 0;
                None
            }
            (Err(fault), None) => Some(Halt::Fault(fault)),
            (Err(fault), Some(current)) => {
                let mut open = self.begin_again(current);
                let fault = Fault { action: Some(words_of(&open.cause)), ..fault };
                open.fault = Some(Box::new(fault.clone()));
                let standing = Some(Halt::Fault(fault));
                self.open = Some(open);
                standing
            }
        }
    }

    /// Rolls back the action that the headless loop was running, and opens it.
    fn begin_again(&mut self, current: Current) -> Open {
        self.context.state.rollback(0);
        self.context.observers.counts.iter_mut().for_each(|counts| counts.drop_action());
        self.context.dice.set_position(current.before);
        let entry = &current.entry;
        self.fresh(Cause::Entry { id: entry.id, what: entry.what.clone(), owner: entry.owner })
    }

    /// Opens the next action: a held one, a queued free act, or the first entry of the agenda.
    fn open_next(&mut self, vm: &mut dyn Machine) -> Result<(), Fault> {
        if let Some(open) = self.held.pop() {
            self.asked_policies = false;
            self.open = Some(open);
            return Ok(());
        }
        if let Some((seat, name, seq)) = self.queued.pop_front() {
            match self.closed_act(vm, &seat, &name) {
                Some(text) => self.lose_act(seat, name, seq, text),
                None => self.open_free(seat, name, Some(seq)),
            }
            return Ok(());
        }
        if !std::mem::replace(&mut self.asked_policies, true)
            && let Some(PolicyAct { seat, name }) = vm.policy_act(&mut self.context)?
        {
            self.open_free(seat, name, None);
            return Ok(());
        }
        self.asked_policies = false;
        // Computing the keys is part of the action. A script that fails here fails there again, unless the machine is
        // gone.
        let keys = renew_keys(&mut self.context, vm);
        let first = self.context.state.agenda().first().cloned();
        if keys.is_err() {
            self.context.state.rollback(0);
        }
        let Some(entry) = first else {
            self.end_for_want_of_entries();
            return Ok(());
        };
        let mut open = self.fresh(Cause::Entry { id: entry.id, what: entry.what.clone(), owner: entry.owner });
        open.has_keys = keys.is_ok();
        self.open = Some(open);
        self.unasked += 1;
        if let Err(fault) = keys
            && fault.fatal
            && let Some(open) = &mut self.open
        {
            open.fault = Some(Box::new(Fault { action: Some(words_of(&open.cause)), ..fault }));
        } else {
            let fault = self.endless(&entry.what);
            if let Some(open) = self.open.as_mut().filter(|_| fault.is_some()) {
                (open.fault, open.stopped) = (fault.map(Box::new), true);
            }
        }
        Ok(())
    }

    /// The reason, as a line, why a queued free act can no longer be taken. `None` if it can.
    fn closed_act(&mut self, vm: &mut dyn Machine, seat: &Arc<str>, name: &Arc<str>) -> Option<String> {
        let acts = vm.free_acts(&mut self.context);
        let closed = acts.into_iter().find(|act| act.seat == *seat && act.name == *name && !act.enabled)?;
        let why = closed.reason.map_or_else(String::new, |reason| format!(": {reason}"));
        Some(format!("{} is not open any more{why}", closed.title))
    }

    /// Records a queued free act that is no longer open. It has no effect, and its seat gets a notice.
    fn lose_act(&mut self, seat: Arc<str>, name: Arc<str>, seq: u32, text: String) {
        let (number, position) = (self.take_number(), self.context.dice.position());
        let told = vec![(Audience::named(&seat), Happening::Notice { text })];
        let events = events_of(number, &told);
        self.outbox.extend(events.iter());
        let done = Done { seq: Some(seq), told, events, ..Done::new(number, Cause::Free { seat, name }, position) };
        self.history.push(done);
    }

    /// Whether [`IDLE_ENTRIES`] entries have run in a row without a roll, a question or an outcome.
    pub(crate) fn seems_endless(&self) -> bool {
        self.idle >= IDLE_ENTRIES
    }

    /// The fault of an entry that follows [`IDLE_ENTRIES`] idle ones. `None` if a person lets the game continue.
    fn idles(&self, open: &Open) -> Option<Fault> {
        let Cause::Entry { what, .. } = &open.cause else { return None };
        if open.goes_on || !self.seems_endless() {
            return None;
        }
        let message =
            format!("{IDLE_ENTRIES} agenda entries ran without a roll, a question or an outcome; the next is `{what}`");
        let cure = Some("let an entry that schedules itself again ask, roll, or end the game at some point".into());
        Some(Fault { cure, action: Some(what.clone()), kind: FaultKind::Endless, ..Fault::new(message) })
    }

    /// The fault of a game that seems endless. `None` if it does not.
    fn endless(&mut self, what: &Arc<str>) -> Option<Fault> {
        let (message, cure) = if self.unasked > UNASKED_ENTRIES {
            (
                format!("{UNASKED_ENTRIES} agenda entries ran without a decision by a person; the next is `{what}`"),
                "make the game end, or `retry` to let it continue",
            )
        } else if self.is_full() {
            (
                format!("{}; the next entry is `{what}`", self.full_message()),
                "make the game tell and roll less, or make it end; `undo` makes room",
            )
        } else if self.unasked_bytes > UNASKED_BYTES {
            (
                format!(
                    "the game keeps {} MiB of what happened without a decision by a person; the next entry is `{what}`",
                    UNASKED_BYTES >> 20
                ),
                "make the game tell and roll less, make it end, or `retry` to let it continue",
            )
        } else if self.is_too_heavy() {
            (
                format!("the game holds more than {} MiB of values; the next entry is `{what}`", HEAVIEST >> 20),
                "make the rules keep less, or `retry` to let it continue",
            )
        } else if self.overlong {
            (
                format!("the game took long without a decision by a person; the next entry is `{what}`"),
                "make the game ask or end, or `retry` to let it continue",
            )
        } else {
            return None;
        };
        (self.unasked, self.unasked_bytes, self.overlong) = (0, 0, false);
        Some(Fault {
            cure: Some(cure.into()),
            action: Some(what.clone()),
            kind: FaultKind::Endless,
            ..Fault::new(message)
        })
    }

    /// True if the game has stored as much as it may without an answer or act of a person. It is then not retried.
    pub(crate) fn is_full(&self) -> bool {
        self.retried_bytes > RETRIED_BYTES
    }

    pub(crate) fn full_message(&self) -> String {
        format!("the game keeps {} MiB of what happened without an answer or an act of a person", RETRIED_BYTES >> 20)
    }

    /// True if the values of the game exceed their limit. They are measured only after many bytes were written.
    fn is_too_heavy(&mut self) -> bool {
        if !self.context.must_be_weighed() {
            return false;
        }
        self.context.state.written = 0;
        self.context.state.weight() > HEAVIEST
    }

    /// True if policies have been asked for free acts since the last entry. Falls back to the stored flag if the
    /// history does not show it.
    pub(crate) fn policies_were_asked(&self) -> bool {
        match self.open.as_ref().map(|open| (&open.cause, open.seq)) {
            Some((Cause::Start | Cause::Entry { .. }, _)) => false,
            // A free act without a decision number was taken by a policy.
            Some((Cause::Free { .. }, None)) => true,
            _ => self.policies_were_asked_before(),
        }
    }

    /// Like [`Game::policies_were_asked`], as of the end of the last finished action.
    pub(crate) fn policies_were_asked_before(&self) -> bool {
        for done in self.history.iter().rev() {
            match done.cause {
                Cause::Start | Cause::Entry { .. } => return false,
                // A skipped free act is not offered again at once.
                Cause::Free { .. } if done.seq.is_none() || done.skipped.is_some() => return true,
                Cause::Free { .. } | Cause::Edit { .. } | Cause::Reload { .. } | Cause::Rules { .. } => {}
            }
        }
        self.asked_policies
    }

    /// Opens the next action without running it. `asked`: policies have been asked for free acts since the last entry.
    /// Returns the new value of that flag.
    pub fn open_for_exploring(&mut self, vm: &mut dyn Machine, asked: bool) -> Result<bool, Fault> {
        self.asked_policies = asked;
        self.open_next(vm)?;
        Ok(self.asked_policies)
    }

    /// Returns the game after the run that [`Game::attempt`] has just made, with the next action opened. Keeps what
    /// `deal` has dealt.
    ///
    /// # Errors
    ///
    /// The fault of a script that computes which action is next.
    pub fn behind_attempt(&self, vm: &mut dyn Machine) -> Result<Game, Fault> {
        let mut state = self.context.state.clone();
        state.settle_unread();
        state.renew_identity();
        let mut game = self.fork_onto(state);
        game.open = None;
        game.context.knowledge.deals_for = None;
        if let Some(masked) = &mut game.context.knowledge.masked {
            masked.settle();
        }
        let is_entry = self.open.as_ref().is_none_or(|open| !matches!(open.cause, Cause::Free { .. }));
        game.asked_policies &= !is_entry;
        game.open_next(vm)?;
        // Keep the recomputed keys.
        game.context.state.settle_unread();
        Ok(game)
    }

    /// Writes what determines, apart from the state, which action is opened next.
    pub fn tell_next(&self, out: &mut Vec<u8>) {
        out.extend([u8::from(self.asked_policies), self.held.len() as u8, self.queued.len() as u8]);
        if let Some(open) = &self.open {
            out.extend(words_of(&open.cause).as_bytes());
        }
    }

    /// The name of the agenda entry that is open.
    pub fn open_entry(&self) -> Option<&Arc<str>> {
        match &self.open.as_ref()?.cause {
            Cause::Entry { what, .. } => Some(what),
            _ => None,
        }
    }

    fn fresh(&mut self, cause: Cause) -> Open {
        Open::new(self.take_number(), cause, self.context.dice.position())
    }

    pub(crate) fn open_free(&mut self, seat: Arc<str>, name: Arc<str>, seq: Option<u32>) {
        let mut open = self.fresh(Cause::Free { seat, name });
        open.seq = seq;
        self.open = Some(open);
    }

    /// Runs the open action from its start.
    pub(crate) fn run(&mut self, vm: &mut dyn Machine) {
        let Some(mut open) = self.open.take() else { return };
        open.fault = open.fault.take().or_else(|| self.idles(&open).map(Box::new));
        let context = &mut self.context;
        let has_keys = std::mem::take(&mut open.has_keys) && open.fault.is_none();
        if !has_keys {
            context.state.rollback(0);
        }
        if open.fault.is_some() {
            self.open = Some(open);
            return;
        }
        context.observers.counts.iter_mut().for_each(|counts| counts.drop_action());
        context.run.action = open.number;
        context.playback.tape = std::mem::take(&mut open.tape);
        context.playback.cursor = 0;
        context.playback.end = context.dice.position();
        let since = self.history.iter().rev().take_while(|done| done.number > open.number);
        context.dice.drawn_by_others = since.filter_map(|done| done.behind).next().unwrap_or_default();
        context.phase = Phase::Play;
        context.run.at_start = open.cause == Cause::Start;
        context.stop = None;
        context.forget_run();
        context.playback.dropped = None;
        let pulse = context.run.pulse;
        (open.ran, open.answered, open.to_check) = (true, false, false);

        let result = catch_unwind(AssertUnwindSafe(|| perform(context, &self.scenario, vm, &open.cause, has_keys)));
        let result = result.unwrap_or_else(|_| {
            vm.discard();
            let mut fault = Fault::new("the host itself failed while the action ran; the action is taken back");
            (fault.cure, fault.fatal) = (Some("please report this with the script".into()), true);
            Err(fault)
        });

        open.tape = std::mem::take(&mut context.playback.tape);
        open.questions = std::mem::take(&mut context.run.questions);
        open.rolled_for = context.rolls.waits_for.take();
        open.pulsed = context.run.pulse != pulse || context.state.outcome().is_some();
        let dropped = context.playback.dropped.take();
        let unread = context.stop.is_none() && context.playback.cursor < open.tape.slots.len();
        if std::mem::take(&mut open.renewed) && result.is_ok() && (dropped.is_some() || unread) {
            return self.start_again(open);
        }
        for (question, answer) in context.answers.early.take_decisions() {
            self.did(UndoOp::answer(&question, &answer));
        }
        let context = &mut self.context;
        if context.log.listening || context.keeps_tape {
            self.autos.retain(|(number, _)| *number != open.number);
            if !context.run.autos.is_empty() {
                self.autos.push_back((open.number, std::mem::take(&mut context.run.autos)));
            }
            if self.autos.len() > 16 {
                self.autos.pop_front();
            }
        }
        let stop = context.stop.take();
        match (result, stop) {
            (Err(fault), _) => self.take_back(open, fault),
            (Ok(_), Some(Stop::Refused { ordinal, topic, reason })) => {
                self.refuse_answer(open, ordinal, Refusal::AgainstRules { topic, reason });
            }
            (Ok(_), Some(Stop::Question)) => {
                self.tell_run(&mut open);
                // A game spends most of its time waiting, so free unused memory.
                self.context.state.shrink_journal();
                open.shrink_to_fit();
                self.open = Some(open);
            }
            (Ok(_), stop) => {
                context.tell_untold(true);
                if let Some(Stop::Cut(reason)) = stop {
                    context.tell(Happening::Cut { reason }, Audience::Everybody);
                }
                if let Some(text) = context.state.outcome().map(str::to_owned) {
                    context.tell(Happening::Over { text }, Audience::Everybody);
                }
                self.tell_run(&mut open);
                self.commit(open);
            }
        }
        if dropped.is_some() {
            self.notice("the action went another way than before: what no longer fits was dropped from its tape");
        }
    }

    /// Rolls back an action whose script failed; it then waits for a remedy.
    fn take_back(&mut self, mut open: Open, fault: Fault) {
        let context = &mut self.context;
        self.refused = context.answers.contradicted.take().or(self.refused.take());
        open.note_private(context);
        context.state.rollback(0);
        // Draws that are not on the tape are made again.
        context.dice.set_position(context.playback.end);
        open.ran = false;
        open.events.clear();
        open.questions.clear();
        let (card, lines) = (card_of(&context.rules, &fault), fault_context(context, &open));
        open.missing_roll = context.rolls.missing.take();
        let fault = Fault { action: Some(words_of(&open.cause)), card, context: lines, ..fault };
        open.fault = Some(Box::new(fault));
        self.open = Some(open);
    }

    /// Removes an answer that the rules refused from the tape, and opens its question again.
    fn refuse_answer(&mut self, mut open: Open, ordinal: usize, refusal: Refusal) {
        self.context.state.rollback(0);
        open.ran = false;
        open.questions.clear();
        let slot = open.tape.slots.get(ordinal).and_then(Option::as_ref);
        let seq = slot.and_then(Slot::seq);
        let asked = match slot {
            Some(Slot::Answer { seat, .. }) => Audience::named(seat),
            _ => Audience::Everybody,
        };
        // Keep answers to other questions that were open together with it, if they were given earlier.
        let is_last_decision = seq.is_some_and(|seq| seq > self.last_decision() && Some(seq) == open.last_seq());
        if is_last_decision && ordinal + 1 < open.tape.slots.len() {
            open.tape.slots[ordinal] = None;
        } else if let Some(position) = open.tape.cut(ordinal) {
            self.context.dice.take_back(position);
        }
        self.open = Some(open);
        self.notice_to(&refusal.to_string(), asked);
        self.refused = Some(Box::new(refusal));
    }

    /// Keeps and publishes the events of a run. Cuts off the slots of the tape that the run did not read: they belong to an
    /// earlier run that took another path.
    fn tell_run(&mut self, open: &mut Open) {
        let context = &mut self.context;
        if let Some(position) = open.tape.cut(context.playback.cursor.min(open.tape.slots.len())) {
            context.dice.take_back(position);
        }
        let events = std::mem::take(&mut context.log.events);
        open.note_private(context);
        let same = open.events.iter().zip(&events).take_while(|(old, new)| old == new).count();
        if same < open.events.len() {
            let happening = Happening::Withdrawn { from: same as u32 };
            self.outbox.push(Event { action: open.number, n: same as u32, audience: Audience::Everybody, happening });
        }
        self.outbox.extend(events[same..].iter().cloned());
        open.events = events;
    }

    /// Runs the open action from its start as far as it gets. The caller reads the result from the context and rolls it
    /// back.
    pub fn attempt(&mut self, vm: &mut dyn Machine) -> Result<(), Fault> {
        let context = &mut self.context;
        context.state.rollback(0);
        let Some(open) = &self.open else { return Ok(()) };
        context.run.action = open.number;
        context.playback.tape.clone_from(&open.tape);
        context.playback.cursor = 0;
        context.phase = Phase::Play;
        context.stop = None;
        context.forget_run();
        let cause = open.cause.clone();
        context.deal_unseen(vm)?;
        if context.stop.is_some() {
            return Ok(());
        }
        perform(context, &self.scenario, vm, &cause, false).map(|_| ())
    }

    /// Continues the open action from a resume point of an earlier run, with another roll. The caller reads the result
    /// from the context and rolls it back. Returns false if that was impossible or a script failed; the caller then
    /// runs the action from its start.
    pub fn go_on_from(&mut self, vm: &mut dyn Machine, resume_point: &ResumePoint, roll: &Roll) -> bool {
        let context = &mut self.context;
        context.state.rollback(0);
        context.phase = Phase::Play;
        context.stop = None;
        context.forget_run();
        resume_point.bring_back(context);
        context.rolls.dealing = resume_point.dealing;
        let rolled = context.foreseen(&resume_point.dice, &resume_point.sight, roll);
        context.rolls.dealing = false;
        vm.go_on(context, resume_point.place(), &rolled)
    }

    pub(crate) fn commit(&mut self, mut open: Open) {
        self.actions += 1;
        self.context.observers.counts.iter_mut().for_each(|counts| drop(counts.end_action()));
        // An act of a person resets the count of idle entries, as a roll does. So does a person who lets a stopped game
        // continue.
        let by_person = open.seq.is_some() || self.seems_endless();
        if open.pulsed || by_person {
            self.idle = 0;
        } else if matches!(open.cause, Cause::Entry { .. }) {
            self.idle += 1;
        }
        if !self.context.keeps_tape {
            self.context.state.settle_unread();
            return;
        }
        let changes = self.context.state.settle();
        let open_tape = match &open.cause {
            Cause::Free { .. } => open.open_tape.take().or_else(|| OpenTape::of(self.held.last())),
            _ => None,
        };
        let behind = self.context.dice.position();
        let drew_between = matches!(open.cause, Cause::Free { .. }) && behind != open.before;
        let kept = kept_bytes(&open, &changes);
        self.unasked_bytes = self.unasked_bytes.saturating_add(kept);
        let done = Done {
            tape: Packed::new(&open.tape),
            seq: open.seq,
            behind: (drew_between || open.fault.is_some()).then_some(behind),
            skipped: open.fault.map(|fault| fault.message),
            began: open.began,
            open_tape,
            idle: self.idle,
            changes: Packed::new(&changes),
            course: self.context.course_to_keep(open.course, &open.events),
            events: open.events.into_iter().collect(),
            private: open.private,
            ..Done::new(open.number, open.cause, open.before)
        };
        // Edits by the game master and skipped actions may be repeated endlessly, too, so they do not reset the count.
        let by_hand = done.skipped.is_some() || matches!(done.cause, Cause::Edit { .. });
        let decided = !by_hand && last_seq_of(&done).is_some();
        self.retried_bytes = if decided { kept } else { self.retried_bytes.saturating_add(kept) };
        self.history.push(done);
    }

    /// Ends the game because its agenda is empty. This is not an action: it is recorded with the last one.
    pub(crate) fn end_for_want_of_entries(&mut self) {
        self.context.state.finish(NOTHING_LEFT.into());
        let changes = self.context.state.settle();
        // Popped and pushed again, so that the history counts this action as changed since it was last kept.
        if let Some(mut done) = self.history.pop() {
            done.changes.extend(&changes);
            done.ended = true;
            self.history.push(done);
        }
    }
}

/// Estimates the bytes stored for an action.
fn kept_bytes(open: &Open, changes: &[Change]) -> usize {
    const EACH: usize = 128;
    let told = open.events.iter().map(|event| {
        EACH + match &event.happening {
            Happening::Said { text } | Happening::Notice { text } => text.len(),
            Happening::Rolled { label, faces, .. } => label.len() + 4 * faces.len(),
            Happening::Changed { text, .. } => 2 * text.len(),
            // Their texts are short.
            Happening::Answered { .. }
            | Happening::Spawned { .. }
            | Happening::Removed { .. }
            | Happening::Edited { .. }
            | Happening::Cut { .. }
            | Happening::Over { .. }
            | Happening::Back { .. }
            | Happening::Aside { .. }
            | Happening::Withdrawn { .. } => 0,
        }
    });
    let rolled = open.tape.slots.iter().flatten().map(|slot| match slot {
        Slot::Roll { faces, .. } => EACH + 4 * faces.len(),
        Slot::Answer { .. } | Slot::Closed { .. } => 2 * EACH,
    });
    let changed = changes.iter().map(Change::weight);
    told.chain(rolled).chain(changed).sum::<usize>() + 2 * EACH
}

/// Computes the keys of entries whose ruleset declares how.
fn renew_keys(context: &mut ActionContext, vm: &mut dyn Machine) -> Result<(), Fault> {
    if context.rules.computes_keys() { vm.renew_keys(context) } else { Ok(()) }
}

/// Runs the scripts of an action. `has_keys`: the keys of entries are already computed.
fn perform(
    context: &mut ActionContext,
    scenario: &Value,
    vm: &mut dyn Machine,
    cause: &Cause,
    has_keys: bool,
) -> Result<Value, Fault> {
    context.run.before_script = context.knowledge.dealt;
    context.run.in_last_call = !matches!(cause, Cause::Entry { .. });
    context.run.entry_key = None;
    context.answers.acts_for = match cause {
        Cause::Free { seat, .. } => Some(seat.clone()),
        _ => None,
    };
    match cause {
        Cause::Start => vm.call(context, &Call::Start { scenario }),
        Cause::Free { seat, name } if leaves_out(context, name, |_| Audience::named(seat)) => Ok(Value::None),
        Cause::Free { seat, name } => vm.call(context, &Call::Free { seat, name }),
        Cause::Edit { .. } | Cause::Reload { .. } | Cause::Rules { .. } => Ok(Value::None),
        Cause::Entry { id, .. } => {
            if !has_keys {
                renew_keys(context, vm)?;
            }
            let id = vm.settle_tie(context, *id)?;
            if let Some(entry) = context.state.agenda().get(id).filter(|entry| entry.recurs_too_far()) {
                let message = format!("`{}` recurs at a key beyond {LARGEST_NUMBER}", entry.what);
                let cure = Some("let it recur in smaller steps, or cancel it before".into());
                return Err(Fault { cure, ..Fault::new(message) });
            }
            match context.state.take_entry(id) {
                None => Ok(Value::None),
                Some(entry) if leaves_out(context, &entry.what, |context| owners_audience(context, entry.owner)) => {
                    Ok(Value::None)
                }
                Some(entry) => {
                    context.run.before_script = context.state.since(0).len();
                    context.run.in_last_call = true;
                    context.run.entry_key = Some(entry.key);
                    let Due { what, owner, args, .. } = &*entry.due;
                    vm.call(context, &Call::Entry { what, owner: *owner, args, key: entry.key })
                }
            }
        }
    }
}

/// True if the game master has disabled an entry or a free act. Then also adds a notice to the log.
fn leaves_out(context: &mut ActionContext, name: &str, audience: impl FnOnce(&ActionContext) -> Audience) -> bool {
    let out = context.state.left_out().contains(name);
    if out {
        let audience = audience(context);
        context.tell(Happening::Notice { text: format!("`{name}` is disabled") }, audience);
    }
    out
}

/// The audience of an agenda entry: the viewers who see its owner.
fn owners_audience(context: &ActionContext, owner: Option<EntityId>) -> Audience {
    owner.map_or(Audience::Everybody, |id| context.state.audience(context.rules.schema(), id))
}
