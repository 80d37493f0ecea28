//! What a script can do: each operation once, with its checks and limits. Modes of play differ in where answers and faces come
//! from (`inputs.rs`) and in who is told of the finished operation, never in what an operation does.

use std::sync::Arc;

use super::Happening;
use super::context::{ActionContext, Sight, Stop};
use crate::dice::Dice;
use crate::state::{
    Attachment, AttachmentId, Audience, Entity, EntityId, Entry, EntryId, FieldId, Key, KindId, Type, Value,
};

/// A finished operation, as observers see it.
///
/// An observer matches it exhaustively, so that a new operation cannot pass by one unseen.
#[derive(Debug)]
pub(crate) enum Op<'a> {
    Read {
        entity: EntityId,
        field: FieldId,
        value: &'a Value,
    },
    /// Who is there was asked: `rb.each`, `exists`.
    ReadPopulation,
    ReadAttachments,
    ReadAgenda,
    /// The number behind an agenda entry's token was looked at.
    ReadEntryNumber,
    /// An entry was given its own key.
    ReadKey,
    Roll {
        dice: &'a Arc<Dice>,
        sight: &'a Sight,
        seen: &'a Value,
    },
    Pick {
        n: u32,
        picked: u32,
    },
    /// A question was answered. `card`: the card that was chosen, if one was.
    Answer {
        seat: &'a Arc<str>,
        card: Option<Arc<str>>,
    },
    /// An answer was refused by the question's own check.
    Refuse,
    Write {
        entity: EntityId,
        field: FieldId,
        value: &'a Value,
    },
    Spawn {
        id: EntityId,
        entity: &'a Entity,
    },
    /// `touched`: fields of others that referred to it.
    Remove {
        id: EntityId,
        touched: &'a [(EntityId, FieldId)],
    },
    Attach {
        made: &'a Attachment,
    },
    Detach {
        id: AttachmentId,
    },
    SetData {
        id: AttachmentId,
        data: &'a Value,
    },
    Schedule {
        entry: &'a Entry,
    },
    Cancel,
    Rekey,
    Say,
    /// `plain`: the outcome names no entity.
    Finish {
        outcome: &'a str,
        plain: bool,
    },
    Cut,
    /// A conversion from other rules noted something.
    Note,
}

impl ActionContext {
    /// The value of a field; `None` if the entity is gone or has no such field.
    #[inline]
    pub fn read(&mut self, entity: EntityId, field: FieldId) -> Option<&Value> {
        if let Some(masked) = &self.masked
            && let Some(found) = self.state.entity(entity)
        {
            masked.note(found.kind, entity, field);
        }
        let value = self.state.field(entity, field)?;
        self.observers.observe(&Op::Read { entity, field, value });
        Some(value)
    }

    /// Writes a field, and tells why, if that is said.
    ///
    /// # Errors
    ///
    /// An entity that is gone, a field of another kind, or a value that the field does not take.
    pub fn write(&mut self, entity: EntityId, field: FieldId, value: Value, why: Option<Arc<str>>) -> Result<(), Stop> {
        self.may_act("writing a field")?;
        let Some(found) = self.state.entity(entity) else {
            return Err(self.fault("a field is written to an entity that has been taken away"));
        };
        let rules = self.rules.clone();
        let kind = rules.schema().kind(found.kind);
        let Some(declared) = kind.fields.get(field.0 as usize) else {
            return Err(self.fault(format!("a {} has no such field", kind.name)));
        };
        if let Err(error) = declared.ty.check(&value, rules.schema(), &self.state) {
            let title = self.title(entity);
            return Err(self.fault(format!("the field `{}` of {title} {error}", declared.name)));
        }
        let from = self.listening.then(|| found.fields[field.0 as usize].clone());
        self.observers.observe(&Op::Write { entity, field, value: &value });
        match from {
            Some(from) => {
                self.state.set(entity, field, value.clone());
                self.tell_change(entity, field, (&from, &value), why);
            }
            None => self.state.set(entity, field, value),
        }
        Ok(())
    }

    /// Makes an entity. `given`: values of some of its fields; the others take their defaults.
    ///
    /// # Errors
    ///
    /// A value that its field does not take, or too many entities.
    pub fn spawn(&mut self, kind: KindId, given: Vec<(FieldId, Value)>) -> Result<EntityId, Stop> {
        self.may_act("making an entity")?;
        let rules = self.rules.clone();
        let schema = rules.schema();
        let declared = schema.kind(kind);
        let mut fields: Vec<Value> = declared.fields.iter().map(|field| field.default.clone()).collect();
        for (field, value) in given {
            let known = declared.field(field);
            if let Err(error) = known.ty.check(&value, schema, &self.state) {
                return Err(self.fault(format!("the field `{}` of a new {} {error}", known.name, declared.name)));
            }
            fields[field.0 as usize] = value;
        }
        if !self.state.has_room(1, 0) {
            return Err(self.fault("a game has at most a million entities"));
        }
        let entity = Entity { kind, fields };
        let id = self.state.spawn(entity.clone());
        self.observers.observe(&Op::Spawn { id, entity: &entity });
        if declared.title.is_some() {
            let happening = Happening::Spawned { entity: id, title: self.title(id), kind: declared.name.clone() };
            let audience = self.audience_of(id);
            self.tell(happening, audience);
        }
        Ok(id)
    }

    /// Takes an entity away, with its agenda entries and attachments; references to it become empty. Gives the fields of others
    /// that changed with it.
    pub fn remove(&mut self, id: EntityId) -> Result<Vec<(EntityId, FieldId)>, Stop> {
        self.may_act("taking an entity away")?;
        let title = self.listening.then(|| self.title(id));
        let audience = self.audience_of(id);
        let kind = self.state.entity(id).map(|entity| entity.kind);
        let touched = self.state.remove(id);
        self.observers.observe(&Op::Remove { id, touched: &touched });
        if let (Some(title), Some(kind)) = (title, kind) {
            let kind = self.rules.schema().kind(kind).name.clone();
            self.tell(Happening::Removed { entity: id, title, kind }, audience);
        }
        Ok(touched)
    }

    /// Who may see an entity, where anybody listens.
    fn audience_of(&self, id: EntityId) -> Audience {
        if self.listening { self.state.audience(self.rules.schema(), id) } else { Audience::Everybody }
    }

    /// Attaches a hook holder to an entity.
    pub fn attach(&mut self, hook: Arc<str>, owner: EntityId, data: Value) -> Result<AttachmentId, Stop> {
        self.may_act("attaching")?;
        let made = Attachment { hook, owner, data };
        self.observers.observe(&Op::Attach { made: &made });
        Ok(self.state.attach(made))
    }

    /// Takes an attachment off; says whether it was there.
    pub fn detach(&mut self, id: AttachmentId) -> Result<bool, Stop> {
        self.may_act("detaching")?;
        self.observers.observe(&Op::Detach { id });
        Ok(self.state.detach(id))
    }

    /// Replaces the data of an attachment.
    pub fn set_data(&mut self, id: AttachmentId, data: Value) -> Result<(), Stop> {
        self.may_act("changing an attachment")?;
        self.observers.observe(&Op::SetData { id, data: &data });
        if !self.state.set_data(id, data) {
            return Err(self.fault(format!("there is no attachment {}", id.0)));
        }
        Ok(())
    }

    /// Puts an entry on the agenda.
    ///
    /// # Errors
    ///
    /// A full agenda.
    pub fn schedule(
        &mut self,
        what: Arc<str>,
        key: Key,
        owner: Option<EntityId>,
        args: Value,
        every: Option<Key>,
    ) -> Result<EntryId, Stop> {
        self.may_act("changing the agenda")?;
        if !self.state.has_room(0, 1) {
            let most = crate::state::MOST_ENTRIES;
            return Err(self.fault(format!("the agenda holds at most {most} entries")));
        }
        let id = self.state.schedule(what, key, owner, args, every);
        if let Some(entry) = self.state.agenda().get(id) {
            self.observers.observe(&Op::Schedule { entry });
        }
        Ok(id)
    }

    /// Takes an entry off the agenda; says whether it was there.
    pub fn cancel(&mut self, id: EntryId) -> Result<bool, Stop> {
        self.may_act("changing the agenda")?;
        self.observers.observe(&Op::Cancel);
        Ok(self.state.unschedule(id).is_some())
    }

    /// Gives an entry another key; says whether it is there.
    pub fn rekey(&mut self, id: EntryId, key: Key) -> Result<bool, Stop> {
        self.may_act("changing the agenda")?;
        self.observers.observe(&Op::Rekey);
        Ok(self.state.rekey(id, key))
    }

    /// Tells a line of the story. `text` is called only if somebody listens.
    pub fn say(&mut self, audience: Audience, text: impl FnOnce(&ActionContext) -> String) -> Result<(), Stop> {
        self.may_act("saying something")?;
        self.observers.observe(&Op::Say);
        if self.listening {
            if self.events.len() > MOST_EVENTS {
                return Err(self.fault(format!("one action tells at most {MOST_EVENTS} things")));
            }
            let text = text(self);
            self.tell(Happening::Said { text }, audience);
        }
        Ok(())
    }

    /// Tells what came of the last roll, with it. `text` is called only if somebody listens.
    pub fn result(&mut self, text: impl FnOnce(&ActionContext) -> String) -> Result<(), Stop> {
        self.may_act("telling the result of a roll")?;
        if self.listening {
            let text = text(self);
            self.tell_result(&text);
        }
        Ok(())
    }

    /// Ends the game.
    pub fn finish(&mut self, outcome: String, plain: bool) -> Result<(), Stop> {
        self.may_act("ending the game")?;
        self.observers.observe(&Op::Finish { outcome: &outcome, plain });
        self.state.finish(outcome);
        Ok(())
    }

    /// Ends the action; what it has changed stands.
    pub fn cut(&mut self, reason: String) -> Result<(), Stop> {
        self.may_act("ending the action")?;
        self.observers.observe(&Op::Cut);
        self.stop = Some(Stop::Cut(reason.clone()));
        Err(Stop::Cut(reason))
    }
}

/// Most events of one action.
const MOST_EVENTS: usize = 10_000;

/// The value as its field holds it: a ratio comes from a script as a list of two.
pub(crate) fn settled(ty: &Type, value: Value) -> Value {
    match (ty, &value) {
        (Type::Ratio, Value::List(parts)) => match parts.as_ref() {
            [Value::Int(n), Value::Int(d)] => Value::ratio(*n, *d).unwrap_or(value),
            _ => value,
        },
        _ => ty.settle(value),
    }
}
