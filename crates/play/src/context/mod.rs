//! The host's side of a running script.

mod answers_in_words;
mod arguments;
mod asking;
mod card_counts;
mod dice_input;
mod early;
mod headless;
mod house_rules;
mod inputs;
mod knowing;
mod knowledge;
mod observer;
mod observers;
mod op;
mod operation;
mod order_reading;
mod path_input;
mod phase;
mod playback;
mod progress;
mod questioning;
mod recorded_faces;
mod resume_point;
mod rolling;
mod run_log;
mod run_rolls;
mod run_state;
mod seat_input;
mod secrecy;
mod sought;
mod telling;
mod typed;
mod view;
mod view_profile;
mod words;

pub(crate) use answers_in_words::{MOST, in_words};
pub(crate) use arguments::{must_be_there, must_take, takes_more, with};
pub use card_counts::CardCounts;
pub(crate) use card_counts::PlayedCard;
pub(crate) use early::EarlyAnswers;
pub(crate) use headless::Current;
pub use headless::Headless;
pub(crate) use knowing::masked;
pub use op::Op;
pub use questioning::fits_auto;
pub(crate) use resume_point::ResumePoint;
pub use typed::{read_typed, typed_form};
pub use view::View;
pub(crate) use view_profile::is_derived;

use std::collections::BTreeMap;
use std::sync::Arc;

use self::observers::Observers;
use crate::{DiceSource, Driver, FaultKind, Ruleset};
use riskbreaker_state::{State, Unfit, Value};

pub use asking::{Answerer, Asked, Asking, Taped};
pub use dice_input::DiceInput;
pub use knowledge::{Knowledge, Masked};
pub use observer::Observer;
pub use path_input::PathInput;
pub use phase::{Phase, Stop};
pub use playback::Playback;
pub use recorded_faces::RecordedFaces;
pub use run_log::{Course, RunLog, RunProgress, Untold};
pub use run_rolls::RunRolls;
pub use run_state::RunState;
pub use seat_input::SeatInput;
pub use sought::Sought;

/// The beginning of the message of a fault for too few written dice.
pub const DICE_RUN_OUT: &str = "the written dice have run out";

/// The host's side of a running script: the state, the tape of the action, the dice and the seats.
///
/// Every host function of a script ends here. One that cannot continue sets [`ActionContext::stop`], and every later
/// call is refused. The host judges an action by that flag and never by the script's return value.
///
/// It has more than thirty methods, since each operation of scripts is one. Each file of this folder has those of one
/// subject.
pub struct ActionContext {
    pub rules: Arc<Ruleset>,
    pub state: State,
    /// Values of the switches in force.
    pub switches: Arc<BTreeMap<String, Value>>,
    /// Where faces come from.
    pub dice: DiceInput,
    /// Where answers come from.
    pub answers: SeatInput,
    /// Set while all paths of an action are explored: it supplies the rolls and answers that the tape does not hold.
    pub paths: Option<Box<dyn PathInput>>,
    /// The tape of the running action.
    pub playback: Playback,
    pub phase: Phase,
    pub stop: Option<Stop>,
    /// The progress of the running action.
    pub run: RunState,
    pub rolls: RunRolls,
    pub log: RunLog,
    /// What scripts may read.
    pub knowledge: Knowledge,
    /// The observers that are notified of each finished operation.
    pub observers: Observers,
    /// True if finished actions are stored with their tapes, for undo, saving and replay.
    pub keeps_tape: bool,
    /// The number of the machine that ran this context last. Another machine has to read the state again.
    pub machine: u64,
    /// Set while the headless loop runs.
    pub headless: Option<Box<Headless>>,
}

impl ActionContext {
    /// Returns a context without a game, for scripts that only compute a value.
    pub fn idle(rules: &Arc<Ruleset>) -> ActionContext {
        ActionContext::new(rules, Arc::new(rules.default_switches()), BTreeMap::new(), DiceSource::Seeded, 0)
    }

    pub fn new(
        rules: &Arc<Ruleset>,
        switches: Arc<BTreeMap<String, Value>>,
        seats: BTreeMap<Arc<str>, Driver>,
        dice: DiceSource,
        seed: u64,
    ) -> ActionContext {
        ActionContext {
            rules: rules.clone(),
            state: State::new(),
            switches,
            dice: DiceInput::new(dice, seed),
            answers: SeatInput::new(seats),
            paths: None,
            playback: Playback::default(),
            phase: Phase::Play,
            stop: None,
            run: RunState::default(),
            rolls: RunRolls::default(),
            log: RunLog { listening: true, ..RunLog::default() },
            knowledge: Knowledge::default(),
            observers: Observers::default(),
            keeps_tape: true,
            machine: 0,
            headless: None,
        }
    }

    /// Clears the results of the last run of the action.
    pub fn forget_run(&mut self) {
        self.log.clear();
        self.rolls.clear();
        self.run.clear();
        self.playback.race = None;
    }

    /// Clears the rolls of the last run and its count of lines.
    pub fn forget_rolls(&mut self) {
        self.log.said = 0;
        self.rolls.clear_made();
    }

    // Order of calls

    /// Refuses while the action is stopped.
    pub fn may_go_on(&self) -> Result<(), Stop> {
        match &self.stop {
            Some(stop) => Err(stop.clone()),
            None => Ok(()),
        }
    }

    /// Fails in a read-only phase.
    pub fn may_act(&mut self, what: &str) -> Result<(), Stop> {
        self.may_go_on()?;
        if let Phase::Pure(where_) = self.phase {
            return Err(self.fault_with(
                format!("{what} is not possible in {where_}, which may only read"),
                Some("move it to `resolve`, a verb or an agenda entry".into()),
            ));
        }
        Ok(())
    }

    /// Fails in a conversion, which may not roll, ask, or end the game.
    pub fn may_leave_open(&mut self, what: &str) -> Result<(), Stop> {
        self.may_act(what)?;
        if self.phase == Phase::Conversion {
            return Err(self.fault_with(
                format!("{what} is not possible in a conversion"),
                Some("say what is left to the game master with `change.decide`".into()),
            ));
        }
        Ok(())
    }

    pub fn fault(&mut self, message: impl Into<String>) -> Stop {
        self.fault_with(message, None)
    }

    pub fn fault_with(&mut self, message: impl Into<String>, cure: Option<String>) -> Stop {
        self.fault_of_kind(FaultKind::Mistake, message.into(), cure)
    }

    /// Stops the run since a question has no open answer.
    pub fn no_open_answer(&mut self, message: impl Into<String>, cure: Option<String>) -> Stop {
        self.fault_of_kind(FaultKind::NoOpenAnswer, message.into(), cure)
    }

    fn fault_of_kind(&mut self, kind: FaultKind, message: String, cure: Option<String>) -> Stop {
        self.stopped_by(Stop::Fault { message, cure, kind, unfit: None })
    }

    /// Stops the run because of a value that does not fit its type.
    pub fn fault_of_value(&mut self, message: String, cure: Option<String>, unfit: Unfit) -> Stop {
        self.stopped_by(Stop::Fault { message, cure, kind: FaultKind::Mistake, unfit: Some(Box::new(unfit)) })
    }

    /// Notes a fault, unless the run has stopped already.
    fn stopped_by(&mut self, stop: Stop) -> Stop {
        if self.stop.is_none() {
            self.stop = Some(stop.clone());
        }
        stop
    }

    /// True if nobody will ever read rolls, questions and lines. Then no texts are made and no tape is kept.
    pub fn is_headless(&self) -> bool {
        self.headless.is_some() && self.can_run_headless()
    }

    /// True if the entries of this game can run in the headless loop.
    pub fn can_run_headless(&self) -> bool {
        !self.log.listening
            && !self.keeps_tape
            && !self.answers.overseen
            && self.paths.is_none()
            && self.dice.source == DiceSource::Seeded
            && !self.answers.seats.values().any(|driver| matches!(driver, Driver::Human))
    }

    /// The policies that play seats.
    pub fn policies(&self) -> impl Iterator<Item = &str> {
        self.answers.seats.values().filter_map(Driver::policy)
    }

    /// True if several entries could be next and the ruleset decides which. That decision is part of the action.
    pub fn is_tied(&self) -> bool {
        let agenda = self.state.agenda();
        let tied = agenda.first().filter(|first| agenda.tied_with(first).nth(1).is_some());
        tied.is_some_and(|first| self.rules.settles_ties_of(&first.what))
    }
}
