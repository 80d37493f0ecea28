use std::sync::Arc;

use super::ActionContext;
use crate::Refusal;
use riskbreaker_state::{Entity, EntityId, Entry, EntryId, Field, FieldId, Value};

/// The most entities of the same kind that are tried as an example argument of a derived value.
const MOST_TRIED: usize = 8;

/// A read-only view of a game's state. While a question is open, it is the state of the action that stopped there.
pub struct View<'a> {
    pub(crate) context: &'a ActionContext,
}

impl<'a> View<'a> {
    #[doc(hidden)]
    pub fn new(context: &'a ActionContext) -> View<'a> {
        View { context }
    }

    /// All entities in the order of their ids, which reveals less than the order of their creation.
    pub fn entities(&self) -> impl Iterator<Item = EntityId> + use<'a> {
        self.sorted(|_| true)
    }

    /// The entities of a kind in the order of their ids.
    pub fn of_kind(&self, kind: &str) -> impl Iterator<Item = EntityId> + use<'a> {
        let kind = self.context.rules.schema().kind_named(kind);
        self.sorted(move |entity| Some(entity.kind) == kind)
    }

    fn sorted(&self, wanted: impl Fn(&Entity) -> bool) -> std::vec::IntoIter<EntityId> {
        let found = self.context.state.entities().filter(|(_, entity)| wanted(entity));
        let mut found: Vec<EntityId> = found.map(|(id, _)| id).collect();
        found.sort();
        found.into_iter()
    }

    /// True if the entity exists.
    pub fn exists(&self, id: EntityId) -> bool {
        self.context.state.entity(id).is_some()
    }

    /// Finds an entity by its title in any case, by its label ([`View::label`]), by `kind:title`, by `#id`, or by the
    /// name of its kind if it is the only one.
    ///
    /// # Errors
    ///
    /// [`Refusal::UnknownName`] with the most similar title, or [`Refusal::Ambiguous`] with the labels of all entities
    /// that fit.
    pub fn find(&self, name: &str) -> Result<EntityId, Refusal> {
        self.find_among(name, false)
    }

    /// Finds an entity by a typed name: like [`View::find`], or else by the beginning of the title, a word in it, or
    /// the title without accents (see [`riskbreaker_names::typed`]).
    ///
    /// # Errors
    ///
    /// [`Refusal::UnknownName`] with the most similar title, or [`Refusal::Ambiguous`] with the labels of all entities
    /// that fit.
    pub fn find_typed(&self, name: &str) -> Result<EntityId, Refusal> {
        let exact = self.find(name);
        match exact {
            Err(Refusal::UnknownName { .. }) => self.find_among(name, true),
            exact => exact,
        }
    }

    /// The title of an entity, with its number if another entity has the same title or if the title itself looks like a number or
    /// a label: `Ann`, `Ann (#2)`, `#1 (#5)`.
    pub fn label(&self, id: EntityId) -> Arc<str> {
        let title = self.title(id);
        let looks_like_a_label = || title.starts_with('#') || riskbreaker_names::title_and_number(&title).is_some();
        let is_shared = || self.entities().any(|other| other != id && self.is_titled(other, &title));
        match looks_like_a_label() || is_shared() {
            true => Arc::from(riskbreaker_names::numbered(&title, id)),
            false => title,
        }
    }

    /// True if an entity has this title. Makes no text for an entity whose title is its kind and number: labels of a map of thousands
    /// of fields compare each with all others.
    fn is_titled(&self, id: EntityId, title: &str) -> bool {
        let number = self.context.untitled_kind(id).map(|kind| {
            let number = title.strip_prefix(kind).and_then(|rest| rest.strip_prefix(' '));
            number.is_some_and(|number| number.parse() == Ok(id.0))
        });
        match number {
            Some(false) => false,
            Some(true) | None => *self.title(id) == *title,
        }
    }

    /// Finds an entity by its title, with its number or its kind. `typed`: the name may be shortened.
    fn find_among(&self, name: &str, typed: bool) -> Result<EntityId, Refusal> {
        let (kind, title) = match name.split_once(':') {
            Some((kind, title)) if self.context.rules.schema().kind_named(kind.trim()).is_some() => {
                (Some(kind.trim()), title.trim())
            }
            _ => (None, name.trim()),
        };
        let of_kind = |id: &EntityId| kind.is_none_or(|kind| self.kind(*id) == Some(kind));
        let titles = || {
            let titles = self.entities().filter(of_kind).map(|id| (id, self.title(id)));
            titles.collect::<Vec<_>>().into_iter()
        };
        let found_by = |title: &str| match typed {
            true => riskbreaker_names::typed(title, titles),
            false => riskbreaker_names::exactly(title, titles),
        };
        let mut found = found_by(title);
        // A title may look like the number or label of another entity: then the name is ambiguous.
        let mut also = |id: EntityId| {
            if !found.contains(&id) {
                found.push(id);
            }
        };
        if let Some(id) = title.strip_prefix('#').and_then(|id| id.parse().ok()).map(EntityId)
            && self.exists(id)
            && of_kind(&id)
        {
            also(id);
        }
        if let Some((title, number)) = riskbreaker_names::title_and_number(title) {
            found_by(title).into_iter().filter(|id| u64::from(id.0) == number).for_each(also);
        }
        if found.is_empty() && kind.is_none() {
            found = self.of_kind(title).collect();
            if found.len() > 1 {
                let count = found.len();
                return Err(Refusal::new(format!(
                    "There are {count} of kind `{title}`. Name one by its title or its number, such as `#3`."
                )));
            }
        }
        match found.as_slice() {
            [only] => Ok(*only),
            [] if title.strip_prefix('#').is_some_and(|id| id.parse::<u32>().is_ok()) => {
                Err(Refusal::unknown_among_many(format!("There is no entity {title}"), title, []))
            }
            [] => {
                let titles: Vec<Arc<str>> = self.entities().map(|id| self.title(id)).collect();
                let titles = titles.iter().map(|title| &**title);
                Err(Refusal::unknown_among_many(format!("There is no `{name}`"), title, titles))
            }
            several => Err(Refusal::Ambiguous {
                topic: None,
                given: name.to_owned(),
                candidates: several.iter().map(|id| self.label(*id).to_string()).collect(),
            }),
        }
    }

    /// The title of an entity.
    pub fn title(&self, id: EntityId) -> Arc<str> {
        self.context.title(id)
    }

    /// True if the entity is not public.
    pub fn is_secret(&self, id: EntityId) -> bool {
        !self.context.state.audience(self.context.rules.schema(), id).is_everybody()
    }

    /// The name of the kind of an entity. `None` if it does not exist.
    pub fn kind(&self, id: EntityId) -> Option<&'a str> {
        let entity = self.context.state.entity(id)?;
        Some(&self.context.rules.schema().kind(entity.kind).name)
    }

    /// The value of a field. `None` if there is no such entity or field, or if it is hidden.
    pub fn field(&self, id: EntityId, name: &str) -> Option<&'a Value> {
        let entity = self.context.state.entity(id)?;
        let field = self.context.rules.schema().kind(entity.kind).field_named(name)?;
        if self.context.hides(id, field) {
            return None;
        }
        self.context.state.field(id, field)
    }

    /// The declared fields of an entity with their values.
    pub fn fields(&self, id: EntityId) -> impl Iterator<Item = (&'a Field, &'a Value)> + use<'a> {
        let entity = self.context.state.entity(id);
        let fields = entity.map(|entity| &self.context.rules.schema().kind(entity.kind).fields);
        let all = fields.into_iter().flatten().zip(entity.into_iter().flat_map(|entity| &entity.fields));
        let context = self.context;
        all.enumerate().filter(move |(at, _)| !context.hides(id, FieldId(*at as u16))).map(|(_, field)| field)
    }

    /// Names of the derived values of an entity's kind.
    pub fn derived_names(&self, id: EntityId) -> &'a [Arc<str>] {
        match self.context.state.entity(id) {
            Some(entity) => &self.context.rules.schema().kind(entity.kind).derived,
            None => &[],
        }
    }

    /// The number of arguments that a derived value takes after the entity: `None` if there is no such value,
    /// `Some(None)` if it takes any number.
    pub fn derived_takes(&self, id: EntityId, name: &str) -> Option<Option<usize>> {
        let kind = self.context.rules.schema().kind(self.context.state.entity(id)?.kind);
        let at = kind.derived.iter().position(|known| **known == *name)?;
        Some(kind.derived_takes.get(at).copied().flatten().map(usize::from))
    }

    /// Other entities of the same kind, as arguments to try with a derived value.
    pub(crate) fn alike(&self, id: EntityId) -> Vec<EntityId> {
        let kind = self.kind(id);
        self.entities().filter(|other| *other != id && self.kind(*other) == kind).take(MOST_TRIED).collect()
    }

    /// The refusal of a name that is neither a field nor a derived value of an entity.
    pub(crate) fn unknown_name(&self, id: EntityId, name: &str) -> Refusal {
        let fields = self.fields(id).map(|(field, _)| &*field.name);
        let known = fields.chain(self.derived_names(id).iter().map(|name| &**name));
        Refusal::unknown(format!("{} has no `{name}`", self.title(id)), name, known)
    }

    /// Converts a value to text, with entities by title.
    pub fn words(&self, value: &Value) -> String {
        self.context.words(value)
    }

    /// The agenda, in order. The ids are the numbers that the rules use.
    pub fn agenda(&self) -> Vec<Entry> {
        let entries = self.context.state.agenda().entries();
        entries.map(|entry| Entry { id: EntryId(entry.number()), numbered: None, ..entry.clone() }).collect()
    }

    /// The hook ids attached to an entity.
    pub fn attached(&self, id: EntityId) -> impl Iterator<Item = &'a str> + use<'a> {
        self.context
            .state
            .attachments()
            .values()
            .filter(move |attachment| attachment.owner == id)
            .map(|attachment| &*attachment.hook)
    }
}
