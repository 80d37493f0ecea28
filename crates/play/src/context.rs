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

/// All that a running script may touch, on the host's side: the state, the tape of the action, the dice, the seats.
///
/// Every primitive of the script side ends here. A primitive that cannot go on sets [`ActionContext::stop`] and every later one
/// refuses; the host judges an action by that flag and never by what the script gave back.
pub struct ActionContext {
    pub rules: Arc<Ruleset>,
    pub state: State,
    /// Values of the switches in force.
    pub switches: Arc<BTreeMap<String, Value>>,
    pub seats: BTreeMap<Arc<str>, Driver>,
    pub dice: DiceSource,
    pub chance: DiceRng,
    pub written: u32,
    /// Faces of a kept game, taken before those of the source.
    pub recorded: RecordedFaces,
    /// Where the dice stood when something was last put on the tape, or when the run began.
    pub tape_end: DicePosition,
    /// The position of the dice after the last free act that drew dice before this action ran on.
    pub drawn_by_others: DicePosition,
    /// Number of the action under way.
    pub action: u32,
    /// The seat whose free act is carried out. Somebody acts for it, also if nobody plays it otherwise.
    pub acts_for: Option<Arc<str>>,
    pub tape: Tape,
    pub cursor: usize,
    pub phase: Phase,
    pub stop: Option<Stop>,
    /// Whether anybody listens to events.
    pub listening: bool,
    /// Whether finished actions are kept with their tapes, for undo, saving and replay.
    pub keeps_tape: bool,
    /// Whether questions to policies are put out like those to people: the caller asks the policy, and sees what it was asked.
    pub overseen: bool,
    pub events: Vec<Event>,
    /// Lines that this run has said, whether anybody listens or not.
    pub said: u32,
    /// Questions met in this run without an answer.
    pub questions: Vec<Question>,
    /// What the roll that waits for typed faces is for, as the tape labels it.
    pub rolled_for: Option<Arc<str>>,
    /// Questions of this run that were not asked because only one answer was possible.
    pub autos: Vec<(Question, Answer)>,
    /// Early answers, by topic, to questions that are not open yet.
    pub early: EarlyAnswers,
    /// The refusal of an early answer, found before dice were rolled.
    pub contradicted: Option<Box<Refusal>>,
    /// The roll for which the written dice did not suffice.
    pub missing_roll: Option<Box<MissingRoll>>,
    /// Stop once the question at this place of the tape has been answered in place, and note the answer.
    pub suggest_at: Option<usize>,
    pub suggested: Option<Answer>,
    /// Whether the start of the game runs: new entities and changes of fields are not told one by one.
    pub at_start: bool,
    /// Whether a tape that does not fit is a fault (a replay) or is cut where it stops fitting.
    pub strict: bool,
    /// Whether answers on a `strict` tape may still be refused by their question's `check`: a game may be saved after an answer
    /// and before its action ran again.
    pub unread_answers: bool,
    /// Ordinal of the first slot that did not fit and was dropped.
    pub dropped: Option<usize>,
    /// Counts rolls, questions and outcomes, to recognize entries that do none of these.
    pub pulse: u64,
    /// The notes that a conversion has reported.
    pub notes: Vec<MigrationNote>,
    /// Set while all paths of an action are explored: it supplies the rolls and answers that the tape does not hold.
    pub explorer: Option<Box<Explorer>>,
    /// The machine that ran it last: another one has to read the state anew.
    pub machine: u64,
    /// How many changes of the action were the host's own, before its script began: its entry is taken off the agenda.
    pub before_script: usize,
    /// Whether the running script is the last one of the open action.
    pub in_last_call: bool,
    /// The key of the entry that runs, or that ran last.
    pub entry_key: Option<Key>,
    /// Set while the headless loop runs.
    pub headless: Option<Box<Headless>>,
    /// Who is told of each finished operation.
    pub observers: Observers,
    /// Places of the tape that not everybody may know of, in this run: who may.
    pub private: BTreeMap<u32, Audience>,
    /// The rolls among these places: how many events had been told before each.
    pub told_before: BTreeMap<u32, usize>,
    /// Answers of this run that are told later.
    pub untold: Vec<Untold>,
    /// The parts of this run that are secret.
    pub secrecy: Secrecy,
    /// How far the run had come at each place of its tape.
    pub reached: Vec<RunProgress>,
    /// Places among the events of answers that were kept back until others were there, too.
    pub unsealed: Vec<u32>,
    /// Places of the tape of questions that show what not everybody may see.
    pub showing: Vec<u32>,
    /// Whether the question that is put next shows such a thing.
    pub question_shows: bool,
    /// Who may see the next roll.
    pub roll_audience: Audience,
    /// The next roll is a draw from a deck: it is not told, and never typed in as real dice.
    pub dealing: bool,
    /// The place on the tape where the race that is being asked began.
    pub race: Option<usize>,
    /// Set if this is the game as a viewer knows it: what was hidden from that viewer.
    pub masked: Option<Box<Masked>>,
    /// The seat for which `deal` of the rules runs before the open action, to deal anew what that seat cannot see.
    pub deals_for: Option<Arc<str>>,
    /// How many changes at the start of the journal `deal` has made.
    pub dealt: usize,
    /// The state as a seat knows it, which scripts read while they compute something that the seat is shown.
    pub glimpse: Option<Box<State>>,
    /// The parts of the number that the next roll needs.
    pub roll_terms: Vec<Term>,
    /// The rolls of this run, and the place behind the one that [`ActionContext::look_at_roll`] looks at.
    pub rolls: Vec<SeenRoll>,
    pub last_roll: usize,
    /// How many entities were looked through for those that hold some values, since somebody asked.
    pub searched: usize,
}

/// A roll of the run under way, for a later look at it.
#[derive(Clone, Debug)]
pub struct SeenRoll {
    pub total: i64,
    pub shows_faces: bool,
    /// While paths are explored: the dice, and how much of the roll the script has seen, if that is less than the total.
    pub unseen: Option<(Arc<Dice>, Sight)>,
}

/// An answer that is told once others are there, too.
#[derive(Clone, Debug)]
pub struct Untold {
    pub ordinal: u32,
    pub happening: Happening,
    pub audience: Audience,
    /// Whether it stays back until the end of the action, or until the rules reveal it.
    pub sealed: bool,
}

/// How much of a roll the script sees.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Sight {
    Total,
    /// Whether this was met.
    Need(Need),
    /// How many of these cuts the total reaches.
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

/// What a script may do at the moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Anything.
    Play,
    /// Only read; the text says in what.
    Pure(&'static str),
    /// Change the state, but neither roll nor ask: a game comes from other rules.
    Conversion,
    /// Change the state and roll, but not ask: what a seat cannot see is dealt anew.
    Deal,
}

/// Why a run ended before its end.
#[derive(Clone, Debug, PartialEq)]
pub enum Stop {
    /// Questions are open.
    Question,
    /// The script ended the action.
    Cut(String),
    /// The rules do not take the answer of a person at this place of the tape.
    Refused { ordinal: usize, topic: String, reason: String },
    /// The script did something it may not.
    Fault { message: String, cure: Option<String> },
}

/// What came of a question.
pub enum Asked {
    Answered(Answer),
    /// This policy should answer.
    Policy(Arc<str>),
    /// Nobody sits there: the default is taken.
    Default,
    /// It waits for somebody.
    Open,
}

/// What the tape held where a question was asked.
pub enum Taped {
    Answered(Answer),
    /// Another question of its race was answered first.
    Closed,
    /// Something else, and it has been cut off.
    Cut,
}

/// What a roll was for, as far as the rule said it.
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

/// The parts of a question that do not depend on how it is answered.
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
    /// A context without a game, for scripts that only work something out.
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

    /// Forgets what the last run of the action left, before the next.
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

    /// Forgets what the last run has rolled and said.
    pub fn forget_rolls(&mut self) {
        self.said = 0;
        self.rolls.clear();
        self.last_roll = 0;
    }

    // Rules of order

    /// Refuses while the action is stopped.
    pub fn may_go_on(&self) -> Result<(), Stop> {
        match &self.stop {
            Some(stop) => Err(stop.clone()),
            None => Ok(()),
        }
    }

    /// Refuses in a read-only phase.
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

    /// Refuses in a conversion, where nothing is left to dice or people, and where no game ends.
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

    /// Whether nobody will ever read what is rolled, asked and said. Then no texts are made and no tape is kept.
    pub fn is_headless(&self) -> bool {
        self.headless.is_some() && self.can_run_headless()
    }

    /// Whether its entries can be run in the headless loop.
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

    /// Whether several entries could go first, and the ruleset says which: that is a part of the action.
    pub fn is_tied(&self) -> bool {
        let agenda = self.state.agenda();
        let tied = agenda.first().filter(|first| agenda.tied_with(first).nth(1).is_some());
        tied.is_some_and(|first| self.rules.settles_ties_of(&first.what))
    }

    // House rules

    /// The value that a house rule would take.
    ///
    /// # Errors
    ///
    /// The nearest name, or the values that it may have.
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

    /// Sets a house rule by hand; says what changed.
    pub fn set_house_rule(&mut self, name: &str, value: &Value) -> Result<String, Refusal> {
        let value = self.house_rule(name, value)?;
        let from = Arc::make_mut(&mut self.switches).insert(name.to_string(), value.clone()).unwrap_or_default();
        self.state.renew_identity();
        Ok(format!("house rule: {name} {from} -> {value}"))
    }

    /// Sets every field that is declared `by_hand`, after somebody has changed the game by hand.
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

    /// What an entity is called: its title field, or its kind and number.
    pub fn title(&self, id: EntityId) -> Arc<str> {
        self.title_for(id, &Audience::nobody())
    }

    /// The same in what an audience is told: by its kind and number, if not all of them may see the title field.
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

    /// Who may see the title field of an entity, if that field has an audience of its own.
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

    /// What a seat calls an entity, for a script that goes by it: what it is made of counts as read.
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
            // Who may see it depends on fields whose reads are not observed.
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

    /// A relation that has no title of its own is called after what it stands between.
    fn title_of_relation(&self, kind: &Kind, one: &Value, other: Option<&Value>, audience: &Audience) -> Arc<str> {
        let (word, one) = (readable_name(&kind.name), self.words_for(one, audience));
        Arc::from(match other.map(|other| self.words_for(other, audience)) {
            None => format!("{one} {word}"),
            Some(other) if kind.mutual => format!("{one} and {other} {word}"),
            Some(other) => format!("{one} {word} {other}"),
        })
    }

    /// A value with titles in the place of entities.
    pub fn titled(&self, value: &Value) -> Value {
        match value {
            Value::Entity(id) => Value::Text(self.title(*id)),
            Value::List(items) => Value::list(items.iter().map(|item| self.titled(item))),
            Value::Map(items) => Value::map(items.iter().map(|(key, item)| (key, self.titled(item)))),
            other => other.clone(),
        }
    }

    /// A value in words, entities by their titles.
    pub fn words(&self, value: &Value) -> String {
        self.words_for(value, &Audience::nobody())
    }

    /// The same in what an audience is told.
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

    /// The same inside a line of the host: a text or a title that could be taken for a part of that line is quoted.
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

    /// Gives options the ids that entities have in a question: the title, with the number where two share it.
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

/// Longest list in words, in bytes: beyond that nobody reads on.
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
