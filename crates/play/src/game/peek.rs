//! Decisions that a seat cannot undo, because they have shown it a secret.

use super::Game;
use super::action::Done;
use super::open::Open;
use crate::context::{Course, RunProgress};
use crate::{Event, Happening, Refusal, Stands, Viewer};
use riskbreaker_ruleset::LetStand;
use riskbreaker_state::{Audience, Change, EntityId, FieldId};

/// The part of an action that an undo would take back.
struct UndonePart<'a> {
    course: Option<&'a Course>,
    from: RunProgress,
}

impl Game {
    /// Refuses to undo the last `decisions` decisions if the viewer has since seen something that the rules let stand.
    /// The game master may undo any decision.
    ///
    /// # Errors
    ///
    /// [`Refusal::Stands`].
    pub fn may_take_back(&self, viewer: &Viewer, decisions: u32) -> Result<(), Refusal> {
        let rule = self.context.rules.declarations().stands;
        let last = self.last_decision();
        if viewer.is_master() || rule == LetStand::Nothing || last <= self.horizon {
            return Ok(());
        }
        let since = match rule {
            LetStand::Everything => Some(Stands::Rules),
            _ => self.stands_since(viewer, last.saturating_sub(decisions.saturating_sub(1)), rule == LetStand::Dice),
        };
        match since {
            None => Ok(()),
            Some(since) => Err(Refusal::Stands { acting: viewer.words().into(), since }),
        }
    }

    /// True if the open action has shown a viewer something secret.
    pub fn was_shown_secrets(&self, viewer: &Viewer) -> bool {
        self.open.as_ref().is_some_and(|open| self.stands_in_open(viewer, open, 1, false).is_some())
    }

    /// The reason why a viewer cannot undo the decisions from this one on. `None` if it can.
    fn stands_since(&self, viewer: &Viewer, decision: u32, dice: bool) -> Option<Stands> {
        let of_open = self.open.as_ref().and_then(|open| self.stands_in_open(viewer, open, decision, dice));
        let later = self.history.iter().rev().take_while(|done| done.decided >= Some(decision));
        of_open.into_iter().chain(later.filter_map(|done| self.stands_in_done(viewer, done, decision, dice))).min()
    }

    fn stands_in_done(&self, viewer: &Viewer, done: &Done, decision: u32, dice: bool) -> Option<Stands> {
        let course = done.course.as_deref();
        let tape = done.tape.get();
        let place = tape.slots.iter().position(|slot| slot.iter().any(|slot| slot.seqs().any(|seq| seq >= decision)));
        let from = match place.filter(|_| done.seq < Some(decision)) {
            Some(place) => course.map_or_else(RunProgress::default, |course| course.at(place)),
            None => RunProgress::default(),
        };
        let part = UndonePart { course, from };
        let told = self.stands_in_events(viewer, &part, done.events.iter(), dice);
        let secrets = self.context.rules.schema().has_secrets();
        told.or_else(|| (secrets && self.shows_change(viewer, &part, &done.changes.get())).then_some(Stands::Secret))
    }

    fn stands_in_open(&self, viewer: &Viewer, open: &Open, decision: u32, dice: bool) -> Option<Stands> {
        let mut places = open.tape.slots.iter();
        let place = places.position(|slot| slot.iter().any(|slot| slot.seqs().any(|seq| seq >= decision)));
        let own = open.seq >= Some(decision);
        let from = place.filter(|_| !own).map_or_else(RunProgress::default, |place| open.course.at(place));
        // A free act or edit was inserted before this action, which stays open with the events it had by then.
        let inserted = self.history.iter().rev().take_while(|done| done.decided >= Some(decision));
        let inserted = inserted.filter(|done| done.number > open.number && done.seq >= Some(decision)).last();
        let before = inserted.filter(|_| place.is_none() && !own).and_then(|done| done.open_tape.as_deref());
        let part = UndonePart { course: Some(&open.course), from };
        let events = open.events.iter().filter(|event| before.is_none_or(|before| !before.had_told(event)));
        let told = self.stands_in_events(viewer, &part, events.cloned(), dice && before.is_none());
        if told.is_some() || before.is_some() {
            return told;
        }
        let shows = |place: &u32| {
            let mut asked = open.questions.iter();
            asked.any(|question| question.id.ordinal == *place && viewer.knows_of(question))
        };
        let later = open.course.showing().iter().filter(|at| place.is_none_or(|place| **at as usize > place));
        let in_state = || open.ran && self.shows_change(viewer, &part, self.context.state.since(0));
        (later.into_iter().any(shows) || in_state()).then_some(Stands::Secret)
    }

    fn stands_in_events(
        &self,
        viewer: &Viewer,
        part: &UndonePart<'_>,
        events: impl Iterator<Item = Event>,
        dice: bool,
    ) -> Option<Stands> {
        let mut rolled = None;
        for event in events.filter(|event| event.n >= part.from.events && viewer.sees(&event.audience)) {
            if self.is_news(viewer, part, &event) {
                return Some(Stands::Secret);
            }
            if dice && matches!(event.happening, Happening::Rolled { .. }) {
                rolled = Some(Stands::Dice);
            }
        }
        rolled
    }

    /// True if an event shows a viewer something secret, or a sealed answer of another seat.
    fn is_news(&self, viewer: &Viewer, part: &UndonePart<'_>, event: &Event) -> bool {
        let schema = self.context.rules.schema();
        let is_secret = !event.audience.is_everybody();
        match &event.happening {
            Happening::Answered { seat, .. } => {
                let was_sealed = part.course.is_some_and(|course| course.was_sealed(event.n));
                (is_secret || was_sealed) && !viewer.plays(seat)
            }
            Happening::Changed { entity, field, .. } => {
                let kind = self.context.state.entity(*entity).map(|entity| schema.kind(entity.kind));
                let field = kind.and_then(|kind| Some((kind, kind.field(kind.field_named(field)?))));
                is_secret && field.is_none_or(|(kind, field)| kind.peek && field.peek)
            }
            Happening::Spawned { kind, .. } | Happening::Removed { kind, .. } => {
                is_secret && schema.kind_named(kind).is_none_or(|kind| schema.kind(kind).peek)
            }
            // The actions of the game master.
            Happening::Edited { .. } | Happening::Notice { .. } => false,
            Happening::Said { .. }
            | Happening::Rolled { .. }
            | Happening::Cut { .. }
            | Happening::Over { .. }
            | Happening::Back { .. }
            | Happening::Aside { .. }
            | Happening::Withdrawn { .. } => is_secret,
        }
    }

    /// True if one of these changes shows a viewer something secret; not all fields have events.
    fn shows_change(&self, viewer: &Viewer, part: &UndonePart<'_>, changes: &[Change]) -> bool {
        let (state, schema) = (&self.context.state, self.context.rules.schema());
        let shows = |audience: Audience| !audience.is_everybody() && viewer.sees(&audience);
        let in_field = |entity: EntityId, field: FieldId| {
            let Some(kind) = state.entity(entity).map(|entity| entity.kind) else { return false };
            let (declared, kind) = (schema.kind(kind), kind);
            let Some(of_field) = declared.fields.get(field.0 as usize) else { return false };
            (schema.may_hide(kind) || of_field.audience.is_some())
                && declared.peek
                && of_field.peek
                && shows(state.field_audience(schema, entity, field, None))
        };
        changes.iter().skip(part.from.changes as usize).any(|change| match change {
            Change::Set { entity, field, from, to } => from != to && in_field(*entity, *field),
            Change::Spawn { entity, .. } => {
                let kind = state.entity(*entity).map(|entity| entity.kind);
                kind.is_some_and(|kind| schema.may_hide(kind) && schema.kind(kind).peek)
                    && shows(state.audience(schema, *entity))
            }
            Change::Remove { .. }
            | Change::Schedule { .. }
            | Change::Unschedule { .. }
            | Change::Rekey { .. }
            | Change::Attach { .. }
            | Change::Detach { .. }
            | Change::Data { .. }
            | Change::LeaveOut { .. }
            | Change::Finish { .. } => false,
        })
    }
}
