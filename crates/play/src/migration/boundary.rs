//! The steps of a change of rules: request, boundary, conversion of the state, and undo.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::carried::{Migration, MigrationError};
use super::comparison::StateComparison;
use super::conversions::{PartConversion, conversions, renames};
use crate::Former;
use crate::game::{
    BeforeRules, InForce, Pending, Reasons, SavedOpen, Swap, UndoOp, UndoReport, events_of, notices, patch_between,
    seat_people, switches_over,
};
use crate::{
    ActionContext, Cause, Done, Driver, Fault, Game, Happening, MASTER, MigrationFate, MigrationNote, Refusal, Ruleset,
    Slot,
};
use riskbreaker_ruleset::Contrast;
use riskbreaker_state::{Audience, EntityId, FieldId, Orphans, Passage, Renames, Schema, State, Value};

/// A game converted to other rules that have not taken effect yet.
pub(crate) struct ReadyConversion {
    pub migration: Migration,
    pub context: ActionContext,
    /// Messages of the conversion, published when the rules take effect.
    pub said: Vec<(Audience, Happening)>,
    /// The reasons that the conversion gave, by field.
    pub reasons: Reasons,
}

impl Game {
    /// The last requested rules, which will take effect at the boundary.
    pub(crate) fn awaited(&self) -> Option<&Arc<Ruleset>> {
        self.pending.last()?.rules.as_ref()
    }

    /// Requests other rules. `None` cancels the pending change.
    pub(crate) fn ask_for(&mut self, rules: Option<Arc<Ruleset>>) {
        self.redo.clear();
        self.pending.push(Pending { rules, asked_at: self.next_seq() });
    }

    /// Cancels the last request, if nothing was decided since.
    pub(crate) fn undo_asking(&mut self) -> Option<UndoReport> {
        let next = self.next_seq();
        let pending = self.pending.pop_if(|pending| pending.asked_at >= next)?;
        let text = match (&pending.rules, self.awaited()) {
            (Some(rules), _) => format!("undid asking for {}", rules.name()),
            (None, Some(rules)) => format!("undid calling off {}", rules.name()),
            (None, None) => "undid calling off other rules".into(),
        };
        self.redo.push(UndoOp::Rules { rules: pending.rules, at: None });
        Some(UndoReport::open(text, None, Vec::new()))
    }

    /// Repeats a request that an undo cancelled.
    pub(crate) fn redo_asking(&mut self, rules: Option<Arc<Ruleset>>) -> Result<(), Refusal> {
        if let Some(rules) = &rules {
            let allowed = self.prepare(rules, self.at_boundary()).and_then(|ready| ready.migration.allowed());
            allowed.map_err(|error| Refusal::new(error.to_string()))?;
        }
        self.pending.push(Pending { rules, asked_at: self.next_seq() });
        Ok(())
    }

    /// True if other rules can take effect now: before the entry that the ruleset declares as boundary, if the entry
    /// has no answers or rolls yet; between any two actions if no such entry is due.
    pub(crate) fn at_boundary(&self) -> bool {
        if self.context.state.outcome().is_some() || !self.held.is_empty() || !self.queued.is_empty() {
            return false;
        }
        let state = &self.context.state;
        let boundary = self.context.rules.declarations().boundary.as_deref();
        let is_boundary = |what: &str| boundary == Some(what);
        let is_due = |state: &State| state.agenda().entries().any(|entry| is_boundary(&entry.what));
        let Some(open) = &self.open else {
            return state.agenda().first().is_some_and(|first| is_boundary(&first.what) || !is_due(state));
        };
        let untouched = open.tape.slots.iter().flatten().all(|slot| match slot {
            Slot::Roll { .. } => false,
            Slot::Answer { .. } | Slot::Closed { .. } => slot.seq().is_none(),
        });
        let Cause::Entry { what, .. } = &open.cause else { return false };
        untouched && (boundary.is_none() || is_boundary(what) || !is_due(&state.before_journal()))
    }

    /// Converts a copy of the game to other rules. `at_boundary`: the rules take effect now. Otherwise the agenda
    /// entries before the boundary are dropped first, since the old rules will run them.
    pub(crate) fn prepare(&self, to: &Arc<Ruleset>, at_boundary: bool) -> Result<ReadyConversion, MigrationError> {
        let from = &self.context.rules;
        if self.context.state.outcome().is_some() && self.open.is_none() {
            return Err(MigrationError::Over);
        }
        if self.history.is_empty() {
            return Err(MigrationError::NotBegun);
        }
        if to.hash() == from.hash() {
            return Err(MigrationError::Same(to.name()));
        }
        let conversions = conversions(from, to)?;
        if let Some(ready) = self.straight_back(to, at_boundary) {
            return Ok(ready);
        }
        let mut state = self.context.state.before_journal();
        let waits_for = if at_boundary { None } else { from.declarations().boundary.clone() };
        let due = state.agenda().entries().position(|entry| Some(&entry.what) == waits_for.as_ref());
        let before_it = state.agenda().entries().take(due.unwrap_or(0)).map(|entry| entry.id);
        for id in before_it.collect::<Vec<_>>() {
            state.unschedule(id);
        }
        state.settle_unread();
        let parts = to.parts();
        let names = renames(from, to);
        let converted = state.converted(from.schema(), to.schema(), &names, &parts, Orphans::Shelve);
        let (mut new, _) = converted.map_err(|message| MigrationError::Fault(Fault::new(message)))?;
        let belongings = new.sort_belongings(&|what| to.has_entry(what), &|hook| to.has_holder(hook));
        let mut notes = Vec::new();
        let switches = self.switches_under(to, &mut new, &mut notes);
        let seats = self.seats_under(to, &mut notes);
        let mut context = ActionContext::new(to, Arc::new(switches), seats, self.context.dice.source.clone(), 0);
        context.state = new;
        let (mut said, mut reasons) = (Vec::new(), Reasons::new());
        for PartConversion { ruleset, version, steps } in conversions {
            let (switches, schema) = (self.context.switches.clone(), from.schema().clone());
            let former = Former { ruleset, version, steps, switches, state: state.clone(), schema };
            let ran = to.run(move |vm| {
                let result = vm.convert(&mut context, &former);
                (context, result)
            });
            let died = |_| MigrationError::Fault(Fault::new(format!("the script worker of {} has died", to.id())));
            let (changed, result) = ran.map_err(died)?;
            result?;
            context = changed;
            context.state.settle_unread();
            for event in std::mem::take(&mut context.log.events) {
                match event.happening {
                    Happening::Said { .. } => said.push((event.audience, event.happening)),
                    Happening::Changed { entity, field, reason: Some(reason), .. } => {
                        reasons.insert((entity, field), reason);
                    }
                    // A migration reports what it said and why it changed values; its changes are compared as a whole.
                    Happening::Changed { .. }
                    | Happening::Rolled { .. }
                    | Happening::Spawned { .. }
                    | Happening::Removed { .. }
                    | Happening::Answered { .. }
                    | Happening::Edited { .. }
                    | Happening::Notice { .. }
                    | Happening::Cut { .. }
                    | Happening::Over { .. }
                    | Happening::Back { .. }
                    | Happening::Aside { .. }
                    | Happening::Withdrawn { .. } => {}
                }
            }
        }
        notes.append(&mut context.run.notes);
        if context.state.agenda().first().is_none() && state.agenda().first().is_some() {
            let text = "nothing on it fits the new rules, so the game would be over at once".to_owned();
            notes.push(MigrationNote { fate: MigrationFate::Refused, topic: "agenda".into(), text, rule: None });
        }
        StateComparison { old: &state, old_schema: from.schema(), names: &names, context: &context }
            .tell(&belongings, &mut notes);
        notes.sort_by_key(|note| note.fate);
        let changes = Contrast::between(from, to).sentences;
        let (from, to) = (from.name(), to.name());
        let migration = Migration { from, to, changes, notes, waits_for: waits_for.map(|what| what.to_string()) };
        Ok(ReadyConversion { migration, context, said, reasons })
    }

    /// The game before the last change of rules, if the game returns to those rules and nothing was done since. `None`
    /// otherwise.
    fn straight_back(&self, to: &Arc<Ruleset>, at_boundary: bool) -> Option<ReadyConversion> {
        let untouched = at_boundary && self.open.as_ref().is_none_or(|open| open.seq.is_none());
        let last = self.history.last().filter(|last| untouched && matches!(last.cause, Cause::Rules { .. }))?;
        let before = last.swap.as_ref()?;
        let in_force = before.in_force.as_ref().filter(|in_force| in_force.rules.hash() == to.hash())?;
        let (switches, seats) = (in_force.switches.clone(), self.seats_back(in_force));
        let mut context = ActionContext::new(to, switches, seats, self.context.dice.source.clone(), 0);
        context.state = before.state.clone();
        let text = "the same as before: nothing has been done since the rules changed".to_owned();
        let notes = vec![MigrationNote { fate: MigrationFate::Returned, topic: "everything".into(), text, rule: None }];
        let changes = Contrast::between(&self.context.rules, to).sentences;
        let (from, to) = (self.context.rules.name(), to.name());
        let migration = Migration { from, to, changes, notes, waits_for: None };
        Some(ReadyConversion { migration, context, said: Vec::new(), reasons: Reasons::new() })
    }

    /// Carries the house rules over by name: the value if both rulesets have the rule, the default if it is new; a
    /// removed one becomes dormant.
    fn switches_under(
        &self,
        to: &Ruleset,
        state: &mut State,
        notes: &mut Vec<MigrationNote>,
    ) -> BTreeMap<String, Value> {
        let now = &self.context.switches;
        let mut told: BTreeMap<MigrationFate, Vec<String>> = BTreeMap::new();
        let passed = switches_over(now, to, &mut state.dormant_mut().switches);
        for (switch, (value, passage)) in to.switches().zip(&passed) {
            let fate = match passage {
                Passage::Carried => MigrationFate::Carried,
                Passage::Returned => MigrationFate::Returned,
                Passage::StandIn => MigrationFate::Decide,
                Passage::Defaulted => MigrationFate::Defaulted,
            };
            if *value != switch.default.as_value() || fate == MigrationFate::Decide {
                told.entry(fate).or_default().push(format!("{} is {value}", switch.name));
            }
        }
        for (name, value) in now.iter().filter(|(name, _)| to.switch(name).is_none()) {
            let usual = self.context.rules.switch(name).is_some_and(|switch| switch.default.as_value() == *value);
            if !usual {
                told.entry(MigrationFate::Dormant).or_default().push(format!("{name} is {value}"));
            }
        }
        for (fate, lines) in told {
            notes.push(MigrationNote { fate, topic: "house rules".into(), text: lines.join(", "), rule: None });
        }
        to.switches().map(|switch| switch.name.clone()).zip(passed.into_iter().map(|(value, _)| value)).collect()
    }

    /// Carries the seats over by name. People play new seats, and seats whose policy does not exist any more.
    fn seats_under(&self, to: &Ruleset, notes: &mut Vec<MigrationNote>) -> BTreeMap<Arc<str>, Driver> {
        let mut seats = self.context.answers.seats.clone();
        for (seat, policy) in seat_people(&mut seats, to) {
            let (topic, text) = (format!("seat {seat}"), format!("has no policy `{policy}` there: it is asked now"));
            notes.push(MigrationNote { fate: MigrationFate::Decide, topic, text, rule: None });
        }
        seats
    }

    /// The seats when a game returns to earlier rules. A seat whose driver was changed since keeps the new driver, if
    /// these rules have it.
    fn seats_back(&self, before: &InForce) -> BTreeMap<Arc<str>, Driver> {
        let mut seats = self.context.answers.seats.clone();
        let lost = |driver: &Driver| match driver {
            Driver::Policy(policy) => {
                let known = |rules: &Ruleset| rules.policies().contains(policy);
                !known(&self.context.rules) || !known(&before.rules)
            }
            Driver::Human | Driver::Absent => false,
        };
        for (seat, driver) in &before.seats {
            if lost(driver) || seats.get(seat).is_none_or(lost) {
                seats.insert(seat.clone(), driver.clone());
            }
        }
        seats
    }

    /// Puts converted rules and state into force, as one entry of the history.
    pub(crate) fn install(&mut self, ready: ReadyConversion) {
        let ReadyConversion { migration, context, said, reasons } = ready;
        let from = self.context.rules.clone();
        self.park();
        let dropped = self.open.take().map(|open| {
            self.withdraw(&open);
            Box::new(SavedOpen::of(&open))
        });
        let to = context.rules.clone();
        let before = self.context.dice.position();
        let may_read = self.readers_of_anything(&to);
        let in_force = InForce {
            rules: std::mem::replace(&mut self.context.rules, context.rules),
            switches: std::mem::replace(&mut self.context.switches, context.switches),
            seats: std::mem::replace(&mut self.context.answers.seats, context.answers.seats),
        };
        let state = std::mem::replace(&mut self.context.state, context.state);
        let lost = in_force.seats.iter().filter_map(|(seat, driver)| match driver {
            Driver::Policy(policy) if self.context.answers.seats.get(seat) != Some(driver) => {
                Some((seat.clone(), policy.clone()))
            }
            _ => None,
        });
        let lost = lost.collect();
        let swap = Swap { schema: from.schema().clone(), state, names: Renames::default(), in_force: Some(in_force) };
        self.note_first_rules(&from);
        let number = self.take_number();
        let line = format!("{} is in force, after {}", migration.to, migration.from);
        let to_see = [MigrationFate::Breach, MigrationFate::Decide];
        let notes = migration.notes.iter().filter(|note| to_see.contains(&note.fate));
        let notes: Vec<String> = notes.map(|note| format!("{}: {}", note.topic, note.text)).collect();
        let mut told = notices(&[line], &Audience::Everybody);
        told.extend(notices(&notes, &may_read));
        told.extend(said);
        let events = events_of(number, &told);
        events.iter().for_each(|event| self.tell(event));
        let cause = Cause::Rules {
            ruleset: to.id().to_string(),
            layers: to.extra_layers().to_vec(),
            hash: to.hash(),
            files: patch_between(&from, &to),
        };
        let seq = Some(self.next_seq());
        (self.idle, self.unasked, self.unasked_bytes, self.retried_bytes) = (0, 0, 0, 0);
        let swap = Some(Box::new(swap));
        self.history.push(Done { seq, events, told, swap, dropped, lost, reasons, ..Done::new(number, cause, before) });
    }

    /// The audience for a line that may name anything: only the game master if the old or the new rules have secrets.
    pub(crate) fn readers_of_anything(&self, to: &Ruleset) -> Audience {
        match self.context.rules.schema().has_secrets() || to.schema().has_secrets() {
            true => Audience::named(MASTER),
            false => Audience::Everybody,
        }
    }

    /// Undoes a change of rules.
    pub(crate) fn take_rules_back(&mut self, done: Done, passed: &mut Vec<Done>) -> UndoReport {
        // Later reloads belong to the undone rules.
        passed.clear();
        self.open = done.dropped.map(|open| open.reopened());
        self.held.clear();
        let now = self.context.rules.clone();
        let text = format!("undid the change to {}", now.name());
        let mut changes = Vec::new();
        if let Some(Swap { state, in_force: Some(before), .. }) = done.swap.map(|swap| *swap) {
            let seats = self.seats_back(&before);
            let undone = std::mem::replace(&mut self.context.state, state);
            self.context.switches = before.switches;
            self.context.answers.seats = seats;
            self.context.rules = before.rules;
            changes = self.restored(&undone, now.schema());
        }
        self.context.dice.set_position(done.before);
        let at = BeforeRules { done: self.history.len(), open: self.open.clone(), position: done.before };
        self.redo.push(UndoOp::Rules { rules: Some(now), at: Some(Box::new(at)) });
        UndoReport::open(text, None, changes)
    }

    /// Lists what the undo of a change of rules restored: shown fields with another value, or without one, under the
    /// undone rules, and entities that come or go. `undone`: the state under those rules, in their schema.
    fn restored(&self, undone: &State, schema: &Schema) -> Vec<(Audience, Happening)> {
        let (rules, mut told) = (self.context.rules.clone(), Vec::new());
        let mut there: Vec<EntityId> = self.context.state.entities().map(|(id, _)| id).collect();
        there.sort_unstable();
        for id in there {
            let Some(entity) = self.context.state.entity(id) else { continue };
            let kind = rules.schema().kind(entity.kind);
            let was = undone.entity(id);
            if was.is_none() {
                let audience = self.context.state.audience(rules.schema(), id);
                let title = self.context.title(id);
                told.push((audience, Happening::Spawned { entity: id, title, kind: kind.name.clone() }));
            }
            for (at, to) in (0..).map(FieldId).zip(&entity.fields) {
                let name = &kind.field(at).name;
                let from = was.and_then(|was| {
                    let place = schema.kind(was.kind).field_named(name)?;
                    was.fields.get(place.0 as usize)
                });
                // A field that the undone rules lack is listed only if it is not at its default.
                let from = from.unwrap_or(&kind.field(at).default);
                if from != to {
                    told.extend(self.context.changed(id, at, from, to));
                }
            }
        }
        told
    }
}
