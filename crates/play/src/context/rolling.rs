//! Rolls of the running action, and what scripts see of them.

use std::sync::Arc;

use super::answers_in_words::answers_in_words;
use super::inputs::words_of;
use super::op::Op;
use super::phase::Stop;
use super::run_rolls::SeenRoll;
use super::{ActionContext, DICE_RUN_OUT};
use crate::model::WRONG_FACE;
use crate::{Ask, DiceSource, Happening, MissingRoll, Need, Question, QuestionId, Sight, Slot, Term};
use riskbreaker_dice::{Dice, Roll, Throws};
use riskbreaker_state::{Audience, Value};

/// The tape label of a draw from a deck.
const DRAW: &str = "draw";

/// The most terms that are kept for the numbers of one roll.
const MOST_TERMS: usize = 64;

impl ActionContext {
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
        self.run.pulse += 1;
        let open = std::mem::take(&mut self.rolls.audience);
        self.note_reached();
        let audience = match self.log.listening {
            true => self.log.audience_of_place(self.playback.cursor as u32, open.clone(), None),
            false => open.clone(),
        };
        if self.log.listening && !audience.is_everybody() {
            self.log.private.insert(self.playback.cursor as u32, audience.clone());
            self.log.told_before.insert(self.playback.cursor as u32, self.log.events.len());
        }
        let seen = if self.is_headless() && !sight.shows_faces() {
            // The faces have no reader: the total suffices.
            let rng = &mut self.dice.rng;
            let Some(total) = dice.total_with(&mut |sides| Some(rng.face(sides))) else {
                return Err(self.ran_out(dice, need, 0, &tell));
            };
            self.rolls.note(SeenRoll { total, shows_faces: false, unseen: None });
            sight.of_total(total)
        } else if self.paths.is_some() && self.playback.is_at_end() {
            let roll = self.foresee(dice, label, sight)?;
            return Ok(self.foreseen(dice, sight, &roll));
        } else {
            let roll = self.draw(dice, label, need, &audience, &tell)?;
            self.paths.iter_mut().for_each(|paths| paths.note_roll());
            self.rolls.note(SeenRoll { total: roll.total(), shows_faces: sight.shows_faces(), unseen: None });
            self.tell_roll(dice, &roll, sight, open, &tell);
            sight.of_roll(&roll)
        };
        if self.rolls.dealing {
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
        self.rolls.note(SeenRoll { total: roll.total(), shows_faces: sight.shows_faces(), unseen });
        sight.of_roll(roll)
    }

    /// The total of the last roll. While paths are explored, this call branches on it.
    ///
    /// # Errors
    ///
    /// Nothing has been rolled, or the faces have been shown.
    pub fn look_at_roll(&mut self) -> Result<i64, Stop> {
        self.may_leave_open("looking at a roll")?;
        let Some(roll) = self.rolls.last_seen() else {
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
            if self.rolls.last < self.rolls.made.len() || !self.rules.looks_at_rolls() {
                self.paths.iter_mut().for_each(|paths| paths.refuse_look());
                return Err(self.break_off());
            }
            if let Some((dice, sight)) = unseen {
                let found = self.explored(|paths, context| paths.look(context, &dice, &sight.cuts(), total))?;
                if let Some(roll) = self.rolls.made.last_mut() {
                    (roll.total, roll.unseen) = (found, None);
                }
                return Ok(found);
            }
        }
        self.observers.observe(&Op::Look { total });
        Ok(total)
    }

    /// Makes the `count`th roll of this run, from 1, the one that `rb.last_roll` reads.
    pub fn return_to_roll(&mut self, count: usize) {
        if count != self.rolls.last {
            self.rolls.last = count.min(self.rolls.made.len());
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
        if !self.log.listening || self.rolls.dealing {
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
            terms: std::mem::take(&mut self.rolls.terms),
            faces: drawn,
        };
        self.tell(happening, audience);
    }

    /// Records a term of the next roll's target number, for explanations.
    pub fn note_roll_term(&mut self, term: Term) {
        if self.log.listening && self.paths.is_none() && self.rolls.terms.len() < MOST_TERMS {
            self.rolls.terms.push(term);
        }
    }

    /// The fault for too few written dice. It names the roll, its target, and the earlier answers of the action.
    fn ran_out(&mut self, dice: &Dice, need: Need, sides: u32, tell: &dyn Fn(&ActionContext) -> String) -> Stop {
        let (what, words) = (tell(self), need.words().map(|need| need.to_string()));
        let need = words.as_ref().map_or(String::new(), |need| format!(", needs {need}"));
        let told = answers_in_words(self, &self.playback.tape);
        let after = if told.is_empty() { String::new() } else { format!(" ({})", told.join("; ")) };
        let stop = self.fault_with(
            format!("{DICE_RUN_OUT}: {dice} is rolled: {what}{need}{after}"),
            Some("write the face of this roll after the others".into()),
        );
        self.rolls.missing = Some(Box::new(MissingRoll { what, dice: dice.to_string().into(), need: words, sides }));
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
        let merges = self.paths.as_ref().is_some_and(|paths| paths.merges() && !paths.is_sampling());
        merges && self.playback.is_at_end()
    }

    fn deal_seen(&mut self, n: u32, sight: &Sight) -> Result<u32, Stop> {
        let dice = match Dice::parse(&format!("1d{n}")) {
            Ok(dice) => Arc::new(dice),
            Err(error) => return Err(self.fault(format!("nothing can be drawn from {n}: {error}"))),
        };
        self.rolls.audience = Audience::nobody();
        self.rolls.dealing = true;
        let rolled = self.roll(&dice, &Arc::from(DRAW), sight, |_| DRAW.to_string());
        self.rolls.dealing = false;
        Ok(rolled?.as_int().and_then(|drawn| u32::try_from(drawn).ok()).unwrap_or_default())
    }

    /// The roll on the explorer's path.
    fn foresee(&mut self, dice: &Arc<Dice>, label: &Arc<str>, sight: &Sight) -> Result<Roll, Stop> {
        self.explored(|paths, context| paths.roll(context, dice, sight, label))
    }

    /// Begins `rb.again`. Fails in a phase in which dice cannot be rolled.
    pub fn begin_again(&mut self) -> Result<(), Stop> {
        self.may_act("rolling dice")
    }

    /// Repeats the function of `rb.again`. A fault if the function has not rolled since its last turn.
    pub fn roll_again(&mut self) -> Result<(), Stop> {
        self.may_go_on()?;
        if self.paths.as_mut().is_none_or(|paths| paths.roll_again()) {
            return Ok(());
        }
        Err(self.fault_with(
            "the function of rb.again neither rolls nor returns anything",
            Some("let it roll, and return something when no more rolls are needed".into()),
        ))
    }

    /// Picks a random number from 1 to `n` for a policy.
    pub fn pick(&mut self, n: u32) -> Result<u32, Stop> {
        self.may_go_on()?;
        let picked = if self.paths.is_none() {
            self.dice.rng.face(n)
        } else {
            self.explored(|paths, context| paths.pick(context, n))?
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
        if !self.playback.is_at_end() {
            match &self.playback.tape.slots[self.playback.cursor] {
                Some(Slot::Roll { label: was, dice: was_dice, faces, .. })
                    if was == label && **was_dice == *dice.to_string() =>
                {
                    match dice.roll_faces(faces) {
                        Ok(roll) => {
                            self.playback.cursor += 1;
                            return Ok(roll);
                        }
                        // Real dice of which some are not thrown yet.
                        Err(_)
                            if self.dice.source == DiceSource::Typed
                                && !Throws::read(dice, faces).missing().is_empty() =>
                        {
                            typed = Some(faces.clone());
                        }
                        Err(error) => {
                            let message = format!("the tape does not fit: {error}");
                            self.diverge(&message)?;
                        }
                    }
                }
                // A roll of real dice whose faces were not typed yet.
                None if self.dice.source == DiceSource::Typed => {}
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
        let before = self.dice.position();
        let recorded = self.dice.recorded.take(label, dice).and_then(|faces| dice.roll_faces(&faces).ok());
        let roll = match &self.dice.source {
            // Advance the generator as if it had rolled, so that equal games have equal positions.
            DiceSource::Seeded if recorded.is_some() => {
                let rng = &mut self.dice.rng;
                let _ = dice.roll_with(&mut |sides| Some(rng.face(sides)));
                recorded
            }
            _ if recorded.is_some() => recorded,
            DiceSource::Typed if !self.rolls.dealing && dice.count() > 0 => {
                self.rolls.waits_for = Some(label.clone());
                return self.ask_for_faces(dice, tell(self), audience.clone(), typed.unwrap_or_default());
            }
            // Draws from a deck, and rolls without dice, are never typed in.
            DiceSource::Seeded | DiceSource::Typed => {
                let rng = &mut self.dice.rng;
                dice.roll_with(&mut |sides| Some(rng.face(sides)))
            }
            source @ (DiceSource::Written(faces) | DiceSource::Pushed(faces)) => {
                let (mut at, mut bad, mut missing) = (self.dice.written as usize, None, None);
                let mut rng = matches!(source, DiceSource::Pushed(_)).then_some(&mut self.dice.rng);
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
                self.dice.written = at as u32;
                if let (None, Some(sides)) = (&roll, missing) {
                    return Err(self.ran_out(dice, need, sides, tell));
                }
                roll
            }
        };
        let Some(roll) = roll else { return Err(self.ran_out(dice, need, 0, tell)) };
        self.playback.tape.slots.push(Some(Slot::Roll {
            label: label.clone(),
            dice: Arc::from(dice.to_string()),
            faces: roll.drawn(),
            before,
            seq: None,
            earlier: Vec::new(),
        }));
        self.playback.cursor = self.playback.tape.slots.len();
        self.playback.end = self.dice.position();
        Ok(roll)
    }

    /// Asks for the next throw of real dice and stops.
    fn ask_for_faces(&mut self, dice: &Dice, label: String, audience: Audience, typed: Vec<u32>) -> Result<Roll, Stop> {
        let sides = Throws::read(dice, &typed).missing();
        self.put_out(Question {
            id: QuestionId { action: self.run.action, ordinal: self.playback.cursor as u32 },
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
}
