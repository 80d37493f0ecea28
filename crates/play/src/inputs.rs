//! Sources of rolls, answers and picks. The tape comes first, then the attached source: the explorer, typed, written or
//! seeded dice, a policy, a default. A person comes last, and the action stops for the answer. No operation knows which
//! source answered.

use std::sync::Arc;

use super::context::{ActionContext, Asked, Asking, DICE_RUN_OUT, Need, Phase, SeenRoll, Sight, Stop, Taped};
use super::explorer::{Explorer, Source};
use super::fault::WRONG_FACE;
use super::fault_context::answers_in_words;
use super::operation::Op;
use super::prepared::known_seat;
use super::resume_point::ResumePoint;
use super::{
    Answer, Ask, By, DicePosition, DiceSource, Driver, Happening, MissingRoll, Question, QuestionId, Refusal, Slot,
    Term,
};
use riskbreaker_dice::{Dice, Roll, Throws, ranks};
use riskbreaker_state::{Audience, EntityId, Value};

/// The tape label of a draw from a deck.
const DRAW: &str = "draw";

/// The most terms that are kept for the numbers of one roll.
const MOST_TERMS: usize = 64;

/// The source of the next answer.
#[derive(Debug)]
pub enum Answerer<'a> {
    /// The explorer or a person: each needs the whole question.
    Reader,
    /// The tape, with the option that its slot names, if the answer is an option.
    Tape(Option<&'a Arc<str>>),
    /// An earlier run of the explorer, which has asked the same question.
    Known,
    Policy(&'a Arc<str>),
    /// The question's default, since nobody plays the seat.
    Default,
}

impl Sight {
    /// True if the script sees the faces, not only the total.
    pub fn shows_faces(&self) -> bool {
        matches!(self, Sight::Faces | Sight::Ordered | Sight::Ranks)
    }

    /// The totals at which the value seen by the script changes.
    pub fn cuts(&self) -> Vec<i64> {
        match self {
            Sight::Cuts(cuts) => cuts.to_vec(),
            Sight::Need(Need::Under(n) | Need::AtLeast(n)) => vec![*n],
            Sight::Need(Need::AtMost(n)) => vec![n.saturating_add(1)],
            Sight::Total | Sight::Faces | Sight::Ordered | Sight::Ranks | Sight::Need(Need::Nothing) => Vec::new(),
        }
    }

    /// A number for the form in which the script sees the result; see [`Explorer::roll`].
    fn sort(&self) -> u8 {
        match self {
            Sight::Total | Sight::Need(Need::Nothing) => 0,
            Sight::Need(Need::Under(_)) => 1,
            Sight::Need(Need::AtMost(_)) => 2,
            Sight::Need(Need::AtLeast(_)) => 3,
            Sight::Cuts(_) => 4,
            Sight::Faces => 5,
            Sight::Ordered => 6,
            Sight::Ranks => 7,
        }
    }

    /// The value that the script sees, computed from the total.
    pub fn of_total(&self, total: i64) -> Value {
        match self {
            Sight::Total | Sight::Faces | Sight::Ordered | Sight::Ranks => Value::Int(total),
            Sight::Need(need) => need.met(total).map_or(Value::Int(total), Value::Bool),
            Sight::Cuts(cuts) => Value::Int(cuts.iter().filter(|cut| total >= **cut).count() as i64),
        }
    }

    /// The value that the script sees, computed from the roll.
    pub fn of_roll(&self, roll: &Roll) -> Value {
        match self {
            Sight::Faces | Sight::Ordered | Sight::Ranks => {
                let kept = roll.kept(*self != Sight::Faces);
                let seen = if *self == Sight::Ranks { ranks(&kept) } else { kept };
                Value::list(seen.into_iter().map(|face| Value::Int(i64::from(face))))
            }
            _ => self.of_total(roll.total()),
        }
    }
}

impl ActionContext {
    // Dice

    pub fn position(&self) -> DicePosition {
        DicePosition { words: self.chance.position(), written: self.written }
    }

    pub fn set_position(&mut self, position: DicePosition) {
        self.chance.set_position(position.words);
        self.written = position.written;
    }

    /// Moves the dice back to a position, so that dropped rolls are drawn again. Rolls of later free acts are not drawn
    /// again.
    pub fn take_dice_back(&mut self, to: DicePosition) {
        self.set_position(to.max(self.drawn_by_others));
    }

    /// Rolls dice and returns what the script sees: a total, whether the target was met, the number of thresholds
    /// reached, or the faces. `label`: the purpose, as the script words it. `tell` fills in the names; it is called
    /// only if the text has a reader.
    ///
    /// # Errors
    ///
    /// Nothing can be rolled now, the dice have run out, or the roll waits for a person.
    pub fn roll(
        &mut self,
        dice: &Arc<Dice>,
        label: &Arc<str>,
        sight: &Sight,
        tell: impl Fn(&ActionContext) -> String,
    ) -> Result<Value, Stop> {
        self.may_leave_open("rolling dice")?;
        let need = sight.need();
        self.pulse += 1;
        let open = std::mem::take(&mut self.roll_audience);
        self.note_reached();
        let audience = match self.listening {
            true => self.audience_of_place(self.cursor as u32, open.clone(), None),
            false => open.clone(),
        };
        if self.listening && !audience.is_everybody() {
            self.private.insert(self.cursor as u32, audience.clone());
            self.told_before.insert(self.cursor as u32, self.events.len());
        }
        let seen = if self.is_headless() && !sight.shows_faces() {
            // The faces have no reader: the total suffices.
            let rng = &mut self.chance;
            let Some(total) = dice.total_with(&mut |sides| Some(rng.face(sides))) else {
                return Err(self.ran_out(dice, need, 0, &tell));
            };
            self.note_roll(SeenRoll { total, shows_faces: false, unseen: None });
            sight.of_total(total)
        } else if self.explorer.is_some() && self.cursor >= self.tape.slots.len() {
            let roll = self.foresee(dice, label, sight)?;
            return Ok(self.foreseen(dice, sight, &roll));
        } else {
            let roll = self.draw(dice, label, need, &audience, &tell)?;
            self.explorer.iter_mut().for_each(|explorer| explorer.note_roll());
            self.note_roll(SeenRoll { total: roll.total(), shows_faces: sight.shows_faces(), unseen: None });
            self.tell_roll(dice, &roll, sight, open, &tell);
            sight.of_roll(&roll)
        };
        if self.dealing {
            let drawn = seen.as_int().and_then(|drawn| u32::try_from(drawn).ok()).unwrap_or_default();
            self.observers.observe(&Op::Deal { dice, drawn });
        } else {
            self.observers.observe(&Op::Roll { dice, sight, seen: &seen });
        }
        Ok(seen)
    }

    /// The value that a script sees of a roll made by the explorer. Records the roll.
    pub fn foreseen(&mut self, dice: &Arc<Dice>, sight: &Sight, roll: &Roll) -> Value {
        let knows_all = *sight == Sight::Total || !self.is_exploring();
        let unseen = (!knows_all).then(|| (dice.clone(), sight.clone()));
        self.note_roll(SeenRoll { total: roll.total(), shows_faces: sight.shows_faces(), unseen });
        sight.of_roll(roll)
    }

    /// Records a roll for [`ActionContext::look_at_roll`], unless it is a draw from a deck.
    fn note_roll(&mut self, roll: SeenRoll) {
        if !self.dealing {
            self.rolls.push(roll);
            self.last_roll = self.rolls.len();
        }
    }

    /// The total of the last roll. While paths are explored, this call branches on it.
    ///
    /// # Errors
    ///
    /// Nothing has been rolled, or the faces have been shown.
    pub fn look_at_roll(&mut self) -> Result<i64, Stop> {
        self.may_leave_open("looking at a roll")?;
        let Some(roll) = self.last_roll.checked_sub(1).and_then(|at| self.rolls.get(at)) else {
            return Err(self.fault_with(
                "rb.last_roll: nothing has been rolled in this action",
                Some("look after the roll, such as rb.under(...) or a verb that rolls".into()),
            ));
        };
        if roll.shows_faces {
            return Err(self.fault_with(
                "rb.last_roll: the last roll showed its faces",
                Some("work with the list that rb.faces has given".into()),
            ));
        }
        let (total, unseen) = (roll.total, roll.unseen.clone());
        if self.is_exploring() {
            if self.last_roll < self.rolls.len() || !self.rules.looks_at_rolls() {
                self.explorer.iter_mut().for_each(|explorer| explorer.refuse_look());
                return Err(self.break_off());
            }
            if let Some((dice, sight)) = unseen {
                let found = self.explored(|explorer, context| explorer.look(context, &dice, &sight.cuts(), total))?;
                if let Some(roll) = self.rolls.last_mut() {
                    (roll.total, roll.unseen) = (found, None);
                }
                return Ok(found);
            }
        }
        self.observers.observe(&Op::Look { total });
        Ok(total)
    }

    /// True if all results of a roll are enumerated, instead of one result being rolled.
    fn is_exploring(&self) -> bool {
        self.explorer.as_ref().is_some_and(|explorer| !explorer.is_sampling())
    }

    /// Makes the `count`th roll of this run, from 1, the one that `rb.last_roll` reads.
    pub fn return_to_roll(&mut self, count: usize) {
        if count != self.last_roll {
            self.last_roll = count.min(self.rolls.len());
            self.observers.observe(&Op::ReturnToRoll);
        }
    }

    fn tell_roll(
        &mut self,
        dice: &Dice,
        roll: &Roll,
        sight: &Sight,
        audience: Audience,
        tell: &dyn Fn(&ActionContext) -> String,
    ) {
        if !self.listening || self.dealing {
            return;
        }
        let (total, drawn, need) = (roll.total(), roll.drawn(), sight.need());
        let explain = || match sight.shows_faces() {
            true => format!("rolled {}", roll.list_faces()),
            false => roll.explain(),
        };
        let happening = Happening::Rolled {
            label: tell(self),
            dice: Arc::from(dice.to_string()),
            total,
            need: need.words(),
            success: need.met(total),
            result: None,
            explain: (drawn.len() != 1 || i64::from(drawn[0]) != total).then(explain),
            terms: std::mem::take(&mut self.roll_terms),
            faces: drawn,
        };
        self.tell(happening, audience);
    }

    /// Records a term of the next roll's target number, for explanations.
    pub fn note_roll_term(&mut self, term: Term) {
        if self.listening && self.explorer.is_none() && self.roll_terms.len() < MOST_TERMS {
            self.roll_terms.push(term);
        }
    }

    /// The fault for too few written dice. It names the roll, its target, and the earlier answers of the action.
    fn ran_out(&mut self, dice: &Dice, need: Need, sides: u32, tell: &dyn Fn(&ActionContext) -> String) -> Stop {
        let (what, words) = (tell(self), need.words().map(|need| need.to_string()));
        let need = words.as_ref().map_or(String::new(), |need| format!(", needs {need}"));
        let told = answers_in_words(self, &self.tape);
        let after = if told.is_empty() { String::new() } else { format!(" ({})", told.join("; ")) };
        let stop = self.fault_with(
            format!("{DICE_RUN_OUT}: {dice} is rolled: {what}{need}{after}"),
            Some("write the face of this roll after the others".into()),
        );
        self.missing_roll = Some(Box::new(MissingRoll { what, dice: dice.to_string().into(), need: words, sides }));
        stop
    }

    /// Draws a random number from 1 to `n` from a deck. There is no event for it.
    pub fn deal(&mut self, n: u32) -> Result<u32, Stop> {
        self.deal_seen(n, &Sight::Total)
    }

    /// Like [`ActionContext::deal`], but the script sees only how many thresholds the number reaches: elements between
    /// two thresholds are equal.
    pub fn deal_among(&mut self, n: u32, cuts: Arc<[i64]>) -> Result<u32, Stop> {
        self.deal_seen(n, &Sight::Cuts(cuts))
    }

    /// True if draws from here on are enumerated, so that the script need not tell equal elements apart.
    pub fn merges_draws(&self) -> bool {
        let merges = self.explorer.as_ref().is_some_and(|explorer| explorer.merges() && !explorer.is_sampling());
        merges && self.cursor >= self.tape.slots.len()
    }

    fn deal_seen(&mut self, n: u32, sight: &Sight) -> Result<u32, Stop> {
        let dice = match Dice::parse(&format!("1d{n}")) {
            Ok(dice) => Arc::new(dice),
            Err(error) => return Err(self.fault(format!("nothing can be drawn from {n}: {error}"))),
        };
        self.roll_audience = Audience::nobody();
        self.dealing = true;
        let rolled = self.roll(&dice, &Arc::from(DRAW), sight, |_| DRAW.to_string());
        self.dealing = false;
        Ok(rolled?.as_int().and_then(|drawn| u32::try_from(drawn).ok()).unwrap_or_default())
    }

    /// Asks the explorer, which may read the context. If it returns `None`, the run ends before its action does.
    fn explored<R>(&mut self, ask: impl FnOnce(&mut Explorer, &ActionContext) -> Option<R>) -> Result<R, Stop> {
        let mut explorer = self.explorer.take();
        let found = explorer.as_mut().and_then(|explorer| ask(explorer, self));
        self.explorer = explorer;
        found.ok_or_else(|| self.break_off())
    }

    /// The roll on the explorer's path.
    fn foresee(&mut self, dice: &Arc<Dice>, label: &Arc<str>, sight: &Sight) -> Result<Roll, Stop> {
        use riskbreaker_dice::Seen;
        let seen = match sight {
            Sight::Faces => Seen::Faces,
            Sight::Ordered => Seen::Ordered,
            Sight::Ranks => Seen::Ranks,
            Sight::Cuts(_) | Sight::Need(Need::Under(_) | Need::AtLeast(_) | Need::AtMost(_)) => {
                Seen::Cuts(sight.cuts())
            }
            Sight::Total | Sight::Need(Need::Nothing) => Seen::Total,
        };
        self.explored(|explorer, context| {
            let roll = explorer.roll(context, dice, (seen, sight.sort()), label)?;
            explorer.keep_resume_point(|keep| ResumePoint::of(context, keep, dice, sight));
            Some(roll)
        })
    }

    /// Begins `rb.again`. Fails in a phase in which dice cannot be rolled.
    pub fn begin_again(&mut self) -> Result<(), Stop> {
        self.may_act("rolling dice")
    }

    /// Repeats the function of `rb.again`. A fault if the function has not rolled since its last turn.
    pub fn roll_again(&mut self) -> Result<(), Stop> {
        self.may_go_on()?;
        if self.explorer.as_mut().is_none_or(|explorer| explorer.roll_again()) {
            return Ok(());
        }
        Err(self.fault_with(
            "the function of rb.again neither rolls nor returns anything",
            Some("let it roll, and return something when no more rolls are needed".into()),
        ))
    }

    /// Ends a run before its action does.
    fn break_off(&mut self) -> Stop {
        self.stop = Some(Stop::Question);
        Stop::Question
    }

    /// Picks a random number from 1 to `n` for a policy.
    pub fn pick(&mut self, n: u32) -> Result<u32, Stop> {
        self.may_go_on()?;
        let picked = if self.explorer.is_none() {
            self.chance.face(n)
        } else {
            self.explored(|explorer, context| explorer.pick(context, n))?
        };
        self.observers.observe(&Op::Pick { n, picked });
        Ok(picked)
    }

    fn draw(
        &mut self,
        dice: &Dice,
        label: &Arc<str>,
        need: Need,
        audience: &Audience,
        tell: &dyn Fn(&ActionContext) -> String,
    ) -> Result<Roll, Stop> {
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
                        // Real dice of which some are not thrown yet.
                        Err(_) if self.dice == DiceSource::Typed && !Throws::read(dice, faces).missing().is_empty() => {
                            typed = Some(faces.clone());
                        }
                        Err(error) => {
                            let message = format!("the tape does not fit: {error}");
                            self.diverge(&message)?;
                        }
                    }
                }
                // A roll of real dice whose faces were not typed yet.
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
        // Refuse contradictory answers before rolling.
        if let Some(refusal) = self.contradiction() {
            return Err(self.contradicted_by(refusal));
        }
        let before = self.position();
        let recorded = self.recorded.take(label, dice).and_then(|faces| dice.roll_faces(&faces).ok());
        let roll = match &self.dice {
            // Advance the generator as if it had rolled, so that equal games have equal positions.
            DiceSource::Seeded if recorded.is_some() => {
                let rng = &mut self.chance;
                let _ = dice.roll_with(&mut |sides| Some(rng.face(sides)));
                recorded
            }
            _ if recorded.is_some() => recorded,
            DiceSource::Typed if !self.dealing && dice.count() > 0 => {
                self.rolled_for = Some(label.clone());
                return self.ask_for_faces(dice, tell(self), audience.clone(), typed.unwrap_or_default());
            }
            // Draws from a deck, and rolls without dice, are never typed in.
            DiceSource::Seeded | DiceSource::Typed => {
                let rng = &mut self.chance;
                dice.roll_with(&mut |sides| Some(rng.face(sides)))
            }
            source @ (DiceSource::Written(faces) | DiceSource::Pushed(faces)) => {
                let (mut at, mut bad, mut missing) = (self.written as usize, None, None);
                let mut rng = matches!(source, DiceSource::Pushed(_)).then_some(&mut self.chance);
                let roll = dice.roll_with(&mut |sides| {
                    let Some(face) = faces.get(at).copied() else {
                        missing = Some(sides);
                        return Some(rng.as_mut()?.face(sides));
                    };
                    at += 1;
                    if face < 1 || face > sides {
                        bad = Some((face, sides));
                        return None;
                    }
                    Some(face)
                });
                if let Some((face, sides)) = bad {
                    return Err(self.fault_with(
                        format!("{WRONG_FACE} is {face}, but a die of {sides} is rolled: {}", tell(self)),
                        Some(
                            "write the faces in the order in which the dice are rolled; `dice` with an empty list of \
                             faces takes those away that wait, and `retry` rolls again"
                                .into(),
                        ),
                    ));
                }
                self.written = at as u32;
                if let (None, Some(sides)) = (&roll, missing) {
                    return Err(self.ran_out(dice, need, sides, tell));
                }
                roll
            }
        };
        let Some(roll) = roll else { return Err(self.ran_out(dice, need, 0, tell)) };
        self.tape.slots.push(Some(Slot::Roll {
            label: label.clone(),
            dice: Arc::from(dice.to_string()),
            faces: roll.drawn(),
            before,
            seq: None,
            earlier: Vec::new(),
        }));
        self.cursor = self.tape.slots.len();
        self.tape_end = self.position();
        Ok(roll)
    }

    /// Records a question that is not asked, since only one answer is possible. An early answer to it must be that
    /// answer.
    pub fn note_only_answer(&mut self, question: Question, answer: Answer) -> Result<(), Stop> {
        // In a run that replays its tape, early answers are for questions after the tape.
        if self.cursor >= self.tape.slots.len()
            && let Err(refusal) = self.early.take_only(&question, &answer)
        {
            return Err(self.contradicted_by(refusal));
        }
        self.autos.push((question, answer));
        Ok(())
    }

    /// Stops the action because an early answer does not fit.
    fn contradicted_by(&mut self, refusal: Refusal) -> Stop {
        let stop = self.fault(refusal.to_string());
        self.contradicted = Some(Box::new(refusal));
        stop
    }

    /// The refusal of an early answer to a question that was answered automatically with another answer.
    fn contradiction(&self) -> Option<Refusal> {
        let by_giver = |question: &Question| self.early.may_answer(question);
        self.early.replies().iter().find_map(|(topic, reply)| fits_auto(&self.autos, by_giver, topic, reply)?.err())
    }

    /// Asks for the next throw of real dice and stops.
    fn ask_for_faces(&mut self, dice: &Dice, label: String, audience: Audience, typed: Vec<u32>) -> Result<Roll, Stop> {
        let sides = Throws::read(dice, &typed).missing();
        self.put_out(Question {
            id: QuestionId { action: self.action, ordinal: self.cursor as u32 },
            seat: Arc::from("dice"),
            topic: Arc::from("dice"),
            about: None,
            why: format!("{label}: roll {dice}"),
            ask: Ask::Dice { dice: Arc::from(dice.to_string()), sides },
            default: None,
            proposes: true,
            audience,
            sealed: false,
            race: false,
            checked: false,
        });
        Err(self.break_off())
    }

    /// Handles a tape slot that does not fit: a fault on a strict tape, otherwise the tape is cut there.
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
            self.take_dice_back(position);
        }
        Ok(())
    }

    // Questions

    /// Decides who answers the next question of a seat. `asked`: its topic, its subject, and whether it has options.
    ///
    /// # Errors
    ///
    /// Nothing can be asked now, or there is no such seat.
    pub fn answerer(&mut self, seat: &str, asked: (&str, Option<EntityId>, bool)) -> Result<Answerer<'_>, Stop> {
        self.may_leave_open("asking")?;
        if self.phase == Phase::Deal {
            return Err(self.fault_with(
                "asking is not possible in `deal`",
                Some("leave secret answers of others at their default".into()),
            ));
        }
        self.pulse += 1;
        // Terms computed for the question do not belong to a later roll.
        self.roll_terms.clear();
        self.note_reached();
        self.open_seat(seat)?;
        if self.explorer.as_ref().is_some_and(|explorer| explorer.knows_next()) {
            return Ok(Answerer::Known);
        }
        if let Some(Some(slot)) = self.tape.slots.get(self.cursor) {
            let option = match slot {
                Slot::Answer { answer: Answer::Choice(id), .. } => Some(id),
                _ => None,
            };
            return Ok(Answerer::Tape(option));
        }
        let acts = self.acts(seat);
        if let Some(explorer) = &mut self.explorer {
            let (topic, about, has_options) = asked;
            let before = self.tape.before(self.cursor);
            let policy = explorer.ask_policy(self.seats.get(seat), (seat, topic, about), has_options, before);
            return Ok(policy.map_or(Answerer::Reader, Answerer::Policy));
        }
        Ok(match self.seats.get(seat) {
            Some(Driver::Policy(policy)) if !self.overseen => Answerer::Policy(policy),
            Some(Driver::Absent) if !acts => Answerer::Default,
            Some(Driver::Absent | Driver::Human | Driver::Policy(_)) | None => Answerer::Reader,
        })
    }

    /// True if the seat carries out its own free act. Its questions are then asked even if nobody plays the seat.
    fn acts(&self, seat: &str) -> bool {
        self.acts_for.as_deref() == Some(seat)
    }

    /// Describes the refused answer for a message; names the policy if one gave it.
    pub fn words_of_answer(&self, topic: &str, seat: &str, by_policy: bool) -> String {
        let driver = self.seats.get(seat);
        let policy = match (&self.explorer, driver) {
            (Some(explorer), driver) => explorer.policy_of(driver),
            (None, Some(Driver::Policy(policy))) => Some(policy),
            (None, _) => None,
        };
        match policy.filter(|_| by_policy) {
            Some(policy) => format!("the answer of the policy `{policy}` to `{topic}`"),
            None => format!("the answer to `{topic}`"),
        }
    }

    /// Gives a seat without a driver to a person. A fault if the ruleset does not declare the seat.
    pub fn open_seat(&mut self, seat: &str) -> Result<(), Stop> {
        if self.seats.contains_key(seat) {
            return Ok(());
        }
        known_seat(&self.rules, seat).map_err(|wrong| self.fault(wrong))?;
        self.seats.insert(Arc::from(seat), Driver::Human);
        Ok(())
    }

    /// Notifies the observers that an answer has chosen a card.
    pub fn answered(&mut self, seat: Arc<str>, card: Arc<str>) {
        self.observers.observe(&Op::Answer { seat, card });
    }

    /// Takes the answer to a question off the tape, whose slot there is not empty.
    pub fn taped(&mut self, question: &Question) -> Result<Taped, Stop> {
        self.may_leave_open("asking")?;
        if let Some(Some(Slot::Closed { .. })) = self.tape.slots.get(self.cursor)
            && self.race.is_some()
        {
            self.cursor += 1;
            return Ok(Taped::Closed);
        }
        if let Some(Some(found)) = self.tape.slots.get(self.cursor) {
            let misfit = match found {
                Slot::Answer { topic, seat, about, answer, .. }
                    if *topic == question.topic && *seat == question.seat && *about == question.about =>
                {
                    let answer = answer.clone();
                    match question.check(&answer) {
                        Ok(()) => {
                            self.cursor += 1;
                            return Ok(Taped::Answered(answer));
                        }
                        Err(refusal) => format!("`{topic}` was answered {}, but {refusal}", question.tell(&answer)),
                    }
                }
                other => format!("the action asks `{}`, the tape holds {}", question.topic, words_of(Some(other))),
            };
            self.diverge(&format!("the tape does not fit: {misfit}"))?;
        }
        Ok(Taped::Cut)
    }

    /// Gets an answer that is not on the tape: from the explorer, or from the driver of the seat.
    pub fn ask(&mut self, question: &Question) -> Result<Asked, Stop> {
        self.may_leave_open("asking")?;
        if self.explorer.is_some() {
            let asked = self.explored(|explorer, context| explorer.answer(context, question))?;
            if let Asked::Answered(answer) = &asked {
                self.record(Asking::of(question), answer.clone(), By::Default, DicePosition::default());
            }
            return Ok(asked);
        }
        match self.seats.get(&question.seat) {
            Some(Driver::Policy(policy)) if !self.overseen => Ok(Asked::Policy(policy.clone())),
            Some(Driver::Absent) if !self.acts(&question.seat) => Ok(Asked::Default),
            Some(Driver::Absent | Driver::Human | Driver::Policy(_)) | None => match self.early.answer(question) {
                None => Ok(self.put_out(question.clone())),
                Some(Ok((answer, seq))) => {
                    self.record(Asking::of(question), answer.clone(), By::Person(seq), self.position());
                    Ok(Asked::Answered(answer))
                }
                Some(Err(refusal)) => Err(self.contradicted_by(refusal)),
            },
        }
    }

    /// True if the game would wait for a person at this question; and true if the explorer was given an answer to it.
    pub fn waits_for_person(&self, question: &Question) -> (bool, bool) {
        let waits = match self.seats.get(&question.seat) {
            Some(Driver::Policy(_)) => false,
            Some(Driver::Absent) => question.default.is_none() || self.acts(&question.seat),
            Some(Driver::Human) | None => true,
        };
        let Question { seat, topic, about, .. } = question;
        let before = self.before_cursor();
        let given = self.explorer.as_ref().is_some_and(|explorer| explorer.is_given(seat, topic, *about, before));
        (waits, given)
    }

    /// The tape before the next roll or answer.
    pub fn before_cursor(&self) -> &[Option<Slot>] {
        self.tape.before(self.cursor)
    }

    /// While paths are explored: the next question with its answer, if no choice point precedes it and an earlier run
    /// recorded it.
    pub fn asked_before(&mut self) -> Result<Option<Arc<(Question, Answer)>>, Stop> {
        if self.explorer.is_some() {
            self.may_leave_open("asking")?;
        }
        Ok(self.explorer.as_mut().and_then(|explorer| explorer.recall()))
    }

    /// True if answers are recorded although events have no readers: after the action whose paths are explored.
    pub fn notes_answers(&self) -> bool {
        self.explorer.as_ref().is_some_and(|explorer| explorer.is_later())
    }

    /// Records an answer of a policy, or the default taken instead, while paths are explored.
    pub fn note_assumed(&mut self, asking: &Asking, audience: &Audience, answer: &str, by: By) {
        let Some(mut explorer) = self.explorer.take() else { return };
        let policy = explorer.policy_of(self.seats.get(&asking.seat)).filter(|_| matches!(by, By::Policy));
        let source = policy.map_or(Source::Default, |policy| Source::Policy(policy.clone()));
        explorer.note_taken(self, asking, audience, answer.to_owned(), source);
        self.explorer = Some(explorer);
    }

    /// Opens a question and leaves its tape slot empty.
    pub fn put_out(&mut self, question: Question) -> Asked {
        self.note_showing();
        if self.cursor == self.tape.slots.len() {
            self.tape.slots.push(None);
        }
        self.cursor += 1;
        self.questions.push(question);
        Asked::Open
    }

    /// Begins a race: the first answer to one of the following questions closes the others.
    pub fn begin_race(&mut self) -> Result<(), Stop> {
        self.may_leave_open("asking")?;
        self.race = Some(self.cursor);
        Ok(())
    }

    /// Ends a race after its questions were asked. `won`: the last of them is answered, and the others are closed.
    pub fn end_race(&mut self, won: bool) {
        let Some(start) = self.race.take() else { return };
        let action = self.action;
        let of_race = |question: &Question| question.id.action == action && question.id.ordinal as usize >= start;
        if !won {
            self.questions.iter_mut().filter(|question| of_race(question)).for_each(|question| question.race = true);
            return;
        }
        self.questions.retain(|question| !of_race(question));
        let end = self.cursor.min(self.tape.slots.len());
        // An answer that was the only possible one is not on the tape, so no undo of it can reopen the other questions.
        let is_answer = |at: &usize| *at >= start && matches!(self.tape.slots[*at], Some(Slot::Answer { .. }));
        let winner = end.checked_sub(1).filter(is_answer);
        let by = winner.map_or(u32::MAX, |at| at as u32);
        let before = winner.and_then(|at| self.tape.slots[at].as_ref()).map_or(self.tape_end, Slot::before);
        for slot in self.tape.slots.iter_mut().take(end).skip(start) {
            match slot {
                None => *slot = Some(Slot::Closed { by, before }),
                // In an earlier run another answer closed it.
                Some(Slot::Closed { by: closer, .. }) => *closer = by,
                Some(_) => {}
            }
        }
        if self.tape.slots[end..].iter().all(Option::is_none) {
            self.tape.slots.truncate(end);
        }
    }

    /// Records an answer that was found in place.
    pub fn record(&mut self, asking: Asking, answer: Answer, by: By, before: DicePosition) {
        if self.suggest_at == Some(self.cursor) {
            self.suggested = Some(answer);
            self.stop = Some(Stop::Question);
            return;
        }
        let Asking { seat, topic, about } = asking;
        let slot = Slot::Answer { topic, seat, about, answer, by, before };
        match self.tape.slots.get_mut(self.cursor) {
            Some(place) => *place = Some(slot),
            None => self.tape.slots.push(Some(slot)),
        }
        self.cursor += 1;
        self.tape_end = self.position();
    }

    /// Refuses the last answer: a person is asked again, a policy's answer is a fault. `by_policy`: a policy has just
    /// given it.
    pub fn refuse(&mut self, topic: &str, reason: &str, seat: &str, by_policy: bool) -> Stop {
        self.observers.observe(&Op::Refuse);
        let ordinal = self.cursor.saturating_sub(1);
        let slot = self.tape.slots.get(ordinal).and_then(Option::as_ref);
        let person = slot.is_some_and(|slot| slot.seq().is_some());
        if !person || (self.strict && !self.unread_answers) {
            let by_policy = by_policy || matches!(slot, Some(Slot::Answer { by: By::Policy, .. }));
            let answer = self.words_of_answer(topic, seat, by_policy);
            return self.fault(format!("{answer} is refused: {reason}"));
        }
        let stop = Stop::Refused { ordinal, topic: topic.to_owned(), reason: reason.to_owned() };
        self.stop = Some(stop.clone());
        stop
    }

    /// Stops the action if one of the questions just asked is open.
    pub fn stop_if_open(&mut self) -> Result<(), Stop> {
        if self.questions.is_empty() {
            return Ok(());
        }
        Err(self.break_off())
    }
}

/// Checks a reply to a question that was answered automatically. `None` if there is no such question that the replier
/// may answer.
pub fn fits_auto(
    autos: &[(Question, Answer)],
    is_own: impl Fn(&Question) -> bool,
    topic: &str,
    reply: &Value,
) -> Option<Result<(), Refusal>> {
    let mut refusal = None;
    for (question, answer) in autos.iter().filter(|(question, _)| *question.topic == *topic && is_own(question)) {
        match question.read(reply) {
            Ok(given) if given == *answer => return Some(Ok(())),
            Ok(_) => {
                let told = Refusal::OnlyAnswer { topic: topic.to_owned(), answer: question.tell(answer) };
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
        Some(Slot::Closed { .. }) => "a question that another closed".into(),
        None => "an open question".into(),
    }
}
