use std::collections::BTreeMap;

use serde::{Deserialize, Deserializer, Serialize};

use super::{Audience, EntityId};
use riskbreaker_dice::DiceRng;

/// The numbering of entities, agenda entries or attachments, in a game with at least one secret one.
///
/// Public ones are counted: 1, 2, 3 and so on. All others get random numbers, from one generator for each audience. So
/// no number reveals how many secrets were made, neither the next public one nor that of a disclosed secret.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Counter {
    seed: u64,
    of: Numbered,
    /// The number of public ones.
    public: u32,
    /// The audiences for which secrets were made, in the order of their first use.
    audiences: Vec<Made>,
}

/// The things that are numbered; each has its own generators.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Numbered {
    Entities,
    Entries,
    Attachments,
}

/// A number given by a `Counter`, and the index of the audience for which it was drawn, from 1; 0 is everybody.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct DrawnNumber {
    pub number: u32,
    pub audience: u32,
}

/// The number of secrets made for an audience.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Made {
    audience: Audience,
    count: u32,
}

/// The lowest number of a secret entity. Public numbers are below it.
const FIRST_SECRET: u32 = 1 << 20;
/// The highest number.
const LAST_SECRET: u32 = (1 << 29) - 1;

/// The number of generator words reserved for each number. A second word is drawn if the first is taken, which is rare.
const WORDS: u64 = 256;

impl Counter {
    /// A counter for a game in which only public ones were made so far.
    pub fn new(of: Numbered, seed: u64, public: u32) -> Counter {
        Counter { seed, of, public, audiences: Vec::new() }
    }

    /// Draws the next number for an audience. `taken`: true if the number is in use.
    pub fn next(&mut self, audience: &Audience, taken: impl Fn(u32) -> bool) -> DrawnNumber {
        if audience.is_everybody() {
            self.public += 1;
            return DrawnNumber { number: self.public, audience: 0 };
        }
        let known = self.audiences.iter().position(|made| made.audience == *audience);
        let at = known.unwrap_or_else(|| {
            self.audiences.push(Made { audience: audience.clone(), count: 0 });
            self.audiences.len() - 1
        });
        let made = &mut self.audiences[at];
        let mut words = DiceRng::stream(self.seed, stream_of(self.of, audience));
        words.set_position(u64::from(made.count) * WORDS);
        made.count = made.count.saturating_add(1);
        let mut draw = || FIRST_SECRET - 1 + words.face(LAST_SECRET - FIRST_SECRET + 1);
        let mut number = draw();
        while taken(number) {
            number = draw();
        }
        DrawnNumber { number, audience: at as u32 + 1 }
    }

    /// The audience for which a number was drawn.
    pub fn audience(&self, number: DrawnNumber) -> Audience {
        let made = (number.audience as usize).checked_sub(1).and_then(|at| self.audiences.get(at));
        made.map_or(Audience::Everybody, |made| made.audience.clone())
    }

    /// Takes the last number back.
    pub fn take_back(&mut self, number: DrawnNumber) {
        let Some(at) = (number.audience as usize).checked_sub(1) else {
            self.public = self.public.saturating_sub(1);
            return;
        };
        if let Some(made) = self.audiences.get_mut(at) {
            made.count = made.count.saturating_sub(1);
            if made.count == 0 && at + 1 == self.audiences.len() {
                self.audiences.pop();
            }
        }
    }

    /// True if only public ones were made.
    pub fn is_plain(&self) -> bool {
        self.audiences.is_empty()
    }

    /// The number made for each audience, on which the next numbers depend.
    pub fn counts(&self) -> impl Iterator<Item = u32> {
        self.audiences.iter().map(|made| made.count).chain([self.public])
    }

    /// Forgets the counts and generators of these audiences, in a copy of the game for a viewer who belongs to none of
    /// them.
    pub fn forget(&mut self, unseen: impl Fn(&Audience) -> bool) {
        self.seed = 0;
        let those = self.audiences.iter_mut().filter(|made| unseen(&made.audience));
        those.for_each(|made| made.count = 0);
    }

    /// True if it may have given this number: to check data from outside.
    pub fn gave(&self, number: DrawnNumber) -> bool {
        match number.audience {
            0 => (1..=self.public).contains(&number.number),
            at => at as usize <= self.audiences.len() && (FIRST_SECRET..=LAST_SECRET).contains(&number.number),
        }
    }

    /// True if the counter is valid: to check data from outside.
    pub fn is_sound(&self, of: Numbered) -> bool {
        let sound = |made: &Made| made.count > 0 && !made.audience.is_everybody();
        self.of == of && self.public < FIRST_SECRET << 10 && self.audiences.iter().all(sound)
    }
}

/// The numbers of entities, in a game with at least one secret one.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(super) struct Numbers {
    counter: Counter,
    /// By slot, in the order of creation.
    places: Vec<DrawnNumber>,
    /// The slots of the public entities, by number.
    #[serde(skip)]
    public: Vec<u32>,
    /// The slots of the secret entities, by number.
    #[serde(skip)]
    secret: BTreeMap<u32, u32>,
}

impl Numbers {
    /// The numbers of a game in which only public entities were made so far.
    pub fn new(seed: u64, public: u32) -> Numbers {
        let counter = Counter::new(Numbered::Entities, seed, 0);
        let mut numbers = Numbers { counter, places: Vec::new(), public: Vec::new(), secret: BTreeMap::new() };
        for _ in 0..public {
            numbers.add(&Audience::Everybody);
        }
        numbers
    }

    /// The slot of an entity.
    pub fn place(&self, id: EntityId) -> Option<usize> {
        let place = match id.0 < FIRST_SECRET {
            true => self.public.get((id.0 as usize).checked_sub(1)?),
            false => self.secret.get(&id.0),
        };
        place.map(|place| *place as usize)
    }

    /// The number of the entity in a slot.
    pub fn id(&self, place: usize) -> Option<EntityId> {
        self.places.get(place).map(|place| EntityId(place.number))
    }

    /// The number of entities numbered so far.
    pub fn count(&self) -> usize {
        self.places.len()
    }

    /// The number of public entities.
    pub fn public(&self) -> u32 {
        self.public.len() as u32
    }

    pub fn counter(&self) -> &Counter {
        &self.counter
    }

    pub fn counter_mut(&mut self) -> &mut Counter {
        &mut self.counter
    }

    /// Gives a number to a new entity.
    pub fn add(&mut self, audience: &Audience) -> EntityId {
        let number = self.counter.next(audience, |number| self.secret.contains_key(&number));
        self.put(number);
        EntityId(number.number)
    }

    fn put(&mut self, number: DrawnNumber) {
        let place = self.places.len() as u32;
        match number.audience {
            0 => self.public.push(place),
            _ => drop(self.secret.insert(number.number, place)),
        }
        self.places.push(number);
    }

    /// Takes the last number back.
    pub fn take_back(&mut self) {
        let Some(number) = self.places.pop() else { return };
        match number.audience {
            0 => drop(self.public.pop()),
            _ => drop(self.secret.remove(&number.number)),
        }
        self.counter.take_back(number);
    }

    /// True if the numbers are valid: to check data from outside.
    pub fn are_sound(&self) -> bool {
        let counted = self.places.iter().filter(|number| number.audience == 0);
        let mut given = vec![0; self.counter.audiences.len() + 1];
        self.counter.is_sound(Numbered::Entities)
            && self.places.iter().all(|number| self.counter.gave(*number))
            && (1..).zip(counted).all(|(nth, number)| number.number == nth)
            && self.public.len() + self.secret.len() == self.places.len()
            && {
                self.places.iter().for_each(|number| given[number.audience as usize] += 1);
                let made = self.counter.audiences.iter().map(|made| made.count);
                std::iter::once(self.counter.public).chain(made).eq(given)
            }
    }
}

/// The saved form of the numbers.
#[derive(Deserialize)]
struct SavedNumbers {
    counter: Counter,
    places: Vec<DrawnNumber>,
}

impl<'de> Deserialize<'de> for Numbers {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Numbers, D::Error> {
        let SavedNumbers { counter, places } = SavedNumbers::deserialize(deserializer)?;
        let mut numbers = Numbers { counter, places: Vec::new(), public: Vec::new(), secret: BTreeMap::new() };
        places.into_iter().for_each(|number| numbers.put(number));
        Ok(numbers)
    }
}

/// The generator stream of the numbers for an audience; dice use the lower half of all streams.
fn stream_of(of: Numbered, audience: &Audience) -> u64 {
    let bytes = audience.to_string();
    let hash = bytes
        .bytes()
        .chain([of as u8])
        .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
    hash | 1 << 63
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drawn(numbers: &mut Numbers, audiences: &[&str]) -> Vec<EntityId> {
        audiences.iter().map(|audience| numbers.add(&Audience::named(audience))).collect()
    }

    #[test]
    fn no_number_depends_on_how_much_others_make_in_secret() {
        let (mut one, mut other) = (Numbers::new(7, 2), Numbers::new(7, 2));
        let first = drawn(&mut one, &["everybody", "north", "everybody", "south", "north"]);
        let second = drawn(&mut other, &["everybody", "north", "south", "south", "everybody", "south", "north"]);
        assert_eq!([first[0], first[2]], [EntityId(3), EntityId(4)]);
        assert_eq!([first[0], first[1], first[2], first[4]], [second[0], second[1], second[4], second[6]]);
        assert_eq!(first[3], second[2], "nor on how much is made after it");
        assert_ne!(first[1], Numbers::new(8, 2).add(&Audience::named("north")), "another game has other numbers");
    }

    #[test]
    fn numbers_are_taken_back_in_turn_and_read_as_they_were_written() {
        let mut numbers = Numbers::new(1, 1);
        let mut steps = vec![numbers.clone()];
        for audience in ["north", "everybody", "south", "north", "nobody"] {
            let id = numbers.add(&Audience::named(audience));
            assert_eq!(numbers.place(id), Some(steps.len()));
            assert_eq!(numbers.id(steps.len()), Some(id));
            assert!(numbers.are_sound());
            let text = serde_json::to_string(&numbers).unwrap();
            assert_eq!(serde_json::from_str::<Numbers>(&text).unwrap(), numbers);
            steps.push(numbers.clone());
        }
        while let Some(step) = steps.pop() {
            assert_eq!(numbers, step);
            numbers.take_back();
        }
    }

    #[test]
    fn numbers_from_outside_are_sound_or_refused() {
        let mut numbers = Numbers::new(1, 0);
        drawn(&mut numbers, &["north", "everybody"]);
        let text = serde_json::to_string(&numbers).unwrap();
        let id = numbers.id(0).unwrap().0.to_string();
        for (from, to) in [
            (&*id, "3"),
            (&*id, "4294967295"),
            ("\"number\":1,", "\"number\":2,"),
            ("\"audience\":1}", "\"audience\":9}"),
            ("\"count\":1", "\"count\":5"),
            ("\"public\":1", "\"public\":0"),
        ] {
            let changed: Numbers = serde_json::from_str(&text.replace(from, to)).unwrap();
            assert!(!changed.are_sound(), "{from} to {to} in {text}");
        }
    }
}
