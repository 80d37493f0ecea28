use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use super::action::{Cause, Done, Open};
use super::fault_context::{card_of, fault_context};
use super::headless::Current;
use super::history::History;
use super::migration::Pending;
use super::reload::FirstRules;
use super::stream::{Note, Stream};
use super::undo::{Op, last_seq_of};
use super::{
    ActionContext, Answer, By, Call, Event, Fault, Happening, Headless, MASTER, Machine, Phase, PolicyAct, Question,
    QuestionId, Refusal, Remedy, Setup, Slot, Stop,
};
use crate::state::{Audience, Change, Entry, State, Value};

/// A game under way: the context that scripts work on, what has been done, what is open, and what was undone.
///
/// It is plain data; a script machine is lent to it for each call that runs scripts.
pub(crate) struct Game {
    pub context: ActionContext,
    pub setup: Arc<Setup>,
    /// The scenario as a table.
    pub scenario: Value,
    pub history: History,
    pub open: Option<Open>,
    /// Actions put aside for a free act that came before them.
    pub(super) held: Vec<Open>,
    /// Free acts that wait until the open action is done.
    pub(super) queued: VecDeque<(Arc<str>, Arc<str>, u32)>,
    pub(super) redo: Vec<Op>,
    /// Rules that are to come into force at the next boundary.
    pub(super) pending: Option<Pending>,
    pub(super) outbox: Vec<Event>,
    pub(super) stream: Stream,
    /// What was said beside the log since the stream was told last.
    asides: Vec<Event>,
    pub(super) next_number: u32,
    pub(super) next_seq: u32,
    /// Policies have been asked for free acts since the last entry.
    asked_policies: bool,
    /// Entries run since the last roll, question or outcome.
    pub(super) idle: u32,
    /// Actions done since a person last decided something.
    pub(super) unasked: u64,
    /// Bytes that were kept since then.
    pub(super) unasked_bytes: usize,
    /// Questions of the last few actions that nobody was asked, since only one answer was possible.
    autos: VecDeque<(u32, Vec<(Question, Answer)>)>,
    /// Why the last answer did not stand, where its question's own check said so.
    pub refused: Option<Refusal>,
    /// Actions that have been carried out.
    pub actions: u64,
    pub first_rules: Option<FirstRules>,
    /// The last decision before what is in memory: an undo goes no further. What comes before it is in a file.
    pub(super) horizon: u32,
}

/// Where a game stands after running on.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Halt {
    Ask,
    Fault(Fault),
    Over(String),
    /// The budget of actions that the caller gave is used up.
    Paused,
    /// Here the rules come into force that were asked for.
    Boundary,
}

/// After so many entries in a row without a roll, a question or an outcome, the game is taken to turn in circles.
const IDLE_ENTRIES: u32 = 10_000;

/// After so many entries in a row without a decision by a person, the game is taken to be endless.
const UNASKED_ENTRIES: u64 = 100_000;

/// The same for bytes that the game keeps of what it told, rolled and changed, by a rough count.
const UNASKED_BYTES: usize = 64 << 20;

impl Game {
    pub fn new(context: ActionContext, setup: Arc<Setup>, scenario: Value) -> Game {
        let before = context.position();
        Game {
            context,
            setup,
            scenario,
            history: History::default(),
            open: Some(Open::new(1, Cause::Start, before)),
            held: Vec::new(),
            queued: VecDeque::new(),
            redo: Vec::new(),
            pending: None,
            outbox: Vec::new(),
            stream: Stream::default(),
            asides: Vec::new(),
            next_number: 2,
            next_seq: 1,
            asked_policies: false,
            idle: 0,
            unasked: 0,
            unasked_bytes: 0,
            autos: VecDeque::new(),
            refused: None,
            actions: 0,
            first_rules: None,
            horizon: 0,
        }
    }

    // Running on

    /// Plays until somebody must decide, a script fails, the game is over, or `limit` actions are done.
    pub fn advance(&mut self, vm: &mut dyn Machine, limit: u64) -> Halt {
        self.advance_to(vm, limit, None)
    }

    /// The same; it also pauses where an entry `boundary` is due, once something has been done.
    pub fn advance_to(&mut self, vm: &mut dyn Machine, limit: u64, boundary: Option<&Arc<str>>) -> Halt {
        let began = self.actions;
        let until = self.actions.saturating_add(limit);
        let bounded = |game: &Game| {
            let due = game.context.state.agenda().first().map(|due| &due.what);
            game.actions > began && boundary.is_some() && due == boundary
        };
        loop {
            if self.pending.is_some() && self.at_boundary() {
                return Halt::Boundary;
            }
            if let Some(open) = &self.open {
                if let Some(fault) = &open.fault {
                    return Halt::Fault(fault.clone());
                }
                if open.ran && !open.questions.is_empty() {
                    return Halt::Ask;
                }
            } else if let Some(outcome) = self.context.state.outcome() {
                return Halt::Over(outcome.to_string());
            } else if self.actions >= until || bounded(self) {
                return Halt::Paused;
            } else if self.runs_on(vm) {
                if let Some(standing) = self.run_on(vm, until, boundary) {
                    return standing;
                }
                continue;
            } else if let Err(fault) = self.open_next(vm) {
                return Halt::Fault(fault);
            }
            self.run(vm);
        }
    }

    /// Whether the next actions can be done one after the other inside the script machine.
    fn runs_on(&self, vm: &dyn Machine) -> bool {
        self.held.is_empty()
            && self.queued.is_empty()
            && self.idle < IDLE_ENTRIES
            && self.unasked < UNASKED_ENTRIES
            && self.context.can_run_headless()
            && self.context.state.agenda().first().is_some()
            && vm.runs_on(&self.context)
    }

    /// Runs entry after entry inside the script machine; `None` where something is next that is not done there.
    fn run_on(&mut self, vm: &mut dyn Machine, until: u64, boundary: Option<&Arc<str>>) -> Option<Halt> {
        let left = (until - self.actions).min(UNASKED_ENTRIES.saturating_sub(self.unasked));
        let headless = Headless::new(left, boundary.cloned(), self.idle, IDLE_ENTRIES);
        let context = &mut self.context;
        context.phase = Phase::Play;
        context.stop = None;
        context.at_start = false;
        context.headless = Some(headless);
        let result = vm.run_on(context);
        let stop = context.stop.take();
        let headless = context.headless.take()?;
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
            // Somebody sits there after all: the action is done again, and waits.
            (Ok(()), Some(current)) if matches!(stop, Some(Stop::Question)) => {
                self.open = Some(self.begin_again(current));
                None
            }
            // The action was cut short by its own script: what it has changed stands.
            (Ok(()), Some(_)) => {
                context.state.settle_unread();
                context.observers.counts.iter_mut().for_each(|counts| drop(counts.end_action()));
                self.actions += 1;
                self.next_number += 1;
                None
            }
            (Err(fault), None) => Some(Halt::Fault(fault)),
            (Err(fault), Some(current)) => {
                let mut open = self.begin_again(current);
                open.fault = Some(Fault { action: Some(words_of(&open.cause)), ..fault });
                let standing = open.fault.clone().map(Halt::Fault);
                self.open = Some(open);
                standing
            }
        }
    }

    /// Takes back what an action has done while the game ran on, and opens it.
    fn begin_again(&mut self, current: Current) -> Open {
        self.context.state.rollback(0);
        self.context.observers.counts.iter_mut().for_each(|counts| counts.drop_action());
        self.context.set_position(current.before);
        let Entry { id, what, owner, .. } = current.entry;
        self.fresh(Cause::Entry { id, what, owner })
    }

    /// Opens the next action: a held one, a queued free act, or the first entry of the agenda.
    fn open_next(&mut self, vm: &mut dyn Machine) -> Result<(), Fault> {
        if let Some(open) = self.held.pop() {
            self.open = Some(open);
            return Ok(());
        }
        if let Some((seat, name, seq)) = self.queued.pop_front() {
            self.open_free(seat, name, Some(seq));
            return Ok(());
        }
        if !std::mem::replace(&mut self.asked_policies, true)
            && let Some(PolicyAct { seat, name }) = vm.policy_act(&mut self.context)?
        {
            self.open_free(seat, name, None);
            return Ok(());
        }
        self.asked_policies = false;
        self.renew_keys(vm)?;
        let Some(entry) = self.context.state.agenda().first() else {
            self.context.state.finish("nothing is left to do".into());
            let changes = self.context.state.settle();
            self.commit_with_last(changes);
            return Ok(());
        };
        let cause = Cause::Entry { id: entry.id, what: entry.what.clone(), owner: entry.owner };
        let what = entry.what.clone();
        self.open = Some(self.fresh(cause));
        self.idle += 1;
        self.unasked += 1;
        if let Some(fault) = self.endless(&what)
            && let Some(open) = &mut self.open
        {
            open.fault = Some(fault);
        }
        Ok(())
    }

    /// The fault of a game that goes on without end, and counts anew from there.
    fn endless(&mut self, what: &Arc<str>) -> Option<Fault> {
        let (message, cure) = if self.idle > IDLE_ENTRIES {
            (
                format!(
                    "{IDLE_ENTRIES} agenda entries ran without a roll, a question or an outcome; the next is `{what}`"
                ),
                "an entry that schedules itself again must ask, roll or end the game some time",
            )
        } else if self.unasked > UNASKED_ENTRIES {
            (
                format!("{UNASKED_ENTRIES} agenda entries ran without a decision by a person; the next is `{what}`"),
                "make the game end, or `retry` to let it go on",
            )
        } else if self.unasked_bytes > UNASKED_BYTES {
            (
                format!(
                    "the game keeps {} MiB of what happened without a decision by a person; the next entry is `{what}`",
                    UNASKED_BYTES >> 20
                ),
                "make the game tell and roll less, make it end, or `retry` to let it go on",
            )
        } else {
            return None;
        };
        (self.idle, self.unasked, self.unasked_bytes) = (0, 0, 0);
        let mut fault = Fault::new(message);
        fault.cure = Some(cure.into());
        fault.action = Some(what.clone());
        Some(fault)
    }

    /// Opens the next action without running it. `asked`: policies have been asked for free acts since the last entry. Says whether
    /// they have been asked now.
    pub fn open_for_exploring(&mut self, vm: &mut dyn Machine, asked: bool) -> Result<bool, Fault> {
        self.asked_policies = asked;
        self.open_next(vm)?;
        Ok(self.asked_policies)
    }

    fn fresh(&mut self, cause: Cause) -> Open {
        Open::new(self.take_number(), cause, self.context.position())
    }

    pub(super) fn take_number(&mut self) -> u32 {
        self.next_number += 1;
        self.next_number - 1
    }

    fn open_free(&mut self, seat: Arc<str>, name: Arc<str>, seq: Option<u32>) {
        let mut open = self.fresh(Cause::Free { seat, name });
        open.seq = seq;
        self.open = Some(open);
    }

    /// Works the keys of entries anew whose ruleset computes them before each pop.
    fn renew_keys(&mut self, vm: &mut dyn Machine) -> Result<(), Fault> {
        if !self.context.rules.computes_keys() {
            return Ok(());
        }
        let entries: Vec<_> = self.context.state.agenda().entries().iter().cloned().collect();
        for entry in entries {
            if let Some(key) = vm.key_of(&mut self.context, &entry)?
                && key != entry.key
            {
                self.context.state.rekey(entry.id, key);
            }
        }
        let changes = self.context.state.settle();
        self.commit_with_last(changes);
        Ok(())
    }

    /// Runs the open action from its start.
    fn run(&mut self, vm: &mut dyn Machine) {
        let Some(mut open) = self.open.take() else { return };
        if open.fault.is_some() {
            self.open = Some(open);
            return;
        }
        if std::mem::take(&mut open.recorded)
            && matches!(open.cause, Cause::Entry { .. })
            && let Err(fault) = self.renew_keys(vm)
        {
            open.fault = Some(fault);
            self.open = Some(open);
            return;
        }
        let context = &mut self.context;
        if open.ran {
            context.state.rollback(0);
        }
        context.observers.counts.iter_mut().for_each(|counts| counts.drop_action());
        context.action = open.number;
        context.tape = std::mem::take(&mut open.tape);
        context.cursor = 0;
        context.tape_end = context.position();
        context.phase = Phase::Play;
        context.at_start = open.cause == Cause::Start;
        context.stop = None;
        context.forget_run();
        context.dropped = None;
        let pulse = context.pulse;
        open.ran = true;

        let result = catch_unwind(AssertUnwindSafe(|| perform(context, &self.scenario, vm, &open.cause)));
        let result = result.unwrap_or_else(|_| {
            vm.discard();
            let mut fault = Fault::new("the host itself failed while the action ran; the action is taken back");
            (fault.cure, fault.fatal) = (Some("please report this with the script".into()), true);
            Err(fault)
        });

        open.tape = std::mem::take(&mut context.tape);
        open.questions = std::mem::take(&mut context.questions);
        open.rolled_for = context.rolled_for.take();
        if context.pulse != pulse || context.state.outcome().is_some() {
            self.idle = 0;
        }
        let dropped = context.dropped.take();
        let unread = context.stop.is_none() && context.cursor < open.tape.slots.len();
        if std::mem::take(&mut open.renewed) && result.is_ok() && (dropped.is_some() || unread) {
            return self.start_again(open);
        }
        for (seq, op) in context.early.take_decisions().collect::<Vec<_>>() {
            self.next_seq = seq;
            self.did(op);
        }
        let context = &mut self.context;
        if context.listening {
            self.autos.retain(|(number, _)| *number != open.number);
            self.autos.push_back((open.number, std::mem::take(&mut context.autos)));
            if self.autos.len() > 16 {
                self.autos.pop_front();
            }
        }
        match (result, context.stop.take()) {
            (Err(fault), _) => {
                self.refused = context.contradicted.take().or(self.refused.take());
                context.state.rollback(0);
                // What was drawn and is not on the tape is drawn again.
                context.set_position(context.tape_end);
                open.ran = false;
                open.events.clear();
                open.questions.clear();
                let (card, lines) = (card_of(&context.rules, &fault), fault_context(context, &open));
                open.fault = Some(Fault { action: Some(words_of(&open.cause)), card, context: lines, ..fault });
                self.open = Some(open);
            }
            (Ok(_), Some(Stop::Refused { ordinal, reason })) => {
                context.state.rollback(0);
                open.ran = false;
                open.questions.clear();
                let slot = open.tape.slots.get(ordinal).and_then(Option::as_ref);
                let seq = slot.and_then(Slot::seq);
                let asked = match slot {
                    Some(Slot::Answer { seat, .. }) => Audience::named(seat),
                    _ => Audience::Everybody,
                };
                if let Some(position) = open.tape.cut(ordinal) {
                    context.set_position(position);
                }
                // It was no decision: it is not there to be undone.
                self.next_seq = seq.unwrap_or(self.next_seq);
                self.open = Some(open);
                self.notice_to(&reason, asked);
                self.refused = Some(Refusal::new(reason));
            }
            (Ok(_), Some(Stop::Question)) => {
                // Nothing beyond what is open now can have been answered: places left by questions that are no more asked.
                if let Some(position) = open.tape.cut(context.cursor.min(open.tape.slots.len())) {
                    context.set_position(position);
                }
                let events = std::mem::take(&mut context.events);
                open.private = context.take_private();
                self.pass_on(&mut open, events);
                self.open = Some(open);
            }
            (Ok(_), stop) => {
                context.tell_untold(true);
                if let Some(Stop::Cut(reason)) = stop {
                    context.tell(Happening::Cut { reason }, Audience::Everybody);
                }
                // What the tape holds beyond the last thing asked for belongs to another course of the action.
                if let Some(position) = open.tape.cut(context.cursor.min(open.tape.slots.len())) {
                    context.set_position(position);
                }
                if let Some(outcome) = context.state.outcome() {
                    let text = outcome.to_string();
                    context.tell(Happening::Over { text }, Audience::Everybody);
                }
                let events = std::mem::take(&mut context.events);
                open.private = context.take_private();
                self.pass_on(&mut open, events);
                self.commit(open);
            }
        }
        if dropped.is_some() {
            self.notice("the action went another way than before: what no longer fits was dropped from its tape");
        }
    }

    /// The same moment as a game of its own, silent and without memory: nothing that is done there reaches this one.
    ///
    /// What was answered and rolled in the open action stays, up to the first question that is open.
    pub fn fork(&self) -> Game {
        self.fork_onto(self.context.state.before_journal())
    }

    /// The same over a state that is a copy of its own.
    pub fn fork_onto(&self, state: State) -> Game {
        let from = &self.context;
        let mut context =
            ActionContext::new(&from.rules, from.switches.clone(), from.seats.clone(), from.dice.clone(), 0);
        context.state = state;
        context.chance = from.chance.clone();
        context.written = from.written;
        context.masked = from.masked.clone();
        context.listening = false;
        let mut game = Game::new(context, self.setup.clone(), self.scenario.clone());
        let copy = |open: &Open| {
            let mut copy = Open::new(open.number, open.cause.clone(), open.before);
            let known = open.tape.slots.iter().take_while(|slot| slot.is_some());
            copy.tape.slots = known.cloned().collect();
            copy
        };
        game.open = self.open.as_ref().map(copy);
        game.held = self.held.iter().map(copy).collect();
        game.queued = self.queued.clone();
        game.next_number = self.next_number;
        game.next_seq = self.next_seq;
        game.context.keeps_tape = false;
        game
    }

    /// Runs the open action from its start as far as it comes; whoever calls looks at the context and takes it back.
    pub fn attempt(&mut self, vm: &mut dyn Machine) -> Result<(), Fault> {
        let context = &mut self.context;
        context.state.rollback(0);
        let Some(open) = &self.open else { return Ok(()) };
        context.action = open.number;
        context.tape.clone_from(&open.tape);
        context.cursor = 0;
        context.phase = Phase::Play;
        context.stop = None;
        context.forget_run();
        let cause = open.cause.clone();
        perform(context, &self.scenario, vm, &cause).map(|_| ())
    }

    /// Sends out the events of a run that the last run of the same action has not told.
    fn pass_on(&mut self, open: &mut Open, events: Vec<Event>) {
        let same = open.events.iter().zip(&events).take_while(|(old, new)| old == new).count();
        if same < open.events.len() {
            let happening = Happening::Withdrawn { from: same as u32 };
            self.outbox.push(Event { action: open.number, n: same as u32, audience: Audience::Everybody, happening });
        }
        self.outbox.extend(events[same..].iter().cloned());
        open.events = events;
    }

    fn commit(&mut self, open: Open) {
        self.actions += 1;
        self.context.observers.counts.iter_mut().for_each(|counts| drop(counts.end_action()));
        if !self.context.keeps_tape {
            self.context.state.settle_unread();
            return;
        }
        let changes = self.context.state.settle();
        let kept = kept_bytes(&open, changes.len());
        self.unasked_bytes = self.unasked_bytes.saturating_add(kept);
        self.history.push(Done {
            number: open.number,
            cause: open.cause,
            tape: open.tape,
            before: open.before,
            seq: open.seq,
            skipped: open.fault.map(|fault| fault.message),
            changes,
            events: open.events,
            private: open.private,
            swap: None,
        });
    }

    /// Notes changes that belong to no action of their own with the last one.
    fn commit_with_last(&mut self, changes: Vec<Change>) {
        if let Some(done) = self.history.last_mut() {
            done.changes.extend(changes);
        }
    }

    /// Sends an event out.
    pub(super) fn tell(&mut self, event: Event) {
        if self.context.listening {
            self.outbox.push(event);
        }
    }

    pub(super) fn next_decision(&self) -> u32 {
        self.next_seq
    }

    /// The number of the next decision, which is taken.
    pub(super) fn take_seq(&mut self) -> u32 {
        (self.unasked, self.unasked_bytes) = (0, 0);
        self.next_seq += 1;
        self.next_seq - 1
    }

    pub(super) fn has_queued(&self) -> bool {
        !self.queued.is_empty()
    }

    pub fn notice(&mut self, text: &str) {
        self.notice_to(text, Audience::Everybody);
    }

    /// Says something beside the log.
    pub fn notice_to(&mut self, text: &str, audience: Audience) {
        if self.context.listening {
            let action = self.next_number.saturating_sub(1);
            let happening = Happening::Notice { text: text.into() };
            self.outbox.push(Event { action, n: 0, audience: audience.clone(), happening });
            let happening = Happening::Aside { text: text.into() };
            self.asides.push(Event { action, n: 0, audience, happening });
        }
    }

    /// Takes the last action out of the history.
    pub(super) fn pop_done(&mut self) -> Option<Done> {
        let done = self.history.pop()?;
        self.stream.history_cut(self.history.len(), done.events.len());
        Some(done)
    }

    /// Tells every reader of the stream what has changed in the log.
    pub(super) fn publish(&mut self, note: Option<Note>) {
        if !self.context.listening {
            self.asides.clear();
            return;
        }
        let (actions, events) = self.stream.settled();
        let new = &self.history[actions..];
        let settled = (self.history.len(), events + new.iter().map(|done| done.events.len()).sum::<usize>());
        let open = self.open.iter().filter(|open| open.ran).flat_map(|open| &open.events);
        let rest = new.iter().flat_map(|done| &done.events).chain(open);
        self.stream.publish(rest, settled, &mut self.asides, note);
    }

    /// Begins the stream anew with the log as it stands.
    pub fn restart_stream(&mut self) {
        self.stream = Stream::default();
        self.asides.clear();
        self.publish(None);
    }

    // Deciding

    /// Takes an exact answer to an open question.
    pub fn answer(&mut self, id: QuestionId, answer: Answer) -> Result<(), Refusal> {
        let seq = self.next_seq;
        let op = self.take_answer(id, answer, Some(seq))?;
        self.did(op);
        Ok(())
    }

    /// Takes an answer that is nobody's decision, as a policy gives one: no undo stops at it.
    pub fn answer_by_program(&mut self, id: QuestionId, answer: Answer) -> Result<(), Refusal> {
        self.take_answer(id, answer, None).map(|_| self.unasked = 0)
    }

    /// Puts an answer on the tape; `seq` is the number of the decision, if it is one.
    fn take_answer(&mut self, id: QuestionId, answer: Answer, seq: Option<u32>) -> Result<Op, Refusal> {
        let position = self.context.position();
        let Some(open) = self.open.as_mut().filter(|open| open.number == id.action) else {
            return Err(Refusal::Stale { question: id });
        };
        let Some(at) = open.questions.iter().position(|question| question.id == id) else {
            return Err(Refusal::Stale { question: id });
        };
        open.questions[at].check(&answer)?;
        let question = open.questions.remove(at);
        let ordinal = id.ordinal as usize;
        // Until the action runs again nobody else has been told.
        let audience = match answer {
            Answer::Faces(_) => question.audience.clone(),
            _ => Audience::named(&question.seat),
        };
        open.private.insert(id.ordinal, audience);
        let op = Op::answer(&question, &answer);
        let slot = match answer {
            Answer::Faces(mut faces) => {
                let super::Ask::Dice { dice, .. } = question.ask else {
                    return Err(Refusal::WrongType { topic: None, wanted: question.ask.wanted(), given: None });
                };
                let known = match open.tape.slots.get(ordinal) {
                    Some(Some(Slot::Roll { faces, .. })) => faces.clone(),
                    _ => Vec::new(),
                };
                let label = open.rolled_for.clone().unwrap_or_else(|| Arc::from(&*question.why));
                faces.splice(0..0, known);
                Slot::Roll { label, dice, faces, before: position, seq }
            }
            answer => Slot::Answer {
                topic: question.topic,
                seat: question.seat,
                about: question.about,
                answer,
                by: seq.map_or(By::Policy, By::Person),
                before: position,
            },
        };
        while open.tape.slots.len() <= ordinal {
            open.tape.slots.push(None);
        }
        open.tape.slots[ordinal] = Some(slot);
        if question.race {
            // The first answer counts: the others cannot be given any more.
            open.questions.retain(|other| !other.race);
        }
        Ok(op)
    }

    /// After the host itself failed in the middle of something: takes back what was not finished.
    pub fn recover(&mut self) {
        let context = &mut self.context;
        context.state.rollback(0);
        (context.headless, context.explorer, context.stop) = (None, None, None);
        context.events.clear();
        context.questions.clear();
        context.suggest_at = None;
        if let Some(open) = &mut self.open {
            open.ran = false;
            open.questions.clear();
        }
    }

    /// Takes the open action back to its start; its tape stays.
    pub(super) fn park(&mut self) {
        if let Some(open) = &mut self.open {
            if open.ran {
                self.context.state.rollback(0);
                open.ran = false;
            }
            open.fault = None;
            open.questions.clear();
        }
    }

    /// A free act of a seat: before the open action if that has not rolled yet, otherwise after it. One that still asks is
    /// finished first.
    pub fn act(&mut self, seat: Arc<str>, name: Arc<str>) -> Result<(), Refusal> {
        if self.context.state.outcome().is_some() && self.open.is_none() {
            return Err(Refusal::Over);
        }
        if let Some(reason) = self.no_free_act() {
            return Err(Refusal::new(reason));
        }
        let seq = self.next_seq;
        self.did(Op::Free { seat: seat.clone(), name: name.clone() });
        if self.dice_are_cast() {
            self.queued.push_back((seat, name, seq));
            return Ok(());
        }
        self.park();
        if let Some(open) = self.open.take() {
            self.held.push(open);
        }
        self.open_free(seat, name, Some(seq));
        Ok(())
    }

    /// Why no free act can be taken now: one that still asks is finished first.
    pub fn no_free_act(&self) -> Option<String> {
        let Some(Open { cause: Cause::Free { seat, name }, .. }) = &self.open else { return None };
        let acts = self.context.rules.free_acts();
        let title = acts.iter().find(|act| act.name == *name).map_or(&**name, |act| &*act.title);
        Some(format!("{title} ({seat}) comes first: answer what it asks, or undo it"))
    }

    /// Says how the game goes on after a fault.
    pub fn remedy(&mut self, remedy: Remedy) -> Result<(), Refusal> {
        let Some(open) = self.open.as_mut().filter(|open| open.fault.is_some()) else {
            return Err(Refusal::NoFault);
        };
        match remedy {
            Remedy::Retry => {
                open.fault = None;
                Ok(())
            }
            Remedy::SkipAction => {
                if open.cause == Cause::Start {
                    return Err(Refusal::new("the start of a game cannot be skipped; correct the script and `retry`"));
                }
                let mut open = self.open.take().expect("looked at above");
                if let Cause::Entry { id, .. } = &open.cause {
                    self.context.state.take_entry(*id);
                }
                open.seq = Some(self.next_seq);
                open.tape = Default::default();
                // The message of a fault may name what not everybody may know.
                let why = open.fault.as_ref().map_or("", |fault| &fault.message);
                let text = format!("{} is left out: {why}", words_of(&open.cause));
                let audience = if self.context.rules.schema().has_secrets() {
                    Audience::named(MASTER)
                } else {
                    Audience::Everybody
                };
                let event = Event { action: open.number, n: 0, audience, happening: Happening::Notice { text } };
                self.outbox.push(event.clone());
                open.events = vec![event];
                self.commit(open);
                self.did(Op::Skip);
                Ok(())
            }
        }
    }

    /// Says who plays a seat. The open action runs again, so that what it asks goes to the new driver.
    pub fn reseat(&mut self, seat: Arc<str>, driver: super::Driver) {
        self.context.seats.insert(seat, driver);
        self.context.state.renew_identity();
        if let Some(open) = self.open.as_mut().filter(|open| !open.questions.is_empty()) {
            open.questions.clear();
            // Places that wait for an answer at the end of the tape are asked for anew.
            while matches!(open.tape.slots.last(), Some(None)) {
                open.tape.slots.pop();
            }
            self.park();
        }
    }

    /// Checks an answer given to a question of an action that nobody was asked. `None` if there was no such question.
    pub fn fits_auto(&self, action: u32, topic: &str, reply: &Value) -> Option<Result<(), Refusal>> {
        let (_, autos) = self.autos.iter().find(|(number, _)| *number == action)?;
        super::fits_auto(autos, topic, reply)
    }

    /// Whether dice have been rolled in an action, open or done.
    pub fn has_rolled(&self, action: u32) -> bool {
        let open = self.open.iter().find(|open| open.number == action).map(|open| &open.tape);
        let done = self.history.iter().rev().find(|done| done.number == action).map(|done| &done.tape);
        open.or(done).is_some_and(super::Tape::has_roll)
    }

    // Telling

    pub fn take_events(&mut self) -> Vec<Event> {
        std::mem::take(&mut self.outbox)
    }

    /// Everything that stands, in order. What an action told that will run again does not stand until then.
    pub fn log(&self) -> impl Iterator<Item = &Event> {
        let open = self.open.iter().filter(|open| open.ran).flat_map(|open| &open.events);
        self.history.iter().flat_map(|done| &done.events).chain(open)
    }

    /// Whether an action has begun that is not finished: something on its tape, and a question open.
    pub fn in_the_middle(&self) -> bool {
        self.open.as_ref().is_some_and(|open| open.tape.slots.iter().any(Option::is_some))
    }

    /// Whether dice have been rolled in the open action: free acts wait for its end.
    pub fn dice_are_cast(&self) -> bool {
        self.open.as_ref().is_some_and(|open| open.tape.has_roll())
    }

    /// Opens an action with the tape that it was recorded with, and what made it be left out, if it was.
    pub fn open_recorded(&mut self, done: &Done, fault: Option<Fault>) {
        self.count_in(done);
        let mut open = Open::new(done.number, done.cause.clone(), done.before);
        open.tape = done.tape.clone();
        open.seq = done.seq;
        open.fault = fault;
        open.recorded = true;
        self.open = Some(open);
    }

    /// Gives the last thing that was done the numbers that it was recorded with.
    pub fn stamp_last(&mut self, done: &Done) {
        if let Some(last) = self.history.last_mut() {
            last.number = done.number;
            last.seq = done.seq;
            last.before = done.before;
            for event in &mut last.events {
                event.action = done.number;
            }
        }
        self.next_seq = 1;
        self.next_number = 1;
        self.count_in(done);
    }

    fn count_in(&mut self, done: &Done) {
        self.next_number = self.next_number.max(done.number.saturating_add(1));
        self.next_seq = self.next_seq.max(last_seq_of(done).map_or(1, |seq| seq.saturating_add(1)));
    }

    /// What a policy would answer to an open question. Nothing has changed afterwards.
    pub fn suggest(
        &mut self,
        vm: &mut dyn Machine,
        id: QuestionId,
        policy: Arc<str>,
    ) -> Result<Option<Answer>, Refusal> {
        let Some(open) = self.open.as_ref().filter(|open| open.number == id.action) else {
            return Err(Refusal::Stale { question: id });
        };
        let Some(question) = open.questions.iter().find(|question| question.id == id).cloned() else {
            return Err(Refusal::Stale { question: id });
        };
        let (tape, position, outbox) = (open.tape.clone(), self.context.position(), self.outbox.len());
        let (events, ran) = (open.events.clone(), open.ran);
        let driver = self.context.seats.insert(question.seat.clone(), super::Driver::Policy(policy));
        if let Some(open) = &mut self.open {
            // Its place is at the end of the tape, or waits among others: what is behind it is asked anew.
            open.tape.slots.truncate(id.ordinal as usize);
            open.questions.clear();
        }
        self.context.suggest_at = Some(id.ordinal as usize);
        self.context.listening = false;
        self.context.state.renew_identity();
        self.run(vm);
        self.context.listening = true;
        self.context.state.renew_identity();
        self.context.suggest_at = None;
        if let Some(driver) = driver {
            self.context.seats.insert(question.seat.clone(), driver);
        }
        let suggested = self.context.suggested.take();
        let fault = self.open.as_mut().and_then(|open| open.fault.take());
        self.park();
        self.context.set_position(position);
        self.outbox.truncate(outbox);
        if let Some(open) = &mut self.open {
            open.tape = tape;
            open.events = events;
        }
        // A machine that was thrown away runs nothing more: the next call has a new one.
        if ran && !vm.is_dead() {
            self.run(vm);
            self.outbox.truncate(outbox);
        }
        match fault {
            Some(fault) => Err(Refusal::fault(fault)),
            None => Ok(suggested),
        }
    }
}

/// Bytes that are kept of an action, by a rough count.
fn kept_bytes(open: &Open, changes: usize) -> usize {
    const EACH: usize = 128;
    let told = open.events.iter().map(|event| {
        EACH + match &event.happening {
            Happening::Said { text } | Happening::Notice { text } => text.len(),
            Happening::Rolled { label, faces, .. } => label.len() + 4 * faces.len(),
            Happening::Changed { text, .. } => 2 * text.len(),
            _ => 0,
        }
    });
    let rolled = open.tape.slots.iter().flatten().map(|slot| match slot {
        Slot::Roll { faces, .. } => EACH + 4 * faces.len(),
        Slot::Answer { .. } | Slot::Closed { .. } => 2 * EACH,
    });
    told.chain(rolled).sum::<usize>() + EACH * (changes + 2)
}

/// Runs what an action consists of.
fn perform(context: &mut ActionContext, scenario: &Value, vm: &mut dyn Machine, cause: &Cause) -> Result<Value, Fault> {
    context.before_script = 0;
    match cause {
        Cause::Start => vm.call(context, &Call::Start { scenario }),
        Cause::Free { name, .. } if leaves_out(context, name) => Ok(Value::None),
        Cause::Free { seat, name } => vm.call(context, &Call::Free { seat, name }),
        Cause::Edit { .. } | Cause::Reload { .. } | Cause::Rules { .. } => Ok(Value::None),
        Cause::Entry { id, .. } => match vm.settle_tie(context, *id) {
            Err(fault) => Err(fault),
            Ok(id) => match context.state.take_entry(id) {
                None => Ok(Value::None),
                Some(entry) if leaves_out(context, &entry.what) => Ok(Value::None),
                Some(entry) => {
                    context.before_script = context.state.since(0).len();
                    let Entry { what, owner, args, key, .. } = &entry;
                    vm.call(context, &Call::Entry { what, owner: *owner, args, key: *key })
                }
            },
        },
    }
}

/// Whether the game master leaves an entry or a free act out; then that is told.
fn leaves_out(context: &mut ActionContext, name: &str) -> bool {
    let out = context.state.left_out().contains(name);
    if out {
        context.tell(Happening::Notice { text: format!("`{name}` is left out") }, Audience::Everybody);
    }
    out
}

/// The action in words, for messages.
pub(crate) fn words_of(cause: &Cause) -> Arc<str> {
    match cause {
        Cause::Start => Arc::from("the start of the game"),
        Cause::Entry { what, .. } => what.clone(),
        Cause::Free { name, .. } => name.clone(),
        Cause::Edit { .. } => Arc::from("an edit"),
        Cause::Reload { .. } => Arc::from("a reload"),
        Cause::Rules { ruleset, .. } => Arc::from(format!("the change to {ruleset}")),
    }
}
