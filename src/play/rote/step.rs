use crate::state::{EntityId, FieldId};

/// What was looked at: a field, a die, dice thrown together, or the end. Packed into 32 bits: two for which it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Step(u32);

impl Step {
    pub const FIELD: u32 = 0;
    pub const DIE: u32 = 1;
    pub const END: Step = Step(2 << 30);
    pub const THROW: u32 = 3;
    /// Entities beyond are not learned of: games that make so many are not alike.
    const MOST_ENTITIES: u32 = 1 << 14;
    const MOST_FIELDS: u16 = 1 << 10;

    #[inline]
    pub fn field(entity: EntityId, field: FieldId) -> Option<Step> {
        let fits = entity.0 < Step::MOST_ENTITIES && field.0 < Step::MOST_FIELDS;
        fits.then_some(Step(entity.0 << 10 | u32::from(field.0)))
    }

    pub fn die(sides: u32) -> Option<Step> {
        (sides < 1 << 30).then_some(Step(Step::DIE << 30 | sides))
    }

    pub fn throw(which: usize) -> Option<Step> {
        (which < 1 << 30).then_some(Step(Step::THROW << 30 | which as u32))
    }

    #[inline]
    pub fn sort(self) -> u32 {
        self.0 >> 30
    }

    #[inline]
    pub fn entity(self) -> EntityId {
        EntityId(self.0 >> 10 & 0xF_FFFF)
    }

    #[inline]
    pub fn place(self) -> FieldId {
        FieldId((self.0 & 0x3FF) as u16)
    }

    /// The sides of the die, or which throw it is.
    #[inline]
    pub fn rest(self) -> u32 {
        self.0 & 0x3FFF_FFFF
    }
}

/// A set of fields: for each entity, by id, a stamp for each field, which is in the set if the stamp is that of now.
#[derive(Debug)]
pub(super) struct Fields {
    stamps: Vec<Vec<u32>>,
    now: u32,
}

impl Default for Fields {
    fn default() -> Fields {
        Fields { stamps: Vec::new(), now: 1 }
    }
}

impl Fields {
    #[inline]
    pub fn contains(&self, step: Step) -> bool {
        let stamps = self.stamps.get(step.entity().0 as usize);
        stamps.and_then(|stamps| stamps.get(step.place().0 as usize)) == Some(&self.now)
    }

    /// Whether it was not there before.
    #[inline]
    pub fn insert(&mut self, step: Step) -> bool {
        let (entity, field) = (step.entity().0 as usize, step.place().0 as usize);
        if self.stamps.len() <= entity {
            self.stamps.resize_with(entity + 1, Vec::new);
        }
        let stamps = &mut self.stamps[entity];
        if stamps.len() <= field {
            stamps.resize(field + 1, 0);
        }
        std::mem::replace(&mut stamps[field], self.now) != self.now
    }

    pub fn clear(&mut self) {
        match self.now.checked_add(1) {
            Some(now) => self.now = now,
            None => *self = Fields::default(),
        }
    }
}
