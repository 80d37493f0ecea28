use std::sync::Arc;

use super::Game;
use super::action::Done;
use super::open::OpenTape;
use super::swap::{InForce, Swap};
use super::undo_op::UndoOp;
use crate::{ActionContext, Cause, DicePosition, DiceSource, Edit, Event, Events, Happening, Packed, Refusal, Slot};
use riskbreaker_dice::Dice;
use riskbreaker_state::{
    Audience, Entity, EntityId, EntryId, FieldId, Kind, KindId, Renames, Schema, State, Unfit, Value, readable_name,
};

impl Game {
    /// Applies an edit of the game master before the open action, which then runs again.
    pub fn edit(&mut self, edit: Edit) -> Result<(), Refusal> {
        self.may_edit(&edit)?;
        self.park();
        let position = self.context.dice.position();
        let open_tape = OpenTape::of(self.open.as_ref());
        let before = matches!(edit, Edit::Switch { .. }).then(|| Box::new(self.as_it_stands()));
        let outcome = self.carry_out(&edit);
        let seq = self.next_seq();
        match outcome {
            Err(refusal) => {
                self.context.state.rollback(0);
                Err(refusal)
            }
            Ok((audience, happening)) => {
                if !matches!(edit, Edit::Say { .. } | Edit::Face { .. }) {
                    self.context.note_change_by_hand();
                }
                let number = self.next_number;
                (self.next_number, self.idle) = (number + 1, 0);
                let changes = Packed::new(&self.context.state.settle());
                let is_face = matches!(edit, Edit::Face { .. });
                let behind = matches!(edit, Edit::OtherDice { .. }).then(|| self.context.dice.position());
                let told = if is_face { vec![(audience.clone(), happening.clone())] } else { Vec::new() };
                let event = Event { action: number, n: 0, audience, happening };
                self.outbox.push(event.clone());
                let events = Events::from_iter([event]);
                self.history.push(Done {
                    seq: Some(seq),
                    told,
                    open_tape,
                    behind,
                    changes,
                    events,
                    swap: before,
                    ..Done::new(number, Cause::Edit { edit: edit.clone() }, position)
                });
                self.did(UndoOp::Edit(edit));
                Ok(())
            }
        }
    }

    /// Refuses an edit that names something that does not exist. Checks the state before the open action, since the
    /// edit is applied there. Changes nothing.
    fn may_edit(&self, edit: &Edit) -> Result<(), Refusal> {
        let state = &self.context.state.before_journal();
        self.may_name(edit, state)?;
        match edit {
            Edit::Set { entity, field, value } => {
                let rules = &self.context.rules;
                let Some(found) = state.entity(*entity) else {
                    return Err(Refusal::NoEntity { entity: *entity });
                };
                let kind = rules.schema().kind(found.kind);
                let Some(id) = kind.field_named(field) else {
                    if let Some(relation) = rules.schema().relation_from(found.kind, field) {
                        return may_relate(rules.schema(), relation, field, value, state);
                    }
                    let names = kind.fields.iter().map(|field| &*field.name);
                    let sentence = format!("a {} has no field `{field}`", kind.name);
                    return Err(Refusal::unknown(sentence, field, names));
                };
                fitting(kind, id, value, rules.schema(), state).map(|_| ())
            }
            Edit::Remove { entity } if state.entity(*entity).is_none() => Err(Refusal::NoEntity { entity: *entity }),
            Edit::Cancel { entry } if state.entry_numbered(entry.0).and_then(|id| state.agenda().get(id)).is_none() => {
                Err(Refusal::new(format!("there is no agenda entry {}", entry.0)))
            }
            Edit::Face { ordinal, faces } => {
                let open = self.open.as_ref();
                let slot = open.and_then(|open| open.tape.slots.get(*ordinal as usize)?.as_ref());
                let Some(Slot::Roll { dice, .. }) = slot else {
                    return Err(Refusal::new(format!("place {ordinal} of the open action is not a roll")));
                };
                must_show(dice, faces)
            }
            Edit::Switch { name, value } => self.context.house_rule(name, value).map(|_| ()),
            Edit::LeaveOut { name } => self.may_leave_out(name),
            Edit::TakeIn { name } if !state.left_out().contains(name.as_str()) => {
                let out: Vec<&str> = state.left_out().iter().map(|name| &**name).collect();
                Err(Refusal::new(match out.as_slice() {
                    [] => "nothing is disabled".to_string(),
                    out => format!("`{name}` is not disabled; {} is", out.join(", ")),
                }))
            }
            // The generator continues after written dice.
            Edit::OtherDice { .. }
                if !matches!(self.context.dice.source, DiceSource::Seeded | DiceSource::Pushed(_)) =>
            {
                Err(Refusal::new("only seeded dice can be changed; the dice of this game are written out or typed in"))
            }
            Edit::Remove { .. }
            | Edit::Cancel { .. }
            | Edit::TakeIn { .. }
            | Edit::Say { .. }
            | Edit::OtherDice { .. } => Ok(()),
        }
    }

    /// Refuses an edit of something that the open action made: the action is rolled back before the edit and makes it
    /// anew afterwards.
    fn may_name(&self, edit: &Edit, before: &State) -> Result<(), Refusal> {
        let now = &self.context.state;
        let is_new = |id: EntityId| before.entity(id).is_none() && now.entity(id).is_some();
        let mut made = match edit {
            Edit::Set { entity, .. } | Edit::Remove { entity } => Some(*entity),
            Edit::Cancel { .. }
            | Edit::Face { .. }
            | Edit::LeaveOut { .. }
            | Edit::TakeIn { .. }
            | Edit::Switch { .. }
            | Edit::Say { .. }
            | Edit::OtherDice { .. } => None,
        };
        made = made.filter(|id| is_new(*id));
        if let Edit::Set { value, .. } = edit {
            value.each_entity(&mut |id| made = made.or(Some(id).filter(|id| is_new(*id))));
        }
        let listed = |state: &State, entry: EntryId| {
            let id = state.entry_numbered(entry.0)?;
            state.agenda().get(id).map(|entry| entry.what.clone())
        };
        let what = match (made, edit) {
            (Some(id), _) => self.context.title(id).to_string(),
            (None, Edit::Cancel { entry }) if listed(before, *entry).is_none() => match listed(now, *entry) {
                Some(what) => format!("the agenda entry `{what}`"),
                None => return Ok(()),
            },
            _ => return Ok(()),
        };
        Err(Refusal::new(format!("{what} was made by the action that is open: answer its questions first")))
    }

    /// Applies an edit that makes a relation, or ends all relations of this kind of an entity.
    fn relate(&mut self, relation: KindId, one: EntityId, value: &Value) -> (Audience, Happening) {
        let rules = self.context.rules.clone();
        let declared = rules.schema().kind(relation);
        let (first, second) = (declared.relates[0], declared.relates[1]);
        let by_hand = |context: &ActionContext, id: EntityId, what: &str| {
            let audience = context.state.audience(rules.schema(), id);
            let text = format!("edit: {} {what}", context.title_for(id, &audience));
            (audience, Happening::Edited { text })
        };
        if let Value::Entity(other) = value {
            let known = self.context.relations_between(relation, one, *other).first().copied();
            let id = known.unwrap_or_else(|| {
                let mut fields: Vec<Value> = declared.fields.iter().map(|field| field.default.clone()).collect();
                fields[first.0 as usize] = Value::Entity(one);
                fields[second.0 as usize] = value.clone();
                let made = Entity { kind: relation, fields };
                let id = self.context.state.spawn_under(rules.schema(), made);
                self.context.state.note_gone(id);
                id
            });
            return by_hand(&self.context, id, "is there");
        }
        let mut found = self.context.holding(relation, &[(first, one.into())]);
        if declared.mutual {
            found.extend(self.context.holding(relation, &[(second, one.into())]));
        }
        let mut told = (self.context.state.audience(rules.schema(), one), Vec::new());
        for id in &found {
            told.0 = told.0.and(&self.context.state.audience(rules.schema(), *id));
            told.1.push(self.context.title(*id).to_string());
        }
        found.into_iter().for_each(|id| self.take_away(id));
        let text = match told.1.as_slice() {
            [] => format!("edit: {} has no {} to anybody", self.context.title(one), readable_name(&declared.name)),
            titles => format!("edit: {} is gone", titles.join(", ")),
        };
        (told.0, Happening::Edited { text })
    }

    /// Removes an entity and its relations.
    fn take_away(&mut self, entity: EntityId) {
        let rules = self.context.rules.clone();
        let state = &mut self.context.state;
        for gone in state.relations_of(rules.schema(), entity).into_iter().chain([entity]) {
            for (other, field) in state.remove(gone) {
                state.note_stale(other, field);
            }
            state.note_gone(gone);
        }
    }

    /// Refuses to disable something that the rules do not have or that is disabled already.
    fn may_leave_out(&self, name: &str) -> Result<(), Refusal> {
        if self.context.state.left_out().contains(name) {
            return Err(Refusal::new(format!("`{name}` is disabled already")));
        }
        let rules = &self.context.rules;
        let cards = rules.cards().iter().chain(rules.items()).map(|card| &*card.id);
        let acts = rules.free_acts().iter().map(|act| &*act.name);
        let names = cards.chain(rules.hooks().iter().map(|hook| &**hook)).chain(rules.entries()).chain(acts);
        let names: Vec<&str> = names.collect();
        if names.contains(&name) {
            return Ok(());
        }
        let sentence = format!("no hook, item, card, entry or free act is called `{name}`");
        Err(Refusal::unknown_among_many(sentence, name, names))
    }

    /// Copies the state and what is in force, for an undo.
    fn as_it_stands(&self) -> Swap {
        let context = &self.context;
        let in_force = InForce {
            rules: context.rules.clone(),
            switches: context.switches.clone(),
            seats: context.answers.seats.clone(),
        };
        Swap {
            schema: context.rules.schema().clone(),
            state: context.state.clone(),
            names: Renames::default(),
            in_force: Some(in_force),
        }
    }

    /// Carries out an edit that passed [`Game::may_edit`]. Returns the event and its audience.
    fn carry_out(&mut self, edit: &Edit) -> Result<(Audience, Happening), Refusal> {
        let by_hand = |text: String| (Audience::Everybody, Happening::Edited { text });
        let rules = self.context.rules.clone();
        if let Edit::Set { entity, field, value } = edit
            && let Some(kind) = self.context.state.entity(*entity).map(|entity| entity.kind)
            && rules.schema().kind(kind).field_named(field).is_none()
            && let Some(relation) = rules.schema().relation_from(kind, field)
        {
            return Ok(self.relate(relation, *entity, value));
        }
        let state = &mut self.context.state;
        match edit {
            Edit::Set { entity, field, value } => {
                let Some(found) = state.entity(*entity) else {
                    return Err(Refusal::NoEntity { entity: *entity });
                };
                let kind = rules.schema().kind(found.kind);
                let Some(id) = kind.field_named(field) else {
                    return Err(Refusal::new(format!("a {} has no field `{field}` now", kind.name)));
                };
                let value = fitting(kind, id, value, rules.schema(), state)?;
                let from = found.fields[id.0 as usize].clone();
                state.set(*entity, id, value.clone());
                state.note_stale(*entity, id);
                let audience = self.context.audience_of_change(*entity, id, &from, &value);
                let text = format!(
                    "edit: {}  {} {} -> {}",
                    self.context.title_for(*entity, &audience),
                    kind.field(id).label,
                    self.context.words_for(&from, &audience),
                    self.context.words_for(&value, &audience)
                );
                Ok((audience, Happening::Edited { text }))
            }
            Edit::Remove { entity } => {
                let audience = self.context.state.audience(rules.schema(), *entity);
                let title = self.context.title_for(*entity, &audience);
                self.take_away(*entity);
                Ok((audience, Happening::Edited { text: format!("edit: {title} is taken away") }))
            }
            Edit::Cancel { entry } => match state.entry_numbered(entry.0).and_then(|id| state.unschedule(id)) {
                Some(entry) => {
                    let owner = |id| state.audience(rules.schema(), id);
                    let audience = entry.owner.map_or(Audience::Everybody, owner);
                    let text = format!("edit: `{}` is taken off the agenda", entry.what);
                    Ok((audience, Happening::Edited { text }))
                }
                None => Err(Refusal::new(format!("there is no agenda entry {}", entry.0))),
            },
            Edit::LeaveOut { name } => {
                state.leave_out(Arc::from(name.as_str()), true);
                Ok(by_hand(format!("edit: `{name}` is disabled")))
            }
            Edit::TakeIn { name } => {
                state.leave_out(Arc::from(name.as_str()), false);
                Ok(by_hand(format!("edit: `{name}` is enabled again")))
            }
            Edit::Say { text } => Ok((Audience::Everybody, Happening::Said { text: text.clone() })),
            Edit::OtherDice { words } => {
                let position = self.context.dice.position();
                let words = position.words.saturating_add(*words);
                self.context.dice.set_position(DicePosition { words, ..position });
                Ok(by_hand("edit: other dice".into()))
            }
            Edit::Switch { name, value } => self.context.set_house_rule(name, value).map(by_hand),
            Edit::Face { ordinal, faces } => {
                let audience =
                    self.open.as_ref().and_then(|open| open.private.get(ordinal)).cloned().unwrap_or_default();
                let slot = self.open.as_mut().and_then(|open| open.tape.slots.get_mut(*ordinal as usize));
                let Some(Some(Slot::Roll { faces: old, dice, .. })) = slot else {
                    return Err(Refusal::new(format!("place {ordinal} of the open action is not a roll")));
                };
                let text = format!("edit: {dice} {old:?} -> {faces:?}");
                *old = faces.clone();
                Ok((audience, Happening::Edited { text }))
            }
        }
    }
}

/// Refuses a relation to an entity that its second end does not accept.
fn may_relate(schema: &Schema, relation: KindId, field: &str, value: &Value, state: &State) -> Result<(), Refusal> {
    let relation = schema.kind(relation);
    let fits = match value {
        Value::None => Ok(()),
        value => relation.check(relation.relates[1], value, schema, state),
    };
    fits.map_err(|problem| Refusal::BadValue { field: field.to_owned(), problem: problem.to_string() })
}

/// Converts a value to the form in which the field stores it, and checks it.
fn fitting(kind: &Kind, field: FieldId, value: &Value, schema: &Schema, state: &State) -> Result<Value, Refusal> {
    let declared = kind.field(field);
    let value = declared.ty.settle(value.clone());
    let misfit = |problem: Unfit| Refusal::BadValue { field: declared.name.to_string(), problem: problem.to_string() };
    kind.check(field, &value, schema, state).map_err(misfit)?;
    Ok(value)
}

/// Refuses faces that these dice cannot show.
fn must_show(dice: &str, faces: &[u32]) -> Result<(), Refusal> {
    let dice = Dice::parse(dice).map_err(|error| Refusal::new(error.to_string()))?;
    dice.roll_faces(faces).map(|_| ()).map_err(|error| Refusal::new(error.to_string()))
}
