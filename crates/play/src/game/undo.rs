use std::sync::Arc;

use super::Game;
use super::action::{Done, last_seq_of};
use super::open::Open;
use super::swap::Swap;
use super::undo_op::{BeforeRules, UndoOp};
use super::undo_report::UndoReport;
use crate::model::words_of;
use crate::{
    ActionContext, Answer, By, Cause, DecisionCount, DicePosition, Edit, Event, Happening, MASTER, Machine, Refusal,
    Remedy, Slot,
};
use riskbreaker_state::{Audience, AudienceRule, Schema, State};

impl Game {
    /// True if the last decision is in an action that was loaded but not replayed.
    pub fn undo_reaches_unplayed(&self) -> bool {
        if self.unplayed.is_none() || !self.pending.is_empty() {
            return false;
        }
        let waiting = self.queued.back().map(|(.., seq)| *seq);
        let in_open = self.open.as_ref().and_then(|open| open.last_seq().max(open.seq));
        waiting.max(in_open) < self.history.last_decision()
    }

    /// The finished action with the last decision. It need not be the last action: a free act that waited for another
    /// action is recorded after it, and an action that continued by itself is recorded after an edit.
    fn last_done(&self) -> Option<&Done> {
        let last = self.history.last_decision()?;
        self.history.iter().rev().find(|done| last_seq_of(done) == Some(last))
    }

    /// Undoes the last decision of a person. Runs no script.
    pub fn undo(&mut self) -> Result<UndoReport, Refusal> {
        if let Some(turned) = self.undo_asking() {
            return Ok(turned);
        }
        if self.last_decision() <= self.horizon {
            return Err(Refusal::NothingToUndo);
        }
        let mut passed = Vec::new();
        let mut before = self.context.state.clone();
        // If a house rule is undone: the rules under which it was set.
        let set_under = self.last_done().and_then(|done| done.swap.as_ref()?.in_force.as_ref());
        let set_under = set_under.map(|in_force| in_force.rules.clone());
        let mut turned = self.take_back_last(&mut passed)?;
        self.reload_again(passed, &before, set_under.as_ref(), &mut turned);
        self.keep_to_those_who_saw(&before, &mut turned.changes);
        self.name_gone(&mut before, &mut turned.changes);
        self.retried_bytes = 0;
        self.renumber();
        self.asked_policies = self.policies_were_asked();
        Ok(turned)
    }

    /// Narrows the audience of undone changes to those who saw the value before the undo.
    fn keep_to_those_who_saw(&self, before: &State, changes: &mut [(Audience, Happening)]) {
        let schema = self.context.rules.schema();
        if !schema.has_secrets() {
            return;
        }
        let is_path = |rule: &Option<AudienceRule>| matches!(rule, Some(AudienceRule::Path(_)));
        for (audience, happening) in changes {
            let Happening::Changed { entity, field: name, from, .. } = &*happening else { continue };
            let there = before.entity(*entity).or_else(|| self.context.state.entity(*entity));
            let Some((kind, field)) = there.and_then(|found| {
                let kind = schema.kind(found.kind);
                Some((kind, kind.field_named(name)?))
            }) else {
                continue;
            };
            let saw = match before.entity(*entity) {
                Some(_) => before.field_audience(schema, *entity, field, None),
                // It is unknown who saw the entity when it was removed.
                None if is_path(&kind.audience) || is_path(&kind.field(field).audience) || !kind.relates.is_empty() => {
                    Audience::nobody()
                }
                None => Audience::Everybody,
            };
            *audience = std::mem::take(audience).and(&saw).and(&before.value_audience(schema, from));
        }
    }

    /// Names entities that the undo removed by their earlier titles, for those who saw them then.
    fn name_gone(&mut self, before: &mut State, changes: &mut [(Audience, Happening)]) {
        for (audience, happening) in changes {
            let Happening::Changed { from, to, text, .. } = happening else { continue };
            if !from.any_entity(&|id| self.context.state.entity(id).is_none()) {
                continue;
            }
            let now = self.context.words_for(to, audience);
            std::mem::swap(&mut self.context.state, before);
            *text = format!("{} -> {now}", self.context.words_for(from, audience));
            let saw = self.context.state.value_audience(self.context.rules.schema(), from);
            std::mem::swap(&mut self.context.state, before);
            *audience = std::mem::take(audience).and(&saw);
        }
    }

    /// The seat of the last decision; the game master's for an edit.
    pub fn last_decider(&self) -> Option<Arc<str>> {
        let mut last: Option<(u32, Arc<str>)> = None;
        let mut see = |seq: Option<u32>, seat: &Arc<str>| {
            if let Some(seq) = seq
                && last.as_ref().is_none_or(|(youngest, _)| seq > *youngest)
            {
                last = Some((seq, seat.clone()));
            }
        };
        if self.pending.last().is_some_and(|pending| pending.asked_at >= self.next_seq()) {
            return Some(Arc::from(MASTER));
        }
        for (seat, _, seq) in &self.queued {
            see(Some(*seq), seat);
        }
        let open = self.open.iter().chain(&self.held).map(|open| (&open.cause, &open.tape, open.seq));
        let done = self.last_done();
        let tape = done.map(|done| done.tape.get());
        for (cause, tape, seq) in open.chain(done.zip(tape.as_ref()).map(|(done, tape)| (&done.cause, tape, done.seq)))
        {
            let by_hand: Arc<str> = Arc::from(MASTER);
            see(seq, if let Cause::Free { seat, .. } = cause { seat } else { &by_hand });
            if let Some((at, seq)) = tape.last_decision() {
                match &tape.slots[at] {
                    Some(Slot::Answer { seat, .. }) => see(Some(seq), seat),
                    _ => see(Some(seq), &by_hand),
                }
            }
        }
        last.map(|(_, seat)| seat)
    }

    /// The seat whose decision a redo would repeat.
    pub fn next_redo_by(&self) -> Option<Arc<str>> {
        match self.redo.last()? {
            UndoOp::Answer { seat, .. } | UndoOp::Free { seat, .. } => Some(seat.clone()),
            UndoOp::Edit(_) | UndoOp::Skip | UndoOp::Rules { .. } => Some(Arc::from(MASTER)),
        }
    }

    fn take_back_last(&mut self, passed: &mut Vec<Done>) -> Result<UndoReport, Refusal> {
        let in_open = self.open.as_ref().and_then(Open::last_seq);
        let last = self.last_done();
        let (in_history, last_number) = (last.and_then(last_seq_of), last.map(|done| done.number));
        let started = self.open.as_ref().and_then(|open| open.seq);
        if let Some((seat, name, seq)) = self.queued.back().cloned()
            && Some(seq) > in_open.max(in_history).max(started)
        {
            self.queued.pop_back();
            return Ok(self.undid_act(seat, name, &[], Vec::new()));
        }
        if in_open.max(in_history).max(started).is_none() {
            return Err(Refusal::NothingToUndo);
        }
        self.park();
        if in_open > in_history {
            let played = self.played();
            let undone =
                self.open.as_mut().and_then(|open| undo_in(open, &mut self.context, &mut self.redo, played, None));
            return undone.ok_or(Refusal::NothingToUndo);
        }
        if started > in_history {
            let Some(open) = self.open.take() else { return Err(Refusal::NothingToUndo) };
            self.context.dice.set_position(open.before);
            let turned = match &open.cause {
                Cause::Free { seat, name } => self.undid_act(seat.clone(), name.clone(), &open.events, Vec::new()),
                cause => UndoReport::open(format!("undid {}", words_of(cause)), None, Vec::new()),
            };
            self.open = self.held.pop();
            return Ok(turned);
        }
        // A free act that was queued behind these dice is queued again.
        if let Some(Open { cause: Cause::Free { seat, name }, seq: Some(seq), number, .. }) = &self.open
            && Some(*number) > last_number
        {
            self.queued.push_front((seat.clone(), name.clone(), *seq));
            self.open = None;
        }
        self.take_back_done(passed, in_history, last_number)
    }

    /// Undoes finished actions, newest first, down to the one with the last decision. `in_history`: the number of that
    /// decision; `last_number`: that of its action. The open action, which has no later decision, is dropped and its
    /// entry returns to the agenda, unless it was open before the undone action.
    fn take_back_done(
        &mut self,
        passed: &mut Vec<Done>,
        in_history: Option<u32>,
        last_number: Option<u32>,
    ) -> Result<UndoReport, Refusal> {
        let mut changes = Vec::new();
        while let Some(mut done) = self.pop_done() {
            if matches!(done.cause, Cause::Reload { .. }) {
                if let Some(swap) = &done.swap {
                    // The house rules stay unchanged, including dormant ones.
                    let mut state = swap.state.clone();
                    state.dormant_mut().switches = std::mem::take(&mut self.context.state.dormant_mut().switches);
                    self.context.state = state;
                }
                passed.push(done);
                continue;
            }
            if matches!(done.cause, Cause::Rules { .. }) {
                return Ok(self.take_rules_back(done, passed));
            }
            let held = self.open.take();
            let behind = done.behind.unwrap_or_else(|| self.position_behind(&done, held.as_ref()));
            let undone = done.changes.get();
            self.context.state.take_back(&undone);
            self.context.dice.set_position(done.before);
            changes.extend(undone.into_iter().rev());
            let tape = done.tape.get();
            let decided = tape.last_decision().is_some();
            let own = last_seq_of(&done);
            let mut open = Open {
                tape,
                seq: done.seq,
                events: done.events.iter().collect(),
                private: std::mem::take(&mut done.private),
                goes_on: done.skipped.is_none() && self.seems_endless(),
                ..Open::new(done.number, done.cause.clone(), done.before)
            };
            if own.map_or(Some(done.number) < last_number, |own| Some(own) < in_history) {
                // The action was open when the decision was made, and finished later: open it again.
                match &done.cause {
                    // A free act that had begun keeps its rolls, and the interrupted action waits for it again.
                    Cause::Free { .. } if Some(done.number) < last_number => {
                        self.held.extend(as_before(held, &done, done.before));
                        self.open = Some(open);
                    }
                    Cause::Free { seat, name } if !decided => {
                        self.queued.extend(done.seq.map(|seq| (seat.clone(), name.clone(), seq)));
                        self.queued.rotate_right(usize::from(done.seq.is_some()));
                    }
                    _ => self.open = Some(open),
                }
                continue;
            }
            if own.is_none() {
                // The action contains no decision: the game runs it again by itself.
                continue;
            }
            changes.reverse();
            // Changes in another schema are reported at the end.
            let another_schema = passed.iter().any(|done| done.swap.is_some());
            let told = if another_schema { Vec::new() } else { self.context.reversed(&changes) };
            if let Some(skipped) = done.skipped.take() {
                // The action runs through its tape again, up to its fault.
                self.context.dice.set_position(behind);
                if matches!(done.cause, Cause::Free { .. }) {
                    self.held.extend(as_before(held, &done, done.before));
                }
                open.seq = done.began;
                self.open = Some(open);
                self.redo.push(UndoOp::Skip);
                let audience = Audience::named(MASTER);
                return Ok(UndoReport {
                    text: format!("undid skipping an action: {skipped}"),
                    seat: None,
                    audience,
                    changes: told,
                });
            }
            match &done.cause {
                Cause::Edit { edit } => {
                    self.redo.push(UndoOp::Edit(edit.clone()));
                    self.open = as_before(held, &done, done.before);
                    if let Some(Swap { state, in_force: Some(before), .. }) = done.swap.map(|swap| *swap) {
                        self.context.switches = before.switches;
                        // Dormant rules from a reload since then belong to the undone value.
                        self.context.state.dormant_mut().switches = state.dormant().switches.clone();
                        self.context.state.renew_identity();
                    }
                    let text = format!("undid the edit: {}", first_line(&open.events).trim_start_matches("edit: "));
                    let audience = open.events.first().map_or(Audience::Everybody, |event| event.audience.clone());
                    return Ok(UndoReport { text, seat: None, audience, changes: told });
                }
                Cause::Free { seat, name } if !decided => {
                    let turned = self.undid_act(seat.clone(), name.clone(), &open.events, told);
                    self.open = as_before(held, &done, done.before);
                    return Ok(turned);
                }
                _ => {
                    // The state is that before the first of the later reloads.
                    let former =
                        passed.iter().rev().find_map(|done| done.swap.as_ref()).map(|swap| swap.schema.clone());
                    let played = self.played();
                    let turned = undo_in(&mut open, &mut self.context, &mut self.redo, played, former.as_ref());
                    if matches!(done.cause, Cause::Free { .. }) {
                        self.held.extend(as_before(held, &done, self.context.dice.position()));
                    }
                    self.open = Some(open);
                    let turned = turned.ok_or(Refusal::NothingToUndo)?;
                    return Ok(UndoReport { changes: told, ..turned });
                }
            }
        }
        Err(Refusal::NothingToUndo)
    }

    /// Reports an undone free act. `events`: its events. If the rules have secrets, only the seat itself learns which
    /// act was undone or redone.
    fn undid_act(
        &mut self,
        seat: Arc<str>,
        name: Arc<str>,
        events: &[Event],
        changes: Vec<(Audience, Happening)>,
    ) -> UndoReport {
        let has_secrets = self.context.rules.schema().has_secrets();
        let audience = match has_secrets || events.iter().any(|event| !event.audience.is_everybody()) {
            true => Audience::named(&seat),
            false => Audience::Everybody,
        };
        let text = format!("undid {name}");
        self.redo.push(UndoOp::Free { seat: seat.clone(), name, audience: audience.clone() });
        UndoReport { text, seat: Some(seat), audience, changes }
    }

    /// The position of the dice after a finished action, if it was not recorded. `next`: the action that was open when
    /// this one is undone.
    fn position_behind(&self, done: &Done, next: Option<&Open>) -> DicePosition {
        let drew = |slot: &Slot| slot.seq().is_none();
        if !done.tape.get().slots.iter().flatten().any(drew) {
            return done.before;
        }
        let behind = match next {
            Some(open) if open.number > done.number => Some(open.before),
            // The action waited, and continued after this one.
            Some(open) => open.tape.slots.iter().flatten().map(Slot::before).find(|before| *before > done.before),
            None => None,
        };
        behind.unwrap_or_else(|| self.context.dice.position())
    }

    /// Redoes the last undone decision. Runs the game up to the decision first.
    pub fn redo(&mut self, vm: &mut dyn Machine) -> Result<UndoReport, Refusal> {
        let Some(op) = self.redo.last().cloned() else {
            return Err(Refusal::NothingToRedo { diverged: false });
        };
        let rest = self.redo.clone();
        let mut whose = None;
        let mut audience = Audience::Everybody;
        let text = match op {
            UndoOp::Edit(edit) => {
                self.advance(vm, u64::MAX);
                self.edit(edit)?;
                "redid the edit".to_string()
            }
            UndoOp::Free { seat, name, audience: those } => {
                self.advance(vm, u64::MAX);
                (whose, audience) = (Some(seat.clone()), those);
                self.act(seat, name.clone())?;
                format!("redid {name}")
            }
            UndoOp::Rules { rules, at } => {
                let text = match (&rules, at) {
                    (Some(rules), Some(at)) => {
                        self.take_back_to(*at);
                        format!("redid the change to {}", rules.name())
                    }
                    (Some(rules), None) => format!("redid asking for {}", rules.name()),
                    (None, _) => "called off the other rules again".into(),
                };
                self.redo_asking(rules)?;
                text
            }
            UndoOp::Skip => {
                self.advance(vm, u64::MAX);
                self.remedy(Remedy::SkipAction)?;
                "left it out again".to_string()
            }
            UndoOp::Answer { topic, ordinal, answer, played, .. } => {
                self.advance(vm, u64::MAX);
                // If others have decided since, a question of another action may look the same.
                let question = self
                    .open
                    .as_ref()
                    .filter(|_| self.played() == played)
                    .and_then(|open| open.questions.iter().find(|question| question.id.ordinal == ordinal))
                    .filter(|question| question.topic == topic)
                    .cloned();
                let Some(question) = question else {
                    self.redo.clear();
                    return Err(Refusal::NothingToRedo { diverged: true });
                };
                self.answer(question.id, answer.clone())?;
                whose = Some(question.seat.clone());
                // Until the action runs again, only the seat knows the answer: it may wait for the answers of others.
                audience = match answer {
                    Answer::Faces(_) => question.audience.clone(),
                    _ => Audience::named(&question.seat),
                };
                format!("redid {}: {}", question.topic, question.tell(&answer))
            }
        };
        self.redo = rest;
        self.redo.pop();
        Ok(UndoReport { text, seat: whose, audience, changes: Vec::new() })
    }

    /// The number of finished entries and free acts that are not undone.
    fn played(&self) -> usize {
        let counts = |done: &&Done| matches!(done.cause, Cause::Start | Cause::Entry { .. } | Cause::Free { .. });
        self.history.iter().filter(counts).count()
    }

    /// Removes the actions that the game has run by itself since that position. Does nothing if a person has decided
    /// anything or changed the rules since.
    fn take_back_to(&mut self, at: BeforeRules) {
        let by_itself =
            |done: &Done| last_seq_of(done).is_none() && matches!(done.cause, Cause::Entry { .. } | Cause::Free { .. });
        if self.decided_in_open() || !self.history.get(at.done..).is_some_and(|since| since.iter().all(by_itself)) {
            return;
        }
        self.park();
        if let Some(open) = self.open.take() {
            self.withdraw(&open);
        }
        self.held.clear();
        while self.history.len() > at.done
            && let Some(done) = self.pop_done()
        {
            self.context.state.take_back(&done.changes.get());
        }
        self.open = at.open;
        self.context.dice.set_position(at.position);
        self.retried_bytes = 0;
        self.renumber();
        self.asked_policies = self.policies_were_asked();
    }

    /// Forgets the positions at which redoable changes of rules took effect, since the history before them has changed.
    pub(crate) fn forget_places_of_rules(&mut self) {
        for op in &mut self.redo {
            if let UndoOp::Rules { at, .. } = op {
                *at = None;
            }
        }
    }

    /// True if an open, interrupted or queued action contains a decision of a person.
    fn decided_in_open(&self) -> bool {
        let mut open = self.open.iter().chain(&self.held);
        !self.queued.is_empty() || open.any(|open| open.last_seq().max(open.seq).is_some())
    }

    /// The number of decisions that [`Game::undo`] can take back.
    pub fn decisions(&self) -> u32 {
        self.decision_count().total()
    }

    pub fn decision_count(&self) -> DecisionCount {
        DecisionCount { made: self.last_decision(), waiting: self.pending.len() as u32 }
    }

    /// Removes decisions until this many are left, as if they had not been made: for a reply that was refused half way.
    /// Returns true if there were more.
    pub fn rewind(&mut self, decisions: u32) -> bool {
        let has_more = self.decisions() > decisions;
        let redo = std::mem::take(&mut self.redo);
        while self.decisions() > decisions && self.undo().is_ok() {}
        self.redo = redo;
        has_more
    }

    /// Records a decision of a person. Clears the decisions to redo, unless the next of them was repeated.
    pub(crate) fn did(&mut self, op: UndoOp) {
        (self.unasked, self.unasked_bytes) = (0, 0);
        match (self.redo.last(), &op) {
            (
                Some(UndoOp::Answer { ordinal, answer, played, .. }),
                UndoOp::Answer { ordinal: now, answer: given, .. },
            ) if ordinal == now && answer == given && *played == self.played() => {
                self.redo.pop();
            }
            // `reroll` makes this edit and then repeats the undone decisions.
            (_, UndoOp::Edit(Edit::OtherDice { .. })) => self.forget_places_of_rules(),
            _ => self.redo.clear(),
        }
    }
}

/// The action that was open beside an undone one, as it was before that. `None` if it was opened later.
fn as_before(open: Option<Open>, done: &Done, position: DicePosition) -> Option<Open> {
    let mut open = open.filter(|open| open.number < done.number)?;
    if let Some(before) = &done.open_tape {
        before.put_back(&mut open);
        return Some(open);
    }
    // If its earlier tape is not in the file: drop its draws after that position of the dice.
    let is_later = |slot: &Slot| slot.seq().is_none() && slot.before() > position;
    if let Some(at) = open.tape.slots.iter().position(|slot| slot.as_ref().is_some_and(is_later)) {
        open.tape.cut(at);
    }
    Some(open)
}

/// Undoes the last decision of an action. `None` if it contains no decision. `played`: the value of [`Game::played`]
/// before it. `former`: the schema of the state, if it is not that of the rules in force.
fn undo_in(
    open: &mut Open,
    context: &mut ActionContext,
    redo: &mut Vec<UndoOp>,
    played: usize,
    former: Option<&Schema>,
) -> Option<UndoReport> {
    let (at, _) = open.tape.last_decision()?;
    let slot = open.tape.slots.get(at)?.clone().filter(|slot| !matches!(slot, Slot::Closed { .. }))?;
    let before = slot.before();
    let (left, taken) = slot.before_last_throw();
    let audience = open.private.get(&(at as u32)).cloned().unwrap_or_default();
    let mut whose = None;
    // Later slots with earlier answers belong to questions that were open together with this one: they stay.
    let older = |slot: &Option<Slot>| match slot {
        Some(Slot::Answer { by: By::Policy | By::Default, before: drawn, .. }) => *drawn < before,
        slot => slot.as_ref().is_some_and(|slot| slot.seq().is_some()),
    };
    match open.tape.slots.iter().rposition(older).filter(|last| *last > at) {
        Some(last) => {
            open.tape.slots.truncate(last + 1);
            open.tape.slots[at] = None;
            open.tape.reopen(at);
        }
        None => drop(open.tape.cut(at)),
    }
    let is_begun = left.is_some();
    if is_begun {
        match open.tape.slots.get_mut(at) {
            Some(place) => *place = left,
            None => open.tape.slots.push(left),
        }
    }
    // Later draws are dropped with it.
    context.dice.set_position(before);
    let text = match slot {
        Slot::Answer { topic, answer, about, seat, .. } => {
            whose = Some(seat.clone());
            // Use the titles of the time of the event.
            let title = |audience: &Audience| {
                about.map(|id| match former {
                    Some(schema) => schema.title_in(&context.state, id),
                    None => context.title_for(id, audience),
                })
            };
            let words = open.events.iter().rev().find_map(|event| match &event.happening {
                Happening::Answered { topic: of, about: whom, text, seat: by }
                    if *of == topic && *whom == title(&event.audience) && *by == seat =>
                {
                    Some(text)
                }
                _ => None,
            });
            let text = format!("undid {topic}: {}", words.cloned().unwrap_or_else(|| answer.in_ids()));
            redo.push(UndoOp::Answer { seat, topic, ordinal: at as u32, answer, played });
            text
        }
        Slot::Closed { .. } => return None,
        Slot::Roll { dice, .. } => {
            redo.extend(taken.into_iter().map(|thrown| UndoOp::Answer {
                seat: Arc::from("dice"),
                topic: Arc::from("dice"),
                ordinal: at as u32,
                answer: Answer::Faces(thrown),
                played,
            }));
            format!("undid the {} of {dice}", if is_begun { "last throw" } else { "roll" })
        }
    };
    Some(UndoReport { text, seat: whose, audience, changes: Vec::new() })
}

fn first_line(events: &[Event]) -> String {
    events.first().map(|event| event.happening.line()).unwrap_or_default()
}
