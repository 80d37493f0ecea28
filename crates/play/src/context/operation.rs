//! The operations of scripts: each operation once, with its checks and limits. Modes of play differ in the source of
//! answers and faces (`inputs.rs`) and in the observers, never in what an operation does.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::ActionContext;
use super::op::Op;
use super::phase::{Phase, Stop};
use super::sought::Sought;
use crate::{Happening, Query};
use riskbreaker_state::{
    Attachment, AttachmentId, Audience, AudienceRule, Due, ENDING, Entity, EntityId, Entry, EntryId, FieldId, Key,
    KindId, RelativeKey, Schema, Value, readable_name,
};

impl ActionContext {
    /// The value of a field; `None` if the entity is gone or has no such field.
    #[inline]
    pub fn read(&mut self, entity: EntityId, field: FieldId) -> Option<&Value> {
        if self.knowledge.masked.is_some() {
            self.note_read(entity, field);
        }
        if self.knowledge.glimpse.is_some() {
            return self.glimpsed(entity, field);
        }
        let value = self.state.field(entity, field)?;
        self.observers.observe(&Op::Read { entity, field, value, state: &self.state });
        Some(value)
    }

    /// Compares the number in a field with a minimum. `None` if the entity does not exist or the field holds no number.
    pub fn reaches(&mut self, entity: EntityId, field: FieldId, least: i64) -> Option<bool> {
        if self.knowledge.masked.is_some() || self.knowledge.glimpse.is_some() {
            return self.read(entity, field)?.as_int().map(|n| n >= least);
        }
        let value = self.state.field(entity, field)?;
        let met = value.as_int()? >= least;
        self.observers.observe(&Op::ReadAtLeast { entity, field, least, value, state: &self.state });
        Some(met)
    }

    /// The value of a field before a number is added. Observers are not notified of this read.
    pub fn before_sum(&mut self, entity: EntityId, field: FieldId) -> Option<&Value> {
        if self.knowledge.masked.is_some() || self.knowledge.glimpse.is_some() {
            return self.read(entity, field);
        }
        self.state.field(entity, field)
    }

    /// Writes a field and publishes the change with the reason `why`. `by`: the number added to
    /// [`ActionContext::before_sum`], if `value` is that sum.
    ///
    /// # Errors
    ///
    /// The entity does not exist, the field is of another kind, or the field does not accept the value.
    pub fn write(
        &mut self,
        entity: EntityId,
        field: FieldId,
        value: Value,
        by: Option<i64>,
        why: Option<Arc<str>>,
    ) -> Result<(), Stop> {
        self.may_act("writing a field")?;
        let Some(found) = self.state.entity(entity) else {
            return Err(self.fault("a field is written to an entity that has been taken away"));
        };
        let schema = self.rules.schema();
        let kind = schema.kind(found.kind);
        let Some(declared) = kind.fields.get(field.0 as usize) else {
            let message = format!("a {} has no such field", kind.name);
            return Err(self.fault(message));
        };
        if let Err(error) = kind.check(field, &value, schema, &self.state) {
            let message = format!("the field `{}` of {} {error}", declared.name, self.title(entity));
            return Err(self.fault_of_value(message, None, error));
        }
        let from = self.log.listening.then(|| found.fields[field.0 as usize].clone());
        if let Some(masked) = &mut self.knowledge.masked {
            masked.note_written(entity, field);
        }
        let op = match by {
            Some(by) => Op::Add { entity, field, by, sum: &value, ty: &declared.ty },
            None => Op::Write { entity, field, value: &value },
        };
        self.observers.observe(&op);
        match from {
            Some(from) => {
                self.state.set(entity, field, value.clone());
                self.tell_change(entity, field, (&from, &value), why);
            }
            None => self.state.set(entity, field, value),
        }
        Ok(())
    }

    /// The entities of a kind that hold these values, in the order of their creation.
    pub fn holding(&mut self, kind: KindId, wanted: &[(FieldId, Sought<'_>)]) -> Vec<EntityId> {
        let reference = wanted.iter().find_map(|(field, sought)| match sought {
            Sought::Other(Value::Entity(to)) => Some((*field, *to)),
            _ => None,
        });
        let referring = reference.map(|(field, to)| self.state.referring(kind, field, to));
        if self.notes_reads() {
            // Count the same work whether reads are observed or not.
            let wanted: Vec<_> = wanted.iter().map(|(field, sought)| (*field, sought.value())).collect();
            return self.holding_observed(kind, &wanted, reference, referring.map(|referring| referring.len()));
        }
        let mut found = referring.unwrap_or_else(|| self.state.of_kind(kind));
        self.run.searched += found.len();
        found.retain(|id| wanted.iter().all(|(field, sought)| sought.is(self.state.field(*id, *field))));
        found
    }

    /// Like [`ActionContext::holding`], where observers need to know what is read. `fewest`: the number of entities that
    /// refer to the one of `reference`.
    fn holding_observed(
        &mut self,
        kind: KindId,
        wanted: &[(FieldId, Value)],
        reference: Option<(FieldId, EntityId)>,
        fewest: Option<usize>,
    ) -> Vec<EntityId> {
        let shown_all = self.knowledge.masked.is_none() && self.knowledge.glimpse.is_none();
        // The result depends on the fields of all entities of the kind.
        let mut found = self.state.of_kind(kind);
        self.run.searched += fewest.unwrap_or(found.len());
        let query = match (reference, self.observers.fixed_entities()) {
            // Of the entities made in play, tell the trace cache those that refer to `to`.
            (Some((field, to)), Some(fixed)) if shown_all => {
                let refers = |id: &EntityId| self.state.field(*id, field) == Some(&Value::Entity(to));
                found.retain(|id| id.0 <= fixed || refers(id));
                Query::Referring(kind, field, to)
            }
            _ => Query::Kind(kind),
        };
        self.observers.observe(&Op::ReadPopulation { query, state: &self.state });
        if self.knowledge.glimpse.is_some() {
            found.retain(|id| self.shown().entity(*id).is_some());
        }
        let mut left: Vec<&(FieldId, Value)> = wanted.iter().collect();
        let fixed = self.observers.fixed_entities().filter(|_| shown_all).unwrap_or_default();
        // Of the entities that all games begin with, tell the trace cache those that hold the values.
        if fixed > 0 {
            for (field, value) in wanted {
                let Some(query) = Query::holding(kind, *field, value, fixed, &self.state) else { continue };
                self.observers.observe(&Op::ReadPopulation { query, state: &self.state });
                found.retain(|id| id.0 > fixed || self.state.field(*id, *field) == Some(value));
                left.retain(|(other, _)| other != field);
            }
        }
        let matches = |context: &mut ActionContext, id: EntityId| match id.0 > fixed {
            true => wanted.iter().all(|(field, value)| context.read(id, *field) == Some(value)),
            false => left.iter().all(|(field, value)| context.read(id, *field) == Some(value)),
        };
        found.retain(|id| matches(self, *id));
        found
    }

    /// True if an observer needs to know which fields are read.
    pub fn notes_reads(&self) -> bool {
        self.knowledge.masked.is_some()
            || self.knowledge.glimpse.is_some()
            || self.observers.reads.is_some()
            || self.observers.memo.as_ref().is_some_and(|memo| memo.is_recording())
    }

    /// The relations of a kind between two entities, in the order of their creation; in both directions if the kind is
    /// mutual.
    pub fn relations_between(&mut self, kind: KindId, one: EntityId, other: EntityId) -> Vec<EntityId> {
        let Some(([first, second], mutual)) = self.ends_of(kind) else { return Vec::new() };
        if mutual {
            self.note_relations(one);
        }
        let mut found = self.holding(kind, &[(first, one.into()), (second, other.into())]);
        if mutual && one != other {
            found.extend(self.holding(kind, &[(first, other.into()), (second, one.into())]));
            found.sort_by_key(|id| self.state.place(*id));
        }
        found
    }

    /// The fields of the two ends of a kind of relation, and whether it is mutual. `None` if the kind is no relation.
    fn ends_of(&self, kind: KindId) -> Option<([FieldId; 2], bool)> {
        let declared = self.rules.schema().kind(kind);
        let [first, second] = declared.relates[..] else { return None };
        Some(([first, second], declared.mutual))
    }

    /// Observes all relations of an entity: of a mutual kind, the order of creation across both ends matters.
    fn note_relations(&mut self, one: EntityId) {
        self.observers.observe(&Op::ReadPopulation { query: Query::Relations(one), state: &self.state });
    }

    /// The entities at the other end of an entity's relations of a kind, without duplicates, in the order of creation.
    /// `back`: those at the first end instead; no difference for a mutual kind.
    pub fn related(&mut self, kind: KindId, one: EntityId, back: bool) -> Vec<EntityId> {
        let Some(([first, second], mutual)) = self.ends_of(kind) else { return Vec::new() };
        let (near, far) = if back { (second, first) } else { (first, second) };
        if mutual {
            self.note_relations(one);
        }
        let mut ends: Vec<(EntityId, FieldId)> =
            self.holding(kind, &[(near, one.into())]).into_iter().map(|id| (id, far)).collect();
        if mutual {
            ends.extend(self.holding(kind, &[(far, one.into())]).into_iter().map(|id| (id, near)));
            ends.sort_by_key(|(id, end)| (self.state.place(*id), *end));
        }
        let (mut found, mut seen) = (Vec::new(), BTreeSet::new());
        for (relation, end) in ends {
            if let Some(Value::Entity(other)) = self.read(relation, end)
                && seen.insert(*other)
            {
                found.push(*other);
            }
        }
        found
    }

    /// The relations of an entity as lines of its sheet: a label, and the other end or the time at which the relation
    /// ends.
    pub fn relation_lines(&mut self, id: EntityId) -> Vec<(String, String)> {
        let rules = self.rules.clone();
        let mut lines = Vec::new();
        let kinds = (0..).map(KindId).zip(&rules.schema().kinds).filter(|(_, kind)| *kind.name != *ENDING);
        for (at, kind) in kinds {
            let word = readable_name(&kind.name);
            for (nth, end) in kind.relates.iter().enumerate() {
                let far = kind.relates.get(1 - nth.min(1)).filter(|far| *far != end);
                let label = if nth == 1 && !kind.mutual { format!("{word}, the other way") } else { word.clone() };
                for relation in self.holding(at, &[(*end, id.into())]) {
                    let other = far.and_then(|far| self.read(relation, *far).cloned());
                    let other = other.map(|other| self.words(&other));
                    let until = self.until(relation);
                    let text: Vec<String> = other.into_iter().chain(until).collect();
                    lines.push((label.clone(), if text.is_empty() { "yes".into() } else { text.join(", ") }));
                }
            }
        }
        lines
    }

    /// Describes when an entity of a timed kind ends. `None` if it has no end.
    fn until(&mut self, id: EntityId) -> Option<String> {
        let rules = self.rules.clone();
        let ending = rules.schema().kind_named(ENDING)?;
        let kind = rules.schema().kind(ending);
        let (status, moment, of) = (kind.field_named("status")?, kind.field_named("moment")?, kind.field_named("of")?);
        let (left, at) = (kind.field_named("left")?, kind.field_named("at")?);
        let mut words = Vec::new();
        for one in self.holding(ending, &[(status, id.into())]) {
            let mut field = |field| self.read(one, field).cloned().unwrap_or_default();
            words.push(match (field(at), field(moment), field(of), field(left)) {
                (Value::List(key), ..) if !key.is_empty() => format!("until {}", Value::List(key)),
                (_, moment, Value::None, Value::Int(1)) => format!("until {moment}"),
                (_, moment, of, Value::Int(1)) => format!("until {moment} of {}", self.words(&of)),
                (_, moment, Value::None, left) => format!("until {moment} has come {left} times"),
                (_, moment, of, left) => format!("until {moment} of {} has come {left} times", self.words(&of)),
            });
        }
        (!words.is_empty()).then(|| words.join(" and "))
    }

    /// Creates an entity. `given`: values of some fields; the others get their defaults.
    ///
    /// # Errors
    ///
    /// A field does not accept its value, or there are too many entities.
    pub fn spawn(&mut self, kind: KindId, given: Vec<(FieldId, Value)>) -> Result<EntityId, Stop> {
        self.may_act("making an entity")?;
        let rules = self.rules.clone();
        let schema = rules.schema();
        let declared = schema.kind(kind);
        let mut fields: Vec<Value> = declared.fields.iter().map(|field| field.default.clone()).collect();
        for (field, value) in given {
            let known = declared.field(field);
            if let Err(error) = known.ty.check(&value, schema, &self.state) {
                let message = format!("the field `{}` of a new {} {error}", known.name, declared.name);
                return Err(self.fault_of_value(message, None, error));
            }
            fields[field.0 as usize] = value;
        }
        if let Some(empty) = declared.relates.iter().find(|end| fields[end.0 as usize] == Value::None) {
            let (name, end) = (&declared.name, &declared.field(*empty).name);
            let cure = format!("give it: rb.spawn(\"{name}\", {{ {end} = ... }})");
            return Err(self.fault_with(format!("a new {name} has no `{end}`, which is never empty"), Some(cure)));
        }
        if !self.state.has_room(1, 0) {
            return Err(self.fault("a game has at most a million entities"));
        }
        let entity = Entity { kind, fields };
        if schema.may_hide(kind) {
            self.note_audience(None, &entity);
        }
        let id = self.state.spawn_under(schema, entity.clone());
        self.observers.observe(&Op::Spawn { id, entity: &entity });
        if declared.title.is_some() {
            let audience = self.audience_of(id);
            let title = self.title_for(id, &audience);
            self.tell(Happening::Spawned { entity: id, title, kind: declared.name.clone() }, audience);
        }
        Ok(id)
    }

    /// Removes an entity with its agenda entries, attachments and relations. Other references to it become empty.
    /// Returns the fields of other entities that changed.
    pub fn remove(&mut self, id: EntityId) -> Result<Vec<(EntityId, FieldId)>, Stop> {
        self.may_act("taking an entity away")?;
        let mut touched = Vec::new();
        for gone in self.relations_of(id).into_iter().chain([id]) {
            touched.extend(self.remove_one(gone));
        }
        Ok(touched)
    }

    /// The relations that are removed with an entity, see [`State::relations_of`].
    pub fn relations_of(&mut self, id: EntityId) -> Vec<EntityId> {
        let relations = self.state.relations_of(self.rules.schema(), id);
        // The list begins with relations of relations, so it is read backwards.
        std::iter::once(id).chain(relations.iter().rev().copied()).for_each(|one| self.note_relations(one));
        relations
    }

    fn remove_one(&mut self, id: EntityId) -> Vec<(EntityId, FieldId)> {
        let rules = self.rules.clone();
        let kind = self.state.entity(id).map(|entity| rules.schema().kind(entity.kind));
        // An end has no event of its own; the entity that ends has one.
        let told = self.log.listening && kind.is_some_and(|kind| *kind.name != *ENDING);
        let audience = self.audience_of(id);
        let title = told.then(|| self.title_for(id, &audience));
        let touched = self.state.remove(id);
        self.observers.observe(&Op::Remove { id, touched: &touched });
        if let (Some(title), Some(kind)) = (title, kind) {
            self.tell(Happening::Removed { entity: id, title, kind: kind.name.clone() }, audience);
        }
        touched
    }

    /// The audience for which attachments and agenda entries of an owner are numbered.
    fn numbered_for(&mut self, owner: Option<EntityId>) -> Audience {
        let schema = self.rules.schema();
        let found = owner.and_then(|owner| Some((owner, self.state.entity(owner)?)));
        let Some((owner, entity)) = found.filter(|(_, entity)| schema.may_hide(entity.kind)) else {
            return Audience::Everybody;
        };
        if self.observers.fixed_entities().is_some() {
            self.note_audience(Some(owner), &entity.clone());
        }
        self.state.audience(self.rules.schema(), owner)
    }

    /// Tells the trace cache on what the audience of an entity depends. `id`: that of an existing one.
    fn note_audience(&mut self, id: Option<EntityId>, entity: &Entity) {
        if self.observers.fixed_entities().is_none() {
            return;
        }
        let rules = self.rules.clone();
        let schema = rules.schema();
        if !self.state.audience_of(schema, entity).is_everybody() {
            return self.observers.observe(&Op::MayHide);
        }
        let kind = schema.kind(entity.kind);
        if let Some(AudienceRule::Path(path)) = &kind.audience {
            self.note_path(schema, path, id, entity);
        }
        for end in &kind.relates {
            if let Some(Value::Entity(end)) = entity.fields.get(end.0 as usize)
                && let Some(found) = self.state.entity(*end).cloned()
            {
                self.note_audience(Some(*end), &found);
            }
        }
    }

    /// Tells the trace cache that a path of fields is followed from an entity. `id`: that of an existing one.
    fn note_path(&mut self, schema: &Schema, path: &[Arc<str>], id: Option<EntityId>, entity: &Entity) {
        let (mut id, mut entity) = (id, entity.clone());
        for name in path {
            let Some(field) = schema.kind(entity.kind).field_named(name) else { return };
            if let Some(id) = id {
                self.read(id, field);
            }
            let Some(Value::Entity(next)) = entity.fields.get(field.0 as usize) else { return };
            let Some(found) = self.state.entity(*next).cloned() else { return };
            (id, entity) = (Some(*next), found);
        }
    }

    /// The audience of an entity. Everybody if events have no readers.
    fn audience_of(&self, id: EntityId) -> Audience {
        if self.log.listening { self.state.audience(self.rules.schema(), id) } else { Audience::Everybody }
    }

    /// Attaches a hook holder to an entity.
    pub fn attach(&mut self, hook: Arc<str>, owner: EntityId, data: Value) -> Result<AttachmentId, Stop> {
        self.may_act("attaching")?;
        let made = Attachment { hook, owner, data, numbered: None };
        self.observers.observe(&Op::Attach { made: &made });
        let audience = self.numbered_for(Some(owner));
        Ok(self.state.attach(&audience, made))
    }

    /// Removes an attachment. Returns false if there is no such attachment.
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
            return Err(self.fault("there is no such attachment"));
        }
        Ok(())
    }

    /// Adds an entry to the agenda.
    ///
    /// # Errors
    ///
    /// The agenda is full.
    pub fn schedule(&mut self, key: RelativeKey, due: Due) -> Result<&Entry, Stop> {
        self.may_act("changing the agenda")?;
        let when = self.key_of(key)?;
        if !self.state.has_room(0, 1) {
            let most = riskbreaker_state::MOST_ENTRIES;
            return Err(self.fault(format!("the agenda holds at most {most} entries")));
        }
        let audience = self.numbered_for(due.owner);
        let entry = self.state.schedule(&audience, Entry::new(when, Arc::new(due)));
        self.observers.observe(&Op::Schedule { entry, key });
        Ok(entry)
    }

    /// Converts the key that a script gave, which may be relative to the running entry.
    fn key_of(&mut self, key: RelativeKey) -> Result<Key, Stop> {
        if let Some(key) = key.absolute() {
            return Ok(key);
        }
        match self.run.entry_key.filter(|_| self.phase == Phase::Play) {
            Some(now) if now.is_near() => Ok(key.from(&now)),
            Some(_) => Err(self.fault("the key of the entry that runs is too large to count from it")),
            None => Err(self.fault_with(
                "a key counts from the entry that runs, and none runs here",
                Some("write the key in numbers".into()),
            )),
        }
    }

    /// Removes an entry from the agenda. Returns false if there is no such entry.
    pub fn cancel(&mut self, id: EntryId) -> Result<bool, Stop> {
        self.may_act("changing the agenda")?;
        self.observers.observe(&Op::Cancel);
        Ok(self.state.unschedule(id).is_some())
    }

    /// Changes the key of an entry. Returns false if there is no such entry.
    pub fn rekey(&mut self, id: EntryId, key: RelativeKey) -> Result<bool, Stop> {
        self.may_act("changing the agenda")?;
        let key = self.key_of(key)?;
        self.observers.observe(&Op::Rekey);
        let from = self.state.agenda().get(id).map(|entry| entry.key);
        from.iter().for_each(|from| self.state.rekey(id, *from, key));
        Ok(from.is_some())
    }

    /// Publishes a line of the story, which was counted already. `text` is called only if events have readers.
    pub fn say(&mut self, audience: Audience, text: impl FnOnce(&ActionContext) -> String) -> Result<(), Stop> {
        self.may_act("saying something")?;
        self.observers.observe(&Op::Say);
        if self.log.listening {
            let text = text(self);
            self.tell(Happening::Said { text }, audience);
        }
        Ok(())
    }

    /// Counts a line of the story, even if events have no readers, so that the limit is equal in every mode.
    pub fn count_line(&mut self) -> Result<(), Stop> {
        self.log.count_line().map_err(|message| self.fault(message))
    }

    /// Adds a result to the last roll. `text` is called only if events have readers.
    pub fn result(&mut self, text: impl FnOnce(&ActionContext) -> String) -> Result<(), Stop> {
        self.may_act("telling the result of a roll")?;
        if self.log.listening {
            let text = text(self);
            self.log.add_result(&text);
        }
        Ok(())
    }

    /// Ends the game.
    pub fn finish(&mut self, outcome: String, plain: bool) -> Result<(), Stop> {
        self.may_leave_open("ending the game")?;
        self.observers.observe(&Op::Finish { outcome: &outcome, plain });
        self.state.finish(outcome);
        Ok(())
    }

    /// Ends the action. Its changes stay.
    pub fn cut(&mut self, reason: String) -> Result<(), Stop> {
        self.may_act("ending the action")?;
        self.observers.observe(&Op::Cut);
        self.stop = Some(Stop::Cut(reason.clone()));
        Err(Stop::Cut(reason))
    }
}
