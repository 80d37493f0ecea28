use std::collections::VecDeque;
use std::sync::Arc;

use super::action::{Cause, Done, Open};
use super::going_over::Pending;
use super::onward::Current;
use super::reload::{FirstRules, InForce, Passed, Swap, with_schemas};
use super::situation::{card_of, situation};
use super::{
    Answer, By, Desk, Edit, Event, Explanation, Fault, Happening, Onward, Phase, Question, QuestionId, Refusal, Remedy,
    Setup, Slot, Stop,
};
use crate::ruleset::Ruleset;
use crate::script::{Call, PolicyAct, Vm};
use crate::state::{Change, EntityId, Entry, FieldId, Schema, State, Value};

/// A game under way: the desk that scripts work on, what has been done, what is open, and what was undone.
///
/// It is plain data; a script machine is lent to it for each call that runs scripts.
pub(crate) struct Game {
    pub desk: Desk,
    pub setup: Arc<Setup>,
    /// The scenario as a table.
    pub scenario: Value,
    pub history: Vec<Done>,
    pub open: Option<Open>,
    /// Actions put aside for a free act that came before them.
    pub(super) held: Vec<Open>,
    /// Free acts that wait until the open action is done.
    queued: VecDeque<(Arc<str>, Arc<str>, u32)>,
    redo: Vec<Op>,
    /// Rules that are to come into force at the next boundary.
    pub(super) pending: Option<Pending>,
    outbox: Vec<Event>,
    next_number: u32,
    pub(super) next_seq: u32,
    /// Policies have been asked for free acts since the last entry.
    asked_policies: bool,
    /// Entries run since the last roll, question or outcome.
    idle: u32,
    /// Questions of the last few actions that nobody was asked, since only one answer was possible.
    autos: VecDeque<(u32, Vec<(Question, Answer)>)>,
    /// Why the last answer did not stand, where its question's own check said so.
    pub refused: Option<String>,
    /// Actions that have been carried out.
    pub actions: u64,
    pub first_rules: Option<FirstRules>,
}

/// What a person did, as it can be done again.
#[derive(Clone, Debug)]
pub(super) enum Op {
    Answer {
        topic: Arc<str>,
        ordinal: u32,
        answer: Answer,
    },
    Edit(Edit),
    Free {
        seat: Arc<str>,
        name: Arc<str>,
    },
    Skip,
    /// Other rules were asked for.
    Rules(Arc<Ruleset>),
}

/// Where a game stands after running on.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Standing {
    Ask,
    Fault(Fault),
    Over(String),
    /// The budget of actions that the caller gave is used up.
    Paused,
    /// Here the rules come into force that were asked for.
    Boundary,
}

/// What an undo or a redo did.
pub(crate) struct Turned {
    pub text: String,
    pub changes: Vec<Happening>,
}

/// After so many entries in a row without a roll, a question or an outcome, the game is taken to turn in circles.
const IDLE_ENTRIES: u32 = 10_000;

impl Game {
    pub fn new(desk: Desk, setup: Arc<Setup>, scenario: Value) -> Game {
        let before = desk.position();
        Game {
            desk,
            setup,
            scenario,
            history: Vec::new(),
            open: Some(Open::new(1, Cause::Start, before)),
            held: Vec::new(),
            queued: VecDeque::new(),
            redo: Vec::new(),
            pending: None,
            outbox: Vec::new(),
            next_number: 2,
            next_seq: 1,
            asked_policies: false,
            idle: 0,
            autos: VecDeque::new(),
            refused: None,
            actions: 0,
            first_rules: None,
        }
    }

    // Running on

    /// Plays until somebody must decide, a script fails, the game is over, or `limit` actions are done.
    pub fn advance(&mut self, vm: &mut Vm, limit: u64) -> Standing {
        self.advance_to(vm, limit, None)
    }

    /// The same; it also pauses where an entry `boundary` is due, once something has been done.
    pub fn advance_to(&mut self, vm: &mut Vm, limit: u64, boundary: Option<&Arc<str>>) -> Standing {
        let began = self.actions;
        let until = self.actions.saturating_add(limit);
        let bounded = |game: &Game| {
            let due = game.desk.state.agenda().first().map(|due| &due.what);
            game.actions > began && boundary.is_some() && due == boundary
        };
        loop {
            if self.pending.is_some() && self.at_boundary() {
                return Standing::Boundary;
            }
            if let Some(open) = &self.open {
                if let Some(fault) = &open.fault {
                    return Standing::Fault(fault.clone());
                }
                if open.ran && !open.questions.is_empty() {
                    return Standing::Ask;
                }
            } else if let Some(outcome) = self.desk.state.outcome() {
                return Standing::Over(outcome.to_string());
            } else if self.actions >= until || bounded(self) {
                return Standing::Paused;
            } else if self.runs_on(vm) {
                if let Some(standing) = self.run_on(vm, until, boundary) {
                    return standing;
                }
                continue;
            } else if let Err(fault) = self.open_next(vm) {
                return Standing::Fault(fault);
            }
            self.run(vm);
        }
    }

    /// Whether the next actions can be done one after the other inside the script machine.
    fn runs_on(&self, vm: &Vm) -> bool {
        self.held.is_empty()
            && self.queued.is_empty()
            && self.idle < IDLE_ENTRIES
            && self.desk.settles_quietly()
            && self.desk.state.agenda().first().is_some()
            && vm.runs_on(&self.desk)
    }

    /// Runs entry after entry inside the script machine; `None` where something is next that is not done there.
    fn run_on(&mut self, vm: &mut Vm, until: u64, boundary: Option<&Arc<str>>) -> Option<Standing> {
        let onward = Onward::new(until - self.actions, boundary.cloned(), self.idle, IDLE_ENTRIES);
        let desk = &mut self.desk;
        desk.phase = Phase::Play;
        desk.stop = None;
        desk.quiet = false;
        desk.onward = Some(onward);
        let result = vm.run_on(desk);
        let stop = desk.stop.take();
        let onward = desk.onward.take()?;
        self.actions += onward.done;
        self.idle = onward.idle;
        self.next_number += onward.done as u32;
        match (result, onward.current) {
            (Ok(()), None) => {
                let due = desk.state.agenda().first();
                let bounded = boundary.is_some_and(|boundary| due.is_some_and(|due| due.what == *boundary));
                (bounded && desk.state.outcome().is_none() && self.actions < until).then_some(Standing::Paused)
            }
            // Somebody sits there after all: the action is done again, and waits.
            (Ok(()), Some(current)) if matches!(stop, Some(Stop::Question)) => {
                self.open = Some(self.begin_again(current));
                None
            }
            // The action was cut short by its own script: what it has changed stands.
            (Ok(()), Some(_)) => {
                desk.state.settle_unread();
                self.actions += 1;
                self.next_number += 1;
                None
            }
            (Err(fault), None) => Some(Standing::Fault(fault)),
            (Err(fault), Some(current)) => {
                let mut open = self.begin_again(current);
                open.fault = Some(Fault { action: Some(words_of(&open.cause)), ..fault });
                let standing = open.fault.clone().map(Standing::Fault);
                self.open = Some(open);
                standing
            }
        }
    }

    /// Takes back what an action has done while the game ran on, and opens it.
    fn begin_again(&mut self, current: Current) -> Open {
        self.desk.state.rollback(0);
        self.desk.set_position(current.before);
        let Entry { id, what, owner, .. } = current.entry;
        self.fresh(Cause::Entry { id, what, owner })
    }

    /// Opens the next action: a held one, a queued free act, or the first entry of the agenda.
    fn open_next(&mut self, vm: &mut Vm) -> Result<(), Fault> {
        if let Some(open) = self.held.pop() {
            self.open = Some(open);
            return Ok(());
        }
        if let Some((seat, name, seq)) = self.queued.pop_front() {
            self.open_free(seat, name, Some(seq));
            return Ok(());
        }
        if !std::mem::replace(&mut self.asked_policies, true)
            && let Some(PolicyAct { seat, name }) = vm.policy_act(&mut self.desk)?
        {
            self.open_free(seat, name, None);
            return Ok(());
        }
        self.asked_policies = false;
        self.renew_keys(vm)?;
        let Some(entry) = self.desk.state.agenda().first() else {
            self.desk.state.finish("nothing is left to do".into());
            let changes = self.desk.state.settle();
            self.commit_quietly(changes);
            return Ok(());
        };
        let cause = Cause::Entry { id: entry.id, what: entry.what.clone(), owner: entry.owner };
        let what = entry.what.clone();
        self.open = Some(self.fresh(cause));
        self.idle += 1;
        if self.idle > IDLE_ENTRIES {
            let mut fault = Fault::new(format!(
                "{IDLE_ENTRIES} agenda entries ran without a roll, a question or an outcome; the next is `{what}`"
            ));
            fault.cure = Some("an entry that schedules itself again must ask, roll or end the game some time".into());
            fault.action = Some(what);
            if let Some(open) = &mut self.open {
                open.fault = Some(fault);
            }
            self.idle = 0;
        }
        Ok(())
    }

    fn fresh(&mut self, cause: Cause) -> Open {
        Open::new(self.take_number(), cause, self.desk.position())
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
    fn renew_keys(&mut self, vm: &mut Vm) -> Result<(), Fault> {
        if !self.desk.rules.computes_keys() {
            return Ok(());
        }
        let entries: Vec<_> = self.desk.state.agenda().entries().iter().cloned().collect();
        for entry in entries {
            if let Some(key) = vm.key_of(&mut self.desk, &entry)?
                && key != entry.key
            {
                self.desk.state.rekey(entry.id, key);
            }
        }
        Ok(())
    }

    /// Runs the open action from its start.
    fn run(&mut self, vm: &mut Vm) {
        self.desk.origin = None;
        let Some(mut open) = self.open.take() else { return };
        if open.fault.is_some() {
            self.open = Some(open);
            return;
        }
        let desk = &mut self.desk;
        if open.ran {
            desk.state.rollback(0);
        }
        desk.action = open.number;
        desk.tape = std::mem::take(&mut open.tape);
        desk.cursor = 0;
        desk.phase = Phase::Play;
        desk.quiet = open.cause == Cause::Start;
        desk.stop = None;
        desk.events.clear();
        desk.questions.clear();
        desk.autos.clear();
        desk.dropped = None;
        let pulse = desk.pulse;
        open.ran = true;

        let result = perform(desk, &self.scenario, vm, &open.cause);

        open.tape = std::mem::take(&mut desk.tape);
        open.questions = std::mem::take(&mut desk.questions);
        open.rolled_for = desk.rolled_for.take();
        if desk.pulse != pulse || desk.state.outcome().is_some() {
            self.idle = 0;
        }
        let dropped = desk.dropped.take();
        let unread = desk.stop.is_none() && desk.cursor < open.tape.slots.len();
        if std::mem::take(&mut open.renewed) && result.is_ok() && (dropped.is_some() || unread) {
            return self.start_again(open);
        }
        if desk.listening {
            self.autos.retain(|(number, _)| *number != open.number);
            self.autos.push_back((open.number, std::mem::take(&mut desk.autos)));
            if self.autos.len() > 16 {
                self.autos.pop_front();
            }
        }
        match (result, desk.stop.take()) {
            (Err(fault), _) => {
                self.refused = desk.contradicted.take().map(|refusal| refusal.message).or(self.refused.take());
                desk.state.rollback(0);
                open.ran = false;
                open.events.clear();
                open.questions.clear();
                let (card, situation) = (card_of(&desk.rules, &fault), situation(desk, &open));
                open.fault = Some(Fault { action: Some(words_of(&open.cause)), card, situation, ..fault });
                self.open = Some(open);
            }
            (Ok(_), Some(Stop::Refused { ordinal, reason })) => {
                desk.state.rollback(0);
                open.ran = false;
                open.questions.clear();
                let seq = open.tape.slots.get(ordinal).and_then(Option::as_ref).and_then(Slot::seq);
                if let Some(position) = open.tape.cut(ordinal) {
                    desk.set_position(position);
                }
                // It was no decision: it is not there to be undone.
                self.next_seq = seq.unwrap_or(self.next_seq);
                self.open = Some(open);
                self.notice(&reason);
                self.refused = Some(reason);
            }
            (Ok(_), Some(Stop::Question)) => {
                // Nothing beyond what is open now can have been answered: places left by questions that are no more asked.
                if let Some(position) = open.tape.cut(desk.cursor.min(open.tape.slots.len())) {
                    desk.set_position(position);
                }
                let events = std::mem::take(&mut desk.events);
                self.pass_on(&mut open, events);
                self.open = Some(open);
            }
            (Ok(_), stop) => {
                if let Some(Stop::Cut(reason)) = stop {
                    desk.tell(Happening::Cut { reason }, None);
                }
                // What the tape holds beyond the last thing asked for belongs to another course of the action.
                if let Some(position) = open.tape.cut(desk.cursor.min(open.tape.slots.len())) {
                    desk.set_position(position);
                }
                if let Some(outcome) = desk.state.outcome() {
                    let text = outcome.to_string();
                    desk.tell(Happening::Over { text }, None);
                }
                let events = std::mem::take(&mut desk.events);
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
        self.fork_onto(self.desk.state.before_journal())
    }

    /// The same over a state that is a copy of its own.
    pub fn fork_onto(&self, state: State) -> Game {
        let from = &self.desk;
        let mut desk = Desk::new(&from.rules, from.switches.clone(), from.seats.clone(), from.dice.clone(), 0);
        desk.state = state;
        desk.chance = from.chance.clone();
        desk.written = from.written;
        desk.listening = false;
        let mut game = Game::new(desk, self.setup.clone(), self.scenario.clone());
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
        game.desk.keeps_tape = false;
        game
    }

    /// Runs the open action from its start as far as it comes; whoever calls looks at the desk and takes it back.
    pub fn attempt(&mut self, vm: &mut Vm) -> Result<(), Fault> {
        let desk = &mut self.desk;
        desk.state.rollback(0);
        let Some(open) = &self.open else { return Ok(()) };
        desk.action = open.number;
        desk.tape.clone_from(&open.tape);
        desk.cursor = 0;
        desk.phase = Phase::Play;
        desk.stop = None;
        desk.events.clear();
        desk.questions.clear();
        desk.autos.clear();
        let cause = open.cause.clone();
        perform(desk, &self.scenario, vm, &cause).map(|_| ())
    }

    /// Sends out the events of a run that the last run of the same action has not told.
    fn pass_on(&mut self, open: &mut Open, events: Vec<Event>) {
        let same = open.events.iter().zip(&events).take_while(|(old, new)| old == new).count();
        if same < open.events.len() {
            let happening = Happening::Withdrawn { from: same as u32 };
            self.outbox.push(Event { action: open.number, n: same as u32, audience: None, happening });
        }
        self.outbox.extend(events[same..].iter().cloned());
        open.events = events;
    }

    fn commit(&mut self, open: Open) {
        self.actions += 1;
        if !self.desk.keeps_tape {
            self.desk.state.settle_unread();
            return;
        }
        let changes = self.desk.state.settle();
        self.history.push(Done {
            number: open.number,
            cause: open.cause,
            tape: open.tape,
            before: open.before,
            seq: open.seq,
            skipped: open.fault.map(|fault| fault.message),
            changes,
            events: open.events,
            swap: None,
        });
    }

    /// Notes changes that belong to no action of their own with the last one.
    fn commit_quietly(&mut self, changes: Vec<Change>) {
        if let Some(done) = self.history.last_mut() {
            done.changes.extend(changes);
        }
    }

    /// Sends an event out.
    pub(super) fn tell(&mut self, event: Event) {
        if self.desk.listening {
            self.outbox.push(event);
        }
    }

    /// The number of the next decision, which is taken.
    pub(super) fn take_seq(&mut self) -> u32 {
        self.next_seq += 1;
        self.next_seq - 1
    }

    pub(super) fn has_queued(&self) -> bool {
        !self.queued.is_empty()
    }

    pub fn notice(&mut self, text: &str) {
        if self.desk.listening {
            let action = self.next_number.saturating_sub(1);
            let happening = Happening::Notice { text: text.into() };
            self.outbox.push(Event { action, n: 0, audience: None, happening });
        }
    }

    // Deciding

    /// Takes an exact answer to an open question.
    pub fn answer(&mut self, id: QuestionId, answer: Answer) -> Result<(), Refusal> {
        let seq = self.next_seq;
        let position = self.desk.position();
        let Some(open) = self.open.as_mut().filter(|open| open.number == id.action) else {
            return Err(Refusal::new(format!("question {id} is not open any more")));
        };
        let Some(at) = open.questions.iter().position(|question| question.id == id) else {
            return Err(Refusal::new(format!("question {id} is not open")));
        };
        open.questions[at].check(&answer)?;
        let question = open.questions.remove(at);
        let ordinal = id.ordinal as usize;
        let op = Op::Answer { topic: question.topic.clone(), ordinal: id.ordinal, answer: answer.clone() };
        let slot = match answer {
            Answer::Faces(mut faces) => {
                let super::Ask::Dice { dice, .. } = question.ask else {
                    return Err(Refusal::new("faces answer a roll"));
                };
                let known = match open.tape.slots.get(ordinal) {
                    Some(Some(Slot::Roll { faces, .. })) => faces.clone(),
                    _ => Vec::new(),
                };
                let label = open.rolled_for.clone().unwrap_or_else(|| Arc::from(&*question.why));
                faces.splice(0..0, known);
                Slot::Roll { label, dice, faces, before: position, seq: Some(seq) }
            }
            answer => Slot::Answer {
                topic: question.topic,
                seat: question.seat,
                about: question.about,
                answer,
                by: By::Person(seq),
                before: position,
            },
        };
        while open.tape.slots.len() <= ordinal {
            open.tape.slots.push(None);
        }
        open.tape.slots[ordinal] = Some(slot);
        self.did(op);
        Ok(())
    }

    /// Notes that a person did something: it counts, and what was undone before is forgotten unless it is the same again.
    fn did(&mut self, op: Op) {
        self.next_seq += 1;
        match (self.redo.last(), &op) {
            (Some(Op::Answer { ordinal, answer, .. }), Op::Answer { ordinal: now, answer: given, .. })
                if ordinal == now && answer == given =>
            {
                self.redo.pop();
            }
            _ => self.redo.clear(),
        }
    }

    /// Notes that other rules were asked for: what was undone before is forgotten.
    pub(super) fn forget_undone(&mut self) {
        self.redo.clear();
    }

    pub(super) fn push_redo(&mut self, op: Op) {
        self.redo.push(op);
    }

    /// The game master changes something by hand, before the open action, which will run again.
    pub fn edit(&mut self, edit: Edit) -> Result<(), Refusal> {
        self.may_edit(&edit)?;
        self.park();
        let before = matches!(edit, Edit::Switch { .. }).then(|| Box::new(self.as_it_stands()));
        let outcome = self.carry_out(&edit);
        let seq = self.next_seq;
        match outcome {
            Err(refusal) => {
                self.desk.state.rollback(0);
                Err(refusal)
            }
            Ok(happenings) => {
                let number = self.next_number;
                self.next_number += 1;
                let changes = self.desk.state.settle();
                let events: Vec<Event> = happenings
                    .into_iter()
                    .enumerate()
                    .map(|(n, happening)| Event { action: number, n: n as u32, audience: None, happening })
                    .collect();
                self.outbox.extend(events.iter().cloned());
                self.history.push(Done {
                    number,
                    cause: Cause::Edit { edit: edit.clone() },
                    tape: Default::default(),
                    before: self.desk.position(),
                    seq: Some(seq),
                    skipped: None,
                    changes,
                    events,
                    swap: before,
                });
                self.did(Op::Edit(edit));
                Ok(())
            }
        }
    }

    /// Refuses an edit that names nothing that is there, before anything is touched.
    fn may_edit(&self, edit: &Edit) -> Result<(), Refusal> {
        let state = &self.desk.state;
        match edit {
            Edit::Set { entity, field, value } => {
                let rules = &self.desk.rules;
                let Some(found) = state.entity(*entity) else {
                    return Err(Refusal::new(format!("{entity} is not there")));
                };
                let kind = rules.schema().kind(found.kind);
                let Some(id) = kind.field_named(field) else {
                    let names = kind.fields.iter().map(|field| &*field.name);
                    let near = crate::ruleset::nearest(field, names.clone());
                    return Err(Refusal::new(match near {
                        Some(near) => format!("a {} has no field `{field}`; did you mean `{near}`?", kind.name),
                        None => format!(
                            "a {} has no field `{field}`; it has {}",
                            kind.name,
                            names.collect::<Vec<_>>().join(", ")
                        ),
                    }));
                };
                let ty = &kind.field(id).ty;
                ty.check(&ty.settle(value.clone()), rules.schema(), state)
                    .map_err(|error| Refusal::new(format!("{field} {error}")))
            }
            Edit::Remove { entity } if state.entity(*entity).is_none() => {
                Err(Refusal::new(format!("{entity} is not there")))
            }
            Edit::Cancel { entry } if state.agenda().get(*entry).is_none() => {
                Err(Refusal::new(format!("there is no agenda entry {}", entry.0)))
            }
            Edit::Face { ordinal, faces } => {
                let open = self.open.as_ref();
                let slot = open.and_then(|open| open.tape.slots.get(*ordinal as usize)?.as_ref());
                let Some(Slot::Roll { dice, .. }) = slot else {
                    return Err(Refusal::new(format!("place {ordinal} of the open action is not a roll")));
                };
                let parsed = crate::dice::Dice::parse(dice).map_err(|error| Refusal::new(error.to_string()))?;
                parsed.roll_faces(faces).map(|_| ()).map_err(|error| Refusal::new(error.to_string()))
            }
            Edit::Switch { name, value } => self.desk.house_rule(name, value).map(|_| ()),
            Edit::LeaveOut { name } => self.may_leave_out(name),
            Edit::TakeIn { name } if !state.left_out().contains(name.as_str()) => {
                let out: Vec<&str> = state.left_out().iter().map(|name| &**name).collect();
                Err(Refusal::new(match out.as_slice() {
                    [] => "nothing is left out".to_string(),
                    out => format!("`{name}` is not left out; {} is", out.join(", ")),
                }))
            }
            Edit::Remove { .. } | Edit::Cancel { .. } | Edit::TakeIn { .. } | Edit::Say { .. } => Ok(()),
        }
    }

    /// Refuses to leave out what the rules do not have, or what is left out already.
    fn may_leave_out(&self, name: &str) -> Result<(), Refusal> {
        if self.desk.state.left_out().contains(name) {
            return Err(Refusal::new(format!("`{name}` is left out already")));
        }
        let rules = &self.desk.rules;
        let cards = rules.cards().iter().chain(rules.items()).map(|card| &*card.id);
        let acts = rules.free_acts().iter().map(|act| &*act.name);
        let names = cards.chain(rules.hooks().iter().map(|hook| &**hook)).chain(rules.entries()).chain(acts);
        let names: Vec<&str> = names.collect();
        if names.contains(&name) {
            return Ok(());
        }
        Err(Refusal::new(match crate::ruleset::nearest(name, names.iter().copied()) {
            Some(near) => format!("no hook, item, card, entry or free act is called `{name}`; did you mean `{near}`?"),
            None => format!("no hook, item, card, entry or free act is called `{name}`"),
        }))
    }

    /// Takes the open action back to its start; its tape stays.
    pub(super) fn park(&mut self) {
        if let Some(open) = &mut self.open {
            if open.ran {
                self.desk.state.rollback(0);
                open.ran = false;
            }
            open.fault = None;
            open.questions.clear();
        }
    }

    /// What stands now, for going back to it.
    fn as_it_stands(&self) -> Swap {
        let desk = &self.desk;
        let in_force =
            InForce { rules: desk.rules.clone(), switches: desk.switches.clone(), seats: desk.seats.clone() };
        Swap { schema: desk.rules.schema().clone(), state: desk.state.clone(), in_force: Some(in_force) }
    }

    fn carry_out(&mut self, edit: &Edit) -> Result<Vec<Happening>, Refusal> {
        if let Edit::Switch { name, value } = edit {
            return self.desk.set_house_rule(name, value).map(|text| vec![Happening::Edited { text }]);
        }
        let rules = self.desk.rules.clone();
        let state = &mut self.desk.state;
        match edit {
            Edit::Set { entity, field, value } => {
                let Some(found) = state.entity(*entity) else {
                    return Err(Refusal::new(format!("{entity} is not there")));
                };
                let kind = rules.schema().kind(found.kind);
                let Some(id) = kind.field_named(field) else {
                    return Err(Refusal::new(format!("a {} has no field `{field}` now", kind.name)));
                };
                let declared = kind.field(id);
                let value = declared.ty.settle(value.clone());
                declared
                    .ty
                    .check(&value, rules.schema(), state)
                    .map_err(|error| Refusal::new(format!("{field} {error}")))?;
                let from = found.fields[id.0 as usize].clone();
                state.set(*entity, id, value.clone());
                state.note_stale(*entity, id);
                let text = format!(
                    "by hand: {}  {} {} -> {}",
                    self.desk.title(*entity),
                    declared.label,
                    self.desk.words(&from),
                    self.desk.words(&value)
                );
                Ok(vec![Happening::Edited { text }])
            }
            Edit::Remove { entity } => {
                if state.entity(*entity).is_none() {
                    return Err(Refusal::new(format!("{entity} is not there")));
                }
                let title = self.desk.title(*entity);
                let touched = self.desk.state.remove(*entity);
                self.desk.state.note_gone(*entity);
                for (other, field) in touched {
                    self.desk.state.note_stale(other, field);
                }
                Ok(vec![Happening::Edited { text: format!("by hand: {title} is taken away") }])
            }
            Edit::Cancel { entry } => match state.unschedule(*entry) {
                Some(entry) => {
                    Ok(vec![Happening::Edited { text: format!("by hand: `{}` is taken off the agenda", entry.what) }])
                }
                None => Err(Refusal::new(format!("there is no agenda entry {}", entry.0))),
            },
            Edit::LeaveOut { name } => {
                state.leave_out(Arc::from(name.as_str()), true);
                Ok(vec![Happening::Edited { text: format!("by hand: `{name}` is left out") }])
            }
            Edit::TakeIn { name } => {
                state.leave_out(Arc::from(name.as_str()), false);
                Ok(vec![Happening::Edited { text: format!("by hand: `{name}` counts again") }])
            }
            Edit::Say { text } => Ok(vec![Happening::Said { text: text.clone() }]),
            Edit::Switch { .. } => Ok(Vec::new()),
            Edit::Face { ordinal, faces } => {
                let seq = self.next_seq;
                let slot = self.open.as_mut().and_then(|open| open.tape.slots.get_mut(*ordinal as usize));
                let Some(Some(Slot::Roll { faces: old, seq: by, dice, .. })) = slot else {
                    return Err(Refusal::new(format!("place {ordinal} of the open action is not a roll")));
                };
                let parsed = crate::dice::Dice::parse(dice).map_err(|error| Refusal::new(error.to_string()))?;
                parsed.roll_faces(faces).map_err(|error| Refusal::new(error.to_string()))?;
                let text = format!("by hand: {dice} {old:?} -> {faces:?}");
                *old = faces.clone();
                *by = Some(seq);
                Ok(vec![Happening::Edited { text }])
            }
        }
    }

    /// A free act of a seat: before the open action if that has not rolled yet, otherwise after it.
    pub fn act(&mut self, seat: Arc<str>, name: Arc<str>) -> Result<(), Refusal> {
        if self.desk.state.outcome().is_some() && self.open.is_none() {
            return Err(Refusal::new("the game is over"));
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

    /// Says how the game goes on after a fault.
    pub fn remedy(&mut self, remedy: Remedy) -> Result<(), Refusal> {
        let Some(open) = self.open.as_mut().filter(|open| open.fault.is_some()) else {
            return Err(Refusal::new("there is no fault to remedy"));
        };
        match remedy {
            Remedy::Retry => {
                open.fault = None;
                Ok(())
            }
            Remedy::SkipAction => {
                if open.cause == Cause::Start {
                    return Err(Refusal::new("the start of a game cannot be left out; mend the script and retry"));
                }
                let mut open = self.open.take().expect("looked at above");
                if let Cause::Entry { id, .. } = &open.cause {
                    self.desk.take_entry(*id);
                }
                open.seq = Some(self.next_seq);
                open.tape = Default::default();
                let text = format!(
                    "{} is left out: {}",
                    words_of(&open.cause),
                    open.fault.as_ref().map_or("", |fault| &fault.message)
                );
                let happening = Happening::Notice { text };
                let event = Event { action: open.number, n: 0, audience: None, happening };
                self.outbox.push(event.clone());
                open.events = vec![event];
                self.commit(open);
                self.did(Op::Skip);
                Ok(())
            }
        }
    }

    // Turning back

    /// Takes back the last thing a person did. Runs no script.
    pub fn undo(&mut self) -> Result<Turned, Refusal> {
        if let Some(turned) = self.undo_asking() {
            return Ok(turned);
        }
        let in_queue = self.queued.back().map(|(.., seq)| *seq);
        let in_open = self.open.as_ref().and_then(|open| open.last_seq().max(open.seq));
        let in_history = self.history.iter().rev().find_map(last_seq_of);
        let mut passed = Passed::default();
        let before = self.desk.state.clone();
        let mut turned = self.take_back_last(&mut passed)?;
        self.reload_again(passed, &before, &mut turned);
        if let Some(seq) = in_queue.max(in_open).max(in_history) {
            self.next_seq = seq;
        }
        let known = self.history.iter().rev().take(16).map(|done| done.number);
        let open = self.open.iter().chain(&self.held).map(|open| open.number);
        self.next_number = known.chain(open).max().unwrap_or(0) + 1;
        Ok(turned)
    }

    fn take_back_last(&mut self, passed: &mut Passed) -> Result<Turned, Refusal> {
        let in_open = self.open.as_ref().and_then(Open::last_seq);
        let in_history = self.history.iter().rev().find_map(last_seq_of);
        let started = self.open.as_ref().and_then(|open| open.seq);
        if let Some((seat, name, seq)) = self.queued.back().cloned()
            && Some(seq) > in_open.max(in_history)
        {
            self.queued.pop_back();
            self.redo.push(Op::Free { seat, name: name.clone() });
            return Ok(Turned { text: format!("undid {name}"), changes: Vec::new() });
        }
        if in_open.max(in_history).max(started).is_none() {
            return Err(Refusal::new("there is nothing to undo"));
        }
        self.park();
        if in_open > in_history {
            let open = self.open.as_mut().expect("it has a decision");
            return Ok(undo_in(open, &mut self.desk, &mut self.redo));
        }
        if started > in_history {
            let open = self.open.take().expect("it has started");
            self.desk.set_position(open.before);
            let text = format!("undid {}", words_of(&open.cause));
            if let Cause::Free { seat, name } = open.cause {
                self.redo.push(Op::Free { seat, name });
            }
            self.open = self.held.pop();
            return Ok(Turned { text, changes: Vec::new() });
        }
        // A free act that waited for the dice of what is taken back waits again.
        if let Some(Open { cause: Cause::Free { seat, name }, seq: Some(seq), .. }) = &self.open {
            self.queued.push_front((seat.clone(), name.clone(), *seq));
            self.open = None;
        }
        // The open action has no decision of its own that is younger: it goes back to the agenda, unless it only waits
        // for what came before it.
        let mut changes = Vec::new();
        while let Some(done) = self.history.pop() {
            if matches!(done.cause, Cause::Reload { .. }) {
                self.pass(done, passed);
                continue;
            }
            if matches!(done.cause, Cause::Rules { .. }) {
                return Ok(self.take_rules_back(done, passed));
            }
            let held = self.open.take();
            self.desk.state.take_back(&done.changes);
            self.desk.set_position(done.before);
            changes.extend(done.changes.iter().cloned().rev());
            let decided = done.tape.last_decision().is_some();
            let mut open = Open {
                number: done.number,
                cause: done.cause.clone(),
                tape: done.tape,
                before: done.before,
                seq: done.seq,
                events: done.events,
                questions: Vec::new(),
                rolled_for: None,
                fault: None,
                ran: false,
                renewed: false,
            };
            changes.reverse();
            // Changes in another schema are told when all is done.
            let told = if passed.another_schema() { Vec::new() } else { self.desk.reversed(&changes) };
            changes.reverse();
            if let Some(skipped) = done.skipped {
                open.seq = None;
                self.open = Some(open);
                self.redo.push(Op::Skip);
                return Ok(Turned { text: format!("undid leaving out: {skipped}"), changes: told });
            }
            match &done.cause {
                Cause::Edit { edit } => {
                    self.redo.push(Op::Edit(edit.clone()));
                    if let Some(before) = done.swap.and_then(|swap| swap.in_force) {
                        self.desk.switches = before.switches;
                        self.desk.state.renew_identity();
                    }
                    self.open = held;
                    let text = format!("undid the edit: {}", first_line(&open.events));
                    return Ok(Turned { text, changes: told });
                }
                Cause::Free { seat, name } if !decided => {
                    self.redo.push(Op::Free { seat: seat.clone(), name: name.clone() });
                    self.open = held;
                    return Ok(Turned { text: format!("undid {name}"), changes: told });
                }
                _ if decided => {
                    if matches!(done.cause, Cause::Free { .. }) {
                        self.held.extend(held);
                    }
                    let turned = undo_in(&mut open, &mut self.desk, &mut self.redo);
                    self.open = Some(open);
                    return Ok(Turned { text: turned.text, changes: told });
                }
                _ => {}
            }
        }
        Err(Refusal::new("there is nothing to undo"))
    }

    /// Does again what the last undo took back. Runs the game on to where it was decided.
    pub fn redo(&mut self, vm: &mut Vm) -> Result<Turned, Refusal> {
        let Some(op) = self.redo.last().cloned() else {
            return Err(Refusal::new("there is nothing to redo"));
        };
        let rest = self.redo.clone();
        let text = match op {
            Op::Edit(edit) => {
                self.advance(vm, u64::MAX);
                self.edit(edit)?;
                "redid the edit".to_string()
            }
            Op::Free { seat, name } => {
                self.advance(vm, u64::MAX);
                self.act(seat, name.clone())?;
                format!("redid {name}")
            }
            Op::Rules(rules) => self.redo_asking(rules)?,
            Op::Skip => {
                self.advance(vm, u64::MAX);
                self.remedy(Remedy::SkipAction)?;
                "left it out again".to_string()
            }
            Op::Answer { topic, ordinal, answer } => {
                self.advance(vm, u64::MAX);
                let question = self
                    .open
                    .as_ref()
                    .and_then(|open| open.questions.iter().find(|question| question.id.ordinal == ordinal))
                    .filter(|question| question.topic == topic)
                    .cloned();
                let Some(question) = question else {
                    self.redo.clear();
                    return Err(Refusal::new("the game has gone another way: there is nothing to redo"));
                };
                self.answer(question.id, answer.clone())?;
                format!("redid {}: {}", question.topic, question.tell(&answer))
            }
        };
        self.redo = rest;
        self.redo.pop();
        Ok(Turned { text, changes: Vec::new() })
    }

    /// How many decisions people have made that stand: how often [`Game::undo`] has something to take back.
    pub fn decisions(&self) -> u32 {
        self.next_seq - 1 + u32::from(self.pending.is_some())
    }

    /// Takes back decisions until so many are left, as if they had not been made: for a reply that is refused half way.
    pub fn rewind(&mut self, decisions: u32) {
        let redo = std::mem::take(&mut self.redo);
        while self.decisions() > decisions && self.undo().is_ok() {}
        self.redo = redo;
    }

    /// Says who plays a seat. The open action runs again, so that what it asks goes to the new driver.
    pub fn reseat(&mut self, seat: Arc<str>, driver: super::Driver) {
        self.desk.seats.insert(seat, driver);
        self.desk.state.renew_identity();
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

    /// The changes that led to a field's value.
    pub fn history_of(&self, entity: EntityId, name: &str, value: Value) -> Explanation {
        let desk = &self.desk;
        let why = |cause: &Cause| match cause {
            Cause::Entry { what, owner: Some(owner), .. } if desk.state.entity(*owner).is_some() => {
                format!("{what}, {}", desk.title(*owner))
            }
            cause => words_of(cause).to_string(),
        };
        let kind = desk.state.entity(entity).map(|found| desk.rules.schema().kind(found.kind).name.clone());
        let field_in = |schema: &Schema| schema.kind(schema.kind_named(kind.as_deref()?)?).field_named(name);
        let line = |number: u32, cause: &Cause, change: &Change, field: Option<FieldId>| match change {
            Change::Set { entity: of, field: at, from, to } if *of == entity && Some(*at) == field => {
                Some(format!("action {number} ({}): {} -> {}", why(cause), desk.words(from), desk.words(to)))
            }
            Change::Spawn { entity: of, made } if *of == entity => {
                let first = field.and_then(|field| made.fields.get(field.0 as usize));
                Some(format!("action {number} ({}): made with {}", why(cause), desk.words(first?)))
            }
            _ => None,
        };
        let mut changes = Vec::new();
        for (done, schema) in with_schemas(&self.history, desk.rules.schema()) {
            let field = field_in(schema);
            changes
                .extend(done.changes.iter().rev().filter_map(|change| line(done.number, &done.cause, change, field)));
        }
        changes.reverse();
        let field = field_in(desk.rules.schema());
        if let Some(open) = &self.open {
            changes
                .extend(desk.state.since(0).iter().filter_map(|change| line(open.number, &open.cause, change, field)));
        }
        Explanation {
            title: format!("{}: {name}", desk.title(entity)),
            value: desk.words(&value),
            terms: Vec::new(),
            changes,
        }
    }

    // Telling

    pub fn take_events(&mut self) -> Vec<Event> {
        std::mem::take(&mut self.outbox)
    }

    /// Everything that stands, in order.
    pub fn log(&self) -> impl Iterator<Item = &Event> {
        let open = self.open.iter().flat_map(|open| &open.events);
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
        self.next_number = self.next_number.max(done.number + 1);
        self.next_seq = self.next_seq.max(last_seq_of(done).map_or(1, |seq| seq + 1));
    }

    /// What a policy would answer to an open question. Nothing has changed afterwards.
    pub fn suggest(&mut self, vm: &mut Vm, id: QuestionId, policy: Arc<str>) -> Result<Option<Answer>, Refusal> {
        let Some(open) = self.open.as_ref().filter(|open| open.number == id.action) else {
            return Err(Refusal::new(format!("question {id} is not open any more")));
        };
        let Some(question) = open.questions.iter().find(|question| question.id == id).cloned() else {
            return Err(Refusal::new(format!("question {id} is not open")));
        };
        let (tape, position, outbox) = (open.tape.clone(), self.desk.position(), self.outbox.len());
        let (events, ran) = (open.events.clone(), open.ran);
        let driver = self.desk.seats.insert(question.seat.clone(), super::Driver::Policy(policy));
        if let Some(open) = &mut self.open {
            // Its place is at the end of the tape, or waits among others: what is behind it is asked anew.
            open.tape.slots.truncate(id.ordinal as usize);
            open.questions.clear();
        }
        self.desk.suggest_at = Some(id.ordinal as usize);
        self.desk.listening = false;
        self.desk.state.renew_identity();
        self.run(vm);
        self.desk.listening = true;
        self.desk.state.renew_identity();
        self.desk.suggest_at = None;
        if let Some(driver) = driver {
            self.desk.seats.insert(question.seat.clone(), driver);
        }
        let suggested = self.desk.suggested.take();
        let fault = self.open.as_mut().and_then(|open| open.fault.take());
        self.park();
        self.desk.set_position(position);
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
            Some(fault) => Err(Refusal::new(fault.to_string())),
            None => Ok(suggested),
        }
    }
}

/// Runs what an action consists of.
fn perform(desk: &mut Desk, scenario: &Value, vm: &mut Vm, cause: &Cause) -> Result<Value, Fault> {
    match cause {
        Cause::Start => vm.call(desk, &Call::Start { scenario }),
        Cause::Free { name, .. } if leaves_out(desk, name) => Ok(Value::None),
        Cause::Free { seat, name } => vm.call(desk, &Call::Free { seat, name }),
        Cause::Edit { .. } | Cause::Reload { .. } | Cause::Rules { .. } => Ok(Value::None),
        Cause::Entry { id, .. } => match vm.settle_tie(desk, *id) {
            Err(fault) => Err(fault),
            Ok(id) => match desk.take_entry(id) {
                None => Ok(Value::None),
                Some(entry) if leaves_out(desk, &entry.what) => Ok(Value::None),
                Some(entry) => {
                    let Entry { what, owner, args, key, .. } = &entry;
                    vm.call(desk, &Call::Entry { what, owner: *owner, args, key: *key })
                }
            },
        },
    }
}

/// Whether the game master leaves an entry or a free act out; then that is told.
fn leaves_out(desk: &mut Desk, name: &str) -> bool {
    let out = desk.state.left_out().contains(name);
    if out {
        desk.tell(Happening::Notice { text: format!("`{name}` is left out") }, None);
    }
    out
}

fn undo_in(open: &mut Open, desk: &mut Desk, redo: &mut Vec<Op>) -> Turned {
    let (at, _) = open.tape.last_decision().expect("the action has a decision");
    let slot = open.tape.slots[at].clone().expect("a decision fills its place");
    let before = slot.before();
    // A person's answer further on is older, so it belongs to a question that was out together with this one: it stays.
    let older = |slot: &Option<Slot>| slot.as_ref().is_some_and(|slot| slot.seq().is_some());
    match open.tape.slots.iter().rposition(older).filter(|last| *last > at) {
        Some(last) => {
            open.tape.slots.truncate(last + 1);
            open.tape.slots[at] = None;
        }
        None => {
            open.tape.cut(at);
            desk.set_position(before);
        }
    }
    let (op, text) = match slot {
        Slot::Answer { topic, answer, about, .. } => {
            // As it was told, with the titles of what was chosen.
            let about = about.map(|id| desk.title(id));
            let words = open.events.iter().rev().find_map(|event| match &event.happening {
                Happening::Answered { topic: of, about: whom, text, .. } if *of == topic && *whom == about => {
                    Some(text)
                }
                _ => None,
            });
            let text = format!("undid {topic}: {}", words.cloned().unwrap_or_else(|| told(&answer)));
            (Op::Answer { topic, ordinal: at as u32, answer }, text)
        }
        Slot::Roll { faces, dice, .. } => {
            let text = format!("undid the roll of {dice}");
            (Op::Answer { topic: Arc::from("dice"), ordinal: at as u32, answer: Answer::Faces(faces) }, text)
        }
    };
    redo.push(op);
    Turned { text, changes: Vec::new() }
}

pub(super) fn told(answer: &Answer) -> String {
    let list = |ids: &[Arc<str>]| ids.iter().map(|id| id.to_string()).collect::<Vec<_>>().join(", ");
    match answer {
        Answer::Choice(id) => id.to_string(),
        Answer::Choices(ids) | Answer::Order(ids) => list(ids),
        Answer::Number(n) => n.to_string(),
        Answer::Allotment(parts) => parts.iter().map(|(id, n)| format!("{id} {n}")).collect::<Vec<_>>().join(", "),
        Answer::Confirm(yes) => if *yes { "yes" } else { "no" }.into(),
        Answer::Line(line) => line.clone(),
        Answer::Faces(faces) => format!("{faces:?}"),
    }
}

fn last_seq_of(done: &Done) -> Option<u32> {
    done.seq.max(done.tape.last_decision().map(|(_, seq)| seq))
}

fn first_line(events: &[Event]) -> String {
    events.first().map(|event| event.happening.line()).unwrap_or_default()
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
