//! The messages to viewers. Each is built for one role, only through [`RoleSight`].

use std::collections::BTreeMap;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::options::TableOptions;
use super::role::{Role, RoleName};
use riskbreaker_play::{
    Ask, Driver, Fault, Happening, Known, Order, Profile, Question, QuestionId, SeatEvent, Session, Step, TakenBack,
    View, Viewer, WorkedOut,
};
use riskbreaker_state::{EntityId, Field, Value};

/// The name of an open question. It is unique at a table, except that a game master's question keeps its name when it
/// is asked again after an undo.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(expecting = "the id of a question: its `action` and its `ordinal`")]
pub struct QuestionName {
    /// Number of the action.
    pub action: u32,
    /// Index within the action, from 0.
    pub ordinal: u32,
    /// Distinguishes the games of a table. Each game that was loaded, and each other entry of a campaign that is put on
    /// the table, has its own number; it is omitted for the first game of a table.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub generation: u64,
}

pub(crate) fn is_zero<N: Default + PartialEq>(number: &N) -> bool {
    *number == N::default()
}

impl QuestionName {
    fn of(id: QuestionId, generation: u64) -> QuestionName {
        QuestionName { action: id.action, ordinal: id.ordinal, generation }
    }

    /// The number of the question in the game of `generation`; `None` if it belongs to another game.
    pub(super) fn within(self, generation: u64) -> Option<QuestionId> {
        (self.generation == generation).then_some(QuestionId { action: self.action, ordinal: self.ordinal })
    }
}

/// An open question.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct OpenQuestion {
    /// The name that `answer` takes. For seats and watchers it counts the viewer's own questions and those it saw
    /// others be asked.
    pub id: QuestionName,
    /// The seat that is asked.
    pub seat: Arc<str>,
    /// A short word such as `card` or `targets`.
    pub topic: Arc<str>,
    /// The entity that the question is about, and its title.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub about: Option<EntityId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<Arc<str>>,
    /// The question, as a sentence.
    pub why: String,
    /// The kind of answer. Of a choice or an allotment with more than 100 options it holds the first of them, open ones
    /// before closed ones.
    pub ask: Ask,
    /// The number of options that `ask` leaves out; `find` finds them by a part of their names.
    #[serde(skip_serializing_if = "is_zero")]
    #[schemars(default)]
    pub more: usize,
    /// The suggested answer, in the form that `answer` takes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub proposal: Option<Value>,
    /// True if the answer stays hidden until all questions asked together are answered.
    pub sealed: bool,
    /// True if this viewer may answer it.
    pub yours: bool,
}

/// An entity with the fields that this viewer may see.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct EntityView {
    pub id: EntityId,
    pub kind: Arc<str>,
    pub title: Arc<str>,
    pub fields: BTreeMap<Arc<str>, Value>,
    /// The profile that the ruleset declares for every client that draws the entity.
    #[serde(flatten)]
    pub profile: Box<Profile>,
}

/// An entity as it was last sent to the viewers of a role.
#[derive(Debug)]
pub(super) struct ToldEntity {
    id: EntityId,
    kind: Arc<str>,
    title: Arc<str>,
    fields: Box<[(Arc<str>, Value)]>,
    profile: Option<Box<Profile>>,
}

impl ToldEntity {
    pub fn view(&self) -> EntityView {
        let fields = self.fields.iter().cloned().collect();
        let profile = self.profile.clone().unwrap_or_default();
        EntityView { id: self.id, kind: self.kind.clone(), title: self.title.clone(), fields, profile }
    }
}

/// A change of an entity: its current view, or the id of one that is gone.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(untagged)]
#[non_exhaustive]
pub enum Changed {
    Now(EntityView),
    Gone { id: EntityId, gone: bool },
}

/// A seat that the game waits for. These seats are public.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Waiting {
    pub seat: Arc<str>,
    /// The number of open questions of the seat that this viewer sees; 0 if all of them are hidden from it.
    pub questions: u32,
}

/// The decisions that a viewer may take back.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct UndoState {
    /// True if this viewer may take back the last decision.
    pub allowed: bool,
    /// The number of decisions that this viewer may take back one after the other; for the game master, all.
    pub decisions: u32,
    /// The decision that the next undo of this viewer would take back; missing if the rules protect it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub takes_back: Option<TakenBack>,
    /// The earliest step that `to` of an undo may name. Earlier decisions belong to others, or the rules protect them.
    /// At most 64 decisions of seats are examined.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reach: Option<u64>,
    /// True if an undo of this viewer asks the table first.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    #[schemars(default)]
    pub asks: bool,
    /// True if this viewer may redo what was taken back.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    #[schemars(default)]
    pub redo: bool,
}

/// The state of the game between two commands.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(tag = "is", rename_all = "snake_case")]
#[non_exhaustive]
pub enum State {
    /// Questions are open.
    Asking,
    /// A script failed, and the game master decides how to continue.
    Fault {
        /// The failure, for the game master.
        #[serde(skip_serializing_if = "Option::is_none")]
        fault: Option<Box<Fault>>,
    },
    Over {
        outcome: String,
    },
}

impl From<Step> for State {
    fn from(step: Step) -> State {
        match step {
            Step::Ask => State::Asking,
            Step::Fault(fault) => State::Fault { fault: Some(Box::new(fault)) },
            Step::Over(outcome) => State::Over { outcome },
        }
    }
}

/// The rules in force.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct RulesInForce {
    pub id: String,
    /// The rulesets on top of it, such as house rules, in addition to the layers of its manifest.
    pub layers: Vec<String>,
    pub title: String,
    pub version: String,
    /// Identifies the content of all files.
    pub hash: String,
    /// Rules that were requested and come into force at the next boundary.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pending: Option<String>,
}

/// The settings of the table.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Settings {
    /// True if commands by seats are refused.
    pub paused: bool,
    pub rules: RulesInForce,
    /// The driver of each seat.
    pub seats: BTreeMap<Arc<str>, Driver>,
    /// House rules in force.
    pub switches: BTreeMap<String, Value>,
    pub options: TableOptions,
}

/// A role with connected people or viewers.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Present {
    pub role: RoleName,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seat: Option<Arc<str>>,
    /// All seats, if there are several.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub seats: Vec<Arc<str>>,
    /// The number of viewers with this role.
    pub viewers: u32,
    /// The names of the connected people.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub people: Vec<Arc<str>>,
    /// The names of people in this role who are not connected.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub absent: Vec<Arc<str>>,
}

/// A line of the chat. It is not part of the game's log, so no undo removes it.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct ChatLine {
    /// The number of the line, which increases by one with each line of the table.
    pub id: u64,
    /// The name of the person.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<Arc<str>>,
    pub role: RoleName,
    /// The seats of the person.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub seats: Vec<Arc<str>>,
    pub text: Arc<str>,
}

/// The state of a vote after a vote was cast.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum VoteOutcome {
    /// Some votes are missing.
    Open,
    Accepted,
    Refused,
}

/// A participant of a vote.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Voter {
    pub role: RoleName,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(default)]
    pub seats: Vec<Arc<str>>,
}

impl Voter {
    pub(super) fn of(role: &Role) -> Voter {
        Voter { role: role.name(), seats: role.seats().to_vec() }
    }
}

/// A vote on an undo as a viewer may see it.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct VoteReport {
    /// The number of the vote, for `vote`.
    pub id: u64,
    /// The participant that requested the undo.
    pub by: Voter,
    /// The name of the person.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<Arc<str>>,
    /// The number of decisions.
    pub decisions: u32,
    /// The decisions, the last one first, as far as this viewer may know them.
    pub takes_back: Vec<TakenBack>,
    /// Those who have agreed.
    pub agreed: Vec<Voter>,
    /// Those whose vote is missing.
    pub asked: Vec<Voter>,
    /// True if this viewer's vote is missing.
    pub yours: bool,
}

/// Everything that a viewer may know of a table.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Snapshot {
    pub table: String,
    pub role: RoleName,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seat: Option<Arc<str>>,
    /// All seats of the viewer, if there are several.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub seats: Vec<Arc<str>>,
    pub seq: u64,
    pub revision: u64,
    pub state: State,
    pub settings: Settings,
    pub entities: Vec<EntityView>,
    pub questions: Vec<OpenQuestion>,
    pub waiting: Vec<Waiting>,
    pub undo: UndoState,
    /// The order of play, if the ruleset has one now.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub order: Option<Order>,
    pub presence: Vec<Present>,
    /// The last lines of the chat.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub chat: Vec<ChatLine>,
    /// The open vote on an undo. Each step ends the vote.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub vote: Option<VoteReport>,
    /// The revision `since`, if the log continues from it; otherwise the log replaces what the client has.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after: Option<u64>,
    /// The last lines of the log, or all events since the requested revision.
    pub log: Vec<SeatEvent>,
    /// The steps that told the lines of `log`, the oldest first. The steps of lines before them are not known.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub steps: Vec<LogStep>,
}

/// A step, and the lines of the log that it told.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct LogStep {
    pub seq: u64,
    /// The revision of its first line.
    pub first: u64,
    /// The revision of its last line.
    pub last: u64,
}

/// All effects of one accepted command, for one viewer.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct StepFrame {
    pub table: String,
    pub seq: u64,
    /// The method that was accepted.
    pub cause: &'static str,
    pub state: State,
    pub events: Vec<SeatEvent>,
    /// The number of events left out, the oldest ones, because all together are too large for one step. `view` with
    /// `since` has them.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub left_out: u64,
    /// All open questions; they replace the previous list.
    pub questions: Vec<OpenQuestion>,
    pub waiting: Vec<Waiting>,
    pub undo: UndoState,
    /// The entities that changed.
    pub changed: Vec<Changed>,
    /// The order of play, if it changed; null if there is none any more.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub order: Option<Option<Order>>,
    /// The settings of the table, if they changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub settings: Option<Settings>,
}

/// Drops the oldest events of a step until the rest has at most `most` bytes as JSON. Events that take others back are
/// kept. Returns the number of dropped events.
pub(super) fn leave_out_oldest(events: &mut Vec<SeatEvent>, most: usize) -> u64 {
    let before = events.len();
    let mut room = most;
    let mut kept: Vec<SeatEvent> = Vec::with_capacity(before);
    for event in events.drain(..).rev() {
        room = room.saturating_sub(json_size(&event));
        if room > 0 || matches!(event.happening, Happening::Back { .. }) {
            kept.push(event);
        }
    }
    kept.reverse();
    *events = kept;
    (before - events.len()) as u64
}

/// The number of bytes of a value as JSON.
fn json_size(value: &impl Serialize) -> usize {
    struct CountedFrame(usize);
    impl std::io::Write for CountedFrame {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0 += bytes.len();
            Ok(bytes.len())
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    let mut counted = CountedFrame(0);
    let _ = serde_json::to_writer(&mut counted, value);
    counted.0
}

/// The part of a game that a role may see. Every message reads the game through this type.
pub(super) struct RoleSight<'r> {
    role: &'r Role,
    viewer: Viewer,
}

impl<'r> RoleSight<'r> {
    pub fn of(role: &'r Role) -> RoleSight<'r> {
        let viewer = match role {
            _ if role.is_master() => Viewer::master(),
            Role::Seat(seat) => Viewer::of_seat(seat),
            role => Viewer::seats(role.seats()),
        };
        RoleSight { role, viewer }
    }

    pub fn viewer(&self) -> Viewer {
        self.viewer.clone()
    }

    /// Returns the part of the game that the role knows now, with the values that scripts compute for clients that draw
    /// it. `shared`: the values computed for the whole game, which apply to every role that knows all of it.
    pub fn drawn(
        &self,
        session: &mut Session,
        shared: &mut Option<Arc<WorkedOut>>,
    ) -> (Known, Arc<WorkedOut>, Option<Order>) {
        let mut seat = session.seen_by(self.viewer());
        let worked_out = match seat.knows_all() {
            true => shared.get_or_insert_with(|| Arc::new(seat.worked_out())).clone(),
            false => Arc::new(seat.worked_out()),
        };
        // If the function for the order of play fails, the game continues without one.
        let order = seat.order().unwrap_or_default();
        (seat.into_known(), worked_out, order)
    }

    /// Returns the part of the game that the role knows now.
    pub fn known(&self, session: &Session) -> Known {
        session.known(&self.viewer)
    }

    /// The open questions that the role sees. `view`: its view of the session. `generation`: the generation of the
    /// game.
    pub fn questions(&self, session: &Session, view: &View<'_>, generation: u64) -> Vec<OpenQuestion> {
        let visible = session.questions_seen_by(&self.viewer);
        visible.into_iter().map(|question| self.question(view, question, generation)).collect()
    }

    pub fn sees_question(&self, question: &Question) -> bool {
        self.viewer.sees(&question.audience)
    }

    fn question(&self, view: &View<'_>, mut question: Question, generation: u64) -> OpenQuestion {
        OpenQuestion {
            more: question.ask.shorten(),
            id: QuestionName::of(question.id, generation),
            title: question.about.map(|id| view.title(id)),
            proposal: question.proposal().map(riskbreaker_play::Answer::to_value),
            yours: self.plays(&question.seat),
            seat: question.seat,
            topic: question.topic,
            about: question.about,
            why: question.why,
            ask: question.ask,
            sealed: question.sealed,
        }
    }

    /// True if the viewer may decide for a seat.
    pub fn plays(&self, seat: &str) -> bool {
        self.role.is_master() || self.role.seats().iter().any(|own| **own == *seat)
    }

    pub fn waiting(&self, session: &Session) -> Vec<Waiting> {
        let seats = session.waits_for(&self.viewer);
        seats.into_iter().map(|(seat, questions)| Waiting { seat, questions }).collect()
    }

    pub fn sees_entity(&self, session: &Session, id: EntityId) -> bool {
        self.known(session).view(session).exists(id)
    }

    fn shows(&self, field: &Field) -> bool {
        self.role.is_master() || field.show
    }

    /// Updates the entities that a viewer has been sent, and returns those that changed. `worked_out`: the derived
    /// values of their profiles.
    pub fn bring_up_to_date(
        &self,
        view: &View<'_>,
        worked_out: &WorkedOut,
        told: &mut Vec<ToldEntity>,
    ) -> Vec<Changed> {
        let mut changed = Vec::new();
        for id in view.entities() {
            let (kind, title) = (view.kind(id).unwrap_or_default(), view.title(id));
            let fields = || view.fields(id).filter(|(field, _)| self.shows(field));
            let profile = view.profile(id, worked_out);
            let profile = (profile != Profile::default()).then(|| Box::new(profile));
            let place = told.binary_search_by_key(&id, |told| told.id);
            let same = place.is_ok_and(|at| {
                let told = &told[at];
                let shown = || fields().map(|(field, value)| (&field.name, value));
                *told.kind == *kind
                    && told.title == title
                    && told.profile == profile
                    && told.fields.iter().map(|(name, value)| (name, value)).eq(shown())
            });
            if !same {
                let fields = fields().map(|(field, value)| (field.name.clone(), value.clone())).collect();
                let entity = ToldEntity { id, kind: kind.into(), title, fields, profile };
                changed.push(Changed::Now(entity.view()));
                match place {
                    Ok(at) => told[at] = entity,
                    Err(at) => told.insert(at, entity),
                }
            }
        }
        told.retain(|entity| {
            let there = view.exists(entity.id);
            if !there {
                changed.push(Changed::Gone { id: entity.id, gone: true });
            }
            there
        });
        changed
    }

    /// The state of the game as the role may see it. `standing`: the state for the game master.
    pub fn state(&self, standing: &State) -> State {
        match standing {
            State::Fault { .. } if !self.role.is_master() => State::Fault { fault: None },
            standing => standing.clone(),
        }
    }
}
