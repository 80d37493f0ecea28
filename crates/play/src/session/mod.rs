//! Sessions: a game with its ruleset, as callers see it, and as each seat sees it.

mod checkpoint;
mod checksum;
mod counts;
mod migration;
mod numbering;
pub mod plain;
mod record;
pub mod recorded;
mod reload;
mod reply;
mod save;
mod saved_sources;
mod seat;
mod seat_profile;
mod step;
mod taken_back;
mod turn_notice;
mod undone;

pub use record::{Checkpoint, Place, Seating};
pub use save::is_saved_game;
#[cfg(feature = "serve")]
pub use save::saved_table;
pub use seat::{Known, Seat, SeatEvent, Snapshot, SnapshotEntity};
pub use step::Step;
pub use turn_notice::{TurnNotice, TurnNotices};
pub use undone::Undone;

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::context::{must_be_there, must_take, takes_more, with};
use crate::game::UndoOp;
use crate::machine::{known_policy, known_seat};
use crate::{
    Answer, Call, DiceSource, Driver, Edit, Event, Explanation, Fault, FreeAct, Game, Halt, Machine, MissingRoll,
    Prepared, Question, QuestionId, Refusal, Remedy, Ruleset, SessionError, Setup, SheetRow, StartError, View, Viewer,
};
use riskbreaker_dice::DiceRng;
use riskbreaker_state::{Change, EntityId, Key, Value};

/// A game of one ruleset. Plain data: between calls it holds no thread and no script machine.
///
/// Call [`Session::advance`] and answer its questions, until it returns that the game is over.
pub struct Session {
    game: Option<Box<Game>>,
    rules: Arc<Ruleset>,
    /// The work of its scripts so far, in units of the script budget.
    work: u64,
}

/// The decisions up to a moment, for [`Session::back_to`].
#[derive(Clone, Debug)]
pub struct Mark {
    /// The identity of the game.
    game: u64,
    decisions: u32,
    /// The decisions that could be redone then, the next one last.
    redo: Vec<UndoOp>,
}

/// The dice stream of forks: different from those of games and of look-aheads. The streams for suggestions to seats
/// also begin here.
const OTHER_DICE: u64 = 1 << 63;

impl Session {
    /// Begins a game. The starting state is built by the first [`Session::advance`].
    ///
    /// # Errors
    ///
    /// The ruleset has no such scenario, switch, seat or policy; the message names the most similar one.
    pub fn start(rules: &Arc<Ruleset>, setup: Setup) -> Result<Session, StartError> {
        let game = Prepared::new(rules, setup)?.game();
        Ok(Session { game: Some(Box::new(game)), rules: rules.clone(), work: 0 })
    }

    /// Plays until a decision is needed, a script fails, or the game is over.
    ///
    /// A game that takes five seconds of processor time without a question is stopped by a fault (see
    /// [`Session::set_longest_advance`]). [`Remedy::Retry`] lets it continue.
    ///
    /// # Errors
    ///
    /// The host itself failed, or has no memory or thread for scripts; the game stays as it was before the action.
    pub fn advance(&mut self) -> Result<Step, SessionError> {
        let longest = self.game().longest;
        self.play(u64::MAX, Some(longest))
    }

    /// Sets the processor time after which [`Session::advance`] stops a game that asks no question. The default is five
    /// seconds. The game stops between two actions.
    pub fn set_longest_advance(&mut self, longest: Duration) {
        self.game_mut().longest = longest;
    }

    /// Plays at most `actions` actions, for a loop with other work in between. [`Step::Ask`] without an open question
    /// means that the game can continue.
    ///
    /// # Errors
    ///
    /// As [`Session::advance`].
    pub fn advance_by(&mut self, actions: u64) -> Result<Step, SessionError> {
        self.play(actions, None)
    }

    /// Plays in slices of time, between which other games use the machines. After the longest time without a question,
    /// a game with readers is stopped.
    fn play(&mut self, actions: u64, longest: Option<Duration>) -> Result<Step, SessionError> {
        let until = self.actions().saturating_add(actions);
        let mut took = Duration::ZERO;
        loop {
            if let Some(step) = self.play_slice(until, longest, &mut took)? {
                return Ok(step);
            }
        }
    }

    /// Plays for one slice of time. `None` if the game can continue. `took`: the sum of all slices up to the next
    /// question; pass zero to the first slice.
    ///
    /// # Errors
    ///
    /// As [`Session::advance`].
    #[cfg(feature = "serve")]
    #[doc(hidden)]
    pub fn advance_slice(&mut self, took: &mut Duration) -> Result<Option<Step>, SessionError> {
        let longest = self.game().longest;
        self.play_slice(u64::MAX, Some(longest), took)
    }

    fn play_slice(
        &mut self,
        until: u64,
        longest: Option<Duration>,
        took: &mut Duration,
    ) -> Result<Option<Step>, SessionError> {
        let left = until - self.actions();
        let (halt, time) = self.lend(move |game, vm| game.advance_slice(vm, left, None))?;
        *took += time;
        match halt {
            Halt::Boundary => self.put_in_force(),
            Halt::Paused if self.actions() < until => {
                if self.game().context.keeps_tape && longest.is_some_and(|longest| *took > longest) {
                    self.game_mut().overlong = true;
                }
            }
            standing => {
                self.game_mut().publish(None);
                return Ok(Some(standing.into()));
            }
        }
        Ok(None)
    }

    /// Plays until a decision is needed or the moment has come, which is checked between two actions. [`Step::Ask`]
    /// without an open question means that the game can continue.
    ///
    /// # Errors
    ///
    /// As [`Session::advance`].
    pub fn advance_until(&mut self, moment: Instant) -> Result<Step, SessionError> {
        loop {
            let step = self.advance_by(1)?;
            if step != Step::Ask || !self.questions().is_empty() || Instant::now() >= moment {
                return Ok(step);
            }
        }
    }

    /// The questions of an action that were answered automatically, since only one answer was possible, in order, with
    /// their answers. Empty if the action had none, and for all but the last 16 actions.
    pub fn only_answers(&self, action: u32) -> &[(Question, Answer)] {
        self.game().autos.iter().find(|(number, _)| *number == action).map_or(&[], |(_, answers)| answers)
    }

    /// The open questions. Empty before [`Session::advance`] has reached one.
    pub fn questions(&self) -> &[Question] {
        self.game().open.as_ref().map_or(&[], |open| &open.questions)
    }

    /// Takes an exact answer to an open question.
    ///
    /// # Errors
    ///
    /// A sentence that says what does not fit. The game is unchanged then.
    pub fn answer(&mut self, id: QuestionId, answer: Answer) -> Result<(), Refusal> {
        self.game_mut().answer(id, answer)
    }

    /// Takes an exact answer that a program gives for its player, such as an artificial opponent. The tape records it
    /// like a policy's answer, and undo does not stop at it.
    ///
    /// # Errors
    ///
    /// As for [`Session::answer`].
    pub fn answer_by_program(&mut self, id: QuestionId, answer: Answer) -> Result<(), Refusal> {
        self.game_mut().answer_by_program(id, answer)
    }

    /// Asks a policy for its answer to an open question. Leaves the game unchanged. `None` if the policy gives no
    /// answer.
    ///
    /// # Errors
    ///
    /// The question is not open, there is no such policy, or the policy fails.
    pub fn suggest(&mut self, id: QuestionId, policy: &str) -> Result<Option<Answer>, Refusal> {
        self.suggest_for(id, policy, &Viewer::master())
    }

    /// Proposes an answer to the player of an open question: the answer of the rules' first policy, based on what the
    /// seat knows; or else the proposal of the question, or the first answer that it accepts. The game master gets the
    /// question's proposal. Leaves the game unchanged.
    ///
    /// The proposal is independent of the question's default, which absent seats take.
    pub fn propose(&mut self, question: &Question) -> Option<Answer> {
        let own = question.proposal().cloned();
        if *question.seat == *crate::MASTER || matches!(question.ask, crate::Ask::Dice { .. } | crate::Ask::Line { .. })
        {
            return own;
        }
        let viewer = Viewer::seats([&*question.seat]);
        let policy = self.rules.policies().first().cloned();
        let suggested = policy.and_then(|policy| self.suggest_for(question.id, &policy, &viewer).ok().flatten());
        suggested.or(own).or_else(|| question.usual_answer())
    }

    /// The value of the state for a seat, as `value` in the rules measures it. `None` if the rules do not measure it.
    /// Leaves the game unchanged.
    ///
    /// # Errors
    ///
    /// The fault of the script.
    pub fn worth(&mut self, seat: &str) -> Result<Option<i64>, Fault> {
        let seat = seat.to_owned();
        self.look(move |game, vm| vm.worth(&mut game.context, &seat))
    }

    /// Like [`Session::suggest`], based on what a viewer knows. Only for the game master the policy draws from the
    /// game's own dice, since these would reveal the next rolls.
    #[doc(hidden)]
    pub fn suggest_for(&mut self, id: QuestionId, policy: &str, viewer: &Viewer) -> Result<Option<Answer>, Refusal> {
        known_policy(&self.rules, policy).map_err(Refusal::new)?;
        let other = (!viewer.is_master()).then(|| self.dice_for_suggestion(viewer, id));
        let own = other.map(|other| std::mem::replace(&mut self.game_mut().context.dice.rng, other));
        let (policy, viewer) = (Arc::from(policy), viewer.clone());
        let suggest = move |game: &mut Game, vm: &mut dyn Machine| match game.ahead_for(&viewer) {
            None => game.suggest(vm, id, policy),
            Some(mut known) => {
                game.may_look_ahead(&viewer)?;
                known.context.dice.rng = game.context.dice.rng.clone();
                // Faces given in advance are only for the game.
                known.context.dice.source = DiceSource::Seeded;
                known.deal_anew(vm).map_err(Refusal::fault)?;
                known.take_questions_of(game);
                let suggested = known.suggest(vm, id, policy);
                known.context.unless_hidden(&viewer, suggested)
            }
        };
        let suggested = self.lend(suggest);
        if let Some(own) = own {
            self.game_mut().context.dice.rng = own;
        }
        suggested.map_err(Refusal::from)?
    }

    /// Returns dice that depend only on the viewer's own number for the question.
    fn dice_for_suggestion(&self, viewer: &Viewer, question: QuestionId) -> DiceRng {
        let number = self.number_for(viewer, question);
        let stream = number.map_or(0, |own| (u64::from(own.action) << 32) | u64::from(own.ordinal));
        DiceRng::stream(0, OTHER_DICE | stream)
    }

    /// The free acts of every seat, including those that cannot be taken now.
    pub fn free_acts(&mut self) -> Vec<FreeAct> {
        self.seen_by(Viewer::master()).free_acts()
    }

    /// Takes a free act of a seat. It runs with the next [`Session::advance`]: before the open action, unless that has
    /// shown the seat a roll or a secret; otherwise after it, if the act is still open then.
    ///
    /// # Errors
    ///
    /// The ruleset has no such act, the act is not open to the seat now, or another act still has open questions.
    pub fn act(&mut self, seat: &str, name: &str) -> Result<(), Refusal> {
        let acts = self.free_acts();
        let Some(act) = acts.iter().find(|act| *act.name == *name && *act.seat == *seat) else {
            let names = acts.iter().map(|act| &*act.name);
            let sentence = format!("there is no free act `{name}` for {seat}");
            return Err(match riskbreaker_ruleset::nearest(name, names.clone()) {
                Some(near) if near == name => {
                    let seats: Vec<String> = self.rules.seats().keys().cloned().collect();
                    let sentence = format!("{sentence}; the seats are {}", seats.join(", "));
                    Refusal::unknown_among_many(sentence, seat, seats.iter().map(String::as_str))
                }
                _ => Refusal::unknown_among_many(sentence, name, names),
            });
        };
        if !act.enabled {
            return Err(Refusal::Greyed { label: act.title.to_string(), reason: act.reason.clone() });
        }
        let (seat, name) = (act.seat.clone(), act.name.clone());
        self.game_mut().act(seat, name)?;
        self.game_mut().publish(None);
        Ok(())
    }

    /// Makes an edit of the game master, before the open action, which then runs again.
    ///
    /// # Errors
    ///
    /// A sentence that says what does not fit. The game is unchanged then.
    pub fn edit(&mut self, edit: Edit) -> Result<(), Refusal> {
        if let Err(why) = Value::must_fit(edit.value()) {
            std::mem::forget(edit);
            return Err(Refusal::new(why));
        }
        self.game_mut().edit(edit)?;
        self.game_mut().publish(None);
        Ok(())
    }

    /// Undoes the last decision of a person. Call [`Session::advance`] to continue from there.
    pub fn undo(&mut self) -> Result<Undone, Refusal> {
        self.undo_for(&Viewer::master())
    }

    /// Like [`Session::undo`], with a report for a viewer.
    #[doc(hidden)]
    pub fn undo_for(&mut self, viewer: &Viewer) -> Result<Undone, Refusal> {
        if self.game().undo_reaches_unplayed() {
            self.play_unplayed()?;
        }
        self.may_take_back(viewer, 1)?;
        let undone = self.game_mut().undo();
        self.rules = self.game().context.rules.clone();
        let report = undone?;
        self.game_mut().publish(Some(report.note("undo", "undid")));
        Ok(Undone::of(report, viewer, "undid"))
    }

    /// Refuses to undo the last `decisions` decisions if the viewer may not undo all of them.
    #[doc(hidden)]
    pub fn may_take_back(&mut self, viewer: &Viewer, decisions: u32) -> Result<(), Refusal> {
        if !viewer.is_master() {
            // The events that a viewer saw are unknown for actions that were loaded but not replayed.
            self.play_unplayed()?;
        }
        self.game().may_take_back(viewer, decisions)
    }

    /// Redoes the last undone decision.
    pub fn redo(&mut self) -> Result<Undone, Refusal> {
        self.redo_for(&Viewer::master())
    }

    /// Like [`Session::redo`], with a report for a viewer.
    #[doc(hidden)]
    pub fn redo_for(&mut self, viewer: &Viewer) -> Result<Undone, Refusal> {
        if self.game().awaited().is_some() {
            // Decisions after a change of rules can be redone only once the rules are in force.
            let _: Step = self.advance().map_err(Refusal::from)?;
        }
        let report = self.lend(|game, vm| game.redo(vm)).map_err(Refusal::from)??;
        self.game_mut().publish(Some(report.note("redo", "redid")));
        Ok(Undone::of(report, viewer, "redid"))
    }

    /// Marks the decisions up to now.
    pub fn mark(&self) -> Mark {
        let game = self.game();
        Mark { game: game.history.identity(), decisions: game.decisions(), redo: game.redo.clone() }
    }

    /// Removes the decisions made since a mark, as if they had not been made, for example those of a line that was
    /// refused half way. They cannot be redone; what could be redone at the mark can be redone again.
    ///
    /// # Errors
    ///
    /// The mark belongs to another session, such as a fork.
    pub fn back_to(&mut self, before: Mark) -> Result<(), Refusal> {
        if before.game != self.game().history.identity() {
            return Err(Refusal::new(
                "this mark belongs to another session; `Session::mark` of this one makes its marks",
            ));
        }
        self.take_back_to(before);
        self.rules = self.game().context.rules.clone();
        self.game_mut().publish(None);
        Ok(())
    }

    /// Like [`Session::back_to`], without events. Returns true if there were decisions to remove.
    pub(crate) fn take_back_to(&mut self, before: Mark) -> bool {
        let game = self.game_mut();
        let has_more = game.rewind(before.decisions);
        game.redo = before.redo;
        has_more
    }

    /// The number of decisions that are not undone: answers, edits, free acts. Each is undone by one [`Session::undo`].
    pub fn decisions(&self) -> u32 {
        self.game().decisions()
    }

    /// Applies a person's choice after a fault.
    pub fn remedy(&mut self, remedy: Remedy) -> Result<(), Refusal> {
        self.game_mut().remedy(remedy)?;
        self.game_mut().publish(None);
        Ok(())
    }

    /// The names of the disabled parts of the rules: see [`Edit::LeaveOut`].
    pub fn left_out(&self) -> impl Iterator<Item = &str> {
        self.game().context.state.left_out().iter().map(|name| &**name)
    }

    /// The events since the last call.
    pub fn take_events(&mut self) -> Vec<Event> {
        self.game_mut().take_events()
    }

    /// Drops the past of the event stream: a viewer that reads for the first time gets only the events that were not
    /// undone. The past is kept only for viewers that need it.
    #[cfg(feature = "serve")]
    #[doc(hidden)]
    pub fn forget_past(&mut self) {
        self.game_mut().stream.forget_past();
    }

    /// All events that were not taken back, in order.
    pub fn log(&self) -> Vec<Event> {
        self.game().log().collect()
    }

    /// A read-only view of the state.
    pub fn view(&self) -> View<'_> {
        View::new(&self.game().context)
    }

    /// Computes a derived value of an entity.
    ///
    /// # Errors
    ///
    /// The fault of the script, or of the call: the name or the entity does not exist.
    pub fn derived(&mut self, entity: EntityId, name: &str, args: &[Value]) -> Result<Value, Fault> {
        must_be_there(&self.view(), entity, args)?;
        let (name, args) = (name.to_string(), args.to_vec());
        self.look(move |game, vm| vm.look(&mut game.context, &Call::Derived { entity, name: &name, args: &args }))
    }

    /// Explains a number: the terms of a derived value with file and line, or the changes of a field.
    ///
    /// # Errors
    ///
    /// A sentence if the entity has no such field or value, or if the value needs further arguments.
    pub fn why(&mut self, entity: EntityId, name: &str) -> Result<Explanation, Refusal> {
        self.why_of(entity, name, &[])
    }

    /// Explains a derived value that takes arguments, such as another entity. `args`: the arguments.
    ///
    /// # Errors
    ///
    /// As [`Session::why`]; or there are too many or too few arguments.
    pub fn why_of(&mut self, entity: EntityId, name: &str, args: &[Value]) -> Result<Explanation, Refusal> {
        let view = self.view();
        if !view.exists(entity) {
            return Err(Refusal::NoEntity { entity });
        }
        must_take(&view, entity, name, args)?;
        if let Some(takes) = view.derived_takes(entity, name) {
            let alike = view.alike(entity);
            let mut explain = |args: &[Value]| {
                let (name, args) = (name.to_string(), args.to_vec());
                self.look(move |game, vm| vm.explain(&mut game.context, entity, &name, &args))
            };
            let fault = match explain(args) {
                Ok(found) => return Ok(found),
                Err(fault) => fault,
            };
            if takes.is_some_and(|takes| args.len() >= takes) {
                return Err(Refusal::fault(fault));
            }
            let other = alike.into_iter().find(|other| explain(&with(args, *other)).is_ok());
            return Err(takes_more(&self.view(), (entity, name), args, other, fault));
        }
        let value = view.field(entity, name).cloned().ok_or_else(|| view.unknown_name(entity, name))?;
        self.play_unplayed()?;
        Ok(self.game().history_of(entity, name, value))
    }

    /// The sheet of an entity, in rows of label and text.
    pub fn sheet(&mut self, entity: EntityId) -> Result<Vec<(String, String)>, Fault> {
        let rows = self.look(move |game, vm| vm.sheet(&mut game.context, entity))?;
        Ok(rows.into_iter().map(SheetRow::line).collect())
    }

    /// The overview of an entity, in rows of label and text. Empty if its kind has none.
    pub fn overview(&mut self, entity: EntityId) -> Result<Vec<(String, String)>, Fault> {
        self.overviews(vec![entity]).map(|all| all.into_iter().next().unwrap_or_default())
    }

    /// The overviews of several entities, whose scripts share the budget of one action.
    pub fn overviews(&mut self, entities: Vec<EntityId>) -> Result<Vec<Vec<(String, String)>>, Fault> {
        self.look(move |game, vm| vm.overview(&mut game.context, &entities))
    }

    /// A named view of the ruleset for a seat (see [`Rulebook::views`](riskbreaker_ruleset::Rulebook::views)), in rows
    /// of label and text.
    pub fn show(&mut self, name: &str, seat: &str) -> Result<Vec<(String, String)>, Fault> {
        let (name, seat) = (name.to_owned(), seat.to_owned());
        self.look(move |game, vm| vm.view(&mut game.context, &name, &seat))
    }

    /// The text that the ruleset shows before the prompt.
    pub fn prompt(&mut self) -> String {
        let question = self.questions().first().map(|question| (question.about, question.seat.clone()));
        let (about, seat) = question.unwrap_or((None, Arc::from("")));
        self.look(move |game, vm| vm.prompt(&mut game.context, about, &seat)).unwrap_or_default()
    }

    /// Sets the driver of a seat. Its open questions are asked again.
    ///
    /// # Errors
    ///
    /// The ruleset has no such seat or policy.
    pub fn set_seat(&mut self, seat: &str, driver: Driver) -> Result<(), Refusal> {
        known_seat(&self.rules, seat).map_err(Refusal::new)?;
        if let Driver::Policy(policy) = &driver {
            known_policy(&self.rules, policy).map_err(Refusal::new)?;
        }
        self.game_mut().reseat(Arc::from(seat), driver);
        self.game_mut().publish(None);
        Ok(())
    }

    /// The source of faces.
    pub fn dice(&self) -> &DiceSource {
        &self.game().context.dice.source
    }

    /// Sets the source of faces for later rolls.
    pub fn set_dice(&mut self, dice: DiceSource) {
        let game = self.game_mut();
        game.context.dice.source = dice;
        game.context.dice.written = 0;
        game.context.state.renew_identity();
    }

    /// The value of a house rule. `None` if the ruleset has no such rule.
    pub fn switch(&self, name: &str) -> Option<&Value> {
        self.game().context.switches.get(name)
    }

    /// The values of the house rules, by name.
    pub fn switches(&self) -> &BTreeMap<String, Value> {
        &self.game().context.switches
    }

    #[cfg(feature = "serve")]
    #[doc(hidden)]
    pub fn shared_switches(&self) -> Arc<BTreeMap<String, Value>> {
        self.game().context.switches.clone()
    }

    /// Sets a house rule, before the open action, which then runs again. The value is read like a typed one. This is an
    /// edit: one entry of the history, one undo.
    ///
    /// # Errors
    ///
    /// The ruleset has no such house rule (names the most similar one), or the rule does not allow the value (lists
    /// those allowed).
    pub fn set_switch(&mut self, name: &str, value: impl Into<Value>) -> Result<(), Refusal> {
        self.edit(Edit::Switch { name: name.to_string(), value: value.into() })
    }

    /// The drivers of the seats.
    pub fn seats(&self) -> &BTreeMap<Arc<str>, Driver> {
        &self.game().context.answers.seats
    }

    /// The outcome, if the game is over.
    pub fn outcome(&self) -> Option<&str> {
        let game = self.game();
        game.context.state.outcome().filter(|_| game.open.is_none())
    }

    /// The fault that stopped the game, if one did.
    pub fn fault(&self) -> Option<&Fault> {
        self.game().open.as_ref()?.fault.as_deref()
    }

    /// The fault as seats may see it. Only the game master gets the reason, or a roll that the seat may not see.
    pub fn fault_for_seats(&self) -> Option<Fault> {
        self.fault()?;
        Some(Fault::new(match self.missing_roll() {
            Some(_) => "the written dice have run out; the game master gives the next faces",
            None => "a script of the rules has failed; the game master says how to continue",
        }))
    }

    /// The seed of the dice.
    pub fn seed(&self) -> u64 {
        self.game().setup.seed
    }

    /// The rules in force.
    pub fn ruleset(&self) -> &Arc<Ruleset> {
        &self.rules
    }

    pub(crate) fn set_rules(&mut self, rules: Arc<Ruleset>) {
        self.rules = rules;
    }

    /// Sets the faces of the next rolls, after those pushed earlier; later rolls come from the generator again. For
    /// embedders with dice of their own. This is not a decision: undo does not remove the faces, and the same faces are
    /// rolled again after an undo.
    ///
    /// # Errors
    ///
    /// [`Refusal::Invalid`] if people type their dice in, or for a face of 0. Whether a face fits is checked by the
    /// roll: a face larger than the die stops the action, and [`Session::clear_faces`] removes it.
    pub fn push_faces(&mut self, faces: &[u32]) -> Result<(), Refusal> {
        if faces.contains(&0) {
            return Err(Refusal::new("the faces of a die are numbered from 1: there is no face 0"));
        }
        let context = &mut self.game_mut().context;
        match &mut context.dice.source {
            DiceSource::Written(written) | DiceSource::Pushed(written) => written.extend(faces),
            DiceSource::Seeded => {
                // Faces of an earlier list count as used.
                let mut all = vec![1; context.dice.written as usize];
                all.extend(faces);
                context.dice.source = DiceSource::Pushed(all);
            }
            DiceSource::Typed => return Err(Refusal::new("the dice are typed in: a roll is a question")),
        }
        context.state.renew_identity();
        Ok(())
    }

    /// Removes the pushed faces that were not rolled yet. Returns their number.
    pub fn clear_faces(&mut self) -> usize {
        let context = &mut self.game_mut().context;
        let (DiceSource::Written(faces) | DiceSource::Pushed(faces)) = &mut context.dice.source else { return 0 };
        let waiting = faces.len().saturating_sub(context.dice.written as usize);
        faces.truncate(context.dice.written as usize);
        context.state.renew_identity();
        waiting
    }

    /// The roll for which the written dice did not suffice. `None` unless the action stopped for that reason.
    ///
    /// [`Session::push_faces`] sets its faces, and [`Remedy::Retry`] rolls them.
    pub fn missing_roll(&self) -> Option<&MissingRoll> {
        let open = self.game().open.as_ref()?;
        open.fault.as_ref().and(open.missing_roll.as_deref())
    }

    /// The number of finished actions, and the name of the last agenda entry.
    #[doc(hidden)]
    pub fn last_done(&self) -> (usize, Option<&str>) {
        let history = &self.game().history;
        // Rules may have changed since.
        let last = history.iter().rev().find(|done| !matches!(done.cause, super::Cause::Rules { .. }));
        let what = last.and_then(|done| match &done.cause {
            crate::Cause::Entry { what, .. } => Some(&**what),
            _ => None,
        });
        (history.len(), what)
    }

    /// True if the agenda has an entry of this name.
    #[doc(hidden)]
    pub fn is_due(&self, what: &str) -> bool {
        self.game().context.state.agenda().entries().any(|entry| *entry.what == *what)
    }

    /// The key of the entry whose action is open. `None` if no entry's action is open.
    #[doc(hidden)]
    pub fn key_under_way(&self) -> Option<Key> {
        let game = self.game();
        let crate::Cause::Entry { id, .. } = &game.open.as_ref()?.cause else { return None };
        game.context.state.since(0).iter().find_map(|change| match change {
            Change::Unschedule { entry } if entry.id == *id => Some(entry.key),
            _ => None,
        })
    }

    /// True if no action is open and the key of the next agenda entry is less than this one.
    #[doc(hidden)]
    pub fn is_due_before(&self, key: &Key) -> bool {
        let game = self.game();
        game.open.is_none() && game.context.state.agenda().first().is_some_and(|entry| entry.key < *key)
    }

    /// How often the boundary of the rules, such as the end of a round, was passed.
    #[doc(hidden)]
    pub fn boundaries(&self) -> usize {
        let Some(boundary) = self.rules.declarations().boundary.as_deref() else { return 0 };
        let is_boundary =
            |cause: &super::Cause| matches!(cause, super::Cause::Entry { what, .. } if **what == *boundary);
        self.game().history.iter().filter(|done| is_boundary(&done.cause)).count()
    }

    /// Number of finished actions: agenda entries and free acts, each counted once however often it was run.
    pub fn actions(&self) -> u64 {
        self.game().actions
    }

    /// Turns headless mode on or off: without events and history, so nothing can be undone, reported or saved.
    pub fn set_headless(&mut self, headless: bool) {
        let game = self.game_mut();
        game.context.log.listening = !headless;
        game.context.keeps_tape = !headless;
        game.context.state.renew_identity();
    }

    /// The number of written faces that were not rolled yet.
    pub fn unrolled(&self) -> usize {
        match &self.game().context.dice.source {
            DiceSource::Written(faces) | DiceSource::Pushed(faces) => {
                faces.len().saturating_sub(self.game().context.dice.written as usize)
            }
            _ => 0,
        }
    }

    /// The open question with this id.
    #[doc(hidden)]
    pub fn open_question(&self, id: QuestionId) -> Result<&Question, Refusal> {
        self.questions().iter().find(|open| open.id == id).ok_or(Refusal::Stale { question: id })
    }

    /// The number of the open action, if there is one.
    #[doc(hidden)]
    pub fn open_action(&self) -> Option<u32> {
        self.game().open.as_ref().map(|open| open.number)
    }

    /// True if an action has begun and waits for an answer.
    pub fn in_the_middle(&self) -> bool {
        self.game().in_the_middle()
    }

    /// True if something has begun and is not finished: an open action with a tape, or a free act.
    #[doc(hidden)]
    pub fn is_unfinished(&self) -> bool {
        self.game().is_unfinished()
    }

    /// True if a free act waits for the end of the open action.
    #[doc(hidden)]
    pub fn has_waiting_acts(&self) -> bool {
        !self.game().queued.is_empty()
    }

    /// True if a free act of this seat would have to wait for the end of the open action.
    #[doc(hidden)]
    pub fn act_waits(&self, seat: &str) -> bool {
        self.game().act_waits(seat)
    }

    /// The state as canonical bytes: equal states have equal bytes.
    pub fn state_bytes(&self) -> Vec<u8> {
        riskbreaker_state::in_stored_form(|| serde_json::to_vec(&self.game().context.state)).unwrap_or_default()
    }

    /// Copies the game for a look-ahead: without log and history, and with other dice than those to come. The copy has
    /// no effect on the game.
    ///
    /// The copy is before the open action: call [`Session::advance`] to open the same questions.
    pub fn fork(&self) -> Session {
        let mut game = self.game().fork();
        game.context.keeps_tape = true;
        game.context.dice.rng = DiceRng::stream(self.seed(), OTHER_DICE);
        game.context.dice.source = DiceSource::Seeded;
        Session { game: Some(Box::new(game)), rules: self.rules.clone(), work: 0 }
    }

    #[doc(hidden)]
    pub fn game(&self) -> &Game {
        self.game.as_ref().expect("the game returns from every loan")
    }

    #[doc(hidden)]
    pub fn game_mut(&mut self) -> &mut Game {
        self.game.as_mut().expect("the game returns from every loan")
    }

    /// Lends the game to a thread with a script machine of its ruleset, and waits for the result.
    #[doc(hidden)]
    pub fn lend<R: Send + 'static>(
        &mut self,
        work: impl FnOnce(&mut Game, &mut dyn Machine) -> R + Send + 'static,
    ) -> Result<R, SessionError> {
        let counted = move |game: &mut Game, machine: &mut dyn Machine| {
            let before = machine.work_of_thread();
            let result = work(game, machine);
            (result, machine.work_of_thread().wrapping_sub(before))
        };
        let (result, work) = lend(&self.rules, &mut self.game, counted)?;
        self.work = self.work.saturating_add(work);
        Ok(result)
    }

    /// The work of its scripts since it was started or opened, in units of the script budget.
    #[doc(hidden)]
    pub fn work(&self) -> u64 {
        self.work
    }

    /// Runs work on another game of these rules, and returns that game.
    #[doc(hidden)]
    pub fn run_on<R: Send + 'static>(
        &self,
        game: Box<Game>,
        work: impl FnOnce(&mut Game, &mut dyn Machine) -> R + Send + 'static,
    ) -> Result<(Box<Game>, R), SessionError> {
        let mut place = Some(game);
        let result = lend(&self.rules, &mut place, work)?;
        place.map(|game| (game, result)).ok_or(SessionError::Failed)
    }

    /// Runs read-only work on the game.
    pub(crate) fn look<R: Send + 'static>(
        &mut self,
        work: impl FnOnce(&mut Game, &mut dyn Machine) -> Result<R, Fault> + Send + 'static,
    ) -> Result<R, Fault> {
        self.lend(work).unwrap_or_else(|error| Err(Fault::new(error.to_string())))
    }
}

/// Lends a game to a machine. The game is put back even if the job fails.
fn lend<R: Send + 'static>(
    rules: &Ruleset,
    game: &mut Option<Box<Game>>,
    work: impl FnOnce(&mut Game, &mut dyn Machine) -> R + Send + 'static,
) -> Result<R, SessionError> {
    let place = Arc::new(Mutex::new(game.take()));
    let lent = place.clone();
    let result = rules.run(move |machine| {
        let mut place = lent.lock().unwrap_or_else(PoisonError::into_inner);
        let game = place.as_mut()?;
        let result = catch_unwind(AssertUnwindSafe(|| work(game, machine)));
        if result.is_err() {
            machine.discard();
            game.recover();
        }
        result.ok()
    });
    *game = place.lock().unwrap_or_else(PoisonError::into_inner).take();
    match result {
        Ok(Some(result)) => Ok(result),
        Ok(None) => Err(SessionError::Failed),
        Err(_) => Err(SessionError::Worker(rules.id().to_string())),
    }
}
