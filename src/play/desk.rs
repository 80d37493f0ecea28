use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::num::NonZero;
use std::sync::Arc;

use super::explorer::{Explorer, Foretold};
use super::{
    Answer, Ask, By, Choice, DicePosition, DiceSource, Driver, Event, Happening, Onward, Question, QuestionId, Refusal,
    Rote, Slot, Tape, TransferNote,
};
use crate::dice::{Chance, Dice, Roll, Seen};
use crate::ruleset::Ruleset;
use crate::state::{Change, EntityId, EntryId, FieldId, Key, State, Value};

/// How the fault begins that is told when written dice do not suffice.
pub(crate) const DICE_RUN_OUT: &str = "the written dice have run out";

/// All that a running script may touch, on the host's side: the state, the tape of the action, the dice, the seats.
///
/// Every primitive of the script side ends here. A primitive that cannot go on sets [`Desk::stop`] and every later one
/// refuses; the host judges an action by that flag and never by what the script gave back.
pub(crate) struct Desk {
    pub rules: Arc<Ruleset>,
    pub state: State,
    /// Values of the switches in force.
    pub switches: Arc<BTreeMap<String, Value>>,
    pub seats: BTreeMap<Arc<str>, Driver>,
    pub dice: DiceSource,
    pub chance: Chance,
    pub written: u32,
    /// Number of the action under way.
    pub action: u32,
    pub tape: Tape,
    pub cursor: usize,
    pub phase: Phase,
    pub stop: Option<Stop>,
    /// Whether anybody listens to events.
    pub listening: bool,
    /// Whether what is rolled and answered has to be found again.
    pub keeps_tape: bool,
    pub events: Vec<Event>,
    /// Questions met in this run without an answer.
    pub questions: Vec<Question>,
    /// What the roll that waits for typed faces is for, as the tape labels it.
    pub rolled_for: Option<Arc<str>>,
    /// Questions of this run that only one answer was possible to, so that nobody was asked.
    pub autos: Vec<(Question, Answer)>,
    /// What a person has said besides, by topic, and nothing has asked for yet.
    pub named: Vec<(String, Value)>,
    /// What of that cannot be, found before dice were rolled.
    pub contradicted: Option<Refusal>,
    /// Stop once the question at this place of the tape has been answered in place, and note the answer.
    pub suggest_at: Option<usize>,
    pub suggested: Option<Answer>,
    /// The start of a game: what comes into being is not told piece by piece.
    pub quiet: bool,
    /// Whether a tape that does not fit is a fault (a replay) or is cut where it stops fitting.
    pub strict: bool,
    /// Ordinal of the first slot that did not fit and was dropped.
    pub dropped: Option<usize>,
    /// Rolls, questions and outcomes met, to tell a game that turns in circles.
    pub pulse: u64,
    /// What a conversion says of itself.
    pub notes: Vec<TransferNote>,
    /// Whether a script has looked at the time or the number of an agenda entry, or named one, since this was reset.
    pub sees_time: bool,
    /// Where every way of an action is explored: it answers what the tape does not hold.
    pub explorer: Option<Box<Explorer>>,
    /// How many changes of the action were the host's own, before its script began: its entry is taken off the agenda.
    pub before_script: usize,
    /// Where the game runs on inside the script machine.
    pub onward: Option<Onward>,
    /// Names the moment at which all games of a simulation begin, for as long as only what is learned by rote has been played
    /// since.
    pub origin: Option<NonZero<u64>>,
    /// Where it learns: what entries have done before.
    pub rote: Option<Box<Rote>>,
}

/// How much of a roll the script sees.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Sight {
    Total,
    /// Whether what is needed was met.
    Need,
    /// How many of these cuts are reached; filled in only where ways are explored.
    Cuts(Vec<i64>),
    /// The kept faces, the highest first.
    Faces,
    /// The kept faces in the order rolled.
    Ordered,
}

/// What a script may do at the moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Phase {
    /// Anything.
    Play,
    /// Only read; the text says in what.
    Pure(&'static str),
    /// Change the state, but neither roll nor ask: a game comes from other rules.
    Conversion,
}

/// Why a run ended before its end.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Stop {
    /// Questions are open.
    Question,
    /// The script ended the action.
    Cut(String),
    /// The answer of a person at this place of the tape does not stand.
    Refused { ordinal: usize, reason: String },
    /// The script did something it may not.
    Fault { message: String, cure: Option<String> },
}

/// What came of a question.
pub(crate) enum Asked {
    Answered(Answer),
    /// This policy should answer.
    Policy(Arc<str>),
    /// It waits for somebody.
    Open,
}

/// What a roll was for, as far as the rule said it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Need {
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

    fn words(self) -> Option<String> {
        match self {
            Need::Nothing => None,
            Need::Under(n) => Some(format!("under {n}")),
            Need::AtMost(n) => Some(format!("at most {n}")),
            Need::AtLeast(n) => Some(format!("at least {n}")),
        }
    }
}

/// Dice of one sort and a number, of which is seen their total, or whether it meets what is needed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Throw {
    pub count: u32,
    pub sides: u32,
    pub plus: i64,
    pub need: Need,
}

impl Throw {
    /// Draws the dice: a number, or yes or no.
    pub fn draw(self, chance: &mut Chance) -> Value {
        let faces: i64 = (0..self.count).map(|_| i64::from(chance.face(self.sides))).sum();
        let total = faces + self.plus;
        self.need.met(total).map_or(Value::Int(total), Value::Bool)
    }
}

/// The parts of a question that do not depend on how it is answered.
pub(crate) struct Asking {
    pub seat: Arc<str>,
    pub topic: Arc<str>,
    pub about: Option<EntityId>,
}

impl Desk {
    /// A desk without a game, for scripts that only work something out.
    pub fn idle(rules: &Arc<Ruleset>) -> Desk {
        Desk::new(rules, Arc::new(rules.default_switches()), BTreeMap::new(), DiceSource::Seeded, 0)
    }

    pub fn new(
        rules: &Arc<Ruleset>,
        switches: Arc<BTreeMap<String, Value>>,
        seats: BTreeMap<Arc<str>, Driver>,
        dice: DiceSource,
        seed: u64,
    ) -> Desk {
        Desk {
            rules: rules.clone(),
            state: State::new(),
            switches,
            seats,
            dice,
            chance: Chance::new(seed),
            written: 0,
            action: 0,
            tape: Tape::default(),
            cursor: 0,
            phase: Phase::Play,
            stop: None,
            listening: true,
            keeps_tape: true,
            events: Vec::new(),
            questions: Vec::new(),
            rolled_for: None,
            autos: Vec::new(),
            named: Vec::new(),
            contradicted: None,
            suggest_at: None,
            suggested: None,
            quiet: false,
            strict: false,
            dropped: None,
            pulse: 0,
            notes: Vec::new(),
            sees_time: false,
            explorer: None,
            before_script: 0,
            onward: None,
            origin: None,
            rote: None,
        }
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

    /// Refuses where nothing may be left to dice or people.
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

    /// Whether nobody will ever ask what was rolled, asked and said: the script side settles it all by itself then.
    pub fn settles_quietly(&self) -> bool {
        !self.listening
            && !self.keeps_tape
            && self.explorer.is_none()
            && self.dice == DiceSource::Seeded
            && !self.seats.values().any(|driver| *driver == Driver::Human)
    }

    /// Whether no person sits anywhere, so that no question will ever be shown.
    pub fn is_unattended(&self) -> bool {
        self.explorer.is_none()
            && self.suggest_at.is_none()
            && self.dice != DiceSource::Typed
            && !self.seats.values().any(|driver| *driver == Driver::Human)
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
            return Err(Refusal::new(match crate::ruleset::nearest(name, names) {
                Some(near) => format!("{} has no house rule `{name}`; did you mean `{near}`?", self.rules.id()),
                None => format!("{} has no house rule `{name}`", self.rules.id()),
            }));
        };
        let typed = match value {
            Value::Bool(yes) => yes.to_string(),
            value => value.to_string(),
        };
        let value = switch.parse(&typed).map_err(|error| Refusal::new(error.to_string()))?;
        Ok(value.as_value())
    }

    /// Sets a house rule by hand; says what changed.
    pub fn set_house_rule(&mut self, name: &str, value: &Value) -> Result<String, Refusal> {
        let value = self.house_rule(name, value)?;
        let from = Arc::make_mut(&mut self.switches).insert(name.to_string(), value.clone()).unwrap_or_default();
        self.state.renew_identity();
        Ok(format!("house rule: {name} {from} -> {value}"))
    }

    // Dice

    pub fn position(&self) -> DicePosition {
        DicePosition { words: self.chance.position(), written: self.written }
    }

    pub fn set_position(&mut self, position: DicePosition) {
        self.chance.set_position(position.words);
        self.written = position.written;
    }

    /// Rolls dice, or reads the roll off the tape. `tell` words what the roll is for; it is called only if someone listens.
    pub fn roll(
        &mut self,
        dice: &Dice,
        label: &Arc<str>,
        need: Need,
        sight: Sight,
        tell: impl Fn(&Desk) -> String,
    ) -> Result<Roll, Stop> {
        self.may_leave_open("rolling dice")?;
        if self.explorer.is_some() && self.cursor >= self.tape.slots.len() {
            return self.foresee(dice, label, need, sight);
        }
        let roll = self.draw(dice, label, &tell)?;
        if self.listening {
            let total = roll.total();
            let drawn = roll.drawn();
            let happening = Happening::Rolled {
                label: tell(self),
                dice: Arc::from(dice.to_string()),
                total,
                need: need.words(),
                success: need.met(total),
                explain: (drawn.len() != 1 || i64::from(drawn[0]) != total).then(|| roll.explain()),
                faces: drawn,
            };
            self.tell(happening, None);
        }
        Ok(roll)
    }

    /// Asks the explorer for something; it looks at the desk.
    fn explored<R>(&mut self, ask: impl FnOnce(&mut Explorer, &Desk) -> Option<R>) -> Option<R> {
        let mut explorer = self.explorer.take()?;
        let found = ask(&mut explorer, self);
        self.explorer = Some(explorer);
        found
    }

    /// The roll on the way that is explored.
    fn foresee(&mut self, dice: &Dice, label: &Arc<str>, need: Need, sight: Sight) -> Result<Roll, Stop> {
        let seen = match (sight, need) {
            (Sight::Faces, _) => Seen::Faces,
            (Sight::Ordered, _) => Seen::Ordered,
            (Sight::Cuts(cuts), _) => Seen::Cuts(cuts),
            (Sight::Need, Need::Under(n) | Need::AtLeast(n)) => Seen::Cuts(vec![n]),
            (Sight::Need, Need::AtMost(n)) => Seen::Cuts(vec![n.saturating_add(1)]),
            (Sight::Total, _) | (Sight::Need, Need::Nothing) => Seen::Total,
        };
        match self.explored(|explorer, desk| explorer.roll(desk, dice, seen, label)) {
            Some(roll) => Ok(roll),
            None => Err(self.break_off()),
        }
    }

    /// Before rolls that are made until they stand.
    pub fn begin_again(&mut self) -> Result<(), Stop> {
        self.may_act("rolling dice")?;
        if let Some(explorer) = &mut self.explorer {
            explorer.begin_again();
        }
        Ok(())
    }

    /// They do not stand and are made again.
    pub fn roll_again(&mut self) -> Result<(), Stop> {
        self.may_go_on()?;
        if self.explorer.as_mut().is_none_or(|explorer| explorer.roll_again()) {
            return Ok(());
        }
        Err(self.fault_with(
            "rb.again rolls nothing and nothing comes of it",
            Some("let its function roll, and return something as soon as the rolls stand".into()),
        ))
    }

    /// Ends a run before its action does.
    fn break_off(&mut self) -> Stop {
        self.stop = Some(Stop::Question);
        Stop::Question
    }

    /// One of the seeded dice.
    fn face(&mut self, sides: u32) -> u32 {
        draw_face(&mut self.chance, &mut self.rote, sides)
    }

    /// Rolls seeded dice of which nobody is told.
    pub fn throw(&mut self, throw: Throw) -> Value {
        let seen = throw.draw(&mut self.chance);
        if let Some(rote) = &mut self.rote {
            rote.threw(throw, &seen);
        }
        seen
    }

    /// The value of a field, if there is one; that it was read is noted for the lesson.
    pub fn noted_field(&mut self, entity: EntityId, field: FieldId) -> Option<&Value> {
        let value = self.state.field(entity, field)?;
        if let Some(rote) = &mut self.rote {
            rote.read(entity, field, value);
        }
        Some(value)
    }

    /// Puts an entry on the agenda.
    pub fn schedule(
        &mut self,
        what: Arc<str>,
        key: Key,
        owner: Option<EntityId>,
        args: Value,
        every: Option<Key>,
    ) -> EntryId {
        let id = self.state.schedule(what, key, owner, args, every);
        if let (Some(rote), Some(entry)) = (&mut self.rote, self.state.agenda().get(id)) {
            rote.scheduled(entry);
        }
        id
    }

    /// What is done now cannot be learned by rote.
    pub fn spoil(&mut self) {
        if let Some(rote) = &mut self.rote {
            rote.spoil();
        }
    }

    /// A number from 1 to `n` for a policy.
    pub fn pick(&mut self, n: u32) -> Result<u32, Stop> {
        if self.explorer.is_none() {
            return Ok(self.face(n));
        }
        match self.explored(|explorer, desk| explorer.pick(desk, n)) {
            Some(picked) => Ok(picked),
            None => Err(self.break_off()),
        }
    }

    fn draw(&mut self, dice: &Dice, label: &Arc<str>, tell: &dyn Fn(&Desk) -> String) -> Result<Roll, Stop> {
        let mut typed = None;
        if self.cursor < self.tape.slots.len() {
            match &self.tape.slots[self.cursor] {
                Some(Slot::Roll { label: was, dice: was_dice, faces, .. })
                    if was == label && **was_dice == *dice.to_string() =>
                {
                    match dice.roll_faces(faces) {
                        Ok(roll) => {
                            self.cursor += 1;
                            return Ok(roll);
                        }
                        // Real dice: some exploded, and the next faces have not been typed yet.
                        Err(_) if self.dice == DiceSource::Typed => typed = Some(faces.clone()),
                        Err(error) => {
                            let message = format!("the tape does not fit: {error}");
                            self.diverge(&message)?;
                        }
                    }
                }
                // A roll of real dice that has not been typed.
                None if self.dice == DiceSource::Typed => {}
                found => {
                    let message = format!(
                        "the tape does not fit: the action rolls {dice} for `{label}`, the tape holds {}",
                        words_of(found.as_ref())
                    );
                    self.diverge(&message)?;
                }
            }
        }
        // Nobody should see dice fall for what is not what was said.
        if let Some(refusal) = self.contradiction() {
            let stop = self.fault(refusal.message.clone());
            self.contradicted = Some(refusal);
            return Err(stop);
        }
        let before = self.position();
        let roll = match &self.dice {
            DiceSource::Seeded => {
                let (chance, rote) = (&mut self.chance, &mut self.rote);
                dice.roll_with(&mut |sides| Some(draw_face(chance, rote, sides)))
            }
            DiceSource::Written(faces) => {
                let (mut at, mut bad) = (self.written as usize, None);
                let roll = dice.roll_with(&mut |sides| {
                    let face = *faces.get(at)?;
                    at += 1;
                    if face < 1 || face > sides {
                        bad = Some((face, sides));
                        return None;
                    }
                    Some(face)
                });
                if let Some((face, sides)) = bad {
                    return Err(self.fault_with(
                        format!("the next written face is {face}, but a die of {sides} is rolled: {}", tell(self)),
                        Some("write the faces in the order in which the dice are rolled".into()),
                    ));
                }
                self.written = at as u32;
                roll
            }
            DiceSource::Typed => {
                self.rolled_for = Some(label.clone());
                return self.ask_for_faces(dice, tell(self), typed.unwrap_or_default());
            }
        };
        let Some(roll) = roll else {
            return Err(self.fault_with(
                format!("{DICE_RUN_OUT}: {dice} is rolled: {}", tell(self)),
                Some("write more faces, or let the seed roll on".into()),
            ));
        };
        self.tape.slots.push(Some(Slot::Roll {
            label: label.clone(),
            dice: Arc::from(dice.to_string()),
            faces: roll.drawn(),
            before,
            seq: None,
        }));
        self.cursor = self.tape.slots.len();
        Ok(roll)
    }

    /// Something that was said of a question to which only another answer was possible.
    fn contradiction(&self) -> Option<Refusal> {
        self.named.iter().find_map(|(topic, reply)| fits_auto(&self.autos, topic, reply)?.err())
    }

    /// Real dice: puts the question for the next faces out and stops.
    fn ask_for_faces(&mut self, dice: &Dice, label: String, typed: Vec<u32>) -> Result<Roll, Stop> {
        let mut missing = Vec::new();
        let mut known = typed.iter();
        let _ = dice.roll_with(&mut |sides| match known.next() {
            Some(face) => Some(*face),
            None => {
                missing.push(sides);
                // Any face will do to find out how many dice are thrown at once; the lowest makes none explode.
                (missing.len() < 100).then_some(1)
            }
        });
        if self.cursor == self.tape.slots.len() {
            self.tape.slots.push(None);
        }
        self.questions.push(Question {
            id: QuestionId { action: self.action, ordinal: self.cursor as u32 },
            seat: Arc::from("dice"),
            topic: Arc::from("dice"),
            about: None,
            why: format!("{label}: roll {dice}"),
            ask: Ask::Dice { dice: Arc::from(dice.to_string()), sides: missing },
            default: None,
            proposes: true,
            audience: None,
            sealed: false,
        });
        self.cursor += 1;
        self.stop = Some(Stop::Question);
        Err(Stop::Question)
    }

    /// The tape holds something else than the action asks for: cut it there, or fault where it must fit.
    fn diverge(&mut self, message: &str) -> Result<(), Stop> {
        if self.strict {
            return Err(self.fault_with(
                message.to_string(),
                Some(
                    "the ruleset, or a script that keeps something between calls, has changed since the tape was made"
                        .into(),
                ),
            ));
        }
        self.dropped.get_or_insert(self.cursor);
        let position = self.tape.cut(self.cursor);
        if let Some(position) = position {
            self.set_position(position);
        }
        Ok(())
    }

    // Questions

    /// Looks for the answer to the next question: on the tape, at a policy, or at the default where nobody sits.
    ///
    /// `build` makes the whole question; it is called only if it has to go out or be checked.
    pub fn ask(
        &mut self,
        asking: &Asking,
        build: &mut dyn FnMut(&mut Desk) -> Result<Question, Stop>,
    ) -> Result<Asked, Stop> {
        self.may_leave_open("asking")?;
        // A place that is empty waits for the answer to this question, or to one that stood there in an earlier run.
        if let Some(Some(found)) = self.tape.slots.get(self.cursor) {
            let fits = match found {
                Slot::Answer { topic, seat, about, answer, .. }
                    if *topic == asking.topic && *seat == asking.seat && *about == asking.about =>
                {
                    Some(answer.clone())
                }
                _ => None,
            };
            match fits {
                Some(answer) => {
                    let question = build(self)?;
                    match question.check(&answer) {
                        Ok(()) => {
                            self.cursor += 1;
                            return Ok(Asked::Answered(answer));
                        }
                        Err(refusal) => {
                            let message = format!(
                                "the tape does not fit: `{}` was answered {}, but {refusal}",
                                asking.topic,
                                question.tell(&answer)
                            );
                            self.diverge(&message)?;
                        }
                    }
                }
                None => {
                    let found = words_of(self.tape.slots[self.cursor].as_ref());
                    let message =
                        format!("the tape does not fit: the action asks `{}`, the tape holds {found}", asking.topic);
                    self.diverge(&message)?;
                }
            }
        }
        if self.explorer.is_some() {
            return self.foretell(asking, build);
        }
        match self.seats.get(&asking.seat) {
            Some(Driver::Policy(policy)) => Ok(Asked::Policy(policy.clone())),
            Some(Driver::Absent) => {
                let question = build(self)?;
                match question.default.clone() {
                    Some(answer) => {
                        self.record(asking, answer.clone(), By::Default, self.position());
                        Ok(Asked::Answered(answer))
                    }
                    None => self.put_out(question),
                }
            }
            Some(Driver::Human) | None => {
                let question = build(self)?;
                self.put_out(question)
            }
        }
    }

    /// The answer on the way that is explored.
    fn foretell(
        &mut self,
        asking: &Asking,
        build: &mut dyn FnMut(&mut Desk) -> Result<Question, Stop>,
    ) -> Result<Asked, Stop> {
        let question = build(self)?;
        match self.explored(|explorer, desk| Some(explorer.answer(desk, &question))) {
            Some(Foretold::Answer(answer)) => {
                self.record(asking, answer.clone(), By::Default, DicePosition::default());
                Ok(Asked::Answered(answer))
            }
            Some(Foretold::Policy(policy)) => Ok(Asked::Policy(policy)),
            Some(Foretold::Nothing) | None => Err(self.break_off()),
        }
    }

    /// The next question and its answer, where ways are explored that all begin alike.
    pub fn asked_before(&mut self) -> Result<Option<Arc<(Question, Answer)>>, Stop> {
        if self.explorer.is_some() {
            self.may_leave_open("asking")?;
        }
        Ok(self.explorer.as_mut().and_then(|explorer| explorer.recall()))
    }

    /// Puts a question out and leaves its place on the tape empty.
    pub fn put_out(&mut self, question: Question) -> Result<Asked, Stop> {
        if self.cursor == self.tape.slots.len() {
            self.tape.slots.push(None);
        }
        self.cursor += 1;
        self.questions.push(question);
        Ok(Asked::Open)
    }

    /// Notes an answer that was found in place.
    pub fn record(&mut self, asking: &Asking, answer: Answer, by: By, before: DicePosition) {
        if self.suggest_at == Some(self.cursor) {
            self.suggested = Some(answer);
            self.stop = Some(Stop::Question);
            return;
        }
        let slot = Slot::Answer {
            topic: asking.topic.clone(),
            seat: asking.seat.clone(),
            about: asking.about,
            answer,
            by,
            before,
        };
        match self.tape.slots.get_mut(self.cursor) {
            Some(place) => *place = Some(slot),
            None => self.tape.slots.push(Some(slot)),
        }
        self.cursor += 1;
    }

    /// Refuses the answer that was found last: a person is asked again, a policy's answer is a fault.
    pub fn refuse(&mut self, topic: &str, reason: &str) -> Stop {
        let ordinal = self.cursor.saturating_sub(1);
        let person = self.tape.slots.get(ordinal).and_then(Option::as_ref).is_some_and(|slot| slot.seq().is_some());
        if !person || self.strict {
            return self.fault(format!("the answer to `{topic}` is refused: {reason}"));
        }
        let stop = Stop::Refused { ordinal, reason: format!("{topic}: {reason}") };
        self.stop = Some(stop.clone());
        stop
    }

    /// Stops the action if one of the questions just asked is open.
    pub fn stop_if_open(&mut self) -> Result<(), Stop> {
        if self.questions.is_empty() {
            return Ok(());
        }
        self.stop = Some(Stop::Question);
        Err(Stop::Question)
    }

    // Events

    pub fn tell(&mut self, happening: Happening, audience: Option<Arc<str>>) {
        let piece = matches!(happening, Happening::Spawned { .. } | Happening::Changed { .. });
        if self.listening && !(self.quiet && piece) {
            let n = self.events.len() as u32;
            self.events.push(Event { action: self.action, n, audience, happening });
        }
    }

    /// Tells the change of a field that has just been made.
    pub fn tell_change(&mut self, entity: EntityId, field: FieldId, from: &Value, to: &Value) {
        if !self.listening || from == to {
            return;
        }
        let Some(happening) = self.changed(entity, field, from, to) else { return };
        let audience = self.audience_of(entity, field);
        self.tell(happening, audience);
    }

    /// The event for a change of a field, if the field is shown.
    pub fn changed(&self, entity: EntityId, field: FieldId, from: &Value, to: &Value) -> Option<Happening> {
        let kind = &self.rules.schema().kind(self.state.entity(entity)?.kind);
        let declared = kind.field(field);
        if !declared.show {
            return None;
        }
        Some(Happening::Changed {
            entity,
            title: self.title(entity),
            field: declared.name.clone(),
            label: declared.label.clone(),
            from: from.clone(),
            to: to.clone(),
            text: format!("{} -> {}", self.words(from), self.words(to)),
        })
    }

    fn audience_of(&self, entity: EntityId, field: FieldId) -> Option<Arc<str>> {
        let kind = self.rules.schema().kind(self.state.entity(entity)?.kind);
        kind.field(field).audience.clone()
    }

    /// Events for settled changes, the last one first and turned round: what an undo did.
    pub fn reversed(&self, changes: &[Change]) -> Vec<Happening> {
        let mut places: BTreeMap<(EntityId, FieldId), usize> = BTreeMap::new();
        let mut net: Vec<(EntityId, FieldId, &Value, &Value)> = Vec::new();
        for change in changes {
            if let Change::Set { entity, field, from, to } = change {
                match places.entry((*entity, *field)) {
                    Entry::Occupied(place) => net[*place.get()].3 = to,
                    Entry::Vacant(place) => {
                        place.insert(net.len());
                        net.push((*entity, *field, from, to));
                    }
                }
            }
        }
        net.into_iter()
            .filter(|(.., from, to)| from != to)
            .filter_map(|(entity, field, from, to)| self.changed(entity, field, to, from))
            .collect()
    }

    // Words

    /// What an entity is called: its title field, or its kind and number.
    pub fn title(&self, id: EntityId) -> Arc<str> {
        let Some(entity) = self.state.entity(id) else { return Arc::from(id.to_string()) };
        let kind = self.rules.schema().kind(entity.kind);
        match kind.title.map(|field| &entity.fields[field.0 as usize]) {
            Some(Value::Text(text)) if !text.is_empty() => text.clone(),
            _ => Arc::from(format!("{} {}", kind.name, id.0)),
        }
    }

    /// A value in words, entities by their titles.
    pub fn words(&self, value: &Value) -> String {
        match value {
            Value::Entity(id) => self.title(*id).to_string(),
            Value::List(items) if !items.is_empty() => joined(items.iter().map(|item| self.words(item))),
            Value::Map(items) if !items.is_empty() => {
                joined(items.iter().map(|(key, item)| format!("{key}: {}", self.words(item))))
            }
            Value::Text(text) if text.is_empty() => "nothing".into(),
            other => other.to_string(),
        }
    }

    /// Gives options the ids that entities have in a question: the title, with the number where two share it.
    pub fn settle_ids(options: &mut [(Choice, Option<EntityId>)]) {
        for at in 0..options.len() {
            let Some(entity) = options[at].1 else { continue };
            let shared = options
                .iter()
                .enumerate()
                .any(|(other, (choice, _))| other != at && choice.label == options[at].0.label);
            if shared {
                options[at].0.id = Arc::from(format!("{}{entity}", options[at].0.label));
                options[at].0.note.get_or_insert_with(|| entity.to_string());
            }
        }
    }
}

fn draw_face(chance: &mut Chance, rote: &mut Option<Box<Rote>>, sides: u32) -> u32 {
    let face = chance.face(sides);
    if let Some(rote) = rote {
        rote.rolled(sides, face);
    }
    face
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

/// Checks what was said of a question that nobody was asked, since only one answer was possible. `None` if there was none.
pub(crate) fn fits_auto(autos: &[(Question, Answer)], topic: &str, reply: &Value) -> Option<Result<(), Refusal>> {
    let mut refusal = None;
    for (question, answer) in autos.iter().filter(|(question, _)| *question.topic == *topic) {
        match question.read(reply) {
            Ok(given) if given == *answer => return Some(Ok(())),
            Ok(_) => {
                let told = Refusal::new(format!("{topic}: only {} is possible", question.tell(answer)));
                refusal.get_or_insert(told);
            }
            Err(wrong) => {
                refusal.get_or_insert(wrong);
            }
        }
    }
    refusal.map(Err)
}

fn words_of(slot: Option<&Slot>) -> String {
    match slot {
        Some(Slot::Roll { label, dice, .. }) => format!("a roll of {dice} for `{label}`"),
        Some(Slot::Answer { topic, .. }) => format!("an answer to `{topic}`"),
        None => "an open question".into(),
    }
}
