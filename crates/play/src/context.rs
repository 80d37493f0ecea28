use std::collections::BTreeMap;
use std::sync::Arc;

use super::early::EarlyAnswers;
use super::explorer::Explorer;
use super::observers::Observers;
use super::operation::Op;
use super::peek::RunProgress;
use super::recorded::RecordedFaces;
use super::secrecy::Secrecy;
use super::{
    Answer, Choice, DicePosition, DiceSource, Driver, Event, Happening, Headless, Masked, MigrationNote, MissingRoll,
    Question, Refusal, Ruleset, Tape, Term, Viewer, marked_part,
};
use riskbreaker_dice::{Dice, DiceRng};
use riskbreaker_state::{Audience, EntityId, FieldId, Key, Kind, KindId, State, Value, readable_name};

/// The beginning of the message of a fault for too few written dice.
pub const DICE_RUN_OUT: &str = "the written dice have run out";

/// The host's side of a running script: the state, the tape of the action, the dice and the seats.
///
/// Every host function of a script ends here. One that cannot continue sets [`ActionContext::stop`], and every later
/// call is refused. The host judges an action by that flag and never by the script's return value.
pub struct ActionContext {
    pub rules: Arc<Ruleset>,
    pub state: State,
    /// Values of the switches in force.
    pub switches: Arc<BTreeMap<String, Value>>,
    pub seats: BTreeMap<Arc<str>, Driver>,
    pub dice: DiceSource,
    pub chance: DiceRng,
    pub written: u32,
    /// Recorded faces of a saved game, taken before those of the source.
    pub recorded: RecordedFaces,
    /// The position of the dice when the last slot was added to the tape, or when the run began.
    pub tape_end: DicePosition,
    /// The position of the dice after the last free act that drew dice before this action continued.
    pub drawn_by_others: DicePosition,
    /// Number of the running action.
    pub action: u32,
    /// The seat whose free act is carried out. Its questions are asked even if the seat is not played otherwise.
    pub acts_for: Option<Arc<str>>,
    pub tape: Tape,
    pub cursor: usize,
    pub phase: Phase,
    pub stop: Option<Stop>,
    /// True if events have readers.
    pub listening: bool,
    /// True if finished actions are stored with their tapes, for undo, saving and replay.
    pub keeps_tape: bool,
    /// True if questions to policies are left open like those to people: the caller then asks the policy and sees the
    /// question.
    pub overseen: bool,
    pub events: Vec<Event>,
    /// Number of lines that this run has said, whether or not events have readers.
    pub said: u32,
    /// Questions of this run that have no answer yet.
    pub questions: Vec<Question>,
    /// The tape label of the roll that waits for typed faces.
    pub rolled_for: Option<Arc<str>>,
    /// Questions of this run that were not asked because only one answer was possible.
    pub autos: Vec<(Question, Answer)>,
    /// Early answers, by topic, to questions that are not open yet.
    pub early: EarlyAnswers,
    /// The refusal of an early answer, found before dice were rolled.
    pub contradicted: Option<Box<Refusal>>,
    /// The roll for which the written dice did not suffice.
    pub missing_roll: Option<Box<MissingRoll>>,
    /// The tape slot of the question whose answer is wanted. Once it is answered in place, the run stops.
    pub suggest_at: Option<usize>,
    /// The answer to that question.
    pub suggested: Option<Answer>,
    /// True while the start of the game runs: new entities and changed fields get no events of their own.
    pub at_start: bool,
    /// True if a tape that does not fit is a fault (a replay). If false, the tape is cut where it stops fitting.
    pub strict: bool,
    /// True if the `check` of a question may still refuse answers on a `strict` tape: a game may have been saved after
    /// an answer and before its action ran again.
    pub unread_answers: bool,
    /// Index of the first tape slot that did not fit and was dropped.
    pub dropped: Option<usize>,
    /// Counts rolls, questions and outcomes, to recognize idle entries.
    pub pulse: u64,
    /// The notes of a conversion.
    pub notes: Vec<MigrationNote>,
    /// Set while all paths of an action are explored: it supplies the rolls and answers that the tape does not hold.
    pub explorer: Option<Box<Explorer>>,
    /// The number of the machine that ran this context last. Another machine has to read the state again.
    pub machine: u64,
    /// The number of changes that the host itself made before the script began, such as taking the entry off the
    /// agenda.
    pub before_script: usize,
    /// True while the last script of the open action runs.
    pub in_last_call: bool,
    /// The key of the entry that runs, or that ran last.
    pub entry_key: Option<Key>,
    /// Set while the headless loop runs.
    pub headless: Option<Box<Headless>>,
    /// The observers that are notified of each finished operation.
    pub observers: Observers,
    /// The tape slots of this run that are not public, with the audience of each.
    pub private: BTreeMap<u32, Audience>,
    /// For each roll in such a slot: the number of events before it.
    pub told_before: BTreeMap<u32, usize>,
    /// Answers of this run that the log shows later.
    pub untold: Vec<Untold>,
    /// The parts of this run that are secret.
    pub secrecy: Secrecy,
    /// The progress of the run at each tape slot.
    pub reached: Vec<RunProgress>,
    /// Indices of the events that showed answers which were held back until all were given.
    pub unsealed: Vec<u32>,
    /// Tape slots of questions that show something secret.
    pub showing: Vec<u32>,
    /// True if the next question shows something secret.
    pub question_shows: bool,
    /// Who may see the next roll.
    pub roll_audience: Audience,
    /// True if the next roll is a draw from a deck: it gets no event and is never typed in as real dice.
    pub dealing: bool,
    /// The tape slot at which the running race of questions began.
    pub race: Option<usize>,
    /// Set if this is the game as one viewer knows it: the values that are hidden from that viewer.
    pub masked: Option<Box<Masked>>,
    /// The seat for which the rules' `deal` runs before the open action, to resample what that seat cannot see.
    pub deals_for: Option<Arc<str>>,
    /// The number of changes at the start of the journal that `deal` made.
    pub dealt: usize,
    /// The state as a seat knows it. Scripts read it while they compute something that is shown to the seat.
    pub glimpse: Option<Box<State>>,
    /// The terms of the number that the next roll needs.
    pub roll_terms: Vec<Term>,
    /// The rolls of this run.
    pub rolls: Vec<SeenRoll>,
    /// The index after the roll that [`ActionContext::look_at_roll`] reads.
    pub last_roll: usize,
    /// The number of entities that queries have searched since it was last reset, as a measure of work.
    pub searched: usize,
}

/// A roll of the running action, for [`ActionContext::look_at_roll`].
#[derive(Clone, Debug)]
pub struct SeenRoll {
    pub total: i64,
    pub shows_faces: bool,
    /// While paths are explored: the dice, and how much of the roll the script has seen, if less than the total.
    pub unseen: Option<(Arc<Dice>, Sight)>,
}

/// An answer whose event is held back until other answers are given.
#[derive(Clone, Debug)]
pub struct Untold {
    pub ordinal: u32,
    pub happening: Happening,
    pub audience: Audience,
    /// True if the answer is held back until the end of the action, or until the rules reveal it.
    pub sealed: bool,
}

/// How much of a roll a script sees.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Sight {
    Total,
    /// Only whether this target was met.
    Need(Need),
    /// Only how many of these thresholds the total reaches.
    Cuts(Arc<[i64]>),
    /// The kept faces, the highest first.
    Faces,
    /// The kept faces in the order rolled.
    Ordered,
    /// The ranks of the kept faces, in the order rolled.
    Ranks,
}

impl Sight {
    pub fn need(&self) -> Need {
        match self {
            Sight::Need(need) => *need,
            _ => Need::Nothing,
        }
    }
}

/// What a script may do at present.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Everything.
    Play,
    /// Only read. The text names the place for messages.
    Pure(&'static str),
    /// Change the state, but neither roll nor ask: the state is being converted to other rules.
    Conversion,
    /// Change the state and roll, but not ask: `deal` resamples what a seat cannot see.
    Deal,
}

/// The reason why a run stopped before its end.
#[derive(Clone, Debug, PartialEq)]
pub enum Stop {
    /// Questions are open.
    Question,
    /// The script ended the action.
    Cut(String),
    /// The rules refused the answer in this tape slot.
    Refused { ordinal: usize, topic: String, reason: String },
    /// The script did something it may not.
    Fault { message: String, cure: Option<String> },
}

/// How a question is to be answered.
pub enum Asked {
    Answered(Answer),
    /// By this policy.
    Policy(Arc<str>),
    /// By the default, since nobody plays the seat.
    Default,
    /// By a person: the question stays open.
    Open,
}

/// The content of the tape slot for a question that is asked.
pub enum Taped {
    Answered(Answer),
    /// Another question of its race was answered first.
    Closed,
    /// Something that does not fit; it has been cut off.
    Cut,
}

/// The target of a roll, if the rule gives one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Need {
    Nothing,
    Under(i64),
    AtMost(i64),
    AtLeast(i64),
}

impl Need {
    pub fn met(self, total: i64) -> Option<bool> {
        match self {
            Need::Nothing => None,
            Need::Under(n) => Some(total < n),
            Need::AtMost(n) => Some(total <= n),
            Need::AtLeast(n) => Some(total >= n),
        }
    }

    pub fn words(self) -> Option<String> {
        match self {
            Need::Nothing => None,
            Need::Under(n) => Some(format!("under {n}")),
            Need::AtMost(n) => Some(format!("at most {n}")),
            Need::AtLeast(n) => Some(format!("at least {n}")),
        }
    }
}

/// The seat, topic and subject of a question, which do not depend on its answer.
#[derive(Clone)]
pub struct Asking {
    pub seat: Arc<str>,
    pub topic: Arc<str>,
    pub about: Option<EntityId>,
}

impl Asking {
    pub fn of(question: &Question) -> Asking {
        Asking { seat: question.seat.clone(), topic: question.topic.clone(), about: question.about }
    }
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
            seats,
            dice,
            chance: DiceRng::new(seed),
            written: 0,
            recorded: RecordedFaces::default(),
            tape_end: DicePosition::default(),
            drawn_by_others: DicePosition::default(),
            action: 0,
            tape: Tape::default(),
            cursor: 0,
            phase: Phase::Play,
            stop: None,
            acts_for: None,
            listening: true,
            keeps_tape: true,
            overseen: false,
            events: Vec::new(),
            said: 0,
            questions: Vec::new(),
            rolled_for: None,
            autos: Vec::new(),
            early: EarlyAnswers::default(),
            contradicted: None,
            missing_roll: None,
            suggest_at: None,
            suggested: None,
            at_start: false,
            strict: false,
            unread_answers: false,
            dropped: None,
            pulse: 0,
            notes: Vec::new(),
            explorer: None,
            machine: 0,
            before_script: 0,
            in_last_call: false,
            entry_key: None,
            headless: None,
            observers: Observers::default(),
            private: BTreeMap::new(),
            told_before: BTreeMap::new(),
            untold: Vec::new(),
            secrecy: Secrecy::default(),
            reached: Vec::new(),
            unsealed: Vec::new(),
            showing: Vec::new(),
            question_shows: false,
            roll_audience: Audience::Everybody,
            dealing: false,
            race: None,
            masked: None,
            deals_for: None,
            dealt: 0,
            glimpse: None,
            roll_terms: Vec::new(),
            rolls: Vec::new(),
            last_roll: 0,
            searched: 0,
        }
    }

    /// Clears the results of the last run of the action.
    pub fn forget_run(&mut self) {
        self.events.clear();
        self.roll_terms.clear();
        self.forget_rolls();
        self.questions.clear();
        self.autos.clear();
        self.private.clear();
        self.told_before.clear();
        self.untold.clear();
        self.secrecy = Secrecy::default();
        self.reached.clear();
        self.unsealed.clear();
        self.showing.clear();
        self.question_shows = false;
        self.roll_audience = Audience::Everybody;
        self.dealing = false;
        self.race = None;
        self.in_last_call = false;
    }

    /// Clears the rolls of the last run and its count of lines.
    pub fn forget_rolls(&mut self) {
        self.said = 0;
        self.rolls.clear();
        self.last_roll = 0;
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
        let stop = Stop::Fault { message: message.into(), cure };
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
        !self.listening
            && !self.keeps_tape
            && !self.overseen
            && self.explorer.is_none()
            && self.dice == DiceSource::Seeded
            && !self.seats.values().any(|driver| matches!(driver, Driver::Human))
    }

    /// The policies that play seats.
    pub fn policies(&self) -> impl Iterator<Item = &str> {
        self.seats.values().filter_map(Driver::policy)
    }

    /// True if several entries could be next and the ruleset decides which. That decision is part of the action.
    pub fn is_tied(&self) -> bool {
        let agenda = self.state.agenda();
        let tied = agenda.first().filter(|first| agenda.tied_with(first).nth(1).is_some());
        tied.is_some_and(|first| self.rules.settles_ties_of(&first.what))
    }

    // House rules

    /// Converts the typed value of a house rule to the value that the rule would get.
    ///
    /// # Errors
    ///
    /// The nearest name, or the values that the rule allows.
    pub fn house_rule(&self, name: &str, value: &Value) -> Result<Value, Refusal> {
        let Some(switch) = self.rules.switch(name) else {
            let names = self.rules.switches().map(|switch| &*switch.name);
            let sentence = format!("{} has no house rule `{name}`", self.rules.id());
            return Err(Refusal::unknown_among_many(sentence, name, names));
        };
        let typed = match value {
            Value::Bool(yes) => yes.to_string(),
            value => value.to_string(),
        };
        let value = switch.parse(&typed)?;
        Ok(value.as_value())
    }

    /// Sets a house rule as an edit. Returns a line that says what changed.
    pub fn set_house_rule(&mut self, name: &str, value: &Value) -> Result<String, Refusal> {
        let value = self.house_rule(name, value)?;
        let from = Arc::make_mut(&mut self.switches).insert(name.to_string(), value.clone()).unwrap_or_default();
        self.state.renew_identity();
        Ok(format!("house rule: {name} {from} -> {value}"))
    }

    /// Sets every field that is declared `by_hand`, after an edit of the game.
    pub fn note_change_by_hand(&mut self) {
        let rules = self.rules.clone();
        for (at, kind) in rules.schema().kinds.iter().enumerate() {
            for (place, _) in kind.fields.iter().enumerate().filter(|(_, field)| field.by_hand) {
                let (kind, field) = (KindId(at as u16), FieldId(place as u16));
                let entities = self.state.entities().filter(|(_, entity)| entity.kind == kind);
                let ids: Vec<EntityId> = entities.map(|(id, _)| id).collect();
                for id in ids {
                    self.state.set(id, field, Value::Bool(true));
                    self.state.note_stale(id, field);
                }
            }
        }
    }

    // Words

    /// The title of an entity: the value of its title field, or else its kind and number.
    pub fn title(&self, id: EntityId) -> Arc<str> {
        self.title_for(id, &Audience::nobody())
    }

    /// Like [`ActionContext::title`], in a text for an audience: kind and number if not everybody in it may see the
    /// title field.
    pub fn title_for(&self, id: EntityId, audience: &Audience) -> Arc<str> {
        let Some(entity) = self.state.entity(id) else { return Arc::from(id.to_string()) };
        let kind = self.rules.schema().kind(entity.kind);
        let title = kind.title.filter(|_| self.is_named_to(id, audience));
        match title.map(|field| &entity.fields[field.0 as usize]) {
            Some(Value::Text(text)) if !text.is_empty() => text.clone(),
            _ => match (kind.relates.as_slice(), entity.fields.as_slice()) {
                ([one], fields) => self.title_of_relation(kind, &fields[one.0 as usize], None, audience),
                ([one, other], fields) => {
                    let other = Some(&fields[other.0 as usize]);
                    self.title_of_relation(kind, &fields[one.0 as usize], other, audience)
                }
                _ => Arc::from(format!("{} {}", kind.name, id.0)),
            },
        }
    }

    /// The audience of an entity's title field, if that field has an audience of its own.
    pub fn title_audience(&self, id: EntityId) -> Option<Audience> {
        let schema = self.rules.schema();
        let kind = schema.kind(self.state.entity(id)?.kind);
        let field = kind.title.filter(|field| kind.field(*field).audience.is_some())?;
        Some(self.state.field_audience(schema, id, field, None))
    }

    fn is_named_to(&self, id: EntityId, audience: &Audience) -> bool {
        match (self.title_audience(id), audience) {
            (None | Some(Audience::Everybody), _) => true,
            (Some(_), Audience::Everybody) => false,
            (Some(named), Audience::Only(seats)) => seats.iter().all(|seat| Viewer::seat(seat).sees(&named)),
        }
    }

    /// The title of an entity for a seat, read by a script. Records the fields that the title is made of as read.
    pub fn read_title(&mut self, id: EntityId, seat: &str) -> Arc<str> {
        if self.observers.fixed_entities().is_some() {
            self.note_title(id);
        }
        self.title_for(id, &Audience::named(seat))
    }

    fn note_title(&mut self, id: EntityId) {
        let rules = self.rules.clone();
        let Some(kind) = self.state.entity(id).map(|entity| rules.schema().kind(entity.kind)) else { return };
        if kind.title.is_some_and(|field| kind.field(field).audience.is_some()) {
            // The audience depends on fields whose reads are not observed.
            self.observers.observe(&Op::Glimpse);
        }
        if let Some(field) = kind.title
            && let Some(Value::Text(text)) = self.read(id, field)
            && !text.is_empty()
        {
            return;
        }
        if kind.relates.is_empty() {
            self.observers.observe(&Op::ReadId { entity: id, state: &self.state });
        }
        for end in &kind.relates {
            if let Some(Value::Entity(other)) = self.read(id, *end).cloned() {
                self.note_title(other);
            }
        }
    }

    /// The title of a relation that has no title field, made from the titles of its two ends.
    fn title_of_relation(&self, kind: &Kind, one: &Value, other: Option<&Value>, audience: &Audience) -> Arc<str> {
        let (word, one) = (readable_name(&kind.name), self.words_for(one, audience));
        Arc::from(match other.map(|other| self.words_for(other, audience)) {
            None => format!("{one} {word}"),
            Some(other) if kind.mutual => format!("{one} and {other} {word}"),
            Some(other) => format!("{one} {word} {other}"),
        })
    }

    /// Returns the value with titles in place of entities.
    pub fn titled(&self, value: &Value) -> Value {
        match value {
            Value::Entity(id) => Value::Text(self.title(*id)),
            Value::List(items) => Value::list(items.iter().map(|item| self.titled(item))),
            Value::Map(items) => Value::map(items.iter().map(|(key, item)| (key, self.titled(item)))),
            other => other.clone(),
        }
    }

    /// Converts a value to text, with entities by title.
    pub fn words(&self, value: &Value) -> String {
        self.words_for(value, &Audience::nobody())
    }

    /// Like [`ActionContext::words`], in a text for an audience.
    pub fn words_for(&self, value: &Value, audience: &Audience) -> String {
        let words = |item: &Value| self.words_for(item, audience);
        match value {
            Value::Entity(id) => self.title_for(*id, audience).to_string(),
            Value::List(items) if !items.is_empty() => joined(items.iter().map(words)),
            Value::Map(items) if !items.is_empty() => {
                joined(items.iter().map(|(key, item)| format!("{key}: {}", words(item))))
            }
            Value::Text(text) if text.is_empty() => "nothing".into(),
            other => other.to_string(),
        }
    }

    /// Like [`ActionContext::words_for`], inside a line of the host: quotes a text or title that could be taken for a
    /// part of that line.
    pub fn words_of_change(&self, value: &Value, audience: &Audience) -> String {
        let words = |item: &Value| self.words_of_change(item, audience);
        match value {
            Value::List(items) if !items.is_empty() => joined(items.iter().map(words)),
            Value::Map(items) if !items.is_empty() => {
                joined(items.iter().map(|(key, item)| format!("{}: {}", marked_part(key), words(item))))
            }
            Value::Text(_) | Value::Entity(_) => marked_part(&self.words_for(value, audience)).into_owned(),
            other => self.words_for(other, audience),
        }
    }

    /// Sets the ids of options that are entities: the title, followed by the number if two options share it.
    pub fn settle_ids(options: &mut [(Choice, Option<EntityId>)]) {
        let is_shared = |at: usize| {
            let (own, _) = &options[at];
            let mut others = options.iter().enumerate().filter(|(other, _)| *other != at);
            others.any(|(_, (other, _))| other.label == own.label || other.id == own.id)
        };
        let shared: Vec<bool> =
            options.iter().enumerate().map(|(at, (_, entity))| entity.is_some() && is_shared(at)).collect();
        for ((choice, entity), _) in options.iter_mut().zip(shared).filter(|(_, shared)| *shared) {
            let Some(entity) = entity else { continue };
            choice.id = Arc::from(format!("{}{entity}", choice.label));
            choice.note.get_or_insert_with(|| entity.to_string());
        }
    }
}

/// Longest list in a text, in bytes.
const LONGEST_LIST: usize = 4_000;

fn joined(parts: impl Iterator<Item = String>) -> String {
    let mut text = String::new();
    for part in parts {
        if !text.is_empty() {
            text.push_str(", ");
        }
        if text.len() > LONGEST_LIST {
            text.push_str("...");
            break;
        }
        text.push_str(&part);
    }
    text
}
